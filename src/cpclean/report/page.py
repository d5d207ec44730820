"""One self-contained HTML page about a session or a classifier."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

from cpclean.analysis.certain_words import level_words
from cpclean.analysis.course_words import comparison_in_numbers, course_in_words
from cpclean.analysis.findings import Aside, Findings, Progress, Scope, findings
from cpclean.analysis.space_words import GIVEN_THE_SPACE
from cpclean.analysis.trust_words import TrustFindings
from cpclean.analysis.words import count, percent, shown, small
from cpclean.classifier import CertainKNeighborsClassifier
from cpclean.cleaning.session import CleaningSession
from cpclean.cleaning.state import Record
from cpclean.cleaning.streamed_session import StreamedSession
from cpclean.data.frames import rows_of
from cpclean.data.row_order import places_in_frame
from cpclean.data.rows import Ints
from cpclean.data.spaces.filled_space import FilledSpace
from cpclean.data.spaces.trees import Trees
from cpclean.errors import CPCleanError
from cpclean.report.compose import all_pictures
from cpclean.report.drawn import NARROW, WIDE, drawn
from cpclean.report.figures import figure
from cpclean.report.lists import column_lines, page_settings, prediction_lines
from cpclean.report.pictures import Picture

MOST_COLUMNS = 200  # lines of the table of columns
MOST_PREDICTIONS = 500  # and of that of predictions


def report(
    subject: CleaningSession | StreamedSession | CertainKNeighborsClassifier,
    path: str | os.PathLike[str] | None = None,
    *,
    X: Any = None,
    y: Any = None,
    title: str | None = None,
    interactive: bool = True,
    n_rows: int = 10,
    row_names: Sequence[Any] | None = None,
    point_names: Sequence[Any] | None = None,
    truth: Any = None,
    histories: Mapping[str, Sequence[Record]] | None = None,
    n_random: int = 5,
    seconds: float = 5.0,
    random_state: int = 0,
    settings: Mapping[str, Any] | None = None,
    trust: TrustFindings | None = None,
    command: str | None = None,
    aside: Aside | None = None,
    progress: Progress | None = None,
) -> Report:
    """What the holes of a table mean for predictions, as one self-contained HTML page.

    Parameters
    ----------
    subject : CleaningSession or CertainKNeighborsClassifier, over a table in memory or of files
        What the page is about; it is not changed.
    path : str or Path, optional
        Where to save the page.
    X, y : points to predict and, if they are known, their labels
        For a classifier; a session has its own.
    title : str, optional
        What the table is called.
    interactive : bool
        Whether the pictures react to a pointer, which takes 5 MB of script in the page. Otherwise
        the same pictures stand still and the file is small.
    n_rows : int
        How many of the rows that matter most are explained.
    row_names : sequence, optional
        What a reader calls each row, such as its number in a file. By default the number of the row
        in the session, or in what a classifier was fitted to; for a session over files, the file
        and the row in it.
    point_names : sequence, optional
        The same for the points that are predicted.
    truth : optional
        The true rows, as in `simulate`. Adds a comparison of the session's order with random order
        when all answers are true.
    histories : dict from name to history, optional
        Histories of other sessions to compare with.
    n_random : int
        How many random orders to compare with, if the truth is given.
    seconds : float
        How long the forecast may take.
    random_state : int
        Seed of the estimates.
    settings : dict, optional
        Additional lines for the list of settings.
    trust : TrustFindings, optional
        What `cpclean.trust` found on the rows of the same table, for a section about it. Without
        it, the section has a button that shows how to make such a page.
    command : str, optional
        The command that makes such a page; by default what to write in Python. If it is empty,
        there is no such button.
    aside : Aside, optional
        What else is known about the table, such as how accurate other models are on the same rows;
        for the advice.
    progress : function of a text, optional
        Called before each step that takes a while.

    Returns
    -------
    Report

    Examples
    --------
    >>> from cpclean import CleaningSession, IncompleteDataset
    >>> from cpclean.report import report
    >>> data = IncompleteDataset([[[0.0], [5.0]], [[1.0], [7.0]], [[6.0]]], ["a", "b", "b"])
    >>> made = report(CleaningSession(data, [[0.0], [4.0]], n_neighbors=1), interactive=False)
    >>> made.html[:15], "0 of 2 predictions" in made.html
    ('<!doctype html>', True)
    """
    session, numbers = _session(subject, X, y)
    if isinstance(subject, StreamedSession) and row_names is None:
        row_names = subject.table.files.names(subject.near_rows.tolist())
    if numbers is not None:
        # What is given is in the order of the rows that the classifier was fitted to.
        order = places_in_frame(numbers)
        row_names = numbers.tolist() if row_names is None else [row_names[row] for row in order]
        if truth is not None and len(truth) == len(order):  # else it is refused
            truth = rows_of(truth, order)
    start = time.perf_counter()
    scope = Scope(n_rows, row_names, truth, n_random, seconds, random_state, progress, point_names,
                  aside or Aside())  # fmt: skip
    found = findings(session, scope)
    contents = Contents(
        title or "A table with holes",
        found,
        all_pictures(found, session.history, histories),
        page_settings(session, random_state, time.perf_counter() - start, settings or {}),
        datetime.now().astimezone(),
        session.data.space,
        trust,
        _try_by(command) if found.is_table else None,
    )
    made = Report(contents, interactive)
    if path is not None:
        made.save(path)
    return made


@dataclass(frozen=True)
class TryBy:
    """How to make the same page with trials: in words, and what to type."""

    words: str
    text: str


def _try_by(command: str | None) -> TryBy | None:
    if command == "":
        return None
    if command is None:
        return TryBy(
            "In Python, with the frame and the label that the table was made from:",
            "report(session, path, trust=cpclean.trust(frame, label))",
        )
    return TryBy(
        "This command makes the same page with the trials; they take about a minute:", command
    )


@dataclass(frozen=True)
class Contents:
    """What a page is made of; pictures by name."""

    title: str
    findings: Findings
    pictures: dict[str, Picture]
    settings: list[tuple[str, str]]
    made: datetime
    space: FilledSpace | None = None
    trust: TrustFindings | None = None
    try_by: TryBy | None = None


class Report:
    """A finished page.

    Attributes
    ----------
    html : str
        The whole page.
    path : Path or None
        Where it was saved last.
    """

    def __init__(self, contents: Contents, interactive: bool = True) -> None:
        self._contents, self._interactive = contents, interactive
        self.path: Path | None = None

    @cached_property
    def html(self) -> str:
        return _rendered(self._contents, self._interactive)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Save the page to a file: all of it, or nothing."""
        place = Path(path).expanduser()
        draft = place.with_name(f".part-{os.getpid()}-{place.name}")
        try:
            draft.write_text(self.html, encoding="utf-8")
            os.replace(draft, place)
        finally:
            draft.unlink(missing_ok=True)
        self.path = place
        return place

    def _repr_html_(self) -> str:
        # In a frame, so that neither style sheet affects the other; without script, or every saved
        # notebook would grow by 5 MB per page.
        page = escape(_rendered(self._contents, interactive=False))
        return (
            f'<iframe srcdoc="{page}" title="cpclean report" sandbox="" '
            'style="width:100%;height:80vh;border:0"></iframe>'
        )

    def __repr__(self) -> str:
        where = "" if self.path is None else f", saved to {str(self.path)!r}"
        found = self._contents.findings.predictions
        points = count(found.n_points, "prediction")
        return f"Report({self._contents.title!r}, {found.n_certain} of {points} certain{where})"


