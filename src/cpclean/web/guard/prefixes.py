"""Applications below a prefix of the address: behind a proxy, or beside each other.

An application is written as if it were at `/`. What is in front of its own paths, its *root*, is
taken off every request here and put before every redirect; pages put it before their links.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send


def root_of(scope: Scope) -> str:
    """What stands before the paths of the application that a request is for; "" at the top."""
    return str(scope.get("cpclean.root", ""))


def below(path: str, prefix: str) -> str | None:
    """The rest of a path below a prefix, "/" at the prefix itself; None if it is not below.

    >>> below("/p/wines/rows", "/p/wines"), below("/p/wines", "/p/wines")
    ('/rows', '/')
    >>> below("/p/wines2", "/p/wines") is None
    True
    """
    if path == prefix:
        return "/"
    return path[len(prefix) :] if path.startswith(f"{prefix}/") else None


def is_root_path(text: str) -> bool:
    """Whether a text can be a root: "" or "/" and plain letters, without a "/" at its end.

    >>> is_root_path("/tools/cpclean"), is_root_path("tools"), is_root_path("/tools/")
    (True, False, False)
    """
    return re.fullmatch(r"(/(?!\.+(/|$))[A-Za-z0-9._~-]+)*", text) is not None


class Rooted:
    """An application below a prefix.

    Parameters
    ----------
    app : ASGI application
    prefix : str
        Such as "/cpclean". A proxy may pass it on or take it off; both are understood.
    """

    def __init__(self, app: ASGIApp, prefix: str) -> None:
        self._app, self._prefix = app, prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on one request."""
        if scope["type"] != "http" or not self._prefix:
            await self._app(scope, receive, send)
            return
        rest = below(scope["path"], self._prefix)
        await pass_on(self._app, scope, receive, send, lambda: self._prefix, rest or scope["path"])


async def pass_on(
    app: ASGIApp,
    scope: Scope,
    receive: Receive,
    send: Send,
    prefix: Callable[[], str],
    path: str,
) -> None:
    """Let an application below a prefix answer a request for one of its own paths.

    The prefix may become another one while the request is answered: a redirect has the last one.
    """

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            target = headers.get("location", "")
            if target.startswith("/") and not target.startswith("//"):
                headers["location"] = prefix() + target
        await send(message)

    inner = {**scope, "path": path, "cpclean.root": root_of(scope) + prefix()}
    await app(inner, receive, sending)
