"""What the classifier refuses: frames, labels, rows, parameters."""

import numpy as np
import pandas as pd
import pytest
from classifier.samples import METHODS, holey_array
from sklearn.exceptions import NotFittedError

from cpclean import IncompleteDataset
from cpclean.classifier import CertainKNeighborsClassifier
from cpclean.errors import DataError, QueryError, TableError


@pytest.mark.parametrize("method", METHODS)
def test_nothing_is_predicted_before_fitting(method):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        getattr(CertainKNeighborsClassifier(), method)([[1.0]])


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


def test_infinity_is_refused_in_fit_and_predict():
    X, y, points = holey_array()
    model = CertainKNeighborsClassifier().fit(X, y)
    points[0, 0] = X[0, 0] = np.inf
    for call in (lambda: model.predict(points), lambda: model.fit(X, y)):
        with pytest.raises(TableError, match="column 'x0' has infinite values in row 0"):
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
    with pytest.raises(
        TableError, match="y must be None, because the IncompleteDataset has labels"
    ):
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
        ({"metric": "hemming"}, "metric must be one of chebyshev, .*; got 'hemming'"),
        ({"metric": "precomputed"}, 'metric must not be "precomputed"'),
        ({"repairs": "mean"}, 'repairs must be "default"'),
        ({"prior": "flat"}, "prior must be one of label, observed, uniform"),
        ({"scaling": "robust"}, "scaling must be one of minmax, standard, none"),
        ({"kinds": {"x9": "numeric"}}, "kinds names columns that the table does not have: 'x9'"),
        ({"column_weights": {"x0": -1.0}}, "weights of columns must be finite and not negative"),
        ({"repairs": {"x0": []}}, "the repair of column 'x0' gives nothing; a hole needs at least"),
        ({"prior": lambda *given: [-1] * len(given[1])}, "weights, finite and not negative; got"),
        ({"prior": lambda *given: [0] * len(given[1])}, "sums to nothing: no candidate has a wei"),
        ({"completions": "label"}, "it looks at the label of a row, and that of a point is what"),
        ({"completions": {"x9": "uniform"}}, "completions name columns that the table does not ha"),
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
    with pytest.raises(TableError, match="max_completions must be an int of at least 1; got 0"):
        model.set_params(max_completions=0, n_jobs=None).predict(points)
