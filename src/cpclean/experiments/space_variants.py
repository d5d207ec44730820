"""Spaces of leaves beside the usual one: one choice is made differently in each.

Some are there to be measured only: worlds stacked below each other, leaves of boosted trees, and
other codes of categories.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cpclean.data.columns import Column
from cpclean.data.incomplete import IncompleteDataset
from cpclean.data.spaces.leaf_space import LeafSpace
from cpclean.data.spaces.learning import learn_forest
from cpclean.data.spaces.tree_arrays import nodes_of
from cpclean.data.spaces.tree_features import CodedFeature, TreeSpace, fit_tree_space
from cpclean.data.spaces.trees import Trees
from cpclean.data.spaces.world_rows import Worlds


@dataclass(frozen=True)
class Variant:
    """A space, and how many rows vote in it; None lets the classifier choose.

    `order` sorts the rows to learn from by their labels: 1 from the first one on, -1 from the last;
    `shuffled` brings the table that is made of them into a random order again.
    """

    space: LeafSpace
    n_neighbors: int | None = 15
    prior: str = "label"
    random_state: int = 0
    order: int = 0
    shuffled: bool = False


@dataclass(frozen=True)
class StackedSpace(LeafSpace):
    """A forest that is fitted once, to all worlds below each other."""

    def trees(self, data: IncompleteDataset, features: TreeSpace, seed: int) -> Trees:
        from sklearn.ensemble import RandomForestClassifier

        model = RandomForestClassifier(
            self.n_trees, min_samples_leaf=self.min_rows, random_state=seed
        )
        return _fitted_to_all(model, data, features, self.n_worlds, seed)


@dataclass(frozen=True)
class BoostedSpace(LeafSpace):
    """The leaves of gradient-boosted trees, each of which corrects those before it."""

    def trees(self, data: IncompleteDataset, features: TreeSpace, seed: int) -> Trees:
        from sklearn.ensemble import GradientBoostingClassifier

        model = GradientBoostingClassifier(
            n_estimators=self.n_trees,
            min_samples_leaf=self.min_rows,
            max_features=self.max_features,
            random_state=seed,
        )
        return _fitted_to_all(model, data, features, self.n_worlds, seed)


@dataclass(frozen=True)
class OpenSpace(LeafSpace):
    """A forest to which holes are missing values: it sees labels, but nothing that fills a hole."""

    def trees(self, data: IncompleteDataset, features: TreeSpace, seed: int) -> Trees:
        return learn_forest(data, holes="open", **self.options(features, seed))


@dataclass(frozen=True)
class CodedSpace(LeafSpace):
    """A forest that sees categories in another code: "onehot", or in alphabetical "order"."""

    coding: str = "onehot"

    def features(
        self,
        columns: Sequence[Column],
        proposed: Mapping[int, Iterable[Any]],
        weights: Mapping[str, float] | None,
        categories: Mapping[str, Iterable[Any]] | None,
        seed: int,
    ) -> TreeSpace:
        if self.coding == "onehot":
            return fit_tree_space(columns, proposed, coding="onehot", random_state=seed)
        space = fit_tree_space(columns, proposed, random_state=seed)
        return replace(space, features=tuple(map(_in_order, space.features)))


def _in_order(feature: Any) -> Any:
    """Every view of a column shows the same order of its categories."""
    if not isinstance(feature, CodedFeature):
        return feature
    places = np.argsort(np.argsort([str(one) for one in feature.categories]))
    width = feature.stop - feature.start
    vectors = [(float(place),) * width for place in [*places.tolist(), len(places)]]
    return replace(feature, vectors=tuple(vectors))


def _fitted_to_all(
    model: Any, data: IncompleteDataset, features: TreeSpace, n_worlds: int, seed: int
) -> Trees:
    """The trees of a model that is fitted to all worlds together, in the first view."""
    columns = features.views[0]
    worlds = Worlds(data, n_worlds, data.n_rows, seed, is_open=False)
    parts = [worlds.world(number, columns) for number in range(n_worlds)]
    rows = np.concatenate([one for one, _ in parts])
    model.fit(np.concatenate([X for _, X in parts]), data.codes[rows])
    return Trees.joined(nodes_of(model, columns), data.n_features)


USUAL = "as it is"
# By what is chosen, and how.
VARIANTS: dict[str, dict[str, Variant]] = {
    "": {USUAL: Variant(LeafSpace())},
    "seed": {"another": Variant(LeafSpace(), random_state=1)},
    "trees": {str(n): Variant(LeafSpace(n_trees=n)) for n in (25, 50, 200, 400)},
    "rows in a leaf": {str(n): Variant(LeafSpace(min_samples_leaf=n)) for n in (1, 5, 10)},
    "features for a split": {
        "half of them": Variant(LeafSpace(max_features=0.5)),
        "all": Variant(LeafSpace(max_features=None)),
    },
    "neighbours": {
        **{str(n): Variant(LeafSpace(), n) for n in (5, 9, 21, 31, 51)},
        "chosen": Variant(LeafSpace(), None),
    },
    "worlds": {
        **{str(n): Variant(LeafSpace(n_worlds=n)) for n in (1, 5, 20)},
        "5, stacked": Variant(StackedSpace(n_worlds=5)),
        "none: holes are missing": Variant(OpenSpace()),
    },
    "kind of trees": {
        "extremely randomised": Variant(LeafSpace("extra")),
        "boosted": Variant(BoostedSpace(n_worlds=5)),
        "random splits": Variant(LeafSpace("random")),
    },
    "categories": {
        "in alphabetical order": Variant(CodedSpace(coding="order")),
        "one-hot": Variant(CodedSpace(coding="onehot")),
    },
    "rows": {
        "sorted by label": Variant(LeafSpace(), order=1),
        "sorted the other way": Variant(LeafSpace(), order=-1),
        "sorted, then shuffled": Variant(LeafSpace(), order=1, shuffled=True),
        "the other way, then shuffled": Variant(LeafSpace(), order=-1, shuffled=True),
    },
    "prior": {name: Variant(LeafSpace(), prior=name) for name in ("observed", "uniform")},
}


def variant(choice: str, value: str) -> Variant:
    """A variant by its names."""
    return VARIANTS[choice][value]
