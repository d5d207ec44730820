"""Datasets of many sizes, all questions asked of one at once, and answers compared."""

from __future__ import annotations

import numpy as np
import oracle
import pytest

from cpclean import (
    IncompleteDataset,
    conditional_shares,
    entropies,
    expected_entropies,
    is_certain,
    possible_labels,
    world_counts,
    world_shares,
)

NAMES = ("euclidean", "manhattan", "chebyshev", "cosine", "linear", "rbf", "hamming")
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


def instance(
    seed: object,
    n_rows: int,
    n_classes: int,
    *,
    grid: int = 0,
    width: int = 2,
    uniform: bool = True,
) -> tuple[IncompleteDataset, np.ndarray]:
    """A third of the rows dirty; candidates scatter around a centre of their own."""
    rng = np.random.default_rng(seed)
    candidates, priors = [], []
    for _ in range(n_rows):
        size = int(rng.integers(2, 7)) if rng.random() < 0.35 else 1
        vectors = rng.normal(size=width) + 0.5 * rng.normal(size=(size, width))
        candidates.append(np.round(vectors * grid) if grid else vectors)
        priors.append(None if uniform else rng.dirichlet(np.ones(size)))
    X = rng.normal(size=(12, width))
    data = IncompleteDataset(candidates, rng.integers(0, n_classes, size=n_rows), priors)
    return data, np.round(X * grid) if grid else X


def pieces(data: IncompleteDataset) -> tuple[list[np.ndarray], np.ndarray, list[np.ndarray]]:
    rows = range(data.n_rows)
    return [data.candidates(row) for row in rows], data.labels, [data.prior(row) for row in rows]


def flat_distances(data: IncompleteDataset, X: object, metric: object) -> np.ndarray:
    """Distances to every candidate, row after row, by the oracle."""
    rows = [vector for row in range(data.n_rows) for vector in data.candidates(row).tolist()]
    return np.array([[oracle.distance(x, list(t), metric) for x in rows] for t in X])
