"""A table in its space: from columns and what their holes can be to the arrays of a dataset.

1. Every row comes encoded as it stands; what stands in holes does not count.
2. Each distinct list of values is encoded once, and its weights are worked out once per class.
3. Holes whose values are combined are cells of their own, which share the lists.
4. A row whose values belong together is one cell, over the run of columns in which they differ.

There is no statement per row or hole, only per column, class, size and pattern of holes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from cpclean.data.cell_priors import CellWeights
from cpclean.data.ragged import Ragged
from cpclean.data.row_arrays import RowArrays, runs, starts_of
from cpclean.data.row_options import TableOptions
from cpclean.data.rows import Floats, Ints, check_finite
from cpclean.data.spaces.table_space import TableSpace

# Doubles that candidates which belong together may take up at a time.
_BLOCK = 4_000_000


class _Cells(NamedTuple):
    """Some cells: their rows, columns of the space and sizes, values and weights."""

    row: Ints
    start: Ints
    stop: Ints
    values: Ragged  # of each cell, column by column
    values_of: Ints  # which of them each cell has
    weights: Ragged
    weights_of: Ints


def encoded_rows(
    base: Floats, options: TableOptions, space: TableSpace, priors: CellWeights
) -> RowArrays:
    """The rows of a table, or points, in the space.

    Parameters
    ----------
    base : ndarray of shape (n_rows, n_features)
        The rows as the space encodes them; what stands in holes is replaced, in place.
    options : TableOptions
        Of the columns that have a place in the space, and no others.
    space : TableSpace
    priors : CellWeights
    """
    parts = [*_combined(base, options, space, priors), *_joint(base, options, space, priors)]
    if not np.isfinite(base).all():
        row = int(np.argmin(np.isfinite(base).all(axis=1)))
        check_finite(base[row], f"the candidates of row {row}")
    return _arrays(base, parts)


# -- holes whose values are combined ---------------------------------------------------------------


def _combined(
    base: Floats, options: TableOptions, space: TableSpace, priors: CellWeights
) -> Iterator[_Cells]:
    alone = ~options.joint[options.owner]
    for cell, all_holes in options.columns():
        holes = all_holes[alone[all_holes]]
        if not len(holes):
            continue
        feature, lists = space.feature(cell), options.by_column[cell]
        rows, which = options.rows[options.owner[holes]], options.lists[holes]
        encoded = feature.encoded(lists.flat)
        base[rows, feature.start : feature.stop] = encoded[lists.starts[:-1]][which]
        weights, number = priors.weights(cell, rows, which, lists)
        open_ = lists.sizes[which] > 1
        width = feature.stop - feature.start
        yield _Cells(
            row=rows[open_],
            start=np.full(int(open_.sum()), feature.start),
            stop=np.full(int(open_.sum()), feature.stop),
            values=_by_column(encoded, lists, width),
            values_of=which[open_],
            weights=_summing_to_one(weights),
            weights_of=number[open_],
        )


def _by_column(encoded: Floats, lists: Ragged, width: int) -> Ragged:
    """Encoded lists of shape (n_values, width), each column by column."""
    size = lists.sizes[lists.owner]
    place = np.arange(len(lists.flat)) - lists.starts[lists.owner]
    at = width * lists.starts[lists.owner] + place
    flat = np.empty(encoded.size)
    for column in range(width):
        flat[at + column * size] = encoded[:, column]
    return Ragged.sized(flat, width * lists.sizes)


def _summing_to_one(weights: Ragged) -> Ragged:
    """Weights that sum to 1 but for rounding, put right as those of any other row are."""
    lists = np.split(weights.flat, weights.starts[1:-1])
    totals = np.fromiter(map(math.fsum, lists), dtype=np.float64, count=len(lists))
    return weights.with_flat(weights.flat / totals[weights.owner])


# -- rows whose values belong together -------------------------------------------------------------


def _joint(
    base: Floats, options: TableOptions, space: TableSpace, priors: CellWeights
) -> Iterator[_Cells]:
    (places,) = np.nonzero(options.joint)
    if not len(places):
        return
    weights = _joint_weights(options, priors)
    for group, holes in _alike(options, places):
        features = [space.feature(cell) for cell in options.cells[holes[0]].tolist()]
        size = int(options.sizes[holes[0, 0]])
        step = max(1, _BLOCK // (size * base.shape[1]))
        for start in range(0, len(group), step):
            some, own = group[start : start + step], holes[start : start + step]
            rows = options.rows[some]
            versions = np.repeat(base[rows][:, :, None], size, axis=2)
            for at, feature in enumerate(features):
                cell = int(options.cells[own[0, at]])
                lists = options.by_column[cell].take(options.lists[own[:, at]])
                encoded = feature.encoded(lists.flat).reshape(len(some), size, -1)
                versions[:, feature.start : feature.stop] = encoded.transpose(0, 2, 1)
            base[rows] = versions[:, :, 0]
            if size > 1:
                yield _varying(rows, versions, weights.take(some))


def _varying(rows: Ints, versions: Floats, weights: Ragged) -> _Cells:
    """One cell per row, from the first to the last column in which its versions differ."""
    n_rows, n_features, size = versions.shape
    varies = (versions != versions[:, :, :1]).any(axis=2)
    some = varies.any(axis=1)
    start = np.where(some, varies.argmax(axis=1), 0)
    stop = np.where(some, n_features - varies[:, ::-1].argmax(axis=1), 1)
    n_values = (stop - start) * size
    at = (np.arange(n_rows) * n_features + start) * size
    values = Ragged.sized(versions.ravel()[runs(at, n_values)], n_values)
    each = np.arange(n_rows)
    return _Cells(rows, start, stop, values, each, _summing_to_one(weights), each)


def _joint_weights(options: TableOptions, priors: CellWeights) -> Ragged:
    """The weights of the versions of each row: the product of their cells' and their own."""
    sizes = np.zeros(len(options.rows), dtype=np.int64)
    sizes[options.owner] = options.sizes
    sizes[~options.joint] = 0
    weights = Ragged.sized(np.ones(sizes.sum()), sizes)
    given = options.weights.sizes > 0
    weights.flat[given[weights.owner]] = options.weights.flat.astype(np.float64)
    for cell, all_holes in options.columns():  # in order of columns, as cells are within a row
        holes = all_holes[options.joint[options.owner[all_holes]]]
        owners, which = options.owner[holes], options.lists[holes]
        found, number = priors.weights(cell, options.rows[owners], which, options.by_column[cell])
        places = runs(weights.starts[owners], sizes[owners])
        weights.flat[places] *= found.take(number).flat
    total = weights.sums()[weights.owner]
    uniform = 1.0 / sizes[weights.owner]
    positive = total > 0
    return weights.with_flat(
        np.where(positive, weights.flat / np.where(positive, total, 1.0), uniform)
    )


