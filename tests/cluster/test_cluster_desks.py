"""Servers that share a storage and a cluster; one of them goes on when a lost scheduler is back."""

import os
import signal

import numpy as np
import pandas as pd
import pytest
from cluster.test_lost_workers import reached
from waiting import until

from cpclean import IncompleteTable
from cpclean.data.task import Task
from cpclean.projects.project import Project, Settings
from cpclean.queries.model import Model
from cpclean.storage.opening import open_storage
from cpclean.web.desk.desk import Desk

pytestmark = pytest.mark.slow


def project():
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.integers(0, 9, (300, 3)).astype(float), columns=list("abc"))
    frame.loc[rng.random(300) < 0.3, "a"] = None
    frame["y"] = rng.choice(["no", "yes"], 300)
    points = pd.DataFrame(rng.integers(0, 9, (200, 3)).astype(float), columns=list("abc"))
    table = IncompleteTable(frame, label="y")
    return Project.make(Task.of(table, points), Settings(Model(n_neighbors=3)))


def n_answers(desk):
    return len(desk.engine.now.session.answers)


def test_servers_share_a_cluster_and_a_storage(commands, tmp_path):
    reached(commands, 2)
    url = f"sqlite:///{tmp_path}/answers.db"
    first = open_storage(url)
    first.create(project())
    alone = project().session()
    desks = [Desk(one, cluster=commands.address) for one in (first, open_storage(url))]
    for desk in desks:
        desk.start()
        desk.ready()
    try:
        for number in range(4):
            desk, name = desks[number % 2], f"person {number % 2}"
            question = desk.question(name)
            assert question.row == alone.ask().row
            desk.answer(name, question.row, values={"a": "4"})
            alone.tell(question.row, value={"a": 4.0})
            for one in desks:
                until(lambda one=one, size=number: n_answers(one) == size + 1)
            shares = [one.engine.now.session.certain_share for one in desks]
            assert shares == [alone.certain_share] * 2
    finally:
        for desk in desks:
            desk.stop()


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
