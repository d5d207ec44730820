"""The pages without a browser: forms, refusals, redirects, and text that stays text."""

import io
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from web.browsing import TOKEN, XSS, write_table

from cpclean.storage.base import LockedError
from cpclean.storage.opening import open_storage
from cpclean.web import forms
from cpclean.web.app import make_app
from cpclean.web.drafting import Choice, Draft, look, project_of
from cpclean.web.views import CandidateView, QuestionView
from cpclean.web.wording import why

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # Starlette would rather have httpx2, which nothing else needs
    from starlette.testclient import TestClient

ESCAPED = "&lt;img src=x onerror="


@pytest.fixture
def site(tmp_path: Path) -> Iterator[TestClient]:
    """A table in work, visited by Ann."""
    write_table(tmp_path / "people.csv", city=f"Rome{XSS}")
    draft = Draft("x", "people.csv", tmp_path / "people.csv")
    storage = open_storage("memory://")
    storage.create(project_of(draft, Choice(label="buys")))
    app = make_app(storage, TOKEN)
    with TestClient(app, base_url="http://127.0.0.1", follow_redirects=False) as client:
        app.state.cpclean.desk.ready()
        client.get("/", params={"token": TOKEN})
        post(client, "/name", who="Ann")
        yield client


@pytest.fixture
def bare() -> Iterator[TestClient]:
    """A server without a table."""
    app = make_app(None, TOKEN, start_project=lambda project: open_storage("memory://"))
    with TestClient(app, base_url="http://127.0.0.1", follow_redirects=False) as client:
        client.get("/", params={"token": TOKEN})
        yield client


def csrf(client: TestClient) -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', client.get("/name").text)
    assert found
    return found[1]


def post(client: TestClient, path: str, files: Any = None, **form: Any) -> Any:
    return client.post(path, data={"csrf": csrf(client), **form}, files=files)


def fields(page: str) -> dict[str, str]:
    """The hidden fields of the first form that answers."""
    form = page[page.index('action="/answer"') :].split("</form>")[0]
    found = dict(re.findall(r'name="([\w-]+)" value="([^"]*)"', form))
    chosen = ("candidate", "pick-0", "pick-1")
    return {name: text for name, text in found.items() if name not in chosen}


def desk_of(client: TestClient) -> Any:
    return client.app.state.cpclean.desk  # type: ignore[attr-defined]


def single(client: TestClient) -> int:
    """A row with one hole, in column age."""
    return next(one.row for one in desk_of(client).rows().rows if one.holes == ["age"])


def double(client: TestClient) -> int:
    return next(one.row for one in desk_of(client).rows().rows if len(one.holes) == 2)


# -- names -----------------------------------------------------------------------------------


def test_without_a_name_every_page_asks_for_one(site: TestClient) -> None:
    site.cookies.delete(site.app.state.cpclean.security.who_cookie)  # type: ignore[attr-defined]
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
    ("", "type a name"), ("\u200b \n", "type a name"), ("x" * 61, "at most 60 signs; this has 61"),
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
    sent = {**fields(page), "candidate": "1", "seconds": "2.5"}
    for _ in range(3):
        response = site.post("/answer", data=sent)
        assert response.status_code == 303
        assert response.headers["location"] == f"/question?saved={sent['number']}"
    events = desk_of(site).storage.events()
    assert [(one.kind, one.candidate, one.seconds, one.who) for one in events] == [
        ("answer", 1, 2.5, "Ann")
    ]


def test_another_choice_on_the_same_page_is_a_correction(site: TestClient) -> None:
    sent = fields(site.get(f"/question?row={single(site)}").text)
    for candidate in ("1", "3", "3"):  # the back button, and then something else, twice
        assert site.post("/answer", data={**sent, "candidate": candidate}).status_code == 303
        desk_of(site).ready()
    events = [(one.kind, one.candidate) for one in desk_of(site).storage.events()]
    assert events == [("answer", 1), ("correction", 3)]


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
    ages = re.findall(r'name="pick-0" value="([^"]*)"', page)
    response = site.post("/answer", data={**sent, "pick-0": ages[2], "pick-1": "Oslo"})
    assert response.status_code == 303
    (event,) = desk_of(site).storage.events()
    candidate = desk_of(site).project.table.candidates(row)[event.candidate]
    assert f"{candidate['age']:.6g}" == ages[2]
    assert candidate["city"] == "Oslo"


