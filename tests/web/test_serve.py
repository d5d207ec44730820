"""`cpclean serve`: where it listens, what it opens, how it ends."""

import contextlib
import re
import socket
import threading
import time

import httpx
import pandas as pd
import pytest
from click.testing import CliRunner
from systems import needs_posix
from waiting import PATIENCE, until
from web.served import TOKEN, Served
from web.tables import stored
from web.visiting import TestClient

from cpclean.cli import main
from cpclean.cli.options import MAX_EXACT, N_DRAWS
from cpclean.storage.opening import open_storage
from cpclean.web.server.app import make_app


@pytest.fixture
def table(tmp_path):
    """A table in a file, some of whose rows are held out to be predicted."""
    frame = pd.DataFrame(
        {
            "size": [1, 2, None, 8, 9, 3, 7, None, 2, 8, 4, 6, None, 1, 9, 5],
            "age": [3, 1, 2, 1, 2, 4, 5, 6, 4, 3, 2, 1, 9, 8, 7, 6],
            "y": list("sssllslssllsslls"),
        }
    )
    place = tmp_path / "train.csv"
    frame.to_csv(place, index=False)
    return place


def refused(*arguments, **options):
    done = CliRunner().invoke(main, ["serve", *map(str, arguments)], **options)
    assert done.exit_code == 2, done.output
    return done.output


@needs_posix
@pytest.mark.slow
def test_from_a_table_to_answers_beside_it_and_back(table):
    chosen = ("--label", "y", "--val-share", "0.4", "--seed", "3")
    arguments = (table, *chosen, "-k", "1")
    with Served(*arguments) as server, server.client() as client:
        assert f"Answers are saved in '{table}.cpclean.db'" in server.output
        question = client.get("/api/question", params={"who": "Ann"}).json()["question"]
        frame = pd.read_csv(table)
        assert frame.loc[question["number"]].isna().any(), "the number is that of the file"
        body = {"who": "Ann", "row": question["row"], "values": {"size": "4"}}
        assert client.post("/api/answer", json=body).status_code == 200
        interrupted_with_a_page_open(server)
        assert "Stopped. All answers are in" in server.output
    with opened(*arguments) as storage, visited(storage) as client:
        assert client.get("/api/progress").json()["answers"] == 1
        exported = client.get("/api/export").text.splitlines()
        assert len(exported) == 17, "the rows that were held out are in the table"
        assert exported[question["number"] + 1].startswith("4.0,"), "spelt as its column is"
    assert "n_neighbors was 1 and is 3" in refused(table, *chosen)
    limits = ("--max-exact", "9", "--draws", "8")
    told = f"max_exact was {MAX_EXACT} and is 9, draws was {N_DRAWS} and is 8. Use what it was"
    assert told in refused(*arguments, *limits)


def interrupted_with_a_page_open(server):
    """Ctrl-C: what is sent to an open page ends, it does not break."""
    ended, began = threading.Event(), threading.Event()

    def listen():
        with server.client() as client, client.stream("GET", "/live") as stream:
            for _ in stream.iter_lines():
                began.set()
        ended.set()

    threading.Thread(target=listen, daemon=True).start()
    assert began.wait(PATIENCE)
    assert server.interrupt() == 0, server.output
    assert ended.wait(PATIENCE), "the stream ends, it does not break"
    assert "Traceback" not in server.output


@contextlib.contextmanager
def visited(storage):
    """A program that knows the token, and a server in this process."""
    app = make_app(storage, TOKEN)
    app.state.cpclean.desk.ready()
    headers = {"Authorization": f"Bearer {TOKEN}"}
    with TestClient(app, "http://127.0.0.1:8421", headers=headers) as client:
        yield client


def opened(*arguments):
    """What a command line opens, without serving it."""
    found = []
    runner = CliRunner()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("cpclean.web.server.process.run", lambda kept, *_, **__: found.append(kept))
        done = runner.invoke(main, ["serve", *map(str, arguments)])
    assert done.exit_code == 0, done.output
    return found[0]


def test_a_project_is_gone_on_with(table):
    arguments = ("--label", "y", "-k", "1", "--val-share", "0.4", "--drop", "age")
    frame = pd.read_csv(table).assign(age=1.5, more=range(16))
    frame.to_csv(table, index=False)
    with opened(table, *arguments, "--answers-per-row", "2") as storage:
        project = storage.project()
        assert project.settings.answers_per_row == 2
        assert list(project.frame.columns) == ["size", "age", "y", "more"], "for the export"
        assert "age" not in project.table.names
    place = f"{table}.cpclean.db"
    for again in ([place], [f"sqlite:///{place}"], [table], [table, *arguments]):
        with opened(*again) as storage:
            assert storage.project().digest() == project.digest()
    with opened(table, *arguments, "--storage", table.with_name("other.db")) as storage:
        assert storage.project().settings.answers_per_row == 1


