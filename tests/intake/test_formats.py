"""Frames as files, and values as JSON has them."""

from __future__ import annotations

import json
from datetime import date, timedelta
from io import BytesIO

import numpy as np
import pandas as pd
import pytest

from cpclean.intake.formats import plain, table_bytes


def test_json_has_all_digits_and_dates_that_others_read() -> None:
    frame = pd.DataFrame(
        {
            "number": [1 / 3, np.nan],
            "day": pd.to_datetime(["2024-04-11", None]),
            "moment": pd.to_datetime(["2024-04-11 10:00", None]).tz_localize("Europe/Berlin"),
            "name": ["Zoë", None],
        }
    )
    assert json.loads(table_bytes(frame, ".json")) == [
        {
            "number": 1 / 3,
            "day": "2024-04-11T00:00:00",
            "moment": "2024-04-11T10:00:00+02:00",
            "name": "Zoë",
        },
        dict.fromkeys(frame.columns),
    ]


@pytest.mark.parametrize(("value", "expected"), [
    (np.float64(0.5), 0.5), (np.int64(3), 3), (np.bool_(True), True), (np.nan, None),
    (float("inf"), None), (pd.NaT, None), (pd.NA, None), (date(2024, 5, 31), "2024-05-31"),
    (timedelta(minutes=42), "0:42:00"), ({1: (np.int64(2), None)}, {"1": [2, None]}),
])  # fmt: skip
def test_values(value: object, expected: object) -> None:
    assert plain(value) == expected


@pytest.mark.parametrize("text", ["=1+1", "=HYPERLINK(1)", "#N/A", "#REF!", "+49 731", "-", "@x"])
def test_texts_stay_texts_in_a_workbook(text):
    openpyxl = pytest.importorskip("openpyxl")
    frame = pd.DataFrame({"=head": [text, "Ulm"], "n": [1, 2]})
    sheet = openpyxl.load_workbook(BytesIO(table_bytes(frame, ".xlsx"))).active
    assert [cell.data_type for cell in sheet[2]] == ["s", "n"]
    assert (sheet["A1"].value, sheet["A2"].value) == ("=head", text)
    assert sheet["A1"].data_type == "s"
    again = pd.read_excel(BytesIO(table_bytes(frame, ".xlsx")), keep_default_na=False)
    assert again["=head"].tolist() == [text, "Ulm"]
