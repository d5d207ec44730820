"""Answers: what people say about rows, as a log of plain values, and what is known after it.

An entry of the log is a dict with the row and one thing more, such as JSON can hold:
{"row": 3, "candidate": 1}, {"row": 3, "value": {"age": 41.0}} or {"row": 3, "skip": True}.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from cpclean.cleaning.board import Board, Change
from cpclean.cleaning.subject import Known, Subject
from cpclean.errors import AnswerError

Entry = dict[str, Any]


def said(subject: Subject, row: int, candidate: Any, value: Any) -> tuple[Known, Entry]:
    """What an answer says, and its entry in the log."""
    if (candidate is None) == (value is None):
        raise AnswerError(
            f"tell takes the number of a candidate of row {row} or its value: one of the two."
        )
    if candidate is not None:
        return subject.chosen(row, candidate), {"row": row, "candidate": int(candidate)}
    return subject.said(row, value), {"row": row, "value": subject.plain(value)}


def replayed(subject: Subject, log: Iterable[Any]) -> tuple[dict[int, Known], dict[int, None]]:
    """What is known of each row after a log, and which rows are skipped."""
    known: dict[int, Known] = {}
    skipped: dict[int, None] = {}
    for number, entry in enumerate(log):
        row, candidate, value, skip = checked_entry(entry, number)
        row = subject.data._row_number(row)
        if skip:
            skipped[row] = None
            continue
        now, _ = said(subject, row, candidate, value)
        known[row] = known[row].and_(now) if row in known else now
        skipped.pop(row, None)
    return known, skipped


def checked_entry(entry: Any, number: int) -> tuple[Any, Any, Any, bool]:
    """Row, candidate, value and skip of an entry of a log."""
    kinds = {"candidate", "value", "skip"}
    if not isinstance(entry, Mapping) or "row" not in entry or len(entry.keys() & kinds) != 1:
        raise AnswerError(
            f"answer {number} must be a dict with row, and candidate, value or skip; got {entry!r}."
        )
    return entry["row"], entry.get("candidate"), entry.get("value"), "skip" in entry


def put(board: Board, subject: Subject, row: int, known: Known | None) -> Change:
    """Let a board go on with what is known of a row; None if nothing is."""
    if known is None or not known.features:
        return board.change(row, board.data.unpin(row), candidate=0)
    return board.change(row, board.data.given(row, known.features), known.candidate)
