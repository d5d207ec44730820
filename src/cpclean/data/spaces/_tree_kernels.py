"""Kernels that follow trees: the leaf of a complete row, and all leaves that a row may reach.

Trees come as the arrays of `trees.Trees`, all trees one behind the other; node numbers count from
the first node of each tree. Vectors are float32.

Kernels that call each other share this file: the compilation cache does not see edits to a
callee in another file.
"""

from __future__ import annotations

import numpy as np
from numba import njit

# Columns of the array of nodes.
FEATURE, THRESHOLD, LEFT, RIGHT = 0, 1, 2, 3
# Columns of the arrays that say where the cells of a row, and the values of a cell, are.
FIRST_CELL, N_CELLS = 0, 1
START, STOP, SIZE, VALUES_AT = 0, 1, 2, 3
# What is kept of a split that has to be come back to.
_NODE, _CELL, _LOW, _CUT, _HIGH = 0, 1, 2, 3, 4

# Columns of the nodes to come in `random_tree`: parent, first row, row behind the last, depth.
_PARENT, _BEGIN, _END, _DEPTH = range(4)


@njit(cache=True, nogil=True)
def leaves_of(root, nodes, thresholds, X, leaves):
    """Write the leaf of every row of X in every tree; O(depth) per row and tree.

    A node is four numbers side by side, for they are needed together: feature, threshold, left and
    right. `thresholds` is the same memory read as float32. All rows take a step, then all those
    that are not at a leaf take the next: the steps of different rows do not wait for each other,
    and no branch depends on a comparison. That is twice as fast as one row after the other.
    """
    n_rows = X.shape[0]
    at = np.empty(n_rows, np.int32)
    who = np.empty(n_rows, np.int32)
    for tree in range(root.shape[0] - 1):
        first = root[tree]
        for row in range(n_rows):
            at[row] = first
            who[row] = row
        n_left = n_rows
        while n_left > 0:
            n_next = 0
            for i in range(n_left):
                node = at[i]
                row = who[i]
                f = nodes[node, FEATURE]
                if f >= 0:
                    is_right = X[row, f] > thresholds[node, THRESHOLD]
                    at[n_next] = first + nodes[node, LEFT + is_right]
                    who[n_next] = row
                    n_next += 1
                else:
                    leaves[row, tree] = node - first
            n_left = n_next


@njit(cache=True, nogil=True)
def _cut(cells, values, chosen, at, cell, f, threshold, low, high):
    """Bring the values low..high-1 of a cell that go left to the front; how far these reach."""
    size = cells[cell, SIZE]
    column = cells[cell, VALUES_AT] + (f - cells[cell, START]) * size
    if cells[cell, STOP] - cells[cell, START] == 1:  # in ascending order: halve
        while low < high:
            middle = (low + high) // 2
            if values[column + middle] <= threshold:
                low = middle + 1
            else:
                high = middle
        return low
    cut = low
    for place in range(at + low, at + high):
        one = chosen[place]
        if values[column + one] <= threshold:
            chosen[place] = chosen[at + cut]
            chosen[at + cut] = one
            cut += 1
    return cut


@njit(cache=True, nogil=True)
def reachable(root, feature, threshold, left, right, base, spans, cells, values, sizes):
    """All leaves that each row may reach, one tree after the other; their numbers go into sizes.

    A row follows a tree with a set of values for each of its cells. A split on a column of a cell
    divides the set, and a side without values is not entered. The set is a run of the cell's
    values: dividing a part of it again reorders nothing outside that part. So a split is undone by
    remembering the ends of the run, and no node is visited twice.
    """
    n_trees = root.shape[0] - 1
    owner = np.full(base.shape[1], -1, np.int64)  # the cell that each feature belongs to
    most_cells = most_chosen = most_nodes = 1
    for row in range(base.shape[0]):
        most_cells = max(most_cells, spans[row, N_CELLS])
        total = 0
        for c in range(spans[row, N_CELLS]):
            total += cells[spans[row, FIRST_CELL] + c, SIZE]
        most_chosen = max(most_chosen, total)
    for tree in range(n_trees):
        most_nodes = max(most_nodes, root[tree + 1] - root[tree])
    low = np.zeros(most_cells, np.int64)
    high = np.zeros(most_cells, np.int64)
    at = np.zeros(most_cells, np.int64)
    chosen = np.empty(most_chosen, np.int64)  # the values of all cells, in runs
    splits = np.empty((most_nodes, 5), np.int64)
    leaves = np.empty(sizes.size + 16, np.int32)
    n_leaves = 0
    for row in range(base.shape[0]):
        begin = spans[row, FIRST_CELL]
        total = 0
        for c in range(spans[row, N_CELLS]):
            at[c] = total
            low[c] = 0
            high[c] = cells[begin + c, SIZE]
            for value in range(high[c]):
                chosen[total + value] = value
            total += high[c]
            for f in range(cells[begin + c, START], cells[begin + c, STOP]):
                owner[f] = c
        for tree in range(n_trees):
            first = root[tree]
            node = first
            depth = 0
            before = n_leaves
            while True:
                f = feature[node]
                while f >= 0:  # down to a leaf
                    c = owner[f]
                    if c < 0:
                        goes_left = base[row, f] <= threshold[node]
                    else:
                        cut = _cut(
                            cells, values, chosen, at[c], begin + c, f, threshold[node],
                            low[c], high[c],
                        )  # fmt: skip
                        goes_left = cut > low[c]
                        if goes_left and cut < high[c]:
                            splits[depth, _NODE] = node
                            splits[depth, _CELL] = c
                            splits[depth, _LOW] = low[c]
                            splits[depth, _CUT] = cut
                            splits[depth, _HIGH] = high[c]
                            depth += 1
                            high[c] = cut
                    node = first + (left[node] if goes_left else right[node])
                    f = feature[node]
                if n_leaves == leaves.shape[0]:
                    larger = np.empty(2 * n_leaves, np.int32)
                    for place in range(n_leaves):
                        larger[place] = leaves[place]
                    leaves = larger
                leaves[n_leaves] = node - first
                n_leaves += 1
                while depth > 0 and splits[depth - 1, _NODE] < 0:  # back from the right
                    depth -= 1
                    low[splits[depth, _CELL]] = splits[depth, _LOW]
                if depth == 0:
                    break
                split = splits[depth - 1]  # back from the left
                low[split[_CELL]] = split[_CUT]
                high[split[_CELL]] = split[_HIGH]
                node = first + right[split[_NODE]]
                split[_NODE] = -1
            sizes[row, tree] = n_leaves - before
        for c in range(spans[row, N_CELLS]):
            for f in range(cells[begin + c, START], cells[begin + c, STOP]):
                owner[f] = -1
    return leaves[:n_leaves]


