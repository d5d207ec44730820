"""ActiveClean: gradients against finite differences, estimates without bias, steps by hand."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from cpclean import IncompleteDataset
from cpclean.baselines import softmax
from cpclean.baselines.activeclean import ActiveClean, _Run
from cpclean.baselines.batches import (
    UNIFORM_SHARE,
    draw_batch,
    draw_probabilities,
    importance_weights,
)
from cpclean.baselines.source import source_of
from cpclean.errors import DataError
from cpclean.experiments.fresh import Sizes, fresh_space, generated_table
from cpclean.experiments.spaces import Space

# Six rows in the plane, three classes. Rows 0 to 3 are dirty: 0 and 1 in the first coordinate, 2 in
# the second, 3 in both. The default is the first candidate, the truth the second.
CANDIDATES = [
    [[0.0, 1.0], [2.0, 1.0]],
    [[0.5, -1.0], [-1.5, -1.0]],
    [[1.0, 0.0], [1.0, 3.0]],
    [[-1.0, 0.5], [1.0, -0.5]],
    [[0.3, 0.7]],
    [[-0.6, -0.2]],
]
LABELS = ["a", "b", "c", "a", "b", "c"]
TRUTH = [1, 1, 1, 1, 0, 0]
PRIORS = [[0.6, 0.4]] * 4 + [[1.0]] * 2


def data() -> IncompleteDataset:
    return IncompleteDataset(CANDIDATES, LABELS, PRIORS)


def true_loss(theta: Any, ridge: float) -> float:
    """Written out on its own: the loss over all rows, were they clean."""
    total = 0.0
    for row, candidates in enumerate(CANDIDATES):
        vector = np.array([*candidates[TRUTH[row]], 1.0])
        scores = theta @ vector
        total -= np.log(np.exp(scores["abc".index(LABELS[row])]) / np.exp(scores).sum())
    return float(total / len(CANDIDATES) + ridge / 2 * (theta[:, :2] ** 2).sum())


def differences(function: Any, theta: Any, step: float = 1e-5) -> Any:
    """The gradient by central differences."""
    found = np.zeros_like(theta)
    for place in np.ndindex(theta.shape):
        up, down = theta.copy(), theta.copy()
        up[place] += step
        down[place] -= step
        found[place] = (function(up) - function(down)) / (2 * step)
    return found


# -- the model ------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_the_gradient_is_that_of_the_loss(n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    Z = softmax.with_intercept(rng.normal(size=(7, 3)))
    codes, theta = rng.integers(n_classes, size=7), rng.normal(size=(n_classes, 4))
    expected = differences(lambda one: softmax.loss(one, Z, codes, 0.3), theta)
    actual = softmax.summed_gradient(theta, Z, codes) / 7 + softmax.ridge_gradient(theta, 0.3)
    np.testing.assert_allclose(actual, expected, atol=1e-8)


def test_probabilities_of_large_scores() -> None:
    theta = np.array([[800.0, 0.0], [-800.0, 0.0]])
    found = softmax.probabilities(theta, np.array([[1.0, 1.0], [-1.0, 1.0]]))
    assert found.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert softmax.loss(theta, np.array([[1.0, 1.0]]), np.array([1]), 0.0) == 1600.0


def test_sizes_are_norms_of_written_out_gradients() -> None:
    rng = np.random.default_rng(0)
    Z = softmax.with_intercept(rng.normal(size=(6, 2)))
    codes, theta, shift = rng.integers(3, size=6), rng.normal(size=(3, 3)), rng.normal(size=(3, 3))
    expected = []
    for row in range(6):
        scores = np.exp(theta @ Z[row])
        residual = scores / scores.sum() - np.eye(3)[codes[row]]
        expected.append(np.linalg.norm(np.outer(residual, Z[row]) + shift))
    assert softmax.gradient_sizes(theta, Z, codes, shift).tolist() == pytest.approx(expected)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_start_is_scikit_learns_logistic_regression(n_classes: int) -> None:
    rng = np.random.default_rng(5)
    X, codes = rng.normal(size=(60, 3)), np.arange(60) % n_classes
    X[:, 0] += codes
    theta = softmax.fitted(X, codes, n_classes, 0.7)
    Z, ridge = softmax.with_intercept(X), softmax.ridge_of(0.7, 60, n_classes)
    gradient = softmax.summed_gradient(theta, Z, codes) / 60 + softmax.ridge_gradient(theta, ridge)
    assert np.abs(gradient).max() < 1e-5  # of least loss
    model = LogisticRegression(C=0.7, tol=1e-8, max_iter=10_000).fit(X, codes)
    np.testing.assert_allclose(softmax.probabilities(theta, Z), model.predict_proba(X), atol=1e-4)


def test_steps_up_to_the_inverse_steepness_never_overshoot() -> None:
    rng = np.random.default_rng(6)
    Z, codes = softmax.with_intercept(rng.normal(size=(20, 3))), rng.integers(3, size=20)
    theta = rng.normal(size=(3, 4)) * 3
    losses = []
    for _ in range(30):
        losses.append(softmax.loss(theta, Z, codes, 0.1))
        step = softmax.summed_gradient(theta, Z, codes) / 20 + softmax.ridge_gradient(theta, 0.1)
        theta = theta - step / softmax.steepness(Z, 0.1)
    assert (np.diff(losses) < 0).all()


# -- drawing --------------------------------------------------------------------------------------


def chance_of(order: tuple[int, ...], chances: Any) -> float:
    """That just these are drawn, one after the other without replacement."""
    chance, left = 1.0, 1.0
    for one in order:
        chance *= chances[one] / left
        left -= chances[one]
    return float(chance)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_the_estimate_of_a_sum_is_unbiased_over_all_batches(size: int) -> None:
    chances, values = np.array([0.4, 0.3, 0.15, 0.1, 0.05]), np.array([5.0, -2.0, 7.0, 1.0, 3.0])
    expected = 0.0
    for order in permutations(range(5), size):
        drawn = np.array(order)
        estimate = importance_weights(chances, drawn) @ values[drawn]
        expected += chance_of(order, chances) * estimate
    assert expected == pytest.approx(values.sum())


def test_importance_weights_by_hand() -> None:
    chances = np.array([0.5, 0.2, 0.2, 0.1])
    # first alone: 1 / 0.5; second, after it: (1 - 0.5) / 0.2; the first counts once more there
    assert importance_weights(chances, np.array([0])).tolist() == pytest.approx([2.0])
    found = importance_weights(chances, np.array([0, 1])).tolist()
    assert found == pytest.approx([(2.0 + 1.0) / 2, 2.5 / 2])
    assert importance_weights(chances, np.array([3, 1, 0, 2])).tolist() == [1.0] * 4


def test_draws_follow_their_chances() -> None:
    chances, rng = np.array([0.5, 0.3, 0.2]), np.random.default_rng(1)
    times: dict[tuple[int, ...], int] = {}
    for _ in range(20_000):
        order = tuple(draw_batch(chances, 2, rng).tolist())
        times[order] = times.get(order, 0) + 1
    for order in permutations(range(3), 2):
        assert times[order] / 20_000 == pytest.approx(chance_of(order, chances), abs=0.012)


def test_probabilities_are_proportional_but_for_a_share() -> None:
    found = draw_probabilities(np.array([3.0, 1.0, 0.0, 0.0]))
    floor = UNIFORM_SHARE / 4
    rest = 1 - UNIFORM_SHARE
    assert found.tolist() == pytest.approx([0.75 * rest + floor, 0.25 * rest + floor, floor, floor])
    assert draw_probabilities(np.zeros(4)).tolist() == [0.25] * 4


# -- cleaning -------------------------------------------------------------------------------------


def run_at(theta: Any, cleaned: tuple[int, ...] = (), **given: Any) -> _Run:
    run = _Run(ActiveClean(TRUTH, **given), source_of(data()))
    run.theta = theta.copy()
    run.order = list(cleaned)
    run.dirty[list(cleaned)] = False
    return run


@pytest.mark.parametrize("cleaned", [(), (0,), (3, 1)])
@pytest.mark.parametrize("size", [1, 2])
def test_the_estimated_gradient_is_unbiased(cleaned: tuple[int, ...], size: int) -> None:
    theta = np.random.default_rng(2).normal(size=(3, 3))
    run = run_at(theta, cleaned)
    dirty = np.flatnonzero(run.dirty)
    chances = draw_probabilities(run.expected_sizes(dirty))
    mean = np.zeros_like(theta)
    for order in permutations(range(len(dirty)), size):
        weights = importance_weights(chances, np.array(order))
        mean += chance_of(order, chances) * run.gradient(dirty[list(order)], weights)
    expected = differences(lambda one: true_loss(one, run.ridge), theta)
    np.testing.assert_allclose(mean, expected, atol=1e-8)


def row_gradient(theta: Any, row: int, number: int) -> Any:
    """The gradient of one row's loss, by differences, at one of its candidates."""
    Z = np.array([[*CANDIDATES[row][number], 1.0]])
    code = np.array(["abc".index(LABELS[row])])
    return differences(lambda one: softmax.loss(one, Z, code, 0.0), theta)


