"""Every query in exact arithmetic: priors down to the smallest float, and up to 160 rows.

Small cases are compared with brute force, large ones with a dynamic program in whole numbers.
`pytest -m slow` runs a part of the sweeps, CPCLEAN_SWEEP=all all of them.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random

import numpy as np
import oracle
import pytest
import whole_numbers
from slow_cases import parts
from strategies import METRICS, Case, awkward_prior, lopsided, random_case, sweep

from cpclean import (
    IncompleteDataset,
    conditional_shares,
    expected_entropies,
    is_certain,
    possible_labels,
    world_counts,
    world_shares,
)

RELATIVE = Fraction(1, 10**10)
ABSOLUTE = 1e-12
LOST = Fraction(1e-290)  # below, floats lose digits


def awkward_case(rng: Random) -> Case:
    """A small case of plain rows with awkward priors."""
    case = random_case(rng)
    return replace(case, priors=[awkward_prior(rng, len(row)) for row in case.candidates])


def large_case(rng: Random) -> Case:
    """A case of more worlds than anyone can go through, full of ties."""
    n_rows = rng.choice([8, 12, 20, 35, 60, 100, 160])
    width, grid = rng.randint(1, 3), rng.choice([2, 4, 12, 50])
    n_classes = rng.choice([2, 2, 3, 4, 6, 12])
    dirty, most = rng.random(), rng.choice([2, 3, 5])

    def vector() -> list[float]:
        return [rng.randint(-grid, grid) / 4.0 for _ in range(width)]

    candidates = [
        [vector() for _ in range(rng.randint(2, most) if rng.random() < dirty else 1)]
        for _ in range(n_rows)
    ]
    kind = rng.choice(["none", "dyadic", "ordinary", "awkward"])
    priors = None if kind == "none" else [prior_of(rng, kind, len(row)) for row in candidates]
    labels = [rng.randrange(n_classes) for _ in candidates]
    k = rng.randint(1, min(n_rows, rng.choice([3, 10, 30])))
    return Case(candidates, labels, priors, [vector()], k, rng.choice([*METRICS, lopsided]))


def prior_of(rng: Random, kind: str, size: int) -> list[float]:
    if kind == "awkward":
        return awkward_prior(rng, size)
    if kind == "dyadic":
        cuts = sorted(rng.randint(0, 1024) for _ in range(size - 1))
        return [(b - a) / 1024 for a, b in zip([0, *cuts], [*cuts, 1024], strict=True)]
    weights = [rng.random() for _ in range(size)]
    return [weight / sum(weights) for weight in weights]


def assert_shares(actual: np.ndarray, exact: list[Fraction], case: Case) -> None:
    for share, wanted in zip(actual.tolist(), exact, strict=True):
        off = abs(Fraction(share) - wanted)
        assert off <= RELATIVE * max(wanted, LOST), (share, float(wanted), case)


def assert_given(actual: np.ndarray, exact: list[Fraction], case: Case) -> None:
    wanted = [float(share) for share in exact]
    assert np.abs(actual - wanted).max() <= ABSOLUTE, (actual, wanted, case)


# -- small cases, against brute force --------------------------------------------------------------


def check_small(case: Case) -> None:
    data, asked = case.dataset(), (case.n_neighbors, case.metric)
    worlds = [oracle.Worlds(*case.question(t)) for t in case.X]
    assert possible_labels(data, case.X, *asked).tolist() == [one.possible() for one in worlds]
    shares = world_shares(data, case.X, *asked)
    for point, (t, one) in enumerate(zip(case.X, worlds, strict=True)):
        assert_shares(shares[point], one.shares(), case)
        given = conditional_shares(data, t, *asked)
        for actual, exact in zip(given, one.conditional_shares(), strict=True):
            for candidate, wanted in zip(actual, exact, strict=True):
                assert_given(candidate, wanted, case)
    wanted = np.mean([one.expected_entropy() for one in worlds], axis=0)
    assert np.abs(expected_entropies(data, case.X, *asked) - wanted).max() <= 1e-11, case


@pytest.mark.nojit
def test_priors_down_to_the_smallest_float() -> None:
    for case in sweep(100, 30, awkward_case):
        check_small(case)


SMALL = [(seed, 300) for seed in range(31, 41)]


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "n_cases"), parts(SMALL, 1))
def test_many_priors_down_to_the_smallest_float(seed: int, n_cases: int) -> None:
    for case in sweep(n_cases, seed, awkward_case):
        check_small(case)


@pytest.mark.parametrize("rarest", [5e-324, 1e-323, 1e-310, 2.0**-1022, 1e-290, 1e-280, 0.0])
def test_given_the_rarest_candidate_nothing_is_passed_over(rarest: float) -> None:
    # Undecided once the second row is at 2: worlds of the mass rarest / 2, which is 0 as a float.
    # Given that the first row is at 3, it is another one that decides half of them.
    rows = [[[1.0], [3.0]], [[2.0], [4.0]], [[2.5], [5.0]]]
    for labels in ([0, 1, 1], [0, 1, 2]):
        data = IncompleteDataset(rows, labels, [[1.0, rarest], None, None])
        first, second, _ = conditional_shares(data, [0.0], 1)
        rest = [0.75] if max(labels) == 1 else [0.5, 0.25]
        assert first.tolist() == [[1.0] + [0.0] * len(rest), [0.25, *rest]]
        assert (second[:, 0] == 1.0).all()


# -- large cases, against whole numbers ------------------------------------------------------------


def check_large(case: Case, rng: Random) -> None:
    data, asked = case.dataset(), (case.n_neighbors, case.metric)
    (t,) = case.X
    question = case.question(t)
    exact = whole_numbers.world_shares(*question)
    assert_shares(world_shares(data, case.X, *asked)[0], exact, case)
    uniform = exact
    if case.priors is not None:
        uniform = whole_numbers.world_shares(*question[:3], None, *question[4:])
    counts = [share * data.n_worlds for share in uniform]
    assert world_counts(data, case.X, *asked)[0].tolist() == counts, case
    assert possible_labels(data, case.X, *asked)[0].tolist() == [count > 0 for count in counts]
    assert is_certain(data, case.X, *asked)[0] == (max(uniform) == 1)
    given = conditional_shares(data, t, *asked)
    sizes = [len(row) for row in case.candidates]
    expected = expected_entropies(data, case.X, *asked)
    row = rng.choice([row for row, size in enumerate(sizes) if size > 1] or [0])
    entropies = []
    for candidate in range(sizes[row]):
        priors = whole_numbers.pinned(case.priors, sizes, row, candidate)
        wanted = whole_numbers.world_shares(*question[:3], priors, *question[4:])
        assert_given(given[row][candidate], wanted, case)
        entropies.append(oracle.entropy(wanted))
    assert expected[row] == pytest.approx(data.prior(row) @ entropies, abs=1e-11)


def test_whole_numbers_are_the_oracle_s() -> None:
    for case in [*sweep(60, 40), *sweep(60, 41, awkward_case)]:
        for t in case.X:
            question = case.question(t)
            assert whole_numbers.world_shares(*question) == oracle.world_shares(*question)


def test_up_to_160_rows() -> None:
    for number, case in enumerate(sweep(12, 42, large_case)):
        check_large(case, Random(number))


LARGE = [(seed, 10) for seed in range(44, 144)]


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "n_cases"), parts(LARGE, 2))
def test_many_cases_of_up_to_160_rows(seed: int, n_cases: int) -> None:
    for number, case in enumerate(sweep(n_cases, seed, large_case)):
        check_large(case, Random(number))


def test_the_large_cases_meet_what_they_should() -> None:
    cases = [case for seed, n_cases in LARGE[:26] for case in sweep(n_cases, seed, large_case)]
    assert {case.metric for case in cases} == {*METRICS, lopsided}
    assert sum(case.n_classes > 2 and case.n_neighbors > 8 for case in cases) > 20
    assert sum(len(case.labels) == 160 for case in cases) > 20
    assert max(case.n_neighbors for case in cases) == 30
