"""A table in which every row has a hole, and rows to predict with holes: through every command."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from oracle import world_counts as counted_by_hand

from cpclean import IncompleteTable, is_certain, share_errors, world_counts
from cpclean.cli import main

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "tables"
NAMES = ("age", "size", "city")


def run(*args: str, **options):
    return CliRunner().invoke(main, args, **options)


def whole(n_rows: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    buys = rng.integers(2, size=n_rows)
    return pd.DataFrame(
        {
            "age": rng.integers(20, 50, n_rows) + 20 * buys,
            "size": (rng.normal(size=n_rows) + buys).round(2),
            "city": np.array(["Ulm", "Bonn"])[np.arange(n_rows) // 3 % 2],
            "y": np.where(buys, "yes", "no"),
        }
    )


def holed(frame: pd.DataFrame, per_row: int = 1) -> pd.DataFrame:
    """With so many holes in every row."""
    made = frame.astype(object)
    for row in range(len(made)):
        for hole in range(per_row):
            made.loc[row, NAMES[(row + hole) % 3]] = None
    return made


@pytest.fixture
def files(tmp_path, monkeypatch):
    """train.csv without a complete row, its truth, and val.csv likewise."""
    monkeypatch.chdir(tmp_path)
    truth = whole(30)
    truth.to_csv("truth.csv", index=False)
    holed(truth).to_csv("train.csv", index=False)
    val = holed(whole(9, seed=1))
    val.loc[4, list(NAMES)] = None
    val.to_csv("val.csv", index=False)
    return tmp_path


COMMANDS = {
    "inspect": ("--samples", "1"),
    "check": (),
    "count": (),
    "rank": (),
    "clean": ("--budget", "3", "--oracle", "truth.csv"),
    "simulate": ("--truth", "truth.csv", "--budget", "2"),
    "report": ("--static", "-o", "report.html"),
    "bench": ("--repeat", "1"),
}


@pytest.mark.parametrize("val", [(), ("--val", "val.csv")], ids=["share", "file"])
@pytest.mark.parametrize("verb", COMMANDS)
def test_every_command(verb, val, files):
    result = run(verb, "train.csv", "--label", "y", *val, *COMMANDS[verb])
    assert result.exit_code == 0, result.output
    told = result.stderr
    if val:
        assert "Note: of 9 rows in 'val.csv', 9 have holes: each is predicted over all" in told
        assert (
            "Note: nothing is known about 1 row in 'val.csv' (row 4): all cells are empty" in told
        )
    else:
        assert "Note: 6 rows are held out to be predicted; 6 have holes." in told
    n_points = 9 if val else 6
    of_completions = verb in ("rank", "clean", "simulate", "report")
    explained = f"Note: {n_points} rows to predict have holes, which answers cannot fill. A compl"
    assert (explained in told) == of_completions
    if verb == "inspect":
        itself = f"All {n_points} rows to predict have holes themselves, which answers"
        assert itself in " ".join(result.stdout.split())
        assert "completion" not in result.stdout
    if verb == "clean":
        both = rf"% of the completions are certain, all of them for (\d|none) of {n_points} pred"
        assert re.search(both, " ".join(result.stdout.split()))
    if verb == "report":
        page = Path("report.html").read_text("utf-8")
        assert "A completion is one way of filling them" in page
        assert f"of {n_points} predictions" in page


def test_check_and_count_are_those_of_the_queries(files):
    given = ("train.csv", "--label", "y", "--val", "val.csv", "--json")
    table = IncompleteTable(pd.read_csv("train.csv"), label="y")
    points = table.points(pd.read_csv("val.csv"))
    checked, counted = json.loads(run("check", *given).stdout), run("count", *given)
    assert [one["row"] for one in checked] == list(range(9))
    assert [one["certain"] for one in checked] == is_certain(table.dataset, points).tolist()
    worlds = world_counts(table.dataset, points)
    found = json.loads(counted.stdout)
    assert [[int(one["worlds: no"]), int(one["worlds: yes"])] for one in found] == worlds.tolist()
    completions = np.bincount(points.owner)
    assert (worlds.sum(axis=1) == [table.dataset.n_worlds * int(one) for one in completions]).all()


def test_counts_go_through_worlds_and_completions(tmp_path, monkeypatch):
    """As brute force does, for a table that is small enough."""
    monkeypatch.chdir(tmp_path)
    train = pd.DataFrame(
        {"a": [1.0, None, 3.0, 4.0], "b": [2.0, 1.0, None, 0.0], "y": list("uvuv")}
    )
    val = pd.DataFrame({"a": [None, 2.0, None], "b": [1.0, None, None]})
    train.to_csv("train.csv", index=False)
    val.to_csv("val.csv", index=False)
    given = ("count", "train.csv", "--label", "y", "--val", "val.csv", "-k", "1", "--json")
    found = json.loads(run(*given).stdout)
    table = IncompleteTable(train, label="y")
    points, data = table.points(val), table.dataset
    rows = [data.candidates(row).tolist() for row in range(data.n_rows)]
    for point, one in enumerate(found):
        entries = points.entries(point)
        expected = np.zeros(2, dtype=int)
        for vector in points.vectors[points.vector[entries]].tolist():
            expected += counted_by_hand(rows, data.codes.tolist(), 2, None, vector, 1)
        assert [int(one["worlds: u"]), int(one["worlds: v"])] == expected.tolist()


# -- rows with many holes --------------------------------------------------------------------------


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    """Two holes in every row, which are 25 or 15 combinations."""
    monkeypatch.chdir(tmp_path)
    holed(whole(24), per_row=2).to_csv("train.csv", index=False)
    holed(whole(8, seed=1)).to_csv("val.csv", index=False)
    return tmp_path


@pytest.mark.parametrize(
    "verb", ["inspect", "check", "count", "rank", "clean", "simulate", "report"]
)
def test_draws_and_their_error_are_told(verb, drawn):
    more = ("--out", "report.html", "--static") if verb == "report" else ()
    if verb == "simulate":
        whole(24).to_csv("truth.csv", index=False)
        more = ("--truth", "truth.csv", "--budget", "1")
    options = ("--max-exact", "9", "--draws", "8", "--val", "val.csv", *more)
    result = run(verb, "train.csv", "--label", "y", *options, input="q\n")
    assert result.exit_code == 0, result.output
    table = IncompleteTable(pd.read_csv("train.csv"), label="y", max_exact=9, n_draws=8)
    draws = 8 if verb in ("check", "count") else 2  # a session does with a tenth, and at least 2
    points = table.points(pd.read_csv("val.csv"), max_completions=1, n_draws=draws)
    error = share_errors(table.dataset, points).max(axis=1).mean()
    assert len(points.drawn) == 8
    assert (
        "Note: 24 rows have more than 9 combinations, and 8 rows to predict too many to go "
        f"through: shares use 8 draws of each of the former and {draws} of the latter, and are off "
        f"by about {error:.1g}. A larger --draws"
    ) in result.stderr
    if verb == "report":
        assert f"and are off by about {error:.1g}." in Path("report.html").read_text("utf-8")


def test_a_row_with_many_holes_is_asked_about_hole_by_hole(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.integers(0, 50, (40, 5)).astype(float), columns=list("abcde"))
    table = table.assign(city=np.array(["Ulm", "Bonn", "Kiel"])[np.arange(40) % 3])
    table = table.assign(y=np.where(table["a"] + table["b"] > 50, "yes", "no"))
    table.iloc[10:].to_csv("val.csv", index=False)
    table.iloc[3, [0, 1, 2]] = None
    table.loc[3, "city"] = None
    table.iloc[:10].to_csv("train.csv", index=False)
    given = ("clean", "train.csv", "--label", "y", "--val", "val.csv", "-o", "c.csv")
    result = run(*given, input="1\n\nb=7, city=Kiel\n1\n")
    assert result.exit_code == 0, result.output
    text = " ".join(result.stdout.split())
    assert re.search(r" b (\S+ \(<?\d+%\),? ){5}c (\S+ \(\d+%\),? ){5}city", text), "by hole"
    assert re.search(r"city .*Ulm \(\d+%\)", text)
    assert (
        "400 combinations. Type the true values that you know, of one hole or of several: a="
        in text
    )
    assert "would settle" not in text.partition("Row 3: b 7")[0]
    assert "the combinations of so many holes are not numbered; got 1. Type column=value" in text
    assert "type column=value, or ? for help" in text
    assert "Row 3: b 7, city Kiel." in text
    again = text.partition("Row 3: b 7")[2]
    assert "Number, column=value, s skip" in again, "20 combinations are left, which are listed"


def test_rows_that_are_drawn_alone(drawn):
    whole(8, seed=1).to_csv("val.csv", index=False)
    given = ("train.csv", "--label", "y", "--val", "val.csv", "--max-exact", "9")
    told = run("check", *given).stderr
    found = re.search(r"Note: 24 rows have more than 9 combinations: shares use 160 draws of", told)
    assert found, told
    assert "Note:" not in run("check", *given[:-2]).stderr, "25 are few enough otherwise"
    seeds = {run("count", *given, "--shares", "--seed", seed).stdout for seed in "0011"}
    assert len(seeds) == 2, "draws depend on the seed alone"


def test_worlds_that_are_not_counted(drawn):
    given = ("count", "train.csv", "--label", "y", "--val", "val.csv")
    result = run(*given, "--max-exact", "9", "--json")
    assert result.exit_code == 0, result.output
    assert (
        "Note: worlds are not counted, because 24 rows have more than 9 combinations (row 0, 1, 2 "
        "and 21 more); shares of the prior mass are given instead. --max-exact 25 goes through all "
    ) in result.stderr
    shares = run(*given, "--max-exact", "9", "--shares", "--json")
    assert json.loads(result.stdout) == json.loads(shares.stdout)
    assert set(json.loads(result.stdout)[0]) == {"row", "share: no", "share: yes", "label"}
    assert "worlds: no" in json.loads(run(*given, "--max-exact", "25", "--json").stdout)[0]


def test_points_that_are_not_counted(files):
    given = ("count", "train.csv", "--label", "y", "--val", "val.csv")
    result = run(*given, "--max-exact", "100", "--json")
    told = re.search(
        r"not counted for 1 row to predict that can be filled in too many ways to go through "
        r"\(row 4\); shares of the prior mass are given instead\. --max-exact (\d+) goes",
        result.stderr,
    )
    assert told, result.stderr
    found, exact = json.loads(result.stdout), json.loads(run(*given, "--json").stdout)
    assert [one["row"] for one in found] == list(range(9))
    for one, other in zip(found, exact, strict=True):
        counts = [one["worlds: no"], one["worlds: yes"]]
        shares = [one["share: no"], one["share: yes"]]
        if one["row"] == 4:
            assert counts == [None, None]
            assert sum(shares) == pytest.approx(1)
        else:
            assert shares == [None, None]
            assert counts == [other["worlds: no"], other["worlds: yes"]]
    again = run(*given, "--max-exact", told[1], "--json")
    assert json.loads(again.stdout) == exact
    as_csv = pd.read_csv(Path("val.csv")), run(*given, "--max-exact", "100").stdout.splitlines()
    assert len(as_csv[1]) == 1 + len(as_csv[0])


def test_far_too_many_to_count(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(30, 12)).round(3), columns=[f"c{n}" for n in range(12)])
    table = table.assign(y=["no", "yes"] * 15)
    table.to_csv("val.csv", index=False)
    table.iloc[3, :11] = None
    table.to_csv("train.csv", index=False)
    told = run("count", "train.csv", "--label", "y", "--val", "val.csv").stderr
    assert "1 row has more than 625 combinations, and far too many to go through (row 3)" in told
    assert "--drop leaves out a column with many holes." in told


@pytest.mark.parametrize("name", ["--max-exact", "--draws"])
def test_limits_that_cannot_be(name, files):
    result = run("check", "train.csv", "--label", "y", name, "0")
    assert result.exit_code == 2
    assert f"Invalid value for '{name}'" in result.stderr


def test_options_have_the_defaults_of_tables():
    from cpclean.cli import options
    from cpclean.data.drawing import N_DRAWS
    from cpclean.data.points import MAX_COMPLETIONS
    from cpclean.data.table import MAX_EXACT, MAX_EXACT_LEAVES
    from cpclean.intake.choices import EASIER
    from cpclean.queries.geometry import LEAF_METRICS
    from cpclean.queries.model import N_LEAVES, N_PLAIN

    assert (options.MAX_EXACT, options.N_DRAWS) == (MAX_EXACT, N_DRAWS)
    assert (options.N_PLAIN, options.N_LEAVES) == (N_PLAIN, N_LEAVES)
    assert (options.MAX_EXACT_LEAVES, options.LEAF_METRICS) == (MAX_EXACT_LEAVES, LEAF_METRICS)
    assert MAX_EXACT // EASIER == MAX_COMPLETIONS


# -- real tables -----------------------------------------------------------------------------------


@pytest.mark.skipif(not DATA.is_dir(), reason="the tables are looked for in ../shared/data")
@pytest.mark.parametrize(
    ("table", "label"), [("CreditData", "Status"), ("Chile", "vote"), ("Adult", "Income")]
)
def test_real_tables_with_their_holes(table, label, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pd.read_csv(DATA / table / "data.csv")
    frame = frame[frame[label].notna()].sample(400, random_state=0).reset_index(drop=True)
    frame = frame.drop(columns="rownames", errors="ignore")
    frame.iloc[:300].to_csv("train.csv", index=False)
    frame.iloc[300:].to_csv("val.csv", index=False)
    with_holes = frame.drop(columns=label).isna().any(axis=1)
    given = ("train.csv", "--label", label, "--json")
    result = run("check", *given, "--val", "val.csv")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert [one["row"] for one in found] == list(range(100))
    assert [one["label"] for one in found] == frame[label][300:].tolist()
    n_holes = int(with_holes[300:].sum())
    assert n_holes == 0 or f"{n_holes} ha" in result.stderr
    shares = json.loads(run("count", *given, "--val", "val.csv", "--shares").stdout)
    names = [name for name in shares[0] if name.startswith("share: ")]
    best = [max(names, key=one.get).removeprefix("share: ") for one in shares]
    assert best == [str(one["prediction"]) for one in found]
    right = np.mean([one["prediction"] == one["label"] for one in found])
    assert right > 1.3 / len(names), "better than any guess"
    held = json.loads(run("check", *given).stdout)
    rows = [one["row"] for one in held]
    assert len(rows) == 60
    kept = frame[label][:300].drop(rows)
    parts = frame[label][rows].value_counts() / len(rows) - kept.value_counts() / len(kept)
    assert parts.abs().max() < 0.03, "as often among those held out as among the others"
