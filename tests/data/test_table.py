"""IncompleteTable from end to end: raw values there and back, suspects, reports, bad input."""

from __future__ import annotations

import itertools
import math
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.impute import KNNImputer, SimpleImputer

from cpclean import (
    Cell,
    FactoredRow,
    IncompleteDataset,
    IncompleteTable,
    is_certain,
    read_table,
    world_shares,
)
from cpclean.data.columns import OTHER
from cpclean.data.encoding import UnseenCategoryWarning
from cpclean.data.repairs import Imputers
from cpclean.errors import DataError, TableError, UnknownRowError

TABLES = Path(__file__).resolve().parents[3] / "shared" / "data" / "tables"

FRAME = pd.DataFrame(
    {
        "age": pd.array([18, None, 30, 65, 40, None], dtype="Int64"),
        "city": ["A", "B", None, "A", "C", None],
        "member": pd.array([True, False, True, None, True, True], dtype="boolean"),
        "since": [datetime(2020, 1, 1), datetime(2021, 6, 1), None] + [datetime(2019, 3, 5)] * 3,
        "y": ["no", "yes", "no", "yes", "no", "yes"],
    }
)
FEATURES = list(FRAME.columns[:-1])
SUSPECTS = [(0, "age"), (1, "age"), (3, "city"), (5, "since")]


def encoded_back(table: IncompleteTable, row: int) -> np.ndarray:
    """A row's candidates, from the raw values that a person sees."""
    full = [{**table.row(row), **candidate} for candidate in table.candidates(row)]
    # Cells of columns outside the space may be empty; encode does not look at them.
    return table.encode(pd.DataFrame(full, columns=list(table.names), dtype=object))


# -- raw values -----------------------------------------------------------------------------------


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
    for feature in plain.encoding.features:
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
        spots = {f.name: f for f in table.encoding.features if f is not None}
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
    expected = IncompleteDataset(expected_rows, frame["y"])
    actual = table.dataset
    if whole:
        actual = IncompleteDataset(
            [actual.candidates(row) for row in range(actual.n_rows)], actual.labels
        )
    assert actual == expected


@given(st.lists(cells, min_size=1, max_size=8))
def test_a_complete_table_is_its_encoded_rows(rows: list[tuple[Any, ...]]) -> None:
    complete = [row for row in rows if None not in row]
    full = [(0.0, 3.0, "a", 0), (4.0, 5.0, "b", 1), *complete]
    frame = pd.DataFrame(full, columns=["m", "n", "c", "y"])
    table = IncompleteTable(frame, label="y")
    assert table.dataset.n_worlds == 1
    assert table.dataset == IncompleteDataset(list(table.encode(frame)), frame["y"])


# -- suspects -------------------------------------------------------------------------------------


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
        (np.zeros((6, 5), dtype=bool), r"must have shape \(6, 4\), one entry a feature cell; got"),
        ([(0,), (1, "age")], r"suspects must be a boolean mask or a list of \(row, column name\)"),
        (5, "suspects must be a boolean mask or a list of"),
    ],
)
def test_bad_suspects(suspects: Any, message: str) -> None:
    with pytest.raises(TableError, match=message):
        IncompleteTable(FRAME, "y", suspects=suspects)


# -- what is said about the table -----------------------------------------------------------------


