"""The audit: what was answered cell by cell, by whom and when, and how exactly it is known."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from typing import Any

from cpclean.data.between import Between
from cpclean.data.columns import OTHER
from cpclean.data.nulls import is_null
from cpclean.data.rough_ranges import range_around
from cpclean.data.values import categories_of, mark_text
from cpclean.intake.spreadsheets import without_formulas
from cpclean.projects.project import Project
from cpclean.storage.events import Event
from cpclean.storage.ledger import Ledger
from cpclean.web.desk.cell_views import text_of
from cpclean.web.desk.file_cells import FileCells
from cpclean.web.desk.gold import QualityView, qualities, verdicts
from cpclean.web.desk.project_rows import ProjectRows

EXACT, ROUGH, UNKNOWN, COMMENT = "exact", "rough", "unknown", "comment"
NAMES = (
    "row", "line", "column", "old_value", "new_value", "low", "high", "known", "counts", "kind",
    "who", "at", "seconds", "reason", "handed_to", "unusual", "comment", "gold", "event",
)  # fmt: skip


def audit_text(
    project: Project,
    rows: ProjectRows,
    ledger: Ledger,
    events: Sequence[Event],
    spreadsheet: bool = False,
) -> str:
    """All events as the text of a CSV file, with one line for each cell that they are about.

    ``row`` is the number of the row in the file, from 0 below the header, and ``line`` its line
    there: what is known joins the file by either of them and the column. Values are written as the
    file writes them, the old one as it stands there. Events that were undone or corrected are in
    it, too; ``counts`` says whether what a line says holds now. Of answers to gold questions, which
    never count, ``gold`` says whether they are right.
    """
    into = StringIO()
    writer = csv.DictWriter(into, NAMES, lineterminator="\n")
    writer.writeheader()
    current: dict[tuple[int, str], int] = {}
    lines = list(_lines(project, rows, ledger, events))
    for line in lines:
        if line["event"] in ledger.numbers and line["known"] != COMMENT:
            current[line["row"], line["column"]] = line["event"]
    for line in lines:
        here = current.get((line["row"], line["column"])) == line["event"]
        line["counts"] = "yes" if here else "no"
        if line["known"] == COMMENT:
            line["counts"] = ""
        if spreadsheet:
            line = {name: without_formulas(value) for name, value in line.items()}
        writer.writerow(line)
    return into.getvalue()


def _lines(
    project: Project, rows: ProjectRows, ledger: Ledger, events: Sequence[Event]
) -> Iterator[dict[str, Any]]:
    worth = gold_verdicts(project, rows, ledger, events)
    file = FileCells(project)
    for event in events:
        if event.kind == "undo":
            continue
        note = event.note or {}
        said = said_of(project, rows, event)
        for column, value in said.items():
            low, high, new, known = _known(project, file, column, value)
            yield {
                "row": rows.numbers[event.row],
                "line": rows.line(event.row),
                "column": column,
                "old_value": _old(rows, file, event.row, column),
                "new_value": new,
                "low": low,
                "high": high,
                "known": COMMENT if event.kind == "comment" else known,
                "kind": "undone" if event.number in ledger.undone else event.kind,
                "who": event.who,
                "at": event.at.isoformat(),
                "seconds": event.seconds,
                "reason": note.get("reason", ""),
                "handed_to": note.get("to", ""),
                "unusual": "yes" if column in note.get("unusual", ()) else "",
                "comment": event.comment,
                "gold": worth.get(event.number, ""),
                "event": event.number,
            }


def said_of(project: Project, rows: ProjectRows, event: Event) -> dict[str, Any]:
    """What an event says about each cell; None where it says that nobody knows."""
    if event.kind == "comment":
        return {"": None}
    holes = rows.holes(event.row)
    if event.kind == "skip":
        return dict.fromkeys(event.skipped_columns or holes)
    if event.candidate is not None:
        given = project.table.candidate(event.row, event.candidate)
        return {
            name: range_around(project.table, event.row, name, given[name]) or given[name]
            for name in holes
        }
    return {name: Between.of(one) or one for name, one in (event.value or {}).items()}


def gold_verdicts(
    project: Project, rows: ProjectRows, ledger: Ledger, events: Sequence[Event]
) -> dict[int, str]:
    """What each answer to a gold question is worth, by the number of its event."""
    if not ledger.truths:
        return {}
    kinds = ("answer", "skip", "truth")
    about = [one for one in events if one.row in ledger.truths and one.kind in kinds]
    said = {one.number: said_of(project, rows, one) for one in about}
    for one in about:  # who says that a category is not listed may be right, too
        truth = said[ledger.truths[one.row].number]
        for column, value in said[one.number].items():
            if one.kind == "answer" and _is_unlisted(project, column, value):
                listed = truth.get(column) in _categories(project, column)
                said[one.number][column] = value if listed else Between()
    return verdicts(ledger, about, said)


def quality_of(
    project: Project,
    rows: ProjectRows,
    ledger: Ledger,
    events: Sequence[Event],
) -> list[QualityView]:
    """How well each person answers gold questions."""
    worth = gold_verdicts(project, rows, ledger, events)
    return qualities(ledger, worth, sorted({*ledger.answers, *ledger.skips}))


def quality_text(found: Iterable[QualityView], spreadsheet: bool = False) -> str:
    """The same as the text of a CSV file."""
    into = StringIO()
    names = (
        "name", "gold_questions", "right", "roughly_right", "wrong", "unknown", "share_right",
        "low", "high",
    )  # fmt: skip
    writer = csv.writer(into, lineterminator="\n")
    writer.writerow(names)
    for one in found:
        shares = [
            None if each is None else f"{each:.4f}" for each in (one.share, one.low, one.high)
        ]
        name = without_formulas(one.name) if spreadsheet else one.name
        counts = (one.right, one.roughly_right, one.wrong, one.unknown)
        writer.writerow([name, one.answers + one.unknown, *counts, *shares])
    return into.getvalue()


def _categories(project: Project, column: str) -> list[Any]:
    table = project.table
    own = table.columns[table.names.index(column)]
    return list(own.frequencies) if own.kind == "categorical" else []


def _is_unlisted(project: Project, column: str, value: Any) -> bool:
    """Whether an answer says that a category is none of those that are listed."""
    table = project.table
    if column not in table.names:
        return False
    own = table.columns[table.names.index(column)]
    return own.kind == "categorical" and value in (
        OTHER,
        mark_text(OTHER, categories_of(own, None)),
    )


def _known(project: Project, file: FileCells, column: str, value: Any) -> tuple[Any, Any, Any, str]:
    """The ends of a range, the new value, and how exactly it is known."""
    if value is None:
        return None, None, None, UNKNOWN
    if isinstance(value, Between):
        return file.spelt(column, value.low), file.spelt(column, value.high), None, ROUGH
    if _is_unlisted(project, column, value):
        return None, None, None, ROUGH
    return None, None, file.spelt(column, value), EXACT


def _old(rows: ProjectRows, file: FileCells, row: int, column: str) -> Any:
    """What stood in the file: nothing, a text that means it, or a value that was doubted."""
    if (text := file.text(rows.numbers[row], column)) is not None:
        return text
    value = rows.cells(row).get(column)
    return None if value is None or is_null(value) else text_of(value)


def words_about_known(n_exact: int, n_rough: int, n_unknown: int) -> str:
    """How many cells are known how well, for the page.

    >>> words_about_known(12, 1, 0)
    '12 holes are filled with exact answers. 1 is known only roughly: it stays empty.'
    """
    exact = f"{n_exact:,} {'hole is' if n_exact == 1 else 'holes are'} filled with exact answers."
    parts = [
        f"{number:,} {'is' if number == 1 else 'are'} {word}"
        for number, word in ((n_rough, "known only roughly"), (n_unknown, "unknown"))
        if number
    ]
    if not parts:
        return exact
    more = n_rough + n_unknown > 1
    return f"{exact} {' and '.join(parts)}: {'they stay' if more else 'it stays'} empty."
