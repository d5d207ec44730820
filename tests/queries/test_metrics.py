"""Metrics by name, as a function, and as distances from outside."""

from __future__ import annotations

import math

import numpy as np
import oracle
import pytest
from queries.samples import (
    NAMES,
    TABLES,
    assert_equal,
    assert_near,
    everything,
    flat_distances,
    scattered,
)
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import KNeighborsClassifier
from strategies import METRICS, lopsided, random_factored_case, sweep

from cpclean import (
    IncompleteDataset,
    conditional_shares,
    is_certain,
    possible_labels,
    world_counts,
    world_shares,
)
from cpclean.errors import QueryError
from cpclean.queries import geometry

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
    answers = [world_shares(data, X, 3, metric) for metric in {*NAMES, lopsided} - {"rbf"}]
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


def test_metrics_of_the_sweep_are_all_known() -> None:
    assert set(METRICS) == set(NAMES) == set(geometry.METRICS) - {"precomputed"}


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
