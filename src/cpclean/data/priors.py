"""How likely each candidate of a hole is, learnt from the training table alone.

"uniform"   all candidates are equally likely
"observed"  the share of observed values that are nearest to the candidate
"label"     the same among the rows of the row's own class, smoothed towards "observed"
"holoclean" what HoloClean's model infers from the row's other cells; labels play no part
"frequency" how often a list of imputers or completed frames proposes the candidate

Your own prior may be `LabelPrior` with another smoothing, `cpclean.data.repairs.HoloRepair` with
other options, a function, an object that looks at rows (`RowPrior`), or a dict from column to one
of these, or to weights, as in {"city": {"A": 3, "B": 1}}; columns that are not in it get "label".
A candidate can have weight 0: its worlds count, but have no share.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import repeat
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from cpclean.data.coding import coded
from cpclean.data.columns import OTHER, Column
from cpclean.data.ragged import Ragged
from cpclean.data.repairs import HoloRepair
from cpclean.data.rows import Floats, Ints
from cpclean.errors import TableError

# A prior is a function (column, values, observed values of the column, those of the row's class)
# -> weights, one per candidate; they are normalised here. Versions of a row may repeat a value.
Prior = Callable[[Column, tuple[Any, ...], npt.NDArray[Any], npt.NDArray[Any]], Any]


class RowWeights(Protocol):
    """What a `RowPrior` has made of a table."""

    def weights(self, row: int, cell: int, values: tuple[Any, ...]) -> Any:
        """Weights, one per candidate, of the hole in this row and column."""
        ...


@runtime_checkable
class RowPrior(Protocol):
    """The one method that a prior needs if it looks at the other cells of a row."""

    def for_table(self, columns: Sequence[Column], trusted: npt.NDArray[np.bool_]) -> RowWeights:
        """Look at a table; trusted, of shape (rows, columns), is where there are no holes."""
        ...


# "label" trusts a class's own observations as soon as there are clearly more of them than this.
# docs/results/priors.md says how it was chosen, and how to choose it for other data.
SMOOTHING = 1.0

# So few limits are compared with all numbers; for more of them, the numbers are sorted.
_FEW_LIMITS = 16


class Observed:
    """Observed values of a column: those of some rows, such as the rows of one class."""

    def __init__(self, column: Column, rows: Ints) -> None:
        self._column, self._rows = column, rows

    @classmethod
    def of(cls, column: Column, values: npt.NDArray[Any]) -> Observed:
        """These values."""
        return cls(replace(column, values=values), np.arange(len(values)))

    def __len__(self) -> int:
        return len(self._rows)

    @cached_property
    def values(self) -> npt.NDArray[Any]:
        """The values, numbers in ascending order; read-only."""
        found = self._column.values[self._rows]
        found = found if self._column.kind == "categorical" else np.sort(found)
        found.flags.writeable = False
        return found

    @cached_property
    def times(self) -> dict[Any, int]:
        """How often each category is observed."""
        codes, distinct = self._column.categories
        times = np.bincount(codes[self._rows], minlength=len(distinct)).tolist()
        return {one: count for one, count in zip(distinct, times, strict=True) if count}

    def below(self, limits: Floats) -> tuple[Floats, Floats]:
        """How many numbers are less than each limit, and how many are not greater."""
        if len(limits) > _FEW_LIMITS:
            sides = (np.searchsorted(self.values, limits, side=side) for side in ("left", "right"))
            less, not_greater = (one.astype(np.float64) for one in sides)
            return less, not_greater
        less, not_greater = np.zeros(len(limits)), np.zeros(len(limits))
        for place, limit in enumerate(limits.tolist()):
            less[place] = np.count_nonzero(self._numbers < limit)
            not_greater[place] = np.count_nonzero(self._numbers <= limit)
        return less, not_greater

    @cached_property
    def _numbers(self) -> Floats:
        return self._column.values[self._rows]


def shares_nearest(column: Column, values: tuple[Any, ...], observed: npt.NDArray[Any]) -> Floats:
    """The share of observed values to which each candidate is nearest; ties are split.

    So candidates with the same value, versions that differ in another cell, share what is nearest
    to it. A category's share is its frequency; "other" takes what is not listed.
    """
    return shares_of_lists(column, _one_list(column, values), Observed.of(column, observed))


def _one_list(column: Column, values: tuple[Any, ...]) -> Ragged:
    lists = Ragged.of([values])
    dtype = object if column.kind == "categorical" else np.float64
    return lists.with_flat(lists.flat.astype(dtype))


def shares_of_lists(column: Column, lists: Ragged, observed: Observed) -> Floats:
    """`shares_nearest` for the values of many lists."""
    if not len(observed):
        return (1.0 / lists.sizes)[lists.owner]
    categorical = column.kind == "categorical"
    if categorical:
        codes, distinct = coded(lists.flat.tolist())
    else:
        numbers, codes = np.unique(lists.flat, return_inverse=True)
    n_codes = int(codes.max(initial=0)) + 1
    # The distinct values of each list, which share what is nearest to them among their equals.
    keys, group, times = np.unique(
        lists.owner * n_codes + codes, return_inverse=True, return_counts=True
    )
    owner, code = keys // n_codes, keys % n_codes
    if categorical:
        counts = _category_counts(owner, code, distinct, observed)
    else:
        counts = _nearest_counts(owner, numbers[code], observed)
    total = np.bincount(owner, counts, len(lists))[owner]
    uniform = 1.0 / np.bincount(owner, minlength=len(lists))[owner]
    shares = np.where(total > 0, counts / np.where(total > 0, total, 1.0), uniform)
    return np.asarray(shares[group] / times[group])


def _category_counts(owner: Ints, code: Ints, distinct: list[Any], observed: Observed) -> Floats:
    found = np.fromiter(map(observed.times.get, distinct, repeat(0)), float, len(distinct))
    counts = found[code]
    rest = np.array([one is OTHER for one in distinct], dtype=bool)[code]
    counts[rest] = len(observed) - np.bincount(owner, counts)[owner[rest]]
    return np.asarray(counts)


def _nearest_counts(owner: Ints, values: Floats, observed: Observed) -> Floats:
    """How many numbers are nearest to each value, for lists of ascending values."""
    inner = owner[1:] == owner[:-1]
    middle, where = np.unique((values[1:][inner] + values[:-1][inner]) / 2, return_inverse=True)
    counts = np.zeros(len(values))
    for below in observed.below(middle):  # what lies in the middle is counted half on either side
        low, high = np.zeros(len(values)), np.full(len(values), float(len(observed)))
        low[1:][inner] = below[where]
        high[:-1][inner] = below[where]
        counts += (high - low) / 2
    return counts


class _Named(ABC):
    """A prior of ours: it weighs many lists of candidates at once; a function, as yours is."""

    @abstractmethod
    def of_lists(self, column: Column, lists: Ragged, everyone: Observed, own: Observed) -> Floats:
        """Weights of all values of all lists, for rows of the class that `own` is of."""

    def __call__(
        self,
        column: Column,
        values: tuple[Any, ...],
        everyone: npt.NDArray[Any],
        own: npt.NDArray[Any],
    ) -> Floats:
        seen = (Observed.of(column, one) for one in (everyone, own))
        return self.of_lists(column, _one_list(column, values), *seen)


class _Uniform(_Named):
    def of_lists(self, column: Column, lists: Ragged, everyone: Observed, own: Observed) -> Floats:
        return np.ones(len(lists.flat))


class _ByObserved(_Named):
    def of_lists(self, column: Column, lists: Ragged, everyone: Observed, own: Observed) -> Floats:
        return shares_of_lists(column, lists, everyone)


@dataclass(frozen=True)
class LabelPrior(_Named):
    """The prior "label" with a smoothing of your own.

    Parameters
    ----------
    smoothing : float
        With n observations in the class, the class's own shares weigh n / (n + smoothing), and
        "observed" the rest. 0 trusts even a single observation, infinity none.
    """

    smoothing: float = SMOOTHING

    def __post_init__(self) -> None:
        number = isinstance(self.smoothing, int | float | np.number)
        if not number or not self.smoothing >= 0:
            raise TableError(f"smoothing must be a number of at least 0; got {self.smoothing!r}.")

    def of_lists(self, column: Column, lists: Ragged, everyone: Observed, own: Observed) -> Floats:
        # Without an observation in the class there is nothing to trust, even unsmoothed.
        trust = len(own) / (len(own) + self.smoothing) if len(own) else 0.0
        return trust * shares_of_lists(column, lists, own) + (1.0 - trust) * shares_of_lists(
            column, lists, everyone
        )


NAMED: dict[str, Prior] = {
    "uniform": _Uniform(),
    "observed": _ByObserved(),
    "label": LabelPrior(),
}


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
    """The prior for a user's choice, if it is the same for all columns."""
    if isinstance(prior, str) and prior in NAMED:
        return NAMED[prior]
    if isinstance(prior, str) and prior == "holoclean":
        return HoloRepair()
    if callable(prior) or isinstance(prior, RowPrior):
        chosen: Prior | RowPrior = prior
        return chosen
    raise TableError(
        f"prior must be one of {', '.join(sorted(NAMED))}, holoclean, frequency (for all columns, "
        "with imputers or completed frames), a function (column, values, observed, "
        "observed_in_class) -> weights, or a dict from column to one of these or to weights; got "
        f"{prior!r}."
    )


