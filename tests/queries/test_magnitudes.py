"""Distances neither overflow nor underflow: such numbers are refused, all others told apart.

Nearest rows are compared with brute force over all worlds in Fractions, with numbers at the edge of
what is allowed.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product
from random import Random

import numpy as np
import pytest
from slow_cases import parts

from cpclean import (
    Cell,
    FactoredRow,
    IncompleteDataset,
    IncompleteTable,
    expected_entropies,
    is_certain,
    possible_labels,
    world_shares,
)
from cpclean.errors import QueryError

METRICS = ("euclidean", "manhattan", "chebyshev", "hamming", "linear", "cosine")
SMALLEST = 5e-324


def exact_distance(metric: str, x: list[float], t: list[float]) -> Fraction:
    """What orders the rows, without rounding."""
    pairs = [(Fraction(a), Fraction(b)) for a, b in zip(x, t, strict=True)]
    if metric == "euclidean":
        return sum((a - b) ** 2 for a, b in pairs)
    if metric == "manhattan":
        return sum(abs(a - b) for a, b in pairs)
    if metric == "chebyshev":
        return max(abs(a - b) for a, b in pairs)
    if metric == "hamming":
        return Fraction(sum(a != b for a, b in pairs))
    dot, norm = sum(a * b for a, b in pairs), sum(a * a for a, _ in pairs)
    if metric == "linear":
        return -dot
    return Fraction(0) if norm == 0 else -dot * abs(dot) / norm


def exactly_possible(metric: str, rows: list[list[list[float]]], t: list[float]) -> list[bool]:
    """The rows that are nearest in some world; every row has a label of its own."""
    distances = [[exact_distance(metric, x, t) for x in row] for row in rows]
    found = {min((d, number) for number, d in enumerate(world))[1] for world in product(*distances)}
    return [number in found for number in range(len(rows))]


def close(metric: str, rows: list[list[list[float]]], t: list[float]) -> bool:
    """Whether two distances are so close that rounding may decide."""
    distances = sorted(exact_distance(metric, x, t) for row in rows for x in row)
    gaps = pairwise(distances)
    if metric == "cosine":  # which divides, so that multiples of a vector need not tie
        gaps = ((a, b) for a, b in gaps if a != 0)
        return any(b - a <= abs(a) * Fraction(1, 10**12) for a, b in gaps)
    return any(0 < b - a <= max(abs(a), abs(b)) * Fraction(1, 10**12) for a, b in gaps)


def edge_of(metric: str, rng: Random) -> tuple[float, float]:
    """The smallest sizes of candidates and points that may stand together."""
    if metric == "euclidean":
        return 1e-130, 1e-130
    if metric == "linear":
        own = 2.0 ** -rng.randint(300, 722)
        return own, 2.0**-1022 / own
    if metric == "cosine":  # up to 8 times as large, in two features
        own = 2.0 ** -rng.randint(100, 350)
        return own, 2.0 ** (53 - 510) / own * max(8 * own * 2**0.5, 1.0) * 1.01
    return SMALLEST, SMALLEST


def numbers(rng: Random, kind: str, size: float) -> float:
    if kind == "grid":
        return rng.randint(-8, 8) * size
    if kind == "one apart":
        return size * (1 + rng.randint(0, 4) * 2.0**-52) if size > 1e-300 else size
    return size * (1 + rng.randint(0, 3) * 2.0**-26) * rng.choice([-1, 0, 1])  # sums that cancel


def check(metric: str, seed: int, n_cases: int) -> None:
    rng = Random(seed)
    told_apart = 0
    for number in range(n_cases):
        own, other = edge_of(metric, rng)
        kind = ("grid", "one apart", "cancelling")[number % 3]
        width = rng.randint(1, 2)
        rows = [
            [[numbers(rng, kind, own) for _ in range(width)] for _ in range(rng.randint(1, 2))]
            for _ in range(4)
        ]
        t = [numbers(rng, kind, other) for _ in range(width)]
        if close(metric, rows, t):
            continue
        exact = exactly_possible(metric, rows, t)
        found = possible_labels(IncompleteDataset(rows, range(4)), [t], 1, metric)
        assert found.tolist() == [exact], (metric, kind, rows, t)
        told_apart += sum(exact) < 4
    assert told_apart > n_cases / 5


@pytest.mark.nojit
@pytest.mark.parametrize("metric", METRICS)
def test_the_smallest_numbers_that_are_allowed_are_told_apart(metric: str) -> None:
    check(metric, 1, 60)


@pytest.mark.slow
@pytest.mark.parametrize("seed", parts(range(2, 5), 1))
@pytest.mark.parametrize("metric", METRICS)
def test_the_smallest_numbers_that_are_allowed_are_told_apart_in_many_cases(
    metric: str, seed: int
) -> None:
    check(metric, seed, 1000)


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev", "hamming"])
def test_nothing_is_too_small_where_nothing_is_multiplied(metric: str) -> None:
    data = IncompleteDataset([[[0.0]], [[SMALLEST]]], ["a", "b"])
    assert is_certain(data, [[SMALLEST]], 1, metric).tolist() == [True]
    assert world_shares(data, [[SMALLEST], [0.0]], 1, metric).tolist() == [[0.0, 1.0], [1.0, 0.0]]


TOO_SMALL = [
    ("euclidean", 1.0, 9e-131, "0 or at least 1e-130 .* 9e-131 in feature 1 of the points"),
    ("euclidean", 1e-170, 1.0, "0 or at least 1e-130 .* 1e-170 in feature 1 of the candidates"),
    ("rbf", SMALLEST, 1.0, "distances tie that are not equal; got 4.94e-324 in feature 1 of the c"),
    ("linear", 1e-160, 1e-150, "dot products underflow.* 1e-160 in feature 1 .* and 1e-150 in f"),
    ("cosine", 1e-69, 1e-70, "cosines underflow.* 1e-69 in .* beside 2 in feature 0 .* and 1e-70"),
    ("cosine", 1e-160, 1.0, "cosines underflow"),
]


@pytest.mark.parametrize(("metric", "own", "other", "message"), TOO_SMALL)
@pytest.mark.parametrize("in_cell", [False, True])
def test_numbers_that_are_too_small_are_refused(
    metric: str, own: float, other: float, message: str, in_cell: bool
) -> None:
    last = FactoredRow([2.0, 1.0], [Cell(1, [1.0, own])]) if in_cell else [[2.0, own]]
    data = IncompleteDataset([[[1.0, 0.0]], last], ["a", "b"])
    for ask in (is_certain, world_shares, expected_entropies):
        with pytest.raises(QueryError, match=message) as raised:
            ask(data, [[1.0, other]], 1, metric)
        assert "write 0 for numbers that mean 0" in str(raised.value)
    mended = IncompleteDataset([[[1.0, 0.0]], [[2.0, 0.0]]], ["a", "b"])
    assert is_certain(mended, [[1.0, 0.0]], 1, metric).tolist() == [True]


@pytest.mark.parametrize("size", [1e-69, 1e-100])
def test_small_numbers_alone_are_enough_for_cosines_of_large_ones(size: float) -> None:
    data = IncompleteDataset([[[size, 0.0]], [[0.0, size]]], ["a", "b"])
    points = [[1.0, 2.0], [1e40, 0.0], [0.0, 0.0]]
    assert world_shares(data, points, 1, "cosine").tolist() == [[0, 1], [1, 0], [1, 0]]


@pytest.mark.parametrize(
    ("metric", "size", "where"),
    [
        ("euclidean", 2e150, "points"),
        ("cosine", 2e70, "candidates"),
        ("manhattan", 2e300, "points"),
    ],
)
def test_numbers_that_are_too_large_are_refused(metric: str, size: float, where: str) -> None:
    own, other = (size, 1.0) if where == "candidates" else (1.0, size)
    data = IncompleteDataset([[[0.0, 1.0]], [[1.0, own]]], ["a", "b"])
    with pytest.raises(
        QueryError, match=f"must not exceed .* got 2e.* in feature 1 of the {where}"
    ):
        is_certain(data, [[1.0, other]], 1, metric)


def test_what_is_told_is_checked_too() -> None:
    data = IncompleteDataset([[[0.0], [5.0]], [[1.0]]], ["a", "b"])
    assert is_certain(data, [[4.0]], 1).tolist() == [False]
    with pytest.raises(QueryError, match="1e-140 in feature 0 of the candidates"):
        is_certain(data.pin(0, value=[1e-140]), [[4.0]], 1)


@pytest.mark.parametrize("size", [1e-100, 1e100])
def test_bounds_of_points_with_many_completions_may_be_of_any_size(size: float) -> None:
    """Their squares are numbers that no values may be, yet they are only compared."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"a": [0.0, 1.0, 9.0, 10.0], "b": [0.0, 1.0, 9.0, 10.0], "y": ["l", "l", "r", "r"]}
    )
    frame[["a", "b"]] *= size
    table = IncompleteTable(frame, "y", scaling="none")
    points = frame[["a", "b"]].iloc[[0, 3]].copy()
    points.iloc[:, 1] = np.nan
    few = table.points(points, max_completions=1)
    assert len(few.drawn) == 2
    assert is_certain(table.dataset, few, 1).tolist() == [False, False]


def test_values_that_are_gone_are_not_compared_with_zeros() -> None:
    data = IncompleteDataset([[[0.0], [1.0]], [[0.0]]], ["a", "b"]).pin(0, 0)
    for metric in ("linear", "cosine"):
        assert is_certain(data, [[1.0]], 1, metric).tolist() == [True]
