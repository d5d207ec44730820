"""--sure: predictions that are certain or sure, in every command and from one run to the next."""

import io
import json
from pathlib import Path

import pandas as pd
import pytest
from cli.problems import frames, written
from click.testing import CliRunner

from cpclean import CleaningSession, IncompleteTable, is_certain, verdicts, world_shares
from cpclean.analysis.column_effects import column_effects
from cpclean.cleaning.settings import usual_strategy
from cpclean.cli import main
from cpclean.storage.journal import begun_with

LEVEL = 0.8


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return written(tmp_path)


@pytest.fixture
def table():
    return IncompleteTable(frames()[0], label="y")


def run(verb: str, *more: str):
    given = [verb, "train.csv", "--label", "y", "--val", "val.csv", *more]
    return CliRunner().invoke(main, given)


def told(verb: str, *more: str):
    result = run(verb, *more, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def lines(log: str = "train.csv.answers.jsonl") -> list[dict]:
    return [json.loads(line) for line in Path(log).read_text("utf-8").splitlines()]


def rows(log: str = "train.csv.answers.jsonl") -> list[int]:
    return [one["row"] for one in lines(log)[1:]]


# --- looking -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("more", "level"), [((), 0.95), (("--sure", "0.8"), 0.8)])
def test_each_line_of_check_has_its_verdict_and_share(files, table, more, level):
    points = table.points(frames()[2])
    found = told("check", *more)
    shares = world_shares(table.dataset, points)
    expected = verdicts(table.dataset, points, level=level).tolist()
    assert [one["verdict"] for one in found] == expected
    assert [one["share"] for one in found] == pytest.approx(shares.max(axis=1).tolist())
    assert [one["certain"] for one in found] == is_certain(table.dataset, points).tolist()
    text = run("check", *more, "--format", "table").stdout
    n_certain, n_sure, n_open = map(expected.count, ("certain", "sure", "open"))
    counts = (
        f"{n_certain} of 12 predictions are certain (41.7%), {n_sure} more are {level:.0%} sure"
    )
    assert f"{counts}, {n_open} are open" in text


def test_there_are_all_three_verdicts_to_tell_apart(files):
    assert {one["verdict"] for one in told("check", "--sure", "0.8")} == {"certain", "sure", "open"}


def test_inspect_counts_the_verdicts_and_what_a_column_settles(files, table):
    found = told("inspect", "--sure", "0.8")
    session = CleaningSession(table, frames()[2], sure=LEVEL)
    expected = session.verdicts.tolist()
    facts = found["table"]
    names = ("certain", "sure", "open")
    assert [facts[one] for one in names] == [expected.count(one) for one in names]
    assert facts["settled"] == int(session.settled.sum())
    assert facts["settled_share"] == session.settled_share
    assert (facts["sure_level"], facts["until_sure"]) == (LEVEL, True)
    effects = column_effects(table, table.points(frames()[2]), sure=LEVEL)
    assert found["columns"] == [one.__dict__ for one in effects]
    result = run("inspect", "--sure", "0.8")
    text = " ".join(result.stdout.split())
    assert "7 of 12 predictions are settled (58.3%): 5 certain, 2 more 80% sure; 5 are open" in text
    best = max(effects, key=lambda one: one.settled_if_clean)
    then = (
        f"about {best.of_open(5)} of the 5 open predictions would be settled: certain or 80% sure"
    )
    assert f"{best.name!r} matters most: if it alone were clean, {then}." in text
    assert f"{best.of_open(5)} of 5" in result.stdout


def test_rank_looks_at_open_predictions_only(files, table):
    found = told("rank", "--sure", "0.8")
    session = CleaningSession(table, frames()[2], strategy=usual_strategy(LEVEL), sure=LEVEL)
    gains = session.gains()
    assert [one["gain"] for one in found] == pytest.approx([gains[one["row"]] for one in found])
    assert found[0]["row"] == session.ask().row
    assert found != told("rank")


def test_simulate_stops_when_all_are_sure(files):
    sure = pd.read_csv(io.StringIO(run("simulate", "--truth", "truth.csv", "--sure", "0.8").stdout))
    certain = pd.read_csv(io.StringIO(run("simulate", "--truth", "truth.csv").stdout))
    assert sure["sure"].iloc[-1] == 1.0
    assert sure["certain"].iloc[-1] < 1.0 == certain["certain"].iloc[-1]
    assert sure["answers"].iloc[-1] < certain["answers"].iloc[-1]
    shown = run("simulate", "--truth", "truth.csv", "--sure", "0.8", "--format", "table").stdout
    assert "Share of predictions that are certain or 80% sure:" in shown


# --- cleaning ----------------------------------------------------------------------------------

ORACLE = ("--oracle", "truth.csv")


def test_you_can_stop_names_the_promise(files):
    sure = run("clean", *ORACLE, "--sure", "0.8").stdout
    assert "All 12 predictions are certain or 80% sure: you can stop now. 11 are certain" in sure
    certain = run("clean", *ORACLE, "--log", "other.jsonl").stdout
    assert "All 12 predictions are certain: you can stop now. Nothing that is still" in certain
    assert len(rows()) < len(rows("other.jsonl"))


def test_the_summary_counts_the_verdicts(files, table):
    found = told("clean", *ORACLE, "--sure", "0.8")
    session = CleaningSession(table, frames()[2], sure=LEVEL)
    session.replay(
        {key: one[key] for key in ("row", "candidate", "value") if key in one}
        for one in lines()[1:]
    )
    assert found["stopped"] == session.stopped == "all validation points are certain or 80% sure"
    assert (found["certain"], found["sure"], found["open"]) == (11, 1, 0)
    assert (found["settled"], found["settled_share"], found["sure_level"]) == (12, 1.0, LEVEL)


def test_a_log_goes_on_with_the_level_that_it_was_begun_with(files):
    run("clean", *ORACLE, "--sure", "0.8", "--log", "whole.jsonl")
    run("clean", *ORACLE, "--sure", "0.8", "--budget", "2")
    again = run("clean", *ORACLE)
    assert "certain or 80% sure: you can stop now" in again.stdout
    assert rows() == rows("whole.jsonl")
    assert "was begun until" not in again.stderr


def test_another_level_is_allowed_and_told(files):
    run("clean", *ORACLE, "--sure", "0.8")
    before = rows()
    again = run("clean", *ORACLE, "--sure", "certain")
    assert again.exit_code == 0, again.output
    note = (
        "Note: train.csv.answers.jsonl was begun until predictions are certain or 80% sure; now "
        "they are settled when they are certain. The answers are the same.\n"
    )
    assert note in again.stderr
    assert "All 12 predictions are certain: you can stop now." in again.stdout
    assert rows()[: len(before)] == before
    assert len(rows()) > len(before)


def test_an_earlier_log_asks_as_it_did(files, tmp_path):
    """Before there was a level, gains were by the prior, and nothing said so."""
    written(tmp_path, n_rows=90)
    run("clean", *ORACLE, "--budget", "1", "--log", "now.jsonl")
    assert begun_with("now.jsonl")["gains_by"] == "uniform"
    header = lines("now.jsonl")[0]
    del header["belongs"]["gains_by"]
    header["belongs"]["strategy"] = "cpclean"
    Path("earlier.jsonl").write_text(json.dumps(header) + "\n")
    run("clean", *ORACLE, "--log", "earlier.jsonl")
    train, _, val = frames(n_rows=90)
    session = CleaningSession(IncompleteTable(train, label="y"), val, random_state=0)
    asked = []
    while (question := session.ask()) is not None:
        entry = lines("earlier.jsonl")[1 + len(asked)]
        asked.append(question.row)
        session.tell(entry["row"], entry.get("candidate"), value=entry.get("value"))
    assert rows("earlier.jsonl") == asked
    assert run("clean", *ORACLE, "--log", "new.jsonl").exit_code == 0
    assert rows("new.jsonl") != asked


def test_a_report_has_the_level_of_its_log(files):
    run("clean", *ORACLE, "--sure", "0.8")
    given = ("--log", "train.csv.answers.jsonl", "--static", "-o", "page.html")
    result = run("report", *given)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("12 of 12 predictions are settled (100%): 11 certain, 1 more")
    result = run("report", *given, "--sure", "certain")
    assert result.stdout.startswith("11 of 12 predictions are certain (91.7%), ")


@pytest.mark.parametrize("level", ["1", "0.5", "95", "very", "nan", ""])
@pytest.mark.parametrize("verb", ["inspect", "check", "rank", "clean", "serve", "report"])
def test_no_level(files, verb, level):
    out = ("-o", "page.html") if verb == "report" else ()
    result = run(verb, "--sure", level, *out)
    assert result.exit_code == 2
    assert "Invalid value for --sure: a level must be a number between 0.5 and 1" in result.stderr
    assert f"got {level!r}. For predictions that are the same in every world" in result.stderr


def test_cells_can_be_asked_about_until_all_is_sure(files):
    found = told("clean", *ORACLE, "--sure", "0.8", "--strategy", "cells")
    assert found["stopped"] == "all validation points are certain or 80% sure"


def test_in_the_end_the_answers_are_looked_back_at(files):
    result = run("clean", *ORACLE, "--sure", "0.8")
    *_, effort, new = result.stdout.splitlines()
    assert "answered rows were avoidable" in effort or "answered rows was avoidable" in effort
    assert "of rows like these would be certain or 80% sure, too." in new
    again = told("clean", *ORACLE, "--sure", "0.8")  # what the log has is looked at again
    assert again["looking_back"] == [effort, new]
    assert again["effort"]["answered_rows"] == again["rows_answered"]
    assert 0 < again["new_points"]["low"] <= again["new_points"]["settled_share"]
    assert again["interrupted"] is False
    early = run("clean", "--log", "new.jsonl")
    assert early.exit_code == 0
    assert "rows like these" not in early.stdout
    assert told("clean", "--log", "newer.jsonl")["effort"] is None


@pytest.mark.parametrize("as_json", [False, True])
def test_ctrl_c_while_looking_back_loses_nothing(files, monkeypatch, as_json):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("cpclean.analysis.looking_back.new_points", interrupted)
    result = run("clean", *ORACLE, "--sure", "0.8", *(["--json"] if as_json else []))
    assert result.exit_code == 0
    if as_json:
        found = json.loads(result.stdout)
        assert found["interrupted"] is True
        assert found["effort"] is not None
        assert found["new_points"] is None
        assert Path(found["log"]).exists()
        assert Path(found["table"]).exists()
    else:
        assert "avoidable in hindsight" in result.stdout
        assert result.stdout.endswith("Looking back was interrupted. Everything is saved.\n")
