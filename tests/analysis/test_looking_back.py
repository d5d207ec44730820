"""What is said once a session has stopped."""

import itertools
import json
import time

import pytest

from cpclean import CleaningSession, simulate
from cpclean.analysis import looking_back as module
from cpclean.analysis.effort_words import effort_words
from cpclean.analysis.looking_back import LookingBack, looking_back
from cpclean.analysis.new_points import new_points, new_points_words
from cpclean.analysis.random_order import random_order

STAGES = ("looking back", "leaving points out", "cleaning in random order")


def stopped(session, tables, sure=None):
    again = CleaningSession(session.view.table, tables[2], sure=sure)
    simulate(again, tables[1], progress=False)
    assert again.done
    return again


def test_nothing_before_the_end(session):
    assert looking_back(session) == LookingBack()
    question = session.ask()
    session.tell(**question.answer(0))
    assert looking_back(session).sentences == []


@pytest.mark.parametrize("sure", [None, 0.8])
def test_effort_and_new_points_in_two_sentences(session, tables, sure):
    again = stopped(session, tables, sure)
    before = again.answers
    found = looking_back(again, progress=False)
    effort, new = found.sentences
    own = again.effort()
    tells = (own.random_at_least or 0) > len(own.answered)
    assert not (tells and sure is not None)
    random = None if tells else random_order(again, seconds=module.ORDER_SECONDS)
    assert effort == effort_words(own, random)
    assert (found.random is None) == tells
    told = new_points_words(new_points(again))
    assert new.removesuffix(".").lower() == told.lower()
    assert ("80% sure" in new) == (sure is not None)
    assert again.answers == before
    assert not found.interrupted


def test_however_long_the_answers_took(session, tables, monkeypatch):
    monkeypatch.setattr(time, "perf_counter", itertools.count(0, 100).__next__)
    again = stopped(session, tables)
    assert sum(record.seconds for record in again.history) > 100
    found = looking_back(again, progress=False)
    assert len(found.sentences) == 2
    assert 0 < found.new.n < len(again.certain)  # there is time for one part of the points


def test_where_nothing_had_to_be_answered_new_points_are_looked_at(session, tables):
    known = stopped(session, tables).world()
    table = session.view.table
    again = CleaningSession(table, known.drop(columns=["buys"]).iloc[:5], target_share=0.0)
    assert again.done
    assert not again.history
    (new,) = looking_back(again, progress=False).sentences
    assert "of rows like these would be certain, too" in new


@pytest.mark.parametrize("stage", [0, 1, 2])
def test_what_was_found_before_ctrl_c_is_kept(session, tables, stage):
    again = stopped(session, tables, 0.8)
    before, seen = again.answers, []

    def follow(words, share):
        assert 0 <= share <= 1
        seen.append(words)
        if words == STAGES[stage]:
            raise KeyboardInterrupt

    found = looking_back(again, progress=follow)
    assert tuple(dict.fromkeys(seen)) == STAGES[: stage + 1]
    assert found.interrupted
    assert [one is not None for one in (found.effort, found.new, found.random)] == [
        stage > 0,
        stage > 1,
        False,
    ]
    assert len(found.sentences) == stage
    assert again.answers == before


def test_after_ctrl_c_between_parts_of_the_points_nothing_more_is_begun(session, tables):
    again, folds = stopped(session, tables, 0.8), itertools.count()

    def follow(words, share):
        assert words != STAGES[2]
        if words == STAGES[1] and share > 0.5 and next(folds) == 0:
            raise KeyboardInterrupt

    found = looking_back(again, progress=follow)
    assert found.interrupted
    assert 0 < found.new.n < len(again.certain)


def test_whoever_follows_can_end_it(session, tables):
    again = stopped(session, tables)

    def follow(words, share):
        raise RuntimeError(words)

    with pytest.raises(RuntimeError, match="looking back"):
        looking_back(again, progress=follow)


@pytest.mark.parametrize("sure", [None, 0.8])
def test_the_same_for_programs(session, tables, sure):
    again = stopped(session, tables, sure)
    found = looking_back(again, progress=False)
    names = [f"row {row}" for row in range(again.data.n_rows)]
    told = json.loads(json.dumps(found.as_dict(names)))
    effort, new = told["effort"], told["new_points"]
    assert effort["answered_rows"] == len(again.known)
    assert effort["avoidable_rows"] == [names[row] for row in found.effort.avoidable]
    assert (effort["needed_rows"] is None) == (sure is not None)
    assert effort["every_order_at_least"] == found.effort.at_least
    assert (effort["random_order"] is None) == (sure is None)
    assert new["low"] <= new["settled_share"] <= new["high"]
    assert told["looking_back"] == found.sentences
    empty = LookingBack().as_dict()
    assert (empty["effort"], empty["new_points"], empty["looking_back"]) == (None, None, [])
