"""The files of a table: where a row is, whether they have changed, and how they are read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from cpclean.data.streamed.pieces import TableSource, n_rows
from cpclean.data.streamed.row_batches import BatchReader
from cpclean.errors import UnknownRowError


@dataclass(frozen=True)
class TableFiles:
    """The files of a table, without anything that was learnt of their rows.

    Attributes
    ----------
    reader : BatchReader
    """

    reader: BatchReader

    @property
    def source(self) -> TableSource:
        return self.reader.source

    @cached_property
    def n_rows(self) -> int:
        """All rows, also those without a label."""
        return n_rows(self.source)

    def where(self, row: int) -> tuple[str, int]:
        """The file that a row is in, and its number there, counted from 0."""
        file, place = self._place(self.checked(row))
        return self.source.files[file], place

    def names(self, rows: Sequence[int]) -> list[str]:
        """Where rows are, in words after "row": "17 of people-2.csv"."""
        places = [self._place(self.checked(row)) for row in rows]
        return [f"{place} of {self.short_names[file]}" for file, place in places]

    @cached_property
    def short_names(self) -> list[str]:
        """The files as they are called within the folder that all of them are in."""
        files = self.source.files
        base = os.path.commonpath([os.path.dirname(one) for one in files])
        return [os.path.relpath(one, base or ".") for one in files]

    def check(self, row: int | None = None) -> None:
        """Refuse files that have changed since the table was made: all, or the one of a row."""
        if row is None:
            self.source.mark.check(self.source.current_mark())
        else:
            self.source.check_file(self._place(self.checked(row))[0])

    def checked(self, row: Any) -> int:
        """The number of a row, if there is such a row."""
        total = self.n_rows
        if not isinstance(row, int | np.integer) or not 0 <= row < total:
            raise UnknownRowError(f"row must be an int in [0, {total - 1}]; got {row!r}.")
        return int(row)

    @cached_property
    def _starts(self) -> tuple[list[int], list[int]]:
        """The files that have rows, and the number of the first row of each."""
        first: dict[int, int] = {}
        for piece in self.source.pieces:
            first.setdefault(piece.file, piece.first)
        return list(first), list(first.values())

    def _place(self, row: int) -> tuple[int, int]:
        files, starts = self._starts
        at = int(np.searchsorted(starts, row, side="right")) - 1
        return files[at], row - starts[at]
