"""The rows of a project that people can be asked about: their numbers, holes and other cells."""

from __future__ import annotations

from typing import Any

from cpclean.data.domains import plain_frame
from cpclean.data.rows import is_whole
from cpclean.errors import UnknownRowError
from cpclean.intake.writing import as_pandas
from cpclean.projects.project import Project


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
        self._table = project.table
        self.dirty: list[int] = project.dirty_rows.tolist()
        self._is_dirty = frozenset(self.dirty)
        self.numbers: list[int] = project.task.row_names.tolist()
        self.spare = _spare_columns(project)

    def checked(self, row: Any) -> int:
        """A row that people can be asked about, or an error."""
        if not is_whole(row) or int(row) not in self._is_dirty:
            raise UnknownRowError(f"there is no row {str(row)[:40]} with holes in this table.")
        return int(row)

    def holes(self, row: int) -> list[str]:
        """The columns in which a row has candidates."""
        return [self._table.names[cell] for cell in self._table.options_in_space(row).cells]


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
