"""A session from the first question to the last: answers, corrections, undo, replay, errors."""

from __future__ import annotations

import copy
import json
import pickle
from random import Random

import numpy as np
import oracle
import pandas as pd
import pytest
from cleaning.small import problem

from cpclean import (
    CleaningSession,
    IncompleteDataset,
    IncompleteTable,
    entropies,
    expected_entropies,
    is_certain,
    simulate,
    world_shares,
)
from cpclean.errors import AnswerError, CPCleanError, QueryError, TableError, UnknownRowError


def seen(session: CleaningSession) -> tuple[object, ...]:
    """Everything that a session shows, to see whether it is unchanged."""
    question = session.ask()
    return (
        session.answers,
        session.history,
        session.certain.tolist(),
        session.mean_entropy,
        session.gains().tolist(),
        session.data.n_worlds,
        session.stopped,
        question and (question.row, question.column, question.candidates, question.gain),
    )


@pytest.fixture
def data() -> IncompleteDataset:
    rows = [[[0.0], [5.0]], [[1.0], [7.0]], [[6.0]], [[2.0], [3.0], [8.0]]]
    return IncompleteDataset(rows, ["a", "b", "b", "a"])


@pytest.fixture
def session(data: IncompleteDataset) -> CleaningSession:
    return CleaningSession(data, [[0.0], [4.0], [9.0]], n_neighbors=1, y_val=["a", "a", "b"])


def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "age": [18.0, None, 65.0, 40.0, None],
            "city": ["A", "B", None, "A", "B"],
            "buys": ["no", "yes", "yes", "no", "yes"],
        }
    )


@pytest.fixture
def table_session() -> CleaningSession:
    points = pd.DataFrame({"age": [20.0, 60.0, 41.0], "city": ["A", "B", "B"]})
    return CleaningSession(IncompleteTable(frame(), label="buys"), points, n_neighbors=1)


# -- the way through -------------------------------------------------------------------------------


def test_a_whole_session_by_hand(session: CleaningSession, data: IncompleteDataset) -> None:
    X = [[0.0], [4.0], [9.0]]
    rows = []
    while not session.done:
        question = session.ask()
        before = session.mean_entropy
        record = session.tell(question.row, candidate=1)
        rows.append(record.row)
        assert record.kind == "answer"
        assert record.gain == question.gain
        assert record.gain == pytest.approx(
            before - expected_entropies(data, X, 1)[record.row], abs=1e-14
        )
        data = data.pin(record.row, 1)
        assert record.entropy == pytest.approx(entropies(data, X, 1).mean(), abs=1e-14)
        assert record.certain_share == is_certain(data, X, 1).mean() == session.certain_share
        assert record.seconds > 0
    assert session.stopped == "all validation points are certain"
    assert [record.row for record in session.history] == rows
    assert session.answers == [{"row": row, "candidate": 1} for row in rows]
    assert sum(record.settled for record in session.history) == 3 - is_certain(
        IncompleteDataset([[[0.0], [5.0]], [[1.0], [7.0]], [[6.0]], [[2.0], [3.0], [8.0]]],
                          ["a", "b", "b", "a"]), X, 1).sum()  # fmt: skip
    assert repr(session) == (
        f"CleaningSession({len(rows)} answers, 100.0% of 3 validation points certain)"
    )


def test_asking_changes_nothing(session: CleaningSession) -> None:
    assert seen(session) == seen(session)
    session.ask(3)
    session.ask().why  # noqa: B018
    assert session.answers == []


def test_rows_that_were_never_asked_for(session: CleaningSession) -> None:
    asked = session.ask().row
    other = next(row for row in (0, 1, 3) if row != asked)
    assert session.tell(other, 0).kind == "answer"
    assert session.tell(2, value=[6.5]).kind == "answer"  # it had no hole
    assert session.data.candidates(2).tolist() == [[6.5]]


def test_the_same_again_has_no_effect(session: CleaningSession) -> None:
    session.tell(0, 1)
    before = seen(session)
    assert session.tell(0, 1).kind == "same"
    assert session.tell(0, value=[5.0]).kind == "same"
    assert session.tell(0, value={0: 5}).kind == "same"
    assert seen(session) == before


