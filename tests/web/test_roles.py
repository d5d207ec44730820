"""Owners and those who only answer: what each may do, by link, cookie and program."""

import re

import pytest
from starlette.routing import Mount, Route
from web.served import TOKEN
from web.tables import stored
from web.visiting import TestClient

from cpclean.cli.listening import check_tokens
from cpclean.cli.mistakes import Mistake
from cpclean.web.guard.roles import ANSWERER, CALLS, OWNER, PAGES, may
from cpclean.web.guard.tokens import answer_token_of
from cpclean.web.server.app import make_app

ANSWERING = "a-token-for-answering"
# Everything else that there is; whoever adds a page decides where it belongs.
OWNERS = {
    "/setup", "/trust", "/export", "/export/table{suffix}", "/export/predictions.csv",
    "/export/audit.csv", "/export/log.jsonl", "/export/answers.jsonl", "/api/export",
    "/api/labelstudio", "/team", "/team/experts", "/team/gold", "/export/quality.csv",
}  # fmt: skip


@pytest.fixture(scope="module")
def both():
    with stored("memory://") as storage:
        made = make_app(storage, TOKEN, answer_token=ANSWERING)
        made.state.cpclean.desk.ready()
        yield made
        made.state.cpclean.close()


def visitor(app, token=None, **headers):
    found = TestClient(app, "http://127.0.0.1:8421", follow_redirects=False, headers=headers)
    if token:
        assert found.get("/", params={"token": token}).status_code == 303
    return found


def named(client, name):
    page = client.get("/name").text
    csrf = re.search(r'name="csrf" value="([^"]+)"', page)[1]
    assert client.post("/name", data={"who": name, "csrf": csrf}).status_code == 303
    return csrf


def test_every_address_is_the_owners_or_for_everybody(both):
    paths = {one.path for one in both.routes if isinstance(one, Route)}
    paths = {one for one in paths if not one.startswith(("/static", "/login", "/healthz"))}
    everybodys = PAGES | {f"/api/{one}" for one in CALLS}
    assert everybodys <= paths
    assert paths - everybodys == OWNERS
    assert {one.path for one in both.routes if isinstance(one, Mount)} == {"/static"}


def test_what_a_role_may_do():
    for path in ("/export/table.csv", "/setup", "/api/export", "/api/labelstudio", "/settings",
                 "/questions", "/api/question/", "/api/", "//question"):  # fmt: skip
        assert may(OWNER, path)
        assert not may(ANSWERER, path)
    assert all(may(ANSWERER, one) for one in PAGES)


def test_by_link_an_answerer_answers_but_exports_nothing(both):
    client = visitor(both, ANSWERING)
    csrf = named(client, "Ann")
    for path in ("/question", "/progress", "/rows", "/predictions", "/api/progress"):
        page = client.get(path)
        assert page.status_code == 200, path
        assert "/export" not in page.text
        assert 'action="/trust"' not in page.text
    for path in ("/export", "/export/table.csv", "/export/log.jsonl", "/nothing"):
        refused = client.get(path)
        assert refused.status_code == 403
        assert "This is for the owner" in refused.text
        assert "With your link you can answer questions and see the progress" in refused.text
    refused = client.get("/api/export")
    assert (refused.status_code, refused.json()["kind"]) == (403, "refused")
    assert refused.json()["error"].startswith("this is for the owner of the project.")
    for path in ("/setup", "/trust", "/api/labelstudio"):
        assert client.post(path, data={"csrf": csrf}).status_code == 403
    said = {"who": "Ann", "row": 3, "candidate": 0}
    assert client.post("/api/answer", json=said, headers={"X-CSRF-Token": csrf}).status_code == 200


def test_the_owners_link_still_opens_everything(both):
    client = visitor(both, TOKEN)
    named(client, "Olga")
    page = client.get("/progress")
    assert 'href="/export"' in page.text
    assert 'action="/trust"' in page.text
    assert client.get("/export/table.csv").status_code == 200
    assert client.get("/setup").status_code == 303


def test_programs_have_roles_too(both):
    answerer = visitor(both, Authorization=f"Bearer {ANSWERING}")
    assert answerer.get("/api/question", params={"who": "Ann"}).status_code == 200
    assert answerer.get("/api/export").status_code == 403
    assert visitor(both, Authorization=f"Bearer {TOKEN}").get("/api/export").status_code == 200
    assert visitor(both, Authorization="Bearer wrong").get("/api/progress").status_code == 401


def test_a_session_has_the_role_of_its_token(both):
    client = visitor(both, ANSWERING)
    assert client.get("/export").status_code == 403
    client.get("/", params={"token": TOKEN})  # who opens the other link has the other role
    assert client.get("/export").status_code == 303  # to the name
    client.get("/", params={"token": ANSWERING})
    assert client.get("/export").status_code == 403
    other = make_app(None, TOKEN, answer_token="another-token-to-answer")
    name = both.state.security.session_cookie
    stranger = visitor(other, Cookie=f"{name}={client.cookies[name]}")
    assert stranger.get("/question").status_code == 401


def test_without_a_project_an_answerer_is_told_kindly():
    app = make_app(None, TOKEN, answer_token=ANSWERING, start_project=lambda project: None)
    client = visitor(app, ANSWERING)
    page = client.get("/", follow_redirects=True)
    assert page.status_code == 403
    assert "There is nothing to answer yet" in page.text
    assert "come back when it is there" in page.text


def test_the_answerers_token_follows_from_the_owners():
    assert answer_token_of(TOKEN) == answer_token_of(TOKEN)
    assert TOKEN not in answer_token_of(TOKEN)
    assert len(answer_token_of(TOKEN)) == 32


def test_tokens_that_will_not_do():
    with pytest.raises(Mistake, match="--answer-token must have at least 8 characters; got 5"):
        check_tokens("127.0.0.1", "long enough", "short")
    with pytest.raises(Mistake, match="must differ: the first one is the owner's"):
        check_tokens("127.0.0.1", "long enough", "long enough")
    with pytest.raises(Mistake, match="everybody is an owner: leave out --answer-token"):
        check_tokens("127.0.0.1", "", "long enough")
