"""The pages for people: plain forms, which scripts only make more pleasant.

Every change is a form that is posted and answered with a redirect, so that the reload and the back
button of a browser are harmless; its request id is made with the page, so that nothing is said
twice.
"""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, replace
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from cpclean.errors import AnswerError, CPCleanError, RefusedError, StorageError, UnknownRowError
from cpclean.report.drawn import NARROW, WIDE, drawn
from cpclean.report.pictures import thinned
from cpclean.web.desk.desk import NotReadyError
from cpclean.web.desk.exporting import JSON_LINES, type_of
from cpclean.web.desk.listing import with_own
from cpclean.web.pages import forms, wording
from cpclean.web.pages.progress_picture import picture_of
from cpclean.web.pages.question_page import all_certain, asked_of, candidate_like, page_of, where
from cpclean.web.pages.setup import Setup

PLACES = (
    ("question", "/question", "Question"),
    ("progress", "/progress", "Progress"),
    ("rows", "/rows", "Rows"),
    ("export", "/export", "Export"),
)
STATES = ("all", "open", "held", "waiting", "answered", "skipped", "disputed")
SORTS = (("gain", "gain"), ("number", "row"), ("state", "state"), ("who", "who"))
PER_PAGE = 25
MOST_NUMBERS = 500  # lines of the table beside the picture
FORMATS = ((".csv", "CSV"), (".parquet", "Parquet"), (".xlsx", "Excel"))

HEADERS = {
    # A page of a table in work is never what it was: the back button asks for it anew.
    "Cache-Control": "no-store",
    # With "no-referrer" browsers send forms with the Origin "null", which is refused.
    "Referrer-Policy": "same-origin",
}

Handler = Callable[[Request], Awaitable[Response]]


def routes(state: Any) -> list[BaseRoute]:
    """The routes of all pages.

    Parameters
    ----------
    state : AppState
        With `desk`, None until a project is set up; `security`, `templates`, `start_project`.
    """
    wording.add_words(state.templates)
    pages = Pages(state)
    setup = Setup(state, pages.page)
    with_desk = {
        "/question": pages.question, "/progress": pages.progress, "/rows": pages.rows,
        "/export": pages.export,
    }  # fmt: skip
    return [
        Route("/", pages.home),
        Route("/name", pages.name, methods=["GET"]),
        Route("/name", pages.set_name, methods=["POST"]),
        *(Route(path, pages.ready(handler)) for path, handler in with_desk.items()),
        Route("/export/table{suffix}", pages.ready(pages.table)),
        Route("/export/log.jsonl", pages.ready(pages.log)),
        Route("/export/answers.jsonl", pages.ready(pages.answers)),
        Route("/answer", pages.ready(pages.answer), methods=["POST"]),
        Route("/skip", pages.ready(pages.skip), methods=["POST"]),
        Route("/undo", pages.ready(pages.undo), methods=["POST"]),
        Route("/setup", setup.show, methods=["GET"]),
        Route("/setup", setup.take, methods=["POST"]),
    ]


def see(path: str, **query: Any) -> RedirectResponse:
    """Go and look there; a reload then repeats the look, not what was posted."""
    return RedirectResponse(f"{path}?{urlencode(query)}" if query else path, status_code=303)


class OtherProjectError(CPCleanError):
    """What is sent belongs to a project that is not served here any more."""