def test_a_correction(session: CleaningSession, data: IncompleteDataset) -> None:
    session.tell(0, 1)
    record = session.tell(0, 0)
    assert record.kind == "correction"
    fresh = CleaningSession(data, [[0.0], [4.0], [9.0]], 1)
    fresh.tell(0, 0)
    assert session.gains().tolist() == fresh.gains().tolist()
    assert session.ask().row == fresh.ask().row
    assert len(session.history) == 2


def test_a_value_outside_the_candidates_can_unsettle_points() -> None:
    rows = [[[0.0], [1.0]], [[50.0]], [[5.0], [60.0]], [[100.0]]]
    data = IncompleteDataset(rows, ["a", "a", "b", "b"])
    session = CleaningSession(data, [[100.0], [0.0], [0.5], [0.0]], 1)
    assert session.certain.tolist() == [True, True, True, True]
    assert session.done
    record = session.tell(0, value=[55.0])
    assert record.unsettled == (1, 2, 3)
    assert record.settled == 0
    assert session.certain.tolist() == [True, False, False, False]
    assert record.certain_share == 0.25
    assert not session.done
    assert session.ask().row == 2
    session.tell(0, 1)  # a correction settles them again
    assert session.history[-1].settled == 3
    assert session.done


def test_one_cell_at_a_time() -> None:
    rows = [[[0.0, 1.0], [0.0, 2.0], [4.0, 1.0]], [[1.0, 1.0]], [[5.0, 5.0]]]
    session = CleaningSession(IncompleteDataset(rows, ["a", "b", "b"]), [[0.0, 0.0]], 1)
    session.tell(0, value={0: 0.0})
    assert session.data.candidates(0).tolist() == [[0.0, 1.0], [0.0, 2.0]]
    session.tell(0, value={1: 7.0})  # no candidate: both are known now
    assert session.data.candidates(0).tolist() == [[0.0, 7.0]]
    session.tell(0, value={1: 2.0})
    assert session.data.candidates(0).tolist() == [[0.0, 2.0]]
    session.tell(0, 2)  # a candidate says all
    assert session.data.candidates(0).tolist() == [[4.0, 1.0]]
    session.undo(4)
    assert session.data.candidates(0).tolist() == rows[0]


def test_skipped_rows_are_not_asked_for(session: CleaningSession) -> None:
    rows = []
    while (question := session.ask()) is not None:
        rows.append(question.row)
        session.skip(question.row)
    assert sorted(rows) == [0, 1, 3]
    assert session.stopped == "every row with holes is cleaned or skipped"
    assert session.history == []
    assert session.answers[0] == {"row": rows[0], "skip": True}
    session.skip(rows[0])  # again: no effect
    assert len(session.answers) == 3
    assert session.tell(rows[0], 0).kind == "answer"  # and it counts again
    session.undo(2)
    assert session.ask().row == rows[2]


def test_what_is_told_again_after_a_skip_is_kept(session: CleaningSession) -> None:
    session.tell(0, 1)
    session.skip(0)
    assert session.tell(0, 1).kind == "same"
    assert len(session.answers) == 3
    assert len(session.history) == 2


@pytest.mark.parametrize("seed", range(4))
def test_undo_to_any_depth(seed: int) -> None:
    data, X, k = problem(seed)
    session, rng = CleaningSession(data, X, k), Random(seed)
    states = [seen(session)]
    for _ in range(8):
        row = rng.randrange(data.n_rows)
        kind = rng.randrange(3)
        if kind == 0 and row not in [one["row"] for one in session.answers]:
            session.skip(row)
        elif kind == 1:
            session.tell(row, value={0: rng.random()})
        elif session.tell(row, rng.randrange(len(data.candidates(row)))).kind == "same":
            continue
        states.append(seen(session))
    for depth in range(1, len(states)):
        other = pickle.loads(pickle.dumps(session))
        other.undo(depth)
        assert seen(other) == states[-1 - depth]
    while session.answers:
        session.undo()
        states.pop()
        assert seen(session) == states[-1]
    assert session.data == data


