"""The JSON API: the same desk for programs, such as other labelling tools.

With ``Authorization: Bearer TOKEN``; who answers is said in the query or in the body. It is
described by /api/openapi.json. Errors are ``{"error": text, "kind": ..., "retry": ...}``: what is
wrong, what was got, and the way out; `retry` tells whether the same call may work later.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict, replace
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from cpclean.errors import (
    AnswerError,
    CPCleanError,
    FullError,
    GoneError,
    LockedError,
    RefusedError,
    StorageError,
    UnknownRowError,
)
from cpclean.web.api.labelstudio import CONFIG, take_annotations, tasks_of
from cpclean.web.api.openapi import description
from cpclean.web.desk.desk import Desk, NotReadyError
from cpclean.web.desk.exporting import JSON_LINES, SUFFIXES, type_of
from cpclean.web.desk.listing import with_own
from cpclean.web.server.guard import error_response

EXPORTS = ("table", "log", "events", "labelstudio", "labelstudio-config")

Handler = Callable[["Call"], Awaitable[Response]]


class BodyError(CPCleanError, ValueError):
    """A request cannot be understood."""


class Call:
    """One request: its query, its body, and the desk that it is for."""

    def __init__(self, request: Request, desk: Desk, who: str | None) -> None:
        self.request, self.desk, self._who = request, desk, who
        self.body: dict[str, Any] = {}

    async def read(self, fields: dict[str, tuple[type, ...]]) -> None:
        """Take the body: a JSON object with these fields, each of one of its types or null."""
        found = await json_of(self.request)
        if not isinstance(found, dict):
            raise BodyError("the body must be a JSON object.")
        if odd := [name for name in found if name not in fields]:
            known = ", ".join(fields)
            raise BodyError(f"the body may have {known}; got {str(odd[0])[:40]!r}.")
        for name, value in found.items():
            right = isinstance(value, fields[name]) and (
                not isinstance(value, bool) or bool in fields[name]
            )
            if value is not None and not right:
                kinds = " or ".join(_JSON_NAMES[kind] for kind in fields[name])
                raise BodyError(f"{name} must be {kinds}; got {json.dumps(value)[:40]}.")
        self.body = {name: value for name, value in found.items() if value is not None}

    def who(self) -> str:
        """Who asks: the body, the query, or else the name that the browser's cookie keeps."""
        found = self.who_if_told()
        if found is None:
            raise BodyError("who is missing: the name of the person who answers.")
        return found

    def who_if_told(self) -> str | None:
        """The same, where nobody has to say it."""
        found = self.body.get("who", self.request.query_params.get("who", self._who))
        return None if found is None else str(found)

    def needed(self, name: str) -> Any:
        if name not in self.body:
            raise BodyError(f"{name} is missing in the body.")
        return self.body[name]

    def number(self, name: str, default: int) -> int:
        """A whole number of the query."""
        text = self.request.query_params.get(name)
        if text is None:
            return default
        try:
            if not text.isascii():
                raise ValueError
            return int(text)
        except ValueError:
            raise BodyError(f"{name} must be a whole number; got {text[:40]!r}.") from None

    def text(self, name: str, default: str) -> str:
        return self.request.query_params.get(name, default)


_JSON_NAMES = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    dict: "an object",
    bool: "true or false",
}
_SAID = {"who": (str,), "row": (int,), "request_id": (str,), "seconds": (float, int)}


