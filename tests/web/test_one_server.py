"""What only a real server shows, in a process of its own: paths as they are sent, live progress."""

import http.client
import json
import runpy
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import PATIENCE
from web.served import TOKEN, Served
from web.tables import stored

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """One server for all of them."""
    place = tmp_path_factory.mktemp("served") / "x.db"
    stored(place).close()
    with Served(place) as server:
        yield server


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/../../errors.py",
        "/static/%2e%2e/app.py",
        "/static/..%2fapp.py",
        "/static/..%5capp.py",
        "/static/%252e%252e/app.py",
        "/static//etc/passwd",
        "/static/%2fetc%2fpasswd",
        "/static/....//app.py",
        "/static/base.css%00.png",
        "/static/",
        "/static",
        "/static/~root",
        "/static/..;/app.py",
    ],
)
def test_static_files_end_at_their_folder(served, path):
    """By hand, for clients tidy paths up before they ask."""
    connection = http.client.HTTPConnection(served.url.removeprefix("http://"), timeout=PATIENCE)
    connection.putrequest("GET", path, skip_host=False)
    connection.endheaders()
    found = connection.getresponse()
    body = found.read()
    assert found.status in (307, 400, 401, 404, 405)
    assert b"import" not in body
    assert b"root:" not in body
    connection.close()


def test_a_request_that_is_none(served):
    host, port = served.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=PATIENCE) as line:
        line.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\n\r\n")
        assert line.recv(100).split()[1] in (b"400", b"421")
    with served.client() as client:
        assert client.get("/api/progress").status_code == 200


def test_nothing_secret_is_printed_after_the_start(served):
    with served.client() as client:
        client.get("/", params={"token": "wrong-guess"})
        client.get("/nothing", params={"token": TOKEN})
    assert served.output.count(TOKEN) == 1, "only in the address at the start"
    assert "wrong-guess" not in served.output


def messages(response):
    """The data of server-sent events."""
    for line in response.iter_lines():
        if line.startswith("data: "):
            yield json.loads(line.removeprefix("data: "))


def test_progress_is_live(served):
    with served.client() as client, client.stream("GET", "/live") as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        found = messages(stream)
        before = next(found)["answers"]
        row = client.get("/api/question", params={"who": "Live"}).json()["question"]["row"]
        said = {"who": "Live", "row": row, "candidate": 0}
        client.post("/api/answer", json=said)
        assert any(one["answers"] == before + 1 for one in found)


def test_the_example_client(served):
    example = Path(__file__).parents[2] / "examples" / "client.py"
    runpy.run_path(str(example), run_name="imported")
    done = subprocess.run(
        [sys.executable, str(example), served.url, served.token, "--answers", "3"],
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "3 answers" in done.stdout
    assert "certain" in done.stdout


@pytest.mark.filterwarnings("ignore")
def test_schemathesis_finds_nothing(served):
    """No 5xx, no status and no answer that is not described, whatever is sent."""
    import schemathesis
    from hypothesis import HealthCheck, given, settings
    from schemathesis.checks import CHECKS

    headers = {"Authorization": f"Bearer {served.token}"}
    schema = schemathesis.openapi.from_url(f"{served.url}/api/openapi.json", headers=headers)
    names = (
        "not_a_server_error", "status_code_conformance", "content_type_conformance",
        "response_schema_conformance",
    )  # fmt: skip
    checks = [CHECKS.get_one(name) for name in names]
    seen = set()
    for found in schema.get_all_operations():
        operation = found.ok()

        @given(case=operation.as_strategy())
        @settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
        def run(case):
            case.call_and_validate(headers=headers, checks=checks)

        run()
        seen.add(operation.path)
    assert len(seen) == 10
