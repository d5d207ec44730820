"""Kernels that find where each near row begins and ends around a point, for certainty alone.

What is possible depends on a row's nearest and farthest candidate. Distances are sums over features
in feature order, and rounding is monotone: the smallest sum goes through the smallest partial sums,
cell by cell, and no product of cells is written out.

1. *Choose* the rows to open next: those whose boxes begin nearest.
2. *Measure* each opened row's smallest and largest distance.
3. *Sort* these as events, up to where the next box begins; a row that begins and ends at one
   position is one step.
4. *Sweep* over the events: `_minmax` finds labels that are possible. Go on until all are, or until
   the next box begins where K rows have ended.

Cosine is no sum. Up to `most_written` candidates of a row are gone through; beyond that the row
begins and ends where its dot products and norms, which are sums, allow it to at most. Then a label
that is found impossible is, but one that is found possible may not be.

Cost: O(d + values) per row; O(d + log values) for cells of one column whose values ascend.
"""

from __future__ import annotations

import numpy as np

from cpclean.queries._minmax import sweep
from cpclean.queries._terms import cosine_order, join, term_of
from cpclean.queries.kernel_arrays import (
    ASCENDING,
    COSINE,
    FIRST_CANDIDATE,
    FIRST_CELL,
    LINEAR,
    N_CELLS,
    N_VALUES,
    NORM,
    PRECOMPUTED,
    SIZE,
    START,
    STOP,
    VALUES_AT,
    WEIGHTS_AT,
)
from cpclean.queries.kernel_kinds import kernel, part

# The range in which boxes begin is divided into so many parts to find the nearest ones.
_PARTS = 64
_TINY = 1e-290
# Rows that are opened first, and how many times as many at the next attempt: often a few rows show
# every label around a point to be possible.
_FIRST, _PER_NEIGHBOUR, _TIMES = 4, 2, 3

# -- cells -------------------------------------------------------------------------------


@part
def _ascending_ends(values, at, size, metric, x, low, high):
    """The ends of a sum after a cell of one column whose values ascend: by bisection."""
    first, last = values[at], values[at + size - 1]
    is_dot = metric is not None and metric == LINEAR
    is_norm = metric is not None and metric == NORM
    if is_dot or is_norm:
        least = min(term_of(metric, first, x), term_of(metric, last, x))
    else:
        least = np.inf
    if not is_dot:  # the nearest to x, or to 0, is one of two neighbours
        middle = 0.0 if is_norm else x
        under, over = 0, size
        while under < over:
            probe = (under + over) // 2
            if values[at + probe] < middle:
                under = probe + 1
            else:
                over = probe
        for j in range(max(under - 1, 0), min(under + 1, size)):
            least = min(least, term_of(metric, values[at + j], x))
    most = max(term_of(metric, first, x), term_of(metric, last, x))
    return join(metric, low, least), join(metric, high, most)


@part
def _dense_ends(values, at, size, start, stop, metric, t, low, high):
    """The ends of a sum after a cell, from all of its values."""
    lowest, highest = np.inf, -np.inf
    if low == high:
        j = 0
        while j + 4 <= size:  # four at a time, so that the processor adds them in parallel
            a = b = c = d = low
            k = at + j
            for f in range(start, stop):
                x = t[f]
                a = join(metric, a, term_of(metric, values[k], x))
                b = join(metric, b, term_of(metric, values[k + 1], x))
                c = join(metric, c, term_of(metric, values[k + 2], x))
                d = join(metric, d, term_of(metric, values[k + 3], x))
                k += size
            lowest = min(lowest, min(min(a, b), min(c, d)))
            highest = max(highest, max(max(a, b), max(c, d)))
            j += 4
        for rest in range(j, size):
            a = low
            for f in range(start, stop):
                a = join(metric, a, term_of(metric, values[at + (f - start) * size + rest], t[f]))
            lowest = min(lowest, a)
            highest = max(highest, a)
        return lowest, highest
    for j in range(size):
        from_low, from_high = low, high
        for f in range(start, stop):
            term = term_of(metric, values[at + (f - start) * size + j], t[f])
            from_low = join(metric, from_low, term)
            from_high = join(metric, from_high, term)
        lowest = min(lowest, from_low)
        highest = max(highest, from_high)
    return lowest, highest


