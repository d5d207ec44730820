"""Tables in the space of a fitted object: against brute force, in sessions, and what is refused."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import oracle
import pandas as pd
import polars as pl
import pytest
from data.table_samples import FEATURES, FRAME
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from slow_cases import rest_slow

from cpclean import (
    CertainKNeighborsClassifier,
    CleaningSession,
    IncompleteTable,
    expected_entropies,
    is_certain,
    possible_labels,
    world_counts,
    world_shares,
)
from cpclean.data.spaces.fitted_map import FittedMap
from cpclean.data.spaces.leaf_space import LeafSpace
from cpclean.data.spaces.tree_arrays import nodes_of
from cpclean.data.spaces.trees import Trees
from cpclean.errors import DataError, QueryError, TableError

NUMBERS = ["size", "rooms"]


def full(seed: int = 0, n_rows: int = 40) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    size, hue = rng.normal(size=n_rows).round(1), rng.choice(["red", "green", "blue"], n_rows)
    rooms = rng.integers(1, 5, n_rows)
    y = np.where((size > 0) ^ (hue == "red"), "yes", "no")
    return pd.DataFrame({"size": size, "rooms": rooms.astype(float), "hue": hue, "y": y})


def holed(seed: int = 0, n_rows: int = 40, share: float = 0.2) -> pd.DataFrame:
    rng = np.random.default_rng(seed + 1000)
    made = full(seed, n_rows)
    for number, column in enumerate(("size", "rooms", "hue")):
        # One column of each row is always there.
        holes = (rng.random(n_rows) < share) & (np.arange(n_rows) % 2 != number % 2)
        made.loc[holes, column] = None
    return made


def forest(**options: Any) -> RandomForestClassifier:
    return RandomForestClassifier(7, max_depth=3, random_state=0, **options)


def encoder(**options: Any) -> Any:
    one_hot = OneHotEncoder(handle_unknown="ignore", **options)
    return make_column_transformer((one_hot, ["hue"]), remainder="passthrough")


X, Y = full().drop(columns="y"), full()["y"]
CODED = make_pipeline(encoder(), forest()).fit(X, Y)
VECTORS = make_pipeline(encoder(sparse_output=False), StandardScaler(), PCA(2)).fit(X)


def numbers(share: float = 0.2) -> pd.DataFrame:
    return holed(share=share)[[*NUMBERS, "y"]]


# -- forests that are read -----------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:X has feature names")  # boosting, of itself
@pytest.mark.parametrize(
    "fitted",
    [
        forest(),
        DecisionTreeClassifier(max_depth=3),
        BaggingClassifier(DecisionTreeClassifier(max_depth=2), 4, max_features=0.5),
        GradientBoostingClassifier(n_estimators=3),
    ],
)
def test_a_fitted_forest_is_read_with_its_columns_in_any_order(fitted: Any) -> None:
    fitted.fit(X[["rooms", "size"]], Y)
    table = IncompleteTable(numbers(), label="y", space=fitted)
    trees, data = table.dataset.space, table.dataset
    rows = pd.DataFrame(data.arrays.base, columns=NUMBERS)[["rooms", "size"]]
    if hasattr(fitted, "apply"):
        leaves = fitted.apply(rows).reshape(len(rows), -1)
        assert trees.apply(data.arrays.base).tolist() == leaves.tolist()
    assert trees.n_features == 2
    assert world_shares(data, table.points(X[NUMBERS]), 5).sum(axis=1) == pytest.approx(1)
    assert table.leaves == LeafSpace("fitted")


def test_an_array_and_columns_without_information() -> None:
    rng = np.random.default_rng(0)
    given = np.column_stack([rng.normal(size=30), np.full(30, 7.0), rng.normal(size=30) * 1e6])
    labels = (given[:, 0] > 0).astype(int)
    model = ExtraTreesRegressor(5, random_state=0).fit(given, labels)
    holes = given.copy()
    holes[[1, 4], [0, 1]] = np.nan
    table = IncompleteTable(holes, labels, space=model)
    base = table.dataset.arrays.base
    assert base[4].tolist() == given[4].tolist()  # a constant column is filled by its constant
    assert base[0].tolist() == given[0].tolist()  # nothing is scaled
    assert table.dataset.space.apply(given).tolist() == model.apply(given).tolist()
    assert table.report[1].decision.code == "taken"


def test_a_forest_that_is_called_is_the_same_as_one_that_is_read() -> None:
    model = forest().fit(X[NUMBERS].to_numpy(), Y)
    read, called = (
        IncompleteTable(numbers(), label="y", space=space)
        for space in (model, OwnLeaves(model.apply))
    )
    assert isinstance(read.dataset.space, Trees)
    assert isinstance(called.dataset.space, FittedMap)
    points = full(1, 50)[NUMBERS].to_numpy()
    for query in (world_counts, possible_labels):
        one, two = (query(table.dataset, points, 5).tolist() for table in (read, called))
        assert one == two
    one, two = (expected_entropies(table.dataset, points, 5) for table in (read, called))
    assert np.abs(one - two).max() < 1e-12


def test_a_classifier_that_is_cloned_needs_a_frozen_forest() -> None:
    model = forest().fit(X[NUMBERS], Y)
    rows = numbers()[NUMBERS]
    found = clone(CertainKNeighborsClassifier(5, space=FrozenEstimator(model))).fit(rows, Y)
    assert found.dataset_.space.digest == Trees.joined(nodes_of(model), 2).digest
    with pytest.raises(TableError, match="clones, put it into a FrozenEstimator"):
        clone(CertainKNeighborsClassifier(5, space=model)).fit(rows, Y)


# -- against brute force -------------------------------------------------------------------------


def small_table(space: Any, columns: list[str], seed: int, **options: Any) -> IncompleteTable:
    given = holed(seed, 9, 0.25)[[*columns, "y"]]
    repairs = {"size": [-1.0, 1.0], "rooms": [1.0, 4.0], "hue": ["red", "blue"]}
    some = {name: values for name, values in repairs.items() if name in columns}
    return IncompleteTable(given, label="y", repairs=some, space=space, **options)


def raw(space: Any, columns: list[str], vectors: np.ndarray, table: IncompleteTable) -> Any:
    """Vectors of the table's space as rows of raw values, on a way of the test's own."""
    made = {}
    for number, name in enumerate(columns):
        feature = table.space.features[number]
        made[name] = vectors[:, number]
        if feature.categories:
            made[name] = [feature.categories[int(place)] for place in vectors[:, number]]
    return pd.DataFrame(made)


CASES = {
    "forest": (forest().fit(X[NUMBERS], Y), NUMBERS, lambda it: it.apply, "hamming"),
    "pipeline of a forest": (
        CODED,
        list(X),
        lambda it: lambda rows: it[-1].apply(it[:-1].transform(rows)),
        "hamming",
    ),
    "vectors": (VECTORS, list(X), lambda it: it.transform, "manhattan"),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("seed", rest_slow(range(3)))
def test_all_worlds_one_by_one(case: str, seed: int) -> None:
    space, columns, how, metric = CASES[case]
    table = small_table(space, columns, seed, prior="uniform")
    data = table.dataset
    assert 1 < data.n_worlds <= 2**10
    called = how(space)

    def distance(x: list[float], t: list[float]) -> float:
        one, two = called(raw(space, columns, np.array([x, t]), table)).tolist()
        return oracle.distance(one, two, metric)

    asked = table.points(full(seed + 50, 3)[columns])
    candidates = [data.candidates(row).tolist() for row in range(data.n_rows)]
    measured = {}

    def once(x: list[float], t: list[float]) -> float:
        key = (*x, *t)
        if key not in measured:
            measured[key] = distance(x, t)
        return measured[key]

    for point, t in enumerate(asked.all_vectors()):
        expected = oracle.world_counts(
            candidates, data.codes.tolist(), data.n_classes, None, t.tolist(), 3, once
        )
        found = world_counts(data, asked, 3, metric)[point]
        assert found.tolist() == expected
        possible = [count > 0 for count in expected]
        assert possible_labels(data, asked, 3, metric)[point].tolist() == possible
        assert is_certain(data, asked, 3, metric)[point] == (sum(possible) == 1)


@pytest.mark.parametrize("space", [CODED, VECTORS])
def test_what_is_certain_with_open_rows_is_certain(space: Any) -> None:
    given, points = holed(share=0.12), full(1, 60).drop(columns="y")
    exact = IncompleteTable(given, label="y", space=space)
    some = IncompleteTable(given, label="y", space=space, max_exact=3)
    assert not some.is_exact
    sound = is_certain(some.dataset, some.points(points), 7)
    assert not (sound & ~is_certain(exact.dataset, exact.points(points), 7)).any()
    assert sound.any()


# -- sessions ----------------------------------------------------------------------------------


@pytest.mark.parametrize("space", [CODED, VECTORS])
@pytest.mark.parametrize("seed", range(2))
def test_told_values_that_are_no_candidates(space: Any, seed: int) -> None:
    table = IncompleteTable(holed(seed, share=0.2), label="y", space=space)
    asked = holed(seed + 7, 20).drop(columns="y")
    session = CleaningSession(table, asked, n_neighbors=3)
    told = {"size": 0.123, "rooms": 2.5, "hue": "violet"}
    points = table.session_points(asked)
    n_told = 0
    while n_told < 4 and (question := session.ask()) is not None:
        n_told += 1
        known = {cell.column: told[cell.column] for cell in question.cells}
        session.tell(question.row, value=known)
        if "size" in known:
            assert session.data.candidates(question.row)[0][0] == 0.123
        fresh = table.dataset
        for row in session.data.pinned_rows.tolist():
            fresh = fresh.pin(row, value=session.data.candidates(row)[0])
        certain, weights = is_certain(fresh, points.vectors, 3), points.vector_weights
        assert session.certain_share == pytest.approx(certain @ weights / weights.sum(), abs=1e-14)
        assert np.abs(session.view.shares - world_shares(fresh, points, 3)).max() < 1e-12
    assert n_told > 1
    assert pickle.loads(pickle.dumps(session)).certain_share == session.certain_share


def test_what_follows_a_session() -> None:
    table = IncompleteTable(holed(), label="y", space=CODED)
    asked = full(1, 20).drop(columns="y")
    session = CleaningSession(table, asked, n_neighbors=3)
    for _ in range(3):
        if (question := session.ask()) is not None:
            session.tell(question.row, candidate=1)
    assert not session.world().isna().any(axis=None)
    found = world_shares(session.data, table.points(asked), 3)
    assert session.classifier().predict_proba(asked) == pytest.approx(found, abs=1e-12)


def test_frames_of_another_library() -> None:
    space = make_pipeline(StandardScaler(), PCA(2)).fit(pl.from_pandas(X[NUMBERS]))
    frame = pl.from_pandas(numbers())
    one = IncompleteTable(frame, label="y", space=space).dataset
    two = IncompleteTable(numbers(), label="y", space=space).dataset
    points = X[NUMBERS].to_numpy()
    assert world_shares(one, points, 3).tolist() == world_shares(two, points, 3).tolist()


# -- objects of one's own ------------------------------------------------------------------------


class Own:
    """An object without names: it is given arrays."""

    def __init__(self, answer: Callable[[np.ndarray], Any]) -> None:
        self.answer = answer

    def transform(self, X: np.ndarray) -> Any:
        assert isinstance(X, np.ndarray)
        return self.answer(X)


class OwnLeaves(Own):
    def apply(self, X: np.ndarray) -> Any:
        return self.answer(X)


def test_arrays_of_numbers_or_of_objects() -> None:
    seen: list[np.ndarray] = []

    def answer(rows: np.ndarray) -> np.ndarray:
        seen.append(rows)
        return np.array([[len(str(row[-1])), float(row[0])] for row in rows])

    IncompleteTable(numbers(), label="y", space=Own(answer))
    assert seen[-1].dtype == float
    IncompleteTable(holed(), label="y", space=Own(answer))
    assert seen[-1].dtype == object
    assert {*seen[-1][:, 2]} >= {"red", "green"}


def test_columns_of_every_kind_come_as_the_table_has_them() -> None:
    seen: list[pd.DataFrame] = []

    class Named:
        feature_names_in_ = np.array(FEATURES[::-1])

        def transform(self, X: pd.DataFrame) -> np.ndarray:
            seen.append(X)
            return np.column_stack([X["age"], X["since"].dt.year, X["member"], X["city"] == "A"])

    table = IncompleteTable(FRAME, label="y", space=Named())
    assert list(seen[0]) == FEATURES[::-1]
    row = seen[0].iloc[0].to_dict()
    assert row == {"since": pd.Timestamp("2020-01-01"), "member": True, "city": "A", "age": 18}
    assert {type(one) for one in seen[0]["member"]} == {bool}
    unseen = FRAME[FEATURES][:1].assign(city="nowhere")
    with pytest.warns(UserWarning, match="encoded as no category: 1 in column 'city'"):
        table.points(unseen)
    world_shares(table.dataset, table.points(unseen), 1)
    assert seen[-1]["city"].tolist() == ["other"]


def test_sparse_vectors_are_written_out() -> None:
    def dense(rows: np.ndarray) -> np.ndarray:
        return np.column_stack([rows, rows[:, 0] > 0])

    tables = [
        IncompleteTable(numbers(), label="y", space=Own(answer))
        for answer in (dense, lambda rows: sparse.csr_array(dense(rows)))
    ]
    points = X[NUMBERS].to_numpy()
    one, two = (world_shares(table.dataset, points, 3).tolist() for table in tables)
    assert one == two
    with pytest.raises(TableError, match=r"sparse ones of at most 4,096 columns; got 5,000"):
        IncompleteTable(
            numbers(), label="y", space=Own(lambda rows: sparse.csr_array((len(rows), 5000)))
        )


def test_rounding_that_depends_on_the_other_rows_decides_nothing() -> None:
    def shaken(rows: np.ndarray) -> np.ndarray:
        return rows * (1 + 1e-15 * len(rows) * np.arange(len(rows))[:, None] % 3)

    one, two = (
        IncompleteTable(numbers(), label="y", space=Own(answer)).dataset
        for answer in (shaken, lambda rows: rows)
    )
    assert one.space.digest == two.space.digest
    assert one == two


# -- bad input -----------------------------------------------------------------------------------


def refused(space: Any, match: str, given: pd.DataFrame | None = None, **options: Any) -> None:
    with pytest.raises(TableError, match=match) as raised:
        IncompleteTable(numbers() if given is None else given, label="y", space=space, **options)
    assert raised.value.field in ("space", "weights")


@pytest.mark.parametrize(
    "space",
    [
        object(),
        HistGradientBoostingClassifier().fit(X[NUMBERS], Y),
        X[NUMBERS],  # a frame has both names
        RandomForestClassifier,
        LeafSpace("fitted"),
        "fitted",
    ],
)
def test_neither_apply_nor_transform(space: Any) -> None:
    refused(space, r"space must be one of .* a fitted object with apply .* or transform .*; got")


@pytest.mark.parametrize("space", [forest(), PCA(2), make_pipeline(StandardScaler(), forest())])
def test_an_object_that_is_not_fitted(space: Any) -> None:
    refused(space, r"must be a fitted object; this \w+ is not fitted. Fit it on filled rows")


@pytest.mark.parametrize("make", [forest, lambda: make_pipeline(StandardScaler(), PCA(1))])
def test_other_columns(make: Callable[[], Any]) -> None:
    other = make().fit(X[NUMBERS].rename(columns={"rooms": "doors"}), Y)
    refused(other, r"other columns.* needs 'doors' and does not know 'rooms'")
    refused(make().fit(X[NUMBERS], Y), r"does not know 'hue'", holed())
    more = X[NUMBERS].assign(doors=1.0)
    refused(make().fit(more.to_numpy(), Y), r"takes 3 columns, and the table has 2.*'size'")


def test_categories_and_a_forest_alone() -> None:
    given = holed()[["size", "hue", "y"]]
    model = forest().fit(X[["size"]].assign(hue=0), Y)
    refused(model, r"takes numbers only; column 'hue' is categorical. Fit a Pipeline", given)


def test_an_encoder_that_does_not_take_candidates() -> None:
    strict = make_column_transformer((OneHotEncoder(), ["hue"]), remainder="passthrough").fit(X)
    wrong = r"cannot map .*unknown categories.*transform\. It must .*needs handle_unknown, or the"
    refused(strict, wrong, holed(), repairs={"hue": ["red", "violet"]})
    IncompleteTable(holed(), label="y", space=strict, repairs="observed")


@pytest.mark.parametrize(
    ("answer", "match"),
    [
        (lambda rows: np.where(rows > 1, np.nan, rows), r"finite numbers; got NaN.* of \d+ rows"),
        (lambda rows: rows / 0.0, r"must return finite numbers"),
        (lambda rows: rows[1:], r"one row per row that it is given, \d+ here.*got shape"),
        (lambda rows: rows[0], r"one row per row"),
        (lambda rows: rows[:, :0], r"at least one number"),
        (lambda rows: rows.astype(str), r"must return an array of numbers; got <U"),
        (lambda rows: None, r"must return"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_answers_that_are_no_vectors(answer: Any, match: str) -> None:
    refused(Own(answer), match)


def test_leaves_that_are_no_leaves() -> None:
    refused(OwnLeaves(lambda rows: rows + 0.5), r"apply of .* whole numbers, the leaf of each row")
    single = OwnLeaves(lambda rows: (rows[:, 0] > 0).astype(int))
    assert IncompleteTable(numbers(), label="y", space=single).dataset.space.n_columns == 1


def test_another_number_of_trees_than_before() -> None:
    grows = OwnLeaves(lambda rows: np.ones((len(rows), 2 + (len(rows) < 9))))
    table = IncompleteTable(numbers(), label="y", space=grows)
    with pytest.raises(TableError, match=r"same number of trees every time; it was 2.*now is 3"):
        world_shares(table.dataset, [[0.0, 1.0]], 3)


@pytest.mark.parametrize("kind", [Own, OwnLeaves])
def test_an_object_that_changes_its_mind(kind: type[Own]) -> None:
    calls = []

    def answer(rows: np.ndarray) -> np.ndarray:
        calls.append(len(rows))
        found = np.floor(rows)
        found[3 if len(calls) == 1 else -4] += len(calls)  # row 3, in both orders
        return found

    refused(kind(answer), r"for row 3 it changed its mind: \[.*\], then \[.*fix its random state")
    # What depends on the other rows does not stay the same either.
    refused(Own(lambda rows: rows - rows[0]), "whichever rows are with it; for row 0, 1, 2 and")


def test_what_does_not_go_with_a_fitted_space() -> None:
    refused(forest().fit(X[NUMBERS], Y), r"a weight can only be 1; got", weights={"size": 0.0})
    table = IncompleteTable(numbers(), label="y", space=VECTORS_OF_NUMBERS)
    asked = table.points(X[NUMBERS])
    with pytest.raises(QueryError, match="metric must have a name"):
        world_shares(table.dataset, asked, 3, "precomputed")
    with pytest.raises(QueryError, match=r"n_neighbors must be an int in \[1, 40\]"):
        world_shares(table.dataset, asked, 41)
    empty = full()[[*NUMBERS, "y"]].assign(size=np.nan)
    with pytest.warns(UserWarning, match="no value is observed"):
        refused(VECTORS_OF_NUMBERS, r"takes every column, but nothing is known of 'size'", empty)


VECTORS_OF_NUMBERS = FunctionTransformer(np.tanh).fit(X[NUMBERS])


def test_what_is_called_cannot_be_stored_as_arrays() -> None:
    table = IncompleteTable(holed(), label="y", space=CODED)
    with pytest.raises(DataError, match=r"fitted Pipeline cannot be saved.*space=\"forest\""):
        table.dataset.space.to_arrays()
