"""Sessions over so many rows that only those near the points are looked at."""

from __future__ import annotations

import json
import pickle
from random import Random
from typing import Any

import numpy as np
import pytest

from cpclean import Cell, CleaningSession, FactoredRow, IncompleteDataset
from cpclean.cleaning.board import Board
from cpclean.queries.model import Model

N_ROWS = 4200
HOLES = range(0, N_ROWS, 5)


def large(seed: int = 0) -> IncompleteDataset:
    """Rows on a grid, with many ties; every fifth one has a hole or two."""
    rng = np.random.default_rng(seed)
    vectors = rng.integers(0, 40, size=(N_ROWS, 3)).astype(float)
    rows: list[Any] = list(vectors[:, None, :])
    for row in HOLES:
        columns = rng.permutation(3)[: rng.integers(1, 3)]
        values = [np.unique(rng.integers(0, 40, size=3)) for _ in columns]
        cells = [Cell(int(one), own) for one, own in zip(columns, values, strict=True)]
        rows[row] = FactoredRow(vectors[row], cells)
    return IncompleteDataset(rows, rng.integers(3, size=N_ROWS))


def points(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed + 1).integers(0, 40, size=(12, 3)).astype(float)


def checked(session: CleaningSession, **how: Any) -> None:
    """The state of a session is that of a board on all rows, bit for bit."""
    data, view = session.data, session.view
    assert view.version.board.gathered is not None
    whole = Board(data, points(), Model(3), gather=False, **how)
    assert view.certain.tolist() == whole.certain.tolist()
    assert view.entropies.tolist() == whole.entropies.tolist()
    assert session.gains().tolist() == np.maximum(whole.gains(), 0.0).tolist()
    expected = np.flatnonzero(whole.gains() >= whole.gains().max() * (1 - 1e-12) - 1e-14)
    question = session.ask()
    if question is not None and session.strategy == "cpclean":
        assert question.row == expected[0]
        assert question.points.tolist() == whole.touched(question.row).tolist()
        assert question.n_candidates == data.candidate_counts[question.row]


@pytest.mark.parametrize("how", [{}, {"sure": 0.8}])
def test_answers_of_all_kinds(how: dict[str, Any]) -> None:
    data, rng = large(), Random(3)
    session = CleaningSession(data, points(), **how)
    checked(session, **how)
    for step in range(8):
        question = session.ask()
        assert question is not None
        row = question.row if step % 2 else rng.randrange(N_ROWS)
        if step in (2, 5):
            session.tell(row, value=(points()[step] + 1).tolist())
        elif step == 4:
            session.tell(row, value={1: 90.0})
        else:
            session.tell(row, rng.randrange(data.candidate_counts[row]))
    checked(session, **how)
    session.undo(3)
    session.skip(session.ask().row)  # type: ignore[union-attr]
    checked_question = session.ask()
    again = CleaningSession(data, points(), **how)
    again.replay(json.loads(json.dumps(session.answers)))
    loaded = pickle.loads(pickle.dumps(session))
    for other in (again, loaded):
        assert other.gains().tolist() == session.gains().tolist()
        found = other.ask()
        assert found is not None
        assert checked_question is not None
        assert (found.row, found.gain) == (checked_question.row, checked_question.gain)
    loaded.tell(checked_question.row, 0)
    checked(session.from_start(), **how)
    assert session.data.unpinned == data


def test_several_questions_at_once() -> None:
    session = CleaningSession(large(), points())
    found = session.ask(4)
    assert len({question.row for question in found}) == 4
    for question in found:
        (first,) = session.ask(1)
        assert (first.row, first.gain) == (question.row, question.gain)
        session.tell(**question.answer(int(np.argmax(question.prior))))
    checked(session)


@pytest.mark.parametrize("strategy", ["random", "relative", "roots", "cells"])
def test_other_strategies(strategy: str) -> None:
    session = CleaningSession(large(), points(), strategy=strategy, random_state=5)
    for _ in range(3):
        question = session.ask()
        assert question is not None
        session.tell(**question.answer(0))
    if strategy == "cells":
        cells = session.view.setup.questions.cells
        whole = Board(session.data, points(), Model(3), cells, gather=False)
        asked = np.arange(len(session.view.questions.row))
        assert session.view.question_gains.tolist() == whole.gains(asked).tolist()
    else:
        checked(session)


def test_strategies_of_your_own_see_all_questions() -> None:
    def by_row(situation: Any) -> np.ndarray:
        assert situation.data.n_rows == N_ROWS
        assert len(situation.gain) == len(situation.order) == len(HOLES)
        return situation.row.astype(float)

    session = CleaningSession(large(), points(), strategy=by_row)
    question = session.ask()
    assert question is not None
    assert question.row == HOLES[-1]
    session.tell(question.row, 0)
    assert session.ask().row == HOLES[-2]  # type: ignore[union-attr]


def test_what_answers_were_worth() -> None:
    session = CleaningSession(large(), points()[:4])
    while (question := session.ask()) is not None:
        session.tell(question.row, 0)
    session.tell(HOLES[-1], 0)
    effort = session.effort(progress=False)
    assert HOLES[-1] in effort.avoidable or session.history[-1].settled
    assert effort.all_settled
    assert set(effort.needed or ()) <= set(effort.kept)


def test_an_answer_that_overflows_changes_nothing() -> None:
    session = CleaningSession(large(), points())
    before = session.gains().tolist()
    near = session.view.version.board.gathered
    assert near is not None
    outside = next(row for row in range(N_ROWS) if near.place(row) is None)
    for row in (outside, int(near.rows[0])):
        with pytest.raises(Exception, match="values must not exceed"):
            session.tell(row, value=[1e200, 0.0, 0.0])
    assert session.gains().tolist() == before
    assert session.answers == []
