"""All rows under a board: as they were given, and as some of them are known by now.

Nothing of the size of the table is copied when a row becomes known. The whole data as it is known
now is put together when someone asks for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from cpclean.data.between import Between
from cpclean.data.incomplete import IncompleteDataset
from cpclean.data.row_arrays import n_candidates
from cpclean.data.rows import StoredRow, narrowed

# What is known about a row, by column of the space; None if that is nothing.
Features = Mapping[int, float | Between] | None


class KnownRow(NamedTuple):
    """A row as it is known now, and what is known: None if nothing, or before there was a board."""

    now: StoredRow
    features: Features = None


@dataclass(frozen=True, eq=False)
class Ground:
    """A table that is never changed, and what is known about some of its rows.

    Attributes
    ----------
    start : IncompleteDataset
        As it was given.
    told : dict from row to KnownRow
        The rows about which something is known.
    rows, counts : tuple of int
        The numbers of these rows, and how many candidates each of them has left.
    n_drawn : int
        How many rows are represented by draws.
    """

    start: IncompleteDataset
    told: Mapping[int, KnownRow]
    rows: tuple[int, ...]
    counts: tuple[int, ...]
    n_drawn: int

    @classmethod
    def of(cls, data: IncompleteDataset) -> Ground:
        """What lies under data of which something may be known."""
        start, rows = data.unpinned, data.pinned_rows
        told = {row: KnownRow(data.stored_row(row)) for row in rows.tolist()}
        counts = data.candidate_counts[rows].tolist()
        return cls(start, told, tuple(told), tuple(counts), len(data.drawn_rows))

    @property
    def is_exact(self) -> bool:
        """Whether no row is represented by draws."""
        return self.n_drawn == 0

    @cached_property
    def data(self) -> IncompleteDataset:
        """The whole table as it is known now; O(N d) when it is first asked for."""
        return self.start.knowing({row: one.now for row, one in self.told.items()})

    def stored_row(self, row: int) -> StoredRow:
        """A row as it is known now."""
        known = self.told.get(row)
        return self.start.stored_row(row) if known is None else known.now

    def count(self, row: int) -> int:
        """How many candidates a row has now; 2**62 if there are even more."""
        if row in self.told:
            return n_candidates(self.told[row].now)
        return int(self.start.candidate_counts[row])

    def known_row(self, row: int, features: Features) -> KnownRow:
        """A row of which this would be known, and nothing else."""
        return known_row(self.start.stored_row(row), features)

    def with_row(self, row: int, known: KnownRow) -> Ground:
        """The same with other knowledge about a row."""
        told, rows, counts = {**self.told}, self.rows, self.counts
        left, before = n_candidates(known.now), self.count(row)
        if row in told:
            place = rows.index(row)
            rows, counts = _without(rows, place), _without(counts, place)
            del told[row]
        if known.features is not None:
            told[row], rows, counts = known, (*rows, row), (*counts, left)
        most = self.start.drawing.most_written
        n_drawn = self.n_drawn + int(left > most) - int(before > most)
        return Ground(self.start, told, rows, counts, n_drawn)


def known_row(start: StoredRow, features: Features) -> KnownRow:
    """A row that was given like this, of which something is known."""
    return KnownRow(start if features is None else narrowed(start, features), features)


def _without(numbers: tuple[int, ...], place: int) -> tuple[int, ...]:
    return numbers[:place] + numbers[place + 1 :]
