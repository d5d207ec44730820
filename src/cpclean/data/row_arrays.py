"""All rows of an incomplete dataset in a few flat arrays.

Row i is ``base[i]`` with the cells ``first_cell[i]`` to ``first_cell[i] + n_cells[i] - 1``. Cell c
covers the columns ``cell_start[c]`` to ``cell_stop[c] - 1`` and has ``cell_size[c]`` values. They
stand in ``values`` from ``values_at[c]`` on, column by column (kernels walk all values of one
column), and their prior weights in ``weights`` from ``weights_at[c]`` on. A row without a cell has
one candidate, its base; the base of any other row is its first candidate.

Cells need not stand in the order of the rows, and some may belong to no row any more: a dataset
that differs in one row shares the cells of the other and has its own behind them. Cells with the
same values may share them, and those with the same weights too; cells that share weights share
values. So the holes of a column with a thousand possible values take up room for one list of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cpclean.data.rows import Floats, Ints, StoredCell, StoredRow

# Numbers of candidates are machine integers; what exceeds them is cut off here.
MOST_COUNTED = 2**62


class RowArrays(NamedTuple):
    """The arrays; the module's docstring says how they hang together."""

    base: Floats  # (n_rows, n_features)
    n_cells: Ints  # (n_rows,)
    first_cell: Ints  # (n_rows,)
    cell_start: Ints  # (n_cells,), as the next four
    cell_stop: Ints
    cell_size: Ints
    values_at: Ints
    weights_at: Ints
    values: Floats
    weights: Floats

    @classmethod
    def of(cls, rows: Sequence[StoredRow]) -> RowArrays:
        """The arrays of rows that are checked already."""
        n_cells = np.array([len(row.cells) for row in rows], dtype=np.int64)
        complete = cls.complete(np.stack([row.base for row in rows]))
        bare = complete.with_rows(complete.base, n_cells, starts_of(n_cells))
        return bare.with_cells([cell for row in rows for cell in row.cells])

    @classmethod
    def complete(cls, base: Floats) -> RowArrays:
        """The arrays of rows that have one candidate each."""
        zeros = np.zeros(len(base), dtype=np.int64)
        none, nothing = np.empty(0, dtype=np.int64), np.empty(0)
        return cls(base, zeros, zeros.copy(), none, none, none, none, none, nothing, nothing)

    @classmethod
    def joined(cls, parts: Sequence[RowArrays]) -> RowArrays:
        """The rows of several arrays, one behind the other; equal lists are stored once."""
        values, weights = _Lists(), _Lists()
        values_at, weights_at, first = [], [], 0
        first_cell = []
        for one in parts:
            sizes = one.cell_size * (one.cell_stop - one.cell_start)
            own = values.places(one.values, one.values_at, sizes, one.cell_size)
            values_at.append(own)
            weights_at.append(weights.places(one.weights, one.weights_at, one.cell_size, own))
            first_cell.append(one.first_cell + first)
            first += len(one.cell_start)
        together = {
            name: np.concatenate([getattr(one, name) for one in parts])
            for name in ("base", "n_cells", "cell_start", "cell_stop", "cell_size")
        }
        return cls(
            **together,
            first_cell=np.concatenate(first_cell),
            values_at=np.concatenate(values_at),
            weights_at=np.concatenate(weights_at),
            values=values.flat(),
            weights=weights.flat(),
        )

    # -- by name, for files --------------------------------------------------------------

    def named(self) -> dict[str, npt.NDArray[Any]]:
        """The arrays by their names."""
        return self._asdict()

    @classmethod
    def from_named(cls, arrays: Mapping[str, npt.NDArray[Any]], prefix: str = "") -> RowArrays:
        """What `named` returned; names may have been given a prefix, and others be among them."""
        return cls(**{name: arrays[f"{prefix}{name}"] for name in cls._fields})

    # -- one row -------------------------------------------------------------------------

    def stored_cells(self, row: int) -> Iterator[StoredCell]:
        """The cells of a row, as views."""
        first = int(self.first_cell[row])
        for number in range(first, first + int(self.n_cells[row])):
            yield self.stored_cell(number)

    def stored_cell(self, number: int) -> StoredCell:
        """A cell by its number among all cells, as views."""
        size, start = int(self.cell_size[number]), int(self.cell_start[number])
        width = int(self.cell_stop[number]) - start
        at, weights_at = int(self.values_at[number]), int(self.weights_at[number])
        values = self.values[at : at + size * width].reshape(width, size).T
        return StoredCell(start, values, self.weights[weights_at : weights_at + size])

    def stored_row(self, row: int) -> StoredRow:
        """A row, as views."""
        return StoredRow(self.base[row], tuple(self.stored_cells(row)))

    # -- all rows ------------------------------------------------------------------------

    def counts(self) -> Ints:
        """The number of candidates of each row, at most `MOST_COUNTED`."""
        counts = np.ones(len(self.base), dtype=np.int64)
        dirty = np.flatnonzero(self.n_cells)
        if len(dirty):
            starts, sizes = starts_of(self.n_cells[dirty]), self.used_sizes()
            product = np.multiply.reduceat(sizes, starts)
            with np.errstate(over="ignore"):
                roughly = np.multiply.reduceat(sizes.astype(np.float64), starts)
            counts[dirty] = np.where(roughly < MOST_COUNTED, product, MOST_COUNTED)
        return counts

    def count(self, row: int) -> int:
        """The exact number of candidates of a row."""
        first = int(self.first_cell[row])
        return math.prod(self.cell_size[first : first + int(self.n_cells[row])].tolist())

    def used_sizes(self) -> Ints:
        """The number of values of every cell that belongs to a row, in the order of the rows."""
        return self.cell_size[runs(self.first_cell, self.n_cells)]

    def equally_likely(self) -> RowArrays:
        """The same rows with the same weight for every value of a cell."""
        weights = self.weights.copy()
        each = np.repeat(1.0 / self.cell_size, self.cell_size)
        weights[runs(self.weights_at, self.cell_size)] = each
        return self._replace(weights=weights)

    def boxes(self) -> tuple[Floats, Floats]:
        """The least and the greatest value of every row in every feature, shape (d, N)."""
        low = self.base.T.copy(order="C")
        high = low.copy()
        (dirty,) = np.nonzero(self.n_cells)
        n_cells = self.n_cells[dirty]
        cells = runs(self.first_cell[dirty], n_cells)
        if len(cells):
            widths = self.cell_stop[cells] - self.cell_start[cells]
            at, first, which = distinct(self.values_at[cells])
            columns, sizes = widths[first], self.cell_size[cells[first]]
            of_column = np.repeat(sizes, columns)
            starts = np.repeat(at, columns) + places(columns) * of_column
            values = self.values[runs(starts, of_column)]
            found = runs(starts_of(columns)[which], widths)  # each column of each cell
            features = np.repeat(self.cell_start[cells], widths) + places(widths)
            rows = np.repeat(np.repeat(dirty, n_cells), widths)
            low[features, rows] = np.minimum.reduceat(values, starts_of(of_column))[found]
            high[features, rows] = np.maximum.reduceat(values, starts_of(of_column))[found]
        return low, high

    def written_out(self) -> tuple[Floats, Ints, Floats]:
        """Every candidate of every row, row by row in the order of their numbers.

        Returns
        -------
        vectors : ndarray of shape (n_candidates, n_features)
        owner : ndarray of int
            The row of each.
        weight : ndarray of float
            The product of the weights of its values.
        """
        counts = self.counts()
        owner = np.repeat(np.arange(len(counts)), counts)
        number = runs(np.zeros_like(counts), counts)
        vectors, weight = self.base[owner], np.ones(len(owner))
        for back in range(int(self.n_cells.max(initial=0))):  # the last cell changes fastest
            (some,) = np.nonzero(self.n_cells[owner] > back)
            rows = owner[some]
            cells = self.first_cell[rows] + self.n_cells[rows] - 1 - back
            sizes = self.cell_size[cells]
            number[some], chosen = np.divmod(number[some], sizes)
            weight[some] *= self.weights[self.weights_at[cells] + chosen]
            start, at = self.cell_start[cells], self.values_at[cells] + chosen
            widths, own = self.cell_stop[cells] - start, np.arange(len(some))
            for place in range(int(widths.max())):
                own = own[widths[own] > place]
                vectors[some[own], start[own] + place] = self.values[at[own] + place * sizes[own]]
        return vectors, owner, weight

    def take(self, rows: Ints) -> RowArrays:
        """Some rows in this order, with the cells that belong to them and no others."""
        n_cells = self.n_cells[rows]
        cells = runs(self.first_cell[rows], n_cells)
        start, stop, size = self.cell_start[cells], self.cell_stop[cells], self.cell_size[cells]
        values_at, values = _kept(self.values, self.values_at[cells], size * (stop - start))
        weights_at, weights = _kept(self.weights, self.weights_at[cells], size)
        return RowArrays(
            base=self.base[rows],
            n_cells=n_cells,
            first_cell=starts_of(n_cells),
            cell_start=start,
            cell_stop=stop,
            cell_size=size,
            values_at=values_at,
            weights_at=weights_at,
            values=values,
            weights=weights,
        )

    def same_rows(self, other: RowArrays) -> bool:
        """Whether all rows have the same cells with the same values and weights."""
        mine, theirs = (runs(one.first_cell, one.n_cells) for one in (self, other))
        alike = (
            (self.base, other.base),
            (self.n_cells, other.n_cells),
            (self.cell_start[mine], other.cell_start[theirs]),
            (self.cell_stop[mine], other.cell_stop[theirs]),
            (self.cell_size[mine], other.cell_size[theirs]),
        )
        if not all(np.array_equal(one, two) for one, two in alike):
            return False
        sizes = self.cell_size[mine]
        widths = self.cell_stop[mine] - self.cell_start[mine]
        return _same_runs(
            self.values, self.values_at[mine], other.values, other.values_at[theirs], sizes * widths
        ) and _same_runs(
            self.weights, self.weights_at[mine], other.weights, other.weights_at[theirs], sizes
        )

    def with_rows(self, base: Floats, n_cells: Ints, first_cell: Ints) -> RowArrays:
        """Other rows over the same cells."""
        return RowArrays(base, n_cells, first_cell, *self[3:])

    def with_stored(self, rows: Mapping[int, StoredRow]) -> RowArrays:
        """The same with some rows replaced, whose cells stand behind those that are there."""
        base, n_cells, first_cell = self.base.copy(), self.n_cells.copy(), self.first_cell.copy()
        cells: list[StoredCell] = []
        for row, stored in rows.items():
            base[row], n_cells[row] = stored.base, len(stored.cells)
            first_cell[row] = len(self.cell_start) + len(cells)
            cells += stored.cells
        return self.with_rows(base, n_cells, first_cell).with_cells(cells)

    def with_cells(self, cells: Sequence[StoredCell]) -> RowArrays:
        """More cells behind those that are there, whose numbers do not change."""
        if not cells:
            return self
        start = np.array([cell.start for cell in cells], dtype=np.int64)
        stop = np.array([cell.stop for cell in cells], dtype=np.int64)
        size = np.array([len(cell.values) for cell in cells], dtype=np.int64)
        values_at = len(self.values) + starts_of(size * (stop - start))
        weights_at = len(self.weights) + starts_of(size)
        return self._replace(
            cell_start=np.append(self.cell_start, start),
            cell_stop=np.append(self.cell_stop, stop),
            cell_size=np.append(self.cell_size, size),
            values_at=np.append(self.values_at, values_at),
            weights_at=np.append(self.weights_at, weights_at),
            values=np.concatenate([self.values, *(cell.values.T.ravel() for cell in cells)]),
            weights=np.concatenate([self.weights, *(cell.weights for cell in cells)]),
        )

    def frozen(self) -> RowArrays:
        """The same arrays, made read-only."""
        for array in self:
            array.setflags(write=False)
        return self


