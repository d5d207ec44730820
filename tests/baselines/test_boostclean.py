"""BoostClean: weights, errors and says computed by hand, and the methods it chooses from."""

from __future__ import annotations

from math import log, sqrt
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.impute import SimpleImputer

from cpclean import IncompleteDataset, IncompleteTable
from cpclean.baselines.boostclean import BoostClean, boost
from cpclean.baselines.source import source_of
from cpclean.baselines.versions import read_versions, versions_of
from cpclean.data.points import Points
from cpclean.data.task import Task
from cpclean.errors import DataError, TableError


def wrong_at(*places: set[int], size: int) -> np.ndarray[Any, Any]:
    return np.array([[point in one for point in range(size)] for one in places])


# -- boosting alone -------------------------------------------------------------------------------


def test_four_rounds_by_hand() -> None:
    rounds = boost(wrong_at({0}, {1, 2}, {0, 3, 4}, size=5), 2, 4)
    assert [one.version for one in rounds] == [0, 1, 0, 1]
    assert [one.error for one in rounds] == pytest.approx([1 / 5, 1 / 4, 1 / 3, 3 / 8])
    assert [one.alpha for one in rounds] == pytest.approx([log(4), log(3), log(2), log(5 / 3)])
    expected = [
        [1 / 2, 1 / 8, 1 / 8, 1 / 8, 1 / 8],
        [1 / 3, 1 / 4, 1 / 4, 1 / 12, 1 / 12],
        [1 / 2, 3 / 16, 3 / 16, 1 / 16, 1 / 16],
        [2 / 5, 1 / 4, 1 / 4, 1 / 20, 1 / 20],
    ]
    for one, weights in zip(rounds, expected, strict=True):
        assert one.weights.tolist() == pytest.approx(weights)


def test_weights_go_up_where_wrong_and_down_elsewhere_before_they_are_renormalised() -> None:
    # e = 1/5: times sqrt(4) and 1 / sqrt(4), so 0.4 and four times 0.1: 0.8 in all
    (first,) = boost(wrong_at({0}, size=5), 2, 1)
    up, down = 0.2 * sqrt(4), 0.2 / sqrt(4)
    assert first.weights.tolist() == pytest.approx([up / 0.8, *[down / 0.8] * 4])


def test_samme_adds_the_logarithm_of_the_other_classes() -> None:
    # half of the points wrong: of three classes that is better than chance, ln 1 + ln 2
    (first,) = boost(wrong_at({0, 1}, size=4), 3, 1)
    assert first.alpha == pytest.approx(log(2))
    assert first.weights.tolist() == pytest.approx([1 / 3, 1 / 3, 1 / 6, 1 / 6])
    (first,) = boost(wrong_at({0}, size=4), 4, 1)
    assert first.alpha == pytest.approx(log(3) + log(3))
    assert first.weights.tolist() == pytest.approx([3 / 4, 1 / 12, 1 / 12, 1 / 12])


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_afterwards_the_taken_one_is_as_wrong_as_chance(n_classes: int) -> None:
    wrong = np.random.default_rng(n_classes).random((6, 40)) < 0.3
    rounds = boost(wrong, n_classes, 8)
    assert len(rounds) > 1
    for one in rounds:
        assert one.weights.sum() == pytest.approx(1.0)
        assert one.weights[wrong[one.version]].sum() == pytest.approx(1 - 1 / n_classes)


def test_without_error_one_decides_alone() -> None:
    (only,) = boost(wrong_at({0}, set(), {1}, size=3), 2, 5)
    assert (only.version, only.error, only.alpha) == (1, 0.0, 1.0)
    assert only.weights.tolist() == pytest.approx([1 / 3] * 3)


