"""The same work in one process and on a cluster of two workers on this machine.

CPU time is that of all processes together: this one, which also runs the scheduler, and the two
workers. A step is what telling an answer and asking the next question take.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from benchmarks.generated import arrays_of_many_rows
from benchmarks.report import Line, milliseconds
from benchmarks.run import Run
from cpclean import CleaningSession, IncompleteDataset, expected_entropies
from cpclean.cluster.dask_cluster import DaskCluster

CPU, STEP = 1.2, 6.0  # targets: of what one process takes


@dataclass(frozen=True)
class _Spent:
    cpu: float
    wall: float
    found: Any


def measure(run: Run) -> None:
    from distributed import Client, LocalCluster

    own = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0", "silence_logs": 40}
    with (
        LocalCluster(2, threads_per_worker=1, **own) as started,
        Client(started, set_as_default=False) as client,
    ):
        cluster = DaskCluster(client)
        _measure_queries(run, cluster, client)
        _measure_steps(run, cluster, client)
        _measure_large(run, cluster, client)


def _measure_queries(run: Run, cluster: DaskCluster, client: Any) -> None:
    rows, n_points = run.pick(20_000, 2_000), run.pick(40_000, 300)
    on = f"{rows:,} rows x 10 columns, {n_points:,} points, 2 workers"
    run.say(f"cluster, {on}")
    data, points = _made(rows, n_points)
    here, there = [], []
    for _ in range(run.pick(6, 2)):  # the first time, compiled code is loaded
        here.append(_spent(client, lambda: expected_entropies(data, points, 15)))
        there.append(_spent(client, lambda: expected_entropies(data, points, 15, cluster=cluster)))
    _add(run, "expected_entropies, K = 15, CPU in all", on, here[1:], there[1:], CPU)
    same = np.array_equal(here[0].found, there[0].found)
    run.report.check(f"{on}: expected_entropies", same, "bit for bit")


def _measure_steps(run: Run, cluster: DaskCluster, client: Any) -> None:
    rows, n_points = run.pick(20_000, 1_000), run.pick(4_000, 200)
    on = f"{rows:,} rows x 10 columns, {n_points:,} points, 2 workers"
    run.say(f"cluster, sessions, {on}")
    data, points = _made(rows, n_points)
    steps: dict[str, list[_Spent]] = {}
    usual = cluster.least
    for name, least in (("here", usual), ("usual", usual), ("all sent", 1)):
        cluster.least = least
        session = CleaningSession(data, points, cluster=None if name == "here" else cluster)
        before = cluster.sent + cluster.received
        steps[name] = _steps(session, client, run.pick(25, 6))
        size = (cluster.sent + cluster.received - before) / len(steps[name])
        if name != "here":
            told = f"{name}: {size:,.0f} bytes per step"
            run.report.add(Line("cluster: bytes of work and results", on, ours=told))
    cluster.least = usual
    for name in ("usual", "all sent"):
        what = f"tell + ask on a cluster ({name})"
        _add(run, what, on, steps["here"][2:], steps[name][2:], STEP)
        same = [one.found for one in steps[name]] == [one.found for one in steps["here"]]
        run.report.check(f"{on}: questions and gains, {name}", same, "bit for bit")


def _measure_large(run: Run, cluster: DaskCluster, client: Any) -> None:
    """A session that is large enough to be faster on two workers, by the clock."""
    rows, n_points, k = run.pick(20_000, 1_000), run.pick(60_000, 300), 15
    on = f"{rows:,} rows x 10 columns, {n_points:,} points, K = {k}, 2 workers"
    run.say(f"cluster, a large session, {on}")
    data, points = _made(rows, n_points)

    def course(where: DaskCluster | None) -> list[int]:
        session = CleaningSession(data, points, k, cluster=where)
        return [one.found[0] for one in _steps(session, client, run.pick(10, 2))]

    here, there = [], []
    for _ in range(run.pick(4, 2)):  # the first time, compiled code is loaded
        here.append(_spent(client, lambda: course(None)))
        there.append(_spent(client, lambda: course(cluster)))
    best = [min(one.wall for one in way) for way in (there, here)]
    run.report.add(
        Line(
            "a session's first look and ten steps, by the clock",
            on,
            ours=f"{best[0]:.1f} s",
            yardstick=f"{best[1]:.1f} s",
            ratio=f"{best[0] / best[1]:.2f}",
            target="" if run.quick else "< 1",
            met=None if run.quick else best[0] < best[1],
        )
    )
    _add(run, "the same, CPU in all", on, here[1:], there[1:], CPU)
    run.report.check(f"{on}: questions", here[0].found == there[0].found, "the same rows")


def _made(rows: int, n_points: int) -> tuple[IncompleteDataset, np.ndarray]:
    arrays, labels, points = arrays_of_many_rows(rows, n_points)
    return IncompleteDataset.from_arrays(arrays, labels, np.array([0, 1])), points


def _steps(session: CleaningSession, client: Any, number: int) -> list[_Spent]:
    def step() -> tuple[int, float]:
        question = session.ask()
        assert question is not None
        session.tell(question.row, candidate=0)
        session.ask()
        return question.row, question.gain

    return [_spent(client, step) for _ in range(number)]


def _spent(client: Any, work: Callable[[], Any]) -> _Spent:
    before, cpu, wall = _of_workers(client), time.process_time(), time.perf_counter()
    found = work()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return _Spent(cpu + _of_workers(client) - before, wall, found)


def _of_workers(client: Any) -> float:
    """CPU seconds that the workers have spent in all."""
    return float(sum(client.run(time.process_time).values()))


def _add(
    run: Run, what: str, on: str, here: list[_Spent], there: list[_Spent], target: float
) -> None:
    """CPU times, and the median of their ratios, each of one round or step."""
    one, other = (median(spent.cpu for spent in way) for way in (here, there))
    ratio = median(two.cpu / one.cpu for one, two in zip(here, there, strict=True))
    held = run.pick(target, None)
    run.report.add(
        Line(
            what,
            on,
            ours=f"{milliseconds(other)} ms",
            yardstick=f"{milliseconds(one)} ms",
            ratio=f"{ratio:.2f}",
            target="" if held is None else f"≤ {held:g}",
            met=None if held is None else ratio <= held,
        )
    )
