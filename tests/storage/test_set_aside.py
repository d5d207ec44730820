"""Answers after which gathered rows would not be enough, saved in the same moment as others."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from slow_cases import rest_slow
from streamed_files import as_arrow, write_parquet
from web.visiting import at_the_same_moment, desk_of, site_over

from cpclean import CleaningSession, IncompleteTable, StreamedTable, gather
from cpclean.data.task import Task
from cpclean.errors import NotGatheredError, OvertakenError
from cpclean.projects.project import Project, Settings
from cpclean.queries.model import Model
from cpclean.storage.events import NewEvent
from cpclean.storage.following import Follower

PLACES = [f"x{one}" for one in range(20)]  # together they outweigh the column with holes
POINTS = pd.DataFrame({name: [0.1, 30.2] for name in PLACES} | {"z": [0.0, 1.0]})


def rows_of_files() -> pd.DataFrame:
    """Sixty rows, only two of which are complete."""
    number = np.arange(60.0)
    frame = pd.DataFrame(dict.fromkeys(PLACES, number) | {"z": None, "y": list("abc") * 20})
    return frame.astype({"z": float}).fillna({"z": {57: 1.0, 58: 0.0}})


def project_over(folder: Path, spare: int = 1) -> Project:
    table = StreamedTable(write_parquet(rows_of_files(), folder, 2, 7), "y")
    points = table.session_points(as_arrow(POINTS))
    near = gather(table, points, 1, spare=spare)
    assert near.n_rows < 60
    task = Task.of(near, points, row_names=near.rows_kept)
    task = Task(**{**vars(task), "raw_points": as_arrow(POINTS)})
    return Project.make(task, Settings(Model(1), about={"file": "parts"}), files=table.files)


def far(row: int, value: float = 5000.0) -> dict[str, Any]:
    return {"row": row, "value": {"z": value}}


def test_two_surprises_at_the_same_moment(tmp_path: Path) -> None:
    project = project_over(tmp_path)
    for client in site_over(project):
        desk = desk_of(client)
        start = desk.progress()
        assert (start.rows_total, start.rows_left) == (58, 58)  # of all files
        assert len(project.dirty_rows) < 58
        for who, row in (("Ann", 0), ("Bob", 1)):  # as two servers save them that check at once
            desk.storage.append(NewEvent("answer", who, **far(row)), f"{who}-1")
        desk.engine.wake()
        after = settled(desk, 2)
        assert after.trouble is None
        assert (after.answers, after.rows_left) == (1, 57)
        (why,) = after.left_out
        assert why.startswith("Event 2: after this answer, rows of the files may matter")
        assert "Event 2: after this answer" in client.get("/progress").text
        with pytest.raises(NotGatheredError, match="rows of the files may matter"):
            desk.answer("Cem", 1, values={"z": 5000.0})
        desk.undo("Ann")  # now the other answer counts
        after = settled(desk, 3)
        assert (after.answers, after.left_out, after.trouble) == (1, [], None)
        assert desk.engine.now.session.answers == [far(1)]


def test_of_two_who_check_at_once_the_second_checks_again(tmp_path: Path) -> None:
    for client in site_over(project_over(tmp_path)):
        desk, saved = desk_of(client), at_the_same_moment(desk_of(client))
        with ThreadPoolExecutor(2) as pool:
            calls = [
                pool.submit(desk.answer, who, row, values={"z": 5000.0})
                for who, row in (("Ann", 0), ("Bob", 1))
            ]
        problems = [one.exception() for one in calls]
        (refused,) = (one for one in problems if one is not None)
        assert isinstance(refused, NotGatheredError)
        assert len(saved) >= 2
        assert len(desk.storage.events()) == 1
        after = settled(desk, 1)
        assert (after.answers, after.left_out) == (1, [])


def test_of_two_who_answer_the_same_row_at_once_one_is_told(tmp_path: Path) -> None:
    for client in site_over(project_over(tmp_path)):
        desk = desk_of(client)
        at_the_same_moment(desk)
        with ThreadPoolExecutor(2) as pool:
            calls = [
                pool.submit(desk.answer, who, 0, values={"z": size})
                for who, size in (("Ann", 0.0), ("Bob", 1.0))
            ]
        problems = [one.exception() for one in calls]
        (told,) = (one for one in problems if one is not None)
        assert isinstance(told, OvertakenError)
        assert re.search(r"(Ann|Bob) has answered row \d+ in the meantime: z = [01]", str(told))
        assert len(desk.storage.events()) == 1


def settled(desk: Any, last: int) -> Any:
    while desk.engine.behind or desk.engine.now.ledger.last < last:
        assert desk.engine.trouble is None, desk.engine.trouble
        desk.engine.wait(desk.engine.version, 0.2)
    return desk.progress()


@pytest.mark.parametrize("seed", rest_slow(range(6), 2))
def test_everybody_sets_the_same_answers_aside(seed: int, tmp_path: Path) -> None:
    """Whoever follows step by step, or at once, comes to what all rows say about the others."""
    project, rng = project_over(tmp_path), np.random.default_rng(seed)
    numbers, n_rows = project.task.row_names, project.task.dataset.n_rows
    step_by_step, aside = Follower(project.session()), 0
    log: list[dict[str, Any]] = []
    for _ in range(15):
        if log and rng.random() < 0.2:  # undone, whoever said it
            del log[int(rng.integers(len(log)))]
        else:
            value = float(rng.choice([-5000.0, 0.0, 5000.0, 9000.0]))
            log.append(far(int(rng.choice([0, 1, 2, 3, n_rows - 1])), value))
        step_by_step.follow(log)
        at_once = Follower(project.session())
        at_once.follow(log)
        assert at_once.aside == step_by_step.aside
        assert at_once.session.answers == step_by_step.session.answers
        used = [one for place, one in enumerate(log) if place not in at_once.aside]
        whole = CleaningSession(
            IncompleteTable(as_arrow(rows_of_files()), "y"), as_arrow(POINTS), n_neighbors=1
        )
        whole.replay([{**one, "row": int(numbers[one["row"]])} for one in used])
        for found in (step_by_step.session, at_once.session):
            assert found.view.certain.tolist() == whole.view.certain.tolist()
            assert found.view.labels.tolist() == whole.view.labels.tolist()
            assert found.mean_entropy == whole.mean_entropy
        aside += len(at_once.aside)
    assert aside
