"""Sessions that settle points which are sure, and strategies that look at single points."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

from cpclean import CleaningSession, CPCleanError, IncompleteDataset, entropies, expected_entropies
from cpclean.cleaning.strategies import Situation


def nineteen_to_one() -> IncompleteDataset:
    """Row 0 decides about the point at 0; 19 of 20 times it is far away."""
    return IncompleteDataset(
        [[[0.0], [5.0]], [[1.0]], [[6.0], [7.0]]], ["a", "b", "b"], [[0.05, 0.95], None, None]
    )


def mixed(seed: int = 0) -> tuple[IncompleteDataset, np.ndarray]:
    rng = np.random.default_rng(seed)
    rows = [rng.integers(0, 9, (rng.integers(1, 4), 2)).astype(float) for _ in range(30)]
    priors = [rng.dirichlet(np.ones(len(row))) for row in rows]
    return IncompleteDataset(rows, rng.integers(0, 2, 30), priors), rng.uniform(0, 9, (25, 2))


def test_a_sure_point_is_settled_without_an_answer() -> None:
    session = CleaningSession(nineteen_to_one(), [[0.0]], 1, sure=0.95)
    assert session.stopped == "all validation points are certain or 95% sure"
    assert session.ask() is None
    assert (session.certain_share, session.sure_share, session.settled_share) == (0.0, 1.0, 1.0)
    assert session.verdicts.tolist() == ["sure"]
    assert not session.gains().any()
    assert "100.0% of 1 validation points certain or 95% sure" in repr(session)


def test_without_a_level_only_certain_points_are_settled() -> None:
    session = CleaningSession(nineteen_to_one(), [[0.0]], 1)
    assert session.ask().row == 0
    assert (session.certain_share, session.sure_share, session.settled_share) == (0.0, 1.0, 0.0)
    assert session.verdicts.tolist() == ["sure"]


def test_an_unexpected_answer_opens_a_sure_point_again() -> None:
    """At 0.5 the nearest of three rows is known only after two answers."""
    data = IncompleteDataset(
        [[[0.0], [9.0]], [[1.0], [8.0]], [[4.0]]],
        ["a", "b", "b"],
        [[0.04, 0.96], [0.5, 0.5], None],
    )
    session = CleaningSession(data, [[0.0]], 1, sure=0.95)
    assert session.done
    record = session.tell(0, value=[3.0])  # not what was expected, and no candidate
    assert record.unsettled == (0,)
    assert record.settled_share == 0.0
    assert session.verdicts.tolist() == ["open"]
    assert session.ask().row == 1
    record = session.tell(1, candidate=0)
    assert record.settled == 1
    assert session.stopped == "all validation points are certain"


def test_what_a_candidate_would_settle() -> None:
    data, X = mixed()
    session = CleaningSession(data, X, 3, sure=0.8)
    question = session.ask()
    settles = [question.settles(number).tolist() for number in range(len(question.candidates))]
    assert [one.tolist() for one in question.why.settles] == settles
    assert any(settles)
    assert not session.settled[question.why.points].any()


def test_targets_speak_of_settled_points() -> None:
    data, X = mixed()
    session = CleaningSession(data, X, 3, sure=0.8)
    session.target_share = session.settled_share
    assert session.stopped == (
        f"{session.settled_share:.4g} or more of the validation points are certain or 80% sure"
    )
    assert session.certain_share < session.settled_share


def test_the_level_outlives_pickling_and_undo() -> None:
    data, X = mixed(1)
    session = CleaningSession(data, X, 3, sure=0.8)
    before = session.verdicts.tolist()
    session.tell(session.ask().row, candidate=0)
    again = pickle.loads(pickle.dumps(session))
    assert again.sure == 0.8
    assert again.verdicts.tolist() == session.verdicts.tolist()
    again.undo()
    assert again.verdicts.tolist() == before


# -- strategies ------------------------------------------------------------------------------------


@pytest.mark.parametrize("sure", [None, 0.8])
def test_gains_point_by_point(sure: float | None) -> None:
    data, X = mixed(2)
    seen: list[Situation] = []

    def watching(situation: Situation) -> np.ndarray:
        seen.append(situation)
        return situation.gain

    session = CleaningSession(data, X, 3, watching, sure=sure)
    session.ask()
    points, gain = seen[0].points, seen[0].gain
    assert points.summed(~points.settled) == pytest.approx(gain, abs=1e-15)
    expected = [
        entropies(data, x[None], 3) - expected_entropies(data, x[None], 3)[seen[0].row] for x in X
    ]
    found = np.zeros((len(X), len(gain)))
    found[points.point, points.question] = points.gain
    open_ = ~session.certain
    assert found[open_] == pytest.approx(np.array(expected)[open_], abs=1e-12)
    assert points.entropy == pytest.approx(entropies(data, X, 3), abs=1e-12)
    assert points.weight.sum() == pytest.approx(1.0)
    assert points.settled.tolist() == session.settled.tolist()


@pytest.mark.parametrize("sure", [None, 0.8])
def test_relative_gains(sure: float | None) -> None:
    data, X = mixed(3)
    session = CleaningSession(data, X, 3, "relative", sure=sure)
    open_ = X[~session.settled]
    before = entropies(data, open_, 3)
    relative = sum(
        (one - expected_entropies(data, x[None], 3)) / one
        for one, x in zip(before, open_, strict=True)
    )
    assert session.view.scores == pytest.approx(relative[session.view.questions.row] / len(X))
    assert session.ask().row == int(np.argmax(relative))


@pytest.mark.parametrize("sure", [None, 0.8])
def test_roots_of_relative_gains(sure: float | None) -> None:
    data, X = mixed(5)
    session = CleaningSession(data, X, 3, "roots", sure=sure)
    open_ = X[~session.settled]
    before = entropies(data, open_, 3)[:, None]
    gains = before - [expected_entropies(data, x[None], 3) for x in open_]
    gains[gains < 1e-12] = 0.0
    scores = np.sqrt(gains / before).sum(axis=0)
    # The root of a gain near 1e-12 has a rounding error near 1e-10.
    expected = scores[session.view.questions.row] / len(X)
    assert session.view.scores == pytest.approx(expected, abs=1e-7)
    assert session.ask().row == int(np.argmax(scores))


@pytest.mark.parametrize("sure", [None, 0.8])
def test_a_strategy_of_ones_own_adds_up_gains_point_by_point(sure: float | None) -> None:
    """The roots once more, as a user would write them, after every answer of a session."""

    def own(situation: Situation) -> list[float]:
        points = situation.points
        scores = [0.0] * len(situation.row)
        for point, question, gain in zip(points.point, points.question, points.gain, strict=True):
            if not points.settled[point] and gain > 1e-13:
                scores[question] += points.weight[point] * (gain / points.entropy[point]) ** 0.5
        return scores

    data, X = mixed(5)
    mine = CleaningSession(data, X, 3, own, sure=sure)
    named = CleaningSession(data, X, 3, "roots", sure=sure)
    while (question := named.ask()) is not None and max(named.view.scores) > 1e-9:
        assert mine.view.scores == pytest.approx(named.view.scores, abs=1e-12)
        assert mine.ask().row == question.row
        for one in (mine, named):
            one.tell(question.row, candidate=0)
    assert len(named.history) > 3


def test_a_point_with_hardly_any_entropy_counts_once() -> None:
    """Row 0 matters once in 1e9 worlds, to the point at 0; row 2 to the points from 20 on."""
    data = IncompleteDataset(
        [[[0.0], [5.0]], [[1.0]], [[20.0], [26.0]], [[21.5]]],
        ["a", "b", "a", "b"],
        [[1e-9, 1 - 1e-9], None, [0.5, 0.5], None],
    )
    session = CleaningSession(data, [[0.0], [20.0], [20.5]], 1, "roots")
    assert session.view.scores == pytest.approx([1 / 3, 2 / 3])
    assert session.ask().row == 2
    session.tell(2, candidate=0)
    assert session.ask().row == 0


def test_gains_as_if_answers_were_equally_likely() -> None:
    data, X = mixed(4)
    session = CleaningSession(data, X, 3, gains_by="uniform")
    alike = CleaningSession(data.uniform(), X, 3)
    plain = CleaningSession(data, X, 3)
    assert session.gains().tolist() == alike.gains().tolist()
    assert session.view.shares.tolist() == plain.view.shares.tolist()  # by the prior
    assert session.ask().prior.tolist() == data.prior(session.ask().row).tolist()
    assert session.sure_share == plain.sure_share
    row = session.ask().row
    for one in (session, alike, plain):
        one.tell(row, candidate=1)
    assert session.gains().tolist() == alike.gains().tolist()
    assert session.view.shares.tolist() == plain.view.shares.tolist()


# -- bad input -------------------------------------------------------------------------------------


@pytest.mark.parametrize("sure", [0.5, 1.0, 95, math.nan, True, "0.95"])
def test_levels(sure: object) -> None:
    with pytest.raises(CPCleanError, match=r"sure must be a number between 0\.5 and 1.*got "):
        CleaningSession(nineteen_to_one(), [[0.0]], 1, sure=sure)


def test_which_prior_gains_go_by() -> None:
    with pytest.raises(CPCleanError, match=r'gains_by must be "prior" or "uniform"; got None'):
        CleaningSession(nineteen_to_one(), [[0.0]], 1, gains_by=None)
    with pytest.raises(CPCleanError, match=r'gains_by must be "prior" in a session with sure=0\.9'):
        CleaningSession(nineteen_to_one(), [[0.0]], 1, sure=0.9, gains_by="uniform")
