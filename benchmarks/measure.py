"""Times of calls that take turns, and measurements in fresh processes."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parents[1]

# OpenMP's threads spin for some milliseconds after their work; nobody else should pay for that.
REST_SECONDS = 0.02


@dataclass(frozen=True)
class Times:
    """Seconds of one call, round by round; CPU time is that of all threads of the process."""

    cpu: tuple[float, ...]
    wall: tuple[float, ...]

    @property
    def best_cpu(self) -> float:
        return min(self.cpu)

    @property
    def best_wall(self) -> float:
        return min(self.wall)


@dataclass(frozen=True)
class Ratio:
    """CPU time against a yardstick's of the same round: the middle round and the luckiest."""

    median: float
    lowest: float


def timed(call: Callable[[], object]) -> tuple[float, float]:
    time.sleep(REST_SECONDS)
    cpu, wall = time.process_time(), time.perf_counter()
    call()
    return time.process_time() - cpu, time.perf_counter() - wall


def interleaved(calls: Mapping[str, Callable[[], object]], repeat: int) -> dict[str, Times]:
    """Time the calls in turns, so that a busy machine is unfair to all of them alike.

    Each is called once beforehand: compiled code is loaded and data prepared when time counts.
    """
    for call in calls.values():
        call()
    rounds: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
    for number in range(repeat):
        forth = list(calls)
        for name in forth if number % 2 == 0 else reversed(forth):
            rounds[name].append(timed(calls[name]))
    return {
        name: Times(tuple(cpu for cpu, _ in each), tuple(wall for _, wall in each))
        for name, each in rounds.items()
    }


def ratio(subject: Times, yardstick: Times) -> Ratio:
    each = [ours / theirs for ours, theirs in zip(subject.cpu, yardstick.cpu, strict=True)]
    return Ratio(median(each), min(each))


def in_fresh_process(module: str, *arguments: object) -> dict[str, Any]:
    """Run ``python -m module arguments`` and read the JSON object it prints."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"python -m {module} failed in a fresh process:\n{done.stderr.strip()}")
    result: dict[str, Any] = json.loads(done.stdout)
    return result
