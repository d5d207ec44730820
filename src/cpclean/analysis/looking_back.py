"""What can be said once a session has stopped: about its answers, and about new rows."""

from __future__ import annotations

from cpclean.analysis.effort_words import effort_words
from cpclean.analysis.new_points import new_points, new_points_words
from cpclean.analysis.random_order import random_order
from cpclean.cleaning.session import CleaningSession

# Looking back takes a few times as long as the answers took: after more than this, nobody waits.
MOST_SECONDS = 10.0
# For all folds of points that are left out, and for orders at random.
FOLD_SECONDS, ORDER_SECONDS = 20.0, 5.0


def looking_back(session: CleaningSession, *, progress: bool | None = None) -> list[str]:
    """Sentences about a session that has stopped; none if it has not, or if it would take long.

    Parameters
    ----------
    session : CleaningSession
        It is not changed. Ctrl-C is harmless.
    progress : bool, optional
        Whether to show progress bars; by default on a terminal.

    Returns
    -------
    list of str
        How many answers were avoidable (`session.effort`), and how many rows like the validation
        points would be settled, too (`new_points`).

    Examples
    --------
    >>> from cpclean import IncompleteDataset
    >>> data = IncompleteDataset([[[0.0], [5.0]], [[1.0], [7.0]], [[6.0]]], ["a", "b", "b"])
    >>> session = CleaningSession(data, [[0.0], [0.5], [9.0], [8.0]], n_neighbors=1)
    >>> looking_back(session)
    []
    >>> session.tell(0, candidate=0).certain_share
    1.0
    >>> looking_back(session)[1]
    'At least 43% of rows like these would be certain, too.'
    """
    took = sum(record.seconds for record in session.history)
    if session.stopped is None or not session.known or took > MOST_SECONDS:
        return []
    random = None
    if session.sure is not None:
        random = random_order(session, seconds=ORDER_SECONDS, progress=progress)
    said = [effort_words(session.effort(progress=progress), random)]
    if session.view.points.n_points > 1:
        found = new_points_words(new_points(session, seconds=FOLD_SECONDS, progress=progress))
        said.append(f"{found[:1].upper()}{found[1:]}.")
    return said
