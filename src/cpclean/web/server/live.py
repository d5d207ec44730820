"""Live progress for everybody, as server-sent events.

Each message is the response of `/api/progress`, sent when it has changed; a comment now and then
keeps the connection open and shows when it is gone. The engine follows other processes, so that
their answers arrive here too.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from cpclean.web.desk.desk import Desk
from cpclean.web.desk.views import as_json
from cpclean.web.desk.workplace import Workplace
from cpclean.web.guard.refusals import error_response

LOOK_SECONDS = 0.1  # between two looks at the version; a thread for each listener would be many
LEAST_SECONDS = 0.25  # between two messages
HEARTBEAT_SECONDS = 10.0
MOST_LISTENERS = 500


class Live:
    """The listeners of one process."""

    def __init__(self, workplace: Workplace) -> None:
        self._workplace = workplace
        self._listeners = 0
        self._last: tuple[int, str] = (-1, "")  # the message of a version, the same for all

    async def stream(self, request: Request) -> Response:
        """Answer with a stream that ends when the server does."""
        desk = self._workplace.desk
        if desk is None:
            return error_response(409, "there is no project yet.", "no project")
        if self._listeners >= MOST_LISTENERS:
            return error_response(503, "too many pages are open; close some.", "busy", retry=True)
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(
            self._messages(desk), media_type="text/event-stream", headers=headers
        )

    async def _messages(self, desk: Desk) -> AsyncIterator[str]:
        self._listeners += 1
        try:
            yield "retry: 1000\n\n"
            seen, sent = -1, time.monotonic()
            while not self._workplace.stopping.is_set():
                late = time.monotonic() - sent
                if desk.version != seen and (seen < 0 or late >= LEAST_SECONDS):
                    seen, text = await self._message(desk)
                    yield text
                    sent = time.monotonic()
                elif late >= HEARTBEAT_SECONDS:
                    yield ": still here\n\n"
                    sent = time.monotonic()
                await asyncio.sleep(LOOK_SECONDS)
        finally:
            self._listeners -= 1

    async def _message(self, desk: Desk) -> tuple[int, str]:
        if self._last[0] != desk.version:
            progress = await run_in_threadpool(desk.progress)
            text = as_json(progress).decode()
            self._last = (
                progress.version,
                f"id: {progress.version}\nevent: progress\ndata: {text}\n\n",
            )
        return self._last


def routes(workplace: Workplace) -> list[Route]:
    """The route of the stream."""
    return [Route("/live", Live(workplace).stream)]
