"""Ranges for people who know a number or a date only roughly: each stands for some candidates.

Between two candidates there is a cut, as short a number as lies between them. Of many candidates,
neighbours are put together, so that the ranges are about equally likely.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from cpclean.data.between import Between
from cpclean.data.column_values import default_values
from cpclean.data.columns import Column
from cpclean.data.rows import Floats
from cpclean.data.table import IncompleteTable
from cpclean.data.values import in_words, is_mark, plain_value

MOST_RANGES = 5
ORDERED = ("numeric", "date", "duration")
_DAY = 86_400.0  # seconds


class RoughRange(NamedTuple):
    """A range in words, and its ends as JSON can hold them; None for no limit."""

    text: str
    between: list[Any]


def ranges_of(table: IncompleteTable, row: int, name: str) -> list[RoughRange]:
    """The ranges of a hole, from low to high; none if its values have no order."""
    column = table.columns[table.names.index(name)]
    if column.kind not in ORDERED:
        return []
    values, weights = _values_of(table, row, column)
    cuts = _cuts_of(column, values, weights)
    ends = [None, *cuts, None]
    return [_view(column, values, low, high) for low, high in pairwise(ends)] if cuts else []


def range_around(table: IncompleteTable, row: int, name: str, value: Any) -> Between | None:
    """The range that stands for a candidate alone, if it is one of a grid; else None.

    The values of a grid are taken from the whole column: whoever chooses one does not say that it
    is the true one.
    """
    column = table.columns[table.names.index(name)]
    if column.kind not in ORDERED or not _is_grid(table, row, column):
        return None
    values, _ = _values_of(table, row, column)
    stored = column.stored(value)
    cuts = [_cut(column, low, high) for low, high in pairwise(values.tolist())]
    place = int(np.argmin(np.abs(values - stored)))
    low = cuts[place - 1] if place > 0 else None
    high = cuts[place] if place < len(cuts) else None
    return Between(_shown(column, low), _upper(column, values, high)) if cuts else None


def _is_grid(table: IncompleteTable, row: int, column: Column) -> bool:
    options = table.options_in_space(row)
    values = options.values[options.cells.index(table.names.index(column.name))]
    if options.joint or any(is_mark(one) for one in values):
        return False
    own, grid = np.array(sorted(values), float), np.array(sorted(default_values(column)), float)
    # Dates are rounded to microseconds on their way.
    return own.shape == grid.shape and np.allclose(own, grid, rtol=1e-12, atol=0)


def _cuts_of(column: Column, values: Floats, weights: Floats) -> list[float]:
    cuts: list[float] = []
    for low, high in _gaps(values, weights):
        cut = _cut(column, low, high)
        if not cuts or cut > cuts[-1]:
            cuts.append(cut)
    return cuts


def _values_of(table: IncompleteTable, row: int, column: Column) -> tuple[Floats, Floats]:
    """The values that a hole had at the start, ascending, and how likely each was."""
    options, number = table.options_in_space(row), table.names.index(column.name)
    own = options.values[options.cells.index(number)]
    weights = np.full(len(own), 1.0 / max(1, len(own)))
    feature = table.space.features[number]
    for cell in table.dataset.cells(row) if not options.joint else ():
        first = cell.column if isinstance(cell.column, int) else cell.column[0]
        if feature is not None and first == feature.start and cell.prior is not None:
            weights = np.asarray(cell.prior, dtype=np.float64)
    there = [place for place, one in enumerate(own) if not is_mark(one)]
    values, group = np.unique(np.array([own[place] for place in there], float), return_inverse=True)
    return values, np.bincount(group.ravel(), weights[there], len(values)).astype(np.float64)


def _gaps(values: Floats, weights: Floats) -> Sequence[tuple[float, float]]:
    """The neighbours between which there is a cut."""
    if len(values) <= MOST_RANGES:
        return list(pairwise(values.tolist()))
    shares = np.cumsum(weights + 1e-9) / (weights + 1e-9).sum()
    wanted = np.arange(1, MOST_RANGES) / MOST_RANGES
    places = np.unique(np.minimum(np.searchsorted(shares, wanted), len(values) - 2))
    return [(float(values[at]), float(values[at + 1])) for at in places.tolist()]


def _cut(column: Column, low: float, high: float) -> float:
    """A short number above the lower of two neighbours and not above the other."""
    if column.kind == "date":
        day = column.shown((low + high) / 2)
        cut = _stored_day(column, day) if isinstance(day, datetime) else low
        if column.has_days and cut <= low:
            cut += _DAY
        fits = low < cut < high or (column.has_days and cut == high)
        return cut if fits else (low + high) / 2
    below = math.floor((low + high) / 2)
    if _is_whole(column) and low <= below and below + 1 <= high:
        return float(below + 1)
    digits = -math.floor(math.log10(high - low)) - 1 if high > low else 0
    for more in range(6):
        cut = round((low + high) / 2, digits + more) + 0.0  # 0 rather than -0
        # Of whole numbers, a range ends one before its cut, which must not be below its values.
        if low < cut < high and not (_is_whole(column) and cut == math.floor(cut)):
            return cut
    return (low + high) / 2


def _stored_day(column: Column, moment: datetime) -> float:
    return float(column.stored(moment.replace(hour=0, minute=0, second=0, microsecond=0)))


def _is_whole(column: Column) -> bool:
    return column.kind == "numeric" and column.has_whole_numbers


def _view(column: Column, values: Floats, low: float | None, high: float | None) -> RoughRange:
    between = Between(_shown(column, low), _upper(column, values, high))
    if low is None or high is None:
        text = _open_text(column, low, high)
    elif column.kind == "date" and not column.has_days:
        text = f"{in_words(between.low)} to before {in_words(_shown(column, high))}"
    else:
        first, last = _ends_in_words(column, between, high)
        text = first if first == last else f"{first} to {last}"
    plain = [None if end is None else plain_value(end) for end in (between.low, between.high)]
    return RoughRange(text, plain)


def _open_text(column: Column, low: float | None, high: float | None) -> str:
    is_date = column.kind == "date"
    if low is None:
        return f"{'before' if is_date else 'below'} {in_words(_shown(column, high))}"
    return f"{in_words(_shown(column, low))} or {'later' if is_date else 'more'}"


def _ends_in_words(column: Column, between: Between, high: float) -> tuple[str, str]:
    """Both ends, so that every day or whole number is in one range only."""
    first, last = between.low, between.high
    if column.kind == "date":
        last = _shown(column, high - _DAY)
    elif _is_whole(column) and math.ceil(first) <= math.floor(last):
        first, last = math.ceil(first), math.floor(last)
    return in_words(first), in_words(last)


def _shown(column: Column, end: float | None) -> Any:
    return None if end is None else column.shown(end)


def _upper(column: Column, values: Floats, end: float | None) -> Any:
    """The upper end of a range: of whole numbers and days, the one before the cut."""
    if end is not None and _is_whole(column) and end == math.floor(end):
        return _shown(column, end - 1)
    if end is not None and column.kind == "date" and column.has_days:
        # The mean of days may lie within the last one.
        return _shown(column, max(end - _DAY, float(values[values < end].max())))
    return _shown(column, end)
