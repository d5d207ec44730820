"""Points with holes: every prediction is that of their completions, one by one."""

from pathlib import Path

import numpy as np
import oracle
import pandas as pd
import pytest
from classifier.samples import FRAMES, METHODS, as_polars, holey_array, mixed_columns, mixed_frames
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from slow_cases import parts

from cpclean import CleaningSession, IncompleteDataset, IncompleteTable, Points
from cpclean.classifier import CertainKNeighborsClassifier
from cpclean.data import points as points_module
from cpclean.report import report

TABLES = Path(__file__).resolve().parents[3] / "shared" / "data" / "tables"


def entries(points, number):
    own = points.entries(number)
    return points.vectors[points.vector[own]], points.weight[own]


# -- against single predictions --------------------------------------------------------------------


def check_mean_over_completions(model, X):
    """Every method against the same method, asked about each completion as a point of its own."""
    points = model.table_.points(X, model.completions, max_completions=10**6)
    found = {method: getattr(model, method)(X) for method in METHODS}
    for number in range(points.n_points):
        vectors, weight = entries(points, number)
        alone = {method: getattr(model, method)(Points.of(vectors)) for method in METHODS[1:]}
        shares = weight @ np.array(alone["predict_proba"])
        possible = np.any(alone["possible_labels"], axis=0)
        assert_allclose(found["predict_proba"][number], shares, atol=1e-12)
        assert_array_equal(found["possible_labels"][number], possible)
        assert found["is_certain"][number] == (possible.sum() == 1)
        assert (
            found["world_counts"][number].tolist()
            == np.sum(np.array(alone["world_counts"], dtype=object), axis=0).tolist()
        )
        best = model.classes_.tolist().index(found["predict"][number])
        assert shares[best] >= shares.max() - 1e-12


def small_tables(seed, n_rows, n_points, n_classes):
    rng = np.random.default_rng(seed)
    columns = {
        "a": rng.integers(0, 3, n_rows + n_points).astype(object),
        "b": rng.choice(list("xyz"), n_rows + n_points).astype(object),
        "c": rng.random(n_rows + n_points).round(1).astype(object),
    }
    frame = pd.DataFrame(columns)
    gone = rng.random(frame.shape) < np.repeat([0.12, 0.4], [n_rows, n_points])[:, None]
    gone[:n_rows, 2] &= ~gone[:n_rows].all(axis=1)
    frame.loc[:1, "c"], gone[:2, 2] = [0.25, 0.75], False  # at least one column says something
    frame = frame.mask(gone, None)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n_rows - n_classes)])
    return frame[:n_rows], y, frame[n_rows:].reset_index(drop=True)


def check_small(seed):
    rng = np.random.default_rng(seed)
    n_classes = int(rng.integers(2, 5))
    n_rows = int(rng.integers(n_classes + 1, 9))
    X, y, points = small_tables(seed, n_rows, 3, n_classes)
    completions = ["observed", "uniform", "holoclean"][seed % 3]
    model = CertainKNeighborsClassifier(int(rng.integers(1, n_rows + 1)), completions=completions)
    check_mean_over_completions(model.fit(X, y), points)


@pytest.mark.filterwarnings("ignore::cpclean.errors.TableWarning")
def test_predictions_are_the_mean_over_completions():
    for seed in range(10):
        check_small(seed)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::cpclean.errors.TableWarning")
def test_predictions_are_the_mean_over_completions_in_many_cases():
    for seed in parts(range(100, 400), 100):
        check_small(seed)