def test_report_of_every_treatment() -> None:
    n = 120
    frame = pd.DataFrame(
        {
            "rownames": range(1, n + 1),
            "id": [f"p{i}" for i in range(n)],
            "street": [f"s{i % 60}" for i in range(n)],
            "same": ["x"] * n,
            "empty": [None] * n,
            "left": [float(i % 7) for i in range(n)],
            "n": [None, None, *(float(i % 5) for i in range(n - 2))],
            "y": [0, 1] * (n // 2),
        }
    )
    with pytest.warns(UserWarning, match="no value is observed in column 'empty': it is ignored"):
        table = IncompleteTable(frame, "y", weights={"left": 0})
    told = {one.name: (one.holes, one.distinct, one.treatment) for one in table.report}
    assert told == {
        "rownames": (0, 120, "kept, but looks like a row number: whole numbers without gaps"),
        "id": (0, 120, "kept, but looks like an identifier: 120 values, nearly all distinct"),
        "street": (0, 60, "kept, but has many categories: 60"),
        "same": (0, 1, "ignored: every observed value is the same"),
        "empty": (120, 0, "ignored: no value is observed"),
        "left": (0, 7, "left out: weight 0"),
        "n": (2, 5, "kept"),
    }
    assert table.dataset.n_features == 1 + 120 + 60 + 1
    html = table._repr_html_()
    assert all(name in html for name in table.names)
    assert repr(table).startswith("IncompleteTable(120 rows x 7 columns, 2 rows with holes, ")


def test_a_row_number_or_identifier_can_be_left_out() -> None:
    n = 60
    frame = pd.DataFrame({"no": range(n), "id": [f"p{i}" for i in range(n)], "x": [0.0, 1.0] * 30})
    table = IncompleteTable(frame, label=[0, 1] * 30, weights={"no": 0, "id": 0})
    assert [one.treatment for one in table.report] == ["left out: weight 0"] * 2 + ["kept"]
    assert table.dataset.n_features == 1


def test_the_page_tells_holes_worlds_and_decisions() -> None:
    frame = FRAME.assign(same="x")
    html = IncompleteTable(frame, "y")._repr_html_()
    assert "IncompleteTable(6 rows x 5 columns, 4 rows with holes, 3200 worlds)" in html
    assert "<td>age</td><td>numeric</td><td>2</td><td>4</td><td>kept</td>" in html
    assert "<td>same</td><td>categorical</td><td>0</td><td>1</td><td>ignored: every" in html


def test_html_is_escaped() -> None:
    html = IncompleteTable(pd.DataFrame({"<b>": [1, 2]}), label=[0, 1])._repr_html_()
    assert "<b>" not in html
    assert "&lt;b&gt;" in html


def test_holes_of_columns_outside_the_space_make_no_candidates() -> None:
    frame = pd.DataFrame({"same": ["x", None, "x"], "off": [1.0, None, 2.0], "n": [1, 2, 3]})
    table = IncompleteTable(frame, label=[0, 1, 0], weights={"off": 0})
    assert table.dataset.n_worlds == 1
    assert table.candidates(1) == [{}]
    assert table.row(1) == {"same": None, "off": None, "n": 2}


def test_kinds_can_be_named() -> None:
    frame = pd.DataFrame(
        {"zip": [1, 2, 9], "flag": [0, 1, 0], "day": ["2020-01-01", "2020-01-03", "2020-01-02"],
         "n": ["1", "2.5", "4"]}
    )  # fmt: skip
    kinds = {"zip": "categorical", "flag": "boolean", "day": "date", "n": "numeric"}
    table = IncompleteTable(frame, label=[0, 1, 0], kinds=kinds)
    assert {column.name: column.kind for column in table.columns} == kinds
    assert table.row(1) == {"zip": 2, "flag": True, "day": datetime(2020, 1, 3), "n": 2.5}
    assert table.dataset.n_features == 6
    np.testing.assert_array_equal(
        table.encode(frame), [table.dataset.candidate(row, 0) for row in range(3)]
    )


# -- labels ---------------------------------------------------------------------------------------


def test_unlabelled_rows_are_dropped_on_request() -> None:
    frame = FRAME.assign(y=["no", None, "no", " ?", "yes", "yes"])
    with pytest.raises(TableError, match=r"missing in row 1. Pass drop_unlabelled=True to leave"):
        IncompleteTable(frame, "y")
    table = IncompleteTable(
        frame, "y", null_tokens="?", drop_unlabelled=True, suspects=[(4, "age"), (1, "age")]
    )
    assert table.rows_kept.tolist() == [0, 2, 4, 5]
    assert table.dataset.labels.tolist() == ["no", "no", "yes", "yes"]
    assert table.row(2)["city"] == "C"
    assert table.candidates(2)[0] == {"age": 40}  # suspects count rows as the frame does
    labels = frame["y"].tolist()
    again = IncompleteTable(
        frame[FEATURES], labels, null_tokens="?", drop_unlabelled=True, suspects=[(4, "age")]
    )
    assert again.dataset == table.dataset


def test_one_class_is_a_warning() -> None:
    with pytest.warns(UserWarning, match="all rows have the label 'a': every prediction will be"):
        table = IncompleteTable(FRAME[FEATURES], label=["a"] * 6)
    assert is_certain(table.dataset, table.dataset.candidates(0), n_neighbors=1).all()


@pytest.mark.parametrize(
    ("label", "message"),
    [
        (
            "z",
            "there is no label column 'z'; the columns are 'age', 'city', 'member', 'since', 'y'",
        ),
        (3, "there is no label column '3'; the columns are 'age'"),
        (None, 'name the label column, as in label="y", or give one label a row'),
        ([0, 1], "the table has 6 rows, but 2 labels were given"),
        ([0, 1, None, math.nan, pd.NA, None], "missing in row 2, 3, 4 and 1 more. Pass drop_unl"),
        ({"a", "b"}, "labels must be in the order of the rows; got a set. Use a list"),
        ({0: "a", 1: "b"}, "labels must be in the order of the rows; got a dict. Use a list"),
        (np.zeros((6, 1)), r"labels must be one-dimensional, one a row; got shape \(6, 1\)"),
        (FRAME[["y"]], r"labels must be one-dimensional, one a row; got shape \(6, 1\)"),
    ],
)
def test_bad_labels(label: Any, message: str) -> None:
    with pytest.raises(TableError, match=message):
        IncompleteTable(FRAME, label=label)


@pytest.mark.parametrize("labels", [[0, 1, "a", 0, 1, 0], [[0], [1], [0], [1], [0], [1]]])
def test_labels_that_cannot_be_classes(labels: list[Any]) -> None:
    with pytest.raises(DataError, match="labels must be hashable and sortable"):
        IncompleteTable(FRAME[FEATURES], label=labels)


def test_no_label_at_all() -> None:
    with pytest.raises(TableError, match="no row has a label"):
        IncompleteTable(FRAME.assign(y=None), "y", drop_unlabelled=True)


# -- bad tables -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ({"a": [1.0, None, 2.0], "b": ["x", None, "y"]}, "nothing is known of row 1. Drop these"),
        ({"a": [1.0, math.inf, 2.0]}, "column 'a' has infinite values in row 1"),
        ({"a": [1.0, 1.0, 1.0]}, "no column carries information: every column is constant"),
        ({"a": [[1], [2], [3]]}, "column 'a' holds values of type list"),
    ],
)
@pytest.mark.parametrize("repairs", ["default", [SimpleImputer()]])
def test_bad_tables(frame: dict[str, list[Any]], message: str, repairs: Any) -> None:
    with pytest.raises(TableError, match=message):
        IncompleteTable(pd.DataFrame(frame), label=[0, 1, 0], repairs=repairs)


