"""Kernels that find where each near row begins and ends around a point, for certainty alone.

What is possible depends on a row's nearest and farthest candidate. Distances are sums over features
in feature order, and rounding is monotone: the smallest sum goes through the smallest partial sums,
cell by cell, and no product of cells is written out.

1. *Choose* the rows to open: all of them, or those whose boxes begin nearest.
2. *Measure* each opened row's smallest and largest distance.
3. *Sort* these as events; a row that begins and ends at one position is one step.

Cosine is no sum. Up to `most_written` candidates of a row are gone through; beyond that the row
begins and ends where its dot products and norms, which are sums, allow it to at most. Then a label
that is found impossible is, but one that is found possible may not be.

Cost: O(d + values) per row; O(d + log values) for cells of one column whose values ascend.
"""

from __future__ import annotations

import numpy as np
from numba import njit

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

# -- cells -------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def _ascending_ends(values, at, size, metric, x, low, high):
    """The ends of a sum after a cell of one column whose values ascend: by bisection."""
    first, last = values[at], values[at + size - 1]
    if metric == LINEAR or metric == NORM:
        least = min(term_of(metric, first, x), term_of(metric, last, x))
    else:
        least = np.inf
    if metric != LINEAR:  # the nearest to x, or to 0, is one of two neighbours
        middle = 0.0 if metric == NORM else x
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def _sparse_ends(sparse, number, size, start, stop, metric, t, nonzero, low, high):
    """The same in a wide table of mostly zeros: what adds nothing is passed over."""
    lowest, highest = np.inf, -np.inf
    first = np.searchsorted(nonzero, start)
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


@njit(cache=True, nogil=True)
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
        elif sparse.at.shape[0] > 0:
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


@njit(cache=True, nogil=True)
def _cosine_bounds(minus_dot, norm):
    """Bounds of the cosine order from those of minus the dot product and of |x|^2."""
    low, high = 0.0, 0.0
    if norm[1] > 0.0:
        near, far = -minus_dot[0], -minus_dot[1]
        low = cosine_order(near, norm[0] if near > 0.0 else norm[1])
        high = cosine_order(far, norm[1] if far > 0.0 else norm[0])
        if norm[0] == 0.0:  # the zero vector itself is at 0
            low = -np.inf if near > 0.0 else low
            high = np.inf if far < 0.0 else max(high, 0.0)
    return low, high


@njit(cache=True, nogil=True)
def _cosine_ends(base, span, cells, values, sparse, t, live, chosen, live_at, dots, squares):
    """Smallest and largest cosine order of a row, candidate by candidate.

    The rest is scratch: the columns in which the base is not zero, the value of each cell, the
    columns that count before and behind it, and the sums before it.
    """
    first, n_cells = span[FIRST_CELL], span[N_CELLS]
    wide = sparse.at.shape[0] > 0
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
    live_at[cell + 1 : n_cells + 2] = n_live  # behind the last column there is nothing
    chosen[:n_cells] = 0
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
            if wide:
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


@njit(cache=True, nogil=True)
def extremes(rows, metric, X, near_ptr, near, bound, reach, most_opened, most_written):
    """The near rows' nearest and farthest candidates, as events from near to far.

    Opens at most `most_opened` rows per point, from the nearest bounding box outwards; events are
    listed up to where the next box begins, or up to reach. Returns (ptr, event, complete): point p
    has event[ptr[p]:ptr[p+1]], and complete[p] says that these are all. An event 2 i says that the
    i-th near row of the point begins, 2 i + 1 that it has ended. Stored as -1 - event where the
    next event is at the same position: a row that begins and ends at once.
    """
    base, spans, cells, values, sparse = rows.base, rows.spans, rows.cells, rows.values, rows.sparse
    n_points = X.shape[0]
    most = 1
    most_cells = 0
    for p in range(n_points):
        most = max(most, near_ptr[p + 1] - near_ptr[p])
    for row in near:
        most_cells = max(most_cells, spans[row, N_CELLS])
    ptr = np.zeros(n_points + 1, np.int64)
    out = np.empty(2 * near.shape[0], np.int64)
    complete = np.empty(n_points, np.bool_)
    opened = np.empty(most, np.int64)
    event = np.empty(2 * most + 1, np.int64)  # one more: the last is written before it is kept
    distance = np.empty(2 * most + 1)
    chosen = np.empty(most_cells, np.int64)
    dots = np.empty(most_cells + 1)
    squares = np.empty(most_cells + 1)
    live = np.empty(base.shape[1], np.int64)
    live_at = np.empty(most_cells + 2, np.int64)
    for p in range(n_points):
        # Step 1: choose the rows to open.
        own = near[near_ptr[p] : near_ptr[p + 1]]
        bounds = bound[near_ptr[p] : near_ptr[p + 1]]
        t = X[p]
        nonzero = np.flatnonzero(t)
        radius = reach[p]
        n_opened = own.shape[0]
        complete[p] = n_opened <= most_opened
        if complete[p]:
            opened[:n_opened] = np.arange(n_opened)
        else:
            next_begins = np.partition(bounds, most_opened)[most_opened]
            radius = np.nextafter(next_begins, -np.inf)
            n_opened = 0
            for local in range(bounds.shape[0]):
                opened[n_opened] = local
                n_opened += bounds[local] < next_begins
        # Step 2: where each row begins and ends.
        n = 0
        for local in opened[:n_opened]:
            row = own[local]
            span = spans[row]
            if metric == PRECOMPUTED:
                at = span[FIRST_CANDIDATE]
                low = high = t[at]
                for j in range(at + 1, at + span[SIZE]):
                    low = min(low, t[j])
                    high = max(high, t[j])
            elif metric == COSINE and span[SIZE] <= most_written:
                low, high = _cosine_ends(base[row], span, cells, values, sparse, t, live, chosen,
                                         live_at, dots, squares)  # fmt: skip
            elif metric == COSINE:
                low, high = _cosine_bounds(
                    _ends(base[row], span, cells, values, sparse, LINEAR, t, nonzero),
                    _ends(base[row], span, cells, values, sparse, NORM, t, nonzero),
                )
            else:
                low, high = _ends(base[row], span, cells, values, sparse, metric, t, nonzero)
            event[n] = 2 * local
            distance[n] = low
            n += low <= radius
            event[n] = 2 * local + 1
            distance[n] = high
            n += high <= radius
        # Step 3: events from near to far.
        order = np.argsort(distance[:n], kind="mergesort")
        at = ptr[p]
        for i in range(n):
            one = order[i]
            joined = (
                i + 1 < n
                and event[order[i + 1]] == event[one] + 1
                and event[one] % 2 == 0
                and distance[order[i + 1]] == distance[one]
            )
            out[at] = -1 - event[one] if joined else event[one]
            at += 1
        ptr[p + 1] = at
    return ptr, out[: ptr[n_points]], complete
