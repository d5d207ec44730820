"""The tables of a database, declared once for SQLite and PostgreSQL.

A new database gets all tables in one transaction, together with the number of this version: all of
them or none. A database of a later version is refused. Times are milliseconds since 1970 on the
clock of the database.

Version 2 has notes of events, and version 3 settings; `prepare` adds both to an older database.
When tables change in more than what is added, Alembic takes over there; `VERSION_TABLE` tells which
databases are at which revision. Constraints have the names that PostgreSQL chose by itself, because
databases that exist have them.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Connection,
    Double,
    ForeignKey,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    insert,
    inspect,
    select,
    text,
    update,
)

from cpclean.errors import FutureError, StorageError, offenders

VERSION = 3
VERSION_TABLE = "cpclean_schema"

METADATA = MetaData()


# Primary keys are chosen here, never counted by the database: autoincrement=False throughout.
SCHEMA = Table(VERSION_TABLE, METADATA, Column("version", Integer, nullable=False))
PROJECT = Table(
    "cpclean_project",
    METADATA,
    # The check allows one project per database, whoever comes first.
    Column("id", Integer, CheckConstraint("id = 1"), primary_key=True, autoincrement=False),
    Column("content", LargeBinary, nullable=False),
    Column("digest", Text, nullable=False),
    Column("created", BigInteger, nullable=False),
)
# The number of the last event. Whoever appends locks this row first, so that numbers have no gap
# and become visible in their order.
HEAD = Table(
    "cpclean_head",
    METADATA,
    Column("id", Integer, CheckConstraint("id = 1"), primary_key=True, autoincrement=False),
    Column("last", BigInteger, nullable=False),
)
# One row for every row that has holes. Whoever leases one locks it.
QUESTION = Table(
    "cpclean_question",
    METADATA,
    Column("row_number", BigInteger, primary_key=True, autoincrement=False),
)
EVENT = Table(
    "cpclean_event",
    METADATA,
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("at", BigInteger, nullable=False),
    Column("request_id", Text, nullable=False, unique=True),
    Column("kind", Text, nullable=False),
    Column("who", Text, nullable=False),
    Column("row_number", BigInteger, nullable=False),
    Column("candidate", BigInteger),
    Column("value", Text),
    Column("undoes", BigInteger, ForeignKey("cpclean_event.number")),
    Column("seconds", Double),
    Column("note", Text),
)
LEASE = Table(
    "cpclean_lease",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("row_number", BigInteger, ForeignKey("cpclean_question.row_number"), nullable=False),
    Column("who", Text, nullable=False),
    Column("until", BigInteger, nullable=False),
    UniqueConstraint("row_number", "who"),
)
# What the owner changes while people answer, as JSON.
SETTING = Table(
    "cpclean_setting",
    METADATA,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
)


def prepare(connection: Connection, name: str, create: bool) -> None:
    """Create the tables of a new database, and check the version of an existing one.

    Parameters
    ----------
    connection : Connection
        In a transaction that keeps others from doing the same.
    name : str
        Of the database, for errors.
    create : bool
        Whether a database without tables may get them.
    """
    version = _version(connection, name)
    if version > VERSION:
        raise FutureError(
            f"{name} was written by a newer cpclean (version {version}; this one reads versions up "
            f"to {VERSION}). Upgrade cpclean, or choose another location."
        )
    if version == 0:
        if not create:
            raise StorageError(f"there is no project in {name}. Is that the right location?")
        METADATA.create_all(connection, checkfirst=False)
        connection.execute(insert(SCHEMA), {"version": VERSION})
    elif version < VERSION:
        if version == 1:
            connection.execute(text(f"ALTER TABLE {EVENT.name} ADD COLUMN note TEXT"))
        SETTING.create(connection)
        connection.execute(update(SCHEMA).values(version=VERSION))


def _version(connection: Connection, name: str) -> int:
    """The version of the tables; 0 if there are none of ours."""
    tables = inspect(connection).get_table_names()
    if VERSION_TABLE not in tables:
        # The database of a server may hold many things; a file with other tables is another file.
        if tables and connection.dialect.name == "sqlite":
            raise StorageError(
                f"{name} belongs to another program: it has the tables "
                f"{offenders(map(repr, tables))}. Choose another file; this one was not changed."
            )
        return 0
    found = connection.execute(select(SCHEMA.c.version)).scalars().all()
    if len(found) != 1 or not isinstance(found[0], int) or found[0] < 1:
        raise StorageError(
            f"{name} does not say which version it has: another program has changed it. "
            "Restore it from a backup."
        )
    return found[0]
