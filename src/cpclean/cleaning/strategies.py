"""Which row to ask about next.

"cpclean"  the row whose cleaning is expected to lower the mean entropy of the validation points
           most: sequential information maximisation, the paper's Algorithm 3
"relative" the row with the largest sum of relative gains: of the share of a point's entropy that it
           is expected to take away, so that nearly settled points count as much as others
"roots"    the row with the largest sum of roots of relative gains. A gain grows as the square of
           what an answer does to a share: with the root, small effects on many points count, too
"random"   rows in random order, drawn once per session, whether or not they matter to any point
"cells"    like "cpclean", but asks about one cell of a row
"cost"     the row with the largest expected gain per cost

Gains count only points that are not settled: certain or, in a session with `sure`, that sure.

Your own strategy is a function from a `Situation` to an array with a score for each question. The
question with the highest score is asked; one with a score of -inf is never asked. Scores of
questions that are answered or skipped are ignored. The function must not depend on anything but the
situation, or sessions cannot be replayed.

Scores that differ by no more than rounding count as equal, and the smaller row wins. If no question
has a gain although points are open (because gains are too small for a float, or candidates
have a prior of 0), the open point with the fewest rows left to clean is finished first: among its
rows, the one that is near most open points is asked about.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.cleaning.board import Board
from cpclean.cleaning.point_gains import PointGains
from cpclean.data.incomplete import IncompleteDataset, Ints
from cpclean.data.rows import Floats
from cpclean.errors import CPCleanError

# Gains are sums of differences of numbers near 1. A gain below this is rounding error.
NOISE = 1e-13
# Scores that differ by less than this, and this share of the best score, count as equal.
_ROUNDING = 1e-14
_EQUAL = 1e-12


@dataclass(frozen=True)
class Situation:
    """What a strategy may depend on. All arrays have one entry for each question.

    Attributes
    ----------
    row : ndarray of int
        Which row the question is about.
    column : tuple
        Which cell of the row; None for the whole row.
    gain : ndarray of float
        How much the mean entropy of the validation points is expected to fall.
    cost : ndarray of float
    order : ndarray of int
        The row's place in a random order.
    n_answers : int
    settled_share, certain_share : float
    points : PointGains
        The same gains point by point.
    data : IncompleteDataset
    """

    row: Ints
    column: tuple[Any, ...]
    cost: Floats
    order: Ints
    n_answers: int
    numbers: Ints = field(repr=False)  # of the questions, in the gains of the board
    board: Board = field(repr=False)

    @property
    def gain(self) -> Floats:
        return self.board.gains(self.numbers)

    @cached_property
    def points(self) -> PointGains:
        return self.board.point_gains(self.numbers)

    @property
    def certain_share(self) -> float:
        return self.board.certain_share

    @property
    def settled_share(self) -> float:
        return self.board.settled_share

    @property
    def data(self) -> IncompleteDataset:
        """The data as it is known now; of a large table, put together when it is asked for."""
        return self.board.data


Strategy = Callable[[Situation], npt.ArrayLike]


def _gain(situation: Situation) -> Floats:
    return situation.gain


def _relative(situation: Situation) -> Floats:
    points = situation.points
    open_ = ~points.settled & (points.entropy > NOISE)
    return points.summed(np.divide(1.0, points.entropy, np.zeros(len(open_)), where=open_))


def _roots(situation: Situation) -> Floats:
    points = situation.points
    entropy = np.where(points.settled, np.inf, points.entropy)[points.point]
    share = np.divide(points.gain, entropy, np.zeros(len(entropy)), where=points.gain > NOISE)
    each = points.weight[points.point] * np.sqrt(share)
    return np.bincount(points.question, each, len(situation.row)).astype(np.float64)


def _random(situation: Situation) -> Floats:
    return -situation.order.astype(np.float64)


def _gain_per_cost(situation: Situation) -> Floats:
    return situation.gain / situation.cost


@dataclass(frozen=True)
class Plan:
    """A strategy, and what it needs."""

    score: Strategy
    by_cell: bool = False
    by_gain: bool = False  # a score of 0 means that there is nothing to gain
    needs_costs: bool = False


_NAMED = {
    "cpclean": Plan(_gain, by_gain=True),
    "relative": Plan(_relative, by_gain=True),
    "roots": Plan(_roots, by_gain=True),
    "random": Plan(_random),
    "cells": Plan(_gain_per_cost, by_cell=True, by_gain=True),
    "cost": Plan(_gain_per_cost, by_gain=True, needs_costs=True),
}


def plan_named(strategy: Any) -> Plan:
    """The plan that a user's choice stands for."""
    if isinstance(strategy, str) and strategy in _NAMED:
        return _NAMED[strategy]
    if callable(strategy):
        return Plan(strategy)
    raise CPCleanError(
        f"strategy must be one of {', '.join(_NAMED)}, or a function from a Situation to scores; "
        f"got {strategy!r}."
    )


