"""Rows one at a time: cells, plain candidates, priors, and the numbers that are accepted."""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random

import numpy as np
import pandas as pd
import pytest

from cpclean import Cell, FactoredRow, IncompleteDataset, possible_labels, world_shares
from cpclean.data.rows import (
    StoredRow,
    as_floats,
    checked_weights,
    factored_row,
    narrowed,
    plain_row,
    within,
)
from cpclean.errors import DataError, UnknownRowError


def one_row(row: object, prior: object = None) -> IncompleteDataset:
    return IncompleteDataset([row], ["a"], None if prior is None else [prior])


# -- plain candidates ------------------------------------------------------------------------------


def test_a_plain_row_stores_the_columns_that_vary() -> None:
    candidates = np.array([[1.0, 2.0, 3.0, 4.0, 5.0], [1.0, 7.0, 3.0, 8.0, 5.0]])
    row = plain_row(candidates, np.array([0.5, 0.5]))
    (cell,) = row.cells
    assert row.base.tolist() == candidates[0].tolist()
    assert (cell.start, cell.stop) == (1, 4)
    assert cell.values.tolist() == [[2.0, 3.0, 4.0], [7.0, 3.0, 8.0]]


def test_one_candidate_makes_no_cell() -> None:
    assert plain_row(np.array([[1.0, 2.0]]), np.ones(1)).cells == ()


def test_equal_candidates_stay_candidates() -> None:
    data = one_row([[1.0, 2.0]] * 3, [0.5, 0.25, 0.25])
    assert data.n_worlds == 3
    assert data.dirty_rows.tolist() == [0]
    assert data.candidates(0).tolist() == [[1.0, 2.0]] * 3
    assert data.prior(0).tolist() == [0.5, 0.25, 0.25]


def test_a_vector_is_a_row_with_one_candidate() -> None:
    assert one_row([1.0, 2.0]) == one_row([[1.0, 2.0]])
    matrix = np.arange(6.0).reshape(3, 2)
    expected = IncompleteDataset([[vector] for vector in matrix], [0, 1, 0])
    assert IncompleteDataset(matrix, [0, 1, 0]) == expected
    assert expected.n_worlds == 1


def test_an_array_of_three_axes_is_one_set_a_row() -> None:
    cube = np.arange(12.0).reshape(2, 3, 2)
    assert IncompleteDataset(cube, [0, 1]) == IncompleteDataset(list(cube), [0, 1])


# -- factored rows ---------------------------------------------------------------------------------


def test_a_factored_row_of_one_cell_is_a_plain_row() -> None:
    factored = FactoredRow([1.0, math.nan], [Cell(1, [2.0, 3.0], [0.25, 0.75])])
    assert one_row(factored) == one_row([[1.0, 2.0], [1.0, 3.0]], [0.25, 0.75])


def test_cells_of_one_value_are_certain() -> None:
    factored = FactoredRow([math.nan] * 3, [Cell(0, [1.0]), Cell([1, 2], [[2.0, 3.0]])])
    assert one_row(factored) == one_row([1.0, 2.0, 3.0])
    assert one_row(factored).dirty_rows.tolist() == []


def test_a_factored_row_without_cells_is_clean() -> None:
    assert one_row(FactoredRow([1.0, 2.0], [])) == one_row([1.0, 2.0])


def test_rows_written_out_have_all_combinations_in_order() -> None:
    """Cells of one, two and three columns, in different places of different rows."""
    cells = [
        [Cell(0, [1.0, 2.0]), Cell((2, 3), [[3.0, 4.0], [5.0, 6.0]], [0.25, 0.75])],
        [],
        [Cell((1, 2, 3), [[7.0, 8.0, 9.0], [10.0, 11.0, 12.0]]), Cell(0, [1.0, 0.0, 3.0])],
    ]
    rows = [FactoredRow([0.0] * 4, own) for own in cells]
    data = IncompleteDataset(rows, ["a", "b", "b"])
    vectors, owner, weight = data.arrays.written_out()
    assert owner.tolist() == [0] * 4 + [1] + [2] * 6
    expected = [
        data.candidate(row, number) for row, many in enumerate((4, 1, 6)) for number in range(many)
    ]
    assert vectors.tolist() == np.array(expected).tolist()
    assert weight.tolist() == pytest.approx([0.125, 0.375, 0.125, 0.375, 1.0, *[1 / 6] * 6])
    assert vectors[:4].tolist() == [
        [1.0, 0.0, 3.0, 4.0],
        [1.0, 0.0, 5.0, 6.0],
        [2.0, 0.0, 3.0, 4.0],
        [2.0, 0.0, 5.0, 6.0],
    ]


