"""The metric space: scales, one-hot groups, weights, and categories never seen."""

from __future__ import annotations

import copy
import math
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cpclean import CertainKNeighborsClassifier, IncompleteTable
from cpclean.data.column_reading import column_from_objects
from cpclean.data.columns import ABSENT, OTHER
from cpclean.data.spaces.plain import PlainSpace, UnseenCategoryWarning, fit_plain_space
from cpclean.errors import TableError

AGES = [20.0, None, 30.0, 60.0]
CITIES = ["B", "A", None, "C"]


def fitted(proposed: Any = None, **options: Any) -> PlainSpace:
    columns = [column_from_objects("age", AGES), column_from_objects("city", CITIES)]
    return fit_plain_space(columns, proposed or {}, **options)


def space(encoding: PlainSpace, ages: list[Any], cities: list[Any]) -> np.ndarray:
    return encoding.encode(
        [column_from_objects("age", ages), column_from_objects("city", cities, "categorical")]
    )


def repickled(encoding: PlainSpace) -> PlainSpace:
    again: PlainSpace = pickle.loads(pickle.dumps(encoding))
    return again


def test_minmax_is_fitted_on_observed_cells_only() -> None:
    encoding = fitted({0: [1000.0]})
    X = space(encoding, [20, 60, 40, 100], ["A"] * 4)
    assert X[:, 0].tolist() == [0.0, 1.0, 0.5, 2.0]


def test_standard_scaling_is_fitted_on_observed_cells_only() -> None:
    seen = np.array([20.0, 30.0, 60.0])
    X = space(fitted({0: [1000.0]}, scaling="standard"), [20, 30, 60], ["A"] * 3)
    np.testing.assert_allclose(X[:, 0], (seen - seen.mean()) / seen.std())


def test_no_scaling() -> None:
    assert space(fitted(scaling="none"), [20, -3], ["A"] * 2)[:, 0].tolist() == [20.0, -3.0]


@pytest.mark.parametrize("weight", [1.0, 2.5])
def test_one_mismatch_weighs_like_the_full_range_of_numbers(weight: float) -> None:
    encoding = fitted({1: [OTHER]}, weights={"age": weight, "city": weight})
    base, far, other, unlisted = space(
        encoding, [20, 60, 20, 20], ["A", "A", "B", OTHER]
    )  # fmt: skip
    assert np.linalg.norm(base - far) == pytest.approx(weight)
    for mismatch in (other, unlisted):
        assert np.linalg.norm(base - mismatch) == pytest.approx(weight)


def test_categories_are_the_observed_in_order_and_then_the_proposed() -> None:
    encoding = fitted({1: ["Z", "A", OTHER]})
    assert encoding.features[1] is not None
    assert encoding.features[1].categories == ("A", "B", "C", "Z", OTHER)
    assert encoding.n_features == 6


def test_categories_may_be_named_before_anybody_has_seen_them() -> None:
    encoding = fitted({1: [OTHER]}, categories={"city": ["A", "Z"]})
    assert encoding.features[1] is not None
    assert encoding.features[1].categories == ("A", "B", "C", OTHER, "Z")
    assert np.linalg.norm(np.subtract(*space(encoding, [20, 20], ["A", "Z"]))) == pytest.approx(1.0)
    table = IncompleteTable(
        pd.DataFrame({"city": ["A", "B"]}), label=[0, 1], categories={"city": ["Z"]}
    )
    assert table.encode(pd.DataFrame({"city": ["Z"]})).any()


def test_categories_of_kinds_that_cannot_be_sorted() -> None:
    column = column_from_objects("c", [1j, "a", (1, "x"), ("x", 1), 2j, 3])
    backwards = column_from_objects("c", [3, 2j, ("x", 1), (1, "x"), "a", 1j])
    (feature,) = fit_plain_space([column], {}).features
    (again,) = fit_plain_space([backwards], {}).features
    assert feature is not None
    assert feature == again
    assert len(feature.categories) == 6


def test_an_absent_category_is_all_zero_without_a_warning() -> None:
    encoding = fitted({1: [ABSENT]})
    assert encoding.n_features == 4
    assert space(encoding, [20], [ABSENT]).tolist() == [[0.0] * 4]


def test_unseen_categories_are_all_zero_and_counted() -> None:
    with pytest.warns(UnseenCategoryWarning, match="all zero: 2 in column 'city'"):
        X = space(fitted(), [20, 20, 60], ["new", "A", "newer"])
    assert X.tolist() == [[0, 0, 0, 0], [0, pytest.approx(math.sqrt(0.5)), 0, 0], [1, 0, 0, 0]]


