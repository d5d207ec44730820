"""Files to take away: the table with what is known in it, and the log."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from io import StringIO
from typing import Any, Literal, get_args

import numpy as np

from cpclean.analysis.fill_words import fill_words
from cpclean.analysis.predictions import Predictions
from cpclean.analysis.words import shown
from cpclean.cleaning.known_cells import filled_cells, rough_cells
from cpclean.cleaning.session import CleaningSession
from cpclean.data.domains import DomainTable, plain_frame
from cpclean.data.row_order import places_in_frame
from cpclean.errors import CPCleanError
from cpclean.intake.cleaned import Original
from cpclean.intake.cleaned_files import KnownOfFiles, zipped
from cpclean.intake.file_lines import FileLines
from cpclean.intake.writing import as_pandas
from cpclean.projects.project import Project
from cpclean.storage.events import Event
from cpclean.storage.journal_lines import header
from cpclean.storage.ledger import Ledger
from cpclean.web.desk.engine import Now
from cpclean.web.desk.project_rows import ProjectRows, lines_of
from cpclean.web.desk.views import PredictionsView, PredictionView

TYPES = {
    ".csv": "text/csv",
    ".tsv": "text/tab-separated-values",
    ".json": "application/json",
    ".parquet": "application/vnd.apache.parquet",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
ZIP = "application/zip"
SUFFIXES = tuple(TYPES)
JSON_LINES = "application/x-ndjson"
Fill = Literal["default", "likely"]
FILLS: tuple[Fill, ...] = get_args(Fill)
_TEXTS = (".csv", ".tsv")


class ExportError(CPCleanError, ValueError):
    """A table cannot be written in the way that was asked for."""


def table_bytes(
    project: Project,
    session: CleaningSession,
    numbers: list[int],
    suffix: str,
    fill: str | None,
    spreadsheet: bool = False,
) -> bytes:
    """The table as it was given, with what is known in place of its holes.

    A project that was begun with a text file gives that file back, changed only in the cells that
    people answered. Any other table is written anew, with its values.

    Parameters
    ----------
    numbers : list of int
        Where each row of the project stands in the frame that was given.
    suffix : {".csv", ".tsv", ".json", ".parquet", ".xlsx"}
    fill : {"default", "likely"} or None
        Guess the other holes as `CleaningSession.world` does, and those of rows that are not in the
        project's table by the same rule without their label; None leaves them as they are.
    spreadsheet : bool
        Whether to escape cells of a text file that a spreadsheet would take for formulas.
    """
    if suffix not in SUFFIXES:
        raise ExportError(
            f"the format of a table must be one of {', '.join(SUFFIXES)}; got {suffix[:20]!r}."
        )
    if fill is not None and fill not in FILLS:
        raise ExportError(
            f"fill must be one of {', '.join(FILLS)}, or left out; got {fill[:20]!r}."
        )
    if project.files is not None:
        raise ExportError(
            "this table is in files that need not fit into memory: export them as .zip, with what "
            "is known, or the answers, which cpclean clean writes into files."
        )
    given = project.frame
    if given is None:
        original, numbers = Original(_with_holes(session, project)), _places(project)
    else:
        frame = as_pandas(plain_frame(given))
        original = Original(frame, project.text, isinstance(given, DomainTable))
    known = filled_cells(session, project.table, numbers, fill, given).cells
    made = original.cleaned(project.table, numbers, known, suffix)
    return made.for_spreadsheets(project.text, suffix) if spreadsheet else made.content


def as_file(name: str) -> dict[str, str]:
    """The headers of a response that is saved as a file."""
    return {
        "Content-Disposition": f'attachment; filename="{name}"',
        "Cache-Control": "no-store",
    }


def words_about_filled(
    project: Project, session: CleaningSession, numbers: list[int], fill: str = "likely"
) -> list[str]:
    """Where the values of the table without holes come from: how many holes of which rows."""
    if project.files is not None:
        return []
    given = project.frame
    rows = _places(project) if given is None else numbers
    filled = filled_cells(session, project.table, rows, fill, given)
    return fill_words(filled, fill, (project.settings.about or {}).get("prior"))


def archive_of_files(project: Project, session: CleaningSession) -> Iterator[bytes]:
    """The files of a project as a .zip archive, with what is known in place of holes, bit by bit.

    One file at a time is written anew before it is sent, so that neither memory nor disk has to
    hold all of them. Files that have changed are refused before anything is sent.
    """
    files = project.files
    if files is None:
        raise ExportError("this table came as one file: export it as .csv, .parquet or .xlsx.")
    files.check()
    names = project.task.row_names.tolist()
    rough = set(rough_cells(session, project.table))
    known = {
        names[row]: {name: one for name, one in values.items() if (row, name) not in rough}
        for row, values in session.known.items()
    }
    return zipped(KnownOfFiles.of(files, project.table.columns, known))


def type_of(suffix: str, content: bytes, project: Project) -> str:
    """The media type of what `table_bytes` gave: text is encoded as the file was, or UTF-8."""
    if suffix not in _TEXTS:
        return TYPES[suffix]
    text, charset = project.text, "utf-8"
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        charset = "utf-8" if text is None else text.encoding
    return f"{TYPES[suffix]}; charset={charset}"


def _with_holes(session: CleaningSession, project: Project) -> Any:
    """The table's own columns, in their order, as a pandas frame."""
    frame = as_pandas(session.world("default"))
    holes = project.table.holes[np.argsort(project.table.rows_kept)]
    for number, name in enumerate(project.table.names):
        frame[name] = frame[name].astype(object).mask(holes[:, number], None)
    return frame


