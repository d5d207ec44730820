"""Connections that say nothing, or too little for too long, are closed."""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

# Seconds for the head of a request, from its first byte on or from the connection; and without any
# byte, as long as a request is not complete.
READ_SECONDS = 15.0
# How often that is looked at.
_CHECK_SECONDS = 1.0


class BoundedReading(H11Protocol):
    """Uvicorn's protocol, which waits for the rest of a request forever, with an end to that.

    A request that has come in whole may take as long as it takes; streams stay open. Between two
    requests, uvicorn itself closes what is idle.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Somebody has connected."""
        super().connection_made(transport)
        self._heard = self._begun = self.loop.time()
        self._check: asyncio.TimerHandle | None = None
        self._look_later()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection has ended."""
        if self._check is not None:
            self._check.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Some bytes have come."""
        now = self.loop.time()
        if not self._is_within_request:
            self._begun = now
        self._heard = now
        super().data_received(data)

    @property
    def _is_within_request(self) -> bool:
        """Whether some of a request has come in, and not all of it."""
        return self.conn.their_state is h11.SEND_BODY or bool(self.conn.trailing_data[0])

    def _look_later(self) -> None:
        self._check = self.loop.call_later(_CHECK_SECONDS, self._look)

    def _look(self) -> None:
        if self.transport.is_closing():
            return
        now, state = self.loop.time(), self.conn.their_state
        # A whole request is being answered, or was: then their_state is DONE, or anything later.
        reading_head = state is h11.IDLE and (self._is_within_request or self.cycle is None)
        slow_head = reading_head and now - self._begun > READ_SECONDS
        waiting = state is h11.SEND_BODY and not self.flow.read_paused  # not for ourselves
        slow_body = waiting and now - self._heard > READ_SECONDS
        if slow_head or slow_body:
            self.transport.close()
            return
        self._look_later()
