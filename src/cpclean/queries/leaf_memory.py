"""What a kept question remembers about the points that it was asked about among leaves.

When a row becomes known, the points that it is near to are looked at again, and nearly all they had
around them is still there. So the positions around each point are kept, and only those of rows that
have changed since are found anew; bit for bit what is found without. Up to a limit, so that memory
does not grow with the number of points: some numbers per point and position around it.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cpclean.data.incomplete import Ints
from cpclean.data.rows import Floats
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
    spot: Ints
    fixed: Ints

    @property
    def positions(self) -> Positions:
        return Positions(*self[:9])


_OF_ROWS = ("rows", "beyond")
_OF_POSITIONS = ("spot", "weight", "fixed")
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


class _Points:
    """What is kept about points, by their leaves; several threads may put something into it."""

    def __init__(self) -> None:
        self.kept: dict[bytes, _Kept] = {}
        self.n_bytes = 0
        self.lock = Lock()

    def put(self, name: bytes, kept: _Kept) -> None:
        """Keep something instead of what was kept about a point, if there is room."""
        with self.lock:
            before = self.kept.pop(name, None)
            self.n_bytes -= 0 if before is None else before.n_bytes
            if self.n_bytes + kept.n_bytes <= MOST_BYTES:
                self.n_bytes += kept.n_bytes
                self.kept[name] = kept


class LeafMemory:
    """What is remembered, and which rows have changed since.

    The memory of a question is shared with those that follow from it by changes of rows. Each knows
    the changes behind it, so that none is misled by what another one found.
    """

    def __init__(self) -> None:
        self._points = _Points()
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
        """As `close_by`, from what is remembered as far as possible."""
        names = [point.tobytes() for point in points]
        found = [self._remembered(name, n_neighbors, slack) for name in names]
        known = np.array([one is not None for one in found])
        place = np.where(known, np.cumsum(known) - 1, -1)
        before = _before([one for one in found if one is not None])
        close = CloseBy(
            *_leaf_order.close_positions(rows, points, n_neighbors, slack, False, before, place)
        )
        self._remember(names, n_neighbors, slack, close, points.shape[1])
        return close

    def _remembered(
        self, name: bytes, n_neighbors: int, slack: float
    ) -> tuple[_Kept, list[int]] | None:
        """What is known about a point, and the rows that have changed since."""
        kept = self._points.kept.get(name)
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
        of_rows = [getattr(found, field) for field in _OF_ROWS]
        of_positions = [getattr(found, field) for field in _OF_POSITIONS]
        row_ptr, ptr, radii = found.row_ptr.tolist(), found.ptr.tolist(), found.radius.tolist()
        for number, name in enumerate(names):
            if radii[number] == n_trees:  # rows by their numbers, and not by their leaves
                continue
            begin, end = row_ptr[number], row_ptr[number + 1]
            start, stop = ptr[number], ptr[number + 1]
            kept = _Kept(
                when,
                n_neighbors,
                slack,
                radii[number],
                tuple([array[begin:end].copy() for array in of_rows]),
                tuple([array[start:stop].copy() for array in of_positions]),
                len(name) + _ROW_BYTES * (end - begin) + _POSITION_BYTES * (stop - start),
            )
            points.put(name, kept)


def close_by(
    rows: LeafRows, points: Leaves, n_neighbors: int, slack: float, want_rank: bool = False
) -> CloseBy:
    """Positions around points, until all but slack of the mass is decided."""
    unknown = np.full(len(points), -1)
    return CloseBy(
        *_leaf_order.close_positions(
            rows, points, n_neighbors, slack, want_rank, _before([]), unknown
        )
    )


def _before(known: Sequence[tuple[_Kept, list[int]]]) -> _leaf_order.Before:
    """What is known about some points, one after the other, and the rows that have changed."""
    kept = [one for one, _ in known]
    rows, beyond = _stacked([one.of_rows for one in kept], (np.int64, np.float64))
    spot, weight, fixed = _stacked(
        [one.of_positions for one in kept], (np.int64, np.float64, np.int64)
    )
    return _leaf_order.Before(
        radius=np.array([one.radius for one in kept], dtype=np.float64),
        row_ptr=_ends([len(one.of_rows[0]) for one in kept]),
        rows=rows,
        beyond=beyond,
        ptr=_ends([len(one.of_positions[0]) for one in kept]),
        spot=spot,
        weight=weight,
        fixed=fixed,
        changed_ptr=_ends([len(changed) for _, changed in known]),
        changed=np.array([row for _, changed in known for row in changed], dtype=np.int64),
    )


def _stacked(
    parts: Sequence[tuple[npt.NDArray[Any], ...]], kinds: tuple[type[Any], ...]
) -> list[npt.NDArray[Any]]:
    return [
        np.concatenate([np.zeros(0, kind), *(part[number] for part in parts)])
        for number, kind in enumerate(kinds)
    ]


def _ends(sizes: Sequence[int]) -> Ints:
    return np.concatenate([[0], np.cumsum(np.array(sizes, dtype=np.int64))])
