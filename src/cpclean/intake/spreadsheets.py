"""Text files for spreadsheets, which take cells that begin with certain signs for formulas."""

from __future__ import annotations

import csv
from dataclasses import replace
from io import StringIO
from typing import Any

from cpclean.intake.textfile import TextFile

_SIGNS = ("=", "+", "-", "@", "\t", "\r")


def without_formulas(value: Any) -> Any:
    """A value with an apostrophe before it if a spreadsheet would take it for a formula.

    Numbers stay numbers.

    >>> [without_formulas(one) for one in ("=1+1", "-3.5", "-x", 7)]
    ["'=1+1", '-3.5', "'-x", 7]
    """
    if not isinstance(value, str) or not value.startswith(_SIGNS):
        return value
    try:
        float(value.replace(",", "."))
    except ValueError:
        return f"'{value}"
    return value


def escaped(file: TextFile) -> TextFile:
    r"""The same file with all its formulas escaped; every other byte stays, if that is possible.

    >>> escaped(TextFile(b'name,size\n=cmd(),1\n"Ann, B.",-2\n')).content
    b'name,size\n\'=cmd(),1\n"Ann, B.",-2\n'
    """
    cells = file.cells.to_numpy(dtype=object)
    texts = {
        (row, column): without_formulas(text)
        for row, line in enumerate(cells.tolist())
        for column, text in enumerate(line)
        if text.startswith(_SIGNS) and without_formulas(text) != text
    }
    if not texts:
        return file
    made = file.with_cells(texts)
    if made is not None:
        return made
    into = StringIO()
    lines = ([without_formulas(text) for text in line] for line in cells.tolist())
    csv.writer(into, delimiter=file.sep, lineterminator="\n").writerows(lines)
    return replace(file, content=into.getvalue().encode(), encoding="utf-8")
