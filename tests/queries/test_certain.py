"""Q1 on examples worked out by hand; the sweep against the oracle is in test_agreement."""

from __future__ import annotations

import numpy as np
import oracle
import pytest

from cpclean import Cell, FactoredRow, IncompleteDataset, is_certain, possible_labels
from cpclean.queries import reference

# Section 3.1.2 of the paper: label 0 wins six of eight worlds, label 1 two.
PAPER = ([[[6.0], [2.0]], [[5.0], [4.0]], [[3.0], [1.0]]], [1, 1, 0])


def test_the_paper_s_example() -> None:
    data = IncompleteDataset(*PAPER)
    assert possible_labels(data, [[0.0]], 1).tolist() == [[True, True]]
    assert is_certain(data, [[0.0]], 1).tolist() == [False]
    assert possible_labels(data, [[0.0]], 3).tolist() == [[False, True]]
    assert is_certain(data, [[0.0]], 3).tolist() == [True]


def test_shapes_and_types() -> None:
    data = IncompleteDataset(*PAPER)
    labels = possible_labels(data, [[0.0], [9.0]], 1)
    certain = is_certain(data, [[0.0], [9.0]], 1)
    assert (labels.shape, labels.dtype) == ((2, 2), bool)
    assert (certain.shape, certain.dtype) == ((2,), bool)


def test_three_neighbours_and_euclidean_by_default() -> None:
    rng = np.random.default_rng(1)
    data = IncompleteDataset(rng.normal(size=(12, 2, 2)), [0, 1, 2] * 4)
    X = rng.normal(size=(9, 2))
    expected = possible_labels(data, X, 3, "euclidean")
    assert np.array_equal(possible_labels(data, X), expected)
    assert np.array_equal(is_certain(data, X), expected.sum(axis=1) == 1)


@pytest.mark.nojit
def test_more_than_two_classes_where_min_max_alone_is_wrong() -> None:
    # Label 1 wins only while row 0 (label 2) keeps row 2 (label 0) out of the top 2; the extreme
    # world of label 1, with row 0 far away, predicts label 0.
    candidates, codes = [[[1.0], [4.0]], [[2.0]], [[3.0]]], [2, 1, 0]
    expected = oracle.possible_labels(candidates, codes, 3, None, [0.0], 2)
    assert expected == [True, True, False]
    data = IncompleteDataset(candidates, codes)
    assert possible_labels(data, [[0.0]], 2)[0].tolist() == expected


@pytest.mark.nojit
def test_other_labels_must_be_able_to_share_the_remaining_places() -> None:
    # K = 3. Label 2 has one row, nearest of all, and wins the vote 1 : 1 : 1 only against larger
    # labels; labels 3 and 4 may hold one place each.
    candidates = [[[1.0]], [[2.0], [8.0]], [[3.0], [8.0]], [[4.0], [9.0]]]
    for codes in ([2, 3, 3, 4], [2, 3, 4, 4], [2, 1, 3, 4], [2, 1, 1, 3], [2, 3, 3, 3]):
        classes = sorted(set(codes))
        small = [classes.index(code) for code in codes]
        expected = oracle.possible_labels(candidates, small, len(classes), None, [0.0], 3)
        data = IncompleteDataset(candidates, codes)
        assert possible_labels(data, [[0.0]], 3)[0].tolist() == expected


def test_a_world_of_prior_zero_still_counts() -> None:
    data = IncompleteDataset([[[1.0], [3.0]], [[2.0]]], ["a", "b"], [[1.0, 0.0], None])
    assert possible_labels(data, [[0.0]], 1).tolist() == [[True, True]]
    assert is_certain(data, [[0.0]], 1).tolist() == [False]


def test_one_class_is_certain() -> None:
    data = IncompleteDataset([[[1.0], [2.0]], [[0.0], [3.0]], [[5.0]]], ["only"] * 3)
    for k in (1, 2, 3):
        assert possible_labels(data, [[0.0], [4.0]], k).tolist() == [[True], [True]]
        assert is_certain(data, [[0.0], [4.0]], k).tolist() == [True, True]


def test_one_row_is_certain() -> None:
    data = IncompleteDataset([[[1.0], [2.0]]], ["a"])
    assert is_certain(data, [[0.0]], 1).tolist() == [True]


def test_clean_data_is_certain() -> None:
    rng = np.random.default_rng(2)
    data = IncompleteDataset(rng.integers(0, 3, size=(40, 2)), rng.integers(0, 5, size=40))
    X = rng.integers(0, 3, size=(30, 2))
    for k in (1, 4, 7, 40):
        assert is_certain(data, X, k).all()
        assert (possible_labels(data, X, k).sum(axis=1) == 1).all()


def test_all_neighbours_always_give_the_majority() -> None:
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 4, size=30)
    data = IncompleteDataset(rng.normal(size=(30, 5, 2)), labels)
    expected = np.arange(4) == np.bincount(labels).argmax()
    assert (possible_labels(data, rng.normal(size=(5, 2)), 30) == expected).all()


def test_two_classes_as_the_paper_s_algorithm_says() -> None:
    rng = np.random.default_rng(4)
    for number in range(60):
        sizes = rng.integers(1, 5, size=25)
        candidates = [rng.integers(-3, 4, size=(size, 2)).astype(float) for size in sizes]
        data = IncompleteDataset(candidates, np.arange(25) % 2)
        t = rng.integers(-3, 4, size=2).astype(float)
        k = 1 + number % 9
        expected = any(reference.mm(data, t, k))
        assert is_certain(data, [t], k)[0] == expected


def test_certainty_of_factored_rows_is_decided_without_writing_them_out() -> None:
    # 20 rows of 5^9 combinations each: nearest and farthest candidates are found cell by cell.
    rng = np.random.default_rng(5)
    rows = [
        FactoredRow(np.zeros(9), [Cell(column, values) for column, values in enumerate(cells)])
        for cells in rng.normal(size=(20, 9, 5))
    ]
    data = IncompleteDataset(rows, np.arange(20) % 3)
    X = rng.normal(size=(5, 9))
    for metric, nearest in (
        ("euclidean", lambda gap: gap**2),
        ("manhattan", abs),
        ("linear", None),
    ):
        expected = []
        for t in X:
            low, high = [], []
            for row in range(20):
                cells = [cell.values[:, 0] for cell in data.cells(row)]
                if metric == "linear":
                    terms = [-values * x for values, x in zip(cells, t, strict=True)]
                else:
                    terms = [nearest(values - x) for values, x in zip(cells, t, strict=True)]
                low.append([sum(one.min() for one in terms)])
                high.append([sum(one.max() for one in terms)])
            ends = np.concatenate([low, high], axis=1)[:, :, None]
            # Only nearest and farthest matter: a data set of two candidates a row, on a line.
            stand_in = IncompleteDataset(ends, data.labels)
            far = ends.min() - 1.0
            expected.append(possible_labels(stand_in, [[far]], 4)[0].tolist())
        assert possible_labels(data, X, 4, metric).tolist() == expected
