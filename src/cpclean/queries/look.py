"""What a look at points finds: certain or not, how doubtful, and what each row would tell.

Every kind of model fills in the same `Look`; what keeps points up to date while rows become known
(`cpclean.cleaning.board`) knows nothing else about a model.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cpclean.cluster.hands import HERE, Hands
from cpclean.data.rows import Floats
from cpclean.queries import _looking
from cpclean.queries.cell_gains import CellIndex, cell_gains_in_block
from cpclean.queries.certain import possible_in_block
from cpclean.queries.gains import BlockGains, gains_in_block, joined_gains
from cpclean.queries.query import Near, Query, Vectors


class Look(NamedTuple):
    """A block of points under what is known of the data.

    Attributes
    ----------
    certain : ndarray of bool, shape (n_points,)
        Proved: every world predicts the same label.
    reach : ndarray of float, shape (n_points,)
        Rows that begin beyond it change nothing of this: they are among the nearest in no world, or
        in so little mass that what was found does not depend on it.
    gains : BlockGains
        Entropies of the points, and what knowing each row is expected to take from them; rows
        around uncertain points only, and none that gains nothing.
    exact : bool
        Whether entropies and gains are exact, rather than estimated from draws.
    """

    certain: npt.NDArray[np.bool_]
    reach: Floats
    gains: BlockGains
    exact: bool = True


def look(query: Query, index: CellIndex | None = None, hands: Hands = HERE) -> list[Look]:
    """Look at all points, block by block; with an index of cells, gains are those of cells."""
    answer = partial(_look_at_block, index=index)
    return query.over_blocks(answer, hands, want_near=not query.finds_rows)


def look_at_few(query: Query, index: CellIndex | None, vectors: Vectors) -> list[Look]:
    """The same of no more than a block of vectors, in this thread."""
    block = query.measured(vectors)
    if query.finds_rows:
        return [_look_at_block(query, block, None, index)]
    return query.answered(partial(_look_at_block, index=index), block)


def _look_at_block(
    query: Query, vectors: Vectors, near: Near | None, index: CellIndex | None
) -> Look:
    gains = _gains(query, vectors, near, index)
    # Masses are sums of products of numbers that are not negative: entropy shows two labels to
    # have worlds, drawn or not. Where there is none, a label may still have worlds that weigh next
    # to nothing, or that were not drawn.
    (doubtful,) = (gains.entropy == 0.0).nonzero()
    if near is not None:
        reach = near.reach
    else:
        reach = np.zeros(len(vectors)) if gains.radius is None else gains.radius.copy()
    possible = np.empty((0, 0), np.bool_)
    if len(doubtful):
        some = vectors[doubtful]
        own = query.all_near(some) if near is None else near.only(doubtful)
        possible = possible_in_block(query, some, own)
        if near is None:
            reach[doubtful] = own.reach
    certain, sizes = np.empty(len(vectors), np.bool_), np.empty(len(vectors), np.int64)
    rows, gain = np.empty(len(gains.rows), np.int64), np.empty(len(gains.rows))
    count = _looking.keep_gains(
        gains.n_rows, gains.rows, gains.gain, doubtful, possible, certain, sizes, rows, gain
    )
    kept = BlockGains(
        gains.entropy, gains.label, gains.top, sizes, rows[:count], gain[:count], gains.radius
    )
    return Look(certain, reach, kept, query.drawn is None)


def _gains(
    query: Query, vectors: Vectors, near: Near | None, index: CellIndex | None
) -> BlockGains:
    """Gains over all worlds, or over those of draws, which have near rows of their own."""

    def found(asked: Query, points: Vectors, around: Near | None) -> BlockGains:
        if index is None:
            return gains_in_block(asked, points, around)
        return cell_gains_in_block(asked, points, around, index)

    if query.drawn is None:
        return found(query, vectors, near)
    if query.drawn.finds_rows:
        return found(query.drawn, vectors, None)
    return joined_gains(query.drawn.answered(found, vectors))
