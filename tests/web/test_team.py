"""A team at one desk: experts by column, next questions, taking over, gold questions."""

import csv
import io
from collections import Counter

import pytest
from waiting import until
from web.tables import small_project, stored

from cpclean.errors import AnswerError
from cpclean.storage.events import NewEvent
from cpclean.web.desk.experts import Experts
from cpclean.web.desk.gold import WHO, QualityView, gold_order, is_gold, verdict
from cpclean.web.desk.listing import RowsWanted

BOTH = 3  # a row without size and town
TRUTHS = {row: {"size": float(row % 20)} for row in (1, 2, 4, 5, 7, 8, 10, 11)}


def answered(desk, who, row=None, **values):
    """Answer the next question, or one about a row; the question."""
    question = desk.question(who, row)
    asked = [cell.column for cell in question.cells if cell.hole]
    given = {"size": "3", "town": "Ulm", **values}
    desk.answer(who, question.row, values={name: given[name] for name in asked})
    desk.ready()
    return question


def holes(question):
    return [cell.column for cell in question.cells if cell.hole]


# -- experts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("line", "words"), [
    ("Anna", "written as NAME=COLUMN,COLUMN, such as anna=age,income; got 'Anna'"),
    ("= size", "written as NAME=COLUMN"),
    ("Anna =", "Anna needs at least one column, such as Anna=size"),
    ("Anna = twon", "columns that have holes: 'size', 'town'; got 'twon'. Did you mean 'town'?"),
])  # fmt: skip
def test_a_list_of_experts_that_cannot_be_read(line, words):
    with pytest.raises(AnswerError, match=words.replace("?", r"\?")):
        Experts.read([line], ["size", "town"])


def test_lines_of_one_expert_add_up_and_columns_may_have_commas():
    experts = Experts.read(["Anna=size", "", "anna = a, b"], ["size", "a, b"])
    assert experts.columns == {"Anna": ["size", "a, b"]}
    odd = Experts.read(["a=b = size, x=y"], ["size", "x=y"])
    assert odd.columns == {"a=b": ["size", "x=y"]}
    assert Experts.read(odd.lines, ["size", "x=y"]).columns == odd.columns


def test_an_expert_is_asked_about_rows_with_holes_in_their_columns(desk):
    desk.team.set_experts(["Anna = town"])
    rows = {answered(desk, "anna").row for _ in range(5)}
    assert all(row % 3 == 0 for row in rows), "only these lack a town"
    assert len(rows) == 5
    others = {answered(desk, "Bob").row for _ in range(10)}
    assert any(row % 3 for row in others), "who is not on the list is asked about everything"


def test_an_expert_answers_their_cells_and_the_others_stay_open(desk):
    desk.team.set_experts(["Anna = town", "Bob = size"])
    question = desk.question("Anna")
    assert holes(question) == ["town"]
    assert {cell.column: cell.text for cell in question.cells}["size"] == "others are asked"
    desk.answer("Anna", question.row, values={"town": "Ulm"})
    desk.ready()
    assert question.row not in [one.row for one in desk.next_rows("Anna", 40)]
    mine = desk.question("Bob", question.row)
    assert holes(mine) == ["size"]
    assert {cell.column: cell.text for cell in mine.cells}["town"] == "Ulm"
    desk.answer("Bob", question.row, values={"size": "4"})
    desk.ready()
    assert desk.engine.now.session.known[question.row] == {"town": "Ulm", "size": 4.0}
    alone = desk.project.session([{"row": question.row, "value": {"town": "Ulm", "size": 4.0}}])
    assert desk.engine.now.view.certain_share == alone.certain_share


def test_what_an_expert_does_not_know_is_left_to_others(desk):
    desk.team.set_experts(["Anna = town", "Bob = size"])
    row = desk.question("Anna").row
    desk.skip("Anna", row, reason="unreadable")
    desk.ready()
    assert desk.storage.events()[-1].note == {"reason": "unreadable", "columns": ["town"]}
    now = desk.engine.now
    assert row in now.place, "the session goes on asking about it"
    assert desk.question("Anna").row != row
    assert row in [one.row for one in desk.next_rows("Bob", 40)]
    desk.skip("Bob", row)  # now nobody is left who could know
    desk.ready()
    assert desk.storage.events()[-1].note is None
    assert row not in desk.engine.now.place
    lines = list(csv.DictReader(io.StringIO(desk.export_audit())))
    assert [(one["who"], one["column"]) for one in lines] == [
        ("Anna", "town"), ("Bob", "size"), ("Bob", "town"),
    ]  # fmt: skip


