"""Points with holes: what each hole can be and how likely that is, learnt without any label.

1. *Values.* A hole can be what the repair of the table lists for its column, whether or not the
   column has holes in the table; where it lists nothing, the default values of the column.
2. *Weights.* Any prior that does not look at labels, for the label of a point is what we want to
   know: "observed", "uniform", "holoclean", or a function.
3. *Arrays.* Points are encoded as the rows of a table are, by `cpclean.data.encoded_rows`; those
   with too many completions are drawn, by `cpclean.data.points`.

Nothing depends on the other points: each is completed as if it were alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from cpclean.data.cell_priors import CellPriors, Seen
from cpclean.data.coding import coded_by_identity
from cpclean.data.column_values import ColumnValues, default_values
from cpclean.data.columns import Column
from cpclean.data.domains import Domains
from cpclean.data.encoded_rows import encoded_rows
from cpclean.data.holoclean.holo_model import HoloModel, fit_model
from cpclean.data.holoclean.other_rows import codes_of_rows, weights_in_rows
from cpclean.data.priors import NAMED, LabelPrior, check_streamed_prior
from cpclean.data.proposals import checked_options
from cpclean.data.ragged import Ragged
from cpclean.data.repairs import HoloRepair
from cpclean.data.row_arrays import RowArrays
from cpclean.data.row_options import TableOptions
from cpclean.data.rows import Bools, Floats, Ints
from cpclean.data.spaces.table_space import TableSpace
from cpclean.data.suspects import blanked
from cpclean.errors import TableError, offenders

ListedValues = Mapping[str, tuple[Any, ...]]


class Completer:
    """What the holes of points can be, as a table says.

    Parameters
    ----------
    columns : sequence of Column
        Those of the table.
    holes : ndarray of shape (n_rows, n_columns)
        Cells of the table that are null or doubted: nothing is learnt from them.
    options : TableOptions
        What these holes can be.
    listed : dict from column name to stored values
        As `listed_values` finds them.
    seen : Seen, optional
        What is observed in the columns, if they stand for larger ones and have no rows.
    """

    def __init__(
        self,
        columns: Sequence[Column],
        holes: Bools,
        options: TableOptions,
        listed: ListedValues,
        seen: Seen | None = None,
    ) -> None:
        self._columns, self._holes, self._seen = columns, holes, seen
        self._options, self._listed = options, listed
        self._lists: dict[int, Ragged] = {}
        # What was worked out last: weights by column, and the model of HoloClean.
        self._weights: dict[int, tuple[Any, Ragged]] = {}
        self._model: tuple[HoloRepair, HoloModel] | None = None

    def seeing(self, seen: Seen) -> Completer:
        """The same with what is observed in the columns."""
        return Completer(self._columns, self._holes, self._options, self._listed, seen)

    def __getstate__(self) -> dict[str, Any]:
        """For pickles: without what was made of functions, many of which cannot be pickled."""
        return {**self.__dict__, "_weights": {}, "_model": None}

    def arrays(
        self,
        columns: Sequence[Column],
        base: Floats,
        space: TableSpace,
        completions: Any = "observed",
        domains: Domains | None = None,
    ) -> RowArrays:
        """Points in the space, with a cell for every hole.

        Parameters
        ----------
        columns : sequence of Column
            The points, read as the columns of the table.
        base : ndarray of shape (n_points, n_features)
            Their vectors; what stands in the features of a hole is replaced.
        space : TableSpace
        completions : the user's choice
        domains : Domains, optional
            Values that are listed for the cells of these very points.
        """
        priors = checked_completions(completions, [column.name for column in self._columns])
        if self._seen is not None:
            check_streamed_prior(completions, "completions")
        inside = np.array([feature is not None for feature in space.features])
        holes = np.column_stack([column.missing for column in columns]) & inside
        if not holes.any():
            return RowArrays.complete(base)
        found = [
            self._values_of(cell, np.flatnonzero(own), domains) for cell, own in enumerate(holes.T)
        ]
        options = TableOptions.of_holes(
            holes,
            {cell: which for cell, (which, _) in enumerate(found)},
            [lists for _, lists in found],
        )
        return encoded_rows(base, options, space, _PointPriors(self, columns, priors))

    # -- values ----------------------------------------------------------------------------

    def values(self, cell: int) -> Ragged:
        """The values of a hole in a column, as a single list."""
        if cell not in self._lists:
            self._lists[cell] = _stored(self._found(cell), cell, self.known)
        return self._lists[cell]

    def likeliest(self, cell: int, among: Sequence[Any] = ()) -> Any:
        """The likeliest value of a hole in a column as the column stores it; the first of equals.

        Like all completions, it is the same whatever the label. None if a column is empty and has
        no values listed.

        Parameters
        ----------
        cell : int
            The column.
        among : sequence
            The values that this hole can have, if it has some of its own.
        """
        column = self.known[cell]
        proposed = cell < len(self._options.by_column) and len(self._options.by_column[cell].flat)
        if not (among or column.n_observed or column.name in self._listed or proposed):
            return None
        values = _stored(among, cell, self.known) if among else self.values(cell)
        weights = self.observed_weights(NAMED["observed"], cell, values)
        return values.flat[int(np.argmax(weights.flat))]

    def _found(self, cell: int) -> tuple[Any, ...]:
        column = self.known[cell]
        if column.name in self._listed:
            return self._listed[column.name]
        if not column.varies and cell < len(self._options.by_column):
            # It has a place in the space for the sake of its candidates.
            proposed = self._options.by_column[cell].flat.tolist()
            return (*column.some, *proposed)
        return default_values(column)

    def _values_of(self, cell: int, rows: Ints, domains: Domains | None) -> tuple[Ints, Ragged]:
        """Lists of values for the holes of a column, and which of them each hole has."""
        if not len(rows):
            return rows, Ragged.of([])
        usual, name = self.values(cell), self.known[cell].name
        if domains is None:
            return np.zeros(len(rows), dtype=np.int64), usual
        every = domains.by_column.get(name, ())
        own = [domains.by_cell.get((row, name), every) for row in rows.tolist()]
        which, distinct = coded_by_identity(own)
        first, *others = [_stored(one, cell, self.known) if one else usual for one in distinct]
        return which, first.joined(*others)

    @cached_property
    def known(self) -> list[Column]:
        """The columns of the table with holes where cells are doubted."""
        return [blanked(column, self._holes[:, n]) for n, column in enumerate(self._columns)]

    # -- weights ---------------------------------------------------------------------------

    def observed_weights(self, prior: Any, cell: int, lists: Ragged) -> Ragged:
        """Weights of lists of values by what is observed in the whole column."""
        shared = lists is self._lists.get(cell)
        if shared and cell in self._weights and self._weights[cell][0] == prior:
            return self._weights[cell][1]
        priors = CellPriors(
            {self.known[cell].name: prior} if isinstance(prior, Mapping) else prior,
            self.known,
            np.zeros(max(1, len(self._holes)), dtype=np.int64),  # all rows are of one class
            ~self._holes,
            self._seen,
        )
        nowhere = np.zeros(len(lists), dtype=np.int64)
        weights, number = priors.weights(cell, nowhere, np.arange(len(lists)), lists)
        weights = weights.take(number)
        if shared:
            self._weights[cell] = (prior, weights)
        return weights

    def model(self, prior: HoloRepair) -> HoloModel:
        """HoloClean's model of the table."""
        if self._model is None or self._model[0] != prior:
            self._model = (prior, fit_model(self.known, ~self._holes, prior.settings))
        return self._model[1]


