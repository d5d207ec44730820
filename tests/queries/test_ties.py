"""Ties: equal vectors, equal distances, equal votes."""

from __future__ import annotations

import numpy as np
import pytest
from queries.samples import NAMES

from cpclean import (
    Cell,
    FactoredRow,
    IncompleteDataset,
    possible_labels,
    world_counts,
    world_shares,
)
from cpclean.queries import geometry
from cpclean.queries.model import Model


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
    query = geometry.ask(data, [[0.0, 0.0]], Model(4, "euclidean"))
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
