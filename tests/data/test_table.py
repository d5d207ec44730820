"""IncompleteTable: what it says of itself, its labels, and tables and options it refuses."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np
import pandas as pd
import pytest
from data.table_samples import FEATURES, FRAME
from sklearn.impute import SimpleImputer

from cpclean import IncompleteTable, is_certain
from cpclean.data.row_options import Options
from cpclean.errors import DataError, TableError, UnknownRowError

# -- what is said about the table ------------------------------------------------------------------


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


# -- labels ----------------------------------------------------------------------------------------


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
        (None, 'name the label column, as in label="y", or give one label per row'),
        ([0, 1], "the table has 6 rows, but 2 labels were given"),
        ([0, 1, None, math.nan, pd.NA, None], "missing in row 2, 3, 4 and 1 more. Pass drop_unl"),
        ({"a", "b"}, "labels must be in the order of the rows; got a set. Use a list"),
        ({0: "a", 1: "b"}, "labels must be in the order of the rows; got a dict. Use a list"),
        (np.zeros((6, 1)), r"labels must be one-dimensional, one per row; got shape \(6, 1\)"),
        (FRAME[["y"]], r"labels must be one-dimensional, one per row; got shape \(6, 1\)"),
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


# -- bad tables ------------------------------------------------------------------------------------


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
        ({"null_tokens": [None]}, "null_tokens must be text or numbers, such as"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(TableError, match=message):
        IncompleteTable(FRAME, "y", **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_exact": 2.5}, "max_exact must be an int of at least 1; got 2.5"),
        ({"max_exact": 0}, "max_exact must be an int of at least 1; got 0"),
        ({"n_draws": 1}, "n_draws must be an int of at least 2; got 1"),
        ({"random_state": -1}, r"random_state must be an int in \[0, 2\*\*64\); got -1"),
        ({"random_state": None}, r"random_state must be an int in \[0, 2\*\*64\); got None"),
    ],
)
def test_bad_draws(options: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        IncompleteTable(FRAME, "y", **options)


def test_a_table_is_the_sum_of_its_parts() -> None:
    frame = pd.DataFrame({"a": [1.0, None, 3.0], "b": ["x", "y", None], "y": [0, 1, 1]})
    table = IncompleteTable(frame, "y")
    again = IncompleteTable.from_parts(table.parts)
    assert again.dataset is table.dataset
    assert again.names == table.names
    assert again.report == table.report
    assert [again.candidates(row) for row in range(3)] == [
        table.candidates(row) for row in range(3)
    ]
    assert again.to_html() == table._repr_html_()
    pinned = IncompleteTable.from_parts(replace(table.parts, dataset=table.dataset.pin(1, 0)))
    assert pinned.dataset.candidate_counts.tolist() == [1, 1, 3]


def test_options_of_rows() -> None:
    frame = pd.DataFrame({"a": [1.0, None, 3.0], "c": [7, 7, None], "y": [0, 1, 1]})
    table = IncompleteTable(frame, "y", prior="uniform")
    assert table.options_of(0) == Options((), ())
    assert table.options_of(1).cells == (0,)
    assert table.options_of(1).values == ((1.0, 1.5, 2.0, 2.5, 3.0),)
    # a column whose values do not differ has no place in the space
    assert table.options_of(2) == Options((1,), ((7.0,),))
    assert table.options_in_space(2) == Options((), ())
    assert table.options.rows.tolist() == [1, 2]
    assert len(table.options) == 2
    with pytest.raises(UnknownRowError, match="got 3"):
        table.options_of(3)
