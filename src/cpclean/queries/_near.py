"""Kernels that find the rows around a query point, before any candidate is looked at.

Every row's candidates lie in a bounding box, which bounds the row's distances from below and
above: distances are sums over features in feature order, and rounding is monotone, so the same
sum over the box needs no margin. The K-th smallest upper bound is the point's *reach*; a row that
begins beyond it is among the K nearest in no world. At equal distance the smaller row is nearer, so
the reach is a pair of a distance and a row: where distances tie, most rows begin beyond it.

Rows stand in blocks of neighbours (`blocks`), and a block has a box around its rows' boxes.

1. *Blocks.* Bound the distances of all blocks; look through the rows of the nearest one for a
   first reach.
2. *Rows.* Look through every block that does not begin beyond the reach found so far; the reach
   falls with every row that ends nearer.
3. *Sift* the rows found by the final reach, and bring each point's rows into ascending order.

Cost: O(N d) per point at worst, for N rows and d features; the blocks passed over cost a 256th.

Kernels that call each other share this file: the compilation cache does not see edits to a
callee in another file.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from cpclean.queries._terms import cosine_order
from cpclean.queries.kernel_arrays import (
    BLOCK,
    CHEBYSHEV,
    COSINE,
    EUCLIDEAN,
    FIRST_CANDIDATE,
    HAMMING,
    LEAST,
    MANHATTAN,
    MOST,
    PRECOMPUTED,
    SIZE,
)

# The powers of two below 2^64 leave different remainders modulo 67: which bit leaves which.
_BIT = np.zeros(67, np.int64)
_BIT[[2**bit % 67 for bit in range(64)]] = np.arange(64)


@njit(cache=True, nogil=True)
def _bound_boxes(boxes, metric, t, first, count, near, far):
    """Bounds of the distances to boxes first..first+count-1."""
    for r in range(count):
        near[r] = 0.0
        far[r] = 0.0
    for f in range(t.shape[0]):
        x = t[f]
        low = boxes.low[f, first : first + count]
        high = boxes.high[f, first : first + count]
        if metric == EUCLIDEAN:
            for r in range(count):
                under = x - low[r]
                over = high[r] - x
                reach = under if under > over else over
                gap = under if under < over else over
                gap = gap if gap < 0.0 else 0.0
                near[r] += gap * gap
                far[r] += reach * reach
        elif metric == MANHATTAN:
            for r in range(count):
                under = x - low[r]
                over = high[r] - x
                far[r] += under if under > over else over
                gap = under if under < over else over
                near[r] -= gap if gap < 0.0 else 0.0
        elif metric == CHEBYSHEV:
            for r in range(count):
                under = x - low[r]
                over = high[r] - x
                reach = under if under > over else over
                gap = -under if under < over else -over
                near[r] = gap if gap > near[r] else near[r]
                far[r] = reach if reach > far[r] else far[r]
        elif metric == HAMMING:
            for r in range(count):
                near[r] += 1.0 if x < low[r] or x > high[r] else 0.0
                far[r] += 1.0 if x != low[r] or x != high[r] else 0.0
        else:  # linear, and the dot product of cosine
            for r in range(count):
                one = low[r] * x
                two = high[r] * x
                near[r] -= one if one > two else two
                far[r] -= one if one < two else two
    if metric == COSINE:
        for r in range(count):
            norm_low = boxes.norms[LEAST, first + r]
            norm_high = boxes.norms[MOST, first + r]
            _bound_cosine(-near[r], -far[r], norm_low, norm_high, r, near, far)


@njit(cache=True, nogil=True)
def _bound_rows(rows, metric, t, first, count, near, far):
    """Bounds of the distances of the rows that stand at first..first+count-1 in their order."""
    if metric != PRECOMPUTED:
        _bound_boxes(rows.boxes, metric, t, first, count, near, far)
        return
    for r in range(count):
        row = rows.order[first + r]
        at = rows.spans[row, FIRST_CANDIDATE]
        own = t[at : at + rows.spans[row, SIZE]]
        near[r] = own.min()
        far[r] = own.max()


@njit(cache=True, nogil=True)
def _begin(rows, metric, X, nearest_ends, ending):
    """Step 1: where all blocks begin, for all points; each point's nearest block is searched."""
    n_points = X.shape[0]
    n_blocks = rows.block_at.shape[0] - 1
    begins = np.full((n_points, n_blocks), -np.inf)  # distances are given: nothing to pass over
    nearest = np.full(n_points, -1, np.int64)
    if metric == PRECOMPUTED:
        return begins, nearest
    ends = np.empty(n_blocks)
    near = np.empty(BLOCK)
    far = np.empty(BLOCK)
    for p in range(n_points):
        _bound_boxes(rows.block_boxes, metric, X[p], 0, n_blocks, begins[p], ends)
        nearest[p] = np.argmin(begins[p])
        first = rows.block_at[nearest[p]]
        count = rows.block_at[nearest[p] + 1] - first
        _bound_rows(rows, metric, X[p], first, count, near, far)
        _note_ends(nearest_ends[p], ending[p], far, rows.order[first:], count)
    return begins, nearest


