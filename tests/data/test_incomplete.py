"""IncompleteDataset: sizes, single rows, immutable updates, equality, pickling."""

from __future__ import annotations

import copy
import math
import pickle
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from data.slow_table import written_out
from strategies import expand, random_case, random_factored_case, sweep

from cpclean import Cell, CPCleanError, FactoredRow, IncompleteDataset, world_counts, world_shares
from cpclean.errors import DataError, UnknownRowError

# Row 0 is plain, row 1 factored (its cells given out of order), row 2 clean.
ROWS = [
    [[0.0, 1.0, 2.0], [0.0, 5.0, 2.0], [0.0, 6.0, 2.0]],
    FactoredRow(
        [math.nan, math.nan, math.nan],
        [Cell([1, 2], [[1.0, 2.0], [3.0, 4.0]], [0.25, 0.75]), Cell(0, [7.0, 8.0, 9.0])],
    ),
    [4.0, 4.0, 4.0],
]
LABELS = ["no", "yes", "no"]
PRIORS = [[0.5, 0.25, 0.25], None, None]


@pytest.fixture
def data() -> IncompleteDataset:
    return IncompleteDataset(ROWS, LABELS, PRIORS)


# -- sizes -----------------------------------------------------------------------------------------


def test_sizes(data: IncompleteDataset) -> None:
    assert (data.n_rows, data.n_features, data.n_classes) == (3, 3, 2)
    assert data.candidate_counts.tolist() == [3, 6, 1]
    assert data.n_candidates == 10
    assert data.dirty_rows.tolist() == [0, 1]
    assert data.pinned_rows.tolist() == []
    assert data.n_worlds == 18
    assert type(data.n_worlds) is type(data.n_candidates) is type(data.n_rows) is int


def test_labels(data: IncompleteDataset) -> None:
    assert data.classes.tolist() == ["no", "yes"]
    assert data.codes.tolist() == [0, 1, 0]
    assert data.labels.tolist() == LABELS


def test_n_worlds_is_exact_however_large() -> None:
    sizes = [1 + row % 7 for row in range(20_000)]
    data = IncompleteDataset([np.arange(size)[:, None] for size in sizes], [0] * len(sizes))
    expected = math.prod(sizes)
    assert expected.bit_length() > 30_000
    assert data.n_worlds == expected
    assert data.pin(6, 0).n_worlds == expected // 7


def test_n_worlds_of_factored_rows() -> None:
    row = FactoredRow(np.zeros(9), [Cell(column, np.arange(5)) for column in range(8)])
    data = IncompleteDataset([row] * 30, list(range(30)))
    assert data.n_candidates == 30 * 5**8
    assert data.n_worlds == 5**240


def test_sizes_of_drawn_cases() -> None:
    for make in (random_case, random_factored_case):
        for case in sweep(100, 31, make):
            data = case.dataset()
            assert data.n_worlds == case.n_worlds
            assert data.candidate_counts.tolist() == [len(row) for row in case.candidates]
            assert data.dirty_rows.tolist() == [
                i for i, row in enumerate(case.candidates) if len(row) > 1
            ]
            assert data.classes.tolist() == case.classes
            assert data.codes.tolist() == case.codes


# -- one row ---------------------------------------------------------------------------------------


def test_candidates_and_prior(data: IncompleteDataset) -> None:
    assert data.candidates(0).tolist() == ROWS[0]
    assert data.prior(0).tolist() == PRIORS[0]
    assert data.candidates(2).tolist() == [ROWS[2]]
    assert data.prior(2).tolist() == [1.0]
    expected = [[a, b, c] for a, (b, c) in product([7.0, 8.0, 9.0], [(1.0, 2.0), (3.0, 4.0)])]
    assert data.candidates(1).tolist() == expected
    assert data.prior(1) == pytest.approx([0.25 / 3, 0.75 / 3] * 3, rel=1e-15)


