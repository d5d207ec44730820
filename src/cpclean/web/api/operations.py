"""The calls of the API: each with what it takes, what it gives, and what it does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

from starlette.responses import Response

from cpclean.errors import StorageError
from cpclean.web.api.labelstudio import CONFIG, take_annotations, tasks_of
from cpclean.web.api.messages import (
    Answer,
    Asked,
    ExportQuery,
    Imported,
    Nothing,
    QuestionQuery,
    RowsQuery,
    Skip,
    Taken,
    Tasks,
    Undo,
)
from cpclean.web.desk.desk import Desk
from cpclean.web.desk.exporting import JSON_LINES, TYPES, type_of
from cpclean.web.desk.listing import RowsWanted
from cpclean.web.desk.views import AnsweredView, ProgressView, RowsView, as_json

JSON, XML = "application/json", "application/xml"


@dataclass(frozen=True)
class Operation:
    """One call.

    Attributes
    ----------
    name : str
        Its address below /api/.
    summary : str
    takes : type
        Of the query, or of the body if it saves something.
    gives : type, or tuple of media types for a file
    errors : tuple of int
        Statuses besides those that every call may have.
    work : function (desk, message) -> response, or what is to be sent as JSON
    """

    name: str
    summary: str
    takes: Any
    gives: Any
    errors: tuple[int, ...]
    work: Callable[[Desk, Any], Any]
    saves: bool = False


def question(desk: Desk, asked: QuestionQuery) -> Asked:
    """The best question that is free, or the one about a row."""
    return _asked(desk, asked.who, asked.row)


def _asked(desk: Desk, who: str, row: int | None = None) -> Asked:
    found = desk.question(who, row)
    return Asked(found, desk.stopped is not None, desk.stopped, desk.busy)


def answer(desk: Desk, sent: Answer) -> Taken:
    """Save an answer; with `next`, give the next question too."""
    saved = desk.answer(
        sent.who,
        sent.row,
        sent.candidate,
        sent.values,
        sent.request_id,
        sent.seconds,
        bool(sent.correct),
    )
    return _taken(desk, sent, saved)


def skip(desk: Desk, sent: Skip) -> Taken:
    """Save that somebody does not know."""
    return _taken(desk, sent, desk.skip(sent.who, sent.row, sent.request_id, sent.seconds))


def _taken(desk: Desk, sent: Skip, saved: AnsweredView) -> Taken:
    plain = saved.event_number, saved.kind, saved.row
    if not sent.next:
        return Taken(*plain)
    try:
        return Taken(*plain, _asked(desk, sent.who))
    except StorageError:  # the answer is saved; the next question can be asked for separately
        return Taken(*plain, None)


def undo(desk: Desk, sent: Undo) -> AnsweredView:
    """Undo what somebody answered last."""
    return desk.undo(sent.who, sent.request_id)


def progress(desk: Desk, asked: Nothing) -> ProgressView:
    """How far it is."""
    return desk.progress()


def rows(desk: Desk, asked: RowsQuery) -> RowsView:
    """A page of all rows with holes."""
    wanted = {one.name: getattr(asked, one.name) for one in fields(RowsWanted)}
    return desk.rows(RowsWanted(**wanted), asked.who)


def export(desk: Desk, asked: ExportQuery) -> Response:
    """The table, the log, or questions for Label Studio."""
    if asked.what == "table":
        suffix = f".{asked.format.removeprefix('.')}"
        content = desk.export_table(suffix, asked.fill)
        return _file(content, type_of(suffix, content, desk.project), f"cleaned{suffix}")
    if asked.what == "labelstudio":
        return Response(as_json(tasks_of(desk, asked.limit)), media_type=JSON)
    if asked.what == "labelstudio-config":
        return _file(CONFIG.encode(), XML, "label-studio.xml")
    text = desk.export_log(asked.what == "events").encode()
    return _file(text, JSON_LINES, "events.jsonl" if asked.what == "events" else "answers.jsonl")


def _file(content: bytes, kind: str, name: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return Response(content, media_type=kind, headers=headers)


OPERATIONS = (
    Operation(
        "question", "The best question that nobody else holds", QuestionQuery, Asked,
        (404, 409, 422), question,
    ),
    Operation(
        "answer", "Save an answer: the number of a candidate, or values", Answer, Taken,
        (404, 409, 413, 422, 507), answer, saves=True,
    ),
    Operation(
        "skip", "Save that somebody does not know", Skip, Taken, (404, 409, 413, 422, 507), skip,
        saves=True,
    ),
    Operation(
        "undo", "Undo what somebody answered last", Undo, AnsweredView, (409, 413, 422, 507), undo,
        saves=True,
    ),
    Operation("progress", "How far it is", Nothing, ProgressView, (409,), progress),
    Operation("rows", "All rows with holes, a page of them", RowsQuery, RowsView, (409, 422), rows),
    Operation(
        "export", "The table, the log, or tasks for Label Studio", ExportQuery,
        (*TYPES.values(), JSON_LINES, XML), (409, 422), export,
    ),
    Operation(
        "labelstudio", "Save annotations from the JSON export of Label Studio", Tasks, Imported,
        (409, 413, 422, 507), take_annotations, saves=True,
    ),
)  # fmt: skip