def _places(project: Project) -> list[int]:
    """Where each row stands in a frame that the table makes."""
    places: list[int] = places_in_frame(project.table.rows_kept).tolist()
    return places


# -- predictions -----------------------------------------------------------------------------------


def predictions_of(project: Project, now: Now, rows: ProjectRows) -> PredictionsView:
    """Every row to predict with its label, share and verdict, as they are known now."""
    found = Predictions.of(now.view)
    labels = None if project.task.labels is None else project.task.labels.tolist()
    classes = [shown(one) for one in now.view.data.classes.tolist()]
    return PredictionsView(
        now.version,
        found.level,
        [
            PredictionView(
                int(name),
                classes[place],
                share,
                verdict,
                None if labels is None else shown(labels[point]),
                *rows.of_held_out(int(name)),
            )
            for point, (name, place, share, verdict) in enumerate(
                zip(
                    project.task.point_names.tolist(),
                    found.shares.argmax(axis=1).tolist(),
                    found.winners.tolist(),
                    found.verdicts.tolist(),
                    strict=True,
                )
            )
        ],
    )


def predictions_text(found: PredictionsView) -> str:
    """The same as the text of a CSV file."""
    into = StringIO()
    names = ["row", "prediction", "share", "verdict"]
    if any(one.line is not None for one in found.predictions):
        names.insert(1, "line")
    if any(one.label is not None for one in found.predictions):
        names.append("label")
    writer = csv.writer(into, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([getattr(one, name) for name in names] for one in found.predictions)
    return into.getvalue()


# -- the log ---------------------------------------------------------------------------------------


def log_text(project: Project, ledger: Ledger, events: list[Event]) -> str:
    """The answers that count, as JSON lines: a file of answers as `cpclean clean` saves it.

    A session in a terminal comes to the same state with them. What was undone is left out; of equal
    answers about a row, the first is there; where several people must agree, what they agree on.
    """
    lines: list[Any] = [header(project.journal_belongs)]
    known = lines_of(project)
    for place in project.news(ledger.log):
        event = events[ledger.numbers[place] - 1]
        lines.append({**ledger.log[place], **_remarks(event), **_in_file(project, known, event)})
    return _lines(lines)


def events_text(project: Project, events: Iterable[Event]) -> str:
    """Every event, also those that were undone, as JSON lines."""
    found, known = [], lines_of(project)
    for event in events:
        one: dict[str, Any] = {"number": event.number, "kind": event.kind, "row": event.row}
        if event.kind == "undo":
            one["undoes"] = event.undoes
        elif event.candidate is not None:
            one["candidate"] = event.candidate
        elif event.value is not None:
            one["value"] = event.value
        remarks = {**_remarks(event), **_in_file(project, known, event)}
        found.append({**one, **remarks, "request_id": event.request_id})
    return _lines(found)


def _remarks(event: Event) -> dict[str, Any]:
    said = {"who": event.who, "at": event.at.isoformat(), "seconds": event.seconds}
    return {**said, **(event.note or {})}


def _in_file(project: Project, lines: FileLines, event: Event) -> dict[str, Any]:
    """The number of the row and its line for people, as a terminal writes them, too."""
    return lines.remark(int(project.task.row_names[event.row]))


def _lines(found: Iterable[Any]) -> str:
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in found)
