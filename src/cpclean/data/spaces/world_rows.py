"""What trees are grown from: the rows of worlds, and what of rows is observed."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cpclean.data.drawing import Drawing, uniforms
from cpclean.data.incomplete import IncompleteDataset
from cpclean.data.row_arrays import RowArrays, runs, starts_of
from cpclean.data.rows import Bools, Ints
from cpclean.data.spaces.trees import single

# Doubles that draws may take up while they are made.
_BLOCK = 4_000_000


class Worlds:
    """Worlds of some rows each: world w has those from place w * size on, in a random order.

    The order begins again at its end.
    """

    def __init__(
        self, data: IncompleteDataset, n_worlds: int, size: int, seed: int, *, is_open: bool
    ) -> None:
        self.data, self.size, self.is_open = data, size, is_open
        self.drawing = Drawing(n_draws=max(2, n_worlds), seed=seed)
        whole = size == data.n_rows
        self.order = np.arange(size) if whole else by_chance(data, seed, data.codes)

    def world(self, number: int, columns: Ints) -> tuple[Ints, npt.NDArray[np.float32]]:
        """The rows of a world, and some of their columns as trees see them."""
        arrays, names = self.data.arrays, self.data.row_names
        places = number * self.size + np.arange(self.size)
        rows = self.order[places % self.data.n_rows]
        X = np.empty((len(rows), len(columns)), dtype=np.float32)
        step = max(1, _BLOCK // (self.drawing.n_draws * self.data.n_features))
        for at in range(0, len(rows), step):
            some = rows[at : at + step]
            vectors = arrays.base[some]
            (dirty,) = np.nonzero(arrays.n_cells[some])
            if self.is_open:
                vectors[~observed_features(arrays.take(some))] = np.nan
            elif len(dirty):
                open_ = some[dirty]
                vectors[dirty] = self.drawing.versions(arrays, open_, names[open_])[:, :, number]
            X[at : at + step] = single(vectors[:, columns])
        return rows, X


def by_chance(data: IncompleteDataset, seed: int, groups: Ints) -> Ints:
    """All rows in random order, such that every part of it has the groups in the same shares.

    The first row of each group comes first of all.
    """
    column = np.full(data.n_rows, data.n_features)  # no cell's
    chance = uniforms(seed, data.row_names, column, 2)[:, 0]
    by_group = np.lexsort((chance, groups))
    sizes = np.bincount(groups)
    rank = np.empty(data.n_rows, dtype=np.int64)
    rank[by_group] = np.arange(data.n_rows) - np.repeat(starts_of(sizes), sizes)
    return np.lexsort((chance, rank / sizes[groups]))


def observed_features(arrays: RowArrays) -> Bools:
    """Which features of which rows are covered by no cell, shape (n_rows, n_features)."""
    cells = runs(arrays.first_cell, arrays.n_cells)
    widths = arrays.cell_stop[cells] - arrays.cell_start[cells]
    owner = np.repeat(np.arange(len(arrays.base)), arrays.n_cells)
    found = np.ones(arrays.base.shape, dtype=bool)
    found[np.repeat(owner, widths), runs(arrays.cell_start[cells], widths)] = False
    return found
