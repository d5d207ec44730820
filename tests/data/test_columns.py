"""Columns: kinds detected and asked for, what counts as null, raw values there and back."""

from __future__ import annotations

import copy
import math
import pickle
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cpclean.data.column_reading import as_kind, column_from_objects
from cpclean.data.columns import ABSENT, OTHER, Column
from cpclean.data.moments import duration_seconds, seconds
from cpclean.data.nulls import COMMON_NULLS, is_null, stripped
from cpclean.errors import TableError

NULLS = [None, math.nan, np.float64("nan"), np.float32("nan"), pd.NA, pd.NaT,
         np.datetime64("NaT", "s"), np.timedelta64("NaT", "s"), Decimal("NaN")]  # fmt: skip


@pytest.mark.parametrize("value", NULLS, ids=repr)
def test_nulls(value: object) -> None:
    assert is_null(value)


@pytest.mark.parametrize("value", [0, "", "NaN", False, math.inf, OTHER, [None], np.array([1, 2])])
def test_no_nulls(value: object) -> None:
    assert not is_null(value)


@pytest.mark.parametrize("null", NULLS, ids=repr)
@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2], "numeric"),
        ([1.5, np.float32(2.0)], "numeric"),
        ([True, 2], "numeric"),
        ([Decimal("1.5"), 2], "numeric"),
        ([True, np.bool_(False)], "boolean"),
        ([date(2020, 1, 1), datetime(2020, 1, 2, 3)], "date"),
        ([pd.Timestamp("2020-01-01")], "date"),
        ([np.datetime64("2020-01-01")], "date"),
        ([timedelta(1), pd.Timedelta("5h")], "duration"),
        ([np.timedelta64(1, "D")], "duration"),
        (["a", "b"], "categorical"),
        (["1", "2"], "categorical"),
        (["1", 2], "categorical"),
        ([(1, 2), (1,)], "categorical"),
    ],
)
def test_kinds_are_detected_whatever_the_null(null: object, values: list, kind: str) -> None:
    column = column_from_objects("c", [*values, null])
    assert column.kind == kind
    assert column.missing.tolist() == [False] * len(values) + [True]
    assert column.shown(column.values[-1]) is None


def test_null_tokens_are_compared_after_stripping() -> None:
    column = column_from_objects("c", [" ?", "A", "  ", "na", "NA "], None, COMMON_NULLS)
    assert column.values.tolist() == [None, "A", None, "na", None]


def test_a_single_text_is_a_single_token() -> None:
    assert column_from_objects("c", ["NA", "N"], None, "NA").values.tolist() == [None, "N"]


def test_numbers_that_are_text_only_for_a_token() -> None:
    column = column_from_objects("c", ["1", " ?", "2.5"], None, ["?"])
    assert column.kind == "numeric"
    assert column.given == "categorical"
    np.testing.assert_array_equal(column.values, [1.0, math.nan, 2.5])
    assert column_from_objects("c", ["1", "x", "?"], None, ["?"]).kind == "categorical"


@pytest.mark.parametrize(
    ("values", "kind", "stored"),
    [
        (["1", "2.5", None], "numeric", [1.0, 2.5, math.nan]),
        (["true", "False ", "1"], "boolean", [1.0, 0.0, 1.0]),
        ([0, 1, None], "boolean", [0.0, 1.0, math.nan]),
        ([True, False], "numeric", [1.0, 0.0]),
        (["1970-01-02", "1970-01-01T00:00:01"], "date", [86400.0, 1.0]),
        ([5, 6], "date", [5.0, 6.0]),
        ([5, None], "duration", [5.0, math.nan]),
        (["1 days 02:00:00", "-1 days +23:00:00", "7"], "duration", [93600.0, -3600.0, 7.0]),
        ([timedelta(1), timedelta(2)], "numeric", [86400.0, 172800.0]),
        ([1, None, 2], "categorical", [1, None, 2]),
        ([True, None], "categorical", [True, None]),
        ([date(1970, 1, 1)], "categorical", [datetime(1970, 1, 1)]),
    ],
)
def test_another_kind(values: list, kind: str, stored: list) -> None:
    column = as_kind(column_from_objects("c", values), kind)
    assert column.kind == kind
    if kind == "categorical":
        assert column.values.tolist() == stored
    else:
        np.testing.assert_array_equal(column.values, stored)