@njit(cache=True, nogil=True)
def _note_ends(heap, who, far, order, count):
    """Keep the K smallest ends, and their rows; of equal ends those of the smaller rows."""
    for r in range(count):
        if far[r] <= heap[0] and (far[r] < heap[0] or order[r] < who[0]):
            _replace_top(heap, who, far[r], order[r])


@njit(cache=True, nogil=True)
def _bound_cosine(dot_high, dot_low, norm_low, norm_high, r, near, far):
    if norm_high == 0.0:  # nothing but the zero vector
        near[r] = 0.0
        far[r] = 0.0
        return
    if dot_high > 0.0:
        near[r] = -np.inf if norm_low == 0.0 else cosine_order(dot_high, norm_low)
    else:
        near[r] = cosine_order(dot_high, norm_high)
    if dot_low > 0.0:
        far[r] = cosine_order(dot_low, norm_high)
    else:
        far[r] = np.inf if norm_low == 0.0 else cosine_order(dot_low, norm_low)


@njit(cache=True, nogil=True)
def _replace_top(heap, who, value, row):
    """Replace the largest pair of a value and a row in a max-heap."""
    size = heap.shape[0]
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size:
            one, other = heap[child], heap[child + 1]
            child += other > one or (other == one and who[child + 1] > who[child])
        if heap[child] < value or (heap[child] == value and who[child] <= row):
            break
        heap[at] = heap[child]
        who[at] = who[child]
        at = child
    heap[at] = value
    who[at] = row


@njit(cache=True, nogil=True)
def _grown(array, used, size):
    larger = np.empty(size, array.dtype)
    larger[:used] = array[:used]
    return larger


@njit(cache=True, nogil=True)
def near_rows(rows, metric, X, n_neighbors, limit):
    """Rows that can be among the nearest, for every point of a block.

    Gives up, with ptr empty, when several points together have more than `limit` of them.

    Returns (ptr, near, bound, reach): point p has rows near[ptr[p]:ptr[p+1]], in ascending order,
    whose distances are at least bound; no candidate beyond distance reach[p] can be the
    point's K-th nearest in any world.
    """
    n_points = X.shape[0]
    ptr = np.zeros(n_points + 1, np.int64)
    near = np.empty(BLOCK)
    far = np.empty(BLOCK)
    nearest_ends = np.full((n_points, n_neighbors), np.inf)  # one max-heap per point
    ending = np.full((n_points, n_neighbors), rows.base.shape[0])  # the rows that end there
    # Step 1: a first reach.
    begins, nearest_block = _begin(rows, metric, X, nearest_ends, ending)
    # Step 2: the rows of every block that begins within reach.
    found = np.empty(4096, np.int64)
    found_row = np.empty(4096, np.int64)
    found_bound = np.empty(4096)
    n_found = 0
    for block in range(begins.shape[1]):  # its rows meet all points while they are in the cache
        first = rows.block_at[block]
        count = rows.block_at[block + 1] - first
        for p in range(n_points):
            heap = nearest_ends[p]
            if begins[p, block] > heap[0]:
                continue
            _bound_rows(rows, metric, X[p], first, count, near, far)
            if block != nearest_block[p]:
                _note_ends(heap, ending[p], far, rows.order[first:], count)
            top = heap[0]
            n_near = 0
            for r in range(count):
                n_near += near[r] <= top
            if n_near == 0:
                continue
            if n_found > limit and n_points > 1:
                return ptr[:0], found_row[:0], found_bound[:0], nearest_ends[:0, 0].copy()
            if n_found + count > found.shape[0]:
                size = 2 * (n_found + count)
                found = _grown(found, n_found, size)
                found_row = _grown(found_row, n_found, size)
                found_bound = _grown(found_bound, n_found, size)
            for r in range(count):  # written in any case, kept if near
                found[n_found] = p
                found_row[n_found] = rows.order[first + r]
                found_bound[n_found] = near[r]
                n_found += near[r] <= top
    # Step 3: count what is within the final reach, copy it point by point, sort.
    reach = nearest_ends[:, 0].copy()
    for i in range(n_found):
        p = found[i]
        ptr[p + 1] += _is_near(found_bound[i], found_row[i], reach[p], ending[p, 0])
    for p in range(n_points):
        ptr[p + 1] += ptr[p]
    out_row = np.empty(ptr[n_points], np.int64)
    out_bound = np.empty(ptr[n_points])
    at = ptr[:-1].copy()
    for i in range(n_found):
        p = found[i]
        if _is_near(found_bound[i], found_row[i], reach[p], ending[p, 0]):
            out_row[at[p]] = found_row[i]
            out_bound[at[p]] = found_bound[i]
            at[p] += 1
    _ascending(rows.base.shape[0], ptr, out_row, out_bound)
    return ptr, out_row, out_bound, reach


