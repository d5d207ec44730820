"""A session over a table of files: the rows that matter are gathered, answers name rows of files.

The rows that are near the points stand for all rows (`cpclean.queries.near_scan`), and a session
over them is an ordinary one. Two things can happen that need rows which were not gathered:

1. An answer is about another row: it is read from its file and added.
2. Values that were no candidates moved rows away from a point, more of them than it has to spare:
   rows are gathered again, with more to spare.

Either way a new session over more rows repeats all answers. It is in the same state, because more
rows than necessary change nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from cpclean.cleaning.answers import checked_log, repeat
from cpclean.cleaning.effort import Effort
from cpclean.cleaning.gathered import SPARE
from cpclean.cleaning.notebook_view import FileRow, question_html
from cpclean.cleaning.question import Question, Why
from cpclean.cleaning.row_candidates import CellValues
from cpclean.cleaning.session_looks import SessionLooks
from cpclean.cleaning.settings import checked_seed
from cpclean.cleaning.standing import is_beyond, is_outdated
from cpclean.cleaning.state import Record
from cpclean.cleaning.view import SessionView
from cpclean.data.between import Between
from cpclean.data.points import Points
from cpclean.data.rows import Floats, Ints, is_whole
from cpclean.data.streamed.row_recipe import SomeRows
from cpclean.data.streamed.streamed_table import StreamedTable
from cpclean.data.table import IncompleteTable
from cpclean.errors import AnswerError, CPCleanError
from cpclean.intake.cleaned_files import write_files
from cpclean.progress_bar import Shown
from cpclean.queries.near_scan import NearRows, checked_model, scanned


@dataclass(frozen=True, eq=False)
class FileQuestion:
    """A question about a row of a file; all else is as in `Question`.

    Attributes
    ----------
    row : int
        The number of the row in the table of all files.
    file, row_in_file
        The file that it is in, and its number there.
    """

    asked: Question
    row: int
    file: str
    row_in_file: int

    @property
    def column(self) -> Any:
        return self.asked.column

    @property
    def candidates(self) -> list[Any]:
        return self.asked.candidates

    @property
    def numbers(self) -> list[int | None]:
        return self.asked.numbers

    @property
    def prior(self) -> Floats:
        return self.asked.prior

    @property
    def n_candidates(self) -> int:
        return self.asked.n_candidates

    @property
    def cells(self) -> list[CellValues]:
        return self.asked.cells

    @property
    def gain(self) -> float:
        return self.asked.gain

    @property
    def why(self) -> Why:
        return self.asked.why

    @property
    def frame_row(self) -> FileRow:
        """Where the row is, as `StreamedSession.frame_row` says it."""
        return FileRow(self.file, self.row_in_file)

    def _repr_html_(self) -> str:
        return question_html(self)

    def answer(self, candidate: int) -> dict[str, Any]:
        """What to tell if one of the listed candidates is true."""
        return {**self.asked.answer(candidate), "row": self.row}


@dataclass(frozen=True, eq=False)
class _Over:
    """A session over the rows that are gathered now; replaced as a whole."""

    near: NearRows
    rows: SomeRows
    table: IncompleteTable
    session: Any  # a CleaningSession
    spare: int
    beyond: frozenset[int] = frozenset()  # places of rows that are where they could not be

    def place(self, row: int) -> int | None:
        """Where a row of the files is among the gathered ones."""
        (places,) = np.nonzero(self.rows.numbers == row)
        return int(places[0]) if len(places) else None

    def row(self, place: int) -> int:
        """The number in all files of a gathered row."""
        return int(self.rows.numbers[place])

    @property
    def answers(self) -> list[dict[str, Any]]:
        """All answers and skips so far, by rows of the files."""
        return [{**entry, "row": self.row(entry["row"])} for entry in self.session.answers]


class StreamedSession(SessionLooks):
    """Clean the rows of files that matter for the predictions of validation points.

    Made by ``CleaningSession(table, ...)`` of a StreamedTable. The files are read once, then again
    only for answers about rows that were not gathered, or that surprise.

    Parameters
    ----------
    kind : type
        Of the session over the gathered rows.
    table : StreamedTable
    X_val, n_neighbors, strategy, y_val, random_state, metric, n_jobs
        As in `CleaningSession`; metric by name.
    progress : bool, or function of words and a share, optional
        Whether to show a progress bar while files are read; by default on a terminal.
    **options
        The other options of `CleaningSession`, except costs per row.

    Attributes
    ----------
    table : StreamedTable
    near_rows : ndarray of int
        The rows that were gathered, by their numbers in the table of all files. `gains()` and
        `data` are about these.

    Notes
    -----
    Strategies that look at rows by chance choose among the gathered ones. `refit`, `world` and
    `classifier` need all rows: write the cleaned files, and make a table of them.
    """

    def __init__(
        self,
        kind: type,
        table: StreamedTable,
        X_val: Any,
        n_neighbors: int = 3,
        strategy: Any = "cpclean",
        y_val: Any = None,
        random_state: int | None = None,
        *,
        metric: Any = "euclidean",
        n_jobs: int | None = None,
        progress: Shown = None,
        **options: Any,
    ) -> None:
        costs = options.get("costs")
        if costs is not None and not isinstance(costs, Mapping):
            raise CPCleanError(
                "costs in a session over files must be a dict from column to cost; got "
                f"{type(costs).__name__}.",
                field="costs",
            )
        self.table, self._kind = table, kind
        self._model = checked_model(table, n_neighbors, metric)
        self._points = X_val if isinstance(X_val, Points) else table.session_points(X_val)
        self._n_jobs, self._progress = n_jobs, progress
        self._options = {
            **options,
            "n_neighbors": self._model.n_neighbors,
            "metric": metric,
            "strategy": strategy,
            "y_val": y_val,
            "random_state": checked_seed(random_state),
            "n_jobs": n_jobs,
        }
        near = self._gathered(SPARE)
        self._over = self._session(near, near.some_rows, SPARE, [])

    # -- looking ---------------------------------------------------------------------------

    @property
    def view(self) -> SessionView:
        """The view of the session over the gathered rows, which are numbered by their places."""
        view: SessionView = self._over.session.view
        return view

    @property
    def near_rows(self) -> Ints:
        return self._over.rows.numbers

    @property
    def gathered(self) -> Any:
        """A `CleaningSession` over the gathered rows in this state, which are its rows 0, 1, ..."""
        return copy(self._over.session)

    @property
    def random_state(self) -> Any:
        return self._over.session.random_state

    @property
    def y_val(self) -> Any:
        return self._over.session.y_val

    @property
    def answers(self) -> list[dict[str, Any]]:
        """All answers and skips so far, by rows of the files, in plain values."""
        return self._over.answers

    @property
    def history(self) -> list[Record]:
        return [replace(one, row=self._over.row(one.row)) for one in self._over.session.history]

    @property
    def known(self) -> dict[int, dict[Any, Any]]:
        return {self._over.row(place): one for place, one in self._over.session.known.items()}

    @property
    def rough(self) -> dict[int, dict[Any, Between]]:
        return {self._over.row(place): one for place, one in self._over.session.rough.items()}

    def accuracy(self) -> float:
        """As `CleaningSession.accuracy`."""
        return float(self._over.session.accuracy())

    # -- asking ----------------------------------------------------------------------------

    def ask(self, n: int | None = None) -> Any:
        """As `CleaningSession.ask`; questions are `FileQuestion`."""
        found = self._over.session.ask(n)
        if isinstance(found, list):
            return [self._of_file(one) for one in found]
        return None if found is None else self._of_file(found)

    def question(self, row: int) -> FileQuestion:
        """The question about a row of your choice, gathered or not."""
        over, place = self._with_row(row)
        self._over = over
        return self._of_file(over.session.question(place))

    # -- answering -------------------------------------------------------------------------

    def tell(self, row: int, candidate: int | None = None, *, value: Any = None) -> Record:
        """As `CleaningSession.tell`, about any row of the files, if its file is as it was."""
        self.table.check(row)
        over, place = self._with_row(row)
        session = copy(over.session)
        record: Record = session.tell(place, candidate, value=value)
        self._over = self._checked(replace(over, session=session), place)
        record = replace(record, row=int(row))
        latest: list[Record] = [
            one for one in self._over.session.history if one.row == self._over.place(row)
        ]
        if record.kind == "same" or not latest:
            return record
        return replace(latest[-1], row=int(row), seconds=record.seconds)

    def frame_row(self, row: int) -> FileRow:
        """Where a row is: its file, and its number there."""
        return FileRow(*self.table.where(row))

    def skip(self, row: int) -> None:
        """As `CleaningSession.skip`."""
        over, place = self._with_row(row)
        session = copy(over.session)
        session.skip(place)
        self._over = replace(over, session=session)

    def undo(self, n: int = 1) -> None:
        """Undo the last n entries of `answers`."""
        session = copy(self._over.session)
        session.undo(n)
        self._over = _counted(replace(self._over, session=session))

    def replay(self, answers: Iterable[Mapping[str, Any]]) -> None:
        """Repeat the `answers` of another session, in their order; all of them or none."""
        entries, before = checked_log(answers), self._over
        try:
            repeat(self, entries)
        except BaseException:
            self._over = before
            raise

    def effort(self, *, progress: Shown = None) -> Effort:
        """As `CleaningSession.effort`, with rows of the files."""
        found: Effort = self._over.session.effort(progress=progress)

        def named(places: tuple[int, ...]) -> tuple[int, ...]:
            return tuple(map(self._over.row, places))

        return replace(
            found,
            answered=named(found.answered),
            kept=named(found.kept),
            avoidable=named(found.avoidable),
            needed=None if found.needed is None else named(found.needed),
        )

    def write(self, folder: str | os.PathLike[str], *, progress: Shown = None) -> list[Path]:
        """Write the files anew into another folder, with what is known in place of holes.

        All else stays as it is: the schema and row groups of Parquet files, every other byte of
        text files. The original files are only read.

        Parameters
        ----------
        folder : path
        progress : bool, or function of words and a share, optional

        Returns
        -------
        list of Path
        """
        return write_files(self.table.files, self.table.columns, self.known, folder, progress)

    # -- what needs all rows ---------------------------------------------------------------

    def widget(self) -> Any:
        """Refused: the widget shows rows of a table in memory."""
        raise CPCleanError(
            "the widget shows tables in memory, and this one is read from files.",
            "Use ask and tell, or cpclean serve.",
        )

    def refit(self) -> None:
        """Refused: trees would be learnt from all rows."""
        raise AnswerError(
            "refit learns from all rows, and a session over files has some of them. Write the "
            "cleaned files, and make a StreamedTable of them."
        )

    def world(self, fill: Any = "default") -> Any:
        """Refused: a complete table may not fit into memory."""
        raise CPCleanError(
            "a session over files has no table of all rows. Write the cleaned files: "
            "session.write(folder)."
        )

    def classifier(self) -> Any:
        """Refused: a classifier for any point needs all rows."""
        raise CPCleanError(
            "a session over files knows the rows near its validation points alone. Write the "
            "cleaned files (session.write), and fit a classifier to a StreamedTable of them."
        )

    # -- plumbing --------------------------------------------------------------------------

    def __repr__(self) -> str:
        return repr(self._over.session).replace("CleaningSession", "StreamedSession", 1)

    def _of_file(self, question: Question) -> FileQuestion:
        row = self._over.row(question.row)
        return FileQuestion(question, row, *self.table.where(row))

    def _gathered(self, spare: int) -> NearRows:
        cluster = self._options.get("cluster")
        return scanned(
            self.table, self._points, self._model, spare, self._n_jobs, self._progress, cluster
        )

    def _session(
        self, near: NearRows, rows: SomeRows, spare: int, answers: list[dict[str, Any]]
    ) -> _Over:
        """A session over some rows that repeats answers about rows of the files."""
        table = self.table.table_of(rows, near.facts)
        session = self._kind(table, self._points, **self._options)
        over = _Over(near, rows, table, session, spare)
        places = [{**entry, "row": over.place(entry["row"])} for entry in answers]
        over.session.replay(places)
        return _counted(over)

    def _with_row(self, row: Any) -> tuple[_Over, int]:
        """The session over rows among which a row of the files is, and its place there."""
        over = self._over
        place = over.place(int(row)) if is_whole(row) else None
        if place is None:
            rows = SomeRows.joined([over.rows, self.table.rows([row])])
            over = self._session(over.near, rows, over.spare, over.answers)
            place = over.place(int(row))
            assert place is not None, "the row was read from its file"
        return over, place

    def _checked(self, over: _Over, place: int) -> _Over:
        """The session after an answer, over more rows if others may be near by now."""
        beyond = over.beyond - {place}
        over = replace(over, beyond=beyond | ({place} if _is_beyond(over, place) else set()))
        while _is_outdated(over, self._points):
            spare = 2 * over.spare + 1
            near = self._gathered(spare)
            rows = SomeRows.joined([over.rows, near.some_rows])
            over = self._session(near, rows, spare, over.answers)
        return over


def _counted(over: _Over) -> _Over:
    """The same, when answers have come or gone: which rows are where they could not be."""
    told = {entry["row"] for entry in over.session.answers if "skip" not in entry}
    return replace(over, beyond=frozenset(one for one in told if _is_beyond(over, one)))


def _is_beyond(over: _Over, place: int) -> bool:
    session = over.session
    return is_beyond(over.table.dataset, session.data, place, session.view.model)


def _is_outdated(over: _Over, points: Points) -> bool:
    start, session = over.table.dataset, over.session
    return is_outdated(start, session.data, points, session.view.model, over.beyond, over.spare)
