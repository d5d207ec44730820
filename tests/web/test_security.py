"""Who is let in, and with what: every way in that should be closed is."""

import asyncio
import json
import re
import time

import pytest
from web.served import TOKEN
from web.visiting import TestClient

from cpclean.web.guard.refusals import own_path
from cpclean.web.guard.security import CSP, Security
from cpclean.web.guard.tokens import COOKIE_SECONDS, Tokens
from cpclean.web.guard.wrong_tokens import MOST_WRONG, WrongTokens
from cpclean.web.server.app import make_app

ODD = [
    "'; DROP TABLE event; --",
    '" OR 1=1 --',
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "{{ 7 * 7 }}",
    "%00%0a../../etc/passwd",
    "Robert\u202egnp.exe",
    "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 ✨",
]
WRITES = ["/api/answer", "/api/skip", "/api/undo", "/api/labelstudio"]


# -- the token -------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/api/progress", "/api/question?who=Ann", "/api/export", "/live"])
def test_without_a_token(stranger, path):
    assert stranger.get(path).status_code == 401
    wrong = {"Authorization": "Bearer wrong"}
    assert stranger.get(path, headers=wrong).status_code == 401
    assert stranger.get(path, headers={"Authorization": f"Basic {TOKEN}"}).status_code == 401


@pytest.mark.parametrize("path", WRITES)
def test_no_change_without_a_token(stranger, app, path):
    assert stranger.post(path, json={"who": "Ann", "row": 0, "candidate": 0}).status_code == 401
    assert app.state.cpclean.storage.last() == 0


def test_pages_ask_for_the_token(stranger):
    page = stranger.get("/question?row=3")
    assert page.status_code == 401
    assert 'name="token"' in page.text
    assert 'value="/question?row=3"' in page.text
    wrong = stranger.get("/?token=wrong")
    assert wrong.status_code == 403
    assert "not the token of this server" in wrong.text
    assert "set-cookie" not in wrong.headers


def test_the_token_is_taken_out_of_the_address(stranger, app):
    found = stranger.get(f"/rows?token={TOKEN}&page=2")
    assert (found.status_code, found.headers["location"]) == (303, "/rows?page=2")
    cookie = found.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert TOKEN not in cookie
    assert stranger.get("/api/progress").status_code == 200


def test_after_a_link_on_another_site_the_cookie_is_not_lost(stranger):
    found = stranger.get(f"/rows?token={TOKEN}", headers={"Sec-Fetch-Site": "cross-site"})
    assert found.status_code == 200
    assert 'content="0;url=/rows"' in found.text


def test_the_login_form(stranger):
    wrong = stranger.post("/login", data={"token": "wrong", "next": "/rows"})
    assert wrong.status_code == 403
    assert 'value="/rows"' in wrong.text
    found = stranger.post("/login", data={"token": TOKEN, "next": "/rows"})
    assert (found.status_code, found.headers["location"]) == (303, "/rows")
    assert stranger.get("/api/progress").status_code == 200


@pytest.mark.parametrize(
    "target", ["//evil.example", "https://evil.example", "/\\evil.example", "", None, "/login"]
)
def test_a_login_goes_nowhere_else(target):
    assert own_path(target) == "/"


def test_a_cookie_that_is_not_ours(stranger, app):
    name = app.state.security.session_cookie
    other = Tokens("another token").new_session()
    real = Tokens(TOKEN).new_session()
    for cookie in ("", "x", "x.y", other, real[:-1] + ("0" if real[-1] != "0" else "1"), "=;="):
        assert (
            stranger.get("/api/progress", headers={"Cookie": f"{name}={cookie}"}).status_code == 401
        )
    good = stranger.get("/api/progress", headers={"Cookie": f"{name}={real}"})
    assert good.status_code == 200, "the same token is the same server, also after a restart"


