"""What a column would bring, against all ways to fill it written out."""

import itertools
import math

import numpy as np
import oracle
import pandas as pd
import pytest
from analysis.samples import random_table
from sklearn.impute import SimpleImputer
from slow_cases import rest_slow
from strategies import random_case, random_factored_case, sweep

from cpclean import CleaningSession, CPCleanError, IncompleteTable, is_certain
from cpclean.analysis.column_effects import (
    ColumnEffect,
    column_effects,
    effects_in_session,
    effects_in_words,
    sample_in_words,
    settles_in_words,
)
from cpclean.analysis.open_cells import open_cell
from cpclean.data.points import Points
from cpclean.queries.gather import near_rows
from cpclean.queries.model import Model

# Candidates that belong together: whole versions of the table.
JOINT = [SimpleImputer(strategy="constant", fill_value=value) for value in (0.0, 1.0, 3.0)]


def certain_share(data, points, k, candidates):
    certain = [
        sum(oracle.Worlds(candidates, data.codes.tolist(), data.n_classes, None, t, k).possible())
        for t in points.tolist()
    ]
    return certain.count(1) / len(certain)


def possible_shares(table, points, k, name):
    """Every way to fill one column: how likely it is, and the share that is certain then."""
    data, column = table.dataset, list(table.names).index(name)
    feature = table.space.features[column]
    rows = np.flatnonzero(table.holes[:, column]).tolist()
    all_candidates = [data.candidates(row).tolist() for row in range(data.n_rows)]
    choices = []
    for row in rows:
        mass = {}
        for one, weight in zip(all_candidates[row], data.prior(row), strict=True):
            value = one[feature.start]
            mass[value] = mass.get(value, 0.0) + weight
        choices.append(list(mass.items()))
    for values in itertools.product(*choices):
        narrowed = list(all_candidates)
        for row, (value, _) in zip(rows, values, strict=True):
            narrowed[row] = [one for one in narrowed[row] if one[feature.start] == value]
        weight = math.prod(mass for _, mass in values)
        yield weight, certain_share(data, points, k, narrowed)


@pytest.mark.parametrize("repairs", ["few", JOINT], ids=["cells", "joint"])
@pytest.mark.parametrize("seed", rest_slow(range(6)))
def test_a_column_effect_is_the_mean_over_all_ways_to_fill_it(seed, repairs):
    table, points = random_table(seed, repairs)
    n_samples, k = 300, 3
    for effect in column_effects(table, points, Model(k), n_samples, seed):
        ways = list(possible_shares(table, points, k, effect.name))
        mean = sum(weight * share for weight, share in ways)
        spread = math.sqrt(sum(weight * (share - mean) ** 2 for weight, share in ways))
        assert min(share for _, share in ways) <= effect.low + 1e-12
        assert effect.high <= max(share for _, share in ways) + 1e-12
        assert effect.certain_if_clean == pytest.approx(
            mean, abs=5 * spread / math.sqrt(n_samples) + 1e-9
        )
        assert effect.low <= effect.certain_if_clean <= effect.high


@pytest.mark.parametrize("repairs", ["few", JOINT], ids=["cells", "joint"])
@pytest.mark.parametrize("seed", rest_slow([1, 3]))
def test_a_sample_of_predictions_gives_the_same_mean(seed, repairs, monkeypatch):
    table, points = random_table(seed, repairs)
    weight = np.random.default_rng(seed).random(len(points))
    # One point with a completion for each, and each once more by itself.
    given = Points.from_entries(
        np.concatenate([points, points]),
        np.concatenate([np.zeros(len(points), int), 1 + np.arange(len(points))]),
        np.concatenate([weight / weight.sum(), np.ones(len(points))]),
    )
    every = column_effects(table, given, n_samples=60, random_state=seed)
    monkeypatch.setattr("cpclean.analysis.column_effects.MOST_ASKED", 2)
    now = is_certain(table.dataset, given.vectors) @ given.vector_weights / given.n_points
    some = column_effects(table, given, n_samples=60, random_state=seed)
    differ = False
    for one, other in zip(some, every, strict=True):
        if not one.sample:
            assert one.certain_if_clean == other.certain_if_clean == pytest.approx(now)
            continue
        assert (one.sample, other.sample) == (2, 0)
        assert now - 1e-12 <= one.low <= one.certain_if_clean <= one.high <= 1 + 1e-12
        off = one.certain_if_clean - other.certain_if_clean
        assert abs(off) <= 5 * one.error + 1e-9  # both have the same fills
        differ |= one.error > other.error
    assert differ


