"""What people type for a cell means the same in the terminal and on the page."""

from typing import Any

import pandas as pd
import pytest

from cpclean import IncompleteTable
from cpclean.cli.typed_cells import typed_values as in_terminal
from cpclean.errors import AnswerError
from cpclean.intake.typed_values import LONGEST_TYPED
from cpclean.intake.typed_values import values_typed as on_page

FRAME = pd.DataFrame(
    {
        "size": [0.5, None, 2.0],
        "city": ["Bern", None, "Basel"],
        "member": [True, None, False],
        "since": [pd.Timestamp("2020-01-01"), None, pd.Timestamp("2021-01-01")],
        "age": [4, 5, 6],
        "y": ["s", "l", "s"],
    }
)
LONG = "x" * (LONGEST_TYPED + 1)
HOLES = ("size", "city", "member", "since")


@pytest.fixture(scope="module")
def table() -> IncompleteTable:
    return IncompleteTable(FRAME, label="y")


def both(table: IncompleteTable, name: str, text: str, decimal: str) -> list[Any]:
    """What the terminal and the page make of a text; of a refusal, its sentence."""
    found: list[Any] = []
    for read in (
        lambda: in_terminal(f"{name}={text}", table, HOLES, decimal),
        lambda: on_page(table, 1, HOLES, {name: text}, decimal),
    ):
        try:
            found.append(read()[name])
        except AnswerError as problem:
            found.append(str(problem).replace("this row", "row 1"))
    return found


@pytest.mark.parametrize(
    ("name", "text", "decimal", "expected"),
    [
        ("size", "41", ".", 41.0),
        ("size", "41,5", ",", 41.5),
        ("size", "-,5", ",", -0.5),
        ("size", "41.5", ",", 41.5),
        ("city", "Thun, 1,5", ",", "Thun, 1,5"),
        ("city", "bern", ".", "Bern"),
        ("member", "true", ".", True),
        ("since", "2021-03-04", ".", pd.Timestamp("2021-03-04")),
        ("size", "41,5", ".", "column 'size' takes a number, such as 41 or 0.5; got '41,5'."),
        ("size", "1,000,5", ",", "column 'size' takes a number, such as 41 or 0.5; got '1,000,5'."),
        ("size", "inf", ".", "column 'size' takes a number, such as 41 or 0.5; got 'inf'."),
        ("member", "2", ".", "column 'member' takes true or false; got '2'."),
        ("city", "Z\udcfcrich", ".", "the value of column 'city' is not valid UTF-8."),
        ("city", "a\0b", ".", "column 'city' takes a text; got 'a\\x00b...'."),
        ("city", LONG, ".", f"column 'city' takes a text; got '{LONG[:20]}...'."),
        (
            "age",
            "7",
            ".",
            "column 'age' is not missing in row 1; missing columns: 'size', 'city', 'member', "
            "'since'.",
        ),
    ],
)  # fmt: skip
def test_both_ways(table, name, text, decimal, expected):
    assert both(table, name, text, decimal) == [expected, expected]


def test_fields_that_were_left_empty_are_left_out(table):
    typed = {"size": " 2 ", "city": " ", "member": None}
    assert on_page(table, 1, HOLES, typed, ".") == {"size": 2.0}
    with pytest.raises(AnswerError, match="no value was given for row 1"):
        on_page(table, 1, HOLES, {"city": ""}, ".")


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("size", True, "'size' takes a number, such as 41 or 0.5; got 'True'"),
        ("size", [1], r"'size' takes a number, such as 41 or 0.5; got '\[1\]'"),
        ("city", {"a": 1}, "'city' takes a text; got"),
    ],
)
def test_json_values_of_the_wrong_kind(table, name, given, message):
    with pytest.raises(AnswerError, match=message):
        on_page(table, 1, HOLES, {name: given}, ".")
