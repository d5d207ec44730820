"""Worlds that methods make, against what they should be by hand."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.impute import KNNImputer, SimpleImputer

from cpclean import IncompleteDataset, IncompleteTable
from cpclean.baselines.filling import by_rule, with_holes
from cpclean.baselines.source import source_of
from cpclean.baselines.worlds import ClosestWorld, DefaultCleaning, GroundTruth, Imputed
from cpclean.cleaning.truth import closest_candidates
from cpclean.data.spaces.plain import UnseenCategoryWarning
from cpclean.errors import DataError, TableError
from cpclean.experiments.fresh import Sizes, fresh_space, generated_table

COLUMNS = {
    "size": [1, None, 4, 7],
    "town": ["B", "A", None, "A"],
    "flag": [True, True, False, None],
}
TRUTH = {"size": [1, 3, 4, 7], "town": ["B", "A", "C", "A"], "flag": [True, True, False, False]}
LABELS = ["n", "n", "p", "p"]


def mixed(prior: str = "uniform", **more: Any) -> IncompleteTable:
    return IncompleteTable(pd.DataFrame(COLUMNS), LABELS, prior=prior, **more)


def test_default_cleaning_is_mean_and_mode() -> None:
    made = DefaultCleaning().repair(mixed())
    assert made["size"].tolist() == [1.0, 4.0, 4.0, 7.0]
    assert made["town"].tolist() == ["B", "A", "A", "A"]
    assert made["flag"].tolist() == [True, True, False, True]
    assert not made.isna().any().any()


def test_a_mean_between_whole_numbers_makes_a_column_of_floats() -> None:
    table = IncompleteTable(
        pd.DataFrame({"size": pd.array([1, 2, None], "Int64"), "x": 1}), [0, 1, 1]
    )
    assert DefaultCleaning().repair(table)["size"].tolist() == [1.0, 2.0, 1.5]


def test_of_categories_as_frequent_the_first_by_text() -> None:
    table = IncompleteTable(pd.DataFrame({"town": ["B", "A", None], "x": [1, 2, 3]}), [0, 1, 1])
    assert DefaultCleaning().repair(table)["town"].tolist() == ["B", "A", "A"]


def test_the_repaired_frame_is_of_the_same_library_with_its_label() -> None:
    frame = pl.DataFrame({**COLUMNS, "y": LABELS})
    made = DefaultCleaning().repair(IncompleteTable(frame, "y", prior="uniform"))
    assert isinstance(made, pl.DataFrame)
    assert made.columns == frame.columns
    assert made["y"].to_list() == LABELS
    assert made["size"].to_list() == [1.0, 4.0, 4.0, 7.0]


def test_a_frame_alone_is_repaired_in_all_its_columns() -> None:
    frame = pd.DataFrame({**COLUMNS, "y": LABELS})
    made = DefaultCleaning().repair(frame)
    assert made.columns.tolist() == frame.columns.tolist()
    assert made["size"].tolist() == [1.0, 4.0, 4.0, 7.0]
    assert made["y"].tolist() == LABELS
    truth = pd.DataFrame({**TRUTH, "town": ["B", "A", "B", "A"]})
    assert ClosestWorld(truth).repair(frame[list(COLUMNS)])["size"][1] == 2.5
    with pytest.raises(TableError, match=r"a table must be a dataframe or have two dimensions"):
        DefaultCleaning().repair([1.0, 2.0])


def test_dates() -> None:
    days = [datetime(2020, 1, 1), datetime(2020, 1, 3), None]
    table = IncompleteTable(pd.DataFrame({"day": days, "x": 1}), [0, 1, 1])
    assert DefaultCleaning().repair(table)["day"][2] == datetime(2020, 1, 2)


def test_doubted_cells_stay_but_teach_nothing() -> None:
    frame = pd.DataFrame({"size": [1.0, 3.0, 100.0, None], "x": [1.0, 2.0, 3.0, 4.0]})
    table = IncompleteTable(frame, [0, 0, 1, 1], suspects=[(2, "size")])
    assert DefaultCleaning().repair(table)["size"].tolist() == [1.0, 3.0, 100.0, 2.0]
    imputed = Imputed(SimpleImputer(strategy="mean")).repair(table)
    assert imputed["size"].tolist() == [1.0, 3.0, 100.0, 2.0]
    assert np.isnan(with_holes(source_of(table))[:, 0]).tolist() == [False, False, True, True]


def test_a_column_of_which_nothing_is_known_takes_the_likeliest_candidate() -> None:
    frame = pd.DataFrame({"size": [None, None, None], "x": [1.0, 2.0, 3.0]})
    table = IncompleteTable(frame, [0, 1, 1], repairs={"size": [5.0, 9.0]}, prior="uniform")
    assert DefaultCleaning().repair(table)["size"].tolist() == [5.0, 5.0, 5.0]
    assert not np.isnan(DefaultCleaning().fit(table).world_).any()


@pytest.mark.filterwarnings("ignore:no value is observed")
def test_a_column_without_values_and_candidates_keeps_its_holes() -> None:
    frame = pd.DataFrame({"size": [None] * 3, "x": [1.0, None, 3.0], "z": [1, 2, 3]})
    made = DefaultCleaning().repair(IncompleteTable(frame, [0, 1, 1]))
    assert made["size"].isna().all()
    assert made["x"].tolist() == [1.0, 2.0, 3.0]


def test_rules_for_whole_columns() -> None:
    table = mixed()
    size, town, flag = (column.values.tolist() for column in by_rule(table, np.max, 1))
    assert size == [1.0, 7.0, 4.0, 7.0]
    assert town == ["B", "A", "B", "A"]
    assert flag == [1.0, 1.0, 0.0, 0.0]
    _, town, flag = (column.values.tolist() for column in by_rule(table, np.max, 9))
    assert repr(town[2]) == "other"
    assert flag[3] == 0.0


def test_a_dataset_is_cleaned_by_its_likeliest_candidates() -> None:
    data = IncompleteDataset([[[0.0], [5.0]], [[9.0]]], ["a", "b"], [[0.3, 0.7], None])
    assert DefaultCleaning(n_neighbors=1).repair(data).tolist() == [[5.0], [9.0]]


def test_ground_truth() -> None:
    table, truth = mixed(), pd.DataFrame(TRUTH)
    table = mixed(categories={"town": ["C"]})
    fitted = GroundTruth(truth, n_neighbors=1).fit(table)
    assert fitted.world_.tolist() == table.encode(truth).tolist()
    assert fitted.predict(truth).tolist() == LABELS  # every row is its own neighbour
    assert fitted.repair(table)["size"].tolist() == [1, 3, 4, 7]
    assert fitted.repair(table)["town"].tolist() == ["B", "A", "C", "A"]


def test_the_true_frame_is_given_back_though_the_space_lacks_a_category() -> None:
    with pytest.warns(UnseenCategoryWarning, match="1 in column 'town'"):
        made = GroundTruth(pd.DataFrame(TRUTH)).repair(mixed())
    assert made["town"].tolist() == ["B", "A", "C", "A"]
    assert made["size"].tolist() == [1, 3, 4, 7]


def test_the_closest_world_takes_other_for_what_is_no_candidate() -> None:
    table = mixed(categories={"town": ["C"]})
    made = ClosestWorld(pd.DataFrame(TRUTH)).repair(table)
    # candidates of size: 1, 2.5, 4, 5.5, 7; of town: A, B and other; C is neither
    assert made["size"].tolist() == [1.0, 2.5, 4.0, 7.0]
    assert made["town"].tolist() == ["B", "A", "other", "A"]
    assert made["flag"].tolist() == [True, True, False, False]


def test_other_is_written_apart_from_a_town_of_that_name() -> None:
    frame = pd.DataFrame({"town": ["other", "A", None], "x": [1.0, 2.0, 3.0]})
    table = IncompleteTable(frame, [0, 1, 1], categories={"town": ["C"]})
    made = ClosestWorld(frame.assign(town=["other", "A", "C"])).repair(table)
    assert made["town"].tolist() == ["other", "A", "(other)"]


def test_candidate_numbers_and_rows_say_the_same() -> None:
    data = IncompleteDataset([[[0.0], [5.0]], [[1.0], [7.0], [8.0]], [[6.0]]], ["a", "b", "b"])
    rows = np.array([[4.0], [7.4], [6.0]])
    by_rows = ClosestWorld(rows, n_neighbors=1).fit(data)
    by_numbers = ClosestWorld([1, 1, 0], n_neighbors=1).fit(data)
    assert by_rows.world_.tolist() == by_numbers.world_.tolist() == [[5.0], [7.0], [6.0]]
    assert GroundTruth(rows, n_neighbors=1).fit(data).world_.tolist() == rows.tolist()


def filled_by_hand(table: IncompleteTable) -> Any:
    """Means and modes as pandas finds them."""
    filled = {}
    for column in table.columns:
        values = pd.Series([column.shown(value) for value in column.values])
        known = values[~column.missing]
        usual = known.mode()[0] if column.kind in ("categorical", "boolean") else known.mean()
        filled[column.name] = [
            usual if missing else value
            for value, missing in zip(values, column.missing, strict=True)
        ]
    return table.encode(pd.DataFrame(filled))


@pytest.mark.parametrize("kind", ["random", "important", "high"])
def test_worlds_of_a_fresh_space_are_those_of_its_table(kind: str) -> None:
    space = fresh_space(generated_table("mixed", 200), kind, 1, Sizes(80, 20, 20))
    source = source_of(space.table)
    assert (
        closest_candidates(source.dataset, space.clean, source.table).tolist()
        == space.truth.tolist()
    )
    assert ClosestWorld().fit(space).world_.tolist() == space.closest_world().tolist()
    assert DefaultCleaning().fit(space.table).world_ == pytest.approx(filled_by_hand(space.table))
    assert space.default.tolist() == DefaultCleaning().fit(space.table).world_.tolist()
    assert GroundTruth().fit(space).world_.tolist() == space.clean.tolist()
    made = ClosestWorld().repair(space)
    numbers = [f"x{number}" for number in range(5)]
    again = space.table.encode(made.replace("other", "A"))
    places = [space.table.names.index(name) for name in numbers]
    assert again[:, places].tolist() == space.closest_world()[:, places].tolist()


@pytest.mark.parametrize(
    ("truth", "message"),
    [
        (None, r"the truth is not known: pass truth=a frame or array with the true rows"),
        ([0, 0], r"truth must be the true rows here; got candidate numbers"),
        ([[0.0]], r"truth must have one row per training row, 2 in all; got 1"),
    ],
)
def test_bad_truths(truth: Any, message: str) -> None:
    data = IncompleteDataset([[[0.0], [5.0]], [[9.0]]], ["a", "b"])
    with pytest.raises(DataError, match=message):
        GroundTruth(truth, n_neighbors=1).fit(data)


@pytest.mark.parametrize(
    ("truth", "message"),
    [
        (None, r"the truth is not known: pass truth=the number of every row's true candidate"),
        ([0, 1], r"truth names candidate 1 of row 1, which has candidates 0 to 0"),
        (
            [0],
            r"truth must be the number of a candidate for each of 2 rows.*got an array of 1 int64",
        ),
        ([0.0, 0.0], r"for each of 2 rows, or the true rows; got an array of 2 float64"),
    ],
)
def test_bad_candidate_numbers(truth: Any, message: str) -> None:
    data = IncompleteDataset([[[0.0], [5.0]], [[9.0]]], ["a", "b"])
    with pytest.raises(DataError, match=message):
        ClosestWorld(truth, n_neighbors=1).fit(data)


def test_a_truth_with_holes() -> None:
    with pytest.raises(TableError, match=r"found holes at row 1, column 'size'"):
        GroundTruth(pd.DataFrame(COLUMNS)).fit(mixed())


def test_any_imputer() -> None:
    table = mixed()
    made = Imputed(SimpleImputer(strategy="constant", fill_value=6)).repair(table)
    assert made["size"].tolist() == [1.0, 6.0, 4.0, 7.0]
    assert made["town"].tolist() == ["B", "A", "A", "A"]  # most imputers cannot read categories
    frame = pd.DataFrame({"u": [0.0, 1.0, 2.0, 9.0], "v": [0.0, 10.0, np.nan, 50.0]})
    made = Imputed(KNNImputer(n_neighbors=2)).repair(IncompleteTable(frame, [0, 0, 1, 1]))
    assert made["v"].tolist() == [0.0, 10.0, 5.0, 50.0]  # the rows with u = 1 and u = 0


def test_an_imputer_stays_as_it_was_given() -> None:
    imputer = SimpleImputer()
    Imputed(imputer, n_neighbors=1).fit(mixed())
    assert not hasattr(imputer, "statistics_")


def test_an_imputer_of_a_dataset_sees_vectors_with_holes() -> None:
    data = IncompleteDataset([[[0.0, 1.0], [0.0, 5.0]], [[2.0, 4.0]], [[4.0, 8.0]]], [0, 1, 1])
    made = Imputed(SimpleImputer(), n_neighbors=1).repair(data)
    assert made.tolist() == [[0.0, 6.0], [2.0, 4.0], [4.0, 8.0]]


def test_bad_imputers() -> None:
    with pytest.raises(DataError, match=r"must have fit_transform, as scikit-learn's.*got str"):
        Imputed("mean", n_neighbors=1).fit(mixed())
    for call in (Imputed(SimpleImputer).repair, Imputed(SimpleImputer, n_neighbors=1).fit):
        with pytest.raises(DataError, match=r"got the class SimpleImputer. Pass SimpleImputer\(\)"):
            call(mixed())
    data = IncompleteDataset([[[0.0], [5.0]], [[1.0], [2.0]]], ["a", "b"])
    with (
        pytest.raises(DataError, match=r"must fill every hole of 2 vectors of length 1; got shape"),
        pytest.warns(UserWarning, match="Skipping features without any observed values"),
    ):
        Imputed(SimpleImputer(), n_neighbors=1).fit(data)
