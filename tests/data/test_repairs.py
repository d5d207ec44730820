"""Candidates of holes: the default, imputers, values of one's own, whole versions, the cap."""

from __future__ import annotations

import math
import warnings
from datetime import date, datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer

from cpclean import IncompleteTable
from cpclean.data.column_reading import column_from_objects
from cpclean.data.columns import OTHER, Column
from cpclean.data.priors import LabelPrior
from cpclean.data.repairs import (
    Imputers,
    Versions,
    default_values,
    quantiles,
    whole_domain,
)
from cpclean.data.row_options import Options
from cpclean.errors import TableError

FRAME = pd.DataFrame(
    {
        "age": [18, None, 30, 65, 40, None],
        "city": ["A", "B", None, "A", "C", None],
        "member": [True, False, True, None, True, True],
        "k": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0],
        "y": [0, 1, 0, 1, 0, 1],
    }
)


def table_of(repairs: Any, **options: Any) -> IncompleteTable:
    return IncompleteTable(FRAME, label="y", repairs=repairs, prior="uniform", **options)


def values_of(table: IncompleteTable, row: int, name: str) -> list[Any]:
    return list(dict.fromkeys(one[name] for one in table.candidates(row)))


# -- the paper's ----------------------------------------------------------------------------------


def test_five_points_of_a_numeric_column() -> None:
    seen = np.array([18.0, 30.0, 65.0, 40.0])
    expected = [18.0, np.percentile(seen, 25), seen.mean(), np.percentile(seen, 75), 65.0]
    assert values_of(table_of("default"), 1, "age") == expected


def test_equal_points_are_one_candidate() -> None:
    assert default_values(column_from_objects("n", [1, 1, 1, 1, 5])) == (1.0, 1.8, 5.0)


def test_four_most_frequent_categories_and_other() -> None:
    column = column_from_objects("c", [*"aabbbccdddde", None])
    assert default_values(column) == ("d", "b", "a", "c", OTHER)
    assert default_values(column_from_objects("c", ["b", "a"])) == ("a", "b", OTHER)


def test_both_values_of_a_boolean_column_and_points_in_time() -> None:
    assert values_of(table_of("default"), 3, "member") == [False, True]
    days = [date(2020, 1, 1), date(2020, 1, 3), None]
    frame = pd.DataFrame({"day": days, "k": [0, 1, 2]})
    table = IncompleteTable(frame, label=[0, 1, 0])
    assert values_of(table, 2, "day")[0] == datetime(2020, 1, 1)
    assert values_of(table, 2, "day")[2] == datetime(2020, 1, 2)


def test_holes_of_a_row_are_multiplied_and_kept_factored() -> None:
    table = table_of("default")
    assert table.dataset.candidate_counts.tolist() == [1, 5, 4, 2, 1, 20]
    assert len(table.dataset.cells(5)) == 2
    assert table.dataset.n_worlds == 5 * 4 * 2 * 20


# -- per column -----------------------------------------------------------------------------------


def test_a_dict_of_values_and_functions() -> None:
    table = table_of({"age": [50, 20, 50], "city": lambda column: ["Z", column.observed[0]]})
    assert values_of(table, 1, "age") == [50.0, 20.0]
    assert values_of(table, 2, "city") == ["Z", "A"]
    assert values_of(table, 3, "member") == [False, True]  # not named: by default


@pytest.mark.parametrize("given", [(50,), [50], {50}, np.array([50]), iter([50]), 50, "50"])
def test_values_in_any_wrapping(given: Any) -> None:
    assert values_of(table_of({"age": given}), 1, "age") == [50.0]


def test_a_text_is_one_value() -> None:
    assert values_of(table_of({"city": "Paris"}), 2, "city") == ["Paris"]


def test_quantiles_of_any_size() -> None:
    table = table_of({"age": quantiles(9), "member": quantiles(3)})
    expected = np.quantile([18, 30, 65, 40], np.linspace(0, 1, 9)).tolist()
    assert values_of(table, 1, "age") == expected
    assert values_of(table, 3, "member") == [False, True]
    assert values_of(table_of({"age": quantiles(1)}), 1, "age") == [18.0]


def test_the_whole_domain() -> None:
    assert values_of(table_of({"city": whole_domain}), 2, "city") == ["A", "B", "C"]
    assert values_of(table_of({"age": whole_domain}), 1, "age") == [18.0, 30.0, 40.0, 65.0]


