"""HoloClean's model: every step against hand-computed cases and against plain Python."""

from __future__ import annotations

import math
import pickle
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cpclean import IncompleteTable
from cpclean.classifier import CertainKNeighborsClassifier
from cpclean.data import holoclean
from cpclean.data.columns import ABSENT, OTHER, Column, column_from_objects
from cpclean.data.frames import columns_from
from cpclean.data.holoclean import (
    Domains,
    HoloModel,
    HoloSettings,
    fit_model,
    loss_and_gradient,
    softmax,
)
from cpclean.data.holoclean_cells import HoloCells, holo_cells
from cpclean.data.holoclean_counts import attribute_of, pair_counts
from cpclean.data.repairs import HoloRepair, repair_named
from cpclean.errors import TableError

TABLES = Path(__file__).resolve().parents[3] / "shared" / "data" / "tables"

# Rows (A, B): x p, x p, x q, y q, y q, and a hole of A beside p.
SMALL = {"A": ["x", "x", "x", "y", "y", None], "B": ["p", "p", "q", "q", "q", "p"]}
X, Y = 0, 1  # codes of A: the more frequent first


def columns_of(table: dict[str, list[Any]]) -> list[Column]:
    return [column_from_objects(name, values) for name, values in table.items()]


def model_of(table: dict[str, list[Any]], **options: Any) -> HoloModel:
    columns = columns_of(table)
    trusted = ~np.column_stack([column.missing for column in columns])
    return fit_model(columns, trusted, HoloSettings(**options))


def codes_of(model: HoloModel) -> Any:
    return np.column_stack([one.codes for one in model.attributes])


def cells_of(table: dict[str, list[Any]], **options: Any) -> HoloCells:
    columns = columns_of(table)
    holes = np.column_stack([column.missing for column in columns])
    return holo_cells(columns, holes, HoloSettings(**options))


def as_lists(domains: Domains) -> list[list[int]]:
    return [part.tolist() for part in np.split(domains.values, domains.starts[1:-1])]


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


# -- step 3: domains -------------------------------------------------------------------------------


def test_domain_of_a_hole_by_hand() -> None:
    model = model_of(SMALL)
    p, q, none = [-1, 0], [-1, 1], [-1, -1]
    # Beside p stands only x; beside q both; without a neighbour, the most frequent values.
    assert as_lists(model.domains(0, np.array([p, q, none]))) == [[X], [X, Y], [X, Y]]


def test_threshold_of_shares_is_strict() -> None:
    # Beside p: x 8 times, y once, z once; beside q: only z, which makes B tell something.
    table = {"A": [*"xxxxxxxxyz", *"zzzzz"], "B": [*"pppppppppp", *"qqqqq"]}
    hole = np.array([[-1, 0]])
    model = model_of(table)
    values = model.attributes[0].values
    assert values == ("x", "z", "y")
    assert as_lists(model.domains(0, hole)) == [[0]]  # 1 is not more than 0.1 * 10
    assert as_lists(model_of(table, share=0.09).domains(0, hole)) == [[0, 1, 2]]
    assert as_lists(model_of(table, share=0.9, fallback=2).domains(0, hole)) == [[0, 1]]


def test_threshold_of_correlation() -> None:
    # B hardly tells A, so its b proposes nothing and the most frequent value is left.
    table = {"A": [*"xyxyx"], "B": [*"ppqqp"]}
    pair = model_of(table).pairs[0][1]
    assert pair is not None
    low = pair.correlation
    assert 0.04 < low < 0.05
    hole = np.array([[-1, 1]])  # q, beside which x and y stand
    assert as_lists(model_of(table, fallback=1).domains(0, hole)) == [[0]]
    assert as_lists(model_of(table, fallback=1, correlation=0.04).domains(0, hole)) == [[0, 1]]
    # Not above itself.
    assert as_lists(model_of(table, fallback=1, correlation=low).domains(0, hole)) == [[0]]


def test_threshold_of_shares_is_strict_without_the_own_cell() -> None:
    # Beside p: x 5 times, w 4 times, y twice; one of these apart, 1 is not more than 0.1 * 10.
    table = {"A": [*"xxxxxwwwwyy", *"zzzzz"], "B": [*"ppppppppppp", *"qqqqq"]}
    model = model_of(table)
    assert model.attributes[0].values == ("x", "z", "w", "y")
    row = codes_of(model)[[10]]
    assert as_lists(model.domains(0, row, observed=True)) == [[0, 2]]
    assert as_lists(model.domains(0, np.array([[-1, 0]]))) == [[0, 2, 3]]  # 2 of 11


