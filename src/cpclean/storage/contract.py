"""Storage: the contract that memory, SQLite and PostgreSQL keep alike.

A storage holds one project and everything that people said about it.

**The project** is put in once, by `create`, and never changes. Whoever opens the storage later, on
any machine, gets it back by `project`: the same table, the same candidates, the same settings.

**The log** is a list of events that only grows. An event is an answer, a correction, a skip, or an
undo, which names the event that it takes back; nothing is ever changed or removed. Events are
numbered from 1 without a gap, in the order in which they were taken in: whoever has seen number n
has missed none before it. When an event happened is told by the clock of the database, not of the
process that brings it. What the log says of the table is for `cpclean.storage.ledger` to find out.

* When `append` returns, the event outlives a crash of the process and of the machine (in memory,
  there is nothing to outlive them).
* When `append` raises, either nothing was taken in, or, where a connection was lost, nobody knows.
  In both cases the same call with the same `request_id` is safe: an event is taken in once.
* A request id that was used for something else is refused.

**Leases** keep two people from working on the same row. `lease` hands out the first row of a
ranking that is free; a row is free if fewer people hold it than it has places, one unless said
otherwise. Nobody holds a row twice. A lease ends when its holder says something about the row (in
one step with the event), when it is released, or when its time is over by the clock of the
database; then the row is free again. `renew` prolongs a lease that has not ended. A lease is a
courtesy, not a permission: what people say about rows that they do not hold is taken in as well;
and a crash of the machine may forget leases, though never events.

Any number of threads and, except in memory, processes may use one storage at the same time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from cpclean.errors import RefusedError

if TYPE_CHECKING:
    from cpclean.projects.project import Project

KINDS = ("answer", "correction", "skip", "undo")


@dataclass(frozen=True)
class Said:
    """What somebody says about a row.

    Attributes
    ----------
    kind : {"answer", "correction", "skip", "undo"}
    who : str
    row : int or None
        None for an undo: the event that is taken back tells the row.
    candidate, value
        One of the two for an answer or a correction, as `CleaningSession.tell` takes it.
    undoes : int or None
        The number of the event that an undo takes back.
    seconds : float or None
        How long it took.
    """

    kind: str
    who: str
    row: int | None = None
    candidate: int | None = None
    value: Any = None
    undoes: int | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class Event:
    """What was said, with its number in the log and when it was taken in, in UTC."""

    number: int
    at: datetime
    request_id: str
    kind: str
    who: str
    row: int
    candidate: int | None = None
    value: Any = None
    undoes: int | None = None
    seconds: float | None = None

    @property
    def entry(self) -> dict[str, Any]:
        """The entry for `CleaningSession.replay`; an undo has none."""
        if self.kind == "undo":
            raise RefusedError(f"event {self.number} is an undo and says nothing about a row.")
        if self.kind == "skip":
            return {"row": self.row, "skip": True}
        if self.candidate is not None:
            return {"row": self.row, "candidate": self.candidate}
        return {"row": self.row, "value": self.value}

    def says(self, said: Said) -> bool:
        """Whether this is the event of what was said; how long it took may be told anew."""
        mine = (self.kind, self.who, self.candidate, self.value, self.undoes)
        theirs = (said.kind, said.who, said.candidate, said.value, said.undoes)
        return mine == theirs and (said.kind == "undo" or self.row == said.row)


@dataclass(frozen=True)
class Lease:
    """A row that somebody holds until a time by the clock of the database."""

    id: str
    row: int
    who: str
    until: datetime


Places = int | Mapping[int, int]


class Storage(ABC):
    """A project and its log. See the module's text for what all storages have in common.

    Attributes
    ----------
    name : str
        Where it is, for people: without passwords.
    """

    name: str

    # -- the project -----------------------------------------------------------------------

    @abstractmethod
    def create(self, project: Project) -> None:
        """Put in the project; refused if there is another one. The same again has no effect."""

    @abstractmethod
    def project(self) -> Project | None:
        """The project as it was put in, built anew at every call; None if there is none yet."""

    # -- the log ---------------------------------------------------------------------------

    @abstractmethod
    def append(self, said: Said, request_id: str) -> Event:
        """Take in what somebody says, and end their lease of the row.

        Parameters
        ----------
        said : Said
        request_id : str
            Chosen by the caller, anew for each thing that is said: such as ``uuid4().hex``. For the
            same id the event that was taken in first is given back, and nothing is added.
        """

    @abstractmethod
    def events(self, after: int = 0, limit: int | None = None) -> list[Event]:
        """The events with numbers above `after`, in order; at most `limit`, the first ones."""

    @abstractmethod
    def last(self) -> int:
        """The number of the last event; 0 if there is none. Cheap enough to ask every second."""

    # -- leases ----------------------------------------------------------------------------

    @abstractmethod
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
            Rows with holes of the project, the best first.
        who : str
        seconds : float
            How long the row is theirs.
        places : int or dict from row to int
            How many people may hold a row at the same time; 1 for rows that a dict does not name.
        seen : int, optional
            The number of the last event that the ranking knows of. Rows about which something was
            said since are passed over, for the ranking may be wrong about them.

        Returns
        -------
        Lease, or None if no row is free
        """

    @abstractmethod
    def renew(self, lease: Lease, seconds: float) -> Lease | None:
        """The same lease, from now on for so long; None if it has ended."""

    @abstractmethod
    def release(self, lease: Lease) -> bool:
        """End a lease; whether it had not ended before."""

    @abstractmethod
    def leases(self) -> list[Lease]:
        """All leases that have not ended, by row."""

    # -- everything else -------------------------------------------------------------------

    @abstractmethod
    def now(self) -> datetime:
        """The time by the clock of the database, in UTC."""

    @abstractmethod
    def close(self) -> None:
        """Let go of files and connections; the storage cannot be used any more."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"