def test_other_can_be_listed() -> None:
    assert values_of(table_of({"city": ["A", OTHER]}), 2, "city") == ["A", OTHER]


def test_values_for_a_column_without_any() -> None:
    frame = FRAME.assign(empty=math.nan)
    table = IncompleteTable(frame, label="y", repairs={"empty": [1, 2]})
    assert values_of(table, 0, "empty") == [1.0, 2.0]
    assert table.report[-1].treatment.startswith("kept: observed values do not differ")


@pytest.mark.parametrize(
    ("values", "kind", "shown"),
    [
        (["x", "y"], "categorical", ["x", "y"]),
        (["x", "y", OTHER], "categorical", ["x", "y", OTHER]),
        ([1, 2.5], "numeric", [1.0, 2.5]),
        ([True, False], "boolean", [True, False]),
        (
            [date(2020, 1, 1), date(2020, 1, 3)],
            "date",
            [datetime(2020, 1, 1), datetime(2020, 1, 3)],
        ),
        ([timedelta(1), timedelta(2)], "duration", [timedelta(1), timedelta(2)]),
    ],
)
@pytest.mark.parametrize("null", [None, math.nan])
def test_a_column_without_any_value_is_of_the_kind_of_its_candidates(
    values: list[Any], kind: str, shown: list[Any], null: Any
) -> None:
    frame = FRAME.assign(empty=null)
    table = IncompleteTable(frame, label="y", repairs={"empty": values})
    assert table.report[-1].kind == kind
    assert table.report[-1].treatment == "kept: observed values do not differ, but candidates do"
    assert values_of(table, 0, "empty") == shown
    points = frame.loc[[0, 4]].assign(empty=[shown[0]] * 2)
    np.testing.assert_array_equal(table.encode(points)[0], table.dataset.candidate(0, 0))


def test_a_kind_that_is_named_stays() -> None:
    frame = FRAME.assign(empty=None)
    message = (
        r"column 'empty' is numeric: .* got 'x'\. If the kind is wrong: kinds=\{'empty': \"cat"
    )
    with pytest.raises(TableError, match=message):
        IncompleteTable(frame, "y", {"empty": ["x", "y"]}, kinds={"empty": "numeric"})
    numbers = IncompleteTable(frame, "y", {"empty": [1, 2]}, kinds={"empty": "categorical"})
    assert numbers.report[-1].kind == "categorical"
    given = IncompleteTable(frame.astype({"empty": "category"}), "y", {"empty": [1, 2]})
    assert given.report[-1].kind == "categorical"


def test_durations_have_five_points_too() -> None:
    frame = pd.DataFrame({"wait": pd.to_timedelta([1, None, 3, 5], unit="D"), "k": range(4)})
    table = IncompleteTable(frame, label=[0, 1, 0, 1])
    assert values_of(table, 1, "wait") == [timedelta(one) for one in (1, 2, 3, 4, 5)]
    imputed = IncompleteTable(frame, label=[0, 1, 0, 1], repairs=[SimpleImputer()])
    assert imputed.candidates(1) == [{"wait": timedelta(3)}]


def test_no_negative_zero() -> None:
    assert (
        str(default_values(column_from_objects("n", [-0.0, 1.0]))) == "(0.0, 0.25, 0.5, 0.75, 1.0)"
    )


# -- imputers -------------------------------------------------------------------------------------


def numeric_frame() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    values = rng.integers(0, 9, (30, 3)).astype(float)
    values[rng.random(values.shape) < 0.2] = math.nan
    values[:, 2] = rng.integers(0, 9, 30)
    return pd.DataFrame(values, columns=["a", "b", "c"])


def test_imputers_are_whole_versions_of_the_table() -> None:
    frame = numeric_frame()
    labels = [0, 1] * 15
    imputers = [SimpleImputer(), SimpleImputer(strategy="median"), KNNImputer(n_neighbors=2),
                IterativeImputer(random_state=0, max_iter=50, tol=1e-2)]  # fmt: skip
    filled = [imputer.fit_transform(frame.to_numpy()) for imputer in imputers]
    table = IncompleteTable(frame, label=labels, repairs=imputers, prior="uniform")
    scale = frame.max() - frame.min()
    for row in range(30):
        versions = np.unique([version[row].round(12) for version in filled], axis=0)
        expected = (versions - frame.min().to_numpy()) / scale.to_numpy()
        actual = table.dataset.candidates(row)
        assert len(actual) == len(expected)
        np.testing.assert_allclose(np.sort(actual, axis=0), np.sort(expected, axis=0))
        np.testing.assert_allclose(table.dataset.prior(row), 1 / len(expected))


