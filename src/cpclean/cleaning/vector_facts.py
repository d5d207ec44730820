"""What a board has found out about each distinct vector of its points.

A change of the board makes new facts out of these, so that boards, and views of them, can share
what has not changed; sums over all vectors are taken when they are first asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.cleaning.once import once
from cpclean.data.incomplete import Ints
from cpclean.data.rows import Floats
from cpclean.queries.gain_lists import GainLists
from cpclean.queries.gains import joined_gains
from cpclean.queries.look import Look

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class VectorFacts:
    """One entry for each distinct vector; never changed in place.

    Attributes
    ----------
    weights : ndarray of float
        How much each vector counts among the points.
    certain, settled : ndarray of bool
    entropy, top : ndarray of float
        The entropy in nats, and the largest share of a label.
    label : ndarray of int
        The label with that share.
    reach : ndarray of float
        Rows that begin beyond it change nothing of this.
    lists : GainLists
        What knowing each row, or each cell, is expected to take from the entropy.
    total : float
        How much all vectors weigh.
    all_count : bool
        Whether every vector weighs something.
    """

    weights: Floats
    certain: Bools
    settled: Bools
    entropy: Floats
    top: Floats
    label: Ints
    reach: Floats
    lists: GainLists
    total: float
    all_count: bool

    @classmethod
    def none(cls, weights: Floats) -> VectorFacts:
        """Before the first look."""
        size = len(weights)
        no, zero = np.zeros(size, dtype=bool), np.zeros(size)
        label = np.zeros(size, dtype=np.int64)
        own = np.array(weights)  # that can be written to: of one kind for the kernels
        empty, all_count = GainLists.empty(size), bool((own > 0).all())
        return cls(own, no, no, zero, zero, label, zero, empty, float(own.sum()), all_count)

    def seen(self, vectors: Ints, looks: Sequence[Look]) -> VectorFacts:
        """The same after a look at some vectors, of which those are settled that are certain."""
        gains = joined_gains([one.gains for one in looks])
        certain, reach = looks[0].certain, looks[0].reach
        if len(looks) > 1:
            certain = np.concatenate([one.certain for one in looks])
            reach = np.concatenate([one.reach for one in looks])
        then = _with(self.certain, vectors, certain)
        alike = self.settled is self.certain
        return VectorFacts(
            self.weights,
            then,
            then if alike else _with(self.settled, vectors, certain),
            _with(self.entropy, vectors, gains.entropy),
            _with(self.top, vectors, gains.top),
            _with(self.label, vectors, gains.label),
            _with(self.reach, vectors, reach),
            self.lists.with_points(vectors, gains.n_rows, gains.rows, gains.gain),
            self.total,
            self.all_count,
        )

    def with_settled(self, vectors: Ints, settled: Bools) -> VectorFacts:
        """The same where some vectors are settled, or not, though they are not certain."""
        return replace(self, settled=_with(self.settled, vectors, settled))

    def renumbered(self, number: Ints) -> VectorFacts:
        """The same about rows, or cells, that have other numbers now."""
        return replace(self, lists=self.lists.renumbered(number))

    # -- sums ------------------------------------------------------------------------------

    def share_of(self, vectors: Bools) -> float:
        """How much some of the vectors weigh among all of them."""
        some = self.weights[vectors]
        others = len(some) < len(vectors) and (self.all_count or self.weights[~vectors].any())
        return float(np.add.reduce(some)) / self.total if others else 1.0  # whatever sums round to

    @once
    def certain_share(self) -> float:
        return self.share_of(self.certain)

    @once
    def settled_share(self) -> float:
        alike = self.settled is self.certain
        return self.certain_share if alike else self.share_of(self.settled)

    @once
    def mean_entropy(self) -> float:
        return float(self.weights @ self.entropy / self.total)

    @once
    def open(self) -> Bools:
        """The vectors that are not settled and weigh something."""
        return ~self.settled & (self.weights > 0)

    @once
    def any_open(self) -> bool:
        return not self.settled.all() if self.all_count else bool(self.open.any())

    @once
    def gains(self) -> tuple[Ints, Floats]:
        """The rows, or cells, that are expected to lower the mean entropy, and by how much.

        Numbers ascend; only vectors that are not settled count.
        """
        some, totals = self.lists.totals(self.settled, self.weights)
        return some, totals / self.total


def _with(array: npt.NDArray[Any], places: Ints, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    after = array.copy()
    after[places] = values
    return after
