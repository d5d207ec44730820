"""The pages of a team: the next questions, who is asked what, gold questions, who is here."""

from __future__ import annotations

import math
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from cpclean.errors import AnswerError, UnknownRowError
from cpclean.web.desk.exporting import TYPES, as_file
from cpclean.web.desk.gold import FEWEST
from cpclean.web.guard.bounded_body import form_of
from cpclean.web.pages import forms
from cpclean.web.pages.rendering import Rendering, Visit, see

MOST_LINES = 50_000  # characters of a list of experts


class TeamPages:
    """The handlers."""

    def __init__(self, rendering: Rendering) -> None:
        self._rendering = rendering

    # -- for everybody ---------------------------------------------------------------------

    async def next(self, visit: Visit) -> Response:
        """What this person will be asked next."""
        return await run_in_threadpool(self._next, visit)

    def _next(self, visit: Visit) -> Response:
        rows = visit.desk.next_rows(visit.who)
        return self._rendering.page(
            visit.request, "next.html", page="question", rows=rows, file=visit.desk.name
        )

    async def take(self, visit: Visit) -> Response:
        """Take a question over from somebody."""
        row = forms.whole(forms.text(await form_of(visit.request), "row"))
        if row is None:
            raise UnknownRowError("the form does not say which row it is about. Try it again.")
        await run_in_threadpool(visit.desk.take_over, visit.who, row)
        return see("/question", row=row)

    # -- for the owner ---------------------------------------------------------------------

    async def show(self, visit: Visit) -> Response:
        """The team."""
        return await run_in_threadpool(self._page, visit)

    def _page(self, visit: Visit, status: int = 200, **more: Any) -> Response:
        desk = visit.desk
        experts, rate = desk.team.experts, desk.team.gold_rate
        shown: dict[str, Any] = {
            "lines": experts.lines,
            "columns": desk.team.columns,
            "nobodys": experts.nobodys(desk.team.columns) if experts else [],
            "for_nobody": desk.rows_for_nobody,
            "n_gold": desk.n_gold,
            "typed_rate": f"{100 * rate:.4g}",
            "quality": desk.quality(),
            "fewest": FEWEST,
            "here": desk.presence.here(),
            "holders": desk.all_held(),
            "typed": None,
            "request_id": forms.new_request_id(),
            "undo_id": forms.new_request_id(),
            "done": "Saved." if visit.request.query_params.get("saved") else "",
        }
        return self._rendering.page(
            visit.request, "team.html", status, page="progress", **{**shown, **more}
        )

    async def experts(self, visit: Visit) -> Response:
        """Take in who is asked what."""
        text = forms.text(await form_of(visit.request), "experts")[:MOST_LINES]
        return await run_in_threadpool(self._experts, visit, text)

    def _experts(self, visit: Visit, text: str) -> Response:
        try:
            visit.desk.team.set_experts(text.splitlines())
        except AnswerError as error:
            words = forms.sentence(str(error))
            return self._page(visit, 422, typed=text, error=words, error_at="experts")
        return see("/team", saved=1)

    async def gold(self, visit: Visit) -> Response:
        """Take in how often gold is asked."""
        text = forms.text(await form_of(visit.request), "rate")[:20]
        return await run_in_threadpool(self._gold, visit, text)

    def _gold(self, visit: Visit, text: str) -> Response:
        try:
            rate = float(text.strip().removesuffix("%").replace(",", ".")) / 100
        except ValueError:
            rate = math.nan
        if not 0 <= rate <= 0.5:
            words = f"The share is a number from 0 to 50, in percent; got {text!r}."
            return self._page(visit, 422, typed_rate=text, error=words, error_at="rate")
        visit.desk.team.set_gold_rate(rate)
        return see("/team", saved=1)

    async def quality(self, visit: Visit) -> Response:
        """How well people answer gold questions, as a file."""
        content = await run_in_threadpool(visit.desk.export_quality)
        kind = f"{TYPES['.csv']}; charset=utf-8"
        return Response(content, media_type=kind, headers=as_file("quality.csv"))
