"""Failure cases of pandera, from the library itself, as suspects."""

from __future__ import annotations

import pandas as pd
import pandera.pandas as pa
import pandera.polars as pap
import polars as pl
import pytest

from cpclean import IncompleteTable, suspects_from_pandera
from cpclean.errors import TableError, TableWarning

FRAME = pd.DataFrame(
    {
        "age": [18, -4, 300, None, 40],
        "city": ["A", "?", "B", "A", "B"],
        "low": [1.0, 5, 3, 4, 1],
        "high": [2, 2, 9, 8, 3],
        "buys": [0, 1, 1, 0, 5],
    },
    index=[30, 10, 20, 50, 40],
)
AGE = pa.Column(float, pa.Check.in_range(0, 120), nullable=True)
CITY = pa.Column(str, pa.Check.isin(["A", "B"]))


def failures(schema, frame):
    with pytest.raises((pa.errors.SchemaErrors, pap.errors.SchemaErrors)) as caught:
        schema.validate(frame, lazy=True)
    return caught.value


def doubted(mask) -> set[tuple[int, str]]:
    """The cells of a mask, by the number of their row."""
    return {
        (row, str(name))
        for name in mask.columns
        for row, true in enumerate(mask[name].to_list())
        if true
    }


def test_cells_are_found_by_the_labels_of_the_index():
    error = failures(pa.DataFrameSchema({"age": AGE, "city": CITY}), FRAME)
    mask = suspects_from_pandera(error, FRAME)
    assert doubted(mask) == {(1, "age"), (2, "age"), (1, "city")}
    assert mask.index.equals(FRAME.index)
    assert mask.columns.equals(FRAME.columns)
    assert doubted(suspects_from_pandera(error.failure_cases, FRAME)) == doubted(mask)


def test_a_table_takes_them_and_ignores_the_label():
    schema = pa.DataFrameSchema({"age": AGE, "buys": pa.Column(int, pa.Check.isin([0, 1]))})
    mask = suspects_from_pandera(failures(schema, FRAME), FRAME)
    assert (4, "buys") in doubted(mask)
    table = IncompleteTable(FRAME, label="buys", suspects=mask)
    assert table.dataset.dirty_rows.tolist() == [1, 2, 3]  # row 3 has a hole anyway
    assert table.candidates(2)[0] == {"age": 300}  # the present value is the first candidate
    assert max(one["age"] for one in table.candidates(3)) == 40  # nothing is learnt from it


def test_the_same_in_polars():
    schema = pap.DataFrameSchema(
        {
            "age": pap.Column(float, pap.Check.in_range(0, 120), nullable=True),
            "high": pap.Column(int, unique=True),
        }
    )
    frame = pl.from_pandas(FRAME)
    mask = suspects_from_pandera(failures(schema, frame), frame)
    assert isinstance(mask, pl.DataFrame)
    assert doubted(mask) == {(1, "age"), (2, "age"), (0, "high"), (1, "high")}
    assert IncompleteTable(frame, label="buys", suspects=mask).dataset.dirty_rows.tolist() == [
        0, 1, 2, 3,
    ]  # fmt: skip


def test_nulls_that_are_not_allowed_are_holes_already():
    error = failures(pa.DataFrameSchema({"age": pa.Column(float)}), FRAME)
    assert doubted(suspects_from_pandera(error, FRAME)) == set()


def test_values_that_have_to_be_unique_are_all_doubted():
    error = failures(pa.DataFrameSchema({"high": pa.Column(int, unique=True)}), FRAME)
    assert doubted(suspects_from_pandera(error, FRAME)) == {(0, "high"), (1, "high")}


def test_values_that_cannot_be_converted():
    frame = FRAME.assign(age=["18", "-4", "about 40", "3", "40"])
    error = failures(pa.DataFrameSchema({"age": pa.Column(float, coerce=True)}), frame)
    assert (2, "age") in doubted(suspects_from_pandera(error, frame))


BELOW = pa.Check(lambda frame: frame["low"] < frame["high"], name="low_below_high")


def test_checks_of_whole_rows_doubt_the_columns_that_are_named_for_them():
    error = failures(pa.DataFrameSchema({"age": AGE}, checks=[BELOW]), FRAME)
    with pytest.warns(TableWarning, match=r"no single cell: low_below_high. For a check of whole"):
        mask = suspects_from_pandera(error, FRAME)
    assert doubted(mask) == {(1, "age"), (2, "age")}
    mask = suspects_from_pandera(error, FRAME, columns={"low_below_high": ["low", "high"]})
    assert doubted(mask) == {(1, "age"), (2, "age"), (1, "low"), (1, "high")}


