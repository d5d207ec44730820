"""Where uploaded files are until a project is made of them: gone when the server is."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from cpclean.storage.locking import lock

_PREFIX, _LOCK = "cpclean-uploads-", ".in-use"


class UploadFolder:
    """A folder for this user alone, made when it is first needed.

    A server that was killed leaves its folder behind. The next one that needs a folder removes it:
    whoever is alive holds a lock on a file in its own.
    """

    def __init__(self) -> None:
        self._path: Path | None = None
        self._lock: int | None = None

    @property
    def path(self) -> Path:
        """The folder."""
        if self._path is None or not self._path.is_dir():
            remove_left()
            self._path, self._lock = _made()
        return self._path

    def remove(self) -> None:
        """Delete it with all files."""
        if self._path is not None:
            shutil.rmtree(self._path, ignore_errors=True)
        if self._lock is not None:
            with suppress(OSError):
                os.close(self._lock)
        self._path = self._lock = None


def _made() -> tuple[Path, int]:
    """A new folder, and the file in it that is locked."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        file = os.open(folder / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
        if lock(file) and (folder / _LOCK).exists():
            return folder, file
        os.close(file)  # another server came in between, and took it for one that was left


def remove_left() -> None:
    """Delete the folders of servers that are gone."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        try:
            file = os.open(folder / _LOCK, os.O_RDWR)
        except OSError:  # of somebody else, or just being made
            continue
        free = lock(file)
        if free:
            with suppress(OSError):
                (folder / _LOCK).unlink()  # whoever was about to lock it sees that it is gone
        os.close(file)
        if free:
            shutil.rmtree(folder, ignore_errors=True)
