"""Sessions over files are, step by step, those over the same table in memory."""

from __future__ import annotations

import json
import pickle
import re
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from slow_cases import rest_slow
from streamed_files import FEATURES, as_arrow, mixed_frame, write_parquet

from cpclean import Between, CleaningSession, CPCleanError, IncompleteTable, StreamedTable, gather
from cpclean.analysis.missing import missing
from cpclean.analysis.summary import summary
from cpclean.cleaning.streamed_session import FileQuestion, StreamedSession
from cpclean.errors import TableError
from cpclean.report import report


def both(
    seed: int, folder: Path, n_rows: int = 90, n_points: int = 5, **options: Any
) -> tuple[Any, CleaningSession]:
    """A session over files, and one over the table in memory."""
    frame = mixed_frame(seed, n_rows)
    points = as_arrow(mixed_frame(500 + seed, n_points).drop(columns="y"))
    streamed = StreamedTable(write_parquet(frame, folder, 2, 11), "y", memory=2**20)
    table = IncompleteTable(as_arrow(frame), "y")
    assert streamed.n_open == len(table.dataset.dirty_rows)
    options.setdefault("random_state", 0)
    return (
        CleaningSession(streamed, points, **options),
        CleaningSession(table, points, **options),
    )


def assert_same_state(one: Any, two: CleaningSession) -> None:
    assert one.certain.tolist() == two.certain.tolist()
    assert one.settled_share == two.settled_share
    assert one.mean_entropy == two.mean_entropy
    assert one.answers == two.answers
    assert one.known == two.known
    gains = two.gains()
    assert one.gains().tolist() == gains[one.near_rows].tolist()
    assert set(np.flatnonzero(gains).tolist()) <= set(one.near_rows.tolist())
    assert [(each.row, each.gain, each.kind) for each in one.history] == [
        (each.row, each.gain, each.kind) for each in two.history
    ]


def far_value(rng: np.random.Generator, table: IncompleteTable, row: int) -> dict[str, Any]:
    """A value for a hole of a row, or for any cell: often one that is no candidate."""
    names = [name for name, value in table.row(row).items() if value is None] or FEATURES
    name = str(rng.choice(names))
    choices: dict[str, list[Any]] = {
        "grade": [0.0, 3.0, 40.0, -25.0],
        "size": [0.0, 5000.0, -9999.0],
        "city": ["Ulm", "Rom"],
        "since": ["2020-02-01", "2031-01-01"],
        "member": [True, False],
    }
    chosen = choices[name][rng.integers(len(choices[name]))]
    if name == "size" and table.row(row)["size"] is None and rng.random() < 0.5:
        return {name: rng.choice(np.array([Between(low=0.0), Between(high=1e6)], dtype=object))}
    return {name: chosen}


def walk(seed: int, folder: Path, steps: int, **options: Any) -> None:
    """Random answers, skips and undos."""
    one, two = both(seed, folder, **options)
    rng, table = np.random.default_rng(seed), two.view.table
    assert table is not None
    for _ in range(steps):
        asked, expected = one.ask(), two.ask()
        assert (asked is None) == (expected is None)
        if asked is not None and expected is not None:
            assert (asked.row, asked.gain) == (expected.row, expected.gain)
            assert asked.candidates == expected.candidates
        chance = rng.random()
        row = int(rng.integers(table.n_rows)) if asked is None or chance < 0.4 else asked.row
        if chance > 0.9 and one.answers:
            one.undo()
            two.undo()
        elif chance > 0.8:
            one.skip(row)
            two.skip(row)
        elif chance < 0.6:
            value = far_value(rng, table, row)
            told = one.tell(row, value=value), two.tell(row, value=value)
            assert told[0].kind == told[1].kind
            assert told[0].certain_share == told[1].certain_share
        elif asked is not None:
            number = int(rng.integers(len(asked.candidates)))
            one.tell(**asked.answer(number))
            two.tell(**asked.answer(number))
        assert_same_state(one, two)


