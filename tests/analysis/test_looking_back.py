"""What is said once a session has stopped."""

import pytest

from cpclean import CleaningSession, simulate
from cpclean.analysis import looking_back as module
from cpclean.analysis.effort_words import effort_words
from cpclean.analysis.looking_back import looking_back
from cpclean.analysis.new_points import new_points, new_points_words
from cpclean.analysis.random_order import random_order


def test_nothing_before_the_end(session):
    assert looking_back(session) == []
    question = session.ask()
    session.tell(**question.answer(0))
    assert looking_back(session) == []


@pytest.mark.parametrize("sure", [None, 0.8])
def test_effort_and_new_points_in_two_sentences(session, tables, sure):
    again = CleaningSession(session.view.table, tables[2], sure=sure)
    simulate(again, tables[1], progress=False)
    assert again.done
    before = again.answers
    effort, new = looking_back(again, progress=False)
    random = None if sure is None else random_order(again, seconds=module.ORDER_SECONDS)
    assert effort == effort_words(again.effort(), random)
    told = new_points_words(new_points(again))
    assert new.removesuffix(".").lower() == told.lower()
    assert ("80% sure" in new) == (sure is not None)
    assert again.answers == before


def test_nobody_waits_for_long(session, tables, monkeypatch):
    simulate(session, tables[1], progress=False)
    monkeypatch.setattr(module, "MOST_SECONDS", 0.0)
    assert looking_back(session) == []
