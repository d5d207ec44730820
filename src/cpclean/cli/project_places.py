"""Where projects are: folders of them, and where one that is set up in the browser is put."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cpclean.cli.mistakes import Mistake, note

if TYPE_CHECKING:
    from cpclean.projects.project import Project
    from cpclean.storage.contract import Storage

SUFFIX = ".cpclean.db"


@dataclass(frozen=True)
class Beside:
    """New files in a folder, each named after the table that was uploaded."""

    folder: Path | None = None  # None: the one in which the server was started

    def where(self, file: str) -> str:
        """What the page says of it."""
        if self.folder is not None:
            return f"Answers will be saved in {self._path(file)}."
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
            path = (self.folder or Path()) / f"{stem}{f'-{number}' if number > 1 else ''}{SUFFIX}"
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


@dataclass(frozen=True)
class Several:
    """What --projects names.

    Attributes
    ----------
    storages : dict from name to Storage
        Each with a project in it.
    place : Beside or None
        Where further projects go; None without a folder.
    """

    storages: dict[str, Storage]
    place: Beside | None


def open_projects(places: Sequence[str]) -> Several:
    """Open all projects of folders, files and databases; some may be called NAME=PLACE."""
    from cpclean.storage.opening import open_storage

    found: dict[str, Storage] = {}
    folders: list[Path] = []
    for given in places:
        name, place = _named(given)
        path = Path(place).expanduser()
        if "://" in place:
            found[_free(name or _last(place), found)] = with_project(open_storage(place, False))
        elif path.is_dir():
            folders.append(path)
            for one in sorted(path.glob(f"*{SUFFIX}")):
                kept = open_storage(one, create=False)
                if kept.project() is None:
                    note(f"{kept.name} has no project: it is left out.")
                    kept.close()
                else:
                    found[_free(one.name, found)] = with_project(kept)
        elif path.is_file():
            found[_free(name or path.name, found)] = with_project(open_storage(path, False))
        else:
            raise Mistake(
                f"--projects needs a folder, a project (.db) or the address of a database; there "
                f"is nothing at {place!r}. Make the folder first."
            )
    return Several(found, Beside(folders[0]) if folders else None)


def _named(given: str) -> tuple[str, str]:
    """The name and the place of NAME=PLACE; without a name, "" and the place."""
    found = re.fullmatch(r"([A-Za-z0-9._~-]+)=(.+)", given)
    return (found[1], found[2]) if found else ("", given)


def _last(address: str) -> str:
    """A name for the project of a database: that of its schema, or its own."""
    rest, _, query = address.partition("?")
    schema = re.search(r"search_path(?:%3D|=)([\w-]+)", query, re.IGNORECASE)
    return schema[1] if schema else rest.rstrip("/").rpartition("/")[2]


def _free(name: str, taken: dict[str, Storage]) -> str:
    from cpclean.web.server.several import free_name

    return free_name(name, taken)


def with_project(storage: Storage) -> Storage:
    """A storage, unless there is no project in it, or its files have changed since."""
    project = storage.project()
    if project is None:
        raise Mistake(f"there is no project in {storage.name} yet. Start one with a table.")
    if project.files is not None:  # they may have changed since
        project.files.check()
    return storage