class Pages:
    """The handlers, over the state of the app."""

    def __init__(self, state: Any) -> None:
        self.state = state

    # -- every page --------------------------------------------------------------------------

    def page(
        self, request: Request, template: str, status: int = 200, **values: Any
    ) -> HTMLResponse:
        """A page from its template, with what all pages show."""
        security = self.state.security
        progress = None if self.state.desk is None else self.state.desk.progress()
        common = {
            "csrf": security.csrf(request),
            "who": security.who(request),
            "progress": progress,
            "project": "" if self.state.desk is None else self.state.desk.mark,
            "all_certain": progress is not None and all_certain(progress),
            "places": PLACES,
            **dict.fromkeys(("page", "problem", "error", "error_at", "done"), ""),
        }
        made = self.state.templates.get_template(template).render({**common, **values})
        return HTMLResponse(made, status, headers=HEADERS)

    def ready(self, handler: Handler) -> Handler:
        """Only once a project is set up and the person has a name; errors become a page."""

        async def guarded(request: Request) -> Response:
            if self.state.desk is None:
                return see("/setup")
            if not self.state.security.who(request):
                asked = request.url.path + (f"?{request.url.query}" if request.url.query else "")
                return see("/name", next=asked if request.method == "GET" else "/question")
            try:
                if request.method == "POST":
                    await self._check_project(request)
                return await handler(request)
            except OtherProjectError as error:
                return await self.problem(request, "This is another table", error, 409)
            except UnknownRowError as error:
                return await self.problem(request, "There is no such row", error, 404)
            except NotReadyError as error:
                return await run_in_threadpool(self._not_ready, request, error)
            except StorageError as error:
                if request.method == "POST":
                    return await self._retry(request, error)
                return await self.problem(request, "That did not work just now", error, 503)
            except CPCleanError as error:
                return await self.problem(request, "That did not work", error, 422)

        return guarded

    async def _check_project(self, request: Request) -> None:
        """Refuse the form of a page about another table, which this address had before."""
        mark = forms.text(await request.form(), "project")
        if mark and mark != self.state.desk.mark:
            raise OtherProjectError(
                "the page that was sent is about another table than the one that is served here "
                "now. Nothing was taken in; start the server with that table, and send it again."
            )

    def _not_ready(self, request: Request, error: Exception) -> Response:
        words = forms.sentence(str(error))
        return self.page(
            request, "nothing.html", 503, page="question", good=False, wait=True,
            heading="One moment", words=words, undo_id=forms.new_request_id(),
        )  # fmt: skip

    async def _retry(self, request: Request, error: Exception) -> Response:
        """What was sent, to be sent again: its request id makes that harmless."""
        form = await request.form()
        fields = [(name, value) for name, value in form.multi_items() if isinstance(value, str)]
        return await run_in_threadpool(
            self.page, request, "retry.html", 503, action=request.url.path, fields=fields,
            words=forms.sentence(str(error)),
        )  # fmt: skip

    async def problem(
        self, request: Request, heading: str, error: Exception, status: int
    ) -> Response:
        """A page that tells what is wrong."""
        words = forms.sentence(str(error))
        return await run_in_threadpool(
            self.page, request, "problem.html", status, heading=heading, words=words, back="/"
        )

    # -- who ---------------------------------------------------------------------------------

    async def home(self, request: Request) -> Response:
        """To the question, or to the set-up if there is nothing to ask about."""
        return see("/setup" if self.state.desk is None else "/question")

    async def name(self, request: Request) -> Response:
        """The field for a name."""
        return await run_in_threadpool(
            self._name_page, request, self.state.security.who(request) or "",
            request.query_params.get("next", ""),
        )  # fmt: skip

    async def set_name(self, request: Request) -> Response:
        """Take in a name."""
        form = await request.form()
        after = forms.place_after(forms.text(form, "next"))
        try:
            name = forms.name_of(form)
        except forms.FieldError as error:
            typed = forms.text(form, "who")[: forms.LONGEST_NAME]
            return await run_in_threadpool(self._name_page, request, typed, after, error)
        response = see(after if self.state.desk is not None else "/setup")
        self.state.security.set_who(response, name)
        return response

    def _name_page(
        self, request: Request, typed: str, after: str, error: Exception | None = None
    ) -> Response:
        return self.page(
            request, "name.html", 422 if error else 200, typed=typed, next=after,
            error=forms.sentence(str(error)) if error else "", longest=forms.LONGEST_NAME,
        )  # fmt: skip

    # -- the question ------------------------------------------------------------------------

    async def question(self, request: Request) -> Response:
        """The next question, or that about a row."""
        given = request.query_params.get("row")
        row = forms.whole(given)
        if given is not None and row is None:
            raise UnknownRowError(f"a row is a whole number; got {given[:40]!r}.")
        return await run_in_threadpool(self._ask, request, row)

    def _ask(
        self,
        request: Request,
        row: int | None,
        status: int = 200,
        sent: forms.AnswerForm | None = None,
        error: Exception | None = None,
    ) -> Response:
        desk, who = self.state.desk, self.state.security.who(request)
        question = desk.question(who, row)
        ids = {name: forms.new_request_id() for name in ("request_id", "free_id", "skip_id")}
        common: dict[str, Any] = {
            "page": "question", "done": "" if error else _done(request), **ids,
            "undo_id": forms.new_request_id(), "undoable": "undone" not in request.query_params,
        }  # fmt: skip
        if question is None:
            return self.page(request, "nothing.html", **common, **page_of(desk.progress()))
        shown = asked_of(desk, question, sent, who)
        told: dict[str, Any] = {}
        if error is not None:
            told["error"] = forms.sentence(str(error))
            told["error_at"] = where(error, shown["asked"], sent)
        return self.page(
            request,
            "question.html",
            status,
            **common,
            **shown,
            **told,
            asked_at=f"{time.time():.2f}",
        )

    async def answer(self, request: Request) -> Response:
        """Take in an answer; one that cannot be taken comes back with what was typed."""
        sent = forms.answer_of(await request.form())
        return await run_in_threadpool(self._answer, request, sent)

    def _answer(self, request: Request, sent: forms.AnswerForm) -> Response:
        desk, who = self.state.desk, self.state.security.who(request)
        try:
            candidate = sent.candidate
            if candidate is None:
                candidate = candidate_like(desk, sent)
            values = None if candidate is not None else sent.values
            if candidate is None and not values:
                raise AnswerError("choose or type a value first; if you know none, say so below.")
            if desk.answers_per_row == 1 and not sent.correct:
                self._check_alone(desk, who, sent)
            desk.answer(
                who, sent.row, candidate, values, sent.request_id, sent.seconds, sent.correct
            )
        except RefusedError:  # the back button, and then something else
            words = (
                "this page was used before: what it said then is kept. To change that, answer again"
            )
            return self._ask(request, sent.row, 409, sent, ValueError(f"{words}."))
        except (UnknownRowError, StorageError):
            raise
        except CPCleanError as error:
            return self._ask(request, sent.row, 422, sent, error)
        left = [name for name in sent.typed if candidate is None and name not in sent.values]
        more = {"left": ", ".join(left)[:200]} if left else {}
        return see("/question", saved=sent.number, **more)

    def _check_alone(self, desk: Any, who: str, sent: forms.AnswerForm) -> None:
        """Whoever would overrule somebody has to know it."""
        if said := desk.overtaken(who, sent.row, sent.request_id):
            raise AnswerError(
                f"meanwhile somebody else has answered this row: {said}. To correct that, send "
                "yours again."
            )

    async def skip(self, request: Request) -> Response:
        """Take in that somebody does not know."""
        form = await request.form()
        sent = forms.answer_of(form)
        who = self.state.security.who(request)
        await run_in_threadpool(self.state.desk.skip, who, sent.row, sent.request_id, sent.seconds)
        return see("/question", skipped=sent.number)

    async def undo(self, request: Request) -> Response:
        """Take back what the person said last, and show its row again."""
        form = await request.form()
        who = self.state.security.who(request)
        desk = self.state.desk
        event = await run_in_threadpool(desk.undo, who, forms.request_id_of(form))
        await run_in_threadpool(desk.ready, 1.0)  # so that the row is shown as open again
        return see("/question", row=event.row, undone=1)

    # -- how far -----------------------------------------------------------------------------

    async def progress(self, request: Request) -> Response:
        """The progress of everybody."""
        return await run_in_threadpool(self._progress, request)

    def _progress(self, request: Request) -> Response:
        progress = self.state.desk.progress()
        picture = picture_of(progress)
        lines = {name: asdict(progress)[name] for name in ("curve", "expected", "low", "high")}
        return self.page(
            request, "progress.html", page="progress", progress=progress, says=picture.says,
            drawings=[Markup(drawn(picture, width)) for width in (WIDE, NARROW)],
            milestones=wording.milestones(progress),
            curve_json=json.dumps(lines), numbers=[
                progress.curve[at] for at in thinned(len(progress.curve), MOST_NUMBERS)
            ],
        )  # fmt: skip

    async def rows(self, request: Request) -> Response:
        """The table of rows with holes."""
        return await run_in_threadpool(self._rows, request)

    def _rows(self, request: Request) -> Response:
        asked = request.query_params
        state, sort = asked.get("state", "all"), asked.get("sort", "gain")
        found = self.state.desk.rows(
            state=state if state in STATES else "all",
            sort=sort if sort in dict(SORTS) else "gain",
            order="asc" if asked.get("order") == "asc" else "desc",
            page=forms.whole(asked.get("page"), least=1) or 1,
            per_page=PER_PAGE,
            search=asked.get("search", "")[:200],
        )
        who, now = self.state.security.who(request), self.state.desk.engine.now
        found = replace(found, rows=[with_own(one, now, who) for one in found.rows])
        most = max((one.gain for one in found.rows), default=0.0)
        kept = {"search": found.search, "state": found.state, "sort": found.sort,
                "order": found.order}  # fmt: skip
        return self.page(
            request, "rows.html", page="rows", rows=found, most=most, sorts=SORTS,
            states=[(one, one) for one in STATES],
            link=lambda page: "/rows?" + urlencode({**kept, "page": page}),
        )  # fmt: skip

    # -- out ---------------------------------------------------------------------------------

    async def export(self, request: Request) -> Response:
        """What can be taken away."""
        return await run_in_threadpool(
            self.page, request, "export.html", page="export", formats=FORMATS,
            for_terminal=self.state.desk.project.journal_belongs["repairs"] is not None,
        )  # fmt: skip

    async def table(self, request: Request) -> Response:
        """The cleaned table as a file."""
        suffix = request.path_params["suffix"]
        if suffix not in dict(FORMATS):
            return see("/export")
        fill = "likely" if request.query_params.get("fill") else None
        content = await run_in_threadpool(self.state.desk.export_table, suffix, fill)
        name = f"{'filled' if fill else 'cleaned'}{suffix}"
        return _file(content, name, type_of(suffix, content, self.state.desk.project))

    async def log(self, request: Request) -> Response:
        """The log as a file."""
        content = await run_in_threadpool(self.state.desk.export_log, True)
        return _file(content, "log.jsonl", JSON_LINES)

    async def answers(self, request: Request) -> Response:
        """What counts of it, as `cpclean clean` and `cpclean report` take it."""
        content = await run_in_threadpool(self.state.desk.export_log, False)
        return _file(content, "answers.jsonl", JSON_LINES)


def _done(request: Request) -> str:
    """What has just been done, as the address says."""
    asked = request.query_params
    if (row := forms.whole(asked.get("saved"))) is not None:
        left = asked.get("left", "")[:200]
        return f"Row {row} is saved{f'; {left} is still open' if left else ''}."
    if (row := forms.whole(asked.get("skipped"))) is not None:
        return f"Row {row} is left to others."
    return "Taken back: here is the row again." if asked.get("undone") else ""


def _file(content: bytes | str, name: str, kind: str) -> Response:
    headers = {
        "Content-Disposition": f'attachment; filename="{name}"',
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
    }
    return Response(content, media_type=kind, headers=headers)