def test_the_imputers_themselves_are_not_fitted() -> None:
    imputer = SimpleImputer()
    table_of([imputer])
    assert not hasattr(imputer, "statistics_")


def test_equal_versions_are_merged_and_weighed() -> None:
    mean, again, low = (SimpleImputer(), SimpleImputer(),
                        SimpleImputer(strategy="constant", fill_value=0.0))  # fmt: skip
    table = table_of([mean, again, low])
    assert [one["age"] for one in table.candidates(1)] == [38.25, 0]
    assert table.dataset.prior(1).tolist() == [0.5, 0.5]
    weighed = table_of(Imputers([mean, again, low], weigh="version"))
    assert weighed.candidates(1) == table.candidates(1)
    assert weighed.dataset.prior(1).tolist() == pytest.approx([2 / 3, 1 / 3])


def test_imputers_give_categories_their_most_frequent_value() -> None:
    table = table_of([SimpleImputer(), SimpleImputer(strategy="median")])
    assert table.candidates(2) == [{"city": "A"}]
    assert table.candidates(5) == [{"age": 38.25, "city": "A"}, {"age": 35.0, "city": "A"}]
    assert table.candidates(3) == [{"member": 0.8}, {"member": True}]


def test_imputers_of_a_table_without_numbers() -> None:
    frame = pd.DataFrame({"c": ["A", "A", None, "B"], "d": list("xyxy")})
    table = IncompleteTable(frame, label=[0, 1, 0, 1], repairs=[SimpleImputer()])
    assert table.candidates(2) == [{"c": "A"}]


@pytest.mark.parametrize(
    ("prior", "product"), [("uniform", lambda a, b: 1.0), ("observed", lambda a, b: a * b)]
)
def test_versions_weigh_by_the_product_of_their_cells(prior: str, product: Any) -> None:
    frame = pd.DataFrame(
        {
            "a": [0.0, 0, 1, 0, None],
            "b": [0.0, 1, 1, 1, None],
            "k": [0, 1, 2, 3, 4],
            "y": [0, 1, 0, 1, 1],
        }
    )
    cells = Options((0, 1), ((0.0, 0.0, 1.0), (0.0, 1.0, 1.0)), joint=True)
    table = IncompleteTable(frame, "y", Own({4: cells}), prior)
    # Two versions have 0 in a, which is 3 of 4 observed values: each of them takes half of that.
    raw = [product(a, b) for a, b in [(3 / 8, 1 / 4), (3 / 8, 3 / 8), (1 / 4, 3 / 8)]]
    assert table.dataset.prior(4).tolist() == pytest.approx([one / sum(raw) for one in raw])


def test_versions_that_differ_only_outside_the_space_are_one() -> None:
    frame = FRAME.assign(empty=[1.0, 2, 3, 4, 5, None])
    cells = Options((1, 0, 4), (("A", "B", "A"), (20, 30, 20), (1.0, 1.0, 5.0)), True, (1, 1, 2))
    holes = {1: Options((0,), ((20,),)), 2: Options((1,), (("A",),)), 3: Options((2,), ((1,),))}
    table = IncompleteTable(frame, "y", Own({5: cells, **holes}), "uniform", weights={"empty": 0})
    assert table.candidates(5) == [{"age": 20, "city": "A"}, {"age": 30, "city": "B"}]
    assert table.dataset.prior(5).tolist() == [0.75, 0.25]
    nothing = IncompleteTable(
        frame, "y", Own({5: cells, **holes}), weights={"empty": 0, "age": 0, "city": 0}
    )
    assert nothing.candidates(5) == [{}]
    assert nothing.dataset.candidate_counts[5] == 1


def test_numbers_equal_to_twelve_decimals_are_equal() -> None:
    columns = [column_from_objects("a", [None, 1.0])]
    holes = np.array([[True], [False]])
    tables = [[column_from_objects("a", [value, 1.0])] for value in (0.1, 0.1 + 1e-14, -0.0, 0.0)]
    (options,) = Versions(tables).propose(columns, holes).values()
    assert options.values == ((0.1, 0.0),)


# -- one's own object -----------------------------------------------------------------------------


class Own:
    """A repair of one's own: what it was told."""

    def __init__(self, options: dict[int, Options]) -> None:
        self.options = options

    def propose(self, columns: Any, holes: Any) -> dict[int, Options]:
        assert all(isinstance(column, Column) for column in columns)
        return self.options


