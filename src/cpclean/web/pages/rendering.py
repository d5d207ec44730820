"""Pages from templates, with what all of them show; and what becomes of errors."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader
from jinja2.ext import Extension
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from cpclean.errors import CPCleanError, StorageError, UnknownRowError
from cpclean.web.desk.desk import Desk
from cpclean.web.desk.engine import NotReadyError
from cpclean.web.desk.workplace import Workplace
from cpclean.web.guard.bounded_body import form_of
from cpclean.web.guard.prefixes import root_of
from cpclean.web.guard.roles import is_owner, may, role_of
from cpclean.web.guard.security import Security, session_of
from cpclean.web.pages import forms, wording

HERE = Path(__file__).parent
PLACES = (
    ("question", "/question", "Question"),
    ("progress", "/progress", "Progress"),
    ("rows", "/rows", "Rows"),
    ("export", "/export", "Export"),
)
# A page about a table in work soon changes: the back button asks for it anew.
HEADERS = {"Cache-Control": "no-store"}


class OwnAddresses(Extension):
    """Addresses in templates begin with a slash, as if the server had its host for itself.

    What really stands before them goes there when a template is read; values are not touched.
    """

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        return re.sub(r'\b(href|src|action|formaction)="/(?!/)', r'\1="{{ root }}/', source)


class OtherProjectError(CPCleanError):
    """What is sent belongs to a project that is not served here any more."""


@dataclass(frozen=True)
class Visit:
    """A request of a person whose name is known, to a project that is set up."""

    request: Request
    desk: Desk
    who: str


Handler = Callable[[Visit], Awaitable[Response]]


def see(path: str, **query: Any) -> RedirectResponse:
    """Go and look there; a reload then repeats the look, not what was posted."""
    return RedirectResponse(f"{path}?{urlencode(query)}" if query else path, status_code=303)


class Rendering:
    """Makes pages.

    Parameters
    ----------
    workplace : Workplace
    security : Security
    """

    def __init__(self, workplace: Workplace, security: Security) -> None:
        self.workplace, self.security = workplace, security
        self._templates = Environment(
            loader=FileSystemLoader(HERE / "templates"),
            autoescape=True,
            trim_blocks=True,
            lstrip_blocks=True,
            extensions=[OwnAddresses],
        )
        wording.add_words(self._templates)

    def page(
        self, request: Request, template: str, status: int = 200, **values: Any
    ) -> HTMLResponse:
        """A page from its template, with what all pages show."""
        desk = self.workplace.desk
        progress = None if desk is None else desk.progress()
        common = {
            "csrf": self.security.csrf(request),
            "who": self.security.who(request),
            "progress": progress,
            "project": "" if desk is None else desk.mark,
            "all_certain": progress is not None and progress.all_certain,
            "settled": "settled" if progress is not None and progress.until_sure else "certain",
            "places": [one for one in PLACES if may(role_of(request.scope), one[1])],
            "owner": is_owner(request.scope),
            "root": root_of(request.scope),
            "several": request.scope.get("cpclean.several"),
            "project_name": "" if desk is None else desk.name,
            **dict.fromkeys(("page", "problem", "error", "error_at", "done"), ""),
        }
        made = self._templates.get_template(template).render({**common, **values})
        return HTMLResponse(made, status, headers=HEADERS)

    def ready(self, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        """Only once a project is set up and the person has a name; errors become a page."""

        async def guarded(request: Request) -> Response:
            desk, who = self.workplace.desk, self.security.who(request)
            if desk is None:
                return see("/setup")
            if not who:
                asked = request.url.path + (f"?{request.url.query}" if request.url.query else "")
                return see("/name", next=asked if request.method == "GET" else "/question")
            try:
                if browser := session_of(request.scope):
                    desk.presence.seen(browser, who)
                if request.method == "POST":
                    await _check_project(request, desk)
                return await handler(Visit(request, desk, who))
            except CPCleanError as error:
                return await self._failed(request, error)

        return guarded

    async def _failed(self, request: Request, error: CPCleanError) -> Response:
        """The page about an error."""
        words = forms.sentence(str(error))
        if isinstance(error, NotReadyError):
            return await run_in_threadpool(
                self.page, request, "nothing.html", 503, page="question", good=False, wait=True,
                heading="One moment", words=words, undo_id=forms.new_request_id(),
            )  # fmt: skip
        if isinstance(error, StorageError) and request.method == "POST":
            # What was sent, to be sent again: its request id makes that harmless.
            form = await form_of(request)
            fields = [(name, value) for name, value in form.multi_items() if isinstance(value, str)]
            return await run_in_threadpool(
                self.page, request, "retry.html", 503, action=request.url.path, fields=fields,
                words=words,
            )  # fmt: skip
        heading, status = "That did not work", 422
        for kind, its_heading, its_status in (
            (OtherProjectError, "This is another table", 409),
            (UnknownRowError, "There is no such row", 404),
            (StorageError, "That did not work just now", 503),
        ):
            if isinstance(error, kind):
                heading, status = its_heading, its_status
        return await run_in_threadpool(
            self.page, request, "problem.html", status, heading=heading, words=words, back="/"
        )


async def _check_project(request: Request, desk: Desk) -> None:
    """Refuse the form of a page about another table, which this address had before."""
    mark = forms.text(await form_of(request), "project")
    if mark and mark != desk.mark:
        raise OtherProjectError(
            "the page that you sent is about another table than the one that is served here now. "
            "Nothing was saved. Start the server with that table, and send the page again."
        )
