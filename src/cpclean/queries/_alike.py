"""Kernels that bound distances to points that are alike: completions of one point.

Completions are equal in all columns but a few. In an order in which columns that change more often
come later, most of a sum is that of the point before.
The terms are the same, bit for bit, and none is negative: with d of them and u = 2^-53, a sum in
any order is that of real numbers but for a factor of 1 + (d - 1) u / (1 - d u), and two of them
differ by less than a factor of 1 + 3 d u. A row is passed over only if its sum exceeds the reach by
a factor of 1 + 4 (d + 4) u: then the sum in feature order, which decides, exceeds it too.

These are compiled into `_near`. The compilation cache there does not see edits here: after one,
delete the `__pycache__` folder of this package. (The tests do so by themselves.)
"""

from __future__ import annotations

import numpy as np

from cpclean.data.rows import Floats, Ints
from cpclean.queries.kernel_arrays import BLOCK, EUCLIDEAN
from cpclean.queries.kernel_kinds import kernel, part

# Points are alike if they differ in at most one column of so many. Where runs of them are so long
# on average, and no more than one column in so many has to be added up again, sums are shared, and
# so many sums are kept.
_ALIKE, _RUN, _SHARED, _LEVELS = 4, 4, 3, 8
_SEVERAL = 8  # points for which it pays at all


def alike(metric: int, X: Floats) -> Ints | None:
    """How points share sums, if most are like the point before and it pays; else None."""
    if metric != EUCLIDEAN or len(X) < _SEVERAL:
        return None
    n_runs = 1 + np.count_nonzero(_ALIKE * (X[1:] != X[:-1]).sum(axis=1) > X.shape[1])
    if _RUN * n_runs > len(X):
        return None
    plan = np.empty((len(X), X.shape[1] + 1), np.int64)
    return plan if _SHARED * _plan(X, plan) <= X.size else None


@kernel
def _plan(X, plan):
    """Bring columns into the order of how often they change in a run of points that are alike.

    Fills plan: for each point, the first place in that order at which it differs from the point
    before (0 at the first point of a run), then the columns in order. Returns how many columns are
    added up for all points together.
    """
    n_points, n_features = X.shape
    n_early = max(n_features - _LEVELS, 0)
    n_added = 0
    times = np.empty(n_features, np.int64)
    first = 0
    while first < n_points:
        for f in range(n_features):
            times[f] = 0
        stop = first + 1
        while stop < n_points:
            n_changed = 0
            for f in range(n_features):
                n_changed += X[stop, f] != X[stop - 1, f]
            if _ALIKE * n_changed > n_features:
                break
            for f in range(n_features):
                times[f] += X[stop, f] != X[stop - 1, f]
            stop += 1
        for f in range(n_features):  # by insertion
            at = f
            while at > 0 and times[plan[first, at]] > times[f]:
                plan[first, at + 1] = plan[first, at]
                at -= 1
            plan[first, at + 1] = f
        plan[first, 0] = 0
        n_added += n_features
        for p in range(first + 1, stop):
            plan[p, 0] = n_features
            for k in range(n_features, 0, -1):
                f = plan[first, k]
                plan[p, k] = f
                if X[p, f] != X[p - 1, f]:
                    plan[p, 0] = k - 1
            n_added += n_features - (0 if plan[p, 0] < n_early else plan[p, 0])
        first = stop
    return n_added


@part
def begin_sums(start, stop, n_rows, partial):
    """What the sums of some boxes begin with, in partial[0]; returns how many sums there will be.

    So many that the processor takes whole vectors, if the table goes on for so long; those behind
    the last are infinite.
    """
    count = stop - start
    padded = (count + 31) // 32 * 32
    if start + padded > n_rows:
        padded = count
    for r in range(padded):
        partial[0, r] = 0.0 if r < count else np.inf
    return padded


@part
def add_up(low, high, start, count, X, plan, before, p, partial):
    """Squares of gaps to boxes from start on, added up in the order of the plan, into partial[-1].

    partial[0] is what sums begin with, partial[1] has the sums of the first columns, and behind it
    there are sums of one more column each, as many as there is room for. Those of columns that have
    not changed since an earlier point, before, are still there.
    """
    n_features = X.shape[1]
    n_early = n_features - (partial.shape[0] - 2)
    first = 0
    if before >= 0:
        first = n_features
        for other in range(before + 1, p + 1):
            first = min(first, plan[other, 0])
    if first < n_early:
        first = 0
    if first == 0:
        for r in range(count):
            partial[1, r] = partial[0, r]
    for k in range(first, n_features):
        f = plan[p, k + 1]
        x = X[p, f]
        lows = low[f, start : start + count]
        highs = high[f, start : start + count]
        old = max(1, 1 + k - n_early)
        new = max(1, 2 + k - n_early)
        if old == new:  # one place, or two that do not overlap: the processor adds in parallel
            for r in range(count):
                under = x - lows[r]
                over = highs[r] - x
                gap = under if under < over else over
                gap = gap if gap < 0.0 else 0.0
                partial[1, r] += gap * gap
        else:
            for r in range(count):
                under = x - lows[r]
                over = highs[r] - x
                gap = under if under < over else over
                gap = gap if gap < 0.0 else 0.0
                partial[new, r] = partial[old, r] + gap * gap


@part
def room_for_sums(n_features):
    """Room for the sums of `add_up`."""
    return np.empty((min(n_features, _LEVELS) + 2, BLOCK))


@part
def most_of_sum(reach, n_features):
    """The largest that `add_up` may find for a row within reach; see the top of this file."""
    return reach * (1.0 + (n_features + 4) * 2.0**-51)


@part
def list_within(sums, own, most, count, start, room, places):
    """Places of those of sums[own] that do not exceed a limit, or are no numbers; how many.

    None are listed, and -1 returned, if there is no room for so many.
    """
    n_within = 0
    for r in range(count):
        n_within += not sums[own, r] > most
    if n_within > room:
        return -1
    at = 0
    r = 0
    while at < n_within:
        if not sums[own, r] > most:
            places[at] = start + r
            at += 1
        r += 1
    return n_within
