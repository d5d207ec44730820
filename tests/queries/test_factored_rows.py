"""Factored rows against the same written out, and rows of very many combinations."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from slow_cases import rest_slow

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
from cpclean.queries import reference


def factored_instance(seed: object, n_rows: int, n_classes: int, grid: bool):
    """Rows of 3 to 5 uncertain cells beside plain and clean ones, in eight columns."""
    rng = np.random.default_rng(seed)

    def numbers(*shape: int) -> np.ndarray:
        return rng.integers(-2, 3, size=shape).astype(float) if grid else rng.normal(size=shape)

    rows, priors = [], []
    for number in range(n_rows):
        priors.append(None)
        if number % 3 == 0:
            rows.append(numbers(8))
        elif number % 3 == 1:
            rows.append(numbers(4, 8))
            priors[-1] = rng.dirichlet(np.ones(4))
        else:
            starts = np.sort(rng.choice([0, 2, 4, 5, 6], size=rng.integers(3, 6), replace=False))
            cells = []
            for start in starts:
                columns = 2 if start in (0, 2) and rng.random() < 0.7 else 1
                size = int(rng.integers(2, 4))
                values = numbers(size, columns)
                prior = rng.dirichlet(np.ones(size)) if rng.random() < 0.5 else None
                cells.append(Cell(list(range(start, start + columns)), values, prior))
            rows.append(FactoredRow(numbers(8), cells))
    X = numbers(3, 8)
    return IncompleteDataset(rows, rng.integers(0, n_classes, size=n_rows), priors), X


@pytest.mark.parametrize("grid", rest_slow([True, False]))
@pytest.mark.parametrize(
    "metric", ["euclidean", "manhattan", "chebyshev", "cosine", "linear", "hamming"]
)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_factored_rows_as_written_out(n_classes: int, metric: str, grid: bool) -> None:
    data, X = factored_instance([14, n_classes], 30, n_classes, grid)
    plain = data.expanded()
    assert data.n_worlds == plain.n_worlds > 10**15
    for k in (1, 4):
        for ask in (possible_labels, is_certain, world_counts):
            assert ask(data, X, k, metric).tolist() == ask(plain, X, k, metric).tolist()
        for ask in (world_shares, entropies, expected_entropies):
            expected = ask(plain, X, k, metric)
            assert ask(data, X, k, metric) == pytest.approx(expected, rel=1e-12, abs=1e-12)
        for actual, expected in zip(
            conditional_shares(data, X[0], k, metric),
            conditional_shares(plain, X[0], k, metric),
            strict=True,
        ):
            assert actual == pytest.approx(expected, abs=1e-12)


def test_pinning_factored_rows_as_written_out() -> None:
    data, X = factored_instance(15, 24, 3, grid=True)
    plain = data.expanded()
    rng = np.random.default_rng(15)
    for row in rng.permutation(data.dirty_rows)[:8]:
        number = int(rng.integers(data.candidate_counts[row]))
        assert data.pin(row, number).expanded() == plain.pin(row, number)
        data, plain = data.pin(row, number), plain.pin(row, number)
        assert world_counts(data, X, 3).tolist() == world_counts(plain, X, 3).tolist()
        assert world_shares(data, X, 3) == pytest.approx(world_shares(plain, X, 3), rel=1e-12)


def large_rows(n_classes: int, grid: bool):
    """20 rows, three of them with 5^8 combinations of which 2 x 2 or 5 x 2 differ in place.

    Returns the data, the same with what coincides merged (priors added up), the number of worlds
    of the first for each of the second where merging keeps the ratio, and query points.
    """
    rng = np.random.default_rng([16, n_classes])
    draw = (
        (lambda *s: rng.integers(-2, 3, size=s) * 1.0) if grid else (lambda *s: rng.normal(size=s))
    )
    large, small = [], []
    for number in range(20):
        if number in (3, 7, 12):
            base, cells, merged = draw(8), [], []
            for column in range(8):
                if column == number % 4:  # five values, all different
                    values = np.arange(5.0) - 2.0 if grid else draw(5)
                    prior = rng.dirichlet(np.ones(5))
                    merged.append(Cell(column, values, prior))
                elif column == 5:  # three and two
                    values = np.array([0.5, -1.5, 0.5, 0.5, -1.5])
                    prior = np.array([0.1, 0.2, 0.3, 0.1, 0.3])
                    merged.append(Cell(column, [0.5, -1.5], [0.5, 0.5]))
                else:  # all the same
                    values, prior = np.full(5, base[column]), rng.dirichlet(np.ones(5))
                cells.append(Cell(column, values, prior))
            large.append(FactoredRow(base, cells))
            small.append(FactoredRow(base, merged))
        else:
            row = draw(3 if number % 2 else 1, 8)
            large.append(row)
            small.append(row)
    labels = np.arange(20) % n_classes
    X = draw(2, 8) * 0.5
    return IncompleteDataset(large, labels), IncompleteDataset(small, labels), X


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("k", [1, 4])
def test_rows_of_390625_combinations(n_classes: int, k: int) -> None:
    large, small, X = large_rows(n_classes, grid=True)
    assert large.candidate_counts.max() == 5**8
    held = sum(array.nbytes for array in vars(large).values() if isinstance(array, np.ndarray))
    assert held < 20_000
    assert possible_labels(large, X, k).tolist() == possible_labels(small, X, k).tolist()
    assert world_shares(large, X, k) == pytest.approx(world_shares(small, X, k), rel=1e-11)
    expected = expected_entropies(small, X, k)
    assert expected_entropies(large, X, k) == pytest.approx(expected, abs=1e-11)
    given, wanted = conditional_shares(large, X[0], k), conditional_shares(small, X[0], k)
    for row in range(20):
        if row not in (3, 7, 12):
            assert given[row] == pytest.approx(wanted[row], abs=1e-12)
            continue
        for number in (0, 1, 777, 5**7, 200_000, 5**8 - 1):
            vector = large.candidate(row, number)
            place = (small.candidates(row) == vector).all(axis=1).argmax()
            assert given[row][number] == pytest.approx(wanted[row][place], abs=1e-12)


@pytest.mark.parametrize(("n_classes", "k"), [(2, 3), (3, 2)])
def test_counts_with_rows_of_390625_combinations(n_classes: int, k: int) -> None:
    # Uniform: three of five values in one place count as three, so keep the five of each cell.
    large, _, X = large_rows(n_classes, grid=True)
    rows = []
    for row in range(20):
        cells = [cell for cell in large.cells(row) if len(np.unique(cell.values, axis=0)) > 1]
        base = large.candidate(row, 0)
        rows.append(FactoredRow(base, [Cell(cell.column, cell.values) for cell in cells]))
    small = IncompleteDataset(rows, large.labels)
    ratio = large.n_worlds // small.n_worlds
    assert ratio == 5**18
    for t in X:
        expected = reference.ss_dc_mc(small, t, k)
        assert world_counts(large, [t], k)[0].tolist() == [count * ratio for count in expected]


def test_a_row_of_390625_distinct_combinations_as_written_out() -> None:
    rng = np.random.default_rng(17)
    factored = FactoredRow(np.zeros(8), [Cell(c, rng.normal(size=5)) for c in range(8)])
    others = [rng.normal(size=(1 + i % 3, 8)) for i in range(19)]
    data = IncompleteDataset([factored, *others], np.arange(20) % 2)
    plain = data.expanded()
    X = rng.normal(size=(1, 8))
    assert world_counts(data, X, 3).tolist() == world_counts(plain, X, 3).tolist()
    assert world_shares(data, X, 3) == pytest.approx(world_shares(plain, X, 3), rel=1e-11)
    expected = expected_entropies(plain, X, 3)
    assert expected_entropies(data, X, 3) == pytest.approx(expected, abs=1e-11)


def test_certainty_takes_little_memory_however_many_combinations() -> None:
    rng = np.random.default_rng(18)
    cells = rng.normal(size=(200, 8, 5))
    data = IncompleteDataset(
        [FactoredRow(np.zeros(8), [Cell(c, one[c]) for c in range(8)]) for one in cells],
        np.arange(200) % 3,
    )
    X = rng.normal(size=(10, 8))
    possible_labels(data, X, 3)  # compiled and prepared before memory is watched
    tracemalloc.start()
    try:
        possible_labels(data, X, 3)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert data.n_candidates == 200 * 5**8
    assert peak < 2_000_000
