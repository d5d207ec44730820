"""The common face: what data may be, how points are given, and what is refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer

from cpclean import IncompleteDataset, IncompleteTable
from cpclean.baselines.activeclean import ActiveClean
from cpclean.baselines.boostclean import BoostClean
from cpclean.baselines.curves import CleaningCurve, checked_counts
from cpclean.baselines.estimator import label_codes
from cpclean.baselines.nan_neighbors import NanEuclideanNeighbors
from cpclean.baselines.random_clean import RandomClean
from cpclean.baselines.source import source_of
from cpclean.baselines.worlds import ClosestWorld, DefaultCleaning, GroundTruth, Imputed
from cpclean.data.points import Points
from cpclean.data.task import Task
from cpclean.errors import DataError, QueryError, TableError

# age 18..66 is scaled to 0..1; the mean of the known ones, 42, to 0.5. The same is never different,
# and has no place in the space.
FRAME = pd.DataFrame({"age": [18.0, None, 66.0, 42.0], "same": 1.0})
CLEAN = pd.DataFrame({"age": [18.0, 30.0, 66.0, 42.0], "same": 1.0})
LABELS = ["no", "no", "yes", "yes"]


@dataclass(frozen=True)
class Space:
    task: Task
    clean: Any


def small_table() -> IncompleteTable:
    return IncompleteTable(FRAME, LABELS, prior="uniform")


def small_space() -> Space:
    table = small_table()
    points = Points.of([[0.0], [1.0]])
    return Space(Task.of(table, points, ["no", "yes"]), table.encode(CLEAN))


EVERY = [
    GroundTruth(n_neighbors=1),
    ClosestWorld(n_neighbors=1),
    DefaultCleaning(n_neighbors=1),
    Imputed(SimpleImputer(), n_neighbors=1),
    NanEuclideanNeighbors(n_neighbors=1),
    RandomClean(n_runs=3, n_neighbors=1),
    BoostClean(n_neighbors=1),
    ActiveClean(),
]
each = pytest.mark.parametrize("method", EVERY, ids=lambda one: type(one).__name__)


@each
def test_one_line_compares_them_all_on_a_space(method: Any) -> None:
    space = small_space()
    fitted = clone(method).fit(space)
    points, labels = np.array([[0.05], [0.95]]), np.array(["no", "yes"])
    assert fitted.predict(points).tolist() == ["no", "yes"]
    assert fitted.score(points, labels) == 1.0
    assert fitted.score(points, labels[::-1]) == 0.0
    frame = pd.DataFrame(
        {"age": [20.0, 64.0], "same": 1.0}
    )  # a space takes raw points as frames too
    assert fitted.predict(frame).tolist() == ["no", "yes"]
    assert fitted.classes_.tolist() == ["no", "yes"]


@each
def test_a_method_must_be_fitted_first(method: Any) -> None:
    with pytest.raises(NotFittedError, match=r"not fitted yet"):
        clone(method).predict([[0.0]])
    with pytest.raises(NotFittedError, match=r"not fitted yet"):
        clone(method).score([[0.0]], ["no"])


@each
def test_parameters_stay_as_they_were_given(method: Any) -> None:
    before = {name: repr(value) for name, value in method.get_params().items()}
    fresh = clone(method).fit(small_space())
    assert {name: repr(value) for name, value in fresh.get_params().items()} == before


@pytest.mark.parametrize(
    "method", [one for one in EVERY if "n_neighbors" in one.get_params()], ids=repr
)
def test_impossible_neighbours_are_refused_when_fitting(method: Any) -> None:
    with pytest.raises(QueryError, match=r"n_neighbors must be an int in \[1, 4\].*got 5"):
        clone(method).set_params(n_neighbors=5).fit(small_space())


def test_precomputed_distances_are_refused() -> None:
    with pytest.raises(QueryError, match='metric must not be "precomputed"'):
        DefaultCleaning(metric="precomputed").fit(small_space())


def test_points_of_a_table_are_raw_and_those_of_a_dataset_encoded() -> None:
    by_table = DefaultCleaning(n_neighbors=1).fit(small_table())
    assert by_table.predict(pd.DataFrame({"age": [20.0], "same": 1.0})).tolist() == ["no"]
    by_dataset = DefaultCleaning(n_neighbors=1).fit(small_table().dataset)
    assert by_dataset.predict([[0.04]]).tolist() == ["no"]
    by_frame = DefaultCleaning(n_neighbors=1).fit(FRAME, LABELS)
    assert by_frame.predict(pd.DataFrame({"age": [20.0], "same": 1.0})).tolist() == ["no"]
    task = Task.of(small_table(), pd.DataFrame({"age": [20.0], "same": 1.0}), ["no"])
    by_task = DefaultCleaning(n_neighbors=1).fit(task)
    assert by_task.predict(pd.DataFrame({"age": [64.0], "same": 1.0})).tolist() == ["yes"]
    assert by_task.score(task.points, task.labels) == 1.0
    arrays = DefaultCleaning(n_neighbors=1).fit(FRAME.to_numpy(), LABELS)
    assert arrays.predict([[20.0, 1.0], [64.0, 1.0]]).tolist() == ["no", "yes"]


def test_labels_come_once() -> None:
    with pytest.raises(TableError, match=r"y must be None, because the IncompleteTable has labels"):
        source_of(small_table(), LABELS)
    with pytest.raises(TableError, match=r"labels as y; got DataFrame without y"):
        source_of(FRAME)


@pytest.mark.parametrize("points", [[[0.0, 1.0]], [0.0, 1.0]])
def test_points_of_another_width(points: Any) -> None:
    fitted = DefaultCleaning(n_neighbors=1).fit(small_space())
    with pytest.raises(DataError, match=r"X must have shape \(n_points, 1\).*got \((1, 2|2,)\)"):
        fitted.predict(points)


def test_points_with_holes() -> None:
    fitted = DefaultCleaning(n_neighbors=1).fit(small_space())
    with pytest.raises(DataError, match=r"X must be finite; got NaN or infinity at \(0, 0\)"):
        fitted.predict([[np.nan]])


def test_scores_may_be_weighted() -> None:
    fitted = DefaultCleaning(n_neighbors=1).fit(small_space())
    assert fitted.score([[0.0], [1.0]], ["no", "no"], sample_weight=[3, 1]) == 0.75


def test_labels_that_the_data_does_not_have() -> None:
    classes = np.array(["no", "yes"])
    assert label_codes(["yes", "maybe", "no"], classes, 3, "y").tolist() == [1, -1, 0]
    with pytest.raises(DataError, match=r"y must have labels such as .*'no', 'yes'; got 0, 1"):
        label_codes([0, 1], classes, 2, "y")
    with pytest.raises(DataError, match=r"y must have one label per point, 3 in all; got 2"):
        label_codes(["no", "yes"], classes, 3, "y")


def test_a_curve_has_a_mean_and_a_sample_deviation() -> None:
    curve = CleaningCurve(np.array([0, 5]), np.array([[0.5, 0.9], [0.5, 0.7], [0.5, 0.8]]))
    assert curve.mean.tolist() == pytest.approx([0.5, 0.8])
    assert curve.std.tolist() == pytest.approx([0.0, 0.1])
    assert CleaningCurve(np.array([0]), np.array([[0.5]])).std.tolist() == [0.0]


def test_counts() -> None:
    assert checked_counts(None, 25).tolist() == [0, 2, 5, 8, 10, 12, 15, 18, 20, 22, 25]
    assert checked_counts(None, 2).tolist() == [0, 1, 2]
    assert checked_counts(None, 0).tolist() == [0]
    assert checked_counts((0, 3), 3).tolist() == [0, 3]


@pytest.mark.parametrize("counts", [[4], [-1], [2, 1], [1, 1], [0.5], [True], []])
def test_counts_that_cannot_be(counts: Any) -> None:
    with pytest.raises(DataError, match=r"counts must be ascending ints in \[0, 3\] .*got \["):
        checked_counts(counts, 3)


def test_counts_that_are_no_sequence() -> None:
    with pytest.raises(DataError, match=r"counts must be a sequence of numbers.*got int"):
        checked_counts(3, 3)  # type: ignore[arg-type]


def test_data_without_holes_is_welcome() -> None:
    data = IncompleteDataset([[[0.0]], [[1.0]]], ["a", "b"])
    assert RandomClean(truth=[0, 0], n_neighbors=1).fit(data).scores([[0.2]], ["a"]).mean == [1.0]
    assert ActiveClean(truth=[0, 0]).fit(data).scores([[0.2]], ["a"]).mean.tolist() == [1.0]
    assert NanEuclideanNeighbors(n_neighbors=1).fit(data).predict([[0.9]]).tolist() == ["b"]


def test_points_with_holes_are_refused() -> None:
    data = IncompleteDataset([[[0.0], [5.0]], [[1.0]], [[6.0]]], ["a", "b", "b"])
    points = Points([[[0.0]], [[1.0], [2.0]]])
    with pytest.raises(DataError, match="X must be complete here; point 1 has several completions"):
        DefaultCleaning(n_neighbors=1).fit(data).predict(points)
