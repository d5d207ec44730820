"""cpclean simulate without a truth: trials on the complete rows of the table."""

import io
import json
import shlex
from html import escape

import pandas as pd
import pytest
from cli.problems import frames, written
from click.testing import CliRunner
from slow_cases import rest_slow

import cpclean.analysis.trust as trusting
from cpclean import trust
from cpclean.analysis import trial_run
from cpclean.cli import main

QUICK = ("--runs", "1", "--strategy", "cpclean")


@pytest.fixture(autouse=True)
def usual_space() -> None:
    """As commands are used; other tests are in the plain space."""


@pytest.fixture
def files(tmp_path):
    return written(tmp_path, n_rows=60)


def tried(files, *more: str):
    return CliRunner().invoke(main, ["simulate", files["train"], "--label", "y", *QUICK, *more])


def by_hand(**more):
    given = {"n_trials": 1, "strategies": ["cpclean"], "progress": False}
    return trust(frames(n_rows=60)[0], "y", **{**given, **more})


def test_the_same_as_in_python(files):
    result = tried(files, "--json", "--seed", "3", "--prior", "uniform")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout) == json.loads(
        json.dumps(by_hand(random_state=3, prior="uniform").as_dict())
    )


def test_a_sentence_and_tables_for_people(files):
    result = tried(files, "--format", "table")
    assert result.exit_code == 0, result.output
    found = by_hand()
    words = " ".join(result.stdout.split())
    assert words.startswith(" ".join(found.sentence.split()))
    for table in found.tables:
        assert table.title in words
        assert all(cell in words for row in table.rows for cell in row)
    assert found.notes[0] in words
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_figures_for_machines(files, tmp_path):
    result = tried(files)
    found = by_hand()
    assert result.stderr == f"{found.sentence}\n"
    lines = pd.read_csv(io.StringIO(result.stdout), index_col="figure")
    assert len(lines) == len(found.figures)
    share = found.figure("predictions", "sure").mean
    assert lines["mean"]["predictions / sure"] == pytest.approx(share)
    tried(files, "--out", str(tmp_path / "figures.csv"))
    assert (tmp_path / "figures.csv").read_text() == result.stdout


@pytest.mark.parametrize(
    ("options", "space", "neighbors"),
    rest_slow(
        [
            ((), "forest", None),
            (("--space", "plain", "-k", "5"), "plain", 5),
            (("--metric", "manhattan"), "plain", None),
            (("--space", "random"), "random", None),
        ],
        2,
    ),
)
def test_the_space(files, monkeypatch, options, space, neighbors):
    seen = []

    def watch(frame, label, points, **given):
        seen.append(given)
        return by_hand(space="plain")

    monkeypatch.setattr(trusting, "trust", watch)
    assert tried(files, *options).exit_code == 0
    assert (seen[0]["space"], seen[0]["n_neighbors"]) == (space, neighbors)


def test_rows_to_predict_lend_their_holes(files):
    val = frames(n_rows=60)[2]
    val["age"] = None
    val.to_csv(files["val"], index=False)
    each = json.loads(tried(files, "--val", files["val"], "--json").stdout)["each_trial"]
    assert each["points_with_holes"] == each["points"] > 0
    assert 0 < each["training_rows_with_holes"] < each["training_rows"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--budget", "0"), "--budget needs --truth FILE"),
        (("--every", "2"), "--every needs --truth FILE"),
        (("--exact",), "--exact needs --truth FILE"),
        (("--strategy", "cells"), "--strategy cells needs --truth FILE"),
        (("--domains",), "Name a file with the true values: --truth FILE."),
        (("--neighbors", "0"), "--neighbors must be an int"),
    ],
)
def test_refused(files, options, words):
    result = tried(files, *options)
    assert result.exit_code == 2
    assert words in result.stderr


def test_too_few_complete_rows(files):
    train = frames(n_rows=60)[0]
    train.loc[3:, "city"] = None
    train = train.rename(columns={"city": "my city"})
    train.to_csv(files["train"], index=False)
    result = tried(files)
    assert result.exit_code == 2
    assert "leave it out with --drop 'my city', or name a file with the true" in result.stderr
    assert tried(files, "--drop", "my city").exit_code == 0


def test_rows_that_are_left_out(files):
    train = frames(n_rows=60)[0]
    train.loc[0, "y"] = None
    train.loc[1, ["age", "income", "city"]] = None
    train.to_csv(files["train"], index=False)
    assert "--drop-unlabelled" in tried(files, "--refuse-unlabelled").stderr
    assert "--drop-empty" in tried(files).stderr
    result = tried(files, "--drop-empty", "--json")
    assert result.exit_code == 0, result.output
    assert "Note: 1 row has no label and is left out. In the file, this is line 2." in result.stderr
    assert json.loads(result.stdout)["rows"] == 58


def test_interrupted(files, monkeypatch):
    def impatient(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(trial_run, "_rival_accuracy", impatient)
    result = tried(files, "--json")
    assert result.exit_code == 130
    assert result.stderr == "Interrupted. The results so far are above.\n"
    assert json.loads(result.stdout)["interrupted"]


@pytest.mark.parametrize("points", [(), pytest.param(("--val", "val"), marks=pytest.mark.slow)])
def test_in_a_report(files, tmp_path, monkeypatch, points):
    """The same trials as those of the command, in a section of their own."""
    monkeypatch.setattr(trusting, "N_TRIALS", 1)
    more = [files.get(one, one) for one in points]
    page = tmp_path / "page.html"
    asked = ["report", files["train"], "--label", "y", "--space", "plain", *more]
    for trust_too in (True, False):
        flags = ["--static", "-o", str(page), *(["--trust"] if trust_too else [])]
        result = CliRunner().invoke(main, [*asked, *flags])
        assert result.exit_code == 0, result.output
        html = page.read_text("utf-8")
        assert 'id="trust"' in html
        again = shlex.join(["cpclean", "report", "--trust", *asked[1:], *flags])
        assert (escape(again) in html) != trust_too
        if trust_too:
            tried_too = ["simulate", files["train"], "--label", "y", "--space", "plain", *more]
            sentence = CliRunner().invoke(main, [*tried_too, "--runs", "1"]).stderr
            assert escape(sentence.strip().splitlines()[-1]) in html