def test_the_order_of_the_cells_given_does_not_matter() -> None:
    cells = [Cell(2, [5.0, 6.0]), Cell(0, [1.0, 2.0, 3.0], [0.5, 0.25, 0.25])]
    assert one_row(FactoredRow([0.0] * 3, cells)) == one_row(FactoredRow([0.0] * 3, cells[::-1]))


@pytest.mark.parametrize(
    "column", [1, np.int32(1), [1], (1,), np.array([1]), np.array(1), range(1, 2)]
)
def test_a_column_may_be_written_in_many_ways(column: object) -> None:
    expected = one_row([[0.0, 2.0], [0.0, 3.0]])
    assert one_row(FactoredRow([0.0, 0.0], [Cell(column, [2.0, 3.0])])) == expected
    assert one_row(FactoredRow([0.0, 0.0], [Cell(column, [[2.0], [3.0]])])) == expected


@pytest.mark.parametrize("column", [[1, 2], (1, 2), np.array([1, 2]), range(1, 3)])
def test_a_cell_may_cover_a_run_of_columns(column: object) -> None:
    cell = Cell(column, [[1.0, 0.0], [0.0, 1.0]])
    expected = one_row([[9.0, 1.0, 0.0], [9.0, 0.0, 1.0]])
    assert one_row(FactoredRow([9.0, math.nan, math.nan], [cell])) == expected


@pytest.mark.parametrize("n_cells", [30, 61, 62, 63, 64, 500])
def test_more_combinations_than_a_machine_integer_counts(n_cells: int) -> None:
    cells = [Cell(column, np.arange(2)) for column in range(n_cells)]
    row = FactoredRow(np.zeros(n_cells), cells)
    data = IncompleteDataset([np.zeros(n_cells), row, row], [0, 1, 1])
    assert data.candidate_counts.tolist() == [1] + 2 * [2 ** min(n_cells, 62)]
    assert data.arrays.count(1) == 2**n_cells
    assert data.n_worlds == 4**n_cells
    last = 2**n_cells - 2  # the last cell changes fastest
    assert data.candidate(1, last).tolist() == [1.0] * (n_cells - 1) + [0.0]
    with pytest.raises(UnknownRowError, match=f"row 1 has candidates 0 to {last + 1}; got"):
        data.candidate(1, last + 2)
    for many in (data.candidates, data.prior):
        with pytest.raises(DataError, match=r"row 1 has .* candidates"):
            many(1)