def _session(subject: Any, X: Any, y: Any) -> tuple[CleaningSession, Ints | None]:
    """The session itself, or one with a classifier's table and these points and names of rows."""
    if isinstance(subject, CleaningSession):
        if X is not None or y is not None:
            raise CPCleanError("a session has its own validation points: leave out X and y.")
        return subject, None
    if isinstance(subject, StreamedSession):
        return _session(subject.gathered, X, y)
    if not isinstance(subject, CertainKNeighborsClassifier):
        raise CPCleanError(
            "a report is about a CleaningSession or a CertainKNeighborsClassifier; "
            f"got {type(subject).__name__}."
        )
    if X is None:
        raise CPCleanError("a report about a classifier needs points to predict: X=...")
    task = subject.task(X, y)  # complains in the classifier's own words
    session = CleaningSession(
        task.data,
        task.points,
        subject.n_neighbors_,
        y_val=task.labels,
        metric=subject.metric,
        n_jobs=subject.n_jobs,
    )
    return session, task.row_names


def _rendered(contents: Contents, interactive: bool) -> str:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    look = Environment(
        loader=PackageLoader("cpclean.report"),
        autoescape=True,  # every name and value of the table goes through it
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    look.filters.update(percent=percent, shown=shown, small=small, whole="{:,}".format)
    look.globals.update(count=count)
    script, figures = "", {}
    if interactive:
        from plotly.offline import get_plotlyjs

        script = Markup(get_plotlyjs())
        figures = {
            name: {
                "light": figure(picture, titles=False),
                "dark": figure(picture, dark=True, titles=False),
            }
            for name, picture in contents.pictures.items()
        }
    drawings = {
        name: (Markup(drawn(picture, WIDE)), Markup(drawn(picture, NARROW)))
        for name, picture in contents.pictures.items()
    }
    found, comparison = contents.findings, contents.findings.comparison
    return look.get_template("report.html").render(
        page=contents,
        found=found,
        course=course_in_words(found.course),
        orders=[] if comparison is None else comparison_in_numbers(comparison),
        predictions=prediction_lines(found.lines[:MOST_PREDICTIONS]),
        sure=level_words(found.predictions.level),
        settled="settled" if found.predictions.until_sure else "certain",
        columns=column_lines(found.columns[:MOST_COLUMNS], found.n_rows),
        drawings=drawings,
        figures=figures,
        script=script,
        interactive=interactive,
        among_leaves=isinstance(contents.space, Trees),
        given_the_space=GIVEN_THE_SPACE,
    )
