"""cpclean inspect: does missingness matter here?"""

import json
from pathlib import Path

import pandas as pd
import pytest
from cli.problems import frames, written
from click.testing import CliRunner

from cpclean import CleaningSession, IncompleteTable
from cpclean.analysis.column_effects import column_effects
from cpclean.analysis.summary import summary
from cpclean.cli import main

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "tables"


def run(*args: str, **options):
    return CliRunner().invoke(main, args, **options)


@pytest.fixture
def files(tmp_path):
    return written(tmp_path)


def inspected(files, *more: str):
    return run("inspect", files["train"], "--label", "y", "--val", files["val"], *more)


def test_json_has_the_facts_the_columns_and_advice(files):
    result = inspected(files, "--json")
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    found = json.loads(result.stdout)
    train, _, val = frames()
    table = IncompleteTable(train, label="y")
    asking = {"strategy": "roots", "gains_by": "uniform"}  # as `clean` asks
    session = CleaningSession(table, val, y_val=val["y"], **asking)
    facts = summary(session)
    rows = list(facts.first_rows)
    lines = [row + 2 for row in rows]
    assert found["table"] == {**facts.__dict__, "first_rows": rows, "first_lines": lines}
    effects = column_effects(table, table.points(val))
    assert found["columns"] == [one.__dict__ for one in effects]
    assert all(isinstance(sentence, str) for sentence in found["advice"])
    assert found["advice"]


def test_the_first_row_is_the_one_that_clean_asks_about(files):
    first = json.loads(inspected(files, "--json").stdout)["table"]["first_rows"][0]
    given = (files["train"], "--label", "y", "--val", files["val"])
    ranked = json.loads(run("rank", *given, "--format", "json").stdout)
    assert ranked[0]["row"] == first
    asked = run("clean", *given, input="q\n").stdout
    assert f"Row {first}" in asked


def test_a_sample_of_predictions_is_told(files, monkeypatch):
    monkeypatch.setattr("cpclean.analysis.column_effects.MOST_ASKED", 1)
    found = json.loads(inspected(files, "--json").stdout)
    text = " ".join(inspected(files).stdout.split())
    for column in found["columns"]:
        assert column["sample"] == (1 if column["holes"] else 0)
        about = "about " if column["holes"] else ""
        assert f"{about}{column['certain_if_clean']:.1%}" in text
    assert "each draw was asked about 1 of the open predictions, chosen at random" in text


def test_a_person_reads_the_same(files):
    result = inspected(files)
    found = json.loads(inspected(files, "--json").stdout)
    text = " ".join(result.stdout.split())
    assert text.startswith(found["headline"])
    assert " 40 training rows, 13 with holes; 13 cells missing: 10^" in text
    facts = found["table"]
    assert f"({facts['certain']} of 12, {facts['certain_share']:.1%}) are the same" in text
    more = f"{facts['sure']} more are 95% sure, " if facts["sure"] else ""
    assert f"the same, whatever is in them; {more}{facts['open']} are open." in text
    for column in found["columns"]:
        assert f"{column['certain_if_clean']:.1%}" in text
    for sentence in found["advice"]:
        assert sentence in text
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_columns_without_holes_are_only_counted(files):
    train, _, val = frames()
    train["full"], val["full"] = 1.0, 2.0
    train.loc[0, "full"] = 3.0
    train.to_csv(files["train"], index=False)
    val.to_csv(files["val"], index=False)
    result = inspected(files)
    assert "1 other column has no holes." in result.stdout
    assert "│ full" not in result.stdout


def test_rows_are_those_of_the_file(files):
    found = json.loads(run("inspect", files["train"], "--label", "y", "--json").stdout)
    train, _, _ = frames()
    for row in found["table"]["first_rows"]:
        assert train.iloc[row].isna().any()


def test_rows_are_those_of_the_file_where_others_have_no_label(files):
    train, _, _ = frames()
    train.loc[[0, 3, 4, 11], "y"] = None
    train.to_csv(files["train"], index=False)
    found = json.loads(
        run("inspect", files["train"], "--label", "y", "--drop-unlabelled", "--json").stdout
    )
    assert found["table"]["first_rows"]
    for row in found["table"]["first_rows"]:
        assert train.drop(columns="y").iloc[row].isna().any()
        assert row not in (0, 3, 4, 11)


def test_no_holes(files):
    result = run("inspect", files["truth"], "--label", "y")
    assert result.exit_code == 0, result.output
    assert "1 world." in result.stdout
    assert "nothing to clean" in result.stdout
    assert "│" not in result.stdout