def test_a_session_over_files_is_the_one_in_memory(tmp_path: Path) -> None:
    one, two = both(0, tmp_path)
    assert isinstance(one, StreamedSession)
    while not two.done:
        asked, expected = one.ask(), two.ask()
        assert isinstance(asked, FileQuestion)
        assert expected is not None
        assert (asked.row, asked.gain) == (expected.row, expected.gain)
        assert asked.candidates == expected.candidates
        assert asked.why.points.tolist() == expected.why.points.tolist()
        assert one.table.where(asked.row) == (asked.file, asked.row_in_file)
        assert one.frame_row(asked.row) == asked.frame_row == (asked.file, asked.row_in_file)
        assert f"row {asked.row}, in {escape(asked.file)}: " in asked._repr_html_()
        one.tell(**asked.answer(0))
        two.tell(**expected.answer(0))
        assert_same_state(one, two)
    assert one.done
    assert one.stopped == two.stopped
    assert one.effort() == two.effort()
    assert [each.row for each in one.ask(3)] == [each.row for each in two.ask(3)]


@pytest.mark.parametrize("seed", rest_slow([1, 2]))
def test_surprising_answers_about_any_row(seed: int, tmp_path: Path) -> None:
    walk(seed, tmp_path, 12)


@pytest.mark.slow
@pytest.mark.parametrize("group", range(4))
def test_many_surprising_answers(group: int, tmp_path: Path) -> None:
    for seed in range(4):
        folder = tmp_path / str(seed)
        folder.mkdir()
        options = [{}, {"n_neighbors": 1}, {"sure": 0.9}, {"n_neighbors": 5}][group]
        walk(20 + 10 * group + seed, folder, 18, n_points=3, **options)


