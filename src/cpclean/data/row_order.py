"""The rows of a table in another order, with everything that belongs to them.

Rows at equal distances count in their order, so that the order decides which of them vote. Where
distances are small whole numbers, that is many. In a table that is sorted by its label, all of
those would have the same label.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cpclean.data.coding import Coded
from cpclean.data.columns import Column
from cpclean.data.drawing import Drawing, uniforms
from cpclean.data.row_arrays import runs
from cpclean.data.row_options import TableOptions
from cpclean.data.rows import Ints
from cpclean.data.table_parts import TableParts


def random_order(names: Ints, random_state: int) -> Ints:
    """Places in a random order.

    What stands at two places is ordered by the seed and by the names of these two alone, and not by
    what stands at others.

    >>> random_order(np.arange(8), 1).tolist()
    [5, 1, 4, 6, 0, 3, 2, 7]
    """
    seed = Drawing(seed=random_state).seed  # or an error
    chance = uniforms(seed, names, np.full(len(names), -1), 2)[:, 0]  # no column's
    return np.lexsort((names, chance))


def places_in_frame(rows_kept: Ints) -> Ints:
    """Where each row of a table stands in the frames that it makes, which have no other rows.

    >>> places_in_frame(np.array([7, 2, 5])).tolist()
    [2, 0, 1]
    """
    return np.argsort(np.argsort(rows_kept))


def reordered(parts: TableParts, order: Ints) -> TableParts:
    """What a table consists of, with its rows in another order; nothing is computed again.

    Parameters
    ----------
    parts : TableParts
        About whose rows nothing has become known.
    order : ndarray of int
        The number of every row, once each.
    """
    return replace(
        parts,
        rows_kept=parts.rows_kept[order],
        columns=tuple(_column(column, order) for column in parts.columns),
        holes=parts.holes[order],
        options=_options(parts.options, order),
        dataset=parts.dataset.take(order),
    )


def _column(column: Column, order: Ints) -> Column:
    if column.kind != "categorical":
        return replace(column, values=column.values[order])
    codes, distinct = column.categories
    made = replace(column, values=column.values[order])
    object.__setattr__(made, "categories", Coded(codes[order], distinct))  # need not be found again
    return made


def _options(options: TableOptions, order: Ints) -> TableOptions:
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    moved = np.argsort(place[options.rows])
    sizes = np.diff(options.starts)[moved]
    holes = runs(options.starts[:-1][moved], sizes)
    return replace(
        options,
        rows=place[options.rows][moved],
        starts=np.concatenate([[0], np.cumsum(sizes)]),
        cells=options.cells[holes],
        lists=options.lists[holes],
        joint=options.joint[moved],
        weights=options.weights.take(moved),
    )
