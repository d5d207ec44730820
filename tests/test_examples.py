"""The examples run, on small samples."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"
DATA = ROOT / "../shared/data"


def run(name: str, *arguments: object, succeeds: bool = True) -> str:
    """What an example prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / name, *map(str, arguments)],
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert (done.returncode == 0) == succeeds, done.stderr
    return done.stdout if succeeds else done.stderr


def test_every_example_is_run_here() -> None:
    here = {"tumours.py", "credit.py"}
    elsewhere = {"client.py"}  # in tests/web/test_api.py, where there is a server for it
    assert {file.name for file in EXAMPLES.glob("*.py")} == here | elsewhere


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@pytest.mark.parametrize("address", ["http://127.0.0.1:{}", "127.0.0.1:{}", "nothing"])
def test_the_client_says_that_there_is_no_server(address: str) -> None:
    url = address.format(free_port())
    told = run("client.py", url, "a-token", succeeds=False)
    assert told.startswith(f"{url} cannot be reached: ")
    assert "Is cpclean serve running" in told
    assert len(told.splitlines()) == 1


def test_the_client_says_that_it_is_another_server() -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), SimpleHTTPRequestHandler) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        told = run("client.py", f"http://127.0.0.1:{other.server_port}", "t", succeeds=False)
        other.shutdown()
    assert told.startswith("404: File not found. Is this the address of cpclean serve?")
    assert len(told.splitlines()) == 1


@pytest.mark.slow
def test_tumours() -> None:
    told = run("tumours.py", "--sample", 160, "--budget", 8)
    assert "certain before any cleaning" in told
    assert "vote after 8 answers, cpclean order" in told
    assert "the true table" in told


@pytest.mark.slow
@pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data is not here")
def test_credit() -> None:
    told = run("credit.py", "--data-dir", DATA, "--sample", 250, "--top", 3)
    assert "predictions are certain" in told
    assert told.count("uncertain predictions that may depend on it: ") == 3


@pytest.mark.slow
def test_credit_says_which_file_it_misses(tmp_path: Path) -> None:
    told = run("credit.py", "--data-dir", tmp_path, succeeds=False)
    assert "there is no" in told
    assert "--data-dir" in told