def test_a_rough_answer_of_an_expert_is_not_asked_again(desk):
    desk.team.set_experts(["Bob = size"])
    desk.answer("Bob", BOTH, values={"size": {"between": [None, 10]}})
    desk.ready()
    assert BOTH in desk.engine.now.place, "its town is open"
    assert BOTH not in [one.row for one in desk.next_rows("Bob", 60)]
    assert BOTH in [one.row for one in desk.next_rows("Cem", 60)]


def test_where_several_have_to_agree_an_expert_has_to_know_all_cells(desk_over):
    desk = desk_over(stored("memory://"), answers_per_row=2)
    desk.team.set_experts(["Anna = town", "Bob = size"])
    assert desk.question("Anna") is None
    assert all(one.row % 3 for one in desk.next_rows("Bob", 60))
    assert desk.rows_for_nobody == len([row for row in desk.engine.now.ranking if row % 3 == 0])


def test_what_nobody_on_the_list_is_asked_about_is_told(desk):
    assert (desk.rows_for_nobody, desk.team.experts.nobodys(["size"])) == (0, ["size"])
    desk.team.set_experts(["Anna = town"])
    assert desk.team.experts.nobodys(desk.team.columns) == ["size"]
    assert desk.rows_for_nobody == len([row for row in desk.engine.now.ranking if row % 3])


def test_two_desks_over_one_storage_have_one_list(desk_over, shared_url):
    with stored(shared_url) as storage:
        one, two = desk_over(storage), desk_over(storage)
        assert not two.team.experts
        one.team.set_experts(["Anna = town"])
        until(lambda: two.team.experts.columns == {"Anna": ["town"]}, "a look at the settings")
        two.team.set_experts(["Bob = size"], keep=True)
        assert storage.setting("experts") == {"Anna": ["town"], "Bob": ["size"]}
        one.team.set_experts([])
        assert storage.setting("experts") is None


# -- next questions, and taking over ---------------------------------------------------------------


def test_what_is_listed_ahead_is_asked_in_that_order(desk):
    desk.skip("Bob", 20, to="Ann", comment="yours")
    desk.ready()
    desk.question("Cem")  # held by somebody else: not for Ann
    ahead = desk.next_rows("Ann", 5)
    assert (ahead[0].row, ahead[0].handed_by, ahead[0].held) == (20, "Bob", False)
    assert desk.question("Ann").row == 20
    assert desk.next_rows("Ann", 5)[0].held
    asked = [answered(desk, "Ann").row]
    assert asked == [20]
    first = desk.next_rows("Ann", 3)[0].row
    assert desk.question("Ann").row == first
    assert len(ahead) == 5
    assert ahead[0].columns == ["size"]


def test_a_question_is_taken_over(desk):
    held = desk.question("Ann")
    question = desk.question("Bob", held.row)
    (holder,) = question.holders
    assert (holder.who, question.lease_id) == ("Ann", None)
    assert 590 < holder.seconds <= 600
    assert desk.take_over("Bob", held.row)
    assert desk.take_over("Bob", held.row), "again changes nothing"
    mine = desk.question("Bob")
    assert (mine.row, mine.holders) == (held.row, [])
    assert desk.question("Ann").row != held.row
    desk.answer("Ann", held.row, values={name: "Ulm" if name == "town" else "1"
                                         for name in holes(held)})  # fmt: skip
    assert desk.storage.events()[-1].who == "Ann", "what she saves still counts"


def test_whoever_has_nothing_else_sees_what_others_hold(desk_over):
    desk = desk_over(stored("memory://", n_dirty=2))
    rows = {desk.question("Ann").row}
    rows |= {desk.question("Bob").row}
    assert desk.question("Cem") is None
    assert {(one.who, one.row) for one in desk.held_by_others("Cem")} == {
        (one.who, one.row) for one in desk.storage.leases()
    }
    assert desk.take_over("Cem", rows.pop())
    assert desk.question("Cem") is not None


# -- gold ------------------------------------------------------------------------------------------


