"""The same values for every hole of a column: by default, from a list, or from a function.

>>> from cpclean.data.column_reading import column_from_objects
>>> ages = column_from_objects("age", [18, None, 30, 65, 40])
>>> default_values(ages)
(18.0, 27.0, 38.25, 46.25, 65.0)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cpclean.data.columns import OTHER, Column
from cpclean.data.ragged import Ragged
from cpclean.data.row_options import Options, TableOptions
from cpclean.data.rows import Bools
from cpclean.errors import TableError, offenders


def default_values(column: Column) -> tuple[Any, ...]:
    """The paper's candidates: five values of a numeric column, or four categories and "other"."""
    if column.kind == "boolean":
        return (0.0, 1.0)
    if column.kind == "categorical":
        frequent = sorted(column.frequencies.items(), key=lambda pair: (-pair[1], str(pair[0])))
        return (*(value for value, _ in frequent[:4]), OTHER)
    points = [column.least, *column.quartiles, column.mean, column.most]
    return tuple(sorted({point + 0.0 for point in points}))  # 0 rather than -0


def quantiles(size: int) -> Callable[[Column], tuple[Any, ...]]:
    """A repair function for numeric columns: a grid of `size` quantiles from min to max."""

    if size < 1:
        raise TableError(f"quantiles needs a size of at least 1; got {size}.")

    def values(column: Column) -> tuple[Any, ...]:
        if column.kind == "boolean":
            return default_values(column)
        if column.kind == "categorical":
            raise TableError(f"column {column.name!r} is categorical and has no quantiles.")
        points = np.quantile(column.observed, np.linspace(0.0, 1.0, size))
        return tuple(sorted({float(point) for point in points}))

    return values


def whole_domain(column: Column) -> tuple[Any, ...]:
    """A repair function: every observed value, the most frequent first."""
    frequent = sorted(column.frequencies.items(), key=lambda pair: (-pair[1], str(pair[0])))
    return tuple(value for value, _ in frequent)


def observed_values(column: Column) -> tuple[Any, ...]:
    """A repair function: every observed value; numbers ascend, frequent categories come first."""
    if column.kind == "categorical":
        return whole_domain(column)
    return tuple(np.unique(column.distinct + 0.0).tolist())  # 0 rather than -0


@dataclass(frozen=True)
class ColumnValues:
    """The same values for every hole of a column: from a function, a list, or the default."""

    by_column: Mapping[str, Any] | None = None  # name -> values, or a function of the column
    others: Callable[[Column], tuple[Any, ...]] = default_values  # for columns that are not named

    def candidates_of(self, column: str) -> tuple[Any, ...]:
        """The values listed for a column; none where a function or the default decides."""
        given = (self.by_column or {}).get(column)
        if given is None or callable(given) or hasattr(given, "__next__"):  # looked at only once
            return ()
        return tuple(_items(given))

    def propose(self, columns: Sequence[Column], holes: Bools) -> Mapping[int, Options]:
        given = dict(self.by_column or {})
        unknown = given.keys() - {column.name for column in columns}
        if unknown:
            raise TableError(
                "repairs name columns that the table does not have: "
                f"{offenders(map(repr, sorted(unknown)))}."
            )
        values = {}
        for number in np.flatnonzero(holes.any(axis=0)).tolist():
            column = columns[number]
            own = given.get(column.name, self.others)
            if column.n_observed or not callable(own):
                values[number] = _column_values(column, own)
        holes = holes & np.isin(np.arange(len(columns)), list(values))
        return TableOptions.of_holes(
            holes,
            {cell: np.zeros(int(holes[:, cell].sum()), dtype=np.int64) for cell in values},
            [Ragged.of([values[cell]] if cell in values else []) for cell in range(len(columns))],
        )


def _column_values(column: Column, given: Any) -> tuple[Any, ...]:
    found = _items(given(column) if callable(given) else given)
    values = tuple(dict.fromkeys(column.stored(value) for value in found))
    if not values or any(value is None or value != value for value in values):
        raise TableError(
            f"the repair of column {column.name!r} gives {found[:5] or 'nothing'}; "
            "a hole needs at least one value, and none of them null."
        )
    return values


def _items(given: Any) -> list[Any]:
    if isinstance(given, str) or not hasattr(given, "__iter__"):
        return [] if given is None else [given]
    return list(given)
