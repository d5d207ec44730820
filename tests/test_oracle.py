"""The oracle itself, against answers worked out by hand."""

from __future__ import annotations

import ast
import math
import sys
from fractions import Fraction
from pathlib import Path

import oracle
import pytest
from strategies import random_case, random_factored_case, sweep

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)


def test_it_imports_nothing_but_the_standard_library() -> None:
    tree = ast.parse(Path(oracle.__file__).read_text(encoding="utf-8"))
    imported = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported |= {name.name.split(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add((node.module or "").split(".")[0])
    assert imported
    assert imported <= set(sys.stdlib_module_names)


# -- distances -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("euclidean", 4.0 + 9.0 + 1.0),
        ("rbf", 4.0 + 9.0 + 1.0),
        ("manhattan", 6.0),
        ("chebyshev", 3.0),
        ("hamming", 3.0),
        ("linear", -(3.0 - 2.0 + 0.0)),
        ("cosine", -1.0 / 10.0),
        (lambda x, t: 10 * x[0] + t[1], 32.0),
    ],
)
def test_distance(metric: oracle.Metric, expected: float) -> None:
    assert oracle.distance([3.0, -1.0, 0.0], [1.0, 2.0, 1.0], metric) == expected


def test_cosine_orders_by_angle_and_not_by_length() -> None:
    t = [1.0, 0.0]
    similar = [[5.0, 0.0], [3.0, 3.0], [1.0, 1.0], [0.0, 2.0], [0.0, 0.0], [-1.0, 2.0], [-2.0, 0.0]]
    far = [oracle.distance(x, t, "cosine") for x in similar]
    assert far == sorted(far)
    assert far[1] == far[2]  # the same direction
    assert far[3] == far[4] == 0.0  # a right angle, and no direction at all
    assert oracle.distance([3.0, 3.0], [0.0, 0.0], "cosine") == 0.0
    cosines = [(x[0] * t[0] + x[1] * t[1]) / math.hypot(*x) if any(x) else 0.0 for x in similar]
    assert cosines == pytest.approx(sorted(cosines, reverse=True))


def test_an_unknown_metric_is_refused() -> None:
    with pytest.raises(ValueError, match="no metric 'hemming'"):
        oracle.distance([0.0], [1.0], "hemming")


# -- counts ----------------------------------------------------------------------------------


def test_the_paper_s_example() -> None:
    # Section 3.1.2: six candidates from least to most similar x11 x21 x22 x31 x12 x32,
    # labels 1, 1, 0. Label 0 wins 2 + 4 of the eight worlds, label 1 wins 2.
    candidates = [[[6.0], [2.0]], [[5.0], [4.0]], [[3.0], [1.0]]]
    question = (candidates, [1, 1, 0], 2, None, [0.0], 1)
    assert oracle.world_counts(*question) == [6, 2]
    assert oracle.world_shares(*question) == [Fraction(3, 4), Fraction(1, 4)]
    assert oracle.possible_labels(*question) == [True, True]


def test_at_equal_distances_the_smaller_row_is_nearer() -> None:
    # Rows 0 and 1 are both at distance 1 when row 1 is at -1; row 0 then comes first.
    candidates = [[[1.0]], [[-1.0], [0.5]]]
    assert oracle.world_counts(candidates, [1, 0], 2, None, [0.0], 1) == [1, 1]
    assert oracle.world_counts(candidates[::-1], [0, 1], 2, None, [0.0], 1) == [2, 0]


def test_at_equal_votes_the_smaller_class_wins() -> None:
    # K = 2: one vote each for classes 1 and 2, or for 1 and 0.
    candidates = [[[1.0]], [[2.0], [4.0]], [[3.0]]]
    assert oracle.world_counts(candidates, [1, 2, 0], 3, None, [0.0], 2) == [1, 1, 0]


def test_with_k_equal_to_n_every_world_predicts_the_majority() -> None:
    candidates = [[[1.0], [9.0]], [[2.0], [0.0], [5.0]], [[7.0], [3.0]]]
    assert oracle.world_counts(candidates, [0, 1, 1], 2, None, [0.0], 3) == [0, 12]
    assert oracle.possible_labels(candidates, [0, 1, 1], 2, None, [0.0], 3) == [False, True]
    assert oracle.possible_labels(candidates, [0, 1, 1], 2, None, [0.0], 1) == [True, True]


def test_a_class_without_rows_is_never_predicted() -> None:
    assert oracle.world_counts([[[1.0], [2.0]]], [1], 3, None, [0.0], 1) == [0, 2, 0]


def test_repeated_candidates_are_worlds_of_their_own() -> None:
    candidates = [[[1.0], [1.0], [3.0]], [[2.0]]]
    assert oracle.world_counts(candidates, [0, 1], 2, None, [0.0], 1) == [2, 1]


# -- priors, conditionals, entropy -----------------------------------------------------------

# Row 0 (class 0) is nearest at 1.0, second at 3.0, last at 6.0; row 1 (class 1) is at 2.0 or 4.0.
RACE = [[[1.0], [3.0], [6.0]], [[2.0], [4.0]]]


