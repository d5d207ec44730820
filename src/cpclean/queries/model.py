"""The model whose predictions are asked about, as one value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cpclean.cluster.hands import Hands, hands_of
from cpclean.data.incomplete import IncompleteDataset
from cpclean.errors import QueryError

# How many neighbours vote where nobody says: in the plain space, and among the leaves of trees.
N_PLAIN, N_LEAVES = 3, 15

Metric = str | Callable[[Any, Any], float]


@dataclass(frozen=True)
class Model:
    """Nearest neighbours: how many vote, and what makes them near.

    What the two may be is checked with the data they are asked of, by `geometry.ask`.

    Attributes
    ----------
    n_neighbors : int
        K, from 1 to the number of rows.
    metric : str or callable
        As in `cpclean.world_shares`.
    """

    n_neighbors: int = 3
    metric: Metric = "euclidean"

    @property
    def precomputed(self) -> bool:
        """Whether points are given as distances to all candidates."""
        return isinstance(self.metric, str) and self.metric == "precomputed"


def hands_for(model: Model, n_jobs: int | None, cluster: Any) -> Hands:
    """Who answers questions about a model: threads here or, if it can, a cluster."""
    if cluster is not None and (model.precomputed or not isinstance(model.metric, str)):
        what = "precomputed distances" if model.precomputed else "a metric that is a function"
        raise QueryError(
            f"a cluster cannot work with {what}: "
            + (
                "they would have to be sent to every worker, point by point and row by row."
                if model.precomputed
                else "it cannot be sent, and gives no bounds on the distances of rows."
            ),
            "Use a named metric, or n_jobs instead of cluster.",
            field="cluster",
        )
    return hands_of(n_jobs, cluster)


def usual_model(
    data: IncompleteDataset, n_neighbors: int | None = None, metric: Metric | None = None
) -> Model:
    """The model that data is asked about where a person leaves it open.

    Parameters
    ----------
    data : IncompleteDataset
    n_neighbors : int, optional
        By default 3 in the plain space, as in the paper; among leaves 15, or all rows if there are
        fewer.
    metric : str or callable, optional
        By default "euclidean"; among leaves all metrics that fit have the same order.

    Examples
    --------
    >>> usual_model(IncompleteDataset([[[0.0]], [[1.0]], [[2.0]]], ["a", "b", "b"]))
    Model(n_neighbors=3, metric='euclidean')
    """
    if n_neighbors is None:
        n_neighbors = N_PLAIN if data.space is None else min(N_LEAVES, data.n_rows)
    return Model(n_neighbors, "euclidean" if metric is None else metric)
