"""cpclean clean: the dialogue, and what is refused before it begins."""

import json
import os
import re
from pathlib import Path

import pytest
from cli.purchases import HOLES, asked, cells, events, held_out, run, start, true_table
from waiting import PATIENCE

# --- the dialogue ------------------------------------------------------------------------------


def test_the_first_question_says_all_that_is_needed(files):
    result = run(said="q\n")
    assert result.exit_code == 0, result.output
    text = result.stdout
    n_holes = int((cells("train.csv").loc[held_out()] == "").any(axis=1).sum())
    assert 0 < n_holes < 18
    assert f"72 rows with 5 columns, {30 - n_holes} of them with holes" in text
    assert "18 of its rows are held out" in text
    certain = (
        r"\d+\.\d% of the completions are certain, all of them for (\d+|none) of 18 predictions"
    )
    assert re.search(certain, text)
    assert f"Note: 18 rows are held out to be predicted; {n_holes} have holes." in result.stderr
    assert f"Note: {n_holes} rows to predict have holes, which answers cannot" in result.stderr
    assert "Every answer is saved in train.csv.answers.jsonl at once" in text
    (row,) = asked(text)
    assert f"Row {row}, line {row + 2} of the file  (0 answers so far" in text
    assert "Why this row:" in text
    assert "how likely" in text
    assert "would settle" in text
    hole = next(name for name in HOLES if not cells("train.csv")[name][row])
    assert f"{hole} ?" in text
    known = next(name for name in ("age", "city", "income") if cells("train.csv")[name][row])
    assert f"{known} {cells('train.csv')[known][row]}" in text


def test_nothing_answered_leaves_nothing_behind(files):
    assert run(said="q\n").exit_code == 0
    assert run(said="").exit_code == 0
    assert sorted(os.listdir()) == ["train.csv", "truth.csv"]


def test_until_all_is_certain(files):
    result = run(said="1\n" * 40)
    assert result.exit_code == 0, result.output
    assert "Done: all validation points are certain." in result.stdout
    assert "All completions of 18 predictions are certain: you can stop now." in result.stdout
    told = len(events())
    assert 0 < told < 30
    assert f"Cleaned table: {files / 'train.cleaned.csv'}".split("/")[-1] in result.stdout
    assert Path("train.cleaned.csv").exists()


def test_the_last_answer_can_be_taken_back(files):
    first = run(said="1\n" * 40)
    n = len(asked(first.stdout))
    result = run("--log", "b.jsonl", said="1\n" * n + "u\nq\n")
    assert asked(result.stdout)[-1] == asked(first.stdout)[-1]
    assert [event for event in events("b.jsonl") if "undo" in event]
    again = run("--log", "b.jsonl", said="1\n\n")
    assert "you can stop now" in again.stdout


def test_skip_undo_and_help(files):
    result = run(said="s\nu\nu\n?\n1\nu\ns\n1\nq\n")
    assert result.exit_code == 0, result.output
    rows, text = asked(result.stdout), result.stdout
    assert f"Row {rows[0]} is skipped." in text
    assert f"Undone: row {rows[0]} is not skipped any more." in text
    assert "there is no answer to undo" in text
    assert "do not ask about this row again" in text
    assert f"Undone: row {rows[0]} is open again." in text
    assert rows[0] == rows[2]
    kinds = [next(key for key in ("skip", "undo", "candidate") if key in one) for one in events()]
    assert kinds == ["skip", "undo", "candidate", "undo", "skip", "candidate"]


def test_wrong_input_is_told_and_asked_again(files):
    row = asked(run(said="q\n").stdout)[0]
    hole = next(name for name in HOLES if not cells("train.csv")[name][row])
    lines = ["", "99", "0", "-1", "banana", "cty=Bern", "name=3", f"{hole}=", "? nothing"]
    result = run(said="\n".join([*lines, "1", "q", ""]))
    assert result.exit_code == 0, result.output
    text = result.stdout
    for expected in (
        "type the number of a candidate, or ? for help",
        "got 99",
        "got 0",
        "got -1",
        "'banana' is neither a number of the list nor column=value",
        "the table has no column 'cty'. Did you mean city?",
        "the table has no column 'name'",
        f"there is no value after {hole}=",
        "the table has no column 'nothing'",
    ):
        assert expected in text
    assert len(events()) == 1


def only_holes_in(name: str) -> None:
    """Put holes into one column alone, so that the first question is about it."""
    dirty = true_table().astype(object)
    dirty.loc[::2, name] = None
    dirty.to_csv("train.csv", index=False)


