"""Where a Chromium is, and how to wait for a page in it."""

from __future__ import annotations

import shutil
import time
from typing import Any

from waiting import PATIENCE

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)


def until(page: Any, script: str, arg: Any = None) -> None:
    """Wait until a script is true of a page.

    Playwright's own wait evaluates the script within the page, which pages that forbid
    `eval` refuse from the second look on.
    """
    end = time.monotonic() + PATIENCE
    while not page.evaluate(script, arg):
        assert time.monotonic() < end, f"not within {PATIENCE:g} s: {script}"
        page.wait_for_timeout(50)
