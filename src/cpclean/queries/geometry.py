"""The space around query points: metrics, the total order, and what is relevant to a point.

A `Query` is a checked question; `Query.over_blocks` answers it block by block, `Query.around` lays
out the sorted positions around a block's points. Memory beyond the data stays around
`BLOCK_BYTES` a thread, whatever the number of rows and points; only a single point whose
neighbourhood is larger than that takes more.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from cpclean.data.incomplete import IncompleteDataset, Ints
from cpclean.data.rows import Floats, is_whole
from cpclean.errors import QueryError, offenders
from cpclean.queries import _near, _order
from cpclean.queries.blocks import in_blocks

Metric = str | Callable[[Any, Any], float]
Result = TypeVar("Result")

METRICS = {
    "euclidean": _near.EUCLIDEAN,
    "rbf": _near.EUCLIDEAN,  # exp(-g |x - t|^2) falls as |x - t| grows: the same order
    "manhattan": _near.MANHATTAN,
    "chebyshev": _near.CHEBYSHEV,
    "linear": _near.LINEAR,
    "cosine": _near.COSINE,
    "precomputed": _near.PRECOMPUTED,
}

BLOCK_POINTS = 64
BLOCK_BYTES = 2**26

# Tables with this many columns, and at most one cell value in four not zero, are summed sparsely.
_WIDE_FROM = 32
_SPARSE_FROM = 4

# Larger values overflow when they are squared (for cosine: twice) and summed.
_LARGEST = {_near.EUCLIDEAN: 1e150, _near.LINEAR: 1e150, _near.COSINE: 1e70}
_LARGEST_SUM = 1e300


@dataclass(frozen=True)
class Query:
    """Checked query points over an incomplete dataset; equal points are asked once."""

    data: IncompleteDataset
    rows: _near.Rows
    metric: int
    distance: Callable[[Any, Any], float] | None  # a metric given as a function
    n_neighbors: int
    rarest: float  # a lower bound on the prior of any candidate
    points: Floats
    inverse: Ints  # where each asked point stands among `points`

    def counting(self) -> Query:
        """The same question with every candidate weighing 1: worlds are counted, not weighed."""
        return replace(
            self, rows=_frozen(self.rows._replace(weights=np.ones(len(self.rows.weights))))
        )

    def over_blocks(
        self, answer: Callable[[Query, Floats, Near], Result], n_jobs: int | None = None
    ) -> list[Result]:
        """Answer block by block, in order; the blocks do not depend on the number of threads."""
        size = BLOCK_POINTS
        if self.distance is not None:
            size = max(1, min(size, BLOCK_BYTES // (8 * self.data.n_candidates)))
        pieces = [self.points[at : at + size] for at in range(0, len(self.points), size)]
        threads = min(_n_threads(n_jobs), len(pieces))

        def work(piece: Floats) -> list[Result]:
            return self._answered(answer, self._measured(piece))

        if threads <= 1 and threading.current_thread() is not threading.main_thread():
            return [one for piece in pieces for one in work(piece)]
        pool = _worker() if threads <= 1 else ThreadPoolExecutor(threads)
        waiting: list[Future[list[Result]]] = []
        try:
            for piece in pieces:  # within try: a Ctrl-C may arrive while work is handed out
                waiting.append(pool.submit(work, piece))
            return [one for found in waiting for one in found.result()]
        finally:
            for found in waiting:
                found.cancel()
            if threads > 1:
                pool.shutdown(wait=False, cancel_futures=True)

    def _answered(
        self, answer: Callable[[Query, Floats, Near], Result], points: Floats
    ) -> list[Result]:
        """Answer a block, in halves where its points have too many near rows together."""
        near = Near(
            *_near.near_rows(self.rows, self.metric, points, self.n_neighbors, BLOCK_BYTES // 32)
        )
        if len(near.ptr):
            return [answer(self, points, near)]
        half = len(points) // 2
        return [*self._answered(answer, points[:half]), *self._answered(answer, points[half:])]

    def around(
        self, points: Floats, near: Near, slack: float, want_rank: bool = False
    ) -> Iterator[Neighbourhood]:
        """Sorted positions around the points, in groups that fit into memory."""
        if not len(points):
            return
        sizes = np.add.reduceat(self.rows.spans[near.rows, 2], near.ptr[:-1])
        for group in _groups(sizes, BLOCK_BYTES // 64):
            part = near.part(group)
            positions = _order.Positions(
                *_order.positions(
                    self.rows, self.metric, points[group], *part, self.n_neighbors, slack, want_rank
                )
            )
            codes = self.data.codes[positions.rows]
            labels = _near.local_labels(positions.row_ptr, codes, self.data.n_classes)
            yield Neighbourhood(group, positions, *labels)

    def _measured(self, points: Floats) -> Floats:
        """Distances to every candidate where the metric is a function, else the points."""
        if self.distance is None:
            return points
        measured = np.empty((len(points), self.data.n_candidates))
        at = 0
        for row in range(self.data.n_rows):
            for candidate in self.data.candidates(row):
                for number, point in enumerate(points):
                    measured[number, at] = _checked_distance(
                        self.distance(candidate, point), candidate, point, row
                    )
                at += 1
        return measured


@dataclass(frozen=True)
class Near:
    """The near rows of a block of points, as `_near.near_rows` finds them."""

    ptr: Ints
    rows: Ints
    bound: Floats
    reach: Floats

    def part(self, points: slice) -> tuple[Ints, Ints, Floats, Floats]:
        begin, end = self.ptr[points.start], self.ptr[points.stop]
        ptr = self.ptr[points.start : points.stop + 1] - begin
        return ptr, self.rows[begin:end], self.bound[begin:end], self.reach[points]

    def only(self, points: Ints) -> Near:
        """The near rows of some of the points."""
        sizes = np.diff(self.ptr)[points]
        ptr = np.concatenate([[0], np.cumsum(sizes)])
        at = np.repeat(self.ptr[points] - ptr[:-1], sizes) + np.arange(ptr[-1])
        return Near(ptr, self.rows[at], self.bound[at], self.reach[points])


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


_workers: dict[int, ThreadPoolExecutor] = {}


def _worker() -> ThreadPoolExecutor:
    """The thread in which the main thread has its work done.

    A Ctrl-C that arrives while compiled code hands over its result breaks the process, and only
    the main thread is told of it. Kept from call to call; a forked process needs its own.
    """
    if os.getpid() not in _workers:
        _workers.clear()
        _workers[os.getpid()] = ThreadPoolExecutor(1, thread_name_prefix="cpclean")
    return _workers[os.getpid()]


def ask(data: IncompleteDataset, X: npt.ArrayLike, n_neighbors: int, metric: Metric) -> Query:
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
    prepared = _prepared(data)
    if not callable(metric):
        _check_magnitude(prepared, points, code)
    if code == _near.PRECOMPUTED and not callable(metric):
        inverse = np.arange(len(points))
    else:
        points, inverse = _distinct(points)
    return Query(
        data=data,
        rows=prepared.rows,
        metric=code,
        distance=metric if callable(metric) else None,
        n_neighbors=n_neighbors,
        rarest=prepared.rarest,
        points=points,
        inverse=inverse,
    )


@dataclass(frozen=True)
class _Prepared:
    """What is computed once a dataset and kept with it."""

    rows: _near.Rows
    largest: float  # of all values, without sign
    smallest: float  # of the rows' largest values, without sign, that are not zero
    rarest: float  # a lower bound on the prior of any candidate


def _prepared(data: IncompleteDataset) -> _Prepared:
    if "_prepared" not in data.__dict__:
        rows = _kernel_rows(data)
        boxes = rows.boxes
        sizes = np.maximum(np.abs(boxes.low).max(axis=0), np.abs(boxes.high).max(axis=0))
        most_cells = int(data._n_cells.max())
        data.__dict__["_prepared"] = _Prepared(
            rows=rows,
            largest=float(sizes.max()),
            smallest=float(sizes[sizes > 0].min(initial=math.inf)),
            rarest=float(data._weights.min() ** most_cells) if most_cells else 1.0,
        )
    kept: _Prepared = data.__dict__["_prepared"]
    return kept


def _kernel_rows(data: IncompleteDataset) -> _near.Rows:
    low = data._base.T.copy(order="C")
    high = low.copy()
    for row in data.dirty_rows:
        for cell in data._stored_cells(row):
            low[cell.start : cell.stop, row] = cell.values.min(axis=0)
            high[cell.start : cell.stop, row] = cell.values.max(axis=0)
    counts = data.candidate_counts
    spans = np.stack([data._first_cell, data._n_cells, counts, np.cumsum(counts) - counts], axis=1)
    cells = np.stack(
        [data._cell_start, data._cell_stop, data._cell_size, data._values_at, data._weights_at],
        axis=1,
    )
    order, at = in_blocks(low, high)
    low, high = low.take(order, axis=1), high.take(order, axis=1)
    return _frozen(
        _near.Rows(
            base=data._base,
            spans=np.ascontiguousarray(spans),
            cells=np.ascontiguousarray(cells),
            values=data._values,
            weights=data._weights,
            order=order,
            block_at=at,
            boxes=_boxes(low, high),
            block_boxes=_boxes(
                np.minimum.reduceat(low, at[:-1], axis=1),
                np.maximum.reduceat(high, at[:-1], axis=1),
            ),
            sparse=_sparse(data, cells),
        )
    )


def _boxes(low: Floats, high: Floats) -> _near.Boxes:
    norms = np.zeros((2, low.shape[1]))
    with np.errstate(over="ignore"):  # what overflows is refused before it is used
        for under, over in zip(low, high, strict=True):  # in feature order, as distances are
            norms[0] += np.where((under < 0) & (over > 0), 0.0, np.minimum(under**2, over**2))
            norms[1] += np.maximum(under**2, over**2)
    return _near.Boxes(low, high, norms)


def _sparse(data: IncompleteDataset, cells: Ints) -> _near.Sparse:
    """The non-zeros of the cell values, if the table is wide and they are few."""
    few = np.count_nonzero(data._values) * _SPARSE_FROM < len(data._values)
    if data.n_features < _WIDE_FROM or not few:
        return _near.Sparse(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
    columns, values, sizes = [], [], [0]
    # All cells, also those of pinned rows: values keep their numbers when a row is pinned.
    for start, stop, size, at, _ in cells.tolist():
        for vector in data._values[at : at + size * (stop - start)].reshape(-1, size).T:
            (found,) = np.nonzero(vector)
            columns.append(found + start)
            values.append(vector[found])
            sizes.append(len(found))
    return _near.Sparse(np.cumsum(sizes), np.concatenate(columns), np.concatenate(values))


def _frozen(rows: _near.Rows) -> _near.Rows:
    """Read-only throughout: a kernel is compiled once, not once a mixture of flags."""
    for part in rows:
        for array in part if isinstance(part, tuple) else (part,):
            array.flags.writeable = False
    return rows


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


def _checked_n_neighbors(n_neighbors: Any, n_rows: int) -> int:
    if not is_whole(n_neighbors) or not 1 <= n_neighbors <= n_rows:
        raise QueryError(
            f"n_neighbors must be an int in [1, {n_rows}] (the number of training rows); "
            f"got {n_neighbors!r}."
        )
    return int(n_neighbors)


def _metric_code(metric: Any) -> int:
    if callable(metric):
        return _near.PRECOMPUTED
    if not isinstance(metric, str) or metric not in METRICS:
        raise QueryError(
            f"metric must be one of {', '.join(sorted(METRICS))}, "
            f"or a function (x, t) -> distance; got {metric!r}."
        )
    return METRICS[metric]


def _checked_points(X: npt.ArrayLike, width: int, metric: Metric) -> Floats:
    try:
        given = np.asarray(X)
    except ValueError as problem:
        raise QueryError(
            f"X must have rows of equal length, one a query point; {problem}"
        ) from problem
    try:
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
            "a distance to every candidate, row after row"
            if metric == "precomputed"
            else "as many features as the training candidates"
        )
        columns = "1 column" if width == 1 else f"{width} columns"
        raise QueryError(f"X must have {columns} ({meant}); got {points.shape[1]}.")
    if not np.isfinite(points).all():
        bad = np.argwhere(~np.isfinite(points))
        places = offenders(tuple(int(i) for i in place) for place in bad)
        raise QueryError(
            f"X must be finite; got NaN or infinity at {places}. "
            "Query points must be complete: impute or drop them first."
        )
    return points


def _check_magnitude(prepared: _Prepared, points: Floats, code: int) -> None:
    sizes = np.abs(points).max(axis=1, initial=0.0)
    largest = max(prepared.largest, float(sizes.max(initial=0.0)))
    limit = _LARGEST.get(code, _LARGEST_SUM)
    if largest > limit:
        raise QueryError(
            f"values must not exceed {limit:.0e}, or distances overflow; got {largest:.3g}. "
            "Scale the features."
        )
    if code == _near.COSINE:
        smallest = min(prepared.smallest, float(sizes[sizes > 0].min(initial=math.inf)))
        if smallest < 1 / limit:
            raise QueryError(
                f"a vector must be zero or have a value of at least {1 / limit:.0e}, or its "
                f"cosine underflows; got one with nothing above {smallest:.3g}. "
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
    if n_jobs is not None and (not is_whole(n_jobs) or n_jobs == 0):
        raise QueryError(
            "n_jobs must be None, a positive int, or a negative one to count from all processors "
            f"(-1: all); got {n_jobs!r}."
        )
    if n_jobs is None:
        return 1
    return int(n_jobs) if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + int(n_jobs))