def test_tokens_are_compared_in_constant_time(monkeypatch):
    seen = []
    monkeypatch.setattr("hmac.compare_digest", lambda a, b: seen.append((a, b)) or a == b)
    tokens, other = Tokens("secret"), Tokens("another")
    assert not tokens.is_token("sekret")
    assert not tokens.is_session(other.new_session())
    assert not tokens.is_csrf(other.csrf("y"), "y")
    assert len(seen) == 3


@pytest.mark.parametrize("given", ["", "x", "x.y", ".", "..", "\ud800", "é.é.é", "x" * 5000])
def test_signatures_that_are_malformed(given):
    tokens = Tokens("secret")
    assert not tokens.is_session(given)
    assert not tokens.is_csrf(given, "y")
    assert tokens.opened(given, "who") is None


def test_a_session_expires_on_the_server_too(monkeypatch):
    tokens = Tokens("secret")
    session = tokens.new_session()
    now = time.time()
    monkeypatch.setattr("time.time", lambda: now + COOKIE_SECONDS - 10)
    assert tokens.is_session(session)
    monkeypatch.setattr("time.time", lambda: now + COOKIE_SECONDS + 10)
    assert not tokens.is_session(session)


# -- other sites -----------------------------------------------------------------------------------


def test_a_change_by_cookie_needs_the_csrf_token(browser, csrf, app):
    said = {"who": "Ann", "row": 0, "candidate": 0}
    assert browser.post("/api/answer", json=said).status_code == 403
    wrong = browser.post("/api/answer", json=said, headers={"X-CSRF-Token": "wrong"})
    assert wrong.status_code == 403
    assert app.state.cpclean.storage.last() == 0
    right = browser.post("/api/answer", json=said, headers={"X-CSRF-Token": csrf})
    assert right.status_code == 200
    assert app.state.cpclean.storage.last() == 1


@pytest.mark.parametrize("path", ["/answer", "/skip", "/undo", "/name", "/setup"])
def test_forms_need_it_too(browser, csrf, path):
    assert browser.post(path, data={"row": "0", "candidate": "0"}).status_code == 403
    assert browser.post(path, data={"row": "0", "csrf": "wrong"}).status_code == 403
    file = {"table": ("t.csv", b"a,b\n1,2\n")}
    assert browser.post(path, data={"csrf": "wrong"}, files=file).status_code == 403
    assert browser.post(path, data={"row": "0", "csrf": csrf}).status_code != 403
    if path == "/setup":
        assert browser.post(path, data={"csrf": csrf}, files=file).status_code != 403


def test_who_sends_a_form_in_a_browser_is_told_on_a_page(browser):
    shown, form = {"Accept": "text/html,application/xhtml+xml"}, {"row": "0", "candidate": "0"}
    old = browser.post("/answer", data=form, headers=shown)
    assert old.status_code == 403
    assert '<p class="lead">The form is too old' in old.text
    large = browser.post("/answer", content=b"x" * 2**21, headers=shown)
    assert large.status_code == 413
    assert large.headers["Content-Type"].startswith("text/html")
    browser.cookies.clear()  # as after a restart of the server, which draws another token
    unknown = browser.post("/answer", data=form, headers=shown)
    assert unknown.status_code == 401
    assert 'name="token"' in unknown.text
    assert 'name="next" value="/"' in unknown.text


