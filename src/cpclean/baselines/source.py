"""What a baseline is fitted to, and how its points become vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cpclean.data.frames import is_frame
from cpclean.data.incomplete import IncompleteDataset
from cpclean.data.points import Points
from cpclean.data.rows import Floats, as_floats, check_finite
from cpclean.data.table import IncompleteTable
from cpclean.data.task import Task
from cpclean.errors import DataError, TableError, offenders


@dataclass(frozen=True)
class Source:
    """A task, and the space that knows more about it, if there is one."""

    task: Task
    space: Any = None

    @property
    def dataset(self) -> IncompleteDataset:
        return self.task.dataset

    @property
    def table(self) -> IncompleteTable | None:
        return self.task.table

    def encode(self, X: Any, what: str = "X") -> Floats:
        """Complete points as vectors of the space."""
        if isinstance(X, Points):
            if len(X.mixtures):
                raise DataError(
                    f"{what} must be complete here; point {offenders(X.mixtures.tolist())} has "
                    "several completions. Fill the holes of the points, or leave these out."
                )
            return X.all_vectors()
        if self.table is not None and (self.space is None or is_frame(X)):
            return self.table.encode(X)
        vectors = as_floats(X, what)
        width = self.dataset.n_features
        if vectors.ndim != 2 or vectors.shape[1] != width:
            raise DataError(
                f"{what} must have shape (n_points, {width}), vectors of the encoded space; "
                f"got {vectors.shape}."
            )
        check_finite(vectors, what)
        return vectors

    def rows(self, rows: Any, what: str) -> Floats:
        """Complete training rows as vectors of the space."""
        vectors = self.encode(rows, what)
        if len(vectors) != self.dataset.n_rows:
            raise DataError(
                f"{what} must have one row per training row, {self.dataset.n_rows} in all; "
                f"got {len(vectors)}."
            )
        return vectors

    def of_space(self, name: str) -> Any:
        """An attribute of the space; None without a space, or if it has no such attribute."""
        return getattr(self.space, name, None)


def brings_labels(data: Any) -> bool:
    """Whether data is a table, a dataset, a task or a space, rather than a frame or array."""
    known = isinstance(data, IncompleteTable | IncompleteDataset | Task)
    return known or isinstance(getattr(data, "task", None), Task)


def source_of(data: Any, y: Any = None) -> Source:
    """What a user's data is; frames and arrays become tables with default candidates."""
    if not brings_labels(data):
        if y is None:
            raise TableError(
                "data must be an IncompleteTable, an IncompleteDataset, a Task or a space, or come "
                f"with its labels as y; got {type(data).__name__} without y."
            )
        return Source(_without_points(IncompleteTable(data, label=y)))
    if y is not None:
        raise TableError(
            f"y must be None, because the {type(data).__name__} has labels; "
            f"got y of type {type(y).__name__}."
        )
    if isinstance(data, Task):
        return Source(data)
    if isinstance(data, IncompleteTable | IncompleteDataset):
        return Source(_without_points(data))
    return Source(data.task, data)


def _without_points(data: IncompleteTable | IncompleteDataset) -> Task:
    width = data.dataset.n_features if isinstance(data, IncompleteTable) else data.n_features
    return Task.of(data, Points.of(np.empty((0, width))))
