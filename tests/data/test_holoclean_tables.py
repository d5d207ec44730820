"""HoloClean's model on whole tables: missing patterns, dull columns, doubts, real tables."""

from __future__ import annotations

import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from data.holoclean_samples import cells_of, codes_of
from hypothesis import given, settings
from hypothesis import strategies as st

from cpclean import IncompleteTable
from cpclean.classifier import CertainKNeighborsClassifier
from cpclean.data.column_reading import column_from_objects
from cpclean.data.frames import columns_from
from cpclean.data.holoclean.cell_values import holo_cells
from cpclean.data.holoclean.holo_model import HoloSettings, fit_model
from cpclean.data.repairs import HoloRepair

TABLES = Path(__file__).resolve().parents[3] / "shared" / "data" / "tables"


# -- missing patterns and dull columns -------------------------------------------------------------


def test_a_row_without_any_value_takes_the_most_frequent() -> None:
    frame = pd.DataFrame({"A": ["x", "x", "x", "y", None], "B": ["p", "p", "q", "q", None],
                          "y": [0, 1, 0, 1, 0]})  # fmt: skip
    table = IncompleteTable(frame, "y", repairs="holoclean", prior="holoclean")
    shown = {tuple(one.values()) for one in table.candidates(4)}
    assert shown == {("x", "p"), ("x", "q"), ("y", "p"), ("y", "q")}
    cells = cells_of({"A": ["x", "x", "x", "y", None], "B": ["p", "p", "q", "q", None]})
    odds = math.exp(cells.model.weights[0, 0] * (3 / 4 - 1 / 4))
    assert cells.weights(4, 0, ("x", "y")).tolist() == pytest.approx(
        [odds / (1 + odds), 1 / (1 + odds)]
    )


def test_fallback_is_the_number_of_most_frequent_values() -> None:
    table = {"A": ["x", "x", "x", "y", "y", "z", None]}
    for size, expected in ((1, {"x"}), (2, {"x", "y"}), (9, {"x", "y", "z"})):
        assert set(cells_of(table, fallback=size).candidates(6, 0)) == expected


def test_constant_column_and_single_category() -> None:
    table = {"A": ["x", "x", None, "x"], "n": [1.5, 1.5, 1.5, None], "B": ["p", None, "q", "p"]}
    cells = cells_of(table)
    assert cells.repair(2, 0) == "x"
    assert cells.candidates(2, 0) == ("x",)
    assert cells.repair(3, 1) == 1.5
    assert not cells.model.weights[0].any()
    assert np.isfinite(cells.model.weights).all()
    assert cells.weights(2, 0, ("x",)).tolist() == [1.0]


def test_a_column_without_values_has_no_answer() -> None:
    table = {"A": [None, None, None], "B": ["p", "q", None]}
    columns = [column_from_objects(n, v, "categorical") for n, v in table.items()]
    holes = np.column_stack([column.missing for column in columns])
    cells = holo_cells(columns, holes, HoloSettings())
    assert 0 not in cells
    assert 1 in cells
    assert cells.filled(columns)[0].values.tolist() == [None] * 3
    assert cells.weights(0, 0, ("u", "v")).tolist() == [1.0, 1.0]
    frame = pd.DataFrame({"A": [None] * 4, "B": ["p", "q", None, "p"], "y": [0, 1, 0, 1]})
    with pytest.warns(UserWarning, match="no value is observed in column 'A'"):
        table = IncompleteTable(frame, "y", repairs="holoclean", prior="holoclean")
    assert set(table.candidates(2)[0]) == {"B"}


def test_columns_that_are_never_known_together() -> None:
    cells = cells_of({"A": ["x", "y", None, None], "B": [None, None, "p", "q"]})
    assert set(cells.candidates(2, 0)) == {"x", "y"}
    assert np.isfinite(cells.weights(2, 0, ("x", "y"))).all()


def test_a_context_that_was_never_seen_beside_a_value() -> None:
    cells = cells_of({"A": ["x", "x", "y", None], "B": ["p", "p", "q", "r"]})
    assert set(cells.candidates(3, 0)) == {"x", "y"}  # r tells nothing
    assert cells.repair(3, 0) in {"x", "y"}


def test_identifiers_do_not_drown_what_tells() -> None:
    """A column of distinct values tells nothing about a hole: it must not be trusted."""
    rng = np.random.default_rng(2)
    b = rng.integers(0, 3, 200)
    a: list[Any] = [f"v{one}" for one in b]
    a[:20] = [None] * 20
    cells = cells_of({"A": a, "id": [f"i{n}" for n in range(200)], "B": [f"b{one}" for one in b]})
    assert [cells.repair(row, 0) for row in range(20)] == [f"v{one}" for one in b[:20]]
    assert abs(cells.model.weights[0, 1]) < 1e-6


