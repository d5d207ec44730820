"""A question for a person, and the reasons for asking it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from cpclean.cleaning.answers import put
from cpclean.cleaning.board import Board
from cpclean.cleaning.known import Known
from cpclean.cleaning.notebook_view import question_html
from cpclean.cleaning.row_candidates import CellValues, Listing, RowCandidates
from cpclean.cleaning.subject import Subject
from cpclean.data.incomplete import Ints
from cpclean.data.large_counts import count_text
from cpclean.data.rows import Floats, is_whole
from cpclean.errors import AnswerError

# Reasons are worked out for this many answers, the likeliest; each takes a look at the points.
MOST_ANSWERS = 64


@dataclass(frozen=True)
class Why:
    """What is at stake.

    Attributes
    ----------
    points : ndarray of int
        The open validation points, not settled yet, that the row can be near to.
    answers : list of int
        The candidates of the question that the next attributes are about; all of them, unless
        there are many.
    settles : list of ndarray of int
        For each answer, the validation points that would become settled.
    shares : ndarray of shape (n_points, n_classes)
        The class shares of `points` now.
    shares_after : ndarray of shape (n_answers, n_points, n_classes)
        The same after each answer.
    """

    points: Ints
    answers: list[int]
    settles: list[Ints]
    shares: Floats
    shares_after: Floats

    @property
    def change(self) -> Floats:
        """How each answer would change the mean class shares, shape (n_answers, n_classes)."""
        if not len(self.points):
            return np.zeros((len(self.answers), self.shares.shape[1]))
        return np.asarray(self.shares_after.mean(axis=1) - self.shares.mean(axis=0))


@dataclass(frozen=True, eq=False)
class Question:
    """A question about a row, or about one cell of it.

    Attributes
    ----------
    row : int
    column : name or number of a column, or None
        The cell that the question is about; None for the whole row.
    candidates : list
        The possible answers, in raw values. For a table, each is a dict from column to value. For
        a dataset, each is a list of numbers (or, for one cell, a dict from column number). Of more
        than 125, the likeliest are listed, from the top; of equally likely ones, those with smaller
        numbers.
    numbers : list of int or None
        The number of each candidate, as in `tell`. None if it is not a candidate that the row had
        at the start, because something about the row is known already, or for a cell.
    prior : ndarray
        How likely each candidate is, among all there are: it sums to 1 if all of them are listed.
    n_candidates : int
        How many candidates there are, listed or not; exact for any number of holes.
    cells : list of CellValues
        The open cells that the question is about, with all their values, the likeliest first: a
        row with many holes is best answered cell by cell.
    gain : float
        How much the mean entropy over the validation points is expected to fall, in nats.
    why : Why
        What is at stake, computed when it is first used.
    """

    row: int
    column: Any
    gain: float
    _board: Board = field(repr=False)
    _subject: Subject = field(repr=False)
    _known: Known = field(repr=False)

    @cached_property
    def _listing(self) -> Listing:
        """What is read of a question; a session that is only told answers needs none of it."""
        every = self._row_candidates()
        return every.listing() if self.column is None else every.of_cell(self.column)

    @property
    def candidates(self) -> list[Any]:
        return self._listing.candidates

    @property
    def numbers(self) -> list[int | None]:
        return self._listing.numbers

    @property
    def prior(self) -> Floats:
        return self._listing.prior

    @property
    def n_candidates(self) -> int:
        return self._listing.total

    @cached_property
    def cells(self) -> list[CellValues]:
        found = self._row_candidates().cells()
        return [one for one in found if self.column is None or one.column == self.column]

    @cached_property
    def why(self) -> Why:
        board, row = self._board, self.row
        points = board.touched(row)
        order = np.argsort(-self.prior, kind="stable")[:MOST_ANSWERS]
        answers = sorted(order.tolist())
        settles, after = [], []
        for number in answers:
            changed = board.copy()
            settles.append(put(changed, self._subject, row, self.answered(number)).settled)
            after.append(changed.shares(points))
        n_classes = board.ground.start.n_classes
        return Why(
            points,
            answers,
            settles,
            board.shares(points),
            np.array(after).reshape(len(answers), len(points), n_classes),
        )

    @property
    def frame_row(self) -> Any:
        """What the frame itself calls the row, as `CleaningSession.frame_row` says it."""
        return self._subject.frame_row(self.row)

    @cached_property
    def points(self) -> Ints:
        """The open validation points that the row can be near to, as in `why`."""
        return self._board.touched(self.row)

    def settles(self, number: int) -> Ints:
        """The validation points that one of the candidates would settle; quicker than `why`.

        Examples
        --------
        >>> from cpclean import CleaningSession, IncompleteDataset
        >>> data = IncompleteDataset([[[0.0], [5.0]], [[1.0], [7.0]], [[6.0]]], ["a", "b", "b"])
        >>> question = CleaningSession(data, [[0.0], [4.0]], n_neighbors=1).ask()
        >>> [question.settles(number).tolist() for number in range(2)]
        [[0, 1], [1]]
        """
        known = self.answered(number)
        if not known.narrowing:
            return np.empty(0, np.int64)
        return self._board.would_settle(self.row, known.narrowing, known.candidate)

    def answer(self, number: int) -> dict[str, Any]:
        """The answer that one of the candidates is true, in the form of `answers` and `tell`.

        Examples
        --------
        >>> from cpclean import CleaningSession, IncompleteDataset
        >>> data = IncompleteDataset([[[0.0], [5.0]], [[1.0], [7.0]], [[6.0]]], ["a", "b", "b"])
        >>> session = CleaningSession(data, [[0.0]], n_neighbors=1)
        >>> question = session.ask()
        >>> question.answer(1)
        {'row': 0, 'candidate': 1}
        >>> session.tell(**question.answer(1)).kind
        'answer'
        """
        if not is_whole(number) or not 0 <= number < len(self.candidates):
            raise AnswerError(
                f"the question about row {self.row} has candidates 0 to "
                f"{len(self.candidates) - 1}; got {number!r}."
            )
        chosen = self.numbers[number]
        if chosen is not None:
            return {"row": self.row, "candidate": chosen}
        said = self._subject.said(self.row, self.candidates[number])
        return {"row": self.row, "value": self._subject.plain(said)}

    def answered(self, number: int) -> Known:
        """What would be known about the row if one of the candidates were true."""
        chosen = self.numbers[number]
        if chosen is not None:
            return self._subject.chosen(self.row, chosen)
        return self._known.and_(self._subject.said(self.row, self.candidates[number]))

    def drawn(self, rng: np.random.Generator) -> dict[str, Any]:
        """An answer that is as likely as the prior says, in the form of `answers` and `tell`."""
        if len(self.candidates) == self.n_candidates:
            return self.answer(int(rng.choice(len(self.prior), p=self.prior / self.prior.sum())))
        if self.column is None:
            found = self._row_candidates().drawn(rng)
            if isinstance(found, int):
                return {"row": self.row, "candidate": found}
        else:
            (cell,) = self.cells
            place = int(rng.choice(len(cell.prior), p=cell.prior / cell.prior.sum()))
            found = self._subject.answer_in(self.column, cell.values[place])
        return {"row": self.row, "value": self._subject.plain(self._subject.said(self.row, found))}

    def __repr__(self) -> str:
        names = ("row", "column", "candidates", "numbers", "prior", "n_candidates", "gain")
        return f"Question({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    def _row_candidates(self) -> RowCandidates:
        return RowCandidates(self._subject, self._board.ground, self.row, self._known)

    def _repr_html_(self) -> str:
        return question_html(self)

    def __str__(self) -> str:
        own = self.frame_row
        what = f"row {self.row}" if own == self.row else f"row {self.row} (in the frame: {own!r})"
        what = what if self.column is None else f"{what}, {self.column!r}"
        near = len(self.points)
        points = "1 open validation point" if near == 1 else f"{near} open validation points"
        return (
            f"{what}: {count_text(self.n_candidates)} candidates, expected to lower the mean "
            f"entropy by {self.gain:.2g} nats; near {points}"
        )
