"""Tables built the slow way: every row by itself, every candidate looked at, in plain Python.

What `IncompleteTable` does with arrays is written here as one would say it, row by row, down to a
`FactoredRow` for every row with holes. The two agree bit for bit.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from cpclean import Cell, FactoredRow, IncompleteDataset, IncompleteTable
from cpclean.data.columns import ABSENT, OTHER, Column
from cpclean.data.row_arrays import RowArrays
from cpclean.data.row_options import Options

# -- candidates ------------------------------------------------------------------------------------


def is_hole(value: Any) -> bool:
    return value is None or value != value


@lru_cache(maxsize=32)
def values_of(table: IncompleteTable, cell: int) -> list[Any]:
    return list(table.columns[cell].values.tolist())


@lru_cache(maxsize=256)
def known_values(table: IncompleteTable, cell: int, code: int | None = None) -> list[Any]:
    """The values of a column that are neither null nor doubted, of one class or of all."""
    return [
        one
        for row, one in enumerate(values_of(table, cell))
        if not table.holes[row, cell] and code in (None, int(table.dataset.codes[row]))
    ]


def default_list(column: Column, seen: list[Any]) -> tuple[Any, ...]:
    if column.kind == "boolean":
        return (0.0, 1.0)
    if column.kind == "categorical":
        times = Counter(seen)
        frequent = sorted(times, key=lambda one: (-times[one], str(one)))
        return (*frequent[:4], OTHER)
    numbers = np.array(seen)
    points = {
        numbers.min(),
        np.percentile(numbers, 25),
        float(sum(map(Fraction, numbers.tolist())) / len(numbers)),
        np.percentile(numbers, 75),
        numbers.max(),
    }
    values = sorted({float(one) + 0.0 for one in points})
    if column.kind in ("date", "duration"):
        values = [column.stored(column.shown(one)) for one in values]
    return tuple(values)


def observed_list(column: Column, seen: list[Any]) -> tuple[Any, ...]:
    """Every value that is seen: the most frequent category first, or the smallest number."""
    if column.kind != "categorical":
        return tuple(sorted({one + 0.0 for one in seen}))
    times = Counter(seen)
    return tuple(sorted(times, key=lambda one: (-times[one], str(one))))


def default_options(table: IncompleteTable, values_of_column: Any = None) -> dict[int, Options]:
    """The default candidates of every hole, or other ones; a doubted value comes first."""
    values_of_column = values_of_column or default_list
    found = {}
    for row in range(table.n_rows):
        cells, lists = [], []
        for cell, column in enumerate(table.columns):
            seen = known_values(table, cell)
            if table.holes[row, cell] and seen:
                values = values_of_column(column, seen)
                present = values_of(table, cell)[row]
                if not is_hole(present):
                    values = tuple(dict.fromkeys((present, *values)))
                cells.append(cell)
                lists.append(values)
        if cells:
            found[row] = Options(tuple(cells), tuple(lists))
    return found


def merged_versions(
    tables: list[list[Column]], holes: Any, weigh: str, decimals: int = 12
) -> dict[int, Options]:
    """Row i of every version, equal ones only once."""
    found = {}
    for row in np.flatnonzero(holes.any(axis=1)).tolist():
        cells = tuple(np.flatnonzero(holes[row]).tolist())
        first: dict[Any, Any] = {}
        times: dict[Any, float] = {}
        for table in tables:
            version = tuple(table[cell].values[row] for cell in cells)
            key = tuple(
                round(one, decimals) + 0.0 if isinstance(one, float) else one for one in version
            )
            first.setdefault(key, version)
            times[key] = times.get(key, 0.0) + 1.0
        weights = tuple(times.values()) if weigh == "version" else None
        found[row] = Options(cells, tuple(zip(*first.values(), strict=True)), True, weights)
    return found


def finished(table: IncompleteTable, proposed: dict[int, Options]) -> dict[int, Options]:
    """What a repair proposed, in order of columns, with doubted values in front."""
    found = {}
    for row in sorted(proposed):
        own = proposed[row]
        order = sorted(range(len(own.cells)), key=own.cells.__getitem__)
        cells = tuple(own.cells[n] for n in order)
        lists = [tuple(own.values[n]) for n in order]
        present = {
            cell: value for cell in cells if not is_hole(value := values_of(table, cell)[row])
        }
        weights = own.weights
        if own.joint and present:
            lists, weights = _doubled(cells, lists, present, weights)
        elif present:
            lists = [
                tuple(dict.fromkeys((present[cell], *one))) if cell in present else one
                for cell, one in zip(cells, lists, strict=True)
            ]
        found[row] = Options(cells, tuple(lists), own.joint, weights)
    return found


def _doubled(
    cells: tuple[int, ...], lists: list[Any], present: dict[int, Any], weights: Any
) -> tuple[list[Any], Any]:
    """All versions with the present values, then all as proposed; equal ones only once."""
    versions = list(zip(*lists, strict=True))
    front = [
        tuple(present.get(cell, value) for cell, value in zip(cells, version, strict=True))
        for version in versions
    ]
    total: dict[Any, float] = {}
    for number, version in enumerate(front + versions):
        weight = 1.0 if weights is None else weights[number % len(versions)]
        total[version] = total.get(version, 0.0) + weight
    return list(zip(*total, strict=True)), None if weights is None else tuple(total.values())


# -- priors ----------------------------------------------------------------------------------------


def shares(column: Column, values: tuple[Any, ...], seen: list[Any]) -> np.ndarray[Any, Any]:
    """How much of what is seen is nearest to each value; equal values share it."""
    if not seen:
        return np.full(len(values), 1.0 / len(values))
    distinct = list(dict.fromkeys(values))
    counts = dict.fromkeys(distinct, 0.0)
    for one in seen:
        if column.kind == "categorical":
            nearest = [one] if one in counts else [OTHER] if OTHER in counts else []
        else:
            nearest = _nearest(distinct, one)
        for value in nearest:
            counts[value] += 1.0 / len(nearest)
    total = sum(counts.values())
    each = {
        value: count / total if total > 0 else 1.0 / len(distinct)
        for value, count in counts.items()
    }
    return np.array([each[value] / values.count(value) for value in values])


def _nearest(values: list[float], one: float) -> list[float]:
    """The value to which a number is nearest; the two on either side if it is in the middle."""
    ordered = sorted(values)
    for low, high in pairwise(ordered):
        middle = (low + high) / 2
        if one == middle:
            return [low, high]
        if one < middle:
            return [low]
    return ordered[-1:]


def weights_of(
    table: IncompleteTable, row: int, cell: int, values: tuple[Any, ...], prior: str
) -> np.ndarray[Any, Any]:
    column = table.columns[cell]
    if prior == "uniform":
        found = np.ones(len(values))
    else:
        everyone = shares(column, values, known_values(table, cell))
        found = everyone
        if prior == "label":
            own = known_values(table, cell, int(table.dataset.codes[row]))
            trust = len(own) / (len(own) + 1.0) if own else 0.0
            found = trust * shares(column, values, own) + (1.0 - trust) * everyone
    return np.asarray(found / found.sum())


# -- the space -------------------------------------------------------------------------------------


def vector(table: IncompleteTable, cell: int, value: Any) -> list[float]:
    """A value of a column in the features of that column."""
    feature = table.space.features[cell]
    assert feature is not None
    if feature.kind != "categorical":
        return [(value - feature.shift) * feature.scale]
    found = [0.0] * (feature.stop - feature.start)
    if value is not ABSENT and value in feature.categories:
        found[feature.categories.index(value)] = feature.scale
    return found


def categories(table: IncompleteTable, cell: int, options: dict[int, Options]) -> list[Any]:
    """The categories of a column: those that are seen, sorted, then those that are proposed."""
    seen = set(known_values(table, cell))
    try:
        ordered = sorted(seen, key=lambda one: (str(type(one)), one))
    except TypeError:
        ordered = sorted(seen, key=lambda one: (str(type(one)), repr(one)))
    proposed = [
        value
        for own in options.values()
        if cell in own.cells
        for value in own.values[own.cells.index(cell)]
        if value is not ABSENT
    ]
    return list(dict.fromkeys([*ordered, *proposed]))


def dataset(table: IncompleteTable, options: dict[int, Options], prior: str) -> IncompleteDataset:
    """The table in its space, row by row."""
    candidates: list[Any] = []
    priors: list[Any] = []
    placed = [cell for cell, one in enumerate(table.space.features) if one is not None]
    for row in range(table.n_rows):
        base = [one for cell in placed for one in vector(table, cell, values_of(table, cell)[row])]
        own = options.get(row, Options((), ()))
        inside = [(cell, one) for cell, one in zip(own.cells, own.values, strict=True)
                  if cell in placed]  # fmt: skip
        if own.joint and inside:
            made = versions(table, row, base, own, prior)
            candidates.append(made[0])
            priors.append(made[1])
            continue
        cells = [
            Cell(
                _columns(table, cell),
                [vector(table, cell, one) for one in values],
                weights_of(table, row, cell, values, prior),
            )
            for cell, values in inside
        ]
        candidates.append(FactoredRow(base, cells) if cells else [base])
        priors.append(None)
    return IncompleteDataset(candidates, table.dataset.labels, priors)


def versions(
    table: IncompleteTable, row: int, base: list[float], own: Options, prior: str
) -> tuple[Any, Any]:
    """Candidates that belong together: those equal in the space's columns are one."""
    placed = [n for n, cell in enumerate(own.cells) if table.space.features[cell] is not None]
    cells = [own.cells[n] for n in placed]
    whole = list(zip(*own.values, strict=True))
    given = [1.0] * len(whole) if own.weights is None else list(own.weights)
    if len(placed) < len(own.cells):
        total: dict[Any, float] = {}
        for version, weight in zip(whole, given, strict=True):
            part = tuple(version[n] for n in placed)
            total[part] = total.get(part, 0.0) + weight
        whole = list(total)
        given = [1.0] * len(whole) if own.weights is None else list(total.values())
    weights = np.array(given)
    vectors = np.array([base] * len(whole))
    for n, cell in enumerate(cells):
        values = tuple(version[n] for version in whole)
        vectors[:, _columns(table, cell)] = [vector(table, cell, one) for one in values]
        weights = weights * weights_of(table, row, cell, values, prior)
    total_weight = weights.sum()
    if total_weight > 0:
        return vectors, weights / total_weight
    return vectors, np.full(len(whole), 1.0 / len(whole))


