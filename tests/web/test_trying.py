"""Trials on complete rows of the table that is served: a button, progress, what is found."""

import html
import re
from threading import Event

import numpy as np
import pandas as pd
import pytest
import waiting
from projects.making import settings_of
from web.tables import small_project
from web.visiting import TestClient, desk_of, post, site_over

from cpclean import IncompleteTable, trust
from cpclean.analysis.trust import TrialSizes
from cpclean.data.task import Task
from cpclean.projects.project import Project
from cpclean.web.desk import trying

FEW = TrialSizes(n_trials=1, most_rows=40)
BUTTON = "Try it on my rows"


def frames() -> tuple[pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng(0)
    made = []
    for n_rows in (60, 12):
        one = pd.DataFrame({"size": rng.integers(0, 20, n_rows).astype(float)})
        one["age"] = rng.integers(18, 90, n_rows)
        one["town"] = rng.choice(["Ulm", "Bonn", "Kiel"], n_rows)
        one["y"] = np.where(one["size"] + 3 * rng.normal(size=n_rows) > 10, "yes", "no")
        made.append(one)
    table, points = made
    table.loc[::5, "size"] = np.nan
    table.loc[::10, "town"] = None
    table.loc[1::7, "town"] = None
    points.loc[::4, "town"] = None
    return table, points.drop(columns="y")


def project(repairs: object = "default") -> Project:
    frame, points = frames()
    about = {"repairs": repairs if isinstance(repairs, str) else None, "prior": "observed"}
    table = IncompleteTable(frame, label="y", repairs=repairs, prior="observed")
    return Project.make(
        Task.of(table, points, frame=frame), settings_of(about=about, sure=0.9, random_state=3)
    )


def section(client: TestClient) -> str:
    page = client.get("/progress").text
    return page[page.index('<section class="card" id="trust"') :]


def seen(client: TestClient) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", section(client))).split())


def over(client: TestClient) -> None:
    waiting.until(lambda: desk_of(client).trying.at is None)


@pytest.mark.parametrize("repairs", ["default", {"size": [0, 10, 20]}])
def test_the_button_finds_what_the_command_finds(monkeypatch, repairs) -> None:
    monkeypatch.setattr(trying, "TrialSizes", lambda: FEW)
    frame, points = frames()
    own = trust(
        frame,
        "y",
        points,
        space="plain",
        n_neighbors=3,
        repairs=repairs,
        prior="observed",
        sure=0.9,
        n_trials=FEW.n_trials,
        most_rows=FEW.most_rows,
        random_state=3,
        progress=False,
    )
    for client in site_over(project(repairs)):
        assert BUTTON in seen(client)
        before = desk_of(client).version
        sent = post(client, "/trust")
        assert (sent.status_code, sent.headers["location"]) == (303, "/progress#trust")
        over(client)
        assert desk_of(client).trying.found.as_dict() == own.as_dict()
        assert desk_of(client).version > before  # whoever looks is told
        text = seen(client)
        assert own.sentence in text
        assert all(cell in text for one in own.tables for row in one.rows for cell in row)
        assert all(note in text for note in own.notes)
        assert BUTTON not in text
        assert "data-fragment" not in section(client)  # what is unfolded stays so
        post(client, "/trust")  # once is enough
        assert desk_of(client).trying.at is None


def test_how_far_it_is_and_that_others_do_not_begin_again(monkeypatch) -> None:
    monkeypatch.setattr(trying, "SHOWN_SECONDS", -1.0)
    going, begun = Event(), []

    def slowly(_, follow):
        begun.append(1)
        follow("Trial 1 of 5: Predicting", 0.25)
        assert going.wait(waiting.PATIENCE)
        return trying.trials_of(project().table, None, settings, TrialSizes(1, 40), progress=False)

    settings = trying.TrialSettings("plain", None, None, {}, 0.95, ())
    monkeypatch.setattr(trying, "_trials", slowly)
    for client in site_over(project()):
        post(client, "/trust")
        own = desk_of(client).trying
        waiting.until(lambda own=own: (own.at or ("", 0))[1] == 0.25)
        shown = section(client)
        assert "Trial 1 of 5: Predicting" in shown
        assert 'value="0.25"' in shown
        assert "data-fragment" in shown
        assert BUTTON not in shown
        post(client, "/trust")
        going.set()
        over(client)
        assert begun == [1]
        assert "predictions are sure" in seen(client)


def test_too_few_complete_rows_are_said_in_words() -> None:
    for client in site_over(small_project()):
        post(client, "/trust")
        over(client)
        text = seen(client)
        assert "There can be no trials: " in text
        assert "10 of 50 rows are complete. Without column 'size', it would be 36" in text
        assert BUTTON not in text


def test_what_fails_is_said(monkeypatch) -> None:
    def failing(*_, **__):
        raise ZeroDivisionError

    monkeypatch.setattr(trying, "trials_of", failing)
    for client in site_over(project()):
        post(client, "/trust")
        over(client)
        assert "The trials failed: ZeroDivisionError." in seen(client)


def test_without_a_token_from_the_page_nothing_begins() -> None:
    for client in site_over(project()):
        assert client.post("/trust", data={"csrf": "made up"}).status_code == 403
        assert desk_of(client).trying.at is None
        assert desk_of(client).trying.found is None
