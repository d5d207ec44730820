"""Single cells of rows with holes: what each can be, and the row once it is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cpclean.data.incomplete import IncompleteDataset
from cpclean.data.rows import Floats, StoredRow, narrowed
from cpclean.queries.geometry import ask
from cpclean.queries.model import Metric, Model

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
    for cell in data.stored_cells(row):
        if cell.start <= start and stop <= cell.stop:
            own = cell.values[:, start - cell.start : stop - cell.start]
            values, group = np.unique(own, axis=0, return_inverse=True)
            if len(values) > 1:
                weights = np.asarray(np.bincount(group.ravel(), cell.weights), dtype=np.float64)
                return OpenCell(data.stored_row(row), span, values, weights, {})
    return None


def near_rows(
    data: IncompleteDataset, points: Floats, n_neighbors: int, metric: Metric
) -> npt.NDArray[np.int64]:
    """The rows that are among the nearest of some point in some world, in ascending order."""
    query = ask(data, points, Model(n_neighbors, metric))
    return np.unique(np.concatenate(query.over_blocks(lambda _, __, near: near.rows)))
