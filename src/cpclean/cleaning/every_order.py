"""How many rows every order has to clean, whatever is true of the rows without an answer.

For points that are certain now, with all answers. Cleaning takes worlds away, so the question is
which sets of rows, cleaned alone, leave some point open.

1. *Votes.* Let a point be certain of label L. Rows of that label are its friends. Unless L has h of
   the K votes, it loses: so L needs its h-th nearest friend to be nearer than the g-th nearest of
   the others, where g = K + 1 - h. For two labels this decides it; for more it is a part of it.
2. *The best case for L*: answered rows as they were answered, and each row without an answer where
   its candidates are best for L. It wins, for it is certain.
3. *Rows that are not cleaned.* A friend may then be where its farthest candidate is, and another
   row where its nearest is. At any distance, count in the best case: let a more of the others be
   lacking until there are g within that distance, and let b friends be too many until there are
   fewer than h. Then L loses if any a of the others that can come within, and any b of the friends
   that can go beyond, are not cleaned. So every set of rows that settles the point has all but
   a - 1 of these others in it, or all but b - 1 of these friends.
4. *Needed rows.* If b = 0 and a = 1, or a = 0 and b = 1, it has all of them: each is needed.
5. *How many at least.* If n' of a set or m' of another have to be cleaned, then
   (cleaned of the one) / n' + (cleaned of the other) / m' >= 1. The least sum of numbers between 0
   and 1, one for each row, under all these conditions is the value of a linear program. Any
   multipliers of the conditions prove a bound below it, whatever was lost in rounding, so that
   nothing depends on how well the program was solved.

Where rows lie is found in one order: of each row as it was before, followed by a copy of it as it
is known now, which is the next smaller or larger at equal distance.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from cpclean.data.incomplete import IncompleteDataset, Ints
from cpclean.data.rows import Bools
from cpclean.queries.query import Near, Query, Vectors

# Conditions per point, those that ask for most rows; and seconds for the linear program.
MOST_CONDITIONS = 12
MOST_SECONDS = 20.0
# What a bound may be off by rounding: it is a sum of at most millions of numbers up to 1.
_ROUNDING = 1e-6
_BEYOND = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class Condition:
    """So many of these rows have to be cleaned, or so many of those; 0: that is no way."""

    others: Ints
    n_others: int
    friends: Ints
    n_friends: int

    @property
    def all_needed(self) -> list[int]:
        """The rows that have to be cleaned all, if it asks for that."""
        if self.n_others and self.n_friends:  # one or the other
            return []
        rows = [*self.others.tolist(), *self.friends.tolist()]
        return rows if len(rows) == self.n_others + self.n_friends else []

    @property
    def key(self) -> tuple[Any, ...]:
        """What tells it from others."""
        return self.others.tobytes(), self.n_others, self.friends.tobytes(), self.n_friends

    def terms(self) -> Iterator[tuple[int, float]]:
        """The rows and their coefficients in a sum that has to be at least 1."""
        for rows, number in ((self.others, self.n_others), (self.friends, self.n_friends)):
            if number:
                yield from ((row, 1.0 / number) for row in rows.tolist())


@dataclass(frozen=True)
class EveryOrder:
    """What every order has to clean.

    Attributes
    ----------
    needed : frozenset of int
        Rows that are needed.
    conditions : tuple of Condition
        What else every set of rows has to fulfil that settles the points.
    left : frozenset of int
        Answered rows that may be needed though they were not found: with more than two labels, and
        where it is not known how near and how far the candidates of a row are.
    """

    needed: frozenset[int]
    conditions: tuple[Condition, ...]
    left: frozenset[int]

    def at_least(self, needed: Set[int]) -> int:
        """How many rows every order has to clean, if these are known to be needed."""
        return len(needed) + _besides(self.conditions, needed)


@dataclass(frozen=True, eq=False)
class Doubled:
    """Every row as it was before; behind those with an answer, a copy as they are known now."""

    data: IncompleteDataset
    row: Ints  # of each of its rows: which row it stands for
    copied: Bools  # and whether its copy follows
    movable: Bools  # and whether it has several candidates, whose ends are reached

    @classmethod
    def of(
        cls, start: IncompleteDataset, now: IncompleteDataset, answered: Sequence[int], exact: bool
    ) -> Doubled:
        """Of data before and after some answers.

        `exact` says whether it is known where the candidates of a row begin and end even if there
        are too many to go through.
        """
        known = np.zeros(now.n_rows, dtype=bool)
        known[list(answered)] = True
        rows = np.repeat(np.arange(now.n_rows), 1 + known)
        is_copy = np.concatenate([[False], rows[1:] == rows[:-1]])
        copies = {int(at): now.stored_row(int(rows[at])) for at in np.flatnonzero(is_copy)}
        open_ = start.arrays.n_cells > 0
        if not exact:
            open_[start.drawn_rows] = False
        data = start.take(rows).with_rows(copies)
        return cls(data, rows, known[rows] & ~is_copy, open_[rows] & ~is_copy)

    @cached_property
    def is_copy(self) -> Bools:
        """Which rows are copies."""
        return np.concatenate([[False], self.copied[:-1]])

    def neighbors(self, n_neighbors: int) -> int:
        """How many neighbours to look for where so many rows vote."""
        # With 2 K + 2, nothing is left out up to the (K + 1)-th row in the best case, each of which
        # comes twice: all needed rows are found. The further, the more conditions.
        return min(self.data.n_rows, 4 * n_neighbors + 4)


def every_order(doubled: Doubled, query: Query, labels: Ints, n_neighbors: int) -> EveryOrder:
    """What every order has to clean for some points that are certain.

    Parameters
    ----------
    doubled : Doubled
    query : Query
        About its data and these points, with `doubled.neighbors(n_neighbors)` neighbours.
    labels : ndarray of int
        The only label of each point.
    n_neighbors : int
        How many rows vote.
    """
    found = query.over_blocks(_ranks_in_block)
    needed: set[int] = set()
    conditions: dict[Any, Condition] = {}
    for ranks, label in zip((one for part in found for one in part), labels.tolist(), strict=True):
        h = votes_to_win(n_neighbors, label, doubled.data.n_classes)
        around = _Best.of(doubled, ranks, label)
        for one in _conditions(around, n_neighbors + 1 - h, h):
            needed.update(one.all_needed)
            conditions[one.key] = one
    answered = doubled.copied & ~doubled.movable if doubled.data.n_classes == 2 else doubled.copied
    left = frozenset(doubled.row[answered].tolist())
    return EveryOrder(frozenset(needed), tuple(conditions.values()), left - needed)


# -- where rows lie -------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Ranks:
    """The rows near a point, and at which place in the order of all each begins and ends."""

    rows: Ints
    begin: Ints
    end: Ints
    size: int


def _ranks_in_block(query: Query, points: Vectors, near: Near) -> list[_Ranks]:
    ptr, events = query.extremes(points, near)
    found = []
    for point in range(len(points)):
        rows = near.rows[near.ptr[point] : near.ptr[point + 1]]
        event = events[ptr[point] : ptr[point + 1]]
        event = np.where(event < 0, -1 - event, event)
        places = np.full(2 * len(rows), _BEYOND)
        places[event] = np.arange(len(event))
        found.append(_Ranks(rows, places[0::2], places[1::2], len(event)))
    return found


def votes_to_win(n_neighbors: int, label: int, n_classes: int) -> int:
    """With fewer votes than this, a label loses, however the other votes are spread.

    >>> votes_to_win(3, 0, 2), votes_to_win(4, 0, 2), votes_to_win(4, 1, 2), votes_to_win(3, 0, 3)
    (2, 2, 3, 1)
    """
    votes = 0
    while votes < n_neighbors:
        most = math.ceil((n_neighbors - votes) / max(1, n_classes - 1))  # of some other label
        if most < votes or (most == votes and label < n_classes - 1):
            break
        votes += 1
    return votes


@dataclass(frozen=True, eq=False)
class _Best:
    """The rows near a point, where they may lie, and where they lie in the best case for it."""

    rows: Ints
    friend: Bools
    movable: Bools
    begin: Ints
    end: Ints
    best: Ints
    size: int  # how many places there are

    @classmethod
    def of(cls, doubled: Doubled, ranks: _Ranks, label: int) -> _Best:
        is_copy = doubled.is_copy[ranks.rows]
        (place,) = np.nonzero(~is_copy)
        own, begin, end = ranks.rows[place], ranks.begin[place], ranks.end[place]
        friend = doubled.data.codes[own] == label
        best = np.where(friend, begin, end)
        (answered,) = np.nonzero(doubled.copied[own])
        best[answered] = _BEYOND
        (behind,) = np.nonzero(is_copy)
        there = np.searchsorted(own, ranks.rows[behind] - 1)
        best[there] = np.where(friend[there], ranks.begin[behind], ranks.end[behind])
        movable = doubled.movable[own]
        return cls(doubled.row[own], friend, movable, begin, end, best, ranks.size)

    def coming(self, place: int) -> Ints:
        """The others that are beyond a place, and can come within."""
        found = self.movable & ~self.friend & (self.begin <= place) & (self.best > place)
        return self.rows[found]

    def going(self, place: int) -> Ints:
        """The friends that are within a place, and can go beyond."""
        found = self.movable & self.friend & (self.best <= place) & (self.end > place)
        return self.rows[found]

    def n_within(self, places: Ints, some: Bools) -> Ints:
        """How many of some rows are at or before each place."""
        counted = places[some & (places < self.size)]
        return np.cumsum(np.bincount(counted, minlength=self.size))


def _conditions(around: _Best, g: int, h: int) -> Iterator[Condition]:
    """What a point asks for whose label needs h votes: the strictest conditions, and all alone."""
    best, friend = around.best, around.friend
    others, friends = around.movable & ~friend, around.movable & friend
    a = np.maximum(0, g - around.n_within(best, ~friend))
    b = np.maximum(0, around.n_within(best, friend) - (h - 1))
    n_coming = around.n_within(around.begin, others) - around.n_within(best, others)
    n_going = around.n_within(best, friends) - around.n_within(around.end, friends)
    (places,) = np.nonzero((a <= n_coming) & (b <= n_going) & (a + b > 0))
    n_others = np.where(a > 0, n_coming - a + 1, 0)[places]
    n_friends = np.where(b > 0, n_going - b + 1, 0)[places]
    both = (n_others > 0) & (n_friends > 0)
    asked = np.where(both, np.minimum(n_others, n_friends), n_others + n_friends)
    strictest = np.argsort(-asked, kind="stable")[:MOST_CONDITIONS]
    (alone,) = np.nonzero((a + b)[places] == 1)
    none = np.zeros(0, dtype=np.int64)
    for at in np.union1d(alone, strictest).tolist():
        place, n, m = int(places[at]), int(n_others[at]), int(n_friends[at])
        yield Condition(
            around.coming(place) if n else none, n, around.going(place) if m else none, m
        )


# -- how many at least ----------------------------------------------------------------------------


def _besides(conditions: Sequence[Condition], needed: Set[int]) -> int:
    """How many rows besides the needed ones all conditions ask for, proved by multipliers."""
    from scipy.optimize import linprog  # type: ignore[import-untyped]
    from scipy.sparse import csr_array  # type: ignore[import-untyped]

    columns: dict[int, int] = {}
    values: list[float] = []
    at: list[int] = []
    ptr, least = [0], list[float]()
    for one in conditions:
        terms = list(one.terms())
        rest = 1.0 - math.fsum(value for row, value in terms if row in needed)
        if rest <= _ROUNDING:
            continue
        for row, value in terms:
            if row not in needed:
                at.append(columns.setdefault(row, len(columns)))
                values.append(value)
        ptr.append(len(at))
        least.append(rest)
    if not least:
        return 0
    matrix = csr_array((values, at, ptr), shape=(len(least), len(columns)))
    solved: Any = linprog(
        np.ones(len(columns)),
        A_ub=-matrix,
        b_ub=-np.asarray(least),
        bounds=(0, 1),
        method="highs",
        options={"time_limit": MOST_SECONDS},
    )
    if solved.x is None:
        return 0
    # Each row counts once, so that what multipliers charge it beyond 1 has to be given back.
    multipliers = np.maximum(0.0, -solved.ineqlin.marginals)
    charged = matrix.T @ multipliers
    bound = multipliers @ np.asarray(least) - np.maximum(0.0, charged - 1.0).sum()
    return max(0, math.ceil(float(bound) - _ROUNDING))
