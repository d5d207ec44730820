"""A server process: an address to listen on, uvicorn, and an end within two seconds."""

from __future__ import annotations

import ipaddress
import os
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable, Collection
from contextlib import suppress
from types import FrameType
from urllib.parse import quote

import uvicorn

from cpclean.errors import CPCleanError
from cpclean.projects.project import Project
from cpclean.storage.contract import Storage
from cpclean.web.desk.workplace import Workplace
from cpclean.web.server.app import make_app
from cpclean.web.server.bounded_reading import BoundedReading

PORTS_TRIED = 50
# Threads take turns this often: people who answer must not wait for the engine's Python.
SWITCH_SECONDS = 0.0001


class ListenError(CPCleanError):
    """The server cannot listen on an address."""


def run(
    storage: Storage | None,
    token: str,
    *,
    host: str,
    port: int,
    exact_port: bool,
    browser: bool,
    hosts: Collection[str],
    start_project: Callable[[Project], Storage] | None,
    lease_seconds: float,
    answers_per_row: int | None,
    cluster: str | None,
    told: Callable[[str], object],
) -> None:
    """Serve until Ctrl-C or SIGTERM, and end the process.

    Parameters
    ----------
    exact_port : bool
        Whether only that port will do; otherwise the next free one is taken.
    browser : bool
        Whether to open a browser.
    cluster : str or None
        The address of a Dask scheduler whose workers look at the points.
    told : function of str
        Called with each line for the terminal: where the server is, and that it has stopped.
    """
    try:
        listening = listen(host, port, exact_port)
    except OSError as problem:
        raise ListenError(
            f"cannot listen on {host}:{port}: {problem.strerror or problem}. Choose another --port "
            "or --host."
        ) from problem
    names = {*hosts, *_own_names(host)}
    app = make_app(
        storage,
        token,
        start_project=start_project,
        lease_seconds=lease_seconds,
        answers_per_row=answers_per_row,
        cluster=cluster,
        hosts=names,
        any_address=not is_loopback(host),
    )
    workplace: Workplace = app.state.cpclean
    address = _address(host, listening.getsockname()[1], token)
    sys.setswitchinterval(SWITCH_SECONDS)
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, timeout_graceful_shutdown=1,
        server_header=False, proxy_headers=False, lifespan="on", http=BoundedReading,
    )  # fmt: skip
    server = _Server(config, workplace, lambda: _greet(address, storage, browser, told))
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        server.run(sockets=[listening])
    except KeyboardInterrupt:  # that is how it ends
        pass
    finally:
        signal.signal(signal.SIGTERM, before)
        workplace.close()
    place = None if workplace.storage is None else workplace.storage.name
    with suppress(OSError):  # nobody may be reading any more
        told("Stopped." if place in (None, "memory") else f"Stopped. All answers are in {place}.")
    _leave(workplace)


class _Server(uvicorn.Server):
    """Tells streams to end as soon as the server is asked to."""

    def __init__(
        self, config: uvicorn.Config, workplace: Workplace, greet: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._workplace, self._greet = workplace, greet

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and say so."""
        await super().startup(sockets)
        if self.started:
            self._greet()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Ctrl-C, or SIGTERM."""
        self._workplace.stopping.set()
        super().handle_exit(sig, frame)


def _greet(
    address: str, storage: Storage | None, browser: bool, told: Callable[[str], object]
) -> None:
    told(f"cpclean is at {address}")
    if storage is not None and storage.name != "memory":
        told(f"Answers are saved in {storage.name} as soon as they are given.")
    told("Press Ctrl-C to stop.")
    sys.stdout.flush()
    if browser:
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()


def _leave(workplace: Workplace) -> None:
    """Close the storage and end the process.

    At once: a thread that waits for a database could delay it for seconds, and so does tidying up
    compiled code. What was confirmed is in the storage; there is nothing else to lose.
    """
    if workplace.storage is not None:
        closing = threading.Thread(target=workplace.storage.close, daemon=True)
        closing.start()
        closing.join(0.5)
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(0)


# -- addresses -------------------------------------------------------------------------------------


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def listen(host: str, port: int, exact: bool) -> socket.socket:
    """A socket on a port, or on the next one that is free.

    >>> with listen("127.0.0.1", 0, True) as one:
    ...     one.getsockname()[0]
    '127.0.0.1'
    """
    found = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)[0]
    for tried in range(port, min(port + (1 if exact else PORTS_TRIED), 65536)):
        # asyncio sends without delay only on sockets that say they are TCP: else 40 ms per request.
        made = socket.socket(found[0], socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind((host.strip("[]"), tried))
            made.listen(2048)
            return made
        except OSError as problem:
            made.close()
            last = problem
    raise last


def _own_names(host: str) -> set[str]:
    if is_loopback(host):
        return {host.strip("[]")}
    return {host.strip("[]"), socket.gethostname(), socket.getfqdn()}


def _address(host: str, port: int, token: str) -> str:
    """The address for a browser on this machine, or for others if it listens on a name."""
    name = host.strip("[]")
    if name in ("0.0.0.0", "::", ""):
        name = socket.gethostname()
    name = f"[{name}]" if ":" in name else name
    return f"http://{name}:{port}/{f'?token={quote(token)}' if token else ''}"
