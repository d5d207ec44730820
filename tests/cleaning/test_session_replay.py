"""The same answers again: kept, pickled, replayed, merged with those of others."""

from __future__ import annotations

import copy
import json
import pickle
from random import Random

import oracle
import pytest
from cleaning.samples import seen, weighed
from cleaning.small import problem

from cpclean import CleaningSession, IncompleteDataset
from cpclean.errors import AnswerError, UnknownRowError

# -- the same again --------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["cpclean", "random", "cells"])
def test_answers_give_the_same_next_question(strategy: str) -> None:
    data, X, k = problem(7)
    session, rng = CleaningSession(data, X, k, strategy, random_state=3), Random(1)
    while not session.done:
        question = session.ask()
        session.tell(**question.answer(rng.randrange(len(question.candidates))))
        for kept in (
            pickle.loads(pickle.dumps(session.answers)),
            json.loads(json.dumps(session.answers)),
        ):
            again = CleaningSession(data, X, k, strategy, random_state=3)
            again.replay(kept)
            one, other = session.ask(), again.ask()
            if one is None:
                assert other is None
            else:
                assert (one.row, one.column, one.gain) == (other.row, other.column, other.gain)
                assert one.candidates == other.candidates


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "function", "precomputed"])
def test_a_session_that_was_pickled_goes_on_as_before(metric: str) -> None:
    data, X, k = problem(11)
    points = X
    if metric == "precomputed":
        every = [vector for row in range(data.n_rows) for vector in data.candidates(row).tolist()]
        points = [[oracle.distance(vector, t) for vector in every] for t in X]
    name = weighed if metric == "function" else metric
    session = CleaningSession(data, points, k, metric=name, budget=50, y_val=[0] * len(X))
    rng = Random(5)
    while not session.done:
        question = session.ask()
        session.tell(**question.answer(rng.randrange(len(question.candidates))))
        for other in (pickle.loads(pickle.dumps(session)), copy.deepcopy(session)):
            assert seen(other) == seen(session)
            assert other.budget == 50
            assert other.accuracy() == session.accuracy()
            if not session.done:
                row = other.ask().row
                number = rng.randrange(len(data.candidates(row)))
                other.tell(row, number)
                fresh = CleaningSession(data, points, k, metric=name, budget=50)
                fresh.replay(other.answers)
                assert fresh.gains().tolist() == other.gains().tolist()
                assert fresh.certain.tolist() == other.certain.tolist()


def test_answers_are_the_callers_own(session: CleaningSession) -> None:
    session.tell(0, value={0: 2.0})
    session.answers[0]["value"][0] = 99.0
    session.answers.clear()
    session.history.clear()
    assert session.answers == [{"row": 0, "value": [2.0]}]
    assert len(session.history) == 1


def test_merge(data: IncompleteDataset) -> None:
    X = [[0.0], [4.0], [9.0]]
    mine, theirs = CleaningSession(data, X, 1), CleaningSession(data, X, 1)
    mine.tell(0, 0)
    mine.tell(1, value=[1.0])
    mine.skip(2)
    theirs.tell(0, 1)  # against what is known here
    theirs.tell(1, 0)  # the same, in another form
    theirs.tell(3, 1)
    theirs.tell(3, 2)
    theirs.skip(3)
    theirs.tell(2, value=[6.25])
    assert mine.merge(theirs.answers) == [0]
    assert mine.data.candidates(0).tolist() == [[0.0]]
    assert mine.data.candidates(2).tolist() == [[6.25]]
    assert mine.data.candidates(3).tolist() == [[8.0]]
    assert mine.answers[3:] == [
        {"row": 3, "candidate": 1},
        {"row": 3, "candidate": 2},
        {"row": 2, "value": [6.25]},
    ]
    before = seen(mine)
    assert mine.merge(theirs.answers) == [0]
    assert mine.merge([]) == []
    assert seen(mine) == before


def test_merge_takes_over_what_is_skipped(data: IncompleteDataset) -> None:
    X = [[0.0], [4.0], [9.0]]
    mine, theirs = CleaningSession(data, X, 1), CleaningSession(data, X, 1)
    theirs.skip(0)
    mine.tell(1, 0)
    theirs.skip(1)
    assert mine.merge(theirs.answers) == []
    assert mine.answers == [{"row": 1, "candidate": 0}, {"row": 0, "skip": True}]


# -- bad input -------------------------------------------------------------------------------------


GOOD = {"row": 1, "candidate": 0}


@pytest.mark.parametrize(
    ("answers", "error", "message"),
    [
        (5, AnswerError, "answers must be a list of dicts.*got int"),
        ('[{"row": 0}]', AnswerError, "answers must be a list of dicts.*got str"),
        (GOOD, AnswerError, "answers must be a list of dicts.*got dict"),
        ([GOOD, 5], AnswerError, 'answer 1 must be a dict with "row" and one of.*got 5'),
        ([GOOD, {"row": 0}], AnswerError, "answer 1 must be a dict"),
        ([GOOD, {"candidate": 0}], AnswerError, "answer 1 must be a dict"),
        ([GOOD, {"row": 0, "candidate": 0, "skip": True}], AnswerError, "answer 1 must be a dict"),
        ([GOOD, {"row": 0, "skip": False}], AnswerError, "answer 1 must be a dict"),
        (
            [GOOD, {"row": 0, "candidate": None}],
            AnswerError,
            "answer 1: an answer about row 0 must be.*neither",
        ),
        (
            [GOOD, {"row": 0, "candidate": 7}],
            UnknownRowError,
            "answer 1: row 0 has candidates 0",
        ),
        ([GOOD, {"row": 9, "skip": True}], UnknownRowError, "answer 1: row must be an int"),
        ([GOOD, {"row": 0, "value": ["x"]}], AnswerError, "answer 1: the value of row 0, column 0"),
    ],
)
def test_answers_that_cannot_be_replayed(
    session: CleaningSession, answers: object, error: type[Exception], message: str
) -> None:
    session.tell(3, 1)
    before = seen(session)
    with pytest.raises(error, match=message):
        session.replay(answers)
    assert seen(session) == before
    with pytest.raises(error, match=message):
        session.merge(answers)
    assert seen(session) == before


def test_a_replay_that_breaks_off_leaves_nothing_behind(
    session: CleaningSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = seen(session)
    tell = session.tell
    calls = []

    def interrupted(*args: object, **named: object) -> object:
        calls.append(args)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return tell(*args, **named)

    monkeypatch.setattr(session, "tell", interrupted)
    with pytest.raises(KeyboardInterrupt):
        session.replay([GOOD, {"row": 0, "candidate": 1}])
    assert len(calls) == 2
    assert seen(session) == before
