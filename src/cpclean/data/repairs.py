"""Candidate values for the holes of a table.

A repair proposes, for every row with holes, its `Options`: a list of values a hole (the row's
candidates are all their combinations), or whole versions of the row's holes taken together.

>>> from cpclean.data.columns import column_from_objects
>>> ages = column_from_objects("age", [18, None, 30, 65, 40])
>>> default_values(ages)
(18.0, 27.0, 38.25, 46.25, 65.0)
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from cpclean.data.columns import OTHER, Column
from cpclean.errors import TableError, offenders

Bools = npt.NDArray[np.bool_]


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
            return len(self.values[0])
        return int(np.prod([float(len(values)) for values in self.values]))


class Repair(Protocol):
    """Your own repair needs this one method."""

    def propose(self, columns: Sequence[Column], holes: Bools) -> dict[int, Options]:
        """Options of every row that has a hole; holes has shape (rows, columns)."""
        ...


def default_values(column: Column) -> tuple[Any, ...]:
    """The paper's candidates: five points of a numeric column, four categories and "other"."""
    if column.kind == "boolean":
        return (0.0, 1.0)
    if column.kind == "categorical":
        frequent = sorted(column.frequencies.items(), key=lambda pair: (-pair[1], str(pair[0])))
        return (*(value for value, _ in frequent[:4]), OTHER)
    seen = column.observed
    points = [seen.min(), *np.percentile(seen, [25]), seen.mean(),
              *np.percentile(seen, [75]), seen.max()]  # fmt: skip
    return tuple(sorted({float(point) for point in points}))


def quantiles(size: int) -> Callable[[Column], tuple[Any, ...]]:
    """A repair function for numeric columns: a grid of `size` quantiles from min to max."""

    def values(column: Column) -> tuple[Any, ...]:
        if column.kind == "categorical":
            raise TableError(f"column {column.name!r} is categorical and has no quantiles.")
        points = np.quantile(column.observed, np.linspace(0.0, 1.0, size))
        return tuple(sorted({float(point) for point in points}))

    return values


def whole_domain(column: Column) -> tuple[Any, ...]:
    """A repair function: every observed value, the most frequent first."""
    frequent = sorted(column.frequencies.items(), key=lambda pair: (-pair[1], str(pair[0])))
    return tuple(value for value, _ in frequent)


@dataclass(frozen=True)
class ColumnValues:
    """The same values for every hole of a column: from a function, a list, or the default."""

    by_column: Mapping[str, Any] | None = None  # name -> values, or a function of the column

    def propose(self, columns: Sequence[Column], holes: Bools) -> dict[int, Options]:
        given = dict(self.by_column or {})
        unknown = given.keys() - {column.name for column in columns}
        if unknown:
            raise TableError(
                "repairs name columns that the table does not have: "
                f"{offenders(map(repr, unknown))}."
            )
        values = {
            number: _column_values(columns[number], given.get(columns[number].name, default_values))
            for number in np.flatnonzero(holes.any(axis=0)).tolist()
        }
        options = {}
        for row in np.flatnonzero(holes.any(axis=1)).tolist():
            cells = tuple(np.flatnonzero(holes[row]).tolist())
            options[row] = Options(cells, tuple(values[cell] for cell in cells))
        return options


def _column_values(column: Column, given: Any) -> tuple[Any, ...]:
    found = given(column) if callable(given) else given
    values = tuple(
        dict.fromkeys(value if value is OTHER else column.stored(value) for value in found)
    )
    if not values or any(value is None or value != value for value in values):
        raise TableError(
            f"the repair of column {column.name!r} gives {_shown(found)}; "
            "a hole needs at least one value, and none of them null."
        )
    return values


def _shown(found: Any) -> str:
    listed = list(found)
    return "nothing" if not listed else str(listed[:5])


@dataclass(frozen=True)
class Versions:
    """Whole repaired versions of the table: row i's candidates are row i of every version.

    Parameters
    ----------
    tables : sequence of sequence of Column
        The versions, with the same columns in the same order.
    weigh : {"distinct", "version"}
        Equal candidates of a row are merged; each distinct one weighs the same, or as much as the
        number of versions that proposed it.
    decimals : int
        Numbers equal to so many decimals count as equal.
    """

    tables: Sequence[Sequence[Column]]
    weigh: str = "distinct"
    decimals: int = 12

    def propose(self, columns: Sequence[Column], holes: Bools) -> dict[int, Options]:
        if self.weigh not in ("distinct", "version"):
            raise TableError(f'weigh must be "distinct" or "version"; got {self.weigh!r}.')
        options = {}
        for row in np.flatnonzero(holes.any(axis=1)).tolist():
            cells = tuple(np.flatnonzero(holes[row]).tolist())
            found: dict[tuple[Any, ...], tuple[Any, ...]] = {}
            times: dict[tuple[Any, ...], int] = {}
            for table in self.tables:
                version = tuple(table[cell].values[row] for cell in cells)
                key = tuple(self._key(value) for value in version)
                found.setdefault(key, version)
                times[key] = times.get(key, 0) + 1
            versions = list(found.values())
            weights = None
            if self.weigh == "version":
                weights = tuple(float(count) for count in times.values())
            columns_of = tuple(zip(*versions, strict=True))
            options[row] = Options(cells, columns_of, joint=True, weights=weights)
        return options

    def _key(self, value: Any) -> Any:
        return round(value, self.decimals) + 0.0 if isinstance(value, float) else value


