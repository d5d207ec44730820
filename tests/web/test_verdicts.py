"""Certain, sure and open on the page and in the API, with and without a level."""

import csv
import html
import io
import re
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest
import waiting
from browsers import until
from web.browsing import TOKEN, Visit, needs_browser, serving, write_table
from web.tables import small_project
from web.visiting import TestClient, desk_of, site_over

from cpclean import verdicts
from cpclean.analysis.column_effects import effects_in_session
from cpclean.analysis.looking_back import LookingBack, looking_back
from cpclean.analysis.words import percent
from cpclean.web.desk import engine

LEVEL = 0.7


@pytest.fixture
def site() -> Iterator[TestClient]:
    yield from site_over(small_project(sure=LEVEL))


@pytest.fixture
def until_certain() -> Iterator[TestClient]:
    yield from site_over(small_project(gains_by="uniform"))


def text_of(client: TestClient, path: str) -> str:
    page = re.sub(r"<svg.*?</svg>", "", client.get(path).text, flags=re.DOTALL)
    page = re.sub(r"<p[^>]* hidden>.*?</p>|<div[^>]* hidden>.*?</div>", "", page, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())


def counts(session) -> tuple[int, int, int]:
    found = session.verdicts.tolist()
    return found.count("certain"), found.count("sure"), found.count("open")


def answer_all(client: TestClient) -> None:
    desk = desk_of(client)
    while (question := desk.question("Ann")) is not None:
        desk.answer("Ann", question.row, candidate=0)
        desk.ready()


def test_progress_counts_the_three_verdicts(site: TestClient) -> None:
    session = small_project(sure=LEVEL).session()
    certain, sure, open_ = counts(session)
    assert min(certain + sure, sure, open_) > 0
    shown = site.get("/api/progress").json()
    assert (shown["certain"], shown["sure"], shown["open"]) == (certain, sure, open_)
    assert (shown["settled"], shown["settled_share"]) == (certain + sure, session.settled_share)
    assert (shown["sure_level"], shown["until_sure"]) == (LEVEL, True)
    assert shown["curve"] == [[0, session.settled_share]]
    assert shown["certain_curve"] == [[0, session.certain_share]]
    page = text_of(site, "/progress")
    assert f"{certain + sure} of 12 predictions are settled: certain or 70% sure" in page
    assert f"{sure} more are 70% sure, {open_} are open" in page
    assert "more answers until all are settled" in page
    assert "You can stop" not in page
    assert f"settled {session.settled_share:.1%}" in text_of(site, "/question")


def test_without_a_level_those_that_are_95_percent_sure_are_counted(
    until_certain: TestClient,
) -> None:
    desk = desk_of(until_certain)
    session = desk.project.session()
    curve = []
    for number in range(3):
        shown = until_certain.get("/api/progress").json()
        certain, sure, open_ = counts(session)
        curve.append([number, session.sure_share])
        assert (shown["certain"], shown["sure"], shown["open"]) == (certain, sure, open_)
        assert (shown["settled"], shown["until_sure"]) == (certain, False)
        assert shown["certain_curve"] == shown["curve"]
        question = desk.question("Ann")
        desk.answer("Ann", question.row, candidate=0)
        session.tell(question.row, candidate=0)
        desk.ready()
        # Counted again while people think.
        waiting.until(lambda: desk.progress().sure == counts(session)[1])
    assert "more are 95% sure" in text_of(until_certain, "/progress")
    curve.append([3, session.sure_share])
    waiting.until(lambda: len(desk.progress().sure_curve) == 4, "what was sure before")
    assert until_certain.get("/api/progress").json()["sure_curve"] == curve
    assert "95% sure (band); above: open" in until_certain.get("/progress").text
    desk.undo("Ann")
    waiting.until(lambda: len(desk.progress().sure_curve) == 3)
    assert [list(one) for one in desk.progress().sure_curve] == curve[:3]


def test_the_forecast_is_about_settled_predictions(site: TestClient) -> None:
    desk = desk_of(site)
    waiting.until(lambda: desk.engine.outlook is not None and desk.engine.outlook.finished)
    waiting.until(lambda: desk.progress().expected[-1][1] == 1.0)
    progress = desk.progress()
    assert progress.expected[0] == (0, progress.settled_share)
    assert "Answers needed until this share is settled" in text_of(site, "/progress")


def test_you_can_stop_names_the_promise(site: TestClient, until_certain: TestClient) -> None:
    answer_all(site)
    progress = desk_of(site).progress()
    assert progress.all_settled
    assert not progress.all_certain
    assert progress.stopped == "all validation points are certain or 70% sure"
    for path in ("/question", "/progress", "/export"):
        page = text_of(site, path)
        assert "You can stop now: every prediction is certain or 70% sure" in page
        assert "every prediction is certain." not in page
    answer_all(until_certain)
    for path in ("/question", "/progress", "/export"):
        page = text_of(until_certain, path)
        assert "You can stop now: every prediction is certain" in page
        assert "certain or" not in page.split("You can stop now")[1][:60]


def test_predictions_carry_their_verdict_and_share(site: TestClient) -> None:
    project = small_project(sure=LEVEL)
    task = project.task
    expected = verdicts(task.dataset, task.points, level=LEVEL).tolist()
    shown = site.get("/api/predictions").json()
    assert shown["sure_level"] == LEVEL
    assert [one["verdict"] for one in shown["predictions"]] == expected
    shares = project.session().view.shares
    labels = task.dataset.classes[shares.argmax(axis=1)].tolist()
    assert [one["prediction"] for one in shown["predictions"]] == labels
    assert [one["share"] for one in shown["predictions"]] == pytest.approx(
        shares.max(axis=1).tolist()
    )
    assert [one["label"] for one in shown["predictions"]] == task.labels.tolist()
    answer = site.get("/export/predictions.csv")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    lines = list(csv.DictReader(io.StringIO(answer.text)))
    assert [one["verdict"] for one in lines] == expected
    assert [int(one["row"]) for one in lines] == list(range(12))
    assert "/export/predictions.csv" in site.get("/export").text


