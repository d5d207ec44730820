"""Kernel for any number of labels: votes are tallied, but tallies are never enumerated.

A label that no world predicts never has the most votes, so it hinders no other: only the *winners*,
the labels that some world predicts, are told apart, and the rows of all others are one *crowd*.
Winner u wins with c votes exactly when the K nearest rows hold c rows of label u, at most c - 1 of
every smaller winner and at most c of every larger one (vote ties go to the smaller class). With P_m
the polynomial of label m ([z^k] = mass of worlds with k of its rows among the nearest), the mass is

    sum over c of [z^K] P_u[c] z^c * P_crowd * prod over the other winners m of cut(P_m),

where cut drops the powers that m must not have. A winner whose polynomial ends below c is cut
nowhere; the others are the *contenders* at c, and most often they are few.

One scan from near to far, position by position (row i of label y, prior mass w):

1. *Row trees.* One binary product tree per label over its dirty rows; a leaf is F + G z, the mass
   of its row that is farther / nearer. On the path from leaf i to the root, E = product of the
   siblings = the polynomial of the label's other rows. A clean row is the factor z once it is met.
2. *Step.* Row i is the K-th nearest: P_y becomes z E, and the sum above times w is the position's
   contribution. Crowd and winners are multiplied from the weakest winner to the strongest, so that
   for every c the product of all that is not cut is at hand; the contenders, in class order, are
   multiplied from both ends. Then the leaf becomes its new F + G z.
3. *Conditionals.* Every share is linear in each leaf, so the share given one candidate is the sum
   of the leaf's derivatives: by F before the candidate's position, by G after it, and by w at it.
   Step 2 yields the derivatives by every label's polynomial; they wait at the roots of the row
   trees and are pulled towards the leaves lazily, on the changed path only. What belongs to a
   sibling waits there until it is needed.
4. *Trim, pass over, stop.* Powers at the ends of a polynomial that hold no more than a `trifle`
   together are dropped. So positions are passed over where K rows cannot be nearer yet, and the
   scan stops where fewer than K cannot be nearer any more.

What trimming costs: all factors are distributions of independent numbers, so what is dropped from
one of them changes a contribution by at most w trifle. Given one candidate of a row, the number of
its label's rows is distributed as E or z E instead of P. Since P = F E + G z E, and F or G is at
least 1/2, E holds at most 2 trifle beyond each end of P, and z E goes one power further: with
conditionals, everything is worked out for one power more at each end.

Cost per position: O(log R) products of polynomials for the row trees, and for the labels one for
each winner, and for each c one for each contender; with conditionals one for each pair of them.
Sums and products of non-negative numbers only, but for one subtraction per conditional. With a
modulus, the same scan counts worlds in a prime field; then nothing is trimmed, and trifle is None.

The compiler leaves out what follows `if x is not None` for an argument that is None: in a prime
field, all that is for floats only.

Polynomials are known by numbers: number a has the coefficients pool[at[a] + k] for the powers
k = low[a]..high[a], and no others.

Kernels that call each other share this file: the compilation cache does not see edits to a
callee in another file.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cpclean.queries.kernel_kinds import kernel, part

# Typed: of a function that is given a plain number, the compiler makes a version for that number.
_0: Any = np.int64(0)
_1: Any = np.int64(1)
_2: Any = np.int64(2)
_ONE = _0  # the number of the polynomial 1
_HALF = np.uint64(32)
_LOWER_HALF = np.uint64(2**32 - 1)
_2_TO_32 = np.uint64(2**32)


# -- polynomials ---------------------------------------------------------------------------


@part
def _coefficient(pool, at, low, high, a, b, most, k, modulus):
    """[z^k] a b, where b is cut beyond the power `most`."""
    first = max(low[a], k - min(high[b], most))
    n = min(high[a], k - low[b]) - first + 1
    p, q = at[a] + first, at[b] + k - first
    total = pool.dtype.type(0)
    if modulus is None:
        for i in range(n):
            total += pool[p + i] * pool[q - i]
    else:
        upper = total  # products have 64 bits: their halves can be summed
        for i in range(n):
            product = pool[p + i] * pool[q - i]
            total += product & _LOWER_HALF
            upper += product >> _HALF
        total = (upper % modulus * (_2_TO_32 % modulus) + total) % modulus
    return total


@part
def _multiply(pool, at, low, high, a, b, most, out, least, cap, trifle, modulus):
    """Set out = a b for the powers least..cap, where b is cut beyond the power `most`; trimmed."""
    b_low, b_high = low[b], min(high[b], most)
    first, last = max(low[a] + b_low, least), min(high[a] + b_high, cap)
    if b_low > b_high or low[a] > high[a]:
        last = first - 1
    low[out], high[out] = first, last
    r = at[out]
    if trifle is not None:
        p, q = at[a], at[b]
        for k in range(r + first, r + last + 1):
            pool[k] = 0.0
        for i in range(max(low[a], first - b_high), min(high[a], last - b_low) + 1):
            x = pool[p + i]
            begin = max(b_low, first - i)
            # Unsigned numbers: an index that cannot be negative needs no check.
            n = np.uint64(max(min(b_high, last - i) + 1 - begin, 0))
            source, target = np.uint64(q + begin), np.uint64(r + i + begin)
            for j in range(n):
                pool[target + j] += x * pool[source + j]
        _trim(pool, r, low, high, out, trifle)
    elif modulus is not None:
        for k in range(first, last + 1):
            pool[r + k] = _coefficient(pool, at, low, high, a, b, most, k, modulus)


@part
def _trim(pool, begin, low, high, a, trifle):
    """Step 4: drop the powers at the ends that hold no more than a trifle."""
    total = 0.0
    while low[a] < high[a]:
        total += pool[begin + low[a]]
        if total > trifle:
            break
        low[a] += 1
    total = 0.0
    while low[a] < high[a]:
        total += pool[begin + high[a]]
        if total > trifle:
            break
        high[a] -= 1


@part
def _shift(pool, at, low, high, a, shift, out, cap):
    """Set out = z^shift a."""
    low[out], high[out] = low[a] + shift, min(high[a] + shift, cap)
    for k in range(low[out], high[out] + 1):
        pool[at[out] + k] = pool[at[a] + k - shift]


@part
def _pull(pool, seed, most, factor, low, high, into, begin, end, scale):
    """into[k] += scale sum_j seed[k + j] factor[j]: a product's derivative as one factor sees it.

    seed, factor and into say where in the pool they begin. The other factor has the powers
    low..high; k is in begin..end, and k + j at most `most`.
    """
    for j in range(low, high + 1):
        x = scale * pool[factor + j]
        n = np.uint64(max(min(end, most - j) + 1 - begin, 0))
        source, target = np.uint64(seed + begin + j), np.uint64(into + begin)
        for k in range(n):
            pool[target + k] += x * pool[source + k]


@part
def _clear(pool, begin, n):
    for k in range(begin, begin + n):
        pool[k] = 0


# -- row trees -----------------------------------------------------------------------------


@part
def _climb(pool, at, low, high, nodes, tree, top, last, slot, others, path, cap, trifle,
           modulus):  # fmt: skip
    """Step 1: renew the path above a leaf.

    nodes[tree + h] is the number of the tree's first node of level h, last its last leaf. path[h]
    becomes the number of the product of the siblings below level h; others.. are free for them.
    """
    leaf = nodes[tree] + slot
    path[0] = _ONE
    for level in range(top):
        beside = (slot >> level) ^ 1
        path[level + 1] = path[level]
        if beside <= last >> level:
            path[level + 1] = others + level
            _multiply(pool, at, low, high, path[level], nodes[tree + level] + beside, cap,
                      others + level, _0, cap, trifle, modulus)  # fmt: skip
        node = nodes[tree + level + 1] + (slot >> (level + 1))
        _multiply(pool, at, low, high, path[level + 1], leaf, _1, node, _0, cap, trifle, modulus)


@part
def _step_down(pool, at, low, high, nodes, tree, last, level, place, cap, waiting):
    """Step 3: pull what waits at a node down to its children.

    What waits at a node begins so far beyond the node's polynomial as `waiting` says.
    """
    node, one = nodes[tree + level] + place, nodes[tree + level - 1] + 2 * place
    other = one + 1
    most, room = min(1 << level, cap), min(1 << (level - 1), cap)
    seed = waiting + at[node]
    if 2 * place + 1 > last >> (level - 1):  # an only child
        for k in range(room + 1):
            pool[waiting + at[one] + k] += pool[seed + k]
    else:
        for _ in range(2):
            _pull(pool, seed, most, at[other], low[other], high[other], waiting + at[one],
                  max(low[one] - 1, 0), min(high[one] + 1, room), 1.0)  # fmt: skip
            one, other = other, one
    _clear(pool, seed, most + 1)


@part
def _hand_down(pool, at, low, high, nodes, tree, top, last, slot, path, cap, mass, seed, spare,
               waiting):  # fmt: skip
    """Step 3, while a row is the K-th: pull `seed` down to its siblings; returns the row's part."""
    for level in range(top - 1, -1, -1):
        beside = (slot >> level) ^ 1
        if beside <= last >> level:
            sibling, inner = nodes[tree + level] + beside, path[level]
            _pull(pool, seed + 1, cap - 1, at[inner], low[inner], high[inner],
                  waiting + at[sibling], max(low[sibling] - 1, 0),
                  min(high[sibling] + 1, min(1 << level, cap)), mass)  # fmt: skip
            _clear(pool, spare, cap + 1)
            _pull(pool, seed, cap, at[sibling], low[sibling], high[sibling], spare,
                  low[inner], min(high[inner] + 2, cap), 1.0)  # fmt: skip
            seed, spare = spare, seed
    return pool[seed + 1]


