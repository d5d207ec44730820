"""Workers and schedulers that die, by SIGKILL to their process ids, at the worst moments."""

import os
import shutil
import signal
import threading
import time

import numpy as np
import pandas as pd
import pytest
from cleaning.small import problem
from cluster.pieces import plus, slowly
from cluster.test_dask_cluster import many_points
from house import SRC
from waiting import PATIENCE, until

from cpclean import CleaningSession, StreamedTable, __version__, world_shares
from cpclean.cluster.dask_cluster import DaskCluster, connected
from cpclean.cluster.held import Held
from cpclean.errors import ClusterError, TableError
from cpclean.queries.near_scan import gather

pytestmark = pytest.mark.slow


def reached(commands, n_workers, **more) -> DaskCluster:
    """A cluster of so many workers, all of which have come."""
    commands.start_scheduler()
    for _ in range(n_workers):
        commands.start_worker()
    cluster = connected(commands.address, least=1, **more)
    cluster._client.wait_for_workers(n_workers, timeout=PATIENCE)
    return cluster


def in_background(work):
    """Begin some work; a function that waits for its result, or raises its error."""
    found = {}

    def run():
        try:
            found["result"] = work()
        except BaseException as problem:
            found["problem"] = problem

    thread = threading.Thread(target=run)
    thread.start()

    def result():
        thread.join(PATIENCE)
        assert not thread.is_alive(), "still waiting"
        if "problem" in found:
            raise found["problem"]
        return found["result"]

    return result