def test_a_row_number_is_noticed_though_rows_are_held_out(files):
    train, _, _ = frames(n_rows=80)
    train.insert(0, "my id", range(1, 81))
    train.to_csv(files["train"], index=False)
    result = run("inspect", files["train"], "--label", "y")
    text = " ".join(result.stdout.split())
    told = "Note: column 'my id' looks like a row number: whole numbers without gaps. If it tells"
    assert told in result.stderr, "before anything is computed"
    assert "row number" not in text, "it is on the screen already"
    listed = json.loads(run("inspect", files["train"], "--label", "y", "--json").stdout)["advice"]
    assert any(one.startswith("Column 'my id' looks like a row number") for one in listed)
    assert told in run("check", files["train"], "--label", "y").stderr
    assert "--drop 'my id'" in result.stderr
    assert "--drop" not in run("inspect", files["train"], "--label", "y", "--drop", "my id").stdout


def test_text_that_may_stand_for_nothing_is_noticed(files):
    train, _, _ = frames()
    train["city"] = train["city"].fillna(" ?")
    train.to_csv(files["train"], index=False)
    text = " ".join(inspected(files).stdout.split())
    assert (
        "Column 'city' holds ' ?' 4 times. If it means that a value is missing: --null '?'." in text
    )
    assert "--null" not in inspected(files, "--null", "?").stdout


def test_more_samples(files):
    few, many = (json.loads(inspected(files, "--json", "--samples", n).stdout) for n in ("1", "30"))
    assert all(one["low"] == one["high"] for one in few["columns"])
    assert all(one["low"] <= one["certain_if_clean"] <= one["high"] for one in many["columns"])


def test_plain_ascii_and_names_with_brackets(files):
    train, _, val = frames()
    for frame, name in ((train, "train"), (val, "val")):
        frame.rename(columns={"income": "[bold]income[/]"}).to_csv(files[name], index=False)
    result = CliRunner(charset="ascii").invoke(
        main, ["inspect", files["train"], "--label", "y", "--val", files["val"]]
    )
    assert result.exit_code == 0, result.output
    assert result.stdout.isascii()
    assert "[bold]income[/]" in result.stdout


@pytest.mark.skipif(not DATA.is_dir(), reason="the tables are looked for in ../shared/data")
def test_a_real_table_with_missing_labels():
    file = str(DATA / "Chile" / "data.csv")
    refused = run("inspect", file, "--label", "vote", "--drop", "rownames", "--refuse-unlabelled")
    assert refused.exit_code == 2
    assert "Leave these rows out with --drop-unlabelled." in refused.stderr
    frame = pd.read_csv(file)
    first = frame["vote"].isna().to_numpy().nonzero()[0][:3].tolist()
    assert f"missing in row {', '.join(map(str, first))} and" in refused.stderr
    given = ("inspect", file, "--label", "vote", "--drop", "rownames")
    found = json.loads(run(*given, "--json").stdout)
    assert 0.5 < found["table"]["certain_share"] < 1


def test_without_a_label_the_columns_are_named(tmp_path):
    file = tmp_path / "flowers.csv"
    file.write_text("length;width;Species\n1;2;a\n2;;b\n")
    result = run("inspect", str(file))
    assert result.exit_code == 2
    assert "name the column to predict with --label." in result.stderr
    assert "are 'length', 'width', 'Species'. Perhaps --label Species?" in result.stderr
    file.write_text("length,width\n1,2\n2,\n")
    assert run("inspect", str(file)).stderr.endswith("are 'length', 'width'.\n")
    result = run("inspect", str(tmp_path / "other.csv"))
    assert (result.exit_code, "there is no file" in result.stderr) == (2, True)
    assert "Missing option '--label'" in run("inspect", "-").stderr


def test_a_file_of_another_kind(tmp_path):
    file = tmp_path / "cars.json"
    file.write_text("[]")
    result = run("inspect", str(file), "--label", "y")
    assert result.exit_code == 2
    assert "must name a .csv" in result.stderr
    assert "Save the table as CSV in the program that made it." in result.stderr


def test_where_nothing_matters_no_table_of_columns_is_drawn(tmp_path):
    file = tmp_path / "train.csv"
    labels = ["no", "yes"] * 30
    rows = [f"{n % 2 * 900 + n},{'' if n in (4, 9) else n % 5},{y}" for n, y in enumerate(labels)]
    file.write_text("\n".join(["size,other,y", *rows]))
    result = run("inspect", str(file), "--label", "y", "--space", "plain", "--seed", "1")
    assert result.exit_code == 0, result.stderr
    text = " ".join(result.stdout.split())
    assert "Whatever is in the holes of 'other', these predictions stay." in text
    assert "lowest-highest" not in text
    assert text.endswith("Cheapest next step: none; use the table as it is.")
