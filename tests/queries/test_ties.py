"""Ties: equal vectors, equal distances, equal votes."""

from __future__ import annotations

import itertools

import numpy as np
import oracle
import pytest
from queries.samples import NAMES

from cpclean import (
    Cell,
    FactoredRow,
    IncompleteDataset,
    is_certain,
    possible_labels,
    world_counts,
    world_shares,
)
from cpclean.queries import _alike, blocks, geometry
from cpclean.queries.kernel_arrays import EUCLIDEAN
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


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_tied_tables_of_categories_against_brute_force(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Points in any order, and completions of a point: both have ways of their own to near rows."""
    monkeypatch.setattr(blocks, "_MANY", 1)  # rows with the same hole have blocks of their own
    rng = np.random.default_rng(seed)
    shared = []
    for _ in range(100):
        sizes = rng.integers(3, 6, size=6)
        usual = rng.integers(0, sizes)
        rows = [_categories(rng, sizes, usual, int(rng.integers(2)))[:3] for _ in range(6)]
        if rng.random() < 0.5:
            X = np.concatenate([_categories(rng, sizes, usual, 0) for _ in range(9)])
        else:
            X = np.concatenate([_categories(rng, sizes, usual, 2) for _ in range(2)])
        shared.append(_alike.alike(EUCLIDEAN, X) is not None)
        k, codes = int(rng.integers(1, 5)), rng.permutation([0, 1, 0, 1, 1, 2])
        data = IncompleteDataset(rows, codes)
        counts, certain = world_counts(data, X, k).tolist(), is_certain(data, X, k).tolist()
        candidates = [row.tolist() for row in rows]
        for point in rng.permutation(len(X))[:5].tolist():
            t = X[point].tolist()
            expected = oracle.world_counts(candidates, codes.tolist(), 3, None, t, k)
            assert counts[point] == expected
            assert certain[point] == (sum(count > 0 for count in expected) == 1)
    assert {False, True} == set(shared)


def _categories(
    rng: np.random.Generator, sizes: np.ndarray, usual: np.ndarray, n_holes: int
) -> np.ndarray:
    """All completions of a row of categories, one-hot; most are the usual ones."""
    own = np.where(rng.random(len(sizes)) < 0.6, usual, rng.integers(0, sizes))
    holes = rng.choice(len(sizes), size=n_holes, replace=False).tolist()
    found = []
    for filled in itertools.product(*(range(sizes[hole]) for hole in holes)):
        own[holes] = filled
        found.append(
            np.concatenate([np.eye(size)[at] for size, at in zip(sizes, own, strict=True)])
        )
    return np.array(found)
