"""A message when the target is reached: one POST to an address that the owner named.

The storage remembers that it was sent, so that neither a restart nor a second server sends it
again. What is not confirmed is tried a few times, and again after the next start. If a server dies
between sending and remembering, the same message may come twice, with the same id.
"""

from __future__ import annotations

import json
import logging
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from threading import Thread
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from cpclean.errors import CPCleanError, StorageError
from cpclean.storage.contract import Storage
from cpclean.web.desk.views import ProgressView

SETTING = "notified"
TIMEOUT_SECONDS = 10.0
WAITS = (2.0, 10.0, 60.0)  # between the attempts
# A server that says it is sending and does not say more has died.
GONE_SECONDS = 2 * (sum(WAITS) + (len(WAITS) + 1) * TIMEOUT_SECONDS)
LOOK_SECONDS = 1.0

log = logging.getLogger("cpclean.web")


class NotifyError(CPCleanError, ValueError):
    """The address of a message cannot be used."""


def checked_address(url: str) -> str:
    """The address of a web hook, or an error."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port  # a wrong port is an error
    except ValueError as problem:
        raise NotifyError(f"--notify needs an address; got {url!r}: {problem}.") from problem
    if parts.scheme not in ("http", "https") or not host:
        raise NotifyError(
            "--notify needs an address that begins with http:// or https://, such as "
            f"http://localhost:9000/done; got {url!r}."
        )
    return url


class Notifier:
    """Waits in a thread of its own for the target to be reached, and says so.

    Parameters
    ----------
    storage : Storage
        Remembers what was sent.
    progress, stopping : functions
        How far it is, and whether the server is about to end.
    name : str
        What is cleaned, for people.
    url : str
    waits : sequence of float
        Seconds between attempts.
    """

    def __init__(
        self,
        storage: Storage,
        progress: Callable[[], ProgressView],
        stopping: Callable[[], bool],
        name: str,
        url: str,
        waits: Sequence[float] = WAITS,
    ) -> None:
        self._storage, self._progress, self._stopping = storage, progress, stopping
        self._name, self._url, self._waits = name, checked_address(url), waits
        self._thread: Thread | None = None

    def start(self) -> None:
        """Begin to wait; a second call does nothing."""
        if self._thread is None:
            self._thread = Thread(target=self._run, name="cpclean notifier", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while not self._stopping():
            try:
                if self._is_reached() and self._told():
                    return
            except StorageError as problem:
                log.warning("whether the target is reached is not known just now: %s", problem)
            except Exception:  # people go on answering
                log.exception("the message that the target is reached failed")
                return
            time.sleep(LOOK_SECONDS)

    def _is_reached(self) -> bool:
        progress = self._progress()
        return (
            progress.looked
            and not progress.busy
            and (progress.settled_share >= progress.target or progress.done)
        )

    def _told(self) -> bool:
        """Tell it unless somebody has; whether there is nothing left to do."""
        storage = self._storage
        before, now = storage.setting(SETTING), storage.now().timestamp()
        if isinstance(before, dict):
            if before["state"] == "sent":
                return True
            if before["state"] == "sending" and now - before["at"] < GONE_SECONDS:
                return False
        message_id = before["id"] if isinstance(before, dict) else uuid4().hex
        mine = {"state": "sending", "at": now, "id": message_id, "by": uuid4().hex}
        if not storage.change(SETTING, before, mine):
            return False
        sent = self._sent(self._message(message_id))
        storage.change(SETTING, mine, {"state": "sent" if sent else "failed", "id": message_id})
        return True

    def _message(self, message_id: str) -> bytes:
        progress = self._progress()
        found: dict[str, Any] = {
            "event": "target reached"
            if progress.settled_share >= progress.target
            else "nothing more to ask",
            "id": message_id,
            "project": self._name,
            "settled_share": progress.settled_share,
            "target": progress.target,
            "rows_answered": progress.answers,
            "at": self._storage.now().isoformat(),
        }
        return json.dumps(found).encode()

    def _sent(self, body: bytes) -> bool:
        for attempt, wait in enumerate((*self._waits, None), start=1):
            try:
                _post(self._url, body)
                return True
            except (OSError, ValueError) as problem:
                log.warning(
                    "the message that the target is reached could not be sent (attempt %d of %d): "
                    "%s",
                    attempt,
                    len(self._waits) + 1,
                    problem,
                )
            end = time.monotonic() + (wait or 0.0)
            while time.monotonic() < end and not self._stopping():
                time.sleep(0.05)
            if self._stopping():
                return False
        log.error("nobody was told that the target is reached; the next start tries again.")
        return False


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Another address than the owner's is not asked."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _post(url: str, body: bytes) -> None:
    headers = {"Content-Type": "application/json", "User-Agent": "cpclean"}
    request = urllib.request.Request(url, body, headers, method="POST")
    with urllib.request.build_opener(_NoRedirect).open(request, timeout=TIMEOUT_SECONDS):
        pass
