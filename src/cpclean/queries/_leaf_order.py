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

A point that was looked at before a few rows changed needs none of the first three steps: only the
positions of those rows are others, unless the radius is. That is found out from whole numbers,
whose sums do not depend on the order in which rows changed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cpclean.queries._leaf_lists import count_met, grown, small_order, sort_first, trees_shared
from cpclean.queries.kernel_arrays import FIRST_CANDIDATE, SIZE
from cpclean.queries.kernel_kinds import kernel, part

# Logarithms (to base 2) in fixed point, by prior mass in so many steps of 2^_FINE parts.
_UNIT, _STEPS, _FINE = 1 << 20, 1024, 32
_SHIFT = 3  # polynomials of rows are evaluated at 2^-3
_USUALLY_OFF = 8  # how far the bound is off, in bits
# Prior mass in fixed point, so that sums do not depend on their order; and what is added for a row
# all of whose candidates are within, which is known better than by its mass.
_ONE, _WHOLE = _STEPS << _FINE, 1 << 62
# A distance and a row in one number, which is in order: the row is what is left under this mask.
_OWNER = (1 << _FINE) - 1
_NEVER = np.iinfo(np.int64).max


@part
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


@part
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


@kernel
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


@part
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


@part
def _log_table():
    """Logarithms of a row's factor: F + z G, of the mass that is farther / nearer, by G.

    Whole numbers, so that sums do not depend on the order in which candidates are met.
    """
    table = np.empty(_STEPS + 1, np.int64)
    for i in range(_STEPS + 1):
        table[i] = np.int64(np.round(_UNIT * np.log2(1.0 - (1.0 - 2.0**-_SHIFT) * i / _STEPS)))
    return table


@part
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


@part
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


@part
def _same_radius(radius, n_rows, n_neighbors, slack, logs, owner, spot, fixed, mass, log, kept,
                 nearer):  # fmt: skip
    """Whether `_radius` would find this radius from these positions of one point."""
    for local in range(n_rows):
        mass[local] = -1
        log[local] = 0
    n_kept = 0
    n_whole = 0
    bound, worth = _first_bound(n_neighbors, slack)
    for at in range(owner.shape[0]):
        row = owner[at]
        n_kept += mass[row] < 0
        mass[row] = max(mass[row], 0) + fixed[at]
        n_whole += fixed[at] >= _WHOLE
        now = logs[min(mass[row] >> _FINE, _STEPS)]
        bound += now - log[row]
        log[row] = now
        if n_whole < n_neighbors and (bound > worth or n_kept < n_neighbors):
            continue
        if at + 1 < owner.shape[0] and spot[at + 1] >> _FINE == spot[at] >> _FINE:
            continue
        if n_whole >= n_neighbors:
            return spot[at] >> _FINE == radius
        if slack > 0.0:
            n = 0
            for local in range(n_rows):
                kept[n] = local
                n += mass[local] >= 0
            undecided = _undecided(kept, n, mass, nearer)
            if undecided <= slack:
                return spot[at] >> _FINE == radius
            worth = bound - np.int64(_UNIT * np.log2(undecided / slack))
    return False


@part
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
    if n_out == 0:
        fixed[end - 1] += _WHOLE
    return end, outside


class Before(NamedTuple):
    """What `close_positions` found about points that it is asked about again, one after another."""

    radius: np.ndarray
    row_ptr: np.ndarray
    rows: np.ndarray
    beyond: np.ndarray
    ptr: np.ndarray
    spot: np.ndarray
    weight: np.ndarray
    fixed: np.ndarray
    changed_ptr: np.ndarray
    changed: np.ndarray  # the rows, ascending, that are not as they were


class RenewalRoom(NamedTuple):
    """Scratch for one such point; allocated once per block."""

    spot: np.ndarray  # of the positions of changed rows; first the distance alone
    weight: np.ndarray
    fixed: np.ndarray
    moved: np.ndarray  # the new place of each row, -1 if it has changed
    mass: np.ndarray
    units: np.ndarray
    log: np.ndarray
    kept: np.ndarray


