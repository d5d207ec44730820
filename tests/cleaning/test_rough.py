"""Rough answers about a table: what they leave, and that nothing takes them for values."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pandas as pd
import pytest
from cleaning.samples import frame, seen
from cleaning.test_refit import answered, new

from cpclean import (
    Between,
    CleaningSession,
    IncompleteDataset,
    IncompleteTable,
    entropies,
    is_certain,
)
from cpclean.cleaning.known_cells import filled_cells
from cpclean.errors import AnswerError, DataError

POINTS = pd.DataFrame({"age": [30.0, 50.0, 64.0], "city": ["A", "B", "B"]})


def session(**options: Any) -> CleaningSession:
    return CleaningSession(IncompleteTable(frame(), label="buys"), POINTS, 3, **options)


def ages(one: CleaningSession, row: int) -> list[float]:
    return [candidate["age"] for candidate in one.question(row).candidates]


@pytest.mark.parametrize("gains_by", ["prior", "uniform"])
def test_the_candidates_in_the_range_remain(gains_by: str) -> None:
    one = session(gains_by=gains_by)
    before, prior = ages(one, 1), one.question(1).prior
    one.tell(1, value={"age": Between(20, 55)})
    kept = [place for place, age in enumerate(before) if 20 <= age <= 55]
    assert ages(one, 1) == [before[place] for place in kept]
    assert 1 < len(kept) < len(before)
    expected = prior[kept] / prior[kept].sum()
    assert one.question(1).prior.tolist() == pytest.approx(expected.tolist(), abs=1e-15)
    vectors = one.view.points.vectors
    assert one.certain.tolist() == is_certain(one.data, vectors, 3).tolist()
    same = one.data if gains_by == "prior" else one.data.uniform()
    assert one.mean_entropy == pytest.approx(entropies(same, vectors, 3).mean(), abs=1e-12)


def test_it_is_no_value() -> None:
    one = session()
    one.tell(1, value={"age": Between(20, 55)})
    assert one.known == {1: {}}
    assert one.rough == {1: {"age": Between(20.0, 55.0)}}
    table = one.view.table
    assert table is not None
    cells = filled_cells(one, table, range(5), None)
    assert cells.cells == {}
    assert one.world()["age"].tolist() == session().world()["age"].tolist()
    assert one.answers == [{"row": 1, "value": {"age": {"between": [20.0, 55.0]}}}]


@pytest.mark.parametrize("strategy", ["cpclean", "cells", "random"])
def test_the_row_is_not_asked_about_again(strategy: str) -> None:
    data = IncompleteDataset([[[1.5], [4.0], [9.0]], [[3.0]]], ["a", "b"])
    one = CleaningSession(data, [[1.8]], 1, strategy)
    one.tell(0, value={0: Between(0, 5)})
    assert one.certain.tolist() == [False]
    assert one.stopped == "every row with holes is cleaned, answered roughly or skipped"
    one.tell(0, value={0: 1.5})  # it can still be answered
    assert one.stopped == "all validation points are certain"
    assert (one.known, one.rough) == ({0: {0: 1.5}}, {})


def test_undo_and_replay() -> None:
    one = session()
    start = seen(one)
    one.tell(1, value={"age": Between(20, 55)})
    rough = seen(one)
    one.tell(1, value={"age": 41})
    one.undo()
    assert seen(one)[2:] == rough[2:]
    again = session()
    again.replay(json.loads(json.dumps(one.answers)))
    assert seen(again)[2:] == rough[2:]
    assert again.rough == one.rough
    one.undo()
    assert seen(one) == start


def test_a_rough_answer_after_an_exact_one_is_a_correction() -> None:
    one = session()
    one.tell(1, value={"age": 41})
    assert one.tell(1, value={"age": Between(20, 55)}).kind == "correction"
    assert one.known == {1: {}}
    other = session()
    other.tell(1, value={"age": Between(20, 55)})
    assert one.gains().tolist() == other.gains().tolist()
    assert other.merge([{"row": 1, "value": {"age": {"between": [20, 35]}}}]) == [1]


def test_dates() -> None:
    days = [date(2024, 1, 1), date(2024, 3, 1), None, date(2024, 12, 1)]
    known = {"day": pd.to_datetime(days), "size": [1, 2, 3, 4], "y": ["a", "a", "b", "b"]}
    table = IncompleteTable(pd.DataFrame(known), label="y")
    points = pd.DataFrame({"day": pd.to_datetime(["2024-02-01"]), "size": [2]})
    one = CleaningSession(table, points, 1)
    one.tell(2, value={"day": Between("2024-02-01", "2024-08-01")})
    (entry,) = one.answers
    kept = one.question(2).candidates
    assert kept
    assert all(pd.Timestamp("2024-02-01") <= c["day"] <= pd.Timestamp("2024-08-01") for c in kept)
    again = CleaningSession(table, points, 1)
    again.replay([json.loads(json.dumps(entry))])
    assert again.question(2).candidates == kept


def test_among_leaves_that_are_learnt_anew() -> None:
    one = new()
    table = one.view.table
    assert table is not None
    row = next(row for row in table.dataset.dirty_rows if "size" in one.view.cells(row))
    one.tell(row, value={"size": Between(high=0.0)})
    answered(one, 2)
    one.refit()
    again = new()
    again.replay(one.answers)
    assert seen(again)[2:] == seen(one)[2:]
    assert one.question(row).n_candidates < table.dataset.candidate_counts[row]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (Between(200, 300), "in which none of its candidates lies; they are from 18 to 65"),
        (Between(50, 30), "its lower end must not be above the upper one"),
        (Between(), "must have an end"),
        (Between("much", 3), "row 1"),
        (Between(float("inf")), "must be finite"),
    ],
)
def test_ranges_that_are_refused(value: Between, words: str) -> None:
    one = session()
    before = seen(one)
    with pytest.raises(AnswerError, match=words):
        one.tell(1, value={"age": value})
    with pytest.raises(AnswerError, match="no hole to narrow"):
        one.tell(0, value={"age": Between(1, 90)})
    with pytest.raises(AnswerError, match="has no order"):
        one.tell(2, value={"city": Between("A", "B")})
    assert seen(one) == before


def test_a_dataset_refuses_ranges_without_candidates() -> None:
    data = session().data
    with pytest.raises(DataError, match="no candidate of row 1 lies in the ranges of columns"):
        data.given(1, {0: Between(9e9)})
