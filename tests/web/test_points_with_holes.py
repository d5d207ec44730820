"""Rows to predict with holes on the page: set-up, progress, and the end."""

import html
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from waiting import until
from web.visiting import TestClient, desk_of, site_over

from cpclean.intake.choices import Choices, HoldOut
from cpclean.intake.open_task import open_task
from cpclean.intake.source_file import SourceFile
from cpclean.projects.project import Project, Settings
from cpclean.queries.model import Model
from cpclean.web.desk.views import ProgressView
from cpclean.web.pages.wording import outlook


def written(path: Path) -> Path:
    """A table in which every row has a hole."""
    yes = np.arange(24) % 3 == 2
    frame = pd.DataFrame({"age": 20 + np.arange(24) % 5 + 30 * yes, "size": 2 + 5 * yes})
    frame = frame.assign(city=["Ulm", "Bonn"] * 12, y=np.where(yes, "yes", "no")).astype(object)
    for row in range(24):
        frame.loc[row, ["age", "size", "city"][row // 3 % 3]] = None
    frame.to_csv(path, index=False)
    return path


def project_over(path: Path, **choices: int) -> Project:
    opened = open_task(SourceFile.at(str(path)), Choices("y", **choices), HoldOut(0.25))
    return Project.make(opened.task, Settings(Model(1)))


@pytest.fixture
def site(tmp_path: Path) -> Iterator[TestClient]:
    yield from site_over(project_over(written(tmp_path / "t.csv")))


def text_of(client: TestClient, path: str) -> str:
    page = re.sub(r"<svg.*?</svg>", "", client.get(path).text, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())


def test_both_readings_are_on_the_page(site: TestClient) -> None:
    progress = desk_of(site).progress()
    assert (progress.points, progress.points_with_holes) == (6, 6)
    assert 0 < progress.certain_share < 1, "otherwise the two numbers say little"
    page = text_of(site, "/progress")
    assert f"{progress.certain} of 6 predictions are certain in every completion; 6 have" in page
    assert "6 rows to predict have holes, which answers cannot fill. A completion is" in page
    assert f"{progress.certain_share:.1%} of the completions are certain, all of them for" in page
    shown = site.get("/api/progress").json()
    assert (shown["certain"], shown["points_with_holes"], shown["draws"]) == (
        progress.certain, 6, "",
    )  # fmt: skip


def test_the_end(site: TestClient) -> None:
    desk = desk_of(site)
    while (question := desk.question("Ann")) is not None:
        desk.answer("Ann", question.row, candidate=0)
        desk.ready()
    assert desk.progress().certain_share == 1.0
    for path in ("/question", "/progress", "/export"):
        assert "You can stop now: every completion is certain" in text_of(site, path)


def test_draws_are_told(tmp_path: Path) -> None:
    project = project_over(written(tmp_path / "t.csv"), max_exact=2, n_draws=4)
    for client in site_over(project):
        desk = desk_of(client)
        until(lambda desk=desk: desk.progress().draws)
        assert re.search(
            r"18 rows have more than 2 combinations, and 6 rows to predict too many to go through: "
            r"shares use 4 draws of each of the former and 2 of the latter, and are off by "
            r"(about|less than) 0\.\d+\.",
            text_of(client, "/progress"),
        )


def test_complete_points_have_one_reading() -> None:
    view = ProgressView(
        1, 2, 9, 7, 0.5, 3, 6, [], [], [], [], None, 1.0, None, [], 0, None, False, False,
        sure=1, open=2, sure_share=4 / 6,
    )  # fmt: skip
    told = "After 2 rows, 3 of 6 predictions are certain (50.0%), 1 more is 95% sure, 2 are open."
    assert outlook(view) == told
