"""The rules of the guard, and what handlers and templates ask of them."""

from __future__ import annotations

import ipaddress
from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from cpclean.web.guard.tokens import COOKIE_SECONDS, Tokens
from cpclean.web.guard.wrong_tokens import WrongTokens

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


class Security:
    """The rules, and what handlers and templates ask of them.

    Parameters
    ----------
    token : str
        Empty: no token is needed.
    hosts : collection of str
        Host names under which the server may be reached, in addition to those of this machine.
    any_address : bool
        Whether it may be reached under any IP address, because it listens on all of them. Other
        sites cannot pose as an address.
    """

    def __init__(self, token: str, hosts: Collection[str] = (), any_address: bool = False) -> None:
        self.tokens, self.wrong_tokens = Tokens(token), WrongTokens()
        self._hosts = {host.lower() for host in hosts} | {"localhost", "127.0.0.1", "::1"}
        self._any_address = any_address
        # Cookies are sent to all ports of a machine: two servers there must not share a name.
        mark = self.tokens.csrf("name of the cookie")[:8]
        self.session_cookie, self.who_cookie = f"cpclean_{mark}", f"cpclean_who_{mark}"

    def is_token(self, given: str, scope: Scope) -> bool:
        """Whether this is the token; a wrong one is noted with where it came from."""
        right = self.tokens.is_token(given)
        if not right:
            self.wrong_tokens.note(address_of(scope))
        return right

    def csrf(self, request: Request) -> str:
        """The CSRF token for the forms of this request's session."""
        return self.tokens.csrf(session_of(request.scope))

    def who(self, request: Request) -> str | None:
        """The annotator's name, if it is known."""
        return self.tokens.opened(request.cookies.get(self.who_cookie, ""), "who")

    def set_who(self, response: Response, name: str) -> None:
        """Save the annotator's name in a cookie that nobody else can write."""
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


def address_of(scope: Scope) -> str:
    """Where a request comes from."""
    return str((scope.get("client") or ("",))[0])


def session_of(scope: Scope) -> str:
    """The session of a request that was let in; "" without one."""
    return str(scope.get("cpclean.session", ""))
