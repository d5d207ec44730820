"""Conditionals and expected entropies: by hand, against pinning, at awkward priors."""

from __future__ import annotations

import math

import numpy as np
import oracle
import pytest

from cpclean import (
    Cell,
    FactoredRow,
    IncompleteDataset,
    conditional_shares,
    entropies,
    expected_entropies,
    world_shares,
)

RACE = [[[1.0], [3.0], [6.0]], [[2.0], [4.0]]]


def by_pinning(data: IncompleteDataset, t: object, k: int, metric: str) -> list[np.ndarray]:
    return [
        np.array(
            [
                world_shares(data.pin(row, number), [t], k, metric)[0]
                for number in range(data.candidate_counts[row])
            ]
        )
        for row in range(data.n_rows)
    ]


def expected_by_pinning(data: IncompleteDataset, X: np.ndarray, k: int, metric: str) -> list[float]:
    return [
        math.fsum(
            weight * entropies(data.pin(row, number), X, k, metric).mean()
            for number, weight in enumerate(data.prior(row))
        )
        for row in range(data.n_rows)
    ]


# -- by hand ---------------------------------------------------------------------------------------


def test_conditionals_by_hand() -> None:
    data = IncompleteDataset(RACE, [0, 1], [[0.0, 0.5, 0.5], [0.25, 0.75]])
    first, second = conditional_shares(data, [0.0], 1)
    assert first == pytest.approx(np.array([[1.0, 0.0], [0.75, 0.25], [0.0, 1.0]]), abs=1e-15)
    assert second == pytest.approx(np.array([[0.0, 1.0], [0.5, 0.5]]), abs=1e-15)


def test_expected_entropies_by_hand() -> None:
    data = IncompleteDataset(RACE, [0, 1], [[0.0, 0.5, 0.5], [0.25, 0.75]])
    expected = [0.5 * oracle.entropy([0.75, 0.25]), 0.75 * math.log(2)]
    assert expected_entropies(data, [[0.0]], 1) == pytest.approx(expected, rel=1e-14)


def test_shapes_and_types() -> None:
    rows = [[[1.0], [2.0], [7.0]], [3.0], FactoredRow([0.0], [Cell(0, [2.5, 3.5])]), [50.0]]
    data = IncompleteDataset(rows, ["a", "b", "c", "a"])
    given = conditional_shares(data, [0.0], 2)
    assert isinstance(given, list)
    assert [one.shape for one in given] == [(3, 3), (1, 3), (2, 3), (1, 3)]
    assert {one.dtype for one in given} == {np.dtype(np.float64)}
    gains = expected_entropies(data, [[0.0], [1.0]], 2)
    assert (gains.shape, gains.dtype) == ((4,), np.float64)


def test_three_neighbours_and_euclidean_by_default() -> None:
    rng = np.random.default_rng(1)
    data = IncompleteDataset(rng.normal(size=(12, 2, 2)), [0, 1, 2] * 4)
    t = rng.normal(size=2)
    for actual, expected in zip(
        conditional_shares(data, t), conditional_shares(data, t, 3, "euclidean"), strict=True
    ):
        assert np.array_equal(actual, expected)
    assert np.array_equal(
        expected_entropies(data, [t]), expected_entropies(data, [t], 3, "euclidean")
    )


def test_one_point_may_be_a_row_of_a_table() -> None:
    data = IncompleteDataset(RACE, [0, 1])
    flat, tabled = conditional_shares(data, [0.0], 1), conditional_shares(data, [[0.0]], 1)
    assert [one.tolist() for one in flat] == [one.tolist() for one in tabled]


def test_rows_that_do_not_matter_leave_everything_as_it_is() -> None:
    rows = [*RACE, [[50.0], [60.0]], [70.0]]
    data = IncompleteDataset(rows, [0, 1, 0, 1])
    shares = world_shares(data, [[0.0]], 1)[0]
    given = conditional_shares(data, [0.0], 1)
    assert given[2] == pytest.approx(np.array([shares, shares]), rel=1e-15)
    assert given[3] == pytest.approx(np.array([shares]), rel=1e-15)
    now = entropies(data, [[0.0]], 1)[0]
    assert expected_entropies(data, [[0.0]], 1)[2:] == pytest.approx([now, now], rel=1e-14)


