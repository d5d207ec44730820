"""HoloClean's model, steps 3 to 5: domains, features, training; by hand and in plain Python."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from data.holoclean_samples import SMALL, X, Y, as_lists, codes_of, model_of
from hypothesis import given, settings
from hypothesis import strategies as st

from cpclean.data.column_reading import column_from_objects
from cpclean.data.holoclean import holo_model as holoclean
from cpclean.data.holoclean.holo_model import (
    CellDomains,
    HoloSettings,
    fit_model,
    loss_and_gradient,
    softmax,
)

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
    domains = CellDomains(np.array([0, 2, 4, 6]), np.array([X, Y, X, Y, X, Y]))
    features = model.features(0, rows, domains)
    assert features[:, 0].tolist() == pytest.approx([3 / 5, 2 / 5] * 3)
    assert features[:, 1].tolist() == pytest.approx([1, 0, 1 / 3, 2 / 3, 0, 0])


def test_features_of_an_observed_cell_leave_it_out() -> None:
    model = model_of(SMALL)
    row = codes_of(model)[[3]]  # y q
    features = model.features(
        0, row, CellDomains(np.array([0, 2]), np.array([X, Y])), observed=True
    )
    assert features[:, 0].tolist() == pytest.approx([3 / 5, 2 / 5])  # frequencies are of all
    assert features[:, 1].tolist() == pytest.approx([1 / 2, 1 / 2])


def test_features_of_a_value_that_stands_alone() -> None:
    model = model_of({"A": ["x", "x", "y"], "B": ["p", "p", "q"]})
    row = codes_of(model)[[2]]
    features = model.features(
        0, row, CellDomains(np.array([0, 2]), np.array([0, 1])), observed=True
    )
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
