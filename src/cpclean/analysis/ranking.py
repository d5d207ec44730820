"""What to clean first: everything that can still be asked, the best first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.analysis.open_cells import open_cell
from cpclean.analysis.words import percent, row_name
from cpclean.cleaning.question import Question
from cpclean.cleaning.session import CleaningSession
from cpclean.cleaning.strategies import NOISE
from cpclean.cleaning.view import SessionView
from cpclean.data.incomplete import Ints
from cpclean.data.rows import Floats

# With fewer rows that promise a gain, rows that may come to matter are listed too.
FEW = 50


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
    score : float
        What the order is by: the score of the session's strategy, or the gain if that does not go
        by gain. 0 where there is nothing to gain.
    frame_row
        What the frame calls the row, as `CleaningSession.frame_row` says it.
    """

    row: int
    column: str | None
    gain: float
    candidates: int
    holes: tuple[str, ...]
    score: float
    frame_row: Any


@dataclass(frozen=True)
class RowGain:
    """What knowing a row, or a cell of it, is expected to bring.

    Attributes
    ----------
    name : str
        As the reader knows it.
    gain : float
        In nats.
    of_all : float
        The gain as a share of the mean entropy of all predictions.
    """

    name: str
    gain: float
    of_all: float


def ranking(session: CleaningSession) -> list[Ranked]:
    """All rows that can be asked for, by the strategy's score; with strategy "cells", their cells.

    Each gain is that of the row on its own: after an answer the order may be another one. Rows
    with equal scores stand as they do in the frame that the table was made of.

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
    names = view.questions.row
    if view.table is not None:
        names = view.table.rows_kept[names]
    # What is left of nothing by rounding is nothing, and puts no row before another.
    helps, scores = view.question_gains > NOISE, _scores(view)
    gains = np.where(helps, view.question_gains, 0.0)
    scores = np.where(helps | np.isinf(scores), scores, 0.0)
    return [
        Ranked(
            row := int(view.questions.row[number]),
            view.questions.column[number],
            float(gains[number]),
            _candidates(view, row, number),
            tuple(view.cells(row)),
            float(scores[number]),
            view.frame_row(row),
        )
        for number in _best_first(scores, view.askable, names).tolist()
    ]


def rows_to_ask(session: CleaningSession) -> list[int]:
    """The rows that are worth asking for, for several people who answer at once.

    The first is the one that `session.ask` gives; none are left when the session is done. The
    order is that of the strategy's score; of equals, the smaller row comes first. Where a strategy
    goes by gain, rows that promise none come last, and those that are near to no uncertain
    validation point are left out.

    Examples
    --------
    >>> from cpclean import IncompleteDataset
    >>> rows = [[[0.0], [5.0]], [[1.0], [7.0]], [[6.0]], [[90.0], [99.0]]]
    >>> data = IncompleteDataset(rows, ["a", "b", "b", "a"])
    >>> rows_to_ask(CleaningSession(data, [[0.0]], n_neighbors=1))
    [0, 1]
    """
    view = session.view
    if view.stopped is not None:
        return []
    worth = view.askable & (view.scores > -np.inf)
    if view.goes_by_gain:
        worth &= view.question_gains > NOISE
    order = _best_first(view.scores, worth)
    later = _near_rows(view) if view.goes_by_gain and len(order) < FEW else []
    rows = view.questions.row
    return list(dict.fromkeys([int(rows[view.best]), *rows[order].tolist(), *later]))


def row_gains(session: CleaningSession, n: int) -> list[RowGain]:
    """The n rows whose cleaning is expected to bring most."""
    view = session.view
    questions = view.best_questions(n)
    names = {one.row: _with_own(one.row, one.frame_row) for one in questions}
    return gains_of(questions, view.mean_entropy, names)


def _with_own(row: int, own: Any) -> str:
    """A row's number, and what the frame calls it if that differs."""
    return f"{row}" if own == row else f"{row} (in the frame: {own})"


def gains_in_words(gains: Sequence[RowGain]) -> str:
    """What the best row is expected to bring."""
    if not gains:
        return "No row is left that could change a prediction."
    return (
        f"Knowing {gains[0].name} is expected to remove {percent(gains[0].of_all)} of the doubt in "
        "all predictions together."
    )


def gains_of(
    questions: Sequence[Question],
    entropy: float,
    row_names: Sequence[Any] | Mapping[int, Any] | None = None,
) -> list[RowGain]:
    """What the answers to questions are expected to bring, beside the mean entropy now."""
    return [
        RowGain(
            row_name(one.row, row_names) + ("" if one.column is None else f", {one.column}"),
            one.gain,
            one.gain / entropy if entropy > 0 else 0.0,
        )
        for one in questions
    ]


def _best_first(scores: Floats, worth: npt.NDArray[np.bool_], names: Ints | None = None) -> Ints:
    """The numbers of questions from the highest score on; equal ones by names, then in order."""
    keys = [-scores[worth]] if names is None else [names[worth], -scores[worth]]
    return np.flatnonzero(worth)[np.lexsort(keys)]


def _scores(view: SessionView) -> Floats:
    """By which questions are ranked: of strategies that do not go by gain, the gain."""
    return view.scores if view.goes_by_gain else view.question_gains


def _near_rows(view: SessionView) -> list[int]:
    """The rows that can be asked for and are near to an uncertain point, in ascending order."""
    near = np.concatenate([np.empty(0, np.int64), *view.near_open_rows()])
    return [int(row) for row in np.intersect1d(near, view.open_rows)]


def _candidates(view: SessionView, row: int, number: int) -> int:
    if view.questions.column[number] is None:
        return view.data.arrays.count(row)
    cell = open_cell(view.data, row, view.questions.spans[number])
    return 1 if cell is None else len(cell.values)