def test_a_csrf_token_belongs_to_its_session(stranger, browser):
    tokens = Tokens(TOKEN)
    other = tokens.csrf(tokens.new_session())
    said = {"who": "Ann", "row": 0, "candidate": 0}
    assert (
        browser.post("/api/answer", json=said, headers={"X-CSRF-Token": other}).status_code == 403
    )


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:9999"},
        {"Origin": "http://[::1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_changes_from_other_sites_are_refused(browser, client, csrf, headers):
    said = {"who": "Ann", "row": 0, "candidate": 0}
    for one in (browser, client):
        found = one.post("/api/answer", json=said, headers={**headers, "X-CSRF-Token": csrf})
        assert found.status_code == 403
    assert browser.post("/login", data={"token": TOKEN}, headers=headers).status_code == 403


def test_changes_from_our_own_page_are_not(browser, csrf):
    headers = {"Origin": "http://127.0.0.1:8421", "Sec-Fetch-Site": "same-origin"}
    said = {"who": "Ann", "row": 0, "candidate": 0}
    found = browser.post("/api/answer", json=said, headers={**headers, "X-CSRF-Token": csrf})
    assert found.status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8421", "127.0.0.1.evil.example", "", "a b", "[::1", "10.0.0.1"],
)
def test_another_host(client, host):
    assert client.get("/api/progress", headers={"Host": host}).status_code == 421


@pytest.mark.parametrize("host", ["localhost:8421", "127.0.0.1:80", "[::1]:8421", "LOCALHOST"])
def test_names_of_this_machine(client, host):
    assert client.get("/api/progress", headers={"Host": host}).status_code == 200


def test_names_that_were_allowed():
    security = Security("x", ["data.example.org"], any_address=True)
    assert security.is_host("data.example.org:8421")
    assert security.is_host("10.0.0.1")
    assert not security.is_host("evil.example")


# -- bodies and headers ----------------------------------------------------------------------------


@pytest.mark.parametrize("path", [*WRITES, "/answer", "/login"])
def test_bodies_that_are_too_large(client, path, app):
    body = json.dumps({"who": "x" * 2_000_000})
    found = client.post(path, content=body, headers={"Content-Type": "application/json"})
    assert found.status_code == 413
    assert "1,048,576" in found.json()["error"]

    def unannounced():
        for _ in range(40):
            yield b"x" * 100_000

    form = "application/x-www-form-urlencoded"
    kind = "application/json" if path in WRITES else form
    found = client.post(path, content=unannounced(), headers={"Content-Type": kind})
    # A page may refuse a program without a name before it reads anything.
    assert found.status_code == 413 or (path == "/answer" and found.status_code == 200)
    assert app.state.cpclean.storage.last() == 0


@pytest.mark.parametrize(
    "path", ["/api/progress", "/nothing", "/login", "/static/base.css", "/api/nothing", "/rows"]
)
def test_every_response_is_strict(client, stranger, path):
    for one in (client, stranger):
        headers = one.get(path).headers
        assert headers["content-security-policy"] == CSP
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
    assert "unsafe-inline" not in CSP
    assert "http:" not in CSP
    assert "*" not in CSP


def test_the_annotators_name_is_signed(browser, csrf, app):
    browser.post("/name", data={"who": "Ann <b>", "csrf": csrf})
    security = app.state.security
    cookie = browser.cookies.get(security.who_cookie)
    assert security.tokens.opened(cookie, "who") == "Ann <b>"
    forged = Tokens("other").sealed("Bob", "who")
    assert security.tokens.opened(forged, "who") is None


# -- texts -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ODD)
def test_odd_text_in_every_field_of_the_api(client, app, text):
    storage = app.state.cpclean.storage
    calls = [
        client.get("/api/question", params={"who": text}),
        client.get("/api/question", params={"who": "Ann", "row": text}),
        client.post("/api/answer", json={"who": text, "row": 0, "values": {"town": text}}),
        client.post("/api/answer", json={"who": "Ann", "row": 1, "values": {text: "1"}}),
        client.post("/api/answer", json={"who": "Ann", "row": 1, "values": {"size": text}}),
        client.post("/api/answer", json={"who": "Ann", "row": text, "candidate": 0}),
        client.post("/api/skip", json={"who": text, "row": 2, "request_id": text}),
        client.post("/api/undo", json={"who": text, "request_id": f"{text} again"}),
        *(client.get("/api/rows", params={name: text}) for name in ("state", "sort", "search")),
        *(client.get("/api/export", params={name: text}) for name in ("what", "format", "fill")),
        client.get(f"/api/{text}"),
    ]  # fmt: skip
    for found in calls:
        assert found.status_code < 500, found.text
        if found.headers["content-type"].startswith("text/html"):
            assert text not in found.text or not re.search("[<>]", text)
    app.state.cpclean.desk.ready()
    said = storage.events()
    assert said[0].who == " ".join(text.split())
    assert said[0].value == {"town": text}
    people = client.get("/api/progress").json()["people"]
    assert [one["name"] for one in people] == [" ".join(text.split())]
    assert text in client.get("/api/export", params={"what": "events"}).text or '"' in text


@pytest.mark.parametrize("text", ODD)
def test_odd_text_on_the_pages(browser, csrf, app, text):
    """Refused or escaped: never part of a page as it is."""
    browser.post("/name", data={"who": text, "csrf": csrf})
    row = app.state.cpclean.desk.look(0)
    form = {"csrf": csrf, "row": str(row.row), "value.town": text, "request_id": text}
    found = [browser.post("/answer", data=form)]
    found += [browser.get(path) for path in ("/question", "/progress", "/rows", "/export")]
    found.append(browser.get("/rows", params={"search": text, "state": text, "sort": text}))
    for page in found:
        assert page.status_code < 500
        assert "<script>alert" not in page.text
        assert "<img src=x" not in page.text
        assert ">49<" not in page.text


def test_whoever_tries_many_wrong_tokens_has_to_wait():
    app = make_app(None, TOKEN, start_project=lambda project: None)
    now = [0.0]
    app.state.security.wrong_tokens = WrongTokens(clock=lambda: now[0])
    with TestClient(app, "http://127.0.0.1:8421", follow_redirects=False) as client:
        inside = {"Cookie": client.get("/", params={"token": TOKEN}).headers["set-cookie"]}
        client.cookies.clear()
        tries = [
            lambda: client.get("/", params={"token": "wrong"}),
            lambda: client.get("/api/progress", headers={"Authorization": "Bearer wrong"}),
            lambda: client.post("/login", data={"token": "wrong"}),
        ]
        found = [tries[number % 3]().status_code for number in range(MOST_WRONG)]
        assert set(found) == {403, 401}
        for one in tries:
            assert one().status_code == 429
        response = client.get("/", params={"token": TOKEN})  # nobody can find out which is right
        assert (response.status_code, response.headers["retry-after"]) == (429, "60")
        assert "Try again in 60 seconds" in response.text
        assert client.get("/setup", headers=inside).status_code == 200  # those inside go on
        now[0] = 61.0
        assert client.get("/", params={"token": TOKEN}).status_code == 303


@pytest.mark.parametrize("kind", ["application/json", "application/x-www-form-urlencoded"])
def test_whoever_goes_away_in_the_middle_is_no_failure_of_the_server(app, browser, kind):
    """Before, each of them left a traceback of sixty lines in the server's log."""
    cookie = "; ".join(f"{one.name}={one.value}" for one in browser.cookies.jar)
    headers = {"host": "127.0.0.1:8421", "content-type": kind, "content-length": "500"}
    headers |= {"cookie": cookie} if "form" in kind else {"authorization": f"Bearer {TOKEN}"}
    scope = {
        "type": "http", "method": "POST", "scheme": "http", "query_string": b"", "root_path": "",
        "path": "/answer" if "form" in kind else "/api/answer", "http_version": "1.1",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 5000), "server": ("127.0.0.1", 8421), "raw_path": b"",
    }  # fmt: skip
    coming = [{"type": "http.request", "body": b'{"who"', "more_body": True}]

    async def receive():
        return coming.pop(0) if coming else {"type": "http.disconnect"}

    async def send(message):
        """Nobody reads it."""

    asyncio.run(app(scope, receive, send))
    assert app.state.cpclean.storage.events() == []