@njit(cache=True, nogil=True)
def _is_near(bound, row, reach, last):
    """Whether a row begins within the reach; of those just there, only rows up to its own do."""
    return bound < reach or (bound == reach and row <= last)


@njit(cache=True, nogil=True)
def _ascending(n_rows, ptr, row, bound):
    """Sort every point's rows, and their bounds with them: equal distances go by that order."""
    marks = np.zeros(n_rows // 64 + 1, np.uint64)  # one bit per row
    bound_of = np.empty(n_rows)
    for p in range(ptr.shape[0] - 1):
        for i in range(ptr[p], ptr[p + 1]):
            marks[row[i] // 64] |= np.uint64(1) << np.uint64(row[i] % 64)
            bound_of[row[i]] = bound[i]
        at = ptr[p]
        for word in range(marks.shape[0]):
            left = marks[word]
            marks[word] = np.uint64(0)
            while left != np.uint64(0):
                lowest = left & (~left + np.uint64(1))
                left ^= lowest
                row[at] = 64 * word + _BIT[lowest % np.uint64(67)]
                bound[at] = bound_of[row[at]]
                at += 1


@njit(cache=True, nogil=True)
def bounds_of_row(rows, metric, X, place):
    """A lower bound of every point's distance to the row that stands at a place in the order."""
    found = np.empty(X.shape[0])
    near = np.empty(1)
    far = np.empty(1)
    for p in range(X.shape[0]):
        _bound_rows(rows, metric, X[p], place, 1, near, far)
        found[p] = near[0]
    return found


@njit(cache=True, nogil=True)
def local_labels(row_ptr, codes, n_classes):
    """Number the labels that occur around each point, in class order.

    codes is the class of every row of the block. Returns (side, ptr, present): a row's label as
    its number among the point's labels, and the classes present[ptr[p]:ptr[p+1]] so numbered.
    """
    n_points = row_ptr.shape[0] - 1
    side = np.empty(codes.shape[0], np.int64)
    ptr = np.zeros(n_points + 1, np.int64)
    present = np.empty(min(n_points * n_classes, codes.shape[0]), np.int64)
    number = np.empty(n_classes, np.int64)
    for p in range(n_points):
        number[:] = -1
        for i in range(row_ptr[p], row_ptr[p + 1]):
            number[codes[i]] = 0
        at = ptr[p]
        for label in range(n_classes):
            if number[label] == 0:
                number[label] = at - ptr[p]
                present[at] = label
                at += 1
        ptr[p + 1] = at
        for i in range(row_ptr[p], row_ptr[p + 1]):
            side[i] = number[codes[i]]
    return side, ptr, present[: ptr[n_points]]
