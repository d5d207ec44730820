"""RandomClean: every run by hand, the spread over runs, and what ends where."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cpclean import IncompleteDataset, is_certain, world_shares
from cpclean.baselines.random_clean import RandomClean
from cpclean.baselines.worlds import ClosestWorld, DefaultCleaning
from cpclean.errors import DataError
from cpclean.experiments.fresh import Sizes, fresh_space, generated_table
from cpclean.experiments.spaces import Space

# One neighbour. By default (the first candidate) row 0, "a", is at 0 and row 1, "b", at 1; in truth
# they are at 4 and at 8. Row 2, "a", is at 10.
DATA = IncompleteDataset([[[0.0], [4.0]], [[1.0], [8.0]], [[10.0]]], ["a", "b", "a"])
TRUTH = [1, 1, 0]
X, Y = np.array([[3.0], [7.0], [0.0], [1.0]]), ["a", "b", "a", "a"]
# default      (0, 1, 10): 3 -> b, 7 -> a, 0 -> a, 1 -> b: one of four is right
# row 0 first  (4, 1, 10): 3 -> a, 7 -> a (rows 0 and 2 tie), 0 -> b, 1 -> b: one of four
# row 1 first  (0, 8, 10): 3 -> a, 7 -> b, 0 -> a, 1 -> a: all
# both         (4, 8, 10): the same
AFTER_ONE = {0: 0.25, 1: 1.0}


def test_every_run_by_hand() -> None:
    method = RandomClean(TRUTH, counts=[0, 1, 2], n_runs=20, n_neighbors=1).fit(DATA)
    first = method.orders_[:, 0].tolist()
    assert set(first) == {0, 1}
    curve = method.scores(X, Y)
    assert curve.counts.tolist() == [0, 1, 2]
    assert curve.runs.tolist() == [[0.25, AFTER_ONE[row], 1.0] for row in first]
    share = first.count(1) / 20
    mean = share + 0.25 * (1 - share)
    assert curve.mean.tolist() == pytest.approx([0.25, mean, 1.0])
    # the sample deviation of a two-valued variable
    spread = 0.75 * np.sqrt(share * (1 - share) * 20 / 19)
    assert curve.std.tolist() == pytest.approx([0.0, spread, 0.0])


def test_score_is_the_mean_over_runs_and_predict_the_first_run() -> None:
    method = RandomClean(TRUTH, counts=[1], n_runs=20, n_neighbors=1).fit(DATA)
    assert method.score(X, Y) == pytest.approx(method.scores(X, Y).mean[0])
    first = {0: ["a", "a", "b", "b"], 1: ["a", "b", "a", "a"]}[int(method.orders_[0, 0])]
    assert method.predict(X).tolist() == first
    # with all the weight on the first point, right after either row
    assert method.score(X, Y, sample_weight=[1, 0, 0, 0]) == 1.0


def test_run_r_has_the_seed_random_state_plus_r() -> None:
    data = IncompleteDataset([[[0.0], [1.0]]] * 30, ["a", "b"] * 15)
    truth = [0] * 30
    orders = RandomClean(truth, n_runs=4, random_state=7).fit(data).orders_
    again = RandomClean(truth, n_runs=4, random_state=7).fit(data).orders_
    later = RandomClean(truth, n_runs=4, random_state=8).fit(data).orders_
    assert orders.tolist() == again.tolist()
    assert orders[1:].tolist() == later[:-1].tolist()
    assert all(sorted(order) == list(range(30)) for order in orders.tolist())
    expected = np.random.default_rng(7).permutation(30)
    assert orders[0].tolist() == expected.tolist()


@pytest.fixture(scope="module")
def space() -> Space:
    return fresh_space(generated_table("numbers", 200), "important", 0, Sizes(60, 30, 50))


def test_from_default_cleaning_to_the_closest_world(space: Space) -> None:
    curve = RandomClean(n_runs=3).fit(space).scores(space.X_test, space.y_test)
    assert curve.runs[:, 0].tolist() == [DefaultCleaning().fit(space).score(
        space.X_test, space.y_test)] * 3  # fmt: skip
    assert curve.runs[:, -1].tolist() == [ClosestWorld().fit(space).score(
        space.X_test, space.y_test)] * 3  # fmt: skip


def test_the_vote_and_the_certain_share_are_those_of_pinned_rows(space: Space) -> None:
    method = RandomClean(counts=[5, 20], n_runs=2, predictor="vote", random_state=3).fit(space)
    votes, certain = [], []
    for order in method.orders_:
        for count in (5, 20):
            data = space.table.dataset
            for row in order[:count].tolist():
                data = data.pin(row, int(space.truth[row]))
            labels = data.classes[world_shares(data, space.X_test).argmax(axis=1)]
            votes.append(float((labels == space.y_test).mean()))
            certain.append(float(is_certain(data, space.X_val).mean()))
    assert method.scores(space.X_test, space.y_test).runs.ravel().tolist() == votes
    assert method.certain_shares(space.X_val).runs.ravel().tolist() == certain


def test_exact_answers_are_the_true_rows(space: Space) -> None:
    from cpclean.baselines.worlds import GroundTruth

    everything = [len(space.table.dataset.dirty_rows)]
    method = RandomClean(counts=everything, n_runs=1, exact=True).fit(space)
    truth = GroundTruth().fit(space).score(space.X_test, space.y_test)
    assert method.score(space.X_test, space.y_test) == truth


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"n_runs": 0}, r"n_runs must be an int of at least 1; got 0"),
        ({"n_runs": 2.0}, r"n_runs must be an int of at least 1; got 2\.0"),
        ({"random_state": None}, r"random_state must be an int of at least 0; got None"),
        ({"random_state": -1}, r"random_state must be an int of at least 0; got -1"),
        ({"predictor": "both"}, r'predictor must be "world" or "vote"; got \'both\''),
        ({"counts": [3]}, r"counts must be ascending ints in \[0, 2\]"),
        ({"truth": None}, r"the truth is not known: pass truth="),
        ({"exact": True}, r"truth must be the true rows here; got candidate numbers"),
    ],
)
def test_bad_settings(given: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        RandomClean(**{"truth": TRUTH, "n_neighbors": 1, **given}).fit(DATA)
