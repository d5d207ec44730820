"""Many rows changed at once: as `IncompleteDataset.given` does it, without a copy a row."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cpclean.data.incomplete import IncompleteDataset
from cpclean.data.rows import Floats, StoredCell, StoredRow, narrowed
from cpclean.queries.geometry import Metric, ask

Span = tuple[int, int]  # the columns start..stop-1 of the space


@dataclass
class OpenCell:
    """One uncertain cell of a row: what it can be, and the row once that is known."""

    row: StoredRow
    span: Span
    values: Floats  # (n_values, columns of the span), distinct
    weights: Floats  # the marginal prior
    _narrowed: dict[int, StoredRow]

    def known(self, number: int) -> StoredRow:
        """The row if the cell has its value of this number."""
        if number not in self._narrowed:
            value = enumerate(self.values[number].tolist(), self.span[0])
            self._narrowed[number] = narrowed(self.row, dict(value))
        return self._narrowed[number]


def open_cell(data: IncompleteDataset, row: int, span: Span) -> OpenCell | None:
    """What stands in some columns of a row, if it is uncertain.

    Candidates that belong together, such as those of imputers, are one cell over many columns:
    the weights of those that agree in the span are summed.
    """
    start, stop = span
    for cell in data._stored_cells(row):
        if cell.start <= start and stop <= cell.stop:
            own = cell.values[:, start - cell.start : stop - cell.start]
            values, group = np.unique(own, axis=0, return_inverse=True)
            if len(values) > 1:
                weights = np.asarray(np.bincount(group.ravel(), cell.weights), dtype=np.float64)
                return OpenCell(data._stored_row(row), span, values, weights, {})
    return None


def near_rows(
    data: IncompleteDataset, points: Floats, n_neighbors: int, metric: Metric
) -> npt.NDArray[np.int64]:
    """The rows that are among the nearest of some point in some world, in ascending order."""
    query = ask(data, points, n_neighbors, metric)
    return np.unique(np.concatenate(query.over_blocks(lambda _, __, near: near.rows)))


def only_rows(data: IncompleteDataset, rows: npt.NDArray[np.int64]) -> IncompleteDataset:
    """Some rows of the data, in their order; the classes stay, whether or not a row has them."""
    cells = [cell for row in rows.tolist() for cell in data._stored_cells(row)]
    sizes = data._n_cells[rows]
    other = _like(data, data._base[rows], sizes, np.cumsum(sizes) - sizes)
    other.codes = data.codes[rows]
    nothing = np.empty(0, dtype=np.int64)
    other._cell_start, other._cell_stop, other._cell_size = nothing, nothing, nothing
    other._values_at, other._weights_at = nothing, nothing
    other._values, other._weights = np.empty(0), np.empty(0)
    return _finished(other, cells)


def with_rows(data: IncompleteDataset, rows: Mapping[int, StoredRow]) -> IncompleteDataset:
    """The same data with other rows in the place of some."""
    other = _like(data, data._base.copy(), data._n_cells.copy(), data._first_cell.copy())
    cells: list[StoredCell] = []
    for row, stored in rows.items():
        other._base[row] = stored.base
        other._n_cells[row] = len(stored.cells)
        other._first_cell[row] = len(data._cell_start) + len(cells)
        cells += stored.cells
    return _finished(other, cells)


def _like(
    data: IncompleteDataset,
    base: Floats,
    n_cells: npt.NDArray[np.int64],
    first_cell: npt.NDArray[np.int64],
) -> IncompleteDataset:
    other = copy(data)  # forgets what was worked out for the data as it was
    other._base, other._n_cells, other._first_cell = base, n_cells, first_cell
    return other


def _finished(other: IncompleteDataset, cells: list[StoredCell]) -> IncompleteDataset:
    other._append(cells)
    other._unpinned, other._pinned = other, np.zeros(other.n_rows, dtype=bool)
    other._freeze()
    return other
