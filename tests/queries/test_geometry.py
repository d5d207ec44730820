"""The space around a point: metrics, ties, pruning, distances from outside, blocks, threads."""

from __future__ import annotations

import math
from dataclasses import replace
from random import Random

import numpy as np
import oracle
import pytest
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import KNeighborsClassifier
from strategies import METRICS, lopsided, random_case, random_factored_case, sweep

from cpclean import (
    Cell,
    FactoredRow,
    IncompleteDataset,
    conditional_shares,
    entropies,
    expected_entropies,
    is_certain,
    possible_labels,
    world_counts,
    world_shares,
)
from cpclean.errors import QueryError
from cpclean.queries import geometry

NAMES = ("euclidean", "manhattan", "chebyshev", "cosine", "linear", "rbf")
TABLES = (possible_labels, is_certain, world_counts, world_shares, entropies, expected_entropies)


def everything(data: IncompleteDataset, X: object, k: int, metric: object, **how: object) -> list:
    """The answers to all questions, as plain lists: equal only if equal bit for bit."""
    answers = [ask(data, X, k, metric, **how).tolist() for ask in TABLES]
    given = [conditional_shares(data, x, k, metric) for x in X]
    return [*answers, [[row.tolist() for row in one] for one in given]]


def assert_equal(actual: list, expected: list) -> None:
    assert actual == expected


def assert_near(actual: list, expected: list, tolerance: float = 1e-12) -> None:
    assert actual[:3] == expected[:3]
    for one, other in zip(actual[3:6], expected[3:6], strict=True):
        assert np.array(one) == pytest.approx(np.array(other), rel=tolerance, abs=tolerance)
    for one, other in zip(actual[6], expected[6], strict=True):
        for row, wanted in zip(one, other, strict=True):
            assert np.array(row) == pytest.approx(np.array(wanted), abs=tolerance)


def scattered(seed: int, n_rows: int = 80, n_classes: int = 3, width: int = 3, grid: int = 0):
    """Plain and clean rows without a pattern; on a grid of integers if one is given."""
    rng = np.random.default_rng(seed)
    sizes = np.where(rng.random(n_rows) < 0.5, 1, rng.integers(2, 6, size=n_rows))
    candidates, priors = [], []
    for size in sizes:
        shape = (size, width)
        drawn = rng.integers(-grid, grid + 1, size=shape) if grid else rng.normal(size=shape)
        candidates.append(drawn.astype(float))
        priors.append(rng.dirichlet(np.ones(size)))
    return IncompleteDataset(candidates, rng.integers(0, n_classes, size=n_rows), priors)


def flat_distances(data: IncompleteDataset, X: object, metric: object) -> np.ndarray:
    """Distances to every candidate, row after row, by the oracle."""
    rows = [vector for row in range(data.n_rows) for vector in data.candidates(row).tolist()]
    return np.array([[oracle.distance(x, list(t), metric) for x in rows] for t in X])


# -- metrics ---------------------------------------------------------------------------------------


@pytest.mark.nojit
@pytest.mark.parametrize("metric", NAMES)
def test_the_order_of_clean_rows_is_that_of_the_metric(metric: str) -> None:
    # With one class a row, the prediction for K = 1 names the nearest row.
    rng = np.random.default_rng(1)
    points, X = rng.normal(size=(20, 3)), rng.normal(size=(15, 3))
    if metric == "linear":
        far = -X @ points.T
    elif metric == "rbf":
        far = -np.exp(-0.1 * pairwise_distances(X, points) ** 2)
    else:
        far = pairwise_distances(X, points, metric=metric)
    expected = far.argmin(axis=1)
    data = IncompleteDataset(points, np.arange(20))
    assert possible_labels(data, X, 1, metric).argmax(axis=1).tolist() == expected.tolist()


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "cosine"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_clean_data_predicts_as_scikit_learn(metric: str, n_classes: int) -> None:
    rng = np.random.default_rng(2)
    points, labels = rng.normal(size=(150, 4)), rng.integers(0, n_classes, size=150)
    X = rng.normal(size=(60, 4))
    data = IncompleteDataset(points, labels)
    for k in (1, 3, 4, 7, 150):  # votes may tie: both take the smaller class
        other = KNeighborsClassifier(k, algorithm="brute", metric=metric).fit(points, labels)
        expected = other.predict(X)
        assert is_certain(data, X, k, metric).all()
        assert world_shares(data, X, k, metric).argmax(axis=1).tolist() == expected.tolist()
        counts = world_counts(data, X, k, metric)
        assert counts.argmax(axis=1).tolist() == expected.tolist()
        assert (counts.sum(axis=1) == 1).all()


