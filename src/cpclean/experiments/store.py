"""Results of long runs, kept cell by cell, so that an interrupted run goes on where it stopped."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Mapping, Sequence
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
    """One cell of a table of results: its key, and the work that fills it."""

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
        self._open()

    def __contains__(self, key: Key) -> bool:
        return key in self._lines

    def lines(self) -> list[dict[str, str]]:
        """Every finished cell, as text."""
        return list(self._lines.values())

    def add(self, key: Key, result: Result) -> None:
        """Keep a finished cell; it is on disk when this returns."""
        values = {name: _text(value) for name, value in result.items()}
        self._lines[key] = {**dict(zip(self.keys, key, strict=True)), **values}
        names = list(dict.fromkeys(name for line in self._lines.values() for name in line))
        # A new file in place of the old one: an interruption never leaves half a line.
        draft = self.file.with_suffix(".csv.part")
        with draft.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, names, restval="")
            writer.writeheader()
            writer.writerows(self._lines.values())
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


def run_tasks(tasks: Sequence[Task], store: Store, console: Console) -> bool:
    """Work on what is not in the store yet; False if Ctrl-C ended it.

    On a terminal a bar shows the time left; elsewhere a line tells of every finished cell.
    """
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    left = [task for task in tasks if task.key not in store]
    bar = Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
        TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(),
        console=console, transient=True, disable=not console.is_terminal,
    )  # fmt: skip
    try:
        with bar:
            # Cells that were there already would make the estimate of the time left too hopeful.
            watched = bar.add_task("", total=len(left))
            for number, task in enumerate(left):
                name = ", ".join(part for part in task.key if part)
                bar.update(watched, description=name)
                store.add(task.key, task.work())
                bar.advance(watched)
                if not console.is_terminal:
                    console.print(f"{number + 1} of {len(left)}: {name}", soft_wrap=True)
    except KeyboardInterrupt:
        return False
    return True


def _text(value: Any) -> str:
    return repr(float(value)) if isinstance(value, float) else str(value)
