"""The space around query points: metrics, the total order, and what is relevant to a point.

A `Query` is a checked question; `Query.over_blocks` answers it block by block, `Query.around` lays
out the sorted positions around a block's points. Memory beyond the data stays around
`BLOCK_BYTES` per thread, for any number of rows and points; only a single point with a larger
neighbourhood takes more.
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
from cpclean.data.points import Points
from cpclean.data.rows import Floats, is_whole
from cpclean.errors import QueryError, offenders
from cpclean.queries import _near, _order, kernel_arrays
from cpclean.queries.kernel_arrays import SIZE, Positions, Rows
from cpclean.queries.model import Metric, Model
from cpclean.queries.prepared import Prepared, frozen, prepared_rows

Result = TypeVar("Result")

METRICS = {
    "euclidean": kernel_arrays.EUCLIDEAN,
    "rbf": kernel_arrays.EUCLIDEAN,  # exp(-g |x - t|^2) falls as |x - t| grows: the same order
    "manhattan": kernel_arrays.MANHATTAN,
    "chebyshev": kernel_arrays.CHEBYSHEV,
    "linear": kernel_arrays.LINEAR,
    "cosine": kernel_arrays.COSINE,
    "precomputed": kernel_arrays.PRECOMPUTED,
}

BLOCK_POINTS = 64
BLOCK_BYTES = 2**26

# Larger values overflow when they are squared (for cosine: twice) and summed.
_LARGEST = {kernel_arrays.EUCLIDEAN: 1e150, kernel_arrays.LINEAR: 1e150, kernel_arrays.COSINE: 1e70}
_LARGEST_SUM = 1e300


@dataclass(frozen=True)
class Query:
    """Checked query points over an incomplete dataset; equal points are asked once."""

    data: IncompleteDataset
    rows: Rows
    metric: int
    distance: Callable[[Any, Any], float] | None  # a metric given as a function
    n_neighbors: int
    rarest: float  # a lower bound on the prior of any candidate
    points: Points
    vectors: Floats  # those of the points, or some of them, or distances in their place
    drawn: Query | None = None  # the same about draws, where some rows have too many candidates

    @property
    def for_shares(self) -> Query:
        """What shares are taken of: all worlds, or those of the draws."""
        return self.drawn or self

    def about(self, vectors: Floats) -> Query:
        """The same question about other vectors."""
        drawn = None if self.drawn is None else self.drawn.about(vectors)
        return replace(self, vectors=vectors, drawn=drawn)

    def counting(self) -> Query:
        """The same question with every candidate of weight 1: worlds are counted, not weighted."""
        return replace(
            self, rows=frozen(self.rows._replace(weights=np.ones(len(self.rows.weights))))
        )

    def over_blocks(
        self, answer: Callable[[Query, Floats, Near], Result], n_jobs: int | None = None
    ) -> list[Result]:
        """Answer block by block, in order; the blocks do not depend on the number of threads."""
        size = BLOCK_POINTS
        if self.distance is not None:
            size = max(1, min(size, BLOCK_BYTES // (8 * self.data.n_candidates)))
        pieces = [self.vectors[at : at + size] for at in range(0, len(self.vectors), size)]
        threads = min(_n_threads(n_jobs), len(pieces))

        def work(piece: Floats) -> list[Result]:
            return self.answered(answer, self.measured(piece))

        if threads <= 1 and not _in_main_thread():
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

    def answered(
        self, answer: Callable[[Query, Floats, Near], Result], points: Floats
    ) -> list[Result]:
        """Answer a block, in halves where its points have too many near rows together."""
        near = Near(
            *_near.near_rows(self.rows, self.metric, points, self.n_neighbors, BLOCK_BYTES // 32)
        )
        if len(near.ptr):
            return [answer(self, points, near)]
        half = len(points) // 2
        return [*self.answered(answer, points[:half]), *self.answered(answer, points[half:])]

    def around(
        self, points: Floats, near: Near, slack: float, want_rank: bool = False
    ) -> Iterator[Neighbourhood]:
        """Sorted positions around the points, in groups that fit into memory."""
        if not len(points):
            return
        sizes = np.add.reduceat(self.rows.spans[near.rows, SIZE], near.ptr[:-1])
        for group in _groups(sizes, BLOCK_BYTES // 64):
            part = near.part(group)
            positions = Positions(
                *_order.positions(
                    self.rows, self.metric, points[group], *part, self.n_neighbors, slack, want_rank
                )
            )
            codes = self.data.codes[positions.rows]
            labels = _near.local_labels(positions.row_ptr, codes, self.data.n_classes)
            yield Neighbourhood(group, positions, *labels)

    def nearest(self, row: int) -> Floats:
        """How near to each vector a row may come at most: a lower bound on its distances."""
        place = prepared_rows(self.data).place[row]
        found: Floats = _aside(
            lambda: _near.bounds_of_row(self.rows, self.metric, self.vectors, place)
        )
        return found

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
    positions: Positions
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
    """The thread that works for the main thread.

    A Ctrl-C that arrives while compiled code hands over its result breaks the process, and only
    the main thread receives it. Reused from call to call; a forked process needs its own.
    """
    if os.getpid() not in _workers:
        _workers.clear()
        _workers[os.getpid()] = ThreadPoolExecutor(1, thread_name_prefix="cpclean")
    return _workers[os.getpid()]


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def _aside(call: Callable[[], Result]) -> Result:
    """Call something that runs compiled code, but never in the main thread; see `_worker`."""
    return _worker().submit(call).result() if _in_main_thread() else call()


def ask(data: IncompleteDataset, X: Points | npt.ArrayLike, model: Model) -> Query:
    """Check a question once; every later step trusts it."""
    if not isinstance(data, IncompleteDataset):
        raise QueryError(
            f"data must be an IncompleteDataset; got {type(data).__name__}. "
            "Wrap candidates and labels: IncompleteDataset(candidates, labels)."
        )
    n_neighbors = _checked_n_neighbors(model.n_neighbors, data.n_rows)
    metric, code = model.metric, _metric_code(model.metric)
    width = data.n_candidates if model.precomputed else data.n_features
    if isinstance(X, Points):
        _checked_points(X.vectors, width, metric)
        points = X
    else:
        points = Points.of(_checked_points(X, width, metric), merge=not model.precomputed)
    if not data.is_exact and code == kernel_arrays.PRECOMPUTED:
        raise _not_measured(data)
    prepared = prepared_rows(data)
    if not callable(metric):
        check_magnitude(prepared, points.vectors, code)
    return Query(
        data=data,
        rows=prepared.rows,
        metric=code,
        distance=metric if callable(metric) else None,
        n_neighbors=n_neighbors,
        rarest=prepared.rarest,
        points=points,
        vectors=points.vectors,
    )


def ask_both(data: IncompleteDataset, X: Points | npt.ArrayLike, model: Model) -> Query:
    """Check a question about all worlds and, where rows are drawn, about draws as well."""
    query = ask(data, X, model)
    return query if data.is_exact else replace(query, drawn=ask(data.sampled, query.points, model))


def ask_shares(data: IncompleteDataset, X: Points | npt.ArrayLike, model: Model) -> Query:
    """Check a question about shares: it is asked of draws where rows have too many candidates."""
    given = data if model.precomputed else getattr(data, "sampled", data)
    return ask(given, X, model)


def _not_measured(data: IncompleteDataset) -> QueryError:
    rows = data.drawn_rows.tolist()
    return QueryError(
        "with a metric that is a function, or with distances that are given, every candidate has "
        f"to be looked at to find what is certain; row {offenders(rows)} has more than "
        f"{data.drawing.max_exact:,} (max_exact). Use a named metric, or raise max_exact.",
        field="metric",
    )


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
            f"got {n_neighbors!r}.",
            field="n_neighbors",
        )
    return int(n_neighbors)


def _metric_code(metric: Any) -> int:
    if callable(metric):
        return kernel_arrays.PRECOMPUTED
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
            f"X must have rows of equal length, one per query point; {problem}"
        ) from problem
    try:
        if given.dtype.kind in "USMmVc":
            raise TypeError(f"dtype {given.dtype}")
        points = np.asarray(given, dtype=np.float64, order="C")
    except (TypeError, ValueError) as problem:
        raise QueryError(
            f"X must be numbers; {problem}. Encode categories as numbers first."
        ) from problem
    if points.ndim != 2:
        raise QueryError(
            f"X must have two dimensions, one row per query point; got shape {points.shape}. "
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
            "Query points must be complete; give the completions of one with holes as Points."
        )
    return points


def check_magnitude(prepared: Prepared, points: Floats, code: int) -> None:
    """Refuse values whose distances overflow, or underflow, in this metric."""
    sizes = np.abs(points).max(axis=1, initial=0.0)
    largest = max(prepared.largest, float(sizes.max(initial=0.0)))
    limit = _LARGEST.get(code, _LARGEST_SUM)
    if largest > limit:
        raise QueryError(
            f"values must not exceed {limit:.0e}, or distances overflow; got {largest:.3g}. "
            "Scale the features."
        )
    if code == kernel_arrays.COSINE:
        smallest = min(prepared.smallest, float(sizes[sizes > 0].min(initial=math.inf)))
        if smallest < 1 / limit:
            raise QueryError(
                f"a vector must be zero or have a value of at least {1 / limit:.0e}, or its "
                f"cosine underflows; got one with nothing above {smallest:.3g}. "
                "Scale the features."
            )


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