def test_domain_is_the_union_over_attributes() -> None:
    table = {"A": [*"xxyyzz"], "B": [*"ppqqrr"], "C": [*"kkllmm"]}
    model = model_of(table)
    code = [{value: n for n, value in enumerate(one.values)} for one in model.attributes]
    hole = np.array([[-1, code[1]["p"], code[2]["m"]]])
    assert as_lists(model.domains(0, hole)) == [[code[0]["x"], code[0]["z"]]]


def test_an_observed_cell_is_taken_as_if_empty() -> None:
    table = {"A": [*"xxxxzyy"], "B": [*"ppprrqq"]}
    model = model_of(table, fallback=1)
    assert model.attributes[0].values == ("x", "y", "z")
    codes = codes_of(model)
    # Row 3 is the only x beside r: without it, z alone is proposed, and joined by the most frequent
    # value, for a single one is no choice. Beside p there is none but x, beside q there is y.
    expected = [[0], [0], [0], [0, 2], [0], [0, 1], [0, 1]]
    assert as_lists(model.domains(0, codes, observed=True)) == expected
    assert as_lists(model.domains(0, codes)) == [[0], [0], [0], [0, 2], [0, 2], [1], [1]]


# -- step 4: features ------------------------------------------------------------------------------


def test_features_of_a_hole_by_hand() -> None:
    model = model_of(SMALL)
    rows = np.array([[-1, 0], [-1, 1], [-1, -1]])
    domains = Domains(np.array([0, 2, 4, 6]), np.array([X, Y, X, Y, X, Y]))
    features = model.features(0, rows, domains)
    assert features[:, 0].tolist() == pytest.approx([3 / 5, 2 / 5] * 3)
    assert features[:, 1].tolist() == pytest.approx([1, 0, 1 / 3, 2 / 3, 0, 0])


def test_features_of_an_observed_cell_leave_it_out() -> None:
    model = model_of(SMALL)
    row = codes_of(model)[[3]]  # y q
    features = model.features(0, row, Domains(np.array([0, 2]), np.array([X, Y])), observed=True)
    assert features[:, 0].tolist() == pytest.approx([3 / 5, 2 / 5])  # frequencies are of all
    assert features[:, 1].tolist() == pytest.approx([1 / 2, 1 / 2])


def test_features_of_a_value_that_stands_alone() -> None:
    model = model_of({"A": ["x", "x", "y"], "B": ["p", "p", "q"]})
    row = codes_of(model)[[2]]
    features = model.features(0, row, Domains(np.array([0, 2]), np.array([0, 1])), observed=True)
    assert features.tolist() == [[2 / 3, 0.0], [1 / 3, 0.0]]  # nothing else is known of q


# -- against plain Python --------------------------------------------------------------------------

Row = tuple[Any, ...]


def plain_domain(rows: list[Row], cell: tuple[int, int], chosen: HoloSettings) -> set[Any]:
    """Step 3 by going through the rows; the cell itself must be empty."""
    at, a = cell
    known = [row for row in rows if row[a] is not None]
    domain: set[Any] = set()
    for b in range(len(rows[0])):
        if b == a or rows[at][b] is None or plain_correlation(rows, a, b) <= chosen.correlation:
            continue
        beside = Counter(row[a] for row in known if row[b] == rows[at][b])
        total = sum(beside.values())
        domain |= {value for value, times in beside.items() if times > chosen.share * total}
    if domain:
        return domain
    frequent = Counter(row[a] for row in known)
    ordered = sorted(frequent, key=lambda value: (-frequent[value], value))
    return set(ordered[: chosen.fallback])


def plain_correlation(rows: list[Row], a: int, b: int) -> float:
    both = [(row[a], row[b]) for row in rows if row[a] is not None and row[b] is not None]
    size = len({row[a] for row in rows} - {None})
    if size < 2 or not both:
        return 0.0
    pairs, of_b = Counter(both), Counter(value for _, value in both)
    entropy = -sum(
        times / len(both) * math.log(times / of_b[pair[1]]) for pair, times in pairs.items()
    )
    return 1 - entropy / math.log(size)


def plain_features(rows: list[Row], cell: tuple[int, int], value: Any) -> list[float]:
    at, a = cell
    known = [row for row in rows if row[a] is not None]
    found = []
    for b in range(len(rows[0])):
        like = known if b == a else [r for r in known if r[b] is not None and r[b] == rows[at][b]]
        found.append(sum(row[a] == value for row in like) / len(like) if like else 0.0)
    return found


ROWS = st.lists(
    st.tuples(st.sampled_from(["a", "b", "c", None]), st.sampled_from(["k", "l", None]),
              st.sampled_from(["s", "t", "u", None])),
    min_size=3, max_size=14,
)  # fmt: skip


def close_to_threshold(rows: list[Row], chosen: HoloSettings) -> bool:
    """Where rounding may decide."""
    near = [abs(plain_correlation(rows, a, b) - chosen.correlation) for a in range(3)
            for b in range(3) if a != b]  # fmt: skip
    return min(near) < 1e-9


