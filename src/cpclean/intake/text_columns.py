"""Columns of text in several files that hold something else: days, or numbers beside a few texts.

What `cpclean.intake.tidying` does to a file in memory needs all its cells at once. In files that
are read in parts, days are found in one pass; about numbers that are written otherwise here and
there, a person is told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import narwhals as nw

from cpclean.data.nulls import NUMBER, is_token
from cpclean.data.streamed.pieces import TableSource, n_rows
from cpclean.errors import offenders
from cpclean.intake.notes import Note
from cpclean.intake.odd_numbers import MAX_ODD, MIN_DISTINCT, MIN_NUMBERS, REPEATED
from cpclean.intake.tidying import DAY
from cpclean.progress_bar import Shown, progress_bar

# Rows that are looked at together, and texts other than numbers that are counted for each column.
_ROWS, _MOST_ODD = 1 << 16, 10_000


@dataclass(frozen=True)
class TextColumns:
    """What was found in columns of text.

    Attributes
    ----------
    days : tuple of str
        Columns of days and moments in ISO's text.
    notes : list of Note
        On columns that would be numbers but for a few texts.
    """

    days: tuple[str, ...]
    notes: list[Note]


def text_columns(
    source: TableSource,
    but: Collection[str],
    null_tokens: tuple[str, ...],
    progress: Shown = None,
) -> TextColumns:
    """Look through the texts of files.

    Parameters
    ----------
    source : TableSource
    but : collection of str
        Columns that are left as they are: the label, those whose kind is named, and dropped ones.
    null_tokens : tuple of str
        Texts that stand for nothing.
    progress : bool, or function of words and a share, optional
    """
    names = [name for name in source.names if name in source.texts and name not in but]
    if not names:
        return TextColumns((), [])
    found = {name: _Texts() for name in names}
    done = 0
    with progress_bar(n_rows(source), "looking for days", shown=progress) as follow:
        for piece in source.pieces:
            for frame in source.frames(piece, names, _ROWS):
                table = nw.from_native(frame, eager_only=True)
                for name in names:
                    found[name].add(_counted(table.get_column(name)), null_tokens)
                done += len(frame)
                follow(done)
    days = tuple(name for name, one in found.items() if one.n_days and one.n_days == one.n_texts)
    return TextColumns(days, [_note(name, one) for name, one in found.items() if one.are_numbers])


@dataclass
class _Texts:
    """What was counted in a column so far; nulls and tokens are no texts."""

    n_texts: int = 0
    n_days: int = 0
    n_numbers: int = 0
    numbers: set[str] = field(default_factory=set)  # the first ones
    odd: Counter[str] = field(default_factory=Counter)

    def add(self, counts: Sequence[tuple[Any, int]], tokens: tuple[str, ...]) -> None:
        for cell, times in counts:
            if not isinstance(cell, str) or is_token(cell, tokens):
                continue
            self.n_texts += times
            if NUMBER.fullmatch(text := cell.strip()):
                self.n_numbers += times
                if len(self.numbers) < MIN_DISTINCT:
                    self.numbers.add(text)
                continue
            # A column of days and another one of prose are both at an end soon.
            if self.n_days + times == self.n_texts and _is_day(cell):
                self.n_days += times
            elif len(self.odd) < _MOST_ODD or text in self.odd:
                self.odd[text] += times

    @property
    def are_numbers(self) -> bool:
        """Whether it would be numbers if it were read as a whole, and is text in parts."""
        rare = sum(times for times in self.odd.values() if times < REPEATED)
        return (
            bool(self.odd)
            and len(self.odd) < _MOST_ODD
            and self.n_numbers >= MIN_NUMBERS * self.n_texts
            and len(self.numbers) >= MIN_DISTINCT
            and rare <= max(1, MAX_ODD * self.n_texts)
        )


def _counted(column: Any) -> list[tuple[Any, int]]:
    counts = column.value_counts(name="times of a text")
    names = counts.columns
    return list(zip(*(counts.get_column(one).to_list() for one in names), strict=True))


def _is_day(text: str) -> bool:
    if not DAY.fullmatch(text):
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:  # 2024-02-31 is no day
        return False
    return True


def _note(name: str, texts: _Texts) -> Note:
    common = texts.odd.most_common()
    return Note(
        "odd_numbers_in_files",
        name,
        values={
            "numbers": texts.n_numbers,
            "count": texts.odd.total(),
            "what": offenders(f"{text!r} ({times:,})" for text, times in common),
            "first": common[0][0],
        },
    )
