"""What each row, or each cell, would tell about each point: a list for every point, all in one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cpclean.data.incomplete import Ints
from cpclean.data.rows import Floats
from cpclean.queries import _gain_lists

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class GainLists:
    """Point p has the entries ptr[p]..ptr[p + 1] - 1: numbers of rows or cells, and their gains."""

    ptr: Ints
    numbers: Ints
    gains: Floats

    @classmethod
    def empty(cls, n_points: int) -> GainLists:
        """Lists without entries."""
        return cls(np.zeros(n_points + 1, np.int64), np.empty(0, np.int64), np.empty(0))

    def with_points(self, points: Ints, sizes: Ints, numbers: Ints, gains: Floats) -> GainLists:
        """The same with other lists for some points, which ascend; sizes say how long they are."""
        lost = int((self.ptr[points + 1] - self.ptr[points]).sum())
        total = len(self.numbers) - lost + len(numbers)
        after = GainLists(np.empty_like(self.ptr), np.empty(total, np.int64), np.empty(total))
        _gain_lists.replace_lists(
            self.ptr,
            self.numbers,
            self.gains,
            points,
            sizes.astype(np.int64),  # copies, which can be written to: of one kind for the kernel
            numbers.astype(np.int64),
            gains.copy(),
            after.ptr,
            after.numbers,
            after.gains,
        )
        return after

    def renumbered(self, number: Ints) -> GainLists:
        """The same about rows, or cells, that have other numbers now."""
        return GainLists(self.ptr, number[self.numbers], self.gains)

    def totals(self, left_out: Bools, weights: Floats) -> Floats:
        """The weighted sum over points, but for some, by number."""
        sums = np.zeros(int(self.numbers.max(initial=-1)) + 1)
        _gain_lists.add_up(self.ptr, self.numbers, self.gains, left_out, weights, sums)
        return sums

    def of(self, point: int) -> tuple[Ints, Floats]:
        """The numbers and gains of one point."""
        own = slice(self.ptr[point], self.ptr[point + 1])
        return self.numbers[own], self.gains[own]

    @property
    def point(self) -> Ints:
        """The point of every entry."""
        return np.repeat(np.arange(len(self.ptr) - 1), np.diff(self.ptr))