def test_data_that_was_pinned_before(data: IncompleteDataset) -> None:
    X = [[0.0], [4.0], [9.0]]
    first = CleaningSession(data, X, 1)
    first.tell(0, value=[4.5])
    first.tell(3, value={0: 2.5})
    session = CleaningSession(first.data, X, 1)
    assert session.gains().tolist() == first.gains().tolist()
    assert session.data.candidates(0).tolist() == [[4.5]]
    before = seen(session)
    session.tell(0, value=[1.0])
    session.tell(1, 1)
    session.tell(0, 0)
    assert session.data.candidates(0).tolist() == [[4.5]]
    session.undo(3)
    assert seen(session) == before
    assert session.data.candidates(0).tolist() == [[4.5]]
    assert first.data.pinned_rows.tolist() == [0, 3]  # and theirs is as it was
    assert first.data.unpin(0).candidates(0).tolist() == [[0.0], [5.0]]


# -- stopping --------------------------------------------------------------------------------------


def test_a_budget(data: IncompleteDataset) -> None:
    X = [[0.0], [4.0], [9.0]]
    session = CleaningSession(data, X, 1, budget=1)
    assert not session.done
    session.tell(session.ask().row, 1)
    assert session.stopped == "the budget of 1 answer is spent"
    assert session.ask() is None
    assert session.ask(2) == []
    session.budget = 2
    assert session.ask() is not None
    assert CleaningSession(data, X, 1, budget=0).done


def test_a_target_share(data: IncompleteDataset) -> None:
    X = [[0.0], [4.0], [6.1], [5.9]]
    share = float(is_certain(data, X, 1).mean())
    assert 0 < share < 1
    session = CleaningSession(data, X, 1, target_share=share)
    assert session.stopped == f"{share:.4g} or more of the validation points are certain"
    assert not CleaningSession(data, X, 1, target_share=np.float32(share + 0.1)).done


def test_a_least_gain(data: IncompleteDataset) -> None:
    X = [[0.0], [4.0], [9.0]]
    gain = CleaningSession(data, X, 1).ask().gain
    assert CleaningSession(data, X, 1, min_gain=gain).ask() is not None
    session = CleaningSession(data, X, 1, min_gain=gain * 1.01)
    assert session.ask() is None
    assert session.stopped == f"no question is expected to gain {gain * 1.01:g} or more"


def test_everything_certain_from_the_start() -> None:
    session = CleaningSession(IncompleteDataset([[[0.0]], [[9.0]]], [0, 1]), [[1.0]], 1)
    assert session.done
    assert session.ask() is None
    assert session.ask(3) == []
    assert session.certain_share == 1.0
    assert session.gains().tolist() == [0.0, 0.0]


# -- certain means certain -------------------------------------------------------------------------


def plain_prediction(vectors: list[list[float]], codes: list[int], t: list[float], k: int) -> int:
    """K nearest neighbours in plain Python: smaller row, then smaller class, at ties."""
    far = [oracle.distance(vector, t) for vector in vectors]
    votes = [0] * (max(codes) + 1)
    for row in sorted(range(len(far)), key=far.__getitem__)[:k]:
        votes[codes[row]] += 1
    return votes.index(max(votes))


@pytest.mark.parametrize("strategy", ["cpclean", "random", "cells"])
@pytest.mark.parametrize("seed", [1, 4, 9])
def test_every_world_that_remains_predicts_the_same(seed: int, strategy: str) -> None:
    rng, noise = Random(seed), np.random.default_rng(seed)
    rows = [noise.normal(size=(rng.choice([1, 1, 3, 4]), 2)).round(1) for _ in range(60)]
    data = IncompleteDataset(rows, [rng.randrange(3) for _ in rows])
    X = noise.normal(size=(12, 2)).round(1).tolist()
    session = CleaningSession(data, X, 3, strategy, random_state=seed)
    truth = [rng.randrange(len(row)) for row in rows]
    simulate(session, truth)
    assert session.certain.all()
    left = session.data
    assert len(left.dirty_rows) > 0 or strategy == "random"
    codes = left.codes.tolist()
    candidates = [left.candidates(row).tolist() for row in range(left.n_rows)]
    said = set()
    for _ in range(200):
        world = [rng.choice(row) for row in candidates]
        said.add(tuple(plain_prediction(world, codes, t, 3) for t in X))
    assert len(said) == 1
    expected = world_shares(left, X, 3).argmax(axis=1).tolist()
    assert said == {tuple(expected)}


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


