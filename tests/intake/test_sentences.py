"""Notes in words: every code for every reader, and errors of other rooms in each reader's terms."""

import ast
import copy
import pickle
import re
import string
from pathlib import Path
from typing import get_args

import pytest

import cpclean
from cpclean.data.decisions import DOUBTS, IGNORED
from cpclean.errors import QueryError, TableError, TableWarning
from cpclean.intake.notes import IntakeError, Note
from cpclean.intake.remarks import _LOOKS
from cpclean.intake.sentences import SAYINGS, Reader, Saying, parts, refusal, said

READERS = get_args(Reader)
each_code = pytest.mark.parametrize("code", SAYINGS)
# A value for everything that a sentence may mention.
VALUES = {
    "bare": "?", "category": "a=categorical", "cell": "a=-999", "near": "", "where": "",
    "lines": "", "mostly": "", "words": "", "drops": "--drop a", "sample": "4 of 5 rows to predict",
    "own": 0.4, "rest": 0.1,
    "what": "'5 m' (row 3) is read as 5", "count": 2, "distinct": 60, "draws": 64,
    "error": "about 0.01",
    "example": "1 | 2", "expected": 2, "file": "'t.csv'", "first": "?",
    "folder": "/tmp", "format": "csv",
    "got": "'x'", "holes": 1, "instead": "", "kind": "a CSV", "known": "'no', 'yes'", "label": "y",
    "least": 30,
    "limit": 625, "line": 3, "most": 2000, "names": "'a', 'y'", "numbers": 50,
    "other_holes": 3, "others": 7,
    "percent": 1.0, "point_draws": 64, "reason": "it is broken", "seen": 4, "share": 0.01,
    "there": "3", "to_predict": 5, "total": 9, "trained": "'t.csv'", "usable": ".csv file",
    "value": "?",
}  # fmt: skip


def fields_of(saying: Saying) -> set[str]:
    texts = (saying.what, saying.page_what, saying.points, *(getattr(saying, r) for r in READERS))
    return {name for text in texts for _, name, *_ in string.Formatter().parse(text) if name}


@each_code
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("points", [False, True])
def test_every_note_is_a_sentence(code: str, reader: Reader, points: bool) -> None:
    note = Note(code, "my id", (4, 7, 9, 12), {**VALUES, "points": points})
    words = said(note, reader)
    assert words == words.strip()
    shown = re.sub(r"kinds=\{'my id': \"(date|categorical)\"\}", "", words)
    assert not re.search(r"[{}]|None|  ", shown)
    assert words.endswith((".", "broken"))
    if reader == "page":
        assert "--" not in words
    if reader != "python":
        assert "=True" not in words


@each_code
def test_a_sentence_mentions_what_a_note_has(code: str) -> None:
    given = {"column", "rows", "date", "separator", "encoding", "likely"}
    assert fields_of(SAYINGS[code]) <= given | VALUES.keys()


def codes_in_source() -> set[str]:
    """The codes with which notes are made, anywhere in the package."""
    found = set()
    for path in Path(cpclean.__file__).parent.glob("**/*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
                name = getattr(node.func, "id", getattr(node.func, "attr", ""))
                if name in ("Note", "refusal"):
                    found.add(node.args[0].value)
    return found


def test_every_code_is_used_and_every_used_one_is_known() -> None:
    by_table = {*_LOOKS, *DOUBTS, *IGNORED, "left_out", "left_out_empty"}
    assert codes_in_source() | by_table == set(SAYINGS)


def test_nouns_stand_behind_numbers() -> None:
    for count, words in ((1, "1 row has no label and is"), (2500, "2,500 rows have no label and")):
        note = Note("left_out", values={"count": count})
        assert said(note, "terminal").startswith(words)


def test_names_are_quoted_for_a_shell() -> None:
    assert said(Note("row_number", "my id"), "terminal").endswith("leave it out: --drop 'my id'.")
    assert said(Note("row_number", "id"), "terminal").endswith("leave it out: --drop id.")


def test_the_page_has_another_way_out_for_the_second_file() -> None:
    about = {"file": "'p.csv'", "format": "csv", "reason": "no", "encoding": "cp1250"}
    first = Note("encoding", values=about)
    second = Note("encoding", values={**about, "points": True})
    assert parts(first, "page")[0] == parts(second, "page")[0]
    assert "under More settings" in parts(first, "page")[1]
    assert parts(second, "page")[1] == "Save it as UTF-8."


def test_errors_carry_their_note() -> None:
    error = refusal("infinite", "age", (3, 8), file="'t.csv'")
    assert isinstance(error, TableError)
    assert (error.column, error.rows, error.note.code) == ("age", (3, 8), "infinite")
    assert refusal("unlabelled", "y", (3,), file="'t.csv'").field == "drop_unlabelled"
    for other in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert isinstance(other, IntakeError)
        assert (str(other), other.note) == (str(error), error.note)


def test_other_errors_and_warnings() -> None:
    k = QueryError("n_neighbors must be an int in [1, 9]; got 0.", field="n_neighbors")
    assert said(k, "python") == str(k)
    assert said(k, "terminal") == "--neighbors must be an int in [1, 9]; got 0."
    assert said(k, "page") == "the number of neighbours must be an int in [1, 9]; got 0."
    odd = TableWarning("a is odd.", 'kinds={"a": "date"}', field="kinds", column="a b")
    assert said(odd, "python") == 'a is odd. kinds={"a": "date"}'
    assert said(odd, "terminal").endswith("for instance --kind 'a b=categorical'.")
    assert said(odd, "page").endswith("for instance categorical.")
    plain = TableError("a is odd.", "Drop it.", column="a")
    assert said(plain, "page") == said(plain, "terminal") == "a is odd. Drop it."
    assert said(ValueError("anything"), "page") == "anything"
