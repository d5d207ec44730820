"""What the classifier can be fitted to: frames, arrays, labels, tables, names of columns."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from classifier.samples import (
    FRAMES,
    METHODS,
    assert_agrees,
    holey_array,
    mixed_columns,
    mixed_frames,
)
from numpy.testing import assert_array_equal

from cpclean import IncompleteDataset, IncompleteTable
from cpclean.classifier import CertainKNeighborsClassifier
from cpclean.errors import QueryError, TableError

# -- what can be fitted ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", FRAMES)
def test_every_frame_gives_the_same_predictions(kind):
    columns, y = mixed_columns()
    points, expected_y = mixed_columns(40, seed=1, holes=0.0)
    expected = CertainKNeighborsClassifier().fit(pd.DataFrame(columns, dtype=object), y)
    make = FRAMES[kind]
    model = CertainKNeighborsClassifier().fit(make(columns), y)
    assert model.dataset_ == expected.dataset_
    assert model.feature_names_in_.tolist() == list(columns)
    assert model.n_features_in_ == 4
    for method in METHODS:
        actual = getattr(model, method)(make(points))
        assert_array_equal(actual, getattr(expected, method)(pd.DataFrame(points)))
    assert model.score(make(points), expected_y) > 0.6


def test_arrays_and_lists_of_mixed_values():
    columns, y = mixed_columns()
    X, points = pd.DataFrame(columns), pd.DataFrame(mixed_columns(40, seed=1, holes=0.0)[0])
    expected = CertainKNeighborsClassifier().fit(X, y).predict_proba(points)
    rows = list(zip(*columns.values(), strict=True))
    complete = points.to_numpy(dtype=object)
    for given in (rows, X.to_numpy(dtype=object)):
        model = CertainKNeighborsClassifier().fit(given, y)
        assert not hasattr(model, "feature_names_in_")
        assert model.table_.names == ("x0", "x1", "x2", "x3")
        assert_array_equal(model.predict_proba(complete), expected)
        assert_array_equal(model.predict_proba(complete.tolist()), expected)
    text = [[1, "a"], [2, "b"]]  # without a null NumPy would make text of the numbers
    assert CertainKNeighborsClassifier(1).fit(text, [0, 1]).table_.report[0].kind == "numeric"


def test_read_only_arrays_stay_as_they_are():
    X, y, points = holey_array()
    before = X.copy()
    for array in (X, y, points):
        array.flags.writeable = False
    CertainKNeighborsClassifier().fit(X, y).predict(points)
    assert_array_equal(X, before)


@pytest.mark.parametrize(
    ("y", "dtype"),
    [
        (["no", "yes", "no"], "U"),
        (np.array(["no", "yes", "no"], dtype=object), "U"),
        ([3, 1, 3], "i"),
        (np.array([3, 1, 3], dtype=object), "i"),
        ([True, False, True], "b"),
        ([1.0, 2, 1], "f"),
        (pd.Series([True, False, True], dtype="boolean"), "b"),
        (pd.Series([5, 6, 5], dtype="Int64"), "i"),
        (pd.Series(["b", "a", "b"], dtype="category"), "U"),
        (np.array(["2021", "2020", "2021"], dtype="datetime64[D]"), "M"),
    ],
)
def test_labels_of_any_sortable_kind(y, dtype):
    X = [[0.0], [1.0], [0.1]]
    model = CertainKNeighborsClassifier(1).fit(X, y)
    assert model.classes_.dtype.kind == dtype
    assert_array_equal(model.classes_, np.unique(np.asarray(list(y))))
    assert_array_equal(model.predict(X), np.asarray(list(y)))
    assert model.score(X, list(y)) == 1.0


def test_labels_of_polars_and_pyarrow():
    for make in (pytest.importorskip("polars").Series, pytest.importorskip("pyarrow").array):
        model = CertainKNeighborsClassifier(1).fit([[0.0], [1.0]], make(["b", "a"]))
        assert model.predict([[0.0]]).tolist() == ["b"]


def test_a_table_is_taken_as_it_is():
    X, y, points = mixed_frames()
    frame = X.assign(sold=y)
    table = IncompleteTable(frame, label="sold", prior="uniform")
    model = CertainKNeighborsClassifier(5, prior="observed").fit(table)
    assert model.table_ is table
    assert model.dataset_ is table.dataset
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.n_features_in_ == 4
    assert model.feature_names_in_.tolist() == list(X.columns)
    assert_agrees(model, points, table.encode(points))
    with_label = points.assign(sold="no")  # the label's column may still be there
    assert_array_equal(model.predict_proba(with_label), model.predict_proba(points))
    with pytest.raises(TableError, match="missing 'hue'"):
        model.predict(points.drop(columns="hue"))


def test_a_table_of_an_array_has_no_names():
    X, y, points = holey_array()
    model = CertainKNeighborsClassifier().fit(IncompleteTable(X, label=y))
    assert not hasattr(model, "feature_names_in_")
    assert_array_equal(
        model.predict_proba(points), CertainKNeighborsClassifier().fit(X, y).predict_proba(points)
    )


def test_fitting_again_forgets_names_and_table():
    X, y, _ = mixed_frames()
    data = IncompleteDataset([[[0.0], [5.0]], [[1.0]]], [7, 8])
    model = CertainKNeighborsClassifier(1).fit(X, y).fit(data)
    assert model.table_ is None
    assert not hasattr(model, "feature_names_in_")
    assert (model.n_features_in_, model.n_worlds_, model.dirty_rows_.tolist()) == (1, 2, [0])
    assert model.predict([[9.0]]).tolist() == [7]
    with pytest.raises(ValueError, match=r"X has 2 features, but .* is expecting 1 feature"):
        model.predict([[1.0, 2.0]])
    with pytest.raises(QueryError, match="Query points must be complete"):
        model.predict([[np.nan]])


def test_no_points_no_predictions():
    X, y, points = mixed_frames()
    model = CertainKNeighborsClassifier().fit(X, y)
    assert model.predict(points[:0]).shape == (0,)
    assert model.predict_proba(points[:0]).shape == (0, 2)
    array, y, points = holey_array()
    assert CertainKNeighborsClassifier().fit(array, y).world_counts(points[:0]).shape == (0, 2)


def test_tokens_that_are_numbers_are_holes():
    X, y, points = holey_array()
    expected = CertainKNeighborsClassifier().fit(X, y)
    tokens = np.where(np.isnan(X), -999.0, X)
    model = CertainKNeighborsClassifier(null_tokens=["-999"]).fit(tokens, y)
    assert model.dataset_ == expected.dataset_
    assert_array_equal(model.predict_proba(points), expected.predict_proba(points))


def test_masked_cells_are_holes():
    X, y, _ = holey_array()
    masked = np.ma.masked_array(np.nan_to_num(X, nan=7.0), mask=np.isnan(X))
    expected = CertainKNeighborsClassifier().fit(X, y)
    assert CertainKNeighborsClassifier().fit(masked, y).dataset_ == expected.dataset_


@pytest.mark.parametrize("make", [np.array, pd.DataFrame])
def test_a_column_of_nulls_is_ignored_with_a_warning(make):
    X, y, points = holey_array()
    empty = np.column_stack([X, np.full(len(X), np.nan)])
    with pytest.warns(UserWarning, match="no value is observed in column '(x3|3)': it is ignored"):
        model = CertainKNeighborsClassifier().fit(make(empty), y)
    assert model.table_.report[3].treatment == "ignored: no value is observed"
    more = np.column_stack([points, np.full(len(points), np.nan)])  # nobody looks there
    expected = CertainKNeighborsClassifier().fit(make(X), y)
    assert_array_equal(model.predict_proba(make(more)), expected.predict_proba(make(points)))


def test_one_class_is_certain():
    X, _, points = holey_array()
    with pytest.warns(UserWarning, match="every prediction will be certain"):
        model = CertainKNeighborsClassifier().fit(X, ["same"] * len(X))
    assert model.is_certain(points).all()
    assert set(model.predict(points)) == {"same"}


# -- names -----------------------------------------------------------------------------------------


def test_columns_without_names_are_taken_in_order():
    array, y, points = holey_array()
    frame, named_points = (
        pd.DataFrame(array, columns=list("abc")),
        pd.DataFrame(points, columns=list("abc")),
    )
    expected = CertainKNeighborsClassifier().fit(array, y).predict_proba(points)
    model = CertainKNeighborsClassifier().fit(frame, y)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        assert_array_equal(model.predict_proba(points), expected)
    model = CertainKNeighborsClassifier().fit(array, y)
    with pytest.warns(UserWarning, match="X has feature names, but"):
        assert_array_equal(model.predict_proba(named_points), expected)
    numbered = CertainKNeighborsClassifier().fit(pd.DataFrame(array), y)
    assert not hasattr(numbered, "feature_names_in_")
    assert_array_equal(numbered.predict_proba(points), expected)
    assert_array_equal(numbered.predict_proba(pd.DataFrame(points)), expected)
    with pytest.raises(TableError, match="in another order"):
        numbered.predict(pd.DataFrame(points)[[1, 0, 2]])


def test_columns_that_differ():
    X, y, points = mixed_frames()
    model = CertainKNeighborsClassifier().fit(X, y)
    with pytest.raises(ValueError, match="must be in the same order"):
        model.predict(points[["hue", "size", "old", "rooms"]])
    with pytest.raises(ValueError, match="yet now missing:\n- hue"):
        model.is_certain(points.drop(columns="hue"))
    with pytest.raises(ValueError, match="unseen at fit time:\n- extra"):
        model.world_counts(points.assign(extra=1))
    with pytest.raises(TableError, match="'size' is numeric in the training table, but here"):
        model.predict(points.assign(size="large"))
    array = np.zeros((3, 2))
    with (
        pytest.warns(UserWarning, match="valid feature names"),
        pytest.raises(ValueError, match=r"X has 2 features, but .* is expecting 4 features"),
    ):
        model.predict(array)


def test_categories_never_seen_are_counted_and_as_far_from_all():
    X = pd.DataFrame({"hue": ["red", "blue", "green"], "size": [0.0, 1.0, 2.0]})
    model = CertainKNeighborsClassifier(1).fit(X, [0, 1, 2])
    points = pd.DataFrame({"hue": ["pink", "red", "grey"], "size": [1.0, 0.0, 2.0]})
    with pytest.warns(UserWarning, match="encoded as all zero: 2 in column 'hue'"):
        assert model.predict(points).tolist() == [1, 0, 2]  # only the size decides


def test_weights_of_columns_decide():
    X = [[0.0, 1.0], [1.0, 0.0]]
    for weights, expected in (({"x0": 9.0}, 0), ({"x1": 9.0}, 1), ({"x0": 0.0}, 1)):
        model = CertainKNeighborsClassifier(1, column_weights=weights).fit(X, [0, 1])
        assert model.predict([[0.1, 0.1]]).tolist() == [expected]


# -- what an import loads --------------------------------------------------------------------------


def run_in_a_new_interpreter(*statements):
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2] / "src")}
    code = "\n".join(["import sys", *statements])
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_no_dataframes_are_loaded_beyond_what_scikit_learn_loads():
    run_in_a_new_interpreter(
        "import sklearn",
        "heavy = {'pandas', 'polars', 'pyarrow', 'dask', 'sqlalchemy'} - set(sys.modules)",
        "import cpclean.classifier",
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)",
    )


@pytest.mark.slow
def test_arrays_need_no_dataframe_library():
    run_in_a_new_interpreter(
        "class Missing:",
        "    def find_spec(name, path=None, target=None):",
        "        if name in ('pandas', 'polars', 'pyarrow'): raise ModuleNotFoundError(name)",
        "sys.meta_path.insert(0, Missing)",
        "import numpy as np",
        "from cpclean.classifier import CertainKNeighborsClassifier",
        "X = [[0.0, 'a'], [np.nan, 'b'], [1.0, 'b']]",
        "model = CertainKNeighborsClassifier(1).fit(X, [0, 1, 1])",
        "assert model.predict([[0.0, 'a']]).tolist() == [0]",
    )
