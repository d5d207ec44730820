"""The journal: an answer is on the disk, whatever happens next."""

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pandas as pd
import pytest
from systems import files_end_at, needs_posix
from waiting import PATIENCE

from cpclean import CleaningSession, IncompleteTable
from cpclean.projects.fingerprint import fingerprint
from cpclean.storage.journal import Journal, NotSavedError, read_answers
from cpclean.storage.journal_lines import JournalError
from cpclean.storage.saved_session import SavedSession

ROOT = Path(__file__).resolve().parents[2]
MINE = {"table": "sha256:aa", "neighbors": 3}
ANSWERS = [
    {"row": 3, "candidate": 1},
    {"row": 7, "value": {"age": 41.0, "city": "Zürich"}},
    {"row": 9, "skip": True},
]


def filled(path: Path, answers=ANSWERS) -> bytes:
    with Journal(path, MINE) as journal:
        for answer in answers:
            journal.append(answer, seconds=0.5)
    return path.read_bytes()


def entries(path: Path) -> list[dict]:
    with Journal(path, MINE) as journal:
        return [
            {key: entry[key] for key in entry if key not in ("at", "seconds")}
            for entry in journal.entries
        ]


# --- there and back ----------------------------------------------------------------------------


def test_answers_are_there_again(tmp_path):
    path = tmp_path / "answers.jsonl"
    filled(path)
    with Journal(path, MINE) as journal:
        assert journal.resumed
        assert journal.notes == []
    assert entries(path) == ANSWERS


def test_every_event_is_in_the_file_when_append_returns(tmp_path):
    path = tmp_path / "answers.jsonl"
    with Journal(path, MINE) as journal:
        for n, answer in enumerate(ANSWERS, start=1):
            journal.append(answer)
            lines = path.read_text("utf-8").splitlines()
            assert len(lines) == n + 1
            assert answer.items() <= json.loads(lines[-1]).items()


def test_an_event_says_when_and_how_long(tmp_path):
    last = json.loads(filled(tmp_path / "a.jsonl").splitlines()[-1])
    assert last["seconds"] == 0.5
    assert last["at"].startswith("20")


def test_an_undo_is_an_event_of_its_own(tmp_path):
    path = tmp_path / "answers.jsonl"
    filled(path)
    with Journal(path, MINE) as journal:
        journal.undo()
        journal.undo()
        journal.append({"row": 5, "candidate": 0})
    assert entries(path) == [ANSWERS[0], {"row": 5, "candidate": 0}]
    assert len(path.read_bytes().splitlines()) == 1 + 3 + 3


def test_undo_without_answers(tmp_path):
    with (
        Journal(tmp_path / "a.jsonl", MINE) as journal,
        pytest.raises(JournalError, match="takes back 1 to 0 entries; got 1"),
    ):
        journal.undo()


def test_reading_needs_no_lock_and_changes_nothing(tmp_path):
    path = tmp_path / "a.jsonl"
    with Journal(path, {"table": "x"}) as journal:
        journal.append({"row": 3, "candidate": 1})
        journal.append({"row": 4, "value": {"age": 41.0}})
        assert [entry["row"] for entry in read_answers(path)] == [3, 4]
        journal.undo()
        assert read_answers(path)[0].items() >= {"row": 3, "candidate": 1}.items()
        assert len(read_answers(path)) == 1
    torn = path.read_bytes() + b'{"row": 5, "cand'
    path.write_bytes(torn)
    assert len(read_answers(path)) == 1
    assert path.read_bytes() == torn


def test_what_cannot_be_read(tmp_path):
    with pytest.raises(JournalError, match=r"absent.jsonl' cannot be read: No such file"):
        read_answers(tmp_path / "absent.jsonl")
    other = tmp_path / "other.txt"
    other.write_text("a,b\n1,2\n")
    with pytest.raises(JournalError, match="is not a log of answers"):
        read_answers(other)
    header = {"cpclean": "answers", "version": 1, "belongs": {}}
    other.write_text(json.dumps(header) + "\nwhat\n")
    with pytest.raises(JournalError, match=r"line 2 of .* is not an answer: 'what'"):
        read_answers(other)


def test_a_journal_without_events_leaves_no_file(tmp_path):
    path = tmp_path / "answers.jsonl"
    with Journal(path, MINE):
        assert path.exists()
    assert not path.exists()


