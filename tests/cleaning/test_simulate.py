"""Answers from a known truth, in place of a person."""

from __future__ import annotations

import io
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from cleaning.small import problem

from cpclean import CleaningSession, IncompleteDataset, IncompleteTable, simulate
from cpclean.data.columns import OTHER
from cpclean.errors import CPCleanError, TableError


@pytest.fixture
def data() -> IncompleteDataset:
    rows = [[[0.0], [5.0]], [[1.0], [7.0]], [[6.0]], [[2.0], [3.0], [8.0]]]
    return IncompleteDataset(rows, ["a", "b", "b", "a"])


X = [[0.0], [4.0], [9.0]]


def whole_frame(n_rows: int = 60, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"age": rng.integers(18, 80, n_rows), "city": rng.choice(list("ABCDEFG"), n_rows)}
    )
    return frame.assign(x=rng.normal(size=n_rows).round(2), y=(frame["age"] > 45).astype(int))


def with_holes(frame: pd.DataFrame, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    holed = frame.astype({"age": "Int64"})
    for name in ("age", "city"):
        holed.loc[rng.random(len(frame)) < 0.3, name] = None
    return holed


# -- forms of the truth ----------------------------------------------------------------------------


@pytest.mark.parametrize("truth", [[1, 0, 0, 2], np.array([1, 0, 0, 2], dtype=np.int32)])
def test_candidate_numbers(data: IncompleteDataset, truth: object) -> None:
    session = CleaningSession(data, X, 1)
    history = simulate(session, truth)
    assert history == session.history
    assert session.certain.all()
    for answer in session.answers:
        assert answer["candidate"] == truth[answer["row"]]


def test_the_closest_candidate(data: IncompleteDataset) -> None:
    session = CleaningSession(data, X, 1)
    simulate(session, [[4.0], [2.0], [6.0], [2.4]])
    nearest = {0: 1, 1: 0, 3: 0}
    assert session.answers
    for answer in session.answers:
        assert answer["candidate"] == nearest[answer["row"]]


@pytest.mark.parametrize("strategy", ["cpclean", "cells"])
def test_exact_values(data: IncompleteDataset, strategy: str) -> None:
    truth = np.array([[4.0], [2.0], [6.0], [2.4]])
    session = CleaningSession(data, X, 1, strategy)
    simulate(session, truth, exact=True)
    assert session.certain.all()
    for record in session.history:
        assert session.data.candidates(record.row).tolist() == [truth[record.row].tolist()]


@pytest.mark.parametrize("strategy", ["cpclean", "random", "cells"])
def test_a_true_frame(strategy: str) -> None:
    whole = whole_frame()
    table = IncompleteTable(with_holes(whole), label="y")
    points = whole_frame(15, seed=5)
    session = CleaningSession(table, points, 3, strategy, y_val=points["y"], random_state=0)
    simulate(session, whole)
    assert session.certain.all()
    exact = CleaningSession(table, points, 3, strategy, random_state=0)
    simulate(exact, whole, exact=True)
    assert exact.certain.all()
    world = exact.world()
    for entry in exact.answers:
        for column in entry["value"]:
            assert world.loc[entry["row"], column] == whole.loc[entry["row"], column]


def test_a_category_that_is_no_candidate_is_other() -> None:
    whole = whole_frame()
    unseen = int(np.flatnonzero(with_holes(whole)["city"].isna())[0])
    whole.loc[unseen, "city"] = "Z"
    table = IncompleteTable(with_holes(whole), label="y", prior="uniform")
    session = CleaningSession(table, whole_frame(20, seed=5), 3)
    simulate(session, whole)
    simulate(CleaningSession(table, whole_frame(20, seed=5), 3), whole, exact=True)
    others = 0
    for answer in session.answers:
        said = table.candidates(answer["row"])[answer["candidate"]]
        if "city" in said:
            values = {one["city"] for one in table.candidates(answer["row"])}
            true = whole.loc[answer["row"], "city"]
            assert said["city"] == (true if true in values else OTHER)
            others += said["city"] is OTHER
    assert others > 0


# -- how far ---------------------------------------------------------------------------------------


def test_a_budget_is_of_answers_given_now(data: IncompleteDataset) -> None:
    session = CleaningSession(data, X, 1)
    assert len(simulate(session, [1, 0, 0, 2], budget=1)) == 1
    assert len(simulate(session, [1, 0, 0, 2], budget=0)) == 1
    assert len(simulate(session, [1, 0, 0, 2], budget=1)) == 2
    other = CleaningSession(data, X, 1, budget=1)
    assert len(simulate(other, [1, 0, 0, 2], budget=3)) == 1


def test_in_one_go_or_step_by_step() -> None:
    data, points, k = problem(7)
    truth = [len(data.candidates(row)) - 1 for row in range(data.n_rows)]
    one, other = CleaningSession(data, points, k), CleaningSession(data, points, k)
    simulate(one, truth)
    while not other.done:
        simulate(other, truth, budget=1)
    assert one.answers == other.answers


def test_nothing_to_do(data: IncompleteDataset) -> None:
    session = CleaningSession(data.pin(0, 0).pin(1, 0).pin(3, 0), X, 1)
    assert simulate(session, [0, 0, 0, 0]) == []


# -- bad input -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("truth", "named", "message"),
    [
        ([0, 0, 0], {}, r"number of a candidate for each of 4 rows.*got an array of 3 int"),
        ([0.5] * 4, {}, r"number of a candidate for each of 4 rows.*got an array of 4 float"),
        ([0, 0, 1, 0], {}, r"truth names candidate 1 of row 2, which has candidates 0 to 0"),
        ([0, -1, 0, 0], {}, r"truth names candidate -1 of row 1"),
        (np.zeros((3, 1)), {}, r"one row per row of the data, shape \(4, 1\); got \(3, 1\)"),
        (None, {}, r"one row per row of the data"),
        ("abc", {}, r"truth must be numbers; got str"),
        ([0, 0, 0, 0], {"exact": True}, r"exact answers need the true rows"),
        ([0, 0, 0, 0], {"budget": -1}, r"budget must be None or an int of at least 0; got -1"),
        ([0, 0, 0, 0], {"budget": 1.5}, r"budget must be None or an int.*got 1\.5"),
    ],
)
def test_truths_that_cannot_be_used(
    data: IncompleteDataset, truth: object, named: dict, message: str
) -> None:
    session = CleaningSession(data, X, 1)
    with pytest.raises(CPCleanError, match=message):
        simulate(session, truth, **named)
    assert session.answers == []


