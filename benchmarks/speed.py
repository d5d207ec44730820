"""Queries against scikit-learn's brute-force neighbour search over all candidates."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from sklearn.neighbors import NearestNeighbors

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
    calls: dict[str, Callable[[], object]] = {
        "kneighbors": partial(search.kneighbors, space.points)
    }
    for query in TARGETS:
        calls[query.__name__] = partial(query, space.data, space.points, n_neighbors=K)
    times = interleaved(calls, min(run.repeat, 3) if name == WITHOUT_TARGET else run.repeat)
    yardstick = times["kneighbors"]
    size = (
        f"{name}{run.suffix}, {len(space.points):,} points x {len(space.candidates):,} candidates"
    )
    for query, target in TARGETS.items():
        measured = f"{query.__name__} against kneighbors"
        limit = None if name == WITHOUT_TARGET else target
        run.report.add(compared(measured, size, times[query.__name__], yardstick, limit))


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
