"""What questions about mapped rows need of a dataset: every candidate as its space maps it.

A row's candidates become one cell over all columns of the space, so that questions about vectors
answer those about mapped rows. A row with more candidates than are gone through is *open*: of a map
that is only called, nothing is known about the candidates that it was not called with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cpclean.data.incomplete import IncompleteDataset, Ints
from cpclean.data.row_arrays import MOST_COUNTED, RowArrays, starts_of
from cpclean.data.rows import StoredCell, StoredRow
from cpclean.data.spaces.fitted_map import FittedMap


@dataclass(frozen=True)
class MappedRows:
    """What is computed once per dataset and stored with it.

    Parameters
    ----------
    data : IncompleteDataset
        The mapped candidates, numbered as those of the dataset; what stands in open rows means
        nothing.
    is_open : ndarray of bool, shape (n_rows,)
    """

    data: IncompleteDataset
    is_open: np.ndarray[tuple[int], np.dtype[np.bool_]]

    @property
    def closed(self) -> Ints:
        """The rows that are not open."""
        return np.flatnonzero(~self.is_open)


def mapped_rows(data: IncompleteDataset, space: FittedMap) -> MappedRows:
    """What the data keeps for questions in a mapped space; prepared by the first one."""
    if MappedRows not in data.derived:
        data.derived[MappedRows] = _mapped(data, space)
    found: MappedRows = data.derived[MappedRows]
    return found


def set_mapped_rows(data: IncompleteDataset, rows: MappedRows) -> None:
    """Let questions use what was mapped for equal data, elsewhere or before."""
    data.derived[MappedRows] = rows


def changed_rows(
    before: MappedRows, data: IncompleteDataset, space: FittedMap, row: int
) -> MappedRows:
    """The same for data that differs in one row: only its candidates are mapped."""
    return _with_mapped(before, data, space, [row])


def rows_among(
    whole: MappedRows, data: IncompleteDataset, space: FittedMap, rows: Ints
) -> MappedRows:
    """The same for some rows of larger data in which no row is open; priors may differ.

    Only rows that are pinned in `data` are mapped again, each by itself, as a row is that changes:
    what a fitted object makes of a row may depend in its last digits on how many it is given.
    """
    taken = whole.data.take(rows)
    _, _, weights = data.unpinned.arrays.written_out()
    several = np.repeat(taken.candidate_counts > 1, taken.candidate_counts)
    arrays = taken.arrays._replace(weights=weights[several])
    made = IncompleteDataset.from_arrays(
        arrays, taken.codes, taken.classes, taken.drawing, taken.row_names
    )
    return _with_mapped(
        MappedRows(made, whole.is_open[rows]), data, space, data.pinned_rows.tolist()
    )


def _with_mapped(
    before: MappedRows, data: IncompleteDataset, space: FittedMap, rows: Sequence[int]
) -> MappedRows:
    """The same with some rows mapped as they are in the data."""
    is_open, mapped = before.is_open.copy(), dict[int, StoredRow]()
    for row in rows:
        is_open[row] = data.candidate_counts[row] > data.drawing.most_written
        if not is_open[row]:
            vectors, _, weights = data.arrays.take(np.array([row])).written_out()
            found = space.mapped(vectors)
            cells = (StoredCell(0, found, weights),) if len(found) > 1 else ()
            mapped[row] = StoredRow(found[0], cells)
    return MappedRows(before.data.with_rows(mapped) if mapped else before.data, is_open)


def _mapped(data: IncompleteDataset, space: FittedMap) -> MappedRows:
    is_open = data.candidate_counts > data.drawing.most_written
    closed = np.flatnonzero(~is_open)
    vectors, _, weights = data.arrays.take(closed).written_out()
    found = space.mapped(vectors)
    counts = data.candidate_counts[closed]
    first, width = starts_of(counts), found.shape[1]
    several = counts > 1
    dirty = np.repeat(several, counts)
    base = np.zeros((data.n_rows, width))
    base[closed] = found[first]
    n_cells = np.zeros(data.n_rows, dtype=np.int64)
    n_cells[closed[several]] = 1
    size = counts[several]
    own, owner = found[dirty], np.repeat(np.arange(len(size)), size)
    start = starts_of(size)
    at = width * start[owner] + np.arange(len(own)) - start[owner]
    values = np.empty(own.size)
    for column in range(width):  # a cell's values stand column by column
        values[at + column * size[owner]] = own[:, column]
    arrays = RowArrays(
        base=base,
        n_cells=n_cells,
        first_cell=starts_of(n_cells),
        cell_start=np.zeros(len(size), dtype=np.int64),
        cell_stop=np.full(len(size), width),
        cell_size=size,
        values_at=width * start,
        weights_at=start,
        values=values,
        weights=weights[dirty],
    )
    never = replace(data.drawing, max_exact=MOST_COUNTED)
    made = IncompleteDataset.from_arrays(arrays, data.codes, data.classes, never, data.row_names)
    return MappedRows(made, is_open)
