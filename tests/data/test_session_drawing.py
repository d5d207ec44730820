"""How many completions of its points a session goes through."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from cpclean import IncompleteTable, Points

NAMES = list("abcde")


def table(space: str = "plain") -> IncompleteTable:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(40, 5)), columns=NAMES)
    return IncompleteTable(frame, label=np.arange(40) % 2, space=space)


def asked(n_points: int, n_complete: int = 0) -> pd.DataFrame:
    """Points of which each third has one, two or four holes: 5, 25 or 625 completions."""
    rng = np.random.default_rng(1)
    values = rng.normal(size=(n_points + n_complete, 5))
    for number in range(n_points):
        values[number, : (1, 2, 4)[number % 3]] = np.nan
    return pd.DataFrame(values, columns=NAMES)


def sizes(points: Points) -> list[int]:
    return [len(points.vector[points.entries(number)]) for number in range(3)]


@pytest.mark.parametrize(
    ("space", "n_points", "expected"),
    [
        ("plain", 100, [5, 25, 16]),
        ("plain", 101, [5, 6, 6]),
        ("forest", 100, [5, 6, 6]),
        ("forest", 101, [5, 6, 6]),
    ],
)
def test_less_of_each_point_if_there_are_many(
    space: str, n_points: int, expected: list[int]
) -> None:
    points = table(space).session_points(asked(n_points, n_complete=50))
    assert sizes(points) == expected
    assert points.n_points == n_points + 50


def test_other_limits_of_rows_are_other_limits_of_points() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(40, 5)), columns=NAMES)
    label = np.arange(40) % 2
    more = IncompleteTable(frame, label=label, max_exact=5**6, n_draws=1000)
    assert sizes(more.session_points(asked(101))) == [5, 25, 40]
    less = IncompleteTable(frame, label=label, max_exact=1, n_draws=2)
    assert sizes(less.session_points(asked(101))) == [2, 2, 2]
