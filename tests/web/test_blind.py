"""Who checks an answer does not see it before: rows that need several answers that agree."""

import json
from collections.abc import Iterator

import pytest
from web.browsing import TOKEN, write_table
from web.visiting import TestClient, desk_of, post, single

from cpclean.projects.project import Project
from cpclean.storage.opening import open_storage
from cpclean.web.pages.drafting import project_of
from cpclean.web.pages.drafts import Draft, SetupForm
from cpclean.web.server.app import make_app

SECRET = "47.125"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    table = write_table(tmp_path_factory.mktemp("blind") / "people.csv")
    return project_of(Draft("x", "people.csv", table), SetupForm(label="buys", answers="2"))


@pytest.fixture
def checked(project: Project) -> Iterator[TestClient]:
    """A table of which each row needs two answers that agree."""
    storage = open_storage("memory://")
    storage.create(project)
    with TestClient(make_app(storage, TOKEN), base_url="http://127.0.0.1") as client:
        desk_of(client).ready()
        client.get("/", params={"token": TOKEN})
        yield client


def told(client: TestClient, who: str, row: int, age: str) -> None:
    desk_of(client).answer(who, row, values={"age": age})
    desk_of(client).ready()


def seen_by(client: TestClient, who: str, row: int) -> dict[str, str]:
    """Every page and answer in which a word about the row could stand, as a person gets them."""
    post(client, "/name", who=who, same="1")
    paths = (
        f"/question?row={row}", "/question", "/rows?sort=number", "/rows?state=held", "/progress",
        "/export", f"/api/question?who={who}&row={row}", f"/api/rows?who={who}&per_page=500",
        "/api/rows?per_page=500&sort=said", "/api/progress", "/api/export?what=log",
        "/api/export?what=labelstudio", "/api/export?format=json",
    )  # fmt: skip
    return {path: client.get(path).text for path in paths}


@pytest.mark.parametrize("holder", ["Bob", "Cem"])
def test_who_checks_does_not_see_what_was_said(checked: TestClient, holder: str) -> None:
    row = single(checked)
    told(checked, "Ann", row, SECRET)
    assert desk_of(checked).question(holder, row).lease_id, "whoever has it open to check it"
    for path, text in seen_by(checked, "Bob", row).items():
        assert SECRET not in text, path
    # Nor can it be found out by looking for it.
    assert checked.get("/api/rows", params={"search": SECRET}).json()["total"] == 0
    assert "No row matches" in checked.get("/rows", params={"search": SECRET}).text
    mine = seen_by(checked, "Ann", row)
    for path in (f"/question?row={row}", "/rows?sort=number", "/api/rows?who=Ann&per_page=500"):
        assert f"age = {SECRET}" in mine[path], path
    assert f"You answered: age = {SECRET}." in mine[f"/question?row={row}"]
    assert json.loads(mine[f"/api/question?who=Ann&row={row}"])["question"]["said"]


def test_who_skipped_does_not_see_what_others_said(checked: TestClient) -> None:
    row = single(checked)
    told(checked, "Ann", row, SECRET)
    desk_of(checked).skip("Bob", row)
    desk_of(checked).ready()
    for path, text in seen_by(checked, "Bob", row).items():
        assert SECRET not in text, path


def test_disputed_rows_are_found_while_somebody_holds_them(checked: TestClient) -> None:
    row = single(checked)
    told(checked, "Ann", row, SECRET)
    told(checked, "Bob", row, "50.25")
    for holder in (None, "Cem"):
        if holder:
            assert desk_of(checked).question(holder, row).lease_id
        (found,) = checked.get("/api/rows?state=disputed").json()["rows"]
        assert (found["row"], found["state"], found["who"]) == (row, "disputed", ["Ann", "Bob"])
        assert found["held_by"] == ([holder] if holder else [])
    for path, text in seen_by(checked, "Cem", row).items():
        assert SECRET not in text, path
        assert "50.25" not in text, path
    assert "50.25" not in seen_by(checked, "Ann", row)[f"/question?row={row}"]
    page = checked.get("/rows?state=disputed").text
    assert "held by Cem" in page
    assert "Ann and Bob" in page
    assert "held by Cem" in checked.get("/rows?state=held").text
    page = checked.get("/progress").text
    assert "row is disputed" in page
    assert "Ann and Bob" in page
    told(checked, "Cem", row, SECRET)
    (found,) = checked.get("/api/rows?state=answered").json()["rows"]
    assert found["said"] == f"age = {SECRET}"


def test_what_was_said_blindly_corrects_nobody(checked: TestClient) -> None:
    row = single(checked)
    post(checked, "/name", who="Bob")
    blind = checked.get(f"/question?row={row}").text
    assert 'name="correct"' not in blind
    told(checked, "Ann", row, SECRET)
    told(checked, "Cem", row, SECRET)  # meanwhile they settle it
    sent = {"row": row, "column-0": "age", "value-0": "50.25"}
    assert post(checked, "/answer", **sent, request_id="b1").is_success
    desk = desk_of(checked)
    desk.ready()
    assert desk.engine.now.session.known[desk.place_of(row)] == {"age": float(SECRET)}
    open_eyed = checked.get(f"/question?row={row}").text
    assert SECRET in open_eyed
    assert 'name="correct"' in open_eyed
    assert post(checked, "/answer", **sent, request_id="b2", correct="1").is_success
    desk.ready()
    assert desk.engine.now.session.known[desk.place_of(row)] == {"age": 50.25}
    kinds = [one.kind for one in desk_of(checked).storage.events()]
    assert kinds == ["answer", "answer", "answer", "correction"]


def test_a_program_says_that_it_corrects(checked: TestClient) -> None:
    row = single(checked)
    for who in ("Ann", "Cem"):
        told(checked, who, row, SECRET)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    for correct, kind in ((False, "answer"), (True, "correction")):
        body = {"who": "Bob", "row": row, "values": {"age": "50.25"}, "correct": correct}
        assert checked.post("/api/answer", json=body, headers=headers).json()["kind"] == kind
