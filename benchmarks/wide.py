"""Many columns, and tables full of ties: queries against scikit-learn's brute-force search."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from benchmarks import agreement
from benchmarks.generated import Parts, many_rows, tied_rows
from benchmarks.measure import interleaved
from benchmarks.report import compared
from benchmarks.run import Run
from benchmarks.spaces import assembled
from cpclean import expected_entropies, is_certain, world_shares

K = 3
WIDTHS = (30, 100)
TARGET = 1.5
QUERIES = (is_certain, world_shares, expected_entropies)


def measure_wide(run: Run) -> None:
    rows, n_points = run.pick(100_000, 4_000), run.pick(200, 64)
    for width in WIDTHS:
        name = f"{rows:,} rows x {width} columns"
        run.say(f"{name}: building")
        _measure(run, name, many_rows(rows, n_points, width), TARGET)


def measure_tied(run: Run) -> None:
    rows = run.pick(10_000, 2_000)
    name = f"{rows:,} rows x 8 categories"
    _measure(run, name, tied_rows(rows, run.pick(256, 64)), None)


def _measure(run: Run, name: str, parts: Parts, target: float | None) -> None:
    space = assembled(parts)
    search = NearestNeighbors(n_neighbors=K, algorithm="brute").fit(space.candidates)

    def on_one_thread() -> None:
        with threadpool_limits(1):
            search.kneighbors(space.points)

    calls: dict[str, Callable[[], object]] = {"kneighbors": on_one_thread}
    for query in QUERIES:
        calls[query.__name__] = partial(query, space.data, space.points, K)
    run.say(f"{name}: timing")
    times = interleaved(calls, min(run.repeat, 5))
    on = f"{name}, {len(space.points)} points"
    for query in QUERIES:
        measured = f"{query.__name__} / kneighbors"
        found = times[query.__name__]
        run.report.add(compared(measured, on, found, times["kneighbors"], target))
    run.say(f"{name}: checking")
    points = agreement.sample(space, K, 3)
    agreement.check_counts(run.report, name, space.data, points, K)
    agreement.check_neighbours(run.report, name, space, points, search.kneighbors(points))
