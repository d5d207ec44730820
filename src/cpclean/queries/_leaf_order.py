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

A point that was looked at before a few rows changed needs none of the first three steps
(`renewed_positions`): only the positions of those rows are others, unless the radius is. That is
found out from whole numbers, whose sums do not depend on the order in which rows changed.
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
# Prior mass in fixed point, so that sums do not depend on their order; and what is added for a row
# all of whose candidates are within, which is known better than by its mass.
_ONE, _WHOLE = _STEPS << _FINE, 1 << 62


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
    _sum_up(start, at + 1, n_rows, mass, beyond, owner, weight, nearer, far)
    return at + 1


@njit(cache=True, nogil=True)
def _sum_up(start, end, n_rows, mass, beyond, owner, weight, nearer, far):
    """Each row's mass so far, from near to far; then what lies farther, from far to near."""
    for local in range(n_rows):
        mass[local] = 0.0
    for i in range(start, end):
        mass[owner[i]] += weight[i]
        nearer[i] = mass[owner[i]]
    for local in range(n_rows):
        mass[local] = beyond[local]
    for i in range(end - 1, start - 1, -1):
        far[i] = mass[owner[i]]
        mass[owner[i]] += weight[i]


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
def _undecided(kept, n_kept, mass, nearer):
    """At most the mass of worlds with fewer than K rows within a radius, of the rows kept there.

    mass has how much of each row is within, in fixed point: rounded down. nearer has room for K
    numbers. Rows in ascending order, so that the sum does not depend on how they were found.
    """
    for k in range(nearer.shape[0]):
        nearer[k] = 0.0
    nearer[0] = 1.0
    for i in range(n_kept):
        inside, outside = 1.0, 0.0
        if mass[kept[i]] < _WHOLE:
            inside = mass[kept[i]] / _ONE
            outside = 1.0 - inside + 1.0 / _ONE
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
def _first_bound(n_neighbors, slack):
    """A bound on the undecided mass, as a logarithm, and where it is worth while to find that.

    Of all worlds, those with fewer than K rows within have at most the mass that the product of the
    rows' factors comes to at z = 2^-_SHIFT, divided by z^(K - 1). This bound says when it is worth
    while to find the mass itself; once it was found, how far the bound is off.
    """
    worth = np.int64(0)
    if slack > 0.0:
        worth = np.int64(_UNIT * (np.log2(slack) + _USUALLY_OFF))
    return np.int64((n_neighbors - 1) * _SHIFT * _UNIT), worth


@njit(cache=True, nogil=True)
def _radius(rows, n_trees, order, ends, n_neighbors, slack, logs, inside, mass, kept, nearer):
    """The distance within which all but slack of the mass is decided, and how many rows it has.

    order lists the candidates that are met, those at distance d up to ends[d]. The rows with a
    candidate within the radius stand in kept, ascending; inside counts their candidates there, and
    mass has their prior in fixed point.
    """
    n_kept = 0
    n_whole = 0
    bound, worth = _first_bound(n_neighbors, slack)
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
            bound -= logs[min(mass[row] >> _FINE, _STEPS)]
            mass[row] += np.int64(rows.weights[c] * _ONE)
            if inside[row] == rows.spans[row, SIZE]:
                mass[row] += _WHOLE
                n_whole += 1
            bound += logs[min(mass[row] >> _FINE, _STEPS)]
        if n_whole >= n_neighbors:  # zero is believed only when it is a fact
            sort_first(kept, n_kept)
            return d, n_kept, n_whole
        if slack > 0.0 and bound <= worth and n_kept >= n_neighbors:
            sort_first(kept, n_kept)
            left = _undecided(kept, n_kept, mass, nearer)
            if left <= slack:
                return d, n_kept, n_whole
            worth = bound - np.int64(_UNIT * np.log2(left / slack))
    return n_trees, n_kept, n_whole


