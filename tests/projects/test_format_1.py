"""Projects that earlier versions of cpclean saved: they open, and go on as they were."""

import json
from pathlib import Path

import pytest
from systems import needs_pandas_3

from cpclean.projects.packing import Unpacker
from cpclean.projects.project import Project

FOLDER = Path(__file__).with_name("format_1")
EXPECTED = json.loads((FOLDER / "expected.json").read_text("utf-8"))


@pytest.fixture(params=EXPECTED)
def case(request):
    return (FOLDER / f"{request.param}.project").read_bytes(), EXPECTED[request.param]


def settings_of(project):
    """The settings as format 1 has them, the names of the rows included."""
    plain = project.settings.plain()
    if plain["about"] is not None:
        plain["about"] = {"rows": project.task.row_names.tolist(), **plain["about"]}
    return plain


def test_a_project_opens_as_it_was(case):
    content, expected = case
    project = Project.from_bytes(content)
    assert project.digest() == expected["digest"]
    assert project.belongs == expected["belongs"]
    assert project.journal_belongs == expected["journal"]
    assert settings_of(project) == expected["settings"]
    assert project.dirty_rows.tolist() == expected["rows"]
    labels = project.task.labels
    assert (None if labels is None else labels.tolist()) == expected["labels"]


def test_a_session_asks_the_same(case):
    content, expected = case
    session = Project.from_bytes(content).session()
    for row, gain in expected["asks"]:
        question = session.ask()
        assert (question.row, question.gain) == (row, pytest.approx(gain))
        last = session.answers, session.certain_share, session.mean_entropy
        session.tell(**question.answer(0))
    assert last[1:] == (expected["certain"], pytest.approx(expected["entropy"]))


def parts(content):
    source = Unpacker(content)
    source.plain["settings"].pop("about")  # which has another order now
    arrays = {name: (one.dtype, one.tobytes()) for name, one in source._arrays.items()}
    return source.plain, {name: one for name, one in arrays.items() if name != "plain"}


@needs_pandas_3
def test_it_is_saved_as_it_was(case):
    """So that earlier versions open what this one saves."""
    content, _ = case
    assert parts(Project.from_bytes(content).to_bytes()) == parts(content)


def test_the_sources_come_back():
    project = Project.from_bytes((FOLDER / "everything.project").read_bytes())
    assert list(project.frame.columns) == ["a", "b", "c", "y"]
    assert (project.text.encoding, project.text.decimal) == ("latin-1", ",")
    assert len(project.raw_points) == project.task.points.n_points == 5
