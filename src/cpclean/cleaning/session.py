"""CleaningSession: ask which row to clean, tell its true values, stop when it is enough."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from cpclean.cleaning.answers import checked_log, put, repeat, replayed, said, with_earlier
from cpclean.cleaning.board import Board
from cpclean.cleaning.costs import checked_costs, questions_of
from cpclean.cleaning.earlier import refitted, undone
from cpclean.cleaning.effort import Effort, effort_of
from cpclean.cleaning.known import Known
from cpclean.cleaning.question import Question
from cpclean.cleaning.resuming import recalled, resumed
from cpclean.cleaning.session_looks import SessionLooks
from cpclean.cleaning.settings import (
    PRIOR,
    UNIFORM,
    checked_gains_by,
    checked_labels,
    checked_limits,
    checked_seed,
    checked_sure,
)
from cpclean.cleaning.standing import check_standing
from cpclean.cleaning.state import Record, State, record_of
from cpclean.cleaning.strategies import plan_named
from cpclean.cleaning.streamed_session import StreamedSession
from cpclean.cleaning.subject import subject_of
from cpclean.cleaning.view import Limits, SessionView, Setup
from cpclean.data.incomplete import IncompleteDataset
from cpclean.data.points import Points
from cpclean.data.rows import is_whole
from cpclean.data.streamed.streamed_table import StreamedTable
from cpclean.errors import CPCleanError
from cpclean.progress_bar import Shown
from cpclean.queries.model import Metric, Model, hands_for

if TYPE_CHECKING:
    from cpclean.classifier import CertainKNeighborsClassifier


class CleaningSession(SessionLooks):
    """Clean the rows that matter for the predictions of validation points.

    The state of a session depends only on the data, the validation points and `answers`: a new
    session that replays these answers has the same state and asks the same next question.

    Parameters
    ----------
    data : IncompleteTable, IncompleteDataset, or StreamedTable (it makes a `StreamedSession`)
    X_val : frame with the table's columns, array of shape (n_points, n_features), or Points
        Validation points; with metric "precomputed", their distances to all candidates. A table's
        label column may be among the columns; it is ignored. A point may have holes: see below.
    n_neighbors : int
        How many nearest rows vote, from 1 to the number of rows.
    strategy : {"cpclean", "relative", "roots", "random", "cells", "cost"} or function
        See `cpclean.cleaning.strategies`.
    y_val : sequence of labels, optional, only used by `accuracy`
    random_state : int, optional
        Seed of strategy "random"; drawn if None. It is an attribute of the session: pass it to a
        session that is to replay the answers of this one.
    metric : as in `world_shares`
    costs : array of shape (n_rows,), or dict from column to cost, optional
        For strategies "cost" and "cells". With a dict, a row costs the sum of its holes.
    budget, target_share, min_gain : int, float and float, optional
        Stop after this many answers, corrections included; when this share of the validation points
        is settled; when no question has an expected gain of at least this, in nats.
    sure : float, optional
        A level between 0.5 and 1, such as 0.95: a point is settled when it is certain or that sure,
        and gains count only points that are not settled. Without it, only certain points are
        settled. See Notes.
    gains_by : {"prior", "uniform"}
        How likely answers are when gains are computed: as the prior of the data says, or all
        candidates of a row equally. Until all is certain, "uniform" needs fewer answers on most
        tables; until all is sure, only the prior makes sense.
    n_jobs : int, optional
        Threads for the first look at all validation points.
    cluster : str or dask.distributed.Client, optional
        Who looks at the points, as in `world_shares`. The questions are the same, bit for bit.

    Attributes
    ----------
    answers : list of dict
        All answers, skips and refits so far, in plain values that can be saved as JSON.
    history : list of Record
        One record for each answer.
    stopped, done : str or None, and bool
        Why there is nothing more to ask, in words, and whether that is so.

    Notes
    -----
    No answer about a row fills the hole of a validation point. So each completion of such a point
    counts as a point of its own, with its weight, and is settled when it is certain for itself.
    `certain_share`, entropies and gains are weighted means over completions. A session can come to
    "all validation points are certain" although the completions of a point have different labels:
    then no further answer helps, and the label depends on what is missing in the point.

    A point is sure when one label holds at least the level of the prior mass, after the estimated
    error of draws is taken off. A certain point stays certain as long as answers are candidates; a
    sure one can become open again after an answer that was not expected, and then counts again.

    A row with too many candidates to go through (see `IncompleteDataset`) is represented by draws
    in gains and entropies; what is certain stays proved. `is_exact` says whether that is the case.

    A session can be pickled if its strategy and its metric can. An answer that cannot be accepted
    raises an error and changes nothing; neither does Ctrl-C.

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

    def __new__(cls, data: Any = None, *args: Any, **options: Any) -> Any:
        if isinstance(data, StreamedTable):
            return StreamedSession(cls, data, *args, **options)
        return super().__new__(cls)

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
        sure: float | None = None,
        gains_by: str = PRIOR,
        n_jobs: int | None = None,
        cluster: Any = None,
    ) -> None:
        subject, plan = subject_of(data), plan_named(strategy)
        if plan.needs_costs and costs is None:
            raise CPCleanError(
                'strategy "cost" needs costs: one per row, or a dict from column to cost.'
            )
        limits = Limits(*checked_limits(budget, target_share, min_gain))
        self.strategy = strategy
        self.random_state = checked_seed(random_state)
        start, model = subject.data, Model(n_neighbors, metric)
        questions = questions_of(subject, plan.by_cell)
        self._setup = Setup(
            subject=subject,
            model=model,
            plan=plan,
            limits=limits,
            questions=questions,
            cost=checked_costs(costs, subject, questions),
            sure=checked_sure(sure),
            gains_by=checked_gains_by(gains_by, sure),
            order=np.random.default_rng(self.random_state).permutation(start.n_rows),
        )
        encoded = isinstance(X_val, Points) or model.precomputed
        points = X_val if encoded else subject.points(X_val)
        self._hands = hands_for(model, n_jobs, cluster)
        self._state = State(self._board(start, points))
        self._view: SessionView | None = None
        self.y_val = checked_labels(y_val, len(self.certain), start.classes)

    # -- looking ---------------------------------------------------------------------------

    @property
    def view(self) -> SessionView:
        """A read-only view of the current state; it stays the same when more answers come in."""
        if self._view is None or self._view.version is not self._state:
            self._view = SessionView(self._setup, self._state)
        return self._view

    @property
    def budget(self) -> int | None:
        """How many answers to stop after. This and the next two limits may be changed."""
        return self._setup.limits.budget

    @budget.setter
    def budget(self, budget: int | None) -> None:
        self._limit(budget, self.target_share, self.min_gain)

    @property
    def target_share(self) -> float:
        return self._setup.limits.target_share

    @target_share.setter
    def target_share(self, target_share: float) -> None:
        self._limit(self.budget, target_share, self.min_gain)

    @property
    def min_gain(self) -> float:
        return self._setup.limits.min_gain

    @min_gain.setter
    def min_gain(self, min_gain: float) -> None:
        self._limit(self.budget, self.target_share, min_gain)

    def _limit(self, budget: Any, target_share: Any, min_gain: Any) -> None:
        limits = Limits(*checked_limits(budget, target_share, min_gain))
        self._setup, self._view = replace(self._setup, limits=limits), None

    @property
    def answers(self) -> list[dict[str, Any]]:
        return json.loads(json.dumps(self._state.log))  # type: ignore[no-any-return]

    def accuracy(self) -> float:
        """The share of validation points that the vote over worlds predicts right; needs y_val."""
        if self.y_val is None:
            raise CPCleanError("accuracy needs the labels of the validation points: y_val=...")
        return float(np.mean(self.view.start.classes[self.view.labels] == self.y_val))

    # -- asking ----------------------------------------------------------------------------

    @overload
    def ask(self) -> Question | None: ...
    @overload
    def ask(self, n: int) -> list[Question]: ...
    def ask(self, n: int | None = None) -> Question | list[Question] | None:
        """What to clean next; None, or fewer than n questions, if there is nothing more to ask.

        Asking changes nothing: until the next answer or skip, the question stays the same.

        Parameters
        ----------
        n : int, optional
            Ask about n different rows, for several people at once. Each question is the best one
            if the likeliest answers to the questions before it are true; so is its gain.

        Returns
        -------
        Question or None; with n, a list of at most n Questions
        """
        if n is not None and (not is_whole(n) or n < 1):
            raise CPCleanError(f"n must be None or an int of at least 1; got {n!r}.")
        found = self.view.next_questions(n or 1)
        return (found[0] if found else None) if n is None else found

    def question(self, row: int) -> Question:
        """The question about a whole row of your choice, also one that has been answered."""
        return self.view.question(self._row(row))

    def in_random_order(self, rng: np.random.Generator) -> CleaningSession:
        """A session with the same answers that asks in random order, by row or by cell."""
        other = copy(self)
        other.strategy, other._view = "random", None
        plan = replace(plan_named("random"), by_cell=self._setup.plan.by_cell)
        order = rng.permutation(len(self._setup.order))
        other._setup = replace(self._setup, plan=plan, order=order)
        return other

    # -- answering -------------------------------------------------------------------------

    def tell(self, row: int, candidate: int | None = None, *, value: Any = None) -> Record:
        """Answer what is true of a row.

        The session need not have asked about the row. The same answer again has no effect; a
        different one is a correction. To choose one of a question's candidates:
        ``session.tell(**question.answer(2))``.

        Parameters
        ----------
        row : int
        candidate : int, optional
            The number of the true candidate, among those that the row had at the start. It
            determines the whole row: earlier answers about it are discarded.
        value : optional
            The true values instead, which need not be candidates. For a table: a dict from column
            to value, for all holes or some of them. For a dataset: a vector, or a dict from
            column number to value. Earlier answers about other columns remain. A value that is
            known only roughly is given as `Between(low, high)`: the candidates in that range
            remain, and the row is not asked about again because of this column.

        Returns
        -------
        Record
        """
        start = time.perf_counter()
        row, state = self._row(row), self._state
        now, entry = said(self._setup.subject, row, candidate, value)
        before = state.known.get(row)
        now = with_earlier(self._setup.subject, row, before, now)
        if before == now and row not in state.skipped:
            return record_of(state.board, row, "same", start)
        gain = self._gain_of(row, now)
        board = state.board.copy()
        change = put(board, self._setup.subject, row, now)
        check_standing(board.ground, board.points, self._setup.model)
        kind = "answer" if before is None else "same" if before == now else "correction"
        record = record_of(board, row, kind, start, gain, change)
        self._state = state.told(self._setup.subject, row, now, board, entry, record)
        return record

    def frame_row(self, row: int) -> Any:
        """What the frame calls a row: its index label, or its number among all rows."""
        return self._setup.subject.frame_row(row)

    def skip(self, row: int) -> None:
        """Do not ask about a row, or any of its cells, again; it can still be answered."""
        row, state = self._row(row), self._state
        if row not in state.skipped:
            self._state = replace(
                state,
                skipped=state.skipped | {row},
                log=(*state.log, {"row": row, "skip": True}),
                records=(*state.records, None),
            )

    def refit(self) -> None:
        """Learn the space of the table anew, from what is known now.

        For a table in a space of leaves, such as "forest". The trees are learnt as those of the
        table were, with the same seed, from worlds in which the known cells are as they are known.
        All that the session holds is computed again in the new space, so that points can become
        certain or stop being so. `answers` has an entry for it, {"refit": True}, and a session that
        replays them learns the same trees. Without any new answer, nothing changes.
        """
        self._state = refitted(self._state, self._setup.subject, self._board)

    def undo(self, n: int = 1) -> None:
        """Undo the last n entries of `answers`."""
        self._state = undone(self._state, self._setup.subject, n)

    def replay(self, answers: Iterable[Mapping[str, Any]]) -> None:
        """Repeat the `answers` of another session, in their order; all of them or none."""
        entries, before = checked_log(answers), self._state
        replayed(self._setup.subject, entries)  # names the answer that cannot be taken
        try:
            repeat(self, entries)
        except BaseException:
            self._state = before
            raise

    def resume(self, answers: Iterable[Mapping[str, Any]]) -> list[int]:
        """Take over a long log at once, in a session without answers; the places of what is new.

        As `replay`, but many times faster; what each answer did is nan in `history` until `recall`.
        """
        self._state, places = resumed(self._state, self._setup, checked_log(answers), self._board)
        return places

    def recall(self, other: CleaningSession) -> None:
        """Learn what each answer did from a session that replayed the same log, or its start."""
        self._state = recalled(self._state, other._state)

    def merge(self, answers: Iterable[Mapping[str, Any]]) -> list[int]:
        """Add answers of others about rows of which nothing is known yet.

        When others learnt the space anew is not taken over.

        Returns
        -------
        list of int
            The rows for which they contradict what is known. These rows stay unchanged.
        """
        entries = [entry for entry in checked_log(answers) if "refit" not in entry]
        theirs, _ = replayed(self._setup.subject, entries)
        mine = self._state.known
        self.replay(
            entry
            for entry in entries
            if entry["row"] not in mine and ("skip" not in entry or entry["row"] not in theirs)
        )
        return sorted(row for row in theirs if row in mine and mine[row].against(theirs[row]))

    # -- looking back ----------------------------------------------------------------------

    def effort(self, *, progress: Shown = None) -> Effort:
        """Which answers every order would have needed, and which were avoidable in hindsight.

        About the points that are settled now, at the end or at any time before. It changes nothing,
        so Ctrl-C is harmless. It takes about as long as the session took for its answers.

        Parameters
        ----------
        progress : bool, or function of words and a share, optional
            Whether to show a progress bar; by default on a terminal. A function is told instead.

        Returns
        -------
        Effort

        Examples
        --------
        >>> from cpclean import CleaningSession, IncompleteDataset
        >>> data = IncompleteDataset([[[0.0], [5.0]], [[1.0], [7.0]], [[6.0]]], ["a", "b", "b"])
        >>> session = CleaningSession(data, [[0.0]], n_neighbors=1)
        >>> session.replay([{"row": 1, "candidate": 0}, {"row": 0, "candidate": 0}])
        >>> effort = session.effort()
        >>> effort.needed, effort.avoidable, effort.random_at_least
        ((0,), (1,), 1.5)
        """
        return effort_of(self._state, progress=progress)

    def from_start(self, points: Any = None) -> CleaningSession:
        """A session with the same settings and no answers; if its space was refitted, in that one.

        Parameters
        ----------
        points : sequence of int, optional
            The numbers of the validation points that it is about; all of them by default.
        """
        other, board = copy(self), self._state.board
        numbers = None if points is None else np.asarray(points, dtype=np.int64)
        chosen = board.points if numbers is None else board.points.take(numbers)
        if numbers is not None and self.y_val is not None:
            other.y_val = self.y_val[numbers]
        other._state, other._view = State(self._board(board.ground.start, chosen)), None
        return other

    # -- results ---------------------------------------------------------------------------

    def world(self, fill: Any = "default") -> Any:
        """A complete table: what is known, and a guess for the rest.

        Parameters
        ----------
        fill : "default", "likely", or array of shape (n_rows, n_features)
            "default": for a table, the mean or the most frequent value of the column; for a
            dataset, the likeliest candidate. "likely": the likeliest candidate. An array, only for
            a dataset: complete rows, from which the unknown values are taken.

        Returns
        -------
        For a table, a dataframe of the same library, with the same columns in the same order, the
        label, and the same index if it is from pandas. For a dataset, an array of shape
        (n_rows, n_features). A column of whole numbers becomes one of floats if a mean is filled
        in. A column without any observed value and without candidates keeps its holes.
        """
        return self._setup.subject.world(self.data, self._state.known, fill)

    def classifier(self) -> CertainKNeighborsClassifier:
        """A classifier fitted to what is known now: it predicts by the vote over worlds."""
        from cpclean.classifier import CertainKNeighborsClassifier

        made = CertainKNeighborsClassifier(n_neighbors=self.n_neighbors, metric=self.metric)
        return made.fit(self._setup.subject.with_data(self.data))

    # -- plumbing --------------------------------------------------------------------------

    def __repr__(self) -> str:
        what = "certain" if self.sure is None else f"certain or {100 * self.sure:.4g}% sure"
        return (
            f"CleaningSession({len(self.history)} answers, {self.settled_share:.1%} of "
            f"{len(self.certain)} validation points {what})"
        )

    def _board(self, data: IncompleteDataset, points: Any) -> Board:
        setup = self._setup
        cells = setup.questions.cells if setup.plan.by_cell else None
        return Board(
            data,
            points,
            setup.model,
            cells,
            self._hands,
            sure=setup.sure,
            uniform=setup.gains_by == UNIFORM,
        )

    def _row(self, row: Any) -> int:
        return self._setup.subject.data.row_number(row)

    def _gain_of(self, row: int, now: Known) -> float:
        """The expected gain of an answer: that of the row, or of the best of its cells."""
        questions = self._setup.questions
        numbers: Iterable[int] = questions.about_row(row)
        if self._setup.plan.by_cell:
            spans, narrowing = questions.spans, now.narrowing
            numbers = [number for number in numbers if spans[number][0] in narrowing]
        return self.view.gain_of(numbers)
