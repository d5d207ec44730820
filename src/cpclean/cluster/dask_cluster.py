"""A Dask cluster: the only module that knows Dask.

Work is sent as plain tasks. A task depends on one other, which holds the packed root of the value
that it works on; these hold roots apart from each other, so that the scheduler spreads them, and
the work with them. A worker that is lost takes nothing along: Dask runs its tasks again elsewhere,
and a worker that lacks a value makes it again.
"""

from __future__ import annotations

import atexit
import logging
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any
from uuid import uuid4
from weakref import WeakKeyDictionary

import numba
import numpy

from cpclean import __version__
from cpclean.cluster.held import Arrays, Held, Root
from cpclean.cluster.worker_tasks import (
    NotKept,
    Order,
    packed,
    unpacked,
)
from cpclean.errors import ClusterError
from cpclean.progress_bar import Follow, progress_bar

# Seconds: until an address must have answered, and a client must have given up by itself; without
# any worker, before work is given up; before a bar is shown; between two looks at what is done;
# before the workers are counted again.
CONNECT, GREETING = 5.0, 3.0
PATIENCE, SHORT, LOOK, COUNTED = 60.0, 1.0, 0.5, 5.0
# A worker gets the last steps of a value at first, and all of them if it has no value before these.
RECENT = 4
# How often a piece is sent again whose workers were lost. (Dask itself tries each four times.)
ROUNDS = 3
# Fewer points than this are looked at here: to send them takes longer.
LEAST = 128

# What workers must have: results are the same bit for bit if the code that computes them is. Of
# libraries, the first two numbers of a version count.
_VERSIONS = {"cpclean": __version__, "numpy": numpy.__version__, "numba": numba.__version__}
_ADDRESS = re.compile(r"((tcp|tls|ucx|ucxx|ws|wss)://)?[^/:\s][^/\s]*:[0-9]{1,5}|inproc://\S+")

# The clusters that this process has reached by their addresses: each call would connect anew.
_known: dict[str, DaskCluster] = {}


