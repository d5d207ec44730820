"""Pictures as files: an SVG, a page that shows it and, where a browser can draw it, a PNG."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import tempfile
from html import escape
from pathlib import Path


def write_picture(text: str, file: Path) -> None:
    """Write an SVG text to a file, and beside it a page for a browser that shows it.

    Where a Chromium is installed it also draws a PNG.
    """
    file.write_text(text, encoding="utf-8")
    page = (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{escape(file.stem)}</title>"
        "<style>body { margin: 0 } svg { display: block; max-width: 100%; height: auto }</style>"
        f"{text}</html>\n"
    )
    file.with_suffix(".html").write_text(page, encoding="utf-8")
    _write_png(text, file)


def _write_png(text: str, file: Path) -> None:
    found = (shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome"))
    browser = next((place for place in found if place), None)
    size = re.search(r'viewBox="0 0 (\d+) (\d+)"', text)
    if browser is None or size is None:
        return
    page, picture = file.with_suffix(".html").resolve(), file.with_suffix(".png").resolve()
    # Processes of the browser may write into its folder a moment longer than it runs.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        command = [
            browser, "--headless", "--disable-gpu", "--no-first-run", "--hide-scrollbars",
            "--disable-background-networking", f"--user-data-dir={folder}",
            "--force-device-scale-factor=2", f"--screenshot={picture}",
            f"--window-size={size[1]},{size[2]}", page.as_uri(),
        ]  # fmt: skip
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            command.insert(1, "--no-sandbox")  # without it root is refused; the page is ours
        with contextlib.suppress(OSError, subprocess.SubprocessError):  # the SVG is there
            subprocess.run(command, capture_output=True, check=True, timeout=60)
