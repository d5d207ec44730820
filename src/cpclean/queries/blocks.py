"""Rows in blocks of neighbours, so that a query point passes over whole blocks at once.

Rows are split in two, again and again, across the direction in which they differ most, until a
block holds at most `BLOCK` of them. Rows without and with holes never share a block: a hole's
wide box would make the block's box as wide. Among many columns, where products are quicker in those
without holes, neither do rows with holes in different columns if there are many of each. Cost:
O(N (d + log N)), once per dataset.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cpclean.data.incomplete import Ints
from cpclean.data.rows import Bools, Floats
from cpclean.queries.kernel_arrays import BLOCK

# Rows are not split where fewer than this share of them would be on one side of a step.
_LEAST_SHARE = 0.2
_SAMPLE = 128  # rows that are enough to see in which direction they differ most
_FEW = 2**14  # rows whose boxes fit into the cache
# Rows with holes in the same columns that are worth blocks of their own, if there are many columns.
_MANY, _COLUMNS = BLOCK // 4, 16


def in_blocks(base: Floats, wide: Ints, low: Floats, high: Floats) -> tuple[Ints, Ints]:
    """Order rows by where their boxes lie.

    Parameters
    ----------
    base : array of shape (n_rows, n_features)
        The rows; one whose box has no width is there.
    wide : array of int
        The other rows, ascending.
    low, high : arrays of shape (n_features, n_wide)
        Their boxes.

    Returns
    -------
    order : the rows, block after block, ascending within a block; wide ones come last
    at : where each block begins in `order`, and the number of rows at the end
    """
    narrow = np.ones(len(base), dtype=bool)
    narrow[wide] = False
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused before use
        blocks = list(_split(base.T, np.flatnonzero(narrow)))
        corners = np.concatenate([low, high])
        for alike in _by_holes(low != high):
            blocks += [wide[block] for block in _split(corners, alike)]
    sizes = [len(block) for block in blocks]
    return np.concatenate(blocks), np.concatenate([[0], np.cumsum(sizes)])


def _by_holes(holes: Bools) -> Iterator[Ints]:
    """Rows with holes in the same columns, where there are many; then all others.

    Parameters
    ----------
    holes : array of bool, shape (n_features, n_rows)
    """
    if len(holes) < _COLUMNS:
        yield np.arange(holes.shape[1])
        return
    # Rows with the same holes have the same sum of random numbers, others as good as never:
    # these would share a block, which is only slower.
    numbers = np.random.default_rng(0).integers(2**64, size=len(holes), dtype=np.uint64)
    sums = np.zeros(holes.shape[1], dtype=np.uint64)
    for number, column in zip(numbers, holes, strict=True):
        sums[column] += number
    _, kind, sizes = np.unique(sums, return_inverse=True, return_counts=True)
    kind[(sizes < _MANY)[kind]] = len(sizes)
    in_order = np.argsort(kind, kind="stable")
    yield from np.split(in_order, np.flatnonzero(np.diff(kind[in_order])) + 1)


def _split(corners: Floats, rows: Ints) -> Iterator[Ints]:
    """Blocks of some columns of an array, which stand for rows; ascending within a block."""
    waiting = [rows]
    while waiting:
        rows = waiting.pop()
        if BLOCK < len(rows) <= _FEW < corners.shape[1]:  # close together in memory from here on
            own = np.ascontiguousarray(corners.T[rows].T)
            yield from (rows[block] for block in _split(own, np.arange(len(rows))))
        elif len(rows) > BLOCK:
            some = corners[:, rows[:: max(1, len(rows) // _SAMPLE)]]
            first = _first_half(corners[_widest(some), rows])
            waiting += [rows.compress(~first), rows.compress(first)]
        elif len(rows):
            yield rows


def _widest(some: Floats) -> int:
    """Along which axis some vectors differ most: the one of the largest variance."""
    some = some - some[:, :1]
    squares, sums = np.einsum("ij,ij->i", some, some), some.sum(axis=1)
    return int(np.argmax(squares - sums * sums / some.shape[1]))


def _first_half(places: Floats) -> Bools:
    """About half of some numbers, the smaller ones; equals stay together if they can."""
    size, middle = len(places), len(places) // 2
    value = np.partition(places, middle)[middle]
    below: Bools = places < value
    upto: Bools = places <= value
    n_below, n_upto = np.count_nonzero(below), np.count_nonzero(upto)
    cut, half = (n_below, below) if middle - n_below <= n_upto - middle else (n_upto, upto)
    if _LEAST_SHARE * size <= cut <= (1 - _LEAST_SHARE) * size:
        return half
    (equal,) = np.nonzero(upto & ~below)
    below[equal[: middle - n_below]] = True
    return below
