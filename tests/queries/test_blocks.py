"""Rows in blocks of neighbours."""

from __future__ import annotations

import numpy as np
import pytest

from cpclean.queries._near import BLOCK
from cpclean.queries.blocks import _first_half, in_blocks


def checked_blocks(low: np.ndarray, high: np.ndarray) -> list[np.ndarray]:
    rows = np.flatnonzero((low != high).any(axis=0))
    order, at = in_blocks(low.T, rows, low[:, rows], high[:, rows])
    assert set(order[len(order) - len(rows) :].tolist()) == set(rows.tolist())
    assert sorted(order.tolist()) == list(range(low.shape[1]))
    blocks = np.split(order, at[1:-1])
    assert at[0] == 0
    assert at[-1] == low.shape[1]
    wide = (low != high).any(axis=0)
    for block in blocks:
        assert 1 <= len(block) <= BLOCK
        assert (np.diff(block) > 0).all()
        assert len(set(wide[block].tolist())) == 1
    return blocks


@pytest.mark.parametrize("n_rows", [1, 2, BLOCK, BLOCK + 1, 5000])
@pytest.mark.parametrize("levels", [1, 2, 1000])
def test_every_row_is_in_one_small_block(n_rows: int, levels: int) -> None:
    rng = np.random.default_rng(n_rows + levels)
    low = rng.integers(levels, size=(3, n_rows)).astype(float)
    high = low + (rng.random((3, n_rows)) < 0.05)
    checked_blocks(low, high)


def test_blocks_are_compact() -> None:
    low = np.random.default_rng(0).random((2, 20_000))
    areas = [np.ptp(low[:, block], axis=1).prod() for block in checked_blocks(low, low)]
    assert sum(areas) < 1.0  # boxes of random blocks would have an area of nearly 1 each


def test_blocks_keep_categories_apart() -> None:
    rng = np.random.default_rng(1)
    city = np.eye(4)[rng.choice(4, p=[0.4, 0.3, 0.2, 0.1], size=4000)].T
    blocks = checked_blocks(city, city)
    pure = [block for block in blocks if np.ptp(city[:, block], axis=1).max() == 0]
    assert sum(map(len, pure)) > 3600


def test_blocks_keep_rows_with_different_holes_apart() -> None:
    rng = np.random.default_rng(3)
    low = rng.random((16, 1000))
    hole = rng.choice(6, size=1000, p=[0.4, 0.3, 0.22, 0.04, 0.03, 0.01])  # the last ones are few
    high = low + (np.arange(16)[:, None] == hole)
    alone = [set(hole[block].tolist()) for block in checked_blocks(low, high)]
    several = [holes for holes in alone if len(holes) > 1]
    assert several == [{3, 4, 5}]


def test_a_cut_is_not_between_equals_if_it_can_be() -> None:
    def first(*places: float) -> list[int]:
        return np.flatnonzero(_first_half(np.array(places, dtype=float))).tolist()

    assert first(1, 0, 1, 0, 0, 1, 1, 0) == [1, 3, 4, 7]
    assert first(0, 0, 1, 0, 0, 1, 0, 1) == [0, 1, 3, 4, 6]
    assert first(1, 0, 1, 1, 1, 0, 1, 1) == [1, 5]
    assert first(1, 1, 1, 1, 1, 0, 1, 1) == [0, 1, 2, 5]  # else too far from the middle
    assert first(*[0.0] * 9) == [0, 1, 2, 3]


def test_values_whose_squares_overflow() -> None:
    low = np.random.default_rng(2).normal(size=(3, 3000)) * np.array([[1.0], [1e200], [1e300]])
    checked_blocks(low, low)
