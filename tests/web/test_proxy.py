"""Behind a proxy: below a path of its own, and over https."""

import re

import httpx
import pytest
from waiting import PATIENCE
from web.browsing import Server, Visit, needs_browser
from web.proxies import proxy_before
from web.served import TOKEN, Served
from web.tables import stored
from web.visiting import TestClient

from cpclean.cli.listening import check_proxies, root_of_option
from cpclean.cli.mistakes import Mistake
from cpclean.web.guard.prefixes import Rooted
from cpclean.web.server.app import make_app

ROOT = "/tools/cpclean"
# Addresses in a page that stay within the server.
OWN = re.compile(r'\b(?:href|src|action|formaction|data-root)="(/[^"]*)"')


@pytest.fixture
def rooted():
    with stored("memory://") as storage:
        app = make_app(storage, TOKEN, root=ROOT)
        app.state.cpclean.desk.ready()
        yield Rooted(app, ROOT)
        app.state.cpclean.close()


def visitor(app, scheme="http"):
    return TestClient(app, f"{scheme}://127.0.0.1:8421", follow_redirects=False)


def named(client, root=""):
    page = client.get(f"{root}/name").text
    csrf = re.search(r'name="csrf" value="([^"]+)"', page)[1]
    found = client.post(f"{root}/name", data={"who": "Ann", "csrf": csrf})
    assert found.status_code == 303
    return found


@pytest.mark.parametrize("prefix", [ROOT, ""])
def test_every_link_redirect_and_cookie_is_below_the_path(rooted, prefix):
    """Whether the proxy passes the path on, or takes it off."""
    client = visitor(rooted)
    login = client.get(f"{prefix}/question")
    assert login.status_code == 401
    assert {one.startswith(f"{ROOT}/") for one in OWN.findall(login.text)} == {True}
    found = client.get(f"{prefix}/rows?token={TOKEN}&page=2")
    assert found.headers["location"] == f"{ROOT}/rows?page=2"
    assert f"Path={ROOT}/;" in found.headers["set-cookie"] + ";"
    cookie = {"Cookie": found.headers["set-cookie"].partition(";")[0]}
    client.headers.update(cookie)
    client.headers["Cookie"] += "; " + named(client, prefix).headers["set-cookie"].partition(";")[0]
    for path in ("/question", "/progress", "/rows", "/predictions", "/export", "/name"):
        page = client.get(f"{prefix}{path}")
        assert page.status_code == 200, path
        found = OWN.findall(page.text)
        assert len(found) > 5
        assert [one for one in found if one != ROOT and not one.startswith(f"{ROOT}/")] == []
        assert f"{ROOT}{ROOT}" not in page.text
    assert client.get(f"{prefix}/").headers["location"] == f"{ROOT}/question"
    cross = client.get(f"{prefix}/rows?token={TOKEN}", headers={"Sec-Fetch-Site": "cross-site"})
    assert f'content="0;url={ROOT}/rows"' in cross.text
    described = client.get(f"{prefix}/api/openapi.json").json()
    assert described["servers"] == [{"url": ROOT}]
    assert client.get(f"{prefix}/static/base.css").status_code == 200


def test_a_page_of_another_path_is_not_taken_for_ours(rooted):
    assert visitor(rooted).get("/tools/cpcleaned/static/base.css").status_code == 401


def test_root_paths_and_proxies_that_will_not_do():
    assert [root_of_option(one) for one in ("", "/", "/a", "/a/b/")] == ["", "", "/a", "/a/b"]
    for bad in ("a", "/a b", "//a", "/a/../b", "/<x>", "http://x/y"):
        with pytest.raises(Mistake, match="--root-path must be like /cpclean"):
            root_of_option(bad)
    check_proxies(("10.0.0.2", "10.0.0.0/24", "::1"))
    with pytest.raises(Mistake, match=r"an address or a network.*got 'proxy'"):
        check_proxies(("proxy",))


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_over_https_cookies_are_for_https_only(app, scheme):
    client = visitor(app, scheme)
    found = client.get(f"/?token={TOKEN}")
    second = named(client)
    for cookie in (found.headers["set-cookie"], second.headers["set-cookie"]):
        assert ("; Secure" in cookie) == (scheme == "https")
    for one in (found, second, client.get("/question"), client.get("/healthz")):
        assert ("strict-transport-security" in one.headers) == (scheme == "https")


# -- a real proxy and a real server ------------------------------------------------------------


@pytest.mark.slow
def test_who_says_that_it_is_https_has_to_be_trusted(tmp_path):
    stored(tmp_path / "x.db").close()
    for options, believed in (((), False), (("--trust-proxy", "127.0.0.1"), True)):
        with (
            Served(tmp_path / "x.db", "--root-path", ROOT, *options, ready=False) as server,
            proxy_before(port_of(server), ROOT, X_Forwarded_Proto="https") as outside,
        ):
            assert f"{ROOT}/?token=" in server.address
            found = httpx.get(f"{outside}/", params={"token": TOKEN}, timeout=PATIENCE)
            assert found.headers["location"] == f"{ROOT}/"
            assert ("; Secure" in found.headers["set-cookie"]) == believed
            assert ("strict-transport-security" in found.headers) == believed
            assert f"Path={ROOT}/" in found.headers["set-cookie"]


def port_of(server):
    return int(re.search(r":(\d+)/", server.address)[1])


@needs_browser
@pytest.mark.slow
def test_a_person_answers_through_a_proxy(chromium, tmp_path):
    """Pages, scripts, live progress and forms work below a path."""
    stored(tmp_path / "x.db").close()
    with (
        Served(tmp_path / "x.db", "--root-path", ROOT) as server,
        proxy_before(port_of(server), ROOT) as outside,
    ):
        visit = Visit(chromium, Server(server.process, outside))
        asked = []
        visit.page.on("request", lambda one: asked.append(one.url))
        page = visit.begin("Ann")
        visit.answer()
        assert page.url.startswith(f"{outside}/question?saved=")
        page.click("nav a:has-text('Progress')")
        page.wait_for_url(f"{outside}/progress")
        live = [one for one in asked if one.endswith("/live")]
        assert live
        # Somebody else answers: the page hears of it.
        before = page.locator("[data-live=answers]").inner_text()
        with server.client() as other:
            row = other.get("/api/question", params={"who": "Bob"}).json()["question"]["row"]
            said = {"who": "Bob", "row": row, "candidate": 0}
            assert other.post("/api/answer", json=said).status_code == 200
        page.wait_for_function(
            "before => document.querySelector('[data-live=answers]').innerText !== before",
            arg=before,
        )
        assert [one for one in asked if not one.startswith(outside)] == []
        assert visit.troubles == []
        visit.context.close()
