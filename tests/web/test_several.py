"""Several projects on one server: each below its own path, and a page that lists them."""

import os
import re
import threading

import pytest
from click.testing import CliRunner
from waiting import until
from web.browsing import Server, Visit, needs_browser, write_table
from web.served import TOKEN, Served
from web.tables import stored
from web.test_setup_pages import draft_id, started
from web.visiting import TestClient

from cpclean.cli import main
from cpclean.cli.mistakes import Mistake
from cpclean.cli.project_places import Beside, open_projects
from cpclean.errors import GoneError
from cpclean.storage.opening import open_storage
from cpclean.web.desk.workplace import Workplace
from cpclean.web.guard.prefixes import Rooted
from cpclean.web.guard.security import Security
from cpclean.web.server.app import make_app
from cpclean.web.server.several import SeveralProjects

ANSWERING = "a-token-for-answering"
OWN = re.compile(r'\b(?:href|src|action|formaction)="(/[^"]*)"')


@pytest.fixture
def folder(tmp_path):
    """Two projects, and something that is none."""
    made = tmp_path / "projects"
    made.mkdir()
    stored(made / "wine list.csv.cpclean.db").close()
    stored(made / "b.cpclean.db", n_dirty=12).close()
    open_storage(made / "empty.cpclean.db").close()
    (made / "notes.txt").write_text("no project")
    return made


@pytest.fixture
def several(folder):
    found = open_projects([str(folder)])
    security = Security(TOKEN, answer_token=ANSWERING)
    made = SeveralProjects(
        found.storages, security, lambda: Workplace(found.place, 600, None), may_grow=True
    )
    for one in made.workplaces:
        if one.desk is not None:
            one.desk.ready()
    yield made
    made.close()
    for one in made.storages():
        one.close()


def visitor(app, token=TOKEN, root="http://127.0.0.1:8421"):
    client = TestClient(app, root, follow_redirects=False)
    assert client.get("/", params={"token": token}).status_code == 303
    return client


def csrf_of(client, root):
    return re.search(r'name="csrf" value="([^"]+)"', client.get(f"{root}/name").text)[1]


def named(client, root, name="Ann"):
    csrf = csrf_of(client, root)
    found = client.post(f"{root}/name", data={"who": name, "csrf": csrf})
    assert found.headers["location"] == f"{root}/question"


def test_the_first_page_lists_projects_and_what_is_left(several):
    client = visitor(several)
    page = client.get("/")
    assert page.status_code == 200
    assert re.findall(r'<h2><a href="([^"]+)">([^<]+)', page.text) == [
        ("/p/b/", "b"), ("/p/wine-list.csv/", "wine-list.csv"),
    ]  # fmt: skip
    left = re.findall("Left to do:</strong> (.+), until all are certain", page.text)
    assert len(left) == 2, "in answers, not in rows with holes"
    assert all(re.fullmatch(r"(at most )?\d+( to \d+)? answers?", words) for words in left)
    assert 'href="/p/new/setup">Set up another table' in page.text
    answerer = visitor(several, ANSWERING).get("/").text
    assert "Left to do" in answerer
    assert "Set up another table" not in answerer
    assert TestClient(several, "http://127.0.0.1:8421").get("/").status_code == 401


def test_a_project_is_below_its_path_with_all_that_belongs_to_it(several):
    client = visitor(several)
    for root in ("/p/b", "/p/wine-list.csv"):
        assert client.get(root).headers["location"] == f"{root}/question"
        if root == "/p/b":
            assert client.get(f"{root}/rows").headers["location"] == f"{root}/name?next=%2Frows"
            named(client, root)
        for path in ("/question", "/progress", "/rows", "/export", "/predictions"):
            page = client.get(root + path)
            assert page.status_code == 200, "one name for all projects"
            links = OWN.findall(page.text)
            assert {one for one in links if not one.startswith(f"{root}/")} == {"/"}
        assert client.get(f"{root}/api/openapi.json").json()["servers"] == [{"url": root}]
        assert client.get(f"{root}/static/live.js").status_code == 200
    said = {"who": "Ann", "row": 1, "candidate": 0}
    headers = {"X-CSRF-Token": csrf_of(client, "/p/b")}
    assert client.post("/p/b/api/answer", json=said, headers=headers).status_code == 200
    assert client.post("/p/b/api/answer", json=said).status_code == 403
    last = {one.storage.name: one.storage.last() for one in several.workplaces if one.storage}
    assert sorted(last.values()) == [0, 1], "the other project has nothing of it"


