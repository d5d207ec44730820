"""The contract of `cpclean.storage.contract`, for every storage."""

import time
from datetime import UTC, timedelta

import pytest
from projects.making import N_DIRTY, make_project
from waiting import until

from cpclean.errors import OvertakenError, RefusedError, StorageError
from cpclean.storage.events import Lease, NewEvent, Since
from cpclean.storage.opening import open_storage

ODD_TEXTS = [
    "Robert'); DROP TABLE cpclean_event;--",
    '" OR 1=1 --',
    "%s %(who)s :who ? $1 {0} \\",
    "<script>alert(1)</script>",
    "Zoë 名前 🙂",
    "line\nbreak\ttab",
]

# Tried one after the other: a new database for each would take longer than all of them.
INVALID_EVENTS = [
    (
        NewEvent("guess", "Ann", 3),
        "one of answer, correction, skip, undo, comment, truth",
    ),
    (NewEvent("answer", "Ann", 3), "an answer needs value"),
    (NewEvent("truth", "gold", 3), "a truth needs value"),
    (NewEvent("truth", "gold", 3, value={"a": 1}, undoes=1), "a truth takes no undoes"),
    (NewEvent("answer", "Ann", 3, 1, note={"columns": ["a"]}), "an answer takes no columns"),
    (NewEvent("skip", "Ann", 3, note={"columns": ["a", ""]}), "a column in columns must be text"),
    (NewEvent("answer", "Ann", None, candidate=1), "an answer needs row"),
    (NewEvent("answer", "Ann", 3, candidate=1, value=2), "an answer takes no value"),
    (NewEvent("correction", "Ann", 3, 1, undoes=1), "a correction takes no undoes"),
    (NewEvent("skip", "Ann", 3, candidate=1), "a skip takes no candidate"),
    (NewEvent("undo", "Ann"), "an undo needs undoes"),
    (NewEvent("undo", "Ann", 3, undoes=1), "an undo takes no row"),
    (NewEvent("skip", "Ann", -1), "row must be an int of at least 0; got -1"),
    (NewEvent("skip", "Ann", True), "row must be an int"),
    (NewEvent("answer", "Ann", 3, candidate=2**70), "candidate must be an int"),
    (NewEvent("comment", "Ann", 3), "a comment needs note"),
    (NewEvent("comment", "Ann", note={"comment": "x"}), "a comment needs row"),
    (NewEvent("comment", "Ann", 3, note={"comment": "x" * 2001}), "comment must be text of 1 to 2"),
    (NewEvent("answer", "Ann", 3, 1, note={"reason": "unreadable"}), "an answer takes no reason"),
    (NewEvent("skip", "Ann", 3, note={"reason": "lost"}), "reason must be one of not recorded"),
    (NewEvent("skip", "Ann", 3, note={"to": "\0"}), "to must be text without null"),
    (NewEvent("undo", "Ann", undoes=1, note={"comment": "x"}), "an undo takes no comment"),
    (NewEvent("skip", "", 3), "who must be text of 1 to 200 characters"),
    (NewEvent("skip", "x" * 201, 3), "who must be text .*; got 201 characters"),
    (NewEvent("skip", None, 3), "who must be text"),
    (NewEvent("skip", "a\0b", 3), "who must be text without null characters"),
    (NewEvent("skip", "a\ud800", 3), "who must be text without null characters"),
    (NewEvent("answer", "Ann", 3, value={"a": float("nan")}), "something JSON can hold"),
    (NewEvent("answer", "Ann", 3, value={1, 2}), "something JSON can hold"),
    (NewEvent("answer", "Ann", 3, value="x" * 100_001), "at most 100,000 characters as JSON"),
    (NewEvent("skip", "Ann", 3, seconds=-1.0), "seconds must be None or a number"),
    (NewEvent("skip", "Ann", 3, seconds=float("inf")), "seconds must be None or a number"),
]
INVALID_LEASES = [
    (([1], "Ann", 0), "seconds must be a number above 0"),
    (([1], "Ann", float("nan")), "seconds must be a number above 0"),
    (([1], "Ann", "60"), "seconds must be a number above 0"),
    (([1], "", 60), "who must be text"),
    ((["1"], "Ann", 60), "a ranking must list rows"),
    (([1], "Ann", 60, 0), "places must be an int of at least 1; got 0"),
    (([1], "Ann", 60, {1: 1, 2: "3"}), "places must be an int of at least 1; got '3'"),
]


