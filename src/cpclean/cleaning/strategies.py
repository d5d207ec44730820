"""Which row to ask for next.

"cpclean"  the row whose cleaning is expected to lower the mean entropy of the validation points
           most: sequential information maximisation, the paper's Algorithm 3
"random"   rows in an order that is drawn once a session, whether or not they matter to any point
"cells"    like cpclean, but asks for one cell of a row
"cost"     the largest expected gain per cost

Your own: a function from a `Situation` to one score a question; the highest score is asked, and a
score of -inf never is. Scores of what is answered or skipped are not looked at. It should depend on
nothing but the situation, or sessions cannot be replayed.

Scores that differ by less than rounding count as equal: the smaller row wins. Where no question
promises a gain although points are uncertain (gains too small for a float, or candidates with a
prior of 0), the uncertain point with fewest rows left to clean is finished first: of its rows,
the one that is near to most uncertain points.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.cleaning.board import Board
from cpclean.data.incomplete import IncompleteDataset, Ints
from cpclean.data.rows import Floats
from cpclean.errors import CPCleanError

# Gains are sums of differences of numbers near 1. Below this, nothing is to be gained.
NOISE = 1e-13
# Scores that differ by less, beside the same share of the best score, are equal but for rounding.
_ROUNDING = 1e-14
_EQUAL = 1e-12


@dataclass(frozen=True)
class Situation:
    """What a strategy may look at. All arrays have one entry a question."""

    row: Ints  # which row the question is about
    column: tuple[Any, ...]  # which cell of it; None for the whole row
    gain: Floats  # expected fall of the mean entropy over the validation points
    cost: Floats
    order: Ints  # a place in a random order of the rows
    data: IncompleteDataset  # as it is known now
    certain_share: float
    n_answers: int


Strategy = Callable[[Situation], npt.ArrayLike]


def _gain(situation: Situation) -> Floats:
    return situation.gain


def _random(situation: Situation) -> Floats:
    return -situation.order.astype(np.float64)


def _gain_per_cost(situation: Situation) -> Floats:
    return situation.gain / situation.cost


@dataclass(frozen=True)
class Plan:
    """A strategy, and what it needs."""

    score: Strategy
    by_cell: bool = False
    by_gain: bool = False  # a score of 0 means that nothing is to be gained
    needs_costs: bool = False


_NAMED = {
    "cpclean": Plan(_gain, by_gain=True),
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
    scored = plan.score(situation)
    try:
        scores = np.asarray(scored, dtype=np.float64)
    except (TypeError, ValueError):
        scores = np.empty(0)
    if scores.shape != situation.gain.shape or np.isnan(scores[askable]).any():
        raise CPCleanError(
            f"a strategy must return {len(situation.gain)} scores, one a question, and none of "
            f"them NaN; got {scored!r}."
        )
    scores = np.where(askable, scores, -np.inf)
    best = scores.max(initial=-np.inf)
    if best == -np.inf:
        return -1
    if plan.by_gain and situation.gain[askable].max() <= NOISE:
        return _to_finish(situation, askable, board)
    return int(np.argmax(scores >= best - _EQUAL * abs(best) - _ROUNDING))


def _to_finish(situation: Situation, askable: npt.NDArray[np.bool_], board: Board) -> int:
    """Finish the uncertain point with fewest rows left to clean."""
    open_ = np.zeros(board.data.n_rows, dtype=bool)
    open_[situation.row[askable]] = True
    lists = [rows[open_[rows]] for rows in board.open_rows()]
    lists = [rows for rows in lists if len(rows)]
    if not lists:
        return -1
    times = np.bincount(np.concatenate(lists), minlength=board.data.n_rows)
    shortest = min(lists, key=len)  # the first of equals
    row = shortest[np.argmax(times[shortest])]
    return int(np.flatnonzero(askable & (situation.row == row))[0])
