"""The rules of the guard, and what handlers and templates ask of them."""

from __future__ import annotations

import ipaddress
from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from cpclean.web.guard.roles import ANSWERER, OWNER
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
# Over https, besides: browsers that were here once come back over https only.
HTTPS_HEADERS = {"Strict-Transport-Security": "max-age=31536000"}


class Security:
    """The rules, and what handlers and templates ask of them.

    Parameters
    ----------
    token : str
        The owner's. Empty: no token is needed, and everybody is an owner.
    hosts : collection of str
        Host names under which the server may be reached, in addition to those of this machine.
    any_address : bool
        Whether it may be reached under any IP address, because it listens on all of them. Other
        sites cannot pose as an address.
    answer_token : str
        Of those who only answer questions. Empty: there are no such people.
    root : str
        What stands before the paths of this server; cookies are for what is below it.
    """

    def __init__(
        self,
        token: str,
        hosts: Collection[str] = (),
        any_address: bool = False,
        answer_token: str = "",
        root: str = "",
    ) -> None:
        self.tokens, self.wrong_tokens = Tokens(token), WrongTokens()
        self._by_role = {OWNER: self.tokens}
        if answer_token and token:
            self._by_role[ANSWERER] = Tokens(answer_token)
        self._cookie_path = f"{root}/"
        self._hosts = {host.lower() for host in hosts} | {"localhost", "127.0.0.1", "::1"}
        self._any_address = any_address
        # Cookies are sent to all ports of a machine: two servers there must not share a name.
        mark = self.tokens.csrf("name of the cookie")[:8]
        self.session_cookie, self.who_cookie = f"cpclean_{mark}", f"cpclean_who_{mark}"

    def role_by(self, given: str, scope: Scope) -> str | None:
        """The role of whoever knows a token; a wrong one is noted with where it came from."""
        found = [role for role, one in self._by_role.items() if one.is_token(given)]
        if not found:
            self.wrong_tokens.note(address_of(scope))
        return found[0] if found else None

    def role_in(self, session: str) -> str | None:
        """The role in which somebody was let in; None if this is no session of this server."""
        found = (role for role, one in self._by_role.items() if one.is_session(session))
        return next(found, None)

    def csrf(self, request: Request) -> str:
        """The CSRF token for the forms of this request's session."""
        return self.tokens.csrf(session_of(request.scope))

    def who(self, request: Request) -> str | None:
        """The annotator's name, if it is known."""
        return self.tokens.opened(request.cookies.get(self.who_cookie, ""), "who")

    def set_who(self, response: Response, name: str) -> None:
        """Save the annotator's name in a cookie that nobody else can write."""
        self._set_cookie(response, self.who_cookie, self.tokens.sealed(name, "who"))

    def let_in(self, response: Response, role: str) -> None:
        """Begin a session in a role with this response."""
        self._set_cookie(response, self.session_cookie, self._by_role[role].new_session())

    def _set_cookie(self, response: Response, name: str, value: str) -> None:
        response.set_cookie(
            name, value, max_age=COOKIE_SECONDS, httponly=True, samesite="strict",
            path=self._cookie_path,
        )  # fmt: skip

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
