"""Compiled work in threads: piece by piece, in order, never in the main thread.

A Ctrl-C that arrives while compiled code hands over its result breaks the process, and only the
main thread receives it. So the main thread waits while others work. It may arrive between any two
steps of the main thread, too, and a lock of the standard library's pools that it leaves taken would
stop every later call. So nothing but plain locks, queues and counters is shared with the others:
each of their steps is a single one to the interpreter.

For work of a tenth of a millisecond, handing it over takes as long as the work itself. `at_once`
lets the main thread do it, while a Ctrl-C waits.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found, unused-ignore] # `signal` looks names up for long
import _thread
import atexit
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable
from functools import partial
from itertools import count
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from cpclean.compiling import watch
from cpclean.data.rows import is_whole
from cpclean.errors import QueryError

Piece = TypeVar("Piece")
Result = TypeVar("Result")

_waiting: dict[int, SimpleQueue[Callable[[], None]]] = {}  # by process, for its worker
_given_up: list[_Round[Any, Any]] = []
# Other signals that people write handlers for, which may raise something.
_OTHERS = [
    int(getattr(signal, name))
    for name in ("SIGTERM", "SIGALRM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGVTALRM", "SIGPROF")
    if hasattr(signal, name)
]
_SIGINT = int(signal.SIGINT)


def n_threads(n_jobs: int | None) -> int:
    """The number of threads that `n_jobs` means: one if None, -1 for all processors."""
    if n_jobs is not None and (not is_whole(n_jobs) or n_jobs == 0):
        raise QueryError(
            "n_jobs must be None, a positive int, or a negative one to count from all processors "
            f"(-1: all); got {n_jobs!r}.",
            field="n_jobs",
        )
    if n_jobs is None:
        return 1
    return int(n_jobs) if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + int(n_jobs))


def in_threads(
    work: Callable[[Piece], Result], pieces: Iterable[Piece], n_jobs: int | None = None
) -> list[Result]:
    """The results of all pieces, in their order, whatever the number of threads.

    Parameters
    ----------
    work : function of a piece
        Compiled code that lets other threads run.
    pieces : iterable
    n_jobs : int, optional
        The number of threads; None means one, -1 all processors.

    Examples
    --------
    >>> in_threads(abs, [-3, 2, -1], n_jobs=2)
    [3, 2, 1]
    """
    watch()
    given = list(pieces)
    threads = min(n_threads(n_jobs), len(given))
    if not given or (threads <= 1 and not _in_main_thread()):
        return list(map(work, given))
    _given_up[:] = [one for one in _given_up if one.busy]
    begun = _Round(work, given)
    try:
        begun.hand_out(threads)
        begun.wait()
    except BaseException:
        begun.stopped = True
        _given_up.append(begun)
        raise
    return begun.found()


def at_once(work: Callable[[], Result]) -> Result:
    """The result of brief compiled work, done in this thread if that is safe.

    In the main thread, a Ctrl-C waits until the work is over, and is heard then. Where it is not
    heard in Python, or handlers of other signals might raise something, another thread works.

    Examples
    --------
    >>> at_once(lambda: abs(-3))
    3
    """
    watch()
    if not _in_main_thread():
        return work()
    before = _signal.getsignal(_SIGINT)
    if not callable(before) or any(map(callable, map(_signal.getsignal, _OTHERS))):
        return in_threads(lambda _: work(), [None])[0]
    heard: list[Any] = []

    def wait(number: int, frame: Any) -> None:
        heard[:] = [number, frame]

    _signal.signal(_SIGINT, wait)
    try:
        return work()
    finally:
        _signal.signal(_SIGINT, before)
        if heard:
            before(*heard)


def _in_main_thread() -> bool:
    return threading.get_ident() == threading.main_thread().ident


class _Round(Generic[Piece, Result]):
    """One call: its pieces, of which whoever is free takes the next one, and their results."""

    def __init__(self, work: Callable[[Piece], Result], pieces: list[Piece]) -> None:
        self._work, self._pieces = work, pieces
        self._places = count()
        self._results: list[Any] = [None] * len(pieces)
        self._problems: dict[int, BaseException] = {}
        self._at_work: list[_thread.LockType] = []  # each is taken until a thread has ended
        self._process = os.getpid()
        self.stopped = False

    def hand_out(self, threads: int) -> None:
        """Let one worker, or new threads, begin; this returns at once."""
        for _ in range(threads):
            ended = _thread.allocate_lock()
            ended.acquire()
            if threads == 1:
                _worker().put(partial(self._run, ended))
            else:
                _thread.start_new_thread(self._run, (ended,))
            self._at_work.append(ended)

    def _run(self, ended: _thread.LockType) -> None:
        _be_followed()
        try:
            while not self.stopped and (place := next(self._places)) < len(self._pieces):
                self._results[place] = self._work(self._pieces[place])
        except BaseException as problem:  # to be raised where it was asked for
            self._problems[place] = problem
            self.stopped = True
        finally:
            ended.release()

    def wait(self) -> None:
        """Until no thread works on it any more."""
        for ended in self._at_work:
            with ended:
                pass

    @property
    def busy(self) -> bool:
        """Whether a thread of this process is still at work."""
        return self._process == os.getpid() and any(one.locked() for one in self._at_work)

    def found(self) -> list[Result]:
        """All results; or the error of the first piece that has one, whatever the threads."""
        if self._problems:
            raise self._problems[min(self._problems)]
        return self._results


def _be_followed() -> None:
    """Let debuggers, profilers and coverage see this thread, as those of `threading`."""
    sys.settrace(threading.gettrace())
    sys.setprofile(threading.getprofile())


def _worker() -> SimpleQueue[Callable[[], None]]:
    """What the worker of the main thread does next; a forked process needs its own."""
    if os.getpid() not in _waiting:
        work: SimpleQueue[Callable[[], None]] = SimpleQueue()
        _thread.start_new_thread(_serve, (work,))
        _waiting.clear()
        _waiting[os.getpid()] = work
    return _waiting[os.getpid()]


def _serve(work: SimpleQueue[Callable[[], None]]) -> None:
    while True:
        work.get()()


@atexit.register
def _finish() -> None:
    """Compiled code must not run on while the interpreter is taken down."""
    for one in _given_up:
        if one.busy:
            one.wait()
