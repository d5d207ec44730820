"""A fitted object as the space of a table: trees that can be read, or a map that is called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cpclean.data.columns import Column
from cpclean.data.frames import FrameKind, is_frame
from cpclean.data.incomplete import IncompleteDataset
from cpclean.data.rows import Floats
from cpclean.data.spaces.fitted_map import FittedMap, makes_leaves
from cpclean.data.spaces.leaf_space import FITTED, SPACES, LeafSpace
from cpclean.data.spaces.raw_rows import NUMBERS, RawRows, fit_raw_space
from cpclean.data.spaces.table_space import TableSpace
from cpclean.data.spaces.tree_arrays import nodes_of
from cpclean.data.spaces.tree_features import TreeSpace
from cpclean.data.spaces.trees import Trees
from cpclean.errors import DataError, TableError, offenders


def chosen_space(space: Any) -> LeafSpace | FittedSpace | None:
    """What a user means by `space`; None is the plain space."""
    if isinstance(space, LeafSpace) and space.kind != FITTED:
        return space
    if isinstance(space, str) and space in SPACES:
        return None if space == "plain" else LeafSpace(space)
    # A frame has both names too, and a class is no object that was fitted.
    odd = isinstance(space, str | type | LeafSpace) or is_frame(space)
    if not odd and (_reads(space) or makes_leaves(space) or hasattr(space, "transform")):
        return FittedSpace(space)
    raise TableError(
        f"space must be one of {', '.join(map(repr, SPACES))}, a LeafSpace, or a fitted object "
        f"with apply (leaves per tree) or transform (vectors); got {space!r}.",
        field="space",
    )


@dataclass(frozen=True, eq=False)
class FittedSpace:
    """What a fitted object makes of the rows of a table, as its space.

    Parameters
    ----------
    fitted : object
        A tree or forest of scikit-learn is read: everything is exact, proved and stored as in any
        space of leaves. Anything else with `apply` or `transform` is called with filled rows.
    """

    fitted: Any

    @property
    def stated(self) -> LeafSpace:
        """What a table says of it; the trees, if there are any, are the dataset's."""
        return LeafSpace(FITTED)

    def features(
        self,
        columns: Sequence[Column],
        proposed: Mapping[int, Iterable[Any]],
        weights: Mapping[str, float] | None,
        categories: Mapping[str, Iterable[Any]] | None,
        seed: int,
    ) -> TreeSpace:
        """Every column as it is; refuses columns that the object was not fitted on."""
        if odd := {name: weight for name, weight in (weights or {}).items() if weight != 1}:
            raise TableError(
                "a fitted space takes every column as it is: a weight can only be 1; got "
                f"{odd}. Weigh, or leave out, columns in what is fitted.",
                field="weights",
            )
        self._order(columns)
        others = [column for column in columns if column.kind not in NUMBERS]
        if others and _reads(self.fitted):
            raise TableError(
                f"a {type(self.fitted).__name__} takes numbers only; column "
                f"{offenders(repr(column.name) for column in others)} is {others[0].kind}.",
                "Fit a Pipeline of an encoder and the forest, and give that as the space; or let "
                'the table learn a forest: space="forest".',
                field="space",
                column=others[0].name,
            )
        return fit_raw_space(columns, proposed, categories)

    def placed(
        self,
        data: IncompleteDataset,
        features: TableSpace,
        columns: Sequence[Column],
        kind: FrameKind,
    ) -> IncompleteDataset:
        """The rows of a table among the leaves, or the vectors, that the object makes of them."""
        assert isinstance(features, TreeSpace)
        order = self._order(columns)
        if _reads(self.fitted):
            nodes = nodes_of(self.fitted, np.array(order))
            return data.in_space(Trees.joined(nodes, data.n_features))
        named = getattr(self.fitted, "feature_names_in_", None) is not None
        rows = RawRows.of(features, columns, order, kind if named else None)
        base = data.arrays.base
        space = FittedMap(self.fitted, rows, base)
        space.mapped(_with_each_category(features, base[0]))  # an encoder may not take them all
        return data.in_space(space)

    def _order(self, columns: Sequence[Column]) -> list[int]:
        """Which column of the table is each one that the object was fitted on."""
        place = {column.name: number for number, column in enumerate(columns)}
        what = "space was fitted on other columns than the table has: this "
        what += type(self.fitted).__name__
        names = getattr(self.fitted, "feature_names_in_", None)
        if names is not None:
            wanted = [str(name) for name in names]
            lacking = [name for name in wanted if name not in place]
            more = [name for name in place if name not in wanted]
            if lacking or more:
                told = [f"needs {offenders(map(repr, lacking))}"] if lacking else []
                told += [f"does not know {offenders(map(repr, more))}"] if more else []
                raise TableError(
                    f"{what} {' and '.join(told)}.",
                    "Fit it on the columns of the table without the label.",
                    field="space",
                )
            return [place[name] for name in wanted]
        width = getattr(self.fitted, "n_features_in_", None)
        if width is not None and width != len(columns):
            raise TableError(
                f"{what} takes {width} columns, and the table has {len(columns)} without the "
                f"label: {offenders(map(repr, place), 8)}.",
                "Fit it on the columns of the table.",
                field="space",
            )
        return list(range(len(columns)))


def _with_each_category(space: TreeSpace, vector: Floats) -> Floats:
    """A row again and again, with another category in one of its columns each time."""
    made = []
    for number in range(len(space.features)):
        for place in range(len(space.feature(number).categories)):
            made.append(vector.copy())
            made[-1][number] = place
    return np.array(made).reshape(-1, len(vector))


def _reads(fitted: Any) -> bool:
    """Whether an object is a fitted tree or forest whose nodes can be read."""
    try:
        nodes_of(fitted)
    except DataError:
        return False
    return hasattr(fitted, "n_features_in_")
