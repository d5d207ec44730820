"""What a person should look at: sentinels, spellings, prose, columns that say the label."""

import numpy as np
import pytest

from cpclean.data.column_reading import column_from_objects
from cpclean.intake.doubts import doubts, gathered
from cpclean.intake.misspelt import misspelt
from cpclean.intake.notes import Note
from cpclean.intake.sentences import said

RNG = np.random.default_rng(0)
WEIGHTS = RNG.normal(70, 10, 200).round(1).tolist()


def about(values: list, labels: list | None = None, kind: str | None = None) -> list[str]:
    notes = doubts([column_from_objects("c", values, kind)], labels)
    return [said(one, "terminal") for one in notes]


@pytest.mark.parametrize(("values", "named"), [
    ([*WEIGHTS, -999, -999], "-999"),
    ([*WEIGHTS, 9999, 9999, 9999], "9999"),
    ([*WEIGHTS, -1, -1], "-1"),
    ([*WEIGHTS, 0, 0], "0"),
    ([*(-one for one in WEIGHTS), 0, 0], "0"),
])  # fmt: skip
def test_numbers_that_stand_for_nothing(values: list, named: str) -> None:
    (told,) = about(values)
    assert f"column 'c' holds {named} " in told
    assert f"--null c={named}; if it is only doubtful: --suspect c={named}." in told


@pytest.mark.parametrize("values", [
    WEIGHTS,
    [*WEIGHTS, 900],  # once, and no number that stands for nothing: a slip, not a habit
    [*WEIGHTS, 99, 99],  # somebody may weigh that much
    [n % 9 for n in range(200)],  # counts begin with 0
    [0, 1] * 50,
    [*(0.06 + n / 300 for n in range(200)), *[0] * 30],  # a share of nobody is a share
    [0, 100, 200, 300, 400, 500, 600] * 10,
    [*(10 ** RNG.normal(3, 1, 200)).round(2).tolist(), *[0] * 100],  # most people gain nothing
    RNG.normal(0, 1, 200).tolist(),
])  # fmt: skip
def test_numbers_like_any_other(values: list) -> None:
    assert about(values) == []


def test_slips_of_the_pen_are_named_and_what_handles_them() -> None:
    (told,) = about(["female"] * 40 + ["male"] * 40 + ["femlae"])
    assert told == (
        "column 'c' has 'femlae' (1), which may be a slip of the pen for 'female' (40). If it is, "
        "correct it in the file, or doubt it: --suspect c=femlae."
    )


@pytest.mark.parametrize("slip", ["femle", "feemale", "femake", "Femlae", "femael"])
def test_every_kind_of_slip_is_found(slip: str) -> None:
    assert misspelt({"female": 30, "male": 30, slip: 2}) == {slip: "female"}


@pytest.mark.parametrize("rest", [
    {"A1": 40, "A2": 1},
    {"type11": 40, "type12": 1},
    {"mild": 40, "mind": 1},
    {"grade a": 40, "grade b": 1},
    {"stage II": 40, "stage III": 1},
    {"typical": 40, "atypical": 1},
    {"normal": 40, "formal": 1},
    {"smoking": 12, "smokking": 2},  # too frequent beside the other
    {"married": 40, "widowed": 1},
    {f"{first}aria{last}": n for first in "bm" for last, n in (("", 300), ("n", 30))},
    {**{f"name{chr(97 + n // 26)}{chr(97 + n % 26)}": 30 for n in range(250)}, "namexa": 1},
    {1.5: 40, 2.5: 1},
])  # fmt: skip
def test_other_categories_are_no_slips(rest: dict) -> None:
    assert misspelt(rest) == {}


NUMBERS = RNG.permutation(90_000)[:80].tolist()


@pytest.mark.parametrize("name", ["pidnum", "id", "patient_id", "customerId", "case no", "Key"])
def test_numbers_that_name_rows_are_identifiers(name: str) -> None:
    (note,) = doubts([column_from_objects(name, NUMBERS)])
    assert (note.code, note.values["distinct"]) == ("identifier", 80)


@pytest.mark.parametrize(("name", "values"), [
    ("income", NUMBERS),
    ("paid", NUMBERS),
    ("humid", NUMBERS),
    ("id", [*NUMBERS[:-1], NUMBERS[0]]),  # one of them twice
    ("id", [*NUMBERS[:-1], None]),
    ("id", [one + 0.5 for one in NUMBERS]),
    ("id", NUMBERS[:30]),
])  # fmt: skip
def test_other_numbers_are_measurements(name: str, values: list) -> None:
    assert doubts([column_from_objects(name, values)]) == []


