"""What draws in place of rows with many holes mean for shares, to be said in one sentence."""

from __future__ import annotations

import numpy as np

from cpclean.data.incomplete import IncompleteDataset
from cpclean.data.points import Points
from cpclean.intake.notes import Note
from cpclean.queries.model import Model
from cpclean.queries.shares import share_errors

# The error is told in one digit: of more points, a sample shows it well enough.
MOST_POINTS = 100
# Smaller errors are not told apart.
SMALLEST = 0.001


def draws_note(
    data: IncompleteDataset, points: Points, model: Model, n_jobs: int | None = None
) -> Note | None:
    """How many rows and points are drawn, and how far shares are off; None if all is exact.

    The error is the mean, over the points, of the largest of `share_errors`; of more than 100
    points, over 100 that are chosen at random.

    Examples
    --------
    >>> from cpclean import Cell, FactoredRow
    >>> from cpclean.intake.sentences import said
    >>> row = FactoredRow([0.0] * 9, [Cell(column, [0.0, 1.0]) for column in range(9)])
    >>> data = IncompleteDataset([row, [[0.5] * 9]], ["a", "b"], max_exact=100)
    >>> note = draws_note(data, Points.of([[0.5] * 9]), Model(1))
    >>> said(note, "page")
    '1 row has more than 100 combinations: shares use 160 draws of each and are off by less than \
0.001.'
    """
    rows, drawn = len(data.drawn_rows), len(points.drawn)
    if not rows and not drawn:
        return None
    some = points
    if points.n_points > MOST_POINTS:
        chosen = np.random.default_rng(0).permutation(points.n_points)[:MOST_POINTS]
        some = points.take(np.sort(chosen))
    off = share_errors(data, some, model.n_neighbors, model.metric, n_jobs=n_jobs)
    values = {
        "count": rows,
        "limit": data.drawing.max_exact,
        "draws": data.drawing.n_draws,
        "to_predict": drawn,
        "point_draws": _entries(points),
        "error": _about(float(off.max(axis=1).mean())),
    }
    if not rows:
        return Note("drawn_points", values=values)
    return Note("drawn_both", values=values) if drawn else Note("drawn_rows", values=values)


def _entries(points: Points) -> int:
    """How many draws a point consists of that is drawn."""
    if points.is_exact:
        return 0
    return int((points.owner == points.drawn[0]).sum())


def _about(error: float) -> str:
    return f"about {error:.1g}" if error >= SMALLEST else f"less than {SMALLEST:g}"
