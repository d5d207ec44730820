"""Trees that are learnt from an incomplete dataset, and trees that nothing is learnt for.

A forest sees worlds, drawn with the prior: what it takes for likely is what the prior says about
the holes. Random trees see observed values only, neither labels nor anything that fills a hole; so
what is certain in their leaves does not depend on how anything was filled.

Either is bounded: of a large table, a stated number of rows takes part.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.data.incomplete import IncompleteDataset
from cpclean.data.rows import Bools, Ints, is_whole
from cpclean.data.spaces import _tree_kernels
from cpclean.data.spaces.tree_arrays import nodes_of
from cpclean.data.spaces.trees import Trees, single
from cpclean.data.spaces.world_rows import Worlds, by_chance, observed_features
from cpclean.data.threads import in_threads, n_threads
from cpclean.errors import DataError

KINDS_OF_FOREST = ("forest", "extra")
HOLES = ("drawn", "open")

# Rows of a world: a hundred trees of ten columns take about 20 seconds on one core.
MAX_ROWS = 50_000
# Worlds that the trees of a forest are divided among.
N_WORLDS = 10
# From so many rows of a world on, threads save more time than they wait for each other.
ROWS_FOR_THREADS = 1_500


@dataclass(frozen=True, eq=False)
class LearntForest:
    """Trees, and which rows each of them has seen.

    Parameters
    ----------
    trees : Trees
    in_bag : ndarray of bool, shape (n_rows, n_trees)
        Whether a row was among those that the tree was fitted to. Where it was not, the leaf of the
        row says how the tree does on rows that it has not seen.
    """

    trees: Trees
    in_bag: Bools


def learn_forest(
    data: IncompleteDataset,
    *,
    n_trees: int = 100,
    min_samples_leaf: int = 3,
    max_features: str | int | float | None = "sqrt",
    n_worlds: int = N_WORLDS,
    holes: str = "drawn",
    random_state: int = 0,
    max_rows: int = MAX_ROWS,
    views: Sequence[Ints] | None = None,
    kind: str = "forest",
    n_jobs: int | None = None,
) -> Trees:
    """The trees of a forest, fitted to worlds drawn with the prior.

    Parameters
    ----------
    data : IncompleteDataset
        With rows of at least two classes; what is known of its rows by now counts.
    n_trees : int
    min_samples_leaf : int
        The least number of rows in a leaf.
    max_features : "sqrt", "log2", int, float or None
        How many features are looked at for a split; a float is a share of them, None means all.
    n_worlds : int
        How many worlds are drawn; each is learnt from by as many trees as the others.
    holes : "drawn" or "open"
        "open": nothing is drawn; holes are missing values to the trees as they grow, and splits are
        chosen by what is observed. So the trees see labels, but nothing that fills a hole.
    random_state : int
        In [0, 2**32). Draws depend on it, on the row and on the column alone.
    max_rows : int
        The number of rows of a world at most. Beyond it, each world has a sample of the rows, as
        different from those of the others as possible: with the same shares of the classes, and by
        random numbers that depend on `random_state` and the row.
    views : sequence of arrays of int, optional
        Features that trees may look at: those of the first world at the features in the first
        view, and so on, then from the first view again. By default at all.
    kind : "forest" or "extra"
        A random forest, or extremely randomised trees, which see all rows of their world.
    n_jobs : int, optional
        The number of threads; None means one, -1 all processors. The trees are the same. Fewer
        than 1,500 rows are learnt from in one.

    Notes
    -----
    Each cell is drawn by itself, as its prior is, so the number of a row's holes does not matter.
    Trees of one fit to all worlds together would meet nearly every row in some world, and bagging,
    which lives from the rows that a tree does not see, would hardly work.

    Cost: n log n for n rows of a world, at most `max_rows`, times trees and features looked at.

    Examples
    --------
    >>> rows = [[[float(x)], [x + 0.5]] for x in range(20)]
    >>> data = IncompleteDataset(rows, [x >= 10 for x in range(20)])
    >>> learn_forest(data, n_trees=3)
    Trees(3 trees, ... nodes, 1 features)
    """
    forests = _forests(
        data, n_trees, min_samples_leaf, max_features, n_worlds, holes, random_state, max_rows,
        views, kind, n_jobs,
    )  # fmt: skip
    nodes = [one for forest, _, columns in forests for one in nodes_of(forest, columns)]
    return Trees.joined(nodes, data.n_features)


def learn_with_bags(data: IncompleteDataset, **options: Any) -> LearntForest:
    """The same, with what each tree has seen; that takes a byte per row and tree.

    Parameters
    ----------
    data : IncompleteDataset
    **options
        As in `learn_forest`.
    """
    settings = {**(learn_forest.__kwdefaults__ or {}), **options}  # defaults stand there only
    nodes: list[tuple[npt.NDArray[Any], ...]] = []
    bags: list[Bools] = []
    for forest, rows, columns in _forests(data, **settings):
        for bag in forest.estimators_samples_:
            seen = np.zeros(data.n_rows, dtype=bool)
            seen[rows[bag]] = True
            bags.append(seen)
        nodes += nodes_of(forest, columns)
    return LearntForest(Trees.joined(nodes, data.n_features), np.stack(bags, axis=1))


def _forests(
    data: IncompleteDataset,
    n_trees: int,
    min_samples_leaf: int,
    max_features: str | int | float | None,
    n_worlds: int,
    holes: str,
    random_state: int,
    max_rows: int,
    views: Sequence[Ints] | None,
    kind: str,
    n_jobs: int | None,
) -> Iterator[tuple[Any, Ints, Ints]]:
    """A fitted forest for each world, with the rows and the columns that it was fitted to."""
    numbers = {"n_trees": n_trees, "min_samples_leaf": min_samples_leaf, "n_worlds": n_worlds}
    for name, given in numbers.items():
        _check_whole(name, given, 1)
    _check_whole("random_state", random_state, 0, 2**32 - 1)
    seen = _checked_views(views, data.n_features)
    _check_max_features(max_features, min(map(len, seen)))
    _check_named("kind", kind, KINDS_OF_FOREST)
    _check_named("holes", holes, HOLES)
    present = np.unique(data.codes)
    if len(present) < 2:
        raise DataError(
            "a forest is learnt from rows of at least two classes; all "
            f"{data.n_rows} rows have the label {data.classes[present[0]]!r}. "
            'space="plain" and space="random" take such rows, too.'
        )
    _check_whole("max_rows", max_rows, len(present))
    size = min(data.n_rows, int(max_rows))
    if size < 2 * min_samples_leaf:
        raise DataError(
            f"min_samples_leaf={min_samples_leaf} needs {2 * min_samples_leaf} rows or more, or no "
            f"tree has a split; got {size}.",
            field="min_samples_leaf",
        )
    from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

    model = RandomForestClassifier if kind == "forest" else ExtraTreesClassifier
    threads = n_threads(n_jobs)
    if size < ROWS_FOR_THREADS:
        threads = 1
    used = min(int(n_worlds), int(n_trees))
    worlds = Worlds(data, used, size, int(random_state), is_open=holes == "open")
    seeds = np.random.SeedSequence(int(random_state)).generate_state(used).tolist()
    for number, seed in enumerate(seeds):
        columns = seen[number % len(seen)]
        rows, X = worlds.world(number, columns)
        forest = model(
            n_trees // used + (number < n_trees % used),
            min_samples_leaf=int(min_samples_leaf),
            max_features=max_features,
            random_state=seed,
            n_jobs=threads,
        )
        with np.errstate(over="ignore", invalid="ignore"):  # a first check sums up all values
            forest.fit(X, data.codes[rows])
        yield forest, rows, columns


def random_trees(
    data: IncompleteDataset,
    *,
    n_trees: int = 200,
    min_samples_leaf: int = 10,
    max_depth: int = 30,
    random_state: int = 0,
    max_rows: int = MAX_ROWS,
    views: Sequence[Ints] | None = None,
    n_jobs: int | None = None,
) -> Trees:
    """Trees of random splits, which look at no label and at nothing that fills a hole.

    Parameters
    ----------
    data : IncompleteDataset
        Only what its rows have in columns without a cell is looked at.
    n_trees : int
    min_samples_leaf : int
        The least number of rows in a leaf; a row that is not observed in the column of a split
        goes to a random side of it.
    max_depth : int
    random_state : int
        In [0, 2**32).
    max_rows : int
        Of more rows, a sample of this size is looked at.
    views : sequence of arrays of int, optional
        Features that the first tree may look at, the second, and so on, then again from the first
        view. By default all.
    n_jobs : int, optional
        The number of threads; None means one, -1 all processors. The trees are the same.

    Notes
    -----
    A split takes a random feature, and the middle between the values of two random rows of the
    node: so thresholds are dense where values are. Cost: rows times depth for each tree.

    A column that is not observed in any row has no splits. A hole with a single candidate has no
    cell and counts as observed.
    """
    for name, given in {"n_trees": n_trees, "max_depth": max_depth, "max_rows": max_rows}.items():
        _check_whole(name, given, 1)
    _check_whole("min_samples_leaf", min_samples_leaf, 1)
    _check_whole("random_state", random_state, 0, 2**32 - 1)
    seen = _checked_views(views, data.n_features)
    rows = np.arange(data.n_rows)
    if data.n_rows > max_rows:
        rows = np.sort(by_chance(data, int(random_state), np.zeros_like(data.codes))[:max_rows])
    X = single(data.arrays.base[rows])
    observed = observed_features(data.arrays.take(rows))
    holes = ~observed.all(axis=0)
    states = np.random.SeedSequence(int(random_state)).generate_state(int(n_trees))
    seeds = (1 + states.astype(np.int64) % (2**31 - 2)).tolist()
    depth = min(int(max_depth), len(rows))

    def work(tree: int) -> tuple[npt.NDArray[Any], ...]:
        grown: tuple[npt.NDArray[Any], ...] = _tree_kernels.random_tree(
            X, observed, holes, seen[tree % len(seen)], int(min_samples_leaf), depth, seeds[tree]
        )
        return grown

    return Trees.joined(in_threads(work, range(int(n_trees)), n_jobs), data.n_features)


# -- checks ----------------------------------------------------------------------------------------


def _check_whole(name: str, given: Any, least: int, most: int | None = None) -> None:
    if not is_whole(given) or given < least or (most is not None and given > most):
        range_ = f"of at least {least}" if most is None else f"in [{least}, {most}]"
        raise DataError(f"{name} must be an int {range_}; got {given!r}.", field=name)


def _check_named(name: str, given: Any, known: tuple[str, ...]) -> None:
    if not isinstance(given, str) or given not in known:
        raise DataError(
            f"{name} must be one of {', '.join(map(repr, known))}; got {given!r}.", field=name
        )


def _checked_views(views: Any, n_features: int) -> list[Ints]:
    if views is None:
        return [np.arange(n_features)]
    found = [np.array(view) for view in views]
    for view in found:
        whole = view.ndim == 1 and len(view) and view.dtype.kind in "iu"
        if not whole or view.min() < 0 or view.max() >= n_features:
            raise DataError(
                f"each of the views must list features in [0, {n_features - 1}]; got {view!r}.",
                field="views",
            )
    if not found:
        raise DataError("views must have at least one view; got none.", field="views")
    return [view.astype(np.int64) for view in found]


def _check_max_features(given: Any, n_features: int) -> None:
    if given is None or (isinstance(given, str) and given in ("sqrt", "log2")):
        return
    whole = is_whole(given) and 1 <= given <= n_features
    share = isinstance(given, float | np.floating) and 0.0 < given <= 1.0
    if not (whole or share):
        raise DataError(
            f'max_features must be "sqrt", "log2", None, an int in [1, {n_features}] or a float in '
            f"(0, 1]; got {given!r}.",
            field="max_features",
        )
