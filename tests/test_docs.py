"""The Python of the documentation runs, page by page; blocks of a page build on each other."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
DATA = "../shared/data"
SLOW = {"priors.md"}  # measures the authors' spaces
PAGES = sorted((ROOT / "docs").glob("**/*.md"))


def python_blocks(text: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def runnable() -> list[object]:
    found = []
    for page in PAGES:
        if python_blocks(page.read_text("utf-8")):
            marks = [pytest.mark.slow] if page.name in SLOW else []
            found.append(pytest.param(page, id=page.name, marks=marks))
    return found


@pytest.mark.parametrize("page", runnable())
def test_blocks_of_a_page_run(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    namespace: dict[str, object] = {"__name__": "docs"}
    for code in python_blocks(page.read_text("utf-8")):
        if DATA in code and not (ROOT / DATA).is_dir():
            continue  # the page says that the data is needed
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(code, page.name, "exec"), namespace)


def test_pages_with_examples_are_found() -> None:
    assert {"cleaning.md", "priors.md"} <= {page.name for page in PAGES}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)[^)]*\)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"
