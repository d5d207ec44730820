"""A hundred classes and ten neighbours."""

from __future__ import annotations

from functools import partial

from benchmarks import agreement
from benchmarks.generated import many_classes
from benchmarks.measure import interleaved
from benchmarks.report import Line, milliseconds
from benchmarks.run import Run
from benchmarks.spaces import assembled
from cpclean import expected_entropies, world_shares

K = 10
CLASSES = 100


def measure(run: Run) -> None:
    rows, n_points = 2_000, run.pick(100, 20)
    run.say(f"{CLASSES} classes: timing")
    space = assembled(many_classes(rows, n_points, CLASSES))
    calls = {
        query.__name__: partial(query, space.data, space.points, K)
        for query in (world_shares, expected_entropies)
    }
    for name, times in interleaved(calls, run.pick(3, 1)).items():
        cpu, wall = times.best_cpu / n_points, times.best_wall / n_points
        run.report.add(
            Line(
                f"{name}, {CLASSES} classes, K = {K}",
                f"{rows:,} rows, {n_points} points",
                ours=f"{milliseconds(cpu)} ({milliseconds(wall)}) ms per point",
            )
        )
    run.say(f"{CLASSES} classes: checking")
    points = agreement.sample(space, K, 3)
    agreement.check_counts(run.report, f"{CLASSES} classes", space.data, points, K)
    agreement.check_gains(run.report, f"{CLASSES} classes", space.data, points[:2], K, 2)
