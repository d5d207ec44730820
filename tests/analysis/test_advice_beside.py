"""What is said about other models on the same rows, and when it may be chance."""

import re
import warnings
from dataclasses import replace

import pandas as pd
import pytest

from cpclean import CleaningSession, IncompleteTable
from cpclean.analysis.advice import advice
from cpclean.analysis.beside import BOOSTING, IMPUTED, accuracies_beside
from cpclean.analysis.summary import Summary, summary
from cpclean.analysis.words import words_first
from cpclean.data.task import Task


@pytest.fixture(scope="module")
def facts() -> Summary:
    frame = pd.DataFrame({"a": [1, 2, None, 4], "b": [1, 2, 3, 4], "y": ["n", "n", "y", "y"]})
    points = pd.DataFrame({"a": [1, 4], "b": [1, 4]})
    table = IncompleteTable(frame, label="y")
    session = CleaningSession(table, points, n_neighbors=1, y_val=["n", "y"])
    return replace(summary(session), points=1000, accuracy=0.8, majority=0.5)


@pytest.mark.parametrize(("boosting", "imputed", "told"), [
    (0.81, 0.7, "with 1,000 rows, the difference to the better of them may be chance"),
    (0.8, 0.7, "no more often than cpclean"),
    (0.9, 0.7, "true of a model that is less accurate on this table"),
    (0.7, 0.9, "more often than cpclean. Another space"),
    (0.6, 0.5, "less often than cpclean"),
])  # fmt: skip
def test_the_best_of_the_others(facts, boosting, imputed, told) -> None:
    (said,) = [
        one
        for one in advice(facts, (), {BOOSTING: boosting, IMPUTED: imputed})
        if "On the same rows" in one
    ]
    assert told in said
    assert f"gradient boosting is right for {words_first(boosting)}" in said


def test_nothing_without_labels(facts) -> None:
    said = advice(replace(facts, accuracy=None), (), {BOOSTING: 0.9})
    assert not any(re.search("same rows", one) for one in said)


def test_other_models_are_fitted_in_one_thread(monkeypatch):
    """Threads of gradient boosting wait for each other: among other work, twenty times as long."""
    from threadpoolctl import threadpool_info

    from cpclean.baselines.rivals import rival

    seen = []

    def watched(X, y):
        seen.append({one["num_threads"] for one in threadpool_info()})
        return rival(BOOSTING, X, y)

    watching = dict.fromkeys((BOOSTING, IMPUTED), watched)
    monkeypatch.setattr("cpclean.analysis.beside._MODELS", watching)
    frame = pd.DataFrame({"a": [1, 2, None, 4] * 9, "b": 1.0, "y": ["n", "n", "y", "y"] * 9})
    table = IncompleteTable(frame, label="y")
    task = Task.of(table, frame[["a", "b"]], frame["y"])
    assert set(accuracies_beside(task)) == {BOOSTING, IMPUTED}
    assert seen == [{1}, {1}]


def test_other_models_are_not_given_what_names_rows_or_says_nothing() -> None:
    names = [f"row {n}" for n in range(40)]
    sizes = [n % 2 + n / 100 for n in range(40)]
    frame = pd.DataFrame({"name": names, "size": sizes, "note": None, "y": list("ab") * 20})
    points = pd.DataFrame({"name": ["new"] * 4, "size": [0.1, 1.1, 0.2, 1.2], "note": "a remark"})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nothing is observed in "note"
        table = IncompleteTable(frame, label="y")
        task = Task.of(table, table.points(points[["name", "size", "note"]]), list("abab"))
    found = accuracies_beside(replace(task, raw_points=points))
    assert found == {BOOSTING: 1.0, IMPUTED: 1.0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        alone = IncompleteTable(frame[["name", "y"]], label="y")
        task = Task.of(alone, alone.points(points[["name"]]), list("abab"))
    assert accuracies_beside(replace(task, raw_points=points[["name"]])) == {}
