"""Lists of the candidates in each leaf, and small kernels that are compiled into those of leaves.

The compilation cache does not see edits here: after one, delete the `__pycache__` folder of this
package, as after an edit of `kernel_arrays`. (The tests do so by themselves.)
"""

from __future__ import annotations

import numpy as np

from cpclean.queries.kernel_arrays import FIRST_CANDIDATE, SIZE
from cpclean.queries.kernel_kinds import kernel, part

# Unsigned numbers: an index that cannot be negative needs no check for counting from the end.
_0, _1 = np.uint64(0), np.uint64(1)


@kernel
def make_lists(codes, n_listed, root, n_nodes, tree_ptr, leaves, first):
    """The lists of all nodes, out of candidates 0..n_listed-1 and of rows that are bounded.

    Bounded row b may reach leaves[tree_ptr[b T + t]:tree_ptr[b T + t + 1]] of tree t; candidates
    first + 2 b and first + 2 b + 1 stand for it. Returns (list_at, lists).
    """
    n_trees = root.shape[0]
    n_bounded = (tree_ptr.shape[0] - 1) // n_trees
    list_at = np.zeros(n_nodes + 1, np.int64)
    for c in range(n_listed):
        for t in range(n_trees):
            list_at[root[t] + codes[c, t] + 1] += 1
    for b in range(n_bounded):
        for t in range(n_trees):
            begin, end = tree_ptr[b * n_trees + t], tree_ptr[b * n_trees + t + 1]
            for i in range(begin, end):
                list_at[root[t] + leaves[i] + 1] += 1 + (end == begin + 1)
    for node in range(n_nodes):
        list_at[node + 1] += list_at[node]
    lists = np.empty(list_at[n_nodes], np.uint32)
    at = list_at[:-1].copy()
    for c in range(n_listed):
        for t in range(n_trees):
            node = root[t] + codes[c, t]
            lists[at[node]] = c
            at[node] += 1
    for b in range(n_bounded):
        for t in range(n_trees):
            begin, end = tree_ptr[b * n_trees + t], tree_ptr[b * n_trees + t + 1]
            for i in range(begin, end):
                node = root[t] + leaves[i]
                lists[at[node]] = first + 2 * b
                at[node] += 1
                if end == begin + 1:
                    lists[at[node]] = first + 2 * b + 1
                    at[node] += 1
    return list_at, lists


@kernel
def make_row_lists(codes, places, spans, root, n_nodes, tree_ptr, leaves):
    """Lists of rows instead of candidates: the place of each row that has one in the leaf, once.

    Bounded rows are at the last places, in order; their leaves are as in `make_lists`.
    """
    n_trees = root.shape[0]
    n_short = places.shape[0] - (tree_ptr.shape[0] - 1) // n_trees
    latest = np.full(n_nodes, -1, np.int64)  # the place that was counted last
    list_at = np.zeros(n_nodes + 1, np.int64)
    at = list_at
    lists = np.empty(0, np.uint32)
    for filling in range(2):
        for place in range(places.shape[0]):
            mark = 2 * place + filling
            if place >= n_short:
                first = (place - n_short) * n_trees
                for t in range(n_trees):
                    for i in range(tree_ptr[first + t], tree_ptr[first + t + 1]):
                        node = root[t] + leaves[i]
                        if filling:
                            lists[at[node]] = place
                            at[node] += 1
                        else:
                            list_at[node + 1] += 1
                continue
            begin = spans[places[place], FIRST_CANDIDATE]
            for c in range(begin, begin + spans[places[place], SIZE]):
                for t in range(n_trees):
                    node = root[t] + codes[c, t]
                    if latest[node] == mark:
                        continue
                    latest[node] = mark
                    if filling:
                        lists[at[node]] = place
                        at[node] += 1
                    else:
                        list_at[node + 1] += 1
        if not filling:
            for node in range(n_nodes):
                list_at[node + 1] += list_at[node]
            lists = np.empty(list_at[n_nodes], np.uint32)
            at = list_at[:-1].copy()
    return list_at, lists


@part
def count_listed(root, list_at, lists, leaves, begins, ends, times, met):
    """How often each number in the lists of the leaves is met; returns how many are, in met."""
    n_met = _0
    n_trees = leaves.shape[0]
    for t in range(n_trees):  # by themselves, so that the processor fetches them in parallel
        node = np.uint64(root[t]) + np.uint64(leaves[t])
        begins[t] = list_at[node]
        ends[t] = list_at[node + _1]
    if lists.shape[0]:  # likewise the first and the last of each list
        last = np.uint64(lists.shape[0] - 1)
        fetched = np.uint32(0)
        for t in range(n_trees):
            fetched ^= lists[min(begins[t], last)] ^ lists[max(ends[t], _1) - _1]
        met[0] = fetched  # nobody reads it; but what has no use would not be fetched
    for t in range(n_trees):
        for e in range(begins[t], ends[t]):
            c = lists[e]
            met[n_met] = c
            n_met += np.uint64(times[c] == 0)
            times[c] += np.uint16(1)
    return n_met


@part
def count_met(rows, leaves, begins, ends, times, met):
    """Step 1: how often each candidate is met; returns how many are, which stand in met."""
    n_met = count_listed(rows.root, rows.list_at, rows.lists, leaves, begins, ends, times, met)
    for extra in rows.extra:
        times[extra] = trees_shared(rows.codes[extra], leaves)
        met[n_met] = extra
        n_met += np.uint64(times[extra] > 0)
    return n_met


@part
def trees_shared(codes, leaves):
    """In how many trees two candidates are in one leaf."""
    same = 0
    for t in range(leaves.shape[0]):
        same += codes[t] == leaves[t]
    return same


@part
def sort_first(array, n):
    """Sort the first n of some numbers, in place."""
    gap = 1
    while gap < n:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            value = array[i]
            at = i
            while at >= gap and array[at - gap] > value:
                array[at] = array[at - gap]
                at -= gap
            array[at] = value
        gap //= 3


@part
def grown(array, used, size):
    larger = np.empty(size, array.dtype)
    for i in range(used):
        larger[i] = array[i]
    return larger


@part
def small_order(distance, n, counts, order):
    """Positions of n small integers in ascending order; equal ones stay as they are."""
    counts[:] = 0
    for i in range(n):
        counts[distance[i] + 1] += 1
    for d in range(1, counts.shape[0]):
        counts[d] += counts[d - 1]
    for i in range(n):
        order[counts[distance[i]]] = i
        counts[distance[i]] += 1
