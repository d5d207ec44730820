"""Points: entries with an owner and a weight; equal vectors are stored once."""

import numpy as np
import pytest

from cpclean import Cell, FactoredRow
from cpclean.data.points import Points

GIVEN = np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0], [5.0, 6.0], [3.0, 4.0]])


def test_equal_vectors_are_stored_once():
    points = Points.of(GIVEN)
    assert points.vectors.tolist() == [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    assert np.array_equal(points.all_vectors(), GIVEN)
    assert points.vector_weights.tolist() == [2.0, 2.0, 1.0]
    assert points.n_points == 5


def test_without_merging_vectors_keep_their_order():
    points = Points.of(GIVEN, merge=False)
    assert np.array_equal(points.vectors, GIVEN)
    assert points.vector.tolist() == [0, 1, 2, 3, 4]


def test_the_callers_array_is_copied():
    mine = GIVEN.copy()
    points = Points.of(mine)
    mine[:] = 0.0
    assert np.array_equal(points.all_vectors(), GIVEN)


def test_no_points():
    points = Points.of(np.empty((0, 3)))
    assert points.n_points == 0
    assert points.mixed(np.empty((0, 2))).shape == (0, 2)
    assert points.having(np.array([0])).tolist() == []


def several() -> Points:
    """Two points: one of three entries, one of a single entry that shares a vector."""
    return Points([[[0.0], [1.0], [2.0]], [[1.0]]], [[0.5, 0.25, 0.25], None])


def test_shares_are_mixed_by_weight():
    found = several().mixed(np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]))
    assert found.tolist() == [[0.625, 0.375], [0.0, 1.0]]


def test_counts_are_added_up():
    found = several().mixed(np.array([[10**30, 0], [1, 1], [0, 2]], dtype=object))
    assert found.tolist() == [[10**30 + 1, 3], [1, 1]]


def test_what_holds_for_one_entry_holds_for_the_point():
    found = several().union(np.array([[True, False], [False, True], [False, False]]))
    assert found.tolist() == [[True, True], [False, True]]


def test_points_that_have_a_vector():
    assert several().having(np.array([1])).tolist() == [0, 1]
    assert several().having(np.array([2])).tolist() == [0]
    assert several().vector_weights.tolist() == [0.5, 1.25, 0.25]


def test_some_points_in_another_order():
    points = Points(
        [
            [[0.0, 0.0], [1.0, 0.0]],
            FactoredRow([0.0, 0.0], [Cell(0, [0.0, 1.0]), Cell(1, [3.0, 4.0])]),
            [[2.0, 0.0]],
            [[5.0, 0.0], [0.0, 0.0]],
        ],
        [[0.25, 0.75], None, None, None],
        max_exact=2,
        n_draws=2,
    )
    some = points.take(np.array([3, 1, 0]))
    assert (some.n_points, some.drawn.tolist()) == (3, [1])
    for place, number in enumerate((3, 1, 0)):
        own, theirs = some.entries(place), points.entries(number)
        assert np.array_equal(some.vectors[some.vector[own]], points.vectors[points.vector[theirs]])
        assert some.weight[own].tolist() == points.weight[theirs].tolist()
    assert some.cells.stored_row(1).cells[0].values.tolist() == [[0.0], [1.0]]
    assert points.take(np.array([2, 0])).cells is None


def test_a_point_of_several_entries_has_no_one_vector():
    with pytest.raises(AssertionError, match="has no one vector"):
        several().all_vectors()


def test_distinct_vectors_are_those_of_a_dict():
    rng = np.random.default_rng(0)
    for size in (0, 1, 2, 7, 200):
        given = rng.integers(-1, 2, (size, 3)) * 0.5
        points = Points.of(given)
        expected = dict.fromkeys(map(bytes, given))  # -0.0 is another vector than 0.0
        assert list(map(bytes, points.vectors)) == list(expected)
        assert np.array_equal(points.all_vectors(), given)


def test_points_without_features_are_all_the_same():
    points = Points.of(np.empty((3, 0)))
    assert points.vectors.shape == (1, 0)
    assert points.vector.tolist() == [0, 0, 0]
