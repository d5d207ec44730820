"""BoostClean: boosting over classifiers, one per repair method, on the validation points.

1. Every repair method makes one version of the training table, and each version is a classifier.
2. All validation points have the same weight.
3. Each round takes the classifier of the best weighted accuracy; e is its weighted error.
4. Its weight in the vote is alpha = ln((1 - e) / e), and with K > 2 classes
   ln((1 - e) / e) + ln(K - 1) (SAMME).
5. The weights of points that it gets wrong are multiplied by exp(alpha / 2), the others by
   exp(-alpha / 2), and all are divided by their sum.
6. The prediction is the label with the largest sum of alphas.

Afterwards the wrong points have a weight of (K - 1) / K together, as much as chance would leave
wrong: no classifier is chosen twice in a row.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from cpclean.baselines.estimator import (
    NeighborBaseline,
    begin_fit,
    checked_size,
    label_codes,
    one_world,
    vote,
)
from cpclean.baselines.filling import frame_of
from cpclean.baselines.source import Source, brings_labels, source_of
from cpclean.baselines.versions import versions_of
from cpclean.data.incomplete import Ints
from cpclean.data.rows import Floats
from cpclean.errors import DataError
from cpclean.queries.model import Metric

# Sums of weights that differ by less are equal but for rounding: the earlier version wins.
_EQUAL = 1e-12


@dataclass(frozen=True)
class Round:
    """One round: the chosen version, its weighted error and its alpha; the weights afterwards."""

    version: int
    error: float
    alpha: float
    weights: Floats


def boost(wrong: npt.NDArray[np.bool_], n_classes: int, rounds: int) -> list[Round]:
    """The rounds of boosting, from which classifier is wrong at which validation point.

    Parameters
    ----------
    wrong : bool array of shape (n_versions, n_points)
    n_classes : int
    rounds : int
        The most there may be; boosting ends early where there is nothing to gain.

    Notes
    -----
    A classifier without any error is found in the first round: weights never reach 0. It decides
    alone, with alpha = 1 in place of an infinite one. A classifier that is no better than chance,
    e >= 1 - 1 / K, would have an alpha of 0 or less: boosting ends without it. In the first round
    it is chosen nonetheless, alone and with alpha = 1, for something has to predict.

    Examples
    --------
    >>> wrong = np.array([[True, False, False, False], [False, False, True, True]])
    >>> [(one.version, round(one.alpha, 3)) for one in boost(wrong, 2, 5)[:2]]
    [(0, 1.099), (1, 0.693)]
    """
    weights = np.full(wrong.shape[1], 1.0 / wrong.shape[1])
    done: list[Round] = []
    while len(done) < rounds:
        errors = wrong @ weights
        best = int(np.argmax(errors <= errors.min() + _EQUAL))
        error = float(errors[best])
        if not wrong[best].any():
            return [Round(best, 0.0, 1.0, weights)]
        if error >= 1.0 - 1.0 / n_classes - _EQUAL:
            return done or [Round(best, error, 1.0, weights)]
        error = max(error, np.finfo(np.float64).tiny)
        alpha = math.log((1.0 - error) / error) + math.log(n_classes - 1)
        weights = weights * np.exp(np.where(wrong[best], 0.5, -0.5) * alpha)
        weights = weights / weights.sum()
        done.append(Round(best, error, alpha, weights))
    return done


class BoostClean(NeighborBaseline):
    """Boosting over repair methods, chosen by their accuracy on validation points.

    Parameters
    ----------
    repairs : "default", list of imputers, or dict from name to imputer, frame or array
        The repair methods. "default": the space's own versions if it has some, else the paper's
        candidates as rules for whole columns (mean, min, quartiles, max of numbers; the four most
        frequent categories and "other"), every rule for numbers with every one for categories.
        Versions that are equal count once.
    rounds : int, default=5
        1 takes the method of best validation accuracy, as the paper describes it.
    n_neighbors, metric
        As in `cpclean.world_shares`.

    Attributes
    ----------
    versions_ : list of Version
    rounds_ : list of Round
        At most `rounds`; see `boost` for when it ends early.

    Examples
    --------
    >>> from cpclean import IncompleteDataset
    >>> data = IncompleteDataset([[[0.0], [8.0]], [[1.0]], [[9.0]]], ["a", "b", "b"])
    >>> low, high = np.array([[0.0], [1.0], [9.0]]), np.array([[8.0], [1.0], [9.0]])
    >>> method = BoostClean({"low": low, "high": high}, n_neighbors=1)
    >>> method = method.fit(data, X_val=[[0.0], [7.5]], y_val=["b", "a"])
    >>> [method.versions_[one.version].name for one in method.rounds_]
    ['high']
    """

    def __init__(
        self,
        repairs: Any = "default",
        rounds: int = 5,
        n_neighbors: int = 3,
        metric: Metric = "euclidean",
    ) -> None:
        self.repairs = repairs
        self.rounds = rounds
        self.n_neighbors = n_neighbors
        self.metric = metric

    def fit(self, data: Any, y: Any = None, *, X_val: Any = None, y_val: Any = None) -> Self:
        """Make the versions, and boost on the validation points.

        Parameters
        ----------
        data, y
            As `cpclean.baselines.estimator` describes.
        X_val, y_val
            Complete points and their labels; by default those of the task or space.
        """
        source = begin_fit(self, data, y)
        rounds = checked_size(self.rounds, "rounds")
        points, truth = _validation(source, X_val, y_val)
        self.versions_ = versions_of(source, self.repairs)
        self._worlds = [one_world(one.rows, source.dataset.labels) for one in self.versions_]
        found = [vote(world, points, self.model) for world in self._worlds]
        wrong = np.array(found) != truth
        self.rounds_ = boost(wrong, len(self.classes_), rounds)
        self.source_ = source
        return self

    def repair(self, data: Any, y: Any = None) -> Any:
        """The version of the first round, which is best on the validation points.

        A frame, or vectors where the version consists of vectors. The data has to be that of `fit`;
        a frame or array needs no labels.
        """
        check_is_fitted(self, "source_")
        if y is None and not brings_labels(data):
            own = self.source_.dataset.labels
            y = own if len(data) == len(own) else range(len(data))
        if source_of(data, y).dataset != self.source_.dataset:
            raise DataError(
                "BoostClean repairs the data it was fitted to; got other data. Fit it first."
            )
        best = self.versions_[self.rounds_[0].version]
        if self.source_.table is None or best.filled is None:
            return best.rows.copy()
        return frame_of(self.source_.table, best.filled)

    def _codes(self, X: Floats) -> Ints:
        votes = np.zeros((len(X), len(self.classes_)))
        points = np.arange(len(X))
        for one in self.rounds_:
            world = self._worlds[one.version]
            votes[points, vote(world, X, self.model)] += one.alpha
        return np.asarray(votes.argmax(axis=1))


def _validation(source: Source, X_val: Any, y_val: Any) -> tuple[Floats, Ints]:
    if (X_val is None) != (y_val is None):
        raise DataError(
            "X_val and y_val belong together; got only one of them. Pass both, or neither for "
            "those of a task or space."
        )
    if X_val is None:
        X_val, y_val = source.task.points, source.task.labels
    if y_val is None:
        raise DataError("BoostClean needs validation points: fit(data, X_val=..., y_val=...).")
    points = source.encode(X_val, "X_val")
    if not len(points):
        raise DataError("BoostClean needs at least one validation point; got none.")
    return points, label_codes(y_val, source.dataset.classes, len(points), "y_val")