def check_against_worlds(seed):
    """All worlds and completions of a tiny table, by the oracle."""
    X, y, given = small_tables(seed, 5, 2, 2)
    model = CertainKNeighborsClassifier(1 + seed % 3).fit(X, y)
    if model.n_worlds_ > 200:
        return False
    data = model.dataset_
    rows = [data.candidates(row).tolist() for row in range(data.n_rows)]
    priors = [data.prior(row).tolist() for row in range(data.n_rows)]
    points = model.table_.points(given, max_completions=10**6)
    shares, certain = model.predict_proba(given), model.is_certain(points)
    for number in range(points.n_points):
        vectors, weight = entries(points, number)
        asked = [
            oracle.Worlds(rows, data.codes.tolist(), 2, priors, one, model.n_neighbors)
            for one in vectors.tolist()
        ]
        expected = weight @ np.array([one.shares() for one in asked], dtype=float)
        assert_allclose(shares[number], expected, atol=1e-10)
        assert certain[number] == (np.any([one.possible() for one in asked], axis=0).sum() == 1)
    return True


@pytest.mark.filterwarnings("ignore::cpclean.errors.TableWarning")
def test_predictions_are_those_of_all_worlds_and_completions():
    assert sum(check_against_worlds(seed) for seed in range(12)) > 5


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::cpclean.errors.TableWarning")
def test_predictions_are_those_of_all_worlds_and_completions_in_many_cases():
    seeds = parts(range(1000, 2000), 250)
    assert sum(check_against_worlds(seed) for seed in seeds) > 0.3 * len(seeds)


# -- points that are drawn -------------------------------------------------------------------------


def check_drawn(seed):
    """What is certain about drawn points is so for all completions; how many are found."""
    rng = np.random.default_rng(seed)
    n_classes = int(rng.integers(2, 4))
    X, y, given = small_tables(seed, 9, 6, n_classes)
    metric = ["euclidean", "manhattan", "chebyshev", "linear", "cosine"][seed % 5]
    model = CertainKNeighborsClassifier(1 + seed % 4, metric, max_completions=4, n_draws=3)
    possible = model.fit(X, y).possible_labels(given)
    points = model.table_.points(given, max_completions=4)
    certain = model.is_certain(points)
    all_possible = model.possible_labels(model.table_.points(given, max_completions=10**6))
    all_certain = all_possible.sum(axis=1) == 1
    assert (possible >= all_possible).all()
    assert (certain <= all_certain).all()
    assert_array_equal(certain, possible.sum(axis=1) == 1)
    return len(points.drawn), all_certain[points.drawn].sum(), certain[points.drawn].sum()


@pytest.mark.filterwarnings("ignore::cpclean.errors.TableWarning")
def test_what_is_certain_about_drawn_points_is_so():
    found = np.sum([check_drawn(seed) for seed in range(40)], axis=0)
    assert found[0] > 50
    assert found[2] > 0


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::cpclean.errors.TableWarning")
def test_what_is_certain_about_drawn_points_is_so_in_many_cases():
    found = np.sum([check_drawn(seed) for seed in parts(range(1000, 2000), 200)], axis=0)
    assert found[2] > 0.2 * found[1]


def test_shares_of_draws_are_right_on_average():
    X, y, points = mixed_frames()
    points = points.astype(object)
    points.loc[:5, ["size", "hue", "old"]] = None
    exact = CertainKNeighborsClassifier(max_completions=10**6).fit(X, y).predict_proba(points[:6])
    found = [
        CertainKNeighborsClassifier(max_completions=9, n_draws=16, random_state=seed)
        .fit(X, y)
        .predict_proba(points[:6])
        for seed in range(30)
    ]
    error = np.std(found, axis=0, ddof=1) / np.sqrt(30)
    assert (np.abs(np.mean(found, axis=0) - exact) <= 4 * error + 1e-12).all()


# -- frames, order, memory -------------------------------------------------------------------------


@pytest.mark.parametrize("kind", FRAMES)
def test_every_frame_with_holes_gives_the_same_predictions(kind):
    columns, y = mixed_columns()
    given, _ = mixed_columns(40, seed=1, holes=0.4)
    given["old"] = [None] * 40
    expected = CertainKNeighborsClassifier().fit(pd.DataFrame(columns), y)
    model = CertainKNeighborsClassifier().fit(FRAMES[kind](columns), y)
    for method in ("predict_proba", "possible_labels"):
        actual = getattr(model, method)(FRAMES[kind](given))
        assert_array_equal(actual, getattr(expected, method)(pd.DataFrame(given)))


