"""Take the picture of the page of `cpclean serve --demo` after a few answers.

    python docs/pictures/shoot.py

writes page.png beside this file. It needs Debian's chromium and the package playwright.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

HERE = Path(__file__).parent
TOKEN = "a-token-for-a-picture"
ANSWERS = 4


def main() -> None:
    """Serve, answer, take the picture."""
    command = ["cpclean", "serve", "--demo", "--no-browser", "--port", "0"]
    env = os.environ | {"CPCLEAN_TOKEN": TOKEN}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as server:
        try:
            assert server.stdout is not None
            found = re.search(r"http\S+", server.stdout.readline())
            assert found is not None, "the server did not start"
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(
                    executable_path="/usr/bin/chromium", args=["--no-sandbox"]
                )
                page = browser.new_page(
                    viewport={"width": 1100, "height": 770}, color_scheme="light"
                )
                shoot(page, found[0])
                browser.close()
        finally:
            server.terminate()


def shoot(page: Page, address: str) -> None:
    """Answer some questions from the paper records, and take a picture of the next one."""
    page.goto(address)
    page.get_by_label("Your name").fill("Ada")
    page.keyboard.press("Enter")
    for _ in range(ANSWERS):
        page.wait_for_url("**/question*")
        page.locator("#answer").wait_for()
        before = page.locator(".where").inner_text()
        for one in page.locator(".drawer .wanted").all():
            name, value = one.locator("dt").text_content(), one.locator("dd").text_content()
            if "blot" not in (value or ""):
                page.get_by_label(name or "", exact=True).fill(value or "")
        page.click("[data-act=save]")
        while page.locator(".where").inner_text() == before:
            page.wait_for_timeout(50)
    time.sleep(1)  # what the candidates settle is worked out
    page.goto(re.sub(r"/\?.*", "/question", address))
    page.click(".drawer summary")
    page.mouse.move(0, 0)
    page.screenshot(path=HERE / "page.png")


if __name__ == "__main__":
    main()
