"""Priors of candidates: learnt from trusted cells of the training table alone."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cpclean import IncompleteTable
from cpclean.data.column_reading import column_from_objects
from cpclean.data.columns import OTHER
from cpclean.data.priors import SMOOTHING, LabelPrior, shares_nearest
from cpclean.errors import TableError

NUMBERS = column_from_objects("n", [1.0])
NAMES = column_from_objects("c", ["a"])


def nearest_by_hand(values: list[int], observed: list[int]) -> list[Fraction]:
    """Each observation is shared by the candidates that are nearest to it."""
    counts = [Fraction(0)] * len(values)
    for seen in observed:
        gaps = [abs(value - seen) for value in values]
        nearest = [place for place, gap in enumerate(gaps) if gap == min(gaps)]
        for place in nearest:
            counts[place] += Fraction(1, len(nearest))
    return [count / len(observed) for count in counts]


@given(
    st.lists(st.integers(0, 12), min_size=1, max_size=6, unique=True),
    st.lists(st.integers(-2, 14), min_size=1, max_size=12),
)
def test_shares_of_numbers(values: list[int], observed: list[int]) -> None:
    expected = nearest_by_hand(values, observed)
    actual = shares_nearest(NUMBERS, tuple(map(float, values)), np.array(observed, dtype=float))
    np.testing.assert_allclose(actual, [float(share) for share in expected], rtol=1e-12)


def test_ties_are_split() -> None:
    actual = shares_nearest(NUMBERS, (0.0, 10.0), np.array([5.0, 5.0, 4.0, 5.0]))
    assert actual.tolist() == [2.5 / 4, 1.5 / 4]


def test_shares_of_categories_and_other() -> None:
    seen = np.array(["a", "a", "b", "c", "d"], dtype=object)
    assert shares_nearest(NAMES, ("b", "a", OTHER), seen).tolist() == [0.2, 0.4, 0.4]
    assert shares_nearest(NAMES, ("a", "b"), seen).tolist() == [2 / 3, 1 / 3]
    assert shares_nearest(NAMES, ("a", "b", "c", "d", OTHER), seen)[-1] == 0.0


@pytest.mark.parametrize("column", [NUMBERS, NAMES])
def test_nothing_observed_is_uniform(column: Any) -> None:
    assert shares_nearest(column, (1.0, 2.0), column.values[:0]).tolist() == [0.5, 0.5]


def test_no_candidate_observed_is_uniform() -> None:
    assert shares_nearest(NAMES, ("x", "y"), NAMES.values).tolist() == [0.5, 0.5]


# -- in a table -----------------------------------------------------------------------------------

FRAME = pd.DataFrame(
    {
        "city": ["A", "A", "B", "B", "B", None, None],
        "k": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        "y": [0, 0, 0, 1, 1, 0, 1],
    }
)
AB = {"city": ["A", "B"]}


def prior_of(row: int, prior: Any, frame: pd.DataFrame = FRAME, **options: Any) -> list[float]:
    table = IncompleteTable(frame, label="y", prior=prior, **{"repairs": AB, **options})
    return table.dataset.prior(row).tolist()


def test_uniform() -> None:
    assert prior_of(5, "uniform") == [0.5, 0.5]


def test_observed() -> None:
    assert prior_of(5, "observed") == pytest.approx([0.4, 0.6])
    assert prior_of(6, "observed") == pytest.approx([0.4, 0.6])


def test_label_is_smoothed_towards_observed() -> None:
    trust = 3 / (3 + SMOOTHING)
    assert prior_of(5, "label") == pytest.approx(
        [trust * 2 / 3 + (1 - trust) * 0.4, trust / 3 + (1 - trust) * 0.6]
    )
    trust = 2 / (2 + SMOOTHING)
    assert prior_of(6, "label") == pytest.approx([(1 - trust) * 0.4, trust + (1 - trust) * 0.6])


def test_label_with_another_smoothing() -> None:
    assert prior_of(5, LabelPrior()) == prior_of(5, "label")
    assert prior_of(5, LabelPrior(0)) == pytest.approx([2 / 3, 1 / 3])
    assert prior_of(5, LabelPrior(6)) == pytest.approx([2 / 9 + 2 / 3 * 0.4, 1 / 9 + 2 / 3 * 0.6])
    assert prior_of(5, LabelPrior(math.inf)) == pytest.approx([0.4, 0.6])
    assert prior_of(5, {"city": LabelPrior(0)}) == prior_of(5, LabelPrior(0))


def test_unsmoothed_label_without_rows_of_the_class_is_observed() -> None:
    frame = FRAME.assign(y=[0, 0, 0, 0, 0, 0, 1])
    assert prior_of(6, LabelPrior(0), frame) == pytest.approx(prior_of(6, "observed", frame))


@pytest.mark.parametrize("smoothing", [-1, math.nan, "much", None])
def test_a_smoothing_that_is_none(smoothing: Any) -> None:
    with pytest.raises(
        TableError, match=f"smoothing must be a number of at least 0; got {smoothing!r}"
    ):
        LabelPrior(smoothing)


def test_label_is_the_default() -> None:
    expected = IncompleteTable(FRAME, "y", AB, "label").dataset
    assert IncompleteTable(FRAME, "y", AB).dataset == expected


def test_label_without_rows_of_the_class_is_observed() -> None:
    frame = FRAME.assign(y=[0, 0, 0, 0, 0, 0, 1])
    assert prior_of(6, "label", frame) == pytest.approx(prior_of(6, "observed", frame))


def test_label_tends_to_the_class_with_many_rows() -> None:
    many = pd.DataFrame({"city": ["A"] * 900 + ["B"] * 900 + [None], "k": range(1801),
                         "y": [0] * 900 + [1] * 900 + [0]})  # fmt: skip
    assert prior_of(1800, "label", many)[0] > 0.99


def test_default_candidates_of_numbers() -> None:
    frame = pd.DataFrame({"n": [0.0, 0.0, 4.0, 8.0, None], "k": range(5), "y": [0, 1, 0, 1, 0]})
    table = IncompleteTable(frame, label="y", prior="observed")
    values = [one["n"] for one in table.candidates(4)]
    assert values == [0.0, 3.0, 5.0, 8.0]  # the minimum is the first quartile too
    assert table.dataset.prior(4).tolist() == [0.5, 0.125, 0.125, 0.25]


def test_a_function_sees_trusted_values_only() -> None:
    calls = []

    def prior(column: Any, values: Any, everyone: Any, own: Any) -> Any:
        calls.append((column.name, values, everyone.tolist(), own.tolist()))
        assert "B" not in column.values[[4]].tolist()  # row 4 is doubted
        return [1, 3]

    assert prior_of(5, prior, suspects=[(4, "city")]) == [0.25, 0.75]
    assert ("city", ("A", "B"), ["A", "A", "B", "B"], ["A", "A", "B"]) in calls
    assert ("city", ("A", "B"), ["A", "A", "B", "B"], ["B"]) in calls


@pytest.mark.parametrize("prior", ["observed", "label"])
def test_the_value_in_doubt_itself_weighs_nothing(prior: str) -> None:
    """Whatever stands in a doubted cell, candidates weigh the same."""
    shares = {}
    for present in ("A", "B"):
        frame = FRAME.assign(city=[present, *FRAME["city"][1:]])
        table = IncompleteTable(frame, "y", AB, prior, suspects=[(0, "city")])
        weights = table.dataset.prior(0)
        shares[present] = {
            one["city"]: weight
            for one, weight in zip(table.candidates(0), weights, strict=True)
        }  # fmt: skip
    assert shares["A"] == shares["B"]


def test_the_truth_behind_a_hole_changes_nothing() -> None:
    """Priors of a row depend on other rows only: the row itself can be left out of the sums."""
    without = FRAME.drop(index=6)
    assert prior_of(5, "label") == prior_of(5, "label", without)
    assert prior_of(5, "observed") == prior_of(5, "observed", without)


def test_a_dict_of_priors() -> None:
    frame = FRAME.assign(k=[0.0, None, 2.0, 3.0, 4.0, 5.0, 6.0])
    repairs = {**AB, "k": [0, 6]}
    prior = {"city": {"A": 3, "B": 1}, "k": "uniform"}
    assert prior_of(5, prior, frame, repairs=repairs) == [0.75, 0.25]
    assert prior_of(1, prior, frame, repairs=repairs) == [0.5, 0.5]
    only = {"k": lambda column, values, everyone, own: np.arange(len(values))}
    assert prior_of(1, only, frame, repairs=repairs) == [0.0, 1.0]
    assert prior_of(5, only, frame, repairs=repairs) == prior_of(5, "label", frame, repairs=repairs)


class BySize:
    """A prior that looks at rows: the nearer a candidate's place to k, the likelier."""

    def __init__(self) -> None:
        self.shown: list[Any] = []

    def for_table(self, columns: Any, trusted: Any) -> BySize:
        self.shown.append((columns, trusted))
        return self

    def weights(self, row: int, cell: int, values: tuple[Any, ...]) -> Any:
        columns, trusted = self.shown[-1]
        assert not trusted[row, cell]
        return [1.0, columns[1].values[row]]


