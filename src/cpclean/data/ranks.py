"""Quartiles by ranks: which of the numbers, in ascending order, they lie between.

The rule is that of `numpy.percentile`: the quartile of n numbers is at place (n - 1) / 4, counted
from 0, and lies on the line between the two numbers around that place.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from cpclean.data.rows import Floats

QUARTERS = (0.25, 0.75)


def quartile_ranks(count: int) -> list[int]:
    """The ranks of the numbers that the quartiles lie between, ascending."""
    found = set()
    for share in QUARTERS:
        lower = math.floor((count - 1) * share)
        found |= {lower, min(lower + 1, count - 1)}
    return sorted(found)


def quartiles_between(count: int, at_rank: Callable[[int], float]) -> tuple[float, float]:
    """The two quartiles of so many numbers, from some of them by their ranks."""
    found = []
    for share in QUARTERS:
        place = (count - 1) * share
        lower = math.floor(place)
        low, high = at_rank(lower), at_rank(min(lower + 1, count - 1))
        step, part = high - low, place - lower
        found.append(high - step * (1 - part) if part >= 0.5 else low + step * part)
    return found[0], found[1]


def quartiles(numbers: Floats) -> tuple[float, float]:
    """The two quartiles of at least one number.

    >>> quartiles(np.array([18.0, 30.0, 65.0, 40.0]))
    (27.0, 46.25)
    """
    ranks = quartile_ranks(len(numbers))
    sorted_there = np.partition(numbers, ranks)
    return quartiles_between(len(numbers), lambda rank: float(sorted_there[rank]))