def test_a_certain_point_stays_certain() -> None:
    rows = [[[1.0], [1.5]], [[2.0], [9.0]], [[3.0], [4.0]], [7.0]]
    for labels in ([0, 1, 1, 0], [0, 1, 2, 1]):
        data = IncompleteDataset(rows, labels)
        certain = (np.arange(data.n_classes) == 0).astype(float)
        assert world_shares(data, [[0.0]], 1)[0].tolist() == certain.tolist()
        for one in conditional_shares(data, [0.0], 1):
            assert (one == certain).all()
        assert expected_entropies(data, [[0.0]], 1).tolist() == [0.0] * 4


def test_clean_data_has_nothing_to_gain() -> None:
    data = IncompleteDataset([[1.0], [2.0], [3.0]], ["a", "b", "c"])
    assert [one.tolist() for one in conditional_shares(data, [0.0], 2)] == [[[1.0, 0.0, 0.0]]] * 3
    assert expected_entropies(data, [[0.0]], 2).tolist() == [0.0, 0.0, 0.0]


def test_one_class_has_nothing_to_gain() -> None:
    data = IncompleteDataset(RACE, ["a", "a"])
    assert [one.tolist() for one in conditional_shares(data, [0.0], 1)] == [
        [[1.0]] * 3,
        [[1.0]] * 2,
    ]
    assert expected_entropies(data, [[0.0]], 1).tolist() == [0.0, 0.0]


def test_the_mean_is_over_all_points_given() -> None:
    rng = np.random.default_rng(2)
    data = IncompleteDataset(rng.normal(size=(15, 3, 2)), np.arange(15) % 3)
    X = rng.normal(size=(5, 2))
    single = [expected_entropies(data, [t], 4) for t in X]
    expected = np.mean(single, axis=0)
    assert expected_entropies(data, X, 4) == pytest.approx(expected, abs=1e-14)
    repeated = np.mean([single[0]] * 3 + single[1:], axis=0)
    assert expected_entropies(data, X[[0, 1, 0, 2, 3, 4, 0]], 4) == pytest.approx(
        repeated, abs=1e-14
    )


# -- against pinning -------------------------------------------------------------------------------


PINNED = [
    # Many votes of many classes take long without the compiler, and no other way through the code.
    pytest.param(n_classes, k, marks=[] if n_classes > 2 and k > 3 else pytest.mark.nojit)
    for k in (1, 2, 3, 4, 7)
    for n_classes in (2, 3, 5)
]


@pytest.mark.parametrize(("n_classes", "k"), PINNED)
def test_a_conditional_is_the_answer_after_pinning(n_classes: int, k: int) -> None:
    rng = np.random.default_rng([3, n_classes, k])
    sizes = rng.integers(1, 5, size=14)
    candidates = [rng.integers(0, 6, size=(size, 2)).astype(float) for size in sizes]
    priors = [rng.dirichlet(np.ones(size)) for size in sizes]
    data = IncompleteDataset(candidates, np.arange(14) % n_classes, priors)
    X = rng.integers(0, 6, size=(2, 2)).astype(float)
    for t in X:
        for wanted, actual in zip(
            by_pinning(data, t, k, "manhattan"),
            conditional_shares(data, t, k, "manhattan"),
            strict=True,
        ):
            assert actual == pytest.approx(wanted, abs=1e-13)
    wanted = expected_by_pinning(data, X, k, "manhattan")
    assert expected_entropies(data, X, k, "manhattan") == pytest.approx(wanted, abs=1e-13)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_scan_that_stops_early_still_knows_every_conditional(n_classes: int) -> None:
    # 300 rows around the point, each with many candidates: the scan reads a few of them. The
    # rarest candidate has prior 1e-6, so that what is left undecided must be far smaller.
    rng = np.random.default_rng([4, n_classes])
    candidates = rng.normal(size=(300, 6, 2))
    priors = [np.r_[1e-6, np.full(5, (1 - 1e-6) / 5)]] * 300
    data = IncompleteDataset(candidates, rng.integers(0, n_classes, size=300), priors)
    t = np.zeros(2)
    actual = conditional_shares(data, t, 3)
    for row in rng.choice(300, size=25, replace=False):
        wanted = [world_shares(data.pin(row, number), [t], 3)[0] for number in range(6)]
        assert actual[row] == pytest.approx(np.array(wanted), abs=1e-12)