@part
def _make_room(rows, before):
    most_new = 1
    most_rows = 1
    for k in range(before.radius.shape[0]):
        new = 0
        for j in range(before.changed_ptr[k], before.changed_ptr[k + 1]):
            new += rows.spans[before.changed[j], SIZE]
        most_new = max(most_new, new)
        n_rows = before.row_ptr[k + 1] - before.row_ptr[k]
        most_rows = max(most_rows, n_rows + before.changed_ptr[k + 1] - before.changed_ptr[k])
    return RenewalRoom(
        np.empty(most_new + 1, np.int64), np.empty(most_new + 1), np.empty(most_new + 1, np.int64),
        np.empty(most_rows, np.int64), np.empty(most_rows), np.empty(most_rows, np.int64),
        np.empty(most_rows, np.int64), np.empty(most_rows + 1, np.int64),
    )  # fmt: skip


@part
def _room_for(rows, before):
    """How many rows and positions all points may have about which something is known."""
    n_places = before.spot.shape[0]
    for row in before.changed:
        n_places += rows.spans[row, SIZE]
    return before.rows.shape[0] + before.changed.shape[0], n_places


@part
def _renewed_rows(rows, leaves, k, before, room, near, beyond):
    """The rows around a point: those that have not changed, and those that have and come near now.

    Returns how many, and how many positions the latter have, which are sorted in the room.
    """
    n_rows = 0
    n_new = 0
    i, j = before.row_ptr[k], before.changed_ptr[k]
    end, last = before.row_ptr[k + 1], before.changed_ptr[k + 1]
    while i < end or j < last:
        if j < last and (i == end or before.changed[j] <= before.rows[i]):
            row = before.changed[j]
            if i < end and before.rows[i] == row:
                room.moved[i - before.row_ptr[k]] = -1
                i += 1
            j += 1
            stop, outside = _row_now(rows, leaves, row, before.radius[k], n_new, room.spot,
                                     room.weight, room.fixed)  # fmt: skip
            if stop == n_new:
                continue
            beyond[n_rows] = outside
            for a in range(n_new, stop):
                room.spot[a] = room.spot[a] << _FINE | n_rows
            n_new = stop
        else:
            row = before.rows[i]
            beyond[n_rows] = before.beyond[i]
            room.moved[i - before.row_ptr[k]] = n_rows
            i += 1
        near[n_rows] = row
        n_rows += 1
    for a in range(1, n_new):
        spot, weight, fixed = room.spot[a], room.weight[a], room.fixed[a]
        at = a
        while at > 0 and room.spot[at - 1] > spot:
            room.spot[at] = room.spot[at - 1]
            room.weight[at] = room.weight[at - 1]
            room.fixed[at] = room.fixed[at - 1]
            at -= 1
        room.spot[at], room.weight[at], room.fixed[at] = spot, weight, fixed
    room.spot[n_new] = _NEVER
    return n_rows, n_new


@part
def _renewed(rows, leaves, k, before, n_neighbors, slack, logs, room, nearer_than, near, beyond,
             owner, weight, nearer, far, spot, fixed):  # fmt: skip
    """Steps 1 to 4 for a point about which all is known but what has changed.

    Returns whether its radius is the same, so that this is all, and how many rows and positions.
    """
    n_rows, n_new = _renewed_rows(rows, leaves, k, before, room, near, beyond)
    n = 0
    a = 0
    for i in range(before.ptr[k], before.ptr[k + 1]):  # merged by distance and row
        here = room.moved[before.spot[i] & _OWNER]
        if here < 0:
            continue
        own = before.spot[i] >> _FINE << _FINE | here
        while room.spot[a] < own:
            spot[n], weight[n], fixed[n] = room.spot[a], room.weight[a], room.fixed[a]
            owner[n] = room.spot[a] & _OWNER
            a += 1
            n += 1
        spot[n], weight[n], fixed[n] = own, before.weight[i], before.fixed[i]
        owner[n] = here
        n += 1
    for b in range(a, n_new):
        spot[n], weight[n], fixed[n] = room.spot[b], room.weight[b], room.fixed[b]
        owner[n] = room.spot[b] & _OWNER
        n += 1
    same = _same_radius(before.radius[k], n_rows, n_neighbors, slack, logs, owner[:n], spot[:n],
                        fixed[:n], room.units, room.log, room.kept, nearer_than)  # fmt: skip
    if same:
        _sum_up(0, n, n_rows, room.mass, beyond, owner, weight, nearer, far)
    return same, n_rows, n


