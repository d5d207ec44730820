"""Candidates of an IncompleteTable: raw values there and back, and suspects."""

from __future__ import annotations

import math
from datetime import datetime
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from data.table_samples import FEATURES, FRAME, SUSPECTS, encoded_back
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.impute import KNNImputer, SimpleImputer

from cpclean import Cell, FactoredRow, IncompleteDataset, IncompleteTable
from cpclean.data.columns import OTHER
from cpclean.data.repairs import Imputers
from cpclean.data.table import MAX_EXACT
from cpclean.errors import TableError, UnknownRowError

# -- raw values ------------------------------------------------------------------------------------


@pytest.mark.parametrize("suspects", [None, SUSPECTS])
@pytest.mark.parametrize("scaling", ["minmax", "standard", "none"])
@pytest.mark.parametrize(
    "repairs",
    [
        "default",
        {"age": [20, 30], "city": ["Z", OTHER]},
        [SimpleImputer(), SimpleImputer(strategy="median"), KNNImputer()],
        Imputers([SimpleImputer(), SimpleImputer(strategy="median")], weigh="version"),
    ],
    ids=["default", "dict", "imputers", "weighed"],
)
@pytest.mark.parametrize("weights", [None, {"age": 2.0, "city": 0.5}, {"since": 0, "age": 0}])
def test_raw_candidates_are_numbered_as_those_of_the_dataset(
    repairs: Any, suspects: Any, scaling: str, weights: Any
) -> None:
    table = IncompleteTable(
        FRAME, "y", repairs, suspects=suspects, scaling=scaling, weights=weights
    )
    for row in range(table.n_rows):
        np.testing.assert_array_equal(encoded_back(table, row), table.dataset.candidates(row))


def test_raw_rows() -> None:
    table = IncompleteTable(FRAME, label="y")
    assert table.row(1) == {
        "age": None, "city": "B", "member": False, "since": datetime(2021, 6, 1),
    }  # fmt: skip
    assert repr(table.row(0)["age"]) == "18"
    assert table.candidates(4) == [{}]
    assert set(table.candidates(5)[0]) == {"age", "city"}


@pytest.mark.parametrize("row", [-1, 6, 1.5, "first", None])
def test_rows_that_are_not_there(row: Any) -> None:
    table = IncompleteTable(FRAME, label="y")
    for look in (table.row, table.candidates):
        with pytest.raises(UnknownRowError, match=rf"row must be an int in \[0, 5\]; got {row!r}"):
            look(row)
    assert table.row(np.int64(5)) == table.row(5)  # type: ignore[arg-type]


@pytest.mark.parametrize("weights", [{"age": 2.0}, {"age": 0.5, "city": 3.0}])
def test_weights_of_columns_stretch_them(weights: dict[str, float]) -> None:
    plain = IncompleteTable(FRAME, "y", prior="uniform")
    table = IncompleteTable(FRAME, "y", prior="uniform", weights=weights)
    stretch = np.ones(plain.dataset.n_features)
    for feature in plain.space.features:
        assert feature is not None
        stretch[feature.start : feature.stop] = weights.get(feature.name, 1.0)
    for row in range(6):
        np.testing.assert_allclose(
            table.dataset.candidates(row), plain.dataset.candidates(row) * stretch
        )


cells = st.tuples(
    st.sampled_from([0.0, 1.0, 2.5, None]),
    st.sampled_from([3.0, 4.0, None]),
    st.sampled_from(["a", "b", "c", None]),
    st.integers(0, 1),
)


@settings(max_examples=80)
@given(st.lists(cells, min_size=1, max_size=8), st.booleans())
def test_a_table_is_the_dataset_built_by_hand(rows: list[tuple[Any, ...]], whole: bool) -> None:
    """Factored rows cell by cell; written out in full they are the encoded raw candidates."""
    full = [(0.0, 3.0, "a", 0), (4.0, 5.0, "b", 1), *rows]
    frame = pd.DataFrame(full, columns=["m", "n", "c", "y"]).assign(k=range(len(full)))
    table = IncompleteTable(frame, label="y", prior="uniform")
    expected_rows: list[Any] = []
    for row in range(len(full)):
        vectors = encoded_back(table, row)
        if whole:
            expected_rows.append(vectors)
            continue
        values: dict[str, list[Any]] = {}
        for one in table.candidates(row):
            for name, value in one.items():
                values.setdefault(name, []).append(value)
        spots = {f.name: f for f in table.space.features if f is not None}
        expected_rows.append(
            FactoredRow(
                vectors[0],
                [
                    Cell(range(spots[name].start, spots[name].stop),
                         spots[name].encoded(list(dict.fromkeys(listed))))
                    for name, listed in values.items()
                ],
            )
        )  # fmt: skip
    expected = IncompleteDataset(expected_rows, frame["y"], max_exact=MAX_EXACT)
    actual = table.dataset
    if whole:
        rows = [actual.candidates(row) for row in range(actual.n_rows)]
        actual = IncompleteDataset(rows, actual.labels, max_exact=MAX_EXACT)
    assert actual == expected


@given(st.lists(cells, min_size=1, max_size=8))
def test_a_complete_table_is_its_encoded_rows(rows: list[tuple[Any, ...]]) -> None:
    complete = [row for row in rows if None not in row]
    full = [(0.0, 3.0, "a", 0), (4.0, 5.0, "b", 1), *complete]
    frame = pd.DataFrame(full, columns=["m", "n", "c", "y"])
    table = IncompleteTable(frame, label="y")
    assert table.dataset.n_worlds == 1
    rows = list(table.encode(frame))
    assert table.dataset == IncompleteDataset(rows, frame["y"], max_exact=MAX_EXACT)


