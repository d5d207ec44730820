"""The desk: questions out, answers in, progress, rows, exports."""

import io
import json
import threading
import time

import numpy as np
import pandas as pd
import pytest
from waiting import PATIENCE, until
from web.tables import small_project, stored

from cpclean.errors import AnswerError, CPCleanError, RefusedError, StorageError, UnknownRowError
from cpclean.storage.events import NewEvent
from cpclean.storage.journal import read_answers
from cpclean.storage.opening import open_storage
from cpclean.web.desk.desk import Desk
from cpclean.web.desk.listing import RowsWanted

# -- questions -------------------------------------------------------------------------------------


def test_the_first_question_is_the_one_that_the_session_asks(desk):
    expected = desk.project.session().ask()

    question = desk.question("Ann")

    assert (question.row, question.gain) == (expected.row, expected.gain)
    assert [one.number for one in question.candidates] == expected.numbers
    assert [one.prior for one in question.candidates] == pytest.approx(expected.prior.tolist())
    assert question.near == len(expected.points)


def test_what_the_candidates_settle_is_worked_out_ahead(desk):
    expected = desk.project.session().ask()
    until(lambda: expected.row in desk.engine.details)

    question = desk.question("Ann")

    settled = [len(expected.settles(place)) for place in range(len(expected.candidates))]
    assert [one.settles for one in question.candidates] == settled


def test_what_candidates_settle_is_told_of_every_row_that_is_opened(desk):
    now = desk.engine.now
    last = now.ranking[-1]
    assert last not in desk.engine.details, "it is not worked out ahead"
    expected = desk.project.session().question(last)
    settled = [len(expected.settles(place)) for place in range(len(expected.candidates))]
    assert [one.settles for one in desk.question("Ann", row=last).candidates] == settled
    assert [one.settles for one in desk.look(last).candidates] == [None] * len(settled)


def test_cells_are_in_words(desk):
    question = desk.question("Ann", row=0)
    size, town, age = question.cells
    assert (size.column, size.text, size.hole, size.kind) == ("size", None, True, "numeric")
    assert (size.low, size.high) == ("0", "19") or float(size.low) <= float(size.high)
    assert town.hole
    assert sorted(town.categories) == ["Bonn", "Kiel", "Ulm"]
    assert not age.hole
    assert age.text.isdigit()


def test_two_people_get_different_rows_and_keep_them(desk):
    ann, bob = desk.question("Ann"), desk.question("Bob")
    assert ann.row != bob.row
    assert desk.question("Ann").row == ann.row
    assert desk.question(" Ann ").lease_id == ann.lease_id


def test_a_row_that_somebody_else_holds_can_be_looked_at_but_is_not_held(desk):
    held = desk.question("Ann").row
    question = desk.question("Bob", row=held)
    assert (question.row, question.lease_id) == (held, None)


def test_a_question_comes_back_after_its_time(desk_over):
    desk = desk_over(stored("memory://"), lease_seconds=0.2)
    row = desk.question("Ann").row
    until(lambda: desk.storage.leases() == [])
    assert desk.question("Bob").row == row


def test_who_comes_back_keeps_a_question_for_longer(desk_over):
    desk = desk_over(stored("memory://"), lease_seconds=60)
    row = desk.question("Ann").row
    (first,) = desk.storage.leases()
    time.sleep(0.1)  # a lease ends at a time in hundredths of a second
    question = desk.question("Ann")
    (later,) = desk.storage.leases()
    assert (question.row, question.lease_seconds, later.id) == (row, 60, first.id)
    assert later.until > first.until


def test_rows_that_there_are_not(desk):
    with pytest.raises(UnknownRowError, match="there is no row 45 with holes"):
        desk.question("Ann", row=45)
    with pytest.raises(UnknownRowError, match="there is no row True"):
        desk.answer("Ann", True, candidate=0)


@pytest.mark.parametrize("name", ["", "  ", "x" * 101, "a\0b", 7])
def test_names_that_are_none(desk, name):
    with pytest.raises(RefusedError, match=r"who must be text|a name must have"):
        desk.question(name)


def test_nobody_waits_for_the_engine(desk, monkeypatch):
    """A slow step keeps neither answers nor questions from coming."""
    at_work, go_on = threading.Event(), threading.Event()
    follow = desk.engine._follower.follow

    def slowly(log):
        at_work.set()
        go_on.wait(PATIENCE)
        follow(log)

    monkeypatch.setattr(desk.engine._follower, "follow", slowly)
    rows = set()
    for number in range(5):
        question = desk.question("Ann")
        assert question.row not in rows, "what was answered is not asked again"
        rows.add(question.row)
        desk.answer("Ann", question.row, candidate=0)
        if not number:
            assert at_work.wait(PATIENCE)
    assert desk.progress().busy
    assert desk.progress().answers == 0
    go_on.set()
    until(lambda: desk.progress().answers == 5)