def test_checks_of_whole_rows_in_polars():
    below = pap.Check(
        lambda data: data.lazyframe.select(pl.col("low") < pl.col("high")), name="below"
    )
    frame = pl.from_pandas(FRAME)
    error = failures(pap.DataFrameSchema(checks=[below]), frame)
    with pytest.warns(TableWarning, match="no single cell: below"):
        assert doubted(suspects_from_pandera(error, frame)) == set()
    mask = suspects_from_pandera(error, frame, columns={"below": ["low"]})
    assert doubted(mask) == {(1, "low")}


def test_failures_without_a_cell_are_left_out_and_named():
    schema = pa.DataFrameSchema(
        {"none": pa.Column(int), "high": pa.Column(float), "age": AGE},
        index=pa.Index(int, pa.Check.lt(50), name=None),
    )
    with pytest.warns(TableWarning, match="no single cell") as warned:
        mask = suspects_from_pandera(failures(schema, FRAME), FRAME)
    words = str(warned[0].message)
    for named in ("column_in_dataframe", "dtype('float64') of column 'high'", "less_than(50)"):
        assert named in words
    assert doubted(mask) == {(1, "age"), (2, "age")}


def test_a_label_of_several_rows_is_refused():
    frame = FRAME.set_axis([1, 1, 2, 3, 4])
    with pytest.raises(TableError, match=r"2 rows of the frame are called '1'.*reset_index"):
        suspects_from_pandera(failures(pa.DataFrameSchema({"age": AGE}), frame), frame)


@pytest.mark.parametrize(
    "index",
    [
        pd.MultiIndex.from_tuples([("p", 1), ("p", 2), ("q", 1), ("q", 2), ("r", 1)]),
        pd.date_range("2020-01-01", periods=5),
        pd.Index([0.5, 1.0, 2.0, 3.0, 4.0]),
        pd.RangeIndex(5),
    ],
    ids=["levels", "dates", "floats", "numbers"],
)
def test_indexes_of_other_kinds(index):
    frame = FRAME.set_axis(index)
    error = failures(pa.DataFrameSchema({"age": AGE, "none": pa.Column(int)}), frame)
    with pytest.warns(TableWarning, match="column_in_dataframe"):  # numbers and nulls as labels
        mask = suspects_from_pandera(error, frame)
    assert doubted(mask) == {(1, "age"), (2, "age")}


def test_failure_cases_that_were_written_to_a_file(tmp_path):
    error = failures(pa.DataFrameSchema({"age": AGE, "city": CITY}), FRAME)
    error.failure_cases.to_csv(tmp_path / "failures.csv", index=False)
    read = pd.read_csv(tmp_path / "failures.csv")
    assert doubted(suspects_from_pandera(read, FRAME)) == {(1, "age"), (2, "age"), (1, "city")}


def test_what_does_not_fit_is_refused():
    error = failures(pa.DataFrameSchema({"age": AGE}, checks=[BELOW]), FRAME)
    with pytest.raises(TableError, match=r"'age', which the frame does not have. Pass the frame"):
        suspects_from_pandera(error, FRAME.drop(columns="age"))
    with pytest.raises(TableError, match="name row '10', which is not in the frame's index"):
        suspects_from_pandera(error, FRAME.reset_index(drop=True))
    with pytest.raises(TableError, match="columns names 'lou', which the frame does not have"):
        suspects_from_pandera(error, FRAME, columns={"low_below_high": ["lou"]})
    with pytest.raises(TableError, match=r"the check 'below', which did not fail. Failed: .*high"):
        suspects_from_pandera(error, FRAME, columns={"below": ["low"]})
    with pytest.raises(TableError, match="got ndarray"):
        suspects_from_pandera(error, FRAME.to_numpy())
    with pytest.raises(TableError, match=r"lacking: schema_context, column, check. Validate with"):
        suspects_from_pandera(FRAME.reset_index(), FRAME)
    with pytest.raises(pa.errors.SchemaError) as caught:
        pa.DataFrameSchema({"age": AGE}).validate(FRAME)
    with pytest.raises(TableError, match="Validate with lazy=True"):
        suspects_from_pandera(caught.value, FRAME)