COMPLETE = {
    1: Options((0,), ((20, 30),)),
    2: Options((1,), (["A"],)),
    3: Options((2,), ((True, False),)),
    5: Options((1, 0), (("A", "B"), (20, 30, 40))),
}  # fmt: skip


def test_an_object_of_ones_own_with_cells_in_any_order() -> None:
    table = table_of(Own(COMPLETE))
    assert table.candidates(5)[:3] == [
        {"age": 20, "city": "A"}, {"age": 20, "city": "B"}, {"age": 30, "city": "A"},
    ]  # fmt: skip
    assert table.candidates(3) == [{"member": True}, {"member": False}]
    for row in range(6):
        assert len(table.candidates(row)) == len(table.dataset.candidates(row))


def test_a_row_without_any_value_may_be_known_to_an_object() -> None:
    frame = pd.DataFrame({"a": [0.0, 1.0, None], "b": [0.0, 2.0, None]})
    options = {2: Options((0, 1), ((0.5, 1.0), (1.0,)))}
    assert IncompleteTable(frame, label=[0, 1, 0], repairs=Own(options)).dataset.n_worlds == 2


# -- bad repairs ----------------------------------------------------------------------------------


def without(row: int) -> dict[int, Options]:
    return {number: one for number, one in COMPLETE.items() if number != row}


@pytest.mark.parametrize(
    ("repairs", "message"),
    [
        ("mean", 'repairs must be "default", "observed", a list .* got \'mean\''),
        ([], 'repairs must be "default"'),
        (None, 'repairs must be "default"'),
        ([5], "as scikit-learn's imputers, or be completed frames; got 5"),
        ({"town": [1]}, "repairs name columns that the table does not have: 'town'"),
        ({"age": []}, "the repair of column 'age' gives nothing; a hole needs at least one value"),
        ({"age": None}, "the repair of column 'age' gives nothing"),
        ({"age": lambda column: None}, "the repair of column 'age' gives nothing"),
        ({"age": [1, math.nan]}, r"column 'age' gives \[1, nan\]; .* none of them null"),
        ({"city": ["A", None]}, r"column 'city' gives \['A', None\]; .* none of them null"),
        ({"age": ["old"]}, "column 'age' is numeric: its values must be numbers; got 'old'"),
        ({"age": [OTHER]}, "column 'age' is numeric: its values must be numbers; got other"),
        ({"age": [math.inf]}, "returns an infinite value for the hole in row 1, column 'age'"),
        ({"city": quantiles(3)}, "column 'city' is categorical and has no quantiles"),
        (Own({}), "the repair returns nothing for the hole in row 1, column 'age'"),
        (Own(without(5)), "the repair returns nothing for the hole in row 5, column 'age', 'city'"),
        (Own({**COMPLETE, 1: Options((0,), ((),))}), "returns nothing for the hole in row 1"),
        (Own({**COMPLETE, 1: Options((0,), ((1, None),))}), "returns a null for the hole in row 1"),
        (Own({**COMPLETE, 2: Options((1,), ((None,),))}), "returns a null for the hole in row 2"),
        (Own({**COMPLETE, 0: Options((0,), ((1,),))}), "proposes values for row 0: no hole there"),
        (Own({**COMPLETE, 9: Options((0,), ((1,),))}), "proposes values for row 9: no hole there"),
        (Own({**COMPLETE, 1: Options((0, 3), ((1,), (1,)))}), "row 1, column 'k': no hole"),
        (Own({**COMPLETE, 5: Options((0, 1), ((1, 2), ("A",)), True)}), "versions of row 5 must"),
        (Own({**COMPLETE, 1: Options((0,), ((1, 2),), True, (1, 0))}), "versions of row 1 must"),
        (Versions([]), r"at least one version of the table, each of shape \(6, 4\); got none"),
        (Versions([[column_from_objects("a", [1])]]), r"each of shape \(6, 4\); got \(1, 1\)"),
        (Imputers([SimpleImputer()], weigh="all"), 'weigh must be "distinct" or "version"; got'),
        ([SimpleImputer(add_indicator=True)], r"must fill every hole .* shape \(6, 3\); got shape"),
    ],
)  # fmt: skip
def test_bad_repairs(repairs: Any, message: str) -> None:
    with pytest.raises(TableError, match=message):
        table_of(repairs)


def test_quantiles_need_a_size() -> None:
    with pytest.raises(TableError, match="quantiles needs a size of at least 1; got 0"):
        quantiles(0)


