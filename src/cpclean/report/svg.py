"""Line charts as small SVG files: a picture that any page or viewer shows, without a library."""

from __future__ import annotations

import contextlib
import math
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

WIDTH, HEIGHT = 460, 300
LEFT, TOP, RIGHT, BOTTOM = 48, 52, 22, 44
COLOURS = ("#0b6e99", "#c2570c", "#5b8c2a", "#8a4fb0")


@dataclass(frozen=True)
class Line:
    """A line through points; spread is a lower and an upper edge around it."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    spread: tuple[Any, Any] | None = None
    dashed: bool = False


@dataclass(frozen=True)
class Panel:
    """Lines over common axes; x runs from 0 to 1."""

    title: str
    lines: Sequence[Line]


def chart(title: str, x_title: str, panels: Sequence[Panel]) -> str:
    """The panels side by side, as the text of an SVG file."""
    width = WIDTH * len(panels)
    height = HEIGHT + 18 * max(len(panel.lines) for panel in panels)
    parts = [_panel(panel, x_title, number * WIDTH) for number, panel in enumerate(panels)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'font-family="sans-serif" font-size="12" fill="#222"><title>{escape(title)}</title>'
        f'<rect width="{width}" height="{height}" fill="#fff"/>'
        f'<text x="12" y="20" font-size="15" font-weight="bold">{escape(title)}</text>'
        f"{''.join(parts)}</svg>\n"
    )


def write_chart(text: str, file: Path) -> None:
    """Write an SVG text to a file, and beside it a page for a browser that shows it.

    Where a Chromium is installed it also draws a PNG.
    """
    file.write_text(text, encoding="utf-8")
    page = (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{escape(file.stem)}</title><style>body {{ margin: 0 }}</style>{text}</html>\n"
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
    with tempfile.TemporaryDirectory() as folder:
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


def _panel(panel: Panel, x_title: str, shift: int) -> str:
    low, high, step = _limits(panel)
    wide, tall = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def x(value: float) -> float:
        return shift + LEFT + wide * value

    def y(value: float) -> float:
        return TOP + tall * (high - value) / (high - low)

    parts = [f'<text x="{x(0)}" y="{TOP - 12}">{escape(panel.title)}</text>']
    for number in range(round((high - low) / step) + 1):
        value = low + step * number
        parts.append(
            f'<line x1="{x(0)}" x2="{x(1)}" y1="{y(value):.1f}" y2="{y(value):.1f}" '
            f'stroke="#ddd"/><text x="{x(0) - 6}" y="{y(value) + 4:.1f}" '
            f'text-anchor="end">{value:.0%}</text>'
        )
    for number in range(6):
        parts.append(
            f'<text x="{x(number / 5):.1f}" y="{TOP + tall + 16}" '
            f'text-anchor="middle">{number / 5:.0%}</text>'
        )
    middle, under = x(0.5), TOP + tall + 34
    parts.append(f'<text x="{middle}" y="{under}" text-anchor="middle">{escape(x_title)}</text>')
    for number, line in enumerate(panel.lines):
        colour = COLOURS[number % len(COLOURS)]
        if line.spread is not None:
            there = [f"{x(a):.1f},{y(b):.1f}" for a, b in zip(line.x, line.spread[1], strict=True)]
            back = [f"{x(a):.1f},{y(b):.1f}" for a, b in zip(line.x, line.spread[0], strict=True)]
            edge = " ".join([*there, *reversed(back)])
            parts.append(f'<polygon points="{edge}" fill="{colour}" fill-opacity="0.15"/>')
        path = " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in zip(line.x, line.y, strict=True))
        dashes = ' stroke-dasharray="6 3"' if line.dashed else ""
        stroke = f'fill="none" stroke="{colour}" stroke-width="2"{dashes}'
        parts.append(f'<polyline points="{path}" {stroke}/>')
        at = HEIGHT + 10 + 18 * number
        parts.append(f'<line x1="{x(0)}" x2="{x(0) + 24}" y1="{at}" y2="{at}" {stroke}/>')
        parts.append(f'<text x="{x(0) + 32}" y="{at + 4}">{escape(line.label)}</text>')
    return "".join(parts)


def _limits(panel: Panel) -> tuple[float, float, float]:
    """From 0 to 1, or beyond in whole steps; and the step."""
    values = [value for line in panel.lines for value in line.y]
    edges = [line.spread for line in panel.lines if line.spread is not None]
    values += [float(value) for low, high in edges for side in (low, high) for value in side]
    low, high = min(0.0, *values), max(1.0, *values)
    step = 0.2 if high - low <= 1.6 else 0.5 if high - low <= 4 else 2.0
    return step * math.floor(low / step), step * math.ceil(high / step), step
