"""The classifier: scikit-learn's own checks, agreement with the queries, real tables."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import oracle
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone, is_classifier
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, OneHotEncoder, StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks
from strategies import sweep

from cpclean import (
    IncompleteDataset,
    IncompleteTable,
    is_certain,
    possible_labels,
    world_counts,
    world_shares,
)
from cpclean.classifier import CertainKNeighborsClassifier
from cpclean.data.repairs import Imputers, quantiles
from cpclean.errors import DataError, QueryError, TableError

TABLES = Path(__file__).resolve().parents[2] / "shared" / "data" / "tables"
METHODS = ("predict", "predict_proba", "is_certain", "possible_labels", "world_counts")


# --- tables to fit ------------------------------------------------------------------------------


def mixed_columns(n_rows=60, seed=0, holes=0.2):
    """Columns of several kinds as plain lists, None where there is a hole, and labels."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 2, n_rows)
    columns = {
        "size": (rng.normal(size=n_rows) + label).tolist(),
        "hue": [("red", "green", "blue")[code] for code in (rng.integers(0, 2, n_rows) + label)],
        "old": rng.choice([True, False], n_rows).tolist(),
        "rooms": rng.integers(1, 9, n_rows).tolist(),
    }
    for values in columns.values():
        for row in np.flatnonzero(rng.random(n_rows) < holes):
            values[row] = None
    for row in range(n_rows):  # a row of which nothing is known is no row
        if all(values[row] is None for values in columns.values()):
            columns["rooms"][row] = 5
    return columns, np.array(["no", "yes"])[label]


def mixed_frames(holes=0.2):
    """A frame with holes, its labels, and a frame of complete points."""
    columns, y = mixed_columns(holes=holes)
    points, _ = mixed_columns(40, seed=1, holes=0.0)
    return pd.DataFrame(columns), y, pd.DataFrame(points)


def holey_array(n_rows=50, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    X = rng.normal(size=(n_rows, 3)) + y[:, None]
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 2] = y  # no row is all holes
    return X, y, rng.normal(size=(30, 3)) + 0.5


