"""Projects with rows that are drawn, and with holes in their points."""

import json

import numpy as np
import pandas as pd
import pytest
from projects.making import make_project

from cpclean.data.drawing import Drawing
from cpclean.data.table import IncompleteTable
from cpclean.data.task import Task
from cpclean.projects.packing import Unpacker
from cpclean.projects.project import Project

N_COLUMNS = 32
NAMES = [f"c{place}" for place in range(N_COLUMNS)]


def make_holes(points_with_holes=True, **drawing):
    """Row 1 has 30 holes: more candidates than a database has integers."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(30, N_COLUMNS)).round(1)
    labels = np.where(values[:, :3].sum(axis=1) > 0, "yes", "no")
    holes = rng.random(values.shape) < 0.2
    holes[0], holes[1] = False, np.arange(N_COLUMNS) < 30
    frame = pd.DataFrame(np.where(holes, np.nan, values), columns=NAMES).assign(y=labels)
    table = IncompleteTable(frame, label="y", **drawing)
    points = pd.DataFrame(rng.normal(size=(6, N_COLUMNS)).round(1), columns=NAMES)
    if points_with_holes:
        points.loc[1, "c0"] = np.nan
        points.loc[2, NAMES[:5]] = np.nan  # 3,125 completions: drawn
    return Project.make(Task.of(table, points, ["yes", "no"] * 3, frame=frame))


@pytest.fixture(scope="module")
def project():
    return make_holes(max_exact=100, n_draws=32, random_state=5)


def plain(project):
    return Unpacker(project.to_bytes()).plain


def test_it_opens_as_it_was(project):
    again = Project.from_bytes(project.to_bytes())
    assert again.digest() == project.digest()
    assert again.to_bytes() == project.to_bytes()
    assert again.task.dataset == project.task.dataset
    assert again.task.dataset.drawing == Drawing(100, 32, 5)
    mine, theirs = project.task.points, again.task.points
    assert (len(theirs.mixtures), theirs.drawn.tolist()) == (2, [2])
    for name in ("vectors", "vector", "owner", "weight", "drawn"):
        assert getattr(theirs, name).tolist() == getattr(mine, name).tolist()
    for one, other in zip(mine.cells, theirs.cells, strict=True):
        assert one.tolist() == other.tolist()


def test_a_session_goes_on_as_it_was(project):
    session = project.session()
    first = session.ask()
    session.tell(**first.answer(2))
    session.tell(1, value={"c0": 0.5})
    again = Project.from_bytes(project.to_bytes()).session(json.loads(json.dumps(session.answers)))
    assert again.gains().tolist() == session.gains().tolist()
    assert again.certain_share == session.certain_share
    one, other = session.ask(), again.ask()
    assert (other.row, other.candidates, other.gain) == (one.row, one.candidates, one.gain)
    assert other.numbers == one.numbers


def test_other_draws_are_another_project(project):
    other = make_holes(max_exact=100, n_draws=32, random_state=6)
    assert other.digest() != project.digest()
    assert other.session().gains().tolist() != project.session().gains().tolist()


def test_only_what_needs_it_is_saved_in_format_2(project):
    assert plain(project)["format"] == 2
    assert plain(make_holes(points_with_holes=False))["format"] == 2
    few = make_project()
    assert few.task.dataset.drawing.max_exact == 625
    assert plain(few)["format"] == 1
    assert Project.from_bytes(few.to_bytes()).task.dataset.drawing == few.task.dataset.drawing


def test_an_answer_may_be_a_very_large_number(project):
    last = project.task.dataset.arrays.count(1) - 1
    assert last == 5**30 - 1
    entry = project.entry(1, last)
    assert entry == {"row": 1, "candidate": last}
    assert project.session([entry]).known[1] == project.table.candidate(1, last)