@part
def _sparse_ends(sparse, number, size, start, stop, metric, t, nonzero, low, high):
    """The same in a wide table of mostly zeros: what adds nothing is passed over."""
    lowest, highest = np.inf, -np.inf
    first = 0
    after = nonzero.shape[0]
    while first < after:
        probe = (first + after) // 2
        if nonzero[probe] < start:
            first = probe + 1
        else:
            after = probe
    for j in range(number, number + size):
        from_low, from_high = low, high
        k = first
        for v in range(sparse.at[j], sparse.at[j + 1] + 1):
            last = v == sparse.at[j + 1]  # behind the value's last: what is left of t
            column = stop if last else sparse.column[v]
            while k < nonzero.shape[0] and nonzero[k] < column:
                term = term_of(metric, 0.0, t[nonzero[k]])
                from_low = join(metric, from_low, term)
                from_high = join(metric, from_high, term)
                k += 1
            if not last:
                k += k < nonzero.shape[0] and nonzero[k] == column
                term = term_of(metric, sparse.value[v], t[column])
                from_low = join(metric, from_low, term)
                from_high = join(metric, from_high, term)
        lowest = min(lowest, from_low)
        highest = max(highest, from_high)
    return lowest, highest


# -- rows --------------------------------------------------------------------------------


@part
def _ends(base, span, cells, values, sparse, metric, t, nonzero):
    """Smallest and largest sum over the candidates of a row."""
    low = 0.0
    high = 0.0
    column = 0
    for cell in range(span[FIRST_CELL], span[FIRST_CELL] + span[N_CELLS]):
        start, stop, size = cells[cell, START], cells[cell, STOP], cells[cell, N_VALUES]
        for f in range(column, start):
            term = term_of(metric, base[f], t[f])
            low = join(metric, low, term)
            high = join(metric, high, term)
        if cells[cell, ASCENDING]:
            low, high = _ascending_ends(values, cells[cell, VALUES_AT], size, metric, t[start],
                                        low, high)  # fmt: skip
        elif sparse is not None and sparse.at.shape[0] > 0:
            low, high = _sparse_ends(sparse, cells[cell, WEIGHTS_AT], size, start, stop, metric, t,
                                     nonzero, low, high)  # fmt: skip
        else:
            low, high = _dense_ends(values, cells[cell, VALUES_AT], size, start, stop, metric, t,
                                    low, high)  # fmt: skip
        column = stop
    for f in range(column, t.shape[0]):
        term = term_of(metric, base[f], t[f])
        low = join(metric, low, term)
        high = join(metric, high, term)
    return low, high


@part
def _cosine_bounds(least_minus_dot, most_minus_dot, least_norm, most_norm):
    """Bounds of the cosine order from those of minus the dot product and of |x|^2."""
    low, high = 0.0, 0.0
    if most_norm > 0.0:
        near, far = -least_minus_dot, -most_minus_dot
        low = cosine_order(near, least_norm if near > 0.0 else most_norm)
        high = cosine_order(far, most_norm if far > 0.0 else least_norm)
        if least_norm == 0.0:  # the zero vector itself is at 0
            low = -np.inf if near > 0.0 else low
            high = np.inf if far < 0.0 else max(high, 0.0)
    return low, high


@part
def _cosine_ends(base, span, cells, values, sparse, t, live, chosen, live_at, dots, squares):
    """Smallest and largest cosine order of a row, candidate by candidate.

    The rest is scratch: the columns in which the base is not zero, the value of each cell, the
    columns that count before and behind it, and the sums before it.
    """
    first, n_cells = span[FIRST_CELL], span[N_CELLS]
    n_live = 0
    cell = 0
    live_at[0] = 0
    for f in range(t.shape[0]):
        while cell < n_cells and f == cells[first + cell, STOP]:
            cell += 1
            live_at[cell] = n_live
        if base[f] != 0.0 and (cell == n_cells or f < cells[first + cell, START]):
            live[n_live] = f
            n_live += 1
    for at in range(cell + 1, n_cells + 2):
        live_at[at] = n_live  # behind the last column there is nothing
    for at in range(n_cells):
        chosen[at] = 0
    dots[0] = 0.0
    squares[0] = 0.0
    lowest, highest = np.inf, -np.inf
    level = 0
    while level >= 0:
        # On from the first cell whose value has changed.
        for at in range(level, n_cells + 1):
            dot, norm = dots[at], squares[at]
            for g in range(live_at[at], live_at[at + 1]):
                f = live[g]
                dot += term_of(LINEAR, base[f], t[f])
                norm += base[f] * base[f]
            if at == n_cells:
                order = cosine_order(-dot, norm)
                lowest = min(lowest, order)
                highest = max(highest, order)
                break
            if sparse.at.shape[0] > 0:
                number = cells[first + at, WEIGHTS_AT] + chosen[at]
                for v in range(sparse.at[number], sparse.at[number + 1]):
                    dot += term_of(LINEAR, sparse.value[v], t[sparse.column[v]])
                    norm += sparse.value[v] * sparse.value[v]
            else:
                k = cells[first + at, VALUES_AT] + chosen[at]
                for f in range(cells[first + at, START], cells[first + at, STOP]):
                    dot += term_of(LINEAR, values[k], t[f])
                    norm += values[k] * values[k]
                    k += cells[first + at, N_VALUES]
            dots[at + 1], squares[at + 1] = dot, norm
        level = n_cells - 1
        while level >= 0:
            chosen[level] += 1
            if chosen[level] < cells[first + level, N_VALUES]:
                break
            chosen[level] = 0
            level -= 1
    return lowest, highest


