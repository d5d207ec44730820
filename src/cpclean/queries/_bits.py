"""Kernel for columns of two values each, as categories have them: rows are compared bit by bit.

A row's box says of every column whether all its candidates have the larger value, or some may.
Where a point has one value and no candidate of the row has it, one square is added to the sum that
decides where the row begins. So the number of these columns, times the least square, bounds that
sum from below: as rounding is monotone, a sum of n squares of at least s each is at least
n s (1 - n 2^-53).
A row is passed over only if n s exceeds the reach by a factor of 1 + 2^-40. In the same way the
largest square bounds where a row ends, which gives a first reach.

It is compiled into `_near`. The compilation cache there does not see edits here: after one, delete
the `__pycache__` folder of this package. (The tests do so by themselves.)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types
from numba.extending import intrinsic, overload

from cpclean.data.rows import Bools, Floats
from cpclean.queries.kernel_arrays import Boxes
from cpclean.queries.kernel_kinds import part

Words = npt.NDArray[np.uint64]

# Points for which words pay; bits of a word, and columns for which words pay.
SEVERAL = 8
_BITS, _LEAST_COLUMNS = 64, 8
_MARGIN = 2.0**-40
_AT_ONCE = 4096  # rows whose bits are packed at a time
_SAMPLE = 256  # rows that show at once that a column has more values


class Bits(NamedTuple):
    """Boxes in columns of two values each, a bit for each column."""

    low: Floats  # (d) the smaller value of each column
    high: Floats  # (d) the larger one
    must: Words  # (N) where all candidates of a row, in their order, have the larger one
    can: Words  # (N) where some may
    block_must: Words  # the same of blocks
    block_can: Words
    least: float  # the least square of the differences
    most: float  # and the largest


class Compared(NamedTuple):
    """Such boxes, and points."""

    must: Words
    can: Words
    block_must: Words
    block_can: Words
    points: Words  # where each point has the larger value
    least: float
    most: float


def bits_of(boxes: Boxes, blocks: Boxes) -> Bits | None:
    """The boxes of rows and of blocks as bits, if each column has two values; else None."""
    n_features, n_rows = boxes.low.shape
    if not _LEAST_COLUMNS <= n_features <= _BITS:
        return None
    low, high = blocks.low.min(axis=1), blocks.high.max(axis=1)
    some = slice(0, None, max(1, n_rows // _SAMPLE))
    parts = (boxes.low[:, some], boxes.high[:, some], blocks.low, blocks.high, *boxes[:2])
    if not all(_has(part, low, high) for part in parts):
        return None
    squares = ((high - low) ** 2)[high > low]
    least, most = squares.min(initial=np.inf), squares.max(initial=0.0)
    if not 0.0 < least <= most < np.inf:
        return None
    wide = high > low
    return Bits(
        low,
        high,
        _words(boxes.low.T == high, wide),
        _words(boxes.high.T == high, wide),
        _words(blocks.low.T == high, wide),
        _words(blocks.high.T == high, wide),
        float(least),
        float(most),
    )


def compared(bits: Bits | None, X: Floats) -> Compared | None:
    """Points beside such boxes, if they have no other values; else None."""
    if bits is None:
        return None
    above = X == bits.high
    if not (above | (X == bits.low)).all():
        return None
    own = _words(above, bits.high > bits.low)
    return Compared(*bits[2:6], own, bits.least, bits.most)


def _has(values: Floats, low: Floats, high: Floats) -> bool:
    """Whether columns, one after the other, have no values but two."""
    return all(
        bool(((own == one) | (own == other)).all())
        for own, one, other in zip(values, low, high, strict=True)
    )


def _words(bits: Bools, wide: Bools) -> Words:
    """Rows of bits as words, without those of columns with one value."""
    found = np.empty(len(bits), dtype=np.uint64)
    for start in range(0, len(bits), _AT_ONCE):
        some = bits[start : start + _AT_ONCE]
        filled = np.zeros((len(some), _BITS), dtype=bool)
        filled[:, : len(wide)] = some & wide
        packed = np.packbits(filled, axis=1, bitorder="little")
        found[start : start + len(some)] = packed.view("<u8")[:, 0]
    found.setflags(write=False)
    return found


def _count(word):
    """How many bits of a word are set."""
    return int(word).bit_count()


@overload(_count)
def _compiled_count(word):
    """An instruction of most processors, for several words at once."""
    count: Any = _population
    return lambda word: count(word)


@intrinsic
def _population(typing, word):
    def written(context, builder, signature, given):
        return builder.ctpop(*given)

    return types.int64(types.uint64), written


@part
def begin_by_bits(bits, p, start, count, begins):
    """Where some blocks begin at the earliest."""
    point = bits.points[p]
    each = bits.least * (1.0 - _MARGIN)
    for block in range(count):
        must, can = bits.block_must[start + block], bits.block_can[start + block]
        begins[block] = each * _count((point & ~can) | (must & ~point))


@part
def first_reach(bits, p, start, count, n_neighbors, differing):
    """Within which distance of a point so many rows of a block end; differing is scratch."""
    point = bits.points[p]
    must, can = bits.must[start : start + count], bits.can[start : start + count]
    for r in range(count):
        differing[r] = _count((point & ~must[r]) | (can[r] & ~point))
    for most in range(65):
        n_within = 0
        for r in range(count):
            n_within += differing[r] <= most
        if n_within >= n_neighbors:
            return most * bits.most * (1.0 + _MARGIN)
    return np.inf


@part
def list_alike(bits, p, reach, start, count, room, differing, places):
    """Places of those rows of a block that may begin within a point's reach; how many they are.

    None are listed, and -1 returned, if there is no room for so many. differing is scratch.
    """
    if reach == np.inf:
        return -1
    most = np.int64(min(reach * (1.0 + _MARGIN) / bits.least, 64.0))
    point = bits.points[p]
    must, can = bits.must[start : start + count], bits.can[start : start + count]
    n_within = 0
    for r in range(count):
        differing[r] = _count((point & ~can[r]) | (must[r] & ~point))
        n_within += differing[r] <= most
    if n_within > room:
        return -1
    at = 0
    r = 0
    while at < n_within:
        if differing[r] <= most:
            places[at] = start + r
            at += 1
        r += 1
    return n_within