def answer(row, who="Ann", candidate=1, **more):
    return NewEvent("answer", who, row, candidate=candidate, **more)


class TestProject:
    def test_a_new_storage_has_none(self, empty_storage):
        assert empty_storage.project() is None

    def test_what_is_saved_comes_back(self, storage, project):
        again = storage.project()
        assert again.digest() == project.digest()
        assert again.settings == project.settings
        assert again.belongs == project.belongs
        assert again.session().ask().row == project.session().ask().row

    def test_the_same_project_again_has_no_effect(self, storage, project):
        storage.append(answer(3), "r1")
        storage.create(project)
        assert storage.last() == 1

    def test_another_project_is_refused(self, storage, project):
        with pytest.raises(RefusedError, match="already holds another project"):
            storage.create(make_project(n_neighbors=1))
        assert storage.project().settings == project.settings

    def test_nothing_goes_without_a_project(self, empty_storage):
        for call in (
            lambda: empty_storage.append(answer(3), "r1"),
            empty_storage.events,
            empty_storage.last,
            empty_storage.leases,
            lambda: empty_storage.lease([1], "Ann", 10),
            lambda: empty_storage.setting("experts"),
            lambda: empty_storage.change("experts", None, {}),
        ):
            with pytest.raises(StorageError, match=r"no project in .* yet; create one first"):
                call()

    def test_a_closed_storage_says_so(self, storage):
        storage.close()
        with pytest.raises(StorageError, match="was closed"):
            storage.last()