# -- observed values -------------------------------------------------------------------------------


def test_observed_values_are_the_candidates() -> None:
    table = IncompleteTable(FRAME, "y", "observed", "observed")
    ages = sorted(set(FRAME["age"].dropna().tolist()))
    assert values_of(table, 1, "age") == ages
    assert sorted(values_of(table, 2, "city")) == sorted(set(FRAME["city"].dropna().tolist()))
    for row, name in ((1, "age"), (2, "city")):
        times = [int((FRAME[name] == value).sum()) for value in values_of(table, row, name)]
        weights = table.dataset.prior(row)
        assert weights.tolist() == pytest.approx([time / sum(times) for time in times])


def test_observed_values_weigh_by_label_too() -> None:
    values = {"a": [1.0, 1.0, 2.0, 3.0, None, None], "b": range(6), "y": [0, 0, 0, 1, 0, 1]}
    frame = pd.DataFrame(values)
    table = IncompleteTable(frame, "y", "observed", LabelPrior(0.0))
    assert table.candidates(4) == [{"a": 1.0}, {"a": 2.0}, {"a": 3.0}]
    assert table.dataset.prior(4).tolist() == pytest.approx([2 / 3, 1 / 3, 0.0])
    assert table.dataset.prior(5).tolist() == pytest.approx([0.0, 0.0, 1.0])


def test_holes_of_a_column_share_their_list() -> None:
    """Values and weights once per column and class, not once per hole."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(3000, 2))
    values[rng.random(values.shape) < 0.3] = np.nan
    values[np.isnan(values).all(axis=1)] = 0.0
    table = IncompleteTable(values, rng.integers(0, 2, size=3000).tolist(), "observed")
    arrays = table.dataset.arrays
    n_distinct = [len(np.unique(column[~np.isnan(column)])) for column in values.T]
    assert len(arrays.values) == sum(n_distinct)
    assert len(arrays.weights) == 2 * sum(n_distinct)
    some = arrays.take(np.arange(0, 3000, 7))
    assert len(some.values) == len(arrays.values)
    again = arrays.take(np.arange(3000))
    assert again.same_rows(arrays)
    changed = again._replace(weights=again.weights[::-1].copy())
    assert not changed.same_rows(arrays)


# -- rows with many candidates ---------------------------------------------------------------------


def test_rows_that_are_drawn_keep_all_candidates() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = table_of("default", max_exact=6)
        whole = table_of("default", max_exact=20)
    assert table.dataset.candidate_counts.tolist() == [1, 5, 4, 2, 1, 20]
    assert (table.is_exact, whole.is_exact) == (False, True)
    assert table.dataset.drawn_rows.tolist() == [5]
    assert table.candidates(5) == whole.candidates(5)
    assert table.dataset.n_worlds == whole.dataset.n_worlds == 5 * 4 * 2 * 20


def test_versions_and_doubted_cells_are_drawn_whole() -> None:
    imputers = [SimpleImputer(strategy="constant", fill_value=value) for value in range(5)]
    table = table_of(imputers, max_exact=2)
    assert table.dataset.drawn_rows.tolist() == [1, 3, 5]
    assert table.dataset.candidate_counts.tolist() == [1, 5, 1, 5, 1, 5]
    assert values_of(table, 1, "age") == list(range(5))
    table = table_of("default", max_exact=1, suspects=[(3, "age")])
    assert table.dataset.candidate_counts[3] == 12
    assert table.candidates(3)[0] == {"age": 65, "member": False}
    assert 3 in table.dataset.drawn_rows


def test_rows_of_very_many_holes() -> None:
    rows = np.vstack([np.eye(600)[:5], np.ones(600), np.full(600, math.nan)])
    rows[-1, 0] = 1.0
    table = IncompleteTable(rows, label=[0, 1, 0, 1, 0, 1, 0], max_exact=8)
    data = table.dataset
    assert data.candidate_counts[6] == 2**62
    assert data.n_worlds == data.arrays.count(6) > 10**100
    assert data.drawn_rows.tolist() == [6]
    assert data.sampled.candidates(6).shape == (160, data.n_features)


def test_imputers_beside_categories_that_are_tuples() -> None:
    frame = FRAME.assign(city=pd.Series([(1, 2), None, (1, 2), (3, 4), None, (3, 4)], dtype=object))
    table = IncompleteTable(frame, "y", repairs=[SimpleImputer()])
    assert {one["city"] for one in table.candidates(1)} == {(1, 2)}
