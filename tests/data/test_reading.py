"""Files in: CSV, TSV, Parquet and Excel, null tokens, and explicit domains there and back."""

from __future__ import annotations

import gzip
import io
import itertools
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cpclean import IncompleteTable
from cpclean.data.columns import OTHER, column_from_objects
from cpclean.data.reading import DomainTable, read_csv, read_table, write_domains
from cpclean.errors import DataError, TableError

ADULT = Path(__file__).parents[3] / "shared/data/tables/Adult/data.csv"

TEXT = "age,city,y\n40,A,0\n,B,1\n 31 ,,0\n"


def csv_of(text: str, **options: Any) -> pd.DataFrame:
    frame = read_csv(io.StringIO(text), **options)
    assert isinstance(frame, pd.DataFrame)
    return frame


def domains_of(text: str, **options: Any) -> DomainTable:
    table = read_csv(io.StringIO(text), domains=True, **options)
    assert isinstance(table, DomainTable)
    return table


def nulls_as_none(series: Any) -> list[Any]:
    return [None if pd.isna(value) else value for value in series.tolist()]


def written(table: Any) -> str:
    buffer = io.StringIO()
    write_domains(table, buffer)
    return buffer.getvalue()


def assert_same(left: DomainTable, right: DomainTable) -> None:
    pd.testing.assert_frame_equal(left.frame, right.frame)
    assert left.repairs == right.repairs
    assert [type(one) for one in itertools.chain(*left.repairs.by_cell.values())] == [
        type(one) for one in itertools.chain(*right.repairs.by_cell.values())
    ]


# -- plain tables ----------------------------------------------------------------------------------


def test_reading_a_table_is_pandas_reading_by_default(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TEXT, encoding="utf-8")
    expected = pd.read_csv(tmp_path / "t.csv")
    pd.testing.assert_frame_equal(read_csv(tmp_path / "t.csv"), expected)
    pd.testing.assert_frame_equal(read_csv(str(tmp_path / "t.csv")), expected)
    pd.testing.assert_frame_equal(csv_of(TEXT), expected)
    pd.testing.assert_frame_equal(read_csv(io.BytesIO(TEXT.encode())), expected)


def test_options_go_to_pandas() -> None:
    frame = csv_of("a;b\n1,5;2\n3,5;4\n", sep=";", decimal=",", nrows=1)
    assert frame.to_dict("list") == {"a": [1.5], "b": [2]}
    assert csv_of("a::b\n1::2\n", sep="::", engine="python").to_dict("list") == {"a": [1], "b": [2]}


def test_tokens_become_nulls_and_numbers_are_numbers_again() -> None:
    frame = csv_of(
        "age,city,when,n\n40, ?,?,1\n ? ,B,x,2\n31, n/k ,y,3\n", null_tokens=["?", " n/k"]
    )
    assert frame["age"].dtype == np.float64
    assert nulls_as_none(frame["age"]) == [40.0, None, 31.0]
    assert nulls_as_none(frame["city"]) == [None, "B", None]
    assert nulls_as_none(frame["when"]) == [None, "x", "y"]
    assert frame["n"].dtype == np.int64


def test_one_token_may_be_given_as_text() -> None:
    assert nulls_as_none(csv_of("a\nNA?\nN\n", null_tokens="NA?")["a"]) == [None, "N"]


def test_blank_text_is_null_with_the_empty_token() -> None:
    text = "a,b\n  ,1\nx,  \n"
    assert nulls_as_none(csv_of(text)["a"]) == ["  ", "x"]
    frame = csv_of(text, null_tokens=[""])
    assert nulls_as_none(frame["a"]) == [None, "x"]
    assert nulls_as_none(frame["b"]) == [1.0, None]


def test_a_token_may_be_a_number() -> None:
    frame = csv_of("a,b,ok\n-9,x,True\n2,-9,False\n, -9,True\n", null_tokens=["-9"])
    assert nulls_as_none(frame["a"]) == [None, 2.0, None]
    assert nulls_as_none(frame["b"]) == ["x", None, None]
    assert frame["ok"].tolist() == [True, False, True]


def test_tokens_that_come_late_in_a_long_file() -> None:
    text = "a\n" + "1\n" * 300_000 + " ?\n"
    frame = csv_of(text, null_tokens=["?"])
    assert frame["a"].dtype == np.float64
    assert frame["a"].isna().sum() == 1


