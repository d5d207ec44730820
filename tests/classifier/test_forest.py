"""The classifier in the leaves of a forest: scikit-learn's checks, tables with holes, choices."""

import pickle

import numpy as np
import pandas as pd
import pytest
from classifier.samples import METHODS, mixed_frames
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from cpclean import (
    CertainForestClassifier,
    CertainKNeighborsClassifier,
    CleaningSession,
    IncompleteDataset,
    IncompleteTable,
    LeafSpace,
)
from cpclean.classifier.out_of_bag import NUMBERS, best_number
from cpclean.errors import QueryError, TableError


@pytest.mark.filterwarnings("ignore:all rows have the label")
@parametrize_with_checks([CertainForestClassifier(n_trees=10, n_worlds=2)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def holey(n_rows=300, seed=0, n_classes=2):
    X, y = make_classification(
        n_rows, 6, n_informative=4, n_classes=n_classes, random_state=seed, flip_y=0.05
    )
    rng = np.random.default_rng(seed)
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y


SMALL = {"n_trees": 20, "n_worlds": 4}


def test_it_is_the_neighbours_of_leaves():
    X, y = make_classification(200, 5, random_state=1)
    model = CertainForestClassifier(7, **SMALL).fit(X[:150], y[:150])
    assert model.n_worlds_ == 1
    # The same by scikit-learn: ties go to the row that comes first there too, by a hair.
    place = np.argsort(model.table_.rows_kept)
    features = model.table_.points(X)
    codes = model.trees_.apply(features.vectors[features.vector]).astype(float)
    for point in range(150, 200):
        far = (codes[:150] != codes[point]).mean(axis=1) + place * 1e-6
        plain = KNeighborsClassifier(7, metric="precomputed").fit(np.zeros((150, 150)), y[:150])
        assert model.predict(X[point : point + 1]) == plain.predict(far[None, :])


def test_the_space_can_be_given_to_the_other_classifier():
    X, y = holey()
    forest = CertainForestClassifier(5, **SMALL).fit(X[:200], y[:200])
    plain = CertainKNeighborsClassifier(5, space=LeafSpace("forest", **SMALL)).fit(X[:200], y[:200])
    for method in METHODS:
        assert_array_equal(getattr(forest, method)(X[200:]), getattr(plain, method)(X[200:]))


def test_holes_everywhere_and_scikit_learns_tools():
    X, y = holey()
    model = CertainForestClassifier(**SMALL)
    scores = cross_val_score(model, X, y, cv=3, error_score="raise")
    assert scores.mean() > 0.75
    search = GridSearchCV(model, {"n_neighbors": [3, 9]}, cv=2, error_score="raise").fit(X, y)
    assert search.best_params_["n_neighbors"] in (3, 9)
    pipe = make_pipeline(FunctionTransformer(), clone(model)).fit(X, y)
    assert pipe.score(X, y) > 0.8


def test_mixed_columns_and_classes():
    X, y, points = mixed_frames()
    model = CertainForestClassifier(**SMALL).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    for method in METHODS:
        assert_array_equal(getattr(model, method)(points), getattr(again, method)(points))
    counts = model.world_counts(points)
    assert ((counts > 0).sum(axis=1) == 1).tolist() == model.is_certain(points).tolist()
    X, y = holey(n_classes=3)
    assert CertainForestClassifier(**SMALL).fit(X, y).predict_proba(X[:5]).shape == (5, 3)


def test_the_table_keeps_what_was_asked_for_alone():
    X, y = holey()
    model = CertainForestClassifier(**SMALL).fit(X, y)
    assert model.table_.leaves == LeafSpace("forest", min_samples_leaf=3, **SMALL)
    assert type(model.table_.leaves) is LeafSpace


def test_threads_change_nothing(monkeypatch):
    monkeypatch.setattr("cpclean.data.spaces.learning.ROWS_FOR_THREADS", 0)
    X, y = holey()
    one, two = (CertainForestClassifier(**SMALL, n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    assert one.trees_.digest == two.trees_.digest
    assert one.n_neighbors_ == two.n_neighbors_
    assert_array_equal(one.predict_proba(X[:50]), two.predict_proba(X[:50]))


def test_a_table_of_ones_own_is_used_as_it_is():
    X, y = holey()
    frame = pd.DataFrame(X).assign(y=y)
    frame.columns = [*"abcdef", "y"]
    table = IncompleteTable(frame, label="y", space=LeafSpace(**SMALL))
    model = CertainForestClassifier().fit(table)
    assert model.n_neighbors_ == 15
    assert model.trees_ is table.dataset.space
    session = CleaningSession(table, frame.drop(columns="y")[:20], n_neighbors=7)
    question = session.ask()
    session.tell(question.row, candidate=0)
    assert session.classifier().n_neighbors_ == 7
    assert session.classifier().predict(frame.drop(columns="y")[:3]).shape == (3,)
    assert session.world().shape == frame.shape


# -- how many neighbours ---------------------------------------------------------------------------


def test_the_number_of_neighbours_is_chosen_and_reported():
    X, y = holey()
    model = CertainForestClassifier(**SMALL).fit(X, y)
    assert set(model.neighbors_accuracy_) == set(NUMBERS)
    assert model.n_neighbors_ in NUMBERS
    assert all(0.5 < one < 1.0 for one in model.neighbors_accuracy_.values())
    # Few rows are all there are.
    assert CertainForestClassifier(**SMALL).fit(X[:8], [0, 1] * 4).n_neighbors_ <= 8


def test_rows_with_holes_would_flatter():
    # Labels by chance, and holes that the prior fills with a look at them.
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 2, (400, 3)).astype(float), rng.integers(0, 2, 400)
    X[:, 2] = y
    X[rng.random(400) < 0.9, 2] = np.nan
    model = CertainForestClassifier(**SMALL).fit(X, y)
    assert (model.n_neighbors_, model.neighbors_accuracy_) == (15, {})
    # Some complete rows are enough, and so is half of a small table.
    X[:60, 2] = y[:60]
    model = CertainForestClassifier(**SMALL).fit(X, y)
    assert np.isnan(X).any(axis=1).mean() > 0.7
    assert set(model.neighbors_accuracy_) == set(NUMBERS)
    assert CertainForestClassifier(**SMALL).fit(X[:80], y[:80]).neighbors_accuracy_


def test_rows_that_trees_have_seen_would_flatter():
    # Labels by chance: nothing can be right more often than half of the time.
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(400, 5)), rng.integers(0, 2, 400)
    model = CertainForestClassifier(**SMALL, min_samples_leaf=1).fit(X, y)
    assert all(0.4 < one < 0.6 for one in model.neighbors_accuracy_.values())
    assert (model.predict(X) == y).mean() > 0.65


@pytest.mark.parametrize(
    ("right", "best"),
    [
        ({}, 15),
        ({5: [1, 1, 1, 1], 15: [1, 1, 1, 1]}, 15),
        ({5: [1, 1, 1, 1, 1, 1, 0, 1], 15: [0, 0, 1, 0, 1, 0, 0, 1]}, 5),
        ({5: [1] * 40, 15: [0] + [1] * 39}, 15),  # one row may be chance
        ({5: [1] * 40, 15: [0] * 9 + [1] * 31}, 5),
        ({5: [0, 1], 9: [1, 1]}, 9),
    ],
)
def test_another_number_has_to_be_better_by_more_than_chance(right, best):
    assert best_number({k: np.array(one, dtype=bool) for k, one in right.items()}, 100) == best


# -- bad input -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"n_neighbors": "many"}, r'n_neighbors must be an int or "auto"; got'),
        ({"n_neighbors": 0}, r"n_neighbors must be an int in \[1, 300\]"),
        ({"n_neighbors": 301}, r"n_neighbors must be an int in \[1, 300\]"),
        ({"n_trees": 0}, "n_trees must be an int of at least 1; got 0"),
        ({"max_features": "many"}, "max_features must be"),
        ({"min_samples_leaf": 10**6}, "min_samples_leaf=1000000 needs"),
        ({"column_weights": {"x1": 3}}, "a weight can only be 0"),
    ],
)
def test_what_is_refused(options, text):
    X, y = holey()
    with pytest.raises((QueryError, ValueError), match=text):
        CertainForestClassifier(**{**SMALL, **options}).fit(X, y)