def weighed(x: np.ndarray, t: np.ndarray) -> float:
    return float(
        sum((place + 1) * abs(a - b) for place, (a, b) in enumerate(zip(x, t, strict=True)))
    )


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


# -- results ---------------------------------------------------------------------------------------


def test_accuracy(session: CleaningSession, data: IncompleteDataset) -> None:
    expected = world_shares(data, [[0.0], [4.0], [9.0]], 1).argmax(axis=1)
    assert session.accuracy() == np.mean(data.classes[expected] == np.array(["a", "a", "b"]))
    with pytest.raises(CPCleanError, match=r"accuracy needs the labels.*y_val"):
        CleaningSession(data, [[0.0]], 1).accuracy()


def test_world_of_a_dataset(session: CleaningSession, data: IncompleteDataset) -> None:
    session.tell(0, value=[4.5])
    assert session.world().tolist() == [[4.5], [1.0], [6.0], [2.0]]  # the first of the likeliest
    assert session.world("likely").tolist() == session.world().tolist()
    filled = session.world(np.full((4, 1), -1.0))
    assert filled.tolist() == [[4.5], [-1.0], [6.0], [-1.0]]
    with pytest.raises(CPCleanError, match="fill must be vectors of equal length"):
        session.world([[1.0], [1.0, 2.0]])
    for fill in ("mean", None, np.zeros((2, 2)), [1.0]):
        with pytest.raises(CPCleanError, match=r'fill must be "default", "likely" or an array of'):
            session.world(fill)


def test_classifier(session: CleaningSession, table_session: CleaningSession) -> None:
    session.tell(0, 1)
    made = session.classifier()
    shares = world_shares(session.data, [[0.0], [4.0]], 1)
    assert made.predict_proba([[0.0], [4.0]]).tolist() == shares.tolist()
    table_session.tell(1, value={"age": 20.0})
    points = pd.DataFrame({"age": [20.0, 60.0], "city": ["B", "B"]})
    made = table_session.classifier()
    assert made.n_neighbors == 1
    assert made.predict(points).tolist()[0] == "yes"
    assert made.is_certain(points).tolist()[0]


# -- metrics ---------------------------------------------------------------------------------------


def test_precomputed_distances(data: IncompleteDataset) -> None:
    X = np.array([[0.0], [4.0], [9.0]])
    every = np.concatenate([data.candidates(row) for row in range(4)])
    far = np.abs(X - every.T)
    given = CleaningSession(data, far, 1, metric="precomputed")
    named = CleaningSession(data, X, 1, metric="manhattan")
    assert given.gains().tolist() == named.gains().tolist()
    for row, answer in ((3, {"candidate": 1}), (0, {"value": [5.0]}), (3, {"value": {0: 8.0}})):
        given.tell(row, **answer)
        named.tell(row, **answer)
        assert given.gains().tolist() == named.gains().tolist()
        assert given.certain.tolist() == named.certain.tolist()
    given.undo(3)
    assert given.gains().tolist() == CleaningSession(data, X, 1).gains().tolist()
    before = seen(given)
    with pytest.raises(AnswerError, match="distances are given for the candidates of row 0 only"):
        given.tell(0, value=[4.5])
    assert seen(given) == before


