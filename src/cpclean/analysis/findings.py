"""Everything that a report says about a session, worked out before anything is drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from cpclean.analysis.advice import advice
from cpclean.analysis.certain_words import certain_in, completions_words
from cpclean.analysis.column_effects import ColumnEffect, draws_per_column, effects_in_session
from cpclean.analysis.draw_errors import draws_note
from cpclean.analysis.forecast import Comparison, Course, compared, expected
from cpclean.analysis.looking_back import looking_back
from cpclean.analysis.missing import Missing, missing
from cpclean.analysis.next_step import next_step
from cpclean.analysis.predictions import Accuracy, Predictions, accuracy
from cpclean.analysis.ranking import RowGain, gains_of
from cpclean.analysis.reasons import Reason, reasons
from cpclean.analysis.summary import class_sizes, summary
from cpclean.analysis.verdict import KeyNumber, key_numbers, verdict
from cpclean.analysis.verdict_course import VerdictShares, verdict_course
from cpclean.analysis.words import shown
from cpclean.cleaning.session import CleaningSession
from cpclean.cleaning.view import SessionView
from cpclean.data.column_report import ColumnReport
from cpclean.intake.sentences import said

Progress = Callable[[str], None]
MOST_GAINS = 15  # rows whose gains are compared


@dataclass(frozen=True)
class Aside:
    """What is known about a table besides what a session can tell.

    Attributes
    ----------
    beside : dict from name to accuracy
        Of other models on the same rows, as `accuracies_beside` finds them.
    remarks : sequence of str
        Sentences about columns that may not mean what they say.
    telling : sequence of str
        Columns that say the label by themselves.
    line_of : function from a row's name to int or None, optional
        On which line of its file a row begins.
    """

    beside: Mapping[str, float] = field(default_factory=dict)
    remarks: Sequence[str] = ()
    telling: Sequence[str] = ()
    line_of: Callable[[Any], int | None] | None = None


@dataclass(frozen=True)
class Scope:
    """What to look at, and for how long; see `cpclean.report.report`."""

    n_rows: int = 10
    row_names: Sequence[Any] | None = None
    truth: Any = None
    n_random: int = 5
    seconds: float = 5.0
    random_state: int = 0
    progress: Progress | None = None
    point_names: Sequence[Any] | None = None
    aside: Aside = field(default_factory=Aside)


@dataclass(frozen=True)
class ClassSize:
    """A label, how many training rows have it, and their share."""

    label: str
    rows: int
    share: float


@dataclass(frozen=True)
class PredictionLine:
    """One prediction: the point, the label, its share, and whether it is certain, sure or open."""

    name: str
    label: str
    share: float
    verdict: str
    true_label: str | None


@dataclass(frozen=True)
class Findings:
    """A session from all sides.

    Attributes
    ----------
    verdict : str
    advice : list of str
        What to do; empty for a dataset.
    numbers : list of KeyNumber
    columns : sequence of ColumnReport
        Of the table; empty for a dataset.
    n_columns : int
        Of the table, or of the space of a dataset.
    missing : Missing or None
        None for a dataset, or where nothing is missing.
    effects : list of ColumnEffect
        Empty where they say nothing, or take too long to work out.
    n_draws : int
        How often each column was filled for its effect.
    certain_share, n_open
        The share that is certain now, and how many validation points are not settled.
    n_dirty : int
        Rows with holes before any answer.
    stopped : str or None
        Why nothing more is asked.
    course : Course
        How the settled share is expected to go on.
    comparison : Comparison or None
        None without a truth.
    completions : str
        How far the completions of points with holes are; "" where none have holes.
    lines : list of PredictionLine
        The predictions one by one.
    looking_back : tuple of str
        What the answers were good for, and how new rows would fare, once the session has stopped.
    draws : str
        How far shares are off where rows are drawn; "" where none are.
    verdicts : tuple of VerdictShares
        How the shares of certain and sure predictions came about.
    """

    verdict: str
    advice: list[str]
    numbers: list[KeyNumber]
    columns: Sequence[ColumnReport]
    n_columns: int
    missing: Missing | None
    effects: list[ColumnEffect]
    n_draws: int
    classes: list[ClassSize]
    is_table: bool
    n_rows: int
    n_dirty: int
    n_answers: int
    n_skipped: int
    predictions: Predictions
    accuracy: Accuracy | None
    entropy: float
    stopped: str | None
    gains: list[RowGain]
    reasons: list[Reason]
    certain_share: float
    n_open: int
    share_at_start: float
    settled_at_start: float
    course: Course
    comparison: Comparison | None
    lines: list[PredictionLine]
    completions: str = ""
    draws: str = ""
    looking_back: tuple[str, ...] = ()
    verdicts: tuple[VerdictShares, ...] = ()


def findings(session: CleaningSession, scope: Scope | None = None) -> Findings:
    """Look at a session from all sides; it is not changed."""
    scope = scope or Scope()
    step = scope.progress or (lambda _: None)
    view, names = session.view, scope.row_names
    table, found = view.table, Predictions.of(view)
    step("asking ahead")
    course = expected(session, seconds=scope.seconds, random_state=scope.random_state)
    comparison = None
    if scope.truth is not None:
        step("simulating")
        comparison = compared(
            session, scope.truth, scope.n_random, random_state=scope.random_state,
            progress=lambda done: step(f"simulating, {done:,} answers"),
        )  # fmt: skip
    step("looking for reasons")
    questions = view.best_questions(max(scope.n_rows, MOST_GAINS))
    why = reasons(view, questions[: scope.n_rows], names)
    step("cleaning one column at a time")
    effects = effects_in_session(view, scope.random_state)
    right = accuracy(session, found)
    step("looking at earlier answers")
    verdicts = verdict_course(view)
    back = looking_back(session, progress=_told(step))
    return Findings(
        verdict=verdict(found, course, view.data),
        advice=_advice(session, effects, scope),
        numbers=key_numbers(found, course, view.data, right),
        columns=[] if table is None else table.report,
        n_columns=view.data.n_features if table is None else len(table.names),
        missing=missing(table) if table is not None and table.counts.n_dirty else None,
        effects=effects,
        n_draws=0 if table is None else draws_per_column(table),
        classes=_classes(session),
        is_table=table is not None,
        n_rows=view.start.n_rows_in_all,
        n_dirty=view.start.n_dirty_in_all,
        n_answers=len(view.history),
        n_skipped=len(view.skipped),
        predictions=found,
        accuracy=right,
        entropy=view.mean_entropy,
        stopped=view.stopped,
        gains=gains_of(questions[:MOST_GAINS], view.mean_entropy, names),
        reasons=why,
        certain_share=view.certain_share,
        n_open=int((~view.settled).sum()),
        share_at_start=view.share_at_start,
        settled_at_start=view.settled_at_start,
        lines=_lines(session, found, scope.point_names),
        course=course,
        comparison=comparison,
        completions=_completions(view),
        draws=_draws(view),
        looking_back=tuple(back.sentences),
        verdicts=tuple(verdicts),
    )


def _told(step: Progress) -> Callable[[str, float], None]:
    """Steps of looking back, in whole percents."""
    last = ""

    def follow(words: str, share: float) -> None:
        nonlocal last
        if (now := f"looking back: {words}, {share:.0%}") != last:
            last = now
            step(now)

    return follow


def _advice(session: CleaningSession, effects: Sequence[ColumnEffect], scope: Scope) -> list[str]:
    """What to do, in words; rows are called as the reader calls them."""
    if session.view.table is None:
        return []
    found = summary(session)
    if session.history:  # of accuracy it speaks as it is before any cleaning
        found = replace(found, accuracy=None)
    if (names := scope.row_names) is not None:
        found = replace(found, first_rows=tuple(names[row] for row in found.first_rows))
    aside = scope.aside
    if aside.line_of is not None:
        lines = [aside.line_of(row) for row in found.first_rows]
        found = replace(found, first_lines=tuple(line for line in lines if line is not None))
    step = next_step(found, effects, aside.telling, aside.beside)
    return [*advice(found, effects, aside.beside), *aside.remarks, *([step] if step else [])]


def _completions(view: SessionView) -> str:
    explained = completions_words(len(view.points.mixtures))
    return explained and f"{explained} {certain_in(view)}."


def _draws(view: SessionView) -> str:
    note = draws_note(view.data, view.points, view.model)
    if note is None:
        return ""
    words = said(note, "page")
    return words[:1].upper() + words[1:]


def _lines(
    session: CleaningSession, found: Predictions, names: Sequence[Any] | None
) -> list[PredictionLine]:
    classes = [shown(one) for one in session.data.classes.tolist()]
    known = None if session.y_val is None else session.y_val.tolist()
    return [
        PredictionLine(
            str(point if names is None else names[point]),
            classes[place],
            share,
            verdict,
            None if known is None else shown(known[point]),
        )
        for point, (place, share, verdict) in enumerate(
            zip(
                found.shares.argmax(axis=1).tolist(),
                found.winners.tolist(),
                found.verdicts.tolist(),
                strict=True,
            )
        )
    ]


def _classes(session: CleaningSession) -> list[ClassSize]:
    sizes = class_sizes(session)
    return [
        ClassSize(shown(label), size, size / sum(sizes))
        for label, size in zip(session.data.classes.tolist(), sizes, strict=True)
    ]