# --- scikit-learn's checks ------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:all rows have the label")
@parametrize_with_checks(
    [CertainKNeighborsClassifier()],
    expected_failed_checks=lambda _: {
        "check_estimators_pickle": (
            "it predicts the rows with NaN that it has fitted: rows to fit may have holes, points "
            "to predict must be complete; pickling itself is tested below"
        )
    },
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_tags_say_what_it_takes():
    tags = get_tags(CertainKNeighborsClassifier())
    assert is_classifier(CertainKNeighborsClassifier())
    assert tags.input_tags.allow_nan
    assert tags.input_tags.categorical
    assert not tags.input_tags.sparse
    assert tags.classifier_tags.multi_class


# --- agreement ------------------------------------------------------------------------------------


def assert_agrees(model, X, points, **options):
    """All methods against the functions, asked of the encoded points directly."""
    asked = (model.dataset_, points, model.n_neighbors)
    shares = world_shares(*asked, **options)
    assert_array_equal(model.predict_proba(X), shares)
    assert_array_equal(model.predict(X), model.classes_[shares.argmax(axis=1)])
    assert_array_equal(model.is_certain(X), is_certain(*asked, **options))
    assert_array_equal(model.possible_labels(X), possible_labels(*asked, **options))
    assert model.world_counts(X).tolist() == world_counts(*asked, **options).tolist()


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_arrays_agree_with_the_queries(metric, n_classes):
    X, y, points = holey_array(n_classes=n_classes)
    model = CertainKNeighborsClassifier(5, metric, prior="observed", n_jobs=2).fit(X, y)
    table = IncompleteTable(X, label=y, prior="observed")
    assert model.dataset_ == table.dataset
    assert model.n_worlds_ == table.dataset.n_worlds > 1
    assert_array_equal(model.dirty_rows_, np.flatnonzero(np.isnan(X).any(axis=1)))
    assert_agrees(model, points, table.encode(points), metric=metric)


def test_frames_agree_with_the_queries():
    X, y, points = mixed_frames()
    options = {
        "kinds": {"rooms": "categorical"},
        "scaling": "standard",
        "null_tokens": ("green",),
        "max_candidates": 20,
    }
    points = points[points.hue != "green"]
    model = CertainKNeighborsClassifier(column_weights={"size": 2.0}, **options)
    with pytest.warns(UserWarning, match="more than 20 candidates"):
        model.fit(X, y)
    with pytest.warns(UserWarning, match="more than 20 candidates"):
        table = IncompleteTable(X, label=y, weights={"size": 2.0}, **options)
    assert model.dataset_ == table.dataset
    assert_agrees(model, points, table.encode(points))


def test_datasets_agree_with_the_oracle():
    for case in sweep(60, seed=3):
        model = CertainKNeighborsClassifier(case.n_neighbors, case.metric).fit(case.dataset())
        assert model.table_ is None
        counts = [oracle.world_counts(*case.question(t)) for t in case.X]
        shares = [oracle.world_shares(*case.question(t)) for t in case.X]
        assert model.world_counts(case.X).tolist() == counts
        assert_allclose(model.predict_proba(case.X), np.array(shares, dtype=float), atol=1e-12)
        assert_array_equal(
            model.is_certain(case.X), [sum(c > 0 for c in one) == 1 for one in counts]
        )


# --- without holes: scikit-learn's neighbours -----------------------------------------------------


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev"])
@pytest.mark.parametrize("n_neighbors", [1, 3, 4, 7])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_without_holes_it_is_k_nearest_neighbours(metric, n_neighbors, n_classes):
    rng = np.random.default_rng(n_neighbors)
    X, y, points = (
        rng.normal(size=(150, 4)),
        rng.integers(0, n_classes, 150),
        rng.normal(size=(99, 4)),
    )
    expected = KNeighborsClassifier(n_neighbors, metric=metric).fit(X, y).predict(points)
    model = CertainKNeighborsClassifier(n_neighbors, metric, scaling="none").fit(X, y)
    assert_array_equal(model.predict(points), expected)
    assert model.n_worlds_ == 1
    assert model.is_certain(points).all()
    assert_array_equal(model.predict_proba(points), expected[:, None] == model.classes_)


def test_without_holes_a_mixed_frame_is_the_usual_pipeline():
    X, y, points = mixed_frames(holes=0.0)
    encode = make_column_transformer(
        (MinMaxScaler(), ["size", "rooms"]),
        # one mismatch is as far as a numeric column is wide
        (
            make_pipeline(
                OneHotEncoder(sparse_output=False), FunctionTransformer(np.sqrt(0.5).__mul__)
            ),
            ["hue"],
        ),
        ("passthrough", ["old"]),
    )
    pipeline = make_pipeline(encode, KNeighborsClassifier(3, algorithm="brute"))
    expected = pipeline.fit(X, y).predict(points)
    assert_array_equal(CertainKNeighborsClassifier(3).fit(X, y).predict(points), expected)


def test_ties_go_to_the_smaller_row_and_the_smaller_class():
    X = [[0.0, 0.0], [2.0, 0.0], [1.0, 9.0]]
    for y in (["b", "a", "c"], ["a", "b", "c"]):  # both rows are as near: the first one counts
        assert CertainKNeighborsClassifier(1).fit(X, y).predict([[1.0, 0.0]]) == y[0]
        assert CertainKNeighborsClassifier(2).fit(X, y).predict([[1.0, 0.0]]) == "a"
    # Half of the worlds say "b", half of them "a".
    data = IncompleteDataset([[[0.0], [5.0]], [[1.0]]], ["b", "a"])
    model = CertainKNeighborsClassifier(1).fit(data)
    assert model.predict_proba([[0.0]]).tolist() == [[0.5, 0.5]]
    assert model.predict([[0.0]]).tolist() == ["a"]


# --- what can be fitted ---------------------------------------------------------------------------


def as_polars(columns):
    return pytest.importorskip("polars").DataFrame(columns)


def as_pyarrow(columns):
    return pytest.importorskip("pyarrow").table(columns)


def as_arrow_dtypes(columns):
    pytest.importorskip("pyarrow")
    return pd.DataFrame(columns).convert_dtypes(dtype_backend="pyarrow")


FRAMES = {
    "pandas": pd.DataFrame,
    "pandas nullable": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "pandas categories": lambda columns: pd.DataFrame(columns).astype({"hue": "category"}),
    "pandas arrow": as_arrow_dtypes,
    "polars": as_polars,
    "pyarrow": as_pyarrow,
}


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


# --- names ----------------------------------------------------------------------------------------


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


# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_nothing_is_predicted_before_fitting(method):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        getattr(CertainKNeighborsClassifier(), method)([[1.0]])


@pytest.mark.parametrize("method", METHODS)
def test_points_must_be_complete(method):
    X, y, points = mixed_frames()
    model = CertainKNeighborsClassifier().fit(X, y)
    points.loc[[3, 5], "hue"] = None
    message = "points to predict must be complete; found holes at row 3, column 'hue', row 5"
    with pytest.raises(TableError, match=message):
        getattr(model, method)(points)


@pytest.mark.parametrize("method", METHODS)
def test_an_array_of_points_must_be_complete(method):
    X, y, points = holey_array()
    points[2, 1] = np.nan
    model = CertainKNeighborsClassifier().fit(X, y)
    masked = np.ma.masked_array(np.nan_to_num(points), mask=np.isnan(points))
    for given in (points, points.astype(object), points.tolist(), masked):
        with pytest.raises(TableError, match="must be complete; found holes at row 2, column 'x1'"):
            getattr(model, method)(given)


@pytest.mark.parametrize("kind", ["pandas", "pandas nullable", "pandas arrow", "polars", "pyarrow"])
def test_points_with_nulls_are_refused_in_every_frame(kind):
    columns, y = mixed_columns()
    model = CertainKNeighborsClassifier(null_tokens=["?", "-9"]).fit(pd.DataFrame(columns), y)
    points, _ = mixed_columns(5, seed=1, holes=0.0)
    for name, value in (("hue", None), ("size", None), ("hue", " ?"), ("size", -9.0)):
        given = {**points, name: [*points[name][:3], value, points[name][4]]}
        message = f"points to predict must be complete; found holes at row 3, column '{name}'. Fill"
        with pytest.raises(TableError, match=message):
            model.predict(FRAMES[kind](given))


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


def test_frames_that_cannot_be_used():
    model = CertainKNeighborsClassifier(1)
    twice = pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"])
    with pytest.raises(TableError, match=r"more than one column is called 'a'\. Rename them first"):
        model.fit(twice, [0, 1])
    lazy = pytest.importorskip("polars").DataFrame({"a": [1, 2]}).lazy()
    with pytest.raises(TableError, match=r"LazyFrame\. Collect or convert it first"):
        model.fit(lazy, [0, 1])
    with pytest.raises(TableError, match=r"nothing is known of row 1\. Drop these rows"):
        model.fit([[1.0, 2.0], [np.nan, np.nan], [3.0, 5.0]], [0, 1, 0])
    frame = pd.DataFrame({"a": [1, 2], "y": [0, 1]})
    with pytest.raises(TableError, match=r"got the text 'y'\. .*fit\(IncompleteTable\(X, label="):
        model.fit(frame, "y")


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


def test_infinity_is_refused_in_fit_and_predict():
    X, y, points = holey_array()
    model = CertainKNeighborsClassifier().fit(X, y)
    points[0, 0] = X[0, 0] = np.inf
    for call in (lambda: model.predict(points), lambda: model.fit(X, y)):
        with pytest.raises(ValueError, match="Input X contains infinity"):
            call()
    with pytest.raises(TableError, match="column 'a' has infinite values in row 0"):
        model.fit(pd.DataFrame(X, columns=list("abc")), y)


def test_labels_that_cannot_be_used():
    X = [[0.0], [1.0], [2.0]]
    model = CertainKNeighborsClassifier(1)
    with pytest.raises(TableError, match="requires y to be passed, but the target y is None"):
        model.fit(X)
    for y in (["a", None, "b"], [0.0, np.nan, 1.0], pd.Series([1, None, 2], dtype="Int64")):
        with pytest.raises(DataError, match=r"every row needs a label; missing in row 1\. Drop"):
            model.fit(X, y)
    with pytest.raises(DataError, match="sortable among each other"):
        model.fit(X, ["a", 1, "b"])
    with pytest.raises(ValueError, match="Input y contains infinity"):
        model.fit(X, [0.0, np.inf, 1.0])
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        model.fit(X, [0.5, 0.25, 1.0])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(X, [0, 1])
    data = IncompleteDataset([[0.0], [1.0]], [0, 1])
    with pytest.raises(TableError, match="y must be None: the IncompleteDataset brings its own"):
        model.fit(data, [0, 1])


def test_rows_that_cannot_be_used():
    model = CertainKNeighborsClassifier(1)
    with pytest.raises(TableError, match="at least 2 rows are needed to fit; got 1"):
        model.fit(pd.DataFrame({"a": [1.0]}), [0])
    with pytest.raises(ValueError, match=r"1 sample\(s\).* while a minimum of 2 is required"):
        model.fit([[1.0]], [0])
    with pytest.raises(TypeError, match=r"must be a string or a number; got \{'a': 1\}"):
        model.fit([[{"a": 1}], [2]], [0, 1])
    with pytest.raises(ValueError, match="Expected 2D array, got 1D array"):
        model.fit([1.0, 2.0], [0, 1])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 51}, r"n_neighbors must be an int in \[1, 50\] .*; got 51"),
        ({"n_neighbors": 0}, r"n_neighbors must be an int in \[1, 50\]"),
        ({"n_neighbors": 2.0}, r"n_neighbors must be an int in \[1, 50\]"),
        ({"metric": "hamming"}, "metric must be one of chebyshev, .*; got 'hamming'"),
        ({"metric": "precomputed"}, 'metric must not be "precomputed"'),
        ({"repairs": "mean"}, 'repairs must be "default"'),
        ({"prior": "flat"}, "prior must be one of label, observed, uniform"),
        ({"scaling": "robust"}, "scaling must be one of minmax, standard, none"),
        ({"kinds": {"x9": "numeric"}}, "kinds names columns that the table does not have: 'x9'"),
        ({"column_weights": {"x0": -1.0}}, "weights of columns must be finite and not negative"),
        ({"repairs": {"x0": []}}, "the repair of column 'x0' gives nothing; a hole needs at least"),
        ({"prior": lambda *given: [-1] * len(given[1])}, "weights, finite and not negative; got"),
        ({"prior": lambda *given: [0] * len(given[1])}, "sums to nothing: no candidate has a wei"),
    ],
)
def test_parameters_that_cannot_be_used(parameters, message):
    X, y, _ = holey_array()
    with pytest.raises((QueryError, TableError), match=message):
        CertainKNeighborsClassifier(**parameters).fit(X, y)


