"""The desk: where people get questions and hand in answers."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from cpclean.cleaning.known_cells import rough_cells
from cpclean.errors import AnswerError, RefusedError, StorageError
from cpclean.projects.project import Project
from cpclean.storage.checks import checked_text
from cpclean.storage.contract import Storage
from cpclean.storage.ledger import ledger_of
from cpclean.web.desk.allotting import Allotting
from cpclean.web.desk.audit import audit_text, quality_of, quality_text, words_about_known
from cpclean.web.desk.engine import Engine
from cpclean.web.desk.exporting import (
    archive_of_files,
    events_text,
    log_text,
    predictions_of,
    predictions_text,
    table_bytes,
    words_about_filled,
)
from cpclean.web.desk.gold import QualityView
from cpclean.web.desk.handing_out import HandingOut
from cpclean.web.desk.listing import RowsWanted, own_answer, page_of, row_views
from cpclean.web.desk.notifying import Notifier
from cpclean.web.desk.presence import RECENT_SECONDS, Presence
from cpclean.web.desk.progress import progress_of
from cpclean.web.desk.project_rows import ProjectRows
from cpclean.web.desk.row_images import RowImage, content_of, image_of
from cpclean.web.desk.taking_in import TakingIn
from cpclean.web.desk.team_settings import TeamSettings
from cpclean.web.desk.trying import Trying
from cpclean.web.desk.views import (
    AnsweredView,
    HolderView,
    NextView,
    PredictionsView,
    ProgressView,
    QuestionView,
    RowsView,
)

NAME_LENGTH = 100
RECENT_EVENTS = 1000  # among which somebody's last one is looked for
MOST_NEXT = 10  # questions of a person that are listed ahead
EXPORT_SECONDS = 20.0  # that an export waits for the engine
STORY_ANSWERS = 3  # after which a demo needs no explanation any more


class Desk:
    """Questions out, answers in, over a storage; the engine works in a thread of its own.

    Any number of threads may use one desk, and any number of desks one storage.

    Parameters
    ----------
    storage : Storage
        With a project in it.
    lease_seconds : float
        How long a question stays with the person who got it.
    answers_per_row : int, optional
        How many people must agree on each row; by default as the project says.
    cluster : str, optional
        The address of a Dask scheduler whose workers look at the points; servers may share one.
    notify : str, optional
        The address that learns, once, that the target is reached.

    Examples
    --------
    >>> import pandas as pd
    >>> from cpclean import IncompleteTable
    >>> from cpclean.storage.opening import open_storage
    >>> from cpclean.data.task import Task
    >>> from cpclean.projects.project import Project, Settings
    >>> from cpclean.queries.model import Model
    >>> frame = pd.DataFrame({"size": [1, 2, None, 8], "age": [3, 1, 2, 1], "y": [0, 0, 0, 1]})
    >>> points = pd.DataFrame({"size": [7], "age": [2]})
    >>> table = IncompleteTable(frame, label="y")
    >>> storage = open_storage("memory://")
    >>> storage.create(Project.make(Task.of(table, points), Settings(Model(n_neighbors=1))))
    >>> desk = Desk(storage)
    >>> desk.start()
    >>> version = desk.ready()
    >>> question = desk.question("Ann")
    >>> question.row, [one.cells["size"] for one in question.candidates]
    (2, ['1', '1.5', '3.66667', '5', '8'])
    >>> desk.answer("Ann", question.row, values={"size": "2.5"}).kind
    'answer'
    >>> desk.stop()
    """

    def __init__(
        self,
        storage: Storage,
        *,
        lease_seconds: float = 600,
        answers_per_row: int | None = None,
        cluster: str | None = None,
        notify: str | None = None,
    ) -> None:
        project = storage.project()
        if project is None:
            raise StorageError(f"there is no project in {storage.name} yet. Create one first.")
        if answers_per_row is not None:
            settings = replace(project.settings, answers_per_row=answers_per_row)
            project = project.with_settings(settings)
        self.storage, self.project = storage, project
        self.answers_per_row = project.settings.answers_per_row
        self.engine = Engine(storage, project, self.answers_per_row, cluster)
        self._rows = ProjectRows(project)
        self.team = TeamSettings(storage, self._rows.columns_with_holes)
        self.presence = Presence()
        self._allotting = allotting = Allotting(self._rows, self.team)
        self._began, self._lease_time = storage.now(), timedelta(seconds=lease_seconds)
        lease_seconds = float(lease_seconds)
        self._out = HandingOut(storage, project, self._rows, self.engine, allotting, lease_seconds)
        self._in = TakingIn(storage, project, self._rows, self.engine, allotting)
        self._notifier = None if notify is None else self._notifier_for(notify)
        self.trying = Trying(project, self.engine)
        self.mark = _mark(project)
        self._progress = progress_of(self.engine, project)

    def _notifier_for(self, url: str) -> Notifier:
        return Notifier(self.storage, self.progress, lambda: self.engine.stopping, self.name, url)

    def start(self) -> None:
        """Let the engine begin; this returns at once."""
        self.engine.start()
        if self._notifier is not None:
            self._notifier.start()

    def stop(self) -> None:
        """Let the engine end; the storage stays open."""
        self.engine.stop()

    def ready(self, timeout: float = 60.0) -> int:
        """Wait until the engine has had its first look and knows all answers so far."""
        end = time.monotonic() + timeout
        while self.engine.behind and time.monotonic() < end:
            self.engine.wait(self.engine.version, 0.1)
        return self.engine.version

    @property
    def name(self) -> str:
        """What is cleaned, for people."""
        about = self.project.settings.about
        found = about.get("file") if about else None
        return str(found) if found else self.storage.name

    @property
    def version(self) -> int:
        """Another one whenever anything that people see may have changed."""
        return self.engine.version

    @property
    def stopped(self) -> str | None:
        """Why there is nothing more to ask, in words; None while there is."""
        return None if self.engine.now is None else self.engine.now.stopped

    @property
    def busy(self) -> bool:
        """Whether the engine has not caught up with all answers yet."""
        return self.engine.behind

    # -- questions -------------------------------------------------------------------------

    def question(self, who: str, row: int | None = None) -> QuestionView | None:
        """The question that matters most and that nobody else holds, held for this person now.

        Somebody who has one already gets it again. With a row, that row, also if it is answered;
        it is held if it can be asked about and nobody else holds it. None if there is nothing to
        ask; `progress` tells why: it is `done`, it is `busy` with its first look, or others hold
        all that is left.
        """
        who = checked_name(who)
        return self._out.best(who) if row is None else self._out.about(who, self._rows.checked(row))

    def look(self, row: int) -> QuestionView:
        """The question about a row, for nobody in particular: it is not held."""
        return self._out.look(self._rows.checked(row))

    def place_of(self, row: int) -> int:
        """Where a row is in the table of the project, which lacks the rows that are held out."""
        return self._rows.checked(row)

    def record(self, row: int) -> dict[str, str]:
        """The paper record of a row of the demo, by column; empty for any other project."""
        records = (self.project.settings.about or {}).get("records")
        found = records.get(str(row)) if isinstance(records, dict) else None
        return {str(name): str(text) for name, text in (found or {}).items()}

    @property
    def story(self) -> str:
        """What the demo is about, for people who have just come; "" for any other project."""
        now = self.engine.now
        at_first = now is None or len(now.view.history) < STORY_ANSWERS
        return str((self.project.settings.about or {}).get("story") or "") if at_first else ""

    def image(self, row: int) -> RowImage | None:
        """The picture of a row, if a column names one that can be shown."""
        return image_of(*self._image_place(self._rows.checked(row)))

    def image_content(self, row: int) -> tuple[bytes, str]:
        """The picture of a row and its media type, or an error."""
        return content_of(*self._image_place(self._rows.checked(row)))

    def _image_place(self, row: int) -> tuple[Any, Path | None]:
        about = self.project.settings.about or {}
        column, folder = about.get("image"), about.get("folder")
        cell = self._rows.cells(row).get(column) if isinstance(column, str) else None
        return cell, Path(folder) if isinstance(folder, str) and folder else None

    def next_rows(self, who: str, most: int = MOST_NEXT) -> list[NextView]:
        """The rows that a person will probably be asked about next, in order."""
        return self._out.next_rows(checked_name(who), most)

    def held_by_others(self, who: str) -> list[HolderView]:
        """The rows for this person that others have open, and for how long."""
        return self._out.held_by_others(checked_name(who))

    def all_held(self) -> list[HolderView]:
        """All rows that anybody has open, and for how long."""
        return self._out.all_held()

    def take_over(self, who: str, row: int) -> bool:
        """Take a row over from whoever has it open; whether it is this person's now."""
        return self._out.take_over(checked_name(who), self._rows.checked(row))

    def best_rows(self, limit: int) -> list[int]:
        """The rows that matter most, whether somebody holds them or not."""
        now = self.engine.now
        return [] if now is None else [self._rows.numbers[row] for row in now.ranking[:limit]]

    def own_answer(self, row: int, who: str | None) -> str | None:
        """What a person answered about a row that is not settled yet: only they may see it."""
        return own_answer(self.engine.now, self._rows.checked(row), who)

    # -- answers ---------------------------------------------------------------------------

    def answer(
        self,
        who: str,
        row: int,
        candidate: int | None = None,
        values: Mapping[str, Any] | None = None,
        request_id: str | None = None,
        seconds: float | None = None,
        correct: bool = False,
        comment: str = "",
        seen: int | None = None,
    ) -> AnsweredView:
        """Save what is true about a row; it is in the storage when this returns.

        Parameters
        ----------
        who : str
        row : int
        candidate : int, optional
            The number of a candidate of the question.
        values : dict from column to text, optional
            The true values instead, as a person types them; a rough one is
            {"between": [low, high]}. A candidate that is a value of a grid, such as the mean of
            its column, is saved as the range that stands for it.
        request_id : str, optional
            The same for a call that is repeated because nobody knows whether it arrived.
        seconds : float, optional
            How long it took.
        correct : bool
            Whether the person has seen what several people agreed on, and knows better. Without
            it, an answer about such a row is one more vote, for it may have been given blindly.
        comment : str
            What else there is to say.
        seen : int, optional
            The number of the last event that the person knows of: `seen` of the question. If the
            row was answered differently after it, by whomever, nothing is saved and an
            `OvertakenError` says what was. Without it, only an answer of somebody else that comes
            in the same moment is an obstacle; later, the answer overrules theirs.
        """
        who, row = checked_name(who), self._rows.checked(row)
        said = candidate, values, request_id, seconds, correct, comment, seen
        return self._in.answer(who, row, *said)

    def unusual(self, row: int, values: Mapping[str, Any]) -> dict[str, str]:
        """What is strange about values that were typed, by column, each as a question."""
        return self._in.strange(self._rows.checked(row), values)

    def skip(
        self,
        who: str,
        row: int,
        request_id: str | None = None,
        seconds: float | None = None,
        *,
        reason: str = "",
        to: str = "",
        comment: str = "",
    ) -> AnsweredView:
        """Save that somebody does not know, and why, or who is to be asked instead.

        Parameters
        ----------
        reason : {"", "not recorded", "unreadable", "cannot be known", "ask somebody else"}
        to : str
            The person to whom the row is handed over; nobody by default.
        comment : str
        """
        who, row = checked_name(who), self._rows.checked(row)
        to = checked_name(to) if to.strip() else ""
        if to == who:
            raise AnswerError("a row is handed over to somebody else; got your own name.")
        note = {"reason": reason, "to": to, "comment": comment.strip()}
        return self._in.skip(who, row, request_id, seconds, note)

    def comment(
        self, who: str, row: int, comment: str, request_id: str | None = None
    ) -> AnsweredView:
        """Save a comment on a row; it changes nothing else."""
        if not comment.strip():
            raise AnswerError("there is no comment to save. Type one first.")
        return self._in.comment(checked_name(who), self._rows.checked(row), comment, request_id)

    @property
    def people(self) -> list[str]:
        """Everybody who has answered or skipped something, in order."""
        now = self.engine.now
        return [] if now is None else sorted({*now.ledger.answers, *now.ledger.skips})

    def name_in_use(self, browser: str, who: str) -> tuple[str, float] | None:
        """The name of somebody active in another browser, as they write it, and how long ago.

        None if nobody was lately. Names are the same whatever their case.
        """
        key, now, at = who.casefold(), self.engine.now, self.storage.now()
        found = self.presence.elsewhere(browser, who)
        if found is not None or self.presence.knows(browser, who):
            return found
        # Another server may know more: what is held and answered is for all to see. What is older
        # than this server tells nothing: after a restart, people come back in the same browsers.
        events = [] if now is None else now.events[-RECENT_EVENTS:]
        seen = [(one.who, one.until - self._lease_time) for one in self.storage.leases()]
        seen += [(one.who, one.at) for one in events]
        recent = [
            (name, (at - then).total_seconds())
            for name, then in seen
            if name.casefold() == key and then > self._began
        ]
        found = min(recent, key=lambda one: one[1], default=None)
        return None if found is None or found[1] > RECENT_SECONDS else found

    def quality(self) -> list[QualityView]:
        """How well each person answers gold questions; empty if there are none."""
        now = self.engine.now
        if now is None or not now.ledger.truths:
            return []
        events = now.events[: now.ledger.last]
        return quality_of(self.project, self._rows, now.ledger, events)

    @property
    def n_gold(self) -> int:
        """How many rows are gold questions."""
        return 0 if self.engine.now is None else len(self.engine.now.ledger.truths)

    @property
    def rows_for_nobody(self) -> int:
        """Rows that no expert is asked about; 0 without experts."""
        return 0 if self.engine.now is None else self._allotting.for_nobody(self.engine.now)

    def undo(self, who: str, request_id: str | None = None) -> AnsweredView:
        """Undo what this person answered or skipped last."""
        return self._in.undo(checked_name(who), request_id)

    # -- looking ---------------------------------------------------------------------------

    def progress(self) -> ProgressView:
        """How far it is."""
        found = self._progress
        if found.version != self.engine.version:
            found = self._progress = progress_of(self.engine, self.project)
        return replace(found, busy=self.engine.behind, trouble=self.engine.trouble)

    def rows(self, wanted: RowsWanted | None = None, who: str | None = None) -> RowsView:
        """All rows with holes, a page of them; with `who`, with that person's answers."""
        now = self.engine.now
        found = page_of(row_views(self._rows, now, self.storage.leases()), wanted or RowsWanted())
        own = {one.row: own_answer(now, self._rows.checked(one.row), who) for one in found.rows}
        rows = [replace(one, said=own[one.row] or one.said) for one in found.rows]
        return replace(found, rows=rows)

    def wait(self, version: int, timeout: float) -> int:
        """Wait until the version is another one, and return it; after a time in any case."""
        return self.engine.wait(version, timeout)

    # -- out -------------------------------------------------------------------------------

    def export_table(
        self, suffix: str = ".csv", fill: str | None = None, spreadsheet: bool = False
    ) -> bytes:
        """The table with what is known so far; the rest stays as it is, or is guessed.

        Only exact answers are in it. With `spreadsheet`, what a spreadsheet would take for a
        formula is escaped in text files.
        """
        self.engine.wake()
        self.ready(EXPORT_SECONDS)  # what was confirmed must be in it
        session = self.engine.ready_now().session
        return table_bytes(self.project, session, self._rows.numbers, suffix, fill, spreadsheet)

    def export_audit(self, spreadsheet: bool = False) -> str:
        """Every answer cell by cell: old and new value, who, when, how exactly, and comments."""
        events = self.storage.events()
        ledger = ledger_of(events, self.answers_per_row, self.project.spelling)
        return audit_text(self.project, self._rows, ledger, events, spreadsheet)

    def export_quality(self) -> str:
        """How well each person answers gold questions, as a CSV file for spreadsheets."""
        self.engine.wake()
        self.ready(EXPORT_SECONDS)
        return quality_text(self.quality(), spreadsheet=True)

    def export_files(self) -> Iterator[bytes]:
        """The files of a large table with what is known so far, as a .zip archive in blocks."""
        self.engine.wake()
        self.ready(EXPORT_SECONDS)
        return archive_of_files(self.project, self.engine.ready_now().session)

    def predictions(self) -> PredictionsView:
        """Every row to predict: its label, share and verdict."""
        return predictions_of(self.project, self.engine.ready_now(), self._rows)

    def export_predictions(self) -> str:
        """The same as a CSV file."""
        self.engine.wake()
        self.ready(EXPORT_SECONDS)
        return predictions_text(self.predictions())

    def words_about_filled(self) -> list[str]:
        """Where the values of the table without holes come from; none before the first look."""
        now = self.engine.now
        if now is None:
            return []
        return words_about_filled(self.project, now.session, self._rows.numbers)

    def words_about_known(self) -> str:
        """How many holes are known exactly, roughly, or not at all; "" before the first look."""
        now = self.engine.now
        if now is None:
            return ""
        session, rough = now.session, rough_cells(now.session, self.project.table)
        holes = {(row, name) for row in self._rows.dirty for name in self._rows.holes(row)}
        told = {(row, name) for row, known in session.known.items() for name in known} & holes
        exact = len(told - set(rough))
        return words_about_known(exact, len(set(rough)), len(holes) - exact - len(set(rough)))

    def export_log(self, everything: bool = False) -> str:
        """The answers that count, as `cpclean clean` writes them; or every event, as JSON lines."""
        events = self.storage.events()
        if everything:
            return events_text(self.project, events)
        ledger = ledger_of(events, self.answers_per_row, self.project.spelling)
        return log_text(self.project, ledger, events)


def checked_name(who: Any) -> str:
    """Somebody's name without blanks around it."""
    name = " ".join(who.split()) if isinstance(who, str) else who
    if isinstance(name, str) and len(name) > NAME_LENGTH:
        raise RefusedError(f"a name must have at most {NAME_LENGTH} characters; got {len(name)}.")
    return checked_text(name, "who")


def _mark(project: Project) -> str:
    """The same for pages about the same table with the same candidates, and for no others."""
    belongs = repr(sorted(project.belongs.items())).encode()
    return hashlib.sha256(belongs).hexdigest()[:16]
