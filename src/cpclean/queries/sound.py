"""What is possible for points with too many completions to go through: bounds that are sound.

A completion chooses a value for every hole of the point, a world one for every hole of a row. The
distance between the two is a sum over cells, so its least and greatest value over all completions
and all candidates of the row are sums of those of its cells. A label that no choice of distances
within these limits can predict is predicted in no world for no completion. The converse does not
hold, for one completion is at one distance from every row at the same time.

1. *Cells.* The least and the greatest part of the distance in every cell of the point, of the row,
   or of both; where cells of the two overlap without being the same, in their boxes.
2. *Limits.* Sums of these, widened by what rounding may have changed.
3. *Labels.* Rows between such limits are an incomplete dataset in one dimension with two candidates
   each, because what is possible depends on a row's nearest and farthest candidate alone.

Cosine has no such sums, and neither has a function: there nothing is proved.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.data.incomplete import IncompleteDataset, Ints
from cpclean.data.row_arrays import RowArrays, runs
from cpclean.data.rows import Bools, Floats, StoredRow
from cpclean.queries.kernel_arrays import CHEBYSHEV, EUCLIDEAN, HAMMING, LINEAR, MANHATTAN

# Doubles that the pairs of values of a cell may take up at a time.
_BLOCK = 2_000_000
# Each addition is off by at most half of this, relative to its result.
_ROUNDING = 2.0**-52

_TERMS: dict[int, Callable[[Any, Any], Any]] = {
    EUCLIDEAN: lambda value, x: (value - x) ** 2,
    MANHATTAN: lambda value, x: np.abs(value - x),
    CHEBYSHEV: lambda value, x: np.abs(value - x),
    LINEAR: lambda value, x: -(value * x),
    HAMMING: lambda value, x: np.where(value == x, 0.0, 1.0),
}


def between(
    data: IncompleteDataset, low: Floats, high: Floats, n_neighbors: int
) -> IncompleteDataset:
    """Step 3: the rows that can be among the nearest, each with its least and greatest distance.

    In one dimension, seen from 0: not the distances, which may be of any size, but their numbers
    in ascending order, equal ones with the same number.
    """
    reach = np.partition(high, n_neighbors - 1)[n_neighbors - 1]
    (rows,) = np.nonzero(low <= reach)
    size = len(rows)
    ends = np.column_stack([low[rows], high[rows]])
    numbers = np.unique(ends, return_inverse=True)[1].reshape(ends.shape).astype(np.float64)
    two, at = np.full(size, 2), 2 * np.arange(size)
    arrays = RowArrays(
        base=numbers[:, :1].copy(),
        n_cells=np.ones(size, dtype=np.int64),
        first_cell=np.arange(size),
        cell_start=np.zeros(size, dtype=np.int64),
        cell_stop=np.ones(size, dtype=np.int64),
        cell_size=two,
        values_at=at,
        weights_at=at,
        values=numbers.ravel(),
        weights=np.full(2 * size, 0.5),
    )
    return IncompleteDataset.from_arrays(arrays, data.codes[rows], data.classes)


def limits(arrays: RowArrays, point: StoredRow, metric: int) -> tuple[Floats, Floats] | None:
    """Steps 1 and 2: between which distances every row lies from the completions of a point.

    None for a metric that is no such sum.
    """
    if metric not in _TERMS:
        return None
    term = _TERMS[metric]
    join = np.maximum if metric == CHEBYSHEV else np.add
    n_rows, n_features = arrays.base.shape
    own = np.zeros(n_features, dtype=bool)  # the features of the point's cells
    for cell in point.cells:
        own[cell.start : cell.stop] = True
    (dirty,) = np.nonzero(arrays.n_cells)
    cells = runs(arrays.first_cell[dirty], arrays.n_cells[dirty])
    row_of = np.repeat(dirty, arrays.n_cells[dirty])
    covered = np.column_stack([arrays.cell_start[cells], arrays.cell_stop[cells]])
    # Rows are added up feature by feature where both are complete, then cell by cell.
    open_ = np.zeros((n_rows, n_features), dtype=bool)
    open_[:, own] = True
    widths = covered[:, 1] - covered[:, 0]
    open_[np.repeat(row_of, widths), runs(covered[:, 0], widths)] = True
    terms = np.where(open_, 0.0, term(arrays.base, point.base))
    low = join.reduce(terms, axis=1)
    high, size = low.copy(), np.abs(terms).sum(axis=1)

    def add(rows: Ints, least: Floats, most: Floats) -> None:
        low[rows] = join(low[rows], least)
        high[rows] = join(high[rows], most)
        size[rows] += np.maximum(np.abs(least), np.abs(most))

    loose = np.zeros(n_rows, dtype=bool)
    met: dict[tuple[int, int], Bools] = {}  # which rows have this very cell
    for start, stop in np.unique(covered, axis=0).tolist():
        (same,) = np.nonzero((covered == [start, stop]).all(axis=1))
        values = [cell.values for cell in point.cells if (cell.start, cell.stop) == (start, stop)]
        if values:
            met[start, stop] = np.isin(np.arange(n_rows), row_of[same])
        elif own[start:stop].any():
            loose[row_of[same]] = True
            continue
        else:
            values = [point.base[None, start:stop]]
        for some, rows in _by_size(arrays, cells[same], row_of[same]):
            add(rows, *_pairs(some, values[0], term, join))
    for cell in point.cells:
        there = met.get((cell.start, cell.stop), np.zeros(n_rows, dtype=bool))
        (rows,) = np.nonzero(~there)
        step = max(1, _BLOCK // (cell.values.size or 1))
        for at in range(0, len(rows), step):
            some = rows[at : at + step]
            base = arrays.base[some, cell.start : cell.stop][:, None, :]
            add(some, *_pairs(base, cell.values, term, join))
    (rows,) = np.nonzero(loose)
    if len(rows):
        low[rows], high[rows], size[rows] = _boxed(arrays, rows, point, term, join)
    slack = 4 * n_features * _ROUNDING * size
    return low - slack, high + slack


def _by_size(arrays: RowArrays, cells: Ints, rows: Ints) -> Any:
    """Values of cells of one span, as arrays of shape (cells, values, columns), and their rows."""
    width = int(arrays.cell_stop[cells[0]] - arrays.cell_start[cells[0]])
    sizes = arrays.cell_size[cells]
    for size in np.unique(sizes).tolist():
        (own,) = np.nonzero(sizes == size)
        step = max(1, _BLOCK // (size * width * 8))
        for at in range(0, len(own), step):
            some = own[at : at + step]
            first = arrays.values_at[cells[some]]
            places = first[:, None] + np.arange(width * size)
            values = arrays.values[places].reshape(len(some), width, size)
            yield values.transpose(0, 2, 1), rows[some]


def _pairs(
    values: Floats, others: Floats, term: Callable[[Any, Any], Any], join: np.ufunc
) -> tuple[Floats, Floats]:
    """The least and the greatest part of the distance between two sets of values, for each row."""
    parts = join.reduce(term(values[:, :, None, :], others[None, None, :, :]), axis=3)
    return parts.min(axis=(1, 2)), parts.max(axis=(1, 2))


def _boxed(
    arrays: RowArrays,
    rows: Ints,
    point: StoredRow,
    term: Callable[[Any, Any], Any],
    join: np.ufunc,
) -> tuple[Floats, Floats, Floats]:
    """The same from bounding boxes, feature by feature, for rows whose cells cut across."""
    some = arrays.take(rows)
    low, high = some.boxes()
    left, right = point.base.copy(), point.base.copy()
    for cell in point.cells:
        left[cell.start : cell.stop] = cell.values.min(axis=0)
        right[cell.start : cell.stop] = cell.values.max(axis=0)
    corners: npt.NDArray[Any] = np.stack(
        [term(one.T, two) for one in (low, high) for two in (left, right)]
    )
    least, most = corners.min(axis=0), corners.max(axis=0)
    # Sets that overlap may meet; a product is least and greatest at corners.
    meet = (right >= low.T) & (left <= high.T)
    if term is not _TERMS[LINEAR]:
        least = np.where(meet, 0.0, least)
    size = np.maximum(np.abs(least), np.abs(most)).sum(axis=1)
    return join.reduce(least, axis=1), join.reduce(most, axis=1), size
