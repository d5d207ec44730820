"""Answers in: checked, made into events, and saved; each request once."""

from __future__ import annotations

import re
import time
from collections import ChainMap
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any
from uuid import uuid4

from cpclean.data.between import Between
from cpclean.data.rough_ranges import range_around
from cpclean.errors import AnswerError, LockedError, OvertakenError
from cpclean.intake.plausible import unusual
from cpclean.intake.typed_values import values_typed
from cpclean.projects.project import Project
from cpclean.storage.checks import used_before
from cpclean.storage.contract import Storage
from cpclean.storage.events import Event, NewEvent, Since
from cpclean.storage.ledger import Ledger, ledger_of
from cpclean.web.desk.allotting import Allotting
from cpclean.web.desk.engine import Engine, Now
from cpclean.web.desk.listing import settled_text
from cpclean.web.desk.project_rows import ProjectRows
from cpclean.web.desk.views import AnsweredView

# Larger numbers of candidates are saved as values; also the largest that JavaScript has exactly.
MOST_STORED = 2**53
# How long an answer that somebody was quicker than waits until it is known what they said.
CATCH_UP_SECONDS = 5.0
ATTEMPTS = 20  # to save an answer while others answer about other rows


class TakingIn:
    """Saves what people answer, skip and undo; all rows and names are checked before.

    Parameters
    ----------
    storage : Storage
    project : Project
    rows : ProjectRows
    engine : Engine
    allotting : Allotting
    """

    def __init__(
        self,
        storage: Storage,
        project: Project,
        rows: ProjectRows,
        engine: Engine,
        allotting: Allotting,
    ) -> None:
        self._storage, self._project, self._rows, self._engine = storage, project, rows, engine
        self._allotting = allotting
        self._answers_per_row = project.settings.answers_per_row
        self._decimal = "." if project.text is None else project.text.decimal
        whole = project.task.dataset.whole
        self._may_need_more = whole is not None and whole.spare is not None

    def answer(
        self,
        who: str,
        row: int,
        candidate: int | None,
        values: Mapping[str, Any] | None,
        request_id: str | None,
        seconds: float | None,
        correct: bool,
        comment: str = "",
        seen: int | None = None,
    ) -> AnsweredView:
        """As `Desk.answer`."""
        request_id = uuid4().hex if request_id is None else request_id
        for _ in range(ATTEMPTS):
            said = who, row, candidate, values, request_id, seconds, correct, comment
            try:
                return self._answer(*said, seen)
            except OvertakenError as problem:
                theirs = problem.event
                self._catch_up(theirs)
                if theirs.row == row:
                    mine = theirs.who == who and seen is None
                    mine = mine or _page_of(theirs.request_id) == _page_of(request_id)
                    if not mine and not self._is_same(theirs, candidate, values):
                        raise self._overtaken(theirs) from problem
                    seen = theirs.number  # a correction of one's own, or nothing new
        raise LockedError("not saved: others were answering all the while. Send it again.")

    def _answer(
        self,
        who: str,
        row: int,
        candidate: int | None,
        values: Mapping[str, Any] | None,
        request_id: str,
        seconds: float | None,
        correct: bool,
        comment: str,
        seen: int | None,
    ) -> AnsweredView:
        now = self._engine.now
        if (before := self._saved_before(who, row, request_id)) is not None:
            if not self._is_same(before, candidate, values):
                raise used_before(before)
            return self._view(before)
        entry, strange = self._entry(now, row, candidate, values), self.strange(row, values)
        last = self._storage.last() if now is None else now.ledger.last
        log = last if self._may_need_more else None
        if now is not None and self._may_need_more:
            copy(now.session).replay([entry])  # refuses what the rows at hand cannot tell
        state = None if now is None else now.ledger.rows.get(row)
        settled = state is not None and state.state == "settled" and not _is_asked(now, row, who)
        kind = "correction" if settled and (correct or self._answers_per_row == 1) else "answer"
        note = {"comment": comment.strip(), "unusual": list(strange)}
        said = NewEvent(
            kind, who, row, entry.get("candidate"), entry.get("value"), seconds=seconds, note=note
        )
        votes = self._answers_per_row > 1 and kind == "answer"
        known = None if votes or _is_asked(now, row, who) else last if seen is None else seen
        return self._append(said, request_id, Since(known, log))

    def strange(self, row: int, values: Mapping[str, Any] | None) -> dict[str, str]:
        """As `Desk.unusual`."""
        if not values:
            return {}
        return unusual(self._project.table, self._typed(row, values))

    def _typed(self, row: int, values: Mapping[str, Any]) -> dict[str, Any]:
        number, holes = self._rows.numbers[row], self._rows.holes(row)
        return values_typed(self._project.table, number, holes, values, self._decimal)

    def comment(self, who: str, row: int, comment: str, request_id: str | None) -> AnsweredView:
        """As `Desk.comment`."""
        said = NewEvent("comment", who, row, note={"comment": comment.strip()})
        return self._append(said, request_id)

    def skip(
        self,
        who: str,
        row: int,
        request_id: str | None,
        seconds: float | None,
        note: Mapping[str, Any] | None = None,
    ) -> AnsweredView:
        """As `Desk.skip`."""
        now = self._engine.now
        if (before := self._saved_before(who, row, request_id)) is not None:
            if before.kind != "skip":
                raise used_before(before)
            return self._view(before)
        note = dict(note or {})
        if not note.get("to") and (own := self._allotting.left_to_others(now, who, row)):
            note["columns"] = own
        return self._append(NewEvent("skip", who, row, seconds=seconds, note=note), request_id)

    def undo(self, who: str, request_id: str | None) -> AnsweredView:
        """As `Desk.undo`."""
        ledger, by_request = self._latest()
        if request_id is not None and request_id in by_request:
            found = by_request[request_id]
            if found.kind != "undo" or found.who != who:
                raise used_before(found)
            return self._view(found)
        last = ledger.latest.get(who)
        if last is None:
            raise AnswerError(f"there is no answer by {who} to undo.")
        return self._append(NewEvent("undo", who, undoes=last), request_id)

    def _overtaken(self, theirs: Event) -> OvertakenError:
        """The error for whoever would overrule an answer that they have not seen."""
        now = self._engine.now
        state = None if now is None else now.ledger.rows.get(theirs.row)
        text = None if now is None else settled_text(now, state)
        said = "" if text is None else f": {text}"
        number = self._rows.numbers[theirs.row]
        return OvertakenError(
            f"not saved: {theirs.who} has answered row {number} in the meantime{said}. To correct "
            "that, send yours again.",
            theirs,
        )

    def _catch_up(self, event: Event) -> None:
        """Wait until the engine knows an event."""
        self._engine.wake()
        end = time.monotonic() + CATCH_UP_SECONDS
        while time.monotonic() < end:
            now, version = self._engine.now, self._engine.version
            if now is not None and now.ledger.last >= event.number:
                return
            self._engine.wait(version, 0.1)

    # -- what an answer means ----------------------------------------------------------------

    def _entry(
        self, now: Now | None, row: int, candidate: int | None, values: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        """An answer as the log has it, or an error that says what is wrong with it."""
        number, holes = self._rows.numbers[row], self._rows.holes(row)
        if (candidate is None) == (not values):
            raise AnswerError(
                f"an answer about row {number} needs either the number of a candidate or values; "
                f"got {'both' if values else 'neither'}. If you do not know, skip the row."
            )
        if candidate is None:
            assert values is not None, "one of the two"
            return self._project.entry(row, None, self._typed(row, values))
        entry = self._project.entry(row, candidate)
        known = {} if now is None else now.view.known_of(row).raw
        # Of a row that is partly known, a candidate answers the rest.
        left = [name for name in holes if name not in known] if known else []
        if 0 < len(left) < len(holes):
            return self._part(row, candidate, left)
        # Storage has no place for the numbers of candidates of a row with very many holes.
        values = self._values_of(row, candidate, holes)
        if candidate >= MOST_STORED or any(isinstance(one, Between) for one in values.values()):
            return self._project.entry(row, None, values)
        return entry

    def _part(self, row: int, candidate: int, names: Sequence[str]) -> dict[str, Any]:
        """What a candidate says about some of the holes, as the log has it."""
        return self._project.entry(row, None, self._values_of(row, candidate, names))

    def _values_of(self, row: int, candidate: int, names: Sequence[str]) -> dict[str, Any]:
        """What a candidate says about some of the holes: a value of a grid, only roughly."""
        table = self._project.table
        given = table.candidate(row, candidate)
        rough = {name: range_around(table, row, name, given[name]) for name in names}
        return {name: given[name] if one is None else one for name, one in rough.items()}

    # -- each request once -------------------------------------------------------------------

    def _saved_before(self, who: str, row: int, request_id: str | None) -> Event | None:
        """The event of an earlier call with the same request id, about the same row.

        Looked for here, because what was an answer then may look like a correction now.
        """
        now = self._engine.now
        found = None if now is None or request_id is None else now.by_request.get(request_id)
        if found is None:
            return None
        if (found.who, found.row) != (who, row) or found.kind == "undo":
            raise used_before(found)
        return found

    def _is_same(
        self, before: Event, candidate: int | None, values: Mapping[str, Any] | None
    ) -> bool:
        """Whether an event says the same as an answer."""
        entry = self._entry(None, before.row, candidate, values)
        if candidate is not None and before.value is not None:  # the row was partly known then
            names = [one for one in self._rows.holes(before.row) if one in before.value]
            entry = self._part(before.row, candidate, names)
        again = replace(before, candidate=entry.get("candidate"), value=entry.get("value"))
        spelling = self._project.spelling
        return before.kind != "skip" and spelling(again) == spelling(before)

    def _latest(self) -> tuple[Ledger, Mapping[str, Event]]:
        """What the log says this moment: the engine may be a few answers behind."""
        now = self._engine.now
        events = [] if now is None else now.events
        by_request = {} if now is None else now.by_request
        fresh = self._storage.events(after=len(events))
        if now is not None and not fresh:
            return now.ledger, by_request
        ledger = ledger_of([*events, *fresh], self._answers_per_row, self._project.spelling)
        return ledger, ChainMap({one.request_id: one for one in fresh}, by_request)

    def _append(
        self, said: NewEvent, request_id: str | None, since: Since | None = None
    ) -> AnsweredView:
        request_id = uuid4().hex if request_id is None else request_id
        event = self._storage.append(said, request_id, since)
        self._engine.wake()
        return self._view(event)

    def _view(self, event: Event) -> AnsweredView:
        strange = list((event.note or {}).get("unusual", ()))
        number = self._rows.numbers[event.row]
        return AnsweredView(event.number, event.kind, number, strange)


def _is_asked(now: Now | None, row: int, who: str) -> bool:
    """Whether a row is a gold question that the person has not answered: others do not matter."""
    if now is None or row not in now.ledger.truths:
        return False
    state = now.ledger.rows.get(row)
    return state is None or who not in state.people


def _page_of(request_id: str) -> str:
    """What the requests of one page have in common; programs choose ids as they like."""
    found = re.fullmatch(r"(.+)-[0-9a-f]{12}", request_id)
    return request_id if found is None else found[1]
