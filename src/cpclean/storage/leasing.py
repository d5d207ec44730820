"""Leases in a database: which row is free, looked at while nobody else can take it.

1. Rows that are held, or of which there is news, are left out: one query for all of them.
2. Of the rest, the first one that nobody has locked is locked (SKIP LOCKED: who comes second does
   not wait for who came first, but goes on to the next row). SQLite has one writer at a time.
3. It is looked at again, for somebody may have taken it between 1 and 2.
4. If no row was found but some were locked, they may have come free: the caller begins anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, delete, insert, select

from cpclean.storage.checks import moment, places_of
from cpclean.storage.contract import Lease, Places
from cpclean.storage.migrations import EVENT, LEASE, QUESTION


@dataclass(frozen=True)
class Wish:
    """What somebody asks for, and the id that the lease is to have.

    The id is chosen before: a call that is repeated after a lost connection finds its lease.
    """

    id: str
    rows: list[int]
    who: str
    seconds: float
    places: Places
    seen: int | None

    def suits(self, row: int, holders: list[str]) -> bool:
        return self.who not in holders and len(holders) < places_of(self.places, row)


@dataclass(frozen=True)
class Found:
    """The lease, or whether rows were passed over only because somebody had them locked."""

    lease: Lease | None
    passed_over: bool = False


def first_free(connection: Connection, wish: Wish, now: int) -> Found:
    """Lease the first row that is free."""
    mine = connection.execute(select(LEASE).where(LEASE.c.id == wish.id)).one_or_none()
    if mine is not None:
        return Found(lease_of(mine))
    holders, news = _holders(connection, now), _news(connection, wish.seen)
    passed_over = False
    for row in wish.rows:
        if row in news or not wish.suits(row, holders.get(row, [])):
            continue
        if not _locked(connection, row):
            passed_over = True
        elif _is_free(connection, row, wish, now):
            until = now + round(wish.seconds * 1000)
            parts = {"id": wish.id, "row_number": row, "who": wish.who, "until": until}
            connection.execute(insert(LEASE), parts)
            return Found(Lease(wish.id, row, wish.who, moment(until)))
    return Found(None, passed_over)


def end_lease(connection: Connection, row: int, who: str) -> None:
    """Let nobody lease the row until this transaction is over, and end the person's own lease."""
    own = select(QUESTION.c.row_number).where(QUESTION.c.row_number == row)
    connection.execute(own.with_for_update()).scalar()
    connection.execute(delete(LEASE).where(LEASE.c.row_number == row, LEASE.c.who == who))


def lease_of(row: Row[Any]) -> Lease:
    """A row of the table of leases."""
    return Lease(row.id, row.row_number, row.who, moment(row.until))


def _locked(connection: Connection, row: int) -> bool:
    own = select(QUESTION.c.row_number).where(QUESTION.c.row_number == row)
    return connection.execute(own.with_for_update(skip_locked=True)).scalar() is not None


def _is_free(connection: Connection, row: int, wish: Wish, now: int) -> bool:
    """Whether a row that is locked by us is free; leases whose time is over are removed."""
    connection.execute(delete(LEASE).where(LEASE.c.row_number == row, LEASE.c.until <= now))
    holders = _holders(connection, now, row).get(row, [])
    return wish.suits(row, holders) and not _news(connection, wish.seen, row)


def _holders(connection: Connection, now: int, row: int | None = None) -> dict[int, list[str]]:
    """Who holds which rows."""
    open_ = select(LEASE.c.row_number, LEASE.c.who).where(LEASE.c.until > now)
    if row is not None:
        open_ = open_.where(LEASE.c.row_number == row)
    found: dict[int, list[str]] = {}
    for held, who in connection.execute(open_):
        found.setdefault(held, []).append(who)
    return found


def _news(connection: Connection, seen: int | None, row: int | None = None) -> set[int]:
    """Rows about which something was said after an event."""
    if seen is None:
        return set()
    since = select(EVENT.c.row_number).where(EVENT.c.number > seen)
    if row is not None:
        since = since.where(EVENT.c.row_number == row)
    return set(connection.execute(since.distinct()).scalars())
