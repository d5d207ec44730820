"""Many at once, in threads and in processes: no double lease, no event lost or doubled."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import pairwise
from threading import Barrier, Lock
from uuid import uuid4

import pytest
from projects.making import N_DIRTY
from waiting import PATIENCE

from cpclean.errors import CPCleanError, OvertakenError, RefusedError
from cpclean.storage.events import NewEvent, Since
from cpclean.storage.opening import open_storage
from cpclean.storage.sqlite import SqliteStorage

N_THREADS = 8


def in_threads(work, n=N_THREADS):
    """Run work(number) in threads that begin at the same moment."""
    ready = Barrier(n)

    def begun(number):
        ready.wait()
        return work(number)

    with ThreadPoolExecutor(n) as pool:
        return list(pool.map(begun, range(n)))


def check_log(events, n):
    assert [event.number for event in events] == list(range(1, n + 1))
    assert len({event.request_id for event in events}) == n
    assert all(one.at <= two.at for one, two in pairwise(events))


def answer_all(storage, who, places=1):
    done, last, mine = set(), 0, []
    while True:
        for event in storage.events(after=last):
            done.add(event.row)
            last = event.number
        ranking = [row for row in range(N_DIRTY) if row not in done]
        if not ranking:
            return mine
        lease = storage.lease(ranking, who, 60, places, seen=last)
        if lease is not None:
            storage.append(NewEvent("answer", who, lease.row, candidate=1), uuid4().hex)
            mine.append(lease.row)


def test_of_many_who_answer_a_row_at_once_one_is_saved(storage):
    def work(number):
        try:
            new = NewEvent("answer", f"person {number}", 3, candidate=number % 3)
            return storage.append(new, f"r{number}", Since(row=0))
        except OvertakenError as problem:
            return problem.event

    found = in_threads(work)
    (saved,) = storage.events()
    assert found == [saved] * N_THREADS, "and all others learn of it"


def test_threads_share_the_rows(storage):
    mine = in_threads(lambda number: answer_all(storage, f"person {number}"))
    assert sorted(row for rows in mine for row in rows) == list(range(N_DIRTY))
    check_log(storage.events(), N_DIRTY)
    assert storage.leases() == []


def test_no_row_is_held_twice(storage):
    """All lease at once, keep what they have, and release some of it for others."""
    held, lock = set(), Lock()

    def work(number):
        who = f"person {number}"
        for turn in range(12):
            lease = storage.lease(range(10), who, 60)
            if lease is None:
                continue
            with lock:
                assert lease.row not in held
                held.add(lease.row)
            if turn % 3:
                with lock:
                    held.remove(lease.row)
                assert storage.release(lease)

    in_threads(work)
    assert {lease.row for lease in storage.leases()} == held


def test_two_places_are_for_two_people(storage):
    found = in_threads(lambda n: storage.lease([3, 4], f"person {n // 2}", 60, places=2))
    pairs = [(lease.row, lease.who) for lease in found if lease is not None]
    assert len(set(pairs)) == len(pairs) == 4
    assert sorted(row for row, _ in pairs) == [3, 3, 4, 4]


def test_one_request_from_many_is_one_event(storage):
    new = NewEvent("answer", "Ann", 3, candidate=1)
    assert len({e.number for e in in_threads(lambda _: storage.append(new, "the same"))}) == 1
    check_log(storage.events(), 1)


def test_one_event_is_undone_once(storage):
    storage.append(NewEvent("answer", "Ann", 3, candidate=1), "r")

    def work(number):
        try:
            return storage.append(NewEvent("undo", "Bob", undoes=1), f"undo {number}")
        except RefusedError as problem:
            return str(problem)

    refused = [found for found in in_threads(work) if isinstance(found, str)]
    assert refused == ["event 1 is undone already."] * (N_THREADS - 1)
    check_log(storage.events(), 2)


def test_a_reader_misses_nothing(storage):
    """Numbers become visible in their order: who reads along sees each of them once."""
    seen = []

    def work(number):
        if number:
            for turn in range(10):
                storage.append(NewEvent("skip", f"person {number}", turn), f"{number}-{turn}")
            return
        while len(seen) < 10 * (N_THREADS - 1):
            seen.extend(event.number for event in storage.events(after=seen[-1] if seen else 0))

    in_threads(work)
    assert seen == list(range(1, 10 * (N_THREADS - 1) + 1))


def test_a_server_with_another_isolation(postgres_url, postgres_server, project):
    """What is looked at again under a lock is fresh, whatever the server's own habit is."""
    postgres_server.sql("ALTER ROLE cpclean SET default_transaction_isolation = 'serializable'")
    try:
        with open_storage(postgres_url) as storage:
            storage.create(project)
            test_threads_share_the_rows(storage)
    finally:
        postgres_server.sql("ALTER ROLE cpclean RESET default_transaction_isolation")


def test_many_create_at_once(shared_url, project):
    """Whoever comes first makes tables and project; the others find them."""

    def work(number):
        with open_storage(shared_url) as storage:
            storage.create(project)
            storage.append(NewEvent("skip", "Ann", number), f"r{number}")

    in_threads(work, 4)
    with open_storage(shared_url) as storage:
        check_log(storage.events(), 4)


def test_many_open_a_new_file_at_once(tmp_path):
    """All of them switch to a write-ahead log, for which SQLite itself would not wait."""
    for number in range(15):
        path = tmp_path / f"{number}.cpclean.db"
        in_threads(lambda _, path=path: SqliteStorage(path).close(), 6)


@pytest.mark.slow
def test_processes_share_the_rows(shared_url, project, worker):
    with open_storage(shared_url) as storage, ExitStack() as stack:
        storage.create(project)
        workers = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, worker, "answer_all", shared_url, f"process {number}"],
                    stdout=subprocess.PIPE,
                    text=True,
                )
            )
            for number in range(2)
        ]
        printed = [one.communicate(timeout=PATIENCE)[0].split("\n")[:-1] for one in workers]
        assert [one.returncode for one in workers] == [0, 0]
        check_log(storage.events(), N_DIRTY)
        pairs = [tuple(map(int, line.split())) for lines in printed for line in lines]
        assert sorted(row for row, _ in pairs) == list(range(N_DIRTY))
        assert {number: row for row, number in pairs} == {e.number: e.row for e in storage.events()}


@pytest.mark.slow
@pytest.mark.parametrize("round_", range(5))
def test_threads_share_the_rows_again_and_again(storage, round_):
    test_threads_share_the_rows(storage)
    with pytest.raises(CPCleanError, match="seconds must be"):
        storage.lease([0], "Ann", -1)