def test_the_error_is_how_far_the_mean_is_off():
    table, points = random_table(0)
    found = [column_effects(table, points, n_samples=10, random_state=n) for n in range(30)]
    for effects in zip(*found, strict=True):
        means = [one.certain_if_clean for one in effects]
        told = math.sqrt(np.mean([one.error**2 for one in effects]))
        assert told == pytest.approx(np.std(means), rel=0.5, abs=1e-9)


def test_effects_are_the_same_for_the_same_seed_and_differ_for_another():
    table, points = random_table(1)
    once = column_effects(table, points, n_samples=3)
    assert column_effects(table, points, n_samples=3) == once
    others = [column_effects(table, points, n_samples=3, random_state=n) for n in range(1, 6)]
    assert any(other != once for other in others)


def test_a_candidate_without_weight_is_never_drawn():
    frame = pd.DataFrame({"a": [0.0, 3.0, None, 1.0], "b": [0.0, 9.0, 0.0, 0.0]})
    table = IncompleteTable(
        frame, [0, 1, 0, 1], {"a": [0.0, 3.0]}, {"a": {0.0: 1, 3.0: 0}}, scaling="none"
    )
    points = np.array([[2.9, 0.0]])
    assert not is_certain(table.dataset, points, 1).any()
    effect = column_effects(table, points, Model(1), n_samples=50)[0]
    assert (effect.low, effect.high) == (1.0, 1.0)


def test_columns_without_holes_or_without_a_place_change_nothing():
    frame = pd.DataFrame(
        {"a": [0.0, 3.0, None, 1.0, 2.0], "same": [1, 1, None, 1, 1], "full": [1, 2, 3, 4, 5]}
    )
    table = IncompleteTable(frame, label=[0, 1, 0, 0, 1])
    points = table.encode(pd.DataFrame({"a": [2.9, 0.1], "same": [1, 1], "full": [2, 3]}))
    now = is_certain(table.dataset, points).mean()
    effects = {one.name: one for one in column_effects(table, points)}
    for name in ("same", "full"):
        one = effects[name]
        assert (one.low, one.certain_if_clean, one.high) == (now, now, now)
    assert effects["same"].holes == 1


def test_effects_of_what_is_known_now():
    table, points = random_table(3)
    data = table.dataset
    for row in data.dirty_rows.tolist():
        data = data.pin(row, 0)
    now = is_certain(data, points).mean()
    for effect in column_effects(table, points, data=data):
        assert effect.certain_if_clean == now == 1.0


def test_progress_is_told_column_by_column():
    table, points = random_table(2)
    told = []
    column_effects(table, points, n_samples=1, progress=told.append)
    assert told == ["a", "b", "c"]


@pytest.mark.parametrize("bad", [0, -1, 1.5, True])
def test_samples_that_cannot_be_drawn(bad):
    table, points = random_table(2)
    with pytest.raises(CPCleanError, match="n_samples must be an int of at least 1; got"):
        column_effects(table, points, n_samples=bad)


# -- many rows at once -----------------------------------------------------------------------------


@pytest.mark.parametrize("make", [random_case, random_factored_case])
def test_rows_near_no_point_make_no_difference(make):
    for case in sweep(150, seed=5, make=make):
        if callable(case.metric):
            continue
        data, k = case.dataset(), case.n_neighbors
        rows = near_rows(data, case.X, Model(k, case.metric))
        some = data.take(rows)
        assert some.n_rows == len(rows) >= k
        assert (
            is_certain(some, case.X, k, case.metric).tolist()
            == is_certain(data, case.X, k, case.metric).tolist()
        )


@pytest.mark.parametrize("make", [random_case, random_factored_case])
def test_many_rows_known_at_once_are_as_if_told_one_by_one(make):
    for case in sweep(80, seed=9, make=make):
        data = expected = case.dataset()
        rows = {}
        for row in data.dirty_rows.tolist():
            span = (0, 1)
            cell = open_cell(data, row, span)
            if cell is not None:
                rows[row] = cell.known(len(cell.values) - 1)
                expected = expected.given(row, {0: float(cell.values[-1, 0])})
        assert data.with_rows(rows) == expected


def test_points_are_needed():
    table, points = random_table(2)
    with pytest.raises(CPCleanError, match="validation needs at least one point; got none"):
        column_effects(table, points[:0])


@pytest.mark.parametrize("strategy", ["cpclean", "cells"])
def test_effects_in_a_session_are_those_of_its_data(strategy):
    table, points = random_table(4)
    session = CleaningSession(table, Points.of(points), strategy=strategy)
    view = session.view
    assert not view.certain.all()
    assert effects_in_session(view, 3) == column_effects(table, points, random_state=3)
    question = session.ask()
    session.tell(**question.answer(0))
    effects = effects_in_session(session.view)
    assert effects == ([] if session.certain.all() else column_effects(
        table, points, data=session.data))  # fmt: skip


