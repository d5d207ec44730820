"""The lines of a journal: what its first one says it belongs to, and what the others do."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cpclean.errors import CPCleanError, offenders
from cpclean.projects.fingerprint import differences

VERSION = 1

Line = dict[str, Any]

_KINDS = {"candidate", "value", "skip"}
# Which points are settled, and in which order rows are asked about, changes nothing in an answer.
_FREE = ("sure", "gains_by")
_ALIKE = ("cpclean", "relative", "roots")  # strategies that ask about whole rows, by gain
_BEGINNING = b'{"cpclean": "answers"'


class JournalError(CPCleanError):
    """A journal cannot be opened or continued."""


def header(belongs: Mapping[str, Any]) -> Line:
    """The first line."""
    return {"cpclean": "answers", "version": VERSION, "belongs": dict(belongs)}


def belongs_of(line: bytes, path: Path) -> dict[str, Any]:
    """What the first line says that the answers belong to."""
    found = _object(line) or {}
    version, theirs = found.get("version"), found.get("belongs")
    if found.keys() >= {"number", "kind", "row"}:  # an event, as the page exports them
        raise JournalError(
            f"{str(path)!r} lists every event of a project, including those that were undone. "
            "Export the answers that count instead: answers.jsonl, or /api/export?what=log."
        )
    ours = found.get("cpclean") == "answers"
    if not ours or not isinstance(version, int) or not isinstance(theirs, dict):
        raise JournalError(
            f"{str(path)!r} is not a log of answers: its first line says something else. "
            "Choose another file for the answers; this one was not changed."
        )
    if version > VERSION:
        raise JournalError(
            f"{str(path)!r} was written by a newer cpclean (format {version}; this one reads "
            f"formats up to {VERSION}). Upgrade cpclean, or choose another file."
        )
    return theirs


def check_belongs(path: Path, theirs: Mapping[str, Any], mine: Mapping[str, Any]) -> None:
    """Refuse answers that belong to another table or to other settings.

    The level of sureness may be another one: the answers do not depend on it.
    """
    if differs := differences(_binding(theirs), _binding(mine)):
        raise JournalError(
            f"{str(path)!r} belongs to something else: {offenders(differs, limit=4)}. "
            "Use the table and settings it was started with, or choose another file for new "
            "answers."
        )


def _binding(belongs: Mapping[str, Any]) -> dict[str, Any]:
    """What has to be the same."""
    found = {name: one for name, one in belongs.items() if name not in _FREE}
    return {**found, "strategy": _ALIKE[0]} if found.get("strategy") in _ALIKE else found


def is_torn_header(content: bytes) -> bool:
    """Whether a process was killed while it started the file; nothing was answered then."""
    if _BEGINNING.startswith(content):
        return True
    if b"\n" in content or not content.startswith(_BEGINNING):
        return False
    return _object(content) is None


def parsed(line: bytes, number: int, path: Path) -> Line:
    """The event of a line."""
    event = _object(line)
    if event is not None:
        return event
    text = line[:60].decode(errors="replace")
    raise JournalError(
        f"line {number} of {str(path)!r} is not an answer: {text!r}. Another program has changed "
        "the file; correct or remove the line, or choose another file."
    )


def apply(entries: list[Line], event: Line, where: str) -> None:
    """Change the entries as an event says."""
    if "undo" in event:
        back = event["undo"]
        if type(back) is not int or not 1 <= back <= len(entries):
            raise JournalError(
                f"{where} takes back {back!r} answers, but there are {len(entries)} before it."
            )
        del entries[-back:]
        return
    if "row" not in event and event.get("refit") is True:
        entries.append(event)
        return
    if type(event.get("row")) is not int or len(event.keys() & _KINDS) != 1:
        raise JournalError(
            f'{where} must have "row" and one of "candidate", "value" and "skip", or "undo", or '
            f'"refit"; got {json.dumps(event)[:80]}.'
        )
    entries.append(event)


def _object(line: bytes) -> Line | None:
    """The JSON object in a line; None if there is none."""
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