def test_certainty_of_a_row_with_a_thousand_million_combinations() -> None:
    cells = [Cell(column, [0.0, 1.0]) for column in range(30)]
    row = FactoredRow(np.zeros(30), cells)
    data = IncompleteDataset([row, np.full(30, 0.5)], ["a", "b"])
    X = [np.zeros(30), np.full(30, 0.5), np.full(30, 0.1)]
    expected = [[True, True], [False, True], [True, True]]
    assert possible_labels(data, X, 1).tolist() == expected


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            FactoredRow([0.0, 0.0, 0.0], [Cell([0, 1], [[1.0, 2.0]]), Cell(1, [1.0])]),
            r"the cells of row 1 must cover separate runs of columns; got columns 0\.\.1 and "
            r"1\.\.1\. Join overlapping cells into one cell",
        ),
        (
            FactoredRow([0.0, 0.0, 0.0], [Cell(2, [1.0, 2.0]), Cell(2, [1.0, 2.0])]),
            r"separate runs of columns; got columns 2\.\.2 and 2\.\.2",
        ),
        (
            FactoredRow([0.0, 0.0, 0.0], [Cell(3, [1.0])]),
            "the cell at column 3 of row 1 must lie within the 3 columns of the row",
        ),
        (
            FactoredRow([0.0, 0.0, 0.0], [Cell(-1, [1.0])]),
            "the cell at column -1 of row 1 must lie within the 3 columns of the row",
        ),
        (
            FactoredRow([0.0, 0.0, 0.0], [Cell([2, 3], [[1.0, 1.0]])]),
            r"the cell at column \[2, 3\] of row 1 must lie within the 3 columns",
        ),
        (
            FactoredRow([0.0, 0.0, 0.0], [Cell([0, 2], [[1.0, 1.0]])]),
            r"column \[0, 2\] of row 1 must name a column or a run of neighbouring columns",
        ),
        (
            FactoredRow([0.0, 0.0, 0.0], [Cell([1, 0], [[1.0, 1.0]])]),
            "must name a column or a run of neighbouring columns",
        ),
        (
            FactoredRow([0.0, 0.0, 0.0], [Cell([], [[1.0, 1.0]])]),
            "must name a column or a run of neighbouring columns",
        ),
        (
            FactoredRow([0.0, 0.0, 0.0], [Cell(0.5, [1.0])]),
            "must name a column or a run of neighbouring columns",
        ),
        (
            FactoredRow([0.0, 0.0, 0.0], [Cell("age", [1.0])]),
            "the cell at column age of row 1 must name a column",
        ),
        (
            FactoredRow([0.0, 0.0, 0.0], [Cell(True, [1.0])]),
            "must name a column or a run of neighbouring columns",
        ),
        (
            FactoredRow([0.0, 0.0, 0.0], [Cell(1, [])]),
            "the cell at column 1 of row 1 has no value: give every cell at least one",
        ),
        (
            FactoredRow([0.0, 0.0, 0.0], [Cell([0, 1], [1.0, 2.0])]),
            r"the values of the cell at column \[0, 1\] of row 1 must have shape \(n_values, 2\); "
            r"got \(2,\)",
        ),
        (
            FactoredRow([0.0, 0.0, 0.0], [Cell(0, [[1.0, 2.0]])]),
            r"must have shape \(n_values, 1\); got \(1, 2\)",
        ),
        (
            FactoredRow([0.0, 0.0, 0.0], [Cell(0, 1.0)]),
            r"must have shape \(n_values, 1\); got \(\)",
        ),
        (
            FactoredRow([0.0, 0.0, 0.0], [Cell(0, [1.0, math.nan])]),
            r"the values of the cell at column 0 of row 1 must be finite; got NaN or infinity at "
            r"\(1, 0\)",
        ),
        (
            FactoredRow([0.0, 0.0, 0.0], [Cell(0, ["red", "blue"])]),
            "the values of the cell at column 0 of row 1 must be numbers",
        ),
        (
            FactoredRow([0.0, 0.0, 0.0], [Cell(0, [1.0, 2.0], [0.5, 0.25])]),
            "the prior of the cell at column 0 of row 1 must sum to 1; got a sum of 0.75",
        ),
        (
            FactoredRow([0.0, 0.0, 0.0], [Cell(0, [1.0, 2.0], [1.0])]),
            r"the prior of the cell at column 0 of row 1 must have one weight per candidate, shape "
            r"\(2,\); got \(1,\)",
        ),
        (
            FactoredRow([0.0, 0.0, 0.0], [Cell(0, [1.0, 2.0], [1.5, -0.5])]),
            "the prior of the cell at column 0 of row 1 must be finite and not negative",
        ),
        (
            FactoredRow([0.0, math.nan, 0.0], [Cell(0, [1.0, 2.0])]),
            r"the base of row 1 must be finite; got NaN or infinity at \(1,\)\. A hole is given as "
            "a set of candidates",
        ),
        (FactoredRow([0.0, 0.0], []), r"the base of row 1 must have shape \(3,\); got \(2,\)"),
        (FactoredRow([[0.0] * 3], []), r"the base of row 1 must have shape \(3,\); got \(1, 3\)"),
        (FactoredRow(["a", "b", "c"], []), "the base of row 1 must be numbers; got list"),
    ],
)
def test_factored_rows_that_cannot_be_used(row: FactoredRow, message: str) -> None:
    with pytest.raises(DataError, match=message):
        IncompleteDataset([[0.0, 0.0, 0.0], row], [0, 1])


