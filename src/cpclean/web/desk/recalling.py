"""What each answer of a long log did, worked out in a thread of its own while people answer."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from threading import Event, Thread
from typing import Any

from cpclean.cleaning.session import CleaningSession

_AT_ONCE = 20  # answers between two rests
_AFTER_SECONDS = 1.0  # people who have waited for the project come first

log = logging.getLogger("cpclean.web")


class Recalling:
    """Replays a log from its start, at half speed.

    Parameters
    ----------
    session : function without arguments
        Makes a new session.
    entries : sequence of dict
        The log.
    stopping : Event
        Ends the work.
    tell : function without arguments
        Called when `found` is there.

    Attributes
    ----------
    found : CleaningSession or None
        The session in the state of the log.
    """

    def __init__(
        self,
        session: Callable[[], CleaningSession],
        entries: Sequence[dict[str, Any]],
        stopping: Event,
        tell: Callable[[], None],
    ) -> None:
        self._session, self._entries = session, list(entries)
        self._stopping, self._tell = stopping, tell
        self.found: CleaningSession | None = None
        Thread(target=self._work, name="cpclean recalling", daemon=True).start()

    def _work(self) -> None:
        if self._stopping.wait(_AFTER_SECONDS):
            return
        try:
            session = self._session()
            for begin in range(0, len(self._entries), _AT_ONCE):
                start = time.perf_counter()
                session.replay(self._entries[begin : begin + _AT_ONCE])
                if self._stopping.wait(time.perf_counter() - start):
                    return
        except Exception:  # people can do without
            log.exception("recalling what earlier answers did failed")
            return
        self.found = session
        self._tell()
