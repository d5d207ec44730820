"""Values that a person types for missing cells, read alike in the terminal and on the page."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from cpclean.data.between import Between
from cpclean.data.columns import Column
from cpclean.data.table import IncompleteTable
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


def values_typed(
    table: IncompleteTable,
    number: Any,
    holes: Collection[str],
    typed: Mapping[str, Any],
    decimal: str = ".",
) -> dict[str, Any]:
    """What a person typed for the missing cells of a row, without fields that were left empty.

    Parameters
    ----------
    number : int or str
        What people call the row.
    holes : the columns that are missing in the row
    typed : dict from column name to text, or to a value as JSON has it
        A rough one is {"between": [low, high]}.
    decimal : str
        The decimal sign of the file.
    """
    found: dict[str, Any] = {}
    for name, given in typed.items():
        check_missing(str(name), holes, f"row {number}")
        value = given.strip() if isinstance(given, str) else given
        if value is not None and value != "":
            column = table.columns[table.names.index(name)]
            rough = Between.of(value)
            if rough is None:
                found[name] = cell_typed(column, value, decimal)
            else:
                ends = (rough.low, rough.high)
                found[name] = Between(
                    *(None if end is None else cell_typed(column, end, decimal) for end in ends)
                )
    if not found:
        raise AnswerError(
            f"no value was given for row {number}. Type one, choose a candidate, or skip the row."
        )
    return found


def _unusable(column: Column, given: Any) -> AnswerError:
    return AnswerError(
        f"column {column.name!r} takes {NEEDS[column.kind]}; got {str(given)[:80]!r}.",
        column=column.name,
    )