def test_chance_ends_the_boosting() -> None:
    # one classifier: after its round it is as good as chance, and is not taken again
    assert len(boost(wrong_at({0}, size=5), 2, 5)) == 1
    # no better than chance from the start: taken nonetheless, once
    (only,) = boost(wrong_at({0, 1}, {0, 1, 2}, size=4), 2, 5)
    assert (only.version, only.error, only.alpha) == (0, 0.5, 1.0)
    # of three classes, two thirds wrong is chance
    (only,) = boost(wrong_at({0, 1}, size=3), 3, 5)
    assert only.alpha == 1.0
    (only,) = boost(wrong_at({0, 1, 2}, size=3), 1, 5)  # labels of another kind; a single class
    assert only.alpha == 1.0


def test_of_equal_accuracy_the_earlier_is_taken() -> None:
    assert boost(wrong_at({0, 1, 2}, {7, 8, 9}, size=10), 2, 1)[0].version == 0
    rng = np.random.default_rng(0)
    for _ in range(50):
        # 9 points are wrong in the first round. The other two are wrong at 3 of these and 8 of the
        # rest: as much, but sums in another order differ by rounding.
        wrong = np.zeros((3, 37), dtype=bool)
        heavy, light = np.split(rng.permutation(37), [9])
        wrong[0, heavy] = True
        for one in wrong[1:]:
            one[rng.permutation(heavy)[:3]] = True
            one[rng.permutation(light)[:8]] = True
        assert [one.version for one in boost(wrong, 2, 2)] == [0, 1]


# -- with nearest neighbours ----------------------------------------------------------------------

# One neighbour. Points 0..5 are "a"; a row "a" stands at each, and a row "b" 0.4 to its right. A
# version that moves some of the rows "a" away is wrong at these points, and only there.
POINTS = np.arange(6.0)[:, None]


def moved(*places: int) -> np.ndarray[Any, Any]:
    rows = np.concatenate([np.arange(6.0), np.arange(6.0) + 0.4])
    rows[list(places)] += 100.0
    return rows[:, None]


VERSIONS = {"A": moved(0, 1), "B": moved(2, 3), "C": moved(4, 5)}
DATA = IncompleteDataset(
    [np.unique([VERSIONS[name][row] for name in "ABC"], axis=0) for row in range(12)],
    ["a"] * 6 + ["b"] * 6,
)


def test_three_rounds_outvote_each_others_errors() -> None:
    single = BoostClean(VERSIONS, rounds=1, n_neighbors=1)
    single.fit(DATA, X_val=POINTS, y_val=["a"] * 6)
    assert single.predict(POINTS).tolist() == ["b", "b", "a", "a", "a", "a"]
    method = BoostClean(VERSIONS, rounds=3, n_neighbors=1)
    method.fit(DATA, X_val=POINTS, y_val=["a"] * 6)
    assert [method.versions_[one.version].name for one in method.rounds_] == ["A", "B", "C"]
    # e = 1/3, then 1/4, then 1/6: each two say more than the third, ln 2 + ln 3 > ln 5
    assert [one.alpha for one in method.rounds_] == pytest.approx([log(2), log(3), log(5)])
    assert method.predict(POINTS).tolist() == ["a"] * 6
    assert method.score(POINTS, ["a"] * 6) == 1.0


def test_two_says_that_differ_go_to_the_larger() -> None:
    method = BoostClean(VERSIONS, rounds=2, n_neighbors=1)
    method.fit(DATA, X_val=POINTS, y_val=["a"] * 6)
    # A says ln 2, B ln 3: where they differ B decides
    assert method.predict(POINTS).tolist() == ["a", "a", "b", "b", "a", "a"]


