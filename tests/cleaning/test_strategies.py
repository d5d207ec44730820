"""Which row is asked for next, and when nothing is."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from cleaning.small import problem

from cpclean import CleaningSession, IncompleteDataset, expected_entropies
from cpclean.cleaning.strategies import Plan, Situation, pick, plan_named
from cpclean.errors import CPCleanError


def played(session: CleaningSession, rng: Random) -> list[tuple[int, object]]:
    """Answer at random until there is nothing to ask; what was asked."""
    asked = []
    while not session.done:
        question = session.ask()
        assert question is not None
        asked.append((question.row, question.column))
        session.tell(**question.answer(rng.randrange(len(question.candidates))))
        assert len(asked) < 500
    assert session.ask() is None
    return asked


# -- cpclean ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_cpclean_asks_for_the_row_that_minimises_the_expected_entropy(seed: int) -> None:
    data, X, k = problem(seed)
    session = CleaningSession(data, X, k)
    rng = Random(seed)
    while (question := session.ask()) is not None:
        after = expected_entropies(session.data, X, k)
        dirty = session.data.dirty_rows
        assert after[question.row] == pytest.approx(after[dirty].min(), abs=1e-12)
        if question.gain > 1e-9:  # the smallest of equals
            tied = dirty[after[dirty] < after[dirty].min() + 1e-13]
            assert question.row == tied.min()
        session.tell(question.row, rng.randrange(len(data.candidates(question.row))))
    assert session.certain.all()


@pytest.mark.parametrize("shifts", [(0.0, 100.0), (100.0, 0.0)])
def test_ties_go_to_the_smaller_row(shifts: tuple[float, float]) -> None:
    rows = [[[50.0]]]
    for shift in shifts:  # the same twice, far apart
        rows += [[[shift + 3.0]], [[shift], [shift + 5.0]]]
    session = CleaningSession(IncompleteDataset(rows, list("bbaba")), [[0.0], [100.0]], 1)
    assert session.gains()[2] == pytest.approx(session.gains()[4], abs=1e-15)
    assert session.gains()[2] > 0.3
    assert session.ask().row == 2


# -- nothing to gain -------------------------------------------------------------------------------


def zero_priors() -> tuple[IncompleteDataset, list[list[float]]]:
    """Points that only worlds without prior mass leave uncertain: no row promises a gain.

    Point 0 is near to rows 0 and 1, point 100 to row 3 alone, point 14 to rows 1 and 5.
    """
    far = {0: -9.0, 1: 9.5, 3: 109.0, 5: 30.0}
    near = [0.0, 0.5, 5.0, 100.0, 105.0, 14.0]
    rows = [[[one], [far[row]]] if row in far else [[one]] for row, one in enumerate(near)]
    priors = [[1.0, 0.0] if row in far else None for row in range(6)]
    return IncompleteDataset(rows, list("aababa"), priors), [[0.0], [100.0], [14.0]]


def test_without_gain_the_point_with_fewest_rows_left_is_finished_first() -> None:
    data, X = zero_priors()
    session = CleaningSession(data, X, 1)
    assert not session.certain.any()
    assert session.mean_entropy == 0.0
    assert session.gains().tolist() == [0.0] * 6
    assert session.ask().row == 3  # the only one left for its point
    session.tell(3, 0)
    assert session.ask().row == 1  # of rows 0 and 1, near to more uncertain points
    session.tell(1, 0)
    assert session.certain.tolist() == [True, True, False]
    assert session.ask().row == 5
    session.tell(5, 1)
    assert session.stopped == "all validation points are certain"


def test_rows_that_matter_to_no_uncertain_point_are_not_asked_for() -> None:
    data, X = zero_priors()
    session = CleaningSession(data, X[1:2], 1)
    assert session.ask().row == 3
    session.skip(3)
    assert session.ask() is None
    assert session.ask(2) == []
    assert session.stopped == ("only rows that were skipped can settle the open validation points")
    assert session.done
    session.undo()
    assert not session.done


# -- random ----------------------------------------------------------------------------------------


def test_random_is_an_order_of_the_rows() -> None:
    data, X, k = problem(5)
    orders = set()
    for seed in range(8):
        asked = played(CleaningSession(data, X, k, "random", random_state=seed), Random(0))
        again = played(CleaningSession(data, X, k, "random", random_state=seed), Random(0))
        assert asked == again
        assert len(set(asked)) == len(asked)
        orders.add(tuple(asked))
    assert len(orders) > 4


def test_a_drawn_random_state_is_kept() -> None:
    data, X, k = problem(5)
    one = CleaningSession(data, X, k, "random")
    other = CleaningSession(data, X, k, "random", random_state=one.random_state)
    assert one.ask().row == other.ask().row
    assert len({CleaningSession(data, X, k, "random").random_state for _ in range(4)}) == 4


# -- cells -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(10))
def test_cells_asks_for_single_cells_until_all_is_certain(seed: int) -> None:
    data, X, k = problem(seed)
    session = CleaningSession(data, X, k, "cells")
    asked = played(session, Random(seed))
    assert session.certain.all()
    assert len(set(asked)) == len(asked)
    assert all(column is not None for _, column in asked)


def test_a_cell_question_has_the_values_of_the_cell() -> None:
    rows = [[[0.0, 1.0], [0.0, 2.0], [4.0, 1.0]], [[1.0, 1.0]], [[5.0, 5.0]]]
    data = IncompleteDataset(rows, ["a", "b", "b"], [[0.5, 0.25, 0.25], None, None])
    session = CleaningSession(data, [[0.0, 1.0]], 1, "cells")
    question = session.ask()
    assert (question.row, question.column) == (0, 0)
    assert question.candidates == [{0: 0.0}, {0: 4.0}]
    assert question.prior.tolist() == [0.75, 0.25]
    assert question.numbers == [None, None]
    assert question.answer(1) == {"row": 0, "value": {"0": 4.0}}
    assert str(question).startswith("row 0, 0: 2 candidates")
    assert session.tell(**question.answer(1)).gain == question.gain
    assert session.data.candidates(0).tolist() == [[4.0, 1.0]]
    assert session.done


def test_cells_weighs_costs() -> None:
    rows = [[[0.0, 0.0], [0.0, 9.0], [9.0, 0.0], [9.0, 9.0]], [[3.0, 0.0]], [[0.0, 3.0]]]
    data = IncompleteDataset(rows, ["a", "b", "b"])
    X = [[0.0, 0.0]]
    assert CleaningSession(data, X, 1, "cells").ask().column == 0  # both gain the same
    told = CleaningSession(data, X, 1, "cells")
    gain = told.ask().gain
    assert told.tell(0, value={1: 9.0}).gain == pytest.approx(gain)
    assert gain > 0
    assert told.tell(1, value={1: 0.5}).gain == 0.0  # a row without holes
    assert CleaningSession(data, X, 1, "cells", costs={0: 2.0, 1: 1.0}).ask().column == 1


# -- cost ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_cost_asks_for_the_largest_gain_per_cost(seed: int) -> None:
    data, X, k = problem(seed)
    rng = np.random.default_rng(seed)
    costs = rng.uniform(0.1, 10.0, data.n_rows)
    session = CleaningSession(data, X, k, "cost", costs=costs)
    question = session.ask()
    if question is not None and question.gain > 1e-9:
        assert question.row == int(np.argmax(session.gains() / costs))


def test_a_row_costs_the_sum_of_its_holes() -> None:
    rows = [[[0.0, 0.0], [9.0, 9.0]], [[0.0, 0.0], [9.0, 0.0]], [[1.0, 1.0]]]
    data = IncompleteDataset(rows, ["a", "a", "b"])
    X = [[0.0, 0.0]]
    assert CleaningSession(data, X, 1).ask().row == 0
    by_column = CleaningSession(data, X, 1, "cost", costs={0: 1.0, 1: 1.0})
    assert by_column.ask().row == 1
    assert CleaningSession(data, X, 1, "cost", costs=[1.0, 2.0, 1.0]).ask().row == 0


def test_candidates_that_are_all_the_same_cost_nothing() -> None:
    data = IncompleteDataset([[[0.0], [5.0]], [[1.0], [1.0]], [[6.0]]], ["a", "b", "b"])
    assert CleaningSession(data, [[0.0]], 1, "cost", costs={0: 2.0}).ask().row == 0


# -- your own --------------------------------------------------------------------------------------


def test_a_strategy_of_ones_own_sees_the_situation() -> None:
    data, X, k = problem(3)
    seen: list[Situation] = []

    def last(situation: Situation) -> list[float]:
        seen.append(situation)
        return [float(row) for row in situation.row]

    session = CleaningSession(data, X, k, last)
    question = session.ask()
    assert question.row == data.dirty_rows[-1]
    assert question.gain == session.gains()[question.row]
    (situation,) = seen  # asked once for one state
    assert situation.row.tolist() == data.dirty_rows.tolist()
    assert situation.column == (None,) * len(situation.row)
    assert situation.cost.tolist() == [1.0] * len(situation.row)
    assert sorted(situation.order.tolist()) == sorted(set(situation.order.tolist()))
    assert (situation.n_answers, situation.certain_share) == (0, session.certain_share)
    assert situation.data is session.data
    session.tell(question.row, 0)
    session.ask()
    assert seen[-1].n_answers == 1


def test_minus_infinity_is_never_asked() -> None:
    data, X, k = problem(3)

    def only_even(situation: Situation) -> np.ndarray:
        return np.where(situation.row % 2 == 0, situation.gain, -np.inf)

    session = CleaningSession(data, X, k, only_even)
    asked = played(session, Random(1))
    assert asked
    assert all(row % 2 == 0 for row, _ in asked)
    assert not session.certain.all()
    assert session.stopped == "the strategy gives every question that is left a score of -inf"


def test_scores_of_what_is_answered_are_not_looked_at() -> None:
    data, X, k = problem(3)

    def spread(situation: Situation) -> np.ndarray:
        counts = situation.data.candidate_counts[situation.row]
        return np.where(counts > 1, situation.gain, np.nan)

    played(CleaningSession(data, X, k, spread), Random(1))


@pytest.mark.parametrize(
    "scores", [[1.0], None, "high", [np.nan] * 40, lambda situation: situation.gain * np.nan]
)
def test_scores_that_cannot_be_used(scores: object) -> None:
    data, X, k = problem(3)
    strategy = scores if callable(scores) else lambda situation: scores
    session = CleaningSession(data, X, k, strategy)
    size = len(data.dirty_rows)
    with pytest.raises(CPCleanError, match=rf"must return {size} scores, one per question.*got"):
        session.ask()
    assert "0 answers" in repr(session)


# -- several at once -------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["cpclean", "random", "cells", "cost"])
@pytest.mark.parametrize("seed", range(5))
def test_several_questions_are_about_different_rows(strategy: str, seed: int) -> None:
    data, X, k = problem(seed)
    costs = np.ones(data.n_rows) if strategy == "cost" else None
    session = CleaningSession(data, X, k, strategy, random_state=0, costs=costs)
    one = session.ask()
    if one is None:
        return
    (single,) = session.ask(1)
    assert (single.row, single.column, single.gain) == (one.row, one.column, one.gain)
    several = session.ask(4)
    rows = [question.row for question in several]
    assert rows[0] == one.row
    assert 1 <= len(rows) <= 4
    assert len(set(rows)) == len(rows)
    assert session.answers == []
    assert len(session.ask(1000)) <= len(data.dirty_rows)


def test_the_next_of_several_supposes_the_likeliest_answer() -> None:
    data, X, k = problem(8, n_points=12)
    session = CleaningSession(data, X, k)
    first, second = session.ask(2)
    likeliest = int(np.argmax(first.prior))
    supposed = CleaningSession(data, X, k)
    supposed.tell(first.row, likeliest)
    expected = supposed.ask()
    assert (second.row, second.gain) == (expected.row, pytest.approx(expected.gain, abs=1e-15))
    assert second.candidates == data.candidates(second.row).tolist()


def test_several_questions_where_the_first_answer_would_settle_everything() -> None:
    data = IncompleteDataset([[[0.0], [5.0]], [[1.0], [7.0]], [[6.0]]], ["a", "b", "b"])
    session = CleaningSession(data, [[0.0]], 1)
    assert [question.row for question in session.ask(5)] == [0, 1]


@pytest.mark.parametrize("scale", [1.0, -1.0, 0.0, np.inf])
def test_the_first_of_equal_scores_is_asked_if_it_can_be(scale: float) -> None:
    data = IncompleteDataset([[[0.0], [row + 1.0]] for row in range(5)], [0, 1, 0, 1, 0])
    situation = CleaningSession(data, [[0.5]], 1).view.situation
    rng = np.random.default_rng(3)
    for _ in range(200):
        scores = rng.choice([0.0, 0.5, 0.5, scale, -np.inf], 5)
        askable = rng.random(5) < 0.6
        scores[~askable & (rng.random(5) < 0.3)] = np.nan
        allowed = [at for at in range(5) if askable[at] and scores[at] > -np.inf]
        best = min(allowed, key=lambda at: (-scores[at], at), default=-1)
        plan = Plan(lambda _, scores=scores: scores)
        assert pick(plan, situation, askable, situation.board) == best


@pytest.mark.parametrize("seed", range(30))
def test_the_largest_gain_is_found_among_few_as_among_all(seed: int) -> None:
    data, X, k = problem(seed, n_points=8)
    situation = CleaningSession(data, X, k).view.situation
    among_all = Plan(lambda one: one.gain, by_gain=True)  # another function: it looks at all scores
    rng = np.random.default_rng(seed)
    for _ in range(20):
        askable = rng.random(len(situation.row)) < rng.choice([0.1, 0.5, 1.0])
        found = pick(plan_named("cpclean"), situation, askable, situation.board)
        assert found == pick(among_all, situation, askable, situation.board)


@pytest.mark.parametrize("seed", range(10))
def test_a_question_without_a_look_at_all_of_them_is_one_that_can_be_asked(seed: int) -> None:
    data, X, k = problem(seed, n_points=8)
    session = CleaningSession(data, X, k)
    rng = Random(seed)
    while (question := session.ask()) is not None:
        view = session.view
        assert view.askable[view.best]
        assert view.best == pick(
            Plan(lambda one: one.gain, by_gain=True),
            view.situation,
            view.askable,
            view.version.board,
        )
        if rng.random() < 0.4:
            session.skip(question.row)
        else:
            session.tell(**question.answer(rng.randrange(len(question.candidates))))
