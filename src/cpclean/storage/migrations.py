"""The tables of a database, and the steps by which an older one becomes what this cpclean writes.

Step n makes version n out of version n - 1; version 0 is a database without tables of ours. Steps
are never changed once they are released: another change is another step. All steps that a database
lacks are made in one transaction, with the new version number: all or nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Float,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    inspect,
    text,
)

from cpclean.errors import FutureError, StorageError, offenders

VERSION_TABLE = "cpclean_schema"

# What queries are written with. The tables themselves are made by the steps below.
_all = MetaData()
PROJECT = Table(
    "cpclean_project",
    _all,
    Column("id", Integer, primary_key=True),
    Column("content", LargeBinary),
    Column("digest", Text),
    Column("created", BigInteger),
)
HEAD = Table(
    "cpclean_head", _all, Column("id", Integer, primary_key=True), Column("last", BigInteger)
)
QUESTION = Table("cpclean_question", _all, Column("row_number", BigInteger, primary_key=True))
EVENT = Table(
    "cpclean_event",
    _all,
    Column("number", BigInteger, primary_key=True),
    Column("at", BigInteger),
    Column("request_id", Text),
    Column("kind", Text),
    Column("who", Text),
    Column("row_number", BigInteger),
    Column("candidate", BigInteger),
    Column("value", Text),
    Column("undoes", BigInteger),
    Column("seconds", Float(53)),
)
LEASE = Table(
    "cpclean_lease",
    _all,
    Column("id", Text, primary_key=True),
    Column("row_number", BigInteger),
    Column("who", Text),
    Column("until", BigInteger),
)


def _first(connection: Connection) -> None:
    """Version 1. Times are milliseconds since 1970 by the database's clock."""
    blob = "BYTEA" if connection.dialect.name == "postgresql" else "BLOB"
    for statement in (
        f"CREATE TABLE {VERSION_TABLE} (version INTEGER NOT NULL)",
        f"INSERT INTO {VERSION_TABLE} (version) VALUES (0)",
        # The check on id makes it one project a database, whoever is first.
        "CREATE TABLE cpclean_project (id INTEGER PRIMARY KEY CHECK (id = 1), "
        f"content {blob} NOT NULL, digest TEXT NOT NULL, created BIGINT NOT NULL)",
        # The number of the last event: who appends locks this row first, so that numbers have no
        # gap and become visible in their order.
        "CREATE TABLE cpclean_head (id INTEGER PRIMARY KEY CHECK (id = 1), last BIGINT NOT NULL)",
        # One row for every row with holes: who leases one locks it.
        "CREATE TABLE cpclean_question (row_number BIGINT PRIMARY KEY)",
        "CREATE TABLE cpclean_event (number BIGINT PRIMARY KEY, at BIGINT NOT NULL, "
        "request_id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, who TEXT NOT NULL, "
        "row_number BIGINT NOT NULL, candidate BIGINT, value TEXT, "
        "undoes BIGINT REFERENCES cpclean_event (number), seconds DOUBLE PRECISION)",
        "CREATE TABLE cpclean_lease (id TEXT PRIMARY KEY, row_number BIGINT NOT NULL "
        "REFERENCES cpclean_question (row_number), who TEXT NOT NULL, until BIGINT NOT NULL, "
        "UNIQUE (row_number, who))",
    ):
        connection.execute(text(statement))


STEPS: tuple[Callable[[Connection], None], ...] = (_first,)


def migrate(connection: Connection, name: str, create: bool) -> None:
    """Bring a database to the present version, or refuse it as it is.

    Parameters
    ----------
    connection : Connection
        Within a transaction that keeps others from doing the same.
    name : str
        Of the database, for errors.
    create : bool
        Whether a database without tables may get them.
    """
    version = _version(connection, name)
    if version > len(STEPS):
        raise FutureError(
            f"{name} was written by a newer cpclean (version {version}; this one knows up to "
            f"{len(STEPS)}). Bring cpclean up to date, or name another place."
        )
    if version == 0 and not create:
        raise StorageError(f"there is no project in {name}. Is that the right place?")
    for step in STEPS[version:]:
        step(connection)
    if version < len(STEPS):
        change = text(f"UPDATE {VERSION_TABLE} SET version = :version")
        connection.execute(change, {"version": len(STEPS)})


def _version(connection: Connection, name: str) -> int:
    tables = inspect(connection).get_table_names()
    if VERSION_TABLE not in tables:
        # A server's database may hold many things; a file with other tables is something else.
        if tables and connection.dialect.name == "sqlite":
            raise StorageError(
                f"{name} is a database of something else: it has the tables "
                f"{offenders(map(repr, tables))}. Name another file; this one stays as it is."
            )
        return 0
    found = connection.execute(text(f"SELECT version FROM {VERSION_TABLE}")).scalars().all()
    if len(found) != 1 or not isinstance(found[0], int) or found[0] < 1:
        raise StorageError(
            f"{name} does not say of which version it is: it was changed by something else. "
            "Go back to a copy of it."
        )
    return found[0]
