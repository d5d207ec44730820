"""What can be said once a session has stopped: about its answers, and about new rows.

Looking back takes about as long as the answers took to compute, and leaving points out about as
long again for each tenth of them. It shows how far it is, and Ctrl-C ends it: what was found until
then is kept, and the session is never changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cpclean.analysis.effort_words import bound_tells, effort_words
from cpclean.analysis.new_points import NewPoints, new_points, new_points_words
from cpclean.analysis.random_order import RandomOrder, random_order
from cpclean.cleaning.effort import Effort
from cpclean.cleaning.session import CleaningSession
from cpclean.progress_bar import Shown

# For all folds of points that are left out, the first of which is always finished, and for orders
# at random.
FOLD_SECONDS, ORDER_SECONDS = 20.0, 5.0


@dataclass(frozen=True)
class LookingBack:
    """What was found; None where there was nothing to look at, or no time.

    Attributes
    ----------
    effort : Effort or None
        Which answers were avoidable, and how many no order can do without.
    new : NewPoints or None
        How many rows like the validation points would be settled, too.
    random : RandomOrder or None
        What an order at random would have cleaned; in sessions with a level, and where no bound
        says more than how many rows were answered. None for rows of files, of which some are at
        hand.
    interrupted : bool
        Whether Ctrl-C ended it early.
    """

    effort: Effort | None = None
    new: NewPoints | None = None
    random: RandomOrder | None = None
    interrupted: bool = False

    @property
    def sentences(self) -> list[str]:
        """The same for people: first about the answers, then about new rows."""
        said = []
        if self.effort is not None:
            said.append(effort_words(self.effort, self.random))
        if self.new is not None:
            found = new_points_words(self.new)
            said.append(f"{found[:1].upper()}{found[1:]}.")
        return said

    def as_dict(self, row_names: Sequence[Any] | None = None) -> dict[str, Any]:
        """The same in plain values, for JSON; rows as they are called."""

        def named(rows: Sequence[int] | None) -> list[Any] | None:
            if rows is None:
                return None
            return list(rows) if row_names is None else [row_names[row] for row in rows]

        effort, random, new = self.effort, self.random, self.new
        return {
            "effort": None if effort is None else {
                "answered_rows": len(effort.answered),
                "avoidable_rows": named(effort.avoidable),
                "needed_rows": named(effort.needed),
                "every_order_at_least": effort.at_least,
                "random_order_at_least": effort.random_at_least,
                "random_order": None if random is None else random.mean,
                "random_order_finished": None if random is None else random.finished,
            },
            "new_points": None if new is None else {
                "settled_share": new.share, "low": new.low, "high": new.high, "points": new.n,
            },
            "looking_back": self.sentences,
            "interrupted": self.interrupted,
        }  # fmt: skip


def looking_back(session: CleaningSession, *, progress: Shown = None) -> LookingBack:
    """Look at a session that has stopped; at one that has not, nothing is looked at.

    Parameters
    ----------
    session : CleaningSession
        It is not changed. Ctrl-C is harmless: what was found until then is returned.
    progress : bool, or function of words and a share, optional
        Whether to show progress bars; by default on a terminal. A function is called instead, with
        what is going on and how much of it is done; what it raises ends the looking back.

    Examples
    --------
    >>> from cpclean import IncompleteDataset
    >>> data = IncompleteDataset([[[0.0], [5.0]], [[1.0], [7.0]], [[6.0]]], ["a", "b", "b"])
    >>> session = CleaningSession(data, [[0.0], [0.5], [9.0], [8.0]], n_neighbors=1)
    >>> looking_back(session).sentences
    []
    >>> session.tell(0, candidate=0).certain_share
    1.0
    >>> looking_back(session).sentences[1]
    'At least 43% of rows like these would be certain, too.'
    """
    if session.stopped is None:
        return LookingBack()
    effort = new = random = None
    try:
        if session.known:
            effort = session.effort(progress=progress)
        if session.view.points.n_points > 1:
            new = new_points(session, seconds=FOLD_SECONDS, progress=progress)
        stop = new is not None and new.interrupted
        given = session.view.start
        all_there = given.n_rows == given.n_rows_in_all
        if effort is not None and not bound_tells(effort) and all_there and not stop:
            random = random_order(session, seconds=ORDER_SECONDS, progress=progress)
            stop = random.interrupted
    except KeyboardInterrupt:
        stop = True
    return LookingBack(effort, new, random, stop)
