"""cpclean check and count: certain predictions and counts of worlds, out of files."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli.problems import frames, written
from click.testing import CliRunner

from cpclean import CertainKNeighborsClassifier, IncompleteTable, is_certain, world_shares
from cpclean.cli import main
from cpclean.cli.predict import digits_of, short_count


def run(*args: str, **options):
    return CliRunner().invoke(main, args, **options)


@pytest.fixture
def files(tmp_path):
    return written(tmp_path)


@pytest.fixture(scope="module")
def fitted():
    train, _, val = frames()
    model = CertainKNeighborsClassifier().fit(IncompleteTable(train, label="y"))
    return model, val.drop(columns="y"), val["y"]


def test_check_says_what_the_classifier_says(files, fitted):
    model, points, labels = fitted
    result = run("check", files["train"], "--label", "y", "--val", files["val"], "--json")
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    found = json.loads(result.stdout)
    assert [one["row"] for one in found] == list(range(len(points)))
    assert [one["certain"] for one in found] == model.is_certain(points).tolist()
    assert [one["prediction"] for one in found] == model.predict(points).tolist()
    assert [one["label"] for one in found] == labels.tolist()
    for one, possible in zip(found, model.possible_labels(points), strict=True):
        assert one["possible"] == model.classes_[possible].tolist()


def test_count_gives_exact_counts_as_text(files, fitted):
    model, points, _ = fitted
    given = ("count", files["train"], "--label", "y", "--val", files["val"])
    expected = [[str(count) for count in counts] for counts in model.world_counts(points)]
    as_json = json.loads(run(*given, "--json").stdout)
    assert [[one["worlds: no"], one["worlds: yes"]] for one in as_json] == expected
    as_csv = list(csv.DictReader(io.StringIO(run(*given).stdout)))
    assert [[one["worlds: no"], one["worlds: yes"]] for one in as_csv] == expected
    total = model.n_worlds_
    assert all(int(one["worlds: no"]) + int(one["worlds: yes"]) == total for one in as_csv)


def test_count_shares(files, fitted):
    model, points, _ = fitted
    given = ("count", files["train"], "--label", "y", "--val", files["val"], "--shares", "--json")
    found = [[one["share: no"], one["share: yes"]] for one in json.loads(run(*given).stdout)]
    np.testing.assert_allclose(found, model.predict_proba(points), atol=1e-12)


def test_count_on_a_screen_is_short(files):
    given = ("count", files["train"], "--label", "y", "--val", files["val"], "--format", "table")
    result = run(*given)
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert "Worlds behind each label" in result.stdout


def test_counts_with_more_digits_than_python_prints():
    number = 5**9000
    assert len(digits_of(number)) == 6291
    assert short_count(number) == "10^6290.7"
    assert short_count(123456789) == "123,456,789"
    assert short_count(5**90) == "10^62.9"


def test_rows_held_out_keep_their_numbers(files):
    result = run("check", files["train"], "--label", "y", "--val-share", "0.25", "--json")
    found = json.loads(result.stdout)
    assert len(found) == 10
    train, _, _ = frames()
    rows = [one["row"] for one in found]
    assert rows == sorted(rows)
    n_holes = int(train.iloc[rows].isna().any(axis=1).sum())
    assert 0 < n_holes < 10, "whether they have holes or not"
    assert f"Note: 10 rows are held out to be predicted; {n_holes} ha" in result.stderr
    shares = train["y"].iloc[rows].value_counts() / train["y"].value_counts()
    assert (shares - 0.25).abs().max() < 0.05
    assert [one["label"] for one in found] == train["y"].iloc[rows].tolist()
    again = run("check", files["train"], "--label", "y", "--val-share", "0.25", "--json")
    assert again.stdout == result.stdout
    other = run("check", files["train"], "--label", "y", "--val-share", "0.25", "--seed", "1")
    assert (
        other.stdout != run("check", files["train"], "--label", "y", "--val-share", "0.25").stdout
    )


def test_held_out_rows_are_predicted_from_the_others(files):
    train, _, _ = frames()
    result = run("check", files["train"], "--label", "y", "--val-share", "0.25", "--json")
    found = json.loads(result.stdout)
    rows = [one["row"] for one in found]
    rest = train.drop(index=rows)
    model = CertainKNeighborsClassifier().fit(IncompleteTable(rest, label="y"))
    points = train.iloc[rows].drop(columns="y")
    assert [one["certain"] for one in found] == model.is_certain(points).tolist()


def test_standard_input(files):
    text = Path(files["train"]).read_text()
    piped = run("check", "-", "--label", "y", "--val", files["val"], input=text)
    assert piped.stdout == run("check", files["train"], "-l", "y", "--val", files["val"]).stdout
    points = Path(files["val"]).read_text()
    piped = run("check", files["train"], "--label", "y", "--val", "-", input=points)
    assert piped.stdout == run("check", files["train"], "-l", "y", "--val", files["val"]).stdout


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz", ".parquet", ".xlsx"])
def test_formats_of_files_in_say_the_same(files, tmp_path, suffix):
    train, _, _ = frames()
    name = str(tmp_path / f"same{suffix}")
    if suffix == ".parquet":
        train.to_parquet(name, index=False)
    elif suffix == ".xlsx":
        train.to_excel(name, index=False)
    else:
        train.to_csv(name, index=False, sep="\t" if suffix == ".tsv" else ",")
    expected = run("check", files["train"], "--label", "y", "--val", files["val"])
    actual = run("check", name, "--label", "y", "--val", files["val"])
    assert actual.exit_code == 0, actual.output
    assert actual.stdout == expected.stdout


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".json", ".parquet", ".xlsx", ".csv.gz"])
def test_formats_of_files_out_hold_the_same(files, tmp_path, suffix):
    given = ("check", files["train"], "--label", "y", "--val", files["val"])
    name = str(tmp_path / f"certain{suffix}")
    result = run(*given, "--out", name)
    assert result.exit_code == 0, result.output
    assert result.stdout == ""
    if suffix == ".json":
        assert json.loads(Path(name).read_text()) == json.loads(run(*given, "--json").stdout)
        return
    readers = {".parquet": pd.read_parquet, ".xlsx": pd.read_excel}
    read = readers.get(suffix, lambda file: pd.read_csv(file, sep=None, engine="python"))
    if suffix == ".csv.gz":
        read = pd.read_csv
    found = read(name)
    expected = pd.read_csv(io.StringIO(run(*given).stdout))
    pd.testing.assert_frame_equal(found, expected, check_dtype=suffix != ".xlsx")
    assert found["certain"].dtype == bool
    assert found["row"].dtype == np.int64
    assert not [one for one in tmp_path.iterdir() if one.name.startswith(".part")]


def test_labels_that_are_numbers_in_one_file_and_text_in_the_other(tmp_path):
    train, _, val = frames()
    train["y"] = train["y"].map({"no": "1", "yes": "2"})
    train.loc[0, "y"] = "other"
    val["y"] = val["y"].map({"no": 1, "yes": 2})
    train.to_csv(tmp_path / "train.csv", index=False)
    val.to_csv(tmp_path / "val.csv", index=False)
    given = (str(tmp_path / "train.csv"), "--label", "y", "--val", str(tmp_path / "val.csv"))
    found = json.loads(run("check", *given, "--json").stdout)
    assert {one["label"] for one in found} == {"1", "2"}
    facts = json.loads(run("inspect", *given, "--json").stdout)
    assert facts["table"]["accuracy"] > 0


@pytest.mark.parametrize("verb", ["check", "count"])
def test_every_validation_row_has_a_line_in_order(verb, files):
    train, _, val = frames()
    val.loc[1, "income"] = None
    val.loc[4, ["age", "income", "city"]] = None
    val.loc[7, "city"] = None
    val.to_csv(files["val"], index=False)
    result = run(verb, files["train"], "--label", "y", "--val", files["val"], "--json")
    assert "Note: of 12 rows in" in result.stderr
    assert "val.csv', 3 have holes: each is predicted over all ways of" in result.stderr
    assert "Note: nothing is known about 1 row in" in result.stderr
    found = json.loads(result.stdout)
    assert [one["row"] for one in found] == list(range(12))
    assert [one["label"] for one in found] == val["y"].tolist()
    points = IncompleteTable(train, label="y").points(val.drop(columns="y"))
    if verb == "check":
        data = IncompleteTable(train, label="y").dataset
        assert [one["certain"] for one in found] == is_certain(data, points).tolist()
        shares = world_shares(data, points)
        assert [one["prediction"] for one in found] == data.classes[shares.argmax(axis=1)].tolist()


def test_rows_in_both_files_are_said(files):
    train, _, _ = frames()
    train.loc[[3, 7, 20]].assign(y=["no", "yes", "no"]).to_csv(files["val"], index=False)
    result = run("check", files["train"], "--label", "y", "--val", files["val"])
    same = [n for n, row in enumerate((3, 7, 20)) if train["y"][row] == ("no", "yes", "no")[n]]
    assert 0 < len(same) < 3, "rows with another label are other rows"
    there = ", ".join(str((3, 7, 20)[n]) for n in same)
    assert f": row {', '.join(map(str, same))} (there row {there}). Pred" in result.stderr
    train.loc[[3, 7, 20]].drop(columns="y").to_csv(files["val"], index=False)
    result = run("check", files["train"], "--label", "y", "--val", files["val"])
    assert "3 are also in" in result.stderr, "without labels, features are compared"
    assert ": row 0, 1, 2 (there row 3, 7, 20). Predicting" in result.stderr


def test_validation_rows_without_labels(files):
    _, _, val = frames()
    val.drop(columns="y").to_csv(files["val"], index=False)
    found = json.loads(
        run("check", files["train"], "--label", "y", "--val", files["val"], "--json").stdout
    )
    assert "label" not in found[0]


def test_explicit_domains(tmp_path):
    (tmp_path / "train.csv").write_text(
        "age[18|30|65],city[A|B],y\n18,A,no\n,B,yes\n30,[A|B],no\n65,B,yes\n"
    )
    (tmp_path / "val.csv").write_text("age,city\n20,A\n60,B\n")
    result = run(
        "count", str(tmp_path / "train.csv"), "--domains", "--label", "y",
        "--val", str(tmp_path / "val.csv"), "-k", "1", "--json",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert [
        int(one["worlds: no"]) + int(one["worlds: yes"]) for one in json.loads(result.stdout)
    ] == [6, 6]