def test_expected_sizes_add_the_change_seen_for_the_same_holes() -> None:
    theta = np.random.default_rng(3).normal(size=(3, 3))
    dirty = {row: row_gradient(theta, row, 0) for row in range(4)}
    plain = run_at(theta).expected_sizes(np.arange(4))
    assert plain.tolist() == pytest.approx([np.linalg.norm(dirty[row]) for row in range(4)])
    # row 0 is cleaned: row 1, with the same hole, is expected to change as it did; no other row
    change = row_gradient(theta, 0, 1) - dirty[0]
    found = run_at(theta, (0,)).expected_sizes(np.array([1, 2, 3]))
    expected = [np.linalg.norm(dirty[1] + change), *map(np.linalg.norm, (dirty[2], dirty[3]))]
    assert found.tolist() == pytest.approx(expected)


def test_the_expected_change_is_the_mean_of_those_seen() -> None:
    rows = [[[0.0], [2.0]], [[1.0], [-1.0]], [[0.5], [3.0]], [[-1.0]]]
    same = IncompleteDataset(rows, [*"abab"], [[0.6, 0.4]] * 3 + [[1.0]])
    run = _Run(ActiveClean([1, 1, 1, 0]), source_of(same))
    run.theta = np.array([[0.3, -0.2], [-0.4, 0.1]])
    run.order = [0, 1]

    def gradient(row: int, number: int) -> Any:
        vector = np.array([rows[row][number][0], 1.0])
        scores = np.exp(run.theta @ vector)
        return np.outer(scores / scores.sum() - np.eye(2)[row % 2], vector)

    change = (gradient(0, 1) - gradient(0, 0) + gradient(1, 1) - gradient(1, 0)) / 2
    expected = np.linalg.norm(gradient(2, 0) + change)
    assert run.expected_sizes(np.array([2])).tolist() == pytest.approx([expected])


