"""All rows that are worth asking for, the best first: for several people who answer at once."""

from __future__ import annotations

import numpy as np

from cpclean.cleaning.session import CleaningSession
from cpclean.cleaning.strategies import NOISE

# With fewer rows that promise a gain, rows that may come to matter are listed too.
FEW = 50


def ranking(session: CleaningSession) -> list[int]:
    """The rows that can be asked for, from the one that `ask` gives on; empty when it is done.

    By the strategy's score; of equals, the smaller row first. Where a strategy goes by gain, rows
    without any come last, and those that are near to no uncertain validation point not at all.

    Examples
    --------
    >>> from cpclean import IncompleteDataset
    >>> rows = [[[0.0], [5.0]], [[1.0], [7.0]], [[6.0]], [[90.0], [99.0]]]
    >>> data = IncompleteDataset(rows, ["a", "b", "b", "a"])
    >>> ranking(CleaningSession(data, [[0.0]], n_neighbors=1))
    [0, 1]
    """
    if session.done:
        return []
    view = session.view
    askable, situation, scores = view.askable, view.situation, view.scores
    worth = askable & (scores > -np.inf)
    if view.goes_by_gain:
        worth &= situation.gain > NOISE
    order = np.flatnonzero(worth)[np.argsort(-scores[worth], kind="stable")]
    best = [int(situation.row[view.best])]
    later: list[int] = []
    if view.goes_by_gain and len(order) < FEW:
        open_ = np.zeros(session.data.n_rows, dtype=bool)
        open_[situation.row[askable]] = True
        near = np.concatenate([np.empty(0, np.int64), *view.near_open_rows()])
        later = np.unique(near[open_[near]]).tolist()
    return list(dict.fromkeys([*best, *situation.row[order].tolist(), *later]))