def test_a_column_of_tokens_alone_is_null() -> None:
    assert csv_of("a,b\n?,1\n?,2\n", null_tokens=["?"])["a"].isna().all()


def test_kinds() -> None:
    text = "zip,day,ok,n\n007,2020-01-02,1,5\n?,,?,x\n012,2020-01-03T12:00,0,7\n"
    kinds = {"zip": "categorical", "day": "date", "ok": "boolean", "n": "numeric"}
    frame = csv_of(text, kinds=kinds, null_tokens=["?", "x"])
    assert nulls_as_none(frame["zip"]) == ["007", None, "012"]
    assert nulls_as_none(frame["day"]) == [
        pd.Timestamp("2020-01-02"), None, pd.Timestamp("2020-01-03T12:00")
    ]  # fmt: skip
    assert nulls_as_none(frame["ok"]) == [True, None, False]
    assert nulls_as_none(frame["n"]) == [5.0, None, 7.0]


@pytest.mark.parametrize("kinds", [{"b": "numeric"}, {"a": "number"}])
@pytest.mark.parametrize("domains", [False, True])
def test_kinds_that_cannot_be(kinds: dict[str, str], domains: bool) -> None:
    with pytest.raises(TableError, match=r"kinds must map columns of the buffer to one of numeric"):
        read_csv(io.StringIO("a\n1\n"), kinds=kinds, domains=domains)


def test_values_that_are_not_of_their_kind() -> None:
    with pytest.raises(TableError, match=r"column 'a' cannot be read as numeric: .*'x'"):
        csv_of("a\n1\nx\n", kinds={"a": "numeric"})
    with pytest.raises(TableError, match="column 'a' cannot be read as date"):
        domains_of("a\n[2020-01-02|soon]\n", kinds={"a": "date"})


def test_a_byte_order_mark_is_no_part_of_the_first_name(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b'\xef\xbb\xbf"age[1|2]",y\n1,0\n,1\n')
    assert list(read_csv(tmp_path / "t.csv").columns) == ["age[1|2]", "y"]
    assert list(read_csv(tmp_path / "t.csv", domains=True).frame.columns) == ["age", "y"]
    assert list(csv_of("\ufeffa,b\n1,2\n").columns) == ["a", "b"]


# -- formats ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "tsv", "tsv.gz", "parquet", "xlsx", "CSV"])
def test_every_format_gives_the_same_table(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"t.{suffix}"
    given = pd.DataFrame(
        {"age": ["40", " ?", "31"], "n": [1, 2, -9], "city": ["A", "?", "B"], "y": [0.5, 1.5, None]}
    )
    if suffix == "parquet":
        pytest.importorskip("pyarrow", reason="pandas reads Parquet with pyarrow")
        given.to_parquet(path)
    elif suffix == "xlsx":
        pytest.importorskip("openpyxl", reason="pandas reads Excel with openpyxl")
        given.to_excel(path, index=False)
    else:
        given.to_csv(path, index=False, sep="\t" if "tsv" in suffix else ",")
    frame = read_table(path, null_tokens=["?", "-9"])
    expected = pd.DataFrame(
        {"age": [40.0, None, 31.0], "n": [1.0, 2.0, None], "city": ["A", None, "B"],
         "y": [0.5, 1.5, None]}
    )  # fmt: skip
    pd.testing.assert_frame_equal(frame, expected)


def test_excel_keeps_numbers_dates_and_truth_among_tokens(tmp_path: Path) -> None:
    pytest.importorskip("openpyxl", reason="pandas reads Excel with openpyxl")
    day = pd.Timestamp("2020-01-02")
    given = pd.DataFrame({"n": [1, "?", 2.5], "d": [day, "?", day], "b": [True, "?", False]})
    given.to_excel(tmp_path / "t.xlsx", index=False)
    frame = read_table(tmp_path / "t.xlsx", null_tokens=["?"])
    assert nulls_as_none(frame["n"]) == [1.0, None, 2.5]
    assert nulls_as_none(frame["d"]) == [day, None, day]
    assert nulls_as_none(frame["b"]) == [True, None, False]
    table = IncompleteTable(frame.assign(known=[1, 2, 3]), label=[0, 1, 0])
    assert [column.kind for column in table.columns[:3]] == ["numeric", "date", "boolean"]


def test_parquet_keeps_its_types(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="pandas reads Parquet with pyarrow")
    given = pd.DataFrame({"n": [1, 2], "d": pd.to_datetime(["2020-01-02", None]), "c": ["x", "?"]})
    given.to_parquet(tmp_path / "t.parquet")
    frame = read_table(tmp_path / "t.parquet", null_tokens=["?"], kinds={"n": "categorical"})
    assert frame["n"].tolist() == ["1", "2"]
    assert frame["d"].dtype == given["d"].dtype
    assert nulls_as_none(frame["c"]) == ["x", None]


def test_domains_from_tsv(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("a[1|2]\ty\n\t0\n", encoding="utf-8")
    assert read_table(tmp_path / "t.tsv", domains=True).repairs.by_column == {"a": (1, 2)}


# -- files that are no tables ----------------------------------------------------------------------


@pytest.mark.parametrize("read", [read_csv, read_table])
def test_no_such_file(read: Any, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"there is no file '.*none\.csv'; the current folder is"):
        read(tmp_path / "none.csv")


@pytest.mark.parametrize("read", [read_csv, read_table])
def test_a_directory(read: Any, tmp_path: Path) -> None:
    (tmp_path / "d.csv").mkdir()
    with pytest.raises(DataError, match=r"d\.csv' is a directory; name a file in it"):
        read(tmp_path / "d.csv")


def test_an_unknown_suffix() -> None:
    with pytest.raises(DataError, match=r"a \.csv, \.csv\.gz, .*\.xlsx file; got 't\.docx'"):
        read_table("t.docx")


def test_domains_are_for_text() -> None:
    with pytest.raises(DataError, match=r"a \.csv or \.tsv file for domains=True; got 't\.xlsx'"):
        read_table("t.xlsx", domains=True)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "xlsx"])
