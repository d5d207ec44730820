"""Cells as people read and type them: values in words, descriptions, `age=41, city=A`."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from cpclean.cli.mistakes import Mistake

if TYPE_CHECKING:
    from cpclean.data.columns import Column
    from cpclean.data.table import IncompleteTable

LONGEST = 40
MOST_CATEGORIES = 12


def shown(value: Any) -> str:
    """A value in a few characters."""
    from cpclean.data.values import in_words

    if value is None:
        return "?"
    text = " ".join(in_words(value).split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def described(column: Column) -> str:
    """What a column holds, in one line: its range, or its categories."""
    from cpclean.data.values import NEEDS

    if column.kind == "categorical":
        common = column.frequencies.most_common()
        listed = ", ".join(f"{shown(value)} ({n})" for value, n in common[:MOST_CATEGORIES])
        more = len(common) - MOST_CATEGORIES
        return f"{column.name} is {listed}{f' and {more} others' if more > 0 else ''}."
    if column.kind == "boolean":
        return f"{column.name} is true or false."
    if not column.n_observed:
        return f"{column.name} has no value in any row; it takes {NEEDS[column.kind]}."
    ends = (column.least, *column.quartiles, column.most)
    low, first, third, high = (shown(column.shown(one)) for one in ends)
    return (
        f"{column.name} ranges from {low} to {high}; half of its values are between {first} and "
        f"{third}. It takes {NEEDS[column.kind]}."
    )


def column_named(table: IncompleteTable, name: str) -> Column:
    """The column of the table with this name, or with a similar one."""
    names = list(table.names)
    alike = [one for one in names if one.lower() == name.lower()]
    if name in names:
        return table.columns[names.index(name)]
    if len(alike) == 1:
        return table.columns[names.index(alike[0])]
    near = difflib.get_close_matches(name, names, n=1)
    meant = f" Did you mean {near[0]}?" if near else f" Its columns are {_some(names)}."
    raise Mistake(f"the table has no column {name!r}.{meant}")


def typed_values(
    text: str, table: IncompleteTable, holes: Sequence[str], decimal: str
) -> dict[str, Any]:
    """The values of a row's holes out of `age=41, city=New York`.

    Pairs are separated by commas or spaces. A value may contain both, because only the text before
    a "=" is a name; a value that contains a "=" must be in quotes.
    """
    from cpclean.intake.typed_values import cell_typed, check_missing

    found: dict[str, Any] = {}
    for name, value in _pairs(text, [*table.names]):
        column = column_named(table, name)
        check_missing(column.name, holes, "this row")
        if column.name in found:
            raise Mistake(f"{column.name} is there twice; name it once.")
        found[column.name] = cell_typed(column, _unquoted(column, value), decimal)
    return found


def unusual(column: Column, value: Any) -> str | None:
    """A remark on a value that the column has not had so far; None if there is none."""
    if column.kind == "categorical":
        known = {str(one) for one in column.frequencies}
        if str(value) in known:
            return None
        near = difflib.get_close_matches(str(value), sorted(known), n=1)
        like = f"; {near[0]!r} is one" if near else ""
        return f"{shown(value)!r} is a new value of {column.name}{like}."
    if column.kind == "boolean" or not column.n_observed:
        return None
    stored, low, high = column.stored(value), column.least, column.most
    if low <= stored <= high:
        return None
    ends = f"{shown(column.shown(low))} to {shown(column.shown(high))}"
    return f"{shown(column.shown(stored))} is outside the values of {column.name} so far, {ends}."


def _pairs(text: str, names: list[str]) -> list[tuple[str, str]]:
    """Names and values; a name of several words counts if the table has it."""
    known = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    begins = re.compile(rf"(?:^|[,;\s])\s*({known}|[^\s=,;\"']+)\s*=(?!=)", re.IGNORECASE)
    quoted = [match.span() for match in re.finditer(r"(\"[^\"]*\"|'[^']*')", text)]
    starts = [
        match
        for match in begins.finditer(text)
        if not any(first < match.end(1) <= last for first, last in quoted)
    ]
    if not starts or text[: starts[0].start()].strip(",; "):
        raise Mistake(f"{text!r} is neither a number of the list nor column=value; ? shows help.")
    ends = [*(match.start() for match in starts[1:]), len(text)]
    return [
        (match[1], text[match.end() : end].strip(" \t,;"))
        for match, end in zip(starts, ends, strict=True)
    ]


def _unquoted(column: Column, text: str) -> str:
    """What stands after a "=", without quotes around it."""
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'":
        text = text[1:-1]
    if not text:
        raise Mistake(f"there is no value after {column.name}=; leave it out if it is not known.")
    return text


def _some(names: Sequence[str]) -> str:
    from cpclean.errors import offenders

    return offenders(names, limit=8)
