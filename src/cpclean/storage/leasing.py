"""Leases in a database: find a free row, and check it while nobody else can take it.

1. Rows that are held, or that have later events, are left out: one query for all of them.
2. Of the rest, the first one that nobody has locked is locked (SKIP LOCKED: whoever comes second
   goes on to the next row instead of waiting). SQLite has one writer at a time: there, the first
   one is taken, and steps 3 and 4 are left out.
3. It is checked again, because somebody may have taken it between steps 1 and 2.
4. If no row was found but some were locked, they may have become free: the caller starts again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import BigInteger, Connection, Row, bindparam, delete, insert, select, update

from cpclean.storage.checks import moment
from cpclean.storage.events import Lease, LeaseRequest
from cpclean.storage.schema import EVENT, LEASE, QUESTION

# Statements are put together once: that takes longer than to execute one.
_ROW, _NOW = bindparam("row", type_=BigInteger), bindparam("now", type_=BigInteger)
_QUESTION = select(QUESTION.c.row_number).where(QUESTION.c.row_number == _ROW)
_LOCK, _TRY_LOCK = _QUESTION.with_for_update(), _QUESTION.with_for_update(skip_locked=True)
_BY_ID = select(LEASE).where(LEASE.c.id == bindparam("lease_id"))
_OPEN = select(LEASE.c.row_number, LEASE.c.who).where(LEASE.c.until > _NOW)
_OPEN_OF_ROW = _OPEN.where(LEASE.c.row_number == _ROW)
_LATER = select(EVENT.c.row_number).where(EVENT.c.number > bindparam("seen")).distinct()
_LATER_OF_ROW = _LATER.where(EVENT.c.row_number == _ROW)
_REMOVE_ENDED = delete(LEASE).where(LEASE.c.row_number == _ROW, LEASE.c.until <= _NOW)
_REMOVE_OWN = delete(LEASE).where(LEASE.c.row_number == _ROW, LEASE.c.who == bindparam("own"))
_ADD = insert(LEASE)


@dataclass(frozen=True)
class Found:
    """The lease, or whether rows were passed over only because somebody else had locked them."""

    lease: Lease | None
    passed_over: bool = False


def first_free(connection: Connection, request: LeaseRequest, now: int, alone: bool) -> Found:
    """Lease the first row that is free; `alone` says that nobody else can write meanwhile."""
    mine = connection.execute(_BY_ID, {"lease_id": request.id}).one_or_none()
    if mine is not None:
        return Found(lease_of(mine))
    holders, changed = _holders(connection, now), _changed(connection, request.seen)
    passed_over = False
    for row in request.rows:
        if row in changed or not request.accepts(row, holders.get(row, [])):
            continue
        if alone:
            connection.execute(_REMOVE_ENDED, {"row": row, "now": now})
        elif not _locked(connection, row):
            passed_over = True
            continue
        if alone or _is_free(connection, row, request, now):
            until = now + round(request.seconds * 1000)
            parts = {"id": request.id, "row_number": row, "who": request.who, "until": until}
            connection.execute(_ADD, parts)
            return Found(Lease(request.id, row, request.who, moment(until)))
    return Found(None, passed_over)


def end_lease(connection: Connection, row: int, who: str, alone: bool) -> None:
    """Keep the row from being leased until the transaction ends, and end the person's own lease."""
    if not alone:
        connection.execute(_LOCK, {"row": row}).scalar()
    connection.execute(_REMOVE_OWN, {"row": row, "own": who})


def taken_over(
    connection: Connection, lease: Lease, who: str, new_id: str, now: int, milliseconds: int
) -> Lease | None:
    """Give an open lease to another person; None if it has ended, or if they hold the row."""
    row, until = lease.row, now + milliseconds
    connection.execute(_LOCK, {"row": row}).scalar()
    mine = connection.execute(_BY_ID, {"lease_id": new_id}).one_or_none()
    if mine is not None:  # after a lost connection
        return lease_of(mine)
    connection.execute(_REMOVE_ENDED, {"row": row, "now": now})
    if who in _holders(connection, now, row).get(row, []):
        return None
    parts = {"id": new_id, "who": who, "until": until}
    done = connection.execute(update(LEASE).where(LEASE.c.id == lease.id).values(**parts))
    return Lease(new_id, row, who, moment(until)) if done.rowcount else None


def lease_of(row: Row[Any]) -> Lease:
    """A row of the table of leases."""
    return Lease(row.id, row.row_number, row.who, moment(row.until))


def _locked(connection: Connection, row: int) -> bool:
    return connection.execute(_TRY_LOCK, {"row": row}).scalar() is not None


def _is_free(connection: Connection, row: int, request: LeaseRequest, now: int) -> bool:
    """Whether a row that we have locked is free; leases whose time is up are removed."""
    connection.execute(_REMOVE_ENDED, {"row": row, "now": now})
    holders = _holders(connection, now, row).get(row, [])
    return request.accepts(row, holders) and not _changed(connection, request.seen, row)


def _holders(connection: Connection, now: int, row: int | None = None) -> dict[int, list[str]]:
    """Who holds which rows."""
    found: dict[int, list[str]] = {}
    asked = (_OPEN, {"now": now}) if row is None else (_OPEN_OF_ROW, {"now": now, "row": row})
    for held, who in connection.execute(*asked):
        found.setdefault(held, []).append(who)
    return found


def _changed(connection: Connection, seen: int | None, row: int | None = None) -> set[int]:
    """Rows with events after the one with this number."""
    if seen is None:
        return set()
    asked = (_LATER, {"seen": seen}) if row is None else (_LATER_OF_ROW, {"seen": seen, "row": row})
    return set(connection.execute(*asked).scalars())
