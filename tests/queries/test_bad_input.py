"""Bad input gets an error that says what was wrong, where, what was got, and the way out."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from cpclean import (
    CPCleanError,
    FactoredRow,
    IncompleteDataset,
    conditional_shares,
    entropies,
    expected_entropies,
    is_certain,
    possible_labels,
    world_counts,
    world_shares,
)
from cpclean.errors import DataError, QueryError, offenders

# Also without the compiler: most of it never comes to a kernel.
pytestmark = pytest.mark.nojit

TABLES = (possible_labels, is_certain, world_counts, world_shares, entropies, expected_entropies)
EVERY = (*TABLES, conditional_shares)

every_query = pytest.mark.parametrize("ask", EVERY, ids=lambda ask: ask.__name__)
every_table = pytest.mark.parametrize("ask", TABLES, ids=lambda ask: ask.__name__)


@pytest.fixture
def data() -> IncompleteDataset:
    return IncompleteDataset([[[0.0, 1.0], [5.0, 1.0]], [1.0, 1.0], [6.0, 0.0]], ["a", "b", "b"])


# -- candidates ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("candidates", "message"),
    [
        ([], "an incomplete dataset needs at least one row; got none"),
        ([[[1.0]], []], "row 1 has an empty candidate set; every row needs at least one candidate"),
        ([[[1.0]], np.zeros((0, 1))], "row 1 has an empty candidate set"),
        ([[[1.0]], [[]]], "row 1 has an empty candidate set"),
        (
            [[[1.0]], [[2.0], [math.nan]]],
            r"the candidates of row 1 must be finite; got NaN or infinity at \(1, 0\)\. "
            "A hole is given as a set of candidates, not as NaN",
        ),
        ([[[1.0]], [math.inf]], r"the candidates of row 1 must be finite; .* at \(0, 0\)"),
        ([[[1.0]], [[-math.inf]]], r"the candidates of row 1 must be finite; .* at \(0, 0\)"),
        ([[[1.0]], [[None]]], r"the candidates of row 1 must be finite; .* at \(0, 0\)"),
        (
            [[[1.0]], [[math.nan] * 1] * 9],
            r"at \(0, 0\), \(1, 0\), \(2, 0\) and 6 more\.",
        ),
        (
            [[[1.0]], [["red"], ["blue"]]],
            "the candidates of row 1 must be numbers; got list. Encode categories as numbers first",
        ),
        (
            [[[1.0]], np.array([["red"]])],
            "the candidates of row 1 must be numbers; got dtype <U3. Encode categories",
        ),
        (
            [[[1.0]], pd.DataFrame({"colour": ["red"]})],
            "the candidates of row 1 must be numbers; got DataFrame",
        ),
        ([[[1.0]], [[1j]]], "the candidates of row 1 must be numbers"),
        (
            [[[1.0]], [[[1.0]]]],
            r"the candidates of row 1 must have shape \(m, n_features\); got \(1, 1, 1\)",
        ),
        (
            [[1.0, 2.0], [1.0, 2.0], [[1.0], [2.0]]],
            r"all candidates must have the same number of features; most have 2, but row 2 \(1\)",
        ),
        (
            [[1.0, 2.0]] * 9 + [[1.0]] * 4,
            r"most have 2, but row 9 \(1\), row 10 \(1\), row 11 \(1\) and 1 more\.",
        ),
    ],
)  # fmt: skip
def test_candidates(candidates: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        IncompleteDataset(candidates, [0] * len(candidates))


def test_a_factored_row_of_another_width() -> None:
    with pytest.raises(DataError, match=r"the base of row 1 must have shape \(1,\); got \(2,\)"):
        IncompleteDataset([[1.0], FactoredRow([1.0, 2.0], [])], [0, 1])


# -- labels and priors: see also tests/data --------------------------------------------------------


def test_missing_labels() -> None:
    with pytest.raises(DataError, match=r"every row needs a label; missing in row 1\. Drop these"):
        IncompleteDataset([[1.0], [2.0]], ["a", None])


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ([0.5, -0.5], "the prior of row 1 must be finite and not negative"),
        ([0.5, 0.4], "the prior of row 1 must sum to 1; got a sum of 0.9. Divide the weights"),
        ([1.0], r"the prior of row 1 must have one weight per candidate, shape \(2,\); got \(1,\)"),
    ],
)
def test_priors(prior: list[float], message: str) -> None:
    with pytest.raises(DataError, match=message):
        IncompleteDataset([[1.0], [[2.0], [3.0]]], ["a", "b"], [None, prior])


# -- n_neighbors -----------------------------------------------------------------------------------


@every_query
@pytest.mark.parametrize(
    "n_neighbors",
    [
        0,
        -1,
        4,
        10**30,
        1.0,
        2.5,
        "2",
        None,
        True,
        False,
        np.bool_(True),
        np.int64(0),
        [1],
        math.nan,
    ],
    ids=repr,
)
def test_n_neighbors(ask: object, n_neighbors: object, data: IncompleteDataset) -> None:
    expected = r"n_neighbors must be an int in \[1, 3\] \(the number of training rows\); got "
    with pytest.raises(QueryError, match=expected) as caught:
        ask(data, [[0.0, 0.0]], n_neighbors)
    assert str(caught.value).endswith(f"got {n_neighbors!r}.")


@every_query
@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int64, np.uint64])
def test_n_neighbors_of_numpy(ask: object, kind: type, data: IncompleteDataset) -> None:
    expected, actual = ask(data, [[0.0, 0.0]], 2), ask(data, [[0.0, 0.0]], kind(2))
    assert [one.tolist() for one in actual] == [one.tolist() for one in expected]


def test_three_neighbours_need_three_rows() -> None:
    data = IncompleteDataset([[0.0], [1.0]], ["a", "b"])
    with pytest.raises(QueryError, match=r"in \[1, 2\] \(the number of training rows\); got 3\."):
        is_certain(data, [[0.0]])


# -- query points ----------------------------------------------------------------------------------


@every_query
@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[0.0]], r"X must have 2 columns \(as many features as the training candidates\); got 1"),
        ([[0.0, 1.0, 2.0]], r"X must have 2 columns \(.*\); got 3\."),
        ([[]], r"X must have 2 columns \(.*\); got 0\."),
        (np.zeros((1, 2, 1)), r"X must have two dimensions, .* got shape \(1, 2, 1\)"),
        (0.0, r"X must have two dimensions, one row per query point; got shape \(\)\. For a"),
        (None, r"X must have two dimensions, one row per query point; got shape \(\)"),
        (
            [[0.0, math.nan]],
            r"X must be finite; got NaN or infinity at \(0, 1\)\. Query points must be complete; "
            "give the completions of one with holes as Points",
        ),
        ([[math.inf, 0.0]], r"X must be finite; got NaN or infinity at \(0, 0\)\."),
        ([[-math.inf, None]], r"X must be finite; got NaN or infinity at \(0, 0\), \(0, 1\)\."),
        ([["red", "blue"]], r"X must be numbers; .*Encode categories as numbers first"),
        ([["1.0", "2.0"]], "X must be numbers"),
        ([[1j, 0.0]], "X must be numbers; dtype complex128"),
        (np.array([["2024-01-01"] * 2], dtype="datetime64[D]"), "X must be numbers; dtype date"),
        ([[object(), 0.0]], "X must be numbers"),
        (pd.DataFrame({"a": [1.0], "b": ["red"]}), "X must be numbers"),
        (pd.DataFrame({"a": [1.0], "b": [None]}), r"X must be finite; .* at \(0, 1\)"),
    ],
)  # fmt: skip
def test_points(ask: object, X: object, message: str, data: IncompleteDataset) -> None:
    with pytest.raises(QueryError, match=message):
        ask(data, X, 1)


@every_table
def test_a_single_point_needs_two_axes(ask: object, data: IncompleteDataset) -> None:
    expected = r"two dimensions, .* got shape \(2,\)\. For a single point use X.reshape\(1, -1\)"
    with pytest.raises(QueryError, match=expected):
        ask(data, [0.0, 0.0], 1)


def test_at_most_three_places_are_named(data: IncompleteDataset) -> None:
    X = np.full((40, 2), math.nan)
    with pytest.raises(QueryError, match=r"at \(0, 0\), \(0, 1\), \(1, 0\) and 77 more\."):
        is_certain(data, X, 1)


def test_no_points_give_no_answers(data: IncompleteDataset) -> None:
    none = np.zeros((0, 2))
    for ask in (possible_labels, world_counts, world_shares):
        actual = ask(data, none, 1)
        assert actual.shape == (0, 2)
        assert actual.dtype == ask(data, [[0.0, 0.0]], 1).dtype
    for ask in (is_certain, entropies):
        assert ask(data, none, 1).shape == (0,)
    for n_jobs in (1, 3):
        assert world_shares(data, none, 1, n_jobs=n_jobs).shape == (0, 2)
    assert possible_labels(data, none, 1, lambda x, t: 0.0).shape == (0, 2)
    assert possible_labels(data, np.zeros((0, 4)), 1, "precomputed").shape == (0, 2)
    with pytest.raises(QueryError, match="X must have 2 columns"):
        world_shares(data, np.zeros((0, 3)), 1)
    with pytest.raises(QueryError, match="needs at least one query point; got none"):
        expected_entropies(data, none, 1)  # a mean of nothing


@pytest.mark.parametrize("n_points", [0, 2, 5])
def test_conditionals_are_of_one_point(n_points: int, data: IncompleteDataset) -> None:
    X = np.arange(2.0 * n_points).reshape(n_points, 2)
    expected = f"answers for one query point; got {n_points}. Call it point by point"
    with pytest.raises(QueryError, match=expected):
        conditional_shares(data, X, 1)


@every_query
def test_precomputed_distances_have_a_column_a_candidate(
    ask: object, data: IncompleteDataset
) -> None:
    expected = r"X must have 4 columns \(a distance to every candidate, row after row\); got 2\."
    with pytest.raises(QueryError, match=expected):
        ask(data, [[0.0, 0.0]], 1, "precomputed")
    with pytest.raises(QueryError, match=r"X must be finite; got NaN or infinity at \(0, 3\)"):
        ask(data, [[0.0, 0.0, 0.0, math.inf]], 1, "precomputed")


# -- metric ----------------------------------------------------------------------------------------


@every_query
@pytest.mark.parametrize("metric", ["hemming", "Euclidean", "", None, 2, ("euclidean",)], ids=repr)
def test_metric(ask: object, metric: object, data: IncompleteDataset) -> None:
    expected = (
        "metric must be one of chebyshev, cosine, euclidean, hamming, linear, manhattan, "
        r"precomputed, rbf, or a function \(x, t\) -> distance; got "
    )
    with pytest.raises(QueryError, match=expected) as caught:
        ask(data, [[0.0, 0.0]], 1, metric)
    assert str(caught.value).endswith(f"got {metric!r}.")


@pytest.mark.parametrize(
    ("metric", "value", "limit"),
    [
        ("euclidean", 1e151, r"1e\+150"),
        ("rbf", 1e151, r"1e\+150"),
        ("linear", -1e151, r"1e\+150"),
        ("cosine", 1e71, r"1e\+70"),
        ("manhattan", -1e301, r"1e\+300"),
        ("chebyshev", 1e301, r"1e\+300"),
    ],
)
def test_values_too_large_to_measure(metric: str, value: float, limit: str) -> None:
    expected = rf"values must not exceed {limit}, or distances overflow; got 1e\+\d+ in feature 0"
    rows, labels = [[[0.0], [1.0]], [2.0]], ["a", "b"]
    large = IncompleteDataset([[[0.0], [value]], [2.0]], labels)
    for data, X in ((IncompleteDataset(rows, labels), [[value]]), (large, [[0.0]])):
        for ask in EVERY:
            with pytest.raises(QueryError, match=expected):
                ask(data, X, 1, metric)
    # Pinned away, the value is gone.
    assert is_certain(large.pin(0, 0), [[0.0]], 1, metric).tolist() == [True]
    fine = IncompleteDataset([[[0.0], [value / 100.0]], [2.0]], labels)
    assert world_counts(fine, [[1.0]], 1, metric).sum() == 2


@every_query
def test_data_must_be_an_incomplete_dataset(ask: object) -> None:
    expected = r"data must be an IncompleteDataset or a table; got list\. Wrap candidates"
    with pytest.raises(QueryError, match=expected):
        ask([[[0.0]]], [[0.0]], 1)


# -- what looks odd but is legal -------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 2, 3])
def test_one_class_only(k: int) -> None:
    data = IncompleteDataset([[[1.0], [2.0]], [[0.0], [3.0], [4.0]], [5.0]], ["only"] * 3)
    X = [[0.0], [2.5]]
    assert possible_labels(data, X, k).tolist() == [[True], [True]]
    assert is_certain(data, X, k).tolist() == [True, True]
    assert world_counts(data, X, k).tolist() == [[6], [6]]
    assert world_shares(data, X, k).tolist() == [[1.0], [1.0]]
    assert entropies(data, X, k).tolist() == [0.0, 0.0]
    assert expected_entropies(data, X, k).tolist() == [0.0, 0.0, 0.0]
    given = conditional_shares(data, X[0], k)
    assert [one.tolist() for one in given] == [[[1.0]] * 2, [[1.0]] * 3, [[1.0]]]


def test_one_row_only() -> None:
    data = IncompleteDataset([[[1.0], [2.0], [2.0]]], ["a"])
    assert world_counts(data, [[0.0]], 1).tolist() == [[3]]
    assert world_shares(data, [[0.0]], 1).tolist() == [[1.0]]
    assert expected_entropies(data, [[0.0]], 1).tolist() == [0.0]
    assert [one.tolist() for one in conditional_shares(data, [0.0], 1)] == [[[1.0]] * 3]


def test_one_candidate_everywhere() -> None:
    data = IncompleteDataset([[1.0], [2.0], [3.0]], ["a", "b", "b"])
    assert data.n_worlds == 1
    assert world_counts(data, [[0.0]], 3).tolist() == [[0, 1]]
    assert expected_entropies(data, [[0.0]], 1).tolist() == [0.0, 0.0, 0.0]


def test_negative_zero_is_zero() -> None:
    data = IncompleteDataset([[[0.0], [1.0]], [-0.0]], ["b", "a"])
    X = [[0.0], [-0.0]]
    expected = [[1, 1], [1, 1]]
    for metric in ("euclidean", "manhattan", "chebyshev"):
        assert world_counts(data, X, 1, metric).tolist() == expected
    for metric in ("linear", "cosine"):
        assert world_counts(data, X, 1, metric).tolist() == [[0, 2], [0, 2]]


# -- the errors themselves -------------------------------------------------------------------------


def test_errors_are_also_of_the_usual_kind() -> None:
    assert issubclass(QueryError, CPCleanError)
    assert issubclass(QueryError, ValueError)


def test_offenders() -> None:
    assert offenders([]) == ""
    assert offenders([1, 2, 3]) == "1, 2, 3"
    assert offenders(range(10)) == "0, 1, 2 and 7 more"
    assert offenders(["a", "b"], limit=1) == "a and 1 more"
