"""One column of incomplete data, filled with values that are drawn from the prior."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cpclean.analysis.open_cells import OpenCell, distinct_values, open_cell
from cpclean.data.incomplete import IncompleteDataset, Ints
from cpclean.data.row_arrays import RowArrays, runs, starts_of
from cpclean.data.rows import Floats
from cpclean.data.spaces.trees import Trees
from cpclean.queries.cell_gains import Span
from cpclean.queries.leaf_rows import refilled_leaves

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class _Alike:
    """Open cells of a column that can hold the same values, as likely as each other."""

    places: Ints  # among all open cells of the column
    rows: Ints
    values: Floats  # distinct, shape (n_values, width)
    weights: Floats


class ColumnFills:
    """The open cells of a column, and the data with what they may hold.

    Parameters
    ----------
    data : IncompleteDataset
    holes : ndarray of bool, shape (n_rows,)
        The rows in which the column is missing or doubted.
    span : (start, stop)
        The columns of the space that it covers.

    Attributes
    ----------
    n_cells : int
        Those that can hold several values.
    """

    def __init__(self, data: IncompleteDataset, holes: Bools, span: Span) -> None:
        arrays = data.arrays
        cells = runs(arrays.first_cell, arrays.n_cells)
        row = np.repeat(np.arange(data.n_rows), arrays.n_cells)
        start, stop = arrays.cell_start[cells], arrays.cell_stop[cells]
        own = holes[row] & (start <= span[0]) & (span[1] <= stop)
        # Cells of this column alone are filled all at once; there may be very many.
        alone = own & (start == span[0]) & (stop == span[1])
        groups = list(_groups(arrays, cells, np.flatnonzero(alone)))
        known = np.concatenate([np.zeros(0, np.int64), *(at for at, _, _ in groups)])
        joint = {
            one: cell
            for one in row[own & ~alone].tolist()
            if (cell := open_cell(data, one, span)) is not None
        }
        rows = np.sort(np.concatenate([row[known], np.array(list(joint), dtype=np.int64)]))
        self.n_cells, self._rows = len(rows), rows
        self._data, self._span = data, span
        self._alike = [
            _Alike(np.searchsorted(rows, row[at]), row[at], values, weights)
            for at, values, weights in groups
        ]
        self._joint: dict[int, tuple[int, OpenCell]] = {
            one: (int(np.searchsorted(rows, one)), cell) for one, cell in joint.items()
        }
        kept = np.ones(len(cells), dtype=bool)
        kept[known] = False
        n_cells = np.bincount(row[kept], minlength=data.n_rows)
        cells = cells[kept]
        self._rest = arrays._replace(  # what is open besides
            n_cells=n_cells,
            first_cell=starts_of(n_cells),
            cell_start=arrays.cell_start[cells],
            cell_stop=arrays.cell_stop[cells],
            cell_size=arrays.cell_size[cells],
            values_at=arrays.values_at[cells],
            weights_at=arrays.weights_at[cells],
        )

    def draw(self, rng: np.random.Generator) -> IncompleteDataset:
        """The data if every open cell is known to hold a value drawn from its prior."""
        at, data = rng.random(self.n_cells), self._data
        base = self._rest.base.copy()
        for one in self._alike:
            base[one.rows, slice(*self._span)] = one.values[_numbers(one.weights, at[one.places])]
        filled = IncompleteDataset.from_arrays(
            self._rest.with_rows(base, self._rest.n_cells, self._rest.first_cell),
            data.codes,
            data.classes,
            data.drawing,
            data.row_names,
            data.space,
        )
        if not self._joint:
            if isinstance(data.space, Trees):
                refilled_leaves(data, filled, self._rows)
            return filled
        numbers = {
            row: int(_numbers(cell.weights, at[place : place + 1])[0])
            for row, (place, cell) in self._joint.items()
        }
        return filled.with_rows({row: self._joint[row][1].known(numbers[row]) for row in numbers})


def _groups(arrays: RowArrays, cells: Ints, places: Ints) -> list[tuple[Ints, Floats, Floats]]:
    """Cells with the same values and weights, and these; none that can hold one value only."""
    own = cells[places]
    keys = np.column_stack([arrays.values_at[own], arrays.weights_at[own], arrays.cell_size[own]])
    kinds, first, kind = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    found = []
    for number in range(len(kinds)):
        cell = arrays.stored_cell(int(own[first[number]]))
        values, weights = distinct_values(cell.values, cell.weights)
        if len(values) > 1:
            found.append((places[kind.ravel() == number], values, weights))
    return found


def _numbers(weights: Floats, at: Floats) -> Ints:
    """Which of some weighted values stands at each place between 0 and 1."""
    ends = np.cumsum(weights)
    # To the right: a value of weight 0 ends where the one before it does, and is passed over.
    numbers = np.searchsorted(ends, at * ends[-1], side="right")
    return np.asarray(np.minimum(numbers, np.flatnonzero(weights)[-1]))
