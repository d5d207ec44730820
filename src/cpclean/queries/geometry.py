"""The space around query points: metrics, the total order, and what is relevant to a point.

A `Query` is a checked question; `Query.blocks` hands its points out in blocks, `Query.around` lays
out the sorted positions around a block's points. Memory beyond the data stays around
`BLOCK_BYTES` a thread, whatever the number of rows and points; only a single point whose
neighbourhood is larger than that takes more.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from cpclean.data.incomplete import IncompleteDataset, Ints
from cpclean.data.rows import Floats
from cpclean.errors import QueryError, offenders
from cpclean.queries import _order

Metric = str | Callable[[Any, Any], float]
Result = TypeVar("Result")

METRICS = {
    "euclidean": _order.EUCLIDEAN,
    "rbf": _order.EUCLIDEAN,  # exp(-g |x - t|^2) falls as |x - t| grows: the same order
    "manhattan": _order.MANHATTAN,
    "chebyshev": _order.CHEBYSHEV,
    "linear": _order.LINEAR,
    "cosine": _order.COSINE,
    "precomputed": _order.PRECOMPUTED,
}

BLOCK_POINTS = 64
BLOCK_BYTES = 2**26

# Larger values overflow when they are squared (for cosine: twice) and summed.
_LARGEST = {_order.EUCLIDEAN: 1e150, _order.LINEAR: 1e150, _order.COSINE: 1e70}
_LARGEST_SUM = 1e300


@dataclass(frozen=True)
class Query:
    """Checked query points over an incomplete dataset; equal points are asked once."""

    data: IncompleteDataset
    rows: _order.Rows
    metric: int
    distance: Callable[[Any, Any], float] | None  # a metric given as a function
    n_neighbors: int
    points: Floats
    inverse: Ints  # where each asked point stands among `points`

    def counting(self) -> Query:
        """The same question with every candidate weighing 1: worlds are counted, not weighed."""
        return replace(self, rows=_frozen(self.rows._replace(weights=np.ones(len(self.rows.weights)))))

    def blocks(self) -> Iterator[slice]:
        size = max(1, min(BLOCK_POINTS, BLOCK_BYTES // (32 * self.data.n_rows)))
        if self.distance is not None:
            size = max(1, min(size, BLOCK_BYTES // (8 * self.data.n_candidates)))
        for start in range(0, len(self.points), size):
            yield slice(start, min(start + size, len(self.points)))

    def over_blocks(
        self, answer: Callable[[Query, Floats], Result], n_jobs: int | None
    ) -> list[Result]:
        """Answer block by block, in order; the blocks do not depend on the number of threads."""
        pieces = [self.points[block] for block in self.blocks()]
        threads = min(_n_threads(n_jobs), len(pieces))

        def work(piece: Floats) -> Result:
            return answer(self, self._measured(piece))

        if threads <= 1:
            return [work(piece) for piece in pieces]
        pool = ThreadPoolExecutor(threads)
        try:
            return list(pool.map(work, pieces))
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def near(self, points: Floats) -> Near:
        """The rows that can be among the nearest of each point."""
        return Near(*_order.near_rows(self.rows, self.metric, points, self.n_neighbors))

    def around(
        self, points: Floats, near: Near, slack: float, want_rank: bool = False
    ) -> Iterator[Neighbourhood]:
        """Sorted positions around the points, in groups that fit into memory."""
        sizes = np.add.reduceat(self.rows.spans[near.rows, 2], near.ptr[:-1])
        for group in _groups(sizes, BLOCK_BYTES // 64):
            part = near.part(group)
            positions = _order.positions(
                self.rows, self.metric, points[group], *part, self.n_neighbors, slack, want_rank
            )
            codes = self.data.codes[positions.rows]
            labels = _order.local_labels(positions.row_ptr, codes, self.data.n_classes)
            yield Neighbourhood(group, positions, *labels)

    def _measured(self, points: Floats) -> Floats:
        """Distances to every candidate where the metric is a function, else the points."""
        if self.distance is None:
            return points
        measured = np.empty((len(points), self.data.n_candidates))
        at = 0
        for row in range(self.data.n_rows):
            for candidate in self.data.candidates(row):
                measured[:, at] = [self.distance(candidate, point) for point in points]
                at += 1
        if not np.isfinite(measured).all():
            raise QueryError(
                "the metric must return finite distances; got NaN or infinity. "
                "Check the function on single pairs of vectors."
            )
        return measured


@dataclass(frozen=True)
class Near:
    """The near rows of a block of points, as `_order.near_rows` finds them."""

    ptr: Ints
    rows: Ints
    bound: Floats
    reach: Floats

    def part(self, points: slice) -> tuple[Ints, Ints, Floats, Floats]:
        begin, end = self.ptr[points.start], self.ptr[points.stop]
        ptr = self.ptr[points.start : points.stop + 1] - begin
        return ptr, self.rows[begin:end], self.bound[begin:end], self.reach[points]


@dataclass(frozen=True)
class Neighbourhood:
    """Sorted positions around a group of points, and the labels that occur there."""

    points: slice  # of the block
    positions: _order.Positions
    side: Ints  # each row's label, numbered among the point's labels
    label_ptr: Ints
    present: Ints  # the classes so numbered

    @property
    def n_labels(self) -> Ints:
        return np.diff(self.label_ptr)

    def labels(self, point: int) -> Ints:
        return self.present[self.label_ptr[point] : self.label_ptr[point + 1]]

    def rows(self, point: int) -> slice:
        return slice(self.positions.row_ptr[point], self.positions.row_ptr[point + 1])

    def span(self, point: int) -> slice:
        return slice(self.positions.ptr[point], self.positions.ptr[point + 1])


def ask(
    data: IncompleteDataset, X: npt.ArrayLike, n_neighbors: int, metric: Metric
) -> Query:
    """Check a question once; every later step trusts it."""
    if not isinstance(data, IncompleteDataset):
        raise QueryError(
            f"data must be an IncompleteDataset; got {type(data).__name__}. "
            "Wrap candidates and labels: IncompleteDataset(candidates, labels)."
        )
    n_neighbors = _checked_n_neighbors(n_neighbors, data.n_rows)
    code = _metric_code(metric)
    width = data.n_candidates if metric == "precomputed" else data.n_features
    points = _checked_points(X, width, metric)
    if not callable(metric):
        _check_magnitude(data, points, code)
    if code == _order.PRECOMPUTED and not callable(metric):
        inverse = np.arange(len(points))
    else:
        points, inverse = _distinct(points)
    return Query(
        data=data,
        rows=prepared(data),
        metric=code,
        distance=metric if callable(metric) else None,
        n_neighbors=n_neighbors,
        points=points,
        inverse=inverse,
    )


def prepared(data: IncompleteDataset) -> _order.Rows:
    """The dataset as kernels want it, made once and kept with the dataset."""
    if "_prepared" not in data.__dict__:
        data.__dict__["_prepared"] = _prepare(data)
    kept: _order.Rows = data.__dict__["_prepared"]
    return kept


def smallest_prior(rows: _order.Rows) -> float:
    """A lower bound on the prior of any candidate."""
    bound = 1.0
    for cells in range(1, int(rows.spans[:, 1].max()) + 1):
        bound = rows.weights.min() ** cells
    return float(bound)


def _prepare(data: IncompleteDataset) -> _order.Rows:
    low = data._base.T.copy(order="C")
    high = low.copy()
    for row in data.dirty_rows:
        for cell in data._stored_cells(row):
            low[cell.start : cell.stop, row] = cell.values.min(axis=0)
            high[cell.start : cell.stop, row] = cell.values.max(axis=0)
    counts = data.candidate_counts
    spans = np.stack(
        [data._first_cell, data._n_cells, counts, np.cumsum(counts) - counts], axis=1
    )
    cells = np.stack(
        [data._cell_start, data._cell_stop, data._cell_size, data._values_at, data._weights_at],
        axis=1,
    )
    norms = np.zeros((2, data.n_rows))
    for under, over in zip(low, high, strict=True):  # in feature order, as distances are summed
        norms[0] += np.where((under < 0) & (over > 0), 0.0, np.minimum(under**2, over**2))
        norms[1] += np.maximum(under**2, over**2)
    return _frozen(
        _order.Rows(
            base=data._base,
            spans=np.ascontiguousarray(spans),
            cells=np.ascontiguousarray(cells),
            values=data._values,
            weights=data._weights,
            low=low,
            high=high,
            norms=norms,
        )
    )


def _frozen(rows: _order.Rows) -> _order.Rows:
    """Read-only throughout: a kernel is compiled once, not once a mixture of flags."""
    for array in rows:
        array.flags.writeable = False
    return rows


def _checked_n_neighbors(n_neighbors: Any, n_rows: int) -> int:
    whole = isinstance(n_neighbors, int | np.integer) and not isinstance(n_neighbors, bool)
    if not whole or not 1 <= n_neighbors <= n_rows:
        raise QueryError(
            f"n_neighbors must be an int in [1, {n_rows}] (the number of training rows); "
            f"got {n_neighbors!r}."
        )
    return int(n_neighbors)


def _metric_code(metric: Metric) -> int:
    if callable(metric):
        return _order.PRECOMPUTED
    if metric not in METRICS:
        raise QueryError(
            f"metric must be one of {', '.join(sorted(METRICS))}, or a function (x, t) -> distance; "
            f"got {metric!r}."
        )
    return METRICS[metric]


def _checked_points(X: npt.ArrayLike, width: int, metric: Metric) -> Floats:
    try:
        given = np.asarray(X)
        if given.dtype.kind in "USMmVc":
            raise TypeError(f"dtype {given.dtype}")
        points = np.array(given, dtype=np.float64, order="C")
    except (TypeError, ValueError) as problem:
        raise QueryError(
            f"X must be numbers; {problem}. Encode categories as numbers first."
        ) from problem
    if points.ndim != 2:
        raise QueryError(
            f"X must have two dimensions, one row a query point; got shape {points.shape}. "
            "For a single point use X.reshape(1, -1)."
        )
    if points.shape[1] != width:
        meant = (
            "a distance to every candidate, row after row" if metric == "precomputed"
            else "as many features as the training candidates"
        )
        raise QueryError(f"X must have {width} columns ({meant}); got {points.shape[1]}.")
    if not np.isfinite(points).all():
        bad = np.argwhere(~np.isfinite(points))
        places = offenders(tuple(int(i) for i in place) for place in bad)
        raise QueryError(
            f"X must be finite; got NaN or infinity at {places}. "
            "Query points must be complete: impute or drop them first."
        )
    return points


def _check_magnitude(data: IncompleteDataset, points: Floats, code: int) -> None:
    largest = max(
        (float(np.abs(part).max()) for part in (points, data._base, data._values) if part.size),
        default=0.0,
    )
    limit = _LARGEST.get(code, _LARGEST_SUM)
    if largest > limit:
        raise QueryError(
            f"values up to {largest:.3g} are too large: distances would overflow beyond {limit:.0e}. "
            "Scale the features."
        )


def _distinct(points: Floats) -> tuple[Floats, Ints]:
    """The distinct points, in order of appearance, and where each given point is among them."""
    places: dict[bytes, int] = {}
    inverse = np.array(
        [places.setdefault(point.tobytes(), len(places)) for point in points], dtype=np.int64
    )
    if len(places) == len(points):
        return points, inverse
    first = np.unique(inverse, return_index=True)[1]
    return points[first], inverse


def _groups(sizes: Ints, limit: int) -> Iterator[slice]:
    """Split into runs whose sizes add up to at most limit, or single members beyond it."""
    start, total = 0, 0
    for stop, size in enumerate(sizes.tolist()):
        if stop > start and total + size > limit:
            yield slice(start, stop)
            start, total = stop, 0
        total += size
    yield slice(start, len(sizes))


def _n_threads(n_jobs: int | None) -> int:
    whole = n_jobs is None or (isinstance(n_jobs, int | np.integer) and not isinstance(n_jobs, bool))
    if not whole or n_jobs == 0:
        raise QueryError(
            f"n_jobs must be None, a positive int, or -1 for all processors; got {n_jobs!r}."
        )
    if n_jobs is None:
        return 1
    return int(n_jobs) if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + int(n_jobs))
