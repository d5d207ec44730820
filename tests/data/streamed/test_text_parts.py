"""Text files as people write them: separators, encodings, quotes, folders, what has no name."""

from __future__ import annotations

import csv
import gzip
import io
import random
import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.dataset as ds
import pyarrow.fs
import pytest
from streamed_files import as_arrow, mixed_frame, whole, write_parquet

from cpclean import IncompleteTable, StreamedTable
from cpclean.data.streamed.folder_columns import folder_columns
from cpclean.data.streamed.text_parts import split
from cpclean.errors import TableError
from cpclean.intake.cleaned_files import write_files

FRAME = mixed_frame(0, 60).drop(columns="since")


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cpclean.data.streamed.text_parts.PART_BYTES", 150)


def parts_of(content: bytes, folder: Path, sep: str = ",") -> list[bytes]:
    """The parts of a file, the header first."""
    path = folder / "a.csv"
    path.write_bytes(content)
    header, cuts = split(pyarrow.fs.LocalFileSystem(), str(path), sep)
    assert header == content[: cuts[0]]
    return [header, *(content[one:two] for one, two in pairwise(cuts))]


@pytest.mark.parametrize("missing", [None, float("nan")])
@pytest.mark.parametrize("labels", [[0, 1, 2], [0.5, 2.0], [True, False]])
def test_labels_that_are_numbers_can_be_missing(
    labels: list[Any], missing: Any, tmp_path: Path
) -> None:
    own = [labels[row % len(labels)] if row % 7 else missing for row in range(len(FRAME))]
    frame = FRAME.assign(y=pd.array(own, dtype="object"))
    frame["y"] = frame["y"].convert_dtypes() if missing is None else frame["y"]
    table = IncompleteTable(as_arrow(frame), "y", drop_unlabelled=True)
    streamed = StreamedTable(write_parquet(frame, tmp_path, 2, 9), "y", drop_unlabelled=True)
    assert whole(streamed) == table.dataset
    with pytest.raises(TableError, match="every row needs a label; missing in row 0, 7"):
        StreamedTable(tmp_path, "y")


@pytest.mark.parametrize(
    "layout",
    [
        {"sep": ";", "decimal": ","},
        {"sep": "|", "encoding": "latin-1"},
        {"encoding": "utf-8-sig"},
        {"sep": "\t", "decimal": ",", "encoding": "cp1252"},
    ],
)
def test_files_can_be_written_in_other_ways(layout: dict[str, Any], tmp_path: Path) -> None:
    parts = [FRAME.iloc[:25], FRAME.iloc[25:]]
    (tmp_path / "parts").mkdir()
    for number, part in enumerate(parts):
        part.to_csv(tmp_path / "parts" / f"{number}.csv", index=False, na_rep="?", **layout)
    options: dict[str, Any] = {"label": "y", "null_tokens": ["?"]}
    read: dict[str, Any] = {"sep": ",", "encoding": "utf-8", **layout}
    if "decimal" in layout:  # numbers are read when nothing else is left
        read["na_values"] = "?"
    frames = [
        pd.read_csv(one, low_memory=False, **read) for one in sorted((tmp_path / "parts").iterdir())
    ]
    table = IncompleteTable(pd.concat(frames, ignore_index=True), **options)
    streamed = StreamedTable(tmp_path / "parts", **options, **layout)
    assert len(streamed.pieces) > 6
    assert whole(streamed) == table.dataset
    row = int(table.dataset.dirty_rows[0])
    (hole, *_) = [name for name, value in table.row(row).items() if value is None]
    value = {"grade": 2.5, "size": 0.25, "city": "Köln", "member": True}[hole]
    known = {row: {hole: value}}
    written = write_files(streamed.files, streamed.columns, known, tmp_path / "out")
    again = StreamedTable(written, **options, **layout)
    assert again.row(row) == {**streamed.row(row), hole: value}
    changed = [
        line
        for old, new in zip(streamed.source.files, written, strict=True)
        for line, other in zip(
            Path(old).read_bytes().splitlines(), new.read_bytes().splitlines(), strict=True
        )
        if line != other
    ]
    assert len(changed) == 1