def test_rows_that_go_away_make_room_for_rows_that_were_not_gathered(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": [float(one) for one in range(60)], "y": list("abc") * 20})
    frame.loc[50, "x"] = None
    frame["z"] = 0.5
    frame.loc[3, "z"] = 0.6
    points = pd.DataFrame({"x": [0.1, 57.0], "z": [0.5, 0.5]})
    streamed = StreamedTable(write_parquet(frame, tmp_path, 1, 7), "y")
    one = CleaningSession(streamed, points, n_neighbors=1)
    two = CleaningSession(IncompleteTable(as_arrow(frame), "y"), points, n_neighbors=1)
    assert not {2, 4} & set(one.near_rows.tolist())
    for row in (0, 1, 4, 2):  # one after the other leaves the first point
        for session in (one, two):
            session.tell(row, value={"x": 30.0 + row})
        assert_same_state(one, two)
        assert one.view.labels.tolist() == two.view.labels.tolist()
    assert 5 in one.near_rows  # nobody told anything about it: it was gathered again
    one.undo(4)
    two.undo(4)
    assert_same_state(one, two)


def test_a_row_that_goes_away_again_by_undo_is_counted(tmp_path: Path) -> None:
    labels = ["b" if row == 2 else "a" if row < 30 else "c" for row in range(60)]
    frame = pd.DataFrame({"x": [float(one) for one in range(60)], "z": 0.5, "y": labels})
    frame.loc[3, "z"], frame.loc[59, "x"] = 0.6, None
    points = pd.DataFrame({"x": [0.1, 57.0], "z": [0.5, 0.5]})
    streamed = StreamedTable(write_parquet(frame, tmp_path, 1, 7), "y")
    one = CleaningSession(streamed, points, n_neighbors=1)
    two = CleaningSession(IncompleteTable(as_arrow(frame), "y"), points, n_neighbors=1)
    for session in (one, two):
        session.tell(0, value={"x": 30.0})
        session.tell(0, value={"x": 0.0})  # a correction: it is back
        session.undo()
        session.tell(1, value={"x": 31.0})
    assert two.view.labels.tolist()[0] == 1  # row 2, which was not gathered at first
    assert one.view.labels.tolist() == two.view.labels.tolist()
    assert_same_state(one, two)


def test_a_session_over_gathered_rows_refuses_what_it_cannot_know(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": [float(one) for one in range(60)], "y": list("abc") * 20})
    frame["z"] = frame["x"] % 2
    points = pd.DataFrame({"x": [0.1], "z": [0.0]})
    streamed = StreamedTable(write_parquet(frame, tmp_path, 1, 7), "y")
    near = gather(streamed, points, 1, spare=1)
    session = CleaningSession(near, points, n_neighbors=1)
    session.tell(0, value={"x": 30.0})
    before = session.answers
    with pytest.raises(CPCleanError, match="rows of the files may matter that were not gathered"):
        session.tell(1, value={"x": 31.0})
    assert session.answers == before
    more = CleaningSession(gather(streamed, points, 1, spare=3), points, n_neighbors=1)
    more.replay([{"row": row, "value": {"x": 30.0 + row}} for row in (0, 1)])
    whole = CleaningSession(streamed, points, n_neighbors=1)  # it gathers again
    expected = CleaningSession(IncompleteTable(as_arrow(frame), "y"), points, n_neighbors=1)
    for row in (0, 2, 4, 6):
        for each in (whole, expected):
            each.tell(row, value={"x": 40.0 + row})
        assert_same_state(whole, expected)
        assert whole.view.labels.tolist() == expected.view.labels.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("n_neighbors", [1, 2, 3])
def test_rows_walk_away_from_the_points_and_back(n_neighbors: int, tmp_path: Path) -> None:
    grown = 0
    for seed in range(6):
        folder, rng = tmp_path / str(seed), np.random.default_rng(seed)
        folder.mkdir()
        frame = pd.DataFrame(
            {"x": rng.integers(0, 30, 50) / 1.0, "z": rng.integers(0, 4, 50) / 1.0}
        )
        frame = frame.mask(rng.random(frame.shape) < 0.04)
        frame.loc[frame.isna().all(axis=1), "x"] = 7.0
        frame["y"] = rng.choice(list("abc"), 50)
        points = pd.DataFrame({"x": [3.0, 22.0], "z": [1.0, 2.0]})
        streamed = StreamedTable(write_parquet(frame, folder, 1, 6), "y")
        one = CleaningSession(streamed, points, n_neighbors=n_neighbors)
        two = CleaningSession(
            IncompleteTable(as_arrow(frame), "y"), points, n_neighbors=n_neighbors
        )
        size = len(one.near_rows)
        for step in range(14):
            row = int(rng.choice(one.near_rows))
            value = {"x": float(rng.choice([-40, 3, 22, 70])), "z": 1.0}
            for session in (one, two):
                if step % 5 == 4:
                    session.undo()
                else:
                    session.tell(row, value=value)
            assert_same_state(one, two)
            assert one.view.labels.tolist() == two.view.labels.tolist()
        grown += len(one.near_rows) > size
    assert grown  # rows were gathered again


def test_answers_can_be_saved_and_repeated(tmp_path: Path) -> None:
    one, two = both(5, tmp_path)
    rng, table = np.random.default_rng(5), two.view.table
    assert table is not None
    for row in (3, 60, 41):
        value = far_value(rng, table, row)
        one.tell(row, value=value)
    saved = json.loads(json.dumps(one.answers))
    again, _ = both(5, tmp_path)
    again.replay(saved)
    two.replay(saved)
    assert_same_state(again, two)
    assert_same_state(pickle.loads(pickle.dumps(one)), two)
    with pytest.raises(KeyError, match="row must be an int"):
        again.replay([{"row": 4, "skip": True}, {"row": 10**6, "skip": True}])
    assert again.answers == saved
    assert repr(again).startswith("StreamedSession(3 answers")


def test_a_file_that_changes_between_two_steps_is_refused(tmp_path: Path) -> None:
    one, _ = both(7, tmp_path)
    saved, before = pickle.dumps(one), one.answers
    row = int(one.ask().row)
    path = Path(one.table.where(row)[0])
    content = path.read_bytes()
    pq.write_table(as_arrow(mixed_frame(8, 90)), path)
    with pytest.raises(TableError, match="has changed since the table was read"):
        one.tell(row, 0)
    with pytest.raises(TableError, match="has changed since the table was read"):
        pickle.loads(saved)
    assert one.answers == before
    path.write_bytes(content)
    one.tell(row, 0)
    assert pickle.loads(saved).ask().row == row


def test_what_needs_all_rows_is_refused(tmp_path: Path) -> None:
    one, _ = both(6, tmp_path)
    for method in ("world", "classifier"):
        with pytest.raises(CPCleanError, match="Write the cleaned files"):
            getattr(one, method)()
    with pytest.raises(CPCleanError, match="refit learns from all rows"):
        one.refit()
    with pytest.raises(CPCleanError, match="costs in a session over files must be a dict"):
        CleaningSession(one.table, one._points, costs=[1.0] * 90, strategy="cost")


def test_pages_and_pictures_of_files(tmp_path: Path) -> None:
    session, memory = both(3, tmp_path)
    table = session.table
    made = report(session, interactive=False, seconds=0.1)
    assert re.search(r"[Rr]ow \d+ of part-\d.parquet", made.html)
    assert f"{table.n_rows} training rows with 5 columns" in made.html
    own, other = missing(table), missing(memory.view.table)
    assert own == other == missing(session.view.table)
    assert summary(session).rows == table.n_rows
    assert summary(session) == summary(memory)
