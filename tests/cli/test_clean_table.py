"""cpclean clean: answers from a known truth, and the table that comes out."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli.purchases import cells, events, held_out, run, true_table, with_holes
from click.testing import CliRunner
from slow_cases import rest_slow

from cpclean import CleaningSession, IncompleteTable, simulate
from cpclean.cli import main
from cpclean.cli.options import Training, Validation
from cpclean.cli.tasks import open_given

# --- the oracle --------------------------------------------------------------------------------


def problem_and_truth(strategy: str = "cpclean"):
    kinds = ("since=date",)
    given = Training("train.csv", "buys", "plain", 3, "euclidean", "default", "label", (), kinds,
                     ("name",), False, False)  # fmt: skip
    task = open_given(given, Validation(None, 0.2, 0)).task
    truth = pd.read_csv("truth.csv").drop(columns=["name", "buys"])
    truth["since"] = pd.to_datetime(truth["since"])
    session = CleaningSession(
        task.table, task.raw_points, 3, strategy, random_state=0, gains_by="uniform"
    )
    return session, truth.iloc[task.row_names]


@pytest.mark.parametrize("strategy", rest_slow(["cpclean", "cells", "random"], 2))
@pytest.mark.parametrize("exact", [False, True])
def test_the_oracle_answers_as_simulate_does(files, strategy, exact):
    options = ("--oracle", "truth.csv", "--strategy", strategy, *(["--exact"] if exact else []))
    result = run(*options, "--json")
    assert result.exit_code == 0, result.output
    session, truth = problem_and_truth(strategy)
    simulate(session, truth, exact=exact, progress=False)
    told = [
        {key: one[key] for key in ("row", "candidate", "value") if key in one} for one in events()
    ]
    assert told == session.answers
    assert json.loads(result.stdout)["stopped"] == "all validation points are certain"


def test_the_oracle_goes_on_from_a_log(files):
    run("--oracle", "truth.csv", "--log", "whole.jsonl")
    run("--oracle", "truth.csv", "--budget", "3")
    assert len(events()) == 3
    result = run("--oracle", "truth.csv")
    assert "Continuing from train.csv.answers.jsonl: 3 answers so far." in result.stdout
    assert [one["row"] for one in events()] == [one["row"] for one in events("whole.jsonl")]


def test_cells_answered_exactly_are_the_truth_and_all_others_as_they_were(files):
    run("--oracle", "truth.csv", "--exact", "--out", "out.csv")
    dirty, clean, truth = cells("train.csv"), cells("out.csv"), cells("truth.csv")
    assert list(clean.columns) == list(dirty.columns)
    told = np.zeros(dirty.shape, dtype=bool)
    for event in events():
        for name in event["value"]:
            told[event["row_in_file"], list(dirty.columns).index(name)] = True
    assert told.any()
    assert (dirty.to_numpy()[told] == "").all()
    assert (clean.to_numpy()[told] == truth.to_numpy()[told]).all()
    assert (clean.to_numpy()[~told] == dirty.to_numpy()[~told]).all()
    assert clean["age"].str.fullmatch(r"\d*").all()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda truth: truth.iloc[:-1], "it has 89 rows instead of 90"),
        (lambda truth: truth.drop(columns="age"), "missing columns: 'age'"),
        (
            lambda truth: truth.iloc[::-1],
            "in the same order; cells that are known in both differ in",
        ),
        (
            lambda truth: truth.assign(age=truth["age"].where(truth.index > 9)),
            "must be complete; missing values: row",
        ),
    ],
)
def test_a_truth_that_does_not_fit(files, change, told):
    change(true_table()).to_csv("truth.csv", index=False)
    result = run("--oracle", "truth.csv")
    assert result.exit_code == 2
    assert told in result.stderr
    assert not Path("train.csv.answers.jsonl").exists()


def test_a_truth_that_differs_in_a_few_known_cells_is_told(files):
    dirty = cells("train.csv")
    row = next(row for row in dirty.index[dirty["age"] != ""] if row not in held_out())
    truth = true_table()
    truth.loc[row, "age"] = 77
    truth.to_csv("truth.csv", index=False)
    result = run("--oracle", "truth.csv", "--exact")
    assert result.exit_code == 0, result.output
    assert f"both train.csv and truth.csv differ in row {row}" in result.stderr
    assert cells("train.cleaned.csv")["age"][row] == dirty["age"][row]


# --- files out ---------------------------------------------------------------------------------


def test_what_nobody_answered_can_be_filled(files):
    run("--out", "empty.csv", said="1\n")
    run("--out", "full.csv", "--fill", "default", said="q\n")
    empty, full, dirty = cells("empty.csv"), cells("full.csv"), cells("train.csv")
    n_told = len(events()[0]["cells"])
    assert (empty == "").to_numpy().sum() == (dirty == "").to_numpy().sum() - n_told
    assert not (full == "").to_numpy().any()
    row = events()[0]["row_in_file"]
    assert full.loc[row].tolist() == empty.loc[row].tolist()
    assert set(full["member"]) == {"TRUE", "FALSE"}
    assert full["since"].str.fullmatch(r"\d{4}-\d\d-\d\d(T.*)?").all()
    run("--out", "likely.csv", "--fill", "likely", said="q\n")
    assert not (cells("likely.csv") == "").to_numpy().any()


def test_rows_held_out_are_filled_without_a_look_at_their_label(files):
    dirty, rows = cells("train.csv"), held_out()
    result = run("--out", "full.csv", "--fill", "likely", "--json", said="1\nq\n")
    full = cells("full.csv")
    others = dirty.index.difference(rows)
    for name in dirty.columns[:-1]:
        holes = dirty.loc[rows, name] == ""
        assert full.loc[rows, name][holes].nunique() <= 1, "whatever the label"
    frame, after = (
        pd.read_csv(file, parse_dates=["since"]).drop(columns="name")
        for file in ("train.csv", "full.csv")
    )
    table = IncompleteTable(frame.loc[others], label="buys")
    points = table.points(frame.loc[rows].drop(columns="buys"))
    assert points.is_exact
    filled = table.encode(after.loc[rows].drop(columns="buys"))
    for point, vector in enumerate(filled):
        entries = points.entries(point)
        likeliest = points.vector[entries][points.weight[entries].argmax()]
        assert vector == pytest.approx(points.vectors[likeliest]), "as completions have it"
    told, found = " ".join(result.stderr.split()), json.loads(result.stdout)
    n_told, n_held = len(events()[0]["cells"]), int((dirty.loc[rows] == "").to_numpy().sum())
    n_rest = int((dirty == "").to_numpy().sum()) - n_told - n_held
    row = events()[0]["row_in_file"]
    assert re.search(
        rf"Note: values of the filled holes: {n_told} holes? \(row {row}\): what was answered; "
        rf"{n_rest} holes of "
        rf"training rows \(row .* more\): the most likely value given the label of the row; "
        rf"{n_held} holes of rows held out or left out \(row .* more\): the most likely value, wit",
        told,
    ), told
    assert (found["holes_filled"], found["holes_left"]) == (n_told + n_rest + n_held, 0)


def test_rows_without_a_label_are_filled_too(files):
    table = cells("train.csv")
    row = next(row for row in table.index[table["age"] == ""] if row not in held_out())
    table.loc[row, "buys"] = ""
    table.to_csv("train.csv", index=False)
    run("--out", "full.csv", "--fill", "likely", "--drop-unlabelled", said="q\n")
    full = cells("full.csv")
    assert full["buys"][row] == "", "labels are not guessed"
    assert not (full.drop(columns="buys") == "").to_numpy().any()


def typed(frame: pd.DataFrame) -> pd.DataFrame:
    made = frame.copy()
    made["age"] = made["age"].astype("Int64")
    made["income"] = made["income"].astype(float)
    made["city"] = made["city"].astype("category")
    made["member"] = made["member"].map({"TRUE": True, "FALSE": False}).astype("boolean")
    made["since"] = pd.to_datetime(made["since"])
    return made


def test_parquet_keeps_its_types(files):
    import pyarrow.parquet as pq

    truth = true_table()
    typed(truth).to_parquet("truth.parquet")
    typed(with_holes(truth)).to_parquet("train.parquet")
    options = ["clean", "train.parquet", "--label", "buys", "--drop", "name", "--oracle"]
    done = CliRunner().invoke(main, [*options, "truth.parquet", "--exact"])
    assert done.exit_code == 0, done.output
    before, after = pq.read_schema("train.parquet"), pq.read_schema("train.cleaned.parquet")
    assert after.names == before.names
    kinds = [[str(one).replace("large_", "") for one in table.types] for table in (before, after)]
    assert kinds[0] == kinds[1]
    clean, dirty = pd.read_parquet("train.cleaned.parquet"), pd.read_parquet("train.parquet")
    assert clean.isna().sum().sum() < dirty.isna().sum().sum()
    same = (clean == typed(truth)).fillna(False) | clean.isna()
    assert same.to_numpy(dtype=bool).all()


def test_whole_numbers_of_a_parquet_file_from_elsewhere_stay_whole(files):
    import pyarrow as pa
    import pyarrow.parquet as pq

    dirty = with_holes(true_table())
    columns = {name: dirty[name].tolist() for name in dirty.columns}
    table = pa.table({**columns, "age": pa.array(columns["age"], pa.int32())})
    pq.write_table(table, "train.parquet")
    options = ["clean", "train.parquet", "--label", "buys", "--drop", "name", "--drop", "since"]
    done = CliRunner().invoke(main, [*options, "--fill", "likely"], input="")
    assert done.exit_code == 0, done.output
    # The answer is about another column: a mean would not be whole.
    done = CliRunner().invoke(main, [*options, "--strategy", "cpclean"], input="1\n")
    assert done.exit_code == 0, done.output
    assert str(pq.read_schema("train.cleaned.parquet").field("age").type) == "int32"


def test_excel_there_and_back(files):
    truth = true_table()
    typed(truth).assign(city=truth["city"]).to_excel("truth.xlsx", index=False)
    typed(with_holes(truth)).to_excel("train.xlsx", index=False)
    options = ["clean", "train.xlsx", "--label", "buys", "--drop", "name", "--oracle"]
    done = CliRunner().invoke(main, [*options, "truth.xlsx", "--exact"])
    assert done.exit_code == 0, done.output
    clean, known = pd.read_excel("train.cleaned.xlsx"), pd.read_excel("truth.xlsx")
    assert list(clean.columns) == list(known.columns)
    same = (clean == known) | clean.isna()
    assert same.to_numpy(dtype=bool).all()


def test_from_one_format_to_another(files):
    for out in ("out.tsv", "out.parquet", "out.xlsx", "out.json", "out.csv.gz"):
        result = run("--out", out, "--oracle", "truth.csv", "--exact", "--budget", "2")
        assert result.exit_code == 0, result.output
        assert Path(out).stat().st_size
    assert pd.read_parquet("out.parquet")["age"].dtype == "Int64"
    assert pd.read_csv("out.tsv", sep="\t").shape == (90, 7)
    assert pd.read_csv("out.csv.gz", dtype=str)["name"][3] == "003"


def test_spelling_of_the_file_is_kept(files):
    text = 'id,a,b,y\n007,1,"x, ""y""",no\n008,?,z,yes\n009,3,?,no\n010,2,z,yes\n011,1,z,no\n'
    Path("train.csv").write_text(text + "012,2,z,yes\n" * 3)
    options = ("--label", "y", "--drop", "id", "--null", "?", "-k", "1", "--val-share", "0.3")
    result = run("--out", "out.csv", options=options, said="q\n")
    assert result.exit_code == 0, result.output
    assert Path("out.csv").read_text() == Path("train.csv").read_text()