def test_a_project_has_the_level_that_it_was_begun_with(table):
    chosen = ("--label", "y", "-k", "1", "--val-share", "0.4")
    with opened(table, *chosen, "--sure", "0.9") as storage:
        settings = storage.project().settings
        assert (settings.sure, settings.gains_by) == (0.9, "prior")
    for again in ([table], [table, *chosen], [table, *chosen, "--sure", "0.9"]):
        with opened(*again) as storage:
            assert storage.project().settings == settings
    told = refused(table, *chosen, "--sure", "certain")
    assert "answer until predictions are certain or 90% sure. Leave out --sure" in told
    assert "leave out --sure" in refused(f"{table}.cpclean.db", "--sure", "0.9")
    other = table.with_name("other.db")
    with opened(table, *chosen, "--storage", other) as storage:
        settings = storage.project().settings
        assert (settings.sure, settings.gains_by) == (None, "uniform")
    told = refused(table, *chosen, "--storage", other, "--sure", "0.9")
    assert "answer until predictions are certain. Leave out --sure" in told


@pytest.mark.slow
def test_the_demo(tmp_path):
    with Served("--demo", cwd=tmp_path) as server, server.client() as client:
        progress = client.get("/api/progress").json()
        assert progress["points"] == 59
        assert 0 < progress["certain_share"] < 1
        lines = client.get("/api/export").text.splitlines()
        assert len(lines) == 120
        asked = client.get("/api/question?who=Ann").json()["question"]
        bottle = lines[asked["number"] + 1].split(",")[0]
        assert asked["title"] == f"bottle {bottle}"
        client.post("/name", data={"who": "Bea"})
        page = client.get(f"/question?row={asked['row']}").text
        assert "which grape a wine is made of is predicted" in page
        record = page[page.index("Paper record") :].split("</dl>")[0]
        assert f"<dd>{bottle}</dd>" in record, "people find the record by its number"
    assert list(tmp_path.iterdir()) == [], "nothing is written"


@pytest.mark.slow
def test_without_a_file_the_page_asks_for_one_and_answers_are_saved_beside(tmp_path, table):
    with Served(cwd=tmp_path, ready=False) as server:
        with server.client() as client:
            found = client.get("/api/progress")
            assert found.status_code == 409
            assert "Set one up in the browser" in found.json()["error"]
            assert client.get("/live").status_code == 409
            assert client.get("/", follow_redirects=True).status_code == 200
        assert "Answers are saved" not in server.output
        with httpx.Client(base_url=server.url, follow_redirects=True) as browser:
            browser.get(f"/?token={TOKEN}")
            page = browser.get("/setup").text
            csrf = re.search(r'name="csrf" value="([^"]+)"', page)[1]
            files = {"table": ("data.csv", table.read_bytes())}
            page = browser.post("/setup", data={"csrf": csrf, "step": "upload"}, files=files).text
            assert "Answers will be saved in data.csv.cpclean.db, in the folder in which" in page
            draft = re.search(r'name="draft" value="(\w+)"', page)[1]
            sent = {"csrf": csrf, "draft": draft, "step": "start", "label": "y", "share": "40",
                    "neighbors": "1", "target": "100", "answers": "1"}  # fmt: skip
            browser.post("/setup", data=sent)
        until(lambda: "Answers are saved in 'data.csv.cpclean.db' as soon as" in server.output)
    assert (tmp_path / "data.csv.cpclean.db").exists()


