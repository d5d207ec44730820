"""Where the answers about a project are put that is set up in the browser."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cpclean.cli.mistakes import Mistake

if TYPE_CHECKING:
    from cpclean.projects.project import Project
    from cpclean.storage.contract import Storage

SUFFIX = ".cpclean.db"


class Beside:
    """New files in this folder, each named after the table that was uploaded."""

    def where(self, file: str) -> str:
        """What the page says of it."""
        return (
            f"Answers will be saved in {self._path(file)}, in the folder in which the server was "
            "started."
        )

    def __call__(self, project: Project) -> Storage:
        from cpclean.storage.opening import open_storage

        about = project.settings.about
        name = about.get("file") if about else None
        kept = open_storage(self._path(str(name or "table")))
        _tell_place(kept)
        return kept

    def _path(self, file: str) -> Path:
        stem = Path(file).name.lstrip(".") or "table"
        stem = "".join(sign if sign.isalnum() or sign in "-_. " else "_" for sign in stem)[:100]
        for number in range(1, 1000):
            path = Path(f"{stem}{f'-{number}' if number > 1 else ''}{SUFFIX}")
            if not path.exists():
                return path
        raise Mistake(f"there are too many projects named {stem} in this folder.")


@dataclass(frozen=True)
class Within:
    """The place that --storage names."""

    storage: Storage

    def where(self, file: str) -> str:
        """What the page says of it."""
        if self.storage.name == "memory":
            return "Answers will be in memory only, until the server stops: export them first."
        return f"Answers will be saved in {self.storage.name}."

    def __call__(self, project: Project) -> Storage:
        _tell_place(self.storage)
        return self.storage


def _tell_place(kept: Storage) -> None:
    if kept.name != "memory":
        click.echo(f"Answers are saved in {kept.name} as soon as they are given.")
        sys.stdout.flush()
