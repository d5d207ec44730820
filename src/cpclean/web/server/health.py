"""Whether the server can do its work, for whoever watches it: no token, and no secrets.

It is asked often and by anybody, so a database is asked once a second at most, and never twice at
the same time.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from cpclean.errors import CPCleanError
from cpclean.storage.contract import Storage

FRESH_SECONDS = 1.0  # that an answer is good for
PATIENCE_SECONDS = 3.0  # that a database may take


class Health:
    """Asks all storages of a server.

    Parameters
    ----------
    storages : function without arguments
        The storages that are in use now.
    """

    def __init__(self, storages: Callable[[], Iterable[Storage]]) -> None:
        self._storages = storages
        self._asking: asyncio.Task[bool] | None = None
        self._found, self._found_at = False, -FRESH_SECONDS

    async def answer(self, request: Request) -> Response:
        """200 if every database answers, else 503."""
        if time.monotonic() - self._found_at >= FRESH_SECONDS:
            await self._ask()
        headers = {"Cache-Control": "no-store"}
        if self._found:
            return JSONResponse({"status": "ok"}, headers=headers)
        content = {"status": "unavailable", "error": "the database does not answer."}
        return JSONResponse(content, 503, {**headers, "Retry-After": "1"})

    async def _ask(self) -> None:
        if self._asking is None:
            self._asking = asyncio.create_task(run_in_threadpool(self._all_answer))
        asking = self._asking
        await asyncio.wait({asking}, timeout=PATIENCE_SECONDS)
        self._found, self._found_at = asking.done() and asking.result(), time.monotonic()
        if asking.done():  # otherwise the next one waits for the same
            self._asking = None

    def _all_answer(self) -> bool:
        try:
            for one in self._storages():
                one.last()
        except CPCleanError:
            return False
        return True


def routes(storages: Callable[[], Iterable[Storage]]) -> list[Route]:
    """The route of /healthz."""
    return [Route("/healthz", Health(storages).answer)]
