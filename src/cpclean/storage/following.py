"""A session that follows a log: it goes from what it was told to what the log says now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cpclean.cleaning.session import CleaningSession
from cpclean.storage.ledger import common_length


class Follower:
    """Keeps a session in step with the log of a ledger, without starting from the beginning.

    Parameters
    ----------
    session : CleaningSession
        A new one; nobody else tells it anything.

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
        self._sizes = [self._size()]  # of the session's log before and after each entry

    def follow(self, log: Sequence[dict[str, Any]]) -> None:
        """Bring the session to the state of a log; if that cannot be, an error, and no change.

        What the two logs have in common from the start is not told again.
        """
        kept = common_length(self._log, log)
        fresh = list(log[kept:])
        before = self.session._state  # never changed, only replaced
        back = self._sizes[-1] - self._sizes[kept]
        try:
            if back:
                self.session.undo(back)
            sizes = self._sizes[: kept + 1]
            for entry in fresh:
                self.session.replay([entry])
                sizes.append(self._size())  # what is known already is not kept
        except BaseException:
            self.session._state = before
            raise
        self._log, self._sizes = list(log), sizes

    def _size(self) -> int:
        """Entries of the session's log, which `answers` would copy."""
        return len(self.session._state.log)
