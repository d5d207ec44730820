"""The page of a question, and what people send from it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from cpclean.analysis.words import listed
from cpclean.errors import (
    AnswerError,
    CPCleanError,
    OvertakenError,
    RefusedError,
    StorageError,
    UnknownRowError,
)
from cpclean.web.guard.bounded_body import form_of
from cpclean.web.pages import forms
from cpclean.web.pages.question_page import asked_of, nothing_to_ask
from cpclean.web.pages.rendering import Rendering, Visit, see

# A picture is only ever shown, and by nobody but our pages.
IMAGE_HEADERS = {
    "Cache-Control": "private, no-cache",
    "Content-Disposition": "inline",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Asking:
    """The handlers: a question out; an answer, a skip or an undo in."""

    def __init__(self, rendering: Rendering) -> None:
        self._rendering = rendering

    async def question(self, visit: Visit) -> Response:
        """The next question, or that about a row."""
        given = visit.request.query_params.get("row")
        row = forms.whole(given)
        if given is not None and row is None:
            raise UnknownRowError(f"a row is a whole number; got {given[:40]!r}.")
        return await run_in_threadpool(self._ask, visit, row)

    def _ask(
        self,
        visit: Visit,
        row: int | None,
        status: int = 200,
        sent: forms.AnswerForm | None = None,
        error: CPCleanError | None = None,
        strange: Mapping[str, str] | None = None,
    ) -> Response:
        question = visit.desk.question(visit.who, row)
        common: dict[str, Any] = {
            "page": "question",
            "done": "" if sent else _done(visit.request),
            "undoable": not {"undone", "commented"} & set(visit.request.query_params),
            **{name: forms.new_request_id() for name in ("request_id", "undo_id")},
        }
        if question is None:
            shown = nothing_to_ask(visit.desk.progress(), visit.desk.held_by_others(visit.who))
            return self._rendering.page(visit.request, "nothing.html", **common, **shown)
        shown = asked_of(visit.desk, question, sent, visit.who, error, strange, row is None)
        return self._rendering.page(
            visit.request, "question.html", status, **common, **shown, asked_at=f"{time.time():.2f}"
        )

    async def image(self, visit: Visit) -> Response:
        """The picture of a row."""
        row = forms.whole(visit.request.query_params.get("row"))
        if row is None:
            raise UnknownRowError("name the row whose picture is to be shown.")
        content, media = await run_in_threadpool(visit.desk.image_content, row)
        return Response(content, media_type=media, headers=IMAGE_HEADERS)

    async def answer(self, visit: Visit) -> Response:
        """Take in an answer; one that cannot be accepted comes back with what was typed."""
        sent = forms.answer_of(await form_of(visit.request))
        return await run_in_threadpool(self._answer, visit, sent)

    def _answer(self, visit: Visit, sent: forms.AnswerForm) -> Response:
        desk, who = visit.desk, visit.who
        try:
            values = sent.values
            if not values:
                raise AnswerError("enter a value first, or press “I don’t know”.")
            strange = desk.unusual(sent.row, values)
            if any(sent.confirmed.get(name) != sent.exact.get(name) for name in strange):
                return self._ask(visit, sent.row, 422, sent, strange=strange)
            desk.answer(
                who, sent.row, None, values, sent.request_id, sent.seconds, sent.correct,
                sent.comment, sent.seen,
            )  # fmt: skip
        except OvertakenError as error:
            return self._ask(visit, sent.row, 422, sent, _overtaken(visit, error))
        except RefusedError:  # the back button, and then something else
            used = AnswerError(
                "an answer was sent from this page before, and that one is saved. To change it, "
                "answer again."
            )
            return self._ask(visit, sent.row, 409, sent, used)
        except (UnknownRowError, StorageError):
            raise
        except CPCleanError as error:
            return self._ask(visit, sent.row, 422, sent, error)
        left = [name for name in sent.typed if name not in values]
        more = {"left": listed(left)[:200], "n_left": len(left)} if left else {}
        if not sent.exact:
            more["roughly"] = 1
        return see("/question", saved=sent.number, **more)

    async def skip(self, visit: Visit) -> Response:
        """Take in that somebody does not know, or who else may."""
        sent = forms.answer_of(await form_of(visit.request), "skip")
        return await run_in_threadpool(self._skip, visit, sent)

    def _skip(self, visit: Visit, sent: forms.AnswerForm) -> Response:
        try:
            visit.desk.skip(
                visit.who, sent.row, sent.request_id, sent.seconds,
                reason=sent.reason, to=sent.to, comment=sent.comment,
            )  # fmt: skip
        except (UnknownRowError, StorageError):
            raise
        except CPCleanError as error:
            return self._ask(visit, sent.row, 422, sent, error)
        return see("/question", skipped=sent.number, **({"to": sent.to} if sent.to else {}))

    async def comment(self, visit: Visit) -> Response:
        """Take in a comment, and show the row again."""
        sent = forms.answer_of(await form_of(visit.request), "comment")
        return await run_in_threadpool(self._comment, visit, sent)

    def _comment(self, visit: Visit, sent: forms.AnswerForm) -> Response:
        try:
            visit.desk.comment(visit.who, sent.row, sent.comment, sent.request_id)
        except (UnknownRowError, StorageError):
            raise
        except CPCleanError as error:
            return self._ask(visit, sent.row, 422, sent, error)
        visit.desk.ready(1.0)  # so that the comment is shown
        return see("/question", row=sent.row, commented=sent.number)

    async def undo(self, visit: Visit) -> Response:
        """Take back what the person answered last, and show its row again."""
        form = await form_of(visit.request)
        event = await run_in_threadpool(visit.desk.undo, visit.who, forms.request_id_of(form))
        await run_in_threadpool(visit.desk.ready, 1.0)  # so that the row is shown as open again
        return see("/question", row=event.row, undone=1)


def _overtaken(visit: Visit, error: OvertakenError) -> AnswerError:
    """Whoever would overrule an answer has to know it."""
    text = str(error)
    if error.event.who == visit.who:
        mine = f"{visit.who} (you in another window, or somebody with your name)"
        text = text.replace(visit.who, mine, 1)
    return AnswerError(text)


def _done(request: Request) -> str:
    """What has just been done, according to the address."""
    asked = request.query_params
    if (row := forms.whole(asked.get("saved"))) is not None:
        left = asked.get("left", "")[:200]
        are = "is" if asked.get("n_left", "1") == "1" else "are"
        how = " as a rough answer" if asked.get("roughly") else ""
        return f"Row {row} is saved{how}{f'; {left} {are} still open' if left else ''}."
    if (row := forms.whole(asked.get("skipped"))) is not None:
        to = asked.get("to", "")[: forms.LONGEST_NAME]
        return f"Row {row} is handed over to {to}." if to else f"Row {row} is left to others."
    if (row := forms.whole(asked.get("commented"))) is not None:
        return f"The comment on row {row} is saved."
    return "Undone: here is the row again." if asked.get("undone") else ""