def test_n_neighbors_set_after_fitting_is_checked_too():
    X, y, points = holey_array()
    model = CertainKNeighborsClassifier().fit(X, y).set_params(n_neighbors=60, n_jobs=0)
    with pytest.raises(QueryError, match="n_neighbors must be"):
        model.predict(points)
    with pytest.raises(QueryError, match="n_jobs must be"):
        model.set_params(n_neighbors=1).predict(points)


def test_one_class_is_certain():
    X, _, points = holey_array()
    with pytest.warns(UserWarning, match="every prediction will be certain"):
        model = CertainKNeighborsClassifier().fit(X, ["same"] * len(X))
    assert model.is_certain(points).all()
    assert set(model.predict(points)) == {"same"}


# --- among scikit-learn's tools -------------------------------------------------------------------


def test_clone_and_pickle():
    X, y, points = mixed_frames()
    model = CertainKNeighborsClassifier(5, repairs=[SimpleImputer()], column_weights={"size": 2.0})
    assert clone(model).get_params().keys() == model.get_params().keys()
    assert clone(model).column_weights == {"size": 2.0}
    for fitted in (model.fit(X, y), CertainKNeighborsClassifier().fit(X, y)):
        again = pickle.loads(pickle.dumps(fitted))
        for method in METHODS:
            assert_array_equal(getattr(again, method)(points), getattr(fitted, method)(points))
        assert repr(again.table_) == repr(fitted.table_)


