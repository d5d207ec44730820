"""HoloClean's model, steps 1 and 2: values as categories, counts of pairs, correlation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from data.holoclean_samples import SMALL, model_of
from hypothesis import given
from hypothesis import strategies as st

from cpclean.data.column_reading import column_from_objects
from cpclean.data.columns import OTHER
from cpclean.data.holoclean.counts import attribute_of, pair_counts

# -- values as categories --------------------------------------------------------------------------


def attribute(values: list[Any], bins: int = 10) -> Any:
    column = column_from_objects("n", values)
    return attribute_of(column, ~column.missing, bins)


def test_categories_are_numbered_by_frequency_then_text() -> None:
    one = attribute(["b", "c", "a", None, "c", "b"])
    assert one.values == ("b", "c", "a")
    assert one.counts.tolist() == [2, 2, 1]
    assert one.codes.tolist() == [0, 1, 2, -1, 1, 0]
    assert one.coded(["c", None, "z", OTHER]).tolist() == [1, -1, -1, -1]


def test_one_and_its_text_are_two_categories() -> None:
    assert attribute([1, "1", "1", 2.5]).values == ("1", 1, 2.5)


def test_few_numbers_have_a_bin_each() -> None:
    one = attribute([3.0, 1.0, None, 1.0, 8.0], bins=3)
    assert one.values == (1.0, 3.0, 8.0)
    assert one.counts.tolist() == [2, 1, 1]
    assert one.codes.tolist() == [1, 0, -1, 0, 2]
    # Other numbers belong to the nearest; the middle belongs to the upper one.
    assert one.coded([-5.0, 1.9, 2.0, 99.0, math.nan]).tolist() == [0, 0, 1, 2, -1]


def test_many_numbers_share_bins_of_equal_counts_and_a_bin_is_its_mean() -> None:
    one = attribute([15.0, 0.0, 1.0, 2.0, 10.0, 11.0], bins=3)
    assert one.cuts.tolist() == [2.0, 11.0]
    assert one.codes.tolist() == [2, 0, 0, 1, 1, 2]
    assert one.values == (0.5, 6.0, 13.0)
    assert one.coded([-9.0, 1.99, 2.0, 10.99, 99.0]).tolist() == [0, 0, 1, 1, 2]


@given(st.lists(st.integers(-3, 30), min_size=1, max_size=60), st.integers(2, 8))
def test_bins_are_ordered_not_empty_and_hold_their_means(numbers: list[int], bins: int) -> None:
    one = attribute([float(number) for number in numbers], bins)
    assert 1 <= one.size <= bins
    assert one.counts.min() >= 1
    assert one.counts.sum() == len(numbers)
    assert list(one.values) == sorted(one.values)
    assert one.coded(one.values).tolist() == list(range(one.size))
    order = np.argsort(numbers, kind="stable")
    assert (np.diff(one.codes[order]) >= 0).all()


def test_a_number_that_stands_very_often_makes_fewer_bins() -> None:
    rare = [float(n) for n in range(1, 11)]
    for often, expected in (
        (0.0, (0.0, 5.5)),
        (20.0, (5.5, 20.0)),
        (5.5, (3.0, 535 / 95)),
    ):
        one = attribute([often] * 90 + rare, bins=4)
        assert one.values == pytest.approx(expected)


def test_neighbouring_doubles_are_told_apart() -> None:
    above = float(np.nextafter(1.0, 2.0))
    assert attribute([1.0, above, 1.0]).codes.tolist() == [0, 1, 0]


def test_huge_numbers_do_not_overflow() -> None:
    one = attribute([1e308, 1.7e308, 1.6e308, -1e308], bins=2)
    assert np.isfinite(one.values).all()


def test_booleans_and_dates_are_numbers() -> None:
    assert attribute([True, False, None, True]).values == (0.0, 1.0)
    dates = pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-01"]).tolist()
    assert attribute(dates).counts.tolist() == [2, 1]


# -- steps 1 and 2: counts and correlation ---------------------------------------------------------


def test_counts_of_pairs() -> None:
    model = model_of(SMALL)
    assert model.attributes[0].values == ("x", "y")
    assert model.attributes[1].values == ("p", "q")
    pair = model.pairs[0][1]
    assert pair is not None
    table = [[pair.of(np.array([b]), np.array([v]))[0] for v in (0, 1)] for b in (0, 1)]
    assert table == [[2, 0], [1, 2]]
    assert pair.given.tolist() == [2, 3]  # the row with the hole of A is not among them
    assert pair.of(np.array([-1, 0, -1]), np.array([0, -1, -1])).tolist() == [0, 0, 0]
    other = model.pairs[1][0]
    assert other is not None
    assert other.given.tolist() == [3, 2]
    assert model.pairs[0][0] is None


def test_correlation_by_hand() -> None:
    model = model_of(SMALL)
    a_given_b, b_given_a = model.pairs[0][1], model.pairs[1][0]
    assert a_given_b is not None
    assert b_given_a is not None
    third = -(1 / 3 * math.log(1 / 3) + 2 / 3 * math.log(2 / 3))
    # B = p tells A; under B = q, in 3 of 5 rows, A is y two times of three.
    assert a_given_b.correlation == pytest.approx(1 - 3 / 5 * third / math.log(2))
    # A = y tells B; under A = x, in 3 of 5 rows, B is p two times of three.
    assert b_given_a.correlation == pytest.approx(1 - 3 / 5 * third / math.log(2))


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (["x", "y", "x", "y"], ["p", "q", "p", "q"], 1.0),
        (["x", "y", "x", "y"], ["p", "p", "q", "q"], 0.0),
        (["x", "y", "x", "y"], ["p", "p", "p", "p"], 0.0),
        (["x", "x", "x", "x"], ["p", "q", "p", "q"], 0.0),  # nothing to tell
        (["x", None, "y", None], [None, "p", None, "q"], 0.0),  # never known together
        (["x", "x", "x", "y"], ["p", "p", "p", "p"],
         1 - (-(0.75 * math.log(0.75) + 0.25 * math.log(0.25))) / math.log(2)),
    ],
)  # fmt: skip
def test_correlation_of_special_pairs(a: list[Any], b: list[Any], expected: float) -> None:
    pair = pair_counts(attribute(a), attribute(b))
    assert pair.correlation == pytest.approx(expected, abs=1e-12)