def begun(folder, known=()):
    """The process id of a worker that has begun a piece, other than those that are known."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        for one in folder.glob("begun-*"):
            if (process := int(one.name.rpartition("-")[2])) not in known:
                return process
        time.sleep(0.02)
    raise AssertionError("no piece was begun")


def used_once(address):
    """Work for a cluster whose workers may still be on their way."""
    cluster = connected(address, least=1)
    return cluster.map(plus, Held.of(1), pieces(1), "working")


def pieces(number):
    return [(np.array([one]),) for one in range(number)]


def test_a_worker_is_killed_within_a_piece(commands, tmp_path):
    cluster = reached(commands, 2)
    held = Held.of((str(tmp_path), 100))
    result = in_background(lambda: cluster.map(slowly, held, pieces(6), "working"))
    os.kill(begun(tmp_path), signal.SIGKILL)
    (tmp_path / "go").touch()
    assert result() == [[100 + one] for one in range(6)]


def test_all_workers_are_killed_twice_and_others_come(commands, tmp_path):
    cluster = reached(commands, 2)
    held = Held.of((str(tmp_path), 100))
    result = in_background(lambda: cluster.map(slowly, held, pieces(6), "working"))
    dead = set()
    for _ in range(2):
        begun(tmp_path, dead)
        dead |= {one.pid for one in commands.workers}
        commands.kill_workers()
        commands.start_worker()
    begun(tmp_path, dead)
    (tmp_path / "go").touch()
    assert result() == [[100 + one] for one in range(6)]


def test_a_slow_worker_does_not_hold_up_the_order(commands, tmp_path):
    cluster = reached(commands, 2)
    result = in_background(
        lambda: cluster.map(slowly, Held.of((str(tmp_path), 0)), pieces(3), "working")
    )
    stopped = begun(tmp_path)
    os.kill(stopped, signal.SIGSTOP)
    (tmp_path / "go").touch()
    time.sleep(1.0)
    os.kill(stopped, signal.SIGCONT)
    assert result() == [[0], [1], [2]]


def test_nobody_comes(commands):
    cluster = reached(commands, 1, patience=2.0)
    commands.kill_workers()
    with pytest.raises(ClusterError, match=r"no worker for 2 seconds.*dask worker tcp://127"):
        cluster.map(plus, Held.of(1), pieces(2), "working")
    commands.start_worker()
    cluster._client.wait_for_workers(1, timeout=PATIENCE)  # it may take longer than 2 seconds
    assert cluster.map(plus, Held.of(1), pieces(2), "working") == [[1], [2]]


def test_the_scheduler_is_killed_and_the_session_goes_on_with_another(commands):
    data, _, k = problem(21)
    points = many_points(data, 100)
    session = CleaningSession(data, points, k, cluster=reached(commands, 1))
    here = CleaningSession(data, points, k)
    for _ in range(2):
        question = session.ask()
        assert question.row == here.ask().row
        session.tell(question.row, candidate=0)
        here.tell(question.row, candidate=0)
    question, before = session.ask(), session.answers
    os.kill(commands.scheduler.pid, signal.SIGKILL)
    commands.scheduler.wait()
    with pytest.raises(ClusterError, match=r"does not answer any more.*Nothing is lost"):
        session.tell(question.row, candidate=0)
    assert session.answers == before
    commands.kill_workers()
    commands.start_scheduler(port=int(commands.address.rpartition(":")[2]))
    commands.start_worker()
    again = CleaningSession(data, points, k, cluster=commands.address)
    again.replay(before)
    assert (again.ask().row, again.ask().gain) == (question.row, question.gain)
    session.tell(question.row, candidate=0)  # the same session goes on, too
    again.tell(question.row, candidate=0)
    assert session.certain.tolist() == again.certain.tolist()


def test_all_workers_are_killed_within_a_step_twice_in_a_row(commands):
    data, _, k = problem(21)
    points = many_points(data, 200)
    cluster = reached(commands, 2)
    session = CleaningSession(data, points, k, cluster=cluster)
    here = CleaningSession(data, points, k)
    for _ in range(2):
        question = session.ask()
        assert (question.row, question.gain) == (here.ask().row, here.ask().gain)
        for worker in commands.workers:
            os.kill(worker.pid, signal.SIGSTOP)  # a step that has begun cannot end
        before = cluster.sent
        result = in_background(lambda row=question.row: session.tell(row, candidate=0))
        until(lambda before=before: cluster.sent > before)
        commands.kill_workers()
        commands.start_worker()
        commands.start_worker()
        told, own = result(), here.tell(question.row, candidate=0)
        assert (told.settled, told.certain_share) == (own.settled, own.certain_share)
        assert session.answers == here.answers
    assert session.certain.tolist() == here.certain.tolist()
    assert session.gains().tolist() == here.gains().tolist()


def test_workers_are_killed_again_and_again_during_a_session(commands):
    data, _, k = problem(21)
    points = many_points(data, 200)
    session = CleaningSession(data, points, k, cluster=reached(commands, 2))
    here = CleaningSession(data, points, k)
    over = threading.Event()

    def chaos():
        for _ in range(2):
            if over.wait(0.3):
                return
            victim = commands.workers.pop(0)
            os.kill(victim.pid, signal.SIGKILL)
            victim.wait()
            commands.start_worker()

    thread = threading.Thread(target=chaos)
    thread.start()
    try:
        for number in range(8):
            question, own = session.ask(), here.ask()
            if own is None:
                assert question is None
                break
            assert (question.row, question.gain) == (own.row, own.gain)
            session.tell(question.row, candidate=number % 2)
            here.tell(own.row, candidate=number % 2)
            assert session.certain.tolist() == here.certain.tolist()
    finally:
        over.set()
        thread.join()


def test_workers_are_killed_while_they_read_files(commands, tmp_path):
    pytest.importorskip("pyarrow")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 50, (40_000, 4)).astype(float), columns=list("abcd"))
    frame.loc[rng.random(40_000) < 0.1, "a"] = None
    frame["y"] = rng.integers(0, 2, 40_000)
    for part in range(8):
        own = frame.iloc[5_000 * part : 5_000 * (part + 1)]
        own.to_parquet(tmp_path / f"{part}.parquet", row_group_size=1_000)
    table = StreamedTable(str(tmp_path / "*.parquet"), label="y")
    points = table.points(frame.drop(columns="y").iloc[:100].fillna(0.0))
    here, cluster = gather(table, points), reached(commands, 2)
    for pause in (0.0, 0.4):
        result = in_background(lambda: gather(table, points, cluster=cluster))
        time.sleep(pause)
        commands.kill_workers()
        commands.start_worker()
        there = result()
        assert there.rows_kept.tolist() == here.rows_kept.tolist()
        assert np.array_equal(there.dataset.arrays.values, here.dataset.arrays.values)


def test_everything_is_killed_while_workers_read_files(commands, tmp_path):
    pytest.importorskip("pyarrow")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 50, (4_000, 3)).astype(float), columns=list("abc"))
    frame["y"] = rng.integers(0, 2, 4_000)
    frame.to_parquet(tmp_path / "a.parquet", row_group_size=500)
    table = StreamedTable(tmp_path, label="y")
    points = table.points(frame.drop(columns="y").iloc[:50])
    here, cluster = gather(table, points), reached(commands, 1)
    os.kill(commands.workers[0].pid, signal.SIGSTOP)
    before = cluster.sent
    result = in_background(lambda: gather(table, points, cluster=cluster))
    until(lambda: cluster.sent > before)
    os.kill(commands.scheduler.pid, signal.SIGKILL)
    commands.scheduler.wait()
    commands.kill_workers()
    with pytest.raises(ClusterError, match=r"does not answer any more.*Start the scheduler again"):
        result()
    commands.start_scheduler(port=int(commands.address.rpartition(":")[2]))
    commands.start_worker()
    there = gather(table, points, cluster=cluster)  # the same call goes on
    assert there.rows_kept.tolist() == here.rows_kept.tolist()
    content = bytearray((tmp_path / "a.parquet").read_bytes())
    content[8:400] = b"\xff" * 392
    (tmp_path / "a.parquet").write_bytes(content)
    with pytest.raises(TableError, match=r"row group 0 of file .* cannot be read"):
        gather(table, points, cluster=cluster)  # as a worker says it


def test_two_clients_share_a_cluster(commands):
    from distributed import Client

    reached(commands, 2)
    data, _, k = problem(23)
    points = many_points(data, 150)
    expected = world_shares(data, points, k)

    def ask_often():
        with Client(commands.address, set_as_default=False) as client:
            cluster = DaskCluster(client, least=1)
            return [world_shares(data, points, k, cluster=cluster) for _ in range(3)]

    both = [in_background(ask_often) for _ in range(2)]
    for result in both:
        assert all(np.array_equal(one, expected) for one in result())


def test_a_worker_with_another_version_is_refused(commands, tmp_path):
    other = tmp_path / "other"
    shutil.copytree(
        SRC / "cpclean", other / "cpclean", ignore=shutil.ignore_patterns("__pycache__")
    )
    start = other / "cpclean" / "__init__.py"
    start.write_text(start.read_text().replace(f'"{__version__}"', '"9.9.9"'))
    commands.start_scheduler()
    commands.start_worker(other)
    with pytest.raises(
        ClusterError, match=rf"has cpclean 9\.9\.9; here it is cpclean {__version__}"
    ):
        used_once(commands.address)


def test_a_worker_with_another_library_is_refused(commands, tmp_path):
    other = tmp_path / "other"
    (other / "numba").mkdir(parents=True)
    (other / "numba" / "__init__.py").write_text("__version__ = '0.1.2'")
    shutil.copytree(
        SRC / "cpclean", other / "cpclean", ignore=shutil.ignore_patterns("__pycache__")
    )
    commands.start_scheduler()
    commands.start_worker(other)
    with pytest.raises(ClusterError, match=r"has numba 0\.1\.2; here it is numba 0\."):
        used_once(commands.address)


def test_a_worker_without_the_package_is_refused(commands, tmp_path):
    commands.start_scheduler()
    empty = tmp_path / "empty"
    (empty / "cpclean").mkdir(parents=True)
    (empty / "cpclean" / "__init__.py").write_text("raise ModuleNotFoundError('no cpclean')")
    commands.start_worker(empty)
    with pytest.raises(ClusterError, match=r"the worker at tcp.* has no cpclean .*Install"):
        used_once(commands.address)
