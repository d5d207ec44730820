"""Rows in random shards, of tables in memory and of files: what all worlds say, one by one."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import oracle
import pandas as pd
import pytest
from cleaning.small import random_data
from cluster.test_board_contract import Shards
from slow_cases import rest_slow
from streamed_files import as_arrow, mixed_frame, write_parquet

from cpclean import (
    IncompleteDataset,
    IncompleteTable,
    LeafSpace,
    StreamedTable,
    is_certain,
    world_counts,
)
from cpclean.cluster.hands import Hands
from cpclean.queries import row_shards
from cpclean.queries.certain import possible_in_block
from cpclean.queries.gather import around, near_rows
from cpclean.queries.geometry import METRICS, ask, ask_shares
from cpclean.queries.model import Model
from cpclean.queries.near_scan import Scan, merged, scan_pieces
from cpclean.queries.row_shards import among_near, near_in_shards
from cpclean.queries.shares import shares_in_block

SHARDED = sorted(set(METRICS) - {"precomputed"})


@pytest.fixture
def divided(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small tables are divided, too, and few points make many groups."""
    monkeypatch.setattr(row_shards, "LEAST_ROWS", 2)
    monkeypatch.setattr(row_shards, "ROWS_PER_POINT", 0)
    monkeypatch.setattr(row_shards, "_BLOCKS", 1)
    monkeypatch.setattr("cpclean.queries.query.BLOCK_POINTS", 2)


def counts(data: IncompleteDataset, t: list[float], k: int, metric: str) -> list[int]:
    candidates = [data.candidates(row).tolist() for row in range(data.n_rows)]
    codes = data.codes.tolist()
    return oracle.Worlds(candidates, codes, data.n_classes, None, t, k, metric).counts()


@pytest.mark.parametrize("metric", SHARDED)
@pytest.mark.parametrize("group", rest_slow(range(3)))
@pytest.mark.usefixtures("divided")
def test_rows_in_memory(metric: str, group: int) -> None:
    left = 0
    for seed in range(4 * group, 4 * group + 4):
        rng = Random(seed)
        data, k = random_data(rng), rng.randint(1, 4)
        points = np.array([[rng.randint(-3, 3) for _ in range(data.n_features)] for _ in range(5)])
        points[~points.any(axis=1)] = 1  # cosine knows no direction of nothing
        model, hands = Model(min(k, data.n_rows), metric), Hands(cluster=Shards(seed))
        query = ask(data, points.astype(float), model)
        found = near_in_shards(query, hands)
        if model.n_neighbors == data.n_rows:
            assert found is None
            continue
        assert found is not None
        assert found.tolist() == near_rows(data, points.astype(float), model).tolist()
        left += data.n_rows - len(found)
        for work in (possible_in_block, shares_in_block):
            here, there = query.over_blocks(work), among_near(query, hands).over_blocks(work, hands)
            assert all(map(np.array_equal, here, there))
        if np.prod([len(data.candidates(row)) for row in range(data.n_rows)], dtype=float) < 3000:
            parts = among_near(query, hands).over_blocks(possible_in_block, hands)
            for t, possible in zip(query.vectors, np.concatenate(parts), strict=True):
                expected = counts(data, t.tolist(), model.n_neighbors, metric)
                assert possible.tolist() == [one > 0 for one in expected]
        spare = np.array([rng.randint(0, 2) for _ in query.vectors])
        here, there = around(query, spare), around(query, spare, hands)
        assert np.array_equal(here.reach, there.reach)
        assert all(map(np.array_equal, here.rows, there.rows))
    assert left  # or else nothing was left out


@pytest.mark.parametrize("metric", SHARDED)
@pytest.mark.parametrize("group", rest_slow(range(3)))
def test_rows_of_files(metric: str, group: int, tmp_path: Path) -> None:
    left = 0
    for seed in range(2 * group, 2 * group + 2):
        rng, folder = np.random.default_rng(seed), tmp_path / str(seed)
        folder.mkdir()
        frame = pd.DataFrame(rng.integers(1, 4, (14, 2)).astype(float), columns=["a", "b"])
        frame.loc[rng.choice(14, 4, replace=False), "a"] = None
        frame["y"] = rng.choice(["no", "yes"], 14)
        files = write_parquet(frame, folder, 3, int(rng.integers(1, 4)))
        streamed, table = StreamedTable(files, "y"), IncompleteTable(as_arrow(frame), "y")
        asked = pd.DataFrame(rng.integers(1, 4, (2, 2)).astype(float), columns=["a", "b"])
        points, model = streamed.points(as_arrow(asked)), Model(int(rng.integers(1, 4)), metric)
        scan = Scan(streamed.recipe, tuple(streamed.pieces), points, model)
        owner = rng.integers(0, 4, len(scan.pieces))  # who looks at each piece, in which order
        lots = [rng.permutation(np.flatnonzero(owner == one)) for one in rng.permutation(4)]
        parts = [part for lot in lots if len(lot) for part in scan_pieces(scan, lot)]
        found = merged(streamed.recipe, parts, points, model).some_rows
        near = streamed.table_of(found, merged(streamed.recipe, parts, points, model).facts)
        left += streamed.n_rows - near.n_rows
        certain = is_certain(near.dataset, points, model.n_neighbors, metric)
        for point, t in enumerate(streamed.encode(as_arrow(asked)).tolist()):
            expected = counts(table.dataset, t, model.n_neighbors, metric)
            own = points.take(np.array([point]))
            got = world_counts(near.dataset, own, model.n_neighbors, metric)
            assert got.tolist() == [expected]
            assert certain[point] == (sum(map(bool, expected)) == 1)
    assert left


@pytest.mark.parametrize("draws", [{}, {"max_exact": 8, "n_draws": 6}])
@pytest.mark.parametrize("space", ["plain", LeafSpace("random", n_trees=12)])
@pytest.mark.usefixtures("divided")
def test_tables_in_all_spaces(space: Any, draws: dict[str, Any]) -> None:
    """Mixed tables with drawn rows and points with holes; leaves are not divided by rows."""
    for seed in range(3):
        table = IncompleteTable(as_arrow(mixed_frame(seed, 110)), "y", space=space, **draws)
        points = table.points(as_arrow(mixed_frame(500 + seed, 7, holes=0.1).drop(columns="y")))
        hands = Hands(cluster=Shards(seed))
        for made, work in ((ask, possible_in_block), (ask_shares, shares_in_block)):
            query = made(table.dataset, points, Model(3))
            assert (near_in_shards(query, hands) is None) == (space != "plain")
            here, there = query.over_blocks(work), among_near(query, hands).over_blocks(work, hands)
            assert np.array_equal(np.concatenate(here), np.concatenate(there))
        query = ask(table.dataset, points, Model(3))
        spare = np.ones(len(query.vectors), dtype=np.int64)
        one, two = around(query, spare), around(query, spare, hands)
        assert np.array_equal(one.reach, two.reach)
        assert all(map(np.array_equal, one.rows, two.rows))
