"""Why a row is worth a look, in words."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cpclean.analysis.words import count, listed, percent, row_name, shown, small
from cpclean.cleaning.question import Question
from cpclean.cleaning.view import SessionView, Value
from cpclean.data.spaces.trees import Trees

MOST_SHOWN = 6  # answers of one row
MOST_CELLS = 40  # values of one row
MOST_WAYS = 5000  # candidates beyond which answers are not gone through one by one
MOST_ANSWERS = 64  # of which the likeliest are gone through


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
    trees : (int, int) or None
        Among leaves: in how many trees at most the row can be in the same leaf as one of the open
        predictions, and how many trees there are.
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
    trees: tuple[int, int] | None = None
    settled: str = "certain"

    @property
    def cells(self) -> list[Value]:
        """The values to show: all, or those of a wide table's holes first."""
        if len(self.values) <= MOST_CELLS:
            return self.values
        return sorted(self.values, key=lambda one: not one.hole)[:MOST_CELLS]

    @property
    def words(self) -> str:
        """The reason in two or three sentences."""
        one_only = self.n_points == 1
        near = "one open prediction" if one_only else count(self.n_points, "open prediction")
        told = [f"This row can be among the nearest rows of {near}{self._together}."]
        if self.expected is not None:
            told.append(self._settled)
        told.append(
            f"Knowing it is expected to remove {percent(self.of_all)} of the doubt in all "
            "predictions together."
        )
        return " ".join(told)

    @property
    def _together(self) -> str:
        """How near it can be, among leaves."""
        if self.trees is None:
            return ""
        which = "it" if self.n_points == 1 else "one of them"
        same, total = self.trees
        return f": in the same leaf as {which} in up to {same:,} of {count(total, 'tree')}"

    @property
    def _settled(self) -> str:
        """What the answers would settle, in a sentence."""
        one_only = self.n_points == 1
        most = max(self.outcomes, key=lambda one: (one.settles, one.prior))
        if most.settles == 0:
            settled, clearer = ("it", "it") if one_only else ("any of them", "them")
            return (
                f"No likely answer makes {settled} {self.settled}, but an answer makes {clearer} "
                "clearer."
            )
        alike = all(one.settles == most.settles for one in self.outcomes) and not self.n_more
        if alike and one_only:
            return f"Whatever the answer, it becomes {self.settled}."
        if alike:
            become = count(most.settles, "of them becomes", "of them become")
            return f"Whatever the answer, {become} {self.settled}."
        if one_only:
            chance = percent(self.expected or 0.0)
            return f"The chance that the answer makes it {self.settled} is {chance}."
        return (
            f"On average an answer makes {small(self.expected or 0.0)} of them {self.settled}; "
            f"{most.answer} would make {most.settles:,} {self.settled}."
        )


def reasons(
    view: SessionView,
    questions: Sequence[Question],
    row_names: Sequence[Any] | None = None,
    seconds: float = 6.0,
) -> list[Reason]:
    """Why each question is worth asking, and what each answer would settle.

    To go through the answers, the points are looked at once per answer; when this much time is
    spent, the remaining reasons only say what the row is expected to bring.

    Parameters
    ----------
    view : SessionView
    questions : sequence of Question
        Such as ``view.best_questions(10)``.
    row_names : sequence, optional
        What the reader calls each row.
    seconds : float
    """
    end = time.perf_counter() + seconds
    return [_reason(view, question, row_names, end) for question in questions]


def _reason(
    view: SessionView, question: Question, row_names: Sequence[Any] | None, end: float
) -> Reason:
    row, entropy = question.row, view.mean_entropy
    outcomes = _outcomes(question, end) if question.n_candidates <= MOST_WAYS else []
    expected = None
    if outcomes:
        mass = sum(one.prior for one in outcomes)
        found = sum(one.prior * one.settles for one in outcomes)
        expected = found / mass if mass > 0 else 0.0
        outcomes = outcomes[:MOST_SHOWN]
    values = view.values(row)
    return Reason(
        row=row,
        name=row_name(row, row_names),
        label=shown(view.label(row)),
        values=values,
        asked=_asked(view, question, values),
        gain=question.gain,
        of_all=question.gain / entropy if entropy > 0 else 0.0,
        n_points=len(question.points),
        expected=expected,
        outcomes=outcomes,
        n_more=question.n_candidates - len(outcomes),
        trees=_trees(view, question),
        settled="certain" if view.sure is None else "settled",
    )


def _trees(view: SessionView, question: Question) -> tuple[int, int] | None:
    """In how many trees a row can share a leaf with a point that it matters to, and of how many."""
    trees, points = view.space, view.points
    entries = np.isin(points.owner, question.points)
    if not isinstance(trees, Trees) or not entries.any():
        return None
    distances = view.nearest(question.row)[np.unique(points.vector[entries])]
    return trees.n_trees - int(distances.min()), trees.n_trees


def _outcomes(question: Question, end: float) -> list[Outcome]:
    """What the likeliest answers would settle, those first; none if it takes until after `end`."""
    found = []
    for number in np.argsort(-question.prior, kind="stable")[:MOST_ANSWERS].tolist():
        if time.perf_counter() > end:
            return []
        settles = len(question.settles(number))
        text = answer_text(question.candidates[number])
        found.append(Outcome(text, float(question.prior[number]), settles))
    return sorted(found, key=lambda one: (-one.prior, -one.settles))


def answer_text(candidate: Any) -> str:
    """A candidate as people read it: "age = 41, city = Rome".

    >>> answer_text({"age": 41.0, "city": "Rome"}), answer_text([0.5, 2.0])
    ('age = 41, city = Rome', '(0.5, 2)')
    """
    if isinstance(candidate, dict):
        return ", ".join(f"{name} = {shown(value)}" for name, value in candidate.items())
    values = [shown(one) for one in candidate]
    return f"({listed(values, 8) if len(values) > 8 else ', '.join(values)})"


def _asked(view: SessionView, question: Question, values: Sequence[Value]) -> str:
    if question.column is not None:
        return str(question.column)
    if view.table is not None:
        return listed([one.name for one in values if one.hole])
    places = view.cells(question.row)
    return f"column {listed([str(place) for place in places])}"
