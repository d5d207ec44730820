"""Columns of numbers in which a few cells are written as something else.

Files have "45 mm", "1,234", "<5" and "unknown" among their numbers, and reading makes a column of
text of all of it. Here it becomes numbers again: cells whose meaning is safe are read, the others
are holes, and every one of them is named in a note.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from cpclean.data.frames import pandas_module
from cpclean.data.nulls import NUMBER
from cpclean.errors import offenders
from cpclean.intake.notes import Note

# A column is one of numbers if at least this share of its cells are, and at most this share of
# them are texts that do not repeat: a text that is found again and again stands for nothing.
MIN_NUMBERS, MAX_ODD = 0.5, 0.1
MIN_DISTINCT = 3
REPEATED = 3
_LISTED = 3

_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2}(,[0-9]{3})+(\.[0-9]+)?")
_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+")
_POINTS_AND_COMMA = re.compile(r"[+-]?[1-9][0-9]{0,2}(\.[0-9]{3})+,[0-9]+")
# Money before a number, a unit behind it: letters in front, as in "A1", are the name of something.
_WITH_UNIT = re.compile(
    r"([$€£¥]|USD|EUR|GBP|CHF|JPY)?\s*([+-]?[0-9.,]+)\s*([^\s\d,.+-][^\d]{0,15})?"
)


@dataclass(frozen=True)
class Numbers:
    """A column of text as numbers.

    Attributes
    ----------
    series : pandas.Series
        Doubles, NaN where a cell is empty or no number.
    note : Note
        Which cells were written as something else, and what became of them.
    """

    series: Any
    note: Note


def with_numbers(
    frame: Any, but: Collection[str] = (), expected: Collection[str] = (), sep: str = ","
) -> tuple[Any, list[Note]]:
    """A frame in which columns of numbers with a few other cells are numbers, and notes on them.

    Parameters
    ----------
    frame : pandas.DataFrame
    but : collection of str
        Columns that are left as they are: the label, and those whose kind is named.
    expected : collection of str
        Columns that are known to be numbers, from another file: fewer of their cells have to be.
    sep : str
        What separates the cells of the file: where it is a comma, "1,234" is a thousand and more.
    """
    found: dict[Any, Numbers] = {}
    for name in frame.columns:
        if (
            str(name) not in but
            and (read := as_numbers(frame[name], str(name) in expected, sep)) is not None
        ):
            found[name] = read
    if not found:
        return frame, []
    made = frame.copy(deep=False)
    for name, read in found.items():
        made[name] = read.series
    return made, [read.note for read in found.values()]


def as_numbers(series: Any, expected: bool = False, sep: str = ",") -> Numbers | None:
    """A column of text as numbers; None if it is no text, all numbers, or not numbers at all.

    Examples
    --------
    >>> import pandas as pd
    >>> read = as_numbers(pd.Series(["20", "45 mm", "80", "unknown", "33"], name="size"))
    >>> read.series.tolist(), read.note.rows
    ([20.0, 45.0, 80.0, nan, 33.0], (1, 3))
    """
    types = pandas_module().api.types
    if not (types.is_object_dtype(series) or types.is_string_dtype(series)):
        return None
    there = series.notna().to_numpy()
    cells = [one for one, known in zip(series.tolist(), there.tolist(), strict=True) if known]
    if not cells or not all(isinstance(one, str | int | float) for one in cells):
        return None
    if any(isinstance(one, bool) for one in cells):
        return None
    times = Counter(map(_text, cells))
    read = _read(times, sep)
    known = {text: number for text, number in read.items() if number is not None}
    if not _are_numbers(times, known, expected):
        return None
    odd = [text for text in times if not NUMBER.fullmatch(text)]
    if not odd:
        return None  # text on purpose, such as "007" in a frame
    values = np.full(len(series), np.nan)
    values[there] = [read[_text(one)] if read[_text(one)] is not None else np.nan for one in cells]
    made = pandas_module().Series(values, index=series.index, name=series.name)
    rows = np.flatnonzero(there)
    places: dict[str, list[int]] = {text: [] for text in odd}
    for row, one in zip(rows.tolist(), cells, strict=True):
        if (text := _text(one)) in places:
            places[text].append(row)
    return Numbers(made, _note(str(series.name), places, read))


def _text(cell: Any) -> str:
    return cell.strip() if isinstance(cell, str) else repr(cell)


def _read(times: Counter[str], sep: str) -> dict[str, float | None]:
    """The number that each text stands for; None where that is not safe to say."""
    read: dict[str, float | None] = {
        text: float(text) if NUMBER.fullmatch(text) else None for text in times
    }
    plain = [number for number in read.values() if number is not None]
    comma = _decimal_comma(read, sep)
    units: dict[str, tuple[str, float]] = {}
    for text, number in read.items():
        if number is None and (found := _WITH_UNIT.fullmatch(text)) is not None:
            value = _written(found[2], comma)
            if value is not None:
                units[text] = (f"{found[1] or ''} {found[3] or ''}".strip(), value)
    bare = {text: value for text, (unit, value) in units.items() if not unit}
    read.update(bare)
    known = [*plain, *bare.values()]
    united = {text: pair for text, pair in units.items() if pair[0]}
    # With one unit throughout, and as large as the numbers without it, nothing else can be meant.
    if len({unit for unit, _ in united.values()}) == 1:
        for text, (_, value) in united.items():
            if not known or min(known) <= value <= max(known):
                read[text] = value
    return read


def _decimal_comma(read: dict[str, float | None], sep: str) -> bool | None:
    """Whether a comma is the decimal sign of a column; None if that cannot be said."""
    texts = [found[2] for text in read if (found := _WITH_UNIT.fullmatch(text)) is not None]
    points = any("." in text and "," not in text for text in texts)
    commas = any(
        _POINTS_AND_COMMA.fullmatch(text) or (_COMMA.fullmatch(text) and not _is_thousands(text))
        for text in texts
    )
    thousands = any(text.count(",") > 1 or ("," in text and "." in text) for text in texts)
    thousands = thousands and not any(_POINTS_AND_COMMA.fullmatch(text) for text in texts)
    if commas:
        return None if points or thousands else True
    return not (points or thousands or sep == ",")


def _is_thousands(text: str) -> bool:
    return _THOUSANDS.fullmatch(text) is not None


def _written(text: str, comma: bool | None) -> float | None:
    """A number with commas in it; None if it is none, or may be one or the other."""
    if NUMBER.fullmatch(text):
        return float(text)
    if comma is not True and _is_thousands(text):
        certain = comma is False or text.count(",") > 1 or "." in text
        return float(text.replace(",", "")) if certain else None
    if comma is not False and _POINTS_AND_COMMA.fullmatch(text):
        return float(text.replace(".", "").replace(",", "."))
    either = comma is None and _is_thousands(text)
    if comma is not False and _COMMA.fullmatch(text) and not either:
        return float(text.replace(",", "."))
    return None


def _are_numbers(times: Counter[str], known: Collection[str], expected: bool) -> bool:
    total = times.total()
    numbers = sum(times[text] for text in known)
    if numbers < MIN_NUMBERS * total:
        return False
    if expected:
        return True
    odd = sum(n for text, n in times.items() if text not in known and n < REPEATED)
    return len(known) >= MIN_DISTINCT and odd <= max(1, MAX_ODD * total)


def _note(name: str, places: dict[str, list[int]], read: dict[str, float | None]) -> Note:
    holes = {text: rows for text, rows in places.items() if read[text] is None}
    taken = {text: rows for text, rows in places.items() if read[text] is not None}
    said = []
    if len(taken) > _LISTED:  # all with decimal commas, or all with a unit
        text, (row, *_) = next(iter(taken.items()))
        others = sum(map(len, taken.values())) - 1
        said.append(
            f"{text!r} (row {row}) is read as {read[text]:.15g}, {others:,} others likewise"
        )
    elif taken:
        said.append(f"{_listed(taken)} {_are(taken)} read as {_values(read, taken)}")
    if holes:
        said.append(f"{_listed(holes)} {_are(holes)} taken as missing")
    rows = tuple(sorted(row for found in places.values() for row in found))
    return Note("odd_numbers", name, rows, {"count": len(rows), "what": "; ".join(said)})


def _are(texts: Collection[str]) -> str:
    return "is" if len(texts) == 1 else "are"


def _listed(texts: dict[str, list[int]]) -> str:
    return offenders(f"{text!r} (row {offenders(rows)})" for text, rows in texts.items())


def _values(read: dict[str, float | None], texts: Iterable[str]) -> str:
    return offenders(f"{read[text]:.15g}" for text in texts)