def test_an_empty_file(suffix: str, tmp_path: Path) -> None:
    (tmp_path / f"t.{suffix}").touch()
    with pytest.raises(DataError, match=r"t\.\w+' is empty: a table needs column names and rows"):
        read_table(tmp_path / f"t.{suffix}")


@pytest.mark.parametrize("text", ["", "\n\n", "a,b\n"])
@pytest.mark.parametrize("domains", [False, True])
def test_nothing_in_the_buffer(text: str, domains: bool) -> None:
    with pytest.raises(DataError, match="the buffer is empty: a table needs column names and rows"):
        read_csv(io.StringIO(text), domains=domains)


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "parquet", "xlsx"])
def test_a_file_of_another_format(suffix: str, tmp_path: Path) -> None:
    module = {"parquet": "pyarrow", "xlsx": "openpyxl"}.get(suffix)
    if module:
        pytest.importorskip(module, reason=f"pandas reads {suffix} with {module}")
    (tmp_path / f"t.{suffix}").write_bytes(b"\x89PNG\r\n\x1a\n\x00\xff\xfe,\xff")
    with pytest.raises(DataError, match=r"cannot be read as (csv|parquet|excel): .+"):
        read_table(tmp_path / f"t.{suffix}")


def test_a_file_that_was_cut_off(tmp_path: Path) -> None:
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(TEXT.encode() * 50)[:-20])
    with pytest.raises(DataError, match="cannot be read as csv"):
        read_table(tmp_path / "t.csv.gz")


def test_rows_of_different_lengths() -> None:
    with pytest.raises(DataError, match=r"cannot be read as csv: .*Expected 2 fields in line 3"):
        csv_of("a,b\n1,2\n1,2,3\n")
    with pytest.raises(DataError, match="have more cells than its header has names"):
        csv_of("a,b\n1,2,3\n1,2,3\n")
    with pytest.raises(DataError, match="Expected 2 fields in line 2, saw 3"):
        domains_of("a,b\n1,2,3\n")
    assert csv_of("a,b\n1,2\n", index_col="a").index.tolist() == [1]


