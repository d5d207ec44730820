"""The line of a row is the same number everywhere in the terminal and its logs."""

from __future__ import annotations

import gzip
import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from cpclean.cli import main
from cpclean.errors import TableWarning
from cpclean.intake.file_lines import FileLines
from cpclean.intake.reading import read_csv
from cpclean.intake.textfile import TextFile

OPTIONS = ("--label", "y", "--space", "plain", "-k", "1", "--val", "val.csv")


@pytest.fixture
def frame(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    made = pd.DataFrame({"size": rng.integers(0, 20, 30).astype(float), "note": "a b"})
    made["y"] = np.where(rng.random(30) < 0.5, "yes", "no")
    made.iloc[:5].to_csv("val.csv", index=False)
    made.loc[3:20:4, "size"] = np.nan
    return made


def run(*arguments: str, said: str = "") -> Any:
    done = CliRunner().invoke(main, list(arguments), input=said, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done


def test_cells_of_several_lines_and_workbooks(frame: pd.DataFrame) -> None:
    """What an editor shows: cells with line breaks and empty lines count."""
    frame.loc[::2, "note"] = "two\nlines"
    frame.to_csv("train.csv", index=False)
    Path("train.csv").write_text(Path("train.csv").read_text().replace("no\n", "no\n\n", 1))
    found = json.loads(run("rank", "train.csv", *OPTIONS, "--json").stdout)
    written = Path("train.csv").read_text().split("\n")
    assert found
    for one in found:
        assert written[one["line"] - 1].startswith(","), one  # the size is missing there
    text = run("clean", "train.csv", *OPTIONS, said="s\nsize=4\nq\n").stdout
    asked = re.findall(r"^Row (\d+), line (\d+) of the file", text, re.MULTILINE)
    lines = {str(one["row"]): str(one["line"]) for one in found}
    assert asked
    assert all(lines[row] == line for row, line in asked)
    log = [json.loads(one) for one in Path("train.csv.answers.jsonl").read_text().splitlines()[1:]]
    assert [(str(one["row_in_file"]), str(one["line"])) for one in log] == asked[:2]
    told = json.loads(run("inspect", "train.csv", *OPTIONS, "--json").stdout)
    rows, first = told["table"]["first_rows"], told["table"]["first_lines"]
    assert [lines[str(row)] for row in rows] == list(map(str, first))
    assert f"line{'' if len(rows) == 1 else 's'} {first[0]}" in " ".join(told["advice"])


@pytest.mark.parametrize("suffix", [".xlsx", ".parquet"])
def test_workbooks_have_lines_and_parquet_has_none(frame: pd.DataFrame, suffix: str) -> None:
    getattr(frame, {".xlsx": "to_excel", ".parquet": "to_parquet"}[suffix])(
        f"train{suffix}", index=False
    )
    found = json.loads(run("rank", f"train{suffix}", *OPTIONS, "--json").stdout)
    if suffix == ".parquet":
        assert all("line" not in one for one in found)
        return
    import openpyxl

    sheet = openpyxl.load_workbook("train.xlsx").active
    assert all(sheet.cell(one["line"], 1).value is None for one in found)


def test_a_file_that_has_other_rows_has_no_lines() -> None:
    assert FileLines.of(TextFile(b"a\n1\n2\n"), 5).at(0) is None
    assert FileLines.of(TextFile(b"a\n1\n2\n"), 2).at(-1) is None


ODD = (
    "size,note\n" + "".join(f'{n}.5,"of two\nlines"\n' for n in range(40)) + "45 mm,x\nunknown,x\n"
)


@pytest.mark.parametrize("way", ["text", "bytes", "path", "packed"])
def test_warnings_about_odd_cells_name_their_lines(way, tmp_path):
    packed = tmp_path / "odd.csv.gz"
    packed.write_bytes(gzip.compress(ODD.encode()))
    (tmp_path / "odd.csv").write_text(ODD, "utf-8")
    given = {
        "text": io.StringIO(ODD),
        "bytes": io.BytesIO(ODD.encode()),
        "path": tmp_path / "odd.csv",
        "packed": packed,
    }[way]
    with pytest.warns(TableWarning, match=r"'45 mm' \(row 40\).* In the file, .* lines 82, 83\."):
        read_csv(given)


def test_lines_are_not_guessed_where_some_were_skipped():
    with pytest.warns(TableWarning) as seen:
        read_csv(io.StringIO("about\n" + ODD), skiprows=1)
    assert "In the file" not in str(seen[0].message)
