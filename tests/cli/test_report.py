"""cpclean report, as a person meets it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import plain_program
import pytest
from analysis.samples import frames
from click.testing import CliRunner, Result

from cpclean import CleaningSession, IncompleteTable
from cpclean.cli import main


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, frame in zip(("train", "truth", "val"), frames(), strict=True):
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*args: str, **more: Any) -> Result:
    return CliRunner().invoke(main, ["report", *args], **more)


BASIC = ("train.csv", "--label", "buys", "--val", "val.csv")


def test_a_page_is_written(files: Path) -> None:
    result = run(*BASIC, "-o", "report.html", "--static")
    assert result.exit_code == 0, result.output
    dirty, _, val = frames()
    session = CleaningSession(IncompleteTable(dirty, label="buys"), val)
    share, n = session.certain_share, len(session.certain)
    told = f"{session.certain.sum()} of {n} predictions are certain ({share:.1%}), "
    assert result.stdout.splitlines()[0].startswith(told)
    assert re.search(r"Report: report.html \([1-9]\d* kB\)", result.stdout)
    page = (files / "report.html").read_text("utf-8")
    assert "<h1>train.csv</h1>" in page
    assert f"{int(session.certain.sum())} of {n} predictions" in page
    assert "of the predictions are right" in page  # val.csv has labels
    assert "On the same rows, gradient boosting is right for" in page
    assert "Cheapest next step: " in page
    rows, lines = re.search(
        r"answers about rows ([\d, ]+), \.\.\. \(lines ([\d, ]+), ", page
    ).groups()
    assert [int(one) + 2 for one in rows.split(", ")] == list(map(int, lines.split(", ")))
    assert not re.search(r"(?:src|href)=[\"']?https?:", page)


@pytest.mark.slow
def test_through_the_real_entry_point(files: Path) -> None:
    code = plain_program.CODE
    command = [sys.executable, "-c", code, "report", *BASIC, "-o", "-", "--title", "Å & b"]
    env = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(command, capture_output=True, check=True, env=env)
    page = done.stdout.decode("utf-8")
    assert page.startswith("<!doctype html>")
    assert "<h1>Å &amp; b</h1>" in page
    assert page.endswith("</html>")
    assert len(page) > 2_000_000
    assert done.stderr == b""


def test_held_out_rows_and_their_numbers_in_the_file(files: Path) -> None:
    result = run("train.csv", "--label", "buys", "-o", "report.html", "--static", "--rows", "3")
    assert result.exit_code == 0, result.output
    page = (files / "report.html").read_text("utf-8")
    dirty = frames()[0]
    rows = [int(one) for one in re.findall(r">Row (\d+): find out", page)]
    assert len(rows) == 3
    assert dirty.iloc[rows].isna().any(axis=1).all()


def test_simulated_with_the_truth(files: Path) -> None:
    result = run(*BASIC, "-o", "r.html", "--static", "--simulate", "truth.csv", "--runs", "2")
    assert result.exit_code == 0, result.output
    page = (files / "r.html").read_text("utf-8")
    assert "Compared with random order" in page
    assert "random order is the mean of 2 runs" in page


def test_answers_of_a_log_are_taken_in(files: Path) -> None:
    cleaned = CliRunner().invoke(
        main, ["clean", *BASIC, "--oracle", "truth.csv", "--budget", "5", "--log", "a.jsonl"]
    )
    assert cleaned.exit_code == 0, cleaned.output
    before = (files / "a.jsonl").read_bytes()
    result = run(*BASIC, "-o", "r.html", "--static", "--log", "a.jsonl")
    assert result.exit_code == 0, result.output
    assert "5 answers have been given" in (files / "r.html").read_text("utf-8")
    assert (files / "a.jsonl").read_bytes() == before
    other = run(*BASIC, "-o", "r.html", "--log", "a.jsonl", "-k", "1")
    assert other.exit_code == 2
    assert "belongs to something else" in other.stderr


def test_a_log_is_only_read_and_may_be_open_elsewhere(files: Path) -> None:
    from cpclean.storage.locking import lock

    given = ("clean", *BASIC, "--oracle", "truth.csv", "--budget", "5", "--log", "a.jsonl")
    assert CliRunner().invoke(main, given).exit_code == 0
    with (files / "a.jsonl").open("r+b") as busy:
        assert lock(busy.fileno())  # as cpclean clean has it
        content = busy.read()
        busy.write(b'{"row": 1, "cand')  # and is just writing
        busy.flush()
        result = run(*BASIC, "-o", "r.html", "--static", "--log", "a.jsonl")
    assert result.exit_code == 0, result.output
    assert "5 answers have been given" in (files / "r.html").read_text("utf-8")
    assert (files / "a.jsonl").read_bytes() == content + b'{"row": 1, "cand'
    (files / "a.jsonl").write_bytes(content.rstrip(b"\n"))  # as some editors leave it
    assert run(*BASIC, "-o", "r.html", "--static", "--log", "a.jsonl").exit_code == 0
    assert "5 answers have been given" in (files / "r.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("args", "told"),
    [
        ((*BASIC, "-o", "nowhere/r.html"), "there is no folder 'nowhere'"),
        ((*BASIC, "-o", "."), "is a directory; name a file in it"),
        ((*BASIC, "-o", "val.csv"), "--out would overwrite val.csv"),
        ((*BASIC, "-o", "r.html", "--log", "none.jsonl"), "no log of answers 'none.jsonl'"),
        ((*BASIC, "-o", "r.html", "--simulate", "val.csv"), "must have the same rows as train.csv"),
        (("none.csv", "--label", "buys", "-o", "r.html"), "none.csv"),
        (("train.csv", "--label", "bought", "-o", "r.html"), "bought"),
        (BASIC, "Missing option '--out'"),
    ],
)
def test_mistakes_are_told_in_words(files: Path, args: tuple[str, ...], told: str) -> None:
    result = run(*args)
    assert result.exit_code == 2
    assert told in result.stderr
    assert "Traceback" not in result.stderr
    assert not (files / "r.html").exists()
    assert (files / "val.csv").read_text("utf-8").startswith("age,")


def test_only_one_file_is_standard_input(files: Path) -> None:
    result = run("-", "--label", "buys", "--val", "-", "-o", "r.html")
    assert result.exit_code == 2
    assert "only one file can be standard input" in result.stderr


def test_the_table_from_standard_input(files: Path) -> None:
    text = (files / "train.csv").read_text("utf-8")
    result = run("-", *BASIC[1:], "-o", "r.html", "--static", input=text)
    assert result.exit_code == 0, result.output
    assert "<h1>A table with holes</h1>" in (files / "r.html").read_text("utf-8")


def test_ctrl_c_writes_nothing(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("cpclean.report.page.report", interrupted)
    result = run(*BASIC, "-o", "r.html")
    assert result.exit_code == 130
    assert result.stderr.endswith("Interrupted.\n")
    assert not (files / "r.html").exists()
