"""Rows with their candidates, one by one and counted; whatever they are labelled."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property

import numpy as np

from cpclean.data.large_counts import count_text
from cpclean.data.row_arrays import RowArrays
from cpclean.data.rows import Cell, Floats, Ints, StoredCell, StoredRow, is_whole
from cpclean.data.whole_facts import WholeFacts
from cpclean.errors import DataError, UnknownRowError

# The candidates of a row with more of them are never written out.
MOST_WRITTEN = 2**22
_MOST_SUMMED = 2**62


class StoredRows:
    """What can be said about rows that are stored in arrays, without changing them."""

    _arrays: RowArrays
    whole: WholeFacts | None = None  # about the table that these rows stand for, if not themselves

    @property
    def arrays(self) -> RowArrays:
        """All rows as flat, read-only arrays."""
        return self._arrays

    @property
    def n_rows(self) -> int:
        return len(self._arrays.base)

    @property
    def n_features(self) -> int:
        return int(self._arrays.base.shape[1])

    @cached_property
    def candidate_counts(self) -> Ints:
        counts = self._arrays.counts()
        counts.flags.writeable = False
        return counts

    @property
    def n_candidates(self) -> int:
        counts = self.candidate_counts
        few = counts.max() <= _MOST_SUMMED // len(counts)
        return int(counts.sum()) if few else sum(counts.tolist())

    @property
    def dirty_rows(self) -> Ints:
        return np.flatnonzero(self._arrays.n_cells)

    @property
    def n_rows_in_all(self) -> int:
        """The rows of the table that these stand for."""
        return self.n_rows if self.whole is None else self.whole.n_rows

    @property
    def n_dirty_in_all(self) -> int:
        """Those of them that have more than one candidate."""
        return len(self.dirty_rows) + (0 if self.whole is None else self.whole.n_other_open)

    @cached_property
    def n_worlds(self) -> int:
        sizes, times = np.unique(self._arrays.used_sizes(), return_counts=True)
        others = 1 if self.whole is None else self.whole.n_other_worlds
        pairs = zip(sizes.tolist(), times.tolist(), strict=True)
        return int(math.prod((size**count for size, count in pairs), start=others))

    # -- one row -------------------------------------------------------------------------

    def candidates(self, row: int) -> Floats:
        """The candidate vectors of a row, shape (m_i, n_features)."""
        row = self._few_candidates(row)
        expanded: Floats = self._arrays.base[row][None, :].copy()
        for cell in self.stored_cells(row):
            size = len(cell.values)
            before = len(expanded)
            expanded = np.repeat(expanded, size, axis=0)
            expanded[:, cell.start : cell.stop] = np.tile(cell.values, (before, 1))
        return expanded

    def candidate(self, row: int, number: int) -> Floats:
        """One candidate vector of a row, shape (n_features,)."""
        row = self.row_number(row)
        cells = list(self._arrays.stored_cells(row))
        count = math.prod(len(cell.values) for cell in cells)
        if not is_whole(number) or not 0 <= number < count:
            raise UnknownRowError(
                f"row {row} has candidates 0 to {count - 1}; got candidate {number!r}."
            )
        vector: Floats = self._arrays.base[row].copy()
        for cell in reversed(cells):
            number, value = divmod(number, len(cell.values))
            vector[cell.start : cell.stop] = cell.values[value]
        return vector

    def prior(self, row: int) -> Floats:
        """The prior over a row's candidates, shape (m_i,)."""
        weights = np.ones(1)
        for cell in self.stored_cells(self._few_candidates(row)):
            weights = np.multiply.outer(weights, cell.weights).ravel()
        return weights

    def cells(self, row: int) -> tuple[Cell, ...]:
        """The uncertain cells of a row; one cell for a row given as plain candidates."""
        return tuple(
            Cell(tuple(range(cell.start, cell.stop)), cell.values.copy(), cell.weights.copy())
            for cell in self.stored_cells(self.row_number(row))
        )

    # -- for other modules ---------------------------------------------------------------

    def row_number(self, row: int) -> int:
        """The number of a row as a plain int, or an error if there is no such row."""
        if not is_whole(row) or not 0 <= row < self.n_rows:
            raise UnknownRowError(
                f"row must be an int in [0, {self.n_rows - 1}] (the data has {self.n_rows} rows); "
                f"got {row if is_whole(row) else repr(row)}."
            )
        return int(row)

    def _few_candidates(self, row: int) -> int:
        """The number of a row whose candidates can be written out."""
        row = self.row_number(row)
        if self.candidate_counts[row] > MOST_WRITTEN:
            raise DataError(
                f"row {row} has {count_text(self._arrays.count(row))} candidates, too many to "
                "write out. Look at its cells instead: data.cells(row); data.candidate(row, "
                "number) returns a single one.",
                rows=[row],
            )
        return row

    def stored_cells(self, row: int) -> Iterator[StoredCell]:
        """The cells of a row as they are stored, read-only."""
        return self._arrays.stored_cells(self.row_number(row))

    def stored_row(self, row: int) -> StoredRow:
        """A row as it is stored, read-only: its first candidate, and its cells."""
        return self._arrays.stored_row(self.row_number(row))
