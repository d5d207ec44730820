"""What is known about the cells of a table, for the file or frame that it comes from.

Where every hole is to be filled, there are three sources, in this order:

1. what people answered;
2. for other holes of the table, the session's guess: by default, the mean or the most frequent
   value of the column; or the likeliest candidate, by the prior, which may look at the label;
3. for rows of the file that are not in the table, because they are held out to be predicted or left
   out, the same by default; or the likeliest value without any look at the label, as
   `cpclean.data.completions` completes points.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cpclean.cleaning.session import CleaningSession
from cpclean.data.columns import OTHER, Column
from cpclean.data.domains import DomainTable, plain_frame
from cpclean.data.nulls import is_null, is_token
from cpclean.data.rough_ranges import range_around
from cpclean.data.row_order import places_in_frame
from cpclean.data.table import IncompleteTable
from cpclean.data.values import categories_of, is_mark, mark_text, usual_value
from cpclean.intake.writing import KnownCells, as_pandas


@dataclass(frozen=True)
class FilledCells:
    """Values for holes, by column and by the row's number in the original table.

    Attributes
    ----------
    answered : dict
        What people said, without what they know only roughly (`rough_cells`).
    guessed : dict
        For holes of the table that nobody answered.
    elsewhere : dict
        For holes of rows that are not in the table.
    """

    answered: KnownCells
    guessed: KnownCells = field(default_factory=dict)
    elsewhere: KnownCells = field(default_factory=dict)

    @property
    def cells(self) -> KnownCells:
        """All of them together; columns without any are left out."""
        found: KnownCells = {}
        for source in (self.guessed, self.elsewhere, self.answered):
            for name, cells in source.items():
                if cells:
                    found.setdefault(name, {}).update(cells)
        return found


def filled_cells(
    session: CleaningSession,
    table: IncompleteTable,
    rows: Sequence[int],
    fill: str | None,
    frame: Any = None,
) -> FilledCells:
    """The known cells, and a guess for every other hole if `fill` asks for one.

    Parameters
    ----------
    rows : sequence of int
        The place of each row of the table in the file or frame.
    fill : {"default", "likely"} or None
        As in `CleaningSession.world`; None leaves out what is not known.
    frame : frame or DomainTable, optional
        The original table, if it may have rows besides those of the table.
    """
    answered = _answered(session, table, rows)
    if fill is None:
        return FilledCells(answered)
    guessed: KnownCells = {}
    world = as_pandas(session.world(fill)).iloc[places_in_frame(table.rows_kept)]
    for name, holes in zip(table.names, table.holes.T, strict=True):
        values = world[name].tolist()
        places = {rows[row]: row for row in np.flatnonzero(holes).tolist()}
        told = answered.get(name, {})
        guessed[name] = {
            place: values[row]
            for place, row in places.items()
            if place not in told and not is_null(values[row])
        }
    return FilledCells(
        answered, guessed, {} if frame is None else _others(table, rows, fill, frame)
    )


def rough_cells(session: CleaningSession, table: IncompleteTable) -> list[tuple[int, str]]:
    """The cells that are known only roughly, by row and column.

    Ranges, categories that are not listed, and values of a grid: these are taken from the whole
    column, and whoever chooses one does not say that it is the true one.
    """
    found = []
    for row, known in session.known.items():
        found += [(row, column) for column in session.view.rough_of(row)]
        if session.view.known_of(row).candidate is not None:
            holes = session.view.cells(row)
            found += [
                (row, column)
                for column, value in known.items()
                if value is OTHER
                or (column in holes and range_around(table, row, column, value) is not None)
            ]
    return list(dict.fromkeys(found))


def _answered(session: CleaningSession, table: IncompleteTable, rows: Sequence[int]) -> KnownCells:
    found: KnownCells = {}
    rough = set(rough_cells(session, table))
    for row, known in session.known.items():
        for name, value in known.items():
            if (row, name) not in rough:
                column = table.columns[table.names.index(name)]
                found.setdefault(name, {})[rows[row]] = _written(value, column)
    return found


def _others(table: IncompleteTable, rows: Sequence[int], fill: str, frame: Any) -> KnownCells:
    """Guesses for the rows of the frame that are not among those of the table."""
    plain = as_pandas(plain_frame(frame))
    names = {str(name): place for place, name in enumerate(plain.columns)}
    listed = frame.repairs.by_cell if isinstance(frame, DomainTable) else {}
    others = np.setdiff1d(np.arange(len(plain)), np.asarray(rows, dtype=np.int64))
    found: KnownCells = {}
    for cell, (column, holes) in enumerate(zip(table.columns, table.holes.T, strict=True)):
        usual = usual_value(column, column.values[~holes])
        for row in _holes(plain.iloc[others, names[column.name]], others, table.null_tokens):
            among = listed.get((row, column.name), ())
            value = None if among else usual
            if fill == "likely" or is_null(value):
                value = table.completer.likeliest(cell, among)
            if not is_null(value):
                shown = value if is_mark(value) else column.shown(value)
                found.setdefault(column.name, {})[row] = _written(shown, column)
    return found


def _holes(series: Any, rows: Any, tokens: tuple[str, ...]) -> Iterator[int]:
    for row, value in zip(rows.tolist(), series.tolist(), strict=True):
        if is_null(value) or is_token(value, tokens):
            yield row


def _written(value: Any, column: Column) -> Any:
    """A value as a file can have it."""
    return mark_text(value, categories_of(column, None)) if is_mark(value) else value
