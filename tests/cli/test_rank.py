"""cpclean rank: what to clean first, for people who clean elsewhere."""

import io
import json

import pandas as pd
import pytest
from cli.problems import frames, written
from click.testing import CliRunner

from cpclean import CleaningSession, IncompleteTable
from cpclean.cli import main


def run(*args: str, **options):
    return CliRunner().invoke(main, args, **options)


@pytest.fixture
def files(tmp_path):
    return written(tmp_path)


def ranked(files, *more: str):
    return run("rank", files["train"], "--label", "y", "--val", files["val"], *more)


def test_rows_in_the_order_in_which_they_are_asked_about(files):
    result = ranked(files)
    assert result.exit_code == 0, result.output
    found = pd.read_csv(io.StringIO(result.stdout))
    train, _, val = frames()
    session = CleaningSession(
        IncompleteTable(train, label="y"), val, strategy="roots", gains_by="uniform"
    )
    assert list(found.columns) == ["row", "line", "score", "gain", "candidates", "holes"]
    assert found["score"].is_monotonic_decreasing
    assert (found["line"] == found["row"] + 2).all()
    assert found["row"].iloc[0] == session.ask().row
    assert sorted(found["row"]) == session.data.dirty_rows.tolist()
    assert found["gain"].tolist() == pytest.approx(session.gains()[found["row"]].tolist())
    scores = dict(zip(session.view.questions.row.tolist(), session.view.scores, strict=True))
    assert found["score"].tolist() == pytest.approx(found["row"].map(scores).tolist())
    for one in found.itertuples():
        assert train.columns[train.iloc[one.row].isna()].tolist() == one.holes.split("; ")
        assert one.candidates == session.data.candidate_counts[one.row]


def test_top(files):
    whole = ranked(files).stdout.splitlines()
    assert ranked(files, "--top", "3").stdout.splitlines() == whole[:4]
    assert ranked(files, "--top", "999").stdout.splitlines() == whole


def test_holes_are_a_list_in_json(files):
    found = json.loads(ranked(files, "--json", "--top", "1").stdout)
    assert found[0]["holes"] in (["age"], ["income"], ["city"])


def test_cells(files):
    train, _, val = frames()
    train.loc[1, ["age", "income"]] = None
    train.to_csv(files["train"], index=False)
    found = json.loads(ranked(files, "--cells", "--json").stdout)
    session = CleaningSession(
        IncompleteTable(train, label="y"), val, strategy="cells", gains_by="uniform"
    )
    question = session.ask()
    assert (found[0]["row"], found[0]["column"]) == (question.row, question.column)
    assert found[0]["gain"] == pytest.approx(question.gain)
    assert found[0]["candidates"] == len(question.candidates)
    assert len(found) == train.isna().sum().sum()
    assert "holes" not in found[0]


def test_values_of_the_rows(files):
    found = json.loads(ranked(files, "--values", "--json").stdout)
    train, _, _ = frames()
    for one in found:
        row = train.iloc[one["row"]]
        assert one["value: y"] == row["y"]
        assert (one["value: city"] is None) == pd.isna(row["city"])


def test_values_of_the_rows_on_a_screen(files):
    result = ranked(files, "--values", "--format", "table", "--top", "2")
    assert max(map(len, result.stdout.splitlines())) <= 80
    train, _, _ = frames()
    first = json.loads(ranked(files, "--json", "--top", "1").stdout)[0]["row"]
    assert f"y {train['y'].iloc[first]}" in " ".join(result.stdout.split())


def test_rows_are_those_of_the_file(files):
    train, _, _ = frames()
    train.loc[[0, 1, 5], "y"] = None
    train.to_csv(files["train"], index=False)
    given = ("rank", files["train"], "--label", "y", "--drop-unlabelled", "--val-share", "0.3")
    found = json.loads(run(*given, "--json").stdout)
    held = json.loads(run("check", *given[1:], "--json").stdout)
    dirty = train.drop(columns="y").isna().any(axis=1) & train["y"].notna()
    dirty[[one["row"] for one in held]] = False
    assert sorted(one["row"] for one in found) == dirty.to_numpy().nonzero()[0].tolist()
    for one in found:
        assert train.columns[train.iloc[one["row"]].isna()].tolist() == one["holes"]


def test_a_screen_shows_twenty_and_says_so(tmp_path):
    files = written(tmp_path, n_rows=90)
    result = ranked(files, "--format", "table")
    assert result.stdout.count("\n│") == 21
    assert result.stderr == "10 more lines; --format csv or --out FILE gives all of them.\n"
    assert "predictions are certain (" in result.stdout
    assert " are open;\nthese rows help most" in result.stdout
    result = ranked(files, "--format", "table", "--top", "25")
    assert result.stdout.count("\n│") == 26
    assert result.stderr == ""


def test_to_a_file(files, tmp_path):
    name = str(tmp_path / "todo.csv")
    result = ranked(files, "--out", name)
    assert (result.exit_code, result.stdout) == (0, "")
    expected = pd.read_csv(io.StringIO(ranked(files).stdout))
    pd.testing.assert_frame_equal(pd.read_csv(name), expected)


def test_nothing_to_rank(files):
    result = run("rank", files["truth"], "--label", "y", "--val", files["val"])
    assert result.exit_code == 0, result.output
    assert result.stdout == "row,line,score,gain,candidates,holes\n"
    result = run("rank", files["truth"], "--label", "y", "--json")
    assert json.loads(result.stdout) == []
