"""cpclean clean: the dialogue, what it keeps, and the table that comes out."""

import fcntl
import json
import os
import pty
import re
import resource
import select
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from cpclean import CleaningSession, simulate
from cpclean.cli import main
from cpclean.cli.options import Training, Validation
from cpclean.cli.tables import open_problem

ROOT = Path(__file__).resolve().parents[2]
OPTIONS = ("--label", "buys", "--drop", "name", "--kind", "since=date")
HOLES = ("age", "income", "city", "member", "since")


def true_table(n: int = 90) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    buys = rng.integers(2, size=n)
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(900, size=n), unit="D")
    return pd.DataFrame(
        {
            "name": [f"{number:03d}" for number in range(n)],
            "age": rng.integers(18, 50, size=n) + 25 * buys,
            "income": (rng.normal(3 + buys, 1, size=n) * 1000).round(2),
            "city": np.array(["Aarau", "Bern", "St. Gallen", "Genf"])[rng.integers(4, size=n)],
            "member": np.where(rng.random(n) < 0.5, "TRUE", "FALSE"),
            "since": days.strftime("%Y-%m-%d"),
            "buys": np.where(buys, "yes", "no"),
        }
    )


def with_holes(truth: pd.DataFrame) -> pd.DataFrame:
    rng, dirty = np.random.default_rng(6), truth.astype(object)
    for number, row in enumerate(rng.permutation(len(truth))[: len(truth) // 3].tolist()):
        names = rng.permutation(HOLES)[: 2 if number % 4 == 0 else 1]
        dirty.loc[row, list(names)] = None
    return dirty


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A folder with train.csv and truth.csv, which is the current one."""
    monkeypatch.chdir(tmp_path)
    truth = true_table()
    truth.to_csv("truth.csv", index=False)
    with_holes(truth).to_csv("train.csv", index=False)
    return tmp_path


def run(*args: str, said: str = "", options=OPTIONS):
    return CliRunner().invoke(main, ["clean", "train.csv", *options, *args], input=said)


def events(path: str = "train.csv.answers.jsonl") -> list[dict]:
    return [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()[1:]]


def asked(text: str) -> list[int]:
    """The rows that are asked for, in order."""
    return [int(row) for row in re.findall(r"^Row (\d+), line", text, re.MULTILINE)]


def cells(path: str) -> pd.DataFrame:
    return pd.read_csv(path, dtype=str, na_filter=False)


# --- the dialogue ------------------------------------------------------------------------------


def test_the_first_question_says_all_that_is_needed(files):
    result = run(said="q\n")
    assert result.exit_code == 0, result.output
    text = result.stdout
    assert "train.csv: 72 rows with 5 columns, 30 of them with holes" in text
    assert "18 of its rows are held out" in text
    assert re.search(r"\d+ of 18 predictions are certain \(\d+\.\d%\)", text)
    assert "Answers are kept in train.csv.answers.jsonl" in text
    (row,) = asked(text)
    assert f"Row {row}, line {row + 2} of the file  (0 answers so far" in text
    assert "Why this row:" in text
    assert "how likely" in text
    assert "would settle" in text
    hole = next(name for name in HOLES if not cells("train.csv")[name][row])
    assert f"{hole} ?" in text
    known = next(name for name in ("age", "city") if cells("train.csv")[name][row])
    assert f"{known} {cells('train.csv')[known][row]}" in text


def test_nothing_answered_leaves_nothing_behind(files):
    assert run(said="q\n").exit_code == 0
    assert run(said="").exit_code == 0
    assert sorted(os.listdir()) == ["train.csv", "truth.csv"]


def test_until_all_is_certain(files):
    result = run(said="1\n" * 40)
    assert result.exit_code == 0, result.output
    assert "Done: all validation points are certain." in result.stdout
    assert "All 18 predictions are certain: you can stop now." in result.stdout
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
    assert f"Taken back: row {rows[0]} is not skipped any more." in text
    assert "there is no answer to take back" in text
    assert "do not ask for this row again" in text
    assert f"Taken back: row {rows[0]} is asked for again." in text
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
        "'banana' is neither a number from the list nor column=value",
        "the table has no column 'cty'. Did you mean city?",
        "the table has no column 'name'",
        f"nothing stands behind {hole}=",
        "the table has no column 'nothing'",
    ):
        assert expected in text
    assert len(events()) == 1


def first_with_hole(name: str) -> str:
    """Lines that skip rows until one with this hole alone is asked for."""
    text = run(said="s\n" * 30).stdout
    Path("train.csv.answers.jsonl").unlink()
    table = cells("train.csv")
    for number, row in enumerate(asked(text)):
        if [one for one in HOLES if not table[one][row]] == [name]:
            return "s\n" * number
    pytest.skip(f"no row is asked for {name} alone")


@pytest.mark.parametrize(
    ("name", "wrong", "needed", "right", "written", "shown"),
    [
        ("age", "old", "age takes a number", "41", "41", "goes from"),
        ("income", "nan", "income takes a number", "3001.5", "3001.5", "half of it lies"),
        ("city", "", "nothing stands behind city=", "St. Gallen", "St. Gallen", "city is"),
        ("member", "maybe", "member takes true or false", "true", "TRUE", "true or false"),
        ("since", "soon", "since takes a date", "2021-03-04", "2021-03-04", "goes from 2020"),
    ],
)
def test_free_values_of_every_kind(files, name, wrong, needed, right, written, shown):
    skips = first_with_hole(name)
    result = run(said=f"{skips}{name}={wrong}\n? {name}\n{name}={right}\nq\n")
    assert result.exit_code == 0, result.output
    assert needed in result.stdout
    assert shown in result.stdout
    event = events()[-1]
    assert list(event["value"]) == [name]
    assert cells("train.cleaned.csv")[name][event["row_in_file"]] == written


def test_new_values_are_taken_with_a_remark(files):
    skips = first_with_hole("city")
    result = run(said=f"{skips}city=Bernn\nu\ncity='Basel, BS = am Rhein'\nq\n")
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
    assert "less likely ones, `more` lists more. Or type what is true:" in text
    number = next(
        n for n, part in enumerate(text.split("\nRow ")[1:]) if "`more` lists more" in part
    )
    Path("train.csv.answers.jsonl").unlink()
    lines = "s\n" * (number // 2) + "more\n12\nq\n"  # a skip prints a "Row" as well
    result = run(said=lines)
    assert "less likely" not in result.stdout.split("> more")[1].split(">")[0]
    assert "candidate" in events()[-1]


def test_letters_that_cannot_be_shown_or_read(files):
    text = Path("train.csv").read_text().replace("Bern", "Bärn")
    Path("train.csv").write_text(text, encoding="utf-8")
    skips = first_with_hole("city")
    said = skips.encode() + b"city=Z\xfcrich\ncity=Z\xc3\xbcrich\nq\n"
    process = start(text=False, bufsize=-1, encoding_of_output="ascii")
    out, err = process.communicate(said, timeout=60)
    assert process.returncode == 0, err
    assert b"the value of city has letters that are not UTF-8" in out
    assert b"B?rn" in out
    assert events()[-1]["value"] == {"city": "Zürich"}


def test_cell_by_cell(files):
    result = run("--strategy", "cells", said="1\n1\n1\nq\n")
    assert result.exit_code == 0, result.output
    assert [len(event["value"]) for event in events()] == [1, 1, 1]


def test_budget_and_share(files):
    result = run("--budget", "2", said="1\n" * 9)
    assert "No more is asked: the budget of 2 answers is spent." in result.stdout
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
    assert found["certain"] / 18 == found["certain_share"]
    assert found["log"] == "train.csv.answers.jsonl"
    assert found["table"] == "train.cleaned.csv"
    assert found["stopped"] is None
    assert (
        found["holes_filled"] + found["holes_left"] == (cells("train.csv") == "").to_numpy().sum()
    )


# --- going on ----------------------------------------------------------------------------------


def test_resumed_where_it_was(files):
    whole = run("--log", "whole.jsonl", said="1\n2\ns\n1\n2\nq\n")
    parts = ["1\n", "2\ns\nq\n", "1\n2\n"]
    seen = []
    for said in parts:
        result = run(said=said)
        assert result.exit_code == 0, result.output
        seen += asked(result.stdout)[: said.count("\n") - said.count("q")]
    assert seen == asked(whole.stdout)[:5]
    assert "Going on from train.csv.answers.jsonl: 2 answers and 1 skipped so far." in result.stdout
    told = ("row", "candidate", "skip")
    assert [{key: one.get(key) for key in told} for one in events()] == [
        {key: one.get(key) for key in told} for one in events("whole.jsonl")
    ]


def test_undo_reaches_into_an_earlier_run(files):
    first = run(said="1\n1\n")
    second = run(said="u\nu\nu\nq\n")
    assert asked(second.stdout)[1:] == asked(first.stdout)[1::-1]
    assert "there is no answer to take back" in second.stdout
    assert json.loads(run("--json", said="").stdout)["answers"] == 0


def test_a_table_from_before_does_not_keep_what_is_taken_back(files):
    assert run(said="1\nq\n").exit_code == 0
    assert not cells("train.cleaned.csv").equals(cells("train.csv"))
    result = run(said="u\nq\n")
    assert result.exit_code == 0, result.output
    assert cells("train.cleaned.csv").equals(cells("train.csv"))


def test_a_changed_table_is_refused(files):
    run(said="1\n")
    before = Path("train.csv.answers.jsonl").read_bytes()
    table = cells("train.csv")
    row = int(table.index[(table["age"] != "") & (table["city"] == "")][0])
    table.loc[row, "age"] = "99"
    table.to_csv("train.csv", index=False)
    result = run(said="1\n")
    assert result.exit_code == 2
    assert "belongs to something else: other table" in result.stderr
    assert "name another file" in result.stderr
    assert Path("train.csv.answers.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("option", "told"),
    [
        (("--neighbors", "1"), "neighbors was 3 and is 1"),
        (("--metric", "manhattan"), "metric was 'euclidean' and is 'manhattan'"),
        (("--strategy", "random"), "strategy was 'cpclean' and is 'random'"),
        (("--prior", "uniform"), "prior was 'label' and is 'uniform'"),
        (("--seed", "3"), "other table"),
    ],
)
def test_other_settings_are_refused(files, option, told):
    run(said="1\n")
    result = run(*option, said="1\n")
    assert result.exit_code == 2
    assert told in result.stderr


def test_the_same_values_written_otherwise_are_the_same_table(files):
    run(said="1\n")
    table = pd.read_csv("train.csv", dtype={"name": str})  # ages become 30.0
    table.to_csv("train.csv", index=False)
    assert run(said="1\n").exit_code == 0
    assert len(events()) == 2


def test_a_torn_log_is_told_and_goes_on(files):
    run(said="1\n1\n")
    log = Path("train.csv.answers.jsonl")
    log.write_bytes(log.read_bytes()[:-9])
    result = run(said="1\n")
    assert result.exit_code == 0, result.output
    assert "was torn" in result.stderr
    assert "Going on from train.csv.answers.jsonl: 1 answer so far." in result.stdout
    assert len(events()) == 2


# --- a process of its own ----------------------------------------------------------------------


def start(*args: str, encoding_of_output: str = "", **options) -> subprocess.Popen:
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONUNBUFFERED": "1"}
    if encoding_of_output:
        env |= {"PYTHONIOENCODING": encoding_of_output}
    code = "from cpclean.cli import main; main()"
    command = [sys.executable, "-c", code, "clean", "train.csv", *OPTIONS, *args]
    given = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    given |= {"text": True, "bufsize": 1}
    return subprocess.Popen(command, env=env, **{**given, **options})


def until(stream, text: str) -> str:
    """Read up to a text; what has no line end is read too."""
    found = ""
    while not found.endswith(text):
        letter = stream.read(1)
        assert letter, f"{text!r} did not come:\n{found}"
        found += letter
    return found


def test_killed_and_resumed(files):
    process = start()
    for _ in range(3):
        until(process.stdout, "help > ")
        process.stdin.write("1\n")
        process.stdin.flush()
    seen = until(process.stdout, "help > ")  # so that the third one is taken
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert len(events()) == 3
    result = run(said="q\n")
    assert "Going on from train.csv.answers.jsonl: 3 answers so far." in result.stdout
    assert asked(result.stdout) == asked(seen)[-1:]


def test_interrupted_with_every_answer_in_the_log(files):
    process = start()
    until(process.stdout, "help > ")
    process.stdin.write("1\n")
    process.stdin.flush()
    until(process.stdout, "help > ")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    told = "Interrupted. train.csv.answers.jsonl has 1 answer; the same command goes on from there."
    assert told in err
    assert "Traceback" not in err
    assert len(events()) == 1


def test_two_at_once_on_one_log(files):
    process = start()
    try:
        until(process.stdout, "help > ")
        result = run(said="1\n")
        assert result.exit_code == 2
        assert "is in use: another process is taking answers for it" in result.stderr
        process.stdin.write("1\n")
        process.stdin.flush()
        until(process.stdout, "help > ")
    finally:
        process.kill()
        process.communicate()
    assert len(events()) == 1


def test_no_room_for_the_answer(files):
    run(said="1\n")
    size = Path("train.csv.answers.jsonl").stat().st_size
    limit = (size + 30, size + 30)
    process = start(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit))
    _, err = process.communicate("1\n1\n1\n", timeout=60)
    assert process.returncode == 1
    assert "not taken: 'train.csv.answers.jsonl' cannot be written: File too large" in err
    assert "Everything before is in it (1 answer)" in err
    assert "Traceback" not in err
    assert Path("train.csv.answers.jsonl").stat().st_size == size
    assert run(said="1\n").exit_code == 0
    assert len(events()) == 2


class Terminal:
    """A person at a real (pseudo-)terminal."""

    def __init__(self, limit: tuple[int, int] | None = None) -> None:
        ours, theirs = pty.openpty()

        def begin() -> None:
            os.setsid()
            fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)  # so that Ctrl-C reaches it
            if limit is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, limit)

        self.process = start(stdin=theirs, stdout=theirs, stderr=theirs, preexec_fn=begin)
        os.close(theirs)
        self._file = ours

    def until(self, text: str, typing: str = "") -> str:
        """Read up to a text; meanwhile type something, again if nothing comes of it.

        A Ctrl-C that falls between the prompt and the waiting for a key is noticed with the next.
        """
        found, end = "", time.monotonic() + 60
        while text not in found:
            assert time.monotonic() < end, found
            self.type(typing)
            while text not in found and select.select([self._file], [], [], 5)[0]:
                found += os.read(self._file, 4096).decode(errors="replace")
        return found

    def type(self, text: str) -> None:
        os.write(self._file, text.encode())


def test_in_a_terminal(files, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    text = terminal.until("help > ")
    assert "\x1b[" in text  # colours
    terminal.type("2\n")
    terminal.until("help > ")
    terminal.type("u\n")
    assert "Taken back" in terminal.until("help > ")
    terminal.type("3\n")
    terminal.until("help > ")
    assert "has 1 answer; the same command" in terminal.until("from there", typing="\x03")
    assert terminal.process.wait(30) == 130
    terminal = Terminal()
    assert "1 answer so far" in terminal.until("help > ")
    terminal.type("\x04")
    assert "Cleaned table: train.cleaned.csv" in terminal.until("goes on from there")
    assert terminal.process.wait(30) == 0


def test_in_a_terminal_without_room_the_answer_can_be_tried_again(files, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    run(said="1\n")
    size = Path("train.csv.answers.jsonl").stat().st_size
    terminal = Terminal(limit=(size + 9, size + 9_999))
    terminal.until("help > ")
    terminal.type("1\n")
    assert "not taken" in terminal.until("help > ")
    resource.prlimit(terminal.process.pid, resource.RLIMIT_FSIZE, (size + 9_999, size + 9_999))
    terminal.type("1\n")
    terminal.until("2 answers so far")
    terminal.until("help > ")
    terminal.type("q\n")
    assert terminal.process.wait(30) == 0
    assert len(events()) == 2


# --- the oracle --------------------------------------------------------------------------------


def problem_and_truth(strategy: str = "cpclean"):
    kinds = ("since=date",)
    given = Training("train.csv", "buys", 3, "euclidean", "default", "label", (), kinds,
                     ("name",), False, False)  # fmt: skip
    problem = open_problem(given, Validation(None, 0.2, 0))
    truth = pd.read_csv("truth.csv").drop(columns=["name", "buys"])
    truth["since"] = pd.to_datetime(truth["since"])
    session = CleaningSession(problem.table, problem.points, 3, strategy, random_state=0)
    return session, truth.iloc[problem.rows]


@pytest.mark.parametrize("strategy", ["cpclean", "random", "cells"])
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
    assert "Going on from train.csv.answers.jsonl: 3 answers so far." in result.stdout
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
        (lambda truth: truth.drop(columns="age"), "it lacks 'age'"),
        (lambda truth: truth.iloc[::-1], "in the same order; cells that both know differ in"),
        (lambda truth: truth.assign(age=truth["age"].where(truth.index > 9)), "has holes itself"),
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
    row = int(dirty.index[(dirty["age"] != "") & (dirty["city"] == "")][0])
    truth = true_table()
    truth.loc[row, "age"] = 77
    truth.to_csv("truth.csv", index=False)
    result = run("--oracle", "truth.csv", "--exact")
    assert result.exit_code == 0, result.output
    assert f"both know differ in row {row}" in result.stderr
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
    done = CliRunner().invoke(main, options, input="1\n")
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
        result = run("--out", out, "--oracle", "truth.csv", "--exact")
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


def test_explicit_domains(files):
    Path("train.csv").write_text("age[18|30|65],pets,y\n40,[0|3],no\n,0,yes\n50,4,no\n20,4,yes\n")
    Path("val.csv").write_text("age,pets\n40,1\n")
    options = ("--label", "y", "--domains", "--val", "val.csv", "-k", "1")
    result = run("--out", "out.csv", options=options, said="1\n")
    assert result.exit_code == 0, result.output
    lines = Path("out.csv").read_text().splitlines()
    assert lines[0] == "age[18|30|65],pets,y"
    assert lines[1:3] in (["40,0,no", ",0,yes"], ["40,[0|3],no", "18,0,yes"])


# --- places and options that cannot be ---------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("--log", "."), "is a directory; name a file in it for the answers"),
        (("--log", "none/a.jsonl"), "there is no folder 'none'"),
        (("--log", "/proc/a.jsonl"), "answers cannot be kept in '/proc/a.jsonl'"),
        (("--log", "truth.csv"), "is no log of answers"),
        (("--log", "train.csv"), "--log is train.csv itself"),
        (("--out", "train.csv"), "--out is train.csv itself"),
        (("--out", "."), "must end in one of"),
        (("--out", "out.docx"), "must end in one of"),
        (("--out", "none/out.csv"), "there is no folder 'none'"),
        (("--exact",), "--exact says how --oracle answers"),
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


def test_a_disk_that_fills_before_the_table_is_written_keeps_the_answers(files):
    process = start(
        "--out",
        "out.csv",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1500, 1500)),
    )
    _, err = process.communicate("1\n1\nq\n", timeout=60)
    assert process.returncode == 1
    assert "File too large" in err
    assert len(events()) == 2
    assert not Path("out.csv").exists()
