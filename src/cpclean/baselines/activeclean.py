"""ActiveClean: rows are cleaned where a convex model's gradient is expected to be large.

1. Fit softmax regression to the rows as cleaned by default.
2. For every row still dirty, guess its clean gradient: the gradient of its default version, plus
   the mean change (clean minus default, at the present parameters) over the cleaned rows with the
   same holes; nothing is added where none is cleaned yet.
3. Draw a batch, without replacement, with probabilities proportional to the sizes of the guesses;
   clean it.
4. Step, a few times, against the sum of the gradients of rows clean before, plus the
   importance-weighted sum over the batch, divided by the number of rows; the rate decays from
   batch to batch.

The batch stands for all rows still dirty, without bias; see `cpclean.baselines.batches`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from cpclean.baselines import softmax
from cpclean.baselines.batches import draw_batch, draw_probabilities, importance_weights
from cpclean.baselines.curves import CleaningCurve, checked_counts
from cpclean.baselines.estimator import Baseline, begin_fit, checked_size, fixed_seed
from cpclean.baselines.filling import with_holes
from cpclean.baselines.ground_truth import answered_rows
from cpclean.baselines.source import Source
from cpclean.baselines.worlds import default_rows
from cpclean.data.incomplete import Ints
from cpclean.data.rows import Floats
from cpclean.errors import DataError


class ActiveClean(Baseline):
    """Cleaning for softmax regression, a model of its own: no nearest neighbours.

    Parameters
    ----------
    truth, exact
        As in `RandomClean`.
    counts : sequence of int, optional
        As in `RandomClean`. The last one ends the cleaning, and batches are cut so that each count
        is met; a cut batch steps only as far as its share of a whole one.
    batch_size : int, default=50
    steps : int, default=10
        Steps per batch. Only the gradient of the first is unbiased. With fewer, the model is far
        from its optimum even when all rows are clean; with more, or with small batches, it follows
        the few rows of the last batch.
    learning_rate : float, optional
        The rate of the first step; by default the inverse of the loss's largest curvature.
    decay : float, default=0.5
        After t batches, cut ones counted by their share, the rate is
        learning_rate / (1 + t) ** decay.
    C : float, default=1.0
        The inverse penalty, as in scikit-learn's LogisticRegression.
    random_state : int, default=0

    Attributes
    ----------
    counts_ : ndarray of int
    path_ : ndarray of shape (n_counts, n_classes, n_features + 1)
        The parameters at each of the counts, intercepts last. `predict` uses the last ones.
    order_ : ndarray of int
        The rows in the order in which they were cleaned.

    Examples
    --------
    >>> from cpclean import IncompleteDataset
    >>> from cpclean.baselines.activeclean import ActiveClean
    >>> data = IncompleteDataset([[[0.0], [5.0]], [[4.0], [7.0]], [[1.0]], [[6.0]]], list("abab"))
    >>> method = ActiveClean(truth=[0, 1, 0, 0], counts=[0, 2]).fit(data)
    >>> sorted(method.order_.tolist()), method.scores([[0.0], [7.0]], ["a", "b"]).mean.tolist()
    ([0, 1], [1.0, 1.0])
    """

    def __init__(
        self,
        truth: Any = None,
        counts: Sequence[int] | None = None,
        batch_size: int = 50,
        steps: int = 10,
        learning_rate: float | None = None,
        decay: float = 0.5,
        C: float = 1.0,
        exact: bool = False,
        random_state: int = 0,
    ) -> None:
        self.truth = truth
        self.counts = counts
        self.batch_size = batch_size
        self.steps = steps
        self.learning_rate = learning_rate
        self.decay = decay
        self.C = C
        self.exact = exact
        self.random_state = random_state

    def fit(self, data: Any, y: Any = None) -> Self:
        """Clean and learn, up to the last of the counts."""
        source = begin_fit(self, data, y)
        self.counts_ = checked_counts(self.counts, len(source.dataset.dirty_rows))
        run = _Run(self, source)
        path = []
        for count in self.counts_.tolist():
            while len(run.order) < count:
                run.clean_batch(min(run.batch_size, count - len(run.order)))
            path.append(run.theta.copy())
        self.path_ = np.stack(path)
        self.order_ = np.array(run.order, dtype=np.int64)
        self.source_ = source
        return self

    def scores(self, X: Any, y: Any) -> CleaningCurve:
        """Accuracy at each of `counts_`, as a single run."""
        points, truth = self.labelled(X, y)
        points = softmax.with_intercept(points)
        found = [float((_codes(theta, points) == truth).mean()) for theta in self.path_]
        return CleaningCurve(self.counts_, np.array([found]))

    def predict_proba(self, X: Any) -> Floats:
        """How likely the model thinks each label, columns in the order of `classes_`."""
        points = softmax.with_intercept(self.points(X))
        return softmax.probabilities(self.path_[-1], points)

    def _codes(self, X: Floats) -> Ints:
        return _codes(self.path_[-1], softmax.with_intercept(X))


def _codes(theta: Floats, Z: Floats) -> Ints:
    return np.asarray((Z @ theta.T).argmax(axis=1))


class _Run:
    """The state of a cleaning: parameters, which rows are clean, and what was seen."""

    def __init__(self, method: ActiveClean, source: Source) -> None:
        size = checked_size(method.batch_size, "batch_size")
        self.steps = checked_size(method.steps, "steps")
        self.decay = _checked(method.decay, "decay", positive=False)
        C = _checked(method.C, "C")
        self.rng = np.random.default_rng(fixed_seed(method.random_state))
        data = source.dataset
        default = default_rows(source)
        self.codes = data.codes
        self.before = softmax.with_intercept(default)
        self.after = softmax.with_intercept(answered_rows(source, method.truth, method.exact))
        self.dirty = np.zeros(data.n_rows, dtype=bool)
        self.dirty[data.dirty_rows] = True
        self.batch_size = max(1, min(size, len(data.dirty_rows)))
        clean = ~self.dirty
        self.after[clean] = self.before[clean]
        holes = np.isnan(with_holes(source))
        self.pattern = np.unique(holes, axis=0, return_inverse=True)[1].ravel()
        self.ridge = softmax.ridge_of(C, data.n_rows, data.n_classes)
        self.theta = softmax.fitted(default, data.codes, data.n_classes, C)
        if method.learning_rate is None:
            self.rate = 1.0 / softmax.steepness(self.before, self.ridge)
        else:
            self.rate = _checked(method.learning_rate, "learning_rate")
        self.order: list[int] = []

    def clean_batch(self, size: int) -> None:
        open_ = np.flatnonzero(self.dirty)
        chances = draw_probabilities(self.expected_sizes(open_))
        drawn = draw_batch(chances, size, self.rng)
        weights = importance_weights(chances, drawn)
        batch = open_[drawn]
        share, done = size / self.batch_size, len(self.order) / self.batch_size
        rate = share * self.rate / (1 + done) ** self.decay
        for _ in range(self.steps):
            self.theta = self.theta - rate * self.gradient(batch, weights)
        self.dirty[batch] = False
        self.order.extend(batch.tolist())

    def expected_sizes(self, rows: Ints) -> Floats:
        """How large the clean gradients of dirty rows are expected to be."""
        sizes, patterns = np.zeros(len(rows)), self.pattern[rows]
        seen = np.array(self.order, dtype=np.int64)
        for pattern in np.unique(patterns).tolist():
            shift = np.zeros_like(self.theta)
            own = seen[self.pattern[seen] == pattern]
            if len(own):
                shift += softmax.summed_gradient(self.theta, self.after[own], self.codes[own])
                shift -= softmax.summed_gradient(self.theta, self.before[own], self.codes[own])
                shift /= len(own)
            like = patterns == pattern
            sizes[like] = softmax.gradient_sizes(
                self.theta, self.before[rows[like]], self.codes[rows[like]], shift
            )
        return sizes

    def gradient(self, batch: Ints, weights: npt.ArrayLike) -> Floats:
        """The estimated gradient of the loss over all rows, were they clean."""
        clean = np.flatnonzero(~self.dirty)
        total = softmax.summed_gradient(self.theta, self.after[clean], self.codes[clean])
        total += softmax.summed_gradient(self.theta, self.after[batch], self.codes[batch], weights)
        return np.asarray(total / len(self.codes) + softmax.ridge_gradient(self.theta, self.ridge))


def _checked(number: Any, name: str, positive: bool = True) -> float:
    usable = isinstance(number, int | float | np.number) and not isinstance(number, bool)
    if not usable or not np.isfinite(number) or number < 0 or (positive and number == 0):
        least = "above 0" if positive else "of at least 0"
        raise DataError(f"{name} must be a finite number {least}; got {number!r}.")
    return float(number)
