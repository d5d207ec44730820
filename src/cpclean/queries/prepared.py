"""What queries need of an incomplete dataset, computed once and stored with it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.data.incomplete import IncompleteDataset, Ints
from cpclean.data.row_arrays import RowArrays, distinct, runs, starts_of
from cpclean.data.rows import Bools, Floats, box
from cpclean.data.whole_facts import WholeFacts
from cpclean.queries import _put_row
from cpclean.queries._bits import Bits, bits_of
from cpclean.queries.blocks import in_blocks
from cpclean.queries.kernel_arrays import (
    ASCENDING,
    FIRST_CANDIDATE,
    FIRST_CELL,
    LEAST,
    MOST,
    N_CELLS,
    N_VALUES,
    SIZE,
    START,
    STOP,
    VALUES_AT,
    WEIGHTS_AT,
    Boxes,
    Rows,
    Sparse,
)
from cpclean.queries.magnitudes import check_magnitude, smallest_size

# Tables with this many columns, and at most one cell value in four not zero, are summed sparsely.
_WIDE_FROM = 32
_SPARSE_FROM = 4
# Rows that are turned into columns at a time, while they are in the cache.
_AT_ONCE = 4096
# Ends of cells with fewer values are found as quickly by looking at all of them.
_MANY_VALUES = 16


@dataclass(frozen=True)
class Prepared:
    """What is computed once per dataset and stored with it."""

    rows: Rows
    place: Ints  # where each row stands in rows.order
    largest: float  # of all values, without sign
    smallest: float  # of all values that are not zero, known or not, without sign
    rarest: float  # a lower bound on the prior of any candidate

    @cached_property
    def bits(self) -> Bits | None:
        """The rows as bits, if each column has two values: one pass over them, when first asked."""
        return bits_of(self.rows.boxes, self.rows.block_boxes)

    def __getstate__(self) -> dict[str, Any]:
        return {name: one for name, one in self.__dict__.items() if name != "bits"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        frozen(self.rows)  # arrays out of pickles can be written to


def prepared_rows(data: IncompleteDataset) -> Prepared:
    """What the data keeps for queries; prepared by the first one."""
    if Prepared not in data.derived:
        rows = _kernel_rows(data)
        boxes, whole = rows.boxes, data.whole or WholeFacts()
        data.derived[Prepared] = Prepared(
            rows=rows,
            place=inverse(rows.order),
            largest=max(float(max(boxes.high.max(), -boxes.low.min())), whole.largest),
            smallest=min(smallest_size(rows.base, rows.values), whole.smallest),
            rarest=rarest_prior(data),
        )
    found: Prepared = data.derived[Prepared]
    return found


def check_size(prepared: Prepared, points: Floats, metric: int) -> None:
    """Refuse points and candidates whose distances overflow or underflow in this metric."""
    check_magnitude(prepared.rows, prepared.largest, prepared.smallest, points, metric)


def inverse(order: Ints) -> Ints:
    """Where each number stands in a permutation."""
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return place


def rarest_prior(data: IncompleteDataset) -> float:
    """A lower bound on the prior of any candidate, the same whatever is known of the data."""
    given, whole = data.unpinned.arrays, data.whole or WholeFacts()
    most_cells = max(int(given.n_cells.max()), whole.most_cells)
    lightest = min(float(given.weights.min(initial=1.0)), whole.lightest)
    return float(np.float64(lightest) ** most_cells) if most_cells else 1.0


def set_prepared(data: IncompleteDataset, prepared: Prepared) -> None:
    """Let queries use what was prepared for equal data, elsewhere or before."""
    data.derived[Prepared] = prepared


def prepare_changed(old: IncompleteDataset, new: IncompleteDataset, row: int) -> Prepared:
    """Prepare data that differs from other, prepared data in one row: O(N d), mostly copying."""
    before, arrays = prepared_rows(old), new.arrays
    rows, old_boxes = before.rows, before.rows.boxes
    stored = arrays.stored_row(row)
    own = np.empty((2, len(old_boxes.low)))
    own[0], own[1] = box(stored) if stored.cells else (stored.base, stored.base)
    place = int(before.place[row])
    sizes = np.array([before.largest, before.smallest])
    spans = np.empty(rows.spans.shape, np.int64)
    boxes = Boxes(
        np.empty(old_boxes.low.shape),
        np.empty(old_boxes.low.shape),
        np.empty(old_boxes.norms.shape),
    )
    kind = _put_row.put_row(
        arrays.first_cell,
        arrays.n_cells,
        new.candidate_counts,
        old_boxes,
        rows.block_boxes,
        rows.block_at,
        place,
        own,
        spans,
        *boxes,
        sizes,
    )
    around, holed = rows.block_boxes, rows.holed
    if kind:
        block = int(rows.block_at.searchsorted(place, "right")) - 1
    if kind & _put_row.BEYOND:  # not if the row only lost candidates
        low, high = around.low[:, block], around.high[:, block]
        around = _with_box(around, block, np.minimum(low, own[0]), np.maximum(high, own[1]))
    if kind & _put_row.WIDE:
        holed = _with_holes(holed, block, own[0] != own[1])
    largest, smallest = sizes.tolist()
    if stored.cells:
        smallest = min(smallest, smallest_size(*(cell.values for cell in stored.cells)))
    same_cells = arrays.cell_size is old.arrays.cell_size
    after = Rows(
        base=arrays.base,
        spans=spans,
        cells=rows.cells if same_cells else _cells(new),
        values=arrays.values,
        weights=arrays.weights,
        order=rows.order,
        block_at=rows.block_at,
        boxes=boxes,
        block_boxes=around,
        holed=holed,
        sparse=rows.sparse if same_cells else _more_sparse(rows.sparse, new),
    )
    if kind or not same_cells:
        frozen(after)
    else:
        _freeze(spans, *boxes)
    found = Prepared(after, before.place, largest, smallest, before.rarest)
    set_prepared(new, found)
    return found


def prepared_among(whole: Prepared, data: IncompleteDataset) -> Prepared:
    """What is prepared for some rows of larger data; what is refused there is refused here."""
    own = replace(
        prepared_rows(data), largest=whole.largest, smallest=whole.smallest, rarest=whole.rarest
    )
    set_prepared(data, own)
    return own


def _kernel_rows(data: IncompleteDataset) -> Rows:
    arrays = data.arrays
    order, at, low, high, narrow = _ordered(arrays)
    return frozen(
        Rows(
            base=arrays.base,
            spans=_spans(data),
            cells=_cells(data),
            values=arrays.values,
            weights=arrays.weights,
            order=order,
            block_at=at,
            boxes=_boxes(low, high, narrow),
            block_boxes=_boxes(
                np.minimum.reduceat(low, at[:-1], axis=1),
                np.maximum.reduceat(high, at[:-1], axis=1),
            ),
            holed=_holed(low, high, at, narrow),
            sparse=_sparse(data),
        )
    )


def _ordered(arrays: RowArrays) -> tuple[Ints, Ints, Floats, Floats, int]:
    """The rows in blocks, where these begin, and the boxes of the rows in that order, (d, N).

    So many boxes, the first ones, have no width.
    """
    (dirty,) = np.nonzero(arrays.n_cells)
    low, high = arrays.take(dirty).boxes()
    wide = (low != high).any(axis=0)
    rows, low, high = dirty[wide], low[:, wide], high[:, wide]
    order, at = in_blocks(arrays.base, rows, low, high)
    narrow = len(order) - len(rows)
    below = np.empty(arrays.base.shape[::-1])
    for start in range(0, narrow, _AT_ONCE):
        own = slice(start, min(start + _AT_ONCE, narrow))
        below[:, own] = arrays.base[order[own]].T
    above = below.copy()
    place = np.searchsorted(rows, order[narrow:])
    below[:, narrow:], above[:, narrow:] = low[:, place], high[:, place]
    return order, at, below, above, narrow


def _spans(data: IncompleteDataset) -> Ints:
    counts, arrays = data.candidate_counts, data.arrays
    columns = {
        FIRST_CELL: arrays.first_cell,
        N_CELLS: arrays.n_cells,
        SIZE: counts,
        FIRST_CANDIDATE: np.cumsum(counts) - counts,
    }
    return _by_column(columns)


def _cells(data: IncompleteDataset) -> Ints:
    arrays = data.arrays
    columns = {
        START: arrays.cell_start,
        STOP: arrays.cell_stop,
        N_VALUES: arrays.cell_size,
        VALUES_AT: arrays.values_at,
        WEIGHTS_AT: arrays.weights_at,
        ASCENDING: _ascending(arrays),
    }
    return _by_column(columns)


def _ascending(arrays: RowArrays) -> Ints:
    """Which cells have one column, and so many values in ascending order that this is of use."""
    found = np.zeros(len(arrays.cell_size), dtype=np.int64)
    narrow = arrays.cell_stop - arrays.cell_start == 1
    (many,) = np.nonzero(narrow & (arrays.cell_size >= _MANY_VALUES))
    at, first, number = distinct(arrays.values_at[many])
    sizes = arrays.cell_size[many[first]]
    falls = np.zeros(len(first), dtype=bool)
    owner = np.repeat(np.arange(len(first)), sizes - 1)
    steps = runs(at, sizes - 1)
    falls[owner[arrays.values[steps] > arrays.values[steps + 1]]] = True
    found[many] = ~falls[number]
    return found


def _by_column(columns: dict[int, Ints]) -> Ints:
    """Named columns as one array, in the order of their numbers."""
    return np.ascontiguousarray(np.stack([columns[at] for at in range(len(columns))], axis=1))


def _with_box(boxes: Boxes, place: int, low: Floats, high: Floats) -> Boxes:
    changed = Boxes(*(array.copy() for array in boxes))
    changed.low[:, place], changed.high[:, place] = low, high
    with np.errstate(over="ignore"):  # as in `_boxes`, in the same order
        under, over = low**2, high**2
        least = np.where((low < 0) & (high > 0), 0.0, np.minimum(under, over))
        changed.norms[LEAST, place] = np.add.accumulate(least)[-1]
        changed.norms[MOST, place] = np.add.accumulate(np.maximum(under, over))[-1]
    return changed


def _holed(low: Floats, high: Floats, at: Ints, narrow: int) -> Bools:
    """In which columns the boxes of each block have a width; those of the first rows have none."""
    found = np.zeros((len(at) - 1, len(low)), dtype=bool)
    first = int(np.searchsorted(at, narrow))
    if first < len(found):
        width = low[:, narrow:] != high[:, narrow:]
        found[first:] = np.logical_or.reduceat(width, at[first:-1] - narrow, axis=1).T
    return found


def _with_holes(holed: Bools, block: int, own: Bools) -> Bools:
    changed = holed.copy()
    changed[block] |= own
    return changed


def _boxes(low: Floats, high: Floats, narrow: int = 0) -> Boxes:
    """Boxes with their norms; so many, the first ones, have no width."""
    norms = np.zeros((2, low.shape[1]))
    with np.errstate(over="ignore"):  # what overflows is refused before it is used
        for place in low[:, :narrow]:  # in feature order, as distances are
            norms[LEAST, :narrow] += place**2
        norms[MOST, :narrow] = norms[LEAST, :narrow]
        least, most = norms[:, narrow:]
        for under, over in zip(low[:, narrow:], high[:, narrow:], strict=True):
            least += np.where((under < 0) & (over > 0), 0.0, np.minimum(under**2, over**2))
            most += np.maximum(under**2, over**2)
    return Boxes(low, high, norms)


def _sparse(data: IncompleteDataset) -> Sparse:
    """The non-zeros of the cell values, if the table is wide and they are few."""
    none = Sparse(np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0))
    values = data.unpinned.arrays.values  # what is known of a row changes nothing about the way
    few = np.count_nonzero(values) * _SPARSE_FROM < len(values)
    if data.n_features < _WIDE_FROM or not few:
        return none._replace(at=none.at[:0])
    return _more_sparse(none, data)


def _more_sparse(sparse: Sparse, data: IncompleteDataset) -> Sparse:
    """The same with the cell values that the data has beyond those that are there.

    All cells have their place, also those of pinned rows: values keep their numbers.
    """
    done, arrays = len(sparse.at) - 1, data.arrays
    if done < 0 or done == len(arrays.weights):
        return sparse
    # Cells that share weights share values: each run is looked at once.
    at, cells, _ = distinct(arrays.weights_at)
    cells = cells[at >= done]
    size = arrays.cell_size[cells]
    n_values = size * (arrays.cell_stop[cells] - arrays.cell_start[cells])
    values = arrays.values[runs(arrays.values_at[cells], n_values)]
    (found,) = np.nonzero(values)
    owner = np.repeat(np.arange(len(cells)), n_values)[found]
    # A cell's values stand column by column.
    column, place = np.divmod(found - starts_of(n_values)[owner], size[owner])
    vector = arrays.weights_at[cells][owner] - done + place
    order = np.argsort(vector, kind="stable")  # columns stay in ascending order
    times = np.bincount(vector, minlength=len(arrays.weights) - done)
    return Sparse(
        np.concatenate([sparse.at, sparse.at[-1] + np.cumsum(times)]),
        np.concatenate([sparse.column, (arrays.cell_start[cells][owner] + column)[order]]),
        np.concatenate([sparse.value, values[found][order]]),
    )


def frozen(rows: Rows) -> Rows:
    """Read-only throughout: a kernel is compiled once, not once per mixture of flags."""
    for part in rows:
        _freeze(*(part if isinstance(part, tuple) else (part,)))
    return rows


def _freeze(*arrays: npt.NDArray[Any]) -> None:
    for array in arrays:
        array.setflags(write=False)
