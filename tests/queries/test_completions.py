"""Points of several completions: every question against brute force over worlds x completions."""

from __future__ import annotations

import itertools
from math import prod

import numpy as np
import pytest
from slow_cases import parts, rest_slow

from cpclean import (
    Cell,
    FactoredRow,
    IncompleteDataset,
    Points,
    conditional_shares,
    entropies,
    expected_entropies,
    is_certain,
    possible_labels,
    world_counts,
    world_shares,
)

TOLERANCE = 1e-12


def predicted(worlds: np.ndarray, codes: np.ndarray, X: np.ndarray, k: int) -> np.ndarray:
    """The prediction of each world at each point of X.

    Nearer first, then the smaller row; of equally many votes, then the smaller class.
    """
    distance = ((worlds[:, None] - X[:, None]) ** 2).sum(axis=3)
    nearest = codes[np.argsort(distance, axis=2, kind="stable")[:, :, :k]]
    votes = [(nearest == label).sum(axis=2) for label in range(codes.max() + 1)]
    return np.argmax(votes, axis=0)


def entropy(shares: np.ndarray) -> float:
    positive = shares[shares > 0]
    return float(-(positive * np.log(positive)).sum())


class Enumerated:
    """All worlds and all completions of one point, one by one."""

    def __init__(
        self, data: IncompleteDataset, completions: np.ndarray, prior: np.ndarray, k: int
    ) -> None:
        rows = [data.candidates(row) for row in range(data.n_rows)]
        priors = [data.prior(row) for row in range(data.n_rows)]
        self.data = data
        self.choices = np.array(list(itertools.product(*(range(len(one)) for one in rows))))
        self.picked = np.array([own[c] for own, c in zip(priors, self.choices.T, strict=True)]).T
        worlds = np.stack([own[c] for own, c in zip(rows, self.choices.T, strict=True)], axis=1)
        self.labels = predicted(worlds, data.codes, completions, k)
        self.prior = prior
        self.priors = priors

    def counts(self) -> list[int]:
        return np.bincount(self.labels.ravel(), minlength=self.data.n_classes).tolist()

    def shares(self, row: int | None = None, candidate: int | None = None) -> np.ndarray:
        """Given a candidate of a row, if one is named; its own prior may be 0."""
        picked = self.picked.copy()
        if row is not None:
            picked[:, row] = self.choices[:, row] == candidate
        weights = np.multiply.outer(picked.prod(axis=1), self.prior)
        found = np.bincount(self.labels.ravel(), weights.ravel(), self.data.n_classes)
        return found / weights.sum()

    def expected(self, row: int) -> float:
        prior = self.priors[row]
        return sum(
            weight * entropy(self.shares(row, candidate))
            for candidate, weight in enumerate(prior.tolist())
        )


def weights_with_zeros(rng: np.random.Generator, size: int) -> np.ndarray:
    weights = rng.dirichlet(np.ones(size))
    if size > 1 and rng.random() < 0.3:
        weights[rng.integers(size)] = 0.0
    return weights / weights.sum()


def case(seed: int) -> tuple[IncompleteDataset, list[np.ndarray], list[np.ndarray], int]:
    """A few rows and points on a small grid, so that most distances are tied."""
    rng = np.random.default_rng(seed)
    width, n_classes = int(rng.integers(1, 4)), int(rng.integers(2, 6))
    n_rows = int(rng.integers(n_classes, 7))
    sizes = rng.integers(1, 4, size=n_rows)
    while prod(sizes.tolist()) > 200:
        sizes[rng.integers(n_rows)] = 1
    rows = [rng.integers(0, 3, size=(size, width)).astype(float) for size in sizes]
    priors = [weights_with_zeros(rng, size) for size in sizes]
    labels = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n_rows - n_classes)])
    data = IncompleteDataset(rows, rng.permutation(labels), priors)
    points = [
        rng.integers(0, 3, size=(int(rng.integers(1, 5)), width)).astype(float) for _ in range(3)
    ]
    weights = [weights_with_zeros(rng, len(one)) for one in points]
    return data, points, weights, int(rng.integers(1, n_rows + 1))


def check(seed: int) -> None:
    data, points, weights, k = case(seed)
    asked = Points(points, weights)
    exact = [Enumerated(data, one, own, k) for one, own in zip(points, weights, strict=True)]
    counts = world_counts(data, asked, k)
    assert counts.tolist() == [one.counts() for one in exact]
    assert (possible_labels(data, asked, k) == (counts > 0)).all()
    assert (is_certain(data, asked, k) == ((counts > 0).sum(axis=1) == 1)).all()
    shares = np.array([one.shares() for one in exact])
    assert world_shares(data, asked, k) == pytest.approx(shares, abs=TOLERANCE)
    assert entropies(data, asked, k) == pytest.approx(
        [entropy(one) for one in shares], abs=TOLERANCE
    )
    expected = [np.mean([one.expected(row) for one in exact]) for row in range(data.n_rows)]
    assert expected_entropies(data, asked, k) == pytest.approx(expected, abs=TOLERANCE)
    for one, completions, own in zip(exact, points, weights, strict=True):
        given = conditional_shares(data, Points([completions], [own]), k)
        for row, found in enumerate(given):
            wanted = [one.shares(row, candidate) for candidate in range(len(found))]
            assert found == pytest.approx(np.array(wanted), abs=TOLERANCE)


@pytest.mark.nojit
def test_a_few_cases() -> None:
    for seed in range(300, 306):
        check(seed)


@pytest.mark.parametrize("start", rest_slow(range(0, 200, 50)))
def test_all_questions_equal_brute_force(start: int) -> None:
    for seed in range(start, start + 50):
        check(seed)


@pytest.mark.slow
@pytest.mark.parametrize("start", parts(range(1000, 4000, 250), 4))
def test_many_more_cases(start: int) -> None:
    for seed in range(start, start + 250):
        check(seed)


def test_a_factored_point_is_the_point_written_out() -> None:
    data, _, _, _ = case(3)
    width = data.n_features
    cells = [Cell(column, [0.0, 1.0, 2.0], [0.5, 0.25, 0.25]) for column in range(width)]
    factored = Points([FactoredRow([0.0] * width, cells)])
    vectors = np.array(list(itertools.product([0.0, 1.0, 2.0], repeat=width)))
    weights = [prod(w) for w in itertools.product([0.5, 0.25, 0.25], repeat=width)]
    plain = Points([vectors], [weights])
    for ask in (world_counts, world_shares, is_certain, expected_entropies):
        assert ask(data, factored, 2).tolist() == ask(data, plain, 2).tolist()
