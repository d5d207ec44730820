"""Ranges for rough answers, and what is asked back: on columns of all kinds."""

from datetime import date, timedelta

import numpy as np
import pandas as pd
import pytest

from cpclean.data.between import Between
from cpclean.data.rough_ranges import range_around, ranges_of
from cpclean.data.table import IncompleteTable
from cpclean.intake.plausible import unusual


def table(values, repairs="default"):
    """A column with a hole in row 0, and another without."""
    values = [None, *values]
    frame = pd.DataFrame({"a": values, "b": np.arange(len(values)) % 7})
    frame["y"] = np.where(frame["b"] > 3, "yes", "no")
    return IncompleteTable(frame, label="y", repairs=repairs)


COLUMNS = {
    "reals": [0.5, 0.86, 1.7, 2.04329, 3.3, 9.1, 4.4, 0.7],
    "wholes": [1, 2, 3, 4, 4, 4, 90, 100],
    "close wholes": [1, 1, 1, 2, 2, 2, 2, 2],
    "wholes around a mean": [1, 1, 1, 2, 2, 3, 3, 9, 1, 2, 2],
    "a mean between days": [pd.Timestamp("2024-01-01") + timedelta(days=n * n) for n in range(7)],
    "tiny": [1e-9, 2e-9, 3e-9, 5e-9],
    "large": [1e12, 1e12 + 1, 1e12 + 5, 3e12],
    "negative": [-5.5, -2.25, 0.0, 3.125],
    "days": [pd.Timestamp("2024-01-01") + timedelta(days=17 * n) for n in range(12)],
    "hours": [pd.Timestamp("2024-01-01") + timedelta(hours=n) for n in range(9)],
}


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("repairs", ["default", "observed"])
def test_every_candidate_lies_in_exactly_one_range(kind, repairs):
    made = table(COLUMNS[kind], repairs)
    column, (values,) = made.columns[0], made.options_in_space(0).values
    found = ranges_of(made, 0, "a")
    ends = [[None if end is None else column.stored(end) for end in one.between] for one in found]
    assert 2 <= len(found) <= 5
    assert len({one.text for one in found}) == len(found)
    for value in values:
        inside = [Between(*one).holds(np.array([value]))[0] for one in ends]
        assert sum(inside) == 1, (value, ends)


@pytest.mark.parametrize("kind", COLUMNS)
def test_a_value_of_a_grid_stands_for_a_range_around_it_alone(kind):
    made = table(COLUMNS[kind])
    column, (values,) = made.columns[0], made.options_in_space(0).values
    for value in values:
        span = range_around(made, 0, "a", column.shown(value))
        ends = [None if end is None else column.stored(end) for end in (span.low, span.high)]
        assert [one for one in values if Between(*ends).holds(np.array([one]))[0]] == [value]
    assert range_around(table(COLUMNS[kind], "observed"), 0, "a", column.shown(value)) is None


def test_texts_are_short():
    assert [one.text for one in ranges_of(table(COLUMNS["wholes"]), 0, "a")] == [
        "below 2", "2 to 14", "15 to 25", "26 to 63", "64 or more",
    ]  # fmt: skip
    first, *_, last = ranges_of(table(COLUMNS["days"]), 0, "a")
    assert first.text.startswith("before 2024-")
    assert last.text.endswith(" or later")
    assert ranges_of(table(list("abcabc")), 0, "a") == []
    assert "-0" not in str([one.text for one in ranges_of(table(COLUMNS["negative"]), 0, "a")])


@pytest.mark.parametrize("kind", ["days", "a mean between days"])
@pytest.mark.parametrize("repairs", ["default", "observed"])
def test_every_day_is_in_one_range_and_its_words_say_in_which(kind, repairs):
    made = table(COLUMNS[kind], repairs)
    column, found = made.columns[0], ranges_of(made, 0, "a")
    day, last = pd.Timestamp("2023-12-25"), pd.Timestamp("2024-08-01")
    while day < last:
        inside = []
        for one in found:
            ends = [None if end is None else column.stored(end) for end in one.between]
            if Between(*ends).holds(np.array([column.stored(day)]))[0]:
                inside.append(one.text)
        assert inside == [one.text for one in found if _says(one.text, str(day.date()))]
        assert len(inside) == 1, (day, inside)
        day += timedelta(days=1)


def _says(text, day):
    """Whether words such as "2024-01-02 to 2024-01-07" are about a day."""
    if text.startswith("before "):
        return day < text.removeprefix("before ")
    if text.endswith(" or later"):
        return day >= text.removesuffix(" or later")
    first, _, last = text.partition(" to ")
    return first <= day <= (last or first)


def test_moments_end_before_the_next_range_begins():
    texts = [one.text for one in ranges_of(table(COLUMNS["hours"]), 0, "a")]
    assert texts[0] == "before 2024-01-01 01:00:00"
    assert texts[1] == "2024-01-01 01:00:00 to before 2024-01-01 03:00:00"


@pytest.mark.parametrize(
    ("kind", "value", "words"),
    [
        ("reals", 2.0, ""),
        ("reals", 20.4, "Did you mean 2.04?"),
        ("reals", -1.0, "negative"),
        ("reals", 1e6, "far outside"),
        ("wholes", 130, ""),
        ("days", pd.Timestamp(date.today() + timedelta(days=400)), "in the future"),
        ("days", pd.Timestamp("2024-02-02"), ""),
        ("days", pd.Timestamp("1924-02-02"), "far outside"),
    ],
)
def test_what_is_asked_back(kind, value, words):
    found = unusual(table(COLUMNS[kind]), {"a": value})
    assert found.get("a", "") == "" if not words else words in found["a"]


def test_a_slip_in_a_category_is_asked_back():
    made = table(["Rome", "Oslo", "Kiel", "Rome", "Oslo", "Kiel", "Rome", "Oslo"])
    assert unusual(made, {"a": "Rmoe"}) == {
        "a": "“Rmoe” is not among the values so far. Did you mean “Rome”?"
    }
    assert unusual(made, {"a": "Rome"}) == unusual(made, {"a": "Lisbon"}) == {}
