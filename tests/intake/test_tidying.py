"""Cells as they are meant: numbers among odd cells, days, doubted values, spellings, ranges."""

import io

import numpy as np
import pandas as pd
import pytest

from cpclean.errors import TableWarning
from cpclean.intake.choices import Choices, HoldOut, PointsFile
from cpclean.intake.layout import Layout
from cpclean.intake.notes import IntakeError
from cpclean.intake.odd_numbers import as_numbers
from cpclean.intake.open_task import Opened, open_task
from cpclean.intake.reading import read_csv
from cpclean.intake.sentences import said
from cpclean.intake.source_file import SourceFile
from cpclean.intake.tidying import one_spelling

PLAIN = [str(number) for number in range(20, 60)]
NAN = float("nan")


def numbers(cells: list, **how) -> list:
    read = as_numbers(pd.Series(cells, name="size", dtype=object), **how)
    return [] if read is None else read.series.tolist()


@pytest.mark.parametrize(("cells", "read"), [
    (["45 mm"], [45.0]),
    (["45mm", " 46 mm "], [45.0, 46.0]),
    (["45 mm", "47 cm"], [NAN, NAN]),  # 47 of what?
    (["450 mm"], [NAN]),  # ten times as large as all others
    (["12 %"], [NAN]),
    (["30 %"], [30.0]),
    (["€ 45", "€46"], [45.0, 46.0]),
    (["unknown", "<5", "~30", "20-30"], [NAN] * 4),
    (["1,234"], [1234.0]),
    (["1,234.5"], [1234.5]),
    (["25,5"], [25.5]),
    (["25,5", "30.5", "1,234"], [25.5, 30.5, NAN]),  # a thousand, or one and a bit
    (["1e2"], []),
    (["A1"], [NAN]),
    ([None, "unknown"], [NAN, NAN]),
])  # fmt: skip
def test_a_few_cells_among_numbers(cells: list, read: list) -> None:
    found = numbers([*PLAIN, *cells])
    if not read:
        assert found == [], "all are numbers, and the frame has them as text"
        return
    assert found[: len(PLAIN)] == [float(one) for one in PLAIN]
    np.testing.assert_array_equal(found[len(PLAIN) :], read)


@pytest.mark.parametrize(("cells", "sep", "read"), [
    (["1,5", "2,25", "-3,0", "1,234"], ",", [1.5, 2.25, -3.0, 1.234]),
    (["1,234", "5,678", "9,123"], ",", [1234.0, 5678.0, 9123.0]),
    (["1,234", "5,678", "9,123"], ";", [1.234, 5.678, 9.123]),
    (["1.234,5", "2.000,75", "3,1"], ";", [1234.5, 2000.75, 3.1]),
    (["1,234,567", "2,000", "3"], ";", [1234567.0, 2000.0, 3.0]),
    (["12 mm", "13 mm", "14 mm"], ",", [12.0, 13.0, 14.0]),
])  # fmt: skip
def test_a_column_that_is_written_so_throughout(cells: list, sep: str, read: list) -> None:
    assert numbers(cells, sep=sep) == read


@pytest.mark.parametrize("cells", [
    ["A1", "A2", "A3", "A4"],
    ["1st", "2nd", "3rd", "4th"],
    ["2024-05-31", "2024-06-01", "2024-06-02"],
    ["12:30", "12:45", "13:00"],
    ["5 mm", "6 cm", "7 m"],
    ["A/5 21171", "PC 17599", "113803", "373450", "SC 2", "349909"],
    ["7", "8", "cat", "dog", "cow"],
    [True, False, "3"],
    ["007", "008", "009"],
])  # fmt: skip
def test_text_stays_text(cells: list) -> None:
    assert numbers(cells) == []


def test_a_text_that_is_found_again_and_again_stands_for_nothing() -> None:
    found = numbers([*PLAIN, *["unknown"] * 30])
    assert np.isnan(found[len(PLAIN) :]).all()
    assert numbers([*PLAIN, *(f"unknown {word}" for word in "abcdefgh")]) == []


def opened(content: str, label: str = "y", points: str | None = None, **chosen) -> Opened:
    source = SourceFile("'t.csv'", ".csv", content.encode)
    given = HoldOut(0.2)
    if points is not None:
        own = SourceFile("'p.csv'", ".csv", points.encode, points=True)
        given = PointsFile(own, chosen.get("layout"))
    return open_task(source, Choices(label, **chosen), given)


def lines(*extra: str, header: str = "size,sex,y") -> str:
    usual = [
        f"{20 + n},{'male' if n % 3 else 'female'},{'no' if n % 2 else 'yes'}" for n in range(30)
    ]
    return "\n".join([header, *usual, *extra, ""])


def words(found: Opened) -> str:
    return " ".join(said(note, "terminal") for note in found.notes)


def test_odd_cells_are_named_and_the_file_keeps_them() -> None:
    found = opened(
        lines("45 mm,male,no", "unknown,male,yes"), points="size,sex\n33,male\n<5,male\n"
    )
    assert "'45 mm' (row 30) is read as 45; 'unknown' (row 31) is taken as missing." in words(found)
    assert "column 'size' of 'p.csv' has numbers, written otherwise in 1 cell: '<5'" in words(found)
    table = found.task.table
    assert table.columns[0].kind == "numeric"
    assert table.holes[:, 0].sum() == 1
    assert found.original.frame["size"].tolist()[-2:] == ["45 mm", "unknown"]
    known = {"size": {31: 27.5}}
    cleaned = found.original.cleaned(table, found.task.row_names, known, ".csv").content.decode()
    assert cleaned == lines("45 mm,male,no", "27.5,male,yes")


