"""Kernels that find the rows around a query point, before any candidate is looked at.

Every row's candidates lie in a bounding box, which bounds the row's distances from below and
above: distances are sums over features in feature order, and rounding is monotone, so the same
sum over the box needs no margin. The K-th smallest upper bound is the point's *reach*; a row that
begins beyond it is among the K nearest in no world. At equal distance the smaller row is nearer, so
the reach is a pair of a distance and a row: where distances tie, most rows begin beyond it.

Rows stand in blocks of neighbours (`blocks`), and a block has a box around its rows' boxes.

1. *Blocks.* Bound the distances of all blocks; look through the rows of the nearest one first.
2. *Rows.* Look through every block that does not begin beyond the reach found so far; the reach
   falls with every row that ends nearer. Where distance is Euclidean, quicker sums first show which
   rows may be within reach of several points, and the sums that decide are taken of these alone:
   bits if columns have two values each (`_bits`), shared ones if the points are alike (`_alike`),
   else a product of matrices in single precision.
3. *Sift* the rows found by the final reach, and bring each point's rows into ascending order.

Cost: O(N d) per point at worst, for N rows and d features; the blocks passed over cost a 256th.
Memory: O(found rows), 16 MB for the bounds of blocks, and O(d) for a block; nothing of the size of
the table.

**The product and its error.** Let c be the centre of one row's box in a block, and s a power of two
that makes the block's box about 1 wide. With W = s (v - c) for a row v without holes, and
Y = s (x - c) for a point x,

    s^2 |v - x|^2 = |Y|^2 + (|W|^2 - 2 W Y),

and the bracket is computed, from W and Y rounded to single precision. In a column in which some row
of the block has a hole, the square of the gap between Y and the row's scaled box is added instead;
there, W is the corner of the box that is farther from c. With d features and u = 2^-24:

- Rounding W and Y moves each coordinate by at most u of itself, and so the bracket by at most
  2 u A, where A = (|W| + |Y|)^2.
- |W|^2 is a sum of d rounded squares, off by at most d u |W|^2. It and d products, or squares of
  gaps, pass through at most d + 4 further operations each, in whatever order. The absolute values
  of all terms sum to at most A: off by at most (2 d + 4) u A together.
- So, with terms of higher order, the error is below (2 d + 6) u A / (1 - 2 d u).
- What falls below the normal numbers of single precision, which have a spacing of 2^-149 there,
  adds less than d 2^-140 (1 + |W| + |Y|).
- The sum in double precision that decides is that of real numbers but for a factor of
  1 + (d + 3) 2^-53, and for d 2^-1074 where squares underflow.

A row is passed over only if the bracket exceeds s^2 reach - |Y|^2 by (8 d + 64) u (|W|^2 + |Y|^2),
which is at least (4 d + 32) u A, and by more than the rest: then the sum that decides exceeds the
reach. All other rows are decided by that sum, so the results are those without a product, bit for
bit. The margin is in proportion to how far row and point are from c: neither a common offset nor
the magnitude of the values matters, nor a row that lies far from the others. Where the margin
exceeds all that there is to tell apart, or numbers overflow, no row is passed over.

Kernels that call each other share this file: the compilation cache does not see edits to a
callee in another file.
"""

from __future__ import annotations

import math

import numpy as np

from cpclean.data.rows import Floats
from cpclean.queries._alike import add_up, begin_sums, list_within, most_of_sum, room_for_sums
from cpclean.queries._bits import begin_by_bits, first_reach, list_alike
from cpclean.queries._squares import bound_few, bound_squares
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
from cpclean.queries.kernel_kinds import kernel, part

_BEGINS = 2**21  # bounds of blocks that are kept at a time, of all points together
# Where at most one row in so many may be near, rows are looked at one by one: after a product, and
# after shared sums.
_FEW, _FEW_ALIKE = 8, 3
_INSERTION = 24  # so many rows are sorted by insertion
# Where a product pays: points that a block is within reach of, features without and with holes, and
# the share of these points (one in so many) for which it leaves few rows of the blocks before.
_SEVERAL = 8
_LEAST_PLAIN, _LEAST_HOLED = 8, 16
_USEFUL = 3
_MOST_FEATURES = 2**16  # beyond this, single precision has too few digits

# -- bounds ------------------------------------------------------------------------------


