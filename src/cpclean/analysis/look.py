"""What a session shows of itself, taken from it in one place.

A report looks deeper into a session than its public face goes: the encoded validation points, the
shares of all of them, questions about rows that are not the next one. This is where it does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cpclean.cleaning.question import Question
from cpclean.cleaning.session import CleaningSession
from cpclean.cleaning.view import Value
from cpclean.data.rows import Floats
from cpclean.data.table import IncompleteTable


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
    return Outlook(session.view.shares, certain)


def table_of(session: CleaningSession) -> IncompleteTable | None:
    """The table that is cleaned; None for a dataset."""
    return session.view.table


def points_of(session: CleaningSession) -> Floats:
    """The validation points in the encoded space; given distances, if the metric is that."""
    return session.view.points.all_vectors()


def share_at_start(session: CleaningSession) -> float:
    """The certain share before anything was told."""
    return session.view.share_at_start


def best_questions(session: CleaningSession, n: int) -> list[Question]:
    """The questions with the largest expected gain, each asked on its own.

    `session.ask(n)` supposes the answers to those before; here nothing is supposed, so that each
    reason stands alone. At most one question a row.
    """
    return session.view.best_questions(n)


def values_of(session: CleaningSession, row: int) -> list[Value]:
    """A row cell by cell; what has been told of it is no hole any more. Empty for a dataset."""
    return session.view.values(row)
