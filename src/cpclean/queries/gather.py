"""The rows around points: all that their predictions can depend on.

A row is near a point if it is among its K nearest in some world. Of a large table, the rows near
some points are few, and they stand for the whole table: with these rows alone, everything that is
asked about the points comes out the same, bit for bit (`Query.among`). That holds while rows lose
candidates, because then they begin farther away and end nearer.

An answer that was no candidate of its row may break it in two ways: a row comes near that was not
gathered, or a row goes away and rows beyond it are near instead. For the second, some more rows are
gathered than are needed now, and `Around` says how long that is enough.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cpclean.cluster.hands import HERE, Hands
from cpclean.data.incomplete import IncompleteDataset, Ints
from cpclean.data.points import Points
from cpclean.data.rows import Floats
from cpclean.queries.geometry import ask
from cpclean.queries.model import Model
from cpclean.queries.query import Near, Query, Vectors, union
from cpclean.queries.row_shards import near_in_shards

# Points that are looked at first, to see whether their rows are few.
_SAMPLE = 64


def near_rows(
    data: IncompleteDataset, X: Points | npt.ArrayLike, model: Model, n_jobs: int | None = None
) -> Ints:
    """The rows that are among the nearest of some point in some world, in ascending order.

    With these rows alone, everything that is asked about the points comes out the same. Among
    leaves, where many rows are equally far, rows as far as the last of the nearest are there, too:
    they are added up with the others, and the last bits would differ without them.

    Examples
    --------
    >>> data = IncompleteDataset([[[0.0], [5.0]], [[1.0]], [[6.0]], [[90.0]]], ["a", "b", "b", "a"])
    >>> near_rows(data, [[0.0]], Model(n_neighbors=1)).tolist()
    [0, 1]
    """
    query = ask(data, X, model)
    parts = query.over_blocks(_in_block, Hands(n_jobs), want_near=not query.finds_rows)
    return union([one for lists, _ in parts for one in lists])


@dataclass(frozen=True, eq=False)
class Around:
    """The rows that can be among the K + spare nearest of each of some points.

    Attributes
    ----------
    rows : list of ndarray of int
        For each point, in ascending order. Every row that begins nearer than `reach` is there.
    reach : ndarray of float, shape (n_points,)
        Where K + spare rows end at the latest.
    spare : ndarray of int, shape (n_points,)
        Of the rows of a point, so many may go anywhere: the K nearest stay among the others, or
        are those that went.
    """

    rows: list[Ints]
    reach: Floats
    spare: Ints

    def with_points(self, points: Ints, found: Around) -> Around:
        """The same with other rows around some of the points."""
        rows, reach, spare = self.rows.copy(), self.reach.copy(), self.spare.copy()
        for place, point in enumerate(points.tolist()):
            rows[point] = found.rows[place]
        reach[points], spare[points] = found.reach, found.spare
        return Around(rows, reach, spare)


def around(query: Query, spare: Ints, hands: Hands = HERE) -> Around:
    """The rows around each vector of a query, with so many to spare for each."""
    rows, reach = [np.empty(0, np.int64)] * len(spare), np.empty(len(spare))
    n_rows = query.data.n_rows
    for more in np.unique(spare).tolist():
        (own,) = np.nonzero(spare == more)
        wider = query.about(query.vectors[own]).for_neighbors(min(query.n_neighbors + more, n_rows))
        near = near_in_shards(wider, hands)
        if near is not None:
            wider = wider.among(near, query.data.take(near))
        parts = wider.over_blocks(_in_block, hands, want_near=not wider.finds_rows)
        found = [one if near is None else near[one] for lists, _ in parts for one in lists]
        for point, one in zip(own.tolist(), found, strict=True):
            rows[point] = one
        everything = query.n_neighbors + more >= n_rows
        reach[own] = np.inf if everything else np.concatenate([one for _, one in parts])
    return Around(rows, reach, spare)


def around_if_few(query: Query, spare: int, share: float, hands: Hands = HERE) -> Around | None:
    """The rows around all vectors; None if they are, or seem to be, more than a share of all."""
    n_points, n_rows = len(query.vectors), query.data.n_rows
    first = around(query.about(query.vectors[:_SAMPLE]), np.full(min(_SAMPLE, n_points), spare))
    each = sum(map(len, first.rows)) / len(first.rows)
    if n_rows * (1 - (1 - each / n_rows) ** n_points) > share * n_rows:
        return None
    rest = query.about(query.vectors[_SAMPLE:])
    others = around(rest, np.full(len(rest.vectors), spare), hands)
    found = Around(
        first.rows + others.rows,
        np.concatenate([first.reach, others.reach]),
        np.concatenate([first.spare, others.spare]),
    )
    return found if len(union(found.rows)) <= share * n_rows else None


def _in_block(query: Query, vectors: Vectors, near: Near | None) -> tuple[list[Ints], Floats]:
    """The rows of each point of a block, and the reach of each."""
    if near is not None:
        return np.split(near.rows, near.ptr[1:-1]), near.reach
    rows: list[Ints] = []
    reach = []
    for hood in query.around(vectors, None, 0.0):  # to where K rows end, whatever their prior
        assert hood.radius is not None, "a query that finds rows says how far it went"
        rows += np.split(hood.positions.rows, hood.positions.row_ptr[1:-1])
        reach.append(hood.radius)
    return rows, np.concatenate(reach)