# -- doubted cells ---------------------------------------------------------------------------------


@pytest.mark.parametrize("present", ["x", "y", "z"])
def test_nothing_is_learnt_from_doubted_cells(present: str) -> None:
    frame = pd.DataFrame({"A": [present, *"xxxyy", None], "B": [*"pppqqqp"], "y": [*"0101010"]})
    blank = frame.assign(A=[None, *"xxxyy", None])
    table = IncompleteTable(frame, "y", "holoclean", "holoclean", suspects=[(0, "A")])
    plain = IncompleteTable(blank, "y", "holoclean", "holoclean")
    assert table.candidates(6) == plain.candidates(6)
    np.testing.assert_array_equal(table.dataset.prior(6), plain.dataset.prior(6))
    assert table.candidates(0)[0] == {"A": present}


@pytest.mark.parametrize("present", ["x", "y", "z"])
def test_a_doubted_cell_says_nothing_about_its_row(present: str) -> None:
    frame = pd.DataFrame({"A": [present, *"xxxyyx"], "B": [None, *"ppqqqp"], "C": [*"mmnnmnm"],
                          "y": [*"0101010"]})  # fmt: skip
    table = IncompleteTable(frame, "y", {"B": ["p", "q"]}, "holoclean", suspects=[(0, "A")])
    blank = frame.assign(A=[None, *"xxxyyx"])
    plain = IncompleteTable(blank, "y", {"B": ["p", "q"]}, "holoclean")
    chances = []
    for one in (table, plain):
        shares: dict[str, float] = {}
        for candidate, weight in zip(one.candidates(0), one.dataset.prior(0), strict=True):
            shares[candidate["B"]] = shares.get(candidate["B"], 0.0) + weight
        chances.append(shares)
    assert chances[0] == pytest.approx(chances[1])


def test_a_doubted_value_is_weighed_like_any_other() -> None:
    frame = pd.DataFrame({"A": ["y", *"xxxyy"], "B": [*"pppqqq"], "y": [0, 1] * 3})
    table = IncompleteTable(frame, "y", "holoclean", "holoclean", suspects=[(0, "A")])
    weights = dict(
        zip([one["A"] for one in table.candidates(0)], table.dataset.prior(0), strict=True)
    )
    assert list(weights) == ["y", "x"]
    assert 0 < weights["y"] < weights["x"]


# -- whole tables ----------------------------------------------------------------------------------


@settings(max_examples=30)
@given(
    st.lists(
        st.tuples(st.sampled_from([0.0, 1.0, 5.0, 6.0, None]),
                  st.sampled_from(["a", "b", "c", None]), st.integers(0, 2)),
        min_size=1, max_size=12,
    ),
    st.sampled_from(["default", "holoclean"]),
)  # fmt: skip
def test_weights_are_a_distribution(rows: list[tuple[Any, ...]], repairs: str) -> None:
    full = [(0.0, "a", 0), (2.0, "b", 1), *rows]
    frame = pd.DataFrame(full, columns=["n", "c", "y"]).assign(k=range(len(full)))
    table = IncompleteTable(frame, label="y", repairs=repairs, prior=HoloRepair(bins=3))
    for row in range(table.n_rows):
        weights = table.dataset.prior(row)
        assert (weights >= 0).all()
        assert math.fsum(weights) == pytest.approx(1.0)
        if repairs == "holoclean":
            assert (weights > 0).all()


def test_the_order_of_rows_changes_nothing() -> None:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"n": rng.normal(size=80).round(1), "c": rng.choice([*"abc"], 80),
                          "d": rng.choice([*"kl"], 80), "y": rng.integers(0, 2, 80)})  # fmt: skip
    frame = frame.mask(rng.random(frame.shape) < np.array([0.2, 0.2, 0.2, 0.0]))
    order = rng.permutation(80)
    one = IncompleteTable(frame, "y", "holoclean", "holoclean")
    two = IncompleteTable(frame.iloc[order], "y", "holoclean", "holoclean")
    for place, row in enumerate(order.tolist()):
        assert {tuple(c.values()) for c in one.candidates(row)} == {
            tuple(c.values()) for c in two.candidates(place)
        }
        np.testing.assert_allclose(
            np.sort(one.dataset.prior(row)), np.sort(two.dataset.prior(place)), atol=1e-3
        )


