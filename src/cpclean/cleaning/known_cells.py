"""What is known about the cells of a table, for the file or frame that it comes from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cpclean.cleaning.session import CleaningSession
from cpclean.data.nulls import is_null
from cpclean.data.table import IncompleteTable
from cpclean.data.values import categories_of, is_mark, mark_text
from cpclean.intake.writing import KnownCells, as_pandas


def known_cells(
    session: CleaningSession, table: IncompleteTable, rows: Sequence[int], fill: str | None
) -> KnownCells:
    """The known cells, and a guess for the other holes if `fill` asks for one.

    Parameters
    ----------
    rows : sequence of int
        The place of each row of the table in the file or frame.
    fill : {"default", "likely"} or None
        As in `CleaningSession.world`; None leaves out what is not known.
    """
    found: KnownCells = {}
    if fill is not None:
        world = as_pandas(session.world(fill))
        for name, holes in zip(table.names, table.holes.T, strict=True):
            values = world[name].tolist()
            cells = {rows[row]: values[row] for row in np.flatnonzero(holes).tolist()}
            found[name] = {row: value for row, value in cells.items() if not is_null(value)}
    for row, known in session.known.items():
        for name, value in known.items():
            column = table.columns[table.names.index(name)]
            if is_mark(value):
                value = mark_text(value, categories_of(column, None))
            found.setdefault(name, {})[rows[row]] = value
    return {name: cells for name, cells in found.items() if cells}
