"""The widget where people use it: in JupyterLab, in a real browser, with a kernel behind it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from browsers import CHROMIUM
from waiting import PATIENCE, until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed"),
]

ROOT = Path(__file__).resolve().parents[2]
TOKEN = "a-token-for-tests"
PLANTED = "<img src=x onerror=a()>"
FIRST = f"""
import pandas as pd
from cpclean import CleaningSession, IncompleteTable
frame = pd.DataFrame(
    {{
        "age": [20.0, None, 35, 60, 18, 65, 40, 50],
        "city": ["Oslo", "Rome", {PLANTED!r}, None, "Oslo", "Rome", "Oslo", "Rome"],
        "buys": ["no", "no", "yes", "yes", "no", "yes", "no", "yes"],
    }},
    index=list("abcdefgh"),
)
points = pd.DataFrame(
    {{"age": [33, 58, 28, 28, 52], "city": ["Rome", "Oslo", "Oslo", "Rome", frame["city"].iloc[2]]}}
)
session = CleaningSession(IncompleteTable(frame, label="buys"), points, n_neighbors=1)
session.widget()
"""
SECOND = "print('known:', sorted(session.known.items()), len(session.answers), sep='|')"


@pytest.fixture(scope="module")
def lab(tmp_path_factory) -> Iterator[str]:
    """The address of a JupyterLab on loopback, with a notebook of two cells."""
    jupyterlab = pytest.importorskip("jupyterlab")
    folder = tmp_path_factory.mktemp("lab")
    cells = [
        {"cell_type": "code", "id": f"cell-{number}", "metadata": {}, "outputs": [],
         "execution_count": None, "source": source.strip()}
        for number, source in enumerate((FIRST, SECOND))
    ]  # fmt: skip
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    book = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    (folder / "try.ipynb").write_text(json.dumps(book))
    # Its pages and the script of anywidget, wherever the packages are installed.
    share = Path(jupyterlab.__file__).parents[4] / "share" / "jupyter"
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]),
        "JUPYTER_PATH": str(share),
        "JUPYTERLAB_DIR": str(share / "lab"),
        **{name: str(folder / name.lower()) for name in (
            "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR",
            "JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR",
        )},
    }  # fmt: skip
    no_news = folder / "jupyterlab_settings_dir" / "@jupyterlab" / "apputils-extension"
    no_news.mkdir(parents=True)
    (no_news / "notification.jupyterlab-settings").write_text('{"fetchNews": "false"}')
    with (folder / "said.txt").open("w") as said:
        process = subprocess.Popen(
            [
                sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root",
                "--ServerApp.ip=127.0.0.1", "--ServerApp.port=0", "--IdentityProvider.token", TOKEN,
                f"--ServerApp.root_dir={folder}", "--LabApp.extension_manager=readonly",
            ],
            cwd=folder, env=env, stdout=said, stderr=subprocess.STDOUT,
        )  # fmt: skip
    try:
        runtime = folder / "jupyter_runtime_dir"
        found: list[Path] = []

        def is_up() -> bool:
            assert process.poll() is None, (folder / "said.txt").read_text()
            found[:] = runtime.glob("jpserver-*.json")
            return bool(found)

        until(is_up, "a JupyterLab", pause=0.1)
        yield json.loads(found[0].read_text())["url"]
    finally:
        process.terminate()  # it ends its kernels, too
        process.wait(PATIENCE)


def run(page, number: int) -> None:
    """Run a cell of the notebook; while its kernel is starting, JupyterLab may ignore that."""
    prompt = page.locator(".jp-CodeCell .jp-InputPrompt").nth(number)

    def begun() -> bool:
        page.locator(".jp-CodeCell .cm-content").nth(number).click()
        page.keyboard.press("Control+Enter")
        page.wait_for_timeout(500)
        return prompt.inner_text() != "[ ]:"

    until(begun, "a run")


def test_answers_in_the_widget_are_seen_by_the_next_cell(lab, chromium):
    context = chromium.new_context()
    page = context.new_page()
    page.set_default_timeout(1000 * PATIENCE)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    try:
        page.goto(f"{lab}lab/tree/try.ipynb?token={TOKEN}&reset")
        page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]").wait_for()
        run(page, 0)
        widget = page.locator(".cpc")
        widget.wait_for()
        assert "0 answers so far, 2 rows left to ask about" in widget.inner_text()
        assert "Row 1, in the frame: b" in widget.inner_text()
        assert "What is age?" in widget.inner_text()
        # A mistake stays beside its field; keys typed here are no commands of the notebook.
        field = widget.get_by_role("textbox", name="age")
        field.fill("")
        field.press_sequentially("ddaa")
        field.press("Enter")
        widget.get_by_text("takes a number, such as 41 or 0.5; got 'ddaa'").wait_for()
        assert page.locator(".jp-CodeCell").count() == 2
        assert field.input_value() == "ddaa"
        field.fill("41")
        field.press("Enter")
        widget.get_by_text("Saved: row 1 (in the frame: b), age = 41.").wait_for()
        # The next question is about a category, which is chosen; text of the table is text.
        assert "What is city?" in widget.inner_text()
        widget.get_by_label(PLANTED).check()
        assert widget.locator("img").count() == 0
        widget.get_by_label("Rome").check()
        if folder := os.environ.get("CPCLEAN_SCREENSHOTS"):
            Path(folder).mkdir(parents=True, exist_ok=True)
            page.screenshot(path=Path(folder) / "widget.png")
        widget.get_by_role("button", name="Save").click()
        widget.get_by_text("There is nothing more to ask").wait_for()
        widget.get_by_role("button", name="Undo the last answer").click()
        widget.get_by_text("Undone: row 3").wait_for()
        widget.get_by_role("button", name="I don’t know").click()
        widget.get_by_text("Not asked again: row 3").wait_for()
        run(page, 1)
        output = page.locator(".jp-CodeCell").nth(1).locator(".jp-OutputArea-output")
        output.wait_for()
        assert output.inner_text().strip() == "known:|[(1, {'age': 41.0})]|2"
        assert [url for url in asked if not url.startswith((lab, "data:", "blob:"))] == []
    finally:
        context.close()
