"""Rows that are in two files, whatever the files make of numbers and nulls."""

import numpy as np
import pandas as pd
import pytest

from cpclean.intake.same_rows import rows_in_both


def slowly(mine, theirs):
    """Pair by pair."""

    def key(row):
        return [None if pd.isna(one) else float(one) if not isinstance(one, str) else one
                for one in row]  # fmt: skip

    left = [key(row) for row in mine.itertuples(index=False)]
    right = [key(row) for row in theirs[list(mine.columns)].itertuples(index=False)]
    return [left.index(row) if row in left else -1 for row in right]


@pytest.mark.parametrize("seed", range(20))
def test_as_pair_by_pair(seed):
    rng = np.random.default_rng(seed)

    def some(n):
        return pd.DataFrame({
            "a": rng.choice([1.0, 2.0, np.nan], n),
            "b": rng.choice(np.array(["u", "v", None], dtype=object), n),
            "c": pd.array(rng.choice([True, False], n)).astype("boolean"),
        })  # fmt: skip

    mine, theirs = some(int(rng.integers(1, 12))), some(int(rng.integers(1, 12)))
    found = rows_in_both(mine, theirs[["c", "a", "b"]])
    assert found.tolist() == slowly(mine, theirs)


def test_numbers_are_numbers_and_nulls_are_nulls():
    mine = pd.DataFrame({"a": [1, 2], "b": [None, None], "c": ["1", "x"]})
    theirs = pd.DataFrame({
        "a": pd.array([2, 1, None], dtype="Int64"), "b": [np.nan] * 3, "c": ["x", 1, "x"],
    })  # fmt: skip
    assert rows_in_both(mine, theirs).tolist() == [1, 0, -1]
    text = pd.DataFrame({"a": ["nan", None]})
    assert rows_in_both(text, text.iloc[::-1]).tolist() == [1, 0], "a text is no null"


def test_no_rows():
    mine = pd.DataFrame({"a": [1, 1]})
    assert rows_in_both(mine, mine.iloc[:0]).tolist() == []
    assert rows_in_both(mine.iloc[:0], mine).tolist() == [-1, -1]
    assert rows_in_both(mine, mine).tolist() == [0, 0], "the first of equal rows"
