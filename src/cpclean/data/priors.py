"""How likely each candidate value of a hole is, judged from the training table alone.

"uniform"   all candidates alike
"observed"  a candidate weighs as much as the observed values that are nearest to it
"label"     the same among the rows of the row's own class, smoothed towards "observed"
"holoclean" what HoloClean's model makes of the row's other cells; labels play no part

Your own: `LabelPrior` with another smoothing, `cpclean.data.repairs.HoloRepair` with other options,
a function, an object that looks at rows (`RowPrior`), or a dict from column to one of these, or the
weights themselves, as in {"city": {"A": 3, "B": 1}}; columns that the dict does not name take
"label".
A candidate can weigh nothing: then its worlds exist, but have no share.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from cpclean.data.columns import OTHER, Column
from cpclean.data.repairs import HoloRepair
from cpclean.data.rows import Floats
from cpclean.errors import TableError, offenders

# A prior is a function (column, values, observed values of the column, those of the row's class)
# -> weights, one a candidate; they are normalised here. Versions of a row may repeat a value.
Prior = Callable[[Column, tuple[Any, ...], npt.NDArray[Any], npt.NDArray[Any]], Any]


class RowWeights(Protocol):
    """What a `RowPrior` has made of a table."""

    def weights(self, row: int, cell: int, values: tuple[Any, ...]) -> Any:
        """Weights, one a candidate, of the hole in this row and column."""
        ...


@runtime_checkable
class RowPrior(Protocol):
    """A prior that looks at the other cells of a row needs this one method."""

    def for_table(self, columns: Sequence[Column], trusted: npt.NDArray[np.bool_]) -> RowWeights:
        """Look at a table; trusted, of shape (rows, columns), says where values are no holes."""
        ...


# "label" trusts a class's own observations as soon as there are clearly more of them than this.
# docs/results/priors.md says how it was chosen, and how to choose it for other data.
SMOOTHING = 1.0


def shares_nearest(column: Column, values: tuple[Any, ...], observed: npt.NDArray[Any]) -> Floats:
    """The share of observed values to which each candidate is nearest; ties are split.

    So candidates with the same value, versions that differ in another cell, share what is nearest
    to it. A category's share is its frequency; "other" takes what is not listed.
    """
    if len(observed) == 0:
        return np.full(len(values), 1.0 / len(values))
    times = Counter(values)
    if len(times) < len(values):
        shares = dict(zip(times, shares_nearest(column, tuple(times), observed), strict=True))
        return np.array([shares[value] / times[value] for value in values])
    if column.kind == "categorical":
        listed = {value: place for place, value in enumerate(values)}
        counts = np.zeros(len(values))
        rest = listed.get(OTHER)
        for value, count in Counter(observed.tolist()).items():
            place = listed.get(value, rest)
            if place is not None:
                counts[place] += count
    else:
        counts = _nearest_counts(np.array(values, dtype=np.float64), observed)
    total = counts.sum()
    return counts / total if total > 0 else np.full(len(values), 1.0 / len(values))


def _nearest_counts(values: Floats, observed: npt.NDArray[Any]) -> Floats:
    order = np.argsort(values, kind="stable")
    middle = (values[order][1:] + values[order][:-1]) / 2
    seen = np.sort(observed, kind="stable")
    counts = np.zeros(len(values))
    for side in ("left", "right"):  # what lies in the middle is counted half on either side
        below = np.searchsorted(seen, middle, side=side)
        counts[order] += np.diff(below, prepend=0, append=len(seen)) / 2
    return counts


def _uniform(
    column: Column, values: tuple[Any, ...], everyone: npt.NDArray[Any], own: npt.NDArray[Any]
) -> Floats:
    return np.ones(len(values))


def _observed(
    column: Column, values: tuple[Any, ...], everyone: npt.NDArray[Any], own: npt.NDArray[Any]
) -> Floats:
    return shares_nearest(column, values, everyone)


@dataclass(frozen=True)
class LabelPrior:
    """The prior "label" with a smoothing of your own.

    Parameters
    ----------
    smoothing : float
        How many observations of the class "observed" is worth: with n of them, the class's own
        shares weigh n / (n + smoothing). 0 trusts even a single one, infinity none at all.
    """

    smoothing: float = SMOOTHING

    def __post_init__(self) -> None:
        number = isinstance(self.smoothing, int | float | np.number)
        if not number or not self.smoothing >= 0:
            raise TableError(f"smoothing must be a number not below 0; got {self.smoothing!r}.")

    def __call__(
        self,
        column: Column,
        values: tuple[Any, ...],
        everyone: npt.NDArray[Any],
        own: npt.NDArray[Any],
    ) -> Floats:
        # Without an observation in the class there is nothing to trust, even unsmoothed.
        trust = len(own) / (len(own) + self.smoothing) if len(own) else 0.0
        return trust * shares_nearest(column, values, own) + (1.0 - trust) * shares_nearest(
            column, values, everyone
        )


NAMED: dict[str, Prior] = {"uniform": _uniform, "observed": _observed, "label": LabelPrior()}


@dataclass(frozen=True)
class _Listed:
    """Weights of a column's values, as a person knows the values."""

    weights: Mapping[Any, Any]

    def __call__(
        self,
        column: Column,
        values: tuple[Any, ...],
        everyone: npt.NDArray[Any],
        own: npt.NDArray[Any],
    ) -> Any:
        times = Counter(values)
        return [self.weights.get(column.shown(value), 0.0) / times[value] for value in values]


