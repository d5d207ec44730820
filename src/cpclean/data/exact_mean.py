"""Sums of doubles without rounding: the same whatever the order, and however they are split."""

from __future__ import annotations

import math

import numpy as np

from cpclean.data.rows import Floats

# A double is an integer of 53 bits times a power of two. Integers are added up for each power, in
# two halves, which stay exact in doubles for this many at a time.
_AT_ONCE = 1 << 20
_HALF = 26
# Powers of two of the smallest and of the largest double, counted from 0.
_LOWEST, _POWERS = 1100, 2200


class ExactSum:
    """The sum of numbers that come in parts.

    Examples
    --------
    >>> total = ExactSum()
    >>> for part in ([1e100, 1.0], [-1e100, 1.0]):
    ...     total.add(np.array(part))
    >>> total.mean
    0.5
    """

    def __init__(self) -> None:
        self.count = 0
        self._sum = 0  # in units of 2**-(53 + _LOWEST)
        self._finite = True

    def add(self, numbers: Floats) -> None:
        """More numbers."""
        self.count += len(numbers)
        for at in range(0, len(numbers), _AT_ONCE):
            some = numbers[at : at + _AT_ONCE]
            if not np.isfinite(some).all():
                self._finite = False
                continue
            fraction, power = np.frexp(some)
            whole = np.ldexp(fraction, 53)
            upper = np.trunc(np.ldexp(whole, -_HALF))
            lower = whole - np.ldexp(upper, _HALF)
            place = power + _LOWEST
            for half, shift in ((upper, _HALF), (lower, 0)):
                sums = np.bincount(place, half, _POWERS)
                (used,) = np.nonzero(sums)
                for own, each in zip(used.tolist(), sums[used].tolist(), strict=True):
                    self._sum += int(each) << (own + shift)

    @property
    def mean(self) -> float:
        """The sum divided by the number of numbers, rounded once."""
        return self._sum / (self.count << (53 + _LOWEST)) if self._finite else math.inf


def exact_mean(numbers: Floats) -> float:
    """The mean of at least one number, rounded once.

    >>> exact_mean(np.array([0.1] * 10))
    0.1
    """
    total = ExactSum()
    total.add(numbers)
    return total.mean


def exact_deviation(squares: ExactSum) -> float:
    """The standard deviation, from squared distances to the mean."""
    return math.sqrt(squares.mean)
