"""Commands on a training table of many files say what they say about the same rows in one file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result
from streamed_files import as_arrow, mixed_frame, write_parquet

from cpclean.cli import main

PLAIN = ("--label", "y", "--space", "plain")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "parts").mkdir()
    frame = mixed_frame(2, 70)
    write_parquet(frame, tmp_path / "parts", 3, 9)
    pq.write_table(as_arrow(frame), tmp_path / "one.parquet")
    pq.write_table(as_arrow(mixed_frame(3, 6)), tmp_path / "val.parquet")
    return tmp_path


def run(*arguments: Any) -> Result:
    return CliRunner().invoke(main, [str(one) for one in arguments])


@pytest.mark.parametrize("command", [("check",), ("count",), ("rank", "--top", "3", "--values")])
def test_many_files_are_one_table(command: tuple[str, ...], place: Path) -> None:
    name, *more = command
    options = (*PLAIN, "--val", place / "val.parquet", *more, "--json")
    one = run(name, place / "one.parquet", *options)
    for files in (place / "parts", place / "parts" / "*.parquet"):
        many = run(name, files, *options)
        assert many.exit_code == one.exit_code == 0, many.output
        assert json.loads(many.stdout) == json.loads(one.stdout)
        assert "70 rows in 3 files; " in many.stderr
        assert "matter to these 6 predictions" in many.stderr


def test_mistakes(place: Path) -> None:
    val = ("--val", place / "val.parquet")
    cases: list[tuple[tuple[Any, ...], str]] = [
        (("check", place / "parts", *PLAIN), "name the rows to predict, --val FILE"),
        (("check", place / "*.tsv", *PLAIN, *val), "no file matches"),
        (("check", place / "parts", "-l", "z", *val), "there is no label column 'z'"),
        (("check", place / "parts", *PLAIN, *val, "--domains"), "--domains reads one file"),
        (("inspect", place / "parts", *PLAIN, *val), "cpclean inspect reads one file"),
        (("check", place / "parts", *PLAIN, *val, "--repairs", "holoclean"), "whole rows"),
    ]
    pd.DataFrame({"grade": [1.0]}).to_csv(place / "lacking.csv", index=False)
    cases.append(
        (("check", place / "parts", *PLAIN, "--val", place / "lacking.csv"), "it lacks 'size'")
    )
    for arguments, text in cases:
        done = run(*arguments)
        assert done.exit_code == 2, arguments
        assert text in done.stderr.replace("\n", " "), done.stderr
