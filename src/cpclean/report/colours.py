"""The colours of pictures, read from the style sheet that pages have them from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


@cache
def colours(dark: bool = False) -> Mapping[str, str]:
    """Name -> colour, of the light or of the dark look.

    >>> colours()["paper"], colours(dark=True)["paper"]
    ('#ffffff', '#161b22')
    """
    light, _, other = _sheet("colours.css").partition("@media")
    return dict(re.findall(r"--(\w+): (#\w+);", other if dark else light))


@cache
def drawing_style() -> str:
    """The style sheet of drawings with the light colours written out: files know no variables."""
    known = colours()
    return re.sub(r"var\(--(\w+)\)", lambda found: known[found[1]], _sheet("svg.css"))


def _sheet(name: str) -> str:
    return (files("cpclean.report") / "templates" / name).read_text("utf-8")
