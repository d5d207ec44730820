"""One complete table, and the nearest neighbours in it: the truth, the default, any imputer."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from cpclean.baselines.estimator import NeighborBaseline, begin_fit, one_world, vote
from cpclean.baselines.filling import (
    Filled,
    by_candidates,
    by_frame,
    by_imputer,
    by_rule,
    check_imputer,
    frame_of,
    with_holes,
)
from cpclean.baselines.ground_truth import candidate_rows, true_candidates, true_rows
from cpclean.baselines.source import Source, brings_labels, source_of
from cpclean.data.combinations import likeliest_number
from cpclean.data.frames import is_frame
from cpclean.data.incomplete import IncompleteDataset, Ints
from cpclean.data.rows import Floats
from cpclean.data.table import IncompleteTable
from cpclean.errors import DataError
from cpclean.queries.model import Metric


class World(NeighborBaseline):
    """A method that repairs: k nearest neighbours in the table that it makes.

    Subclasses define how rows become complete, in the space (`_rows`) and as columns (`_filled`).

    Attributes
    ----------
    world_ : ndarray of shape (n_rows, n_features)
        The repaired training rows in the encoded space.
    """

    def fit(self, data: Any, y: Any = None) -> Self:
        """Repair the training rows; `cpclean.baselines.estimator` describes the data."""
        source = begin_fit(self, data, y)
        self.world_ = self._rows(source)
        self._data: IncompleteDataset = one_world(self.world_, source.dataset.labels)
        self.source_ = source
        return self

    def repair(self, data: Any, y: Any = None) -> Any:
        """The training rows without holes: a frame like the table's own.

        Vectors of shape (n_rows, n_features) for an IncompleteDataset, and where the truth is
        known as vectors only. A frame or array needs no labels; all its columns are repaired.
        """
        source = _unlabelled(data) if y is None else source_of(data, y)
        filled = None if source.table is None else self._filled(source.table, source)
        if source.table is None or filled is None:
            return self._rows(source)
        return frame_of(source.table, filled)

    def _codes(self, X: Floats) -> Ints:
        return vote(self._data, X, self.model)

    @abstractmethod
    def _rows(self, source: Source) -> Floats:
        """The training rows without holes, as vectors."""

    @abstractmethod
    def _filled(self, table: IncompleteTable, source: Source) -> Filled | None:
        """The table's columns without holes; None where only vectors are known."""


def _unlabelled(data: Any) -> Source:
    """Data whose labels do not matter: a frame gets some of its own, one per row."""
    if brings_labels(data):
        return source_of(data)
    table = IncompleteTable(data, label=list(range(len(data))), prior="uniform")
    return source_of(table)


class DefaultCleaning(World):
    """Default cleaning: the mean of a column of numbers, the most frequent category.

    A space's own `default` takes precedence. Equally frequent categories go by their text.

    Examples
    --------
    >>> import pandas as pd
    >>> from cpclean.baselines.worlds import DefaultCleaning
    >>> frame = pd.DataFrame({"age": [18.0, None, 66.0], "city": ["A", "B", "A"]})
    >>> method = DefaultCleaning(n_neighbors=1).fit(frame, ["no", "yes", "yes"])
    >>> method.repair(frame, ["no", "yes", "yes"])["age"].tolist()
    [18.0, 42.0, 66.0]
    >>> method.predict(pd.DataFrame({"age": [41.0], "city": ["B"]})).tolist()
    ['yes']
    """

    def __init__(self, n_neighbors: int = 3, metric: Metric = "euclidean") -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric

    def _rows(self, source: Source) -> Floats:
        return default_rows(source)

    def _filled(self, table: IncompleteTable, source: Source) -> Filled:
        return by_rule(table)


def default_rows(source: Source) -> Floats:
    """The training rows as cleaned by default; the likeliest candidates of a dataset."""
    known = source.of_space("default")
    if known is not None:
        return source.rows(known, "the space's default")
    if source.table is not None:
        return source.table.space.encode(by_rule(source.table))
    data = source.dataset
    likely = [likeliest_number(data.stored_cells(row)) for row in range(data.n_rows)]
    return np.stack([data.candidate(row, number) for row, number in enumerate(likely)])


class _OfTruth(World):
    """A world that can only be made where the truth is known."""

    def __init__(
        self, truth: Any = None, n_neighbors: int = 3, metric: Metric = "euclidean"
    ) -> None:
        self.truth = truth
        self.n_neighbors = n_neighbors
        self.metric = metric


class GroundTruth(_OfTruth):
    """The true table: the most that cleaning could reach.

    Parameters
    ----------
    truth : frame or array, optional
        The true rows, with the columns of the table; vectors for a dataset or a space. By default
        those of the space.
    n_neighbors, metric
        As in `cpclean.world_shares`.
    """

    def _rows(self, source: Source) -> Floats:
        return true_rows(source, self.truth)

    def _filled(self, table: IncompleteTable, source: Source) -> Filled | None:
        if not is_frame(self.truth) and (self.truth is None or source.space is not None):
            return None
        true_rows(source, self.truth)  # refuses what is not complete
        return by_frame(table, self.truth, "truth")


class ClosestWorld(_OfTruth):
    """The closest-candidate world: every row its candidate that is nearest to the truth.

    What a person can make of the candidates. A true category that is not among them is "other",
    where that is one of them.

    Parameters
    ----------
    truth : frame or array, optional
        The number of every row's true candidate, or the true rows as in `GroundTruth`. By default
        those of the space.
    n_neighbors, metric
        As in `cpclean.world_shares`.
    """

    def _rows(self, source: Source) -> Floats:
        return candidate_rows(source, self.truth)

    def _filled(self, table: IncompleteTable, source: Source) -> Filled:
        return by_candidates(table, true_candidates(source, self.truth).tolist())


class Imputed(World):
    """Any scikit-learn style imputer, fitted to the training table.

    It sees the numeric, boolean and date columns in their own units; a missing category becomes the
    most frequent one. Of a dataset, it sees the vectors, with NaN where the candidates of a row
    differ.

    Parameters
    ----------
    imputer : object with fit_transform
        A copy of it is fitted.
    n_neighbors, metric
        As in `cpclean.world_shares`.
    """

    def __init__(self, imputer: Any, n_neighbors: int = 3, metric: Metric = "euclidean") -> None:
        self.imputer = imputer
        self.n_neighbors = n_neighbors
        self.metric = metric

    def _rows(self, source: Source) -> Floats:
        return imputed_rows(source, self.imputer)

    def _filled(self, table: IncompleteTable, source: Source) -> Filled:
        return by_imputer(table, self.imputer)


def imputed_rows(source: Source, imputer: Any) -> Floats:
    """The training rows as an imputer fills them."""
    check_imputer(imputer)
    if source.table is not None:
        return source.table.space.encode(by_imputer(source.table, imputer))
    rows = with_holes(source)
    filled = np.asarray(clone(imputer, safe=False).fit_transform(rows), dtype=np.float64)
    if filled.shape != rows.shape or np.isnan(filled).any():
        raise DataError(
            f"{imputer!r} must fill every hole of {rows.shape[0]} vectors of length "
            f"{rows.shape[1]}; got shape {filled.shape} with {int(np.isnan(filled).sum())} holes."
        )
    return filled
