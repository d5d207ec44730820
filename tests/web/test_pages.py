"""The pages without a browser: forms, refusals, redirects, and text that stays text."""

import gc
import html
import io
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from weakref import ref

import pandas as pd
import pytest
from waiting import until
from web.browsing import TOKEN, XSS, write_table
from web.visiting import ESCAPED, TestClient, desk_of, double, fields, post, single, site_over

from cpclean.errors import LockedError
from cpclean.projects.project import Project
from cpclean.storage.opening import open_storage
from cpclean.web.desk.details import detail_of
from cpclean.web.desk.listing import RowsWanted
from cpclean.web.desk.views import CandidateView, ProgressView, QuestionView
from cpclean.web.desk.why_asked import why
from cpclean.web.pages import forms
from cpclean.web.pages.drafting import project_of
from cpclean.web.pages.drafts import Draft, SetupForm
from cpclean.web.pages.wording import milestones
from cpclean.web.server.app import make_app


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    table = write_table(tmp_path_factory.mktemp("pages") / "people.csv", city=f"Rome{XSS}")
    return project_of(Draft("x", "people.csv", table), SetupForm(label="buys"))


@pytest.fixture
def site(project: Project) -> Iterator[TestClient]:
    """A table in work, visited by Ann."""
    storage = open_storage("memory://")
    storage.create(project)
    app = make_app(storage, TOKEN)
    with TestClient(app, base_url="http://127.0.0.1", follow_redirects=False) as client:
        app.state.cpclean.desk.ready()
        client.get("/", params={"token": TOKEN})
        post(client, "/name", who="Ann")
        yield client


# -- names -----------------------------------------------------------------------------------


def test_without_a_name_every_page_asks_for_one(site: TestClient) -> None:
    site.cookies.delete(site.app.state.security.who_cookie)  # type: ignore[attr-defined]
    for path in ("/question", "/progress", "/rows?state=open", "/export"):
        response = site.get(path)
        assert response.status_code == 303
        assert response.headers["location"].startswith("/name?next=%2F")


@pytest.mark.parametrize(("given", "kept"), [
    ("  Ann\t Lee ", "Ann Lee"), ("Zoë 名前", "Zoë 名前"), ("a\u202eb", "a b"),
])  # fmt: skip
def test_a_name_is_a_line_of_text(given: str, kept: str) -> None:
    assert forms.name_of({"who": given}) == kept


@pytest.mark.parametrize(("given", "words"), [
    ("", "enter a name"), ("\u200b \n", "enter a name"),
    ("x" * 61, "at most 60 characters; got 61"),
])  # fmt: skip
def test_a_name_that_cannot_be_used_is_told(site: TestClient, given: str, words: str) -> None:
    response = post(site, "/name", who=given)
    assert response.status_code == 422
    assert words in response.text.lower()


@pytest.mark.parametrize("given", [
    "//evil.example", "https://evil.example/question", "/\\evil", "javascript:alert(1)", "/setup/x",
])  # fmt: skip
def test_a_name_leads_to_our_pages_only(site: TestClient, given: str) -> None:
    assert post(site, "/name", who="Ann", next=given).headers["location"] == "/question"


def test_after_the_name_comes_what_was_asked_for(site: TestClient) -> None:
    response = post(site, "/name", who="Ann", next="/rows?state=open")
    assert response.headers["location"] == "/rows?state=open"


# -- answers ---------------------------------------------------------------------------------


def test_an_answer_is_taken_once_however_often_it_is_sent(site: TestClient) -> None:
    page = site.get(f"/question?row={single(site)}").text
    sent = {**fields(page), "value-0": "41", "seconds": "2.5"}
    for _ in range(3):
        response = site.post("/answer", data=sent)
        assert response.status_code == 303
        assert response.headers["location"] == f"/question?saved={sent['row']}"
    events = desk_of(site).storage.events()
    assert [(one.kind, one.value, one.seconds, one.who) for one in events] == [
        ("answer", {"age": 41}, 2.5, "Ann")
    ]


