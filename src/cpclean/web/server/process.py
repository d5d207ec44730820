"""A server process: an address to listen on, uvicorn, and an end within two seconds."""

from __future__ import annotations

import ipaddress
import os
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from types import FrameType
from urllib.parse import quote

import uvicorn
from starlette.types import ASGIApp

from cpclean.errors import CPCleanError, offenders
from cpclean.projects.project import Project
from cpclean.storage.contract import Storage
from cpclean.web.desk.workplace import Workplace
from cpclean.web.guard.prefixes import Rooted
from cpclean.web.guard.security import Security
from cpclean.web.server.app import app_of
from cpclean.web.server.bounded_reading import BoundedReading
from cpclean.web.server.several import SeveralProjects

PORTS_TRIED = 50
# Threads take turns this often: people who answer must not wait for the engine's Python.
SWITCH_SECONDS = 0.0001


class ListenError(CPCleanError):
    """The server cannot listen on an address."""


def run(
    storage: Storage | Mapping[str, Storage] | None,
    token: str,
    *,
    answer_token: str,
    host: str,
    port: int,
    exact_port: bool,
    browser: bool,
    hosts: Collection[str],
    start_project: Callable[[Project], Storage] | None,
    lease_seconds: float,
    answers_per_row: int | None,
    cluster: str | None,
    notify: str | None,
    root: str,
    proxies: Collection[str],
    told: Callable[[str], object],
) -> None:
    """Serve until Ctrl-C or SIGTERM, and end the process.

    Parameters
    ----------
    storage : Storage, mapping from name to Storage, or None
        Of one project, of several, or of none yet.
    token, answer_token : str
        The owner's, and that of those who only answer; empty: none.
    exact_port : bool
        Whether only that port will do; otherwise the next free one is taken.
    browser : bool
        Whether to open a browser.
    cluster : str or None
        The address of a Dask scheduler whose workers look at the points.
    notify : str or None
        The address that learns that the target is reached.
    root : str
        What stands before all paths, behind a proxy.
    proxies : collection of str
        Addresses of proxies that are believed when they say for whom they ask, and how.
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
    security = Security(token, names, not is_loopback(host), answer_token, root)

    def workplace() -> Workplace:
        return Workplace(start_project, lease_seconds, answers_per_row, cluster, notify)

    app, workplaces = _app(storage, security, workplace, start_project is not None)
    port = listening.getsockname()[1]
    tokens = [token, *([answer_token] if answer_token else [])]
    addresses = [_address(host, port, one, root) for one in tokens]
    sys.setswitchinterval(SWITCH_SECONDS)
    config = uvicorn.Config(
        Rooted(app, root), log_level="warning", access_log=False, timeout_graceful_shutdown=1,
        server_header=False, lifespan="on", http=BoundedReading,
        proxy_headers=bool(proxies), forwarded_allow_ips=list(proxies),
    )  # fmt: skip
    places = _places(workplaces())
    server = _Server(config, workplaces, lambda: _greet(addresses, places, browser, told))
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        server.run(sockets=[listening])
    except KeyboardInterrupt:  # that is how it ends
        pass
    finally:
        signal.signal(signal.SIGTERM, before)
        for one in workplaces():
            one.close()
    places = _places(workplaces())
    with suppress(OSError):  # nobody may be reading any more
        told(f"Stopped. All answers are in {offenders(places, limit=8)}." if places else "Stopped.")
    _leave(workplaces())


def _app(
    storage: Storage | Mapping[str, Storage] | None,
    security: Security,
    workplace: Callable[[], Workplace],
    may_grow: bool,
) -> tuple[ASGIApp, Callable[[], Sequence[Workplace]]]:
    """The application, and a function that returns its workplaces."""
    if isinstance(storage, Mapping):
        several = SeveralProjects(storage, security, workplace, may_grow)
        return several, lambda: several.workplaces
    one = workplace()
    if storage is not None:
        one.open(storage)
    return app_of(one, security), lambda: [one]


def _places(workplaces: Sequence[Workplace]) -> list[str]:
    """Where answers are saved."""
    names = [one.storage.name for one in workplaces if one.storage is not None]
    return [one for one in names if one != "memory"]


class _Server(uvicorn.Server):
    """Tells streams to end as soon as the server is asked to."""

    def __init__(
        self,
        config: uvicorn.Config,
        workplaces: Callable[[], Sequence[Workplace]],
        greet: Callable[[], None],
    ) -> None:
        super().__init__(config)
        self._workplaces, self._greet = workplaces, greet

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and say so."""
        await super().startup(sockets)
        if self.started:
            self._greet()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Ctrl-C, or SIGTERM."""
        for one in self._workplaces():
            one.stopping.set()
        super().handle_exit(sig, frame)


def _greet(
    addresses: Sequence[str],
    places: Sequence[str],
    browser: bool,
    told: Callable[[str], object],
) -> None:
    told(f"cpclean is at {addresses[0]}")
    for one in addresses[1:]:
        told(f"For people who only answer: {one}")
    if places:
        told(f"Answers are saved in {offenders(places, limit=8)} as soon as they are given.")
    told("Press Ctrl-C to stop.")
    sys.stdout.flush()
    if browser:
        threading.Thread(target=webbrowser.open, args=(addresses[0],), daemon=True).start()


def _leave(workplaces: Sequence[Workplace]) -> None:
    """Close the storages and end the process.

    At once: a thread that waits for a database could delay it for seconds, and so does tidying up
    compiled code. What was confirmed is in the storage; there is nothing else to lose.
    """
    open_ones = [one.storage for one in workplaces if one.storage is not None]
    closing = threading.Thread(target=lambda: [one.close() for one in open_ones], daemon=True)
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


def _address(host: str, port: int, token: str, root: str = "") -> str:
    """The address for a browser on this machine, or for others if it listens on a name."""
    name = host.strip("[]")
    if name in ("0.0.0.0", "::", ""):
        name = socket.gethostname()
    name = f"[{name}]" if ":" in name else name
    return f"http://{name}:{port}{root}/{f'?token={quote(token)}' if token else ''}"