@dataclass(frozen=True, eq=False)
class _PointPriors:
    """How likely the values of the points' holes are."""

    completer: Completer
    columns: Sequence[Column]
    priors: Sequence[Any]  # one per column
    _coded: dict[int, Ints] = field(default_factory=dict)

    def weights(self, cell: int, rows: Ints, which: Ints, lists: Ragged) -> tuple[Ragged, Ints]:
        """As `CellWeights` has it."""
        prior = self.priors[cell]
        if not isinstance(prior, HoloRepair):
            return self.completer.observed_weights(prior, cell, lists), which
        model, sizes = self.completer.model(prior), lists.sizes[which]
        weights = Ragged.sized(np.empty(sizes.sum()), sizes)
        for number in np.unique(which).tolist():
            (own,) = np.nonzero(which == number)
            codes = self._codes(model)[rows[own]]
            found = weights_in_rows(model, cell, codes, lists[number].tolist())
            weights.flat[np.isin(weights.owner, own)] = found.ravel()
        return weights, np.arange(len(rows))

    def _codes(self, model: HoloModel) -> Ints:
        if id(model) not in self._coded:
            self._coded[id(model)] = codes_of_rows(model, self.columns)
        return self._coded[id(model)]


# -- what a user asks for --------------------------------------------------------------------------


