"""cpclean bench: a short benchmark."""

import json
import sys

import pytest
from cli.problems import written
from click.testing import CliRunner

from cpclean.cli import main

WHAT = [
    "scikit-learn's kneighbors",
    "is_certain",
    "world_shares",
    "expected_entropies",
    "a session's first look",
    "ask, tell and undo",
]


def run(*args: str):
    return CliRunner().invoke(main, args)


def test_on_a_generated_table():
    result = run("bench", "--repeat", "1", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert [one["what"] for one in found] == WHAT
    assert found[0]["times_kneighbors"] == 1.0
    for one in found:
        assert one["seconds"] > 0
        assert one["cpu_seconds"] >= 0
        assert one["times_kneighbors"] == pytest.approx(one["seconds"] / found[0]["seconds"])


@pytest.mark.parametrize("metric", ["manhattan", "linear"])
def test_on_a_file(tmp_path, metric):
    files = written(tmp_path)
    given = ("bench", files["train"], "--label", "y", "--repeat", "1", "--metric", metric)
    result = run(*given, "--format", "table")
    assert result.exit_code == 0, result.output
    assert "32 rows (11 with holes)" in result.stdout
    assert "8 points (16 completions)" in " ".join(result.stdout.split())
    assert "CPU seconds" in result.stdout


def test_too_many_candidates_to_write_out(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules["cpclean.cli.bench"], "MOST_NUMBERS", 10)
    files = written(tmp_path)
    result = run("bench", files["train"], "--label", "y", "--repeat", "1", "--json")
    assert "too many to write out for scikit-learn" in result.stderr
    found = json.loads(result.stdout)
    assert [one["what"] for one in found] == WHAT[1:]
    assert found[0]["times_kneighbors"] is None


def test_a_file_needs_its_label(tmp_path):
    result = run("bench", written(tmp_path)["train"])
    assert result.exit_code == 2
    assert result.stderr == "Error: name the label column of the file with --label.\n"
