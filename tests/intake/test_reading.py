"""Files in: CSV, TSV, Parquet and Excel, and null tokens."""

from __future__ import annotations

import gzip
import io
import re
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from cpclean import IncompleteTable
from cpclean.data.domains import DomainTable
from cpclean.errors import DataError, TableError
from cpclean.intake.reading import read_csv, read_table

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


SALES: dict[str, list[Any]] = {
    "age": [18, None, 30, 65, 40, 22],
    "height": [1.5, 1.75, None, 1.25, 2.0, -9.0],
    "city": ["A", "B", None, "?", "A", " A"],
    "member": [True, None, False, True, True, False],
    "since": [datetime(2020, 1, 1), datetime(2021, 6, 1, 12), None] + [datetime(2019, 3, 5)] * 3,
    "wait": [timedelta(1), None, timedelta(hours=5), timedelta(2), timedelta(0), timedelta(1)],
    "y": ["no", "yes", "no", "yes", "no", "yes"],
}
# What files of text cannot tell.
SALES_KINDS = {"since": "date", "wait": "duration"}


def write_sales(path: Path) -> None:
    frame = pd.DataFrame(SALES)
    if path.suffix == ".parquet":
        pytest.importorskip("pyarrow", reason="pandas reads Parquet with pyarrow")
        frame.to_parquet(path)
    elif path.suffix == ".xlsx":
        pytest.importorskip("openpyxl", reason="pandas reads Excel with openpyxl")
        frame.assign(wait=frame["wait"].dt.total_seconds()).to_excel(path, index=False)
    else:
        frame.to_csv(path, index=False, sep="\t" if "tsv" in path.name else ",")


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "tsv", "tsv.gz", "parquet", "xlsx"])
def test_every_format_gives_the_same_dataset(suffix: str, tmp_path: Path) -> None:
    tokens = ["?", "-9"]
    expected = IncompleteTable(pd.DataFrame(SALES), label="y", null_tokens=tokens)
    path = tmp_path / f"t.{suffix}"
    write_sales(path)
    read = read_table(path, kinds=SALES_KINDS, null_tokens=tokens)
    plain = read_table(path, kinds=SALES_KINDS)  # tokens are an option of the table as well
    for table in (IncompleteTable(read, "y"), IncompleteTable(plain, "y", null_tokens=tokens)):
        assert table.dataset == expected.dataset
        assert [column.kind for column in table.columns] == [
            "numeric", "numeric", "categorical", "boolean", "date", "duration",
        ]  # fmt: skip
        for row in range(6):
            assert table.row(row) == expected.row(row)
            assert table.candidates(row) == expected.candidates(row)


def test_gzip_is_known_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(TEXT.encode()))
    expected = csv_of(TEXT)
    pd.testing.assert_frame_equal(read_csv(tmp_path / "t.csv.gz"), expected)
    pd.testing.assert_frame_equal(read_table(str(tmp_path / "t.csv.gz")), expected)


def test_large_whole_numbers() -> None:
    long = 2**53 + 1
    frame = csv_of(f"a\n{long}\n-1\n", null_tokens=[-1])
    assert nulls_as_none(frame["a"]) == [long, None]
    with pytest.warns(
        UserWarning, match=r"rounded in column 'a'\. To keep all digits as text: kinds"
    ):
        frame = csv_of(f"a\n{long}\n?\n", null_tokens="?")
    assert nulls_as_none(frame["a"]) == [float(2**53), None]
    frame = csv_of(f"a\n{long}\n?\n", null_tokens="?", kinds={"a": "categorical"})
    assert nulls_as_none(frame["a"]) == [str(long), None]


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


def test_excel_numbers_that_are_to_be_categories(tmp_path: Path) -> None:
    pytest.importorskip("openpyxl", reason="pandas reads Excel with openpyxl")
    given = pd.DataFrame({"zip": [7, None, 12], "code": ["007", "7", None]}, dtype=object)
    given.to_excel(tmp_path / "t.xlsx", index=False)
    kinds = {"zip": "categorical", "code": "categorical"}
    frame = read_table(tmp_path / "t.xlsx", kinds=kinds)
    assert nulls_as_none(frame["zip"]) == ["7", None, "12"]
    assert nulls_as_none(frame["code"]) == ["007", "7", None]


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
    code = "import sys, cpclean.intake.reading; sys.exit('pandas' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_row_names_without_a_header_are_refused(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2,3\n2,3,4\n3,4,5\n")
    with pytest.raises(TableError, match=r"t\.csv"):
        read_table(tmp_path / "t.csv")
