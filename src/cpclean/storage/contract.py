"""Storage: the contract that memory, SQLite and PostgreSQL all fulfil.

A storage holds one project and everything that people have answered about it.

**The project** is saved once, by `create`, and never changes. Whoever opens the storage later, on
any machine, gets it back from `project`: the same table, the same candidates, the same settings.

**The log** is a list of events that only grows. An event is an answer, a correction, a skip, a
comment, a truth that the owner knows, or an undo, which names the event that it takes back; nothing
is ever changed or removed. All but an undo may have a note, such as a comment. Events are
numbered from 1 without gaps, in the order in which they were saved: whoever has seen number n has
missed none before it. The time of an event comes from the clock of the database, not of the process
that sends it. What the log means for the table is worked out by `cpclean.storage.ledger`.

* When `append` returns, the event survives a crash of the process and of the machine (in memory,
  nothing survives either).
* When `append` raises, either nothing was saved or, if a connection was lost, nobody knows. In both
  cases it is safe to make the same call with the same `request_id` again: an event is saved once.
* A request id that was used for another event is refused.
* An answer may say which event its sender has seen last (`since`): it is refused if the row was
  answered after that, by whomever and through whichever process.

**Leases** keep two people from working on the same row. `lease` hands out the first row of a
ranking that is free; a row is free if fewer people hold it than it has places, by default one.
Nobody holds a row twice. A lease ends when its holder answers or skips the row (in one step with
the event), when it is released, or when its time is up by the clock of the database; then the row
is free again. `renew` extends a lease that has not ended. A lease is a courtesy, not a permission:
events about rows that somebody else holds are saved as well; and a crash of the machine may forget
leases, though never events. `take_over` gives a lease to another person, under a new id.

**Settings** are what the owner changes while people answer, such as who is asked about which
columns: values by name. `change` replaces one only if it is still what the caller has seen.

Any number of threads and, except in memory, processes may use one storage at the same time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Self
from uuid import uuid4

from cpclean.projects.project import Project
from cpclean.storage.checks import (
    checked_duration,
    checked_event,
    checked_lease,
    checked_setting,
    checked_text,
)
from cpclean.storage.events import Event, Lease, LeaseRequest, NewEvent, Places, Since


class Storage(ABC):
    """A project and its log. The module's docstring says what all storages have in common.

    Attributes
    ----------
    name : str
        Where it is, for people: without passwords.
    """

    name: str

    # -- the project -----------------------------------------------------------------------

    @abstractmethod
    def create(self, project: Project) -> None:
        """Save the project. Saving the same one again has no effect; another one is refused."""

    @abstractmethod
    def project(self) -> Project | None:
        """The project as it was saved, opened anew at every call; None if there is none yet."""

    # -- the log ---------------------------------------------------------------------------

    def append(self, new: NewEvent, request_id: str, since: Since | None = None) -> Event:
        """Save an event, and end the person's lease of the row.

        Parameters
        ----------
        new : NewEvent
        request_id : str
            Chosen by the caller, a new one for each event: such as ``uuid4().hex``. If an event was
            saved with the same id before, that one is returned and nothing is added.
        since : Since, optional
            What the caller knows. If more was said by then, nothing is saved, and an
            `OvertakenError` has the event: of two who answer at the same moment, one learns of the
            other. A request that was saved before is never too late.
        """
        return self._append(checked_event(new, request_id), request_id, since)

    @abstractmethod
    def _append(self, new: NewEvent, request_id: str, since: Since | None) -> Event:
        """Save an event that has been checked."""

    @abstractmethod
    def events(self, after: int = 0, limit: int | None = None) -> list[Event]:
        """The events with numbers above `after`, in order; at most `limit`, the first ones."""

    @abstractmethod
    def last(self) -> int:
        """The number of the last event; 0 if there is none. Cheap enough to call every second."""

    # -- leases ----------------------------------------------------------------------------

    def lease(
        self,
        ranking: Sequence[int],
        who: str,
        seconds: float,
        places: Places = 1,
        seen: int | None = None,
    ) -> Lease | None:
        """Hand out the first row of a ranking that is free and that the person does not hold.

        Parameters
        ----------
        ranking : sequence of int
            Rows of the project that have holes, best first.
        who : str
        seconds : float
            How long the person holds the row.
        places : int or dict from row to int
            How many people may hold a row at the same time; 1 for rows that a dict does not name.
        seen : int, optional
            The number of the last event that the ranking takes into account. Rows with later events
            are passed over, because the ranking may be wrong about them.

        Returns
        -------
        Lease, or None if no row is free
        """
        return self._lease(checked_lease(ranking, who, seconds, places, seen))

    @abstractmethod
    def _lease(self, request: LeaseRequest) -> Lease | None:
        """Hand out a row for a request that has been checked."""

    def renew(self, lease: Lease, seconds: float) -> Lease | None:
        """The same lease, lasting so many seconds from now; None if it has ended."""
        return self._renew(lease, round(checked_duration(seconds) * 1000))

    @abstractmethod
    def _renew(self, lease: Lease, milliseconds: int) -> Lease | None:
        """Extend a lease by a time that has been checked."""

    @abstractmethod
    def release(self, lease: Lease) -> bool:
        """End a lease; whether it was still open."""

    def take_over(self, lease: Lease, who: str, seconds: float) -> Lease | None:
        """Give a lease to another person; None if it has ended, or if they hold the row already."""
        checked_text(who, "who")
        return self._take_over(lease, who, round(checked_duration(seconds) * 1000), uuid4().hex)

    @abstractmethod
    def _take_over(self, lease: Lease, who: str, milliseconds: int, new_id: str) -> Lease | None:
        """Give a lease to somebody whose name has been checked."""

    @abstractmethod
    def leases(self) -> list[Lease]:
        """All open leases, by row."""

    # -- settings --------------------------------------------------------------------------

    @abstractmethod
    def setting(self, name: str) -> Any:
        """The value of a setting, as JSON has it; None if it was never set."""

    def change(self, name: str, before: Any, after: Any) -> bool:
        """Set a setting if it is still `before`; whether it is `after` now.

        Whoever wants to be the only one to have changed it puts something of their own into
        `after`. None removes a setting.
        """
        then, now = checked_setting(name, before), checked_setting(name, after)
        return self._change(name, then, now)

    @abstractmethod
    def _change(self, name: str, before: str | None, after: str | None) -> bool:
        """Set a setting, given as JSON text with sorted keys."""

    # -- everything else -------------------------------------------------------------------

    @abstractmethod
    def now(self) -> datetime:
        """The time on the clock of the database, in UTC."""

    @abstractmethod
    def close(self) -> None:
        """Close files and connections; the storage cannot be used afterwards."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"
