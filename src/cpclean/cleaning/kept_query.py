"""A question about validation points that is kept while rows become known.

Nothing is prepared anew for a change of one row, and what is found depends on the data and the
points alone, bit for bit, not on the order in which the data changed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from cpclean.cluster.hands import HERE, Hands
from cpclean.data.incomplete import IncompleteDataset, Ints
from cpclean.data.points import Points
from cpclean.data.rows import Floats
from cpclean.data.whole_facts import WholeFacts
from cpclean.errors import AnswerError, QueryError
from cpclean.queries.geometry import ask, ask_both
from cpclean.queries.kernel_arrays import FIRST_CANDIDATE, PRECOMPUTED
from cpclean.queries.model import Model
from cpclean.queries.plain_query import PlainQuery
from cpclean.queries.prepared import rarest_prior
from cpclean.queries.query import Query
from cpclean.queries.shares import rough_shares_in_block, shares_in_block

# All distances that a function has measured are kept in memory, up to this many bytes.
MEASURED_BYTES = 2**30

# What is known now about one row, put into data.
Edit = Callable[[IncompleteDataset], IncompleteDataset]


@dataclass(frozen=True, eq=False)
class KeptQuery:
    """A question about all worlds and, where rows are drawn, about draws as well."""

    model: Model
    asked: Query  # as it was at first
    query: Query  # about the data as it is known now; distances of a function are measured
    halves: tuple[Query, ...] = ()  # the same with half of the draws each, once it was needed

    @classmethod
    def of(cls, data: IncompleteDataset, X: object, model: Model) -> KeptQuery:
        """The question about points from a user, or as they were asked before."""
        asked = _with_bound(ask_both(data, X, model), rarest_known(data.unpinned))  # type: ignore[arg-type]
        return cls(model, asked, _with_distances(asked).remembering())

    @classmethod
    def among(
        cls, asked: Query, rows: Ints, data: IncompleteDataset, model: Model, rarest: float
    ) -> KeptQuery:
        """A question about all rows, asked of some of them, which `data` has as they are now."""
        query = replace(asked, rarest=rarest, drawn=None).among(rows, data)
        return cls(model, query, query.remembering())

    @property
    def data(self) -> IncompleteDataset:
        return self.query.data

    @property
    def points(self) -> Points:
        """The validation points as they were given."""
        return self.asked.points

    def keep_prepared(self) -> None:
        """Let other questions about the data use what was prepared for this one."""
        for query in (self.query, self.query.drawn):
            if query is not None:
                query.keep_prepared()

    # -- shares ----------------------------------------------------------------------------

    def shares(self, vectors: Ints, hands: Hands = HERE) -> Floats:
        """The class shares of some of the distinct vectors, shape (n_vectors, n_classes)."""
        return _shares(self.query.for_shares, vectors, shares_in_block, hands)

    def with_halves(self) -> KeptQuery:
        """The same, ready to estimate errors."""
        if self.halves or self.data.is_exact:
            return self
        drawn = self.query.for_shares
        halves = tuple(
            replace(ask(half, self.points, self.model), rarest=drawn.rarest)
            for half in self.data.halves()
        )
        return replace(self, halves=halves)

    def errors(self, vectors: Ints, labels: Ints, hands: Hands = HERE) -> Floats:
        """How far the shares of one label of each vector may be off, as in `share_errors`."""
        if self.data.is_exact or not len(vectors):
            return np.zeros(len(vectors))
        one, two = (
            _shares(half, vectors, rough_shares_in_block, hands)
            for half in self.with_halves().halves
        )
        return np.asarray(np.abs(one - two)[np.arange(len(vectors)), labels] / 2)

    # -- changing --------------------------------------------------------------------------

    def changed(self, row: int, edit: Edit, candidate: int | None) -> KeptQuery:
        """The question about data that differs in one row.

        If distances are precomputed, `candidate` is the number, among the candidates at the start,
        of the row's first candidate now; None if it is to be found by its vector.
        """
        data = edit(self.data)
        after = self.query.changed(data, row)
        if not data.is_exact:
            if self.query.drawn is not None:
                drawn = self.query.drawn.changed(data.sampled, row)
            else:
                shares = ask_both(data, self.points, self.model).for_shares
                drawn = replace(shares, rarest=after.rarest).remembering()
            after = replace(after, drawn=drawn)
        if isinstance(after, PlainQuery) and after.metric == PRECOMPUTED:
            after = self._measured(after, row, candidate)
        return KeptQuery(self.model, self.asked, after, self._changed_halves(data, row))

    def _changed_halves(self, data: IncompleteDataset, row: int) -> tuple[Query, ...]:
        if not self.halves or data.is_exact:
            return ()
        both = zip(self.halves, data.halves(), strict=True)
        return tuple(half.changed(changed, row) for half, changed in both)

    def _measured(self, query: PlainQuery, row: int, candidate: int | None) -> Query:
        """Say where the distances of a changed row are; new ones are measured."""
        spans = query.spans.copy()
        spans[:, FIRST_CANDIDATE] = self.query.spans[:, FIRST_CANDIDATE]
        vectors = query.vectors
        if candidate is not None:
            spans[row, FIRST_CANDIDATE] = self._first(row) + candidate
        else:
            spans[row, FIRST_CANDIDATE] = vectors.shape[1]
            vectors = np.hstack([vectors, self._distances(query.data, row)])
        return query.with_spans(spans, vectors)

    def _first(self, row: int) -> int:
        """Where the distances to a row began at first."""
        return int(self.asked.spans[row, FIRST_CANDIDATE])

    def _distances(self, data: IncompleteDataset, row: int) -> Floats:
        """The distances to the candidates that a row has now."""
        if isinstance(self.asked, PlainQuery) and self.asked.distance is not None:
            return replace(self.asked, data=data).measured_row(self.asked.vectors, row)
        # 0.0 is added because -0.0 is the same number, but not the same bytes.
        given = [(vector + 0.0).tobytes() for vector in self.asked.data.candidates(row)]
        now = [(vector + 0.0).tobytes() for vector in data.candidates(row)]
        if any(given.count(vector) != 1 for vector in now):
            raise AnswerError(
                f"distances are known only for the candidates of row {row}. Answer with the number "
                "of a candidate instead of a value."
            )
        places = [self._first(row) + given.index(vector) for vector in now]
        return np.asarray(self.asked.vectors[:, places])


def _shares(query: Query, vectors: Ints, answer: Callable[..., Floats], hands: Hands) -> Floats:
    parts = query.about(query.vectors[vectors]).over_blocks(answer, hands)
    return np.concatenate([np.zeros((0, query.data.n_classes)), *parts])


def rarest_known(given: IncompleteDataset) -> float:
    """A lower bound on the prior of any candidate, whichever rows are drawn now or later.

    How far a scan goes depends on it, and with that the last digits of what it finds: they must not
    depend on the order of answers. A row that is not drawn has no more open cells than it takes to
    reach `max_exact` with two values each.
    """
    whole = given.whole or WholeFacts()
    if given.is_exact and whole.is_exact:
        return rarest_prior(given)
    drawing = given.drawing
    lightest = min(float(given.arrays.weights.min(initial=1.0)), whole.lightest)
    lowest = min(lightest, 1.0 / drawing.n_draws)
    most_cells = max(int(given.arrays.n_cells.max()), whole.most_cells)
    cells = min(most_cells, drawing.max_exact.bit_length())
    return float(lowest**cells)


def _with_bound(query: Query, rarest: float) -> Query:
    drawn = None if query.drawn is None else replace(query.drawn, rarest=rarest)
    return replace(query, rarest=rarest, drawn=drawn)


def _with_distances(query: Query) -> Query:
    """If the metric is a function, the query with all distances measured once."""
    if not isinstance(query, PlainQuery) or query.distance is None:
        return query
    needed = 8 * len(query.vectors) * query.data.n_candidates
    if needed > MEASURED_BYTES:
        raise QueryError(
            "a metric that is a function is measured once for every validation point and "
            f"candidate, which would take {needed / 1e9:.1f} GB here; the limit is "
            f"{MEASURED_BYTES / 1e9:.1f} GB. Use a named metric, or fewer validation points."
        )
    return replace(query, vectors=query.measured(query.vectors), distance=None)
