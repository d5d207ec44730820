"""Nearest neighbours over holes: distances from what is there, nothing filled in."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from cpclean.baselines.estimator import Baseline, begin_fit, check_model
from cpclean.baselines.filling import with_holes
from cpclean.baselines.source import Source
from cpclean.data.incomplete import Ints
from cpclean.data.rows import Floats
from cpclean.errors import DataError
from cpclean.queries.model import Model

_BLOCK = 2**22  # distances at a time


class NanEuclideanNeighbors(Baseline):
    """K nearest neighbours by the Euclidean distance over the coordinates that are present.

    The squared distance to a row is the sum over its present coordinates, multiplied by the number
    of all coordinates and divided by that of those present: scikit-learn's
    `nan_euclidean_distances`. A row with
    nothing present is farther than any other. At equal distance the smaller row is nearer, at
    equal votes the smaller class wins. Doubted cells count as holes.

    Parameters
    ----------
    n_neighbors : int, default=3
    count : {"feature", "column"}, default="feature"
        What is counted for the factor: coordinates of the encoded space, as in scikit-learn, or
        columns of the table. A hole in a column with 60 categories takes 60 coordinates away, so
        that such rows are hardly ever near; counted as one column, it takes one.

    Attributes
    ----------
    rows_ : ndarray of shape (n_rows, n_features)
        The training rows, NaN where there is a hole.

    Examples
    --------
    >>> from cpclean import IncompleteDataset
    >>> from cpclean.baselines.nan_neighbors import NanEuclideanNeighbors
    >>> data = IncompleteDataset([[[0.0, 0.0], [0.0, 9.0]], [[1.0, 1.0]]], ["a", "b"])
    >>> NanEuclideanNeighbors(n_neighbors=1).fit(data).predict([[0.2, 5.0], [0.9, 0.9]]).tolist()
    ['a', 'b']
    """

    def __init__(self, n_neighbors: int = 3, count: str = "feature") -> None:
        self.n_neighbors = n_neighbors
        self.count = count

    def fit(self, data: Any, y: Any = None) -> Self:
        """Store the training rows with their holes."""
        source = begin_fit(self, data, y)
        check_model(source.dataset, Model(self.n_neighbors))
        self.groups_ = self._groups(source)
        self.rows_ = with_holes(source)
        self.source_ = source
        return self

    def _groups(self, source: Source) -> Ints:
        """The first coordinate of each thing that is counted."""
        if self.count == "feature":
            return np.arange(source.dataset.n_features)
        if self.count != "column":
            raise DataError(f'count must be "feature" or "column"; got {self.count!r}.')
        if source.table is None:
            raise DataError(
                'count="column" needs a table: an IncompleteDataset has no columns. '
                'Fit the table, or use count="feature".'
            )
        features = source.table.space.features
        return np.array([feature.start for feature in features if feature is not None])

    def distances(self, X: Any) -> Floats:
        """The distance of every point to every row, shape (n_points, n_rows)."""
        return self._distances(self.points(X))

    def _distances(self, X: Floats) -> Floats:
        present = ~np.isnan(self.rows_)
        counted = present[:, self.groups_].sum(axis=1)
        squares = np.zeros((len(X), len(self.rows_)))
        # Coordinate by coordinate: equal rows tie exactly.
        for coordinate in range(X.shape[1]):
            there = present[:, coordinate]
            gaps = X[:, coordinate, None] - self.rows_[there, coordinate]
            squares[:, there] += gaps**2
        with np.errstate(divide="ignore", invalid="ignore"):
            factor = len(self.groups_) / counted
            found: Floats = np.sqrt(squares * factor)
        found[:, counted == 0] = np.inf
        return found

    def _codes(self, X: Floats) -> Ints:
        data = self.source_.dataset
        step = max(1, _BLOCK // data.n_rows)
        codes = np.zeros(len(X), dtype=np.int64)
        for start in range(0, len(X), step):
            block = self._distances(X[start : start + step])
            nearest = np.argsort(block, axis=1, kind="stable")[:, : self.n_neighbors]
            votes = np.zeros((len(block), data.n_classes), dtype=np.int64)
            np.add.at(votes, (np.arange(len(block))[:, None], data.codes[nearest]), 1)
            codes[start : start + step] = votes.argmax(axis=1)
        return codes