@pytest.mark.parametrize("method", METHODS)
def test_arrays_with_holes(method):
    X, y, points = holey_array()
    points[2, 1] = points[7, 0] = points[7, 2] = np.nan
    model = CertainKNeighborsClassifier(null_tokens=["-999"]).fit(X, y)
    expected = getattr(model, method)(points)
    masked = np.ma.masked_array(np.nan_to_num(points), mask=np.isnan(points))
    nones = np.where(np.isnan(points), None, points.astype(object))
    tokens = np.where(np.isnan(points), -999.0, points)
    for given in (points.astype(object), points.tolist(), masked, nones, tokens):
        assert_array_equal(getattr(model, method)(given), expected)


@pytest.mark.parametrize("limit", [5, 125])
def test_neither_order_nor_batch_matters(limit, monkeypatch):
    X, y, _ = mixed_frames()
    given = pd.DataFrame(mixed_columns(30, seed=1, holes=0.5)[0])
    model = CertainKNeighborsClassifier(max_completions=limit, n_draws=8).fit(X, y)
    order = np.random.default_rng(0).permutation(30)
    asked = [{}, {"_PART": 300}]
    for method in METHODS[:4]:
        expected = getattr(model, method)(given)
        shuffled = getattr(model, method)(given.iloc[order])
        assert_array_equal(shuffled, expected[order])
        batches = [getattr(model, method)(given[at : at + 7]) for at in range(0, 30, 7)]
        assert_array_equal(np.concatenate(batches), expected)
        for setting in asked:
            with monkeypatch.context() as patch:
                for name, value in setting.items():
                    patch.setattr(points_module, name, value)
                assert_array_equal(getattr(model, method)(given), expected)


def test_a_point_of_which_nothing_is_known():
    X, y, points = mixed_frames()
    model = CertainKNeighborsClassifier(max_completions=10**4).fit(X, y)
    nothing = pd.DataFrame({name: [None] for name in X})
    known = X[["hue", "old"]].astype(object)
    for name, value in {"hue": "red", "old": True}.items():
        known.loc[known[name].isna(), name] = value
    two = CertainKNeighborsClassifier().fit(known, y)
    check_mean_over_completions(two, nothing[["hue", "old"]])
    shares = model.predict_proba(nothing)[0]
    assert shares.min() > 0.2
    assert not model.is_certain(nothing)[0]
    assert model.predict(points.reindex(range(41))).shape == (41,)


def test_unseen_categories_beside_holes():
    X, y, points = mixed_frames()
    model = CertainKNeighborsClassifier().fit(X, y)
    points.loc[0, ["hue", "size"]] = ["never", None]
    points.loc[1, "hue"] = None
    with pytest.warns(UserWarning, match="encoded as all zero: 1 in column 'hue'"):
        shares = model.predict_proba(points)
    assert np.isfinite(shares).all()


def test_is_exact_speaks_of_the_training_rows():
    X, y, _ = mixed_frames()
    assert CertainKNeighborsClassifier().fit(X, y).is_exact_
    assert not CertainKNeighborsClassifier(max_exact=5).fit(X, y).is_exact_
    data = IncompleteDataset([[[0.0], [5.0]], [[1.0]]], [7, 8])
    model = CertainKNeighborsClassifier(1).fit(data)
    assert model.is_exact_
    assert model.predict_proba(Points([[[0.0], [9.0]]])).tolist() == [[0.5, 0.5]]
    assert model.task(Points([[[0.0], [9.0]]]), [7]).points.n_points == 1


# -- among other tools -----------------------------------------------------------------------------