def test_a_last_line_without_its_end_counts_if_it_is_whole(tmp_path):
    path = tmp_path / "answers.jsonl"
    path.write_bytes(filled(path).rstrip(b"\n"))
    assert entries(path) == ANSWERS
    with Journal(path, MINE) as journal:
        journal.append({"row": 11, "candidate": 0})
    assert entries(path) == [*ANSWERS, {"row": 11, "candidate": 0}]


def test_blank_lines_and_windows_line_ends_are_accepted(tmp_path):
    path = tmp_path / "answers.jsonl"
    path.write_bytes(filled(path).replace(b"\n", b"\r\n") + b"\r\n")
    assert entries(path) == ANSWERS


# --- torn, changed, foreign --------------------------------------------------------------------


def test_torn_at_every_byte_of_the_last_line(tmp_path):
    path = tmp_path / "answers.jsonl"
    content = filled(path)
    start = content.rstrip(b"\n").rindex(b"\n") + 1
    for end in range(start, len(content) - 1):  # without its end, the line may be whole
        path.write_bytes(content[:end])
        with Journal(path, MINE) as journal:
            assert len(journal.entries) == 2, content[start:end]
            assert bool(journal.notes) == (end > start)
            assert path.read_bytes() == content[:start]
            journal.append({"row": 9, "candidate": 4})
        assert entries(path) == [*ANSWERS[:2], {"row": 9, "candidate": 4}]


def test_an_incomplete_line_is_reported(tmp_path):
    path = tmp_path / "answers.jsonl"
    path.write_bytes(filled(path)[:-20])
    with Journal(path, MINE) as journal:
        assert "was incomplete" in journal.notes[0]
        assert "2 answers before it are safe" in journal.notes[0]


@pytest.mark.parametrize("size", [0, 1, 15, 22, 40, 90])
def test_killed_while_the_first_line_was_written(tmp_path, size):
    path = tmp_path / "answers.jsonl"
    path.write_bytes(filled(path)[:size])
    assert entries(path) == []


def test_zeros_after_a_power_cut(tmp_path):
    path = tmp_path / "answers.jsonl"
    path.write_bytes(filled(path) + b"\0" * 4096)
    assert entries(path) == ANSWERS
    assert b"\0" not in path.read_bytes()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"garbage", "line 3 of '.*' is not an answer: 'garbage'"),
        (b"[1, 2]", "line 3 .* is not an answer"),
        (b'{"row": 3, "cand', "line 3 .* is not an answer"),
        (b"\xff\xfe", "line 3 .* is not an answer"),
        (b'{"row": 3}', 'line 3 .* must have "row" and one of'),
        (b'{"row": "3", "candidate": 1}', 'line 3 .* must have "row" and one of'),
        (b'{"row": 3, "candidate": 1, "skip": true}', 'line 3 .* must have "row" and one of'),
        (b'{"undo": 7}', "line 3 .* takes back 7 answers, but there are 1 before it"),
    ],
)
def test_garbage_in_the_middle_names_the_line(tmp_path, line, message):
    path = tmp_path / "answers.jsonl"
    lines = filled(path).splitlines()
    lines[2] = line
    path.write_bytes(b"\n".join(lines) + b"\n")
    before = path.read_bytes()
    with pytest.raises(JournalError, match=message):
        Journal(path, MINE)
    assert path.read_bytes() == before


def test_a_journal_of_something_else_says_what_differs(tmp_path):
    path = tmp_path / "answers.jsonl"
    before = filled(path)
    with pytest.raises(JournalError, match=r"belongs to something else: neighbors was 3 and is 5"):
        Journal(path, {**MINE, "neighbors": 5})
    with pytest.raises(JournalError, match=r"other table\. .* choose another file"):
        Journal(path, {**MINE, "table": "sha256:bb"})
    assert path.read_bytes() == before


def test_a_journal_of_a_newer_format_is_refused(tmp_path):
    path = tmp_path / "answers.jsonl"
    path.write_bytes(filled(path).replace(b'"version": 1', b'"version": 2'))
    with pytest.raises(
        JournalError, match=r"newer cpclean \(format 2; this one reads formats up to 1\). Upgrade"
    ):
        Journal(path, MINE)


@pytest.mark.parametrize(
    "content", [b"age,city\n3,A\n", b"no end", b'{"version": 1}\n', b"\0\0", b"null\n", b"\n"]
)
def test_another_file_is_left_alone(tmp_path, content):
    path = tmp_path / "answers.jsonl"
    path.write_bytes(content)
    with pytest.raises(JournalError, match="is not a log of answers"):
        Journal(path, MINE)
    assert path.read_bytes() == content


