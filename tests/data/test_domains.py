"""Explicit domains: what a file lists, there and back, and the tables made of it."""

from __future__ import annotations

import io
import itertools
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cpclean import CertainKNeighborsClassifier, IncompleteTable
from cpclean.data.column_reading import column_from_objects
from cpclean.data.columns import OTHER
from cpclean.data.domains import DomainTable, write_domains
from cpclean.errors import TableError
from cpclean.intake.reading import read_csv, read_table


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


# -- reading -------------------------------------------------------------------------------------


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
    assert not any(options.joint for _, options in table.options.items())


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
    read = domains_of("a[1|2],b\n1,\n,5\n1,\n2,\n2, \n")
    assert nulls_as_none(read.frame["b"]) == [None, 5, None, None, None]
    assert domains_of(written(read)) == read
    message = r"column 'b' has no domain, but is empty in row 0, 2, 3 and 1 more\. List"
    with pytest.raises(TableError, match=message):
        IncompleteTable(read, label=[0, 1, 0, 1, 0])


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


# -- a table straight from what was read -----------------------------------------------------------

AGES = (
    "age[18|30|65],pets,city[A|D],y\n"
    "40,[2|3],A,no\n"
    ",0,,yes\n"
    "18,1,[A],\n"
    ",[5|6],B,no\n"
)  # fmt: skip


def test_a_table_takes_what_was_read_as_it_is() -> None:
    read = domains_of(AGES.replace("[A],\n", "[A],yes\n"))
    expected = IncompleteTable(read.frame, "y", read.repairs)
    for table in (IncompleteTable(read, label="y"), IncompleteTable(read, "y", read.repairs)):
        assert table.dataset == expected.dataset
        assert table.candidates(0) == [{"pets": 2}, {"pets": 3}]
        assert table.candidates(3)[:2] == [{"age": 18, "pets": 5}, {"age": 18, "pets": 6}]
        assert table.dataset.n_worlds == 2 * 6 * 6
    listed = IncompleteTable(read, label=[0, 1, 1, 0])  # then the column y is a feature
    assert listed.names == ("age", "pets", "city", "y")


def test_options_of_tables_go_with_domains() -> None:
    read = domains_of(AGES.replace("[A],\n", "[A],yes\n"))
    table = IncompleteTable(
        read, "y", prior={"age": {18: 1, 30: 3}}, weights={"city": 0}, kinds={"pets": "categorical"}
    )
    assert table.candidates(1) == [{"age": 18}, {"age": 30}, {"age": 65}]
    assert table.dataset.prior(1).tolist() == [0.25, 0.75, 0.0]
    assert table.columns[1].kind == "categorical"


@pytest.mark.parametrize("head", ["y", "y[no|yes]"])
def test_rows_without_a_label_can_be_dropped(head: str) -> None:
    read = domains_of(AGES.replace(",y\n", f",{head}\n"))
    with pytest.raises(TableError, match=r"needs a label; missing in row 2\. Pass drop_unlabelled"):
        IncompleteTable(read, label="y")
    table = IncompleteTable(read, label="y", drop_unlabelled=True)
    assert table.rows_kept.tolist() == [0, 1, 3]
    assert table.row(2) == {"age": None, "pets": None, "city": "B"}
    assert table.candidates(2) == [
        {"age": age, "pets": pets} for age in (18, 30, 65) for pets in (5, 6)
    ]
    by_hand = IncompleteTable(read.frame, "y", read.repairs, drop_unlabelled=True)
    assert by_hand.dataset == table.dataset
    listed = [*read.frame["y"]]
    listed[0] = None
    again = IncompleteTable(read, label=listed, drop_unlabelled=True, weights={"y": 0})
    assert again.candidates(1) == table.candidates(2)


def test_suspects_and_errors_count_rows_as_the_file_does() -> None:
    read = domains_of(AGES)
    table = IncompleteTable(read, "y", drop_unlabelled=True, suspects=[(3, "city"), (2, "city")])
    assert [one["city"] for one in table.candidates(2)[:3]] == ["B", "A", "D"]
    with pytest.raises(TableError, match="column 'age' has no domain, but is empty in row 3"):
        IncompleteTable(
            domains_of("age,y\n1,0\n2,\n3,1\n,1\n"), "y", drop_unlabelled=True
        )  # fmt: skip


