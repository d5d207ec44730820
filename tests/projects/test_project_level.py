"""Projects with a level of sureness: the same next question when they are opened again."""

import pytest
from projects.making import make_project

from cpclean.errors import CPCleanError, FutureError
from cpclean.projects import project as projects
from cpclean.projects.packing import Unpacker
from cpclean.projects.project import Project
from cpclean.projects.project_settings import Settings


@pytest.mark.parametrize(
    "how",
    [
        {"sure": 0.9},
        {"sure": 0.99, "strategy": "relative"},
        {"gains_by": "uniform"},
        {"strategy": "relative"},
    ],
)
def test_a_project_asks_the_same_when_it_is_opened_again(how):
    project = make_project(**how)
    again = Project.from_bytes(project.to_bytes())
    assert again.settings == project.settings
    assert again.belongs == project.belongs
    first, second = project.session(), again.session()
    assert first.sure == second.sure == how.get("sure")
    assert second.view.setup.gains_by == how.get("gains_by", "prior")
    assert first.ask() is not None
    while (asked := first.ask()) is not None:
        other = second.ask()
        assert asked.row == other.row
        assert asked.gain == other.gain
        for session in (first, second):
            session.tell(asked.row, candidate=0)


def test_what_has_neither_is_saved_as_before():
    """Byte for byte: an earlier cpclean opens it, and its answers still belong to it."""
    project = make_project()
    plain = Unpacker(project.to_bytes()).plain
    assert plain["format"] == 1
    assert not {"sure", "gains_by"} & (plain["settings"].keys() | plain["belongs"].keys())
    assert not {"sure", "gains_by"} & project.journal_belongs.keys()
    opened = Project.from_bytes(project.to_bytes())
    assert (opened.settings.sure, opened.settings.gains_by) == (None, "prior")


@pytest.mark.parametrize("how", [{"sure": 0.8}, {"gains_by": "uniform"}])
def test_earlier_versions_say_that_they_are_too_old(how, monkeypatch):
    content = make_project(**how).to_bytes()
    assert Unpacker(content).plain["format"] == 4
    monkeypatch.setattr(projects, "FORMAT", 3)
    with pytest.raises(FutureError, match=r"newer cpclean \(format 4; this one reads .* up to 3"):
        Project.from_bytes(content)


def test_its_log_says_what_it_was_begun_with():
    belongs = make_project(sure=0.8).journal_belongs
    assert (belongs["sure"], "gains_by" in belongs) == (0.8, False)
    assert make_project(gains_by="uniform").journal_belongs["gains_by"] == "uniform"


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"sure": 1}, "sure must be a number between 0.5 and 1"),
        ({"sure": 0.8, "gains_by": "uniform"}, 'gains_by must be "prior" in a session with sure'),
        ({"gains_by": "often"}, 'gains_by must be "prior" or "uniform"; got \'often\''),
    ],
)
def test_what_cannot_be_asked_is_not_saved(how, words):
    with pytest.raises(CPCleanError, match=words):
        Settings(**how).checked()
