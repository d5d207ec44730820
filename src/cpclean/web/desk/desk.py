"""The desk: where people get questions and hand in answers."""

from __future__ import annotations

import hashlib
import time
from collections import ChainMap
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from uuid import uuid4

from cpclean.data.rows import is_whole
from cpclean.errors import AnswerError, CPCleanError, RefusedError, StorageError, UnknownRowError
from cpclean.projects.project import Project
from cpclean.storage.checks import checked_text, used_before
from cpclean.storage.contract import Storage
from cpclean.storage.events import Event, Lease, NewEvent
from cpclean.storage.ledger import Ledger, ledger_of
from cpclean.web.desk.cell_views import (
    cells_of,
    said_text,
    spare_cells,
    spare_columns,
    typed_values,
    with_points,
)
from cpclean.web.desk.details import Detail, detail_of
from cpclean.web.desk.engine import Engine, Now
from cpclean.web.desk.exporting import events_text, log_text, table_bytes
from cpclean.web.desk.listing import page_of, row_views, said_of
from cpclean.web.desk.progress import progress_of
from cpclean.web.desk.views import AnsweredView, ProgressView, QuestionView, RowsView

# Rows of the ranking that are looked through first for one that is free.
FIRST = 200
NAME_LENGTH = 100
EXPORT_SECONDS = 20.0  # that an export waits for the engine


