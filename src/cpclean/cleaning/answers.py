"""Answers about rows: a log of plain values, and what is known after it.

An entry of the log is a dict that can be saved as JSON, with the row and one more key:
{"row": 3, "candidate": 1}, {"row": 3, "value": {"age": 41.0}} or {"row": 3, "skip": True}. A rough
value is {"age": {"between": [40.0, None]}}. The entry {"refit": True} is about no row: the space
was learnt anew from what was known then.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from cpclean.cleaning.board import Board, Change
from cpclean.cleaning.known import Known
from cpclean.cleaning.subject import Subject
from cpclean.data.rows import emptied
from cpclean.errors import AnswerError, CPCleanError

Entry = dict[str, Any]

_KINDS = {"candidate", "value", "skip"}


def said(subject: Subject, row: int, candidate: Any, value: Any) -> tuple[Known, Entry]:
    """What is known from an answer, and its entry in the log."""
    if (candidate is None) == (value is None):
        got = "neither" if value is None else "both"
        raise AnswerError(
            f"an answer about row {row} must be the number of a candidate or a value, one of the "
            f"two; got {got}."
        )
    if candidate is not None:
        return subject.chosen(row, candidate), {"row": row, "candidate": int(candidate)}
    plain = subject.plain(subject.said(row, value))
    # What is known comes from the entry itself, so that replaying it from a file gives the same.
    return subject.said(row, plain), {"row": row, "value": plain}


def with_earlier(subject: Subject, row: int, before: Known | None, now: Known) -> Known:
    """What is known about a row after one more answer; ranges that exclude all are refused."""
    found = now if before is None else before.and_(now)
    if found.ranges and (empty := emptied(subject.data.stored_row(row), found.ranges)):
        ends = ", ".join(f"{column!r}: {one}" for column, one in found.rough.items())
        raise AnswerError(
            f"no candidate of row {row} lies in the ranges that were answered, {ends}. Give the "
            f"value itself if it is known, or another range.",
            rows=(row,),
            column=next(iter(found.rough)) if len(empty) == 1 else None,
        )
    return found


def roughly_after(
    roughly: frozenset[int], subject: Subject, row: int, known: Known | None
) -> frozenset[int]:
    """The rows that are known only roughly, after news about one row."""
    if is_rough(subject, row, known) == (row in roughly):
        return roughly
    return roughly ^ {row}


def is_rough(subject: Subject, row: int, known: Known | None) -> bool:
    """Whether all cells of a row are known, but not all of them exactly."""
    if known is None or not known.ranges:
        return False
    narrowing = known.narrowing
    return all(start in narrowing for start, _ in subject.cells(row).values())


def replayed(subject: Subject, log: Iterable[Entry]) -> tuple[dict[int, Known], frozenset[int]]:
    """What is known about each row after a log, and which rows are skipped."""
    known, skipped, _ = _told(subject, log)
    return known, frozenset(skipped)


def news(subject: Subject, log: Iterable[Entry]) -> list[int]:
    """The places of the entries that change something; a session has only these in its log."""
    return _told(subject, log)[2]


def _told(subject: Subject, log: Iterable[Entry]) -> tuple[dict[int, Known], set[int], list[int]]:
    known: dict[int, Known] = {}
    skipped: set[int] = set()
    new = []
    learnt = dict(known)  # what the space was learnt from last
    for number, entry in enumerate(log):
        try:
            if "refit" in entry:
                subject.check_refit()
                if learnt != known:
                    new.append(number)
                learnt = dict(known)
                continue
            row = subject.data.row_number(entry["row"])
            if "skip" in entry:
                if row not in skipped:
                    new.append(number)
                skipped.add(row)
                continue
            now, _ = said(subject, row, entry.get("candidate"), entry.get("value"))
            now = with_earlier(subject, row, known.get(row), now)
        except CPCleanError as problem:
            raise type(problem)(f"answer {number}: {problem}") from problem
        if known.get(row) != now or row in skipped:
            new.append(number)
        known[row] = now
        skipped.discard(row)
    return known, skipped, new


def checked_log(answers: Any) -> list[Entry]:
    """The entries of a log from a user, each with a row and one more key, or a refit."""
    if isinstance(answers, str | bytes | Mapping) or not hasattr(answers, "__iter__"):
        raise AnswerError(
            "answers must be a list of dicts, such as session.answers; got "
            f"{type(answers).__name__}."
        )
    entries = list(answers)
    for number, entry in enumerate(entries):
        if isinstance(entry, Mapping) and "row" not in entry and entry.get("refit") is True:
            continue
        usable = isinstance(entry, Mapping) and "row" in entry and len(entry.keys() & _KINDS) == 1
        if not usable or ("skip" in entry and entry["skip"] is not True):
            raise AnswerError(
                f'answer {number} must be a dict with "row" and one of "candidate", "value" and '
                f'"skip": True, or {{"refit": True}}; got {entry!r}.'
            )
    return entries


def repeat(session: Any, entries: Iterable[Entry]) -> None:
    """Let a session take over checked entries of a log, in their order."""
    for entry in entries:
        if "refit" in entry:
            session.refit()
        elif "skip" in entry:
            session.skip(entry["row"])
        else:
            session.tell(entry["row"], entry.get("candidate"), value=entry.get("value"))


def put(board: Board, subject: Subject, row: int, known: Known | None) -> Change:
    """Update a board with what is known about a row; None if nothing is."""
    if known is None or not known.narrowing:
        return board.change(row, None, candidate=0)
    return board.change(row, known.narrowing, known.candidate)
