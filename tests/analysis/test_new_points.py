"""The estimate for points that were not looked at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from slow_cases import parts

from cpclean import (
    CleaningSession,
    CPCleanError,
    IncompleteDataset,
    IncompleteTable,
    Points,
    is_certain,
    is_sure,
    simulate,
)
from cpclean.analysis.new_points import NewPoints, new_points, new_points_words
from cpclean.data.spaces.leaf_space import LeafSpace


def apart(n: int) -> tuple[IncompleteDataset, list[list[float]]]:
    """Every point depends on a row of its own, and on no other row with holes."""
    rows: list[Any] = []
    for place in range(n):
        rows += [[[10.0 * place], [10.0 * place + 4.0]], [[10.0 * place + 1.0]]]
    data = IncompleteDataset(rows, ["a", "b"] * n)
    return data, [[10.0 * place] for place in range(n)]


def answered(session: CleaningSession) -> CleaningSession:
    simulate(session, np.zeros(session.data.n_rows, dtype=int), progress=False)
    return session


def test_points_that_share_no_question_say_nothing_about_others() -> None:
    data, X = apart(7)
    session = answered(CleaningSession(data, X[:6], 1))
    assert session.certain_share == 1.0
    found = new_points(session)
    assert (found.share, found.low, found.n) == (0.0, 0.0, 6)
    assert 0.5 < found.high < 1


def test_points_that_share_all_questions_settle_each_other() -> None:
    data, X = apart(6)
    session = answered(CleaningSession(data, [X[0]] * 30, 1))
    found = new_points(session)
    assert (found.share, found.high, found.n) == (1.0, 1.0, 30)
    assert 0.7 < found.low < 1
    assert new_points_words(found) == (
        f"at least {found.low:.0%} of rows like these would be certain, too"
    )


def test_without_open_rows_every_point_is_certain() -> None:
    data, X = apart(3)
    session = CleaningSession(data, X, 1)
    for row in data.dirty_rows.tolist():
        session.tell(row, candidate=0)
    assert new_points(session) == NewPoints(1.0, 1.0, 1.0, 3)


def test_nothing_is_asked_that_is_not_known() -> None:
    """Two of six rows are known; each of them is near two points."""
    data, X = apart(6)
    session = CleaningSession(data, [*X, *X], 1)
    session.tell(2, candidate=0)
    session.tell(4, candidate=1)
    found = new_points(session, n_folds=12)
    assert found.share == pytest.approx(4 / 12)
    assert session.settled_share == pytest.approx(4 / 12)


def case(seed: int, n_rows: int = 40, n_points: int = 24) -> tuple[Any, Any, Any, Any]:
    """Data, true candidates, points, and fresh points from where these come from."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 2))
    labels = (X[:, 0] + 0.5 * rng.normal(size=n_rows) > 0).astype(int)
    rows: list[Any] = []
    for vector in X:
        candidates = np.tile(vector, (4, 1) if rng.random() < 0.4 else (1, 1))
        if len(candidates) > 1:
            candidates[1:, rng.integers(2)] = rng.normal(size=3)
        rows.append(candidates)
    truth = [int(rng.integers(len(row))) for row in rows]
    data = IncompleteDataset(rows, labels)
    return data, truth, rng.normal(size=(n_points, 2)), rng.normal(size=(600, 2))


@pytest.mark.parametrize("sure", [None, 0.8])
@pytest.mark.parametrize("strategy", ["cpclean", "cells"])
def test_against_sessions_made_by_hand(sure: float | None, strategy: str) -> None:
    data, truth, X, _ = case(3)
    session = CleaningSession(data, X, 3, strategy, sure=sure)
    simulate(session, truth, budget=8, progress=False)
    before = session.answers, session.settled_share
    settled = []
    for held in np.array_split(np.random.default_rng(5).permutation(len(X)), 4):
        others = sorted(set(range(len(X))) - set(held.tolist()))
        asking = CleaningSession(data, X[others], 3, strategy, sure=sure)
        while (question := asking.ask()) is not None:
            known = session.known.get(question.row, {})
            new = {
                column: value
                for column, value in known.items()
                if column not in asking.known.get(question.row, {})
                and question.column in (None, column)
            } or (known if question.row not in asking.known else {})
            if new:
                asking.tell(question.row, value=new)
            else:
                asking.skip(question.row)
        found = is_certain(asking.data, X[held], 3)
        if sure is not None:
            found |= is_sure(asking.data, X[held], 3, level=sure)
        settled += found.tolist()
    actual = new_points(session, 4, random_state=5)
    assert actual.share == pytest.approx(np.mean(settled), abs=1e-12)
    assert 0 < actual.low < actual.share < actual.high < 1
    assert actual.sure == sure
    assert (session.answers, session.settled_share) == before


