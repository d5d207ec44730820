"""Who is let in: every request passes here before anything else sees it.

1. The Host has to be one of ours, or another site could pose as this one (DNS rebinding).
2. A body may not be larger than its address allows.
3. Who asks has to know the token: in the address (``?token=...``, once, then a cookie stands for
   it), in the form of /login, or as ``Authorization: Bearer TOKEN``.
4. Who changes something with a cookie has to bring the session's CSRF token, in the form field
   ``csrf`` or the header ``X-CSRF-Token``, and must not come from another site's page (Origin).
5. Every response says what a browser may do with it, and nothing is logged with its query.
"""

from __future__ import annotations

import html
import ipaddress
from collections.abc import Collection
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cpclean.web.server.bare_pages import login_page, message_page
from cpclean.web.server.tokens import Tokens

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": CSP,
    "X-Content-Type-Options": "nosniff",
    # Not "no-referrer": with it, browsers send forms with the Origin "null", which is refused.
    "Referrer-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
MOST_BODY = 2**20
MOST_UPLOAD = 2**26
UPLOADS = ("/setup",)  # what may be as large as a table
PUBLIC = ("/login", "/static/", "/favicon.ico")
COOKIE_SECONDS = 30 * 24 * 3600
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")


class Security:
    """The rules, and what templates and handlers ask of them.

    Parameters
    ----------
    token : str
        Empty: no token is asked for.
    hosts : collection of str
        Names under which the server may be asked, beside those of this machine itself.
    any_address : bool
        Whether it may be asked under any IP address: it listens on all of them. Other sites cannot
        pose as an address.
    """

    def __init__(self, token: str, hosts: Collection[str] = (), any_address: bool = False) -> None:
        self.tokens = Tokens(token)
        self._hosts = {host.lower() for host in hosts} | {"localhost", "127.0.0.1", "::1"}
        self._any_address = any_address
        # Cookies go to all ports of a machine: two servers there must not share a name.
        mark = self.tokens.csrf("name of the cookie")[:8]
        self.session_cookie, self.who_cookie = f"cpclean_{mark}", f"cpclean_who_{mark}"

    # -- for handlers and templates --------------------------------------------------------

    def csrf(self, request: Request) -> str:
        """The CSRF token for the forms of this request's session."""
        return self.tokens.csrf(session_of(request.scope))

    def who(self, request: Request) -> str | None:
        """The annotator's name, if it has been told."""
        return self.tokens.opened(request.cookies.get(self.who_cookie, ""), "who")

    def set_who(self, response: Response, name: str) -> None:
        """Keep the annotator's name in a cookie that nobody else can write."""
        self._set_cookie(response, self.who_cookie, self.tokens.sealed(name, "who"))

    def let_in(self, response: Response) -> None:
        """Begin a session with this response."""
        self._set_cookie(response, self.session_cookie, self.tokens.new_session())

    def _set_cookie(self, response: Response, name: str, value: str) -> None:
        response.set_cookie(
            name, value, max_age=COOKIE_SECONDS, httponly=True, samesite="strict", path="/"
        )

    def is_host(self, header: str) -> bool:
        """Whether a Host header names this server."""
        try:
            name = urlsplit(f"//{header}").hostname or ""
        except ValueError:
            return False
        if name in self._hosts:
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return False
        return self._any_address or address.is_loopback


def session_of(scope: Scope) -> str:
    """The session of a request that was let in."""
    return str(scope.get("cpclean.session", ""))


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
        send = _with_headers(send)
        bounded = _Bounded(receive, _most(scope))
        try:
            refused = await self._refused(scope, bounded)
            if refused is None:
                await self._app(scope, bounded, send)
                return
        except TooLargeError as problem:
            refused = _refusal(scope, 413, str(problem))
        await refused(scope, receive, send)

    async def _refused(self, scope: Scope, bounded: _Bounded) -> Response | None:
        """The response to a request that goes no further; None if it does."""
        headers, security = Headers(scope=scope), self._security
        if len(headers.getlist("host")) != 1 or not security.is_host(headers["host"]):
            return error_response(
                421, "this server is not known under that name. Use the address that it printed."
            )
        bounded.check_announced(headers.get("content-length"))
        changes = scope["method"] not in SAFE_METHODS
        if changes and not _is_own_page(headers):
            return _refusal(scope, 403, "changes from the pages of other sites are refused.")
        path = scope["path"]
        if _is_bearer(headers, security.tokens):
            return None
        session = _cookies(headers).get(security.session_cookie, "")
        if security.tokens.is_session(session):
            scope["cpclean.session"] = session
        if (token := _token_in_query(scope)) is not None and not changes:
            return self._login(scope, token)
        if path.startswith(PUBLIC):
            return None
        if not session_of(scope):
            if security.tokens.open:  # there is no token to know
                is_page = not path.startswith("/api/")
                return self._begin(scope) if is_page and not changes else None
            return self._unknown(scope)
        if changes and not await _brings_csrf(scope, headers, bounded, security.tokens):
            text = "the form is too old or not from this page: load the page again and repeat it."
            return _refusal(scope, 403, text)
        return None

    def _login(self, scope: Scope, token: str) -> Response:
        """Take the token out of the address, so that it is not in histories and screenshots."""
        if not self._security.tokens.is_token(token):
            return _login_page(scope, 403, wrong=True)
        return self._begin(scope)

    def _begin(self, scope: Scope) -> Response:
        target = _without_token(scope)
        if Headers(scope=scope).get("sec-fetch-site") == "cross-site":
            # After a link on another site, a redirect would come without the strict cookie.
            page = f'<meta http-equiv="refresh" content="0;url={html.escape(target)}">'
            response: Response = HTMLResponse(f"<!doctype html><title>cpclean</title>{page}")
        else:
            response = RedirectResponse(target, 303)
        if not session_of(scope):
            self._security.let_in(response)
        response.headers["Cache-Control"] = "no-store"
        return response

    def _unknown(self, scope: Scope) -> Response:
        if not _is_for_people(scope):
            text = (
                "this needs the token that the server printed when it started: "
                "Authorization: Bearer TOKEN."
            )
            response = error_response(401, text)
            response.headers["WWW-Authenticate"] = 'Bearer realm="cpclean"'
            return response
        return _login_page(scope, 401)


