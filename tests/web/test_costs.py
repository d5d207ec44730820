"""What one answer costs, in counts that are the same on every machine."""

from collections import Counter

import pytest
from sqlalchemy import event
from web.tables import small_project, stored

from cpclean.cleaning.subject import TableSubject
from cpclean.data.between import Between
from cpclean.data.columns import Column
from cpclean.web.desk.desk import Desk


@pytest.fixture
def desk(tmp_path):
    """A desk over a file, whose engine takes in what is new when the test says so."""
    with stored(tmp_path / "counted.db") as storage:
        made = Desk(storage)
        made.engine._catch_up()
        yield made


def test_an_answer_and_the_next_question_take_few_statements(desk):
    counts = Counter()

    def counted(connection, cursor, statement, *_):
        counts[statement.split()[0]] += 1

    asked = desk.question("Ann")
    event.listen(desk.storage.engine, "before_cursor_execute", counted)
    desk.answer("Ann", asked.row, values={name: _some(name) for name in _holes(asked)})
    assert counts.total() <= 9, "an answer"
    counts.clear()
    desk.engine._catch_up()
    assert counts.total() <= 3, "what the engine reads"
    counts.clear()
    assert desk.question("Ann").row != asked.row
    assert counts.total() <= 14, "a question: what is held, settings, a lease"


def test_statements_do_not_grow_with_people_and_answers(desk):
    counts = []

    def counted(connection, cursor, statement, *_):
        counts.append(statement)

    event.listen(desk.storage.engine, "before_cursor_execute", counted)
    desk.question("nobody")  # settings are read once in a while
    found = []
    for number in range(12):
        counts.clear()
        asked = desk.question(f"person {number}")
        desk.answer(f"person {number}", asked.row, candidate=0)
        desk.engine._catch_up()
        found.append(len(counts))
    assert max(found[1:]) <= found[1] + 2


def test_rough_answers_are_not_looked_at_again(desk, monkeypatch):
    """Each answer used to cost as much as there were rough ones before it."""
    looked = Counter()
    real = TableSubject.cells

    def cells(self, row):
        looked[row] += 1
        return real(self, row)

    monkeypatch.setattr(TableSubject, "cells", cells)
    costs = []
    for number in range(20):
        asked = desk.question("Ann")
        before = looked.total()
        values = {name: _some(name) for name in _holes(asked)}
        desk.answer("Ann", asked.row, values=values | {"size": Between(0, 10).plain()})
        desk.engine._catch_up()
        costs.append(looked.total() - before)
        assert asked.row not in desk.engine.now.ranking, number
    assert max(costs[1:]) <= costs[0] + 1


def test_columns_are_looked_at_once(desk, monkeypatch):
    """Ends, categories and whether numbers are whole: not for every question."""
    looked = Counter()
    real = Column.observed.fget

    def observed(self):
        looked[self.name] += 1
        return real(self)

    asked = desk.question("Ann")
    monkeypatch.setattr(Column, "observed", property(observed))
    for row in small_project().dirty_rows.tolist():
        desk.look(row)
    assert looked.total() <= 4, (asked.row, looked)


def _holes(question):
    return [one.column for one in question.cells if one.hole]


def _some(name):
    return "Ulm" if name == "town" else "10"
