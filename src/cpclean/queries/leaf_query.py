"""Questions about rows that are leaves of trees."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from cpclean.data.incomplete import IncompleteDataset, Ints
from cpclean.data.points import Points
from cpclean.data.rows import Floats
from cpclean.data.spaces.trees import Leaves
from cpclean.data.threads import in_threads
from cpclean.queries import _leaf_order, _leaves
from cpclean.queries.kernel_arrays import Positions
from cpclean.queries.leaf_memory import LeafMemory, close_by
from cpclean.queries.leaf_rows import (
    PreparedLeaves,
    changed_leaves,
    frozen,
    prepared_leaves,
    set_prepared_leaves,
    trees_of,
)
from cpclean.queries.query import Near, Query

# Each block begins by clearing a few numbers per row.
_BLOCK_POINTS = 512


@dataclass(frozen=True)
class LeafQuery(Query):
    """Points among the leaves of trees; distance is the number of trees that tell two apart."""

    prepared: PreparedLeaves
    memory: LeafMemory | None = None  # of a question that is kept
    finds_rows: ClassVar[bool] = True

    @classmethod
    def of(cls, data: IncompleteDataset, points: Points, n_neighbors: int) -> LeafQuery:
        """The question about points that are checked, sent through the trees."""
        prepared = prepared_leaves(data)
        leaves = trees_of(data).apply(points.vectors)
        return cls(data, n_neighbors, prepared.rarest, points, leaves, None, prepared)

    @property
    def spans(self) -> Ints:
        return self.prepared.rows.spans

    @property
    def points_at_once(self) -> int:
        return _BLOCK_POINTS

    def near(self, points: Leaves, limit: int) -> Near | None:
        prepared = self.prepared
        found = Near(
            *_leaves.near_rows(
                prepared.rows, prepared.n_alone, prepared.n_exact, points, self.n_neighbors, limit
            )
        )
        return found if len(found.ptr) else None

    def positions(
        self, points: Leaves, near: Near | None, slack: float, want_rank: bool
    ) -> tuple[Positions, Floats | None]:
        rows = self.prepared.rows
        if near is not None:
            found = _leaf_order.positions(rows, points, near.ptr, near.rows, near.reach, want_rank)
            return Positions(*found), None
        if self.memory is not None and not want_rank:
            close = self.memory.positions(rows, points, self.n_neighbors, slack)
        else:
            close = close_by(rows, points, self.n_neighbors, slack, want_rank)
        return close.positions, close.radius

    def extremes(self, points: Leaves, near: Near) -> tuple[Ints, Ints]:
        assert near.far is not None, "among leaves, ends are found with the near rows"
        found: tuple[Ints, Ints] = _leaves.extremes(
            points.shape[1], near.ptr, near.bound, near.far, near.reach
        )
        return found

    def nearest(self, row: int, some: Ints | None = None) -> Floats:
        def work(points: Leaves) -> Floats:
            found: Floats = _leaves.nearest(self.prepared.rows, points, row)
            return found

        return in_threads(work, [self.vectors if some is None else self.vectors[some]])[0]

    def limits(self, point: int) -> tuple[Floats, Floats] | None:
        cells = self.points.cells
        assert cells is not None, "only drawn points have limits"
        reachable = trees_of(self.data).reachable(cells.take(np.array([point])))
        found: tuple[Floats, Floats] = _leaves.limits(
            self.prepared.rows, reachable.ptr, reachable.leaves
        )
        return found

    def counting(self) -> LeafQuery:
        rows = self.prepared.rows._replace(weights=np.ones(len(self.prepared.rows.weights)))
        return replace(self, prepared=replace(self.prepared, rows=frozen(rows)), memory=None)

    def remembering(self) -> LeafQuery:
        return replace(super().remembering(), memory=LeafMemory())

    def changed(self, data: IncompleteDataset, row: int) -> LeafQuery:
        prepared = changed_leaves(self.prepared, data, row)
        set_prepared_leaves(data, prepared)
        memory = None if self.memory is None else self.memory.after(row)
        return replace(self, data=data, prepared=prepared, drawn=None, memory=memory)

    def alone_among(self, rows: Ints, data: IncompleteDataset) -> LeafQuery:
        return replace(self, data=data, prepared=prepared_leaves(data), drawn=None, memory=None)

    def keep_prepared(self) -> None:
        set_prepared_leaves(self.data, self.prepared)
