"""Live for everybody: progress as server-sent events.

Each message is what `/api/progress` says, sent when it has changed; a comment now and then keeps
the connection open and shows where it is gone. Other processes are followed by the engine, so that
their answers arrive here too.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from cpclean.web.server.guard import error_response

LOOK_SECONDS = 0.1  # between two looks at the version; a thread for each listener would be many
LEAST_SECONDS = 0.25  # between two messages
HEARTBEAT_SECONDS = 10.0
MOST_LISTENERS = 500


class Live:
    """The listeners of one process."""

    def __init__(self, state: Any) -> None:
        self._state = state
        self._listeners = 0
        self._last: tuple[int, str] = (-1, "")  # the message of a version, the same for all

    async def stream(self, request: Request) -> Response:
        """Answer with a stream that ends when the server does."""
        if self._state.desk is None:
            return error_response(409, "there is no project yet.", "no project")
        if self._listeners >= MOST_LISTENERS:
            return error_response(503, "too many pages are open; close some.", "busy", retry=True)
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(
            self._messages(request), media_type="text/event-stream", headers=headers
        )

    async def _messages(self, request: Request) -> AsyncIterator[str]:
        self._listeners += 1
        try:
            yield "retry: 1000\n\n"
            seen, sent = -1, time.monotonic()
            while not self._state.stopping.is_set():
                desk = self._state.desk
                late = time.monotonic() - sent
                if desk.engine.version != seen and (seen < 0 or late >= LEAST_SECONDS):
                    seen, text = await self._message()
                    yield text
                    sent = time.monotonic()
                elif late >= HEARTBEAT_SECONDS:
                    yield ": still here\n\n"
                    sent = time.monotonic()
                await asyncio.sleep(LOOK_SECONDS)
        finally:
            self._listeners -= 1

    async def _message(self) -> tuple[int, str]:
        desk = self._state.desk
        if self._last[0] != desk.engine.version:
            progress = await run_in_threadpool(desk.progress)
            text = json.dumps(asdict(progress), allow_nan=False)
            self._last = (
                progress.version,
                f"id: {progress.version}\nevent: progress\ndata: {text}\n\n",
            )
        return self._last


def routes(state: Any) -> list[Route]:
    """The route of the stream."""
    return [Route("/live", Live(state).stream)]