# -- suspects --------------------------------------------------------------------------------------


def test_suspects_as_a_mask_and_as_a_list() -> None:
    mask = np.zeros((6, 4), dtype=bool)
    for row, name in SUSPECTS:
        mask[row, FEATURES.index(name)] = True
    expected = IncompleteTable(FRAME, "y", suspects=SUSPECTS).dataset
    pairs = np.array(SUSPECTS, dtype=object)
    for suspects in (mask, mask.tolist(), pd.DataFrame(mask), pl.DataFrame(mask), pairs,
                     set(SUSPECTS)):  # fmt: skip
        assert IncompleteTable(FRAME, "y", suspects=suspects).dataset == expected


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_a_mask_with_names_is_taken_by_them(make: Any) -> None:
    named = {name: [(row, name) in SUSPECTS for row in range(6)] for name in FEATURES}
    expected = IncompleteTable(FRAME, "y", suspects=SUSPECTS).dataset
    backwards = make({"y": [False] * 6, **dict(reversed(named.items()))})  # the label may be there
    assert IncompleteTable(FRAME, "y", suspects=backwards).dataset == expected
    del named["city"]
    with pytest.raises(TableError, match="suspects as a mask lacks column 'city'"):
        IncompleteTable(FRAME, "y", suspects=make(named))


def test_nothing_is_doubted_by_an_empty_list() -> None:
    expected = IncompleteTable(FRAME, "y").dataset
    assert IncompleteTable(FRAME, "y", suspects=[]).dataset == expected
    assert IncompleteTable(FRAME, "y", suspects=np.zeros((6, 4), dtype=bool)).dataset == expected


def test_candidates_of_a_suspect_begin_with_the_present_value() -> None:
    table = IncompleteTable(FRAME, "y", suspects=SUSPECTS)
    ages = [one["age"] for one in table.candidates(0)]
    assert ages[0] == 18
    assert ages[1:] == [30, 35.0, 45.0, 52.5, 65]  # of 30, 65 and 40: 18 is doubted
    assert [one["city"] for one in table.candidates(3)][::2] == ["A", "B", "C", OTHER]
    assert table.row(0)["age"] == 18
    assert table.candidates(1) == [{"age": age} for age in (30, 35.0, 45.0, 52.5, 65)]  # no value


def test_candidates_of_a_suspect_in_versions() -> None:
    repairs = Imputers([SimpleImputer(strategy="constant", fill_value=v) for v in (1, 1, 2)],
                       weigh="version")  # fmt: skip
    frame = pd.DataFrame({"a": [5.0, 6.0, 1.0], "b": [math.nan, 2.0, 1.0], "y": [0, 1, 0]})
    table = IncompleteTable(frame, "y", repairs, "uniform", suspects=[(0, "a")])
    assert table.candidates(0) == [
        {"a": 5, "b": 1}, {"a": 5, "b": 2}, {"a": 1, "b": 1}, {"a": 2, "b": 2},
    ]  # fmt: skip
    assert table.dataset.prior(0).tolist() == pytest.approx([2 / 6, 1 / 6, 2 / 6, 1 / 6])


def test_nothing_is_learnt_from_a_doubted_cell() -> None:
    frame = pd.DataFrame({"a": [0.0, 1.0, 2.0, 999.0], "b": [0, 1, 2, 3], "y": [0, 1, 0, 1]})
    table = IncompleteTable(frame, "y", suspects=[(3, "a")])
    assert table.dataset.candidates(3)[:, 0].tolist() == [499.5, 0.0, 0.25, 0.5, 0.75, 1.0]
    assert table.dataset.candidates(2)[0].tolist() == [1.0, 2 / 3]


def test_a_column_that_differs_only_in_doubted_cells() -> None:
    frame = pd.DataFrame({"a": [1.0, 1.0, 1.0, 3.0], "b": [0, 1, 2, 3], "y": [0, 1, 0, 1]})
    table = IncompleteTable(frame, "y", suspects=[(3, "a")])
    assert table.report[0].treatment == "kept: observed values do not differ, but candidates do"
    assert table.dataset.candidates(3)[:, 0].tolist() == [1.0, 0.0]


def test_a_column_that_is_doubted_as_a_whole() -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [0, 1], "y": [0, 1]})
    with pytest.warns(UserWarning, match="no value is observed in column 'a': it is ignored"):
        table = IncompleteTable(frame, "y", suspects=[(0, "a"), (1, "a")])
    assert table.candidates(0) == [{}]


@pytest.mark.parametrize(
    ("suspects", "message"),
    [
        ([(6, "age")], "suspects names row 6, column 'age', which is not there"),
        ([(-1, "age")], "suspects names row -1, column 'age', which is not there"),
        ([(0, "town")], "suspects names row 0, column 'town', which is not there"),
        ([(0, "y")], "suspects names row 0, column 'y', which is not there"),
        (
            np.zeros((6, 5), dtype=bool),
            r"must have shape \(6, 4\), one entry per feature cell; got",
        ),
        ([(0,), (1, "age")], r"suspects must be a boolean mask or a list of \(row, column name\)"),
        (5, "suspects must be a boolean mask or a list of"),
    ],
)
def test_bad_suspects(suspects: Any, message: str) -> None:
    with pytest.raises(TableError, match=message):
        IncompleteTable(FRAME, "y", suspects=suspects)