def test_roles_hold_in_every_project(several):
    client = visitor(several, ANSWERING)
    named(client, "/p/b")
    assert client.get("/p/b/question").status_code == 200
    assert client.get("/p/b/export").status_code == 403
    assert client.get("/p/new/setup").status_code == 403
    assert client.get("/p/b/api/export").status_code == 403
    assert client.get("/p/none/question").status_code in (403, 404)


def test_a_project_that_is_set_up_gets_a_place_of_its_own(several, folder, tmp_path):
    client = visitor(several)
    table = write_table(tmp_path / "people.csv")
    csrf = csrf_of(client, "/p/new")
    page = client.post(
        "/p/new/setup", data={"csrf": csrf, "step": "upload"},
        files={"table": ("people.csv", table.read_bytes())},
    )  # fmt: skip
    assert draft_id(page.text)
    assert f"Answers will be saved in {folder / 'people.csv.cpclean.db'}" in page.text
    form = {**started(page.text), "csrf": csrf, "label": "buys"}
    begun = client.post("/p/new/setup", data=form)
    assert (begun.status_code, begun.headers["location"]) == (303, "/p/people.csv/question")
    assert (folder / "people.csv.cpclean.db").exists()
    assert client.get("/p/new/setup").status_code == 200, "the next one can be set up"
    assert '<a href="/p/people.csv/">people.csv</a>' in client.get("/").text


def test_several_projects_below_a_path(folder):
    found = open_projects([str(folder / "b.cpclean.db")])
    security = Security(TOKEN, root="/tools")
    made = SeveralProjects(found.storages, security, lambda: Workplace(None, 600, None))
    client = TestClient(Rooted(made, "/tools"), "http://127.0.0.1", follow_redirects=False)
    assert client.get(f"/tools/?token={TOKEN}").headers["location"] == "/tools/"
    page = client.get("/tools/").text
    assert 'href="/tools/p/b/question"' in page
    assert "Set up another table" not in page, "there is no folder for it"
    assert client.get("/tools/p/b/").headers["location"] == "/tools/p/b/question"
    assert client.get("/tools/p/b/api/openapi.json").json()["servers"] == [{"url": "/tools/p/b"}]
    made.close()
    for one in made.storages():
        one.close()


# -- what is opened ----------------------------------------------------------------------------


def test_places_and_names(folder, tmp_path):
    found = open_projects([str(folder), f"mine={folder / 'b.cpclean.db'}"])
    assert sorted(found.storages) == ["b", "mine", "wine-list.csv"]
    assert found.place == Beside(folder)
    for one in found.storages.values():
        one.close()
    with pytest.raises(Mistake, match=r"there is nothing at .*Make the folder first"):
        open_projects([str(tmp_path / "none")])
    with pytest.raises(Mistake, match="there is no project in"):
        open_projects([str(folder / "empty.cpclean.db")])


@pytest.mark.parametrize(
    "given", [["x.csv"], ["--demo"], ["--label", "y"], ["--id", "a"], ["--storage", "memory://"]]
)
def test_options_of_a_table_do_not_go_with_projects(folder, given):
    done = CliRunner().invoke(main, ["serve", "--projects", str(folder), *given])
    assert done.exit_code == 2
    option = given[0] if given[0].startswith("--") else "FILE"
    assert f"leave out {option}" in done.output or "about a table" in done.output


# -- health ------------------------------------------------------------------------------------