def test_points_with_holes_count_by_completions() -> None:
    data, X = apart(3)
    points = Points([[X[0]], [X[0], X[1]]], [None, [0.75, 0.25]])
    session = answered(CleaningSession(data, points, 1))
    # Of the second point, the completion at the first one is settled by the first one's question.
    assert new_points(session, 2).share == pytest.approx((1 + 0.75) / 2)


def test_distances_that_are_given() -> None:
    data, truth, X, _ = case(4)
    candidates = np.concatenate([data.candidates(row) for row in range(data.n_rows)])
    given = ((X[:, None] - candidates[None]) ** 2).sum(axis=2)
    plain = CleaningSession(data, X, 3)
    measured = CleaningSession(data, given, 3, metric="precomputed")
    for session in (plain, measured):
        simulate(session, truth, progress=False)
    assert new_points(measured) == new_points(plain)
    assert measured.effort() == plain.effort()


def test_a_table(tables: Any) -> None:
    dirty, truth, val = tables
    table = IncompleteTable(dirty, label="buys")
    session = CleaningSession(table, val)
    simulate(session, truth, exact=True, progress=False)
    found = new_points(session, 4)
    assert found.n == len(val)
    assert 0 < found.low <= found.share <= found.high


def test_the_time_is_bounded_by_leaving_folds_out() -> None:
    data, X = apart(7)
    session = answered(CleaningSession(data, X[:6], 1))
    assert new_points(session, 3, seconds=0.0).n == 2


class Interrupting:
    """A strategy that is interrupted after so many questions."""

    def __init__(self, after: int) -> None:
        self.left, self.on = after, False

    def __call__(self, situation: Any) -> Any:
        self.left -= self.on
        if self.left < 0:
            raise KeyboardInterrupt
        return situation.gain


def test_after_ctrl_c_what_is_finished_counts() -> None:
    data, X = apart(7)
    for after, expected in ((0, None), (5, 2)):
        strategy = Interrupting(after)
        session = answered(CleaningSession(data, X[:6], 1, strategy))
        strategy.on = True
        if expected is None:
            with pytest.raises(KeyboardInterrupt):
                new_points(session, 3)
        else:
            assert new_points(session, 3).n == expected


def test_bad_input() -> None:
    data, X = apart(2)
    session = CleaningSession(data, X, 1)
    with pytest.raises(CPCleanError, match=r"n_folds must be an int of at least 2; got 1\."):
        new_points(session, 1)
    with pytest.raises(CPCleanError, match=r"needs at least 2 validation points; got 1\."):
        new_points(CleaningSession(data, X[:1], 1))


def test_words() -> None:
    assert new_points_words(NewPoints(0.93, 0.88, 0.96, 300)) == (
        "about 93% (88 to 96%) of rows like these would be certain, too"
    )
    assert new_points_words(NewPoints(0.999, 0.99, 0.9999, 900, 0.9)) == (
        "about >99% (99 to >99%) of rows like these would be certain or 90% sure, too"
    )
    assert new_points_words(NewPoints(0.0, 0.0, 0.1, 20)) == (
        "about 0% (0 to 10%) of rows like these would be certain, too"
    )


# -- how often the interval is right ---------------------------------------------------------------


def is_right(session: CleaningSession, fresh: Any) -> bool:
    """Whether the interval has the share of fresh points that the answers settle."""
    asked = (session.data, fresh, session.view.model.n_neighbors)
    settled = is_certain(*asked)
    if session.sure is not None:
        settled |= is_sure(*asked, level=session.sure)
    found = new_points(session)
    return bool(found.low <= settled.mean() <= found.high)


