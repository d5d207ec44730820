"""The ledger: what the events of a log say when all is told.

A pure function of the events, so that every process that has read the same log knows the same;
whoever follows a log keeps a `Book`, and comes to the same.

1. An undo takes back the event that it names. An undo can be undone: then it never was. An event
   counts unless an undo that counts itself names it.
2. With one answer a row, everything that counts is told to the session in its order: a later answer
   about a row adds to what was said before or corrects it, as `CleaningSession.tell` says.
3. With n answers a row, a row is settled as soon as n people have said the same of it. Until then
   it waits; if two of those who spoke differ, it is disputed, and somebody else has to be asked.
   The last word of each person counts; a skip after an answer unsays nothing. A row is skipped
   when n people have skipped it.
4. What cannot be told of the table (some program appended it without asking the project first) does
   not count; `left_out` says why. Everything else goes on.
5. A correction settles its row at once, whatever was said before it: who corrects has seen that. It
   holds until another one comes, or n people say the same after it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from cpclean.errors import CPCleanError, RefusedError
from cpclean.storage.contract import Event

Spelling = Callable[[Event], Hashable]
Entry = dict[str, Any]
Pair = tuple[str, str]  # of names, in order


def as_written(event: Event) -> Hashable:
    """What an answer says, letter by letter: two that look alike are the same."""
    return event.candidate, event.value is not None and json.dumps(event.value, sort_keys=True)


@dataclass(frozen=True)
class RowState:
    """What is said of one row.

    Attributes
    ----------
    row : int
    state : {"settled", "waiting", "disputed", "skipped"}
    words : tuple of Event
        The last word of each person, in order of their numbers: answers, corrections and skips.
    decided : Event or None
        The event that settled the row: the last one if several people had to agree.
    lacking : int
        How many people more would have to say the same as most have; 0 if the row is settled or
        skipped.
    """

    row: int
    state: str
    words: tuple[Event, ...]
    decided: Event | None
    lacking: int

    @property
    def people(self) -> frozenset[str]:
        """Who has had a word, and is not to be asked again."""
        return frozenset(event.who for event in self.words)


@dataclass(frozen=True)
class Agreement:
    """How often two people said the same, or not, of rows that both of them answered."""

    same: int
    different: int


@dataclass(frozen=True)
class Ledger:
    """What a log says.

    Attributes
    ----------
    last : int
        The number of the last event looked at.
    log : tuple of dict
        The entries for `CleaningSession.replay`.
    numbers : tuple of int
        The event behind each entry of `log`.
    rows : dict from row to RowState
        Every row of which something is said.
    answers : dict from name to int
        Rows that each person has answered or corrected, those not settled yet included.
    skips : dict from name to int
        Rows that each person has skipped.
    agreement : dict from pair of names, in order, to Agreement
    latest : dict from name to int
        The last event of each person that counts and is no undo: what an undo of theirs names.
    undone : frozenset of int
        Events that do not count; undos that were undone included.
    left_out : dict from int to str
        Events that could not be told, and why not.
    """

    last: int
    answers_per_row: int
    log: tuple[Entry, ...]
    numbers: tuple[int, ...]
    rows: Mapping[int, RowState]
    answers: Mapping[str, int]
    skips: Mapping[str, int]
    agreement: Mapping[Pair, Agreement]
    latest: Mapping[str, int]
    undone: frozenset[int]
    left_out: Mapping[int, str]

    @property
    def waiting(self) -> list[int]:
        """Rows that wait for more people, in order; not the disputed ones."""
        return self._in_state("waiting")

    @property
    def disputed(self) -> list[int]:
        """Rows about which people differ: somebody else has to be asked."""
        return self._in_state("disputed")

    @property
    def settled(self) -> list[int]:
        return self._in_state("settled")

    def ranking_for(self, who: str, ranking: Iterable[int]) -> list[int]:
        """The rows of a ranking that this person may be asked for, in the same order.

        Where several people have to agree, nobody is asked for a row twice. Settled rows stay in:
        whether there is more to ask about them is for the session to say.
        """
        if self.answers_per_row == 1:
            return list(ranking)
        return [
            row
            for row in ranking
            if row not in self.rows
            or self.rows[row].state == "settled"
            or who not in self.rows[row].people
        ]

    def places(self, ranking: Iterable[int]) -> dict[int, int]:
        """How many people may hold each row at the same time, for `Storage.lease`."""
        most = self.answers_per_row
        return {
            row: max(1, self.rows[row].lacking) if row in self.rows else most for row in ranking
        }

    def _in_state(self, state: str) -> list[int]:
        return sorted(row for row, one in self.rows.items() if one.state == state)


def ledger_of(
    events: Iterable[Event], answers_per_row: int = 1, spelling: Spelling = as_written
) -> Ledger:
    """What a whole log says.

    Parameters
    ----------
    events : iterable of Event
        All events from the first on, in order.
    answers_per_row : int
        How many people have to say the same of a row.
    spelling : function from Event to hashable, optional
        Equal for answers that say the same; `Project.spelling` knows that a candidate and its
        values are the same, and raises for what cannot be told. By default, answers have to be
        written alike.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> at = datetime(2026, 1, 1, tzinfo=UTC)
    >>> first = Event(1, at, "a", "answer", "Ann", 3, candidate=1)
    >>> second = Event(2, at, "b", "answer", "Bob", 3, candidate=0)
    >>> ledger_of([first, second], answers_per_row=2).disputed
    [3]
    >>> third = Event(3, at, "c", "answer", "Cem", 3, candidate=1)
    >>> ledger_of([first, second, third], answers_per_row=2).log
    ({'row': 3, 'candidate': 1},)
    """
    book = Book(answers_per_row, spelling)
    book.add(events)
    return book.ledger()


class Book:
    """A ledger that is kept while events come: what each adds costs as much as its row does.

    All events about a row stand by themselves, undos included, so that news of a row change what
    is known of that row alone.

    Parameters
    ----------
    answers_per_row, spelling
        As for `ledger_of`.
    """

    def __init__(self, answers_per_row: int = 1, spelling: Spelling = as_written) -> None:
        self._wanted, self._spelling = answers_per_row, spelling
        self.last = 0  # the number of the last event that was taken in
        self._events: dict[int, list[Event]] = {}
        self._parts: dict[int, _Part] = {}
        self._told: dict[int, Entry] = {}
        self._undone: set[int] = set()
        self._left_out: dict[int, str] = {}
        self._latest: dict[str, int] = {}
        self._answers: Counter[str] = Counter()
        self._skips: Counter[str] = Counter()
        self._same: Counter[Pair] = Counter()
        self._both: Counter[Pair] = Counter()

    def add(self, events: Iterable[Event]) -> None:
        """Take in the next events, in order."""
        touched: dict[int, None] = {}
        undone = False
        for event in events:
            if event.number != self.last + 1:
                raise RefusedError(
                    "a ledger needs all events from the first on, each once and in order."
                )
            self.last = event.number
            self._events.setdefault(event.row, []).append(event)
            touched[event.row] = None
            undone = undone or event.kind == "undo"
        for row in touched:
            before = self._parts.get(row, _NOTHING)
            now = self._parts[row] = _part(row, self._events[row], self._wanted, self._spelling)
            self._replace(before, now)
            self._count(before, -1)
            self._count(now, 1)
        parts = self._parts
        if undone:  # what somebody said last may be what they said before that
            self._latest, touched = {}, dict.fromkeys(parts)
        for who, number in (pair for row in touched for pair in parts[row].latest.items()):
            self._latest[who] = max(number, self._latest.get(who, 0))

    def _replace(self, before: _Part, now: _Part) -> None:
        """Let what all say go on with what a row says now; what stays, stays in its place."""
        self._undone -= before.undone
        self._undone |= now.undone
        for number in before.told.keys() - now.told.keys():
            del self._told[number]
        for number in before.left_out.keys() - now.left_out.keys():
            del self._left_out[number]
        self._told |= now.told
        self._left_out |= now.left_out

    def _count(self, part: _Part, sign: int) -> None:
        """Add what a row says to what all say, or take it away again."""
        for event in part.state.words if part.state else ():
            (self._skips if event.kind == "skip" else self._answers)[event.who] += sign
        for pair, same in part.pairs:
            self._both[pair] += sign
            self._same[pair] += sign * same

    def ledger(self) -> Ledger:
        """What they say so far; later events do not change it."""
        told = sorted(self._told.items())
        return Ledger(
            last=self.last,
            answers_per_row=self._wanted,
            log=tuple(entry for _, entry in told),
            numbers=tuple(number for number, _ in told),
            rows={row: part.state for row, part in self._parts.items() if part.state},
            answers=dict(+self._answers),
            skips=dict(+self._skips),
            agreement={
                pair: Agreement(self._same[pair], both - self._same[pair])
                for pair, both in sorted((+self._both).items())
            },
            latest=dict(self._latest),
            undone=frozenset(self._undone),
            left_out=dict(sorted(self._left_out.items())),
        )


def undone_events(events: Iterable[tuple[int, int | None]]) -> set[int]:
    """The events that do not count, given each number and the number it takes back, if any."""
    undone: set[int] = set()
    # From the last to the first: whether an undo counts depends on later ones alone.
    for number, undoes in sorted(events, reverse=True):
        if undoes is not None and number not in undone:
            undone.add(undoes)
    return undone


@dataclass(frozen=True)
class _Part:
    """What the events about one row say; `told` and `left_out` are by the number of the event."""

    state: RowState | None  # None if nothing counts
    told: dict[int, Entry]
    undone: set[int]
    left_out: dict[int, str]
    latest: dict[str, int]
    pairs: list[tuple[Pair, bool]]  # who answered, two by two, and whether they said the same


_NOTHING = _Part(None, {}, set(), {}, {}, [])


def _part(row: int, events: Sequence[Event], wanted: int, spelling: Spelling) -> _Part:
    undone = undone_events((event.number, event.undoes) for event in events)
    spelled: dict[int, Hashable] = {}
    left_out: dict[int, str] = {}
    for event in events:
        if event.kind != "undo" and event.number not in undone:
            try:
                spelled[event.number] = spelling(event)
            except CPCleanError as problem:
                left_out[event.number] = str(problem)
    counting = [event for event in events if event.number in spelled]
    found = _Row(wanted, spelled)
    for event in counting:
        found.take(event)
    state = found.state(row) if counting else None
    told = counting if wanted == 1 else [one for one in [found.decided or found.skipped] if one]
    return _Part(
        state,
        {event.number: event.entry for event in told},
        undone,
        left_out,
        {event.who: event.number for event in counting},
        _pairs(state, spelled),
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
    spelled: Mapping[int, Hashable]  # what each event says
    words: dict[str, Event] = field(default_factory=dict)  # the last of each person
    votes: dict[str, Event] = field(default_factory=dict)  # those since the last correction
    corrected: Event | None = None

    def take(self, event: Event) -> None:
        if event.kind == "skip" and self._has_answered(event.who):
            return  # it unsays nothing
        for one in (self.words, self.votes):
            one.pop(event.who, None)  # so that who speaks again comes last
        self.words[event.who] = event
        if event.kind == "correction":
            self.corrected, self.votes = event, {}
        else:
            self.votes[event.who] = event

    @property
    def decided(self) -> Event | None:
        """The event by which as many people as needed had said the same, or the correction."""
        counts: Counter[Hashable] = Counter()
        found, agreed = self.corrected, None
        for event in self._answers():
            said = self.spelled[event.number]
            counts[said] += 1
            if counts[said] >= self.wanted and (agreed is None or said != agreed):
                found, agreed = event, said
        return found

    @property
    def skipped(self) -> Event | None:
        """The skip by which as many people as needed had skipped."""
        skips = [event for event in self.votes.values() if event.kind == "skip"]
        return skips[self.wanted - 1] if len(skips) >= self.wanted else None

    def state(self, row: int) -> RowState:
        counts = Counter(self.spelled[event.number] for event in self._answers())
        name, lacking = "waiting", self.wanted - max(counts.values(), default=0)
        if self.decided is not None:
            name, lacking = "settled", 0
        elif self.skipped is not None:
            name, lacking = "skipped", 0
        elif len(counts) > 1:
            name = "disputed"
        words = tuple(sorted(self.words.values(), key=lambda event: event.number))
        return RowState(row, name, words, self.decided, lacking)

    def _answers(self) -> list[Event]:
        return [event for event in self.votes.values() if event.kind != "skip"]

    def _has_answered(self, who: str) -> bool:
        return who in self.words and self.words[who].kind != "skip"


def common_length(one: Sequence[Any], other: Sequence[Any]) -> int:
    """How many entries two logs have in common from the start."""
    least = min(len(one), len(other))
    if list(one[:least]) == list(other[:least]):  # nearly always, and quick: they are the same
        return least
    return next(place for place in range(least) if one[place] != other[place])
