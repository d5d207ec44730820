"""What knowing one cell of a row would change, from the same conditionals as for whole rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from cpclean.data.incomplete import IncompleteDataset, Ints
from cpclean.data.rows import Floats
from cpclean.queries import _cells
from cpclean.queries.gains import BlockGains, conditionals, joined_radii
from cpclean.queries.query import Near, Query
from cpclean.queries.shares import entropy

Span = tuple[int, int]  # the columns start..stop-1 of the space that one cell of the table covers


class CellIndex(NamedTuple):
    """Every row's candidates, grouped by the value of each of its cells; flat, for the kernel."""

    first: Ints  # (rows + 1) the number of each row's first cell; cells are numbered row by row
    n_cells: Ints  # (rows)
    size: Ints  # (rows) candidates
    codes_at: Ints
    codes: Ints  # cell after cell, candidate after candidate: which value it has there
    prior_at: Ints
    prior: Floats
    most_values: int


def cell_index(data: IncompleteDataset, spans: Mapping[int, Sequence[Span]]) -> CellIndex:
    """Group the candidates of rows with holes by the values of their cells.

    `spans` lists the cells of each such row. A row's cells keep their numbers as it becomes known.
    """
    n_cells = np.zeros(data.n_rows, np.int64)
    codes_at, prior_at = np.zeros(data.n_rows, np.int64), np.zeros(data.n_rows, np.int64)
    codes: list[Ints] = []
    priors: list[Floats] = []
    used = weights_used = 0
    for row, cells in spans.items():
        n_cells[row] = len(cells)
        candidates = data.candidates(row)
        codes_at[row], prior_at[row] = used, weights_used
        own = [_codes(candidates[:, start:stop]) for start, stop in cells]
        codes += own
        priors.append(data.prior(row))
        used += len(candidates) * len(cells)
        weights_used += len(candidates)
    flat = np.concatenate([np.empty(0, np.int64), *codes])
    return CellIndex(
        first=np.concatenate([[0], np.cumsum(n_cells)]),
        n_cells=n_cells,
        size=data.candidate_counts,
        codes_at=codes_at,
        codes=flat,
        prior_at=prior_at,
        prior=np.concatenate([np.empty(0), *priors]),
        most_values=int(flat.max(initial=0)) + 1,
    )


def changed_index(
    index: CellIndex, data: IncompleteDataset, row: int, cells: Sequence[Span]
) -> CellIndex:
    """The same for data that differs in one row, whose cells are the same as before."""
    candidates = data.candidates(row)
    codes = [_codes(candidates[:, start:stop]) for start, stop in cells]
    codes_at, prior_at = index.codes_at.copy(), index.prior_at.copy()
    codes_at[row], prior_at[row] = len(index.codes), len(index.prior)
    return index._replace(
        size=data.candidate_counts,
        codes_at=codes_at,
        codes=np.concatenate([index.codes, *codes]),
        prior_at=prior_at,
        prior=np.concatenate([index.prior, data.prior(row)]),
        most_values=max(index.most_values, *(int(one.max()) + 1 for one in codes), 1),
    )


def cell_gains_in_block(
    query: Query, points: Floats, near: Near | None, index: CellIndex
) -> BlockGains:
    """As `gains_in_block`, but `rows` holds the numbers of cells."""
    entropies, labels, tops, sizes, numbers, gains, radii = [], [], [], [], [], [], []
    for given in conditionals(query, points, near):
        before = float(entropy(given.shares))
        counts = index.n_cells[given.rows]
        own = np.zeros(int(counts.sum()))
        if before > 0.0 and len(own):
            at, beyond = np.ascontiguousarray(given.at), np.ascontiguousarray(given.beyond)
            _cells.cell_gains(index, given.rows, given.rank, at, beyond, before, own)
        first = np.repeat(index.first[given.rows] - np.cumsum(counts) + counts, counts)
        entropies.append(before)
        labels.append(given.labels[given.shares.argmax()])
        tops.append(given.shares.max())
        sizes.append(len(own))
        numbers.append(first + np.arange(len(own)))
        gains.append(own)
        radii.append(None if given.radius is None else np.array([given.radius]))
    return BlockGains(
        np.array(entropies),
        np.array(labels),
        np.array(tops),
        np.array(sizes),
        np.concatenate(numbers),
        np.concatenate(gains),
        joined_radii(radii),
    )


def _codes(values: Floats) -> Ints:
    return np.unique(values, axis=0, return_inverse=True)[1].ravel().astype(np.int64)
