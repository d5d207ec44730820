"""Objectives that were tried for the order of cleaning until all points are sure.

Besides the named strategies: the plain expected entropy of all points, settled ones included, and
the expected number of points that one answer settles. docs/results/sure.md says what they need.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cpclean.cleaning.strategies import NOISE, Situation, plan_named
from cpclean.data.points import Points
from cpclean.data.rows import Floats, Ints
from cpclean.queries.gains import Conditionals, conditionals
from cpclean.queries.geometry import ask_both
from cpclean.queries.model import Model
from cpclean.queries.query import Near, Query
from cpclean.queries.sureness import reaches

# Where no single answer settles a point, relative gains decide; they never outweigh a point.
_TIE = 1e-3
# The share of the points that are settled when `roots_first` turns to the others.
NEARLY_ALL = 0.95


def every_point(situation: Situation) -> Floats:
    """The expected fall of the entropy of all points, also of those that are settled."""
    return situation.points.summed(np.ones(len(situation.points.weight)))


def by_squares(situation: Situation) -> Floats:
    """The expected fall of the entropy of open points, divided by its square."""
    return situation.points.summed(_inverse(situation) ** 2)


def squeeze(situation: Situation) -> Floats:
    """The root of the expected fall of the entropy of open points, divided by the entropy."""
    points = situation.points
    root = np.sqrt(np.maximum(points.gain, 0.0)) * _inverse(situation)[points.point]
    each = points.weight[points.point] * root
    return np.bincount(points.question, each, len(situation.row)).astype(np.float64)


def root_of_gain(situation: Situation) -> Floats:
    """The root of the expected fall of the entropy of open points, not divided by anything."""
    points = situation.points
    open_ = ~points.settled[points.point] & (points.gain > NOISE)
    each = points.weight[points.point] * np.sqrt(np.where(open_, points.gain, 0.0))
    return np.bincount(points.question, each, len(situation.row)).astype(np.float64)


def roots_first(situation: Situation) -> Floats:
    """By "roots" until nearly all points are settled; then `root_of_gain`: the hardest points."""
    if situation.settled_share >= NEARLY_ALL:
        return root_of_gain(situation)
    return np.asarray(plan_named("roots").score(situation))


def _inverse(situation: Situation) -> Floats:
    """One over the entropy of each open point; 0 for a settled one."""
    points = situation.points
    return np.where(points.settled, 0.0, 1.0 / np.maximum(points.entropy, 1e-4))


class NewlySettled:
    """The expected number of open points that an answer settles; a strategy for one session.

    Errors of draws are not taken off. What is known about a point is kept until an answer changes
    its gains.

    Parameters
    ----------
    points : Points
        The validation points of the session.
    n_neighbors : int
    level : float
        At which points are sure.
    """

    def __init__(self, points: Points, n_neighbors: int, level: float) -> None:
        self._points, self._model, self._level = points, Model(n_neighbors), level
        self._kept: dict[int, tuple[tuple[Ints, Floats], Ints, Floats]] = {}

    def __call__(self, situation: Situation) -> Floats:
        points = situation.points
        (open_,) = np.nonzero(~points.settled)
        lists = points.lists
        changed = [one for one in open_.tolist() if not self._is_known(one, lists.of(one))]
        if changed:
            query = ask_both(situation.data, self._points, self._model).for_shares
            parts = query.about(query.vectors[changed]).over_blocks(_listed)
            found = [given for part in parts for given in part]
            for point, given in zip(changed, found, strict=True):
                self._kept[point] = (lists.of(point), *self._chances(query, given))
        scores = _TIE * situation.points.summed(_inverse(situation))
        for point in open_.tolist():
            _, rows, chances = self._kept[point]
            scores[np.searchsorted(situation.row, rows)] += points.weight[point] * chances
        return scores

    def _is_known(self, point: int, gains: tuple[Ints, Floats]) -> bool:
        if point not in self._kept:
            return False
        before = self._kept[point][0]
        return all(np.array_equal(one, two) for one, two in zip(before, gains, strict=True))

    def _chances(self, query: Query, given: Conditionals) -> tuple[Ints, Floats]:
        """The rows with holes around a point, and how likely each answer settles the point."""
        counts = query.data.candidate_counts[given.rows]
        place = np.repeat(np.arange(len(counts)), counts)
        at = np.where(given.rank[:, None] >= 0, given.at[given.rank], given.beyond[place])
        settles = reaches(at.max(axis=1, initial=0.0), np.zeros(len(at)), self._level)
        priors: list[Any] = [query.data.prior(row) for row in given.rows.tolist()]
        each = np.concatenate([np.zeros(0), *priors]) * settles
        chances = np.bincount(place, each, len(counts)).astype(np.float64)
        dirty = counts > 1
        return given.rows[dirty], chances[dirty]


def _listed(query: Query, points: Floats, near: Near) -> list[Conditionals]:
    return list(conditionals(query, points, near))
