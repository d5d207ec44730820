"""The rows near many points in a large table, found by workers that get some of the rows each.

A row that is not near a point among some rows is not near it among all rows. So every worker gets a
shard of the rows and all points, and returns the numbers of the rows that are near some of them
there. Of these, `near_in_shards` keeps the rows that are near among all. They are a small part of
the table, and stand for it (`cpclean.queries.gather`): what is asked then is divided by points.

Each row is sent once in all. Divided by points from the beginning, the whole table would be sent to
every worker; that is less only if there are about as many points as rows.

Among leaves of trees this is not done. Many rows are equally far there, and a question looks at
rows beyond those that are near: without them, the last bits of shares differ.
"""

from __future__ import annotations

import numpy as np

from cpclean.cluster.hands import Hands
from cpclean.cluster.held import Held
from cpclean.data.incomplete import IncompleteDataset, Ints
from cpclean.queries.query import Query, Vectors, union

# Smaller tables are sent to every worker; so are those with fewer rows for each point.
LEAST_ROWS = 50_000
ROWS_PER_POINT = 4
# Blocks of points whose near rows are returned, and compared once more, together.
_BLOCKS = 8


def among_near(query: Query, hands: Hands) -> Query:
    """The same question about the rows near its vectors, if rows are worth dividing."""
    rows = near_in_shards(query, hands)
    return query if rows is None else query.among(rows, query.data.take(rows))


def near_in_shards(query: Query, hands: Hands) -> Ints | None:
    """The rows near the vectors of a query, ascending; None if rows are not worth dividing."""
    cluster, n_rows, vectors = hands.cluster, query.data.n_rows, query.vectors
    if cluster is None or not hands.sends_away(len(vectors)):
        return None
    if n_rows < max(LEAST_ROWS, ROWS_PER_POINT * len(vectors)) or query.n_neighbors >= n_rows:
        return None
    if query.data.space is not None:
        return None
    n_shards = min(max(2, cluster.at_once), n_rows)
    cuts = np.linspace(0, n_rows, n_shards + 1).astype(np.int64)
    shards = [np.arange(one, cuts[at + 1]) for at, one in enumerate(cuts[:-1].tolist())]
    parts = cluster.map(
        _near_in_shard,
        Held.of((_among(query.without_points(), np.arange(1)), vectors)),
        [(rows, query.data.take(rows)) for rows in shards],  # type: ignore[misc]
        "finding near rows",
    )
    found = []
    for at, group in enumerate(_groups(query, vectors)):
        rows = union([part[at] for part in parts])
        found.append(rows[_places(_among(query, rows).about(group))])
    return union(found)


def _near_in_shard(asked: tuple[Query, Vectors], rows: Ints, data: IncompleteDataset) -> list[Ints]:
    """The rows of a shard that are near some vectors of each group."""
    bare, vectors = asked
    query = bare.alone_among(rows, data)
    own = query.for_neighbors(min(query.n_neighbors, data.n_rows))
    return [rows[_places(own.about(group))] for group in _groups(query, vectors)]


def _among(query: Query, rows: Ints) -> Query:
    return query.alone_among(rows, query.data.take(rows))


def _groups(query: Query, vectors: Vectors) -> list[Vectors]:
    size = _BLOCKS * query.points_at_once
    return [vectors[at : at + size] for at in range(0, len(vectors), size)]


def _places(query: Query) -> Ints:
    """The places of the rows near some vector of a query."""
    return union(query.over_blocks(lambda _, __, near: near.rows))