def test_the_first_step_by_hand() -> None:
    given = {"counts": [0, 4], "batch_size": 4, "steps": 1, "learning_rate": 0.5}
    method = ActiveClean(TRUTH, **given).fit(data())
    start, end = method.path_
    default = np.array([candidates[0] for candidates in CANDIDATES])
    model = LogisticRegression(tol=1e-8, max_iter=10_000).fit(default, LABELS)
    Z = softmax.with_intercept(default)
    np.testing.assert_allclose(
        softmax.probabilities(start, Z), model.predict_proba(default), atol=1e-4
    )
    # the batch is all that is dirty: the gradient is the true one
    step = differences(lambda one: true_loss(one, softmax.ridge_of(1.0, 6, 3)), start)
    np.testing.assert_allclose(end, start - 0.5 * step, atol=1e-8)


def test_the_rate_decays_from_batch_to_batch() -> None:
    given = {"batch_size": 1, "steps": 1, "learning_rate": 0.5, "decay": 2.0}
    method = ActiveClean(TRUTH, counts=[0, 1, 2, 3, 4], **given).fit(data())
    for number in range(4):
        cleaned, row = method.order_[:number], method.order_[number]
        run = run_at(method.path_[number], tuple(cleaned.tolist()))
        dirty = np.flatnonzero(run.dirty)
        chances = draw_probabilities(run.expected_sizes(dirty))
        weight = 1.0 / chances[dirty == row] if number < 3 else 1.0
        step = run.gradient(np.array([row]), weight)
        expected = method.path_[number] - 0.5 / (number + 1) ** 2 * step
        np.testing.assert_allclose(method.path_[number + 1], expected, atol=1e-12)


def test_a_cut_batch_steps_as_far_as_its_share() -> None:
    given = {"batch_size": 3, "steps": 1, "learning_rate": 0.5, "decay": 1.0}
    method = ActiveClean(TRUTH, counts=[0, 1, 4], **given).fit(data())
    start, cut, end = method.path_
    run, row = run_at(start), method.order_[0]
    weight = 1.0 / draw_probabilities(run.expected_sizes(np.arange(4)))[row]
    step = run.gradient(np.array([row]), weight)
    np.testing.assert_allclose(cut, start - 0.5 / 3 * step, atol=1e-12)
    # a whole batch, after a third of one, of all that is dirty
    step = differences(lambda one: true_loss(one, run.ridge), cut)
    np.testing.assert_allclose(end, cut - 0.5 / (1 + 1 / 3) * step, atol=1e-8)


