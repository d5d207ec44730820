"""A session and its journal: both take an answer, or neither does."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from cpclean.cleaning.session import CleaningSession
from cpclean.cleaning.state import Record
from cpclean.errors import CPCleanError
from cpclean.storage.journal import Event, Journal, JournalError


def tell_again(
    session: CleaningSession, entries: Sequence[Event], path: str | os.PathLike[str]
) -> None:
    """Tell a new session what a journal has; errors name the file."""
    try:
        session.replay(entries)
    except CPCleanError as problem:
        raise JournalError(f"{os.fspath(path)!r} cannot be told again: {problem}") from problem
    if len(session.answers) != len(entries):
        raise JournalError(
            f"{os.fspath(path)!r} says the same twice, as no session does. The file was changed by "
            "something else; take out the second of the two lines."
        )


class KeptSession:
    """A session whose answers are on the disk before they count.

    Parameters
    ----------
    session : CleaningSession
        A new one; it is told what the journal has.
    journal : Journal
    """

    def __init__(self, session: CleaningSession, journal: Journal) -> None:
        self.session, self.journal = session, journal
        tell_again(session, journal.entries, journal.path)
        self._n_entries = len(session.answers)

    def tell(
        self,
        row: int,
        candidate: int | None = None,
        *,
        value: Any = None,
        seconds: float | None = None,
        **remarks: Any,
    ) -> Record:
        """As `CleaningSession.tell`; remarks are written beside the answer for people."""
        record = self.session.tell(row, candidate, value=value)
        self._keep(seconds, remarks)
        return record

    def skip(self, row: int, *, seconds: float | None = None, **remarks: Any) -> None:
        """As `CleaningSession.skip`."""
        self.session.skip(row)
        self._keep(seconds, remarks)

    def undo(self, *, seconds: float | None = None) -> None:
        """Take back the last answer or skip, also one from before the journal was opened."""
        if not self._n_entries:
            raise CPCleanError("there is no answer to undo.")
        self.journal.undo(seconds=seconds)
        self.session.undo()
        self._n_entries -= 1

    def _keep(self, seconds: float | None, remarks: dict[str, Any]) -> None:
        """Write what the session has just taken in; it forgets what cannot be written."""
        new = self.session.answers[self._n_entries :]
        if not new:
            return  # it was known already
        try:
            self.journal.append({**new[0], **remarks}, seconds)
        except BaseException:
            self.session.undo()
            raise
        self._n_entries += 1
