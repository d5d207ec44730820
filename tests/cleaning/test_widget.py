"""The Python side of the notebook's widget: what it shows, and what messages do to the session."""

from __future__ import annotations

import json
import sys
from datetime import datetime

import numpy as np
import pandas as pd
import pytest

from cpclean import Between, CleaningSession, IncompleteDataset, IncompleteTable
from cpclean.errors import CPCleanError


def session_of(**options):
    rng = np.random.default_rng(1)
    n_rows = 24
    label = np.arange(n_rows) % 2
    frame = pd.DataFrame(
        {
            "age (years)": np.round(30 + 20 * label + rng.normal(size=n_rows) * 5),
            "city": rng.choice(["Oslo", "Rome", "<b>Bern</b>"], n_rows),
            "member": pd.array(rng.random(n_rows) < 0.5, dtype="boolean"),
            "since": pd.date_range("2020-01-01", periods=n_rows),
            "buys": label,
        },
        index=[f"p{number}" for number in range(n_rows)],
    )
    val = frame.iloc[16:].copy()
    frame = frame.iloc[:16].copy()
    frame.loc[["p0", "p3", "p5"], "age (years)"] = None
    frame.loc[["p3", "p6"], "city"] = None
    frame.loc["p7", "member"] = None
    frame.loc["p8", "since"] = None
    table = IncompleteTable(frame, label="buys")
    return CleaningSession(table, val.drop(columns="buys"), n_neighbors=3, **options)


@pytest.fixture
def session():
    return session_of()


@pytest.fixture
def widget(session):
    return session.widget()


def show(widget, row):
    """Make a widget ask about a row."""
    widget._question = widget.session.question(row)
    widget._show("", {"column": "", "words": "x"})
    return {one["column"]: one for one in widget.state["question"]["fields"]}


def test_it_asks_what_the_session_asks(session, widget):
    question = session.ask()
    shown = widget.state["question"]
    assert shown["row"] == question.row
    assert shown["where"] == f"Row {question.row}, in the frame: p{question.row}"
    assert shown["holes"] == [cell.column for cell in question.cells]
    assert [one["column"] for one in shown["fields"]] == shown["holes"]
    named = {one["column"] for one in shown["cells"]} | set(shown["holes"])
    assert named == set(session.view.table.names)
    assert shown["label"] == {"column": "buys", "text": str(question.row % 2)}
    json.dumps(widget.state)  # as it is sent
    assert not widget.state["undoable"]


def test_each_kind_of_column_has_its_control(widget):
    three, seven, eight = (show(widget, row) for row in (3, 7, 8))
    assert three["age (years)"]["control"] == "number"
    assert three["age (years)"]["unit"] == "years"
    assert "so far from" in three["age (years)"]["hint"]
    assert three["city"]["control"] == "chips"
    assert [one["value"] for one in three["city"]["choices"]] == ["<b>Bern</b>", "Oslo", "Rome"]
    assert [one["text"] for one in seven["member"]["choices"]] == ["yes", "no"]
    assert eight["since"]["control"] == "text"
    assert "2020-01-01" in eight["since"]["hint"]


def test_many_categories_are_a_list():
    frame = pd.DataFrame({"code": [*(f"c{n % 12:02}" for n in range(30)), None], "x": range(31)})
    table = IncompleteTable(frame, label=[n % 2 for n in range(31)])
    widget = CleaningSession(table, frame.iloc[:3]).widget()
    field = show(widget, 30)["code"]
    assert field["control"] == "list"
    assert len(field["choices"]) == 12
    assert field["ranges"] == [{"value": "other", "text": "something else, which I can’t say"}]


def test_an_answer_changes_the_session_and_the_next_question(session, widget):
    other = session_of()
    question = session.ask()
    values = {cell.column: cell.values[0] for cell in question.cells}
    widget.act(
        {"do": "answer", "row": question.row, "values": {k: str(v) for k, v in values.items()}}
    )
    other.tell(question.row, value=values)
    assert session.answers == other.answers
    assert session.known == other.known
    assert widget.state["said"].startswith(f"Saved: row {question.row} (in the frame: p")
    assert widget.state["question"]["row"] == other.ask().row != question.row
    assert "1 answer so far" in widget.state["standing"]["words"]
    assert widget.state["undoable"]


def test_messages_arrive_as_the_browser_sends_them(session, widget):
    row = widget.state["question"]["row"]
    widget._handle_custom_msg({"do": "skip", "row": row}, [])
    assert session.answers == [{"row": row, "skip": True}]
    widget._handle_custom_msg("nonsense", [])
    assert len(session.answers) == 1