# -- answers ---------------------------------------------------------------------------------------


def test_an_answer_is_in_the_storage_when_it_is_taken(desk):
    question = desk.question("Ann")
    taken = desk.answer("Ann", question.row, candidate=1, request_id="r1", seconds=2.5)
    event = desk.storage.events()[-1]
    assert (taken.event_number, taken.kind, taken.row) == (1, "answer", question.row)
    assert (event.who, event.row, event.candidate, event.seconds) == ("Ann", question.row, 1, 2.5)
    assert desk.storage.leases() == []


def test_the_same_request_is_taken_once(desk):
    first = desk.answer("Ann", 3, candidate=1, request_id="r1")
    again = desk.answer("Ann", 3, candidate=1, request_id="r1")
    desk.ready()  # now it is a row that is settled
    later = desk.answer("Ann", 3, candidate=1, request_id="r1")
    assert first == again == later
    assert desk.storage.last() == 1
    with pytest.raises(RefusedError, match="request id 'r1' was used before"):
        desk.answer("Ann", 4, candidate=1, request_id="r1")


def test_a_request_id_stands_for_one_thing_that_is_said(desk):
    said = desk.answer("Ann", 3, candidate=1, request_id="r1")
    skipped = desk.skip("Ann", 4, request_id="s1")
    desk.ready()
    value = desk.look(3).candidates[1].cells
    assert desk.answer("Ann", 3, values=value, request_id="r1") == said  # in other words
    assert desk.skip("Ann", 4, request_id="s1") == skipped
    others = [
        lambda: desk.answer("Ann", 3, candidate=2, request_id="r1"),
        lambda: desk.answer("Ann", 3, values={"size": "7.25"}, request_id="r1"),
        lambda: desk.answer("Bob", 3, candidate=1, request_id="r1"),
        lambda: desk.skip("Ann", 3, request_id="r1"),
        lambda: desk.answer("Ann", 4, candidate=1, request_id="s1"),
        lambda: desk.undo("Ann", request_id="r1"),
    ]
    for other in others:
        with pytest.raises(RefusedError, match="was used before, for event"):
            other()
    assert desk.storage.last() == 2


def test_typed_values_are_of_the_columns_kind(desk):
    desk.answer("Ann", 0, values={"size": " 7.5 ", "town": "Ulm"})
    assert desk.storage.events()[-1].value == {"size": 7.5, "town": "Ulm"}
    with pytest.raises(AnswerError, match=r"'size' takes a number, such as 41 or 0\.5; got 'big'"):
        desk.answer("Ann", 1, values={"size": "big"})
    with pytest.raises(AnswerError, match="'age' is not missing in row 1; missing columns: 'size'"):
        desk.answer("Ann", 1, values={"age": "41"})
    with pytest.raises(AnswerError, match="no value was given for row 1"):
        desk.answer("Ann", 1, values={"size": " "})
    with pytest.raises(AnswerError, match="takes a number"):
        desk.answer("Ann", 1, values={"size": "inf"})
    with pytest.raises(AnswerError, match="takes a number"):
        desk.answer("Ann", 1, values={"size": [1]})
    with pytest.raises(AnswerError, match="the number of a candidate or values; got neither"):
        desk.answer("Ann", 1)
    with pytest.raises(AnswerError, match="the number of a candidate or values; got both"):
        desk.answer("Ann", 1, candidate=0, values={"size": "1"})
    with pytest.raises(CPCleanError, match="candidate"):
        desk.answer("Ann", 1, candidate=99)
    assert desk.storage.last() == 1


def test_a_candidate_of_a_row_told_in_part_says_the_rest(desk):
    desk.answer("Ann", 0, values={"size": "7.5"})
    desk.ready()
    question = desk.question("Ann", row=0)
    towns = {one.cells["town"]: one.number for one in question.candidates}
    assert all(list(one.cells) == ["town"] for one in question.candidates)
    assert {cell.column: cell.text for cell in question.cells}["size"] == "7.5"
    taken = desk.answer("Ann", 0, candidate=towns["Kiel"], request_id="rest")
    desk.ready()
    assert desk.answer("Ann", 0, candidate=towns["Kiel"], request_id="rest") == taken
    with pytest.raises(RefusedError, match="was used before"):
        desk.answer("Ann", 0, candidate=towns["Ulm"], request_id="rest")
    assert desk.engine.now.session.known[0] == {"size": 7.5, "town": "Kiel"}