@njit(cache=True, nogil=True)
def _stepped(state):
    """The next of Lehmer's random numbers, modulo 2^31 - 1: the same compiled and uncompiled."""
    return state * 48271 % 2147483647


@njit(cache=True, nogil=True)
def _wait(node, parent, begin, end, depth):
    """Fill in a node to come; `parent` is -1 - parent for its right side."""
    node[_PARENT] = parent
    node[_BEGIN] = begin
    node[_END] = end
    node[_DEPTH] = depth


@njit(cache=True, nogil=True)
def random_tree(X, observed, holes, columns, min_leaf, max_depth, seed):
    """A tree of random splits; rows are seen where they are observed, and labels are not seen.

    A split is a random feature, and the middle between the values of two random rows in which the
    feature is observed. A row in which it is not goes to a random side. Every leaf keeps at least
    min_leaf rows; where two tries per feature find no such split, a node stays a leaf.

    1. *Take* the node that waits last, until none does.
    2. *Choose* a feature that was not tried at this node.
    3. *Cut* between two of its values, at most twice, until both sides keep enough rows.
    4. *Split*: the two sides wait.

    X and observed have shape (n_rows, n_features), holes says which features are not observed
    everywhere, columns lists those to look at, seed is in [1, 2^31 - 2]. Returns (feature,
    threshold, left, right).
    """
    n_rows = X.shape[0]
    n_features = columns.shape[0]
    most = 2 * (n_rows // min_leaf) + 1
    feature = np.full(most, -1, np.int32)
    threshold = np.zeros(most)
    left = np.full(most, -1, np.int32)
    right = np.full(most, -1, np.int32)
    rows = np.arange(n_rows)  # those of a node are a run
    features = columns.copy()
    goes_left = np.empty(n_rows, np.bool_)
    waiting = np.empty((max_depth + 2, 4), np.int64)  # the nodes to come
    _wait(waiting[0], most, 0, n_rows, 0)
    n_waiting = 1
    n_nodes = 0
    state = seed
    while n_waiting > 0:
        n_waiting -= 1
        # Step 1: the node that waits last.
        ahead = waiting[n_waiting]
        parent, start, stop, depth = ahead[_PARENT], ahead[_BEGIN], ahead[_END], ahead[_DEPTH]
        node = n_nodes
        n_nodes += 1
        if parent < 0:
            right[-1 - parent] = node
        elif parent < most:
            left[parent] = node
        if stop - start < 2 * min_leaf or depth >= max_depth:
            continue
        for tried in range(n_features):
            # Step 2: a feature that was not tried here, and the rows in which it is observed.
            state = _stepped(state)
            other = tried + state % (n_features - tried)
            f = features[other]
            features[other] = features[tried]
            features[tried] = f
            seen = stop  # rows start..seen-1 are observed
            if holes[f]:
                seen = start
                for place in range(start, stop):
                    row = rows[place]
                    if observed[row, f]:
                        rows[place] = rows[seen]
                        rows[seen] = row
                        seen += 1
            if seen - start < 2:
                continue
            # Step 3: a threshold between two rows, and who goes left.
            n_left = 0
            for _ in range(2):
                state = _stepped(state)
                low = np.float64(X[rows[start + state % (seen - start)], f])
                state = _stepped(state)
                high = np.float64(X[rows[start + state % (seen - start)], f])
                if low == high:
                    continue
                if low > high:
                    low, high = high, low
                middle = 0.5 * low + 0.5 * high
                middle = middle if middle < high else low
                n_left = 0
                for place in range(start, seen):
                    goes_left[place] = X[rows[place], f] <= middle
                    n_left += goes_left[place]
                share = n_left / (seen - start)
                for place in range(seen, stop):
                    state = _stepped(state)
                    goes_left[place] = state < share * 2147483647
                    n_left += goes_left[place]
                if min_leaf <= n_left <= stop - start - min_leaf:
                    break
                n_left = 0
            if n_left == 0:
                continue
            # Step 4: the split: rows that go left come first, and both sides wait.
            cut = start
            for place in range(start, stop):
                if goes_left[place]:
                    row = rows[place]
                    rows[place] = rows[cut]
                    rows[cut] = row
                    cut += 1
            feature[node] = f
            threshold[node] = middle
            _wait(waiting[n_waiting], -1 - node, cut, stop, depth + 1)
            _wait(waiting[n_waiting + 1], node, start, cut, depth + 1)
            n_waiting += 2
            break
    return feature[:n_nodes], threshold[:n_nodes], left[:n_nodes], right[:n_nodes]
