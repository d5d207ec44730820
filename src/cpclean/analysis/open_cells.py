"""What an uncertain cell of a row can hold, and what is left of the row once that is known."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from cpclean.data.incomplete import IncompleteDataset
from cpclean.data.rows import Floats, StoredRow, narrowed
from cpclean.queries.cell_gains import Span


@dataclass
class OpenCell:
    """One uncertain cell of a row.

    Attributes
    ----------
    row : StoredRow
    span : (start, stop)
        The columns of the space that the cell covers.
    values : ndarray of shape (n_values, stop - start)
        Distinct.
    weights : ndarray of shape (n_values,)
        The marginal prior.
    """

    row: StoredRow
    span: Span
    values: Floats
    weights: Floats
    _narrowed: dict[int, StoredRow] = field(default_factory=dict)

    def known(self, number: int) -> StoredRow:
        """The row if the cell holds its value of this number."""
        if number not in self._narrowed:
            value = enumerate(self.values[number].tolist(), self.span[0])
            self._narrowed[number] = narrowed(self.row, dict(value))
        return self._narrowed[number]


def open_cell(data: IncompleteDataset, row: int, span: Span) -> OpenCell | None:
    """What some columns of a row can hold; None if that is certain.

    Candidates that belong together, such as those of imputers, are one cell over many columns:
    the weights of those that agree in the span are added up.
    """
    start, stop = span
    for cell in data.stored_cells(row):
        if cell.start <= start and stop <= cell.stop:
            own = cell.values[:, start - cell.start : stop - cell.start]
            values, weights = distinct_values(own, cell.weights)
            if len(values) > 1:
                return OpenCell(data.stored_row(row), span, values, weights)
    return None


def distinct_values(values: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Weighted values, each of them once and in order; the weights of equal ones are added up."""
    found, group = np.unique(values, axis=0, return_inverse=True)
    return found, np.asarray(np.bincount(group.ravel(), weights), dtype=np.float64)