def test_the_warning_points_to_the_caller() -> None:
    frame = pd.DataFrame({"c": ["A", "B"], "d": ["A", "B"]})
    table = IncompleteTable(frame, label=[0, 1])
    with pytest.warns(UnseenCategoryWarning, match="1 in column 'c', 2 in column 'd'") as record:
        table.encode(pd.DataFrame({"c": ["x", "A"], "d": ["x", "y"]}))
    assert record[0].filename == __file__


def test_the_same_is_told_once() -> None:
    frame = pd.DataFrame({"c": ["A", "B", None], "d": [1.0, 2.0, 3.0]})
    model = CertainKNeighborsClassifier(1).fit(frame, [0, 1, 0])
    points = pd.DataFrame({"c": ["x", "A"], "d": [1.0, 2.0]})
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for ask in (model.predict, model.predict_proba, model.is_certain, model.world_counts):
            ask(points)
        assert [one.category for one in told] == [UnseenCategoryWarning]
        model.predict(points.assign(c="x"))
    assert "2 in column 'c'" in str(told[-1].message)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, repickled])
def test_a_copy_tells_again(copied: Callable[[PlainSpace], PlainSpace]) -> None:
    encoding = fitted()
    with pytest.warns(UnseenCategoryWarning, match="1 in column 'city'"):
        space(encoding, [20], ["Z"])
    made = copied(encoding)
    assert made == encoding
    with pytest.warns(UnseenCategoryWarning, match="1 in column 'city'"):
        space(made, [20], ["Z"])
    space(encoding, [20], ["Z"])  # told already


def test_weight_0_leaves_a_column_out() -> None:
    encoding = fitted(weights={"city": 0})
    assert encoding.features[1] is None
    assert [one.code for one in encoding.decisions] == ["kept", "weightless"]
    assert encoding.n_features == 1


@pytest.mark.parametrize(
    ("values", "proposed", "treatment", "width"),
    [
        ([1, 1, None], [], "ignored: every observed value is the same", 0),
        (["A", None], ["A", OTHER], "ignored: every observed value is the same", 0),
        ([None, None], [], "ignored: no value is observed", 0),
        ([1, 1, None], [1.0, 3.0], "kept: observed values do not differ, but candidates do", 1),
        (["A", None], ["B"], "kept: observed values do not differ, but candidates do", 2),
        ([None, None], [5.0, 9.0], "kept: observed values do not differ, but candidates do", 1),
    ],
)
def test_columns_without_information(
    values: list[Any], proposed: list[Any], treatment: str, width: int
) -> None:
    columns = [column_from_objects("c", values), column_from_objects("d", [True, False])]
    encoding = fit_plain_space(columns, {0: proposed})
    assert encoding.decisions[0].words == treatment
    assert encoding.n_features == 1 + width


def test_candidates_alone_span_the_range_where_nothing_else_does() -> None:
    encoding = fit_plain_space([column_from_objects("c", [1, 1, None])], {0: [1.0, 3.0]})
    assert encoding.encode([column_from_objects("c", [1, 3, 2])]).tolist() == [[0], [1], [0.5]]


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=9, unique=True))
def test_observed_numbers_fill_the_unit_range(values: list[float]) -> None:
    assume(max(values) - min(values) > 1e-300)  # else it cannot be scaled, and says so
    column = column_from_objects("c", [*values, None])
    X = fit_plain_space([column], {}).encode([column_from_objects("c", values)])
    assert X.min() == 0.0
    assert X.max() == pytest.approx(1.0)
    assert (np.argsort(X[:, 0]) == np.argsort(values)).all() or len(set(X[:, 0])) < len(values)


# -- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scaling": "max"}, "scaling must be one of minmax, standard, none; got 'max'"),
        ({"weights": {"town": 1}}, "weights name columns that the table does not have: 'town'"),
        (
            {"categories": {"age": [1]}},
            "categories may name categorical columns only; 'age'",
        ),
        ({"categories": {"city": [None]}}, "categories of 'city' must not be null"),
        ({"weights": [1.0]}, "weights must be a dict from column name to number"),
        ({"weights": {"age": "1"}}, r"must be finite and not negative; got \{'age': '1'\}"),
        ({"weights": {"age": -1}}, r"must be finite and not negative; got \{'age': -1\}"),
        ({"weights": {"age": math.inf}}, "weights of columns must be finite and not negative"),
        ({"weights": {"age": math.nan}}, "weights of columns must be finite and not negative"),
        ({"weights": {"age": 0, "city": 0}}, "no column carries information"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(TableError, match=message):
        fitted(**options)


@pytest.mark.parametrize("values", [[-1e308, 1e308], [0.0, 5e-324]])
@pytest.mark.parametrize("scaling", ["minmax", "standard"])
def test_numbers_that_cannot_be_scaled(values: list[float], scaling: str) -> None:
    with pytest.raises(TableError, match="column 'c' cannot be scaled: its values from"):
        fit_plain_space([column_from_objects("c", values)], {}, scaling)
