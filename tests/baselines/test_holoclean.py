"""HoloClean as a baseline: repaired frames, and neighbours in them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import KNeighborsClassifier

from cpclean import IncompleteDataset, IncompleteTable
from cpclean.baselines.holoclean_fill import HoloClean
from cpclean.data.spaces.plain import UnseenCategoryWarning
from cpclean.data.task import Task
from cpclean.errors import DataError, TableError

TABLES = Path(__file__).resolve().parents[3] / "shared" / "data" / "tables"

# City tells land and size; a row of each city lacks one of them.
FRAME = pd.DataFrame(
    {
        "city": ["Bern", "Bern", "Bern", "Bern", "Rome", "Rome", "Rome", "Rome"],
        "land": ["CH", "CH", None, "CH", "IT", "IT", None, "IT"],
        "size": [1.0, 1.0, 1.0, None, 9.0, 9.0, 9.0, None],
    }
)
WHOLE = FRAME.assign(
    land=["CH"] * 4 + ["IT"] * 4,
    size=[1.0] * 4 + [9.0] * 4,
)
Y = [0, 0, 0, 0, 1, 1, 1, 1]


def rows_of(frame: Any) -> list[tuple[Any, ...]]:
    return list(pl.DataFrame(frame).iter_rows())


# -- repair ----------------------------------------------------------------------------------------


def test_repair_of_a_frame() -> None:
    pd.testing.assert_frame_equal(HoloClean().repair(FRAME), WHOLE)


def test_the_frame_given_stays_as_it_is() -> None:
    before = FRAME.copy()
    HoloClean().repair(FRAME)
    pd.testing.assert_frame_equal(FRAME, before)


def test_repair_of_a_table_brings_the_label() -> None:
    table = IncompleteTable(FRAME.assign(y=Y), label="y")
    pd.testing.assert_frame_equal(HoloClean().repair(table), WHOLE.assign(y=Y))


def test_the_index_of_a_frame_is_kept() -> None:
    named = FRAME.set_axis([*"abcdefgh"], axis=0)
    assert HoloClean().repair(named).index.tolist() == [*"abcdefgh"]


def test_repair_of_polars_and_pyarrow() -> None:
    expected = list(WHOLE.itertuples(index=False, name=None))
    polars = HoloClean().repair(pl.from_pandas(FRAME))
    assert isinstance(polars, pl.DataFrame)
    assert rows_of(polars) == expected
    arrow = HoloClean().repair(pa.Table.from_pandas(FRAME))
    assert isinstance(arrow, pa.Table)
    assert rows_of(pl.from_arrow(arrow)) == expected


def test_repair_of_an_array() -> None:
    array = np.array([[1.0, 2.0], [1.0, 2.0], [1.0, np.nan], [5.0, 6.0], [5.0, 6.0], [np.nan, 6.0]])
    repaired = HoloClean().repair(array)
    assert isinstance(repaired, np.ndarray)
    assert repaired.tolist() == [[1, 2]] * 3 + [[5, 6]] * 3


def test_a_column_called_table_is_a_column() -> None:
    frame = FRAME.rename(columns={"land": "table"})
    assert HoloClean().repair(frame)["table"].tolist() == WHOLE["land"].tolist()


def test_numbers_become_the_means_of_their_bins() -> None:
    frame = pd.DataFrame({"kind": [*"aaaabbbb"], "n": [0, 1, 2, None, 10, 12, 14, None]})
    repaired = HoloClean(bins=2).repair(frame)
    assert repaired["n"].tolist() == [0, 1, 2, 1.0, 10, 12, 14, 12.0]


def test_whole_numbers_stay_whole_where_the_means_are() -> None:
    frame = pl.DataFrame({"kind": [*"aaabbb"], "n": [1, 1, None, 7, 7, None]})
    repaired = HoloClean().repair(frame)
    assert repaired["n"].to_list() == [1, 1, 1, 7, 7, 7]
    assert repaired["n"].dtype == pl.Int64
    odd = pl.DataFrame({"kind": [*"aaabbb"], "n": [1, 2, None, 7, 8, None]})
    assert HoloClean(bins=2).repair(odd)["n"].to_list() == [1.0, 2.0, 1.5, 7.0, 8.0, 7.5]


def test_dates_and_booleans() -> None:
    first, last = datetime(2020, 1, 1), datetime(2021, 5, 4)
    frame = pl.DataFrame({"when": [first, first, None, last, last, None],
                          "old": [True, True, True, False, False, None],
                          "kind": [*"aaabbb"]})  # fmt: skip
    repaired = HoloClean().repair(frame)
    assert repaired["when"].to_list() == [first] * 3 + [last] * 3
    assert repaired["old"].to_list() == [True] * 3 + [False] * 3


def test_a_column_without_values_stays_empty() -> None:
    repaired = HoloClean().repair(FRAME.assign(empty=None))
    assert repaired["empty"].isna().all()
    assert repaired["land"].tolist() == WHOLE["land"].tolist()


def test_a_row_with_nothing_takes_the_usual_values() -> None:
    frame = pd.DataFrame({"a": ["x", "x", "x", "y", None], "b": ["k", "k", "k", "l", None]})
    assert rows_of(HoloClean().repair(frame))[-1] == ("x", "k")


def test_a_complete_frame_comes_back() -> None:
    pd.testing.assert_frame_equal(HoloClean().repair(WHOLE), WHOLE)


def test_doubted_cells_are_repaired_and_not_learnt_from() -> None:
    wrong = WHOLE.assign(land=["IT", *WHOLE["land"][1:]], y=Y)
    table = IncompleteTable(wrong, label="y", suspects=[(0, "land")])
    pd.testing.assert_frame_equal(HoloClean().repair(table), WHOLE.assign(y=Y))
    for value in ("IT", "CH", "FR"):
        other = wrong.assign(land=[value, *WHOLE["land"][1:]])
        again = IncompleteTable(other, label="y", suspects=[(0, "land")])
        pd.testing.assert_frame_equal(HoloClean().repair(again), WHOLE.assign(y=Y))


def test_options_reach_the_model() -> None:
    """With thresholds that let nothing through, a hole takes the most frequent value."""
    frame = FRAME.iloc[1:].reset_index(drop=True)  # one row less of Bern: IT is more frequent
    repaired = HoloClean(correlation=1.0, fallback=1).repair(frame)
    assert repaired["land"].tolist() == ["CH", "IT", "CH", "IT", "IT", "IT", "IT"]
    assert HoloClean().repair(frame)["land"].tolist() == WHOLE["land"].tolist()[1:]


# -- fit, predict, score ---------------------------------------------------------------------------


def test_neighbours_in_the_repaired_table() -> None:
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 3, 90)
    frame = pd.DataFrame({"a": kind * 5 + rng.normal(size=90), "b": kind * 2 + rng.normal(size=90)})
    labels = kind % 2
    holes = frame.mask(rng.random(frame.shape) < 0.2).dropna(how="all")
    labels = labels[holes.index]
    holes = holes.reset_index(drop=True)
    method = HoloClean(n_neighbors=3).fit(holes, labels)
    repaired = HoloClean().repair(holes)
    low, spread = holes.min(), holes.max() - holes.min()
    np.testing.assert_allclose(method.world_, ((repaired - low) / spread).to_numpy())
    points = pd.DataFrame(rng.normal(5, 4, (40, 2)), columns=["a", "b"])
    plain = KNeighborsClassifier(3).fit((repaired - low) / spread, labels)
    expected = plain.predict((points - low) / spread)
    assert method.predict(points).tolist() == expected.tolist()
    assert method.score(points, expected) == 1.0
    assert method.score(points, 1 - expected) == 0.0
    assert method.classes_.tolist() == [0, 1]


def test_tables_frames_and_spaces_are_one() -> None:
    table = IncompleteTable(FRAME.assign(y=Y), label="y")

    task = Task.of(table, WHOLE, Y)

    @dataclass
    class Space:
        task: Task

    fitted = [HoloClean(1).fit(FRAME, Y), HoloClean(1).fit(table), HoloClean(1).fit(Space(task))]
    for method in fitted:
        np.testing.assert_array_equal(method.world_, fitted[0].world_)
    assert fitted[1].predict(WHOLE).tolist() == Y
    assert fitted[2].predict(fitted[2].world_).tolist() == Y
    pd.testing.assert_frame_equal(HoloClean().repair(Space(task)), WHOLE.assign(y=Y))


def test_twice_is_the_same() -> None:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.integers(0, 4, (60, 4)).astype(float), columns=[*"abcd"])
    frame = frame.mask(rng.random(frame.shape) < 0.2)
    one, two = HoloClean().repair(frame), HoloClean().repair(frame)
    pd.testing.assert_frame_equal(one, two)


def test_options_are_parameters() -> None:
    method = HoloClean(n_neighbors=5, bins=4, decay=2.0, random_state=7)
    assert clone(method).get_params() == method.get_params()
    assert method.get_params()["bins"] == 4


# -- bad input -------------------------------------------------------------------------------------


def test_predicting_before_fitting() -> None:
    with pytest.raises(NotFittedError, match="HoloClean instance is not fitted yet"):
        HoloClean().predict(WHOLE)


def test_a_dataset_has_no_columns() -> None:
    data = IncompleteDataset([[[0.0, 0.0], [1.0, 1.0]], [[1.0, 1.0]]], [0, 1])
    for call in (HoloClean(1).fit, HoloClean(1).repair):
        with pytest.raises(TableError, match="learns from the columns of a table"):
            call(data)


def test_a_frame_without_labels_cannot_be_fitted() -> None:
    with pytest.raises(TableError, match="labels as y; got DataFrame without y"):
        HoloClean().fit(FRAME)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bins": 1}, "bins must be an int of at least 2; got 1"),
        ({"share": 2.0}, r"share must be a finite number in \[0, 1\]; got 2.0"),
        ({"correlation": -1}, r"correlation must be a finite number in \[0, 1\]; got -1"),
        ({"decay": "much"}, "decay must be a finite number not below 0; got 'much'"),
        ({"fallback": 0}, "fallback must be an int of at least 1; got 0"),
        ({"random_state": None}, "random_state must be an int of at least 0; got None"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        HoloClean(**options).repair(FRAME)
    with pytest.raises(DataError, match=message):
        HoloClean(**options).fit(FRAME, Y)


def test_a_frame_that_is_none() -> None:
    with pytest.raises(TableError, match="a table must be a dataframe or have two dimensions"):
        HoloClean().repair([1.0, 2.0])


# -- real tables -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "label"), [("Chile", "vote"), ("CreditData", "Status"), ("Adult", "Income")]
)
def test_real_tables_are_repaired(name: str, label: str) -> None:
    file = TABLES / name / "data.csv"
    if not file.is_file():
        pytest.skip(f"the table {name} is not at {TABLES}")
    frame = pd.read_csv(file, skipinitialspace=True, na_values="?").head(1500)
    frame = frame.dropna(subset=[label])
    features = frame.drop(columns=[label, *({"rownames"} & {*frame.columns})])
    repaired = HoloClean().repair(features)
    assert not repaired.isna().any(axis=None)
    known = features.notna()
    pd.testing.assert_frame_equal(
        repaired.astype(object).where(known),
        features.astype(object).where(known),
        check_dtype=False,
    )
    for column in features.select_dtypes(exclude="number"):
        assert set(repaired[column]) <= set(features[column].dropna())
    half = len(features) // 2
    method = HoloClean().fit(features[:half], frame[label][:half].tolist())
    points = repaired[half:]
    usual = frame[label][half:].value_counts(normalize=True).iloc[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenCategoryWarning)
        assert method.score(points, frame[label][half:].tolist()) > usual - 0.12
