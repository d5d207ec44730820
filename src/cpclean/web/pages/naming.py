"""Who is answering: the page for a name, and where to go first."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from cpclean.web.guard.bounded_body import form_of
from cpclean.web.guard.security import session_of
from cpclean.web.pages import forms
from cpclean.web.pages.rendering import Rendering, see


class Naming:
    """The handlers of the first page and of the page for a name."""

    def __init__(self, rendering: Rendering) -> None:
        self._rendering = rendering

    async def home(self, request: Request) -> Response:
        """To the question, or to the set-up if there is nothing to ask about."""
        return see("/setup" if self._rendering.workplace.desk is None else "/question")

    async def show(self, request: Request) -> Response:
        """The field for a name."""
        return await run_in_threadpool(
            self._page, request, self._rendering.security.who(request) or "",
            request.query_params.get("next", ""),
        )  # fmt: skip

    async def take(self, request: Request) -> Response:
        """Take in a name."""
        form = await form_of(request)
        after = forms.place_after(forms.text(form, "next"))
        try:
            name = forms.name_of(form)
        except forms.FieldError as error:
            typed = forms.text(form, "who")[: forms.LONGEST_NAME]
            return await run_in_threadpool(self._page, request, typed, after, error)
        same = forms.text(form, "same") == "1"
        if (used := await run_in_threadpool(self._used, request, name)) is not None:
            if not same:
                return await run_in_threadpool(self._page, request, name, after, None, used)
            name = used[0]
        response = see(after if self._rendering.workplace.desk is not None else "/setup")
        self._rendering.security.set_who(response, name)
        return response

    def _used(self, request: Request, name: str) -> tuple[str, float] | None:
        """Who uses a name in another browser, and how long ago that was; None if nobody does."""
        desk, before = self._rendering.workplace.desk, self._rendering.security.who(request)
        if desk is None or name == before:
            return None
        return desk.name_in_use(session_of(request.scope), name)

    def _free(self, name: str) -> str:
        desk = self._rendering.workplace.desk
        if desk is None:
            return ""
        found = desk.presence.free_name(name, desk.people)
        return found if len(found) <= forms.LONGEST_NAME else ""

    def _page(
        self,
        request: Request,
        typed: str,
        after: str,
        error: Exception | None = None,
        used: tuple[str, float] | None = None,
    ) -> Response:
        free = self._free(used[0]) if used else ""
        return self._rendering.page(
            request, "name.html", 422 if error else 409 if used else 200, typed=typed, next=after,
            used=used, free=free,
            error=forms.sentence(str(error)) if error else "", longest=forms.LONGEST_NAME,
        )  # fmt: skip
