"""Lists of gains, against plain lists and NumPy's sums."""

from __future__ import annotations

import numpy as np
import pytest

from cpclean.queries.gain_lists import GainLists

N_POINTS, N_NUMBERS = 12, 9


def drawn(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    size = int(rng.integers(5))
    return np.sort(rng.choice(N_NUMBERS, size, replace=False)), rng.normal(size=size)


@pytest.mark.parametrize("seed", range(20))
def test_lists_of_some_points_are_replaced(seed: int) -> None:
    rng = np.random.default_rng(seed)
    found = GainLists.empty(N_POINTS)
    expected = [(np.empty(0, np.int64), np.empty(0))] * N_POINTS
    for _ in range(6):
        points = np.flatnonzero(rng.random(N_POINTS) < 0.5)
        new = [drawn(rng) for _ in points]
        before = [one.copy() for one in (found.ptr, found.numbers, found.gains)]
        after = found.with_points(
            points,
            np.array([len(numbers) for numbers, _ in new], dtype=np.int64),
            np.concatenate([np.empty(0, np.int64), *(numbers for numbers, _ in new)]),
            np.concatenate([np.empty(0), *(gains for _, gains in new)]),
        )
        for old, kept in zip(before, (found.ptr, found.numbers, found.gains), strict=True):
            assert old.tolist() == kept.tolist()  # boards share lists: none is written to
        found = after
        for point, one in zip(points.tolist(), new, strict=True):
            expected[point] = one
        assert np.diff(found.ptr).tolist() == [len(numbers) for numbers, _ in expected]
        assert found.numbers.tolist() == [one for numbers, _ in expected for one in numbers]
        assert found.gains.tolist() == [one for _, gains in expected for one in gains]
        assert found.point.tolist() == [at for at, one in enumerate(expected) for _ in one[0]]


@pytest.mark.parametrize("seed", range(20))
def test_totals_are_those_of_numpy_bit_for_bit(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, 6, N_POINTS)
    numbers, gains = rng.integers(0, N_NUMBERS, sizes.sum()), rng.random(sizes.sum()) ** 9
    lists = GainLists.empty(N_POINTS).with_points(np.arange(N_POINTS), sizes, numbers, gains)
    settled, weights = rng.random(N_POINTS) < 0.4, rng.random(N_POINTS)
    open_ = np.repeat(~settled, sizes)
    expected = np.bincount(
        numbers[open_], (gains * np.repeat(weights, sizes))[open_], int(numbers.max()) + 1
    )
    (some,) = np.nonzero(expected)
    found = lists.totals(settled, weights)
    assert [one.tolist() for one in found] == [some.tolist(), expected[some].tolist()]


def test_empty_lists_have_no_totals() -> None:
    numbers, sums = GainLists.empty(3).totals(np.zeros(3, dtype=bool), np.ones(3))
    assert numbers.tolist() == sums.tolist() == []


def test_lists_are_renumbered() -> None:
    lists = GainLists.empty(2).with_points(
        np.array([1]), np.array([2]), np.array([0, 2]), np.array([0.5, 0.25])
    )
    assert lists.renumbered(np.array([4, 5, 7])).numbers.tolist() == [4, 7]
