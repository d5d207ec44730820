"""cpclean simulate: curves of cleaning where the truth is known."""

import io
import json
import sys

import pandas as pd
import pytest
from cli.problems import frames, written
from click.testing import CliRunner

from cpclean import CleaningSession, IncompleteTable
from cpclean import simulate as by_hand
from cpclean.cli import main


def run(*args: str, **options):
    return CliRunner().invoke(main, args, **options)


@pytest.fixture
def files(tmp_path):
    return written(tmp_path)


def simulated(files, *more: str):
    given = ("simulate", files["train"], "--truth", files["truth"], "--label", "y")
    return run(*given, "--val", files["val"], *more)


def expected(strategy, exact=False, seed=0, **options):
    train, truth, val = frames()
    session = CleaningSession(
        IncompleteTable(train, label="y"), val, 3, strategy, val["y"], seed, **options
    )
    shares, accuracy = [session.certain_share], [session.accuracy()]
    while not session.done:
        by_hand(session, truth.drop(columns="y"), 1, exact=exact)
        shares.append(session.certain_share)
        accuracy.append(session.accuracy())
    return shares, accuracy


@pytest.mark.parametrize("strategy", ["cpclean", "cells"])
@pytest.mark.parametrize("exact", [False, True])
def test_the_curve_is_that_of_a_session(files, strategy, exact):
    more = ("--exact",) if exact else ()
    result = simulated(files, "--strategy", strategy, "--every", "1", *more)
    assert result.exit_code == 0, result.output
    found = pd.read_csv(io.StringIO(result.stdout))
    shares, accuracy = expected(strategy, exact)
    assert list(found.columns) == ["strategy", "answers", "certain", "sure", "entropy", "accuracy"]
    assert found["answers"].tolist() == list(range(len(shares)))
    assert found["certain"].tolist() == pytest.approx(shares)
    assert found["accuracy"].tolist() == pytest.approx(accuracy)
    assert found["certain"].iloc[-1] == 1.0


def test_random_orders_are_a_mean(files):
    found = pd.DataFrame(
        json.loads(simulated(files, "--strategy", "random", "--runs", "3", "--json").stdout)
    )
    runs = [expected("random", seed=seed)[0] for seed in range(3)]
    for answers, certain in zip(found["answers"], found["certain"], strict=True):
        now = [shares[min(answers, len(shares) - 1)] for shares in runs]
        assert certain == pytest.approx(sum(now) / 3)
    assert found["answers"].iloc[-1] == max(map(len, runs)) - 1


def test_strategies_side_by_side(files):
    result = simulated(files, "--strategy", "cpclean", "--strategy", "random", "--format", "table")
    assert "● cpclean   ○ random" in result.stdout
    assert "100% │" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80
    twice = simulated(files, "--strategy", "cpclean", "--strategy", "cpclean")
    assert twice.stdout == simulated(files).stdout


def test_budget(files):
    found = json.loads(simulated(files, "--budget", "2", "--json").stdout)
    assert [one["answers"] for one in found] == [0, 1, 2]
    found = json.loads(simulated(files, "--budget", "0", "--json").stdout)
    assert [one["answers"] for one in found] == [0]


def test_every(files):
    found = json.loads(simulated(files, "--strategy", "random", "--runs", "1", "--every", "5",
                                 "--json").stdout)  # fmt: skip
    answers = [one["answers"] for one in found]
    assert answers[:-1] == list(range(0, 5 * (len(answers) - 1), 5))


def test_without_labels_there_is_no_accuracy(files):
    _, _, val = frames()
    val.drop(columns="y").to_csv(files["val"], index=False)
    assert "accuracy" not in json.loads(simulated(files, "--json").stdout)[0]


def test_rows_held_out_are_left_out_of_the_truth_too(files):
    given = ("simulate", files["train"], "--truth", files["truth"], "--label", "y", "--json")
    result = run(*given, "--val-share", "0.3", "--exact")
    assert result.exit_code == 0, result.output
    assert "differ" not in result.stderr  # rows out of step would be noticed, and noted
    assert json.loads(result.stdout)[-1]["certain"] == 1.0


def test_the_truth_has_other_rows(files):
    _, truth, _ = frames()
    truth.iloc[:-1].to_csv(files["truth"], index=False)
    result = simulated(files)
    assert result.exit_code == 2
    assert "it has 39 rows instead of 40" in result.stderr


def test_the_truth_has_other_columns(files):
    _, truth, _ = frames()
    truth.drop(columns="income").to_csv(files["truth"], index=False)
    result = simulated(files)
    assert result.exit_code == 2
    assert "missing columns: 'income'" in result.stderr


def test_the_truth_has_holes(files):
    train, _, _ = frames()
    train.to_csv(files["truth"], index=False)
    result = simulated(files)
    assert result.exit_code == 2
    assert "must be complete; missing values: row" in result.stderr


def test_interrupted(files, monkeypatch):
    command = sys.modules["cpclean.cli.simulate"]  # the package's attribute is the verb itself
    step, calls = command._step, []

    def impatient(session):
        calls.append(session)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return step(session)

    monkeypatch.setattr(command, "_step", impatient)
    result = simulated(files, "--every", "1")
    assert result.exit_code == 130
    assert result.stderr == "Interrupted. The results so far are above.\n"
    assert pd.read_csv(io.StringIO(result.stdout))["answers"].tolist() == [0, 1]
