"""What must hold between answers, on instances far too large to write out their worlds."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from queries.samples import instance, pieces
from slow_cases import rest_slow

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
from cpclean.queries import reference

# (classes, K, rows)
SIZES = [(2, 1, 300), (2, 3, 500), (2, 8, 300), (3, 1, 400), (3, 5, 300), (4, 3, 500), (6, 10, 300),
         (2, 15, 300), (5, 15, 300)]  # fmt: skip


# -- shares, counts, certainty ---------------------------------------------------------------------


@pytest.mark.parametrize(("n_classes", "k", "n_rows"), SIZES)
def test_shares_counts_and_certainty_agree(n_classes: int, k: int, n_rows: int) -> None:
    data, X = instance([1, n_classes, k], n_rows, n_classes)
    counts = world_counts(data, X, k)
    shares = world_shares(data, X, k)
    possible = possible_labels(data, X, k)
    certain = is_certain(data, X, k)
    assert data.n_worlds > 10**30
    assert counts.sum(axis=1).tolist() == [data.n_worlds] * len(X)
    assert shares.sum(axis=1) == pytest.approx(np.ones(len(X)), abs=1e-15)
    assert (possible == (counts > 0)).all()
    assert ((shares > 0) == possible).all()
    assert (certain == (possible.sum(axis=1) == 1)).all()
    assert (certain == (counts == data.n_worlds).any(axis=1)).all()
    assert (certain == (shares == 1.0).any(axis=1)).all()
    assert not certain.all()
    for share, count in zip(shares.ravel(), counts.ravel(), strict=True):
        exact = float(Fraction(count, data.n_worlds))
        assert share == pytest.approx(exact, rel=1e-10, abs=0.0)


@pytest.mark.nojit
@pytest.mark.parametrize(("n_classes", "k"), [(2, 3), (3, 2), (4, 5)])
def test_shares_counts_and_certainty_agree_on_a_smaller_instance(n_classes: int, k: int) -> None:
    data, X = instance([2, n_classes, k], 90, n_classes)
    counts = world_counts(data, X[:2], k)
    assert counts.sum(axis=1).tolist() == [data.n_worlds] * 2
    assert (possible_labels(data, X[:2], k) == (counts > 0)).all()
    expected = [[float(Fraction(count, data.n_worlds)) for count in row] for row in counts]
    assert world_shares(data, X[:2], k) == pytest.approx(np.array(expected), rel=1e-10, abs=0.0)


@pytest.mark.parametrize(("n_classes", "k"), [(2, 3), (4, 3)])
def test_a_prior_is_a_number_of_equal_candidates(n_classes: int, k: int) -> None:
    # Weights of m / 16 are m copies of a candidate, all equally likely: counts say the exact share.
    rng = np.random.default_rng([3, n_classes])
    rows, copied, priors = [], [], []
    for _ in range(120):
        size = int(rng.integers(1, 5))
        vectors = rng.normal(size=(size, 2))
        times = rng.multinomial(16 - size, np.ones(size) / size) + 1
        rows.append(vectors)
        copied.append(np.repeat(vectors, times, axis=0))
        priors.append(times / 16)
    labels = rng.integers(0, n_classes, size=120)
    X = rng.normal(size=(4, 2))
    copies = IncompleteDataset(copied, labels)
    counts = world_counts(copies, X, k)
    expected = [[float(Fraction(count, copies.n_worlds)) for count in row] for row in counts]
    actual = world_shares(IncompleteDataset(rows, labels, priors), X, k)
    assert actual == pytest.approx(np.array(expected), rel=1e-10, abs=0.0)


@pytest.mark.parametrize(("n_classes", "k"), [(2, 3), (2, 6), (4, 3)])
def test_a_candidate_of_prior_zero_might_as_well_not_be_there(n_classes: int, k: int) -> None:
    rng = np.random.default_rng([21, n_classes, k])
    data, X = instance([21, n_classes], 200, n_classes, uniform=False)
    candidates, labels, priors = pieces(data)
    more, weights = [], []
    for vectors, prior in zip(candidates, priors, strict=True):
        extra = rng.normal(size=(rng.integers(0, 3), 2))
        order = rng.permutation(len(vectors) + len(extra))
        more.append(np.concatenate([vectors, extra])[order])
        weights.append(np.r_[prior, np.zeros(len(extra))][order])
    longer = IncompleteDataset(more, labels, weights)
    assert longer.n_worlds > data.n_worlds
    assert world_shares(longer, X, k) == pytest.approx(world_shares(data, X, k), rel=1e-11)
    expected = expected_entropies(data, X, k)
    assert expected_entropies(longer, X, k) == pytest.approx(expected, abs=1e-12)
    assert not (possible_labels(data, X, k) & ~possible_labels(longer, X, k)).any()
    shorter, given = conditional_shares(data, X[0], k), conditional_shares(longer, X[0], k)
    for row, vectors in enumerate(candidates):
        for number, vector in enumerate(vectors):
            place = (more[row] == vector).all(axis=1).argmax()
            assert given[row][place] == pytest.approx(shorter[row][number], abs=1e-12)


@pytest.mark.parametrize(("n_classes", "k"), [(5, 10), (3, 4)])
def test_counts_as_the_paper_s_algorithm_counts(n_classes: int, k: int) -> None:
    data, X = instance([4, n_classes], 60, n_classes, grid=3)
    for t in X[:2]:
        expected = reference.ss_dc_mc(data, t, k)
        assert tuple(world_counts(data, [t], k)[0]) == expected


# -- conditionals ----------------------------------------------------------------------------------


@pytest.mark.parametrize("uniform", rest_slow([False, True]))
@pytest.mark.parametrize(("n_classes", "k", "n_rows"), SIZES)
def test_conditionals_average_to_the_share(
    n_classes: int, k: int, n_rows: int, uniform: bool
) -> None:
    data, X = instance([5, n_classes, k], n_rows, n_classes, uniform=uniform)
    X = X[:3]
    shares = world_shares(data, X, k)
    given = [conditional_shares(data, t, k) for t in X]
    for whole, rows in zip(shares, given, strict=True):
        for row, one in enumerate(rows):
            assert (one >= 0).all()
            assert (one <= 1).all()
            assert one.sum(axis=1) == pytest.approx(np.ones(len(one)), abs=1e-12)
            assert data.prior(row) @ one == pytest.approx(whole, abs=1e-12)
    # The entropy to expect, from the conditionals themselves.
    expected = np.zeros(n_rows)
    for rows in given:
        for row, one in enumerate(rows):
            logs = np.log(np.where(one > 0, one, 1.0))
            expected[row] += data.prior(row) @ -(one * logs).sum(axis=1) / len(X)
    actual = expected_entropies(data, X, k)
    assert actual == pytest.approx(expected, abs=1e-11)
    assert (actual <= entropies(data, X, k).mean() + 1e-12).all()


@pytest.mark.parametrize(("n_classes", "k"), [(2, 3), (2, 12), (4, 3), (6, 5)])
def test_a_conditional_is_the_share_after_pinning(n_classes: int, k: int) -> None:
    data, X = instance([6, n_classes, k], 350, n_classes, uniform=False)
    rng = np.random.default_rng(6)
    for t in X[:2]:
        given = conditional_shares(data, t, k)
        for row in rng.choice(data.dirty_rows, size=20, replace=False):
            for number in range(data.candidate_counts[row]):
                expected = world_shares(data.pin(row, number), [t], k)[0]
                assert given[row][number] == pytest.approx(expected, abs=1e-12)


# -- pinning ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_classes", "k"), [(2, 3), (3, 2), (5, 4)])
def test_pinning_only_narrows_down(n_classes: int, k: int) -> None:
    rng = np.random.default_rng([7, n_classes])
    data, _ = instance([7, n_classes, k], 200, n_classes)
    X = rng.normal(size=(60, 2))
    before = possible_labels(data, X, k)
    seen = [before.sum()]
    for row in rng.permutation(data.dirty_rows):
        data = data.pin(row, int(rng.integers(data.candidate_counts[row])))
        after = possible_labels(data, X, k)
        assert not (after & ~before).any()
        assert not (is_certain(data, X, k) < (before.sum(axis=1) == 1)).any()
        before = after
        seen.append(before.sum())
    assert seen[-1] == len(X) < seen[0]
    assert data.n_worlds == 1


# -- many classes ----------------------------------------------------------------------------------


def test_a_hundred_classes_and_ten_neighbours() -> None:
    data, X = instance(19, 520, 100, uniform=False)
    X, k = X[[0, 5]], 10
    assert data.n_classes == 100
    possible = possible_labels(data, X, k)
    shares = world_shares(data, X, k)
    counts = world_counts(data, X[:1], k)
    assert (possible[:1] == (counts > 0)).all()
    assert ((shares > 0) == possible).all()
    assert possible.sum(axis=1).max() > 5
    assert shares.sum(axis=1) == pytest.approx(np.ones(2), abs=1e-14)
    assert counts.sum() == data.n_worlds
    uniform = IncompleteDataset(*pieces(data)[:2])
    exact = [float(Fraction(count, data.n_worlds)) for count in counts[0]]
    assert world_shares(uniform, X[:1], k)[0] == pytest.approx(exact, rel=1e-10, abs=0.0)
    after = expected_entropies(data, X[:1], k)
    now = entropies(data, X[:1], k)[0]
    assert now == pytest.approx(-sum(p * math.log(p) for p in shares[0] if p > 0), abs=1e-12)
    assert (after <= now + 1e-12).all()
    assert after.min() < now - 1e-4
    row = int(after.argmin())
    pinned = [
        entropies(data.pin(row, number), X[:1], k)[0]
        for number in range(data.candidate_counts[row])
    ]
    assert after[row] == pytest.approx(data.prior(row) @ pinned, abs=1e-11)
    given = conditional_shares(data, X[0], k)
    for row in data.dirty_rows:
        assert data.prior(row) @ given[row] == pytest.approx(shares[0], abs=1e-12)


def test_a_class_a_row() -> None:
    rng = np.random.default_rng(20)
    data = IncompleteDataset(rng.normal(size=(130, 2, 2)), rng.permutation(130))
    X = rng.normal(size=(2, 2))
    # All votes are 1: the smallest class among the K nearest wins.
    for k in (1, 5):
        counts = world_counts(data, X, k)
        expected = [[float(Fraction(count, 2**130)) for count in row] for row in counts]
        assert counts.sum(axis=1).tolist() == [2**130] * 2
        assert world_shares(data, X, k) == pytest.approx(np.array(expected), rel=1e-10, abs=0.0)
    few = IncompleteDataset(rng.normal(size=(30, 2, 2)), rng.permutation(30))
    assert tuple(world_counts(few, X[:1], 3)[0]) == reference.ss_dc_mc(few, X[0], 3)