@pytest.mark.slow
@pytest.mark.parametrize("sure", [None, 0.95])
def test_the_interval_is_right_in_nine_of_ten_tables(sure: float | None) -> None:
    right, seeds = 0, parts(range(200), 50)  # all of them with CPCLEAN_SWEEP=all
    for seed in seeds:
        data, truth, X, fresh = case(seed, 40, 20)
        session = CleaningSession(data, X, 3, sure=sure)
        simulate(session, truth, progress=False)
        right += is_right(session, fresh)
    assert right >= 0.9 * len(seeds)


def mixed_frames(seed: int) -> tuple[Any, Any, Any, Any]:
    """A table with holes, its truth, points, and fresh points: numbers and a category."""
    rng = np.random.default_rng(seed)
    made = []
    for n_rows in (80, 30, 400):
        frame = pd.DataFrame(rng.normal(size=(n_rows, 3)).round(1), columns=["a", "b", "c"])
        frame["d"] = rng.choice(["x", "y", "z"], n_rows)
        score = frame["a"] + frame["b"] * (frame["d"] == "x") + 0.5 * rng.normal(size=n_rows)
        frame["y"] = np.where(score > 0, "yes", "no")
        made.append(frame)
    truth, points, fresh = made
    dirty = truth.copy()
    for name in ("a", "b", "c", "d"):
        dirty.loc[rng.random(len(dirty)) < 0.12, name] = None
    kept = dirty[["a", "b", "c", "d"]].notna().any(axis=1)
    return dirty[kept], truth[kept], points.drop(columns="y"), fresh.drop(columns="y")


@pytest.mark.slow
@pytest.mark.parametrize("sure", [None, 0.95])
def test_the_interval_is_right_in_nine_of_ten_tables_among_leaves(sure: float | None) -> None:
    right, seeds = 0, parts(range(200), 20)
    gains_by = "uniform" if sure is None else "prior"
    for seed in seeds:
        dirty, truth, X, fresh = mixed_frames(seed)
        table = IncompleteTable(dirty, label="y", space=LeafSpace(n_trees=10, n_worlds=2))
        session = CleaningSession(table, X, 5, "roots", sure=sure, gains_by=gains_by)
        simulate(session, truth, exact=True, progress=False)
        right += is_right(session, table.encode(fresh))
    assert right >= 0.9 * len(seeds)


TABLES = Path(__file__).resolve().parents[3] / "shared" / "data" / "tables"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # about columns, and values that are in new points only
@pytest.mark.parametrize(
    ("name", "label", "space", "sure"),
    parts(
        [
            (name, label, space, sure)
            for space, sure in (
                ("plain", None),
                ("plain", 0.95),
                ("forest", None),
                ("forest", 0.95),
            )
            for name, label in (("CreditData", "Status"), ("Chile", "vote"))
        ],
        3,
    ),
)
def test_the_interval_is_right_on_tables_with_real_holes(
    name: str, label: str, space: str, sure: float | None
) -> None:
    """Where nobody knows the truth, answers are drawn from the prior; new points are complete."""
    file = TABLES / name / "data.csv"
    if not file.is_file():
        pytest.skip(
            f"the table {name} is not there: tables are looked for in ../shared/data/tables"
        )
    frame = pd.read_csv(file).drop(columns="rownames").dropna(subset=[label])
    complete, gains_by = frame.dropna().index, "uniform" if sure is None else "prior"
    right = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        points = rng.permutation(complete)[:600]
        rows = rng.permutation(frame.index.difference(points))[:500]
        table = IncompleteTable(frame.loc[rows], label=label, space=space, random_state=seed)
        X, fresh = (frame.loc[some].drop(columns=label) for some in (points[:100], points[100:]))
        n_neighbors = 3 if space == "plain" else 15
        session = CleaningSession(table, X, n_neighbors, "roots", sure=sure, gains_by=gains_by)
        while (question := session.ask()) is not None:
            session.tell(**question.drawn(rng))
        right += is_right(session, table.encode(fresh))
    assert right >= 8
