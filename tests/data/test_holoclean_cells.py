"""HoloClean's model, step 6: what a cell is repaired with, its candidates and their prior."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from data.holoclean_samples import cells_of, codes_of, columns_of, model_of

from cpclean import IncompleteTable
from cpclean.data.columns import ABSENT, OTHER
from cpclean.data.holoclean.cell_values import HoloCells
from cpclean.data.holoclean.holo_model import CellDomains, HoloSettings
from cpclean.data.repairs import HoloRepair, repair_named
from cpclean.errors import TableError

# -- step 6: repairs and priors --------------------------------------------------------------------


def test_repair_is_the_likeliest_value() -> None:
    table = {"city": ["Bern", "Bern", "Bern", "Rome", "Rome", "Rome"],
             "land": ["CH", "CH", None, "IT", "IT", None]}  # fmt: skip
    cells = cells_of(table)
    assert cells.repair(2, 1) == "CH"
    assert cells.repair(5, 1) == "IT"
    assert cells.candidates(2, 1) == ("CH",)
    assert [one.values.tolist() for one in cells.filled(columns_of(table))] == [
        table["city"], ["CH", "CH", "CH", "IT", "IT", "IT"],
    ]  # fmt: skip


def test_repair_of_a_number_is_the_mean_of_its_bin() -> None:
    table = {"n": [0.0, 1.0, 2.0, 100.0, 101.0, 105.0, None, None],
             "c": ["low", "low", "low", "high", "high", "high", "low", "high"]}  # fmt: skip
    cells = cells_of(table, bins=2)
    assert cells.repair(6, 0) == pytest.approx(cells.model.attributes[0].values[0])
    assert cells.repair(7, 0) == pytest.approx(cells.model.attributes[0].values[1])
    assert cells.repair(6, 0) < 3
    assert cells.repair(7, 0) > 60


def test_at_equal_chances_the_more_frequent_then_the_first_is_taken() -> None:
    model = model_of({"A": ["b", "a", "b", "a", "c", None]})
    model.weights[:] = 0.0
    _, chances, best = model.chances(0, np.array([[-1]]))
    assert chances.tolist() == pytest.approx([1 / 3] * 3)
    assert model.attributes[0].values[best[0]] == "a"
    numbers = model_of({"A": [1.0, 2.0, 3.0, 3.0, None]})
    numbers.weights[:] = 0.0
    assert numbers.attributes[0].values[numbers.chances(0, np.array([[-1]]))[2][0]] == 3.0


def test_candidates_and_prior_of_a_table_are_domain_and_softmax() -> None:
    frame = pd.DataFrame({"A": [*"xxxyy", None], "B": [*"ppqqqq"], "y": [0, 1, 0, 1, 0, 1]})
    table = IncompleteTable(frame, "y", repairs="holoclean", prior="holoclean")
    cells = cells_of({"A": [*"xxxyy", None], "B": [*"ppqqqq"]})
    w = cells.model.weights[0]
    # Beside q: x once, y twice. Features (frequency, P): x 3/5, 1/3; y 2/5, 2/3.
    odds = math.exp(w @ [3 / 5 - 2 / 5, 1 / 3 - 2 / 3])
    expected = {"x": odds / (1 + odds), "y": 1 / (1 + odds)}
    shown = [one["A"] for one in table.candidates(5)]
    assert dict(zip(shown, table.dataset.prior(5), strict=True)) == pytest.approx(expected)
    assert shown == sorted(expected, key=lambda value: -expected[value])
    best = IncompleteTable(frame, "y", repairs=HoloRepair(best=True)).candidates(5)
    assert best == [{"A": shown[0]}]


def test_numbers_are_proposed_in_order() -> None:
    frame = pd.DataFrame({"n": [5.0, 1.0, 3.0, 1.0, None], "k": range(5), "y": [0, 1, 0, 1, 0]})
    table = IncompleteTable(frame, "y", repairs="holoclean", kinds={"k": "categorical"})
    assert [one["n"] for one in table.candidates(4)] == [1.0, 3.0, 5.0]


def test_one_model_serves_candidates_and_prior(monkeypatch: pytest.MonkeyPatch) -> None:
    from cpclean.data.holoclean import cell_values as holoclean_cells

    calls = []
    real = holoclean_cells.fit_model
    monkeypatch.setattr(
        holoclean_cells, "fit_model", lambda *given: calls.append(1) or real(*given)
    )
    frame = pd.DataFrame({"A": [*"xxxyy", None], "B": [*"ppqqq", None], "y": [0, 1, 0, 1, 0, 1]})
    both = IncompleteTable(frame, "y", repairs="holoclean", prior="holoclean")
    assert len(calls) == 1
    own = HoloRepair()
    assert IncompleteTable(frame, "y", repairs=own, prior=own).dataset == both.dataset
    assert len(calls) == 2
    by_column = {"A": "holoclean", "B": "holoclean"}
    assert IncompleteTable(frame, "y", "holoclean", by_column).dataset == both.dataset
    assert len(calls) == 4  # one for the candidates, one for both columns
    IncompleteTable(frame.assign(A=[*"xyxyy", None]), "y", repairs=own, prior=own)
    assert len(calls) == 5  # another table is looked at anew


def weights_by_hand(cells: HoloCells, row: int, a: int, codes: list[int]) -> Any:
    """The softmax over these codes."""
    domains = CellDomains(np.array([0, len(codes)]), np.array(codes))
    features = cells.model.features(a, codes_of(cells.model)[[row]], domains)
    raised = np.exp(features @ cells.model.weights[a])
    return raised / raised.sum()


def test_prior_over_other_candidates() -> None:
    table = {"A": [*"xxxyyzz", None], "B": [*"ppqqqrr", "p"]}
    cells = cells_of(table)
    assert cells.candidates(7, 0) == ("x",)
    x, y, z = weights_by_hand(cells, 7, 0, [0, 1, 2])
    assert cells.weights(7, 0, ("x", "y", "z")).tolist() == pytest.approx([x, y, z])
    x, y = weights_by_hand(cells, 7, 0, [0, 1])
    assert cells.weights(7, 0, ("y", "x")).tolist() == pytest.approx([y, x])
    # The domain's x is no candidate, and nothing stands for it.
    assert cells.weights(7, 0, ("y",)).tolist() == pytest.approx([y])
    # The same value twice, as versions of a row may have it: shared.
    assert cells.weights(7, 0, ("y", "x", "y")).tolist() == pytest.approx([y / 2, x, y / 2])


def test_prior_of_other_is_what_is_left() -> None:
    table = {"A": [*"xxxyyzz", None], "B": [*"ppqqqrr", "q"]}
    cells = cells_of(table)
    w = cells.model.weights[0]
    assert sorted(cells.candidates(7, 0)) == ["x", "y"]
    # Beside q: x 1/3, y 2/3, and nothing is left; of all values, 2/7 are.
    scores = np.array([w @ [3 / 7, 1 / 3], w @ [2 / 7, 2 / 3], w @ [2 / 7, 0]])
    x, y, rest = np.exp(scores) / np.exp(scores).sum()
    assert cells.weights(7, 0, ("x", "y", OTHER)).tolist() == pytest.approx([x, y, rest])
    # What is likely but not listed is "other" too.
    assert cells.weights(7, 0, ("x", OTHER)).tolist() == pytest.approx([x, y + rest])
    # With every value listed, nothing is left.
    assert cells.weights(7, 0, ("x", "y", "z", OTHER))[-1] == 0.0


def test_prior_of_values_never_seen() -> None:
    cells = cells_of({"A": [*"xxxyyzz", None], "B": [*"ppqqqrr", "p"]})
    w = cells.model.weights[0]
    for value in ("new", ABSENT):
        odds = math.exp(w @ [3 / 7, 1.0])  # against no features at all
        expected = [odds / (1 + odds), 1 / (1 + odds)]
        assert cells.weights(7, 0, ("x", value)).tolist() == pytest.approx(expected)


def test_prior_over_numbers_goes_by_bins() -> None:
    table = {"n": [0.0, 1.0, 10.0, 11.0, 30.0, 31.0, None], "c": [*"aabbcc", None]}
    cells = cells_of(table, bins=3)
    assert cells.candidates(6, 0) == (0.5, 10.5, 30.5)
    low, middle, high = weights_by_hand(cells, 6, 0, [0, 1, 2])
    assert cells.weights(6, 0, (0.5, 10.5, 30.5)).tolist() == pytest.approx([low, middle, high])
    # The chance of a bin goes to the candidates in it, in equal parts.
    actual = cells.weights(6, 0, (0.5, 9.0, 10.5, 99.0))
    assert actual.tolist() == pytest.approx([low / 2, low / 2, middle, high])
    # That of a bin without a candidate goes to the nearest, by its mean; ties are split.
    assert cells.weights(6, 0, (0.5, 30.5)).tolist() == pytest.approx([low + middle, high])
    actual = cells.weights(6, 0, (-10.0, 31.0))
    assert actual.tolist() == pytest.approx([low + middle / 2, high + middle / 2])


def test_prior_holoclean_with_default_candidates_sees_the_row() -> None:
    frame = pd.DataFrame({"A": ["x"] * 20 + ["y"] * 20 + [None, None],
                          "B": ["p"] * 20 + ["q"] * 20 + ["p", "q"],
                          "y": [0, 1] * 21})  # fmt: skip
    table = IncompleteTable(frame, "y", repairs={"A": ["x", "y"]}, prior="holoclean")
    assert table.dataset.prior(40)[0] > 0.9
    assert table.dataset.prior(41)[1] > 0.9
    label = IncompleteTable(frame, "y", repairs={"A": ["x", "y"]}, prior="label")
    assert label.dataset.prior(40).tolist() == pytest.approx([0.5, 0.5])


def test_prior_over_versions_of_a_row() -> None:
    from sklearn.impute import SimpleImputer

    frame = pd.DataFrame({"n": [0.0, 1.0, 8.0, 9.0, None], "m": [0.0, 1.0, 8.0, 9.0, 0.0],
                          "y": [0, 1, 0, 1, 0]})  # fmt: skip
    imputers = [SimpleImputer(strategy="constant", fill_value=value) for value in (0.5, 8.5)]
    table = IncompleteTable(frame, "y", repairs=imputers, prior="holoclean")
    weights = table.dataset.prior(4)
    assert weights.sum() == pytest.approx(1.0)
    assert weights[0] > weights[1]


# -- bad input -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bins": 1}, "bins must be an int of at least 2; got 1"),
        ({"bins": 2.5}, "bins must be an int of at least 2; got 2.5"),
        ({"bins": True}, "bins must be an int of at least 2; got True"),
        ({"fallback": 0}, "fallback must be an int of at least 1; got 0"),
        ({"max_iter": 0}, "max_iter must be an int of at least 1; got 0"),
        ({"seed": -1}, "seed must be an int of at least 0; got -1"),
        ({"seed": None}, "seed must be an int of at least 0; got None"),
        ({"correlation": 1.5}, r"correlation must be a finite number in \[0, 1\]; got 1.5"),
        ({"correlation": "low"}, r"correlation must be a finite number in \[0, 1\]; got 'low'"),
        ({"share": -0.1}, r"share must be a finite number in \[0, 1\]; got -0.1"),
        ({"share": math.nan}, r"share must be a finite number in \[0, 1\]; got nan"),
        ({"decay": -1}, "decay must be a finite number not below 0; got -1"),
        ({"decay": math.inf}, "decay must be a finite number not below 0; got inf"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    for maker in (HoloSettings, HoloRepair):
        with pytest.raises(TableError, match=message):
            maker(**options)


def test_names_that_are_nearly_right() -> None:
    assert repair_named("holoclean") == HoloRepair()
    with pytest.raises(TableError, match=r"repairs must be .*; got 'HoloClean'"):
        repair_named("HoloClean")
