"""How one thing is said to a programmer, in a terminal and on the page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Saying:
    """How a note is said.

    Every part is a format: `{column}` and `{rows}` are the note's, the rest are its values. "sh"
    quotes a value for a shell, "row|rows" puts one of two nouns behind a number.

    Parameters
    ----------
    what : str
        What there is to say.
    python, terminal, page : str
        What each reader can do about it; "" where there is nothing.
    page_what : str
        What to say on the page instead of `what`.
    points : str
        What can be done on the page if it is about the second file, with rows to predict.
    field : str, optional
        The choice that it is about, by its name in `Choices`.
    """

    what: str
    python: str = ""
    terminal: str = ""
    page: str = ""
    page_what: str = ""
    points: str = ""
    field: str | None = None


def everywhere(what: str, way_out: str = "", **more: Any) -> Saying:
    """What is said, with the same way out for every reader."""
    return Saying(what, way_out, way_out, way_out, **more)
