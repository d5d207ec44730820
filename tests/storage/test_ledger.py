"""What a log amounts to: examples, and a model that works it out another way."""

import random
from collections import Counter, defaultdict
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from projects.making import make_project

from cpclean.errors import AnswerError, RefusedError
from cpclean.storage.events import Event
from cpclean.storage.following import Follower
from cpclean.storage.ledger import Agreement, Book, ledger_of

AT = datetime(2026, 1, 1, tzinfo=UTC)


def log(*steps):
    """Events from (kind, who, row, candidate) or ("undo", who, number)."""
    events = []
    for number, (kind, who, *rest) in enumerate(steps, start=1):
        if kind == "undo":
            (undoes,) = rest
            more = {"row": events[undoes - 1].row, "undoes": undoes}
        else:
            more = dict(zip(("row", "candidate"), rest, strict=False))
        events.append(Event(number, AT, f"r{number}", kind, who, **more))
    return events


def test_an_empty_log():
    ledger = ledger_of([])
    assert (ledger.last, ledger.log, dict(ledger.rows), dict(ledger.answers)) == (0, (), {}, {})
    assert ledger.ranking_for("Ann", [3, 1]) == [3, 1]
    assert ledger.places([3]) == {3: 1}


def test_with_one_answer_per_row_all_events_count_in_order():
    events = log(
        ("answer", "Ann", 3, 1),
        ("skip", "Bob", 4),
        ("correction", "Bob", 3, 0),
        ("answer", "Ann", 5, 2),
    )
    ledger = ledger_of(events)
    assert ledger.log == (
        {"row": 3, "candidate": 1},
        {"row": 4, "skip": True},
        {"row": 3, "candidate": 0},
        {"row": 5, "candidate": 2},
    )
    assert ledger.numbers == (1, 2, 3, 4)
    assert ledger.answers == {"Ann": 2, "Bob": 1}
    assert ledger.skips == {"Bob": 1}
    assert ledger.rows[3].decided.number == 3
    assert {row: one.state for row, one in ledger.rows.items()} == {
        3: "settled", 4: "skipped", 5: "settled",
    }  # fmt: skip
    assert ledger.agreement == {("Ann", "Bob"): Agreement(0, 1)}
    assert ledger.latest == {"Ann": 4, "Bob": 3}


def test_undo_and_undo_of_an_undo():
    steps = [("answer", "Ann", 3, 1), ("answer", "Ann", 4, 1), ("undo", "Ann", 1)]
    ledger = ledger_of(log(*steps))
    assert ledger.log == ({"row": 4, "candidate": 1},)
    assert ledger.undone == {1}
    assert 3 not in ledger.rows
    assert ledger.latest == {"Ann": 2}
    again = ledger_of(log(*steps, ("undo", "Ann", 3)))
    assert [entry["row"] for entry in again.log] == [3, 4]  # where it was before
    assert again.undone == {3}
    thrice = ledger_of(log(*steps, ("undo", "Ann", 3), ("undo", "Bob", 4)))
    assert thrice.log == ledger.log
    assert thrice.undone == {1, 4}


def test_two_have_to_agree():
    steps = [("answer", "Ann", 3, 1)]
    ledger = ledger_of(log(*steps), 2)
    assert (ledger.log, ledger.waiting, ledger.rows[3].lacking) == ((), [3], 1)
    assert ledger.ranking_for("Ann", [3, 4]) == [4]
    assert ledger.ranking_for("Bob", [3, 4]) == [3, 4]
    assert ledger.places([3, 4]) == {3: 1, 4: 2}
    ledger = ledger_of(log(*steps, ("answer", "Bob", 3, 1)), 2)
    assert (ledger.log, ledger.numbers) == (({"row": 3, "candidate": 1},), (2,))
    assert (ledger.settled, ledger.waiting) == ([3], [])
    assert ledger.agreement == {("Ann", "Bob"): Agreement(1, 0)}


