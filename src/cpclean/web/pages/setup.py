"""Set-up by page: a file comes in, a person looks at its columns, and a project begins."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from cpclean.data.columns import KINDS
from cpclean.errors import CPCleanError
from cpclean.intake.layout import SEPARATORS, Layout
from cpclean.intake.reading import SUFFIXES
from cpclean.intake.sentences import said
from cpclean.web.desk.workplace import Workplace
from cpclean.web.guard.bounded_body import MOST_FIELDS
from cpclean.web.pages import forms, wording
from cpclean.web.pages.drafting import FileLook, look, project_of
from cpclean.web.pages.drafts import (
    DECIMALS,
    ENCODINGS,
    PRIORS,
    SPACES,
    Draft,
    Files,
    SetupForm,
)
from cpclean.web.pages.upload_folder import UploadFolder

MOST_DRAFTS = 8  # uploads that wait for their second step; the oldest goes first
ACCEPT = ",".join(dict.fromkeys("." + one.rsplit(".", 1)[1] for one in SUFFIXES))
_PIECE = 2**20


class SetupPages:
    """The two steps: the file, then its label and columns.

    Parameters
    ----------
    state : Workplace
    page : function (request, template, status, **values) -> response
    """

    def __init__(self, state: Workplace, page: Callable[..., Response]) -> None:
        self.state, self._page = state, page
        self.uploads = UploadFolder()
        state.at_close.append(self.uploads.remove)
        self._drafts: OrderedDict[str, Draft] = OrderedDict()

    @property
    def limit(self) -> int:
        """The largest upload, in bytes."""
        return self.state.upload_limit

    async def show(self, request: Request) -> Response:
        """The field for a file; nothing to set up where a project is there."""
        if self.state.desk is not None:
            return RedirectResponse("/question", status_code=303)
        return await run_in_threadpool(self._upload_page, request)

    async def take(self, request: Request) -> Response:
        """Either step."""
        if self.state.desk is not None:
            return RedirectResponse("/question", status_code=303)
        async with request.form(max_fields=MOST_FIELDS) as form:  # which closes the files in it
            return await self._taken(request, form)

    async def _taken(self, request: Request, form: Mapping[str, Any]) -> Response:
        try:
            if forms.text(form, "step") == "upload":
                draft = await self._received(form)
                return await run_in_threadpool(self._first, request, draft, form)
        except CPCleanError as error:
            return await run_in_threadpool(self._upload_page, request, error, form)
        draft_id = forms.text(form, "draft")
        if draft_id not in self._drafts:
            gone = ValueError("the file is no longer here; choose it again.")
            return await run_in_threadpool(self._upload_page, request, gone)
        return await run_in_threadpool(self._second, request, self._drafts[draft_id], form)

    def _first(self, request: Request, draft: Draft, form: Mapping[str, Any]) -> Response:
        proposed, files = SetupForm.first(draft, form), draft.files()
        try:
            seen = look(draft, proposed, files)
        except CPCleanError:
            self._drafts.pop(draft.id).remove()
            raise
        return self._look_page(request, _Step(draft, proposed, files), seen.problem, seen=seen)

    def _second(self, request: Request, draft: Draft, form: Mapping[str, Any]) -> Response:
        step = _Step(draft, SetupForm.of(form, draft), draft.files())
        if forms.text(form, "step") != "start":
            return self._look_page(request, step)
        if forms.text(form, "read_as") not in ("", _spelt(step.layout)):
            changed = "The file is read differently now: look at its columns before you start."
            return self._look_page(request, step, note=changed)
        try:
            project = project_of(draft, step.choice, step.files)
            self.state.start_project(project)
        except CPCleanError as error:
            return self._look_page(request, step, error)
        self._drafts.clear()
        self.uploads.remove()  # the project has what it needs, and there is no other to set up
        return RedirectResponse("/question", status_code=303)

    # -- files -------------------------------------------------------------------------------

    async def _received(self, form: Mapping[str, Any]) -> Draft:
        """The files of an upload in a folder of ours, under names of ours."""
        table = form.get("table")
        if not isinstance(table, UploadFile) or not table.filename:
            raise forms.FieldError("table", "choose a file first.")
        draft_id = secrets.token_hex(16)
        path = await self._kept(table, f"{draft_id}-table", self.limit)
        points = form.get("points")
        draft = Draft(draft_id, _name(table), path)
        if isinstance(points, UploadFile) and points.filename:
            room = self.limit - path.stat().st_size
            kept = await self._kept(points, f"{draft_id}-points", room)
            draft = replace(draft, points_name=_name(points), points_path=kept)
        self._drafts[draft_id] = draft
        while len(self._drafts) > MOST_DRAFTS:
            self._drafts.popitem(last=False)[1].remove()
        return draft

    async def _kept(self, file: UploadFile, name: str, room: int) -> Path:
        given, limit = _name(file), wording.size(self.limit)
        suffix = next((one for one in SUFFIXES if given.lower().endswith(one)), None)
        if suffix is None:
            raise forms.FieldError(
                "table", f"a table is one of {', '.join(SUFFIXES)}; got {given!r}."
            )
        path, size = self.uploads.path / f"{name}{suffix}", 0
        with path.open("wb") as into:
            while piece := await file.read(_PIECE):
                size += len(piece)
                if size > room:
                    path.unlink()
                    raise forms.FieldError(
                        "table", f"{given!r} is too large: files may have {limit} together."
                    )
                into.write(piece)
        return path

    # -- pages -------------------------------------------------------------------------------

    def _upload_page(
        self,
        request: Request,
        error: Exception | None = None,
        form: Mapping[str, Any] | None = None,
    ) -> Response:
        chosen = {name: forms.text(form or {}, name) for name in ("sep", "encoding", "decimal")}
        return self._page(
            request, "upload.html", 422 if error else 200, page="setup", limit=self.limit,
            suffixes=", ".join(SUFFIXES), accept=ACCEPT, chosen=chosen, **_WRITTEN,
            error=_words(error), error_at=_place(error),
        )  # fmt: skip

    def _look_page(
        self,
        request: Request,
        step: _Step,
        error: Exception | None = None,
        note: str = "",
        seen: FileLook | None = None,
    ) -> Response:
        if seen is None:
            seen, problem = _seen(step)
            error = error or problem
        draft, choice = step.draft, replace(step.choice, label=seen.label)
        return self._page(
            request, "setup.html", 422 if error else 200, page="setup", draft=draft, choice=choice,
            columns=seen.columns, rows_with_holes=seen.rows_with_holes, n_rows=seen.n_rows,
            names=seen.names, notes=[*([note] if note else []), *seen.notes], kinds=KINDS,
            priors=PRIORS, spaces=SPACES, layout=step.layout, read_as=_spelt(step.layout),
            place=self.state.place_of(draft.name), error=_words(error), error_at=_place(error),
            **_WRITTEN,
        )  # fmt: skip


_WRITTEN = {
    "separators": [(sign, words) for sign, words in SEPARATORS.items()],
    "encodings": ENCODINGS,
    "decimals": DECIMALS,
}


@dataclass(frozen=True)
class _Step:
    """The second step, as it is taken in one request."""

    draft: Draft
    choice: SetupForm
    files: Files

    @property
    def layout(self) -> Layout | None:
        return self.choice.layout(self.files)


def _seen(step: _Step) -> tuple[FileLook, Exception | None]:
    """The file under the choices; what cannot be shown so is shown as it was detected."""
    first: Exception | None = None
    for tried in (step.choice, step.choice.without_kinds(), step.choice.as_found()):
        try:
            seen = look(step.draft, tried, step.files)
        except CPCleanError as problem:
            first = first or problem
        else:
            return seen, first or seen.problem
    assert first is not None, "otherwise something was seen"
    raise first  # the file was read before, but is no longer there


# What the page's inputs are called, where choices are called otherwise.
_INPUTS = {"n_neighbors": "neighbors", "null_tokens": "null"}


def _words(error: Exception | None) -> str:
    return "" if error is None else forms.sentence(said(error, "page"))


def _place(error: Exception | None) -> str:
    """The input that an error is about; "" if it is about none."""
    if not isinstance(error, CPCleanError) or error.field is None:
        return ""
    if error.field in ("repairs", "kinds", "drop") and error.column is not None:
        return f"{error.field} of {error.column}"
    return _INPUTS.get(error.field, error.field)


def _spelt(layout: Layout | None) -> str:
    """How a file is read, in a word for a hidden field."""
    return "" if layout is None else f"{layout.sep!r} {layout.encoding} {layout.decimal}"


def _name(file: UploadFile) -> str:
    """The name of a file without its folders, for people only."""
    return (file.filename or "").replace("\\", "/").rsplit("/", 1)[-1][:200]
