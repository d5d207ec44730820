"""Tables with holes whose true values are known: published ones, and ones with injected holes.

Candidates and priors are those of `IncompleteTable`, not the published repairs: a person who is
asked tells the true value, whether or not it is a candidate.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from cpclean.data.table import IncompleteTable
from cpclean.experiments.fresh import RATE, generated_table, load_table
from cpclean.experiments.inject import inject, inject_by_class
from cpclean.experiments.space_files import Labels, SpaceFiles
from cpclean.experiments.spaces import PUBLISHED

PUBLISHED_HOLES = "published"
BY_CLASS = "by class"  # whether a value is hidden depends on it, and on the label
AGAIN = ", draw "  # "random, draw 2": other rows, and other holes

# Of tables with injected holes: training rows and points, and of generated ones.
TRAIN, POINTS = 1200, 1000
FEW_TRAIN, FEW_POINTS = 80, 40
SEED = 0


@dataclass(frozen=True)
class Told:
    """Training rows with holes and as they are in truth, their labels, and complete points."""

    dirty: Any
    true: Any
    labels: Labels
    points: Any

    def table(self, space: str, prior: Any = "label") -> IncompleteTable:
        """The rows with holes, in a space."""
        return IncompleteTable(self.dirty, self.labels, prior=prior, space=space)


@lru_cache(maxsize=1)
def told_table(folder: Path | None, name: str, holes: str) -> Told:
    """A published table, or one with injected holes; without a folder, a small generated one.

    Parameters
    ----------
    folder : path, optional
        The data folder.
    name, holes : str
        Such as "Bank" and "published", "random", "important", "high" or "by class"; "random, draw
        2" and so on are other draws of rows and holes.
    """
    if holes == PUBLISHED_HOLES:
        assert folder is not None
        files = SpaceFiles(folder / "spaces" / name / PUBLISHED[name])
        return Told(
            files.frame("X_train_dirty"),
            files.frame("X_train_clean"),
            files.labels("y_train"),
            files.frame("X_val").iloc[:POINTS],
        )
    if folder is None:
        whole, n_train, n_points = generated_table(name), FEW_TRAIN, FEW_POINTS
    else:
        whole, n_train = load_table(folder, name), TRAIN
        n_points = min(POINTS, len(whole.labels) // 3)
    holes, _, draw = holes.partition(AGAIN)
    seed = SEED + int(draw or 0)
    order = np.random.default_rng(seed).permutation(len(whole.labels))
    points, rows = order[:n_points], order[n_points : n_points + n_train]
    true, labels = whole.frame.iloc[rows].reset_index(drop=True), whole.labels[rows]
    if holes == BY_CLASS:
        dirty = inject_by_class(true, labels, RATE, seed).frame
    else:
        dirty = inject(true, holes, RATE, seed, labels).frame
    return Told(dirty, true, labels, whole.frame.iloc[points].reset_index(drop=True))