def test_grid_search_over_completions():
    X, y, _ = mixed_frames(holes=0.3)
    grid = {"completions": ["observed", "uniform", "holoclean"], "n_neighbors": [3, 7]}
    search = GridSearchCV(CertainKNeighborsClassifier(), grid, cv=3, error_score="raise").fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_score_ > 0.6


@pytest.mark.filterwarnings("ignore:values that the training table does not have")
@pytest.mark.parametrize("make", [pd.DataFrame, as_polars], ids=["pandas", "polars"])
def test_a_pipeline_on_frames_with_holes_and_unseen_categories(make):
    columns, y = mixed_columns(90)
    points, labels = mixed_columns(40, seed=1, holes=0.3)
    points["hue"] = ["pink", "grey", *points["hue"][2:]]
    pipeline = make_pipeline(FunctionTransformer(), CertainKNeighborsClassifier())
    fitted = pipeline.fit(make(columns), y)
    assert_array_equal(
        fitted.predict_proba(make(points)),
        CertainKNeighborsClassifier()
        .fit(pd.DataFrame(columns), y)
        .predict_proba(pd.DataFrame(points)),
    )
    assert fitted.score(make(points), labels) > 0.5


def test_a_pipeline_with_a_scaler_and_holes():
    X, y, points = holey_array()
    points[::3, 0] = np.nan
    scaled = make_pipeline(StandardScaler(), CertainKNeighborsClassifier()).fit(X, y)
    plain = CertainKNeighborsClassifier().fit(X, y)
    assert_allclose(scaled.predict_proba(points), plain.predict_proba(points), atol=1e-9)


def test_sessions_and_tasks_and_reports(tmp_path):
    X, y, points = mixed_frames()
    points.loc[::4, "hue"] = None
    points.loc[3, ["size", "rooms"]] = None
    table = IncompleteTable(X.assign(sold=y), "sold")
    session = CleaningSession(table, points[:10])
    expected = CleaningSession(table, table.points(points[:10]))
    assert session.ask().row == expected.ask().row
    assert_array_equal(session.certain, expected.certain)
    model = CertainKNeighborsClassifier().fit(table)
    assert_array_equal(session.certain, model.is_certain(points[:10]))
    task = model.task(points[:10], ["yes"] * 10)
    assert task.raw_points.equals(points[:10])
    assert task.points.mixtures.tolist() == [0, 3, 4, 8]
    report(model, tmp_path / "report.html", X=points[:10], y=["yes"] * 10)
    assert "certain" in (tmp_path / "report.html").read_text()


# -- real tables -----------------------------------------------------------------------------------


def read(name):
    path = TABLES / name / "data.csv"
    if not path.exists():
        pytest.skip(
            f"the table {name} is not there: tables are looked for in ../shared/data/tables"
        )
    return pd.read_csv(path)


@pytest.mark.filterwarnings("ignore:values that the training table does not have")
@pytest.mark.parametrize(
    ("name", "label", "least"), [("CreditData", "Status", 0.72), ("Chile", "vote", 0.5)]
)
def test_cross_validation_of_real_tables(name, label, least):
    frame = read(name).drop(columns="rownames").dropna(subset=label)
    frame = frame.sample(600, random_state=0)
    X, y = frame.drop(columns=label), frame[label]
    assert X.isna().any(axis=1).sum() > 5
    scores = cross_val_score(CertainKNeighborsClassifier(15), X, y, cv=3, error_score="raise")
    assert len(scores) == 3
    assert scores.mean() > least


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:values that the training table does not have")
def test_cross_validation_of_adult():
    frame = read("Adult").sample(3000, random_state=0)
    X, y = frame.drop(columns="Income"), frame["Income"]
    assert X.isna().any(axis=1).sum() > 100
    scores = cross_val_score(CertainKNeighborsClassifier(15), X, y, cv=5, error_score="raise")
    assert scores.mean() > 0.78
