"""Results of long runs, saved cell by cell: an interrupted run goes on where it stopped."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cpclean.errors import DataError

Key = tuple[str, ...]
Figures = Mapping[str, Any]  # what was measured for one cell


def with_versions(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings together with the versions that results may depend on."""
    from importlib.metadata import version

    names = ("cpclean", "numpy", "scipy", "scikit-learn")
    return {**settings, "versions": {name: version(name) for name in names}}


class Store:
    """A folder with `<name>.csv`, one line per finished cell, and `<name>.json`, the settings.

    Parameters
    ----------
    folder : path
        Created if it does not exist.
    name : str
        Name of the table of results.
    keys : sequence of str
        The columns that identify the cell of a line.
    settings : mapping
        What results depend on besides the key. A folder holds the results of one choice only.
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
        """Put lines in the order of these keys, in whichever order they are added."""
        self._places = {key: place for place, key in enumerate(keys)}

    def add(self, key: Key, result: Figures) -> None:
        """Save a finished cell; it is on disk when this returns."""
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
                    "results may belong to another run. Name another folder."
                )
            else:
                text = json.dumps(self.settings, indent=2) + "\n"
                self._settings_file.write_text(text, encoding="utf-8")
        except OSError as problem:
            raise DataError(f"results cannot be saved in {self.folder}: {problem}.") from problem

    def _check_settings(self) -> None:
        try:
            found = json.loads(self._settings_file.read_text(encoding="utf-8"))
            differing = [name for name in sorted({*found, *self.settings})
                         if found.get(name) != self.settings.get(name)]  # fmt: skip
        except (ValueError, TypeError, AttributeError) as problem:
            raise DataError(f"{self._settings_file} cannot be read: {problem}.") from problem
        if differing:
            changes = "; ".join(
                f"{name} was {found.get(name)!r}, now {self.settings.get(name)!r}"
                for name in differing
            )
            raise DataError(
                f"{self.folder} holds results of a run with other settings: {changes}. "
                "Name another folder, or delete this one to start again."
            )

    def _read(self) -> None:
        if not self.file.exists():
            return
        with self.file.open(newline="", encoding="utf-8") as stream:
            for line in csv.DictReader(stream):
                if any(line.get(name) is None for name in self.keys):
                    raise DataError(
                        f"{self.file} is not a table of results: it lacks {', '.join(self.keys)}. "
                        "Name another folder."
                    )
                self._lines[tuple(line[name] for name in self.keys)] = dict(line)


def _text(value: Any) -> str:
    return repr(float(value)) if isinstance(value, float) else str(value)
