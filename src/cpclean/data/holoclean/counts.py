"""HoloClean's statistics: values as categories, how often they and their pairs occur (steps 1, 2).

Numbers are binned: one bin per value where there are few, else bins of about equally many observed
cells. A bin stands for the mean of its observed values. Categories are numbered from the most
frequent on, bins from low to high, so that nothing depends on the order of rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.data.columns import Column
from cpclean.data.rows import Floats

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Attribute:
    """A column as categories: `values` by code, `counts` of each, and the code of every row.

    A code of -1 is a hole. `cuts` are the least numbers of all bins but the first.
    """

    kind: str
    values: tuple[Any, ...]
    counts: Ints
    codes: Ints
    cuts: Floats

    @property
    def size(self) -> int:
        return len(self.values)

    @cached_property
    def frequent(self) -> Ints:
        """Codes from the most frequent to the rarest; at equal counts, the smaller code first."""
        return np.argsort(-self.counts, kind="stable")

    @cached_property
    def _places(self) -> dict[Any, int]:
        return {value: code for code, value in enumerate(self.values)}

    def coded(self, values: Iterable[Any]) -> Ints:
        """Codes of stored values; -1 for a hole and for a category that was never observed."""
        if self.kind == "categorical":
            listed = list(values)
            found = map(self._places.get, listed, repeat(-1))
            return np.fromiter(found, dtype=np.int64, count=len(listed))
        numbers = np.asarray(list(values), dtype=np.float64)
        codes = np.searchsorted(self.cuts, numbers, side="right")
        return np.where(np.isnan(numbers) | (self.size == 0), -1, codes)


def attribute_of(column: Column, trusted: Bools, bins: int) -> Attribute:
    """A column's trusted cells as categories; other cells are holes."""
    seen = column.values[trusted]
    codes = np.full(len(trusted), -1, dtype=np.int64)
    if column.kind == "categorical":
        values = _by_frequency(seen)
        empty = Attribute(column.kind, values, np.zeros(0, np.int64), codes, np.zeros(0))
        own = empty.coded(seen)
    else:
        cuts = _cuts(seen, bins)
        own = np.searchsorted(cuts, seen, side="right")
        inside = np.split(np.sort(seen), np.searchsorted(np.sort(seen), cuts))
        values = tuple(_middle(numbers) for numbers in inside if len(numbers))
    codes[trusted] = own
    counts = np.bincount(own, minlength=len(values))
    return Attribute(
        column.kind, values, counts, codes, np.zeros(0) if column.kind == "categorical" else cuts
    )


def _by_frequency(seen: npt.NDArray[Any]) -> tuple[Any, ...]:
    times = Counter(seen.tolist())
    return tuple(sorted(times, key=lambda value: (-times[value], str(value), str(type(value)))))


def _cuts(seen: Floats, bins: int) -> Floats:
    """The least number of each bin but the first; no bin is empty."""
    distinct = np.unique(seen)
    if len(distinct) <= bins:
        below, above = distinct[:-1], distinct[1:]
        middle = below / 2 + above / 2
        return np.where(middle > below, middle, above)  # neighbouring doubles have no middle
    first = np.sort(seen)[np.arange(1, bins) * len(seen) // bins]
    # Where the least number stands so often that bins would begin with it, it has one for itself.
    return np.unique(np.maximum(first, distinct[1]))


def _middle(values: Floats) -> float:
    """The mean of a bin, which rounding does not carry out of it; 0 rather than -0."""
    return float(np.clip((values / len(values)).sum(), values.min(), values.max())) + 0.0


@dataclass(frozen=True)
class PairCounts:
    """In how many rows A = v and B = b, for one ordered pair of attributes: A given B.

    Only pairs that occur are kept: `keys` are b * size + v in ascending order, `counts` belong to
    them. `given` counts, for every b, the rows in which B = b and A is known.
    """

    size: int  # of A's domain
    keys: Ints
    counts: Ints
    given: Ints

    def of(self, b: Ints, v: Ints) -> Ints:
        """The counts of pairs; 0 where b or v is -1."""
        if not len(self.keys):
            return np.zeros(np.broadcast(b, v).shape, dtype=np.int64)
        keys = b * self.size + v
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        found = (self.keys[places] == keys) & (b >= 0) & (v >= 0)
        return np.where(found, self.counts[places], 0)

    @cached_property
    def correlation(self) -> float:
        """1 - H(A|B) / log|dom A|: 1 where B determines A; 0 where A has a single value."""
        total = self.given.sum()
        if self.size < 2 or not total:
            return 0.0
        of_b = self.given[self.keys // self.size]
        entropy = -(self.counts / total * np.log(self.counts / of_b)).sum()
        return float(1.0 - entropy / np.log(self.size))


def pair_counts(a: Attribute, b: Attribute) -> PairCounts:
    """Count the pairs of values of A and B in rows where both are known."""
    known = (a.codes >= 0) & (b.codes >= 0)
    keys, counts = np.unique(b.codes[known] * a.size + a.codes[known], return_counts=True)
    given = np.bincount(b.codes[known], minlength=b.size)
    return PairCounts(a.size, keys, counts, given)


def attributes_of(columns: Sequence[Column], trusted: Bools, bins: int) -> tuple[Attribute, ...]:
    """All columns of a table as categories."""
    return tuple(attribute_of(column, trusted[:, n], bins) for n, column in enumerate(columns))
