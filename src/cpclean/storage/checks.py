"""Checks that all storages share, so that they accept and refuse the same."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from cpclean.data.rows import is_whole
from cpclean.errors import OvertakenError, RefusedError, StorageError, offenders
from cpclean.storage.events import KINDS, REASONS, Event, LeaseRequest, NewEvent, Places, Since
from cpclean.storage.row_states import undone_events

MOST_TEXT = 200  # characters of a name or a request id
MOST_VALUE = 100_000  # characters of a value as JSON
MOST_COMMENT = 2_000  # characters of a comment
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


# -- events ----------------------------------------------------------------------------------------


def checked_event(new: NewEvent, request_id: Any) -> NewEvent:
    """A new event in plain values, or an error that says what is wrong with it."""
    checked_text(new.who, "who")
    checked_text(request_id, "request_id")
    if new.kind not in KINDS:
        raise RefusedError(f"kind must be one of {', '.join(KINDS)}; got {new.kind!r}.")
    note = _checked_note(new)
    if new.kind == "comment":
        needed, forbidden = ["row", "note"], ["candidate", "value", "undoes"]
    elif new.kind == "undo":
        needed, forbidden = ["undoes"], ["row", "candidate", "value"]
    elif new.kind == "skip":
        needed, forbidden = ["row"], ["candidate", "value", "undoes"]
    else:
        other = "candidate" if new.candidate is not None else "value"
        spare = "value" if other == "candidate" else "candidate"
        needed, forbidden = ["row", other], [spare, "undoes"]
    for name in needed:
        if (note if name == "note" else getattr(new, name)) is None:
            raise RefusedError(f"{_a(new.kind)} needs {name}; got {new}.")
    for name in forbidden:
        if getattr(new, name) is not None:
            raise RefusedError(f"{_a(new.kind)} takes no {name}; got {new}.")
    for name in ("row", "candidate", "undoes"):
        number = getattr(new, name)
        if number is not None and (not is_whole(number) or not 0 <= number < 2**62):
            raise RefusedError(f"{name} must be an int of at least 0; got {number!r}.")
    return NewEvent(
        new.kind,
        new.who,
        None if new.row is None else int(new.row),
        None if new.candidate is None else int(new.candidate),
        None if new.value is None else json.loads(value_text(new.value)),
        None if new.undoes is None else int(new.undoes),
        _checked_seconds(new.seconds),
        note,
    )


def value_text(value: Any, sort_keys: bool = False) -> str:
    """A value as JSON text in plain ASCII, which every database can save."""
    try:
        text = json.dumps(value, allow_nan=False, sort_keys=sort_keys)
    except (TypeError, ValueError, RecursionError) as problem:
        raise RefusedError(f"a value must be something JSON can hold: {problem}.") from problem
    if len(text) > MOST_VALUE:
        raise RefusedError(
            f"a value may have at most {MOST_VALUE:,} characters as JSON; got {len(text):,}."
        )
    return text


def checked_text(text: Any, what: str, most: int = MOST_TEXT) -> str:
    """A name or a request id that every database can save."""
    if not isinstance(text, str) or not text.strip() or len(text) > most:
        got = f"{len(text):,} characters" if isinstance(text, str) and text.strip() else repr(text)
        raise RefusedError(f"{what} must be text of 1 to {most} characters; got {got}.")
    if "\0" in text or any("\ud800" <= sign <= "\udfff" for sign in text):
        raise RefusedError(f"{what} must be text without null characters or lone surrogates.")
    return text


def checked_undo(number: int, row: int | None, is_undone: bool) -> int:
    """The row of the event that an undo names, which must exist and not be undone yet."""
    if row is None:
        raise RefusedError(f"there is no event {number} to undo.")
    if is_undone:
        raise RefusedError(f"event {number} is undone already.")
    return row


def check_same(event: Event, new: NewEvent) -> Event:
    """The event of an earlier call with the same request id, if it says the same."""
    if not event.matches(new):
        raise used_before(event)
    return event


def used_before(event: Event) -> RefusedError:
    """The error for a request id that belongs to another event."""
    return RefusedError(
        f"the request id {event.request_id!r} was used before, for event {event.number}, which "
        "says something else. Choose a new id for each event."
    )


def check_since(new: NewEvent, since: Since, later: Sequence[Event]) -> None:
    """Refuse an answer if its sender should know of later events first."""
    undone = undone_events((one.number, one.undoes) for one in later)
    for one in reversed(later):
        answers = one.row == new.row and one.kind in ("answer", "correction")
        if answers and one.number not in undone and _is_after(one, since.row):
            raise OvertakenError(
                f"not saved: {one.who} has answered row {one.row} in the meantime (event "
                f"{one.number}). Look at that answer first.",
                one,
            )
    for one in reversed(later):
        if one.kind != "comment" and _is_after(one, since.log):
            raise OvertakenError(
                f"not saved: event {one.number} came in the meantime. Look at it first.", one
            )


def _is_after(event: Event, number: int | None) -> bool:
    return number is not None and event.number > number


# -- leases ----------------------------------------------------------------------------------------


def checked_lease(
    ranking: Sequence[int], who: str, seconds: float, places: Places, seen: int | None
) -> LeaseRequest:
    """What is asked for: each row once, in plain values."""
    checked_text(who, "who")
    checked_duration(seconds)
    rows = list(dict.fromkeys(ranking))
    if odd := [row for row in rows if not (type(row) is int or is_whole(row)) or row < 0]:
        raise RefusedError(f"a ranking must list rows, ints of at least 0; got {odd[0]!r}.")
    counts = places.values() if isinstance(places, Mapping) else [places]
    if wrong := [count for count in counts if not is_whole(count) or count < 1]:
        raise RefusedError(f"places must be an int of at least 1; got {wrong[0]!r}.")
    return LeaseRequest(uuid4().hex, tuple(map(int, rows)), who, float(seconds), places, seen)


def checked_duration(seconds: Any) -> float:
    """How long a lease lasts."""
    number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if not number or not 0 < seconds <= 10**7:
        raise RefusedError(
            f"seconds must be a number above 0 and at most ten million; got {seconds!r}."
        )
    return float(seconds)


def check_rows(rows: Sequence[int], questions: frozenset[int]) -> None:
    """Refuse rows of a ranking that nobody needs to be asked about."""
    if unknown := [row for row in rows if row not in questions]:
        raise RefusedError(
            f"a ranking may only list rows of the project that have holes; got "
            f"{offenders(unknown)}."
        )


# -- projects and times ----------------------------------------------------------------------------


def same_project(same: bool, name: str) -> None:
    """Refuse a project where there is another one."""
    if not same:
        raise RefusedError(
            f"{name} already holds another project; open that one, or choose another location."
        )


def no_project(name: str) -> StorageError:
    """The error of a storage without a project."""
    return StorageError(f"there is no project in {name} yet; create one first.")


def moment(milliseconds: int) -> datetime:
    """A time from the clock of a database; all storages count milliseconds since 1970."""
    return _EPOCH + timedelta(milliseconds=milliseconds)


def milliseconds(at: datetime) -> int:
    """The opposite of `moment`."""
    return (at - _EPOCH) // timedelta(milliseconds=1)


def checked_setting(name: Any, value: Any) -> str | None:
    """A setting as JSON text, the same for equal values; None for none."""
    checked_text(name, "the name of a setting")
    return None if value is None else value_text(value, sort_keys=True)


def _checked_seconds(seconds: Any) -> float | None:
    if seconds is None:
        return None
    number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if not number or not math.isfinite(seconds) or seconds < 0:
        raise RefusedError(f"seconds must be None or a number of at least 0; got {seconds!r}.")
    return float(seconds)


def _checked_note(new: NewEvent) -> dict[str, Any] | None:
    """What was said besides, without what is empty."""
    given = {} if new.note is None else {name: one for name, one in new.note.items() if one}
    allowed = {"comment"}
    allowed |= {"reason", "to", "columns"} if new.kind == "skip" else set()
    allowed |= {"unusual"} if new.kind in ("answer", "correction") else set()
    if odd := sorted(given.keys() - (allowed if new.kind != "undo" else set())):
        raise RefusedError(f"{_a(new.kind)} takes no {odd[0]} in its note; got {new.note!r}.")
    found: dict[str, Any] = {}
    for name, one in given.items():
        if name in ("unusual", "columns"):
            found[name] = [checked_text(column, f"a column in {name}") for column in one]
        elif name == "reason" and one not in REASONS:
            raise RefusedError(f"reason must be one of {', '.join(REASONS)}; got {one!r}.")
        else:
            found[name] = checked_text(one, name, MOST_COMMENT if name == "comment" else MOST_TEXT)
    return found or None


def _a(kind: str) -> str:
    return f"{'an' if kind[0] in 'au' else 'a'} {kind}"
