"""Which rows are near, and how the work is divided: pruning, blocks, points, threads."""

from __future__ import annotations

import numpy as np
import oracle
import pytest
from queries.samples import NAMES, TABLES, assert_equal, everything, flat_distances, scattered
from slow_cases import rest_slow
from strategies import lopsided

from cpclean import (
    IncompleteDataset,
    Points,
    expected_entropies,
    is_certain,
    world_counts,
    world_shares,
)
from cpclean.errors import QueryError
from cpclean.queries import geometry, plain_query
from cpclean.queries import query as query_module
from cpclean.queries.model import Model

# -- pruning ---------------------------------------------------------------------------------------


@pytest.mark.nojit
@pytest.mark.parametrize("metric", [*NAMES, "precomputed"])
@pytest.mark.parametrize("k", [1, 3, 10])
def test_no_row_is_dropped_that_some_world_needs(metric: str, k: int) -> None:
    data = scattered(12, n_rows=60)
    X = np.random.default_rng(12).normal(size=(4, 3))
    distances = flat_distances(data, X, "euclidean" if metric == "precomputed" else metric)
    X = distances if metric == "precomputed" else X
    starts = np.cumsum(data.candidate_counts) - data.candidate_counts
    low = np.minimum.reduceat(distances, starts, axis=1)
    high = np.maximum.reduceat(distances, starts, axis=1)
    query = geometry.ask(data, X, Model(k, metric))
    (near,) = query.over_blocks(lambda query, points, near: near)
    for point in range(len(X)):
        rows = near.rows[near.ptr[point] : near.ptr[point + 1]]
        # In the top K of some world: fewer than K rows lie wholly before its nearest candidate.
        ends = [(high[point, row], row) for row in range(60)]
        before = [sum(end < (low[point, row], row) for end in ends) for row in range(60)]
        needed = [row for row in range(60) if before[row] < k]
        assert set(needed) <= set(rows.tolist())
        assert rows.tolist() == sorted(set(rows.tolist()))
        bound = near.bound[near.ptr[point] : near.ptr[point + 1]]
        assert (bound <= low[point, rows]).all()
        assert near.reach[point] >= np.sort(high[point])[k - 1]
    if metric in ("precomputed", "chebyshev") and k < 10:  # boxes are tight here
        assert len(near.rows) < 4 * 60


def test_far_rows_are_dropped() -> None:
    rng = np.random.default_rng(13)
    near_by, far = rng.normal(size=(20, 3, 2)), 100.0 + rng.normal(size=(500, 3, 2))
    labels = rng.integers(0, 3, size=520)
    small = IncompleteDataset(near_by, labels[:20])
    large = IncompleteDataset(np.concatenate([near_by, far]), labels)
    X = rng.normal(size=(6, 2))
    query = geometry.ask(large, X, Model(3, "euclidean"))
    (near,) = query.over_blocks(lambda query, points, near: near)
    assert near.rows.max() < 20
    expected = everything(small, X, 3, "euclidean")
    actual = everything(large, X, 3, "euclidean")
    assert actual[0] == expected[0]
    assert actual[3] == expected[3]
    assert actual[2] == [[count * 3**500 for count in row] for row in expected[2]]
    assert actual[5][:20] == pytest.approx(expected[5], abs=1e-14)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("spread", [0.1, 1.0, 10.0])
def test_a_scan_that_stops_early_gives_what_a_full_scan_gives(
    n_classes: int, spread: float
) -> None:
    # Large overlapping boxes: many rows matter a little. Counts never stop early.
    rng = np.random.default_rng([14, n_classes])
    centres = rng.normal(size=(300, 1, 2)) * spread
    data = IncompleteDataset(
        centres + rng.normal(size=(300, 4, 2)), rng.integers(0, n_classes, size=300)
    )
    X = rng.normal(size=(3, 2)) * spread
    for k in (1, 5):
        expected = world_counts(data, X, k)
        actual = world_shares(data, X, k)
        for share, count in zip(actual.ravel(), expected.ravel(), strict=True):
            exact = float(oracle.Fraction(count, data.n_worlds))
            assert share == pytest.approx(exact, rel=1e-11, abs=0.0)