def test_told_values_are_spelt_as_their_column(files):
    rows = ["true,2024-05-31 10:00:00,1,s", "true,2024-06-01 11:00:00,2,l", ",,2,s",
            "true,2024-06-02 12:00:00,3,l"]  # fmt: skip
    Path("train.csv").write_text("\n".join(["ok,at,g,y", *rows, ""]))
    Path("val.csv").write_text("ok,at,g\ntrue,2024-06-02 12:00:00,2\n")
    kinds = ("--kind", "ok=boolean", "--kind", "at=date")
    options = ("--label", "y", *kinds, "--val", "val.csv", "-k", "1")
    result = run("--out", "out.csv", options=options, said='ok=false, at="2024-07-01 09:00"\n')
    assert result.exit_code == 0, result.output
    rows[2] = "false,2024-07-01 09:00:00,2,s"
    assert Path("out.csv").read_text().splitlines()[1:] == rows
    found = pd.read_csv("out.csv")
    assert found["ok"].dtype == bool
    assert pd.to_datetime(found["at"])[2] == pd.Timestamp("2024-07-01 09:00")


def test_explicit_domains(files):
    Path("train.csv").write_text("age[18|30|65],pets,y\n40,[0|3],no\n,0,yes\n50,4,no\n20,4,yes\n")
    Path("val.csv").write_text("age,pets\n40,1\n")
    options = ("--label", "y", "--domains", "--val", "val.csv", "-k", "1")
    result = run("--out", "out.csv", options=options, said="1\n")
    assert result.exit_code == 0, result.output
    lines = Path("out.csv").read_text().splitlines()
    assert lines[0] == "age[18|30|65],pets,y"
    assert lines[1:3] in (["40,0,no", ",0,yes"], ["40,[0|3],no", "18,0,yes"])


def test_texts_that_look_like_formulas(files):
    """They are texts in a workbook; in text files an apostrophe keeps them so, if it is wanted."""
    lines = Path("train.csv").read_text().splitlines()
    at = lines[0].split(",").index("name")
    first = lines[1].split(",")
    first[at] = "=1+1"
    Path("train.csv").write_text("\n".join([lines[0], ",".join(first), *lines[2:]]) + "\n")
    for out, more in (("a.xlsx", ()), ("a.csv", ()), ("b.csv", ("--spreadsheet",))):
        assert run("--out", out, *more, said="q\n").exit_code == 0
    assert pd.read_excel("a.xlsx")["name"][0] == "=1+1"
    assert Path("a.csv").read_bytes() == Path("train.csv").read_bytes()
    expected = Path("train.csv").read_text().replace("=1+1", "'=1+1")
    assert Path("b.csv").read_text() == expected
