"""Kernels that bring the candidates around a point among leaves into THE total order.

Nearer comes first; at equal distance the smaller row comes first; candidates of one row at equal
distance are one position. Distances are small integers, so sorting is counting.

There are two ways to the same positions. With the near rows at hand, their candidates are compared
with the point (`positions`). Without, candidates come out of the lists of the point's leaves
(`close_positions`):

1. *Meet* candidates and count how often: their distances.
2. *Open* one distance after the other, until all but `slack` of the mass has K rows within.
3. *Collect* what the rows have within that radius; a row's share beyond it is only summed.
4. *Sort* and *sum*, as in `_order`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from cpclean.queries._leaf_lists import count_met, grown, small_order, sort_first, trees_shared
from cpclean.queries.kernel_arrays import FIRST_CANDIDATE, SIZE

# Logarithms (to base 2) in fixed point, by prior mass in so many steps of 2^_FINE parts.
_UNIT, _STEPS, _FINE = 1 << 20, 1024, 32
_SHIFT = 3  # polynomials of rows are evaluated at 2^-3
_USUALLY_OFF = 8  # how far the bound is off, in bits


@njit(cache=True, nogil=True)
def _emit(n, n_rows, start, distance, local_of, mass_of, order, counts, place, mass, beyond, owner,
          weight, nearer, far):  # fmt: skip
    """Bring n candidates of some rows into order, from start on; returns where they end.

    Leaves in place where each went. Candidates of one row at one distance are one position.
    """
    small_order(distance, n, counts, order)
    at = start - 1
    for i in range(n):
        one = order[i]
        if at < start or local_of[one] != owner[at] or distance[one] != distance[order[i - 1]]:
            at += 1
            owner[at] = local_of[one]
            weight[at] = mass_of[one]
        else:
            weight[at] += mass_of[one]
        place[one] = at - start
    # Each row's mass so far, from near to far; then what lies farther, from far to near.
    for local in range(n_rows):
        mass[local] = 0.0
    for i in range(start, at + 1):
        mass[owner[i]] += weight[i]
        nearer[i] = mass[owner[i]]
    for local in range(n_rows):
        mass[local] = beyond[local]
    for i in range(at, start - 1, -1):
        far[i] = mass[owner[i]]
        mass[owner[i]] += weight[i]
    return at + 1


@njit(cache=True, nogil=True)
def positions(rows, X, near_ptr, near, reach, want_rank):
    """Positions from near to far, for every point of a block: the fields of `Positions`.

    What lies beyond the reach is only summed.
    """
    n_points, n_trees = X.shape
    total = 0
    largest = 0
    most_rows = 0
    for p in range(n_points):
        own = 0
        for i in range(near_ptr[p], near_ptr[p + 1]):
            own += rows.spans[near[i], SIZE]
        total += own
        largest = max(largest, own)
        most_rows = max(most_rows, near_ptr[p + 1] - near_ptr[p])
    ptr = np.zeros(n_points + 1, np.int64)
    beyond = np.empty(near.shape[0])
    owner = np.empty(total, np.int64)
    weight = np.empty(total)
    nearer = np.empty(total)
    far = np.empty(total)
    rank = np.empty(total if want_rank else 0, np.int64)
    distance = np.empty(largest, np.int64)
    local_of = np.empty(largest, np.int64)
    mass_of = np.empty(largest)
    place = np.empty(largest, np.int64)
    order = np.empty(largest, np.int64)
    counts = np.empty(n_trees + 2, np.int64)
    mass = np.empty(most_rows)
    n_ranked = 0
    for p in range(n_points):
        # The distances of all candidates within the reach.
        n = 0
        first_rank = n_ranked
        for i in range(near_ptr[p], near_ptr[p + 1]):
            row = near[i]
            outside = 0.0
            begin = rows.spans[row, FIRST_CANDIDATE]
            for c in range(begin, begin + rows.spans[row, SIZE]):
                away = n_trees - trees_shared(rows.codes[c], X[p])
                out = away > reach[p]
                distance[n] = away
                local_of[n] = i - near_ptr[p]
                mass_of[n] = rows.weights[c]
                outside += rows.weights[c] if out else 0.0
                if want_rank:
                    rank[n_ranked] = -1 if out else n
                    n_ranked += 1
                n += not out
            beyond[i] = outside
        end = _emit(n, near_ptr[p + 1] - near_ptr[p], ptr[p], distance, local_of, mass_of, order,
                    counts, place, mass, beyond[near_ptr[p] :], owner, weight, nearer,
                    far)  # fmt: skip
        ptr[p + 1] = end
        if want_rank:
            for i in range(first_rank, n_ranked):
                rank[i] = place[rank[i]] if rank[i] >= 0 else -1
    n = ptr[n_points]
    return near_ptr, near, beyond, ptr, owner[:n], weight[:n], nearer[:n], far[:n], rank


@njit(cache=True, nogil=True)
def _undecided(rows, n_trees, radius, touched, n_touched, times, nearer):
    """The mass of worlds with fewer than K rows within a radius, of the rows that come that near.

    nearer has room for K numbers. Rows in ascending order, so that the sum does not depend on how
    the lists came about.
    """
    for k in range(nearer.shape[0]):
        nearer[k] = 0.0
    nearer[0] = 1.0
    for i in range(n_touched):
        row = touched[i]
        first = rows.spans[row, FIRST_CANDIDATE]
        inside, outside = 0.0, 0.0
        for c in range(first, first + rows.spans[row, SIZE]):
            out = n_trees - np.int64(times[c]) > radius
            outside += rows.weights[c] if out else 0.0
            inside += 0.0 if out else rows.weights[c]
        for k in range(nearer.shape[0] - 1, 0, -1):
            nearer[k] = outside * nearer[k] + inside * nearer[k - 1]
        nearer[0] *= outside
    total = 0.0
    for k in range(nearer.shape[0]):
        total += nearer[k]
    return total


@njit(cache=True, nogil=True)
def _log_table():
    """Logarithms of a row's factor: F + z G, of the mass that is farther / nearer, by G.

    Whole numbers, so that sums do not depend on the order in which candidates are met.
    """
    table = np.empty(_STEPS + 1, np.int64)
    for i in range(_STEPS + 1):
        table[i] = np.int64(np.round(_UNIT * np.log2(1.0 - (1.0 - 2.0**-_SHIFT) * i / _STEPS)))
    return table


@njit(cache=True, nogil=True)
def _radius(rows, n_trees, order, ends, n_neighbors, slack, logs, times, inside, mass, kept,
            nearer):  # fmt: skip
    """The distance within which all but slack of the mass is decided, and how many rows it has.

    order lists the candidates that are met, those at distance d up to ends[d]. The rows with a
    candidate within the radius stand in kept, ascending; inside counts their candidates there, and
    mass has about their prior.

    Of all worlds, those with fewer than K rows within have at most the mass that the product of the
    rows' factors comes to at z = 2^-_SHIFT, divided by z^(K - 1). This bound says when it is worth
    while to find the mass itself; once it was found, how far the bound is off.
    """
    n_kept = 0
    n_whole = 0
    bound = np.int64((n_neighbors - 1) * _SHIFT * _UNIT)
    worth = np.int64(0)
    if slack > 0.0:
        worth = np.int64(_UNIT * (np.log2(slack) + _USUALLY_OFF))
    at = 0
    for d in range(n_trees):
        while at < ends[d]:
            c = order[at]
            row = rows.owner[c]
            at += 1
            if row < 0:
                continue
            if inside[row] == 0:
                kept[n_kept] = row
                n_kept += 1
                mass[row] = 0
            inside[row] += 1
            n_whole += inside[row] == rows.spans[row, SIZE]
            bound -= logs[min(mass[row] >> _FINE, _STEPS)]
            mass[row] += np.int64(rows.weights[c] * (_STEPS << _FINE))
            bound += logs[min(mass[row] >> _FINE, _STEPS)]
        if n_whole >= n_neighbors:  # zero is believed only when it is a fact
            sort_first(kept, n_kept)
            return d, n_kept, n_whole
        if slack > 0.0 and bound <= worth and n_kept >= n_neighbors:
            sort_first(kept, n_kept)
            left = _undecided(rows, n_trees, d, kept, n_kept, times, nearer)
            if left <= slack:
                return d, n_kept, n_whole
            worth = bound - np.int64(_UNIT * np.log2(left / slack))
    return n_trees, n_kept, n_whole


@njit(cache=True, nogil=True)
def close_positions(rows, X, n_neighbors, slack, want_rank):
    """As `positions`, but out of the lists, until all but slack of the mass is decided.

    Returns the fields of `Positions`, and the radius of each point. A row that comes no nearer than
    the radius plays no part: whatever it becomes out there, nothing changes for the point.
    """
    n_points, n_trees = X.shape
    n_rows = rows.spans.shape[0]
    n_candidates = rows.codes.shape[0]
    begins = np.empty(n_trees, np.uint64)
    stops = np.empty(n_trees, np.uint64)
    times = np.zeros(n_candidates, np.uint16)
    met = np.empty(n_candidates + 1, np.uint32)
    order = np.empty(n_candidates, np.uint32)
    inside = np.zeros(n_rows, np.int32)
    inside_mass = np.empty(n_rows, np.int64)
    logs = _log_table()
    kept = np.empty(n_rows + 1, np.int64)
    ends = np.empty(n_trees + 1, np.int64)
    nearer_than = np.empty(n_neighbors)
    row_ptr = np.zeros(n_points + 1, np.int64)
    ptr = np.zeros(n_points + 1, np.int64)
    radii = np.empty(n_points)
    near = np.empty(1024, np.int64)
    beyond = np.empty(1024)
    owner = np.empty(4096, np.int64)
    weight = np.empty(4096)
    nearer = np.empty(4096)
    far = np.empty(4096)
    rank = np.empty(4096 if want_rank else 0, np.int64)
    distance = np.empty(1024, np.int64)
    local_of = np.empty(1024, np.int64)
    mass_of = np.empty(1024)
    place = np.empty(1024, np.int64)
    in_order = np.empty(1024, np.int64)
    counts = np.empty(n_trees + 2, np.int64)
    mass = np.empty(1024)
    n_ranked = 0
    for p in range(n_points):
        # Step 1: meet candidates, and bring them into order by distance.
        n_met = np.int64(count_met(rows, X[p], begins, stops, times, met))
        for d in range(n_trees + 1):
            ends[d] = 0
        for i in range(n_met):
            ends[n_trees - np.int64(times[met[i]])] += 1
        total = 0
        for d in range(n_trees + 1):
            total += ends[d]
            ends[d] = total - ends[d]
        for i in range(n_met):
            d = n_trees - np.int64(times[met[i]])
            order[ends[d]] = met[i]
            ends[d] += 1
        # Step 2: open one distance after the other.
        radius, n_kept, n_whole = _radius(rows, n_trees, order, ends, n_neighbors, slack, logs,
                                          times, inside, inside_mass, kept,
                                          nearer_than)  # fmt: skip
        for i in range(n_kept):
            inside[kept[i]] = -inside[kept[i]]  # marked: met within the radius
        last = n_rows
        if radius == n_trees:  # of the rows that end at the largest distance, the first by number
            left = n_neighbors - n_whole
            last = -1
            while left > 0:
                last += 1
                whole = -inside[last] == rows.spans[last, SIZE]
                left -= not whole
                if inside[last] == 0:
                    kept[n_kept] = last
                    n_kept += 1
            for i in range(n_kept):
                inside[kept[i]] = 0
            sort_first(kept, n_kept)
        # Room for what is to come.
        size = 0
        for i in range(n_kept):
            inside[kept[i]] = 0
            size += rows.spans[kept[i], SIZE]
        begin, start = row_ptr[p], ptr[p]
        more = max(2, n_points // (p + 1))  # as much for the points to come
        if size > distance.shape[0]:
            distance = np.empty(2 * size, np.int64)
            local_of = np.empty(2 * size, np.int64)
            mass_of = np.empty(2 * size)
            place = np.empty(2 * size, np.int64)
            in_order = np.empty(2 * size, np.int64)
        if n_kept > mass.shape[0]:
            mass = np.empty(2 * n_kept)
        if begin + n_kept > near.shape[0]:
            near = grown(near, begin, more * (begin + n_kept))
            beyond = grown(beyond, begin, more * (begin + n_kept))
        if start + size > owner.shape[0]:
            owner = grown(owner, start, more * (start + size))
            weight = grown(weight, start, more * (start + size))
            nearer = grown(nearer, start, more * (start + size))
            far = grown(far, start, more * (start + size))
        if want_rank and n_ranked + size > rank.shape[0]:
            rank = grown(rank, n_ranked, more * (n_ranked + size))
        # Step 3: collect, row by row, what lies within, and how much beyond.
        n = 0
        first_rank = n_ranked
        for local in range(n_kept):
            row = kept[local]
            near[begin + local] = row
            outside = 0.0
            first = rows.spans[row, FIRST_CANDIDATE]
            for c in range(first, first + rows.spans[row, SIZE]):
                away = n_trees - np.int64(times[c])
                out = away > radius or (away == n_trees and row > last)
                distance[n] = away
                local_of[n] = local
                mass_of[n] = rows.weights[c]
                outside += rows.weights[c] if out else 0.0
                if want_rank:
                    rank[n_ranked] = -1 if out else n
                    n_ranked += 1
                n += not out
            beyond[begin + local] = outside
        for i in range(n_met):
            times[met[i]] = 0
        # Step 4: sort and sum.
        end = _emit(n, n_kept, start, distance, local_of, mass_of, in_order, counts, place, mass,
                    beyond[begin:], owner, weight, nearer, far)  # fmt: skip
        if want_rank:
            for i in range(first_rank, n_ranked):
                rank[i] = place[rank[i]] if rank[i] >= 0 else -1
        row_ptr[p + 1] = begin + n_kept
        ptr[p + 1] = end
        radii[p] = radius
    n_near, n = row_ptr[n_points], ptr[n_points]
    return (row_ptr, near[:n_near], beyond[:n_near], ptr, owner[:n], weight[:n], nearer[:n],
            far[:n], rank[:n_ranked], radii)  # fmt: skip
