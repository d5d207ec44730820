"""Cells as the file of a project writes them, so that exports can be joined with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cpclean.data.domains import plain_frame
from cpclean.data.values import plain_value
from cpclean.errors import CPCleanError
from cpclean.intake.textfile import TextFile
from cpclean.intake.writing import as_pandas, fits, spelling_in
from cpclean.projects.project import Project


class FileCells:
    """The cells of the text file that a project was begun with; of other tables, their values.

    Parameters
    ----------
    project : Project
    """

    def __init__(self, project: Project) -> None:
        self._project = project
        self._text: TextFile | None = None
        self._places: dict[str, int] = {}
        self._spellings: dict[str, Callable[[Any], str]] = {}
        if project.text is not None and project.frame is not None:
            frame = as_pandas(plain_frame(project.frame))
            if fits(project.text, frame):
                self._text = project.text
                self._places = {str(name): place for place, name in enumerate(frame.columns)}

    def text(self, number: int, column: str) -> str | None:
        """What stands in a cell, by the number of its row; None if there is no text file."""
        if self._text is None or column not in self._places:
            return None
        return str(self._text.cells.iat[number + 1, self._places[column]])

    def spelt(self, column: str, value: Any) -> Any:
        """A value as the file writes those of its column."""
        if value is None or column not in self._project.table.names:
            return None if value is None else _plain(value)
        try:
            return self._spelling(column)(value)
        except (CPCleanError, ValueError, TypeError):  # it does not fit the column any more
            return _plain(value)

    def _spelling(self, column: str) -> Callable[[Any], Any]:
        table = self._project.table
        own = table.columns[table.names.index(column)]
        if self._text is None or column not in self._places:
            return _day if own.kind == "date" else _plain
        if column not in self._spellings:
            rows = self._project.task.row_names.tolist()
            self._spellings[column] = spelling_in(self._text, self._places[column], own, rows)
        return self._spellings[column]


def _plain(value: Any) -> Any:
    """A value as JSON has it, whole numbers without decimals."""
    plain = plain_value(value)
    return int(plain) if isinstance(plain, float) and plain.is_integer() else plain


def _day(value: Any) -> Any:
    """A date without a time that says nothing."""
    return str(_plain(value)).removesuffix("T00:00:00")
