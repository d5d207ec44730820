"""cpclean clean goes on: the same command again, after Ctrl-C, a crash or a full disk."""

import json
import os
import signal
import time
from pathlib import Path

import pandas as pd
import pytest
from cli.purchases import asked, cells, events, held_out, run, start
from systems import needs_posix
from waiting import PATIENCE

from cpclean.cli.options import MAX_EXACT, N_DRAWS

if os.name == "posix":
    import fcntl
    import pty
    import resource
    import select
    import termios

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
    assert "from train.csv.answers.jsonl: 2 answers and 1 skipped so far." in result.stdout
    told = ("row", "candidate", "skip")
    assert [{key: one.get(key) for key in told} for one in events()] == [
        {key: one.get(key) for key in told} for one in events("whole.jsonl")
    ]


def test_undo_reaches_into_an_earlier_run(files):
    first = run(said="1\n1\n")
    second = run(said="u\nu\nu\nq\n")
    assert asked(second.stdout)[1:] == asked(first.stdout)[1::-1]
    assert "there is no answer to undo" in second.stdout
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
    row = next(row for row in table.index[table["age"] != ""] if row not in held_out())
    table.loc[row, "age"] = "99"
    table.to_csv("train.csv", index=False)
    result = run(said="1\n")
    assert result.exit_code == 2
    assert "belongs to something else: other table" in result.stderr
    assert "choose another file" in result.stderr
    assert Path("train.csv.answers.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("option", "told"),
    [
        (("--neighbors", "1"), "neighbors was 3 and is 1"),
        (("--max-exact", "100"), f"max_exact was {MAX_EXACT} and is 100"),
        (("--draws", "8"), f"draws was {N_DRAWS} and is 8"),
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
    assert "was incomplete" in result.stderr
    assert "Continuing from train.csv.answers.jsonl: 1 answer so far." in result.stdout
    assert len(events()) == 2


# --- a process of its own ----------------------------------------------------------------------


def until(stream, text: str) -> str:
    """Read up to a text; what has no line end is read too."""
    found = ""
    while not found.endswith(text):
        letter = stream.read(1)
        assert letter, f"{text!r} did not come:\n{found}"
        found += letter
    return found


@pytest.mark.slow
@needs_posix
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
    assert "Continuing from train.csv.answers.jsonl: 3 answers so far." in result.stdout
    assert asked(result.stdout) == asked(seen)[-1:]


@needs_posix
@pytest.mark.slow
def test_interrupted_with_every_answer_in_the_log(files):
    process = start()
    until(process.stdout, "help > ")
    process.stdin.write("1\n")
    process.stdin.flush()
    until(process.stdout, "help > ")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    told = "Interrupted. train.csv.answers.jsonl has 1 answer; the same command continues from"
    assert told in err
    assert "Traceback" not in err
    assert len(events()) == 1


@pytest.mark.slow
def test_two_at_once_on_one_log(files):
    process = start()
    try:
        until(process.stdout, "help > ")
        result = run(said="1\n")
        assert result.exit_code == 2
        assert "is in use: another process is saving answers in it" in result.stderr
        process.stdin.write("1\n")
        process.stdin.flush()
        until(process.stdout, "help > ")
    finally:
        process.kill()
        process.communicate()
    assert len(events()) == 1


@pytest.mark.slow
@needs_posix
def test_no_room_for_the_answer(files):
    run(said="1\n")
    size = Path("train.csv.answers.jsonl").stat().st_size
    limit = (size + 30, size + 30)
    process = start(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit))
    _, err = process.communicate("1\n1\n1\n", timeout=PATIENCE)
    assert process.returncode == 1
    assert "not saved: 'train.csv.answers.jsonl' cannot be written: File too large" in err
    assert "Everything saved before is safe (1 answer)" in err
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
        found, end = "", time.monotonic() + PATIENCE
        while text not in found:
            assert time.monotonic() < end, found
            self.type(typing)
            while text not in found and select.select([self._file], [], [], 5)[0]:
                found += os.read(self._file, 4096).decode(errors="replace")
        return found

    def type(self, text: str) -> None:
        os.write(self._file, text.encode())


@needs_posix
@pytest.mark.slow
def test_in_a_terminal(files, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    text = terminal.until("help > ")
    assert "\x1b[" in text  # colours
    assert "Note: 18 rows are held out" in text
    assert "...Note:" not in text, "not in the line of a status"
    terminal.type("2\n")
    terminal.until("help > ")
    terminal.type("u\n")
    assert "Undone" in terminal.until("help > ")
    terminal.type("1\n")
    terminal.until("help > ")
    assert "has 1 answer; the same command" in terminal.until("from there", typing="\x03")
    assert terminal.process.wait(PATIENCE) == 130
    terminal = Terminal()
    assert "1 answer so far" in terminal.until("help > ")
    terminal.type("\x04")
    assert "Cleaned table: train.cleaned.csv" in terminal.until("continues from there")
    assert terminal.process.wait(PATIENCE) == 0


@needs_posix
@pytest.mark.slow
def test_in_a_terminal_without_room_the_answer_can_be_tried_again(files, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    run(said="1\n")
    size = Path("train.csv.answers.jsonl").stat().st_size
    terminal = Terminal(limit=(size + 9, size + 9_999))
    terminal.until("help > ")
    terminal.type("1\n")
    assert "not saved" in terminal.until("help > ")
    resource.prlimit(terminal.process.pid, resource.RLIMIT_FSIZE, (size + 9_999, size + 9_999))
    terminal.type("1\n")
    assert "2 answers so far" in terminal.until("help > ")
    terminal.type("q\n")
    assert terminal.process.wait(PATIENCE) == 0
    assert len(events()) == 2


@needs_posix
@pytest.mark.slow
def test_a_disk_that_fills_before_the_table_is_written_keeps_the_answers(files):
    process = start(
        "--out",
        "out.csv",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1500, 1500)),
    )
    _, err = process.communicate("1\n1\nq\n", timeout=PATIENCE)
    assert process.returncode == 1
    assert "File too large" in err
    assert len(events()) == 2
    assert not Path("out.csv").exists()
