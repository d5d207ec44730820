"""Rows that are represented by draws: shares right on average, certainty exact or sound."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from slow_cases import parts, rest_slow
from strategies import Case, random_case, random_factored_case, sweep

from cpclean import (
    Cell,
    FactoredRow,
    IncompleteDataset,
    conditional_shares,
    entropies,
    expected_entropies,
    is_certain,
    possible_labels,
    world_counts,
    world_shares,
)
from cpclean.data.drawing import Drawing
from cpclean.errors import QueryError
from cpclean.queries.geometry import ask
from cpclean.queries.look import look
from cpclean.queries.model import Model
from cpclean.queries.shares import share_errors

METRICS = ("euclidean", "manhattan", "chebyshev", "linear", "hamming", "cosine")


def redrawn(data: IncompleteDataset, max_exact: int, seed: int = 0, n_draws: int = 64) -> Any:
    return IncompleteDataset.from_arrays(
        data.arrays, data.codes, data.classes, Drawing(max_exact, n_draws, seed)
    )


# -- certainty -------------------------------------------------------------------------------------


def check_certainty(case: Case) -> None:
    exact = redrawn(case.dataset(), 10**6)
    drawn = redrawn(case.dataset(), 1)
    asked = (case.X, case.n_neighbors, case.metric)
    if callable(case.metric) and not drawn.is_exact:
        with pytest.raises(QueryError, match="metric that is a function"):
            is_certain(drawn, *asked)
        return
    expected, found = possible_labels(exact, *asked), possible_labels(drawn, *asked)
    certain = is_certain(drawn, *asked)
    assert (certain == (found.sum(axis=1) == 1)).all()
    if case.metric == "cosine":  # bounds: what is excluded is impossible
        assert (found >= expected).all()
    else:
        assert (found == expected).all()
    assert (world_shares(drawn, *asked)[~found] == 0.0).all()
    query = ask(drawn, case.X, Model(case.n_neighbors, case.metric))
    looks = look(query)
    of_vectors = np.concatenate([one.certain for one in looks])
    assert (of_vectors[query.points.vector] == certain).all()


@pytest.mark.parametrize("make", [random_case, random_factored_case])
def test_certainty_of_drawn_rows_is_that_of_all_candidates(make: Any) -> None:
    for case in sweep(80, seed=13, make=make):
        check_certainty(case)


@pytest.mark.slow
@pytest.mark.parametrize("start", parts(range(20, 28), 4))
def test_certainty_in_many_more_cases(start: int) -> None:
    for make in (random_case, random_factored_case):
        for case in sweep(500, seed=start, make=make):
            check_certainty(case)


def long_cells(rng: np.random.Generator, width: int) -> IncompleteDataset:
    """Rows with cells of many values, sorted or not, on a grid full of ties."""
    rows: list[Any] = []
    for _ in range(int(rng.integers(4, 8))):
        base = rng.integers(-3, 4, size=width).astype(float)
        cells = []
        for column in rng.choice(width, size=int(rng.integers(0, 3)), replace=False):
            values = rng.integers(-6, 7, size=int(rng.integers(15, 40))) / 2
            values = np.sort(values) if rng.random() < 0.7 else values
            cells.append(Cell(int(column), values))
        rows.append(FactoredRow(base, cells))
    return IncompleteDataset(rows, [0, 1, *rng.integers(0, 3, size=len(rows) - 2).tolist()])


def check_long_cells(seed: int) -> None:
    rng = np.random.default_rng(seed)
    width = int(rng.integers(2, 5))
    data = long_cells(rng, width)
    X = rng.integers(-6, 7, size=(4, width)) / 2
    for metric in METRICS:
        k = int(rng.integers(1, data.n_rows + 1))
        expected = possible_labels(data.expanded(), X, k, metric)
        assert (possible_labels(data, X, k, metric) == expected).all()
        found = possible_labels(redrawn(data, 20), X, k, metric)
        assert (found >= expected).all() if metric == "cosine" else (found == expected).all()


def test_cells_of_many_values() -> None:
    for seed in range(25):
        check_long_cells(seed)


@pytest.mark.slow
def test_many_more_cells_of_many_values() -> None:
    for seed in parts(range(1000, 3000), 250):
        check_long_cells(seed)


def one_hot_rows(rng: np.random.Generator, n_rows: int, groups: list[int]) -> list[Any]:
    starts = np.cumsum([0, *groups])
    rows = []
    for _ in range(n_rows):
        base = np.concatenate([np.eye(size)[rng.integers(size)] for size in groups])
        cells = [
            Cell(range(starts[g], starts[g + 1]), np.eye(size)[rng.permutation(size)[:6]])
            for g, size in enumerate(groups)
            if rng.random() < 0.5
        ]
        rows.append(FactoredRow(base, cells))
    return rows


@pytest.mark.parametrize("metric", METRICS)
def test_wide_one_hot_tables(metric: str) -> None:
    rng = np.random.default_rng(4)
    groups = [20, 1, 15]
    data = IncompleteDataset(one_hot_rows(rng, 12, groups), [0, 1, 2] * 4)
    X = np.stack([row.base for row in one_hot_rows(rng, 15, groups)])
    X[3] = 0.0
    for k in (1, 3, 5):
        expected = possible_labels(data.expanded(), X, k, metric)
        assert (possible_labels(data, X, k, metric) == expected).all()
        found = possible_labels(redrawn(data, 3), X, k, metric)
        assert (found >= expected).all() if metric == "cosine" else (found == expected).all()


def test_cosine_of_rows_with_any_number_of_candidates() -> None:
    """Sound, and it ends: dots and norms of 5^20 candidates are never all looked at."""
    cells = [Cell(column, [0.9, 0.95, 1.0, 1.05, 1.1]) for column in range(20)]
    row = FactoredRow([0.0] * 20, cells)
    other = FactoredRow([0.0] * 20, [Cell(0, [-1.0, 1.0])])
    data = IncompleteDataset([row, row, -np.ones(20), other], ["a", "a", "b", "b"])
    assert data.drawn_rows.tolist() == [0, 1]
    X = np.stack([np.ones(20), -np.ones(20), np.eye(20)[0]])
    found = possible_labels(data, X, 1, "cosine")
    assert found.tolist() == [[True, False], [False, True], [True, True]]
    assert is_certain(data, X, 1, "cosine").tolist() == [True, True, False]
    assert world_shares(data, X, 1, "cosine")[:2].tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_zero_vectors_among_many_candidates_under_cosine() -> None:
    rng = np.random.default_rng(8)
    for _ in range(60):
        cells = [Cell(column, rng.integers(-1, 2, size=3).astype(float)) for column in range(3)]
        rows = [FactoredRow([0.0] * 3, cells), *rng.integers(-1, 2, size=(4, 3)).astype(float)]
        data = IncompleteDataset(rows, [0, 1, 2, 0, 1])
        X = rng.integers(-1, 2, size=(5, 3)).astype(float)
        exact = possible_labels(data, X, 2, "cosine")
        assert (possible_labels(redrawn(data, 2), X, 2, "cosine") >= exact).all()


# -- shares ----------------------------------------------------------------------------------------


def both_ways(n_classes: int, seed: int) -> tuple[IncompleteDataset, np.ndarray]:
    """Rows of 27 candidates, of two and of one, with priors that have zeros."""
    rng = np.random.default_rng([seed, n_classes])
    rows: list[Any] = []
    for number in range(9):
        base = rng.integers(0, 4, size=3) + 0.125 * rng.random(3)
        cells = []
        for column in range((3, 1, 0)[number % 3]):
            weights = rng.choice([0.0, 1.0, 2.0, 5.0], size=3)
            weights[rng.integers(3)] += 1.0
            values = rng.integers(0, 4, size=3).astype(float)
            cells.append(Cell(column, values, weights / weights.sum()))
        rows.append(FactoredRow(base, cells))
    labels = [*range(n_classes), *rng.integers(0, n_classes, size=9 - n_classes).tolist()]
    return IncompleteDataset(rows, rng.permutation(labels)), rng.integers(0, 4, size=(3, 3)) + 0.5


def assert_near(found: np.ndarray, exact: np.ndarray) -> None:
    """The mean over the first axis is within 4 of its standard errors of the exact value."""
    error = found.std(axis=0, ddof=1) / math.sqrt(len(found))
    assert (np.abs(found.mean(axis=0) - exact) <= 4 * error + 1e-12).all()


@pytest.mark.parametrize("n_classes", rest_slow([2, 3, 4, 5], 2))
def test_shares_are_right_on_average(n_classes: int) -> None:
    n_seeds = 200
    data, X = both_ways(n_classes, 1)
    drawn = [redrawn(data, 4, seed, n_draws=6) for seed in range(n_seeds)]
    assert drawn[0].drawn_rows.tolist() == [0, 3, 6]
    for k in (1, 4):
        exact = world_shares(data, X, k)
        found = np.stack([world_shares(one, X, k) for one in drawn])
        assert_near(found, exact)
        assert (found.std(axis=0)[(exact > 0.01) & (exact < 0.99)] > 0).all()
    # Given what is true of a row that is not drawn, and on average given that of a drawn one.
    wanted = conditional_shares(data, X[0], 3)
    given = [conditional_shares(one, X[0], 3) for one in drawn]
    for row in range(data.n_rows):
        if row % 3:
            assert_near(np.stack([one[row] for one in given]), wanted[row])
        else:
            assert all(one[row].shape == (6, n_classes) for one in given)
            mean = np.stack([one[row].mean(axis=0) for one in given])
            assert_near(mean, data.prior(row) @ wanted[row])


def test_more_draws_come_nearer() -> None:
    data, X = both_ways(3, 2)
    exact = world_shares(data, X, 3)
    off = {}
    for n_draws in (4, 64):
        found = [world_shares(redrawn(data, 4, seed, n_draws), X, 3) for seed in range(40)]
        off[n_draws] = np.abs(np.stack(found) - exact).mean()
    assert off[64] < off[4] / 3


@pytest.mark.parametrize("k", [1, 3])
def test_errors_are_estimated_in_size(k: int) -> None:
    """Over many seeds, the estimate is about as large as the error, and rather too large."""
    data, X = both_ways(2, 3)
    exact = world_shares(data, X, k)
    errors, estimates = [], []
    for seed in range(100):
        one = redrawn(data, 4, seed, n_draws=16)
        errors.append(world_shares(one, X, k) - exact)
        estimates.append(share_errors(one, X, k))
    size, estimate = (np.sqrt(np.mean(np.square(given))) for given in (errors, estimates))
    assert size > 0.005
    assert 0.8 * size < estimate < 2.0 * size
    assert (share_errors(data, X, k) == 0.0).all()


def test_shares_of_a_row_known_in_part() -> None:
    """What is known later gives the shares of data in which it was known from the start."""
    data, X = both_ways(3, 5)
    later = redrawn(data, 4)
    world_shares(later, X, 3)  # draws are made, and must not be kept as they are
    known = {0: {1: 2.0}, 3: {0: 1.0, 2: 9.0}}
    at_once = data
    for row, cells in known.items():
        later, at_once = later.given(row, cells), at_once.given(row, cells)
    at_once = redrawn(at_once, 4)
    for ask_of in (world_shares, entropies, share_errors):
        assert ask_of(later, X, 3) == pytest.approx(ask_of(at_once, X, 3), abs=1e-15)
    assert expected_entropies(later, X, 3) == pytest.approx(
        expected_entropies(at_once, X, 3), abs=1e-15
    )
    assert world_shares(later.unpin(0).unpin(3), X, 3).tolist() == (
        world_shares(redrawn(data, 4), X, 3).tolist()
    )


# -- what is refused -------------------------------------------------------------------------------


def huge(n_cells: int) -> IncompleteDataset:
    row = FactoredRow([0.0] * n_cells, [Cell(column, range(5)) for column in range(n_cells)])
    return IncompleteDataset([row, np.ones(n_cells), row], [0, 1, 1])


def test_counting_says_what_it_would_cost() -> None:
    message = (
        r"candidates: 3,906,250 of them for every point, in row 0 with 1,953,125 candidates, row 2 "
        r"with 1,953,125 candidates\. world_shares estimates .* with max_exact=1953125 these rows "
        r"would be counted, in time and memory"
    )
    with pytest.raises(QueryError, match=message) as caught:
        world_counts(huge(9), [[0.0] * 9], 1)
    assert caught.value.field == "max_exact"
    for n_cells in (30, 7000):  # 5^7000 has more digits than Python prints
        with pytest.raises(QueryError, match=r"of them for every point.*no computer goes through"):
            world_counts(huge(n_cells), [[0.0] * n_cells], 1)


def test_raising_the_limit_counts() -> None:
    data, X = both_ways(3, 6)
    with pytest.raises(QueryError, match="max_exact=27 these rows would be counted"):
        world_counts(redrawn(data, 26), X, 3)
    counted = world_counts(redrawn(data, 27), X, 3)
    assert (counted.sum(axis=1) == data.n_worlds).all()


def test_distances_to_all_candidates_are_not_given() -> None:
    data = huge(9)
    with pytest.raises(QueryError, match=r"row 0, 2 has more than 390,625 \(max_exact\)"):
        is_certain(data, [[0.0] * 9], 1, lambda x, t: float(np.abs(x - t).sum()))
    # Shares are taken of the draws, which can be measured.
    shares = world_shares(data, [[2.0] * 9], 1, lambda x, t: float(np.abs(x - t).sum()))
    assert shares.tolist() == world_shares(data, [[2.0] * 9], 1, "manhattan").tolist()
