"""The picture of the progress: certain share and expected share against answers."""

from __future__ import annotations

from cpclean.report.pictures import Curve, Lines, Picture, thinned
from cpclean.web.desk.views import ProgressView
from cpclean.web.pages.wording import outlook

Points = list[tuple[int, float]]


def picture_of(progress: ProgressView) -> Picture:
    """What the page shows without script and in print."""
    curves = [_curve("certain predictions", progress.curve or [(0, progress.certain_share)])]
    if len(progress.expected) > 1:
        ahead = _curve("expected, and its range", progress.expected, "dash")
        low, high = (_shares(one, progress.expected) for one in (progress.low, progress.high))
        curves.append(Curve(ahead.label, ahead.x, ahead.y, low, high, ahead.dash))
    return Picture(
        "progress",
        "Certain predictions, row by row",
        outlook(progress),
        Lines(tuple(curves), "rows cleaned", "certain"),
    )


def _curve(label: str, points: Points, dash: str = "solid") -> Curve:
    kept = [points[at] for at in thinned(len(points))]
    x, y = tuple(float(x) for x, _ in kept), tuple(y for _, y in kept)
    return Curve(label, x, y, dash=dash, dot=dash == "solid")


def _shares(points: Points, like: Points) -> tuple[float, ...] | None:
    if len(points) != len(like):
        return None
    return tuple(points[at][1] for at in thinned(len(points)))
