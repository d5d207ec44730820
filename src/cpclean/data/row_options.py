"""What the holes of a table can be: the options of one row, and those of all rows in arrays."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from cpclean.data.rows import Bools, Ints


@dataclass(frozen=True)
class Options:
    """What the holes of one row can be.

    cells says which columns; values holds, for each of them, a tuple of values. If `joint`, the
    k-th values of all cells belong together and are one version of the row; otherwise every
    combination is a candidate. `weights` (joint only) says how often each version was proposed.
    """

    cells: tuple[int, ...]
    values: tuple[tuple[Any, ...], ...]
    joint: bool = False
    weights: tuple[float, ...] | None = None

    @property
    def n_candidates(self) -> int:
        if self.joint:
            return len(self.values[0]) if self.values else 1
        return math.prod(len(values) for values in self.values)

    @property
    def versions(self) -> list[tuple[Any, ...]]:
        """The values that belong together, if `joint`."""
        return list(zip(*self.values, strict=True))


NO_OPTIONS = Options((), ())


@dataclass(frozen=True, eq=False)
class TableOptions:
    """The options of all rows of a table: a few distinct lists of values, and which hole has which.

    Attributes
    ----------
    rows : ndarray
        The rows that have options, in ascending order.
    starts : ndarray of shape (len(rows) + 1,)
        The holes of ``rows[i]`` are those from ``starts[i]`` to ``starts[i + 1] - 1``.
    cells, lists : ndarray
        The column of each hole, ascending within a row, and the number of its list of values.
    values : tuple of tuple
        The lists; each belongs to one column.
    joint : ndarray of shape (len(rows),)
        Whether the k-th values of a row's holes belong together.
    weights : dict from row to tuple of float
        How often each version of a joint row was proposed; rows where that does not count are not
        there.
    """

    rows: Ints
    starts: Ints
    cells: Ints
    lists: Ints
    values: tuple[tuple[Any, ...], ...]
    joint: Bools
    weights: Mapping[int, tuple[float, ...]]

    @classmethod
    def from_rows(cls, options: Mapping[int, Options]) -> TableOptions:
        """The same as options row by row."""
        rows = sorted(options)
        known: dict[Any, int] = {}
        values: list[tuple[Any, ...]] = []
        cells, lists, sizes = [], [], []
        for row in rows:
            one = options[row]
            sizes.append(len(one.cells))
            for cell, own in zip(one.cells, one.values, strict=True):
                number = known.setdefault((cell, own, _kinds(own)), len(values))
                if number == len(values):
                    values.append(own)
                cells.append(cell)
                lists.append(number)
        return cls(
            rows=np.array(rows, dtype=np.int64),
            starts=np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]),
            cells=np.array(cells, dtype=np.int64),
            lists=np.array(lists, dtype=np.int64),
            values=tuple(values),
            joint=np.array([options[row].joint for row in rows], dtype=bool),
            weights={row: kept for row in rows if (kept := options[row].weights) is not None},
        )

    def of(self, row: int) -> Options:
        """The options of a row; without any cell where it has none."""
        place = self._place.get(row)
        if place is None:
            return NO_OPTIONS
        part = slice(self.starts[place], self.starts[place + 1])
        return Options(
            tuple(self.cells[part].tolist()),
            tuple(self.values[number] for number in self.lists[part].tolist()),
            bool(self.joint[place]),
            self.weights.get(row),
        )

    def items(self) -> Iterator[tuple[int, Options]]:
        """The rows that have options, with their options."""
        return ((row, self.of(row)) for row in self.rows.tolist())

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def _place(self) -> dict[int, int]:
        return {row: place for place, row in enumerate(self.rows.tolist())}


def _kinds(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """What makes equal values different: 1 and True, 0.0 and -0.0."""
    return tuple(repr(value) if isinstance(value, float) else type(value) for value in values)