def test_after_answers_the_predictions_are_those_of_the_session(site: TestClient) -> None:
    answer_all(site)
    found = site.get("/api/predictions").json()["predictions"]
    assert {one["verdict"] for one in found} == {"certain", "sure"}
    session = desk_of(site).engine.now.session
    assert [one["verdict"] for one in found] == session.verdicts.tolist()


def test_in_the_end_the_answers_are_looked_back_at(site: TestClient) -> None:
    desk = desk_of(site)
    assert site.get("/api/progress").json()["looking_back"] == []
    answer_all(site)
    waiting.until(lambda: desk.progress().looking_back, "looking back")
    found = desk.progress().looking_back
    assert "avoidable in hindsight" in found[0]
    assert "of rows like these would be certain or 70% sure, too." in found[1]
    for path in ("/question", "/progress", "/export"):  # wherever it says that you can stop
        page = text_of(site, path)
        assert "You can stop now" in page
        assert all(one in page for one in found)
    desk.undo("Ann")
    desk.ready()
    assert desk.progress().looking_back == []


def test_how_far_the_looking_back_is(site: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, going_on = Event(), Event()

    def slow(session: Any, progress: Any) -> LookingBack:
        progress("leaving points out", 0.25)
        asked.set()
        assert going_on.wait(60)
        progress("leaving points out", 0.5)
        return looking_back(session, progress=progress)

    monkeypatch.setattr(engine, "looking_back", slow)
    monkeypatch.setattr(engine, "SHOWN_SECONDS", 0.0)
    desk = desk_of(site)
    answer_all(site)
    assert asked.wait(60)
    assert site.get("/api/progress").json()["looking_at"] == ["leaving points out", 0.25]
    page = site.get("/progress").text
    assert '<progress max="1" value="0.25" aria-label="Looking back">' in page
    desk.undo("Ann")  # what it is about is over: it ends, and nothing of it is shown
    desk.ready()
    going_on.set()
    assert desk.progress().looking_at is None
    assert desk.progress().looking_back == []
    answer_all(site)
    waiting.until(lambda: desk.progress().looking_back, "looking back")
    assert desk.progress().looking_at is None


@needs_browser
@pytest.mark.slow
def test_a_person_sees_the_three_verdicts(chromium: Any, tmp_path: Path) -> None:
    write_table(tmp_path / "people.csv", n_rows=160)
    arguments = ("people.csv", "--label", "buys", "--sure", "0.9", "--val-share", "0.3")
    with serving(tmp_path, *arguments) as server:
        for width, name in ((1280, "Ann"), (390, "Bob")):
            visit = Visit(chromium, server, viewport={"width": width, "height": 860})
            sees_the_verdicts(visit, name, width)
            visit.context.close()


def sees_the_verdicts(visit: Visit, name: str, width: int) -> None:
    page = visit.begin(name)
    visit.answer()
    visit.go("/progress")
    until(page, "document.querySelectorAll('#plot .band').length >= 2")
    text = " ".join(page.locator("main").inner_text().split())
    assert re.search(r"[\d.]+% \d+ of 48 predictions are settled: certain or 90% sure", text)
    assert re.search(r"\d+ more are 90% sure, \d+ are open", text)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator("#plot").focus()
    page.keyboard.press("Home")
    told = page.locator(".reading").inner_text()
    assert re.fullmatch(r"After 0 rows: [\d.]+% settled, [\d.]+% certain", told)
    assert visit.troubles == []


def test_what_each_column_would_settle(site: TestClient) -> None:
    session = small_project(sure=LEVEL).session()
    n_open = int((~session.settled).sum())
    expected = [one for one in effects_in_session(session.view) if one.holes]
    columns = desk_of(site).engine.columns
    waiting.until(lambda: columns.found.effects)
    text = text_of(site, "/progress")
    best = max(expected, key=lambda one: one.settled_if_clean)
    settles = f"about {best.of_open(n_open)} of the {n_open} open predictions"
    assert f"If {best.name} were complete, {settles} would be settled." in text
    for one in expected:
        assert f"{one.name} {one.holes} about {one.of_open(n_open)} of {n_open}" in text
    answer_all(site)
    assert "no column matters any more" in text_of(site, "/progress")


def test_the_page_of_predictions_has_each_with_its_verdict(site: TestClient) -> None:
    found = site.get("/api/predictions", headers={"Authorization": f"Bearer {TOKEN}"}).json()
    words = {"certain": "certain", "sure": "70% sure", "open": "open"}
    text = text_of(site, "/predictions")
    seen = [one["verdict"] for one in found["predictions"]]
    assert {"sure", "open"} <= set(seen) <= set(words)
    for one in found["predictions"]:
        where = f"{one['row']} line {one['line']}" if one["line"] else f"{one['row']}"
        line = f"{where} {words[one['verdict']]} {one['prediction']} {percent(one['share'])}"
        assert f"{line} {one['label']}" in text
    listed = re.findall(r"\d+ (open|70% sure|certain) (?:yes|no)", text)
    assert listed == sorted(listed, key=list(reversed(words.values())).index)
    assert 'href="/predictions"' in site.get("/progress").text