# -- priors of zero and next to nothing ------------------------------------------------------------


@pytest.mark.nojit
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("tiny", [0.0, 1e-300, 1e-100, 1e-17, 1e-9])
def test_conditionals_given_what_is_next_to_impossible(n_classes: int, tiny: float) -> None:
    # Given the unlikely candidates, worlds matter that weigh next to nothing.
    rng = np.random.default_rng([5, n_classes])
    candidates = [rng.integers(0, 40, size=(2, 1)).astype(float).tolist() for _ in range(9)]
    priors = [[1.0 - tiny, tiny] if i % 2 else [tiny, 1.0 - tiny] for i in range(9)]
    codes = (np.arange(9) % n_classes).tolist()
    data = IncompleteDataset(candidates, codes, priors)
    for t in ([0.0], [17.0], [31.0]):
        wanted = oracle.conditional_shares(candidates, codes, n_classes, priors, t, 3)
        actual = conditional_shares(data, t, 3)
        for one, expected in zip(actual, wanted, strict=True):
            assert one == pytest.approx(np.array(expected, dtype=float), abs=1e-12)
        wanted = oracle.expected_entropy(candidates, codes, n_classes, priors, t, 3)
        assert expected_entropies(data, [t], 3) == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_many_rows_with_candidates_of_prior_zero(n_classes: int) -> None:
    # More rows than are opened at first, all certain by prior: everything hangs on what is pinned.
    rng = np.random.default_rng([6, n_classes])
    candidates = rng.normal(size=(120, 2, 2))
    data = IncompleteDataset(
        candidates, rng.integers(0, n_classes, size=120), [[1.0, 0.0], [0.0, 1.0]] * 60
    )
    t = np.zeros(2)
    for wanted, actual in zip(
        by_pinning(data, t, 5, "euclidean"), conditional_shares(data, t, 5), strict=True
    ):
        assert actual == pytest.approx(wanted, abs=1e-13)
    # What remains of weight is a single world: no entropy now, none to expect.
    assert expected_entropies(data, [t], 5) == pytest.approx(np.zeros(120), abs=1e-12)


def test_expectations_among_many_rows_with_rare_candidates() -> None:
    # Rare candidates of near rows: a scan that stops for the mean may not know each conditional.
    rng = np.random.default_rng(8)
    rare = 10.0 ** rng.uniform(-14, -1, size=60)
    rows = rng.integers(0, 60, size=(60, 3, 1)).astype(float)
    priors = [[one, (1 - one) / 3, 2 * (1 - one) / 3] for one in rare]
    data = IncompleteDataset(rows, np.arange(60) % 2, priors)
    X = [[0.0], [29.5], [60.0]]
    for k in (3, 9):
        actual = expected_entropies(data, X, k)
        assert actual == pytest.approx(expected_by_pinning(data, X, k, "euclidean"), abs=1e-13)


def test_priors_whose_product_underflows() -> None:
    # A factored row whose rarest combination has prior 1e-400, which is no float.
    cells = [Cell(column, [0.0, 1.0], [1e-100, 1.0]) for column in range(4)]
    rows = [FactoredRow(np.zeros(4), cells), [[0.5] * 4, [0.7] * 4], [[0.6] * 4, [2.0] * 4]]
    for labels in (["a", "b", "b"], ["a", "b", "c"]):
        data = IncompleteDataset(rows, labels)
        for wanted, actual in zip(
            by_pinning(data, np.zeros(4), 1, "euclidean"),
            conditional_shares(data, np.zeros(4), 1),
            strict=True,
        ):
            assert actual == pytest.approx(wanted, abs=1e-14)


def test_what_is_expected_is_never_negative_nor_more_than_now() -> None:
    rng = np.random.default_rng(7)
    for n_classes in (2, 3, 6):
        data = IncompleteDataset(rng.normal(size=(60, 3, 2)), np.arange(60) % n_classes)
        X = rng.normal(size=(8, 2))
        for k in (1, 2, 5):
            now = entropies(data, X, k).mean()
            after = expected_entropies(data, X, k)
            assert (after >= 0.0).all()
            assert (after <= now + 1e-14).all()
            assert after.min() < now - 1e-6  # something can be learnt