def test_a_table_in_parts() -> None:
    with pytest.raises(DataError, match="must be read as one table, not in chunks or sheets"):
        csv_of("a\n1\n", chunksize=1)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("a,b,a\n1,2,3\n", {}),
        ("a;b;a\n1;2;3\n", {"sep": ";"}),
        ("a,a,a.1\n1,2,3\n", {}),
        ("a,b,a\n1,2,3\n", {"header": "infer"}),
        ("title\na,b,a\n1,2,3\n", {"skiprows": 1}),
        ("title\na,b,a\n1,2,3\n", {"header": 1}),
        ("a,b,a\n1,2,3\n", {"domains": True}),
        ("a[1|2],b, a\n1,2,3\n", {"domains": True}),
    ],
)
def test_a_name_that_stands_twice(text: str, options: dict[str, Any]) -> None:
    with pytest.raises(DataError, match="more than one column of the buffer is called 'a'"):
        read_csv(io.StringIO(text), **options)


@pytest.mark.parametrize(
    ("text", "options", "names"),
    [
        ("a,b,a.1\n1,2,3\n", {}, ["a", "b", "a.1"]),
        ("b,b\n1,2\n", {"names": ["a", "a.1"], "header": 0}, ["a", "a.1"]),
        ("a,b,b\n1,2,3\n", {"usecols": [0]}, ["a"]),
    ],
)
def test_names_that_do_not_stand_twice(
    text: str, options: dict[str, Any], names: list[str]
) -> None:
    assert list(csv_of(text, **options).columns) == names


def test_a_name_that_stands_twice_in_excel(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl", reason="pandas reads Excel with openpyxl")
    book = openpyxl.Workbook()
    for line in (["a", "b", "a"], [1, 2, 3]):
        book.active.append(line)
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(DataError, match=r"more than one column of '.*t\.xlsx' is called 'a'"):
        read_table(tmp_path / "t.xlsx")


# -- explicit domains ------------------------------------------------------------------------------


def test_domains_and_candidates() -> None:
    table = domains_of("age[18|30|65], pets ,city,y\n40,[2|3],A,no\n,0,[B|C],yes\n18.5,1,[A],no\n")
    assert nulls_as_none(table.frame["age"]) == [40.0, None, 18.5]
    assert nulls_as_none(table.frame["pets"]) == [None, 0, 1]
    assert table.frame["pets"].dtype == "Int64"
    assert nulls_as_none(table.frame["city"]) == ["A", None, "A"]
    assert table.repairs.by_column == {"age": (18.0, 30.0, 65.0)}
    assert table.repairs.by_cell == {(0, "pets"): (2, 3), (1, "city"): ("B", "C")}


def test_an_incomplete_table_from_domains() -> None:
    read = domains_of(
        "age[18|30|65],pets,city[A|D],y\n40,[2|3],A,no\n,0,,yes\n18,1,[A],no\n,[5|6|7],B,no\n"
    )
    table = IncompleteTable(read.frame, label="y", repairs=read.repairs, prior="uniform")
    assert table.candidates(0) == [{"pets": 2}, {"pets": 3}]
    assert table.candidates(1) == [
        {"age": age, "city": city} for age in (18, 30, 65) for city in "AD"
    ]
    assert table.candidates(2) == [{}]
    assert table.dataset.n_worlds == 2 * 6 * 9
    assert not any(options.joint for options in table.options.values())


def test_the_same_candidates_for_doubted_cells() -> None:
    read = domains_of("a[1|2],b,y\n7,1,0\n3,2,1\n4,[3|4],1\n")
    suspects = [(0, "a")]
    table = IncompleteTable(read.frame, label="y", repairs=read.repairs, suspects=suspects)
    assert table.candidates(0) == [{"a": 7}, {"a": 1}, {"a": 2}]
    with pytest.raises(TableError, match="column 'b' has no domain, but is empty in row 0"):
        IncompleteTable(read.frame, label="y", repairs=read.repairs, suspects=[(0, "b")])


def test_equal_values_count_once_and_one_value_is_certain() -> None:
    table = domains_of("a[1|1.0],b[x|x|y],c\n,,[2|2.0|2]\n3,x,[4]\n")
    assert table.frame["a"].tolist() == [1.0, 3.0]
    assert nulls_as_none(table.frame["b"]) == [None, "x"]
    assert table.frame["c"].tolist() == [2.0, 4.0]
    assert table.repairs.by_column == {"a": (1.0,), "b": ("x", "y")}
    assert table.repairs.by_cell == {}


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        (["1", "+2", "-3"], "Int64"),
        (["1", "2.", ".5e-1"], "float64"),
        (["1", "9" * 30], "float64"),
        (["1", "nan", "2"], "str"),
        (["1", "inf"], "str"),
        (["1", "1e999"], "str"),
        (["1_0", "2"], "str"),
        (["1", "x"], "str"),
    ],
)
def test_numbers_are_numbers_if_all_are(values: list[str], dtype: str) -> None:
    certain = ["5", "6"]
    table = domains_of("\n".join(["a", *certain, f"[{'|'.join(values)}]"]) + "\n")
    assert str(table.frame["a"].dtype) in {dtype, "object" if dtype == "str" else dtype}
    (found,) = table.repairs.by_cell.values()
    number: Any = {"Int64": int, "float64": float}.get(dtype, str)
    assert found == tuple(number(value) for value in values)
    assert {type(value) for value in found} == {number}
    assert nulls_as_none(table.frame["a"]) == [number("5"), number("6"), None]