def test_a_correction(desk):
    desk.answer("Ann", 1, candidate=0)
    desk.ready()
    question = desk.question("Bob", row=1)
    assert question.said == "size = 0"
    assert question.others == ["Ann"]
    assert [one.cells["size"] for one in question.candidates] == ["0", "10", "20"]
    assert desk.answer("Bob", 1, candidate=2).kind == "correction"
    desk.ready()
    assert desk.engine.now.session.known[1] == {"size": 20.0}


def test_skip_and_undo(desk):
    row = desk.question("Ann").row
    desk.skip("Ann", row, request_id="s1")
    assert desk.question("Ann").row != row
    undone = desk.undo("Ann", request_id="u1")
    assert (undone.kind, undone.row) == ("undo", row)
    assert desk.undo("Ann", request_id="u1") == undone
    with pytest.raises(AnswerError, match="there is no answer by Ann to undo"):
        desk.undo("Ann")
    desk.ready()
    assert desk.progress().people == []


def test_an_undo_knows_what_was_said_a_moment_ago(desk):
    for row in range(4):
        desk.answer("Ann", row, candidate=0)
        desk.answer("Bob", row + 10, candidate=0)
    assert desk.undo("Ann").row == 3
    assert desk.undo("Ann").row == 2
    assert desk.undo("Bob").row == 13


# -- double-checking -------------------------------------------------------------------------------


def test_two_have_to_agree(desk_over):
    desk = desk_over(stored("memory://", answers_per_row=2))
    row = desk.question("Ann").row
    assert desk.question("Bob").row == row, "both are asked for the best row at the same time"
    assert desk.question("Cem").row != row
    desk.answer("Ann", row, candidate=0)
    desk.ready()
    assert desk.progress().answers == 0
    listed = desk.rows(RowsWanted(search=f"{row}")).rows
    assert next(one.state for one in listed if one.row == row) in ("held", "waiting")
    desk.answer("Bob", row, candidate=1)
    desk.ready()
    progress = desk.progress()
    assert progress.disputed == 1
    assert progress.answers == 0
    assert desk.question("Ann").row != row
    assert desk.question("Bob").row != row
    question = desk.question("Dan")
    assert question.row == row
    assert question.others == ["Ann", "Bob"]
    desk.answer("Dan", row, candidate=1)
    desk.ready()
    progress = desk.progress()
    assert progress.answers == 1
    assert progress.disputed == 0
    pairs = {(one.one, one.other): (one.same, one.different) for one in progress.pairs}
    assert pairs == {("Ann", "Bob"): (0, 1), ("Ann", "Dan"): (0, 1), ("Bob", "Dan"): (1, 0)}
    agreement = {one.name: one.agreement for one in progress.people}
    assert agreement == {"Ann": 0.0, "Bob": 0.5, "Dan": 0.5}


# -- progress --------------------------------------------------------------------------------------


def test_progress_is_that_of_a_session(desk):
    for row in range(6):
        desk.answer("Ann", row, candidate=row % 3, seconds=row)
    desk.skip("Bob", 6)
    desk.ready()
    session = desk.project.session()
    expected = [(0, session.certain_share)]
    for row in range(6):
        expected.append((row + 1, session.tell(row, row % 3).certain_share))
    session.skip(6)

    progress = desk.progress()

    assert progress.curve == expected
    assert (progress.answers, progress.rows_total, progress.rows_left) == (6, 40, 33)
    assert progress.certain == session.certain.sum()
    assert progress.points == 12
    people = {one.name: (one.answers, one.skips, one.seconds_median) for one in progress.people}
    assert people == {"Ann": (6, 0, 2.5), "Bob": (0, 1, None)}
    until(lambda: desk.progress().accuracy == session.accuracy())


def test_the_outlook_begins_here_and_ends_certain(desk):
    until(lambda: desk.engine.outlook is not None and desk.engine.outlook.finished)
    progress = desk.progress()
    assert progress.expected[0] == (0, progress.certain_share)
    assert progress.expected[-1][1] == pytest.approx(1.0)
    lows, highs = dict(progress.low), dict(progress.high)
    assert all(lows[n] <= mean + 1e-9 and mean <= highs[n] + 1e-9 for n, mean in progress.expected)
    assert 1 <= progress.to_target <= 40


