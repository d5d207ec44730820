"""Settings shared by all tests."""

import gc
import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import warming
from browsers import CHROMIUM
from hypothesis import settings

# Else every process that a test starts would compile the sources anew; kernels are saved there too.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Helpers that assert: a failure shows the values there too.
pytest.register_assert_rewrite("classifier.samples", "queries.samples")

# No deadline: the first example of a test may compile a kernel. Other examples every time, but
# fewer than usual, for people wait.
settings.register_profile("default", deadline=None, max_examples=30)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Before many tests run in several processes, each kernel is compiled once."""
    config = session.config
    whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    several = not hasattr(config, "workerinput") and config.getoption("numprocesses", None)
    if whole and several and not config.option.collectonly and warming.is_cold():
        config.get_terminal_writer().line("compiling the kernels: about a minute, once")
        warming.warm_up()


# Files are handed out in this order, then as they come: the longest first, so that no worker is
# left with one at the end.
LONGEST = (
    "test_docs.py",
    "web/test_browser.py",
    "web/test_browser_looks.py",
    "report/test_browser.py",
    "cluster/test_lost_workers.py",
    "web/test_serve.py",
    "web/test_faults.py",
    "queries/test_drawn_rows.py",
    "cleaning/test_fuzz_holes.py",
    "analysis/test_new_points.py",
    "cli/test_files.py",
    "web/test_load.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    places = {f"tests/{name}": place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.nodeid.split("::")[0], len(LONGEST)))


def pytest_collection_finish() -> None:
    """What is there by now stays to the end: garbage is looked for among what comes later."""
    gc.freeze()
    gc.set_threshold(10_000)


@pytest.fixture(autouse=True)
def usual_space(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands and pages are in the plain space, as those that `plain_program` starts."""
    monkeypatch.setattr("cpclean.cli.options.USUAL_SPACE", "plain")
    if "cpclean.web.pages.drafts" in sys.modules:
        monkeypatch.setattr("cpclean.web.pages.drafts.USUAL_SPACE", "plain")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A Chromium; a module's own, for one process can hold only one at a time."""
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed to look at the page with")
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    as_root = hasattr(os, "geteuid") and os.geteuid() == 0
    with sync_api.sync_playwright() as started:
        opened = started.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox"] if as_root else []
        )
        yield opened
        opened.close()