def test_imputers_given_as_a_parameter_are_not_fitted():
    X, y, points = holey_array()
    imputers = [SimpleImputer(), KNNImputer()]
    model = CertainKNeighborsClassifier(repairs=imputers).fit(X, y)
    assert model.repairs is imputers
    assert not any(hasattr(imputer, "n_features_in_") for imputer in imputers)
    assert model.n_worlds_ == 2 ** len(model.dirty_rows_)
    assert model.predict(points).shape == (30,)


def test_in_a_pipeline_with_set_output():
    X, y, points = holey_array()
    X, points = pd.DataFrame(X, columns=list("abc")), pd.DataFrame(points, columns=list("abc"))
    pipeline = make_pipeline(StandardScaler(), CertainKNeighborsClassifier())
    for output in ("default", "pandas", "polars"):
        if output == "polars":
            pytest.importorskip("polars")
        fitted = clone(pipeline).set_output(transform=output).fit(X, y)
        assert hasattr(fitted[-1], "feature_names_in_") == (output != "default")
        # Min-max scaling undoes what standard scaling did.
        expected = CertainKNeighborsClassifier().fit(X, y).predict_proba(points)
        assert_allclose(fitted.predict_proba(points), expected, atol=1e-9)


def test_grid_search():
    X, y, points = holey_array()
    grid = {
        "n_neighbors": [1, 5],
        "prior": ["uniform", "label"],
        "repairs": ["default", [SimpleImputer(), KNNImputer()], {"x0": [0.0, 1.0]}],
    }
    # Folds to score must be complete; holes are in the rows that are always fitted.
    complete = np.flatnonzero(~np.isnan(X).any(axis=1))
    holey = np.flatnonzero(np.isnan(X).any(axis=1))
    folds = [
        (np.concatenate([holey, complete[half::2]]), complete[1 - half :: 2]) for half in (0, 1)
    ]
    search = GridSearchCV(CertainKNeighborsClassifier(), grid, cv=folds, error_score="raise")
    search.fit(X, y)
    assert len(search.cv_results_["params"]) == 12
    assert set(search.best_params_) == set(grid)
    assert search.best_score_ > 0.7
    assert search.predict(points).shape == (30,)


