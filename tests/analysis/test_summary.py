"""Facts about a table and advice in words."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from analysis.facts_of_a_table import FACTS
from analysis.samples import random_table

from cpclean import CleaningSession, CPCleanError, IncompleteDataset, is_certain
from cpclean.analysis.advice import advice
from cpclean.analysis.beside import BOOSTING
from cpclean.analysis.column_effects import ColumnEffect
from cpclean.analysis.summary import summary, worlds_text

# -- facts -----------------------------------------------------------------------------------------


def test_summary_counts_what_is_there():
    table, points = random_table(0)
    frame = pd.DataFrame(points, columns=["a", "b", "c"])
    y = np.zeros(len(points), dtype=int)
    session = CleaningSession(table, frame, y_val=y)
    facts = summary(session)
    assert (facts.rows, facts.columns) == (7, 3)
    assert facts.rows_with_holes == 3
    assert facts.cells_missing == table.holes.sum()
    assert facts.worlds == str(table.dataset.n_worlds)
    assert facts.points == 12
    assert facts.certain_share == is_certain(table.dataset, points).mean()
    assert facts.mean_entropy == session.mean_entropy
    assert facts.accuracy == session.accuracy()
    assert facts.majority in (0.0, 1.0)  # all points have the one label
    assert facts.first_rows == tuple(one.row for one in session.ask(10))
    assert facts.expected_fall == pytest.approx(sum(one.gain for one in session.ask(10)))
    assert facts.rows_that_help == (session.gains() > 0).sum()


def test_summary_without_labels_knows_no_accuracy():
    table, points = random_table(0)
    facts = summary(CleaningSession(table, pd.DataFrame(points, columns=list("abc"))))
    assert facts.accuracy is None
    assert facts.majority is None


def test_a_dataset_has_no_summary():
    data = IncompleteDataset([[[0.0], [5.0]], [[6.0]]], ["a", "b"])
    with pytest.raises(CPCleanError, match="is about a table; this session cleans a dataset"):
        summary(CleaningSession(data, [[0.0]], n_neighbors=1))


def test_worlds_text():
    assert worlds_text(1) == "1"
    assert worlds_text(999_999) == "999999"
    assert worlds_text(10**6) == "10^6.0"
    assert worlds_text(5**9000) == "10^6290.7"  # more digits than Python prints


# -- advice ----------------------------------------------------------------------------------------


def told(effects=(), **changes):
    facts = replace(FACTS, **changes)
    if not facts.points_with_holes:
        facts = replace(facts, certain=round(facts.certain_share * facts.points))
    if not facts.until_sure:
        facts = replace(facts, settled=facts.certain, settled_share=facts.certain_share)
    return " ".join(advice(facts, effects))


def test_points_with_holes_may_differ_though_no_answer_matters():
    text = told(points_with_holes=9, certain=50, certain_share=1.0)
    assert text.startswith("No answer can change any of the 50 predictions, however the holes of")
    assert "the same in every world" not in text
    text = told(points_with_holes=9, certain=30, certain_share=0.95)
    assert text.startswith("20 of 50 predictions depend on what is missing in the training rows.")


def effect(name, share, holes=5):
    return ColumnEffect(name, "numeric", holes, share, share, share)


def test_advice_where_nothing_is_to_be_done():
    assert told(cells_missing=0).startswith("The table has no holes")
    text = told(certain_share=1.0)
    assert "nothing has to be cleaned for their sake" in text
    assert "answer" not in text


def test_advice_by_the_share_that_is_certain():
    assert told(certain_share=0.98).startswith("Nearly all predictions are certain; one is not.")
    assert "certain; 3 are not. Clean what they depend on" in told(certain_share=0.94)
    assert told().startswith("15 of 50 predictions depend on what is missing.")
    assert told(points=4, certain_share=0.75).startswith("1 of 4 predictions depends on what")
    assert told(certain_share=0.2).startswith("40 of 50 predictions depend on")


def test_a_few_answers_are_not_spoken_ill_of_where_they_are_worth_giving():
    will_not = "A few answers will not settle that"
    assert will_not in told(certain_share=0.2, expected_fall=0.01)
    assert will_not not in told(certain_share=0.2, expected_fall=0.04)
    assert will_not not in told(certain_share=0.7, expected_fall=0.01)


def test_advice_about_rows():
    assert "Only 12 of the 20 rows with holes" in told()
    assert "Only" not in told(rows_that_help=20)
    assert "Only" not in told(rows_that_help=19)  # the one other is not worth a word
    assert "4 answers about rows 4, 7, 9, ..., are expected to remove about 40%" in told()
    assert "An answer about row 4 is expected" in told(first_rows=(4,))
    assert "Only 1 of the 20 rows with holes is expected to help" in told(rows_that_help=1)
    assert "to remove nearly all of the doubt" in told(expected_fall=0.0999)
    assert "to remove less than 1% of the doubt" in told(expected_fall=0.0001)
    assert "2 answers about rows 4 and 7 are expected" in told(first_rows=(4, 7))
    assert "3 answers about rows 4, 7 and 9 are expected" in told(first_rows=(4, 7, 9))


def test_rows_that_bring_nothing_are_not_named_first():
    for seed in range(20):
        table, points = random_table(seed)
        session = CleaningSession(table, pd.DataFrame(points, columns=list("abc")))
        asked = [question.row for question in session.ask(10) if question.gain > 1e-12]
        assert summary(session).first_rows == tuple(asked)


def test_a_share_reads_100_percent_only_if_it_is():
    assert "right for nearly all of these rows (>99.9%)" in told(accuracy=0.9999)
    assert "right for all of these rows (100%)" in told(accuracy=1.0)


def test_advice_about_columns():
    assert "Column 'b' matters most" in told([effect("a", 0.71), effect("b", 0.9)])
    assert "Of the columns, 'b' matters most" in told([effect("a", 0.71), effect("b", 0.8)])
    assert "No single column makes much difference" in told([effect("a", 0.71), effect("b", 0.7)])
    assert "olumn" not in told([effect("a", 0.9), effect("b", 0.7, holes=0)])
    both = [effect("a", 0.71), effect("b", 0.9)]
    clean = "about nine in ten (90.0%) of the predictions would be certain"
    assert f"{clean}." in told(both)
    assert f"{clean}, with every way of filling" in told(both, points_with_holes=3)


def test_advice_about_accuracy():
    assert "right for about four in five of these rows (80.0%) before any cleaning." in told()
    text = told(accuracy=0.5)
    assert "always predicting the most frequent label for about half (50.0%)" in text
    assert "as long as it has its holes, the table says little about the label" in text
    certain = told(accuracy=0.4, majority=0.8)
    assert "whatever the holes hold, the table says little about the label" in certain
    others = {BOOSTING: 0.9}
    text = "\n".join(advice(replace(FACTS, accuracy=0.5, points=200), (), others))
    assert "it hardly uses what the table says about the label, and another model does." in text
    assert "the table says little" not in text
    text = "\n".join(advice(replace(FACTS, accuracy=0.5, points=20), (), {BOOSTING: 0.6}))
    assert "the table says little about the label" in text, "0.6 may be chance"
    assert "right for" not in told(accuracy=None, majority=None)
