"""One trial: complete rows of a table, some of them with holes as the table has them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.analysis.hole_pattern import HolePattern
from cpclean.data.columns import Column
from cpclean.data.incomplete import Ints
from cpclean.data.rows import Bools
from cpclean.intake.holding import held_out


@dataclass(frozen=True, eq=False)
class TrialRows:
    """Complete rows of a table, and the holes that were made in them; the label is no column."""

    columns: tuple[Column, ...]
    codes: Ints
    classes: npt.NDArray[Any]
    holes: Bools

    @property
    def labels(self) -> npt.NDArray[Any]:
        """One label per row."""
        return self.classes[self.codes]

    def __len__(self) -> int:
        return len(self.codes)

    def part(self, share: float) -> TrialRows:
        """About a share of the rows of each label, the first ones, and at least two of them."""
        kept = np.zeros(len(self), dtype=bool)
        for code in np.unique(self.codes).tolist():
            (own,) = np.nonzero(self.codes == code)
            kept[own[: max(2, round(share * len(own)))]] = True
        columns = tuple(replace(column, values=column.values[kept]) for column in self.columns)
        return TrialRows(columns, self.codes[kept], self.classes, self.holes[kept])

    @property
    def n_with_holes(self) -> int:
        return int(self.holes.any(axis=1).sum())

    @cached_property
    def true(self) -> Any:
        """A pandas frame with the true values."""
        return _frame(self.columns, np.zeros_like(self.holes))

    @cached_property
    def dirty(self) -> Any:
        """The same with nulls where there are holes."""
        return _frame(self.columns, self.holes)

    @cached_property
    def for_rivals(self) -> Any:
        """The rows with holes as other models take them: floats, and text for categories."""
        import pandas as pd

        found = {}
        for column, hidden in zip(self.columns, self.holes.T, strict=True):
            if column.kind == "categorical":
                found[column.name] = _series(map(str, column.values.tolist()), hidden)
            else:
                found[column.name] = np.where(hidden, np.nan, column.values)
        return pd.DataFrame(found)


@dataclass(frozen=True, eq=False)
class Trial:
    """Rows to learn from, and rows to predict."""

    train: TrialRows
    points: TrialRows

    def part(self, share: float) -> Trial:
        """The trial itself, or about a share of its rows of each kind and label."""
        return self if share >= 1.0 else Trial(self.train.part(share), self.points.part(share))


@dataclass(frozen=True, eq=False)
class Trials:
    """What trials are made of.

    Attributes
    ----------
    columns : tuple of Column
        Those of the table that play a part.
    pattern : HolePattern
        Its holes in these columns.
    classes : ndarray
        The labels that class numbers stand for.
    point_pattern : HolePattern, optional
        Holes of rows to predict, if they are others than the table's; all of one label.
    """

    columns: tuple[Column, ...]
    pattern: HolePattern
    classes: npt.NDArray[Any]
    point_pattern: HolePattern | None = None

    def trial(self, most_rows: int, share: float, rng: np.random.Generator) -> Trial:
        """Rows in random order, with a share of every label held out as points.

        Parameters
        ----------
        most_rows : int
            Of training rows and points together.
        share : float
            Of the points, between 0 and 1.
        rng : numpy.random.Generator
        """
        import pandas as pd

        rows = self.pattern.sample(most_rows, rng)
        codes = self.pattern.codes[rows]
        out = held_out(pd.Series(codes), share, int(rng.integers(2**31)))
        train, points = np.delete(rows, out), rows[out]
        holes = self.pattern.punched(self.pattern.codes[train], rng)
        return Trial(self._rows(train, holes), self._rows(points, self._point_holes(points, rng)))

    def _point_holes(self, points: Ints, rng: np.random.Generator) -> Bools:
        if self.point_pattern is None:
            return self.pattern.punched(self.pattern.codes[points], rng)
        return self.point_pattern.punched(np.zeros(len(points), dtype=np.int64), rng)

    def _rows(self, rows: Ints, holes: Bools) -> TrialRows:
        columns = tuple(replace(column, values=column.values[rows]) for column in self.columns)
        return TrialRows(columns, self.pattern.codes[rows], self.classes, holes)


def _frame(columns: tuple[Column, ...], holes: Bools) -> Any:
    """Values as people know them; numbers stay floats."""
    import pandas as pd

    found = {}
    for column, hidden in zip(columns, holes.T, strict=True):
        if column.kind == "numeric":
            found[column.name] = np.where(hidden, np.nan, column.values)
        else:
            found[column.name] = _series(column.all_shown(column.values), hidden)
    return pd.DataFrame(found)


def _series(values: Any, hidden: Bools) -> Any:
    import pandas as pd

    kept = [None if hole else value for hole, value in zip(hidden.tolist(), values, strict=True)]
    return pd.Series(kept, dtype=object)
