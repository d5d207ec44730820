"""Validation points, kept up to date while rows become known.

A board holds for every point whether it is certain, its entropy, and how much each row is expected
to lower that entropy once it is known. All of this depends on the data and the point alone, bit for
bit, not on the order in which the data changed.

A change of one row affects only the points that the row, before or after the change, can be near
to: a row that begins beyond a point's reach is among its nearest in no world. If the row only lost
candidates, certain points stay certain. Memory: a few numbers for every point and every row with
holes near it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.data.incomplete import IncompleteDataset, Ints
from cpclean.data.points import Points
from cpclean.data.rows import Floats, within
from cpclean.errors import AnswerError, QueryError
from cpclean.queries.cell_gains import Span, cell_index, changed_index
from cpclean.queries.certain import possible_in_block
from cpclean.queries.geometry import Near, Query, ask_both, check_magnitude
from cpclean.queries.kernel_arrays import FIRST_CANDIDATE, PRECOMPUTED
from cpclean.queries.look import look_at_block
from cpclean.queries.model import Model
from cpclean.queries.prepared import (
    Prepared,
    frozen,
    prepare_changed,
    prepared_rows,
    set_prepared,
)
from cpclean.queries.shares import shares_in_block

Bools = npt.NDArray[np.bool_]

# All distances that a function has measured are kept in memory, up to this many bytes.
MEASURED_BYTES = 2**30


@dataclass(frozen=True)
class Change:
    """How a change of one row changed the points, which are numbered as in X."""

    settled: Ints  # these became certain
    unsettled: Ints  # these were certain and are not any more


class Board:
    """The validation points under what is known of the data so far.

    Cleaning rows cannot fill the holes of a point, so each completion of a point counts as a point
    of its own, with its weight in the point: entropies, gains and `certain_share` are weighted
    means over completions, and a completion is certain when it is for itself. A point counts as
    certain when all its completions are, though they may have different labels. Shares are those of
    the completions, mixed by weight.

    Rows with too many candidates are looked at twice: at all their candidates for what is certain,
    and at draws for entropies, gains and shares.

    Parameters
    ----------
    data : IncompleteDataset
    X : Points, or array-like of shape (n_points, n_features)
        Complete validation points.
    model : Model
    cells : dict from row to list of (start, stop), optional
        The cells of each row with holes, as columns of the space. If given, gains are computed for
        cells, numbered row by row, instead of rows.
    n_jobs : int, optional
        Threads for the first look at all points.
    """

    def __init__(
        self,
        data: IncompleteDataset,
        X: Points | npt.ArrayLike,
        model: Model,
        cells: Mapping[int, Sequence[Span]] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self._asked = _alike(ask_both(data, X, model))
        self._query = _with_distances(self._asked)
        if not self._query.points.n_points:
            raise QueryError("validation needs at least one point; got none.")
        self._first = self._query.rows.spans[:, FIRST_CANDIDATE]
        self._cells = cells
        self.index = None if cells is None else cell_index(data.sampled, cells)
        size = len(self._query.vectors)
        self.weights = self.points.vector_weights
        self._certain = np.zeros(size, dtype=bool)
        self._entropy = np.zeros(size)
        self._reach = np.zeros(size)
        self._rows: list[Ints] = [np.empty(0, np.int64)] * size
        self._gain: list[Floats] = [np.empty(0)] * size
        self._totals: Floats | None = None
        self._look(np.arange(size), n_jobs)

    # -- looking ---------------------------------------------------------------------------

    @property
    def data(self) -> IncompleteDataset:
        return self._query.data

    @property
    def points(self) -> Points:
        """The validation points as the session was given them."""
        return self._asked.points

    @property
    def certain(self) -> Bools:
        """Whether each validation point is certain, in all its completions."""
        return self._points_certain(self._certain)

    @property
    def entropies(self) -> Floats:
        """The entropy of each validation point, in nats; the mean over its completions."""
        return self.points.mixed(self._entropy)

    @property
    def certain_share(self) -> float:
        """The share of the points that is certain, completion by completion."""
        return self.share_of(self._certain)

    def share_of(self, vectors: Bools) -> float:
        """How much some of the distinct vectors weigh among all points."""
        if not self.weights[~vectors].any():
            return 1.0  # whatever sums round to
        return float(self.weights[vectors].sum() / self.weights.sum())

    @property
    def all_certain(self) -> bool:
        return not self._open.any()

    @property
    def _open(self) -> Bools:
        """The vectors that are not certain and weigh something."""
        return ~self._certain & (self.weights > 0)

    @property
    def mean_entropy(self) -> float:
        return float(self.weights @ self._entropy / self.weights.sum())

    def gains(self) -> Floats:
        """How much knowing each row, or each cell, is expected to lower the mean entropy."""
        if self._totals is None:
            n_numbers = self.data.n_rows if self.index is None else int(self.index.first[-1])
            sizes = [len(rows) for rows in self._rows]
            each = np.concatenate(self._gain) * np.repeat(self.weights, sizes)
            total = np.bincount(np.concatenate(self._rows), each, n_numbers)
            self._totals = total / self.weights.sum()
            self._totals.flags.writeable = False
        return self._totals

    def shares(self, points: Ints) -> Floats:
        """The class shares of some points, numbered as in X, shape (n_points, n_classes)."""
        used = np.unique(self.points.vector[np.isin(self.points.owner, points)])
        query = self._query.for_shares.about(self._query.vectors[used])
        found = np.zeros((len(self._query.vectors), self.data.n_classes))
        found[used] = np.concatenate([found[:0], *query.over_blocks(shares_in_block)])
        return self.points.mixed(found)[points]

    def touched(self, row: int) -> Ints:
        """The uncertain points, numbered as in X, that a row can be near to."""
        bound = self._query.nearest(row)
        return self._numbers(np.flatnonzero((bound <= self._reach) & self._open))

    def open_rows(self) -> list[Ints]:
        """For every uncertain point, the rows with holes that can be near it."""
        where = np.flatnonzero(self._open)
        query = self._query.about(self._query.vectors[where])
        dirty = query.data.arrays.n_cells > 0
        return [rows[dirty[rows]] for part in query.over_blocks(_near_lists) for rows in part]

    # -- keeping ---------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        """Include what is prepared for the data, on whose order the query depends."""
        return {**self.__dict__, "_prepared": prepared_rows(self.data)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        prepared: Prepared = state.pop("_prepared")
        self.__dict__.update(state)
        for query in (self._query, self._query.drawn):
            if query is not None:
                frozen(query.rows)
        frozen(prepared.rows)
        set_prepared(self.data, prepared)

    # -- changing --------------------------------------------------------------------------

    def copy(self) -> Board:
        """A board that changes independently of this one."""
        other = copy(self)
        for name in ("_certain", "_entropy", "_reach", "_rows", "_gain"):
            setattr(other, name, getattr(self, name).copy())
        return other

    def change(self, row: int, data: IncompleteDataset, candidate: int | None = None) -> Change:
        """Replace the data by data that differs in one row.

        If distances are precomputed, `candidate` is the number, among the candidates at the start,
        of the row's first candidate now; None if it is to be found by its vector.
        """
        old, after = self._query.data, self._after(row, data, candidate)
        affected = self._affected(after, row)
        if within(data.stored_row(row), old.stored_row(row)):
            affected &= ~self._certain
        was = self._certain.copy()
        self._query = after
        if self.index is not None and self._cells is not None:
            self.index = changed_index(self.index, data.sampled, row, self._cells.get(row, ()))
        self._look(np.flatnonzero(affected))
        return self._change(was, self._certain)

    def would_settle(self, row: int, data: IncompleteDataset, candidate: int | None) -> Ints:
        """The points that such a change would make certain, numbered as in X; it is not made."""
        after = self._after(row, data, candidate)
        open_ = np.flatnonzero(self._affected(after, row) & ~self._certain)
        parts = after.about(after.vectors[open_]).over_blocks(possible_in_block)
        labels = [np.zeros(0, np.int64), *(part.sum(axis=1) for part in parts)]
        then = self._certain.copy()
        then[open_] = np.concatenate(labels) == 1
        return self._change(self._certain, then).settled

    # -- plumbing --------------------------------------------------------------------------

    def _after(self, row: int, data: IncompleteDataset, candidate: int | None) -> Query:
        """The query over data that differs in one row."""
        prepare_changed(self.data, data, row)
        after = replace(self._query, data=data, rows=prepared_rows(data).rows, drawn=None)
        if not data.is_exact:
            if not self.data.is_exact:
                prepare_changed(self.data.sampled, data.sampled, row)
            prepared = prepared_rows(data.sampled)
            after = replace(
                after,
                drawn=replace(after, data=data.sampled, rows=prepared.rows),
            )
        if after.metric == PRECOMPUTED:
            return self._with_distances(after, row, candidate)
        check_magnitude(prepared_rows(data), after.vectors, after.metric)
        return after

    def _affected(self, after: Query, row: int) -> Bools:
        """Whether the row, before or after the change, can be near each distinct point."""
        bound = np.minimum(self._query.nearest(row), after.nearest(row))
        return np.asarray(bound <= self._reach)

    def _points_certain(self, vectors: Bools) -> Bools:
        """Whether all completions of each point, but those of weight 0, are among these vectors."""
        points = self.points
        lacking = ~vectors[points.vector] & (points.weight > 0)
        return np.asarray(np.bincount(points.owner[lacking], minlength=points.n_points) == 0)

    def _change(self, before: Bools, after: Bools) -> Change:
        """What becomes of the points if other vectors are certain than before."""
        was, now = self._points_certain(before), self._points_certain(after)
        return Change(settled=np.flatnonzero(~was & now), unsettled=np.flatnonzero(was & ~now))

    def _numbers(self, distinct: Ints) -> Ints:
        """The points, numbered as in X, that have one of these vectors."""
        return self.points.having(distinct)

    def _with_distances(self, query: Query, row: int, candidate: int | None) -> Query:
        """Say where the distances of a changed row are; new ones are measured."""
        spans = query.rows.spans.copy()
        spans[:, FIRST_CANDIDATE] = self._query.rows.spans[:, FIRST_CANDIDATE]
        vectors = query.vectors
        if candidate is not None:
            spans[row, FIRST_CANDIDATE] = self._first[row] + candidate
        else:
            spans[row, FIRST_CANDIDATE] = vectors.shape[1]
            vectors = np.hstack([vectors, self._distances(query.data, row)])
        spans.flags.writeable = False
        return replace(query, rows=query.rows._replace(spans=spans), vectors=vectors)

    def _distances(self, data: IncompleteDataset, row: int) -> Floats:
        """The distances to the candidates that a row has now."""
        if self._asked.distance is not None:
            return replace(self._asked, data=data).measured_row(self._asked.vectors, row)
        # 0.0 is added because -0.0 is the same number, but not the same bytes.
        given = [(vector + 0.0).tobytes() for vector in self._asked.data.candidates(row)]
        now = [(vector + 0.0).tobytes() for vector in data.candidates(row)]
        if any(given.count(vector) != 1 for vector in now):
            raise AnswerError(
                f"distances are known only for the candidates of row {row}. Answer with the number "
                "of a candidate instead of a value."
            )
        return self._asked.vectors[:, [self._first[row] + given.index(vector) for vector in now]]

    def _look(self, points: Ints, n_jobs: int | None = None) -> None:
        """Compute again what the board holds about some points."""
        if not len(points):
            return
        self._totals = None
        query = self._query.about(self._query.vectors[points])
        start = 0
        look = partial(look_at_block, index=self.index)
        for part in query.over_blocks(look, n_jobs):
            where = points[start : start + len(part.certain)]
            start += len(where)
            self._certain[where] = part.certain
            self._entropy[where] = part.gains.entropy
            self._reach[where] = part.reach
            ends = np.cumsum(part.gains.n_rows)
            for point, end, size in zip(
                where.tolist(), ends.tolist(), part.gains.n_rows.tolist(), strict=True
            ):
                own = slice(end - size, end)
                self._rows[point] = part.gains.rows[own]
                self._gain[point] = part.gains.gain[own]


def _near_lists(query: Query, points: Floats, near: Near) -> list[Ints]:
    return np.split(near.rows, near.ptr[1:-1])


def _alike(query: Query) -> Query:
    """The query with one bound on priors, whichever rows are drawn now or later.

    How far a scan goes depends on it, and with that the last digits of what it finds: they must not
    depend on the order of answers. A row that is not drawn has no more open cells than it takes to
    reach `max_exact` with two values each.
    """
    given, drawing = query.data.unpinned, query.data.drawing
    if given.is_exact:
        return query
    lowest = min(float(given.arrays.weights.min()), 1.0 / drawing.n_draws)
    cells = min(int(given.arrays.n_cells.max()), drawing.max_exact.bit_length())
    rarest = lowest**cells
    drawn = None if query.drawn is None else replace(query.drawn, rarest=rarest)
    return replace(query, rarest=rarest, drawn=drawn)


def _with_distances(query: Query) -> Query:
    """If the metric is a function, the query with all distances measured once."""
    if query.distance is None:
        return query
    needed = 8 * len(query.vectors) * query.data.n_candidates
    if needed > MEASURED_BYTES:
        raise QueryError(
            "a metric that is a function is measured once for every validation point and "
            f"candidate, which would take {needed / 1e9:.1f} GB here; the limit is "
            f"{MEASURED_BYTES / 1e9:.1f} GB. Use a named metric, or fewer validation points."
        )
    return replace(query, vectors=query.measured(query.vectors), distance=None)
