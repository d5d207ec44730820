"""Other frames than the one a table was made of, read as its columns were."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from cpclean.data.column_reading import as_kind, column_from_objects
from cpclean.data.columns import Column
from cpclean.data.spaces.table_space import TableSpace
from cpclean.errors import TableError, offenders

_ISO = re.compile(r"\s*[0-9]{4}-[0-9]{2}-[0-9]{2}")
_NUMBERS = (int, float, np.number)


def as_trained(
    given: Sequence[Column], columns: Sequence[Column], names: tuple[str, ...], space: TableSpace
) -> list[Column]:
    """Columns of another frame as those of the table; those outside the space as they are.

    Parameters
    ----------
    given : sequence of Column
    columns : sequence of Column
        Those of the table.
    names : tuple of str
        What the columns of the other frame have to be called.
    space : TableSpace
    """
    found = tuple(column.name for column in given)
    if found != names:
        raise TableError(_difference(names, found))
    return [
        theirs if feature is None else read_as(theirs, mine)
        for mine, theirs, feature in zip(columns, given, space.features, strict=True)
    ]


def check_complete(columns: Sequence[Column], space: TableSpace) -> None:
    """Refuse rows with a hole in a column that counts."""
    holes = [
        (column.name, row)
        for column, feature in zip(columns, space.features, strict=True)
        if feature is not None
        for row in np.flatnonzero(column.missing).tolist()
    ]
    if holes:
        places = offenders(f"row {row}, column {name!r}" for name, row in holes)
        raise TableError(
            f"rows to encode must be complete; found holes at {places}. Fill them, or use "
            "table.points(frame), which completes them."
        )


def read_as(theirs: Column, mine: Column) -> Column:
    """A column to predict from, read as the one of the training table was."""
    if not theirs.n_observed:
        return column_from_objects(theirs.name, [None] * len(theirs.values), mine.kind)
    if mine.kind == "date" and theirs.kind == "categorical":
        theirs = _dates(theirs)
    kinds = {mine.kind, mine.given or mine.kind}
    if kinds & {"numeric", "boolean"}:
        kinds |= {"numeric", "boolean"}
    if mine.kind == "categorical" and any(
        isinstance(v, _NUMBERS) for v in mine.categories.distinct
    ):
        kinds |= {"numeric", "boolean"}
    if theirs.kind not in kinds:
        row = _first_odd(theirs, "numeric" in kinds)
        raise TableError(
            f"column {mine.name!r} is {mine.kind} in the training table, but here it is "
            f"{theirs.kind} and holds {theirs.shown(theirs.values[row])!r} in row {row}. Convert "
            "it first.",
            column=mine.name,
            rows=(row,),
        )
    return as_kind(theirs, mine.kind)


def _dates(column: Column) -> Column:
    """Texts that are all dates as ISO 8601 has them, as a file of text has dates; or as it is."""
    if not all(isinstance(one, str) and _ISO.match(one) for one in column.categories.distinct):
        return column
    try:
        return column_from_objects(column.name, column.values.tolist(), "date")
    except TableError:  # such as a 30th of February
        return column


def _first_odd(column: Column, wants_numbers: bool) -> int:
    """The first row with a value; where numbers are wanted, the first with another text."""
    rows = np.flatnonzero(~column.missing).tolist()
    if wants_numbers:
        for row in rows:
            try:
                float(column.shown(column.values[row]))
            except (TypeError, ValueError):
                return int(row)
    return int(rows[0])


def _difference(mine: tuple[str, ...], theirs: tuple[str, ...]) -> str:
    lacking = [name for name in mine if name not in theirs]
    extra = [name for name in theirs if name not in mine]
    told, way_out = [], ""
    if lacking:
        told.append(f"missing {offenders(map(repr, lacking))}")
        way_out = " Columns of points may be null: add what is missing as nulls."
    if extra:
        told.append(f"not expected {offenders(map(repr, extra))}")
    if not told:
        told.append("in another order; select them as frame[list(table.names)]")
    return f"columns must be those of the training table: {'; '.join(told)}.{way_out}"
