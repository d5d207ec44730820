"""The picture of the progress: settled, certain and expected shares against answers."""

from __future__ import annotations

import numpy as np

from cpclean.analysis.certain_words import level_words
from cpclean.report.pictures import Curve, Lines, Picture, thinned
from cpclean.web.desk.views import ProgressView
from cpclean.web.pages.wording import outlook

Points = list[tuple[int, float]]


def picture_of(progress: ProgressView) -> Picture:
    """What the page shows without script and in print."""
    settled = "settled" if progress.until_sure else "certain"
    curves = [_curve(f"{settled} predictions", progress.curve or [(0, progress.settled_share)])]
    if len(progress.expected) > 1:
        ahead = _curve("expected, and its range", progress.expected, "dash")
        low, high = (_shares(one, progress.expected) for one in (progress.low, progress.high))
        curves.append(Curve(ahead.label, ahead.x, ahead.y, low, high, ahead.dash))
    if len(progress.sure_curve) > 1:
        curves += _bands(progress)
    return Picture(
        "progress",
        f"{settled.capitalize()} predictions, row by row",
        outlook(progress),
        Lines(tuple(curves), "rows cleaned", settled),
    )


def _bands(progress: ProgressView) -> list[Curve]:
    """What is certain, down to 0; what is sure besides; above it, what is open."""
    certain = _curve("certain", progress.certain_curve, "dot")
    none = tuple(0.0 for _ in certain.y)
    sure = _curve(f"{level_words(progress.sure_level)} (band); above: open", progress.sure_curve)
    below = tuple(np.interp(sure.x, certain.x, certain.y).tolist())
    return [
        Curve(certain.label, certain.x, certain.y, none, certain.y, certain.dash),
        Curve(sure.label, sure.x, sure.y, below, sure.y, "dot"),
    ]


def _curve(label: str, points: Points, dash: str = "solid") -> Curve:
    kept = [points[at] for at in thinned(len(points))]
    x, y = tuple(float(x) for x, _ in kept), tuple(y for _, y in kept)
    return Curve(label, x, y, dash=dash, dot=dash == "solid")


def _shares(points: Points, like: Points) -> tuple[float, ...] | None:
    if len(points) != len(like):
        return None
    return tuple(points[at][1] for at in thinned(len(points)))