def test_who_differs_makes_it_a_question_again_for_somebody_else():
    steps = [("answer", "Ann", 3, 1), ("answer", "Bob", 3, 0)]
    ledger = ledger_of(log(*steps), 2)
    assert (ledger.log, ledger.disputed, ledger.rows[3].lacking) == ((), [3], 1)
    assert [ledger.ranking_for(who, [3]) for who in ("Ann", "Bob", "Cem")] == [[], [], [3]]
    ledger = ledger_of(log(*steps, ("answer", "Cem", 3, 0)), 2)
    assert ledger.log == ({"row": 3, "candidate": 0},)
    assert ledger.disputed == []
    assert ledger.agreement == {
        ("Ann", "Bob"): Agreement(0, 1),
        ("Ann", "Cem"): Agreement(0, 1),
        ("Bob", "Cem"): Agreement(1, 0),
    }


def test_somebody_changes_their_mind():
    steps = [("answer", "Ann", 3, 1), ("answer", "Bob", 3, 0), ("answer", "Bob", 3, 1)]
    assert ledger_of(log(*steps), 2).log == ({"row": 3, "candidate": 1},)
    ledger = ledger_of(log(*steps, ("answer", "Ann", 3, 0)), 2)
    assert (ledger.log, ledger.disputed) == ((), [3])


def test_the_same_answer_twice_is_one_vote():
    ledger = ledger_of(log(("answer", "Ann", 3, 1), ("answer", "Ann", 3, 1)), 2)
    assert (ledger.log, ledger.waiting, ledger.answers) == ((), [3], {"Ann": 1})


def test_a_correction_settles_at_once_and_until_people_agree_anew():
    steps = [("answer", "Ann", 3, 1), ("answer", "Bob", 3, 0), ("correction", "Cem", 3, 2)]
    assert ledger_of(log(*steps), 2).log == ({"row": 3, "candidate": 2},)
    more = [*steps, ("answer", "Ann", 3, 0)]
    assert ledger_of(log(*more), 2).log == ({"row": 3, "candidate": 2},)
    assert ledger_of(log(*more, ("answer", "Bob", 3, 0)), 2).log == ({"row": 3, "candidate": 0},)
    assert ledger_of(log(*steps, ("undo", "Cem", 3)), 2).disputed == [3]


def test_skips_of_several():
    steps = [("skip", "Ann", 3), ("answer", "Bob", 3, 1)]
    ledger = ledger_of(log(*steps), 2)
    assert (ledger.log, ledger.waiting, ledger.ranking_for("Ann", [3])) == ((), [3], [])
    ledger = ledger_of(log(*steps, ("skip", "Cem", 3)), 2)
    assert (ledger.log, ledger.rows[3].state) == (({"row": 3, "skip": True},), "skipped")
    ledger = ledger_of(log(*steps, ("skip", "Cem", 3), ("answer", "Di", 3, 1)), 2)
    assert ledger.log == ({"row": 3, "candidate": 1},)
    ledger = ledger_of(log(*steps, ("skip", "Bob", 3)), 2)  # takes nothing back
    assert (ledger.log, ledger.waiting, ledger.answers) == ((), [3], {"Bob": 1})


def handed(events, number, to):
    """The same events, of which a skip hands its row over."""
    return [replace(one, note={"to": to}) if one.number == number else one for one in events]


def test_comments_change_nothing():
    events = log(("comment", "Ann", 3), ("answer", "Ann", 3, 1), ("comment", "Bob", 3))
    ledger = ledger_of(events)
    assert ledger.log == ({"row": 3, "candidate": 1},)
    assert (ledger.latest, ledger.answers) == ({"Ann": 2}, {"Ann": 1})


@pytest.mark.parametrize("n", [1, 2])
def test_a_row_that_is_handed_over(n):
    events = handed(log(("skip", "Ann", 3)), 1, "Bob")
    ledger = ledger_of(events, n)
    assert (ledger.log, ledger.rows[3].state, ledger.rows[3].handed_to) == ((), "handed", "Bob")
    assert ledger.ranking_for("Ann", [1, 3, 2]) == [1, 2]
    assert ledger.ranking_for("Bob", [1, 3, 2]) == [3, 1, 2]
    assert ledger.ranking_for("Cem", [1, 3, 2]) == [1, 2, 3]
    back = handed(log(("skip", "Ann", 3), ("undo", "Ann", 1)), 1, "Bob")
    assert 3 not in ledger_of(back, n).rows
    both = handed(log(("skip", "Ann", 3), ("skip", "Bob", 3)), 1, "Bob")
    ledger = ledger_of(both, n)
    assert (ledger.rows[3].state, ledger.rows[3].handed_to) == ("skipped", None)
    answered = handed(log(("skip", "Ann", 3), ("answer", "Bob", 3, 1)), 1, "Bob")
    assert ledger_of(answered, n).rows[3].state == ("settled" if n == 1 else "waiting")
    further = handed(handed(log(("skip", "Ann", 3), ("skip", "Bob", 3)), 1, "Bob"), 2, "Ann")
    assert ledger_of(further, n).ranking_for("Ann", [1, 3]) == [3, 1]


