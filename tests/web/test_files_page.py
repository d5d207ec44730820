"""The page over a table of files: where rows are, a server that is killed, and the way out."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from cli.test_many_files import PLAIN, run
from starlette.testclient import TestClient
from streamed_files import mixed_frame, write_parquet
from web.served import Served
from web.visiting import desk_of, site_over

from cpclean.storage.opening import open_storage


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "parts").mkdir()
    write_parquet(mixed_frame(8, 400, holes=0.05), tmp_path / "parts", 3, 50)
    mixed_frame(9, 8, holes=0.0).to_csv(tmp_path / "val.csv", index=False)
    return tmp_path


def begun(place: Path, *more: Any) -> Path:
    """A project of the files, as `cpclean serve` begins it."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("cpclean.web.server.process.run", lambda *_, **__: None)
        done = run("serve", place / "parts", *PLAIN, "--val", place / "val.csv", *more)
        assert done.exit_code == 0, done.output
        assert "400 rows in 3 files" in done.stderr or more
    return place / "parts.cpclean.db"


@pytest.fixture
def site(place: Path) -> Iterator[TestClient]:
    kept = open_storage(str(begun(place)))
    project = kept.project()
    kept.close()
    assert project is not None
    yield from site_over(project)


def test_people_see_where_a_row_is_and_take_all_files_away(site: TestClient, place: Path) -> None:
    desk = desk_of(site)
    desk.ready()
    question = desk.question("Ann")
    assert question is not None
    (where,) = [cell.text for cell in question.cells if cell.column == "in the files"]
    row, name = re.fullmatch(r"row (\d+) of (part-\d.parquet)", where).groups()  # type: ignore[union-attr]
    assert where in site.get("/question").text
    hole = next(cell.column for cell in question.cells if cell.hole)
    assert hole == "size"
    desk.answer("Ann", question.row, question.candidates[0].number)  # of a grid: known roughly
    with zipfile.ZipFile(io.BytesIO(site.get("/export/table.zip").content)) as found:
        original = (place / "parts" / name).read_bytes()
        assert pd.read_parquet(io.BytesIO(found.read(name))).equals(
            pd.read_parquet(io.BytesIO(original))
        )
    desk.answer("Ann", question.row, values={hole: 3.25})
    page = site.get("/export").text
    assert "Your 3 files in one archive" in page
    assert "/export/table.zip" in page
    assert "The table without holes" not in page
    with zipfile.ZipFile(io.BytesIO(site.get("/export/table.zip").content)) as found:
        assert found.namelist() == [f"part-{one}.parquet" for one in range(3)]
        for one in found.namelist():
            before = pd.read_parquet(place / "parts" / one)
            after = pd.read_parquet(io.BytesIO(found.read(one)))
            changed = ~((before == after) | (before.isna() & after.isna())).fillna(False)
            assert changed.to_numpy().sum() == (1 if one == name else 0)
            assert one != name or changed.loc[int(row), hole]
    refused = site.get("/api/export", params={"what": "table", "format": "csv"})
    assert refused.status_code == 422
    assert "export them as .zip" in refused.json()["error"]
    desk.trying.start()
    desk.engine.wait(desk.version, 5.0)
    while desk.trying.at is not None:
        desk.engine.wait(desk.version, 1.0)
    assert "There can be no trials: trials need all complete rows" in desk.trying.problem


def test_a_project_goes_on_and_its_answers_are_those_of_the_terminal(place: Path) -> None:
    kept = open_storage(str(begun(place)))
    project = kept.project()
    assert project is not None
    session = project.session()
    question = session.ask()
    assert question is not None
    kept.close()
    log, out = place / "log.jsonl", place / "out"
    command = ("clean", place / "parts", *PLAIN, "--val", place / "val.csv")
    done = run(*command, "--log", log, "--out", out, said="1\nq\n")
    assert done.exit_code == 0, done.output
    begun(place, "--log", log)  # the same project, with the answer of the terminal
    kept = open_storage(str(place / "parts.cpclean.db"))
    assert [(one.row, one.who) for one in kept.events()] == [(question.row, "terminal")]
    kept.close()
    parts = place / "parts" / "part-1.parquet"
    write_parquet(mixed_frame(99, 60), place / "parts", 3, 50)
    assert parts.exists()
    for file in (place / "parts", place / "parts.cpclean.db"):
        refused = run("serve", file)
        assert refused.exit_code == 2
        assert "has changed since the table was read" in refused.stderr
    assert "belongs to something else" in run(*("serve", *command[1:])).stderr
    pattern = run("serve", place / "parts" / "*.parquet", *PLAIN, "--val", place / "val.csv")
    assert "name one for the answers with --storage" in pattern.stderr


@pytest.mark.slow
def test_a_server_of_files_is_killed_and_begun_again(place: Path) -> None:
    options = (*PLAIN, "--val", place / "val.csv")
    first = Served(place / "parts", *options)
    try:
        with first.client() as client:
            question = client.get("/api/question", params={"who": "Ann"}).json()["question"]
            saved = client.post(
                "/api/answer", json={"who": "Ann", "row": question["row"], "candidate": 0}
            )
            assert saved.json()["event_number"] == 1
    finally:
        first.kill()
    second = Served(place / "parts")
    try:
        with second.client() as client:
            assert client.get("/api/progress").json()["answers"] == 1
            asked = client.get("/api/question", params={"who": "Ann"}).json()["question"]
            assert asked["row"] != question["row"]
            got = client.get("/api/export", params={"what": "table", "format": "zip"})
            assert got.headers["content-type"] == "application/zip"
            with zipfile.ZipFile(io.BytesIO(got.content)) as found:
                assert found.testzip() is None
                assert len(found.namelist()) == 3
            write_parquet(mixed_frame(99, 60), place / "parts", 3, 50)
            refused = client.post(
                "/api/answer", json={"who": "Ann", "row": asked["row"], "candidate": 0}
            )
            assert refused.status_code == 422
            assert "has changed since the table was read" in refused.json()["error"]
            assert client.get("/api/progress").json()["answers"] == 1
    finally:
        second.close()
