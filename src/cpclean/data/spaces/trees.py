"""Trees as plain arrays: no pickles, and no dependence on the version of any library.

A tree sends a vector from its root to a leaf; many trees turn it into a vector of leaf numbers.
Here they are only followed. `learning` grows them, and any fitted forest of scikit-learn can be
read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.data.row_arrays import RowArrays, distinct
from cpclean.data.rows import Floats, Ints, as_floats, check_finite, is_whole
from cpclean.data.spaces import _tree_kernels
from cpclean.data.spaces.tree_arrays import Int32s, TreeArrays, check_trees, checked_array, nodes_of
from cpclean.data.threads import in_threads
from cpclean.errors import DataError, offenders

# Leaves are uint16 where every tree has few enough nodes, int32 otherwise.
Leaves = npt.NDArray[np.uint16 | np.int32]

# Trees with more nodes have numbers of 32 bits.
_MOST_SHORT = 2**16
# Rows that are sent through all trees at a time.
_BLOCK = 4096
_BLOCK_OF_ROWS = 256
_FLOAT32 = float(np.finfo(np.float32).max)
_DTYPES = {
    "root": np.int32,
    "feature": np.int32,
    "threshold": np.float64,
    "left": np.int32,
    "right": np.int32,
}


@dataclass(frozen=True, eq=False)
class ReachableLeaves:
    """The leaves that rows may reach: of row i in tree t those from number i * n_trees + t on.

    Parameters
    ----------
    ptr : ndarray of int, shape (n_rows * n_trees + 1,)
        Where the leaves of each row and tree begin in `leaves`, at least one each.
    leaves : ndarray of uint16 or int32
        Node numbers within the tree, ascending.
    n_trees : int
    """

    ptr: Ints
    leaves: Leaves
    n_trees: int

    @property
    def sizes(self) -> Ints:
        """How many leaves each row may reach in each tree, shape (n_rows, n_trees).

        Where it is one, the row must reach it.
        """
        return np.diff(self.ptr).reshape(-1, self.n_trees)

    def of(self, row: int, tree: int) -> Leaves:
        """The leaves of one row in one tree."""
        at = row * self.n_trees + tree
        return self.leaves[self.ptr[at] : self.ptr[at + 1]]


@dataclass(frozen=True, eq=False, repr=False)
class Trees:
    """Binary trees over vectors, one behind the other in a few arrays.

    The nodes of tree t are ``root[t]`` to ``root[t + 1] - 1``, and the first of them is its root.
    At a node with a feature, a vector goes left if its value is at most the threshold, and right
    otherwise.

    Parameters
    ----------
    root : array of int32, shape (n_trees + 1,)
        Where each tree begins, and the number of all nodes at the end.
    feature : array of int32, shape (nodes,)
        What a node looks at; -1 at a leaf.
    threshold : array of float64, shape (nodes,)
    left, right : arrays of int32, shape (nodes,)
        The children, counted from the tree's first node, each behind its parent; -1 at a leaf.
    n_features : int
        The length of the vectors.

    Attributes
    ----------
    n_trees : int
    n_nodes : ndarray of int, shape (n_trees,)
        The number of nodes of each tree.
    digest : str
        The same for the same trees on any machine.

    Notes
    -----
    Vectors are rounded to float32 before they are compared, as scikit-learn does it, so that leaves
    are the same bit for bit. Values beyond the range of float32 count as its ends, +-3.4e38.

    Examples
    --------
    >>> trees = Trees([0, 3], [1, -1, -1], [0.5, 0, 0], [1, -1, -1], [2, -1, -1], n_features=2)
    >>> trees.apply([[9.0, 0.5], [9.0, 0.6]]).tolist()
    [[1], [2]]
    """

    root: Int32s
    feature: Int32s
    threshold: Floats
    left: Int32s
    right: Int32s
    n_features: int

    def __post_init__(self) -> None:
        for name, dtype in _DTYPES.items():
            array = checked_array(getattr(self, name), name, dtype)
            array.flags.writeable = False  # also: one kind of array for the kernels
            object.__setattr__(self, name, array)
        if not is_whole(self.n_features) or not 1 <= self.n_features < 2**31:
            raise DataError(f"n_features must be an int of at least 1; got {self.n_features!r}.")
        object.__setattr__(self, "n_features", int(self.n_features))
        check_trees(TreeArrays(*(getattr(self, name) for name in _DTYPES)), self.n_features)

    def __reduce__(self) -> Any:  # copies and pickles have read-only arrays too
        return Trees, tuple(getattr(self, field.name) for field in fields(self))

    def __repr__(self) -> str:
        return f"Trees({self.n_trees} trees, {len(self.feature)} nodes, {self.n_features} features)"

    @property
    def n_trees(self) -> int:
        return len(self.root) - 1

    @cached_property
    def n_nodes(self) -> Ints:
        return np.diff(self.root).astype(np.int64)

    @property
    def leaf_type(self) -> type[np.uint16] | type[np.int32]:
        """The type of leaf numbers: uint16 if all trees have at most 65,536 nodes, else int32."""
        return np.uint16 if self.n_nodes.max() <= _MOST_SHORT else np.int32

    @cached_property
    def digest(self) -> str:
        found = hashlib.sha256()
        for name, array in self.to_arrays().items():
            little = array.astype(array.dtype.newbyteorder("<"))
            found.update(f"{name} {little.dtype.str} {little.shape}\n".encode())
            found.update(little.tobytes())
        return found.hexdigest()

    # -- following -----------------------------------------------------------------------

    def apply(self, X: npt.ArrayLike, n_jobs: int | None = None) -> Leaves:
        """The leaf of every row in every tree: O(depth) steps each.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Finite numbers.
        n_jobs : int, optional
            The number of threads; None means one, -1 all processors. The result is the same.

        Returns
        -------
        ndarray of shape (n, n_trees)
            Node numbers within each tree, of `leaf_type`. Those of scikit-learn's `apply`, if the
            trees come from there.
        """
        vectors = self._checked_vectors(X)
        leaves = np.empty((len(vectors), self.n_trees), dtype=self.leaf_type)
        nodes, thresholds = self._packed

        def work(at: int) -> None:
            some = slice(at, at + _BLOCK)
            part = single(vectors[some])
            _tree_kernels.leaves_of(self.root, nodes, thresholds, part, leaves[some])

        in_threads(work, range(0, len(vectors), _BLOCK), n_jobs)
        return leaves

    def reachable(self, rows: RowArrays, n_jobs: int | None = None) -> ReachableLeaves:
        """The leaves that each row may reach in each tree, whatever its holes are.

        Parameters
        ----------
        rows : RowArrays
            Such as the rows of a dataset with more than one candidate; of a row without cells one
            would learn no more than by `apply`.
        n_jobs : int, optional
            As in `apply`.

        Notes
        -----
        The candidates of a row are a product of its cells' values, and a tree looks at one feature
        at a time. So each tree is followed once with a set of values per cell: the leaves are
        exactly those of all combinations, none of which is written out. Cost per row and tree: at
        most the nodes of the tree, times the values of a cell that covers several features, or the
        logarithm of their number if it covers one.
        """
        self._check_width(rows.base.shape[1], "the rows")
        values = _ascending_values(rows)
        spans = np.stack([rows.first_cell, rows.n_cells], axis=1)
        cells = np.stack([rows.cell_start, rows.cell_stop, rows.cell_size, rows.values_at], axis=1)

        def work(at: int) -> tuple[Ints, npt.NDArray[np.int32]]:
            base = single(rows.base[at : at + _BLOCK_OF_ROWS])
            sizes = np.empty((len(base), self.n_trees), dtype=np.int64)
            own = spans[at : at + _BLOCK_OF_ROWS]
            leaves = _tree_kernels.reachable(
                self.root, *self._nodes, base, own, cells, values, sizes
            )
            return sizes.ravel(), _in_order(sizes.ravel(), leaves)

        found = in_threads(work, range(0, len(rows.base), _BLOCK_OF_ROWS), n_jobs)
        sizes = np.concatenate([np.zeros(1, dtype=np.int64), *(sizes for sizes, _ in found)])
        leaves = [np.zeros(0, dtype=self.leaf_type), *(leaves for _, leaves in found)]
        return ReachableLeaves(
            np.cumsum(sizes),
            np.concatenate(leaves, dtype=self.leaf_type, casting="unsafe"),
            self.n_trees,
        )

    @property
    def _nodes(self) -> tuple[Int32s, Floats, Int32s, Int32s]:
        return self.feature, self.threshold, self.left, self.right

    @cached_property
    def _packed(self) -> tuple[Int32s, npt.NDArray[np.float32]]:
        """Each node as four numbers side by side, and the same memory read as float32.

        A float32 is at most a threshold exactly if it is at most the next float32 below.
        """
        nodes = np.empty((len(self.feature), 4), dtype=np.int32)
        thresholds = nodes.view(np.float32)
        nodes[:, _tree_kernels.FEATURE] = self.feature
        nodes[:, _tree_kernels.LEFT] = self.left
        nodes[:, _tree_kernels.RIGHT] = self.right
        nearest = single(self.threshold)
        with np.errstate(over="ignore"):  # below the lowest one is minus infinity
            below = np.nextafter(nearest, np.float32(-np.inf))
        thresholds[:, _tree_kernels.THRESHOLD] = np.where(nearest > self.threshold, below, nearest)
        for array in (nodes, thresholds):
            array.flags.writeable = False
        return nodes, thresholds

    def _checked_vectors(self, X: npt.ArrayLike) -> Floats:
        vectors = as_floats(X, "X")
        if vectors.ndim != 2:
            raise DataError(
                f"X must have two dimensions, one row per vector; got shape {vectors.shape}. "
                "For a single vector use X.reshape(1, -1)."
            )
        self._check_width(vectors.shape[1], "X")
        check_finite(vectors, "X")
        return vectors

    def _check_width(self, width: int, what: str) -> None:
        if width != self.n_features:
            raise DataError(
                f"{what} must have {self.n_features} columns, as many features as the trees were "
                f"made for; got {width}."
            )

    # -- other forms ---------------------------------------------------------------------

    def to_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """All that the trees consist of, as plain arrays to be stored."""
        arrays: dict[str, npt.NDArray[Any]] = {name: getattr(self, name) for name in _DTYPES}
        return {**arrays, "n_features": np.array([self.n_features], dtype=np.int64)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.ArrayLike]) -> Trees:
        """The trees that were stored; arrays that do not make up trees are refused.

        Parameters
        ----------
        arrays : mapping
            As `to_arrays` returns them.

        Examples
        --------
        >>> trees = Trees([0, 1], [-1], [0.0], [-1], [-1], n_features=2)
        >>> Trees.from_arrays(trees.to_arrays()).digest == trees.digest
        True
        """
        wanted = (*_DTYPES, "n_features")
        if missing := [name for name in wanted if name not in arrays]:
            raise DataError(
                f"stored trees need arrays named {', '.join(wanted)}; "
                f"{offenders(missing)} is missing."
            )
        width = checked_array(arrays["n_features"], "n_features", np.int64)
        if len(width) != 1:
            raise DataError(f"n_features must be one number; got {len(width)}.")
        given: dict[str, Any] = {name: arrays[name] for name in _DTYPES}
        return cls(**given, n_features=int(width[0]))

    @classmethod
    def from_forest(cls, fitted: Any) -> Trees:
        """The trees of a fitted scikit-learn forest or tree, with the same node numbers.

        Parameters
        ----------
        fitted : object with `tree_` or `estimators_`
            A random forest, extremely randomised trees, a single tree, bagged trees, or gradient
            boosting (not its histogram kind), all its trees in the order of `estimators_`.
        """
        return cls.joined(nodes_of(fitted), int(fitted.n_features_in_))

    @classmethod
    def joined(cls, trees: Sequence[tuple[npt.NDArray[Any], ...]], n_features: int) -> Trees:
        """Single trees one behind the other; each as feature, threshold, left and right."""
        ends: Any = np.cumsum([0, *(len(feature) for feature, *_ in trees)])
        feature, threshold, left, right = map(np.concatenate, zip(*trees, strict=True))
        return cls(ends, feature, threshold, left, right, n_features)


def single(X: Floats) -> npt.NDArray[np.float32]:
    """Numbers as trees see them: the nearest float32, its ends for what is beyond its range."""
    return np.clip(X, -_FLOAT32, _FLOAT32).astype(np.float32, order="C")


def _ascending_values(rows: RowArrays) -> npt.NDArray[np.float32]:
    """The values of all cells as trees see them, ascending in cells of one column."""
    values = single(rows.values)
    (narrow,) = np.nonzero(rows.cell_stop - rows.cell_start == 1)
    at, first, _ = distinct(rows.values_at[narrow])
    sizes = rows.cell_size[narrow[first]]
    for size in np.unique(sizes).tolist():
        own = at[sizes == size][:, None] + np.arange(size)
        values[own] = np.sort(values[own], axis=1)
    return values


def _in_order(sizes: Ints, leaves: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """Runs of leaves, each in ascending order; trees that were grown leaf by leaf have others."""
    falls = leaves[1:] < leaves[:-1]
    falls[np.cumsum(sizes)[:-1] - 1] = False  # from one run to the next
    if not falls.any():
        return leaves
    return leaves[np.lexsort((leaves, np.repeat(np.arange(len(sizes)), sizes)))]
