"""Values as people type and read them: commas, blanks, capitals, marks, and spare columns."""

import pandas as pd
import pytest

from cpclean import IncompleteTable
from cpclean.data.task import Task
from cpclean.intake.textfile import TextFile
from cpclean.projects.project import Project
from cpclean.storage.opening import open_storage
from cpclean.web.pages.question_page import asked_of

FRAME = pd.DataFrame(
    {
        "id": [f"K{number}" for number in range(8)],
        "size": [1.5, None, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0],
        "job": [" Private", " State", None, "other", " Private", "other", " State", " Private"],
        "y": ["a", "b"] * 4,
    }
)
POINTS = pd.DataFrame({"size": [2.0, 5.0], "job": [" State", " Private"]})


@pytest.fixture
def desk(desk_over):
    table = IncompleteTable(FRAME.drop(columns="id"), label="y")
    text = TextFile(FRAME.to_csv(index=False, sep=";", decimal=",").encode(), ";", decimal=",")
    storage = open_storage("memory://")
    storage.create(Project.make(Task.of(table, POINTS, frame=FRAME), text=text))
    return desk_over(storage)


def told(desk, row, **values):
    desk.answer("Ann", row, values=values)
    return desk.storage.events()[-1].value


def test_decimal_commas_of_the_file(desk):
    assert told(desk, 1, size="2,25") == {"size": 2.25}
    assert told(desk, 1, size="2.5") == {"size": 2.5}
    assert told(desk, 1, size="-,5") == {"size": -0.5}
    assert told(desk, 2, job="2,25") == {"job": "2,25"}, "a text is no number"
    with pytest.raises(ValueError, match="takes a number"):
        told(desk, 1, size="1,2,3")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("Private", " Private"), ("private ", " Private"), ("State", " State"), ("Navy", "Navy")],
)
def test_a_category_is_known_by_its_letters(desk, typed, meant):
    assert told(desk, 2, job=typed) == {"job": meant}
    expected = f"K2;3,0;{meant};a"
    assert desk.export_table().decode().splitlines()[3] == expected


def test_a_candidate_that_is_no_value_is_told_from_one_that_is(desk):
    question = desk.question("Ann", row=2)
    texts = [one.cells["job"] for one in question.candidates]
    assert sorted(texts) == sorted([" Private", " State", "other", "(other)"])
    (field,) = asked_of(desk, question, None)["fields"]
    assert [one.text for one in field.chips] == [" Private", " State", "other"]
    assert [(one.value, one.text) for one in field.ranges] == [
        ('"(other)"', "something else, which I can’t say")
    ]
    desk.answer("Ann", 2, candidate=question.candidates[texts.index("(other)")].number)
    desk.ready()
    assert desk.question("Ann", row=2).said == "job = (other)"
    assert b"other" not in desk.export_table().splitlines()[3], "it is not written as a value"


def test_columns_that_play_no_part_help_to_look_a_row_up(desk):
    cells = {one.column: (one.kind, one.text) for one in desk.question("Ann", row=2).cells}
    assert cells["id"] == ("spare", "K2")
