"""What predictions are worth: accuracies on test points, and the share of the gap they close.

The gap lies between default cleaning and the closest-candidate world, which is what a person could
make of the candidates.
"""

from __future__ import annotations

import math

import numpy as np

from cpclean.baselines.estimator import one_world, vote
from cpclean.data.incomplete import IncompleteDataset
from cpclean.data.rows import Floats
from cpclean.experiments.space_files import Labels
from cpclean.experiments.spaces import Space
from cpclean.queries.model import Model

MODEL = Model(n_neighbors=3)

# Where a person could gain less than this, a share of the gain would be a ratio of two noises.
TINY_GAP = 0.01


def vote_accuracy(data: IncompleteDataset, X: Floats, y: Labels, model: Model = MODEL) -> float:
    """The share of points whose label is the one that most prior mass predicts."""
    return float((data.classes[vote(data, X, model)] == y).mean())


def world_accuracy(rows: Floats, space: Space, model: Model = MODEL) -> float:
    """Test accuracy of one world, by the same tie rule."""
    world = one_world(rows, space.table.dataset.labels)
    return vote_accuracy(world, space.X_test, space.y_test, model)


def filled(space: Space, data: IncompleteDataset) -> IncompleteDataset:
    """The default world, with the rows that are known filled in."""
    rows = space.default.copy()
    known = np.setdiff1d(np.arange(data.n_rows), data.dirty_rows)
    rows[known] = data.arrays.base[known]
    return one_world(rows, data.labels)


class Gap:
    """The share of the gap that is closed, on the test points of one space."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self._worst = world_accuracy(space.default, space)
        self._width = world_accuracy(space.closest_world(), space) - self._worst

    def closed(self, data: IncompleteDataset) -> float:
        """By the vote over the worlds of some data; NaN if there is hardly a gap."""
        found = vote_accuracy(data, self._space.X_test, self._space.y_test) - self._worst
        return found / self._width if self._width >= TINY_GAP else math.nan


def closed(gains: Floats, gaps: Floats) -> str:
    """The share of the gap that is closed; where there is hardly a gap, the gain itself.

    Both are differences to default cleaning, one per seed: of the vote, and of the closest world.
    """
    error = gaps.std(ddof=1) / np.sqrt(len(gaps)) if len(gaps) > 1 else 0.0
    if gaps.mean() < max(TINY_GAP, 2 * error):
        return f"{100 * gains.mean():+.1f} points"
    return f"{100 * gains.mean() / gaps.mean():.0f} %"
