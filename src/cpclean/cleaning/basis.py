"""What a board stands on: a table, what is known about its rows, and the questions about them.

The questions are asked of the whole table or, if it is large, of the rows that are gathered around
the points. These are numbered anew. A *place* is the number of a row in the questions; over a whole
table it is the number of the row itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy.typing as npt

from cpclean.cleaning.gathered import Gathered, can_gather
from cpclean.cleaning.ground import Ground, KnownRow
from cpclean.cleaning.kept_query import KeptQuery, rarest_known
from cpclean.data.incomplete import IncompleteDataset, Ints
from cpclean.data.points import Points
from cpclean.data.rows import Floats
from cpclean.errors import QueryError
from cpclean.queries.geometry import ask
from cpclean.queries.model import Model


@dataclass(frozen=True, eq=False)
class Basis:
    """A table under what is known of it; never changed, so that boards can share it.

    Attributes
    ----------
    ground : Ground
        All rows.
    votes, kept : KeptQuery
        The question by the prior of the data, and the one that entropies and gains are taken of:
        the same, or with all candidates of a row equally likely.
    gathered : Gathered or None
        The rows that both are asked of; None if they are asked of all rows.
    rarest : pair of float
        The bound on priors in the whole table, for each of the two.
    """

    ground: Ground
    votes: KeptQuery
    kept: KeptQuery
    gathered: Gathered | None = None
    rarest: tuple[float, float] = (0.0, 0.0)

    @classmethod
    def of(
        cls,
        data: IncompleteDataset,
        X: Points | npt.ArrayLike,
        model: Model,
        n_jobs: int | None,
        *,
        uniform: bool,
        gather: bool | None,
    ) -> Basis:
        """As a board is asked for; see its parameters."""
        ground = Ground.of(data)
        if can_gather(ground.start, model, gather):
            asked = ask(ground.start, X, model)
            _check_some(asked.points)
            X = asked.points
            gathered = Gathered.of(asked, ground, n_jobs, gather)
            if gathered is not None:
                start = ground.start
                rarest = rarest_known(start), rarest_known(start.uniform()) if uniform else 0.0
                return _asked(ground, gathered, model, rarest, uniform)
        votes = KeptQuery.of(data, X, model)
        _check_some(votes.points)
        return cls(ground, votes, KeptQuery.of(data.uniform(), X, model) if uniform else votes)

    @property
    def data(self) -> IncompleteDataset:
        """The whole table as it is known now; if rows are gathered, put together when needed."""
        return self.votes.data if self.gathered is None else self.ground.data

    @property
    def whole_votes(self) -> KeptQuery:
        """The question about the whole table, by the prior of the data."""
        if self.gathered is None:
            return self.votes
        return KeptQuery.of(self.data, self.votes.points, self.votes.model)

    def place(self, row: int) -> int | None:
        """The number of a row in the questions; None if it is near no point."""
        return row if self.gathered is None else self.gathered.place(row)

    def rows(self, places: Ints) -> Ints:
        """The rows that have these numbers in the questions."""
        return places if self.gathered is None else self.gathered.rows[places]

    def nearest(self, row: int) -> Floats:
        """How near to each distinct vector a row may come at most: a bound on its distances."""
        place = self.place(row)
        if place is not None:
            return self.kept.query.nearest(place)
        assert self.gathered is not None, "every row of a whole table has a place"
        now = self.ground.told[row].now if row in self.ground.told else None
        return self.gathered.alone(self.ground, row, now).nearest(0)

    def keep_prepared(self) -> None:
        """Let other questions about the data use what was prepared for these."""
        self.kept.keep_prepared()
        self.votes.keep_prepared()
        if self.gathered is not None:
            self.gathered.query.keep_prepared()

    # -- changing --------------------------------------------------------------------------

    def with_halves(self) -> Basis:
        """The same, ready to estimate errors by the votes."""
        votes = self.votes.with_halves()
        return replace(self, votes=votes, kept=votes if self.kept is self.votes else self.kept)

    def changed(self, row: int, known: KnownRow, candidate: int | None) -> Basis:
        """The same with other knowledge about a row, which `prepared_for` has seen."""
        ground, place, features = self.ground.with_row(row, known), self.place(row), known.features
        if place is None:
            return replace(self, ground=ground)

        def edit(data: IncompleteDataset) -> IncompleteDataset:
            return data.unpin(place) if features is None else data.known_as(place, known.now)

        def edit_uniform(data: IncompleteDataset) -> IncompleteDataset:
            return data.unpin(place) if features is None else data.given(place, features)

        votes = kept = self.votes.changed(place, edit, candidate)
        if self.votes is not self.kept:
            kept = self.kept.changed(place, edit_uniform, candidate)
        return replace(self, ground=ground, votes=votes, kept=kept)

    def prepared_for(self, row: int, known: KnownRow) -> Basis:
        """The same about rows among which a row is, if it comes near with such knowledge."""
        if self.gathered is None:
            return self
        return self.about(self.gathered.knowing(self.ground, row, known))

    def about(self, gathered: Gathered) -> Basis:
        """The same about these rows: those that there are, and more."""
        if self.gathered is not None and len(self.gathered.rows) == len(gathered.rows):
            return replace(self, gathered=gathered)
        uniform = self.kept is not self.votes
        return _asked(self.ground, gathered, self.votes.model, self.rarest, uniform)


def _asked(
    ground: Ground, gathered: Gathered, model: Model, rarest: tuple[float, float], uniform: bool
) -> Basis:
    """Ask about gathered rows as they are known now."""

    def kept(rarest: float, *, uniform: bool) -> KeptQuery:
        data = gathered.data(ground, uniform=uniform)
        return KeptQuery.among(gathered.query, gathered.rows, data, model, rarest)

    votes = kept(rarest[0], uniform=False)
    return Basis(
        ground, votes, kept(rarest[1], uniform=True) if uniform else votes, gathered, rarest
    )


def _check_some(points: Points) -> None:
    if not points.n_points:
        raise QueryError("validation needs at least one point; got none.")
