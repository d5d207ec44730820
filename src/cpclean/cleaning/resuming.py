"""A long log taken over at once: the board is made for what is known in the end."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from cpclean.cleaning.answers import Entry, is_rough, said, with_earlier
from cpclean.cleaning.board import Board
from cpclean.cleaning.known import Known
from cpclean.cleaning.standing import check_standing
from cpclean.cleaning.state import Record, State
from cpclean.cleaning.subject import Subject
from cpclean.cleaning.view import Setup
from cpclean.data.incomplete import IncompleteDataset
from cpclean.errors import CPCleanError


@dataclass
class WholeLog:
    """What a log says in the end, and which of its entries say something new.

    Attributes
    ----------
    known, skipped, log
        As in `State`.
    records : list of Record or None
        Beside the log. What the answers did at their time is not worked out: gains and shares
        are nan.
    places : list of int
        Where the entries of `log` stand in what was given.
    """

    known: dict[int, Known] = field(default_factory=dict)
    skipped: set[int] = field(default_factory=set)
    log: list[Entry] = field(default_factory=list)
    records: list[Record | None] = field(default_factory=list)
    places: list[int] = field(default_factory=list)

    def add(self, entry: Entry, record: Record | None, place: int) -> None:
        """Append an entry that says something new."""
        self.log.append(entry)
        self.records.append(record)
        self.places.append(place)


def taken(subject: Subject, entries: Sequence[Entry]) -> WholeLog:
    """What checked entries without a refit say, one after the other, as a session would take it."""
    found = WholeLog()
    chosen: dict[tuple[int, int], tuple[Known, Entry]] = {}  # of rows that are answered repeatedly
    for place, entry in enumerate(entries):
        try:
            row = subject.data.row_number(entry["row"])
            if "skip" in entry:
                if row not in found.skipped:
                    found.add({"row": row, "skip": True}, None, place)
                found.skipped.add(row)
                continue
            before = found.known.get(row)
            candidate = entry.get("candidate")
            same = None if type(candidate) is not int else chosen.get((row, candidate))
            now, plain = same or said(subject, row, candidate, entry.get("value"))
            if type(candidate) is int:
                chosen[row, candidate] = now, plain
            now = with_earlier(subject, row, before, now)
        except CPCleanError as problem:
            raise type(problem)(f"answer {place}: {problem}") from problem
        if before != now or row in found.skipped:
            kind = "answer" if before is None else "same" if before == now else "correction"
            found.add(plain, _forgotten(row, kind), place)
        found.known[row] = now
        found.skipped.discard(row)
    return found


def _forgotten(row: int, kind: str) -> Record:
    return Record(row, math.nan, math.nan, math.nan, math.nan, kind, 0, (), math.nan)


def resumed(
    state: State,
    setup: Setup,
    entries: Sequence[Entry],
    board: Callable[[IncompleteDataset, Any], Board],
) -> tuple[State, list[int]]:
    """The state after a log, from one without answers; and the places of what is new in it."""
    subject = setup.subject
    whole = subject.data.whole is None and not setup.model.precomputed
    if state.log or not whole or any("refit" in one for one in entries):
        raise CPCleanError(
            "resume is for a session without answers, over a whole table and without precomputed "
            "distances, and for a log without refits. Use replay."
        )
    found, ground = taken(subject, entries), state.board.ground
    rows = {
        row: ground.known_row(row, known.narrowing).now
        for row, known in found.known.items()
        if known.narrowing
    }
    after = board(subject.data.knowing(rows), state.board.points)
    check_standing(after.ground, after.points, setup.model)
    made = replace(
        state,
        board=after,
        known=found.known,
        skipped=frozenset(found.skipped),
        log=tuple(found.log),
        records=tuple(found.records),
        roughly=frozenset(row for row, one in found.known.items() if is_rough(subject, row, one)),
    )
    return made, found.places


def recalled(state: State, other: State) -> State:
    """The state with the records of another one, as far as both have the same log."""
    length = min(len(state.log), len(other.log))
    shared = next((at for at in range(length) if state.log[at] != other.log[at]), length)
    return replace(state, records=(*other.records[:shared], *state.records[shared:]))
