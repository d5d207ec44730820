"""The common face of all baselines.

``fit(data, y=None)``
    data is one of four things, and says how points are given afterwards:

    * an IncompleteTable: points are frames or arrays with its columns;
    * an IncompleteDataset: points are vectors of its space. It knows no columns, so its likeliest
      candidates stand for default cleaning;
    * a space: any object with an IncompleteTable as `table`, and whichever of these a method
      needs: `X_val`, `y_val`, `clean` (the true rows, encoded), `truth` (the number of every row's
      true candidate), `default` (the rows as cleaned by default, encoded), `versions` (a dict
      from name to rows, encoded). Points are vectors of its space, or frames;
    * a frame or array with holes, with its labels as y.
``predict(X)``, ``score(X, y)``
    Labels of complete points, and the share of them that is right.
``repair(data)``
    Where the method repairs: the training rows without holes. A frame like the table's own, or
    vectors of shape (n_rows, n_features) where nothing else is known. Frames need no labels.
``scores(X, y)``
    Where rows are cleaned one after the other: a `Curve`, accuracy at numbers of cleaned rows.

So all of them are compared by ``method.fit(space).score(space.X_test, space.y_test)``. Neighbours
vote by the rules of all of cpclean: at equal distance the smaller row is nearer, at equal votes
the smaller class wins. ActiveClean alone has a model of its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from cpclean.data.frames import is_frame
from cpclean.data.incomplete import IncompleteDataset, Ints
from cpclean.data.labels import encode_labels
from cpclean.data.rows import Floats, as_floats, check_finite, is_whole, listed
from cpclean.data.table import IncompleteTable
from cpclean.errors import DataError, QueryError, TableError, offenders
from cpclean.queries.geometry import ask
from cpclean.queries.model import Metric, Model
from cpclean.queries.shares import world_shares


@dataclass(frozen=True)
class Source:
    """What a baseline is fitted to."""

    dataset: IncompleteDataset
    table: IncompleteTable | None = None
    space: Any = None

    def encode(self, X: Any, what: str = "X") -> Floats:
        """Complete points as vectors of the space."""
        if self.table is not None and (self.space is None or is_frame(X)):
            return self.table.encode(X)
        vectors = as_floats(X, what)
        width = self.dataset.n_features
        if vectors.ndim != 2 or vectors.shape[1] != width:
            raise DataError(
                f"{what} must have shape (n_points, {width}), vectors of the encoded space; "
                f"got {vectors.shape}."
            )
        check_finite(vectors, what)
        return vectors

    def rows(self, given: Any, what: str) -> Floats:
        """Complete training rows as vectors of the space."""
        vectors = self.encode(given, what)
        if len(vectors) != self.dataset.n_rows:
            raise DataError(
                f"{what} must have one row a training row, {self.dataset.n_rows} in all; "
                f"got {len(vectors)}."
            )
        return vectors

    def of_space(self, name: str) -> Any:
        """What the space says about something; None without a space, or if it does not say."""
        return getattr(self.space, name, None)


def brings_labels(data: Any) -> bool:
    """Whether data is a table, a dataset or a space, rather than a frame or array."""
    known = isinstance(data, IncompleteTable | IncompleteDataset)
    return known or isinstance(getattr(data, "table", None), IncompleteTable)


def source_of(data: Any, y: Any = None) -> Source:
    """What a user's data is; frames and arrays become tables with default candidates."""
    if isinstance(data, IncompleteTable):
        source = Source(data.dataset, data)
    elif isinstance(data, IncompleteDataset):
        source = Source(data)
    elif isinstance(getattr(data, "table", None), IncompleteTable):
        source = Source(data.table.dataset, data.table, data)
    elif y is None:
        raise TableError(
            "data must be an IncompleteTable, an IncompleteDataset or a space, or come with its "
            f"labels as y; got {type(data).__name__} without y."
        )
    else:
        table = IncompleteTable(data, label=y)
        return Source(table.dataset, table)
    if y is not None:
        raise TableError(
            f"y must be None: the {type(data).__name__} brings its own labels; "
            f"got y of type {type(y).__name__}."
        )
    return source


