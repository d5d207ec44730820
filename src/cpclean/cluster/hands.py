"""Who does the work: threads of this process, or the workers of a cluster."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

from cpclean.cluster.held import Arrays, Held, Value

Result = TypeVar("Result")


class Cluster(Protocol):
    """What an engine for many machines has to offer; `dask_cluster` has one."""

    @property
    def at_once(self) -> int:
        """How many pieces the cluster works on at the same time."""

    @property
    def least(self) -> int:
        """Fewer points than this are not worth sending away."""

    def map(
        self, work: Callable[..., Any], held: Held[Any], pieces: list[Arrays], words: str
    ) -> list[Any]:
        """The results of all pieces, in their order."""

    def close(self) -> None:
        """Give back what was started for it."""


@dataclass(frozen=True)
class Hands:
    """Who works on the points of a question.

    Attributes
    ----------
    n_jobs : int or None
        Threads of this process, where it does the work.
    cluster : Cluster or None
        Who does it otherwise.
    """

    n_jobs: int | None = None
    cluster: Cluster | None = None

    def sends_away(self, size: int) -> bool:
        """Whether others work on so many points."""
        return self.cluster is not None and size >= max(self.cluster.least, 1)

    def over(
        self,
        work: Callable[..., list[Result]],
        held: Held[Value],
        arrays: Arrays,
        unit: int,
        words: str = "looking at points",
        *,
        always: bool = False,
    ) -> list[Result]:
        """What a work finds about all entries of some arrays, in order.

        Parameters
        ----------
        work : function of a value, of arrays, and of `n_jobs`
            It returns a list for every `unit` entries, which depends on nothing but these.
        held : Held
        arrays : tuple of ndarray
            Of the same length, which may be 0.
        unit : int
            Arrays are divided only at multiples of it.
        words : str
            What is going on, for a person who waits.
        always : bool
            Send even little away: each entry is much work.
        """
        size = len(arrays[0])
        if self.cluster is None or not (size if always else self.sends_away(size)):
            return work(held.value, *arrays, n_jobs=self.n_jobs)
        pieces = [tuple(one[part] for one in arrays) for part in _parts(size, unit, self.cluster)]
        found = self.cluster.map(work, held, pieces, words)
        return [one for part in found for one in part]


# One thread of this process.
HERE = Hands()


def _parts(size: int, unit: int, cluster: Cluster) -> list[slice]:
    """Equal parts of whole units: some for each worker, so that none waits long for another."""
    n_units = -(-size // unit)
    step = unit * max(1, -(-n_units // (4 * cluster.at_once)))
    return [slice(at, min(at + step, size)) for at in np.arange(0, size, step).tolist()]


def hands_of(n_jobs: int | None, cluster: Any = None) -> Hands:
    """Who works, by what a caller says: threads here, and a cluster by its address or client."""
    if cluster is None:
        return Hands(n_jobs)
    from cpclean.cluster.dask_cluster import connected

    return Hands(n_jobs, connected(cluster))
