"""Two labels that need few votes each: one scan over product trees.

See `_race` for what is computed. One scan from near to far, position by position (row i, prior
mass w):

1. *Tree.* One binary product tree per label over the rows touched so far; a leaf is F + G z, the
   mass of its row that is farther / nearer. Untouched rows are the factor 1 and cost nothing.
2. *Step.* On the path from leaf i to the root, E = product of the siblings = the polynomial of
   the label's other rows. The position decides for its label with mass w E[votes - 1], times
   the mass in which the other label is not there yet. That is its share of the answer.
3. *Sums.* What is decided waits at the root of the other label's tree. It is pulled lazily from
   there towards the leaves, on the changed path only; a sibling's part waits until it is needed.
4. *Stop* when the undecided mass cannot change the answer, or is zero.

Cost: O(votes^2 log R) per position, with less to keep in order than `_race_walk` has.

Kernels that call each other share this file: the compilation cache does not see edits to a
callee in another file.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cpclean.queries.kernel_kinds import kernel, part

_NEGLIGIBLE = 2.0**-60  # an undecided mass this much smaller than the answer cannot change it


class TreeRoom(NamedTuple):
    """Trees and scratch for one point's scan; allocated once per block.

    The two labels' trees share the arrays `poly` and `pending`: a node's coefficients lie side by
    side, a level's nodes side by side, and a label's levels from the leaves up.
    """

    level_at: np.ndarray  # (2, levels) the first node of a level of a label's tree
    poly: np.ndarray  # the product of a node's rows
    pending: np.ndarray  # sums not yet pulled from a node to its children
    top: np.ndarray  # (2,) the level of the root
    touched: np.ndarray  # (2,) rows in the tree
    slot: np.ndarray  # (rows,) a row's leaf in its label's tree, -1 while untouched
    others: np.ndarray  # one polynomial: E
    seed: np.ndarray  # one polynomial


@part
def _make_room(row_ptr, points, size):
    """Room for every point of the block."""
    n_rows = 1
    for p in points:
        n_rows = max(n_rows, row_ptr[p + 1] - row_ptr[p])
    levels = 1
    while (1 << (levels - 1)) < n_rows:
        levels += 1
    level_at = np.empty((2, levels), np.int64)
    n_nodes = 0
    for label in range(2):
        for level in range(levels):
            level_at[label, level] = n_nodes
            n_nodes += ((n_rows - 1) >> level) + 1
    return TreeRoom(
        level_at, np.empty(n_nodes * size), np.empty(n_nodes * size), np.empty(2, np.int64),
        np.empty(2, np.int64), np.empty(n_rows, np.int64), np.empty(size), np.empty(size),
    )  # fmt: skip


@part
def _scan(width, side, owner, weight, nearer, far, votes, slack, room, shares, sums, leaf_sum):
    """The scan of one point: shares of both labels; returns how many positions were used.

    Sums are not taken if there is no room for those of the rows in leaf_sum.

    width has as many entries as polynomials have coefficients; it is a tuple, so that the compiler
    unrolls all loops over coefficients.
    """
    size = len(width)
    want_sums = leaf_sum.shape[0] > 0
    level_at, poly, pending, top, touched, slot, others, seed = room
    for i in range(side.shape[0]):
        slot[i] = -1
    for i in range(leaf_sum.shape[0]):
        leaf_sum[i] = 0.0
    lost = np.empty(2)
    waiting = np.empty(2)  # C of a row that is not touched yet
    behind = np.empty(2)  # mass in which the label has not reached its votes
    for label in range(2):
        touched[label] = 0
        top[label] = 0
        shares[label] = 0.0
        lost[label] = 0.0
        waiting[label] = 0.0
        behind[label] = 1.0
    used = owner.shape[0]
    for at in range(owner.shape[0]):
        row = owner[at]
        mine = side[row]
        other = 1 - mine
        level = level_at[mine]
        new = slot[row] < 0
        # Step 1: a row met for the first time gets a leaf.
        if new:
            slot[row] = touched[mine]
            touched[mine] += 1
            top[mine] = 0
            while slot[row] >> top[mine] > 0:
                top[mine] += 1
            # Nodes that begin with this leaf: the factor 1, nothing pending.
            h = 0
            while h < level.shape[0] and slot[row] & ((1 << h) - 1) == 0:
                node = (level[h] + (slot[row] >> h)) * size
                for k in range(size):
                    poly[node + k] = 0
                    pending[node + k] = 0.0
                poly[node] = 1
                h += 1
        leaf = slot[row]
        last = touched[mine] - 1
        leaf_node = (level[0] + leaf) * size
        # Step 3, before the path changes: pull what waits on it down to the leaf.
        if want_sums:
            for k in range(size):
                seed[k] = 0.0
            for h in range(top[mine], 0, -1):
                node = (level[h] + (leaf >> h)) * size
                for k in range(size):
                    seed[k] += pending[node + k]
                    pending[node + k] = 0.0
                place = leaf >> (h - 1)
                if place ^ 1 <= last >> (h - 1):
                    child = (level[h - 1] + place) * size
                    sibling = (level[h - 1] + (place ^ 1)) * size
                    for k in range(size):
                        to_sibling = 0.0
                        to_child = 0.0
                        for j in range(size - k):
                            to_sibling += seed[k + j] * poly[child + j]
                            to_child += seed[k + j] * poly[sibling + j]
                        pending[sibling + k] += to_sibling
                        seed[k] = to_child
            leaf_sum[row] = waiting[mine] if new else leaf_sum[row] + seed[0] + pending[leaf_node]
            for k in range(size):
                pending[leaf_node + k] = 0.0
            sums[at] = leaf_sum[row]
        # Step 2: change the leaf and the path above it; E grows by one sibling per level.
        near_mass = nearer[at]
        far_mass = far[at]
        for k in range(size):
            others[k] = 0
            poly[leaf_node + k] = 0
        others[0] = 1
        poly[leaf_node] = far_mass
        poly[leaf_node + 1] = near_mass
        for h in range(top[mine]):
            place = leaf >> h
            if place ^ 1 <= last >> h:
                sibling = (level[h] + (place ^ 1)) * size
                for k in range(size - 1, -1, -1):
                    total = others[k] * poly[sibling]
                    for j in range(1, k + 1):
                        total += others[k - j] * poly[sibling + j]
                    others[k] = total
            parent = (level[h + 1] + (place >> 1)) * size
            poly[parent] = far_mass * others[0]
            for k in range(1, size):
                poly[parent + k] = far_mass * others[k] + near_mass * others[k - 1]
        deciding = weight[at] * others[votes[mine] - 1]
        # Keep track of what rounding takes away: scans may be very long.
        won = deciding * behind[other] - lost[mine]
        before = shares[mine]
        shares[mine] += won
        lost[mine] = (shares[mine] - before) - won
        root = (level[top[mine]]) * size
        total = poly[root]
        for k in range(1, votes[mine]):
            total += poly[root + k]
        behind[mine] = total
        # Step 3: what is decided here waits at the root of the other label's tree.
        if want_sums:
            if touched[other] > 0:
                seeded = level_at[other, top[other]] * size + votes[other] - 1
                pending[seeded] += deciding
                waiting[other] += deciding * poly[seeded]
            elif votes[other] == 1:
                waiting[other] += deciding
        # Step 4: stop when the rest cannot change the answer.
        enough = slack if want_sums else _NEGLIGIBLE * min(shares[0], shares[1])
        if behind[0] * behind[1] <= enough:
            used = at + 1
            break
    return used


@part
def _pull_all(width, level, poly, pending, last, top):
    """Pull everything that waits in one label's tree down to the leaves."""
    size = len(width)
    for h in range(top, 0, -1):
        for place in range((last >> h) + 1):
            node = (level[h] + place) * size
            left = (level[h - 1] + 2 * place) * size
            right = left + size
            if 2 * place + 1 > last >> (h - 1):
                for k in range(size):
                    pending[left + k] += pending[node + k]
                continue
            for k in range(size):
                for j in range(size - k):
                    pending[left + k] += pending[node + k + j] * poly[right + j]
                    pending[right + k] += pending[node + k + j] * poly[left + j]


