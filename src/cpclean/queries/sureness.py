"""Sure, not only certain: one label holds nearly all of the prior mass."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.data.incomplete import IncompleteDataset
from cpclean.data.points import Points
from cpclean.data.rows import Floats
from cpclean.errors import QueryError
from cpclean.queries.asked_tables import of_tables
from cpclean.queries.certain import is_certain
from cpclean.queries.geometry import ask_shares
from cpclean.queries.model import Metric, Model
from cpclean.queries.shares import share_errors, world_shares

# The level at which predictions count as sure, unless another one is asked for.
LEVEL = 0.95
# Shares have rounding errors far below this: 19 of 20 worlds are 0.95.
_ROUNDING = 1e-12

CERTAIN, SURE, OPEN = "certain", "sure", "open"

Bools = npt.NDArray[np.bool_]


def checked_level(level: Any, name: str = "level") -> float:
    """A level of sureness from a user: more than a half, so that one label has it, and below 1."""
    number = isinstance(level, int | float | np.number) and not isinstance(level, bool)
    if not number or not 0.5 < level < 1.0:
        raise QueryError(
            f"{name} must be a number between 0.5 and 1, both excluded, such as 0.95; got "
            f"{level!r}. What all worlds agree on is certain: see is_certain.",
            field=name,
        )
    return float(level)


def reaches(shares: Floats, errors: Floats, level: float) -> Bools:
    """Whether largest shares, less their estimated errors, reach a level."""
    return np.asarray(shares - errors >= level - _ROUNDING)


@of_tables
def is_sure(
    data: IncompleteDataset,
    X: Points | npt.ArrayLike,
    n_neighbors: int = 3,
    metric: Metric = "euclidean",
    *,
    level: float = LEVEL,
    n_jobs: int | None = None,
    cluster: Any = None,
) -> Bools:
    """Whether one label holds at least a share of the prior mass, its estimated error taken off.

    A certain prediction is sure at every level; a sure one need not be certain. The error is that
    of draws (`share_errors`); without drawn rows and points it is 0.

    Parameters
    ----------
    data, X, n_neighbors, metric, n_jobs, cluster
        As in `world_shares`.
    level : float
        Between 0.5 and 1.

    Returns
    -------
    ndarray of bool, shape (n_points,)

    Examples
    --------
    >>> from cpclean import IncompleteDataset, is_sure
    >>> data = IncompleteDataset(
    ...     [[[0.0], [5.0]], [[1.0]], [[6.0]]], ["a", "b", "b"], [[0.04, 0.96], None, None])
    >>> is_sure(data, [[0.0], [9.0]], n_neighbors=1).tolist()
    [True, True]
    >>> is_sure(data, [[0.0], [9.0]], n_neighbors=1, level=0.99).tolist()
    [False, True]
    """
    points = ask_shares(data, X, Model(n_neighbors, metric)).points
    level = checked_level(level)
    shares = world_shares(data, points, n_neighbors, metric, n_jobs=n_jobs, cluster=cluster)
    model = Model(n_neighbors, metric)
    return sure_by(shares, data, points, model, level, n_jobs, cluster)


def sure_by(
    shares: Floats,
    data: IncompleteDataset,
    points: Points,
    model: Model,
    level: float = LEVEL,
    n_jobs: int | None = None,
    cluster: Any = None,
) -> Bools:
    """As `is_sure`, for points whose `world_shares` are known; errors only where they matter."""
    sure = reaches(shares.max(axis=1, initial=0.0), np.zeros(len(shares)), level)
    (doubtful,) = np.nonzero(sure)
    if not len(doubtful) or (data.is_exact and points.is_exact):
        return sure
    own = points.take(doubtful)
    asked = (data, own, model.n_neighbors, model.metric)
    errors = share_errors(*asked, n_jobs=n_jobs, cluster=cluster)
    best = shares[doubtful].argmax(axis=1)
    sure[doubtful] = reaches(shares[doubtful, best], errors[np.arange(len(doubtful)), best], level)
    return sure


@of_tables
def verdicts(
    data: IncompleteDataset,
    X: Points | npt.ArrayLike,
    n_neighbors: int = 3,
    metric: Metric = "euclidean",
    *,
    level: float = LEVEL,
    n_jobs: int | None = None,
    cluster: Any = None,
) -> npt.NDArray[np.str_]:
    """What can be said about each prediction: "certain", "sure" or "open".

    "certain" is proved: every world, and every way of completing the point, predicts the same
    label. "sure" is not, but one label holds at least `level` of the prior mass, as in `is_sure`.
    "open" is the rest.

    Parameters
    ----------
    data, X, n_neighbors, metric, level, n_jobs, cluster
        As in `is_sure`.

    Returns
    -------
    ndarray of str, shape (n_points,)

    Examples
    --------
    >>> from cpclean import IncompleteDataset, verdicts
    >>> data = IncompleteDataset(
    ...     [[[0.0], [5.0]], [[1.0]], [[6.0]]], ["a", "b", "b"], [[0.04, 0.96], None, None])
    >>> verdicts(data, [[0.0], [9.0]], n_neighbors=1).tolist()
    ['sure', 'certain']
    """
    asked = (data, X, n_neighbors, metric)
    sure = is_sure(*asked, level=level, n_jobs=n_jobs, cluster=cluster)
    return verdict_words(is_certain(*asked, n_jobs=n_jobs, cluster=cluster), sure)


def verdict_words(certain: Bools, sure: Bools) -> npt.NDArray[np.str_]:
    """The verdicts on predictions that are known to be certain or sure."""
    return np.where(certain, CERTAIN, np.where(sure, SURE, OPEN))
