"""The cells of a table of results, worked on in one process or several; Ctrl-C loses nothing."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cpclean.experiments.store import Figures, Key, Store
from cpclean.progress_bar import progress_bar

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(frozen=True)
class Job:
    """One cell of a table of results: its key, and the work that fills it.

    With several processes the work goes to another one: it has to be a function of a module, or a
    partial of one.
    """

    key: Key
    work: Callable[[], Figures]


def run_jobs(jobs: Sequence[Job], store: Store, console: Console, n_jobs: int = 1) -> bool:
    """Work on what is not in the store yet; False if Ctrl-C ended it.

    On a terminal a bar shows the time left; elsewhere every finished cell is one line.

    Parameters
    ----------
    jobs, store
        What to do, and where results are saved.
    console : rich.console.Console
    n_jobs : int
        How many processes work at once; 1 works in this one.
    """
    store.arrange([job.key for job in jobs])
    left = [job for job in jobs if job.key not in store]
    if n_jobs == 1 or len(left) < 2:
        finished = _one_by_one(left)
    else:
        finished = _side_by_side(left, min(n_jobs, len(left)))
    try:
        # Cells that were there already would make the estimate of the time left too hopeful.
        bar = progress_bar(len(left), _named(left[:n_jobs]), console=console, transient=True)
        with bar as follow, closing(finished):
            open_jobs = list(left)
            for number, (job, result) in enumerate(finished):
                store.add(job.key, result)
                open_jobs.remove(job)
                follow(number + 1, _named(open_jobs[:n_jobs]))
                if not console.is_terminal:
                    line = f"{number + 1} of {len(left)}: {_named([job])}"
                    console.print(line, soft_wrap=True)
    except KeyboardInterrupt:
        return False
    return True


def _named(jobs: Sequence[Job]) -> str:
    return "; ".join(", ".join(part for part in job.key if part) for job in jobs)


def _one_by_one(jobs: Sequence[Job]) -> Generator[tuple[Job, Figures], None, None]:
    for job in jobs:
        yield job, job.work()


def _side_by_side(jobs: Sequence[Job], n_jobs: int) -> Generator[tuple[Job, Figures], None, None]:
    """Results as they come in. New processes are spawned: threads do not survive a fork."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor, as_completed

    pool = ProcessPoolExecutor(n_jobs, multiprocessing.get_context("spawn"), _begin)
    try:
        waiting = {pool.submit(_work, job.work): job for job in jobs}
        for done in as_completed(waiting):
            yield waiting[done], done.result()
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in multiprocessing.active_children():
            process.terminate()
        raise
    pool.shutdown()


def _begin() -> None:
    """At the start of a process: Ctrl-C is for the one that started it; one thread each."""
    import signal

    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threadpool_limits(1)


def _work(work: Callable[[], Figures]) -> Figures:
    return work()
