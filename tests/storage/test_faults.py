"""What breaks: processes, disks, locks, connections. What was acknowledged is saved, once."""

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import contextmanager
from threading import Timer

import pytest
from sqlalchemy.exc import OperationalError
from systems import files_end_at, needs_posix

from cpclean.errors import FullError, GoneError, LockedError, StorageError
from cpclean.storage.events import NewEvent
from cpclean.storage.opening import open_storage
from cpclean.storage.sqlite import SqliteStorage


def answer(row, who="Ann", **more):
    return NewEvent("answer", who, row, candidate=1, **more)


# -- a process is killed -------------------------------------------------------------------------


@needs_posix
@pytest.mark.slow
def test_a_killed_writer_loses_nothing_that_was_acknowledged(shared_url, project, worker):
    with open_storage(shared_url) as storage:
        storage.create(project)
        acknowledged = []
        for who in ("first", "second"):
            command = [sys.executable, worker, "write_forever", shared_url, who]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
                acknowledged += [writer.stdout.readline().strip() for _ in range(25)]
                writer.send_signal(signal.SIGKILL)
                acknowledged += writer.stdout.read().split()
        events = storage.events()
        ids = [event.request_id for event in events]
        assert [event.number for event in events] == list(range(1, len(events) + 1))
        assert len(set(ids)) == len(ids)
        assert set(acknowledged) <= set(ids)
        # At most the one that was being written is there without having been acknowledged.
        assert len(ids) <= len(acknowledged) + 2
        new = NewEvent("answer", "first", 24, value={"a": 24.0}, seconds=0.5)
        assert storage.append(new, "first-24").number <= len(ids)
        assert storage.last() == len(ids)


# -- SQLite ----------------------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path, project):
    """A project in a file, which waits only a short time for other writers."""
    with SqliteStorage(tmp_path / "x.db", busy_seconds=0.3) as storage:
        storage.create(project)
        storage.append(answer(3), "r1")
        yield storage


