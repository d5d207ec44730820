"""How many observed values are nearest to each candidate, by class: all that priors need to know.

The weight of a candidate depends on how many numbers of a column lie below the middles between
candidates, or how often a category is observed, among all rows and among those of a class. One pass
counts both for the candidates of all columns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.data.columns import Column
from cpclean.data.priors import Observed
from cpclean.data.rows import Floats, Ints
from cpclean.errors import TableError


class CountedValues(Observed):
    """Observed values of a column of which only some counts are known."""

    def __init__(
        self, count: int, limits: Floats, less: Floats, not_greater: Floats, times: dict[Any, int]
    ) -> None:
        self._count, self._limits = count, limits
        self._less, self._not_greater = less, not_greater
        self.times = times

    def __len__(self) -> int:
        return self._count

    @property
    def values(self) -> npt.NDArray[Any]:
        """Nobody may ask for them; weights that are listed do not look."""
        return np.empty(0)

    def below(self, limits: Floats) -> tuple[Floats, Floats]:
        """As in `Observed`, for limits that were counted."""
        places = np.searchsorted(self._limits, limits)
        known = places < len(self._limits)
        known[known] = self._limits[places[known]] == limits[known]
        if not known.all():
            raise TableError(
                "values of holes that are listed for single points are not counted in a "
                "StreamedTable. List them for whole columns, in repairs."
            )
        return self._less[places], self._not_greater[places]


class ClassCounts:
    """Counts of the values of all columns, by class; a `Seen` for priors.

    Parameters
    ----------
    columns : sequence of Column
        They stand for all rows.
    n_classes : int
    limits : dict from column number to ndarray
        The middles between candidates of columns of numbers, ascending.
    """

    def __init__(
        self, columns: Sequence[Column], n_classes: int, limits: Mapping[int, Floats]
    ) -> None:
        self._kinds = [column.kind for column in columns]
        self._n_classes, self._limits = n_classes, dict(limits)
        self._place = {
            number: {one: at for at, one in enumerate(column.categories.distinct)}
            for number, column in enumerate(columns)
            if column.kind == "categorical"
        }
        self._counts: dict[int, Ints] = {}  # (classes, places): times, or less and not greater
        for number, column in enumerate(columns):
            if column.kind == "categorical":
                width = len(self._place[number])
            else:
                width = 1 + 2 * len(self._limits.get(number, ()))
            self._counts[number] = np.zeros((n_classes, width), dtype=np.int64)

    def add(self, columns: Sequence[Column], codes: Ints) -> None:
        """More rows and their classes."""
        for number, column in enumerate(columns):
            seen = ~column.missing
            own = codes[seen]
            counts = self._counts[number]
            if column.kind == "categorical":
                found, distinct = column.categories
                place = np.array([self._place[number][one] for one in distinct], dtype=np.int64)
                _count(counts, own, place[found[seen]] if len(distinct) else own[:0])
                continue
            limits = self._limits.get(number, np.empty(0))
            counts[:, 0] += np.bincount(own, minlength=self._n_classes)
            values = column.values[seen]
            for at, side in ((1, "right"), (1 + len(limits), "left")):
                # A number is less than all limits from here on, or not greater than them.
                place = np.searchsorted(limits, values, side=side)  # type: ignore[call-overload]
                table = np.zeros((self._n_classes, len(limits) + 1), dtype=np.int64)
                _count(table, own, place)
                counts[:, at : at + len(limits)] += np.cumsum(table[:, :-1], axis=1)

    def joined(self, other: ClassCounts) -> ClassCounts:
        """The counts of both together, of other rows of the same table."""
        for number, counts in other._counts.items():
            self._counts[number] = self._counts[number] + counts
        return self

    def everyone(self, cell: int) -> CountedValues:
        """As in `Seen`, like the next one."""
        return self._observed(cell, self._counts[cell].sum(axis=0))

    def of_class(self, cell: int, code: int) -> CountedValues:
        return self._observed(cell, self._counts[cell][code])

    def as_one_class(self) -> OneClass:
        """The same if labels are not looked at."""
        return OneClass(self.everyone)

    def _observed(self, cell: int, counts: Ints) -> CountedValues:
        if self._kinds[cell] == "categorical":
            times = zip(self._place[cell], counts.tolist(), strict=True)
            found = {one: count for one, count in times if count}
            return CountedValues(int(counts.sum()), *(np.empty(0),) * 3, found)
        limits = self._limits.get(cell, np.empty(0))
        half = 1 + len(limits)
        less, not_greater = counts[1:half].astype(float), counts[half:].astype(float)
        return CountedValues(int(counts[0]), limits, less, not_greater, {})


class OneClass:
    """What is observed in all rows, whatever the class."""

    def __init__(self, everyone: Callable[[int], CountedValues]) -> None:
        self._everyone = everyone

    def everyone(self, cell: int) -> CountedValues:
        """As in `Seen`, like the next one."""
        return self._everyone(cell)

    def of_class(self, cell: int, code: int) -> CountedValues:
        return self._everyone(cell)


def _count(table: Ints, rows: Ints, places: Ints) -> None:
    width = table.shape[1]
    found = np.bincount(rows * width + places, minlength=table.size)
    table += found.reshape(table.shape)


def middles(values: Sequence[float]) -> Floats:
    """The middles between neighbours of a list of values, ascending.

    >>> middles([3.0, 1.0, 2.0]).tolist()
    [1.5, 2.5]
    """
    ordered = np.unique(np.array(values, dtype=np.float64))
    return np.unique((ordered[1:] + ordered[:-1]) / 2)
