"""Kernels over what is prepared of data that differs from other data in one row.

Everything is written into arrays that are handed over, and nothing but a number is returned: such
a call is safe in any thread, whenever Ctrl-C arrives.
"""

from __future__ import annotations

import numpy as np

from cpclean.queries.kernel_arrays import (
    FIRST_CANDIDATE,
    FIRST_CELL,
    LEAST,
    MOST,
    N_CELLS,
    SIZE,
)
from cpclean.queries.kernel_kinds import kernel

# What `put_row` returns: whether the row's box has a width, and whether it exceeds its block's.
WIDE, BEYOND = 1, 2


@kernel
def put_row(first_cell, n_cells, counts, boxes, block_boxes, block_at, place, own, out_spans,
            out_low, out_high, out_norms, sizes):  # fmt: skip
    """Write the spans, and copy the boxes with that of one row changed.

    first_cell, n_cells and counts are of all rows. place says where the row stands in the order, in
    which blocks begin at block_at, and own has the least and the greatest it can be in each column.
    sizes has the largest and the smallest number of all that is not zero, without sign: those of
    own are added.
    """
    n_rows, n_features = counts.shape[0], own.shape[1]
    first = np.int64(0)
    for i in range(n_rows):
        out_spans[i, FIRST_CELL] = first_cell[i]
        out_spans[i, N_CELLS] = n_cells[i]
        out_spans[i, SIZE] = counts[i]
        out_spans[i, FIRST_CANDIDATE] = first
        first += counts[i]
    for f in range(n_features):
        for i in range(n_rows):
            out_low[f, i] = boxes.low[f, i]
        for i in range(n_rows):
            out_high[f, i] = boxes.high[f, i]
    for k in range(2):
        for i in range(n_rows):
            out_norms[k, i] = boxes.norms[k, i]
    block = 0
    while block_at[block + 1] <= place:
        block += 1
    found = 0
    least = 0.0
    most = 0.0
    for f in range(n_features):  # in this order, as distances are
        low, high = own[0, f], own[1, f]
        out_low[f, place] = low
        out_high[f, place] = high
        under, over = low * low, high * high
        least += 0.0 if low < 0.0 and high > 0.0 else min(under, over)
        most += max(under, over)
        if low != high:
            found |= WIDE
        if low < block_boxes.low[f, block] or high > block_boxes.high[f, block]:
            found |= BEYOND
        for k in range(2):
            size = abs(own[k, f])
            sizes[0] = max(sizes[0], size)
            if size != 0.0:
                sizes[1] = min(sizes[1], size)
    out_norms[LEAST, place] = least
    out_norms[MOST, place] = most
    return found


@kernel
def touched(before, after, place, X, passed_over, reach, found):
    """The points within whose reach a row begins, as it was or as it is, under the Euclidean.

    before and after are boxes, in which the row stands at a place. Points may be passed over.
    Returns how many there are.
    """
    count = 0
    for p in range(X.shape[0]):
        if passed_over[p]:
            continue
        least = np.inf
        for boxes in (before, after):
            near = 0.0  # as `_near.bounds_of_row` has it
            for f in range(X.shape[1]):
                under = X[p, f] - boxes.low[f, place]
                over = boxes.high[f, place] - X[p, f]
                gap = under if under < over else over
                gap = gap if gap < 0.0 else 0.0
                near += gap * gap
            least = min(least, near)
        found[count] = p
        count += least <= reach[p]
    return count