def test_precomputed_distances_of_a_table(table_session: CleaningSession) -> None:
    table = IncompleteTable(frame(), label="buys")
    far = np.random.default_rng(0).random((4, table.dataset.n_candidates))
    session = CleaningSession(table, far, 2, metric="precomputed")
    expected = expected_entropies(table.dataset, far, 2, "precomputed")
    dirty = table.dataset.dirty_rows
    assert session.ask().row == dirty[np.argmin(expected[dirty])]
    cells = CleaningSession(table, far, 2, "cells", metric="precomputed")
    while (question := cells.ask()) is not None:
        cells.tell(**question.answer(0))
    assert cells.certain.all()


def test_a_metric_that_is_a_function(data: IncompleteDataset) -> None:
    X = [[0.0], [4.0], [9.0]]
    own = CleaningSession(data, X, 1, metric=weighed)
    named = CleaningSession(data, X, 1)
    for row, answer in ((3, {"candidate": 1}), (0, {"value": [4.5]}), (0, {"value": [3.5]})):
        own.tell(row, **answer)
        named.tell(row, **answer)
        assert own.gains().tolist() == named.gains().tolist()
        assert own.ask().row == named.ask().row
    own.undo(2)
    named.undo(2)
    assert own.gains().tolist() == named.gains().tolist()


