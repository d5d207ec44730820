"""Trees as plain arrays: the leaves of scikit-learn, storage, and what is refused."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from data.spaces.tree_samples import VALUES, leaf_of, random_trees_of
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from cpclean.data.spaces.trees import Trees
from cpclean.errors import DataError, QueryError

GRID = np.random.default_rng(5).integers(0, 6, size=(300, 4)).astype(float)
CODES = (GRID @ [3, 1, 2, 0] + np.random.default_rng(6).integers(0, 3, 300)).astype(int) % 3

MODELS = [
    RandomForestClassifier(7, random_state=0),
    RandomForestClassifier(3, max_leaf_nodes=9, random_state=0),
    ExtraTreesRegressor(4, min_samples_leaf=3, random_state=0),
    DecisionTreeClassifier(random_state=0),
    ExtraTreeClassifier(random_state=0),
    GradientBoostingClassifier(n_estimators=3, random_state=0),
]


def fitted(model: Any = MODELS[0]) -> Any:
    return model.fit(GRID, CODES)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.nojit
def test_leaves_are_those_of_scikit_learn(model: Any) -> None:
    model = fitted(model)
    trees = Trees.from_forest(model)
    # Halves are thresholds between the values of the grid; the others lie where float32 rounds.
    ties = np.concatenate([GRID, GRID + 0.5, np.nextafter(GRID + 0.5, 9), GRID * 1e30])
    wanted = np.asarray(model.apply(ties)).reshape(len(ties), -1)
    assert trees.apply(ties).dtype == np.uint16
    np.testing.assert_array_equal(trees.apply(ties), wanted)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.nojit
def test_leaves_are_those_found_step_by_step(seed: int) -> None:
    rng = np.random.default_rng(seed)
    trees, X = random_trees_of(rng, 3, 4), rng.choice(VALUES, size=(12, 3))
    wanted = [[leaf_of(trees, tree, vector) for tree in range(4)] for vector in X]
    assert trees.apply(X).tolist() == wanted


def test_trees_fitted_to_some_of_the_columns() -> None:
    bagged = fitted(BaggingClassifier(n_estimators=5, max_features=0.5, random_state=0))
    trees = Trees.from_forest(bagged)
    for number, (one, own) in enumerate(
        zip(bagged.estimators_, bagged.estimators_features_, strict=True)
    ):
        np.testing.assert_array_equal(trees.apply(GRID)[:, number], one.apply(GRID[:, own]))


def test_trees_fitted_to_missing_values() -> None:
    holes = np.where(np.arange(300)[:, None] % 3 == 0, np.nan, GRID)
    holes[:, 0] = np.where(CODES == 1, np.nan, 1.0)  # what splits is whether it is there
    model = RandomForestClassifier(5, random_state=0).fit(holes, CODES)
    assert any(np.isinf(one.tree_.threshold).any() for one in model.estimators_)
    np.testing.assert_array_equal(Trees.from_forest(model).apply(GRID), model.apply(GRID))


@pytest.mark.slow
def test_a_million_rows_as_in_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_000_000, 6)).round(2)  # many values are equal to a threshold's ends
    model = RandomForestClassifier(4, min_samples_leaf=3, random_state=0)
    model.fit(X[:20_000], X[:20_000, 0] * X[:20_000, 1] > rng.normal(size=20_000))
    np.testing.assert_array_equal(Trees.from_forest(model).apply(X, n_jobs=2), model.apply(X))


def test_large_trees_have_long_numbers() -> None:
    size = 2**15 + 1
    inner, nodes = size - 1, 2 * size - 1  # a chain: each inner node has a leaf and the next one
    at = np.arange(nodes)
    feature = np.where((at % 2 == 0) & (at < nodes - 1), 0, -1)
    left = np.where(feature == 0, at + 1, -1)
    right = np.where(feature == 0, at + 2, -1)
    trees = Trees([0, nodes], feature, at / 2.0, left, right, 1)  # type: ignore[arg-type]
    found = trees.apply([[0.0], [1.5], [float(inner)]])
    assert found.dtype == np.int32
    assert found.ravel().tolist() == [1, 5, nodes - 1]
    assert nodes == 2**16 + 1


@pytest.mark.parametrize("n_jobs", [1, 2, -1])
def test_threads_change_nothing(n_jobs: int) -> None:
    trees = Trees.from_forest(fitted())
    many = np.tile(GRID, (20, 1))
    np.testing.assert_array_equal(trees.apply(many, n_jobs), np.tile(trees.apply(GRID), (20, 1)))


def test_values_beyond_float32_count_as_its_ends() -> None:
    trees = Trees([0, 3], [0, -1, -1], [0.0] * 3, [1, -1, -1], [2, -1, -1], 1)  # type: ignore[arg-type]
    assert trees.apply([[-1e300], [1e300]]).ravel().tolist() == [1, 2]


def test_no_rows() -> None:
    assert Trees.from_forest(fitted()).apply(np.empty((0, 4))).shape == (0, 7)


@pytest.mark.parametrize(
    ("X", "told"),
    [
        ([[1.0, np.nan, 0.0, 0.0]], r"X must be finite; got NaN or infinity at \(0, 1\)"),
        ([[0.0] * 4, [0.0, 0.0, np.inf, 0.0]], r"NaN or infinity at \(1, 2\)"),
        ([[1.0, 2.0]], "X must have 4 columns, as many features as the trees were made for; got 2"),
        ([1.0, 2.0, 3.0, 4.0], r"one row per vector; got shape \(4,\)"),
        ([["a", "b", "c", "d"]], "X must be numbers"),
    ],
)
def test_what_cannot_be_sent_through_trees(X: Any, told: str) -> None:
    with pytest.raises(DataError, match=told):
        Trees.from_forest(fitted()).apply(X)


def test_bad_n_jobs() -> None:
    with pytest.raises(QueryError, match=r"n_jobs must be None, a positive int.*got 0"):
        Trees.from_forest(fitted()).apply(GRID, n_jobs=0)


@pytest.mark.parametrize(
    "make",
    [
        RandomForestClassifier,
        lambda: fitted(HistGradientBoostingClassifier(max_iter=2)),
        lambda: 3,
    ],
    ids=["not fitted", "other trees", "no model"],
)
def test_what_is_no_fitted_forest(make: Callable[[], Any]) -> None:
    model = make()
    with pytest.raises(DataError, match=r"fitted scikit-learn tree or a forest of them.*got "):
        Trees.from_forest(model)


# -- storage -------------------------------------------------------------------------------------


def test_stored_trees_are_the_same() -> None:
    trees = Trees.from_forest(fitted())
    again = Trees.from_arrays(trees.to_arrays())
    assert again.digest == trees.digest
    for name, array in trees.to_arrays().items():
        np.testing.assert_array_equal(again.to_arrays()[name], array)
    other = Trees.from_forest(RandomForestClassifier(7, random_state=1).fit(GRID, CODES))
    assert other.digest != trees.digest


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_copies_are_read_only_too(copied: Any) -> None:
    trees = Trees.from_forest(fitted())
    again = copied(trees)
    assert again.digest == trees.digest
    assert not any(getattr(again, name).flags.writeable for name in ("root", "threshold", "left"))


def test_what_was_given_stays_writable() -> None:
    root = np.array([0, 1], dtype=np.int32)
    Trees(root, [-1], [0.0], [-1], [-1], 1)  # type: ignore[arg-type]
    root[0] = 5


GOOD: dict[str, Any] = {
    "root": [0, 3, 6],
    "feature": [1, -1, -1, 0, -1, -1],
    "threshold": [0.5, 0, 0, 1.5, 0, 0],
    "left": [1, -1, -1, 1, -1, -1],
    "right": [2, -1, -1, 2, -1, -1],
    "n_features": [2],
}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"root": [0, 3]}, "end with the number of nodes, 6"),
        ({"root": [0, 0, 6]}, "at least one node per tree"),
        ({"root": [1, 3, 6]}, "must begin at 0"),
        ({"root": []}, "root of trees must be a vector of integers"),
        ({"feature": [1, -1, -1, 2, -1, -1]}, r"in \[0, 1\].*broken at \(tree, node\) \(1, 0\)"),
        ({"feature": [1, -1, -2, 0, -1, -1]}, r"-1 at a leaf; broken at \(tree, node\) \(0, 2\)"),
        ({"feature": [1.0, -1, -1, 0, -1, -1]}, "feature of trees must be a vector of integers"),
        ({"threshold": [np.nan, 0, 0, 1, 0, 0]}, r"thresholds of trees must be finite.*\(0, 0\)"),
        ({"threshold": [0.0] * 5}, r"threshold of trees must have one entry per node.*\(6\)"),
        ({"left": [0, -1, -1, 1, -1, -1]}, r"left must name a node of the same tree, behind"),
        ({"right": [2, -1, -1, 3, -1, -1]}, r"right must name a node of the same tree.*\(1, 0\)"),
        ({"right": [2, 2, -1, 2, -1, -1]}, r"right of a leaf must be -1.*\(0, 1\)"),
        ({"right": [1, -1, -1, 2, -1, -1]}, r"one parent; broken at .* \(0, 1\), \(0, 2\)"),
        ({"left": [2**40, -1, -1, 1, -1, -1]}, "left of trees must fit int32"),
        ({"n_features": [0]}, "n_features must be an int of at least 1; got 0"),
        ({"n_features": [1, 2]}, "n_features must be one number; got 2"),
    ],
)
def test_damaged_trees_are_refused(change: dict[str, Any], told: str) -> None:
    assert Trees.from_arrays(GOOD).n_trees == 2
    with pytest.raises(DataError, match=told):
        Trees.from_arrays({**GOOD, **change})


def test_stored_trees_need_all_arrays() -> None:
    without = {name: array for name, array in GOOD.items() if name != "left"}
    with pytest.raises(DataError, match="left is missing"):
        Trees.from_arrays(without)
