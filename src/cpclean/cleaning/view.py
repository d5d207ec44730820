"""A read-only view of a session at one moment.

A `CleaningSession` has a new view after every answer. Code that shows, explains or forecasts reads
a view and nothing behind it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.cleaning.answers import put
from cpclean.cleaning.board import Board
from cpclean.cleaning.costs import Questions
from cpclean.cleaning.known import NOTHING, Known
from cpclean.cleaning.once import once
from cpclean.cleaning.question import Question
from cpclean.cleaning.row_candidates import Listing, RowCandidates
from cpclean.cleaning.state import Record, State
from cpclean.cleaning.strategies import NOISE, Plan, Situation, most_gain, pick
from cpclean.cleaning.subject import Subject, TableSubject
from cpclean.data.between import Between
from cpclean.data.columns import OTHER
from cpclean.data.incomplete import IncompleteDataset, Ints
from cpclean.data.points import Points
from cpclean.data.rows import Floats
from cpclean.data.spaces.filled_space import FilledSpace
from cpclean.data.table import IncompleteTable
from cpclean.queries.cell_gains import Span
from cpclean.queries.certain import is_certain
from cpclean.queries.model import Model
from cpclean.queries.sureness import is_sure, verdict_words

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Limits:
    """When a session stops before all validation points are settled."""

    budget: int | None
    target_share: float
    min_gain: float


@dataclass(frozen=True, eq=False)
class Setup:
    """What never changes in a session."""

    subject: Subject
    model: Model
    plan: Plan
    limits: Limits
    questions: Questions
    cost: Floats  # of each question
    sure: float | None  # the level at which points are settled that are not certain
    gains_by: str
    order: Ints  # each row's place in a random order

    @once
    def order_of_questions(self) -> Ints:
        """The place of each question's row in the random order."""
        return self.order[self.questions.row]

    @once
    def open_at_start(self) -> Bools:
        """Whether each question can be asked before anything is known."""
        return np.asarray(self.subject.data.candidate_counts[self.questions.row] > 1)


@dataclass(frozen=True)
class Value:
    """One cell of a row as a person sees it; a hole has no value, or a suspect one."""

    name: str
    value: Any
    hole: bool


