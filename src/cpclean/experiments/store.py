"""Results of long runs, kept cell by cell, so that an interrupted run goes on where it stopped."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cpclean.errors import DataError

if TYPE_CHECKING:
    from rich.console import Console

Key = tuple[str, ...]
Result = Mapping[str, Any]


@dataclass(frozen=True)
class Task:
    """One cell of a table of results: its key, and the work that fills it.

    With several jobs the work goes to another process: it has to be a function of a module, or
    a partial of one.
    """

    key: Key
    work: Callable[[], Result]


def with_versions(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings together with the versions that results may depend on."""
    from importlib.metadata import version

    names = ("cpclean", "numpy", "scipy", "scikit-learn")
    return {**settings, "versions": {name: version(name) for name in names}}


class Store:
    """A folder with `<name>.csv`, one line a finished cell, and `<name>.json`, the settings.

    Parameters
    ----------
    folder : path
        Made if it is not there.
    name : str
        Of the table of results.
    keys : sequence of str
        The columns that say which cell a line is.
    settings : mapping
        What results depend on besides the key. A folder holds results of one choice only.
    """

    def __init__(
        self, folder: str | Path, name: str, keys: Sequence[str], settings: Mapping[str, Any]
    ) -> None:
        self.folder, self.keys = Path(folder), tuple(keys)
        self.file = self.folder / f"{name}.csv"
        self._settings_file = self.folder / f"{name}.json"
        self.settings = json.loads(json.dumps(dict(settings)))  # as they are read back
        self._lines: dict[Key, dict[str, str]] = {}
        self._places: dict[Key, int] = {}
        self._open()

    def __contains__(self, key: Key) -> bool:
        return key in self._lines

    def lines(self) -> list[dict[str, str]]:
        """Every finished cell, as text."""
        last = len(self._places)
        keys = sorted(self._lines, key=lambda key: self._places.get(key, last))
        return [self._lines[key] for key in keys]

    def arrange(self, keys: Sequence[Key]) -> None:
        """Keep lines in the order of these keys, whatever the order in which they are added."""
        self._places = {key: place for place, key in enumerate(keys)}

    def add(self, key: Key, result: Result) -> None:
        """Keep a finished cell; it is on disk when this returns."""
        values = {name: _text(value) for name, value in result.items()}
        self._lines[key] = {**dict(zip(self.keys, key, strict=True)), **values}
        lines = self.lines()
        names = list(dict.fromkeys(name for line in lines for name in line))
        # A new file in place of the old one: an interruption never leaves half a line.
        draft = self.file.with_suffix(".csv.part")
        with draft.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, names, restval="")
            writer.writeheader()
            writer.writerows(lines)
        os.replace(draft, self.file)

    def _open(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            if self._settings_file.exists():
                self._check_settings()
                self._read()
            elif self.file.exists():
                raise DataError(
                    f"{self.file} has no settings beside it ({self._settings_file.name}), so its "
                    "results cannot be told from those of another run. Name another folder."
                )
            else:
                text = json.dumps(self.settings, indent=2) + "\n"
                self._settings_file.write_text(text, encoding="utf-8")
        except OSError as problem:
            raise DataError(f"results cannot be kept in {self.folder}: {problem}.") from problem

    def _check_settings(self) -> None:
        try:
            found = json.loads(self._settings_file.read_text(encoding="utf-8"))
            differing = [name for name in sorted({*found, *self.settings})
                         if found.get(name) != self.settings.get(name)]  # fmt: skip
        except (ValueError, TypeError, AttributeError) as problem:
            raise DataError(f"{self._settings_file} cannot be read: {problem}.") from problem
        if differing:
            told = "; ".join(
                f"{name} was {found.get(name)!r}, now {self.settings.get(name)!r}"
                for name in differing
            )
            raise DataError(
                f"{self.folder} holds results of a run with other settings: {told}. "
                "Name another folder, or delete this one to start anew."
            )

    def _read(self) -> None:
        if not self.file.exists():
            return
        with self.file.open(newline="", encoding="utf-8") as stream:
            for line in csv.DictReader(stream):
                if any(line.get(name) is None for name in self.keys):
                    raise DataError(
                        f"{self.file} is no table of results: it lacks {', '.join(self.keys)}. "
                        "Name another folder."
                    )
                self._lines[tuple(line[name] for name in self.keys)] = dict(line)


def run_tasks(tasks: Sequence[Task], store: Store, console: Console, jobs: int = 1) -> bool:
    """Work on what is not in the store yet; False if Ctrl-C ended it.

    On a terminal a bar shows the time left; elsewhere a line tells of every finished cell.

    Parameters
    ----------
    tasks, store
        What to do, and where results are kept.
    console : rich.console.Console
    jobs : int
        How many processes work at once; 1 works in this one.
    """
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    store.arrange([task.key for task in tasks])
    left = [task for task in tasks if task.key not in store]
    bar = Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
        TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(),
        console=console, transient=True, disable=not console.is_terminal,
    )  # fmt: skip
    if jobs == 1 or len(left) < 2:
        finished = _one_by_one(left)
    else:
        finished = _side_by_side(left, min(jobs, len(left)))
    try:
        with bar, closing(finished):
            # Cells that were there already would make the estimate of the time left too hopeful.
            watched = bar.add_task(_named(left[:jobs]), total=len(left))
            open_tasks = list(left)
            for number, (task, result) in enumerate(finished):
                store.add(task.key, result)
                open_tasks.remove(task)
                bar.update(watched, advance=1, description=_named(open_tasks[:jobs]))
                if not console.is_terminal:
                    told = f"{number + 1} of {len(left)}: {_named([task])}"
                    console.print(told, soft_wrap=True)
    except KeyboardInterrupt:
        return False
    return True


def _named(tasks: Sequence[Task]) -> str:
    return "; ".join(", ".join(part for part in task.key if part) for task in tasks)


def _one_by_one(tasks: Sequence[Task]) -> Generator[tuple[Task, Result], None, None]:
    for task in tasks:
        yield task, task.work()


def _side_by_side(tasks: Sequence[Task], jobs: int) -> Generator[tuple[Task, Result], None, None]:
    """As results come in. New processes are started, not forked: threads do not survive that."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor, as_completed

    pool = ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), _begin)
    try:
        asked = {pool.submit(_work, task.work): task for task in tasks}
        for done in as_completed(asked):
            yield asked[done], done.result()
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in multiprocessing.active_children():
            process.terminate()
        raise
    pool.shutdown()


def _begin() -> None:
    """At the start of a process: Ctrl-C is for the one that started it; one thread each."""
    import signal

    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threadpool_limits(1)


def _work(work: Callable[[], Result]) -> Result:
    return work()


def _text(value: Any) -> str:
    return repr(float(value)) if isinstance(value, float) else str(value)
