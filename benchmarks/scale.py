"""Many rows: peak memory of a query in a fresh process, and what doubling the rows costs.

``python -m benchmarks.scale QUERY ROWS POINTS`` is the fresh process.
"""

from __future__ import annotations

import ctypes
import gc
import json
import resource
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import cpclean
from benchmarks import agreement
from benchmarks.generated import many_rows
from benchmarks.measure import in_fresh_process, interleaved
from benchmarks.report import Line, compared
from benchmarks.run import Run

QUERIES = ("is_certain", "world_shares", "expected_entropies")
K = 3
MEGABYTES = 500
DOUBLING = 2.0
STATUS = Path("/proc/self/status")


def measure_memory(run: Run) -> None:
    rows, points = run.pick(200_000, 20_000), run.pick(1_000, 100)
    for query in QUERIES:
        run.say(f"{query}: memory at {rows:,} rows")
        in_fresh_process("benchmarks.scale", query, 1_000, 10)  # compiles, if need be
        found = in_fresh_process("benchmarks.scale", query, rows, points)
        growth = (found["peak"] - found["before"]) / 1e6
        at_least = "" if found["exact"] else "at least "
        run.report.add(
            Line(
                f"{query}, memory growth",
                f"{rows:,} rows, {points:,} points",
                ours=f"{at_least}{growth:,.0f} MB",
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


def _measure_here(query: str, rows: int, n_points: int) -> dict[str, float | bool]:
    """Memory once the data stands, and the peak after one call: imports and kernels included."""
    parts = many_rows(rows, n_points)
    data, points = cpclean.IncompleteDataset(parts.candidates, parts.labels), parts.points
    del parts
    gc.collect()
    exact = STATUS.exists() and _give_back() and _forget_peak()
    before = _status("VmRSS") if exact else _lifetime_peak()
    getattr(cpclean, query)(data, points, K)
    peak = _status("VmHWM") if exact else _lifetime_peak()
    return {"before": before, "peak": peak, "exact": exact}


def _give_back() -> bool:
    """Return freed memory to the system: reused, it would hide as much growth."""
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (OSError, AttributeError):
        return False
    return True


def _forget_peak() -> bool:
    """Let the peak start from here, where the system can do that; building had its own."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def _status(name: str) -> int:
    line = next(one for one in STATUS.read_text().splitlines() if one.startswith(name))
    return 1024 * int(line.split()[1])


def _lifetime_peak() -> int:
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    print(json.dumps(_measure_here(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
