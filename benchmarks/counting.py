"""Exact counts, and all conditionals at once against the paper's SS-DC run anew for each."""

from __future__ import annotations

from functools import partial
from statistics import median

import numpy as np

from benchmarks import agreement
from benchmarks.measure import interleaved, timed
from benchmarks.report import Line, cpu_and_wall, duration
from benchmarks.run import Run
from cpclean import expected_entropies, world_counts
from cpclean.queries import reference

SPACE = "Supreme"
K = 3
FASTER = 10_000


def measure_counts(run: Run) -> None:
    run.say(f"{SPACE}: counting worlds exactly")
    space = run.source.space(SPACE)
    points = space.points[:100]
    times = interleaved({"counts": partial(world_counts, space.data, points, K)}, run.pick(3, 1))
    run.report.add(
        Line(
            "world_counts, exact",
            f"{SPACE}{run.suffix}, {len(points)} points",
            ours=cpu_and_wall(times["counts"]),
            target="seconds",
            met=times["counts"].best_wall < 10,
        )
    )
    agreement.check_counts(run.report, f"{SPACE}, first points", space.data, points, K)


def measure_reference(run: Run) -> None:
    """Time a few calls of ss_dc on pinned data; their number times that is what all would take."""
    run.say(f"{SPACE}: ss_dc on pinned data")
    space = run.source.space(SPACE)
    data, points = space.data, space.points
    rng = np.random.default_rng(0)
    n_timed = run.pick(5, 2)
    seconds = []
    for row in rng.choice(data.dirty_rows, n_timed, replace=False).tolist():
        pinned = data.pin(row, int(rng.integers(data.candidate_counts[row])))
        point = points[rng.integers(len(points))]
        seconds.append(timed(partial(reference.ss_dc, pinned, point, K))[0])
    ours = interleaved({"ours": partial(expected_entropies, data, points, K)}, run.repeat)["ours"]
    n_calls = int(data.candidate_counts[data.dirty_rows].sum()) * len(points)
    whole = median(seconds) * n_calls
    factor = whole / ours.best_cpu
    run.report.add(
        Line(
            "expected_entropies / ss_dc (extrapolated)",
            f"{SPACE}{run.suffix}, {len(points):,} points",
            ours=cpu_and_wall(ours),
            yardstick=duration(whole),
            ratio=f"{factor:,.0f} x faster",
            target=f"≥ {FASTER:,} x",
            met=factor >= FASTER,
        )
    )
    run.report.notes.append(
        f"Extrapolated: ss_dc anew for every dirty row, candidate and point makes {n_calls:,} "
        f"calls; {n_timed} of them, on pinned data, took {median(seconds):.2f} s (median)."
    )