# -- points ------------------------------------------------------------------------------


@part
def _count_begins(bounds, counts):
    """How many boxes begin in each part of the range in which boxes begin.

    Returns the start of the range and parts per distance; 0 if there is nothing to divide, and all
    boxes count as beginning in the first part.
    """
    lowest, highest = np.inf, -np.inf
    for local in range(bounds.shape[0]):
        lowest = min(lowest, bounds[local])
        highest = max(highest, bounds[local])
    scale = 0.0
    # A range that is smaller than this would make the scale overflow.
    if highest > lowest and highest - lowest > _TINY:
        scale = (counts.shape[0] - 1) / (highest - lowest)
    for place in range(counts.shape[0]):
        counts[place] = 0
    if not 0.0 < scale < np.inf:
        counts[0] = bounds.shape[0]
        return 0.0, 0.0
    for local in range(bounds.shape[0]):
        counts[np.int64((bounds[local] - lowest) * scale)] += 1
    return lowest, scale


@part
def _next_boxes(bounds, lowest, scale, done, last, opened):
    """The boxes that begin in parts done..last; returns how many, and where the next one begins."""
    n = 0
    next_begins = np.inf
    for local in range(bounds.shape[0]):
        place = np.int64((bounds[local] - lowest) * scale) if scale > 0.0 else 0
        opened[n] = local
        n += done <= place <= last
        if place > last:
            next_begins = min(next_begins, bounds[local])
    return n, next_begins