@kernel
def shares(width, places, side, points, votes, out):
    """Shares of both labels for the given points of a block; out has shape (points, 2)."""
    room = _make_room(places.row_ptr, points, len(width))
    nothing = np.empty(0)
    for i in range(points.shape[0]):
        begin, end = places.ptr[points[i]], places.ptr[points[i] + 1]
        sides = side[places.row_ptr[points[i]] : places.row_ptr[points[i] + 1]]
        _scan(width, sides, places.owner[begin:end], places.weight[begin:end],
              places.nearer[begin:end], places.far[begin:end], votes, 0.0, room, out[i], nothing,
              nothing)  # fmt: skip


@kernel
def sums(width, places, side, points, votes, slack, out, sums, row_sums, used):
    """Shares of both labels, C_i at all positions that are used, and beyond them."""
    room = _make_room(places.row_ptr, points, len(width))
    for i in range(points.shape[0]):
        p = points[i]
        begin, end = places.ptr[p], places.ptr[p + 1]
        sides = side[places.row_ptr[p] : places.row_ptr[p + 1]]
        leaf_sum = row_sums[places.row_ptr[p] : places.row_ptr[p + 1]]
        used[i] = _scan(width, sides, places.owner[begin:end], places.weight[begin:end],
                        places.nearer[begin:end], places.far[begin:end], votes, slack, room, out[i],
                        sums[begin:end], leaf_sum)  # fmt: skip
        # Step 3, to the end: what still waits goes to the leaves.
        for label in range(2):
            _pull_all(width, room.level_at[label], room.poly, room.pending,
                      room.touched[label] - 1, room.top[label])  # fmt: skip
        for row in range(sides.shape[0]):
            if room.slot[row] >= 0:
                leaf = room.level_at[sides[row], 0] + room.slot[row]
                leaf_sum[row] += room.pending[leaf * len(width)]
