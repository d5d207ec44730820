"""A session from the first question to the last: answers, corrections, skips, undo, stopping."""

from __future__ import annotations

import pickle
from random import Random

import numpy as np
import pytest
from cleaning.samples import seen
from cleaning.small import problem

from cpclean import CleaningSession, IncompleteDataset, entropies, expected_entropies, is_certain

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
