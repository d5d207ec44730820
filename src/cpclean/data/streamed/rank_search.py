"""Numbers by their rank among very many, found in few passes with little memory.

A sample says between which two numbers a rank probably lies. A pass counts what is below them and
collects what is between them: if the rank is there, its number is known exactly. If not, or if too
much is there to be kept, the next pass looks between other numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from cpclean.data.ranks import quartile_ranks, quartiles_between
from cpclean.data.rows import Floats, Ints

# Numbers that are kept of one interval.
_MOST_KEPT = 1 << 18
# How far around a rank to look, in standard errors of its place in a sample.
_MARGIN = 4.0


@dataclass
class _Interval:
    """What is counted and kept of the numbers from low to high; equal ones are kept as one."""

    ranks: list[int]  # neighbours
    low: float
    high: float
    below: int = 0
    inside: int = 0
    values: Floats = field(default_factory=lambda: np.empty(0))
    times: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    every: int = 1  # about one in so many is kept, at random
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))

    def add(self, numbers: Floats) -> None:
        self.below += int(np.count_nonzero(numbers < self.low))
        own = numbers[(numbers >= self.low) & (numbers <= self.high)]
        self.inside += len(own)
        if self.low == self.high or not len(own):
            return
        if self.every > 1:
            own = own[self.rng.random(len(own)) * self.every < 1]
        values, place = np.unique(np.concatenate([self.values, own]), return_inverse=True)
        times = np.concatenate([self.times, np.ones(len(own), dtype=np.int64)])
        self.values = values
        self.times = np.bincount(place.ravel(), times, len(values)).astype(np.int64)
        while len(self.values) > _MOST_KEPT:
            times = self.rng.binomial(self.times, 0.5)
            self.values, self.times = self.values[times > 0], times[times > 0]
            self.every *= 2

    def at(self, places: list[float]) -> Floats:
        """What stands at some places among all that is kept, in ascending order."""
        found = np.searchsorted(np.cumsum(self.times), places, side="right")
        return self.values[np.clip(found, 0, len(self.values) - 1)]


class RankSearch:
    """The quartiles of numbers that come in passes.

    Parameters
    ----------
    count : int
        How many numbers there are.
    least, most : float
    sample : ndarray
        Some of them; all of them if so many are given.

    Examples
    --------
    >>> numbers = np.arange(1000.0)
    >>> search = RankSearch(1000, 0.0, 999.0, numbers[::10])
    >>> while not search.is_done:
    ...     search.add(numbers)
    ...     search.end_pass()
    >>> search.quartiles
    (249.75, 749.25)
    """

    def __init__(self, count: int, least: float, most: float, sample: Floats) -> None:
        self.count, self.least, self.most = count, least, most
        self.found: dict[int, float] = {}
        ranks = quartile_ranks(count)
        ordered = np.sort(sample)
        if len(ordered) == count:
            self.found = {rank: float(ordered[rank]) for rank in ranks}
        gaps = np.flatnonzero(np.diff(ranks) > 1) + 1
        groups = [own.tolist() for own in np.split(np.array(ranks), gaps)]  # of neighbours
        self._open = [] if self.found else [self._first(group, ordered) for group in groups]

    def _first(self, ranks: list[int], sample: Floats) -> _Interval:
        """Where ranks probably are, by a sample of all numbers."""
        every = _Interval(ranks, self.least, self.most, 0, self.count)
        every.values, times = np.unique(sample, return_counts=True)
        every.times = times.astype(np.int64)
        return _narrower(every) if len(sample) else every

    @property
    def is_done(self) -> bool:
        """Whether the quartiles are known."""
        return not self._open

    @property
    def quartiles(self) -> tuple[float, float]:
        """The lower and the upper quartile."""
        return quartiles_between(self.count, self.found.__getitem__)

    def add(self, numbers: Floats) -> None:
        """More numbers of a pass, which has to show all of them."""
        for one in self._open:
            one.add(numbers)

    def end_pass(self) -> None:
        """All numbers were shown: look again where that was not enough."""
        again = []
        for one in self._open:
            first, last = one.ranks[0] - one.below, one.ranks[-1] - one.below
            if first < 0:
                again.append(_Interval(one.ranks, self.least, one.high))
            elif last >= one.inside:
                again.append(_Interval(one.ranks, one.low, self.most))
            elif one.low == one.high:
                self.found |= dict.fromkeys(one.ranks, one.low)
            elif one.every == 1:
                numbers = one.at([rank - one.below for rank in one.ranks])
                self.found |= dict(zip(one.ranks, numbers.tolist(), strict=True))
            else:
                again.append(_narrower(one))
        self._open = again


def _narrower(one: _Interval) -> _Interval:
    """Where the ranks of an interval probably are, by what was kept of it."""
    size = int(one.times.sum())
    shares = [(rank - one.below) / max(1, one.inside) for rank in one.ranks]
    margin = 2 + _MARGIN * math.sqrt(size * 0.25)
    low, high = shares[0] * size - margin, shares[-1] * size + 1 + margin
    ends = one.at([low, high])
    return _Interval(
        one.ranks,
        float(ends[0]) if low > 0 else one.low,
        float(ends[1]) if high < size else one.high,
    )
