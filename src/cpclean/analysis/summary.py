"""Does missingness matter here? Facts about a table with holes and what to clean."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from cpclean.analysis.certain_words import Standing
from cpclean.cleaning.session import CleaningSession
from cpclean.errors import CPCleanError

# How many questions ahead a summary looks.
AHEAD = 10
# A gain that is only the rounding of sums, in nats.
NOTHING = 1e-12


@dataclass(frozen=True)
class Summary:
    """A table with holes, and what the holes mean for the predictions of validation points.

    Attributes
    ----------
    rows, columns : int
        Of the training table; the label is not counted as a column.
    rows_with_holes, cells_missing : int
        Before any answer; doubted cells count.
    worlds : str
        How many complete tables it stands for, as "10^62.9" where it is a million or more.
    points : int
        Validation points.
    points_with_holes : int
        Those of them that have several completions.
    certain : int
        Validation points of which every completion is certain.
    certain_share : float
        The share of completions that are certain, by weight; each complete point has one.
    mean_entropy : float
        Of the validation points, in nats.
    accuracy : float or None
        The share of validation points whose label most prior mass predicts; None without labels.
    majority : float or None
        The share of validation points that have the most frequent label of the training rows.
    rows_that_help : int
        Rows whose cleaning is expected to take something from the mean entropy.
    first_rows : tuple of int
        The rows that would be asked for first, at most ten, and none that brings nothing.
    first_lines : tuple of int
        On which lines of their file these begin; empty where that is not known.
    expected_fall : float
        What these together are expected to take from the mean entropy, roughly: each gain is the
        one expected if the likeliest candidates of the rows before it turn out to be true.
    sure, open : int
        Other validation points of which every completion is sure, and the rest.
    sure_level : float
        At which they are sure: that of the session, or 0.95.
    sure_share : float
        The share of completions that are certain or sure.
    settled, settled_share
        The same of those that are settled: certain or, in a session with a level, that sure.
    until_sure : bool
        Whether the session has a level, so that sure points are settled, too.
    """

    rows: int
    columns: int
    rows_with_holes: int
    cells_missing: int
    worlds: str
    points: int
    points_with_holes: int
    certain: int
    certain_share: float
    mean_entropy: float
    accuracy: float | None
    majority: float | None
    rows_that_help: int
    first_rows: tuple[int, ...]
    expected_fall: float
    sure: int
    open: int
    sure_level: float
    sure_share: float
    settled: int
    settled_share: float
    until_sure: bool
    first_lines: tuple[int, ...] = ()

    @property
    def unsettled(self) -> int:
        """Validation points that are not settled."""
        return self.points - self.settled

    @property
    def standing(self) -> Standing:
        """How many are certain, sure and open; as text, in words."""
        return Standing.in_numbers(self)


def summary(session: CleaningSession) -> Summary:
    """The facts about a session's table and its validation points, as they are now.

    Parameters
    ----------
    session : CleaningSession
        Over a table; with strategy "cells", the questions ahead are cells.

    Examples
    --------
    >>> import pandas as pd
    >>> from cpclean import CleaningSession, IncompleteTable
    >>> frame = pd.DataFrame({"size": [1, 2, None, 8, 9], "age": [3, 1, 2, 1, 2]})
    >>> table = IncompleteTable(frame, label=["s", "s", "s", "l", "l"])
    >>> points = pd.DataFrame({"size": [1, 8], "age": [3, 2]})
    >>> session = CleaningSession(table, points, n_neighbors=1)
    >>> facts = summary(session)
    >>> facts.rows_with_holes, facts.worlds, facts.certain_share, facts.first_rows
    (1, '5', 0.5, (2,))
    """
    table = session.view.table
    if table is None:
        raise CPCleanError("a summary is about a table; this session cleans a dataset.")
    asked = session.ask(AHEAD)
    ahead = [question for question in asked if question.gain > NOTHING]
    known, usual, counts = session.y_val, usual_label(session), table.counts
    return Summary(
        rows=counts.n_rows,
        columns=len(table.names),
        rows_with_holes=counts.n_dirty,
        cells_missing=sum(counts.n_holes),
        worlds=worlds_text(session.data.n_worlds),
        **Standing.of(session.view).numbers,
        mean_entropy=session.mean_entropy,
        accuracy=None if known is None else session.accuracy(),
        majority=None if known is None else float(np.mean(known == usual)),
        rows_that_help=int((session.gains() > NOTHING).sum()),
        first_rows=tuple(question.row for question in ahead),
        expected_fall=float(sum(question.gain for question in ahead)),
    )


def usual_label(session: CleaningSession) -> Any:
    """The most frequent label of the training rows; the first of equals."""
    return session.data.classes[int(np.argmax(class_sizes(session)))]


def class_sizes(session: CleaningSession) -> list[int]:
    """How many training rows have each label."""
    data, table = session.data, session.view.table
    if table is not None:
        return list(table.counts.class_sizes)
    found: list[int] = np.bincount(data.codes, minlength=data.n_classes).tolist()
    return found


def worlds_text(number: int) -> str:
    """How many worlds, in few characters.

    >>> worlds_text(5**90), worlds_text(625)
    ('10^62.9', '625')
    """
    exponent = worlds_exponent(number)
    return str(number) if exponent is None else f"10^{exponent}"


def worlds_exponent(number: int) -> str | None:
    """The exponent of a number of worlds that is written as a power of ten; None if it is small.

    >>> worlds_exponent(5**90), worlds_exponent(625)
    ('62.9', None)
    """
    return None if number < 10**6 else f"{math.log10(number):.1f}"
