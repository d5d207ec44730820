"""Files that a person may name, and what is wrong with them, in words."""

from __future__ import annotations

import shutil
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from streamed_files import as_arrow, mixed_frame, whole, write_parquet

from cpclean import CleaningSession, IncompleteTable, StreamedTable, gather
from cpclean.errors import TableError

FRAME = mixed_frame(0, 60)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_parquet(FRAME, tmp_path, 2, 15)
    return tmp_path


class Fitted:
    """As much of a fitted object as is looked at."""

    def transform(self, X: Any) -> Any:
        return X


def refused(text: str) -> Any:
    return pytest.raises(TableError, match=text)


# -- which files -----------------------------------------------------------------------------------


def test_files_can_be_named_in_many_ways(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    expected = IncompleteTable(as_arrow(FRAME), "y").dataset
    (folder / "_metadata").write_text("no data")
    first, second = str(folder / "part-0.parquet"), folder / "part-1.parquet"
    for files in (
        [first, second],
        str(folder),
        folder,
        "*.parquet",
        f"{folder}/part-?.parquet",
        f"{folder.parent}/**/{folder.name}/part-*.parquet",
        f"file://{folder}",
    ):
        table = StreamedTable(files, "y")
        assert whole(table) == expected, files
        assert table.where(0) == (first, 0)
        assert table.where(45) == (str(second), 45 - len(FRAME) // 2)
    assert StreamedTable([second, first], "y").row(0) == table.row(len(FRAME) // 2)


def test_folders_are_columns(tmp_path: Path) -> None:
    frame = FRAME.sort_values("city", kind="stable", na_position="first")
    frame = frame.dropna(subset="city").reset_index(drop=True)
    pq.write_to_dataset(as_arrow(frame), tmp_path, partition_cols=["city"])
    read = pq.read_table(tmp_path)
    streamed, table = StreamedTable(tmp_path, "y"), IncompleteTable(read, "y")
    assert streamed.names == table.names
    assert whole(streamed) == table.dataset
    lost = tmp_path / "city=Ulm"
    shutil.move(str(next(lost.iterdir())), str(tmp_path / "lost.parquet"))
    with refused("lost.parquet' is in no folder that says its 'city'"):
        StreamedTable(tmp_path, "y")


def test_names_may_have_brackets(tmp_path: Path) -> None:
    place = tmp_path / "a [b]"
    place.mkdir()
    (file,) = write_parquet(FRAME, place, 1)
    path = Path(file).rename(place / "part[1].parquet")
    for named in (path, place, tmp_path / "a*" / "part*"):
        assert StreamedTable(named, "y").source.files == (str(path),)


def test_an_address_of_another_place() -> None:
    fsspec = pytest.importorskip("fsspec")
    place = fsspec.filesystem("memory")
    with place.open("/cpclean/one.parquet", "wb") as file:
        pq.write_table(as_arrow(FRAME), file)
    try:
        table = StreamedTable("memory://cpclean/*.parquet", "y")
        assert whole(table) == IncompleteTable(as_arrow(FRAME), "y").dataset
    finally:
        place.rm("/cpclean", recursive=True)
    with refused("the address 'nowhere://a/b.parquet' cannot be opened"):
        StreamedTable("nowhere://a/b.parquet", "y")


def test_files_that_are_not_there(folder: Path) -> None:
    (folder / "empty").mkdir()
    (folder / "notes.txt").write_text("x")
    cases: list[tuple[Any, str]] = [
        (folder / "*.csv", "no file matches"),
        (folder / "part-9.parquet", "there is no file or folder"),
        (folder / "empty", "has no files that end in .csv, .parquet"),
        (folder / "notes.txt", "must end in .csv, .parquet, .pq, .tsv"),
        ([], "at least one file; got an empty list"),
        (7, "files must be a name, a pattern"),
        ("", "files must be a name, a pattern"),
        ([7], "files must be a name, a pattern"),
        (FRAME, "got a DataFrame, which is in memory. Make an IncompleteTable of it"),
        ([folder / "part-0.parquet", folder / "empty" / ".." / "part-0.parquet"], "named once"),
        ([folder / "part-0.parquet", folder], "must be named once"),
    ]
    for files, text in cases:
        with refused(text):
            StreamedTable(files, "y")
    FRAME.to_csv(folder / "more.csv", index=False)
    with refused("all be Parquet or all be CSV"):
        StreamedTable(folder, "y")


# -- what is in them -------------------------------------------------------------------------------


def test_files_must_have_the_same_columns(folder: Path) -> None:
    other = folder / "part-2.parquet"
    pq.write_table(as_arrow(FRAME.drop(columns="city")), other)
    with refused("part-2.parquet' lacks column 'city'"):
        StreamedTable(folder, "y")
    pq.write_table(as_arrow(FRAME.assign(more=1)), other)
    with refused("part-2.parquet' has column 'more', which .*part-0.parquet' lacks"):
        StreamedTable(folder, "y")
    pq.write_table(as_arrow(FRAME.assign(grade="x")), other)
    with refused("'grade' is double in .*part-0.parquet' and (large_)?string in .* or leave them"):
        StreamedTable(folder, "y")
    pq.write_table(as_arrow(FRAME[FRAME.columns[::-1]]), other)
    with refused("in another order"):
        StreamedTable(folder, "y")
    table = as_arrow(FRAME)
    pq.write_table(table.append_column("city", table["city"]), other)
    with refused("more than one column of .*part-2.parquet' is called 'city'"):
        StreamedTable(folder, "y")
    pq.write_table(as_arrow(FRAME.drop(columns="y")), other)
    with refused("the label column 'y' is missing in file .*part-2.parquet'"):
        StreamedTable(folder, "y")


def test_text_files_must_have_the_same_columns(tmp_path: Path) -> None:
    FRAME.to_csv(tmp_path / "a.csv", index=False)
    for frame, text in (
        (FRAME.drop(columns="city"), "b.csv' lacks column 'city'"),
        (FRAME.drop(columns="y"), "the label column 'y' is missing in file .*b.csv'"),
        (FRAME[FRAME.columns[::-1]], "in another order"),
        (FRAME.rename(columns={"city": "grade"}), "more than one column of .*'grade'"),
    ):
        frame.to_csv(tmp_path / "b.csv", index=False)
        with refused(text):
            StreamedTable(tmp_path, "y")
    (tmp_path / "b.csv").write_bytes(b"")
    with refused("b.csv' is empty: it has 0 bytes"):
        StreamedTable(tmp_path, "y")
    (tmp_path / "b.csv").write_text(",".join(FRAME.columns) + "\n1,2,3,4,5,6,7\n")
    with refused(
        "b.csv' cannot be read as CSV: in the rows from row 60.*more cells than the header"
    ):
        StreamedTable(tmp_path, "y")


def test_the_index_of_a_frame_is_no_column(tmp_path: Path) -> None:
    some = FRAME.sample(40, random_state=0)
    some.iloc[:20].to_parquet(tmp_path / "a.parquet")
    some.iloc[20:].to_parquet(tmp_path / "b.parquet")
    assert "__index_level_0__" in pq.read_schema(tmp_path / "a.parquet").names
    streamed = StreamedTable(tmp_path, "y")
    assert whole(streamed) == IncompleteTable(pd.read_parquet(tmp_path), "y").dataset
    (hole,) = [row for row in range(40) if streamed.row(row)["grade"] is None][:1]
    session = CleaningSession(streamed, as_arrow(mixed_frame(3, 3).drop(columns="y")))
    session.tell(hole, value={"grade": 2.0})
    written = session.write(tmp_path / "out")
    cleaned = pd.concat(map(pd.read_parquet, written))
    assert cleaned.index.tolist() == some.index.tolist()
    assert cleaned["grade"].iloc[hole] == 2.0


def test_a_file_without_rows_adds_nothing_and_one_without_bytes_is_refused(folder: Path) -> None:
    pq.write_table(as_arrow(FRAME).slice(0, 0), folder / "part-05.parquet")
    assert whole(StreamedTable(folder, "y")) == IncompleteTable(as_arrow(FRAME), "y").dataset
    (folder / "part-05.parquet").write_bytes(b"")
    with refused("part-05.parquet' is empty: it has 0 bytes"):
        StreamedTable(folder, "y")
    (folder / "part-05.parquet").write_bytes(b"PAR1 and so on")
    with refused("part-05.parquet' cannot be read as Parquet"):
        StreamedTable(folder, "y")
    pq.write_table(as_arrow(FRAME).slice(0, 0), folder / "none.parquet")
    with refused("the files have none"):
        StreamedTable(folder / "none.parquet", "y")


def test_rows_that_cannot_be_used(tmp_path: Path) -> None:
    def table(frame: pd.DataFrame, **options: Any) -> StreamedTable:
        (file,) = write_parquet(frame, tmp_path, 1, 10)
        return StreamedTable(file, "y", **options)

    with refused("nothing is known of row 33"):
        frame = FRAME.copy()
        frame.loc[33, frame.columns[:-1]] = None
        table(frame)
    with refused("in rows 30 to 39 .*, counted from .*: .* infinite values in row 2"):
        frame = FRAME.copy()
        frame.loc[32, "size"] = np.inf
        table(frame)
    with refused("in rows 0 to 9 .*parquet'.: column 'member' holds values of type list"):
        table(FRAME.assign(member=[[1]] * len(FRAME)))
    with refused("missing in row 12, 13, 14 and 1 more, of rows 10 to 19 .file .*parquet'"):
        labels = FRAME["y"].where(~FRAME.index.isin([12, 13, 14, 19, 33]))
        table(FRAME.assign(y=labels))
    with refused("no row has a label"):
        table(FRAME.assign(y=pd.array([None] * len(FRAME), dtype="string")), drop_unlabelled=True)
    with refused("there is no label column 'y'"):
        table(FRAME.drop(columns="y"))
    with refused("besides the label 'y' a table needs"):
        table(FRAME[["y"]])
    with refused("drop names columns that are not there: 'wrong'"):
        table(FRAME, drop=["wrong"])
    assert table(FRAME, drop=["city"]).names == ("grade", "size", "since", "member")
    with refused("repairs of a StreamedTable.*HoloClean's model looks at whole rows"):
        table(FRAME, repairs="holoclean")
    with refused('prior of a StreamedTable.*"holoclean" is a model of whole rows'):
        table(FRAME, prior="holoclean")
    with refused("the function for column 'grade' sees all values at once"):
        table(FRAME, repairs={"grade": lambda column: [1.0]})
    with refused("a function sees all values of a column at once"):
        table(FRAME, prior=lambda column, values, observed, own: [1.0] * len(values))
    with refused("memory must be at least 1,048,576 bytes"):
        table(FRAME, memory="5 kB")
    with refused("memory must be at least"):
        table(FRAME, memory="much")
    with refused("got a fitted Fitted"):
        table(FRAME, space=Fitted())
    with refused("completions of a StreamedTable"):
        table(FRAME).points(as_arrow(FRAME.drop(columns="y")), "holoclean")


def test_too_many_categories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cpclean.data.streamed.first_look.MOST_DISTINCT", 40)
    frame = pd.DataFrame({"a": [f"k{one}" for one in range(60)], "b": 1.0 * np.arange(60), "y": 1})
    (file,) = write_parquet(frame, tmp_path, 1, 10)
    with refused("column 'a' has more than 40 categories.*drop="):
        StreamedTable(file, "y")
    with refused("more than 40 different labels"):
        StreamedTable(file, "a")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert StreamedTable(file, "y", drop="a").report[0].distinct == 41  # or more


# -- files that change -----------------------------------------------------------------------------


def test_a_file_that_changes_is_refused(folder: Path) -> None:
    table = StreamedTable(folder, "y")
    table.check()
    points = table.points(as_arrow(mixed_frame(9, 3).drop(columns="y")))
    path, content = folder / "part-1.parquet", (folder / "part-1.parquet").read_bytes()
    half = len(FRAME) - len(FRAME) // 2
    for change, text in (
        (as_arrow(FRAME).slice(0, 7), f"it had {half} rows, and now it has 7"),
        (as_arrow(FRAME[::-1]).slice(0, half), "has changed since the table was read"),
    ):
        pq.write_table(change, path, row_group_size=15)
        with refused(text):
            table.check()
        with refused(text):
            gather(table, points)
        with refused(text):
            table.row(50)
        assert table.row(0)["grade"] is not None or table.row(1)  # the other file is as it was
    path.unlink()
    with refused("part-1.parquet' is not there any more"):
        gather(table, points)
    path.write_bytes(content)
    table.check()
    pq.write_table(as_arrow(FRAME.assign(grade=1)).slice(0, half), path)
    with refused("Put the files back as they were"):
        table.check()


def test_a_text_file_that_changes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    FRAME.to_csv(path, index=False)
    table = StreamedTable(path, "y")
    table.check()
    content = path.read_bytes()
    path.write_bytes(content.replace(b"Ulm", b"Uln", 1))
    with refused("its content is another one"):
        table.check()
    with refused("its content is another one"):
        table.row(3)
    path.write_bytes(content + content.splitlines()[-1])
    with refused("has changed since the table was read"):
        table.check()


def test_a_damaged_row_group_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(
        as_arrow(FRAME), path, row_group_size=20, write_page_checksum=True, compression="none"
    )
    about = pq.ParquetFile(path).metadata.row_group(1).column(1)
    table = StreamedTable(path, "y")
    content = bytearray(path.read_bytes())
    at = about.data_page_offset + about.total_compressed_size - 5
    content[at] ^= 0xFF
    path.write_bytes(content)
    with refused("row group 1 of file .*a.parquet' cannot be read.*may be damaged"):
        table.row(25)
    with refused("row group 1 of file"):
        StreamedTable(path, "y")


def test_a_pass_can_be_interrupted(folder: Path) -> None:
    def stop(words: str, share: float) -> None:
        if "near rows" in words and share > 0:
            raise KeyboardInterrupt

    table = StreamedTable(folder, "y")
    points = table.points(as_arrow(mixed_frame(9, 3).drop(columns="y")))
    with pytest.raises(KeyboardInterrupt):
        gather(table, points, progress=stop)
    told: list[tuple[str, float]] = []
    gather(table, points, progress=lambda words, share: told.append((words, share)))
    assert told[0] == ("finding near rows", 0.0)
    assert told[-1] == ("finding near rows", 1.0)


def test_kinds_of_arrow(tmp_path: Path) -> None:
    """Types that pandas does not write."""
    table = pa.table(
        {
            "day": pa.array([1, None, 3, 4, 9, 4], pa.date32()),
            "cost": pa.array([None, "1.25", "3.50", "1.25", None, "2.00"]).cast(
                pa.decimal128(9, 2)
            ),
            "long": pa.array([5, 6, None, 8, 5, 1], pa.duration("s")),
            "zoned": pa.array([1, 2, 3, None, 5, 6], pa.timestamp("us", "Europe/Berlin")),
            "small": pa.array([1, 2, 3, None, 1, 2], pa.int8()),
            "kind": pa.array(["a", None, "b", "a", "c", "a"]).dictionary_encode(),
            "y": pa.array([True, False, True, True, False, True]),
        }
    )
    path = tmp_path / "a.parquet"
    pq.write_table(table, path, row_group_size=2)
    read = pq.read_table(path)
    streamed, memory = StreamedTable(path, "y"), IncompleteTable(read, "y")
    assert whole(streamed) == memory.dataset
    assert streamed.report == memory.report
    assert [streamed.row(row) for row in range(6)] == [memory.row(row) for row in range(6)]