class DaskCluster:
    """The workers behind a Dask scheduler.

    Parameters
    ----------
    client : dask.distributed.Client
    own : list, optional
        What to close in the end, in this order: a client or a cluster that was started here.
    where : str, optional
        The address, to connect anew if the scheduler was lost and is back.
    patience : float
        How many seconds to wait while there is no worker at all.
    least : int
        Fewer points than this are looked at in this process.

    Attributes
    ----------
    address : str
        Where the scheduler is.
    sent, received : int
        Bytes of all pieces of work, and of their results, so far.
    """

    def __init__(
        self,
        client: Any,
        own: list[Any] | None = None,
        where: str | None = None,
        *,
        patience: float = PATIENCE,
        least: int = LEAST,
    ) -> None:
        self._client, self._own, self._where = client, own or [], where
        self.address = str(client.scheduler.address)
        self.patience, self.least = patience, least
        self.sent = self.received = 0
        self._roots: WeakKeyDictionary[Root[Any], list[Any]] = WeakKeyDictionary()
        self._threads, self._counted = 1, -COUNTED
        self._count()

    @property
    def is_open(self) -> bool:
        """Whether the scheduler can be reached."""
        return bool(self._client.status == "running")

    @property
    def at_once(self) -> int:
        if self.is_open and time.monotonic() - self._counted > COUNTED:
            self._count()
        return self._threads

    def __repr__(self) -> str:
        return f"DaskCluster({self.address!r}, {self._threads} at once)"

    def __reduce__(self) -> tuple[Any, ...]:
        return connected, (self.address, CONNECT, self.patience, self.least)

    def close(self) -> None:
        """Give back what was started for it; a client that was handed in stays open."""
        self._roots.clear()
        for one in self._own:
            one.close()
        self._own, self._where = [], None

    # -- work ------------------------------------------------------------------------------

    def map(
        self, work: Callable[..., Any], held: Held[Any], pieces: list[Arrays], words: str
    ) -> list[Any]:
        """The results of all pieces, in their order."""
        self._open_again()
        with self._minding(), self._client.as_current(), _bar_if_long(len(pieces), words) as follow:
            roots = self._sent_root(held.root, len(pieces))
            recent = held.steps[-RECENT:]
            results: list[Any] = [NotKept()] * len(pieces)
            for steps in (recent, held.steps):
                lacking = [at for at, one in enumerate(results) if isinstance(one, NotKept)]
                if not lacking:
                    break
                whole = len(steps) == len(held.steps)
                orders = [
                    packed(Order(held.root.key, steps, whole, work, pieces[at])) for at in lacking
                ]
                own = [roots[at % len(roots)] for at in lacking]
                found = self._performed(own, orders, follow)
                for at, one in zip(lacking, found, strict=True):
                    results[at] = one
        return results

    def _performed(self, roots: list[Any], orders: list[bytes], follow: Follow) -> list[Any]:
        """The results of some orders; those that were lost with their workers are sent again."""
        from distributed import KilledWorker

        found: list[Any] = [None] * len(orders)
        left = list(range(len(orders)))
        for round_ in range(ROUNDS):
            with _large_allowed():
                futures = {at: self._submitted(roots[at], orders[at]) for at in left}
            try:
                self._wait(futures, len(orders) - len(left), follow)
                # Asked once: a lost result may be there again a moment later.
                states = {at: one.status for at, one in futures.items()}
                good = [at for at, state in states.items() if state == "finished"]
                contents = self._client.gather([futures[at] for at in good])
                for at, content in zip(good, contents, strict=True):
                    found[at] = self._opened(content)
                left = [at for at in left if states[at] != "finished"]
                for at in left:
                    if states[at] == "error":
                        problem = futures[at].exception()
                        if not isinstance(problem, KilledWorker):
                            raise problem
                        if round_ == ROUNDS - 1:
                            raise ClusterError(
                                f"workers of the cluster at {self.address} end again and again "
                                f"while they work: {problem}",
                                "Look at their logs; perhaps they have too little memory. Nothing "
                                "is lost: repeat what was asked.",
                                field="cluster",
                            ) from problem
            finally:
                for one in futures.values():
                    one.release()
            if not left:
                return found
            self._check_alive()
        raise ClusterError(
            f"the cluster at {self.address} has cancelled the same work {ROUNDS} times.",
            "Nothing is lost: repeat what was asked.",
            field="cluster",
        )

    def _submitted(self, root: Any, order: bytes) -> Any:
        self.sent += len(order)
        key = f"cpclean-{uuid4().hex}"
        return self._client.submit(_on_worker, _VERSIONS, root, order, key=key, pure=False)

    def _wait(self, futures: dict[int, Any], done: int, follow: Follow) -> None:
        """Until all futures are finished, failed or cancelled."""
        from distributed import wait

        alone_since: float | None = None
        waiting = list(futures.values())
        while waiting:
            try:
                wait(waiting, timeout=LOOK)
            except TimeoutError:
                self._check_alive()
                alone_since = self._waited_alone(alone_since)
            waiting = [one for one in waiting if not one.done()]
            follow(done + len(futures) - len(waiting))

    def _waited_alone(self, since: float | None) -> float | None:
        """Since when there is no worker; None if there is one."""
        if self._count():
            return None
        now = time.monotonic()
        if since is not None and now - since > self.patience:
            raise ClusterError(
                f"the cluster at {self.address} has had no worker for {self.patience:.0f} seconds.",
                f"Start one: dask worker {self.address}. Nothing is lost: repeat what was asked.",
                field="cluster",
            )
        return now if since is None else since

    def _opened(self, content: bytes | tuple[str, str, str]) -> Any:
        if isinstance(content, bytes):
            self.received += len(content)
            return unpacked(content)
        worker, found, wanted = content
        raise ClusterError(
            f"the worker at {worker} has {found}; here it is {wanted}.",
            "Install the same version everywhere: results must not depend on who computes them.",
            field="cluster",
        )

    def _sent_root(self, root: Root[Any], n_pieces: int) -> list[Any]:
        """The tasks that hold a root, as many as pieces are worked on at once."""
        futures = self._roots.get(root, [])
        lost = [one for one in futures if one.status in ("error", "cancelled", "lost")]
        futures = [one for one in futures if not any(one is other for other in lost)]
        wanted = min(self.at_once, n_pieces)
        if len(futures) < wanted:
            content = packed(root.value)
            with _large_allowed():
                while len(futures) < wanted:
                    self.sent += len(content)
                    key = f"cpclean-root-{uuid4().hex}"
                    futures.append(self._client.submit(bytes, content, key=key, pure=False))
        self._roots[root] = futures
        return futures

    def _open_again(self) -> None:
        """Connect anew if the scheduler was lost, and is back at its address."""
        if self.is_open or self._where is None:
            return
        for one in self._own[:1]:
            one.close(timeout=1)
        try:
            self._client, self._own = _client(self.address, CONNECT)
        except ClusterError as problem:
            raise _gone(self.address) from problem
        self._roots.clear()
        self._count()

    # -- what can go wrong -----------------------------------------------------------------

    def _count(self) -> dict[str, int]:
        """How many threads each worker has."""
        found: dict[str, int] = self._client.nthreads()
        self._threads = max(1, sum(found.values()))
        self._counted = time.monotonic()
        return found

    def _check_alive(self) -> None:
        if self._client.status != "running":
            raise _gone(self.address)

    @contextmanager
    def _minding(self) -> Iterator[None]:
        """Say it in plain words if the scheduler goes away."""
        from concurrent.futures import CancelledError

        from distributed.comm.core import CommClosedError

        try:
            yield
        except (CommClosedError, CancelledError, TimeoutError, OSError, RuntimeError) as problem:
            if self._client.status == "running" and not isinstance(
                problem, CommClosedError | CancelledError
            ):
                raise
            raise _gone(self.address) from problem