@pytest.mark.parametrize(
    ("name", "wrong", "needed", "right", "written", "shown"),
    [
        ("age", "old", "column 'age' takes a number", "41", "41", "ranges from"),
        (
            "income",
            "nan",
            "column 'income' takes a number",
            "3001.5",
            "3001.5",
            "half of its values",
        ),
        ("city", "", "there is no value after city=", "St. Gallen", "St. Gallen", "city is"),
        ("member", "maybe", "column 'member' takes true or false", "true", "TRUE", "true or false"),
        (
            "since",
            "soon",
            "column 'since' takes a date",
            "2021-03-04",
            "2021-03-04",
            "ranges from 2020",
        ),
    ],
)
def test_free_values_of_every_kind(files, name, wrong, needed, right, written, shown):
    only_holes_in(name)
    result = run(said=f"{name}={wrong}\n? {name}\n{name}={right}\nq\n")
    assert result.exit_code == 0, result.output
    assert needed in result.stdout
    assert shown in result.stdout
    event = events()[-1]
    assert list(event["value"]) == [name]
    assert cells("train.cleaned.csv")[name][event["row_in_file"]] == written


def test_decimal_commas_of_the_file(files):
    only_holes_in("income")
    table = cells("train.csv")
    table["income"] = [one.replace(".", ",") for one in table["income"]]
    table.to_csv("train.csv", index=False, sep=";")
    text = ("--sep", ";", "--decimal", ",")
    result = run(*text, said="income=3001,5\nq\n")
    assert result.exit_code == 0, result.output
    event = events()[-1]
    assert event["value"] == {"income": 3001.5}
    lines = Path("train.cleaned.csv").read_text().splitlines()
    assert "3001,5" in lines[event["row_in_file"] + 1].split(";")


def test_new_values_are_taken_with_a_remark(files):
    only_holes_in("city")
    result = run(said="city=Bernn\nu\ncity='Basel, BS = am Rhein'\nq\n")
    assert "'Bernn' is a new value of city; 'Bern' is one." in result.stdout
    assert cells("train.cleaned.csv")["city"][events()[-1]["row_in_file"]] == "Basel, BS = am Rhein"


def test_two_holes_at_once_and_one_of_two(files):
    table = cells("train.csv")
    text = run(said="s\n" * 30).stdout
    Path("train.csv.answers.jsonl").unlink()
    holes = {row: [one for one in HOLES if not table[one][row]] for row in asked(text)}
    number, row = next((n, row) for n, row in enumerate(holes) if len(holes[row]) == 2)
    truth = cells("truth.csv")
    both = ", ".join(f"{name}={truth[name][row]}" for name in holes[row])
    result = run("--log", "both.jsonl", "--out", "both.csv", said="s\n" * number + f"{both}\nq\n")
    assert result.exit_code == 0, result.output
    assert cells("both.csv").loc[row].tolist() == truth.loc[row].tolist()
    one = f"{holes[row][0]}={truth[holes[row][0]][row]}"
    result = run("--log", "one.jsonl", "--out", "one.csv", said="s\n" * number + f"{one}\nq\n")
    assert cells("one.csv")[holes[row][0]][row] == truth[holes[row][0]][row]
    assert cells("one.csv")[holes[row][1]][row] == ""


