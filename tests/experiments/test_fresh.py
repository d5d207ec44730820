"""Fresh spaces: splits, holes, the closest world and default cleaning."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cpclean import IncompleteTable
from cpclean.baselines.source import source_of
from cpclean.baselines.worlds import default_rows
from cpclean.cleaning.truth import closest_candidates
from cpclean.data.columns import OTHER
from cpclean.errors import DataError
from cpclean.experiments.fresh import (
    TABLES,
    Sizes,
    Whole,
    fresh_space,
    generated_table,
    load_table,
)
from cpclean.experiments.inject import INJECTIONS

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
SMALL = Sizes(train=60, val=20, test=30)


@pytest.mark.parametrize("name", ["numbers", "mixed"])
@pytest.mark.parametrize("kind", INJECTIONS)
def test_a_fresh_space(name: str, kind: str) -> None:
    space = fresh_space(generated_table(name), kind, seed=1, sizes=SMALL)
    assert (space.table.n_rows, len(space.X_val), len(space.X_test)) == (60, 20, 30)
    assert space.table.holes.sum() == round(0.2 * space.table.holes.size)
    kept = np.setdiff1d(np.arange(60), space.table.dataset.dirty_rows)
    for world in (space.closest_world(), space.default):
        assert world[kept].tolist() == space.clean[kept].tolist()
        assert (world != space.clean).any()


def test_the_closest_world_is_the_nearest_of_all_candidates() -> None:
    space = fresh_space(generated_table("numbers"), "random", seed=2, sizes=SMALL)
    data = space.table.dataset
    for row in data.dirty_rows.tolist():
        gaps = ((data.candidates(row) - space.clean[row]) ** 2).sum(axis=1)
        assert gaps[space.truth[row]] == pytest.approx(gaps.min(), abs=1e-12)


def test_a_category_that_is_not_listed_is_other() -> None:
    frame = pd.DataFrame({"c": [*"aabbccddex", None, None], "k": range(12)})
    table = IncompleteTable(frame, list("NP") * 6, categories={"c": ["w"]})
    clean = table.encode(frame.assign(c=[*"aabbccddex", "b", "w"]))
    truth = closest_candidates(table.dataset, clean, table)
    assert table.candidates(10)[truth[10]] == {"c": "b"}
    assert table.candidates(11)[truth[11]] == {"c": OTHER}


def test_default_cleaning_is_mean_and_mode() -> None:
    frame = pd.DataFrame(
        {
            "n": [0.0, 0.0, 9.0, None],
            "c": ["a", "b", "b", None],
            "f": [True, True, None, False],
            "y": [0, 1, 0, 1],
        }
    )
    table = IncompleteTable(frame, "y")
    filled = frame.fillna({"n": 3.0, "c": "b"}).assign(f=[True, True, True, False])
    assert default_rows(source_of(table)).tolist() == table.encode(filled).tolist()


def test_splits_differ_by_seed_and_points_are_no_training_rows() -> None:
    whole = generated_table("numbers")
    spaces = [fresh_space(whole, "random", seed, SMALL) for seed in (0, 0, 1)]
    assert spaces[0].clean.tolist() == spaces[1].clean.tolist()
    assert spaces[0].table.dataset == spaces[1].table.dataset
    assert spaces[0].clean.tolist() != spaces[2].clean.tolist()
    rows = {tuple(row) for row in spaces[0].clean.round(9).tolist()}
    for points in (spaces[0].X_val, spaces[0].X_test):
        assert not rows & {tuple(row) for row in points.round(9).tolist()}


def test_a_small_table_gives_a_quarter_to_points_each() -> None:
    whole = generated_table("mixed", n_rows=40)
    space = fresh_space(whole, "random", 0, Sizes(100, 100, 100))
    assert (space.table.n_rows, len(space.X_val), len(space.X_test)) == (20, 10, 10)
    with pytest.raises(DataError, match="table mixed needs at least 8 rows to be split; got 7"):
        fresh_space(Whole("mixed", whole.frame.head(7), whole.labels[:7]), "random", 0)


def test_a_table_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"there is no table Bank: .*data.csv is missing"):
        load_table(tmp_path, "Bank")


@pytest.mark.skipif(
    not (DATA / "tables").is_dir(), reason="the tables are looked for in ../shared/data"
)
@pytest.mark.parametrize("name", TABLES)
def test_tables_are_complete(name: str) -> None:
    whole = load_table(DATA, name)
    assert not whole.frame.isna().any().any()
    assert len(whole.labels) == len(whole.frame) > 2000
    assert "rownames" not in whole.frame.columns
    space = fresh_space(whole, "high", 0, SMALL)
    assert len(space.table.dataset.dirty_rows) > 30
