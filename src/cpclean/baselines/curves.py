"""What is measured while rows are cleaned: figures at numbers of cleaned rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from cpclean.data.incomplete import Ints
from cpclean.data.rows import Floats, is_whole, listed
from cpclean.errors import DataError


@dataclass(frozen=True)
class CleaningCurve:
    """Something measured at numbers of cleaned rows, in one run or several.

    Attributes
    ----------
    counts : ndarray of int, shape (n_counts,)
        How many rows are cleaned.
    runs : ndarray of shape (n_runs, n_counts)
    """

    counts: Ints
    runs: Floats

    @property
    def mean(self) -> Floats:
        return np.asarray(self.runs.mean(axis=0))

    @property
    def std(self) -> Floats:
        """The sample standard deviation over runs; 0 for a single one."""
        if len(self.runs) < 2:
            return np.zeros(len(self.counts))
        return np.asarray(self.runs.std(axis=0, ddof=1))


def checked_counts(counts: Sequence[int] | None, n_dirty: int) -> Ints:
    """Numbers of cleaned rows, ascending; by default eleven even steps from none to all."""
    if counts is None:
        return np.unique(np.linspace(0, n_dirty, 11).round().astype(np.int64))
    wanted = listed(counts, "counts must be a sequence of numbers of cleaned rows")
    whole = bool(wanted) and all(is_whole(one) and 0 <= one <= n_dirty for one in wanted)
    if not whole or any(one >= two for one, two in pairwise(wanted)):
        raise DataError(
            f"counts must be ascending ints in [0, {n_dirty}] (the number of rows with holes); "
            f"got {counts!r}."
        )
    return np.array(wanted, dtype=np.int64)
