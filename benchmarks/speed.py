"""Queries against scikit-learn's brute-force neighbour search over all candidates.

The yardstick that targets are held against runs on one thread. With several, OpenMP's threads wait
for each other by spinning, and that counts as CPU time: on two cores of which one is busy with
something else, 26 ms of searching came out as 170 ms, and every ratio as a sixth of what it is. On
a free machine both cost the same, within some 3 % at 1,000 points. The search with its usual
threads is shown beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from sklearn.neighbors import NearestNeighbors
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

from benchmarks import agreement
from benchmarks.measure import interleaved
from benchmarks.report import compared
from benchmarks.run import Run
from benchmarks.spaces import Space
from cpclean import expected_entropies, is_certain, world_shares

K = 3
TARGETS: dict[Callable[..., object], float] = {
    is_certain: 1.5,
    world_shares: 2.0,
    expected_entropies: 2.5,
}
WITHOUT_TARGET = "BabyProduct"


def measure(run: Run) -> None:
    names = ["Supreme", "Bank", "Puma", *run.pick([WITHOUT_TARGET], [])]
    for name in names:
        run.say(f"{name}: reading")
        space = run.source.space(name)
        run.say(f"{name}: timing")
        _time(run, name, space)
        run.say(f"{name}: checking")
        _check(run, name, space)


def _time(run: Run, name: str, space: Space) -> None:
    """Fitting and preparing are done before time counts, on both sides."""
    search = NearestNeighbors(n_neighbors=K, algorithm="brute").fit(space.candidates)
    threads = ThreadpoolController()

    def on_one_thread() -> None:
        with threads.limit(limits=1):
            search.kneighbors(space.points)

    usual = partial(search.kneighbors, space.points)
    calls: dict[str, Callable[[], object]] = {"one thread": on_one_thread, "usual": usual}
    for query in TARGETS:
        calls[query.__name__] = partial(query, space.data, space.points, n_neighbors=K)
    times = interleaved(calls, min(run.repeat, 3) if name == WITHOUT_TARGET else run.repeat)
    yardstick = times["one thread"]
    size = f"{name}{run.suffix}, {len(space.points):,} x {len(space.candidates):,}"
    for query, target in TARGETS.items():
        measured = f"{query.__name__} / kneighbors"
        limit = None if name == WITHOUT_TARGET else target
        run.report.add(compared(measured, size, times[query.__name__], yardstick, limit))
    measured = "kneighbors, usual threads / one"
    run.report.add(compared(measured, size, times["usual"], yardstick, None))


def _check(run: Run, name: str, space: Space) -> None:
    large = name == WITHOUT_TARGET
    points = agreement.sample(space, K, 6 if large else run.pick(30, 10))
    few = points[:3] if large else points[: run.pick(10, 5)]
    agreement.check_counts(run.report, name, space.data, points, K)
    agreement.check_gains(run.report, name, space.data, few, K, 2 if large else 5)
    search = NearestNeighbors(n_neighbors=K, algorithm="brute").fit(space.candidates)
    agreement.check_neighbours(run.report, name, space, points, search.kneighbors(points))
    if not large:  # the paper's algorithm takes minutes a point there
        agreement.check_reference(run.report, name, space.data, points[0], K)