def _columns(table: IncompleteTable, cell: int) -> range:
    feature = table.space.features[cell]
    assert feature is not None
    return range(feature.start, feature.stop)


def scale_of(table: IncompleteTable, cell: int) -> tuple[float, float]:
    """Shift and scale of a column of numbers that differ, by their range."""
    seen = known_values(table, cell)
    return min(seen), 1.0 / (max(seen) - min(seen))


def written_out(arrays: RowArrays) -> dict[str, Any]:
    """The arrays row by row and cell by cell."""
    cells = [cell for row in range(len(arrays.base)) for cell in arrays.stored_cells(row)]
    return {
        "base": arrays.base.tobytes(),
        "n_cells": arrays.n_cells.tolist(),
        "places": [(cell.start, cell.values.shape) for cell in cells],
        "values": [cell.values.tobytes() for cell in cells],
        "weights": [cell.weights.tobytes() for cell in cells],
    }


def same_bits(one: IncompleteDataset, other: IncompleteDataset) -> list[str]:
    """In what two datasets differ in any bit; cells may share their lists or have their own."""
    mine, theirs = written_out(one.arrays), written_out(other.arrays)
    names = [name for name in mine if mine[name] != theirs[name]]
    if one.codes.tolist() != other.codes.tolist():
        names.append("codes")
    return names if one.classes.tolist() == other.classes.tolist() else [*names, "classes"]
