"""CleaningSession: ask which row to clean, tell its true value, stop when it is enough."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from cpclean.cleaning.answers import checked_entry, put, replayed, said
from cpclean.cleaning.board import Board
from cpclean.cleaning.costs import checked_costs, questions_of
from cpclean.cleaning.question import Question, question_about
from cpclean.cleaning.strategies import Situation, pick, plan_named
from cpclean.cleaning.subject import Known, subject_of
from cpclean.data.incomplete import IncompleteDataset
from cpclean.data.rows import Floats, is_whole
from cpclean.errors import CPCleanError
from cpclean.queries.geometry import Metric

if TYPE_CHECKING:
    from cpclean.classifier import CertainKNeighborsClassifier


@dataclass(frozen=True)
class Record:
    """One answer, and what it did.

    Attributes
    ----------
    row : int
    gain : float
        The expected fall of the mean entropy, before the answer.
    certain_share : float
        The share of validation points that are certain, after the answer.
    entropy : float
        The mean entropy of the validation points, after the answer.
    seconds : float
        How long the session took to take the answer in.
    kind : {"answer", "correction", "same"}
        "same" is an answer that was known; it is not kept, unless the row was skipped since.
    settled : int
        How many validation points became certain.
    unsettled : tuple of int
        The validation points that were certain and are not any more: only a value outside the
        row's candidates, or a correction, can do that.
    """

    row: int
    gain: float
    certain_share: float
    entropy: float
    seconds: float
    kind: str
    settled: int
    unsettled: tuple[int, ...]


class CleaningSession:
    """Clean the rows that matter for the predictions of validation points.

    What a session knows is a function of the data, the validation points and `answers`: told
    again to a new session, in this order, they give the same state and the same next question.

    Parameters
    ----------
    data : IncompleteTable or IncompleteDataset
    X_val : frame with the table's columns, or array of shape (n_points, n_features)
        Complete validation points; with metric "precomputed", their distances to all candidates.
    n_neighbors : int
    strategy : {"cpclean", "random", "cells", "cost"} or function
        See `cpclean.cleaning.strategies`.
    y_val : sequence of labels, optional
        Only used by `accuracy`.
    random_state : int, optional
        Of strategy "random"; drawn if None, and kept as an attribute.
    metric : str or callable
        As in `world_shares`.
    costs : array of one cost a row, or dict from column to cost, optional
        For strategies "cost" and "cells". With a dict, a row costs the sum of its holes.
    budget : int, optional
        Stop after so many answers.
    target_share : float
        Stop when this share of the validation points is certain.
    min_gain : float
        Stop when no row is expected to gain more.
    n_jobs : int, optional
        Threads for the first look at all validation points.

    Attributes
    ----------
    answers : list of dict
        Everything told so far, in plain values that JSON can hold.
    history : list of Record
        One record an answer.

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
        self.budget, self.target_share, self.min_gain = _limits(budget, target_share, min_gain)
        self.random_state = _seed(random_state)
        self._X = self._subject.points(X_val)
        start = self._subject.data
        rows = start.dirty_rows.tolist()
        cells = {row: list(self._subject.cells(row).values()) for row in rows}
        self._board = Board(
            start, self._X, n_neighbors, metric, cells if self._plan.by_cell else None, n_jobs
        )
        self.y_val = _checked_labels(y_val, len(self._board.certain))
        self._questions = questions_of(self._subject, self._plan.by_cell)
        self._cost = checked_costs(costs, self._subject, self._questions)
        self._order = np.random.default_rng(self.random_state).permutation(start.n_rows)
        self._known: dict[int, Known] = {}
        self._skipped: dict[int, None] = {}
        self._log: list[dict[str, Any]] = []
        self._records: list[Record | None] = []  # beside the log

    # -- looking ---------------------------------------------------------------------------

    @property
    def data(self) -> IncompleteDataset:
        """The data as it is known now."""
        return self._board.data

    @property
    def certain(self) -> npt.NDArray[np.bool_]:
        """Whether each validation point is certain."""
        return self._board.certain

    @property
    def certain_share(self) -> float:
        """The share of validation points that are certain."""
        return self._board.certain_share

    @property
    def mean_entropy(self) -> float:
        """The mean entropy of the validation points, in nats."""
        return self._board.mean_entropy

    @property
    def answers(self) -> list[dict[str, Any]]:
        return json.loads(json.dumps(self._log))  # type: ignore[no-any-return]

    @property
    def history(self) -> list[Record]:
        return [record for record in self._records if record is not None]

    @property
    def stopped(self) -> str | None:
        """Why there is nothing more to ask, in words; None while there is."""
        if self._board.all_certain:
            return "all validation points are certain"
        if self.budget is not None and len(self.history) >= self.budget:
            return f"the budget of {self.budget} answers is spent"
        if self.certain_share >= self.target_share:
            return f"{self.target_share:.0%} of the validation points are certain"
        askable = self._askable()
        if not askable.any():
            return "every row with holes is cleaned or skipped"
        if self.min_gain > 0 and self._gains(self._board)[askable].max() < self.min_gain:
            return f"no row is expected to gain {self.min_gain:g} or more"
        return None

    @property
    def done(self) -> bool:
        return self.stopped is not None

    def gains(self) -> Floats:
        """What cleaning each row is expected to take from the mean entropy, shape (n_rows,).

        With strategy "cells", a row's best cell.
        """
        best = np.zeros(self.data.n_rows)
        np.maximum.at(best, self._questions.row, self._gains(self._board))
        return best

    def accuracy(self) -> float:
        """The share of validation points whose label most prior mass predicts; needs y_val."""
        if self.y_val is None:
            raise CPCleanError("accuracy needs the labels of the validation points: y_val=...")
        shares = self._board.shares(np.arange(len(self.y_val)))
        return float(np.mean(self.data.classes[shares.argmax(axis=1)] == self.y_val))

    # -- asking ----------------------------------------------------------------------------

    @overload
    def ask(self) -> Question | None: ...
    @overload
    def ask(self, n: int) -> list[Question]: ...
    def ask(self, n: int | None = None) -> Question | list[Question] | None:
        """What to clean next; None, or fewer questions than wanted, when there is no more to ask.

        With `n`, questions about n different rows, for several people at once: each is the best one
        if the likeliest candidates of those before it turn out to be true.
        """
        if n is not None and (not is_whole(n) or n < 1):
            raise CPCleanError(f"n must be an int of at least 1; got {n!r}.")
        found: list[Question] = []
        if not self.done:
            board, askable = self._board, self._askable()
            for number in range(n or 1):
                if number:
                    likeliest = found[-1].answered(int(np.argmax(found[-1].prior)))
                    board = board.copy()
                    put(board, self._subject, found[-1].row, likeliest)
                    askable &= self._questions.row != found[-1].row
                    if board.all_certain:  # supposed, not known: go on from what is
                        board = self._board
                place = pick(self._plan, self._situation(board), askable, board)
                if place < 0:
                    break
                found.append(self._question(board, place))
        return (found[0] if found else None) if n is None else found

    def _askable(self) -> npt.NDArray[np.bool_]:
        rows = self._questions.row
        open_ = self.data.candidate_counts[rows] > 1
        open_ &= ~np.isin(rows, list(self._skipped))
        if self._plan.by_cell:
            open_[self._questions.known_cells(self._known)] = False
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
        known = self._known.get(row, Known())
        return question_about(self._subject, self._board, row, column, known, gain)

    # -- telling ---------------------------------------------------------------------------

    def tell(self, row: int, candidate: int | None = None, *, value: Any = None) -> Record:
        """Take in what is true of a row.

        Rows need not have been asked for. Telling the same again has no effect; telling something
        else is a correction.

        Parameters
        ----------
        row : int
        candidate : int, optional
            The number of the true candidate among those of the data as given.
        value : optional
            The true values instead, which need not be candidates: a dict from column to value for
            a table, of all holes or only of some; a vector, or a dict from column number to
            value, for a dataset.

        Returns
        -------
        Record
        """
        start = time.perf_counter()
        row = self._row(row)
        now, entry = said(self._subject, row, candidate, value)
        before = self._known.get(row)
        if before is not None:
            now = before.and_(now)
        if before == now and row not in self._skipped:
            return self._record(row, "same", start)
        board = self._board.copy()
        gain = self._gain_of(row)
        change = put(board, self._subject, row, now)
        self._board, self._known = board, {**self._known, row: now}
        self._skipped.pop(row, None)
        kind = "answer" if before is None else "same" if before == now else "correction"
        record = self._record(
            row, kind, start, gain,
            len(change.settled), tuple(change.unsettled.tolist()),
        )  # fmt: skip
        self._log.append(entry)
        self._records.append(record)
        return record

    def skip(self, row: int) -> None:
        """Do not ask for a row again, unless it is told after all."""
        row = self._row(row)
        if row not in self._skipped:
            self._skipped[row] = None
            self._log.append({"row": row, "skip": True})
            self._records.append(None)

    def undo(self, n: int = 1) -> None:
        """Take back the last n entries of `answers`."""
        if not is_whole(n) or not 1 <= n <= len(self._log):
            raise CPCleanError(
                f"undo takes back 1 to {len(self._log)} answers here; got {n!r}."
                if self._log
                else "there is no answer to undo."
            )
        kept = self._log[:-n]
        known, skipped = replayed(self._subject, kept)
        board = self._board.copy()
        for row in dict.fromkeys(entry["row"] for entry in self._log[-n:]):
            if known.get(row) != self._known.get(row):
                put(board, self._subject, row, known.get(row))
        self._board, self._known, self._skipped = board, known, skipped
        self._log, self._records = kept, self._records[:-n]

    def replay(self, answers: Iterable[Mapping[str, Any]]) -> None:
        """Tell and skip what another session's `answers` say, in their order."""
        for number, entry in enumerate(answers):
            row, candidate, value, skip = checked_entry(entry, number)
            if skip:
                self.skip(row)
            else:
                self.tell(row, candidate, value=value)

    def merge(self, answers: Iterable[Mapping[str, Any]]) -> list[int]:
        """Take over answers about rows of which nothing is known here.

        Returns the rows on which the two disagree; what is known here stays.
        """
        given = list(answers)
        theirs, _ = replayed(self._subject, given)
        mine = dict(self._known)
        fresh = [entry for entry in given if entry["row"] not in mine]
        self.replay(entry for entry in fresh if not entry.get("skip") or entry["row"] not in theirs)
        return sorted(row for row, known in theirs.items() if row in mine and mine[row] != known)

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
        A frame like the one given, or an array for a dataset.
        """
        if isinstance(fill, str) and fill not in ("default", "likely"):
            raise CPCleanError(f'fill must be "default", "likely" or an array; got {fill!r}.')
        return self._subject.world(self.data, self._known, fill)

    def classifier(self) -> CertainKNeighborsClassifier:
        """A classifier fitted to what is known now: it predicts by the vote over worlds."""
        from cpclean.classifier import CertainKNeighborsClassifier

        made = CertainKNeighborsClassifier(n_neighbors=self.n_neighbors, metric=self.metric)
        return made.fit(self._subject.with_data(self.data))

    # -- plumbing --------------------------------------------------------------------------

    def __repr__(self) -> str:
        state = self.stopped or "open"
        return (
            f"CleaningSession({len(self.history)} answers, {self.certain_share:.1%} of "
            f"{len(self.certain)} validation points certain, {state})"
        )

    def _row(self, row: Any) -> int:
        return self._subject.data._row_number(row)

    def _gains(self, board: Board) -> Floats:
        """The expected gain of every question."""
        gains = board.gains()
        return gains if self._plan.by_cell else gains[self._questions.row]

    def _gain_of(self, row: int) -> float:
        own = self._gains(self._board)[self._questions.row == row]
        return float(own.max(initial=0.0))

    def _record(
        self, row: int, kind: str, start: float, gain: float = 0.0, settled: int = 0,
        unsettled: tuple[int, ...] = (),
    ) -> Record:  # fmt: skip
        seconds = time.perf_counter() - start
        board = self._board
        return Record(
            row, gain, board.certain_share, board.mean_entropy, seconds, kind, settled, unsettled
        )


def _limits(budget: Any, target_share: Any, min_gain: Any) -> tuple[int | None, float, float]:
    if budget is not None and (not is_whole(budget) or budget < 0):
        raise CPCleanError(f"budget must be None or an int of at least 0; got {budget!r}.")
    for name, limit, most in (
        ("target_share", target_share, 1.0),
        ("min_gain", min_gain, math.inf),
    ):
        if not isinstance(limit, int | float) or isinstance(limit, bool) or not 0 <= limit <= most:
            upper = f" and at most {most:g}" if most < math.inf else ""
            raise CPCleanError(f"{name} must be a number of at least 0{upper}; got {limit!r}.")
    return budget, float(target_share), float(min_gain)


def _seed(random_state: Any) -> int:
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    if not is_whole(random_state) or random_state < 0:
        raise CPCleanError(f"random_state must be None or an int >= 0; got {random_state!r}.")
    return int(random_state)


def _checked_labels(y_val: Any, n_points: int) -> npt.NDArray[Any] | None:
    if y_val is None:
        return None
    labels = np.asarray(y_val)
    if labels.shape != (n_points,):
        raise CPCleanError(
            f"y_val must have one label a validation point, {n_points} in all; "
            f"got shape {labels.shape}."
        )
    return labels
