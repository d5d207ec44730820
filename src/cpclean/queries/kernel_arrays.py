"""The arrays that the compiled kernels read, and the names of their columns.

Kernels freeze these numbers when they are compiled, so a name costs nothing. The compilation cache
does not see edits here: after changing a number, delete the `__pycache__` folder of this package.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cpclean.data.incomplete import Ints
from cpclean.data.rows import Floats

# Floats, or elements of a prime field where worlds are counted.
Masses = npt.NDArray[Any]

# Metrics.
EUCLIDEAN, MANHATTAN, CHEBYSHEV, LINEAR, COSINE, PRECOMPUTED, HAMMING = range(7)
NORM = 7  # |x|^2, summed like a distance

# Columns of `Rows.spans`: where a row's cells begin and how many it has (none: a clean row), its
# number of candidates, and where its first candidate stands among those of all rows.
FIRST_CELL, N_CELLS, SIZE, FIRST_CANDIDATE = range(4)

# Columns of `Rows.cells`: the columns start..stop-1 of the space that a cell covers, its number of
# values, where its values and their prior weights begin, and whether it has one column and many
# values, which ascend.
START, STOP, N_VALUES, VALUES_AT, WEIGHTS_AT, ASCENDING = range(6)

# Rows of `Boxes.norms`.
LEAST, MOST = range(2)

BLOCK = 256  # rows bounded at a time, so that the bounds stay in the first-level cache


class Sparse(NamedTuple):
    """The non-zeros of every cell value of a wide table of mostly zeros (one-hot); else empty."""

    at: Ints  # value v, counted as in Rows.weights, has at[v]..at[v + 1] - 1
    column: Ints
    value: Floats


class Boxes(NamedTuple):
    """Bounding boxes of sets of vectors."""

    low: Floats  # (d, n)
    high: Floats  # (d, n)
    norms: Floats  # (2, n) LEAST and MOST that |x|^2 can be, for cosine


class Candidates(NamedTuple):
    """What of `Rows` says where candidates are: each array makes a kernel dearer to compile."""

    base: Floats
    spans: Ints
    cells: Ints
    values: Floats
    weights: Floats


class Scanned(NamedTuple):
    """What of `Rows` says which rows may be near."""

    base: Floats
    spans: Ints
    order: Ints
    block_at: Ints
    boxes: Boxes
    block_boxes: Boxes
    holed: npt.NDArray[np.bool_]


class Rows(NamedTuple):
    """The arrays of an incomplete dataset; kernels take some of them."""

    base: Floats  # (N, d) the first candidate of every row
    spans: Ints  # (N, 4) FIRST_CELL, N_CELLS, SIZE, FIRST_CANDIDATE
    cells: Ints  # (C, 6) START, STOP, N_VALUES, VALUES_AT, WEIGHTS_AT, ASCENDING
    values: Floats  # every cell's values, column by column
    weights: Floats  # every cell's prior
    order: Ints  # (N) the rows in blocks of neighbours, ascending within a block
    block_at: Ints  # (B + 1) where each block begins in order
    boxes: Boxes  # of the rows, in that order
    block_boxes: Boxes  # of the blocks
    holed: npt.NDArray[np.bool_]  # (B, d) whether some box of a block has a width in a column
    sparse: Sparse

    @property
    def candidates(self) -> Candidates:
        return Candidates(self.base, self.spans, self.cells, self.values, self.weights)

    @property
    def scanned(self) -> Scanned:
        return Scanned(
            self.base,
            self.spans,
            self.order,
            self.block_at,
            self.boxes,
            self.block_boxes,
            self.holed,
        )


class LeafRows(NamedTuple):
    """The candidates of an incomplete dataset as leaves of trees, and which of them meet in a leaf.

    A candidate that the row had once, and may have again, keeps its number and has no owner. A row
    with too many candidates has two that stand for all: one that is in every leaf that the row may
    reach, and one that is only where it must be.
    """

    codes: npt.NDArray[Any]  # (C, T) the leaf of every candidate in every tree
    owner: Ints  # (C) its row, or -1
    weights: Floats  # (C) its prior
    spans: Ints  # (N, 4) N_CELLS, SIZE, FIRST_CANDIDATE; FIRST_CELL means nothing
    bounded: npt.NDArray[np.bool_]  # (N) whether two candidates stand for all
    root: Ints  # (T) where the nodes of each tree begin among those of all
    list_at: Ints  # (nodes + 1) where the list of each node begins
    lists: npt.NDArray[Any]  # the candidates in each leaf, ascending
    extra: Ints  # the candidates that are in no list
    row_list_at: Ints  # (nodes + 1) where the list of rows of each node begins; or nothing
    row_lists: npt.NDArray[Any]  # the places of the rows with a candidate in each leaf; or nothing
    places: Ints  # (N) the row at each place: those of one candidate first, by its number


class Positions(NamedTuple):
    """Sorted positions of a block of points.

    Point p has rows row_ptr[p]..row_ptr[p+1]-1 and positions ptr[p]..ptr[p+1]-1.
    """

    row_ptr: Ints
    rows: Ints  # the rows that matter, ascending
    beyond: Floats  # the prior mass of each that lies beyond the last position
    ptr: Ints
    owner: Ints  # the position's row, as its place among the point's rows
    weight: Masses  # prior mass at the position
    nearer: Masses  # prior mass of the row up to and including the position
    far: Masses  # prior mass of the row that lies farther
    rank: Ints  # for every candidate of the rows: its position, or -1 beyond the last
