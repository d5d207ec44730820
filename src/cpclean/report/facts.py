"""Everything that a report says, worked out before a line of it is written."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from importlib.metadata import version
from typing import Any

import numpy as np

from cpclean.analysis import forecast as going_on
from cpclean.analysis.advice import advice
from cpclean.analysis.look import Outlook, outlook, points_of, share_at_start, table_of
from cpclean.analysis.reasons import Reason, reasons
from cpclean.analysis.summary import ColumnEffect, column_effects, summary, worlds_text
from cpclean.analysis.words import count, percent, shown
from cpclean.cleaning.session import CleaningSession
from cpclean.cleaning.state import Record
from cpclean.data.table import IncompleteTable
from cpclean.report import compose
from cpclean.report.pictures import Picture

Progress = Callable[[str], None]
MOST_COLUMNS = 200  # lines of the table of columns
BAR_ROWS = 15
DRAWS = 300  # of columns, all together
MOST_SECONDS = 30.0  # to look at the columns


@dataclass(frozen=True)
class Wishes:
    """What a reader wants to see; see `report`."""

    title: str | None = None
    n_rows: int = 10
    row_names: Sequence[Any] | None = None
    truth: Any = None
    histories: Mapping[str, Sequence[Record]] | None = None
    n_random: int = 5
    seconds: float = 5.0
    random_state: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)
    progress: Progress | None = None


@dataclass(frozen=True)
class Accuracy:
    """How often the predictions are right, where the true labels are known."""

    all: float
    certain: float | None  # None if there is none
    open: float | None
    least: float  # whatever the holes hold
    most: float
    usual: float  # of the most frequent label of the training rows, for all points


@dataclass(frozen=True)
class Facts:
    """What is said; pictures by name, in the order of the page."""

    title: str
    verdict: str
    advice: list[str]
    tiles: list[tuple[str, str]]
    columns: list[tuple[str, ...]]
    n_columns: int
    classes: list[tuple[str, int, float]]
    is_table: bool
    n_draws: int
    n_rows: int
    n_dirty: int
    n_answers: int
    n_skipped: int
    n_points: int
    n_certain: int
    entropy: float
    stopped: str | None
    pictures: dict[str, Picture]
    reasons: list[Reason]
    ahead: str
    accuracy: Accuracy | None
    comparison: list[tuple[str, str, str]] | None
    n_random: int
    settings: list[tuple[str, str]]
    made: datetime


def facts(session: CleaningSession, wishes: Wishes) -> Facts:
    """Look at a session from all sides; it is not changed."""
    start = time.perf_counter()
    tell = wishes.progress or (lambda _: None)
    table, seen = table_of(session), outlook(session)
    tell("asking ahead")
    course = going_on.expected(session, seconds=wishes.seconds, random_state=wishes.random_state)
    comparison = None
    if wishes.truth is not None:
        tell("simulating")
        comparison = going_on.compared(
            session, wishes.truth, wishes.n_random, random_state=wishes.random_state,
            progress=lambda done: tell(f"simulating, {done:,} answers"),
        )  # fmt: skip
    tell("looking for reasons")
    found = reasons(session, wishes.n_rows, wishes.row_names)
    pictures = {} if table is None or not table.holes.any() else {
        "holes": compose.holes(table), "patterns": compose.patterns(table)
    }  # fmt: skip
    pictures["shares"] = compose.shares(seen)
    pictures["certainty"] = compose.certainty(
        session.history, share_at_start(session), course, comparison, wishes.histories
    )
    if found:
        pictures["gains"] = compose.gains(session, BAR_ROWS, wishes.row_names)
    effects: list[ColumnEffect] = []
    if table is not None and session.metric != "precomputed" and not seen.certain.all():
        tell("cleaning one column at a time")
        effects = _effects(session, table, wishes.random_state)
    if effects:
        pictures["columns"] = compose.columns(effects, session.certain_share)
    data = session.data
    sizes = np.bincount(data.codes, minlength=data.n_classes)
    return Facts(
        title=wishes.title or "A table with holes",
        verdict=_verdict(session, seen, course),
        advice=_advice(session, table, effects, wishes.row_names),
        tiles=_tiles(session, table, seen, course),
        columns=[] if table is None else _column_lines(table),
        n_columns=data.n_features if table is None else len(table.names),
        classes=[
            (shown(_plain(label)), int(size), float(size / sizes.sum()))
            for label, size in zip(data.classes, sizes, strict=True)
        ],
        is_table=table is not None,
        n_draws=0 if table is None else _draws(table),
        n_rows=data.n_rows,
        n_dirty=len(session.view.start.dirty_rows),
        n_answers=len(session.history),
        n_skipped=len(session.view.skipped),
        n_points=len(seen.certain),
        n_certain=int(seen.certain.sum()),
        entropy=session.mean_entropy,
        stopped=session.stopped,
        pictures=pictures,
        reasons=found,
        ahead=_ahead_in_words(course),
        accuracy=None if session.y_val is None else _accuracy(session, seen),
        comparison=(
            None
            if comparison is None
            else compose.compared_in_numbers(comparison, session.certain_share)
        ),
        n_random=wishes.n_random,
        settings=_settings(session, wishes, time.perf_counter() - start),
        made=datetime.now().astimezone(),
    )


class _Enough(Exception):
    """It takes too long."""


def _draws(table: IncompleteTable) -> int:
    """How often a column is filled: ten times, less often where there are many."""
    n_columns = int(table.holes.any(axis=0).sum())
    return min(10, max(1, DRAWS // max(1, n_columns)))


def _effects(
    session: CleaningSession, table: IncompleteTable, random_state: int
) -> list[ColumnEffect]:
    """What each column would bring; nothing if that takes longer than a person waits."""
    end = time.perf_counter() + MOST_SECONDS

    def watch(_: str) -> None:
        if time.perf_counter() > end:
            raise _Enough

    try:
        return column_effects(
            table, points_of(session), session.n_neighbors, session.metric, _draws(table),
            random_state, data=session.data, progress=watch,
        )  # fmt: skip
    except _Enough:
        return []


def _advice(
    session: CleaningSession,
    table: IncompleteTable | None,
    effects: Sequence[ColumnEffect],
    row_names: Sequence[Any] | None,
) -> list[str]:
    """What to do, in words; rows are called as the reader calls them."""
    if table is None:
        return []
    found = summary(session, table)
    if session.history:  # of accuracy it speaks as it is before any cleaning
        found = replace(found, accuracy=None)
    if row_names is not None:
        found = replace(found, first_rows=tuple(row_names[row] for row in found.first_rows))
    return advice(found, effects)


def _verdict(session: CleaningSession, seen: Outlook, course: going_on.Course) -> str:
    n, certain = len(seen.certain), int(seen.certain.sum())
    if certain == n == 1:
        return "The one prediction is certain: it is the same for every way of filling the holes."
    if certain == n:
        return (
            f"All {count(n, 'prediction')} are certain: they are the same for every way of "
            "filling the holes that are left. For their sake, nothing more needs to be cleaned."
        )
    said = (
        f"{certain:,} of {count(n, 'prediction')} ({percent(certain / n)}) are certain: they are "
        "the same for every way of filling the holes. "
        + ("The other one depends" if n - certain == 1 else f"The other {n - certain:,} depend")
        + " on what is missing."
    )
    if course.finished and course.mean[-1] == 1.0:
        needed = sorted(one for one in course.needed if one is not None)
        least = "" if needed[0] == needed[-1] else f"{needed[0]:,} to "
        more = count(needed[-1], "more answer is", "more answers are")
        said += (
            f" {least}{more} expected to settle them all, out of "
            f"{count(len(session.data.dirty_rows), 'row')} with holes."
        )
    return said


def _tiles(
    session: CleaningSession,
    table: IncompleteTable | None,
    seen: Outlook,
    course: going_on.Course,
) -> list[tuple[str, str]]:
    data = session.data
    worlds = worlds_text(data.n_worlds)
    more = len(course.answers) - 1
    tiles = [
        (percent(float(seen.certain.mean())), "of the predictions are certain"),
        (f"{len(data.dirty_rows):,}", f"of {data.n_rows:,} rows have holes now"),
        (worlds, "world is left" if data.n_worlds == 1 else "worlds: ways to fill the holes"),
    ]
    if session.y_val is not None:
        tiles.append((percent(session.accuracy()), "of the predictions are right"))
    elif more:
        tiles.append((percent(float(course.mean[-1])), f"expected after {more:,} more answers"))
    return tiles


def _column_lines(table: IncompleteTable) -> list[tuple[str, ...]]:
    size = max(1, table.n_rows)
    return [
        (one.name, one.kind, f"{one.holes:,}", percent(one.holes / size), f"{one.distinct:,}",
         one.treatment)
        for one in table.report[:MOST_COLUMNS]
    ]  # fmt: skip


def _ahead_in_words(course: going_on.Course) -> str:
    if len(course.answers) == 1:
        return "There is nothing more to ask, so that nothing is expected to change."
    runs = (
        f"The dashed line is an estimate: {count(course.runs, 'copy', 'copies')} of the session "
        "asked on, and answers were drawn at random, as likely as the prior says. The band is from "
        "the lowest to the highest of them."
    )
    if course.finished:
        return runs
    more = len(course.answers) - 1
    return f"{runs} It was cut short after {count(more, 'answer')}, to save your time."


def _accuracy(session: CleaningSession, seen: Outlook) -> Accuracy:
    labels = session.data.classes[seen.shares.argmax(axis=1)]
    right, certain = np.asarray(labels == session.y_val), seen.certain
    usual = session.data.classes[int(np.bincount(session.data.codes).argmax())]
    return Accuracy(
        all=float(right.mean()),
        certain=float(right[certain].mean()) if certain.any() else None,
        open=float(right[~certain].mean()) if not certain.all() else None,
        least=float((right & certain).mean()),
        most=1.0 - float((~right & certain).mean()),
        usual=float(np.mean(session.y_val == usual)),
    )


def _settings(session: CleaningSession, wishes: Wishes, seconds: float) -> list[tuple[str, str]]:
    metric, strategy = session.metric, session.strategy
    named = {
        "nearest neighbours that vote": f"{session.n_neighbors}",
        "metric": metric if isinstance(metric, str) else getattr(metric, "__name__", "a function"),
        "strategy": strategy if isinstance(strategy, str) else "a function",
        "stop": _limits(session),
        **{name: shown(_plain(value)) for name, value in wishes.settings.items()},
        "seed of the estimates": f"{wishes.random_state}",
        "cpclean": version("cpclean"),
        "Python": platform.python_version(),
        "NumPy": version("numpy"),
        "time to work it out": f"{seconds:.1f} s",
    }
    return list(named.items())


def _limits(session: CleaningSession) -> str:
    limits = []
    if session.budget is not None:
        limits.append(f"after {count(session.budget, 'answer')}")
    if session.min_gain > 0:
        limits.append(f"below a gain of {session.min_gain:g} nats")
    limits.append(f"at {percent(session.target_share)} certain")
    return ", ".join(limits)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
