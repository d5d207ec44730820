"""Several imputations as candidates, with their frequencies as the prior; real libraries."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, SimpleImputer

from cpclean import CertainKNeighborsClassifier, IncompleteTable, world_shares
from cpclean.errors import TableError


def table_with_holes(seed: int, n_rows: int = 12) -> tuple[pd.DataFrame, np.ndarray]:
    """A frame with holes in two columns of three, on a coarse grid, and labels."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "a": rng.integers(0, 3, n_rows).astype(float),
            "c": rng.choice(list("xyz"), n_rows),
            "b": rng.integers(0, 3, n_rows).astype(float),
        }
    )
    frame.loc[rng.random(n_rows) < 0.4, "a"] = None
    frame.loc[rng.random(n_rows) < 0.4, "c"] = None
    return frame, np.arange(n_rows) % 2


def completed(frame: pd.DataFrame, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    other = frame.copy()
    other["a"] = frame["a"].fillna(pd.Series(rng.integers(0, 2, len(frame)).astype(float)))
    other["c"] = frame["c"].fillna(pd.Series(rng.choice(list("xy"), len(frame))))
    return other


def counted(frame: pd.DataFrame, versions: list[pd.DataFrame], row: int) -> dict[tuple, float]:
    """Brute force: which values the holes of a row have in the versions, and how often."""
    holes = [name for name in frame if pd.isna(frame[name].iloc[row])]
    times = Counter(tuple(one[name].iloc[row] for name in holes) for one in versions)
    return {values: n / len(versions) for values, n in times.items()}


def proposed(table: IncompleteTable, row: int) -> dict[tuple, float]:
    prior = table.dataset.prior(row).tolist()
    names = [tuple(one.values()) for one in table.candidates(row)]
    assert len(set(names)) == len(names)
    return dict(zip(names, prior, strict=True))


@pytest.mark.parametrize("seed", range(8))
def test_equal_values_merge_and_their_frequency_is_the_prior(seed):
    frame, labels = table_with_holes(seed)
    versions = [completed(frame, 10 * seed + number) for number in range(7)]
    table = IncompleteTable(frame, labels, repairs=versions, prior="frequency")
    assert len(table.dataset.dirty_rows)
    for row in table.dataset.dirty_rows.tolist():
        assert proposed(table, row) == pytest.approx(counted(frame, versions, row))


@pytest.mark.parametrize("seed", range(4))
def test_shares_of_worlds_are_those_of_all_choices_of_versions(seed):
    frame, labels = table_with_holes(seed, n_rows=5)
    frame.loc[1:, "a"] = [1.0, 0.0, 2.0, 1.0]  # few rows with holes: every world can be looked at
    frame.loc[2:, "c"] = ["x", "z", "y"]
    frame.loc[0, "a"] = None
    versions = [completed(frame, 10 * seed + number) for number in range(4)]
    table = IncompleteTable(frame, labels, repairs=versions, prior="frequency", weights={"c": 0})
    point = np.array([[0.4, 1.0]])
    points = pd.DataFrame({"a": point[:, 0], "c": ["x"], "b": point[:, 1]})
    scaled = [pd.concat([one["a"], frame["b"]], axis=1).to_numpy() for one in versions]
    low, high = np.nanmin(frame[["a", "b"]], axis=0), np.nanmax(frame[["a", "b"]], axis=0)
    scale = np.where(high > low, high - low, 1)
    votes = np.zeros(2)
    for number in range(4):  # row 0 is the only one with a hole that counts
        rows = np.vstack([scaled[number][:1], scaled[0][1:]])
        near = np.argmin((((rows - point) / scale) ** 2).sum(axis=1))
        votes[labels[near]] += 1 / 4
    assert world_shares(table, points, n_neighbors=1)[0] == pytest.approx(votes)


def test_iterative_imputer_with_posterior_samples():
    frame, labels = table_with_holes(3, 40)
    frame = frame.assign(c=frame["c"].fillna("x"), b=frame["b"] + 0.1 * frame.index)
    numbers = frame[["a", "b"]]
    imputers = [
        IterativeImputer(sample_posterior=True, random_state=seed, min_value=0, max_value=2)
        for seed in range(6)
    ]
    # Posterior samples are rounded to whole values, as one would for counts: several are equal.
    frames = [
        frame.assign(a=np.round(imputer.fit_transform(numbers)[:, 0])) for imputer in imputers
    ]
    table = IncompleteTable(frame, labels, repairs=frames, prior="frequency")
    merged = 0
    for row in table.dataset.dirty_rows.tolist():
        expected = counted(frame, frames, row)
        assert proposed(table, row) == pytest.approx(expected)
        merged += len(expected) < 6
    assert merged
    # The imputers themselves, fitted to the table: every sample is another value.
    given = IncompleteTable(frame[["a", "b"]], labels, repairs=imputers, prior="frequency")
    filled = [imputer.fit_transform(numbers) for imputer in imputers]
    for row in given.dataset.dirty_rows.tolist():
        expected = Counter(round(one[row, 0], 9) for one in filled)
        actual = {round(value, 9): share for (value,), share in proposed(given, row).items()}
        assert actual == pytest.approx({value: n / 6 for value, n in expected.items()})


def test_miceforest():
    mf = pytest.importorskip("miceforest")
    frame, labels = table_with_holes(5, 60)
    kernel = mf.ImputationKernel(
        frame.astype({"c": "category"}),
        num_datasets=5,
        random_state=1,
        mean_match_candidates=3,
        mean_match_strategy="shap",
    )
    kernel.mice(1, num_threads=1, min_data_in_leaf=5)
    frames = [kernel.complete_data(dataset=number) for number in range(5)]
    table = IncompleteTable(frame, labels, repairs=frames, prior="frequency")
    rows = table.dataset.dirty_rows.tolist()
    for row in rows:
        assert proposed(table, row) == pytest.approx(counted(frame, frames, row))
    assert any(0.2 < max(proposed(table, row).values()) < 1 for row in rows)


def test_frames_of_other_libraries_and_arrays():
    frame, labels = table_with_holes(1)
    frame["c"] = frame["c"].fillna("x")
    versions = [completed(frame, number) for number in range(5)]
    expected = IncompleteTable(frame, labels, repairs=versions, prior="frequency")
    others = [pl.from_pandas(one) for one in versions]
    arrays = [one[["a", "b"]].to_numpy() for one in versions]
    table = IncompleteTable(pl.from_pandas(frame), labels, repairs=others, prior="frequency")
    two = IncompleteTable(frame[["a", "b"]], labels, repairs=arrays, prior="frequency")
    for row in expected.dataset.dirty_rows.tolist():
        assert proposed(table, row) == proposed(expected, row) == proposed(two, row)


def test_rows_without_a_label_and_other_columns():
    frame, labels = table_with_holes(2)
    versions = [completed(frame, number).assign(extra=1) for number in range(3)]
    frame["y"] = labels.astype(float)
    frame.loc[[0, 5], "y"] = None
    table = IncompleteTable(
        frame, label="y", repairs=versions, prior="frequency", drop_unlabelled=True
    )
    assert len(table.rows_kept) == 10
    for row in table.dataset.dirty_rows.tolist():
        number = int(table.rows_kept[row])
        features = frame.drop(columns="y")
        assert proposed(table, row) == pytest.approx(counted(features, versions, number))


def test_estimators_take_them():
    frame, labels = table_with_holes(4)
    versions = [completed(frame, number) for number in range(3)]
    model = CertainKNeighborsClassifier(n_neighbors=1, repairs=versions, prior="frequency")
    model.fit(frame, labels)
    row = int(model.table_.dataset.dirty_rows[0])
    assert proposed(model.table_, row) == pytest.approx(counted(frame, versions, row))


def test_imputers_and_completed_frames_together():
    frame = pd.DataFrame({"a": [1.0, None, 3.0], "b": [1.0, 2.0, 3.0]})
    ones = [SimpleImputer(), SimpleImputer(strategy="median"), frame.fillna(3.0)]
    table = IncompleteTable(frame, [0, 1, 0], repairs=ones, prior="frequency")
    assert proposed(table, 1) == pytest.approx({(2.0,): 2 / 3, (3.0,): 1 / 3})
    same = IncompleteTable(frame, [0, 1, 0], repairs=ones, prior="uniform")
    assert proposed(same, 1) == {(2.0,): 0.5, (3.0,): 0.5}


def test_a_doubted_cell_keeps_its_value_as_a_candidate():
    frame, labels = table_with_holes(4)
    frame.loc[0, "a"] = 2.0
    versions = [completed(frame, number) for number in range(3)]
    for one in versions:
        one.loc[0, "a"] = 0.0
    table = IncompleteTable(frame, labels, repairs=versions, prior="frequency", suspects=[(0, "a")])
    assert [one["a"] for one in table.candidates(0)][:1] == [2.0]
    assert {one["a"] for one in table.candidates(0)} == {2.0, 0.0}


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda one: one.drop(columns="a"), r"frame 1 of repairs lacks column 'a', which"),
        (lambda one: one.iloc[1:], r"the rows of the table, in the same order; it has 11"),
        (lambda one: one.iloc[::-1], r"says .* in row \d+, column '.', where the table has"),
        (lambda one: one.assign(a=None), r"no value for the hole in row .*, column 'a'"),
        (lambda one: one.assign(a="x"), r"column 'a' is numeric in the training table"),
    ],
    ids=["column", "rows", "order", "holes", "kind"],
)  # fmt: skip
def test_frames_that_do_not_fit_are_refused(change, match):
    frame, labels = table_with_holes(6)
    versions = [completed(frame, 1), change(completed(frame, 2))]
    with pytest.raises(TableError, match=match):
        IncompleteTable(frame, labels, repairs=versions, prior="frequency")


def test_frequencies_need_something_to_count():
    frame, labels = table_with_holes(6)
    with pytest.raises(TableError, match=r"repairs must be a list of imputers or of completed"):
        IncompleteTable(frame, labels, prior="frequency")
    with pytest.raises(TableError, match=r"frequency \(for all columns, with imputers"):
        IncompleteTable(frame, labels, prior={"a": "frequency"})
    with pytest.raises(TableError, match="or be completed frames; got 3"):
        IncompleteTable(frame, labels, repairs=[3])
