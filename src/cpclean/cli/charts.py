"""Curves in a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

# The mark of each line, with and without Unicode.
MARKS = "●○◆◇"
PLAIN_MARKS = "*o+x"

Line = Sequence[tuple[float, float]]


def curves(
    lines: Mapping[str, Line],
    ascii_only: bool = False,
    width: int = 60,
    height: int = 9,
    below: str = "answers",
) -> str:
    """Shares from 0 to 1 over a count, as step functions.

    Parameters
    ----------
    lines : dict from name to list of (count, share)
        In ascending order of the counts. Where two lines meet, the first one is shown.
    ascii_only : bool
    width, height : int
        Size of the plane between the axes, in characters.
    below : str
        What is counted.

    Examples
    --------
    >>> print(curves({"asked": [(0, 0.5), (4, 0.75), (10, 1.0)]}, True, width=11, height=3))
     100% |          *
      75% |    ******
      50% |****
          +-----------
           0        10 answers
           * asked
    """
    marks = PLAIN_MARKS if ascii_only else MARKS
    last = max((line[-1][0] for line in lines.values()), default=0)
    lowest = min((share for line in lines.values() for _, share in line), default=0.0)
    floor = min(int(lowest * 20) / 20, 0.95)
    plane = [[" "] * width for _ in range(height)]
    for mark, line in reversed(list(zip(marks, lines.values(), strict=False))):
        for column in range(width):
            share = _held(line, last * column / (width - 1))
            level = round((share - floor) / (1 - floor) * (height - 1))
            plane[height - 1 - level][column] = mark
    side, corner, flat = ("|", "+", "-") if ascii_only else ("│", "└", "─")
    drawn = [
        f"{_tick(place, height, floor):>5} {side}{''.join(row).rstrip()}"
        for place, row in enumerate(plane)
    ]
    drawn.append(f"      {corner}{flat * width}")
    drawn.append(f"       0{last:>{width - 1}g} {below}")
    drawn.append("       " + "   ".join(map(" ".join, zip(marks, lines, strict=False))))
    return "\n".join(drawn)


def _held(line: Line, at: float) -> float:
    """The share of the last point at or before a place."""
    return [share for count, share in line if count <= at + 1e-9][-1]


def _tick(place: int, height: int, floor: float) -> str:
    """A number beside the top, the middle and the bottom."""
    if place not in (0, (height - 1) // 2, height - 1):
        return ""
    return f"{1 - place / (height - 1) * (1 - floor):.0%}"