def check_streamed_prior(prior: Any, name: str) -> None:
    """Refuse priors that look at rows, or at all values of a column, of a table of files.

    Parameters
    ----------
    prior : the user's choice
    name : str
        Of the parameter.
    """
    for one in prior.values() if isinstance(prior, Mapping) else (prior,):
        if isinstance(one, str) and one == "holoclean":
            reason = '"holoclean" is a model of whole rows, which takes the table in memory'
        elif callable(one) and not isinstance(one, _Named):
            reason = "a function sees all values of a column at once"
        elif isinstance(one, RowPrior):
            reason = "a prior that looks at other rows takes the table in memory"
        else:
            continue
        raise TableError(
            f"{name} of a StreamedTable must be a name ({', '.join(sorted(NAMED))}), or a dict "
            f"from column to a name or to weights; got {one!r}: {reason}.",
            "Use IncompleteTable for a part of the rows.",
            field=name,
        )


def prior_beside(repair: Any, prior: Any) -> Any:
    """The prior asked for; "holoclean" beside HoloClean's candidates is one and the same model.

    Candidates that are counted have their frequencies as weights, and none beside them.
    """
    if isinstance(prior, str) and prior == "frequency":
        return "uniform"
    shared = isinstance(prior, str) and prior == "holoclean" and isinstance(repair, HoloRepair)
    return repair if shared else prior
