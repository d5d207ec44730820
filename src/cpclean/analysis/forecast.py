"""What is to come: a session asks on, and somebody else answers, on copies that leave no trace.

Answers are drawn from the prior (`expected`), or come from a known truth (`compared`). All runs go
forward side by side, one answer each at a time, so that an end by the clock cuts all of them at the
same place. A run that is done stays where it is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cpclean.cleaning.question import Question
from cpclean.cleaning.session import CleaningSession
from cpclean.cleaning.simulation import Person
from cpclean.cleaning.strategies import plan_named
from cpclean.data.incomplete import Ints
from cpclean.data.rows import Floats
from cpclean.errors import CPCleanError

Answers = Callable[[Question], dict[str, Any]]
Progress = Callable[[int], None]


@dataclass(frozen=True)
class Course:
    """The certain share after so many answers, over several runs.

    Attributes
    ----------
    answers : ndarray of int
        How many answers have been given; the first entry is where the session stands.
    mean, low, high : ndarray
        The certain share: mean, smallest and largest of the runs.
    runs : int
    needed : tuple of int or None
        How many more answers each run took until its session was done; None if it was cut short.
    """

    answers: Ints
    mean: Floats
    low: Floats
    high: Floats
    runs: int
    needed: tuple[int | None, ...]

    def reach(self, share: float) -> int | None:
        """How many more answers it takes on average until this share is certain."""
        found = np.flatnonzero(self.mean >= share)
        return int(found[0]) if len(found) else None

    @property
    def finished(self) -> bool:
        """Whether every run came to its end."""
        return None not in self.needed


@dataclass(frozen=True)
class Comparison:
    """The session's own order and random order, with the same true answers."""

    own: Course
    random: Course


def expected(
    session: CleaningSession,
    n_runs: int = 3,
    max_answers: int = 1000,
    seconds: float = 5.0,
    random_state: int = 0,
) -> Course:
    """How the certain share is expected to go on, if answers are as likely as the prior says."""
    rngs = np.random.default_rng(random_state).spawn(n_runs)

    def drawn(rng: np.random.Generator) -> Answers:
        def answer(question: Question) -> dict[str, Any]:
            mass = np.asarray(question.prior, dtype=np.float64)
            return question.answer(int(rng.choice(len(mass), p=mass / mass.sum())))

        return answer

    sessions = [copy(session) for _ in rngs]
    return _course(_forward(sessions, [drawn(rng) for rng in rngs], max_answers, seconds))


def compared(
    session: CleaningSession,
    truth: Any,
    n_random: int = 5,
    max_answers: int | None = None,
    seconds: float = 60.0,
    random_state: int = 0,
    progress: Progress | None = None,
) -> Comparison:
    """The session's order against random order, from where it stands, answered from a truth.

    Parameters
    ----------
    truth : as in `simulate`
        The number of every row's true candidate, or the complete true rows.
    """
    if n_random < 1:
        raise CPCleanError(f"n_random must be at least 1; got {n_random}.")
    person = Person(session, truth, exact=False)

    def answer(question: Question) -> dict[str, Any]:
        return {"row": question.row, **person.answer(question)}

    rngs = np.random.default_rng(random_state).spawn(n_random)
    sessions = [copy(session), *(_at_random(session, rng) for rng in rngs)]
    limit = len(session._questions.row) if max_answers is None else max_answers
    runs = _forward(sessions, [answer] * len(sessions), limit, seconds, progress)
    return Comparison(_course(runs[:1]), _course(runs[1:]))


def _at_random(session: CleaningSession, rng: np.random.Generator) -> CleaningSession:
    """A copy of the session that asks in random order."""
    other = copy(session)
    other.strategy = "random"
    other._plan = replace(plan_named("random"), by_cell=session._plan.by_cell)
    other._order = rng.permutation(len(session._order))
    other._next = None
    return other


@dataclass
class _Run:
    session: CleaningSession
    shares: list[float]
    before: int
    done: bool = False

    @property
    def needed(self) -> int | None:
        return len(self.session.history) - self.before if self.done else None


def _forward(
    sessions: Sequence[CleaningSession],
    answers: Sequence[Answers],
    max_answers: int,
    seconds: float,
    progress: Progress | None = None,
) -> list[_Run]:
    """Let all sessions ask on, one answer each at a time."""
    end = time.perf_counter() + seconds
    runs = [_Run(one, [one.certain_share], len(one.history)) for one in sessions]
    for step in range(max_answers + 1):
        for run, answer in zip(runs, answers, strict=True):
            question = None if run.done else run.session.ask()
            if question is None:
                run.done = True
            elif step < max_answers:
                run.session.tell(**answer(question))
        if all(run.done for run in runs) or step == max_answers:
            break
        for run in runs:
            run.shares.append(run.session.certain_share)
        if progress is not None:
            progress(step + 1)
        if time.perf_counter() > end:
            break
    return runs


def _course(runs: Sequence[_Run]) -> Course:
    shares = np.array([run.shares for run in runs])
    longest = max((run.needed for run in runs if run.needed is not None), default=0)
    if all(run.done for run in runs):  # others may have gone on for longer
        shares = shares[:, : longest + 1]
    return Course(
        runs[0].before + np.arange(shares.shape[1]),
        shares.mean(axis=0),
        shares.min(axis=0),
        shares.max(axis=0),
        len(runs),
        tuple(run.needed for run in runs),
    )
