"""Storage in memory: for tests and for trying out. It ends with the process."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from threading import Lock
from uuid import uuid4

from cpclean.errors import GoneError
from cpclean.projects.project import Project
from cpclean.storage.checks import (
    check_same,
    checked_duration,
    checked_lease,
    checked_said,
    checked_undo,
    moment,
    no_project,
    places_of,
    same_project,
    unknown_rows,
)
from cpclean.storage.contract import Event, Lease, Places, Said, Storage
from cpclean.storage.ledger import undone_events


class MemoryStorage(Storage):
    """Everything in lists and dicts, one caller at a time."""

    name = "memory"

    def __init__(self) -> None:
        self._lock = Lock()
        self._content: bytes | None = None
        self._questions: set[int] = set()
        self._events: list[Event] = []
        self._by_request: dict[str, Event] = {}
        self._leases: dict[str, Lease] = {}
        self._closed = False

    def create(self, project: Project) -> None:
        content = project.to_bytes()
        with self._lock:
            self._check_open()
            if self._content is not None:
                same_project(self._content == content, self.name)
                return
            self._content = content
            self._questions = set(project.dirty_rows.tolist())

    def project(self) -> Project | None:
        self._check_open()
        return None if self._content is None else Project.from_bytes(self._content)

    # -- the log ---------------------------------------------------------------------------

    def append(self, said: Said, request_id: str) -> Event:
        said = checked_said(said, request_id)
        with self._lock:
            self._check_project()
            if request_id in self._by_request:
                return check_same(self._by_request[request_id], said)
            row = self._row_undone(said.undoes) if said.undoes is not None else said.row
            assert row is not None, "checked before"
            event = Event(
                len(self._events) + 1, self.now(), request_id, said.kind, said.who, row,
                said.candidate, said.value, said.undoes, said.seconds,
            )  # fmt: skip
            self._events.append(event)
            self._by_request[request_id] = event
            if said.undoes is None:
                for lease in [one for one in self._leases.values() if one.row == row]:
                    if lease.who == said.who:
                        del self._leases[lease.id]
            return event

    def _row_undone(self, number: int) -> int:
        known = 1 <= number <= len(self._events)
        row = self._events[number - 1].row if known else None
        undone = undone_events((one.number, one.undoes) for one in self._events)
        return checked_undo(number, row, number in undone)

    def events(self, after: int = 0, limit: int | None = None) -> list[Event]:
        with self._lock:
            self._check_project()
            return self._events[after:][:limit]

    def last(self) -> int:
        with self._lock:
            self._check_project()
            return len(self._events)

    # -- leases ----------------------------------------------------------------------------

    def lease(
        self,
        ranking: Sequence[int],
        who: str,
        seconds: float,
        places: Places = 1,
        seen: int | None = None,
    ) -> Lease | None:
        rows = checked_lease(ranking, who, seconds)
        with self._lock:
            self._check_project()
            unknown_rows([row for row in rows if row not in self._questions])
            holders: dict[int, list[str]] = {}
            for lease in self._open_leases():
                holders.setdefault(lease.row, []).append(lease.who)
            news = {event.row for event in self._events[seen:]} if seen is not None else set()
            for row in rows:
                held = holders.get(row, [])
                if row not in news and who not in held and len(held) < places_of(places, row):
                    found = Lease(uuid4().hex, row, who, self._in(seconds))
                    self._leases[found.id] = found
                    return found
            return None

    def renew(self, lease: Lease, seconds: float) -> Lease | None:
        checked_duration(seconds)
        with self._lock:
            self._check_project()
            self._open_leases()
            if lease.id not in self._leases:
                return None
            found = replace(self._leases[lease.id], until=self._in(seconds))
            self._leases[lease.id] = found
            return found

    def release(self, lease: Lease) -> bool:
        with self._lock:
            self._check_project()
            self._open_leases()
            with suppress(KeyError):
                del self._leases[lease.id]
                return True
            return False

    def leases(self) -> list[Lease]:
        with self._lock:
            self._check_project()
            return sorted(self._open_leases(), key=lambda lease: (lease.row, lease.id))

    def _open_leases(self) -> list[Lease]:
        now = self.now()
        self._leases = {number: one for number, one in self._leases.items() if one.until > now}
        return list(self._leases.values())

    # -- everything else -------------------------------------------------------------------

    def now(self) -> datetime:
        return moment(time.time_ns() // 1_000_000)

    def close(self) -> None:
        self._closed = True

    def _in(self, seconds: float) -> datetime:
        return self.now() + timedelta(milliseconds=round(seconds * 1000))

    def _check_open(self) -> None:
        if self._closed:
            raise GoneError("the storage in memory was closed; open a new one.")

    def _check_project(self) -> None:
        self._check_open()
        if self._content is None:
            raise no_project(self.name)
