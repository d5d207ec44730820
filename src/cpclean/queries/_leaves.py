"""Kernels for rows that are leaves of trees: distance is the number of trees that tell two apart.

One list per tree and leaf holds the candidates that are in it. Around a point:

1. *Meet.* Go through the lists of the point's leaves and count how often each candidate is met. A
   candidate that was met m times is T - m trees away; one that was never met is T away.
2. *Bound* every row that was met by its nearest and its farthest candidate, exactly.
3. *Reach.* Distances are small integers, so ties abound: the reach is a pair (distance, row), the
   K-th in order among the rows' farthest candidates. No row that begins behind it matters.
4. *Keep* the rows that begin before it. Of the rows never met, the first few by number count.

Cost per point: the lengths of its lists, whatever the number of rows in other leaves.

Where most rows have one candidate, there are lists of rows, too, and these are gone through: they
are shorter, since many candidates of a row are in one leaf. A row is met at least as often as any
of its candidates. So the rows of one candidate give a first reach, and few others are met often
enough to be looked at: candidate by candidate.

A row with too many candidates has two that stand for all, as `LeafRows` says. They bound its
distances soundly; a label that is found impossible is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cpclean.queries._leaf_lists import (
    count_listed,
    count_met,
    grown,
    small_order,
    sort_first,
    trees_shared,
)
from cpclean.queries.kernel_arrays import FIRST_CANDIDATE, SIZE
from cpclean.queries.kernel_kinds import kernel, part

_0 = np.uint64(0)


@part
def _meet(rows, leaves, begins, ends, times, met, often, least, n_exact):
    """The candidates that are met at least so often, and how often; returns how many.

    Those from n_exact on stand for rows that are bounded, and are kept however often they are met.
    If there are lists of rows: the places of the rows that are met so often.
    """
    if rows.row_lists.shape[0]:
        n_met = count_listed(rows.root, rows.row_list_at, rows.row_lists, leaves, begins, ends,
                             times, met)  # fmt: skip
        n_exact = times.shape[0]
    else:
        n_met = count_met(rows, leaves, begins, ends, times, met)
    n = _0
    for i in range(n_met):
        c = met[i]
        met[n] = c
        often[n] = times[c]
        n += np.uint64(times[c] >= least or c >= n_exact)
        times[c] = 0
    return np.int64(n)


@part
def _place(lists, begin, end, candidate):
    """Where a candidate stands in a list, or would stand."""
    while begin < end:
        middle = (begin + end) // 2
        if lists[middle] < candidate:
            begin = middle + 1
        else:
            end = middle
    return begin


@part
def _met_by(rows, leaves, candidate):
    """How often one candidate is met, by looking for it in the lists."""
    met = 0
    for t in range(leaves.shape[0]):
        node = rows.root[t] + leaves[t]
        begin, end = rows.list_at[node], rows.list_at[node + 1]
        at = _place(rows.lists, begin, end, candidate)
        met += at < end and rows.lists[at] == candidate
    return met


@part
def _ends_of_row(rows, leaves, row):
    """How often the nearest and the farthest candidate of a row are met."""
    first = rows.spans[row, FIRST_CANDIDATE]
    if rows.bounded[row]:
        return _met_by(rows, leaves, first), _met_by(rows, leaves, first + 1)
    most, least = 0, leaves.shape[0]
    for c in range(first, first + rows.spans[row, SIZE]):
        same = trees_shared(rows.codes[c], leaves)
        most = max(most, same)
        least = min(least, same)
    return most, least


@part
def _kth(ends, n_neighbors):
    """The distance within which K rows end, and how many of them at that distance."""
    left = n_neighbors
    reach = 0
    while reach < ends.shape[0] - 1 and ends[reach] < left:
        left -= ends[reach]
        reach += 1
    return reach, left


class Meetings(NamedTuple):
    """Room for one point; allocated once per block."""

    begins: np.ndarray  # (T) where the lists of the point's leaves begin
    stops: np.ndarray  # (T) and end
    times: np.ndarray  # (C) how often a candidate was met so far; 0 between points
    met: np.ndarray  # (C + 1) the candidates that are met often enough to matter
    often: np.ndarray  # (C + 1) how often each of them is
    seen: np.ndarray  # (N) how many candidates of a row are within the first reach
    most: np.ndarray  # (N) how often they are met at most
    least: np.ndarray  # (N) and at least
    hit: np.ndarray  # (N + 1) the rows that have some
    kept: np.ndarray  # (N + 1) rows
    ends: np.ndarray  # (T + 1) how many rows end at each distance


@part
def _hit_candidates(rows, n_alone, n_exact, n_trees, n_met, enough, work):
    """The rows of several candidates some of which are met often enough; returns how many."""
    _, _, _, met, often, seen, most, least, hit, _, ends = work
    n_hit = 0
    for i in range(n_met):
        if met[i] < n_alone or (often[i] < enough and met[i] < n_exact):
            continue
        row = rows.owner[met[i]]
        if row < 0:
            continue
        if seen[row] == 0:
            hit[n_hit] = row
            n_hit += 1
            most[row] = often[i]
            least[row] = often[i]
        else:
            most[row] = max(most[row], often[i])
            least[row] = min(least[row], often[i])
        seen[row] += 1
    for i in range(n_hit):
        row = hit[i]
        if rows.bounded[row] and seen[row] == 1:
            least[row] = 0  # it may be in some of these leaves, but must be in none
        elif seen[row] < rows.spans[row, SIZE]:
            least[row] = -1  # somewhere beyond the first reach, or at the largest distance
        else:
            ends[n_trees - least[row]] += 1
    return n_hit


@part
def _hit_rows(rows, leaves, n_alone, n_met, enough, work):
    """The same, of places of rows and of candidates that are in no list."""
    _, _, _, met, often, seen, most, least, hit, _, ends = work
    n_trees = leaves.shape[0]
    n_hit = 0
    for i in range(n_met + rows.extra.shape[0]):
        if i >= n_met:
            row = rows.owner[rows.extra[i - n_met]]
        elif met[i] < n_alone or often[i] < enough:
            continue
        else:
            row = rows.places[met[i]]
        if seen[row]:
            continue
        if i < n_met and rows.bounded[row]:
            nearest, farthest = (
                often[i],
                _met_by(rows, leaves, rows.spans[row, FIRST_CANDIDATE] + 1),
            )
        else:
            nearest, farthest = _ends_of_row(rows, leaves, row)
        if nearest >= max(enough, 1):
            seen[row] = 1
            most[row] = nearest
            least[row] = farthest
            hit[n_hit] = row
            n_hit += 1
            ends[n_trees - farthest] += 1
    return n_hit


@part
def _bound(rows, n_alone, n_exact, leaves, n_met, n_neighbors, work):
    """Steps 2 and 3: the distance and the row of the reach, and how many rows were hit.

    Rows of one candidate that is below n_alone give a first reach; of the others, only candidates
    within that one are looked at.
    """
    _, _, _, met, often, _, _, least, hit, kept, ends = work
    n_trees = leaves.shape[0]
    for d in range(n_trees + 1):
        ends[d] = 0
    for i in range(n_met):
        if met[i] < n_alone:
            ends[n_trees - often[i]] += 1
    reach, left = _kth(ends, n_neighbors)
    if rows.row_lists.shape[0]:
        n_hit = _hit_rows(rows, leaves, n_alone, n_met, n_trees - reach, work)
    else:
        n_hit = _hit_candidates(rows, n_alone, n_exact, n_trees, n_met, n_trees - reach, work)
    reach, left = _kth(ends, n_neighbors)
    if reach == n_trees:
        return reach, -1, left, n_hit
    if ends[reach] == left:
        return reach, rows.spans.shape[0], left, n_hit
    n_ties = 0
    for i in range(n_met):
        if met[i] < n_alone and n_trees - often[i] == reach:
            kept[n_ties] = rows.owner[met[i]]
            n_ties += 1
    for i in range(n_hit):
        kept[n_ties] = hit[i]
        n_ties += n_trees - least[hit[i]] == reach
    sort_first(kept, n_ties)
    return reach, kept[left - 1], left, n_hit


@part
def _keep(rows, n_alone, leaves, n_met, reach, last, left, n_hit, work):
    """Step 4: the rows that begin before the reach, ascending; returns how many."""
    _, _, _, met, often, seen, most, least, hit, kept, _ = work
    n_trees = leaves.shape[0]
    n_kept = 0
    for i in range(n_met):
        away = n_trees - often[i]
        if met[i] < n_alone and away <= reach:
            row = rows.owner[met[i]]
            if away < reach or row <= last:
                seen[row] = 1
                most[row] = often[i]
                least[row] = often[i]
                kept[n_kept] = row
                n_kept += 1
    for i in range(n_hit):
        row = hit[i]
        begin = n_trees - most[row]
        if begin < reach or (begin == reach and row <= last):
            if least[row] < 0:
                _, least[row] = _ends_of_row(rows, leaves, row)
            kept[n_kept] = row
            n_kept += 1
    if reach == n_trees:  # of the rows that end at the largest distance, the first by number
        row = 0
        while left > 0:
            if seen[row] == 0:
                most[row] = 0
                least[row] = 0
                kept[n_kept] = row
                n_kept += 1
            left -= least[row] == 0
            row += 1
    sort_first(kept, n_kept)
    return n_kept


@kernel
def near_rows(rows, n_alone, n_exact, X, n_neighbors, limit):
    """Rows that can be among the nearest, for every point of a block, as in `_near.near_rows`.

    Candidates below n_alone are their rows' only ones; those that stand for bounded rows begin at
    n_exact. bound and far are exact, or sound for rows that are bounded.
    """
    n_points, n_trees = X.shape
    n_rows = rows.spans.shape[0]
    n_candidates = rows.codes.shape[0]
    work = Meetings(
        np.empty(n_trees, np.uint64), np.empty(n_trees, np.uint64),
        np.zeros(n_candidates, np.uint16), np.empty(n_candidates + 1, np.uint32),
        np.empty(n_candidates + 1, np.int32), np.zeros(n_rows, np.int32),
        np.empty(n_rows, np.int32), np.empty(n_rows, np.int32),
        np.empty(n_rows + 1, np.int64), np.empty(n_rows + 1, np.int64),
        np.empty(n_trees + 1, np.int64),
    )  # fmt: skip
    ptr = np.zeros(n_points + 1, np.int64)
    reaches = np.empty(n_points)
    near = np.empty(4096, np.int64)
    bound = np.empty(4096)
    far = np.empty(4096)
    guess = 0  # candidates that are met less often are passed over
    for p in range(n_points):
        while True:
            # Step 1: meet.
            n_met = _meet(
                rows,
                X[p],
                work.begins,
                work.stops,
                work.times,
                work.met,
                work.often,
                guess,
                n_exact,
            )
            # Steps 2 and 3: bound, and reach.
            reach, last, left, n_hit = _bound(rows, n_alone, n_exact, X[p], n_met, n_neighbors,
                                               work)  # fmt: skip
            if n_trees - reach >= guess:
                break
            guess //= 4  # what matters is farther away than it was for the point before
            for i in range(n_hit):
                work.seen[work.hit[i]] = 0
        guess = (n_trees - reach) // 2
        # Step 4: keep.
        n_kept = _keep(rows, n_alone, X[p], n_met, reach, last, left, n_hit, work)
        at = ptr[p]
        if at + n_kept > limit and n_points > 1:
            none = far[:0]
            return ptr[:0], near[:0], none, none, none
        if at + n_kept > near.shape[0]:
            size = 2 * (at + n_kept)
            near = grown(near, at, size)
            bound = grown(bound, at, size)
            far = grown(far, at, size)
        for i in range(n_kept):
            row = work.kept[i]
            near[at] = row
            bound[at] = n_trees - work.most[row]
            far[at] = n_trees - work.least[row]
            work.seen[row] = 0
            at += 1
        ptr[p + 1] = at
        reaches[p] = reach
        for i in range(n_hit):
            work.seen[work.hit[i]] = 0
    n = ptr[n_points]
    return ptr, near[:n], bound[:n], reaches, far[:n]


@kernel
def extremes(n_trees, near_ptr, bound, far, reach):
    """Where rows begin and end, from near to far: (ptr, event) as `_extremes.extremes` has them."""
    n_points = reach.shape[0]
    most = 0
    for p in range(n_points):
        most = max(most, 2 * (near_ptr[p + 1] - near_ptr[p]))
    ptr = np.zeros(n_points + 1, np.int64)
    out = np.empty(2 * bound.shape[0], np.int64)
    event = np.empty(most + 1, np.int64)
    distance = np.empty(most + 1, np.int64)
    order = np.empty(most, np.int64)
    counts = np.empty(n_trees + 2, np.int64)
    for p in range(n_points):
        n = 0
        for i in range(near_ptr[p], near_ptr[p + 1]):
            local = i - near_ptr[p]
            event[n] = 2 * local
            distance[n] = int(bound[i])
            n += bound[i] <= reach[p]
            event[n] = 2 * local + 1
            distance[n] = int(far[i])
            n += far[i] <= reach[p]
        small_order(distance, n, counts, order)
        at = ptr[p]
        for i in range(n):
            one = order[i]
            joined = (
                event[one] % 2 == 0
                and i + 1 < n
                and event[order[i + 1]] == event[one] + 1
                and distance[order[i + 1]] == distance[one]
            )
            out[at] = -1 - event[one] if joined else event[one]
            at += 1
        ptr[p + 1] = at
    return ptr, out[: ptr[n_points]]


@kernel
def nearest(rows, X, row):
    """The distance from every point to the nearest candidate of a row, or a lower bound."""
    n_points, n_trees = X.shape
    found = np.empty(n_points)
    for p in range(n_points):
        most, _ = _ends_of_row(rows, X[p], row)
        found[p] = n_trees - most
    return found


@kernel
def limits(rows, tree_ptr, leaves):
    """Between which distances every row lies from a point that may reach several leaves.

    The point may reach leaves[tree_ptr[t]:tree_ptr[t + 1]] of tree t.
    """
    n_trees = tree_ptr.shape[0] - 1
    n_rows = rows.spans.shape[0]
    n_candidates = rows.codes.shape[0]
    may = np.zeros(n_candidates, np.int32)
    must = np.zeros(n_candidates, np.int32)
    latest = np.full(n_candidates, -1, np.int32)
    for t in range(n_trees):
        alone = tree_ptr[t + 1] == tree_ptr[t] + 1
        for i in range(tree_ptr[t], tree_ptr[t + 1]):
            node = rows.root[t] + leaves[i]
            for e in range(rows.list_at[node], rows.list_at[node + 1]):
                c = rows.lists[e]
                if latest[c] != t:  # what may be in several leaves counts once
                    latest[c] = t
                    may[c] += 1
                    must[c] += alone
            for c in rows.extra:
                if rows.codes[c, t] == leaves[i]:
                    may[c] += 1
                    must[c] += alone
    low = np.full(n_rows, float(n_trees))
    high = np.zeros(n_rows)
    for c in range(n_candidates):
        row = rows.owner[c]
        if row >= 0:
            low[row] = min(low[row], n_trees - may[c])
            high[row] = max(high[row], n_trees - must[c])
    return low, high
