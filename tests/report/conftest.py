"""A session over a small table, and a browser to look at pages with."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from report.samples import frames

from cpclean import CleaningSession, IncompleteTable


@pytest.fixture(scope="module")
def tables() -> tuple[Any, Any, Any]:
    return frames()


@pytest.fixture
def session(tables: tuple[Any, Any, Any]) -> CleaningSession:
    dirty, _, val = tables
    table = IncompleteTable(dirty, label="buys")
    return CleaningSession(table, val, y_val=val["buys"].to_numpy())


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    found = (shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome"))
    place = next((one for one in found if one), None)
    if place is None:
        pytest.skip("no Chromium is installed to look at the page with")
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    as_root = hasattr(os, "geteuid") and os.geteuid() == 0
    with sync_api.sync_playwright() as started:
        opened = started.chromium.launch(
            executable_path=place, args=["--no-sandbox"] if as_root else []
        )
        yield opened
        opened.close()