def test_too_many_distances_for_a_function(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cpclean.cleaning.board.MEASURED_BYTES", 100)
    data = IncompleteDataset([[[0.0], [5.0]], [[1.0]]], [0, 1])
    with pytest.raises(QueryError, match=r"takes 0\.0 GB here and may take.*named metric"):
        CleaningSession(data, np.arange(9.0)[:, None], 1, metric=weighed)


# -- bad input -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "answer", "error", "message"),
    [
        (9, {"candidate": 0}, UnknownRowError, r"row must be an int in \[0, 3\].*got 9"),
        (-1, {"candidate": 0}, UnknownRowError, r"row must be an int.*got -1"),
        ("x", {"candidate": 0}, UnknownRowError, r"row must be an int.*got 'x'"),
        (True, {"candidate": 0}, UnknownRowError, r"row must be an int.*got True"),
        (0, {"candidate": 2}, UnknownRowError, r"row 0 has candidates 0 to 1; got candidate 2"),
        (0, {"candidate": -1}, UnknownRowError, r"row 0 has candidates 0 to 1; got candidate -1"),
        (0, {"candidate": 1.0}, UnknownRowError, r"got candidate 1\.0"),
        (0, {"candidate": 1, "value": [1.0]}, AnswerError, r"row 0.*one of the two; got both"),
        (0, {}, AnswerError, r"one of the two; got neither"),
        (0, {"value": [1.0, 2.0]}, AnswerError, r"row 0 must have 1 numbers, or be a dict.*got \["),
        (0, {"value": 3.0}, AnswerError, r"row 0 must have 1 numbers.*got 3\.0"),
        (0, {"value": ["x"]}, AnswerError, r"row 0, column 0, must be a number; got 'x'"),
        (0, {"value": [True]}, AnswerError, r"row 0, column 0, must be a number; got True"),
        (0, {"value": [None]}, AnswerError, r"row 0, column 0, must be a number; got None"),
        (0, {"value": {0: np.nan}}, AnswerError, r"must be finite; got nan.*skip the row"),
        (0, {"value": {1: 1.0}}, AnswerError, r"names column 1; columns are numbers from 0 to 0"),
        (0, {"value": {"age": 1.0}}, AnswerError, r"names column 'age'; columns are numbers"),
        (0, {"value": {0.0: 1.0}}, AnswerError, r"names column 0\.0; columns are numbers"),
        (0, {"value": {}}, AnswerError, r"row 0 must name at least one column"),
    ],
)
def test_answers_that_cannot_be_taken(
    session: CleaningSession, row: object, answer: dict, error: type[Exception], message: str
) -> None:
    session.tell(3, 1)
    before = seen(session)
    with pytest.raises(error, match=message):
        session.tell(row, **answer)
    assert seen(session) == before


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({"candidate": 5}, r"row 1 has candidates 0 to 4; got candidate 5"),
        ({"value": [41.0]}, r"row 1 must be a dict from column name.*\{'age': \.\.\.\}; got \[41"),
        ({"value": {"aeg": 41.0}}, r"names column 'aeg', which the table does not have.*'age'"),
        ({"value": {"buys": "no"}}, r"names column 'buys', which the table does not have"),
        ({"value": {"age": None}}, r"row 1, column 'age', must not be null.*skip the row"),
        ({"value": {"age": pd.NA}}, r"row 1, column 'age', must not be null"),
        ({"value": {"age": "old"}}, r"row 1: column 'age' is numeric.*got 'old'"),
        ({"value": {"age": [41.0]}}, r"row 1: column 'age' is numeric.*got \[41"),
        ({"value": {"age": True}}, r"row 1, column 'age', must be a number; got True"),
        ({"value": {"age": np.inf}}, r"row 1, column 'age', must be finite; got inf"),
        ({"value": {"city": ["A"]}}, r"row 1, column 'city', must be a single value; got \['A'\]"),
        ({"value": {"city": np.nan}}, r"row 1, column 'city', must not be null"),
        ({"value": {}}, r"row 1 must name at least one column; got \{\}"),
    ],
)
def test_answers_that_a_table_cannot_take(
    table_session: CleaningSession, answer: dict, message: str
) -> None:
    table_session.tell(2, value={"city": "A"})
    before = seen(table_session)
    with pytest.raises((AnswerError, UnknownRowError), match=message):
        table_session.tell(1, **answer)
    assert seen(table_session) == before


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"n_neighbors": 5}, QueryError, r"n_neighbors must be an int in \[1, 4\].*got 5"),
        ({"n_neighbors": 0}, QueryError, r"n_neighbors must be an int in \[1, 4\].*got 0"),
        ({"X_val": np.zeros((0, 1))}, QueryError, r"validation needs at least one point; got none"),
        ({"X_val": [[np.nan]]}, QueryError, r"X must be finite; got NaN"),
        ({"X_val": [[1.0, 2.0]]}, QueryError, r"X must have 1 column.*got 2"),
        ({"X_val": [1.0]}, QueryError, r"X must have two dimensions"),
        ({"metric": "near"}, QueryError, r"metric must be one of.*got 'near'"),
        ({"n_jobs": 0}, QueryError, r"n_jobs must be None.*got 0"),
        ({"y_val": ["a"]}, CPCleanError, r"one label a validation point, 3 in all; got shape \(1,"),
        ({"y_val": "aab"}, CPCleanError, r"one label a validation point.*got shape \(\)"),
        ({"y_val": [0, 1, 1]}, CPCleanError, r"labels such as the data has, 'a', 'b'; got 0, 1"),
        ({"strategy": "best"}, CPCleanError, r"strategy must be one of cpclean.*got 'best'"),
        ({"strategy": None}, CPCleanError, r"strategy must be one of cpclean.*got None"),
        ({"strategy": "cost"}, CPCleanError, r'"cost" needs costs: one a row, or a dict'),
        ({"costs": [1.0]}, CPCleanError, r"costs must be one number a row, 4 in all.*shape \(1,\)"),
        ({"costs": "much"}, CPCleanError, r"costs must be one number a row.*got 'much'"),
        ({"costs": [1.0, 0.0, 1.0, 1.0]}, CPCleanError, r"above 0; got 0\.0 for row 1"),
        ({"costs": [1.0, np.nan, 1.0, 1.0]}, CPCleanError, r"above 0; got nan for row 1"),
        ({"costs": {1: 2.0}}, CPCleanError, r"name every column with holes; 0 is missing"),
        ({"costs": {0: -1.0}}, CPCleanError, r"above 0; got \{0: -1\.0\}"),
        ({"costs": {0: "much"}}, CPCleanError, r"costs must be one number a column; got"),
        ({"budget": -1}, CPCleanError, r"budget must be None or an int of at least 0; got -1"),
        ({"budget": 2.5}, CPCleanError, r"budget must be None or an int.*got 2\.5"),
        (
            {"target_share": 1.5},
            CPCleanError,
            r"target_share must be.*at most 1; got 1\.5",
        ),
        ({"target_share": "all"}, CPCleanError, r"target_share must be a number.*got 'all'"),
        ({"target_share": True}, CPCleanError, r"target_share must be a number.*got True"),
        ({"min_gain": -0.1}, CPCleanError, r"min_gain must be a number of at least 0; got -0\.1"),
        ({"min_gain": np.nan}, CPCleanError, r"min_gain must be a number of at least 0; got nan"),
        ({"random_state": -1}, CPCleanError, r"random_state must be None or an int >= 0; got -1"),
        ({"random_state": "x"}, CPCleanError, r"random_state must be None or an int >= 0; got 'x'"),
    ],
)
def test_settings_that_cannot_be_used(
    data: IncompleteDataset, settings: dict, error: type[Exception], message: str
) -> None:
    usual = {"X_val": [[0.0], [4.0], [9.0]], "n_neighbors": 1}
    with pytest.raises(error, match=message):
        CleaningSession(data, **{**usual, **settings})


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ({"age": [20.0, None], "city": ["A", "B"]}, r"must be complete; found holes at row 1, col"),
        ({"age": [20.0], "town": ["A"]}, r"columns must be those.*missing 'city'; not expected"),
        ({"city": ["A"], "age": [20.0]}, r"columns must be those.*in another order"),
        ({"age": ["old"], "city": ["A"]}, r"column 'age' is numeric in the training table"),
    ],
)
def test_validation_frames_that_cannot_be_used(points: dict, message: str) -> None:
    table = IncompleteTable(frame(), label="buys")
    with pytest.raises(TableError, match=message):
        CleaningSession(table, pd.DataFrame(points))


