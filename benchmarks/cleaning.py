"""Cleaning sessions: how long a person waits for the next question, and what memory that takes.

A step is telling an answer and asking the next question. ``python -m benchmarks.cleaning ROWS
POINTS STEPS`` and ``python -m benchmarks.cleaning SPACE FOLDER`` are the fresh processes in which
memory is measured.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from benchmarks import memory, spaces
from benchmarks.generated import Floats, many_rows
from benchmarks.kernel_clock import kernel_clock
from benchmarks.measure import in_fresh_process, timed
from benchmarks.report import Line, duration, milliseconds
from benchmarks.run import Run
from benchmarks.spaces import Space
from cpclean import CleaningSession, IncompleteDataset, expected_entropies, world_shares

K = 3
LIMIT = 0.25
NAMES = ("Supreme", "Bank", "Puma")
WORLDS = 200
GIGABYTE = 1e9


@dataclass(frozen=True)
class Steps:
    """Every step of a session until all points are certain: seconds each."""

    session: CleaningSession
    cpu: list[float]
    wall: list[float]


def measure(run: Run) -> None:
    for name in run.pick(NAMES, NAMES[:1]):
        run.say(f"{name}: reading")
        space = run.source.space(name)
        run.say(f"{name}: a whole session")
        before = _search(space)
        steps = _whole_session(space)
        yardstick = median([*before, *_search(space)])
        _report(run, name, space, steps, yardstick)
        _report_kernels(run, name, space, steps)
        run.say(f"{name}: checking")
        _check(run, name, space, steps.session)
    _measure_memory(run)


def _search(space: Space, repeat: int = 5) -> list[float]:
    """CPU seconds of scikit-learn's brute-force search over all candidates, on one thread."""
    search = NearestNeighbors(n_neighbors=K, algorithm="brute").fit(space.candidates)
    with threadpool_limits(1):
        search.kneighbors(space.points)
        return [timed(lambda: search.kneighbors(space.points))[0] for _ in range(repeat)]


def _whole_session(space: Space) -> Steps:
    CleaningSession(space.data, space.points[:1], K).ask()  # compiled code is loaded
    start = time.process_time(), time.perf_counter()
    session = CleaningSession(space.data, space.points, K)
    question = session.ask()
    cpu, wall = [time.process_time() - start[0]], [time.perf_counter() - start[1]]
    while question is not None:
        start = time.process_time(), time.perf_counter()
        session.tell(question.row, int(space.truth[question.row]))
        question = session.ask()
        cpu.append(time.process_time() - start[0])
        wall.append(time.perf_counter() - start[1])
    return Steps(session, cpu, wall)


def _report(run: Run, name: str, space: Space, steps: Steps, yardstick: float) -> None:
    on = f"{name}{run.suffix}, {len(space.points):,} x {len(space.candidates):,}"
    step = median(steps.cpu[1:])
    ratio = step / yardstick
    run.report.add(
        Line(
            "tell + ask, median / kneighbors",
            on,
            ours=f"{1000 * step:.1f} ({1000 * median(steps.wall[1:]):.1f}) ms",
            yardstick=f"{milliseconds(yardstick)} ms",
            ratio=f"{ratio:.3f}",
            target="" if name == "Bank" else f"≤ {LIMIT:g}",
            met=None if name == "Bank" else ratio <= LIMIT,
        )
    )
    answers, dirty = len(steps.session.history), len(space.data.dirty_rows)
    run.report.add(
        Line(
            "a session until all points are certain",
            on,
            ours=f"{duration(sum(steps.cpu))} ({duration(sum(steps.wall))})",
            yardstick=f"{answers:,} of {dirty:,} rows ({answers / dirty:.0%})",
        )
    )


