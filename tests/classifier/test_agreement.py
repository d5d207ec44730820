"""The classifier says what the queries say, and without holes what scikit-learn's says."""

from pathlib import Path

import numpy as np
import oracle
import pandas as pd
import pytest
from classifier.samples import assert_agrees, holey_array, mixed_frames
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.compose import make_column_transformer
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, OneHotEncoder
from strategies import sweep

from cpclean import IncompleteDataset, IncompleteTable
from cpclean.classifier import CertainKNeighborsClassifier
from cpclean.data.drawing import Drawing
from cpclean.errors import DataError

TABLES = Path(__file__).resolve().parents[3] / "shared" / "data" / "tables"


# -- agreement -------------------------------------------------------------------------------------


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
        "max_exact": 20,
        "n_draws": 16,
        "random_state": 3,
    }
    points = points[points.hue != "green"]
    model = CertainKNeighborsClassifier(column_weights={"size": 2.0}, **options)
    model.fit(X, y)
    table = IncompleteTable(X, label=y, weights={"size": 2.0}, **options)
    assert model.dataset_ == table.dataset
    assert model.dataset_.drawing == table.dataset.drawing == Drawing(20, 16, 3)
    assert not table.is_exact
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


# -- without holes: scikit-learn's neighbours ------------------------------------------------------


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


# -- real tables -----------------------------------------------------------------------------------


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
    model = CertainKNeighborsClassifier(7, max_exact=1500)
    assert_fits_and_predicts(model, frame[:3000], test, "Status")


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