async def json_of(request: Request) -> Any:
    """The body as JSON."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise BodyError(f"the body must be application/json; got {kind[:60]!r}.")
    try:
        return json.loads(await request.body())
    except (ValueError, RecursionError) as problem:
        raise BodyError(f"the body is no JSON: {str(problem)[:80]}.") from problem


def routes(state: Any) -> list[Route]:
    """The routes of the API; `state` has the desk, or None before a project is set up."""

    def route(path: str, handler: Handler, method: str = "GET") -> Route:
        async def answered(request: Request) -> Response:
            if state.desk is None:
                return error_response(
                    409, "there is no project yet: set one up in the browser first.", "no project"
                )
            call = Call(request, state.desk, state.security.who(request))
            try:
                return await handler(call)
            except CPCleanError as problem:
                return problem_response(problem)

        return Route(f"/api/{path}", answered, methods=[method])

    async def openapi(request: Request) -> Response:
        return JSONResponse(description())

    return [
        route("question", question),
        route("answer", answer, "POST"),
        route("skip", skip, "POST"),
        route("undo", undo, "POST"),
        route("progress", progress),
        route("rows", rows),
        route("export", export),
        route("labelstudio", labelstudio, "POST"),
        Route("/api/openapi.json", openapi),
    ]


def problem_response(problem: CPCleanError) -> Response:
    """An error of the desk or the storage, with the status that fits."""
    statuses: tuple[tuple[type[Exception], int, bool], ...] = (
        (BodyError, 422, False),
        (AnswerError, 422, False),
        (UnknownRowError, 404, False),
        (NotReadyError, 503, True),
        (RefusedError, 409, False),
        (FullError, 507, True),
        (LockedError, 503, True),
        (GoneError, 503, True),
        (StorageError, 503, False),
    )
    for kind, status, retry in statuses:
        if isinstance(problem, kind):
            return error_response(status, str(problem), type(problem).__name__, retry)
    return error_response(422, str(problem), type(problem).__name__)


# -- calls -----------------------------------------------------------------------------------------


async def question(call: Call) -> Response:
    """The best question that is free, or the one about a row."""
    who = call.who()
    row = call.number("row", 0) if "row" in call.request.query_params else None
    return JSONResponse(await run_in_threadpool(_asked, call.desk, who, row))


def _asked(desk: Desk, who: str, row: int | None = None) -> dict[str, Any]:
    found = desk.question(who, row)
    now = desk.engine.now
    return {
        "question": None if found is None else asdict(with_own(found, now, who)),
        "done": now is not None and now.stopped is not None,
        "stopped": None if now is None else now.stopped,
        "busy": desk.engine.behind,
    }


async def answer(call: Call) -> Response:
    """Take in an answer; with "next", give the next question too."""
    own = {"candidate": (int,), "values": (dict,), "correct": (bool,), "next": (bool,)}
    await call.read({**_SAID, **own})
    body, desk, who = call.body, call.desk, call.who()
    row = call.needed("row")

    def work() -> dict[str, Any]:
        taken = desk.answer(
            who, row, body.get("candidate"), body.get("values"), body.get("request_id"),
            body.get("seconds"), body.get("correct", False),
        )  # fmt: skip
        return _taken(desk, who, asdict(taken), body)

    return JSONResponse(await run_in_threadpool(work))


async def skip(call: Call) -> Response:
    """Take in that somebody does not know."""
    await call.read({**_SAID, "next": (bool,)})
    body, desk, who = call.body, call.desk, call.who()
    row = call.needed("row")

    def work() -> dict[str, Any]:
        taken = desk.skip(who, row, body.get("request_id"), body.get("seconds"))
        return _taken(desk, who, asdict(taken), body)

    return JSONResponse(await run_in_threadpool(work))


def _taken(desk: Desk, who: str, taken: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
    if not body.get("next"):
        return taken
    try:
        return {**taken, "next": _asked(desk, who)}
    except StorageError:  # the answer is in; who wants the next question can ask for it
        return {**taken, "next": None}


async def undo(call: Call) -> Response:
    """Take back what somebody said last."""
    await call.read({"who": (str,), "request_id": (str,)})
    taken = await run_in_threadpool(call.desk.undo, call.who(), call.body.get("request_id"))
    return JSONResponse(asdict(taken))


async def progress(call: Call) -> Response:
    """How far it is."""
    return JSONResponse(asdict(await run_in_threadpool(call.desk.progress)))


async def rows(call: Call) -> Response:
    """A page of all rows with holes; with "who", with what that person said of each."""
    who, now = call.who_if_told(), call.desk.engine.now
    found = await run_in_threadpool(
        call.desk.rows,
        call.text("state", "all"),
        call.text("sort", "gain"),
        call.text("order", "desc"),
        call.number("page", 1),
        call.number("per_page", 50),
        call.text("search", ""),
    )
    found = replace(found, rows=[with_own(one, now, who) for one in found.rows])
    return JSONResponse(asdict(found))


async def export(call: Call) -> Response:
    """The table, the log, or questions for Label Studio."""
    what, suffix = call.text("what", "table"), call.text("format", ".csv")
    if what not in EXPORTS:
        raise BodyError(f"what must be one of {', '.join(EXPORTS)}; got {what[:40]!r}.")
    suffix = suffix if suffix.startswith(".") else f".{suffix}"
    if suffix not in SUFFIXES:
        raise BodyError(f"format must be one of {', '.join(SUFFIXES)}; got {suffix[:20]!r}.")
    limit = call.number("limit", 100)
    if not 1 <= limit <= 10_000:
        raise BodyError(f"limit must be from 1 to 10000; got {limit}.")
    fill = call.request.query_params.get("fill")
    desk = call.desk
    if what == "table":
        content = await run_in_threadpool(desk.export_table, suffix, fill)
        return _file(content, type_of(suffix, content, desk.project), f"cleaned{suffix}")
    if what == "labelstudio":
        tasks = await run_in_threadpool(tasks_of, desk, limit)
        return JSONResponse(tasks)
    if what == "labelstudio-config":
        return _file(CONFIG.encode(), "application/xml", "label-studio.xml")
    text = await run_in_threadpool(desk.export_log, what == "events")
    return _file(text.encode(), JSON_LINES, "answers.jsonl" if what == "log" else "events.jsonl")


def _file(content: bytes, kind: str, name: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return Response(content, media_type=kind, headers=headers)


async def labelstudio(call: Call) -> Response:
    """Answers that were given in Label Studio: its JSON export, or some tasks of it."""
    found = await json_of(call.request)
    return JSONResponse(await run_in_threadpool(take_annotations, call.desk, found))
