"""The message that the target is reached: once, with patience, to a real HTTP server."""

import json
import logging
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from waiting import until
from web.served import Served
from web.tables import stored

from cpclean.web.desk import notifying
from cpclean.web.desk.notifying import SETTING, Notifier, NotifyError, checked_address


class Hook:
    """A server on loopback that notes what it is sent; `answers` are the codes that it gives."""

    def __init__(self, *answers):
        self.messages, codes = [], list(answers)

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                hook.messages.append(json.loads(body))
                self.send_response(codes.pop(0) if codes else 200)
                self.send_header("Location", "http://127.0.0.1:1/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        hook = self
        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/done"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def hook(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    made = []

    def making(*answers):
        made.append(Hook(*answers))
        return made[-1]

    yield making
    for one in made:
        one.close()


@pytest.fixture
def reached(desk_over):
    """A desk with nothing left to ask."""
    desk = desk_over(stored("memory://", n_dirty=2))
    for row in (0, 1):
        desk.skip("Ann", row)
    desk.ready()
    return desk


def notifier(desk, url, waits=(0.01, 0.01)):
    made = Notifier(
        desk.storage, desk.progress, lambda: desk.engine.stopping, desk.name, url, waits
    )
    made.start()
    return made


def test_it_is_told_once_when_the_target_is_reached(desk_over, hook, monkeypatch):
    monkeypatch.setattr(notifying, "LOOK_SECONDS", 0.02)
    there = hook()
    desk = desk_over(stored("memory://"), notify=there.url)
    time.sleep(0.1)
    assert there.messages == [], "not yet"
    while desk.stopped is None:
        question = desk.question("Ann")
        desk.answer("Ann", question.row, candidate=question.candidates[0].number)
        desk.ready()
    until(lambda: desk.storage.setting(SETTING) and there.messages, "a message")
    until(lambda: desk.storage.setting(SETTING)["state"] == "sent", "that it is noted")
    (message,) = there.messages
    assert message["event"] == "target reached"
    assert (message["settled_share"], message["target"]) == (1.0, 1.0)
    assert message["rows_answered"] == desk.progress().answers
    desk.undo("Ann")
    desk.ready()
    desk_over(desk.storage, notify=there.url)  # as after a restart
    notifier(desk, there.url)
    time.sleep(0.3)
    assert len(there.messages) == 1


def test_what_fails_is_tried_again_and_noted(reached, hook, caplog):
    there = hook(500, 302)
    with caplog.at_level(logging.WARNING, "cpclean.web"):
        notifier(reached, there.url)
        until(lambda: (reached.storage.setting(SETTING) or {}).get("state") == "sent", "the end")
    assert len(there.messages) == 3
    assert len({one["id"] for one in there.messages}) == 1, "receivers can tell"
    assert "attempt 1 of 3): HTTP Error 500" in caplog.text
    assert "attempt 2 of 3): HTTP Error 302" in caplog.text, "no other address is asked"


def test_after_some_attempts_the_next_start_tries_again(reached, hook, caplog):
    there = hook(500, 500, 500)
    notifier(reached, there.url)
    until(lambda: (reached.storage.setting(SETTING) or {}).get("state") == "failed", "the end")
    assert len(there.messages) == 3
    assert "the next start tries again" in caplog.text
    notifier(reached, there.url)
    until(lambda: reached.storage.setting(SETTING)["state"] == "sent", "the end")
    assert len({one["id"] for one in there.messages}) == 1
    assert len(there.messages) == 4


def test_of_several_servers_one_tells(reached, hook):
    there = hook()
    for _ in range(5):
        notifier(reached, there.url)
    until(lambda: (reached.storage.setting(SETTING) or {}).get("state") == "sent", "a message")
    time.sleep(0.2)
    assert len(there.messages) == 1


def test_a_hook_that_never_answers_blocks_nobody(reached, monkeypatch):
    monkeypatch.setattr(notifying, "TIMEOUT_SECONDS", 0.2)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as silent:  # it listens, no more
        notifier(reached, f"http://127.0.0.1:{silent.server_port}/", waits=(0.01,))
        start = time.monotonic()
        assert reached.progress().done
        assert time.monotonic() - start < 0.15
        until(lambda: (reached.storage.setting(SETTING) or {}).get("state") == "failed", "the end")


@pytest.mark.parametrize("url", ["", "file:///etc/passwd", "localhost:9", "http://", "http://a:b/"])
def test_an_address_that_is_none(url):
    with pytest.raises(NotifyError, match="--notify needs an address"):
        checked_address(url)


@pytest.mark.slow
def test_a_server_tells_and_remembers_it_after_a_kill(shared_url, hook):
    stored(shared_url, n_dirty=2).close()
    there = hook()
    with Served(shared_url, "--notify", there.url) as server:
        with server.client() as client:
            for row in (0, 1):
                client.post("/api/skip", json={"who": "Ann", "row": row}).raise_for_status()
        until(lambda: there.messages, "a message")
        time.sleep(0.5)
        server.kill()
    with Served(shared_url, "--notify", there.url):
        time.sleep(2.5)
    assert [one["event"] for one in there.messages] in (["target reached"], ["nothing more to ask"])
