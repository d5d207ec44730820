"""Rows in blocks of neighbours, so that a query point passes over whole blocks at once.

Rows are split in two, again and again, across the direction in which they differ most, until a
block holds at most `BLOCK` of them. Rows without and with holes never share a block: a hole's
wide box would make the block's box as wide. Cost: O(N (d + log^2 N)), once per dataset.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cpclean.data.incomplete import Ints
from cpclean.data.rows import Floats
from cpclean.queries.kernel_arrays import BLOCK

# Rows are not split where fewer than this share of them would be on one side of a step.
_LEAST_SHARE = 0.2
_SAMPLE = 512  # rows that are enough to see in which direction they differ most


def in_blocks(low: Floats, high: Floats) -> tuple[Ints, Ints]:
    """Order rows by where their boxes lie.

    Parameters
    ----------
    low, high : arrays of shape (n_features, n_rows)
        The rows' boxes.

    Returns
    -------
    order : the rows, block after block, ascending within a block
    at : where each block begins in `order`, and the number of rows at the end
    """
    wide = (low != high).any(axis=0)
    one, other = np.flatnonzero(~wide), np.flatnonzero(wide)
    blocks = list(_split(low, one))
    corners = np.concatenate([low.take(other, axis=1), high.take(other, axis=1)])
    blocks += [other[block] for block in _split(corners, np.arange(len(other)))]
    sizes = [len(block) for block in blocks]
    return np.concatenate(blocks), np.concatenate([[0], np.cumsum(sizes)])


def _split(corners: Floats, rows: Ints) -> Iterator[Ints]:
    """Blocks of some columns of an array, which stand for rows; ascending within a block."""
    waiting = [rows]
    while waiting:
        rows = waiting.pop()
        if len(rows) > BLOCK:
            some = corners[:, rows[:: max(1, len(rows) // _SAMPLE)]]
            along = corners[np.argmax(some.var(axis=1)), rows]
            by_place = np.argsort(along, kind="stable")
            cut = _cut(along[by_place])
            waiting += [rows[by_place[cut:]], rows[by_place[:cut]]]
        elif len(rows):
            yield np.sort(rows)


def _cut(places: Floats) -> int:
    """Where to cut ascending numbers: near the middle, and not between equals if it can be."""
    size = len(places)
    middle = size // 2
    around = (
        np.searchsorted(places, places[middle], side="left"),
        np.searchsorted(places, places[middle], side="right"),
    )
    cut = int(min(around, key=lambda end: abs(int(end) - middle)))
    return cut if _LEAST_SHARE * size <= cut <= (1 - _LEAST_SHARE) * size else middle
