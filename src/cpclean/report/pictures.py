"""What a picture shows, described once.

A picture is drawn three times: as SVG (`drawn`), which needs no script; as a Plotly figure
(`figures`); and as a table of its numbers, for those who cannot see it. All three come from here,
so that they cannot differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Numbers = tuple[float, ...]
DASHES = ("solid", "dash", "dashdot", "dot")


@dataclass(frozen=True)
class Curve:
    """A line through points, and a band around it; curves differ by colour and by dashes.

    `dot` marks where it ends: that is where things stand now.
    """

    label: str
    x: Numbers
    y: Numbers
    low: Numbers | None = None
    high: Numbers | None = None
    dash: str = "solid"  # one of DASHES
    dot: bool = False


@dataclass(frozen=True)
class Lines:
    """Curves over common axes; y is a share, as a rule from 0 to 1, and x a number or a share.

    Where all shares are large, the upright axis begins above 0, unless it is to be `from_zero`.
    """

    curves: tuple[Curve, ...]
    x_title: str
    y_title: str
    x_percent: bool = False
    from_zero: bool = False


@dataclass(frozen=True)
class Bars:
    """Bars from left to right, one below the other.

    `marked` bars are filled with stripes; `keys` says what plain and marked bars are. `line` is an
    upright line to compare with. `low` and `high` are the ends of thin lines across the bars.
    """

    labels: tuple[str, ...]
    values: Numbers
    texts: tuple[str, ...]  # beside each bar
    x_title: str
    percent: bool = False
    marked: tuple[bool, ...] = ()
    keys: tuple[str, str] | None = None
    line: float | None = None
    line_label: str = ""
    low: Numbers | None = None
    high: Numbers | None = None


@dataclass(frozen=True)
class Grid:
    """Squares in rows and columns, full or empty, and a text beside each row."""

    columns: tuple[str, ...]
    full: tuple[tuple[bool, ...], ...]
    texts: tuple[str, ...]
    keys: tuple[str, str]  # what full and empty squares are


@dataclass(frozen=True)
class Picture:
    """A drawing, its title, what it says in a sentence, and its numbers as a table."""

    name: str
    title: str
    says: str
    drawing: Lines | Bars | Grid
    headers: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


def thinned(size: int, most: int = 200) -> list[int]:
    """At most `most` of `size` places, evenly spread, both ends included.

    >>> thinned(3), thinned(10, 4)
    ([0, 1, 2], [0, 3, 6, 9])
    """
    if size <= most:
        return list(range(size))
    return sorted({round(number * (size - 1) / (most - 1)) for number in range(most)})


def picked(values: Sequence[Any], places: Sequence[int]) -> tuple[Any, ...]:
    """Some of the values."""
    return tuple(values[place] for place in places)
