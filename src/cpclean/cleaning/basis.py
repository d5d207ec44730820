"""What a board stands on: a table, what is known about its rows, and the questions about them.

The questions are asked of the whole table or, if it is large, of the rows that are gathered around
the points. These are numbered anew. A *place* is the number of a row in the questions; over a whole
table it is the number of the row itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from cpclean.cleaning.footing import Footing, RowChange, changed, with_halves
from cpclean.cleaning.gathered import Gathered, can_gather
from cpclean.cleaning.ground import Ground, KnownRow
from cpclean.cleaning.kept_query import KeptQuery, rarest_known
from cpclean.cluster.hands import Hands
from cpclean.cluster.held import Held
from cpclean.data.incomplete import IncompleteDataset, Ints
from cpclean.data.points import Points
from cpclean.data.row_arrays import runs, starts_of
from cpclean.data.rows import Floats
from cpclean.errors import QueryError
from cpclean.queries.cell_gains import Span, cell_index
from cpclean.queries.geometry import ask
from cpclean.queries.model import Model

# The cells of each row with holes, as columns of the space.
Cells = Mapping[int, Sequence[Span]]


@dataclass(frozen=True, eq=False)
class Basis:
    """A table under what is known of it; never changed, so that boards can share it.

    Attributes
    ----------
    ground : Ground
        All rows.
    held : Held[Footing]
        The questions, with rows numbered by their places.
    gathered : Gathered or None
        The rows that they are asked of; None if they are asked of all rows.
    rarest : pair of float
        The bound on priors in the whole table, for the votes and for what is kept.
    cells : dict from row to list of (start, stop), or None
        The cells that gains are about, if not about rows.
    names : ndarray of int, or None
        The number, in the whole table, of each row or cell that gains are about; None if the same.
    """

    ground: Ground
    held: Held[Footing]
    gathered: Gathered | None = None
    rarest: tuple[float, float] = (0.0, 0.0)
    cells: Cells | None = None
    names: Ints | None = None

    @classmethod
    def of(
        cls,
        data: IncompleteDataset,
        X: Points | npt.ArrayLike,
        model: Model,
        hands: Hands,
        *,
        uniform: bool,
        gather: bool | None,
        cells: Cells | None,
    ) -> Basis:
        """As a board is asked for; see its parameters."""
        ground = Ground.of(data)
        if can_gather(ground.start, model, gather):
            asked = ask(ground.start, X, model)
            _check_some(asked.points)
            X = asked.points
            gathered = Gathered.of(asked, ground, hands, gather)
            if gathered is not None:
                start = ground.start
                rarest = rarest_known(start), rarest_known(start.uniform()) if uniform else 0.0
                return _asked(ground, gathered, model, rarest, uniform, cells)
        votes = KeptQuery.of(data, X, model)
        _check_some(votes.points)
        kept = KeptQuery.of(data.uniform(), X, model) if uniform else votes
        index = (
            None if cells is None else cell_index(kept.data.sampled, dict(sorted(cells.items())))
        )
        return cls(ground, Held.of(Footing(votes, kept, index)), cells=cells)

    @property
    def footing(self) -> Footing:
        return self.held.value

    @property
    def votes(self) -> KeptQuery:
        """The question by the prior of the data."""
        return self.footing.votes

    @property
    def kept(self) -> KeptQuery:
        """The question that entropies and gains are taken of."""
        return self.footing.kept

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
        if self.votes.halves or self.votes.data.is_exact:
            return self
        return replace(self, held=self.held.then(with_halves, None))

    def changed(self, row: int, place: int | None, known: KnownRow, candidate: int | None) -> Basis:
        """The same with other knowledge about a row at a place, which `prepared_for` has seen."""
        ground = self.ground.with_row(row, known)
        if place is None:
            return replace(self, ground=ground)
        cells = () if self.cells is None else self.cells.get(row, ())
        change = RowChange(place, known, candidate, cells)
        held = self.held.then(changed, change)
        return Basis(ground, held, self.gathered, self.rarest, self.cells, self.names)

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
        return _asked(self.ground, gathered, self.votes.model, self.rarest, uniform, self.cells)

    def moved(self, before: Basis) -> Ints | None:
        """Where the rows, or cells, that had a number in an earlier basis are; None if there."""
        if before.gathered is None or self.gathered is None or before.kept is self.kept:
            return None
        moved = np.searchsorted(self.gathered.rows, before.gathered.rows)
        old, new = before.footing.index, self.footing.index
        if old is not None and new is not None:
            moved = np.repeat(new.first[moved] - old.first[:-1], old.n_cells)
            moved += np.arange(len(moved))
        return moved


def _asked(
    ground: Ground,
    gathered: Gathered,
    model: Model,
    rarest: tuple[float, float],
    uniform: bool,
    cells: Cells | None,
) -> Basis:
    """Ask about gathered rows as they are known now."""

    def kept(rarest: float, *, uniform: bool) -> KeptQuery:
        data = gathered.data(ground, uniform=uniform)
        return KeptQuery.among(gathered.query, gathered.rows, data, model, rarest)

    votes = kept(rarest[0], uniform=False)
    asked = kept(rarest[1], uniform=True) if uniform else votes
    index, names = None, gathered.rows
    if cells is not None:
        places = {row: gathered.place(row) for row in sorted(cells)}
        own = {place: cells[row] for row, place in places.items() if place is not None}
        index = cell_index(asked.data.sampled, own)
        sizes = np.array([len(cells[row]) for row in places], dtype=np.int64)
        mine = np.array([place is not None for place in places.values()], dtype=bool)
        names = runs(starts_of(sizes)[mine], sizes[mine])
    return Basis(ground, Held.of(Footing(votes, asked, index)), gathered, rarest, cells, names)


def _check_some(points: Points) -> None:
    if not points.n_points:
        raise QueryError("validation needs at least one point; got none.")
