"""Why a row is worth a look, in words."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cpclean.analysis.look import best_questions, table_of, values_of
from cpclean.analysis.words import count, listed, percent, shown, small
from cpclean.cleaning.question import Question
from cpclean.cleaning.session import CleaningSession
from cpclean.cleaning.view import Value

MOST_SHOWN = 6  # answers of one row
MOST_CELLS = 40  # values of one row
MOST_WAYS = 5000  # candidates beyond which answers are not gone through one by one


@dataclass(frozen=True)
class Outcome:
    """One possible answer: what it is, how likely, and how many predictions it settles."""

    answer: str
    prior: float
    settles: int


@dataclass(frozen=True)
class Reason:
    """A row, its raw values, and what is at stake.

    Attributes
    ----------
    row : int
        As the session numbers it.
    name : str
        As the reader knows it.
    label : str
    values : list of Value
    asked : str
        The holes that are asked for.
    gain : float
    of_all : float
        The gain as a share of the mean entropy of all predictions.
    n_points : int
        Open predictions to which the row can be near.
    expected : float or None
        How many predictions an answer settles on average; None if answers were not gone through.
    outcomes : list of Outcome
        The likeliest answers first.
    n_more : int
        Answers that are not shown.
    """

    row: int
    name: str
    label: str
    values: list[Value]
    asked: str
    gain: float
    of_all: float
    n_points: int
    expected: float | None
    outcomes: list[Outcome]
    n_more: int

    @property
    def cells(self) -> list[Value]:
        """The values to show: all, or those of a wide table's holes first."""
        if len(self.values) <= MOST_CELLS:
            return self.values
        return sorted(self.values, key=lambda one: not one.hole)[:MOST_CELLS]

    @property
    def words(self) -> str:
        """The reason in two or three sentences."""
        if self.n_points == 1:
            near, them, become, clearer = "one open prediction", "it", "it becomes", "it"
        else:
            near = count(self.n_points, "open prediction")
            them, become, clearer = "one of them", "", "them"
        said = f"It can be among the nearest rows of {near}."
        if self.expected is None:
            return f"{said} {_gain_in_words(self)}"
        most = max(self.outcomes, key=lambda one: (one.settles, one.prior))
        alike = all(one.settles == most.settles for one in self.outcomes) and not self.n_more
        if most.settles == 0:
            settled = f"No likely answer settles {them} for good, but it makes {clearer} clearer."
        elif alike:
            become = become or count(most.settles, "of them becomes", "of them become")
            settled = f"Whatever the answer, {become} certain."
        elif self.n_points == 1:
            settled = f"With a chance of {percent(self.expected)} the answer makes it certain."
        else:
            settled = (
                f"On average an answer makes {small(self.expected)} of them certain; "
                f"{most.answer} would make {most.settles:,} certain."
            )
        return f"{said} {settled} {_gain_in_words(self)}"


def reasons(
    session: CleaningSession,
    n: int,
    row_names: Sequence[Any] | None = None,
    seconds: float = 6.0,
) -> list[Reason]:
    """The rows that matter most, with what each answer would settle.

    Going through the answers takes a look at the points for each; after so many seconds the rest
    of the rows get their gain only.
    """
    end = time.perf_counter() + seconds
    return [
        _reason(session, question, row_names, in_full=time.perf_counter() < end)
        for question in best_questions(session, n)
    ]


def _reason(
    session: CleaningSession, question: Question, row_names: Sequence[Any] | None, in_full: bool
) -> Reason:
    row, entropy = question.row, session.mean_entropy
    data = session.data
    outcomes: list[Outcome] = []
    expected = None
    in_full = in_full and len(question.candidates) <= MOST_WAYS
    if in_full:
        why = question.why
        mass = question.prior[why.answers]
        settles = np.array([len(one) for one in why.settles])
        expected = float(mass @ settles / mass.sum()) if mass.sum() > 0 else 0.0
        order = np.lexsort((-settles, -mass))
        outcomes = [
            Outcome(
                answer_text(question.candidates[why.answers[at]]),
                float(mass[at]),
                int(settles[at]),
            )
            for at in order.tolist()
        ][:MOST_SHOWN]
    values = values_of(session, row)
    return Reason(
        row=row,
        name=f"row {row if row_names is None else row_names[row]}",
        label=shown(data.labels[row]),
        values=values,
        asked=_asked(session, question, values),
        gain=question.gain,
        of_all=question.gain / entropy if entropy > 0 else 0.0,
        n_points=len(question.points),
        expected=expected,
        outcomes=outcomes,
        n_more=len(question.candidates) - len(outcomes),
    )


def answer_text(candidate: Any) -> str:
    """A candidate as people read it: "age = 41, city = Rome".

    >>> answer_text({"age": 41.0, "city": "Rome"}), answer_text([0.5, 2.0])
    ('age = 41, city = Rome', '(0.5, 2)')
    """
    if isinstance(candidate, dict):
        return ", ".join(f"{name} = {shown(value)}" for name, value in candidate.items())
    return (
        f"({listed([shown(one) for one in candidate], 8)})"
        if len(candidate) > 8
        else (f"({', '.join(shown(one) for one in candidate)})")
    )


def _asked(session: CleaningSession, question: Question, values: Sequence[Value]) -> str:
    if question.column is not None:
        return str(question.column)
    if table_of(session) is not None:
        return listed([one.name for one in values if one.hole])
    places = session.view.cells(question.row)
    return f"column {listed([str(place) for place in places])}"


def _gain_in_words(reason: Reason) -> str:
    return (
        f"Knowing it is expected to remove {percent(reason.of_all)} of the doubt in all "
        "predictions together."
    )
