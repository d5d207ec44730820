"""Results saved cell by cell: what is there is not worked on again, alone or side by side."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from systems import needs_posix

from cpclean.errors import DataError
from cpclean.experiments.jobs import Job, run_jobs
from cpclean.experiments.store import Store


def quiet() -> Console:
    return Console(file=io.StringIO(), force_terminal=False)


def read(file: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(file.read_text())))


def test_finished_cells_are_not_worked_on_again(tmp_path: Path) -> None:
    worked, printed = [], io.StringIO()

    def job(name: str) -> Job:
        return Job((name, ""), lambda: worked.append(name) or {"score": 0.1 + 0.2})

    for names in ("ab", "abc"):
        store = Store(tmp_path / "out", "demo", ("name", "seed"), {"k": 3})
        assert run_jobs([job(name) for name in names], store, Console(file=printed))
    assert worked == ["a", "b", "c"]
    lines = read(tmp_path / "out" / "demo.csv")
    assert [(line["name"], float(line["score"])) for line in lines] == [
        (name, 0.1 + 0.2) for name in "abc"
    ]
    assert printed.getvalue() == "1 of 2: a\n2 of 2: b\n1 of 1: c\n"


def test_ctrl_c_loses_nothing_that_is_done(tmp_path: Path) -> None:
    def interrupt() -> Any:
        raise KeyboardInterrupt

    jobs = [Job(("a",), lambda: {"score": 1}), Job(("b",), interrupt)]
    store = Store(tmp_path, "demo", ("name",), {})
    assert not run_jobs(jobs, store, quiet())
    again = Store(tmp_path, "demo", ("name",), {})
    assert again.lines() == [{"name": "a", "score": "1"}]
    assert run_jobs([jobs[0], Job(("b",), lambda: {"score": 2})], again, quiet())
    assert [line["score"] for line in again.lines()] == ["1", "2"]


def test_a_bar_on_a_terminal_leaves_nothing_behind(tmp_path: Path) -> None:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=100)
    store = Store(tmp_path, "demo", ("name",), {})
    assert run_jobs([Job(("cell",), lambda: {"score": 1})], store, console)
    seen = screen.getvalue()
    assert "cell" in seen
    assert "left" in seen
    assert "1 of 1" not in seen


def test_other_settings_do_not_mix(tmp_path: Path) -> None:
    Store(tmp_path, "demo", ("name",), {"rate": 0.2, "k": 3}).add(("a",), {"score": 1})
    Store(tmp_path, "demo", ("name",), {"k": 3, "rate": 0.2})
    with pytest.raises(DataError, match=r"other settings: rate was 0.2, now 0.3. Name another"):
        Store(tmp_path, "demo", ("name",), {"rate": 0.3, "k": 3})
    with pytest.raises(DataError, match=r"more was None, now 1; rate was 0.2, now None"):
        Store(tmp_path, "demo", ("name",), {"k": 3, "more": 1})


def test_folders_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "demo.csv").write_text("name\na\n")
    with pytest.raises(DataError, match=r"demo.csv has no settings beside it \(demo.json\)"):
        Store(tmp_path, "demo", ("name",), {})
    (tmp_path / "demo.json").write_text("{}")
    with pytest.raises(DataError, match="is not a table of results: it lacks name, seed"):
        Store(tmp_path, "demo", ("name", "seed"), {})
    (tmp_path / "demo.json").write_text("{")
    with pytest.raises(DataError, match=r"demo.json cannot be read"):
        Store(tmp_path, "demo", ("name",), {})
    with pytest.raises(DataError, match=r"results cannot be saved in .*demo.json: "):
        Store(tmp_path / "demo.json", "demo", ("name",), {})


# -- side by side ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_two_processes_find_what_one_does(tmp_path: Path) -> None:
    late = "__import__('time').sleep(1.5) or {'score': 0}"
    works = [partial(eval, late), *(partial(dict, score=number) for number in (1, 2, 3))]
    jobs = [Job((str(number),), work) for number, work in enumerate(works)]
    store = Store(tmp_path, "demo", ("name",), {})
    printed = io.StringIO()
    assert run_jobs(jobs, store, Console(file=printed), n_jobs=2)
    assert printed.getvalue().splitlines()[-1] == "4 of 4: 0"  # stored as they come in
    assert [line["name"] for line in read(store.file)] == list("0123")  # in their own order
    assert [line["score"] for line in store.lines()] == list("0123")


def test_an_error_in_another_process_is_raised_here(tmp_path: Path) -> None:
    store = Store(tmp_path, "demo", ("name",), {})
    jobs = [Job((name,), partial(eval, text)) for name, text in (("a", "{}"), ("b", "1 / 0"))]
    with pytest.raises(ZeroDivisionError, match="division by zero"):
        run_jobs(jobs, store, quiet(), n_jobs=2)


SCRIPT = """
import multiprocessing, os, signal, sys, threading, time
from functools import partial
from rich.console import Console
from cpclean.experiments.jobs import Job, run_jobs
from cpclean.experiments.store import Store

def stop():
    while not store.lines():
        time.sleep(0.05)
    os.kill(os.getpid(), signal.SIGINT)

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # shells ignore it in the background
    store = Store(sys.argv[1], "demo", ("name",), {})
    long = [partial(eval, "__import__('time').sleep(600)")] * 2
    jobs = [Job((str(at),), work) for at, work in enumerate([partial(dict, score=1), *long])]
    threading.Thread(target=stop).start()
    finished = run_jobs(jobs, store, Console(stderr=True), n_jobs=2)
    for process in multiprocessing.active_children():
        process.join()
    print(finished, len(store.lines()))
"""


@needs_posix
def test_ctrl_c_ends_all_processes(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, script, tmp_path / "out"], capture_output=True, text=True, timeout=300
    )
    assert done.stdout == "False 1\n", done.stderr
