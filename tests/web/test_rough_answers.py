"""Rough and unknown answers through every door: desk, API, Label Studio, and into the audit."""

import csv
import io
import json
from datetime import timedelta

import pandas as pd
import pytest
from web.tables import small_project, stored

from cpclean.errors import RefusedError
from cpclean.intake.reading import read_csv
from cpclean.storage.opening import open_storage
from cpclean.web.api.labelstudio import take_annotations, tasks_of
from cpclean.web.desk.naming_rows import checked_link, id_columns, link_of
from cpclean.web.pages.drafting import project_of
from cpclean.web.pages.drafts import Draft, SetupForm

ROWS = [
    f"K{n},{n % 9 + 20 if n % 5 else ''},{'Ulm' if n % 3 else 'Bonn'},{n % 2}" for n in range(40)
]


@pytest.fixture
def desk(desk_over, tmp_path):
    """Over a CSV file, in which one text looks like a formula."""
    rows = ["=1+1" + one[2:] if number == 7 else one for number, one in enumerate(ROWS)]
    (tmp_path / "people.csv").write_text("\n".join(["key,age,city,y", *rows]) + "\n")
    project = project_of(Draft("x", "people.csv", tmp_path / "people.csv"), SetupForm(label="y"))
    storage = open_storage("memory://")
    storage.create(project)
    return desk_over(storage)


def audit(desk):
    return list(csv.DictReader(io.StringIO(desk.export_audit())))


def test_the_audit_says_what_is_exact_rough_and_unknown(desk):
    first, second, third, *_ = [one.row for one in desk.rows().rows]
    desk.answer("Ann", first, values={"age": "24"}, seconds=2.5, comment="on page 3")
    desk.ready()
    desk.answer("Bob", first, values={"age": {"between": [22, 26]}})
    desk.answer("Bob", second, values={"age": {"between": [None, 25]}})
    desk.skip("Cem", third, reason="unreadable")
    desk.comment("Cem", third, "=cmd()")
    desk.ready()
    found = audit(desk)
    numbers = [desk.look(row).number for row in (first, second, third)]
    assert [(int(one["row"]), one["known"], one["counts"]) for one in found] == [
        (numbers[0], "exact", "no"), (numbers[0], "rough", "yes"), (numbers[1], "rough", "yes"),
        (numbers[2], "unknown", "yes"), (numbers[2], "comment", ""),
    ]  # fmt: skip
    assert [(one["new_value"], one["low"], one["high"]) for one in found[:3]] == [
        ("24", "", ""), ("", "22", "26"), ("", "", "25"),
    ]  # fmt: skip
    assert (found[0]["who"], found[0]["seconds"], found[0]["comment"]) == (
        "Ann",
        "2.5",
        "on page 3",
    )
    assert found[3]["reason"] == "unreadable"
    lines = desk.project.text.content.decode().splitlines()
    assert all(lines[int(one["line"]) - 1] == lines[int(one["row"]) + 1] for one in found)
    assert desk.export_table() == desk.project.text.content, "nothing is known exactly"
    escaped = list(csv.DictReader(io.StringIO(desk.export_audit(spreadsheet=True))))
    assert escaped[4]["comment"] == "'=cmd()"


def test_a_task_of_label_studio_is_in_words_and_says_where_the_row_is(desk):
    for task in tasks_of(desk, 3):
        data = task["data"]
        asked = desk.look(data["row"])
        assert (data["number"], data["line"]) == (asked.number, asked.line)
        assert data["title"].startswith("key ")
        assert "predictions could still change; " in data["why"]
        for jargon in ("nats", "entropy", "nearest", "no other free row"):
            assert jargon not in data["why"]


def test_formulas_are_escaped_for_spreadsheets_only(desk):
    assert desk.export_table(".csv") == desk.project.text.content
    line = desk.export_table(".csv", None, True).decode().splitlines()[8]
    assert line.startswith("'=1+1,")
    assert read_csv(io.BytesIO(desk.export_table(".csv", None, True))).shape == (40, 4)


def test_a_candidate_of_a_grid_is_a_rough_answer(desk):
    question = desk.question("Ann")
    desk.answer("Ann", question.row, candidate=question.candidates[2].number)
    (event,) = desk.storage.events()
    assert set(event.value["age"]) == {"between"}
    desk.ready()
    assert desk.engine.now.view.n_candidates(question.row) == 1
    assert desk.export_table() == desk.project.text.content


