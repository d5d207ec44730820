"""Numbers for distinct values, and lists of different lengths in one array."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pandas as pd
import pytest

from cpclean.data.coding import Coded, are_none, coded, coded_by_identity, exactly_coded, objects
from cpclean.data.column_reading import column_from_objects, column_from_texts
from cpclean.data.columns import Column
from cpclean.data.frames import columns_from
from cpclean.data.ragged import Ragged

ITEMS = ["b", "a", 1, True, 1.0, None, (1, 2), "b", (1, 2), 0.0, -0.0, None]


def test_equal_items_have_the_same_code() -> None:
    codes, distinct = coded(ITEMS)
    assert [distinct[code] for code in codes] == ITEMS
    assert distinct == ["b", "a", 1, None, (1, 2), 0.0]
    with pytest.raises(TypeError, match="unhashable"):
        coded([[1]])


def test_exact_codes_go_by_type_too() -> None:
    codes, distinct = exactly_coded(ITEMS)
    assert [(type(distinct[code]), distinct[code]) for code in codes] == [
        (type(one), one) for one in ITEMS
    ]
    assert len(distinct) == 8
    assert exactly_coded(["x", None, "x"]).distinct == ["x", None]


def test_items_without_a_hash_are_told_apart_by_identity() -> None:
    one = [1]
    codes, distinct = exactly_coded([one, [1], one, 2])
    assert codes.tolist() == [0, 1, 0, 2]
    assert distinct[0] is one
    assert coded_by_identity([one, one]).distinct == [one]


def test_judged_once_per_distinct_item() -> None:
    asked: list[Any] = []

    def judge(one: Any) -> bool:
        asked.append(one)
        return one == "b"

    assert coded(["b", "a", "b"]).each(judge).tolist() == [True, False, True]
    assert asked == ["b", "a"]


def test_without_some_of_the_distinct_items() -> None:
    codes, distinct = coded(["b", None, "a", "b"]).without(np.array([False, True, False]))
    assert codes.tolist() == [0, -1, 1, 0]
    assert distinct == ["b", "a"]


def test_arrays_of_objects() -> None:
    array = objects([(1, 2), (3, 4), None])
    assert array.shape == (3,)
    assert array[0] == (1, 2)
    assert are_none(array).tolist() == [False, False, True]


# -- columns ---------------------------------------------------------------------------------------


def test_a_column_from_texts_is_that_from_objects() -> None:
    rng = random.Random(0)
    for _ in range(50):
        items = [rng.choice(["a", "?", " NA ", "1", "2.5", None]) for _ in range(rng.randint(0, 9))]
        texts = coded([one for one in items if one is not None])
        codes = iter(texts.codes.tolist())
        known = np.array([-1 if one is None else next(codes) for one in items], dtype=np.int64)
        for tokens in ((), ("?",), ("?", "NA", "a")):
            expected = column_from_objects("c", items, None, tokens)
            if set(items) == {None} or not items:
                continue  # a series of texts with no text in it is read as objects
            actual = column_from_texts("c", Coded(known, texts.distinct), tokens)
            assert (actual.kind, actual.given) == (expected.kind, expected.given)
            assert str(actual.values.tolist()) == str(expected.values.tolist())
            assert actual.missing.tolist() == expected.missing.tolist()


def test_categories_and_frequencies_of_a_column() -> None:
    column = column_from_objects("c", ["b", None, "a", "b", True, 1])
    assert column.categories.codes.tolist() == [0, -1, 1, 0, 2, 2]
    assert column.categories.distinct == ["b", "a", True]
    assert list(column.frequencies.items()) == [("b", 2), ("a", 1), (True, 2)]
    assert (column.n_observed, column.n_distinct, column.varies) == (5, 3, True)


def test_frequencies_of_numbers_are_in_order_of_appearance() -> None:
    column = column_from_objects("n", [3.0, None, -0.0, 3.0, 0.0, 1.0])
    assert str(list(column.frequencies.items())) == "[(3.0, 2), (-0.0, 2), (1.0, 1)]"
    assert (column.n_distinct, column.varies) == (3, True)
    empty = Column("n", "numeric", np.array([math.nan]))
    assert (empty.n_distinct, empty.n_observed, empty.varies) == (0, 0, False)
    assert not Column("n", "numeric", np.array([2.0, math.nan, 2.0])).varies


def test_all_shown_is_shown_one_by_one() -> None:
    frame = pd.DataFrame(
        {
            "f": [1.0, None, -0.0, 2.5],
            "i": pd.Series([2**60, None, -3, 0], dtype="Int64"),
            "b": pd.Series([True, None, False, True], dtype="boolean"),
            "d": pd.to_datetime(["2024-01-31", None, "2024-02-01", "1960-02-03"]),
            "z": pd.to_datetime(["2024-01-31", None, "2024-07-01", None], utc=True),
            "t": pd.to_timedelta(["1 days", None, "2 days 00:00:01.000001", "0 days"]),
            "c": ["x", None, "y", "x"],
        }
    )
    with pytest.warns(UserWarning, match="rounded"):
        columns = columns_from(frame.assign(i=frame["i"] + 1))
    for column in columns:
        expected = [column.shown(value) for value in column.values]
        assert repr(column.all_shown(column.values)) == repr(expected)
        assert [type(one) for one in column.all_shown(column.values)] == list(map(type, expected))
    half = Column("b", "boolean", np.array([0.0, 0.5]))
    assert half.all_shown(half.values) == [False, 0.5]


# -- lists of different lengths --------------------------------------------------------------------


def test_lists_in_one_array() -> None:
    lists = Ragged.of([(1, 2), (), ((3, 4),), ("a", None, 5)])
    assert [own.tolist() for own in lists] == [[1, 2], [], [(3, 4)], ["a", None, 5]]
    assert lists.sizes.tolist() == [2, 0, 1, 3]
    assert lists.owner.tolist() == [0, 0, 2, 3, 3, 3]
    taken = lists.take(np.array([3, 0, 3, 1]))
    assert [own.tolist() for own in taken] == [["a", None, 5], [1, 2], ["a", None, 5], []]
    kept = lists.kept(np.array([True, False, True, False, True, True]))
    assert [own.tolist() for own in kept] == [[1], [], [(3, 4)], [None, 5]]
    assert [own.tolist() for own in kept.joined(taken.take(np.array([1])))][-1] == [1, 2]
    assert len(Ragged.of([])) == 0


def test_sums_are_those_of_each_list_on_its_own() -> None:
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 300, 200)
    lists = Ragged.sized(rng.random(sizes.sum()) * 10.0 ** rng.integers(-9, 9, sizes.sum()), sizes)
    assert lists.sums().tolist() == [own.sum() for own in lists]