def test_kinds_of_columns_with_domains() -> None:
    text = "zip[007|012],day,ok\n,[2020-01-02|2020-02-01],[0|1]\n0,2020-01-01,1\n"
    kinds = {"zip": "categorical", "day": "date", "ok": "boolean"}
    table = domains_of(text, kinds=kinds)
    assert table.repairs.by_column == {"zip": ("007", "012")}
    assert table.repairs.by_cell[0, "ok"] == (False, True)
    assert table.repairs.by_cell[0, "day"] == (
        pd.Timestamp("2020-01-02"), pd.Timestamp("2020-02-01")
    )  # fmt: skip
    assert_same(read_csv(io.StringIO(written(table)), domains=True, kinds=kinds), table)


def test_tokens_are_empty_cells() -> None:
    table = domains_of("a[1|2],b\n ? ,x\n3,?y\n", null_tokens=["?"])
    assert nulls_as_none(table.frame["a"]) == [None, 3]
    assert domains_of("a\nNA\n").frame["a"].tolist() == ["NA"]


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        (r"\[2|3\]", "[2|3]"),
        (r"a|b [c]", "a|b [c]"),
        (r"a\|b", "a|b"),
        (r"C:\temp", r"C:\temp"),
        (r"C:\\[x", r"C:\[x"),
        ("end\\", "end\\"),
        ("  a b  ", "a b"),
        (r"\  a\ ", "  a "),
        ('"a, ""b"""', 'a, "b"'),
        (' "a,b"', "a,b"),
        ('"a\nb"', "a\nb"),
        (r"[ a \| b | a ]", ("a | b", "a")),
        (r'"[a,b|\[c\]|\\]"', ("a,b", "[c]", "\\")),
        (r"[\ |x]", (" ", "x")),
    ],
)
def test_escapes(cell: str, expected: Any) -> None:
    table = domains_of(f"a,b\n{cell},x\n")
    if isinstance(expected, str):
        assert table.frame["a"].tolist() == [expected]
    else:
        assert table.repairs.by_cell == {(0, "a"): expected}
    assert_same(domains_of(written(table)), table)


def test_escapes_in_names() -> None:
    table = domains_of('weight \\[kg\\] [1|2],"a, b",c\\|d|e\n,1,2\n')
    assert list(table.frame.columns) == ["weight [kg]", "a, b", "c|d|e"]
    assert table.repairs.by_column == {"weight [kg]": (1, 2)}
    assert_same(domains_of(written(table)), table)


@pytest.mark.parametrize(
    "cell", ["[1|2", "[1|2]x", "[", "[]", "[1||2]", "[1|[2]]", "[1]|[2]", "[1|]"]
)
def test_lists_that_cannot_be_read(cell: str) -> None:
    message = rf"row 1, column 'a': values are listed as in .*got {re.escape(repr(cell))}"
    with pytest.raises(TableError, match=message):
        domains_of(f"a,b\n1,1\n{cell},2\n")
    with pytest.raises(TableError, match="the header of column 'a': values are listed as in"):
        domains_of(f"a{cell},b\n1,1\n")


def test_columns_without_a_name() -> None:
    with pytest.raises(TableError, match=r"column 2 has no name; its header is '\[1\|2\]'"):
        domains_of("a,[1|2]\n1,1\n")


def test_empty_cells_without_a_domain() -> None:
    with pytest.raises(
        TableError, match=r"column 'b' has no domain, but is empty in row 0, 2, 3 and 1 more\. List"
    ):
        domains_of("a[1|2],b\n1,\n,5\n1,\n2,\n2, \n")


