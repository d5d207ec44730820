"""The model whose predictions are asked about, as one value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

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
