"""Points: what is asked about, as vectors of the space, with an owner and a weight each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.data.rows import Floats

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Points:
    """Points that are encoded already. Made by `Points.of`, or by `IncompleteTable.points`.

    A point consists of entries: a vector, the point it belongs to, and a weight. The weights of a
    point sum to 1. A complete point has one entry. Equal vectors are stored once, however many
    entries have them, so that nothing is worked out twice.

    Attributes
    ----------
    vectors : ndarray of shape (n_vectors, n_features)
        Under the metric "precomputed" these are distances to all candidates.
    vector : ndarray of int, shape (n_entries,)
        Which vector each entry has.
    owner : ndarray of int, shape (n_entries,)
        Which point each entry belongs to, in ascending order.
    weight : ndarray of float, shape (n_entries,)
    n_points : int

    Examples
    --------
    >>> points = Points.of([[0.0, 1.0], [2.0, 3.0], [0.0, 1.0]])
    >>> points.n_points, points.vectors.tolist(), points.vector.tolist()
    (3, [[0.0, 1.0], [2.0, 3.0]], [0, 1, 0])
    >>> points.vector_weights.tolist()
    [2.0, 1.0]
    """

    vectors: Floats
    vector: Ints
    owner: Ints
    weight: Floats
    n_points: int

    @classmethod
    def of(cls, vectors: npt.ArrayLike, *, merge: bool = True) -> Points:
        """Complete points, one vector each.

        Parameters
        ----------
        vectors : array-like of shape (n_points, n_features)
            Finite numbers.
        merge : bool
            Store equal vectors once. Without it the points keep their order as vectors.
        """
        given = np.array(vectors, dtype=np.float64, order="C")
        distinct, vector = _distinct(given) if merge else (given, np.arange(len(given)))
        return cls(distinct, vector, np.arange(len(given)), np.ones(len(given)), len(given))

    @property
    def vector_weights(self) -> Floats:
        """How much each vector weighs in all points together, shape (n_vectors,)."""
        return np.bincount(self.vector, self.weight, len(self.vectors)).astype(np.float64)

    def all_vectors(self) -> Floats:
        """The vectors of complete points, one per point, in the order of the points."""
        assert len(self.owner) == self.n_points, "a point with several entries has no one vector"
        return self.vectors[self.vector]

    def mixed(self, found: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """What was found for each vector, mixed by weight for each point; counts are added up."""
        each = found[self.vector]
        if len(each) == self.n_points:
            return each
        if found.dtype != object:
            each = each * self.weight.reshape(-1, *(1,) * (found.ndim - 1))
        return np.asarray(np.add.reduceat(each, self._starts))

    def union(self, found: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """What holds for at least one entry of each point."""
        each = found[self.vector]
        if len(each) == self.n_points:
            return each
        return np.asarray(np.logical_or.reduceat(each, self._starts))

    def having(self, vectors: Ints) -> Ints:
        """The points that have an entry with one of these vectors, in ascending order."""
        return np.unique(self.owner[np.isin(self.vector, vectors)])

    @property
    def _starts(self) -> Ints:
        return np.searchsorted(self.owner, np.arange(self.n_points))


def _distinct(vectors: Floats) -> tuple[Floats, Ints]:
    """The distinct vectors, in order of appearance, and where each given one is among them."""
    if not vectors.size:
        return vectors[:1], np.zeros(len(vectors), dtype=np.int64)
    as_bytes = vectors.view(np.dtype((np.void, vectors.itemsize * vectors.shape[1]))).ravel()
    _, first, found = np.unique(as_bytes, return_index=True, return_inverse=True)
    if len(first) == len(vectors):
        return vectors, np.arange(len(vectors))
    order = np.argsort(first)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return vectors[first[order]], place[found.ravel()]
