"""Injected holes: how many, where, and by what rule."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cpclean.errors import DataError
from cpclean.experiments.inject import INJECTIONS, accuracy_losses, inject


def mixed(n_rows: int = 200, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "real": rng.normal(size=n_rows),
            "whole": rng.integers(0, 50, n_rows),
            "text": rng.choice(list("aaaabbc"), n_rows),
            "flag": rng.random(n_rows) < 0.5,
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 90, n_rows), "D"),
            "kind": pd.Categorical(rng.choice(["x", "y"], n_rows)),
        }
    )


LABELS = np.where(mixed()["real"] > 0, "P", "N")


@pytest.mark.parametrize("kind", INJECTIONS)
@pytest.mark.parametrize("rate", [0.0, 0.05, 0.2, 0.5])
def test_exactly_the_rate_and_never_a_whole_row(kind: str, rate: float) -> None:
    frame = mixed()
    injected = inject(frame, kind, rate, seed=3, labels=LABELS)
    assert injected.mask.sum() == round(rate * frame.size)
    assert not injected.mask.all(axis=1).any()
    assert ((~injected.mask).mean(axis=0) >= 0.05).all()


@pytest.mark.parametrize("kind", INJECTIONS)
def test_holes_are_where_the_mask_says_and_nothing_else_changes(kind: str) -> None:
    frame = mixed()
    before = frame.copy()
    injected = inject(frame, kind, 0.2, seed=1, labels=LABELS)
    pd.testing.assert_frame_equal(frame, before)
    assert (injected.frame.isna().to_numpy() == injected.mask).all()
    for number, name in enumerate(frame.columns):
        kept = ~injected.mask[:, number]
        assert injected.frame[name][kept].tolist() == frame[name][kept].tolist()


@given(
    st.integers(2, 12),
    st.integers(2, 5),
    st.floats(0.0, 0.35),
    st.integers(0, 99),
    st.lists(st.sampled_from([0.0, 1.0, 50.0]), min_size=5, max_size=5),
)
def test_any_shape(rows: int, columns: int, rate: float, seed: int, weights: list[float]) -> None:
    frame = pd.DataFrame(np.arange(rows * columns, dtype=float).reshape(rows, columns))
    spare = rows * columns - rows - 2 * columns  # a cell of every row and two of every column
    if round(rate * rows * columns) > max(0, spare):
        return
    mask = inject(frame, "high", rate, seed, weights=weights[:columns]).mask
    assert mask.sum() == round(rate * rows * columns)
    assert not mask.all(axis=1).any()
    assert ((~mask).sum(axis=0) >= 2).all()


@pytest.mark.parametrize("kind", INJECTIONS)
def test_seeded(kind: str) -> None:
    masks = [inject(mixed(), kind, 0.2, seed, labels=LABELS).mask for seed in (4, 4, 5)]
    assert (masks[0] == masks[1]).all()
    assert (masks[0] != masks[2]).any()


def test_at_random_all_cells_are_alike() -> None:
    frame = pd.DataFrame(np.arange(40_000.0).reshape(10_000, 4))
    mask = inject(frame, "random", 0.2, seed=0).mask
    assert mask.mean(axis=0) == pytest.approx([0.2] * 4, abs=0.015)
    assert mask[:5000].mean() == pytest.approx(mask[5000:].mean(), abs=0.01)


def test_columns_are_hidden_in_proportion_to_their_weights() -> None:
    frame = pd.DataFrame(np.arange(40_000.0).reshape(10_000, 4))
    mask = inject(frame, "random", 0.02, seed=0, weights=[4.0, 2.0, 1.0, 0.0]).mask
    shares = mask.mean(axis=0) / mask.mean(axis=0)[2]
    assert shares[:2] == pytest.approx([4.0, 2.0], rel=0.2)
    assert mask[:, 3].sum() == 0


def test_columns_of_weight_nothing_come_last() -> None:
    frame = pd.DataFrame(np.arange(4000.0).reshape(1000, 4))
    mask = inject(frame, "random", 0.4, seed=0, weights=[1.0, 0.0, 0.0, 0.0]).mask
    assert mask[:, 0].mean() == 0.95  # as much as a column may lose
    assert mask[:, 1:].mean(axis=0) == pytest.approx([0.65 / 3] * 3, abs=0.05)


def test_without_any_weight_columns_are_alike() -> None:
    frame = pd.DataFrame(np.arange(4000.0).reshape(1000, 4))
    mask = inject(frame, "random", 0.2, seed=0, weights=[0.0] * 4).mask
    assert (mask == inject(frame, "random", 0.2, seed=0).mask).all()


def test_important_columns_are_those_whose_loss_hurts() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(400, 3)), columns=["noise", "tells", "more"])
    labels = frame["tells"] > 0
    losses = accuracy_losses(frame, labels)
    assert losses.argmax() == 1
    assert losses[1] > 0.2
    mask = inject(frame, "important", 0.2, seed=0, labels=labels).mask
    weights = np.maximum(losses, 0.0)
    assert (mask == inject(frame, "random", 0.2, seed=0, weights=weights).mask).all()
    assert mask[:, 1].mean() > 0.5


def test_accuracy_losses_by_hand() -> None:
    """Without the one column that tells, the nearest row is always one of the other class."""
    frame = pd.DataFrame(
        {"tells": [0, 0, 0, 1, 1, 1], "misleads": [0.0, 0.4, 0.9, 0.01, 0.41, 1.0], "same": 7}
    )
    losses = accuracy_losses(frame, list("NNNPPP"), n_neighbors=1)
    assert losses.tolist() == [1.0, 0.0, 0.0]


def test_accuracy_without_the_only_column_is_that_of_the_larger_class() -> None:
    frame = pd.DataFrame({"n": [0.0, 0.1, 0.2, 5.0, 5.1]})
    assert accuracy_losses(frame, list("NNNPP"), 1).tolist() == pytest.approx([1 - 3 / 5])


def test_high_values_are_hidden_more() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=4000), "b": rng.lognormal(size=4000)})
    for name, hidden in zip("ab", inject(frame, "high", 0.2, seed=0).mask.T, strict=True):
        rank = frame[name].rank(pct=True)
        upper, lower = hidden[rank > 0.75].mean(), hidden[rank <= 0.25].mean()
        assert upper > 5 * lower
    at_random = inject(frame, "random", 0.2, seed=0).mask[:, 0]
    assert frame["a"][at_random].mean() == pytest.approx(0.0, abs=0.15)


def test_rare_categories_count_as_high() -> None:
    frame = pd.DataFrame({"c": ["often"] * 3600 + ["seldom"] * 400, "n": np.zeros(4000)})
    hidden = inject(frame, "high", 0.2, seed=0).mask[:, 0]
    assert hidden[3600:].mean() > 3 * hidden[:3600].mean()


def test_equal_values_are_alike() -> None:
    frame = pd.DataFrame({"n": np.ones(4000), "m": np.ones(4000)})
    hidden = inject(frame, "high", 0.2, seed=0).mask[:, 0]
    assert hidden[:2000].mean() == pytest.approx(hidden[2000:].mean(), abs=0.03)


# -- mistakes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "low"}, "kind must be one of random, important, high; got 'low'"),
        ({"kind": "important"}, 'kind="important" needs labels, or the weights of the columns'),
        ({"rate": 1.5}, r"rate must be a share of cells in \[0, 0.8\d\], .* 200 x 6 table .* 1.5"),
        ({"rate": -0.1}, "rate must be a share of cells"),
        ({"rate": 0.9}, "so that every row and column of the 200 x 6 table keeps some; got 0.9"),
        ({"weights": [1.0]}, "weights must be 6 numbers, one per column"),
        ({"weights": [1, 1, 1, 1, 1, -1]}, "finite and not negative"),
    ],
)
def test_mistakes(options: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        inject(mixed(), **options)


def test_a_table_with_holes_is_refused() -> None:
    with pytest.raises(DataError, match="a complete table only; this one has nulls"):
        inject(pd.DataFrame({"a": [1.0, None], "b": [1, 2]}))
