"""What each row, or each cell, would tell about each point: a list for every point, all in one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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

    end: int  # numbers are below it

    @classmethod
    def empty(cls, n_points: int) -> GainLists:
        """Lists without entries."""
        return cls(np.zeros(n_points + 1, np.int64), np.empty(0, np.int64), np.empty(0), 0)

    def with_points(self, points: Ints, sizes: Ints, numbers: Ints, gains: Floats) -> GainLists:
        """The same with other lists for some points, which ascend; sizes say how long they are."""
        most = len(self.numbers) + len(numbers)
        ptr, all_numbers = np.empty(len(self.ptr), np.int64), np.empty(most, np.int64)
        all_gains = np.empty(most)
        end = _gain_lists.replace_lists(
            self.ptr,
            self.numbers,
            self.gains,
            points,
            _own(sizes),
            _own(numbers),
            _own(gains),
            ptr,
            all_numbers,
            all_gains,
        )
        count = int(ptr[-1])
        return GainLists(ptr, all_numbers[:count], all_gains[:count], max(end, self.end))

    def renumbered(self, number: Ints) -> GainLists:
        """The same about rows, or cells, that have other numbers now."""
        numbers = number[self.numbers]
        return GainLists(self.ptr, numbers, self.gains, int(numbers.max(initial=-1)) + 1)

    def totals(self, left_out: Bools, weights: Floats) -> tuple[Ints, Floats]:
        """The weighted sums over points, but for some: the numbers with one that is not 0, too."""
        most = min(self.end, len(self.numbers))
        some, totals = np.empty(most, np.int64), np.empty(most)
        count = _gain_lists.add_up(
            self.ptr,
            self.numbers,
            self.gains,
            left_out,
            weights,
            np.zeros(self.end),
            some,
            totals,
        )
        return some[:count], totals[:count]

    def of(self, point: int) -> tuple[Ints, Floats]:
        """The numbers and gains of one point."""
        own = slice(self.ptr[point], self.ptr[point + 1])
        return self.numbers[own], self.gains[own]

    @property
    def point(self) -> Ints:
        """The point of every entry."""
        return np.repeat(np.arange(len(self.ptr) - 1), np.diff(self.ptr))


def _own(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """An array that can be written to: of one kind for the kernel, also if it comes from afar."""
    return array if array.flags.writeable else array.copy()