def test_the_kind_of_the_frame_is_remembered() -> None:
    column = column_from_objects("c", [1, 2])
    assert as_kind(column, "categorical").given == "numeric"
    assert as_kind(as_kind(column, "categorical"), "numeric").given == "numeric"
    assert as_kind(column, "numeric") is column


@pytest.mark.parametrize(
    ("values", "kind", "message"),
    [
        (["a"], "numeric", "column 'c' cannot be read as numeric: could not convert .*'a'.*kinds="),
        (["a"], "date", "column 'c' cannot be read as date: Invalid isoformat"),
        (["yes"], "boolean", "column 'c' cannot be read as boolean"),
        ([2, 1], "boolean", "boolean: its values must be true or false, 1 or 0; got 2.0"),
        ([1.6e12], "date", "its values must be dates, their ISO text, or seconds since 1970"),
        (["soon"], "duration", "column 'c' cannot be read as duration: 'soon' is not a duration"),
        ([1e14], "duration", 'its values must be durations, text as in "1 days 02:00:00", or'),
        (
            [1],
            "number",
            "kind of column 'c' must be one of numeric, .* duration; got 'nu",
        ),
    ],
)
def test_kinds_that_do_not_fit(values: list, kind: str, message: str) -> None:
    with pytest.raises(TableError, match=message):
        as_kind(column_from_objects("c", values), kind)


@pytest.mark.parametrize("values", [[1.0, math.inf], [Decimal("-Infinity")], [1, -math.inf]])
def test_infinite_values(values: list) -> None:
    with pytest.raises(TableError, match=r"column 'c' has infinite values in row \d\. Make them"):
        column_from_objects("c", values, "numeric")


@pytest.mark.parametrize("value", [[1], {"a": 1}, np.array([1, 2])])
def test_values_that_cannot_be_categories(value: object) -> None:
    with pytest.raises(TableError, match=r"column 'c' holds values of type .* told apart"):
        column_from_objects("c", ["a", value])


# -- raw values there and back -----------------------------------------------------------------


def test_shown_values() -> None:
    whole = column_from_objects("c", [1, 2])
    assert [repr(whole.shown(value)) for value in (1.0, 1.5, math.nan)] == ["1", "1.5", "None"]
    assert repr(column_from_objects("c", [1.0, 2]).shown(1.0)) == "1.0"
    truth = column_from_objects("c", [True, False])
    assert [truth.shown(value) for value in (1.0, 0.0)] == [True, False]
    assert repr(truth.shown(0.25)) == "0.25"  # what an imputer may say


@given(
    st.one_of(
        st.lists(st.integers(-(2**53), 2**53)),
        st.lists(st.floats(allow_nan=False, allow_infinity=False)),
        st.lists(st.booleans()),
        st.lists(st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30))),
        st.lists(st.timedeltas(timedelta(-90_000), timedelta(90_000))),
        st.lists(st.text()),
    )
)
def test_values_come_back(values: list) -> None:
    column = column_from_objects("c", [*values, None])
    shown = [column.shown(value) for value in column.values]
    again = [column.stored(value) for value in shown]
    if column.kind == "date":  # the float next to it, which far from 1970 is not the microsecond
        assert all(abs((a - b).total_seconds()) < 1e-4 for a, b in zip(values, shown, strict=False))
    else:
        assert shown == [*values, None]
    assert again[:-1] == column.values.tolist()[:-1]
    assert is_null(again[-1])


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        (column_from_objects("c", [1]), "x", "'c' is numeric: its values must be numbers; got 'x'"),
        (column_from_objects("c", [1]), OTHER, "'c' is numeric: its .* got other"),
        (column_from_objects("c", [True]), "x", "'c' is boolean: its values must be true or false"),
        (column_from_objects("c", [date(2020, 1, 1)]), "x", "'c' is date: its values must be date"),
    ],
)
def test_values_a_column_cannot_store(column: Column, value: object, message: str) -> None:
    with pytest.raises(TableError, match=message):
        column.stored(value)


def test_seconds_of_dates_and_times() -> None:
    noon = datetime(2020, 5, 17, 12, 0, 0, 250_000)
    expected = noon.replace(tzinfo=UTC).timestamp()
    aware = pd.Timestamp(noon, tz="UTC").tz_convert("Asia/Tokyo")
    for value in (noon, pd.Timestamp(noon), np.datetime64(noon), str(noon), aware, expected):
        assert seconds(value) == expected
    assert seconds(date(1970, 1, 2)) == 86400.0


