"""Forests learnt from worlds, and trees of random splits: what they see, and what they do not."""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from cpclean import Cell, FactoredRow, IncompleteDataset
from cpclean.data.row_arrays import RowArrays
from cpclean.data.spaces import _tree_kernels
from cpclean.data.spaces.learning import learn_forest, learn_with_bags, random_trees
from cpclean.data.spaces.trees import Trees
from cpclean.errors import DataError


def mixed(n_rows: int = 60, n_classes: int = 2, seed: int = 0) -> IncompleteDataset:
    """Rows on a grid: clean ones, ones with two holes, and some with very many candidates."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 8, size=(n_rows, 6)).astype(float)
    rows: list[Any] = list(X[:, None, :])
    for row in range(0, n_rows, 4):
        rows[row] = FactoredRow(
            X[row], [Cell(0, [0.0, 7.0], [0.25, 0.75]), Cell([2, 3], X[:3, 2:4])]
        )
    for row in range(1, n_rows, 10):
        rows[row] = FactoredRow(X[row], [Cell(column, np.arange(30.0)) for column in range(6)])
    return IncompleteDataset(rows, (X[:, 0] + X[:, 1] > 7) + (X[:, 4] > 5) * (n_classes > 2))


class Seen:
    """What forests are fitted to, one after the other."""

    def __init__(self) -> None:
        self.worlds: list[np.ndarray] = []
        self.codes: list[np.ndarray] = []


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Seen:
    told, fit = Seen(), RandomForestClassifier.fit

    def remember(self: Any, X: np.ndarray, y: np.ndarray) -> Any:
        told.worlds.append(X.copy())
        told.codes.append(y.copy())
        return fit(self, X, y)

    monkeypatch.setattr(RandomForestClassifier, "fit", remember)
    return told


# -- worlds --------------------------------------------------------------------------------------


def test_each_forest_sees_a_world(seen: Seen) -> None:
    data = mixed(n_classes=3)
    trees = learn_forest(data, n_trees=4, n_worlds=3)
    assert len(seen.worlds) == 3
    for world, codes in zip(seen.worlds, seen.codes, strict=True):
        np.testing.assert_array_equal(codes, data.codes)
        for row, vector in enumerate(world):
            stored, left = data.stored_row(row), set(range(6))
            for cell in stored.cells:
                columns = range(cell.start, cell.stop)
                assert vector[columns].tolist() in cell.values.tolist()
                left -= set(columns)
            assert vector[sorted(left)].tolist() == stored.base[sorted(left)].tolist()
    assert not np.array_equal(seen.worlds[0], seen.worlds[1])
    assert trees.n_trees == 4
    assert trees.n_features == 6


def test_worlds_are_drawn_with_the_prior(seen: Seen) -> None:
    data = mixed()
    learn_forest(data, n_trees=100, n_worlds=100, max_features=1)
    drawn = np.array(seen.worlds)[:, 0, 0]
    assert Counter(drawn.tolist())[7.0] == pytest.approx(75, abs=2)  # draws are stratified


def test_draws_depend_on_the_name_of_a_row_alone(seen: Seen) -> None:
    data, rows = mixed(), [0, 1, 12, 3, 7, 9, 41]
    learn_forest(data, n_trees=3)
    learn_forest(data.take(rows), n_trees=3)
    for whole, some in zip(seen.worlds[:3], seen.worlds[3:], strict=True):
        np.testing.assert_array_equal(some, whole[rows])


def test_one_world_and_complete_data(seen: Seen) -> None:
    X = np.random.default_rng(0).normal(size=(30, 3)) * 1e39
    data = IncompleteDataset(list(X[:, None, :]), np.arange(30) % 2)
    learn_forest(data, n_trees=1, n_worlds=1)
    limit = float(np.finfo(np.float32).max)
    np.testing.assert_array_equal(seen.worlds[0], np.clip(X, -limit, limit).astype(np.float32))


def test_known_rows_are_seen_as_known(seen: Seen) -> None:
    learn_forest(mixed().pin(0, value=[9.0] * 6), n_trees=2)
    assert all((world[0] == 9.0).all() for world in seen.worlds)


def test_a_forest_is_that_of_scikit_learn(seen: Seen) -> None:
    data = mixed(n_classes=3)
    options: Any = {"min_samples_leaf": 2, "max_features": 0.5}
    trees = learn_forest(data, n_trees=5, n_worlds=1, random_state=3, **options)
    seed = int(np.random.SeedSequence(3).generate_state(1)[0])
    model = RandomForestClassifier(5, random_state=seed, **options)
    assert Trees.from_forest(model.fit(seen.worlds[0], data.codes)).digest == trees.digest
    assert learn_forest(data, n_trees=5, random_state=4).digest != trees.digest
    assert learn_forest(data, n_trees=5, kind="extra").n_trees == 5


@pytest.mark.parametrize(("n_trees", "sizes"), [(7, [3, 2, 2]), (2, [1, 1]), (3, [1, 1, 1])])
def test_trees_are_divided_among_the_worlds(seen: Seen, n_trees: int, sizes: list[int]) -> None:
    trees = learn_forest(mixed(), n_trees=n_trees, n_worlds=3)
    assert len(seen.worlds) == len(sizes)
    assert trees.n_trees == sum(sizes)


def test_views_are_what_trees_may_look_at(seen: Seen) -> None:
    data, views = mixed(), [np.array([0, 5]), np.array([4, 2, 1])]
    trees = learn_forest(data, n_trees=6, n_worlds=3, views=views)
    assert [world.shape[1] for world in seen.worlds] == [2, 3, 2]
    for tree, view in enumerate([0, 0, 1, 1, 0, 0]):
        nodes = trees.feature[trees.root[tree] : trees.root[tree + 1]]
        assert {-1} < set(nodes.tolist()) <= {-1, *views[view].tolist()}
    whole = learn_forest(data, n_trees=3)
    assert learn_forest(data, n_trees=3, views=[np.arange(6)]).digest == whole.digest


def test_open_holes_are_missing_to_trees(seen: Seen) -> None:
    data = mixed(n_classes=3)
    trees = learn_forest(data, n_trees=6, n_worlds=2, holes="open", views=[np.array([5, 3, 0])])
    covered = np.zeros((data.n_rows, 6), dtype=bool)
    for row in range(data.n_rows):
        for cell in data.stored_cells(row):
            covered[row, cell.start : cell.stop] = True
    wanted = np.where(covered, np.nan, data.arrays.base)[:, [5, 3, 0]]
    for world in seen.worlds:
        np.testing.assert_array_equal(world, wanted)
    assert set(trees.feature.tolist()) == {-1, 0, 3, 5}
    assert np.isfinite(trees.threshold).all()
    assert learn_forest(data, n_trees=2, holes="open", kind="extra").n_trees == 2


def test_bags_say_what_trees_have_seen() -> None:
    data = numbered(200, np.arange(200) // 100)
    learnt = learn_with_bags(data, n_trees=20, n_worlds=2, max_rows=150, min_samples_leaf=1)
    assert learnt.trees.digest == (
        learn_forest(data, n_trees=20, n_worlds=2, max_rows=150, min_samples_leaf=1).digest
    )
    assert learnt.in_bag.shape == (200, 20)
    # Of 150 rows, a bag has 1 - 1/e.
    assert learnt.in_bag.mean() == pytest.approx(0.632 * 0.75, abs=0.02)
    for world in range(2):
        trees = slice(10 * world, 10 * world + 10)
        assert int(learnt.in_bag[:, trees].any(axis=1).sum()) == 150
    every = learn_with_bags(data, n_trees=3, kind="extra")
    assert every.in_bag.all()
    with pytest.raises(TypeError, match="n_tree"):
        learn_with_bags(data, n_tree=3)


# -- large tables --------------------------------------------------------------------------------


def numbered(n_rows: int, codes: np.ndarray) -> IncompleteDataset:
    """Rows that are told apart by their first column; every third has a hole in the second."""
    rows: list[Any] = [[[float(row), 0.0]] for row in range(n_rows)]
    for row in range(0, n_rows, 3):
        rows[row] = FactoredRow([float(row), 0.0], [Cell(1, [1.0, 2.0, 3.0])])
    return IncompleteDataset(rows, codes)


def test_a_sample_is_stratified_and_worlds_have_different_rows(seen: Seen) -> None:
    codes = np.repeat([0, 1, 2], [600, 299, 1])
    learn_forest(numbered(900, codes), n_trees=5, n_worlds=5, max_rows=90)
    worlds = np.array(seen.worlds)
    rows = worlds[:, :, 0].astype(int)
    assert len(np.unique(rows)) == 450
    np.testing.assert_array_equal(codes[rows], seen.codes)
    assert (abs((codes[rows] == 0).sum(axis=1) - 60) <= 1).all()
    assert 2 in seen.codes[0]  # a class with a single row has it in the first sample
    assert set(worlds[rows % 3 == 0, 1].tolist()) == {1.0, 2.0, 3.0}
    assert (worlds[rows % 3 != 0, 1] == 0.0).all()


def test_a_sample_begins_again_at_the_end(seen: Seen) -> None:
    learn_forest(numbered(100, np.arange(100) % 2), n_trees=5, n_worlds=5, max_rows=80)
    rows = np.array(seen.worlds)[:, :, 0].astype(int)
    assert np.bincount(rows.ravel(), minlength=100).tolist() == [4] * 100
    assert all(len(np.unique(own)) == 80 for own in rows)


def test_other_seeds_have_other_samples(seen: Seen) -> None:
    data = numbered(300, np.arange(300) % 2)
    for seed in (0, 0, 1):
        learn_forest(data, n_trees=1, max_rows=50, random_state=seed)
    samples = [sorted(world[:, 0].tolist()) for world in seen.worlds]
    assert samples[0] == samples[1] != samples[2]


@pytest.mark.slow
def test_a_million_rows() -> None:
    X = np.random.default_rng(0).normal(size=(1_000_000, 10))
    codes = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(np.int64)
    data = IncompleteDataset.from_arrays(RowArrays.complete(X), codes, np.array([0, 1]))
    started = time.process_time()
    trees = learn_forest(data, n_trees=5)
    assert time.process_time() - started < 100  # half a minute per tree, if all rows were used
    assert (trees.n_nodes > 1000).all()


def test_open_holes_in_a_column_that_nobody_has_observed() -> None:
    rows = [FactoredRow([float(row), 0.0], [Cell(1, [0.0, 5.0])]) for row in range(40)]
    data = IncompleteDataset(rows, np.arange(40) // 20)
    trees = learn_forest(data, n_trees=3, holes="open", max_features=None)
    assert set(trees.feature.tolist()) == {-1, 0}


# -- the same everywhere -------------------------------------------------------------------------


def digests() -> list[str]:
    data = mixed(n_classes=3)
    grown = [
        learn_forest(data, n_trees=6),
        learn_forest(data, n_trees=6, kind="extra", max_rows=20),
    ]
    return [trees.digest for trees in [*grown, random_trees(data, n_trees=6)]]


@pytest.mark.parametrize("n_jobs", [2, -1])
def test_threads_change_nothing(n_jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cpclean.data.spaces.learning.ROWS_FOR_THREADS", 0)
    data = mixed()
    for grow in (learn_forest, random_trees):
        assert grow(data, n_trees=6, n_jobs=n_jobs).digest == grow(data, n_trees=6).digest


@pytest.mark.slow
def test_another_process_grows_the_same() -> None:
    code = "from data.spaces.test_learning import digests; print(*digests())"
    tests = Path(__file__).parents[2]
    made = subprocess.run(
        [sys.executable, "-c", code], cwd=tests, capture_output=True, text=True, check=True
    )
    assert made.stdout.split() == digests()


# -- random splits -------------------------------------------------------------------------------


def test_random_trees_look_at_no_label() -> None:
    data = mixed()
    other = IncompleteDataset.from_arrays(data.arrays, data.codes[::-1].copy(), data.classes)
    for max_rows in (1000, 40):
        grown = [random_trees(one, n_trees=5, max_rows=max_rows) for one in (data, other)]
        assert grown[0].digest == grown[1].digest


def test_random_trees_look_at_nothing_that_fills_a_hole() -> None:
    def table(filled: float) -> IncompleteDataset:
        X = np.random.default_rng(1).integers(0, 9, size=(80, 3)).astype(float)
        rows: list[Any] = list(X[:, None, :])
        for row in range(0, 80, 2):
            rows[row] = FactoredRow(X[row], [Cell(row % 3, [filled, filled + 1.0])])
        return IncompleteDataset(rows, np.arange(80) % 2)

    one, two = (random_trees(table(filled), n_trees=8) for filled in (0.0, 100.0))
    assert one.digest == two.digest
    assert one.threshold.max() < 8.0
    assert (one.n_nodes > 1).all()


@pytest.mark.parametrize("min_samples_leaf", [1, 7])
def test_leaves_of_random_trees_are_not_smaller(min_samples_leaf: int) -> None:
    X = np.random.default_rng(2).integers(0, 30, size=(200, 3)).astype(float)
    data = IncompleteDataset(list(X[:, None, :]), np.arange(200) % 2)
    trees = random_trees(data, n_trees=10, min_samples_leaf=min_samples_leaf)
    for leaves in trees.apply(X).T:
        _, sizes = np.unique(leaves, return_counts=True)
        assert sizes.min() >= min_samples_leaf
        assert len(sizes) > 60 / min_samples_leaf
    shallow = random_trees(data, n_trees=10, min_samples_leaf=min_samples_leaf, max_depth=2)
    assert shallow.n_nodes.max() == 7
    assert random_trees(data, n_trees=2, min_samples_leaf=101).n_nodes.tolist() == [1, 1]


def test_random_trees_pass_over_columns_that_nobody_has_observed() -> None:
    rows = [FactoredRow([float(row), 0.0], [Cell(1, [0.0, 5.0])]) for row in range(40)]
    trees = random_trees(IncompleteDataset(rows, np.arange(40) % 2), n_trees=5)
    assert set(trees.feature.tolist()) == {-1, 0}


def test_random_trees_have_views_too() -> None:
    views = [np.array([0]), np.array([4, 1])]
    trees = random_trees(mixed(), n_trees=3, views=views)
    for tree, view in enumerate([0, 1, 0]):
        nodes = trees.feature[trees.root[tree] : trees.root[tree + 1]]
        assert set(nodes.tolist()) == {-1, *views[view].tolist()}
    assert random_trees(mixed(), n_trees=3, views=[np.arange(6)]).digest == (
        random_trees(mixed(), n_trees=3).digest
    )


@pytest.mark.nojit
def test_random_trees_are_the_same_uncompiled() -> None:
    kernel = _tree_kernels.random_tree
    rng = np.random.default_rng(3)
    X = rng.integers(0, 9, size=(50, 4)).astype(np.float32)
    observed = rng.random((50, 4)) < 0.8
    args = (X, observed, ~observed.all(axis=0), np.array([2, 0, 3]), 3, 30, 12345)
    for one, two in zip(kernel(*args), getattr(kernel, "py_func", kernel)(*args), strict=True):
        np.testing.assert_array_equal(one, two)
    assert set(kernel(*args)[0].tolist()) == {-1, 0, 2, 3}


# -- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"n_trees": 0}, "n_trees must be an int of at least 1; got 0"),
        ({"n_trees": 2.0}, "n_trees must be an int of at least 1; got 2.0"),
        ({"min_samples_leaf": -1}, "min_samples_leaf must be an int of at least 1; got -1"),
        ({"n_worlds": True}, "n_worlds must be an int of at least 1; got True"),
        ({"random_state": -1}, r"random_state must be an int in \[0, 4294967295\]; got -1"),
        ({"random_state": None}, r"random_state must be an int in .*; got None"),
        ({"max_rows": 1}, "max_rows must be an int of at least 2; got 1"),
        ({"views": []}, "views must have at least one view; got none"),
        ({"views": [[0, 6]]}, r"views must list features in \[0, 5\]; got array\(\[0, 6\]\)"),
        ({"views": [[0.5]]}, r"views must list features in"),
        ({"max_features": "all"}, r"max_features must be .* an int in \[1, 6\].*; got 'all'"),
        ({"max_features": 7}, "max_features must be .*; got 7"),
        ({"max_features": 0.0}, r"a float in \(0, 1\]; got 0.0"),
        ({"holes": None}, "holes must be one of 'drawn', 'open'; got None"),
        ({"kind": "trees"}, "kind must be one of 'forest', 'extra'; got 'trees'"),
        ({"min_samples_leaf": 31}, "min_samples_leaf=31 needs 62 rows or more, or no tree.*got 60"),
        ({"n_jobs": 0}, "n_jobs must be None, a positive int"),
    ],
)
def test_parameters_out_of_range(options: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told) as problem:
        learn_forest(mixed(), **options)
    assert problem.value.field == next(iter(options))  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["n_trees", "min_samples_leaf", "max_depth", "max_rows"])
def test_parameters_of_random_trees_out_of_range(name: str) -> None:
    with pytest.raises(DataError, match=f"{name} must be an int of at least 1; got 0"):
        random_trees(mixed(), **{name: 0})


def test_one_class() -> None:
    data = IncompleteDataset([[[1.0]], [[2.0]]], ["a", "a"])
    with pytest.raises(
        DataError, match=r"at least two classes; all 2 rows have the label .*'a'.*plain"
    ):
        learn_forest(data)