class _Lists:
    """Lists of numbers one behind the other, equal ones once."""

    def __init__(self) -> None:
        self._at: dict[tuple[int, bytes], int] = {}
        self._parts: list[Floats] = [np.empty(0)]
        self._size = 0

    def places(self, flat: Floats, starts: Ints, sizes: Ints, marks: Ints) -> Ints:
        """Where some runs of an array stand; those of different marks are never the same."""
        at, first, which = distinct(starts)
        found = []
        shapes = zip(at.tolist(), sizes[first].tolist(), marks[first].tolist(), strict=True)
        for start, size, mark in shapes:
            own = flat[start : start + size]
            key = (mark, own.tobytes())
            if key not in self._at:
                self._at[key] = self._size
                self._parts.append(own)
                self._size += size
            found.append(self._at[key])
        return np.array(found, dtype=np.int64)[which]

    def flat(self) -> Floats:
        return np.concatenate(self._parts)


def n_candidates(row: StoredRow) -> int:
    """The number of candidates of a row, at most `MOST_COUNTED`."""
    return min(math.prod(len(cell.values) for cell in row.cells), MOST_COUNTED)


def starts_of(sizes: Ints) -> Ints:
    """Where each of some runs begins if they stand one behind the other."""
    return np.cumsum(sizes) - sizes


