"""Pictures as SVG within a page: seen without script and in print.

Colours come from the page's style sheet (`--c1` and so on), so that they follow its light or dark
look. Nothing is told by colour alone: lines have dashes, bars have stripes and texts.
"""

from __future__ import annotations

import math
from html import escape

from cpclean.analysis.words import shortened
from cpclean.report.pictures import Bars, Curve, Grid, Lines, Picture

WIDE, NARROW = 720, 340
LETTER = 7.8  # about the width of one in a wide font of 13 pixels
DASHES = {"solid": "", "dash": "7 4", "dashdot": "9 3 2 3", "dot": "2 4"}


def drawn(picture: Picture, width: int = WIDE) -> str:
    """The picture as the text of an SVG element of this width."""
    drawing = picture.drawing
    if isinstance(drawing, Lines):
        height, inside = _lines(drawing, width)
    elif isinstance(drawing, Bars):
        height, inside = _bars(drawing, width, f"{picture.name}-{width}")
    else:
        height, inside = _grid(drawing, width)
    return (
        f'<svg viewBox="0 0 {width} {height:.0f}" width="{width}" height="{height:.0f}" role="img" '
        f'aria-label="{escape(f"{picture.title}. {picture.says}")}">{inside}</svg>'
    )


def _text(x: float, y: float, text: str, anchor: str = "start", more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{escape(text)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


# -- lines ---------------------------------------------------------------------------------


def _lines(drawing: Lines, width: int) -> tuple[float, str]:
    left, right, tall = 50, width - 18, 220 if width < WIDE else 260
    top = 14 + 20 * len(drawing.curves)
    bottom = top + tall
    last = max((curve.x[-1] for curve in drawing.curves), default=1.0)
    first = min((curve.x[0] for curve in drawing.curves), default=0.0)
    last = max(last, first + 1)

    def x(value: float) -> float:
        return left + (right - left) * (value - first) / (last - first)

    low, step = floor_and_step(drawing)

    def y(value: float) -> float:
        return bottom - tall * (value - low) / (1 - low)

    parts = []
    for number in range(round((1 - low) / step) + 1):
        at = y(low + step * number)
        parts += [_line(left, at, right, at, "rule"),
                  _text(left - 6, at + 4, f"{low + step * number:.0%}", "end")]  # fmt: skip
    for tick in whole_ticks(first, last, 4 if width < WIDE else 8):
        parts.append(_text(x(tick), bottom + 18, f"{tick:,.0f}", "middle"))
    parts.append(_text((left + right) / 2, bottom + 38, drawing.x_title, "middle"))
    for number, curve in enumerate(drawing.curves):
        at = 12 + 20 * number
        parts.append(_line(left, at, left + 30, at, _stroke(curve, number)))
        parts.append(_text(left + 38, at + 4, curve.label))
        parts.append(_path(curve, number, x, y))
    return bottom + 48, "".join(parts)


def _stroke(curve: Curve, number: int) -> str:
    return f"s{number % 4 + 1} {curve.dash}"


def _path(curve: Curve, number: int, x, y) -> str:  # type: ignore[no-untyped-def]
    points = [(x(a), y(b)) for a, b in zip(curve.x, curve.y, strict=True)]
    parts = []
    if curve.low is not None and curve.high is not None:
        there = [f"{x(a):.1f},{y(b):.1f}" for a, b in zip(curve.x, curve.high, strict=True)]
        back = [f"{x(a):.1f},{y(b):.1f}" for a, b in zip(curve.x, curve.low, strict=True)]
        edge = " ".join([*there, *reversed(back)])
        parts.append(f'<polygon class="band f{number % 4 + 1}" points="{edge}"/>')
    places = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
    parts.append(f'<polyline class="{_stroke(curve, number)}" points="{places}"/>')
    if len(points) == 1 or curve.dash == "solid":  # where it stands now
        a, b = points[-1]
        parts.append(f'<circle class="f{number % 4 + 1}" cx="{a:.1f}" cy="{b:.1f}" r="4.5"/>')
    return "".join(parts)


def floor_and_step(drawing: Lines) -> tuple[float, float]:
    """Where the upright axis begins, and the distance of its rules.

    Not from 0 where all is far above it: most of the predictions are often certain from the start.
    """
    values = [one for curve in drawing.curves for one in (*curve.y, *(curve.low or ()))]
    least = min(values, default=0.0)
    steps = {0.9: 0.02, 0.8: 0.05, 0.5: 0.1}
    return next(((low, step) for low, step in steps.items() if least > low + 0.01), (0.0, 0.2))


def whole_ticks(first: float, last: float, most: int) -> list[float]:
    """Round whole numbers from first to last, at most about so many.

    >>> whole_ticks(0, 47, 5), whole_ticks(0, 3, 8)
    ([0, 10, 20, 30, 40], [0, 1, 2, 3])
    """
    rough = max(1.0, (last - first) / most)
    size = 10 ** math.floor(math.log10(rough))
    step = next(size * by for by in (1, 2, 5, 10) if size * by >= rough)
    start = math.ceil(first / step)
    return [step * number for number in range(start, math.floor(last / step) + 1)]


# -- bars ----------------------------------------------------------------------------------


def _bars(drawing: Bars, width: int, name: str) -> tuple[float, str]:
    labels = [shortened(label) for label in drawing.labels]
    left = min(0.42 * width, 12 + LETTER * max(map(len, labels), default=0))
    labels = [shortened(label, max(4, int((left - 8) / LETTER))) for label in drawing.labels]
    right = width - 14 - LETTER * max(map(len, drawing.texts), default=0)
    shown_keys = [] if drawing.keys is None else list(drawing.keys)
    shown_keys = shown_keys if any(drawing.marked) else []
    top = 8 + (24 if shown_keys else 0) + (20 if drawing.line is not None else 0)
    step, most = 26, max([*drawing.values, *(drawing.high or ()), drawing.line or 0.0, 1e-9])

    def x(value: float) -> float:
        return left + (right - left) * value / most

    parts = [_stripes(name)]
    at = 4.0
    for number, key in enumerate(shown_keys):
        parts.append(_bar(left + 96 * number, 4, 16, 14, bool(number), name))
        parts.append(_text(left + 96 * number + 22, 16, key))
    bottom = top + step * len(labels)
    for number, (label, value, text) in enumerate(
        zip(labels, drawing.values, drawing.texts, strict=True)
    ):
        at = top + step * number
        marked = bool(drawing.marked) and drawing.marked[number]
        parts.append(_text(left - 8, at + 17, label, "end"))
        parts.append(_bar(left, at + 4, x(value) - left, step - 8, marked, name))
        end = x(value)
        if drawing.low is not None and drawing.high is not None:
            end = x(drawing.high[number])
            parts.append(_line(x(drawing.low[number]), at + 13, end, at + 13, "whisker"))
        parts.append(_text(max(end, x(value)) + 6, at + 17, text))
    parts.append(_line(left, top, left, bottom, "axis"))
    if drawing.line is not None:
        place = x(drawing.line)
        anchor = "end" if place > (left + width) / 2 else "start"
        parts.append(_line(place, top - 4, place, bottom, "mark"))
        parts.append(_text(place, top - 8, drawing.line_label, anchor))
    lines = _wrapped(drawing.x_title, int(width / LETTER))
    for number, line in enumerate(lines):
        parts.append(_text(width / 2, bottom + 22 + 17 * number, line, "middle"))
    return bottom + 16 + 17 * len(lines), "".join(parts)


def _bar(x: float, y: float, wide: float, tall: float, marked: bool, name: str) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" width="{max(wide, 0.5):.1f}" height="{tall:.1f}"'
    if not wide:
        return ""
    if not marked:
        return f'<rect class="f1" {place}/>'
    return f'<rect class="s2" fill="url(#stripes-{name})" {place}/>'


def _stripes(name: str) -> str:
    return (
        f'<defs><pattern id="stripes-{name}" width="7" height="7" patternUnits="userSpaceOnUse" '
        'patternTransform="rotate(45)"><rect class="f2" width="3" height="7"/></pattern></defs>'
    )


def _wrapped(text: str, most: int) -> list[str]:
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + len(word) + 1 > most:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


# -- a grid --------------------------------------------------------------------------------


def _grid(drawing: Grid, width: int) -> tuple[float, str]:
    names = [shortened(name, 16) for name in drawing.columns]
    beside = 14 + LETTER * max(map(len, drawing.texts), default=0)
    slant = 0.7 * LETTER * max(map(len, names), default=0) + 14
    side = min(30.0, (width - beside - min(slant, 0.25 * width)) / max(1, len(names)))
    top = 30 + slant
    parts = []
    for place, (kind, key) in enumerate(zip(("f1", "empty"), drawing.keys, strict=True)):
        parts.append(f'<rect class="{kind}" x="{8 + 96 * place}" y="4" width="14" height="14"/>')
        parts.append(_text(28 + 96 * place, 16, key))
    for at, name in enumerate(names):
        x = beside + side * (at + 0.5)
        turn = f' transform="rotate(-45 {x:.1f} {top - 6:.1f})"'
        parts.append(_text(x, top - 6, name, "start", turn))
    for number, (row, text) in enumerate(zip(drawing.full, drawing.texts, strict=True)):
        y = top + 24 * number
        parts.append(_text(beside - 8, y + 16, text, "end"))
        size = min(side, 24.0) - 4
        for at, full in enumerate(row):
            x = beside + side * (at + 0.5) - size / 2
            kind = "f1" if full else "empty"
            parts.append(
                f'<rect class="{kind}" x="{x:.1f}" y="{y + 12 - size / 2:.1f}" '
                f'width="{size:.1f}" height="{size:.1f}"/>'
            )
    return top + 24 * len(drawing.full) + 8, "".join(parts)