@pytest.mark.parametrize("data", [frame(), np.zeros((2, 2)), None])
def test_data_that_is_not_wrapped(data: object) -> None:
    with pytest.raises(CPCleanError, match=r"must be an IncompleteTable or.*Wrap a frame"):
        CleaningSession(data, [[0.0]])


@pytest.mark.parametrize("n", [0, -1, 1.0, "2", True])
def test_a_number_of_questions_that_cannot_be(session: CleaningSession, n: object) -> None:
    with pytest.raises(CPCleanError, match=r"n must be None or an int of at least 1; got"):
        session.ask(n)


def test_undo_too_deep(session: CleaningSession) -> None:
    with pytest.raises(CPCleanError, match="there is no answer to undo"):
        session.undo()
    session.tell(0, 1)
    session.skip(3)
    before = seen(session)
    for n in (3, 0, -1, 1.0, "1"):
        with pytest.raises(CPCleanError, match="undo takes back 1 to 2 answers here; got"):
            session.undo(n)
    assert seen(session) == before


@pytest.mark.parametrize("row", [4, -1, "x", None])
def test_skipping_what_is_not_there(session: CleaningSession, row: object) -> None:
    with pytest.raises(UnknownRowError, match=r"row must be an int in \[0, 3\]"):
        session.skip(row)
    assert session.answers == []


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
        ([GOOD, {"row": 0, "candidate": None}], AnswerError, "answer 1: tell takes.*got neither"),
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


def test_a_value_too_large_to_measure_with_is_refused() -> None:
    data = IncompleteDataset([[[0.0], [5.0]], [[1.0], [7.0]], [[6.0]]], ["a", "b", "b"])
    session = CleaningSession(data, [[0.0]], n_neighbors=1)
    with pytest.raises(QueryError, match=r"must not exceed 1e\+150.*got 1e\+200"):
        session.tell(0, value=[1e200])
    assert session.answers == []
    assert session.data == data


def test_known_is_what_was_told() -> None:
    frame = pd.DataFrame({"age": [18, None, 30], "pets": [None, 1, 2], "y": ["a", "b", "a"]})
    session = CleaningSession(IncompleteTable(frame, label="y"), frame[["age", "pets"]][2:], 1)
    assert session.known == {}
    session.tell(1, value={"age": 41})
    session.tell(0, candidate=1)
    session.skip(1)
    assert session.known == {1: {"age": 41.0}, 0: {"pets": 1.25}}