class TestLog:
    def test_an_event_comes_back_as_it_was(self, storage):
        before = storage.now()
        value = {"a": 41.5, "tags": ["x", None, True], "Zoë": "\x00 \ud800 '\";--"}
        new = [
            answer(3, seconds=12.5),
            NewEvent("correction", "Bob", 3, value=value),
            NewEvent("skip", "Ann", 4, seconds=0.0),
            NewEvent("undo", "Cem", undoes=2),
        ]
        events = [storage.append(one, f"r{n}") for n, one in enumerate(new)]
        assert storage.events() == events
        assert [event.number for event in events] == [1, 2, 3, 4]
        assert [event.row for event in events] == [3, 3, 4, 3]
        assert [(e.kind, e.who, e.seconds, e.undoes) for e in events] == [
            ("answer", "Ann", 12.5, None),
            ("correction", "Bob", None, None),
            ("skip", "Ann", 0.0, None),
            ("undo", "Cem", None, 2),
        ]
        assert [event.entry for event in events[:3]] == [
            {"row": 3, "candidate": 1},
            {"row": 3, "value": value},
            {"row": 4, "skip": True},
        ]
        assert all(before <= event.at <= storage.now() for event in events)
        assert all(event.at.tzinfo is UTC for event in events)

    def test_an_undo_has_no_entry(self, storage):
        storage.append(answer(3), "r1")
        event = storage.append(NewEvent("undo", "Ann", undoes=1), "r2")
        with pytest.raises(RefusedError, match="event 2 is an undo"):
            _ = event.entry

    def test_events_after_a_number(self, storage):
        for number in range(6):
            storage.append(answer(number), f"r{number}")
        assert [event.number for event in storage.events(after=4)] == [5, 6]
        assert [event.number for event in storage.events(after=1, limit=2)] == [2, 3]
        assert storage.events(after=6) == []
        assert storage.events(after=99) == []
        assert storage.last() == 6

    def test_a_request_is_saved_once(self, storage):
        first = storage.append(answer(3, seconds=1.0), "r1")
        storage.append(answer(4), "r2")
        # How long it took is measured anew when a form is sent again.
        assert storage.append(answer(3, seconds=2.0), "r1") == first
        assert storage.last() == 2

    def test_a_repeated_undo_is_saved_once(self, storage):
        storage.append(answer(3), "r1")
        first = storage.append(NewEvent("undo", "Ann", undoes=1), "r2")
        assert storage.append(NewEvent("undo", "Ann", undoes=1), "r2") == first
        assert storage.last() == 2

    def test_a_request_id_is_for_one_thing(self, storage):
        storage.append(answer(3), "r1")
        for other in (answer(4), answer(3, "Bob"), answer(3, candidate=0)):
            with pytest.raises(RefusedError, match="'r1' was used before, for event 1"):
                storage.append(other, "r1")
        assert storage.last() == 1

    def test_who_answers_learns_of_answers_not_seen(self, storage):
        storage.append(answer(3), "r1")
        storage.append(answer(4), "r2")
        storage.append(NewEvent("comment", "Ann", 5, note={"comment": "x"}), "r3")
        storage.append(NewEvent("skip", "Cem", 5), "r4")
        with pytest.raises(OvertakenError, match=r"Ann has answered row 3 .* \(event 1\)") as found:
            storage.append(answer(3, "Bob", 2), "r5", Since(row=0))
        assert found.value.event == storage.events()[0]
        with pytest.raises(OvertakenError, match="event 4 came in the meantime"):
            storage.append(answer(6, "Bob"), "r5", Since(row=4, log=2))
        assert storage.last() == 4
        # Sent again, or about other rows, or known already: saved.
        assert storage.append(answer(3), "r1", Since(row=0, log=0)).number == 1
        assert storage.append(answer(5, "Bob"), "r5", Since(row=0)).number == 5
        assert storage.append(answer(3, "Bob", 2), "r6", Since(row=1)).number == 6
        assert storage.append(answer(3, "Cem", 2), "r7", Since(99, 99)).number == 7
        assert storage.append(answer(3, "Cem", 2), "r8", Since()).number == 8

    def test_an_answer_that_was_undone_overtakes_nobody(self, storage):
        storage.append(answer(3), "r1")
        storage.append(NewEvent("undo", "Ann", undoes=1), "r2")
        assert storage.append(answer(3, "Bob"), "r3", Since(row=0)).number == 3
        with pytest.raises(OvertakenError, match="Bob has answered row 3"):
            storage.append(answer(3, "Cem"), "r4", Since(row=2))

    def test_an_undo_names_an_event_that_counts(self, storage):
        storage.append(answer(3), "r1")
        with pytest.raises(RefusedError, match="there is no event 2 to undo"):
            storage.append(NewEvent("undo", "Ann", undoes=2), "r2")
        storage.append(NewEvent("undo", "Ann", undoes=1), "r2")
        with pytest.raises(RefusedError, match="event 1 is undone already"):
            storage.append(NewEvent("undo", "Bob", undoes=1), "r3")
        storage.append(NewEvent("undo", "Ann", undoes=2), "r4")  # the undo is taken back
        storage.append(NewEvent("undo", "Bob", undoes=1), "r5")
        assert [event.undoes for event in storage.events()] == [None, 1, 2, 1]

    def test_invalid_events_are_refused(self, storage):
        for new, message in INVALID_EVENTS:
            with pytest.raises(RefusedError, match=message):
                storage.append(new, "r1")
        assert storage.last() == 0

    def test_a_request_id_is_text(self, storage):
        for request_id in ("", None, 7, "x" * 201):
            with pytest.raises(RefusedError, match="request_id must be text"):
                storage.append(answer(3), request_id)

    def test_texts_are_only_texts(self, storage):
        for number, text in enumerate(ODD_TEXTS):
            event = storage.append(NewEvent("answer", text, 3, value={text: text}), text)
            assert storage.events(after=number) == [event]
            assert (event.who, event.value, event.request_id) == (text, {text: text}, text)
            assert storage.lease([3], text, 10, places=99).who == text
        assert {lease.who for lease in storage.leases()} == set(ODD_TEXTS)


