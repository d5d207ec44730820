"""What a session shows of itself, taken from it in one place.

A report looks deeper into a session than its public face goes: the encoded validation points, the
shares of all of them, questions about rows that are not the next one. This is where it does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.cleaning.question import Question
from cpclean.cleaning.session import CleaningSession
from cpclean.cleaning.strategies import NOISE
from cpclean.cleaning.subject import TableSubject
from cpclean.data.rows import Floats
from cpclean.data.table import IncompleteTable
from cpclean.queries.certain import is_certain


@dataclass(frozen=True)
class Outlook:
    """The predictions of some points: shares of the classes, and whether each is certain."""

    shares: Floats
    certain: npt.NDArray[np.bool_]

    @property
    def winners(self) -> Floats:
        """The share of the label that wins, shape (n_points,)."""
        return np.asarray(self.shares.max(axis=1))


def outlook(session: CleaningSession) -> Outlook:
    """The validation points under what is known now."""
    certain = session.certain
    return Outlook(session._state.board.shares(np.arange(len(certain))), certain)


def table_of(session: CleaningSession) -> IncompleteTable | None:
    """The table that is cleaned; None for a dataset."""
    subject = session._subject
    return subject.table if isinstance(subject, TableSubject) else None


def points_of(session: CleaningSession) -> Floats:
    """The validation points in the encoded space; given distances, if the metric is that."""
    asked = session._state.board._asked
    return np.asarray(asked.points[asked.inverse])


def share_at_start(session: CleaningSession) -> float:
    """The certain share before anything was told."""
    if not session.history:
        return session.certain_share
    found = is_certain(
        session._subject.data, points_of(session), session.n_neighbors, session.metric
    )
    return float(found.mean())


def best_questions(session: CleaningSession, n: int) -> list[Question]:
    """The questions with the largest expected gain, each asked on its own.

    `session.ask(n)` supposes the answers to those before; here nothing is supposed, so that each
    reason stands alone. At most one question a row.
    """
    board = session._state.board
    gains = np.where(session._askable(), session._gains(board), -np.inf)
    found: dict[int, Question] = {}
    for place in np.argsort(-gains, kind="stable").tolist():
        if gains[place] <= NOISE or len(found) == n:
            break
        row = int(session._questions.row[place])
        if row not in found:
            found[row] = session._question(board, place)
    if not found and n > 0:
        question = session.ask()  # where no row promises a gain, one may still be asked for
        return [] if question is None else [question]
    return list(found.values())


@dataclass(frozen=True)
class Value:
    """One cell of a row as a person sees it; a hole has no value, or one that is doubted."""

    name: str
    value: Any
    hole: bool


def values_of(session: CleaningSession, row: int) -> list[Value]:
    """A row cell by cell; what has been told of it is no hole any more. Empty for a dataset."""
    table = table_of(session)
    if table is None:
        return []
    known = session._state.known.get(row)
    told = {} if known is None else known.raw
    return [
        Value(name, told.get(name, value), bool(hole) and name not in told)
        for (name, value), hole in zip(table.row(row).items(), table.holes[row], strict=True)
    ]