def test_health_needs_no_token_and_says_whether_the_database_answers(several, monkeypatch):
    monkeypatch.setattr("cpclean.web.server.health.FRESH_SECONDS", 0.0)
    with stored("memory://") as storage:
        one = make_app(storage, TOKEN)
        for app, broken in ((one, storage), (several, several.storages()[1])):
            with TestClient(app, "http://127.0.0.1:8421") as client:
                found = client.get("/healthz")
                assert (found.status_code, found.json()) == (200, {"status": "ok"})

                def gone():
                    raise GoneError("the secret place cannot be reached.")

                monkeypatch.setattr(broken, "last", gone)
                found = client.get("/healthz")
                assert found.status_code == 503
                assert found.json()["error"] == "the database does not answer."
                monkeypatch.undo()
                monkeypatch.setattr("cpclean.web.server.health.FRESH_SECONDS", 0.0)
                assert client.get("/healthz").status_code == 200
                assert client.post("/healthz").status_code in (401, 405)


def test_health_does_not_wait_for_a_database_that_hangs(monkeypatch):
    monkeypatch.setattr("cpclean.web.server.health.PATIENCE_SECONDS", 0.1)
    monkeypatch.setattr("cpclean.web.server.health.FRESH_SECONDS", 0.0)
    with stored("memory://") as storage:
        app, free, asked = make_app(storage, TOKEN), threading.Event(), []
        real = storage.last

        def hangs():
            asked.append(threading.current_thread())
            free.wait(30)
            return real()

        with TestClient(app, "http://127.0.0.1:8421") as client:
            app.state.cpclean.desk.stop()
            monkeypatch.setattr(storage, "last", hangs)
            assert [client.get("/healthz").status_code for _ in range(5)] == [503] * 5
            assert len([one for one in asked if "engine" not in one.name]) == 1, "asked once only"
            free.set()
            until(lambda: client.get("/healthz").status_code == 200)


# -- a real server -----------------------------------------------------------------------------


def look(page, name, scheme, width):
    """Nothing for axe-core to find, nothing too wide; a picture if there is a folder for it."""
    from axe_playwright_python.sync_playwright import Axe

    page.set_viewport_size({"width": width, "height": 860})
    page.emulate_media(color_scheme=scheme)
    page.wait_for_timeout(150)
    assert [one["id"] for one in Axe().run(page).response["violations"]] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    if folder := os.environ.get("CPCLEAN_SCREENSHOTS"):
        page.screenshot(path=f"{folder}/{name}-{scheme}-{width}.png", full_page=True)


@needs_browser
@pytest.mark.slow
def test_one_server_for_two_projects(chromium, folder):
    """The links that are printed, a visit from the first page to an answer, live progress."""
    with Served("--projects", folder, ready=False) as server:
        links = re.findall(r"http://\S+", server.output)
        until(lambda: len(re.findall(r"http://\S+", server.output)) == 2)
        links = re.findall(r"http://\S+", server.output)
        assert links[0].endswith(TOKEN)
        visit = Visit(chromium, Server(server.process, server.url))
        page = visit.page
        page.goto(links[1])  # of those who only answer
        page.click("a:has-text('Answer questions of b')")
        page.fill("#who", "Ann")
        page.press("#who", "Enter")
        page.wait_for_url("**/p/b/question*")
        visit.ready()
        assert page.locator("nav a").all_inner_texts() == [
            "Projects", "Question", "Progress", "Rows",
        ]  # fmt: skip
        visit.answer()
        page.click("nav a:has-text('Progress')")
        page.wait_for_function(
            "() => document.querySelector('[data-live=answers]').innerText === '1'"
        )
        with server.client() as other:
            row = other.get("/p/b/api/question", params={"who": "Bob"}).json()["question"]["row"]
            said = {"who": "Bob", "row": row, "candidate": 0}
            assert other.post("/p/b/api/answer", json=said).status_code == 200
        page.wait_for_function(
            "() => document.querySelector('[data-live=answers]').innerText === '2'"
        )
        page.goto(f"{server.url}/p/b/export")
        assert page.locator("h1").inner_text() == "This is for the owner"
        page.goto(server.url)
        page.wait_for_selector("text=2 rows cleaned so far; 2 people have answered")
        for path, name in (("/", "start"), ("/p/b/export", "owners")):
            page.goto(server.url + path)
            for scheme, width in (("light", 1280), ("dark", 390)):
                look(page, name, scheme, width)
        assert visit.troubles == []
        visit.context.close()
        assert server.interrupt() == 0
        assert "Stopped. All answers are in" in server.output
