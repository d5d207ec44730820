"""What is noticed about columns, and candidates that people type for them."""

import pandas as pd
import pytest

from cpclean.data.column_reading import column_from_objects
from cpclean.data.columns import Column
from cpclean.data.decisions import Decision
from cpclean.intake.choices import Choices
from cpclean.intake.layout import Layout
from cpclean.intake.notes import IntakeError
from cpclean.intake.remarks import column_notes
from cpclean.intake.typed_repairs import typed_candidates, typed_repairs


def column(values: list, kind: str | None = None) -> Column:
    return column_from_objects("c", values, kind)


@pytest.mark.parametrize(("values", "code", "about"), [
    (["A", "?", "B", "?"], "maybe_null", {"value": "?", "bare": "?", "count": 2}),
    (["A", " Unknown", "B"], "maybe_null", {"value": " Unknown", "bare": "Unknown", "count": 1}),
    (["2024-01-31", "2024-02-01", None], "maybe_date", {"value": "2024-01-31"}),
    (["2024-01-31 10:00", "2024-02-01"], "maybe_date", {"value": "2024-01-31 10:00"}),
    (["31.1.2024", "1.2.24"], "maybe_day_first", {"value": "31.1.2024"}),
    (["1,5", "2", "-3,25"], "maybe_comma", {"value": "1,5"}),
    (list(range(1, 101)), "row_number", {}),
    ([f"id{n}" for n in range(60)], "identifier", {"distinct": 60}),
    ([f"id{n % 55}" for n in range(200)], "many_categories", {"distinct": 55}),
    ([2**53 + 1, 3, 4], "rounded", {}),
])  # fmt: skip
def test_a_column_that_may_be_meant_otherwise(values: list, code: str, about: dict) -> None:
    (note,) = column_notes([column(values)])
    assert (note.code, note.column) == (code, "c")
    assert about.items() <= note.values.items()


@pytest.mark.parametrize("values", [["A", "B"], [1, 2, 3], [1.5, None], ["-x", "y?"], ["1,5", "A"]])
def test_a_column_like_any_other(values: list) -> None:
    assert column_notes([column(values)]) == []


def test_decisions_of_the_table_come_first() -> None:
    numbers = column(list(range(1, 101)))
    (note,) = column_notes([numbers], {"c": Decision("constant")})
    assert note.code == "constant"
    (note,) = column_notes([numbers], {"c": Decision("kept")})
    assert note.code == "row_number", "held out rows make gaps"


def test_typed_candidates() -> None:
    numbers, cities = column([1.5, 2, None]), column(["A", "B", None])
    comma = Choices(layout=Layout(";", decimal=","))
    assert typed_candidates(numbers, "1 | 2.5|", Choices()) == ["1", "2.5"]
    assert typed_candidates(numbers, "1,25 | 2", comma) == ["1.25", "2"]
    assert typed_candidates(cities, "A | Z", Choices()) == ["A", "Z"]
    assert typed_candidates(column([1, 2, None], "categorical"), "1 | 7", Choices()) == [1, "7"]
    for typed, got in (("1 | many", "many"), ("1,25", "1,25"), (" | ", " | ")):
        with pytest.raises(IntakeError, match=r"with \| between them, such as 1\.5 \| ") as found:
            typed_candidates(numbers, typed, Choices())
        assert (found.value.field, found.value.column) == ("repairs", "c")
        assert found.value.note.values["got"] == got


def test_candidates_are_typed_for_some_columns() -> None:
    frame = pd.DataFrame({"a": [1.0, None], "b": ["x", None], "y": ["0", "1"]})
    columns = [column_from_objects(name, frame[name].tolist()) for name in frame.columns]
    typed = Choices("y", repairs={"a": "1|2", "y": "0|1"})
    assert typed_repairs(columns, typed) == {"a": ["1", "2"]}
    assert typed_repairs(columns, Choices("y", repairs="holoclean")) == {}