def test_what_a_layout_cannot_be(tmp_path: Path) -> None:
    FRAME.to_csv(tmp_path / "a.csv", index=False, sep=";", encoding="cp1252")
    cases: list[tuple[dict[str, Any], str]] = [
        ({}, r"has a single column, 'grade;size;.*say so: sep=';'"),
        ({"sep": ";"}, r"is not in utf-8: .*byte 0xf6.*encoding='cp1252'"),
        ({"sep": ";;"}, "sep must be a single character"),
        ({"sep": ";", "decimal": "'"}, "decimal must be '.' or ','"),
        ({"sep": ";", "encoding": "klingon"}, "encoding must be one that Python knows"),
        ({"sep": ";", "encoding": "utf-16"}, "cannot be read in parts in the encoding 'utf-16'"),
    ]
    for options, text in cases:
        with pytest.raises(TableError, match=text):
            StreamedTable(tmp_path, "y", **options)
    table = StreamedTable(tmp_path, "y", sep=";", encoding="cp1252")
    row = next(row for row in range(60) if table.row(row)["city"] is None)
    with pytest.raises(TableError, match="cp1252 lacks letters of a value"):
        write_files(table.files, table.columns, {row: {"city": "Łódź"}}, tmp_path / "out")
    (tmp_path / "a.csv").write_bytes(b"a,y\r1,2\r")
    with pytest.raises(TableError, match="end with carriage returns alone"):
        StreamedTable(tmp_path, "y")