# -- labels --------------------------------------------------------------------------------


@part
def _combine(pool, at, low, high, labels, wanted, order, begin, end, who, n_neighbors, trifle,
             mass, sums, modulus):  # fmt: skip
    """Step 2: the mass of the worlds in the present state that each winner wins.

    The winners' polynomials have the numbers labels.., the crowd's comes after them; the powers
    begin..end of each matter. order has the winners from the strongest to the weakest, nearly.
    wanted says where in mass a winner stands (-1: nowhere). With conditionals (Step 3), what begins
    at sums in the pool is filled with derivatives: for every wanted winner, those by the product of
    all that is not cut, and those by each label's powers.
    """
    n_winners = order.shape[0]
    size = n_neighbors + 2
    margin = 1 if sums else 0
    fewest = 1
    for m in range(n_winners):
        fewest = max(fewest, begin[m])
        moved, place = order[m], m
        while place > 0 and end[order[place - 1]] < end[moved]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = moved
    # Number products - n: the crowd times all winners but the n strongest.
    products = labels + 2 * n_winners
    for n in range(n_winners - 1, -1, -1):
        _multiply(pool, at, low, high, products - n - 1, labels + order[n], n_neighbors + margin,
                  products - n, _0 if n else n_neighbors - margin, n_neighbors + margin, trifle,
                  modulus)  # fmt: skip
    if trifle is not None:  # Step 4: it may be next to impossible that K are nearer
        most = 0.0
        for k in range(low[products], high[products] + 1):
            most = max(most, pool[at[products] + k])
        if most <= trifle:
            return
    left, right = products, products + n_winners
    n = _0
    for votes in range(end[order[0]], fewest - 1, -1):
        others = n_neighbors - votes
        reach = end[n_winners]
        j = _0
        for m in range(n_winners):  # the contenders in class order
            reach += min(end[m], votes)
            if end[m] >= votes:
                who[j] = m
                j += 1
        if reach < n_neighbors:  # too few votes for all, and fewer would be too
            break
        if trifle is not None:
            for weaker in range(n, j):
                _push(pool, at, low, high, labels, products, weaker, order, begin, end, wanted,
                      size, sums)  # fmt: skip
        n = j
        outer = _ONE
        for j in range(n - 1, 0, -1):
            _multiply(pool, at, low, high, outer, labels + who[j], votes, right + j, _0, others,
                      trifle, modulus)  # fmt: skip
            outer = right + j
        outer = products - n
        for j in range(n):
            m = who[j]
            u = wanted[m]
            if u >= 0 and votes >= begin[m]:
                after = right + j + 1 if j + 1 < n else _ONE
                found = _coefficient(pool, at, low, high, outer, after, others, others, modulus)
                own = labels + m
                possible = low[own] <= votes <= high[own]
                if trifle is not None:
                    back = sums + u * (n_winners + 2) * size
                    if margin:
                        pool[back + (m + 1) * size + votes] += found
                    if possible:
                        mass[u] += pool[at[own] + votes] * found
                        if margin:
                            _derive(pool, at, low, high, labels, n_winners, n, j, who, begin, end,
                                    votes, n_neighbors, back)  # fmt: skip
                elif modulus is not None:
                    if possible:
                        mass[u] = (mass[u] + pool[at[own] + votes] * found) % modulus
            if j + 1 < n:
                _multiply(pool, at, low, high, outer, labels + m, votes - 1, left + j + 1,
                          others - votes * (n - 2 - j), others, trifle, modulus)  # fmt: skip
                outer = left + j + 1
    if trifle is not None:
        for weaker in range(n, n_winners + 1):
            _push(pool, at, low, high, labels, products, weaker, order, begin, end, wanted, size,
                  sums)  # fmt: skip


