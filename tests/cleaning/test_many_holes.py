"""Rows with so many holes that nobody can go through their candidates."""

from __future__ import annotations

import itertools
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from cpclean import CleaningSession, IncompleteDataset, IncompleteTable, simulate
from cpclean.analysis.forecast import Forecast
from cpclean.analysis.ranking import ranking
from cpclean.analysis.reasons import reasons
from cpclean.analysis.summary import summary
from cpclean.baselines.worlds import ClosestWorld, DefaultCleaning
from cpclean.cleaning.question import Question
from cpclean.errors import TableError, UnknownRowError

N_COLUMNS = 30
HOLES = 25
NAMES = [f"c{place}" for place in range(N_COLUMNS)]


def frame(n_rows: int = 24, seed: int = 0) -> pd.DataFrame:
    """Row 1 has 25 holes, so that it has 5**25 candidates; others have up to a dozen."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n_rows, N_COLUMNS)).round(1)
    labels = np.where(values[:, :3].sum(axis=1) > 0, "yes", "no")
    holes = rng.random(values.shape) < 0.2
    holes[0] = False
    holes[1] = np.arange(N_COLUMNS) < HOLES
    holes[2] = np.arange(N_COLUMNS) < 2
    found = pd.DataFrame(np.where(holes, np.nan, values), columns=NAMES)
    found["kind"] = np.where(rng.random(n_rows) < 0.3, None, rng.choice(["p", "q"], n_rows))
    found.loc[:2, "kind"] = "p"
    return found.assign(y=labels)


def points(n: int = 6) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    return pd.DataFrame(rng.normal(size=(n, N_COLUMNS)), columns=NAMES).assign(kind="p")


@pytest.fixture(scope="module")
def table() -> IncompleteTable:
    return IncompleteTable(frame(), label="y")


def session_of(table: IncompleteTable, strategy: str = "cpclean", **more: Any) -> CleaningSession:
    costs = [1.0] * table.n_rows if strategy == "cost" else None
    return CleaningSession(table, points(), 3, strategy, random_state=0, costs=costs, **more)


def some_row(question: Question) -> tuple[Any, ...]:
    return question.row, question.column, question.candidates, question.gain


def test_a_question_lists_the_likeliest_candidates(table: IncompleteTable) -> None:
    question = session_of(table).question(1)
    assert question.n_candidates == 5**25
    assert len(question.candidates) == len(question.numbers) == len(question.prior) == 125
    assert len(set(question.numbers)) == 125
    assert (np.diff(question.prior) <= 0).all()
    weights = [cell.weights for cell in table.dataset.stored_cells(1)]
    assert question.prior[0] == pytest.approx(np.prod([own.max() for own in weights]))
    for number, candidate in zip(question.numbers, question.candidates, strict=True):
        assert number is not None
        assert table.candidate(1, number) == candidate
    assert "row 1: about 10^17.5 candidates" in str(question)


def test_the_candidates_are_the_likeliest_of_all(table: IncompleteTable) -> None:
    """Where all can be gone through: seven holes."""
    few = frame().assign(**dict.fromkeys(NAMES[7:], 1.0), kind="p")
    small = IncompleteTable(few, label="y")
    question = CleaningSession(small, points(), 3).question(1)
    prior = small.dataset.prior(1)
    order = np.argsort(-prior, kind="stable")[:125]
    assert question.numbers == order.tolist()
    assert question.prior.tolist() == prior[order].tolist()
    assert question.n_candidates == len(prior) == 5**7
    listed = small.candidates(1)
    assert question.candidates == [listed[number] for number in order.tolist()]


def test_few_candidates_are_listed_in_their_order(table: IncompleteTable) -> None:
    question = session_of(table).question(2)
    holes = len(table.candidates(2))
    assert question.n_candidates == len(question.candidates) == holes
    assert question.numbers == list(range(holes))
    assert question.candidates == table.candidates(2)
    assert question.prior.tolist() == table.dataset.prior(2).tolist()


def test_cells_have_all_their_values_the_likeliest_first(table: IncompleteTable) -> None:
    session = session_of(table)
    cells = session.question(1).cells
    assert [cell.column for cell in cells][:HOLES] == NAMES[:HOLES]
    options = table.options_in_space(1)
    for cell, stored in zip(cells, table.dataset.stored_cells(1), strict=True):
        at = options.cells.index(table.names.index(cell.column))
        assert sorted(map(str, cell.values)) == sorted(map(str, options.values[at]))
        assert (np.diff(cell.prior) <= 0).all()
        assert sorted(cell.prior) == sorted(stored.weights)
    answer = {cell.column: cell.values[0] for cell in cells}
    assert session.tell(1, value=answer).kind == "answer"
    assert session.question(1).cells == []


@pytest.mark.parametrize("strategy", ["cpclean", "cells", "cost", "random"])
def test_one_cell_narrows_and_the_others_stay_open(table: IncompleteTable, strategy: str) -> None:
    session = session_of(table, strategy)
    before = session.question(1).n_candidates
    session.tell(1, value={"c3": 0.25})
    question = session.question(1)
    assert question.n_candidates == before // 5
    assert all(one["c3"] == 0.25 for one in question.candidates)
    assert "c3" not in [cell.column for cell in question.cells]
    # The draws of the other cells stay as they are, by the row and the column.
    was, now = table.dataset.sampled.candidates(1), session.data.sampled.candidates(1)
    space = table.space.features[3]
    assert space is not None
    assert (now[:, space.start] == now[0, space.start]).all()
    others = [column for column in range(was.shape[1]) if column != space.start]
    assert now[:, others].tolist() == was[:, others].tolist()
    session.tell(1, value={"c3": 0.5})
    assert session.history[-1].kind == "correction"
    session.undo(2)
    assert session.data == table.dataset
    assert session.data.sampled == table.dataset.sampled
    assert len(session.ask(4)) == 4
    session.skip(1)
    assert 1 not in session.view.open_rows


@pytest.mark.parametrize("strategy", ["cpclean", "cells", "cost", "random"])
def test_a_session_goes_on_anywhere(table: IncompleteTable, strategy: str) -> None:
    session = session_of(table, strategy)
    session.tell(1, candidate=5**25 - 3)
    session.tell(1, value={"c4": 9.5})
    question = session.ask()
    assert question is not None
    session.tell(**question.drawn(np.random.default_rng(0)))
    again = session_of(pickle.loads(pickle.dumps(table)), strategy)
    again.replay(json.loads(json.dumps(session.answers)))
    unpickled = pickle.loads(pickle.dumps(session))
    merged = session_of(table, strategy)
    assert merged.merge(session.answers) == []
    for other in (again, unpickled, merged):
        assert other.gains().tolist() == session.gains().tolist()
        assert other.ask() is not None
        assert some_row(other.ask()) == some_row(session.ask())  # type: ignore[arg-type]


@pytest.mark.slow
def test_another_process_asks_the_same(table: IncompleteTable) -> None:
    session = session_of(table)
    question = session.ask()
    assert question is not None
    session.tell(**question.answer(3))
    code = (
        "import sys, json; from cleaning.test_many_holes import *\n"
        "table = IncompleteTable(frame(), label='y'); session = session_of(table)\n"
        "session.replay(json.loads(sys.argv[1])); q = session.ask()\n"
        "print(json.dumps([q.row, q.gain.hex(), session.gains().tolist()]))"
    )
    tests = str(Path(__file__).parents[1])
    run = subprocess.run(
        [sys.executable, "-c", code, json.dumps(session.answers)],
        capture_output=True, text=True, check=True, timeout=300,
        env={**os.environ, "PYTHONPATH": tests, "PYTHONHASHSEED": "7"},
    )  # fmt: skip
    asked = session.ask()
    assert asked is not None
    assert json.loads(run.stdout) == [asked.row, asked.gain.hex(), session.gains().tolist()]


def test_numbers_are_exact_ints(table: IncompleteTable) -> None:
    last = table.dataset.arrays.count(1) - 1
    session = session_of(table)
    session.tell(1, candidate=last)
    assert session.answers == [{"row": 1, "candidate": last}]
    assert session.known[1] == table.candidate(1, last)
    assert session.data.candidates(1)[0].tolist() == table.dataset.candidate(1, last).tolist()
    with pytest.raises(UnknownRowError, match=rf"row 1 has candidates 0 to {last}; got candidate"):
        session.tell(1, candidate=last + 1)
    with pytest.raises(UnknownRowError, match=rf"row 1 has candidates 0 to {last}; got candidate"):
        table.candidate(1, -1)


def test_a_table_refuses_to_list_too_many(table: IncompleteTable) -> None:
    with pytest.raises(TableError, match=r"row 1 has about 10\^17\.5 candidates.*options_of"):
        table.candidates(1)
    assert table.candidate(0, 0) == {}


def test_worlds_fill_every_hole(table: IncompleteTable) -> None:
    session = session_of(table)
    session.tell(1, value={"c0": 7.5})
    likely = session.world("likely")
    assert not likely.drop(columns="y").isna().any().any()
    best = {cell.column: cell.values[0] for cell in session.question(1).cells}
    assert likely.loc[1, "c0"] == 7.5
    assert {name: likely.loc[1, name] for name in best} == best
    assert not session.world().isna().any().any()
    assert session.classifier().predict(points()).shape == (6,)
    assert not DefaultCleaning().repair(table).isna().any().any()


def test_worlds_of_a_dataset_are_its_likeliest_candidates(table: IncompleteTable) -> None:
    data = table.dataset
    world = CleaningSession(data, table.points(points()), 3).world()
    for row in data.dirty_rows.tolist():
        for cell in data.stored_cells(row):
            best = cell.values[int(np.argmax(cell.weights))]
            assert world[row, cell.start : cell.stop].tolist() == best.tolist()
    assert DefaultCleaning().repair(data).tolist() == world.tolist()


@pytest.mark.parametrize("strategy", ["cpclean", "cells"])
@pytest.mark.parametrize("exact", [False, True])
def test_simulating_from_a_known_truth(table: IncompleteTable, strategy: str, exact: bool) -> None:
    truth = frame().drop(columns=["y", "kind"]).fillna(0.0).assign(kind="p")
    session = session_of(table, strategy)
    history = simulate(session, truth, budget=6, exact=exact, progress=False)
    assert len(history) == 6
    if strategy == "cpclean" and not exact:
        numbers = [one["candidate"] for one in session.answers]
        closest = ClosestWorld(truth).repair(table)
        row = session.answers[0]["row"]
        chosen = table.candidate(row, numbers[0])
        assert {name: closest.loc[row, name] for name in chosen} == chosen


def test_a_truth_of_numbers_may_be_large(table: IncompleteTable) -> None:
    numbers = [0] * table.n_rows
    numbers[1] = table.dataset.arrays.count(1) - 1
    session = session_of(table)
    simulate(session, numbers, budget=3, progress=False)
    assert all(one["candidate"] == numbers[one["row"]] for one in session.answers)


def test_analysis_of_rows_with_many_holes(table: IncompleteTable) -> None:
    session = session_of(table)
    found = {one.row: one.candidates for one in ranking(session)}
    assert found[1] == table.dataset.arrays.count(1)
    (reason,) = reasons(session.view, [session.question(1)])
    assert reason.expected is None  # too many answers to speak of all of them
    assert reason.n_more == found[1] - len(reason.outcomes)
    facts = summary(session)
    helpful = [one.row for one in session.ask(10) if one.gain > 1e-12]
    assert facts.first_rows == tuple(helpful), "none that brings nothing"
    forecast = Forecast.from_prior(session, n_runs=2, max_answers=3)
    assert len(forecast.run().mean) == 4


def test_drawn_answers_are_as_likely_as_the_prior_says() -> None:
    values = {name: [0.0, 1.0, 2.0] for name in NAMES[:6]}
    rows = frame().assign(**dict.fromkeys(NAMES[6:], 1.0), kind="p")
    table = IncompleteTable(rows, label="y", repairs=values, prior="uniform")
    question = CleaningSession(table, points(), 3).question(1)
    assert question.n_candidates == 3**6 > len(question.candidates)
    rng = np.random.default_rng(0)
    drawn = [table.candidate(1, question.drawn(rng)["candidate"]) for _ in range(600)]
    for name in NAMES[:6]:
        times = np.array([sum(one[name] == value for one in drawn) for value in values[name]])
        assert (np.abs(times - 200) < 60).all()  # five standard errors
    pairs = {(one["c0"], one["c1"]) for one in drawn}
    assert pairs == set(itertools.product([0.0, 1.0, 2.0], repeat=2))


def test_a_cell_with_very_many_values() -> None:
    """As with every observed value of a long column."""
    rows = frame()
    many = [float(value) for value in range(400)]
    table = IncompleteTable(
        rows[["c0", "c29", "y"]], label="y", repairs={"c0": many, "c29": [0.0, 1.0]}
    )
    session = CleaningSession(table, points()[["c0", "c29"]], 3, "cells")
    row = int(table.dataset.dirty_rows[0])
    assert len(session.question(row).cells[0].values) == 400
    session.tell(row, value={"c29": 0.0})
    question = session.view.question_at(session.view.questions.column.index("c0"))
    assert (question.n_candidates, len(question.candidates)) == (400, 125)
    value = question.drawn(np.random.default_rng(0))["value"]["c0"]
    assert value in many


def test_imputed_versions_of_many_holes_stay_together() -> None:
    data = IncompleteDataset(
        [[[float(place)] * 30 for place in range(200)], [[0.5] * 30], [[7.5] * 30]],
        ["a", "b", "b"],
        max_exact=50,
    )
    session = CleaningSession(data, [[0.4] * 30, [6.0] * 30], 1)
    question = session.question(0)
    assert (question.n_candidates, len(question.candidates)) == (200, 125)
    assert question.numbers == list(range(125))  # equally likely
    assert [len(cell.values) for cell in question.cells] == [200] * 30
    session.tell(0, value={3: 6.0})
    assert session.data.candidates(0).tolist() == [[6.0] * 30]


def test_nothing_takes_long(table: IncompleteTable) -> None:
    """It would not end if it went through the candidates, nor through a millionth of them."""
    session = session_of(table)
    session.ask()
    question = session.question(1)
    assert len(question.cells) >= HOLES
    session.tell(**question.answer(0))
    session.world("likely")
    session.undo()
