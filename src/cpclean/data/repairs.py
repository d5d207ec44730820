"""Candidate values for the holes of a table.

A repair proposes, for every row with holes, its `Options`: a list of values a hole (the row's
candidates are all their combinations), or whole versions of the row's holes taken together.

>>> from cpclean.data.columns import column_from_objects
>>> ages = column_from_objects("age", [18, None, 30, 65, 40])
>>> default_values(ages)
(18.0, 27.0, 38.25, 46.25, 65.0)
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, fields, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from cpclean.data.columns import OTHER, Column, column_from_objects
from cpclean.data.holoclean.answers import HoloCells, holo_cells
from cpclean.data.holoclean.holo_model import HoloSettings
from cpclean.data.row_options import Options
from cpclean.data.rows import Bools
from cpclean.errors import TableError, TableWarning, offenders


class Repair(Protocol):
    """Your own repair needs this one method."""

    def propose(self, columns: Sequence[Column], holes: Bools) -> dict[int, Options]:
        """Options of every row that has a hole; holes has shape (rows, columns).

        Values are as the columns store them (dates as seconds). Holes of a column without any
        observed value may be left out: without proposals such a column is ignored.
        """
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
    return tuple(sorted({float(point) + 0.0 for point in points}))  # 0 rather than -0


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


@dataclass(frozen=True)
class ColumnValues:
    """The same values for every hole of a column: from a function, a list, or the default."""

    by_column: Mapping[str, Any] | None = None  # name -> values, or a function of the column

    def candidates_of(self, column: str) -> tuple[Any, ...]:
        """The values listed for a column; none where a function or the default decides."""
        given = (self.by_column or {}).get(column)
        if given is None or callable(given) or hasattr(given, "__next__"):  # looked at only once
            return ()
        return tuple(_items(given))

    def propose(self, columns: Sequence[Column], holes: Bools) -> dict[int, Options]:
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
            own = given.get(column.name, default_values)
            if len(column.observed) or not callable(own):
                values[number] = _column_values(column, own)
        holes = holes & np.isin(np.arange(len(columns)), list(values))
        options = {}
        for row in np.flatnonzero(holes.any(axis=1)).tolist():
            cells = tuple(np.flatnonzero(holes[row]).tolist())
            options[row] = Options(cells, tuple(values[cell] for cell in cells))
        return options


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


def with_kinds_of_candidates(
    columns: Sequence[Column], repair: Any, kinds: Mapping[str, str]
) -> list[Column]:
    """Columns without any value take the kind of the candidates that are listed for them."""
    result = []
    for column in columns:
        undecided = not len(column.observed) and column.kind == "numeric"
        if undecided and column.name not in kinds and hasattr(repair, "candidates_of"):
            listed = repair.candidates_of(column.name)
            kind = column_from_objects(column.name, listed).kind
            column = column_from_objects(column.name, [None] * len(column.values), kind)
        result.append(column)
    return result


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
        expected = (len(holes), len(columns))
        shapes = {(len(table[0].values) if table else 0, len(table)) for table in self.tables}
        if shapes != {expected}:
            raise TableError(
                f"repairs need at least one version of the table, each of shape {expected}; "
                f"got {offenders(sorted(shapes)) or 'none'}."
            )
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
    most frequent category in every version, for most imputers cannot read them. The imputers
    themselves stay as they are: copies are fitted.
    """

    imputers: Sequence[Any]
    weigh: str = "distinct"

    def propose(self, columns: Sequence[Column], holes: Bools) -> dict[int, Options]:
        holes = holes & np.array([len(column.observed) > 0 for column in columns])
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
            filled = table
            if numeric:
                filled = np.asarray(deepcopy(imputer).fit_transform(table), dtype=np.float64)
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


