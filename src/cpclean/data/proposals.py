"""What a repair proposed, made usable: checked, with doubted values in front.

Every step takes and returns `TableOptions`. Values are looked at once per distinct list.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.data.coding import coded, exactly_coded
from cpclean.data.columns import Column
from cpclean.data.nulls import is_null
from cpclean.data.ragged import Ragged
from cpclean.data.row_options import Options, TableOptions
from cpclean.data.rows import Bools, Ints
from cpclean.errors import TableError, offenders

# -- step 1: refuse what cannot be used --------------------------------------------------------


def checked_options(
    options: Mapping[int, Options], columns: Sequence[Column], holes: Bools
) -> TableOptions:
    """What a repair proposed, refused where it cannot be used; cells in order of columns."""
    given = options
    if not isinstance(given, TableOptions):
        given = TableOptions.from_rows(given, len(columns))
    outside = (given.rows < 0) | (given.rows >= len(holes))
    strange = outside.copy()
    strange[~outside] = ~holes[given.rows[~outside]].any(axis=1)
    if strange.any():
        rows = offenders(given.rows[strange].tolist())
        raise TableError(f"the repair proposes values for row {rows}: no hole there.")
    proposed = set(given.cells.tolist())
    usable = np.array([c.n_observed > 0 or n in proposed for n, c in enumerate(columns)])
    wanted = holes & usable
    stored, problems = _stored(given, columns)
    rows_of_holes = given.rows[given.owner]
    inside = (given.cells >= 0) & (given.cells < len(columns))
    filled = np.zeros_like(wanted)
    full = inside & (given.sizes > 0)
    filled[rows_of_holes[full], given.cells[full]] = True
    bad = ~inside | problems
    bad[inside] |= ~wanted[rows_of_holes[inside], given.cells[inside]]
    bad_rows = (wanted & ~filled).any(axis=1)
    bad_rows[rows_of_holes[bad]] = True
    bad_rows[given.rows[_uneven(stored) | _doubled(stored)]] = True
    if bad_rows.any():
        row = int(np.argmax(bad_rows))
        raise _complaint(row, given.of(row), columns, np.flatnonzero(wanted[row]).tolist())
    order = np.lexsort((stored.cells, stored.owner))
    return replace(stored, cells=stored.cells[order], lists=stored.lists[order]).some_holes(
        np.ones(len(order), dtype=bool)  # leaves out rows without any
    )


def _stored(options: TableOptions, columns: Sequence[Column]) -> tuple[TableOptions, Bools]:
    """The same with values as the columns store them, and which holes have one of no use."""
    bad = np.zeros(len(options.cells), dtype=bool)
    by_column = list(options.by_column)
    for cell, holes in options.columns():
        if 0 <= cell < len(columns):
            by_column[cell], wrong = _stored_lists(options.by_column[cell], columns[cell])
            bad[holes] = wrong[options.lists[holes]]
    return replace(options, by_column=tuple(by_column)), bad


def _stored_lists(lists: Ragged, column: Column) -> tuple[Ragged, Bools]:
    wrong = np.zeros(len(lists), dtype=bool)
    if column.kind == "categorical":
        null = exactly_coded(lists.flat.tolist()).each(is_null)
        wrong[lists.owner[null]] = True
        return lists.with_flat(lists.flat.astype(object)), wrong
    if lists.flat.dtype == np.float64:
        flat = lists.flat
    else:
        flat = np.zeros(len(lists.flat))
        for number in range(len(lists)):
            part = slice(lists.starts[number], lists.starts[number + 1])
            try:
                flat[part] = [column.stored(one) for one in lists[number].tolist()]
            except TableError:
                wrong[number] = True
    usable = np.isfinite(flat)
    wrong[lists.owner[~usable]] = True
    if column.kind in ("date", "duration"):  # to the microsecond, as they are shown
        distinct, places = np.unique(flat[usable], return_inverse=True)
        shown = np.array([_to_the_microsecond(column, one) for one in distinct.tolist()])
        flat = flat.copy()
        flat[usable] = shown[places]
    return lists.with_flat(flat), wrong


def _to_the_microsecond(column: Column, value: float) -> float:
    return float(column.stored(column.shown(value)))


def _uneven(options: TableOptions) -> Bools:
    """Joint rows whose cells have different numbers of values, or weights that do not fit."""
    bad = np.zeros(len(options.rows), dtype=bool)
    (some,) = np.nonzero(np.diff(options.starts))
    if not len(some):
        return bad
    most = np.maximum.reduceat(options.sizes, options.starts[some])
    bad[some] = np.minimum.reduceat(options.sizes, options.starts[some]) != most
    weighed = options.weights.sizes > 0
    bad[some] |= weighed[some] & (options.weights.sizes[some] != most)
    positive = np.array([one > 0 for one in options.weights.flat.tolist()], dtype=bool)
    bad[options.weights.owner[~positive]] = True
    return bad & options.joint


def _doubled(options: TableOptions) -> Bools:
    """Rows in which a cell is named twice."""
    keys = options.owner * (int(options.cells.max(initial=0)) + 1) + options.cells
    _, first, times = np.unique(keys, return_index=True, return_counts=True)
    bad = np.zeros(len(options.rows), dtype=bool)
    bad[options.owner[first[times > 1]]] = True
    return bad


def _complaint(
    row: int, own: Options, columns: Sequence[Column], wanted: Sequence[int]
) -> TableError:
    """What is wrong with the options of a row of which something is."""
    filled = [cell for cell, values in zip(own.cells, own.values, strict=True) if len(values)]
    if lacking := sorted(set(wanted).difference(filled)):
        return _unusable("nothing", row, lacking, columns)
    if extra := sorted(set(own.cells).difference(wanted)):
        known = [repr(columns[cell].name) if cell < len(columns) else cell for cell in extra]
        return TableError(
            f"the repair proposes values for row {row}, column {offenders(known)}: no hole."
        )
    for cell, values in sorted(zip(own.cells, own.values, strict=True), key=lambda pair: pair[0]):
        try:
            stored = [columns[cell].stored(value) for value in values]
        except TableError as problem:
            return problem
        if any(value is None or value != value for value in stored):
            return _unusable("a null", row, [cell], columns)
        if columns[cell].kind != "categorical" and not np.isfinite(stored).all():
            return _unusable("an infinite value", row, [cell], columns)
    if len(set(own.cells)) < len(own.cells):
        return TableError(f"the repair proposes values for a column of row {row} twice.")
    return TableError(
        f"versions of row {row} must have one value per cell, and a weight above 0 if any."
    )


def _unusable(what: str, row: int, cells: list[int], columns: Sequence[Column]) -> TableError:
    names = offenders(repr(columns[cell].name) for cell in cells)
    return TableError(
        f"the repair returns {what} for the hole in row {row}, column {names}. "
        "Every hole needs at least one candidate, and none of them null or infinite."
    )


# -- step 2: doubted values are candidates too ---------------------------------------------------


def with_present(options: TableOptions, columns: Sequence[Column], doubted: Bools) -> TableOptions:
    """Add the present values of doubted cells to the candidates, in front."""
    rows = options.rows[options.owner]
    touched = doubted[rows, options.cells]
    if not touched.any():
        return options
    both = np.zeros(len(options.rows), dtype=bool)
    both[options.owner[touched]] = True
    both &= options.joint
    changed = {}
    for cell, holes in options.columns():
        present = columns[cell].values[rows[holes]]
        alone = touched[holes] & ~options.joint[options.owner[holes]]
        twice = both[options.owner[holes]]
        lists = options.by_column[cell].take(options.lists[holes[twice]])
        doubled = _doubled_lists(lists, present[twice], touched[holes[twice]])
        changed[cell] = [
            (holes[alone], *_in_front(options, cell, holes[alone], present[alone])),
            (holes[twice], np.arange(len(doubled)), doubled),
        ]
    weights = options.weights.take(np.repeat(np.arange(len(options.rows)), 1 + both))
    sizes = options.weights.sizes * (1 + both)
    weighed = replace(options, weights=Ragged.sized(weights.flat, sizes))
    return merged(weighed.with_lists(changed), both)


def _in_front(options: TableOptions, cell: int, holes: Ints, present: Any) -> tuple[Ints, Ragged]:
    """Lists with the present value of a hole in front, and which of them each hole has."""
    lists = options.by_column[cell]
    if present.dtype == object:
        own = present.tolist()
        codes = coded(list(zip(map(type, own), own, map(repr, own), strict=True))).codes
    else:
        codes = np.unique(present.view(np.int64), return_inverse=True)[1]
    keys = options.lists[holes] * (codes.max(initial=0) + 1) + codes
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    made = [
        tuple(dict.fromkeys(present[place : place + 1].tolist() + lists[number].tolist()))
        for place, number in zip(first.tolist(), options.lists[holes[first]].tolist(), strict=True)
    ]
    found = Ragged.of(made)
    return which, found.with_flat(found.flat.astype(lists.flat.dtype))


def _doubled_lists(lists: Ragged, present: Any, doubted: Bools) -> Ragged:
    """Versions twice: first with the present value where it is doubted, then as they are."""
    twice = lists.take(np.repeat(np.arange(len(lists)), 2))
    front = np.tile([True, False], len(lists))[twice.owner] & doubted[twice.owner // 2]
    flat = twice.flat.copy()
    flat[front] = present[twice.owner[front] // 2]
    return Ragged.sized(flat, 2 * lists.sizes)


def codes_of(values: npt.NDArray[Any]) -> Ints:
    """Numbers for values of a column, equal ones alike."""
    if values.dtype == object:
        return coded(values.tolist()).codes
    return np.asarray(np.unique(values, return_inverse=True)[1])


def merged(
    options: TableOptions, rows: Bools, codes_of: Callable[[npt.NDArray[Any]], Ints] = codes_of
) -> TableOptions:
    """Equal versions of some joint rows only once; their weights add up."""
    if not rows.any():
        return options
    columns = [(cell, holes[rows[options.owner[holes]]]) for cell, holes in options.columns()]
    values = {cell: options.by_column[cell].take(options.lists[own]) for cell, own in columns}
    n_versions = np.zeros(len(options.rows), dtype=np.int64)
    n_versions[options.owner] = options.sizes
    version_row = np.repeat(np.arange(len(options.rows)), n_versions)
    key = version_row
    for cell, own in columns:
        code = np.zeros(len(key), dtype=np.int64)
        code[options.version_places(own)] = 1 + codes_of(values[cell].flat)
        key = np.unique(key * (code.max() + 1) + code, return_inverse=True)[1]
    _, first, same = np.unique(key, return_index=True, return_inverse=True)
    kept = ~rows[version_row]
    kept[first] = True
    changed = {
        cell: [(own, np.arange(len(own)), values[cell].kept(kept[options.version_places(own)]))]
        for cell, own in columns
    }
    weighed = (options.weights.sizes > 0)[version_row]
    each = np.zeros(len(key))
    each[weighed] = options.weights.flat.astype(np.float64)
    total = np.where(rows[version_row], np.bincount(same, each)[same], each)
    used = kept & weighed
    sizes = np.bincount(version_row[used], minlength=len(options.rows))
    weights = Ragged.sized(total[used], sizes)
    return replace(options.with_lists(changed), weights=weights)


# -- what of it has a place in the space ---------------------------------------------------------


def in_space(options: TableOptions, inside: Bools) -> TableOptions:
    """Without the cells of columns that have no place in the space; inside has one entry each."""
    kept = inside[options.cells]
    if kept.all():
        return options
    shorter = np.zeros(len(options.rows), dtype=bool)
    shorter[options.owner[~kept]] = True
    some = options.some_holes(kept)
    left = np.isin(options.rows, some.rows)
    return merged(some, shorter[left] & some.joint)


def proposed_values(options: TableOptions) -> dict[int, list[Any]]:
    """The distinct values that are proposed for each column, in order of appearance."""
    found = {}
    for cell, holes in options.columns():
        used, first = np.unique(options.lists[holes], return_index=True)
        lists = options.by_column[cell].take(used[np.argsort(first)])
        found[cell] = list(dict.fromkeys(lists.flat.tolist()))
    return found