def test_the_repair_is_the_version_of_the_first_round() -> None:
    method = BoostClean(VERSIONS, n_neighbors=1).fit(DATA, X_val=POINTS, y_val=["a"] * 6)
    assert method.repair(DATA).tolist() == VERSIONS["A"].tolist()
    with pytest.raises(DataError, match="repairs the data it was fitted to; got other data"):
        method.repair(DATA.pin(0, 0))


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_a_frame_is_repaired_without_its_labels(kind: Any) -> None:
    frame = kind({"x": [0.0, 2.0, 4.0, 10.0, None], "z": [1, 2, 3, 4, 5]})
    points = kind({"x": [0.0, 10.0], "z": [1, 4]})
    method = BoostClean(n_neighbors=1).fit(frame, list("aabbb"), X_val=points, y_val=["a", "b"])
    made = method.repair(frame)
    assert isinstance(made, kind)
    assert list(made["x"]) == [0.0, 2.0, 4.0, 10.0, 4.0]
    for other in (frame.head(4), kind({"x": [0.0, 2.0, 4.0, 9.0, None], "z": [1, 2, 3, 4, 5]})):
        with pytest.raises(DataError, match="repairs the data it was fitted to; got other data"):
            method.repair(other)


def test_a_repaired_frame_is_the_version_as_it_was_given() -> None:
    frame = pd.DataFrame({"x": [0.0, 2.0, 9.0, 8.0], "town": ["A", "B", None, None]})
    version = frame.assign(town=["A", "B", "C", None])
    method = BoostClean({"v": version}, n_neighbors=1)
    method.fit(frame, [0, 0, 1, 1], X_val=frame.head(2), y_val=[0, 0])
    assert method.repair(frame)["town"].tolist() == ["A", "B", "C", "absent"]


def test_versions_of_a_space_go_first() -> None:
    frame = pd.DataFrame({"x": [0.0, None, 9.0, 10.0], "same": 1})
    table = IncompleteTable(frame, ["a", "a", "b", "b"])
    known = {"low": table.encode(frame.assign(x=[0.0, 1.0, 9.0, 10.0]))}
    space = SimpleNamespace(task=Task.of(table, Points.of([[0.1]]), ["a"]), versions=known)
    method = BoostClean(n_neighbors=1).fit(space)
    assert [one.name for one in method.versions_] == ["low"]


# -- the methods to choose from -------------------------------------------------------------------


def test_the_papers_rules_for_numbers() -> None:
    frame = pd.DataFrame({"x": [0.0, 2.0, 4.0, 10.0, None], "z": [1, 2, 3, 4, 5]})
    table = IncompleteTable(frame, list("aabbb"))
    found = versions_of(source_of(table), "default")
    holes = {one.name: one.filled[0].values[4] for one in found if one.filled}
    assert holes == {"mean": 4.0, "min": 0.0, "25%": 1.5, "75%": 5.5, "max": 10.0}
    method = BoostClean(n_neighbors=1).fit(table, X_val=frame.head(4), y_val=list("aabb"))
    assert method.repair(table)["x"].tolist() == [0.0, 2.0, 4.0, 10.0, 4.0]


def test_rules_for_numbers_and_categories_are_combined() -> None:
    towns = ["A", "A", "A", "B", "B", "C", None]
    frame = pd.DataFrame({"town": towns, "x": [0.0, 2.0, 4.0, 6.0, 8.0, None, 10.0]})
    found = versions_of(source_of(IncompleteTable(frame, list("aaabbbb"))), "default")
    names = [one.name for one in found]
    # three towns: the 4th is "other" already, and equal versions count once
    assert len(names) == 5 * 4
    assert names[:5] == ["mean, most frequent", "mean, 2nd", "mean, 3rd", "mean, 4th",
                         "min, most frequent"]  # fmt: skip
    assert [repr(one.filled[0].values[6]) for one in found[:4] if one.filled] == [
        "'A'", "'B'", "'C'", "other",
    ]  # fmt: skip


