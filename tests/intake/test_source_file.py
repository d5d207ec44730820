"""Files with tables, read once and looked at in many ways."""

import gzip
import io
import os
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pandas as pd
import pytest

from cpclean.data.domains import DomainTable, plain_frame
from cpclean.intake.layout import Layout
from cpclean.intake.notes import IntakeError
from cpclean.intake.source_file import SourceFile
from cpclean.intake.textfile import TextFile

TEXT = b"age;city\n1,5;Ulm\n;Bonn\n"


def source(content: bytes, suffix: str = ".csv", points: bool = False) -> SourceFile:
    return SourceFile(f"'t{suffix}'", suffix, lambda: content, points)


def test_the_content_is_fetched_once() -> None:
    fetched = []

    def fetch() -> bytes:
        fetched.append(1)
        return TEXT

    file = SourceFile("'t.csv'", ".csv", fetch)
    assert not fetched
    layout = file.found_layout
    assert layout == Layout(";", "utf-8", ",")
    assert file.read(layout)["age"].tolist()[0] == 1.5
    assert file.read(Layout(";"))["age"].tolist()[0] == "1,5"
    assert file.text(layout) == TextFile(TEXT, ";", "utf-8", ",", ".csv")
    assert fetched == [1]


@pytest.mark.parametrize(("suffix", "sep"), [(".csv", ","), (".tsv", "\t"), (".tsv.gz", "\t")])
def test_separators_are_those_of_the_name(suffix: str, sep: str) -> None:
    content = f"a{sep}b\n1{sep}x\n".encode()
    packed = gzip.compress(content) if suffix.endswith(".gz") else content
    file = source(packed, suffix)
    assert file.read().to_dict("list") == {"a": [1], "b": ["x"]}
    assert file.text(None) == TextFile(content, sep, suffix=suffix.removesuffix(".gz"))


@pytest.mark.parametrize("name", ["train.csv.bz2", "Train.CSV.ZIP", "all.tar.gz"])
def test_a_file_that_has_to_be_unpacked(name: str, tmp_path: Path) -> None:
    told = r"packed in a way that is not read here\. Unpack it first, or pack it by gzip\.$"
    with pytest.raises(IntakeError, match=told):
        SourceFile.at(str(tmp_path / name)).read()


def test_a_name_that_people_know(tmp_path: Path) -> None:
    with pytest.raises(IntakeError, match=r"^there is no file 'mine\.csv'; the current folder is"):
        SourceFile.at(str(tmp_path / "x.csv"), "mine.csv").read()
    (tmp_path / "x.csv").write_bytes(b"a,b\n1,2\n1,2,3,4\n")
    with pytest.raises(IntakeError, match=r"^'mine\.csv' cannot be read as csv: .*line 3") as found:
        SourceFile.at(str(tmp_path / "x.csv"), "mine.csv").read()
    values = found.value.note.values
    assert (values["line"], values["seen"], values["expected"]) == (3, 4, 2)
    assert found.value.field == "sep"


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a,b\n1,2\n")))
    file = SourceFile.at("-")
    assert (file.called, file.suffix) == ("standard input", ".csv")
    assert file.read()["b"].tolist() == [2]
    assert file.read()["a"].tolist() == [1], "as often as it is needed"


@pytest.mark.parametrize(("place", "words"), [
    ("x.docx", r"path must name a \.csv, .*got 'x\.docx'"),
    ("folder.csv", r"'folder\.csv' is a directory; name a file in it"),
    ("empty.csv", r"'empty\.csv' is empty: a table needs column names and rows"),
    ("broken.csv.gz", r"'broken\.csv\.gz' cannot be read as csv: .*gzip"),
    ("header.csv", r"'header\.csv' is empty"),
])  # fmt: skip
def test_files_without_a_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkdir("folder.csv")
    for name, content in (("empty.csv", b""), ("broken.csv.gz", b"no"), ("header.csv", b"a,b\n")):
        Path(name).write_bytes(content)
    with pytest.raises(IntakeError, match=words):
        SourceFile.at(place).read()


