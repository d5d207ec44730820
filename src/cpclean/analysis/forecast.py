"""What is to come: copies of a session ask on, somebody else answers, and no trace is left.

Answers are drawn from the prior (`expected`), or come from a known truth (`compared`). All runs go
forward side by side, one answer each at a time, so that a forecast that is cut short cuts all of
them at the same place. A run that has come to its end stays where it is.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from cpclean.cleaning.question import Question
from cpclean.cleaning.session import CleaningSession
from cpclean.cleaning.simulation import Person
from cpclean.data.incomplete import Ints
from cpclean.data.rows import Floats
from cpclean.errors import CPCleanError

# At least this share of the mean to either side of it, and the quantile 0.9 of Student's t for one
# run, two, and so on; benchmarks/forecasts.py measures how often the range is right.
LEAST_AROUND = 0.3
_STUDENT = (math.inf, 3.078, 1.886, 1.638, 1.533, 1.476, 1.440, 1.415, 1.397, 1.383)

Answers = Callable[[Question], dict[str, Any]]
Progress = Callable[[int], None]


@dataclass(frozen=True)
class Course:
    """The settled share after each answer, over several runs.

    A point is settled when it is certain or, in a session with a level, that sure.

    Attributes
    ----------
    answers : ndarray of int
        The number of answers, those of the session so far included; it begins where the session
        stands.
    mean, low, high : ndarray
        The settled share: mean, smallest and largest of the runs.
    runs : int
    needed : tuple of int or None
        How many more answers each run took until its session was done; None if it was cut short.
    certain : ndarray or None
        The certain share, the mean of the runs; None in a session without a level, where it is that
        of the settled ones.
    """

    answers: Ints
    mean: Floats
    low: Floats
    high: Floats
    runs: int
    needed: tuple[int | None, ...]
    certain: Floats | None = None

    def reach(self, share: float) -> int | None:
        """How many more answers it takes on average until this share is settled."""
        # A mean of shares may fall short of the largest by a rounding.
        found = np.flatnonzero(self.mean >= share - 1e-9)
        return int(found[0]) if len(found) else None

    @property
    def finished(self) -> bool:
        """Whether every run came to its end."""
        return None not in self.needed

    def more(self, since: int = 0) -> tuple[int, int] | None:
        """Between how many more answers it takes until a session is done; None if not known.

        The runs differ by what people answer. A session is one run more, so that the range is that
        in which another run lies with a probability of four in five, as their mean and spread say;
        but at least three tenths to either side, because answers are not quite as the prior says.

        Parameters
        ----------
        since : int
            How many answers were given since the runs began.
        """
        ends = [needed for needed in self.needed if needed is not None]
        if len(ends) < max(2, self.runs):
            return None
        mean = float(np.mean(ends))
        spread = float(np.std(ends, ddof=1)) * math.sqrt(1 + 1 / len(ends))
        around = max(_STUDENT[min(len(ends), len(_STUDENT)) - 1] * spread, LEAST_AROUND * mean)
        low, high = math.floor(mean - around), math.ceil(mean + around)
        return max(1, low - since), max(1, high - since)


@dataclass(frozen=True)
class Comparison:
    """The session's own order and random order, with the same true answers."""

    own: Course
    random: Course


@dataclass
class Run:
    """One continuation of a session.

    Attributes
    ----------
    session : CleaningSession
        Its own copy, which gets the answers.
    answer : function of a Question
        Gives the arguments for `CleaningSession.tell`.
    max_answers : int
        Where it is cut short.
    shares, certain_shares : list of float
        The settled and the certain share at the beginning and after each answer.
    done : bool
        Whether the session has nothing more to ask.
    over : bool
        Whether the run goes no further: it is done, or cut short.
    """

    session: CleaningSession
    answer: Answers
    max_answers: int

    def __post_init__(self) -> None:
        self.begins = len(self.session.history)
        self.shares = [self.session.settled_share]
        self.certain_shares = [self.session.certain_share]
        self.done = self.over = False

    @property
    def needed(self) -> int | None:
        return len(self.session.history) - self.begins if self.done else None

    def step(self) -> None:
        """Ask, and answer."""
        question = self.session.ask()
        self.done = question is None
        if question is None or len(self.shares) > self.max_answers:
            self.over = True
            return
        record = self.session.tell(**self.answer(question))
        self.shares.append(record.settled_share)
        self.certain_shares.append(record.certain_share)


