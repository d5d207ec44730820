"""The JSON API: the same desk for programs, such as other labelling tools.

With ``Authorization: Bearer TOKEN``; who answers is named in the query or in the body. It is
described by /api/openapi.json. Errors are ``{"error": text, "kind": ..., "retry": ...}``: what is
wrong, what was received, and the way out; `retry` tells whether the same call may work later.
"""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from cpclean.errors import (
    CPCleanError,
    FullError,
    GoneError,
    LockedError,
    RefusedError,
    StorageError,
    UnknownRowError,
)
from cpclean.web.api.openapi import description
from cpclean.web.api.operations import OPERATIONS, Operation
from cpclean.web.api.requests import body_as, query_as
from cpclean.web.desk.engine import NotReadyError
from cpclean.web.desk.views import as_json
from cpclean.web.desk.workplace import Workplace
from cpclean.web.guard.prefixes import root_of
from cpclean.web.guard.refusals import error_response
from cpclean.web.guard.security import Security

# The first that fits; any other error is about what was sent.
_STATUSES: tuple[tuple[type[CPCleanError], int, bool], ...] = (
    (UnknownRowError, 404, False),
    (NotReadyError, 503, True),
    (RefusedError, 409, False),
    (FullError, 507, True),
    (LockedError, 503, True),
    (GoneError, 503, True),
    (StorageError, 503, False),
    (CPCleanError, 422, False),
)


def routes(workplace: Workplace, security: Security) -> list[Route]:
    """The routes of the API."""

    def route(operation: Operation) -> Route:
        async def answered(request: Request) -> Response:
            desk, who = workplace.desk, security.who(request)
            if desk is None:
                return error_response(
                    409, "there is no project yet. Set one up in the browser first.", "no project"
                )
            try:
                if operation.saves:
                    message = await body_as(operation.takes, request, who)
                else:
                    message = query_as(operation.takes, request, who)
                found = await run_in_threadpool(operation.work, desk, message)
            except CPCleanError as problem:
                return problem_response(problem)
            if isinstance(found, Response):
                return found
            return Response(as_json(found), media_type="application/json")

        method = "POST" if operation.saves else "GET"
        return Route(f"/api/{operation.name}", answered, methods=[method])

    async def openapi(request: Request) -> Response:
        return JSONResponse({**description(), "servers": [{"url": root_of(request.scope) or "/"}]})

    return [*(route(one) for one in OPERATIONS), Route("/api/openapi.json", openapi)]


def problem_response(problem: CPCleanError) -> Response:
    """An error of the desk or the storage, with the status that fits."""
    status, retry = next(
        (status, retry) for kind, status, retry in _STATUSES if isinstance(problem, kind)
    )
    return error_response(status, str(problem), type(problem).__name__, retry)
