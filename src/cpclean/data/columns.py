"""Columns as cpclean sees them: a name, a kind, values and holes.

Kinds: "numeric" and "date" (seconds) are numbers, "boolean" is 0 or 1, "categorical" is anything
that can be told apart. A hole is NaN in a column of numbers and None in a categorical one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.errors import TableError, offenders

KINDS = ("numeric", "categorical", "boolean", "date")

# Tokens that people write for "nothing", for the null_tokens option.
COMMON_NULLS = ("?", "NA", "N/A", "null", "")

# A categorical column is called identifier-like when nearly every value is its own.
_IDENTIFIER_SHARE = 0.9
_MANY_CATEGORIES = 50

# What numbers of a kind have to be, in words and as limits.
_NEEDED = {
    "numeric": "numbers",
    "boolean": "true or false, 1 or 0",
    "date": "dates, their ISO text, or seconds since 1970",
}
_RANGES = {
    "boolean": (0.0, 1.0),
    "date": (
        datetime.min.replace(tzinfo=UTC).timestamp(),
        datetime.max.replace(tzinfo=UTC, microsecond=0).timestamp(),
    ),
}


@dataclass(frozen=True, eq=False)
class _Mark:
    """A candidate of a categorical cell that is no value of the table."""

    name: str

    def __repr__(self) -> str:
        return self.name.lower()

    def __reduce__(self) -> str:  # one and the same object after unpickling
        return self.name


# The category of every value that is not listed: a category of its own.
OTHER = _Mark("OTHER")
# No category at all: encoded as all zero, like one that was never seen.
ABSENT = _Mark("ABSENT")


@dataclass(frozen=True)
class Column:
    """One column; `values` are float64, or objects where the kind is "categorical"."""

    name: str
    kind: str
    values: npt.NDArray[Any]
    whole: bool = False  # numbers that were given as integers
    given: str = ""  # the kind the frame itself suggests, where another one was asked for

    @cached_property
    def missing(self) -> npt.NDArray[np.bool_]:
        if self.kind == "categorical":
            return np.array([value is None for value in self.values], dtype=bool)
        return np.asarray(np.isnan(self.values))

    @cached_property
    def observed(self) -> npt.NDArray[Any]:
        return self.values[~self.missing]

    @cached_property
    def frequencies(self) -> Counter[Hashable]:
        """How often each value is observed."""
        return Counter(self.observed.tolist())

    def shown(self, value: Any) -> Any:
        """A stored value as a person knows it; None for a hole."""
        if self.kind == "categorical":
            return value
        if math.isnan(value):
            return None
        if self.kind == "boolean" and value in (0.0, 1.0):  # an imputer may lie between them
            return bool(value)
        if self.kind == "date":
            return datetime.fromtimestamp(value, UTC).replace(tzinfo=None)
        return int(value) if self.whole and float(value).is_integer() else float(value)

    def stored(self, value: Any) -> Any:
        """The opposite of `shown`: a person's value as the column stores it."""
        hole = None if self.kind == "categorical" else math.nan
        if is_null(value):
            return hole
        if self.kind == "categorical":
            return value
        try:
            return _number(value, self.kind)
        except (TypeError, ValueError) as problem:
            raise TableError(
                f"column {self.name!r} is {self.kind}: its values must be {_NEEDED[self.kind]}; "
                f'got {value!r}. If the kind is wrong: kinds={{{self.name!r}: "categorical"}}.'
            ) from problem

    @property
    def treatment(self) -> str:
        """What is done with a column that has a place in the space, in words."""
        distinct = len(self.frequencies)
        if self.kind != "categorical":
            numbered = self.whole and distinct == len(self.values) > _MANY_CATEGORIES
            if numbered and np.ptp(self.values) == distinct - 1:
                return "kept, but looks like a row number: whole numbers without gaps"
            return "kept"
        if distinct >= _IDENTIFIER_SHARE * len(self.observed) and distinct > _MANY_CATEGORIES:
            return f"kept, but looks like an identifier: {distinct} values, nearly all distinct"
        if distinct > _MANY_CATEGORIES:
            return f"kept, but has many categories: {distinct}"
        return "kept"


