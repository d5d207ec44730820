"""The arrays that trees consist of: checked, and read from fitted forests."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cpclean.data.rows import Floats, Ints
from cpclean.errors import DataError, offenders

Int32s = npt.NDArray[np.int32]


class TreeArrays(NamedTuple):
    """The nodes of all trees one behind the other, as `trees.Trees` describes them."""

    root: Int32s
    feature: Int32s
    threshold: Floats
    left: Int32s
    right: Int32s


def checked_array(given: Any, name: str, dtype: type[Any]) -> npt.NDArray[Any]:
    """A copy of a vector of numbers in the type that it has here."""
    array = np.asarray(given)
    kinds = "iu" if np.issubdtype(dtype, np.integer) else "fiu"
    if array.ndim != 1 or array.dtype.kind not in kinds:
        what = "integers" if kinds == "iu" else "numbers"
        raise DataError(
            f"{name} of trees must be a vector of {what}; got {array.dtype} of shape {array.shape}."
        )
    if kinds == "iu" and len(array):
        limits = np.iinfo(dtype)
        if array.min() < limits.min or array.max() > limits.max:
            raise DataError(f"{name} of trees must fit {np.dtype(dtype)}; got {array.max()}.")
    return np.array(array, dtype=dtype)


def check_trees(trees: TreeArrays, n_features: int) -> None:
    """Refuse arrays that do not make up trees over vectors of this length."""
    _check_roots(trees)
    _check_nodes(trees, n_features)


def _check_roots(trees: TreeArrays) -> None:
    root, size = trees.root, len(trees.feature)
    if len(root) < 2 or root[0] != 0 or root[-1] != size or (np.diff(root) < 1).any():
        raise DataError(
            "root of trees must begin at 0, ascend by at least one node per tree, and end with the "
            f"number of nodes, {size}; got {np.array2string(root, threshold=6)}."
        )
    for name in ("threshold", "left", "right"):
        if len(getattr(trees, name)) != size:
            raise DataError(
                f"{name} of trees must have one entry per node, as feature has ({size}); "
                f"got {len(getattr(trees, name))}."
            )


def _check_nodes(trees: TreeArrays, n_features: int) -> None:
    """Each node but the roots has one parent, before it: one way leads there, and no cycle."""
    sizes = np.diff(trees.root)
    first, size = np.repeat(trees.root[:-1], sizes), np.repeat(sizes, sizes)
    own = np.arange(len(first)) - first
    leaf = trees.feature == -1
    _refuse(
        ~leaf & ((trees.feature < 0) | (trees.feature >= n_features)),
        trees,
        f"a feature of trees must be in [0, {n_features - 1}], or -1 at a leaf",
    )
    _refuse(~np.isfinite(trees.threshold), trees, "thresholds of trees must be finite")
    for name in ("left", "right"):
        child = getattr(trees, name)
        _refuse(leaf & (child != -1), trees, f"{name} of a leaf must be -1")
        _refuse(
            ~leaf & ((child <= own) | (child >= size)),
            trees,
            f"{name} must name a node of the same tree, behind its parent",
        )
    inner = np.flatnonzero(~leaf)
    children = np.concatenate([first[inner] + trees.left[inner], first[inner] + trees.right[inner]])
    parents = np.bincount(children, minlength=len(first))
    _refuse(parents != (own > 0), trees, "every node but the root of a tree must have one parent")


def _refuse(bad: npt.NDArray[np.bool_], trees: TreeArrays, rule: str) -> None:
    if bad.any():
        nodes = np.flatnonzero(bad)
        owner = np.searchsorted(trees.root, nodes, side="right") - 1
        places = zip(owner.tolist(), (nodes - trees.root[owner]).tolist(), strict=True)
        raise DataError(f"{rule}; broken at (tree, node) {offenders(places)}.")


# -- forests of scikit-learn -----------------------------------------------------------------------


def nodes_of(fitted: Any, columns: Ints | None = None) -> list[tuple[npt.NDArray[Any], ...]]:
    """The nodes of every tree of a fitted object, as `Trees.joined` takes them.

    Parameters
    ----------
    fitted : object with `tree_` or `estimators_`
    columns : ndarray of int, optional
        The columns of longer vectors that it was fitted to.
    """
    members, own = [fitted], None
    if not hasattr(fitted, "tree_"):
        given = np.asarray(getattr(fitted, "estimators_", []), dtype=object)
        members, own = given.ravel().tolist(), getattr(fitted, "estimators_features_", None)
    if not members or not all(hasattr(one, "tree_") for one in members):
        raise DataError(
            "trees are read from a fitted scikit-learn tree or a forest of them, with tree_ or "
            f"estimators_; got {fitted!r}."
        )
    where = np.arange(int(fitted.n_features_in_)) if columns is None else np.asarray(columns)
    each = [where] * len(members) if own is None else [where[some] for some in own]
    return [_nodes(one.tree_, some) for one, some in zip(members, each, strict=True)]


def _nodes(tree: Any, columns: Ints) -> tuple[npt.NDArray[Any], ...]:
    leaf = tree.children_left < 0
    feature = columns[np.where(leaf, 0, tree.feature)]
    # A split of what is there from what is missing is infinite; here nothing is missing.
    largest = float(np.finfo(np.float64).max)
    threshold = np.clip(np.where(leaf, 0.0, tree.threshold), -largest, largest)
    left, right = (np.where(leaf, -1, one) for one in (tree.children_left, tree.children_right))
    return np.where(leaf, -1, feature), threshold, left, right
