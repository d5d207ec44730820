"""Rows in the order in which they are worth asking for, and questions out of order."""

from __future__ import annotations

import numpy as np
import pytest
from cleaning.small import problem

from cpclean import CleaningSession, IncompleteDataset
from cpclean.analysis.queue import ranking
from cpclean.errors import UnknownRowError


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("strategy", ["cpclean", "random", "cells"])
def test_the_first_is_asked_and_gains_fall(seed: int, strategy: str) -> None:
    data, points, k = problem(seed)
    session = CleaningSession(data, points, k, strategy, random_state=seed)
    while (question := session.ask()) is not None:
        rows = ranking(session)
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
    assert ranking(session) == []


def test_skipped_rows_are_not_listed() -> None:
    rows = [[[0.0], [5.0]], [[1.0], [7.0]], [[6.0]]]
    data = IncompleteDataset(rows, ["a", "b", "b"])
    session = CleaningSession(data, [[0.0], [4.0]], n_neighbors=1)
    first, *_ = ranking(session)
    session.skip(first)
    assert first not in ranking(session)


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
