"""The plain space: every column has features of its own, scaled numbers or a one-hot group.

Scales are fitted on observed cells, categories on observed cells and candidates; a hole itself is
never encoded. A column whose values do not differ has no place in the space. With Euclidean
distance, two categories that differ are as far apart as the two ends of a numeric column's range
(min-max scaling): each is 1/sqrt(2) away from the origin of its group.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from cpclean.data.columns import ABSENT, OTHER, Column
from cpclean.data.decisions import Decision
from cpclean.data.rows import Floats
from cpclean.data.spaces.features import Feature
from cpclean.errors import TableError, TableWarning, offenders, warn_caller

SCALINGS = ("minmax", "standard", "none")


class UnseenCategoryWarning(TableWarning):
    """Points to encode hold categories that the training table does not have."""


@dataclass(frozen=True)
class PlainSpace:
    """Columns scaled and weighed; those that carry no information have no place in it."""

    features: tuple[Feature | None, ...]  # one per column
    decisions: tuple[Decision, ...]  # one per column
    n_features: int
    unseen_as: ClassVar[str] = "all zero"  # how a category is encoded that was never seen
    _told: set[str] = field(default_factory=set, init=False, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        """For copies and pickles, which tell anew; other threads may be adding to what is told."""
        return {**self.__dict__, "_told": set()}

    def encode(self, columns: Sequence[Column]) -> Floats:
        """As `encode_with_holes`; warns about categories that were never seen, once."""
        unseen = {}
        for feature, column in zip(self.features, columns, strict=True):
            if feature and feature.kind == "categorical" and (count := feature.unseen(column)):
                unseen[column.name] = count
        told = offenders(f"{count} in column {name!r}" for name, count in unseen.items())
        # Points are encoded for every question about them; Python itself forgets what it has told
        # as soon as any library changes the filters.
        if unseen and told not in self._told:
            warn_caller(
                UnseenCategoryWarning(
                    "values that the training table does not have are encoded as "
                    f"{self.unseen_as}: {told}."
                ),
            )
            self._told.add(told)
        return self.encode_with_holes(columns)

    def encode_with_holes(self, columns: Sequence[Column]) -> Floats:
        """Rows as vectors; what stands in the features of a hole means nothing."""
        space = np.zeros((len(columns[0].values) if columns else 0, self.n_features))
        for feature, column in zip(self.features, columns, strict=True):
            if feature is not None:
                feature.write(column, space)
        return space

    def feature(self, cell: int) -> Feature:
        """The feature of a column that has a place in the space."""
        feature = self.features[cell]
        assert feature is not None, f"column {cell} has no place in the space"
        return feature


def fit_plain_space(
    columns: Sequence[Column],
    proposed: Mapping[int, Iterable[Any]],
    scaling: str = "minmax",
    weights: Mapping[str, float] | None = None,
    categories: Mapping[str, Iterable[Any]] | None = None,
    *,
    every: bool = False,
) -> PlainSpace:
    """Fit the space: on the observed cells, and for categories on the proposed values too.

    `categories` names more values of categorical columns, which get a place of their own. With
    `every`, columns whose values do not differ have a place too.
    """
    if scaling not in SCALINGS:
        raise TableError(f"scaling must be one of {', '.join(SCALINGS)}; got {scaling!r}.")
    weights = _checked_weights(weights, columns)
    more = _checked_categories(categories, columns)
    features: list[Feature | None] = []
    decisions = []
    at = 0
    for number, column in enumerate(columns):
        weight = weights.get(column.name, 1.0)
        candidates = list(proposed.get(number, ()))
        decision = _decision(column, candidates, weight)
        if every and decision.code == "constant":
            decision = Decision("taken")
        decisions.append(decision)
        if not decision.kept:
            features.append(None)
            continue
        if column.kind == "categorical":
            known = [*candidates, *more.get(column.name, ())]
            feature = _categorical(column, known, at, weight)
        else:
            feature = _numeric(column, candidates, at, weight, scaling)
        features.append(feature)
        at = feature.stop
    if at == 0:
        raise TableError(
            "no column carries information: every column is constant, empty or of weight 0."
        )
    return PlainSpace(tuple(features), tuple(decisions), at)


def _decision(column: Column, candidates: list[Any], weight: float) -> Decision:
    few = not column.varies  # then the one that is observed, if any, and the candidates count
    if few:
        values = {*column.some, *candidates} - {OTHER}
        if not values:
            return Decision("unobserved")
        if len(values) == 1:
            return Decision("constant")
    if weight == 0.0:
        return Decision("weightless")
    return Decision("candidates_differ") if few else column.decision


def _numeric(
    column: Column, candidates: list[Any], at: int, weight: float, scaling: str
) -> Feature:
    if scaling == "none":
        return Feature(column.name, column.kind, at, at + 1, 0.0, weight)
    if not column.varies:  # nothing to measure but the candidates
        values = np.array([*column.some, *candidates], dtype=np.float64)
        column = Column(column.name, column.kind, values)
    with np.errstate(over="ignore", invalid="ignore"):
        if scaling == "standard":
            shift, spread = column.mean, column.deviation
        else:
            shift, spread = column.least, column.most - column.least
        scale = float(np.float64(weight) / spread) if 0.0 < spread < math.inf else math.inf
    if scale == math.inf:
        raise TableError(
            f"column {column.name!r} cannot be scaled: its values from {column.least} to "
            f"{column.most} are too close together or too far apart. Change its unit."
        )
    return Feature(column.name, column.kind, at, at + 1, shift, scale)


def _categorical(column: Column, candidates: list[Any], at: int, weight: float) -> Feature:
    known = dict.fromkeys(_ordered(column.frequencies))
    known.update(dict.fromkeys(value for value in candidates if value is not ABSENT))
    categories = tuple(known)
    scale = weight / math.sqrt(2.0)
    return Feature(column.name, column.kind, at, at + len(categories), 0.0, scale, categories)


def _ordered(values: Iterable[Any]) -> list[Any]:
    """In an order that does not depend on the rows'."""
    try:
        return sorted(values, key=lambda value: (str(type(value)), value))
    except TypeError:  # complex numbers, tuples of different kinds
        return sorted(values, key=lambda value: (str(type(value)), repr(value)))


def _checked_weights(
    weights: Mapping[str, float] | None, columns: Sequence[Column]
) -> dict[str, float]:
    if not isinstance(weights, Mapping | None):
        raise TableError(f"weights must be a dict from column name to number; got {weights!r}.")
    given: dict[str, Any] = dict(weights or {})
    unknown = sorted(given.keys() - {column.name for column in columns})
    if unknown:
        raise TableError(
            f"weights name columns that the table does not have: {offenders(map(repr, unknown))}."
        )
    bad = {
        name: weight
        for name, weight in given.items()
        if not isinstance(weight, int | float | np.number) or not 0 <= weight < math.inf
    }
    if bad:
        raise TableError(f"weights of columns must be finite and not negative; got {bad}.")
    return given


def _checked_categories(
    categories: Mapping[str, Iterable[Any]] | None, columns: Sequence[Column]
) -> dict[str, list[Any]]:
    given = {name: list(values) for name, values in (categories or {}).items()}
    categorical = {column.name for column in columns if column.kind == "categorical"}
    if odd := sorted(given.keys() - categorical):
        raise TableError(
            "categories may name categorical columns only; "
            f"{offenders(map(repr, odd))} is not one of the table's."
        )
    nulls = [name for name, values in given.items() if any(value is None for value in values)]
    if nulls:
        raise TableError(f"categories of {offenders(map(repr, nulls))} must not be null.")
    return given
