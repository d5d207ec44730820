"""Q2 as exact numbers of worlds, far beyond what a float holds."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cpclean import Cell, FactoredRow, IncompleteDataset, world_counts, world_shares
from cpclean.queries import reference


def crowd(n_rows: int, n_front: int, k: int, labels: tuple[str, ...] = ("b",)) -> IncompleteDataset:
    """n_front clean rows of class "z" at 1; the others are at 0.5 in one of three candidates."""
    rows = [[1.0]] * n_front + [[[2.0], [0.5], [3.0]]] * n_rows
    others = [labels[i % len(labels)] for i in range(n_rows)]
    return IncompleteDataset(rows, ["z"] * n_front + others)


def test_the_paper_s_example() -> None:
    data = IncompleteDataset([[[6.0], [2.0]], [[5.0], [4.0]], [[3.0], [1.0]]], [1, 1, 0])
    assert world_counts(data, [[0.0]], 1).tolist() == [[6, 2]]


def test_shape_and_type() -> None:
    data = IncompleteDataset([[[1.0], [3.0]], [[2.0]], [[9.0]]], ["a", "b", "c"])
    counts = world_counts(data, [[0.0], [9.0]], 1)
    assert counts.dtype == object
    assert counts.shape == (2, 3)
    assert {type(count) for count in counts.ravel()} == {int}
    assert counts.tolist() == [[1, 1, 0], [0, 0, 2]]


def test_three_neighbours_and_euclidean_by_default() -> None:
    rng = np.random.default_rng(1)
    data = IncompleteDataset(rng.normal(size=(12, 2, 2)), [0, 1, 2] * 4)
    X = rng.normal(size=(4, 2))
    assert world_counts(data, X).tolist() == world_counts(data, X, 3, "euclidean").tolist()


def test_priors_play_no_part() -> None:
    rows, labels = [[[1.0], [3.0], [6.0]], [[2.0], [4.0]]], [0, 1]
    data = IncompleteDataset(rows, labels, [[1.0, 0.0, 0.0], [0.001, 0.999]])
    assert world_counts(data, [[0.0]], 1).tolist() == [[3, 3]]
    assert world_shares(data, [[0.0]], 1).tolist() == [[1.0, 0.0]]


def test_repeated_candidates_are_worlds_of_their_own() -> None:
    data = IncompleteDataset([[[1.0], [1.0], [3.0]], [[2.0], [2.0]]], ["a", "b"])
    assert world_counts(data, [[0.0]], 1).tolist() == [[4, 2]]


def test_rows_that_do_not_matter_multiply_the_worlds() -> None:
    rows = [[[1.0], [3.0]], [2.0]] + [np.arange(50.0, 57.0)[:, None]] * 40
    data = IncompleteDataset(rows, ["a", "b"] + ["c"] * 40)
    assert world_counts(data, [[0.0]], 1).tolist() == [[7**40, 7**40, 0]]


@pytest.mark.parametrize("n_rows", [20, 41, 200, 1500])
def test_numbers_of_any_length(n_rows: int) -> None:
    # K = 1: "z" wins if every other row stays behind in one of two ways. 3^1500 needs 75 primes.
    data = crowd(n_rows, 1, 1)
    expected = [3**n_rows - 2**n_rows, 2**n_rows]
    assert world_counts(data, [[0.0]], 1)[0].tolist() == expected


@pytest.mark.nojit
@pytest.mark.parametrize("k", [3, 4, 5])
def test_binomial_sums(k: int) -> None:
    # k clean rows of "z", the larger class: it wins if fewer than half the places are taken.
    n_rows = 45
    data = crowd(n_rows, k, k)
    z = sum(
        math.comb(n_rows, nearer) * 2 ** (n_rows - nearer)
        for nearer in range(k + 1)
        if k - nearer > nearer
    )
    assert world_counts(data, [[0.0]], k)[0].tolist() == [3**n_rows - z, z]


@pytest.mark.parametrize("n_rows", [60, 400])
def test_multinomial_sums(n_rows: int) -> None:
    # Three classes, K = 2: "z" wins if no other row is nearer; it shares 1 : 1 and then loses.
    data = crowd(n_rows, 2, 2, ("a", "b"))
    none = 2**n_rows
    counts = world_counts(data, [[0.0]], 2)[0].tolist()
    assert counts[2] == none
    assert sum(counts) == 3**n_rows
    # Rows nearer are at equal distance, so the two smallest of them take the places. "b" wins
    # with both places, or with one and "z" the other.
    one_b = n_rows // 2 * 2 ** (n_rows - 1)
    two_b = sum(
        2 ** (j - 1) * 3 ** (n_rows - j - 1)  # rows i < j of "b" nearer, none else up to j
        for j in range(n_rows)
        for i in range(j)
        if i % 2 == 1 and j % 2 == 1
    )
    assert counts[1] == one_b + two_b


def test_more_digits_than_python_prints() -> None:
    n_rows = 10_000
    rows = [[1.0]] + [[[2.0], [0.5], [3.0]]] + [[[7.0], [8.0], [9.0]]] * n_rows
    data = IncompleteDataset(rows, ["a", "b"] + ["c"] * n_rows)
    counts = world_counts(data, [[0.0]], 1)[0]
    assert counts.tolist() == [2 * 3**n_rows, 3**n_rows, 0]
    assert counts[0].bit_length() > 4300 * 3.33


@pytest.mark.parametrize("k", [1, 2, 5])
def test_factored_rows_count_every_combination(k: int) -> None:
    # Cells of equal values: 5^6 combinations at each of 4 distances a row.
    def row(x: float, factor: int) -> FactoredRow:
        open_cells = [Cell(0, [x, x + 3.0]), Cell(1, [0.0, 1.0])]
        closed = [Cell(column, [0.0] * factor) for column in range(2, 8)]
        return FactoredRow(np.zeros(8), open_cells + closed)

    near = [1.0, 2.0, 0.5, 1.5, 2.5, 0.0]
    labels = [0, 1, 2, 0, 1, 2]
    small = IncompleteDataset([row(x, 1) for x in near], labels)
    large = IncompleteDataset([row(x, 5) for x in near], labels)
    expected = reference.ss_dc_mc(small, np.zeros(8), k)
    actual = world_counts(large, np.zeros((1, 8)), k)[0]
    assert actual.tolist() == [count * 5**36 for count in expected]


@pytest.mark.nojit
@pytest.mark.parametrize(("n_classes", "k"), [(2, 4), (3, 3), (5, 2)])
def test_as_the_paper_s_algorithm_counts(n_classes: int, k: int) -> None:
    rng = np.random.default_rng(9)
    sizes = rng.integers(1, 5, size=40)
    candidates = [rng.integers(0, 5, size=(size, 2)).astype(float) for size in sizes]
    data = IncompleteDataset(candidates, np.arange(40) % n_classes)
    t = [2.0, 1.0]
    expected = reference.ss_dc_mc(data, t, k)
    assert tuple(world_counts(data, [t], k)[0]) == expected
    assert sum(expected) == math.prod(sizes.tolist())


def test_numbers_of_candidates_that_share_factors() -> None:
    # Sizes with many divisors, so that counts and whole have large common factors.
    rows = [np.arange(size, dtype=float)[:, None] for size in (720, 5040, 2048, 6561, 1, 97)]
    labels = [0, 1, 0, 1, 2, 2]
    data = IncompleteDataset(rows, labels)
    for t in (0.0, 31.5, 500.0):
        expected = reference.ss_dc(data, [t], 1)
        assert tuple(world_counts(data, [[t]], 1)[0]) == expected