@pytest.mark.parametrize("n", [1, 2])
def test_a_truth_is_told_whatever_people_answer(n):
    events = log(
        ("truth", "gold", 3, 2),
        ("answer", "Ann", 3, 1),
        ("answer", "Bob", 3, 1),
        ("skip", "Cem", 3),
        ("correction", "Ann", 3, 0),
        ("answer", "Ann", 4, 1),
    )
    ledger = ledger_of(events, n)
    told = ({"row": 3, "candidate": 2}, {"row": 4, "candidate": 1})[: 3 - n]
    assert (ledger.log, ledger.numbers) == (told, (1, 6)[: 3 - n])
    assert ledger.truths == {3: events[0]}
    assert ledger.answers == {"Ann": 2, "Bob": 1}, "they count as answers like all others"
    assert ledger.skips == {"Cem": 1}
    assert [one.who for one in ledger.rows[3].words] == ["Bob", "Cem", "Ann"]
    assert ledger.latest == {"Ann": 6, "Bob": 3, "Cem": 4}, "nobody undoes the truth by mistake"


def test_a_truth_that_is_undone_lets_answers_count():
    events = log(("truth", "gold", 3, 2), ("answer", "Ann", 3, 1), ("undo", "gold", 1))
    ledger = ledger_of(events)
    assert (ledger.log, ledger.truths) == (({"row": 3, "candidate": 1},), {})


def skips_some(events, number, *columns):
    events[number - 1] = replace(events[number - 1], note={"columns": list(columns)})


@pytest.mark.parametrize("n", [1, 2])
def test_whoever_skips_some_columns_leaves_the_row_to_others(n):
    events = log(("skip", "Ann", 3), ("skip", "Bob", 3))
    skips_some(events, 1, "age")
    ledger = ledger_of(events[:1], n)
    assert (ledger.log, ledger.rows[3].state) == ((), "waiting")
    assert ledger.rows[3].partly_skipped == {"Ann": ("age",)}
    assert ledger.ranking_for("Ann", [3, 4]) == [4]
    assert ledger.ranking_for("Bob", [3, 4]) == [3, 4]
    assert ledger.skips == {"Ann": 1}
    both = ledger_of(events, n)
    assert both.log == (({"row": 3, "skip": True},) if n == 1 else ())


def test_whoever_skipped_some_columns_is_not_asked_when_others_answered_the_rest():
    events = log(("answer", "Bob", 3, 1), ("skip", "Ann", 3))
    skips_some(events, 2, "age")
    ledger = ledger_of(events)
    assert ledger.log == ({"row": 3, "candidate": 1},)
    assert ledger.ranking_for("Ann", [3]) == []
    assert ledger.ranking_for("Bob", [3]) == [3]
    handed_back = handed([*events, *log(*[("skip", "Cem", 3)] * 3)[2:]], 3, "Ann")
    ledger = ledger_of(handed_back)
    assert ledger.rows[3].handed_to == "Ann"
    assert ledger.ranking_for("Ann", [4, 3]) == [3, 4]
    assert ledger.log == ({"row": 3, "candidate": 1},), "which skips nothing"


def test_a_log_has_to_be_whole():
    events = log(("skip", "Ann", 3), ("skip", "Ann", 4))
    for odd in (events[1:], events[::-1], [events[0]] * 2):
        with pytest.raises(RefusedError, match="all events from the first one on"):
            ledger_of(odd)


# -- a model ---------------------------------------------------------------------------------------


PEOPLE = ["Ann", "Bob", "Cem", "Di"]