def test_options_that_domains_do_not_take() -> None:
    with pytest.raises(TableError, match="reads the values itself; leave out dtype, index_col"):
        domains_of("a\n1\n", index_col=0, dtype=str)
    table = domains_of("a;b[x|y]\n1;\n", sep=";")
    assert table.repairs.by_column == {"b": ("x", "y")}


def test_domains_of_another_table() -> None:
    read = domains_of("a[1|2],b,y\n,1,0\n3,2,1\n4,3,1\n")
    with pytest.raises(TableError, match="belong to a table of 3 rows; got one of 2"):
        IncompleteTable(read.frame.iloc[:2], label="y", repairs=read.repairs)


def test_domains_propose_stored_values() -> None:
    read = domains_of("a[1|2],b\n,1\n3,2\n")
    columns = [column_from_objects("a", [None, 3]), column_from_objects("b", [1, 2])]
    holes = np.array([[True, False], [False, False]])
    (options,) = read.repairs.propose(columns, holes).values()
    assert options.cells == (0,)
    assert options.values == ((1.0, 2.0),)
    assert {type(value) for value in options.values[0]} == {float}


# -- writing ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "tsv", "tsv.gz"])
def test_writing_to_files(suffix: str, tmp_path: Path) -> None:
    table = domains_of('a[1|2],"b\tc",y\n,"[p,q|r]",0\n3,x,1\n')
    write_domains(table, tmp_path / f"t.{suffix}")
    assert_same(read_table(tmp_path / f"t.{suffix}", domains=True), table)


def test_writing_where_nothing_can_be_written(tmp_path: Path) -> None:
    with pytest.raises(TableError, match=r"cannot write '.*t\.csv': "):
        write_domains(domains_of("a\n1\n"), tmp_path / "none" / "t.csv")


def test_writing_an_incomplete_table() -> None:
    frame = pd.DataFrame(
        {"age": [18, None, 65, 40], "city": ["A", "B", None, "A"], "ok": [True, False, None, True],
         "y": ["n", "y", "y", "n"]}
    )  # fmt: skip
    repairs = {"age": [20, 30.5], "city": ["A", "C|D"]}
    table = IncompleteTable(frame, label="y", repairs=repairs, suspects=[(0, "age")])
    assert written(table) == (
        "age,city[A|C\\|D],ok[0|1],y\n[18.0|20.0|30.5],A,1,n\n[20.0|30.5],B,0,y\n65.0,,,y\n"
        "40.0,A,1,n\n"
    )
    read = domains_of(written(table))
    again = IncompleteTable(read.frame, label="y", repairs=read.repairs)
    assert again.dataset.n_worlds == table.dataset.n_worlds == 3 * 2 * 4
    for row in range(4):
        assert again.candidates(row) == table.candidates(row)
        assert np.allclose(again.dataset.candidates(row), table.dataset.candidates(row))
    assert_same(domains_of(written(again)), read)


def test_writing_the_default_repairs() -> None:
    frame = pd.DataFrame({"a": ["x", None, "y", "x"], "b": [1, 2, 3, 4]})
    table = IncompleteTable(frame, label=[0, 1, 0, 1])
    assert written(table).splitlines()[0] == "a[x|y|other],b,label"
    assert table.options[1].values[0][-1] is OTHER


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        (["x", None, "other", "x"], {}, "column 'a' holds the text \"other\""),
        (["x", None, "", "x"], {}, "an empty text cannot be written"),
        (["x", None, "z", "x"], {"b": "label"}, "a feature is called 'label' too"),
    ],
)
def test_tables_that_cannot_be_written(values: Any, options: Any, message: str) -> None:
    frame = pd.DataFrame({"a": values, "b": [1, 2, 3, 4]}).rename(columns=options)
    with pytest.raises(TableError, match=message):
        written(IncompleteTable(frame, label=[0, 1, 0, 1]))


def test_versions_of_a_row_cannot_be_written() -> None:
    from sklearn.impute import SimpleImputer

    frame = pd.DataFrame({"a": [1.0, None, 3.0], "b": [1, 2, 3]})
    imputers = [SimpleImputer(strategy="mean"), SimpleImputer(strategy="constant", fill_value=9)]
    table = IncompleteTable(frame, label=[0, 1, 0], repairs=imputers)
    with pytest.raises(TableError, match="candidates of row 1 are whole versions of the row"):
        written(table)