def test_a_prior_that_looks_at_rows() -> None:
    prior = BySize()
    table = IncompleteTable(FRAME, "y", AB, prior)
    assert table.dataset.prior(5).tolist() == pytest.approx([1 / 6, 5 / 6])
    assert table.dataset.prior(6).tolist() == pytest.approx([1 / 7, 6 / 7])
    assert len(prior.shown) == 1
    columns, trusted = prior.shown[0]
    assert [column.name for column in columns] == ["city", "k"]
    assert (~trusted).sum(axis=0).tolist() == [2, 0]


def test_a_prior_that_looks_at_rows_for_one_column_only() -> None:
    frame = FRAME.assign(k=[0.0, None, 2.0, 3.0, 4.0, 5.0, 6.0])
    repairs = {**AB, "k": [0, 6]}
    prior = {"city": BySize()}
    assert prior_of(5, prior, frame, repairs=repairs) == pytest.approx([1 / 6, 5 / 6])
    assert prior_of(1, prior, frame, repairs=repairs) == prior_of(
        1, "label", frame, repairs=repairs
    )


def test_a_prior_that_looks_at_rows_sees_no_doubted_value() -> None:
    prior = BySize()
    IncompleteTable(FRAME, "y", AB, prior, suspects=[(4, "city")])
    columns, trusted = prior.shown[0]
    assert columns[0].values[4] is None
    assert not trusted[4, 0]