class TestLeases:
    def test_the_first_free_row_is_handed_out(self, storage):
        before = storage.now()
        first, second = storage.lease([5, 3, 7], "Ann", 60), storage.lease([5, 3, 7], "Bob", 60)
        assert (first.row, first.who, second.row, second.who) == (5, "Ann", 3, "Bob")
        assert [(one.row, one.who) for one in storage.leases()] == [(3, "Bob"), (5, "Ann")]
        assert before <= first.until - timedelta(seconds=60) <= storage.now()

    def test_one_person_can_hold_several_rows_but_none_twice(self, storage):
        assert [storage.lease([5, 3], "Ann", 60, places=3).row for _ in range(2)] == [5, 3]
        assert storage.lease([5, 3], "Ann", 60, places=3) is None

    def test_no_row_is_free(self, storage):
        storage.lease([5], "Ann", 60)
        assert storage.lease([5], "Bob", 60) is None
        assert storage.lease([], "Bob", 60) is None

    def test_places(self, storage):
        people = ("Ann", "Bob", "Cem", "Di")
        found = [storage.lease([5, 3], who, 60, places={5: 2}) for who in people]
        assert [one and one.row for one in found] == [5, 5, 3, None]

    def test_a_lease_ends_with_its_time(self, storage):
        lease = storage.lease([5], "Ann", 60)
        assert storage.lease([5], "Bob", 60) is None
        lease = storage.renew(lease, 0.1)
        until(lambda: storage.leases() == [])
        assert storage.renew(lease, 60) is None
        assert storage.release(lease) is False
        assert storage.lease([5], "Bob", 60).row == 5

    def test_a_person_gets_a_row_again_after_the_time(self, storage):
        storage.lease([5], "Ann", 0.1)
        until(lambda: storage.leases() == [])
        assert storage.lease([5], "Ann", 60).row == 5

    def test_renew(self, storage):
        lease = storage.lease([5], "Ann", 600)
        longer = storage.renew(lease, 6000)
        assert (longer.id, longer.row) == (lease.id, 5)
        assert longer.until > lease.until + timedelta(seconds=5000)
        assert storage.lease([5], "Bob", 60) is None
        assert storage.leases() == [longer]

    def test_release(self, storage):
        lease = storage.lease([5], "Ann", 60)
        assert storage.release(lease) is True
        assert storage.release(lease) is False
        assert storage.renew(lease, 60) is None
        assert storage.lease([5], "Bob", 60).row == 5

    def test_a_lease_that_never_was(self, storage):
        odd = Lease("nothing", 5, "Ann", storage.now())
        assert storage.renew(odd, 60) is None
        assert storage.release(odd) is False

    @pytest.mark.parametrize("kind", ["answer", "correction", "skip"])
    def test_an_event_about_a_row_ends_ones_own_lease(self, storage, kind):
        storage.lease([5], "Ann", 60, places=2)
        bobs = storage.lease([5], "Bob", 60, places=2)
        other = storage.lease([6], "Ann", 60)
        new = NewEvent(kind, "Ann", 5, candidate=None if kind == "skip" else 1)
        storage.append(new, "r1")
        assert storage.leases() == [bobs, other]

    def test_an_event_about_a_row_that_somebody_else_holds(self, storage):
        lease = storage.lease([5], "Ann", 60)
        assert storage.append(answer(5, "Bob"), "r1").number == 1
        assert storage.leases() == [lease]

    def test_an_undo_ends_no_lease(self, storage):
        storage.append(answer(5), "r1")
        lease = storage.lease([5], "Ann", 60)
        storage.append(NewEvent("undo", "Ann", undoes=1), "r2")
        assert storage.leases() == [lease]

    def test_rows_with_later_events_are_passed_over(self, storage):
        storage.append(answer(5), "r1")
        storage.append(answer(3), "r2")
        assert storage.lease([5, 3, 7], "Bob", 60, seen=0).row == 7
        assert storage.lease([5, 3, 8], "Bob", 60, seen=1).row == 5
        assert storage.lease([3, 8], "Bob", 60, seen=2).row == 3

    def test_clean_rows_can_be_answered_but_not_leased(self, storage):
        assert storage.append(answer(N_DIRTY + 1), "r1").row == N_DIRTY + 1
        with pytest.raises(RefusedError, match="rows of the project that have holes; got 41, 99"):
            storage.lease([1, 41, 99], "Ann", 60)

    def test_invalid_leases_are_refused(self, storage):
        for arguments, message in INVALID_LEASES:
            with pytest.raises(RefusedError, match=message):
                storage.lease(*arguments)
        assert storage.leases() == []