@pytest.mark.parametrize("repairs", [{"age": [1]}, [object()], None])
def test_domains_and_other_repairs_contradict_each_other(repairs: Any) -> None:
    message = "a table with explicit domains brings its own candidates, but got repairs=.*Leave"
    read = domains_of(AGES)
    with pytest.raises(TableError, match=message):
        IncompleteTable(read, "y", repairs)
    with pytest.raises(TableError, match=message):
        CertainKNeighborsClassifier(1, repairs=repairs).fit(read, "y")
    table = IncompleteTable(read.frame, "y", {"age": [1]}, drop_unlabelled=True)
    assert table.candidates(1)[0]["age"] == 1


@pytest.mark.parametrize(
    ("domain", "kind"), [("x|y", "categorical"), ("1|2.5", "numeric"), ("1|x", "categorical")]
)
def test_a_column_of_which_only_the_domain_is_known(domain: str, kind: str) -> None:
    read = domains_of(f"a[{domain}],b,y\n,1,0\n,2,1\n")
    table = IncompleteTable(read, label="y")
    assert table.columns[0].kind == kind
    assert [str(one["a"]).removesuffix(".0") for one in table.candidates(0)] == domain.split("|")


def test_a_classifier_takes_what_was_read() -> None:
    read = domains_of(AGES.replace("[A],\n", "[A],yes\n"))
    model = CertainKNeighborsClassifier(1).fit(read, "y")
    assert model.dataset_ == IncompleteTable(read, "y").dataset
    assert model.feature_names_in_.tolist() == ["age", "pets", "city"]
    points = domains_of("age[18|30|65],pets,city[A|D]\n18,1,A\n65,0,D\n")
    expected = model.predict_proba(points.frame)
    np.testing.assert_array_equal(model.predict_proba(points), expected)
    np.testing.assert_array_equal(IncompleteTable(read, "y").encode(points)[0, :2], [0.0, 1.0])
    listed = [model.predict_proba(points.frame.assign(age=age))[0] for age in (18, 65)]
    holes = domains_of("age[18|65],pets,city[A|D]\n,1,A\n")  # of 18, 30 and 40: 18 is nearest
    found = model.predict_proba(holes)[0]
    np.testing.assert_allclose(found, model.table_.points(holes).weight @ listed)
    without = DomainTable(read.frame.drop(columns="y"), read.repairs)
    again = CertainKNeighborsClassifier(1).fit(without, read.frame["y"])
    np.testing.assert_array_equal(again.predict_proba(points), expected)
    with pytest.raises(TableError, match="name the label column"):
        CertainKNeighborsClassifier(1).fit(read)


def test_equal_tables() -> None:
    read = domains_of(AGES)
    assert read == domains_of(AGES)
    assert read == domains_of(written(read))
    assert read != domains_of(AGES.replace("[5|6]", "[6|5]"))
    assert read != domains_of(AGES.replace("40", "41"))
    assert read != domains_of(AGES.replace("40", "40.0"))  # the numbers are no longer whole
    assert read != AGES


def test_a_table_there_and_back_is_the_same_dataset() -> None:
    read = domains_of(AGES)
    table = IncompleteTable(read, "y", drop_unlabelled=True)
    again = IncompleteTable(domains_of(written(table)), "y")
    assert again.dataset == table.dataset
    assert [again.candidates(row) for row in range(3)] == [table.candidates(r) for r in range(3)]


def test_durations_are_written_as_seconds() -> None:
    waits = pd.to_timedelta(["1 days", None, "-1 days +23:00:00.5", "0 days"])
    table = IncompleteTable(pd.DataFrame({"wait": waits, "k": range(4)}), label=[0, 1, 0, 1])
    assert written(table).splitlines()[1:3] == ["86400.0,0,0", ",1,1"]
    read = domains_of(written(table), kinds={"wait": "duration"})
    assert read.frame["wait"].dtype.kind == "m"
    assert IncompleteTable(read, "label").dataset == table.dataset
    assert domains_of(written(read), kinds={"wait": "duration"}) == read


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
    assert table.options_of(1).values[0][-1] is OTHER


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
