"""Every query against the oracle, on more than 20,000 small cases; the reference is a third voice.

A case holds one to three query points, and everything that can be asked about them is compared.
Part of the sweep runs by default; more is marked slow, and CPCLEAN_SWEEP=all runs all of it.
"""

from __future__ import annotations

import math
import pickle

import numpy as np
import oracle
import pytest
from hypothesis import HealthCheck, given, settings
from slow_cases import parts, rest_slow
from strategies import Case, cases, factored_cases, random_case, random_factored_case, sweep

from cpclean import (
    IncompleteDataset,
    conditional_shares,
    entropies,
    expected_entropies,
    is_certain,
    is_sure,
    possible_labels,
    verdicts,
    world_counts,
    world_shares,
)
from cpclean.queries import reference

LEVELS = (0.75, 0.95)
ROUNDING = 1e-12  # a share that misses a level by less has reached it: floats are no better
A_PART = 500  # cases in one part of the sweep

# (generator, seed): 20,500 cases; by default, short sweeps and hypothesis.
PARTS = [
    *((random_case, 1000 + part) for part in range(4)),
    *((random_factored_case, 2000 + part) for part in range(2)),
    *((random_case, 3000 + part) for part in range(22)),
    *((random_factored_case, 4000 + part) for part in range(13)),
]


def check(case: Case, data: IncompleteDataset | None = None, metric: object = None) -> None:
    """Oracle and engine on every point of a case; `data` may hold the case in another form.

    The engine may be asked with another metric than the oracle.
    """
    expected = [oracle.Worlds(*case.question(t)) for t in case.X]
    data = case.dataset() if data is None else data
    asked = {"n_neighbors": case.n_neighbors, "metric": metric or case.metric}

    counts = [worlds.counts() for worlds in expected]
    possible = [[count > 0 for count in point] for point in counts]
    assert data.n_worlds == case.n_worlds, case
    assert world_counts(data, case.X, **asked).tolist() == counts, case
    assert possible_labels(data, case.X, **asked).tolist() == possible, case
    assert is_certain(data, case.X, **asked).tolist() == [sum(row) == 1 for row in possible], case

    exact = [worlds.shares() for worlds in expected]
    shares = world_shares(data, case.X, **asked)
    for point, row in enumerate(exact):
        for label, share in enumerate(row):
            assert_share(shares[point, label], share, counts[point][label], case)
    level = LEVELS[sum(case.labels) % len(LEVELS)]
    wanted = [oracle.verdict(*both, level - ROUNDING) for both in zip(exact, counts, strict=True)]
    assert verdicts(data, case.X, **asked, level=level).tolist() == wanted, case
    sure = is_sure(data, case.X, **asked, level=level)
    assert sure.tolist() == [word != "open" for word in wanted], case
    wanted = [oracle.entropy(row) for row in exact]
    assert_close(entropies(data, case.X, **asked), wanted, 1e-12, case)

    for point, t in enumerate(case.X):
        wanted = expected[point].conditional_shares()
        actual = conditional_shares(data, t, **asked)
        assert len(actual) == len(wanted), case
        for row, by_candidate in zip(actual, wanted, strict=True):
            assert_close(row, by_candidate, 1e-12, case)
            assert (row >= 0).all(), case
            assert (row <= 1).all(), case
    wanted = np.mean([worlds.expected_entropy() for worlds in expected], axis=0)
    assert_close(expected_entropies(data, case.X, **asked), wanted, 1e-11, case)


def assert_share(actual: float, share: oracle.Fraction, count: int, case: Case) -> None:
    if count == 0:
        assert actual == 0.0, case
    elif count == case.n_worlds:
        assert actual == 1.0, case
    else:  # stronger than promised: the relative error is small below 1e-12 too
        assert math.isclose(actual, share, rel_tol=1e-10), (actual, float(share), case)


def assert_close(actual: np.ndarray, wanted: object, tolerance: float, case: Case) -> None:
    wanted = np.array(wanted, dtype=float)
    assert actual.shape == wanted.shape, case
    assert (np.abs(actual - wanted) <= tolerance).all(), (actual, wanted, case)


# -- the sweep -----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("make", "seed"), parts(PARTS, 2))
def test_sweep(make: object, seed: int) -> None:
    for case in sweep(A_PART, seed, make):
        check(case)


def test_the_sweeps_hold_enough_cases() -> None:
    assert len(set(PARTS)) == len(PARTS)
    assert len(PARTS) * A_PART >= 20_000