def test_candidate_is_a_row_of_candidates(data: IncompleteDataset) -> None:
    for row in range(data.n_rows):
        expected = data.candidates(row)
        actual = [data.candidate(row, number) for number in range(len(expected))]
        assert np.array_equal(actual, expected)


def test_one_candidate_of_a_row_too_large_to_write_out() -> None:
    cells = [Cell(column, column * 10.0 + np.arange(5)) for column in range(8)]
    data = IncompleteDataset([FactoredRow(np.zeros(8), cells)], [0])
    number = 5**8 - 2  # all cells at their last value but the last cell
    assert data.candidate(0, number).tolist() == [4, 14, 24, 34, 44, 54, 64, 73]
    assert data.candidate(0, 5).tolist() == [0, 10, 20, 30, 40, 50, 61, 70]


def test_rows_of_drawn_cases_are_those_written_out() -> None:
    for case in sweep(200, 32, random_factored_case):
        data = case.dataset()
        for row, factored in enumerate(case.factored):
            assert data.candidates(row).tolist() == case.candidates[row]
            if factored is not None:
                _, weights = expand(factored)
                assert data.prior(row) == pytest.approx([float(w) for w in weights], rel=1e-14)


def test_cells(data: IncompleteDataset) -> None:
    first, second = data.cells(1)
    assert (first.column, second.column) == ((0,), (1, 2))
    assert first.values.tolist() == [[7.0], [8.0], [9.0]]
    assert second.values.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert second.prior.tolist() == [0.25, 0.75]
    (plain,) = data.cells(0)
    assert plain.column == (1,)  # only this column varies
    assert plain.values.tolist() == [[1.0], [5.0], [6.0]]
    assert data.cells(2) == ()


def test_cells_make_the_same_dataset_again(data: IncompleteDataset) -> None:
    rows = [FactoredRow(data.candidate(row, 0), data.cells(row)) for row in range(data.n_rows)]
    assert IncompleteDataset(rows, LABELS) == data


def test_what_is_handed_out_is_the_callers_own(data: IncompleteDataset) -> None:
    expected = copy.deepcopy(data)
    for row in range(data.n_rows):
        data.candidates(row)[:] = -1.0
        data.candidate(row, 0)[:] = -1.0
        data.prior(row)[:] = -1.0
        for cell in data.cells(row):
            cell.values[:] = -1.0
            cell.prior[:] = -1.0
    assert data == expected


@pytest.mark.parametrize("row", [-1, 3, 100, np.int64(3)])
@pytest.mark.parametrize("method", ["candidates", "prior", "cells", "unpin"])
def test_an_unknown_row(data: IncompleteDataset, method: str, row: int) -> None:
    expected = rf"row must be an int in \[0, 2\] \(the data has 3 rows\); got {row}\."
    with pytest.raises(UnknownRowError, match=expected):
        getattr(data, method)(row)
    with pytest.raises(KeyError, match=expected):
        data.pin(row, 0)


@pytest.mark.parametrize("number", [-1, 6, 10**12])
def test_an_unknown_candidate(data: IncompleteDataset, number: int) -> None:
    expected = rf"row 1 has candidates 0 to 5; got candidate {number}\."
    with pytest.raises(UnknownRowError, match=expected):
        data.candidate(1, number)
    with pytest.raises(KeyError, match=expected):
        data.pin(1, number)


def test_errors_are_also_of_the_usual_kind() -> None:
    assert issubclass(DataError, ValueError)
    assert issubclass(UnknownRowError, KeyError)
    assert issubclass(DataError, CPCleanError)
    assert issubclass(UnknownRowError, CPCleanError)
    assert str(UnknownRowError("row 'x' is not there")) == "row 'x' is not there"


# -- immutable updates -----------------------------------------------------------------------------


def test_pin_to_a_candidate(data: IncompleteDataset) -> None:
    pinned = data.pin(1, 3)
    assert pinned.candidates(1).tolist() == [data.candidates(1)[3].tolist()]
    assert pinned.prior(1).tolist() == [1.0]
    assert pinned.n_worlds == 3
    assert pinned.candidate_counts.tolist() == [3, 1, 1]
    assert pinned.dirty_rows.tolist() == [0]
    assert pinned.pinned_rows.tolist() == [1]
    assert pinned.labels.tolist() == LABELS


