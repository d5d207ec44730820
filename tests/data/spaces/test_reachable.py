"""Leaves that a row may reach: all those of its combinations, and no others."""

from __future__ import annotations

import numpy as np
import pytest
from data.spaces.tree_samples import all_leaves, random_rows, random_trees_of

from cpclean import Cell, FactoredRow, IncompleteDataset
from cpclean.data.spaces.trees import Trees
from cpclean.errors import DataError


def agree(seed: int, n_trees: int, n_rows: int) -> int:
    """Compare with brute force; how many pairs of a row and a tree have several leaves."""
    rng = np.random.default_rng(seed)
    n_features = int(rng.integers(1, 6))
    trees = random_trees_of(rng, n_features, n_trees)
    data = random_rows(rng, n_features, n_rows)
    found = trees.reachable(data.arrays)
    for row in range(n_rows):
        for tree in range(n_trees):
            assert found.of(row, tree).tolist() == all_leaves(trees, tree, data, row), (row, tree)
    return int((found.sizes > 1).sum())


@pytest.mark.parametrize("seed", range(25))
def test_leaves_are_those_of_all_combinations(seed: int) -> None:
    assert agree(seed, 5, 6) > 0


@pytest.mark.nojit
@pytest.mark.parametrize("seed", range(100, 103))
def test_the_same_uncompiled(seed: int) -> None:
    assert agree(seed, 3, 4) > 0


@pytest.mark.slow
def test_leaves_of_thousands_of_trees_and_rows() -> None:
    assert sum(agree(seed, 8, 10) for seed in range(1000, 1300)) > 1000


def test_threads_and_blocks_change_nothing() -> None:
    rng = np.random.default_rng(3)
    trees, data = random_trees_of(rng, 4, 3), random_rows(rng, 4, 600)
    one, two = trees.reachable(data.arrays), trees.reachable(data.arrays, n_jobs=2)
    np.testing.assert_array_equal(one.ptr, two.ptr)
    np.testing.assert_array_equal(one.leaves, two.leaves)
    for row in (0, 255, 256, 599):
        alone = trees.reachable(data.take([row]).arrays)
        assert [alone.of(0, tree).tolist() for tree in range(3)] == [
            one.of(row, tree).tolist() for tree in range(3)
        ]


def test_complete_rows_reach_one_leaf() -> None:
    rng = np.random.default_rng(4)
    trees, X = random_trees_of(rng, 4, 6), rng.integers(0, 4, size=(40, 4)).astype(float)
    found = trees.reachable(IncompleteDataset(list(X[:, None, :]), np.arange(40) % 2).arrays)
    assert (found.sizes == 1).all()
    np.testing.assert_array_equal(found.leaves.reshape(40, 6), trees.apply(X))


def test_many_holes_cost_no_more_than_the_nodes() -> None:
    """64 holes of 5 values each: 5**64 combinations."""
    rng = np.random.default_rng(5)
    trees = random_trees_of(rng, 64, 50)
    row = FactoredRow([0.0] * 64, [Cell(column, [0.0, 0.5, 1.0, 2.0, 3.0]) for column in range(64)])
    data = IncompleteDataset([row, row], [0, 1])
    found = trees.reachable(data.arrays)  # it would not end if it went through them
    assert (found.sizes <= trees.n_nodes).all()
    assert found.sizes.max() > 3


def test_no_rows() -> None:
    rng = np.random.default_rng(6)
    trees, data = random_trees_of(rng, 2, 3), random_rows(rng, 2, 2)
    found = trees.reachable(data.arrays.take(np.zeros(0, dtype=np.int64)))
    assert found.sizes.shape == (0, 3)
    assert found.leaves.dtype == np.uint16


def test_rows_of_another_width() -> None:
    trees = Trees([0, 1], [-1], [0.0], [-1], [-1], 3)  # type: ignore[arg-type]
    data = random_rows(np.random.default_rng(7), 2, 2)
    with pytest.raises(DataError, match=r"the rows must have 3 columns.*got 2"):
        trees.reachable(data.arrays)
