"""What was decided about columns, where a person might decide otherwise."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from cpclean.data.columns import Column
from cpclean.data.decisions import DOUBTS, IGNORED, Decision
from cpclean.intake.choices import MAYBE_NULL
from cpclean.intake.doubts import doubts
from cpclean.intake.notes import Note

# What text looks like that was perhaps meant otherwise.
_LOOKS = {
    "maybe_date": re.compile(r"\d{4}-\d\d-\d\d([ T].*)?"),
    "maybe_day_first": re.compile(r"\d{1,2}([./-])\d{1,2}\1\d{2,4}( .*)?"),
    "maybe_comma": re.compile(r"[+-]?\d+(,\d+)?"),
}


def column_notes(
    columns: Iterable[Column],
    decisions: Mapping[str, Decision] | None = None,
    labels: Any = None,
) -> list[Note]:
    """Notes about feature columns.

    Parameters
    ----------
    columns : iterable of Column
        Of the whole file: a row number is hard to recognise once rows are held out.
    decisions : dict from column to Decision, optional
        What the table that was made of them has decided.
    labels : sequence, optional
        The label of each row of the file, None where there is none.
    """
    columns = list(columns)
    found = [note for column in columns for note in _maybe_null(column)]
    found += [note for column in columns if (note := _misread(column)) is not None]
    found += doubts(columns, labels)
    prose = {note.column for note in found if note.code == "free_text"}
    for column in columns:
        if column.name in prose:
            continue
        decision = (decisions or {}).get(column.name, column.decision)
        code = decision.code if decision.code in IGNORED else column.decision.code
        if code in (*IGNORED, *DOUBTS):
            found.append(Note(code, column.name, values={"distinct": column.decision.distinct}))
    return found


def _maybe_null(column: Column) -> list[Note]:
    """Texts that often stand for nothing."""
    if column.kind != "categorical":
        return []
    return [
        Note("maybe_null", column.name, values={"value": value, "bare": bare, "count": times})
        for value, times in column.frequencies.items()
        if (bare := str(value).strip()).lower() in MAYBE_NULL
    ]


def _misread(column: Column) -> Note | None:
    """Dates or numbers that were read as text; None where text is what it is."""
    values = [str(value).strip() for value in column.frequencies]
    if column.kind != "categorical" or len(values) < 2:
        return None
    for code, look in _LOOKS.items():
        if all(look.fullmatch(value) for value in values):
            return Note(code, column.name, values={"value": values[0]})
    return None
