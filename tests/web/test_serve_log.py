"""Answers of a log that a server begins with: each is said once, and takes nothing back."""

import json

from web.tables import small_project, stored

from cpclean.cli.told_before import take_in
from cpclean.storage.journal_lines import VERSION


def write_log(path, project, *entries):
    header = {"cpclean": "answers", "version": VERSION, "belongs": project.journal_belongs}
    path.write_text("".join(json.dumps(one) + "\n" for one in (header, *entries)))
    return str(path)


def said(storage):
    return [(one.who, one.row, one.kind, one.candidate) for one in storage.events()]


def test_an_answer_that_was_corrected_on_the_page_stays_corrected(tmp_path, desk_over):
    project = small_project()
    desk = desk_over(stored("memory://", project))
    first, second = ({"row": row, "candidate": 1, "who": "Ann"} for row in (3, 4))
    take_in(desk.storage, write_log(tmp_path / "log", project, first, second))
    desk.engine.wake()
    desk.ready()
    assert desk.answer("Eva", 4, candidate=2).kind == "correction"
    # The first one is taken back in the terminal: everything behind it moves up.
    take_in(desk.storage, write_log(tmp_path / "log", project, second))
    assert said(desk.storage) == [
        ("Ann", 3, "answer", 1), ("Ann", 4, "answer", 1), ("Eva", 4, "correction", 2),
    ]  # fmt: skip


def test_logs_of_two_people_who_say_the_same(tmp_path):
    project = small_project()
    with stored("memory://", project) as storage:
        entry = {"row": 3, "candidate": 1}
        for who in ("Ann", None, "Ann"):
            more = {} if who is None else {"who": who}
            take_in(storage, write_log(tmp_path / "log", project, {**entry, **more}))
        assert said(storage) == [("Ann", 3, "answer", 1), ("terminal", 3, "answer", 1)]


def test_what_the_page_has_itself_comes_back_once(tmp_path, desk_over):
    project = small_project()
    desk = desk_over(stored("memory://", project))
    desk.answer("Ann", 3, candidate=1)
    desk.skip("Bob", 4)
    desk.ready()
    (tmp_path / "log").write_text(desk.export_log())
    take_in(desk.storage, str(tmp_path / "log"))
    assert said(desk.storage) == [("Ann", 3, "answer", 1), ("Bob", 4, "skip", None)]


def test_to_say_the_same_again_later_is_something_new(tmp_path):
    project = small_project()
    with stored("memory://", project) as storage:
        one, other = ({"row": 3, "candidate": number} for number in (1, 2))
        for _ in range(2):
            take_in(storage, write_log(tmp_path / "log", project, one, other, one))
        assert [candidate for *_, candidate in said(storage)] == [1, 2, 1]


def test_a_page_learns_no_trees_anew(tmp_path, capsys):
    project = small_project()
    with stored("memory://", project) as storage:
        entries = {"row": 3, "candidate": 1}, {"refit": True}, {"row": 4, "candidate": 1}
        take_in(storage, write_log(tmp_path / "log", project, *entries))
        assert said(storage) == [("terminal", 3, "answer", 1), ("terminal", 4, "answer", 1)]
    told = capsys.readouterr().err
    assert told.count("has a refit, which the page does not repeat: it keeps the trees") == 1
