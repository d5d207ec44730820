"""`cpclean serve`: how long people wait for the next question when ten of them answer at once.

A real server process over an SQLite file, ten clients on loopback that think for a moment between
answers, on a table of the paper's size. What is timed is one request: an answer goes in, is kept on
the disk, and the next question comes back. ``python -m benchmarks.serving`` runs it alone.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import httpx
import numpy as np
import pandas as pd

from benchmarks.report import Line, milliseconds
from benchmarks.run import Run
from cpclean.data.table import IncompleteTable
from cpclean.storage.opening import open_storage
from cpclean.storage.project import Project, Settings

TOKEN = "a-token-for-measurements"
PEOPLE = 10
THINKING = 0.6  # seconds at most
LIMIT = 0.1


@dataclass(frozen=True)
class Waits:
    """Seconds from an answer to the next question, and of a request that does nothing."""

    answers: list[float]
    nothing: list[float]
    holes: int

    def share(self, part: float) -> float:
        return sorted(self.answers)[min(len(self.answers) - 1, int(part * len(self.answers)))]


def measure(run: Run) -> None:
    rows, points = run.pick((3000, 1000), (600, 200))
    run.say(f"{rows} rows: serving {PEOPLE} people")
    waits = waits_of(rows, points, run.pick(20.0, 5.0))
    run.report.add(
        Line(
            f"answer to next question, {PEOPLE} people",
            f"{rows} rows, {waits.holes} with holes; {points} points",
            ours=f"{milliseconds(median(waits.answers))} ms (95 %: "
            f"{milliseconds(waits.share(0.95))} ms)",
            yardstick=f"{milliseconds(median(waits.nothing))} ms, empty request",
            target=f"< {milliseconds(LIMIT)} ms",
            met=median(waits.answers) < LIMIT,
        )
    )


def waits_of(rows: int, points: int, seconds: float) -> Waits:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "served.db"
        project = _project(rows, points)
        with open_storage(place) as storage:
            storage.create(project)
        with _served(place) as url:
            end = time.monotonic() + seconds
            with ThreadPoolExecutor(PEOPLE) as pool:
                work = [pool.submit(_person, url, number, end) for number in range(PEOPLE)]
                found = [one.result() for one in work]
    answers = [wait for one, _ in found for wait in one]
    nothing = [wait for _, one in found for wait in one]
    return Waits(answers, nothing, len(project.dirty_rows))


def _project(rows: int, points: int) -> Project:
    """Numbers and towns, a fifth of the rows with holes; labels that no column tells for sure."""
    rng = np.random.default_rng(0)
    size = rows + points
    values = rng.normal(size=(size, 6))
    noise = rng.normal(scale=0.5, size=size)
    labels = np.where(values[:, 0] + 0.5 * values[:, 1] + noise > 0, "yes", "no")
    frame = pd.DataFrame(values.round(2), columns=list("abcdef"))
    frame["town"] = rng.choice(list("UVWXYZ"), size)
    train = frame.iloc[:rows].mask(rng.random((rows, 7)) < 0.03)
    table = IncompleteTable(train.assign(y=labels[:rows]), label="y")
    held = frame.iloc[rows:].reset_index(drop=True)
    return Project.make(table, held, labels[rows:], Settings())


@contextmanager
def _served(place: Path) -> Iterator[str]:
    code = "from cpclean.cli import main; main()"
    command = [sys.executable, "-c", code, "serve", str(place), "--no-browser", "--port", "0"]
    env = {**os.environ, "CPCLEAN_TOKEN": TOKEN, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as process:
        try:
            assert process.stdout is not None
            found = re.search(r"http://[0-9.:]+", process.stdout.readline())
            assert found is not None, "the server did not start"
            with _client(found[0]) as client:
                while client.get("/api/progress").json()["busy"]:
                    time.sleep(0.1)
            yield found[0]
        finally:
            process.terminate()


def _client(url: str) -> httpx.Client:
    return httpx.Client(base_url=url, headers={"Authorization": f"Bearer {TOKEN}"}, timeout=30)


def _person(url: str, number: int, end: float) -> tuple[list[float], list[float]]:
    rng, who = random.Random(number), f"person {number}"
    answers, nothing = [], []
    with _client(url) as client:
        asked = client.get("/api/question", params={"who": who}).json()
        while asked["question"] is not None and time.monotonic() < end:
            time.sleep(rng.random() * THINKING)
            question = asked["question"]
            chosen = rng.choice(question["candidates"])["number"]
            body = {"who": who, "row": question["row"], "candidate": chosen, "next": True}
            start = time.perf_counter()
            found = client.post("/api/answer", json=body)
            answers.append(time.perf_counter() - start)
            asked = found.raise_for_status().json()["next"]
            start = time.perf_counter()
            client.get("/static/nothing")
            nothing.append(time.perf_counter() - start)
    return answers, nothing


if __name__ == "__main__":
    waits = waits_of(3000, 1000, 20.0)
    print(
        f"{len(waits.answers)} answers by {PEOPLE} people, {waits.holes} rows with holes: next "
        f"question after {median(waits.answers) * 1000:.0f} ms (95 %: "
        f"{waits.share(0.95) * 1000:.0f} ms, most: {max(waits.answers) * 1000:.0f} ms); a request "
        f"that does nothing takes {median(waits.nothing) * 1000:.0f} ms."
    )
