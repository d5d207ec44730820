"""Storage in a database, through SQLAlchemy: what SQLite and PostgreSQL have in common.

Every call is one transaction. SQLite lets one of them write at a time. In PostgreSQL, whoever
appends locks the head of the log first and the row's question next; whoever leases passes over what
is locked, as `cpclean.storage.leasing` explains. So no two can wait for each other.
"""

from __future__ import annotations

import hashlib
import json
import time
from abc import abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, bindparam, delete, insert, select, text, update
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from cpclean.errors import GoneError, LockedError, StorageError
from cpclean.projects.packing import same_parts
from cpclean.projects.project import Project
from cpclean.storage.checks import (
    check_rows,
    check_same,
    check_since,
    checked_undo,
    milliseconds,
    moment,
    no_project,
    same_project,
    value_text,
)
from cpclean.storage.contract import Storage
from cpclean.storage.events import Event, Lease, LeaseRequest, NewEvent, Since
from cpclean.storage.leasing import Found, end_lease, first_free, lease_of, taken_over
from cpclean.storage.row_states import undone_events
from cpclean.storage.schema import EVENT, HEAD, LEASE, PROJECT, QUESTION, SETTING, prepare

Result = TypeVar("Result")

# Statements are put together once: that takes longer than to execute one.
_LAST = select(HEAD.c.last)
_LOCK_LAST = _LAST.with_for_update()
_EVENT = select(
    EVENT.c.number, EVENT.c.at, EVENT.c.request_id, EVENT.c.kind, EVENT.c.who, EVENT.c.row_number,
    EVENT.c.candidate, EVENT.c.value, EVENT.c.undoes, EVENT.c.seconds, EVENT.c.note,
)  # fmt: skip
_BY_REQUEST = _EVENT.where(EVENT.c.request_id == bindparam("request"))
_SINCE = _EVENT.where(EVENT.c.number > bindparam("after")).order_by(EVENT.c.number)
_SOME_SINCE = _SINCE.limit(bindparam("most"))
_OPEN = (LEASE.c.id == bindparam("lease_id")) & (LEASE.c.until > bindparam("now"))
_RENEW = update(LEASE).where(_OPEN).values(until=bindparam("new_until"))
_RELEASE = delete(LEASE).where(_OPEN)
_LEASES = (
    select(LEASE).where(LEASE.c.until > bindparam("now")).order_by(LEASE.c.row_number, LEASE.c.id)
)
_ADD_EVENT, _MOVE_HEAD = insert(EVENT), update(HEAD).values(last=bindparam("number"))

# How often a lease is tried again while every row that might be free is being checked by somebody
# else; such checks take milliseconds, and all attempts together about half a second.
_ATTEMPTS = 12


