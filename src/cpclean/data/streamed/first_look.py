"""The first look at all rows: kinds, extremes, sums, categories and labels of the columns."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from cpclean.data.coding import Coded
from cpclean.data.columns import Column
from cpclean.data.exact_mean import ExactSum
from cpclean.data.rows import Floats
from cpclean.data.streamed.row_batches import Batch
from cpclean.errors import TableError

# More categories than this are refused; distinct numbers beyond it are not counted.
MOST_DISTINCT = 100_000
# Numbers that are kept to guess where the quartiles are.
SAMPLE = 1 << 15


class ColumnTally:
    """What is found out about a column, batch by batch."""

    def __init__(self, step: int) -> None:
        self.size = self.n_observed = 0
        self.like: Column | None = None  # with the marks of all batches so far
        self.sum = ExactSum()
        self.least, self.most = np.inf, -np.inf
        self.sample: list[Floats] = []
        self.distinct: Floats | None = np.empty(0)  # None: too many
        self.times: dict[Any, int] = {}
        self.some: list[Any] = []
        self._step = step

    def add(self, column: Column) -> None:
        """More rows."""
        self._mark(column)
        if not self.some:
            self.some = column.some
        if column.kind == "categorical":
            codes, distinct = column.categories
            counts = np.bincount(codes[codes >= 0], minlength=len(distinct)).tolist()
            for value, count in zip(distinct, counts, strict=True):
                self.times[value] = self.times.get(value, 0) + count
            if len(self.times) > MOST_DISTINCT:
                raise TableError(
                    f"column {column.name!r} has more than {MOST_DISTINCT:,} categories, each of "
                    "which would be a dimension of the space.",
                    f"Leave it out: drop=[{column.name!r}].",
                    column=column.name,
                )
        elif column.n_observed:
            seen = column.observed
            self.least, self.most = min(self.least, column.least), max(self.most, column.most)
            self.sum.add(seen)
            self.sample.append(seen[-self.n_observed % self._step :: self._step].copy())
            if self.distinct is not None:
                found = np.union1d(self.distinct, column.distinct)
                self.distinct = found if len(found) <= MOST_DISTINCT else None
        self.size += column.size
        self.n_observed += column.n_observed

    def _mark(self, column: Column) -> None:
        """Kinds and the like, which batches without a value know nothing about."""
        if self.like is None or not (self.n_observed or column.n_observed) or not self.n_observed:
            self.like = column
        elif column.n_observed:
            old = self.like
            zone = old.zone if old.zone == column.zone else None
            self.like = Column(
                column.name,
                column.kind,
                column.values[:0],
                old.whole and column.whole,
                old.given or column.given,
                old.rounded or column.rounded,
                zone,
            )

    def found(self) -> dict[str, Any]:
        """What a column that stands for all rows says of itself, but for quartiles."""
        assert self.like is not None
        found: dict[str, Any] = {
            "size": self.size,
            "n_observed": self.n_observed,
            "some": self.some,
        }
        if self.like.kind == "categorical":
            return {
                **found,
                "frequencies": Counter(self.times),
                "categories": Coded(np.empty(0, dtype=np.int64), list(self.times)),
                "varies": len(self.times) > 1,
                "n_distinct": len(self.times),
            }
        many = self.distinct is None
        found["varies"] = self.n_observed > 0 and self.least != self.most
        found["n_distinct"] = MOST_DISTINCT + 1 if self.distinct is None else len(self.distinct)
        if not many:
            found["distinct"] = self.distinct
        if self.n_observed:
            found |= {"least": self.least, "most": self.most, "mean": self.sum.mean}
        return found


class FirstLook:
    """All columns and the labels."""

    def __init__(self, n_columns: int, n_rows: int) -> None:
        step = max(1, n_rows // SAMPLE)
        self.tallies = [ColumnTally(step) for _ in range(n_columns)]
        self.labels: dict[Any, int] = {}
        self.label_runs = 0
        self._last: Any = None  # the label of the last row, once there is one

    def add(self, batch: Batch) -> None:
        """More rows."""
        if len(batch.codes):
            first, last = (batch.labels[batch.codes[place]] for place in (0, -1))
            self.label_runs += int(np.count_nonzero(np.diff(batch.codes)))
            self.label_runs += not self.labels or first != self._last
            self._last = last
        for tally, column in zip(self.tallies, batch.columns, strict=True):
            tally.add(column)
        counts = np.bincount(batch.codes, minlength=len(batch.labels)).tolist()
        for label, count in zip(batch.labels, counts, strict=True):
            if count:
                self.labels[label] = self.labels.get(label, 0) + count
        if len(self.labels) > MOST_DISTINCT:
            raise TableError(
                f"the label column has more than {MOST_DISTINCT:,} different labels: is it one?"
            )