def test_a_true_frame_with_holes() -> None:
    whole = whole_frame()
    session = CleaningSession(IncompleteTable(with_holes(whole), label="y"), whole, 3)
    with pytest.raises(TableError, match="must be complete; found holes at row"):
        simulate(session, with_holes(whole))
    with pytest.raises(CPCleanError, match=r"one row per row of the data.*got \(59, "):
        simulate(session, whole.iloc[:-1])
    assert session.answers == []


# -- people ----------------------------------------------------------------------------------------


def test_a_progress_bar(data: IncompleteDataset, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    simulate(CleaningSession(data, X, 1), [1, 0, 0, 2])
    assert screen.getvalue() == ""  # no terminal
    simulate(CleaningSession(data, X, 1), [1, 0, 0, 2], progress=False)
    assert screen.getvalue() == ""
    simulate(CleaningSession(data, X, 1), [1, 0, 0, 2], progress=True)
    assert "cleaning" in screen.getvalue()
    assert "3/3" in screen.getvalue()


INTERRUPTED = """
import os, signal, sys
import numpy as np
from cpclean import CleaningSession, IncompleteDataset, simulate

rng = np.random.default_rng(0)
rows = [rng.normal(size=(4, 3)) for _ in range(800)]
data = IncompleteDataset(rows, rng.integers(0, 2, 800))
X = rng.normal(size=(60, 3))
session = CleaningSession(data, X, 3, "random", random_state=0)
simulate(session, [0] * 800, budget=1)
signal.signal(signal.SIGINT, signal.default_int_handler)  # shells ignore it in the background
signal.signal(signal.SIGVTALRM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
signal.setitimer(signal.ITIMER_VIRTUAL, float(sys.argv[1]))  # of its own work, however slow it is
history = simulate(session, [0] * 800, progress=False)
print("back", len(history), flush=True)
assert 0 < len(history) < 800, len(history)
assert len(session.answers) == len(history)
assert [one["row"] for one in session.answers] == [record.row for record in history]
again = CleaningSession(data, X, 3, "random", random_state=0)
again.replay(session.answers)
assert again.gains().tolist() == session.gains().tolist()
assert again.certain.tolist() == session.certain.tolist()
assert again.ask().row == session.ask().row
assert len(session.data.dirty_rows) == 800 - len(history)
simulate(session, [0] * 800, budget=2)  # and it goes on
assert len(session.history) == len(history) + 2
print("whole", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent differently there")
@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.05, 0.131])
def test_ctrl_c_gives_what_is_done(seconds: float) -> None:
    command = [sys.executable, "-c", INTERRUPTED, str(seconds)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("back ")
    assert done.stdout.endswith("whole\n")
    assert "; nothing is lost." in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("call", ["ask", "tell"])
def test_ctrl_c_at_any_moment(
    data: IncompleteDataset, call: str, monkeypatch: pytest.MonkeyPatch, capsys: object
) -> None:
    session = CleaningSession(data, X, 1)
    whole = getattr(session, call)
    calls = []

    def interrupted(*args: object, **named: object) -> object:
        calls.append(args)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return whole(*args, **named)

    monkeypatch.setattr(session, call, interrupted)
    assert len(simulate(session, [1, 0, 0, 2], progress=True)) == 1
    assert "interrupted after 1 answer; nothing is lost." in capsys.readouterr().err
