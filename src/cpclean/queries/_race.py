"""Two labels: which of them reaches its votes first?

With two labels, label 0 wins exactly when its a-th nearest row comes before the b-th nearest row
of label 1, where a = ceil(K / 2) votes suffice for label 0 (ties go to the smaller class) and
b = K + 1 - a for label 1. The two labels' rows are independent, so each label needs only a
polynomial of degree below its votes: [z^k] is the mass of worlds with k of its rows nearer.

Given that row i of label 0 sits at position p, label 0 wins with mass V_i - C_i(p): C_i(p) sums,
over the deciding positions of label 1 before p, the mass in which exactly a - 1 *other* rows of
label 0 are nearer. V_i follows, since the row's conditionals average to the answer. All sums come
from one pass over the positions, together with the answer.

There are two ways to answer and sums. Product trees (`_race_tree`) are quick for a few votes, but
quadratic in their number. Walks (`_race_walk`) are linear in it, and quicker from 4 votes on.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cpclean.data.incomplete import Ints
from cpclean.data.rows import Floats
from cpclean.queries import _race_tree, _race_walk
from cpclean.queries.kernel_arrays import Masses, Positions
from cpclean.queries.kernel_kinds import kernel, part

# Up to so many votes, trees are quicker.
_FEW = 3
# Walks are unrolled for so many coefficients; fewer are filled up. Others are loops.
_UNROLLED = 8


def race_shares(
    places: Positions,
    side: Ints,
    points: Ints,
    votes: Ints,
    modulus: np.uint64 | None,
    out: Masses,
) -> None:
    """Shares of both labels for the given points of a block; out has shape (points, 2).

    places are the block's positions, side is 0 or 1 for every row. With a modulus, masses are
    elements of the prime field, and so are the shares.
    """
    most = max(votes.tolist())
    if modulus is None and most <= _FEW:
        _race_tree.shares(_width(most), places, side, points, votes, out)
    else:
        _race_walk.shares(_width(most, modulus), places, side, points, votes, modulus, out)


def race_conditionals(
    places: Positions,
    side: Ints,
    points: Ints,
    votes: Ints,
    slack: float,
    shares: Floats,
    own: Floats,
    own_beyond: Floats,
) -> Ints:
    """Shares of both labels, and of a row's own label given each of its candidates.

    For the given points of a block, fills shares (points, 2), own (one per position: the share of
    the label of the position's row, given that the row sits there) and own_beyond (one per row:
    the same, given that the row lies beyond the last position). Returns how many positions of each
    point were used.
    """
    most = max(votes.tolist())
    summed = _race_tree if most <= _FEW else _race_walk
    used = np.empty(len(points), np.int64)
    summed.sums(_width(most), places, side, points, votes, slack, shares, own, own_beyond, used)
    _given(places, side, points, used, shares, own, own_beyond)
    return used


def _width(most: int, modulus: np.uint64 | None = None) -> Any:
    """Something with as many entries as polynomials have coefficients; a tuple for unrolled loops.

    In a prime field, multiplications are too dear to fill up.
    """
    size = max(2, most)
    if modulus is not None or size > _UNROLLED:
        return np.zeros(size, np.int8)
    return (0,) * (size if size <= _FEW else _UNROLLED)


@kernel
def _given(places, side, points, used, shares, own, own_beyond):
    """Conditionals from sums, in place: own has C_i at each position, own_beyond has C_i beyond."""
    owner, weight = places.owner, places.weight
    most = 0
    for p in points:
        most = max(most, places.row_ptr[p + 1] - places.row_ptr[p])
    mean = np.empty(most)
    lost = np.empty(most)
    touched = np.empty(most, np.bool_)
    for i in range(points.shape[0]):
        p = points[i]
        begin, end = places.ptr[p], places.ptr[p + 1]
        stop = begin + used[i]
        first = places.row_ptr[p]
        total = shares[i, 0] + shares[i, 1]
        shares[i, 0] /= total
        shares[i, 1] /= total
        for row in range(places.row_ptr[p + 1] - first):
            mean[row] = shares[i, side[first + row]]
            lost[row] = 0.0
            touched[row] = False
        for at in range(begin, stop):
            row = owner[at]
            if not touched[row]:
                touched[row] = True
                mean[row] += places.beyond[first + row] * own_beyond[first + row]
        for at in range(begin, end):  # mean becomes V_i
            row = owner[at]
            if at < stop:
                term = weight[at] * own[at] - lost[row]
            elif touched[row]:
                term = weight[at] * own_beyond[first + row] - lost[row]
            else:
                continue
            before = mean[row]
            mean[row] += term
            lost[row] = (mean[row] - before) - term
        for at in range(begin, stop):
            own[at] = min(max(mean[owner[at]] - own[at], 0.0), 1.0)
        for row in range(places.row_ptr[p + 1] - first):
            beyond = mean[row]
            if touched[row]:
                beyond -= own_beyond[first + row]
            own_beyond[first + row] = min(max(beyond, 0.0), 1.0)
        for at in range(stop, end):
            own[at] = own_beyond[first + owner[at]]


@part
def _entropy(share):
    """Entropy of two shares that sum to 1, in nats."""
    less = min(share, 1.0 - share)
    if less <= 0.0:
        return 0.0
    if less > 1e-3:
        return -less * math.log(less) - (1.0 - less) * math.log1p(-less)
    # (1 - x) log(1 - x) = -x + x^2 / 2 + x^3 / 6 + x^4 / 12 + ...
    rest = 1.0 - less * (1 / 2 + less * (1 / 6 + less * (1 / 12 + less * (1 / 20 + less / 30))))
    return less * (rest - math.log(less))


@kernel
def race_gains(places, dirty, points, used, shares, own, own_beyond, entropies, gains):
    """How much entropy cleaning each row is expected to take away, from the conditionals.

    Fills entropies (points,) and gains (one per row of the block; clean rows gain nothing, nor do
    rows without a position that was used).
    """
    row_ptr, ptr, owner, weight = places.row_ptr, places.ptr, places.owner, places.weight
    most = 0
    for p in points:
        most = max(most, row_ptr[p + 1] - row_ptr[p])
    rest = np.empty(most)  # the mass of a row that lies farther than what was used
    touched = np.empty(most, np.bool_)
    for i in range(points.shape[0]):
        p = points[i]
        first = row_ptr[p]
        stop = ptr[p] + used[i]
        entropy = _entropy(min(shares[i, 0], shares[i, 1]))
        entropies[i] = entropy
        for row in range(row_ptr[p + 1] - first):
            gains[first + row] = 0.0
            rest[row] = places.beyond[first + row]
            touched[row] = False
        for at in range(ptr[p], stop):
            row = owner[at]
            if dirty[first + row]:
                touched[row] = True
                gains[first + row] += weight[at] * (entropy - _entropy(own[at]))
        for at in range(stop, ptr[p + 1]):
            rest[owner[at]] += weight[at]
        for row in range(row_ptr[p + 1] - first):
            if touched[row]:
                left = entropy - _entropy(own_beyond[first + row])
                gains[first + row] += rest[row] * left