def pick(plan: Plan, situation: Situation, askable: npt.NDArray[np.bool_], board: Board) -> int:
    """The number of the question to ask, or -1 if there is none."""
    found = most_gain(plan, board, situation.numbers, lambda place: bool(askable[place]))
    if found >= 0:
        return found
    scored = plan.score(situation)
    try:
        scores = np.asarray(scored, dtype=np.float64)
    except (TypeError, ValueError):
        scores = np.empty(0)
    fits = scores.shape == situation.gain.shape
    top = int(scores.argmax()) if fits and len(scores) else -1  # of a NaN, if there is one
    if not fits or (top >= 0 and np.isnan(scores[top]) and np.isnan(scores[askable]).any()):
        raise CPCleanError(
            f"a strategy must return {len(situation.gain)} scores, one per question, and none of "
            f"them NaN; got {scored!r}."
        )
    if top < 0 or not askable[top]:  # look at all of them only if the best one cannot be asked
        scores = np.where(askable, scores, -np.inf)
        top = int(scores.argmax()) if len(scores) else -1
    if top < 0 or scores[top] == -np.inf:
        return -1
    if plan.by_gain and situation.gain[top] <= NOISE and not _some_gain(situation, askable):
        return _to_finish(situation, askable, board)
    equal = np.flatnonzero(scores >= _least_equal(float(scores[top])))
    return int(equal[askable[equal].argmax()])


def _least_equal(best: float) -> float:
    """The least score that counts as equal to the best."""
    return best - _EQUAL * abs(best) - _ROUNDING if best < np.inf else best


def most_gain(plan: Plan, board: Board, numbers: Ints, can_ask: Callable[[int], bool]) -> int:
    """The question with the largest gain; -1 if there is none, or the plan does not go by that.

    As `pick` finds it, without a look at the questions that gain nothing: of a large table, these
    are nearly all. Few others cannot be asked: a row that is known gains nothing.
    """
    if plan.score is not _gain:
        return -1
    places, gains = board.some_gains(numbers)
    left = gains
    while len(left):
        top = int(left.argmax())
        best, place = float(left[top]), int(places[top])
        if not best > NOISE:
            break
        if can_ask(place):
            (equal,) = (gains >= _least_equal(best)).nonzero()
            if len(equal) == 1:
                return place
            return int(next(one for one in places[equal].tolist() if can_ask(one)))
        if left is gains:
            left = gains.copy()
        left[top] = 0.0
    return -1


def _some_gain(situation: Situation, askable: npt.NDArray[np.bool_]) -> bool:
    return bool((situation.gain[askable] > NOISE).any())


def _to_finish(situation: Situation, askable: npt.NDArray[np.bool_], board: Board) -> int:
    """A question that helps to finish the open point with the fewest rows left to clean."""
    n_rows = board.ground.start.n_rows
    open_ = np.zeros(n_rows, dtype=bool)
    open_[situation.row[askable]] = True
    lists = [rows[open_[rows]] for rows in board.open_rows()]
    lists = [rows for rows in lists if len(rows)]
    if not lists:
        return -1
    times = np.bincount(np.concatenate(lists), minlength=n_rows)
    shortest = min(lists, key=len)  # the first of equals
    row = shortest[np.argmax(times[shortest])]
    return int(np.flatnonzero(askable & (situation.row == row))[0])
