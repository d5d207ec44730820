"""The classifier among scikit-learn's tools: its checks, pipelines, searches, notebooks."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from classifier.samples import (
    METHODS,
    as_polars,
    as_pyarrow,
    holey_array,
    mixed_columns,
    mixed_frames,
)
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone, is_classifier
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from cpclean import IncompleteDataset
from cpclean.classifier import CertainKNeighborsClassifier
from cpclean.data.repairs import Imputers, quantiles

# -- scikit-learn's checks -------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:all rows have the label")
@parametrize_with_checks([CertainKNeighborsClassifier()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_tags_say_what_it_takes():
    tags = get_tags(CertainKNeighborsClassifier())
    assert is_classifier(CertainKNeighborsClassifier())
    assert tags.input_tags.allow_nan
    assert tags.input_tags.categorical
    assert not tags.input_tags.sparse
    assert tags.classifier_tags.multi_class


# -- among scikit-learn's tools --------------------------------------------------------------------


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
    search = GridSearchCV(CertainKNeighborsClassifier(), grid, cv=2, error_score="raise")
    search.fit(X, y)
    assert len(search.cv_results_["params"]) == 12
    assert set(search.best_params_) == set(grid)
    assert search.best_score_ > 0.7
    assert search.predict(points).shape == (30,)


def test_cross_validation_with_holes_everywhere():
    X, y, _ = holey_array(n_rows=80)
    scores = cross_val_score(CertainKNeighborsClassifier(5), X, y, cv=4, error_score="raise")
    for score, (train, test) in zip(scores, StratifiedKFold(4).split(X, y), strict=True):
        assert np.isnan(X[test]).any()
        model = CertainKNeighborsClassifier(5).fit(X[train], y[train])
        assert score == np.mean(model.predict(X[test]) == y[test])
    assert scores.mean() > 0.7


IMPUTERS = [
    SimpleImputer(),
    SimpleImputer(strategy="median"),
    KNNImputer(n_neighbors=2),
    IterativeImputer(random_state=0, max_iter=50, tol=1e-2),
]


def test_grid_search_over_imputers_and_how_they_weigh():
    X, y, points = holey_array()
    grid = {
        "repairs": [IMPUTERS, Imputers(IMPUTERS), Imputers(IMPUTERS, weigh="version")],
        "prior": ["uniform", "label"],
        "n_neighbors": [1, 3],
    }
    search = GridSearchCV(CertainKNeighborsClassifier(), grid, cv=2, error_score="raise")
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
    columns, y = mixed_columns(90)
    model = CertainKNeighborsClassifier()
    scores = cross_val_score(model, make(columns), y, cv=3, error_score="raise")
    expected = cross_val_score(model, pd.DataFrame(columns), y, cv=3)
    assert_array_equal(scores, expected)
    assert scores.mean() > 0.6


@pytest.mark.slow
def test_in_parallel_processes():
    X, y, _ = holey_array(n_rows=60)
    model = CertainKNeighborsClassifier(n_jobs=2)
    expected = cross_val_score(model, X, y, cv=2)
    assert_array_equal(cross_val_score(model, X, y, cv=2, n_jobs=2), expected)


# -- in a notebook ---------------------------------------------------------------------------------


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
