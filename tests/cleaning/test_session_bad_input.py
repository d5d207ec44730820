"""What a session refuses, and that it is then as before: answers, settings, validation points."""

from __future__ import annotations

import signal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from cleaning.samples import frame, seen

from cpclean import CleaningSession, IncompleteDataset, IncompleteTable
from cpclean.cleaning import board
from cpclean.errors import AnswerError, CPCleanError, QueryError, TableError, UnknownRowError


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
        (
            {"y_val": ["a"]},
            CPCleanError,
            r"one label per validation point, 3 in all; got shape \(1,",
        ),
        ({"y_val": "aab"}, CPCleanError, r"one label per validation point.*got shape \(\)"),
        ({"y_val": [0, 1, 1]}, CPCleanError, r"labels of the data, 'a', 'b'; got 0, 1"),
        ({"strategy": "best"}, CPCleanError, r"strategy must be one of cpclean.*got 'best'"),
        ({"strategy": None}, CPCleanError, r"strategy must be one of cpclean.*got None"),
        ({"strategy": "cost"}, CPCleanError, r'"cost" needs costs: one per row, or a dict'),
        (
            {"costs": [1.0]},
            CPCleanError,
            r"costs must be one number per row, 4 in all.*shape \(1,\)",
        ),
        ({"costs": "much"}, CPCleanError, r"costs must be one number per row.*got 'much'"),
        ({"costs": [1.0, 0.0, 1.0, 1.0]}, CPCleanError, r"above 0; got 0\.0 for row 1"),
        ({"costs": [1.0, np.nan, 1.0, 1.0]}, CPCleanError, r"above 0; got nan for row 1"),
        ({"costs": {1: 2.0}}, CPCleanError, r"name every column with holes; missing: 0"),
        ({"costs": {0: -1.0}}, CPCleanError, r"above 0; got \{0: -1\.0\}"),
        ({"costs": {0: "much"}}, CPCleanError, r"costs must be one number per column; got"),
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
        with pytest.raises(
            CPCleanError, match=r"n must be an int from 1 to 2 \(the number of answers\); got"
        ):
            session.undo(n)
    assert seen(session) == before


@pytest.mark.parametrize("row", [4, -1, "x", None])
def test_skipping_what_is_not_there(session: CleaningSession, row: object) -> None:
    with pytest.raises(UnknownRowError, match=r"row must be an int in \[0, 3\]"):
        session.skip(row)
    assert session.answers == []


def test_a_value_too_large_to_measure_with_is_refused() -> None:
    data = IncompleteDataset([[[0.0], [5.0]], [[1.0], [7.0]], [[6.0]]], ["a", "b", "b"])
    session = CleaningSession(data, [[0.0]], n_neighbors=1)
    with pytest.raises(QueryError, match=r"must not exceed 1e\+150.*got 1e\+200"):
        session.tell(0, value=[1e200])
    assert session.answers == []
    assert session.data == data


def test_ctrl_c_while_points_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is heard when the look is over, and the answer has not been given."""
    rows = [[[0.0], [5.0]], [[1.0], [7.0]], [[6.0]], [[3.0], [4.0]]]
    session = CleaningSession(IncompleteDataset(rows, ["a", "b", "b", "a"]), [[0.0], [4.0]], 1)
    before, look_at, looks = seen(session), board.look_few, []

    def interrupted(*args: Any, **named: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        looks.append(look_at(*args, **named))
        return looks[-1]

    monkeypatch.setattr(board, "look_few", interrupted)
    with pytest.raises(KeyboardInterrupt):
        session.tell(0, 0)
    assert len(looks) == 1
    assert seen(session) == before
    monkeypatch.undo()
    assert session.tell(0, 0).kind == "answer"
