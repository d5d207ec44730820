"""The calls of the API: each a function of the desk and of one message."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, get_type_hints

from starlette.responses import Response, StreamingResponse

from cpclean.errors import StorageError
from cpclean.web.api import messages
from cpclean.web.api.labelstudio import CONFIG, take_annotations, tasks_of
from cpclean.web.api.messages import Asked, Imported, Taken
from cpclean.web.desk.desk import Desk
from cpclean.web.desk.exporting import JSON_LINES, TYPES, ZIP, as_file, type_of
from cpclean.web.desk.listing import RowsWanted
from cpclean.web.desk.views import AnsweredView, PredictionsView, ProgressView, RowsView, as_json

JSON, XML = "application/json", "application/xml"
FILES = (*TYPES.values(), ZIP, JSON_LINES, XML)  # what a call that returns a Response may give

Work = Callable[[Desk, Any], Any]


@dataclass(frozen=True)
class Operation:
    """One call: a function, and what its annotations and its docstring say.

    Attributes
    ----------
    name : str
        Its address below /api/.
    takes, gives : type
        Of the message, and of what is sent back as JSON; `Response` for a file.
    saves : bool
        Whether it saves something: the message is then a body, not a query.
    errors : tuple of int
        Statuses besides those that every call may have.
    """

    work: Work
    name: str
    summary: str
    takes: Any
    gives: Any
    saves: bool
    errors: tuple[int, ...]


OPERATIONS: list[Operation] = []


def operation(*errors: int, saves: bool = False) -> Callable[[Work], Work]:
    """Make a function a call of the API."""

    def added(work: Work) -> Work:
        hints, summary = get_type_hints(work, include_extras=True), (work.__doc__ or "").rstrip(".")
        _, takes, gives = hints.values()
        OPERATIONS.append(Operation(work, work.__name__, summary, takes, gives, saves, errors))
        return work

    return added


@operation(404, 409, 422)
def question(desk: Desk, asked: messages.QuestionQuery) -> Asked:
    """The best question that nobody else holds, or the one about a row."""
    return _asked(desk, asked.who, asked.row)


def _asked(desk: Desk, who: str, row: int | None = None) -> Asked:
    found = desk.question(who, row)
    return Asked(found, desk.stopped is not None, desk.stopped, desk.busy)


@operation(404, 409, 413, 422, 507, saves=True)
def answer(desk: Desk, sent: messages.Answer) -> Taken:
    """Save an answer: the number of a candidate, or values."""
    saved = desk.answer(
        sent.who, sent.row, sent.candidate, sent.values, sent.request_id, sent.seconds,
        bool(sent.correct), sent.comment or "", sent.seen,
    )  # fmt: skip
    return _taken(desk, sent, saved)


@operation(404, 409, 413, 422, 507, saves=True)
def skip(desk: Desk, sent: messages.Skip) -> Taken:
    """Save that somebody does not know."""
    saved = desk.skip(
        sent.who, sent.row, sent.request_id, sent.seconds,
        reason=sent.reason or "", to=sent.to or "", comment=sent.comment or "",
    )  # fmt: skip
    return _taken(desk, sent, saved)


@operation(404, 409, 413, 422, 507, saves=True)
def comment(desk: Desk, sent: messages.Comment) -> AnsweredView:
    """Save a comment on a row."""
    return desk.comment(sent.who, sent.row, sent.comment, sent.request_id)


def _taken(desk: Desk, sent: messages.Said, saved: AnsweredView) -> Taken:
    plain = saved.event_number, saved.kind, saved.row, saved.unusual
    if not sent.next:
        return Taken(*plain)
    try:
        return Taken(*plain, _asked(desk, sent.who))
    except StorageError:  # the answer is saved; the next question can be asked for separately
        return Taken(*plain, None)


@operation(409, 413, 422, 507, saves=True)
def undo(desk: Desk, sent: messages.Undo) -> AnsweredView:
    """Undo what somebody answered or skipped last."""
    return desk.undo(sent.who, sent.request_id)


@operation(409)
def progress(desk: Desk, asked: messages.Nothing) -> ProgressView:
    """How far it is."""
    return desk.progress()


@operation(409)
def predictions(desk: Desk, asked: messages.Nothing) -> PredictionsView:
    """Every row to predict: its label, share and verdict."""
    return desk.predictions()


@operation(409, 422)
def rows(desk: Desk, asked: messages.RowsQuery) -> RowsView:
    """All rows with holes, a page of them."""
    wanted = {one.name: getattr(asked, one.name) for one in fields(RowsWanted)}
    return desk.rows(RowsWanted(**wanted), asked.who)


@operation(409, 422)
def export(desk: Desk, asked: messages.ExportQuery) -> Response:
    """The table, the log, or tasks for Label Studio."""
    if asked.what == "table" and asked.format.removeprefix(".") == "zip":
        return StreamingResponse(
            desk.export_files(), media_type=ZIP, headers=as_file("cleaned.zip")
        )
    if asked.what == "table":
        suffix = f".{asked.format.removeprefix('.')}"
        content = desk.export_table(suffix, asked.fill, asked.spreadsheet)
        return _file(content, type_of(suffix, content, desk.project), f"cleaned{suffix}")
    if asked.what == "audit":
        return _file(desk.export_audit(asked.spreadsheet).encode(), TYPES[".csv"], "audit.csv")
    if asked.what == "labelstudio":
        return Response(as_json(tasks_of(desk, asked.limit)), media_type=JSON)
    if asked.what == "labelstudio-config":
        return _file(CONFIG.encode(), XML, "label-studio.xml")
    text = desk.export_log(asked.what == "events").encode()
    return _file(text, JSON_LINES, "events.jsonl" if asked.what == "events" else "answers.jsonl")


def _file(content: bytes, kind: str, name: str) -> Response:
    return Response(content, media_type=kind, headers=as_file(name))


@operation(409, 413, 422, 507, saves=True)
def labelstudio(desk: Desk, tasks: messages.Tasks) -> Imported:
    """Save annotations from the JSON export of Label Studio."""
    return take_annotations(desk, tasks)
