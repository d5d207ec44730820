"""What the report knows of a table, its columns and rows, against all worlds written out."""

import itertools
import math

import numpy as np
import oracle
import pandas as pd
import pytest
from sklearn.impute import SimpleImputer
from strategies import random_case, random_factored_case, sweep

from cpclean import CleaningSession, CPCleanError, IncompleteTable, is_certain
from cpclean.analysis.advice import advice
from cpclean.analysis.narrowing import near_rows, open_cell
from cpclean.analysis.ranking import ranking
from cpclean.analysis.summary import ColumnEffect, Summary, column_effects, summary, worlds_text

# Candidates that belong together: whole versions of the table.
JOINT = [SimpleImputer(strategy="constant", fill_value=value) for value in (0.0, 1.0, 3.0)]


def random_table(seed: int, repairs="few", prior="label"):
    """A table on a coarse grid with a handful of holes, and points to predict."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.integers(0, 4, (7, 3)).astype(float), columns=["a", "b", "c"])
    for row in rng.choice(7, 3, replace=False):
        frame.iloc[row, rng.choice(3, rng.integers(1, 3), replace=False)] = np.nan
    frame["y"] = rng.integers(0, 2, 7)
    frame.loc[0, "y"], frame.loc[1, "y"] = 0, 1
    few = {name: [0.0, 1.0, 3.0] for name in "abc"}
    table = IncompleteTable(
        frame, label="y", repairs=few if repairs == "few" else repairs, prior=prior, scaling="none"
    )
    return table, rng.integers(0, 4, (12, table.dataset.n_features)).astype(float)


def certain_share(data, points, k, candidates):
    certain = [
        sum(oracle.Worlds(candidates, data.codes.tolist(), data.n_classes, None, t, k).possible())
        for t in points.tolist()
    ]
    return certain.count(1) / len(certain)


def possible_shares(table, points, k, name):
    """Every way to fill one column: how likely it is, and the share that is certain then."""
    data, column = table.dataset, list(table.names).index(name)
    feature = table.encoding.features[column]
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
@pytest.mark.parametrize("seed", range(6))
def test_a_column_effect_is_the_mean_over_all_ways_to_fill_it(seed, repairs):
    table, points = random_table(seed, repairs)
    n_samples, k = 300, 3
    for effect in column_effects(table, points, k, n_samples=n_samples, random_state=seed):
        ways = list(possible_shares(table, points, k, effect.name))
        mean = sum(weight * share for weight, share in ways)
        spread = math.sqrt(sum(weight * (share - mean) ** 2 for weight, share in ways))
        assert min(share for _, share in ways) <= effect.low + 1e-12
        assert effect.high <= max(share for _, share in ways) + 1e-12
        assert effect.certain_if_clean == pytest.approx(
            mean, abs=5 * spread / math.sqrt(n_samples) + 1e-9
        )
        assert effect.low <= effect.certain_if_clean <= effect.high


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
    effect = column_effects(table, points, 1, n_samples=50)[0]
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
        rows = near_rows(data, np.array(case.X), k, case.metric)
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


# -- facts -----------------------------------------------------------------------------------------


def test_summary_counts_what_is_there():
    table, points = random_table(0)
    frame = pd.DataFrame(points, columns=["a", "b", "c"])
    y = np.zeros(len(points), dtype=int)
    session = CleaningSession(table, frame, y_val=y)
    facts = summary(session, table)
    assert (facts.rows, facts.columns) == (7, 3)
    assert facts.rows_with_holes == 3
    assert facts.cells_missing == table.holes.sum()
    assert facts.worlds == str(table.dataset.n_worlds)
    assert facts.points == 12
    assert facts.certain_share == is_certain(table.dataset, points).mean()
    assert facts.mean_entropy == session.mean_entropy
    assert facts.accuracy == session.accuracy()
    assert facts.majority in (0.0, 1.0)  # all points have the one label
    assert facts.first_rows == tuple(one.row for one in session.ask(10))
    assert facts.expected_fall == pytest.approx(sum(one.gain for one in session.ask(10)))
    assert facts.rows_that_help == (session.gains() > 0).sum()


def test_summary_without_labels_knows_no_accuracy():
    table, points = random_table(0)
    facts = summary(CleaningSession(table, pd.DataFrame(points, columns=list("abc"))), table)
    assert facts.accuracy is None
    assert facts.majority is None


def test_worlds_text():
    assert worlds_text(1) == "1"
    assert worlds_text(999_999) == "999999"
    assert worlds_text(10**6) == "10^6.0"
    assert worlds_text(5**9000) == "10^6290.7"  # more digits than Python prints


# -- ranking ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["cpclean", "cells"])
@pytest.mark.parametrize("seed", range(4))
def test_ranking_begins_with_what_is_asked(seed, strategy):
    table, points = random_table(seed)
    session = CleaningSession(table, pd.DataFrame(points, columns=list("abc")), 3, strategy)
    found = ranking(session)
    gains = [one.gain for one in found]
    assert gains == sorted(gains, reverse=True)
    question = session.ask()
    if question is not None and question.gain > 1e-12:
        assert found[0].gain == pytest.approx(question.gain)
    wanted = table.holes.sum() if strategy == "cells" else len(table.dataset.dirty_rows)
    assert len(found) == wanted
    for one in found:
        assert set(one.holes) == {name for name, v in table.row(one.row).items() if v is None}
        size = 3 if strategy == "cells" else 3 ** len(one.holes)
        assert one.candidates == size


def test_rows_that_are_clean_by_now_are_not_ranked():
    table, points = random_table(1)
    session = CleaningSession(table, pd.DataFrame(points, columns=list("abc")))
    first = ranking(session)[0].row
    session.tell(first, candidate=0)
    assert first not in [one.row for one in ranking(session)]


# -- advice ----------------------------------------------------------------------------------------

FACTS = Summary(
    rows=100, columns=4, rows_with_holes=20, cells_missing=30, worlds="10^20.0", points=50,
    certain_share=0.7, mean_entropy=0.1, accuracy=0.8, majority=0.5, rows_that_help=12,
    first_rows=(4, 7, 9, 11), expected_fall=0.04,
)  # fmt: skip


def told(effects=(), **changes):
    return " ".join(advice(Summary(**{**FACTS.__dict__, **changes}), effects))


def effect(name, share, holes=5):
    return ColumnEffect(name, "numeric", holes, share, share, share)


def test_advice_where_nothing_is_to_be_done():
    assert told(cells_missing=0).startswith("The table has no holes")
    text = told(certain_share=1.0)
    assert "nothing has to be cleaned" in text
    assert "Cleaning" not in text


def test_advice_by_the_share_that_is_certain():
    assert told(certain_share=0.98).startswith("Nearly all predictions are certain; one is not.")
    assert told().startswith("15 of 50 predictions hang on what the holes hold.")
    assert told(points=4, certain_share=0.75).startswith("1 of 4 predictions hangs on what")
    assert told(certain_share=0.2).startswith("Most predictions, 40 of 50, hang on")


def test_advice_about_rows():
    assert "Only 12 of the 20 rows with holes" in told()
    assert "Only" not in told(rows_that_help=20)
    assert "the first 4 rows (4, 7, 9, ...) is expected to take away about 40%" in told()
    assert "Cleaning row 4 is expected" in told(first_rows=(4,))
    assert "Only 1 of the 20 rows with holes is expected to help" in told(rows_that_help=1)
    assert "to take away nearly all of the doubt" in told(expected_fall=0.0999)
    assert "to take away less than 1% of the doubt" in told(expected_fall=0.0001)
    assert "Cleaning rows 4, 7 is expected" in told(first_rows=(4, 7))


def test_rows_that_bring_nothing_are_not_named_first():
    for seed in range(20):
        table, points = random_table(seed)
        session = CleaningSession(table, pd.DataFrame(points, columns=list("abc")))
        asked = [question.row for question in session.ask(10) if question.gain > 1e-12]
        assert summary(session, table).first_rows == tuple(asked)


def test_a_share_reads_100_percent_only_if_it_is():
    assert "right for >99.9% of the points" in told(accuracy=0.9999)
    assert "right for 100% of the points" in told(accuracy=1.0)


def test_advice_about_columns():
    assert "Column 'b' brings most" in told([effect("a", 0.71), effect("b", 0.9)])
    assert "Among the columns, 'b' brings most" in told([effect("a", 0.71), effect("b", 0.8)])
    assert "No column alone brings much" in told([effect("a", 0.71), effect("b", 0.7)])
    assert "column" not in told([effect("a", 0.9), effect("b", 0.7, holes=0)])


def test_advice_about_accuracy():
    assert "right for 80.0% of the points already now" in told()
    assert "tells little about the label" in told(accuracy=0.5)
    assert "right for" not in told(accuracy=None, majority=None)
