"""Everything that can be asked, asked of two processes: bit for bit what one process says."""

import socket
import threading
import time
from contextlib import contextmanager, suppress
from random import Random

import numpy as np
import pandas as pd
import pytest
from cleaning.samples import seen
from cleaning.small import problem, random_data
from cluster.pieces import firsts, grown, n_compiled, plus, with_first, wrong
from data.spaces.tree_samples import random_trees_of
from strategies import lopsided

import cpclean
from cpclean import (
    Between,
    Cell,
    CertainKNeighborsClassifier,
    CleaningSession,
    FactoredRow,
    IncompleteDataset,
    IncompleteTable,
    Points,
)
from cpclean.cluster.dask_cluster import connected
from cpclean.cluster.held import Held
from cpclean.errors import ClusterError, QueryError

QUERIES = (
    cpclean.possible_labels,
    cpclean.is_certain,
    cpclean.world_shares,
    cpclean.share_errors,
    cpclean.world_counts,
    cpclean.entropies,
    cpclean.expected_entropies,
    cpclean.is_sure,
    cpclean.verdicts,
)


def many_points(data, n_points=150, seed=0):
    """More points than a block has, on the grid of the rows."""
    rng = np.random.default_rng(seed)
    return rng.integers(-3, 4, (n_points, data.n_features)).astype(float)


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine", "hamming"])
def test_queries_are_the_same(local, metric):
    data, _, k = problem(7)
    points = many_points(data)
    points[~points.any(axis=1)] = 1.0  # cosine knows no direction of nothing
    for query in QUERIES:
        if metric == "cosine" and not (data.arrays.base != 0).any(axis=1).all():
            data = IncompleteDataset([[[1.0, 2.0]], [[1.0, 0.0], [2.0, 2.0]]], ["a", "b"])
            points, k = many_points(data) + 7.0, 1
        here = query(data, points, k, metric)
        assert np.array_equal(query(data, points, k, metric, cluster=local), here), query.__name__


@pytest.mark.slow
def test_points_with_holes_and_drawn_rows_are_the_same(local):
    rng = Random(3)
    wide = FactoredRow([0.0] * 7, [Cell(column, [0.0, 1.0, 2.0]) for column in range(7)])
    rows = [[[float(rng.randint(0, 2)) for _ in range(7)]] for _ in range(9)]
    data = IncompleteDataset([wide, *rows, wide], list("abbabababab"), max_exact=100, n_draws=16)
    given = [
        [[float(rng.randint(0, 2)) for _ in range(7)] for _ in range(rng.randint(1, 3))]
        for _ in range(90)
    ]
    points = Points(given)
    for query in (cpclean.is_certain, cpclean.world_shares, cpclean.share_errors, cpclean.verdicts):
        assert np.array_equal(query(data, points, cluster=local), query(data, points))


@pytest.mark.slow
def test_an_estimator_answers_the_same(local):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=80).round(1), "k": rng.choice(list("abc"), 80)})
    frame.loc[::7, "x"] = None
    frame.loc[1:6, "k"] = None
    made = CertainKNeighborsClassifier().fit(frame, (rng.random(80) < 0.5).astype(int))
    for name in ("predict", "predict_proba", "is_certain", "possible_labels", "world_counts"):
        asked = getattr(made, name)
        assert np.array_equal(asked(frame, cluster=local), asked(frame)), name
    assert np.array_equal(made.is_sure(frame, 0.9, cluster=local), made.is_sure(frame, 0.9))
    assert np.array_equal(made.verdicts(frame, 0.9, cluster=local), made.verdicts(frame, 0.9))


# -- sessions ----------------------------------------------------------------------------------


def same_course(data, points, k, cluster, seed, steps=6, **more):
    """A session here and one elsewhere: candidates, other values, skips, undone answers."""
    rng = Random(seed)
    here = CleaningSession(data, points, k, **more)
    there = CleaningSession(data, points, k, cluster=cluster, **more)
    assert seen(there) == seen(here)
    for _ in range(steps):
        question = here.ask()
        if question is None:
            break
        kind, row = rng.random(), question.row
        if kind < 0.5:
            number = rng.randrange(min(len(data.candidates(row)), 5))
            told = [one.tell(row, candidate=number) for one in (here, there)]
        elif kind < 0.75:
            value = [float(rng.randint(-9, 9)) for _ in range(data.n_features)]
            told = [one.tell(row, value=value) for one in (here, there)]
        elif kind < 0.9 or not here.answers:
            told = [one.skip(row) for one in (here, there)]
        else:
            told = [one.undo() for one in (here, there)]
        if told[0] is not None:
            assert told[0].settled == told[1].settled
            assert told[0].unsettled == told[1].unsettled
        assert unlike_seconds(seen(there)) == unlike_seconds(seen(here))
        assert [one.row for one in there.ask(3)] == [one.row for one in here.ask(3)]
        assert there.sure_share == here.sure_share
    return here, there


