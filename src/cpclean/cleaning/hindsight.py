"""What would be settled without some of the answers, now that all of them are known.

Only the points that are settled with all answers count, completion by completion. Nothing is
computed but whether they stay settled: no gains, and only for points that a row can be near to.

An answer need not be one of the values that its row could have. In hindsight it was possible all
the same, so that a row whose answer is taken back has it as one more candidate, with a prior of 0.
Without that, the worlds of a row could all be wrong, and a point certain for a wrong reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from cpclean.cleaning.board import Board, reaching
from cpclean.cleaning.every_order import Doubled, EveryOrder, every_order
from cpclean.cleaning.kept_query import KeptQuery
from cpclean.data.incomplete import IncompleteDataset, Ints
from cpclean.data.row_arrays import starts_of
from cpclean.data.rows import Floats, StoredRow, widened, within
from cpclean.data.spaces.trees import Trees
from cpclean.queries.certain import possible_in_block
from cpclean.queries.geometry import ask
from cpclean.queries.kernel_arrays import FIRST_CANDIDATE, PRECOMPUTED, SIZE
from cpclean.queries.plain_query import PlainQuery
from cpclean.queries.prepared import prepared_rows
from cpclean.queries.query import Near, Query, Vectors

Bools = npt.NDArray[np.bool_]

# If a row has more candidates, this many of them are tried for a proof that it is needed.
MOST_TRIED = 64
# Points are looked at in groups, each this many times as large as the one before: most rows are
# given up at one of the first points, those that an answer is likeliest to matter to.
FIRST_GROUP, GROWTH = 8, 4


@dataclass(frozen=True, eq=False)
class Hindsight:
    """The points that are settled with all answers, under some of the answers."""

    kept: KeptQuery
    vectors: Ints  # the distinct vectors that were settled
    reach: Floats  # of each of them: no row that begins beyond it matters
    label: Ints  # of each of them, with all answers; its only one if it is certain
    top: Floats  # of each of them, its largest share; 1 where only what is certain counts
    level: float | None
    before: dict[int, StoredRow]  # rows with an answer that was no candidate, taken back

    @classmethod
    def of(cls, board: Board, rows: Iterable[int]) -> Hindsight:
        """With all the answers of a board, which are about these rows."""
        data, start = board.data, board.data.unpinned
        pairs = {row: (start.stored_row(row), data.stored_row(row)) for row in rows}
        before = {
            row: widened(old, new) for row, (old, new) in pairs.items() if not within(new, old)
        }
        kept = board.votes if board.level is None else board.votes.with_halves()
        if isinstance(data.space, Trees):
            kept = _listed(kept, before, pairs)
        vectors = board.settled_vectors
        possible, reach = _labels(kept.query, vectors)
        label, top = possible.argmax(axis=1), np.ones(len(vectors))
        if board.level is not None:
            top = kept.shares(vectors).max(axis=1, initial=0.0)
        return cls(kept, vectors, reach, label, top, board.level, before)

    def without(self, row: int) -> Hindsight | None:
        """The same without what is known about a row; None if a point would not stay settled."""
        after = self._taken_back(row)
        reach, top = self.reach.copy(), self.top.copy()
        for group in _groups(self._affected(after, row)):
            if self.level is None:
                possible, reach[group] = _labels(after.query, self.vectors[group])
                settled = possible.sum(axis=1) == 1
            else:
                settled, top[group] = _sure(after, self.vectors[group], self.level)
                (doubtful,) = np.nonzero(~settled)
                possible, _ = _labels(after.query, self.vectors[group[doubtful]])
                settled[doubtful] = possible.sum(axis=1) == 1
                if settled.all():
                    reach[group] = _reaches(after.query, self.vectors[group])
            if not settled.all():
                return None
        return replace(self, kept=after, reach=reach, top=top)

    def every_order(self, answered: Sequence[int]) -> EveryOrder:
        """What every order has to clean, as far as counting tells; without a level only."""
        kept = self.kept
        start = kept.data.unpinned.with_rows(self.before)
        doubled = Doubled.of(start, kept.data, answered, self._exact)
        n_neighbors = doubled.neighbors(kept.model.n_neighbors)
        if isinstance(kept.query, PlainQuery) and kept.query.metric == PRECOMPUTED:
            query: Query = self._measured(kept.query, doubled, answered, n_neighbors)
        else:
            query = ask(doubled.data, kept.points, replace(kept.model, n_neighbors=n_neighbors))
        asked = query.about(query.vectors[self.vectors])
        return every_order(doubled, asked, self.label, kept.model.n_neighbors)

    def _measured(
        self, now: PlainQuery, doubled: Doubled, answered: Sequence[int], n_neighbors: int
    ) -> PlainQuery:
        """The question about doubled rows, whose distances are taken from where they are."""
        looking = self
        for row in answered:
            looking = replace(looking, kept=looking._taken_back(row))
        before = looking.kept.query
        spans = np.where(
            doubled.is_copy[:, None], now.spans[doubled.row], before.spans[doubled.row]
        )
        first, size = spans[:, FIRST_CANDIDATE], spans[:, SIZE]
        columns = np.repeat(first - starts_of(size), size) + np.arange(size.sum())
        return replace(
            now,
            data=doubled.data,
            prepared=prepared_rows(doubled.data),
            n_neighbors=n_neighbors,
            vectors=before.vectors[:, columns],
        )

    def depends_on(self, row: int) -> bool:
        """Whether it is proved that no other answers make up for those about a row.

        Only where all points are certain. There is a point of label L, and a candidate of the row
        with which L is impossible, whatever the rows are about which nothing is known.
        """
        after = self._taken_back(row)
        affected = self._affected(after, row)
        possible, _ = _labels(after.query, self.vectors[affected])
        lost = affected[possible.sum(axis=1) > 1]
        if not len(lost):
            return False
        if self._by_extremes(after.data, row) and _alone(after.query, self.vectors[lost]):
            return True  # one candidate gives L in all worlds, another one does not in the only one
        count = after.data.arrays.count(row)
        tried = min(count, MOST_TRIED)
        for number in (place * (count - 1) // (tried - 1) for place in range(tried)):
            edit = partial(IncompleteDataset.pin, row=row, value=after.data.candidate(row, number))
            changed = self.kept.changed(row, edit, None if row in self.before else number)
            found, _ = _labels(changed.query, self.vectors[lost])
            if not found[np.arange(len(lost)), self.label[lost]].all():
                return True
        return False

    def _taken_back(self, row: int) -> KeptQuery:
        stored = self.before.get(row)
        if stored is None:
            return self.kept.changed(row, lambda data: data.unpin(row), candidate=0)
        return self.kept.changed(row, lambda data: data.known_as(row, stored), candidate=None)

    def _affected(self, after: KeptQuery, row: int) -> Ints:
        """The places, among the settled vectors, of those that a row can be near to.

        The likeliest to be lost come first: least sure, then nearest.
        """
        bound = np.minimum(self.kept.query.nearest(row), after.query.nearest(row))[self.vectors]
        (found,) = np.nonzero(bound <= self.reach)
        return found[np.lexsort((bound[found], self.top[found]))]

    def _by_extremes(self, data: IncompleteDataset, row: int) -> bool:
        """Whether what is possible is exact, and not only what could not be excluded."""
        return self._exact or row not in data.drawn_rows

    @property
    def _exact(self) -> bool:
        """Whether that is so of every row, however many candidates it has."""
        return self.kept.data.space is None and self.kept.model.metric != "cosine"


def _listed(kept: KeptQuery, before: Mapping[int, StoredRow], rows: Iterable[int]) -> KeptQuery:
    """The same question, for which every candidate that may come back is in the lists of leaves.

    Where rows are answered, lists are made anew from time to time, without what was not answered.
    Then nothing could be taken back without making all lists anew.
    """
    start, now, rarest = kept.data.unpinned.with_rows(before), kept.data, kept.query.rarest
    found = KeptQuery.of(start, kept.points, kept.model)
    drawn = found.query.drawn
    query = replace(
        found.query, rarest=rarest, drawn=None if drawn is None else replace(drawn, rarest=rarest)
    )
    found = replace(found, query=query)
    if kept.halves:
        found = found.with_halves()
    for row in rows:
        edit = partial(IncompleteDataset.known_as, row=row, stored=now.stored_row(row))
        found = found.changed(row, edit, None)
    return found


def _groups(places: Ints) -> Iterator[Ints]:
    """Small groups first."""
    start, size = 0, FIRST_GROUP
    while start < len(places):
        yield places[start : start + size]
        start, size = start + size, size * GROWTH


def _labels(query: Query, vectors: Ints) -> tuple[Bools, Floats]:
    """The labels that are possible for some vectors, and the reach of each."""
    found = query.about(query.vectors[vectors]).over_blocks(_labels_in_block)
    possible = [np.zeros((0, query.data.n_classes), dtype=bool), *(one[0] for one in found)]
    return np.concatenate(possible), np.concatenate([np.zeros(0), *(one[1] for one in found)])


def _labels_in_block(query: Query, points: Vectors, near: Near) -> tuple[Bools, Floats]:
    return possible_in_block(query, points, near), near.reach


def _reaches(query: Query, vectors: Ints) -> Floats:
    """The reach of some vectors."""
    found = query.about(query.vectors[vectors]).over_blocks(_reach_in_block)
    return np.concatenate([np.zeros(0), *found])


def _reach_in_block(query: Query, points: Vectors, near: Near) -> Floats:
    return near.reach


def _alone(query: Query, vectors: Ints) -> bool:
    """Whether some vector has only one row near it that can be different in different worlds."""
    found = query.about(query.vectors[vectors]).over_blocks(_open_near)
    return any((one == 1).any() for one in found)


def _open_near(query: Query, points: Vectors, near: Near) -> Ints:
    """How many rows near each point have holes."""
    dirty = query.data.arrays.n_cells[near.rows] > 0
    return np.add.reduceat(dirty.astype(np.int64), near.ptr[:-1])


def _sure(kept: KeptQuery, vectors: Ints, level: float) -> tuple[Bools, Floats]:
    """Whether some vectors are sure, and their largest shares."""
    shares = kept.shares(vectors)
    top = shares.max(axis=1, initial=0.0)
    return reaching(kept.errors, vectors, shares.argmax(axis=1), top, level), top
