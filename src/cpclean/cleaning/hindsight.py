"""What would be settled without some of the answers, now that all of them are known.

Only the points that are settled with all answers count, completion by completion. Nothing is
computed but whether they stay settled: no gains, and only for points that a row can be near to.

An answer need not be one of the values that its row could have. In hindsight it was possible all
the same, so that a row whose answer is taken back has it as one more candidate, with a prior of 0.
Without that, the worlds of a row could all be wrong, and a point certain for a wrong reason.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from cpclean.cleaning.board import Board, reaching
from cpclean.cleaning.kept_query import KeptQuery
from cpclean.data.incomplete import IncompleteDataset, Ints
from cpclean.data.rows import Floats, StoredRow, widened, within
from cpclean.queries.certain import possible_in_block
from cpclean.queries.query import Near, Query, Vectors

Bools = npt.NDArray[np.bool_]

# If a row has more candidates, this many of them are tried for a proof that it is needed.
MOST_TRIED = 64


@dataclass(frozen=True, eq=False)
class Hindsight:
    """The points that are settled with all answers, under some of the answers."""

    kept: KeptQuery
    vectors: Ints  # the distinct vectors that were settled
    reach: Floats  # of each of them: no row that begins beyond it matters
    label: Ints  # of each of them, with all answers; its only one if it is certain
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
        vectors = board.settled_vectors
        possible, reach = _labels(kept.query, vectors)
        return cls(kept, vectors, reach, possible.argmax(axis=1), board.level, before)

    def without(self, row: int) -> Hindsight | None:
        """The same without what is known about a row; None if a point would not stay settled."""
        after = self._taken_back(row)
        affected = self._affected(after, row)
        possible, reach = _labels(after.query, self.vectors[affected])
        (doubtful,) = np.nonzero(possible.sum(axis=1) > 1)
        if len(doubtful) and (
            self.level is None
            or not _sure(after, self.vectors[affected[doubtful]], self.level).all()
        ):
            return None
        everywhere = self.reach.copy()
        everywhere[affected] = reach
        return replace(self, kept=after, reach=everywhere)

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
        """The places, among the settled vectors, of those that a row can be near to."""
        bound = np.minimum(self.kept.query.nearest(row), after.query.nearest(row))
        return np.flatnonzero(bound[self.vectors] <= self.reach)

    def _by_extremes(self, data: IncompleteDataset, row: int) -> bool:
        """Whether what is possible is exact, and not only what could not be excluded."""
        exact = data.space is None and self.kept.model.metric != "cosine"
        return exact or row not in data.drawn_rows


def _labels(query: Query, vectors: Ints) -> tuple[Bools, Floats]:
    """The labels that are possible for some vectors, and the reach of each."""
    found = query.about(query.vectors[vectors]).over_blocks(_labels_in_block)
    possible = [np.zeros((0, query.data.n_classes), dtype=bool), *(one[0] for one in found)]
    return np.concatenate(possible), np.concatenate([np.zeros(0), *(one[1] for one in found)])


def _labels_in_block(query: Query, points: Vectors, near: Near) -> tuple[Bools, Floats]:
    return possible_in_block(query, points, near), near.reach


def _alone(query: Query, vectors: Ints) -> bool:
    """Whether some vector has only one row near it that can be different in different worlds."""
    found = query.about(query.vectors[vectors]).over_blocks(_open_near)
    return any((one == 1).any() for one in found)


def _open_near(query: Query, points: Vectors, near: Near) -> Ints:
    """How many rows near each point have holes."""
    dirty = query.data.arrays.n_cells[near.rows] > 0
    return np.add.reduceat(dirty.astype(np.int64), near.ptr[:-1])


def _sure(kept: KeptQuery, vectors: Ints, level: float) -> Bools:
    shares = kept.shares(vectors)
    return reaching(kept, vectors, shares.argmax(axis=1), shares.max(axis=1, initial=0.0), level)
