"""--space: the forest where nobody says, its one line, and what it falls back to."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from cli.problems import frames, written
from click.testing import CliRunner, Result

from cpclean import IncompleteTable, world_counts, world_shares
from cpclean.analysis.words import about_percent, percent, words_first
from cpclean.cli import main, tasks
from cpclean.errors import QueryError
from cpclean.storage.opening import open_storage

SETTING = "--space plain --neighbors 3 --prior uniform is the paper's setting.\n"
BARE = f"Space: leaves of a forest of 100 trees, 15 neighbours; {SETTING}"


@pytest.fixture(autouse=True)
def usual_space() -> None:
    """As users have it; other tests are in the plain space."""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    monkeypatch.chdir(tmp_path)
    return written(tmp_path)


def run(*args: str) -> Result:
    return CliRunner().invoke(main, list(args))


def checked(files: dict[str, str], *more: str) -> tuple[list[str], str]:
    """What is predicted, and what is said beside it."""
    done = run("check", files["train"], "--label", "y", "--val", files["val"], "--json", *more)
    assert done.exit_code == 0, done.output
    return [one["prediction"] for one in json.loads(done.stdout)], done.stderr


def voted(space: str, k: int, prior: str = "label") -> list[str]:
    train, _, val = frames()
    table = IncompleteTable(train, label="y", space=space, prior=prior)
    table = table if space == "plain" else table.shuffled()
    points = table.points(val.drop(columns="y"))
    shares = world_shares(table.dataset, points, k)
    return list(table.dataset.classes[shares.argmax(axis=1)])


def accuracy(space: str, k: int) -> float:
    return float(np.mean(np.array(voted(space, k)) == frames()[2]["y"].to_numpy()))


@lru_cache
def line() -> str:
    """The space, and how often predictions are right there and in the plain one."""
    forest, plain = percent(accuracy("forest", 15)), percent(accuracy("plain", 3))
    right = f"validation accuracy {forest}, in the plain space {plain}"
    return f"Space: leaves of a forest of 100 trees, 15 neighbours; {right}; {SETTING}"


def test_the_forest_is_used_and_said_in_one_line(files: dict[str, str]) -> None:
    assert checked(files) == (voted("forest", 15), line())
    assert checked(files, "--space", "forest", "-k", "15")[0] == checked(files)[0]
    shorter, told = checked(files, "-k", "5")
    assert shorter == voted("forest", 5)
    assert "forest of 100 trees, 5 neighbours;" in told


def test_other_spaces(files: dict[str, str]) -> None:
    assert checked(files, "--space", "plain") == (voted("plain", 3), "")
    paper = ("--space", "plain", "--neighbors", "3", "--prior", "uniform")
    assert checked(files, *paper) == (voted("plain", 3, "uniform"), "")
    found, told = checked(files, "--space", "random")
    assert found == voted("random", 15)
    assert "Space: leaves of 100 trees with random splits, 15 neighbours;" in told


def test_a_metric_alone_means_the_plain_space(files: dict[str, str]) -> None:
    assert checked(files, "--metric", "euclidean") == (voted("plain", 3), "")
    assert checked(files, "--metric", "manhattan", "--space", "forest") == checked(files)
    done = run("check", files["train"], "-l", "y", "--metric", "chebyshev", "--space", "forest")
    assert done.exit_code == 2
    told = " ".join(done.stderr.split())
    assert "number of trees that tell them apart, and --metric chebyshev has no meaning." in told
    assert "Leave out --metric, or use --space plain." in told


@pytest.mark.parametrize("verb", ["inspect", "count", "rank", "clean", "report"])
def test_commands_that_are_in_the_forest(verb: str, files: dict[str, str]) -> None:
    more = {"report": ("-o", "page.html", "--static"), "clean": ("--budget", "0")}.get(verb, ())
    done = run(verb, files["train"], "--label", "y", "--val", files["val"], *more)
    assert done.exit_code == 0, done.output
    assert done.stderr.count(BARE if verb == "inspect" else line()) == 1


def test_commands_that_are_in_the_paper_s_space(files: dict[str, str]) -> None:
    options = (files["train"], "--label", "y", "--val", files["val"])
    done = run("simulate", *options, "--truth", files["truth"], "--budget", "1")
    assert (done.exit_code, "Space:" in done.output) == (0, False), done.output
    title = run("bench", *options, "--repeat", "1", "--format", "table").stdout
    assert re.search(r"K = 3\b", title)
    title = run("bench", *options, "--repeat", "1", "--format", "table", "--space", "forest").stdout
    assert re.search(r"K =\s+15\b", title)


def test_inspect_compares_the_spaces(files: dict[str, str]) -> None:
    right = {space: accuracy(space, k) for space, k in (("forest", 15), ("plain", 3))}
    options = ("inspect", files["train"], "--label", "y", "--val", files["val"])
    told = " ".join(run(*options).stdout.split())
    forest, plain = (
        f"{words_first(right[name])} in the {name} space" for name in ("forest", "plain")
    )
    assert f"Validation accuracy: {forest}, {plain}." in told
    in_plain = " ".join(run(*options, "--space", "plain").stdout.split())
    assert f"Validation accuracy: {plain}, {forest}." in in_plain
    found = json.loads(run(*options, "--json").stdout)
    assert (found["space"], found["validation_accuracy"]) == ("forest", right)
    frames()[2].drop(columns="y").to_csv(files["val"], index=False)
    assert "Validation accuracy" not in run(*options).stdout
    assert BARE in run("rank", *options[1:]).stderr


def test_many_points_are_compared_by_some(
    files: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "MOST_COMPARED", 2)
    told = checked(files)[1]
    labels = frames()[2]["y"].to_numpy()
    some = [0, len(labels) - 1]
    for space, k in (("forest", 15), ("plain", 3)):
        right = np.mean(np.array(voted(space, k))[some] == labels[some])
        where = "accuracy" if space == "forest" else "in the plain space"
        assert f"{where} {about_percent(right)}" in told


def test_holes_everywhere_in_the_forest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No row is complete; rows with two holes are drawn; one point is nothing but holes."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    train = pd.DataFrame(rng.normal(size=(40, 3)).round(2), columns=list("abc"))
    train = train.assign(y=np.where(train["a"] > 0, "yes", "no"))
    val = train.iloc[:6, :3].copy()
    for row in range(40):
        train.iloc[row, [row % 3, (row + row // 36) % 3]] = None
    val.iloc[0], val.iloc[1, 0] = None, None
    train.to_csv("train.csv", index=False)
    val.to_csv("val.csv", index=False)
    given = ("train.csv", "--label", "y", "--val", "val.csv", "--max-exact", "9")
    done = run("count", *given, "--json")
    assert done.exit_code == 0, done.output
    assert (
        "Note: worlds are not counted, because 4 rows have more than 9 combinations (row 36, 37, "
        "38 and 1 more); shares of the prior mass are given instead. --max-exact 25 goes through"
    ) in done.stderr
    assert "4 rows have more than 9 combinations, and 2 rows to predict too many" in done.stderr
    table = IncompleteTable(train, label="y", space="forest", max_exact=9).shuffled()
    assert sorted(table.rows_kept[table.dataset.drawn_rows]) == [36, 37, 38, 39]
    points = table.points(val, max_completions=1)
    shares = world_shares(table.dataset, points, 15)
    found = [[one["share: no"], one["share: yes"]] for one in json.loads(done.stdout)]
    assert np.array(found) == pytest.approx(shares, abs=1e-12)
    with pytest.raises(QueryError, match=r"100 of them for every point, in row .* with 25 candid"):
        world_counts(table.dataset, points, 15)
    for verb, *more in (("inspect", "--samples", "1"), ("rank",)):
        done = run(verb, *given, *more)
        assert done.exit_code == 0, done.output
        assert "nothing is known about 1 row in 'val.csv' (row 0)" in done.stderr


def test_tables_that_cannot_have_a_forest(files: dict[str, str]) -> None:
    train, _, val = frames()
    train[:29].to_csv(files["train"], index=False)
    _, told = checked(files)
    assert told == (
        "Note: 29 rows are too few for the leaves of trees, which need 30: the plain space of "
        "scaled columns is used.\n"
    )
    assert "in the forest space" not in run("inspect", files["train"], "-l", "y").stdout
    train[:30].to_csv(files["train"], index=False)
    assert checked(files)[1].startswith("Space: leaves of a forest of 100 trees, 15 neighbours; ")
    train.assign(y="no").to_csv(files["train"], index=False)
    val.drop(columns="y").to_csv(files["val"], index=False)
    _, told = checked(files)
    assert "all rows have the same label, so a forest has nothing to learn: the plain" in told


def test_a_log_belongs_to_its_space(files: dict[str, str]) -> None:
    options = ("clean", files["train"], "--label", "y", "--val", files["val"])
    oracle = ("--oracle", files["truth"], "--budget", "2")
    assert run(*options, *oracle).exit_code == 0
    assert "2 answers so far" in run(*options, *oracle).stdout
    done = run(*options, *oracle, "--space", "plain")
    assert done.exit_code == 2
    assert "space was 'forest' and is 'plain'" in done.stderr


def test_serve_starts_in_the_forest(files: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[Any] = []
    run_place = "cpclean.web.server.process.run"
    monkeypatch.setattr(run_place, lambda storage, *_, **__: found.append(storage))
    options = ("serve", files["train"], "--label", "y", "--val", files["val"])
    done = run(*options)
    assert (done.exit_code, done.stderr.count(line())) == (0, 1), done.output
    found[0].close()
    with open_storage(f"{files['train']}.cpclean.db") as kept:
        project = kept.project()
        assert project.table.leaves.kind == "forest"
        assert project.settings.model.n_neighbors == 15
    done = run(*options, "--space", "plain")
    assert "space was 'forest' and is 'plain', n_neighbors was 15 and is 3" in done.stderr


def test_the_demo_of_the_page_is_in_the_paper_s_space(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[Any] = []
    run_place = "cpclean.web.server.process.run"
    monkeypatch.setattr(run_place, lambda storage, *_, **__: found.append(storage))
    for more, k in (((), 3), (("--space", "forest"), 15)):
        assert run("serve", "--demo", *more).exit_code == 0
        project = found.pop().project()
        assert project.settings.model.n_neighbors == k
        assert (project.table.leaves is None) == (k == 3)


def test_the_trees_are_learnt_anew_when_a_person_says_so(files: dict[str, str]) -> None:
    options = ["clean", files["train"], "--label", "y", "--val", files["val"], "-k", "5"]
    lines = ["refit", "1", "refit", "refit", "u", "refit", "1", "q"]
    done = CliRunner().invoke(main, options, input="\n".join(lines))
    assert done.exit_code == 0, done.output
    assert done.stdout.count("nothing has been answered since the trees were learnt.") == 2
    assert done.stdout.count("The trees are learnt anew from what is known now.") == 2
    assert done.stdout.count("Undone: the trees are those from before.") == 1
    again = CliRunner().invoke(main, options, input="q")
    assert "2 answers so far." in again.stdout
    last, first = (re.findall(r"^Row \d+,.*", one.stdout, re.MULTILINE) for one in (done, again))
    assert last[-1] == first[0]  # the same next question
    done = CliRunner().invoke(main, [*options, "--space", "plain", "--log", "p"], input="1\nrefit")
    assert "this session is over a table in the plain space." in " ".join(done.stdout.split())