def test_cross_validation_with_holes_in_the_rows_to_fit():
    X, y, _ = holey_array(n_rows=80)
    holes = np.isnan(X).any(axis=1)
    folds = []
    for part in range(4):  # every complete row is held out once; the others are always fitted
        held_out = np.flatnonzero(~holes)[part::4]
        folds.append((np.setdiff1d(np.arange(80), held_out), held_out))
    scores = cross_val_score(CertainKNeighborsClassifier(5), X, y, cv=folds, error_score="raise")
    for score, (train, test) in zip(scores, folds, strict=True):
        model = CertainKNeighborsClassifier(5).fit(X[train], y[train])
        assert len(model.dirty_rows_) == holes.sum()
        assert score == model.score(X[test], y[test])
    with pytest.raises(TableError, match="points to predict must be complete; found holes at row"):
        cross_val_score(CertainKNeighborsClassifier(), X, y, cv=4, error_score="raise")


IMPUTERS = [
    SimpleImputer(),
    SimpleImputer(strategy="median"),
    KNNImputer(n_neighbors=2),
    IterativeImputer(random_state=0, max_iter=50, tol=1e-2),
]


def test_grid_search_over_imputers_and_how_they_weigh():
    X, y, points = holey_array()
    complete = np.flatnonzero(~np.isnan(X).any(axis=1))
    fold = (np.setdiff1d(np.arange(50), complete[::3]), complete[::3])
    grid = {
        "repairs": [IMPUTERS, Imputers(IMPUTERS), Imputers(IMPUTERS, weigh="version")],
        "prior": ["uniform", "label"],
        "n_neighbors": [1, 3],
    }
    search = GridSearchCV(CertainKNeighborsClassifier(), grid, cv=[fold], error_score="raise")
    search.fit(X, y)
    assert len(search.cv_results_["params"]) == 12
    assert search.best_score_ > 0.7
    assert search.predict(points).shape == (30,)
    assert not any(hasattr(imputer, "n_features_in_") for imputer in IMPUTERS)


