"""How the shares of certain and of sure predictions came about, answer by answer.

A session with a level has both in its history. One without a level has not looked at what is sure
after every answer, for that can take as long as the answer itself: it is looked at later, for some
numbers of answers, the coarsest steps first.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from cpclean.cleaning.answers import replayed
from cpclean.cleaning.view import SessionView
from cpclean.data.incomplete import IncompleteDataset
from cpclean.data.rows import Bools
from cpclean.queries.certain import is_certain
from cpclean.queries.sureness import LEVEL, is_sure

MOST_PLACES = 32
SECONDS = 3.0


@dataclass(frozen=True)
class VerdictShares:
    """The shares of predictions that are certain, and certain or sure, after some answers."""

    answers: int
    certain: float
    sure: float


def verdict_course(view: SessionView, seconds: float = SECONDS) -> list[VerdictShares]:
    """The shares after some numbers of answers, the first and the last of all among them.

    Parameters
    ----------
    view : SessionView
    seconds : float
        After so much time no further place is looked at; none at all has to be in a session with a
        level.

    Examples
    --------
    >>> from cpclean import CleaningSession, IncompleteDataset
    >>> data = IncompleteDataset(
    ...     [[[0.0], [5.0]], [[1.0], [7.0]], [[6.0]]], ["a", "b", "b"], [[0.96, 0.04], None, None])
    >>> session = CleaningSession(data, [[0.0]], n_neighbors=1)
    >>> session.tell(0, candidate=0).certain_share
    1.0
    >>> [(one.answers, one.certain, one.sure) for one in verdict_course(session.view)]
    [(0, 0.0, 1.0), (1, 1.0, 1.0)]
    """
    history = view.history
    if view.sure is not None:
        start = VerdictShares(0, view.share_at_start, view.settled_at_start)
        pairs = ((one.certain_share, one.settled_share) for one in history)
        return [start, *(VerdictShares(n, *both) for n, both in enumerate(pairs, 1))]
    found = [VerdictShares(len(history), view.certain_share, view.sure_share)]
    end = time.perf_counter() + seconds
    for answers in course_places(len(history)):
        if answers == len(history):
            continue
        if len(found) > 1 and time.perf_counter() > end:
            break
        sure = sure_after(view, answers)
        if sure is None:
            break
        certain = history[answers - 1].certain_share if answers else view.share_at_start
        found.append(VerdictShares(answers, certain, max(certain, sure)))
    return sorted(found, key=lambda one: one.answers)


def course_places(n_answers: int, most: int = MOST_PLACES) -> list[int]:
    """Numbers of answers in equal steps, the coarsest first; more answers only widen the steps.

    >>> course_places(5), course_places(100, 7)
    ([0, 4, 2, 1, 3, 5], [0, 64, 32, 96, 16, 48, 80])
    """
    step = 1
    while n_answers // step >= most:
        step *= 2
    places = range(0, n_answers + 1, step)
    return sorted(places, key=lambda place: (-(place & -place) if place else -(2**62), place))


def sure_after(view: SessionView, n_answers: int, level: float = LEVEL) -> float | None:
    """The share that was certain or sure after the first answers of a session.

    None where it cannot be told any more: distances were given, and answers have changed them.
    """
    if view.model.precomputed:
        return None
    data, vectors = _data_after(view, n_answers), view.points.vectors
    model = (view.model.n_neighbors, view.model.metric)
    found = is_certain(data, vectors, *model)
    (doubtful,) = np.nonzero(~found)
    if len(doubtful):
        found[doubtful] = is_sure(data, vectors[doubtful], *model, level=level)
    return _weighed(view, found)


def _data_after(view: SessionView, n_answers: int) -> IncompleteDataset:
    state = view.version
    ends = [place for place, record in enumerate(state.records, 1) if record is not None]
    log = state.log[: ends[n_answers - 1] if n_answers else 0]
    known, _ = replayed(view.setup.subject, log)
    states = (*state.before_refits, state)  # each with the space of its time
    start = next(one for one in states if len(one.log) >= len(log)).board.ground.start
    return start.knowing(
        {row: start.row_given(row, one.features) for row, one in known.items() if one.features}
    )


def _weighed(view: SessionView, vectors: Bools) -> float:
    """How much some of the distinct vectors weigh among all points."""
    weights = view.points.vector_weights
    if not weights[~vectors].any():
        return 1.0  # whatever sums round to
    return float(weights[vectors].sum() / weights.sum())
