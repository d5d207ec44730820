"""Columns as cpclean sees them: a name, a kind, values and holes.

Kinds: "numeric", "date" and "duration" (seconds) are numbers, "boolean" is 0 or 1, "categorical"
is anything that can be told apart. A hole is NaN in a column of numbers and None in a categorical
one. Numbers are doubles: whole numbers beyond 2**53 may be rounded, which `Column.rounded` tells.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.data.coding import Coded, coded, objects
from cpclean.data.decisions import Decision
from cpclean.data.exact_mean import ExactSum, exact_deviation, exact_mean
from cpclean.data.moments import number_of
from cpclean.data.nulls import is_null
from cpclean.data.ranks import quartiles
from cpclean.data.rows import Bools, Floats
from cpclean.errors import TableError, offenders

KINDS = ("numeric", "categorical", "boolean", "date", "duration")

_OF_TEXTS = ("n_distinct", "frequencies")
_OF_NUMBERS = ("n_distinct", "least", "most", "mean", "quartiles")

# A categorical column is called identifier-like when nearly every value is its own.
_IDENTIFIER_SHARE = 0.9
_MANY_CATEGORIES = 50

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
    """A candidate of a categorical cell that is not a value of the table."""

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
    """One column; `values`, read-only, are float64, or objects where the kind is "categorical"."""

    name: str
    kind: str
    values: npt.NDArray[Any]
    whole: bool = False  # numbers that were given as integers
    given: str = ""  # the kind the frame itself suggests, where another one was asked for
    rounded: bool = False  # whole numbers too large for a double are among them
    zone: tzinfo | None = None  # of dates that all come with the same one

    def __post_init__(self) -> None:
        self.values.flags.writeable = False  # what is worked out of them is kept

    @classmethod
    def of_categories(cls, name: str, categories: Coded) -> Column:
        """A categorical column from the category of each row, -1 for a hole."""
        column = cls(name, "categorical", objects([*categories.distinct, None])[categories.codes])
        object.__setattr__(column, "categories", categories)  # as `categories` would find them
        return column

    @classmethod
    def standing_for(cls, like: Column, found: Mapping[str, Any]) -> Column:
        """A column without rows that says of itself what is found in a larger one.

        Parameters
        ----------
        like : Column
            Its name, kind and marks are taken over.
        found : dict
            What `n_observed`, `least` and the others below return.
        """
        return replace(like, values=like.values[:0]).saying(found)

    @property
    def facts(self) -> dict[str, Any]:
        """What all rows of the column say that some of them cannot."""
        if not self.n_observed:
            return {}
        categorical = self.kind == "categorical"
        return {name: getattr(self, name) for name in (_OF_TEXTS if categorical else _OF_NUMBERS)}

    def saying(self, facts: Mapping[str, Any]) -> Column:
        """The same rows, which say of themselves what is found in a larger column."""
        column = replace(self)
        for name, value in facts.items():
            object.__setattr__(column, name, value)
        return column

    @cached_property
    def missing(self) -> Bools:
        if self.kind == "categorical":
            return self.categories.codes < 0
        return np.asarray(np.isnan(self.values))

    @property
    def observed(self) -> npt.NDArray[Any]:
        """The values that are there, in row order; not kept, for they would double the column."""
        return self.values[~self.missing] if self.n_observed < len(self.values) else self.values

    @cached_property
    def n_observed(self) -> int:
        return int(np.count_nonzero(~self.missing))

    @cached_property
    def categories(self) -> Coded:
        """The observed categories in order of appearance, and each row's; -1 for a hole."""
        found = coded(self.values.tolist())
        return found.without(np.array([one is None for one in found.distinct], dtype=bool))

    @cached_property
    def varies(self) -> bool:
        """Whether at least two different values are observed."""
        if self.kind == "categorical":
            return len(self.categories.distinct) > 1
        seen = self.observed
        return bool((seen != seen[:1]).any())

    # -- what is learnt of a column ----------------------------------------------------------

    @cached_property
    def size(self) -> int:
        """The number of rows."""
        return len(self.values)

    @cached_property
    def some(self) -> list[Any]:
        """The first value that is observed, if any."""
        return list(self.observed[:1].tolist())

    @cached_property
    def least(self) -> float:
        """The smallest number that is observed; never -0.0, which numpy finds by chance."""
        return float(np.min(self.observed)) + 0.0

    @cached_property
    def most(self) -> float:
        """The largest number that is observed."""
        return float(np.max(self.observed))

    @cached_property
    def quartiles(self) -> tuple[float, float]:
        """The lower and the upper quartile of the observed numbers."""
        return quartiles(self.observed)

    @cached_property
    def mean(self) -> float:
        """The mean of the observed numbers, rounded once."""
        return exact_mean(self.observed)

    @cached_property
    def deviation(self) -> float:
        """The standard deviation of the observed numbers."""
        squares = ExactSum()
        squares.add((self.observed - self.mean) ** 2)
        return exact_deviation(squares)

    @cached_property
    def has_whole_numbers(self) -> bool:
        """Whether all numbers that are observed are whole."""
        return self.whole or bool((self.observed == np.floor(self.observed)).all())

    @cached_property
    def has_days(self) -> bool:
        """Whether all dates that are observed are days, without a time and a zone."""
        return self.zone is None and bool((self.observed % 86_400.0 == 0).all())

    @cached_property
    def is_numbered(self) -> bool:
        """Whether these are whole numbers without gaps, repetitions or holes."""
        if not self.whole or self.missing.any():
            return False
        return self.most - self.least == self.size - 1 and self.n_distinct == self.size

    @cached_property
    def ordered(self) -> Floats:
        """The observed numbers in ascending order."""
        return np.sort(self.observed)

    @cached_property
    def distinct(self) -> Floats:
        """The observed numbers in ascending order, each once."""
        return np.unique(self.ordered)

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
        seen = self.observed
        _, first, times = np.unique(seen, return_index=True, return_counts=True)
        order = np.argsort(first)
        values = seen[first[order]].tolist()
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
            return number_of(value, self.kind)
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
        if self.rounded:
            return Decision("rounded")
        if self.kind != "categorical":
            if self.size > _MANY_CATEGORIES and self.is_numbered:
                return Decision("row_number")
            return Decision()
        distinct = self.n_distinct
        if distinct >= _IDENTIFIER_SHARE * self.n_observed and distinct > _MANY_CATEGORIES:
            return Decision("identifier", distinct)
        if distinct > _MANY_CATEGORIES:
            return Decision("many_categories", distinct)
        return Decision()


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