def places(sizes: Ints) -> Ints:
    """0, 1, ... within each of some runs."""
    return runs(np.zeros_like(sizes), sizes)


def distinct(starts: Ints) -> tuple[Ints, Ints, Ints]:
    """The distinct runs, ascending, where each is first named, and which each cell has."""
    at, first, which = np.unique(starts, return_index=True, return_inverse=True)
    return at, first, which.ravel()


def _kept(flat: Floats, starts: Ints, sizes: Ints) -> tuple[Ints, Floats]:
    """Some runs out of many: where they stand then, and what is left; shared ones stay shared."""
    at, first, which = distinct(starts)
    return starts_of(sizes[first])[which], flat[runs(at, sizes[first])]


def _same_runs(one: Floats, starts: Ints, two: Floats, others: Ints, sizes: Ints) -> bool:
    """Whether runs of two arrays hold the same; each pair of them is looked at once."""
    _, first, _ = distinct(starts * (len(two) + 1) + others)
    some = sizes[first]
    return np.array_equal(one[runs(starts[first], some)], two[runs(others[first], some)])


def runs(starts: Ints, sizes: Ints) -> Ints:
    """The numbers start, ..., start + size - 1 of every run, one run behind the other.

    >>> runs(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    return np.arange(sizes.sum()) + np.repeat(starts - starts_of(sizes), sizes)
