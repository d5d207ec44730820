"""The rows of a table in a random order: the same table, and frames as they were."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.impute import SimpleImputer

from cpclean import CleaningSession, IncompleteTable
from cpclean.data.row_order import random_order, reordered
from cpclean.data.task import Task
from cpclean.errors import DataError
from cpclean.projects.project import Project


def frame_of(n_rows=40, seed=0):
    """Whole numbers, categories, truths and dates with holes; means have no rounding errors."""
    rng = np.random.default_rng(seed)
    found = pd.DataFrame(
        {
            "size": rng.integers(0, 4, n_rows).astype(float),
            "hue": rng.choice(["red", "green", "blue"], n_rows),
            "old": rng.choice([True, False], n_rows),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 5, n_rows), "D"),
        }
    ).astype({"hue": object, "old": object})
    found = found.mask(rng.random(found.shape) < 0.2)
    found["size"] = found["size"].fillna({0: 1.0})
    return found.assign(y=rng.choice(["a", "b"], n_rows)).dropna(how="all", subset=found.columns)


REPAIRS = {
    "default": "default",
    "joint": [SimpleImputer(), SimpleImputer(strategy="most_frequent")],
    "listed": {"hue": ["red", "pink"]},
}


@pytest.mark.parametrize("repairs", REPAIRS.values(), ids=REPAIRS)
def test_it_is_the_table_of_a_shuffled_frame(repairs):
    frame = frame_of().reset_index(drop=True)
    table = IncompleteTable(frame, "y", repairs)
    mixed = table.shuffled(5)
    order = mixed.rows_kept
    assert sorted(order) == list(range(len(frame)))
    assert (order != np.arange(len(frame))).any()
    expected = IncompleteTable(frame.iloc[order], "y", repairs)
    assert mixed.dataset.labels.tolist() == expected.dataset.labels.tolist()
    assert_array_equal(mixed.holes, expected.holes)
    for row in range(table.n_rows):
        assert mixed.row(row) == expected.row(row) == table.row(order[row])
        assert mixed.candidates(row) == expected.candidates(row)
        assert mixed.options_of(row) == expected.options_of(row)
        assert_array_equal(mixed.dataset.candidates(row), expected.dataset.candidates(row))
        assert_array_equal(mixed.dataset.prior(row), expected.dataset.prior(row))


def test_frames_come_out_in_the_order_in_which_they_went_in():
    frame = frame_of()
    frame.index = [f"row {number}" for number in range(len(frame))]
    frame.loc["row 3", "y"] = None
    points = frame.drop(columns="y")[:5]
    for given in (frame, pytest.importorskip("polars").from_pandas(frame)):
        table = IncompleteTable(given, "y", drop_unlabelled=True)
        world = CleaningSession(table, points, 1).world()
        again = CleaningSession(table.shuffled(1), points, 1).world()
        assert world.equals(again)


def test_draws_of_a_row_stay_its_own():
    frame = frame_of()
    table = IncompleteTable(frame, "y", max_exact=2, n_draws=4)
    mixed = table.shuffled(2)
    assert len(table.dataset.drawn_rows)
    for row, before in enumerate(mixed.dataset.row_names.tolist()):
        own, other = mixed.dataset.sampled, table.dataset.sampled
        assert_array_equal(own.candidates(row), other.candidates(before))


def test_the_order_is_that_of_the_names_whatever_else_is_there():
    order = random_order(np.arange(100), 7)
    assert sorted(order) == list(range(100))
    assert_array_equal(order, random_order(np.arange(100), 7))
    assert (order != random_order(np.arange(100), 8)).any()
    some = np.array([90, 3, 41, 12])
    found = some[random_order(some, 7)].tolist()
    assert found == [name for name in order.tolist() if name in some]
    # About half of all pairs are the other way round.
    pairs = np.triu(np.argsort(order)[:, None] > np.argsort(order), 1).sum() / 4950
    assert 0.35 < pairs < 0.65


def test_a_seed_that_is_none():
    with pytest.raises(DataError, match=r"random_state must be an int in \[0, 2\*\*64\); got -1"):
        IncompleteTable(frame_of(), "y").shuffled(-1)


def test_shuffled_tables_are_saved():
    frame = frame_of(60)
    table = IncompleteTable(frame[:40], "y", space="forest").shuffled()
    points = frame[40:].drop(columns="y")
    project = Project.make(Task.of(table, points))
    again = Project.from_bytes(project.to_bytes())
    assert_array_equal(again.table.rows_kept, table.rows_kept)
    assert_array_equal(again.task.row_names, table.rows_kept)
    assert again.digest() == project.digest()
    one, other = project.session(), again.session()
    assert repr(one.ask()) == repr(other.ask())
    assert one.world().equals(other.world())


def test_all_rows_once():
    table = IncompleteTable(frame_of(), "y")
    back = np.argsort(table.shuffled(1).rows_kept)
    again = IncompleteTable.from_parts(reordered(table.shuffled(1).parts, back))
    assert again.dataset == table.dataset
    assert dict(again.options) == dict(table.options)
