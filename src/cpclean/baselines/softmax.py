"""Softmax regression: its loss, its gradients row by row, and its optimum.

The parameters are a matrix of shape (n_classes, n_features + 1), the intercepts in the last column.
The loss is the mean over the rows of -ln p(label), plus ridge / 2 times the sum of the squared
weights, intercepts left out. With two classes it is logistic regression.

The gradient of one row's loss is the outer product of its residual (probabilities minus the label's
indicator) and its vector, so the rows' gradients are never written out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.data.incomplete import Ints
from cpclean.data.rows import Floats


def with_intercept(X: Floats) -> Floats:
    """The same vectors with a 1 at the end."""
    return np.column_stack([X, np.ones(len(X))])


def probabilities(theta: Floats, Z: Floats) -> Floats:
    """How likely each label is, shape (n_rows, n_classes); Z has its intercept column."""
    scores = Z @ theta.T
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def residuals(theta: Floats, Z: Floats, codes: Ints) -> Floats:
    """Probabilities minus the label's indicator, shape (n_rows, n_classes)."""
    found = probabilities(theta, Z)
    found[np.arange(len(Z)), codes] -= 1.0
    return found


def summed_gradient(theta: Floats, Z: Floats, codes: Ints, weights: npt.ArrayLike = 1.0) -> Floats:
    """The weighted sum of the rows' gradients, shape (n_classes, n_features + 1)."""
    weighted = residuals(theta, Z, codes) * np.reshape(weights, (-1, 1))
    return np.asarray(weighted.T @ Z)


def gradient_sizes(theta: Floats, Z: Floats, codes: Ints, shift: Floats) -> Floats:
    """The Frobenius norm of each row's gradient plus a shift, which has the shape of theta."""
    own = residuals(theta, Z, codes)
    squares = (own**2).sum(axis=1) * (Z**2).sum(axis=1)
    squares += 2.0 * ((own @ shift) * Z).sum(axis=1) + (shift**2).sum()
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)))


def ridge_gradient(theta: Floats, ridge: float) -> Floats:
    """The gradient of the penalty."""
    pulled = ridge * theta
    pulled[:, -1] = 0.0
    return pulled


def loss(theta: Floats, Z: Floats, codes: Ints, ridge: float) -> float:
    """The mean loss over the rows, penalty included."""
    scores = Z @ theta.T
    own = scores[np.arange(len(Z)), codes]
    mean = (np.logaddexp.reduce(scores, axis=1) - own).mean()
    return float(mean + ridge / 2.0 * (theta[:, :-1] ** 2).sum())


def steepness(Z: Floats, ridge: float) -> float:
    """A bound on the curvature of the loss: steps up to its inverse never overshoot."""
    return float(np.linalg.eigvalsh(Z.T @ Z / len(Z))[-1]) / 2.0 + ridge


def ridge_of(C: float, n_rows: int, n_classes: int) -> float:
    """The penalty that belongs to scikit-learn's C.

    For two classes scikit-learn has one vector, w; here there are two, -w / 2 and w / 2, whose
    squares sum to half as much.
    """
    return (2.0 if n_classes == 2 else 1.0) / (C * n_rows)


def fitted(X: Floats, codes: Ints, n_classes: int, C: float) -> Floats:
    """The parameters of least loss, by scikit-learn's LogisticRegression."""
    if n_classes == 1:
        return np.zeros((1, X.shape[1] + 1))
    from sklearn.linear_model import LogisticRegression

    model: Any = LogisticRegression(C=C, tol=1e-6, max_iter=10_000).fit(X, codes)
    theta = np.column_stack([model.coef_, model.intercept_])
    return np.vstack([-theta / 2.0, theta / 2.0]) if n_classes == 2 else theta
