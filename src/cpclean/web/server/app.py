"""The application: pages, API and live progress behind the guard."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from cpclean.projects.project import Project
from cpclean.storage.contract import Storage
from cpclean.web.api import endpoints as api
from cpclean.web.desk.workplace import Workplace
from cpclean.web.guard.bare_pages import message_page
from cpclean.web.guard.middleware import Guard
from cpclean.web.guard.prefixes import root_of
from cpclean.web.guard.refusals import error_response, take_login
from cpclean.web.guard.security import HEADERS, Security
from cpclean.web.pages import routes as pages
from cpclean.web.server import health, live


def make_app(
    storage: Storage | None,
    token: str,
    *,
    answer_token: str = "",
    start_project: Callable[[Project], Storage] | None = None,
    lease_seconds: float = 600,
    answers_per_row: int | None = None,
    cluster: str | None = None,
    notify: str | None = None,
    hosts: Collection[str] = (),
    any_address: bool = False,
    root: str = "",
) -> Starlette:
    """The application over a storage with a project in it, or one that is set up in the browser.

    Parameters
    ----------
    storage : Storage or None
        None: people set up a project first.
    token : str
        What owners have to know; empty: nothing.
    answer_token : str
        What those have to know who only answer questions; empty: there are none.
    start_project : function from Project to Storage, optional
        Makes the storage of a project that is set up in the browser.
    lease_seconds, answers_per_row, cluster, notify
        As in `Desk`.
    hosts, any_address, root
        As in `Security`.

    Returns
    -------
    Starlette
        Its `state.cpclean` is the `Workplace`, its `state.security` the `Security`.
    """
    security = Security(token, hosts, any_address, answer_token, root)
    workplace = Workplace(start_project, lease_seconds, answers_per_row, cluster, notify)
    if storage is not None:
        workplace.open(storage)
    return app_of(workplace, security)


def app_of(workplace: Workplace, security: Security) -> Starlette:
    """The application over a workplace, which it closes in the end."""

    def storages() -> list[Storage]:
        return [] if workplace.storage is None else [workplace.storage]

    made = guarded(
        [
            *health.routes(storages),
            *api.routes(workplace, security),
            *live.routes(workplace),
            *pages.routes(workplace, security),
        ],
        security,
        workplace.close,
    )
    made.state.cpclean = workplace
    return made


def guarded(
    routes: Sequence[BaseRoute], security: Security, close: Callable[[], object]
) -> Starlette:
    """An application behind the guard, with a way in."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        close()

    async def login(request: Request) -> Response:
        if request.method == "POST":
            return await take_login(request, security)
        return RedirectResponse("/", 303)

    app = Starlette(
        routes=[Route("/login", login, methods=["GET", "POST"]), *routes],
        middleware=[Middleware(Guard, security=security)],
        exception_handlers={HTTPException: _refused, 500: _failed},
        lifespan=lifespan,
    )
    app.state.security = security
    return app


async def _refused(request: Request, problem: Exception) -> Response:
    """What does not exist, or not in this way: as JSON for programs, as a page for people."""
    assert isinstance(problem, HTTPException)
    status, text = problem.status_code, str(problem.detail)
    if status == 404 and text == "Not Found":
        text = "There is no such page"
    if request.url.path.startswith("/api/"):
        response = error_response(status, f"{text}: {request.method} {request.url.path}", "http")
    else:
        response = HTMLResponse(message_page(text, root=root_of(request.scope)), status)
    for name, value in (problem.headers or {}).items():
        response.headers[name] = value
    return response


async def _failed(request: Request, problem: Exception) -> Response:
    """A mistake of ours. What it was is in the server's log, not in the page."""
    text = "an unexpected error occurred in the server. What was confirmed before is saved."
    if request.url.path.startswith("/api/"):
        response = error_response(500, text, "failed", retry=True)
    else:
        page = message_page("Something went wrong", f"A{text[1:]}", root_of(request.scope))
        response = HTMLResponse(page, 500)
    response.headers.update(HEADERS)  # this is outside of the guard
    return response