def connected(
    where: Any, seconds: float = CONNECT, patience: float = PATIENCE, least: int = LEAST
) -> DaskCluster:
    """A cluster by the address of its scheduler, or by a client; "local" starts one here.

    Parameters
    ----------
    where : str, dask.distributed.Client, or DaskCluster
        Such as "tcp://10.0.0.5:8786". "local": one worker for each processor of this machine, which
        ends with the cluster or with this process.
    seconds : float
        How long the scheduler may take to answer.
    patience, least
        As in `DaskCluster`.
    """
    if isinstance(where, DaskCluster):
        return where
    known = _known.get(where) if isinstance(where, str) else None
    if known is not None and known.is_open:
        return known
    try:
        from distributed import Client
    except ImportError as problem:
        raise ClusterError(
            "a cluster needs Dask, which is not installed.",
            "pip install 'cpclean[cluster]'",
            field="cluster",
        ) from problem
    if isinstance(where, Client):
        if where.asynchronous:
            raise ClusterError(
                "cluster must be a client that waits for results; got an asynchronous one.",
                "Client(address) without asynchronous=True",
                field="cluster",
            )
        return DaskCluster(where, patience=patience, least=least)
    if not isinstance(where, str):
        raise ClusterError(
            'cluster must be the address of a Dask scheduler, "local", or a '
            f"dask.distributed.Client; got {type(where).__name__}.",
            field="cluster",
        )
    if where != "local" and not _ADDRESS.fullmatch(where):
        raise ClusterError(
            f"cluster must be the address of a Dask scheduler, or local; got {where!r}.",
            "Give the address that dask scheduler prints, such as tcp://10.0.0.5:8786.",
            field="cluster",
        )
    client, own = _client(where, seconds)
    for name in ("client", "core", "utils"):  # what goes wrong is said once, by errors
        logging.getLogger(f"distributed.{name}").setLevel(logging.CRITICAL)
    made = DaskCluster(client, own, where, patience=patience, least=least)
    _known[where] = made
    return made


