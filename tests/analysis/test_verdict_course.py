"""What was certain and sure after earlier answers, against sessions that stand there."""

import pytest

from cpclean import CleaningSession, IncompleteTable, simulate
from cpclean.analysis.verdict_course import course_places, sure_after, verdict_course
from cpclean.data.spaces.leaf_space import LeafSpace


@pytest.mark.parametrize(("sure", "gains_by"), [(None, "prior"), (None, "uniform"), (0.8, "prior")])
def test_against_sessions_that_stand_there(tables, sure, gains_by):
    table = IncompleteTable(tables[0], label="buys", prior="label")
    session = CleaningSession(table, tables[2], sure=sure, gains_by=gains_by)
    question = session.ask()
    session.skip(question.row)
    simulate(session, tables[1], budget=6, progress=False)
    again = session.from_start()
    expected, places = [(0, again.certain_share, again.sure_share)], 0
    for entry in session.answers:
        again.replay([entry])
        if "skip" not in entry:
            places += 1
            expected.append((places, again.certain_share, again.sure_share))
    found = verdict_course(session.view)
    assert [(one.answers, one.certain, one.sure) for one in found] == expected
    assert len({one.sure - one.certain for one in found}) > 1


def test_an_earlier_space_is_the_one_of_its_time(tables):
    space = LeafSpace(n_trees=15, n_worlds=2)
    table = IncompleteTable(tables[0], label="buys", space=space, random_state=1)
    session = CleaningSession(table, tables[2], 5)
    shares = [session.sure_share]
    for number in range(6):
        session.tell(**session.ask().answer(0))
        shares.append(session.sure_share)
        if number == 2:
            session.refit()
    for number in range(7):
        assert sure_after(session.view, number) == pytest.approx(shares[number], abs=1e-12)


def test_the_time_is_bounded(tables):
    session = CleaningSession(IncompleteTable(tables[0], label="buys"), tables[2])
    simulate(session, tables[1], budget=6, progress=False)
    found = verdict_course(session.view, seconds=0.0)
    assert [one.answers for one in found] == [0, 6]


def test_places_stay_the_same_while_answers_come_in():
    for n in range(1, 300):
        places, more = course_places(n), course_places(n + 1)
        assert len(places) <= 33
        assert len(set(places)) == len(places)
        assert set(more) <= {*places, n + 1}
