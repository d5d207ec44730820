"""Request bodies that are never read beyond a limit."""

from __future__ import annotations

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.types import Message, Receive, Scope

MOST_BODY = 2**20
MOST_UPLOAD = 2**26
UPLOADS = ("/setup",)  # what may be as large as a table
# Of a form: the set-up has up to four for each of 2,000 columns. Starlette reads 1,000.
MOST_FIELDS = 10_000


async def form_of(request: Request) -> FormData:
    """The fields of a form, also of a large one."""
    return await request.form(max_fields=MOST_FIELDS)


class TooLargeError(Exception):
    """A body is larger than it may be."""


class BoundedBody:
    """A body that is never read beyond its limit, and can be read twice where it is short.

    Parameters
    ----------
    scope : ASGI scope of a request
        Its path determines the limit.
    receive : where the body comes from
    """

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self._receive = receive
        self._most = MOST_UPLOAD if scope["path"].startswith(UPLOADS) else MOST_BODY
        self._read = 0
        self._again: list[Message] = []

    async def __call__(self) -> Message:
        """The next piece."""
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
        """Refuse a body that is announced as too large, before any of it is read."""
        if length is not None and (not length.isdigit() or int(length) > self._most):
            raise self._too_large()

    def _too_large(self) -> TooLargeError:
        return TooLargeError(
            f"the body of this request is too large: at most {self._most:,} bytes are allowed here."
        )
