"""Where the holes of a table are: in which columns, and in which of them together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cpclean.analysis.words import count, percent
from cpclean.data.streamed.streamed_table import StreamedTable
from cpclean.data.table import IncompleteTable

MOST_PATTERNS = 12


@dataclass(frozen=True)
class MissingIn:
    """The holes of one column: how many, and the share of the rows that have one."""

    name: str
    holes: int
    share: float


@dataclass(frozen=True)
class MissingTogether:
    """Columns that are missing in the same rows, and in how many."""

    columns: tuple[str, ...]
    rows: int


@dataclass(frozen=True)
class Missing:
    """Where the holes of a table are, before any answer.

    Attributes
    ----------
    columns : tuple of MissingIn
        Columns with holes, the emptiest first.
    together : tuple of MissingTogether
        The most frequent combinations of missing columns.
    n_columns : int
        All columns, with and without holes.
    n_combinations : int or None
        All combinations, frequent or not; None if there are too many to count.
    n_rows : int
        Rows with holes.
    """

    columns: tuple[MissingIn, ...]
    together: tuple[MissingTogether, ...]
    n_columns: int
    n_combinations: int | None
    n_rows: int

    @property
    def columns_in_words(self) -> str:
        """Which columns have holes, in a sentence."""
        have = "has" if len(self.columns) == 1 else "have"
        told = f"{len(self.columns):,} of {count(self.n_columns, 'column')} {have} holes"
        if not self.columns:
            return f"{told}."
        most = self.columns[0]
        return f"{told}. {most.name} has the most: {percent(most.share)} of its cells are missing."

    @property
    def together_in_words(self) -> str:
        """How many combinations there are, in a sentence."""
        if self.n_combinations is None:
            return f"Too many combinations to count, in {count(self.n_rows, 'row')}."
        told = f"{count(self.n_combinations, 'combination')} of missing columns in "
        told += count(self.n_rows, "row")
        covered = sum(one.rows for one in self.together)
        if covered < self.n_rows:
            told += f"; the {len(self.together)} most frequent ones cover {covered:,}"
        return f"{told}."


def missing(table: IncompleteTable | StreamedTable) -> Missing:
    """Where the holes of a table are.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [18, None, 65], "city": ["A", None, None], "size": [1, 2, 3]})
    >>> found = missing(IncompleteTable(frame, label=[0, 1, 1]))
    >>> [(one.name, one.holes) for one in found.columns]
    [('city', 2), ('age', 1)]
    >>> [(one.columns, one.rows) for one in found.together]
    [(('age', 'city'), 1), (('city',), 1)]
    """
    counts, names = table.counts, table.names
    times = np.array(counts.n_holes)
    order = [at for at in np.argsort(-times, kind="stable").tolist() if times[at]]
    found = counts.together or {}
    frequent = sorted(found.items(), key=lambda one: (-one[1], one[0]))
    return Missing(
        tuple(MissingIn(names[at], int(times[at]), times[at] / counts.n_rows) for at in order),
        tuple(
            MissingTogether(tuple(names[at] for at in one), many)
            for one, many in frequent[:MOST_PATTERNS]
        ),
        len(names),
        None if counts.together is None else len(found),
        counts.n_dirty,
    )
