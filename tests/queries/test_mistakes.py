"""Mistakes that are easy to make: each error says what is wrong and the way out."""

import numpy as np
import pytest

from cpclean import Cell, FactoredRow, IncompleteDataset, conditional_shares, is_certain
from cpclean.errors import DataError, QueryError, UnknownRowError

DATA = IncompleteDataset([[[0.0], [5.0]], [[1.0]], [[6.0]]], ["a", "b", "b"])


@pytest.mark.parametrize("row", [1.5, True, "a", None])
def test_a_row_is_named_by_an_int(row):
    with pytest.raises(UnknownRowError, match=r"row must be an int in \[0, 2\].*got "):
        DATA.pin(row, 0)


@pytest.mark.parametrize("candidate", [0.5, True, "a"])
def test_a_candidate_is_named_by_an_int(candidate):
    with pytest.raises(UnknownRowError, match=r"row 0 has candidates 0 to 1; got candidate"):
        DATA.pin(0, candidate)


def test_pin_wants_one_of_two():
    for arguments in ({}, {"candidate": 0, "value": [1.0]}):
        with pytest.raises(DataError, match="candidate or a value, one of the two"):
            DATA.pin(0, **arguments)


@pytest.mark.parametrize(
    ("candidates", "labels", "priors", "message"),
    [
        ([1.0, 2.0], [0, 1], None, r"row 0 must have shape \(m, n_features\); got the number 1.0"),
        (None, [0], None, "candidates must be a sequence .* got NoneType"),
        ([[[1.0]]], None, None, "labels must be a sequence .* got NoneType"),
        ([[[1.0]]], 3, None, "labels must be a sequence .* got int"),
        ([[[1.0]]], [0], 1, "priors must be a sequence .* got int"),
        ([[[1.0, 2.0], [3.0]]], [0], None, "row 0 must be vectors of equal length"),
        ([FactoredRow([1.0], None)], [0], None, "cells of row 0 must be a sequence .* NoneType"),
        ([FactoredRow([1.0], [(0, [1, 2])])], [0], None, "must be of class Cell; got tuple"),
        ([FactoredRow([1.0], Cell(0, [1, 2]))], [0], None, "must be a sequence of Cell; got Cell"),
    ],
)
def test_data_of_the_wrong_shape(candidates, labels, priors, message):
    with pytest.raises(DataError, match=message):
        IncompleteDataset(candidates, labels, priors)


def test_priors_may_come_from_an_iterator():
    actual = IncompleteDataset([[[0.0], [5.0]]], ["a"], iter([[0.25, 0.75]]))
    assert actual.prior(0).tolist() == [0.25, 0.75]


def test_conditionals_are_of_one_point():
    for points in ([[0.0], [0.0]], np.zeros((2, 1))):
        with pytest.raises(QueryError, match="one query point; got 2"):
            conditional_shares(DATA, points)
    with pytest.raises(QueryError, match="rows of equal length"):
        conditional_shares(DATA, [[0.0], [1.0, 2.0]])


@pytest.mark.parametrize("metric", [["euclidean"], np.zeros(2), None, 3])
def test_a_metric_is_a_name_or_a_function(metric):
    with pytest.raises(QueryError, match=r"metric must be one of chebyshev, .*got "):
        is_certain(DATA, [[0.0]], metric=metric)


@pytest.mark.parametrize("found", [np.zeros(2), "far", None, float("nan")])
def test_a_metric_that_returns_no_number_is_told_where(found):
    with pytest.raises(QueryError, match=r"finite distance; got .* candidate of row 0, and t = "):
        is_certain(DATA, [[0.0]], metric=lambda x, t: found)


def test_one_column_is_singular():
    with pytest.raises(QueryError, match=r"X must have 1 column \("):
        is_certain(DATA, [[0.0, 1.0]])