def test_shares_weigh_worlds_by_their_prior() -> None:
    priors = [[0.5, 0.25, 0.25], [0.125, 0.875]]
    # Class 0: row 0 at 1.0, or at 3.0 while row 1 is at 4.0.
    expected = Fraction(1, 2) + Fraction(1, 4) * Fraction(7, 8)
    assert oracle.world_shares(RACE, [0, 1], 2, priors, [0.0], 1) == [expected, 1 - expected]
    assert oracle.world_counts(RACE, [0, 1], 2, priors, [0.0], 1) == [3, 3]


def test_worlds_of_prior_zero_count_as_possible_but_have_no_share() -> None:
    priors = [[0.0, 0.0, 1.0], None]
    assert oracle.world_shares(RACE, [0, 1], 2, priors, [0.0], 1) == [0, 1]
    assert oracle.possible_labels(RACE, [0, 1], 2, priors, [0.0], 1) == [True, True]
    assert oracle.world_counts(RACE, [0, 1], 2, priors, [0.0], 1) == [3, 3]


def test_conditional_shares_also_of_choices_that_have_prior_zero() -> None:
    priors = [[0.0, 0.5, 0.5], [0.25, 0.75]]
    assert oracle.conditional_shares(RACE, [0, 1], 2, priors, [0.0], 1) == [
        [[1, 0], [Fraction(3, 4), Fraction(1, 4)], [0, 1]],
        [[0, 1], [HALF, HALF]],
    ]


def test_floats_that_sum_to_one_only_nearly_are_put_right_exactly() -> None:
    thirds = [[1 / 3, 1 / 3, 1 / 3], None]
    assert oracle.world_shares(RACE, [0, 1], 2, thirds, [0.0], 1) == [HALF, HALF]
    assert sum(oracle.world_shares(RACE, [0, 1], 2, [[0.1, 0.2, 0.7], None], [0.0], 1)) == 1


def test_entropy() -> None:
    assert oracle.entropy([1, 0]) == 0.0
    assert oracle.entropy([HALF, HALF]) == pytest.approx(math.log(2), rel=1e-15)
    assert oracle.entropy([THIRD, THIRD, THIRD]) == pytest.approx(math.log(3), rel=1e-15)
    assert oracle.entropy([0.25, 0.75]) == pytest.approx(2 * math.log(2) - 0.75 * math.log(3))
    # 1 - 1e-30 is 1.0 as a float: its term, 1e-30, survives only in exact numbers.
    tiny = Fraction(1, 10**30)
    assert oracle.entropy([tiny, 1 - tiny]) == pytest.approx(1e-30 * (1 + math.log(1e30)))


def test_entropy_is_over_worlds_not_rows() -> None:
    # Slip 8: counts are divided by the number of worlds (6), not of rows (2).
    counts = oracle.world_counts(RACE, [0, 1], 2, None, [0.0], 1)
    shares = oracle.world_shares(RACE, [0, 1], 2, None, [0.0], 1)
    assert shares == [Fraction(count, 6) for count in counts]
    assert oracle.entropy(shares) == pytest.approx(math.log(2))
    assert sum(Fraction(count, 2) for count in counts) != 1


def test_expected_entropy() -> None:
    priors = [[0.0, 0.5, 0.5], [0.25, 0.75]]
    first, second = oracle.expected_entropy(RACE, [0, 1], 2, priors, [0.0], 1)
    assert first == pytest.approx(0.5 * oracle.entropy([0.75, 0.25]), rel=1e-14)
    assert second == pytest.approx(0.75 * math.log(2), rel=1e-14)


# -- what must hold of any case ----------------------------------------------------------------


@pytest.mark.parametrize("make", [random_case, random_factored_case])
def test_answers_agree_with_each_other(make: object) -> None:
    for case in sweep(150, seed=11, make=make):
        for t in case.X[:1]:
            worlds = oracle.Worlds(*case.question(t))
            counts, shares = worlds.counts(), worlds.shares()
            assert sum(counts) == case.n_worlds
            assert sum(shares) == 1
            if case.priors is None:
                assert shares == [Fraction(count, case.n_worlds) for count in counts]
            conditional = worlds.conditional_shares()
            for i, weights in enumerate(worlds.weights):
                for label in range(case.n_classes):
                    mixed = sum(
                        Fraction(weight, sum(weights)) * conditional[i][j][label]
                        for j, weight in enumerate(weights)
                    )
                    assert mixed == shares[label]
            expected = worlds.expected_entropy()
            assert max(expected) <= oracle.entropy(shares) + 1e-12


def test_a_conditional_share_is_the_share_of_the_pinned_data() -> None:
    for case in sweep(100, seed=12):
        t = case.X[0]
        actual = oracle.conditional_shares(*case.question(t))
        candidates, codes, n_classes, priors, *rest = case.question(t)
        for i, row in enumerate(candidates):
            for j, candidate in enumerate(row):
                pinned = [*candidates[:i], [candidate], *candidates[i + 1 :]]
                left = None if priors is None else [*priors[:i], None, *priors[i + 1 :]]
                expected = oracle.world_shares(pinned, codes, n_classes, left, *rest)
                assert actual[i][j] == expected