class NotReadyError(CPCleanError):
    """The engine has not had its first look at the table yet."""


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
        How many people have to say the same of a row; by default what the project says.

    Examples
    --------
    >>> import pandas as pd
    >>> from cpclean import IncompleteTable
    >>> from cpclean.storage.opening import open_storage
    >>> from cpclean.projects.project import Project, Settings
    >>> frame = pd.DataFrame({"size": [1, 2, None, 8], "age": [3, 1, 2, 1], "y": [0, 0, 0, 1]})
    >>> points = pd.DataFrame({"size": [7], "age": [2]})
    >>> table = IncompleteTable(frame, label="y")
    >>> storage = open_storage("memory://")
    >>> storage.create(Project.make(table, points, settings=Settings(n_neighbors=1)))
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
        self, storage: Storage, *, lease_seconds: float = 600, answers_per_row: int | None = None
    ) -> None:
        project = storage.project()
        if project is None:
            raise StorageError(f"there is no project in {storage.name} yet; create one first.")
        if answers_per_row is not None:
            settings = replace(project.settings, answers_per_row=answers_per_row)
            project.settings = settings.checked()
        self.storage, self.project = storage, project
        self.lease_seconds = float(lease_seconds)
        self.answers_per_row = project.settings.answers_per_row
        self.engine = Engine(storage, project, self.answers_per_row)
        self._dirty = frozenset(project.dirty_rows.tolist())
        self._numbers = row_numbers(project)
        self._comma = project.text is not None and project.text.decimal == ","
        self._spare = spare_columns(project)
        # The same for pages about the same table with the same candidates, and for no others.
        belongs = repr(sorted(project.belongs.items())).encode()
        self.mark = hashlib.sha256(belongs).hexdigest()[:16]
        self._progress = progress_of(self.engine, project)

    def start(self) -> None:
        """Let the engine begin; this returns at once."""
        self.engine.start()

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
        found = about.get("file") if isinstance(about, dict) else None
        return str(found) if found else self.storage.name

    # -- questions -------------------------------------------------------------------------

    def question(self, who: str, row: int | None = None) -> QuestionView | None:
        """The question that matters most and that nobody else holds, held for this person now.

        Somebody who has one already gets it again. With a row, that row, also if it is answered;
        it is held if it can be asked for and nobody else holds it. None if there is nothing to
        ask; `progress` tells why: it is `done`, it is `busy` with its first look, or others hold
        all that is left.
        """
        who, now = checked_name(who), self.engine.now
        if row is not None:
            row = self._checked_row(row)
            if now is None:
                raise NotReadyError("the table is being looked at for the first time. Try again.")
            return self._view(now, who, row, self._lease_of(now, who, row), whole=True)
        if now is None or not now.ranking:
            return None
        lease = self._kept_lease(now, who) or self._new_lease(now, who)
        return None if lease is None else self._view(now, who, lease.row, lease)

    def look(self, row: int) -> QuestionView:
        """The question about a row, for nobody in particular: it is not held."""
        row, now = self._checked_row(row), self.engine.now
        if now is None:
            raise NotReadyError("the table is being looked at for the first time. Try again.")
        return self._view(now, "", row, None)

    def _kept_lease(self, now: Now, who: str) -> Lease | None:
        """What this person holds already; what has been settled meanwhile is given back."""
        allowed = set(now.ledger.ranking_for(who, now.ranking))
        best: Lease | None = None
        for lease in self.storage.leases():
            if lease.who != who:
                continue
            if lease.row not in allowed:
                self.storage.release(lease)
            elif best is None or now.place[lease.row] < now.place[best.row]:
                best = lease
        return None if best is None else self.storage.renew(best, self.lease_seconds)

    def _new_lease(self, now: Now, who: str) -> Lease | None:
        rows = now.ledger.ranking_for(who, now.ranking)
        for some in (rows[:FIRST], rows[FIRST:]):
            if some:
                places = now.ledger.places(some)
                found = self.storage.lease(some, who, self.lease_seconds, places, now.ledger.last)
                if found is not None:
                    return found
        return None

    def _lease_of(self, now: Now, who: str, row: int) -> Lease | None:
        """A lease of that row, if it can be asked for and had."""
        if row not in now.place:
            return None
        mine = [one for one in self.storage.leases() if one.row == row and one.who == who]
        if mine:
            return self.storage.renew(mine[0], self.lease_seconds)
        return self.storage.lease([row], who, self.lease_seconds, now.ledger.places([row]))

    def _view(
        self, now: Now, who: str, row: int, lease: Lease | None, whole: bool = False
    ) -> QuestionView:
        detail = self._detail(now, row, whole)
        told = now.ledger.rows.get(row)
        others = [] if told is None else [one.who for one in told.words if one.who != who]
        said = None
        if told is not None and (told.state == "settled" or who in told.people):
            said = said_of(now, told)
        elif detail.known.raw:
            said = said_text(detail.known.raw, self.project.table)
        return QuestionView(
            row=row,
            number=self._numbers[row],
            cells=cells_of(self.project.table, row, detail.holes, detail.known.raw)
            + spare_cells(self._spare, self._numbers[row]),
            candidates=list(detail.candidates),
            gain=float(now.gains[row]),
            near=detail.near,
            lease_id=None if lease is None else lease.id,
            lease_seconds=0.0 if lease is None else self.lease_seconds,  # from this moment on
            others=others,
            said=said,
            version=self.engine.version,
            n_candidates=detail.n_candidates,
            settled=told is not None and told.state == "settled",
        )

    def _detail(self, now: Now, row: int, whole: bool) -> Detail:
        """Worked out ahead, or else now: what the candidates would settle only if it is wanted."""
        found = self.engine.details.get(row)
        if found is None:
            found = detail_of(now.session, row, now.version)
            found = found.with_settles() if whole else found
        return found

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
    ) -> AnsweredView:
        """Take in what is true of a row; it is in the storage when this returns.

        Parameters
        ----------
        who : str
        row : int
        candidate : int, optional
            The number of a candidate of the question.
        values : dict from column to text, optional
            The true values instead, as a person types them.
        request_id : str, optional
            The same for a call that is repeated because nobody knows whether it arrived.
        seconds : float, optional
            How long it took.
        correct : bool
            Whether the person has seen what several people agreed on, and knows better. Without
            it, what is said of such a row is one more voice, for it may have been said blindly.
        """
        who, row, now = checked_name(who), self._checked_row(row), self.engine.now
        if (before := self._told_before(who, row, request_id)) is not None:
            self._check_same(before, candidate, values)
            return _taken(before)
        entry = self._entry(now, row, candidate, values)
        told = None if now is None else now.ledger.rows.get(row)
        settled = told is not None and told.state == "settled"
        kind = "correction" if settled and (correct or self.answers_per_row == 1) else "answer"
        said = NewEvent(kind, who, row, entry.get("candidate"), entry.get("value"), seconds=seconds)
        return self._append(said, request_id)

    def _entry(
        self, now: Now | None, row: int, candidate: int | None, values: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        """An answer as the log has it, or an error that says what is wrong with it."""
        if (candidate is None) == (not values):
            raise AnswerError(
                f"an answer about row {self._numbers[row]} is the number of a candidate or values: "
                f"one of the two; got {'both' if values else 'neither'}. Skip what you do not know."
            )
        cells = self.project._subject.cells(row)
        if candidate is None:
            assert values is not None, "one of the two"
            if self._comma:
                values = with_points(self.project.table, values)
            typed = typed_values(self.project.table, self._numbers[row], list(cells), values)
            return self.project.entry(row, None, typed)
        entry = self.project.entry(row, candidate)
        known = None if now is None else now.session.view.version.known.get(row)
        # Of a row that is told in part, a candidate answers what is left: the rest stays.
        left = [] if known is None else [name for name in cells if name not in known.raw]
        return self._part(row, candidate, left) if 0 < len(left) < len(cells) else entry

    def _part(self, row: int, candidate: int, names: list[Any]) -> dict[str, Any]:
        """What a candidate says of some of the holes."""
        given = self.project.table.candidates(row)[candidate]
        return self.project.entry(row, None, {name: given[name] for name in names})

    def skip(
        self, who: str, row: int, request_id: str | None = None, seconds: float | None = None
    ) -> AnsweredView:
        """Take in that somebody does not know."""
        who, row = checked_name(who), self._checked_row(row)
        if (before := self._told_before(who, row, request_id)) is not None:
            if before.kind != "skip":
                raise used_before(before)
            return _taken(before)
        return self._append(NewEvent("skip", who, row, seconds=seconds), request_id)

    def undo(self, who: str, request_id: str | None = None) -> AnsweredView:
        """Take back what this person said last."""
        who = checked_name(who)
        ledger, by_request = self._latest()
        if request_id is not None and request_id in by_request:
            found = by_request[request_id]
            if found.kind != "undo" or found.who != who:
                raise used_before(found)
            return _taken(found)
        last = ledger.latest.get(who)
        if last is None:
            raise AnswerError(f"{who} has said nothing that could be taken back.")
        return self._append(NewEvent("undo", who, undoes=last), request_id)

    def _latest(self) -> tuple[Ledger, Mapping[str, Event]]:
        """What the log says this moment: the engine may be a few answers behind."""
        now = self.engine.now
        events = [] if now is None else now.events
        by_request = {} if now is None else now.by_request
        fresh = self.storage.events(after=len(events))
        if now is not None and not fresh:
            return now.ledger, by_request
        ledger = ledger_of([*events, *fresh], self.answers_per_row, self.project.spelling)
        return ledger, ChainMap({one.request_id: one for one in fresh}, by_request)

    def _told_before(self, who: str, row: int, request_id: str | None) -> Event | None:
        """The event of an earlier call with the same request id, about the same row.

        Looked for here, because what was an answer then may look like a correction now.
        """
        now = self.engine.now
        found = None if now is None or request_id is None else now.by_request.get(request_id)
        if found is None:
            return None
        if (found.who, found.row) != (who, row) or found.kind == "undo":
            raise used_before(found)
        return found

    def _check_same(
        self, before: Event, candidate: int | None, values: Mapping[str, Any] | None
    ) -> None:
        """Refuse an answer with the request id of an event that says something else."""
        entry = self._entry(None, before.row, candidate, values)
        if candidate is not None and before.value is not None:  # it was told in part then
            names = [one for one in self.project._subject.cells(before.row) if one in before.value]
            entry = self._part(before.row, candidate, names)
        again = replace(before, candidate=entry.get("candidate"), value=entry.get("value"))
        if before.kind == "skip" or self.project.spelling(again) != self.project.spelling(before):
            raise used_before(before)

    def _append(self, said: NewEvent, request_id: str | None) -> AnsweredView:
        event = self.storage.append(said, uuid4().hex if request_id is None else request_id)
        self.engine.wake()
        return _taken(event)

    def _checked_row(self, row: Any) -> int:
        if not is_whole(row) or int(row) not in self._dirty:
            raise UnknownRowError(f"there is no row {str(row)[:40]} with holes in this table.")
        return int(row)

    def overtaken(self, who: str, row: int, request_id: str) -> str | None:
        """What others said of a row that is settled by now; None if nothing, or if it is ours."""
        now = self.engine.now
        told = None if now is None else now.ledger.rows.get(row)
        if now is None or told is None or told.state != "settled" or request_id in now.by_request:
            return None
        decided = told.decided
        return None if decided is None or decided.who == who else said_of(now, told)

    # -- looking ---------------------------------------------------------------------------

    def progress(self) -> ProgressView:
        """How far it is."""
        found = self._progress
        if found.version != self.engine.version:
            found = self._progress = progress_of(self.engine, self.project)
        return replace(found, busy=self.engine.behind, trouble=self.engine.trouble)

    def rows(
        self,
        state: str = "all",
        sort: str = "gain",
        order: str = "desc",
        page: int = 1,
        per_page: int = 50,
        search: str = "",
    ) -> RowsView:
        """All rows with holes, a page of them."""
        found = row_views(
            sorted(self._dirty),
            self._numbers.__getitem__,
            lambda row: [str(name) for name in self.project._subject.cells(row)],
            self.engine.now,
            self.storage.leases(),
        )
        return page_of(found, state, sort, order, page, per_page, search)

    def wait(self, version: int, timeout: float) -> int:
        """Wait until the version is another one, and give it back; after a time in any case."""
        return self.engine.wait(version, timeout)

    # -- out -------------------------------------------------------------------------------

    def export_table(self, suffix: str = ".csv", fill: str | None = None) -> bytes:
        """The table with what is told so far; what nobody told stays as it is, or is guessed."""
        self.engine.wake()
        self.ready(EXPORT_SECONDS)  # what was confirmed is to be in it
        now = self.engine.now
        if now is None:
            raise NotReadyError("the table is being looked at for the first time. Try again.")
        return table_bytes(self.project, now.session, self._numbers, suffix, fill)

    def export_log(self, everything: bool = False) -> str:
        """What counts, as `cpclean clean` writes it; or every event, as JSON lines."""
        events = self.storage.events()
        if everything:
            return events_text(events)
        ledger = ledger_of(events, self.answers_per_row, self.project.spelling)
        return log_text(self.project, ledger, events)


def row_numbers(project: Project) -> list[int]:
    """The number of each row for people: in the file, if the project knows it."""
    about = project.settings.about
    listed = about.get("rows") if isinstance(about, dict) else None
    if isinstance(listed, list) and len(listed) == project.n_rows:
        return [int(number) for number in listed]
    return [int(number) for number in project.table.rows_kept.tolist()]


def checked_name(who: Any) -> str:
    """Somebody's name without blanks around it."""
    name = " ".join(who.split()) if isinstance(who, str) else who
    if isinstance(name, str) and len(name) > NAME_LENGTH:
        raise RefusedError(f"a name may have {NAME_LENGTH} characters; got {len(name)}.")
    return checked_text(name, "who")


def _taken(event: Event) -> AnsweredView:
    return AnsweredView(event.number, event.kind, event.row)
