"""Whether gathered rows still stand for the files that they come from, after answers that surprise.

A value that was no candidate may move a row away from a point. If more rows leave a point than were
gathered beyond its nearest, rows may be near it that are in the files only.
"""

from __future__ import annotations

import numpy as np

from cpclean.cleaning.gathered import Gathered
from cpclean.cleaning.ground import Ground
from cpclean.data.incomplete import IncompleteDataset
from cpclean.data.points import Points
from cpclean.errors import NotGatheredError
from cpclean.queries.gather import around
from cpclean.queries.geometry import ask
from cpclean.queries.model import Model


def is_beyond(start: IncompleteDataset, now: IncompleteDataset, row: int, model: Model) -> bool:
    """Whether a row is where it could not be as it was given."""
    query = ask(start, np.empty((0, start.n_features)), model)
    return not query.encloses(start.stored_row(row), now.stored_row(row))


def is_outdated(
    start: IncompleteDataset,
    now: IncompleteDataset,
    points: Points,
    model: Model,
    beyond: frozenset[int],
    spare: int,
) -> bool:
    """Whether rows may be near a point that were not gathered.

    Parameters
    ----------
    start, now : IncompleteDataset
        The gathered rows as they were given, and as they are known now.
    points : Points
    model : Model
    beyond : frozenset of int
        The rows that are where they could not be.
    spare : int
        How many rows beyond the nearest were gathered for each point.
    """
    if start.whole is None or len(beyond) <= spare or start.whole.n_rows == start.n_rows:
        return False
    # Fewer than all gathered rows, for only then something is known about those behind them.
    most = min(spare, start.n_rows - model.n_neighbors - 1)
    if most < 0:
        return True
    query = ask(start, points, model)
    every = np.arange(len(query.vectors))
    first = around(query, np.full(len(every), most))
    reach = around(ask(now, points, model), np.zeros(len(every), dtype=np.int64)).reach
    gathered = Gathered(query, np.arange(start.n_rows), first, beyond)
    return bool(len(gathered.outdated(every, reach)))


def check_standing(ground: Ground, points: Points, model: Model) -> None:
    """Refuse an answer after which gathered rows may not stand for their files any more."""
    start, whole = ground.start, ground.start.whole
    if whole is None or whole.spare is None or len(ground.told) <= whole.spare:
        return
    now = ground.data
    told = (row for row in ground.told if is_beyond(start, now, row, model))
    if is_outdated(start, now, points, model, frozenset(told), whole.spare):
        raise NotGatheredError(
            "after this answer, rows of the files may matter that were not gathered: its value is "
            "not among the candidates, and others before it were not. Skip the row, or use "
            "CleaningSession(table, points) of the StreamedTable itself, which gathers them, or "
            "gather(..., spare=...) with more rows to spare."
        )