@settings(max_examples=30)
@given(ROWS, st.sampled_from([0.0, 0.05, 0.3]), st.sampled_from([0.1, 0.34]))
def test_domains_features_and_chances_of_holes(
    rows: list[Row], correlation: float, share: float
) -> None:
    chosen = HoloSettings(correlation=correlation, share=share, fallback=2)
    if close_to_threshold(rows, chosen):
        return
    table = {name: [row[n] for row in rows] for n, name in enumerate("ABC")}
    columns = [column_from_objects(name, values, "categorical") for name, values in table.items()]
    trusted = ~np.column_stack([column.missing for column in columns])
    model = fit_model(columns, trusted, chosen)
    codes = codes_of(model)
    for a, one in enumerate(model.attributes):
        for at in np.flatnonzero(~trusted[:, a]).tolist() if one.size else []:
            expected = plain_domain(rows, (at, a), chosen)
            domains, chances, best = model.chances(a, codes[[at]])
            values = [one.values[code] for code in domains.values.tolist()]
            assert set(values) == expected
            features = [plain_features(rows, (at, a), value) for value in values]
            np.testing.assert_allclose(model.features(a, codes[[at]], domains), features)
            raised = [math.exp(np.dot(line, model.weights[a])) for line in features]
            np.testing.assert_allclose(chances, np.array(raised) / sum(raised), rtol=1e-9)
            assert chances[values.index(one.values[best[0]])] == pytest.approx(chances.max())


@settings(max_examples=30)
@given(ROWS)
def test_observed_cells_are_as_if_hidden(rows: list[Row]) -> None:
    """Domains and pair features of a cell learnt from are those it had if it were a hole."""
    chosen = HoloSettings(correlation=0.0, fallback=9)
    table = {name: [row[n] for row in rows] for n, name in enumerate("ABC")}
    columns = [column_from_objects(name, values, "categorical") for name, values in table.items()]
    trusted = ~np.column_stack([column.missing for column in columns])
    model = fit_model(columns, trusted, chosen)
    codes, one = codes_of(model), model.attributes[0]
    for at in np.flatnonzero(trusted[:, 0]).tolist():
        hidden = [row if n != at else (None, *row[1:]) for n, row in enumerate(rows)]
        domains = model.domains(0, codes[[at]], observed=True)
        values = [one.values[code] for code in domains.values.tolist()]
        features = model.features(0, codes[[at]], domains, observed=True)
        expected = [
            [plain_features(rows, (at, 0), value)[0], *plain_features(hidden, (at, 0), value)[1:]]
            for value in values
        ]
        np.testing.assert_allclose(features, expected, atol=1e-12)
        for b in (1, 2):  # what is proposed; correlations are those of the whole table
            pair = model.pairs[0][b]
            assert pair is not None
            if pair.correlation > 0 and rows[at][b] is not None:
                beside = Counter(r[0] for r in hidden if r[0] is not None and r[b] == rows[at][b])
                total = sum(beside.values())
                assert {value for value, times in beside.items() if times > 0.1 * total} <= set(
                    values
                )


# -- step 5: training ------------------------------------------------------------------------------


def test_softmax_of_runs() -> None:
    actual = softmax(np.array([0.0, math.log(3), 7.0, 1000.0, 1000.0]), np.array([0, 2, 3, 5]))
    assert actual.tolist() == pytest.approx([0.25, 0.75, 1.0, 0.5, 0.5])


def test_loss_by_hand() -> None:
    features = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    weights = np.array([math.log(2), 0.0])
    loss, gradient = loss_and_gradient(
        weights, features, np.array([0, 2, 3]), np.array([1, 2]), decay=0.5
    )
    # Chances of the first cell: 2/3 and 1/3, and the second value is true.
    assert loss == pytest.approx((math.log(3) + 0.25 * math.log(2) ** 2) / 2)
    assert gradient.tolist() == pytest.approx([(2 / 3 + 0.5 * math.log(2)) / 2, -1 / 3])


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_gradient_by_finite_differences(decay: float) -> None:
    rng = np.random.default_rng(5)
    starts = np.array([0, 3, 4, 9, 11])
    features = rng.random((11, 4))
    true, weights, step = np.array([1, 3, 8, 9]), rng.normal(size=4), 1e-6
    _, gradient = loss_and_gradient(weights, features, starts, true, decay)
    for place in range(4):
        shift = np.eye(4)[place] * step
        above, _ = loss_and_gradient(weights + shift, features, starts, true, decay)
        below, _ = loss_and_gradient(weights - shift, features, starts, true, decay)
        assert gradient[place] == pytest.approx((above - below) / (2 * step), abs=1e-8)


