"""Nearest neighbours in the leaves of a forest, as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from cpclean.classifier.neighbors import CertainKNeighborsClassifier
from cpclean.classifier.out_of_bag import accuracies, best_number
from cpclean.data.incomplete import IncompleteDataset
from cpclean.data.points import MAX_COMPLETIONS
from cpclean.data.rows import Bools
from cpclean.data.spaces.leaf_space import LeafSpace
from cpclean.data.spaces.learning import N_WORLDS
from cpclean.data.spaces.tree_features import TreeSpace
from cpclean.data.spaces.trees import Trees
from cpclean.errors import QueryError


class CertainForestClassifier(CertainKNeighborsClassifier):
    """Nearest neighbours in the leaves of a forest, over all ways of filling the holes of a table.

    A random forest is learnt from worlds drawn with the prior. Two rows are as far apart as the
    number of trees that send them to different leaves, and the nearest rows vote. That is about as
    accurate as the forest itself, and everything that `CertainKNeighborsClassifier` proves and
    counts is proved and counted here: given the trees, which are learnt once and then fixed.

    Parameters
    ----------
    n_neighbors : int or "auto", default="auto"
        K. "auto" chooses among 5, 9, 15, 21, 31 and 51 by rows without holes that trees have not
        seen: 15, unless another number is better there by more than a standard error. It is 15 as
        well if fewer than 100 rows, and fewer than half of them, are without holes.
    n_trees : int, default=100
    min_samples_leaf : int, default=3
        The least number of rows in a leaf.
    max_features : "sqrt", "log2", int, float or None, default="sqrt"
        How many features are looked at for a split.
    n_worlds : int, default=10
        How many worlds the trees are divided among; each tree learns from one.
    repairs, prior, kinds, null_tokens, max_exact, n_draws
        As in `IncompleteTable`.
    column_weights : dict from column name to 0 or 1, optional
        0 leaves a column out.
    completions, max_completions
        As in `CertainKNeighborsClassifier`.
    random_state : int, default=0
        The seed of worlds, trees, draws and the order of rows.
    n_jobs : int, optional
        Threads for learning and predictions; -1 for all processors. Results do not depend on it.

    Attributes
    ----------
    n_neighbors_ : int
        How many neighbours vote.
    neighbors_accuracy_ : dict from int to float
        With "auto", the accuracy of each number of neighbours on rows without holes that trees have
        not seen; empty if too few rows are.
    trees_ : Trees
        The forest as plain arrays.

    Notes
    -----
    The other attributes are those of `CertainKNeighborsClassifier`.

    Categories have no order of their own: each tree sees a random one. Of a table with more than
    50,000 rows, each world has a sample. A hole in a point is completed as usual.

    Distances are small whole numbers, so many rows are equally near, and those that come first
    vote. The rows of X are brought into a random order for that, by `random_state`: X may be sorted
    by its label. An `IncompleteTable` is taken as it is; see `IncompleteTable.shuffled`.

    Examples
    --------
    >>> import pandas as pd
    >>> from cpclean import CertainForestClassifier
    >>> X = pd.DataFrame({"size": [*range(20), None, None], "hue": ["red", "blue"] * 11})
    >>> y = [size >= 10 for size in range(22)]
    >>> model = CertainForestClassifier(n_neighbors=3, n_trees=20).fit(X, y)
    >>> model.predict(pd.DataFrame({"size": [1.5, 18.0], "hue": ["red", None]})).tolist()
    [False, True]
    >>> model.is_certain(pd.DataFrame({"size": [1.5], "hue": ["red"]})).tolist()
    [True]
    """

    metric = "hamming"
    scaling = "none"

    def __init__(
        self,
        n_neighbors: int | str = "auto",
        n_trees: int = 100,
        min_samples_leaf: int = 3,
        max_features: str | int | float | None = "sqrt",
        n_worlds: int = N_WORLDS,
        repairs: Any = "default",
        prior: Any = "label",
        *,
        kinds: Mapping[str, str] | None = None,
        column_weights: Mapping[str, float] | None = None,
        completions: Any = "observed",
        max_completions: int = MAX_COMPLETIONS,
        null_tokens: Iterable[str] = (),
        max_exact: int | None = None,
        n_draws: int | None = None,
        random_state: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.n_trees = n_trees
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.n_worlds = n_worlds
        self.repairs = repairs
        self.prior = prior
        self.kinds = kinds
        self.column_weights = column_weights
        self.completions = completions
        self.max_completions = max_completions
        self.null_tokens = null_tokens
        self.max_exact = max_exact
        self.n_draws = n_draws
        self.random_state = random_state
        self.n_jobs = n_jobs

    @property
    def trees_(self) -> Trees:
        """The forest as plain arrays."""
        trees = self.dataset_.space
        assert isinstance(trees, Trees)
        return trees

    def _chosen_space(self) -> LeafSpace:
        return _WatchedSpace(
            "forest",
            self.n_trees,
            self.min_samples_leaf,
            self.max_features,
            self.n_worlds,
            n_jobs=self.n_jobs,
        )

    def _chosen_number(self, space: Any) -> Any:
        if not isinstance(self.dataset_.space, Trees):
            raise QueryError(
                "CertainForestClassifier needs data among leaves; got data without trees. Build "
                'the table with space="forest", or use CertainKNeighborsClassifier.',
                field="space",
            )
        if not isinstance(self.n_neighbors, str):
            return self.n_neighbors
        if self.n_neighbors != "auto":
            raise QueryError(
                f'n_neighbors must be an int or "auto"; got {self.n_neighbors!r}.',
                field="n_neighbors",
            )
        data = self.dataset_
        self.neighbors_accuracy_: dict[int, float] = {}
        if not isinstance(space, _WatchedSpace) or not space.seen:
            n_rows = data.n_rows if data.whole is None else data.whole.n_rows
            return best_number({}, n_rows)  # the table was there before
        found = accuracies(data, space.seen[0], seed=data.drawing.seed)
        self.neighbors_accuracy_ = {number: float(one.mean()) for number, one in found.items()}
        return best_number(found, data.n_rows)


@dataclass(frozen=True)
class _WatchedSpace(LeafSpace):
    """A space that keeps which rows its trees have seen."""

    seen: list[Bools] = field(default_factory=list, compare=False)

    @property
    def stated(self) -> LeafSpace:
        """Without what was seen, which the table has no use for."""
        return LeafSpace(**{one.name: getattr(self, one.name) for one in fields(LeafSpace)})

    def trees(self, data: IncompleteDataset, features: TreeSpace, seed: int) -> Trees:
        learnt = self.with_bags(data, features, seed)
        assert learnt is not None
        self.seen.append(learnt.in_bag)
        return learnt.trees