def _report_kernels(run: Run, name: str, space: Space, steps: Steps) -> None:
    """How much of the time of all steps is spent in kernels, once these are loaded."""

    def again(session: CleaningSession) -> float:
        question, start = session.ask(), time.process_time()
        while question is not None:
            session.tell(question.row, int(space.truth[question.row]))
            question = session.ask()
        return time.process_time() - start

    one, two = steps.session.from_start(), steps.session.from_start()
    two.ask()
    seconds = again(one)
    with kernel_clock() as clock:
        again(two)
    share = clock.seconds / seconds
    on = f"{name}{run.suffix}, {len(space.points):,} x {len(space.candidates):,}"
    run.report.add(Line("share of a session's steps in kernels", on, ours=f"{share:.2f}"))


def _check(run: Run, name: str, space: Space, session: CleaningSession) -> None:
    first = CleaningSession(space.data, space.points, K).ask()
    assert first is not None
    expected = expected_entropies(space.data, space.points, K)[space.data.dirty_rows]
    off = float(expected_entropies(space.data, space.points, K)[first.row] - expected.min())
    run.report.check(
        f"{name}: the first question is for the row of least expected entropy",
        off <= 1e-13,
        f"off by {off:.1e}",
    )
    rng = np.random.default_rng(0)
    found = [_predicted(_random_world(session.data, rng), space) for _ in range(WORLDS)]
    same = all(np.array_equal(one, found[0]) for one in found)
    open_ = len(session.data.dirty_rows)
    run.report.check(
        f"{name}: {WORLDS} random worlds of what is left predict the same",
        same and session.certain_share == 1.0,
        f"{open_} rows left, {len(space.points)} points",
    )


def _random_world(data: IncompleteDataset, rng: np.random.Generator) -> IncompleteDataset:
    rows = data.arrays.base.copy()
    for row in data.dirty_rows.tolist():
        rows[row] = data.candidate(row, int(rng.integers(data.candidate_counts[row])))
    return IncompleteDataset(list(rows[:, None, :]), data.labels)


def _predicted(world: IncompleteDataset, space: Space) -> Floats:
    return np.asarray(world_shares(world, space.points, K).argmax(axis=1))


# -- memory ------------------------------------------------------------------------------


def _measure_memory(run: Run) -> None:
    rows, points, steps = run.pick((100_000, 2_000, 20), (10_000, 200, 5))
    run.say(f"a session of {rows:,} rows: memory")
    found = in_fresh_process("benchmarks.cleaning", rows, points, steps)
    _add_memory(run, f"{rows:,} rows, {points:,} points, {steps} answers", found, 4.0)
    if run.source.folder is not None and not run.quick:
        run.say("Puma: memory of a whole session")
        found = in_fresh_process("benchmarks.cleaning", "Puma", run.source.folder)
        _add_memory(run, "Puma, a whole session", found, 1.0)


def _add_memory(run: Run, on: str, found: dict[str, float], gigabytes: float) -> None:
    run.report.add(
        Line(
            "session, memory in all",
            on,
            ours=f"{found['peak'] / 1e6:,.0f} MB",
            yardstick=f"{found['before'] / 1e6:,.0f} MB before",
            target=f"≤ {gigabytes:g} GB",
            met=found["peak"] <= gigabytes * GIGABYTE,
        )
    )


def _many(rows: int, points: int, steps: int) -> memory.Found:
    parts = many_rows(rows, points)
    space = spaces.assembled(parts)
    del parts

    def work() -> None:
        session = CleaningSession(space.data, space.points, K)
        for _ in range(steps):
            question = session.ask()
            if question is not None:
                session.tell(question.row, int(space.truth[question.row]))

    return memory.of(work)


def _published(name: str, folder: str) -> memory.Found:
    space = spaces.Source(Path(folder), 1_000).space(name)
    return memory.of(lambda: _whole_session(space))


if __name__ == "__main__":
    if sys.argv[1].isdigit():
        print(json.dumps(_many(*(int(one) for one in sys.argv[1:4]))))
    else:
        print(json.dumps(_published(sys.argv[1], sys.argv[2])))
