"""A real server in a process of its own, and a real browser to visit it with."""

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import plain_program
import pytest
from browsers import CHROMIUM
from waiting import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
TOKEN = "a-token-for-tests"
# What a page must never do with text that comes from people.
XSS = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"

needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")


def write_table(path: Path, n_rows: int = 90, seed: int = 0, **names: str) -> Path:
    """A table of people with holes: one numeric column alone, one together with a category."""
    rng = np.random.default_rng(seed)
    age, income = names.get("age", "age"), names.get("income", "income")
    rows = [f"{_quoted(age)},{_quoted(income)},city,buys"]
    for number in range(n_rows):
        buys = rng.random() < 0.5
        years = f"{rng.normal(52 if buys else 41, 9):.0f}" if number % 6 != 1 else ""
        money = f"{rng.normal(3000 if buys else 2400, 450):.0f}"
        city = names.get("city", "Rome") if rng.random() < 0.5 else "Oslo"
        city = "" if number % 12 == 1 else city
        rows.append(f"{years},{money},{_quoted(city)},{'yes' if buys else 'no'}")
    path.write_text("\n".join(rows) + "\n")
    return path


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


@dataclass
class Server:
    """A server process, and where it is."""

    process: subprocess.Popen[str]
    address: str = ""
    said: list[str] = field(default_factory=list)

    def url(self, path: str = "/") -> str:
        return f"{self.address}{path}"

    @property
    def entrance(self) -> str:
        return self.url(f"/?token={TOKEN}")

    @property
    def port(self) -> int:
        return int(self.address.rsplit(":", 1)[1])


@contextmanager
def serving(folder: Path, *arguments: str, port: int = 0, token: str = TOKEN) -> Iterator[Server]:
    """`cpclean serve` in a folder, until the end of the block."""
    command = [
        sys.executable, "-c", plain_program.PAGE_CODE, "serve", *arguments,
        "--no-browser", "--port", str(port), "--token", token,
    ]  # fmt: skip
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    process = subprocess.Popen(
        command, cwd=folder, env={**os.environ, "PYTHONPATH": path, "COLUMNS": "200"}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    server = Server(process)
    listening = threading.Event()

    def read() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            server.said.append(line)
            if found := re.search(r"http://[^\s/]+", line):
                server.address = found[0]
                listening.set()
        listening.set()

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        assert listening.wait(PATIENCE), "the server did not say where it is"
        assert server.address, "".join(server.said)
        yield server
    finally:
        process.terminate()
        process.wait(PATIENCE)
        reader.join(PATIENCE)
        if process.stdout is not None:
            process.stdout.close()


class Visit:
    """One person's browser window; what goes wrong in it is kept in `troubles`."""

    def __init__(self, browser: Any, server: Server, **options: Any) -> None:
        self.context = browser.new_context(
            **{"viewport": {"width": 1280, "height": 860}, **options}
        )
        self.context.set_default_timeout(1000 * PATIENCE)
        self.server, self.troubles = server, []
        self.page = self.context.new_page()
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on("console", self._noted)

    def _noted(self, message: Any) -> None:
        # The browser remarks on refused forms, and on servers that have gone.
        expected = "status of 4" in message.text or "net::ERR_" in message.text
        if message.type == "error" and not expected:
            self.troubles.append(message.text)

    def begin(self, name: str) -> Any:
        """Come in with the token, say a name, and get the first question."""
        self.page.goto(self.server.entrance)
        self._say(name)
        self.ready()
        return self.page

    def _say(self, name: str) -> None:
        """Say a name, also one that was in use in another visit."""
        self.page.fill("#who", name)
        self.page.press("#who", "Enter")
        self.page.locator("[name=same], body[data-page=question]").first.wait_for()
        if self.page.locator("[name=same]").count():
            self.page.click("[name=same]")
        self.page.wait_for_url("**/question*")

    def ready(self) -> None:
        """Wait for the first look of the engine: until then there is no question."""
        end = time.monotonic() + PATIENCE
        there = self.page.locator("#asked, .end h1:not(:text-is('One moment'))")
        while not there.count():
            assert time.monotonic() < end, "the engine has no first look"
            self.page.wait_for_timeout(50)
        self.page.wait_for_load_state("load")

    def go(self, path: str) -> Any:
        """Go to a page; again if the one before loads itself anew in that moment, as it may."""
        from playwright.sync_api import Error

        for attempt in range(5):
            try:
                self.page.goto(self.server.url(path))
                break
            except Error as interrupted:
                # Chromium says the one or the other, depending on which navigation came first.
                other = ("interrupted by another navigation", "net::ERR_ABORTED")
                if attempt == 4 or not any(words in interrupted.message for words in other):
                    raise
                self.page.wait_for_load_state("load")
        return self.page

    def rename(self, name: str) -> None:
        """Go on as somebody else."""
        self.go("/name")
        self._say(name)

    def open_single(self) -> int:
        """Open the best row that lacks its age alone; its number."""
        self.go("/rows?search=age")
        self.page.locator("tbody tr", has_not_text="city").first.locator("a.button").click()
        self.page.wait_for_url("**/question?row=*")
        return self.row

    @property
    def row(self) -> int:
        """The row that is asked for, as people number it."""
        found = re.match(r"Row (\d+)", self.page.locator(".where").inner_text())
        assert found, self.page.locator(".where").inner_text()
        return int(found[1])

    def answer(self) -> int:
        """Answer with the least number so far, of categories the first; the row it was about."""
        row = self.row
        with self.page.expect_navigation(url="**/question?saved=*"):
            for one in self.page.locator(".hole-field").all():
                listed = one.locator("datalist option")
                if one.locator(".chips").count():
                    one.locator(".chips input[type=radio]").first.check()
                else:
                    seen = re.search(r"so far from (\S+) to", one.locator(".hint").inner_text())
                    first = listed.first.get_attribute("value") if listed.count() else ""
                    one.locator(".with-unit input").fill(seen[1] if seen else first)
            self.page.click("[data-act=save]")
        return row
