"""How many rows of a table are what: of all its rows, also if only some of them are at hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cpclean.data.columns import Column
from cpclean.data.incomplete import IncompleteDataset
from cpclean.data.rows import Bools

# More combinations of missing columns than this are not told apart.
MOST_COMBINATIONS = 10_000

# Columns that are missing together, by their places, and in how many rows.
Combinations = dict[tuple[int, ...], int]


@dataclass(frozen=True)
class RowCounts:
    """Counts over all rows of a table.

    Attributes
    ----------
    n_rows, n_dirty : int
        All rows, and those with a hole.
    n_holes, n_distinct : tuple of int
        Of each column: its holes, and its distinct values.
    class_sizes : tuple of int
        How many rows have each label.
    together : dict from columns to int, or None
        Which columns are missing together, by their places, in how many rows; None if there are
        more than `MOST_COMBINATIONS` of them.
    files : str
        What the files are known by that the rows are in; "" if all rows are at hand.
    """

    n_rows: int
    n_dirty: int
    n_holes: tuple[int, ...]
    n_distinct: tuple[int, ...]
    class_sizes: tuple[int, ...]
    together: Combinations | None
    files: str = ""

    @classmethod
    def of(cls, columns: Sequence[Column], holes: Bools, data: IncompleteDataset) -> RowCounts:
        """Those of rows that are at hand."""
        sizes = np.bincount(data.codes, minlength=data.n_classes)
        return cls(
            n_rows=data.n_rows,
            n_dirty=int(holes.any(axis=1).sum()),
            n_holes=tuple(holes.sum(axis=0).tolist()),
            n_distinct=tuple(column.n_distinct for column in columns),
            class_sizes=tuple(sizes.tolist()),
            together=missing_together(holes),
        )


def missing_together(holes: Bools, before: Combinations | None = None) -> Combinations | None:
    """Which columns are missing together in some rows, and in rows before these."""
    found = Counter(before or {})
    packed = np.packbits(holes[holes.any(axis=1)], axis=1)
    if len(packed):
        masks, times = np.unique(packed, axis=0, return_counts=True)
        cells = np.unpackbits(masks, axis=1, count=holes.shape[1]).astype(bool)
        for own, count in zip(cells, times.tolist(), strict=True):
            found[tuple(np.flatnonzero(own).tolist())] += count
    return dict(found) if len(found) <= MOST_COMBINATIONS else None