def test_rbf_is_euclidean() -> None:
    data, X = scattered(3), np.random.default_rng(3).normal(size=(9, 3))
    assert_equal(everything(data, X, 3, "rbf"), everything(data, X, 3, "euclidean"))


def test_metrics_differ() -> None:
    data, X = scattered(4), np.random.default_rng(4).normal(size=(30, 3))
    answers = [world_shares(data, X, 3, metric) for metric in (*NAMES[:-1], lopsided)]
    for i, one in enumerate(answers):
        for other in answers[:i]:
            assert not np.allclose(one, other)


def test_linear_means_the_larger_dot_product_and_may_be_negative() -> None:
    data = IncompleteDataset([[[-3.0], [2.0]], [-1.0], [1.0]], ["a", "b", "c"])
    X = [[1.0], [-1.0], [0.0]]
    # At 1: the largest wins, 2 or else 1. At -1: the smallest, -3 or else -1. At 0: all tie.
    assert world_counts(data, X, 1, "linear").tolist() == [[1, 0, 1], [1, 1, 0], [2, 0, 0]]


@pytest.mark.nojit
def test_cosine_knows_only_directions() -> None:
    rows = [[[5.0, 0.0], [0.0, 1.0]], [0.01, 0.0], [3.0, 3.0], [-1.0, 0.0]]
    data = IncompleteDataset(rows, ["a", "b", "c", "d"])
    # (5, 0) and (0.01, 0) point the same way: the smaller row is nearer.
    X = [[2.0, 0.0], [700.0, 0.0], [1.0, 1.0], [-1.0, 0.1]]
    expected = [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 2, 0], [0, 0, 0, 2]]
    assert world_counts(data, X, 1, "cosine").tolist() == expected


@pytest.mark.nojit
def test_a_zero_vector_has_similarity_zero_to_everything() -> None:
    # Nearer than any obtuse angle, as far as a right angle, farther than any acute one.
    rows = [[0.0, 1.0], [[0.0, 0.0], [0.0, 2.0]], [-1.0, 0.0], [[1.0, 5.0], [0.0, 0.0]]]
    data = IncompleteDataset(rows, ["a", "b", "c", "d"])
    assert world_counts(data, [[1.0, 0.0]], 1, "cosine").tolist() == [[2, 0, 0, 2]]
    only = IncompleteDataset([[-1.0, 0.0], [[0.0, 0.0], [-2.0, 0.0]]], ["a", "b"])
    assert world_counts(only, [[1.0, 0.0]], 1, "cosine").tolist() == [[1, 1]]
    # From the zero vector everything is equally far: the smallest rows are the nearest.
    assert world_counts(data, [[0.0, 0.0]], 1, "cosine").tolist() == [[4, 0, 0, 0]]


def test_cosine_boxes_around_the_origin_bound_nothing() -> None:
    # A row whose box holds the origin may point anywhere, whatever its corners say.
    for case in range(200):
        rng = np.random.default_rng([5, case])
        candidates = [rng.integers(-1, 2, size=(2, 2)).astype(float).tolist() for _ in range(7)]
        codes = (np.arange(7) % 3).tolist()
        t = rng.integers(-1, 2, size=2).astype(float).tolist()
        expected = oracle.world_counts(candidates, codes, 3, None, t, 2, "cosine")
        data = IncompleteDataset(candidates, codes)
        assert world_counts(data, [t], 2, "cosine")[0].tolist() == expected


@pytest.mark.parametrize("metric", NAMES)
@pytest.mark.parametrize("scale", [1e-60, 1e-20, 1e20, 1e60])
def test_small_and_large_numbers(metric: str, scale: float) -> None:
    # A power of two changes no rounding, so not one bit of an answer may change.
    factor = 2.0 ** round(math.log2(scale))
    data, X = scattered(6, n_rows=40), np.random.default_rng(6).normal(size=(5, 3))
    scaled = IncompleteDataset(
        [data.candidates(row) * factor for row in range(40)],
        data.labels,
        [data.prior(row) for row in range(40)],
    )
    expected = everything(data, X, 3, metric)
    assert_near(everything(scaled, X * factor, 3, metric), expected, 1e-13)