def unlike_seconds(shown):
    """What a session shows, but for how long it took."""
    answers, history, *rest = shown
    return answers, [(one.row, one.gain, one.certain_share, one.entropy) for one in history], *rest


@pytest.mark.slow
@pytest.mark.parametrize(
    "more",
    [{"sure": 0.9}, {}, {"gains_by": "uniform"}, {"strategy": "relative"}],
    ids=lambda more: ",".join(f"{name}={value}" for name, value in more.items()) or "plain",
)
def test_sessions_are_the_same(local, more):
    for seed in range(2):
        data, _, k = problem(seed + 20)
        same_course(data, many_points(data, 100, seed), k, local, seed, **more)


@pytest.mark.slow
def test_rough_answers_are_the_same(local):
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.integers(0, 9, (60, 3)).astype(float), columns=list("abc"))
    frame["y"] = np.where(frame["a"] + rng.normal(0, 3, 60) > 4, "yes", "no")
    frame.loc[::3, "a"] = None
    points = pd.DataFrame(rng.integers(0, 9, (150, 3)).astype(float), columns=list("abc"))
    table = IncompleteTable(frame, label="y")
    sessions = [CleaningSession(table, points, cluster=one) for one in (None, local)]
    for _ in range(3):
        first, second = (session.ask() for session in sessions)
        assert (first.row, first.gain) == (second.row, second.gain)
        for session in sessions:
            session.tell(first.row, value={"a": Between(2.0, 6.0)})
    assert np.array_equal(sessions[0].gains(), sessions[1].gains())
    assert sessions[0].rough == sessions[1].rough
    assert len(sessions[0].rough) == 3


@pytest.mark.slow
def test_a_session_among_leaves_is_the_same(local):
    data = random_data(Random(5))
    data = data.in_space(random_trees_of(np.random.default_rng(5), data.n_features, 6))
    k = min(3, data.n_rows)
    same_course(data, many_points(data, 100), k, local, 5, metric="hamming")


@pytest.mark.slow
def test_a_session_can_be_pickled_and_goes_on(local):
    import pickle

    data, _, k = problem(21)
    session = CleaningSession(data, many_points(data, 100), k, cluster=local)
    again = pickle.loads(pickle.dumps(session))
    assert seen(again) == seen(session)
    question = again.ask()
    again.tell(question.row, candidate=0)
    session.tell(question.row, candidate=0)
    assert unlike_seconds(seen(again)) == unlike_seconds(seen(session))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_many_sessions_are_the_same(local, seed):
    data, _, k = problem(seed + 100)
    choices = [{}, {"sure": 0.9}, {"gains_by": "uniform"}, {"strategy": "cells"}]
    more = choices[seed % len(choices)]
    if more.get("strategy") == "cells" and not any(
        len(data.stored_row(row).cells) for row in range(data.n_rows)
    ):
        more = {}
    same_course(data, many_points(data, 200, seed), k, local, seed, steps=12, **more)


@pytest.mark.slow
@pytest.mark.parametrize("divided", ["points", "rows"])
def test_a_large_session_over_gathered_rows_is_the_same(local, divided, monkeypatch):
    if divided == "rows":
        monkeypatch.setattr("cpclean.queries.row_shards.LEAST_ROWS", 4096)
    rng = np.random.default_rng(1)
    vectors = rng.integers(0, 40, (5000, 3)).astype(float)
    rows = [[vector] for vector in vectors]
    for row in range(0, 5000, 7):
        rows[row] = [vectors[row], vectors[row] + [5.0, 0.0, 0.0], vectors[row] - [0.0, 9.0, 0.0]]
    data = IncompleteDataset(rows, rng.integers(0, 2, 5000))
    points = rng.integers(0, 40, (150, 3)).astype(float)
    _, there = same_course(data, points, 3, local, 2, steps=25)
    assert there.view.version.board.gathered is not None
    for query in (cpclean.possible_labels, cpclean.world_shares):
        before = local.sent
        found = query(data, points, cluster=local)
        assert np.array_equal(found, query(data, points))
        each = (local.sent - before) / data.n_rows
        # Bytes: rows once in all and near ones twice, or all rows twice, for two workers.
        assert (each < 135) == (divided == "rows")