def test_label_studio_carries_rough_and_unknown_answers(desk):
    rows = [one.row for one in desk.rows().rows][:4]
    lines = ("age = 22 .. 26", "age = .. 25", "age = ?", "age = ? unreadable")
    tasks = [
        {
            "data": {"row": row},
            "annotations": [
                {"id": row, "result": [{"from_name": "values", "value": {"text": [line]}}]}
            ],
        }
        for row, line in zip(rows, lines, strict=True)
    ]
    assert take_annotations(desk, tasks).refused == []
    events = desk.storage.events()
    assert [(one.kind, one.value) for one in events] == [
        ("answer", {"age": {"between": [22.0, 26.0]}}),
        ("answer", {"age": {"between": [None, 25.0]}}),
        ("skip", None), ("skip", None),
    ]  # fmt: skip
    assert events[3].note == {"reason": "unreadable"}


def test_a_row_is_named_by_its_id_and_line(desk):
    question = desk.question("Ann")
    assert question.title == f"key {desk.project.frame['key'][question.number]}"
    assert question.line == question.number + 2
    assert desk.rows().rows[0].title.startswith("key ")


def test_rows_are_named_as_it_was_chosen(desk_over, tmp_path):
    (tmp_path / "people.csv").write_text("\n".join(["key,age,city,y", *ROWS]) + "\n")
    draft = Draft("x", "people.csv", tmp_path / "people.csv")
    form = SetupForm(label="y", named_by="city, key", link="https://records.example/{key}")
    storage = open_storage("memory://")
    storage.create(project_of(draft, form))
    question = desk_over(storage).question("Ann")
    key, city = (ROWS[question.number].split(",")[at] for at in (0, 2))
    assert question.title == f"city {city}, key {key}"
    assert question.link == f"https://records.example/{key}"
    for wrong in ({"named_by": "town"}, {"link": "https://records.example/{town}"}):
        with pytest.raises(ValueError, match="'town'") as refused:
            project_of(draft, SetupForm(label="y", **wrong))
        assert refused.value.field == next(iter(wrong))


def test_what_identifies_rows():
    values = {"size": [1, 2, 3], "patient_id": [7, 8, 9], "kind": ["a", "a", "b"]}
    assert id_columns(values, set()) == ["patient_id"]
    assert id_columns({"kind": ["a", "b", "c"]}, {"kind"}) == ["kind"]
    assert id_columns({"orderNo": [1, 2, 2], "share": [0.5, 0.25]}, {"share"}) == []
    assert id_columns({"note": [f"{n} " + "about a visit " * 4 for n in range(3)]}, {"note"}) == []


def test_links_to_records():
    template = checked_link("https://records.example/{id}?q={name}", {"id": 0, "name": 0})
    assert link_of(template, {"id": 7, "name": "a/b&<c>"}) == (
        "https://records.example/7?q=a%2Fb%26%3Cc%3E"
    )
    assert link_of(template, {"id": 7, "name": None}) == ""


@pytest.mark.parametrize(
    "template",
    ["javascript:alert({id})", "records.example/{id}", "https://{id}.example/", "https:///x", "",
     "https://a@b/{id}", "data:text/html,{id}", "https://x/\n{id}", None],
)  # fmt: skip
def test_links_that_are_refused(template):
    with pytest.raises(ValueError, match="must begin with http:// or https://"):
        checked_link(template)


def test_a_tab_that_was_left_does_not_block_the_end(desk_over, monkeypatch):
    storage = stored("memory://", small_project(n_dirty=6))
    desk = desk_over(storage)
    held = []
    for number in range(50):
        question = desk.question(f"person {number}")
        if question is None:
            break
        held.append(question.row)
    assert desk.question("late") is None, "all is held"
    start = storage.now()
    monkeypatch.setattr(type(storage), "now", lambda _: start + timedelta(seconds=61))
    assert desk.question("late").row == held[0], "the one that was held the longest"


def test_notes_are_checked(desk):
    row = desk.question("Ann").row
    with pytest.raises(RefusedError, match="reason must be one of not recorded"):
        desk.skip("Ann", row, reason="too lazy")
    assert json.loads(json.dumps(desk.export_log(True))) == ""
    assert pd.isna(desk.project.frame["age"][desk.look(row).number])