# -- ties ------------------------------------------------------------------------------------------


@pytest.mark.nojit
@pytest.mark.parametrize("metric", NAMES)
def test_equal_vectors_tie_however_they_were_built(metric: str) -> None:
    # Numbers that no sum in another order would reproduce, in every form a row can have.
    rng = np.random.default_rng(7)
    for _ in range(10):
        x, other = rng.normal(size=7), rng.normal(size=7) * 9.0
        far = [np.where(np.arange(7) < cut, x, other) for cut in range(7)]
        rows = [
            x,
            [x, far[0]],
            [far[3], x, far[5]],
            FactoredRow(x, [Cell(0, [other[0], x[0]]), Cell(6, [x[6], other[6]])]),
            FactoredRow(x, [Cell([2, 3], [other[2:4], x[2:4]]), Cell(5, [x[5]])]),
            FactoredRow(np.full(7, np.nan), [Cell(c, [x[c], other[c]]) for c in range(7)]),
            x,
        ]
        t = rng.normal(size=7)
        data = IncompleteDataset(rows, np.arange(len(rows)))
        for first in range(len(rows)):
            # Pin every row to x: then all tie, and the smallest row number must win.
            pinned = data
            for row in range(first):
                pinned = pinned.pin(row, value=other * 100.0)
            for row in range(first, len(rows)):
                where = (data.candidates(row) == x).all(axis=1).argmax()
                pinned = pinned.pin(row, where)
            nearest = possible_labels(pinned, [x], 1, metric)[0].argmax()
            if metric not in ("linear", "cosine"):
                assert nearest == first
        # Unpinned, the worlds in which some row is at x and tied with row 0 never beat row 0.
        expected = world_counts(data.expanded(), [t], 1, metric)
        assert world_counts(data, [t], 1, metric).tolist() == expected.tolist()
        if metric not in ("linear", "cosine"):
            assert possible_labels(data, [x], 1, metric)[0].tolist() == [True] + [False] * 6


def test_at_equal_distances_the_smaller_row_is_nearer() -> None:
    for metric in ("euclidean", "manhattan", "chebyshev", by_hand):
        data = IncompleteDataset([[1.0], [[-1.0], [0.5]]], ["b", "a"])
        assert world_counts(data, [[0.0]], 1, metric).tolist() == [[1, 1]]
        swapped = IncompleteDataset([[[-1.0], [0.5]], [1.0]], ["a", "b"])
        assert world_counts(swapped, [[0.0]], 1, metric).tolist() == [[2, 0]]


def by_hand(x: np.ndarray, t: np.ndarray) -> float:
    return float(np.abs(x - t).sum())


def test_at_equal_votes_the_smaller_class_wins() -> None:
    data = IncompleteDataset([[1.0], [[2.0], [4.0]], [3.0]], [1, 2, 0])
    assert world_counts(data, [[0.0]], 2).tolist() == [[1, 1, 0]]
    four = IncompleteDataset([[1.0], [2.0], [3.0], [4.0]], ["d", "c", "b", "a"])
    for k, winner in ((1, "d"), (2, "c"), (3, "b"), (4, "a")):
        assert possible_labels(four, [[0.0]], k)[0].tolist() == (four.classes == winner).tolist()


@pytest.mark.nojit
@pytest.mark.parametrize("n_classes", [2, 3])
def test_candidates_of_one_row_at_equal_distance_are_one_position(n_classes: int) -> None:
    # On a circle around the point, many candidates a row: merged while read, and while sorted.
    rng = np.random.default_rng(8)
    rows, priors, merged, sums = [], [], [], []
    for _ in range(12):
        radii = rng.integers(1, 5, size=20).astype(float)
        turned = [[r, 0.0] if rng.random() < 0.5 else [0.0, -r] for r in radii]
        prior = rng.dirichlet(np.ones(20))
        rows.append(turned)
        priors.append(prior)
        kept = np.unique(radii)
        merged.append([[r, 0.0] for r in kept])
        sums.append([prior[radii == r].sum() for r in kept])
    labels = np.arange(12) % n_classes
    expected = world_shares(IncompleteDataset(merged, labels, sums), [[0.0, 0.0]], 4)
    data = IncompleteDataset(rows, labels, priors)
    assert world_shares(data, [[0.0, 0.0]], 4) == pytest.approx(expected, rel=1e-13)
    query = geometry.ask(data, [[0.0, 0.0]], 4, "euclidean")
    (n_positions,) = query.over_blocks(
        lambda query, points, near: len(next(query.around(points, near, 0.0)).positions.owner)
    )
    assert n_positions <= sum(map(len, merged))