def test_imputers_weigh_by_version_or_by_distinct_value():
    X, y = [[0.0, 0.0], [1.0, 1.0], [np.nan, 0.0]], [0, 0, 1]
    # Twice 0.5, where the point is, and once far away.
    thrice = [SimpleImputer(), SimpleImputer(), SimpleImputer(strategy="constant", fill_value=9.0)]
    for repairs, share in (
        (thrice, 1 / 2),
        (Imputers(thrice), 1 / 2),
        (Imputers(thrice, weigh="version"), 2 / 3),
    ):
        model = CertainKNeighborsClassifier(1, repairs=repairs, prior="uniform").fit(X, y)
        assert model.world_counts([[0.5, 0.0]]).tolist() == [[1, 1]]
        assert_allclose(model.predict_proba([[0.5, 0.0]]), [[1 - share, share]])


def test_clones_of_every_repair_and_prior_fit_the_same():
    X, y, points = mixed_frames()
    priors = ["label", "uniform", {"size": "observed", "hue": {"red": 1, "blue": 2}}]
    for repairs in ("default", {"size": quantiles(3), "hue": ["red", "blue"]}, IMPUTERS):
        for prior in priors[: 3 if isinstance(repairs, dict) else 2]:
            model = CertainKNeighborsClassifier(3, repairs=repairs, prior=prior)
            expected = model.fit(X, y).predict_proba(points)
            assert_array_equal(clone(model).fit(X, y).predict_proba(points), expected)


@pytest.mark.parametrize(
    "make", [pd.DataFrame, as_polars, as_pyarrow], ids=["pandas", "polars", "pyarrow"]
)
def test_cross_validation_of_frames(make):
    columns, y = mixed_columns(90, holes=0.0)
    scores = cross_val_score(CertainKNeighborsClassifier(), make(columns), y, cv=3)
    expected = cross_val_score(CertainKNeighborsClassifier(), pd.DataFrame(columns), y, cv=3)
    assert_array_equal(scores, expected)
    assert scores.mean() > 0.6


def test_in_parallel_processes():
    X, y, _ = holey_array(n_rows=60)
    X = np.nan_to_num(X)
    model = CertainKNeighborsClassifier(n_jobs=2)
    expected = cross_val_score(model, X, y, cv=2)
    assert_array_equal(cross_val_score(model, X, y, cv=2, n_jobs=2), expected)


# --- in a notebook --------------------------------------------------------------------------------


def test_before_fitting_the_page_is_scikit_learns():
    model = CertainKNeighborsClassifier()
    assert "CertainKNeighborsClassifier" in model._repr_html_()
    assert "rows have holes" not in model._repr_html_()
    assert model._repr_mimebundle_().keys() == {"text/plain", "text/html"}


def test_after_fitting_the_page_tells_what_was_decided():
    X, y, _ = mixed_frames()
    X = X.rename(columns={"size": "<b>size</b>"}).assign(empty=1)
    model = CertainKNeighborsClassifier(prior="uniform").fit(X, y)
    pages = [model._repr_html_(), model._repr_mimebundle_()["text/html"]]
    for page in pages:
        assert "sk-top-container" in page  # scikit-learn's diagram is still there
        assert f"{len(model.dirty_rows_)} of 60 rows have holes: about 10^" in page
        assert "&lt;b&gt;size&lt;/b&gt;</td><td>numeric" in page
        assert "<b>size" not in page
        assert "ignored: every observed value is the same" in page
    model.fit(IncompleteDataset([[[0.0], [5.0]], [[1.0]], [[2.0]]], [7, 8, 8]))
    assert "1 of 3 rows have holes: 2 worlds." in model._repr_html_()


def test_no_page_where_only_text_is_wanted():
    X, y, _ = mixed_frames()
    with sklearn.config_context(display="text"):
        model = CertainKNeighborsClassifier().fit(X, y)
        assert not hasattr(model, "_repr_html_")
        assert model._repr_mimebundle_().keys() == {"text/plain"}


