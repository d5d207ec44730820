"""Features: how one column of a table is encoded, numbers scaled and categories one-hot."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.data.columns import ABSENT, Column
from cpclean.data.rows import Floats, Ints


@dataclass(frozen=True)
class Feature:
    """How one column is encoded: columns start..stop-1 of the space."""

    name: str
    kind: str
    start: int
    stop: int
    shift: float = 0.0
    scale: float = 1.0
    categories: tuple[Hashable, ...] = ()

    def encoded(self, values: Sequence[Any] | npt.NDArray[Any]) -> Floats:
        """Vectors of shape (len(values), stop - start); a category not known is all zero."""
        if self.kind != "categorical":
            numbers = np.asarray(values, dtype=np.float64)
            return np.asarray(((numbers - self.shift) * self.scale)[:, None])
        places = self._places(list(values))
        vectors = np.zeros((len(places), self.stop - self.start))
        (known,) = np.nonzero(places >= 0)
        vectors[known, places[known]] = self.scale
        return vectors

    def write(self, column: Column, space: Floats) -> None:
        """Encode a column into its place in vectors of the space, which are zero there."""
        if self.kind != "categorical":
            space[:, self.start] = (column.values - self.shift) * self.scale
            return
        codes, distinct = column.categories
        places = np.append(self._places(distinct), -1)[codes]  # the last one is that of holes
        (known,) = np.nonzero(places >= 0)
        space[known, self.start + places[known]] = self.scale

    def unseen(self, column: Column) -> int:
        """How many rows have a category that is not known."""
        codes, distinct = column.categories
        known = {*self.categories, ABSENT}
        strange = np.array([*(one not in known for one in distinct), False])  # the last: holes
        return int(strange[codes].sum())

    def _places(self, values: Sequence[Any]) -> Ints:
        """The number of each value among the categories, -1 if it is none of them."""
        place = {category: number for number, category in enumerate(self.categories)}
        return np.fromiter(map(place.get, values, repeat(-1)), dtype=np.int64, count=len(values))