@pytest.fixture
def golden(desk_over):
    """A desk whose owner knows some rows, and asks about them in every fourth question."""
    storage = stored("memory://")
    for row, value in TRUTHS.items():
        storage.append(NewEvent("truth", WHO, row, value=value), f"gold-{row}")
    desk = desk_over(storage)
    desk.team.set_gold_rate(0.25)
    return desk


@pytest.mark.parametrize("rate", [0.5, 0.25, 0.1, 0.03])
def test_gold_comes_at_its_rate_at_places_that_differ(rate):
    every = round(1 / rate)
    places = {
        who: [number for number in range(40 * every) if is_gold(who, number, rate)]
        for who in ("Ann", "Bob", "Zoë")
    }
    for own in places.values():
        assert [number // every for number in own] == list(range(40)), "one in each block"
        assert len({number % every for number in own}) > 1
    assert len(set(map(tuple, places.values()))) == 3
    assert not any(is_gold("Ann", number, 0.0) for number in range(100))
    assert sorted(gold_order("Ann", range(9))) == list(range(9))
    assert gold_order("Ann", range(9)) != gold_order("Bob", range(9))


def test_gold_is_mixed_in_for_each_person_and_changes_nothing(golden):
    """Against a session that was told the truths and the answers to other rows."""
    asked = {"Ann": [], "Bob": []}
    while golden.stopped is None:
        for who, rows in asked.items():
            if golden.question(who) is not None:
                ahead = golden.next_rows(who, 4)
                question = answered(golden, who, size="19")
                assert question.row == ahead[0].row, "gold stands in its place"
                rows.append(question.row)
    for who, rows in asked.items():
        gold = [number for number, row in enumerate(rows) if row in TRUTHS]
        assert gold == [number for number in range(len(rows)) if is_gold(who, number, 0.25)]
        assert gold
        assert len(set(rows)) == len(rows) > 5, "nothing twice"
    told = [{"row": row, "value": value} for row, value in TRUTHS.items()]
    told += [
        event.entry for event in golden.storage.events() if event.kind == "answer"
        and event.row not in TRUTHS
    ]  # fmt: skip
    expected = golden.project.session(told)
    now = golden.engine.now
    assert now.session.known == expected.known
    assert now.view.certain_share == expected.certain_share
    assert not set(now.ranking) & set(TRUTHS)


def gold_question(desk, who):
    """Answer other questions until a gold one comes."""
    for _ in range(20):
        question = desk.question(who)
        if question.row in TRUTHS:
            return question
        answered(desk, who)
    raise AssertionError("no gold question came")


def test_a_gold_question_looks_like_any_other(golden):
    question = gold_question(golden, "Ann")
    (size, *_) = question.cells
    assert (size.hole, size.text, holes(question)) == (True, None, ["size"])
    assert (question.said, question.settled, question.others) == (None, False, [])
    assert question.near > 0
    assert question.candidates
    assert question.lease_id
    again = golden.question("Ann")
    assert (again.row, again.lease_id) == (question.row, question.lease_id), "a reload"
    listed = {one.row: one for one in golden.rows(RowsWanted(per_page=500)).rows}
    assert {listed[row].state for row in TRUTHS} == {"open", "held"}
    assert all(listed[row].said is None and listed[row].gain >= 0 for row in TRUTHS)
    assert any(listed[row].gain > 0 for row in TRUTHS)


def test_what_others_answered_to_gold_is_neither_shown_nor_overruled(golden):
    question = gold_question(golden, "Ann")
    row = question.row
    answered(golden, "Ann", size="19")
    golden.storage.lease([row], "Bob", 60)
    mine = golden.question("Bob", row)
    assert (mine.said, mine.settled, mine.others) == (None, False, [])
    saved = golden.answer("Bob", row, values={"size": str(TRUTHS[row]["size"])}, seen=mine.seen)
    assert saved.kind == "answer"
    golden.ready()
    quality = {one.name: one for one in golden.quality()}
    assert (quality["Ann"].wrong, quality["Bob"].right) == (1, 1)
    shown = next(one for one in golden.rows(RowsWanted(per_page=500)).rows if one.row == row)
    assert shown.state == "answered"
    assert shown.said == f"size = 19 / size = {TRUTHS[row]['size']:g}", "as they said, no truth"


def test_gold_can_be_undone_skipped_and_handed_over(golden):
    row = gold_question(golden, "Ann").row
    answered(golden, "Ann")
    assert golden.undo("Ann").row == row
    golden.ready()
    assert golden.question("Ann").row == row
    golden.skip("Ann", row, to="Bob")
    golden.ready()
    assert golden.question("Bob").row == row
    assert golden.question("Bob").handed_by == "Ann"
    assert {one.name: one.unknown for one in golden.quality()}["Ann"] == 0, "handed over"
    golden.skip("Bob", row)
    golden.ready()
    assert {one.name: one.unknown for one in golden.quality()}["Bob"] == 1
    assert golden.engine.now.session.known[row] == TRUTHS[row]


def test_an_expert_is_asked_gold_about_their_columns_only(golden):
    golden.team.set_experts(["Anna = town"])
    rows = [answered(golden, "Anna").row for _ in range(8)]
    assert not set(rows) & set(TRUTHS), "none of these lacks a town"


def test_quality_is_told_with_an_interval_or_not_at_all(golden):
    for row, value in list(TRUTHS.items())[:6]:
        golden.answer("Ann", row, values=value)
        golden.answer("Bob", row, values={"size": {"between": [None, 19]}})
        golden.answer("Cem", row, values={"size": "19.5"})
    golden.skip("Cem", 11)
    golden.answer("Di", 1, values=TRUTHS[1])
    golden.ready()
    ann, bob, cem, di = golden.quality()
    assert (ann.right, ann.share) == (6, 1.0)
    assert (ann.low, ann.high) == (pytest.approx(0.6097, abs=1e-4), 1.0)  # Wilson at 95 %
    assert (bob.roughly_right, bob.share) == (6, 1.0)
    assert (cem.wrong, cem.unknown, cem.share, cem.low) == (6, 1, 0.0, 0.0)
    assert (di.right, di.share, di.low) == (1, None, None), "too few to say"
    lines = list(csv.DictReader(io.StringIO(golden.export_quality())))
    ann = lines[0]
    assert (ann["name"], ann["gold_questions"], ann["share_right"]) == ("Ann", "6", "1.0000")
    assert lines[3]["share_right"] == ""


def test_an_interval_holds_its_share():
    for right in range(0, 41, 5):
        one = QualityView("Ann", right, 0, 40 - right)
        assert 0 <= one.low <= one.share <= one.high <= 1


def test_the_audit_tells_gold_and_joins_the_file(golden):
    pandas = pytest.importorskip("pandas")
    wrong = gold_question(golden, "Ann").row
    answered(golden, "Ann", size="19.5")
    golden.comment("Ann", wrong, "=1+1 <b>")
    golden.ready()
    lines = pandas.read_csv(io.StringIO(golden.export_audit()))
    mine = lines[lines.row == wrong]
    assert mine.kind.tolist() == ["truth", "answer", "comment"]
    assert mine.counts.fillna("").tolist() == ["yes", "no", ""]
    assert mine.gold.fillna("").tolist() == ["", "wrong", ""]
    assert mine.comment.fillna("").tolist() == ["", "", "=1+1 <b>"]
    known = lines[(lines.counts == "yes") & (lines.known == "exact")]
    cells = golden.project.frame.reset_index(names="row").melt("row", var_name="column")
    joined = known.merge(cells, on=["row", "column"])
    assert len(joined) == len(known) >= len(TRUTHS)
    assert joined.value.isna().all(), "each stands for a hole of the file"


def test_a_restarted_server_asks_the_same_gold(desk_over, shared_url):
    with stored(shared_url) as storage:
        for row, value in TRUTHS.items():
            storage.append(NewEvent("truth", WHO, row, value=value), f"gold-{row}")
        first = desk_over(storage)
        first.team.set_gold_rate(0.5)
        for _ in range(3):
            answered(first, "Ann")
        ahead = [one.row for one in first.next_rows("Ann", 6)]
        second = desk_over(storage)
        assert [one.row for one in second.next_rows("Ann", 6)] == ahead
        assert Counter(row in TRUTHS for row in ahead)[True] >= 2


def test_verdicts_with_dates_and_texts():
    assert verdict({"at": "2024-05-31"}, {"at": "2024-05-31"}) == "right"
    assert verdict({"city": "Rome "}, {"city": "Rome"}) == "wrong"
    assert verdict({"city": None}, {"city": "Rome"}) == "unknown"


def test_small_project_has_the_rows_that_these_tests_need():
    table = small_project().table
    assert [table.names[cell] for cell in table.options_in_space(BOTH).cells] == ["size", "town"]
