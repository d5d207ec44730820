"""How little cleaning is enough: tables and curves of what was measured."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from cpclean.experiments.calibration import LEVELS
from cpclean.experiments.markdown import markdown_table
from cpclean.experiments.until_settled import ALL, CERTAIN_AIMS, FEW_STRATEGIES, SURE_AIMS
from cpclean.queries.sureness import CERTAIN
from cpclean.report.drawn import side_by_side
from cpclean.report.pictures import DASHES, Curve, Picture
from cpclean.report.pictures import Lines as Axes

Lines = Sequence[Mapping[str, str]]


def rows_table(lines: Lines) -> str:
    """A line per table, space, level and strategy: rows until shares of the points are settled."""
    head = ["table", "holes", "space", "level", "strategy", "rows with holes", "sure at first"]
    head += [f"{aim:.0%}" if aim < 1 else "all" for aim in SURE_AIMS]
    head += ["fewer than all points (95 %; all)", "session"]
    rows = []
    for own in _groups(lines, ("table", "holes", "space", "level")):
        yardstick = next((line for line in own if line["strategy"] == ALL), None)
        for line in own:
            first = json.loads(line["curve"])[0]
            cells = [line[name] for name in ("table", "holes", "space", "level", "strategy")]
            cells += [f"{int(line['rows']):,}", f"{first:.0%}"]
            cells += [_share(line, aim) for aim in SURE_AIMS]
            fewer = [_fewer(line, yardstick, aim) for aim in SURE_AIMS[1:]]
            rows.append([*cells, "; ".join(fewer), f"{float(line['seconds']):.1f} s"])
    return markdown_table(head, rows, 5)


def certain_table(lines: Lines) -> str:
    """A line per table, prior, strategy and `gains_by`: rows until points are certain."""
    head = ["table", "prior", "strategy", "gains by", "rows with holes"]
    head += [f"{aim:.0%} certain" if aim < 1 else "all" for aim in CERTAIN_AIMS]
    names = ("table", "prior", "strategy", "gains_by")
    rows = [
        [
            *(line[name] for name in names),
            f"{int(line['rows']):,}",
            *(_share(line, aim) for aim in CERTAIN_AIMS),
        ]
        for line in lines
    ]
    return markdown_table(head, rows, 4)


def calibration_table(lines: Lines) -> str:
    """A line per table, space and prior: who is sure, and how many keep their label."""
    head = ["table", "holes", "space", "prior", "points", "certain", "kept"]
    for level in LEVELS:
        head += [f"{level:g} sure", "kept"]
    head += ["open: kept"]
    rows = []
    for line in lines:
        cells = [line[name] for name in ("table", "holes", "space", "prior", "points")]
        for word in ("certain", *(f"sure_{level:g}" for level in LEVELS)):
            cells += [_part(line[word], line["points"]), _part(line[f"{word}_kept"], line[word])]
        rows.append([*cells, _part(line["open_kept"], line["open"])])
    return markdown_table(head, rows, 4)


def pictures(lines: Lines, level: float) -> Iterator[tuple[str, str]]:
    """For every table: a name, and an SVG of settled shares against rows cleaned.

    A few strategies until points are sure, and beside them until they are certain.
    """
    levels = (f"{level:g}", CERTAIN)
    wanted = [one for one in lines if one["level"] in levels and one["strategy"] in FEW_STRATEGIES]
    for own in _groups(wanted, ("table", "holes")):
        table, holes = own[0]["table"], own[0]["holes"]
        panels = [_panel(some, level) for some in _groups(own, ("space",))]
        title = f"{table}, {holes} holes: rows cleaned until points are {level:g} sure"
        yield f"{table}_{holes.replace(' ', '_')}", side_by_side(title, panels)


def _panel(lines: Lines, level: float) -> Picture:
    space, curves = lines[0]["space"], []
    for number, line in enumerate(lines):
        values = tuple(json.loads(line["curve"]))
        places = tuple(place / 100 for place in range(len(values)))
        word = CERTAIN if line["level"] == CERTAIN else f"{level:g} sure"
        label, dash = f"{word}, by {line['strategy']}", DASHES[number % len(DASHES)]
        curves.append(Curve(label, places, values, dash=dash))
    across, title = "share of rows with holes cleaned", f"{space} space: share of points"
    drawing = Axes(tuple(curves), across, title, x_percent=True, from_zero=True)
    return Picture(space, title, "", drawing)


def _groups(lines: Lines, names: Sequence[str]) -> list[list[Mapping[str, str]]]:
    groups: dict[tuple[str, ...], list[Mapping[str, str]]] = {}
    for line in lines:
        groups.setdefault(tuple(line[name] for name in names), []).append(line)
    return list(groups.values())


def _share(line: Mapping[str, str], aim: float) -> str:
    answers = line[f"until_{aim:g}"]
    return f"{int(answers) / int(line['rows']):.1%}" if answers else ""


def _fewer(line: Mapping[str, str], other: Mapping[str, str] | None, aim: float) -> str:
    """How many rows fewer than another strategy needs, in percent of those."""
    name = f"until_{aim:g}"
    if other is None or other is line or not line[name] or not other[name]:
        return ""
    if not int(other[name]):
        return "none to save"
    return f"{1 - int(line[name]) / int(other[name]):.0%}"


def _part(some: str, whole: str) -> str:
    return f"{int(some) / int(whole):.1%}" if int(whole) else ""