@dataclass(frozen=True)
class HoloRepair(HoloSettings):
    """HoloClean's domains as candidates, and as a prior how likely it thinks each of them.

    The repair and the prior "holoclean", with options of its own: those of `HoloSettings`, and
    `best`: whether the likeliest value is to be the only candidate.
    """

    best: bool = False
    # The table looked at last, for a table asks for candidates first and for their prior later.
    _last: list[Any] = field(default_factory=list, init=False, repr=False, compare=False)

    def propose(self, columns: Sequence[Column], holes: Bools) -> dict[int, Options]:
        answers = self._cells(columns, holes)
        options = {}
        for row in np.flatnonzero(holes.any(axis=1)).tolist():
            cells = tuple(cell for cell in np.flatnonzero(holes[row]).tolist() if cell in answers)
            values = [
                (answers.repair(row, cell),) if self.best else answers.candidates(row, cell)
                for cell in cells
            ]
            if cells:
                options[row] = Options(cells, tuple(values))
        return options

    def for_table(self, columns: Sequence[Column], trusted: Bools) -> HoloCells:
        """Weights of candidates, row by row; see `cpclean.data.priors.RowPrior`."""
        return self._cells(columns, ~trusted)

    def _cells(self, columns: Sequence[Column], holes: Bools) -> HoloCells:
        last = list(self._last)
        if last and last[0] is columns and np.array_equal(last[1], holes):
            return last[2]  # type: ignore[no-any-return]
        settings = {one.name: getattr(self, one.name) for one in fields(HoloSettings)}
        found = holo_cells(columns, holes, HoloSettings(**settings))
        self._last[:] = [columns, holes, found]
        return found


def repair_named(repairs: Any) -> Repair:
    """The repair that a user's choice stands for."""
    if isinstance(repairs, str) and repairs == "default":
        return ColumnValues()
    if isinstance(repairs, str) and repairs == "holoclean":
        return HoloRepair()
    if hasattr(repairs, "propose"):
        chosen: Repair = repairs
        return chosen
    if isinstance(repairs, Mapping):
        return ColumnValues(repairs)
    if isinstance(repairs, list | tuple) and repairs:
        return Imputers(repairs)
    raise TableError(
        'repairs must be "default", a list of imputers, a dict from column to values or to a '
        f'function, an object with propose(columns, holes), or "holoclean"; got {repairs!r}.'
    )


def checked_options(
    options: Mapping[int, Options], columns: Sequence[Column], holes: Bools
) -> dict[int, Options]:
    """What a repair proposed, refused where it cannot be used; cells in order of columns."""
    strange = [row for row in options if not 0 <= row < len(holes) or not holes[row].any()]
    if strange:
        raise TableError(f"the repair proposes values for row {offenders(strange)}: no hole there.")
    proposed = {cell for one in options.values() for cell in one.cells}
    usable = np.array([len(c.observed) > 0 or n in proposed for n, c in enumerate(columns)])
    result = {}
    for row in np.flatnonzero((holes & usable).any(axis=1)).tolist():
        own = options.get(row, Options((), ()))
        filled = [cell for cell, values in zip(own.cells, own.values, strict=True) if len(values)]
        wanted = np.flatnonzero(holes[row] & usable).tolist()
        lacking = sorted(set(wanted).difference(filled))
        if lacking:
            raise _unusable("nothing", row, lacking, columns)
        if extra := sorted(set(own.cells).difference(wanted)):
            names = offenders(repr(columns[cell].name) for cell in extra)
            raise TableError(f"the repair proposes values for row {row}, column {names}: no hole.")
        result[row] = _in_order(row, own, columns)
    return result


def _in_order(row: int, options: Options, columns: Sequence[Column]) -> Options:
    order = sorted(range(len(options.cells)), key=options.cells.__getitem__)
    values = []
    for place in order:
        column = columns[options.cells[place]]
        stored = [column.stored(value) for value in options.values[place]]
        if column.kind in ("date", "duration"):  # to the microsecond, as they are shown
            stored = [value if value != value else column.stored(column.shown(value))
                      for value in stored]  # fmt: skip
        if any(value is None or value != value for value in stored):
            raise _unusable("a null", row, [options.cells[place]], columns)
        if column.kind != "categorical" and not np.isfinite(stored).all():
            raise _unusable("an infinite value", row, [options.cells[place]], columns)
        values.append(tuple(stored))
    weights = options.weights
    if options.joint:
        sizes = {len(one) for one in values} | ({len(weights)} if weights is not None else set())
        if len(sizes) != 1 or (weights is not None and not min(weights) > 0):
            raise TableError(
                f"versions of row {row} must have one value a cell, and a weight above 0 if any."
            )
    return Options(tuple(sorted(options.cells)), tuple(values), options.joint, weights)


