"""What the holes of a table can be: the options of one row, and those of all rows in arrays."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from cpclean.data.columns import Column
from cpclean.data.combinations import places_of
from cpclean.data.ragged import Ragged, runs
from cpclean.data.rows import Bools, Floats, Ints


@dataclass(frozen=True)
class Options:
    """What the holes of one row can be.

    cells says which columns; values holds, for each of them, a tuple of values. If `joint`, the
    k-th values of all cells belong together and are one version of the row; otherwise every
    combination is a candidate. `weights` (joint only) says how often each version was proposed.
    """

    cells: tuple[int, ...]
    values: tuple[tuple[Any, ...], ...]
    joint: bool = False
    weights: tuple[float, ...] | None = None

    @property
    def n_candidates(self) -> int:
        if self.joint:
            return len(self.values[0]) if self.values else 1
        return math.prod(len(values) for values in self.values)

    def places(self, number: int) -> list[int]:
        """Which value of each cell the candidate of this number has."""
        if self.joint:
            return [number] * len(self.cells)
        return places_of(number, [len(values) for values in self.values])

    def shown(self, number: int, columns: Sequence[Column]) -> dict[str, Any]:
        """The candidate of this number as a person knows it, by the names of the columns."""
        own = zip(self.cells, self.values, self.places(number), strict=True)
        return {columns[at].name: columns[at].shown(values[place]) for at, values, place in own}


NO_OPTIONS = Options((), ())
# Rows whose options are kept, and how many values they may have.
_ROWS_KEPT, _MOST_KEPT = 500, 1000


@dataclass(frozen=True, eq=False)
class TableOptions(Mapping[int, Options]):
    """A mapping from rows to their `Options`, which are put together when they are asked for.

    Most holes of a column have the same values: the distinct lists of values are stored, and for
    every hole the number of its list.

    Attributes
    ----------
    rows : ndarray
        The rows that have options, in ascending order.
    starts : ndarray of shape (len(rows) + 1,)
        The holes of ``rows[i]`` are those from ``starts[i]`` to ``starts[i + 1] - 1``.
    cells, lists : ndarray
        The column of each hole, ascending within a row, and the number of its list of values.
    by_column : tuple of Ragged
        The lists of values of each column.
    joint : ndarray of shape (len(rows),)
        Whether the k-th values of a row's holes belong together.
    weights : Ragged
        How often each version of a joint row was proposed; an empty list where that does not count.
    """

    rows: Ints
    starts: Ints
    cells: Ints
    lists: Ints
    by_column: tuple[Ragged, ...]
    joint: Bools
    weights: Ragged

    @classmethod
    def from_rows(cls, options: Mapping[int, Options], n_columns: int = 0) -> TableOptions:
        """The same as options row by row."""
        rows = sorted(options)
        cells, lists, sizes = [], [], []
        known: dict[Any, int] = {}
        values: dict[int, list[Sequence[Any]]] = {}
        for row in rows:
            sizes.append(len(options[row].cells))
            for cell, own in zip(options[row].cells, options[row].values, strict=True):
                own = tuple(own)
                of_column = values.setdefault(int(cell), [])
                number = known.setdefault(_key(cell, own), len(of_column))
                if number == len(of_column):
                    of_column.append(own)
                cells.append(cell)
                lists.append(number)
        weights = [options[row].weights for row in rows]
        n_columns = max([n_columns, *(cell + 1 for cell in values)])
        return cls(
            rows=np.array(rows, dtype=np.int64),
            starts=np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]),
            cells=np.array(cells, dtype=np.int64),
            lists=np.array(lists, dtype=np.int64),
            by_column=tuple(Ragged.of(values.get(cell, ())) for cell in range(n_columns)),
            joint=np.array([options[row].joint for row in rows], dtype=bool),
            weights=Ragged.of([() if own is None else own for own in weights]),
        )

    @classmethod
    def of_holes(
        cls,
        holes: Bools,
        lists: Mapping[int, Ints],
        by_column: Sequence[Ragged],
        weights: Ragged | None = None,
        *,
        joint: bool = False,
    ) -> TableOptions:
        """Options of all holes of a mask of shape (rows, columns).

        lists says, for each column with a hole, which of its lists each hole has, in row order.
        """
        owner, cells = np.nonzero(holes)
        rows, first = np.unique(owner, return_index=True)
        which = np.empty(len(cells), dtype=np.int64)
        for cell, own in lists.items():
            which[cells == cell] = own
        return cls(
            rows=rows,
            starts=np.append(first, len(cells)),
            cells=cells,
            lists=which,
            by_column=tuple(by_column),
            joint=np.full(len(rows), joint),
            weights=weights or Ragged.of([()] * len(rows)),
        )

    # -- as a mapping ----------------------------------------------------------------------

    def __getitem__(self, row: int) -> Options:
        found = self._recent.get(row)
        if found is None:
            found = self._put_together(row)
            if sum(map(len, found.values)) <= _MOST_KEPT:
                if len(self._recent) >= _ROWS_KEPT:
                    self._recent.clear()
                self._recent[row] = found
        return found

    @cached_property
    def _recent(self) -> dict[int, Options]:
        """Options of the last rows: whoever asks about a row asks several times."""
        return {}

    def __getstate__(self) -> dict[str, Any]:
        return {name: one for name, one in self.__dict__.items() if name != "_recent"}

    def _put_together(self, row: int) -> Options:
        place = int(np.searchsorted(self.rows, row))
        if place == len(self.rows) or self.rows[place] != row:
            raise KeyError(row)
        part = slice(self.starts[place], self.starts[place + 1])
        cells = self.cells[part].tolist()
        lists = zip(cells, self.lists[part].tolist(), strict=True)
        weights = self.weights[place]
        return Options(
            tuple(cells),
            tuple(tuple(self.by_column[cell][number].tolist()) for cell, number in lists),
            bool(self.joint[place]),
            tuple(weights.tolist()) if len(weights) else None,
        )

    def __iter__(self) -> Iterator[int]:
        return iter(self.rows.tolist())

    def __len__(self) -> int:
        return len(self.rows)

    def of(self, row: int) -> Options:
        """The options of a row; without any cell where it has none."""
        return self.get(row, NO_OPTIONS)

    # -- all rows at once ------------------------------------------------------------------

    @cached_property
    def owner(self) -> Ints:
        """The place, in `rows`, of the row that each hole belongs to."""
        return np.repeat(np.arange(len(self.rows)), np.diff(self.starts))

    @cached_property
    def sizes(self) -> Ints:
        """The number of values of each hole."""
        found = np.zeros(len(self.cells), dtype=np.int64)
        for cell, holes in self.columns():
            found[holes] = self.by_column[cell].sizes[self.lists[holes]]
        return found

    def columns(self) -> Iterator[tuple[int, Ints]]:
        """The columns that have holes, each with the numbers of its holes, in row order."""
        order = np.argsort(self.cells, kind="stable")
        cells, first = np.unique(self.cells[order], return_index=True)
        return zip(cells.tolist(), np.split(order, first[1:]), strict=False)

    def n_candidates(self) -> Floats:
        """The number of candidates of each row, as doubles: it may be beyond all integers."""
        found = np.ones(len(self.rows))
        (some,) = np.nonzero(np.diff(self.starts))
        if len(some):
            products = np.multiply.reduceat(self.sizes.astype(np.float64), self.starts[some])
            found[some] = np.where(self.joint[some], self.sizes[self.starts[some]], products)
        return found

    def some_holes(self, holes: Bools) -> TableOptions:
        """Some of the holes only, and the rows that have one."""
        kept = np.bincount(self.owner[holes], minlength=len(self.rows))
        (rows,) = np.nonzero(kept)
        return replace(
            self,
            rows=self.rows[rows],
            starts=np.concatenate([[0], np.cumsum(kept[rows])]),
            cells=self.cells[holes],
            lists=self.lists[holes],
            joint=self.joint[rows],
            weights=self.weights.take(rows),
        )

    def with_lists(
        self, changed: Mapping[int, Sequence[tuple[Ints, Ints, Ragged]]]
    ) -> TableOptions:
        """Other values for some holes: column -> (holes, the number of each one's list, lists).

        Lists that no hole has any more are forgotten.
        """
        lists, by_column = self.lists.copy(), list(self.by_column)
        for cell, parts in changed.items():
            at = len(by_column[cell])
            for holes, numbers, own in parts:
                lists[holes] = at + numbers
                at += len(own)
            by_column[cell] = by_column[cell].joined(*(own for _, _, own in parts))
        for cell, holes in self.columns():
            used, numbers = np.unique(lists[holes], return_inverse=True)
            lists[holes] = numbers
            by_column[cell] = by_column[cell].take(used)
        return replace(self, lists=lists, by_column=tuple(by_column))

    def version_places(self, holes: Ints) -> Ints:
        """Where the values of these holes stand, if the versions of all rows are in a line."""
        return runs(self._first_version[self.owner[holes]], self.sizes[holes])

    @cached_property
    def _first_version(self) -> Ints:
        n_versions = np.zeros(len(self.rows), dtype=np.int64)
        n_versions[self.owner] = self.sizes
        return np.cumsum(n_versions) - n_versions


def _key(cell: int, values: tuple[Any, ...]) -> Any:
    """What tells lists of values apart: 1 and True are equal, as are 0.0 and -0.0."""
    exact = tuple(repr(one) if isinstance(one, float) else type(one) for one in values)
    try:
        hash(values)
    except TypeError:
        return (cell, id(values))
    return (cell, values, exact)