@dataclass(frozen=True)
class Curve:
    """Something measured at numbers of cleaned rows, in one run or several.

    Attributes
    ----------
    counts : ndarray of int, shape (n_counts,)
        How many rows are cleaned.
    runs : ndarray of shape (n_runs, n_counts)
    """

    counts: Ints
    runs: Floats

    @property
    def mean(self) -> Floats:
        return np.asarray(self.runs.mean(axis=0))

    @property
    def std(self) -> Floats:
        """The sample standard deviation over runs; 0 for a single one."""
        if len(self.runs) < 2:
            return np.zeros(len(self.counts))
        return np.asarray(self.runs.std(axis=0, ddof=1))


class Baseline(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Fitting, predicting and scoring as all baselines do it; subclasses give `_codes`."""

    source_: Source
    classes_: npt.NDArray[Any]

    def _start(self, data: Any, y: Any) -> Source:
        source = source_of(data, y)
        self.classes_ = source.dataset.classes
        self.n_features_in_ = source.dataset.n_features
        return source

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The label of every point; X is as `cpclean.baselines.estimator` tells."""
        check_is_fitted(self, "source_")
        return np.asarray(self.classes_[self._codes(self.source_.encode(X))])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of points whose label is predicted."""
        check_is_fitted(self, "source_")
        right = self._right(X, y, self._codes)
        return float(np.average(right, weights=sample_weight))

    def _right(self, X: Any, y: Any, codes: Any) -> npt.NDArray[np.bool_]:
        points = self.source_.encode(X)
        truth = label_codes(y, self.classes_, len(points), "y")
        return np.asarray(codes(points) == truth)

    @abstractmethod
    def _codes(self, X: Floats) -> Ints:
        """The class number of every point."""


def label_codes(y: Any, classes: npt.NDArray[Any], size: int, what: str) -> Ints:
    """The class number of every label; -1 for labels that no training row has."""
    codes, own = encode_labels(y)
    if len(codes) != size:
        raise DataError(f"{what} must have one label a point, {size} in all; got {len(codes)}.")
    number = {label: code for code, label in enumerate(classes.tolist())}
    found = np.array([number.get(label, -1) for label in own.tolist()], dtype=np.int64)
    if size and found.max() < 0:
        raise DataError(
            f"{what} must have labels such as the data has, "
            f"{offenders(map(repr, classes.tolist()))}; got {offenders(map(repr, own.tolist()))}."
        )
    return np.asarray(found[codes])


def one_world(rows: Floats, labels: Any) -> IncompleteDataset:
    """Complete rows as a dataset with a single world."""
    return IncompleteDataset(list(rows[:, None, :]), labels)


def vote(data: IncompleteDataset, X: Floats, n_neighbors: int, metric: Metric) -> Ints:
    """The class number that most prior mass predicts; in a single world, the k-NN prediction."""
    return np.asarray(world_shares(data, X, n_neighbors, metric).argmax(axis=1))


def check_neighbors(data: IncompleteDataset, n_neighbors: int, metric: Metric) -> None:
    """Refuse at once what could not be asked at the first prediction."""
    if isinstance(metric, str) and metric == "precomputed":
        raise QueryError('metric must not be "precomputed": a baseline measures distances.')
    ask(data, np.empty((0, data.n_features)), Model(n_neighbors, metric))


def checked_counts(counts: Sequence[int] | None, n_dirty: int) -> Ints:
    """Numbers of cleaned rows, ascending; eleven even steps from none to all if not given."""
    if counts is None:
        return np.unique(np.linspace(0, n_dirty, 11).round().astype(np.int64))
    given = listed(counts, "counts must be a sequence of numbers of cleaned rows")
    whole = bool(given) and all(is_whole(one) and 0 <= one <= n_dirty for one in given)
    if not whole or any(one >= two for one, two in pairwise(given)):
        raise DataError(
            f"counts must be ascending ints in [0, {n_dirty}] (the number of rows with holes); "
            f"got {counts!r}."
        )
    return np.array(given, dtype=np.int64)


def checked_seed(random_state: Any) -> int:
    """A seed: a given one, so that every run can be repeated."""
    if not is_whole(random_state) or random_state < 0:
        raise DataError(f"random_state must be an int of at least 0; got {random_state!r}.")
    return int(random_state)


def checked_size(size: Any, name: str) -> int:
    """A number of runs, rounds or rows."""
    if not is_whole(size) or size < 1:
        raise DataError(f"{name} must be an int of at least 1; got {size!r}.")
    return int(size)
