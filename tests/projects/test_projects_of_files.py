"""Projects of tables in files: the gathered rows, the facts about all rows, and the files' mark."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from slow_cases import rest_slow
from streamed_files import as_arrow, mixed_frame, write_parquet

from cpclean import CleaningSession, IncompleteTable, LeafSpace, StreamedTable
from cpclean.data.task import Task
from cpclean.errors import FutureError, TableError
from cpclean.intake.cleaned_files import write_files
from cpclean.projects.project import FORMAT, Project, Settings
from cpclean.queries.model import Model
from cpclean.queries.near_scan import gather_for_answers
from cpclean.web.desk.exporting import archive_of_files

MODEL = Model(2)


def written(folder: Path, suffix: str, frame: pd.DataFrame) -> Path:
    """The rows in files of a format, in a folder of their own."""
    place = folder / "parts"
    place.mkdir()
    if suffix == ".parquet":
        write_parquet(frame, place, 2, 40)
    elif suffix == ".csv":
        for number, part in enumerate(np.array_split(np.arange(len(frame)), 3)):
            frame.iloc[part].to_csv(place / f"part-{number}.csv", index=False)
    else:  # folders that are a column
        for year in (2023, 2024):
            (place / f"year={year}").mkdir()
            own = frame.iloc[year % 2 :: 2]
            pq.write_table(as_arrow(own), place / f"year={year}" / "data.parquet")
    return place


def project_over(place: Path, **options: Any) -> tuple[Project, StreamedTable]:
    table = StreamedTable(place, "y", kinds={"since": "date"}, **options)
    asked = mixed_frame(77, 4, holes=0.0).drop(columns="y")
    if "year" in table.names:
        asked["year"] = pd.Categorical([2023, 2024, 2023, 2024], categories=[2023, 2024])
    points = table.session_points(as_arrow(asked))
    near = gather_for_answers(table, points, MODEL)
    assert near.n_rows < table.n_rows
    task = Task.of(near, points, row_names=near.rows_kept)
    task = Task(**{**vars(task), "raw_points": as_arrow(asked)})
    made = Project.make(task, Settings(MODEL, about={"file": "parts"}), files=table.files)
    return made, table


@pytest.mark.parametrize("suffix", rest_slow([".parquet", ".csv", "folders"]))
def test_a_project_of_files_opens_without_reading_rows(suffix: str, tmp_path: Path) -> None:
    frame = mixed_frame(5, 700, holes=0.03)
    place = written(tmp_path, suffix, frame)
    made, table = project_over(place)
    opened = Project.from_bytes(made.to_bytes())
    assert opened.to_bytes() == made.to_bytes()
    assert opened.files is not None
    assert opened.files.reader == table.recipe.reader
    assert opened.table.counts == table.counts == made.table.counts
    assert opened.table.report == table.report
    assert opened.task.dataset.whole == made.task.dataset.whole
    assert opened.task.dataset.n_worlds == table.n_worlds
    assert opened.belongs == made.belongs
    assert opened.digest() == made.digest()
    assert opened.journal_belongs["files"] == made.belongs["files"]
    one, two = opened.session(), made.session()
    assert one.gains().tolist() == two.gains().tolist()
    row = int(opened.dirty_rows[0])
    number = int(opened.task.row_names[row])
    assert opened.files.where(number) == table.where(number)
    entry = opened.entry(row, 0)
    one.replay([entry])
    archive = b"".join(archive_of_files(opened, one))
    known = {number: one.known[row]}
    files = write_files(table.files, table.columns, known, tmp_path / "out")
    with zipfile.ZipFile(io.BytesIO(archive)) as found:
        assert found.testzip() is None
        assert found.namelist() == [path.relative_to(tmp_path / "out").as_posix() for path in files]
        assert [found.read(name) for name in found.namelist()] == [
            path.read_bytes() for path in files
        ]
    cleaned = StreamedTable(tmp_path / "out", "y")
    assert sum(cleaned.n_holes) == sum(table.n_holes) - len(one.known[row])


@pytest.mark.slow
def test_a_session_of_a_project_of_files_is_that_of_all_rows(tmp_path: Path) -> None:
    frame = mixed_frame(5, 700, holes=0.03)
    made, _ = project_over(written(tmp_path, ".parquet", frame))
    some = Project.from_bytes(made.to_bytes()).session()
    table = IncompleteTable(as_arrow(frame), "y")
    every = CleaningSession(table, made.task.points, 2, random_state=0)
    names = made.task.row_names
    for _ in range(6):
        question, asked = some.ask(), every.ask()
        if question is None or asked is None:
            assert question is asked
            break
        assert (names[question.row], question.gain) == (asked.row, asked.gain)
        some.tell(question.row, candidate=0)
        every.tell(asked.row, candidate=0)
        assert some.mean_entropy == every.mean_entropy


@pytest.mark.slow
def test_a_project_of_files_among_leaves(tmp_path: Path) -> None:
    place = written(tmp_path, ".parquet", mixed_frame(6, 900, holes=0.02))
    made, table = project_over(place, space=LeafSpace(n_trees=30))
    opened = Project.from_bytes(made.to_bytes())
    assert opened.digest() == made.digest()
    assert opened.table.leaves == table.leaves
    assert opened.session().gains().tolist() == made.session().gains().tolist()


def test_files_that_changed_since_a_project_was_begun(tmp_path: Path) -> None:
    place = written(tmp_path, ".csv", mixed_frame(5, 500, holes=0.03))
    made, _ = project_over(place)
    opened = Project.from_bytes(made.to_bytes())
    row = int(opened.dirty_rows[0])
    session = opened.session()
    assert opened.files is not None
    file, _ = opened.files.where(int(opened.task.row_names[row]))
    before = Path(file).read_bytes()
    Path(file).write_bytes(before + before.splitlines(keepends=True)[-1])
    for refused in (lambda: opened.entry(row, 0), lambda: archive_of_files(opened, session)):
        with pytest.raises(TableError, match="has changed since the table was read: it had"):
            refused()
    Path(file).write_bytes(before)
    opened.entry(row, 0)
    Path(file).unlink()
    with pytest.raises(TableError, match="is not there any more"):
        opened.entry(row, 0)


def test_earlier_versions_refuse_a_project_of_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, _ = project_over(written(tmp_path, ".parquet", mixed_frame(5, 500, holes=0.03)))
    monkeypatch.setattr("cpclean.projects.project.FORMAT", FORMAT - 1)
    with pytest.raises(FutureError, match="saved by a newer cpclean"):
        Project.from_bytes(made.to_bytes())
