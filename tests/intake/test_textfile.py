"""Text files byte by byte: what pandas reads is where it is found, and only told cells change."""

import gzip

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cpclean.intake.textfile import TextFile, text_suffix

SIGNS = 'ab1 ,;\t"\n\ré'
TEXTS = st.text(alphabet=SIGNS, max_size=4)
# pandas 2 refuses some files whose lines end in carriage returns alone ("Buffer overflow caught").
ENDS = ["\n", "\r\n", "\r"] if int(pd.__version__.split(".")[0]) >= 3 else ["\n", "\r\n"]


@st.composite
def tables(draw):
    """Cells, and the pieces of a file that writes them, some in quotes without need."""
    width, height = draw(st.integers(2, 4)), draw(st.integers(2, 5))
    sep = draw(st.sampled_from([",", ";", "\t"]))
    end = draw(st.sampled_from(ENDS))
    cells = [[draw(TEXTS) for _ in range(width)] for _ in range(height)]
    pieces = []
    for number, row in enumerate(cells):
        for place, text in enumerate(row):
            needed = any(sign in text for sign in f'{sep}"\r\n')
            pieces.append(quoted(text) if needed or draw(st.booleans()) else text)
            pieces.append(sep if place < width - 1 else end)
        if end != "\r" and number < height - 1:  # where pandas takes a line for none
            blank = " " if sep == "\t" else "\t"
            pieces[-1] += draw(st.sampled_from(["", end, f" {end}", f"{blank}{end}"]))
    pieces[-1] = draw(st.sampled_from([end, ""]))
    return cells, pieces, TextFile("".join(pieces).encode(), sep)


def quoted(text):
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


@settings(max_examples=200, deadline=None)
@given(tables(), st.data())
def test_only_told_cells_change(table, data):
    cells, pieces, file = table
    assert file.cells.to_numpy().tolist() == cells, "as pandas reads it"
    row = data.draw(st.integers(0, len(cells) - 1))
    column = data.draw(st.integers(0, len(cells[0]) - 1))
    text = data.draw(TEXTS.filter(lambda one: one.strip()))
    expected = []
    for written in (text, quoted(text)):
        pieces[2 * (row * len(cells[0]) + column)] = written
        expected.append("".join(pieces).encode())

    actual = file.with_cells({(row, column): text})

    assert actual.content in expected
    cells[row][column] = text
    assert actual.cells.to_numpy().tolist() == cells
    assert file.with_cells({}).content == file.content


@settings(max_examples=100, deadline=None)
@given(tables())
def test_separated_otherwise(table):
    cells, _, file = table
    other = file.for_suffix(".tsv")
    assert other.sep == "\t"
    assert other.cells.to_numpy().tolist() == cells
    assert file.for_suffix(".csv") is file


def test_lines_that_are_blank_stay_blank_between_other_separators():
    file = TextFile(b"a,b\n1,2\n\t\n \t\r\n3,4\n\t")
    assert file.for_suffix(".tsv").content == b"a\tb\n1\t2\n\n\r\n3\t4\n"


@pytest.mark.parametrize("content", [b"a;b\r\r;\t\r3;4\r", b'a;b\r\r;"x"\r3;4\r'])
def test_cells_that_pandas_would_find_elsewhere_are_separated_anew(content):
    file = TextFile(content, ";")
    expected = file.cells.to_numpy().tolist()
    assert file.for_suffix(".tsv").cells.to_numpy().tolist() == expected


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b'"a","b"\n"","x"\n"65.0","y"\n', b'"a","b"\n"41","x"\n"65.0","y"\n'),
        (b'"a","b"\n"","x"\n65.0,"y"\n', b'"a","b"\n41,"x"\n65.0,"y"\n'),  # numbers are bare
        (b'"a","b"\nNA,"x"\n"B","y"\n"C",NA\n', b'"a","b"\n"41","x"\n"B","y"\n"C",NA\n'),
        (b'a,b\n"",x\n', b'a,b\n"41",x\n'),  # nothing to go by but the hole
        (b"a,b\n\n  \n,x\n5,y", b"a,b\n\n  \n41,x\n5,y"),
        (b"a,b\r\n,x\n5,y\r\n", b"a,b\r\n41,x\n5,y\r\n"),
        (b'a,b\n,5" pipe\n5,"say ""no"""\n', b'a,b\n41,5" pipe\n5,"say ""no"""\n'),
    ],
)
def test_quotes_blank_lines_and_line_ends_stay(before, after):
    assert TextFile(before).with_cells({(1, 0): "41"}).content == after