def _unusable(what: str, row: int, cells: list[int], columns: Sequence[Column]) -> TableError:
    names = offenders(repr(columns[cell].name) for cell in cells)
    return TableError(
        f"the repair returns {what} for the hole in row {row}, column {names}. "
        "Every hole needs at least one candidate, and none of them null or infinite."
    )


def with_present(options: Options, present: Mapping[int, Any]) -> Options:
    """Add the present values of doubted cells (cell -> value) to the candidates, in front."""
    if not present:
        return options
    if not options.joint:
        values = tuple(
            tuple(dict.fromkeys((present[cell], *own))) if cell in present else own
            for cell, own in zip(options.cells, options.values, strict=True)
        )
        return replace(options, values=values)
    kept = [
        tuple(present.get(cell, value) for cell, value in zip(options.cells, version, strict=True))
        for version in options.versions
    ]
    weights = None if options.weights is None else options.weights * 2
    return merged(options, [*kept, *options.versions], weights)


def merged(
    options: Options, versions: Sequence[tuple[Any, ...]], weights: Sequence[float] | None
) -> Options:
    """Joint options of these versions, equal ones only once; their weights add up."""
    total: dict[tuple[Any, ...], float] = {}
    for number, version in enumerate(versions):
        weight = 1.0 if weights is None else weights[number]
        total[version] = total.get(version, 0.0) + weight
    added = None if weights is None else tuple(total.values())
    return Options(options.cells, tuple(zip(*total, strict=True)), joint=True, weights=added)


def capped(
    options: dict[int, Options], columns: Sequence[Column], limit: Any
) -> dict[int, Options]:
    """At most `limit` candidates a row: holes with most values lose some first."""
    if not isinstance(limit, int | np.integer) or limit < 1:
        raise TableError(f"max_candidates must be an int of at least 1; got {limit!r}.")
    result, told = dict(options), []
    for row, one in options.items():
        if one.n_candidates <= limit:
            continue
        result[row] = _smaller(one, columns, int(limit))
        kept = ", ".join(
            f"{len(few)} of {len(many)} values of {columns[cell].name!r}"
            for cell, few, many in zip(one.cells, result[row].values, one.values, strict=True)
            if len(few) < len(many)
        )
        told.append(f"row {row} keeps {result[row].n_candidates} of {one.n_candidates} ({kept})")
    if told:
        warnings.warn(
            TableWarning(
                f"more than {limit} candidates in a row: {offenders(told)}.",
                "Raise max_candidates, or propose fewer values.",
                field="max_candidates",
            ),
            stacklevel=3,
        )
    return result


def _smaller(options: Options, columns: Sequence[Column], limit: int) -> Options:
    if options.joint:
        weights = None if options.weights is None else options.weights[:limit]
        return Options(options.cells, tuple(v[:limit] for v in options.values), True, weights)
    kept = [len(values) for values in options.values]
    while math.prod(kept) > limit:
        kept[kept.index(max(kept))] -= 1
    values = tuple(
        _thinned(all_values, size, columns[cell])
        for all_values, size, cell in zip(options.values, kept, options.cells, strict=True)
    )
    return Options(options.cells, values)


def _thinned(values: tuple[Any, ...], size: int, column: Column) -> tuple[Any, ...]:
    """Fewer values: evenly spread over the range of numbers, the first ones of categories."""
    if column.kind == "categorical":
        return values[:size]
    places = np.linspace(0, len(values) - 1, size).round().astype(int)
    return tuple(values[place] for place in places)