def test_another_choice_on_the_same_page_is_a_correction(site: TestClient) -> None:
    sent = fields(site.get(f"/question?row={single(site)}").text)
    for age in ("41", "53", "53"):  # the back button, and then something else, twice
        assert site.post("/answer", data={**sent, "value-0": age}).status_code == 303
        desk_of(site).ready()
    events = [(one.kind, one.value) for one in desk_of(site).storage.events()]
    assert events == [("answer", {"age": 41}), ("correction", {"age": 53})]


def test_what_was_typed_comes_back_with_the_error(site: TestClient) -> None:
    page = site.get(f"/question?row={single(site)}").text
    sent = {**fields(page), "column-0": "age", "value-0": "old <b>"}
    response = site.post("/answer", data=sent)
    assert response.status_code == 422
    assert 'value="old &lt;b&gt;"' in response.text
    assert "takes a number" in response.text
    assert 'aria-invalid="true"' in response.text
    assert not desk_of(site).storage.events()


def test_values_are_chosen_hole_by_hole(site: TestClient) -> None:
    row = double(site)
    page = site.get(f"/question?row={row}").text
    sent = fields(page)
    assert [sent["column-0"], sent["column-1"]] == ["age", "city"]
    assert re.findall(r'list="list-1"', page), "a long category is searched for"
    response = site.post("/answer", data={**sent, "value-0": "44", "value-1": "Oslo"})
    assert response.status_code == 303
    (event,) = desk_of(site).storage.events()
    assert event.value == {"age": 44, "city": "Oslo"}
    assert event.note is None


def ranges(page: str) -> list[str]:
    """The rough answers that a page offers for the first hole."""
    return [html.unescape(one) for one in re.findall(r'name="rough-0" value="([^"]*)"', page)]


def test_a_rough_answer_narrows_the_row_and_is_no_value(site: TestClient) -> None:
    row, desk = single(site), desk_of(site)
    page = site.get(f"/question?row={row}").text
    low, high = json.loads(ranges(page)[2])
    response = site.post("/answer", data={**fields(page), "rough-0": ranges(page)[2]})
    assert response.headers["location"].endswith("roughly=1")
    (event,) = desk.storage.events()
    assert event.value == {"age": {"between": [low, high]}}
    desk.ready()
    ages = [one["age"] for one in desk.engine.now.session.question(desk.place_of(row)).candidates]
    assert ages
    assert all(low <= age <= high for age in ages)
    before, after = desk.project.text.content, desk.export_table(".csv")
    assert after == before, "nothing is written into the table"
    (view,) = (one for one in desk.rows(RowsWanted(state="rough")).rows)
    assert (view.row, view.said) == (row, f"age = {low:g} to {high:g} (roughly)")
    assert "You answered: age" in site.get(f"/question?row={row}").text
    assert "1 is known only roughly" in site.get("/export").text


def test_ranges_stand_for_all_candidates(site: TestClient) -> None:
    row, desk = single(site), desk_of(site)
    offered = [json.loads(one) for one in ranges(site.get(f"/question?row={row}").text)]
    assert (offered[0][0], offered[-1][1]) == (None, None)
    (values,) = desk.project.table.options_in_space(desk.place_of(row)).values
    for value in values:
        fit = [
            (low, high)
            for low, high in offered
            if (low is None or low <= value) and (high is None or value <= high)
        ]
        assert len(fit) == 1


def test_an_unusual_value_is_asked_back_once_and_marked(site: TestClient) -> None:
    sent = {**fields(site.get(f"/question?row={single(site)}").text), "value-0": "470"}
    asked = site.post("/answer", data=sent)
    assert asked.status_code == 422
    assert "Did you mean 47?" in asked.text
    assert not desk_of(site).storage.events()
    again = dict(re.findall(r'name="([\w-]+)" value="([^"]*)"', asked.text))
    assert again["sure-0"] == "470"
    other = {**sent, "value-0": "480", "sure-0": "470"}
    assert site.post("/answer", data=other).status_code == 422, "another value is asked back, too"
    assert site.post("/answer", data={**sent, "sure-0": "470"}).status_code == 303
    (event,) = desk_of(site).storage.events()
    assert (event.value, event.note) == ({"age": 470}, {"unusual": ["age"]})