def test_what_takes_too_long_is_left_out(monkeypatch):
    table, points = random_table(4)
    view = CleaningSession(table, Points.of(points)).view
    monkeypatch.setattr("cpclean.analysis.column_effects.MOST_SECONDS", -1.0)
    assert effects_in_session(view) == []


def test_the_best_column_in_words():
    effects = [
        ColumnEffect("a", "numeric", 5, 0.7, 0.6, 0.9),
        ColumnEffect("b", "numeric", 0, 0.9, 0.9, 0.9),
    ]
    told = "If a had no holes, about 70.0% of the predictions would be certain"
    assert effects_in_words(effects) == f"{told}."
    assert effects_in_words(effects, 0.5) == f"{told}, compared with 50.0% now."
    assert effects_in_words(effects[1:]) == "No column has holes."


def test_a_sample_is_told():
    exact = ColumnEffect("a", "numeric", 5, 0.7, 0.7, 0.7)
    some = ColumnEffect("a", "numeric", 5, 0.7, 0.7, 0.7, 0.012, 300)
    assert sample_in_words([exact]) == ""
    assert sample_in_words([exact, some]) == (
        "Columns: each draw was asked about 300 of the open predictions, chosen at random; "
        "their standard error is at most 1.2%."
    )
    assert "If a had no holes, 70.0%" in effects_in_words([exact])
    assert "If a had no holes, about 70.0%" in effects_in_words([some])


def settled_by_value(table, points, k, name, level):
    """Every way to fill one column: how likely it is, and the share of open points it settles."""
    data, column = table.dataset, list(table.names).index(name)
    feature = table.space.features[column]
    rows = np.flatnonzero(table.holes[:, column]).tolist()
    before = oracle_verdicts(data, {}, points, k, level)
    open_ = [at for at, one in enumerate(before) if one == "open"]
    if not open_:
        yield 1.0, 1.0
        return
    choices = [np.unique(data.candidates(row)[:, feature.start]).tolist() for row in rows]
    for values in itertools.product(*choices):
        known = dict(zip(rows, values, strict=True))
        weight = 1.0
        for row, value in known.items():
            at = data.candidates(row)[:, feature.start] == value
            weight *= float(data.prior(row)[at].sum())
        if not weight:
            continue
        after = oracle_verdicts(data, known, points, k, level, feature.start)
        settled = [after[at] for at in open_]
        yield weight, 1 - settled.count("open") / len(open_)


def oracle_verdicts(data, known, points, k, level, feature=0):
    """The verdicts if some rows are known to have a value in one feature."""
    candidates, priors = [], []
    for row in range(data.n_rows):
        own, prior = data.candidates(row), data.prior(row)
        kept = own[:, feature] == known[row] if row in known else np.ones(len(own), dtype=bool)
        candidates.append(own[kept].tolist())
        priors.append((prior[kept] / prior[kept].sum()).tolist())
    found = []
    for t in points.tolist():
        worlds = oracle.Worlds(candidates, data.codes.tolist(), data.n_classes, priors, t, k)
        found.append(oracle.verdict(worlds.shares(), worlds.counts(), level - 1e-9))
    return found


@pytest.mark.parametrize(
    "level",
    [0.85, pytest.param(0.7, marks=pytest.mark.slow)],
)
def test_how_many_open_predictions_a_column_settles(level):
    """The mean over draws, against all values of the column and all worlds."""
    seen = 0
    for seed in (0, 3):
        table, points = random_table(seed)
        for effect in column_effects(table, points, Model(3), 300, sure=level):
            if not effect.holes:
                continue
            ways = list(settled_by_value(table, points, 3, effect.name, level))
            mean = sum(weight * share for weight, share in ways)
            spread = math.sqrt(sum(weight * (share - mean) ** 2 for weight, share in ways) / 300)
            assert effect.settled_if_clean == pytest.approx(mean, abs=5 * spread + 1e-9)
            seen += 0 < mean < 1
    assert seen > 1, "else it compares nothing"


def test_what_the_best_column_settles_in_words():
    def effect(name, settled, holes=3):
        return ColumnEffect(name, "numeric", holes, 0.5, 0.5, 0.5, settled_if_clean=settled)

    some = [effect("a", 0.2), effect("b", 0.775), effect("c", 1.0, holes=0)]
    assert settles_in_words(some, 40) == (
        "If b were complete, about 31 of the 40 open predictions would be settled."
    )
    assert settles_in_words(some, 1) == "If b were complete, the open prediction would be settled."
    assert settles_in_words(some[:1], 1) == (
        "If a were complete, the open prediction would probably stay open."
    )
    assert settles_in_words(some, 0) == settles_in_words(some[2:], 40) == ""