class SqlStorage(Storage):
    """What both databases share; a subclass says how to connect, and what its errors mean."""

    begin_alone = ""  # SQL that keeps others from creating the tables at the same time
    one_writer = False  # whether nobody else can write while a transaction does

    def __init__(self, name: str, engine: Engine, create: bool) -> None:
        self.name, self.engine = name, engine
        self._closed = False
        self._questions: frozenset[int] | None = None

        def prepared(connection: Connection) -> None:
            if self.begin_alone:
                connection.execute(text(self.begin_alone))
            prepare(connection, name, create)

        try:
            self._run(prepared)
        except BaseException:
            engine.dispose()
            raise

    # -- what a subclass says --------------------------------------------------------------

    def _writing(self) -> AbstractContextManager[Connection]:
        """A connection in a transaction that survives a crash once it is committed."""
        return self.engine.begin()

    @abstractmethod
    def _lending(self) -> AbstractContextManager[Connection]:
        """The same for leases only, which a crash of the machine may forget: no wait for a disk.

        Such a crash ends the server too. Whoever comes back is asked about the best row that is
        free, which may be one that somebody has on their screen; answers count without a lease.
        """

    def _reading(self) -> AbstractContextManager[Connection]:
        """A connection in a transaction that writes nothing."""
        return self.engine.begin()

    @abstractmethod
    def _now(self, connection: Connection) -> int:
        """The milliseconds since 1970 on the clock of the database."""

    def _check_place(self) -> None:
        """Raise an error if the database is no longer where it was."""

    def _is_lost(self, problem: DBAPIError) -> bool:
        """Whether the connection broke, so that another one may work."""
        return problem.connection_invalidated

    @abstractmethod
    def _translated(self, problem: DBAPIError) -> StorageError:
        """What an error of the database means, and the way out."""

    # -- the project -----------------------------------------------------------------------

    def create(self, project: Project) -> None:
        content = project.to_bytes()
        digest = hashlib.sha256(content).hexdigest()
        rows = [{"row_number": row} for row in project.dirty_rows.tolist()]

        def work(connection: Connection) -> None:
            if self.begin_alone:
                connection.execute(text(self.begin_alone))
            found = connection.execute(select(PROJECT.c.digest)).scalar()
            if found is not None:
                if found != digest:  # another project, or other headers around the same one
                    stored = connection.execute(select(PROJECT.c.content)).scalar_one()
                    same_project(same_parts(bytes(stored), content), self.name)
                return
            parts = {
                "id": 1,
                "content": content,
                "digest": digest,
                "created": self._now(connection),
            }
            connection.execute(insert(PROJECT), parts)
            connection.execute(insert(HEAD), {"id": 1, "last": 0})
            if rows:
                connection.execute(insert(QUESTION), rows)

        self._run(work)

    def project(self) -> Project | None:
        stored = self._read(
            lambda connection: connection.execute(
                select(PROJECT.c.content, PROJECT.c.digest)
            ).one_or_none()
        )
        if stored is None:
            return None
        content = bytes(stored.content)
        if hashlib.sha256(content).hexdigest() != stored.digest:
            raise StorageError(
                f"the project in {self.name} is damaged: its bytes have changed since it was "
                "saved. Restore the database from a backup."
            )
        return Project.from_bytes(content)

    # -- the log ---------------------------------------------------------------------------

    def _append(self, new: NewEvent, request_id: str, since: Since | None) -> Event:
        def work(connection: Connection) -> Event:
            head = connection.execute(_LOCK_LAST).scalar()
            if head is None:
                raise no_project(self.name)
            found = connection.execute(_BY_REQUEST, {"request": request_id}).one_or_none()
            if found is not None:
                return check_same(_event(found), new)
            if new.undoes is not None:
                row = _row_undone(connection, new.undoes)
            else:
                assert new.row is not None, "checked before"
                row = new.row
                if since is not None and since.first is not None and since.first < head:
                    later = connection.execute(_SINCE, {"after": since.first})
                    check_since(new, since, [_event(one) for one in later])
                end_lease(connection, row, new.who, self.one_writer)
            at = moment(self._now(connection))
            return _added(connection, Event.of(new, head + 1, at, request_id, row))

        return self._run(work)

    def events(self, after: int = 0, limit: int | None = None) -> list[Event]:
        which = {"after": after} if limit is None else {"after": after, "most": limit}
        wanted = _SINCE if limit is None else _SOME_SINCE

        def work(connection: Connection) -> list[Event]:
            found = [_event(row) for row in connection.execute(wanted, which)]
            if not found:
                self._last(connection)  # refuses a database without a project
            return found

        return self._read(work)

    def last(self) -> int:
        return self._read(self._last)

    def _last(self, connection: Connection) -> int:
        found = connection.execute(_LAST).scalar()
        if found is None:
            raise no_project(self.name)
        return int(found)

    # -- leases ----------------------------------------------------------------------------

    def _lease(self, request: LeaseRequest) -> Lease | None:
        check_rows(request.rows, self._known_questions())
        for attempt in range(_ATTEMPTS):
            found = self._lend(lambda each: self._first_free(each, request))
            if found.lease is not None or not found.passed_over:
                return found.lease
            time.sleep(0.002 * 1.5**attempt)
        return None  # locked all the while: as good as held

    def _first_free(self, connection: Connection, request: LeaseRequest) -> Found:
        return first_free(connection, request, self._now(connection), self.one_writer)

    def _renew(self, lease: Lease, milliseconds: int) -> Lease | None:
        def work(connection: Connection) -> Lease | None:
            now = self._now(connection)
            until = now + milliseconds
            which = {"lease_id": lease.id, "now": now, "new_until": until}
            done = connection.execute(_RENEW, which)
            return Lease(lease.id, lease.row, lease.who, moment(until)) if done.rowcount else None

        return self._lend(work)

    def release(self, lease: Lease) -> bool:
        def work(connection: Connection) -> bool:
            which = {"lease_id": lease.id, "now": self._now(connection)}
            return connection.execute(_RELEASE, which).rowcount > 0

        return self._lend(work)

    def _take_over(self, lease: Lease, who: str, milliseconds: int, new_id: str) -> Lease | None:
        return self._lend(
            lambda each: taken_over(each, lease, who, new_id, self._now(each), milliseconds)
        )

    def leases(self) -> list[Lease]:
        def work(connection: Connection) -> list[Lease]:
            found = connection.execute(_LEASES, {"now": self._now(connection)}).all()
            if not found:
                self._last(connection)  # refuses a database without a project
            return [lease_of(row) for row in found]

        return self._read(work)

    def _known_questions(self) -> frozenset[int]:
        if self._questions is None:

            def work(connection: Connection) -> frozenset[int]:
                self._last(connection)
                return frozenset(connection.execute(select(QUESTION.c.row_number)).scalars())

            self._questions = self._read(work)
        return self._questions

    # -- settings --------------------------------------------------------------------------

    def setting(self, name: str) -> Any:
        def work(connection: Connection) -> Any:
            self._last(connection)
            found = connection.execute(select(SETTING.c.value).where(SETTING.c.name == name))
            value = found.scalar()
            return None if value is None else json.loads(value)

        return self._read(work)

    def _change(self, name: str, before: str | None, after: str | None) -> bool:
        def work(connection: Connection) -> bool:
            # One at a time: whoever changes a setting locks the head of the log.
            if connection.execute(_LOCK_LAST).scalar() is None:
                raise no_project(self.name)
            own = SETTING.c.name == name
            found = connection.execute(select(SETTING.c.value).where(own)).scalar()
            if found == after:  # also after a lost connection
                return True
            if found != before:
                return False
            connection.execute(delete(SETTING).where(own))
            if after is not None:
                connection.execute(insert(SETTING), {"name": name, "value": after})
            return True

        return self._run(work)

    # -- everything else -------------------------------------------------------------------

    def now(self) -> datetime:
        return moment(self._read(self._now))

    def close(self) -> None:
        self._closed = True
        self.engine.dispose()

    def _run(self, work: Callable[[Connection], Result]) -> Result:
        return self._tried(self._writing, work)

    def _lend(self, work: Callable[[Connection], Result]) -> Result:
        return self._tried(self._lending, work)

    def _read(self, work: Callable[[Connection], Result]) -> Result:
        return self._tried(self._reading, work)

    def _tried(
        self,
        opened: Callable[[], AbstractContextManager[Connection]],
        work: Callable[[Connection], Result],
    ) -> Result:
        """The result of a transaction, which is tried a second time if the connection breaks.

        That is safe: events and leases have an id that is chosen beforehand, and everything else
        may happen twice.
        """
        if self._closed:
            raise GoneError(f"{self.name} was closed here; open it again.")
        for attempt in (1, 2):
            self._check_place()
            try:
                with opened() as connection:
                    return work(connection)
            except PoolTimeout as problem:
                raise LockedError(
                    f"not saved: too many concurrent connections to {self.name}. Try again."
                ) from problem
            except DBAPIError as problem:
                if attempt == 2 or not self._is_lost(problem):
                    raise self._translated(problem) from problem
        raise AssertionError("the second attempt returns or raises")


