"""Columns as trees look at them: numbers as they are, categories in random orders."""

from __future__ import annotations

import pickle
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
import pytest
from data.spaces.tree_samples import all_leaves

from cpclean import IncompleteDataset, IncompleteTable
from cpclean.data.cell_priors import CellPriors
from cpclean.data.column_reading import column_from_objects
from cpclean.data.columns import ABSENT
from cpclean.data.encoded_rows import encoded_rows
from cpclean.data.proposals import in_space, proposed_values
from cpclean.data.spaces.learning import learn_forest
from cpclean.data.spaces.plain import UnseenCategoryWarning
from cpclean.data.spaces.tree_features import N_VIEWS, CodedFeature, TreeSpace, fit_tree_space
from cpclean.errors import TableError

AGES = [20.0, None, 30.0, 60.0]
CITIES = ["B", "A", None, "C"]


def fitted(proposed: Any = None, **options: Any) -> TreeSpace:
    columns = [column_from_objects("age", AGES), column_from_objects("city", CITIES)]
    return fit_tree_space(columns, proposed or {}, **options)


def encoded(space: TreeSpace, ages: list[Any], cities: list[Any]) -> np.ndarray:
    return space.encode(
        [column_from_objects("age", ages), column_from_objects("city", cities, "categorical")]
    )


def test_numbers_stay_as_they_are() -> None:
    assert encoded(fitted({0: [1000.0]}), [20, -3.5], ["A", "A"])[:, 0].tolist() == [20.0, -3.5]


def test_categories_are_places_in_random_orders() -> None:
    X = encoded(fitted({1: ["Z"]}), [20.0] * 5, ["A", "B", "C", "Z", ABSENT])
    assert X.shape == (5, 1 + N_VIEWS)
    for order in X[:, 1:].T:
        assert sorted(order.tolist()) == [0, 1, 2, 3, 4]
    assert len(np.unique(X[:, 1:].T, axis=0)) > N_VIEWS / 2


def test_an_unknown_category_has_a_place_of_its_own() -> None:
    with pytest.warns(UnseenCategoryWarning, match="encoded as no category: 2 in column 'city'"):
        X = encoded(fitted(), [20.0] * 5, ["A", "B", "C", "new", "newer"])
    assert (X[3] == X[4]).all()
    for order in X[:4, 1:].T:
        assert sorted(order.tolist()) == [0, 1, 2, 3]


def test_candidates_are_encoded_as_columns_are() -> None:
    space = fitted()
    with pytest.warns(UnseenCategoryWarning):
        X = encoded(space, [20.0] * 3, ["C", "A", "new"])
    np.testing.assert_array_equal(space.feature(1).encoded(["C", "A", "new"]), X[:, 1:])
    np.testing.assert_array_equal(space.feature(0).encoded([1.5]), [[1.5]])


def test_one_hot() -> None:
    space = fitted(coding="onehot")
    assert encoded(space, [20, 60], ["B", "C"]).tolist() == [[20, 0, 1, 0], [60, 0, 0, 1]]
    assert [view.tolist() for view in space.views] == [[0, 1, 2, 3]]


def test_a_view_has_one_order_of_each_column() -> None:
    columns = [
        column_from_objects("a", ["x", "y", "z"]),
        column_from_objects("b", [1.0, 2.0, 3.0]),
        column_from_objects("c", ["u", "v", "u"]),
    ]
    views = fit_tree_space(columns, {}).views
    assert [view.tolist() for view in views] == [
        [view, N_VIEWS, N_VIEWS + 1 + view] for view in range(N_VIEWS)
    ]
    assert [view.tolist() for view in fit_tree_space(columns[1:2], {}).views] == [[0]]


def test_orders_depend_on_the_seed_and_not_on_the_rows() -> None:
    backwards = [column_from_objects("age", AGES[::-1]), column_from_objects("city", CITIES[::-1])]
    assert fit_tree_space(backwards, {}) == fitted()
    assert pickle.loads(pickle.dumps(fitted())) == fitted()
    assert fitted(random_state=1) != fitted()