def test_text_on_purpose() -> None:
    found = opened(lines("45 mm,male,no"), kinds={"size": "categorical"})
    assert found.task.table.columns[0].kind == "categorical"
    assert "45 mm" not in words(found)


def test_a_label_stays_as_it_is() -> None:
    found = opened(lines("33,male,unknown", "34,male,unknown"), "size", bins=2)
    assert found.task.dataset.classes.tolist() == ["1: up to 34", "2: above 34"]
    content = "\n".join(["a,y", *(f"{n},{n % 4}" for n in range(30)), "3,many", "4,many", ""])
    assert opened(content).task.dataset.classes.tolist() == ["0", "1", "2", "3", "many"]


def test_a_column_with_decimal_commas_is_written_with_them() -> None:
    rows = [f"{n},5;{n}.5;{n % 2};{'no' if n % 2 else 'yes'}" for n in range(20)]
    content = "\n".join(["a;b;c;y", *rows, ";;1;no", ""])
    found = opened(content, layout=Layout(";"), points="a;b;c\n1,5;2.5;1\n")
    known = {"a": {20: 3.25}, "b": {20: 3.25}}
    made = found.original.cleaned(found.task.table, found.task.row_names, known, ".csv")
    assert made.content.decode().splitlines()[-1] == "3,25;3.25;1;no"


def test_days_are_dates_and_the_31st_of_february_is_none() -> None:
    days = [f"2024-02-{1 + n % 28:02},{'no' if n % 2 else 'yes'}" for n in range(30)]
    table = opened("\n".join(["day,y", *days, ",no", ""]), drop_empty=True).task.table
    assert table.columns[0].kind == "date"
    table = opened("\n".join(["day,y", *days, "2024-02-31,no", ""])).task.table
    assert table.columns[0].kind == "categorical"


def test_a_number_can_stand_for_nothing_in_one_column() -> None:
    content = lines("-999,male,no", "-999.0,female,yes")
    found = opened(content, points="size,sex\n-999,male\n", nothing=(("size", "-999"),))
    assert found.task.table.holes[:, 0].sum() == 2
    assert "in 'p.csv', 1 have holes" in words(found).replace("1 has holes", "1 have holes")
    assert found.original.frame["size"].tolist()[-2:] == [-999.0, -999.0]
    with pytest.raises(IntakeError, match=r"no column 'siz'; .* Did you mean 'size'\?"):
        opened(content, nothing=(("siz", "3"),))


def test_suspects_keep_their_value_as_a_candidate() -> None:
    found = opened(
        lines("0,male,no", "0,female,yes"), points="size,sex\n0,male\n", suspects=(("size", "0"),)
    )
    table = found.task.table
    assert table.holes[:, 0].sum() == 2
    assert table.candidates(30)[0]["size"] == 0
    assert "have holes" not in words(found)
    days = [f"2024-02-{1 + n % 28:02},{'no' if n % 2 else 'yes'}" for n in range(30)]
    content = "\n".join(["day,y", *days, "1900-01-01,no", ""])
    doubted = opened(content, points="day\n2024-02-03\n", suspects=(("day", "1900-01-01"),))
    assert doubted.task.table.holes[:, 0].tolist() == [False] * 30 + [True]


def test_values_that_no_cell_has_are_named() -> None:
    content = lines("-999,male,no")
    found = opened(content, nothing=(("size", "-99"), ("size", "-999")))
    assert "no cell of column 'size' is '-99', so nothing is done about it" in words(found)
    assert "is '-999'" not in words(found)
    found = opened(content, suspects=(("sex", "mail"),))
    assert "no cell of column 'sex' is 'mail'" in words(found)


def test_spellings_become_one() -> None:
    found = opened(
        lines("33,MALE,no", "34,male ,yes"), points="size,sex\n33, Male\n", fold=("sex",)
    )
    assert set(found.task.table.columns[1].frequencies) == {"male", "female"}
    assert "values that the training table does not have" not in words(found)
    assert one_spelling(["B ", "b", "b", " B"]) == {"b": "b"}


def test_bins_need_numbers() -> None:
    with pytest.raises(IntakeError, match="'sex' has no numbers to put into ranges"):
        opened(lines(), "sex", bins=3)
    content = "\n".join(["a,y", *(f"{n},1.5" for n in range(30)), ""])
    with pytest.raises(IntakeError, match="the same number, which cannot be put into 3 ranges"):
        opened(content, bins=3)


def test_ranges_of_points_are_those_of_the_training_rows() -> None:
    found = opened(lines(), "size", points="size,sex,y\n100,male,no\n1,male,no\n", bins=2)
    assert found.task.labels.tolist() == ["2: above 34", "1: up to 34"]


def test_frames_that_are_read_in_python() -> None:
    content = "size,y\n" + "".join(f"{20 + n},{n % 2}\n" for n in range(30)) + "45 mm,1\n"
    with pytest.warns(TableWarning, match=r"'45 mm' \(row 30\) is read as 45\. To keep") as seen:
        frame = read_csv(io.StringIO(content))
    assert seen[0].message.column == "size"
    assert frame["size"].tolist()[-1] == 45.0
    assert read_csv(io.StringIO(content), kinds={"size": "categorical"})["size"].iloc[-1] == "45 mm"


def test_columns_of_a_workbook_may_be_called_by_numbers() -> None:
    years = {2020: [*range(29), "45 mm"], 2021: [f"2024-02-{1 + n % 28:02}" for n in range(30)]}
    content = io.BytesIO()
    pd.DataFrame({**years, "y": ["no", "yes"] * 15}).to_excel(content, index=False)
    source = SourceFile("'t.xlsx'", ".xlsx", content.getvalue)
    table = open_task(source, Choices("y"), HoldOut(0.2)).task.table
    assert [column.kind for column in table.columns] == ["numeric", "date"]
