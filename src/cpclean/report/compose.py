"""Pictures of tables and sessions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from cpclean.analysis.forecast import Comparison, Course
from cpclean.analysis.look import Outlook, best_questions
from cpclean.analysis.summary import ColumnEffect
from cpclean.analysis.words import count, percent, small
from cpclean.cleaning.session import CleaningSession
from cpclean.cleaning.state import Record
from cpclean.data.rows import Floats
from cpclean.data.table import IncompleteTable
from cpclean.report.pictures import Bars, Curve, Grid, Lines, Picture, picked, thinned

MOST_BARS = 20
MOST_PATTERNS = 12
MOST_ACROSS = 14  # columns side by side


def certainty(
    history: Sequence[Record],
    start: float | None = None,
    ahead: Course | None = None,
    comparison: Comparison | None = None,
    others: Mapping[str, Sequence[Record]] | None = None,
) -> Picture:
    """The certain share against the number of answers: so far, expected, and simulated."""
    so_far = _shares(history, start)
    curves = [_plain("so far", so_far, start, "solid")] if so_far else []
    if ahead is not None and len(ahead.answers) > 1:
        curves.append(_curve(ahead, f"expected from here (mean of {ahead.runs} runs)", "dash"))
    if comparison is not None:
        curves.append(_curve(comparison.own, "this order, true answers", "dashdot"))
        runs = count(comparison.random.runs, "run")
        curves.append(_curve(comparison.random, f"random order, true answers ({runs})", "dot"))
    for name, records in (others or {}).items():
        if shares := _shares(records, start):
            curves.append(_plain(name, shares, start, "dot"))
    rows = [
        (curve.label, f"{x:.0f}", percent(y), _range(curve, at))
        for curve in curves
        for at, (x, y) in enumerate(zip(curve.x, curve.y, strict=True))
        if at in thinned(len(curve.x), 11)
    ]
    return Picture(
        "certainty",
        "Certain predictions, answer by answer",
        _certainty_says(so_far, len(history), ahead, comparison),
        Lines(tuple(curves), "answers", "certain predictions"),
        ("curve", "answers", "certain", "smallest to largest run"),
        tuple(rows),
    )


def _shares(history: Sequence[Record], start: float | None) -> list[float]:
    shares = [record.certain_share for record in history]
    return shares if start is None else [start, *shares]


def _plain(label: str, shares: Sequence[float], start: float | None, dash: str) -> Curve:
    places = thinned(len(shares))
    first = 1 if start is None else 0
    return Curve(
        label,
        tuple(float(first + at) for at in places),
        picked(shares, places),
        dash=dash,
        dot=dash == "solid",
    )


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


def _certainty_says(
    so_far: Sequence[float], n_answers: int, ahead: Course | None, comparison: Comparison | None
) -> str:
    said = []
    if so_far and n_answers:
        verb = "went" if so_far[-1] != so_far[0] else "stayed"
        said.append(
            f"After {count(n_answers, 'answer')} the certain share {verb} from "
            f"{percent(so_far[0])} to {percent(so_far[-1])}."
            if verb == "went"
            else f"After {count(n_answers, 'answer')} the certain share is {percent(so_far[-1])}, "
            "as before."
        )
    elif so_far:
        said.append(f"Before any answer, {percent(so_far[-1])} of the predictions are certain.")
    if ahead is not None and len(ahead.answers) > 1:
        more = len(ahead.answers) - 1
        said.append(
            f"An estimate: after {more:,} more, {percent(float(ahead.mean[-1]))} are expected to "
            "be certain, if answers are as likely as the prior says."
        )
    if comparison is not None:
        said.append(compared_in_words(comparison))
    return " ".join(said)


def compared_in_numbers(comparison: Comparison, now: float) -> list[tuple[str, str, str]]:
    """For some shares above the present one: the answers that each of the orders takes."""

    def told(course: Course, share: float) -> str:
        needed = course.reach(share)
        return f"more than {len(course.answers) - 1:,}" if needed is None else f"{needed:,}"

    return [
        (percent(share), told(comparison.own, share), told(comparison.random, share))
        for share in (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
        if share > now
    ]


def compared_in_words(comparison: Comparison) -> str:
    """How many answers the two orders take, or how far they come."""
    own, random = comparison.own, comparison.random
    if own.needed[0] is not None and random.finished:
        mean = float(np.mean([one for one in random.needed if one is not None]))
        return (
            f"With true answers, this order is done after {count(own.needed[0], 'more answer')}; "
            f"random order takes {mean:,.0f} on average."
        )
    at = min(len(own.mean), len(random.mean)) - 1
    return (
        f"With true answers, {at:,} more of them make {percent(float(own.mean[at]))} of the "
        f"predictions certain in this order, {percent(float(random.mean[at]))} in random order."
    )


def holes(table: IncompleteTable) -> Picture:
    """The share of every column that is missing; columns without holes are counted only."""
    shares = table.holes.mean(axis=0)
    order = [at for at in np.argsort(-shares, kind="stable").tolist() if shares[at] > 0]
    kept = order[:MOST_BARS]
    holed = table.holes.sum(axis=0)
    worst = (
        f" The most are in {table.names[order[0]]}: {percent(shares[order[0]])}." if order else ""
    )
    return Picture(
        "holes",
        "Holes in each column",
        f"{len(order):,} of {count(len(shares), 'column')} have holes.{worst}",
        Bars(
            tuple(table.names[at] for at in kept),
            tuple(float(shares[at]) for at in kept),
            tuple(percent(shares[at]) for at in kept),
            "share of the rows",
            percent=True,
        ),
        ("column", "cells missing", "share"),
        tuple((table.names[at], f"{holed[at]:,}", percent(shares[at])) for at in order),
    )


def patterns(table: IncompleteTable) -> Picture:
    """Which columns are missing together, in the most frequent combinations."""
    found = Counter(
        tuple(np.flatnonzero(row).tolist()) for row in table.holes[table.holes.any(axis=1)]
    )
    common = found.most_common(MOST_PATTERNS)
    times = table.holes.sum(axis=0)
    among = {at for one, _ in common for at in one}
    order = sorted(among, key=lambda at: (-int(times[at]), at))[:MOST_ACROSS]
    hidden = [sum(at not in order for at in one) for one, _ in common]
    covered, n_holed = sum(many for _, many in common), sum(found.values())
    says = f"{count(len(found), 'combination')} of missing columns in {count(n_holed, 'row')}"
    if covered < n_holed:
        says += f"; the {len(common)} most frequent ones cover {covered:,}"
    if any(hidden):
        says += ". A plus sign counts columns for which there is no room"
    return Picture(
        "patterns",
        "Columns that are missing together",
        f"{says}. Full squares are what is missing.",
        Grid(
            tuple(table.names[at] for at in order),
            tuple(tuple(at in one for at in order) for one, _ in common),
            tuple(
                count(many, "row") + (f" +{more}" if more else "")
                for (_, many), more in zip(common, hidden, strict=True)
            ),
            ("missing", "present"),
        ),
        ("missing columns", "rows"),
        tuple((", ".join(table.names[at] for at in one), f"{many:,}") for one, many in common),
    )


def gains(session: CleaningSession, n: int, row_names: Sequence[object] | None = None) -> Picture:
    """The rows with the largest expected gain."""
    best = best_questions(session, n)
    named = [
        f"row {one.row if row_names is None else row_names[one.row]}"
        + ("" if one.column is None else f", {one.column}")
        for one in best
    ]
    entropy = session.mean_entropy
    of_all = [one.gain / entropy if entropy > 0 else 0.0 for one in best]
    says = (
        f"Knowing {named[0]} is expected to take {percent(of_all[0])} of the doubt away that is "
        f"in all predictions together."
        if best
        else "No row is left whose cleaning would tell anything."
    )
    return Picture(
        "gains",
        "What cleaning a row would bring",
        says,
        Bars(
            tuple(named),
            tuple(of_all),
            tuple(map(percent, of_all)),
            "share of all doubt removed",
            percent=True,
        ),
        ("row", "share of all doubt", "expected gain in nats"),
        tuple(
            (name, percent(share), small(one.gain))
            for name, share, one in zip(named, of_all, best, strict=True)
        ),
    )


def columns(effects: Sequence[ColumnEffect], now: float | None = None) -> Picture:
    """The share of predictions that would be certain if one column were clean."""
    order = sorted((one for one in effects if one.holes), key=lambda one: -one.certain_if_clean)
    kept = order[:MOST_BARS]
    says = (
        f"If {order[0].name} had no holes, {percent(order[0].certain_if_clean)} of the predictions "
        f"would be certain{'' if now is None else f'; now it is {percent(now)}'}. An estimate."
        if order
        else "No column has holes."
    )
    return Picture(
        "columns",
        "If one column were clean",
        says,
        Bars(
            tuple(one.name for one in kept),
            tuple(one.certain_if_clean for one in kept),
            tuple(percent(one.certain_if_clean) for one in kept),
            "predictions that would be certain",
            percent=True,
            line=now,
            line_label="certain now",
            low=tuple(one.low for one in kept),
            high=tuple(one.high for one in kept),
        ),
        ("column", "kind", "holes", "certain if clean", "smallest to largest draw"),
        tuple(
            (one.name, one.kind, f"{one.holes:,}", percent(one.certain_if_clean),
             f"{percent(one.low)} to {percent(one.high)}")
            for one in order
        ),
    )  # fmt: skip


def shares(found: Outlook) -> Picture:
    """How many predictions are certain, and how clear the winner is among the others."""
    winners: Floats = found.winners[~found.certain]
    least = 1 / max(2, found.shares.shape[1])
    edges = [edge / 10 for edge in range(int(least * 10), 11)]
    # Rounding may take a share below the least there is, and what is open may round to 1.
    places = np.clip(np.digitize(winners, edges) - 1, 0, len(edges) - 2)
    times = np.bincount(places, minlength=len(edges) - 1).tolist()
    lowest = min([at for at, one in enumerate(times) if one] or [len(times) - 1])
    times, edges = times[lowest:], edges[lowest:]
    labels = [f"{low:.0%} to {high:.0%}" for low, high in pairwise(edges)]
    n_certain = int(found.certain.sum())
    values = [n_certain, *reversed(times)]
    names = ["certain", *(f"open, {one}" for one in reversed(labels))]
    return Picture(
        "shares",
        "How open the predictions are",
        f"{n_certain:,} of {count(len(found.certain), 'prediction')} are certain. Of the "
        f"{len(winners):,} open ones, {int((winners >= 0.9).sum()):,} have a winner with 90% of "
        "the prior or more.",
        Bars(
            tuple(names),
            tuple(map(float, values)),
            tuple(f"{one:,}" for one in values),
            "number of predictions",
            marked=(False, *[True] * len(times)),
            keys=("certain", "open"),
        ),
        ("share behind the winner", "predictions"),
        tuple((name, f"{one:,}") for name, one in zip(names, values, strict=True)),
    )
