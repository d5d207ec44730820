"""Kernels that bring candidates into THE total order around one query point.

Nearer comes first; at equal distance the smaller row comes first; candidates of one row at
equal distance are one position. Every distance is a sum over features in feature order, so
equal vectors tie exactly whichever way they were built, and since rounding is monotone, the
same sum over a row's bounding box bounds the row's distances with no margin needed.

Steps for one query point, and their cost (N rows, d features, R near rows, P positions):

1. `near_rows`    lower and upper bounds of every row's distances from its box; the K-th smallest
                  upper bound is the *reach*; rows that start beyond it are in no world's
                  top K.                                                              O(N d)
2. `positions`    distances of the near rows' candidates, cell by cell, merged within a row,
                  sorted, with the prior mass that lies farther in the same row.      O(P d)
3. `extremes`     for certainty alone: only each near row's smallest and largest distance,
                  without writing out the product of a factored row.                  O(R d)

Kernels that call each other share this file: the compilation cache does not see edits to a
callee in another file.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

EUCLIDEAN, MANHATTAN, CHEBYSHEV, LINEAR, COSINE, PRECOMPUTED = range(6)
_NORM = 6  # |x|^2, summed like a distance

_BLOCK = 256  # rows bounded at a time, so that the bounds stay in the first-level cache
_MERGE_FROM = 16  # rows with more candidates look for equal distances before sorting
_MERGE_WITH = 4  # how many of the row's latest distances are compared
_INSERTION = 24  # buckets up to this size are sorted by insertion
_OPEN_FIRST = 32  # rows opened before the first look at how much is still undecided

# Unsigned numbers: an index that cannot be negative needs no check for counting from the end.
_0, _1, _2, _3, _4 = (np.uint64(number) for number in range(5))


class Rows(NamedTuple):
    """The arrays of an incomplete dataset, as kernels want them (few: each one costs a call)."""

    base: np.ndarray  # (N, d) the first candidate of every row
    spans: np.ndarray  # (N, 4) first cell, number of cells, of candidates, first flat candidate
    cells: np.ndarray  # (C, 5) first column, end, number of values, where values, weights begin
    values: np.ndarray  # every cell's values, column by column
    weights: np.ndarray  # every cell's prior
    low: np.ndarray  # (d, N) the bounding box of every row
    high: np.ndarray  # (d, N)
    norms: np.ndarray  # (2, N) bounds of |x|^2, for cosine


# -- 1. near rows ----------------------------------------------------------------------


@njit(cache=True, nogil=True)
def _cosine_order(dot, norm):
    """Minus the signed square of dot / |x|: the order of cosine distance, exact on grids."""
    if norm == 0.0:
        return 0.0
    square = dot * dot / norm
    return -square if dot > 0.0 else square


@njit(cache=True, nogil=True)
def _bound_block(rows, metric, t, first, count, near, far):
    """Bounds of the distances of rows first..first+count-1 from their boxes."""
    if metric == PRECOMPUTED:
        for r in range(count):
            at = rows.spans[first + r, 3]
            own = t[at : at + rows.spans[first + r, 2]]
            near[r] = own.min()
            far[r] = own.max()
        return
    for r in range(count):
        near[r] = 0.0
        far[r] = 0.0
    for f in range(t.shape[0]):
        x = t[f]
        low = rows.low[f, first : first + count]
        high = rows.high[f, first : first + count]
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
        else:  # linear, and the dot product of cosine
            for r in range(count):
                one = low[r] * x
                two = high[r] * x
                near[r] -= one if one > two else two
                far[r] -= one if one < two else two
    if metric == COSINE:
        for r in range(count):
            _bound_cosine(-near[r], -far[r], rows.norms[0, first + r],
                          rows.norms[1, first + r], r, near, far)


@njit(cache=True, nogil=True)
def _bound_cosine(dot_high, dot_low, norm_low, norm_high, r, near, far):
    if norm_high == 0.0:  # nothing but the zero vector
        near[r] = 0.0
        far[r] = 0.0
        return
    if dot_high > 0.0:
        near[r] = -np.inf if norm_low == 0.0 else _cosine_order(dot_high, norm_low)
    else:
        near[r] = _cosine_order(dot_high, norm_high)
    if dot_low > 0.0:
        far[r] = _cosine_order(dot_low, norm_high)
    else:
        far[r] = np.inf if norm_low == 0.0 else _cosine_order(dot_low, norm_low)


@njit(cache=True, nogil=True)
def _replace_top(heap, value):
    """Put a value in place of the largest of a max-heap."""
    size = heap.shape[0]
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and heap[child + 1] > heap[child]:
            child += 1
        if heap[child] <= value:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = value


@njit(cache=True, nogil=True)
def _grown(array, used, size):
    larger = np.empty(size, array.dtype)
    larger[:used] = array[:used]
    return larger


@njit(cache=True, nogil=True)
def near_rows(rows, metric, X, n_neighbors):
    """Rows that can be among the nearest, for every point of a block.

    Returns (ptr, near, bound, reach): point p has rows near[ptr[p]:ptr[p+1]], in ascending order,
    whose distances are at least bound; no candidate beyond distance reach[p] can be the
    point's K-th nearest in any world.
    """
    n_rows = rows.base.shape[0]
    ptr = np.zeros(X.shape[0] + 1, np.int64)
    reach = np.empty(X.shape[0])
    found = np.empty(4096, np.int64)
    found_bound = np.empty(4096)
    kept = np.empty(n_rows, np.int64)
    kept_bound = np.empty(n_rows)
    near = np.empty(_BLOCK)
    far = np.empty(_BLOCK)
    heap = np.empty(n_neighbors)
    for p in range(X.shape[0]):
        heap[:] = np.inf
        n_kept = 0
        for first in range(0, n_rows, _BLOCK):
            count = min(_BLOCK, n_rows - first)
            _bound_block(rows, metric, X[p], first, count, near, far)
            for r in range(count):
                if far[r] < heap[0]:
                    _replace_top(heap, far[r])
            top = heap[0]
            for r in range(count):
                if near[r] <= top:
                    kept[n_kept] = first + r
                    kept_bound[n_kept] = near[r]
                    n_kept += 1
        at = ptr[p]
        if at + n_kept > found.shape[0]:
            found = _grown(found, at, 2 * (at + n_kept))
            found_bound = _grown(found_bound, at, 2 * (at + n_kept))
        for i in range(n_kept):
            if kept_bound[i] <= heap[0]:
                found[at] = kept[i]
                found_bound[at] = kept_bound[i]
                at += 1
        ptr[p + 1] = at
        reach[p] = heap[0]
    return ptr, found[: ptr[-1]].copy(), found_bound[: ptr[-1]].copy(), reach


# -- 2. positions ----------------------------------------------------------------------


@njit(cache=True, nogil=True)
def _term(metric, value, x):
    """What one feature adds to a distance."""
    if metric == EUCLIDEAN:
        gap = value - x
        return gap * gap
    if metric == LINEAR:
        return -(value * x)
    if metric == _NORM:
        return value * value
    return abs(value - x)


@njit(cache=True, nogil=True)
def _join(metric, total, term):
    if metric == CHEBYSHEV:
        return term if term > total else total
    return total + term


@njit(cache=True, nogil=True)
def _sums(base, first_cell, n_cells, cells, values, metric, t, terms, total):
    """One sum a candidate of a row, always in feature order.

    Cell by cell, every partial sum branches into one for each of the cell's values, four at a
    time so that the processor adds them side by side.
    """
    n_features = t.shape[0]
    for f in range(n_features):
        terms[f] = _term(metric, base[f], t[f])
    count = 1
    total[0] = 0.0
    column = 0
    for cell in range(first_cell, first_cell + n_cells):
        start = cells[cell, 0]
        stop = cells[cell, 1]
        size = np.uint64(cells[cell, 2])
        at = np.uint64(cells[cell, 3])
        end = n_features if cell == first_cell + n_cells - 1 else stop
        for e in range(count - 1, -1, -1):  # from the end: partial sums are branched in place
            before = total[e]
            for f in range(column, start):
                before = _join(metric, before, terms[f])
            out = np.uint64(e) * size
            j = size
            while j >= _4:
                j -= _4
                a = b = c = d = before
                k = at + j
                for f in range(start, stop):
                    x = t[f]
                    a = _join(metric, a, _term(metric, values[k], x))
                    b = _join(metric, b, _term(metric, values[k + _1], x))
                    c = _join(metric, c, _term(metric, values[k + _2], x))
                    d = _join(metric, d, _term(metric, values[k + _3], x))
                    k += size
                for f in range(stop, end):
                    a = _join(metric, a, terms[f])
                    b = _join(metric, b, terms[f])
                    c = _join(metric, c, terms[f])
                    d = _join(metric, d, terms[f])
                total[out + j] = a
                total[out + j + _1] = b
                total[out + j + _2] = c
                total[out + j + _3] = d
            while j > _0:
                j -= _1
                a = before
                k = at + j
                for f in range(start, stop):
                    a = _join(metric, a, _term(metric, values[k], t[f]))
                    k += size
                for f in range(stop, end):
                    a = _join(metric, a, terms[f])
                total[out + j] = a
        column = end
        count *= cells[cell, 2]
    if n_cells == 0:
        for f in range(n_features):
            total[0] = _join(metric, total[0], terms[f])


@njit(cache=True, nogil=True)
def _distances(base, span, cells, values, metric, t, terms, total, norm):
    """Distances of all candidates of a row, in the order of their numbers."""
    if metric == PRECOMPUTED:
        for j in range(span[2]):
            total[j] = t[span[3] + j]
    elif metric == COSINE:
        _sums(base, span[0], span[1], cells, values, LINEAR, t, terms, total)
        _sums(base, span[0], span[1], cells, values, _NORM, t, terms, norm)
        for j in range(span[2]):
            total[j] = _cosine_order(-total[j], norm[j])
    else:
        _sums(base, span[0], span[1], cells, values, metric, t, terms, total)


@njit(cache=True, nogil=True)
def _product_weights(span, cells, weights, out):
    """Prior weights of all candidates of a factored row: the product over its cells."""
    count = 1
    out[0] = 1.0
    for cell in range(span[0], span[0] + span[1]):
        size = cells[cell, 2]
        at = cells[cell, 4]
        for e in range(count - 1, -1, -1):
            whole = out[e]
            for j in range(size):
                out[e * size + j] = whole * weights[at + j]
        count *= size


@njit(cache=True, nogil=True)
def _sort(distance, order, spare, counts):
    """Stable sort: fills order with the positions of `distance` from near to far.

    Distances fall into as many equal buckets as there are of them, in time linear in their
    number; what shares a bucket is sorted by insertion, or by merging where many do.
    """
    n = distance.shape[0]
    if n == 0:
        return
    low = distance[0]
    high = distance[0]
    for i in range(n):
        low = min(low, distance[i])
        high = max(high, distance[i])
    width = high - low
    scale = (n - 1) / width if 0.0 < width < np.inf else 0.0
    scattered = 0.0 < scale < np.inf  # else one bucket: all equal, or bounds without end
    counts[: n + 1] = 0
    for i in range(n):
        bucket = int((distance[i] - low) * scale) if scattered else 0
        spare[i] = bucket
        counts[bucket + 1] += 1
    for b in range(1, n + 1):
        counts[b] += counts[b - 1]
    for i in range(n):
        bucket = spare[i]
        order[counts[bucket]] = i
        counts[bucket] += 1
    start = 0
    for b in range(n):  # counts[b] is now where bucket b ends
        stop = counts[b]
        if stop - start > _INSERTION:
            own = order[start:stop].copy()
            inner = np.argsort(distance[own], kind="mergesort")
            for i in range(stop - start):
                order[start + i] = own[inner[i]]
        else:
            for i in range(start + 1, stop):
                moved = order[i]
                value = distance[moved]
                at = i
                while at > start and distance[order[at - 1]] > value:
                    order[at] = order[at - 1]
                    at -= 1
                order[at] = moved
        start = stop


class Positions(NamedTuple):
    """Sorted positions of a block of points.

    Point p has rows row_ptr[p]..row_ptr[p+1]-1 and positions ptr[p]..ptr[p+1]-1.
    """

    row_ptr: np.ndarray
    rows: np.ndarray  # the rows that matter, ascending
    beyond: np.ndarray  # the prior mass of each that lies beyond the last position
    ptr: np.ndarray
    owner: np.ndarray  # the position's row, as its place among the point's rows
    weight: np.ndarray  # prior mass at the position
    far: np.ndarray  # prior mass of the row that lies farther than the position
    rank: np.ndarray  # for every candidate of the rows: its position, or -1 beyond the last


@njit(cache=True, nogil=True)
def _undecided(opened, pool, distance, weight, radius, nearer):
    """An upper bound on the mass of worlds with fewer than K rows within radius."""
    nearer[:] = 0.0
    nearer[0] = 1.0
    n_whole = 0
    for q in range(opened.shape[0]):
        local = opened[q]
        start, stop, shift = pool[local, 0], pool[local, 1], pool[local, 2]
        outside = 0.0
        inside = 0.0
        n_outside = 0
        for e in range(start, stop):  # no branches: they could not be foreseen
            out = distance[e] > radius
            outside += weight[e + shift] if out else 0.0
            inside += 0.0 if out else weight[e + shift]
            n_outside += out
        n_whole += n_outside == 0
        for k in range(nearer.shape[0] - 1, 0, -1):
            nearer[k] = outside * nearer[k] + inside * nearer[k - 1]
        nearer[0] *= outside
    # Zero is believed only when it is a fact, not an underflow: K rows lie wholly within.
    if n_whole >= nearer.shape[0]:
        return 0.0
    return max(nearer.sum(), np.finfo(np.float64).tiny)


@njit(cache=True, nogil=True)
def positions(rows, metric, X, near_ptr, near, bound, reach, n_neighbors, slack, want_rank):
    """Positions from near to far, for every point of a block, as far as they can matter.

    Rows are opened (their distances computed) from the nearest bounding box outwards. Where the
    next box begins, the mass of worlds still undecided is bounded; once it is at most `slack`,
    all that lies farther is left out. With slack 0 nothing that matters in any world is left out.
    """
    base, spans, cells, values = rows.base, rows.spans, rows.cells, rows.values
    n_points = X.shape[0]
    capacity = 1
    largest = 1
    most = 1
    for p in range(n_points):
        own = 0
        for i in range(near_ptr[p], near_ptr[p + 1]):
            own += spans[near[i], 2]
            largest = max(largest, spans[near[i], 2])
        capacity = max(capacity, own)
        most = max(most, near_ptr[p + 1] - near_ptr[p])
    row_ptr = np.zeros(n_points + 1, np.int64)
    ptr = np.zeros(n_points + 1, np.int64)
    out_rows = np.empty(near.shape[0], np.int64)
    out_beyond = np.empty(near.shape[0])
    out_owner = np.empty(capacity, np.int64)
    out_weight = np.empty(capacity)
    out_far = np.empty(capacity)
    rank = np.empty(capacity if want_rank else 0, np.int64)
    n_ranked = 0
    # The rows' own weights, then the certain candidate's 1, then room for products of cells.
    n_weights = rows.weights.shape[0]
    all_weights = np.empty(n_weights + 1 + (capacity if spans[:, 1].max() > 1 else 0))
    all_weights[:n_weights] = rows.weights
    all_weights[n_weights] = 1.0
    opened = np.empty(most, np.int64)
    pool = np.empty((most, 3), np.int64)  # start and end of a row in the pool; shift to weights
    pool_distance = np.empty(capacity)
    distance = np.empty(capacity)
    weight = np.empty(capacity)
    owner = np.empty(capacity, np.int64)
    farther = np.empty(most)
    order = np.empty(capacity, np.int64)
    spare = np.empty(capacity, np.int64)
    counts = np.empty(capacity + 1, np.int64)
    terms = np.empty(rows.base.shape[1])
    norm = np.empty(largest if metric == COSINE else 1)
    nearer = np.empty(n_neighbors)
    for p in range(n_points):
        begin = near_ptr[p]
        n_near = near_ptr[p + 1] - begin
        _sort(bound[begin : begin + n_near], opened, spare, counts)
        pool[:n_near, 1] = -1
        n_opened = 0
        used = 0
        products = n_weights + 1
        target = _OPEN_FIRST
        while True:
            target = min(target, n_near)
            for q in range(n_opened, target):
                local = opened[q]
                row = near[begin + local]
                span = spans[row]
                _distances(base[row], span, cells, values, metric, X[p], terms,
                           pool_distance[used:], norm)
                pool[local, 0] = used
                if span[1] == 0:
                    pool[local, 2] = n_weights - used
                elif span[1] == 1:
                    pool[local, 2] = cells[span[0], 4] - used
                else:
                    pool[local, 2] = products - used
                    _product_weights(span, cells, rows.weights, all_weights[products:])
                    products += span[2]
                used += span[2]
                pool[local, 1] = used
            n_opened = target
            radius = reach[p]
            if n_opened == n_near:
                break
            # Rows not opened begin here or farther: only what is strictly nearer is complete.
            radius = np.nextafter(bound[begin + opened[n_opened]], -np.inf)
            if _undecided(opened[:n_opened], pool, pool_distance, all_weights, radius,
                          nearer) <= slack:
                break
            target += target // 2
        n = 0
        place = 0
        ranked_from = n_ranked
        if want_rank and n_ranked + used > rank.shape[0]:
            rank = _grown(rank, n_ranked, 2 * (n_ranked + used))
        for local in range(n_near):
            start, stop, shift = pool[local, 0], pool[local, 1], pool[local, 2]
            if stop < 0:
                continue
            mine = n
            beyond = 0.0
            many = stop - start > _MERGE_FROM
            for e in range(start, stop):
                mass = all_weights[e + shift]
                into = n
                if many:
                    for other in range(n - 1, max(mine, n - _MERGE_WITH) - 1, -1):
                        if distance[other] == pool_distance[e]:
                            into = other
                            break
                    mass += weight[into] if into < n else 0.0
                # Written in any case, kept if within: a branch here could not be foreseen.
                out = pool_distance[e] > radius
                distance[into] = pool_distance[e]
                weight[into] = mass
                owner[into] = place
                beyond += mass if out else 0.0
                n += into == n and not out
                if want_rank:
                    rank[n_ranked] = -1 if out else into
                    n_ranked += 1
            out_rows[row_ptr[p] + place] = near[begin + local]
            out_beyond[row_ptr[p] + place] = beyond
            farther[place] = beyond
            place += 1
        row_ptr[p + 1] = row_ptr[p] + place
        if ptr[p] + n > out_owner.shape[0]:
            size = 2 * (ptr[p] + n)
            out_owner = _grown(out_owner, ptr[p], size)
            out_weight = _grown(out_weight, ptr[p], size)
            out_far = _grown(out_far, ptr[p], size)
        _sort(distance[:n], order, spare, counts)
        at = ptr[p] - 1
        for i in range(n):
            one = order[i]
            if i == 0 or owner[one] != out_owner[at] or distance[one] != distance[order[i - 1]]:
                at += 1
                out_owner[at] = owner[one]
                out_weight[at] = weight[one]
            else:
                out_weight[at] += weight[one]
            spare[one] = at - ptr[p]
        ptr[p + 1] = at + 1
        for i in range(ranked_from, n_ranked):
            if rank[i] >= 0:
                rank[i] = spare[rank[i]]
        for at in range(ptr[p + 1] - 1, ptr[p] - 1, -1):
            out_far[at] = farther[out_owner[at]]
            farther[out_owner[at]] += out_weight[at]
    n = ptr[n_points]
    n_rows = row_ptr[n_points]
    return Positions(row_ptr, out_rows[:n_rows], out_beyond[:n_rows], ptr, out_owner[:n],
                     out_weight[:n], out_far[:n], rank[:n_ranked])


# -- 3. extremes -----------------------------------------------------------------------


@njit(cache=True, nogil=True)
def _chain_extremes(base, span, cells, values, metric, t):
    """Smallest and largest distance of a factored row, without its product of values.

    Rounding is monotone, so the smallest sum goes through the smallest partial sums.
    """
    low = 0.0
    high = 0.0
    column = 0
    for cell in range(span[0], span[0] + span[1]):
        start, stop, size, at = cells[cell, 0], cells[cell, 1], cells[cell, 2], cells[cell, 3]
        for f in range(column, start):
            low = _join(metric, low, _term(metric, base[f], t[f]))
            high = _join(metric, high, _term(metric, base[f], t[f]))
        lowest = np.inf
        highest = -np.inf
        for j in range(size):
            from_low = low
            from_high = high
            for f in range(start, stop):
                term = _term(metric, values[at + (f - start) * size + j], t[f])
                from_low = _join(metric, from_low, term)
                from_high = _join(metric, from_high, term)
            lowest = min(lowest, from_low)
            highest = max(highest, from_high)
        low = lowest
        high = highest
        column = stop
    for f in range(column, t.shape[0]):
        low = _join(metric, low, _term(metric, base[f], t[f]))
        high = _join(metric, high, _term(metric, base[f], t[f]))
    return low, high


@njit(cache=True, nogil=True)
def extremes(rows, metric, X, near_ptr, near, reach):
    """Each near row's nearest and farthest candidate, as events from near to far.

    Returns (ptr, event): point p has event[ptr[p]:ptr[p+1]]. An event 2 i says that the i-th near
    row of the point begins, 2 i + 1 that it has ended; what lies beyond reach is left out. Stored as
    -1 - event where the next event is at the same position: a row that begins and ends at once.
    """
    base, spans, cells, values = rows.base, rows.spans, rows.cells, rows.values
    n_points = X.shape[0]
    largest = 1
    most = 1
    for p in range(n_points):
        most = max(most, near_ptr[p + 1] - near_ptr[p])
    for row in near:
        if spans[row, 1] < 2 or metric == COSINE or metric == PRECOMPUTED:
            largest = max(largest, spans[row, 2])
    ptr = np.zeros(n_points + 1, np.int64)
    out = np.empty(2 * near.shape[0], np.int64)
    event = np.empty(2 * most + 1, np.int64)  # one more: the last is written before it is kept
    distance = np.empty(2 * most + 1)
    order = np.empty(2 * most, np.int64)
    spare = np.empty(2 * most, np.int64)
    counts = np.empty(2 * most + 1, np.int64)
    terms = np.empty(rows.base.shape[1])
    total = np.empty(largest)
    norm = np.empty(largest)
    for p in range(n_points):
        n = 0
        for local in range(near_ptr[p + 1] - near_ptr[p]):
            row = near[near_ptr[p] + local]
            span = spans[row]
            if span[1] > 1 and metric != COSINE and metric != PRECOMPUTED:
                low, high = _chain_extremes(base[row], span, cells, values, metric, X[p])
            else:
                _distances(base[row], span, cells, values, metric, X[p], terms, total, norm)
                low = total[0]
                high = total[0]
                for j in range(1, span[2]):
                    low = total[j] if total[j] < low else low
                    high = total[j] if total[j] > high else high
            event[n] = 2 * local
            distance[n] = low
            n += low <= reach[p]
            event[n] = 2 * local + 1
            distance[n] = high
            n += high <= reach[p]
        _sort(distance[:n], order, spare, counts)
        at = ptr[p]
        for i in range(n):
            one = order[i]
            joined = (i + 1 < n and event[order[i + 1]] == event[one] + 1
                      and event[one] % 2 == 0 and distance[order[i + 1]] == distance[one])
            out[at] = -1 - event[one] if joined else event[one]
            at += 1
        ptr[p + 1] = at
    return ptr, out[: ptr[n_points]]


# -- labels around a point ---------------------------------------------------------------


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