def test_a_line_that_ends_early():
    file = TextFile(b"a,b,c\n1\n4,5,6\n")
    assert file.with_cells({(1, 2): "x"}).content == b"a,b,c\n1,,x\n4,5,6\n"


@pytest.mark.parametrize(
    ("encoding", "mark", "codec"),
    [
        ("utf-8", b"\xef\xbb\xbf", "utf-8"),
        ("utf-8-sig", b"", "utf-8"),
        ("utf_8_sig", b"", "utf-8"),
        ("UTF8", b"\xef\xbb\xbf", "utf-8"),
        ("utf-16", b"\xfe\xff", "utf-16-be"),
        ("utf-16", b"\xff\xfe", "utf-16-le"),
        ("latin-1", b"", "latin-1"),
    ],
)
def test_encodings_and_marks_stay(encoding, mark, codec):
    file = TextFile(mark + "ä,b\n,é\n".encode(codec), encoding=encoding)
    assert file.with_cells({(1, 0): "ö"}).content == mark + "ä,b\nö,é\n".encode(codec)


@pytest.mark.parametrize(
    ("content", "encoding"),
    [(b"a,b\n,\x87\x90\n", "cp932"), ("a,b\n,x\n".encode("utf-16-le"), "utf-16")],
)
def test_bytes_that_encoding_would_change_are_left_alone(content, encoding):
    assert TextFile(content, encoding=encoding).with_cells({(1, 0): "41"}) is None


def test_letters_that_the_encoding_does_not_have():
    made = TextFile("ä,b\n,é\n".encode("latin-1"), encoding="latin-1").with_cells({(1, 0): "Łódź"})
    assert (made.encoding, made.content.decode()) == ("utf-8", "ä,b\nŁódź,é\n")


def test_cells_that_pandas_finds_elsewhere_are_left_alone():
    file = TextFile(b"a,b\n,x\n")
    file.__dict__["cells"] = TextFile(b"a,b\n,y\n").cells
    assert file.with_cells({(1, 0): "41"}) is None
    file.__dict__["cells"] = TextFile(b"a,b\n,x\n1,2\n").cells
    assert file.with_cells({(1, 0): "41"}) is None


@pytest.mark.parametrize(
    ("file", "cell", "text"),
    [
        (TextFile(b'a\tb\r \r\t "x"\r\t2\r', "\t"), (1, 1), 'q"q'),  # moves to the left
        (TextFile(b"a\nx\ny\n"), (1, 0), " "),  # becomes a line with nothing in it
        (TextFile(b"a\nx\ny\n"), (2, 0), ""),
    ],
)
def test_cells_that_pandas_would_not_find_again_are_left_alone(file, cell, text):
    assert file.with_cells({cell: text}) is None


def test_from_files(tmp_path):
    (tmp_path / "t.tsv.gz").write_bytes(gzip.compress(b"a\tb\n1\t2\n"))
    found = TextFile.read(tmp_path / "t.tsv.gz")
    assert (found.content, found.sep, found.suffix) == (b"a\tb\n1\t2\n", "\t", ".tsv")
    assert TextFile.read(tmp_path / "t.parquet") is None
    assert [text_suffix(name) for name in ("A.CSV", "a.tsv.gz", "a.gz")] == [".csv", ".tsv", None]
