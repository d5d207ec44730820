"""What there is to say about a table file and the choices made about it, before it is said.

A note is a code with the values that belong to it; `cpclean.intake.sentences` puts it into words
for whoever reads it. A note that ends the matter is raised as an `IntakeError`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cpclean.errors import TableError


@dataclass(frozen=True)
class Note:
    """One thing to say.

    Parameters
    ----------
    code : str
        What it is: a key of `cpclean.intake.sentences.SAYINGS`.
    column : str, optional
        The column that it is about.
    rows : tuple of int
        The rows that it is about, as numbered in their file.
    values : dict
        What else has to be known to say it.

    Examples
    --------
    >>> from cpclean.intake.sentences import said
    >>> note = Note("unlabelled", "y", (4, 7), {"file": "'train.csv'"})
    >>> said(note, "terminal")
    "every row of 'train.csv' needs a label; missing in row 4, 7. Leave these rows out with \
--drop-unlabelled."
    """

    code: str
    column: str | None = None
    rows: tuple[int, ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict)


class IntakeError(TableError):
    """A table file cannot be used, or not with these choices.

    Attributes
    ----------
    note : Note
        What is wrong, and what it is about.
    """

    def __init__(self, what: str, way_out: str = "", *, note: Note, field: str | None) -> None:
        super().__init__(what, way_out, field=field, column=note.column, rows=note.rows)
        self.note = note

    def __reduce__(self) -> Any:
        """For copies and pickles, which cannot make one of its text alone."""
        return _made_again, (self.what, self.way_out, self.note, self.field)


def _made_again(what: str, way_out: str, note: Note, field: str | None) -> IntakeError:
    return IntakeError(what, way_out, note=note, field=field)
