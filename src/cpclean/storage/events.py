"""What people enter into a storage: events of its log, and leases of rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cpclean.errors import RefusedError

KINDS = ("answer", "correction", "skip", "undo", "comment", "truth")

# Why somebody does not know; the last is for another person to be asked.
REASONS = ("not recorded", "unreadable", "cannot be known", "ask somebody else")

# How many people may hold a row at the same time: for all rows alike, or by row.
Places = int | Mapping[int, int]


@dataclass(frozen=True)
class NewEvent:
    """An event that is not saved yet.

    Attributes
    ----------
    kind : {"answer", "correction", "skip", "undo", "comment", "truth"}
        A truth is what the owner knows about a row, which makes it a gold question.
    who : str
        The person it comes from.
    row : int or None
        None for an undo: its row is that of the event it takes back.
    candidate, value
        One of the two for an answer, a correction or a truth, as in `CleaningSession.tell`.
    undoes : int or None
        The number of the event that an undo takes back.
    seconds : float or None
        How long the person needed.
    note : dict or None
        What was said besides, by name: "comment"; for a skip also "reason", one of `REASONS`, and
        "to", the person to whom the row is handed over, or "columns", the only ones that the skip
        is about, because others are asked about the rest; for an answer also "unusual", the columns
        of values that were asked back and confirmed. A comment has nothing else.
    """

    kind: str
    who: str
    row: int | None = None
    candidate: int | None = None
    value: Any = None
    undoes: int | None = None
    seconds: float | None = None
    note: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Since:
    """What somebody who answers has seen.

    Attributes
    ----------
    row : int or None
        The last event that was seen: later answers and corrections about the same row matter,
        unless they are undone. None: they do not.
    log : int or None
        The same for later events about any row; only comments do not matter.
    """

    row: int | None = None
    log: int | None = None

    @property
    def first(self) -> int | None:
        """The event after which anything may matter."""
        return min((one for one in (self.row, self.log) if one is not None), default=None)


@dataclass(frozen=True)
class Event:
    """A saved event: its number in the log, when it was saved (in UTC), and what it says."""

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
    note: Mapping[str, Any] | None = None

    @classmethod
    def of(cls, new: NewEvent, number: int, at: datetime, request_id: str, row: int) -> Event:
        """The saved form of a new event; `row` is the row it is about, also for an undo."""
        return cls(
            number, at, request_id, new.kind, new.who, row,
            new.candidate, new.value, new.undoes, new.seconds, new.note,
        )  # fmt: skip

    @property
    def comment(self) -> str:
        """What was remarked; "" if nothing."""
        return str((self.note or {}).get("comment", ""))

    @property
    def handed_to(self) -> str | None:
        """The person to whom a skip hands the row over."""
        return (self.note or {}).get("to") if self.kind == "skip" else None

    @property
    def skipped_columns(self) -> tuple[str, ...]:
        """The columns that a skip is about, if others are asked about the rest of the row."""
        return tuple((self.note or {}).get("columns", ())) if self.kind == "skip" else ()

    @property
    def entry(self) -> dict[str, Any]:
        """The entry for `CleaningSession.replay`; an undo has none."""
        if self.kind in ("undo", "comment"):
            kind = "an undo" if self.kind == "undo" else "a comment"
            raise RefusedError(f"event {self.number} is {kind}, which has no entry of its own.")
        if self.kind == "skip":
            return {"row": self.row, "skip": True}
        if self.candidate is not None:
            return {"row": self.row, "candidate": self.candidate}
        return {"row": self.row, "value": self.value}

    def matches(self, new: NewEvent) -> bool:
        """Whether this is a new event in saved form; `seconds` may differ in a repeated call."""
        mine = (self.kind, self.who, self.candidate, self.value, self.undoes, self.note)
        theirs = (new.kind, new.who, new.candidate, new.value, new.undoes, new.note)
        return mine == theirs and (new.kind == "undo" or self.row == new.row)


@dataclass(frozen=True)
class Lease:
    """A row that somebody holds until a time on the clock of the database."""

    id: str
    row: int
    who: str
    until: datetime


@dataclass(frozen=True)
class LeaseRequest:
    """What somebody asks for, checked, and the id that the lease will have.

    The id is chosen beforehand: a call that is repeated after a lost connection finds its lease.

    Attributes
    ----------
    rows : tuple of int
        Each row once, best first.
    places : Places
        How many people may hold a row at the same time; 1 for rows that a dict does not name.
    seen : int or None
        The number of the last event that the ranking takes into account.
    """

    id: str
    rows: tuple[int, ...]
    who: str
    seconds: float
    places: Places
    seen: int | None

    def accepts(self, row: int, holders: list[str]) -> bool:
        """Whether the person may hold a row that these people hold already."""
        places = self.places.get(row, 1) if isinstance(self.places, Mapping) else self.places
        return self.who not in holders and len(holders) < places
