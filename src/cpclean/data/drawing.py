"""Draws in place of rows that have too many candidates to go through.

The share of a label is linear in the prior of every row. If a row's prior is replaced by that of
independent draws from it, the share stays right on average, whatever the number of its holes.

1. A row with more candidates than `max_exact` is drawn `n_draws` times.
2. Each cell is drawn by itself, as its prior is. Draws are stratified: one of n draws falls into
   each n-th of the cell's prior, in an order of its own.
3. The first and the second half of the draws are independent of each other, so that the difference
   between them shows how far shares may be off.

Random numbers depend on the seed, the row and the column alone, never on what happened before: the
same rows have the same draws in another process, and a cell that becomes known leaves the draws of
the others as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.data.row_arrays import MOST_COUNTED, RowArrays, distinct, runs, starts_of
from cpclean.data.rows import Bools, Floats, Ints, StoredRow, is_whole
from cpclean.errors import DataError

# Data given as candidates is gone through as long as that is possible at all; tables are not.
MAX_EXACT = 5**8
# Shares are then off by less than .01 on average, see docs/results/holes.md.
N_DRAWS = 160

# Doubles that draws may take up while they are made.
_BLOCK = 4_000_000


@dataclass(frozen=True)
class Drawing:
    """Which rows are drawn, and how.

    Parameters
    ----------
    max_exact : int
        Rows with more candidates than this are drawn.
    n_draws : int
        The number of draws of each of them, at least 2.
    seed : int
        From 0 to 2**64 - 1; other seeds give other draws.
    """

    max_exact: int = MAX_EXACT
    n_draws: int = N_DRAWS
    seed: int = 0

    def __post_init__(self) -> None:
        least = {"max_exact": 1, "n_draws": 2, "seed": 0}
        for name, smallest in least.items():
            given = getattr(self, name)
            told = "random_state" if name == "seed" else name
            large = name == "seed" and is_whole(given) and given >= 2**64
            if not is_whole(given) or given < smallest or large:
                range_ = "in [0, 2**64)" if name == "seed" else f"of at least {smallest}"
                raise DataError(f"{told} must be an int {range_}; got {given!r}.", field=told)
            object.__setattr__(self, name, int(given))

    @property
    def most_written(self) -> int:
        """The number of candidates up to which a row is gone through, at most what is counted."""
        return min(self.max_exact, MOST_COUNTED - 1)

    def drawn_rows(self, arrays: RowArrays) -> Ints:
        """The rows that are drawn, in ascending order."""
        return np.flatnonzero(arrays.counts() > self.most_written)

    def drawn(self, arrays: RowArrays, rows: Ints, names: Ints) -> RowArrays:
        """The same arrays with some rows replaced by their draws, as one cell each.

        Parameters
        ----------
        arrays : RowArrays
        rows : ndarray of int
            The rows to draw, ascending.
        names : ndarray of int, shape (n_rows,)
            What their random numbers depend on.
        """
        if not len(rows):
            return arrays
        base = arrays.base.copy()
        start, stop, values = [], [], []
        size = max(1, _BLOCK // (self.n_draws * base.shape[1]))
        for at in range(0, len(rows), size):
            some = rows[at : at + size]
            versions = self.versions(arrays, some, names[some])
            base[some] = versions[:, :, 0]
            left, right = _varying(versions)
            inside = (np.arange(base.shape[1]) >= left[:, None]) & (
                np.arange(base.shape[1]) < right[:, None]
            )
            start.append(left)
            stop.append(right)
            values.append(versions[inside].ravel())
        return _with_draws(
            arrays, rows, base, np.concatenate(start), np.concatenate(stop), values, self.n_draws
        )

    def drawn_row(self, row: StoredRow, name: int) -> StoredRow:
        """A row as it stands for itself: its draws if it has too many candidates."""
        arrays = RowArrays.of([row])
        return self.drawn(arrays, self.drawn_rows(arrays), np.array([name])).stored_row(0)

    def halves(self, arrays: RowArrays, rows: Ints) -> list[RowArrays]:
        """The arrays with only the first and only the second half of the draws of these rows."""
        cells = arrays.first_cell[rows]
        start, stop = arrays.cell_start[cells], arrays.cell_stop[cells]
        widths = stop - start
        owner, columns = np.repeat(rows, widths), runs(start, widths)
        # Each column of each cell: all draws side by side.
        at = runs(arrays.values_at[cells], widths * self.n_draws).reshape(-1, self.n_draws)
        found = []
        for part in _parts(self.n_draws):
            size = part.stop - part.start
            values = arrays.values[at[:, part]]
            base = arrays.base.copy()
            base[owner, columns] = values[:, 0]
            found.append(_with_draws(arrays, rows, base, start, stop, [values.ravel()], size))
        return found

    def versions(self, arrays: RowArrays, rows: Ints, names: Ints) -> Floats:
        """The draws of some rows, however few candidates they have.

        Parameters
        ----------
        arrays : RowArrays
        rows : ndarray of int
        names : ndarray of int, of the same length
            What their random numbers depend on.

        Returns
        -------
        ndarray of shape (rows, features, draws)
        """
        n_cells = arrays.n_cells[rows]
        cells = runs(arrays.first_cell[rows], n_cells)
        owner = np.repeat(np.arange(len(rows)), n_cells)
        chosen = self.chosen(arrays, cells, names[owner])
        versions = np.repeat(arrays.base[rows][:, :, None], self.n_draws, axis=2)
        spans = np.column_stack([arrays.cell_start[cells], arrays.cell_stop[cells]])
        for start, stop in np.unique(spans, axis=0).tolist():
            (own,) = np.nonzero((spans == [start, stop]).all(axis=1))
            sizes, at = arrays.cell_size[cells[own]], arrays.values_at[cells[own]]
            for place in range(stop - start):
                where = (at + place * sizes)[:, None] + chosen[own]
                versions[owner[own], start + place] = arrays.values[where]
        return versions

    def chosen(self, arrays: RowArrays, cells: Ints, names: Ints) -> Ints:
        """Which value each draw takes in each of some cells, shape (cells, draws)."""
        at, first, which = distinct(arrays.weights_at[cells])
        sizes = arrays.cell_size[cells[first]]
        numbers = uniforms(self.seed, names, arrays.cell_start[cells], self.n_draws)
        return inverted(arrays.weights[runs(at, sizes)], sizes, which, numbers)


def _with_draws(
    arrays: RowArrays,
    rows: Ints,
    base: Floats,
    start: Ints,
    stop: Ints,
    values: list[Floats],
    n_draws: int,
) -> RowArrays:
    """The arrays with another base, and one cell of equally likely draws in each of some rows."""
    n_cells, first_cell = arrays.n_cells.copy(), arrays.first_cell.copy()
    n_cells[rows] = 1
    first_cell[rows] = len(arrays.cell_start) + np.arange(len(rows))
    sizes = np.full(len(rows), n_draws)
    return RowArrays(
        base=base,
        n_cells=n_cells,
        first_cell=first_cell,
        cell_start=np.append(arrays.cell_start, start),
        cell_stop=np.append(arrays.cell_stop, stop),
        cell_size=np.append(arrays.cell_size, sizes),
        values_at=np.append(
            arrays.values_at, len(arrays.values) + starts_of(sizes * (stop - start))
        ),
        weights_at=np.append(arrays.weights_at, len(arrays.weights) + starts_of(sizes)),
        values=np.concatenate([arrays.values, *values]),
        weights=np.append(arrays.weights, np.full(n_draws * len(rows), 1.0 / n_draws)),
    )


def uniforms(seed: int, rows: Ints, columns: Ints, n_draws: int) -> Floats:
    """Numbers in [0, 1) for cells named by row and column, shape (cells, n_draws), stratified."""
    key = _mixed(_mixed(_mixed(np.array([seed], np.uint64)) + rows.astype(np.uint64)))
    key = _mixed(key + columns.astype(np.uint64))
    mixed = _mixed(key[:, None] + np.arange(2 * n_draws, dtype=np.uint64) * _STEP)
    within = (mixed[:, n_draws:] >> np.uint64(11)).astype(np.float64) * 2.0**-53
    found = np.empty((len(rows), n_draws))
    for part in _parts(n_draws):
        stratum = np.argsort(np.argsort(mixed[:, part], axis=1), axis=1)
        found[:, part] = (stratum + within[:, part]) / (part.stop - part.start)
    return found


def inverted(weights: Floats, sizes: Ints, which: Ints, numbers: Floats) -> Ints:
    """The values that numbers in [0, 1) stand for in lists of weights, which sum to 1 each.

    Parameters
    ----------
    weights : ndarray
        The weights of all lists, one list behind the other.
    sizes : ndarray of int, shape (lists,)
    which : ndarray of int, shape (cells,)
        The list that the numbers of each cell are meant for.
    numbers : ndarray of shape (cells, n)

    Returns
    -------
    ndarray of int, shape (cells, n)
        Places in the lists; never one of weight 0.
    """
    starts = starts_of(sizes)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    # Counted within the list: a sum over all lists would lose more and more digits.
    sums = np.empty(len(weights))
    for size in np.unique(sizes).tolist():
        (own,) = np.nonzero(sizes == size)
        at = starts[own][:, None] + np.arange(size)
        sums[at] = np.cumsum(weights[at], axis=1)
    place = np.arange(len(weights)) - starts[owner]
    last = np.maximum.reduceat(np.where(weights > 0, place, 0), starts)
    sums[place >= last[owner]] = 1.0  # what rounding left out belongs to the last one that weighs
    found = np.searchsorted(owner + sums, which[:, None] + numbers, side="right")
    return np.asarray(np.minimum(found - starts[which][:, None], last[which][:, None]))


def _varying(versions: Floats) -> tuple[Ints, Ints]:
    """The run of features in which the draws of each row differ; the first one if none does."""
    n_features = versions.shape[1]
    varies: Bools = (versions != versions[:, :, :1]).any(axis=2)
    some = varies.any(axis=1)
    start = np.where(some, varies.argmax(axis=1), 0)
    stop = np.where(some, n_features - varies[:, ::-1].argmax(axis=1), 1)
    return start, stop


def _parts(n_draws: int) -> tuple[slice, slice]:
    """The two halves of the draws."""
    middle = (n_draws + 1) // 2
    return slice(0, middle), slice(middle, n_draws)


_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def _mixed(numbers: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
    """Every bit of the result depends on every bit of the number (the mixer of splitmix64)."""
    found = numbers + _STEP
    for shift, factor in zip((30, 27), _MIX, strict=True):
        found = (found ^ (found >> np.uint64(shift))) * factor
    return np.asarray(found ^ (found >> np.uint64(31)))