def test_columns_without_information_have_no_place() -> None:
    columns = [
        column_from_objects("same", [1.0, 1.0]),
        column_from_objects("left out", [1.0, 2.0]),
        column_from_objects("c", ["x", "y"]),
        column_from_objects("none", [None, None]),
    ]
    space = fit_tree_space(columns, {}, weights={"left out": 0.0, "c": 7.0})
    assert [feature is not None for feature in space.features] == [False, False, True, False]
    assert [one.code for one in space.decisions] == ["constant", "weightless", "kept", "unobserved"]
    assert space.feature(2).start == 0
    assert space.n_features == N_VIEWS


def test_unknown_coding() -> None:
    with pytest.raises(TableError, match="coding must be one of orders, onehot; got 'codes'"):
        fitted(coding="codes")


# -- float32 -------------------------------------------------------------------------------------


def numbers(values: list[Any]) -> np.ndarray:
    """A column as trees see it."""
    column = column_from_objects("n", values)
    return fit_tree_space([column], {}).encode([column])[:, 0].astype(np.float32)


@pytest.mark.parametrize(
    "values",
    [
        [datetime(2024, 5, 1) + timedelta(minutes=one) for one in range(0, 40_000, 1000)],
        [1e15 + one for one in range(50)],
        [1e300 * one for one in range(-100, 100)],
        [-1.7e308, 0.0, 1.7e308],
        [1e-40 * one for one in range(50)],
        [0.0, 5e-324, 1e-323],
    ],
    ids=["dates", "far from zero", "large", "as large as can be", "small", "as small as can be"],
)
def test_values_stay_apart_and_in_order_as_float32(values: list[Any]) -> None:
    seen = numbers(values)
    assert np.isfinite(seen).all()
    assert (np.diff(seen) > 0).all()


def test_years_stay_years() -> None:
    assert numbers([1990, 2020, 2024]).tolist() == [1990, 2020, 2024]


# -- tables --------------------------------------------------------------------------------------


def in_tree_space(table: IncompleteTable, **options: Any) -> tuple[TreeSpace, IncompleteDataset]:
    """A table's rows as trees look at them."""
    data = table.dataset
    space = fit_tree_space(table.columns, proposed_values(table.options), **options)
    inside = np.array([feature is not None for feature in space.features])
    priors = CellPriors("label", table.columns, data.codes, ~table.holes)
    base = space.encode_with_holes(table.columns)
    rows = encoded_rows(base, in_space(table.options, inside), space, priors)
    made = IncompleteDataset.from_arrays(rows, data.codes, data.classes, data.drawing)
    return space, made


def people(n_rows: int = 120) -> IncompleteTable:
    """Whether somebody buys depends on a town without any order; one cell in five is missing."""
    rng = np.random.default_rng(0)
    town = rng.integers(0, 12, n_rows)
    frame = pd.DataFrame(
        {
            "town": [f"t{one:02d}" for one in town],
            "age": rng.integers(18, 80, n_rows).astype(float),
            "since": pd.Timestamp("2024-05-01") + pd.to_timedelta(rng.integers(0, 90, n_rows), "D"),
            "member": rng.random(n_rows) < 0.5,
        }
    )
    labels = np.array(["no", "yes", "maybe"])[(town % 2) + (town == 7)]
    for column in ("town", "age", "since"):
        frame[column] = frame[column].astype(object).where(rng.random(n_rows) < 0.8, None)
    return IncompleteTable(frame, label=labels)


@pytest.mark.parametrize("coding", ["orders", "onehot"])
def test_forests_are_learnt_from_tables_with_categories(coding: str) -> None:
    space, data = in_tree_space(people(), coding=coding)
    assert data.n_features == space.n_features
    assert (data.candidate_counts > 1).any()
    trees = learn_forest(data, n_trees=10, views=space.views)
    reached = trees.reachable(data.arrays)
    for row in range(0, 120, 10):
        for tree in range(0, 10, 3):
            assert reached.of(row, tree).tolist() == all_leaves(trees, tree, data, row)
    for tree in range(10):
        used = set(trees.feature[trees.root[tree] : trees.root[tree + 1]].tolist()) - {-1}
        assert used <= set(space.views[tree % len(space.views)].tolist())
        assert used & set(range(*_span(space)))  # the town is what matters


def _span(space: TreeSpace) -> tuple[int, int]:
    town = space.feature(0)
    assert isinstance(town, CodedFeature) == (len(space.views) > 1)
    return town.start, town.stop
