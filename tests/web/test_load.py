"""Many at once: no error, no row in two hands."""

import random
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from waiting import PATIENCE
from web.served import Served
from web.tables import small_project, stored

from cpclean.storage.opening import open_storage

N_CLIENTS, N_ROUNDS = 50, 5


class Hands:
    """Who holds which row, as the clients know it."""

    def __init__(self):
        self._lock = threading.Lock()
        self._held = {}
        self.doubles = []

    def take(self, row, who):
        with self._lock:
            if self._held.get(row, who) != who:
                self.doubles.append((row, who, self._held[row]))
            self._held[row] = who

    def give(self, row):
        with self._lock:
            del self._held[row]


def sent(call, statuses):
    """What a call is answered in the end: a server that is too busy says so, and is asked again."""
    end = time.monotonic() + PATIENCE
    while True:
        found = call()
        statuses[found.status_code] += 1
        if found.status_code != 503 or time.monotonic() > end:
            return found
        time.sleep(0.2)


def next_row(client, who, statuses):
    """The row to answer; there may be none until others give rows back."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = sent(lambda: client.get("/api/question", params={"who": who}), statuses)
        if question := found.json().get("question"):
            return question["row"]
        time.sleep(0.05)
    raise AssertionError(f"{who} is asked nothing any more")


def client_work(server, number, hands, statuses):
    rng, who = random.Random(number), f"client {number}"
    said = Counter()
    with server.client() as client:
        for _ in range(N_ROUNDS):
            row = next_row(client, who, statuses)
            hands.take(row, who)
            time.sleep(rng.random() * 0.2)
            # Before it is sent: from then on the row may be somebody else's.
            hands.give(row)
            body = {"who": who, "row": row, "request_id": f"{who} {sum(said.values())}"}
            if rng.random() < 0.2:
                path = "skip"
            else:
                path, body = "answer", {**body, "candidate": rng.randrange(3)}
            sent(lambda path=path, body=body: client.post(f"/api/{path}", json=body), statuses)
            said[path] += 1
            if rng.random() < 0.1:  # so that there is always something to ask
                sent(lambda: client.post("/api/undo", json={"who": who}), statuses)
                said["undo"] += 1
            client.get("/api/progress")
    return said


@pytest.mark.slow
def test_fifty_at_once(shared_url):
    stored(shared_url, small_project(n_dirty=3000, n_points=60)).close()
    statuses, hands = Counter(), Hands()
    with Served(shared_url) as server, ThreadPoolExecutor(N_CLIENTS) as pool:
        work = [
            pool.submit(client_work, server, number, hands, statuses) for number in range(N_CLIENTS)
        ]
        said = sum((one.result() for one in work), Counter())
    assert set(statuses) <= {200, 503}, statuses
    assert statuses[503] < 0.01 * statuses[200], statuses  # none at all, unless the machine is busy
    assert hands.doubles == []
    with open_storage(shared_url) as storage:
        kinds = Counter(one.kind for one in storage.events())
    assert kinds["skip"] == said["skip"]
    assert kinds["undo"] == said["undo"]
    assert kinds["answer"] + kinds["correction"] == said["answer"] > N_CLIENTS
