"""Task: training data, points, labels and names as one value."""

import numpy as np
import pandas as pd
import pytest

from cpclean import IncompleteDataset, IncompleteTable
from cpclean.cleaning.session import CleaningSession
from cpclean.data.points import Points
from cpclean.data.task import Task
from cpclean.errors import TableError

FRAME = pd.DataFrame({"age": [18, None, 65], "size": [1, 2, 3], "buys": ["no", "yes", "yes"]})
POINTS = pd.DataFrame({"age": [20, 40], "size": [2, 2]})


def test_of_a_table():
    table = IncompleteTable(FRAME, label="buys")
    task = Task.of(table, POINTS, ["no", "yes"], row_names=[4, 7, 9], frame=FRAME)
    assert task.table is table
    assert task.dataset is table.dataset
    assert np.array_equal(task.points.all_vectors(), table.encode(POINTS))
    assert task.raw_points is POINTS
    assert task.row_named == {4: 0, 7: 1, 9: 2}
    assert task.point_names.tolist() == [0, 1]
    assert task.labels.tolist() == ["no", "yes"]


def test_of_a_dataset():
    data = IncompleteDataset([[[0.0], [5.0]], [[6.0]]], ["a", "b"])
    task = Task.of(data, [[0.0], [4.0]])
    assert task.table is None
    assert task.dataset is data
    assert task.raw_points is None


def test_points_that_are_encoded_are_not_encoded_again():
    table = IncompleteTable(FRAME, label="buys")
    points = table.points(POINTS)
    assert Task.of(table, points).points is points
    session = CleaningSession(table, points, n_neighbors=1)
    assert session.view.points is points
    again = CleaningSession(table, POINTS, n_neighbors=1)
    assert session.ask().row == again.ask().row
    assert session.mean_entropy == again.mean_entropy


def test_too_few_labels():
    data = IncompleteDataset([[[0.0], [5.0]], [[6.0]]], ["a", "b"])
    with pytest.raises(TableError, match=r"labels must be one per point, 1 in all; got shape"):
        Task.of(data, Points.of([[0.0]]), ["a", "b"])