@pytest.mark.nojit
@pytest.mark.parametrize(("make", "seed"), [(random_case, 5000), (random_factored_case, 5001)])
def test_short_sweep(make: object, seed: int) -> None:
    for case in sweep(60, seed, make):
        check(case)


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(cases())
def test_any_case(case: Case) -> None:
    check(case)


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(factored_cases())
def test_any_factored_case(case: Case) -> None:
    check(case)


def test_the_sweep_meets_what_it_should() -> None:
    met = dict.fromkeys(
        ("ties", "uncertain", "all neighbours", "ragged", "repeated", "zero prior", "skewed prior"),
        0,
    )
    metrics, classes, neighbours = set(), set(), set()
    for case in sweep(A_PART, *PARTS[0][::-1]):
        metrics.add(case.metric)
        classes.add(case.n_classes)
        neighbours.add(case.n_neighbors)
        t = case.X[0]
        rows = [{oracle.distance(x, t, case.metric) for x in row} for row in case.candidates]
        met["ties"] += len(set().union(*rows)) < sum(map(len, rows))
        met["uncertain"] += sum(oracle.possible_labels(*case.question(t))) > 1
        met["all neighbours"] += case.n_neighbors == len(case.labels)
        met["ragged"] += len(set(map(len, case.candidates))) > 1
        met["repeated"] += any(len(row) > len(set(map(tuple, row))) for row in case.candidates)
        weights = [weight for prior in case.priors or [] for weight in prior or []]
        met["zero prior"] += 0.0 in weights
        met["skewed prior"] += any(0.0 < weight < 1e-6 for weight in weights)
    assert min(met.values()) >= 30, met
    assert len(metrics) == 8
    assert classes >= {1, 2, 3, 4, 5}
    assert neighbours >= set(range(1, 8))


# -- the same data in other forms ------------------------------------------------------------------


@pytest.mark.parametrize("seed", rest_slow([6000, 6001]))
def test_factored_rows_written_out(seed: int) -> None:
    for case in sweep(100, seed, random_factored_case):
        check(case, case.expanded_dataset())


def test_pickled_pinned_and_unpinned() -> None:
    for case in sweep(50, 6100, random_factored_case):
        data = pickle.loads(pickle.dumps(case.dataset()))
        for row in data.dirty_rows:
            data = data.pin(row, 0).unpin(row)
        check(case, data)


# -- the reference as a third voice ----------------------------------------------------------------


@pytest.mark.parametrize("make", [random_case, random_factored_case])
@pytest.mark.parametrize("seed", rest_slow(range(7000, 7004)))
def test_the_reference_agrees(make: object, seed: int) -> None:
    for case in sweep(50, seed, make):
        data = case.dataset()
        asked = {"n_neighbors": case.n_neighbors, "metric": case.metric}
        counts = world_counts(data, case.X, **asked)
        for point, t in enumerate(case.X):
            expected = oracle.world_counts(*case.question(t))
            for count in (reference.brute_force, reference.ss_dc, reference.ss_dc_mc):
                assert list(count(data, t, **asked)) == expected, case
            assert counts[point].tolist() == expected, case
            if case.n_classes <= 2:
                certain = is_certain(data, [t], **asked)[0]
                assert any(reference.mm(data, t, **asked)) == certain, case
        nearest = world_counts(data, case.X, 1, case.metric)
        for point, t in enumerate(case.X):
            assert nearest[point].tolist() == list(reference.ss_k1(data, t, case.metric)), case


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_the_reference_agrees_where_worlds_cannot_be_written_out(part: int) -> None:
    for number in range(10):
        rng = np.random.default_rng([7, part, number])
        n_rows, n_classes = int(rng.integers(10, 30)), int(rng.integers(2, 6))
        sizes = rng.integers(1, 6, size=n_rows)
        candidates = [rng.integers(-2, 3, size=(size, 2)).astype(float) for size in sizes]
        data = IncompleteDataset(candidates, rng.integers(0, n_classes, size=n_rows))
        t = rng.integers(-2, 3, size=2).astype(float)
        for k in sorted({1, 2, 3, int(rng.integers(1, n_rows + 1)), n_rows}):
            for metric in ("euclidean", "manhattan", "cosine"):
                expected = reference.ss_dc_mc(data, t, k, metric)
                assert tuple(world_counts(data, [t], k, metric)[0]) == expected
