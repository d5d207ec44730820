"""Files that are sorted by their label: as good as any other, and written back as they were."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from cpclean import CleaningSession, world_shares
from cpclean.analysis.ranking import ranking
from cpclean.cleaning.known_cells import filled_cells
from cpclean.intake.choices import Choices, HoldOut, PointsFile
from cpclean.intake.open_task import open_task
from cpclean.intake.sentences import said
from cpclean.intake.source_file import SourceFile
from cpclean.projects.fingerprint import differences, fingerprint
from cpclean.projects.project import Project
from cpclean.projects.project_settings import Settings
from cpclean.queries.model import Model
from cpclean.web.desk.exporting import table_bytes


def rows_of(n_rows=900, seed=0, holes=0.05):
    """Few distinct rows, whose labels differ among equal ones; and an id that plays no part."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.integers(0, 2, (n_rows, 3)).astype(float), columns=[*"abc"])
    frame["y"] = rng.random(n_rows) < 0.1 + 0.8 * (frame["a"] == frame["b"])
    frame["y"] = frame["y"].map({False: "no", True: "yes"})
    frame = frame.sort_values("y", kind="stable", ignore_index=True)
    frame.insert(0, "id", [f"#{number}" for number in range(n_rows)])
    dirty = frame.copy()
    dirty[["a", "b"]] = frame[["a", "b"]].mask(rng.random((n_rows, 2)) < holes)
    return frame, dirty


def source(frame, name="'rows.csv'"):
    content = frame.to_csv(index=False).encode()
    return SourceFile(name, ".csv", lambda: content)


def accuracy(task):
    shares = world_shares(task.dataset, task.points, 15)
    return float((task.dataset.classes[shares.argmax(axis=1)] == task.labels).mean())


@pytest.mark.parametrize("space", ["forest", "random"])
def test_sorted_files_are_as_good_as_others(space):
    _, dirty = rows_of()
    choices = Choices("y", ("id",), space=space)
    for frame in (dirty, dirty[::-1]):
        # The best that can be done is 0.9; ties that all go to one label come to about 0.5.
        assert accuracy(open_task(source(frame), choices, HoldOut(0.2)).task) > 0.8


@pytest.fixture(scope="module")
def opened():
    """Rows are held out, and a row is left out for its label."""
    true, dirty = rows_of(120, holes=0.2)
    dirty.loc[7, "y"] = None
    choices = Choices("y", ("id",), space="forest", drop_unlabelled=True)
    return true, dirty, open_task(source(dirty), choices, HoldOut(0.2))


def test_rows_keep_the_names_that_they_have_in_the_file(opened):
    _, dirty, found = opened
    task, table = found.task, found.task.table
    names = task.row_names.tolist()
    assert names != sorted(names)
    assert sorted([*names, *task.point_names.tolist(), 7]) == list(range(120))
    assert task.dataset.labels.tolist() == dirty["y"][names].tolist()
    for row, name in enumerate(names):
        expected = dirty.loc[name, ["a", "b", "c"]]
        assert table.row(row) == {one: None if pd.isna(v) else v for one, v in expected.items()}


def told(found, true, n_answers=None):
    session = CleaningSession(found.task.table, found.task.points, 15)
    names = found.task.row_names
    for row in found.task.dataset.dirty_rows.tolist()[:n_answers]:
        cells = session.view.cells(row)
        session.tell(row, value={name: true.loc[names[row], name] for name in cells})
    return session


def test_answers_are_written_to_the_rows_of_the_file(opened):
    true, dirty, found = opened
    session, task = told(found, true), found.task
    for fill in (None, "default", "likely"):
        known = filled_cells(session, task.table, task.row_names.tolist(), fill, task.frame)
        made = found.original.cleaned(task.table, task.row_names.tolist(), known.cells, ".csv")
        again = pd.read_csv(pd.io.common.BytesIO(made.content))
        rows = task.row_names
        pd.testing.assert_frame_equal(again.loc[rows], true.loc[rows])
        if fill is None:  # every other byte is as it was
            rest = np.setdiff1d(np.arange(120), rows)
            pd.testing.assert_frame_equal(again.loc[rest], dirty.loc[rest])
            plain = dirty.copy()
            plain.loc[rows] = true.loc[rows]
            assert made.content == plain.to_csv(index=False).encode()
    # The same where nothing is answered, and guesses are written.
    empty = CleaningSession(task.table, task.points, 15)
    guessed = filled_cells(empty, task.table, task.row_names.tolist(), "likely").guessed
    for name in ("a", "b"):
        holes = dirty.loc[task.row_names, name]
        assert sorted(guessed[name]) == sorted(holes.index[holes.isna()].tolist())


def test_projects_export_the_file(opened):
    true, dirty, found = opened
    settings = Settings(Model(15, "hamming"))
    rows = np.sort(found.task.row_names)
    for task in (found.task, replace(found.task, frame=None)):
        project = Project.from_bytes(Project.make(task, settings).to_bytes())
        session = told(found, true, 5)
        numbers = project.task.row_names.tolist()
        made = pd.read_csv(
            pd.io.common.BytesIO(table_bytes(project, session, numbers, ".csv", None))
        )
        expected = dirty.copy()
        for row in session.known:
            expected.loc[numbers[row]] = true.loc[numbers[row]]
        if task.frame is None:  # what the table has
            expected = expected.loc[rows, ["a", "b", "c", "y"]].reset_index(drop=True)
        pd.testing.assert_frame_equal(made, expected)


def test_equal_gains_are_listed_in_the_order_of_the_file(opened):
    _, _, found = opened
    session = CleaningSession(found.task.table, found.task.points, 15)
    names = found.task.row_names
    listed = [(-one.gain, int(names[one.row])) for one in ranking(session)]
    assert len({gain for gain, _ in listed}) < len(listed)
    assert listed == sorted(listed)


def test_answers_belong_to_an_order_of_rows():
    _, dirty = rows_of(60)
    points = PointsFile(source(dirty[:5].drop(columns="y"), "'points.csv'"))
    belongs = {}
    for space in ("plain", "forest"):
        task = open_task(source(dirty), Choices("y", ("id",), space=space), points).task
        belongs[space] = fingerprint(task.table, task.raw_points)
    forest = belongs["forest"]
    json.dumps(forest)
    assert forest["table"] == belongs["plain"]["table"]
    assert forest["candidates"] == belongs["plain"]["candidates"]
    assert differences(belongs["plain"], forest) == ["space was 'plain' and is 'forest'"]
    other = fingerprint(task.table.shuffled(9), task.raw_points)
    assert differences(forest, other) == ["other order of rows"]
    unshuffled = {name: one for name, one in forest.items() if name != "order of rows"}
    assert differences(unshuffled, forest) == ["other order of rows"]


def test_sorted_rows_that_tie_are_noted_in_the_plain_space():
    _, dirty = rows_of(60)

    def notes(frame, **more):
        found = open_task(source(frame), Choices("y", ("id",), **more), HoldOut(0.2)).notes
        return [said(note, "terminal") for note in found if "sorted" in getattr(note, "code", "")]

    (told,) = notes(dirty)
    assert told.startswith("the rows of 'rows.csv' are sorted by 'y', and 45 of 48 equal another")
    assert "or use --space forest, where their order does not matter." in told
    assert len(notes(dirty[::-1])) == 1
    assert notes(dirty, space="forest") == []
    assert notes(dirty.sample(frac=1, random_state=0)) == []
    assert notes(dirty.assign(c=np.arange(60) / 7)) == []  # all rows differ
    assert notes(dirty[:20]) == []  # one label, and few rows