def test_the_first_factored_row_sets_the_width() -> None:
    with pytest.raises(DataError, match=r"the base of row 1 must have shape \(2,\); got \(1,\)"):
        IncompleteDataset([FactoredRow([0.0, 0.0], []), FactoredRow([0.0], [])], [0, 1])
    with pytest.raises(DataError, match=r"the base of here must have one dimension; got \(\)"):
        factored_row(FactoredRow(1.0, []), None, "here")


# -- priors ----------------------------------------------------------------------------------------


def test_no_prior_is_uniform() -> None:
    assert checked_weights(None, 4, "it").tolist() == [0.25] * 4
    data = IncompleteDataset([[[0.0], [1.0]], [[1.0], [2.0]]], [0, 1], [None, [0.25, 0.75]])
    assert data.prior(0).tolist() == [0.5, 0.5]
    assert data.prior(1).tolist() == [0.25, 0.75]


def test_a_sum_that_is_nearly_one_is_put_right() -> None:
    for weights in ([1 / 3] * 3, [0.1] * 10, [0.5 + 4e-10, 0.5], [1 - 1e-10]):
        actual = checked_weights(weights, len(weights), "it")
        assert math.fsum(actual) == pytest.approx(1.0, abs=3e-16)
        assert actual == pytest.approx(weights, rel=1e-9)


@pytest.mark.parametrize("weights", [[0.25, 0.75], (0.25, 0.75), np.array([0.25, 0.75]),
                                     pd.Series([0.25, 0.75], index=[7, 8]),
                                     [Fraction(1, 4), Fraction(3, 4)],
                                     np.array([0.25, 9.0, 0.75])[::2]])  # fmt: skip
