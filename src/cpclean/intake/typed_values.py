"""Values that a person types for missing cells, read alike in the terminal and on the page."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from cpclean.data.columns import Column
from cpclean.data.values import NEEDS, typed_value
from cpclean.errors import AnswerError, offenders

LONGEST_TYPED = 10_000  # characters of a value

_WITH_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+")


def cell_typed(column: Column, given: Any, decimal: str = ".") -> Any:
    """What was typed for a cell, as its column shows values; an error if the column has none such.

    Parameters
    ----------
    column : Column
    given : str, or a value as JSON has it
    decimal : str
        The decimal sign of the file; a point is understood in any case.

    Examples
    --------
    >>> import pandas as pd
    >>> from cpclean import IncompleteTable
    >>> frame = pd.DataFrame({"size": [0.5, 2.0], "buys": ["no", "yes"]})
    >>> (size,) = IncompleteTable(frame, label="buys").columns
    >>> cell_typed(size, "41,5", decimal=",")
    41.5
    """
    if not isinstance(given, str | int | float):
        raise _unusable(column, given)
    if isinstance(given, str):
        if any("\ud800" <= letter <= "\udfff" for letter in given):
            raise AnswerError(
                f"the value of column {column.name!r} is not valid UTF-8.", column=column.name
            )
        if "\0" in given or len(given) > LONGEST_TYPED:
            raise _unusable(column, f"{given[:20]}...")
        given = with_point(column, given, decimal)
    if isinstance(given, bool) and column.kind not in ("boolean", "categorical"):
        raise _unusable(column, given)
    value = typed_value(column, given)
    if value is None:
        raise _unusable(column, given)
    return value


def with_point(column: Column, text: str, decimal: str) -> str:
    """A number as Python writes it, if the file has decimal commas; other texts as they are."""
    comma = decimal == "," and column.kind == "numeric" and _WITH_COMMA.fullmatch(text.strip())
    return text.replace(",", ".") if comma else text


def check_missing(name: str, holes: Collection[str], row: str) -> None:
    """Refuse a value for a cell that is not missing.

    Parameters
    ----------
    name : str
        The column.
    holes : names of the columns that are missing in the row
    row : str
        The row, as people call it.
    """
    if name not in holes:
        raise AnswerError(
            f"column {name[:80]!r} is not missing in {row}; missing columns: "
            f"{offenders(map(repr, holes), limit=8)}.",
            column=name,
        )


def _unusable(column: Column, given: Any) -> AnswerError:
    return AnswerError(
        f"column {column.name!r} takes {NEEDS[column.kind]}; got {str(given)[:80]!r}.",
        column=column.name,
    )