@pytest.mark.parametrize(("content", "layout", "code", "hints"), [
    ("ö;1\n".encode("latin-1"), Layout(), "encoding", {"likely": "latin-1", "encoding": "utf-8"}),
    ("a,b\n1,2\n".encode("utf-16"), Layout(), "encoding", {"likely": "utf-16"}),
    (b"a;b\n1,5;2,5\n", Layout(), "header_short", {"separator": "--sep ';', and perhaps --dec"}),
    (b"a|b\n1,2|3,5,6\n", Layout(), "header_short", {"separator": "--sep '|'."}),
    (b"a\tb\n1\t2\n1,2,3\t4\n", Layout(), "line_cells", {"separator": "--sep tab."}),
    (b"a,x|b;c\n1;2\n4;5;6\n", Layout(";"), "line_cells", {"separator": ""}),
])  # fmt: skip
def test_what_may_be_wrong_with_a_text_file(
    content: bytes, layout: Layout, code: str, hints: dict[str, str]
) -> None:
    with pytest.raises(IntakeError, match=r"cannot be read as csv|have more cells") as found:
        source(content).read(layout)
    note = found.value.note
    assert note.code == code
    for name, words in hints.items():
        assert words in note.values[name]
        assert words or not note.values[name]


def test_bytes_that_are_not_text() -> None:
    with pytest.raises(IntakeError, match="holds something other than text"):
        _ = source(b"PK\x03\x04\0\0\0\xff").found_layout
    assert source(b"anything", ".parquet").found_layout is None
    assert source(b"anything", ".xlsx").text(None) is None


def test_kinds_of_columns_that_points_do_not_have() -> None:
    kinds = {"a": "categorical", "y": "categorical"}
    found = source(b"a,b\n007,2\n", points=True).read(kinds=kinds)
    assert found["a"].tolist() == ["007"]
    with pytest.raises(ValueError, match="kinds must map columns"):
        source(b"a,b\n007,2\n").read(kinds=kinds)


def test_domains() -> None:
    found = source(b"a[1|2];b\n;x\n").read(Layout(";"), domains=True)
    assert isinstance(found, DomainTable)
    assert plain_frame(found)["b"].tolist() == ["x"]
    with pytest.raises(IntakeError, match="numbers are written with a point"):
        source(b"a[1|2];b\n;x\n").read(Layout(";", decimal=","), domains=True)


def test_whole_numbers_of_a_parquet_file() -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    into = io.BytesIO()
    columns = {"a": pa.array([1, None], pa.int16()), "b": pa.array([1, 2], pa.uint64())}
    pq.write_table(pa.table({**columns, "c": pa.array([0.5, None])}), into)
    file = source(into.getvalue(), ".parquet")
    assert file.whole_columns == {"a": "Int16", "b": "UInt64"}
    pd.testing.assert_frame_equal(file.read(), pd.read_parquet(io.BytesIO(into.getvalue())))
    assert source(TEXT).whole_columns is None


class _Serving(BaseHTTPRequestHandler):
    asked: list[str] = []  # noqa: RUF012

    def do_GET(self) -> None:
        self.asked.append(self.path)
        self.send_response(200 if self.path == "/t.csv" else 404)
        self.end_headers()
        self.wfile.write(b"a,b\n1,2\n")

    def log_message(self, *_: object) -> None:
        pass


def test_an_address() -> None:
    with HTTPServer(("127.0.0.1", 0), _Serving) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        where = f"http://127.0.0.1:{server.server_port}"
        file = SourceFile.at(f"{where}/t.csv")
        assert file.read()["b"].tolist() == file.read()["b"].tolist() == [2]
        assert _Serving.asked == ["/t.csv"]
        with pytest.raises(IntakeError, match=r"absent\.csv' cannot be fetched: .*404"):
            SourceFile.at(f"{where}/absent.csv").read()
        server.shutdown()
        thread.join(10)
