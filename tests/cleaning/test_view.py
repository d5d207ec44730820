"""The view of a session: read-only, stays as it was, and says what the session says."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pandas as pd
import pytest
from cleaning.samples import frame

from cpclean import CleaningSession, IncompleteDataset, IncompleteTable, is_certain, world_shares
from cpclean.data.points import Points
from cpclean.errors import CPCleanError


def test_a_view_stays_as_it_was(session: CleaningSession) -> None:
    before = session.view
    certain, gains, row = before.certain.copy(), before.gains.copy(), before.best
    question = session.ask()
    session.tell(**question.answer(0))
    after = session.view
    assert after.version is not before.version
    assert np.array_equal(before.certain, certain)
    assert np.array_equal(before.gains, gains)
    assert before.best == row
    assert before.history == []
    assert len(after.history) == 1


def test_one_view_per_state(session: CleaningSession) -> None:
    first = session.view
    assert session.view is first
    session.skip(int(first.open_rows[0]))
    assert session.view is not first
    session.undo()
    assert session.view.version is not first.version


def test_a_view_cannot_be_written_to(session: CleaningSession) -> None:
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'version'"):
        session.view.version = None  # type: ignore[misc, assignment]


def test_a_view_says_what_the_queries_say(session: CleaningSession) -> None:
    view, points = session.view, [[0.0], [4.0], [9.0]]
    assert np.array_equal(view.certain, is_certain(view.data, points, 1))
    assert np.allclose(view.shares, world_shares(view.data, points, 1), rtol=0, atol=1e-15)
    assert view.entropies.mean() == pytest.approx(view.mean_entropy)
    assert view.table is None
    assert view.values(0) == []
    assert view.share_at_start == view.certain_share


def test_the_start_is_what_was_given(session: CleaningSession, data: IncompleteDataset) -> None:
    start = session.view.certain_share
    for question in session.ask(2):
        session.tell(**question.answer(0))
    assert session.view.start == data
    assert session.view.share_at_start == start


def test_values_of_a_row_of_a_table(table_session: CleaningSession) -> None:
    view = table_session.view
    row = int(view.open_rows[0])
    holes = [one.name for one in view.values(row) if one.hole]
    assert holes == list(view.cells(row))
    table_session.tell(row, candidate=0)
    assert not any(one.hole for one in table_session.view.values(row))
    assert table_session.view.known_of(row).raw == view.candidate(row, 0)
    assert view.known_of(row).raw == {}


def test_limits_may_be_changed(session: CleaningSession) -> None:
    assert not session.done
    session.budget = 0
    assert session.stopped == "the budget of 0 answers is spent"
    session.budget, session.target_share = None, 0.0
    assert session.stopped == "0 or more of the validation points are certain"
    session.target_share, session.min_gain = 1.0, 100.0
    assert session.stopped == "no question is expected to gain 100 or more"
    with pytest.raises(CPCleanError, match="budget must be None or an int of at least 0; got -1"):
        session.budget = -1
    assert session.budget is None


@pytest.mark.parametrize("strategy", ["cpclean", "cells"])
def test_in_random_order(strategy: str) -> None:
    table = IncompleteTable(frame(), label="buys")
    points = pd.DataFrame({"age": [20.0, 60.0, 41.0], "city": ["A", "B", "B"]})
    session = CleaningSession(table, points, n_neighbors=1, strategy=strategy)
    rows = session.view.open_rows.tolist()
    session.tell(rows[0], candidate=0)
    other = session.in_random_order(np.random.default_rng(0))
    assert other.answers == session.answers
    assert other.strategy == "random"
    assert session.strategy == strategy
    assert other.view.questions is session.view.questions
    other.tell(rows[1], candidate=0)
    assert len(session.history) == 1


def test_a_session_is_pickled_with_its_view(session: CleaningSession) -> None:
    expected = session.view.gains
    again = pickle.loads(pickle.dumps(session))
    assert np.array_equal(again.view.gains, expected)
    assert again.ask().row == session.ask().row


def test_points_of_several_entries_count_by_their_weight(data: IncompleteDataset) -> None:
    """A point that may be either of two vectors: each settles by itself, weighed."""
    points = Points([[[0.0], [4.0]], [[9.0]]], [[0.75, 0.25], None])
    view = CleaningSession(data, points, n_neighbors=1).view
    alone = [CleaningSession(data, [[x]], n_neighbors=1).view for x in (0.0, 4.0, 9.0)]
    weights = np.array([0.75, 0.25, 1.0])
    assert view.mean_entropy == pytest.approx(
        weights @ [one.mean_entropy for one in alone] / 2, abs=1e-15
    )
    assert view.certain_share == weights @ [one.certain_share for one in alone] / 2
    gains = sum(weight * one.gains for weight, one in zip(weights, alone, strict=True)) / 2
    assert np.allclose(view.gains, gains, rtol=0, atol=1e-15)
    assert view.certain.tolist() == [
        bool(alone[0].certain[0] and alone[1].certain[0]),
        bool(alone[2].certain[0]),
    ]
    np.testing.assert_allclose(view.shares, world_shares(data, points, 1), rtol=1e-12)
    assert view.shares[0] == pytest.approx(0.75 * alone[0].shares[0] + 0.25 * alone[1].shares[0])