def test_one_hole_of_two_can_be_typed(site: TestClient) -> None:
    sent = fields(site.get(f"/question?row={double(site)}").text)
    assert site.post("/answer", data={**sent, "value-0": "44"}).status_code == 303
    assert desk_of(site).storage.events()[0].value == {"age": 44}


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
    monkeypatch.setattr("cpclean.web.engine.Engine.start", lambda self: None)
    monkeypatch.setattr("cpclean.web.engine.Engine.stop", lambda self: None)
    write_table(tmp_path / "people.csv")
    storage = open_storage("memory://")
    draft = Draft("x", "people.csv", tmp_path / "people.csv")
    storage.create(project_of(draft, Choice(label="buys")))
    with TestClient(make_app(storage, TOKEN), base_url="http://127.0.0.1") as client:
        client.get("/", params={"token": TOKEN})
        post(client, "/name", who="Ann")
        for path in ("/question", f"/question?row={desk_of(client).project.dirty_rows[0]}"):
            page = client.get(path).text
            assert "One moment" in page
            assert "data-wait" in page
        for path in ("/progress", "/rows", "/export"):
            assert client.get(path).status_code == 200


def test_an_empty_answer_says_what_to_do(site: TestClient) -> None:
    sent = fields(site.get(f"/question?row={double(site)}").text)
    response = site.post("/answer", data=sent)
    assert response.status_code == 422
    assert "Choose or type a value first" in response.text


def test_skip_and_undo(site: TestClient) -> None:
    row = single(site)
    sent = fields(site.get(f"/question?row={row}").text)
    response = post(site, "/skip", row=row, number=sent["number"], request_id="one")
    assert response.headers["location"] == f"/question?skipped={sent['number']}"
    response = post(site, "/undo", request_id="two")
    assert response.headers["location"] == f"/question?row={row}&undone=1"
    assert "here is the row again" in site.get(response.headers["location"]).text
    response = post(site, "/undo", request_id="three")
    assert response.status_code == 422
    assert "nothing that could be taken back" in response.text


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
    (0, [None, None], "No open prediction depends on this row any more"),
    (9, [None, None], "nearest of 9 open predictions. No row that is free promises"),
    (9, [0, 0], "No single value settles one for good"),
    (9, [4, 0], "nearest of 9 open predictions. An answer is expected to make 1 of them certain."),
    (1, [1, 0], "one open prediction. With a chance of 25.0% the answer makes it certain."),
])  # fmt: skip
def test_why_a_row_is_asked(near: int, settles: list[int | None], words: str) -> None:
    candidates = [
        CandidateView(number, {"age": "1"}, prior, settled)
        for number, (prior, settled) in enumerate(zip((0.25, 0.75), settles, strict=True))
    ]
    question = QuestionView(3, 3, [], candidates, 0.1, near, "a", 600.0, [], None, 1, 2)
    assert words in why(question)


# -- looking ---------------------------------------------------------------------------------


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
    storage.create(project_of(draft, Choice(label="buys")))
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


def test_who_checks_does_not_see_what_was_said(tmp_path: Path) -> None:
    write_table(tmp_path / "people.csv")
    storage = open_storage("memory://")
    draft = Draft("x", "people.csv", tmp_path / "people.csv")
    storage.create(project_of(draft, Choice(label="buys", answers="2")))
    with TestClient(make_app(storage, TOKEN), base_url="http://127.0.0.1") as client:
        desk = desk_of(client)
        desk.ready()
        row = single(client)
        desk.answer("Ann", row, values={"age": "47"})
        desk.ready()
        client.get("/", params={"token": TOKEN})
        post(client, "/name", who="Ann")
        assert "age = 47" in client.get("/rows").text
        post(client, "/name", who="Bob")
        assert "age = 47" not in client.get("/rows").text
        assert "age = 47" not in client.get(f"/question?row={row}").text
        desk.answer("Bob", row, values={"age": "50"})
        desk.ready()
        page = client.get("/progress").text
        assert "row is disputed" in page
        assert "Ann and Bob" in page


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
    assert not filled["age"].isna().any()
    assert site.get("/export/table.csv").headers["content-disposition"].endswith('"cleaned.csv"')
    assert site.get("/export/table.exe").status_code == 303
    assert '"who": "Ann"' in site.get("/export/log.jsonl").text


# -- set-up ----------------------------------------------------------------------------------


def upload(client: TestClient, content: bytes, name: str = "given.csv", **more: Any) -> Any:
    return post(client, "/setup", files={"table": (name, content), **more}, step="upload")


def draft_id(page: str) -> str:
    found = re.search(r'name="draft" value="(\w+)"', page)
    assert found, page
    return found[1]


@pytest.mark.parametrize(("name", "content", "words"), [
    ("x.txt", b"1", "a table is one of .csv"),
    ("", b"1", "choose a file first"),
    ("x.csv", b"", "is empty"),
    ("x.parquet", b"no", "x.parquet cannot be read as parquet"),
    ("../../etc/x.xlsx", b"no", "x.xlsx cannot be read as excel"),
])  # fmt: skip
def test_a_file_that_cannot_be_read(
    bare: TestClient, name: str, content: bytes, words: str
) -> None:
    response = upload(bare, content, name)
    assert response.status_code == 422
    assert words in response.text.lower()
    assert "/tmp/" not in response.text


