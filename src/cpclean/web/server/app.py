"""The application: pages, API and live progress behind the guard."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path
from threading import Event, Lock

from jinja2 import Environment, FileSystemLoader
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from cpclean.errors import RefusedError
from cpclean.projects.project import Project
from cpclean.storage.contract import Storage
from cpclean.web.api import endpoints as api
from cpclean.web.desk.desk import Desk
from cpclean.web.pages import routes as pages
from cpclean.web.server import live
from cpclean.web.server.bare_pages import message_page
from cpclean.web.server.guard import HEADERS, Guard, Security, error_response, take_login

PAGES = Path(__file__).parents[1] / "pages"
COLOURS = files("cpclean.report") / "templates" / "colours.css"

log = logging.getLogger("cpclean.web")


class AppState:
    """What the handlers share.

    Attributes
    ----------
    desk : Desk or None
        None until a project is set up.
    storage : Storage or None
    security : Security
    templates : jinja2.Environment
        Everything is escaped.
    stopping : threading.Event
        Set when the server is about to end; whoever streams looks at it.
    """

    def __init__(
        self,
        security: Security,
        open_place: Callable[[Project], Storage] | None,
        lease_seconds: float,
        answers_per_row: int | None,
    ) -> None:
        self.security = security
        self.storage: Storage | None = None
        self.desk: Desk | None = None
        self.stopping = Event()
        self.templates = Environment(
            loader=FileSystemLoader(PAGES / "templates"),
            autoescape=True,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._open_place = open_place
        self._lease_seconds, self._answers_per_row = lease_seconds, answers_per_row
        self._lock = Lock()
        self._ends: list[Callable[[], object]] = []

    @property
    def can_set_up(self) -> bool:
        """Whether a project may be set up in the browser."""
        return self.desk is None and self._open_place is not None

    def place_of(self, name: str) -> str:
        """Where the answers about an uploaded file will be kept, in words; "" if nobody tells."""
        where = getattr(self._open_place, "where", None)
        return "" if where is None else str(where(name))

    def start_project(self, project: Project) -> None:
        """Put a project in its place and begin with it; refused if there is one already."""
        with self._lock:
            if self.desk is not None or self._open_place is None:
                raise RefusedError(
                    "there is a project already; start another server for another one."
                )
            storage = self._open_place(project)
            storage.create(project)
            self.open(storage)

    def open(self, storage: Storage) -> None:
        """Begin with the project of a storage."""
        desk = Desk(
            storage, lease_seconds=self._lease_seconds, answers_per_row=self._answers_per_row
        )
        desk.start()
        self.storage, self.desk = storage, desk

    def at_end(self, call: Callable[[], object]) -> None:
        """Have something done when the server ends, such as removing a folder."""
        self._ends.append(call)

    def close(self) -> None:
        """Let the engine and the streams end."""
        self.stopping.set()
        if self.desk is not None:
            self.desk.stop()
        while self._ends:
            self._ends.pop()()


def make_app(
    storage: Storage | None,
    token: str,
    *,
    start_project: Callable[[Project], Storage] | None = None,
    lease_seconds: float = 600,
    answers_per_row: int | None = None,
    hosts: Collection[str] = (),
    any_address: bool = False,
) -> Starlette:
    """The application over a storage with a project in it, or one that is set up in the browser.

    Parameters
    ----------
    storage : Storage or None
        None: people set up a project first.
    token : str
        What people have to know; empty: nothing.
    start_project : function from Project to Storage, optional
        Where a project that is set up in the browser is put.
    lease_seconds, answers_per_row
        As in `Desk`.
    hosts, any_address
        As in `Security`.

    Returns
    -------
    Starlette
        Its `state.cpclean` is the `AppState`.
    """
    security = Security(token, hosts, any_address)
    state = AppState(security, start_project, lease_seconds, answers_per_row)
    if storage is not None:
        state.open(storage)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        state.close()

    app = Starlette(
        routes=_routes(state),
        middleware=[Middleware(Guard, security=security)],
        exception_handlers={HTTPException: _refused, 500: _failed},
        lifespan=lifespan,
    )
    app.state.cpclean = state
    return app


def _routes(state: AppState) -> list[BaseRoute]:
    async def login(request: Request) -> Response:
        if request.method == "POST":
            return await take_login(request, state.security)
        return RedirectResponse("/", 303)

    found: list[BaseRoute] = [
        Route("/login", login, methods=["GET", "POST"]),
        *api.routes(state),
        *live.routes(state),
        *pages.routes(state),
    ]
    static = StaticFiles(directory=PAGES / "static")
    return [*found, Route("/static/colours.css", _colours), Mount("/static", static, name="static")]


async def _colours(request: Request) -> Response:
    """Those of the report, which pages have too."""
    return Response(COLOURS.read_text("utf-8"), media_type="text/css")


async def _refused(request: Request, problem: Exception) -> Response:
    """What is not there, or not so: as JSON for programs, as a line for people."""
    assert isinstance(problem, HTTPException)
    status, text = problem.status_code, str(problem.detail)
    if status == 404 and text == "Not Found":
        text = "There is no such page"
    if request.url.path.startswith("/api/"):
        response = error_response(status, f"{text}: {request.method} {request.url.path}", "http")
    else:
        response = HTMLResponse(message_page(text), status)
    for name, value in (problem.headers or {}).items():
        response.headers[name] = value
    return response


async def _failed(request: Request, problem: Exception) -> Response:
    """A mistake of ours. What it was is in the server's log, not in the page."""
    text = "something went wrong in the server; nothing was taken in that was not confirmed."
    if request.url.path.startswith("/api/"):
        response = error_response(500, text, "failed", retry=True)
    else:
        response = HTMLResponse(message_page("Something went wrong", text), 500)
    response.headers.update(HEADERS)  # this is outside of the guard
    return response
