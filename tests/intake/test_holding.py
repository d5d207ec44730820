"""Rows that are held out: a share of every label, whether they have holes or not."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2_contingency

from cpclean.intake.holding import (
    columns_that_count,
    differ_in_holes,
    held_out,
    quotas,
    rows_with_holes,
)


def frame(**columns):
    return pd.DataFrame(columns)


def test_columns_without_two_values_play_no_part():
    table = frame(a=[1, None, 3], b=[None, None, None], c=["u", None, "u"])
    assert columns_that_count(table) == ["a"]
    assert rows_with_holes(table, ["a"]).tolist() == [False, True, False]
    assert rows_with_holes(table, []).tolist() == [False] * 3


@pytest.mark.parametrize("seed", range(40))
def test_every_label_gives_its_share(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 40, size=rng.integers(1, 8))
    share = float(rng.choice([0.01, 0.1, 0.2, 0.29, 0.5, 0.9, 0.99]))
    labels = pd.Series(rng.permutation(np.repeat([f"l{n}" for n in range(len(sizes))], sizes)))
    found = labels[held_out(labels, share, seed)].value_counts()
    most = 0
    for number, size in enumerate(sizes.tolist()):
        held = found.get(f"l{number}", 0)
        if size == 1:
            assert held == 0
            continue
        most += min(np.ceil(share * size), size - 1)
        assert min(np.floor(share * size), size - 1) <= held <= np.ceil(share * size)
        assert held < size, "a row is left to learn from"
    assert found.sum() == min(round(share * int(sizes.sum())), most)


def test_rounding_is_as_documented():
    assert quotas(np.array([10, 10, 10]), 0.25).tolist() == [3, 3, 2], "8 rows, by order"
    assert quotas(np.array([3, 9, 4]), 0.3).tolist() == [1, 3, 1], "0.9, 2.7, 1.2: 5 rows"
    assert quotas(np.array([2, 2]), 0.99).tolist() == [1, 1]
    assert quotas(np.array([40]), 0.01).tolist() == [0]
    assert quotas(np.array([], dtype=np.int64), 0.5).tolist() == []


def test_rows_come_by_the_seed_alone():
    labels = pd.Series(["u", "v"] * 30)
    rows = held_out(labels, 0.3, 5)
    assert rows.tolist() == sorted(set(rows.tolist()))
    assert rows.tolist() == held_out(labels.copy(), 0.3, 5).tolist()
    assert rows.tolist() != held_out(labels, 0.3, 6).tolist()
    each = np.bincount(np.concatenate([held_out(labels, 0.3, seed) for seed in range(300)]))
    assert each.min() > 50, "90 of 300 are expected for every row"
    assert each.max() < 130


@pytest.mark.parametrize("labels", [[None] * 4, ["u", None, None, None], ["u", "v", "w", None]])
def test_rows_without_a_label_and_single_ones_are_not_held_out(labels):
    assert held_out(pd.Series(labels, dtype=object), 0.5, 0).tolist() == []


@pytest.mark.parametrize("kind", ["Int64", "category", "boolean", "datetime64[ns]", "object"])
def test_labels_of_any_kind(kind):
    labels = pd.Series([0, 1] * 10).astype("int64" if kind == "object" else kind).astype(kind)
    assert labels.iloc[held_out(labels, 0.2, 0)].value_counts().tolist() == [2, 2]


def test_rows_held_out_look_like_the_table():
    rng = np.random.default_rng(0)
    holes = rng.random(2000) < 0.8
    labels = pd.Series(np.where(holes, rng.choice(["u", "v", "v"], 2000), "u"))
    rows = held_out(labels, 0.2, 0)
    others = np.setdiff1d(np.arange(2000), rows)
    assert not differ_in_holes(holes[rows], holes[others])
    assert abs(holes[rows].mean() - 0.8) < 0.06


@pytest.mark.parametrize("seed", range(30))
def test_a_difference_is_that_of_two_proportions(seed):
    rng = np.random.default_rng(seed)
    held, others = (rng.random(size) < rng.random() for size in rng.integers(10, 200, size=2))
    counts = [[one.sum(), (~one).sum()] for one in (held, others)]
    if 0 in np.sum(counts, axis=0):
        assert not differ_in_holes(held, others)
        return
    z_squared = chi2_contingency(counts, correction=False).statistic
    far = abs(held.mean() - others.mean()) > 0.1
    assert differ_in_holes(held, others) == (far and z_squared > 9)


def test_differences_that_do_not_count():
    some = np.arange(10_000) < 5000
    assert not differ_in_holes(np.arange(10_000) < 5900, some), "much evidence, but 9 points only"
    assert differ_in_holes(np.arange(10_000) < 6100, some)
    assert not differ_in_holes(np.arange(12) < 9, np.arange(10) < 4), "35 points, but few rows"
    assert not differ_in_holes(np.arange(9) < 9, np.arange(200) < 1), "hardly any rows"
    assert not differ_in_holes(np.zeros(0, dtype=bool), some)
    assert not differ_in_holes(np.zeros(5, dtype=bool), np.zeros(9, dtype=bool))