# -- what is refused, and what goes wrong ------------------------------------------------------


@pytest.mark.slow
def test_functions_and_given_distances_are_refused_with_a_reason(local):
    data, points, k = problem(1)
    with pytest.raises(QueryError, match=r"a metric that is a function.*n_jobs instead"):
        cpclean.is_certain(data, points, k, lopsided, cluster=local)
    distances = np.zeros((1, data.n_candidates))
    with pytest.raises(QueryError, match="precomputed distances: they would have to be sent"):
        CleaningSession(data, distances, k, metric="precomputed", cluster=local)


@pytest.mark.slow
def test_an_error_of_the_work_is_the_same_as_here(local):
    with pytest.raises(ValueError, match=r"no answer about \[3, 4\]"):
        local.map(wrong, Held.of(0), [(np.array([3, 4]),)], "working")


@pytest.mark.slow
def test_bytes_are_counted_and_later_steps_are_small(local):
    held = Held.of(np.zeros(100_000)).then(with_first, 1.0)
    before = local.sent
    local.map(firsts, held, [(np.arange(2),)], "working")
    assert local.sent - before > 800_000
    later, before = held.then(with_first, 2.0), local.sent
    assert local.map(firsts, later, [(np.arange(2),)], "working") == [[2.0, 2.0]]
    assert local.sent - before < 2000


@pytest.mark.slow
def test_kernels_are_warm_after_the_first_piece(local):
    data, _, k = problem(7)

    def work(seed):
        points = many_points(data, 150, seed)
        assert np.isfinite(cpclean.world_shares(data, points, k, cluster=local)).all()
        session = CleaningSession(data, points, k, cluster=local)
        session.tell(session.ask().row, candidate=0)

    found = []
    for seed in range(12):  # until each worker has had pieces of every kind
        work(seed)
        found.append(local._client.run(n_compiled))
        if found[-4:] == [found[-1]] * 4:
            break
    else:
        raise AssertionError(f"workers compile again and again: {found}")
    assert len(found[-1]) == 2
    assert min(found[-1].values()) > 5


@pytest.mark.slow
def test_a_bar_shows_how_many_pieces_are_done(local, monkeypatch):
    shown = []

    @contextmanager
    def bar(total, title, transient):
        shown.append((total, title))
        yield lambda done, words: shown.append(done)

    monkeypatch.setattr("cpclean.cluster.dask_cluster.progress_bar", bar)
    monkeypatch.setattr("cpclean.cluster.dask_cluster.SHORT", -1.0)
    local.map(plus, Held.of(1), [(np.array([one]),) for one in range(5)], "finding near rows")
    assert shown[0] == (5, "finding near rows: pieces on the cluster")
    assert shown[1:] == sorted(shown[1:])
    assert shown[-1] == 5


def test_an_address_where_nobody_answers():
    with pytest.raises(ClusterError, match=r"no Dask scheduler answers at 'tcp://127.0.0.1:9'"):
        connected("tcp://127.0.0.1:9", seconds=1.0)
    for nonsense in ("nonsense://x", "", "tcp://", "http://127.0.0.1:80", "somewhere"):
        with pytest.raises(ClusterError, match=f"must be the address of .*; got '{nonsense}'"):
            connected(nonsense, seconds=1.0)
    with pytest.raises(ClusterError, match=r"must be the address of a Dask scheduler.*got int"):
        connected(3)


def test_something_else_at_the_address(monkeypatch):
    monkeypatch.setattr("cpclean.cluster.dask_cluster.GREETING", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as mute:  # it takes calls, and says nothing
        address = f"tcp://127.0.0.1:{mute.getsockname()[1]}"
        begun = time.monotonic()
        with pytest.raises(ClusterError, match=f"no Dask scheduler answers at '{address}'"):
            connected(address, seconds=0.5)
        assert time.monotonic() - begun < 20.0  # on a busy machine; it used to wait for ever


def test_a_web_server_at_the_address():
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"

        def answer():
            with suppress(OSError):  # it is shut down
                while True:
                    call, _ = server.accept()
                    with call:
                        call.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        try:
            with pytest.raises(ClusterError, match=f"no Dask scheduler answers at '{address}'"):
                connected(address, seconds=0.5)
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join(10)
    assert not thread.is_alive()


@pytest.mark.slow
def test_workers_that_come_later_are_used(local):
    held = Held.of(1).then(grown, 1)
    found = local.map(plus, held, [(np.array([one]),) for one in range(20)], "working")
    assert found == [[2 + one] for one in range(20)]
