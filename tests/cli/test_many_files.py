"""Commands on a training table of many files say what they say about the same rows in one file."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result
from slow_cases import rest_slow
from streamed_files import as_arrow, mixed_frame, write_parquet

from cpclean import StreamedTable
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


def run(*arguments: Any, said: str | None = None) -> Result:
    return CliRunner().invoke(main, [str(one) for one in arguments], input=said)


@pytest.mark.parametrize("command", rest_slow(["rank --top 3 --values", "check", "count"]))
def test_many_files_are_one_table(command: str, place: Path) -> None:
    name, *more = command.split()
    options = (*PLAIN, "--val", place / "val.parquet", *more, "--json")
    one = run(name, place / "one.parquet", *options)
    parts = place / "parts"
    for files in (parts, parts / "*.parquet", parts.as_uri()):
        many = run(name, files, *options)
        assert many.exit_code == one.exit_code == 0, many.output
        found = json.loads(many.stdout)
        if name == "rank":  # they say where a row is
            places = [(line["row"], line.pop("file"), line.pop("row_in_file")) for line in found]
            table = StreamedTable(files, "y")
            where = [table.where(row) for row, *_ in places]
            assert [one for _, *one in places] == [[Path(file).name, at] for file, at in where]
        assert found == json.loads(one.stdout)
        assert "70 rows in 3 files; " in many.stderr
        assert "matter to these 6 predictions" in many.stderr


@pytest.mark.parametrize("space", rest_slow(["plain", "forest"]))
def test_text_files_are_tidied_as_one_file_is(space: str, tmp_path: Path) -> None:
    frame = mixed_frame(2, 70).sort_values("y", kind="stable")  # ties must not go to one label
    frame["code"] = [f"{one % 5}" for one in range(len(frame))]
    frame.loc[frame.index[[3, 20, 45]], "code"] = "unknown"
    points = mixed_frame(3, 6).assign(code=2)
    layout: dict[str, Any] = {"index": False, "sep": ";", "decimal": ",", "encoding": "cp1252"}
    (tmp_path / "parts").mkdir()
    frame.iloc[:30].to_csv(tmp_path / "parts" / "a.csv", **layout)
    frame.iloc[30:].to_csv(tmp_path / "parts" / "b.csv", **layout)
    frame.to_csv(tmp_path / "one.csv", **layout)
    points.to_csv(tmp_path / "val.csv", **layout)
    reading = ("--sep", ";", "--decimal", ",", "--encoding", "cp1252", "--null", "unknown")
    options = ("-l", "y", "--space", space, "--val", tmp_path / "val.csv", *reading)
    for command in ("check", "rank"):
        found = []
        for file in ("one.csv", "parts"):
            done = run(command, tmp_path / file, *options, "--json")
            assert done.exit_code == 0, done.output
            found.append(json.loads(done.stdout))
        if command == "rank":  # one of them lists rows that do not matter, too
            kept = {line["row"]: line["score"] for line in found[0]}
            found = [[kept[line["row"]] for line in found[1]], [one["score"] for one in found[1]]]
        assert found[0] == found[1]
    without = run("check", tmp_path / "parts", *options[:-2])
    assert without.exit_code == 2  # numbers in the second file, texts in the first
    assert "--null unknown" in without.stderr.replace("\n", " ")
    nameless = run("check", tmp_path / "parts", *PLAIN, "--val", tmp_path / "val.csv")
    assert "Name what separates cells, such as --sep ';'" in nameless.stderr.replace("\n", " ")


def test_what_is_said_about_rows_of_several_files(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": list("uvw") * 20, "b": [1.0, 2.0] * 30})
    frame["y"] = ["no"] * 30 + ["yes"] * 30
    (tmp_path / "parts").mkdir()
    write_parquet(frame, tmp_path / "parts", 2, 9)
    frame.iloc[[2, 40]].assign(b=[1.0, 9.0]).to_csv(tmp_path / "val.csv", index=False)
    done = run("check", tmp_path / "parts", *PLAIN, "--val", tmp_path / "val.csv")
    said = done.stderr.replace("\n", " ")
    assert "are sorted by 'y'" in said
    assert "1 is also in" in said
    assert "there row 2 of part-0.parquet" in said
    assert "60 rows in 2 files" in said
    leaves = ("-l", "y", "--space", "forest", "--val", tmp_path / "val.csv")
    among = run("check", tmp_path / "parts", *leaves)
    assert "sorted by" not in among.stderr  # their order is a random one there
    assert "Space: leaves of a forest of 100 trees, 15 neighbours" in among.stderr
    for path in (tmp_path / "parts").iterdir():
        pq.write_table(pq.read_table(path).slice(0, 10), path)
    few = run("check", tmp_path / "parts", *leaves)
    assert "20 rows are too few for the leaves of trees" in few.stderr


@pytest.mark.slow
def test_many_files_are_inspected(place: Path) -> None:
    options = (*PLAIN, "--val", place / "val.parquet", "--json")
    one, many = (
        json.loads(run("inspect", files, *options).stdout)
        for files in (place / "one.parquet", place / "parts")
    )
    assert many["table"] == one["table"]
    assert [(each["name"], each["holes"]) for each in many["columns"]] == [
        (each["name"], each["holes"]) for each in one["columns"]
    ]
    assert many["validation_accuracy"]["plain"] == one["validation_accuracy"]["plain"]
    assert many["advice"][0] == one["advice"][0]
    told = run("inspect", place / "parts", *options[:-1])
    assert "70 training rows" in told.stdout


@pytest.mark.slow
def test_a_report_about_many_files_says_what_it_says_about_one(place: Path) -> None:
    told, options = [], (*PLAIN, "--val", place / "val.parquet", "--static", "-o")
    for files in (place / "one.parquet", place / "parts"):
        made = run("report", files, *options, place / "report.html")
        assert made.exit_code == 0, made.output
        page = (place / "report.html").read_text()
        told.append(_sentences(page[page.index('id="table"') :]))
    named = re.compile(r"[Rr]ow \d+ of part-\d.parquet")
    assert any(map(named.search, told[1]))
    numbered = re.compile(r"[Rr]ow \d+")
    assert [named.sub("row", one) for one in told[1]] == [
        numbered.sub("row", one) for one in told[0]
    ]


def _sentences(page: str) -> list[str]:
    """What a page says, up to its general remarks, without what is drawn."""
    about = re.split(r'<section id="(?:trust|reading)"', page)[0]
    texts = re.split(r"<[^>]*>", re.sub(r"<svg.*?</svg>", "", about, flags=re.DOTALL))
    return [one.strip() for one in texts if one.strip()]


def test_many_files_are_cleaned(place: Path) -> None:
    command = ("clean", place / "parts", *PLAIN, "--val", place / "val.parquet")
    first = run(*command, said="1\ngrade=2\nq\n")
    assert first.exit_code == 0, first.output
    assert "70 rows with 5 columns" in first.stdout
    (asked, *_) = re.findall(r"Row (\d+), row (\d+) of (part-\d.parquet)", first.stdout)
    table = StreamedTable(place / "parts", "y")
    file, row = table.where(int(asked[0]))
    assert (str(row), Path(file).name) == asked[1:]
    assert sorted(path.name for path in (place / "parts.cleaned").iterdir()) == [
        f"part-{one}.parquet" for one in range(3)
    ]
    again = run(*command, "--json", said="1\n" * 60)  # the same command continues
    assert again.exit_code == 0, again.output
    summary = json.loads(again.stdout[again.stdout.index("{") :])
    assert summary["stopped"] == "all validation points are certain"
    cleaned = StreamedTable(place / "parts.cleaned", "y")
    n_holes = sum(table.n_holes)
    assert summary["holes_filled"] == n_holes - sum(cleaned.n_holes)
    assert summary["holes_left"] == sum(cleaned.n_holes)
    assert cleaned.row(int(asked[0])) != table.row(int(asked[0]))
    pq.write_table(as_arrow(mixed_frame(4, 24)), place / "parts" / "part-1.parquet")
    changed = run(*command, said="q\n")
    assert changed.exit_code == 2
    assert "belongs to something else" in changed.stderr


def test_a_value_of_a_grid_is_a_rough_answer_about_files_too(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": [float(one) for one in range(90)], "z": 0.5})
    frame["y"] = np.where(frame["x"] % 3 == 0, "a", "b")
    frame.loc[60, "x"] = None
    (tmp_path / "parts").mkdir()
    write_parquet(frame, tmp_path / "parts", 2, 20)
    points = pd.DataFrame({"x": [0.0, 0.1], "z": [0.5, 0.5]})
    points.to_csv(tmp_path / "val.csv", index=False)
    command = ("clean", tmp_path / "parts", *PLAIN, "--val", tmp_path / "val.csv")
    done = run(*command, said="? x\n1\nq\n")
    assert done.exit_code == 0, done.output
    assert " rows in 2 files; 90 of them" not in done.stderr  # some were not gathered
    assert "x ranges from 0 to 89" in done.stdout  # in all files
    assert "A number of the list is a rough answer" in done.stdout
    assert "x roughly 0 (rough answers are not written into the table)" in done.stdout
    assert "1 hole is known only roughly, and not filled with what was chosen.\n" in done.stdout
    assert not (tmp_path / "parts.cleaned").exists()
    again = run(*command, said="u\nx=70\nq\n")
    assert again.exit_code == 0, again.output
    assert StreamedTable(tmp_path / "parts.cleaned", "y").row(60)["x"] == 70.0


def test_mistakes(place: Path) -> None:
    val = ("--val", place / "val.parquet")
    cases: list[tuple[tuple[Any, ...], str]] = [
        (("check", place / "parts", *PLAIN), "name a file of rows to predict with --val"),
        (("check", place / "*.tsv", *PLAIN, *val), "no file matches"),
        (("check", place / "parts", "-l", "z", *val), "there is no label column 'z'"),
        (("check", place / "parts", *PLAIN, *val, "--domains"), "--domains reads one file"),
        (("clean", place / "*.parquet", *PLAIN, *val), "name --log FILE and --out FOLDER"),
        (("clean", place / "parts", *PLAIN, *val, "--fill", "likely"), "about one file"),
        (("clean", place / "parts", *PLAIN, *val, "-o", place / "parts"), "another folder than"),
        (
            ("report", place / "parts", *PLAIN, *val, "-o", place / "r.html", "--trust"),
            "--simulate and --trust are about one file",
        ),
        (("check", place / "parts", *PLAIN, *val, "--suspect", "size=0"), "--null TEXT"),
        (("check", "s4://bucket/parts", *PLAIN, *val), "'s4://bucket/parts' cannot be opened"),
        (("simulate", place / "parts", *PLAIN, *val), "this command reads one file"),
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


def test_rows_with_nothing_but_a_label_are_refused_or_left_out(tmp_path: Path) -> None:
    frame = mixed_frame(2, 40)
    frame.loc[[5], frame.columns != "y"] = None
    (tmp_path / "parts").mkdir()
    write_parquet(frame, tmp_path / "parts", 2, 9)
    pq.write_table(as_arrow(mixed_frame(3, 6)), tmp_path / "val.parquet")
    options = (tmp_path / "parts", *PLAIN, "--val", tmp_path / "val.parquet")
    refused = run("check", *options)
    assert refused.exit_code == 2
    assert "nothing is known of row 5. Leave these rows out with --drop-empty." in refused.stderr
    assert run("check", *options, "--drop-empty").exit_code == 0
