"""Kernel for any number of labels: votes are tallied, but tallies are never enumerated.

Label u wins with c votes exactly when the K nearest rows hold c rows of label u, at most c - 1 of
every smaller label and at most c of every larger one (vote ties go to the smaller class). With
P_m the polynomial of label m ([z^k] = mass of worlds with k of its rows among the nearest), the
mass is

    sum over c of [z^K] prod_m keep(P_m),   keep(P_m) = the powers of P_m that m may have.

One scan from near to far, position by position (row i of label y, prior mass w):

1. *Row trees.* One binary product tree per label; a leaf is F + G z, the mass of its row that is
   farther / nearer.
2. *Label trees.* For every possible winner u and every c, a product tree over labels, whose
   leaves are keep(P_m).
3. *Step.* Row i is the K-th nearest: its leaf becomes w z, the paths above it change, and the
   roots' [z^K] are the position's contribution. Then its leaf becomes its new F + G z.
4. *Conditionals.* Every share is linear in each leaf, so the share given one candidate is the
   sum of the leaf's derivatives: by F before the candidate's position, by G after it, and by w at
   it. A derivative starts as 1 at [z^K] of a root and is pulled towards the leaves lazily, on the
   changed path only; what belongs to a sibling waits there until it is needed.

Cost: O(winners K^3 log labels + K^2 log R) per position, for the conditionals too (with a larger
constant). Sums and products of non-negative numbers only, but for one subtraction per conditional.
With a modulus, the same scan counts worlds in a prime field.

Kernels that call each other share this file: the compilation cache does not see edits to a
callee in another file.
"""

from __future__ import annotations

import numpy as np
from numba import njit

_ROOT = 1  # of a tree; node n has the children 2 n and 2 n + 1
_FARTHER, _NEARER = 0, 1  # the powers in a leaf F + G z


@njit(cache=True, nogil=True)
def _multiply(a, b, out, modulus):
    """Set out = a * b, up to the power that out has room for."""
    size = out.shape[0]
    for k in range(size):
        out[k] = 0
    for i in range(size):
        if a[i] == 0:
            continue
        for j in range(size - i):
            if modulus is None:
                out[i + j] += a[i] * b[j]
            else:
                out[i + j] = (out[i + j] + a[i] * b[j]) % modulus


@njit(cache=True, nogil=True)
def _climb(nodes, leaf, modulus):
    """Renew the products above a leaf."""
    node = leaf >> 1
    while node >= _ROOT:
        _multiply(nodes[2 * node], nodes[2 * node + 1], nodes[node], modulus)
        node >>= 1


@njit(cache=True, nogil=True)
def _pull(seed, factor, into):
    """into[k] += sum_j seed[k + j] factor[j]: a parent's derivative as one child sees it."""
    size = into.shape[0]
    for j in range(size):
        if factor[j] != 0.0:
            for k in range(size - j):
                into[k] += seed[k + j] * factor[j]


@njit(cache=True, nogil=True)
def _descend(nodes, waiting, leaf):
    """Pull what waits above a leaf down to it, leaving the siblings' parts with them."""
    depth = 0
    while leaf >> (depth + 1) > 0:
        depth += 1
    for h in range(depth, 0, -1):
        node = leaf >> h
        child = leaf >> (h - 1)
        _pull(waiting[node], nodes[child ^ 1], waiting[child])
        _pull(waiting[node], nodes[child], waiting[child ^ 1])
        waiting[node, :] = 0.0


