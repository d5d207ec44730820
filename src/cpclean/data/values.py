"""Values of a table's cells: as a person says them, as columns store them, as JSON holds them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.data.columns import ABSENT, OTHER, Column, checked
from cpclean.data.nulls import is_null
from cpclean.data.spaces.features import Feature
from cpclean.errors import AnswerError, CPCleanError, TableError

# What a person has to type, by the kind of the column.
NEEDS = {
    "numeric": "a number, such as 41 or 0.5",
    "boolean": "true or false",
    "date": "a date, such as 2024-05-31",
    "duration": "a duration in seconds, or such as 1 days 02:00:00",
    "categorical": "a text",
}


def is_mark(value: Any) -> bool:
    """Whether a candidate is not a value of the table: "other" or "absent"."""
    return value is OTHER or value is ABSENT


def stored_value(one: Any, column: Column, feature: Feature | None, row: int) -> Any:
    """A person's value as the column stores it."""
    what = f"the value of row {row}, column {column.name!r},"
    about: Any = {"column": column.name, "rows": (row,)}
    if is_null(one):
        raise AnswerError(f"{what} must not be null. If nobody knows it, skip the row.", **about)
    if column.kind == "categorical":
        try:
            return _known_spelling(one, categories_of(column, feature))
        except TypeError as problem:  # it has no hash
            raise AnswerError(f"{what} must be a single value; got {one!r}.", **about) from problem
    if column.kind == "numeric" and isinstance(one, bool | np.bool_):
        raise AnswerError(f"{what} must be a number; got {one!r}.", **about)
    try:
        stored = column.stored(one)
        if not math.isfinite(stored):
            raise AnswerError(f"{what} must be finite; got {one!r}.", **about)
        checked(replace(column, values=np.array([stored])))
    except TableError as problem:
        raise AnswerError(f"the value of row {row}: {problem}", **about) from problem
    return stored


def categories_of(column: Column, feature: Feature | None) -> dict[Any, None]:
    """The categories of a column, in order."""
    return dict.fromkeys(column.frequencies if feature is None else feature.categories)


def _known_spelling(value: Any, categories: Mapping[Any, None]) -> Any:
    """A category as the table has it, where what was said only looks the same (1 and "1").

    "other" and "absent" stand for the candidates of that name, unless they are categories.
    """
    if value in categories:
        return next(category for category in categories if category == value)
    texts = {mark_text(mark, categories): mark for mark in (ABSENT, OTHER)}
    texts |= {str(plain_value(one)): one for one in categories if not is_mark(one)}
    plain = plain_value(value)
    all_text = all(isinstance(one, str) or is_mark(one) for one in categories)
    return texts.get(str(plain), str(plain) if all_text else plain)


def mark_text(mark: Any, categories: Mapping[Any, None]) -> str:
    """The name of a candidate that is not a value of the table, in brackets if a value has it."""
    text = str(mark)
    while text in categories:
        text = f"({text})"
    return text


def usual_value(column: Column, trusted: npt.NDArray[Any]) -> Any:
    """The mean of a column's trusted cells, or the most frequent category; null if none is."""
    if column.kind == "categorical":
        common = Counter(trusted.tolist()).most_common(1)
        return common[0][0] if common else None
    if not len(trusted):
        return math.nan
    mean = float(np.mean(trusted))
    return float(mean > 0.5) if column.kind == "boolean" else mean


def shown_alike(column: Column, values: npt.NDArray[Any]) -> tuple[Column, npt.NDArray[Any]]:
    """A filled column such that all its values are shown alike, as frames want them."""
    if column.kind == "boolean" and not np.isin(values, (0.0, 1.0)).all():
        return replace(column, kind="numeric"), values
    if column.kind != "categorical":
        whole = column.whole and bool((values == np.floor(values)).all())
        return replace(column, whole=whole), values
    categories = categories_of(column, None)
    shown = [mark_text(one, categories) if is_mark(one) else one for one in values]
    kinds = {type(one) for one in shown if one is not None}
    if len(kinds) > len({type(one) for one in categories}):
        shown = [None if one is None else str(one) for one in shown]
    alike = np.empty(len(shown), dtype=object)
    alike[:] = shown
    return column, alike


def in_words(value: Any) -> str:
    """A value as people read it.

    >>> in_words(0.30000000000000004), in_words(True), in_words(41.0)
    ('0.3', 'true', '41')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.6g}" if abs(value) < 1e6 else f"{value:.10g}"
    if isinstance(value, datetime):
        midnight = (value.hour, value.minute, value.second, value.microsecond) == (0, 0, 0, 0)
        return str(value.date() if midnight and value.tzinfo is None else value)
    return str(value)


def typed_value(column: Column, given: Any) -> Any:
    """What a person typed as the column shows it; None if the column cannot hold it."""
    if column.kind == "categorical":
        return _meant(given, categories_of(column, None))
    try:
        stored = column.stored(given)
        usable = math.isfinite(stored) and (column.kind != "boolean" or stored in (0.0, 1.0))
        return column.shown(stored) if usable else None
    except (CPCleanError, ValueError, OverflowError, OSError):
        return None


def _meant(given: Any, categories: Mapping[Any, None]) -> Any:
    """The category that differs from a typed text in blanks or capitals only, if there is one."""
    if not isinstance(given, str) or given in categories:
        return given
    like = [one for one in categories if isinstance(one, str) and one.strip() == given.strip()] or [
        one
        for one in categories
        if isinstance(one, str) and one.strip().casefold() == given.strip().casefold()
    ]
    return like[0] if len(like) == 1 else given


def plain_value(value: Any) -> Any:
    """A value as JSON can hold it."""
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, np.generic):
        return value.item()
    return value if isinstance(value, bool | int | float | str) else str(value)
