"""What questions about leaves need of an incomplete dataset, computed once and stored with it.

Every candidate is sent through the trees. When a row becomes known, its candidates lose their owner
and the row goes back to one of them, or gets new ones, which are compared one by one until they
have become so many that new lists pay off: O(N) per answer, mostly copying.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cpclean.data.incomplete import IncompleteDataset, Ints
from cpclean.data.row_arrays import runs, starts_of
from cpclean.data.rows import Bools, Floats
from cpclean.data.spaces.trees import Leaves, ReachableLeaves, Trees
from cpclean.queries import _leaf_lists
from cpclean.queries.kernel_arrays import FIRST_CANDIDATE, N_CELLS, SIZE, LeafRows
from cpclean.queries.prepared import rarest_prior

# Doubles that candidates may take up at a time on their way through the trees.
_BLOCK = 4_000_000
# Lists of rows are made if at least this share of them has one candidate: these show how near the
# others have to come. Where few do, candidates are counted one by one.
_ALONE = 0.5
# New candidates that are compared one by one: so many, and one for this many in lists.
_FEW, _PER_LISTED = 64, 32


@dataclass(frozen=True)
class PreparedLeaves:
    """What is computed once per dataset and stored with it."""

    rows: LeafRows
    n_alone: int  # candidates below this number are the only ones of their rows
    n_exact: int  # from this number on, candidates may stand for rows that are bounded
    listed: Ints  # (N, 2) the first candidate and the number of candidates that lists have of a row
    rarest: float  # a lower bound on the prior of any candidate

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        frozen(self.rows)  # arrays out of pickles can be written to


def prepared_leaves(data: IncompleteDataset) -> PreparedLeaves:
    """What the data keeps for questions about leaves; prepared by the first one."""
    if PreparedLeaves not in data.derived:
        data.derived[PreparedLeaves] = _prepared(data)
    found: PreparedLeaves = data.derived[PreparedLeaves]
    return found


def set_prepared_leaves(data: IncompleteDataset, prepared: PreparedLeaves) -> None:
    """Let questions use what was prepared for equal data, elsewhere or before."""
    data.derived[PreparedLeaves] = prepared


def changed_leaves(before: PreparedLeaves, data: IncompleteDataset, row: int) -> PreparedLeaves:
    """What is prepared for data that differs in one row."""
    rows = before.rows
    few = _FEW + len(rows.lists) // (_PER_LISTED * max(rows.codes.shape[1], 1))
    long = data.candidate_counts[row] > data.drawing.most_written
    if long or before.listed[row, 0] < before.n_alone or len(rows.extra) >= few:
        return _prepared(data)
    codes, weights = _sent(data, np.array([row]))
    owner, mass = rows.owner.copy(), rows.weights.copy()
    owner[owner == row] = -1
    at = None if rows.bounded[row] else _place_among(rows.codes, before.listed[row], codes)
    all_codes, extra = rows.codes, rows.extra[owner[rows.extra] >= 0]
    if at is None:
        at = len(all_codes)
        all_codes = np.concatenate([all_codes, codes])
        owner = np.append(owner, np.full(len(codes), row))
        mass = np.append(mass, weights)
        extra = np.append(extra, at + np.arange(len(codes)))
    owner[at : at + len(codes)] = row
    mass[at : at + len(codes)] = weights
    spans, bounded = rows.spans.copy(), rows.bounded.copy()
    spans[row, N_CELLS] = data.arrays.n_cells[row]
    spans[row, SIZE], spans[row, FIRST_CANDIDATE] = len(codes), at
    bounded[row] = False
    after = rows._replace(
        codes=all_codes, owner=owner, weights=mass, spans=spans, bounded=bounded, extra=extra
    )
    return replace(before, rows=frozen(after))


def frozen(rows: LeafRows) -> LeafRows:
    """Read-only throughout: a kernel is compiled once, not once per mixture of flags."""
    for array in rows:
        array.flags.writeable = False
    return rows


def refilled_leaves(before: IncompleteDataset, data: IncompleteDataset, rows: Ints) -> None:
    """Prepare data that differs in some rows; what the others reach is taken over."""
    other = np.ones(data.n_rows, dtype=bool)
    other[rows] = False
    found = _LikeBefore(before, prepared_leaves(before), other)
    set_prepared_leaves(data, _prepared(data, found))


def _prepared(data: IncompleteDataset, like: _LikeBefore | None = None) -> PreparedLeaves:
    trees = trees_of(data)
    long = data.candidate_counts > data.drawing.most_written
    alone = data.candidate_counts == 1
    short = np.concatenate([np.flatnonzero(alone), np.flatnonzero(~alone & ~long)])
    (bounded,) = np.nonzero(long)
    codes, weights = _sent(data, short) if like is None else like.sent(data, short)
    sizes = data.candidate_counts[short]
    n_listed, n_rows = len(codes), data.n_rows
    first = np.empty(n_rows, dtype=np.int64)
    first[short] = starts_of(sizes)
    first[bounded] = n_listed + 2 * np.arange(len(bounded))
    count = np.where(long, 2, data.candidate_counts)
    spans = np.zeros((n_rows, 4), dtype=np.int64)
    spans[:, N_CELLS], spans[:, SIZE] = data.arrays.n_cells, count
    spans[:, FIRST_CANDIDATE] = first
    reachable = None
    if len(bounded):
        reachable = _reachable(data, bounded) if like is None else like.reachable(data, bounded)
    root, n_nodes = trees.root[:-1].astype(np.int64), int(trees.root[-1])
    tree_ptr, leaves = np.zeros(1, dtype=np.int64), np.zeros(0, dtype=codes.dtype)
    if reachable is not None:
        tree_ptr, leaves = reachable.ptr, reachable.leaves
    list_at, lists = _leaf_lists.make_lists(
        codes, n_listed, root, n_nodes, tree_ptr, leaves, n_listed
    )
    places = np.concatenate([short, bounded])
    row_list_at, row_lists = np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.uint32)
    if _ALONE * n_rows <= alone.sum() < n_rows:
        row_list_at, row_lists = _leaf_lists.make_row_lists(
            codes, places, spans, root, n_nodes, tree_ptr, leaves
        )
    rows = LeafRows(
        codes=np.concatenate([codes, np.zeros((2 * len(bounded), codes.shape[1]), codes.dtype)]),
        owner=np.concatenate([np.repeat(short, sizes), np.repeat(bounded, 2)]),
        weights=np.concatenate([weights, np.zeros(2 * len(bounded))]),
        spans=spans,
        bounded=long,
        root=root,
        list_at=list_at,
        lists=lists,
        extra=np.zeros(0, dtype=np.int64),
        row_list_at=row_list_at,
        row_lists=row_lists,
        places=places,
    )
    listed = np.stack([first, count], axis=1)
    n_alone = int(alone.sum())
    return PreparedLeaves(frozen(rows), n_alone, n_listed, listed, rarest_prior(data))


def trees_of(data: IncompleteDataset) -> Trees:
    """The trees of data that is among leaves."""
    assert isinstance(data.space, Trees), "data without trees has no leaves"
    return data.space


def _sent(data: IncompleteDataset, rows: Ints) -> tuple[Leaves, Floats]:
    """The leaves of all candidates of some rows, row by row, and their prior."""
    trees, counts = trees_of(data), data.candidate_counts[rows]
    codes = np.empty((int(counts.sum()), trees.n_trees), dtype=trees.leaf_type)
    weights = np.empty(len(codes))
    ends = np.cumsum(counts)
    part = (ends - 1) * data.n_features // _BLOCK
    for some in np.split(np.arange(len(rows)), np.flatnonzero(np.diff(part)) + 1):
        if not len(some):
            continue
        own = slice(int(ends[some[0]] - counts[some[0]]), int(ends[some[-1]]))
        vectors, _, weights[own] = data.arrays.take(rows[some]).written_out()
        codes[own] = trees.apply(vectors)
    return codes, weights


def _reachable(data: IncompleteDataset, rows: Ints) -> ReachableLeaves:
    return trees_of(data).reachable(data.arrays.take(rows))


@dataclass(frozen=True)
class _LikeBefore:
    """What is known about rows that are the same in other data."""

    data: IncompleteDataset
    prepared: PreparedLeaves
    same: Bools  # (N) whether a row is

    def sent(self, data: IncompleteDataset, rows: Ints) -> tuple[Leaves, Floats]:
        """As `_sent` finds it."""
        counts, same = data.candidate_counts[rows], self.same[rows]
        old = runs(self.prepared.rows.spans[rows[same], FIRST_CANDIDATE], counts[same])
        kept = np.repeat(same, counts)
        codes = np.empty(
            (len(kept), self.prepared.rows.codes.shape[1]), self.prepared.rows.codes.dtype
        )
        weights = np.empty(len(kept))
        codes[kept], weights[kept] = self.prepared.rows.codes[old], self.prepared.rows.weights[old]
        codes[~kept], weights[~kept] = _sent(data, rows[~same])
        return codes, weights

    def reachable(self, data: IncompleteDataset, rows: Ints) -> ReachableLeaves:
        """As `_reachable` finds it."""
        if ReachableLeaves not in self.data.derived:
            bounded = np.flatnonzero(self.prepared.rows.bounded)
            self.data.derived[ReachableLeaves] = bounded, _reachable(self.data, bounded)
        bounded, before = self.data.derived[ReachableLeaves]
        same = self.same[rows]
        new = _reachable(data, rows[~same])
        n_trees = new.n_trees
        at = np.empty(len(rows), dtype=np.int64)
        at[same] = np.searchsorted(bounded, rows[same])
        at[~same] = len(bounded) + np.arange(len(rows) - same.sum())
        sizes = np.concatenate([before.sizes, new.sizes])
        each = sizes.sum(axis=1)
        leaves = np.concatenate([before.leaves, new.leaves])[runs(starts_of(each)[at], each[at])]
        ptr = np.concatenate([[0], np.cumsum(sizes[at].ravel())])
        return ReachableLeaves(ptr, leaves, n_trees)


def _place_among(codes: Leaves, listed: Ints, wanted: Leaves) -> int | None:
    """Where the listed candidates of a row have these leaves, one after the other."""
    first, size = listed.tolist()
    last = size - len(wanted)
    for place in range(last + 1) if len(wanted) == 1 else range(0, min(last, 0) + 1):
        if np.array_equal(codes[first + place : first + place + len(wanted)], wanted):
            return int(first + place)
    return None
