"""A checked question about points, answered block by block.

What kind of space the rows lie in is known to the subclasses alone: `plain_query` has vectors and
metrics, `leaf_query` has leaves of trees. Each finds the rows near a point, brings their candidates
into order, and says where each row begins and ends. Everything else is the same for all of them.

Memory beyond the data, what is prepared of it and the result stays around `BLOCK_BYTES` per thread,
for any number of rows and points: no thread has an array of the size of the table. Only a single
point with a larger neighbourhood takes more. (`expected_entropies` adds up in two arrays of 8 bytes
per row, whatever the number of threads.)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np
import numpy.typing as npt

from cpclean.cluster.hands import HERE, Hands
from cpclean.cluster.held import Held
from cpclean.data.incomplete import IncompleteDataset, Ints
from cpclean.data.points import Points
from cpclean.data.rows import Floats, StoredRow, within
from cpclean.data.threads import in_threads
from cpclean.queries import _looking, _minmax, _near
from cpclean.queries.kernel_arrays import SIZE, Positions

Result = TypeVar("Result")
# Vectors, distances in their place, or leaves: what the kernels of a space take for points.
Vectors = npt.NDArray[Any]

BLOCK_POINTS = 64
BLOCK_BYTES = 2**26


@dataclass(frozen=True)
class Query(ABC):
    """Checked query points over an incomplete dataset; equal points are asked once."""

    data: IncompleteDataset
    n_neighbors: int
    rarest: float  # a lower bound on the prior of any candidate
    points: Points
    vectors: Vectors  # those of the points, or some of them, as the kernels take them
    drawn: Query | None  # the same about draws, where some rows have too many candidates

    # -- what each kind of space has its own way for ---------------------------------------

    @property
    @abstractmethod
    def spans(self) -> Ints:
        """Sizes of the rows, (N, 4) as in `kernel_arrays.Rows.spans`."""

    @abstractmethod
    def near(self, points: Vectors, limit: int) -> Near | None:
        """The rows near each point; None if several points have more than `limit` together."""

    @abstractmethod
    def positions(
        self, points: Vectors, near: Near | None, slack: float, want_rank: bool
    ) -> tuple[Positions, Floats | None]:
        """Where candidates are, as far as all but `slack` of the mass is decided within.

        Without near rows if `finds_rows` says so; then also the radius that was enough: what rows
        do farther away changes nothing.
        """

    @abstractmethod
    def extremes(self, points: Vectors, near: Near) -> tuple[Ints, Ints]:
        """Where rows begin and end, as `_extremes.extremes` has it."""

    @abstractmethod
    def nearest(self, row: int, some: Ints | None = None) -> Floats:
        """How near to each vector, or to some, a row may come at most: a bound on its distances."""

    def touched(
        self, row: int, after: Self, passed_over: npt.NDArray[np.bool_], reach: Floats
    ) -> Ints:
        """The vectors within whose reach a row begins, here or after a change of it.

        Some vectors may be passed over.
        """
        (some,) = np.nonzero(~passed_over)
        bounds = np.minimum(self.nearest(row, some), after.nearest(row, some))
        return some[bounds <= reach[some]]

    @abstractmethod
    def limits(self, point: int) -> tuple[Floats, Floats] | None:
        """Between which distances each row lies from all completions of a drawn point, soundly.

        None if nothing is known about them.
        """

    @abstractmethod
    def counting(self) -> Query:
        """The same question with every candidate of weight 1: worlds are counted, not weighted."""

    @abstractmethod
    def changed(self, data: IncompleteDataset, row: int) -> Query:
        """The same question about data that differs in one row, and about nothing drawn."""

    @abstractmethod
    def alone_among(self, rows: Ints, data: IncompleteDataset) -> Query:
        """As `among`, about nothing drawn."""

    @abstractmethod
    def keep_prepared(self) -> None:
        """Let other questions about the data use what was prepared for this one."""

    # -- the same for all of them ----------------------------------------------------------

    finds_rows: ClassVar[bool] = False  # whether positions can do without near rows

    @property
    def for_shares(self) -> Query:
        """What shares are taken of: all worlds, or those of the draws."""
        return self.drawn or self

    @property
    def points_at_once(self) -> int:
        """How many points make up a block."""
        return BLOCK_POINTS

    def about(self, vectors: Vectors) -> Query:
        """The same question about other vectors."""
        drawn = None if self.drawn is None else self.drawn.about(vectors)
        return replace(self, vectors=vectors, drawn=drawn)

    def remembering(self) -> Self:
        """The same, to be asked again when rows have changed: it may keep what it finds."""
        return self if self.drawn is None else replace(self, drawn=self.drawn.remembering())

    def for_neighbors(self, n_neighbors: int) -> Query:
        """The same question with another number of nearest rows that vote."""
        return replace(self, n_neighbors=n_neighbors)

    def among(self, rows: Ints, data: IncompleteDataset) -> Query:
        """The same question about some of the rows only, numbered anew.

        What is found about a point is the same, bit for bit, if these are all rows that can be near
        it: `gather` finds them.

        Parameters
        ----------
        rows : ndarray of int
            The numbers that they have here, ascending.
        data : IncompleteDataset
            These rows, as they are or as they have become known.
        """
        alone = self.alone_among(rows, data)
        if data.is_exact:
            return alone
        return replace(alone, drawn=self.for_shares.alone_among(rows, data.sampled))

    def encloses(self, old: StoredRow, new: StoredRow) -> bool:
        """Whether a row begins no nearer and ends no farther than another, from any point."""
        return within(new, old)

    def measured(self, points: Vectors) -> Vectors:
        """Points as the kernels take them, worked out block by block."""
        return points

    def over_blocks(
        self,
        answer: Callable[[Any, Vectors, Any], Result],
        hands: Hands = HERE,
        *,
        want_near: bool = True,
    ) -> list[Result]:
        """Answer block by block, in order; the blocks do not depend on who answers.

        An answer that does not want near rows gets None for them.
        """
        size = self.points_at_once
        if hands.sends_away(len(self.vectors)):
            elsewhere = partial(_answers_at, answer=answer, want_near=want_near)
            return hands.over(elsewhere, Held.of(self.without_points()), (self.vectors,), size)
        pieces = [self.vectors[at : at + size] for at in range(0, len(self.vectors), size)]

        def work(piece: Vectors) -> list[Result]:
            block = self.measured(piece)
            return self.answered(answer, block) if want_near else [answer(self, block, None)]

        return [one for found in in_threads(work, pieces, hands.n_jobs) for one in found]

    def without_points(self) -> Self:
        """The same question about nothing, to be sent to those who get some of the points each."""
        drawn = None if self.drawn is None else self.drawn.without_points()
        points = self.points.take(np.empty(0, dtype=np.int64))
        return replace(self, points=points, vectors=self.vectors[:0], drawn=drawn)

    def answered(
        self, answer: Callable[[Any, Vectors, Near], Result], points: Vectors
    ) -> list[Result]:
        """Answer a block, in halves where its points have too many near rows together."""
        near = self.near(points, BLOCK_BYTES // 32)
        if near is not None:
            return [answer(self, points, near)]
        half = len(points) // 2
        return [*self.answered(answer, points[:half]), *self.answered(answer, points[half:])]

    def possible(self, points: Vectors, near: Near) -> npt.NDArray[np.bool_]:
        """The labels that some world predicts for each point of a block, (points, classes)."""
        found = np.zeros((len(points), self.data.n_classes), dtype=bool)
        labels = self.labels_near(near)
        _minmax.possible(near.ptr, *labels, *self.extremes(points, near), self.n_neighbors, found)
        return found

    def labels_near(self, near: Near) -> tuple[Ints, Ints, Ints]:
        """The labels of the near rows, as `_near.local_labels` has them."""
        codes = self.data.codes[near.rows]
        found: tuple[Ints, Ints, Ints] = _near.local_labels(near.ptr, codes, self.data.n_classes)
        return found

    def all_near(self, points: Vectors) -> Near:
        """The rows near each point, however many there are."""
        found = self.near(points, np.iinfo(np.int64).max)
        assert found is not None
        return found

    def around(
        self, points: Vectors, near: Near | None, slack: float, want_rank: bool = False
    ) -> Iterator[Neighbourhood]:
        """Sorted positions around the points, in groups that fit into memory."""
        if not len(points):
            return
        groups = [slice(0, len(points))]
        if near is None:
            sizes = np.full(len(points), BLOCK_BYTES // 64 // BLOCK_POINTS)
            groups = list(_groups(sizes, BLOCK_BYTES // 64))
        else:
            if _looking.n_candidates(self.spans, near.rows) > BLOCK_BYTES // 64:
                sizes = np.add.reduceat(self.spans[near.rows, SIZE], near.ptr[:-1])
                groups = list(_groups(sizes, BLOCK_BYTES // 64))
        for group in groups:
            part, some = near, points
            if len(groups) > 1:
                part, some = None if near is None else near.part(group), points[group]
            positions, radius = self.positions(some, part, slack, want_rank)
            codes = self.data.codes[positions.rows]
            side, ptr, present = _near.local_labels(positions.row_ptr, codes, self.data.n_classes)
            yield Neighbourhood(group, positions, side, ptr, present, radius)


class Near(NamedTuple):
    """The near rows of a block of points.

    Point p has rows[ptr[p]:ptr[p+1]], in ascending order; their candidates are at distances from
    bound on, and none beyond reach[p] can be the point's K-th nearest in any world.
    """

    ptr: Ints
    rows: Ints
    bound: Floats
    reach: Floats
    far: Floats | None = None  # where the candidates end, if that is known already

    def part(self, points: slice) -> Near:
        """The near rows of the points of a slice."""
        begin, end = self.ptr[points.start], self.ptr[points.stop]
        ptr = self.ptr[points.start : points.stop + 1] - begin
        own = slice(begin, end)
        far = None if self.far is None else self.far[own]
        return Near(ptr, self.rows[own], self.bound[own], self.reach[points], far)

    def only(self, points: Ints) -> Near:
        """The near rows of some of the points, which ascend."""
        if len(points) == len(self.reach):
            return self
        sizes = np.diff(self.ptr)[points]
        ptr = np.concatenate([[0], np.cumsum(sizes)])
        at = np.repeat(self.ptr[points] - ptr[:-1], sizes) + np.arange(ptr[-1])
        far = None if self.far is None else self.far[at]
        return Near(ptr, self.rows[at], self.bound[at], self.reach[points], far)


class Neighbourhood(NamedTuple):
    """Sorted positions around a group of points, and the labels that occur there."""

    points: slice  # of the block
    positions: Positions
    side: Ints  # each row's label, numbered among the point's labels
    label_ptr: Ints
    present: Ints  # the classes so numbered
    radius: Floats | None = None  # of each point: what rows do farther away changes nothing

    @property
    def n_labels(self) -> Ints:
        return np.diff(self.label_ptr)

    def labels(self, point: int) -> Ints:
        return self.present[self.label_ptr[point] : self.label_ptr[point + 1]]

    def rows(self, point: int) -> slice:
        return slice(self.positions.row_ptr[point], self.positions.row_ptr[point + 1])

    def span(self, point: int) -> slice:
        return slice(self.positions.ptr[point], self.positions.ptr[point + 1])


def union(lists: list[Ints]) -> Ints:
    """The rows that are in some list, in ascending order."""
    return np.unique(np.concatenate([np.empty(0, np.int64), *lists]))


def _answers_at(
    query: Query,
    vectors: Vectors,
    n_jobs: int | None = None,
    *,
    answer: Callable[[Any, Vectors, Any], Result],
    want_near: bool,
) -> list[Result]:
    """The blocks of some vectors, of which a query has none yet."""
    return query.about(vectors).over_blocks(answer, Hands(n_jobs), want_near=want_near)


def _groups(sizes: Ints, limit: int) -> Iterator[slice]:
    """Split into runs whose sizes add up to at most limit, or single members beyond it."""
    start, total = 0, 0
    for stop, size in enumerate(sizes.tolist()):
        if stop > start and total + size > limit:
            yield slice(start, stop)
            start, total = stop, 0
        total += size
    yield slice(start, len(sizes))
