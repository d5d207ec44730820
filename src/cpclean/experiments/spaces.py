"""The experiment spaces that the paper's authors published, through one loader."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.baselines.filling import with_absent
from cpclean.cleaning.truth import closest_candidates
from cpclean.data.columns import Column
from cpclean.data.frames import columns_from
from cpclean.data.repairs import Versions
from cpclean.data.rows import Floats
from cpclean.data.table import IncompleteTable
from cpclean.data.task import Task
from cpclean.experiments.space_files import Labels, SpaceFiles

# The published spaces: table -> kind, each in the folder spaces/<table>/<kind>.
PUBLISHED = {
    "Supreme": "systematic",
    "Bank": "systematic",
    "Puma": "systematic",
    "BabyProduct": "real",
}


@dataclass(frozen=True)
class Space:
    """A task for cleaning whose truth is known, and test points that play no part in it.

    Attributes
    ----------
    name : str
    task : Task
        The training table, and the validation points with their labels. `table`, `X_val` and
        `y_val` are parts of it.
    X_test, y_test : ndarray
        Encoded test points, and their labels.
    clean : ndarray of shape (n_rows, n_features)
        The true training rows, encoded.
    truth : ndarray of int
        The number of each row's candidate that is nearest to the true row.
    default : ndarray of shape (n_rows, n_features)
        The training rows as cleaned by default, encoded: numbers by the mean, categories by the
        most frequent one.
    build : function
        From a prior to the same table with that prior.
    versions : dict from name to ndarray of shape (n_rows, n_features), optional
        Whole repaired versions of the training rows, encoded, where the space has them.
    """

    name: str
    task: Task
    X_test: Floats
    y_test: Labels
    clean: Floats
    truth: npt.NDArray[np.int64]
    default: Floats
    build: Callable[[Any], IncompleteTable]
    versions: Mapping[str, Floats] | None = None

    @property
    def table(self) -> IncompleteTable:
        """The training table with candidates."""
        assert self.task.table is not None
        return self.task.table

    @property
    def X_val(self) -> Floats:
        """The validation points, encoded."""
        return self.task.points.all_vectors()

    @property
    def y_val(self) -> Labels:
        """The labels of the validation points."""
        assert self.task.labels is not None
        return self.task.labels

    def closest_world(self) -> Floats:
        """The training rows of the closest-candidate world."""
        rows = range(self.table.n_rows)
        return np.stack([self.table.dataset.candidate(row, int(self.truth[row])) for row in rows])


def load_space(folder: str | Path, prior: Any = "uniform", n_val: int | None = 1000) -> Space:
    """Load a published space.

    Row i's candidates are row i of every version, distinct ones only; numbers equal to 12 decimals
    count as equal. Numbers are scaled by the dirty table; categories are one-hot over all that
    occur in the full table.

    Parameters
    ----------
    folder : path
        For example `spaces/Supreme/systematic`.
    prior : as in `IncompleteTable`
        The paper's is uniform over a row's distinct candidates.
    n_val : int, optional
        How many validation points to take, from the first one on; all if None.
    """
    files = SpaceFiles(folder)
    dirty = files.frame("X_train_dirty")
    parts = {name: files.frame(name) for name in ("X_train_clean", "X_val", "X_test")}
    kinds = {
        column.name: "categorical" if column.kind == "boolean" else column.kind
        for column in columns_from(dirty)
    }
    labels = files.labels("y_train")
    categories = {
        name: list(dict.fromkeys(value for part in parts.values() for value in part[name].dropna()))
        for name, kind in kinds.items()
        if kind == "categorical"
    }
    versions = {
        name: _marked(columns_from(version, kinds), categories)
        for name, version in files.versions.items()
    }

    def build(prior: Any) -> IncompleteTable:
        return IncompleteTable(
            dirty,
            label=labels,
            repairs=Versions(list(versions.values())),
            prior=prior,
            kinds=kinds,
            weights=dict.fromkeys(categories, math.sqrt(2.0)),  # plain one-hot, as published
            categories=categories,
        )

    table = build(prior)
    clean = table.encode(parts["X_train_clean"])
    points = parts["X_val"].iloc[:n_val]
    return Space(
        name=files.folder.parent.name,
        task=Task.of(table, points, files.labels("y_val")[:n_val], frame=dirty),
        X_test=table.encode(parts["X_test"]),
        y_test=files.labels("y_test"),
        clean=clean,
        truth=closest_candidates(table.dataset, clean, table),
        default=table.encode(files.versions["mean"]),
        build=build,
        versions={name: table.space.encode(columns) for name, columns in versions.items()},
    )


def _marked(columns: list[Column], categories: Mapping[str, list[Any]]) -> list[Column]:
    """A version may leave a category empty, or invent one: then the cell has no category at all."""
    return [
        with_absent(column, categories[column.name]) if column.kind == "categorical" else column
        for column in columns
    ]