def test_rows_without_values_are_numbered_as_in_the_frame() -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0, None], "y": [None, "a", "b"]})
    with pytest.raises(TableError, match="nothing is known of row 2"):
        IncompleteTable(frame, "y", drop_unlabelled=True)


def test_a_row_of_holes_with_listed_candidates() -> None:
    frame = pd.DataFrame({"age": [20.0, None, 35.0]})
    table = IncompleteTable(frame, ["a", "b", "b"], repairs={"age": [18, 30]}, prior="uniform")
    assert table.candidates(1) == [{"age": 18.0}, {"age": 30.0}]


def test_duplicate_columns() -> None:
    with pytest.raises(TableError, match=r"more than one column is called 'a'\. Rename them first"):
        IncompleteTable(pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]), label=[0, 1])


def test_tables_without_columns_or_rows() -> None:
    with pytest.raises(TableError, match="a table needs at least one column; got none"):
        IncompleteTable(pd.DataFrame(index=[0, 1]), label=[0, 1])
    with pytest.raises(TableError, match="besides the label 'y' a table needs at least one column"):
        IncompleteTable(pd.DataFrame({"y": [0, 1]}), label="y")
    with pytest.raises(TableError, match="a table needs at least one row; got none"):
        IncompleteTable(FRAME[:0], label="y")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kinds": {"age": "number"}}, "kind of column 'age' must be one of .* got 'number'"),
        ({"kinds": {"town": "date"}}, "kinds names columns that the table does not have: 'town'"),
        ({"kinds": {"city": "numeric"}}, "column 'city' cannot be read as numeric"),
        ({"scaling": "log"}, "scaling must be one of minmax, standard, none; got 'log'"),
        ({"weights": {"town": 1}}, "weights name columns that the table does not have: 'town'"),
        ({"weights": {"y": 1}}, "weights name columns that the table does not have: 'y'"),
        ({"weights": {"age": "2"}}, r"must be finite and not negative; got \{'age': '2'\}"),
        ({"weights": [1, 2]}, r"weights must be a dict from column name to number; got \[1, 2\]"),
        ({"kinds": ["numeric"]}, "kinds must be a dict from column name to kind; got"),
        ({"max_candidates": 2.5}, "max_candidates must be an int of at least 1; got 2.5"),
        ({"null_tokens": [None]}, "null_tokens must be text or numbers, such as"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(TableError, match=message):
        IncompleteTable(FRAME, "y", **options)


# -- points to predict ----------------------------------------------------------------------------

POINTS = FRAME.loc[[0, 4]].reset_index(drop=True)


def test_points_with_or_without_the_label() -> None:
    table = IncompleteTable(FRAME, "y")
    expected = [table.dataset.candidate(row, 0) for row in (0, 4)]
    np.testing.assert_array_equal(table.encode(POINTS), expected)
    np.testing.assert_array_equal(table.encode(POINTS[FEATURES]), expected)
    assert table.encode(POINTS[:0]).shape == (0, table.dataset.n_features)


def test_null_tokens_are_holes_of_points_too() -> None:
    table = IncompleteTable(
        pd.DataFrame({"a": ["1", "?", "3"], "b": [1, 2, 3]}), [0, 1, 0], null_tokens=["?"]
    )
    # Without a token among them the numbers are plain text: they are read as before.
    text, numbers = pd.DataFrame({"a": ["2"], "b": [1]}), pd.DataFrame({"a": [2], "b": [1]})
    assert table.encode(text).tolist() == table.encode(numbers).tolist() == [[0.5, 0.0]]
    with pytest.raises(TableError, match="found holes at row 0, column 'a'"):
        table.encode(pd.DataFrame({"a": [" ?"], "b": [1]}))


def test_columns_outside_the_space_may_hold_anything() -> None:
    frame = pd.DataFrame({"same": ["x", "x"], "off": [1, 2], "n": [1, 2]})
    table = IncompleteTable(frame, label=[0, 1], weights={"off": 0})
    points = pd.DataFrame({"same": [None], "off": ["text"], "n": [2]})
    assert table.encode(points).tolist() == [[1.0]]


def test_numbers_as_categories_in_any_number_type() -> None:
    frame = pd.DataFrame({"zip": pd.Categorical([1, 2, 3])})
    table = IncompleteTable(frame, label=[0, 1, 0])
    expected = table.encode(frame)
    for points in (pd.DataFrame({"zip": [1, 2, 3]}), pl.DataFrame({"zip": [1.0, 2.0, 3.0]})):
        np.testing.assert_array_equal(table.encode(points), expected)


def test_unseen_categories_are_counted() -> None:
    table = IncompleteTable(FRAME, "y")
    with pytest.warns(UnseenCategoryWarning, match="encoded as all zero: 2 in column 'city'"):
        X = table.encode(POINTS.assign(city=["new", "newer"]))
    assert X[:, 1:5].tolist() == [[0.0] * 4] * 2


@pytest.mark.parametrize(
    ("points", "message"),
    [
        (POINTS.drop(columns="city"), "must be those of the training table: missing 'city'"),
        (POINTS.rename(columns={"city": "town"}), "missing 'city'; not expected 'town'"),
        (POINTS.assign(extra=1), "columns must be those of the training table: not expected 'ext"),
        (POINTS[FEATURES[::-1]], r"in another order; select them as frame\[list\(table.names\)\]"),
        (POINTS.assign(age=["18", "40"]), "'age' is numeric in the training table, but here it is "
         "categorical and holds '18'. Convert it first"),
        (POINTS.assign(city=[1, 2]), "'city' is categorical .* here it is numeric and holds 1"),
        (POINTS.assign(age=POINTS["since"]), "'age' is numeric .* here it is date and holds"),
        (POINTS.assign(since=pd.to_timedelta([1, 2])), "'since' is date .* here it is duration"),
        (POINTS.assign(since=[1, 2]), "'since' is date .* but here it is numeric and holds 1"),
        (POINTS.assign(member=[3, 1]), "'member' cannot be read as boolean: .* got 3.0"),
        (POINTS.assign(age=[None, 1]), "points to predict must be complete; found holes at row 0, "
         "column 'age'. Fill them"),
        (POINTS.assign(city=[None, None]), "found holes at row 0, column 'city', row 1, column"),
        (POINTS.assign(age=[math.inf, 1.0]), "column 'age' has infinite values in row 0"),
        (POINTS[["age", "age"]], "more than one column is called 'age'"),
        (POINTS[FEATURES].to_numpy(), "missing 'age', 'city', 'member' and 1 more; not expected"),
    ],
)  # fmt: skip
def test_bad_points(points: Any, message: str) -> None:
    table = IncompleteTable(FRAME, "y")
    with pytest.raises(TableError, match=message):
        table.encode(points)


@pytest.mark.parametrize("null", [None, math.nan, pd.NA])
def test_points_with_nulls_of_any_kind(null: Any) -> None:
    table = IncompleteTable(FRAME, "y")
    message = "points to predict must be complete; found holes at row 1, column 'age'. Fill them or"
    with pytest.raises(TableError, match=message):
        table.encode(POINTS.astype(object).assign(age=[18, null]))
    if null is not pd.NA:
        points = {name: POINTS[name].tolist() for name in FEATURES}
        with pytest.raises(TableError, match=message):
            table.encode(pl.DataFrame({**points, "age": [18, null]}, strict=False))


# -- real tables ----------------------------------------------------------------------------------


def real(name: str) -> pd.DataFrame:
    file = TABLES / name / "data.csv"
    if not file.is_file():
        pytest.skip(f"the table {name} is not there: tables are looked for in ../shared/data")
    frame = read_table(file)
    assert isinstance(frame, pd.DataFrame)
    return frame


def check_end_to_end(table: IncompleteTable, points: pd.DataFrame, n_rows: int = 12) -> None:
    """Raw candidates of some rows, and both queries on some points, agree with each other."""
    for row in itertools.islice(table.dataset.dirty_rows.tolist(), n_rows):
        if table.dataset.candidate_counts[row] <= 200:
            np.testing.assert_array_equal(encoded_back(table, row), table.dataset.candidates(row))
    X = table.encode(points)
    shares = world_shares(table.dataset, X)
    certain = is_certain(table.dataset, X)
    assert shares.shape == (len(points), len(table.dataset.classes))
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert (shares[certain].max(axis=1) > 1 - 1e-9).all()


def test_adult() -> None:
    frame = real("Adult")
    began = time.perf_counter()
    table = IncompleteTable(frame[100:], label="Income")
    assert time.perf_counter() - began < 15  # seconds, not minutes, on any machine
    assert table.n_rows == 32_461
    holes = {one.name: one.holes for one in table.report if one.holes}
    assert set(holes) == {"Workclass", "Occupation", "Native-country"}
    assert table.dataset.classes.tolist() == [" <=50K", " >50K"]
    check_end_to_end(table, frame[:100].dropna()[:8])
    published = frame[100:].astype(object).fillna(" ?")  # holes as they were first written
    again = IncompleteTable(published, label="Income", null_tokens=["?"])
    assert again.dataset == table.dataset


def test_credit_data() -> None:
    frame = real("CreditData").drop(columns="rownames")
    points = frame.dropna()[::900]
    table = IncompleteTable(frame.drop(index=points.index), label="Status")
    assert {one.kind for one in table.report} == {"numeric", "categorical"}
    assert sum(one.holes for one in table.report) == frame.isna().sum().sum()
    check_end_to_end(table, points)
    numbers = [SimpleImputer(), SimpleImputer(strategy="median")]
    check_end_to_end(IncompleteTable(frame.drop(index=points.index), "Status", numbers), points)


def test_chile() -> None:
    frame = real("Chile").drop(columns="rownames")
    with pytest.raises(TableError, match=r"every row needs a label; missing in row .* more. Pass"):
        IncompleteTable(frame, label="vote")
    points = frame.dropna()[::400]
    table = IncompleteTable(frame.drop(index=points.index), label="vote", drop_unlabelled=True)
    assert table.dataset.classes.tolist() == ["A", "N", "U", "Y"]
    assert table.n_rows == frame["vote"].notna().sum() - len(points)
    check_end_to_end(table, points)


@pytest.mark.parametrize(
    ("name", "label"), [("Adult", "Income"), ("CreditData", "Status"), ("Chile", "vote")]
)
def test_real_tables_are_the_same_in_every_frame_and_file(
    name: str, label: str, tmp_path: Path
) -> None:
    frame = real(name)[:1500]
    expected = IncompleteTable(frame, label, drop_unlabelled=True)
    assert len(expected.dataset.dirty_rows) > 20
    frame.to_csv(tmp_path / "t.csv.gz", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    files = [read_table(tmp_path / "t.csv.gz"), read_table(tmp_path / "t.parquet")]
    frames = [pl.read_parquet(tmp_path / "t.parquet"), pq.read_table(tmp_path / "t.parquet")]
    for same in [*files, *frames, frame.convert_dtypes()]:
        table = IncompleteTable(same, label, drop_unlabelled=True)
        assert table.dataset == expected.dataset
        assert table.rows_kept.tolist() == expected.rows_kept.tolist()
    raw = frame.iloc[expected.rows_kept].drop(columns=label).astype(object)
    for row, values in enumerate(raw.where(raw.notna(), None).to_dict("records")):
        assert expected.row(row) == values
