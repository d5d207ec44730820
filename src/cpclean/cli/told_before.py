"""Answers that `cpclean clean` saved, for a project that is served."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cpclean.cli.mistakes import Mistake, note

if TYPE_CHECKING:
    from cpclean.storage.contract import Storage
    from cpclean.storage.events import Event, NewEvent


def take_in(storage: Storage | None, log: str) -> None:
    """Append the answers of a log; what the same person said before is not said again."""
    import hashlib
    import json
    from collections import Counter

    from cpclean.storage.events import NewEvent
    from cpclean.storage.journal import read_answers

    project = None if storage is None else storage.project()
    if storage is None or project is None:
        raise Mistake("the answers of --log belong to a table: name it and its label.")
    known = Counter(_words(one) for one in storage.events() if one.kind != "undo")
    seen: Counter[str] = Counter()
    told, refits = [], 0
    for entry in read_answers(log, project.journal_belongs):
        if "refit" in entry:
            refits += 1
            continue
        row, skip, seconds = entry["row"], "skip" in entry, entry.get("seconds")
        plain = {} if skip else project.entry(row, entry.get("candidate"), entry.get("value"))
        said = NewEvent(
            "skip" if skip else "answer",
            str(entry.get("who") or "terminal"),
            row,
            plain.get("candidate"),
            plain.get("value"),
            seconds=seconds if isinstance(seconds, int | float) else None,
        )
        words = _words(said)
        seen[words] += 1
        if seen[words] > known[words]:
            mark = hashlib.sha256(json.dumps([words, seen[words]]).encode()).hexdigest()[:32]
            told.append((said, f"log-{mark}"))
    for said, request_id in told:
        storage.append(said, request_id)
    if refits:
        note(f"{log} has a refit, which the page does not repeat: it keeps the trees of the table.")


def _words(said: NewEvent | Event) -> str:
    """What somebody said of a row; a correction is an answer, too."""
    import json

    return json.dumps(
        [said.who, said.row, said.kind == "skip", said.candidate, said.value], sort_keys=True
    )
