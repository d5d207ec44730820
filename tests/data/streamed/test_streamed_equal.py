"""A table of files is the table that all rows make in memory, bit for bit."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from slow_cases import rest_slow
from streamed_files import as_arrow, mixed_frame, whole, write_parquet

from cpclean import IncompleteTable, StreamedTable
from cpclean.data.priors import LabelPrior

# The way tables are read is forced into many batches by a small limit.
SMALL = 2**20

CHOICES: list[dict[str, Any]] = [
    {},
    {"prior": "uniform", "scaling": "standard"},
    {"prior": "observed", "scaling": "none", "weights": {"city": 2.0, "grade": 0.0}},
    {"prior": LabelPrior(3.0), "max_exact": 20, "n_draws": 10, "random_state": 7},
    {"repairs": "observed"},
    {"repairs": {"city": ["Ulm", "Rom"], "grade": [1.5, 9.0]}, "prior": {"city": {"Ulm": 3}}},
    {"kinds": {"grade": "categorical", "city": "categorical"}, "categories": {"city": ["Rom"]}},
    {"kinds": {"since": "numeric", "member": "numeric"}},
    {"null_tokens": ["Ulm", "2"]},
]


def assert_same(streamed: StreamedTable, table: IncompleteTable) -> None:
    assert whole(streamed) == table.dataset
    assert streamed.report == table.report
    assert streamed.space == table.space
    assert streamed.n_worlds == table.dataset.n_worlds
    assert streamed.column_values == table.column_values
    for mine, theirs in zip(streamed.columns, table.columns, strict=True):
        marks = ("name", "kind", "whole", "given", "rounded", "zone")
        assert [getattr(mine, one) for one in marks] == [getattr(theirs, one) for one in marks]


def assert_same_points(streamed: StreamedTable, table: IncompleteTable, points: Any) -> None:
    one, two = streamed.points(points), table.points(points)
    assert np.array_equal(one.vectors, two.vectors)
    assert np.array_equal(one.weight, two.weight)
    assert np.array_equal(one.owner, two.owner)


@pytest.mark.parametrize("choice", [0, 3, 5, 8])
def test_a_table_of_files_is_the_table_in_memory(choice: int, tmp_path: Path) -> None:
    frame, options = mixed_frame(choice), {"label": "y", **CHOICES[choice]}
    files = write_parquet(frame, tmp_path, n_files=1 + choice % 3, group=7 + 10 * choice)
    streamed = StreamedTable(files, memory=SMALL, **options)
    table = IncompleteTable(as_arrow(frame), **options)
    assert_same(streamed, table)
    assert_same_points(streamed, table, as_arrow(mixed_frame(99, 9, holes=0.3).drop(columns="y")))


@pytest.mark.slow
@pytest.mark.parametrize("choice", range(len(CHOICES)))
def test_many_tables_of_files_are_the_tables_in_memory(choice: int, tmp_path: Path) -> None:
    for seed in range(12):
        folder = tmp_path / str(seed)
        folder.mkdir()
        frame = mixed_frame(100 * choice + seed, 20 + 13 * seed, holes=0.05 * (1 + seed % 5))
        options = {"label": "y", **CHOICES[choice]}
        try:
            table = IncompleteTable(as_arrow(frame), **options)
        except ValueError:
            continue
        streamed = StreamedTable(write_parquet(frame, folder, 3, 1 + 4 * seed), **options)
        assert_same(streamed, table)


def test_batches_do_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = mixed_frame(3, 60)
    (file,) = write_parquet(frame, tmp_path, 1, 60)
    table = IncompleteTable(as_arrow(frame), "y")
    for rows in (1, 7, 60):
        monkeypatch.setattr("cpclean.data.streamed.row_batches._LEAST_ROWS", rows)
        monkeypatch.setattr("cpclean.data.streamed.row_batches._MOST_ROWS", rows)
        assert_same(StreamedTable(file, "y"), table)


def test_a_forest_is_learnt_from_all_rows_of_a_small_table(tmp_path: Path) -> None:
    frame = mixed_frame(4, 80)
    streamed = StreamedTable(write_parquet(frame, tmp_path), "y", space="forest")
    table = IncompleteTable(as_arrow(frame), "y", space="forest")
    assert_same(streamed, table)
    assert streamed.recipe.trees is not None
    assert table.dataset.space is not None
    assert streamed.recipe.trees.digest == table.dataset.space.digest


@pytest.mark.parametrize("seed", [0, 5])
def test_rows_in_a_random_order(seed: int, tmp_path: Path) -> None:
    from cpclean import CleaningSession, LeafSpace, gather

    frame = mixed_frame(4, 90).sort_values("y", kind="stable").reset_index(drop=True)
    space = LeafSpace(n_trees=5)
    streamed = StreamedTable(write_parquet(frame, tmp_path), "y", space=space, memory=SMALL)
    table = IncompleteTable(as_arrow(frame), "y", space=space).shuffled(seed)
    mixed = streamed.shuffled(seed)
    assert whole(mixed) == table.dataset
    points = as_arrow(mixed_frame(9, 5).drop(columns="y"))
    near = gather(mixed, points, 4)
    assert 4 < near.n_rows < table.n_rows
    kept = [row for row in table.rows_kept.tolist() if row in set(near.rows_kept.tolist())]
    assert near.rows_kept.tolist() == kept
    one, two = (CleaningSession(one, points, 4) for one in (mixed, table))
    for _ in range(3):
        asked, expected = one.ask(), two.ask()
        assert asked is not None
        assert expected is not None
        assert (asked.row, asked.gain) == (int(table.rows_kept[expected.row]), expected.gain)
        one.tell(asked.row, 0)
        two.tell(expected.row, 0)
        assert one.mean_entropy == two.mean_entropy
    assert whole(streamed) == IncompleteTable(as_arrow(frame), "y", space=space).dataset


@pytest.mark.slow
def test_a_forest_of_a_larger_table_is_learnt_from_a_sample(tmp_path: Path) -> None:
    from cpclean import LeafSpace
    from cpclean.data.streamed.learning_rows import sample_of

    frame = mixed_frame(5, 150)
    files = write_parquet(frame, tmp_path)
    streamed = StreamedTable(files, "y", space=LeafSpace(max_rows=60))
    sample = frame.iloc[sample_of(len(frame), 60, 0)]
    assert len(sample) == 60
    assert streamed.recipe.trees is not None
    again = StreamedTable(files[::-1], "y", space=LeafSpace(max_rows=60))
    assert again.recipe.trees is not None
    assert streamed.recipe.trees.digest != again.recipe.trees.digest  # other rows
    assert np.array_equal(sample_of(10, 10, 3), np.arange(10))


def test_thousands_of_categories_and_whole_numbers(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    n_rows = 3000
    frame = pd.DataFrame(
        {
            "code": [f"c{one}" for one in rng.integers(0, 2000, n_rows)],
            "number": np.arange(n_rows),
            "large": pd.array([2**53 + 2 * one for one in range(n_rows)], dtype="Int64"),
            "text": rng.choice(["1", "2", "?"], n_rows),
            "nothing": pd.array([None] * n_rows, dtype="Int64"),
            "same": 4.0,
            "y": rng.integers(0, 2, n_rows),
        }
    ).mask(rng.random((n_rows, 7)) < [0.1, 0, 0, 0, 0, 0.1, 0])
    options: dict[str, Any] = {"label": "y", "null_tokens": ["?"], "max_exact": 10}
    (file,) = write_parquet(frame, tmp_path, 1, 500)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the empty column
        streamed = StreamedTable(file, **options, memory=SMALL)
        table = IncompleteTable(as_arrow(frame), **options)
    assert_same(streamed, table)
    assert [one.decision.code for one in streamed.report] == [
        "many_categories",
        "row_number",
        "kept",
        "kept",
        "unobserved",
        "constant",
    ]


def test_rounded_numbers_are_told_once(tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": [2**53 + one for one in range(9)], "y": list("abcabcabc")})
    (file,) = write_parquet(frame, tmp_path, 1, 2)
    with pytest.warns(UserWarning, match="rounded in column 'id'") as told:
        streamed = StreamedTable(file, "y")
    assert len(told) == 1
    with pytest.warns(UserWarning, match="rounded"):
        assert_same(streamed, IncompleteTable(as_arrow(frame), "y"))
    options: dict[str, Any] = {"label": "y", "kinds": {"id": "categorical"}}
    assert_same(StreamedTable(file, **options), IncompleteTable(as_arrow(frame), **options))


def test_rows_without_a_label_can_be_left_out(tmp_path: Path) -> None:
    frame = mixed_frame(6, 50)
    frame.loc[[3, 30], "y"] = None
    files = write_parquet(frame, tmp_path)
    with pytest.raises(ValueError, match="every row needs a label; missing in row 3"):
        StreamedTable(files, "y")
    streamed = StreamedTable(files, "y", drop_unlabelled=True)
    table = IncompleteTable(as_arrow(frame), "y", drop_unlabelled=True)
    assert_same(streamed, table)
    assert streamed.n_rows == 48
    assert streamed.row(4) == table.row(3)
    with pytest.raises(KeyError, match="row 3 has no label"):
        streamed.row(3)


def test_rows_with_nothing_but_a_label_can_be_left_out(tmp_path: Path) -> None:
    frame = mixed_frame(6, 50)
    frame.loc[[4, 31], frame.columns != "y"] = None
    files = write_parquet(frame, tmp_path)
    with pytest.raises(ValueError, match=r"nothing is known of row 4, 31\. Pass drop_empty=True"):
        StreamedTable(files, "y")
    streamed = StreamedTable(files, "y", drop_empty=True)
    assert_same(streamed, IncompleteTable(as_arrow(frame.drop(index=[4, 31])), "y"))
    assert streamed.n_rows == 48


@pytest.mark.parametrize("part", rest_slow([200, 1 << 23]))
def test_text_files(part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cpclean.data.streamed.text_parts.PART_BYTES", part)
    frame = mixed_frame(7, 90)
    frame["note"] = [['a "b"', "one\ntwo", "x,y", None][one % 4] for one in range(len(frame))]
    frame["late"] = [1.5] * 80 + ["text"] * (len(frame) - 80)
    frame["rare"] = [None] * 85 + [3] * (len(frame) - 85)
    frame["truth"] = [True] * 40 + [None] * 20 + [False] * (len(frame) - 60)
    frame["code"] = [f"00{one % 7}" for one in range(len(frame))]
    path = tmp_path / "all.csv"
    frame.to_csv(path, index=False)
    options: dict[str, Any] = {"label": "y", "kinds": {"since": "date", "code": "categorical"}}
    streamed = StreamedTable(path, **options)
    assert len(streamed.pieces) == (1 if part > 10**6 else len(streamed.pieces))
    table = IncompleteTable(pd.read_csv(path, dtype={"code": str}, low_memory=False), **options)
    assert_same(streamed, table)
    assert streamed.row(1)["note"] == "one\ntwo"
    assert streamed.row(8)["code"] == "001"


def test_text_with_null_tokens_is_numbers_again(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"a": ["1", "2", "4", "?", "3", "9"], "b": list("xyxxyx"), "y": [0, 1] * 3}
    )
    (file,) = write_parquet(frame, tmp_path, 1, 1)
    for tokens in ((), ("?",), ("?", "y")):
        options: dict[str, Any] = {"label": "y", "null_tokens": tokens}
        assert_same(StreamedTable(file, **options), IncompleteTable(as_arrow(frame), **options))
