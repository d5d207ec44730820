"""A session that follows a log: it goes from the log it knows to the log as it is now."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

from cpclean.cleaning.session import CleaningSession
from cpclean.errors import CPCleanError, NotGatheredError
from cpclean.storage.ledger import common_length

# Entries of a log that are taken over at once: one by one, each takes about a millisecond.
LONG = 1000


class Follower:
    """Keeps a session in step with the log of a ledger, without starting from the beginning.

    Parameters
    ----------
    session : CleaningSession
        A new one; nobody else changes it.

    Attributes
    ----------
    session : CleaningSession
        In the state of the log that was followed last.
    aside : dict from int to str
        The places of entries of that log that the session does not know of, and why: after them,
        rows of files might matter that are not at hand. Whoever answers is refused before, but two
        people may answer in the same moment, or an answer in between may be undone. Which entries
        these are depends on the log alone, so that everybody who follows it comes to the same.
    resumed : bool
        Whether the log was long and taken over at once the last time: then the session's history
        does not say what its answers did.

    Examples
    --------
    >>> from cpclean import IncompleteDataset
    >>> data = IncompleteDataset([[[0.0], [5.0]], [[1.0], [7.0]], [[6.0]]], ["a", "b", "b"])
    >>> follower = Follower(CleaningSession(data, [[0.0]], n_neighbors=1))
    >>> follower.follow([{"row": 0, "candidate": 1}])
    >>> follower.follow([{"row": 1, "candidate": 0}])
    >>> follower.session.answers
    [{'row': 1, 'candidate': 0}]
    """

    def __init__(self, session: CleaningSession) -> None:
        self.session = session
        self._log: list[dict[str, Any]] = []
        self._sizes = [_size(session)]  # of the session's log before and after each entry
        self.aside: dict[int, str] = {}
        self.resumed = False

    def follow(self, log: Sequence[dict[str, Any]]) -> None:
        """Bring the session to the state of a log; if that fails, it stays as it was.

        Entries that both logs have in common from the start are not replayed.
        """
        shared = common_length(self._log, log)
        session = copy(self.session)  # cheap: states are shared, never changed
        if back := self._sizes[-1] - self._sizes[shared]:
            session.undo(back)
        sizes = self._sizes[: shared + 1]
        aside = {place: why for place, why in self.aside.items() if place < shared}
        begin = self._resumed(session, log, sizes) if shared == 0 else shared
        self.resumed = begin > shared
        for place, entry in enumerate(log[begin:], begin):
            try:
                session.replay([entry])
            except NotGatheredError as problem:
                aside[place] = str(problem)
            sizes.append(_size(session))  # what is known already adds nothing
        self.session, self._log, self._sizes, self.aside = session, list(log), sizes, aside

    def _resumed(
        self, session: CleaningSession, log: Sequence[dict[str, Any]], sizes: list[int]
    ) -> int:
        """Take a long log over at once, if that is possible; how many entries were."""
        if len(log) < LONG:
            return 0
        try:
            places = session.resume(log)
        except CPCleanError:  # one by one: what does not fit is named, or set aside
            return 0
        new = set(places)
        for place in range(len(log)):
            sizes.append(sizes[-1] + (place in new))
        return len(log)


def _size(session: CleaningSession) -> int:
    """Entries of the session's log, which `answers` would copy."""
    return len(session.view.version.log)
