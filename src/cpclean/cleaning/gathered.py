"""Some rows that stand for a whole table around validation points, also when answers surprise.

A board over a large table holds the table as it was given (`Ground`) and works on the rows that are
near its points. `queries.gather` says why these are enough, and why that holds while rows lose
candidates. Where an answer was no candidate of its row, the row may be *beyond* what it could be at
first, and two things are watched:

1. A row that was not gathered comes within the reach of a point: it is added (`comes_near`).
2. Rows around a point went away, more of them than the point has to spare, and its reach is not
   below the one that was gathered for: other rows may be near now. Rows are gathered again for this
   point, with more to spare (`outdated`, `again`).

Both say too much rather than too little: more rows than necessary change nothing. Only here is the
whole table read after the first look, and only `queries.gather` searches it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from cpclean.cleaning.ground import Ground, KnownRow
from cpclean.cluster.hands import Hands
from cpclean.data.incomplete import IncompleteDataset, Ints
from cpclean.data.rows import Floats, StoredCell, StoredRow, narrowed
from cpclean.data.spaces.fitted_map import FittedMap
from cpclean.queries.gather import Around, around, around_if_few
from cpclean.queries.geometry import METRICS
from cpclean.queries.model import Model
from cpclean.queries.query import Query, union

# Tables with fewer rows are looked at as a whole; so are those of which more than a share is near.
# (With 200 points and 10 columns, a step among gathered rows costs 1.5 of one on the whole table at
# 2,000 rows, 0.9 at 4,000, 0.7 at 8,000: `benchmarks.telling`, with other numbers of rows.)
LEAST_ROWS = 4096
MOST_SHARE = 0.5
# Rows gathered for each point beyond those that are needed at first.
SPARE = 1


@dataclass(frozen=True, eq=False)
class Gathered:
    """Rows of a table that stand for all of them.

    Attributes
    ----------
    query : Query
        About all rows as they were given.
    rows : ndarray of int
        The gathered rows, ascending. Their places here are their numbers in `data`.
    around : Around
        The rows around each distinct vector of the points, in the table as it was given.
    beyond : frozenset of int
        The rows that can be, as they are known now, where they could not be as they were given.
    """

    query: Query
    rows: Ints
    around: Around
    beyond: frozenset[int] = field(default=frozenset())

    @classmethod
    def of(cls, query: Query, ground: Ground, hands: Hands, wanted: bool | None) -> Gathered | None:
        """The rows near the points of a query about a table as it was given; None if too many."""
        found = around_if_few(query, SPARE, 1.0 if wanted else MOST_SHARE, hands)
        if found is None:
            return None
        bare = cls(query, union(found.rows), found)
        rows = [row for row, one in ground.told.items() if bare._is_beyond(ground, row, one.now)]
        return replace(bare, beyond=frozenset(rows)).with_rows(np.array(rows, dtype=np.int64))

    def place(self, row: int) -> int | None:
        """The number of a row among the gathered ones; None if it is not one of them."""
        place = int(self.rows.searchsorted(row))
        return place if place < len(self.rows) and self.rows[place] == row else None

    def data(self, ground: Ground, *, uniform: bool = False) -> IncompleteDataset:
        """The gathered rows as they are known now; if need be, as `IncompleteDataset.uniform`."""
        taken = ground.start.take(self.rows)
        start = taken.uniform() if uniform else taken
        known = {}
        for row, one in ground.told.items():
            place = self.place(row)
            if place is None:
                continue
            if one.features is not None:
                known[place] = narrowed(start.stored_row(place), one.features)
            else:
                known[place] = _equally_likely(one.now) if uniform else one.now
        return start.knowing(known)

    def with_rows(self, rows: Ints) -> Gathered:
        """The same with more rows."""
        return replace(self, rows=np.union1d(self.rows, rows))

    # -- answers that are no candidates ----------------------------------------------------

    def knowing(self, ground: Ground, row: int, known: KnownRow) -> Gathered:
        """The same with other knowledge about a row, which is added if it may come near."""
        if known.features is None or not self._is_beyond(ground, row, known.now):
            return replace(self, beyond=self.beyond - {row}) if row in self.beyond else self
        after = replace(self, beyond=self.beyond | {row})
        if self.place(row) is None:
            bounds = self.alone(ground, row, known.now).nearest(0)
            if (bounds <= self.around.reach).any():
                return after.with_rows(np.array([row]))
        return after

    def alone(self, ground: Ground, row: int, now: StoredRow | None = None) -> Query:
        """The question about a single row, gathered or not."""
        own = np.array([row])
        query = self.query.among(own, ground.start.take(own))
        return query if now is None else query.changed(query.data.known_as(0, now), 0)

    def outdated(self, points: Ints, reach: Floats) -> Ints:
        """The points, of some, that have lost so many rows that others may be near by now.

        reach is where K of the gathered rows end now.
        """
        if not self.beyond:
            return points[:0]
        lists = [self.around.rows[point] for point in points.tolist()]
        owner = np.repeat(np.arange(len(points)), [len(one) for one in lists])
        lost = np.isin(np.concatenate([np.empty(0, np.int64), *lists]), list(self.beyond))
        n_lost = np.bincount(owner[lost], minlength=len(points))
        doubtful = (n_lost > self.around.spare[points]) & (reach >= self.around.reach[points])
        return points[doubtful]

    def again(self, points: Ints) -> Gathered:
        """The same with more rows around some of the points, and all rows that are beyond."""
        query = self.query.about(self.query.vectors[points])
        found = around(query, 2 * self.around.spare[points] + 1)
        beyond = np.array(sorted(self.beyond), dtype=np.int64)
        rows = union([self.rows, beyond, *found.rows])
        return replace(self, rows=rows, around=self.around.with_points(points, found))

    def _is_beyond(self, ground: Ground, row: int, now: StoredRow) -> bool:
        return not self.query.encloses(ground.start.stored_row(row), now)


def can_gather(data: IncompleteDataset, model: Model, wanted: bool | None) -> bool:
    """Whether some rows can stand for all of them, and it is worth a try.

    Distances that are given, or measured by a function, are numbered as all candidates are. A
    fitted object maps draws all at once, which matters to their last digits.
    """
    if wanted is False or (wanted is None and data.n_rows < LEAST_ROWS):
        return False
    if not isinstance(model.metric, str) or model.precomputed or model.metric not in METRICS:
        return False
    return data.is_exact or not isinstance(data.space, FittedMap)


def _equally_likely(row: StoredRow) -> StoredRow:
    cells = (
        StoredCell(one.start, one.values, np.full(len(one.values), 1.0 / len(one.values)))
        for one in row.cells
    )
    return StoredRow(row.base, tuple(cells))
