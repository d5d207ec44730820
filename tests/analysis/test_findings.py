"""What a report says, before anything is drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cpclean import CleaningSession, IncompleteDataset, IncompleteTable
from cpclean.analysis.course_words import (
    comparison_in_numbers,
    comparison_in_words,
    course_in_words,
    progress_in_words,
)
from cpclean.analysis.findings import MOST_GAINS, Scope, findings
from cpclean.analysis.forecast import Comparison, Course
from cpclean.analysis.missing import missing
from cpclean.analysis.predictions import Predictions
from cpclean.analysis.verdict import key_numbers, verdict


def course(shares: list[float], *needed: int | None, first: int = 0) -> Course:
    mean = np.array(shares)
    return Course(first + np.arange(len(mean)), mean, mean, mean, len(needed), needed)


def test_findings_are_those_of_the_session(session: CleaningSession, tables: Any) -> None:
    steps: list[str] = []
    found = findings(session, Scope(n_rows=2, truth=tables[1], n_random=1, progress=steps.append))
    view = session.view
    assert found.predictions.certain.tolist() == session.certain.tolist()
    assert found.accuracy is not None
    assert found.accuracy.all == session.accuracy()
    assert [one.row for one in found.reasons] == [one.row for one in view.best_questions(2)]
    assert len(found.gains) == MOST_GAINS
    assert found.comparison is not None
    assert found.comparison.random.runs == 1
    assert [one.name for one in found.columns] == ["age", "income", "city"]
    assert sum(one.rows for one in found.classes) == session.data.n_rows
    assert steps[0] == "asking ahead"
    assert "simulating" in steps


def test_a_dataset_has_neither_columns_nor_advice() -> None:
    data = IncompleteDataset([[[0.0], [5.0]], [[1.0], [7.0]], [[6.0]]], ["a", "b", "b"])
    found = findings(CleaningSession(data, [[0.0], [4.0]], n_neighbors=1))
    assert (found.is_table, found.columns, found.advice, found.effects) == (False, [], [], [])
    assert found.missing is None
    assert found.n_columns == 1


def some_data() -> IncompleteDataset:
    return IncompleteDataset([[[0.0], [5.0]], [[1.0]], [[6.0]]], ["a", "b", "b"])


@pytest.mark.parametrize(
    ("certain", "told"),
    [
        ([True], "The only prediction is certain: it is the same however the holes are filled."),
        ([True, True], "All 2 predictions are certain: they are the same however the remaining"),
        ([False], "The only prediction is open: it depends on what is missing."),
        ([False, False],
         "0 of 2 predictions (0%) are certain: every one depends on what is missing."),
        ([True, False],
         "1 of 2 predictions (50.0%) is certain: it is the same however the holes are filled. "
         "The other one depends on what is missing."),
        ([True, True, False, False],
         "2 of 4 predictions (50.0%) are certain: they are the same however the holes are filled. "
         "The other 2 depend on what is missing."),
    ],
)  # fmt: skip
def test_verdicts(certain: list[bool], told: str) -> None:
    shares = np.full((len(certain), 2), 0.5)
    found = Predictions(shares, np.array(certain))
    assert verdict(found, course([0.5, 0.8], None), some_data()).startswith(told)


def test_a_verdict_says_how_many_answers_are_expected() -> None:
    found = Predictions(np.full((2, 2), 0.5), np.array([True, False]))
    told = verdict(found, course([0.5, 1.0], 1, 1), some_data())
    assert told.endswith("About 1 more answer is expected to settle it; 1 row has holes.")
    found = Predictions(np.full((2, 2), 0.5), np.array([False, False]))
    told = verdict(found, course([0.5, 0.8, 1.0], 1, 2), some_data())
    assert "About 1 to 2 more answers are expected to settle all of them;" in told
    assert "expected" not in verdict(found, course([0.5, 0.8], 1, None), some_data())


def test_key_numbers() -> None:
    found = Predictions(np.full((2, 2), 0.5), np.array([True, False]))
    numbers = key_numbers(found, course([0.5, 1.0], 1), some_data(), None)
    assert [(one.value, one.exponent) for one in numbers] == [
        ("50.0%", None), ("1", None), ("2", None), ("100%", None)
    ]  # fmt: skip
    assert numbers[-1].words == "expected to be certain after 1 more answer"
    many = IncompleteDataset([[[0.0], [1.0]]] * 40, [0, 1] * 20)
    worlds = key_numbers(found, course([0.5], 0), many, None)[2]
    assert (worlds.value, worlds.exponent) == ("10", "12.0")


def test_progress_in_words() -> None:
    assert progress_in_words([0.5], 0) == "Before any answer, 50.0% of the predictions are certain."
    assert (
        progress_in_words([0.5, 0.5], 1) == "After 1 answer the certain share is 50.0%, as before."
    )
    told = progress_in_words([0.5, 0.6, 0.7], 2, course([0.7, 0.9], None, first=2))
    assert told == (
        "After 2 answers the certain share went from 50.0% to 70.0%. After 1 more answer, 90.0% "
        "are expected to be certain, if answers are as likely as the prior says."
    )
    assert progress_in_words([], 0) == ""


def test_courses_in_words() -> None:
    assert "nothing more to ask" in course_in_words(course([1.0], 0))
    whole = course_in_words(course([0.5, 1.0], 1, 1))
    assert whole.startswith("The dashed line is an estimate: 2 copies of the session went on")
    cut = course_in_words(course([0.5, 0.6], None))
    assert cut.endswith("The estimate was cut short after 1 answer to save time.")


def test_comparisons_in_words_and_numbers() -> None:
    whole = Comparison(course([0.5, 0.8, 1.0], 2), course([0.5, 0.6, 0.7, 0.8, 1.0], 4, 4))
    assert comparison_in_words(whole) == (
        "With the true answers, this order needs 2 more answers; random order needs 4 on average."
    )
    assert comparison_in_numbers(whole) == [
        ("60.0%", "1", "1"), ("70.0%", "1", "2"), ("80.0%", "1", "3"), ("90.0%", "2", "4"),
        ("95.0%", "2", "4"), ("99.0%", "2", "4"), ("100%", "2", "4"),
    ]  # fmt: skip
    cut = Comparison(course([0.5, 0.8], None), course([0.5, 0.6], None))
    assert comparison_in_words(cut) == (
        "1 more true answer makes 80.0% of the predictions certain in this order and 60.0% in "
        "random order."
    )
    assert comparison_in_numbers(cut)[-1] == ("100%", "more than 1", "more than 1")


def test_where_the_holes_are(tables: Any) -> None:
    table = IncompleteTable(tables[0], label="buys")
    found = missing(table)
    shares = dict(zip(table.names, table.holes.mean(axis=0), strict=True))
    assert {one.name: one.share for one in found.columns} == shares
    assert sum(one.rows for one in found.together) == table.holes.any(axis=1).sum() == found.n_rows
    assert found.columns_in_words.startswith("3 of 3 columns have holes. age has the most: 2")
    assert found.together_in_words.endswith(f"of missing columns in {found.n_rows} rows.")