def test_holes_without_candidates_cannot_be_written() -> None:
    frame = pd.DataFrame({"a": [None, None], "b": [1, 2]})
    with pytest.warns(UserWarning, match="no value is observed in column 'a'"):
        table = IncompleteTable(frame, label=[0, 1])
    with pytest.raises(TableError, match="column 'a' has no domain, but is empty in row 0, 1"):
        written(table)
    read = domains_of("a[1|2],b\n,1\n")
    with pytest.raises(TableError, match="column 'b' has no domain, but is empty in row 0"):
        written(DomainTable(read.frame.assign(b=None), read.repairs))


AWKWARD = st.text(alphabet=list("ab1 |[]\\,\"';:?#é\t\n\r\u2003"), min_size=1, max_size=5)
NUMBERS = st.integers(-(10**12), 10**12).map(str) | st.floats(
    allow_nan=False, allow_infinity=False
).map(repr)


def escaped(text: str) -> str:
    """The test's own way to write a text: everything that may be escaped is."""
    return re.sub(r"[\\|\[\]\s]", r"\\\g<0>", text)


def quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


@st.composite
def tables(draw: Any) -> tuple[str, dict[str, str], list[list[tuple[str, ...]]]]:
    """The text of a file, its kinds, and the texts that each cell can be, column by column."""
    names = draw(st.lists(AWKWARD, min_size=1, max_size=3, unique=True))
    n_rows = draw(st.integers(1, 4))
    header, columns, kinds, expected = [], [], {}, []
    for name in names:
        numeric = draw(st.booleans())
        values = NUMBERS if numeric else AWKWARD
        lists = st.lists(values, min_size=1, max_size=3)
        domain = draw(st.none() | lists)
        cells = draw(
            st.lists(lists if domain is None else st.none() | lists,
                     min_size=n_rows, max_size=n_rows)
        )  # fmt: skip
        kinds |= {} if numeric else {name: "categorical"}
        listed = [f"[{'|'.join(map(escaped, one))}]" if one else "" for one in [domain, *cells]]
        plain = [
            escaped(one[0]) if one and len(one) == 1 and draw(st.booleans()) else text
            for one, text in zip(cells, listed[1:], strict=True)
        ]
        header.append(quoted(escaped(name) + listed[0]))
        columns.append([quoted(cell) for cell in plain])
        expected.append([tuple(one or domain) for one in cells])
    lines = [header, *zip(*columns, strict=True)]
    return "\n".join(",".join(line) for line in lines) + "\n", kinds, expected


@settings(max_examples=150)
@given(tables())
def test_what_is_read_is_written_back(table: Any) -> None:
    text, kinds, expected = table
    read = domains_of(text, kinds=kinds)
    for name, cells in zip(read.frame.columns, expected, strict=True):
        known: Any = str if name in kinds else float
        for row, (value, texts) in enumerate(
            zip(nulls_as_none(read.frame[name]), cells, strict=True)
        ):
            distinct = tuple(dict.fromkeys(map(known, texts)))
            if value is not None:
                assert (known(value),) == distinct
                continue
            own = read.repairs.by_cell.get((row, name), read.repairs.by_column.get(name))
            assert own is not None
            assert tuple(map(known, own)) == distinct
    assert_same(domains_of(written(read), kinds=kinds), read)


# -- a real table, and a light import --------------------------------------------------------------


@pytest.mark.skipif(not ADULT.exists(), reason="the table Adult is not here")
def test_adult_as_it_is_and_with_its_tokens() -> None:
    plain = read_table(ADULT)
    pd.testing.assert_frame_equal(plain, pd.read_csv(ADULT))
    holes = plain.isna().sum()
    assert set(holes[holes > 0].index) == {"Workclass", "Occupation", "Native-country"}
    published = re.sub(",(?=,)", ", ?", ADULT.read_text("utf-8"))  # where holes are " ?"
    pd.testing.assert_frame_equal(csv_of(published, null_tokens=["?"]), plain)


def test_importing_the_reader_does_not_load_pandas() -> None:
    code = "import sys, cpclean.data.reading; sys.exit('pandas' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
