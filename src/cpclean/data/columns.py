"""Columns as cpclean sees them: a name, a kind, values and holes.

Kinds: "numeric", "date" and "duration" (seconds) are numbers, "boolean" is 0 or 1, "categorical"
is anything that can be told apart. A hole is NaN in a column of numbers and None in a categorical
one. Numbers are doubles: whole numbers beyond 2**53 may be rounded, which `Column.rounded` tells.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta, tzinfo
from decimal import Decimal
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.data.decisions import Decision
from cpclean.errors import TableError, offenders

KINDS = ("numeric", "categorical", "boolean", "date", "duration")

# Tokens that people write for "nothing", for the null_tokens option.
COMMON_NULLS = ("?", "NA", "N/A", "null", "")

# A categorical column is called identifier-like when nearly every value is its own.
_IDENTIFIER_SHARE = 0.9
_MANY_CATEGORIES = 50

# A number as files write it: neither "nan" nor "inf" nor Python's "1_000".
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
# Durations as Python and pandas write them: "1 day, 2:00:00", "-1 days +23:00:00", "0:00:01.5".
_DURATION = re.compile(
    r"(?:(?P<days>[+-]?[0-9]+) days?)?,?\s*(?:\+?(?P<hours>[0-9]+):(?P<minutes>[0-9]+):"
    r"(?P<seconds>[0-9]+(?:\.[0-9]+)?))?"
)

# What numbers of a kind have to be, in words and as limits.
_NEEDED = {
    "numeric": "numbers",
    "boolean": "true or false, 1 or 0",
    "date": "dates, their ISO text, or seconds since 1970",
    "duration": 'durations, text as in "1 days 02:00:00", or seconds',
}
_RANGES = {
    "boolean": (0.0, 1.0),
    "date": (
        datetime.min.replace(tzinfo=UTC).timestamp(),
        datetime.max.replace(tzinfo=UTC, microsecond=0).timestamp(),
    ),
    "duration": (timedelta.min.total_seconds(), timedelta(timedelta.max.days).total_seconds()),
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
    rounded: bool = False  # whole numbers too large for a double are among them
    zone: tzinfo | None = None  # of dates that all come with the same one

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
            shown = datetime.fromtimestamp(value, self.zone or UTC)
            return shown if self.zone else shown.replace(tzinfo=None)
        if self.kind == "duration":
            return timedelta(seconds=value)
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
        except (TypeError, ValueError, OverflowError) as problem:
            raise TableError(
                f"column {self.name!r} is {self.kind}: its values must be {_NEEDED[self.kind]}; "
                f"got {value!r}.",
                f'If the kind is wrong: kinds={{{self.name!r}: "categorical"}}.',
                field="kinds",
                column=self.name,
            ) from problem

    @property
    def decision(self) -> Decision:
        """What is decided about the column if it has a place in the space."""
        distinct = len(self.frequencies)
        if self.rounded:
            return Decision("rounded")
        if self.kind != "categorical":
            numbered = self.whole and distinct == len(self.values) > _MANY_CATEGORIES
            if numbered and np.ptp(self.values) == distinct - 1:
                return Decision("row_number")
            return Decision()
        if distinct >= _IDENTIFIER_SHARE * len(self.observed) and distinct > _MANY_CATEGORIES:
            return Decision("identifier", distinct)
        if distinct > _MANY_CATEGORIES:
            return Decision("many_categories", distinct)
        return Decision()


def column_from_objects(
    name: str, items: Iterable[Any], kind: str | None = None, null_tokens: Iterable[str] = ()
) -> Column:
    """A column out of plain Python values, its kind detected unless given."""
    tokens = stripped(null_tokens)
    values, dropped_token = _without_nulls(list(items), tokens)
    present = [value for value in values if value is not None]
    if kind is None:
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
    except (TypeError, ValueError, OverflowError) as problem:
        raise TableError(
            f"column {name!r} cannot be read as {kind}: {problem}.",
            f'Name another kind for it, for instance kinds={{{name!r}: "categorical"}}.',
            field="kinds",
            column=name,
        ) from problem
    text = any(isinstance(value, str) for value in present)
    whole = kind == "numeric" and all(isinstance(value, int | np.integer) for value in present)
    numbers, rounded = numbers.astype(np.float64), kind == "numeric" and rounds(present)
    column = Column(name, kind, numbers, whole, "categorical" if text else "", rounded)
    zones = {getattr(value, "tzinfo", None) for value in present} if kind == "date" else set()
    return checked(replace(column, zone=zones.pop()) if len(zones) == 1 else column)


def _without_nulls(given: list[Any], tokens: tuple[str, ...]) -> tuple[list[Any], bool]:
    """None for every null and null token, and whether there are tokens; texts are judged once."""
    texts = {text: is_token(text, tokens) for text in {one for one in given if type(one) is str}}
    values, dropped = [], False
    for item in given:
        token = texts[item] if type(item) is str else not is_null(item) and is_token(item, tokens)
        values.append(None if token or (type(item) is not str and is_null(item)) else item)
        dropped = dropped or token
    return values, dropped


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


def stripped(null_tokens: Any) -> tuple[str, ...]:
    """Null tokens without the blanks around them; a single text or number is a single token."""
    single = isinstance(null_tokens, str) or not hasattr(null_tokens, "__iter__")
    listed = [null_tokens] if single else list(null_tokens)
    numbers = int | float | np.number
    if odd := [one for one in listed if not isinstance(one, str | numbers) or is_null(one)]:
        raise TableError(
            f"null_tokens must be text or numbers, such as '?' or -999; got {odd[0]!r}."
        )
    return tuple(one.strip() if isinstance(one, str) else f"{one:.17g}" for one in listed)


@lru_cache(maxsize=64)
def token_numbers(tokens: tuple[str, ...]) -> frozenset[float]:
    """The numbers among null tokens: "-999" stands for -999 and -999.0 as well."""
    return frozenset(float(token) for token in tokens if NUMBER.fullmatch(token))


def is_token(item: Any, tokens: tuple[str, ...]) -> bool:
    """Whether a value is one of the null tokens: text after stripping, numbers as numbers."""
    if isinstance(item, str):
        return item.strip() in tokens
    if not tokens or isinstance(item, bool | np.timedelta64):
        return False
    return isinstance(item, int | float | np.number | Decimal) and item in token_numbers(tokens)


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


def checked(column: Column) -> Column:
    """Refuse numbers that cannot be measured with, or are not of the column's kind."""
    if column.kind == "categorical":
        return column
    if np.isinf(column.values).any():
        rows = np.flatnonzero(np.isinf(column.values)).tolist()
        raise TableError(
            f"column {column.name!r} has infinite values in row {offenders(rows)}. "
            "Make them holes (NaN) or put finite numbers in their place.",
            column=column.name,
            rows=rows,
        )
    least, most = _RANGES.get(column.kind, (-math.inf, math.inf))
    odd = column.values[(column.values < least) | (column.values > most)]
    if len(odd):
        raise TableError(
            f"column {column.name!r} cannot be read as {column.kind}: its values must be "
            f"{_NEEDED[column.kind]}; got {offenders(odd.tolist())}.",
            field="kinds",
            column=column.name,
        )
    return column


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


def duration_seconds(value: Any) -> float:
    """A duration as seconds."""
    if isinstance(value, np.timedelta64):
        return float(value.astype("timedelta64[us]").astype(np.int64)) / 1e6
    if isinstance(value, timedelta):
        return value.total_seconds()
    if not isinstance(value, str) or NUMBER.fullmatch(value.strip()):
        return float(value)
    found = _DURATION.fullmatch(value.strip())
    if not found or not any(found.groups()):
        raise ValueError(f"{value!r} is no duration")
    parts = {unit: float(text) for unit, text in found.groupdict().items() if text}
    return timedelta(**parts).total_seconds()


def _kind_of(present: list[Any], numbers_may_be_text: bool) -> str:
    if present and all(isinstance(value, bool | np.bool_) for value in present):
        return "boolean"
    # Before the numbers, for NumPy takes its durations for some.
    if present and all(isinstance(value, timedelta | np.timedelta64) for value in present):
        return "duration"
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
    if kind == "duration":
        return duration_seconds(value)
    if kind == "boolean" and isinstance(value, str):
        truth = {"true": 1.0, "false": 0.0}.get(value.strip().lower())
        return float(value) if truth is None else truth
    return float(value)