@needs_posix
def test_places_that_cannot_be_used(tmp_path):
    with pytest.raises(JournalError, match="is a directory"):
        Journal(tmp_path, MINE)
    with pytest.raises(JournalError, match="there is no folder"):
        Journal(tmp_path / "none" / "a.jsonl", MINE)
    with pytest.raises(JournalError, match="is not a regular file"):
        Journal("/dev/full", MINE)
    with pytest.raises(JournalError, match="answers cannot be saved in"):
        Journal("/proc/answers.jsonl", MINE)


# --- two at once -------------------------------------------------------------------------------


def run(code: str, *args: object) -> subprocess.Popen:
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-c", textwrap.dedent(code), *map(str, args)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=env, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


HOLDING = """
    import sys
    from cpclean.storage.journal import Journal
    journal = Journal(sys.argv[1], {"table": "sha256:aa", "neighbors": 3})
    for row in range(5):
        journal.append({"row": row, "candidate": 0})
    print("ready", flush=True)
    sys.stdin.read()
"""


@needs_posix
def test_a_second_process_is_refused_until_the_first_is_killed(tmp_path):
    path = tmp_path / "answers.jsonl"
    first = run(HOLDING, path)
    try:
        assert first.stdout.readline() == "ready\n"
        with pytest.raises(
            JournalError, match="is in use: another process is saving answers in it"
        ):
            Journal(path, MINE)
    finally:
        first.send_signal(signal.SIGKILL)
        first.communicate()
    assert [entry["row"] for entry in entries(path)] == [0, 1, 2, 3, 4]


def test_a_second_journal_in_one_process_is_refused_too(tmp_path):
    path = tmp_path / "answers.jsonl"
    with Journal(path, MINE), pytest.raises(JournalError, match="is in use"):
        Journal(path, MINE)


# --- a disk that is full -----------------------------------------------------------------------


@needs_posix
@pytest.mark.parametrize("limit", range(700, 760, 13))
def test_what_does_not_fit_is_not_saved_and_nothing_else_is_lost(tmp_path, limit):
    path = tmp_path / "answers.jsonl"
    saved, problems = [], []
    with files_end_at(limit), Journal(path, MINE) as journal:
        for row in range(100):
            try:
                journal.append({"row": row, "value": {"city": "Z" * (row % 7)}})
            except NotSavedError as problem:
                problems.append(str(problem))
            else:
                saved.append(row)
    assert 0 < len(saved) < 100
    assert len(saved) + len(problems) == 100
    assert "not saved" in problems[-1]
    assert f"({len(saved)} answers)" in problems[-1]
    assert path.stat().st_size <= limit
    assert path.read_bytes().endswith(b"\n")
    assert [entry["row"] for entry in entries(path)] == saved


@needs_posix
def test_no_room_for_the_first_line(tmp_path):
    path = tmp_path / "answers.jsonl"
    with files_end_at(20), pytest.raises(JournalError, match="answers cannot be saved in"):
        Journal(path, MINE)
    assert not path.exists()