@part
def _derive(pool, at, low, high, labels, n_winners, n, j, who, begin, end, votes, n_neighbors,
            back):  # fmt: skip
    """Step 3: derivatives of one winner's mass with so many votes, by the powers of all else.

    The winner is contender j of n; the derivatives begin at back in the pool.
    """
    left, right = labels + 2 * n_winners, labels + 3 * n_winners
    scratch = right + n_winners
    found = scratch + 2
    size, others = n_neighbors + 2, n_neighbors - votes
    mass = pool[at[labels + who[j]] + votes]
    # First from the winner to the last contender, then to the first: what is beyond the winner on
    # the other side, times those passed, times what is beyond those.
    inner = left + j if j else left - n
    i, step, most = j + 1, 1, votes
    while i >= 0:
        if i == n:
            inner = right + j + 1 if j + 1 < n else _ONE
            i, step, most = j - 1, -1, votes - 1
            continue
        m = who[i]
        if step > 0:
            beyond = right + i + 1 if i + 1 < n else _ONE
        else:
            beyond = left + i if i else left - n
        _multiply(pool, at, low, high, inner, beyond, others, found, others - min(end[m], most),
                  others - begin[m], 0.0, None)  # fmt: skip
        begins = back + (m + 1) * size + others
        for k in range(low[found], high[found] + 1):
            pool[begins - k] += mass * pool[at[found] + k]
        _multiply(pool, at, low, high, inner, labels + m, most, scratch + i % 2, _0, others, 0.0,
                  None)  # fmt: skip
        inner = scratch + i % 2
        i += step
    for k in range(low[inner], high[inner] + 1):
        pool[back + others - k] += mass * pool[at[inner] + k]


