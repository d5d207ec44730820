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

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cpclean.errors import RefusedError
from cpclean.storage.events import Event
from cpclean.storage.row_states import (
    NOTHING,
    Entry,
    Pair,
    RowPart,
    RowState,
    Spelling,
    as_written,
    part_of,
)


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
    apart : frozenset of int
        The rows for which it matters who asks for a question.
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
    apart: frozenset[int] = frozenset()

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
        if not self.apart:  # the usual case, of thousands of rows
            return list(ranking)
        turns: tuple[list[int], list[int], list[int]] = ([], [], [])
        for row in ranking:
            found = self.rows[row] if row in self.apart else None
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
        if most == 1:
            return dict.fromkeys(ranking, 1)
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
        self._parts: dict[int, RowPart] = {}
        self._entries: dict[int, Entry] = {}
        self._undone: set[int] = set()
        self._left_out: dict[int, str] = {}
        self._rows: dict[int, RowState] = {}
        self._truths: dict[int, Event] = {}
        self._apart: set[int] = set()
        self._log: tuple[list[int], list[Entry]] | None = None  # in order; None if it is not known
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
            before = self._parts.get(row, NOTHING)
            now = self._parts[row] = part_of(row, self._events[row], self._wanted, self._spelling)
            self._replace(row, before, now)
            self._count(before, -1)
            self._count(now, 1)
        parts = self._parts
        if undone:  # somebody's latest event may now be an earlier one
            self._latest, touched = {}, dict.fromkeys(parts)
        for who, number in (pair for row in touched for pair in parts[row].latest.items()):
            self._latest[who] = max(number, self._latest.get(who, 0))

    def _replace(self, row: int, before: RowPart, now: RowPart) -> None:
        """Replace what a row contributes; what stays the same keeps its place."""
        self._log = _extended(self._log, before, now)
        _put(self._rows, row, now.state)
        _put(self._truths, row, now.truth)
        if now.state is not None and now.state.is_apart(self._wanted):
            self._apart.add(row)
        else:
            self._apart.discard(row)
        self._undone -= before.undone
        self._undone |= now.undone
        for number in before.entries.keys() - now.entries.keys():
            del self._entries[number]
        for number in before.left_out.keys() - now.left_out.keys():
            del self._left_out[number]
        self._entries |= now.entries
        self._left_out |= now.left_out

    def _count(self, part: RowPart, sign: int) -> None:
        """Add what a row contributes to the counts, or subtract it."""
        for event in part.state.words if part.state else ():
            (self._skips if event.kind == "skip" else self._answers)[event.who] += sign
        for pair, same in part.pairs:
            self._both[pair] += sign
            self._same[pair] += sign * same

    def ledger(self) -> Ledger:
        """What the events so far amount to; later events do not change it."""
        if self._log is None:
            entries = sorted(self._entries.items())
            self._log = [number for number, _ in entries], [entry for _, entry in entries]
        numbers, log = self._log
        return Ledger(
            last=self.last,
            answers_per_row=self._wanted,
            log=tuple(log),
            numbers=tuple(numbers),
            rows=dict(self._rows),
            answers=dict(+self._answers),
            skips=dict(+self._skips),
            agreement={
                pair: Agreement(self._same[pair], both - self._same[pair])
                for pair, both in sorted((+self._both).items())
            },
            latest=dict(self._latest),
            undone=frozenset(self._undone),
            left_out=dict(sorted(self._left_out.items())),
            truths=dict(self._truths),
            apart=frozenset(self._apart),
        )


def _put(found: dict[int, Any], row: int, one: Any) -> None:
    """Keep something about a row, or nothing if there is nothing."""
    if one is None:
        found.pop(row, None)
    else:
        found[row] = one


def _extended(
    log: tuple[list[int], list[Entry]] | None, before: RowPart, now: RowPart
) -> tuple[list[int], list[Entry]] | None:
    """The log with what a row has more than before; None if it is not all at the end."""
    if log is None:
        return None
    numbers, entries = log
    fresh = [number for number in now.entries if number not in before.entries]
    last = numbers[-1] if numbers else 0
    same = before.entries.keys() <= now.entries.keys()
    if not same or any(number <= last for number in fresh):
        return None
    for number in sorted(fresh):
        numbers.append(number)
        entries.append(now.entries[number])
    return log


def common_length(one: Sequence[Any], other: Sequence[Any]) -> int:
    """How many entries two logs have in common from the start."""
    least = min(len(one), len(other))
    if list(one[:least]) == list(other[:least]):  # nearly always, and quick to find out
        return least
    return next(place for place in range(least) if one[place] != other[place])
