"""Work in threads: results in their order, the first error, and Ctrl-C at any moment."""

from __future__ import annotations

import _thread
import signal
import subprocess
import sys
import threading

import pytest
from systems import needs_posix
from waiting import PATIENCE, until

from cpclean.data.threads import at_once, in_threads

any_threads = pytest.mark.parametrize("n_jobs", [None, 1, 2, 5])


@any_threads
def test_results_are_in_the_order_of_the_pieces(n_jobs: int | None) -> None:
    assert in_threads(abs, range(-100, 0), n_jobs) == list(range(100, 0, -1))
    assert in_threads(abs, [], n_jobs) == []
    assert in_threads(abs, [-1], n_jobs) == [1]


@any_threads
def test_the_main_thread_never_works(n_jobs: int | None) -> None:
    found = in_threads(lambda _: threading.get_ident(), range(20), n_jobs)
    assert threading.get_ident() not in found
    assert len(set(found)) <= (n_jobs or 1)


def test_another_thread_works_itself() -> None:
    found: list[int] = []

    def ask() -> None:
        found.append(threading.get_ident())
        found.extend(in_threads(lambda _: threading.get_ident(), range(3)))
        found.append(len(set(in_threads(lambda _: threading.get_ident(), [0, 1], 2)) - {found[0]}))

    asking = threading.Thread(target=ask)
    asking.start()
    asking.join()
    assert found[1:4] == found[:1] * 3
    assert found[4] > 0


@any_threads
def test_the_error_is_that_of_the_first_piece(n_jobs: int | None) -> None:
    begun = []

    def work(piece: int) -> int:
        begun.append(piece)
        if piece >= 10:
            raise ValueError(f"piece {piece}")
        return piece

    for _ in range(20):
        with pytest.raises(ValueError, match=r"^piece 10$"):
            in_threads(work, range(1000), n_jobs)
    assert max(begun) < 500, "after an error nothing new is begun"
    assert in_threads(abs, [-1], n_jobs) == [1]


def test_threads_work_at_the_same_time() -> None:
    both = threading.Barrier(2)
    assert sorted(in_threads(lambda _: both.wait(PATIENCE), range(2), 2)) == [0, 1]


def test_a_round_within_a_round() -> None:
    def inner(piece: int) -> list[int]:
        return in_threads(abs, [-piece, piece])

    for n_jobs in (1, 2):
        assert in_threads(inner, [1, 2, 3], n_jobs) == [[1, 1], [2, 2], [3, 3]]


def test_threads_end() -> None:
    in_threads(abs, range(10))
    before = _thread._count()
    for _ in range(10):
        in_threads(abs, range(10), 4)
    until(lambda: _thread._count() <= before)


OFTEN = """
import random, signal
from cpclean.data.threads import in_threads

signal.signal(signal.SIGALRM, signal.default_int_handler)
rng = random.Random(0)
for number in range(300):
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.001 + 0.004 * rng.random())
        while True:
            in_threads(abs, range(-300, 0), n_jobs=1 + number % 2)
    except KeyboardInterrupt:
        continue
print(*in_threads(abs, [-3, 2, -1]), *in_threads(abs, [-3, 2, -1], 2))
"""


@needs_posix
def test_interrupted_at_any_moment_the_next_call_works() -> None:
    """Also while work is handed out: nothing that others wait for is left locked."""
    done = subprocess.run(
        [sys.executable, "-c", OFTEN], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert (done.returncode, done.stdout) == (0, "3 2 1 3 2 1\n"), done.stderr


def test_brief_work_is_done_here_and_ctrl_c_waits() -> None:
    before = signal.getsignal(signal.SIGINT)
    done = []

    def work() -> list[int]:
        signal.raise_signal(signal.SIGINT)
        done.append(threading.get_ident())
        return done

    with pytest.raises(KeyboardInterrupt):
        at_once(work)
    assert done == [threading.get_ident()]
    assert signal.getsignal(signal.SIGINT) is before
    assert at_once(lambda: in_threads(abs, [-1])) == [1]
    with pytest.raises(KeyboardInterrupt):
        at_once(lambda: at_once(work))
    assert len(done) == 2


@needs_posix
def test_brief_work_is_handed_over_where_other_signals_are_heard() -> None:
    before = signal.signal(signal.SIGUSR1, lambda *_: None)
    try:
        found = at_once(threading.get_ident)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert found != threading.get_ident()


def test_an_error_in_brief_work_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        at_once(lambda: 1 // 0)
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
