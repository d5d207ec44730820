"""Columns as trees look at them: numbers as they are, and categories in a code.

A tree asks whether a number is at most a threshold, so scales mean nothing to it, and a category
has to become numbers. A `coding` says how:

"orders"
    A category is its place in a random order of all categories, in several orders, one feature
    each. Each order is a *view*: a tree looks at one of them only, so no order is imposed on the
    forest, and a split divides the categories at random where it divides them well.
"onehot"
    One feature per category. As good where categories are few; with hundreds of them, forests
    take several times as long, and other columns are hardly looked at.

Another coding is one more function in `CODINGS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from cpclean.data.columns import Column
from cpclean.data.drawing import uniforms
from cpclean.data.rows import Floats, Ints
from cpclean.data.spaces.features import Feature
from cpclean.data.spaces.plain import PlainSpace, fit_plain_space
from cpclean.errors import TableError

# As many random orders of the categories as worlds that trees learn from.
N_VIEWS = 10

# Numbers that are so many times their range away from 0 lose too much in float32.
_FAR = 256.0
# Beyond these magnitudes float32 has no numbers, or few.
_LARGE, _SMALL = 1e38, 1e-30


@dataclass(frozen=True)
class CodedFeature(Feature):
    """A categorical column in a code: a vector for every category, then one for any other."""

    vectors: tuple[tuple[float, ...], ...] = ()

    def encoded(self, values: Any) -> Floats:
        """Vectors of shape (len(values), stop - start); a category not known has the last one."""
        place = {category: number for number, category in enumerate(self.categories)}
        return self._table[[place.get(value, -1) for value in values]]

    def write(self, column: Column, space: Floats) -> None:
        """Encode a column into its place in vectors of the space."""
        codes, distinct = column.categories
        table = np.vstack([self.encoded(distinct), self._table[-1:]])  # the last is that of holes
        space[:, self.start : self.stop] = table[codes]

    @property
    def _table(self) -> Floats:
        return np.array(self.vectors)


@dataclass(frozen=True)
class TreeSpace(PlainSpace):
    """Columns as trees look at them; those that carry no information have no place in it."""

    unseen_as: ClassVar[str] = "no category"

    @property
    def views(self) -> list[Ints]:
        """Features that a tree may look at together: of each coded column, one order."""
        shown = [feature for feature in self.features if feature is not None]
        orders = [feature for feature in shown if isinstance(feature, CodedFeature)]
        n_views = max((feature.stop - feature.start for feature in orders), default=1)
        return [
            np.concatenate(
                [
                    [feature.start + view % (feature.stop - feature.start)]
                    if isinstance(feature, CodedFeature)
                    else np.arange(feature.start, feature.stop)
                    for feature in shown
                ]
            )
            for view in range(n_views)
        ]


def fit_tree_space(
    columns: Sequence[Column],
    proposed: Mapping[int, Iterable[Any]],
    *,
    coding: str = "orders",
    weights: Mapping[str, float] | None = None,
    categories: Mapping[str, Iterable[Any]] | None = None,
    random_state: int = 0,
) -> TreeSpace:
    """Fit the space; a hole itself is never encoded.

    Parameters
    ----------
    columns : sequence of Column
    proposed : mapping from column number to values
        The candidates of holes; those of a categorical column are categories too.
    coding : "orders" or "onehot"
        How categories become numbers.
    weights : mapping from column name to float, optional
        A column of weight 0 is left out; other weights mean nothing to a tree.
    categories : mapping from column name to values, optional
        More categories, which have a code of their own.
    random_state : int
        Other seeds give other orders of the categories.

    Notes
    -----
    Columns without information are left out as in the plain space. Numbers stay as they are, dates
    and durations in seconds. Trees see them as float32; so where that would leave fewer than 65,536
    steps over the range of a column (dates of one month, say), the lowest value is subtracted, and
    numbers too large or too close together for float32 are scaled.

    A category that is not known has a place of its own in every order; one-hot, it is all zero.
    """
    if coding not in CODINGS:
        raise TableError(
            f"coding must be one of {', '.join(CODINGS)}; got {coding!r}.", field="coding"
        )
    plain = fit_plain_space(columns, proposed, "none", weights, categories)
    features: list[Feature | None] = []
    at = 0
    for number, (column, feature) in enumerate(zip(columns, plain.features, strict=True)):
        if feature is None:
            features.append(None)
            continue
        if feature.kind == "categorical":
            coded = CODINGS[coding](feature, number, random_state)
        else:
            coded = _number(feature, column, [*proposed.get(number, ())])
        width = coded.stop - coded.start
        features.append(replace(coded, start=at, stop=at + width))
        at += width
    return TreeSpace(tuple(features), plain.decisions, at)


def _number(feature: Feature, column: Column, candidates: list[Any]) -> Feature:
    if not column.varies:
        values = np.array([*column.some, *candidates], dtype=np.float64)
        column = Column(column.name, column.kind, values)
    low, high = column.least, column.most
    largest, spread = max(abs(low), abs(high)), 0.5 * high - 0.5 * low  # half of it: no overflow
    if largest > _LARGE:
        return replace(feature, shift=0.0, scale=1.0 / largest)
    if spread < _SMALL:
        return replace(feature, shift=low, scale=min(0.5 / spread, 1e300))
    return replace(feature, shift=low if largest > 2 * _FAR * spread else 0.0, scale=1.0)


def _one_hot(feature: Feature, number: int, seed: int) -> Feature:
    return replace(feature, scale=1.0)


def _orders(feature: Feature, number: int, seed: int) -> Feature:
    """Places in random orders of the categories, that of any other among them."""
    each = np.arange(len(feature.categories) + 1)
    columns = [np.full(len(each), number * N_VIEWS + view) for view in range(N_VIEWS)]
    chances = [uniforms(seed, each, column, 2)[:, 0] for column in columns]
    places = np.argsort(np.argsort(chances, axis=1), axis=1).T.astype(np.float64)
    return CodedFeature(
        feature.name,
        feature.kind,
        feature.start,
        feature.start + N_VIEWS,
        categories=feature.categories,
        vectors=tuple(map(tuple, places.tolist())),
    )


# From a one-hot feature, the number of its column and a seed to the feature in a code.
CODINGS: dict[str, Callable[[Feature, int, int], Feature]] = {
    "orders": _orders,
    "onehot": _one_hot,
}