def test_a_dataset_without_trees_is_one_of_vectors():
    data = IncompleteDataset([[[0.0], [1.0]], [[2.0]]], [0, 1])
    with pytest.raises(QueryError, match="CertainForestClassifier needs data among leaves"):
        CertainForestClassifier().fit(data)


def coarse(n_rows=1200, seed=0):
    """Rows of few distinct values, with labels that differ among equal rows; sorted by label."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n_rows, 3)).astype(float)
    y = (rng.random(n_rows) < 0.1 + 0.8 * (X[:, 0] == X[:, 1])).astype(int)
    X[rng.random(X.shape) < 0.03] = np.nan
    order = np.argsort(y, kind="stable")
    return X[order], y[order]


SORTABLE = [
    CertainForestClassifier(15, **SMALL),
    CertainForestClassifier(**SMALL),
    CertainKNeighborsClassifier(15, space=LeafSpace("random", n_trees=20)),
]


@pytest.mark.parametrize("model", SORTABLE, ids=["forest", "auto", "random"])
def test_rows_may_be_sorted_by_their_label(model):
    X, y = coarse()
    held = np.random.default_rng(1).permutation(len(y))[:150]
    rest = np.delete(np.arange(len(y)), held)
    found = {}
    for name, rows in {
        "sorted": rest,
        "other way": rest[::-1],
        "mixed": np.random.default_rng(2).permutation(rest),
    }.items():
        found[name] = model.fit(X[rows], y[rows]).score(X[held], y[held])
    # The best that can be done is 0.9; ties that all go to one label come to about 0.5.
    assert min(found.values()) > 0.8, found


def test_a_table_of_ones_own_stays_sorted_unless_it_is_shuffled():
    X, y = coarse()
    held = np.random.default_rng(1).permutation(len(y))[:150]
    rest = np.delete(np.arange(len(y)), held)
    space = LeafSpace("random", n_trees=20)
    table = IncompleteTable(X[rest], label=y[rest], space=space)
    model = CertainKNeighborsClassifier(15)
    assert_array_equal(model.fit(table).table_.rows_kept, np.arange(len(rest)))
    sorted_ = model.score(X[held], y[held])
    assert model.fit(table.shuffled()).score(X[held], y[held]) > max(0.8, sorted_ + 0.1)


def test_rows_are_named_as_in_x():
    X, y = holey()
    model = CertainForestClassifier(5, **SMALL).fit(X[:200], y[:200])
    names = model.table_.rows_kept
    assert_array_equal(model.dirty_rows_, np.flatnonzero(np.isnan(X[:200]).any(axis=1)))
    assert sorted(names) == list(range(200))
    assert_array_equal(model.dataset_.labels, y[:200][names])
    assert_array_equal(model.task(X[200:]).row_names, names)
    assert_array_equal(model.table_.holes, np.isnan(X[:200])[names])
    other = CertainForestClassifier(5, **SMALL, random_state=1).fit(X[:200], y[:200])
    assert (other.table_.rows_kept != names).any()
    plain = CertainKNeighborsClassifier(5).fit(X[:200], y[:200])
    assert_array_equal(plain.table_.rows_kept, np.arange(200))
    # Bad rows are named as in X, too.
    X[17] = np.nan
    with pytest.raises(TableError, match="nothing is known of row 17"):
        CertainForestClassifier(**SMALL).fit(X, y)
