"""`cpclean serve`: how long people wait for the next question when many of them answer at once.

A real server process over an SQLite file, clients on loopback that think for a moment between
answers, on a table of the paper's size. What is timed is one request: an answer goes in, is kept on
the disk, and the next question comes back. Afterwards the log is compared with what was confirmed.
Two more figures: the memory of a server while 2,000 answers come in, and how long it takes to open
a project with 20,000 events.
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
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import httpx
import numpy as np
import pandas as pd

from benchmarks.report import Line, milliseconds
from benchmarks.run import Run
from cpclean.data.table import IncompleteTable
from cpclean.data.task import Task
from cpclean.projects.project import Project
from cpclean.storage.contract import Storage
from cpclean.storage.events import NewEvent as NewAnswer
from cpclean.storage.opening import open_storage
from cpclean.web.desk.desk import Desk

TOKEN = "a-token-for-measurements"
PEOPLE, CROWD = 10, 50
THINKING = 0.6  # seconds at most
LIMIT = 0.1
OPENING_LIMIT = 3.0
GROWTH_LIMIT = 0.1  # of its memory, from a quarter of the answers to all of them


NewEvent = tuple[str, int, str]  # who, row, the number that the client gave its request


@dataclass
class Person:
    """What one client met: seconds of its requests, and what the server confirmed by number."""

    answers: list[float] = field(default_factory=list)
    nothing: list[float] = field(default_factory=list)
    confirmed: list[tuple[int, NewEvent]] = field(default_factory=list)


@dataclass(frozen=True)
class Served:
    """Seconds from an answer to the next question, and of a request that does nothing.

    `confirmed` is what the clients were told, `kept` what the log has when the server has ended,
    `cpu` the seconds that the server worked meanwhile, its work ahead included.
    """

    answers: list[float]
    nothing: list[float]
    confirmed: list[tuple[int, NewEvent]]
    kept: list[tuple[int, NewEvent]]
    holes: int
    cpu: float

    def share(self, part: float) -> float:
        return sorted(self.answers)[min(len(self.answers) - 1, int(part * len(self.answers)))]


def measure(run: Run) -> None:
    rows, points = run.pick((6000, 1000), (600, 200))
    for people, seconds in ((PEOPLE, 30.0), (CROWD, 60.0)):
        run.say(f"{rows:,} rows: serving {people} people")
        found = serve(rows, points, run.pick(seconds, 3.0), people)
        _report(run, people, f"{rows:,} rows, {found.holes:,} with holes; {points:,} points", found)
        _check(run, people, found)
    _measure_memory(run, rows, points, run.pick(2000, 80))
    _measure_opening(run, rows, points, run.pick(20_000, 400))


def _measure_memory(run: Run, rows: int, points: int, answers: int) -> None:
    """Ten people answer any rows as fast as they can; the memory after a quarter and at the end."""
    run.say(f"{rows:,} rows: memory over {answers:,} answers")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "served.db"
        project = _project(rows, points)
        with open_storage(place) as storage:
            storage.create(project)
        dirty = [int(row) for row in project.dirty_rows]
        with _served(place) as (url, process):
            found = []
            for start, end in ((0, answers // 4), (answers // 4, answers)):
                numbers = range(start, end)
                with ThreadPoolExecutor(PEOPLE) as pool:
                    parts = [(url, dirty, numbers[one::PEOPLE]) for one in range(PEOPLE)]
                    list(pool.map(_answer_all, parts))
                with _client(url) as client:
                    _settle(client)
                found.append(_resident_bytes(process))
        with open_storage(place) as storage:
            kept = storage.last()
    first, last = found
    grown = last / first - 1 if first else 0.0
    run.report.add(
        Line(
            f"memory after {answers // 4:,} and {answers:,} answers",
            f"{rows:,} rows, {len(dirty):,} with holes; {points:,} points",
            ours=f"{last / 2**20:,.0f} MB",
            yardstick=f"{first / 2**20:,.0f} MB after {answers // 4:,}",
            target=f"at most {GROWTH_LIMIT:.0%} more",
            met=grown <= GROWTH_LIMIT if first else None,
        )
    )
    run.report.check(
        f"serving: all {answers:,} answers are in the log", kept == answers, f"{kept} kept"
    )


def _answer_all(part: tuple[str, list[int], range]) -> None:
    url, rows, numbers = part
    with _client(url) as client:
        for number in numbers:
            body = {"who": f"person {number % PEOPLE}", "row": rows[number % len(rows)],
                    "candidate": 0, "request_id": f"m-{number}", "next": True}  # fmt: skip
            client.post("/api/answer", json=body).raise_for_status()


def _resident_bytes(process: int) -> int:
    """The memory that a process has now; not known, and so 0, where there is no /proc."""
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def _measure_opening(run: Run, rows: int, points: int, events: int) -> None:
    """From a storage with events to a desk that has taken all of them in."""
    run.say(f"{rows:,} rows: opening a project with {events:,} events")
    project = _project(rows, points)
    rng = random.Random(0)
    quick = Path("/dev/shm")  # where nothing waits for a disk: writing is not measured here
    with tempfile.TemporaryDirectory(dir=quick if quick.is_dir() else None) as folder:
        place = Path(folder) / "opened.db"
        with open_storage(place) as storage:
            storage.create(project)
            _opened_seconds(storage)  # kernels are compiled by now
            for number in range(events):
                row = int(rng.choice(project.dirty_rows))
                said = NewAnswer("answer", f"person {number % PEOPLE}", row, rng.randrange(2))
                storage.append(said, f"o-{number}")
        with open_storage(place) as storage:
            seconds, wall = _opened_seconds(storage)
    run.report.add(
        Line(
            f"opening a project with {events:,} events",
            f"{rows:,} rows, {len(project.dirty_rows):,} with holes; {points:,} points",
            ours=f"{seconds:.1f} s ({wall:.1f} s)",
            yardstick=f"{1000 * seconds / events:.2f} ms per event",
            target=f"< {OPENING_LIMIT:g} s",
            met=seconds < OPENING_LIMIT,
        )
    )


def _opened_seconds(storage: Storage) -> tuple[float, float]:
    """CPU time and time until people can be asked; the engine is one thread."""
    start, cpu = time.perf_counter(), time.process_time()
    desk = Desk(storage)
    desk.start()
    desk.ready(3600)
    found = time.process_time() - cpu, time.perf_counter() - start
    desk.stop()
    return found


def _report(run: Run, people: int, on: str, found: Served) -> None:
    half, most = median(found.answers), found.share(0.95)
    aimed_at = people == PEOPLE
    run.report.add(
        Line(
            f"answer to next question, {people} people",
            on,
            ours=f"{milliseconds(half)} ms (95 %: {milliseconds(most)} ms, "
            f"server's CPU: {milliseconds(found.cpu / len(found.answers))} ms)",
            yardstick=f"{milliseconds(median(found.nothing))} ms, empty request",
            target=f"< {milliseconds(LIMIT)} ms" if aimed_at else "",
            met=most < LIMIT if aimed_at else None,
        )
    )


def _check(run: Run, people: int, found: Served) -> None:
    detail = f"{len(found.confirmed)} confirmed, {len(found.kept)} kept"
    run.report.check(
        f"serving {people}: every confirmed answer is in the log once, and nothing else is",
        sorted(found.confirmed) == found.kept and len(found.kept) >= PEOPLE,
        detail,
    )
    rows = [row for _, (_, row, _) in found.kept]
    run.report.check(
        f"serving {people}: no row was asked of two people", len(set(rows)) == len(rows), detail
    )


def serve(rows: int, points: int, seconds: float, people: int) -> Served:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "served.db"
        project = _project(rows, points)
        with open_storage(place) as storage:
            storage.create(project)
        with _served(place) as (url, process):
            before = _cpu_seconds(process)
            end = time.monotonic() + seconds
            with ThreadPoolExecutor(people) as pool:
                work = [pool.submit(_person, url, number, end) for number in range(people)]
                met = [one.result() for one in work]
            cpu = _cpu_seconds(process) - before
        with open_storage(place) as storage:
            kept = [(one.number, (one.who, one.row, one.request_id)) for one in storage.events()]
    return Served(
        [wait for one in met for wait in one.answers],
        [wait for one in met for wait in one.nothing],
        [said for one in met for said in one.confirmed],
        kept,
        len(project.dirty_rows),
        cpu,
    )


def _project(rows: int, points: int) -> Project:
    """Numbers and towns, half of the rows with holes; labels that no column tells for sure."""
    rng = np.random.default_rng(0)
    size = rows + points
    values = rng.normal(size=(size, 6))
    noise = rng.normal(scale=0.5, size=size)
    labels = np.where(values[:, 0] + 0.5 * values[:, 1] + noise > 0, "yes", "no")
    frame = pd.DataFrame(values.round(2), columns=list("abcdef"))
    frame["town"] = rng.choice(list("UVWXYZ"), size)
    train = frame.iloc[:rows].mask(rng.random((rows, 7)) < 0.1)
    table = IncompleteTable(train.assign(y=labels[:rows]), label="y")
    held = frame.iloc[rows:].reset_index(drop=True)
    return Project.make(Task.of(table, held, labels[rows:]))


@contextmanager
def _served(place: Path) -> Iterator[tuple[str, int]]:
    code = "from cpclean.cli import main; main()"
    command = [sys.executable, "-c", code, "serve", str(place), "--no-browser", "--port", "0"]
    env = {**os.environ, "CPCLEAN_TOKEN": TOKEN, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as process:
        try:
            assert process.stdout is not None
            found = re.search(r"http://[0-9.:]+", process.stdout.readline())
            assert found is not None, "the server did not start"
            with _client(found[0]) as client:
                _settle(client)
            yield found[0], process.pid
        finally:
            process.terminate()


def _settle(client: httpx.Client) -> None:
    """Wait until the engine has taken in all answers."""
    while client.get("/api/progress").json()["busy"]:
        time.sleep(0.1)


def _cpu_seconds(process: int) -> float:
    """What a process has used so far; not known, and so 0, where there is no /proc."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _client(url: str) -> httpx.Client:
    return httpx.Client(base_url=url, headers={"Authorization": f"Bearer {TOKEN}"}, timeout=30)


def _person(url: str, number: int, end: float) -> Person:
    rng, who, met = random.Random(number), f"person {number}", Person()
    with _client(url) as client:
        asked = client.get("/api/question", params={"who": who}).json()
        while not asked["done"] and time.monotonic() < end:
            time.sleep(rng.random() * THINKING)
            question = asked["question"]
            if question is None:  # others hold what is left
                asked = client.get("/api/question", params={"who": who}).json()
                continue
            row, chosen = question["row"], rng.choice(question["candidates"])["number"]
            own = f"{number}-{len(met.answers)}"
            body = {"who": who, "row": row, "candidate": chosen, "next": True, "request_id": own}
            start = time.perf_counter()
            found = client.post("/api/answer", json=body)
            met.answers.append(time.perf_counter() - start)
            taken = found.raise_for_status().json()
            met.confirmed.append((taken["event_number"], (who, row, own)))
            asked = taken["next"]
            start = time.perf_counter()
            client.get("/static/nothing")
            met.nothing.append(time.perf_counter() - start)
    return met
