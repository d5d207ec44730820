"""Several projects on one server, each at /p/NAME, and a first page that lists them.

All share the tokens and cookies: whoever is let in is let in everywhere, under one name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from cpclean.storage.contract import Storage
from cpclean.web.desk.desk import Desk
from cpclean.web.desk.workplace import Workplace
from cpclean.web.guard.prefixes import pass_on, root_of
from cpclean.web.guard.security import Security
from cpclean.web.pages.rendering import Rendering
from cpclean.web.pages.routes import static_routes
from cpclean.web.server import health
from cpclean.web.server.app import app_of, guarded

NEW = "new"  # the name of the project that is being set up


@dataclass
class _Place:
    """A project, or a place for one, and the name in its address."""

    name: str
    workplace: Workplace
    app: ASGIApp


class SeveralProjects:
    """The application over several projects.

    Parameters
    ----------
    storages : mapping from name to Storage
        Each with a project in it.
    security : Security
    new_workplace : function without arguments
        Makes a workplace without a project.
    may_grow : bool
        Whether further projects can be set up in the browser.
    """

    def __init__(
        self,
        storages: Mapping[str, Storage],
        security: Security,
        new_workplace: Callable[[], Workplace],
        may_grow: bool = False,
    ) -> None:
        self._security, self._new_workplace = security, new_workplace
        self._places: dict[str, _Place] = {}
        for name, storage in storages.items():
            place = self._empty(free_name(name, self._places))
            place.workplace.open(storage)
            self._places[place.name] = place
        self._next = self._empty(NEW) if may_grow else None
        self._rendering = Rendering(new_workplace(), security)
        self._front: Starlette = guarded(
            [
                *health.routes(self.storages),
                Route("/", self._start_page),
                *static_routes(),
            ],
            security,
            self.close,
        )

    @property
    def workplaces(self) -> list[Workplace]:
        """All of them, also the one that waits for a project."""
        waiting = [] if self._next is None else [self._next]
        return [one.workplace for one in [*self._places.values(), *waiting]]

    def storages(self) -> list[Storage]:
        """The storages of all projects."""
        return [one.storage for one in self.workplaces if one.storage is not None]

    def close(self) -> None:
        """Let all engines and streams end."""
        for one in self.workplaces:
            one.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        found = re.fullmatch(r"/p/([^/]+)(/.*)?", scope["path"]) if "path" in scope else None
        place = self._place(found[1]) if found else None
        if found is None or place is None:
            await self._front(scope, receive, send)
            return

        def prefix() -> str:
            self._grow()  # a project that was set up in this moment has its own name now
            return f"/p/{place.name}"

        inner = {**scope, "cpclean.several": root_of(scope)}
        await pass_on(place.app, inner, receive, send, prefix, found[2] or "/")

    def _place(self, name: str) -> _Place | None:
        self._grow()
        return self._next if name == NEW else self._places.get(name)

    def _empty(self, name: str) -> _Place:
        workplace = self._new_workplace()
        return _Place(name, workplace, app_of(workplace, self._security))

    def _grow(self) -> None:
        """Give a project that was set up a name, and the next one a place; in one thread only."""
        made = self._next
        if made is None or made.workplace.desk is None or made.workplace.storage is None:
            return
        self._next = self._empty(NEW)
        made.name = free_name(made.workplace.storage.name, self._places)
        self._places[made.name] = made

    async def _start_page(self, request: Request) -> Response:
        self._grow()
        return await run_in_threadpool(self._listed, request)

    def _listed(self, request: Request) -> Response:
        found = [
            (one.name, _file(one.workplace.desk), one.workplace.desk.progress())
            for one in sorted(self._places.values(), key=lambda one: one.name.lower())
            if one.workplace.desk is not None
        ]
        return self._rendering.page(
            request, "start.html", page="start", found=found, who="",
            new=f"/p/{NEW}/setup" if self._next is not None else "",
        )  # fmt: skip


def _file(desk: Desk) -> str:
    """What the table was called; "" if nobody said: where it is saved is not for everybody."""
    return str((desk.project.settings.about or {}).get("file") or "")


def free_name(place: str, taken: Mapping[str, object]) -> str:
    """A name for an address from that of a file or a database, one that is not taken.

    >>> free_name("'data/wine list.csv.cpclean.db'", {})
    'wine-list.csv'
    >>> free_name("new", {}), free_name("b", {"b": 1})
    ('new-2', 'b-2')
    """
    last = place.strip("'\"").replace("\\\\", "/").rstrip("/").rpartition("/")[2]
    for ending in (".cpclean.db", ".db"):
        last = last.removesuffix(ending)
    stem = re.sub(r"[^A-Za-z0-9._~-]+", "-", last).strip("-.")[:80] or "project"
    names = [stem, *(f"{stem}-{number}" for number in range(2, len(taken) + 3))]
    return next(one for one in names if one not in taken and one != NEW)