def test_all_rows_at_one_distance() -> None:
    data = IncompleteDataset([[[1.0], [-1.0]]] * 9, [2, 0, 1, 0, 1, 2, 0, 1, 2])
    # Rows count in their order: 2 | 2, 0 | 2, 0, 1 | 2, 0, 1, 0
    assert world_counts(data, [[0.0]], 1).tolist() == [[0, 0, 512]]
    assert world_counts(data, [[0.0]], 2).tolist() == [[512, 0, 0]]
    assert world_counts(data, [[0.0]], 4).tolist() == [[512, 0, 0]]


# -- distances from outside ------------------------------------------------------------------------


@pytest.mark.nojit
@pytest.mark.parametrize("metric", NAMES)
def test_precomputed_distances_give_the_same_answers(metric: str) -> None:
    data = scattered(9, n_rows=25, grid=2)
    X = np.random.default_rng(9).integers(-2, 3, size=(4, 3)).astype(float)
    distances = flat_distances(data, X, metric)
    assert_near(everything(data, distances, 3, "precomputed"), everything(data, X, 3, metric))


@pytest.mark.parametrize("metric", [*NAMES, lopsided])
def test_a_function_gives_the_same_answers(metric: object) -> None:
    data = scattered(10, n_rows=25, grid=2)
    X = np.random.default_rng(10).integers(-2, 3, size=(4, 3)).astype(float)

    def distance(x: np.ndarray, t: np.ndarray) -> float:
        return oracle.distance(x.tolist(), t.tolist(), metric)

    assert_near(everything(data, X, 3, distance), everything(data, X, 3, metric))


def test_precomputed_distances_of_factored_rows_follow_the_order_of_candidates() -> None:
    for case in sweep(60, 11, random_factored_case):
        data = case.dataset()
        distances = flat_distances(data, case.X, case.metric)
        assert_near(
            everything(data, distances, case.n_neighbors, "precomputed"),
            everything(data, np.array(case.X), case.n_neighbors, case.metric),
        )


def test_precomputed_distances_may_be_negative_and_large() -> None:
    data = IncompleteDataset([[[0.0], [0.0]], [0.0], [0.0]], ["a", "b", "c"])
    X = [[-1e299, 5.0, 4.0, 1e299], [7.0, 8.0, -3.0, -3.0]]
    assert world_counts(data, X, 1, "precomputed").tolist() == [[1, 1, 0], [0, 2, 0]]


def test_a_function_gets_a_candidate_and_a_point() -> None:
    data = IncompleteDataset([[[1.0, 2.0], [3.0, 4.0]], [5.0, 6.0]], ["a", "b"])
    calls = []

    def distance(x: np.ndarray, t: np.ndarray) -> float:
        calls.append((x.tolist(), t.tolist()))
        return float(x[0])

    assert world_counts(data, [[8.0, 9.0]], 1, distance).tolist() == [[2, 0]]
    assert sorted(calls) == [([x, x + 1], [8.0, 9.0]) for x in (1.0, 3.0, 5.0)]


@pytest.mark.parametrize("kind", [int, float, np.float32, np.int64, np.array])
def test_a_function_may_return_any_real_number(kind: type) -> None:
    data = IncompleteDataset([[[1.0], [3.0]], [2.0]], ["a", "b"])
    assert world_counts(data, [[0.0]], 1, lambda x, t: kind(x[0])).tolist() == [[1, 1]]


