"""The ledger: what the events of a log amount to.

A pure function of the events, so that all processes that have read the same log come to the same
result; whoever follows a log uses a `Book`, which gives that result step by step.

1. An undo takes back the event that it names. An undo can be undone: then it has no effect. An
   event counts unless an undo that counts itself names it.
2. With one answer per row, the session gets all events that count, in their order: a later answer
   about a row adds to earlier ones or corrects them, as in `CleaningSession.tell`.
3. With n answers per row, a row is settled as soon as n people have given the same answer. Until
   then it is waiting; if two people have answered differently, it is disputed, and somebody else
   has to be asked. The last answer of each person counts; a skip does not take back an earlier
   answer. A row is skipped when n people have skipped it.
4. An answer that is not possible for the table (some program appended it without asking the project
   first) does not count; `left_out` says why. Everything else goes on.
5. A comment changes nothing. A skip that hands the row over to somebody does not count as one until
   that person has answered or skipped the row: they are asked about it first, others last, and
   whoever handed it over not at all.
6. A skip that is about some columns only does not count for the row, because others are asked about
   the rest; whoever skipped is not asked about it again.
7. A truth is told to the session in place of all answers about its row. What people answer about it
   (a gold question) is compared with the truth and changes nothing.
8. A correction settles its row at once, whatever came before it: whoever corrects has seen that. It
   holds until another correction comes, or n people give the same answer after it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from cpclean.errors import CPCleanError, RefusedError
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

    @property
    def partly_skipped(self) -> dict[str, tuple[str, ...]]:
        """Who does not know some columns of the row, while others are asked about the rest."""
        return {one.who: one.skipped_columns for one in self.words if one.skipped_columns}


@dataclass(frozen=True)
class Agreement:
    """How often two people gave the same answer, or not, about rows that both answered."""

    same: int
    different: int


@dataclass(frozen=True)
class Ledger:
    """What a log amounts to.

    Attributes
    ----------
    last : int
        The number of the last event taken into account.
    log : tuple of dict
        The entries for `CleaningSession.replay`.
    numbers : tuple of int
        The event behind each entry of `log`.
    rows : dict from row to RowState
        Every row with events that count.
    answers : dict from name to int
        Rows that each person has answered or corrected, including those not settled yet.
    skips : dict from name to int
        Rows that each person has skipped.
    agreement : dict from pair of names, in order, to Agreement
    latest : dict from name to int
        The last event of each person that counts and is not an undo: what their next undo takes
        back.
    undone : frozenset of int
        Events that do not count, including undos that were undone.
    left_out : dict from int to str
        Events that are not possible for the table, and what is wrong with them.
    truths : dict from row to Event
        The gold questions, and what is true about them.
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
    truths: Mapping[int, Event] = field(default_factory=dict)

    @property
    def waiting(self) -> list[int]:
        """Rows that wait for more people, in order; not the disputed ones."""
        return self._in_state("waiting")

    @property
    def disputed(self) -> list[int]:
        """Rows that people have answered differently: somebody else has to be asked."""
        return self._in_state("disputed")

    @property
    def settled(self) -> list[int]:
        return self._in_state("settled")

    def ranking_for(self, who: str, ranking: Iterable[int]) -> list[int]:
        """The rows of a ranking that this person may be asked about, in the same order.

        Where several people have to agree, nobody is asked about a row twice; nor is whoever
        skipped some columns of it. Settled rows stay in:
        the session decides whether there is more to ask about them. Rows that were handed over to
        this person come first, those that were handed over to others last.
        """
        turns: tuple[list[int], list[int], list[int]] = ([], [], [])
        for row in ranking:
            found = self.rows.get(row)
            if found is None:
                turns[1].append(row)
            elif found.handed_to is not None:
                if found.handed_to == who or who not in found.people:
                    turns[0 if found.handed_to == who else 2].append(row)
            elif who not in found.partly_skipped and (
                found.state == "settled" or self.answers_per_row == 1 or who not in found.people
            ):
                turns[1].append(row)
        return [*turns[0], *turns[1], *turns[2]]

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
    """What a whole log amounts to.

    Parameters
    ----------
    events : iterable of Event
        All events from the first on, in order.
    answers_per_row : int
        How many people have to give the same answer about a row.
    spelling : function from Event to hashable, optional
        Equal for answers that mean the same; `Project.spelling` knows that a candidate and its
        values are the same, and raises an error for answers that are not possible. By default,
        answers have to be written alike.

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
    """A ledger that grows with its events: adding one costs as much as its row has events.

    Rows are independent of each other, undos included, so that new events about a row change only
    what is known about that row.

    Parameters
    ----------
    answers_per_row, spelling
        As for `ledger_of`.
    """

    def __init__(self, answers_per_row: int = 1, spelling: Spelling = as_written) -> None:
        self._wanted, self._spelling = answers_per_row, spelling
        self.last = 0  # the number of the last event that was added
        self._events: dict[int, list[Event]] = {}
        self._parts: dict[int, _Part] = {}
        self._entries: dict[int, Entry] = {}
        self._undone: set[int] = set()
        self._left_out: dict[int, str] = {}
        self._latest: dict[str, int] = {}
        self._answers: Counter[str] = Counter()
        self._skips: Counter[str] = Counter()
        self._same: Counter[Pair] = Counter()
        self._both: Counter[Pair] = Counter()

    def add(self, events: Iterable[Event]) -> None:
        """Add the next events, in order."""
        touched: dict[int, None] = {}
        undone = False
        for event in events:
            if event.number != self.last + 1:
                raise RefusedError(
                    "a ledger needs all events from the first one on, each once and in order."
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
        if undone:  # somebody's latest event may now be an earlier one
            self._latest, touched = {}, dict.fromkeys(parts)
        for who, number in (pair for row in touched for pair in parts[row].latest.items()):
            self._latest[who] = max(number, self._latest.get(who, 0))

    def _replace(self, before: _Part, now: _Part) -> None:
        """Replace what a row contributes; what stays the same keeps its place."""
        self._undone -= before.undone
        self._undone |= now.undone
        for number in before.entries.keys() - now.entries.keys():
            del self._entries[number]
        for number in before.left_out.keys() - now.left_out.keys():
            del self._left_out[number]
        self._entries |= now.entries
        self._left_out |= now.left_out

    def _count(self, part: _Part, sign: int) -> None:
        """Add what a row contributes to the counts, or subtract it."""
        for event in part.state.words if part.state else ():
            (self._skips if event.kind == "skip" else self._answers)[event.who] += sign
        for pair, same in part.pairs:
            self._both[pair] += sign
            self._same[pair] += sign * same

    def ledger(self) -> Ledger:
        """What the events so far amount to; later events do not change it."""
        entries = sorted(self._entries.items())
        return Ledger(
            last=self.last,
            answers_per_row=self._wanted,
            log=tuple(entry for _, entry in entries),
            numbers=tuple(number for number, _ in entries),
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
            truths={row: part.truth for row, part in self._parts.items() if part.truth},
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
    """What the events about one row amount to; dicts are by the number of the event."""

    state: RowState | None  # None if nothing counts
    entries: dict[int, Entry]
    undone: set[int]
    left_out: dict[int, str]
    latest: dict[str, int]
    pairs: list[tuple[Pair, bool]]  # who answered, two by two; whether they agree
    truth: Event | None = None


_NOTHING = _Part(None, {}, set(), {}, {}, [])


def _part(row: int, events: Sequence[Event], wanted: int, spelling: Spelling) -> _Part:
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
    return _Part(
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


def common_length(one: Sequence[Any], other: Sequence[Any]) -> int:
    """How many entries two logs have in common from the start."""
    least = min(len(one), len(other))
    if list(one[:least]) == list(other[:least]):  # nearly always, and quick to find out
        return least
    return next(place for place in range(least) if one[place] != other[place])