@part
def _push(pool, at, low, high, labels, products, n, order, begin, end, wanted, size, sums):
    """Step 3: hand on the derivatives by a product to its factors: a winner, and all weaker ones.

    The product is that of the crowd and all winners but the n strongest.
    """
    if sums == 0:
        return
    n_winners = order.shape[0]
    inner = products - n - 1
    for m in range(n_winners):
        back = sums + wanted[m] * (n_winners + 2) * size
        if wanted[m] < 0:
            continue
        if n == n_winners:  # the crowd alone
            for k in range(size):
                pool[back + (n_winners + 1) * size + k] += pool[back + k]
            continue
        spare = pool.shape[0] - size
        factor = order[n]
        _pull(pool, back, size - 2, at[inner], low[inner], high[inner], back + (factor + 1) * size,
              begin[factor], end[factor], 1.0)  # fmt: skip
        factor += labels
        _clear(pool, spare, size)
        _pull(pool, back, size - 2, at[factor], low[factor], high[factor], spare,
              max(low[inner] - 1, 0), min(high[inner] + 1, size - 2), 1.0)  # fmt: skip
        for k in range(size):
            pool[back + k] = pool[spare + k]


# -- the scan ------------------------------------------------------------------------------


@part
def _plan(label, clean, owner, slot, last, top):
    """Step 1: make rows leaves in the order in which they are met; returns the highest level."""
    highest = _0
    for row in range(label.shape[0]):
        slot[row] = -1
    for m in range(last.shape[0]):
        last[m] = -1
    for row in owner:
        if slot[row] < 0 and not clean[row]:
            m = label[row]
            last[m] += 1
            slot[row] = last[m]
            while last[m] >> top[m] > 0:
                top[m] += 1
            highest = max(highest, top[m])
    return highest


