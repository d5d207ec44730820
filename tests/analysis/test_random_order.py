"""Random order beside a session, and what the answers were good for, in words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cpclean import CleaningSession, CPCleanError, IncompleteDataset, IncompleteTable, simulate
from cpclean.analysis.effort_words import effort_words
from cpclean.analysis.random_order import RandomOrder, known_answer, random_order
from cpclean.cleaning.effort import Effort


@pytest.mark.parametrize("strategy", ["cpclean", "cells"])
def test_known_rows_are_answered_as_they_are_known(strategy: str) -> None:
    """Two rows decide about the point, and the prior gives their true candidates no mass."""
    rows = [
        [[0.0, 0.0], [5.0, 0.0]],
        [[1.0, 0.0], [7.0, 0.0]],
        [[6.0, 0.0]],
        [[9.0, 9.0], [9.0, 8.0]],
    ]
    priors = [[0.0, 1.0], [0.0, 1.0], None, None]
    data = IncompleteDataset(rows, ["a", "b", "b", "a"], priors)
    session = CleaningSession(data, [[1.0, 0.0]], 1, strategy)
    session.tell(0, candidate=0)
    session.tell(1, candidate=0)
    assert session.certain_share == 1.0
    found = random_order(session, 8)
    assert found.finished
    # If row 1 is at 1, it is nearest; in no world with row 1 open is the point certain.
    assert min(found.rows) >= len(session.effort().needed) == 1
    assert max(found.rows) == 3
    assert session.certain_share == 1.0


def test_random_order_stops_where_the_session_stands(session: CleaningSession, tables: Any) -> None:
    simulate(session, tables[1], budget=3, progress=False)
    found = random_order(session, 4)
    assert found == random_order(session, 4)
    assert found.finished
    assert found.mean >= 1
    assert len(session.history) == 3
    simulate(session, tables[1], progress=False)
    assert random_order(session, 4).mean > found.mean
    assert not random_order(session, 4, seconds=0.0).finished
    with pytest.raises(CPCleanError, match=r"n_runs must be at least 1; got 0\."):
        random_order(session, 0)


def test_after_ctrl_c_random_order_is_what_there_is(
    session: CleaningSession, tables: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulate(session, tables[1], progress=False)
    left, tell = [7], CleaningSession.tell

    def interrupted(self: CleaningSession, *said: Any, **how: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return tell(self, *said, **how)

    monkeypatch.setattr(CleaningSession, "tell", interrupted)
    found = random_order(session, 3)
    assert (found.rows, found.finished) == ((3, 2, 2), False)
    left[0] = 2
    with pytest.raises(KeyboardInterrupt):
        random_order(session, 3)


def test_answers_about_rows_and_cells(tables: Any) -> None:
    dirty, _, val = tables
    session = CleaningSession(IncompleteTable(dirty, label="buys"), val, strategy="cells")
    question = session.ask()
    assert known_answer(session, question.row) is None
    session.tell(**question.answer(1))
    cell = known_answer(session, question.row, question.column)
    assert cell == {"row": question.row, "value": question.candidates[1]}
    assert known_answer(session, question.row) == cell
    assert known_answer(session, question.row, "no such column") is None


def test_words() -> None:
    rows = tuple(range(586))
    effort = Effort(rows, rows[68:], rows[:68], rows[:470], 1200, True, 480)
    assert effort_words(effort) == (
        "68 of the 586 answered rows were avoidable in hindsight; every order has to clean at "
        "least 480 rows; a random order would have needed 1,198 or more on average."
    )
    weak = Effort(rows, rows[68:], rows[:68], rows[:1], 1200, True, 480)
    assert weak.random_at_least == 600.5
    assert "random" in effort_words(weak)
    assert "random" not in effort_words(replace(weak, needed=()))  # 480 of 586: it says nothing
    assert effort_words(replace(weak, needed=()), RandomOrder((900,), True)).endswith(
        "every order has to clean at least 480 rows; a random order would have needed about 900."
    )
    none = Effort((), (), (), (), 5, False)
    assert effort_words(none) == "No row has been answered yet."
    one = Effort((3,), (), (3,), (), 5, True)
    assert effort_words(one) == "The answered row was avoidable in hindsight."
    sure = Effort((3, 4), (3,), (4,), None, 5, False)
    assert effort_words(sure, RandomOrder((3, 4), False)) == (
        "For what is settled so far: 1 of the 2 answered rows was avoidable in hindsight; "
        "a random order would have needed more than 4; how many rows every order needs cannot be "
        "told, for what is sure can become open again."
    )


def test_a_random_order_is_never_shorter_than_the_bound() -> None:
    rng = np.random.default_rng(0)
    rows = [rng.integers(0, 9, (rng.integers(1, 4), 2)).astype(float) for _ in range(30)]
    data = IncompleteDataset(rows, rng.integers(0, 2, 30))
    session = CleaningSession(data, rng.uniform(0, 9, (12, 2)), 3)
    simulate(session, np.zeros(30, dtype=int), progress=False)
    effort = session.effort()
    assert len(effort.needed) > 2
    assert min(random_order(session, 20).rows) >= len(effort.needed)
