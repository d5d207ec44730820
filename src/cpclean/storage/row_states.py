"""What the events about one row amount to; the rules are those of `cpclean.storage.ledger`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from cpclean.errors import CPCleanError
from cpclean.storage.events import Event

Spelling = Callable[[Event], Hashable]
Entry = dict[str, Any]
Pair = tuple[str, str]  # of names, in order


def as_written(event: Event) -> Hashable:
    """An answer letter by letter: two are the same if they are written alike."""
    return event.candidate, event.value is not None and json.dumps(event.value, sort_keys=True)


@dataclass(frozen=True)
class RowState:
    """What is known about one row.

    Attributes
    ----------
    row : int
    state : {"settled", "waiting", "disputed", "skipped", "handed"}
    words : tuple of Event
        The last answer, correction or skip of each person, in the order of their numbers.
    decided : Event or None
        The event that settled the row: the last one if several people had to agree.
    lacking : int
        How many more people would have to give the most frequent answer; 0 if the row is settled
        or skipped.
    handed_to : str or None
        Who is to be asked, if the row was handed over and that person has not said anything yet.
    """

    row: int
    state: str
    words: tuple[Event, ...]
    decided: Event | None
    lacking: int
    handed_to: str | None = None

    @property
    def people(self) -> frozenset[str]:
        """Who has answered or skipped the row, and is not to be asked again."""
        return frozenset(event.who for event in self.words)

    def is_apart(self, wanted: int) -> bool:
        """Whether it matters who asks for a question about the row; so many have to agree on it."""
        if self.handed_to is not None or (wanted > 1 and self.state != "settled"):
            return True
        return bool(self.partly_skipped)

    @property
    def partly_skipped(self) -> dict[str, tuple[str, ...]]:
        """Who does not know some columns of the row, while others are asked about the rest."""
        return {one.who: one.skipped_columns for one in self.words if one.skipped_columns}


def undone_events(events: Iterable[tuple[int, int | None]]) -> set[int]:
    """The events that do not count, given each number and the number it takes back, if any."""
    undone: set[int] = set()
    # From the last to the first: whether an undo counts depends on later ones alone.
    for number, undoes in sorted(events, reverse=True):
        if undoes is not None and number not in undone:
            undone.add(undoes)
    return undone


@dataclass(frozen=True)
class RowPart:
    """What the events about one row amount to; dicts are by the number of the event."""

    state: RowState | None  # None if nothing counts
    entries: dict[int, Entry]
    undone: set[int]
    left_out: dict[int, str]
    latest: dict[str, int]
    pairs: list[tuple[Pair, bool]]  # who answered, two by two; whether they agree
    truth: Event | None = None


NOTHING = RowPart(None, {}, set(), {}, {}, [])


def part_of(row: int, events: Sequence[Event], wanted: int, spelling: Spelling) -> RowPart:
    """What all events about a row amount to, if so many people have to agree on it."""
    undone = undone_events((event.number, event.undoes) for event in events)
    spelled: dict[int, Hashable] = {}
    left_out: dict[int, str] = {}
    for event in events:
        if event.kind not in ("undo", "comment") and event.number not in undone:
            try:
                spelled[event.number] = spelling(event)
            except CPCleanError as problem:
                left_out[event.number] = str(problem)
    told = [event for event in events if event.number in spelled]
    truth = next((event for event in reversed(told) if event.kind == "truth"), None)
    counting = [event for event in told if event.kind != "truth"]
    found = _Row(wanted, spelled)
    for event in counting:
        found.take(event)
    state = found.state(row) if counting else None
    used = counting if wanted == 1 else [one for one in [found.decided or found.skipped] if one]
    if found.handed_to is not None:
        used = [one for one in used if one.kind != "skip"]
    used = [one for one in used if not one.skipped_columns] if truth is None else [truth]
    return RowPart(
        state,
        {event.number: event.entry for event in used},
        undone,
        left_out,
        {event.who: event.number for event in counting},
        _pairs(state, spelled),
        truth,
    )


def _pairs(state: RowState | None, spelled: Mapping[int, Hashable]) -> list[tuple[Pair, bool]]:
    words = () if state is None else state.words
    answers = {one.who: spelled[one.number] for one in words if one.kind != "skip"}
    return [
        (pair, answers[pair[0]] == answers[pair[1]]) for pair in combinations(sorted(answers), 2)
    ]


@dataclass
class _Row:
    """One row while the events go by."""

    wanted: int
    spelled: Mapping[int, Hashable]  # by the number of the event
    words: dict[str, Event] = field(default_factory=dict)  # the last of each person
    votes: dict[str, Event] = field(default_factory=dict)  # those since the last correction
    corrected: Event | None = None

    def take(self, event: Event) -> None:
        if event.kind == "skip" and self._has_answered(event.who):
            return  # it takes nothing back
        for one in (self.words, self.votes):
            one.pop(event.who, None)  # so that whoever answers again comes last
        self.words[event.who] = event
        if event.kind == "correction":
            self.corrected, self.votes = event, {}
        else:
            self.votes[event.who] = event

    @property
    def handed_to(self) -> str | None:
        """Who was named last, unless that person has answered or skipped the row since."""
        named = [one for one in self.words.values() if one.handed_to is not None]
        last = max(named, key=lambda one: one.number, default=None)
        decided = self.decided
        if last is None or (decided is not None and decided.number > last.number):
            return None  # what was answered before may have been about other cells
        theirs = self.words.get(last.handed_to or "")
        return None if theirs is not None and theirs.number > last.number else last.handed_to

    @property
    def decided(self) -> Event | None:
        """The event with which enough people had given the same answer, or the correction."""
        counts: Counter[Hashable] = Counter()
        found, agreed = self.corrected, None
        for event in self._answers():
            answer = self.spelled[event.number]
            counts[answer] += 1
            if counts[answer] >= self.wanted and (agreed is None or answer != agreed):
                found, agreed = event, answer
        return found

    @property
    def skipped(self) -> Event | None:
        """The skip with which enough people had skipped the row."""
        whole = [event for event in self.votes.values() if not event.skipped_columns]
        skips = [event for event in whole if event.kind == "skip"]
        return skips[self.wanted - 1] if len(skips) >= self.wanted else None

    def state(self, row: int) -> RowState:
        counts = Counter(self.spelled[event.number] for event in self._answers())
        name, lacking = "waiting", self.wanted - max(counts.values(), default=0)
        if self.decided is not None:
            name, lacking = "settled", 0
        elif self.handed_to is not None and not counts:
            name = "handed"
        elif self.skipped is not None:
            name, lacking = "skipped", 0
        elif len(counts) > 1:
            name = "disputed"
        words = tuple(sorted(self.words.values(), key=lambda event: event.number))
        return RowState(row, name, words, self.decided, lacking, self.handed_to)

    def _answers(self) -> list[Event]:
        return [event for event in self.votes.values() if event.kind != "skip"]

    def _has_answered(self, who: str) -> bool:
        return who in self.words and self.words[who].kind != "skip"