def test_bad_weights_of_a_prior_that_looks_at_rows() -> None:
    frame = FRAME.assign(k=[0.0, 1.0, 2.0, 3.0, 4.0, -5.0, 6.0])
    with pytest.raises(TableError, match="the prior of column 'city' must give 2 weights, finite"):
        prior_of(5, BySize(), frame)


def test_factored_rows_multiply() -> None:
    frame = FRAME.assign(k=[0.0, 1.0, 2.0, 3.0, 4.0, None, 6.0], z=range(7))
    prior = {"city": {"A": 3, "B": 1}, "k": {0: 1, 6: 4}}
    weights = prior_of(5, prior, frame, repairs={**AB, "k": [0, 6]})
    assert weights == pytest.approx([0.75 * 0.2, 0.75 * 0.8, 0.25 * 0.2, 0.25 * 0.8])


@given(
    st.lists(
        st.tuples(st.sampled_from([0.0, 1.0, 5.0, None]), st.sampled_from(["a", "b", "c", None]),
                  st.integers(0, 2)),
        min_size=1, max_size=12,
    ),
    st.sampled_from(["uniform", "observed", "label"]),
)  # fmt: skip
def test_weights_are_a_distribution(rows: list[tuple[Any, ...]], prior: str) -> None:
    full = [(0.0, "a", 0), (2.0, "b", 1), *rows]
    frame = pd.DataFrame(full, columns=["n", "c", "y"]).assign(k=range(len(full)))
    data = IncompleteTable(frame, label="y", prior=prior).dataset
    for row in range(data.n_rows):
        weights = data.prior(row)
        assert (weights >= 0).all()
        assert math.fsum(weights) == pytest.approx(1.0)
        if prior == "uniform":
            assert len(set(weights.round(12))) == 1


@pytest.mark.parametrize(
    "prior", ["uniform", "observed", "label", "holoclean", LabelPrior(2), {"city": {"A": 1}}]
)
def test_tables_survive_pickling(prior: Any) -> None:
    table = IncompleteTable(FRAME, label="y", prior=prior)
    again = pickle.loads(pickle.dumps(table))
    assert again.dataset == table.dataset
    assert again.candidates(5) == table.candidates(5)


# -- bad priors -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, -1], r"column 'city' must give 2 weights, finite and not negative; got \[ 1. -1.\]"),
        ([1, math.nan], "must give 2 weights, finite and not negative"),
        ([1, math.inf], "must give 2 weights, finite and not negative"),
        ([1], r"must give 2 weights, finite and not negative; got \[1.\] of shape \(1,\)."),
        (range(500), r"got \[  0.   1.   2. ... 497. 498. 499.\] of shape \(500,\)."),
        (None, "must give 2 weights"),
        (["x", "y"], r"must give 2 numbers; got \['x', 'y'\]"),
        ([0, 0], "the prior of column 'city' sums to nothing: no candidate has a weight"),
    ],
)
def test_bad_weights(weights: Any, message: str) -> None:
    with pytest.raises(TableError, match=message):
        prior_of(5, lambda *_: weights)


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ("flat", "one of label, observed, .*, frequency .*, a function .* got 'flat'"),
        (None, "prior must be one of .* got None"),
        ({"town": "uniform"}, "prior names columns that the table does not have: 'town'"),
        ({"city": "flat"}, "prior must be one of .* got 'flat'"),
        ({"city": {"Z": 1}}, "the prior of column 'city' sums to nothing"),
        ({"city": {"A": -1, "B": 2}}, "the prior of column 'city' must give 2 weights"),
    ],
)
def test_bad_priors(prior: Any, message: str) -> None:
    with pytest.raises(TableError, match=message):
        prior_of(5, prior)
