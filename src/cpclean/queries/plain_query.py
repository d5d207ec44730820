"""Questions about rows that are vectors, under a metric."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.data.incomplete import IncompleteDataset, Ints
from cpclean.data.rows import Floats, StoredRow, boxed
from cpclean.data.threads import in_threads
from cpclean.errors import QueryError
from cpclean.queries import _alike, _bits, _extremes, _near, _order, _put_row
from cpclean.queries.kernel_arrays import (
    COSINE,
    EUCLIDEAN,
    PRECOMPUTED,
    SIZE,
    Positions,
    Rows,
    Sparse,
)
from cpclean.queries.prepared import (
    Prepared,
    check_size,
    frozen,
    prepare_changed,
    prepared_among,
    prepared_rows,
    set_prepared,
)
from cpclean.queries.query import BLOCK_BYTES, Near, Query
from cpclean.queries.sound import limits

# So many numbers of points are gone through in less time than a thread takes to begin.
_AT_ONCE = 2**15
# Among so many columns, rows are rounded for products, once for all points of a block: so many
# times as many of them take a sixth less time.
_MANY_COLUMNS, _TIMES = 16, 4


@dataclass(frozen=True)
class PlainQuery(Query):
    """Points among vectors, or points that are given as distances."""

    prepared: Prepared
    metric: int
    distance: Callable[[Any, Any], float] | None  # a metric given as a function

    def __getstate__(self) -> dict[str, Any]:
        """Without what the data is prepared by: it takes less time to make it than to send it."""
        state = dict(self.__dict__)
        if self.data.derived.get(Prepared) is self.prepared:
            del state["prepared"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        own = state if "prepared" in state else {"prepared": prepared_rows(state["data"])}
        self.__dict__.update(state, prepared=own["prepared"])

    @property
    def rows(self) -> Rows:
        """What the kernels read of the data."""
        return self.prepared.rows

    @property
    def spans(self) -> Ints:
        return self.prepared.rows.spans

    @property
    def kernel_metric(self) -> int | None:
        """None for the Euclidean: nothing else is compiled then."""
        return None if self.metric == EUCLIDEAN else self.metric

    @property
    def _sparse(self) -> Sparse | None:
        """None where neither width nor the cosine needs more of the kernels: less is compiled."""
        sparse = self.rows.sparse
        wide = len(sparse.at) > 0 and self.metric != PRECOMPUTED
        return sparse if wide or self.metric == COSINE else None

    @property
    def points_at_once(self) -> int:
        most = super().points_at_once
        if self.distance is None:
            many = self.metric == EUCLIDEAN and self.data.n_features >= _MANY_COLUMNS
            return _TIMES * most if many else most
        return max(1, min(most, BLOCK_BYTES // (8 * self.data.n_candidates)))

    def near(self, points: Floats, limit: int) -> Near | None:
        bits = plan = columns = None
        if self.metric == EUCLIDEAN and len(points) >= _bits.SEVERAL:
            bits = _bits.compared(self.prepared.bits, points)
        if bits is None:
            plan = _alike.alike(self.metric, points)
        if bits is None and plan is None:
            columns = _near.by_product(self.metric, points, self.data.n_features)
        found = Near(
            *_near.near_rows(
                self.rows.scanned,
                self.kernel_metric,
                points,
                columns,
                plan,
                bits,
                self.n_neighbors,
                limit,
            )
        )
        return found if len(found.ptr) else None

    def positions(
        self, points: Floats, near: Near | None, slack: float, want_rank: bool
    ) -> tuple[Positions, Floats | None]:
        near = self.all_near(points) if near is None else near
        most = int(self.spans[near.rows, SIZE].max(initial=1)) if self.metric == COSINE else 1
        found = _order.positions(
            self.rows.candidates,
            self._sparse,
            self.kernel_metric,
            points,
            near.ptr,
            near.rows,
            near.bound,
            near.reach,
            self.n_neighbors,
            np.empty(most),
            slack,
            want_rank,
        )
        return Positions(*found), None

    def extremes(self, points: Floats, near: Near) -> tuple[Ints, Ints]:
        none = np.zeros(0, dtype=np.int64)
        return self._opened(points, near, (none, none, none), np.zeros((0, 0), dtype=bool))

    def possible(self, points: Floats, near: Near) -> npt.NDArray[np.bool_]:
        found = np.zeros((len(points), self.data.n_classes), dtype=bool)
        self._opened(points, near, self.labels_near(near), found)
        return found

    def _opened(
        self,
        points: Floats,
        near: Near,
        labels: tuple[Ints, Ints, Ints],
        possible: npt.NDArray[np.bool_],
    ) -> tuple[Ints, Ints]:
        found: tuple[Ints, Ints] = _extremes.extremes(
            self.rows.candidates,
            self._sparse,
            self.kernel_metric,
            points,
            near.ptr,
            near.rows,
            near.bound,
            near.reach,
            self.n_neighbors,
            self.data.drawing.most_written,
            *labels,
            possible,
        )
        return found

    def nearest(self, row: int, some: Ints | None = None) -> Floats:
        place = self.prepared.place[row]
        asked = self.vectors if some is None else self.vectors[some]

        def work(vectors: Floats) -> Floats:
            found: Floats = _near.bounds_of_row(
                self.rows.scanned, self.kernel_metric, vectors, place
            )
            return found

        if asked.size <= _AT_ONCE:  # over before another thread has begun
            return work(asked)
        return in_threads(work, [asked])[0]

    def touched(
        self, row: int, after: PlainQuery, passed_over: npt.NDArray[np.bool_], reach: Floats
    ) -> Ints:
        if self.metric != EUCLIDEAN:
            return super().touched(row, after, passed_over, reach)
        found = np.empty(len(reach), np.int64)
        count = _put_row.touched(
            self.rows.boxes,
            after.rows.boxes,
            int(self.prepared.place[row]),
            self.vectors,
            passed_over,
            reach,
            found,
        )
        return found[:count]

    def limits(self, point: int) -> tuple[Floats, Floats] | None:
        cells = self.points.cells
        assert cells is not None, "only drawn points have limits"
        return limits(self.data.arrays, cells.stored_row(point), self.metric)

    def counting(self) -> PlainQuery:
        ones = np.ones(len(self.rows.weights))
        return self._with_rows(frozen(self.rows._replace(weights=ones)))

    def changed(self, data: IncompleteDataset, row: int) -> PlainQuery:
        self.keep_prepared()
        prepared = prepare_changed(self.data, data, row)
        same = prepared.largest == self.prepared.largest
        same &= prepared.smallest == self.prepared.smallest
        if self.metric != PRECOMPUTED and not same:
            check_size(prepared, self.vectors, self.metric)
        return PlainQuery(
            data,
            self.n_neighbors,
            self.rarest,
            self.points,
            self.vectors,
            None,
            prepared,
            self.metric,
            self.distance,
        )

    def alone_among(self, rows: Ints, data: IncompleteDataset) -> PlainQuery:
        assert self.metric != PRECOMPUTED, "distances are numbered as all rows are"
        prepared = prepared_among(self.prepared, data)
        return replace(self, data=data, prepared=prepared, drawn=None)

    def encloses(self, old: StoredRow, new: StoredRow) -> bool:
        return boxed(new, old)

    def keep_prepared(self) -> None:
        set_prepared(self.data, self.prepared)

    # -- distances that are given, or measured by a function -------------------------------

    def with_spans(self, spans: Ints, vectors: Floats) -> PlainQuery:
        """The same question with distances in other places."""
        spans.flags.writeable = False
        return replace(self._with_rows(self.rows._replace(spans=spans)), vectors=vectors)

    def measured(self, points: Floats) -> Floats:
        """Distances to every candidate where the metric is a function, else the points."""
        if self.distance is None:
            return points
        rows = range(self.data.n_rows)
        return np.hstack([self.measured_row(points, row) for row in rows])

    def measured_row(self, points: Floats, row: int) -> Floats:
        """Distances to the candidates of a row, by a metric that is a function."""
        assert self.distance is not None
        candidates = self.data.candidates(row)
        measured = np.empty((len(points), len(candidates)))
        for at, candidate in enumerate(candidates):
            for number, point in enumerate(points):
                measured[number, at] = _checked_distance(
                    self.distance(candidate, point), candidate, point, row
                )
        return measured

    def _with_rows(self, rows: Rows) -> PlainQuery:
        return replace(self, prepared=replace(self.prepared, rows=rows))


def _checked_distance(found: Any, candidate: Floats, point: Floats, row: int) -> float:
    try:
        distance = float(found)
    except (TypeError, ValueError):
        distance = math.nan
    if not math.isfinite(distance):
        raise QueryError(
            f"the metric must return a finite distance; got {found!r} for x = "
            f"{candidate.tolist()}, a candidate of row {row}, and t = {point.tolist()}."
        )
    return distance