@njit(cache=True, nogil=True)
def _descend_all(nodes, waiting):
    for node in range(_ROOT, nodes.shape[0] // 2):
        _pull(waiting[node], nodes[2 * node + 1], waiting[2 * node])
        _pull(waiting[node], nodes[2 * node], waiting[2 * node + 1])
        waiting[node, :] = 0.0


@njit(cache=True, nogil=True)
def _kept(winner, votes, label):
    """The powers of a label's polynomial that let `winner` win with `votes`: from, to."""
    if label == winner:
        return votes, votes
    return 0, votes - 1 if label < winner else votes


@njit(cache=True, nogil=True)
def _full_tree(n_leaves):
    """Slots of a tree with at least n_leaves leaves: twice the next power of two."""
    size = 1
    while size < n_leaves:
        size *= 2
    return 2 * size


@njit(cache=True, nogil=True)
def _set_label(label_nodes, winners, label, poly, modulus):
    """Put a label's polynomial into the label trees of all winners and votes."""
    leaf = label_nodes.shape[2] // 2 + label
    for u in range(winners.shape[0]):
        for v in range(label_nodes.shape[1]):
            nodes = label_nodes[u, v]
            first, last = _kept(winners[u], v + 1, label)
            for k in range(poly.shape[0]):
                nodes[leaf, k] = poly[k] if first <= k <= last else 0
            _climb(nodes, leaf, modulus)


@njit(cache=True, nogil=True)
def _gather(label_nodes, label_waiting, winners, label, row_waiting, root, whole):
    """Hand what waits in the label trees on to a label's row tree, winner by winner."""
    leaf = label_nodes.shape[2] // 2 + label
    for u in range(winners.shape[0]):
        for v in range(label_nodes.shape[1]):
            waiting = label_waiting[u, v]
            if whole:
                _descend(label_nodes[u, v], waiting, leaf)
            first, last = _kept(winners[u], v + 1, label)
            for k in range(first, last + 1):
                row_waiting[u, root, k] += waiting[leaf, k]
            waiting[leaf, :] = 0.0


@njit(cache=True, nogil=True)
def tally(label, owner, weight, nearer, far, n_labels, winners, n_neighbors, want_sums, modulus):
    """The scan of one point.

    label numbers every row's label from 0 to n_labels - 1 in class order; winners are the labels
    whose share is wanted. Returns (shares, given, given_beyond): the winners' shares, and, if
    wanted, given each position (winners, positions) and given that a row lies beyond the last
    position (winners, rows).
    """
    n_rows = label.shape[0]
    n_winners = winners.shape[0]
    size = n_neighbors + 1
    shares = np.zeros(n_winners, weight.dtype)
    # Step 1. Row trees, one after the other: label m's nodes are tree_at[m]..tree_at[m + 1] - 1.
    slot = np.empty(n_rows, np.int64)
    in_label = np.zeros(n_labels, np.int64)
    for i in range(n_rows):
        slot[i] = in_label[label[i]]
        in_label[label[i]] += 1
    tree_at = np.zeros(n_labels + 1, np.int64)
    for m in range(n_labels):
        tree_at[m + 1] = tree_at[m] + _full_tree(in_label[m])
    row_nodes = np.zeros((tree_at[n_labels], size), weight.dtype)
    row_nodes[:, 0] = 1
    # Step 2: label trees, one per winner and number of votes.
    label_nodes = np.zeros((n_winners, n_neighbors, _full_tree(n_labels), size), weight.dtype)
    label_nodes[:, :, :, 0] = 1
    for m in range(n_labels):
        _set_label(label_nodes, winners, m, row_nodes[tree_at[m] + _ROOT], modulus)
    wanted = 1 if want_sums else 0
    row_waiting = np.zeros((n_winners, tree_at[n_labels] * wanted, size))
    label_waiting = np.zeros((n_winners, n_neighbors, label_nodes.shape[2] * wanted, size))
    by_far = np.zeros((n_winners, n_rows * wanted))
    by_near = np.zeros((n_winners, n_rows * wanted))
    given = np.zeros((n_winners, owner.shape[0] * wanted))
    for at in range(owner.shape[0]):
        row = owner[at]
        mine = label[row]
        begin, end = tree_at[mine], tree_at[mine + 1]
        nodes = row_nodes[begin:end]
        leaf = (end - begin) // 2 + slot[row]
        # Step 4: the leaf's derivatives before this position.
        if want_sums:
            _gather(label_nodes, label_waiting, winners, mine, row_waiting, begin + _ROOT, True)
            for u in range(n_winners):
                waiting = row_waiting[u, begin:end]
                _descend(nodes, waiting, leaf)
                by_far[u, row] += waiting[leaf, _FARTHER]
                by_near[u, row] += waiting[leaf, _NEARER]
                waiting[leaf, :] = 0.0
                given[u, at] = by_far[u, row] - by_near[u, row]
        # Step 3: the row sits here, in the K-th place.
        nodes[leaf, _FARTHER] = 0
        nodes[leaf, _NEARER] = weight[at]
        _climb(nodes, leaf, modulus)
        _set_label(label_nodes, winners, mine, nodes[_ROOT], modulus)
        for u in range(n_winners):
            for v in range(n_neighbors):
                if modulus is None:
                    shares[u] += label_nodes[u, v, _ROOT, n_neighbors]
                else:
                    shares[u] = (shares[u] + label_nodes[u, v, _ROOT, n_neighbors]) % modulus
        # Step 4: the leaf's derivative at this position.
        if want_sums:
            label_waiting[:, :, _ROOT, n_neighbors] += 1.0
            _gather(label_nodes, label_waiting, winners, mine, row_waiting, begin + _ROOT, True)
            for u in range(n_winners):
                waiting = row_waiting[u, begin:end]
                _descend(nodes, waiting, leaf)
                given[u, at] += waiting[leaf, _NEARER]
                waiting[leaf, :] = 0.0
        # Step 3: from here on the row may be nearer.
        nodes[leaf, _FARTHER] = far[at]
        nodes[leaf, _NEARER] = nearer[at]
        _climb(nodes, leaf, modulus)
        _set_label(label_nodes, winners, mine, nodes[_ROOT], modulus)
    # Step 4: what still waits belongs to what comes after each row's last position.
    if want_sums:
        for u in range(n_winners):
            for v in range(n_neighbors):
                _descend_all(label_nodes[u, v], label_waiting[u, v])
        for m in range(n_labels):
            begin, end = tree_at[m], tree_at[m + 1]
            _gather(label_nodes, label_waiting, winners, m, row_waiting, begin + _ROOT, False)
            for u in range(n_winners):
                _descend_all(row_nodes[begin:end], row_waiting[u, begin:end])
        for row in range(n_rows):
            begin, end = tree_at[label[row]], tree_at[label[row] + 1]
            leaf = begin + (end - begin) // 2 + slot[row]
            for u in range(n_winners):
                by_far[u, row] += row_waiting[u, leaf, _FARTHER]
                by_near[u, row] += row_waiting[u, leaf, _NEARER]
        for at in range(owner.shape[0]):
            for u in range(n_winners):
                given[u, at] += by_near[u, owner[at]]
    return shares, given, by_far
