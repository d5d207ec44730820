"""The rows that are gathered for points answer as all rows do, bit for bit."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from slow_cases import rest_slow
from streamed_files import as_arrow, mixed_frame, write_parquet

from cpclean import (
    CleaningSession,
    IncompleteTable,
    LeafSpace,
    StreamedTable,
    conditional_shares,
    entropies,
    expected_entropies,
    gather,
    is_certain,
    is_sure,
    possible_labels,
    share_errors,
    verdicts,
    world_counts,
    world_shares,
)
from cpclean.errors import QueryError
from cpclean.queries.gather import near_rows
from cpclean.queries.model import Model
from cpclean.queries.near_scan import gather_for_answers, merged, scan

PLAIN = [is_certain, possible_labels, world_shares, entropies, verdicts]
CASES: list[dict[str, Any]] = [
    {"k": 3},
    {"k": 1, "metric": "manhattan", "prior": "uniform"},
    {"k": 4, "metric": "cosine", "prior": "observed"},
    {"k": 3, "max_exact": 8, "n_draws": 6},
    {"k": 5, "space": LeafSpace(n_trees=6)},
    {"k": 3, "space": LeafSpace("random", n_trees=12), "max_exact": 8, "n_draws": 6},
]


def tables(
    case: dict[str, Any], seed: int, folder: Path, n_rows: int
) -> tuple[StreamedTable, IncompleteTable]:
    frame = mixed_frame(seed, n_rows)
    options = {name: one for name, one in case.items() if name not in ("k", "metric")}
    files = write_parquet(frame, folder, n_files=2, group=9 + seed % 20)
    streamed = StreamedTable(files, "y", memory=2**20, **options)
    return streamed, IncompleteTable(as_arrow(frame), "y", **options)


def assert_same_answers(case: dict[str, Any], seed: int, folder: Path, n_rows: int) -> None:
    streamed, table = tables(case, seed, folder, n_rows)
    asked = as_arrow(mixed_frame(1000 + seed, 7).drop(columns="y"))
    points = streamed.points(asked)
    near = gather(streamed, points, case["k"], case.get("metric"))
    model = (case["k"], case.get("metric", "euclidean"))
    for query in [*PLAIN, *([world_counts] if table.is_exact else [])]:
        one, two = query(near.dataset, points, *model), query(table.dataset, points, *model)
        assert np.array_equal(one, two), query.__name__
    gains = expected_entropies(table.dataset, points, *model)[near.rows_kept]
    assert np.array_equal(expected_entropies(near.dataset, points, *model), gains)
    expected = near_rows(table.dataset, points, Model(*model))
    assert np.isin(expected, near.rows_kept).all()
    assert near.dataset.n_worlds == table.dataset.n_worlds
    for row in (0, len(near.rows_kept) - 1):
        own = int(near.rows_kept[row])
        assert near.row(row) == table.row(own)
        assert near.options_of(row) == table.options_of(own)


@pytest.mark.parametrize("case", [0, 3, 4])
def test_gathered_rows_answer_as_all_rows(case: int, tmp_path: Path) -> None:
    assert_same_answers(CASES[case], case, tmp_path, 110)


@pytest.mark.parametrize("seed", [11, 36])
def test_rows_as_far_as_the_last_of_the_nearest_leaves_are_added_up(
    seed: int, tmp_path: Path
) -> None:
    assert_same_answers({"k": 3, "space": LeafSpace(n_trees=5)}, seed, tmp_path, 100)


@pytest.mark.slow
@pytest.mark.parametrize("case", range(len(CASES)))
def test_many_gathered_rows_answer_as_all_rows(case: int, tmp_path: Path) -> None:
    for seed in range(8):
        folder = tmp_path / str(seed)
        folder.mkdir()
        assert_same_answers(CASES[case], 10 * case + seed, folder, 30 + 40 * seed)


@pytest.mark.nojit
def test_gather_without_the_compiler(tmp_path: Path) -> None:
    streamed, table = tables({"k": 2}, 6, tmp_path, 30)
    asked = as_arrow(mixed_frame(8, 2, holes=0.0).drop(columns="y"))
    near = gather(streamed, asked, 2)
    points = table.points(asked)
    assert np.isin(near_rows(table.dataset, points, Model(2)), near.rows_kept).all()
    one, two = (is_certain(data, points, 2) for data in (near.dataset, table.dataset))
    assert one.tolist() == two.tolist()


@pytest.mark.nojit
def test_pieces_can_be_scanned_anywhere_in_any_order(tmp_path: Path) -> None:
    streamed, table = tables({"k": 3}, 2, tmp_path, 70)
    asked = as_arrow(mixed_frame(5, 2, holes=0.0).drop(columns="y"))
    points, model = streamed.points(asked), Model(3)
    recipe = pickle.loads(pickle.dumps(streamed.recipe))  # as another process gets it
    assert len(streamed.pieces) > 1
    first = scan(recipe, streamed.pieces[0], points, model)
    others = [
        pickle.loads(pickle.dumps(scan(recipe, piece, points, model, first.rows)))
        for piece in streamed.pieces[1:]
    ]
    found = merged(recipe, [*others[::-1], first], points, model)
    assert found.rows is not None
    expected = near_rows(table.dataset, points, model)
    assert found.rows.numbers.tolist() == expected.tolist()
    assert found.facts.n_rows == table.n_rows
    assert first.rows is not None
    assert len(first.rows.numbers) < streamed.pieces[0].n_rows


def test_no_points_have_no_answers(tmp_path: Path) -> None:
    streamed, table = tables({"k": 3}, 4, tmp_path, 40)
    none = as_arrow(mixed_frame(6, 2).drop(columns="y")).slice(0, 0)
    for query in PLAIN:
        assert np.array_equal(query(streamed, none), query(table, none)), query.__name__
    assert gather(streamed, none, 2).n_rows == 2
    with pytest.raises(QueryError, match="gather finds rows of a StreamedTable; got Incomplete"):
        gather(table, none)  # type: ignore[arg-type]


def test_conditional_shares_of_gathered_rows(tmp_path: Path) -> None:
    streamed, table = tables({"k": 3}, 3, tmp_path, 80)
    asked = as_arrow(mixed_frame(6, 1, holes=0.0).drop(columns="y"))
    near = gather(streamed, asked, 3)
    (x,) = streamed.encode(asked)
    every = conditional_shares(table.dataset, x)
    for place, row in enumerate(near.rows_kept.tolist()):
        assert np.array_equal(conditional_shares(near.dataset, x)[place], every[row])


@pytest.mark.nojit
def test_models_that_have_to_see_every_row_are_refused(tmp_path: Path) -> None:
    streamed, _ = tables({"k": 3}, 5, tmp_path, 40)
    points = as_arrow(mixed_frame(7, 2).drop(columns="y"))
    for metric in ("precomputed", lambda x, t: 0.0, "unknown"):
        with pytest.raises(ValueError, match="metric must be one of"):
            gather(streamed, points, 3, metric)
    for number in (0, 41, True, 2.5):
        with pytest.raises(ValueError, match=r"n_neighbors must be an int in \[1, "):
            gather(streamed, points, number)  # type: ignore[arg-type]


def test_queries_take_tables_and_frames(tmp_path: Path) -> None:
    streamed, table = tables({"k": 3}, 4, tmp_path, 60)
    asked = as_arrow(mixed_frame(1004, 6))  # with holes, and with a label, which is ignored
    points = table.points(asked)
    for query in [*PLAIN, share_errors, is_sure, world_counts]:
        expected = query(table.dataset, points, 2)
        for data, X in ((table, asked), (table, points), (streamed, asked), (streamed, points)):
            assert np.array_equal(query(data, X, 2), expected), query.__name__
        assert np.array_equal(query(data=streamed, X=asked, n_neighbors=2), expected)
    near = gather(streamed, asked, 2)
    some, every = expected_entropies(near, asked, 2), expected_entropies(table, points, 2)
    assert some.tolist() == every[near.rows_kept].tolist()
    one = asked.slice(0, 1)
    shares = conditional_shares(table, one, 2)
    for row, own in zip(near.rows_kept, conditional_shares(near, one, 2), strict=True):
        assert np.array_equal(own, shares[row])
    for query in (expected_entropies, conditional_shares):
        with pytest.raises(QueryError, match=r"a result for every row.* near = gather\(table"):
            query(streamed, one, 2)


@pytest.mark.parametrize("holes", rest_slow([0.3, 0.02, 1.0]))
def test_rows_that_last_are_enough_whatever_is_answered(holes: float, tmp_path: Path) -> None:
    """Every answer is far from all candidates; what cannot last is said to have rows to spare."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.integers(0, 30, (900, 3)).astype(float), columns=list("abc"))
    frame["y"] = rng.choice(["no", "yes"], len(frame))
    frame.loc[rng.random(len(frame)) < holes, "b"] = None
    frame.loc[895:, ["a", "b", "c"]] = [60.0, 60.0, 60.0]  # complete, and far from the points
    repairs = {"b": [14.0, 15.0, 16.0]}
    streamed = StreamedTable(write_parquet(frame, tmp_path, 2, 200), "y", repairs)
    asked = pd.DataFrame({"a": [3.0, 20.0], "b": 15.0, "c": [7.0, 9.0]})
    points = streamed.points(asked)
    near = gather_for_answers(streamed, points, Model(2))
    assert near.dataset.whole is not None
    assert near.dataset.whole.spare == (None if holes < 1.0 else 256)
    assert near.n_rows < 800
    some = CleaningSession(near, points, 2, random_state=0)
    every = CleaningSession(IncompleteTable(frame, "y", repairs), points, 2, random_state=0)
    for place in near.dataset.dirty_rows[:60].tolist():
        value = {"b": float(rng.choice([-900.0, 15.5, 900.0]))}
        some.tell(place, value=value)
        every.tell(int(near.rows_kept[place]), value=value)
        assert some.certain.tolist() == every.certain.tolist()
        assert some.mean_entropy == every.mean_entropy
    assert some.gains().tolist() == every.gains()[near.rows_kept].tolist()
