"""Pictures as Plotly figures, in plain dicts, for pages and notebooks.

Names from a table are escaped, because Plotly interprets tags in texts, links included.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from cpclean.analysis.words import percent, shortened
from cpclean.report.axes import across_axis, share_axis, whole_ticks
from cpclean.report.colours import FONT, colours
from cpclean.report.pictures import Bars, Grid, Lines, Picture

Figure = dict[str, Any]
Trace = dict[str, Any]
GAP = 108  # between pictures of one figure, in pixels


@dataclass(frozen=True)
class Style:
    """Colours that colour-blind people can distinguish, on a light or a dark ground."""

    paper: str
    ink: str
    soft: str
    rule: str
    colours: tuple[str, ...]


def _look(dark: bool) -> Style:
    known = colours(dark)
    series = tuple(known[f"c{number}"] for number in (1, 2, 3, 4))
    return Style(known["paper"], known["ink"], known["edge"], known["rule"], series)


def figure(*pictures: Picture, dark: bool = False, titles: bool = True) -> Figure:
    """Pictures below each other as one figure."""
    look = _look(dark)
    sizes = [_height(picture) for picture in pictures]
    total = sum(sizes) + GAP * (len(pictures) - 1)
    top, bottom = (64 if titles else 16), 56
    data: list[Trace] = []
    layout = _layout(look, total + top + bottom, top, bottom)
    end = float(total)
    for number, (picture, size) in enumerate(zip(pictures, sizes, strict=True)):
        key = "" if number == 0 else str(number + 1)
        across, up, traces, more = _parts(picture, look)
        up["domain"] = [max(0.0, (end - size) / total), end / total]
        layout[f"xaxis{key}"] = {**_axis(look), **across, "anchor": f"y{key}"}
        layout[f"yaxis{key}"] = {**_axis(look), **up, "anchor": f"x{key}"}
        data += [{**trace, "xaxis": f"x{key}", "yaxis": f"y{key}"} for trace in traces]
        for shape in more.get("shapes", []):
            layout["shapes"].append({**shape, "xref": f"x{key}", "yref": f"y{key} domain"})
        for note in more.get("notes", []):
            layout["annotations"].append({**note, "xref": f"x{key}", "yref": f"y{key} domain"})
        if titles:
            layout["annotations"].append(_title(picture.title, end / total))
        end -= size + GAP
    return {"data": data, "layout": layout}


def _layout(look: Style, height: float, top: int, bottom: int) -> dict[str, Any]:
    return {
        "font": {"family": FONT, "size": 13, "color": look.ink},
        "paper_bgcolor": look.paper,
        "plot_bgcolor": look.paper,
        "height": round(height),
        "margin": {"l": 12, "r": 24, "t": top, "b": bottom},
        "hoverlabel": {
            "bgcolor": look.paper,
            "bordercolor": look.ink,
            "font": {"color": look.ink},
            "align": "left",
        },
        "hovermode": "closest",
        "dragmode": False,
        "bargap": 0.3,
        "showlegend": True,
        "legend": {
            "orientation": "h", "x": 0, "xanchor": "left", "y": -0.22, "yanchor": "top",
            "itemclick": False, "traceorder": "normal", "itemdoubleclick": False,
        },
        "shapes": [],
        "annotations": [],
    }  # fmt: skip


def _axis(look: Style) -> dict[str, Any]:
    return {
        "gridcolor": look.rule,
        "linecolor": look.ink,
        "zeroline": False,
        "automargin": True,
        "fixedrange": True,  # a finger that scrolls the page must not move the picture
    }


def _said(title: str) -> dict[str, Any]:
    return {"text": escape(title), "font": {"size": 13}, "standoff": 10}


def _title(text: str, end: float) -> dict[str, Any]:
    return {
        "text": f"<b>{escape(text)}</b>", "x": 0, "xref": "paper", "xanchor": "left",
        "y": end, "yref": "paper", "yanchor": "bottom", "yshift": 22, "showarrow": False,
        "font": {"size": 15},
    }  # fmt: skip


def _height(picture: Picture) -> int:
    drawing = picture.drawing
    if isinstance(drawing, Lines):
        return 290 + 24 * len(drawing.curves)
    if isinstance(drawing, Bars):
        return 20 + 26 * max(1, len(drawing.labels))
    return 40 + 24 * max(1, len(drawing.full))


Parts = tuple[dict[str, Any], dict[str, Any], list[Trace], dict[str, list[dict[str, Any]]]]


def _parts(picture: Picture, look: Style) -> Parts:
    drawing = picture.drawing
    if isinstance(drawing, Lines):
        return _lines(drawing, look)
    if isinstance(drawing, Bars):
        return _bars(drawing, look)
    return _grid(drawing, look)


def _lines(drawing: Lines, look: Style) -> Parts:
    traces: list[Trace] = []
    first, last = across_axis(drawing)
    for number, curve in enumerate(drawing.curves):
        colour = look.colours[number % len(look.colours)]
        if curve.low is not None and curve.high is not None:
            edge = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "showlegend": False,
                    "type": "scatter", "x": list(curve.x)}  # fmt: skip
            traces.append({**edge, "y": list(curve.high)})
            traces.append(
                {**edge, "y": list(curve.low), "fill": "tonexty", "fillcolor": _thin(colour)}
            )
        traces.append(
            {
                "type": "scatter",
                "mode": "lines" if len(curve.x) > 1 else "markers",
                "x": list(curve.x),
                "y": list(curve.y),
                "name": escape(curve.label),
                "showlegend": True,
                "cliponaxis": False,
                "line": {"color": colour, "width": 2.5, "dash": curve.dash},
                "marker": {"color": colour, "size": 9},
                "hoverinfo": "text",
                "hovertext": [
                    f"{escape(curve.label)}<br>{x:,.0f} answers: {percent(y)}"
                    for x, y in zip(curve.x, curve.y, strict=True)
                ],
            }
        )
    across = {"title": _said(drawing.x_title), "range": [first, last + 0.02 * (last - first)],
              "tickformat": ".0%" if drawing.x_percent else ",d", "showgrid": False,
              "showline": True}  # fmt: skip
    if last - first <= 8 and not drawing.x_percent:
        across["tickvals"] = whole_ticks(first, last, 8)
    low, high, step = share_axis(drawing)
    up = {"title": _said(drawing.y_title), "range": [low, high + 0.03 * (high - low)],
          "tickformat": ".0%", "tick0": low, "dtick": step}  # fmt: skip
    return across, up, traces, {"shapes": [], "notes": []}


def _bars(drawing: Bars, look: Style) -> Parts:
    places = list(range(len(drawing.labels)))
    marked = list(drawing.marked) or [False] * len(places)
    most = max([*drawing.values, *(drawing.high or ()), drawing.line or 0.0, 1e-9])
    trace: Trace = {
        "type": "bar",
        "orientation": "h",
        "x": list(drawing.values),
        "y": places,
        "text": list(map(escape, drawing.texts)),
        "textposition": "outside",
        "cliponaxis": False,
        "showlegend": False,
        "marker": {
            "color": [look.colours[1] if one else look.colours[0] for one in marked],
            "line": {
                "width": 1,
                "color": [look.colours[1] if one else look.colours[0] for one in marked],
            },
            "pattern": {"shape": ["/" if one else "" for one in marked], "fillmode": "replace"},
        },
        "hoverinfo": "text",
        "hovertext": [
            f"{escape(label)}<br>{escape(text)}"
            for label, text in zip(drawing.labels, drawing.texts, strict=True)
        ],
    }
    if drawing.low is not None and drawing.high is not None:
        trace["error_x"] = {
            "type": "data", "symmetric": False, "color": look.ink, "thickness": 1.5, "width": 4,
            "array": [h - v for h, v in zip(drawing.high, drawing.values, strict=True)],
            "arrayminus": [v - w for w, v in zip(drawing.low, drawing.values, strict=True)],
        }  # fmt: skip
        trace["textposition"] = "none"  # the whisker is where the text would be
    across = {"title": _said(drawing.x_title), "range": [0, most * 1.16],
              "tickformat": ".0%" if drawing.percent and most > 0.05
              else ".1%" if drawing.percent else ",d", "nticks": 6}  # fmt: skip
    more: dict[str, list[dict[str, Any]]] = {"shapes": [], "notes": []}
    if drawing.line is not None:
        at = drawing.line
        more["shapes"].append({"type": "line", "x0": at, "x1": at, "y0": 0, "y1": 1,
                               "line": {"color": look.ink, "width": 2, "dash": "dot"}})  # fmt: skip
        more["notes"].append({"text": escape(drawing.line_label), "x": at, "y": 1, "xanchor":
                              "right", "yanchor": "bottom", "showarrow": False})  # fmt: skip
    return across, _names(drawing.labels), [trace], more


def _grid(drawing: Grid, look: Style) -> Parts:
    traces = []
    for full, symbol, key in zip(
        (True, False), ("square", "square-open"), drawing.keys, strict=True
    ):
        cells = [
            (x, y) for y, row in enumerate(drawing.full) for x, one in enumerate(row) if one is full
        ]
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "showlegend": False,
                "x": [x for x, _ in cells],
                "y": [y for _, y in cells],
                "marker": {
                    "symbol": symbol,
                    "size": 13,
                    "color": look.colours[0] if full else look.soft,
                },
                "hoverinfo": "text",
                "hovertext": [
                    f"{escape(drawing.columns[x])}: {key}<br>{escape(drawing.texts[y])}"
                    for x, y in cells
                ],
            }
        )
    names = [escape(shortened(name, 16)) for name in drawing.columns]
    across = {"tickvals": list(range(len(names))), "ticktext": names, "tickangle": -45,
              "tickfont": {"size": 12}, "ticklabeloverflow": "allow",
              "range": [-0.6, max(len(names), 10) - 0.4],
              "showgrid": False}  # fmt: skip
    return across, _names(drawing.texts), traces, {"shapes": [], "notes": []}


def _names(labels: Sequence[str]) -> dict[str, Any]:
    """An axis of names, the first one on top."""
    return {
        "tickvals": list(range(len(labels))),
        "ticktext": [escape(shortened(label)) for label in labels],
        "range": [len(labels) - 0.4, -0.6],
        "showgrid": False,
    }


def _thin(colour: str) -> str:
    """A colour that lets through what is below it."""
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.18)"
