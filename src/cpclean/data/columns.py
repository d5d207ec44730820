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
from functools import cached_property, lru_cache, partial
from itertools import repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.data.coding import Coded, are_none, coded, exactly_coded, objects
from cpclean.data.decisions import Decision
from cpclean.data.rows import Bools, Floats
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
    def missing(self) -> Bools:
        if self.kind == "categorical":
            return are_none(self.values)
        return np.asarray(np.isnan(self.values))

    @cached_property
    def observed(self) -> npt.NDArray[Any]:
        return self.values[~self.missing] if self.missing.any() else self.values

    @cached_property
    def categories(self) -> Coded:
        """The observed categories in order of appearance, and each row's; -1 for a hole."""
        codes, distinct = coded(self.observed.tolist())
        if len(codes) == len(self.values):
            return Coded(codes, distinct)
        everywhere = np.full(len(self.values), -1, dtype=np.int64)
        everywhere[~self.missing] = codes
        return Coded(everywhere, distinct)

    @cached_property
    def ordered(self) -> Floats:
        """The observed numbers in ascending order."""
        return np.sort(self.observed)

    @cached_property
    def n_distinct(self) -> int:
        """How many different values are observed."""
        if self.kind == "categorical":
            return len(self.categories.distinct)
        return len(self.ordered) and 1 + int((self.ordered[1:] != self.ordered[:-1]).sum())

    @cached_property
    def frequencies(self) -> Counter[Hashable]:
        """How often each value is observed, in order of appearance."""
        if self.kind == "categorical":
            codes, distinct = self.categories
            times = np.bincount(codes[codes >= 0], minlength=len(distinct))
            return Counter(dict(zip(distinct, times.tolist(), strict=True)))
        _, first, times = np.unique(self.observed, return_index=True, return_counts=True)
        order = np.argsort(first)
        values = self.observed[first[order]].tolist()
        return Counter(dict(zip(values, times[order].tolist(), strict=True)))

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

    def all_shown(self, values: npt.NDArray[Any]) -> list[Any]:
        """Many stored values as a person knows them, as `shown` does it one by one."""
        if self.kind == "categorical":
            return list(values.tolist())
        if self.kind == "numeric":
            shown = objects(values.tolist())
            if self.whole:
                whole = values == np.floor(values)
                shown[whole] = objects(list(map(int, shown[whole].tolist())))
            shown[np.isnan(values)] = None
            return list(shown.tolist())
        distinct, places = np.unique(values, return_inverse=True)
        return list(objects(list(map(self.shown, distinct.tolist())))[places].tolist())

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
        distinct = self.n_distinct
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
    given = list(items)
    codes, distinct = exactly_coded(given)
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
        # The texts of a frame are often new objects in every row: one of each is enough.
        values = objects(distinct)[codes] if types == {str} else objects(given)
        values[null[codes]] = None
        return Column(name, kind, values)
    try:
        numbers = _numbers(given, Coded(codes, distinct), null, kind)
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
        read = float if kind == "numeric" else partial(_number, kind=kind)
        return np.fromiter(map(read, present), dtype=np.float64, count=len(given))
    pairs = zip(coded.distinct, null.tolist(), strict=True)
    numbers = [math.nan if absent else _number(one, kind) for one, absent in pairs]
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
        shown = column.all_shown(column.values)
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


def _number(value: Any, kind: str) -> float:
    if kind == "date":
        return seconds(value)
    if kind == "duration":
        return duration_seconds(value)
    if kind == "boolean" and isinstance(value, str):
        truth = {"true": 1.0, "false": 0.0}.get(value.strip().lower())
        return float(value) if truth is None else truth
    return float(value)
