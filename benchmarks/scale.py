"""Many rows: peak memory of a query in a fresh process, and what doubling the rows costs.

``python -m benchmarks.scale QUERY ROWS POINTS`` is the fresh process.
"""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Callable
from functools import partial

import cpclean
from benchmarks import agreement, memory
from benchmarks.generated import many_rows
from benchmarks.measure import in_fresh_process, interleaved
from benchmarks.report import Line, compared
from benchmarks.run import Run

QUERIES = ("is_certain", "world_shares", "expected_entropies")
K = 3
MEGABYTES = 500
DOUBLING = 2.0


def measure_memory(run: Run) -> None:
    rows, points = run.pick(200_000, 20_000), run.pick(1_000, 100)
    for query in QUERIES:
        run.say(f"{query}: memory at {rows:,} rows")
        in_fresh_process("benchmarks.scale", query, 1_000, 10)  # compiles, if need be
        found = in_fresh_process("benchmarks.scale", query, rows, points)
        growth = memory.growth(found)
        run.report.add(
            Line(
                f"{query}, memory growth",
                f"{rows:,} rows, {points:,} points",
                ours=memory.shown(found),
                yardstick=f"{found['before'] / 1e6:,.0f} MB before",
                target=f"≤ {MEGABYTES} MB",
                met=growth <= MEGABYTES,
            )
        )


def measure_doubling(run: Run) -> None:
    rows, n_points = run.pick(200_000, 20_000), run.pick(1_000, 100)
    run.say(f"building {rows // 2:,} and {rows:,} rows")
    parts = many_rows(rows, n_points)
    whole = cpclean.IncompleteDataset(parts.candidates, parts.labels)
    half = cpclean.IncompleteDataset(parts.candidates[: rows // 2], parts.labels[: rows // 2])
    for name in QUERIES:
        run.say(f"{name}: {rows // 2:,} and {rows:,} rows")
        query: Callable[..., object] = getattr(cpclean, name)
        calls = {
            "half": partial(query, half, parts.points, K),
            "whole": partial(query, whole, parts.points, K),
        }
        times = interleaved(calls, min(run.repeat, 3))
        measured = f"{name}, rows doubled"
        on = f"{rows // 2:,} and {rows:,} rows"
        run.report.add(compared(measured, on, times["whole"], times["half"], DOUBLING))
    run.say(f"checking {rows:,} rows")
    agreement.check_counts(run.report, f"{rows:,} rows", whole, parts.points[:3], K)


# -- the fresh process -------------------------------------------------------------------


def _measure_here(query: str, rows: int, n_points: int) -> memory.Found:
    """One call, once the data stands: imports and kernels are included."""
    parts = many_rows(rows, n_points)
    data, points = cpclean.IncompleteDataset(parts.candidates, parts.labels), parts.points
    del parts
    gc.collect()
    return memory.of(lambda: getattr(cpclean, query)(data, points, K))


if __name__ == "__main__":
    print(json.dumps(_measure_here(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
