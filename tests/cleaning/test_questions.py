"""A question, its candidates, and the reasons for asking it."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from cleaning.small import problem
from slow_cases import rest_slow

from cpclean import (
    Cell,
    CleaningSession,
    FactoredRow,
    IncompleteDataset,
    IncompleteTable,
    is_certain,
    world_shares,
)
from cpclean.errors import AnswerError


@pytest.fixture
def data() -> IncompleteDataset:
    row = FactoredRow([0.0, 0.0], [Cell(0, [0.0, 4.0], [0.75, 0.25]), Cell(1, [0.0, 1.0, 2.0])])
    return IncompleteDataset([row, [[1.0, 0.5]], [[4.0, 4.0]]], ["a", "b", "b"])


@pytest.mark.parametrize("seed", range(8))
def test_why_says_what_pinning_each_candidate_would_say(seed: int) -> None:
    data, X, k = problem(seed)
    points = X + X[:2]  # some of them twice
    question = CleaningSession(data, points, k).ask()
    if question is None:
        return
    why = question.why
    now = is_certain(data, points, k)
    assert why.answers == list(range(len(question.candidates)))
    assert not now[why.points].any()
    assert why.shares == pytest.approx(world_shares(data, points, k)[why.points], abs=1e-14)
    for number in why.answers:
        pinned = data.pin(question.row, number)
        settled = np.flatnonzero(is_certain(pinned, points, k) & ~now)
        assert why.settles[number].tolist() == settled.tolist()
        assert set(settled.tolist()) <= set(why.points.tolist())
        after = world_shares(pinned, points, k)
        assert why.shares_after[number] == pytest.approx(after[why.points], abs=1e-14)
        rest = np.setdiff1d(np.arange(len(points)), why.points)
        assert after[rest] == pytest.approx(world_shares(data, points, k)[rest], abs=1e-14)
        change = after[why.points].mean(axis=0) - why.shares.mean(axis=0)
        assert why.change[number] == pytest.approx(change, abs=1e-14)
    weighed = question.prior @ why.change
    assert weighed == pytest.approx(np.zeros(data.n_classes), abs=1e-13)


def test_why_of_a_cell(data: IncompleteDataset) -> None:
    session = CleaningSession(data, [[0.0, 0.0]], 1, "cells")
    question = session.ask()
    assert (question.row, question.column) == (0, 1)
    assert question.candidates == [{1: 0.0}, {1: 1.0}, {1: 2.0}]
    why = question.why
    assert why.points.tolist() == [0]
    assert [one.tolist() for one in why.settles] == [[], [], [0]]
    assert why.shares == pytest.approx(np.array([[0.5, 0.5]]))
    assert why.shares_after[:, 0, 0].tolist() == pytest.approx([0.75, 0.75, 0.0])


def test_reasons_are_given_for_the_likeliest_answers_only(
    data: IncompleteDataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cpclean.cleaning.question.MOST_ANSWERS", 2)
    data = IncompleteDataset(
        [[[0.0], [2.0], [3.0]], [[1.0]], [[9.0]]], [0, 1, 1], [[0.5, 0.1, 0.4], None, None]
    )
    why = CleaningSession(data, [[0.0]], 1).ask().why
    assert why.answers == [0, 2]
    assert why.shares_after.shape == (2, 1, 2)
    assert why.change.shape == (2, 2)


def test_why_of_a_row_that_matters_to_nobody() -> None:
    data = IncompleteDataset([[[0.0], [5.0]], [[1.0]], [[50.0], [60.0]]], [0, 1, 1])

    def last(situation: object) -> object:
        return situation.row

    question = CleaningSession(data, [[0.0]], 1, last).ask()
    assert question.row == 2
    assert question.why.points.tolist() == []
    assert question.why.change.tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert str(question).endswith("near 0 open validation points")


def test_a_question_in_words(data: IncompleteDataset) -> None:
    question = CleaningSession(data, [[0.0, 0.0]], 1).ask()
    assert str(question) == (
        f"row 0: 6 candidates, expected to lower the mean entropy by {question.gain:.2g} nats; "
        "near 1 open validation point"
    )
    twice = CleaningSession(data, [[0.0, 0.0], [0.1, 0.0]], 1).ask()
    assert str(twice).endswith("near 2 open validation points")
    assert "_board" not in repr(question)


def test_candidates_that_are_left(data: IncompleteDataset) -> None:
    session = CleaningSession(data, [[0.0, 0.0]], 1)
    question = session.ask()
    assert question.candidates == data.candidates(0).tolist()
    assert question.numbers == [0, 1, 2, 3, 4, 5]
    assert question.prior.tolist() == data.prior(0).tolist()
    session.tell(0, value={1: 1.0})
    question = session.ask()
    assert question.candidates == [[0.0, 1.0], [4.0, 1.0]]
    assert question.numbers == [1, 4]  # not 0 and 1
    assert question.prior.tolist() == [0.75, 0.25]
    assert question.answer(1) == {"row": 0, "candidate": 4}
    session.tell(**question.answer(1))
    assert session.data.candidates(0).tolist() == [[4.0, 1.0]]


def test_candidates_after_a_value_that_is_none(data: IncompleteDataset) -> None:
    session = CleaningSession(data, [[0.0, 0.0]], 1)
    session.tell(0, value={1: 0.25})
    question = session.ask()
    assert question.candidates == [[0.0, 0.25], [4.0, 0.25]]
    assert question.numbers == [None, None]
    assert question.answer(0) == {"row": 0, "value": [0.0, 0.25]}
    assert question.why.settles[1].tolist() == [0]
    session.tell(**question.answer(0))
    assert session.data.candidates(0).tolist() == [[0.0, 0.25]]


def test_every_answer_of_every_question_leaves_its_candidate() -> None:
    for seed in range(6):
        data, X, k = problem(seed)
        for strategy in ("cpclean", "cells"):
            question = CleaningSession(data, X, k, strategy).ask()
            for number in range(len(question.candidates) if question else 0):
                session = CleaningSession(data, X, k, strategy)
                session.tell(**question.answer(number))
                left = session.data.candidates(question.row)
                said = question.candidates[number]
                for column, value in said.items() if question.column is not None else ():
                    assert (left[:, column] == value).all()
                if question.column is None:
                    assert left.tolist() == [said]


@pytest.mark.parametrize("number", [2, -1, "x", 1.0, None])
def test_an_answer_that_is_none_of_the_candidates(number: object) -> None:
    data = IncompleteDataset([[[0.0], [5.0]], [[1.0]]], [0, 1])
    question = CleaningSession(data, [[0.0]], 1).ask()
    with pytest.raises(AnswerError, match=r"about row 0 has candidates 0 to 1; got"):
        question.answer(number)


def test_a_question_of_a_table() -> None:
    frame = pd.DataFrame({"age": [18, None, 65, 40], "city": ["A", None, "A", "B"]})
    frame = frame.assign(x=[0.0, 1.0, 2.0, 1.0], y=[0, 1, 1, 0])
    table = IncompleteTable(frame, label="y", prior="uniform")
    points = pd.DataFrame({"age": [30, 50], "city": ["A", "B"], "x": [1.0, 1.0]})
    session = CleaningSession(table, points, 1)
    question = session.ask()
    assert question.row == 1
    assert question.candidates == table.candidates(1)
    session.tell(1, value={"age": 33})
    question = session.ask()
    assert {one["age"] for one in question.candidates} == {33}
    assert [one["city"] for one in question.candidates] == [
        one["city"] for one in table.candidates(1)[: len(question.candidates)]
    ]
    assert question.answer(0)["value"]["age"] == 33


def test_a_question_can_be_pickled(data: IncompleteDataset) -> None:
    session = CleaningSession(data, [[0.0, 0.0]], 1)
    session.tell(0, value={1: 1.0})
    question = session.ask()
    other = pickle.loads(pickle.dumps(question))
    assert (other.row, other.candidates, other.gain) == (0, question.candidates, question.gain)
    assert other.why.shares_after.tolist() == question.why.shares_after.tolist()
    assert str(other) == str(question)


@pytest.mark.parametrize("strategy", ["cpclean", "cells"])
@pytest.mark.parametrize("seed", rest_slow(range(8), 3))
def test_settles_says_what_why_says_and_changes_nothing(seed: int, strategy: str) -> None:
    data, X, k = problem(seed)
    session = CleaningSession(data, X + X[:2], k, strategy)
    while (question := session.ask()) is not None:
        gains = session.gains().tolist()
        settled = [question.settles(number).tolist() for number in range(len(question.candidates))]
        assert settled == [points.tolist() for points in question.why.settles]
        assert question.points.tolist() == question.why.points.tolist()
        assert session.gains().tolist() == gains
        session.tell(**question.answer(len(question.candidates) - 1))


def test_settles_where_distances_are_given() -> None:
    data = IncompleteDataset([[[0.0], [5.0]], [[1.0], [7.0]], [[6.0]]], ["a", "b", "b"])
    distances = np.abs(np.array([[0.0], [4.0]]) - np.array([[0.0, 5.0, 1.0, 7.0, 6.0]]))
    question = CleaningSession(data, distances, 1, metric="precomputed").ask()
    assert [question.settles(number).tolist() for number in range(2)] == [
        points.tolist() for points in question.why.settles
    ]


def test_questions_name_the_row_as_the_frame_does() -> None:
    frame = pd.DataFrame(
        {"age": [1, None, 3, None, 9], "size": 1.0, "buys": ["n", "y", "y", None, "n"]},
        index=["p7", "p3", "p9", "p4", "p1"],
    )
    table = IncompleteTable(frame, label="buys", drop_unlabelled=True).shuffled()
    session = CleaningSession(
        table, pd.DataFrame({"age": [2.0, 8.0], "size": [1.0, 1.0]}), n_neighbors=1
    )
    question = session.ask()
    assert question.frame_row == session.frame_row(question.row) == "p3"
    assert "(in the frame: 'p3')" in str(question)
    plain = CleaningSession(table.dataset, [[0.1], [0.9]], n_neighbors=1)
    assert plain.ask().frame_row == plain.ask().row


def test_notebooks_show_a_question_and_a_session() -> None:
    frame = pd.DataFrame(
        {"job": ["<b>", "clerk", None, "nurse"], "size": [1, 2, 3, 4], "y": ["n", "n", "y", "y"]}
    )
    points = pd.DataFrame({"job": ["clerk"], "size": [3]})
    session = CleaningSession(IncompleteTable(frame, label="y"), points, n_neighbors=1)
    shown = session.ask()._repr_html_()
    assert "What is row 2?" in shown
    assert "job &lt;b&gt;" in shown
    assert "<b>" not in shown
    assert "0 certain, 0 sure, 1 open" in session._repr_html_()
    session.tell(2, value={"job": "nurse"})
    assert "<td>2</td><td>answer</td><td>100.0%</td>" in session._repr_html_()
    assert "Nothing more to ask: " in session._repr_html_()


def test_notebooks_name_rows_as_the_frame_does() -> None:
    frame = pd.DataFrame(
        {"size": [1, None, 3], "age": 2, "y": ["n", "n", "y"]}, index=["a", "<i>", "c"]
    )
    points = pd.DataFrame({"size": [2.4], "age": 2})
    session = CleaningSession(IncompleteTable(frame, label="y"), points, n_neighbors=1)
    assert "What is row 1, in the frame &#x27;&lt;i&gt;&#x27;?" in session.ask()._repr_html_()
    session.tell(1, value={"size": 2})
    assert "<td>1, in the frame &#x27;&lt;i&gt;&#x27;</td>" in session._repr_html_()
