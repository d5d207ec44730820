"""Kernels for two labels: which label reaches its votes first?

With two labels, label 0 wins exactly when its a-th nearest row comes before the b-th nearest row
of label 1, where a = ceil(K / 2) votes suffice for label 0 (ties go to the smaller class) and
b = K + 1 - a for label 1. The two labels' rows are independent, so each label needs only a
polynomial of degree below its votes: [z^k] is the mass of worlds with k of its rows nearer.

One scan from near to far, position by position (row i, prior mass w):

1. *Tree.* One binary product tree per label over the rows touched so far; a leaf is F + G z, the
   mass of its row that is farther / nearer. Untouched rows are the factor 1 and cost nothing.
2. *Step.* On the path from leaf i to the root, E = product of the siblings = the polynomial of
   the label's other rows. The position decides for its label with mass w E[votes - 1], times
   the mass in which the other label is not there yet. That is its share of the answer.
3. *Conditionals.* Given that row i of label 0 sits at position p, label 0 wins with mass
   V_i - C_i(p): C_i(p) sums, over the deciding positions of label 1 before p, the mass in which
   exactly a - 1 *other* rows of label 0 are nearer. These sums are pulled lazily from the root
   towards the leaves, on the changed path only; a sibling's part waits until it is needed.
   V_i follows, since the row's conditionals average to the answer.
4. *Stop* when the undecided mass cannot change the answer, or is zero.

Cost: O(votes^2 log R) per position, for the answer and all conditionals together. Sums and
products of non-negative numbers only, but for one subtraction per conditional. With a modulus,
the same scan counts worlds in a prime field.

Kernels that call each other share this file: the compilation cache does not see edits to a
callee in another file.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

_NEGLIGIBLE = 2.0**-60  # an undecided mass this much smaller than the answer cannot change it


class Room(NamedTuple):
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
    leaf_sum: np.ndarray  # (rows,) C_i so far
    lost: np.ndarray  # (rows,) what a row's sum has lost to rounding
    sums: np.ndarray  # (positions,) C_i at each position
    others: np.ndarray  # one polynomial: E
    seed: np.ndarray  # one polynomial


@njit(cache=True, nogil=True)
def _times(a, b, modulus):
    if modulus is None:
        return a * b
    return a * b % modulus


@njit(cache=True, nogil=True)
def _plus(a, b, modulus):
    if modulus is None:
        return a + b
    return (a + b) % modulus


@njit(cache=True, nogil=True)
def _make_room(row_ptr, ptr, points, votes, like):
    """Room for every point of the block; polynomials are of the kind of `like`."""
    n_rows = 1
    n_positions = 1
    for p in points:
        n_rows = max(n_rows, row_ptr[p + 1] - row_ptr[p])
        n_positions = max(n_positions, ptr[p + 1] - ptr[p])
    levels = 1
    while (1 << (levels - 1)) < n_rows:
        levels += 1
    level_at = np.zeros((2, levels), np.int64)
    n_nodes = 0
    for label in range(2):
        for level in range(levels):
            level_at[label, level] = n_nodes
            n_nodes += ((n_rows - 1) >> level) + 1
    size = _poly_size(votes)
    return Room(
        level_at, np.zeros(n_nodes * size, like.dtype), np.zeros(n_nodes * size),
        np.zeros(2, np.int64), np.zeros(2, np.int64), np.empty(n_rows, np.int64),
        np.empty(n_rows), np.empty(n_rows), np.empty(n_positions), np.empty(size, like.dtype),
        np.empty(size),
    )  # fmt: skip


@njit(cache=True, nogil=True)
def _poly_size(votes):
    return max(2, votes[0], votes[1])


@njit(cache=True, nogil=True, inline="always")
def _scan(side, owner, weight, nearer, far, votes, size, slack, room, shares, want_sums, modulus):
    """The scan of one point: shares of both labels; returns how many positions were used.

    size is the number of coefficients of a polynomial; where it is written as a number, the
    compiler unrolls all loops over coefficients.
    """
    level_at, poly, pending, top, touched = room[:5]
    slot, leaf_sum, _, sums, others, seed = room[5:]
    for i in range(side.shape[0]):
        slot[i] = -1
        leaf_sum[i] = 0.0
    touched[:] = 0
    top[:] = 0
    lost = np.zeros(2)
    waiting = np.zeros(2)  # C of a row that is not touched yet
    behind = np.ones(2, poly.dtype)  # mass in which the label has not reached its votes
    shares[:] = 0
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
                    total = _times(others[k], poly[sibling], modulus)
                    for j in range(1, k + 1):
                        total = _plus(
                            total, _times(others[k - j], poly[sibling + j], modulus), modulus
                        )
                    others[k] = total
            parent = (level[h + 1] + (place >> 1)) * size
            poly[parent] = _times(far_mass, others[0], modulus)
            for k in range(1, size):
                poly[parent + k] = _plus(
                    _times(far_mass, others[k], modulus),
                    _times(near_mass, others[k - 1], modulus),
                    modulus,
                )
        deciding = _times(weight[at], others[votes[mine] - 1], modulus)
        won = _times(deciding, behind[other], modulus)
        if modulus is None:  # keep track of what rounding takes away: scans may be very long
            won -= lost[mine]
            before = shares[mine]
            shares[mine] += won
            lost[mine] = (shares[mine] - before) - won
        else:
            shares[mine] = _plus(shares[mine], won, modulus)
        root = (level[top[mine]]) * size
        total = poly[root]
        for k in range(1, votes[mine]):
            total = _plus(total, poly[root + k], modulus)
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
        if modulus is None:
            enough = slack if want_sums else _NEGLIGIBLE * min(shares[0], shares[1])
            if behind[0] * behind[1] <= enough:
                used = at + 1
                break
    return used


@njit(cache=True, nogil=True)
def _pull_all(level, poly, pending, last, top, size):
    """Pull everything that waits in one label's tree down to the leaves."""
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


