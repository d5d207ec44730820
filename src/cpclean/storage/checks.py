"""Checks that all storages make alike, so that they take and refuse the same."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from cpclean.data.rows import is_whole
from cpclean.errors import RefusedError, StorageError, offenders
from cpclean.storage.contract import KINDS, Event, Places, Said

MOST_TEXT = 200  # characters of a name or a request id
MOST_VALUE = 100_000  # characters of a value as JSON
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def checked_said(said: Said, request_id: Any) -> Said:
    """What was said, in plain values, or an error that says what is wrong with it."""
    checked_text(said.who, "who")
    checked_text(request_id, "request_id")
    if said.kind not in KINDS:
        raise RefusedError(f"kind must be one of {', '.join(KINDS)}; got {said.kind!r}.")
    if said.kind == "undo":
        needed, forbidden = ["undoes"], ["row", "candidate", "value"]
    elif said.kind == "skip":
        needed, forbidden = ["row"], ["candidate", "value", "undoes"]
    else:
        other = "candidate" if said.candidate is not None else "value"
        spare = "value" if other == "candidate" else "candidate"
        needed, forbidden = ["row", other], [spare, "undoes"]
    for name in needed:
        if getattr(said, name) is None:
            raise RefusedError(f"{_a(said.kind)} needs {name}; got {said}.")
    for name in forbidden:
        if getattr(said, name) is not None:
            raise RefusedError(f"{_a(said.kind)} takes no {name}; got {said}.")
    for name in ("row", "candidate", "undoes"):
        number = getattr(said, name)
        if number is not None and (not is_whole(number) or not 0 <= number < 2**62):
            raise RefusedError(f"{name} must be an int of at least 0; got {number!r}.")
    return Said(
        said.kind,
        said.who,
        None if said.row is None else int(said.row),
        None if said.candidate is None else int(said.candidate),
        None if said.value is None else json.loads(value_text(said.value)),
        None if said.undoes is None else int(said.undoes),
        _checked_seconds(said.seconds),
    )


def value_text(value: Any) -> str:
    """A value as JSON text without signs beyond ASCII: no database stumbles over it."""
    try:
        text = json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as problem:
        raise RefusedError(f"a value must be such as JSON holds: {problem}.") from problem
    if len(text) > MOST_VALUE:
        raise RefusedError(
            f"a value may have {MOST_VALUE:,} characters as JSON; got {len(text):,}."
        )
    return text


def checked_text(text: Any, what: str) -> str:
    """A name or a request id that every database can keep."""
    if not isinstance(text, str) or not text.strip() or len(text) > MOST_TEXT:
        got = f"{len(text):,} characters" if isinstance(text, str) and text.strip() else repr(text)
        raise RefusedError(f"{what} must be text of 1 to {MOST_TEXT} characters; got {got}.")
    if "\0" in text or any("\ud800" <= sign <= "\udfff" for sign in text):
        raise RefusedError(f"{what} must be text without null signs or lone surrogates.")
    return text


def checked_lease(ranking: Sequence[int], who: str, seconds: float) -> list[int]:
    """The rows of a ranking, each once, as plain ints."""
    checked_text(who, "who")
    checked_duration(seconds)
    rows = list(dict.fromkeys(ranking))
    if odd := [row for row in rows if not is_whole(row) or row < 0]:
        raise RefusedError(f"a ranking must list rows, ints of at least 0; got {odd[0]!r}.")
    return [int(row) for row in rows]


def checked_duration(seconds: Any) -> float:
    """How long a lease lasts."""
    number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if not number or not 0 < seconds <= 10**7:
        raise RefusedError(
            f"seconds must be a number above 0, ten million at most; got {seconds!r}."
        )
    return float(seconds)


def places_of(places: Places, row: int) -> int:
    """How many people may hold a row at the same time."""
    found = places.get(row, 1) if isinstance(places, Mapping) else places
    if not is_whole(found) or found < 1:
        raise RefusedError(f"places must be an int of at least 1; got {found!r}.")
    return int(found)


def checked_undo(number: int, row: int | None, taken_back: bool) -> int:
    """The row of the event that an undo names; the event is there and not taken back yet."""
    if row is None:
        raise RefusedError(f"there is no event {number} to undo.")
    if taken_back:
        raise RefusedError(f"event {number} is undone already.")
    return row


def check_same(event: Event, said: Said) -> Event:
    """The event of an earlier call with the same request id, if it said the same."""
    if not event.says(said):
        raise used_before(event)
    return event


def used_before(event: Event) -> RefusedError:
    """The error about a request id that stands for another event."""
    return RefusedError(
        f"the request id {event.request_id!r} was used before, for event {event.number}, which "
        "says something else. Choose a new id for each thing that is said."
    )


def same_project(same: bool, name: str) -> None:
    """Refuse a project where there is another one."""
    if not same:
        raise RefusedError(
            f"{name} holds another project already; open that one, or name another place."
        )


def no_project(name: str) -> StorageError:
    """The error of a storage without a project."""
    return StorageError(f"there is no project in {name} yet; create one first.")


def unknown_rows(rows: Sequence[int]) -> None:
    """Refuse rows of a ranking that are no questions."""
    if rows:
        raise RefusedError(
            f"a ranking may list rows with holes of the project only; got {offenders(rows)}."
        )


def moment(milliseconds: int) -> datetime:
    """A time of the database's clock, which all storages count in milliseconds since 1970."""
    return _EPOCH + timedelta(milliseconds=milliseconds)


def _checked_seconds(seconds: Any) -> float | None:
    if seconds is None:
        return None
    number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if not number or not math.isfinite(seconds) or seconds < 0:
        raise RefusedError(f"seconds must be None or a number of at least 0; got {seconds!r}.")
    return float(seconds)


def _a(kind: str) -> str:
    return f"{'an' if kind[0] in 'au' else 'a'} {kind}"