@part
def _bound(rows, boxes, metric, t, start, stop, near, far):
    """Bounds of the distances to boxes start..stop-1, of blocks or of rows in their order."""
    count = stop - start
    if metric == PRECOMPUTED:
        for r in range(count):
            span = rows.spans[rows.order[start + r]]
            near[r] = np.inf
            far[r] = -np.inf
            for j in range(span[FIRST_CANDIDATE], span[FIRST_CANDIDATE] + span[SIZE]):
                near[r] = min(near[r], t[j])
                far[r] = max(far[r], t[j])
        return
    for r in range(count):
        near[r] = 0.0
        far[r] = 0.0
    for f in range(t.shape[0]):
        x = t[f]
        low = boxes.low[f, start:stop]
        high = boxes.high[f, start:stop]
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
            norm_low = boxes.norms[LEAST, start + r]
            norm_high = boxes.norms[MOST, start + r]
            _bound_cosine(-near[r], -far[r], norm_low, norm_high, r, near, far)


@part
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


# -- the product -------------------------------------------------------------------------


@part
def _share(n_features):
    """The margin of a product, as a share of |W|^2 + |Y|^2; see the top of this file."""
    return (n_features + 8) * 2.0**-21


@part
def _round_block(rows, block, centre, place, low, high, norms, sizes):
    """The rows of a block in single precision, around the centre of one of them and scaled.

    Columns without holes come first, in fours that zeros fill up; place says where each column
    is. Fills norms with |W|^2 in these, less the row's part of the margin; sizes is scratch.
    Returns (scale, number of columns without holes).
    """
    start, stop = rows.block_at[block], rows.block_at[block + 1]
    n_features = centre.shape[0]
    holed = rows.holed[block]
    n_plain = 0
    widest = 0.0
    for f in range(n_features):
        c = rows.boxes.low[f, (start + stop) // 2]
        c += 0.5 * (rows.boxes.high[f, (start + stop) // 2] - c)
        centre[f] = c
        over, under = rows.block_boxes.high[f, block] - c, c - rows.block_boxes.low[f, block]
        widest = max(widest, max(over, under))
        n_plain += not holed[f]
    scale = math.ldexp(1.0, -max(-500, min(math.frexp(widest)[1], 500)))
    none = np.float32(0.0)
    first_holed = (n_plain + 3) // 4 * 4
    for r in range(stop - start):
        norms[r] = none
        sizes[r] = none
        for k in range(n_plain, first_holed):
            low[k, r] = none
    plain = 0
    behind = first_holed
    for f in range(n_features):
        c = centre[f]
        values, others = rows.boxes.low[f, start:stop], rows.boxes.high[f, start:stop]
        if holed[f]:
            one, two = low[behind], high[behind]
            place[f] = behind
            for r in range(stop - start):
                one[r] = np.float32((values[r] - c) * scale)
                two[r] = np.float32((others[r] - c) * scale)
                sizes[r] += max(one[r] * one[r], two[r] * two[r])
            behind += 1
        else:
            one = low[plain]
            place[f] = plain
            for r in range(stop - start):
                one[r] = np.float32((values[r] - c) * scale)
                norms[r] += one[r] * one[r]
            plain += 1
    share = np.float32(_share(n_features))
    for r in range(stop - start):
        norms[r] -= share * (norms[r] + sizes[r])
    return scale, n_plain


@part
def _round_points(X, active, centre, scale, place, n_plain, Y, plain, whole):
    """Points as `_round_block` has rows, doubled and negated in columns without holes.

    X and Y have a column for every point. Fills plain with the squares of the points' lengths in
    columns without holes, and whole with those in all columns.
    """
    count = active.shape[0]
    for q in range(count):
        plain[q] = 0.0
        whole[q] = 0.0
        for k in range(n_plain, (n_plain + 3) // 4 * 4):
            Y[k, q] = np.float32(0.0)
    for f in range(centre.shape[0]):
        c = centre[f]
        is_plain = place[f] < n_plain
        times = -2.0 if is_plain else 1.0
        squares = plain if is_plain else whole
        own, out = X[f], Y[place[f]]
        for q in range(count):
            y = (own[active[q]] - c) * scale
            out[q] = np.float32(times * y)
            squares[q] += y * y
    for q in range(count):
        whole[q] += plain[q]


@part
def _multiply(low, high, norms, Y, q, n_plain, n_features, count, sums):
    """|W|^2 - 2 W Y, and squares of gaps in holed columns, for a block's rows and points q..q+3.

    Each value is read once for four points, and four columns are added at once.
    """
    a, b, c, d = sums[0], sums[1], sums[2], sums[3]
    count = (count + 63) // 64 * 64  # the processor takes whole vectors; what is behind is unused
    for r in range(count):
        a[r] = norms[r]
        b[r] = norms[r]
        c[r] = norms[r]
        d[r] = norms[r]
    for f in range(0, n_plain, 4):
        w0, w1, w2, w3 = low[f], low[f + 1], low[f + 2], low[f + 3]
        a0, a1, a2, a3 = Y[f, q], Y[f + 1, q], Y[f + 2, q], Y[f + 3, q]
        b0, b1, b2, b3 = Y[f, q + 1], Y[f + 1, q + 1], Y[f + 2, q + 1], Y[f + 3, q + 1]
        c0, c1, c2, c3 = Y[f, q + 2], Y[f + 1, q + 2], Y[f + 2, q + 2], Y[f + 3, q + 2]
        d0, d1, d2, d3 = Y[f, q + 3], Y[f + 1, q + 3], Y[f + 2, q + 3], Y[f + 3, q + 3]
        for r in range(count):
            v0, v1, v2, v3 = w0[r], w1[r], w2[r], w3[r]
            a[r] += (a0 * v0 + a1 * v1) + (a2 * v2 + a3 * v3)
            b[r] += (b0 * v0 + b1 * v1) + (b2 * v2 + b3 * v3)
            c[r] += (c0 * v0 + c1 * v1) + (c2 * v2 + c3 * v3)
            d[r] += (d0 * v0 + d1 * v1) + (d2 * v2 + d3 * v3)
    none = np.float32(0.0)
    first_holed = (n_plain + 3) // 4 * 4
    for f in range(first_holed, first_holed + n_features - n_plain):
        under, over = low[f], high[f]
        ya, yb, yc, yd = Y[f, q], Y[f, q + 1], Y[f, q + 2], Y[f, q + 3]
        for r in range(count):
            gap = max(max(under[r] - ya, ya - over[r]), none)
            a[r] += gap * gap
            gap = max(max(under[r] - yb, yb - over[r]), none)
            b[r] += gap * gap
            gap = max(max(under[r] - yc, yc - over[r]), none)
            c[r] += gap * gap
            gap = max(max(under[r] - yd, yd - over[r]), none)
            d[r] += gap * gap


@part
def _most_within(reach, n_features, scale, plain, whole):
    """The largest that `_multiply` may find for a row within reach; see the top of this file."""
    margin = _share(n_features) * whole + n_features * 2.0**-120 * (1.0 + whole)
    within = reach * (1.0 + (n_features + 8) * 2.0**-52) + n_features * 2.0**-1073
    most = scale * scale * within - plain + margin
    return np.float32(most + abs(most) * 2.0**-22)


# -- rows within reach -------------------------------------------------------------------


@part
def _replace_top(heap, who, p, value, row):
    """Replace the largest pair of a value and a row in a point's max-heap."""
    size = heap.shape[1]
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size:
            one, other = heap[p, child], heap[p, child + 1]
            child += other > one or (other == one and who[p, child + 1] > who[p, child])
        if heap[p, child] < value or (heap[p, child] == value and who[p, child] <= row):
            break
        heap[p, at] = heap[p, child]
        who[p, at] = who[p, child]
        at = child
    heap[p, at] = value
    who[p, at] = row


@part
def _grown(found, used, size):
    larger = np.empty((size, 3))
    for i in range(used):
        for k in range(3):
            larger[i, k] = found[i, k]
    return larger


@part
def _keep(p, near, far, row, count, heap, ending, found, n_found):
    """Note those of some rows that begin within a point's reach, which falls with their ends.

    heap[p] has the K smallest ends and ending[p] their rows; of equal ends those of the smaller
    rows. found has a point, a row, and where it begins. Returns how many rows are found by now.
    """
    top = heap[p, 0]
    for r in range(count):
        if far[r] <= top and (far[r] < top or row[r] < ending[p, 0]):
            _replace_top(heap, ending, p, far[r], row[r])
            top = heap[p, 0]
    for r in range(count):  # written in any case, kept if near
        found[n_found, 0] = p
        found[n_found, 1] = row[r]
        found[n_found, 2] = near[r]
        n_found += near[r] <= top
    return n_found


@part
def _begin_blocks(rows, metric, X, bits, start, count, begins, ends):
    """Where some blocks begin for every point, and, as scratch, where they end."""
    low, high = rows.block_boxes.low, rows.block_boxes.high
    for p in range(X.shape[0]):
        if metric is not None:
            _bound(rows, rows.block_boxes, metric, X[p], start, start + count, begins[p], ends)
            continue
        if bits is not None:
            begin_by_bits(bits, p, start, count, begins[p])
            continue
        for block in range(count):
            begins[p, block] = 0.0
        for f in range(X.shape[1]):  # what `_bound` finds first
            x = X[p, f]
            for block in range(count):
                under = x - low[f, start + block]
                over = high[f, start + block] - x
                gap = under if under < over else over
                gap = gap if gap < 0.0 else 0.0
                begins[p, block] += gap * gap


def by_product(metric: int, X: Floats, n_features: int) -> Floats | None:
    """The points' columns where products may pay, else None: then no product is compiled."""
    if metric != EUCLIDEAN or len(X) < _SEVERAL or not _LEAST_PLAIN <= n_features <= _MOST_FEATURES:
        return None
    return np.ascontiguousarray(X.T)


@kernel
def near_rows(rows, metric, X, columns, plan, bits, n_neighbors, limit):
    """Rows that can be among the nearest, for every point of a block.

    metric is None for the Euclidean, columns are `by_product`, plan is `_alike.alike` and bits are
    `_bits.compared`: where one of these is None, what only others need is not compiled. Gives up,
    with ptr empty, when several points together have more than `limit` rows.

    Returns (ptr, near, bound, reach): point p has rows near[ptr[p]:ptr[p+1]], in ascending order,
    whose distances are at least bound; no candidate beyond distance reach[p] can be the
    point's K-th nearest in any world.
    """
    n_points, n_features = X.shape[0], rows.base.shape[1]
    n_blocks = rows.block_at.shape[0] - 1
    at_once = max(1, min(n_blocks, _BEGINS // n_points))
    begins = np.empty((n_points, at_once))
    ends = np.empty(at_once)
    nearest_ends = np.empty((n_points, n_neighbors))  # one max-heap per point
    ending = np.empty((n_points, n_neighbors), np.int64)  # the rows that end there
    reach = np.empty(n_points)
    for p in range(n_points):
        for i in range(n_neighbors):
            nearest_ends[p, i] = np.inf
            ending[p, i] = rows.base.shape[0]
    active = np.empty(n_points + 3, np.int64)  # a product takes four at a time
    near = np.empty(BLOCK)
    far = np.empty(BLOCK)
    row = np.empty(BLOCK, np.int64)
    found = np.empty((4096, 3))  # a point, a row, and where it begins
    n_found = np.int64(0)  # not a literal, for which what it is handed to is compiled once more
    if columns is not None:  # room for a product
        tried = np.zeros(2, np.int64)  # products of points and blocks without and with holes
        useful = np.zeros(2, np.int64)  # how many of them left few rows
        centre = np.empty(n_features)
        place = np.empty(n_features, np.int64)
        low = np.zeros((n_features + 3, BLOCK), np.float32)
        high = np.zeros((n_features + 3, BLOCK), np.float32)
        norms = np.zeros(BLOCK, np.float32)
        sizes = np.empty(BLOCK, np.float32)
        Y = np.zeros((n_features + 3, n_points + 3), np.float32)
        plain = np.empty(n_points + 3)
        whole = np.empty(n_points + 3)
        sums = np.empty((4, BLOCK), np.float32)
    if plan is not None:
        partial = room_for_sums(n_features)
    if bits is not None:
        differing = np.empty(BLOCK, np.int64)
    # Step 1: every point's nearest block, for a first reach.
    nearest = np.empty(n_points, np.int64)  # -1 where distances are given: no block is passed over
    least = np.empty(n_points)
    for p in range(n_points):
        nearest[p] = -1
        least[p] = np.inf
        for block in range(at_once):
            begins[p, block] = -np.inf
    if metric is None or metric != PRECOMPUTED:
        for start in range(0, n_blocks, at_once):
            count = min(at_once, n_blocks - start)
            _begin_blocks(rows, metric, X, bits, start, count, begins, ends)
            for p in range(n_points):
                for block in range(count):
                    if begins[p, block] < least[p] or nearest[p] < 0:
                        least[p] = begins[p, block]
                        nearest[p] = start + block
    # Step 2: the rows of every block that begins within reach; those first ones before all others.
    for turn in range(-n_points, n_blocks):
        n_active = 0
        if turn < 0:
            active[0] = turn + n_points
            block = nearest[active[0]]
            n_active += block >= 0
        else:  # its rows meet all points while they are in the cache
            block = turn
            if block % at_once == 0 and n_blocks > at_once and nearest[0] >= 0:
                count = min(at_once, n_blocks - block)
                _begin_blocks(rows, metric, X, bits, block, count, begins, ends)
            for p in range(n_points):
                active[n_active] = p
                n_active += begins[p, block % at_once] <= nearest_ends[p, 0] and block != nearest[p]
        if n_active == 0:
            continue
        start, stop = rows.block_at[block], rows.block_at[block + 1]
        count = stop - start
        if columns is not None:
            rounded = 0  # for so many points, a product shows which rows may be near
            scale, n_plain = 1.0, 0
            holed = 0
            for f in range(n_features):
                holed |= rows.holed[block, f]
            if (
                n_active >= _SEVERAL
                and n_features >= (_LEAST_HOLED if holed else _LEAST_PLAIN)
                and useful[holed] * _USEFUL >= tried[holed]
            ):
                rounded = (n_active + 3) // 4 * 4
                for q in range(n_active, rounded):
                    active[q] = active[0]
                tried[holed] += n_active
                scale, n_plain = _round_block(rows, block, centre, place, low, high, norms, sizes)
                _round_points(columns, active[:rounded], centre, scale, place, n_plain, Y, plain,
                              whole)  # fmt: skip
        if plan is not None:
            summed = -1  # the point that partial sums are of
            n_summed = 0
            if turn >= 0:
                n_summed = begin_sums(start, stop, rows.base.shape[0], partial)
        for q in range(n_active):
            p = active[q]
            top = nearest_ends[p, 0]
            n_few = -1  # how many rows may be near, if they are few
            if columns is not None:
                if q < rounded:
                    if q % 4 == 0:
                        _multiply(low, high, norms, Y, q, n_plain, n_features, count, sums)
                    most = _most_within(top, n_features, scale, plain[q], whole[q])
                    n_few = list_within(sums, q % 4, most, count, start, count // _FEW, row)
                    useful[holed] += n_few >= 0
            if plan is not None:
                if turn >= 0 and top < np.inf:
                    add_up(rows.boxes.low, rows.boxes.high, start, n_summed, X, plan, summed, p,
                           partial)  # fmt: skip
                    summed = p
                    most = most_of_sum(top, n_features)
                    n_few = list_within(partial, partial.shape[0] - 1, most, n_summed, start,
                                         count // _FEW_ALIKE, row)  # fmt: skip
            if bits is not None:
                within = top
                if within == np.inf:
                    within = first_reach(bits, p, start, count, n_neighbors, differing)
                room = count // _FEW_ALIKE
                n_few = list_alike(bits, p, within, start, count, room, differing, row)
            if n_few == 0:
                continue
            if n_few > 0:
                n_near = n_few
                bound_few(rows.base, rows.boxes.low, rows.boxes.high, rows.order,
                           rows.holed, block, X, p, row, n_near, near, far)  # fmt: skip
            else:
                if metric is None:
                    bound_squares(rows.boxes.low, rows.boxes.high, rows.holed, block, X, p, start,
                                   count, near, far)  # fmt: skip
                else:
                    _bound(rows, rows.boxes, metric, X[p], start, stop, near, far)
                n_near = 0
                for r in range(count):
                    n_near += near[r] <= top
                if n_near == 0:
                    continue
                n_near = count
                for r in range(count):
                    row[r] = rows.order[start + r]
            if n_found > limit and n_points > 1:
                return ending[0, :0], ending[0, :0], reach[:0], reach[:0]
            if n_found + n_near > found.shape[0]:
                found = _grown(found, n_found, 2 * (n_found + n_near))
            n_found = _keep(p, near, far, row, n_near, nearest_ends, ending, found, n_found)
    # Step 3: count what is within the final reach, copy it point by point, sort.
    ptr = np.empty(n_points + 1, np.int64)
    at = np.empty(n_points, np.int64)
    ptr[0] = 0
    for p in range(n_points):
        ptr[p + 1] = 0
        reach[p] = nearest_ends[p, 0]
    n_near = 0
    for i in range(n_found):  # of the rows that begin just there, only those up to its own are near
        p, begin = int(found[i, 0]), found[i, 2]
        if begin < reach[p] or (begin == reach[p] and found[i, 1] <= ending[p, 0]):
            ptr[p + 1] += 1
            for k in range(3):
                found[n_near, k] = found[i, k]
            n_near += 1
    for p in range(n_points):
        at[p] = ptr[p]
        ptr[p + 1] += ptr[p]
    out_row = np.empty(ptr[n_points], np.int64)
    out_bound = np.empty(ptr[n_points])
    for i in range(n_near):
        p = int(found[i, 0])
        out_row[at[p]] = int(found[i, 1])
        out_bound[at[p]] = found[i, 2]
        at[p] += 1
    _ascending(rows.base.shape[0], ptr, out_row, out_bound)
    return ptr, out_row, out_bound, reach


@part
def _ascending(n_rows, ptr, row, bound):
    """Sort every point's rows, and their bounds with them: equal distances go by that order.

    Few rows by insertion, others digit by digit, from the last one.
    """
    bits = 1
    while n_rows >> bits:
        bits += 1
    n_digits = (bits + 8) // 9
    width = (bits + n_digits - 1) // n_digits
    mask = (1 << width) - 1
    counts = np.empty(mask + 2, np.int64)
    most = 0
    for p in range(ptr.shape[0] - 1):
        most = max(most, ptr[p + 1] - ptr[p])
    keys = np.empty(most, np.int64)  # a row, and behind it where its bound is
    spare = np.empty(most, np.int64)
    bounds = np.empty(most)
    for p in range(ptr.shape[0] - 1):
        first, n = ptr[p], ptr[p + 1] - ptr[p]
        if n <= _INSERTION:
            for i in range(first + 1, first + n):
                moved, value = row[i], bound[i]
                at = i
                while at > first and row[at - 1] > moved:
                    row[at] = row[at - 1]
                    bound[at] = bound[at - 1]
                    at -= 1
                row[at] = moved
                bound[at] = value
            continue
        for i in range(n):
            keys[i] = row[first + i] << 32 | i
            bounds[i] = bound[first + i]
        for shift in range(32, 32 + bits, width):
            for b in range(mask + 2):
                counts[b] = 0
            for i in range(n):
                counts[((keys[i] >> shift) & mask) + 1] += 1
            for b in range(1, mask + 2):
                counts[b] += counts[b - 1]
            for i in range(n):
                bucket = (keys[i] >> shift) & mask
                spare[counts[bucket]] = keys[i]
                counts[bucket] += 1
            keys, spare = spare, keys
        for i in range(n):
            row[first + i] = keys[i] >> 32
            bound[first + i] = bounds[keys[i] & 0xFFFFFFFF]


@kernel
def bounds_of_row(rows, metric, X, place):
    """A lower bound of every point's distance to the row that stands at a place in the order."""
    found = np.empty(X.shape[0])
    far = np.empty(1)
    if metric is None:  # as `_bound` has it: a call for each point takes ten times as long
        low, high = rows.boxes.low, rows.boxes.high
        for p in range(X.shape[0]):
            near = 0.0
            for f in range(X.shape[1]):
                under = X[p, f] - low[f, place]
                over = high[f, place] - X[p, f]
                gap = under if under < over else over
                gap = gap if gap < 0.0 else 0.0
                near += gap * gap
            found[p] = near
        return found
    for p in range(X.shape[0]):
        _bound(rows, rows.boxes, metric, X[p], place, place + 1, found[p:], far)
    return found


@kernel
def local_labels(row_ptr, codes, n_classes):
    """Number the labels that occur around each point, in class order.

    codes is the class of every row of the block. Returns (side, ptr, present): a row's label as
    its number among the point's labels, and the classes present[ptr[p]:ptr[p+1]] so numbered.
    """
    n_points = row_ptr.shape[0] - 1
    side = np.empty(codes.shape[0], np.int64)
    ptr = np.empty(n_points + 1, np.int64)
    ptr[0] = 0
    present = np.empty(min(n_points * n_classes, codes.shape[0]), np.int64)
    number = np.empty(n_classes, np.int64)
    for p in range(n_points):
        for label in range(n_classes):
            number[label] = -1
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
