"""The pages that people look at between answers: progress, rows, and files to take away."""

from __future__ import annotations

import json
from urllib.parse import urlencode

from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse

from cpclean.queries.sureness import CERTAIN, OPEN, SURE
from cpclean.report.drawn import NARROW, WIDE, drawn
from cpclean.report.pictures import thinned
from cpclean.web.desk.desk import Desk
from cpclean.web.desk.exporting import JSON_LINES, TYPES, ZIP, as_file, type_of
from cpclean.web.desk.listing import STATES, RowsWanted, Sort
from cpclean.web.pages import forms, wording
from cpclean.web.pages.progress_picture import picture_of
from cpclean.web.pages.rendering import Rendering, Visit, see

SORTS: tuple[tuple[Sort, str], ...] = (
    ("gain", "help"),
    ("number", "row"),
    ("state", "state"),
    ("who", "who"),
)
PER_PAGE = 25
MOST_NUMBERS = 500  # lines of the table beside the picture, and of that of predictions
VERDICTS = (OPEN, SURE, CERTAIN)
_LINES = ("curve", "certain_curve", "sure_curve", "expected", "low", "high", "until_sure")
FORMATS = ((".csv", "CSV"), (".parquet", "Parquet"), (".xlsx", "Excel"))
OF_FILES = ((".zip", "All files"),)


class Overview:
    """The handlers."""

    def __init__(self, rendering: Rendering) -> None:
        self._rendering = rendering

    async def progress(self, visit: Visit) -> Response:
        """Everybody's progress."""
        return await run_in_threadpool(self._progress, visit)

    def _progress(self, visit: Visit) -> Response:
        progress = visit.desk.progress()
        picture = picture_of(progress)
        lines = {name: getattr(progress, name) for name in _LINES}
        certain = dict(progress.certain_curve)
        return self._rendering.page(
            visit.request, "progress.html", page="progress", progress=progress, says=picture.says,
            drawings=[Markup(drawn(picture, width)) for width in (WIDE, NARROW)],
            milestones=wording.milestones(progress), space=wording.space(visit.desk.project),
            curve_json=json.dumps(lines), trying=visit.desk.trying, notes=_notes(visit.desk),
            columns=visit.desk.engine.columns.found,
            request_id=forms.new_request_id(), numbers=[
                (at, share, certain.get(at, share)) for at, share in
                (progress.curve[at] for at in thinned(len(progress.curve), MOST_NUMBERS))
            ],
        )  # fmt: skip

    async def trust(self, visit: Visit) -> Response:
        """Begin with trials on the complete rows; the progress shows them."""
        visit.desk.trying.start()
        return see("/progress#trust")

    async def predictions_page(self, visit: Visit) -> Response:
        """Every row to predict with its verdict, the open ones first."""
        return await run_in_threadpool(self._predictions, visit)

    def _predictions(self, visit: Visit) -> Response:
        found = visit.desk.predictions()
        order = sorted(found.predictions, key=lambda one: (VERDICTS.index(one.verdict), one.share))
        return self._rendering.page(
            visit.request, "predictions.html", page="progress", found=found,
            lines=order[:MOST_NUMBERS], labelled=any(one.label is not None for one in order),
        )  # fmt: skip

    async def rows(self, visit: Visit) -> Response:
        """The table of rows with holes."""
        return await run_in_threadpool(self._rows, visit)

    def _rows(self, visit: Visit) -> Response:
        asked = visit.request.query_params
        wanted = RowsWanted(
            state=next((one for one in STATES if one == asked.get("state")), "all"),
            sort=next((one for one, _ in SORTS if one == asked.get("sort")), "gain"),
            order="asc" if asked.get("order") == "asc" else "desc",
            page=forms.whole(asked.get("page"), least=1) or 1,
            per_page=PER_PAGE,
            search=asked.get("search", "")[:200],
        )
        found = visit.desk.rows(wanted, visit.who)
        most = max((one.gain for one in found.rows), default=0.0)
        kept = {"search": found.search, "state": found.state, "sort": found.sort,
                "order": found.order}  # fmt: skip
        return self._rendering.page(
            visit.request, "rows.html", page="rows", rows=found, most=most, sorts=SORTS,
            order_words=wording.order_of(visit.desk.project.settings.strategy),
            states=[(one, one) for one in STATES],
            link=lambda page: "/rows?" + urlencode({**kept, "page": page}),
        )  # fmt: skip

    async def export(self, visit: Visit) -> Response:
        """What can be taken away."""
        return await run_in_threadpool(self._export, visit)

    def _export(self, visit: Visit) -> Response:
        files = visit.desk.project.files
        return self._rendering.page(
            visit.request, "export.html", page="export",
            formats=FORMATS if files is None else OF_FILES,
            n_files=0 if files is None else len(files.short_names),
            filled=visit.desk.words_about_filled(), known=visit.desk.words_about_known(),
            n_gold=visit.desk.n_gold,
            for_terminal=visit.desk.project.journal_belongs["repairs"] is not None,
        )  # fmt: skip

    async def table(self, visit: Visit) -> Response:
        """The cleaned table as a file."""
        suffix = visit.request.path_params["suffix"]
        if suffix == ".zip":
            blocks = await run_in_threadpool(visit.desk.export_files)
            return StreamingResponse(blocks, media_type=ZIP, headers=as_file("cleaned.zip"))
        if suffix not in dict(FORMATS):
            return see("/export")
        fill = "likely" if visit.request.query_params.get("fill") else None
        escaped = bool(visit.request.query_params.get("spreadsheet"))
        content = await run_in_threadpool(visit.desk.export_table, suffix, fill, escaped)
        name = f"{'filled' if fill else 'cleaned'}{suffix}"
        return _file(content, name, type_of(suffix, content, visit.desk.project))

    async def predictions(self, visit: Visit) -> Response:
        """The predictions with their verdicts as a file."""
        content = await run_in_threadpool(visit.desk.export_predictions)
        return _file(content, "predictions.csv", f"{TYPES['.csv']}; charset=utf-8")

    async def audit(self, visit: Visit) -> Response:
        """What was answered, cell by cell, as a file for spreadsheets."""
        content = await run_in_threadpool(visit.desk.export_audit, True)
        return _file(content, "audit.csv", f"{TYPES['.csv']}; charset=utf-8")

    async def log(self, visit: Visit) -> Response:
        """All events as a file."""
        content = await run_in_threadpool(visit.desk.export_log, True)
        return _file(content, "log.jsonl", JSON_LINES)

    async def answers(self, visit: Visit) -> Response:
        """The answers that count, as `cpclean clean` and `cpclean report` read them."""
        content = await run_in_threadpool(visit.desk.export_log, False)
        return _file(content, "answers.jsonl", JSON_LINES)


def _notes(desk: Desk) -> list[str]:
    """What was said about the table when the project was set up."""
    found = (desk.project.settings.about or {}).get("notes")
    return [str(one) for one in found] if isinstance(found, list) else []


def _file(content: bytes | str, name: str, kind: str) -> Response:
    return Response(content, media_type=kind, headers=as_file(name))
