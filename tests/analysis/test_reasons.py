"""Reasons are those of the question, in words that fit their number."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cpclean import CleaningSession, IncompleteTable
from cpclean.analysis.reasons import Outcome, Reason, reasons
from cpclean.data.spaces.leaf_space import LeafSpace


def test_reasons_are_those_of_the_question(session: CleaningSession) -> None:
    view = session.view
    question, (reason, *_) = session.ask(), reasons(view, view.best_questions(3))
    why = question.why
    assert (reason.row, reason.gain, reason.n_points) == (
        question.row, question.gain, len(why.points)
    )  # fmt: skip
    settles = np.array([len(one) for one in why.settles])
    assert reason.expected == pytest.approx(question.prior[why.answers] @ settles)
    likeliest = int(np.argmax(question.prior))
    assert reason.outcomes[0].prior == question.prior[likeliest]
    assert reason.n_more == len(question.candidates) - len(reason.outcomes)
    assert {one.name for one in reason.values if one.hole} == set(question.candidates[0])


def test_in_a_hurry_a_reason_is_the_gain_only(session: CleaningSession) -> None:
    questions = session.view.best_questions(3)
    late = reasons(session.view, questions, seconds=0.0)
    assert [one.row for one in late] == [one.row for one in questions]
    assert late[0].expected is None
    assert late[0].outcomes == []
    assert "nearest rows of" in late[0].words
    assert "is expected to remove" in late[0].words


def test_a_row_whose_answers_take_too_long_is_left_midway(session, monkeypatch) -> None:
    clock = iter(range(1000))
    monkeypatch.setattr("cpclean.analysis.reasons.time.perf_counter", lambda: next(clock))
    questions = session.view.best_questions(3)
    n_answers = len(questions[0].candidates)
    found = reasons(session.view, questions, seconds=n_answers + 1)
    assert len(questions[1].candidates) > 1
    assert len(found[0].outcomes) > 0, "there is time for the answers of the first row"
    assert [one.expected is None for one in found] == [False, True, True]


REASON = Reason(
    row=3, name="row 3", label="yes", values=[], asked="age", gain=0.1, of_all=0.25, n_points=4,
    expected=0.5, outcomes=[Outcome("age = 1", 0.5, 1), Outcome("age = 2", 0.5, 0)], n_more=0,
)  # fmt: skip


@pytest.mark.parametrize(
    ("settles", "n_points", "told"),
    [
        (
            (1, 0),
            4,
            "On average an answer makes 0.5 of them certain; age = 0 would make 1 certain.",
        ),
        (
            (0, 0),
            4,
            "No likely answer makes any of them certain, but an answer makes them clearer.",
        ),
        ((2, 2), 4, "Whatever the answer, 2 of them become certain."),
        ((1, 1), 4, "Whatever the answer, 1 of them becomes certain."),
        ((1, 0), 1, "The chance that the answer makes it certain is 50.0%."),
        ((0, 0), 1, "No likely answer makes it certain, but an answer makes it clearer."),
        ((1, 1), 1, "Whatever the answer, it becomes certain."),
    ],
)
def test_what_the_answers_settle(settles: tuple[int, ...], n_points: int, told: str) -> None:
    outcomes = [Outcome(f"age = {at}", 0.5, one) for at, one in enumerate(settles)]
    words = replace(REASON, outcomes=outcomes, n_points=n_points).words
    assert told in words
    near = "one open prediction" if n_points == 1 else "4 open predictions"
    assert words.startswith(f"This row can be among the nearest rows of {near}.")
    assert words.endswith("remove 25.0% of the doubt in all predictions together.")


@pytest.mark.whole_forests
def test_among_leaves_near_is_said_in_trees(tables: tuple[Any, Any, Any]) -> None:
    dirty, _, val = tables
    table = IncompleteTable(dirty, label="buys", space=LeafSpace(n_trees=20, n_worlds=2))
    view = CleaningSession(table, val, n_neighbors=5).view
    trees = table.dataset.space
    told = reasons(view, view.best_questions(4))
    assert len(told) == 4
    for question, reason in zip(view.best_questions(4), told, strict=True):
        mine = trees.apply(table.dataset.candidates(question.row))
        theirs = trees.apply(view.points.all_vectors()[question.points])
        same = (mine[:, None] == theirs[None]).sum(axis=2).max()
        assert reason.trees == (same, 20)
        assert re.search(rf": in the same leaf as .* in up to {same} of 20 trees\.", reason.words)
    one = replace(told[0], n_points=1, expected=None, trees=(61, 100))
    assert "one open prediction: in the same leaf as it in up to 61 of 100 trees." in one.words
