"""The rows around points: all that their predictions can depend on."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cpclean.data.incomplete import IncompleteDataset, Ints
from cpclean.data.points import Points
from cpclean.queries.geometry import ask
from cpclean.queries.model import Model


def near_rows(data: IncompleteDataset, X: Points | npt.ArrayLike, model: Model) -> Ints:
    """The rows that are among the nearest of some point in some world, in ascending order.

    What is possible and what is certain for these points, is so with these rows alone.

    Examples
    --------
    >>> data = IncompleteDataset([[[0.0], [5.0]], [[1.0]], [[6.0]], [[90.0]]], ["a", "b", "b", "a"])
    >>> near_rows(data, [[0.0]], Model(n_neighbors=1)).tolist()
    [0, 1]
    """
    query = ask(data, X, model)
    found = query.over_blocks(lambda _, __, near: near.rows)
    return np.unique(np.concatenate([np.empty(0, np.int64), *found]))
