"""Where axes begin and end, and where their ticks are."""

from __future__ import annotations

import math

from cpclean.report.pictures import Lines


def across_axis(drawing: Lines) -> tuple[float, float]:
    """Where the axis across begins and ends."""
    first = min((curve.x[0] for curve in drawing.curves), default=0.0)
    least = 0.0 if drawing.x_percent else 1.0  # the width of an axis with nothing on it
    return first, max([first + least, *(curve.x[-1] for curve in drawing.curves)])


def across_ticks(drawing: Lines, most: int) -> list[tuple[float, str]]:
    """Places on the axis across, and what is written below them."""
    first, last = across_axis(drawing)
    if drawing.x_percent:
        # Whole numbers of percent are round shares.
        return [(tick / 100, f"{tick:.0f}%") for tick in whole_ticks(100 * first, 100 * last, most)]
    return [(tick, f"{tick:,.0f}") for tick in whole_ticks(first, last, most)]


def share_axis(drawing: Lines) -> tuple[float, float, float]:
    """Where the upright axis begins and ends, and the distance of its rules.

    Not from 0 where all is far above it: most of the predictions are often certain from the start.
    Beyond 0 and 1 in whole steps, where shares are.
    """
    values = [
        one
        for curve in drawing.curves
        for one in (*curve.y, *(curve.low or ()), *(curve.high or ()))
    ]
    least, most = min(values, default=0.0), max(values, default=1.0)
    if least >= 0 and most <= 1:
        steps = {} if drawing.from_zero else {0.9: 0.02, 0.8: 0.05, 0.5: 0.1}
        low = next((low for low in steps if least > low + 0.01), 0.0)
        return low, 1.0, steps.get(low, 0.2)
    low, high = min(0.0, least), max(1.0, most)
    step = 0.2 if high - low <= 1.6 else 0.5 if high - low <= 4 else 2.0
    return step * math.floor(low / step), step * math.ceil(high / step), step


def whole_ticks(first: float, last: float, most: int) -> list[float]:
    """Round whole numbers from first to last, at most about `most` of them.

    >>> whole_ticks(0, 47, 5), whole_ticks(0, 3, 8)
    ([0, 10, 20, 30, 40], [0, 1, 2, 3])
    """
    rough = max(1.0, (last - first) / most)
    size = 10 ** math.floor(math.log10(rough))
    step = next(size * by for by in (1, 2, 5, 10) if size * by >= rough)
    start = math.ceil(first / step)
    return [step * number for number in range(start, math.floor(last / step) + 1)]
