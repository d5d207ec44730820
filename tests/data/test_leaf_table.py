"""Tables among the leaves of trees: what is asked of them, and what is refused."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

from cpclean import CleaningSession, IncompleteTable, is_certain, world_counts, world_shares
from cpclean.data.spaces.leaf_space import LeafSpace
from cpclean.errors import TableError


def frame(seed: int = 0, n_rows: int = 60) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    size, hue = rng.normal(size=n_rows), rng.choice(["red", "green", "blue"], n_rows)
    old = rng.random(n_rows) < 0.5
    y = np.where((size > 0) ^ (hue == "red"), "yes", "no")
    made = pd.DataFrame({"size": size, "hue": hue, "old": old, "y": y}).astype({"old": object})
    for column in ("size", "hue", "old"):
        made.loc[rng.random(n_rows) < 0.08, column] = None
    return made


NEW = {"size": 0.123, "hue": "violet", "old": True}  # no candidates, or hardly any
SMALL = LeafSpace(n_trees=12, n_worlds=3)


@pytest.mark.parametrize("space", [SMALL, LeafSpace("random", 20), LeafSpace("extra", 12)])
def test_worlds_of_a_table_are_counted_among_leaves(space: LeafSpace) -> None:
    table = IncompleteTable(frame(), label="y", space=space)
    points = table.points(frame(1, 30).drop(columns="y"))
    shares, counts = world_shares(table.dataset, points, 5), world_counts(table.dataset, points, 5)
    certain = is_certain(table.dataset, points, 5)
    assert (certain == ((counts > 0).sum(axis=1) == 1)).all()
    assert 0 < certain.sum() < 30
    assert shares.sum(axis=1) == pytest.approx(np.ones(30))
    truth = frame(1, 30)["y"].to_numpy()
    if space.kind != "random":
        assert (table.dataset.classes[shares.argmax(axis=1)] == truth).mean() > 0.6


def test_the_same_table_has_the_same_trees() -> None:
    one, two, other = (
        IncompleteTable(frame(), label="y", space=SMALL, random_state=seed) for seed in (1, 1, 2)
    )
    assert one.dataset == two.dataset
    assert one.dataset.space.digest == two.dataset.space.digest != other.dataset.space.digest
    assert pickle.loads(pickle.dumps(one)).dataset == one.dataset


def test_scales_and_orders_of_numbers_only_matter_as_an_order() -> None:
    given = frame().dropna()
    scaled = given.assign(size=given["size"] * 4096)
    one, two = (IncompleteTable(each, label="y", space=SMALL) for each in (given, scaled))
    points = given.drop(columns="y")[:20]
    far = points.assign(size=points["size"] * 4096)
    found = [
        world_shares(table.dataset, table.points(asked), 5).tolist()
        for table, asked in ((one, points), (two, far))
    ]
    assert found[0] == found[1]


def test_a_session_among_leaves() -> None:
    table = IncompleteTable(frame(), label="y", space=SMALL)
    session = CleaningSession(table, frame(1, 25).drop(columns="y"), n_neighbors=5)
    begun = session.certain_share
    question = session.ask()
    assert question is not None
    session.tell(question.row, value={cell.column: NEW[cell.column] for cell in question.cells})
    for _ in range(200):
        if (question := session.ask()) is None:
            break
        session.tell(question.row, candidate=0)
    assert session.certain_share == 1.0 > begun
    # A completion of a point is certain by itself.
    vectors = table.session_points(frame(1, 25).drop(columns="y")).vectors
    assert is_certain(session.data, vectors, 5).all()


@pytest.mark.parametrize("space", ["woods", None, 3, object()])
def test_what_is_no_space(space: object) -> None:
    with pytest.raises(TableError, match=r"space must be one of 'plain', 'forest'.*got"):
        IncompleteTable(frame(), label="y", space=space)


def test_weights_mean_nothing_to_trees() -> None:
    with pytest.raises(TableError, match=r"a weight can only be 0.*or 1; got \{'size': 2.0\}"):
        IncompleteTable(frame(), label="y", space=SMALL, weights={"size": 2.0})
    left = IncompleteTable(frame(), label="y", space=SMALL, weights={"size": 0.0, "hue": 1.0})
    assert left.space.features[0] is None


@pytest.mark.filterwarnings("ignore:all rows have the label")
def test_one_class_has_no_forest() -> None:
    given = frame().assign(y="no")
    with pytest.raises(Exception, match="a forest is learnt from rows of at least two classes"):
        IncompleteTable(given, label="y", space="forest")
