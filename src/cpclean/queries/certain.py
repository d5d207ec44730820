"""Q1: which labels are possible, and is a prediction certain?"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.cluster.hands import HERE, Hands
from cpclean.data.incomplete import IncompleteDataset, Ints
from cpclean.data.points import Points
from cpclean.data.rows import Floats
from cpclean.queries.asked_tables import of_tables
from cpclean.queries.geometry import ask
from cpclean.queries.model import Metric, Model, hands_for
from cpclean.queries.query import Near, Query
from cpclean.queries.row_shards import among_near
from cpclean.queries.sound import between

Bools = npt.NDArray[np.bool_]


@of_tables
def possible_labels(
    data: IncompleteDataset,
    X: Points | npt.ArrayLike,
    n_neighbors: int = 3,
    metric: Metric = "euclidean",
    *,
    n_jobs: int | None = None,
    cluster: Any = None,
) -> Bools:
    """The labels that at least one world predicts for each query point.

    Exact for any number of classes, from every row's nearest and farthest candidate. Priors play
    no part: a world counts even if its prior is 0, and so does a completion of a point. For a point
    that is represented by draws, and under "cosine" if rows are, these are the labels that could
    not be excluded. At equal distance the smaller row is nearer, at equal votes the smaller class
    wins. The paper (section 3.2, algorithm MM) has this for two classes.

    Parameters
    ----------
    data, X, n_neighbors, metric, n_jobs, cluster
        As in `world_shares`.

    Returns
    -------
    ndarray of bool, shape (n_points, n_classes)
        Columns in the order of `data.classes`.

    Examples
    --------
    >>> from cpclean import IncompleteDataset, possible_labels
    >>> data = IncompleteDataset([[[0.0], [5.0]], [[1.0]], [[6.0]]], ["a", "b", "b"])
    >>> possible_labels(data, [[0.0], [9.0]], n_neighbors=1).tolist()
    [[True, True], [False, True]]
    """
    model = Model(n_neighbors, metric)
    hands, query = hands_for(model, n_jobs, cluster), ask(data, X, model)
    found = _found_possible(query, hands)
    drawn = query.points.drawn
    if len(drawn):
        found[drawn] |= _not_excluded(query, drawn)
    return found


@of_tables
def is_certain(
    data: IncompleteDataset,
    X: Points | npt.ArrayLike,
    n_neighbors: int = 3,
    metric: Metric = "euclidean",
    *,
    n_jobs: int | None = None,
    cluster: Any = None,
) -> Bools:
    """Whether all worlds predict the same label for each query point (Q1).

    For a point of several completions: the same label for each of them, too. Always proved, from
    comparisons; for a point that is represented by draws, sound bounds may fail to prove it.

    Parameters
    ----------
    data, X, n_neighbors, metric, n_jobs, cluster
        As in `world_shares`. Priors and ties count as in `possible_labels`.

    Returns
    -------
    ndarray of bool, shape (n_points,)

    Examples
    --------
    >>> from cpclean import IncompleteDataset, is_certain
    >>> data = IncompleteDataset([[[0.0], [5.0]], [[1.0]], [[6.0]]], ["a", "b", "b"])
    >>> is_certain(data, [[0.0], [9.0]], n_neighbors=1).tolist()
    [False, True]
    """
    model = Model(n_neighbors, metric)
    hands, query = hands_for(model, n_jobs, cluster), ask(data, X, model)
    found = _found_possible(query, hands)
    drawn = query.points.drawn
    drawn = drawn[found[drawn].sum(axis=1) == 1]  # for the others, two draws disagree
    if len(drawn):
        found[drawn] |= _not_excluded(query, drawn)
    return np.asarray(found.sum(axis=1) == 1)


def _found_possible(query: Query, hands: Hands = HERE) -> Bools:
    """The labels that some world predicts for some of the points' entries."""
    found = among_near(query, hands).over_blocks(possible_in_block, hands)
    table = np.concatenate([np.zeros((0, query.data.n_classes), bool), *found])
    return query.points.union(table)


def _not_excluded(query: Query, drawn: Ints) -> Bools:
    """The labels of some drawn points that sound bounds on their distances cannot exclude."""
    data = query.data
    present = np.zeros(data.n_classes, dtype=bool)
    present[data.codes] = True
    found = np.tile(present, (len(drawn), 1))
    for number, point in enumerate(drawn.tolist()):
        limits = query.limits(point)
        if limits is not None:
            line = between(data, *limits, query.n_neighbors)
            asked = ask(line, np.zeros((1, 1)), Model(query.n_neighbors, "manhattan"))
            found[number] = _found_possible(asked)[0]
    return found


def possible_in_block(query: Query, points: Floats, near: Near) -> Bools:
    """Possible labels of a block of points, shape (points, classes)."""
    return query.possible(points, near)
