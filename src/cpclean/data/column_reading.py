"""From values of any kind to a column: nulls, kinds and numbers, judged per distinct value."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from functools import partial
from itertools import repeat
from typing import Any

import numpy as np

from cpclean.data.coding import Coded, exactly_coded, objects
from cpclean.data.columns import KINDS, Column, checked
from cpclean.data.moments import number_of
from cpclean.data.nulls import is_null, is_token, stripped, token_numbers
from cpclean.data.rows import Bools, Floats
from cpclean.errors import TableError


def column_from_objects(
    name: str, items: Iterable[Any], kind: str | None = None, null_tokens: Iterable[str] = ()
) -> Column:
    """A column out of plain Python values, its kind detected unless given."""
    given = list(items)
    return _column(name, exactly_coded(given), given, kind, stripped(null_tokens))


def column_from_texts(name: str, texts: Coded, null_tokens: Iterable[str] = ()) -> Column:
    """A column out of distinct texts and the number of the one that each row has; -1 for null."""
    codes = np.where(texts.codes < 0, len(texts.distinct), texts.codes)
    return _column(name, Coded(codes, [*texts.distinct, None]), None, None, stripped(null_tokens))


def _column(
    name: str,
    items: Coded,
    given: list[Any] | None,  # None: no more than the distinct ones
    kind: str | None,
    tokens: tuple[str, ...],
) -> Column:
    codes, distinct = items
    nothing = list(map(is_null, distinct))
    token = [
        not gone and is_token(one, tokens) for one, gone in zip(distinct, nothing, strict=True)
    ]
    null = np.array(nothing, dtype=bool) | np.array(token, dtype=bool)
    present = [one for one, absent in zip(distinct, null.tolist(), strict=True) if not absent]
    types = set(map(type, present))
    if kind is None:
        kind = _kind_of(types, present, numbers_may_be_text=any(token))
    if kind == "categorical":
        _check_hashable(name, present)
        if types == {str}:  # often new objects in every row: one of each is enough
            return Column.of_categories(name, items.without(null))
        values = objects(given if given is not None else [])
        values[null[codes]] = None
        return Column(name, kind, values)
    if given is None:
        given = objects(distinct)[codes].tolist()
    try:
        numbers = _numbers(given, items, null, kind)
    except (TypeError, ValueError, OverflowError) as problem:
        raise TableError(
            f"column {name!r} cannot be read as {kind}: {problem}.",
            f'Name another kind for it, for instance kinds={{{name!r}: "categorical"}}.',
            field="kinds",
            column=name,
        ) from problem
    text = any(issubclass(one, str) for one in types)
    whole = kind == "numeric" and all(issubclass(one, int | np.integer) for one in types)
    rounded = kind == "numeric" and rounds(present)
    column = Column(name, kind, numbers, whole, "categorical" if text else "", rounded)
    if kind == "date":  # equal moments may come with different zones
        shown = objects(given)[~null[codes]]
        zones = set(map(getattr, shown, repeat("tzinfo"), repeat(None)))
        column = replace(column, zone=zones.pop()) if len(zones) == 1 else column
    return checked(column)


def _numbers(given: list[Any], coded: Coded, null: Bools, kind: str) -> Floats:
    """Every item as a number; NaN for those whose distinct value is null."""
    floats = {float, np.float64, np.float32, np.float16}  # 0.0 and -0.0 are equal, but not the same
    if kind == "numeric" or floats & set(map(type, coded.distinct)):
        present = objects(given)
        present[null[coded.codes]] = math.nan
        read = float if kind == "numeric" else partial(number_of, kind=kind)
        return np.fromiter(map(read, present), dtype=np.float64, count=len(given))
    pairs = zip(coded.distinct, null.tolist(), strict=True)
    numbers = [math.nan if absent else number_of(one, kind) for one, absent in pairs]
    return np.array(numbers, dtype=np.float64)[coded.codes]


def rounds(values: Iterable[Any]) -> bool:
    """Whether there are whole numbers among these values that a double cannot hold."""
    for value in values:
        if isinstance(value, Decimal):
            whole = value.is_finite() and abs(value) >= 2**53 and value == int(value)
        elif isinstance(value, str):
            whole = bool(re.fullmatch(r"\s*[+-]?[0-9]{16,}\s*", value))
        else:
            whole = isinstance(value, int | np.integer)
        if whole and int(float(value)) != int(value):
            return True
    return False


def as_kind(column: Column, kind: str) -> Column:
    """The same column read as another kind."""
    if kind not in KINDS:
        raise TableError(
            f"kind of column {column.name!r} must be one of {', '.join(KINDS)}; got {kind!r}.",
            field="kinds",
            column=column.name,
        )
    if kind == column.kind:
        return column
    given = column.given or column.kind
    if kind == "categorical" or column.kind == "categorical":
        shown = column.all_shown(column.values)
        return replace(column_from_objects(column.name, shown, kind), given=given)
    return checked(replace(column, kind=kind, given=given))


def without_tokens(column: Column, tokens: tuple[str, ...]) -> Column:
    """The same column with holes where its numbers are null tokens."""
    numbers = token_numbers(tokens)
    if column.kind != "numeric" or not numbers:
        return column
    gone = np.isin(column.values, list(numbers))
    if not gone.any():
        return column
    return replace(column, values=np.where(gone, np.nan, column.values))


def _check_hashable(name: str, present: list[Any]) -> None:
    for value in present:
        if type(value) is str:
            continue
        try:
            hash(value)
        except TypeError as problem:
            raise TableError(
                f"column {name!r} holds values of type {type(value).__name__}, which cannot be "
                "told apart as categories. Take it apart into plain columns, or drop it.",
                column=name,
            ) from problem


def _kind_of(types: set[type], present: list[Any], numbers_may_be_text: bool) -> str:
    def all_are(*kinds: type) -> bool:
        return all(issubclass(one, kinds) for one in types)

    if types and all_are(bool, np.bool_):
        return "boolean"
    # Before the numbers, for NumPy takes its durations for some.
    if types and all_are(timedelta, np.timedelta64):
        return "duration"
    if all_are(int, float, np.number, Decimal):
        return "numeric"
    if all_are(date, np.datetime64):
        return "date"
    # Text that is only a column of numbers because a token like "?" stood among them.
    if numbers_may_be_text and all(map(_is_number_text, present)):
        return "numeric"
    return "categorical"


def _is_number_text(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True
