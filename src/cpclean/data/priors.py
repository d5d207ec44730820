"""How likely each candidate value of a hole is, judged from the training table alone.

"uniform"   all candidates alike
"observed"  a candidate weighs as much as the observed values that are nearest to it
"label"     the same among the rows of the row's own class, smoothed towards "observed"
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.data.columns import OTHER, Column
from cpclean.data.rows import Floats
from cpclean.errors import TableError

# A prior is a function (column, values, observed values of the column, those of the row's class)
# -> weights; they are normalised here.
Prior = Callable[[Column, tuple[Any, ...], npt.NDArray[Any], npt.NDArray[Any]], Any]

# "label" trusts a class's own observations as soon as there are clearly more of them than this.
SMOOTHING = 3.0


def shares_nearest(column: Column, values: tuple[Any, ...], observed: npt.NDArray[Any]) -> Floats:
    """The share of observed values to which each candidate is nearest; ties are split.

    A category's share is its frequency; "other" takes what is not listed.
    """
    if len(observed) == 0:
        return np.full(len(values), 1.0 / len(values))
    if column.kind == "categorical":
        listed = {value: place for place, value in enumerate(values)}
        counts = np.zeros(len(values))
        rest = listed.get(OTHER)
        for value in observed:
            place = listed.get(value, rest)
            if place is not None:
                counts[place] += 1.0
    else:
        counts = _nearest_counts(np.array(values, dtype=np.float64), observed)
    total = counts.sum()
    return counts / total if total > 0 else np.full(len(values), 1.0 / len(values))


def _nearest_counts(values: Floats, observed: npt.NDArray[Any]) -> Floats:
    order = np.argsort(values, kind="stable")
    middle = (values[order][1:] + values[order][:-1]) / 2
    counts = np.zeros(len(values))
    below = np.searchsorted(middle, observed, side="left")
    above = np.searchsorted(middle, observed, side="right")
    np.add.at(counts, order[below], 0.5)
    np.add.at(counts, order[above], 0.5)
    return counts


def _uniform(
    column: Column, values: tuple[Any, ...], everyone: npt.NDArray[Any], own: npt.NDArray[Any]
) -> Floats:
    return np.ones(len(values))


def _observed(
    column: Column, values: tuple[Any, ...], everyone: npt.NDArray[Any], own: npt.NDArray[Any]
) -> Floats:
    return shares_nearest(column, values, everyone)


def _label(
    column: Column, values: tuple[Any, ...], everyone: npt.NDArray[Any], own: npt.NDArray[Any]
) -> Floats:
    trust = len(own) / (len(own) + SMOOTHING)
    return trust * shares_nearest(column, values, own) + (1.0 - trust) * shares_nearest(
        column, values, everyone
    )


NAMED: dict[str, Prior] = {"uniform": _uniform, "observed": _observed, "label": _label}


def prior_named(prior: Any) -> Prior:
    """The prior that a user's choice stands for."""
    if isinstance(prior, str) and prior in NAMED:
        return NAMED[prior]
    if callable(prior):
        chosen: Prior = prior
        return chosen
    raise TableError(
        f"prior must be one of {', '.join(sorted(NAMED))}, or a function "
        f"(column, values, observed, observed_in_class) -> weights; got {prior!r}."
    )


class CellPriors:
    """Weights of candidate values, worked out once for each column, class and list of values."""

    def __init__(
        self, prior: Any, columns: Sequence[Column], codes: npt.NDArray[Any], trusted: Any
    ) -> None:
        self._prior = prior_named(prior)
        self._columns = columns
        self._codes = codes
        self._trusted = trusted  # (rows, columns): cells that are present and not doubted
        self._seen: dict[tuple[int, int, tuple[Any, ...]], Floats] = {}

    def weights(self, cell: int, code: int, values: tuple[Any, ...]) -> Floats:
        key = (cell, code, values)
        if key not in self._seen:
            column = self._columns[cell]
            trusted = self._trusted[:, cell]
            everyone = column.values[trusted]
            own = column.values[trusted & (self._codes == code)]
            self._seen[key] = _normalised(
                self._prior(column, values, everyone, own), len(values), column
            )
        return self._seen[key]


def _normalised(weights: Any, size: int, column: Column) -> Floats:
    array = np.asarray(weights, dtype=np.float64)
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
