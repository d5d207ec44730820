"""Rows or cells in the order of what cleaning them is expected to bring."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cpclean.analysis.narrowing import open_cell
from cpclean.cleaning.session import CleaningSession


@dataclass(frozen=True)
class Ranked:
    """A row with holes, or one of its cells, and what it is worth.

    Attributes
    ----------
    row : int
    column : str or None
        The cell; None where whole rows are ranked.
    gain : float
        What knowing it is expected to take from the mean entropy, in nats.
    candidates : int
        How many values it might have.
    holes : tuple of str
        The row's uncertain columns.
    """

    row: int
    column: str | None
    gain: float
    candidates: int
    holes: tuple[str, ...]


def ranking(session: CleaningSession) -> list[Ranked]:
    """All rows that are not clean, the best first; with strategy "cells", their cells.

    The order is of each on its own: after an answer it may be another one. At equal gains, as
    they stand in the table.

    Examples
    --------
    >>> import pandas as pd
    >>> from cpclean import CleaningSession, IncompleteTable
    >>> frame = pd.DataFrame({"size": [1, None, None, 8, 9], "age": [3, 3, 2, 1, 2]})
    >>> table = IncompleteTable(frame, label=["s", "s", "s", "l", "l"])
    >>> session = CleaningSession(table, pd.DataFrame({"size": [8], "age": [2]}), n_neighbors=1)
    >>> [(one.row, one.candidates, one.holes) for one in ranking(session)]
    [(2, 5, ('size',)), (1, 5, ('size',))]
    """
    view = session.view
    questions, gains = view.questions, view.question_gains
    order = np.lexsort((np.arange(len(gains)), -gains))
    return [
        Ranked(
            row,
            questions.column[number],
            float(gains[number]),
            _candidates(session, row, number),
            tuple(view.cells(row)),
        )
        for number in order.tolist()
        if session.data.candidate_counts[row := int(questions.row[number])] > 1
    ]


def _candidates(session: CleaningSession, row: int, number: int) -> int:
    if session.view.questions.column[number] is None:
        return int(session.data.candidate_counts[row])
    cell = open_cell(session.data, row, session.view.questions.spans[number])
    return 1 if cell is None else len(cell.values)