def test_versions_as_imputers_frames_and_arrays() -> None:
    frame = pl.DataFrame({"x": [0.0, None, 4.0], "town": ["A", "B", None]})
    table = IncompleteTable(frame, ["a", "b", "b"])
    whole = pl.DataFrame({"x": [0.0, 1.0, 4.0], "town": ["A", "B", "nowhere"]})
    open_ = pl.DataFrame({"x": [0.0, 3.0, 4.0], "town": ["A", "B", None]})
    given = {"zero": SimpleImputer(strategy="constant", fill_value=0.0), "w": whole, "o": open_}
    zero, first, second = versions_of(source_of(table), given)
    town = table.space.features[1]
    assert town is not None
    assert zero.rows[1, 0] == 0.0
    assert (first.rows[1, 0], second.rows[1, 0]) == (0.25, 0.75)
    # a category that is empty or invented is no category: all zero
    assert not first.rows[2, town.start : town.stop].any()
    assert not second.rows[2, town.start : town.stop].any()
    names = [one.name for one in versions_of(source_of(table), [SimpleImputer(), whole])]
    assert names == ["SimpleImputer", "version 1"]
    data = IncompleteDataset([[[0.0], [1.0]], [[3.0]]], ["a", "b"])
    (imputed,) = versions_of(source_of(data), [SimpleImputer()])
    assert imputed.rows.tolist() == [[3.0], [3.0]]


def test_a_folder_of_versions(tmp_path: Path) -> None:
    for name in ("mean", "knn"):
        pd.DataFrame({"x": [1.0, 2.0]}).to_csv(tmp_path / f"{name}.csv", index=False)
    assert list(read_versions(tmp_path)) == ["knn", "mean"]
    with pytest.raises(DataError, match=r"nothing has no CSV files: name a folder with one"):
        read_versions(tmp_path / "nothing")


@pytest.mark.parametrize(
    ("repairs", "message"),
    [
        ("default", "an IncompleteDataset has no repair methods: pass repairs=, a dict"),
        ("mean", "repairs must be \"default\", a list of imputers.*got 'mean'"),
        ([], "repairs must have at least one version; got none"),
        ({"a": "mean"}, "version 'a' must be an imputer with fit_transform.*got str"),
        ({"a": np.zeros((3, 1))}, "version 'a' must have one row per training row, 12.*got 3"),
        ({"a": np.zeros((12, 2))}, r"version 'a' must have shape \(n_points, 1\)"),
        ({"a": moved() * np.nan}, "version 'a' must be finite"),
    ],
)
def test_bad_repairs(repairs: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        BoostClean(repairs, n_neighbors=1).fit(DATA, X_val=POINTS, y_val=["a"] * 6)


def test_bad_versions_of_a_table() -> None:
    frame = pd.DataFrame({"x": [0.0, None, 4.0], "z": [1, 2, 3]})
    table = IncompleteTable(frame, ["a", "b", "b"])
    for version, message in (
        (frame, r"version 'v' has holes in column 'x', row 1: fill them"),
        (frame.drop(columns="z"), r"version 'v' must have the columns of the table, 'x', 'z'; got"),
        (frame.head(1), r"version 'v' must have one row per row of the table, 3 in all; got 1"),
    ):
        with pytest.raises(TableError, match=message):
            versions_of(source_of(table), {"v": version})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, r"BoostClean needs validation points: fit\(data, X_val=..., y_val=...\)"),
        ({"X_val": POINTS}, "X_val and y_val belong together; got only one"),
        ({"X_val": POINTS[:0], "y_val": []}, "at least one validation point; got none"),
        ({"X_val": POINTS, "y_val": ["a"]}, "y_val must have one label per point, 6 in all; got 1"),
        ({"X_val": POINTS, "y_val": [0] * 6}, "y_val must have labels such as the data has, 'a'"),
    ],
)
def test_bad_validation_points(given: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        BoostClean(VERSIONS, n_neighbors=1).fit(DATA, **given)


def test_bad_rounds() -> None:
    with pytest.raises(DataError, match="rounds must be an int of at least 1; got 0"):
        BoostClean(VERSIONS, rounds=0).fit(DATA, X_val=POINTS, y_val=["a"] * 6)