class Forecast:
    """Several runs side by side, which can be taken step by step or to the end.

    Parameters
    ----------
    runs : sequence of Run
    """

    def __init__(self, runs: Sequence[Run]) -> None:
        self._runs = list(runs)

    @classmethod
    def from_prior(
        cls,
        session: CleaningSession,
        n_runs: int = 3,
        max_answers: int = 1000,
        random_state: int = 0,
    ) -> Forecast:
        """Continuations in which answers are as likely as the prior says.

        Examples
        --------
        >>> from cpclean import IncompleteDataset
        >>> data = IncompleteDataset([[[0.0], [5.0]], [[1.0], [7.0]], [[6.0]]], ["a", "b", "b"])
        >>> forecast = Forecast.from_prior(CleaningSession(data, [[0.0]], n_neighbors=1))
        >>> forecast.step()
        >>> forecast.finished
        False
        >>> float(forecast.run().mean[-1]), forecast.finished
        (1.0, True)
        """
        rngs = np.random.default_rng(random_state).spawn(n_runs)
        return cls([Run(copy(session), _drawn(rng), max_answers) for rng in rngs])

    @property
    def finished(self) -> bool:
        """Whether no run goes any further."""
        return all(run.over for run in self._runs)

    def step(self) -> None:
        """One answer, in the run that has fewest; a small piece of work."""
        going = [run for run in self._runs if not run.over]
        if going:
            min(going, key=lambda run: len(run.shares)).step()

    def run(self, seconds: float = np.inf, progress: Progress | None = None) -> Course:
        """Step until all runs are over or this much time is spent; at least one answer each.

        Parameters
        ----------
        seconds : float
        progress : function of an int, optional
            Called with the number of answers, whenever all runs have that many.
        """
        end = time.perf_counter() + seconds
        while not self.finished:
            for run in [run for run in self._runs if not run.over]:
                run.step()
            if self.finished:
                break
            if progress is not None:
                progress(max(len(run.shares) for run in self._runs) - 1)
            if time.perf_counter() > end:
                break
        return self.course()

    def course(self, runs: slice = slice(None)) -> Course:
        """What there is so far: up to where the shortest run that goes on has come."""
        chosen = self._runs[runs]
        going = [len(run.shares) for run in chosen if not run.over]
        length = min(going, default=max(len(run.shares) for run in chosen))
        shares = np.array([_held(run.shares, length) for run in chosen])
        certain = np.array([_held(run.certain_shares, length) for run in chosen])
        return Course(
            chosen[0].begins + np.arange(length),
            shares.mean(axis=0),
            shares.min(axis=0),
            shares.max(axis=0),
            len(chosen),
            tuple(run.needed for run in chosen),
            None if chosen[0].session.sure is None else certain.mean(axis=0),
        )


def expected(
    session: CleaningSession,
    n_runs: int = 3,
    max_answers: int = 1000,
    seconds: float = 5.0,
    random_state: int = 0,
) -> Course:
    """How the settled share is expected to go on, if answers are as likely as the prior says."""
    return Forecast.from_prior(session, n_runs, max_answers, random_state).run(seconds)


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
    sessions = [copy(session), *(session.in_random_order(rng) for rng in rngs)]
    limit = len(session.view.questions.row) if max_answers is None else max_answers
    forecast = Forecast([Run(one, answer, limit) for one in sessions])
    forecast.run(seconds, progress)
    return Comparison(forecast.course(slice(1)), forecast.course(slice(1, None)))


def _drawn(rng: np.random.Generator) -> Answers:
    """Answers that are as likely as the prior says."""

    def answer(question: Question) -> dict[str, Any]:
        return question.drawn(rng)

    return answer


def _held(shares: list[float], length: int) -> list[float]:
    """The first shares, or as many again of the last one: a run that is over stays there."""
    return [*shares, *shares[-1:] * (length - len(shares))][:length]
