"""Random trees and rows on a coarse grid, and what brute force finds about them."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from cpclean import Cell, FactoredRow, IncompleteDataset
from cpclean.data.spaces.trees import Trees

# Values and thresholds meet; the two last values are one and the same in float32.
VALUES = np.array([0.0, 1.0, 2.0, 3.0, -1e300, 1e300, 1.0 + 1e-12])
THRESHOLDS = np.array([0.0, 0.5, 1.0, 2.0, 2.5, 1.0 - 1e-12, 1.0 + 1e-12, -1e300, 1e300])


def random_tree(rng: np.random.Generator, n_features: int, n_splits: int) -> dict[str, list[Any]]:
    """A tree that grows at random leaves, so that node numbers are in no particular order."""
    tree: dict[str, list[Any]] = {"feature": [-1], "threshold": [0.0], "left": [-1], "right": [-1]}
    leaves = [0]
    for _ in range(n_splits):
        node = leaves.pop(rng.integers(len(leaves)))
        children = [len(tree["feature"]), len(tree["feature"]) + 1]
        leaves += children
        tree["feature"][node] = int(rng.integers(n_features))
        tree["threshold"][node] = float(rng.choice(THRESHOLDS))
        tree["left"][node], tree["right"][node] = rng.permutation(children).tolist()
        for name, empty in (("feature", -1), ("threshold", 0.0), ("left", -1), ("right", -1)):
            tree[name] += [empty, empty]
    return tree


def random_trees_of(rng: np.random.Generator, n_features: int, n_trees: int) -> Trees:
    grown = [random_tree(rng, n_features, int(rng.integers(0, 12))) for _ in range(n_trees)]
    ends = np.cumsum([0, *(len(one["feature"]) for one in grown)])
    joined: dict[str, Any] = {
        name: np.concatenate([one[name] for one in grown]) for name in grown[0]
    }
    return Trees(root=ends, n_features=n_features, **joined)  # type: ignore[arg-type]


def random_rows(rng: np.random.Generator, n_features: int, n_rows: int) -> IncompleteDataset:
    """Rows with cells of one column and of several, some with the same values twice."""
    rows = []
    for _ in range(n_rows):
        cells, column = [], 0
        while column < n_features:
            width = int(rng.integers(1, 3 if column + 1 < n_features else 2))
            if rng.random() < 0.6:
                values = rng.choice(VALUES, size=(rng.integers(1, 5), width))
                cells.append(Cell(range(column, column + width), values))
            column += width
        rows.append(FactoredRow(rng.choice(VALUES, size=n_features), cells))
    return IncompleteDataset(rows, np.arange(n_rows) % 2)


def leaf_of(trees: Trees, tree: int, vector: np.ndarray) -> int:
    """Where a vector ends in one tree, step by step."""
    nodes = slice(trees.root[tree], trees.root[tree + 1])
    seen = np.clip(vector, -3.4028234663852886e38, 3.4028234663852886e38).astype(np.float32)
    node = 0
    while (feature := trees.feature[nodes][node]) >= 0:
        goes_left = float(seen[feature]) <= trees.threshold[nodes][node]
        node = int((trees.left if goes_left else trees.right)[nodes][node])
    return node


def all_leaves(trees: Trees, tree: int, data: IncompleteDataset, row: int) -> list[int]:
    """The leaves of all combinations of a row's values, ascending."""
    stored = data.stored_row(row)
    found = set()
    for values in product(*(cell.values for cell in stored.cells)):
        vector = stored.base.copy()
        for cell, value in zip(stored.cells, values, strict=True):
            vector[cell.start : cell.stop] = value
        found.add(leaf_of(trees, tree, vector))
    return sorted(found)