@dataclass(frozen=True, eq=False)
class SessionView:
    """What a session knows and would ask. Made by `CleaningSession.view`.

    Questions are numbered: one per row with holes, or one per cell with strategy "cells".
    Two views show the same state if `version` is the same object.
    """

    setup: Setup
    version: State

    # -- what there is -----------------------------------------------------------------------

    @property
    def table(self) -> IncompleteTable | None:
        """The table that is being cleaned; None for a dataset."""
        subject = self.setup.subject
        return subject.table if isinstance(subject, TableSubject) else None

    @property
    def start(self) -> IncompleteDataset:
        """The data before the first answer."""
        return self.setup.subject.data

    @property
    def data(self) -> IncompleteDataset:
        """The data as it is known now."""
        return self._board.data

    @property
    def space(self) -> FilledSpace | None:
        """Where distances are measured now, if not between the vectors themselves."""
        return self._board.ground.start.space

    @property
    def model(self) -> Model:
        return self.setup.model

    @property
    def points(self) -> Points:
        """The validation points."""
        return self._board.points

    @property
    def history(self) -> list[Record]:
        """One record per answer."""
        return self.version.history

    # -- predictions -------------------------------------------------------------------------

    @property
    def certain(self) -> Bools:
        """Whether each validation point is certain; one with holes, in all its completions."""
        return self._board.certain

    @property
    def certain_share(self) -> float:
        """The share of validation points that are certain, completion by completion."""
        return self._board.certain_share

    @property
    def settled(self) -> Bools:
        """Whether each validation point is settled: certain or, with `sure`, that sure."""
        return self._board.settled

    @property
    def sure(self) -> float | None:
        """The level at which points are settled that are not certain; None if there is none."""
        return self.setup.sure

    @once
    def verdicts(self) -> npt.NDArray[np.str_]:
        """Whether each validation point is "certain", "sure" or "open", in all its completions."""
        return verdict_words(self.certain, self._board.sure)

    @once
    def sure_share(self) -> float:
        """The share of validation points that are sure, certain ones included."""
        return self._board.sure_share

    @property
    def settled_share(self) -> float:
        """The share of validation points that are settled, completion by completion."""
        return self._board.settled_share

    @property
    def certain_points(self) -> float:
        """The share of validation points all of whose completions are certain."""
        return float(self.certain.mean())

    @property
    def is_exact(self) -> bool:
        """Whether nothing is estimated from draws, neither of rows nor of points."""
        return self._board.ground.is_exact and self.points.is_exact

    @property
    def entropies(self) -> Floats:
        """The entropy of each validation point, in nats; the mean over its completions."""
        return self._board.entropies

    @property
    def mean_entropy(self) -> float:
        return self._board.mean_entropy

    @once
    def shares(self) -> Floats:
        """The class shares of all validation points, shape (n_points, n_classes)."""
        return self._board.shares(np.arange(self.points.n_points))

    @property
    def labels(self) -> Ints:
        """The class that most prior mass predicts for each validation point."""
        return self._board.labels

    @once
    def share_at_start(self) -> float:
        """The certain share before the first answer."""
        if not self.history:
            return self.certain_share
        model, vectors = self.model, self.points.vectors
        return self._board.share_of(
            is_certain(self.start, vectors, model.n_neighbors, model.metric)
        )

    @once
    def settled_at_start(self) -> float:
        """The settled share before the first answer."""
        if self.sure is None or not self.history:
            return self.share_at_start if self.sure is None else self.settled_share
        asked = (self.start, self.points.vectors, self.model.n_neighbors, self.model.metric)
        certain = is_certain(*asked)
        return self._board.share_of(certain | is_sure(*asked, level=self.sure))

    # -- rows --------------------------------------------------------------------------------

    @property
    def known(self) -> dict[int, dict[Any, Any]]:
        """What is known about each row, by column; for a dataset, by column number."""
        return {row: dict(one.raw or one.features) for row, one in self.version.known.items()}

    @property
    def rough(self) -> dict[int, dict[Any, Between]]:
        """What is known only roughly about rows, by column; for a dataset, by column number."""
        return {row: dict(one.rough) for row, one in self.version.known.items() if one.rough}

    def rough_of(self, row: int) -> dict[Any, Any]:
        """What is known only roughly about a row; for a category also that it is not listed."""
        one = self.known_of(row)
        return {**one.rough, **{name: value for name, value in one.raw.items() if value is OTHER}}

    def known_of(self, row: int) -> Known:
        """What is known about a row."""
        return self.version.known.get(row, NOTHING)

    @property
    def skipped(self) -> frozenset[int]:
        """The rows that were skipped."""
        return self.version.skipped

    def n_candidates(self, row: int) -> int:
        """How many candidates a row has now; 2**62 if there are even more."""
        return self._board.ground.count(row)

    def label(self, row: int) -> Any:
        """The label of a row."""
        return self.start.classes[self.start.codes[row]]

    def frame_row(self, row: int) -> Any:
        """What the frame calls a row: its index label, or its number among all rows."""
        return self.setup.subject.frame_row(row)

    def nearest(self, row: int) -> Floats:
        """How near a row may come to each vector of the points at most."""
        return self._board.nearest(row)

    def cells(self, row: int) -> dict[Any, Span]:
        """The uncertain cells of a row at the start, and the columns of the space they cover."""
        return self.setup.subject.cells(row)

    def candidate(self, row: int, number: int) -> Any:
        """One of the candidates that a row had at the start, in raw values."""
        return self.setup.subject.candidate(row, number)

    def listing(self, row: int) -> Listing:
        """What a row can be now, as its `question` lists it, and then what else a cell can be."""
        candidates = RowCandidates(self.setup.subject, self._board.ground, row, self.known_of(row))
        return candidates.listing(every_value=True)

    def listing_at_start(self, row: int) -> Listing:
        """The same before anything was known about the row."""
        candidates = RowCandidates(self.setup.subject, self.start, row, Known())
        return candidates.listing(every_value=True)

    def values(self, row: int) -> list[Value]:
        """The cells of a row; a known cell is not a hole any more. Empty for a dataset."""
        if self.table is None:
            return []
        known = self.known_of(row).raw
        return [
            Value(name, known.get(name, value), bool(hole) and name not in known)
            for (name, value), hole in zip(
                self.table.row(row).items(), self.table.holes[row], strict=True
            )
        ]

    # -- questions ---------------------------------------------------------------------------

    @property
    def questions(self) -> Questions:
        """All questions that there were at the start: their rows, columns, spans of columns."""
        return self.setup.questions

    @once
    def question_gains(self) -> Floats:
        """How much each answer is expected to lower the mean entropy, in nats."""
        return self.gains_on(self._board)

    @once
    def gains(self) -> Floats:
        """The same for each row, shape (n_rows,); with strategy "cells", that of its best cell."""
        best = np.zeros(self.start.n_rows)
        np.maximum.at(best, self.questions.row, self.question_gains)
        return best

    def gain_of(self, questions: Iterable[int]) -> float:
        """The largest gain of some questions; 0 if none has any."""
        numbers, board, most = self.questions.numbers, self._board, 0.0
        for one in questions:
            most = max(most, board.gain_at(numbers, one))
        return most

    @once
    def askable(self) -> Bools:
        """Whether each question can still be asked: not answered, not even roughly, not skipped."""
        questions, ground = self.questions, self._board.ground
        open_ = self.setup.open_at_start.copy()
        rows, several = np.array(ground.rows, np.int64), np.array(ground.counts, np.int64) > 1
        for some, is_open in ((rows[~several], False), (rows[several], True)):
            if len(some):
                open_[questions.about(some)] = is_open
        if closed := self.skipped | self.version.roughly:
            open_[questions.about(sorted(closed))] = False
        if self.setup.plan.by_cell:
            open_[questions.known_cells(self.version.known)] = False
        return open_

    def _can_ask(self, number: int) -> bool:
        """As in `askable`, of one question about a whole row."""
        row = int(self.questions.row[number])
        known = row in self._board.ground.told
        left = self._board.ground.count(row) > 1 if known else self.setup.open_at_start[number]
        return bool(left) and row not in self.skipped and row not in self.version.roughly

    @property
    def open_rows(self) -> Ints:
        """The rows that can still be asked about, in ascending order."""
        return np.unique(self.questions.row[self.askable])

    def near_open_rows(self) -> list[Ints]:
        """For every open point, the rows with holes that can be near it."""
        return self._board.open_rows()

    @once
    def best(self) -> int:
        """The number of the question to ask now; -1 if none is worth asking."""
        if self._most_gain >= 0:
            return self._most_gain
        return pick(self.setup.plan, self.situation, self.askable, self._board)

    @once
    def _most_gain(self) -> int:
        """The same if it is the question with the largest gain; else -1."""
        return most_gain(self.setup.plan, self._board, self.questions.numbers, self._can_ask)

    @once
    def situation(self) -> Situation:
        """What the strategy depends on."""
        return self._situation(self._board)

    @property
    def goes_by_gain(self) -> bool:
        """Whether the strategy never asks a question without a gain."""
        return self.setup.plan.by_gain

    @once
    def scores(self) -> Floats:
        """The strategy's score of every question; the highest is asked first."""
        return np.asarray(self.setup.plan.score(self.situation), dtype=np.float64)

    def question_at(self, number: int) -> Question:
        """The question with a number, out of order."""
        return self._question(self._board, number)

    def question(self, row: int) -> Question:
        """The question about a whole row, out of order; also one that has been answered."""
        gain = self.gain_of(self.questions.about_row(row))
        return Question(row, None, gain, self._board, self.setup.subject, self.known_of(row))

    def next_questions(self, n: int) -> list[Question]:
        """The next n questions, about different rows, for several people at once.

        Each is the best one if the likeliest answers to the questions before it are true.
        """
        if self.stopped is not None:
            return []
        found = [self.question_at(self.best)]
        if n == 1:
            return found
        board, askable = self._board, self.askable.copy()
        while len(found) < n:
            board = self._supposed(board, found[-1])
            askable &= self.questions.row != found[-1].row
            place = pick(self.setup.plan, self._situation(board), askable, board)
            if place < 0:
                break
            found.append(self._question(board, place))
        return found

    def best_questions(self, n: int) -> list[Question]:
        """The questions with the largest expected gain, at most one per row.

        Unlike `next_questions`, it assumes no answers, so that each gain holds by itself.
        """
        gains = np.where(self.askable, self.question_gains, -np.inf)
        found: dict[int, Question] = {}
        for place in np.argsort(-gains, kind="stable").tolist():
            if gains[place] <= NOISE or len(found) == n:
                break
            row = int(self.questions.row[place])
            if row not in found:
                found[row] = self.question_at(place)
        if not found and n > 0:  # without any gain, there may still be a question
            return self.next_questions(1)
        return list(found.values())

    @once
    def stopped(self) -> str | None:
        """Why there is nothing more to ask, in words; None while there is."""
        limits = self.setup.limits
        if self._board.all_settled:
            return f"all validation points are {self._promise}"
        if limits.budget is not None and self.version.n_answers >= limits.budget:
            answers = "1 answer" if limits.budget == 1 else f"{limits.budget} answers"
            return f"the budget of {answers} is spent"
        if self.settled_share >= limits.target_share:
            return f"{limits.target_share:.4g} or more of the validation points are {self._promise}"
        if self._most_gain < 0 and not self.askable.any():
            roughly = ", answered roughly" if self.version.roughly else ""
            return f"every row with holes is cleaned{roughly} or skipped"
        if limits.min_gain > 0 and self.question_gains[self.askable].max() < limits.min_gain:
            return f"no question is expected to gain {limits.min_gain:g} or more"
        if self.best < 0:
            left = "skipped or answered roughly" if self.version.roughly else "skipped"
            return (
                f"only rows that were {left} can settle the open validation points"
                if self.goes_by_gain
                else "the strategy gives every question that is left a score of -inf"
            )
        return None

    @property
    def _promise(self) -> str:
        """What is true of the settled points."""
        if self.sure is None or self._board.all_certain:
            return "certain"
        return f"certain or {100 * self.sure:.4g}% sure"

    # -- plumbing ----------------------------------------------------------------------------

    @property
    def _board(self) -> Board:
        return self.version.board

    def gains_on(self, board: Board) -> Floats:
        """The expected gain of every question on a board."""
        return board.gains(self.questions.numbers)

    def _situation(self, board: Board) -> Situation:
        return Situation(
            row=self.questions.row,
            column=self.questions.column,
            cost=self.setup.cost,
            order=self.setup.order_of_questions,
            n_answers=self.version.n_answers,
            numbers=self.questions.numbers,
            board=board,
        )

    def _question(self, board: Board, place: int) -> Question:
        row, column = int(self.questions.row[place]), self.questions.column[place]
        gain = board.gain_at(self.questions.numbers, place)
        return Question(row, column, gain, self._board, self.setup.subject, self.known_of(row))

    def _supposed(self, board: Board, question: Question) -> Board:
        """The board if the likeliest answer to a question is true."""
        supposed = board.copy()
        likeliest = question.answered(int(np.argmax(question.prior)))
        put(supposed, self.setup.subject, question.row, likeliest)
        # That all points are settled is only an assumption here: continue from what is known.
        return self._board if supposed.all_settled else supposed