# -- blocks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", rest_slow([2, 4]))
@pytest.mark.parametrize("metric", ["euclidean", "cosine", lopsided])
def test_answers_do_not_depend_on_the_blocks(
    n_classes: int, metric: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = scattered(15, n_rows=60, n_classes=n_classes)
    X = np.random.default_rng(15).normal(size=(13, 3))
    expected = everything(data, X, 3, metric)
    for points, size in ((1, 2**26), (5, 2**26), (64, 1), (64, 64 * 150), (64, 32 * 100), (4, 1)):
        monkeypatch.setattr(query_module, "BLOCK_POINTS", points)
        for module in (query_module, plain_query):
            monkeypatch.setattr(module, "BLOCK_BYTES", size)
        actual = everything(data, X, 3, metric)
        expected_mean, mean = np.array(expected[5]), np.array(actual[5])
        assert mean == pytest.approx(expected_mean, abs=1e-14)  # sums over other blocks
        assert_equal(actual[:5] + actual[6:], expected[:5] + expected[6:])


def test_blocks_among_many_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(17)
    rows = [rng.integers(0, 2, (1 + row % 3, 16)) for row in range(40)]
    data, X = IncompleteDataset(rows, np.arange(40) % 2), rng.integers(0, 2, (90, 16))
    found = [ask(data, X).tolist() for ask in TABLES[:5]]
    monkeypatch.setattr(query_module, "BLOCK_POINTS", 3)
    assert [ask(data, X).tolist() for ask in TABLES[:5]] == found
    assert found[0] == [TABLES[0](data, [t]).tolist()[0] for t in X]


def test_more_points_than_a_block_holds() -> None:
    data = scattered(16, n_rows=30)
    X = np.random.default_rng(16).normal(size=(3 * query_module.BLOCK_POINTS + 5, 3))
    for ask in TABLES[:5]:
        expected = [ask(data, [t]).tolist()[0] for t in X]
        assert ask(data, X).tolist() == expected
    expected = np.mean([expected_entropies(data, [t]) for t in X], axis=0)
    assert expected_entropies(data, X) == pytest.approx(expected, abs=1e-13)


def test_completions_of_a_point_may_be_in_two_blocks() -> None:
    data = scattered(17, n_rows=30)
    rng = np.random.default_rng(17)
    candidates = [rng.normal(size=(rng.integers(5, 9), 3)) for _ in range(70)]
    X = Points(candidates, [rng.dirichlet(np.ones(len(own))) for own in candidates])
    query = geometry.ask(data, X, Model())
    blocks = query.over_blocks(lambda query, points, near: len(points))
    assert len(blocks) > 1
    assert sum(blocks) == len(X.vectors)
    ends = np.searchsorted(X.vector, np.cumsum(blocks)[:-1])
    assert (X.owner[ends - 1] == X.owner[ends]).any()
    for ask in (is_certain, world_shares, world_counts):
        alone = [ask(data, X.take(np.array([point]))).tolist()[0] for point in range(70)]
        assert ask(data, X).tolist() == alone


def test_groups() -> None:
    sizes = np.array([3, 3, 9, 1, 1, 1, 20, 2])
    groups = list(query_module._groups(sizes, 6))
    assert [sizes[group].tolist() for group in groups] == [[3, 3], [9], [1, 1, 1], [20], [2]]
    assert [group.start for group in groups[1:]] == [group.stop for group in groups[:-1]]
    assert list(query_module._groups(np.array([7]), 1)) == [slice(0, 1)]


def test_near_rows_of_some_points() -> None:
    data = scattered(17)
    X = np.random.default_rng(17).normal(size=(7, 3))
    query = geometry.ask(data, X, Model(3, "euclidean"))
    (near,) = query.over_blocks(lambda query, points, near: near)
    for chosen in ([0], [6], [2, 5], [0, 1, 2, 3, 4, 5, 6]):
        actual = near.only(np.array(chosen))
        parts = [near.part(slice(point, point + 1)) for point in chosen]
        assert actual.rows.tolist() == np.concatenate([part.rows for part in parts]).tolist()
        assert actual.bound.tolist() == np.concatenate([part.bound for part in parts]).tolist()
        assert actual.reach.tolist() == near.reach[chosen].tolist()
        assert np.diff(actual.ptr).tolist() == [len(part.rows) for part in parts]


# -- points ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["euclidean", lopsided])
def test_order_and_repetition_of_points_do_not_matter(metric: object) -> None:
    data = scattered(18)
    X = np.random.default_rng(18).normal(size=(20, 3))
    shuffled = np.random.default_rng(19).integers(0, 20, size=50)
    for ask in TABLES[:5]:
        expected = ask(data, X, 3, metric)[shuffled]
        assert ask(data, X[shuffled], 3, metric).tolist() == expected.tolist()
    once = expected_entropies(data, X, 3, metric)
    assert expected_entropies(data, X[::-1], 3, metric) == pytest.approx(once, abs=1e-14)
    assert expected_entropies(data, np.tile(X, (3, 1)), 3, metric) == pytest.approx(once, abs=1e-14)


def test_a_repeated_point_is_asked_once() -> None:
    data, calls = IncompleteDataset([[[1.0], [3.0]], [2.0]], ["a", "b"]), []

    def distance(x: np.ndarray, t: np.ndarray) -> float:
        calls.append(t[0])
        return abs(float(x[0] - t[0]))

    assert is_certain(data, [[0.0], [2.0], [0.0], [0.0]], 1, distance).tolist() == [
        False, True, False, False,
    ]  # fmt: skip
    assert sorted(calls) == [0.0] * 3 + [2.0] * 3


# -- threads ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 5])
def test_answers_do_not_depend_on_the_threads(n_classes: int) -> None:
    data = scattered(20, n_rows=120, n_classes=n_classes)
    X = np.random.default_rng(20).normal(size=(200, 3))
    for ask in TABLES:
        expected = ask(data, X, 3).tolist()
        for n_jobs in (1, 2, 3, -1, -2, 100, np.int64(2)):
            assert ask(data, X, 3, n_jobs=n_jobs).tolist() == expected


def test_an_error_in_a_thread_reaches_the_caller() -> None:
    data = scattered(21)
    X = np.random.default_rng(21).normal(size=(200, 3))

    def distance(x: np.ndarray, t: np.ndarray) -> float:
        raise RuntimeError("no distance today")

    with pytest.raises(RuntimeError, match="no distance today"):
        is_certain(data, X, 3, distance, n_jobs=2)


@pytest.mark.parametrize("n_jobs", [0, 1.5, "2", True, np.inf])
def test_n_jobs_is_checked(n_jobs: object) -> None:
    data = scattered(22, n_rows=5)
    expected = "n_jobs must be None, a positive int, or a negative one .*got "
    for ask in TABLES:
        with pytest.raises(QueryError, match=expected):
            ask(data, np.zeros((1, 3)), n_jobs=n_jobs)
