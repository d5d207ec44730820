"""CleaningSession: ask which row to clean, tell its true value, stop when it is enough."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from cpclean.cleaning.answers import checked_log, put, replayed, said
from cpclean.cleaning.board import Board, Change
from cpclean.cleaning.costs import checked_costs, questions_of
from cpclean.cleaning.question import Question, question_about
from cpclean.cleaning.settings import checked_labels, checked_limits, checked_seed
from cpclean.cleaning.state import Record, State
from cpclean.cleaning.strategies import Situation, pick, plan_named
from cpclean.cleaning.subject import Known, subject_of
from cpclean.data.incomplete import IncompleteDataset
from cpclean.data.rows import Floats, is_whole
from cpclean.errors import CPCleanError
from cpclean.queries.geometry import Metric

if TYPE_CHECKING:
    from cpclean.classifier import CertainKNeighborsClassifier
    from cpclean.report.page import Report


class CleaningSession:
    """Clean the rows that matter for the predictions of validation points.

    What a session knows is a function of the data, the validation points and `answers`: told
    again to a new session, in this order, they give the same state and the same next question.

    Parameters
    ----------
    data : IncompleteTable or IncompleteDataset
    X_val : frame with the table's columns, or array of shape (n_points, n_features)
        Complete validation points; with metric "precomputed", their distances to all candidates.
        A table's label column may be among the columns; it is not looked at.
    n_neighbors : int
        How many nearest rows vote, from 1 to the number of rows.
    strategy : {"cpclean", "random", "cells", "cost"} or function
        See `cpclean.cleaning.strategies`.
    y_val : sequence of labels, optional
        Only used by `accuracy`.
    random_state : int, optional
        Of strategy "random"; drawn if None, and kept as an attribute: give it to a session that
        replays the answers of this one.
    metric : str or callable
        As in `world_shares`.
    costs : array of one cost a row, or dict from column to cost, optional
        For strategies "cost" and "cells". With a dict, a row costs the sum of its holes.
    budget : int, optional
        Stop after so many answers, corrections included.
    target_share : float
        Stop when this share of the validation points is certain.
    min_gain : float
        Stop when no question is expected to gain as much, in nats.
    n_jobs : int, optional
        Threads for the first look at all validation points.

    Attributes
    ----------
    answers : list of dict
        Everything told and skipped so far, in plain values that JSON can hold.
    history : list of Record
        One record an answer.
    stopped : str or None
        Why there is nothing more to ask, in words.
    done : bool
        Whether there is nothing more to ask.

    Notes
    -----
    A session can be pickled, if its strategy and its metric can. What cannot be taken in raises
    an error and changes nothing, and so does a Ctrl-C.

    Examples
    --------
    >>> from cpclean import CleaningSession, IncompleteDataset
    >>> data = IncompleteDataset([[[0.0], [5.0]], [[1.0], [7.0]], [[6.0]]], ["a", "b", "b"])
    >>> session = CleaningSession(data, [[0.0]], n_neighbors=1)
    >>> question = session.ask()
    >>> question.row, question.candidates
    (0, [[0.0], [5.0]])
    >>> session.tell(question.row, candidate=0).certain_share
    1.0
    >>> session.stopped
    'all validation points are certain'
    """

    def __init__(
        self,
        data: Any,
        X_val: Any,
        n_neighbors: int = 3,
        strategy: Any = "cpclean",
        y_val: Any = None,
        random_state: int | None = None,
        *,
        metric: Metric = "euclidean",
        costs: Any = None,
        budget: int | None = None,
        target_share: float = 1.0,
        min_gain: float = 0.0,
        n_jobs: int | None = None,
    ) -> None:
        self._subject = subject_of(data)
        self._plan = plan_named(strategy)
        if self._plan.needs_costs and costs is None:
            raise CPCleanError(
                'strategy "cost" needs costs: one a row, or a dict from column to cost.'
            )
        self.n_neighbors, self.metric, self.strategy = n_neighbors, metric, strategy
        limits = checked_limits(budget, target_share, min_gain)
        self.budget, self.target_share, self.min_gain = limits
        self.random_state = checked_seed(random_state)
        start = self._subject.data
        self._questions = questions_of(self._subject, self._plan.by_cell)
        self._cost = checked_costs(costs, self._subject, self._questions)
        self._order = np.random.default_rng(self.random_state).permutation(start.n_rows)
        points = X_val if metric == "precomputed" else self._subject.points(X_val)
        cells = self._questions.cells if self._plan.by_cell else None
        board = Board(start, points, n_neighbors, metric, cells, n_jobs)
        self.y_val = checked_labels(y_val, len(board.certain), start.classes)
        self._state = State(board)
        self._next: tuple[State, int] | None = None  # the question picked last, and when

    # -- looking ---------------------------------------------------------------------------

    @property
    def data(self) -> IncompleteDataset:
        """The data as it is known now."""
        return self._state.board.data

    @property
    def certain(self) -> npt.NDArray[np.bool_]:
        """Whether each validation point is certain."""
        return self._state.board.certain

    @property
    def certain_share(self) -> float:
        """The share of validation points that are certain."""
        return self._state.board.certain_share

    @property
    def mean_entropy(self) -> float:
        """The mean entropy of the validation points, in nats."""
        return self._state.board.mean_entropy

    @property
    def answers(self) -> list[dict[str, Any]]:
        return json.loads(json.dumps(self._state.log))  # type: ignore[no-any-return]

    @property
    def history(self) -> list[Record]:
        return self._state.history

    @property
    def known(self) -> dict[int, dict[Any, Any]]:
        """What was told of each row, by column; for a dataset, by column number."""
        return {row: dict(one.raw or one.features) for row, one in self._state.known.items()}

    @property
    def stopped(self) -> str | None:
        """Why there is nothing more to ask, in words; None while there is."""
        if self._state.board.all_certain:
            return "all validation points are certain"
        if self.budget is not None and len(self.history) >= self.budget:
            answers = "1 answer" if self.budget == 1 else f"{self.budget} answers"
            return f"the budget of {answers} is spent"
        if self.certain_share >= self.target_share:
            return f"{self.target_share:.4g} or more of the validation points are certain"
        askable = self._askable()
        if not askable.any():
            return "every row with holes is cleaned or skipped"
        if self.min_gain > 0 and self._gains(self._state.board)[askable].max() < self.min_gain:
            return f"no question is expected to gain {self.min_gain:g} or more"
        if self._best() < 0:
            return (
                "only rows that were skipped can settle the uncertain validation points"
                if self._plan.by_gain
                else "the strategy scores everything that is left -inf"
            )
        return None

    @property
    def done(self) -> bool:
        return self.stopped is not None

    def gains(self) -> Floats:
        """What cleaning each row is expected to take from the mean entropy, shape (n_rows,).

        With strategy "cells", a row's best cell.
        """
        best = np.zeros(self.data.n_rows)
        np.maximum.at(best, self._questions.row, self._gains(self._state.board))
        return best

    def accuracy(self) -> float:
        """The share of validation points whose label most prior mass predicts; needs y_val."""
        if self.y_val is None:
            raise CPCleanError("accuracy needs the labels of the validation points: y_val=...")
        shares = self._state.board.shares(np.arange(len(self.y_val)))
        return float(np.mean(self.data.classes[shares.argmax(axis=1)] == self.y_val))

    # -- asking ----------------------------------------------------------------------------

    @overload
    def ask(self) -> Question | None: ...
    @overload
    def ask(self, n: int) -> list[Question]: ...
    def ask(self, n: int | None = None) -> Question | list[Question] | None:
        """What to clean next; None, or fewer questions than wanted, when there is no more to ask.

        Asking changes nothing: until something is told or skipped, the question is the same.

        Parameters
        ----------
        n : int, optional
            Ask about n different rows, for several people at once. Each question is the best one
            if the likeliest candidates of those before it turn out to be true; its gain is the one
            expected then.

        Returns
        -------
        Question or None; with n, a list of at most n Questions
        """
        if n is not None and (not is_whole(n) or n < 1):
            raise CPCleanError(f"n must be None or an int of at least 1; got {n!r}.")
        found: list[Question] = []
        if not self.done:
            board, askable, place = self._state.board, self._askable(), self._best()
            found.append(self._question(board, place))
            while len(found) < (n or 1):
                board = self._supposed(board, found[-1])
                askable &= self._questions.row != found[-1].row
                place = pick(self._plan, self._situation(board), askable, board)
                if place < 0:
                    break
                found.append(self._question(board, place))
        return (found[0] if found else None) if n is None else found

    def question(self, row: int) -> Question:
        """The question about a whole row, out of order; also about one that is answered."""
        row = self._row(row)
        known = self._state.known.get(row, Known())
        gain = float(self.gains()[row])
        return question_about(self._subject, self._state.board, row, None, known, gain)

    def _best(self) -> int:
        """The number of the question to ask now; -1 if none is worth asking."""
        state = self._state
        if self._next is None or self._next[0] is not state:
            situation = self._situation(state.board)
            self._next = state, pick(self._plan, situation, self._askable(), state.board)
        return self._next[1]

    def _supposed(self, board: Board, question: Question) -> Board:
        """The board if the likeliest answer to a question is true."""
        supposed = board.copy()
        likeliest = question.answered(int(np.argmax(question.prior)))
        put(supposed, self._subject, question.row, likeliest)
        # All certain is supposed, not known: go on from what is.
        return self._state.board if supposed.all_certain else supposed

    def _askable(self) -> npt.NDArray[np.bool_]:
        rows = self._questions.row
        open_ = self.data.candidate_counts[rows] > 1
        open_ &= ~np.isin(rows, list(self._state.skipped))
        if self._plan.by_cell:
            open_[self._questions.known_cells(self._state.known)] = False
        return open_

    def _situation(self, board: Board) -> Situation:
        return Situation(
            row=self._questions.row,
            column=self._questions.column,
            gain=self._gains(board),
            cost=self._cost,
            order=self._order[self._questions.row],
            data=board.data,
            certain_share=board.certain_share,
            n_answers=len(self.history),
        )

    def _question(self, board: Board, place: int) -> Question:
        row, column = int(self._questions.row[place]), self._questions.column[place]
        gain = float(self._gains(board)[place])
        known = self._state.known.get(row, Known())
        return question_about(self._subject, self._state.board, row, column, known, gain)

    # -- telling ---------------------------------------------------------------------------

    def tell(self, row: int, candidate: int | None = None, *, value: Any = None) -> Record:
        """Take in what is true of a row.

        Rows need not have been asked for. Telling the same again has no effect; telling something
        else is a correction. For one of a question's candidates:
        ``session.tell(**question.answer(2))``.

        Parameters
        ----------
        row : int
        candidate : int, optional
            The number of the true candidate among those of the data as given. It says all about
            the row: what was told of it before is forgotten.
        value : optional
            The true values instead, which need not be candidates: a dict from column to value for
            a table, of all holes or only of some; a vector, or a dict from column number to
            value, for a dataset. What was told before of other columns stays.

        Returns
        -------
        Record
        """
        start = time.perf_counter()
        row, state = self._row(row), self._state
        now, entry = said(self._subject, row, candidate, value)
        before = state.known.get(row)
        if before is not None:
            now = before.and_(now)
        if before == now and row not in state.skipped:
            return _record(state.board, row, "same", start)
        gain = self._gain_of(row, now)
        board = state.board.copy()
        change = put(board, self._subject, row, now)
        kind = "answer" if before is None else "same" if before == now else "correction"
        record = _record(board, row, kind, start, gain, change)
        self._state = State(
            board,
            {**state.known, row: now},
            state.skipped - {row},
            (*state.log, entry),
            (*state.records, record),
        )
        return record

    def skip(self, row: int) -> None:
        """Do not ask for a row, or any of its cells, again; it can still be told."""
        row, state = self._row(row), self._state
        if row not in state.skipped:
            self._state = replace(
                state,
                skipped=state.skipped | {row},
                log=(*state.log, {"row": row, "skip": True}),
                records=(*state.records, None),
            )

    def undo(self, n: int = 1) -> None:
        """Take back the last n entries of `answers`."""
        state = self._state
        if not is_whole(n) or not 1 <= n <= len(state.log):
            raise CPCleanError(
                f"undo takes back 1 to {len(state.log)} answers here; got {n!r}."
                if state.log
                else "there is no answer to undo."
            )
        kept = state.log[:-n]
        known, skipped = replayed(self._subject, kept)
        board = state.board.copy()
        for row in dict.fromkeys(entry["row"] for entry in state.log[-n:]):
            if known.get(row) != state.known.get(row):
                put(board, self._subject, row, known.get(row))
        self._state = State(board, known, skipped, kept, state.records[:-n])

    def replay(self, answers: Iterable[Mapping[str, Any]]) -> None:
        """Tell and skip what another session's `answers` say, in their order; all or nothing."""
        entries, before = checked_log(answers), self._state
        replayed(self._subject, entries)  # names the answer that cannot be taken
        try:
            for entry in entries:
                if "skip" in entry:
                    self.skip(entry["row"])
                else:
                    self.tell(entry["row"], entry.get("candidate"), value=entry.get("value"))
        except BaseException:
            self._state = before
            raise

    def merge(self, answers: Iterable[Mapping[str, Any]]) -> list[int]:
        """Take over answers about rows of which nothing is known here.

        Returns
        -------
        list of int
            The rows on which the two contradict each other; what is known here stays.
        """
        entries = checked_log(answers)
        theirs, _ = replayed(self._subject, entries)
        mine = self._state.known
        self.replay(
            entry
            for entry in entries
            if entry["row"] not in mine and ("skip" not in entry or entry["row"] not in theirs)
        )
        return sorted(row for row in theirs if row in mine and mine[row].against(theirs[row]))

    # -- results ---------------------------------------------------------------------------

    def world(self, fill: Any = "default") -> Any:
        """A complete table: what is known, and a guess for what is not.

        Parameters
        ----------
        fill : "default", "likely", or array of shape (n_rows, n_features)
            "default": the mean or the most frequent value of the column for a table, the likeliest
            candidate for a dataset. "likely": the likeliest candidate. An array, for a
            dataset: the rows themselves.

        Returns
        -------
        A frame of the library of the one given, with its columns in their order, the label, and
        the index that pandas has; for a dataset, an array of shape (n_rows, n_features). A column
        of whole numbers becomes one of floats if a mean is among them. A column in which nothing
        is observed and that has no candidates keeps its holes.
        """
        return self._subject.world(self.data, self._state.known, fill)

    def classifier(self) -> CertainKNeighborsClassifier:
        """A classifier fitted to what is known now: it predicts by the vote over worlds."""
        from cpclean.classifier import CertainKNeighborsClassifier

        made = CertainKNeighborsClassifier(n_neighbors=self.n_neighbors, metric=self.metric)
        return made.fit(self._subject.with_data(self.data))

    def report(self, path: Any = None, **options: Any) -> Report:
        """What the holes mean for the validation points, as one HTML page that needs no network.

        Parameters
        ----------
        path : optional
            A file to write the page to.
        **options
            As in `cpclean.report.report`, such as title, interactive, truth.
        """
        # Reports come later on the data's way, and imports only point back: opened by its name.
        made: Report = import_module("cpclean.report.page").report(self, path, **options)
        return made

    # -- plumbing --------------------------------------------------------------------------

    def __repr__(self) -> str:
        return (
            f"CleaningSession({len(self.history)} answers, {self.certain_share:.1%} of "
            f"{len(self.certain)} validation points certain)"
        )

    def _row(self, row: Any) -> int:
        return self._subject.data.row_number(row)

    def _gains(self, board: Board) -> Floats:
        """The expected gain of every question."""
        gains = board.gains()
        return gains if self._plan.by_cell else gains[self._questions.row]

    def _gain_of(self, row: int, now: Known) -> float:
        """The expected gain of what is told of a row: of the row, or the best of its cells."""
        numbers = np.flatnonzero(self._questions.row == row).tolist()
        if self._plan.by_cell:
            spans = self._questions.spans
            numbers = [number for number in numbers if spans[number][0] in now.features]
        return float(self._gains(self._state.board)[numbers].max(initial=0.0))


def _record(
    board: Board, row: int, kind: str, start: float, gain: float = 0.0, change: Change | None = None
) -> Record:
    return Record(
        row,
        gain,
        board.certain_share,
        board.mean_entropy,
        time.perf_counter() - start,
        kind,
        0 if change is None else len(change.settled),
        () if change is None else tuple(change.unsettled.tolist()),
    )
