"""What is answered to requests that are not let through: JSON for programs, a page for people."""

from __future__ import annotations

import math
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.types import Scope

from cpclean.web.guard.bare_pages import login_page, message_page
from cpclean.web.guard.bounded_body import form_of
from cpclean.web.guard.prefixes import root_of
from cpclean.web.guard.security import Security

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
_UNSAVED = {"Cache-Control": "no-store"}


def error_response(status: int, text: str, kind: str = "refused", retry: bool = False) -> Response:
    """An error as JSON: what is wrong, and the way out."""
    content = {"error": text, "kind": kind, "retry": retry}
    headers = {**_UNSAVED, "Retry-After": "1"} if retry else _UNSAVED
    return JSONResponse(content, status, headers)


def refusal(
    scope: Scope, status: int, text: str, title: str = "This request was refused"
) -> Response:
    """A refusal: a page for people, JSON for programs."""
    if not _is_for_people(scope):
        return error_response(status, text)
    page = message_page(title, text[:1].upper() + text[1:], root_of(scope))
    return HTMLResponse(page, status, _UNSAVED)


def too_many(scope: Scope, seconds: float) -> Response:
    """The answer to an address from which many wrong tokens came."""
    wait = math.ceil(seconds)
    text = f"many wrong tokens came from this address. Try again in {wait} seconds."
    response = refusal(scope, 429, text)
    response.headers["Retry-After"] = str(wait)
    return response


def only_the_owner(scope: Scope) -> Response:
    """The answer to somebody who may answer questions, and asks for what is the owner's."""
    if scope["path"] == "/setup":
        text = "no table is set up here yet. Its owner does that; come back when it is there."
        return refusal(scope, 403, text, "There is nothing to answer yet")
    text = (
        "this is for the owner of the project. With your link you can answer questions and see the "
        "progress; the owner has another link, for the set-up and the export."
    )
    return refusal(scope, 403, text, "This is for the owner")


def unknown(scope: Scope) -> Response:
    """The answer to somebody who has not shown the token."""
    if _is_for_people(scope):
        return login_response(scope, 401)
    response = error_response(
        401,
        "this needs the token that the server printed when it started: "
        "Authorization: Bearer TOKEN.",
    )
    response.headers["WWW-Authenticate"] = 'Bearer realm="cpclean"'
    return response


def login_response(scope: Scope, status: int, wrong: bool = False) -> Response:
    """The form for the token, which leads on to the page that was asked for."""
    # The address that a form is sent to is not a page to go on to.
    target = without_token(scope) if scope["method"] in SAFE_METHODS else "/"
    return HTMLResponse(login_page(target, wrong, root_of(scope)), status, _UNSAVED)


async def take_login(request: Request, security: Security) -> Response:
    """Check the token that somebody sent with the login form."""
    form = await form_of(request)
    token, target = form.get("token"), form.get("next")
    role = security.role_by(token.strip(), request.scope) if isinstance(token, str) else None
    if role is None:
        page = login_page(own_path(target), True, root_of(request.scope))
        return HTMLResponse(page, 403, _UNSAVED)
    response = RedirectResponse(own_path(target), 303)
    security.let_in(response, role)
    return response


def own_path(target: Any) -> str:
    """A path of this server to go to; anything else becomes the first page."""
    if not isinstance(target, str) or not target.startswith("/"):
        return "/"
    odd = target.startswith(("//", "/\\")) or any(ord(sign) < 32 or sign == "\\" for sign in target)
    return "/" if odd or target.startswith("/login") else target


def query_of(scope: Scope) -> list[tuple[str, str]]:
    """The names and values of a request's query."""
    return parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)


def without_token(scope: Scope) -> str:
    """The address of a request without its token; the first page if it is not a page of ours."""
    path = own_path(scope["path"])
    rest = urlencode([(name, value) for name, value in query_of(scope) if name != "token"])
    return f"{quote(path)}?{rest}" if rest else quote(path)


def _is_for_people(scope: Scope) -> bool:
    """Whether a browser will show the response: a page, or what comes of a form."""
    if scope["path"].startswith("/api/"):
        return False
    return scope["method"] in SAFE_METHODS or "text/html" in Headers(scope=scope).get("accept", "")