@part
def _keep_nearest(ends, n, end):
    """Put one more end among the nearest K, for which ends has room; returns how many there are.

    They are a heap: the farthest one comes first.
    """
    at = n
    if n < ends.shape[0]:
        while at > 0 and ends[(at - 1) // 2] < end:
            ends[at] = ends[(at - 1) // 2]
            at = (at - 1) // 2
        ends[at] = end
        return n + 1
    if end < ends[0]:
        at = 0
        while 2 * at + 1 < n:
            child = 2 * at + 1
            child += child + 1 < n and ends[child + 1] > ends[child]
            if ends[child] <= end:
                break
            ends[at] = ends[child]
            at = child
        ends[at] = end
    return n


@part
def _sorted_events(distance, event, n, limit, end, away, code):
    """Those of n events up to a limit and before an end, from near to far; returns how many.

    They come into away and code. Events at one distance are in the order of their numbers. A number
    becomes -1 - number where the next event is at the same position.
    """
    n_listed = np.int64(0)  # not a literal, for which what it is handed to is compiled once more
    for i in range(n):
        away[n_listed] = distance[i]
        code[n_listed] = event[i]
        n_listed += distance[i] <= limit and distance[i] < end
    gap = 1
    while gap < n_listed:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n_listed):
            far, one = away[i], code[i]
            at = i
            while at >= gap and (
                away[at - gap] > far or (away[at - gap] == far and code[at - gap] > one)
            ):
                away[at] = away[at - gap]
                code[at] = code[at - gap]
                at -= gap
            away[at] = far
            code[at] = one
        gap //= 3
    for i in range(n_listed - 1):
        if code[i] & 1 == 0 and code[i + 1] == code[i] + 1 and away[i + 1] == away[i]:
            code[i] = -1 - code[i]
    return n_listed


@kernel
def extremes(rows, sparse, metric, X, near_ptr, near, bound, reach, n_neighbors, most_written, side,
             label_ptr, present, found):  # fmt: skip
    """The near rows' nearest and farthest candidates, as events from near to far.

    Opens the rows whose bounding boxes begin nearest, then more of them, until the next box begins
    where K rows have ended: no later event matters. Or, if the labels of the near rows are given,
    until all of them are found possible; see `_minmax.possible` for these arguments, where
    side is empty if only the events are wanted. metric is None for the Euclidean, and sparse is
    None unless the table is wide or the metric is cosine: what only others need is not compiled.

    Returns (ptr, event), where point p has event[ptr[p]:ptr[p+1]]. An event 2 i says that the i-th
    near row of the point begins, 2 i + 1 that it has ended. Stored as -1 - event where the next
    event is at the same position: a row that begins and ends at once.
    """
    base, spans, cells, values = rows.base, rows.spans, rows.cells, rows.values
    n_points = X.shape[0]
    wants_labels = side.shape[0] > 0
    most = 1
    most_cells = 0
    for p in range(n_points):
        most = max(most, near_ptr[p + 1] - near_ptr[p])
    if metric is not None and metric == COSINE:
        for i in range(near.shape[0]):
            most_cells = max(most_cells, spans[near[i], N_CELLS])
    ptr = np.empty(n_points + 1, np.int64)
    for p in range(n_points + 1):
        ptr[p] = 0
    out = np.empty(0 if wants_labels else 2 * near.shape[0], np.int64)
    opened = np.empty(most + 1, np.int64)  # one more: the last is written before it is kept
    ends = np.empty(n_neighbors)
    counts = np.empty(_PARTS, np.int64)
    event = np.empty(2 * most, np.int64)
    distance = np.empty(2 * most)
    code = np.empty(2 * most + 1, np.int64)
    away = np.empty(2 * most + 1)
    tally = np.empty((2, found.shape[1]), np.int64)
    nonzero = code[:0]
    if sparse is not None:
        chosen = np.empty(most_cells, np.int64)
        dots = np.empty(most_cells + 1)
        squares = np.empty(most_cells + 1)
        live = np.empty(base.shape[1], np.int64)
        live_at = np.empty(most_cells + 2, np.int64)
        filled = np.empty(X.shape[1] + 1, np.int64)  # one more, likewise
    for p in range(n_points):
        own = near[near_ptr[p] : near_ptr[p + 1]]
        bounds = bound[near_ptr[p] : near_ptr[p + 1]]
        t = X[p]
        if sparse is not None and sparse.at.shape[0] > 0:
            n_nonzero = 0
            for f in range(t.shape[0]):
                filled[n_nonzero] = f
                n_nonzero += t[f] != 0.0
            nonzero = filled[:n_nonzero]
        lowest, scale = _count_begins(bounds, counts)
        wanted = _FIRST + _PER_NEIGHBOUR * n_neighbors
        done = np.int64(0)
        total = 0
        n = np.int64(0)
        n_ended = np.int64(0)
        limit = reach[p]
        while True:
            # Step 1: choose the next rows to open.
            last = done
            total += counts[last]
            while total < wanted and last + 1 < _PARTS:
                last += 1
                total += counts[last]
            n_opened, next_begins = _next_boxes(bounds, lowest, scale, done, last, opened)
            # Step 2: where each of them begins and ends, as long as that matters.
            for i in range(n_opened):
                local = opened[i]
                if bounds[local] > limit:
                    continue
                row = own[local]
                span = spans[row]
                if metric is not None and metric == PRECOMPUTED:
                    at = span[FIRST_CANDIDATE]
                    low = high = t[at]
                    for j in range(at + 1, at + span[SIZE]):
                        low = min(low, t[j])
                        high = max(high, t[j])
                elif sparse is not None and metric is not None and metric == COSINE:
                    if span[SIZE] <= most_written:
                        low, high = _cosine_ends(base[row], span, cells, values, sparse, t, live,
                                                 chosen, live_at, dots, squares)  # fmt: skip
                    else:
                        dot = _ends(base[row], span, cells, values, sparse, np.int64(LINEAR), t,
                                    nonzero)  # fmt: skip
                        norm = _ends(base[row], span, cells, values, sparse, np.int64(NORM), t,
                                     nonzero)  # fmt: skip
                        low, high = _cosine_bounds(dot[0], dot[1], norm[0], norm[1])
                else:
                    low, high = _ends(base[row], span, cells, values, sparse, metric, t, nonzero)
                event[n], event[n + 1] = 2 * local, 2 * local + 1
                distance[n], distance[n + 1] = low, high
                n += 2
                n_ended = _keep_nearest(ends, n_ended, high)
                if n_ended == n_neighbors:
                    limit = min(limit, ends[0])
            # Step 3: events from near to far, up to where the next box begins.
            n_listed = _sorted_events(distance, event, n, limit, next_begins, away, code)
            if wants_labels:
                own_side = side[near_ptr[p] : near_ptr[p + 1]]
                labels = present[label_ptr[p] : label_ptr[p + 1]]
                if sweep(code, n_listed, own_side, labels, n_neighbors, tally, found[p]):
                    break
            if next_begins == np.inf or next_begins > limit:
                break
            done = last + 1
            wanted = _TIMES * total
        if not wants_labels:
            for i in range(n_listed):
                out[ptr[p] + i] = code[i]
            ptr[p + 1] = ptr[p] + n_listed
    return ptr, out[: ptr[n_points]]
