"""Wrong files, wrong options and closed pipes: what commands say, and how they end."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import plain_program
import pytest
from cli.problems import frames, written
from click.testing import CliRunner
from systems import needs_posix
from waiting import PATIENCE, until

from cpclean.cli import main
from cpclean.cli.mistakes import in_options
from cpclean.errors import TableError, TableWarning

VERBS = ("check", "count", "inspect", "rank", "simulate")
IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
each_verb = pytest.mark.parametrize("verb", VERBS)


def run(*args: str, **options):
    return CliRunner().invoke(main, args, **options)


@pytest.fixture
def files(tmp_path):
    return written(tmp_path)


def asked(verb, files, *more: str, label="y", **options):
    """A command on the three files; `more` may say otherwise."""
    given = (files["train"], "--label", label, "--val", files["val"])
    truth = ("--truth", files["truth"]) if verb == "simulate" else ()
    return run(verb, *given, *truth, *more, **options)


def refused(result, told: str, code: int = 2):
    """One line on stderr, nothing on stdout, and no traceback."""
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert re.search(told, lines[-1]), result.stderr
    assert lines[-1].startswith("Error: ")
    assert sum(line.startswith("Error") for line in lines) == 1
    assert "Traceback" not in result.stderr


# -- files that are not tables ---------------------------------------------------------------------


@each_verb
def test_a_missing_file(verb, files):
    refused(asked(verb, {**files, "train": "absent.csv"}), r"there is no file 'absent.csv'")


@each_verb
def test_a_directory(verb, files, tmp_path):
    folder = tmp_path / "folder.csv"
    folder.mkdir()
    told = "stands for several. inspect, check, count" if verb == "simulate" else "has no files"
    refused(asked(verb, {**files, "train": str(folder)}), rf"folder.csv' {told}")


@each_verb
def test_an_unknown_kind_of_file(verb, files, tmp_path):
    (tmp_path / "train.doc").write_text("a,y\n1,2\n")
    refused(asked(verb, {**files, "train": str(tmp_path / "train.doc")}), r"must name a \.csv")


@each_verb
def test_an_unreadable_encoding(verb, files):
    Path(files["train"]).write_bytes("größe,y\n1,ä\n2,b\n".encode("utf-16"))
    refused(asked(verb, files), r"train.csv' cannot be read as csv: .*codec can't decode")


@each_verb
@pytest.mark.parametrize("content", ["", "\n\n", "age,income,city,y\n"])
def test_an_empty_file(verb, files, content):
    Path(files["train"]).write_text(content)
    refused(asked(verb, files), r"train.csv' is empty: a table needs column names and rows")


@each_verb
def test_not_a_parquet_file(verb, files, tmp_path):
    (tmp_path / "train.parquet").write_text("a,y\n1,2\n")
    refused(asked(verb, {**files, "train": str(tmp_path / "train.parquet")}), r"cannot be read as")


@each_verb
def test_lines_of_different_lengths(verb, files):
    Path(files["train"]).write_text("a,y\n1,no\n2,yes,3,4\n")
    refused(asked(verb, files), r"cannot be read as csv: .*line 3")


# -- tables that cannot be used --------------------------------------------------------------------


@each_verb
def test_a_wrong_label(verb, files):
    told = r"there is no label column 'z'; the columns are 'age', 'income', 'city', 'y'"
    refused(asked(verb, files, label="z"), told)
    truth = ("--truth", files["truth"]) if verb == "simulate" else ()
    refused(run(verb, files["train"], "--label", "z", *truth), told)


@each_verb
@pytest.mark.parametrize("share", [(), ("--val-share", "0.3")])
def test_labels_that_are_missing(verb, files, share):
    train, _, _ = frames()
    train.loc[[7, 20, 31, 32], "y"] = None
    train.to_csv(files["train"], index=False)
    truth = ("--truth", files["truth"]) if verb == "simulate" else ()
    given = (verb, files["train"], "--label", "y", *truth, *share)
    told = r"needs a label; missing in row 7, 20, 31 and 1 more\. Leave .* with --drop-unlabelled\."
    strict = run(*given, "--refuse-unlabelled")
    refused(strict, told)
    assert "In the file, these are lines 9, 22, 33 and 1 more." in strict.stderr
    left = run(*given)
    assert left.exit_code == 0
    assert (
        "Note: 4 rows have no label and are left out. In the file, these are lines 9, 22, 33 and 1 "
        "more." in left.stderr
    )


@each_verb
def test_one_row(verb, files):
    train, truth, _ = frames()
    train.iloc[:1].to_csv(files["train"], index=False)
    truth.iloc[:1].to_csv(files["truth"], index=False)
    refused(asked(verb, files), r"no column carries information|--neighbors must be .* 1")


@each_verb
def test_ten_thousand_columns(verb, files):
    names = ",".join(f"x{number}" for number in range(10_000))
    numbers = ",".join(["1"] * 10_000)
    Path(files["train"]).write_text(f"{names},y\n{numbers},a\n{numbers},b\n")
    refused(asked(verb, files), r"has 10,001 columns; the most is 2,001\. .*Leave out those")


@each_verb
def test_one_class_only(verb, files):
    train, truth, val = frames()
    for frame, name in ((train, "train"), (truth, "truth"), (val, "val")):
        frame.assign(y="no").to_csv(files[name], index=False)
    result = asked(verb, files)
    assert result.exit_code == 0, result.output
    assert result.stderr.count("Note: all rows have the label 'no': every prediction will be") == 1


@each_verb
@pytest.mark.parametrize("k", ["0", "41", "-1"])
def test_a_k_that_is_too_large_or_too_small(verb, files, k):
    told = rf"--neighbors must be an int in \[1, 40\] \(the number of training rows\); got {k}\."
    refused(asked(verb, files, "--neighbors", k), told)


@each_verb
@pytest.mark.parametrize("share", [False, True])
def test_a_column_without_values_is_ignored_with_a_note(verb, files, share):
    for number, frame in enumerate(frames()):
        frame["void"] = None if number != 1 or share else 1.0
        frame.to_csv(files[("train", "truth", "val")[number]], index=False)
    truth = ("--truth", files["truth"]) if verb == "simulate" else ()
    val = () if share else ("--val", files["val"])
    result = run(verb, files["train"], "--label", "y", *truth, *val)
    assert result.exit_code == 0, result.output
    assert result.stderr.count("Note: no value is observed in column 'void': it is ignored.") == 1
    assert "8 have holes" not in result.stderr
    assert "12 have holes" not in result.stderr


@each_verb
def test_infinite_values_are_named_by_their_row_in_the_file(verb, files):
    train, _, _ = frames()
    train.loc[[25, 33], "income"] = [np.inf, -np.inf]
    train.to_csv(files["train"], index=False)
    told = r"column 'income' of .*train.csv' has infinite values in row 25, 33\. Empty these"
    refused(asked(verb, files), told)
    truth = ("--truth", files["truth"]) if verb == "simulate" else ()
    refused(run(verb, files["train"], "--label", "y", *truth), told)


@each_verb
def test_infinite_values_in_validation_rows(verb, files):
    _, _, val = frames()
    val.loc[4, "income"] = np.inf
    val.to_csv(files["val"], index=False)
    refused(asked(verb, files), r"column 'income' of .*val.csv' has infinite values in row 4\.")


@each_verb
def test_a_row_of_which_nothing_is_known(verb, files):
    train, _, _ = frames()
    train.loc[33, ["age", "income", "city"]] = None
    train.to_csv(files["train"], index=False)
    truth = ("--truth", files["truth"]) if verb == "simulate" else ()
    told = r"needs at least one value besides its label; nothing is known of row 33\. .*drop-empty"
    refused(run(verb, files["train"], "--label", "y", *truth), told)
    result = run(verb, files["train"], "--label", "y", *truth, "--drop-empty")
    assert result.exit_code == 0, result.output
    assert "Note: 1 row has nothing but a label and is left out." in result.stderr


@each_verb
def test_column_names_that_stand_twice(verb, files):
    Path(files["train"]).write_text("a,a,y\n1,2,no\n3,,yes\n4,5,no\n")
    refused(asked(verb, files), r"more than one column of .*train.csv' is called 'a'")


@each_verb
def test_validation_rows_with_other_columns(verb, files):
    _, _, val = frames()
    val.rename(columns={"city": "town"}).to_csv(files["val"], index=False)
    told = r"val.csv' must have the columns of .*train.csv'; it lacks 'city', and has 'town' instea"
    refused(asked(verb, files), told)
    val.drop(columns="city").to_csv(files["val"], index=False)
    refused(asked(verb, files), r"lacks 'city'\. Add .* empty cells if nothing .*: --drop city\.")
    val.assign(pets=1).to_csv(files["val"], index=False)
    refused(asked(verb, files), r"it also has 'pets'\. Take them out of .*val.csv'")


@each_verb
def test_validation_rows_in_another_order_of_columns(verb, files):
    expected = asked(verb, files)
    _, _, val = frames()
    val[val.columns[::-1]].to_csv(files["val"], index=False)
    assert asked(verb, files).stdout == expected.stdout


@each_verb
def test_validation_rows_that_all_have_holes(verb, files):
    _, _, val = frames()
    val.assign(income=None).to_csv(files["val"], index=False)
    result = asked(verb, files)
    assert result.exit_code == 0, result.output
    assert "val.csv', 12 have holes: each is predicted over all ways of" in result.stderr


@each_verb
def test_a_column_of_another_kind_in_the_validation_rows(verb, files):
    _, _, val = frames()
    val["income"] = "much"
    val.to_csv(files["val"], index=False)
    told = r"column 'income' is numeric in the training table, but here it is categorical and holds"
    refused(asked(verb, files), rf"{told} 'much' in row 0\. Convert it first")


def test_a_cell_that_is_no_number_in_the_validation_rows(files):
    _, _, val = frames()
    val["income"] = [*val["income"].astype(str)[:-1], "much"]
    val.to_csv(files["val"], index=False)
    result = asked("check", files)
    assert result.exit_code == 0, result.output
    assert "val.csv' has numbers, written otherwise in 1 cell: 'much' (row" in result.stderr
    assert "is taken as missing. To keep the column as text: --kind" in result.stderr


@pytest.mark.parametrize("verb", ["inspect", "rank", "simulate"])
def test_validation_labels_that_nobody_knows(verb, files):
    _, _, val = frames()
    val.assign(y="perhaps").to_csv(files["val"], index=False)
    told = r"validation labels must be among those of the table, 'no', 'yes'; got 'perhaps'"
    refused(asked(verb, files), told)


@each_verb
def test_no_complete_row_to_hold_out(verb, files):
    train, _, _ = frames()
    for row in range(len(train)):
        train.loc[row, ["age", "income", "city"][row % 3]] = None
    train.to_csv(files["train"], index=False)
    truth = ("--truth", files["truth"]) if verb == "simulate" else ()
    result = run(verb, files["train"], "--label", "y", *truth)
    assert result.exit_code == 0, result.output
    assert "Note: 8 rows are held out to be predicted; 8 have holes." in result.stderr


# -- options ---------------------------------------------------------------------------------------


@each_verb
@pytest.mark.parametrize(
    ("more", "told"),
    [
        (("--drop", "nothing"), r"there is no column 'nothing' to drop; the columns are 'age'"),
        (("--drop", "y"), r"the label column 'y' cannot be dropped"),
        (
            ("--kind", "age=colour"),
            r"--kind must be COLUMN=KIND, with a kind of numeric, .*'age=colour'",
        ),
        (("--kind", "age"), r"--kind must be COLUMN=KIND"),
        (("--kind", "city=numeric"), r"column 'city' cannot be read as numeric"),
        (("--kind", "nowhere=date"), r"--kind must map columns of .*'nowhere': 'date'"),
    ],
)
def test_options_about_columns(verb, files, more, told):
    refused(asked(verb, files, *more), told)


@each_verb
def test_both_files_cannot_be_standard_input(verb, files):
    result = asked(verb, {**files, "train": "-", "val": "-"}, input="a,y\n1,2\n")
    refused(result, r"only one file can be standard input")


def all_for_one(values):
    """All values for the first verb, and one for each other; the rest is in the slow suite."""
    return [
        pytest.param(verb, value, marks=[pytest.mark.slow] if others and place else [])
        for others, verb in enumerate(VERBS)
        for place, value in enumerate(values)
    ]


@pytest.mark.parametrize(
    ("verb", "metric"), all_for_one(["manhattan", "chebyshev", "cosine", "linear", "rbf"])
)
def test_metrics(verb, files, metric):
    assert asked(verb, files, "--metric", metric).exit_code == 0


@pytest.mark.parametrize(("verb", "prior"), all_for_one(["holoclean", "uniform", "observed"]))
def test_priors(verb, files, prior):
    assert asked(verb, files, "--prior", prior).exit_code == 0


@each_verb
def test_repairs_of_holoclean(verb, files):
    assert asked(verb, files, "--repairs", "holoclean").exit_code == 0


@each_verb
def test_null_tokens(verb, files):
    given = asked(verb, files).stdout
    for name in ("train", "val"):
        frame = pd.read_csv(files[name], dtype=str)
        frame.fillna("?").to_csv(files[name], index=False)
    assert asked(verb, files, "--null", "?").stdout == given


@each_verb
def test_notes_are_told_once(verb, files):
    _, _, val = frames()
    val.loc[0, "city"] = "Rome"
    val.to_csv(files["val"], index=False)
    result = asked(verb, files)
    assert result.exit_code == 0, result.output
    assert result.stderr.splitlines() == [
        "Note: values that the training table does not have are encoded as all zero: "
        "1 in column 'city'."
    ]


@each_verb
def test_json_parses(verb, files):
    assert json.loads(asked(verb, files, "--json").stdout)


@each_verb
def test_debug_shows_the_traceback(verb, files):
    truth = ("--truth", files["truth"]) if verb == "simulate" else ()
    result = run("--debug", verb, "absent.csv", "--label", "y", *truth)
    assert result.exception is not None
    assert "there is no file" in str(result.exception)


def test_messages_name_options():
    about = {"field": "kinds", "column": "my id"}
    rounded = TableWarning("it is\n  rounded.", 'Try kinds={"my id": "categorical"}.', **about)
    expected = "Name another kind for it, for instance --kind 'my id=categorical'."
    assert in_options(rounded) == f"it is rounded. {expected}"
    wrong = TableError("kinds must map columns.", field="kinds")
    assert in_options(wrong) == "--kind must map columns."
    assert in_options(ValueError("anything\nelse")) == "anything else"


# -- places to write to ----------------------------------------------------------------------------


@pytest.mark.parametrize("verb", ["check", "count", "rank", "simulate"])
@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("absent/out.csv", r"there is no folder '.*absent' for out.csv"),
        ("folder.csv", r"folder.csv' is a directory; name a file in it"),
        ("out.doc", r"the file to write must end in one of \.csv, .*out.doc'"),
    ],
)
def test_places_that_cannot_be_written_to(verb, files, tmp_path, place, told):
    (tmp_path / "folder.csv").mkdir()
    # Told before any work: the training file is not even there.
    result = asked(verb, {**files, "train": "absent.csv"}, "--out", str(tmp_path / place))
    refused(result, told)


@needs_posix
@pytest.mark.skipif(IS_ROOT, reason="root writes everywhere")
def test_a_folder_without_permission(files, tmp_path):
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o500)
    refused(asked("check", files, "--out", str(folder / "out.csv")), r"no permission to write")


def test_a_full_disk(files, tmp_path, monkeypatch):
    import errno

    def full(self, content):
        self.write_text("a bit")
        raise OSError(errno.ENOSPC, "No space left on device", str(self))

    (tmp_path / "out.csv").write_text("before")
    monkeypatch.setattr(Path, "write_bytes", full)
    result = asked("check", files, "--out", str(tmp_path / "out.csv"))
    refused(result, r"No space left on device\. Free some space and run it again", code=1)
    assert (tmp_path / "out.csv").read_text() == "before"
    assert not list(tmp_path.glob(".part*"))


# -- the real program ------------------------------------------------------------------------------

PROGRAM = (sys.executable, "-c", plain_program.CODE)


def program(*args: str, **options):
    return subprocess.run([*PROGRAM, *args], capture_output=True, text=True, check=False, **options)


@pytest.mark.slow
def test_the_program_ends_with_an_exit_code(files):
    done = program("check", files["train"], "--label", "y", "--val", files["val"])
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == asked("check", files).stdout
    done = program("check", files["train"], "--label", "z")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("Error: there is no label column 'z'")


@pytest.mark.slow
def test_the_program_shows_a_traceback_where_that_is_asked_for(files):
    done = program("--debug", "check", files["train"], "--label", "z")
    assert done.returncode == 1
    assert "Traceback" in done.stderr


@pytest.mark.slow
def test_output_that_nobody_reads_to_its_end(tmp_path):
    files = written(tmp_path, n_rows=40, n_val=5000)
    writer = subprocess.Popen(
        [*PROGRAM, "count", files["train"], "--label", "y", "--val", files["val"], "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert writer.stdout is not None
    assert writer.stderr is not None
    assert writer.stdout.readline() == "[\n"
    writer.stdout.close()  # as head does
    told = writer.stderr.read()
    writer.stderr.close()
    assert writer.wait(PATIENCE) in (0, 1)  # click's own echo takes a closed pipe for the end
    # Of so many rows, some are in the training table by chance, which is said, and so is that a
    # kernel is compiled, if it takes a while; nothing else is.
    said = ("Note: of 5,000 rows", "cpclean: compiling for the first use")
    assert [line for line in told.splitlines() if not line.startswith(said)] == []


@needs_posix
def test_ctrl_c(files):
    waiting = subprocess.Popen(
        [*PROGRAM, "check", files["train"], "--label", "y", "--val", "-"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert waiting.stdin is not None
    # More than a pipe holds: it is written when the program reads, which then waits for the rest.
    waiting.stdin.write("age,income,city\n" + "1,2,Ulm\n" * 200_000)
    waiting.send_signal(signal.SIGINT)
    out, told = waiting.communicate(timeout=PATIENCE)
    assert waiting.returncode == 130
    assert (out, told) == ("", "Interrupted.\n")


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a pipe with a name")
def test_ctrl_c_in_the_middle_of_a_file(files, tmp_path):
    os.mkfifo(tmp_path / "slow.csv")
    with subprocess.Popen(
        [*PROGRAM, "check", str(tmp_path / "slow.csv"), "--label", "y", "--val", files["val"]],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as waiting:  # fmt: skip
        writing = os.open(tmp_path / "slow.csv", os.O_WRONLY)  # waits until the program opens it
        try:
            # One that falls between two reads is noticed with the next.
            until(lambda: waiting.poll() is not None or waiting.send_signal(signal.SIGINT), pause=2)
            out, told = waiting.communicate()
        finally:
            os.close(writing)
            waiting.kill()
    assert waiting.returncode == 130
    assert (out, told) == ("", "Interrupted.\n")


def test_cells_that_are_written_otherwise_are_named_by_line_and_doubts_are_kept(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.normal(45, 9, 60).round(1).astype(str)})
    frame["weight"] = rng.normal(70, 9, 60).round()
    frame["note"] = np.where(frame.index == 3, "two\nlines", "one")
    frame["sex"] = np.where(frame.index % 2, "female", "male")
    frame.loc[5, "sex"] = "femlae"
    frame["y"] = np.where(frame["weight"] > 70, "yes", "no")
    frame.loc[[2, 9], "size"] = ["45 mm", "unknown"]
    frame.loc[[20, 21], "weight"], frame.loc[22, "weight"] = 0, 9999
    file = tmp_path / "train.csv"
    frame.to_csv(file, index=False)
    given = ["inspect", str(file), "--label", "y", "--space", "plain", "--drop", "note"]
    result = run(*given)
    assert result.exit_code == 0, result.output
    assert "In the file, these are lines 4, 12." in result.stderr, "one cell has two lines"
    text = " ".join(result.stdout.split())
    assert "holds 0 2 times" in text
    assert "holds 9999 1 time" in text
    assert "'femlae' (1), which may be a slip of the pen for 'female'" in text
    doubted = ("--suspect", "weight=0.0", "--suspect", "sex=femlae")
    text = " ".join(run(*given, *doubted).stdout.split())
    assert "holds 0 2 times" not in text, "it is doubted already"
    assert "femlae" not in text, "so is this"
    assert "holds 9999 1 time" in text
