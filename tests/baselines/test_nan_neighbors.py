"""Nearest neighbours over holes, against scikit-learn's distances and by hand."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics.pairwise import nan_euclidean_distances

from cpclean import IncompleteDataset, IncompleteTable
from cpclean.baselines.nan_neighbors import NanEuclideanNeighbors
from cpclean.errors import DataError


def grid_data(rng: np.random.Generator, n_rows: int, width: int) -> IncompleteDataset:
    """Coarse rows, some coordinates of which have two candidates."""
    candidates = []
    for row in rng.integers(0, 3, size=(n_rows, width)).astype(float):
        other = np.where(rng.random(width) < 0.3, row + 1.0, row)
        candidates.append(np.unique([row, other], axis=0))
    return IncompleteDataset(candidates, rng.integers(0, 3, size=n_rows))


@pytest.mark.parametrize("seed", range(20))
def test_distances_are_scikit_learns(seed: int) -> None:
    rng = np.random.default_rng(seed)
    data = grid_data(rng, 9, 4)
    points = rng.integers(0, 3, size=(6, 4)).astype(float)
    method = NanEuclideanNeighbors(n_neighbors=1).fit(data)
    expected = nan_euclidean_distances(points, method.rows_)
    expected[np.isnan(expected)] = np.inf  # nothing in common
    np.testing.assert_allclose(method.distances(points), expected, atol=1e-7)


@pytest.mark.parametrize("seed", range(20))
def test_predictions_are_those_of_brute_force_with_our_ties(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    data = grid_data(rng, 8, 3)
    points = rng.integers(0, 3, size=(8, 3)).astype(float)
    expected = []
    for point in points:
        near = []
        for row in range(data.n_rows):
            vectors = data.candidates(row)
            there = [n for n in range(3) if len(set(vectors[:, n])) == 1]
            square = sum((point[n] - vectors[0, n]) ** 2 for n in there)
            near.append((math.sqrt(square * 3 / len(there)) if there else math.inf, row))
        votes = Counter(int(data.labels[row]) for _, row in sorted(near)[:3])
        expected.append(min(votes, key=lambda label: (-votes[label], label)))
    method = NanEuclideanNeighbors(n_neighbors=3).fit(data)
    assert method.predict(points).tolist() == expected


def test_blocks_of_points_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    data, points = grid_data(rng, 9, 4), rng.integers(0, 3, size=(20, 4)).astype(float)
    method = NanEuclideanNeighbors().fit(data)
    whole = method.predict(points).tolist()
    monkeypatch.setattr("cpclean.baselines.nan_neighbors._BLOCK", 30)
    assert method.predict(points).tolist() == whole


def test_holes_are_those_of_the_table() -> None:
    frame = pd.DataFrame({"u": [0.0, 4.0, None], "v": [0.0, 2.0, 1.0]})
    method = NanEuclideanNeighbors(n_neighbors=1).fit(IncompleteTable(frame, ["a", "b", "c"]))
    assert method.rows_.tolist()[:2] == [[0.0, 0.0], [1.0, 1.0]]
    assert np.isnan(method.rows_[2]).tolist() == [True, False]
    # (1, 0.5) in the space: to the third row sqrt(2 / 1 * 0) = 0
    assert method.distances(pd.DataFrame({"u": [4.0], "v": [1.0]})).tolist() == [
        pytest.approx([math.sqrt(1.25), 0.5, 0.0])
    ]


def test_a_row_of_which_nothing_is_present_is_farthest() -> None:
    data = IncompleteDataset([[[0.0], [1.0]], [[500.0]]], ["a", "b"])
    method = NanEuclideanNeighbors(n_neighbors=1).fit(data)
    assert method.distances([[0.0]]).tolist() == [[math.inf, 500.0]]
    assert method.predict([[0.0]]).tolist() == ["b"]


def test_columns_may_be_counted_instead_of_coordinates() -> None:
    frame = pd.DataFrame({"town": ["A", "B", "C", None], "x": [0.0, 1.0, 0.5, 0.5]})
    table = IncompleteTable(frame, [0, 0, 1, 1], prior="uniform")
    point = pd.DataFrame({"town": ["A"], "x": [1.0]})
    assert table.dataset.n_features == 5  # A, B, C, other; x
    by_feature = NanEuclideanNeighbors(1).fit(table).distances(point)
    by_column = NanEuclideanNeighbors(1, count="column").fit(table).distances(point)
    assert by_feature[0].tolist() == pytest.approx([1.0, 1.0, math.sqrt(1.25), math.sqrt(5) * 0.5])
    assert by_column[0].tolist() == pytest.approx([1.0, 1.0, math.sqrt(1.25), math.sqrt(2) * 0.5])


def test_bad_counts() -> None:
    data = IncompleteDataset([[[0.0], [1.0]], [[5.0]]], ["a", "b"])
    with pytest.raises(DataError, match='count must be "feature" or "column"; got 2'):
        NanEuclideanNeighbors(1, count=2).fit(data)  # type: ignore[arg-type]
    with pytest.raises(DataError, match='count="column" needs a table: an IncompleteDataset'):
        NanEuclideanNeighbors(1, count="column").fit(data)