@dataclass(frozen=True)
class Imputers:
    """Scikit-learn style imputers, one whole-table repair each.

    An imputer sees the numeric, boolean and date columns as numbers. Categorical columns take their
    most frequent category in every version, for most imputers cannot read them.
    """

    imputers: Sequence[Any]
    weigh: str = "distinct"

    def propose(self, columns: Sequence[Column], holes: Bools) -> dict[int, Options]:
        numeric = [n for n, column in enumerate(columns)
                   if column.kind != "categorical" and len(column.observed)]  # fmt: skip
        table = np.column_stack(
            [np.where(holes[:, n], np.nan, columns[n].values) for n in numeric]
        ) if numeric else np.zeros((len(holes), 0))  # fmt: skip
        versions = []
        for imputer in self.imputers:
            if not hasattr(imputer, "fit_transform"):
                raise TableError(
                    f"repairs must have fit_transform, as scikit-learn's imputers; got {imputer!r}."
                )
            filled = np.asarray(imputer.fit_transform(table), dtype=np.float64)
            if filled.shape != table.shape or np.isnan(filled).any():
                raise TableError(
                    f"{imputer!r} must fill every hole of a table of shape {table.shape}; "
                    f"got shape {filled.shape} with {int(np.isnan(filled).sum())} holes left."
                )
            versions.append(self._version(columns, numeric, filled))
        return Versions(versions, self.weigh).propose(columns, holes)

    def _version(
        self, columns: Sequence[Column], numeric: list[int], filled: npt.NDArray[np.float64]
    ) -> list[Column]:
        version = []
        for number, column in enumerate(columns):
            if number in numeric:
                values: npt.NDArray[Any] = filled[:, numeric.index(number)]
            else:
                values = column.values.copy()
                values[column.missing] = whole_domain(column)[0] if len(column.observed) else None
            version.append(Column(column.name, column.kind, values))
        return version


def repair_named(repairs: Any) -> Repair:
    """The repair that a user's choice stands for."""
    if isinstance(repairs, str) and repairs == "default":
        return ColumnValues()
    if hasattr(repairs, "propose"):
        chosen: Repair = repairs
        return chosen
    if isinstance(repairs, Mapping):
        return ColumnValues(repairs)
    if isinstance(repairs, list | tuple) and repairs:
        return Imputers(repairs)
    raise TableError(
        'repairs must be "default", a list of imputers, a dict from column to values or to a '
        f"function, or an object with propose(columns, holes); got {repairs!r}."
    )


def capped(
    options: dict[int, Options], columns: Sequence[Column], limit: int
) -> dict[int, Options]:
    """At most `limit` candidates a row: holes with most values lose their last ones first."""
    result, cut = {}, []
    for row, one in options.items():
        if one.n_candidates <= limit:
            result[row] = one
            continue
        cut.append(row)
        if one.joint:
            weights = None if one.weights is None else one.weights[:limit]
            values = tuple(value[:limit] for value in one.values)
            result[row] = Options(one.cells, values, True, weights)
            continue
        kept = [len(values) for values in one.values]
        while float(np.prod([float(size) for size in kept])) > limit:
            kept[int(np.argmax(kept))] -= 1
        values = tuple(
            _thinned(all_values, size, columns[cell])
            for all_values, size, cell in zip(one.values, kept, one.cells, strict=True)
        )
        result[row] = Options(one.cells, values)
    if cut:
        warnings.warn(
            f"rows {offenders(cut)} have more than {limit} candidates; values were dropped from "
            "their holes. Raise max_candidates, or propose fewer values.",
            UserWarning,
            stacklevel=3,
        )
    return result


def _thinned(values: tuple[Any, ...], size: int, column: Column) -> tuple[Any, ...]:
    """Fewer values: evenly spread over the range of numbers, the first ones of categories."""
    if column.kind == "categorical":
        return values[:size]
    places = np.linspace(0, len(values) - 1, size).round().astype(int)
    return tuple(values[place] for place in places)
