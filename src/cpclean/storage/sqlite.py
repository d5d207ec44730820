"""Storage in one file, with SQLite: readers never wait, and there is one writer at a time."""

from __future__ import annotations

import os
import random
import sqlite3
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError

from cpclean.errors import FullError, GoneError, LockedError, StorageError
from cpclean.storage.sql import SqlStorage
from cpclean.storage.turns import Turns

# How long a writer waits for another one. People notice, but nothing is lost.
BUSY_SECONDS = 10.0
_CLOCK = "SELECT CAST((julianday('now') - 2440587.5) * 86400000.0 + 0.5 AS INTEGER)"


class SqliteStorage(SqlStorage):
    """A project in a file.

    Parameters
    ----------
    path : path
        Created if it does not exist, with two more files beside it while it is open.
    create : bool
        Whether it may be created.
    busy_seconds : float
        How long to wait for another writer.
    """

    one_writer = True

    def __init__(
        self,
        path: str | os.PathLike[str],
        create: bool = True,
        busy_seconds: float = BUSY_SECONDS,
    ) -> None:
        self._path = Path(path).expanduser().absolute()
        _check_path(self._path, create)
        self._busy_seconds = busy_seconds
        self._turns = Turns()
        self._is_ahead = False
        self._file: os.stat_result | None = None
        engine = create_engine(
            URL.create("sqlite", database=str(self._path)),
            connect_args={"timeout": busy_seconds},
            max_overflow=45,  # with the five that stay open: more than a server has threads
        )
        event.listen(engine, "connect", _on_connect)
        event.listen(engine, "begin", _on_begin)
        self._for_leases = engine.execution_options(use="lend")
        self._for_reading = engine.execution_options(use="read")
        super().__init__(f"{str(path)!r}", engine, create)
        try:
            self._let_readers_go_on()
            self._file = os.stat(self._path)
        except BaseException:
            engine.dispose()
            raise

    def _let_readers_go_on(self) -> None:
        """Switch to a write-ahead log; not earlier, to leave files of other programs unchanged.

        SQLite does not wait here if another connection is switching too: it fails at once.
        """
        last_try = time.monotonic() + self._busy_seconds
        while True:
            try:
                with self.engine.connect() as connection:
                    raw: Any = connection.connection.dbapi_connection
                    (mode,) = raw.execute("PRAGMA journal_mode = WAL").fetchone()
                    self._is_ahead = mode == "wal"
                return
            except DBAPIError as problem:
                raise self._translated(problem) from problem
            except sqlite3.Error as problem:
                meaning = self._meaning(problem)
                if not isinstance(meaning, LockedError) or time.monotonic() > last_try:
                    raise meaning from problem
                time.sleep(0.01 + 0.02 * random.random())

    def _writing(self) -> AbstractContextManager[Connection]:
        return self._in_turn(self.engine)

    def _lending(self) -> AbstractContextManager[Connection]:
        # Without a write-ahead log, which some disks cannot have, leases are saved like events.
        return self._in_turn(self._for_leases if self._is_ahead else self.engine)

    def _reading(self) -> AbstractContextManager[Connection]:
        return self._for_reading.begin()

    def _now(self, connection: Connection) -> int:
        return int(connection.exec_driver_sql(_CLOCK).scalar_one())

    @contextmanager
    def _in_turn(self, engine: Engine) -> Iterator[Connection]:
        """Threads take turns here: SQLite would make them sleep and try again now and then."""
        if not self._turns.take(self._busy_seconds):
            raise self._locked()
        try:
            with engine.begin() as connection:
                yield connection
        finally:
            self._turns.give()

    def _check_place(self) -> None:
        """SQLite would go on writing to a file that was removed, and nobody would find it."""
        if self._file is None:
            return
        try:
            same = os.path.samestat(self._file, os.stat(self._path))
        except OSError:
            same = False
        if not same:
            raise GoneError(
                f"the file {self.name} was removed or replaced while it was open. Put it back and "
                "open it again."
            )

    def _translated(self, problem: DBAPIError) -> StorageError:
        return self._meaning(problem.orig)

    def _meaning(self, error: BaseException | None) -> StorageError:
        code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return self._locked()
        if code == sqlite3.SQLITE_FULL:
            return FullError(
                f"not saved: the disk of {self.name} is full. Free some space and try again; "
                "everything saved before is safe."
            )
        if code == sqlite3.SQLITE_READONLY:
            return StorageError(
                f"{self.name} cannot be written: it is read-only. Change its permissions and those "
                "of its folder, or choose another location."
            )
        if code == sqlite3.SQLITE_NOTADB:
            return StorageError(
                f"{self.name} is not a database. Choose another file; this one was not changed."
            )
        if code == sqlite3.SQLITE_CORRUPT:
            return StorageError(f"{self.name} is damaged: {error}. Restore it from a backup.")
        if code == sqlite3.SQLITE_CANTOPEN:
            return GoneError(
                f"{self.name} cannot be opened: {error}. Check its permissions and those of its "
                "folder, or choose another location."
            )
        return StorageError(
            f"not saved: {self.name} cannot be used: {error}. Everything saved before is safe."
        )

    def _locked(self) -> LockedError:
        return LockedError(
            f"not saved: others have been writing to {self.name} for more than "
            f"{self._busy_seconds:g} seconds. Try again."
        )


def _check_path(path: Path, create: bool) -> None:
    if path.is_dir():
        raise StorageError(f"{str(path)!r} is a directory; name a file in it for the project.")
    if not path.parent.is_dir():
        raise StorageError(f"there is no folder {str(path.parent)!r} to save the project in.")
    if not path.exists() and not create:
        raise StorageError(f"there is no project at {str(path)!r}. Is that the right location?")
    with suppress(OSError):  # what is wrong is said when it is opened
        # For this user alone: answers and the table are in it. SQLite's own files beside it follow.
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def _on_connect(connection: Any, _: Any) -> None:
    connection.isolation_level = None  # we begin transactions ourselves; Python would guess
    connection.execute("PRAGMA foreign_keys = ON")


def _on_begin(connection: Connection) -> None:
    use = connection.get_execution_options().get("use", "save")
    wait = "NORMAL" if use == "lend" else "FULL"
    if use != "read" and connection.info.get("synchronous") != wait:
        # With a write-ahead log, FULL waits for the disk at every commit, NORMAL only now and then.
        connection.exec_driver_sql(f"PRAGMA synchronous = {wait}")
        connection.info["synchronous"] = wait
    # A writer locks at once: one that began by reading could find the lock taken.
    connection.exec_driver_sql("BEGIN" if use == "read" else "BEGIN IMMEDIATE")
