"""Storage in PostgreSQL, with psycopg 3: for several server processes and many people."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from sqlalchemy import Connection, create_engine, event, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError

from cpclean.errors import FullError, GoneError, LockedError, StorageError
from cpclean.storage.sql import SqlStorage

LOCK_SECONDS = 10
# A number that nothing else in the database is likely to use for an advisory lock.
_ALONE = 7_232_532_601
# Codes that mean: the server has gone away, or is not up yet.
_GONE = ("08", "57P01", "57P02", "57P03")

_CLOCK = text("SELECT CAST(floor(extract(epoch FROM clock_timestamp()) * 1000) AS BIGINT)")
_NO_WAIT = text("SET LOCAL synchronous_commit TO OFF")


class PostgresStorage(SqlStorage):
    """A project in a PostgreSQL database, or in the schema that the URL chooses there.

    Parameters
    ----------
    url : str
        Such as postgresql://user:password@host:5432/database
    create : bool
        Whether tables may be created.
    """

    begin_alone = f"SELECT pg_advisory_xact_lock({_ALONE})"

    def __init__(self, url: str, create: bool = True) -> None:
        if find_spec("psycopg") is None:
            raise StorageError(
                "PostgreSQL needs psycopg, which is not installed: pip install 'cpclean[postgres]'."
            )
        try:
            given = make_url(url).set(drivername="postgresql+psycopg")
        except (ArgumentError, ValueError):
            # The URL is not shown and not chained: a password may be in it.
            raise StorageError(
                "the URL of the database is not valid; write it like "
                "postgresql://user:password@host:5432/database, with special characters escaped "
                "(@ as %40)."
            ) from None
        where = given.host or str(given.query.get("host", "")) or "a local socket"
        port = f":{given.port}" if given.port else ""
        try:
            engine = create_engine(
                given,
                # Each statement sees what others have committed meanwhile, whatever the server's
                # default is: what is checked again under a lock has to be fresh.
                isolation_level="READ COMMITTED",
                pool_pre_ping=True,
                pool_timeout=LOCK_SECONDS,
                connect_args=_connect_args(given),
            )
        except ImportError as problem:
            raise StorageError(
                f"psycopg cannot be used: {problem}. Reinstall it: pip install 'cpclean[postgres]'."
            ) from problem
        event.listen(engine, "connect", _on_connect)
        super().__init__(f"database {given.database or ''!r} at {where}{port}", engine, create)

    @contextmanager
    def _lending(self) -> Iterator[Connection]:
        with self.engine.begin() as connection:
            connection.execute(_NO_WAIT)
            yield connection

    def _now(self, connection: Connection) -> int:
        return int(connection.execute(_CLOCK).scalar_one())

    def _is_lost(self, problem: DBAPIError) -> bool:
        return problem.connection_invalidated or _code(problem).startswith(_GONE)

    def _translated(self, problem: DBAPIError) -> StorageError:
        code, reason = _code(problem), _first_line(problem)
        if code in ("55P03", "57014", "40P01", "40001"):
            return LockedError(
                f"not saved: others have locked {self.name} for more than {LOCK_SECONDS} seconds. "
                "Try again."
            )
        if code in ("53100", "53200"):
            return FullError(
                f"not saved: {self.name} has no space left: {reason}. Free some space and try "
                "again; everything saved before is safe."
            )
        if code in ("25006", "42501"):
            return StorageError(
                f"{self.name} cannot be written: {reason}. Ask for permission, or choose another "
                "location."
            )
        if code.startswith(_GONE) or problem.connection_invalidated or not code:
            return GoneError(
                f"{self.name} cannot be reached: {reason}. Everything saved before is safe; try "
                "again when it is back."
            )
        return StorageError(f"not saved: {self.name} cannot be used: {reason}.")


def _connect_args(url: Any) -> dict[str, Any]:
    usual = {"connect_timeout": 10, "client_encoding": "utf8"}
    return {name: value for name, value in usual.items() if name not in url.query}


def _on_connect(connection: Any, _: Any) -> None:
    connection.autocommit = True
    connection.execute(f"SET lock_timeout = '{LOCK_SECONDS}s'")
    # An acknowledged answer has to survive a crash, whatever the server's default is.
    connection.execute(
        "SELECT set_config('synchronous_commit', 'on', false) "
        "WHERE current_setting('synchronous_commit') = 'off'"
    )
    connection.autocommit = False


def _code(problem: DBAPIError) -> str:
    return str(getattr(problem.orig, "sqlstate", None) or "")


def _first_line(problem: DBAPIError) -> str:
    lines = str(problem.orig).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(problem.orig).__name__