@kernel
def close_positions(rows, X, n_neighbors, slack, want_rank, before, known):
    """As `positions`, but out of the lists, until all but slack of the mass is decided.

    Returns the fields of `Positions`, and the radius of each point. A row that comes no nearer than
    the radius plays no part: whatever it becomes out there, nothing changes for the point. Also,
    for the next time: of each position the distance and the row together, and the mass in fixed
    point, with _WHOLE where all candidates of the row are at it or nearer. Point p is point
    known[p] of those before, or was not asked about before if that is negative; then there are
    ranks, if they are wanted.
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
    room = _make_room(rows, before)
    more_rows, more_places = _room_for(rows, before)  # always left for points that are known
    near = np.empty(1024 + more_rows, np.int64)
    beyond = np.empty(1024 + more_rows)
    spot = np.empty(4096 + more_places, np.int64)
    fixed = np.empty(4096 + more_places, np.int64)
    owner = np.empty(4096 + more_places, np.int64)
    weight = np.empty(4096 + more_places)
    nearer = np.empty(4096 + more_places)
    far = np.empty(4096 + more_places)
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
        if known[p] >= 0:
            begin, start = row_ptr[p], ptr[p]
            same, n_kept, n = _renewed(rows, X[p], known[p], before, n_neighbors, slack, logs, room,
                                       nearer_than, near[begin:], beyond[begin:], owner[start:],
                                       weight[start:], nearer[start:], far[start:], spot[start:],
                                       fixed[start:])  # fmt: skip
            if same:
                row_ptr[p + 1] = begin + n_kept
                ptr[p + 1] = start + n
                radii[p] = before.radius[known[p]]
                continue
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
        if begin + n_kept + more_rows > near.shape[0]:
            near = grown(near, begin, more * (begin + n_kept) + more_rows)
            beyond = grown(beyond, begin, more * (begin + n_kept) + more_rows)
        if start + size + more_places > owner.shape[0]:
            owner = grown(owner, start, more * (start + size) + more_places)
            weight = grown(weight, start, more * (start + size) + more_places)
            nearer = grown(nearer, start, more * (start + size) + more_places)
            far = grown(far, start, more * (start + size) + more_places)
            spot = grown(spot, start, more * (start + size) + more_places)
            fixed = grown(fixed, start, more * (start + size) + more_places)
        if want_rank and n_ranked + size > rank.shape[0]:
            rank = grown(rank, n_ranked, more * (n_ranked + size))
        # Step 3: collect, row by row, what lies within, and how much beyond.
        n = 0
        first_rank = n_ranked
        for local in range(n_kept):
            row = kept[local]
            near[begin + local] = row
            outside = 0.0
            n_nearer = n
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
            inside[row] = n - n_nearer == rows.spans[row, SIZE]
        for i in range(n_met):
            times[met[i]] = 0
        # Step 4: sort and sum.
        end = _emit(n, n_kept, start, distance, local_of, mass_of, in_order, counts, place, mass,
                    beyond[begin:], owner, weight, nearer, far)  # fmt: skip
        for i in range(start, end):
            fixed[i] = 0
        for i in range(n):
            spot[start + place[i]] = distance[i] << _FINE | local_of[i]
            fixed[start + place[i]] += np.int64(mass_of[i] * _ONE)
        for i in range(end - 1, start - 1, -1):  # the last position of each row that is all within
            row = near[begin + owner[i]]
            fixed[i] += _WHOLE if inside[row] else 0
            inside[row] = 0
        if want_rank:
            for i in range(first_rank, n_ranked):
                rank[i] = place[rank[i]] if rank[i] >= 0 else -1
        row_ptr[p + 1] = begin + n_kept
        ptr[p + 1] = end
        radii[p] = radius
    n_near, n = row_ptr[n_points], ptr[n_points]
    return (row_ptr, near[:n_near], beyond[:n_near], ptr, owner[:n], weight[:n], nearer[:n],
            far[:n], rank[:n_ranked], radii, spot[:n], fixed[:n])  # fmt: skip
