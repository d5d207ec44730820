"""Points to predict, encoded as the IncompleteTable is."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from data.table_samples import FEATURES, FRAME

from cpclean import IncompleteTable
from cpclean.data.spaces.plain import UnseenCategoryWarning
from cpclean.errors import TableError

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
    with pytest.warns(UnseenCategoryWarning, match="as all zero: 2 in column 'city'") as told:
        X = table.encode(POINTS.assign(city=["new", "newer"]))
    assert X[:, 1:5].tolist() == [[0.0] * 4] * 2
    assert told[0].filename == __file__
    with pytest.warns(UnseenCategoryWarning) as told:
        table.points(POINTS.assign(city=["newest", None]))
    assert told[0].filename == __file__


def test_dates_in_text_are_dates() -> None:
    table = IncompleteTable(FRAME, "y")
    days = pd.Series(pd.to_datetime(["2021-03-01 12:30", "2020-02-29 00:00"]))
    expected = table.encode(POINTS.assign(since=days))
    for texts in (["2021-03-01 12:30", "2020-02-29"], ["2021-03-01T12:30:00", "2020-02-29"]):
        assert np.array_equal(table.encode(POINTS.assign(since=texts)), expected)
    some = table.points(POINTS.assign(since=[None, "2020-02-29"]))
    assert len(some.owner) > some.n_points  # one of them has a hole


@pytest.mark.parametrize(
    ("points", "message"),
    [
        (POINTS.drop(columns="city"), "must be those of the training table: missing 'city'"),
        (POINTS.rename(columns={"city": "town"}),
         "missing 'city'; not expected 'town'. Columns of points may be null"),
        (POINTS.assign(extra=1), "columns must be those of the training table: not expected 'ext"),
        (POINTS[FEATURES[::-1]], r"in another order; select them as frame\[list\(table.names\)\]"),
        (POINTS.assign(age=["18", "40"]), "'age' is numeric in the training table, but here it is "
         "categorical and holds '18' in row 0. Convert it first"),
        (POINTS.assign(age=["18", "old"]), "here it is categorical and holds 'old' in row 1"),
        (POINTS.assign(city=[1, 2]), "'city' is categorical .* here it is numeric and holds 1"),
        (POINTS.assign(age=POINTS["since"]), "'age' is numeric .* here it is date and holds"),
        (POINTS.assign(since=pd.to_timedelta([1, 2])), "'since' is date .* here it is duration"),
        (POINTS.assign(since=["2020-02-30", "2020-01-01"]),
         "'since' is date .* but here it is categorical and holds '2020-02-30' in row 0"),
        (POINTS.assign(since=["soon", "2020-01-01"]), "'since' is date .* holds 'soon' in row 0"),
        (POINTS.assign(since=[1, 2]), "'since' is date .* but here it is numeric and holds 1"),
        (POINTS.assign(member=[3, 1]), "'member' cannot be read as boolean: .* got 3.0"),
        (POINTS.assign(age=[None, 1]), "rows to encode must be complete; found holes at row 0, "
         "column 'age'. Fill them, or use table.points"),
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
    message = "rows to encode must be complete; found holes at row 1, column 'age'. Fill them, or"
    with pytest.raises(TableError, match=message):
        table.encode(POINTS.astype(object).assign(age=[18, null]))
    if null is not pd.NA:
        points = {name: POINTS[name].tolist() for name in FEATURES}
        with pytest.raises(TableError, match=message):
            table.encode(pl.DataFrame({**points, "age": [18, null]}, strict=False))
