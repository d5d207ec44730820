"""One row at a time: cells with several values, and the checks every row passes.

A row is stored as a *base* vector plus zero or more *cells*. A cell covers a run of columns
and lists the values these columns can take together; a candidate of the row picks one value
from every cell. A clean row has no cell, a row given as plain candidate vectors has one cell,
a factored row has one cell for each uncertain cell of the table.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cpclean.data.between import Between
from cpclean.errors import DataError, offenders

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

# Weights given by hand are rarely exact sums: this much is put right silently.
PRIOR_SUM_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Cell:
    """The values that one uncertain cell of a factored row can take.

    Parameters
    ----------
    column : int or sequence of int
        The column of the cell, or the neighbouring columns it covers (a one-hot group).
    values : array-like of shape (n_values,) or (n_values, n_columns)
        What the cell can be.
    prior : array-like of shape (n_values,), optional
        How likely each value is; uniform by default.
    """

    column: int | Sequence[int]
    values: npt.ArrayLike
    prior: npt.ArrayLike | None = None


@dataclass(frozen=True)
class FactoredRow:
    """A row whose candidates are the product of its cells' values.

    Candidate numbers count through the product in C order over the cells sorted by column:
    the last cell's value changes fastest, as in `itertools.product`.

    Parameters
    ----------
    base : array-like of shape (n_features,)
        The row; what stands in the columns of the cells is not used and may be NaN.
    cells : sequence of Cell
        The uncertain cells. Their runs of columns must not overlap.
    """

    base: npt.ArrayLike
    cells: Sequence[Cell]


class StoredCell(NamedTuple):
    """A checked cell: columns start..stop-1, values (n_values, stop - start), weights."""

    start: int
    values: Floats
    weights: Floats

    @property
    def stop(self) -> int:
        return self.start + int(self.values.shape[1])


class StoredRow(NamedTuple):
    """A checked row: its first candidate, and the cells in which the others differ."""

    base: Floats
    cells: tuple[StoredCell, ...]


def as_floats(values: Any, what: str) -> Floats:
    """A float64 copy-if-needed of real numbers, or an error that says what was wrong."""
    try:
        array = np.asarray(values)
    except ValueError as problem:
        raise DataError(f"{what} must be vectors of equal length; {problem}") from problem
    try:
        if array.dtype.kind in "USMmVc":
            raise TypeError(array.dtype)
        return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise DataError(
            f"{what} must be numbers; got {_describe(values)}. Encode categories as numbers first."
        ) from problem


def is_whole(number: Any) -> bool:
    """Whether something is an int, and not a bool in its place."""
    return isinstance(number, int | np.integer) and not isinstance(number, bool)


def listed(items: Any, what: str) -> list[Any]:
    """The items of a sequence, or an error that says what was expected."""
    if isinstance(items, str | bytes) or not hasattr(items, "__iter__"):
        raise DataError(f"{what}; got {type(items).__name__}.")
    return list(items)


def check_finite(array: Floats, what: str) -> None:
    """Holes are candidates, never NaN: refuse what is not a finite number."""
    if not np.isfinite(array).all():
        bad = np.argwhere(~np.isfinite(array))
        places = offenders(tuple(int(i) for i in place) for place in bad)
        raise DataError(
            f"{what} must be finite; got NaN or infinity at {places}. "
            "A hole is given as a set of candidates, not as NaN."
        )


def checked_weights(prior: Any, size: int, what: str) -> Floats:
    """A prior over `size` candidates that sums to 1, uniform when none is given."""
    if prior is None:
        return np.full(size, 1.0 / size)
    weights = as_floats(prior, what)
    if weights.shape != (size,):
        raise DataError(
            f"{what} must have one weight per candidate, shape ({size},); got {weights.shape}."
        )
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise DataError(f"{what} must be finite and not negative; got {_short(weights)}.")
    total = math.fsum(weights)
    if abs(total - 1.0) > PRIOR_SUM_TOLERANCE:
        raise DataError(
            f"{what} must sum to 1; got a sum of {total:.12g}. "
            "Divide the weights by their sum if they are only proportional."
        )
    return weights / total


def plain_row(candidates: Floats, weights: Floats) -> StoredRow:
    """A row from its candidate vectors: one cell over the run of columns that vary."""
    first = candidates[0].copy()
    if len(candidates) == 1:
        return StoredRow(first, ())
    varying = np.flatnonzero((candidates != first).any(axis=0))
    start, stop = (int(varying[0]), int(varying[-1]) + 1) if len(varying) else (0, 1)
    return StoredRow(first, (StoredCell(start, candidates[:, start:stop], weights),))


def factored_row(row: FactoredRow, n_features: int | None, where: str) -> StoredRow:
    """A row from its cells, checked."""
    base = as_floats(row.base, f"the base of {where}").copy()
    if base.ndim != 1 or (n_features is not None and len(base) != n_features):
        expected = "one dimension" if n_features is None else f"shape ({n_features},)"
        raise DataError(f"the base of {where} must have {expected}; got {base.shape}.")
    given = listed(row.cells, f"the cells of {where} must be a sequence of Cell")
    for cell in given:
        if not isinstance(cell, Cell):
            raise DataError(
                f"the cells of {where} must be of class Cell; got {type(cell).__name__}."
            )
    cells = sorted(
        (_stored_cell(cell, len(base), where) for cell in given), key=lambda cell: cell.start
    )
    for left, right in pairwise(cells):
        if right.start < left.stop:
            raise DataError(
                f"the cells of {where} must cover separate runs of columns; got columns "
                f"{left.start}..{left.stop - 1} and {right.start}..{right.stop - 1}. "
                "Join overlapping cells into one cell that lists their combinations."
            )
    for cell in cells:
        base[cell.start : cell.stop] = cell.values[0]
    check_finite(base, f"the base of {where}")
    return StoredRow(base, tuple(cell for cell in cells if len(cell.values) > 1))


def narrowed(row: StoredRow, known: Mapping[int, float | Between]) -> StoredRow:
    """The same row with some of its columns known, exactly or roughly.

    A cell keeps the values that lie in the ranges, and of these the ones that agree with what is
    known. If none does, what is known is right: it takes the place of the cell's own values in
    those columns. Ranges that hold no value are for `emptied` to find.
    """
    base = row.base.copy()
    exact = {column: one for column, one in known.items() if not isinstance(one, Between)}
    if len(exact) == len(base):
        base[list(exact)] = list(exact.values())
        return StoredRow(base, ())
    cells = []
    for cell in row.cells:
        own = {at - cell.start: one for at, one in known.items() if cell.start <= at < cell.stop}
        if len(own) == cell.values.shape[1] and not any(
            isinstance(one, Between) for one in own.values()
        ):
            continue  # nothing else is left of it
        one = _narrowed_cell(cell, own)
        base[cell.start : cell.stop] = one.values[0]
        if len(one.values) > 1:
            cells.append(one)
    for column, value in exact.items():
        base[column] = value
    return StoredRow(base, tuple(cells))


def emptied(row: StoredRow, known: Mapping[int, float | Between]) -> list[int]:
    """The columns of one cell whose ranges leave it no value, or of one outside of its range."""
    ranges = {column: one for column, one in known.items() if isinstance(one, Between)}
    for cell in row.cells:
        own = {column: one for column, one in ranges.items() if cell.start <= column < cell.stop}
        if own and not in_ranges(cell, own).any():
            return list(own)
        ranges = {column: one for column, one in ranges.items() if column not in own}
    return [at for at, one in ranges.items() if not one.holds(row.base[at : at + 1])[0]][:1]


def in_ranges(cell: StoredCell, ranges: Mapping[int, float | Between]) -> Bools:
    """Which values of a cell lie in all ranges, by column of the row."""
    found = np.ones(len(cell.values), dtype=bool)
    for column, one in ranges.items():
        if isinstance(one, Between):
            found &= one.holds(cell.values[:, column - cell.start])
    return found


def within(new: StoredRow, old: StoredRow) -> bool:
    """Whether every candidate of one row is a candidate of another, cell by cell."""
    cells = {cell.start: cell.values for cell in new.cells}
    same = new.base == old.base
    for cell in old.cells:
        begin, end = cell.start, cell.stop
        own = cells.pop(begin, new.base[None, begin:end]) if cells else new.base[None, begin:end]
        if own.shape[1] != end - begin:
            return False
        if len(own) == 1 == end - begin:  # bits are compared: there are two zeros
            if not (cell.values.view(np.int64) == own.view(np.int64)).any():
                return False
        else:
            known = {value.tobytes() for value in cell.values}
            if not all(value.tobytes() in known for value in own):
                return False
        same[begin:end] = True
    return not cells and bool(same.all())


def box(row: StoredRow) -> tuple[Floats, Floats]:
    """The least and the greatest value of a row in every column."""
    low, high = row.base.copy(), row.base.copy()
    for cell in row.cells:
        low[cell.start : cell.stop] = cell.values.min(axis=0)
        high[cell.start : cell.stop] = cell.values.max(axis=0)
    return low, high


def boxed(new: StoredRow, old: StoredRow) -> bool:
    """Whether a row lies between the least and the greatest values of another, in every column."""
    low, high = box(old)
    if ((new.base < low) | (new.base > high)).any():
        return False
    return all(
        (low[cell.start : cell.stop] <= cell.values.min(axis=0)).all()
        and (cell.values.max(axis=0) <= high[cell.start : cell.stop]).all()
        for cell in new.cells
    )


def widened(row: StoredRow, other: StoredRow) -> StoredRow:
    """A row that can also be what a `narrowed` version of it can be, at a prior of 0.

    Values that a cell of the other row has are added to the cell; columns without a cell that
    differ become cells, one for each run of columns between cells.
    """
    there = {cell.start: cell.values for cell in other.cells}
    cells, begin = list[StoredCell](), 0
    for cell in (*row.cells, None):
        end = len(row.base) if cell is None else cell.start
        both = np.stack([row.base[begin:end], other.base[begin:end]])
        if (both[0] != both[1]).any():
            cells.append(StoredCell(begin, both, np.array([1.0, 0.0])))
        if cell is None:
            break
        begin = cell.stop
        values = there.get(cell.start, other.base[None, cell.start : begin])
        known = {value.tobytes() for value in cell.values}
        new = np.array([value.tobytes() not in known for value in values])
        both = np.concatenate([cell.values, values[new]])
        cells.append(StoredCell(cell.start, both, np.append(cell.weights, np.zeros(new.sum()))))
    return StoredRow(row.base, tuple(cells))


def _narrowed_cell(cell: StoredCell, known: Mapping[int, float | Between]) -> StoredCell:
    if not known:
        return cell
    exact = {at: value for at, value in known.items() if not isinstance(value, Between)}
    columns, wanted = list(exact), np.array(list(exact.values()), dtype=np.float64)
    inside = in_ranges(cell, {at + cell.start: value for at, value in known.items()})
    agree = inside & (cell.values[:, columns] == wanted).all(axis=1)
    if not agree.any():
        agree = inside
    values, weights = cell.values[agree], cell.weights[agree]
    values[:, columns] = wanted
    if len(values) == 1:
        return StoredCell(cell.start, values, np.ones(1))
    _, first, group = np.unique(values, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)  # distinct values in order of appearance
    values, weights = values[first[order]], np.bincount(group.ravel(), weights)[order]
    total = weights.sum()
    uniform = np.full(len(values), 1.0 / len(values))
    return StoredCell(cell.start, values, weights / total if total > 0 else uniform)


def _stored_cell(cell: Cell, n_features: int, where: str) -> StoredCell:
    columns = np.atleast_1d(np.asarray(cell.column))
    what = f"the cell at column {cell.column} of {where}"
    run = columns.ndim == 1 and columns.dtype.kind in "iu" and len(columns) > 0
    if not run or not (np.diff(columns) == 1).all():
        raise DataError(f"{what} must name a column or a run of neighbouring columns.")
    if columns[0] < 0 or columns[-1] >= n_features:
        raise DataError(f"{what} must lie within the {n_features} columns of the row.")
    values = as_floats(cell.values, f"the values of {what}")
    if values.ndim == 1 and len(columns) == 1:
        values = values[:, None]
    if values.ndim != 2 or values.shape[1] != len(columns):
        raise DataError(
            f"the values of {what} must have shape (n_values, {len(columns)}); got {values.shape}."
        )
    if len(values) == 0:
        raise DataError(f"{what} has no value: give every cell at least one candidate value.")
    check_finite(values, f"the values of {what}")
    weights = checked_weights(cell.prior, len(values), f"the prior of {what}")
    return StoredCell(int(columns[0]), values, weights)


def _describe(values: Any) -> str:
    dtype = getattr(values, "dtype", None)
    return f"dtype {dtype}" if dtype is not None else type(values).__name__


def _short(weights: Floats) -> str:
    return np.array2string(weights, threshold=6, precision=6)