class TestTakingOver:
    def test_somebody_else_holds_the_row_then(self, storage):
        held = storage.lease([3], "Ann", 60)
        taken = storage.take_over(held, "Bob", 600)
        assert (taken.row, taken.who) == (3, "Bob")
        assert taken.until - storage.now() > timedelta(seconds=590)
        assert storage.leases() == [taken]
        assert storage.renew(held, 60) is None, "Ann's has ended"
        assert storage.lease([3], "Ann", 60) is None, "and the row is not free"

    def test_a_lease_that_has_ended_cannot_be_taken_over(self, storage):
        held = storage.lease([3], "Ann", 60)
        storage.release(held)
        assert storage.take_over(held, "Bob", 60) is None
        short = storage.lease([3], "Ann", 0.05)
        until(lambda: storage.leases() == [], "the end of the lease")
        assert storage.take_over(short, "Bob", 60) is None
        assert storage.leases() == []

    def test_whoever_holds_the_row_gets_no_second_lease(self, storage):
        held = storage.lease([3], "Ann", 60, places=2)
        mine = storage.lease([3], "Bob", 60, places=2)
        assert storage.take_over(held, "Bob", 60) is None
        assert {one.id for one in storage.leases()} == {held.id, mine.id}

    def test_of_several_one_takes_it_over(self, storage):
        held = storage.lease([3], "Ann", 60)
        taken = [storage.take_over(held, who, 60) for who in ("Bob", "Cem")]
        assert taken[1] is None
        assert storage.leases() == [taken[0]]


class TestSettings:
    def test_a_setting_comes_back_as_it_was(self, storage):
        assert storage.setting("experts") is None
        value = {"Zoë": ["a", "b"], **{text: [] for text in ODD_TEXTS}}
        assert storage.change("experts", None, value)
        assert storage.setting("experts") == value
        assert storage.setting("gold") is None

    def test_what_somebody_else_has_changed_stays(self, storage):
        storage.change("experts", None, {"Ann": ["a"]})
        assert not storage.change("experts", None, {"Bob": ["b"]})
        assert storage.setting("experts") == {"Ann": ["a"]}
        assert storage.change("experts", {"Ann": ["a"]}, {"Bob": ["b"]})
        assert storage.change("experts", {"Ann": ["a"]}, {"Bob": ["b"]}), "a repeated call"
        assert storage.change("experts", {"Bob": ["b"]}, None)
        assert storage.setting("experts") is None

    def test_the_order_of_keys_does_not_matter(self, storage):
        storage.change("experts", None, {"Ann": 1, "Bob": 2})
        assert storage.change("experts", {"Bob": 2, "Ann": 1}, {"Ann": 3})

    def test_invalid_settings_are_refused(self, storage):
        with pytest.raises(RefusedError, match="the name of a setting must be text of 1 to"):
            storage.change("", None, 1)
        with pytest.raises(RefusedError, match="something JSON can hold"):
            storage.change("x", None, float("nan"))


def test_times_come_from_the_clock_of_the_database(shared_url, project, monkeypatch):
    """A process whose clock is a day ahead neither ends leases nor misdates events."""
    with open_storage(shared_url) as storage:
        storage.create(project)
        before = storage.now()
        lease = storage.lease([5], "Ann", 60)
        real = time.time()
        monkeypatch.setattr(time, "time", lambda: real + 86_400)
        monkeypatch.setattr(time, "time_ns", lambda: int((real + 86_400) * 1e9))
        assert storage.leases() == [lease]
        assert storage.lease([5], "Bob", 60) is None
        assert storage.append(answer(6), "r1").at - before < timedelta(seconds=60)


def test_what_is_saved_is_there_for_others(shared_url, project):
    with open_storage(shared_url) as storage:
        storage.create(project)
        event = storage.append(answer(6), "r1")
        lease = storage.lease([5], "Ann", 60)
    with open_storage(shared_url, create=False) as storage:
        assert storage.project().digest() == project.digest()
        assert storage.events() == [event]
        assert storage.leases() == [lease]
        assert storage.append(answer(6), "r1") == event
