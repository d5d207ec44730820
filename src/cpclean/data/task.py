"""Task: a table with holes and the points whose predictions matter, handed around as one value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.data.incomplete import IncompleteDataset, Ints
from cpclean.data.points import Points
from cpclean.data.table import IncompleteTable
from cpclean.errors import TableError


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be cleaned, and for the sake of what. Made by `Task.of`.

    Attributes
    ----------
    data : IncompleteTable or IncompleteDataset
        The training rows.
    points : Points
        The points to predict, encoded.
    labels : ndarray or None
        The labels of the points, where they are known.
    row_names, point_names : ndarray of int
        The number by which people know each training row and each point, such as its number in the
        file that it comes from.
    raw_points : frame or None
        The points as they were given, where they were encoded from a frame.
    frame : frame, DomainTable or None
        The training table as it was given, with the rows and columns that play no part.

    Examples
    --------
    >>> import pandas as pd
    >>> from cpclean import IncompleteTable
    >>> frame = pd.DataFrame({"age": [18, None, 65], "size": [1, 2, 3], "buys": ["n", "y", "y"]})
    >>> points = pd.DataFrame({"age": [20, 40], "size": [2, 2]})
    >>> task = Task.of(IncompleteTable(frame, label="buys"), points)
    >>> task.points.n_points, task.row_names.tolist()
    (2, [0, 1, 2])
    """

    data: IncompleteTable | IncompleteDataset
    points: Points
    labels: npt.NDArray[Any] | None
    row_names: Ints
    point_names: Ints
    raw_points: Any = None
    frame: Any = None

    @classmethod
    def of(
        cls,
        data: IncompleteTable | IncompleteDataset,
        X: Any,
        labels: Any = None,
        *,
        row_names: Any = None,
        point_names: Any = None,
        frame: Any = None,
    ) -> Task:
        """A task of training data and points.

        Parameters
        ----------
        data : IncompleteTable or IncompleteDataset
        X : Points, frame with the table's columns, or array of shape (n_points, n_features)
        labels : sequence of labels, optional
            One label per point.
        row_names, point_names : sequence of int, optional
            By default, rows have their numbers in the frame that the table was made of, and others
            are numbered from 0.
        frame : optional
            The training table as it was given.
        """
        if isinstance(X, Points):
            points, raw = X, None
        elif isinstance(data, IncompleteTable):
            points, raw = data.points(X), X
        else:
            points, raw = Points.of(X), None
        known = None if labels is None else np.asarray(labels)
        if known is not None and known.shape != (points.n_points,):
            raise TableError(
                f"labels must be one per point, {points.n_points} in all; got shape {known.shape}."
            )
        if row_names is None and isinstance(data, IncompleteTable):
            row_names = data.rows_kept
        return cls(
            data,
            points,
            known,
            _names(row_names, data.n_rows),
            _names(point_names, points.n_points),
            raw,
            frame,
        )

    @property
    def table(self) -> IncompleteTable | None:
        """The training table; None where the data has no columns that people know."""
        return self.data if isinstance(self.data, IncompleteTable) else None

    @property
    def dataset(self) -> IncompleteDataset:
        """The training rows in the space."""
        return self.data.dataset if isinstance(self.data, IncompleteTable) else self.data

    @property
    def row_named(self) -> dict[int, int]:
        """From the name of each row to its number in the data."""
        return {name: row for row, name in enumerate(self.row_names.tolist())}


def _names(names: Any, size: int) -> Ints:
    return np.arange(size) if names is None else np.asarray(names, dtype=np.int64)