def listed_values(repair: Any, known: Sequence[Column], options: TableOptions) -> ListedValues:
    """The values that a repair lists for whole columns, by name, as the columns store them.

    Parameters
    ----------
    repair : Repair
    known : sequence of Column
        The columns of the table, without what is doubted.
    options : TableOptions
        What the repair proposed for their holes.
    """
    if isinstance(repair, Domains):
        return {
            column.name: tuple(_stored(repair.by_column[column.name], n, known).flat.tolist())
            for n, column in enumerate(known)
            if column.name in repair.by_column
        }
    if not isinstance(repair, ColumnValues) or not repair.by_column:
        return {}
    named = np.array([[column.name in repair.by_column for column in known]])
    there = np.isin(np.arange(len(known)), options.cells)
    # A function, or values that can be looked at only once, are not asked again.
    more = checked_options(repair.propose(known, named & ~there), known, named & ~there)
    return {
        column.name: tuple(lists.by_column[n][0].tolist())
        for n, column in enumerate(known)
        for lists in (options, more)
        if named[0, n] and n < len(lists.by_column) and len(lists.by_column[n])
    }


def checked_completions(completions: Any, names: Sequence[str]) -> list[Any]:
    """The prior of the points' holes in each column, for a user's choice.

    Parameters
    ----------
    completions : "observed", "uniform", "holoclean", function, or dict
    names : sequence of str
        The columns of the table.
    """
    by_column = completions if isinstance(completions, Mapping) else None
    if by_column is None:
        return [_prior_of(completions)] * len(names)
    if unknown := sorted(by_column.keys() - set(names), key=str):
        raise TableError(
            "completions name columns that the table does not have: "
            f"{offenders(map(repr, unknown))}.",
            field="completions",
        )
    return [_prior_of(by_column.get(name, "observed"), in_dict=True) for name in names]


def _prior_of(given: Any, *, in_dict: bool = False) -> Any:
    label = isinstance(given, str) and given == "label"
    if label or isinstance(given, LabelPrior):
        raise TableError(
            'completions must not be the prior "label": it looks at the label of a row, and that '
            'of a point is what is to be predicted. Use "observed", "uniform", "holoclean" or a '
            "function.",
            field="completions",
        )
    if isinstance(given, str) and given in NAMED:
        return NAMED[given]
    if isinstance(given, str) and given == "holoclean":
        return HoloRepair()
    if callable(given) or isinstance(given, HoloRepair) or (in_dict and isinstance(given, Mapping)):
        return given
    raise TableError(
        'completions must be "observed", "uniform", "holoclean", a function (column, values, '
        "observed, observed once more) -> weights, or a dict from column to one of these or to "
        f"weights; got {given!r}.",
        field="completions",
    )


def _stored(values: Sequence[Any], cell: int, columns: Sequence[Column]) -> Ragged:
    """Values of a column, checked, as a single list in the form in which the column stores them."""
    there = np.arange(len(columns)) == cell
    distinct = tuple(dict.fromkeys(map(columns[cell].stored, values)))
    lists = [Ragged.of([distinct] if own else []) for own in there.tolist()]
    options = TableOptions.of_holes(there[None], {cell: np.zeros(1, dtype=np.int64)}, lists)
    return checked_options(options, columns, there[None]).by_column[cell]