def test_a_function_may_say_yes_or_no() -> None:
    data = IncompleteDataset([[[1.0], [3.0]], [2.0]], ["a", "b"])
    assert world_counts(data, [[0.0]], 1, lambda x, t: x[0] > 2.5).tolist() == [[1, 1]]


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_function_must_return_finite_numbers(bad: float) -> None:
    data = IncompleteDataset([[[1.0], [3.0]], [2.0]], ["a", "b"])
    for ask in (*TABLES, conditional_shares):
        with pytest.raises(QueryError, match=r"must return a finite distance; got "):
            ask(data, [[0.0]], 1, lambda x, t: bad if x[0] == 3.0 else 1.0)


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
    query = geometry.ask(data, X, k, metric)
    (near,) = query.over_blocks(lambda query, points, near: near)
    for point in range(len(X)):
        rows = near.rows[near.ptr[point] : near.ptr[point + 1]]
        # In the top K of some world: fewer than K rows lie wholly before its nearest candidate.
        before = [(high[point] < low[point, row]).sum() for row in range(60)]
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
    query = geometry.ask(large, X, 3, "euclidean")
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


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("metric", ["euclidean", "cosine", lopsided])
def test_answers_do_not_depend_on_the_blocks(
    n_classes: int, metric: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = scattered(15, n_rows=60, n_classes=n_classes)
    X = np.random.default_rng(15).normal(size=(13, 3))
    expected = everything(data, X, 3, metric)
    for points, size in ((1, 2**26), (5, 2**26), (64, 1), (64, 64 * 150), (64, 32 * 100), (4, 1)):
        monkeypatch.setattr(geometry, "BLOCK_POINTS", points)
        monkeypatch.setattr(geometry, "BLOCK_BYTES", size)
        actual = everything(data, X, 3, metric)
        expected_mean, mean = np.array(expected[5]), np.array(actual[5])
        assert mean == pytest.approx(expected_mean, abs=1e-14)  # sums over other blocks
        assert_equal(actual[:5] + actual[6:], expected[:5] + expected[6:])


def test_more_points_than_a_block_holds() -> None:
    data = scattered(16, n_rows=30)
    X = np.random.default_rng(16).normal(size=(3 * geometry.BLOCK_POINTS + 5, 3))
    for ask in TABLES[:5]:
        expected = [ask(data, [t]).tolist()[0] for t in X]
        assert ask(data, X).tolist() == expected
    expected = np.mean([expected_entropies(data, [t]) for t in X], axis=0)
    assert expected_entropies(data, X) == pytest.approx(expected, abs=1e-13)


def test_groups() -> None:
    sizes = np.array([3, 3, 9, 1, 1, 1, 20, 2])
    groups = list(geometry._groups(sizes, 6))
    assert [sizes[group].tolist() for group in groups] == [[3, 3], [9], [1, 1, 1], [20], [2]]
    assert [group.start for group in groups[1:]] == [group.stop for group in groups[:-1]]
    assert list(geometry._groups(np.array([7]), 1)) == [slice(0, 1)]


def test_near_rows_of_some_points() -> None:
    data = scattered(17)
    X = np.random.default_rng(17).normal(size=(7, 3))
    query = geometry.ask(data, X, 3, "euclidean")
    (near,) = query.over_blocks(lambda query, points, near: near)
    for chosen in ([0], [6], [2, 5], [0, 1, 2, 3, 4, 5, 6]):
        actual = near.only(np.array(chosen))
        parts = [near.part(slice(point, point + 1)) for point in chosen]
        assert actual.rows.tolist() == np.concatenate([part[1] for part in parts]).tolist()
        assert actual.bound.tolist() == np.concatenate([part[2] for part in parts]).tolist()
        assert actual.reach.tolist() == near.reach[chosen].tolist()
        assert np.diff(actual.ptr).tolist() == [len(part[1]) for part in parts]


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


def test_distinct() -> None:
    points = np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0], [5.0, 6.0], [3.0, 4.0]])
    distinct, inverse = geometry._distinct(points)
    assert distinct.tolist() == [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    assert np.array_equal(distinct[inverse], points)


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


# -- wide tables of mostly zeros -------------------------------------------------------------------


def widened(case: object, seed: int):
    """The case's columns spread over 40, with zeros and a few other numbers between them."""
    rng = Random(seed)
    width = len(case.X[0])
    places = sorted(rng.sample(range(40), width))

    def spread(vector: list[float], extra: list[float]) -> list[float]:
        wide = list(extra)
        for place, number in zip(places, vector, strict=True):
            wide[place] = number
        return wide

    extras = [
        [rng.choice([0.0] * 9 + [1.0]) for _ in range(40)] for _ in range(len(case.candidates))
    ]
    candidates = [
        [spread(vector, extra) for vector in row]
        for row, extra in zip(case.candidates, extras, strict=True)
    ]
    X = [spread(t, [rng.choice([0.0, 0.0, 0.0, 1.0, -1.0]) for _ in range(40)]) for t in case.X]
    return replace(case, candidates=candidates, X=X, factored=None), places, extras


def factored_again(case: object, wide: object, places: list[int], extras: list) -> list:
    """The factored rows of a case, widened: a cell of two columns covers what lies between."""
    rows = []
    for number, row in enumerate(case.factored):
        if row is None:
            rows.append(wide.candidates[number])
            continue
        base = list(extras[number])
        for place, value in zip(places, row.base, strict=True):
            base[place] = value
        cells = []
        for cell in row.cells:
            columns = [cell.column] if isinstance(cell.column, int) else list(cell.column)
            run = range(places[columns[0]], places[columns[-1]] + 1)
            values = []
            for value in cell.values:
                vector = [base[column] for column in run]
                for column, part in zip(
                    columns, value if isinstance(value, list) else [value], strict=True
                ):
                    vector[places[column] - run.start] = part
                values.append(vector)
            cells.append(Cell(list(run), values, cell.prior))
        rows.append(FactoredRow(base, cells))
    return rows


def is_sparse(data: IncompleteDataset) -> bool:
    """Whether the kernels pass over zeros in this data."""
    query = geometry.ask(data, np.zeros((1, data.n_features)), 1, "euclidean")
    return len(query.rows.sparse.at) > 0


@pytest.mark.nojit
@pytest.mark.parametrize("make", [random_case, random_factored_case])
def test_wide_tables_of_mostly_zeros(make: object) -> None:
    n_sparse = 0
    for number, case in enumerate(sweep(120, 23, make)):
        wide, places, extras = widened(case, number)
        asked = (case.n_neighbors, case.metric)
        data = wide.expanded_dataset()
        n_sparse += is_sparse(data)
        forms = [data]
        if case.factored is not None:
            priors = [
                prior if row is None else None
                for prior, row in zip(wide._float_priors(), case.factored, strict=True)
            ]
            rows = factored_again(case, wide, places, extras)
            forms.append(IncompleteDataset(rows, case.labels, priors))
            n_sparse += is_sparse(forms[1])
        for t in wide.X:
            worlds = oracle.Worlds(*wide.question(t))
            counts, shares = worlds.counts(), [float(share) for share in worlds.shares()]
            given = worlds.conditional_shares()
            for form in forms:
                assert world_counts(form, [t], *asked)[0].tolist() == counts
                assert possible_labels(form, [t], *asked)[0].tolist() == [c > 0 for c in counts]
                assert world_shares(form, [t], *asked)[0] == pytest.approx(shares, abs=1e-13)
                for row, wanted in zip(conditional_shares(form, t, *asked), given, strict=True):
                    assert row == pytest.approx(np.array(wanted, dtype=float), abs=1e-12)
    assert n_sparse >= 40


def one_hot(rng: np.random.Generator, n_rows: int, n_values: int, width: int) -> list[np.ndarray]:
    return [np.eye(width)[rng.integers(width, size=n_values)] for _ in range(n_rows)]


@pytest.mark.parametrize("metric", NAMES)
def test_one_hot_rows_as_written_out_in_precomputed_distances(metric: str) -> None:
    rng = np.random.default_rng(24)
    data = IncompleteDataset(one_hot(rng, 60, 12, 50), rng.integers(0, 3, size=60))
    assert is_sparse(data)
    X = np.eye(50)[:3] + np.eye(50)[10:13] * 2.0
    distances = flat_distances(data, X, metric)
    assert_near(everything(data, distances, 5, "precomputed"), everything(data, X, 5, metric))


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_pinned_rows_of_wide_tables(metric: str) -> None:
    rng = np.random.default_rng(25)
    rows = one_hot(rng, 12, 3, 40)
    labels = np.arange(12) % 3
    data = IncompleteDataset(rows, labels)
    X = np.eye(40)[rng.integers(40, size=5)]
    pinned = data
    for row in (0, 5, 11, 3, 7, 1, 2, 4, 6, 8, 9, 10):
        rows[row] = rows[row][1:2]
        pinned = pinned.pin(row, 1)
        fresh = IncompleteDataset(rows, labels)
        assert_equal(everything(pinned, X, 3, metric), everything(fresh, X, 3, metric))
    for row in (3, 0):
        pinned = pinned.unpin(row)
    again = data
    for row in (1, 2, 4, 5, 6, 7, 8, 9, 10, 11):
        again = again.pin(row, 1)
    assert_equal(everything(pinned, X, 3, metric), everything(again, X, 3, metric))


def test_metrics_of_the_sweep_are_all_known() -> None:
    assert set(METRICS) == set(NAMES) == set(geometry.METRICS) - {"precomputed"}
