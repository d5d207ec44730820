"""Columns as they are, one number each, and back to the rows that a fitted object takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.data.coding import objects
from cpclean.data.columns import ABSENT, OTHER, Column
from cpclean.data.frames import FrameKind
from cpclean.data.rows import Floats
from cpclean.data.spaces.features import Feature
from cpclean.data.spaces.plain import fit_plain_space
from cpclean.data.spaces.tree_features import CodedFeature, TreeSpace
from cpclean.errors import TableError, offenders

# Kinds whose stored numbers are what anybody would take for the values themselves.
NUMBERS = ("numeric", "boolean")


def fit_raw_space(
    columns: Sequence[Column],
    proposed: Mapping[int, Iterable[Any]],
    categories: Mapping[str, Iterable[Any]] | None = None,
) -> TreeSpace:
    """A space in which every column has one number: its value, or the place of its category.

    Parameters
    ----------
    columns, proposed, categories
        As in `fit_tree_space`. A column of which nothing is known cannot be filled, and is refused.
    """
    plain = fit_plain_space(columns, proposed, "none", None, categories, every=True)
    shown = [feature for feature in plain.features if feature is not None]
    if len(shown) < len(columns):
        known = {feature.name for feature in shown}
        empty = [column.name for column in columns if column.name not in known]
        raise TableError(
            f"a fitted space takes every column, but nothing is known of "
            f"{offenders(map(repr, empty))}: no value is observed, and no candidates are listed. "
            "List some: repairs={column: values}; or fit the space without it.",
            field="space",
            column=empty[0],
        )
    features = tuple(_one_number(feature, number) for number, feature in enumerate(shown))
    return TreeSpace(features, plain.decisions, len(features))


def _one_number(feature: Feature, at: int) -> Feature:
    if feature.kind != "categorical":
        return replace(feature, start=at, stop=at + 1)
    places = tuple((float(place),) for place in range(len(feature.categories) + 1))
    return CodedFeature(
        feature.name,
        feature.kind,
        at,
        at + 1,
        categories=feature.categories,
        vectors=places,
    )


@dataclass(frozen=True, eq=False)
class RawRows:
    """From vectors of a raw space to rows as a fitted object takes them.

    Parameters
    ----------
    columns : tuple of Column
        Those of the space; only how they show their values matters.
    categories : tuple of tuples
        The categories of each column, in the order of their places.
    order : tuple of int
        Which column of the space stands at each place of a row.
    kind : FrameKind or None
        Of the frames to make; None for arrays: of numbers, or of objects if some column has others.
    """

    columns: tuple[Column, ...]
    categories: tuple[tuple[Any, ...], ...]
    order: tuple[int, ...]
    kind: FrameKind | None

    @classmethod
    def of(
        cls,
        space: TreeSpace,
        columns: Sequence[Column],
        order: Sequence[int],
        kind: FrameKind | None,
    ) -> RawRows:
        """The way back from a raw space."""
        bare = tuple(replace(column, values=column.values[:0]) for column in columns)
        features = [space.feature(number) for number in range(len(bare))]
        if kind is not None:
            kind = replace(kind, names=tuple(bare[at].name for at in order), index=None)
        return cls(bare, tuple(one.categories for one in features), tuple(order), kind)

    def of_vectors(self, vectors: Floats) -> Any:
        """Rows, one per vector."""
        if self.kind is not None:
            shown = {self.columns[at].name: self._shown(at, vectors[:, at]) for at in self.order}
            return self.kind.frame(shown, np.arange(len(vectors)))
        if all(self.columns[at].kind in NUMBERS for at in self.order):
            return np.ascontiguousarray(vectors[:, list(self.order)])
        return np.column_stack([objects(self._shown(at, vectors[:, at])) for at in self.order])

    def _shown(self, at: int, numbers: Floats) -> list[Any]:
        column = self.columns[at]
        if column.kind != "categorical":
            return column.all_shown(numbers)
        known = self.categories[at]
        # No library has a value for what is none of the categories: a text that is none of them.
        other = "other" if "other" not in known else "other than listed"
        listed: npt.NDArray[Any] = objects(
            [other if one is OTHER or one is ABSENT else one for one in (*known, OTHER)]
        )
        return list(listed[numbers.astype(np.int64)].tolist())