def test_the_end_is_told(desk):
    while (question := desk.question("Ann")) is not None or desk.progress().busy:
        if question is not None:
            desk.answer("Ann", question.row, candidate=0)
    progress = desk.progress()
    assert progress.done
    assert progress.stopped == "all validation points are certain"
    assert progress.certain_share == 1.0
    assert progress.to_target == 0


def test_waiting_for_news(desk):
    def quiet():
        version = desk.progress().version
        return desk.wait(version, 0.05) == version

    until(lambda: desk.engine.outlook is not None and desk.engine.outlook.finished)
    until(lambda: desk.engine.accuracy is not None)
    until(quiet)
    version = desk.progress().version
    threading.Timer(0.1, desk.answer, ("Ann", 0), {"candidate": 0}).start()
    assert desk.wait(version, PATIENCE) != version


def test_another_process_is_followed(tmp_path, desk_over):
    url = f"sqlite:///{tmp_path / 'x.db'}"
    with stored(url) as one, open_storage(url) as other:
        here, there = desk_over(one), desk_over(other)
        first = here.question("Ann")
        assert there.question("Bob").row != first.row
        here.answer("Ann", first.row, candidate=0)
        until(lambda: there.progress().answers == 1)
        assert there.progress().certain_share == here.progress().certain_share
        here.stop(), there.stop()


def test_a_project_opens_from_its_place_alone(tmp_path, desk_over):
    place = tmp_path / "x.db"
    with stored(place) as storage:
        desk = desk_over(storage)
        for _ in range(5):
            desk.answer("Ann", desk.question("Ann").row, candidate=1)
        desk.ready()
        before = desk.question("Bob")
        desk.stop()
    with open_storage(place) as storage:
        desk = desk_over(storage)
        assert desk.question("Bob").row == before.row
        assert desk.progress().answers == 5
        desk.stop()


def test_a_storage_without_a_project():
    with open_storage("memory://") as storage, pytest.raises(StorageError, match="no project"):
        Desk(storage)


# -- rows ------------------------------------------------------------------------------------------


def test_rows_can_be_filtered_sorted_and_searched(desk):
    desk.answer("Ann", 0, values={"size": "3", "town": "Ulm"})
    desk.skip("Bob", 1)
    held = desk.question("Cem").row
    desk.ready()
    states = {one.row: one.state for one in desk.rows(RowsWanted(per_page=100)).rows}
    assert (states[0], states[1], states[held]) == ("answered", "skipped", "held")
    assert [one.row for one in desk.rows(RowsWanted(state="answered")).rows] == [0]
    found = desk.rows(RowsWanted(search="ulm")).rows[0]
    assert (found.said, found.who, found.holes) == (
        "size = 3, town = Ulm",
        ["Ann"],
        ["size", "town"],
    )
    gains = [one.gain for one in desk.rows(RowsWanted(per_page=100)).rows]
    assert gains == sorted(gains, reverse=True)
    second = desk.rows(RowsWanted(sort="number", order="asc", page=2, per_page=15))
    assert [one.number for one in second.rows] == list(range(15, 30))
    assert (second.total, second.pages) == (40, 3)


# -- out -------------------------------------------------------------------------------------------


def test_the_table_with_what_was_told(desk):
    desk.answer("Ann", 1, candidate=2)
    desk.answer("Ann", 3, values={"size": "3.5", "town": "Ulm"})
    desk.ready()
    given = desk.project.frame
    expected = given.copy()
    expected.loc[1, "size"], expected.loc[3, "size"], expected.loc[3, "town"] = 20, 3.5, "Ulm"

    actual = pd.read_csv(io.BytesIO(desk.export_table(".csv", None)))

    expected = expected.where(expected.notna(), np.nan)  # a file does not tell None from NaN
    pd.testing.assert_frame_equal(actual, expected, check_dtype=False)
    filled = pd.read_csv(io.BytesIO(desk.export_table(".csv", "likely")))
    assert filled.notna().all().all()
    assert filled.loc[1, "size"] == 20
    again = pd.read_parquet(io.BytesIO(desk.export_table(".parquet", "default")))
    assert len(again) == len(given)
    with pytest.raises(CPCleanError, match="the format of a table must be one of"):
        desk.export_table(".exe", None)