@pytest.mark.parametrize(
    "value",
    [timedelta(days=-1, hours=23, microseconds=250_000), pd.Timedelta("-1 days +23:00:00.25"),
     np.timedelta64(-3_599_750_000, "us"), "-1 days +23:00:00.250000", "-1 day, 23:00:00.25",
     -3599.75, "-3599.75"],
    ids=repr,
)  # fmt: skip
def test_seconds_of_durations(value: object) -> None:
    assert duration_seconds(value) == -3599.75


@pytest.mark.parametrize("text", ["", " ", "1 week", "P1D", "1:2", "days", "1 days 5"])
def test_text_that_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match=f"{text!r} is not a duration"):
        duration_seconds(text)


def test_a_time_zone_stays() -> None:
    noon = pd.Timestamp("2020-01-01 12:00", tz="Europe/Paris")
    column = column_from_objects("c", [noon, None])
    assert column.shown(column.values[0]) == noon
    assert column.shown(column.values[0]).utcoffset() == timedelta(hours=1)
    mixed = column_from_objects("c", [noon, noon.tz_convert("UTC")])
    assert mixed.shown(mixed.values[0]) == datetime(2020, 1, 1, 11)  # of no zone: UTC


@pytest.mark.parametrize("mark", [OTHER, ABSENT])
def test_marks_stay_the_same_object(mark: object) -> None:
    assert pickle.loads(pickle.dumps(mark)) is mark
    assert copy.deepcopy(mark) is mark
    assert repr(mark) in ("other", "absent")


# -- tokens that are numbers ---------------------------------------------------------------------


@pytest.mark.parametrize("token", ["-999", " -999.0 ", -999, -999.0, np.int64(-999), "-9.99e2"])
def test_a_token_that_is_a_number_stands_for_that_number(token: object) -> None:
    column = column_from_objects("c", [1, -999, -999.0, Decimal(-999), -998], None, [token])
    assert column.missing.tolist() == [False, True, True, True, False]
    mixed = column_from_objects("c", ["a", -999, 1], None, [token])
    assert mixed.values.tolist() == ["a", None, 1]
    assert column_from_objects("c", ["a", "b"], None, [token]).kind == "categorical"


def test_a_number_is_no_truth_value_and_no_duration() -> None:
    assert not column_from_objects("c", [True, False], None, ["1", "0"]).missing.any()
    assert not column_from_objects("c", [np.timedelta64(1, "s")], None, ["1"]).missing.any()


@pytest.mark.parametrize("token", [None, math.nan, ["?"], b"?"])
def test_what_is_no_token(token: object) -> None:
    with pytest.raises(TableError, match=r"null_tokens must be text or numbers, such as '\?' or"):
        stripped([token])


# -- whole numbers that a double cannot hold ------------------------------------------------------

LONG = 2**53 + 1


@pytest.mark.parametrize("value", [LONG, -LONG, str(LONG), Decimal(LONG), np.int64(LONG)])
def test_rounded_numbers_are_noticed(value: object) -> None:
    column = column_from_objects("c", [value, 1], "numeric")
    assert column.rounded
    assert column.decision.words == "kept, but rounded: whole numbers beyond 2**53"


@pytest.mark.parametrize("value", [2**53, 2**60, 0.1, "0.1", Decimal("0.1"), 1e300, str(2**53)])
def test_numbers_that_are_as_near_as_any_are_not_rounded(value: object) -> None:
    assert not column_from_objects("c", [value, 1], "numeric").rounded


def test_numbers_beyond_all_doubles() -> None:
    with pytest.raises(TableError, match="column 'c' cannot be read as numeric: int too large"):
        column_from_objects("c", [10**400])
    with pytest.raises(TableError, match="column 'c' is numeric: its values must be numbers"):
        column_from_objects("c", [1]).stored(10**400)


# -- what is said about a column ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "treatment"),
    [
        (["a", "b"] * 30, "kept"),
        ([f"id{n}" for n in range(60)], "kept, but looks like an identifier: 60 values, nearly"),
        ([f"id{n % 55}" for n in range(200)], "kept, but has many categories: 55"),
        ([f"id{n}" for n in range(40)], "kept"),
        (list(range(1, 101)), "kept, but looks like a row number: whole numbers without gaps"),
        (list(range(0, 200, 2)), "kept"),
        ([float(n) for n in range(100)], "kept"),
    ],
)
def test_treatment(values: list, treatment: str) -> None:
    assert column_from_objects("c", values).decision.words.startswith(treatment)
