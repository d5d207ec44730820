"""Every frame kind gives the same dataset for the same table."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cpclean import IncompleteTable
from cpclean.data.frames import columns_from
from cpclean.errors import TableError

MIXED: dict[str, list[Any]] = {
    "age": [18, None, 30, 65, 40, 22],
    "height": [1.5, 1.75, None, 1.25, 2.0, 1.5],
    "city": ["A", "B", None, "C", "A", "A"],
    "member": [True, None, False, True, True, False],
    "since": [datetime(2020, 1, 1), datetime(2021, 6, 1, 12), None] + [datetime(2019, 3, 5)] * 3,
    "wait": [timedelta(1), None, timedelta(hours=-5), timedelta(2), timedelta(0), timedelta(1)],
    "y": ["no", "yes", "no", "yes", "no", "yes"],
}
NUMBERS = np.array(
    [[1.0, 4.0, math.nan], [2.0, math.nan, 0.0], [3.0, 5.5, 1.0], [math.nan, 7.0, 2.0]]
)
LABELS = [0, 1, 0, 1]


def read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


def pandas_arrow(data: dict[str, list[Any]]) -> pd.DataFrame:
    return pa.table(data).to_pandas(types_mapper=pd.ArrowDtype)


def pandas_categorical(data: dict[str, list[Any]]) -> pd.DataFrame:
    return pd.DataFrame(data).astype({"city": "category", "y": "category"})


FRAMES: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "pandas": pd.DataFrame,
    "pandas object": lambda data: pd.DataFrame(data, dtype=object),
    "pandas nullable": lambda data: pd.DataFrame(data).convert_dtypes(),
    "pandas arrow": pandas_arrow,
    "pandas category": pandas_categorical,
    "pandas index": lambda data: pd.DataFrame(data, index=list("fedcba")),
    "polars": pl.DataFrame,
    "polars category": lambda data: pl.DataFrame(data).with_columns(pl.col("city").cast(
        pl.Categorical)),
    "pyarrow": pa.table,
    "pyarrow dictionary": lambda data: pa.table(
        {**data, "city": pa.array(data["city"]).dictionary_encode()}
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", FRAMES)
def test_frame_kinds_of_a_mixed_table(kind: str) -> None:
    expected = IncompleteTable(pd.DataFrame(MIXED), label="y")
    actual = IncompleteTable(FRAMES[kind](MIXED), label="y")
    assert actual.dataset == expected.dataset
    assert [column.kind for column in actual.columns] == [
        "numeric", "numeric", "categorical", "boolean", "date", "duration",
    ]  # fmt: skip
    for row in range(6):
        assert actual.row(row) == {name: MIXED[name][row] for name in actual.names}
        assert actual.row(row) == expected.row(row)
        assert actual.candidates(row) == expected.candidates(row)
    complete = {name: values[3:] for name, values in MIXED.items()}
    np.testing.assert_array_equal(
        actual.encode(FRAMES[kind](complete) if kind != "pandas index" else pd.DataFrame(complete)),
        expected.encode(pd.DataFrame(complete)),
    )


def test_an_object_array_of_a_mixed_table() -> None:
    names = list(MIXED)[:-1]
    rows = np.array([MIXED[name] for name in names], dtype=object).T
    actual = IncompleteTable(rows, label=MIXED["y"])
    assert actual.names == ("x0", "x1", "x2", "x3", "x4", "x5")
    assert actual.dataset == IncompleteTable(pd.DataFrame(MIXED), label="y").dataset
    assert IncompleteTable(read_only(rows), label=MIXED["y"]).dataset == actual.dataset
    assert IncompleteTable(rows.tolist(), label=MIXED["y"]).dataset == actual.dataset


NAMES = ["a", "b", "c"]
ARRAYS: dict[str, Callable[[np.ndarray], Any]] = {
    "read-only": lambda x: read_only(x.copy()),
    "Fortran": np.asfortranarray,
    "read-only Fortran": lambda x: read_only(np.asfortranarray(x)),
    "a view": lambda x: np.repeat(np.repeat(x, 2, axis=0), 3, axis=1)[::2, ::3],
    "backwards": lambda x: x[::-1, ::-1].copy()[::-1, ::-1],
    "big-endian": lambda x: x.astype(">f8"),
    "float32": lambda x: x.astype(np.float32),
    "object": lambda x: np.where(np.isnan(x), None, x.astype(object)),
    "object with NA": lambda x: np.where(np.isnan(x), pd.NA, x.astype(object)),
    "lists": lambda x: x.tolist(),
    "pandas": lambda x: pd.DataFrame(x, columns=NAMES),
    "pandas, numbered columns": pd.DataFrame,
    "pandas nullable": lambda x: pd.DataFrame(x, columns=NAMES).convert_dtypes(),
    "pandas decimal": lambda x: pd.DataFrame(
        [[None if math.isnan(v) else Decimal(v) for v in row] for row in x], columns=NAMES
    ).astype(pd.ArrowDtype(pa.decimal128(10, 4))),
    "polars NaN": lambda x: pl.DataFrame(x, schema=NAMES),
    "polars null": lambda x: pl.DataFrame(x, schema=NAMES).fill_nan(None),
    "polars decimal": lambda x: pl.DataFrame(x, schema=NAMES).fill_nan(None).cast(
        pl.Decimal(10, 4)),
    "pyarrow NaN": lambda x: pa.table(dict(zip(NAMES, x.T.copy(), strict=True))),
    "pyarrow null": lambda x: pa.table(
        {n: pa.array(v, from_pandas=True) for n, v in zip(NAMES, x.T.copy(), strict=True)}
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", ARRAYS)
def test_frame_kinds_of_numbers(kind: str) -> None:
    before = NUMBERS.copy()
    expected = IncompleteTable(NUMBERS, label=LABELS).dataset
    assert IncompleteTable(ARRAYS[kind](NUMBERS), label=LABELS).dataset == expected
    np.testing.assert_array_equal(NUMBERS, before)


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.int16])
def test_whole_numbers_stay_whole(dtype: Any) -> None:
    table = IncompleteTable(np.array([[1, 2], [3, 5]], dtype=dtype), label=LABELS[:2])
    assert repr(table.row(1)) == "{'x0': 3, 'x1': 5}"


def test_arrays_of_truth_values_text_and_dates() -> None:
    assert [c.kind for c in columns_from(np.array([[True], [False]]))] == ["boolean"]
    assert [c.kind for c in columns_from(np.array([["a"], ["b"]]))] == ["categorical"]
    days = np.array([["2020-01-01"], ["2020-01-02"], ["NaT"]])
    for unit in ("ns", "us", "s", "D"):
        (column,) = columns_from(days.astype(f"datetime64[{unit}]"))
        assert column.kind == "date"
        assert column.missing.tolist() == [False, False, True]
        assert column.shown(column.values[1]) == datetime(2020, 1, 2)
    waits = np.array([[86400], [3600], ["NaT"]], dtype="timedelta64[s]")
    for unit in ("ns", "us", "s", "m"):
        (column,) = columns_from(waits.astype(f"timedelta64[{unit}]"))
        assert column.kind == "duration"
        assert [column.shown(value) for value in column.values] == [
            timedelta(1), timedelta(hours=1), None
        ]  # fmt: skip


def test_categories_of_a_frame_are_categories_though_they_are_numbers() -> None:
    frame = pd.DataFrame({"zip": pd.Categorical([1, 2, None])})
    assert [column.kind for column in columns_from(frame)] == ["categorical"]


def test_labels_of_every_kind_give_the_same_dataset() -> None:
    expected = IncompleteTable(NUMBERS, label=LABELS).dataset
    series = pl.Series(LABELS)
    for labels in (tuple(LABELS), np.array(LABELS), pd.Series(LABELS, index=list("abcd")), series,
                   pa.array(LABELS), pa.chunked_array([LABELS]), pd.Series(LABELS, dtype="Int64"),
                   iter(LABELS)):  # fmt: skip
        assert IncompleteTable(NUMBERS, label=labels).dataset == expected
    frame = pd.DataFrame(NUMBERS).assign(label=LABELS)
    assert IncompleteTable(frame, label="label").dataset == expected
    assert IncompleteTable(frame.rename(columns={"label": 7}), label=7).dataset == expected


@pytest.mark.parametrize("tokens", [["?", "NA"], ("?", " NA "), {"?", "NA"}, iter(["?", "NA"])])
def test_null_tokens_of_every_frame(tokens: Any) -> None:
    text = {"a": ["1", " ?", "3", "2"], "b": ["x", "y", "NA ", "y"], "y": ["0", "1", "0", "1"]}
    expected = IncompleteTable(
        pd.DataFrame(
            {"a": [1.0, None, 3.0, 2.0], "b": ["x", "y", None, "y"], "y": text["y"]}),
        label="y",
    ).dataset  # fmt: skip
    tokens = list(tokens)
    for make in (pd.DataFrame, pl.DataFrame, pa.table, pandas_arrow):
        assert IncompleteTable(make(text), label="y", null_tokens=tokens).dataset == expected


NUMBER_FRAMES: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "pandas": pd.DataFrame,
    "pandas nullable": lambda data: pd.DataFrame(data).convert_dtypes(),
    "pandas arrow": pandas_arrow,
    "pandas object": lambda data: pd.DataFrame(data, dtype=object),
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
}


@pytest.mark.parametrize("kind", NUMBER_FRAMES)
def test_tokens_that_are_numbers_in_every_frame(kind: str) -> None:
    data = {"a": [1, -999, 3, 2], "b": [0.5, 1.5, -999.0, 2.5], "y": [0, 1, 0, 1]}
    expected = IncompleteTable(
        pd.DataFrame({"a": [1, None, 3, 2], "b": [0.5, 1.5, None, 2.5], "y": data["y"]}), "y"
    )
    table = IncompleteTable(NUMBER_FRAMES[kind](data), "y", null_tokens=["-999"])
    assert table.dataset == expected.dataset
    assert repr(table.row(0)["a"]) == "1"
    points = NUMBER_FRAMES[kind]({"a": [1, -999], "b": [0.5, 1.5]})
    with pytest.raises(TableError, match="must be complete; found holes at row 1, column 'a'"):
        table.encode(points)
    kinds = {"a": "categorical"}
    table = IncompleteTable(NUMBER_FRAMES[kind](data), "y", null_tokens=["-999"], kinds=kinds)
    assert [str(one["a"]) for one in table.candidates(1)] == ["1", "2", "3", "other"]


@pytest.mark.parametrize("dtype", [int, float, object])
def test_tokens_that_are_numbers_in_arrays(dtype: Any) -> None:
    rows = np.array([[1, 4], [-999, 5], [3, -999], [2, 6]], dtype=dtype)
    holes = np.where(rows == -999, None, rows.astype(object))
    expected = IncompleteTable(holes, LABELS).dataset
    assert IncompleteTable(rows, LABELS, null_tokens="-999").dataset == expected


def test_masked_cells_are_holes() -> None:
    masked = np.ma.masked_invalid(NUMBERS)
    masked.data[np.isnan(NUMBERS)] = 7.0  # what is behind the mask does not count
    expected = IncompleteTable(NUMBERS, label=LABELS).dataset
    assert IncompleteTable(masked, label=LABELS).dataset == expected
    whole = np.ma.masked_array([[1, 2], [3, 4]], mask=[[False, True], [False, False]])
    assert IncompleteTable(whole, label=[0, 1]).row(0) == {"x0": 1, "x1": None}


# -- whole numbers that a double cannot hold ------------------------------------------------------

LONG = 2**53 + 1
BIG = {"id": [LONG, LONG - 1, LONG - 1, 5], "n": [1.0, 2.0, 3.0, 4.0]}


@pytest.mark.parametrize("kind", [*NUMBER_FRAMES, "array"])
def test_large_whole_numbers_are_rounded_with_a_warning(kind: str) -> None:
    frame = np.array(BIG["id"])[:, None] if kind == "array" else NUMBER_FRAMES[kind](BIG)
    name = "x0" if kind == "array" else "id"
    message = (
        rf"whole numbers beyond 2\*\*53 are rounded in column '{name}'\. If they are identifiers: "
        rf"kinds=\{{'{name}': \"categorical\"\}}"
    )
    with pytest.warns(UserWarning, match=message) as record:
        table = IncompleteTable(frame, LABELS)
    assert record[0].filename == __file__
    assert table.row(0)[name] == 2**53
    assert table.report[0].treatment.startswith("kept, but rounded")
    exact = IncompleteTable(frame, LABELS, kinds={name: "categorical"})
    assert exact.row(0)[name] == LONG
    assert exact.report[0].distinct == 3
    np.testing.assert_array_equal(
        exact.encode(frame), [exact.dataset.candidate(row, 0) for row in range(4)]
    )


@pytest.mark.parametrize("make", [pandas_arrow, pa.table, pl.DataFrame])
def test_large_whole_numbers_beside_nulls(make: Any) -> None:
    data = {"id": [LONG, None, LONG - 1, 5], "n": BIG["n"]}
    with pytest.warns(UserWarning, match="are rounded in column 'id'"):
        table = IncompleteTable(make(data), LABELS)
    assert table.holes[:, 0].tolist() == [False, True, False, False]
    exact = IncompleteTable(make(data), LABELS, kinds={"id": "categorical"})
    assert {one["id"] for one in exact.candidates(1)} >= {LONG, LONG - 1, 5}


def test_text_that_is_to_be_categorical_stays_text() -> None:
    frame = pd.DataFrame({"zip": ["007", "?", "7", "12"], "n": [1, 2, 3, 4]})
    kinds = {"zip": "categorical"}
    table = IncompleteTable(frame, LABELS, null_tokens="?", kinds=kinds)
    assert [one["zip"] for one in table.candidates(1)][:3] == ["007", "12", "7"]
    points = pd.DataFrame({"zip": ["7", "007"], "n": [3, 1]})
    expected = [table.dataset.candidate(row, 0) for row in (2, 0)]
    np.testing.assert_array_equal(table.encode(points), expected)


# -- bad frames -----------------------------------------------------------------------------------


def test_column_names_must_be_distinct() -> None:
    frame = pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"])
    message = "column names must be distinct; more than one column is called 'a'. Rename"
    with pytest.raises(TableError, match=message):
        columns_from(frame)
    with pytest.raises(TableError, match="more than one column is called '1'"):
        columns_from(pd.DataFrame([[1, 2]], columns=[1, "1"]))
    with pytest.raises(TableError, match="more than one column is called 'a'"):
        columns_from(pa.table([[1], [2]], names=["a", "a"]))


@pytest.mark.parametrize(
    "frame", [[1, 2], np.zeros((2, 2, 2)), 5, pd.Series([1]), {"a": [1]}, "train.csv", None]
)
def test_what_is_no_table(frame: Any) -> None:
    message = (
        r"must be a dataframe or have two dimensions; got shape \(.*\) of type "
        rf"{type(frame).__name__}\. Files are read by cpclean\.read_table"
    )
    with pytest.raises(TableError, match=message):
        columns_from(frame)


def test_a_column_may_be_called_as_attributes_are() -> None:
    frame = pd.DataFrame({"column_names": [1, 2], "columns": [3, 4]})
    assert [column.name for column in columns_from(frame)] == ["column_names", "columns"]


def test_rows_of_different_lengths() -> None:
    with pytest.raises(TableError, match="rows of equal length"):
        columns_from([[1, 2], [3]])


def test_a_frame_that_is_not_in_memory() -> None:
    with pytest.raises(TableError, match=r"got polars\..*LazyFrame. Collect or convert it first"):
        columns_from(pl.DataFrame({"a": [1]}).lazy())


def test_kinds_of_columns_that_are_not_there() -> None:
    with pytest.raises(TableError, match="kinds names columns that the table does not have: 'z'"):
        columns_from(np.eye(2), {"z": "numeric"})
    with pytest.raises(TableError, match=r"kinds must be a dict from column name to kind; got \['"):
        columns_from(np.eye(2), ["numeric"])  # type: ignore[arg-type]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_infinite_values_of_every_frame(make: Any) -> None:
    with pytest.raises(TableError, match="column 'a' has infinite values in row 1"):
        columns_from(make({"a": [1.0, math.inf]}))


def test_infinite_values_of_an_array() -> None:
    with pytest.raises(TableError, match="column 'x1' has infinite values in row 0, 1, 2 and 1"):
        columns_from(np.array([[0.0, math.inf]] * 4))


# -- any table ------------------------------------------------------------------------------------

grid = st.one_of(st.none(), st.sampled_from([0.0, 0.5, 1.0, 2.0]))
names = st.one_of(st.none(), st.sampled_from(["a", "b", "c"]))


@settings(max_examples=60)
@given(st.lists(st.tuples(grid, names, st.booleans()), min_size=4, max_size=9))
def test_any_table_is_the_same_in_every_frame(rows: list[tuple[Any, ...]]) -> None:
    data = {
        "n": [0.0, 3.0, *(row[0] for row in rows)],
        "c": ["a", "b", *(row[1] for row in rows)],
        "k": [float(i) for i in range(len(rows) + 2)],
        "y": [True, False, *(row[2] for row in rows)],
    }
    expected = IncompleteTable(pd.DataFrame(data), label="y").dataset
    for make in (pl.DataFrame, pa.table, FRAMES["pandas nullable"]):
        assert IncompleteTable(make(data), label="y").dataset == expected
