"""Servers that share a storage and a cluster; one of them goes on when a lost scheduler is back."""

import os
import signal
import time

import numpy as np
import pandas as pd
import pytest
from cluster.test_lost_workers import reached
from waiting import until
from web.served import Served

from cpclean import IncompleteTable
from cpclean.data.task import Task
from cpclean.projects.project import Project, Settings
from cpclean.queries.model import Model
from cpclean.storage.opening import open_storage
from cpclean.web.desk.desk import Desk

pytestmark = pytest.mark.slow
PAGES = ("/api/progress", "/question", "/progress", "/rows")


def project():
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.integers(0, 9, (300, 3)).astype(float), columns=list("abc"))
    frame.loc[rng.random(300) < 0.3, "a"] = None
    frame["y"] = rng.choice(["no", "yes"], 300)
    points = pd.DataFrame(rng.integers(0, 9, (200, 3)).astype(float), columns=list("abc"))
    table = IncompleteTable(frame, label="y")
    return Project.make(Task.of(table, points), Settings(Model(n_neighbors=3)))


def test_server_processes_on_postgres_share_a_cluster(commands, postgres_url):
    reached(commands, 2)
    with open_storage(postgres_url) as storage:
        storage.create(project())
    alone, here = project().session(), []

    def told(client, who):
        asked = client.get("/api/question", params={"who": who}).json()["question"]
        assert asked["row"] == alone.ask().row
        sent = {"who": who, "row": asked["row"], "values": {"a": "4"}}
        assert client.post("/api/answer", json=sent).status_code == 200
        alone.tell(asked["row"], value={"a": 4.0})

    try:
        here.append(Served(postgres_url, "--cluster", commands.address))
        for worker in commands.workers:
            os.kill(worker.pid, signal.SIGSTOP)  # whoever waits for the cluster, waits long
        here.append(Served(postgres_url, "--cluster", commands.address, ready=False))
        with here[0].client() as first, here[1].client() as second:
            told(first, "Ann")
            slowest = 0.0
            for client, page in [(one, page) for one in (first, second) for page in PAGES]:
                begun = time.monotonic()
                assert client.get(page).status_code in (200, 303)
                slowest = max(slowest, time.monotonic() - begun)
            assert slowest < 2.0
            assert second.get("/api/progress").json()["busy"]
            for worker in commands.workers:
                os.kill(worker.pid, signal.SIGCONT)
            here[1].wait_ready()
            until(lambda: first.get("/api/progress").json()["answers"] == 1)
            told(second, "Bob")
            for one in (first, second):
                until(lambda one=one: one.get("/api/progress").json()["answers"] == 2)
                assert one.get("/api/progress").json()["certain_share"] == alone.certain_share
    finally:
        for one in here:
            one.close()


def test_a_server_says_what_is_wrong_and_goes_on(commands, tmp_path):
    reached(commands, 1)
    storage = open_storage("memory://")
    storage.create(project())
    desk = Desk(storage, cluster=commands.address)
    desk.start()
    try:
        desk.ready()
        question = desk.question("Ann")
        os.kill(commands.scheduler.pid, signal.SIGKILL)
        commands.scheduler.wait()
        commands.kill_workers()
        desk.answer("Ann", question.row, values={"a": "4"})  # it is saved at once
        assert len(storage.events()) == 1
        until(lambda: desk.engine.trouble is not None)
        assert "does not answer any more" in desk.engine.trouble
        commands.start_scheduler(port=int(commands.address.rpartition(":")[2]))
        commands.start_worker()
        until(lambda: desk.engine.trouble is None and desk.engine.now.session.answers)
        alone = project().session()
        alone.tell(question.row, value={"a": 4.0})
        assert desk.engine.now.session.ask().row == alone.ask().row
    finally:
        desk.stop()