def test_pin_to_a_value_that_is_no_candidate(data: IncompleteDataset) -> None:
    pinned = data.pin(0, value=[-1, -2, -3])
    assert pinned.candidates(0).tolist() == [[-1.0, -2.0, -3.0]]
    assert pinned.pinned_rows.tolist() == [0]
    assert pinned == IncompleteDataset([[-1.0, -2.0, -3.0], *ROWS[1:]], LABELS)


def test_pin_a_clean_row(data: IncompleteDataset) -> None:
    assert data.pin(2, 0) == data
    assert data.pin(2, 0).pinned_rows.tolist() == [2]
    assert data.pin(2, value=[1.0, 2.0, 3.0]).unpin(2) == data


def test_pin_leaves_the_original_alone(data: IncompleteDataset) -> None:
    expected = IncompleteDataset(ROWS, LABELS, PRIORS)
    X = [[0.0, 0.0, 0.0]]
    before = world_counts(data, X, 1).tolist()
    pinned = data.pin(0, 2).pin(1, value=[0.0, 0.0, 0.0])
    assert world_counts(pinned, X, 1).tolist() == [[0, 1]]
    assert data == expected
    assert data.n_worlds == 18
    assert data.pinned_rows.tolist() == []
    assert world_counts(data, X, 1).tolist() == before


def test_unpin(data: IncompleteDataset) -> None:
    pinned = data.pin(0, 2).pin(1, 4)
    assert pinned.unpin(1) == data.pin(0, 2)
    assert pinned.unpin(0) == data.pin(1, 4)
    assert pinned.unpin(0).unpin(1) == data
    assert pinned.unpin(1).prior(1).tolist() == data.prior(1).tolist()
    assert pinned.unpin(1).pinned_rows.tolist() == [0]
    assert data.unpin(0) == data


def test_pin_a_pinned_row_again(data: IncompleteDataset) -> None:
    pinned = data.pin(0, 1)
    with pytest.raises(UnknownRowError, match=r"row 0 has candidates 0 to 0; got candidate 1\."):
        pinned.pin(0, 1)
    again = pinned.pin(0, value=[9.0, 9.0, 9.0])
    assert again.candidates(0).tolist() == [[9.0, 9.0, 9.0]]
    assert again.unpin(0) == data


def test_pin_and_unpin_of_drawn_cases() -> None:
    for case in sweep(60, 33, random_factored_case):
        data = case.dataset()
        for row in range(data.n_rows):
            for number, vector in enumerate(case.candidates[row]):
                pinned = data.pin(row, number)
                assert pinned.candidates(row).tolist() == [vector]
                assert pinned == data.pin(row, value=vector)
                assert pinned.unpin(row) == data


