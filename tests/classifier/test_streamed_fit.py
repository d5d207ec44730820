"""Estimators fitted to a table of files predict as those fitted to the same table in memory."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from slow_cases import rest_slow
from streamed_files import as_arrow, mixed_frame, write_parquet

from cpclean import (
    CertainForestClassifier,
    CertainKNeighborsClassifier,
    IncompleteTable,
    LeafSpace,
    StreamedTable,
)

METHODS = ("predict", "predict_proba", "is_certain", "possible_labels", "is_sure", "verdicts")


@pytest.mark.parametrize("among_leaves", rest_slow([False, True]))
def test_predictions_are_those_of_the_table_in_memory(among_leaves: bool, tmp_path: Path) -> None:
    frame = mixed_frame(11, 130)
    space = LeafSpace(n_trees=10) if among_leaves else "plain"
    streamed = StreamedTable(write_parquet(frame, tmp_path), "y", space=space)
    table = IncompleteTable(as_arrow(frame), "y", space=space)
    model = CertainForestClassifier() if among_leaves else CertainKNeighborsClassifier()
    one, two = clone(model).fit(streamed), clone(model).fit(table)
    points = as_arrow(mixed_frame(12, 6).drop(columns="y"))
    for method in METHODS:
        found, expected = (getattr(fitted, method)(points) for fitted in (one, two))
        assert np.array_equal(found, expected), method
    assert np.array_equal(one.world_counts(points), two.world_counts(points))
    for name in ("n_neighbors_", "n_worlds_", "is_exact_", "n_features_in_"):
        assert getattr(one, name) == getattr(two, name), name
    assert one.classes_.tolist() == two.classes_.tolist()
    assert f"{streamed.n_dirty:,} of {len(frame):,} rows have holes" in one._repr_html_()
    again = pickle.loads(pickle.dumps(one))
    assert np.array_equal(again.predict_proba(points), one.predict_proba(points))


def test_a_task_has_the_rows_that_matter(tmp_path: Path) -> None:
    frame = mixed_frame(13, 90)
    streamed = StreamedTable(write_parquet(frame, tmp_path), "y")
    points = as_arrow(mixed_frame(14, 3).drop(columns="y"))
    fitted = CertainKNeighborsClassifier().fit(streamed)
    task = fitted.task(points)
    assert task.row_names.tolist() == task.table.rows_kept.tolist()  # type: ignore[union-attr]
    assert task.dataset.n_worlds == streamed.n_worlds
    assert 3 <= task.dataset.n_rows < len(frame)


def test_what_does_not_fit_is_refused_when_fitting(tmp_path: Path) -> None:
    streamed = StreamedTable(write_parquet(mixed_frame(15, 30), tmp_path), "y")
    with pytest.raises(ValueError, match="y must be None, because the StreamedTable has labels"):
        CertainKNeighborsClassifier().fit(streamed, ["no"] * 30)
    with pytest.raises(ValueError, match="a function, or distances that are given"):
        CertainKNeighborsClassifier(metric=lambda x, t: 0.0).fit(streamed)
    with pytest.raises(ValueError, match="n_neighbors must be an int in"):
        CertainKNeighborsClassifier(n_neighbors=31).fit(streamed)
