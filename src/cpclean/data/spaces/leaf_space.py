"""Leaves of trees as the space of a table: which trees, and how columns become their features."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from cpclean.data.columns import Column
from cpclean.data.frames import FrameKind
from cpclean.data.incomplete import IncompleteDataset
from cpclean.data.spaces.learning import (
    MAX_ROWS,
    N_WORLDS,
    LearntForest,
    learn_forest,
    learn_with_bags,
    random_trees,
)
from cpclean.data.spaces.table_space import TableSpace
from cpclean.data.spaces.tree_features import TreeSpace, fit_tree_space
from cpclean.data.spaces.trees import Trees
from cpclean.errors import TableError

# By the names that they have for users.
KINDS = ("forest", "extra", "random")
SPACES = ("plain", *KINDS)
# What a fitted object makes of rows; nothing is learnt.
FITTED = "fitted"

# Seeds of forests have 32 bits.
_SEEDS = 2**32


@dataclass(frozen=True)
class LeafSpace:
    """Which trees make up the space of a table.

    Parameters
    ----------
    kind : {"forest", "extra", "random"}
        "forest": a random forest, each of whose trees learns from one world drawn with the prior.
        "extra": extremely randomised trees, learnt in the same way. "random": random splits, which
        look at no label and at nothing that fills a hole. Tables in the space of a fitted object
        have "fitted" here, and nothing else means anything then.
    n_trees : int, default=100
    min_samples_leaf : int, optional
        The least number of rows in a leaf; by default 3, or 10 in trees of random splits.
    max_features : "sqrt", "log2", int, float or None, default="sqrt"
        How many features are looked at for a split.
    n_worlds : int, default=10
        How many worlds the trees are divided among.
    max_rows : int, default=50,000
        Of more rows, each world has a sample.
    n_jobs : int, optional
        Threads for learning; -1 for all processors. The trees do not depend on it.

    Examples
    --------
    >>> LeafSpace("random", n_trees=50).min_rows
    10
    """

    kind: str = "forest"
    n_trees: int = 100
    min_samples_leaf: int | None = None
    max_features: str | int | float | None = "sqrt"
    n_worlds: int = N_WORLDS
    max_rows: int = MAX_ROWS
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        if self.kind not in (*KINDS, FITTED):
            raise TableError(
                f"the kind of a space of leaves must be one of {', '.join(map(repr, KINDS))}; got "
                f"{self.kind!r}.",
                field="space",
            )

    @property
    def stated(self) -> LeafSpace:
        """What a table says of its space."""
        return self

    @property
    def min_rows(self) -> int:
        """The least number of rows in a leaf."""
        if self.min_samples_leaf is None:
            return 10 if self.kind == "random" else 3
        return self.min_samples_leaf

    @property
    def name(self) -> str:
        """The kind, and what is not as usual: "forest", or "forest (n_trees 50)"."""
        usual = LeafSpace(self.kind)
        odd = [
            f"{one.name} {getattr(self, one.name)}"
            for one in fields(LeafSpace)
            if one.name != "n_jobs" and getattr(self, one.name) != getattr(usual, one.name)
        ]
        return f"{self.kind} ({', '.join(odd)})" if odd else self.kind

    def features(
        self,
        columns: Sequence[Column],
        proposed: Mapping[int, Iterable[Any]],
        weights: Mapping[str, float] | None,
        categories: Mapping[str, Iterable[Any]] | None,
        seed: int,
    ) -> TreeSpace:
        """How columns become features of the trees."""
        odd = {name: weight for name, weight in (weights or {}).items() if weight not in (0, 1)}
        if odd:
            raise TableError(
                f"a tree does not weigh columns: among leaves a weight can only be 0, which leaves "
                f"a column out, or 1; got {odd}.",
                field="weights",
            )
        return fit_tree_space(
            columns,
            proposed,
            weights=weights,
            categories=categories,
            random_state=seed % _SEEDS,
        )

    def placed(
        self,
        data: IncompleteDataset,
        features: TableSpace,
        columns: Sequence[Column],
        kind: FrameKind,
    ) -> IncompleteDataset:
        """The rows of a table among the leaves of trees that are made for them."""
        assert isinstance(features, TreeSpace)
        return data.in_space(self.trees(data, features, data.drawing.seed))

    def trees(self, data: IncompleteDataset, features: TreeSpace, seed: int) -> Trees:
        """The trees for the rows of a table."""
        if self.kind == "random":
            return random_trees(
                data,
                n_trees=self.n_trees,
                min_samples_leaf=self.min_rows,
                max_rows=self.max_rows,
                views=features.views,
                random_state=seed % _SEEDS,
                n_jobs=self.n_jobs,
            )
        return learn_forest(data, **self.options(features, seed))

    def with_bags(
        self, data: IncompleteDataset, features: TreeSpace, seed: int
    ) -> LearntForest | None:
        """The same trees, with what each has seen; None for trees that learn nothing."""
        if self.kind == "random":
            return None
        return learn_with_bags(data, **self.options(features, seed))

    def options(self, features: TreeSpace, seed: int) -> dict[str, Any]:
        """As `learn_forest` takes them."""
        return {
            "n_trees": self.n_trees,
            "min_samples_leaf": self.min_rows,
            "max_features": self.max_features,
            "n_worlds": self.n_worlds,
            "max_rows": self.max_rows,
            "views": features.views,
            "kind": self.kind,
            "random_state": seed % _SEEDS,
            "n_jobs": self.n_jobs,
        }