def test_a_batch_of_all_rows_is_whole() -> None:
    given = {"counts": [4], "steps": 1, "learning_rate": 0.5}
    small, large = (ActiveClean(TRUTH, batch_size=size, **given).fit(data()) for size in (4, 99))
    np.testing.assert_allclose(small.path_, large.path_, atol=1e-12)


def test_every_step_of_a_batch_looks_at_the_gradient_anew() -> None:
    given = {"counts": [0, 4], "batch_size": 4, "steps": 2, "learning_rate": 0.5}
    start, end = ActiveClean(TRUTH, **given).fit(data()).path_
    ridge = softmax.ridge_of(1.0, 6, 3)
    for _ in range(2):
        start = start - 0.5 * differences(lambda one: true_loss(one, ridge), start)
    np.testing.assert_allclose(end, start, atol=1e-8)


def test_steps_towards_the_optimum_of_the_clean_rows() -> None:
    method = ActiveClean(TRUTH, batch_size=4, steps=3000, counts=[0, 4]).fit(data())
    ridge = softmax.ridge_of(1.0, 6, 3)
    clean = np.array([candidates[TRUTH[row]] for row, candidates in enumerate(CANDIDATES)])
    best = softmax.fitted(clean, data().codes, 3, 1.0)
    assert true_loss(method.path_[1], ridge) == pytest.approx(true_loss(best, ridge), abs=1e-6)
    assert true_loss(method.path_[0], ridge) > true_loss(best, ridge) + 0.01


@pytest.fixture(scope="module")
def space() -> Space:
    return fresh_space(generated_table("mixed", 240), "important", 0, Sizes(90, 30, 60))


def test_counts_are_met_and_every_row_is_cleaned_once(space: Space) -> None:
    dirty = space.table.dataset.dirty_rows.tolist()
    counts = [0, 3, 17, len(dirty)]
    method = ActiveClean(counts=counts, batch_size=7).fit(space)
    curve = method.scores(space.X_test, space.y_test)
    assert curve.counts.tolist() == counts
    assert curve.runs.shape == (1, 4)
    assert sorted(method.order_.tolist()) == dirty
    assert curve.runs[0, -1] == method.score(space.X_test, space.y_test)
    likely = method.predict_proba(space.X_test)
    assert likely.sum(axis=1).tolist() == pytest.approx([1.0] * len(likely))
    assert method.classes_[likely.argmax(axis=1)].tolist() == method.predict(space.X_test).tolist()


def test_a_seed_repeats_everything(space: Space) -> None:
    first, again, other = (ActiveClean(random_state=seed).fit(space) for seed in (4, 4, 5))
    assert first.order_.tolist() == again.order_.tolist()
    assert first.path_.tolist() == again.path_.tolist()
    assert first.order_.tolist() != other.order_.tolist()


def test_a_smaller_budget_is_the_beginning_of_a_larger_one(space: Space) -> None:
    small = ActiveClean(counts=[20]).fit(space)
    large = ActiveClean(counts=[20, 40]).fit(space)
    assert small.order_.tolist() == large.order_[:20].tolist()
    assert small.path_[0].tolist() == large.path_[0].tolist()


def test_exact_answers(space: Space) -> None:
    run = _Run(ActiveClean(exact=True), source_of(space))
    dirty = space.table.dataset.dirty_rows
    assert run.after[dirty, :-1].tolist() == space.clean[dirty].tolist()
    run = _Run(ActiveClean(), source_of(space))
    assert run.after[dirty, :-1].tolist() == space.closest_world()[dirty].tolist()


def test_a_single_class() -> None:
    alone = IncompleteDataset([[[0.0], [1.0]], [[2.0]]], ["a", "a"])
    assert ActiveClean([1, 0]).fit(alone).predict([[5.0]]).tolist() == ["a"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"batch_size": 0}, r"batch_size must be an int of at least 1; got 0"),
        ({"steps": 1.5}, r"steps must be an int of at least 1; got 1\.5"),
        ({"learning_rate": 0.0}, r"learning_rate must be a finite number above 0; got 0\.0"),
        ({"learning_rate": "fast"}, r"learning_rate must be a finite number above 0; got 'fast'"),
        ({"decay": -1}, r"decay must be a finite number of at least 0; got -1"),
        ({"C": np.inf}, r"C must be a finite number above 0; got inf"),
        ({"random_state": 1.0}, r"random_state must be an int of at least 0; got 1\.0"),
        ({"counts": [5]}, r"counts must be ascending ints in \[0, 4\]"),
        ({"truth": None}, r"the truth is not known: pass truth="),
    ],
)
def test_bad_settings(given: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        ActiveClean(**{"truth": TRUTH, **given}).fit(data())