def test_a_file_that_is_too_large(bare: TestClient) -> None:
    bare.app.state.cpclean.upload_limit = 2**20  # type: ignore[attr-defined]
    response = upload(bare, b"a,b\n" + b"1,2\n" * 2**19)
    assert response.status_code == 422
    assert "too large: files may have 1 MB together" in response.text


def test_column_names_and_file_names_are_text(bare: TestClient) -> None:
    header = '"' + XSS.replace('"', '""') + '"'
    page = upload(bare, f"{header},y\n1,0\n,1\n3,1\n".encode(), f"{XSS[:20]}.csv").text
    assert "<img" not in page
    assert ESCAPED in page


def test_a_label_is_guessed_by_its_name(bare: TestClient) -> None:
    page = upload(bare, b"a,b,Target\n1,2,0\n,1,1\n3,4,1\n").text
    assert '<option value="Target" selected>' in page


SMALL = b"id,a,b,y\n" + b"".join(b"%d,%d,%d,%d\n" % (n, n % 5, n % 3, n % 2) for n in range(40))
SMALL = SMALL.replace(b"7,2,1,1", b"7,,1,1").replace(b"\n9,4,0,1", b"\n9,,,1")


@pytest.mark.parametrize(("field", "value", "words"), [
    ("label", "", "choose the label column"),
    ("label", "nothing", "choose the label column"),
    ("share", "0", "the share to hold out is a whole number from 1 to 90"),
    ("neighbors", "x", "the number of neighbours is a whole number from 1 to 10,000"),
    ("neighbors", "500", "n_neighbors must be an int in"),
    ("target", "101", "the percent to stop at is a whole number from 1 to 100"),
    ("answers", "", "the number of people to ask for each row is a whole number from 1 to 9"),
])  # fmt: skip
def test_choices_that_do_not_fit_are_told_and_kept(
    bare: TestClient, field: str, value: str, words: str
) -> None:
    draft = draft_id(upload(bare, SMALL).text)
    given = {"label": "y", "share": "20", "neighbors": "3", "target": "100", "answers": "1"}
    sent = {**given, field: value, "draft": draft, "step": "start"}
    response = post(bare, "/setup", **sent)
    assert response.status_code == 422
    assert words in response.text.lower()
    if value.isdigit():
        assert f'value="{value}"' in response.text


def test_kinds_and_columns_can_be_changed(bare: TestClient) -> None:
    draft = draft_id(upload(bare, SMALL).text)
    sent = {"draft": draft, "step": "look", "label": "y", "share": "20", "neighbors": "1",
            "target": "90", "answers": "2", "column-0": "id", "drop-0": "1", "column-1": "a",
            "kind-1": "categorical"}  # fmt: skip
    page = post(bare, "/setup", **sent).text
    assert '<tr class="dropped">' in page
    assert '<option value="categorical" selected>' in page
    response = post(bare, "/setup", **{**sent, "step": "start"})
    assert response.headers["location"] == "/question"
    project = desk_of(bare).project
    assert project.table.names == ("a", "b")
    assert project.table.columns[0].kind == "categorical"
    assert project.settings.answers_per_row == 2
    assert project.settings.target_share == 0.9
    assert project.settings.about["file"] == "given.csv"
    assert bare.get("/setup").headers["location"] == "/question"


def test_rows_to_predict_from_a_second_file(bare: TestClient) -> None:
    points = b"id,a,b,y\n1,2,1,0\n2,,1,1\n3,4,2,1\n"
    page = upload(bare, SMALL, points=("later.csv", points)).text
    assert "the rows of later.csv" in page
    sent = {"draft": draft_id(page), "step": "start", "label": "y", "validation": "file",
            "share": "20", "neighbors": "1", "target": "100", "answers": "1"}  # fmt: skip
    assert post(bare, "/setup", **sent).headers["location"] == "/question"
    project = desk_of(bare).project
    assert len(project.vectors) == 2  # one has a hole
    assert project.labels.tolist() == [0, 1]


def test_a_draft_that_is_gone(bare: TestClient) -> None:
    response = post(bare, "/setup", draft="nothing", step="start")
    assert "not here any more" in response.text


def test_rows_without_a_label_are_left_out_and_told(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a,b,y\n1,2,0\n,1,1\n3,4,1\n5,6,\n,,1\n2,2,0\n4,1,1\n")
    draft, choice = Draft("x", "x.csv", path), Choice(label="y", neighbors="1")
    assert look(draft, choice).notes == [
        "2 rows have no label, or nothing else, and will be left out."
    ]
    project = project_of(draft, choice)
    assert project.n_rows + len(project.vectors) == 5
    assert 4 not in project.settings.about["rows"]


def test_a_text_that_may_stand_for_nothing_is_told(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a,b,y\n1,?,0\n2,A,1\n,A,1\n")
    draft = Draft("x", "x.csv", path)
    (note,) = look(draft, Choice(label="y")).notes
    assert note.startswith("Column 'b' holds '?' 1 time.")
    assert not look(draft, Choice(label="y", null="?")).notes
