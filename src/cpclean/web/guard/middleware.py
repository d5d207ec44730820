"""The guard: every request passes here before anything else sees it.

1. The Host must be one of ours, or another site could pose as this one (DNS rebinding).
2. A body must not be larger than its address allows.
3. Whoever asks must know the token: in the address (``?token=...``, once; then a cookie stands
   for it), in the form of /login, or as ``Authorization: Bearer TOKEN``. An address from which
   many wrong ones came has to wait. There are two tokens: the owner's, and one with which people
   can answer, but neither set up nor export.
4. Whoever changes something with a cookie must bring the session's CSRF token, in the form field
   ``csrf`` or the header ``X-CSRF-Token``, and must not come from another site's page (Origin).
5. Every response says what a browser may do with it, and nothing is logged with its query. Over
   https, cookies are for https only, and browsers are told to come back so.
"""

from __future__ import annotations

import html
from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cpclean.web.guard.bounded_body import MOST_FIELDS, BoundedBody, TooLargeError
from cpclean.web.guard.prefixes import root_of
from cpclean.web.guard.refusals import (
    SAFE_METHODS,
    error_response,
    login_response,
    only_the_owner,
    query_of,
    refusal,
    too_many,
    unknown,
    without_token,
)
from cpclean.web.guard.roles import OWNER, PUBLIC, may, role_of
from cpclean.web.guard.security import HEADERS, HTTPS_HEADERS, Security, address_of, session_of
from cpclean.web.guard.tokens import Tokens


class Guard:
    """The middleware: lets a request through, or answers it.

    Parameters
    ----------
    app : ASGI application
    security : Security
    """

    def __init__(self, app: ASGIApp, security: Security) -> None:
        self._app, self._security = app, security

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        send = _with_headers(send, scope["scheme"] == "https")
        body = BoundedBody(scope, receive)
        try:
            refused = await self._refused(scope, body)
            if refused is None and not may(role_of(scope), scope["path"]):
                refused = only_the_owner(scope)
            if refused is None:
                await self._app(scope, body, send)
                return
        except TooLargeError as problem:
            refused = refusal(scope, 413, str(problem))
        except ClientDisconnect:
            return  # before all of it had come: nobody is there to be answered
        await refused(scope, receive, send)

    async def _refused(self, scope: Scope, body: BoundedBody) -> Response | None:
        """The response to a request that goes no further; None if it does."""
        headers, security = Headers(scope=scope), self._security
        if len(headers.getlist("host")) != 1 or not security.is_host(headers["host"]):
            return error_response(
                421, "this server is not known under that name. Use the address that it printed."
            )
        body.check_announced(headers.get("content-length"))
        changes = scope["method"] not in SAFE_METHODS
        if changes and not _is_own_page(headers):
            return refusal(scope, 403, "changes from the pages of other sites are refused.")
        path = scope["path"]
        bearer = _bearer(headers)
        token = next((value for name, value in query_of(scope) if name == "token"), None)
        if bearer is not None or token is not None or (changes and path == "/login"):
            seconds = security.wrong_tokens.wait(address_of(scope))
            if seconds:
                return too_many(scope, seconds)
        if bearer is not None and (role := security.role_by(bearer, scope)) is not None:
            scope["cpclean.role"] = role
            return None
        session = _cookies(headers).get(security.session_cookie, "")
        if (role := security.role_in(session)) is not None:
            scope["cpclean.session"], scope["cpclean.role"] = session, role
        if token is not None and not changes:
            return self._login(scope, token)
        if path.startswith(PUBLIC):
            return None
        if not session_of(scope):
            if security.tokens.open:  # there is no token to know
                scope["cpclean.role"] = OWNER
                is_page = not path.startswith("/api/")
                return self._begin(scope, OWNER) if is_page and not changes else None
            return unknown(scope)
        if changes and not await _brings_csrf(scope, headers, body, security.tokens):
            text = "the form is too old or not from this page. Load the page again and repeat it."
            return refusal(scope, 403, text)
        return None

    def _login(self, scope: Scope, token: str) -> Response:
        """Take the token out of the address, so that it is not in histories and screenshots."""
        role = self._security.role_by(token, scope)
        if role is None:
            return login_response(scope, 403, wrong=True)
        return self._begin(scope, role)

    def _begin(self, scope: Scope, role: str) -> Response:
        target = without_token(scope)
        if Headers(scope=scope).get("sec-fetch-site") == "cross-site":
            # After a link on another site, a redirect would come without the strict cookie.
            whole = html.escape(root_of(scope) + target)
            page = f'<meta http-equiv="refresh" content="0;url={whole}">'
            response: Response = HTMLResponse(f"<!doctype html><title>cpclean</title>{page}")
        else:
            response = RedirectResponse(target, 303)
        if not session_of(scope) or role_of(scope) != role:
            self._security.let_in(response, role)
        response.headers["Cache-Control"] = "no-store"
        return response


def _is_own_page(headers: Headers) -> bool:
    """Whether a change comes from a page of this server, or from no page at all."""
    site = headers.get("sec-fetch-site")
    if site not in (None, "same-origin", "none"):
        return False
    origin = headers.get("origin")
    if origin is None:
        return True
    try:
        return urlsplit(origin).netloc.lower() == headers.get("host", "").lower()
    except ValueError:
        return False


def _bearer(headers: Headers) -> str | None:
    """The token that a program brings."""
    scheme, _, given = headers.get("authorization", "").partition(" ")
    return given.strip() if scheme.lower() == "bearer" else None


def _cookies(headers: Headers) -> dict[str, str]:
    found: SimpleCookie = SimpleCookie()
    try:
        found.load(headers.get("cookie", ""))
    except CookieError:
        return {}
    return {name: morsel.value for name, morsel in found.items()}


async def _brings_csrf(scope: Scope, headers: Headers, body: BoundedBody, tokens: Tokens) -> bool:
    """Whether a change brings the CSRF token of its session, in a header or in its form."""
    session = session_of(scope)
    if given := headers.get("x-csrf-token"):
        return tokens.is_csrf(given, session)
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in ("application/x-www-form-urlencoded", "multipart/form-data"):
        return False
    whole = await body.whole()

    async def once() -> Message:
        return {"type": "http.request", "body": whole, "more_body": False}

    try:
        async with Request(scope, once).form(max_fields=MOST_FIELDS) as form:
            field = form.get("csrf")
            return isinstance(field, str) and tokens.is_csrf(field, session)
    except (MultiPartException, HTTPException, ValueError, KeyError):
        return False


def _with_headers(send: Send, https: bool) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
            if https:
                headers.update(HTTPS_HEADERS)
                message["headers"] = [_for_https(one) for one in message["headers"]]
        await send(message)

    return sending


def _for_https(header: tuple[bytes, bytes]) -> tuple[bytes, bytes]:
    """A cookie that is sent over https comes back over https only."""
    name, value = header
    return (name, value + b"; Secure") if name.lower() == b"set-cookie" else header
