"""Objects that map filled rows as fitted ones do: numbers stay on a grid, so that ties abound."""

from __future__ import annotations

import numpy as np

from cpclean import IncompleteDataset
from cpclean.data.spaces.fitted_map import FittedMap


class Sums:
    """Vectors of weighted sums of the features, with small whole weights."""

    def __init__(self, seed: int, n_features: int) -> None:
        rng = np.random.default_rng(seed)
        self.weights = rng.integers(-2, 3, (n_features, int(rng.integers(1, 4)))).astype(float)

    def transform(self, X: np.ndarray) -> np.ndarray:
        return X @ self.weights


class Stairs(Sums):
    """Leaves: steps of the same sums."""

    def apply(self, X: np.ndarray) -> np.ndarray:
        return np.floor(self.transform(X) / 2).astype(int)


def mapped(data: IncompleteDataset, kind: type[Sums], seed: int) -> IncompleteDataset:
    """The same data in the space of such an object."""
    fitted = kind(seed, data.n_features)
    return data.in_space(FittedMap(fitted, None, data.arrays.base))