def test_long_lists_show_the_likeliest(files):
    text = run(said="s\n" * 30).stdout
    assert "less likely ones, `more` lists more. Or type the true values:" in text
    number = next(
        n for n, part in enumerate(text.split("\nRow ")[1:]) if "`more` lists more" in part
    )
    Path("train.csv.answers.jsonl").unlink()
    lines = "s\n" * (number // 2) + "more\n12\nq\n"  # a skip prints a "Row" as well
    result = run(said=lines)
    assert "less likely" not in result.stdout.split("> more")[1].split(">")[0]
    assert "candidate" in events()[-1]


@pytest.mark.slow
def test_letters_that_cannot_be_shown_or_read(files):
    only_holes_in("city")
    text = Path("train.csv").read_text().replace("Bern", "Bärn")
    Path("train.csv").write_text(text, encoding="utf-8")
    said = b"city=Z\xfcrich\ncity=Z\xc3\xbcrich\nq\n"
    process = start(text=False, bufsize=-1, encoding_of_output="ascii")
    out, err = process.communicate(said, timeout=PATIENCE)
    assert process.returncode == 0, err
    assert b"the value of column 'city' is not valid UTF-8" in out
    assert b"B?rn" in out
    assert events()[-1]["value"] == {"city": "Zürich"}


def test_cell_by_cell(files):
    result = run("--strategy", "cells", said="1\n1\n1\nq\n")
    assert result.exit_code == 0, result.output
    assert [len(event["value"]) for event in events()] == [1, 1, 1]


def test_budget_and_share(files):
    result = run("--budget", "2", said="1\n" * 9)
    assert "No more questions: the budget of 2 answers is spent." in result.stdout
    assert len(events()) == 2
    result = run("--until", "0.1", said="1\n")
    assert "0.1 or more of the validation points are certain" in result.stdout
    assert len(events()) == 2


def test_json_is_all_that_is_on_stdout(files):
    result = run("--json", said="1\ns\nq\n")
    found = json.loads(result.stdout)
    assert "Why this row" in result.stderr
    assert found["answers"] == found["rows_answered"] == found["skipped"] == 1
    assert found["points"] == 18
    assert found["certain"] / 18 < found["certain_share"] < 1, "of predictions, and of completions"
    assert found["log"] == "train.csv.answers.jsonl"
    assert found["table"] == "train.cleaned.csv"
    assert found["stopped"] is None
    assert (
        found["holes_filled"] + found["holes_left"] == (cells("train.csv") == "").to_numpy().sum()
    )


# --- places and options that cannot be ---------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("--log", "."), "is a directory; name a file in it for the answers"),
        (("--log", "none/a.jsonl"), "there is no folder 'none'"),
        (("--log", "/proc/a.jsonl"), "answers cannot be saved in '/proc/a.jsonl'"),
        (("--log", "truth.csv"), "is not a log of answers"),
        (("--log", "train.csv"), "--log is train.csv itself"),
        (("--out", "train.csv"), "--out is train.csv itself"),
        (("--out", "."), "must end in one of"),
        (("--out", "out.docx"), "must end in one of"),
        (("--out", "none/out.csv"), "there is no folder 'none'"),
        (("--exact",), "--exact is about the answers of --oracle"),
        (("--oracle", "none.csv"), "there is no file 'none.csv'"),
        (("--oracle", "-"), "name files instead of -"),
        (("--until", "1.5"), "1.5 is not in the range"),
        (("--neighbors", "500"), "--neighbors must be"),
    ],
)
def test_refused_before_anything_is_asked(files, args, told):
    Path("folder.csv").mkdir()
    result = run(*args, said="1\n")
    assert result.exit_code == 2, result.output
    assert told in result.stderr
    assert "Traceback" not in result.stderr
    assert not Path("train.csv.answers.jsonl").exists()


def test_a_directory_in_the_place_of_the_table(files):
    Path("train.cleaned.csv").mkdir()
    result = run(said="1\n")
    assert result.exit_code == 2
    assert "is a directory; name a file in it" in result.stderr


@pytest.mark.parametrize("strategy", ["cpclean", "cells"])
def test_a_chosen_point_of_a_grid_is_never_written_as_if_it_were_true(files, strategy):
    """Numbers and dates of the list are points of their column; categories are values."""
    result = run("--strategy", strategy, "--json", said="1\n" * 60)
    assert result.exit_code == 0, result.output
    summary, dirty, clean = (
        json.loads(result.stdout),
        cells("train.csv"),
        cells("train.cleaned.csv"),
    )
    changed = clean.columns[(dirty != clean).any()]
    assert set(changed) <= {"city", "member"}
    assert (dirty != clean).to_numpy().sum() == summary["holes_filled"]
    assert summary["holes_known_roughly"] >= 3
    assert "A number of the list is a rough answer. If you know the value: age=..." in result.stderr
    said = " ".join(result.stderr.split())  # lines are broken at 80 characters
    assert "(rough answers are not written into the table)" in said
    assert re.search(r"Row \d+: (age|income|since) roughly ", said)
    run("--strategy", strategy, "--fill", "likely", said="q\n")
    assert not (cells("train.cleaned.csv")[list(HOLES)] == "").any(axis=None)


def test_what_is_typed_is_written_though_it_is_a_point_of_the_grid(files):
    only_holes_in("age")
    first = run(said="q\n").stdout
    point = re.search(r"^ 3 +(\S+) ", first, re.MULTILINE)[1]
    (row,) = asked(first)
    told = run(said=f"age={point}\nq\n").stdout
    assert "roughly" not in told.split(f"Row {row}: age {point}.")[1]
    assert float(cells("train.cleaned.csv")["age"][row]) == float(point)
