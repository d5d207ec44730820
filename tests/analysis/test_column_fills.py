"""A column filled at once, against its rows filled one by one."""

from dataclasses import replace

import numpy as np
import pytest
from data.spaces.tree_samples import random_trees_of
from queries.test_leaves import grid_rows
from strategies import random_case, random_factored_case, sweep

from cpclean import Cell, FactoredRow, IncompleteDataset
from cpclean.analysis.column_fills import ColumnFills
from cpclean.analysis.open_cells import open_cell
from cpclean.queries.leaf_rows import prepared_leaves


@pytest.mark.parametrize("make", [random_case, random_factored_case])
def test_a_fill_is_what_telling_each_cell_would_give(make):
    rng = np.random.default_rng(0)
    for case in sweep(80, seed=11, make=make):
        data = case.dataset()
        for column in range(data.n_features):
            holes = rng.random(data.n_rows) < 0.8
            open_rows = {
                row: cell
                for row in np.flatnonzero(holes).tolist()
                if (cell := open_cell(data, row, (column, column + 1))) is not None
            }
            fills = ColumnFills(data, holes, (column, column + 1))
            assert fills.n_cells == len(open_rows)
            filled = fills.draw(rng)
            expected = data
            for row, cell in open_rows.items():
                value = filled.candidates(row)[0, column]
                assert cell.weights[cell.values[:, 0].tolist().index(value)] > 0
                expected = expected.given(row, {column: value})
            assert filled == expected


def test_cells_over_several_columns_are_filled_together():
    word = Cell([1, 2, 3], np.eye(3), [0.25, 0.75, 0.0])
    other = Cell([1, 2, 3], np.eye(3))
    rows = [
        FactoredRow([0.0] * 5, [word, Cell(4, [1.0, 2.0])]),
        FactoredRow([0.0] * 5, [Cell(0, [5.0, 6.0]), other]),
        [[1.0] * 5],
        FactoredRow([0.0] * 5, [word]),
    ]
    data = IncompleteDataset(rows, ["a", "b", "a", "b"])
    fills = ColumnFills(data, np.array([True, True, True, True]), (1, 4))
    rng, seen = np.random.default_rng(3), []
    for _ in range(400):
        filled = fills.draw(rng)
        assert filled.candidate_counts.tolist() == [2, 2, 1, 1]
        assert filled.candidates(0)[:, 4].tolist() == [1.0, 2.0]
        assert filled.candidates(1)[:, 0].tolist() == [5.0, 6.0]
        seen.append([filled.candidates(row)[0, 1:4] for row in (0, 1, 3)])
    mean = np.mean(seen, axis=0)
    assert mean[[0, 2], 2].tolist() == [0.0, 0.0]
    assert mean == pytest.approx(np.array([[0.25, 0.75, 0], [1 / 3] * 3, [0.25, 0.75, 0]]), abs=0.1)


def test_rows_without_a_hole_there_stay_open():
    row = FactoredRow([0.0, 0.0], [Cell(0, [1.0, 2.0])])
    data = IncompleteDataset([row, row, [[3.0, 3.0]]], ["a", "b", "a"])
    fills = ColumnFills(data, np.array([True, False, True]), (0, 1))
    filled = fills.draw(np.random.default_rng(0))
    assert filled.candidate_counts.tolist() == [1, 2, 1]


def test_leaves_of_other_rows_are_taken_over():
    """What is prepared for a fill is what would be prepared without knowing the data before."""
    rng = np.random.default_rng(8)
    kinds = np.zeros(3, dtype=int)  # rows of one candidate, of several, and rows that are bounded
    for seed in range(12):
        rows = grid_rows(rng, 30, holes=0.4)
        data = IncompleteDataset(rows, rng.integers(0, 2, 30), max_exact=12)
        data = data.in_space(random_trees_of(np.random.default_rng(seed), 5, 6))
        for column in range(5):
            fills = ColumnFills(data, rng.random(30) < 0.7, (column, column + 1))
            filled = fills.draw(rng)
            again = IncompleteDataset.from_arrays(
                filled.arrays, data.codes, data.classes, data.drawing, data.row_names, data.space
            )
            found, expected = prepared_leaves(filled), prepared_leaves(again)
            for one, other in zip(found.rows, expected.rows, strict=True):
                assert one.dtype == other.dtype
                assert np.array_equal(one, other)
            assert np.array_equal(found.listed, expected.listed)
            assert replace(found, rows=expected.rows, listed=expected.listed) == expected
            counts = filled.candidate_counts
            kinds += [
                (counts == 1).sum(),
                ((counts > 1) & (counts <= 12)).sum(),
                (counts > 12).sum(),
            ]
    assert (kinds > 100).all()