@njit(cache=True, nogil=True)
def close_positions(rows, X, n_neighbors, slack, want_rank):
    """As `positions`, but out of the lists, until all but slack of the mass is decided.

    Returns the fields of `Positions`, and the radius of each point. A row that comes no nearer than
    the radius plays no part: whatever it becomes out there, nothing changes for the point. Also,
    for `renewed_positions`: how many candidates each row has beyond the radius, and the distance
    and the mass, in fixed point, of each position.
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
    n_out = np.empty(1024, np.int64)
    away_at = np.empty(4096, np.int32)
    fixed = np.empty(4096, np.int64)
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
                                          inside, inside_mass, kept, nearer_than)  # fmt: skip
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
            n_out = grown(n_out, begin, more * (begin + n_kept))
        if start + size > owner.shape[0]:
            owner = grown(owner, start, more * (start + size))
            weight = grown(weight, start, more * (start + size))
            nearer = grown(nearer, start, more * (start + size))
            far = grown(far, start, more * (start + size))
            away_at = grown(away_at, start, more * (start + size))
            fixed = grown(fixed, start, more * (start + size))
        if want_rank and n_ranked + size > rank.shape[0]:
            rank = grown(rank, n_ranked, more * (n_ranked + size))
        # Step 3: collect, row by row, what lies within, and how much beyond.
        n = 0
        first_rank = n_ranked
        for local in range(n_kept):
            row = kept[local]
            near[begin + local] = row
            outside = 0.0
            before = n
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
            n_out[begin + local] = rows.spans[row, SIZE] - (n - before)
        for i in range(n_met):
            times[met[i]] = 0
        # Step 4: sort and sum.
        end = _emit(n, n_kept, start, distance, local_of, mass_of, in_order, counts, place, mass,
                    beyond[begin:], owner, weight, nearer, far)  # fmt: skip
        for i in range(start, end):
            fixed[i] = 0
        for i in range(n):
            away_at[start + place[i]] = distance[i]
            fixed[start + place[i]] += np.int64(mass_of[i] * _ONE)
        if want_rank:
            for i in range(first_rank, n_ranked):
                rank[i] = place[rank[i]] if rank[i] >= 0 else -1
        row_ptr[p + 1] = begin + n_kept
        ptr[p + 1] = end
        radii[p] = radius
    n_near, n = row_ptr[n_points], ptr[n_points]
    return (row_ptr, near[:n_near], beyond[:n_near], ptr, owner[:n], weight[:n], nearer[:n],
            far[:n], rank[:n_ranked], radii, n_out[:n_near], away_at[:n], fixed[:n])  # fmt: skip


@njit(cache=True, nogil=True)
def _same_radius(radius, n_rows, n_neighbors, slack, logs, owner, away, fixed, n_out, left, mass,
                 kept, nearer):  # fmt: skip
    """Whether `_radius` would find this radius from these positions of one point."""
    for local in range(n_rows):
        left[local] = 0
        mass[local] = -1
    for at in range(owner.shape[0]):
        left[owner[at]] += 1
    n_kept = 0
    n_whole = 0
    bound, worth = _first_bound(n_neighbors, slack)
    for at in range(owner.shape[0]):
        row = owner[at]
        if mass[row] < 0:
            mass[row] = 0
            n_kept += 1
        bound -= logs[min(mass[row] >> _FINE, _STEPS)]
        mass[row] += fixed[at]
        left[row] -= 1
        if left[row] == 0 and n_out[row] == 0:
            mass[row] += _WHOLE
            n_whole += 1
        bound += logs[min(mass[row] >> _FINE, _STEPS)]
        if at + 1 < owner.shape[0] and away[at + 1] == away[at]:
            continue
        if n_whole >= n_neighbors:
            return away[at] == radius
        if slack > 0.0 and bound <= worth and n_kept >= n_neighbors:
            n = 0
            for local in range(n_rows):
                kept[n] = local
                n += mass[local] >= 0
            undecided = _undecided(kept, n, mass, nearer)
            if undecided <= slack:
                return away[at] == radius
            worth = bound - np.int64(_UNIT * np.log2(undecided / slack))
    return False


@njit(cache=True, nogil=True)
def _row_now(rows, leaves, row, radius, begin, away, weight, fixed):
    """The positions of a row within a radius, from begin on; where they end, and what is beyond."""
    end = begin
    n_out = 0
    outside = 0.0
    first = rows.spans[row, FIRST_CANDIDATE]
    for c in range(first, first + rows.spans[row, SIZE]):
        d = leaves.shape[0] - trees_shared(rows.codes[c], leaves)
        if d > radius:
            n_out += 1
            outside += rows.weights[c]
            continue
        at = end
        while at > begin and away[at - 1] > d:
            at -= 1
        if at > begin and away[at - 1] == d:
            weight[at - 1] += rows.weights[c]
            fixed[at - 1] += np.int64(rows.weights[c] * _ONE)
            continue
        for i in range(end, at, -1):
            away[i] = away[i - 1]
            weight[i] = weight[i - 1]
            fixed[i] = fixed[i - 1]
        away[at] = d
        weight[at] = rows.weights[c]
        fixed[at] = np.int64(rows.weights[c] * _ONE)
        end += 1
    return end, n_out, outside


@njit(cache=True, nogil=True)
def renewed_positions(rows, X, n_neighbors, slack, before, changed_ptr, changed):
    """What `close_positions` finds, if only some rows have changed since it found this.

    Point p had near[row_ptr[p]:row_ptr[p + 1]] and so on; the rows of changed, ascending, from
    changed_ptr[p] to changed_ptr[p + 1] are not as they were. Returns the same as
    `close_positions`, without ranks, and whether each point has the same radius; nothing is found
    for others.
    """
    radius, row_ptr, near, beyond, n_out, ptr, owner, weight, away, fixed = before
    n_points = X.shape[0]
    n_more = 0
    most_new = 1
    most_rows = 1
    for p in range(n_points):
        own = 0
        for j in range(changed_ptr[p], changed_ptr[p + 1]):
            own += rows.spans[changed[j], SIZE]
        n_more += own
        most_new = max(most_new, own)
        more = row_ptr[p + 1] - row_ptr[p] + changed_ptr[p + 1] - changed_ptr[p]
        most_rows = max(most_rows, more)
    now_ptr = np.zeros(n_points + 1, np.int64)
    now_rows = np.empty(near.shape[0] + changed.shape[0], np.int64)
    now_beyond = np.empty(now_rows.shape[0])
    now_out = np.empty(now_rows.shape[0], np.int64)
    at_ptr = np.zeros(n_points + 1, np.int64)
    size = owner.shape[0] + n_more
    now_owner = np.empty(size, np.int64)
    now_weight = np.empty(size)
    now_away = np.empty(size, np.int32)
    now_fixed = np.empty(size, np.int64)
    nearer = np.empty(size)
    far = np.empty(size)
    same = np.zeros(n_points, np.bool_)
    new_away = np.empty(most_new + 1, np.int64)
    new_weight = np.empty(most_new + 1)
    new_fixed = np.empty(most_new + 1, np.int64)
    new_owner = np.empty(most_new + 1, np.int64)
    moved = np.empty(most_rows, np.int64)
    mass = np.empty(most_rows)
    units = np.empty(most_rows, np.int64)
    left = np.empty(most_rows, np.int64)
    kept = np.empty(most_rows + 1, np.int64)
    nearer_than = np.empty(n_neighbors)
    logs = _log_table()
    for p in range(n_points):
        # The rows: those that have not changed, and those that have and come near now.
        first = now_ptr[p]
        n_rows = 0
        n_new = 0
        i, j = row_ptr[p], changed_ptr[p]
        while i < row_ptr[p + 1] or j < changed_ptr[p + 1]:
            if j < changed_ptr[p + 1] and (i == row_ptr[p + 1] or changed[j] <= near[i]):
                row = changed[j]
                if i < row_ptr[p + 1] and near[i] == row:
                    moved[i - row_ptr[p]] = -1
                    i += 1
                j += 1
                end, out, outside = _row_now(rows, X[p], row, radius[p], n_new, new_away,
                                             new_weight, new_fixed)  # fmt: skip
                if end == n_new:
                    continue
                now_out[first + n_rows] = out
                now_beyond[first + n_rows] = outside
                for a in range(n_new, end):
                    new_owner[a] = n_rows
                n_new = end
            else:
                row = near[i]
                now_out[first + n_rows] = n_out[i]
                now_beyond[first + n_rows] = beyond[i]
                moved[i - row_ptr[p]] = n_rows
                i += 1
            now_rows[first + n_rows] = row
            n_rows += 1
        for a in range(1, n_new):  # by distance; equal ones stay as they are
            d, w, f, o = new_away[a], new_weight[a], new_fixed[a], new_owner[a]
            at = a
            while at > 0 and new_away[at - 1] > d:
                new_away[at] = new_away[at - 1]
                new_weight[at] = new_weight[at - 1]
                new_fixed[at] = new_fixed[at - 1]
                new_owner[at] = new_owner[at - 1]
                at -= 1
            new_away[at], new_weight[at], new_fixed[at], new_owner[at] = d, w, f, o
        # The positions: both kinds, merged by distance and row.
        start = at_ptr[p]
        at = start
        a = 0
        i = ptr[p]
        while True:
            while i < ptr[p + 1] and moved[owner[i]] < 0:
                i += 1
            if i == ptr[p + 1] and a == n_new:
                break
            if a < n_new and (i == ptr[p + 1] or new_away[a] < away[i] or (
                new_away[a] == away[i] and new_owner[a] < moved[owner[i]]
            )):  # fmt: skip
                now_owner[at], now_weight[at] = new_owner[a], new_weight[a]
                now_away[at], now_fixed[at] = new_away[a], new_fixed[a]
                a += 1
            else:
                now_owner[at], now_weight[at] = moved[owner[i]], weight[i]
                now_away[at], now_fixed[at] = away[i], fixed[i]
                i += 1
            at += 1
        same[p] = _same_radius(radius[p], n_rows, n_neighbors, slack, logs, now_owner[start:at],
                               now_away[start:at], now_fixed[start:at], now_out[first:], left,
                               units, kept, nearer_than)  # fmt: skip
        if same[p]:
            _sum_up(start, at, n_rows, mass, now_beyond[first:], now_owner, now_weight, nearer,
                    far)  # fmt: skip
            now_ptr[p + 1] = first + n_rows
            at_ptr[p + 1] = at
        else:
            now_ptr[p + 1] = first
            at_ptr[p + 1] = start
    n_near, n = now_ptr[n_points], at_ptr[n_points]
    return (now_ptr, now_rows[:n_near], now_beyond[:n_near], at_ptr, now_owner[:n], now_weight[:n],
            nearer[:n], far[:n], now_owner[:0], radius, now_out[:n_near], now_away[:n],
            now_fixed[:n], same)  # fmt: skip