@njit(cache=True, nogil=True)
def _scan_point(places, side, p, votes, slack, room, shares, want_sums, modulus):
    """Scan one point of a block, with loops unrolled for up to five neighbours and for 15."""
    begin, end = places.ptr[p], places.ptr[p + 1]
    sides = side[places.row_ptr[p] : places.row_ptr[p + 1]]
    owner, weight = places.owner[begin:end], places.weight[begin:end]
    nearer, far = places.nearer[begin:end], places.far[begin:end]
    size = _poly_size(votes)
    if size == 2:
        return _scan(sides, owner, weight, nearer, far, votes, 2, slack, room, shares,
                     want_sums, modulus)  # fmt: skip
    if size == 3:
        return _scan(sides, owner, weight, nearer, far, votes, 3, slack, room, shares,
                     want_sums, modulus)  # fmt: skip
    if size == 8:
        return _scan(sides, owner, weight, nearer, far, votes, 8, slack, room, shares,
                     want_sums, modulus)  # fmt: skip
    return _scan(sides, owner, weight, nearer, far, votes, size, slack, room, shares,
                 want_sums, modulus)  # fmt: skip


@njit(cache=True, nogil=True)
def race_shares(places, side, points, votes, modulus, out):
    """Shares of both labels for the given points of a block; out has shape (points, 2).

    places are the block's positions, side is 0 or 1 for every row. With a modulus, masses are
    elements of the prime field, and so are the shares.
    """
    room = _make_room(places.row_ptr, places.ptr, points, votes, places.weight)
    for i in range(points.shape[0]):
        _scan_point(places, side, points[i], votes, 0.0, room, out[i], False, modulus)


@njit(cache=True, nogil=True)
def race_conditionals(places, side, points, votes, slack, shares, own, own_beyond):
    """Shares of both labels, and of a row's own label given each of its candidates.

    For the given points of a block, fills shares (points, 2), own (one per position: the share of
    the label of the position's row, given that the row sits there) and own_beyond (one per row:
    the same, given that the row lies beyond the last position).
    """
    owner, weight = places.owner, places.weight
    room = _make_room(places.row_ptr, places.ptr, points, votes, weight)
    slot, leaf_sum, sums, lost = room.slot, room.leaf_sum, room.sums, room.lost
    size = _poly_size(votes)
    for i in range(points.shape[0]):
        p = points[i]
        begin, end = places.ptr[p], places.ptr[p + 1]
        rows = slice(places.row_ptr[p], places.row_ptr[p + 1])
        sides, beyond, mean = side[rows], places.beyond[rows], own_beyond[rows]
        # Steps 1 to 4: the scan.
        used = _scan_point(places, side, p, votes, slack, room, shares[i], True, None)
        total = shares[i, 0] + shares[i, 1]
        shares[i, 0] /= total
        shares[i, 1] /= total
        # Step 3, to the end: what still waits goes to the leaves; C_i, then V_i, then V_i - C_i.
        for label in range(2):
            _pull_all(room.level_at[label], room.poly, room.pending, room.touched[label] - 1,
                      room.top[label], size)  # fmt: skip
        for row in range(sides.shape[0]):  # leaf_sum becomes C beyond what the scan reached
            mean[row] = shares[i, sides[row]]
            lost[row] = 0.0
            if slot[row] >= 0:
                leaf = room.level_at[sides[row], 0] + slot[row]
                leaf_sum[row] += room.pending[leaf * size]
                mean[row] += beyond[row] * leaf_sum[row]
        for at in range(begin, end):  # mean becomes V_i
            row = owner[at]
            if at - begin >= used:
                sums[at - begin] = leaf_sum[row] if slot[row] >= 0 else 0.0
            term = weight[at] * sums[at - begin] - lost[row]
            before = mean[row]
            mean[row] += term
            lost[row] = (mean[row] - before) - term
        for at in range(begin, end):
            own[at] = min(max(mean[owner[at]] - sums[at - begin], 0.0), 1.0)
        for row in range(sides.shape[0]):
            if slot[row] >= 0:
                mean[row] = min(max(mean[row] - leaf_sum[row], 0.0), 1.0)


@njit(cache=True, nogil=True)
def _entropy(share):
    """Entropy of two shares that sum to 1, in nats."""
    if share <= 0.0 or share >= 1.0:
        return 0.0
    return -share * math.log(share) - (1.0 - share) * math.log1p(-share)


@njit(cache=True, nogil=True)
def race_gains(places, dirty, points, shares, own, own_beyond, entropies, gains):
    """How much entropy cleaning each row is expected to take away, from the conditionals.

    Fills entropies (points,) and gains (one per row of the block; clean rows gain nothing).
    """
    row_ptr, ptr, owner, weight = places.row_ptr, places.ptr, places.owner, places.weight
    left = np.empty(dirty.shape[0])
    for i in range(points.shape[0]):
        p = points[i]
        first = row_ptr[p]
        entropy = _entropy(min(shares[i, 0], shares[i, 1]))
        entropies[i] = entropy
        for row in range(first, row_ptr[p + 1]):
            gains[row] = 0.0
            if dirty[row]:
                left[row] = entropy - _entropy(own_beyond[row])
                gains[row] = places.beyond[row] * left[row]
        for at in range(ptr[p], ptr[p + 1]):
            row = first + owner[at]
            if dirty[row]:  # past the end of the scan all positions of a row agree
                same = own[at] == own_beyond[row]
                gains[row] += weight[at] * (left[row] if same else entropy - _entropy(own[at]))
