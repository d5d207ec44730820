"""Shares of labels in whole numbers, for hundreds of rows: a dynamic program over votes.

Brute force (`oracle`) goes through all worlds, so it ends at some thousands of them. This counts
them instead: candidates from near to far, and for every label the number of ways in which so many
of its rows are nearer, weighted by whole numbers that are proportional to the priors. One row is
taken out of its label's numbers by an exact division, and put back where it is now. Like the
oracle, it imports nothing from cpclean, and uses neither trees nor floats beyond the distances.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import oracle


def world_shares(
    candidates: Sequence[Sequence[oracle.Vector]],
    codes: Sequence[int],
    n_classes: int,
    priors: Sequence[oracle.Weights] | None,
    t: oracle.Vector,
    k: int,
    metric: oracle.Metric = "euclidean",
) -> list[Fraction]:
    """The share of prior mass that predicts each class, exactly; arguments as in `oracle`."""
    given = [None] * len(candidates) if priors is None else priors
    weights = [_whole(prior, len(row)) for prior, row in zip(given, candidates, strict=True)]
    places = sorted(
        (oracle.distance(x, t, metric), row, weight)
        for row, vectors in enumerate(candidates)
        for x, weight in zip(vectors, weights[row], strict=True)
        if weight
    )
    far, near = [sum(row) for row in weights], [0] * len(weights)
    ways = [[1] + [0] * k for _ in range(n_classes)]
    for code, total in zip(codes, far, strict=True):
        ways[code][0] *= total
    mass, n_met, n_behind = [0] * n_classes, 0, 0
    for _, row, weight in places:
        own = _without(ways[codes[row]], far[row], near[row])
        n_met += near[row] == 0
        if n_met >= k:
            sitting = list(ways)
            sitting[codes[row]] = [0] + [weight * number for number in own[:-1]]
            for label in range(n_classes):
                mass[label] += _won(sitting, label, k)
        far[row] -= weight
        near[row] += weight
        ways[codes[row]] = _with(own, far[row], near[row])
        n_behind += far[row] == 0
        if n_behind == k:  # whatever comes is behind K others
            break
    return [Fraction(one, sum(mass)) for one in mass]


def pinned(
    priors: Sequence[oracle.Weights] | None, sizes: Sequence[int], row: int, candidate: int
) -> list[oracle.Weights]:
    """Priors with one row known to be one of its candidates."""
    changed = [None] * len(sizes) if priors is None else list(priors)
    changed[row] = [float(number == candidate) for number in range(sizes[row])]
    return changed


def _whole(prior: oracle.Weights, size: int) -> list[int]:
    exact = [Fraction(1)] * size if prior is None else [Fraction(weight) for weight in prior]
    scale = math.lcm(*(weight.denominator for weight in exact))
    return [int(weight * scale) for weight in exact]


def _without(ways: list[int], far: int, near: int) -> list[int]:
    """ways divided by far + near z; there is no remainder."""
    found, before = [], 0
    for number in ways:
        before, rest = divmod(number - near * before, far)
        assert rest == 0
        found.append(before)
    return found


def _with(ways: list[int], far: int, near: int) -> list[int]:
    shifted = [0, *ways[:-1]]
    return [far * one + near * other for one, other in zip(ways, shifted, strict=True)]


def _won(ways: list[list[int]], label: int, k: int) -> int:
    """Ways in which K rows are nearer and the label wins; at equal votes the first class does."""
    total = 0
    for votes, number in enumerate(ways[label][1:], start=1):
        if not number:
            continue
        rest = [1] + [0] * (k - votes)
        for other, own in enumerate(ways):
            if other != label:
                most = votes - 1 if other < label else votes
                rest = [
                    sum(own[n] * rest[c - n] for n in range(min(most, c) + 1))
                    for c in range(len(rest))
                ]
        total += number * rest[-1]
    return total