def test_only_some_cells_and_rough_answers(session, widget):
    rough = show(widget, 3)["age (years)"]["ranges"][1]["value"]
    widget.act({"do": "answer", "row": 3, "values": {"age (years)": rough, "city": ""}})
    assert session.rough == {3: {"age (years)": Between(*rough["between"])}}
    widget.act({"do": "answer", "row": 3, "values": {"city": "rome"}})
    assert session.known[3] == {"city": "Rome"}  # as the table spells it
    assert "city = Rome" in widget.state["said"]
    widget.act({"do": "answer", "row": 8, "values": {"since": "2020-01-09"}})
    assert session.known[8] == {"since": datetime(2020, 1, 9)}


def test_undo_takes_back_the_last_entry(session, widget):
    first = widget.state["question"]
    widget.act({"do": "skip", "row": first["row"]})
    assert widget.state["said"].startswith("Not asked again: row")
    widget.act({"do": "undo"})
    assert session.answers == []
    assert widget.state["question"] == first
    assert widget.state["said"].startswith(f"Undone: row {first['row']}")
    widget.act({"do": "undo"})
    assert widget.state["wrong"]["words"] == "There is nothing to undo."


def test_what_is_wrong_stands_beside_its_field_and_what_was_typed_stays(session, widget):
    row = 3
    show(widget, row)
    typed = {"age (years)": "old", "city": "Rome"}
    widget.act({"do": "answer", "row": row, "values": typed})
    assert session.answers == []
    assert widget.state["wrong"]["column"] == "age (years)"
    assert "takes a number, such as 41 or 0.5; got 'old'" in widget.state["wrong"]["words"]
    assert widget.state["sent"] == typed
    assert widget.state["question"]["row"] == row
    widget.act({"do": "answer", "row": row, "values": {"age (years)": " ", "city": ""}})
    assert "No value was given for row 3" in widget.state["wrong"]["words"]


def test_unusual_values_are_asked_back_once(session, widget):
    show(widget, 0)
    message = {"do": "answer", "row": 0, "values": {"age (years)": "4000"}}
    widget.act(message)
    assert session.answers == []
    assert "Did you mean 40?" in widget.state["wrong"]["words"]
    assert "Save once more to keep it." in widget.state["wrong"]["words"]
    widget.act(message)
    assert session.known[0] == {"age (years)": 4000}


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ({"do": "answer", "row": 1, "values": {"city": "Rome"}}, "is not missing in row 1"),
        ({"do": "answer", "row": 999, "values": {"city": "Rome"}}, "999"),
        ({"do": "skip", "row": "x"}, "x"),
        ({"do": "dance"}, "must say answer, skip or undo; got 'dance'"),
        ({}, "must say answer, skip or undo; got None"),
    ],
)
def test_strange_messages_change_nothing(session, widget, message, words):
    before = widget.state["question"]
    widget.act(message)
    assert session.answers == []
    assert words in widget.state["wrong"]["words"]
    assert widget.state["question"] == before


def test_answers_from_other_cells_are_seen_after_refresh(session, widget):
    question = session.ask()
    session.tell(**question.answer(0))
    widget.refresh()
    assert widget.state["question"]["row"] == session.ask().row
    assert "1 answer so far" in widget.state["standing"]["words"]


def test_it_ends_when_there_is_nothing_more_to_ask(session, widget):
    for _ in range(20):
        if widget.state["question"] is None:
            break
        widget.act({"do": "skip", "row": widget.state["question"]["row"]})
    assert widget.state["question"] is None
    assert widget.state["stopped"] == session.stopped
    assert "0 rows left to ask about" in widget.state["standing"]["words"]
    assert sum(widget.state["standing"]["counts"].values()) == 8


def test_questions_about_single_cells():
    session = session_of(strategy="cells")
    widget = session.widget()
    question = session.ask()
    assert widget.state["question"]["holes"] == [question.column]


def test_vectors_are_refused():
    data = IncompleteDataset([[[0.0], [5.0]], [[1.0]], [[6.0]]], ["a", "b", "b"])
    with pytest.raises(CPCleanError, match=r"session is over vectors. Make the session of an"):
        CleaningSession(data, [[0.0]], n_neighbors=1).widget()


def test_without_anywidget_it_says_what_to_install(session, monkeypatch):
    monkeypatch.delitem(sys.modules, "cpclean.cleaning.widget", raising=False)
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(CPCleanError, match=r"needs anywidget.* pip install 'cpclean\[notebook\]'"):
        session.widget()


def test_the_script_loads_nothing_and_writes_no_html(widget):
    for text in (widget._esm, widget._css):
        for word in (
            "http:",
            "https:",
            "import ",
            "@import",
            "url(",
            "fetch(",
            "innerHTML",
            "eval",
        ):
            assert word not in text