# -- rows of the tables ----------------------------------------------------------------------------


def _event(row: Sequence[Any]) -> Event:
    number, at, request_id, kind, who, about, candidate, value, undoes, seconds, note = row
    return Event(
        number, moment(at), request_id, kind, who, about, candidate,
        None if value is None else json.loads(value), undoes, seconds,
        None if note is None else json.loads(note),
    )  # fmt: skip


def _added(connection: Connection, event: Event) -> Event:
    columns: dict[str, Any] = {
        "number": event.number,
        "at": milliseconds(event.at),
        "request_id": event.request_id,
        "kind": event.kind,
        "who": event.who,
        "row_number": event.row,
        "candidate": event.candidate,
        "value": None if event.value is None else value_text(event.value),
        "undoes": event.undoes,
        "seconds": event.seconds,
        "note": None if event.note is None else value_text(event.note),
    }
    connection.execute(_ADD_EVENT, columns)
    connection.execute(_MOVE_HEAD, {"number": event.number})
    return event


def _row_undone(connection: Connection, number: int) -> int:
    row = connection.execute(select(EVENT.c.row_number).where(EVENT.c.number == number)).scalar()
    undos = connection.execute(
        select(EVENT.c.number, EVENT.c.undoes).where(EVENT.c.undoes.is_not(None))
    )
    return checked_undo(number, row, number in undone_events((a, b) for a, b in undos))
