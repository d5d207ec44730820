"""Points: what is asked about, as vectors of the space, with an owner and a weight each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.data.drawing import N_DRAWS, Drawing
from cpclean.data.given_rows import checked_arrays
from cpclean.data.row_arrays import RowArrays, runs
from cpclean.data.rows import FactoredRow, Floats, Ints

# A point with more completions than this is represented by draws; each costs a look at the data.
MAX_COMPLETIONS = 5**3


# Doubles that the completions of some points may take up at a time.
_PART = 2_000_000


class Points:
    """Points to ask about; a point with holes is a set of completions.

    Like the rows of an `IncompleteDataset`, without labels. Wherever X is expected, queries and
    sessions accept Points too. Shares of a point are the mean over its completions, by prior;
    a label is possible if it is for some completion.

    Parameters
    ----------
    candidates : sequence of array-likes of shape (m_i, n_features), or FactoredRow
        The completions of every point; a vector of shape (n_features,) is a complete point.
    priors : sequence of array-likes of shape (m_i,), or None
        How likely each completion is; every vector sums to 1. None means uniform.
    max_exact, n_draws, random_state : int
        A factored point with more completions than `max_exact` is represented by `n_draws` draws
        from its prior. What is called certain about it is proved for all its completions, but what
        is certain may not be found to be.

    Attributes
    ----------
    n_points : int
    drawn : ndarray of int
        The points that are represented by draws.
    vectors : ndarray of shape (n_vectors, n_features)
        The distinct vectors. Under the metric "precomputed" these are distances to all candidates.
    vector, owner : ndarray of int, shape (n_entries,)
        Points consist of entries: which vector each has, and which point it belongs to, ascending.
    weight : ndarray of float, shape (n_entries,)
        The weights of a point sum to 1. A complete point has one entry.

    Examples
    --------
    >>> points = Points([[[0.0, 1.0]], [[2.0, 3.0], [0.0, 1.0]]], [None, [0.25, 0.75]])
    >>> points
    Points(2 points, 1 with several completions)
    >>> points.vectors.tolist(), points.owner.tolist(), points.weight.tolist()
    ([[0.0, 1.0], [2.0, 3.0]], [0, 1, 1], [1.0, 0.25, 0.75])
    """

    vectors: Floats
    vector: Ints
    owner: Ints
    weight: Floats
    n_points: int
    drawn: Ints
    cells: RowArrays | None  # the completions cell by cell, if some point is drawn

    def __init__(
        self,
        candidates: Sequence[npt.ArrayLike | FactoredRow],
        priors: Sequence[npt.ArrayLike | None] | None = None,
        *,
        max_exact: int = MAX_COMPLETIONS,
        n_draws: int = N_DRAWS,
        random_state: int = 0,
    ) -> None:
        arrays = checked_arrays(candidates, priors, "point")
        # What was written out one by one is short enough to go through.
        listed = arrays.counts()[arrays.n_cells == 1].max(initial=1)
        drawing = Drawing(max_exact, n_draws, random_state)
        self._take(arrays, replace(drawing, max_exact=max(drawing.max_exact, int(listed))))

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
        return cls.from_entries(given, np.arange(len(given)), np.ones(len(given)), merge=merge)

    @classmethod
    def from_entries(
        cls, vectors: Floats, owner: Ints, weight: Floats, *, merge: bool = True
    ) -> Points:
        """Points of entries that are known to be valid, with one vector each.

        Parameters
        ----------
        vectors : ndarray of shape (n_entries, n_features)
        owner, weight : ndarray of shape (n_entries,)
            Owners ascend from 0 without gaps; the weights of each sum to 1.
        merge : bool
            As in `of`.
        """
        points = object.__new__(cls)
        points._hold(vectors, owner, weight, merge=merge)
        return points

    def _hold(self, vectors: Floats, owner: Ints, weight: Floats, *, merge: bool = True) -> None:
        self.vectors, self.vector = (
            _distinct(vectors) if merge else (vectors, np.arange(len(vectors)))
        )
        self.owner, self.weight = owner, weight
        self.n_points = int(owner[-1]) + 1 if len(owner) else 0
        self.drawn, self.cells = np.zeros(0, dtype=np.int64), None

    @classmethod
    def from_arrays(cls, arrays: RowArrays, drawing: Drawing) -> Points:
        """Points whose completions are known to be valid, cell by cell.

        Draws depend on the cells alone, never on the place of a point among others.
        """
        points = object.__new__(cls)
        points._take(arrays, drawing)
        return points

    def _take(self, arrays: RowArrays, drawing: Drawing) -> None:
        drawn = drawing.drawn_rows(arrays)
        short = drawing.drawn(arrays, drawn, np.zeros(len(arrays.base), dtype=np.int64))
        vectors, owner, weight = short.written_out()
        total = np.add.reduceat(weight, np.searchsorted(owner, np.arange(len(short.base))))
        self._hold(vectors, owner, weight / total[owner])
        self.drawn, self.cells = drawn, arrays if len(drawn) else None

    @property
    def is_exact(self) -> bool:
        """Whether no point is represented by draws."""
        return not len(self.drawn)

    def halves(self) -> tuple[Points, Points]:
        """The points with only the first and only the second half of the draws of drawn ones."""
        if self.is_exact:
            return self, self
        place = np.arange(len(self.owner)) - self._starts[self.owner]
        size = np.bincount(self.owner)[self.owner]
        drawn = np.isin(self.owner, self.drawn)
        first = np.where(drawn, place < (size + 1) // 2, True)
        found = []
        for kept in (first, ~first | ~drawn):
            weight = np.where(kept, self.weight, 0.0)
            half = copy(self)
            half.weight = weight / np.add.reduceat(weight, self._starts)[self.owner]
            found.append(half)
        return found[0], found[1]

    @property
    def vector_weights(self) -> Floats:
        """How much each vector weighs in all points together, shape (n_vectors,)."""
        return np.bincount(self.vector, self.weight, len(self.vectors)).astype(np.float64)

    @property
    def complete_weights(self) -> Floats:
        """The same for points of one entry only."""
        alone = ~np.isin(self.owner, self.mixtures)
        counted = np.bincount(self.vector[alone], self.weight[alone], len(self.vectors))
        return counted.astype(np.float64)

    @cached_property
    def mixtures(self) -> Ints:
        """The points of several entries."""
        return np.flatnonzero(np.bincount(self.owner, minlength=self.n_points) > 1)

    def take(self, points: Ints) -> Points:
        """Some of the points, in this order."""
        sizes = np.bincount(self.owner, minlength=self.n_points)[points]
        at = runs(self._starts[points], sizes)
        owner = np.repeat(np.arange(len(points)), sizes)
        found = Points.from_entries(self.vectors[self.vector[at]], owner, self.weight[at])
        found.drawn = np.flatnonzero(np.isin(points, self.drawn))
        if len(found.drawn) and self.cells is not None:
            found.cells = self.cells.take(points)
        return found

    def entries(self, point: int) -> slice:
        """Which entries a point has."""
        first, last = np.searchsorted(self.owner, [point, point + 1]).tolist()
        return slice(first, last)

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

    @cached_property
    def is_plain(self) -> bool:
        """Whether each point is a vector of its own, in the same order."""
        places = np.arange(self.n_points)
        same = np.array_equal(self.vector, places) and np.array_equal(self.owner, places)
        return self.n_points > 0 and same and bool((self.weight > 0).all())

    def having(self, vectors: Ints) -> Ints:
        """The points that have an entry with one of these vectors, in ascending order."""
        if self.is_plain:
            return np.sort(vectors)
        return np.unique(self.owner[np.isin(self.vector, vectors)])

    @property
    def _starts(self) -> Ints:
        return np.searchsorted(self.owner, np.arange(self.n_points))

    def __len__(self) -> int:
        return self.n_points

    def __repr__(self) -> str:
        several = f", {len(self.mixtures)} with several completions" if len(self.mixtures) else ""
        drawn = f", {len(self.drawn)} of them drawn" if len(self.drawn) else ""
        return f"Points({self.n_points} points{several}{drawn})"


def in_parts(arrays: RowArrays, drawing: Drawing) -> Iterator[Points]:
    """As `Points.from_arrays`, some points at a time: in order, with a bounded number of vectors.

    Complete points, which take no more memory than they do already, come all at once.
    """
    if not arrays.n_cells.any():
        yield Points.from_arrays(arrays, drawing)
        return
    sizes = arrays.counts()
    sizes[sizes > drawing.max_exact] = drawing.n_draws
    part = np.cumsum(sizes) * arrays.base.shape[1] // _PART
    for points in np.split(np.arange(len(sizes)), np.flatnonzero(np.diff(part)) + 1):
        yield Points.from_arrays(arrays.take(points), drawing)


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
