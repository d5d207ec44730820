"""Compiled work in threads: piece by piece, in order, never in the main thread.

A Ctrl-C that arrives while compiled code hands over its result breaks the process, and only the
main thread receives it. So the main thread waits while others work.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from cpclean.compiling import watch
from cpclean.data.rows import is_whole
from cpclean.errors import QueryError

Piece = TypeVar("Piece")
Result = TypeVar("Result")

_workers: dict[int, ThreadPoolExecutor] = {}


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
    if threads <= 1 and threading.current_thread() is not threading.main_thread():
        return list(map(work, given))
    pool = _worker() if threads <= 1 else ThreadPoolExecutor(threads)
    waiting: list[Future[Result]] = []
    try:
        for piece in given:  # within try: a Ctrl-C may arrive while work is handed out
            waiting.append(pool.submit(work, piece))
        return [found.result() for found in waiting]
    finally:
        for found in waiting:
            found.cancel()
        if threads > 1:
            pool.shutdown(wait=False, cancel_futures=True)


def _worker() -> ThreadPoolExecutor:
    """The thread that works for the main thread, call by call; a forked process needs its own."""
    if os.getpid() not in _workers:
        _workers.clear()
        _workers[os.getpid()] = ThreadPoolExecutor(1, thread_name_prefix="cpclean")
    return _workers[os.getpid()]
