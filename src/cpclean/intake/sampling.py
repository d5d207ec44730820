"""How much of a large table is looked at where somebody waits for a first impression.

What a look costs grows with the ways of filling the training rows, for each of which a tree has to
be followed, and with these times the rows to predict. Both are bounded here, from the holes alone,
so that the same file is always looked at in the same way, however fast the machine is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cpclean.data.incomplete import Ints
from cpclean.data.rows import Floats
from cpclean.intake.holding import held_out

# Ways of filling that count for each hole, and at most for each row: as a table has by default, and
# as many draws as represent a row with more.
WAYS_PER_HOLE = 5
MOST_WAYS = 64
MOST_COMPLETIONS = 5


@dataclass(frozen=True)
class Bounds:
    """How much is looked at.

    Parameters
    ----------
    ways : int
        Of all training rows together; a row without holes counts as one.
    looks : int
        Ways of the training rows that are kept, times completions of rows to predict.
    points : int
        Rows to predict, at most.
    least_rows, least_points : int
        So many are looked at, whatever it costs.
    """

    ways: int = 100_000
    looks: int = 40_000_000
    points: int = 1_000
    least_rows: int = 1_000
    least_points: int = 100


def rows_looked_at(features: Any, labels: Any, bounds: Bounds, seed: int) -> Ints:
    """The training rows that are looked at, ascending: all, or some of every label at random.

    Parameters
    ----------
    features : pandas.DataFrame
        The training rows, without their labels.
    labels : pandas.Series
    bounds : Bounds
    seed : int

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame({"a": [None, 1.0] * 50, "b": [None, 2.0] * 50})
    >>> some = rows_looked_at(rows, pd.Series(["u", "v"] * 50), Bounds(650, least_rows=1), seed=0)
    >>> len(some)
    50
    """
    n_rows, total = len(features), float(_ways(features, MOST_WAYS).sum())
    # Where every row is complete, ways are rows, and those cost next to nothing.
    wanted = max(bounds.least_rows, int(n_rows * bounds.ways / max(total, 1.0)))
    if wanted >= n_rows or total <= n_rows:
        return np.arange(n_rows)
    return held_out(labels.reset_index(drop=True), wanted / n_rows, seed)


def points_looked_at(points: Any, features: Any, bounds: Bounds, seed: int) -> Ints:
    """The rows to predict that are looked at, ascending: all, or some at random.

    Parameters
    ----------
    points : pandas.DataFrame
    features : pandas.DataFrame
        The training rows that are looked at.
    bounds : Bounds
    seed : int
    """
    n_points = len(points)
    each = max(1.0, float(_ways(points, MOST_COMPLETIONS).mean())) if n_points else 1.0
    ways = _ways(features, MOST_WAYS)
    holes = float(ways[ways > 1].sum())
    wanted = int(bounds.looks / (each * max(holes, 1.0)))
    wanted = min(bounds.points, max(bounds.least_points, wanted))
    if wanted >= n_points:
        return np.arange(n_points)
    return np.sort(np.random.default_rng([seed, n_points]).permutation(n_points)[:wanted])


def _ways(rows: Any, most: int) -> Floats:
    """In about how many ways the holes of each row can be filled, at most so many."""
    holes = rows.isna().to_numpy().sum(axis=1)
    return np.asarray(np.minimum(float(WAYS_PER_HOLE) ** np.minimum(holes, 10), most))