def test_columns_without_a_name_and_lines_without_a_row(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    FRAME.to_csv(path)  # with the index, which has no name
    path.write_text(path.read_text().replace("\n", "\n" * 40))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the row numbers
        streamed = StreamedTable(path, "y")
        table = IncompleteTable(pd.read_csv(path), "y")
    assert streamed.names[0] == "Unnamed: 0"
    assert whole(streamed) == table.dataset
    assert repr(streamed.row(3)) == repr(table.row(3))  # whole numbers stay whole


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (gzip.compress(b"a,y\n1,p\n"), "is packed with gzip: unpack it first"),
        ("a,y\n1,p\n".encode("utf-16"), "is in UTF-16: convert it to UTF-8"),
        (b"\na,y\n1,p\n2,q\n", "the first line of file .*a.csv' is empty"),
        (b'a,y\n"1,p\n2,q\n', "EOF inside string.* close all quotes"),
    ],
)
def test_what_is_no_text_with_a_header(content: bytes, text: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(content)
    with pytest.raises(TableError, match=text):
        StreamedTable(tmp_path, "y")


def test_packed_files_in_a_folder_are_not_left_out_in_silence(tmp_path: Path) -> None:
    FRAME.to_csv(tmp_path / "a.csv", index=False)
    FRAME.to_csv(tmp_path / "b.csv.gz", index=False)
    with pytest.raises(TableError, match=r"b.csv.gz' cannot be read in parts: unpack"):
        StreamedTable(tmp_path, "y")


def test_a_change_anywhere_in_a_text_file_is_refused_when_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cpclean.data.streamed.csv_source._BLOCKS", 2)
    monkeypatch.setattr("cpclean.data.streamed.csv_source._BLOCK", 16)
    path = tmp_path / "a.csv"
    FRAME.to_csv(path, index=False)
    table = StreamedTable(path, "y")
    content = path.read_bytes()
    at = content.index(b"Ulm", len(content) // 2)
    path.write_bytes(content[:at] + b"U" * 3 + content[at + 3 :])
    table.check()  # a quick look sees some blocks alone
    with pytest.raises(TableError, match="has changed since the table was read: its content is"):
        table.row(content[:at].count(b"\n") - 1)
    assert table.row(0)["grade"] == FRAME["grade"][0]


# -- quotes ----------------------------------------------------------------------------------------


def test_a_quote_within_a_cell_is_a_letter(tmp_path: Path) -> None:
    lines = [f'{one},{one}" pipe,"two\nlines, ""{one}""",yes' for one in range(40)]
    content = "\n".join(["a,b,c,y", *lines, ""]).encode()
    header, *parts = parts_of(content, tmp_path)
    assert len(parts) > 8
    assert max(map(len, parts)) < 400
    read = pd.concat([pd.read_csv(io.BytesIO(header + one)) for one in parts], ignore_index=True)
    pd.testing.assert_frame_equal(read, pd.read_csv(io.BytesIO(content)))


@pytest.mark.parametrize("seed", range(4))
def test_parts_of_any_text_are_the_whole(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(seed)
    for size in (1, 2, 7, 60):
        monkeypatch.setattr("cpclean.data.streamed.text_parts.PART_BYTES", size)
        sep = rng.choice(",;")
        rows = []
        for _ in range(30):
            text = "".join(rng.choice(f'ab "{sep}\n') for _ in range(rng.randint(1, 9)))
            made = io.StringIO()
            csv.writer(made, delimiter=sep).writerow([text, "x"])
            lone = f"{rng.choice('ab ')}{rng.choice(['', chr(34), chr(34) * 2])}c"
            rows.append(f"{lone}{sep}{made.getvalue().strip(chr(13) + chr(10))}{chr(10)}")
        content = f"p{sep}q{sep}r\n{''.join(rows)}".encode()
        header, *parts = parts_of(content, tmp_path, sep)
        options: dict[str, Any] = {"sep": sep, "dtype": str, "na_filter": False}
        read = [pd.read_csv(io.BytesIO(header + one), **options) for one in parts]
        expected = pd.read_csv(io.BytesIO(content), **options)
        pd.testing.assert_frame_equal(pd.concat(read, ignore_index=True), expected)
        assert max(map(len, read)) <= 1 + size  # as small as they can be


# -- folders that are columns ----------------------------------------------------------------------


def test_folders_of_text_files_are_columns(tmp_path: Path) -> None:
    frame = FRAME.sort_values("city", na_position="last", kind="stable").reset_index(drop=True)
    frame["year"] = [2020 + row // 20 for row in range(len(frame))]
    rest = frame.drop(columns=["year", "city"])
    for (year, city), own in rest.groupby([frame["year"], frame["city"].fillna("")]):
        place = tmp_path / "parts" / f"year={year}" / f"city={city or '__HIVE_DEFAULT_PARTITION__'}"
        place.mkdir(parents=True)
        own.to_csv(place / "data.csv", index=False)
    streamed = StreamedTable(tmp_path / "parts", "y")
    assert streamed.names[-2:] == ("year", "city")
    order = [int(one) for one in _numbers(streamed, rest)]
    table = IncompleteTable(frame.iloc[order][[*streamed.names, "y"]].reset_index(drop=True), "y")
    assert whole(streamed) == table.dataset
    row = next(row for row in range(60) if table.row(row)["grade"] is None)
    known: dict[int, Any] = {row: {"grade": 1.0}}
    written = write_files(streamed.files, streamed.columns, known, tmp_path / "out")
    assert StreamedTable(tmp_path / "out", "y").row(row)["grade"] == 1.0
    assert [path.name for path in written] == ["data.csv"] * len(written)
    (lost,) = [one for one in range(60) if table.row(one)["city"] is None][:1]
    with pytest.raises(TableError, match="'city' is in the names of the folders"):
        write_files(streamed.files, streamed.columns, {lost: {"city": "Ulm"}}, tmp_path / "o")


def _numbers(streamed: StreamedTable, rest: pd.DataFrame) -> list[int]:
    """Which row of a frame each row of the files is."""
    frames = [pd.read_csv(file) for file in streamed.source.files]
    texts = [tuple(map(repr, row)) for one in frames for row in one.to_numpy().tolist()]
    copy = pd.read_csv(io.StringIO(rest.to_csv(index=False)))
    places: dict[Any, list[int]] = {}
    for number, row in enumerate(copy.to_numpy().tolist()):
        places.setdefault(tuple(map(repr, row)), []).append(number)
    return [places[text].pop(0) for text in texts]


def test_folders_are_read_as_pyarrow_reads_them(tmp_path: Path) -> None:
    from cpclean.data.streamed.addresses import find

    for number, folder in enumerate(
        ["month=01/place=New%20York", "month=12/place=Ulm", f"month=3/place={'Bonn'}"]
    ):
        place = tmp_path / folder
        place.mkdir(parents=True)
        write_parquet(FRAME.iloc[10 * number : 10 * number + 9], place, 1)
    found = find(tmp_path)
    expected = ds.dataset(
        list(found.paths), format="parquet", partitioning="hive", partition_base_dir=found.base
    )
    keys = [ds.get_partition_keys(one.partition_expression) for one in expected.get_fragments()]
    assert folder_columns(found) == keys