def test_pin_takes_a_candidate_or_a_value(data: IncompleteDataset) -> None:
    for arguments in ({}, {"candidate": 0, "value": [0.0, 0.0, 0.0]}):
        with pytest.raises(DataError, match="number of a candidate or a value, one of the two"):
            data.pin(0, **arguments)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([1.0, 2.0], r"the pinned value must have shape \(3,\); got \(2,\)"),
        ([[1.0, 2.0, 3.0]], r"the pinned value must have shape \(3,\); got \(1, 3\)"),
        (1.0, r"the pinned value must have shape \(3,\); got \(\)"),
        ([1.0, math.nan, 3.0], r"the pinned value must be finite; got NaN or infinity at \(1,\)"),
        ([math.inf, 2.0, 3.0], r"the pinned value must be finite; got NaN or infinity at \(0,\)"),
        (["a", "b", "c"], "the pinned value must be numbers; got list"),
    ],
)
def test_pin_checks_the_value(data: IncompleteDataset, value: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        data.pin(0, value=value)


# -- what is known of a row ------------------------------------------------------------------------


def test_given_keeps_the_candidates_that_agree(data: IncompleteDataset) -> None:
    known = data.given(1, {0: 8.0})
    assert known.candidates(1).tolist() == [[8.0, 1.0, 2.0], [8.0, 3.0, 4.0]]
    assert known.prior(1).tolist() == [0.25, 0.75]
    assert known.candidate_counts.tolist() == [3, 2, 1]
    assert known.dirty_rows.tolist() == [0, 1]
    assert known.pinned_rows.tolist() == [1]
    assert known.n_worlds == 6
    assert known.given(1, {0: 8.0, 2: 4.0}) == data.pin(1, 3)
    assert known.candidates(0).tolist() == data.candidates(0).tolist()


def test_given_a_value_that_no_candidate_has(data: IncompleteDataset) -> None:
    known = data.given(1, {1: 5.0})
    assert sorted(known.candidates(1).tolist()) == [
        [first, 5.0, last] for first in (7.0, 8.0, 9.0) for last in (2.0, 4.0)
    ]
    assert data.given(0, {0: -1.0}).candidates(0).tolist() == [
        [-1.0, 1.0, 2.0], [-1.0, 5.0, 2.0], [-1.0, 6.0, 2.0]
    ]  # fmt: skip
    assert data.given(2, {1: 9.0}).candidates(2).tolist() == [[4.0, 9.0, 4.0]]


def test_given_forgets_what_was_known_before(data: IncompleteDataset) -> None:
    one = data.given(1, {0: 8.0}).given(1, {1: 3.0})
    assert one == data.given(1, {1: 3.0})
    assert one.unpin(1) == data
    assert data.pin(1, 0).given(1, {}) == data
    assert data.given(0, {1: 5.0}).given(1, {0: 7.0}) == data.given(1, {0: 7.0}).given(0, {1: 5.0})


def test_given_a_whole_candidate_is_pinned() -> None:
    for case in sweep(40, 34, random_factored_case):
        data = case.dataset()
        for row in range(data.n_rows):
            for vector in case.candidates[row]:
                known = data.given(row, dict(enumerate(vector)))
                assert known == data.pin(row, value=vector)
                assert known.unpin(row) == data


def test_queries_of_data_with_a_row_known_in_part() -> None:
    for case in sweep(60, 35, random_factored_case):
        data = case.dataset()
        row = int(np.argmax(data.candidate_counts))
        column = case.X[0].index(max(case.X[0]))
        known = data.given(row, {column: case.X[0][column]})
        rewritten = known.expanded()
        assert known.n_worlds == rewritten.n_worlds
        question = (case.X, case.n_neighbors, case.metric)
        assert (
            world_counts(known, *question).tolist() == world_counts(rewritten, *question).tolist()
        )
        assert world_shares(known, *question) == pytest.approx(
            world_shares(rewritten, *question), abs=1e-12
        )


def test_given_can_be_pickled(data: IncompleteDataset) -> None:
    known = data.given(1, {0: 8.0})
    other = pickle.loads(pickle.dumps(known))
    assert other == known
    assert other.unpin(1) == data


@pytest.mark.parametrize(
    ("known", "message"),
    [
        ({3: 1.0}, r"known columns must be ints in \[0, 2\]; got 3"),
        ({-1: 1.0}, r"known columns must be ints in \[0, 2\]; got -1"),
        ({"a": 1.0}, r"known columns must be ints in \[0, 2\]; got 'a'"),
        ({0: "x"}, r"what is known of column 0 must be numbers; got str"),
        ({0: [1.0, 2.0]}, r"what is known of column 0 must be one number; got \[1\.0, 2\.0\]"),
        ({1: math.nan}, r"what is known of column 1 must be finite"),
    ],
)
def test_given_checks_what_is_known(data: IncompleteDataset, known: dict, message: str) -> None:
    with pytest.raises(DataError, match=message):
        data.given(0, known)


def test_given_of_an_unknown_row(data: IncompleteDataset) -> None:
    with pytest.raises(UnknownRowError, match=r"row must be an int in \[0, 2\]"):
        data.given(3, {0: 1.0})


def test_arrays_cannot_be_written_to(data: IncompleteDataset) -> None:
    for one in (data, data.pin(0, 1), pickle.loads(pickle.dumps(data)), copy.deepcopy(data)):
        world_shares(one, np.zeros((1, 3)))  # also whatever a query keeps with the data
        kept = [value for value in vars(one).values() if isinstance(value, np.ndarray)]
        kept += one.arrays
        assert len(kept) > 12
        assert not any(array.flags.writeable for array in [*kept, one.candidate_counts])
        with pytest.raises(ValueError, match="read-only"):
            one.codes[0] = 1
        with pytest.raises(ValueError, match="read-only"):
            one.classes[0] = "maybe"


def test_inputs_are_copied_and_not_written_to() -> None:
    candidates = [np.array([[0.0], [1.0]]), np.array([[2.0]])]
    base, values, weights = np.array([np.nan]), np.array([3.0, 4.0]), np.array([0.5, 0.5])
    labels, prior = np.array([0, 1, 1]), np.array([0.25, 0.75])
    given = [*candidates, base, values, weights, labels, prior]
    before = [array.copy() for array in given]
    rows = [*candidates, FactoredRow(base, [Cell(0, values, weights)])]
    data = IncompleteDataset(rows, labels, [prior, None, None])
    expected = pickle.loads(pickle.dumps(data))
    for array, was in zip(given, before, strict=True):
        assert np.array_equal(array, was, equal_nan=True)
        assert array.flags.writeable
        array[...] = 7
    assert data == expected


# -- equality, pickling, repr ----------------------------------------------------------------------


def test_equality(data: IncompleteDataset) -> None:
    assert data == IncompleteDataset(ROWS, LABELS, PRIORS)
    assert data == IncompleteDataset([np.array(ROWS[0]), *ROWS[1:]], np.array(LABELS), PRIORS)
    assert data != data.pin(0, 0)
    assert data.pin(0, 1) == IncompleteDataset([ROWS[0][1], *ROWS[1:]], LABELS)
    assert data != "data"
    assert (data == 3) is False


@pytest.mark.parametrize(
    "other",
    [
        IncompleteDataset(ROWS, LABELS),
        IncompleteDataset(ROWS, ["no", "yes", "yes"], PRIORS),
        IncompleteDataset(ROWS, [0, 1, 0], PRIORS),
        IncompleteDataset([*ROWS[:2], [4.0, 4.0, 5.0]], LABELS, PRIORS),
        IncompleteDataset([ROWS[0][:2], *ROWS[1:]], LABELS),
        IncompleteDataset([[*ROWS[0][:2], [0.0, 7.0, 2.0]], *ROWS[1:]], LABELS, PRIORS),
        IncompleteDataset([[*ROWS[0][:2], [0.0, 6.0, 3.0]], *ROWS[1:]], LABELS, PRIORS),
        IncompleteDataset(ROWS[:2], LABELS[:2], PRIORS[:2]),
        IncompleteDataset([[0.0]], ["no"]),
    ],
    ids=[
        "priors", "labels", "classes", "clean row", "fewer", "value", "columns", "rows", "other"
    ],
)  # fmt: skip
def test_inequality(data: IncompleteDataset, other: IncompleteDataset) -> None:
    assert data != other
    assert other != data


def test_the_form_belongs_to_equality(data: IncompleteDataset) -> None:
    assert data.expanded() != data
    assert data.expanded().n_worlds == data.n_worlds


def test_it_has_no_hash(data: IncompleteDataset) -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(data)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(data: IncompleteDataset, protocol: int) -> None:
    world_counts(data, np.zeros((1, 3)), 1)  # what a query keeps with the data does not travel
    again = pickle.loads(pickle.dumps(data, protocol))
    assert again == data
    assert again.n_worlds == data.n_worlds
    X = np.array([[1.0, 2.0, 3.0]])
    assert world_counts(again, X, 2).tolist() == world_counts(data, X, 2).tolist()
    assert again.pin(0, 1) == data.pin(0, 1)


def test_pickle_of_pinned_data_can_be_unpinned(data: IncompleteDataset) -> None:
    pinned = data.pin(0, 2).pin(1, value=[0.0, 0.0, 0.0])
    again = pickle.loads(pickle.dumps(pinned))
    assert again == pinned
    assert again.pinned_rows.tolist() == [0, 1]
    assert again.unpin(1) == data.pin(0, 2)
    assert again.unpin(1).unpin(0) == data
    assert copy.deepcopy(pinned).unpin(0) == pinned.unpin(0)


def test_a_pickle_holds_no_derived_arrays() -> None:
    rows = np.arange(600.0).reshape(200, 3, 1)
    data = IncompleteDataset(rows, [0, 1] * 100)
    before = len(pickle.dumps(data))
    world_shares(data, [[0.0]])
    assert data.n_worlds == 3**200
    assert len(pickle.dumps(data)) == before


def test_repr(data: IncompleteDataset) -> None:
    sizes = "3 rows x 3 features, 2 classes, 2 dirty rows, 10 candidates, 18 worlds"
    assert repr(data) == f"IncompleteDataset({sizes})"
    one = IncompleteDataset([[1.0]], ["a"])
    sizes = "1 row x 1 feature, 1 class, 0 dirty rows, 1 candidate, 1 world"
    assert repr(one) == f"IncompleteDataset({sizes})"
    dirty = IncompleteDataset([[[1.0], [2.0]]], ["a"])
    assert "1 dirty row, 2 candidates, 2 worlds" in repr(dirty)


def test_repr_of_more_worlds_than_python_prints() -> None:
    data = IncompleteDataset([np.zeros((10, 1))] * 5000, [0] * 5000)
    assert repr(data).endswith("50000 candidates, about 10^5000.0 worlds)")
    assert repr(IncompleteDataset([np.zeros((10, 1))] * 6, [0] * 6)).endswith("10^6.0 worlds)")
    assert repr(IncompleteDataset([np.zeros((10, 1))] * 5, [0] * 5)).endswith(" 100000 worlds)")


# -- the written-out form --------------------------------------------------------------------------


def test_expanded() -> None:
    for case in sweep(100, 34, random_factored_case):
        data = case.dataset()
        actual = data.expanded()
        assert actual.labels.tolist() == data.labels.tolist()
        assert actual.candidate_counts.tolist() == data.candidate_counts.tolist()
        for row in range(data.n_rows):
            assert actual.candidates(row).tolist() == case.candidates[row]
            assert actual.prior(row) == pytest.approx(data.prior(row), rel=1e-14, abs=0)
            assert len(actual.cells(row)) <= 1


def test_pin_commutes_with_expanding() -> None:
    for case in sweep(40, 35, random_factored_case):
        data = case.dataset()
        for row in data.dirty_rows:
            for number in range(data.candidate_counts[row]):
                expected = data.expanded().pin(row, number)
                assert data.pin(row, number).expanded() == expected


def test_memory_is_that_of_the_cells() -> None:
    values = np.arange(5.0)
    row = FactoredRow(np.zeros(8), [Cell(column, values) for column in range(8)])
    data = IncompleteDataset([row] * 100, [0, 1] * 50)
    assert data.n_candidates == 100 * 5**8
    held = sum(array.nbytes for array in vars(data).values() if isinstance(array, np.ndarray))
    assert held < 100 * 8 * (5 * 8 * 2 + 100)  # values, weights, and a few numbers a cell


# -- some rows, other rows, the bare arrays --------------------------------------------------------


def some_rows(case, rows):
    """The rows of a case built anew."""

    def chosen(items):
        return None if items is None else [items[row] for row in rows]

    return replace(
        case,
        candidates=chosen(case.candidates),
        labels=chosen(case.labels),
        priors=chosen(case.priors),
        factored=chosen(case.factored),
    ).dataset()


@pytest.mark.parametrize("make", [random_case, random_factored_case])
def test_taken_rows_are_those_rows_built_anew(make) -> None:
    rng = np.random.default_rng(0)
    for case in sweep(150, seed=3, make=make):
        data = case.dataset()
        rows = rng.integers(0, data.n_rows, rng.integers(1, 2 * data.n_rows))
        expected, actual = some_rows(case, rows), data.take(rows)
        assert actual.classes.tolist() == data.classes.tolist()
        assert actual.labels.tolist() == expected.labels.tolist()
        assert written_out(actual.arrays) == written_out(expected.arrays)
        assert actual.candidate_counts.tolist() == expected.candidate_counts.tolist()
        assert not any(array.flags.writeable for array in actual.arrays)


def test_taken_rows_are_as_known(data: IncompleteDataset) -> None:
    known = data.given(1, {0: 8.0}).pin(0, 2)
    taken = known.take([1, 0, 2])
    assert taken.candidates(0).tolist() == known.candidates(1).tolist()
    assert taken.candidates(1).tolist() == [[0.0, 6.0, 2.0]]
    assert taken.pinned_rows.tolist() == []
    assert taken.unpinned is taken
    # cells of no row are left behind
    assert len(taken.arrays.cell_size) == 1
    assert known.take(range(3)) == known


def test_rows_that_cannot_be_taken(data: IncompleteDataset) -> None:
    with pytest.raises(UnknownRowError, match=r"\[0, 2\] \(the data has 3 rows\); got -1, 3"):
        data.take([-1, 0, 3])
    for rows in ([], [0.5], 1, [True], [[0]]):
        with pytest.raises(UnknownRowError, match="sequence of at least one row number; got"):
            data.take(rows)


def test_other_rows_in_the_place_of_some(data: IncompleteDataset) -> None:
    other = data.with_rows({2: data.stored_row(1), 0: data.stored_row(2)})
    assert other == IncompleteDataset([ROWS[2], ROWS[1], ROWS[1]], LABELS)
    assert other.unpinned is other
    assert data.with_rows({}) == data
    with pytest.raises(UnknownRowError, match="got 3"):
        data.with_rows({3: data.stored_row(0)})


def test_the_bare_arrays_are_the_data(data: IncompleteDataset) -> None:
    known = data.given(1, {0: 8.0})
    again = IncompleteDataset.from_arrays(known.arrays, known.codes, known.classes)
    assert again == known
    assert again.pinned_rows.tolist() == []
    assert known.unpinned is data
    with pytest.raises(ValueError, match="read-only"):
        again.arrays.base[0] = 1.0


def test_what_others_derive_stays_with_the_data(data: IncompleteDataset) -> None:
    data.derived["mine"] = 1
    for other in (
        copy.copy(data),
        pickle.loads(pickle.dumps(data)),
        data.pin(0, 1),
        data.take([0]),
    ):
        assert other.derived == {}
    assert data.derived == {"mine": 1}


@pytest.mark.parametrize("shape", [(4, 3), (4, 1, 3)])
@pytest.mark.parametrize("dtype", [float, np.float32, int, bool, object])
def test_complete_rows_as_one_array_are_those_rows(shape, dtype) -> None:
    rows = np.arange(12).reshape(shape).astype(dtype)
    expected = IncompleteDataset([row.tolist() for row in rows], list("abab"))
    actual = IncompleteDataset(rows, list("abab"))
    assert actual == expected
    assert actual.n_worlds == 1
    if dtype is float:
        rows[2] = -1.0  # the data has a copy
        assert actual == expected
        rows[2].flat[1] = np.nan
        with pytest.raises(DataError, match=r"the candidates of row 2 must be finite; .* \(0, 1\)"):
            IncompleteDataset(rows, list("abab"))
