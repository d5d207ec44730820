"""Pictures of what analysis has found: curves, bars and squares, and their numbers in a table.

Nothing is worked out here; see `cpclean.analysis`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from cpclean.analysis.certain_words import level_words, promise
from cpclean.analysis.column_effects import ColumnEffect, effects_in_words, settles_in_words
from cpclean.analysis.course_words import progress_in_words
from cpclean.analysis.findings import Findings
from cpclean.analysis.forecast import Comparison, Course
from cpclean.analysis.missing import Missing
from cpclean.analysis.predictions import Predictions, by_winner
from cpclean.analysis.ranking import RowGain, gains_in_words
from cpclean.analysis.verdict_course import VerdictShares
from cpclean.analysis.words import count, percent, small
from cpclean.cleaning.state import Record
from cpclean.queries.sureness import LEVEL
from cpclean.report.pictures import Bars, Curve, Grid, Lines, Picture, picked, thinned

MOST_BARS = 20
MOST_ACROSS = 14  # columns side by side


def all_pictures(
    found: Findings,
    history: Sequence[Record],
    others: Mapping[str, Sequence[Record]] | None = None,
) -> dict[str, Picture]:
    """The pictures of a page, by name; those with nothing to show are left out."""
    pictures = [
        shares(found.predictions),
        certainty(
            history,
            found.settled_at_start,
            found.course,
            found.comparison,
            others,
            verdicts=found.verdicts,
            level=found.predictions.level,
            until_sure=found.predictions.until_sure,
        ),
    ]
    if found.missing is not None:
        pictures.append(holes(found.missing))
        if found.missing.together:
            pictures.append(patterns(found.missing))
    if found.gains:
        pictures.append(gains(found.gains))
    if found.effects:
        pictures.append(columns(found.effects, found.certain_share, found.n_open))
    return {picture.name: picture for picture in pictures}


def certainty(
    history: Sequence[Record],
    start: float | None = None,
    ahead: Course | None = None,
    comparison: Comparison | None = None,
    others: Mapping[str, Sequence[Record]] | None = None,
    *,
    verdicts: Sequence[VerdictShares] = (),
    level: float = LEVEL,
    until_sure: bool = False,
) -> Picture:
    """The settled share against the number of answers: so far, expected, and simulated.

    Where there are verdicts, in three bands: what is certain, what is as sure as the level besides,
    and what is open. `until_sure` says whether sure predictions are settled, too.
    """
    settled = "settled" if until_sure else "certain"
    so_far = _shares(history, start)
    curves = [_plain("so far", so_far, start, "solid")] if so_far else []
    if len(verdicts) > 1 or (verdicts and until_sure):
        so_far_settled = f"so far settled: {promise(level)}" if until_sure else "so far: certain"
        curves[:1] = _bands(replace(curves[0], label=so_far_settled), verdicts, level, until_sure)
    if ahead is not None and len(ahead.answers) > 1:
        runs = count(ahead.runs, "run")
        curves.append(_curve(ahead, f"expected from here (mean of {runs})", "dash"))
        if ahead.certain is not None:
            only = _curve(replace(ahead, mean=ahead.certain, runs=1), "of these certain", "dot")
            curves.append(only)
    if comparison is not None:
        curves.append(_curve(comparison.own, "this order, true answers", "dashdot"))
        runs = count(comparison.random.runs, "run")
        curves.append(_curve(comparison.random, f"random order, true answers ({runs})", "dot"))
    for name, records in (others or {}).items():
        if shares := _shares(records, start):
            curves.append(_plain(name, shares, start, "dot"))
    rows = [
        (curve.label, f"{x:,.0f}", percent(y), _range(curve, at))
        for curve in curves
        for at, (x, y) in enumerate(zip(curve.x, curve.y, strict=True))
        if at in thinned(len(curve.x), 11)
    ]
    return Picture(
        "certainty",
        f"{settled.capitalize()} predictions, answer by answer",
        progress_in_words(so_far, len(history), ahead, comparison, settled),
        Lines(tuple(curves), "answers", f"{settled} predictions"),
        ("curve", "answers", "share", "lowest to highest run" if not verdicts else "range"),
        tuple(rows),
    )


def _shares(history: Sequence[Record], start: float | None) -> list[float]:
    shares = [record.settled_share for record in history]
    return shares if start is None else [start, *shares]


def _bands(
    so_far: Curve, verdicts: Sequence[VerdictShares], level: float, until_sure: bool
) -> list[Curve]:
    """What is certain, from 0 on; what is sure, from there on; what is open, up to 1."""
    kept = [verdicts[at] for at in thinned(len(verdicts))]
    x = tuple(float(one.answers) for one in kept)
    certain, sure = tuple(one.certain for one in kept), tuple(one.sure for one in kept)
    none, all_ = (tuple(share for _ in kept) for share in (0.0, 1.0))
    open_ = Curve("open: the rest", x, all_, sure, all_, "dot")
    if until_sure:
        settled = Curve(so_far.label, x, sure, certain, sure, so_far.dash, so_far.dot)
        return [settled, Curve("certain", x, certain, none, certain, "dashdot"), open_]
    below = replace(so_far, low=tuple(0.0 for _ in so_far.x), high=so_far.y)
    besides = f"so far: {level_words(level)}, or certain"
    return [below, Curve(besides, x, sure, certain, sure, "dashdot"), open_]


def _plain(label: str, shares: Sequence[float], start: float | None, dash: str) -> Curve:
    places = thinned(len(shares))
    first = 1 if start is None else 0
    x = tuple(float(first + at) for at in places)
    return Curve(label, x, picked(shares, places), dash=dash, dot=dash == "solid")


def _curve(course: Course, label: str, dash: str) -> Curve:
    places = thinned(len(course.answers))
    band = course.runs > 1
    return Curve(
        label,
        tuple(float(course.answers[at]) for at in places),
        tuple(float(course.mean[at]) for at in places),
        tuple(float(course.low[at]) for at in places) if band else None,
        tuple(float(course.high[at]) for at in places) if band else None,
        dash,
    )


def _range(curve: Curve, at: int) -> str:
    if curve.low is None or curve.high is None:
        return "–"
    return f"{percent(curve.low[at])} to {percent(curve.high[at])}"


def holes(found: Missing) -> Picture:
    """The share of every column that is missing."""
    shown = found.columns[:MOST_BARS]
    return Picture(
        "holes",
        "Holes in each column",
        found.columns_in_words,
        Bars(
            tuple(one.name for one in shown),
            tuple(one.share for one in shown),
            tuple(percent(one.share) for one in shown),
            "share of the rows",
            percent=True,
        ),
        ("column", "cells missing", "share"),
        tuple((one.name, f"{one.holes:,}", percent(one.share)) for one in found.columns),
    )


def patterns(found: Missing) -> Picture:
    """Which columns are missing together, in the most frequent combinations."""
    among = {name for one in found.together for name in one.columns}
    across = [one.name for one in found.columns if one.name in among][:MOST_ACROSS]
    hidden = [sum(name not in across for name in one.columns) for one in found.together]
    says = found.together_in_words
    if any(hidden):
        says += " A plus sign counts columns for which there is no room."
    return Picture(
        "patterns",
        "Columns that are missing together",
        f"{says} Filled squares are missing cells.",
        Grid(
            tuple(across),
            tuple(tuple(name in one.columns for name in across) for one in found.together),
            tuple(
                count(one.rows, "row") + (f" +{more}" if more else "")
                for one, more in zip(found.together, hidden, strict=True)
            ),
            ("missing", "present"),
        ),
        ("missing columns", "rows"),
        tuple((", ".join(one.columns), f"{one.rows:,}") for one in found.together),
    )


def gains(found: Sequence[RowGain]) -> Picture:
    """The rows with the largest expected gain."""
    return Picture(
        "gains",
        "How much knowing each row would help",
        gains_in_words(found),
        Bars(
            tuple(one.name for one in found),
            tuple(one.of_all for one in found),
            tuple(percent(one.of_all) for one in found),
            "share of all doubt removed",
            percent=True,
        ),
        ("row", "share of all doubt", "expected gain in nats"),
        tuple((one.name, percent(one.of_all), small(one.gain)) for one in found),
    )


def columns(
    effects: Sequence[ColumnEffect], now: float | None = None, n_open: int | None = None
) -> Picture:
    """The share of predictions that would be certain if one column were clean.

    With the number of open predictions, the table says how many of them would be settled.
    """
    order = sorted((one for one in effects if one.holes), key=lambda one: -one.certain_if_clean)
    shown = order[:MOST_BARS]
    return Picture(
        "columns",
        "If one column were clean",
        f"{effects_in_words(effects, now)} {settles_in_words(effects, n_open or 0)}".strip(),
        Bars(
            tuple(one.name for one in shown),
            tuple(one.certain_if_clean for one in shown),
            tuple(percent(one.certain_if_clean) for one in shown),
            "predictions that would be certain",
            percent=True,
            line=now,
            line_label="certain now",
            low=tuple(one.low for one in shown),
            high=tuple(one.high for one in shown),
        ),
        ("column", "kind", "holes", "certain if clean", "lowest to highest draw",
         *([] if n_open is None else ["open ones that would be settled"])),
        tuple(
            (one.name, one.kind, f"{one.holes:,}", percent(one.certain_if_clean),
             f"{percent(one.low)} to {percent(one.high)}",
             *([] if n_open is None else [f"about {one.of_open(n_open):,} of {n_open:,}"]))
            for one in order
        ),
    )  # fmt: skip


def shares(found: Predictions) -> Picture:
    """How many predictions are certain, and how clear the winner is among the others."""
    groups = by_winner(found)
    sure = [] if found.sure is None else [found.n_sure]
    names = ["certain", *(f"{level_words(found.level)}" for _ in sure)]
    names += [f"open, {one.low:.0%} to {one.high:.0%}" for one in groups]
    values = [found.n_certain, *sure, *(one.number for one in groups)]
    return Picture(
        "shares",
        "How open the predictions are",
        found.words,
        Bars(
            tuple(names),
            tuple(map(float, values)),
            tuple(f"{one:,}" for one in values),
            "number of predictions",
            marked=(*[False] * (1 + len(sure)), *[True] * len(groups)),
            keys=("certain or sure" if sure else "certain", "open"),
        ),
        ("share behind the winning label", "predictions"),
        tuple((name, f"{one:,}") for name, one in zip(names, values, strict=True)),
    )
