"""The desk with rows of so many holes that nobody can go through their candidates."""

import json

import pytest
from projects.test_projects_with_holes import NAMES, make_holes
from waiting import until
from web.tables import stored

from cpclean.errors import UnknownRowError
from cpclean.web.api.labelstudio import tasks_of
from cpclean.web.desk.cell_views import text_of
from cpclean.web.desk.listing import RowsWanted

ROW = 1  # with 30 holes
LAST = 5**30 - 1


@pytest.fixture
def desk(desk_over, tmp_path):
    """Over a database, whose integers are not as large as the numbers of candidates."""
    return desk_over(stored(f"sqlite:///{tmp_path / 'desk.db'}", make_holes()))


def test_a_question_lists_few_candidates_and_every_value(desk):
    question = desk.question("Ann", row=ROW)
    assert question.n_candidates == 5**30
    assert len(question.candidates) < 200
    table = desk.project.table
    for name, values in zip(NAMES[:30], table.options_in_space(ROW).values, strict=True):
        assert len({one.cells[name] for one in question.candidates}) == len(set(values))
    for one in question.candidates:
        shown = table.candidate(ROW, one.number)
        assert one.cells == {name: text_of(value) for name, value in shown.items()}
    priors = [one.prior for one in question.candidates]
    assert priors[:12] == sorted(priors[:12], reverse=True)
    assert all(one.settles is not None for one in question.candidates[:12])


def test_a_candidate_whose_number_is_too_large_to_store(desk):
    table = desk.project.table
    event = desk.answer("Ann", ROW, candidate=LAST, request_id="one")
    again = desk.answer("Ann", ROW, candidate=LAST, request_id="one")
    assert event == again
    settle(desk)
    question = desk.engine.now.view.question(ROW)
    assert question.candidates == [table.candidate(ROW, LAST)]
    assert desk.engine.now.view.known_of(ROW).raw == {}, "values of a grid are no values"
    with pytest.raises(UnknownRowError, match="row 1 has candidates 0 to"):
        desk.answer("Ben", ROW, candidate=LAST + 1)


def test_cell_by_cell(desk):
    desk.answer("Ann", ROW, values={"c0": "0.5"})
    settle(desk)
    question = desk.question("Ann", row=ROW)
    assert question.n_candidates == 5**29
    assert "c0" not in question.candidates[0].cells
    # A candidate answers the rest.
    desk.answer("Ann", ROW, candidate=question.candidates[0].number)
    settle(desk)
    known = desk.engine.now.view.known_of(ROW)
    assert known.raw == {"c0": 0.5}
    assert len(known.rough) == 29
    assert desk.engine.now.view.n_candidates(ROW) == 1
    desk.undo("Ann")
    settle(desk)
    assert desk.engine.now.view.known_of(ROW).raw == {"c0": 0.5}


def test_lists_and_exports(desk):
    desk.answer("Ann", ROW, candidate=7)
    settle(desk)
    rows = {one.row: one for one in desk.rows(RowsWanted()).rows}
    assert rows[ROW].said.startswith("c0 = ")
    tasks = tasks_of(desk, 5)
    assert json.loads(json.dumps(tasks)) == tasks


def settle(desk):
    """Wait until the engine knows all answers."""
    until(lambda: len(desk.engine.now.events) == len(desk.storage.events()))
