"""Pictures as SVG: within a page they need no script, and in a file no page.

Colours come from classes (`s1`, `f1` and so on; see ``templates/svg.css``), so that they follow the
light or dark look of a page. No information is in the colour alone: lines have dashes, bars have
stripes and texts.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence

from cpclean.analysis.words import shortened
from cpclean.report.axes import across_axis, across_ticks, share_axis
from cpclean.report.colours import colours, drawing_style
from cpclean.report.pictures import Bars, Curve, Grid, Lines, Picture
from cpclean.report.svg import Place, Sheet

WIDE, NARROW = 720, 340
PANEL = 460  # the width of one of several pictures side by side
LETTER = 7.8  # about the width of one in a wide font of 13 pixels


def drawn(picture: Picture, width: int = WIDE) -> str:
    """The picture as an SVG element of this width, for a page."""
    drawing, sheet = picture.drawing, Sheet()
    if isinstance(drawing, Lines):
        height = _lines(sheet, drawing, width, len(drawing.curves))
    elif isinstance(drawing, Bars):
        height = _bars(sheet, drawing, width, f"{picture.name}-{width}")
    else:
        height = _grid(sheet, drawing, width)
    return sheet.embedded(width, round(height), f"{picture.title}. {picture.says}")


def side_by_side(title: str, pictures: Sequence[Picture]) -> str:
    """Pictures of lines as the text of one SVG file.

    Examples
    --------
    >>> line = Curve("so far", (0.0, 1.0), (0.2, 0.6))
    >>> picture = Picture("certain", "certain", "", Lines((line,), "answers", "certain"))
    >>> side_by_side("Bank", [picture, picture])[:61]
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 920 364"'
    """
    panels = [(one.title, one.drawing) for one in pictures if isinstance(one.drawing, Lines)]
    legend = max((len(drawing.curves) for _, drawing in panels), default=0)
    sheet, height = Sheet(), 0.0
    sheet.text(12, 24, title, class_="title")
    for number, (name, drawing) in enumerate(panels):
        sheet.text(PANEL * number + LEFT, 50, name)
        height = _lines(sheet, drawing, PANEL, legend, PANEL * number, 62)
    look = colours()
    return sheet.alone(
        PANEL * len(panels), height, title, style=drawing_style(), ground={"fill": look["paper"]},
        font_family="sans-serif", font_size="13px", fill=look["ink"],
    )  # fmt: skip


# -- lines ---------------------------------------------------------------------------------

LEFT = 50  # beside the plot, for the numbers of the upright axis


def _lines(
    sheet: Sheet, drawing: Lines, width: int, legend: int, shift: float = 0, down: float = 0
) -> float:
    """Draw curves below a legend with room for `legend` lines; returns the height."""
    left, right, tall = shift + LEFT, shift + width - 22, 260 if width >= WIDE else 220
    top = down + 14 + 20 * legend
    bottom = top + tall
    (first, last), (low, high, step) = across_axis(drawing), share_axis(drawing)

    def x(value: float) -> float:
        return left + (right - left) * (value - first) / (last - first)

    def y(value: float) -> float:
        return bottom - tall * (value - low) / (high - low)

    for number in range(round((high - low) / step) + 1):
        at = y(low + step * number)
        sheet.line(left, at, right, at, class_="rule")
        sheet.text(left - 6, at + 4, f"{low + step * number:.0%}", text_anchor="end")
    for tick, text in across_ticks(drawing, width // 70):
        sheet.text(x(tick), bottom + 18, text, text_anchor="middle")
    sheet.text((left + right) / 2, bottom + 38, drawing.x_title, text_anchor="middle")
    for number, curve in enumerate(drawing.curves):
        at, stroke = down + 12 + 20 * number, f"s{number % 4 + 1} {curve.dash}"
        sheet.line(left, at, left + 30, at, class_=stroke)
        sheet.text(left + 38, at + 4, curve.label)
        _curve(sheet, curve, stroke, f"f{number % 4 + 1}", x, y)
    return bottom + 48


def _curve(
    sheet: Sheet,
    curve: Curve,
    stroke: str,
    fill: str,
    x: Callable[[float], float],
    y: Callable[[float], float],
) -> None:
    def places(shares: Sequence[float]) -> list[tuple[float, float]]:
        return [(x(a), y(b)) for a, b in zip(curve.x, shares, strict=True)]

    if curve.low is not None and curve.high is not None:
        edge = [*places(curve.high), *reversed(places(curve.low))]
        sheet.polygon(edge, class_=f"band {fill}")
    sheet.polyline(places(curve.y), class_=stroke)
    if curve.dot or len(curve.x) == 1:
        sheet.circle(*places(curve.y)[-1], 4.5, class_=fill)


# -- bars ----------------------------------------------------------------------------------


def _bars(sheet: Sheet, drawing: Bars, width: int, name: str) -> float:
    labels = [shortened(label) for label in drawing.labels]
    left = min(0.42 * width, 12 + LETTER * max(map(len, labels), default=0))
    labels = [shortened(label, max(4, int((left - 8) / LETTER))) for label in drawing.labels]
    right = width - 14 - LETTER * max(map(len, drawing.texts), default=0)
    keys = list(drawing.keys) if drawing.keys is not None and any(drawing.marked) else []
    top = 8 + (24 if keys else 0) + (20 if drawing.line is not None else 0)
    step, most = 26, max([*drawing.values, *(drawing.high or ()), drawing.line or 0.0, 1e-9])

    def x(value: float) -> float:
        return left + (right - left) * value / most

    sheet.stripes(f"stripes-{name}", 7, 3, class_="f2")
    for number, key in enumerate(keys):
        _bar(sheet, (left + 96 * number, 4), (16, 14), name if number else None)
        sheet.text(left + 96 * number + 22, 16, key)
    bottom = top + step * len(labels)
    for number, (label, value, text) in enumerate(
        zip(labels, drawing.values, drawing.texts, strict=True)
    ):
        at, end = top + step * number, x(value)
        marked = bool(drawing.marked) and drawing.marked[number]
        sheet.text(left - 8, at + 17, label, text_anchor="end")
        if value:
            size = (max(end - left, 0.5), step - 8)
            _bar(sheet, (left, at + 4), size, name if marked else None)
        if drawing.low is not None and drawing.high is not None:
            whisker = x(drawing.high[number])
            sheet.line(x(drawing.low[number]), at + 13, whisker, at + 13, class_="whisker")
            end = max(end, whisker)
        sheet.text(end + 6, at + 17, text)
    sheet.line(left, top, left, bottom, class_="axis")
    if drawing.line is not None:
        place = x(drawing.line)
        anchor = "end" if place > (left + width) / 2 else "start"
        sheet.line(place, top - 4, place, bottom, class_="mark")
        sheet.text(place, top - 8, drawing.line_label, text_anchor=anchor)
    lines = textwrap.wrap(drawing.x_title, int(width / LETTER))
    for number, line in enumerate(lines):
        sheet.text(width / 2, bottom + 22 + 17 * number, line, text_anchor="middle")
    return bottom + 16 + 17 * len(lines)


def _bar(sheet: Sheet, place: Place, size: Place, stripes: str | None) -> None:
    """One bar, plain or with stripes."""
    if stripes is None:
        sheet.box(*place, *size, class_="f1")
    else:
        sheet.box(*place, *size, class_="s2", fill=f"url(#stripes-{stripes})")


# -- a grid --------------------------------------------------------------------------------


def _grid(sheet: Sheet, drawing: Grid, width: int) -> float:
    names = [shortened(name, 16) for name in drawing.columns]
    beside = 14 + LETTER * max(map(len, drawing.texts), default=0)
    slant = 0.7 * LETTER * max(map(len, names), default=0) + 14
    side = min(30.0, (width - beside - min(slant, 0.25 * width)) / max(1, len(names)))
    top = 30 + slant
    for place, (kind, key) in enumerate(zip(("f1", "empty"), drawing.keys, strict=True)):
        sheet.box(8 + 96 * place, 4, 14, 14, class_=kind)
        sheet.text(28 + 96 * place, 16, key)
    for at, name in enumerate(names):
        x = beside + side * (at + 0.5)
        sheet.text(x, top - 6, name, transform=f"rotate(-45 {x:.1f} {top - 6:.1f})")
    for number, (row, text) in enumerate(zip(drawing.full, drawing.texts, strict=True)):
        y = top + 24 * number
        sheet.text(beside - 8, y + 16, text, text_anchor="end")
        size = min(side, 24.0) - 4
        for at, full in enumerate(row):
            x = beside + side * (at + 0.5) - size / 2
            sheet.box(x, y + 12 - size / 2, size, size, class_="f1" if full else "empty")
    return top + 24 * len(drawing.full) + 8
