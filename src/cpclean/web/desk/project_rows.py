"""The rows of a project that people can be asked about: their numbers, holes and other cells."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from cpclean.data.domains import plain_frame
from cpclean.data.nulls import is_null
from cpclean.data.rows import is_whole
from cpclean.errors import UnknownRowError
from cpclean.intake.file_lines import FileLines
from cpclean.intake.writing import as_pandas
from cpclean.projects.project import Project
from cpclean.web.desk.cell_views import text_of
from cpclean.web.desk.naming_rows import MOST_NAMED_BY, id_columns, link_of

_LONGEST_NAME = 60  # characters of a cell by which a row is recognised


class ProjectRows:
    """What stays the same about the rows, whatever is answered.

    Parameters
    ----------
    project : Project

    Attributes
    ----------
    dirty : list of int
        The rows with holes, in order.
    numbers : list of int
        The number of each row for people, such as its number in the file.
    spare : dict from column to dict from the number of a row to its value
        The columns that play no part, such as an id by which people look a row up; of rows in
        files, the file and the row in it.
    """

    def __init__(self, project: Project) -> None:
        self._project, self._table = project, project.table
        self.dirty: list[int] = project.dirty_rows.tolist()
        self.numbers: list[int] = project.task.row_names.tolist()
        self.spare = _spare_columns(project)
        about = project.settings.about or {}
        self._link, self._named_by = str(about.get("link") or ""), about.get("named_by")

    def checked(self, number: Any) -> int:
        """The row with a number for people, which they can be asked about, or an error."""
        row = self.row_of(int(number)) if is_whole(number) else None
        if row is None:
            raise UnknownRowError(f"there is no row {str(number)[:40]} with holes in this table.")
        return row

    def holes(self, row: int) -> list[str]:
        """The columns in which a row has candidates."""
        return [self._table.names[cell] for cell in self._table.options_in_space(row).cells]

    @cached_property
    def columns_with_holes(self) -> list[str]:
        """The columns that people are asked about, in the table's order."""
        found = {name for row in self.dirty for name in self.holes(row)}
        return [name for name in self._table.names if name in found]

    def cells(self, row: int) -> dict[str, Any]:
        """The cells of a row as they were given, also those that play no part."""
        number, found = self.numbers[row], dict(self._table.row(row))
        for name, values in self.spare.items():
            if number in values:
                found[name] = values[number]
        return found

    @cached_property
    def named_by(self) -> list[str]:
        """The columns that identify a row: as they were chosen, or the first that looks so."""
        if isinstance(self._named_by, list):
            return [str(name) for name in self._named_by][:MOST_NAMED_BY]
        own = {
            column.name: column.all_shown(column.values)
            for column in self._table.columns
            if not column.missing.any()
        }
        spare = {} if self._project.files is not None else self.spare
        values = {name: list(cells.values()) for name, cells in spare.items()}
        return id_columns({**values, **own}, set(spare))

    def title(self, row: int) -> str:
        """By which people recognise a row, such as "patient_id 4711"; "" if by nothing."""
        cells = self.cells(row) if self.named_by else {}
        return ", ".join(
            _named(name, cells[name])
            for name in self.named_by
            if name in cells and not is_null(cells[name])
        )

    @cached_property
    def held_out(self) -> frozenset[int]:
        """The numbers of the rows to predict, if they were held out of the file."""
        found = frozenset(self._project.task.point_names.tolist())
        apart = self._project.frame is not None and not found & {*self.numbers}
        return found if apart else frozenset()

    def of_held_out(self, number: int) -> tuple[str, int | None]:
        """The title and the line of a row that was held out, by its number; else "" and None."""
        if number not in self.held_out:
            return "", None
        frame = self._given
        found = ((name, frame[name].iloc[number]) for name in self.named_by if name in frame)
        title = ", ".join(_named(name, value) for name, value in found if not is_null(value))
        return title, self._lines.at(number)

    @cached_property
    def _given(self) -> Any:
        return as_pandas(plain_frame(self._project.frame))

    def row_of(self, number: int) -> int | None:
        """The row with a number for people, if it has holes."""
        return self._by_number.get(number)

    @cached_property
    def _by_number(self) -> dict[int, int]:
        return {self.numbers[row]: row for row in self.dirty}

    @property
    def n_in_file(self) -> int:
        """How many rows the file has, with those that are not in the table."""
        frame = self._project.frame
        return max(self.numbers) + 1 if frame is None else len(plain_frame(frame))

    def by_name(self) -> dict[tuple[str, ...], list[int]]:
        """The numbers of rows by what identifies them, as text."""
        found: dict[tuple[str, ...], list[int]] = {}
        for row, number in enumerate(self.numbers):
            cells = self.cells(row)
            key = tuple(text_of(cells[name]) for name in self.named_by)
            found.setdefault(key, []).append(number)
        return found

    def link(self, row: int) -> str:
        """The address of a row's record; "" if there is none."""
        return link_of(self._link, self.cells(row)) if self._link else ""

    def line(self, row: int) -> int | None:
        """The line of the file on which a row begins; None if that is not known."""
        return self._lines.at(self.numbers[row])

    @cached_property
    def _lines(self) -> FileLines:
        return lines_of(self._project)


def _named(column: str, value: Any) -> str:
    return f"{column} {text_of(value, most=_LONGEST_NAME)}"


def lines_of(project: Project) -> FileLines:
    """On which line of its file each row of the given table begins."""
    if project.frame is None:
        return FileLines()
    file = str((project.settings.about or {}).get("file") or "")
    return FileLines.of(project.text, len(plain_frame(project.frame)), file)


def _spare_columns(project: Project) -> dict[str, dict[int, Any]]:
    if (files := project.files) is not None:
        rows = project.task.row_names.tolist()
        found = zip(rows, files.names(rows), strict=True)
        return {"in the files": {row: f"row {place}" for row, place in found}}
    given, table = project.frame, project.table
    frame = {} if given is None else as_pandas(plain_frame(given))
    counting = {table.label, *table.names}
    return {
        str(name): dict(enumerate(frame[name].tolist()))
        for name in frame
        if str(name) not in counting
    }