@st.composite
def logs(draw):
    steps = []
    for number in range(draw(st.integers(0, 14))):
        who, row = draw(st.sampled_from(PEOPLE)), draw(st.integers(0, 2))
        kind = draw(st.sampled_from(["answer"] * 4 + ["correction", "skip", "undo"]))
        if kind == "undo" and number:
            steps.append(("undo", who, draw(st.integers(1, number))))
        elif kind in ("skip", "undo"):
            steps.append(("skip", who, row))
        else:
            steps.append((kind, who, row, draw(st.integers(0, 2))))
    return log(*steps)


def _counts(events, number):
    """Whether no undo that counts itself names an event."""
    undos = [one for one in events if one.undoes == number]
    return not any(_counts(events, one.number) for one in undos)


def living(events):
    return [one for one in events if one.kind != "undo" and _counts(events, one.number)]


@settings(max_examples=150)
@given(logs())
def test_one_answer_a_row_against_the_model(events):
    ledger = ledger_of(events)
    assert ledger.numbers == tuple(one.number for one in living(events))
    assert ledger.undone == {one.number for one in events} - {
        one.number for one in events if _counts(events, one.number)
    }
    last = {}
    for one in living(events):
        if one.kind != "skip":
            last[one.row] = one
    assert {row: s.decided.candidate for row, s in ledger.rows.items() if s.decided} == {
        row: one.candidate for row, one in last.items()
    }


@settings(max_examples=150)
@given(logs(), st.integers(1, 3), st.lists(st.integers(0, 14)))
def test_a_book_that_is_kept_says_what_the_whole_log_says(events, n, cuts):
    book = Book(n)
    for start, end in pairwise(sorted({0, len(events), *(min(cut, len(events)) for cut in cuts)})):
        before = book.ledger()
        book.add(events[start:end])
        assert book.last == end
        assert book.ledger() == ledger_of(events[:end], n)
        assert before == ledger_of(events[:start], n), "it stays as it was"


@settings(max_examples=150)
@given(logs(), st.integers(2, 3))
def test_what_several_people_agree_on(events, n):
    ledger = ledger_of(events, n)
    assert ledger == ledger_of(events, n)
    by_row = defaultdict(list)
    for one in living(events):
        by_row[one.row].append(one)
    assert set(ledger.rows) == set(by_row)
    for row, own in by_row.items():
        state = ledger.rows[row]
        corrected = [place for place, one in enumerate(own) if one.kind == "correction"]
        since = own[corrected[-1] + 1 :] if corrected else own
        words = {}
        for one in own:
            if one.kind != "skip" or words.get(one.who, one).kind == "skip":
                words[one.who] = one
        voices = Counter(
            one.candidate for one in words.values() if one in since and one.kind != "skip"
        )
        assert set(state.words) == set(words.values())
        assert state.people == set(words)
        if not corrected:
            assert (state.decided is not None) == (max(voices.values(), default=0) >= n)
            skips = sum(one.kind == "skip" for one in words.values())
            if state.decided is None:
                expected = "skipped" if skips >= n else "disputed" if len(voices) > 1 else "waiting"
                assert state.state == expected
        else:
            assert state.state == "settled"
        if state.decided is not None and state.decided.kind == "answer":
            assert voices[state.decided.candidate] >= n
    entries = Counter(entry["row"] for entry in ledger.log)
    assert set(entries.values()) <= {1}
    assert set(entries) == {r for r, s in ledger.rows.items() if s.state in ("settled", "skipped")}
    assert list(ledger.numbers) == sorted(ledger.numbers)


# -- with a session --------------------------------------------------------------------------------


def test_a_candidate_and_its_values_are_the_same(project):
    one = Event(1, AT, "r1", "answer", "Ann", 3, candidate=1)
    two = Event(2, AT, "r2", "answer", "Bob", 3, value={"a": 10})
    assert ledger_of([one, two], 2).disputed == [3]
    assert ledger_of([one, two], 2, project.spelling).settled == [3]
    other = Event(2, AT, "r2", "answer", "Bob", 3, value={"a": 10.5})
    assert ledger_of([one, other], 2, project.spelling).disputed == [3]