def test_twice_is_the_same_and_survives_pickling() -> None:
    rng = np.random.default_rng(6)
    frame = pd.DataFrame({"n": rng.normal(size=60), "c": rng.choice([*"abc"], 60),
                          "y": rng.integers(0, 2, 60)})  # fmt: skip
    frame.loc[::7, "n"] = None
    frame.loc[3::7, "c"] = None
    one = IncompleteTable(frame, "y", "holoclean", "holoclean")
    assert IncompleteTable(frame, "y", "holoclean", "holoclean").dataset == one.dataset
    again = pickle.loads(pickle.dumps(one))
    assert again.dataset == one.dataset
    assert again.candidates(0) == one.candidates(0)


def test_the_classifier_takes_the_names() -> None:
    X = pd.DataFrame({"size": [1.0, 2.0, None, 8.0, 9.0], "hue": ["r", "r", "r", "b", None]})
    model = CertainKNeighborsClassifier(1, repairs="holoclean", prior="holoclean")
    model.fit(X, [0, 0, 0, 1, 1])
    assert model.predict(pd.DataFrame({"size": [1.0], "hue": ["r"]})).tolist() == [0]


@pytest.mark.slow
def test_ten_thousand_rows_of_ten_columns() -> None:
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(10_000, 3))
    frame = pd.DataFrame({f"n{n}": hidden @ rng.normal(size=3) for n in range(5)})
    for n in range(4):
        frame[f"c{n}"] = (hidden[:, n % 3] * 4 + rng.normal(size=10_000)).round().astype(str)
    frame["many"] = rng.integers(0, 5000, 10_000).astype(str)
    holes = rng.random(frame.shape) < 0.2
    columns = columns_from(frame.mask(holes))
    cells = holo_cells(columns, holes, HoloSettings())
    assert all(not column.missing.any() for column in cells.filled(columns))


# -- real tables -----------------------------------------------------------------------------------


def real_table(name: str, label: str, n_rows: int) -> pd.DataFrame:
    file = TABLES / name / "data.csv"
    if not file.is_file():
        pytest.skip(f"the table {name} is not at {TABLES}")
    frame = pd.read_csv(file, skipinitialspace=True, na_values="?")
    return frame.drop(columns=[label, *({"rownames"} & {*frame.columns})]).head(n_rows)


@pytest.mark.parametrize(
    ("name", "label", "gain"),
    [("Adult", "Income", 0.1), ("Chile", "vote", 0.05), ("CreditData", "Status", 0.08)],
)
def test_hidden_cells_of_real_tables(name: str, label: str, gain: float) -> None:
    """The repair is right more often than the most frequent value, and its chances are honest."""
    columns = columns_from(real_table(name, label, 2000))
    missing = np.column_stack([column.missing for column in columns])
    hidden = (np.random.default_rng(0).random(missing.shape) < 0.2) & ~missing
    model = fit_model(columns, ~(missing | hidden), HoloSettings())
    codes, right, usual, surprise, plain = codes_of(model), [], [], [], []
    for a, column in enumerate(columns):
        rows = np.flatnonzero(hidden[:, a])
        one = model.attributes[a]
        truth = one.coded(column.values[rows])
        domains, chances, best = model.chances(a, codes[rows])
        right.append((best == truth).mean())
        usual.append((one.frequent[0] == truth).mean())
        hits = domains.values == truth[domains.cells]
        true_chance = np.zeros(len(rows))
        true_chance[domains.cells[hits]] = chances[hits]
        surprise.append(-np.log(np.maximum(true_chance, 0.01)).mean())
        frequency = np.where(truth >= 0, one.counts[truth] / one.counts.sum(), 0.0)
        plain.append(-np.log(np.maximum(frequency, 0.01)).mean())
    assert np.mean(right) > np.mean(usual) + gain
    assert np.mean(surprise) < np.mean(plain)


@pytest.mark.parametrize("name", ["BabyProduct"])
def test_a_real_dirty_table(name: str) -> None:
    if not (TABLES / name / "dirty.csv").is_file():
        pytest.skip(f"the table {name} is not at {TABLES}")
    frame = pd.read_csv(TABLES / name / "dirty.csv").head(1500)
    table = IncompleteTable(frame, "class", "holoclean", "holoclean")
    counts = table.dataset.candidate_counts
    for row in np.flatnonzero((counts > 1) & (counts <= 10_000)).tolist()[:50]:
        assert table.dataset.prior(row).sum() == pytest.approx(1.0)
        assert all(None not in one.values() for one in table.candidates(row))