@kernel
def tally(label, clean, owner, weight, nearer, far, n_winners, wanted, n_neighbors, trifle,
          want_sums, modulus):  # fmt: skip
    """The scan of one point.

    label is every row's winner in class order, or n_winners for a row of the crowd; clean says
    which rows have one candidate; wanted are the winners whose share is asked for. Returns (shares,
    given, given_beyond): the shares, and, if asked for, given each position (wanted, positions) and
    given that a row lies beyond the last position (wanted, rows), as flat arrays.
    """
    n_rows, n_positions, n_wanted = label.shape[0], owner.shape[0], wanted.shape[0]
    n_labels = n_winners + 1
    n_sums, margin = (n_wanted, 1) if want_sums else (0, 0)
    cap, size = n_neighbors + margin, n_neighbors + 2
    slot, last = np.zeros(n_rows, np.int64), np.zeros(n_labels, np.int64)
    top, root = np.zeros(n_labels, np.int64), np.zeros(n_labels, np.int64)
    n_levels = _plan(label, clean, owner, slot, last, top) + 1
    # Numbers: 1, the row trees, the labels, then what _combine and _climb need.
    nodes = np.zeros(n_labels * n_levels, np.int64)
    labels = _1
    for m in range(n_labels):
        for level in range(n_levels):
            nodes[m * n_levels + level] = labels
            labels += (last[m] >> level) + 1
        root[m] = nodes[m * n_levels + top[m]] if last[m] >= 0 else _ONE
    others = labels + 4 * n_winners + 3
    at = np.zeros(others + n_levels, np.int64)
    free = _1
    for m in range(n_labels):
        for level in range(n_levels):
            for place in range((last[m] >> level) + 1):
                at[nodes[m * n_levels + level] + place] = free
                free += min(1 << level, cap) + 1
    in_trees = free
    for a in range(labels, at.shape[0]):
        at[a] = free
        free += size
    # After the polynomials, derivatives: in the row trees, by labels, and room for three more.
    in_labels = (n_winners + 2) * size
    sums = free + n_sums * in_trees
    seed = sums + n_sums * in_labels
    pool = np.zeros(seed + 3 * size, weight.dtype)
    low, high = np.zeros(at.shape[0], np.int64), np.zeros(at.shape[0], np.int64)
    for a in range(at.shape[0]):
        pool[at[a]] = 1
    path, met = np.zeros(n_levels, np.int64), np.zeros(n_labels, np.int64)  # met: clean rows
    begin, end = np.zeros(n_labels, np.int64), np.zeros(n_labels, np.int64)
    order, who = np.zeros(n_winners, np.int64), np.zeros(n_winners, np.int64)
    number = np.zeros(n_winners, np.int64)
    for m in range(n_winners):
        order[m] = m
        number[m] = -1
    for u in range(n_wanted):
        number[wanted[u]] = u
    shares, mass = np.zeros(n_wanted, weight.dtype), np.zeros(n_wanted, weight.dtype)
    by_far = np.zeros(n_sums * n_rows, weight.dtype)
    by_near = np.zeros(n_sums * n_rows, weight.dtype)
    given = np.zeros(n_sums * n_positions, weight.dtype)
    used = n_positions
    for p in range(n_positions):
        row = owner[p]
        mine = label[row]
        own, tree, inner = labels + mine, mine * n_levels, root[mine]
        if not clean[row]:
            leaf = nodes[tree] + slot[row]
            # Step 3: the leaf's derivatives before this position.
            if trifle is not None:
                for u in range(n_sums):
                    waiting = free + u * in_trees
                    for level in range(top[mine], 0, -1):
                        _step_down(pool, at, low, high, nodes, tree, last[mine], level,
                                   slot[row] >> level, cap, waiting)  # fmt: skip
                    place = u * n_rows + row
                    by_far[place] += pool[waiting + at[leaf]]
                    by_near[place] += pool[waiting + at[leaf] + 1]
                    _clear(pool, waiting + at[leaf], _2)
                    given[u * n_positions + p] = by_far[place] - by_near[place]
            # Step 1: from here on the row may be nearer.
            pool[at[leaf]], pool[at[leaf] + 1] = far[p], nearer[p]
            low[leaf] = 0 if far[p] != 0 else 1
            high[leaf] = 1 if nearer[p] != 0 else 0
            _climb(pool, at, low, high, nodes, tree, top[mine], last[mine], slot[row], others,
                   path, cap, trifle, modulus)  # fmt: skip
            inner = path[top[mine]]
        # Step 2: the row sits here, in the K-th place.
        _shift(pool, at, low, high, inner, met[mine] + 1, own, cap)
        met[mine] += clean[row]
        fewest = most = 0
        for m in range(n_labels):
            begin[m] = max(low[labels + m] - margin, 0)
            end[m] = min(high[labels + m] + margin, n_neighbors)
            fewest += low[labels + m]
            most += high[labels + m]
        if fewest > cap:  # Step 4
            used = p
            break
        if most + margin >= n_neighbors and (want_sums or weight[p] != 0):
            _clear(mass, _0, n_wanted)
            _clear(pool, sums, n_sums * in_labels)
            _combine(pool, at, low, high, labels, number, order, begin, end, who, n_neighbors,
                     trifle, mass, sums if want_sums else _0, modulus)  # fmt: skip
            for u in range(n_wanted):
                if trifle is not None:
                    shares[u] += weight[p] * mass[u]
                elif modulus is not None:
                    shares[u] = (shares[u] + weight[p] * mass[u]) % modulus
            # Step 3: the derivatives at this position.
            if trifle is not None:
                for u in range(n_sums):
                    waiting = free + u * in_trees
                    for m in range(n_labels):
                        if last[m] < 0:
                            continue
                        derived = sums + u * in_labels + (m + 1) * size + met[m]
                        if m == mine and not clean[row]:
                            _clear(pool, seed, size)
                            for k in range(max(begin[m] - met[m], 0), end[m] - met[m] + 1):
                                pool[seed + k] = pool[derived + k]
                            given[u * n_positions + p] += _hand_down(
                                pool, at, low, high, nodes, tree, top[m], last[m], slot[row],
                                path, cap, weight[p], seed, seed + size, waiting,
                            )  # fmt: skip
                        else:
                            room = min(1 << top[m], cap)
                            target = waiting + at[root[m]]
                            for k in range(
                                max(begin[m] - met[m], 0), min(end[m] - met[m], room) + 1
                            ):
                                pool[target + k] += weight[p] * pool[derived + k]
        if not clean[row]:
            _shift(pool, at, low, high, root[mine], met[mine], own, cap)
    # Step 3: what still waits belongs to what comes after each row's last position.
    if trifle is not None:
        for u in range(n_sums):
            waiting = free + u * in_trees
            for m in range(n_labels):
                for level in range(top[m], 0, -1):
                    for place in range((last[m] >> level) + 1):
                        _step_down(pool, at, low, high, nodes, m * n_levels, last[m], level, place,
                                   cap, waiting)  # fmt: skip
            for row in range(n_rows):
                place = u * n_rows + row
                if slot[row] < 0:  # clean, or beyond everything
                    by_far[place] = by_near[place] = shares[u]
                else:
                    leaf = waiting + at[nodes[label[row] * n_levels] + slot[row]]
                    by_far[place] += pool[leaf]
                    by_near[place] += pool[leaf + 1]
            for p in range(n_positions):
                place = u * n_rows + owner[p]
                if p < used:
                    given[u * n_positions + p] += by_near[place]
                else:  # so far away that it makes no difference how far
                    given[u * n_positions + p] = by_far[place]
    return shares, given, by_far
