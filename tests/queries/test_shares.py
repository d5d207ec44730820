"""Q2 as shares of prior mass, and their entropies: by hand, at the ends of the float range."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import oracle
import pytest
from strategies import sweep

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
from cpclean.queries.shares import entropy, votes_needed

# Row 0 (class 0) is nearest at 1, second at 3, last at 6; row 1 (class 1) is at 2 or 4.
RACE = [[[1.0], [3.0], [6.0]], [[2.0], [4.0]]]


def test_shares_weigh_worlds_by_their_prior() -> None:
    data = IncompleteDataset(RACE, [0, 1], [[0.5, 0.25, 0.25], [0.125, 0.875]])
    expected = 0.5 + 0.25 * 0.875  # row 0 at 1, or at 3 while row 1 is at 4
    assert world_shares(data, [[0.0]], 1).tolist() == [[expected, 1 - expected]]


def test_without_priors_a_share_is_a_count_of_worlds() -> None:
    data = IncompleteDataset(RACE, [0, 1])
    assert world_shares(data, [[0.0]], 1) == pytest.approx(np.array([[0.5, 0.5]]), rel=1e-15)
    assert world_counts(data, [[0.0]], 1).tolist() == [[3, 3]]


def test_priors_of_zero() -> None:
    data = IncompleteDataset(RACE, [0, 1], [[0.0, 0.0, 1.0], None])
    assert world_shares(data, [[0.0]], 1).tolist() == [[0.0, 1.0]]
    assert entropies(data, [[0.0]], 1).tolist() == [0.0]
    assert possible_labels(data, [[0.0]], 1).tolist() == [[True, True]]


def test_shape_type_and_column_order() -> None:
    data = IncompleteDataset([[[1.0], [9.0]], [[2.0]], [[3.0]]], ["c", "a", "b"])
    shares = world_shares(data, [[0.0], [2.5]], 1)
    assert shares.dtype == np.float64
    assert shares.tolist() == [[0.5, 0.0, 0.5], [1.0, 0.0, 0.0]]
    assert entropies(data, [[0.0], [2.5]], 1).shape == (2,)


def test_three_neighbours_and_euclidean_by_default() -> None:
    rng = np.random.default_rng(1)
    data = IncompleteDataset(rng.normal(size=(12, 2, 2)), [0, 1, 2] * 4)
    X = rng.normal(size=(9, 2))
    assert np.array_equal(world_shares(data, X), world_shares(data, X, 3, "euclidean"))
    assert np.array_equal(entropies(data, X), entropies(data, X, 3, "euclidean"))


# -- the ends of the float range -------------------------------------------------------------------


def gauntlet(n_rows: int, size: int, labels: list[str], prior: list[float] | None = None):
    """Row 0 stays at 1; the others are in front of it, at 0.5, in all but their last candidate."""
    rows = [[1.0]] + [[[0.5]] * (size - 1) + [[2.0]]] * n_rows
    priors = None if prior is None else [None] + [prior] * n_rows
    return IncompleteDataset(rows, labels, priors)


@pytest.mark.parametrize(
    "n_rows", [*(pytest.param(n, marks=pytest.mark.nojit) for n in (10, 40, 100)), 1000]
)
def test_rare_labels_keep_their_relative_precision(n_rows: int) -> None:
    # Class "a" wins only if all the others step back: 2^-1000 at the least.
    data = gauntlet(n_rows, 2, ["a"] + ["b"] * n_rows)
    expected = 2.0**-n_rows
    ((rare, common),) = world_shares(data, [[0.0]], 1)
    assert rare == pytest.approx(expected, rel=1e-12, abs=0.0)
    assert common == pytest.approx(1.0, abs=1e-15 + expected)
    assert world_counts(data, [[0.0]], 1).tolist() == [[1, 2**n_rows - 1]]


@pytest.mark.parametrize("n_rows", [30, 150])
def test_rare_labels_among_many(n_rows: int) -> None:
    # The same with the others of three classes, none of which dominates, and one neighbour.
    data = gauntlet(n_rows, 2, ["d"] + ["a", "b", "c"] * (n_rows // 3))
    shares = world_shares(data, [[0.0]], 1)[0]
    assert shares[3] == pytest.approx(2.0**-n_rows, rel=1e-12, abs=0.0)
    counts = world_counts(data, [[0.0]], 1)[0]
    for share, count in zip(shares, counts, strict=True):
        assert share == pytest.approx(float(Fraction(count, data.n_worlds)), rel=1e-12, abs=0.0)


def test_rare_labels_by_prior() -> None:
    data = gauntlet(3, 2, ["a", "b", "b", "b"], [1 - 1e-60, 1e-60])
    assert world_shares(data, [[0.0]], 1)[0, 0] == pytest.approx(1e-180, rel=1e-12, abs=0.0)
    many = gauntlet(3, 2, ["d", "a", "b", "c"], [1 - 1e-60, 1e-60])
    assert world_shares(many, [[0.0]], 1)[0] == pytest.approx(
        [1.0, 1e-60, 1e-120, 1e-180], rel=1e-12, abs=0.0
    )


@pytest.mark.parametrize("labels", [["a", "b"], ["c", "a", "b"]])
def test_beyond_the_smallest_float(labels: list[str]) -> None:
    # One world in 2^2000: the share is 0.0 as a float, yet the label is possible.
    n_rows = 2000
    data = gauntlet(n_rows, 2, labels[:1] + labels[1:] * (n_rows // (len(labels) - 1)))
    rare = data.codes[0]
    shares = world_shares(data, [[0.0]], 1)[0]
    assert shares[rare] == 0.0
    assert shares.sum() == 1.0
    assert world_counts(data, [[0.0]], 1)[0, rare] == 1
    assert possible_labels(data, [[0.0]], 1)[0].all()
    assert not is_certain(data, [[0.0]], 1)[0]
    assert np.isfinite(expected_entropies(data, [[0.0]], 1)).all()


def test_nearly_certain_is_not_certain() -> None:
    data = IncompleteDataset([[1.0], [[0.5], [2.0]]], ["a", "b"], [None, [1e-20, 1.0]])
    assert world_shares(data, [[0.0]], 1).tolist() == [[1.0, 1e-20]]
    assert not is_certain(data, [[0.0]], 1)[0]
    certain = IncompleteDataset([[1.0], [[1.5], [2.0]]], ["a", "b"], [None, [1e-20, 1.0]])
    assert world_shares(certain, [[0.0]], 1).tolist() == [[1.0, 0.0]]
    assert is_certain(certain, [[0.0]], 1)[0]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_smallest_priors_that_underflow_when_multiplied(n_classes: int) -> None:
    tiny = [5e-324, 1.0]
    data = gauntlet(4, 2, ([0, 1, 2, 1, 2] if n_classes == 3 else [0, 1, 1, 1, 1]), tiny)
    shares = world_shares(data, [[0.0]], 1)[0]
    assert shares[0] == 1.0
    assert 0.0 <= shares[1:].min() <= shares[1:].max() <= 2e-323
    given = conditional_shares(data, [0.0], 1)
    assert given[1].tolist()[0] == [0.0, 1.0, 0.0][:n_classes]
    assert given[1].tolist()[1][0] == 1.0


def test_shares_stay_exact_over_many_orders_of_magnitude() -> None:
    rng = np.random.default_rng(6)
    for n_classes, k in ((2, 3), (2, 4), (3, 3), (4, 2)):
        sizes = rng.integers(1, 3, size=11)
        candidates = [rng.integers(0, 9, size=(size, 1)).astype(float).tolist() for size in sizes]
        priors = []
        for size in sizes:
            weights = 10.0 ** rng.integers(-40, 1, size=size)
            weights[rng.integers(size)] = 1.0
            priors.append((weights / math.fsum(weights)).tolist())
        codes = (np.arange(11) % n_classes).tolist()
        expected = oracle.world_shares(candidates, codes, n_classes, priors, [0.0], k)
        data = IncompleteDataset(candidates, codes, priors)
        actual = world_shares(data, [[0.0]], k)[0]
        assert actual == pytest.approx([float(share) for share in expected], rel=1e-10, abs=0.0)


def exact_shares(data: IncompleteDataset, t: list[float], k: int) -> list[Fraction]:
    """The scan of the paper in whole numbers, with weights in place of numbers of candidates."""
    weights = []
    for row in range(data.n_rows):
        exact = [Fraction(weight) for weight in data.prior(row).tolist()]
        scale = math.lcm(*(weight.denominator for weight in exact))
        weights.append([int(weight * scale) for weight in exact])
    totals = [sum(row) for row in weights]
    places = sorted(
        (oracle.distance(x, t), row, j)
        for row in range(data.n_rows)
        for j, x in enumerate(data.candidates(row).tolist())
    )
    codes, mass, nearer = data.codes.tolist(), [0] * data.n_classes, [0] * data.n_rows
    for _, row, j in places:
        ways = [[1] + [0] * k for _ in mass]
        for other, code in enumerate(codes):
            out, take = totals[other] - nearer[other], nearer[other]
            if other == row:
                out, take = 0, weights[row][j]
            before = ways[code]
            ways[code] = [out * before[0]] + [
                out * before[c] + take * before[c - 1] for c in range(1, k + 1)
            ]
        nearer[row] += weights[row][j]
        for label in range(data.n_classes):
            for votes in range(1, k + 1):
                fill = [1] + [0] * (k - votes)
                for other in range(data.n_classes):
                    if other != label:
                        top = votes - 1 if other < label else votes
                        fill = [
                            sum(ways[other][n] * fill[c - n] for n in range(min(top, c) + 1))
                            for c in range(k - votes + 1)
                        ]
                mass[label] += ways[label][votes] * fill[-1]
    return [Fraction(one, math.prod(totals)) for one in mass]


def test_the_exact_scan_of_these_tests_is_the_oracle_s() -> None:
    for case in sweep(40, 8):
        if case.metric == "euclidean":
            expected = oracle.world_shares(*case.question(case.X[0]))
            actual = exact_shares(case.dataset(), case.X[0], case.n_neighbors)
            assert [float(share) for share in actual] == pytest.approx(
                [float(share) for share in expected], rel=1e-13
            )


@pytest.mark.parametrize("kind", ["skewed", "zeros", "both"])
@pytest.mark.parametrize(("n_classes", "k"), [(2, 1), (2, 4), (3, 3), (4, 2)])
def test_many_rows_with_awkward_priors(n_classes: int, k: int, kind: str) -> None:
    # More rows than are opened at first; shares from 1 down to far below 1e-12.
    rng = np.random.default_rng([9, n_classes, k])
    candidates, priors = [], []
    for row in range(75):
        size = int(rng.integers(1, 4))
        candidates.append((row / 10.0 + rng.integers(0, 30, size=(size, 1))).tolist())
        weights = rng.random(size)
        if kind != "zeros":
            weights *= 10.0 ** rng.choice([0, -3, -9, -20], size=size)
        if kind != "skewed":
            weights[rng.random(size) < 0.3] = 0.0
        weights[rng.integers(size)] += 1.0
        priors.append(weights / math.fsum(weights))
    data = IncompleteDataset(candidates, np.arange(75) % n_classes, priors)
    for t in ([0.0], [12.0]):
        expected = [float(share) for share in exact_shares(data, t, k)]
        actual = world_shares(data, [t], k)[0]
        assert actual == pytest.approx(expected, rel=1e-10, abs=0.0)


# -- entropy ---------------------------------------------------------------------------------------


def test_entropy_in_nats() -> None:
    data = IncompleteDataset([[[1.0], [3.0]], [2.0]], ["a", "b"])
    assert entropies(data, [[0.0]], 1) == pytest.approx([math.log(2)], rel=1e-15)
    three = IncompleteDataset([[[1.0], [4.0], [5.0]], [[2.0], [6.0]], [3.0]], ["a", "b", "c"])
    expected = -sum(share * math.log(share) for share in (1 / 3, 1 / 3, 1 / 3))
    assert entropies(three, [[0.0]], 1) == pytest.approx([expected], rel=1e-14)


def test_entropy_of_shares() -> None:
    table = np.array([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.25, 0.25, 0.5], [0.0, 0.0, 1.0]])
    expected = [oracle.entropy(row) for row in table.tolist()]
    assert entropy(table) == pytest.approx(expected, abs=1e-15)
    assert not np.signbit(entropy(table)).any()
    assert entropy(table.reshape(2, 2, 3)).shape == (2, 2)


def test_entropies_are_those_of_the_shares() -> None:
    rng = np.random.default_rng(7)
    data = IncompleteDataset(rng.normal(size=(30, 3, 2)), rng.integers(0, 4, size=30))
    X = rng.normal(size=(20, 2))
    for k in (1, 4):
        expected = [oracle.entropy(row) for row in world_shares(data, X, k).tolist()]
        assert entropies(data, X, k) == pytest.approx(expected, abs=1e-14)


# -- votes -----------------------------------------------------------------------------------------


def test_votes_needed() -> None:
    for k in range(1, 14):
        smaller, larger = votes_needed(k)
        wins = [votes for votes in range(k + 1) if votes >= k - votes]  # ties: the smaller class
        assert smaller == min(wins)
        assert larger == min(votes for votes in range(k + 1) if votes > k - votes)
        assert smaller + larger == k + 1
