"""Errors carry what they are about."""

import copy
import pickle

import pytest

from cpclean.errors import (
    AnswerError,
    CPCleanError,
    QueryError,
    TableError,
    TableWarning,
    UnknownRowError,
    near,
)


def test_an_error_says_what_it_is_about() -> None:
    error = TableError("rows 1 and 2 are odd.", "Drop them.", field="x", column="a", rows=[1, 2])
    assert str(error) == "rows 1 and 2 are odd. Drop them."
    assert (error.what, error.way_out) == ("rows 1 and 2 are odd.", "Drop them.")
    assert (error.field, error.column, error.rows) == ("x", "a", (1, 2))
    assert isinstance(error, ValueError)
    plain = QueryError("no.")
    assert (str(plain), plain.way_out, plain.field, plain.column, plain.rows) == (
        "no.", "", None, None, (),
    )  # fmt: skip


@pytest.mark.parametrize("kind", [CPCleanError, AnswerError, UnknownRowError])
def test_copies_and_pickles_say_the_same(kind: type[CPCleanError]) -> None:
    error = kind("row 7 is not there.", "Name another.", field="row", rows=[7])
    for other in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(other) is kind
        assert str(other) == str(error) == "row 7 is not there. Name another."
        assert other.__dict__ == error.__dict__


def test_a_warning_says_what_it_is_about() -> None:
    warning = TableWarning("a is rounded.", "Drop it.", field="kinds", column="a")
    assert str(pickle.loads(pickle.dumps(warning))) == str(warning) == "a is rounded. Drop it."
    assert (warning.field, warning.column) == ("kinds", "a")


@pytest.mark.parametrize(("name", "meant"), [
    ("takeup", "takeup_survey"),
    ("survey", "takeup_survey"),
    ("Takeup", "takeup_survey"),
    ("vilage", "village"),
])  # fmt: skip
def test_a_name_that_was_meant(name: str, meant: str) -> None:
    assert near(name, ["takeup_survey", "village", "age"]) == f"Did you mean {meant!r}?"


@pytest.mark.parametrize("name", ["ge", "take", "zebra"])
def test_a_name_that_could_be_several_is_not_guessed(name: str) -> None:
    assert near(name, ["takeup_one", "takeup_other", "village"]) == ""