def test_a_lock_that_lasts_is_reported_and_nothing_is_lost(file, tmp_path):
    other = sqlite3.connect(tmp_path / "x.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(LockedError, match=r"others have been writing to .* 0\.3 seconds"):
        file.append(answer(4), "r2")
    with pytest.raises(LockedError, match="Try again"):
        file.lease([4], "Ann", 10)
    assert file.last() == 1  # readers do not wait
    other.execute("ROLLBACK")
    other.close()
    assert file.append(answer(4), "r2").number == 2


def test_a_short_lock_is_waited_for(file, tmp_path):
    with open_storage(tmp_path / "x.db") as patient:
        other = sqlite3.connect(tmp_path / "x.db", isolation_level=None, check_same_thread=False)
        other.execute("BEGIN IMMEDIATE")
        timer = Timer(0.5, lambda: other.execute("ROLLBACK"))
        timer.start()
        assert patient.append(answer(4), "r2").number == 2
        timer.join()
        other.close()


@pytest.fixture
def small_disk(tmp_path):
    """A disk of two megabytes."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("no disk can be mounted here")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


SAID = NewEvent("answer", "Ann", 3, value={"a": "x" * 5000})


def fill(storage):
    """Append until it fails; how many were saved, and the error."""
    for number in range(2000):
        try:
            storage.append(SAID, f"fill {number}")
        except StorageError as problem:
            return number, problem
    raise AssertionError("it never failed")


def check_sound(path, n_events):
    with sqlite3.connect(path) as raw:
        assert raw.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert raw.execute("SELECT count(*) FROM cpclean_event").fetchone() == (n_events,)
    raw.close()


def test_a_full_disk_is_reported_and_nothing_is_lost(small_disk, project):
    filler = small_disk / "filler"
    filler.write_bytes(b"x" * 1_200_000)
    with open_storage(small_disk / "x.db") as storage:
        storage.create(project)
        taken, problem = fill(storage)
        assert isinstance(problem, FullError)
        assert "not saved: the disk of" in str(problem)
        assert "is full. Free some space and try again; everything saved before is" in str(problem)
        assert len(storage.events()) == taken > 0
        filler.unlink()
        assert storage.append(SAID, f"fill {taken}").number == taken + 1
        assert [e.request_id for e in storage.events()] == [f"fill {n}" for n in range(taken + 1)]
    check_sound(small_disk / "x.db", taken + 1)


@needs_posix
def test_a_file_that_may_not_grow_is_reported_and_nothing_is_lost(tmp_path, project):
    path = str(tmp_path / "x.db")
    with open_storage(path) as storage:
        storage.create(project)
        with files_end_at(600_000):
            taken, problem = fill(storage)
            assert storage.last() == taken > 0
        assert str(problem).startswith("not saved:")
        storage.append(SAID, f"fill {taken}")
        assert storage.last() == taken + 1
    check_sound(path, taken + 1)


def test_a_file_that_is_removed_is_noticed(file, tmp_path):
    os.rename(tmp_path / "x.db", tmp_path / "y.db")
    for call in (
        lambda: file.append(answer(4), "r2"),
        file.events,
        lambda: file.lease([4], "A", 9),
    ):
        with pytest.raises(GoneError, match=r"x\.db' was removed or replaced while it was open"):
            call()
    os.rename(tmp_path / "y.db", tmp_path / "x.db")
    assert file.append(answer(4), "r2").number == 2


def test_a_file_that_is_replaced_is_noticed(file, tmp_path):
    os.rename(tmp_path / "x.db", tmp_path / "y.db")
    (tmp_path / "x.db").write_bytes(b"")
    with pytest.raises(GoneError, match="removed or replaced"):
        file.append(answer(4), "r2")


def test_a_damaged_project_is_reported(file, tmp_path):
    with sqlite3.connect(tmp_path / "x.db") as raw:
        raw.execute("UPDATE cpclean_project SET content = substr(content, 1, 500)")
    raw.close()
    with pytest.raises(StorageError, match="is damaged: its bytes have changed since it was saved"):
        file.project()


# -- connections -----------------------------------------------------------------------------------


@contextmanager
def breaking_once(storage, monkeypatch):
    """The connection breaks once, right after a transaction was committed."""
    broken = []

    def breaking(real):
        @contextmanager
        def begin():
            with real() as connection:
                yield connection
            if not broken:
                broken.append(True)
                raise OperationalError("COMMIT", {}, Exception("gone"), connection_invalidated=True)

        return begin

    with monkeypatch.context() as patch:
        for name in ("_writing", "_lending"):
            patch.setattr(storage, name, breaking(getattr(storage, name)))
        yield
    assert broken


def test_a_broken_connection_doubles_nothing(shared_url, project, monkeypatch):
    with open_storage(shared_url) as storage:
        with breaking_once(storage, monkeypatch):
            storage.create(project)
        with breaking_once(storage, monkeypatch):
            event = storage.append(answer(3), "r1")
        with breaking_once(storage, monkeypatch):
            lease = storage.lease([4, 5], "Ann", 60)
        assert (event.number, storage.last()) == (1, 1)
        assert lease.row == 4
        assert storage.leases() == [lease]


def test_only_leases_do_not_wait_for_the_disk(file):
    waits = "PRAGMA synchronous"  # 1: now and then, 2: at every commit
    for opened, expected in ((file._writing, 2), (file._lending, 1), (file._writing, 2)):
        with opened() as connection:
            assert connection.exec_driver_sql(waits).scalar() == expected


def test_only_leases_do_not_wait_for_the_disk_of_a_server(postgres_url, project):
    with open_storage(postgres_url) as storage:
        storage.create(project)
        waits = "SHOW synchronous_commit"
        for opened, expected in (("_writing", "on"), ("_lending", "off"), ("_writing", "on")):
            with getattr(storage, opened)() as connection:
                assert connection.exec_driver_sql(waits).scalar() == expected


def test_connections_that_the_server_ends(postgres_url, postgres_server, project):
    with open_storage(postgres_url) as storage:
        storage.create(project)
        storage.append(answer(3), "r1")
        postgres_server.sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
            "AND datname = current_database()"
        )
        assert storage.append(answer(4), "r2").number == 2
        assert len(storage.events()) == 2


@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_a_server_that_stops_and_comes_back(postgres_url, postgres_server, project, mode):
    with open_storage(postgres_url) as storage:
        storage.create(project)
        storage.append(answer(3), "r1")
        postgres_server.stop(mode)
        try:
            with pytest.raises(GoneError, match=r"cannot be reached: .*try again when it is back"):
                storage.append(answer(4), "r2")
            with pytest.raises(GoneError, match="cannot be reached"):
                storage.events()
        finally:
            assert postgres_server.start().returncode == 0
        assert storage.append(answer(4), "r2").number == 2
        assert [event.request_id for event in storage.events()] == ["r1", "r2"]


def test_too_many_at_once(shared_url, project):
    with open_storage(shared_url) as storage:
        storage.create(project)
        pool = storage.engine.pool
        pool._timeout = 0.1
        taken = [storage.engine.connect() for _ in range(pool.size() + pool._max_overflow)]
        with pytest.raises(
            LockedError, match=r"not saved: too many concurrent connections to .*\. Try again"
        ):
            storage.append(answer(3), "r1")
        for connection in taken:
            connection.close()
        assert storage.append(answer(3), "r1").number == 1


def test_a_lock_in_postgres_that_lasts(postgres_url, postgres_server, project, monkeypatch):
    import psycopg

    from cpclean.storage import postgres

    monkeypatch.setattr(postgres, "LOCK_SECONDS", 1)
    with open_storage(postgres_url) as storage, psycopg.connect(postgres_url) as other:
        storage.create(project)
        other.execute("SELECT * FROM cpclean_head FOR UPDATE")
        with pytest.raises(
            LockedError, match=r"others have locked .* for more than 1 seconds. Try again"
        ):
            storage.append(answer(3), "r1")
        assert storage.lease([4], "Ann", 10).row == 4  # whoever leases waits for nobody
        other.rollback()
        assert storage.append(answer(3), "r1").number == 1