@pytest.mark.parametrize("n", [1, 2])
def test_answers_that_are_not_possible_are_left_out(project, n):
    events = [
        Event(1, AT, "r1", "answer", "Ann", 3, candidate=99),
        Event(2, AT, "r2", "answer", "Bob", 3, value={"a": "much"}),
        Event(3, AT, "r3", "skip", "Cem", 10**6),
        Event(4, AT, "r4", "answer", "Ann", 3, candidate=1),
        Event(5, AT, "r5", "answer", "Bob", 3, candidate=1),
        Event(6, AT, "r6", "answer", "Bob", 10**6, candidate=1),
        Event(7, AT, "r7", "undo", "Bob", 10**6, undoes=6),
    ]
    ledger = ledger_of(events, n, project.spelling)
    assert list(ledger.left_out) == [1, 2, 3]
    assert "candidate" in ledger.left_out[1]
    assert list(ledger.rows) == [3]
    assert ledger.settled == [3]
    session = project.session()
    session.replay(ledger.log)
    assert list(session.known) == [3]


def test_an_entry_is_checked_before_it_is_saved(project):
    assert project.entry(3, candidate=1) == {"row": 3, "candidate": 1}
    assert project.entry(3, value={"a": "11"}) == {"row": 3, "value": {"a": 11.0}}
    with pytest.raises(AnswerError, match="must name at least one column"):
        project.entry(3, value={})
    strict = make_project(answers_per_row=2)
    with pytest.raises(AnswerError, match="must name all its holes; missing: 'a'"):
        strict.entry(3, value={"b": 0.5})


@settings(max_examples=25)
@given(st.lists(logs(), min_size=1, max_size=3))
def test_a_session_that_follows_knows_the_same_as_a_new_one(project, given_logs):
    follower = Follower(project.session())
    for events in given_logs:
        ledger = ledger_of(events)
        follower.follow(ledger.log)
        fresh = project.session(ledger.log)
        assert follower.session.answers == fresh.answers
        assert follower.session.certain_share == fresh.certain_share
        mine, theirs = follower.session.ask(), fresh.ask()
        assert (mine and (mine.row, mine.gain)) == (theirs and (theirs.row, theirs.gain))


def test_a_log_that_cannot_be_followed_changes_nothing(project):
    follower = Follower(project.session())
    good = [{"row": 3, "candidate": 1}, {"row": 3, "candidate": 1}, {"row": 4, "candidate": 0}]
    follower.follow(good)
    before = follower.session.answers
    for bad in ({"row": 5, "candidate": 77}, {"row": 99, "candidate": 0}):
        with pytest.raises(Exception, match=r"candidate|row"):
            follower.follow([good[0], {"row": 6, "candidate": 0}, bad])
        assert follower.session.answers == before
    follower.follow([*good, {"row": 5, "candidate": 0}])
    assert [entry["row"] for entry in follower.session.answers] == [3, 4, 5]


def test_a_book_that_grows_is_the_ledger_of_the_whole_log():
    """What is kept from step to step changes nothing, whatever is undone or handed over."""
    rng = random.Random(3)
    for wanted in (1, 2):
        book, events = Book(wanted), []
        for number in range(1, 160):
            who, row = rng.choice(["Ann", "Bob", "Cem"]), rng.randrange(9)
            kind = rng.choice(["answer"] * 5 + ["skip", "truth", "correction", "undo", "comment"])
            candidate = rng.randrange(2) if kind in ("answer", "truth", "correction") else None
            undoes, note = None, None
            if kind == "undo":
                open_ = [one for one in events if one.number not in book.ledger().undone]
                if not open_:
                    continue
                taken = rng.choice(open_)
                row, undoes = taken.row, taken.number
            if kind == "skip" and rng.random() < 0.5:
                note = rng.choice([{"to": "Ann"}, {"columns": ["a"]}])
            number = len(events) + 1
            events.append(Event(number, AT, f"r{number}", kind, who, row, candidate,
                                undoes=undoes, note=note))  # fmt: skip
            book.add(events[-1:])
            assert book.ledger() == ledger_of(events, wanted)
            ranking = list(range(9))
            for name in ("Ann", "Bob"):
                every = replace(book.ledger(), apart=frozenset(book.ledger().rows))
                assert book.ledger().ranking_for(name, ranking) == every.ranking_for(name, ranking)