def test_comments_reasons_and_handing_over(site: TestClient) -> None:
    row, desk = single(site), desk_of(site)
    sent = fields(site.get(f"/question?row={row}").text)
    assert site.post("/comment", data={**sent, "comment": XSS}).status_code == 303
    page = site.get(f"/question?row={row}").text
    assert f"<p>{ESCAPED}" in page
    done = site.post("/skip", data={**sent, "to": f"Bob {XSS}"[:60], "reason": "unreadable"})
    shown = site.get(done.headers["location"]).text
    assert "is handed over to Bob &lt;img" in shown
    desk.ready()
    bob = desk.question(f"Bob {XSS}"[:60])
    assert (bob.row, bob.handed_by) == (row, "Ann")
    assert row not in desk.engine.now.ledger.ranking_for("Ann", desk.engine.now.ranking)
    (view,) = desk.rows(RowsWanted(state="handed")).rows
    assert (view.row, view.handed_to) == (row, f"Bob {XSS}"[:60])
    own = site.post("/skip", data={**sent, "to": "Ann"})
    assert own.status_code == 422
    assert "got your own name" in own.text


def test_one_hole_of_two_can_be_typed(site: TestClient) -> None:
    sent = fields(site.get(f"/question?row={double(site)}").text)
    assert site.post("/answer", data={**sent, "value-0": "44"}).status_code == 303
    assert desk_of(site).storage.events()[0].value == {"age": 44}


def test_a_row_of_a_thousand_holes_can_be_sent(site: TestClient) -> None:
    sent = fields(site.get(f"/question?row={single(site)}").text)
    more = {f"{name}-{at}": "" for at in range(1, 1000) for name in ("column", "value")}
    assert site.post("/answer", data={**sent, **more, "value-0": "44"}).status_code == 303


