"""What a look at points finds: certain or not, how doubtful, and what each row would tell.

Every kind of model fills in the same `Look`; what keeps points up to date while rows become known
(`cpclean.cleaning.board`) knows nothing else about a model.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from cpclean.cluster.hands import HERE, Hands
from cpclean.data.rows import Floats
from cpclean.queries.cell_gains import CellIndex, cell_gains_in_block
from cpclean.queries.certain import possible_in_block
from cpclean.queries.gains import BlockGains, gains_in_block, joined_gains
from cpclean.queries.query import Near, Query, Vectors


@dataclass(frozen=True)
class Look:
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


def _look_at_block(
    query: Query, vectors: Vectors, near: Near | None, index: CellIndex | None
) -> Look:
    gains = _gains(query, vectors, near, index)
    # Masses are sums of products of numbers that are not negative: entropy shows two labels to
    # have worlds, drawn or not. Where there is none, a label may still have worlds that weigh next
    # to nothing, or that were not drawn.
    certain = np.zeros(len(vectors), dtype=bool)
    reach = np.zeros(len(vectors)) if gains.radius is None else gains.radius.copy()
    doubtful = np.flatnonzero(gains.entropy == 0.0)
    if len(doubtful):
        own = query.all_near(vectors[doubtful]) if near is None else near.only(doubtful)
        possible = possible_in_block(query, vectors[doubtful], own)
        certain[doubtful] = possible.sum(axis=1) == 1
        reach[doubtful] = own.reach
    if near is not None:
        reach = near.reach
    point = np.repeat(np.arange(len(vectors)), gains.n_rows)
    kept = (gains.gain != 0.0) & ~certain[point]
    return Look(
        certain,
        reach,
        replace(
            gains,
            n_rows=np.bincount(point[kept], minlength=len(vectors)),
            rows=gains.rows[kept],
            gain=gains.gain[kept],
        ),
        query.drawn is None,
    )


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
