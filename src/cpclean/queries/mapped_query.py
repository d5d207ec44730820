"""Questions about rows that a fitted object maps: those about vectors, asked of what it makes.

Rows that are open (`mapped_rows`) may be anywhere: they begin before all others and never end. What
no choice of places for them allows is impossible, whatever the object would make of them; so what
is called certain is certain.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from cpclean.data.incomplete import IncompleteDataset, Ints
from cpclean.data.points import Points
from cpclean.data.rows import Floats
from cpclean.data.spaces.fitted_map import FittedMap
from cpclean.queries.kernel_arrays import Positions
from cpclean.queries.mapped_rows import (
    MappedRows,
    changed_rows,
    mapped_rows,
    rows_among,
    set_mapped_rows,
)
from cpclean.queries.plain_query import PlainQuery
from cpclean.queries.prepared import check_size, prepared_rows, rarest_prior
from cpclean.queries.query import Near, Query


@dataclass(frozen=True)
class MappedQuery(Query):
    """Points among rows that a fitted object maps, under a metric."""

    space: FittedMap
    rows: MappedRows
    plain: PlainQuery | None  # about the rows that are not open; None if all of them are
    metric: int

    @classmethod
    def of(
        cls,
        data: IncompleteDataset,
        space: FittedMap,
        points: Points,
        n_neighbors: int,
        metric: int,
    ) -> MappedQuery:
        """The question about points that are checked, mapped as the rows are."""
        rows, rarest = mapped_rows(data, space), rarest_prior(data)
        vectors = space.mapped(points.vectors)
        bare = cls(data, n_neighbors, rarest, points, vectors, None, space, rows, None, metric)
        return replace(bare, plain=bare._about_closed(rows))

    def _about_closed(self, rows: MappedRows) -> PlainQuery | None:
        closed = rows.closed
        if not len(closed):
            return None
        data = rows.data if len(closed) == rows.data.n_rows else rows.data.take(closed)
        prepared = prepared_rows(data)
        check_size(prepared, self.vectors, self.metric)
        return PlainQuery(
            data=data,
            n_neighbors=self.n_neighbors,
            rarest=self.rarest,
            points=self.points,
            vectors=self.vectors,
            drawn=None,
            prepared=prepared,
            metric=self.metric,
            distance=None,
        )

    @property
    def _all(self) -> PlainQuery:
        assert self.plain is not None, "only some rows are known"
        assert not self.rows.is_open.any(), "open rows are asked about by draws"
        return self.plain

    @property
    def spans(self) -> Ints:
        counts = self.data.candidate_counts
        if self.plain is None or self.rows.is_open.any():
            return np.column_stack([counts, counts > 1, counts, np.cumsum(counts) - counts])
        return self.plain.spans

    def near(self, points: Floats, limit: int) -> Near | None:
        if not self.rows.is_open.any():
            return self._all.near(points, limit)
        found = self._near_closed(points, limit)
        return None if found is None else _joined(found, self.rows)

    def _near_closed(self, points: Floats, limit: int) -> Near | None:
        if self.plain is not None:
            return self.plain.near(points, limit)
        none, nothing = np.zeros(0, dtype=np.int64), np.zeros(0)
        begins = np.zeros(len(points) + 1, dtype=np.int64)
        return Near(begins, none, nothing, np.full(len(points), np.inf))

    def positions(
        self, points: Floats, near: Near | None, slack: float, want_rank: bool
    ) -> tuple[Positions, Floats | None]:
        return self._all.positions(points, near, slack, want_rank)

    def possible(self, points: Floats, near: Near) -> npt.NDArray[np.bool_]:
        if not self.rows.is_open.any():
            return self._all.possible(points, near)
        return super().possible(points, near)

    def extremes(self, points: Floats, near: Near) -> tuple[Ints, Ints]:
        if not self.rows.is_open.any():
            return self._all.extremes(points, near)
        is_open = self.rows.is_open[near.rows]
        owner = np.repeat(np.arange(len(points)), np.diff(near.ptr))
        place = np.arange(len(near.rows)) - near.ptr[owner]  # of each row among its point's
        first = (owner[is_open], 2 * place[is_open])
        then = owner[:0], place[:0]
        if self.plain is not None:
            (kept,) = np.nonzero(~is_open)
            ptr = np.searchsorted(owner[kept], np.arange(len(points) + 1))
            rows = np.searchsorted(self.rows.closed, near.rows[kept])
            closed = Near(ptr, rows, near.bound[kept], near.reach)
            event_ptr, event = self.plain.extremes(points, closed)
            point = np.repeat(np.arange(len(points)), np.diff(event_ptr))
            code = np.where(event < 0, -1 - event, event)
            code = 2 * place[kept[ptr[point] + code // 2]] + code % 2
            then = (point, np.where(event < 0, -1 - code, code))
        # Open rows begin before all others, in the order of their numbers.
        point, event = (np.concatenate(both) for both in zip(first, then, strict=True))
        order = np.argsort(point, kind="stable")
        return np.searchsorted(point[order], np.arange(len(points) + 1)), event[order]

    def nearest(self, row: int, some: Ints | None = None) -> Floats:
        if self.rows.is_open[row]:
            return np.full(len(self.vectors if some is None else some), -np.inf)
        assert self.plain is not None
        place = int(np.searchsorted(self.rows.closed, row))
        return replace(self.plain, vectors=self.vectors).nearest(place, some)

    def limits(self, point: int) -> tuple[Floats, Floats] | None:
        return None  # of completions that were not drawn, nothing is known

    def counting(self) -> MappedQuery:
        return replace(self, plain=self._all.counting())

    def changed(self, data: IncompleteDataset, row: int) -> MappedQuery:
        rows = changed_rows(self.rows, data, self.space, row)
        set_mapped_rows(data, rows)
        if self.rows.is_open.any() or rows.is_open.any():
            plain = self._about_closed(rows)
        else:
            plain = replace(self._all, vectors=self.vectors).changed(rows.data, row)
        return replace(self, data=data, rows=rows, plain=plain, drawn=None)

    def for_neighbors(self, n_neighbors: int) -> MappedQuery:
        plain = None if self.plain is None else replace(self.plain, n_neighbors=n_neighbors)
        return replace(self, n_neighbors=n_neighbors, plain=plain)

    def alone_among(self, rows: Ints, data: IncompleteDataset) -> MappedQuery:
        found = rows_among(self.rows, data, self.space, rows)
        set_mapped_rows(data, found)
        return replace(self, data=data, rows=found, plain=self._about_closed(found), drawn=None)

    def keep_prepared(self) -> None:
        set_mapped_rows(self.data, self.rows)
        if self.plain is not None:
            self.plain.keep_prepared()


def _joined(near: Near, rows: MappedRows) -> Near:
    """Near rows that are not open, with all open ones, which may be nearest and farthest."""
    (open_rows,) = np.nonzero(rows.is_open)
    n_points = len(near.reach)
    point = np.concatenate(
        [
            np.repeat(np.arange(n_points), np.diff(near.ptr)),
            np.repeat(np.arange(n_points), len(open_rows)),
        ]
    )
    row = np.concatenate([rows.closed[near.rows], np.tile(open_rows, n_points)])
    ends = np.full(n_points * len(open_rows), np.inf)
    order = np.lexsort((row, point))
    return Near(
        np.searchsorted(point[order], np.arange(n_points + 1)),
        row[order],
        np.concatenate([near.bound, -ends])[order],
        near.reach,
    )