def test_a_hopeless_loss_is_still_a_number() -> None:
    loss, gradient = loss_and_gradient(
        np.array([1e5]), np.array([[1.0], [0.0]]), np.array([0, 2]), np.array([1]), 0.0
    )
    assert math.isfinite(loss)
    assert gradient.tolist() == [1.0]


@pytest.mark.parametrize("decay", [0.0, 0.1, 1.0])
def test_training_with_one_weight_by_hand(decay: float) -> None:
    """One column, x three times and y once: frequencies 3/4 and 1/4, which differ by a half."""
    model = model_of({"A": ["x", "x", "x", "y", None]}, decay=decay)

    def loss(w: float) -> float:
        wrong = 3 * math.log1p(math.exp(-w / 2)) + math.log1p(math.exp(w / 2))
        return wrong + decay / 2 * w * w

    grid = np.linspace(-10, 10, 20_001)
    best = grid[np.argmin([loss(w) for w in grid])]
    assert model.weights[0, 0] == pytest.approx(best, abs=2e-3)
    if decay == 0:  # then chances are the frequencies themselves
        assert best == pytest.approx(2 * math.log(3), abs=2e-3)
    _, chances, _ = model.chances(0, np.array([[-1]]))
    assert chances[0] == pytest.approx(1 / (1 + math.exp(-best / 2)), abs=1e-3)


def test_training_ends_where_the_gradient_is_nothing() -> None:
    rng = np.random.default_rng(0)
    b = rng.integers(0, 4, 300)
    noise = rng.random(300) < 0.3
    table = {"A": [f"v{one}" for one in np.where(noise, rng.integers(0, 4, 300), b)],
             "B": [f"b{one}" for one in b],
             "C": [f"c{one}" for one in rng.integers(0, 3, 300)]}  # fmt: skip
    model = model_of(table)
    rows = codes_of(model)
    domains = model.domains(0, rows, observed=True)
    features = model.features(0, rows, domains, observed=True)
    hits = domains.values == rows[domains.cells, 0]
    assert hits.sum() < 300  # values that are not proposed play no part
    learnt = np.isin(domains.cells, domains.cells[hits])
    lengths = np.diff(domains.starts)[np.unique(domains.cells[hits])]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    _, gradient = loss_and_gradient(
        model.weights[0], features[learnt], starts, np.flatnonzero(hits[learnt]), 1.0
    )
    assert np.abs(gradient).max() < 1e-4
    assert model.weights[0, 1] > 1.0  # B tells A
    assert abs(model.weights[0, 2]) < model.weights[0, 1] / 2


def test_more_decay_means_smaller_weights() -> None:
    norms = [np.abs(model_of(SMALL, decay=decay).weights).sum() for decay in (0.1, 1.0, 10.0)]
    assert norms[0] > norms[1] > norms[2] > 0


def test_large_tables_are_trained_on_a_seeded_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    b = rng.integers(0, 3, 900)
    a = np.where(rng.random(900) < 0.4, rng.integers(0, 3, 900), b)
    table = {"A": [f"a{one}" for one in a], "B": [f"b{one}" for one in b]}
    whole = model_of(table).weights
    monkeypatch.setattr(holoclean, "_BLOCK", 400)  # a hundred rows at a time
    np.testing.assert_allclose(model_of(table).weights, whole, atol=2e-3)
    monkeypatch.setattr(holoclean, "_MOST_FEATURES", 1500)
    sampled = model_of(table).weights
    assert np.abs(sampled - whole).max() > 1e-3
    np.testing.assert_allclose(sampled, whole, rtol=0.4, atol=0.7)
    assert (model_of(table).weights == sampled).all()
    assert (model_of(table, seed=3).weights != sampled).any()


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
    from cpclean.data import holoclean_cells

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
    domains = Domains(np.array([0, len(codes)]), np.array(codes))
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


def test_ten_thousand_rows_of_ten_columns_take_less_than_a_minute() -> None:
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(10_000, 3))
    frame = pd.DataFrame({f"n{n}": hidden @ rng.normal(size=3) for n in range(5)})
    for n in range(4):
        frame[f"c{n}"] = (hidden[:, n % 3] * 4 + rng.normal(size=10_000)).round().astype(str)
    frame["many"] = rng.integers(0, 5000, 10_000).astype(str)
    holes = rng.random(frame.shape) < 0.2
    columns, start = columns_from(frame.mask(holes)), time.process_time()
    cells = holo_cells(columns, holes, HoloSettings())
    assert all(not column.missing.any() for column in cells.filled(columns))
    assert time.process_time() - start < 60


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
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # rows with many candidates lose some
        table = IncompleteTable(frame, "class", "holoclean", "holoclean", max_candidates=10_000)
    for row in table.dataset.dirty_rows.tolist()[:50]:
        assert table.dataset.prior(row).sum() == pytest.approx(1.0)
        assert all(None not in one.values() for one in table.candidates(row))
