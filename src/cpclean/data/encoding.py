"""From raw values to the metric space: scaling, one-hot groups, weights of columns.

Fitted on observed cells and on candidates; a hole itself is never encoded. With Euclidean distance,
two categories that differ are as far apart as the two ends of a numeric column's range
(min-max scaling): each is 1/sqrt(2) away from the origin of its group.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.data.columns import Column
from cpclean.data.rows import Floats
from cpclean.errors import TableError, offenders

SCALINGS = ("minmax", "standard", "none")


class UnseenCategoryWarning(UserWarning):
    """Points to encode hold categories that the training table does not have."""


@dataclass(frozen=True)
class Feature:
    """How one column is encoded: columns start..stop-1 of the space."""

    name: str
    kind: str
    start: int
    stop: int
    shift: float = 0.0
    scale: float = 1.0
    categories: tuple[Hashable, ...] = ()

    def encoded(self, values: Sequence[Any] | npt.NDArray[Any]) -> Floats:
        """Vectors of shape (len(values), stop - start); a category not known is all zero."""
        if self.kind != "categorical":
            numbers = np.asarray(values, dtype=np.float64)
            return np.asarray(((numbers - self.shift) * self.scale)[:, None])
        place = {category: number for number, category in enumerate(self.categories)}
        vectors = np.zeros((len(values), self.stop - self.start))
        for row, value in enumerate(values):
            if value in place:
                vectors[row, place[value]] = self.scale
        return vectors

    def unseen(self, values: Iterable[Any]) -> int:
        known = set(self.categories)
        return sum(value not in known for value in values)


@dataclass(frozen=True)
class Encoding:
    """The metric space of a table; columns that carry no information have no place in it."""

    features: tuple[Feature | None, ...]  # one a column
    n_features: int

    def encode(self, columns: Sequence[Column]) -> Floats:
        """Complete rows as vectors; warns about categories that were never seen."""
        n_rows = len(columns[0].values) if columns else 0
        space = np.zeros((n_rows, self.n_features))
        unseen = {}
        for feature, column in zip(self.features, columns, strict=True):
            if feature is None:
                continue
            space[:, feature.start : feature.stop] = feature.encoded(column.values)
            if feature.kind == "categorical" and (count := feature.unseen(column.values)):
                unseen[column.name] = count
        if unseen:
            told = offenders(f"{count} in column {name!r}" for name, count in unseen.items())
            warnings.warn(
                f"values that the training table does not have are encoded as all zero: {told}.",
                UnseenCategoryWarning,
                stacklevel=3,
            )
        return space


def fit_encoding(
    columns: Sequence[Column],
    proposed: Mapping[int, Iterable[Any]],
    scaling: str = "minmax",
    weights: Mapping[str, float] | None = None,
) -> Encoding:
    """Fit the space: on the observed cells, and for categories on the proposed values too."""
    if scaling not in SCALINGS:
        raise TableError(f"scaling must be one of {', '.join(SCALINGS)}; got {scaling!r}.")
    weights = _checked_weights(weights, columns)
    features: list[Feature | None] = []
    at = 0
    for number, column in enumerate(columns):
        weight = weights.get(column.name, 1.0)
        if column.ignored or weight == 0.0:
            features.append(None)
            continue
        if column.kind == "categorical":
            feature = _categorical(column, proposed.get(number, ()), at, weight)
        else:
            feature = _numeric(column, at, weight, scaling)
        features.append(feature)
        at = feature.stop
    if at == 0:
        raise TableError(
            "no column carries information: every column is constant, empty or of weight 0."
        )
    return Encoding(tuple(features), at)


def _numeric(column: Column, at: int, weight: float, scaling: str) -> Feature:
    if scaling == "none":
        return Feature(column.name, column.kind, at, at + 1, 0.0, weight)
    if scaling == "standard":
        shift, spread = float(np.mean(column.observed)), float(np.std(column.observed))
    else:
        shift, spread = float(np.min(column.observed)), float(np.ptp(column.observed))
    return Feature(column.name, column.kind, at, at + 1, shift, weight / spread)


def _categorical(column: Column, proposed: Iterable[Any], at: int, weight: float) -> Feature:
    known = dict.fromkeys(sorted(column.frequencies, key=lambda value: (str(type(value)), value)))
    known.update(dict.fromkeys(proposed))
    categories = tuple(known)
    scale = weight / math.sqrt(2.0)
    return Feature(column.name, column.kind, at, at + len(categories), 0.0, scale, categories)


def _checked_weights(
    weights: Mapping[str, float] | None, columns: Sequence[Column]
) -> dict[str, float]:
    given = dict(weights or {})
    unknown = given.keys() - {column.name for column in columns}
    if unknown:
        raise TableError(
            f"weights name columns that the table does not have: {offenders(map(repr, unknown))}."
        )
    bad = {name: weight for name, weight in given.items() if not 0 <= weight < math.inf}
    if bad:
        raise TableError(f"weights of columns must be finite and not negative; got {bad}.")
    return given