def test_the_log_is_read_like_any_other(desk, tmp_path):
    desk.answer("Ann", 1, candidate=2, seconds=1.5)
    desk.answer("Bob", 2, values={"size": "4"})
    desk.skip("Ann", 4)
    desk.undo("Bob")
    (tmp_path / "answers.jsonl").write_text(desk.export_log())
    entries = read_answers(tmp_path / "answers.jsonl")
    assert [(one["row"], one["who"]) for one in entries] == [(1, "Ann"), (4, "Ann")]
    session = desk.project.session()
    session.replay({key: one[key] for key in ("row", "candidate", "skip") if key in one}
                   for one in entries)  # fmt: skip
    assert session.known == {1: {"size": 20.0}}
    everything = [json.loads(line) for line in desk.export_log(everything=True).splitlines()]
    assert [one["kind"] for one in everything] == ["answer", "answer", "skip", "undo"]


def test_trouble_with_the_database_is_told_and_passes(desk, monkeypatch):
    def broken(*_, **__):
        raise StorageError("the cable is out.")

    with monkeypatch.context() as patched:
        patched.setattr(desk.storage, "last", broken)
        until(lambda: desk.progress().trouble == "the cable is out.")
        assert desk.question("Ann") is not None
    until(lambda: desk.progress().trouble is None)


def test_what_another_program_says_wrongly_does_not_stop_the_others(desk):
    desk.storage.append(NewEvent("answer", "a program", 3, candidate=99), "wrong")
    desk.storage.append(NewEvent("answer", "Ann", 4, candidate=1), "right")
    desk.engine.wake()
    desk.ready()
    assert list(desk.engine.now.session.known) == [4]
    assert list(desk.engine.now.ledger.left_out) == [1]
    assert desk.progress().trouble is None
    assert desk.answer("Bob", 3, candidate=1).kind == "answer"


def test_an_export_has_what_was_confirmed(desk, monkeypatch):
    real = desk.engine._follow

    def slow(events):
        time.sleep(0.3)
        real(events)

    monkeypatch.setattr(desk.engine, "_follow", slow)
    desk.answer("Ann", 1, candidate=2)
    assert pd.read_csv(io.BytesIO(desk.export_table()))["size"][1] == 20


def test_numbers_are_those_of_the_file(desk_over):
    project = small_project(about={"file": "t.csv", "rows": list(range(100, 150))})
    desk = desk_over(stored("memory://", project))
    question = desk.question("Ann", row=103)
    assert (question.row, question.number) == (103, 103)
    with pytest.raises(UnknownRowError, match="no row 3 with holes"):
        desk.question("Ann", row=3)
    assert desk.answer("Ann", 104, candidate=1).row == 104
    assert desk.storage.events()[0].row == 4
    desk.ready()
    assert {one.row for one in desk.rows().rows} <= set(range(100, 140))
    assert all(one.row >= 100 for one in desk.next_rows("Ann"))
    assert all(row >= 100 for row in desk.best_rows(5))
    assert desk.name == "t.csv"


@pytest.mark.parametrize("strategy", ["random", "cells", "cost"])
def test_other_strategies_come_to_their_end(desk_over, strategy):
    costs = {"size": 2.0, "town": 1.0} if strategy == "cost" else None
    desk = desk_over(stored("memory://", n_dirty=15, strategy=strategy, costs=costs))
    assert desk.question("Ann").row == desk.project.session().ask().row
    while (question := desk.question("Ann")) is not None or desk.progress().busy:
        if question is not None:
            desk.answer("Ann", question.row, candidate=question.candidates[-1].number)
    assert desk.progress().done
    assert desk.progress().certain_share == 1.0


def test_a_repeated_request_does_not_leave_the_engine_behind(desk):
    desk.answer("Ann", 3, candidate=1, request_id="r1")
    desk.ready()
    desk.engine.wake()
    until(lambda: not desk.progress().busy)


def test_an_answer_that_comes_as_the_engine_begins_to_look_is_waited_for(desk, monkeypatch):
    """From the moment that it is saved until it is taken in, the engine is behind."""
    desk.ready()
    news, behind = desk.engine._news, []

    class Crossing(threading.Event):
        """Somebody answers right after the engine has found that there is nothing new."""

        def is_set(self):
            found = super().is_set()
            if not behind and threading.current_thread() is desk.engine._thread:
                desk.storage.append(NewEvent("answer", "Ann", 4, candidate=1), "crossing")
                self.set()
                behind.append(None)
            return found

    def looking(real):
        def looked(*given, **named):
            if behind == [None]:
                behind.append(desk.engine.behind)
            return real(*given, **named)

        return looked

    for way in ("last", "events"):
        monkeypatch.setattr(desk.storage, way, looking(getattr(desk.storage, way)))
    desk.engine._news = Crossing()
    news.set()  # what the engine rests on
    until(lambda: len(behind) == 2)
    assert behind[1], "nobody may think that all answers are taken in"
    desk.ready()
    assert desk.progress().answers == 1
