"""Lists of different lengths, one behind the other in one array."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.data.coding import objects
from cpclean.data.row_arrays import runs, starts_of
from cpclean.data.rows import Floats, Ints


@dataclass(frozen=True, eq=False)
class Ragged:
    """Many lists: list i is ``flat[starts[i] : starts[i + 1]]``."""

    flat: npt.NDArray[Any]
    starts: Ints

    @classmethod
    def of(cls, lists: Sequence[Sequence[Any]]) -> Ragged:
        """Lists of any objects."""
        return cls.sized(
            objects([one for own in lists for one in own]), [len(own) for own in lists]
        )

    @classmethod
    def sized(cls, flat: npt.NDArray[Any], sizes: Iterable[int] | Ints) -> Ragged:
        """Lists of these sizes that stand one behind the other."""
        ends = np.cumsum(np.asarray(sizes, dtype=np.int64), dtype=np.int64)
        return cls(flat, np.concatenate([[0], ends]))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, number: int) -> npt.NDArray[Any]:
        return self.flat[self.starts[number] : self.starts[number + 1]]

    def __iter__(self) -> Iterator[npt.NDArray[Any]]:
        return (self[number] for number in range(len(self)))

    @cached_property
    def sizes(self) -> Ints:
        return np.diff(self.starts)

    @cached_property
    def owner(self) -> Ints:
        """The list that each item belongs to."""
        return np.repeat(np.arange(len(self)), self.sizes)

    def take(self, numbers: Ints) -> Ragged:
        """Some of the lists, in this order."""
        sizes = self.sizes[numbers]
        return Ragged.sized(self.flat[runs(self.starts[:-1][numbers], sizes)], sizes)

    def kept(self, items: npt.NDArray[np.bool_]) -> Ragged:
        """The same lists with some of their items only."""
        return Ragged.sized(self.flat[items], np.bincount(self.owner[items], minlength=len(self)))

    def with_flat(self, flat: npt.NDArray[Any]) -> Ragged:
        """Lists of the same sizes with other items."""
        return Ragged(flat, self.starts)

    def joined(self, *others: Ragged) -> Ragged:
        """These lists and others behind them."""
        parts = (self, *others)
        return Ragged.sized(
            np.concatenate([one.flat for one in parts]),
            np.concatenate([one.sizes for one in parts]),
        )

    def sums(self) -> Floats:
        """The sum of each list, to the bit as `numpy.sum` adds up a list on its own."""
        found = np.zeros(len(self))
        for size in np.unique(self.sizes).tolist():
            (own,) = np.nonzero(self.sizes == size)
            found[own] = self.take(own).flat.reshape(len(own), size).sum(axis=1)
        return found


def places_of(sizes: Ints) -> Ints:
    """0, 1, ... within each of some lists."""
    return runs(np.zeros_like(sizes), sizes)


__all__ = ["Ragged", "places_of", "runs", "starts_of"]
