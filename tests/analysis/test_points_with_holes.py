"""Sessions whose validation points have holes: what is told about them."""

import numpy as np
import pandas as pd
import pytest

from cpclean import (
    Cell,
    CleaningSession,
    FactoredRow,
    IncompleteDataset,
    IncompleteTable,
    Points,
    is_certain,
    possible_labels,
    world_shares,
)
from cpclean.analysis.column_effects import column_effects, effects_in_session
from cpclean.analysis.findings import Scope, findings
from cpclean.analysis.predictions import Predictions, accuracy
from cpclean.analysis.summary import summary
from cpclean.queries.model import Model
from cpclean.report.page import report

ROWS = [[[0.0], [3.5]], [[1.0]], [[9.0]], [[10.0]]]


@pytest.fixture
def data():
    return IncompleteDataset(ROWS, ["a", "a", "b", "b"])


def split_session(data):
    """Point 1 is certain in each completion, once "a" and once "b"; so is point 0, which is "b"."""
    points = Points([[[9.5]], [[0.5], [9.5]]], [None, [0.25, 0.75]])
    return CleaningSession(data, points, 1, y_val=["b", "a"])


def test_a_session_can_be_done_though_completions_disagree(data):
    session = split_session(data)
    assert session.stopped == "all validation points are certain"
    assert session.certain.tolist() == [True, True]
    assert session.certain_share == session.certain_points == 1.0
    assert is_certain(data, session.view.points, 1).tolist() == [True, False]


def test_such_a_prediction_is_open(data):
    session = split_session(data)
    found = Predictions.of(session.view)
    assert found.certain.tolist() == [True, False]
    assert found.n_split == 1
    assert found.shares.tolist() == [[0.0, 1.0], [0.25, 0.75]]
    right = accuracy(session, found)
    assert (right.all, right.certain, right.open) == (0.5, 1.0, 0.0)
    assert (right.least, right.most) == (0.5, 1.0)
    assert session.accuracy() == 0.5  # by the label that most of the mixture has
    told = findings(session, Scope(seconds=0.1)).verdict
    assert "1 of 2 predictions (50.0%) is certain" in told
    assert (
        "1 of them has holes in the point itself, and its label depends on these alone: no answer "
        "about a row changes that." in told
    )
    assert "more answer" not in told


def test_the_two_readings_of_progress(data):
    """Of point 0 one completion of three is open, by weight 0.2; point 1 is certain."""
    points = Points([[[6.0], [9.5], [0.1]], [[9.0]]], [[0.2, 0.5, 0.3], None])
    session = CleaningSession(data, points, 1)
    assert is_certain(data, points.vectors, 1).tolist() == [False, True, True, True]
    assert session.certain.tolist() == [False, True]
    assert session.certain_points == 0.5
    assert session.certain_share == pytest.approx(0.9)
    question = session.ask()
    assert question.points.tolist() == [0]
    record = session.tell(question.row, candidate=0)
    assert (record.settled, session.certain_share, session.certain_points) == (1, 1.0, 1.0)
    assert session.view.share_at_start == pytest.approx(0.9)


def test_draws_that_agree_prove_nothing():
    """The two draws of point 0 agree, but another completion has another label."""
    row = FactoredRow([0.0] * 3, [Cell(place, [0.0, 9.0], [0.999, 0.001]) for place in range(3)])
    points = Points([row, [[0.0] * 3]], max_exact=2, n_draws=2)
    data = IncompleteDataset([[[0.0] * 3], [[9.0] * 3]], ["a", "b"])
    session = CleaningSession(data, points, 1)
    assert not session.is_exact
    assert session.certain.tolist() == [True, True]
    assert Predictions.of(session.view).certain.tolist() == [False, True]


@pytest.fixture(scope="module")
def table_session():
    rng = np.random.default_rng(3)
    values = rng.integers(0, 6, size=(40, 4)).astype(float)
    labels = np.where(values.sum(axis=1) + rng.normal(size=40) > 10, "high", "low")
    values[rng.random(values.shape) < 0.12] = np.nan
    frame = pd.DataFrame(values, columns=list("abcd")).assign(y=labels)
    points = pd.DataFrame(rng.integers(0, 6, size=(12, 4)).astype(float), columns=list("abcd"))
    points.loc[2, "a"] = points.loc[5, "b"] = points.loc[5, "c"] = np.nan
    points.loc[7] = np.nan
    table = IncompleteTable(frame, label="y")
    return CleaningSession(table, points, 3, y_val=["high", "low"] * 6)


def test_everything_is_told_about_a_table(table_session):
    session = table_session
    points, data = session.view.points, session.data
    assert points.mixtures.tolist() == [2, 5, 7]
    found = Predictions.of(session.view)
    possible = possible_labels(data, points, 3).sum(axis=1) == 1
    assert found.certain.tolist() == possible.tolist()
    assert found.shares == pytest.approx(world_shares(data, points, 3), abs=1e-12)
    facts = summary(session)
    assert (facts.points, facts.certain_share) == (12, session.certain_share)
    assert facts.accuracy == session.accuracy()
    page = report(session, seconds=0.2)
    assert "predictions" in str(page)


def test_effects_of_columns_count_completions(table_session):
    session = table_session
    table, points = session.view.table, session.view.points
    effects = effects_in_session(session.view)
    by_hand = column_effects(table, points, Model(3), n_samples=10)
    assert [one.certain_if_clean for one in effects] == [one.certain_if_clean for one in by_hand]
    assert all(one.low >= session.certain_share - 1e-12 for one in effects)


def test_holes_in_points_are_not_filled_by_answers(table_session):
    """Answers settle completions one by one until none is left that they can settle."""
    session = CleaningSession(table_session.view.table, table_session.view.points, 3)
    shares = [session.certain_share]
    while (question := session.ask()) is not None:
        shares.append(session.tell(**question.answer(0)).certain_share)
    assert shares[-1] == 1.0
    assert shares == sorted(shares)
    assert session.stopped == "all validation points are certain"
    assert session.certain.all()
