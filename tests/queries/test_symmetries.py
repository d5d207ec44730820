"""What must not matter: the order of rows, features and classes, and the form of points."""

from __future__ import annotations

import numpy as np
import pytest
from queries.samples import TABLES, instance, pieces

from cpclean import (
    IncompleteDataset,
    conditional_shares,
    expected_entropies,
    possible_labels,
    world_counts,
    world_shares,
)


@pytest.mark.parametrize(("n_classes", "k"), [(2, 4), (4, 3)])
def test_the_order_of_rows_and_candidates_does_not_matter_without_ties(
    n_classes: int, k: int
) -> None:
    data, X = instance([8, n_classes], 300, n_classes, uniform=False)
    candidates, labels, priors = pieces(data)
    rng = np.random.default_rng(8)
    rows = rng.permutation(300)
    inside = [rng.permutation(len(candidates[row])) for row in rows]
    shuffled = IncompleteDataset(
        [candidates[row][order] for row, order in zip(rows, inside, strict=True)],
        labels[rows],
        [priors[row][order] for row, order in zip(rows, inside, strict=True)],
    )
    assert possible_labels(shuffled, X, k).tolist() == possible_labels(data, X, k).tolist()
    assert world_counts(shuffled, X, k).tolist() == world_counts(data, X, k).tolist()
    assert world_shares(shuffled, X, k) == pytest.approx(world_shares(data, X, k), rel=1e-12)
    expected = expected_entropies(data, X, k)[rows]
    assert expected_entropies(shuffled, X, k) == pytest.approx(expected, abs=1e-12)
    given, again = conditional_shares(data, X[0], k), conditional_shares(shuffled, X[0], k)
    for place, (row, order) in enumerate(zip(rows, inside, strict=True)):
        assert again[place] == pytest.approx(given[row][order], abs=1e-12)


@pytest.mark.parametrize(
    "metric", ["euclidean", "manhattan", "chebyshev", "cosine", "linear", "hamming"]
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_order_of_features_does_not_matter_on_a_grid(metric: str, n_classes: int) -> None:
    data, X = instance([9, n_classes], 200, n_classes, grid=2, width=5, uniform=False)
    candidates, labels, priors = pieces(data)
    order = [3, 0, 4, 1, 2]
    turned = IncompleteDataset([one[:, order] for one in candidates], labels, priors)
    for ask in TABLES:
        expected = ask(data, X, 3, metric)
        actual = ask(turned, X[:, order], 3, metric)
        if expected.dtype == float:
            assert actual == pytest.approx(expected, abs=1e-13)
        else:
            assert actual.tolist() == expected.tolist()


@pytest.mark.parametrize("n_classes", [2, 4])
def test_names_of_classes_do_not_matter_but_their_order(n_classes: int) -> None:
    data, X = instance([10, n_classes], 200, n_classes)
    candidates, labels, _ = pieces(data)
    names = np.array(["ape", "bee", "cat", "dog"])[:n_classes]
    named = IncompleteDataset(candidates, names[labels])
    assert world_counts(named, X, 4).tolist() == world_counts(data, X, 4).tolist()
    # With K = 1 no votes tie, so that a new order of the classes only reorders the answer.
    turned = IncompleteDataset(candidates, n_classes - 1 - labels)
    expected = world_counts(data, X, 1)[:, ::-1]
    assert world_counts(turned, X, 1).tolist() == expected.tolist()


def test_what_is_given_is_never_written_to() -> None:
    data, X = instance(11, 80, 3, uniform=False)
    candidates, labels, priors = pieces(data)
    given = [*candidates, labels, *priors, X]
    before = [array.copy() for array in given]
    fresh = IncompleteDataset(candidates, labels, priors)
    for metric in ("euclidean", "cosine", "manhattan"):
        for ask in TABLES:
            ask(fresh, X, 3, metric, n_jobs=2)
        conditional_shares(fresh, X[0], 3, metric)
    distances = np.random.default_rng(11).random((3, data.n_candidates))
    kept = distances.copy()
    for ask in TABLES:
        ask(fresh, distances, 3, "precomputed")
    assert np.array_equal(distances, kept)
    for array, was in zip(given, before, strict=True):
        assert np.array_equal(array, was)
        assert array.flags.writeable
    assert fresh == IncompleteDataset(candidates, labels, priors)


FORMS = {
    "read-only": lambda X: np.frombuffer(X.tobytes()).reshape(X.shape),
    "Fortran order": np.asfortranarray,
    "strided": lambda X: np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2],
    "backwards": lambda X: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
    "big-endian": lambda X: X.astype(">f8"),
    "list": lambda X: X.tolist(),
    "int": lambda X: X.astype(np.int16),
    "float32": lambda X: X.astype(np.float32),
    "object": lambda X: X.astype(object),
}


@pytest.mark.parametrize("form", FORMS)
def test_points_may_be_given_in_many_forms(form: str) -> None:
    data, X = instance(12, 80, 3, grid=2, width=3)
    given = FORMS[form](X)
    for ask in TABLES:
        assert ask(data, given, 3).tolist() == ask(data, X, 3).tolist()
    for actual, expected in zip(
        conditional_shares(data, given[0], 3), conditional_shares(data, X[0], 3), strict=True
    ):
        assert actual.tolist() == expected.tolist()


def test_points_of_yes_and_no() -> None:
    rng = np.random.default_rng(13)
    data = IncompleteDataset(rng.integers(0, 2, size=(30, 2, 4)).astype(bool), np.arange(30) % 3)
    X = rng.integers(0, 2, size=(5, 4)).astype(bool)
    plain = IncompleteDataset([data.candidates(row) for row in range(30)], np.arange(30) % 3)
    for ask in TABLES:
        assert ask(data, X, 3).tolist() == ask(plain, X.astype(float), 3).tolist()
