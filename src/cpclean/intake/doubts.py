"""What a person should look at in a column before trusting it; nothing is changed here."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from cpclean.data.columns import Column
from cpclean.errors import offenders
from cpclean.intake.misspelt import misspelt
from cpclean.intake.notes import Note
from cpclean.intake.tidying import folded

# Numbers that people write where there is nothing to write.
_NINES = (9, 99, 999, 9999, 99999, 999999)
_SENTINELS = frozenset([-1, *(-nine for nine in _NINES), *_NINES, 1e20, -1e20])
# The first day of spreadsheets, of computers, of many databases, and the last day of calendars.
_FIRST_DAYS = frozenset(
    np.array(["1899-12-30", "1900-01-01", "1970-01-01", "9999-12-31"], "M8[s]")
    .astype(np.int64)
    .astype(np.float64)
    .tolist()
)
_LEAST_TIMES = 2
# What nobody measures is named though it is there once.
_SPEAKING = frozenset(sign * nine for nine in _NINES[2:] for sign in (-1, 1))
# 0 is far from the others if the nearest of them is at least this share of their median away, and
# so many times as far as they usually are from each other.
_FAR, _GAPS = 0.1, 5
# Text of so many words on average, nearly every one different, is prose.
_WORDS, _DIFFERENT = 4.0, 0.5
# A column that tells the label: few values, in so many rows, each with one label alone.
_FEW, _ROWS = 20, 20
# Holes depend on the label if their shares differ by so much, and by so many standard errors.
_APART, _ERRORS = 0.1, 4.0
# From here on they say the label by themselves.
_TELLING = 0.95
# Notes that are said once if they are about so many columns, of which so many are named.
_ALIKE = ("holes_of_labels", "holes_tell_label")
_MANY, _NAMED = 3, 5
# Slips that are named for a column.
_MOST_SLIPS = 3
# Numbers that name rows, from so many rows on, by the names of their columns.
_IDS = 50
_IDENTIFIES = re.compile(
    r"(?i:(^|[^a-z])(id|ident|identifier|uuid|nr|no|num|number|key|code|serial)($|[^a-z]))"
    r"|(?i:id_?(num|number|no|nr|code)$)|(Id|ID)$|^[pucrs]id$"
)


def doubts(columns: Iterable[Column], labels: Any = None) -> list[Note]:
    """Notes on what is doubtful about columns.

    Parameters
    ----------
    columns : iterable of Column
    labels : sequence, optional
        The label of each row, None where there is none.
    """
    found: list[Note] = []
    for column in columns:
        if column.kind == "categorical":
            found += [*_spellings(column), *_slips(column)] or _prose(column)
        else:
            found += _sentinels(column) + _numbers_of_rows(column)
        if labels is not None:
            found += _telling(column, labels) or _holes_of_labels(column, labels)
    return found


def _sentinels(column: Column) -> list[Note]:
    """Numbers that stand for nothing: far from all others, and mostly found more than once."""
    if column.kind not in ("numeric", "date") or column.n_observed < 10:
        return []
    if len(column.values) < column.size:  # of a table in files: what is known of it is less
        return []
    times, others = column.frequencies, column.distinct
    found: list[float] = []
    looking = True
    while looking:  # behind one of them there may be another
        looking = False
        for value in dict.fromkeys((float(others[0]), float(others[-1]), 0.0)):
            rest, often = others[others != value], times.get(value, 0)
            speaks = value in _SPEAKING if column.kind == "numeric" else value in _FIRST_DAYS
            if often < (1 if speaks else _LEAST_TIMES) or len(rest) < 5:
                continue
            if len(rest) < len(others) and _stands_for_nothing(column.kind, value, rest):
                found.append(value)
                others, looking = rest, True
                break
    return [
        Note(
            "maybe_sentinel",
            column.name,
            values={
                "value": _text(column, value),
                "cell": f"{column.name}={_text(column, value)}",
                "count": times[value],
                "others": _range(column, others),
            },
        )
        for value in found
    ]


def _stands_for_nothing(kind: str, value: float, others: Any) -> bool:
    low, high = float(others[0]), float(others[-1])
    away = low - value if value < low else value - high
    if kind == "date":
        return value in _FIRST_DAYS and away > high - low
    if value == 0:
        gaps = float(np.median(np.diff(others)))
        nearest, usual = (low, np.median(others)) if low > 0 else (-high, -np.median(others))
        if low > 0 and high <= 1:  # shares: none of something is as usual as some
            return False
        return bool(nearest > _GAPS * gaps and nearest >= _FAR * usual)
    if value not in _SENTINELS:
        return False
    return away >= high - low or (value < 0 <= low)


def _text(column: Column, value: float) -> str:
    shown = column.shown(value)
    return str(shown).removesuffix(" 00:00:00") if column.kind == "date" else f"{value:.15g}"


def _range(column: Column, others: Any) -> str:
    low, high = float(others[0]), float(others[-1])
    if column.kind == "date":
        return f"{_text(column, low)} to {_text(column, high)}"
    return f"{low:.6g} to {high:.6g}"


def _spellings(column: Column) -> list[Note]:
    """Categories that differ in case and blanks alone."""
    groups: dict[str, list[str]] = {}
    for value in column.frequencies:
        if isinstance(value, str):
            groups.setdefault(folded(value), []).append(value)
    alike = [spelt for spelt in groups.values() if len(spelt) > 1]
    if not alike:
        return []
    words = "; ".join(
        ", ".join(f"{one!r} ({column.frequencies[one]:,})" for one in spelt) for spelt in alike[:2]
    )
    if len(alike) > 2:
        words += f"; and {len(alike) - 2} more"
    return [Note("spellings", column.name, values={"what": words})]


def _slips(column: Column) -> list[Note]:
    """Rare categories that are one slip of the pen away from a frequent one."""
    times, notes = column.frequencies, []
    for slip, meant in misspelt(times).items():
        values = {
            "value": f"{slip!r} ({times[slip]:,})",
            "others": f"{meant!r} ({times[meant]:,})",
            "cell": f"{column.name}={slip}",
        }
        notes.append(Note("maybe_misspelt", column.name, values=values))
    return notes[:_MOST_SLIPS]


def _numbers_of_rows(column: Column) -> list[Note]:
    """Whole numbers, every one different, in a column with the name of an identifier."""
    distinct = len(column.distinct)
    if column.kind != "numeric" or column.is_numbered or distinct < max(_IDS, column.size):
        return []
    if not _IDENTIFIES.search(column.name) or not bool((column.distinct % 1 == 0).all()):
        return []
    return [Note("identifier", column.name, values={"distinct": distinct})]


def _prose(column: Column) -> list[Note]:
    """Text that people have written freely."""
    texts = [value for value in column.frequencies if isinstance(value, str)]
    if len(texts) < 20 or len(texts) < _DIFFERENT * column.n_observed:
        return []
    words = float(np.mean([len(text.split()) for text in texts]))
    if words < _WORDS:
        return []
    return [Note("free_text", column.name, values={"distinct": len(texts)})]


def _telling(column: Column, labels: Any) -> list[Note]:
    """Whether a column says the label by itself: perhaps it is only known afterwards."""
    pairs = [
        (value, label)
        for value, gone, label in zip(
            column.values.tolist(), column.missing.tolist(), labels, strict=True
        )
        if not gone and label is not None
    ]
    known: dict[Any, Any] = {}
    for value, label in pairs:
        if known.setdefault(value, label) != label:
            return []
        if len(known) > _FEW:
            return []
    if len(pairs) < _ROWS or len(set(known.values())) < 2 or len(known) > len(pairs) / 4:
        return []
    each = (f"{column.shown(one)!r} always with {label!r}" for one, label in known.items())
    return [Note("tells_label", column.name, values={"what": offenders(each)})]


def _holes_of_labels(column: Column, labels: Any) -> list[Note]:
    """Whether a column is missing far more often beside one label than beside the others."""
    missing = column.missing
    if len(missing) < column.size or not missing.any():
        return []
    given = np.array([str(one) for one in labels], dtype=object)
    known = np.array([one is not None for one in labels])
    apart = []
    for label in dict.fromkeys(given[known].tolist()):
        own, others = missing[known & (given == label)], missing[known & (given != label)]
        if min(len(own), len(others)) < _ROWS:
            continue
        share = float(missing[known].mean())
        error = math.sqrt(share * (1 - share) * (1 / len(own) + 1 / len(others)))
        gap = float(own.mean() - others.mean())
        if gap > _APART and gap > _ERRORS * error:
            apart.append((gap, label, float(own.mean()), float(others.mean())))
    if not apart:
        return []
    gap, label, own_share, other_share = max(apart)
    values = {"label": label, "own": _share(own_share), "rest": _share(other_share)}
    if gap >= _TELLING:
        return [Note("holes_tell_label", column.name, values=values)]
    return [Note("holes_of_labels", column.name, values=values)]


def gathered(notes: Sequence[Note]) -> list[Note]:
    """The same notes, with one in place of many that say of other columns what the first says.

    Parameters
    ----------
    notes : sequence of Note

    Examples
    --------
    >>> about = {"label": "yes", "own": "40%", "rest": "10%"}
    >>> some = [Note("holes_of_labels", name, values=about) for name in ("a", "b", "c")]
    >>> (one,) = gathered(some)
    >>> one.code, one.column, one.values["count"], one.values["names"]
    ('holes_of_labels_many', 'a', 3, "'a', 'b', 'c'")
    >>> gathered(some[:2]) == some[:2]
    True
    """
    found: list[Note] = []
    for note in notes:
        alike = [one for one in notes if one.code == note.code]
        if note.code not in _ALIKE or len(alike) < _MANY:
            found.append(note)
        elif note is alike[0]:
            names = [str(one.column) for one in alike]
            values = {
                **note.values,
                "count": len(alike),
                "names": offenders(map(repr, names), _NAMED),
                "drops": " ".join(f"--drop {shlex.quote(name)}" for name in names),
            }
            if note.code == "holes_tell_label":
                found.append(Note("holes_tell_label_many", note.column, values=values))
            else:
                found.append(Note("holes_of_labels_many", note.column, values=values))
    return found


def _share(share: float) -> str:
    """In whole percents; none and all are what they say."""
    if 0 < share < 0.005:
        return "less than 1%"
    return "more than 99%" if 0.995 <= share < 1 else f"{share:.0%}"
