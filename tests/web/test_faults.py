"""What goes wrong: killed servers, databases that are locked, full, gone and back."""

import sqlite3
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import httpx
import pytest
from waiting import PATIENCE, until
from web.served import TOKEN, Served
from web.tables import small_project, stored

from cpclean.storage.opening import open_storage
from cpclean.storage.sqlite import SqliteStorage
from cpclean.web.server.app import make_app

N_CLIENTS, N_ANSWERS = 5, 200


class Crowd:
    """Clients that answer every row once, and repeat what nobody confirmed, by the same id."""

    def __init__(self, place):
        self.server = Served(place)
        self.confirmed = {}
        self._place, self._lock = place, threading.Lock()
        self._restarted = threading.Event()

    def work(self, number):
        rows = range(number, N_ANSWERS, N_CLIENTS)
        for row in rows:
            body = {"who": f"client {number}", "row": row, "candidate": row % 3,
                    "request_id": f"row {row}", "next": True}  # fmt: skip
            found = self._sent(body)
            with self._lock:
                assert row not in self.confirmed
                self.confirmed[row] = found["event_number"]

    def _sent(self, body):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                with self.server.client(timeout=PATIENCE) as client:
                    found = client.post("/api/answer", json=body)
                    assert found.status_code == 200, found.text
                    return found.json()
            except httpx.TransportError:  # killed: nobody knows whether it arrived
                time.sleep(0.5)  # a server takes seconds to begin
        raise AssertionError("the server did not come back")

    def kill_and_restart(self, after):
        while len(self.confirmed) < after:
            time.sleep(0.01)
        self.server.kill()
        before = dict(self.confirmed)
        self.server = Served(self._place, ready=False)
        return before


@pytest.mark.slow
def test_a_killed_server_loses_nothing_that_was_confirmed(shared_url):
    project = small_project(n_dirty=N_ANSWERS, n_points=20)
    stored(shared_url, project).close()
    crowd = Crowd(shared_url)
    try:
        with ThreadPoolExecutor(N_CLIENTS) as pool:
            working = [pool.submit(crowd.work, number) for number in range(N_CLIENTS)]
            before = crowd.kill_and_restart(after=60)
            again = crowd.kill_and_restart(after=130)
            for one in working:
                one.result()
    finally:
        crowd.server.close()
    assert 60 <= len(before) < N_ANSWERS
    assert len(before) < len(again)
    with open_storage(shared_url) as storage:
        events = storage.events()
        assert sorted(one.row for one in events) == list(range(N_ANSWERS)), "each exactly once"
        assert {one.row: one.number for one in events} == crowd.confirmed
        assert all(one.candidate == one.row % 3 for one in events)
        entries = [{"row": one.row, "candidate": one.candidate} for one in events]
        expected = project.session(entries)
        assert storage.project().session(entries).certain_share == expected.certain_share


def program(app):
    """A program that knows the token."""
    from starlette.testclient import TestClient

    return TestClient(app, "http://127.0.0.1", headers={"Authorization": f"Bearer {TOKEN}"})


SAID = {"who": "Ann", "row": 0, "candidate": 0, "request_id": "r"}


def test_a_database_that_is_locked(tmp_path):
    place = tmp_path / "x.db"
    stored(place).close()
    with SqliteStorage(place, busy_seconds=0.2) as storage:
        app = make_app(storage, TOKEN)
        app.state.cpclean.desk.ready()
        other = sqlite3.connect(place, isolation_level=None)
        with program(app) as client:
            other.execute("BEGIN IMMEDIATE")
            found = client.post("/api/answer", json=SAID)
            assert found.status_code == 503
            assert found.json()["retry"]
            assert "not saved: others have been writing" in found.json()["error"]
            assert client.get("/api/question", params={"who": "Ann"}).status_code == 503
            assert client.get("/api/progress").status_code == 200, "looking goes on"
            other.execute("ROLLBACK")
            other.close()
            assert client.post("/api/answer", json=SAID).status_code == 200
        assert [one.request_id for one in storage.events()] == ["r"]


def test_a_lock_after_the_answer_was_taken(tmp_path, monkeypatch):
    """What is in is confirmed, though the next question cannot be had."""
    from cpclean.errors import LockedError

    def locked(*_, **__):
        raise LockedError("locked.")

    with stored(tmp_path / "x.db") as storage:
        app = make_app(storage, TOKEN)
        app.state.cpclean.desk.ready()
        monkeypatch.setattr(storage, "lease", locked)
        with program(app) as client:
            found = client.post("/api/answer", json={**SAID, "next": True})
            assert found.status_code == 200
            assert found.json()["next"] is None
        assert storage.last() == 1


@pytest.fixture
def small_disk(tmp_path):
    """A file system of two megabytes."""
    place = tmp_path / "disk"
    place.mkdir()
    options = ["-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)]
    made = subprocess.run(["mount", *options], capture_output=True, text=True, check=False)
    if made.returncode:
        pytest.skip(f"no small disk can be mounted here: {made.stderr.strip()}")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=False)


def test_a_disk_that_is_full(small_disk):
    with stored(small_disk / "x.db") as storage:
        app = make_app(storage, TOKEN)
        app.state.cpclean.desk.ready()
        filler = small_disk / "filler"
        with program(app) as client, filler.open("wb", buffering=0) as into:
            with suppress(OSError):
                while into.write(b"x" * 4096):
                    pass
            taken, found = 0, None
            for number in range(2000):
                said = {
                    "who": "Ann",
                    "row": number % 40,
                    "candidate": 0,
                    "request_id": f"r{number}",
                }
                found = client.post("/api/answer", json=said)
                if found.status_code != 200:
                    break
                taken += 1
            assert found.status_code == 507
            assert "is full. Free some space" in found.json()["error"]
            into.truncate(0)
            filler.unlink()
            assert client.post("/api/answer", json=said).status_code == 200
        assert [one.request_id for one in storage.events()] == [f"r{n}" for n in range(taken + 1)]


def test_a_database_that_goes_and_comes_back(postgres_url, postgres_server):
    stored(postgres_url).close()
    with open_storage(postgres_url) as storage:
        app = make_app(storage, TOKEN)
        desk = app.state.cpclean.desk
        desk.ready()
        with program(app) as client:
            postgres_server.stop("fast")
            try:
                found = client.post("/api/answer", json=SAID)
                assert found.status_code == 503
                assert found.json()["retry"]
                until(lambda: desk.progress().trouble is not None)
                assert client.get("/api/progress").json()["trouble"] is not None
            finally:
                postgres_server.start()
            assert client.post("/api/answer", json=SAID).status_code == 200
            until(lambda: desk.progress().trouble is None)
            until(lambda: desk.progress().answers == 1)
        desk.stop()