def test_more_worlds_than_python_prints():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(7000, 2))
    X[10:, 0] = np.nan
    model = CertainKNeighborsClassifier().fit(X, X[:, 1] > 0)
    assert model.n_worlds_ == 5**6990
    assert "6,990 of 7,000 rows have holes: about 10^4885.8 worlds" in model._repr_html_()
    assert "CertainKNeighborsClassifier" in make_pipeline(model)._repr_html_()
    assert pickle.loads(pickle.dumps(model)).n_worlds_ == model.n_worlds_


# --- what an import loads -------------------------------------------------------------------------


def run_in_a_new_interpreter(*statements):
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[1] / "src")}
    code = "\n".join(["import sys", *statements])
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_no_dataframes_are_loaded_beyond_what_scikit_learn_loads():
    run_in_a_new_interpreter(
        "import sklearn",
        "heavy = {'pandas', 'polars', 'pyarrow', 'dask', 'sqlalchemy'} - set(sys.modules)",
        "import cpclean.classifier",
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)",
    )


def test_arrays_need_no_dataframe_library():
    run_in_a_new_interpreter(
        "for name in ('pandas', 'polars', 'pyarrow'): sys.modules[name] = None",
        "import numpy as np",
        "from cpclean.classifier import CertainKNeighborsClassifier",
        "X = [[0.0, 'a'], [np.nan, 'b'], [1.0, 'b']]",
        "model = CertainKNeighborsClassifier(1).fit(X, [0, 1, 1])",
        "assert model.predict([[0.0, 'a']]).tolist() == [0]",
    )


# --- real tables ----------------------------------------------------------------------------------


def read(name):
    path = TABLES / name / "data.csv"
    if not path.exists():
        pytest.skip(
            f"the table {name} is not there: tables are looked for in ../shared/data/tables"
        )
    return pd.read_csv(path)


def majority(y):
    return y.value_counts(normalize=True).max()


def assert_fits_and_predicts(model, train, test, label):
    """Real holes in the rows to fit; complete points; better than the commonest label."""
    model.fit(train.drop(columns=label), train[label])
    points, y = test.drop(columns=label), test[label]
    certain = model.is_certain(points)
    shares = model.predict_proba(points)
    assert len(model.dirty_rows_) > 50
    assert_allclose(shares.sum(axis=1), 1.0)
    assert_array_equal(certain, model.possible_labels(points).sum(axis=1) == 1)
    assert (shares[certain].max(axis=1) == 1.0).all()
    assert 0.5 < certain.mean() < 1.0
    assert model.score(points, y) > majority(y)
    counts = model.world_counts(points[:5])
    assert (counts.sum(axis=1) == model.n_worlds_).all()
    assert_agrees(model, points[:5], model.table_.encode(points[:5]))


@pytest.mark.filterwarnings("ignore:values that the training table does not have")
def test_adult():
    frame = read("Adult").sample(2000, random_state=0)
    test = frame[1500:].dropna()
    assert_fits_and_predicts(CertainKNeighborsClassifier(7), frame[:1500], test, "Income")


def test_credit_data():
    frame = read("CreditData").drop(columns="rownames").sample(frac=1.0, random_state=0)
    test = frame[3000:].dropna()
    assert_fits_and_predicts(CertainKNeighborsClassifier(7), frame[:3000], test, "Status")


def test_chile():
    frame = read("Chile").drop(columns="rownames").sample(frac=1.0, random_state=0)
    train, test = frame[:2000], frame[2000:].dropna()
    with pytest.raises(DataError, match="every row needs a label; missing in row"):
        CertainKNeighborsClassifier().fit(train.drop(columns="vote"), train["vote"])
    table = IncompleteTable(train, label="vote", drop_unlabelled=True)
    model = CertainKNeighborsClassifier(7).fit(table)
    assert model.classes_.tolist() == ["A", "N", "U", "Y"]
    assert model.score(test, test["vote"]) > majority(test["vote"])
    assert_agrees(model, test[:20], table.encode(test[:20]))
    labelled = train.dropna(subset="vote")
    same = CertainKNeighborsClassifier(7).fit(labelled.drop(columns="vote"), labelled["vote"])
    assert_array_equal(same.predict_proba(test.drop(columns="vote")), model.predict_proba(test))