def test_first_days_of_calendars() -> None:
    days = [f"2024-01-{1 + n % 28:02}" for n in range(60)]
    (told,) = about([*days, "1900-01-01", "1900-01-01"], kind="date")
    assert "holds 1900-01-01 2 times; its other values are 2024-01-01 to 2024-01-28" in told
    assert about(days, kind="date") == []


def test_spellings_of_one_category() -> None:
    (told,) = about(["male"] * 5 + ["MALE", "male ", "female", "new  york", "New York"])
    assert "'male' (5), 'MALE' (1), 'male ' (1); 'new  york' (1), 'New York' (1)" in told
    assert told.endswith("If they mean the same: --fold c.")
    assert about(["male", "female", "mail"]) == []


def test_prose() -> None:
    (told,) = about([f"the customer {n} said that all was well" for n in range(40)])
    assert "is free text: 40 different ones" in told
    assert "--drop c" in told


def test_a_column_that_says_the_label() -> None:
    labels = ["yes", "no"] * 30
    (told,) = about(["paid", "due"] * 30, labels)
    assert "says the label by itself: 'paid' always with 'yes', 'due' always with 'no'." in told
    assert about(["paid", "due"] * 29 + ["due", "due"], labels) == []
    assert about([f"id{n}" for n in range(60)], labels) == [], "each value is there once"
    assert about(["same"] * 60, ["yes"] * 60) == []
    (told,) = about([1, 0] * 30, labels)
    assert "1 always with 'yes'" in told


def test_holes_that_depend_on_the_label() -> None:
    labels = ["yes", "no"] * 50
    (told,) = about([None if n % 4 == 0 else n * 0.37 for n in range(100)], labels)
    assert "is missing in 50% of the rows with label 'yes' and in 0% of the others" in told
    assert about([None if n % 5 == 0 else n * 0.37 for n in range(100)], labels) == []


def test_holes_that_say_the_label() -> None:
    labels = ["alive", "dead"] * 60
    causes = [None if one == "alive" else f"cause {n % 7}" for n, one in enumerate(labels)]
    (told,) = about(causes, labels)
    assert told.startswith(
        "column 'c' says the label by being missing: in 100% of the rows with label 'alive' and in "
        "0% of the others."
    )
    assert told.endswith("If it is known only once the label is, leave it out: --drop c.")
    causes[1] = None  # of somebody who is dead
    (told,) = about(causes, labels)
    assert "and in 2% of the others" in told


def test_a_share_of_nearly_all_is_not_called_all() -> None:
    labels = ["alive", "dead"] * 400
    causes = [None if one == "alive" else f"cause {n % 7}" for n, one in enumerate(labels)]
    causes[0], causes[1] = "cause 1", None
    (told,) = about(causes, labels)
    assert "in more than 99% of the rows with label 'alive' and in less than 1% of the" in told


def test_behind_one_number_that_stands_for_nothing_there_may_be_another() -> None:
    first, second = about([*WEIGHTS, -999, -999, -999, 9999])
    least, most = min(WEIGHTS), max(WEIGHTS)
    between = f"its other values are {least:g} to {most:g}."
    assert f"column 'c' holds -999 3 times; {between}" in first
    assert f"column 'c' holds 9999 1 time; {between}" in second
    assert [told.split()[3] for told in about([*WEIGHTS, -99, -99, -999])] == ["-999", "-99"]
    days = [f"2024-01-{1 + n % 28:02}" for n in range(60)]
    assert "holds 1900-01-01 1 time;" in about([*days, "1900-01-01"], kind="date")[0]


def test_many_columns_of_which_the_same_is_said_are_named_in_one_note() -> None:
    about = {"label": "yes", "own": "40%", "rest": "10%"}
    some = [Note("holes_of_labels", name, values=about) for name in "abcdef"]
    telling = [Note("holes_tell_label", name, values=about) for name in ("x", "my y", "z")]
    other = Note("free_text", "t", values={"distinct": 40})
    words = [said(one, "terminal") for one in gathered([*telling, *some, other])]
    assert len(words) == 3
    assert words[0].startswith("3 columns say the label by being missing: 'x', 'my y', 'z'; 'x' in")
    assert words[0].endswith("leave them out: --drop x --drop 'my y' --drop z.")
    assert "labels than with others: 'a', 'b', 'c', 'd', 'e' and 1 more; 'a' in 40%" in words[1]
    assert gathered([*telling[:2], *some[:2], other]) == [*telling[:2], *some[:2], other]