def test_priors_may_be_written_in_many_ways(weights: object) -> None:
    assert one_row([[0.0], [1.0]], weights).prior(0).tolist() == [0.25, 0.75]


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ([0.5, 0.6], r"the prior of row 0 must sum to 1; got a sum of 1\.1\. Divide the weights"),
        ([0.5, 0.5 + 1e-8], "the prior of row 0 must sum to 1; got a sum of 1.00000001"),
        ([0.0, 0.0], "the prior of row 0 must sum to 1; got a sum of 0"),
        ([3, 1], "the prior of row 0 must sum to 1; got a sum of 4"),
        ([1.5, -0.5], r"the prior of row 0 must be finite and not negative; got \[ 1.5 -0.5\]"),
        ([math.nan, 1.0], r"the prior of row 0 must be finite and not negative; got \[nan  1.\]"),
        ([math.inf, 0.0], "the prior of row 0 must be finite and not negative"),
        ([1.0], r"one weight per candidate, shape \(2,\); got \(1,\)"),
        (
            [0.5, 0.25, 0.25],
            r"prior of row 0 must have one weight per candidate, .* got \(3,\)",
        ),
        ([[0.5, 0.5]], r"one weight per candidate, shape \(2,\); got \(1, 2\)"),
        (0.5, r"one weight per candidate, shape \(2,\); got \(\)"),
        ([], r"one weight per candidate, shape \(2,\); got \(0,\)"),
        (["half", "half"], "the prior of row 0 must be numbers; got list"),
        ([0.5, None], "the prior of row 0 must be finite"),
        ([0.5, 0.5j], "the prior of row 0 must be numbers"),
    ],
)
def test_priors_that_cannot_be_used(prior: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        one_row([[0.0], [1.0]], prior)


def test_long_priors_are_shortened_in_the_message() -> None:
    with pytest.raises(DataError, match=r"got \[-1\. .* \.\.\. ") as caught:
        one_row(np.zeros((1000, 1)), np.r_[-1.0, np.full(999, 2 / 999)])
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("count", [0, 1, 3])
def test_one_prior_a_row(count: int) -> None:
    expected = rf"priors must have one entry per row, 2 in all; got {count}\."
    with pytest.raises(DataError, match=expected):
        IncompleteDataset([[0.0], [1.0]], [0, 1], [None] * count)


def test_a_factored_row_takes_no_prior_from_outside() -> None:
    rows = [[0.0], FactoredRow([0.0], [Cell(0, [1.0, 2.0])])]
    expected = "row 1 is factored: give its priors in its cells, and None in priors"
    with pytest.raises(DataError, match=expected):
        IncompleteDataset(rows, [0, 1], [None, [0.5, 0.5]])
    assert IncompleteDataset(rows, [0, 1], [[1.0], None]) == IncompleteDataset(rows, [0, 1])


# -- numbers ---------------------------------------------------------------------------------------


FORMS = {
    "lists": lambda rows: [row.tolist() for row in rows],
    "tuples": lambda rows: tuple(tuple(map(tuple, row)) for row in rows),
    "int": lambda rows: [row.astype(np.int8) for row in rows],
    "unsigned": lambda rows: [row.astype(np.uint16) for row in rows],
    "float32": lambda rows: [row.astype(np.float32) for row in rows],
    "float16": lambda rows: [row.astype(np.float16) for row in rows],
    "longdouble": lambda rows: [row.astype(np.longdouble) for row in rows],
    "object": lambda rows: [row.astype(object) for row in rows],
    "bool": lambda rows: [row.astype(bool) for row in rows],
    "big-endian": lambda rows: [row.astype(">f8") for row in rows],
    "Fortran order": lambda rows: [np.asfortranarray(row) for row in rows],
    "strided": lambda rows: [np.repeat(np.repeat(row, 2, 0), 3, 1)[::2, ::3] for row in rows],
    "backwards": lambda rows: [row[::-1, ::-1].copy()[::-1, ::-1] for row in rows],
    "read-only": lambda rows: [_read_only(row) for row in rows],
    "pandas": lambda rows: [pd.DataFrame(row) for row in rows],
    "generator": lambda rows: (row for row in rows),
}


def _read_only(array: np.ndarray) -> np.ndarray:
    array = array.copy()
    array.flags.writeable = False
    return array


@pytest.mark.parametrize("form", FORMS)
def test_candidates_may_be_given_in_many_forms(form: str) -> None:
    rng = np.random.default_rng(3)
    rows = [rng.integers(0, 2, size=(size, 3)).astype(float) for size in (1, 3, 2, 4, 2, 1)]
    labels = [0, 1, 2, 0, 1, 2]
    expected = IncompleteDataset(rows, labels)
    actual = IncompleteDataset(FORMS[form](rows), labels)
    assert actual == expected
    X = rng.integers(0, 2, size=(3, 3)).astype(float)
    assert np.array_equal(world_shares(actual, X), world_shares(expected, X))
    assert np.array_equal(world_shares(expected, FORMS[form]([X])[0] if form != "generator" else X),
                          world_shares(expected, X))  # fmt: skip


@pytest.mark.parametrize(
    "values",
    [
        ["red"],
        np.array([["red"]]),
        np.array([b"red"]),
        [1j],
        np.array(["2024-01-01"], dtype="datetime64[D]"),
        np.array([1], dtype="timedelta64[D]"),
        [object()],
        ["1.5"],
        [[1.0], "red"],
        pd.Series(["red"], dtype="category"),
    ],
)
def test_what_is_not_a_number(values: object) -> None:
    pattern = r"these must be (numbers; got .* Encode categories as|vectors of equal length)"
    with pytest.raises(DataError, match=pattern):
        as_floats(values, "these")


# -- what is known of a row ------------------------------------------------------------------------


def listed_candidates(row: StoredRow) -> list[tuple[tuple[float, ...], float]]:
    """The candidates of a row and their priors, cell by cell, in plain Python."""
    found = [(tuple(row.base.tolist()), 1.0)]
    for cell in row.cells:
        found = [
            (vector[: cell.start] + tuple(value) + vector[cell.stop :], mass * weight)
            for vector, mass in found
            for value, weight in zip(cell.values.tolist(), cell.weights.tolist(), strict=True)
        ]
    return found


def narrowed_list(row: StoredRow, known: dict[int, float]) -> dict[tuple[float, ...], float]:
    """Cell by cell: values that agree stay; if none does, what is known takes their place."""
    left = listed_candidates(row)
    for cell in row.cells:
        said = {column: known[column] for column in known if cell.start <= column < cell.stop}
        agree = [one for one in left if all(one[0][column] == v for column, v in said.items())]
        left = agree or left
    merged: dict[tuple[float, ...], float] = {}
    for vector, mass in left:
        told = tuple(known.get(column, value) for column, value in enumerate(vector))
        merged[told] = merged.get(told, 0.0) + mass
    total = sum(merged.values())
    return {vector: mass / total for vector, mass in merged.items()} if total else merged


def random_row(rng: Random) -> StoredRow:
    width = rng.randint(1, 4)
    if rng.random() < 0.5:
        candidates = [
            [float(rng.randint(0, 2)) for _ in range(width)] for _ in range(rng.randint(1, 5))
        ]
        weights = [rng.choice([1.0, 2.0, 5.0]) for _ in candidates]
        return plain_row(np.array(candidates), np.array(weights) / sum(weights))
    cells = []
    column = 0
    while column < width:
        stop = min(width, column + rng.randint(1, 2))
        size = rng.randint(1, 3)
        values = [[float(rng.randint(0, 2)) for _ in range(column, stop)] for _ in range(size)]
        weights = [rng.choice([1.0, 3.0]) for _ in values]
        cells.append(Cell(range(column, stop), values, np.array(weights) / sum(weights)))
        column = stop + rng.randint(0, 1)
    return factored_row(FactoredRow([1.0] * width, cells), width, "row 0")


def test_narrowing_against_plain_lists() -> None:
    rng = Random(3)
    kinds = set()
    for _ in range(600):
        row = random_row(rng)
        width = len(row.base)
        columns = rng.sample(range(width), rng.randint(1, width))
        known = {column: float(rng.randint(0, 3)) for column in columns}
        before = listed_candidates(row)
        actual: dict[tuple[float, ...], float] = {}
        for vector, mass in listed_candidates(narrowed(row, known)):
            actual[vector] = actual.get(vector, 0.0) + mass
        expected = narrowed_list(row, known)
        assert actual.keys() == expected.keys()
        assert list(actual.values()) == pytest.approx([expected[one] for one in actual])
        assert listed_candidates(row) == before  # the row itself is as it was
        kinds.add((len(actual) > 1, set(actual) <= {vector for vector, _ in before}))
    assert len(kinds) == 4


def test_values_that_agree_keep_their_order() -> None:
    row = plain_row(np.array([[3.0, 1.0], [0.0, 2.0], [3.0, 0.0]]), np.array([0.5, 0.3, 0.2]))
    left = narrowed(row, {0: 3.0})
    assert listed_candidates(left) == [((3.0, 1.0), 0.5 / 0.7), ((3.0, 0.0), 0.2 / 0.7)]
    assert left.base.tolist() == [3.0, 1.0]


def test_values_that_become_the_same_are_one() -> None:
    row = plain_row(np.array([[3.0, 1.0], [0.0, 2.0], [4.0, 1.0]]), np.array([0.5, 0.3, 0.2]))
    assert listed_candidates(narrowed(row, {0: 9.0})) == [((9.0, 1.0), 0.7), ((9.0, 2.0), 0.3)]


def test_candidates_without_prior_that_are_left_are_equally_likely() -> None:
    row = plain_row(np.array([[0.0, 1.0], [1.0, 2.0], [1.0, 3.0]]), np.array([1.0, 0.0, 0.0]))
    assert listed_candidates(narrowed(row, {0: 1.0})) == [((1.0, 2.0), 0.5), ((1.0, 3.0), 0.5)]


def test_what_is_known_of_a_clean_row() -> None:
    row = plain_row(np.array([[0.0, 1.0]]), np.ones(1))
    assert listed_candidates(narrowed(row, {1: 5.0})) == [((0.0, 5.0), 1.0)]
    assert listed_candidates(narrowed(row, {})) == [((0.0, 1.0), 1.0)]


def test_within_says_no_more_than_plain_lists() -> None:
    rng = Random(4)
    answers = {True: 0, False: 0}
    for _ in range(800):
        old = random_row(rng)
        width = len(old.base)
        columns = rng.sample(range(width), rng.randint(0, width))
        known = {column: float(rng.randint(0, 3)) for column in columns}
        new = narrowed(old, known) if rng.random() < 0.7 else random_row(rng)
        if len(new.base) != width:
            continue
        subset = {one for one, _ in listed_candidates(new)} <= {
            one for one, _ in listed_candidates(old)
        }
        if within(new, old):
            assert subset
        same_cells = {cell.start: cell.stop for cell in old.cells}
        if all(same_cells.get(cell.start) == cell.stop for cell in new.cells):
            assert within(new, old) == subset
        answers[subset] += 1
    assert min(answers.values()) > 100
