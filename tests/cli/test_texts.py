"""Files as people have them: semicolons, latin-1, labels that are none, packages not installed."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import plain_program
import pytest
from cli.problems import frames, written
from click.testing import CliRunner

from cpclean.cli import main, output
from cpclean.intake.choices import Choices, HoldOut
from cpclean.intake.open_task import open_task
from cpclean.intake.source_file import SourceFile

PROGRAM = (sys.executable, "-c", plain_program.CODE)


def run(*args: str, **options):
    return CliRunner().invoke(main, args, **options)


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return written(tmp_path)


def rewritten(file: str, change, **options) -> None:
    frame = pd.read_csv(file, dtype={"age": "Int64"})
    change(frame)
    frame.to_csv(file, index=False, **options)


def told(result) -> str:
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.stderr
    return " ".join(result.stderr.split())


# -- separators, decimals, encodings -----------------------------------------------------------


@pytest.mark.parametrize(("sep", "named"), [(";", "';'"), ("\t", "tab"), ("|", "'|'")])
def test_another_separator_is_noticed_and_can_be_named(files, sep, named):
    usual = run("check", files["train"], "--label", "y").stdout
    rewritten(files["train"], lambda frame: None, sep=sep)
    result = run("check", files["train"], "--label", "y")
    assert f"another sign separates its cells, name it: --sep {named}" in told(result)
    result = run("check", files["train"], "--label", "y", "--sep", named.strip("'"))
    assert result.stdout == usual


def test_decimal_commas_that_look_like_more_cells(files):
    usual = run("check", files["train"], "--label", "y").stdout
    rewritten(files["train"], lambda frame: None, sep=";", decimal=",")
    assert "--sep ';'" in told(run("check", files["train"], "--label", "y"))
    given = ("check", files["train"], "--label", "y", "--sep", ";", "--decimal", ",")
    assert run(*given).stdout == usual


def test_decimal_commas_beside_texts_that_stand_for_nothing(files):
    usual = run("check", files["train"], "--label", "y").stdout
    rewritten(files["train"], lambda frame: None, sep=";", decimal=",", na_rep="?")
    given = ("--label", "y", "--sep", ";", "--decimal", ",", "--null", "?")
    assert run("check", files["train"], *given).stdout == usual


def test_decimal_commas_are_recognised_by_column(files):
    usual = run("check", files["train"], "--label", "y").stdout
    rewritten(files["train"], lambda frame: None, sep=";", decimal=",")
    result = run("check", files["train"], "--label", "y", "--sep", ";")
    assert result.stdout == usual
    assert "others likewise. To keep the column as text: --kind" in result.stderr


@pytest.mark.parametrize("way", ["file", "standard input"])
def test_another_encoding_is_noticed_and_can_be_named(files, way):
    def change(frame):
        frame["city"] = frame["city"].map({"Ulm": "Århus", "Bonn": "Köln", "Kiel": "Rom"})

    rewritten(files["train"], change)
    usual = run("rank", files["train"], "--label", "y").stdout
    rewritten(files["train"], lambda frame: None, encoding="latin-1")
    content = Path(files["train"]).read_bytes()
    file = files["train"] if way == "file" else "-"
    words = told(run("rank", file, "--label", "y", input=content))
    assert (
        "It is not utf-8: save it as UTF-8, or name its encoding, such as --encoding latin-1"
        in words
    )
    assert "the buffer" not in words
    result = run("rank", file, "--label", "y", "--encoding", "latin-1", input=content)
    assert result.stdout == usual


def test_utf_16_is_recognised(files):
    rewritten(files["train"], lambda frame: None, encoding="utf-16")
    assert "--encoding utf-16" in told(run("rank", files["train"], "--label", "y"))
    assert run("rank", files["train"], "--label", "y", "--encoding", "utf-16").exit_code == 0


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--sep", ";;"), "a separator is a single character, or tab; got ';;'"),
        (("--encoding", "klingon"), "unknown encoding 'klingon'; try latin-1"),
        (("--decimal", ",", "--domains"), "numbers are written with a point. Leave out --decimal"),
    ],
)
def test_signs_that_make_no_sense(files, more, words):
    assert words in told(run("check", files["train"], "--label", "y", *more))


@pytest.mark.slow
def test_machines_read_utf_8_whatever_the_terminal_has(files):
    rewritten(files["train"], lambda frame: frame.update({"y": frame["y"].map("Łódź {}".format)}))
    done = subprocess.run(
        [*PROGRAM, "check", files["train"], "--label", "y", "--json"],
        capture_output=True, check=True, env=os.environ | {"PYTHONIOENCODING": "latin-1"},
    )  # fmt: skip
    assert json.loads(done.stdout.decode("utf-8"))[0]["label"].startswith("Łódź")


@pytest.mark.slow
def test_letters_of_an_error_that_the_terminal_does_not_have(files):
    done = subprocess.run(
        [*PROGRAM, "check", files["train"], "--label", "größe", "--format", "table"],
        capture_output=True, check=False, env=os.environ | {"PYTHONIOENCODING": "ascii"},
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith(b"Error: there is no label column 'gr")


# -- the cleaned table is laid out as the file was -------------------------------------------------


@pytest.mark.parametrize(
    ("layout", "options"),
    [
        ({"lineterminator": "\r\n"}, ()),
        ({"encoding": "utf-8-sig"}, ()),
        ({"quoting": csv.QUOTE_ALL}, ()),
        ({"quoting": csv.QUOTE_NONNUMERIC}, ()),
        ({"sep": ";", "decimal": ",", "encoding": "latin-1"},
         ("--sep", ";", "--decimal", ",", "--encoding", "latin-1")),
    ],
)  # fmt: skip
def test_a_cleaned_file_differs_in_what_was_told_only(files, layout, options):
    truth = pd.read_csv(files["truth"])
    truth.to_csv(files["truth"], index=False, **layout)
    rewritten(files["train"], lambda frame: None, **layout)
    before = Path(files["train"]).read_bytes().split(b"\n")
    result = run(
        "clean", files["train"], "--label", "y", *options, "--oracle", files["truth"], "--exact",
        "--budget", "2", "--out", "out.csv",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    after = Path("out.csv").read_bytes().split(b"\n")
    right = Path(files["truth"]).read_bytes().split(b"\n")
    changed = [at for at, line in enumerate(before) if after[at] != line]
    assert len(before) == len(after)
    assert len(changed) == 2
    assert [after[at] for at in changed] == [right[at] for at in changed]


def test_answers_that_the_encoding_of_the_file_does_not_have(files):
    train, truth, _ = frames()
    truth["city"] = truth["city"].where(train.notna().all(axis=1))
    truth.to_csv(files["train"], index=False, encoding="latin-1")
    given = ("clean", files["train"], "--label", "y", "--encoding", "latin-1", "--out", "out.csv")
    result = run(*given, input="city=Łódź\nq\n")
    assert result.exit_code == 0, result.output
    assert "lacks some letters of the answers, so out.csv is UTF-8" in result.stderr
    assert "Łódź" in Path("out.csv").read_text("utf-8")


# -- labels ----------------------------------------------------------------------------------------


def test_measurements_are_no_labels(files):
    words = told(run("inspect", files["train"], "--label", "income"))
    assert "different numbers in" in words
    assert "Name another column, or predict in which of three ranges it is: --bins 3." in words
    ranges = run("check", files["train"], "--label", "income", "--bins", "3", "--drop-unlabelled")
    assert ranges.exit_code == 0, ranges.output
    assert "1: up to " in ranges.stdout


def test_rows_are_held_out_so_that_every_label_is_left(files):
    frame = pd.read_csv(files["train"])
    complete = frame.index[frame.notna().all(axis=1)]
    frame["y"] = "no"
    frame.loc[complete[:5], "y"] = list("abcde")
    frame.to_csv(files["train"], index=False)
    result = run("inspect", files["train"], "--label", "y", "--val-share", "0.5", "--json")
    assert result.exit_code == 0, result.output
    source = SourceFile.at(files["train"])
    for seed in range(20):
        task = open_task(source, Choices("y"), HoldOut(0.5, seed)).task
        assert set(frame["y"].drop(index=task.point_names)) == set(frame["y"])


def test_labels_that_are_all_different(files):
    rewritten(files["train"], lambda frame: frame.update({"y": [f"l{n}" for n in frame.index]}))
    assert "every label of" in told(run("check", files["train"], "--label", "y"))


# -- remarks and pictures of numbers ---------------------------------------------------------------


def _advice(result) -> list[str]:
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)["advice"]


def test_days_in_another_order_are_noticed(files):
    words = "If it is a date: write it as 2024-05-31 and pass --kind when=date."

    def change(frame):
        frame["when"] = pd.date_range("2024-01-01", periods=len(frame), freq="9D").strftime(
            "%d.%m.%Y"
        )

    rewritten(files["train"], change)
    given = ("inspect", files["train"], "--label", "y", "--json")
    assert any(one.endswith(words) for one in _advice(run(*given)))


def test_an_empty_ranking_says_so(files):
    frame = pd.read_csv(files["truth"])
    frame.to_csv(files["train"], index=False)
    result = run("rank", files["train"], "--label", "y", "--format", "table")
    assert "8 of 8 predictions are certain (100%); no rows have holes" in " ".join(
        result.stdout.split()
    )


def test_counts_stand_to_the_right(files):
    lines = run("count", files["train"], "--label", "y", "--format", "table").stdout.splitlines()
    ends = {line.rstrip("│").split("│")[2][-2] for line in lines if line.startswith("│")}
    assert " " not in ends


# -- packages --------------------------------------------------------------------------------------


@pytest.fixture
def without_packages(monkeypatch):
    monkeypatch.setattr(output, "_PACKAGES", {".parquet": "no_arrow", ".xlsx": "no_excel"})


@pytest.mark.parametrize("suffix", [".parquet", ".xlsx"])
def test_a_format_without_its_package(files, without_packages, monkeypatch, suffix):
    def absent(*_, **__):
        raise ImportError("no such package")

    monkeypatch.setattr(pd, {".parquet": "read_parquet", ".xlsx": "read_excel"}[suffix], absent)
    Path(f"table{suffix}").write_bytes(b"anything")
    words = told(run("check", f"table{suffix}", "--label", "y"))
    assert f"reading 'table{suffix}' needs a package that is not installed" in words
    assert 'Install it: pip install "cpclean[files]".' in words
    # Told before any work: the training file is not even there.
    words = told(run("check", "absent.csv", "--label", "y", "--out", f"out{suffix}"))
    assert f"writing {suffix} files needs a package" in words
    words = told(run("clean", files["train"], "--label", "y", "--out", f"out{suffix}"))
    assert f"writing {suffix} files needs a package" in words


def test_the_package_is_the_program():
    ran = subprocess.run(
        [sys.executable, "-m", "cpclean", "--help"], capture_output=True, text=True, check=True
    )
    assert ran.stdout.startswith("Usage: cpclean [OPTIONS] COMMAND")