@dataclass(frozen=True)
class ByColumn:
    """A prior for each column: a name, a function, or weights of its values."""

    by_column: Mapping[str, Any]

    def chosen(self, column: Column) -> Prior | RowPrior:
        given = self.by_column.get(column.name, "label")
        return _Listed(given) if isinstance(given, Mapping) else prior_named(given)


def prior_named(prior: Any) -> Prior | RowPrior:
    """The prior that a user's choice stands for, where it is the same for all columns."""
    if isinstance(prior, str) and prior in NAMED:
        return NAMED[prior]
    if isinstance(prior, str) and prior == "holoclean":
        return HoloRepair()
    if callable(prior) or isinstance(prior, RowPrior):
        chosen: Prior | RowPrior = prior
        return chosen
    raise TableError(
        f"prior must be one of {', '.join(sorted(NAMED))}, holoclean, a function "
        "(column, values, observed, observed_in_class) -> weights, or a dict from column to one of "
        f"these or to weights; got {prior!r}."
    )


def prior_beside(repair: Any, prior: Any) -> Any:
    """The prior asked for; "holoclean" beside HoloClean's candidates is one and the same model."""
    shared = isinstance(prior, str) and prior == "holoclean" and isinstance(repair, HoloRepair)
    return repair if shared else prior


class CellPriors:
    """Weights of candidate values, worked out once for each column, class and list of values.

    Those of a prior that looks at rows are worked out for every hole.
    """

    def __init__(
        self, prior: Any, columns: Sequence[Column], codes: npt.NDArray[Any], trusted: Any
    ) -> None:
        self._prior = ByColumn(prior) if isinstance(prior, Mapping) else prior_named(prior)
        self._columns = columns
        self._codes = codes
        self._trusted = trusted  # (rows, columns): cells that are present and not doubted
        self._found: dict[tuple[int, int | None], npt.NDArray[Any]] = {}
        self._seen: dict[tuple[int, int, tuple[Any, ...]], Floats] = {}
        self._chosen: dict[int, Prior | RowWeights] = {}
        self._shown: list[tuple[RowPrior, RowWeights]] = []
        if isinstance(prior, Mapping):
            unknown = sorted(prior.keys() - {column.name for column in columns})
            if unknown:
                raise TableError(
                    "prior names columns that the table does not have: "
                    f"{offenders(map(repr, unknown))}."
                )

    def weights(self, row: int, cell: int, values: tuple[Any, ...]) -> Floats:
        """Weights of the values of the hole in this row and column; they sum to 1."""
        if cell not in self._chosen:
            self._chosen[cell] = self._of_column(self._columns[cell])
        column, prior = self._columns[cell], self._chosen[cell]
        if not callable(prior):
            return _normalised(prior.weights(row, cell, values), len(values), column)
        code = int(self._codes[row])
        key = (cell, code, values)
        if key not in self._seen:
            given = prior(column, values, self._observed(cell, None), self._observed(cell, code))
            self._seen[key] = _normalised(given, len(values), column)
        return self._seen[key]

    def _of_column(self, column: Column) -> Prior | RowWeights:
        prior = self._prior.chosen(column) if isinstance(self._prior, ByColumn) else self._prior
        if not isinstance(prior, RowPrior):
            return prior
        for known, weights in self._shown:  # the same for another column: one model for both
            if known == prior:
                return weights
        self._shown.append((prior, prior.for_table(self._columns, self._trusted)))
        return self._shown[-1][1]

    def _observed(self, cell: int, code: int | None) -> npt.NDArray[Any]:
        """Trusted values of a column, of one class or of all; numbers in order."""
        if (cell, code) not in self._found:
            rows = self._trusted[:, cell]
            if code is not None:
                rows = rows & (self._codes == code)
            column = self._columns[cell]
            found = column.values[rows]
            found = found if column.kind == "categorical" else np.sort(found)
            found.flags.writeable = False
            self._found[cell, code] = found
        return self._found[cell, code]


def _normalised(weights: Any, size: int, column: Column) -> Floats:
    try:
        array = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise TableError(
            f"the prior of column {column.name!r} must give {size} numbers; got {weights!r}."
        ) from problem
    if array.shape != (size,) or not np.isfinite(array).all() or (array < 0).any():
        raise TableError(
            f"the prior of column {column.name!r} must give {size} weights, finite and not "
            f"negative; got {array}."
        )
    if array.sum() <= 0:
        raise TableError(
            f"the prior of column {column.name!r} sums to nothing: no candidate has a weight."
        )
    return np.asarray(array / array.sum())
