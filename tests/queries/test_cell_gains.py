"""What one cell would tell: against all worlds, grouped by the value of the cell."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np
import oracle
import pytest
from strategies import Case, random_case, random_factored_case, sweep

from cpclean import Cell, FactoredRow, IncompleteDataset, conditional_shares, entropies
from cpclean.queries.cell_gains import cell_gains_in_block, cell_index, changed_index
from cpclean.queries.geometry import ask
from cpclean.queries.model import Model
from cpclean.queries.shares import entropy

Spans = dict[int, list[tuple[int, int]]]


def spans_of(data: IncompleteDataset) -> Spans:
    """Every column of a row with one cell, also those that do not vary; else the row's cells."""
    spans: Spans = {}
    for row in data.dirty_rows.tolist():
        cells = [(cell.column[0], cell.column[-1] + 1) for cell in data.cells(row)]
        columns = [(column, column + 1) for column in range(data.n_features)]
        spans[row] = columns if len(cells) == 1 else cells
    return spans


def gains(data: IncompleteDataset, spans: Spans, t: object, k: int, metric: object, index=None):
    """The gains of all cells at one point: {(row, number of the cell): gain}."""
    index = cell_index(data, spans) if index is None else index
    query = ask(data, [t], Model(k, metric))
    (found,) = query.over_blocks(partial(cell_gains_in_block, index=index))
    assert found.n_rows.tolist() == [len(found.rows)]
    each = dict(zip(found.rows.tolist(), found.gain.tolist(), strict=True))
    numbers = [(row, cell) for row in range(data.n_rows) for cell in range(index.n_cells[row])]
    assert set(each) <= set(range(len(numbers)))
    return {place: each.get(number, 0.0) for number, place in enumerate(numbers)}


def by_brute_force(case: Case, spans: Spans, t: list[float]) -> dict[tuple[int, int], float]:
    worlds = oracle.Worlds(*case.question(t))
    before = oracle.entropy(worlds.shares())
    expected = {}
    for row, conditional in enumerate(worlds.conditional_shares()):
        for number, (start, stop) in enumerate(spans.get(row, ())):
            groups: dict[tuple[float, ...], list[int]] = {}
            for candidate, vector in enumerate(case.candidates[row]):
                groups.setdefault(tuple(vector[start:stop]), []).append(candidate)
            weights, total = worlds.weights[row], sum(worlds.weights[row])
            left = 0.0
            for members in groups.values():
                mass = sum(weights[j] for j in members)
                if mass:
                    shares = [
                        sum(Fraction(weights[j], mass) * conditional[j][label] for j in members)
                        for label in range(case.n_classes)
                    ]
                    left += mass / total * oracle.entropy(shares)
            expected[row, number] = before - left
    return expected


@pytest.mark.parametrize("make", [random_case, random_factored_case])
def test_cell_gains_against_all_worlds(make: Callable[..., Case]) -> None:
    met = set()
    for case in sweep(120, seed=41, make=make):
        if callable(case.metric):
            continue
        data = case.dataset()
        spans = spans_of(data)
        for t in case.X:
            expected = by_brute_force(case, spans, t)
            actual = gains(data, spans, t, case.n_neighbors, case.metric)
            assert actual.keys() == expected.keys()
            for place, gain in expected.items():
                assert actual[place] == pytest.approx(gain, abs=1e-12), (case, place)
        met.add(case.n_classes)
    assert {2, 3, 4} <= met


@pytest.mark.nojit
def test_grouped_conditionals_in_plain_python() -> None:
    data = IncompleteDataset(
        [
            FactoredRow([0.0, 0.0], [Cell(0, [0.0, 3.0], [0.25, 0.75]), Cell(1, [0.0, 1.0, 4.0])]),
            [[1.0, 1.0], [1.0, 5.0], [2.0, 5.0]],
            [[2.0, 0.0]],
        ],
        ["a", "b", "a"],
        [None, [0.5, 0.3, 0.2], None],
    )
    t = [0.5, 0.5]
    actual = gains(data, {0: [(0, 1), (1, 2)], 1: [(0, 1), (1, 2)]}, t, 1, "euclidean")
    before = entropies(data, [t], 1)[0]
    for row in (0, 1):
        shares, prior = conditional_shares(data, t, 1)[row], data.prior(row)
        for column in (0, 1):
            values = data.candidates(row)[:, column]
            left = 0.0
            for value in set(values.tolist()):
                own = values == value
                mass = prior[own].sum()
                left += mass * float(entropy(prior[own] @ shares[own] / mass))
            assert actual[row, column] == pytest.approx(before - left, abs=1e-14)
            assert actual[row, column] > 0


def test_the_only_cell_of_a_row_is_the_row() -> None:
    data = IncompleteDataset([[[0.0], [5.0]], [[1.0], [7.0]], [[6.0]]], ["a", "b", "b"])
    actual = gains(data, {0: [(0, 1)], 1: [(0, 1)]}, [0.0], 1, "euclidean")
    shares = conditional_shares(data, [0.0], 1)
    before = entropies(data, [[0.0]], 1)[0]
    for row in (0, 1):
        left = data.prior(row) @ [float(entropy(one)) for one in shares[row]]
        assert actual[row, 0] == pytest.approx(before - left, abs=1e-15)


@pytest.mark.nojit
def test_a_changed_index_gives_what_a_new_one_gives() -> None:
    for case in sweep(60, seed=42, make=random_factored_case):
        data = case.dataset()
        if callable(case.metric) or not len(data.dirty_rows):
            continue
        spans = spans_of(data)
        row = int(data.dirty_rows[-1])
        column = spans[row][0][0]
        after = data.given(row, {column: float(data.candidates(row)[-1, column])})
        index = changed_index(cell_index(data, spans), after, row, spans[row])
        question = (case.X[0], case.n_neighbors, case.metric)
        assert gains(after, spans, *question, index) == gains(after, spans, *question)


def test_rows_without_cells_have_no_number() -> None:
    data = IncompleteDataset([[[1.0]], [[0.0], [2.0]], [[3.0], [3.0]]], [0, 1, 0])
    index = cell_index(data, {1: [(0, 1)]})
    assert index.first.tolist() == [0, 0, 1, 1]
    assert index.n_cells.tolist() == [0, 1, 0]
    assert cell_index(data, {}).codes.tolist() == []
    assert np.array_equal(cell_index(data, {2: [(0, 1)]}).codes, [0, 0])