def _client(where: str, seconds: float) -> tuple[Any, list[Any]]:
    """A client by an address, and what to close in the end."""
    from distributed import Client, LocalCluster

    started = []
    if where == "local":
        own = {
            "host": "127.0.0.1",
            "dashboard_address": "127.0.0.1:0",
            "silence_logs": logging.ERROR,
        }
        with _without_interrupts():
            started = [LocalCluster(threads_per_worker=1, **own)]
    found: list[Any] = []

    def connect() -> None:
        try:
            at = started[0] if started else where
            found.append(Client(at, timeout=seconds, set_as_default=False))
        except Exception as problem:  # of what else listens there, Dask understands anything
            found.append(problem)

    # Dask waits for ever if something answers that is no scheduler, such as a web server.
    thread = Thread(target=connect, daemon=True)
    thread.start()
    thread.join(None if started else seconds + GREETING)
    if not found or isinstance(found[0], Exception):
        raise ClusterError(
            f"no Dask scheduler answers at {where!r} within {seconds:.0f} seconds.",
            "Start one (dask scheduler), or give the address that it prints, such as "
            "tcp://10.0.0.5:8786.",
            field="cluster",
        ) from (found[0] if found else None)
    return found[0], [found[0], *started]


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Processes that are started meanwhile are not ended by Ctrl-C, but by this process.

    A terminal sends it to all of them, and each would print where it was.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # to start it would let signals through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)  # Ctrl-C comes now, if there was one


def _on_worker(versions: dict[str, str], root: bytes, order: bytes) -> Any:
    """Run a piece of work; if a package is absent or another one: the worker, what it has, and not.

    It is sent as code: a worker that cannot import what it is sent ends without a word.
    """
    from distributed import get_worker

    try:
        import numba
        import numpy

        import cpclean
    except ModuleNotFoundError as problem:
        return get_worker().address, f"no cpclean ({problem})", f"cpclean {versions['cpclean']}"
    for name, module in (("cpclean", cpclean), ("numpy", numpy), ("numba", numba)):
        found, wanted = str(module.__version__), versions[name]
        if found != wanted and (name == "cpclean" or found.split(".")[:2] != wanted.split(".")[:2]):
            return get_worker().address, f"{name} {found}", f"{name} {wanted}"
    from cpclean.cluster.worker_tasks import perform

    return perform(root, order)


_on_worker.__module__ = "__main__"  # which Dask never sends by name


@atexit.register
def close_all() -> None:
    """Leave all clusters that were reached by an address; workers that were started here end."""
    while _known:
        _known.popitem()[1].close()


def _large_allowed() -> Any:
    """Roots and shards of rows are as large as they are; Dask would warn about every large one."""
    import dask

    return dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"})


@contextmanager
def _bar_if_long(total: int, words: str) -> Iterator[Follow]:
    """A bar that comes up once the work has taken a second."""
    begun, title = time.monotonic(), f"{words}: pieces on the cluster"
    shown: list[Any] = []

    def follow(done: int, words: str | None = None) -> None:
        if not shown and time.monotonic() - begun > SHORT:
            bar = progress_bar(total, title, transient=True)
            shown.extend((bar, bar.__enter__()))
        if shown:
            shown[1](done, words)

    try:
        yield follow
    finally:
        if shown:
            shown[0].__exit__(None, None, None)


def _gone(address: str) -> ClusterError:
    return ClusterError(
        f"the Dask scheduler at {address} does not answer any more.",
        "Nothing is lost: what was answered is kept here. Start the scheduler again and repeat "
        "what was asked.",
        field="cluster",
    )
