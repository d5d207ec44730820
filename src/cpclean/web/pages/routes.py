"""The pages for people: plain forms, which scripts only make more pleasant.

Every change is a form that is posted and answered with a redirect, so that the reload and the back
button of a browser are harmless; its request id is made with the page, so that nothing is saved
twice.
"""

from __future__ import annotations

from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from cpclean.web.desk.workplace import Workplace
from cpclean.web.guard.security import Security
from cpclean.web.pages.asking import Asking
from cpclean.web.pages.naming import Naming
from cpclean.web.pages.overview import Overview
from cpclean.web.pages.rendering import HERE, Rendering
from cpclean.web.pages.setup import SetupPages
from cpclean.web.pages.team import TeamPages

# What pages and reports share: the colours, and the classes of pictures.
SHEETS = {name: files("cpclean.report") / "templates" / name for name in ("colours.css", "svg.css")}


def routes(workplace: Workplace, security: Security) -> list[BaseRoute]:
    """The routes of all pages, their styles and scripts."""
    rendering = Rendering(workplace, security)
    naming, asking, overview = Naming(rendering), Asking(rendering), Overview(rendering)
    team = TeamPages(rendering)
    setup = SetupPages(workplace, rendering.page)
    shown = {
        "/question": asking.question,
        "/image": asking.image,
        "/progress": overview.progress,
        "/predictions": overview.predictions_page,
        "/rows": overview.rows,
        "/next": team.next,
        "/team": team.show,
        "/export": overview.export,
        "/export/table{suffix}": overview.table,
        "/export/predictions.csv": overview.predictions,
        "/export/audit.csv": overview.audit,
        "/export/quality.csv": team.quality,
        "/export/log.jsonl": overview.log,
        "/export/answers.jsonl": overview.answers,
    }
    sent = {"/answer": asking.answer, "/skip": asking.skip, "/comment": asking.comment,
            "/undo": asking.undo, "/trust": overview.trust, "/take": team.take,
            "/team/experts": team.experts, "/team/gold": team.gold}  # fmt: skip
    return [
        Route("/", naming.home),
        Route("/name", naming.show, methods=["GET"]),
        Route("/name", naming.take, methods=["POST"]),
        *(Route(path, rendering.ready(one)) for path, one in shown.items()),
        *(Route(path, rendering.ready(one), methods=["POST"]) for path, one in sent.items()),
        Route("/setup", setup.show, methods=["GET"]),
        Route("/setup", setup.take, methods=["POST"]),
        *static_routes(),
    ]


def static_routes() -> list[BaseRoute]:
    """The routes of styles and scripts."""
    return [
        *(Route(f"/static/{name}", _shared_sheet) for name in SHEETS),
        Mount("/static", StaticFiles(directory=HERE / "static"), name="static"),
    ]


async def _shared_sheet(request: Request) -> Response:
    name = request.url.path.rpartition("/")[2]
    return Response(SHEETS[name].read_text("utf-8"), media_type="text/css")
