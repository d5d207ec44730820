"""What a kept question remembers about the points that it was asked about among leaves.

When a row becomes known, the points that it is near to are looked at again, and nearly all they had
around them is still there. So the positions around each point are kept, and only those of rows that
have changed since are found anew; bit for bit what is found without. Up to a limit, so that memory
does not grow with the number of points: some numbers per point and position around it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cpclean.data.incomplete import Ints
from cpclean.data.rows import Bools, Floats
from cpclean.data.spaces.trees import Leaves
from cpclean.queries import _leaf_order
from cpclean.queries.kernel_arrays import LeafRows, Positions

# What all points of a question may take up together.
MOST_BYTES = 2**27
# After more changes, a point is looked at as if for the first time.
MOST_CHANGES = 64


class CloseBy(NamedTuple):
    """Positions around some points, as `_leaf_order.close_positions` returns them."""

    row_ptr: Ints
    rows: Ints
    beyond: Floats
    ptr: Ints
    owner: Ints
    weight: Floats
    nearer: Floats
    far: Floats
    rank: Ints
    radius: Floats
    n_out: Ints
    away: Ints
    fixed: Ints

    @property
    def positions(self) -> Positions:
        return Positions(*self[:9])


_OF_ROWS = ("rows", "beyond", "n_out")
_OF_POSITIONS = ("owner", "weight", "away", "fixed")
_SUMS = ("nearer", "far")
# What a row and a position take up, with numbers of 8 bytes.
_ROW_BYTES, _POSITION_BYTES = 8 * len(_OF_ROWS), 8 * len(_OF_POSITIONS)


class _Kept(NamedTuple):
    """What was found about one point."""

    when: object
    n_neighbors: int
    slack: float
    radius: float
    of_rows: tuple[npt.NDArray[Any], ...]
    of_positions: tuple[npt.NDArray[Any], ...]
    n_bytes: int


class LeafMemory:
    """What is remembered, and which rows have changed since.

    The memory of a question is shared with those that follow from it by changes of rows. Each knows
    the changes behind it, so that none is misled by what another one found.
    """

    def __init__(self) -> None:
        self._points: dict[bytes, _Kept] = {}
        self._when = object()
        self._past: tuple[tuple[object, int], ...] = ()  # last first: a time, and what changed then

    def __reduce__(self) -> Any:  # copies and pickles remember nothing
        return LeafMemory, ()

    def after(self, row: int) -> LeafMemory:
        """The same after a change of a row."""
        other = LeafMemory()
        other._points = self._points
        other._past = ((self._when, row), *self._past[: MOST_CHANGES - 1])
        return other

    def positions(self, rows: LeafRows, points: Leaves, n_neighbors: int, slack: float) -> CloseBy:
        """As `_leaf_order.close_positions`, from what is remembered as far as possible."""
        names = [point.tobytes() for point in points]
        known = [self._remembered(name, n_neighbors, slack) for name in names]
        old = np.array([number for number, one in enumerate(known) if one is not None], np.int64)
        anew, again = np.ones(len(points), dtype=bool), None
        if len(old):
            again, same = _again(rows, points[old], [one for one in known if one is not None])
            old = old[same]
            anew[old] = False
        if again is not None and not anew.any():
            found = again
        else:
            fresh = CloseBy(
                *_leaf_order.close_positions(rows, points[anew], n_neighbors, slack, False)
            )
            found = fresh if again is None else _joined(again, np.flatnonzero(same), fresh, anew)
        self._remember(names, n_neighbors, slack, found, points.shape[1])
        return found

    def _remembered(
        self, name: bytes, n_neighbors: int, slack: float
    ) -> tuple[_Kept, list[int]] | None:
        """What is known about a point, and the rows that have changed since."""
        kept = self._points.get(name)
        if kept is None or (kept.n_neighbors, kept.slack) != (n_neighbors, slack):
            return None
        if kept.when is self._when:
            return kept, []
        changed = set()
        for when, row in self._past:
            changed.add(row)
            if when is kept.when:
                return kept, sorted(changed)
        return None

    def _remember(
        self, names: Sequence[bytes], n_neighbors: int, slack: float, found: CloseBy, n_trees: int
    ) -> None:
        points, when = self._points, self._when
        room = MOST_BYTES - sum(one.n_bytes for one in list(points.values()))
        of_rows = [getattr(found, field) for field in _OF_ROWS]
        of_positions = [getattr(found, field) for field in _OF_POSITIONS]
        row_ptr, ptr, radii = found.row_ptr.tolist(), found.ptr.tolist(), found.radius.tolist()
        for number, name in enumerate(names):
            if radii[number] == n_trees:  # rows by their numbers, and not by their leaves
                continue
            begin, end = row_ptr[number], row_ptr[number + 1]
            start, stop = ptr[number], ptr[number + 1]
            size = _ROW_BYTES * (end - begin) + _POSITION_BYTES * (stop - start)
            before = points.pop(name, None)
            room += 0 if before is None else before.n_bytes
            if size > room:
                continue
            room -= size
            points[name] = _Kept(
                when,
                n_neighbors,
                slack,
                radii[number],
                tuple([array[begin:end].copy() for array in of_rows]),
                tuple([array[start:stop].copy() for array in of_positions]),
                size,
            )


def _again(
    rows: LeafRows, points: Leaves, known: Sequence[tuple[_Kept, list[int]]]
) -> tuple[CloseBy, Bools]:
    """What is found about points that are known, and about which of them."""
    kept = [one for one, _ in known]
    of_rows = [np.concatenate(parts) for parts in zip(*(one.of_rows for one in kept), strict=True)]
    of_positions = [
        np.concatenate(parts) for parts in zip(*(one.of_positions for one in kept), strict=True)
    ]
    changed = [row for _, rows in known for row in rows]
    before = (
        np.array([one.radius for one in kept]),
        _ends([len(one.of_rows[0]) for one in kept]),
        *of_rows,
        _ends([len(one.of_positions[0]) for one in kept]),
        *of_positions,
    )
    *found, same = _leaf_order.renewed_positions(
        rows,
        points,
        kept[0].n_neighbors,
        kept[0].slack,
        before,
        _ends([len(rows) for _, rows in known]),
        np.array(changed, dtype=np.int64),
    )
    return CloseBy(*found), same


def _ends(sizes: Sequence[int] | Ints) -> Ints:
    return np.concatenate([[0], np.cumsum(np.asarray(sizes, dtype=np.int64))])


def _joined(again: CloseBy, some: Ints, fresh: CloseBy, anew: Bools) -> CloseBy:
    """What is found about some of the points that were known, and about those that are anew."""
    of_new = np.maximum(np.cumsum(anew) - 1, 0)
    of_old = np.zeros(len(anew), dtype=np.int64)
    of_old[~anew] = some
    joined: dict[str, npt.NDArray[Any]] = {}
    for name, fields in (("row_ptr", _OF_ROWS), ("ptr", (*_OF_POSITIONS, *_SUMS))):
        both = [np.asarray(getattr(one, name)) for one in (again, fresh)]
        begin = np.where(anew, both[1][of_new], both[0][of_old])
        size = np.where(anew, both[1][of_new + 1], both[0][of_old + 1]) - begin
        pieces = list(zip(anew.tolist(), begin.tolist(), (begin + size).tolist(), strict=True))
        joined[name] = _ends(size)
        for field in fields:
            one, two = getattr(again, field), getattr(fresh, field)
            joined[field] = np.concatenate([(two if new else one)[a:b] for new, a, b in pieces])
    radius = np.where(anew, fresh.radius[of_new], again.radius[of_old])
    return CloseBy(rank=again.rank, radius=radius, **joined)