@needs_posix
@pytest.mark.slow
def test_ctrl_c_while_the_database_is_locked(tmp_path):
    """A request that waits for the database does not hold up the end."""
    import sqlite3

    place = tmp_path / "x.db"
    stored(place).close()
    with Served(place) as server, server.client() as client:
        other = sqlite3.connect(place, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")

        answers = []

        def answer():
            with contextlib.suppress(httpx.HTTPError):
                said = {"who": "Ann", "row": 0, "candidate": 0}
                answers.append(client.post("/api/answer", json=said))

        waiting = threading.Thread(target=answer)
        waiting.start()
        time.sleep(0.5)
        assert server.interrupt() == 0, server.output
        other.close()
        waiting.join()
        refused = [one for one in answers if one.status_code == 503]
        assert refused == [], "the end came before the database was given up"


def test_a_port_that_is_taken(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert "cannot listen on" in refused("--demo", "--port", port, "--no-browser")


def test_the_next_port_is_taken_where_none_was_named():
    from cpclean.web.server.process import listen

    with listen("127.0.0.1", 0, True) as one:
        port = one.getsockname()[1]
        with listen("127.0.0.1", port, False) as other:
            assert port < other.getsockname()[1] < port + 50


def test_only_loopback_without_a_token():
    told = refused("--demo", "--host", "0.0.0.0", "--token", "")
    assert "without a token, anybody who reaches 0.0.0.0" in told
    assert "at least 8 characters; got 3" in refused("--demo", "--token", "abc")


@pytest.mark.slow
def test_on_loopback_it_does_without_a_token(tmp_path):
    stored(tmp_path / "x.db").close()
    with Served(tmp_path / "x.db", token="") as server, server.client() as anybody:
        assert "token" not in server.address
        assert anybody.get("/api/progress").status_code == 200
        said = {"who": "Ann", "row": 0, "candidate": 0}
        foreign = {"Origin": "https://evil.example"}
        assert anybody.post("/api/answer", json=said, headers=foreign).status_code == 403
        assert anybody.post("/api/answer", json=said).status_code == 200


def test_a_token_is_drawn_anew(tmp_path):
    stored(tmp_path / "x.db").close()
    found = set()
    for _ in range(2):
        from cpclean.web.guard.tokens import new_token

        found.add(new_token())
    assert len(found) == 2
    assert all(len(one) >= 32 for one in found)


@pytest.mark.slow
def test_all_addresses_with_a_token(tmp_path):
    stored(tmp_path / "x.db").close()
    with Served(tmp_path / "x.db", "--host", "0.0.0.0", ready=False) as server:
        port = re.search(r":(\d+)/", server.address)[1]
        headers = {"Authorization": f"Bearer {TOKEN}"}
        found = httpx.get(f"http://127.0.0.1:{port}/api/progress", headers=headers)
        assert found.status_code == 200
        foreign = httpx.get(
            f"http://127.0.0.1:{port}/api/progress", headers={**headers, "Host": "evil.example"}
        )
        assert foreign.status_code == 421


def test_mistakes(tmp_path, table):
    assert "there is no file" in refused(tmp_path / "none.csv")
    assert "name the label column" in refused(table)
    assert "no label column 'z'" in refused(table, "--label", "z")
    assert not list(table.parent.glob("*.cpclean.db")), "a mistake leaves nothing behind"
    assert "leave out FILE" in refused(table, "--demo")
    assert "no project" in refused("sqlite:///" + str(tmp_path / "none.db"))
    open_storage(tmp_path / "empty.db").close()
    assert "no project" in refused(tmp_path / "empty.db")
    assert "leave out --storage" in refused(tmp_path / "empty.db", "--storage", "memory://")
    assert "answers are saved beside the table" in refused("-", "--label", "y")


def test_options_that_would_be_ignored(tmp_path, table):
    opened(table, "--label", "y", "-k", "1", "--val-share", "0.4").close()
    project = f"{table}.cpclean.db"
    for option, value in (("--label", "age"), ("--neighbors", "1"), ("--val", table)):
        told = refused(project, option, value)
        assert "FILE is a project, which has the table and the settings" in told
        assert f"leave out {option}, or name a table" in told
        assert f"{option} needs a table: name FILE" in refused(option, value)
    told = refused(table, "--drop", "age")
    assert "add --label to --drop to compare them, or leave out --drop" in told
    opened(project, "--answers-per-row", "2").close()


@pytest.mark.parametrize("label", ["age", "size", "nothing"])
def test_another_label_than_the_project_has(table, label):
    opened(table, "--label", "y", "-k", "1", "--val-share", "0.4").close()
    told = refused(table, "--label", label, "-k", "1", "--val-share", "0.4")
    assert f"its label is 'y', not '{label}'. Use that label, or choose another place" in told


@pytest.mark.slow
def test_two_servers_on_one_database(shared_url):
    stored(shared_url).close()
    servers = Served(shared_url), Served(shared_url)
    with servers[0] as one, servers[1] as other, one.client() as here, other.client() as there:
        first = here.get("/api/question", params={"who": "Ann"}).json()["question"]
        second = there.get("/api/question", params={"who": "Bob"}).json()["question"]
        assert first["row"] != second["row"]
        here.post("/api/answer", json={"who": "Ann", "row": first["row"], "candidate": 0})
        there.post("/api/answer", json={"who": "Bob", "row": second["row"], "candidate": 0})

        def told():
            return [client.get("/api/progress").json() for client in (here, there)]

        until(lambda: [one["answers"] for one in told()] == [2, 2])
        assert len({one["certain_share"] for one in told()}) == 1


def test_help_has_an_example():
    told = CliRunner().invoke(main, ["serve", "--help"]).output
    assert "cpclean serve train.csv --label y --val val.csv" in told


def test_the_browser_is_opened_at_the_address_with_the_token(monkeypatch):
    from cpclean.web.server import process as serving

    opened_at, told = [], []
    done = threading.Event()
    monkeypatch.setattr(serving.webbrowser, "open", lambda at: (opened_at.append(at), done.set()))
    address = serving._address("0.0.0.0", 8421, "a token&more")
    assert address == f"http://{socket.gethostname()}:8421/?token=a%20token%26more"
    serving._greet([address], [], True, told.append)
    assert done.wait(PATIENCE)
    assert opened_at == [address]
    assert told == [f"cpclean is at {address}", "Press Ctrl-C to stop."]
