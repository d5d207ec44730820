"""Storage in memory: for tests and for trying things out. It ends with the process."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from datetime import datetime, timedelta
from threading import Lock
from typing import Any

from cpclean.errors import GoneError
from cpclean.projects.project import Project
from cpclean.storage.checks import (
    check_rows,
    check_same,
    check_since,
    checked_undo,
    moment,
    no_project,
    same_project,
)
from cpclean.storage.contract import Storage
from cpclean.storage.events import Event, Lease, LeaseRequest, NewEvent, Since
from cpclean.storage.row_states import undone_events


class MemoryStorage(Storage):
    """Everything in lists and dicts, one caller at a time."""

    name = "memory"

    def __init__(self) -> None:
        self._lock = Lock()
        self._content: bytes | None = None
        self._questions: frozenset[int] = frozenset()
        self._events: list[Event] = []
        self._by_request: dict[str, Event] = {}
        self._leases: dict[str, Lease] = {}
        self._settings: dict[str, str] = {}
        self._closed = False

    def create(self, project: Project) -> None:
        content = project.to_bytes()
        with self._lock:
            self._check_open()
            if self._content is not None:
                same_project(self._content == content, self.name)
                return
            self._content = content
            self._questions = frozenset(project.dirty_rows.tolist())

    def project(self) -> Project | None:
        self._check_open()
        return None if self._content is None else Project.from_bytes(self._content)

    # -- the log ---------------------------------------------------------------------------

    def _append(self, new: NewEvent, request_id: str, since: Since | None) -> Event:
        with self._lock:
            self._check_project()
            if request_id in self._by_request:
                return check_same(self._by_request[request_id], new)
            row = self._row_undone(new.undoes) if new.undoes is not None else new.row
            assert row is not None, "checked before"
            if since is not None and since.first is not None:
                check_since(new, since, self._events[since.first :])
            event = Event.of(new, len(self._events) + 1, self.now(), request_id, row)
            self._events.append(event)
            self._by_request[request_id] = event
            if new.undoes is None:
                for lease in [one for one in self._leases.values() if one.row == row]:
                    if lease.who == new.who:
                        del self._leases[lease.id]
            return event

    def _row_undone(self, number: int) -> int:
        exists = 1 <= number <= len(self._events)
        row = self._events[number - 1].row if exists else None
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

    def _lease(self, request: LeaseRequest) -> Lease | None:
        with self._lock:
            self._check_project()
            check_rows(request.rows, self._questions)
            holders: dict[int, list[str]] = {}
            for lease in self._open_leases():
                holders.setdefault(lease.row, []).append(lease.who)
            later = [] if request.seen is None else self._events[request.seen :]
            changed = {event.row for event in later}
            for row in request.rows:
                if row not in changed and request.accepts(row, holders.get(row, [])):
                    until = self._until(round(request.seconds * 1000))
                    found = self._leases[request.id] = Lease(request.id, row, request.who, until)
                    return found
            return None

    def _renew(self, lease: Lease, milliseconds: int) -> Lease | None:
        with self._lock:
            self._check_project()
            self._open_leases()
            if lease.id not in self._leases:
                return None
            found = replace(self._leases[lease.id], until=self._until(milliseconds))
            self._leases[lease.id] = found
            return found

    def release(self, lease: Lease) -> bool:
        with self._lock:
            self._check_project()
            self._open_leases()
            return self._leases.pop(lease.id, None) is not None

    def _take_over(self, lease: Lease, who: str, milliseconds: int, new_id: str) -> Lease | None:
        with self._lock:
            self._check_project()
            held = {(one.row, one.who) for one in self._open_leases()}
            found = self._leases.get(lease.id)
            if found is None or (found.row, who) in held:
                return None
            del self._leases[lease.id]
            taken = Lease(new_id, found.row, who, self._until(milliseconds))
            self._leases[new_id] = taken
            return taken

    def leases(self) -> list[Lease]:
        with self._lock:
            self._check_project()
            return sorted(self._open_leases(), key=lambda lease: (lease.row, lease.id))

    def _open_leases(self) -> list[Lease]:
        """The leases that have not ended; the others are forgotten."""
        now = self.now()
        self._leases = {number: one for number, one in self._leases.items() if one.until > now}
        return list(self._leases.values())

    # -- settings --------------------------------------------------------------------------

    def setting(self, name: str) -> Any:
        with self._lock:
            self._check_project()
            found = self._settings.get(name)
            return None if found is None else json.loads(found)

    def _change(self, name: str, before: str | None, after: str | None) -> bool:
        with self._lock:
            self._check_project()
            if self._settings.get(name) not in (before, after):
                return False
            if after is None:
                self._settings.pop(name, None)
            else:
                self._settings[name] = after
            return True

    # -- everything else -------------------------------------------------------------------

    def now(self) -> datetime:
        return moment(time.time_ns() // 1_000_000)

    def close(self) -> None:
        self._closed = True

    def _until(self, milliseconds: int) -> datetime:
        return self.now() + timedelta(milliseconds=milliseconds)

    def _check_open(self) -> None:
        if self._closed:
            raise GoneError("the storage in memory was closed; open a new one.")

    def _check_project(self) -> None:
        self._check_open()
        if self._content is None:
            raise no_project(self.name)