# -- answers ---------------------------------------------------------------------------------------


def error_response(status: int, text: str, kind: str = "refused", retry: bool = False) -> Response:
    """An error as JSON: what is wrong, and the way out."""
    content = {"error": text, "kind": kind, "retry": retry}
    headers = {"Cache-Control": "no-store"}
    if retry:
        headers["Retry-After"] = "1"
    return JSONResponse(content, status, headers)


def _is_for_people(scope: Scope) -> bool:
    """Whether a browser will show the response: a page, or what comes of a form."""
    if scope["path"].startswith("/api/"):
        return False
    return scope["method"] in SAFE_METHODS or "text/html" in Headers(scope=scope).get("accept", "")


def _refusal(scope: Scope, status: int, text: str) -> Response:
    """A refusal: a page for people, JSON for programs."""
    if not _is_for_people(scope):
        return error_response(status, text)
    page = message_page("That was not taken in", text[:1].upper() + text[1:])
    return HTMLResponse(page, status, {"Cache-Control": "no-store"})


def _login_page(scope: Scope, status: int, wrong: bool = False) -> Response:
    # What a form was sent to is no page to go on to.
    target = _without_token(scope) if scope["method"] in SAFE_METHODS else "/"
    page = login_page(target, wrong)
    return HTMLResponse(page, status, {"Cache-Control": "no-store"})


async def take_login(request: Request, security: Security) -> Response:
    """The form of the login page, sent in."""
    form = await request.form()
    token, target = form.get("token"), form.get("next")
    if not isinstance(token, str) or not security.tokens.is_token(token.strip()):
        page = login_page(own_path(target), wrong=True)
        return HTMLResponse(page, 403, {"Cache-Control": "no-store"})
    response = RedirectResponse(own_path(target), 303)
    security.let_in(response)
    return response


def own_path(target: Any) -> str:
    """A path of this server to go to; anything else becomes the first page."""
    if not isinstance(target, str) or not target.startswith("/"):
        return "/"
    odd = target.startswith(("//", "/\\")) or any(ord(sign) < 32 or sign == "\\" for sign in target)
    return "/" if odd or target.startswith("/login") else target


# -- requests --------------------------------------------------------------------------------------


class TooLargeError(Exception):
    """A body is larger than it may be."""


class _Bounded:
    """A body that is never read beyond its bound, and can be read twice where it is short."""

    def __init__(self, receive: Receive, most: int) -> None:
        self._receive, self._most = receive, most
        self._read = 0
        self._again: list[Message] = []

    async def __call__(self) -> Message:
        if self._again:
            return self._again.pop(0)
        message = await self._receive()
        if message["type"] == "http.request":
            self._read += len(message.get("body", b""))
            if self._read > self._most:
                raise self._too_large()
        return message

    async def whole(self) -> bytes:
        """All of it now; it can be read once more."""
        parts: list[Message] = []
        while True:
            message = await self()
            parts.append(message)
            if message["type"] != "http.request" or not message.get("more_body"):
                break
        self._again = parts
        return b"".join(part.get("body", b"") for part in parts)

    def check_announced(self, length: str | None) -> None:
        if length is not None and (not length.isdigit() or int(length) > self._most):
            raise self._too_large()

    def _too_large(self) -> TooLargeError:
        return TooLargeError(f"the body may have {self._most:,} bytes here; it has more.")


def _most(scope: Scope) -> int:
    return MOST_UPLOAD if scope["path"].startswith(UPLOADS) else MOST_BODY


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


def _is_bearer(headers: Headers, tokens: Tokens) -> bool:
    scheme, _, given = headers.get("authorization", "").partition(" ")
    return scheme.lower() == "bearer" and tokens.is_token(given.strip())


def _cookies(headers: Headers) -> dict[str, str]:
    found: SimpleCookie = SimpleCookie()
    try:
        found.load(headers.get("cookie", ""))
    except CookieError:
        return {}
    return {name: morsel.value for name, morsel in found.items()}


def _query(scope: Scope) -> list[tuple[str, str]]:
    return parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)


def _token_in_query(scope: Scope) -> str | None:
    return next((value for name, value in _query(scope) if name == "token"), None)


def _without_token(scope: Scope) -> str:
    """The address of a request without its token; the first page for what is no page."""
    path = own_path(scope["path"])
    rest = urlencode([(name, value) for name, value in _query(scope) if name != "token"])
    return f"{quote(path)}?{rest}" if rest else quote(path)


async def _brings_csrf(scope: Scope, headers: Headers, bounded: _Bounded, tokens: Tokens) -> bool:
    """Whether a change brings the CSRF token of its session, in a header or in its form."""
    session = session_of(scope)
    if given := headers.get("x-csrf-token"):
        return tokens.is_csrf(given, session)
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in ("application/x-www-form-urlencoded", "multipart/form-data"):
        return False
    body = await bounded.whole()

    async def once() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    try:
        async with Request(scope, once).form() as form:
            given = form.get("csrf")  # type: ignore[assignment]
            return isinstance(given, str) and tokens.is_csrf(given, session)
    except (MultiPartException, HTTPException, ValueError, KeyError):
        return False


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return sending