@pytest.fixture
def tiny_disk(tmp_path):
    """A disk of one page, where mounting is allowed."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", str(place)]
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount")
    if done.returncode:
        pytest.skip("mounting is not allowed here")
    yield place
    subprocess.run(["umount", str(place)], check=False)


def append_until_full(journal: Journal) -> None:
    for row in range(1000):
        journal.append({"row": row, "candidate": 0})


def test_a_full_disk(tiny_disk):
    path = tiny_disk / "answers.jsonl"
    with Journal(path, MINE) as journal:
        with pytest.raises(NotSavedError, match="No space left on device"):
            append_until_full(journal)
        saved = len(journal.entries)
    assert saved > 10
    assert [entry["row"] for entry in entries(path)] == list(range(saved))


# --- with a session ----------------------------------------------------------------------------


def a_table() -> IncompleteTable:
    ages = [18, None, 30, 65, None, 44, 21, None]
    frame = pd.DataFrame({"age": ages, "pets": [0, 1, 2, 0, 1, 2, 0, 3], "y": list("abababab")})
    return IncompleteTable(frame, label="y")


def a_session(table: IncompleteTable) -> CleaningSession:
    return CleaningSession(table, pd.DataFrame({"age": [20, 50], "pets": [1, 1]}), 1)


def test_a_session_goes_on_where_it_was(tmp_path):
    path, table = tmp_path / "answers.jsonl", a_table()
    with Journal(path, MINE) as journal:
        saved = SavedSession(a_session(table), journal)
        saved.tell(1, value={"age": 33}, seconds=2.0, row_in_file=1)
        saved.tell(4, 2)
        saved.skip(7)
        saved.undo()
        saved.undo()
        saved.tell(1, value={"age": 33})  # known already: nothing to write
        expected = saved.session.answers
    with Journal(path, MINE) as journal:
        again = SavedSession(a_session(table), journal)
        assert again.session.answers == expected == [{"row": 1, "value": {"age": 33.0}}]
        again.undo()
        assert again.session.answers == []
    assert len(path.read_bytes().splitlines()) == 1 + 3 + 3


def test_an_answer_that_cannot_be_written_does_not_count(tiny_disk):
    path, table = tiny_disk / "answers.jsonl", a_table()
    with Journal(path, MINE) as journal:
        saved = SavedSession(a_session(table), journal)
        saved.tell(1, 2)
        before = saved.session.answers
        with pytest.raises(NotSavedError, match="No space left"):
            saved.tell(4, 2, remark="x" * 5000)
        assert saved.session.answers == before
        with pytest.raises(NotSavedError, match="No space left"):
            saved.skip(4, remark="x" * 5000)
        assert saved.session.answers == before
        saved.tell(4, 1)  # a shorter one fits
    with Journal(path, MINE) as journal:
        assert [
            entry["row"] for entry in SavedSession(a_session(table), journal).session.answers
        ] == [1, 4]


def test_an_answer_that_the_session_refuses_is_not_written(tmp_path):
    with Journal(tmp_path / "a.jsonl", MINE) as journal:
        saved = SavedSession(a_session(a_table()), journal)
        with pytest.raises(ValueError, match="must not be null"):
            saved.tell(1, value={"age": None})
        assert journal.entries == []


def test_a_log_that_the_session_refuses(tmp_path):
    path = tmp_path / "answers.jsonl"
    filled(path, [{"row": 1, "candidate": 99}])
    with Journal(path, MINE) as journal, pytest.raises(JournalError, match="cannot be replayed"):
        SavedSession(a_session(a_table()), journal)
    path.unlink()
    filled(path, [{"row": 1, "candidate": 1}] * 2)
    with (
        Journal(path, MINE) as journal,
        pytest.raises(JournalError, match="has the same answer twice"),
    ):
        SavedSession(a_session(a_table()), journal)


# --- fingerprints ------------------------------------------------------------------------------

PRINTED = """
    import json, sys
    import pandas as pd
    from cpclean import IncompleteTable
    from cpclean.projects.fingerprint import fingerprint
    frame = pd.read_json(sys.stdin)
    found = fingerprint(IncompleteTable(frame, label="y"), frame[["age", "city"]].dropna(), k=3)
    print(json.dumps(found))
"""


def people() -> pd.DataFrame:
    return pd.DataFrame(
        {"age": [18, None, 30.5, 65], "city": ["A", "B", None, "A"], "y": [0, 1, 1, 0]}
    )


def printed(frame: pd.DataFrame) -> dict:
    return fingerprint(IncompleteTable(frame, label="y"), frame[["age", "city"]].dropna(), k=3)


@pytest.mark.slow
def test_a_fingerprint_is_the_same_in_another_process(monkeypatch):
    monkeypatch.setenv("PYTHONHASHSEED", "7")
    out, err = run(PRINTED).communicate(people().to_json(), timeout=PATIENCE)
    assert json.loads(out) == printed(people()), err


def test_a_fingerprint_goes_by_values():
    whole = people()
    whole["y"] = whole["y"].astype("int32")
    assert printed(whole) == printed(people())


@pytest.mark.parametrize(
    ("change", "names"),
    [
        ({"age": [19, None, 30.5, 65]}, {"table", "candidates", "validation points"}),
        ({"city": ["A", "B", None, "C"]}, {"table", "candidates", "validation points"}),
        ({"y": [1, 1, 1, 0]}, {"table"}),
    ],
)
def test_a_change_of_the_table_shows(change, names):
    before, after = printed(people()), printed(people().assign(**change))
    assert {name for name in before if before[name] != after[name]} == names