def column_from_objects(
    name: str, items: Iterable[Any], kind: str | None = None, null_tokens: Iterable[str] = ()
) -> Column:
    """A column out of plain Python values, its kind detected unless given."""
    tokens = set(stripped(null_tokens))
    given = list(items)
    values = [None if is_null(item) or _is_token(item, tokens) else item for item in given]
    present = [value for value in values if value is not None]
    if kind is None:
        dropped_token = any(_is_token(item, tokens) for item in given if not is_null(item))
        kind = _kind_of(present, numbers_may_be_text=dropped_token)
    if kind == "categorical":
        _check_hashable(name, present)
        array = np.empty(len(values), dtype=object)
        for row, value in enumerate(values):  # one by one: NumPy would unpack tuples
            array[row] = value
        return Column(name, kind, array)
    try:
        numbers = np.array(
            [math.nan if value is None else _number(value, kind) for value in values]
        )
    except (TypeError, ValueError) as problem:
        raise TableError(
            f"column {name!r} cannot be read as {kind}: {problem}. "
            f'Name another kind for it, for instance kinds={{{name!r}: "categorical"}}.'
        ) from problem
    text = any(isinstance(value, str) for value in present)
    whole = kind == "numeric" and all(isinstance(value, int | np.integer) for value in present)
    return checked(
        Column(name, kind, numbers.astype(np.float64), whole, "categorical" if text else "")
    )


def stripped(null_tokens: Iterable[str]) -> tuple[str, ...]:
    """Null tokens without the blanks around them; a single text is a single token."""
    listed = (null_tokens,) if isinstance(null_tokens, str) else null_tokens
    return tuple(token.strip() for token in listed)


def _check_hashable(name: str, present: list[Any]) -> None:
    for value in present:
        try:
            hash(value)
        except TypeError as problem:
            raise TableError(
                f"column {name!r} holds values of type {type(value).__name__}, which cannot be "
                "told apart as categories. Take it apart into plain columns, or drop it."
            ) from problem


def checked(column: Column) -> Column:
    """Refuse numbers that cannot be measured with, or are not of the column's kind."""
    if column.kind == "categorical":
        return column
    if np.isinf(column.values).any():
        rows = offenders(np.flatnonzero(np.isinf(column.values)).tolist())
        raise TableError(
            f"column {column.name!r} has infinite values in row {rows}. "
            "Make them holes (NaN) or put finite numbers in their place."
        )
    least, most = _RANGES.get(column.kind, (-math.inf, math.inf))
    odd = column.values[(column.values < least) | (column.values > most)]
    if len(odd):
        raise TableError(
            f"column {column.name!r} cannot be read as {column.kind}: its values must be "
            f"{_NEEDED[column.kind]}; got {offenders(odd.tolist())}."
        )
    return column


def as_kind(column: Column, kind: str) -> Column:
    """The same column read as another kind."""
    if kind not in KINDS:
        raise TableError(
            f"kind of column {column.name!r} must be one of {', '.join(KINDS)}; got {kind!r}."
        )
    if kind == column.kind:
        return column
    given = column.given or column.kind
    if kind == "categorical" or column.kind == "categorical":
        shown = [column.shown(value) for value in column.values]
        return replace(column_from_objects(column.name, shown, kind), given=given)
    return checked(replace(column, kind=kind, given=given))


def is_null(value: Any) -> bool:
    """Whether a value stands for nothing: None, NaN, NaT, pandas.NA."""
    if value is None:
        return True
    if isinstance(value, str):
        return False
    try:
        return bool(value != value)
    except TypeError:  # pandas.NA refuses to be compared
        return True
    except ValueError:  # an array, which is not nothing
        return False


def seconds(value: Any) -> float:
    """A date or time as seconds since 1970."""
    if isinstance(value, np.datetime64):
        return float(value.astype("datetime64[us]").astype(np.int64)) / 1e6
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC).timestamp()
    return float(value)


def _is_token(item: Any, tokens: set[str]) -> bool:
    return isinstance(item, str) and item.strip() in tokens


def _kind_of(present: list[Any], numbers_may_be_text: bool) -> str:
    if present and all(isinstance(value, bool | np.bool_) for value in present):
        return "boolean"
    if all(isinstance(value, int | float | np.number | Decimal) for value in present):
        return "numeric"
    if all(isinstance(value, date | np.datetime64) for value in present):
        return "date"
    # Text that is only a column of numbers because a token like "?" stood among them.
    if numbers_may_be_text and all(_is_number_text(value) for value in present):
        return "numeric"
    return "categorical"


def _is_number_text(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _number(value: Any, kind: str) -> float:
    if kind == "date":
        return seconds(value)
    if kind == "boolean" and isinstance(value, str):
        truth = {"true": 1.0, "false": 0.0}.get(value.strip().lower())
        return float(value) if truth is None else truth
    return float(value)
