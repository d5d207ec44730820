"""How likely each candidate of each hole of a table is: priors at work."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from cpclean.data.coding import coded
from cpclean.data.columns import Column
from cpclean.data.priors import (
    ByColumn,
    Observed,
    Prior,
    RowPrior,
    RowWeights,
    prior_named,
)
from cpclean.data.ragged import Ragged
from cpclean.data.rows import Bools, Floats, Ints
from cpclean.errors import TableError, offenders


class CellWeights(Protocol):
    """How likely the values of holes are, whatever that is learnt from."""

    def weights(self, cell: int, rows: Ints, which: Ints, lists: Ragged) -> tuple[Ragged, Ints]:
        """As `CellPriors.weights`."""
        ...


class Seen(Protocol):
    """What is observed in the columns of a table, for priors that look at columns."""

    def everyone(self, cell: int) -> Observed:
        """In a column."""
        ...

    def of_class(self, cell: int, code: int) -> Observed:
        """In the rows of a class of a column."""
        ...


class SeenInRows:
    """What is observed in the rows of a table.

    Parameters
    ----------
    columns : sequence of Column
    codes : ndarray of shape (n_rows,)
        The class of each row.
    trusted : ndarray of shape (n_rows, n_columns)
        Cells that are present and not doubted.
    """

    def __init__(self, columns: Sequence[Column], codes: Ints, trusted: Bools) -> None:
        self._columns, self._codes, self._trusted = columns, codes, trusted
        small = np.uint16 if codes.max(initial=0) < 2**16 else np.int64  # which NumPy sorts faster
        self._by_class_order = np.argsort(codes.astype(small), kind="stable")
        self._last: tuple[int, Ints, Ints] | None = None

    def everyone(self, cell: int) -> Observed:
        """As in `Seen`, like the next one."""
        return Observed(self._columns[cell], np.flatnonzero(self._trusted[:, cell]))

    def of_class(self, cell: int, code: int) -> Observed:
        if self._last is None or self._last[0] != cell:
            rows = self._by_class_order[self._trusted[self._by_class_order, cell]]
            self._last = cell, rows, self._codes[rows]
        _, rows, codes = self._last
        return Observed(self._columns[cell], rows[slice(*np.searchsorted(codes, [code, code + 1]))])


class CellPriors:
    """Weights of candidate values, worked out once for each column, class and list of values.

    Those of a prior that looks at rows are worked out for every hole.

    Parameters
    ----------
    prior : the user's choice
    columns : sequence of Column
    codes : ndarray of shape (n_rows,)
        The class of each row.
    trusted : ndarray of shape (n_rows, n_columns)
        Cells that are present and not doubted.
    seen : Seen, optional
        What is observed in the columns, if that is known from elsewhere.
    """

    def __init__(
        self,
        prior: Any,
        columns: Sequence[Column],
        codes: Ints,
        trusted: Bools,
        seen: Seen | None = None,
    ) -> None:
        self._seen = SeenInRows(columns, codes, trusted) if seen is None else seen
        self._prior = ByColumn(prior) if isinstance(prior, Mapping) else prior_named(prior)
        self._columns = columns
        self._codes = codes
        self._trusted = trusted
        self._shown: list[tuple[RowPrior, RowWeights]] = []
        if isinstance(prior, Mapping):
            unknown = sorted(prior.keys() - {column.name for column in columns})
            if unknown:
                raise TableError(
                    "prior names columns that the table does not have: "
                    f"{offenders(map(repr, unknown))}."
                )

    def weights(self, cell: int, rows: Ints, which: Ints, lists: Ragged) -> tuple[Ragged, Ints]:
        """Weights of the values of a column's holes; those of a hole sum to 1.

        Parameters
        ----------
        cell : int
            The column.
        rows, which : ndarray
            The row of each hole, and the number of its list of values.
        lists : Ragged

        Returns
        -------
        weights : Ragged
            The distinct lists of weights.
        number : ndarray
            Which of them each hole has.
        """
        column, prior = self._columns[cell], self._of_column(self._columns[cell])
        if not callable(prior):
            own = lists.take(which)
            values = (tuple(one.tolist()) for one in own)
            found = [
                _checked(prior.weights(row, cell, one), len(one), column)
                for row, one in zip(rows.tolist(), values, strict=True)
            ]
            flat = np.concatenate([np.zeros(0), *found])
            return _normalised(own.with_flat(flat)), np.arange(len(rows))
        pairs, number = np.unique(self._codes[rows] * len(lists) + which, return_inverse=True)
        classes, used = pairs // len(lists), lists.take(pairs % len(lists))
        return _normalised(self._by_class(prior, cell, classes, used)), number

    def _by_class(self, prior: Prior, cell: int, classes: Ints, lists: Ragged) -> Ragged:
        """Weights of lists, each for the class of that place; classes are in ascending order."""
        column, weights = self._columns[cell], np.empty(len(lists.flat))
        everyone = self._seen.everyone(cell)
        for code in np.unique(classes).tolist():
            own = self._seen.of_class(cell, code)
            first, last = np.searchsorted(classes, [code, code + 1])
            part = slice(lists.starts[first], lists.starts[last])
            some = Ragged(lists.flat[part], lists.starts[first : last + 1] - part.start)
            weigh = getattr(prior, "of_lists", None) or _one_by_one(prior)
            weights[part] = weigh(column, some, everyone, own)
        return lists.with_flat(weights)

    def _of_column(self, column: Column) -> Prior | RowWeights:
        prior = self._prior.chosen(column) if isinstance(self._prior, ByColumn) else self._prior
        if not isinstance(prior, RowPrior):
            return prior
        for known, weights in self._shown:  # the same for another column: one model for both
            if known == prior:
                return weights
        self._shown.append((prior, prior.for_table(self._columns, self._trusted)))
        return self._shown[-1][1]


def _one_by_one(prior: Prior) -> Callable[[Column, Ragged, Observed, Observed], Floats]:
    """A user's function, called once per distinct list of values."""

    def of_lists(column: Column, lists: Ragged, everyone: Observed, own: Observed) -> Floats:
        codes, distinct = coded([tuple(one.tolist()) for one in lists])
        found = [
            _checked(prior(column, values, everyone.values, own.values), len(values), column)
            for values in distinct
        ]
        return np.concatenate([found[code] for code in codes.tolist()])

    return of_lists


def _checked(weights: Any, size: int, column: Column) -> Floats:
    """What a user's prior gave, refused where it cannot be used."""
    try:
        array = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise TableError(
            f"the prior of column {column.name!r} must give {size} numbers; got {weights!r}.",
            column=column.name,
        ) from problem
    if array.shape != (size,) or not np.isfinite(array).all() or (array < 0).any():
        shape = "" if array.shape == (size,) else f" of shape {array.shape}"
        raise TableError(
            f"the prior of column {column.name!r} must give {size} weights, finite and not "
            f"negative; got {np.array2string(array, threshold=9)}{shape}.",
            column=column.name,
        )
    if array.sum() <= 0:
        raise TableError(
            f"the prior of column {column.name!r} sums to nothing: no candidate has a weight.",
            column=column.name,
        )
    return array


def _normalised(weights: Ragged) -> Ragged:
    return weights.with_flat(weights.flat / weights.sums()[weights.owner])
