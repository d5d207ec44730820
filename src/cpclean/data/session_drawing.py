"""How many completions of its points a session goes through.

A session looks at every completion again after every answer. What counts in it is the mean over
all points, which is more precise than each of them: of many points, less of each will do.
docs/results/holes.md says how these numbers were chosen.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cpclean.data.drawing import Drawing
from cpclean.data.row_arrays import RowArrays

# Points are drawn when they have more than a 25th of the completions up to which rows are gone
# through, and as a tenth of the draws.
_SOONER, _FEWER = 25, 10
# If more points than this have holes, a fifth of that is enough, or two fifths of the draws; but
# neither less than these.
_MANY = 100
_COMPLETIONS, _DRAWS = 5, 6


def session_drawing(rows: Drawing, points: RowArrays) -> Drawing:
    """Which points of a session are drawn, and how often.

    Parameters
    ----------
    rows : Drawing
        How the rows of the table are drawn.
    points : RowArrays
        The points, each with the cells of its holes.

    Examples
    --------
    >>> from cpclean.data.rows import StoredCell, StoredRow
    >>> cell = StoredCell(0, np.array([[0.0], [1.0]]), np.array([0.5, 0.5]))
    >>> few = RowArrays.of([StoredRow(np.zeros(1), (cell,))])
    >>> session_drawing(Drawing(625, 160), few)
    Drawing(max_exact=25, n_draws=16, seed=0)
    >>> session_drawing(Drawing(625, 160), few.take(np.zeros(101, np.int64)))
    Drawing(max_exact=5, n_draws=6, seed=0)
    """
    most, n_draws = max(1, rows.max_exact // _SOONER), max(2, rows.n_draws // _FEWER)
    if np.count_nonzero(points.counts() > 1) > _MANY:
        most = min(most, max(_COMPLETIONS, most // 5))
        n_draws = min(n_draws, max(_DRAWS, 2 * n_draws // 5))
    return replace(rows, max_exact=most, n_draws=n_draws)
