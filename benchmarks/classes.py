"""Ten and a hundred classes, up to a hundred neighbours."""

from __future__ import annotations

from functools import partial

from benchmarks import agreement
from benchmarks.generated import many_classes
from benchmarks.measure import interleaved
from benchmarks.report import Line, milliseconds
from benchmarks.run import Run
from benchmarks.spaces import assembled
from cpclean import expected_entropies, world_shares

ROWS = 2_000
SETTINGS = ((10, 30), (10, 100), (100, 10), (100, 30))  # classes, K


def measure(run: Run) -> None:
    n_points = run.pick(60, 12)
    for classes, k in SETTINGS:
        name = f"{classes} classes, K = {k}"
        run.say(f"{name}: timing")
        space = assembled(many_classes(ROWS, n_points, classes))
        calls = {
            query.__name__: partial(query, space.data, space.points, k)
            for query in (world_shares, expected_entropies)
        }
        for query, times in interleaved(calls, run.pick(3, 1)).items():
            cpu, wall = times.best_cpu / n_points, times.best_wall / n_points
            run.report.add(
                Line(
                    f"{query}, {name}",
                    f"{ROWS:,} rows, {n_points} points",
                    ours=f"{milliseconds(cpu)} ({milliseconds(wall)}) ms per point",
                )
            )
        run.say(f"{name}: checking")
        points = agreement.sample(space, k, 3)
        agreement.check_counts(run.report, name, space.data, points, k)
        agreement.check_gains(run.report, name, space.data, points[:2], k, 2)