def _alike(options: TableOptions, places: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Joint rows with the same cells and the same number of versions, and their holes."""
    pattern = np.zeros(len(options.rows), dtype=np.int64)
    pattern[options.owner] = options.sizes
    for _, holes in options.columns():
        has = np.zeros(len(pattern), dtype=np.int64)
        has[options.owner[holes]] = 1
        pattern = np.unique(2 * pattern + has, return_inverse=True)[1]
    order = places[np.argsort(pattern[places], kind="stable")]
    _, first = np.unique(pattern[order], return_index=True)
    for group in np.split(order, first[1:]):
        n_cells = int(options.starts[group[0] + 1] - options.starts[group[0]])
        yield group, options.starts[group][:, None] + np.arange(n_cells)


# -- all together --------------------------------------------------------------------------------


def _arrays(base: Floats, parts: list[_Cells]) -> RowArrays:
    """The cells in order of rows and columns, in the arrays of a dataset; lists are shared."""
    none, nothing = np.zeros(0, dtype=np.int64), np.zeros(0)
    rows = np.concatenate([none, *(part.row for part in parts)])
    start = np.concatenate([none, *(part.start for part in parts)])
    order = np.lexsort((start, rows))
    size = [part.weights.sizes[part.weights_of] for part in parts]
    values_at, weights_at = [], []
    n_values = n_weights = 0
    for part in parts:
        values_at.append(n_values + part.values.starts[part.values_of])
        weights_at.append(n_weights + part.weights.starts[part.weights_of])
        n_values += len(part.values.flat)
        n_weights += len(part.weights.flat)
    n_cells = np.bincount(rows, minlength=len(base))
    return RowArrays(
        base=base,
        n_cells=n_cells,
        first_cell=starts_of(n_cells),
        cell_start=start[order],
        cell_stop=np.concatenate([none, *(part.stop for part in parts)])[order],
        cell_size=np.concatenate([none, *size])[order],
        values_at=np.concatenate([none, *values_at])[order],
        weights_at=np.concatenate([none, *weights_at])[order],
        values=np.concatenate([nothing, *(part.values.flat for part in parts)]),
        weights=np.concatenate([nothing, *(part.weights.flat for part in parts)]),
    )
