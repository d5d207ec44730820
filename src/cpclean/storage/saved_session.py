"""A session and its journal: both accept an answer, or neither does."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from cpclean.cleaning.session import CleaningSession
from cpclean.cleaning.state import Record
from cpclean.errors import CPCleanError
from cpclean.storage.journal import Journal
from cpclean.storage.journal_lines import JournalError, Line


def replay_journal(
    session: CleaningSession, entries: Sequence[Line], path: str | os.PathLike[str]
) -> None:
    """Replay the entries of a journal in a new session; errors name the file."""
    try:
        session.replay(entries)
    except CPCleanError as problem:
        raise JournalError(f"{os.fspath(path)!r} cannot be replayed: {problem}") from problem
    if len(session.answers) != len(entries):
        raise JournalError(
            f"{os.fspath(path)!r} has the same answer twice, which no session writes. Another "
            "program has changed the file; remove the second of the two lines."
        )


class SavedSession:
    """A session whose answers are on the disk before they count.

    Parameters
    ----------
    session : CleaningSession
        A new one; the entries of the journal are replayed in it.
    journal : Journal
    """

    def __init__(self, session: CleaningSession, journal: Journal) -> None:
        self.session, self.journal = session, journal
        replay_journal(session, journal.entries, journal.path)
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
        self._save(seconds, remarks)
        return record

    def skip(self, row: int, *, seconds: float | None = None, **remarks: Any) -> None:
        """As `CleaningSession.skip`."""
        self.session.skip(row)
        self._save(seconds, remarks)

    def refit(self, *, seconds: float | None = None) -> None:
        """As `CleaningSession.refit`."""
        self.session.refit()
        self._save(seconds, {})

    def undo(self, *, seconds: float | None = None) -> None:
        """Take back the last entry, even one from before the journal was opened."""
        if not self._n_entries:
            raise CPCleanError("there is no answer to undo.")
        self.journal.undo(seconds=seconds)
        self.session.undo()
        self._n_entries -= 1

    def _save(self, seconds: float | None, remarks: dict[str, Any]) -> None:
        """Write the last answer of the session, which forgets it if it cannot be written."""
        new = self.session.answers[self._n_entries :]
        if not new:
            return  # it was known already
        try:
            self.journal.append({**new[0], **remarks}, seconds)
        except BaseException:
            self.session.undo()
            raise
        self._n_entries += 1
