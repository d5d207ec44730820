"""Rows in the order in which they are worth asking for, and questions out of order."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from analysis.samples import random_table
from cleaning.small import problem
from slow_cases import rest_slow

from cpclean import CleaningSession, IncompleteDataset, IncompleteTable
from cpclean.analysis.ranking import gains_in_words, ranking, row_gains, rows_to_ask
from cpclean.errors import UnknownRowError


@pytest.mark.parametrize("seed", rest_slow(range(40), 10))
@pytest.mark.parametrize("strategy", ["cpclean", "random", "cells"])
def test_the_first_is_asked_and_gains_fall(seed: int, strategy: str) -> None:
    data, points, k = problem(seed)
    session = CleaningSession(data, points, k, strategy, random_state=seed)
    while (question := session.ask()) is not None:
        rows = rows_to_ask(session)
        gains = session.gains()[rows]
        assert rows[0] == question.row
        assert len(rows) == len(set(rows))
        assert not set(rows) & set(session.known)
        if strategy == "cpclean":
            assert all(np.diff(gains) <= 1e-12)
            rest = np.setdiff1d(session.data.dirty_rows, rows)
            assert (session.gains()[rest] <= 1e-13).all(), "no row that helps is left out"
        session.tell(question.row, candidate=0) if question.column is None else session.skip(
            question.row
        )
    assert rows_to_ask(session) == []


def test_rounding_is_no_gain_and_orders_nothing() -> None:
    n_nothing = 0
    for seed in range(30):
        data, points, k = problem(seed)
        found = ranking(CleaningSession(data, points, k))
        nothing = [one.row for one in found if one.gain < 1e-13]
        n_nothing += len(nothing)
        assert all(one.gain == 0.0 for one in found if one.row in nothing)
        assert nothing == sorted(nothing) == [one.row for one in found][len(found) - len(nothing) :]
    assert n_nothing > 50


def test_skipped_rows_are_not_listed() -> None:
    rows = [[[0.0], [5.0]], [[1.0], [7.0]], [[6.0]]]
    data = IncompleteDataset(rows, ["a", "b", "b"])
    session = CleaningSession(data, [[0.0], [4.0]], n_neighbors=1)
    first, *_ = rows_to_ask(session)
    session.skip(first)
    assert first not in rows_to_ask(session)


def test_a_question_out_of_order() -> None:
    rows = [[[0.0], [5.0]], [[1.0], [7.0]], [[6.0]]]
    data = IncompleteDataset(rows, ["a", "b", "b"])
    session = CleaningSession(data, [[0.0], [4.0]], n_neighbors=1)
    asked = session.ask()
    assert asked is not None
    same = session.question(asked.row)
    assert (same.row, same.candidates, same.gain) == (asked.row, asked.candidates, asked.gain)
    other = session.question(1 - asked.row)
    assert other.row == 1 - asked.row
    assert other.gain == session.gains()[other.row]
    session.tell(0, candidate=1)
    assert session.question(0).candidates == [[5.0]]
    with pytest.raises(UnknownRowError, match="row"):
        session.question(9)


@pytest.mark.parametrize("strategy", ["cpclean", "cells"])
@pytest.mark.parametrize("seed", range(4))
def test_ranking_begins_with_what_is_asked(seed: int, strategy: str) -> None:
    table, points = random_table(seed)
    session = CleaningSession(table, pd.DataFrame(points, columns=list("abc")), 3, strategy)
    found = ranking(session)
    gains = [one.gain for one in found]
    assert gains == sorted(gains, reverse=True)
    question = session.ask()
    if question is not None and question.gain > 1e-12:
        assert found[0].gain == pytest.approx(question.gain)
    wanted = table.holes.sum() if strategy == "cells" else len(table.dataset.dirty_rows)
    assert len(found) == wanted
    for one in found:
        assert set(one.holes) == {name for name, v in table.row(one.row).items() if v is None}
        size = 3 if strategy == "cells" else 3 ** len(one.holes)
        assert one.candidates == size


def test_rows_that_are_clean_by_now_are_not_ranked() -> None:
    table, points = random_table(1)
    session = CleaningSession(table, pd.DataFrame(points, columns=list("abc")))
    first = ranking(session)[0].row
    session.tell(first, candidate=0)
    assert first not in [one.row for one in ranking(session)]


@pytest.mark.parametrize("strategy", ["cpclean", "cells"])
def test_the_queue_and_the_ranking_have_the_same_order(strategy: str) -> None:
    for seed in range(20):
        data, points, k = problem(seed)
        session = CleaningSession(data, points, k, strategy)
        ranked = [one.row for one in ranking(session) if one.gain > 1e-12]
        worth = list(dict.fromkeys(ranked))
        # What is asked first may be one of several that are equal but for rounding.
        gains = session.gains()
        queue = rows_to_ask(session)[: len(worth)]
        np.testing.assert_allclose(gains[queue], gains[worth], atol=1e-12)


def test_what_is_skipped_or_known_is_not_ranked() -> None:
    table, points = random_table(1)
    session = CleaningSession(table, pd.DataFrame(points, columns=list("abc")), 3, "cells")
    skipped, known, *_ = dict.fromkeys(one.row for one in ranking(session))
    session.skip(skipped)
    cell = next(one.column for one in ranking(session) if one.row == known)
    session.tell(known, value={cell: 1.0})
    left = [(one.row, one.column) for one in ranking(session)]
    assert skipped not in [row for row, _ in left]
    assert (known, cell) not in left


def test_rows_carry_what_the_frame_calls_them() -> None:
    frame = pd.DataFrame({"size": [1, None, None, 8, 9], "age": 2}, index=list("abcde"))
    table = IncompleteTable(frame, label=["s", "s", "s", "l", "l"])
    session = CleaningSession(table, pd.DataFrame({"size": [5, 7], "age": 2}), n_neighbors=1)
    assert {one.row: one.frame_row for one in ranking(session)} == {1: "b", 2: "c"}
    assert row_gains(session, 1)[0].name == "row 1 (in the frame: b)"
    assert [one.frame_row for one in session.ask(2)] == [
        session.frame_row(one.row) for one in session.ask(2)
    ]
    plain = CleaningSession(table.dataset, [[0.5], [0.9]], n_neighbors=1)
    assert all(one.frame_row == one.row for one in ranking(plain))
    assert row_gains(plain, 1)[0].name == "row 1"


def test_gains_of_rows_and_their_share_of_the_doubt() -> None:
    data, points, k = problem(3)
    session = CleaningSession(data, points, k)
    found = row_gains(session, 3)
    assert found[0].name == f"row {session.ask().row}"
    assert found[0].of_all == pytest.approx(found[0].gain / session.mean_entropy)
    assert f"Knowing {found[0].name} is expected to remove" in gains_in_words(found)
    assert gains_in_words([]) == "No row is left that could change a prediction."
