"""The arrays that kernels read: their columns are what their names say, and are read by name."""

from __future__ import annotations

import ast
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import cpclean
from cpclean import Cell, FactoredRow, IncompleteDataset
from cpclean.queries import kernel_arrays as names
from cpclean.queries.prepared import prepare_changed, prepared_rows

SRC = Path(cpclean.__file__).parent
INDEX_ARRAYS = {"spans", "span", "cells", "pool", "norms"}


def small() -> IncompleteDataset:
    """A clean row, a row of two candidates, and a product of two and three values."""
    factored = FactoredRow([7.0, 0.0, 0.0], [Cell(1, [1.0, 2.0]), Cell(2, [3.0, 4.0, 5.0])])
    rows = [[[0.0, -1.0, 2.0]], [[0.0, 0.0, 0.0], [1.0, 0.0, -2.0]], factored]
    return IncompleteDataset(rows, ["a", "b", "a"])


@pytest.mark.nojit
def test_columns_are_what_their_names_say() -> None:
    data = small()
    rows = prepared_rows(data).rows
    assert rows.spans[:, names.N_CELLS].tolist() == [0, 1, 2]
    assert rows.spans[:, names.SIZE].tolist() == data.candidate_counts.tolist() == [1, 2, 6]
    assert rows.spans[:, names.FIRST_CANDIDATE].tolist() == [0, 1, 3]
    first = rows.spans[2, names.FIRST_CELL]
    cells = rows.cells[first : first + 2]
    assert cells[:, names.START].tolist() == [1, 2]
    assert cells[:, names.STOP].tolist() == [2, 3]
    assert cells[:, names.N_VALUES].tolist() == [2, 3]
    at = cells[:, names.VALUES_AT]
    assert rows.values[at[0] : at[0] + 2].tolist() == [1.0, 2.0]
    assert rows.values[at[1] : at[1] + 3].tolist() == [3.0, 4.0, 5.0]
    weights = rows.weights[cells[1, names.WEIGHTS_AT] :][:3]
    assert weights.tolist() == pytest.approx([1 / 3] * 3)


@pytest.mark.nojit
def test_norms_are_bounded_by_least_and_most() -> None:
    data = small()
    rows = prepared_rows(data).rows
    for place, row in enumerate(rows.order.tolist()):
        squares = (data.candidates(row) ** 2).sum(axis=1)
        assert (rows.boxes.norms[names.LEAST, place] <= squares).all()
        assert (squares <= rows.boxes.norms[names.MOST, place]).all()


def changes(data: IncompleteDataset) -> list[tuple[int, IncompleteDataset]]:
    """One row known after the other, in every way, and unknown again; with the row each time."""
    found = []
    for row, change in (
        (2, lambda one: one.given(2, {1: 2.0})),  # cells are left
        (1, lambda one: one.pin(1, 1)),
        (0, lambda one: one.pin(0, value=[-9.0, 9.0, 0.5])),  # beyond what it could be
        (2, lambda one: one.pin(2, 1)),
        (1, lambda one: one.unpin(1)),
        (2, lambda one: one.given(2, {2: 8.0})),
        (0, lambda one: one.unpin(0)),
    ):
        data = change(data)
        found.append((row, data))
    return found


@pytest.mark.nojit
def test_what_is_prepared_for_a_change_is_what_would_be_prepared_afresh() -> None:
    before = small()
    for row, data in changes(before):
        prepare_changed(before, data, row)
        changed = prepared_rows(data)
        fresh = prepared_rows(IncompleteDataset.from_arrays(data.arrays, data.codes, data.classes))
        assert changed.rows.spans.tolist() == fresh.rows.spans.tolist()
        assert changed.rows.cells.tolist() == fresh.rows.cells.tolist()
        assert changed.rows.base.tolist() == fresh.rows.base.tolist()
        for mine, theirs in zip(changed.rows.boxes, fresh.rows.boxes, strict=True):
            assert mine[:, changed.place].tolist() == theirs[:, fresh.place].tolist()
        at, rows = changed.rows.block_at.tolist(), changed.rows
        for block, (start, stop) in enumerate(pairwise(at)):
            low, high = rows.boxes.low[:, start:stop], rows.boxes.high[:, start:stop]
            assert (rows.block_boxes.low[:, [block]] <= low).all()
            assert (rows.block_boxes.high[:, [block]] >= high).all()
            assert (rows.holed[block] >= (low != high).any(axis=1)).all()
        before = data


@pytest.mark.parametrize(
    "columns",
    [
        [names.FIRST_CELL, names.N_CELLS, names.SIZE, names.FIRST_CANDIDATE],
        [
            names.START,
            names.STOP,
            names.N_VALUES,
            names.VALUES_AT,
            names.WEIGHTS_AT,
            names.ASCENDING,
        ],
    ],
)
def test_columns_are_numbered_from_zero(columns: list[int]) -> None:
    assert columns == list(np.arange(len(columns)))


def numbered_columns(text: str) -> list[str]:
    """Places where a column of an index array is read by a bare number."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Subscript):
            continue
        array = ast.unparse(node.value).rpartition(".")[2]
        index = node.slice.elts[-1] if isinstance(node.slice, ast.Tuple) else node.slice
        plain = array in {"span", "norms"} or isinstance(node.slice, ast.Tuple)
        if array in INDEX_ARRAYS and plain and isinstance(index, ast.Constant):
            found.append(ast.unparse(node))
    return found


def test_no_column_is_read_by_a_bare_number() -> None:
    modules = [*(SRC / "queries").glob("*.py"), *(SRC / "cleaning").glob("board.py")]
    assert len(modules) > 10
    assert {path.name: numbered_columns(path.read_text("utf-8")) for path in modules} == {
        path.name: [] for path in modules
    }


@pytest.mark.parametrize("text", ["spans[row, 2]", "rows.cells[cell, 0]", "span[1]", "norms[0]"])
def test_a_bare_number_is_noticed(text: str) -> None:
    assert numbered_columns(text) == [text]
