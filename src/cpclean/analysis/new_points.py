"""How many points that were not looked at are settled, too, once a session has stopped.

The validation points are dealt into folds. For each fold, a session about all the other points asks
as the session itself does, and is answered from what is known; rows of which nothing is known are
skipped. Then it is seen how much of the fold, which no question was chosen for, is settled.

1. What is seen is what new points are like: a fold is to the questions as a new point is.
2. A session about fewer points asks less, and is told nothing but what is known: where points have
   to be certain, it can settle no more than the session itself. So errors are mostly on the low
   side, and largest where a table has few rows with holes, or a session few points.
3. The share among n points left out is off by more than that of n independent draws would be: a
   set of points that happen to share their questions leaves new points open and its own settled.
   As with species not seen yet (Good and Turing's estimate), the variance is about twice that of
   draws. So the interval is Wilson's, from that of n / 2 draws at its low end to that of n / 5
   draws at its high end, because of 2. The two were chosen on simulated tables; how often the
   interval is right on others is counted by tests/analysis/test_new_points.py.
4. If no row is open any more, nothing is left to estimate: every point is certain.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from cpclean.analysis.certain_words import promise
from cpclean.analysis.random_order import known_answer
from cpclean.cleaning.question import Question
from cpclean.cleaning.session import CleaningSession
from cpclean.data.incomplete import Ints
from cpclean.data.rows import is_whole
from cpclean.errors import CPCleanError
from cpclean.progress_bar import Follow, Shown, progress_bar
from cpclean.queries.certain import is_certain
from cpclean.queries.sureness import is_sure

N_FOLDS = 10
# Of a normal distribution, 90 % lie within this many standard deviations.
_WIDTH = 1.6449
# How many points left out are worth one independent draw, at the low end and at the high end.
_PER_DRAW = (2.0, 5.0)


@dataclass(frozen=True)
class NewPoints:
    """What share of new points is settled, estimated from validation points that were left out.

    Attributes
    ----------
    share : float
        The share of the points left out that was settled; of one with holes, by completions.
    low, high : float
        An interval for the share of new points, meant to be right in at least 90 % of all cases.
    n : int
        How many validation points it is estimated from.
    sure : float or None
        The level of the session: settled means certain, or that sure.
    interrupted : bool
        Whether Ctrl-C ended it before all points were left out.
    """

    share: float
    low: float
    high: float
    n: int
    sure: float | None = None
    interrupted: bool = False


def new_points(
    session: CleaningSession,
    n_folds: int = N_FOLDS,
    seconds: float = 60.0,
    random_state: int = 0,
    *,
    progress: Shown = None,
) -> NewPoints:
    """Estimate what share of rows like the validation points would be settled, too.

    Each fold costs about as much as the session itself. After Ctrl-C, or when the time is spent,
    the folds that are finished are what it is estimated from, if there is any. The session stays as
    it is.

    Parameters
    ----------
    session : CleaningSession
        Best one that has stopped; else this is about stopping now.
    n_folds : int
        At least 2; each point is in one of the folds.
    seconds : float
        No further fold is begun after this much time. The interval is the wider for it.
    random_state : int
        Seed of how points are dealt into folds.
    progress : bool, or function of words and a share, optional
        Whether to show a progress bar; by default on a terminal. A function is told instead.

    Examples
    --------
    >>> from cpclean import IncompleteDataset
    >>> data = IncompleteDataset([[[0.0], [5.0]], [[1.0], [7.0]], [[6.0]]], ["a", "b", "b"])
    >>> session = CleaningSession(data, [[0.0], [0.5], [9.0], [8.0]], n_neighbors=1)
    >>> session.tell(0, candidate=0).certain_share
    1.0
    >>> found = new_points(session)
    >>> found.share, found.n
    (1.0, 4)
    >>> new_points_words(found)
    'at least 43% of rows like these would be certain, too'
    """
    n_points = session.view.points.n_points
    if not is_whole(n_folds) or n_folds < 2:
        raise CPCleanError(f"n_folds must be an int of at least 2; got {n_folds!r}.")
    if n_points < 2:
        raise CPCleanError("new_points needs at least 2 validation points; got 1.")
    if not len(session.data.dirty_rows):
        return NewPoints(1.0, 1.0, 1.0, n_points, session.sure)
    dealt = np.random.default_rng(random_state).permutation(n_points)
    folds = np.array_split(dealt, min(n_folds, n_points))
    settled, seen, end = 0.0, 0, time.perf_counter() + seconds
    answered = max(len(session.history), 1)
    total, interrupted = len(folds) * answered, False
    try:
        with progress_bar(total, "leaving points out", shown=progress, transient=True) as follow:
            for number, held in enumerate(folds):
                if seen and time.perf_counter() > end:
                    break
                settled += len(held) * _settled(session, held, follow, number * answered)
                seen += len(held)
                follow((number + 1) * answered)
    except KeyboardInterrupt:
        if not seen:
            raise
        interrupted = True
    low, high = (_interval(settled / seen, seen / points) for points in _PER_DRAW)
    return NewPoints(settled / seen, low[0], high[1], seen, session.sure, interrupted)


def _settled(session: CleaningSession, held: Ints, follow: Follow, done: int) -> float:
    """The share of some points that is settled after questions about all the others."""
    last = done + max(len(session.history), 1)
    others = np.setdiff1d(np.arange(session.view.points.n_points), held)
    asking = session.from_start(others)
    asking.budget = None
    while (question := asking.ask()) is not None:
        answer = _answer(session, asking, question)
        if answer is None:
            asking.skip(question.row)
        else:
            asking.tell(**answer)
        follow(min(last, done + len(asking.history)))
    return _settled_in(asking, session, held)


def _settled_in(asking: CleaningSession, session: CleaningSession, held: Ints) -> float:
    """The share of some points of a session that is settled by the answers of another one."""
    model = session.view.model
    if model.precomputed:  # distances to rows as they are known now are not given
        looking = session.from_start(held)
        looking.replay(entry for entry in asking.answers if "skip" not in entry)
        return looking.settled_share
    points = session.view.points.take(held)
    asked = (asking.data, points.vectors, model.n_neighbors, model.metric)
    settled = is_certain(*asked)
    if session.sure is not None:
        settled |= is_sure(*asked, level=session.sure)
    return float(points.vector_weights @ settled / len(held))


def _answer(
    session: CleaningSession, asking: CleaningSession, question: Question
) -> dict[str, Any] | None:
    """What a session knows about a question; None if that is nothing, or nothing new."""
    found = known_answer(session, question.row, question.column)
    if found is None or question.column is None:
        new = question.row not in asking.known
        return known_answer(session, question.row) if new else None
    return found


def _interval(share: float, n: float) -> tuple[float, float]:
    """Wilson's interval for a share among n draws, at 90 %."""
    square = _WIDTH**2
    middle = (share + square / (2 * n)) / (1 + square / n)
    width = _WIDTH * sqrt(share * (1 - share) / n + square / (4 * n * n)) / (1 + square / n)
    return max(0.0, middle - width), min(1.0, middle + width)


def new_points_words(found: NewPoints) -> str:
    """The estimate for people, to follow a stop message.

    Examples
    --------
    >>> new_points_words(NewPoints(0.93, 0.88, 0.961, 300, 0.95))
    'about 93% (88 to 96%) of rows like these would be certain or 95% sure, too'
    """
    kind = promise(found.sure)
    if found.share == 1.0:
        return f"at least {_whole(found.low)}% of rows like these would be {kind}, too"
    between = f"{_whole(found.low)} to {_whole(found.high)}%"
    return f"about {_whole(found.share)}% ({between}) of rows like these would be {kind}, too"


def _whole(share: float) -> str:
    """Whole percents, where 0 and 100 are exactly that."""
    if share in (0.0, 1.0):
        return f"{100 * share:.0f}"
    return "<1" if share < 0.005 else ">99" if share >= 0.995 else f"{100 * share:.0f}"
