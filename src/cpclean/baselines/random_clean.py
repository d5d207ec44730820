"""RandomClean: rows are cleaned in a random order, several times over."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self

import numpy as np

from cpclean.baselines.curves import CleaningCurve, checked_counts
from cpclean.baselines.estimator import (
    NeighborBaseline,
    begin_fit,
    checked_size,
    fixed_seed,
    one_world,
    vote,
)
from cpclean.baselines.ground_truth import answered_rows
from cpclean.baselines.worlds import default_rows
from cpclean.data.incomplete import IncompleteDataset, Ints
from cpclean.data.rows import Floats
from cpclean.errors import DataError
from cpclean.queries.certain import is_certain
from cpclean.queries.model import Metric


class RandomClean(NeighborBaseline):
    """Clean rows with holes in a random order: the mean and the spread over runs.

    Parameters
    ----------
    truth : frame or array, optional
        What a person would answer: the number of every row's true candidate, or the true rows. By
        default those of the space.
    counts : sequence of int, optional
        At which numbers of cleaned rows to look; by default eleven even steps from none to all.
    n_runs : int, default=20
        The paper's number.
    predictor : {"world", "vote"}
        How cleaned data predicts: by nearest neighbours in the default world with the cleaned rows
        filled in, or by the vote over the worlds that are left.
    exact : bool, default=False
        Whether a cleaned row is the truth itself; otherwise its nearest candidate.
    random_state : int, default=0
        Run r draws its order with the seed random_state + r.
    n_neighbors, metric
        As in `cpclean.world_shares`.

    Attributes
    ----------
    counts_ : ndarray of int
    orders_ : ndarray of shape (n_runs, n_dirty_rows)
        The order in which each run cleans.

    Notes
    -----
    `predict` is the first run after the last of `counts`; `score` is the mean over all runs there,
    which is what the paper reports.

    Examples
    --------
    >>> from cpclean import IncompleteDataset
    >>> from cpclean.baselines.random_clean import RandomClean
    >>> data = IncompleteDataset([[[0.0], [5.0]], [[1.0], [7.0]], [[6.0]]], ["a", "b", "b"])
    >>> method = RandomClean(truth=[0, 1, 0], counts=[0, 1, 2], n_runs=4, n_neighbors=1).fit(data)
    >>> method.scores([[0.0], [1.0], [7.0]], ["a", "a", "b"]).mean.round(2).tolist()
    [0.67, 0.75, 1.0]
    """

    def __init__(
        self,
        truth: Any = None,
        counts: Sequence[int] | None = None,
        n_runs: int = 20,
        predictor: str = "world",
        exact: bool = False,
        random_state: int = 0,
        n_neighbors: int = 3,
        metric: Metric = "euclidean",
    ) -> None:
        self.truth = truth
        self.counts = counts
        self.n_runs = n_runs
        self.predictor = predictor
        self.exact = exact
        self.random_state = random_state
        self.n_neighbors = n_neighbors
        self.metric = metric

    def fit(self, data: Any, y: Any = None) -> Self:
        """Draw the orders; nothing is measured yet."""
        source = begin_fit(self, data, y)
        if self.predictor not in ("world", "vote"):
            raise DataError(f'predictor must be "world" or "vote"; got {self.predictor!r}.')
        seed, n_runs = fixed_seed(self.random_state), checked_size(self.n_runs, "n_runs")
        dirty = source.dataset.dirty_rows
        self.counts_ = checked_counts(self.counts, len(dirty))
        self.orders_ = np.stack(
            [np.random.default_rng(seed + run).permutation(dirty) for run in range(n_runs)]
        )
        self._answers = answered_rows(source, self.truth, self.exact)
        self._default = default_rows(source)
        self.source_ = source
        return self

    def scores(self, X: Any, y: Any) -> CleaningCurve:
        """Accuracy at each of `counts_`, run by run."""
        points, truth = self.labelled(X, y)
        return self._curve(lambda data: (self._voted(data, points) == truth).mean())

    def certain_shares(self, X: Any) -> CleaningCurve:
        """The share of points that are certain at each of `counts_`, run by run."""
        points = self.points(X)
        return self._curve(
            lambda data: is_certain(data, points, self.n_neighbors, self.metric).mean()
        )

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The accuracy after the last of `counts_`, mean over all runs."""
        points, truth = self.labelled(X, y)
        found = [
            np.average(self._voted(self._after(order), points) == truth, weights=sample_weight)
            for order in self.orders_
        ]
        return float(np.mean(found))

    def _curve(self, measure: Callable[[IncompleteDataset], Any]) -> CleaningCurve:
        runs = [[float(measure(data)) for data in self._states(order)] for order in self.orders_]
        return CleaningCurve(self.counts_, np.array(runs))

    def _states(self, order: Ints) -> Iterator[IncompleteDataset]:
        """The data at each of the counts."""
        data, done = self.source_.dataset, 0
        for count in self.counts_.tolist():
            for row in order[done:count].tolist():
                data = data.pin(row, value=self._answers[row])
            done = count
            yield data

    def _after(self, order: Ints) -> IncompleteDataset:
        *_, last = self._states(order)
        return last

    def _voted(self, data: IncompleteDataset, X: Floats) -> Ints:
        if self.predictor == "world":
            rows = self._default.copy()
            cleaned = np.setdiff1d(self.source_.dataset.dirty_rows, data.dirty_rows)
            rows[cleaned] = self._answers[cleaned]
            data = one_world(rows, data.labels)
        return vote(data, X, self.model)

    def _codes(self, X: Floats) -> Ints:
        return self._voted(self._after(self.orders_[0]), X)