def test_an_answer_that_could_not_be_saved_is_sent_again(
    site: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = desk_of(site).storage
    sent = fields(site.get(f"/question?row={single(site)}").text)
    with monkeypatch.context() as broken:
        broken.setattr(storage, "append", raising(LockedError("the database is locked.")))
        broken.setattr(storage, "leases", raising(LockedError("the database is locked.")))
        response = site.post("/answer", data={**sent, "value-0": "47", "column-0": "age"})
    assert response.status_code == 503
    assert "The database is locked." in response.text
    again = dict(re.findall(r'name="([\w-]+)" value="([^"]*)"', response.text))
    assert again["value-0"] == "47"
    for _ in range(2):
        assert site.post("/answer", data=again).status_code == 303
    assert [one.value for one in storage.events()] == [{"age": 47}]


def raising(error: Exception) -> Any:
    def call(*_: Any, **__: Any) -> Any:
        raise error

    return call


def test_the_first_look_takes_a_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cpclean.web.desk.engine.Engine.start", lambda self: None)
    monkeypatch.setattr("cpclean.web.desk.engine.Engine.stop", lambda self: None)
    write_table(tmp_path / "people.csv")
    storage = open_storage("memory://")
    draft = Draft("x", "people.csv", tmp_path / "people.csv")
    storage.create(project_of(draft, SetupForm(label="buys")))
    with TestClient(make_app(storage, TOKEN), base_url="http://127.0.0.1") as client:
        client.get("/", params={"token": TOKEN})
        post(client, "/name", who="Ann")
        for path in ("/question", f"/question?row={desk_of(client).project.dirty_rows[0]}"):
            page = client.get(path).text
            assert "One moment" in page
            assert "data-wait" in page
        for path in ("/progress", "/rows", "/export", "/name"):
            response = client.get(path)
            assert response.status_code == 200
            assert not re.search(r"\b0(\.0)?%|\b0 of |predictions? still", response.text), path
        assert "picture.js" not in client.get("/progress").text, "there is nothing to draw yet"


def test_an_empty_answer_says_what_to_do(site: TestClient) -> None:
    sent = fields(site.get(f"/question?row={double(site)}").text)
    response = site.post("/answer", data=sent)
    assert response.status_code == 422
    assert "Enter a value first" in response.text


def test_skip_and_undo(site: TestClient) -> None:
    row = single(site)
    sent = fields(site.get(f"/question?row={row}").text)
    response = post(site, "/skip", row=row, request_id="one")
    assert response.headers["location"] == f"/question?skipped={sent['row']}"
    response = post(site, "/undo", request_id="two")
    assert response.headers["location"] == f"/question?row={row}&undone=1"
    assert "here is the row again" in site.get(response.headers["location"]).text
    response = post(site, "/undo", request_id="three")
    assert response.status_code == 422
    assert "is no answer by Ann to undo" in response.text


@pytest.mark.parametrize("row", ["-1", "x", "99999", "1e3", "²", "0" * 40, XSS])
def test_a_row_that_is_not_there(site: TestClient, row: str) -> None:
    response = site.get("/question", params={"row": row})
    assert response.status_code == 404
    assert "There is no such row" in response.text
    assert "<img" not in response.text


def test_the_time_is_told_by_the_page_or_by_the_server() -> None:
    assert forms.seconds_of({"seconds": "3.25", "asked_at": "0"}) == 3.25
    assert forms.seconds_of({"seconds": "", "asked_at": "nan"}) is None
    assert forms.seconds_of({"seconds": "-1", "asked_at": "-5"}) is None
    assert forms.seconds_of({}) is None


@pytest.mark.parametrize(("near", "settles", "words"), [
    (0, [None, None], "None of them depends on this row any more"),
    (9, [None, None], "9 of 59 predictions could still change; 9 of them depend on this row, and"),
    (9, [0, 0], "No single answer settles one of them"),
    (9, [12, 0], "9 of 59 predictions could still change; this answer should settle about 3 of"),
    (1, [1, 0], "1 of them depends on this row, and this answer may settle one of them."),
])  # fmt: skip
def test_why_a_row_is_asked(near: int, settles: list[int | None], words: str) -> None:
    candidates = [
        CandidateView(number, {"age": "1"}, prior, settled)
        for number, (prior, settled) in enumerate(zip((0.25, 0.75), settles, strict=True))
    ]
    question = QuestionView(3, 3, [], candidates, 0.1, near, "a", 600.0, [], None, 1, 2)
    progress = ProgressView(
        1, 0, 9, 9, 0.8, 50, 59, [], [], [], [], None, 1.0, None, [], 0, None, False, False,
        settled=50,
    )  # fmt: skip
    assert words in why(question, progress)
    assert "no other free row" not in why(question, progress, best=False)
    later = replace(progress, settled=54)  # the row was looked at a moment before
    assert not re.search(r"\b[6-9] of them", why(question, later))
    alone = replace(progress, points=1, settled=0)
    assert "them" not in why(question, alone)


def test_the_first_question_has_its_true_reason(project: Project) -> None:
    """On the first page after a start, and the same when the page is loaded again."""
    session = Project.from_bytes(project.to_bytes()).session()
    asked, n_points = session.ask(), project.task.points.n_points
    n_open = n_points - int(session.certain.sum())
    for site in site_over(project):
        seen = set()
        for _ in range(2):
            page = site.get("/question").text
            found = re.search(r'<p class="why">(.+?)</p>', page)
            assert found
            assert found[1].startswith(f"{n_open} of {n_points} predictions could still change; ")
            near = re.search(r"(\d+) of them depends? on this row", found[1])
            assert near is None or int(near[1]) == len(asked.points)
            seen.add(found[1])
            assert f'name="row" value="{project.task.row_names[asked.row]}"' in page
        # What the answer should settle may be worked out between the two, and is then said instead.
        assert len(seen) == 1 or any("depend" in one for one in seen)


def test_each_value_of_several_holes_says_what_it_would_settle(tmp_path: Path) -> None:
    rows = [f"{n % 10},{n * 7 % 30},{n % 3},{'yes' if n % 10 > 4 else 'no'}" for n in range(40)]
    text = "\n".join(["a,b,c,y", ",,1,yes", *rows])
    (tmp_path / "x.csv").write_text(text)
    draft = Draft("x", "x.csv", tmp_path / "x.csv")
    session = project_of(draft, SetupForm(label="y")).session()
    found = detail_of(session.view, 0, 1).with_settles()
    assert found.n_candidates == 25
    assert 12 <= len(found.candidates) < 25
    for hole in ("a", "b"):
        assert len({one.cells[hole] for one in found.candidates}) == 5
    assert all(one.settles is not None for one in found.candidates)


def test_what_is_worked_out_ahead_keeps_no_board(tmp_path: Path) -> None:
    """Each kept megabytes of a moment long past, for as long as its row was not answered."""
    rows = [f"{n % 10},{n * 7 % 30},{'yes' if n % 10 > 4 else 'no'}" for n in range(40)]
    (tmp_path / "x.csv").write_text("\n".join(["a,b,y", ",1,yes", ",2,no", *rows]))
    draft = Draft("x", "x.csv", tmp_path / "x.csv")
    session = project_of(draft, SetupForm(label="y")).session()
    found = detail_of(session.view, 0, 1).with_settles()
    assert found.with_settles() is found
    board = ref(session.view.version.board)
    session.tell(1, value={"a": 3.0})
    assert session.view.n_candidates(1) == 1  # a view is kept until the next one is asked for
    gc.collect()
    assert board() is None, "it is the one from before the answer"


def test_choices_say_nothing_about_likelihood(site: TestClient) -> None:
    for row in (single(site), double(site)):
        page = site.get(f"/question?row={row}").text
        main = page[page.index("<main") : page.index('class="reason"')]
        assert "likely" not in main
        assert "settles" not in main


@pytest.mark.parametrize("at_once", [False, True])
def test_the_same_name_in_two_browsers_overwrites_nothing(site: TestClient, at_once: bool) -> None:
    row = single(site)
    one, other = (fields(site.get(f"/question?row={row}").text) for _ in range(2))
    assert site.post("/answer", data={**one, "value-0": "41"}).status_code == 303
    if not at_once:  # else before the engine has looked at the first
        desk_of(site).ready()
    refused = site.post("/answer", data={**other, "value-0": "52"})
    assert refused.status_code == 422
    assert "you in another window, or somebody with your name) has answered row" in refused.text
    assert len(desk_of(site).storage.events()) == 1
    again = {**fields(refused.text), "value-0": "52"}
    assert site.post("/answer", data=again).status_code == 303
    assert [one.kind for one in desk_of(site).storage.events()] == ["answer", "correction"]


# -- looking ---------------------------------------------------------------------------------


def test_how_many_more_answers_until_a_share_is_certain() -> None:
    progress = ProgressView(
        1, 10, 40, 30, 0.72, 18, 25, [(0, 0.7), (10, 0.72)],
        [(10, 0.72), (12, 0.8), (15, 0.91), (19, 1 - 1e-12)], [], [], 9, 0.85, None, [], 0, None,
        False, False, answers_per_row=2, settled_share=0.72,
    )  # fmt: skip
    assert milestones(progress) == [
        (0.8, 4),
        (0.85, 10),
        (0.9, 10),
        (0.95, 18),
        (0.99, 18),
        (1, 18),
    ]
    assert milestones(replace(progress, settled_share=1.0)) == []
    assert milestones(replace(progress, expected=[])) == []


def test_the_progress_page_tells_all_that_is_asked_of_it(site: TestClient) -> None:
    desk = desk_of(site)
    desk.answer("Ann", desk.question("Ann").row, candidate=0, seconds=4)
    desk.ready()
    until(lambda: desk.engine.outlook is not None and desk.engine.outlook.finished)
    until(lambda: desk.progress().accuracy is not None)
    page = site.get("/progress").text
    for words in (
        "predictions are certain", "cleaned so far", "rows with holes are left",
        "more answers until all are certain", "accuracy: correct predictions",
        "expected, and its range", "Answers needed until this share is certain", "Who answered",
        "4.0 s",
    ):  # fmt: skip
        assert words in page, words
    assert re.search(r"<li>100% <b>≈ \d+</b></li>", page)


def test_no_page_holds_script_or_style_or_another_site(site: TestClient) -> None:
    for path in ("/question", "/progress", "/rows", "/export", "/name", "/question?row=99999"):
        page = site.get(path).text
        assert not re.search(r"<script(?! src=\"/static/)", page)
        assert not re.search(r"<style|\sstyle=|\son\w+=\"", page)
        assert not re.search(r"(src|href|action)=\"(?!/|#)", page)


def test_text_from_the_table_is_escaped(site: TestClient) -> None:
    row = double(site)
    for path in (f"/question?row={row}", "/rows"):
        assert "<img" not in site.get(path).text
    assert ESCAPED in site.get(f"/question?row={row}").text


@pytest.mark.parametrize("query", [
    "state=held&sort=who&order=asc", "state=nonsense&sort=;DROP&order=x&page=0", "page=999999",
    "search=" + "a" * 5000, "search=%00%F0", "page=-1",
])  # fmt: skip
def test_rows_take_any_address(site: TestClient, query: str) -> None:
    assert site.get(f"/rows?{query}").status_code == 200


def test_rows_come_in_pages_that_keep_the_filter(tmp_path: Path) -> None:
    write_table(tmp_path / "people.csv", n_rows=400)
    storage = open_storage("memory://")
    draft = Draft("x", "people.csv", tmp_path / "people.csv")
    storage.create(project_of(draft, SetupForm(label="buys")))
    with TestClient(make_app(storage, TOKEN), base_url="http://127.0.0.1") as client:
        desk_of(client).ready()
        client.get("/", params={"token": TOKEN})
        post(client, "/name", who="Ann")
        page = client.get("/rows?search=age&sort=number&order=asc").text
        assert "page 1 of 3" in page
        found = re.search(r'href="([^"]*page=2)"', page)
        assert found
        assert found[1] == "/rows?search=age&amp;state=all&amp;sort=number&amp;order=asc&amp;page=2"
        assert "page 2 of 3" in client.get(found[1].replace("&amp;", "&")).text


def test_the_list_of_rows_says_in_which_order_they_are_asked(site: TestClient) -> None:
    page = site.get("/rows").text
    assert desk_of(site).project.settings.strategy == "roots"
    assert "How many predictions it helps counts, too, for which is asked about first." in page
    assert "100% of the most" in page
    assert not re.search(r"\b0\.\d{3,}", page[page.index("<table") :]), "no statistics"


def test_nobody_overrules_others_without_knowing(site: TestClient) -> None:
    row = single(site)
    mine = {**fields(site.get(f"/question?row={row}").text), "column-0": "age", "value-0": "50"}
    desk_of(site).answer("Bob", row, values={"age": "47"})
    desk_of(site).ready()
    again = post(site, "/answer", **mine)
    assert again.status_code == 422
    assert "in the meantime: age = 47. To correct that, send yours again." in again.text
    assert 'value="50"' in again.text, "what was typed is there"
    sent = {**fields(again.text), "column-0": "age", "value-0": "50"}
    assert sent["correct"] == "1"
    assert post(site, "/answer", **sent).status_code == 303
    desk_of(site).ready()
    assert [one.kind for one in desk_of(site).storage.events()] == ["answer", "correction"]
    desk = desk_of(site)
    assert desk.engine.now.session.known[desk.place_of(row)] == {"age": 50}


def test_what_is_left_open_is_told(site: TestClient) -> None:
    row = double(site)
    page = site.get(f"/question?row={row}").text
    sent = {**fields(page), "column-0": "age", "value-0": "50", "column-1": "city", "value-1": ""}
    after = post(site, "/answer", **sent).headers["location"]
    assert "is saved; city is still open." in site.get(after).text
    several = "/question?saved=3&left=job%2C+debt+and+city&n_left=3"
    assert "Row 3 is saved; job, debt and city are still open." in site.get(several).text


def test_the_page_of_another_table_is_refused(site: TestClient) -> None:
    row = single(site)
    page = site.get(f"/question?row={row}").text
    sent = {**fields(page), "value-0": "40"}
    assert sent["project"] == desk_of(site).mark
    other = post(site, "/answer", **{**sent, "project": "0123456789abcdef"})
    assert other.status_code == 409
    assert "about another table" in other.text
    assert post(site, "/skip", row=row, project="x").status_code == 409
    assert desk_of(site).storage.last() == 0
    assert post(site, "/answer", **sent).status_code == 303
    assert desk_of(site).storage.last() == 1


def test_export(site: TestClient) -> None:
    row = single(site)
    desk = desk_of(site)
    number = desk.question("Ann", row).number
    desk.answer("Ann", row, values={"age": "47"})
    desk.ready()
    cleaned = pd.read_csv(io.StringIO(site.get("/export/table.csv").text))
    assert cleaned["age"][number] == 47
    assert cleaned["age"].isna().any()
    filled = pd.read_excel(io.BytesIO(site.get("/export/table.xlsx?fill=1").content))
    assert filled["age"][number] == 47
    assert not filled["age"].isna().any(), "also in the rows that are held out"
    page = " ".join(re.sub(r"<[^>]+>", " ", site.get("/export").text).split())
    assert f"1 hole (row {number}): what was answered" in page
    assert re.search(
        r"holes? of rows held out or left out \(row .*: the most likely value, wit", page
    )
    assert site.get("/export/table.csv").headers["content-disposition"].endswith('"cleaned.csv"')
    assert site.get("/export/table.exe").status_code == 303
    assert '"who": "Ann"' in site.get("/export/log.jsonl").text
    header, said = site.get("/export/answers.jsonl").text.splitlines()
    assert '"cpclean": "answers"' in header
    assert '"value": {"age": 47.0}' in said


@pytest.mark.parametrize(("clock", "kind", "typed"), [
    ("", "date", "2025-01-09"), (" 10:30", "datetime-local", "2025-01-09T08:15"),
])  # fmt: skip
def test_a_date_with_a_time_has_a_field_for_both(
    tmp_path: Path, clock: str, kind: str, typed: str
) -> None:
    days = [f"2025-01-{1 + n % 28:02}{clock}" if n % 5 else "" for n in range(40)]
    rows = [f"{day},{n % 7},{'ab'[n % 2]}" for n, day in enumerate(days)]
    (tmp_path / "x.csv").write_text("\n".join(["seen,b,y", *rows]) + "\n")
    draft = Draft("x", "x.csv", tmp_path / "x.csv")
    for site in site_over(project_of(draft, SetupForm(label="y"))):
        row = next(one.row for one in desk_of(site).rows().rows if one.holes == ["seen"])
        page = site.get(f"/question?row={row}").text
        assert f'<input type="{kind}"' in page
        assert "so far from 2025-01-" in page
        assert site.post("/answer", data={**fields(page), "value-0": typed}).status_code == 303
        desk_of(site).ready()
        assert typed.replace("T", " ") in desk_of(site).export_table(".csv").decode()
