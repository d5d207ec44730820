"""The paper's algorithms under the paper's names, in plain Python with exact integers.

They are meant to be read beside the paper ("Nearest Neighbor Classifiers over Incomplete
Information: From Certain Answers to Certain Predictions"), and to check the compiled engine, with
which they share no code, not even distances. Rows may have different numbers of candidates; the
paper assumes that all rows have the same number. Priors play no part: worlds are counted.

1. `brute_force`  section 2: write out every world
2. `mm`           section 3.2, Algorithm MM: one extreme world per label (two classes, Q1)
3. `ss_k1`        section 3.1.2: the scan for K = 1
4. `ss`           section 3.1.3, Algorithm SS: scan, dynamic program, tallies
5. `ss_dc`        appendix A.2, Algorithm SS-DC: the dynamic program in trees
6. `ss_dc_mc`     appendix A.3, Algorithm SS-DC-MC: capped products instead of tallies

All follow one tie rule: at equal distance the smaller row index is nearer, and at equal votes the
smaller class wins. The printed text has slips that give wrong counts when it is followed to the
letter; every docstring names those that its function corrects, with the numbers of
docs/how/corrections.md.

In the functions below, `alpha[n]` is the paper's similarity tally: how many candidates of row n
the scan has passed. The scan goes from far to near, so these are the candidates that are *not*
nearer than the boundary, the candidate in K-th place.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.data.incomplete import IncompleteDataset
from cpclean.data.rows import Floats, as_floats
from cpclean.errors import DataError, QueryError, offenders

__all__ = ["brute_force", "mm", "ss", "ss_dc", "ss_dc_mc", "ss_k1"]

Metric = str | Callable[[Floats, Floats], float]
METRICS = ("euclidean", "manhattan", "chebyshev", "cosine", "linear", "rbf", "hamming")


def brute_force(
    data: IncompleteDataset, x: npt.ArrayLike, n_neighbors: int = 3, metric: Metric = "euclidean"
) -> tuple[int, ...]:
    """Count the worlds that predict each class by writing out every world (Q2).

    This is the definition in section 2 of the paper. It takes time in proportion to
    `data.n_worlds`. The paper does not say which label wins a tied vote; here, as everywhere in
    cpclean, it is the smaller class.

    Parameters
    ----------
    data : IncompleteDataset
    x : array-like of shape (n_features,)
        The query point.
    n_neighbors : int
        K, from 1 to the number of rows.
    metric : str or callable
        "euclidean", "manhattan", "chebyshev", "cosine", "linear" (a larger dot product is
        nearer), "rbf" (the order of "euclidean"), "hamming" (the number of features that differ),
        or a function (candidate, x) -> distance.

    Returns
    -------
    tuple of n_classes ints

    Examples
    --------
    >>> data = IncompleteDataset([[[1.0], [5.0]], [[2.0]], [[3.0], [4.0], [9.0]]], [0, 1, 0])
    >>> brute_force(data, [0.0], n_neighbors=1)  # row 0 is nearest in half of the six worlds
    (3, 3)
    """
    asked = _ask(data, x, n_neighbors, metric)
    counts = [0] * asked.n_classes
    for world in product(*asked.distances):
        counts[_prediction(asked, world)] += 1
    return tuple(counts)


def mm(
    data: IncompleteDataset, x: npt.ArrayLike, n_neighbors: int = 3, metric: Metric = "euclidean"
) -> tuple[bool, ...]:
    """For each class, whether every world predicts it (Q1), from one extreme world per label.

    Section 3.2 and appendix B, Algorithm MM. In the extreme world of label l, the rows of label l
    are at their nearest candidate and all others at their farthest. With two classes, some world
    predicts l if and only if this one does.

    Corrected: Algorithm MM as printed returns "l is possible"; Q1(l) also requires that no other
    label is possible (slip 6). Appendix B has the second condition as "E_l' does not predict l"; it
    must read "does not predict l'" (slip 7). With a third class, moving a row of another label away
    can let in the row that tips the vote, so the rule is not exact, and data with more than two
    classes is refused (slip 9).

    Parameters are those of `brute_force`; the result is a tuple of n_classes bools.

    Examples
    --------
    >>> data = IncompleteDataset([[[1.0], [5.0]], [[2.0]], [[3.0], [4.0], [9.0]]], [0, 1, 0])
    >>> mm(data, [0.0], n_neighbors=1)
    (False, False)
    >>> mm(data, [0.0], n_neighbors=3)
    (True, False)
    """
    asked = _ask(data, x, n_neighbors, metric)
    if asked.n_classes > 2:
        raise QueryError(
            f"mm is exact for at most two classes; the data has {asked.n_classes}. In an extreme "
            "world a third label can win instead, so mm could call a label impossible that is "
            "possible. Use possible_labels or is_certain, which are exact for any number of "
            "classes."
        )
    possible = []
    for label in range(asked.n_classes):
        extreme = tuple(
            min(row) if code == label else max(row)
            for row, code in zip(asked.distances, asked.codes, strict=True)
        )
        possible.append(_prediction(asked, extreme) == label)
    return tuple(possible[label] and sum(possible) == 1 for label in range(asked.n_classes))


def ss_k1(
    data: IncompleteDataset, x: npt.ArrayLike, metric: Metric = "euclidean"
) -> tuple[int, ...]:
    """Count the worlds that predict each class for K = 1, with one running product (Q2).

    Section 3.1.2. A candidate is the nearest in prod(alpha[n] for rows n other than its own)
    worlds. Scanning from far to near changes one factor at a time. The paper has two classes; the
    sum is right for any number.

    Corrected: the update of alpha (the section's first equation for it) adds 1 for the row of the
    *previous* candidate, although alpha is defined to include the current one; as in line 5 of
    Algorithm SS, it must be the current row's (slip 11). The text does not mention that the product
    cannot be updated by division while some row has alpha 0, so zeros are counted separately.

    Parameters and result are those of `brute_force`, without `n_neighbors`.

    Examples
    --------
    >>> data = IncompleteDataset([[[1.0], [5.0]], [[2.0]], [[3.0], [4.0], [9.0]]], [0, 1, 0])
    >>> ss_k1(data, [0.0])
    (3, 3)
    """
    asked = _ask(data, x, 1, metric)
    counts = [0] * asked.n_classes
    alpha = [0] * len(asked.codes)
    zeros, others = len(alpha), 1  # how many alphas are 0, and the product of those that are not
    for i in _far_to_near(asked):
        if alpha[i]:
            others //= alpha[i]  # exact: alpha[i] is one of the factors
        else:
            zeros -= 1
        if zeros == 0:
            counts[asked.codes[i]] += others
        alpha[i] += 1
        others *= alpha[i]
    return tuple(counts)


def ss(
    data: IncompleteDataset, x: npt.ArrayLike, n_neighbors: int = 3, metric: Metric = "euclidean"
) -> tuple[int, ...]:
    """Count the worlds that predict each class: scan, dynamic program, tallies (Q2).

    Section 3.1.3 and appendix A, Algorithm SS. Every candidate in turn is the boundary, that is
    the K-th nearest. C[l][c] counts the ways in which c rows of label l are in the top K; the
    support of a label tally is a product of these.

    Corrected: the dynamic program starts from C(0, 0) = 1 and C(c, 0) = 0 for c > 0, since there is
    one way to choose none of no rows, and no way to choose more; the text has C(c, 0) = 1
    (slip 1).

    Parameters and result are those of `brute_force`.

    Examples
    --------
    >>> data = IncompleteDataset([[[1.0], [5.0]], [[2.0]], [[3.0], [4.0], [9.0]]], [0, 1, 1])
    >>> ss(data, [0.0], n_neighbors=2)  # ties go to class 0, so it needs row 0 in the top 2
    (4, 2)
    """
    asked = _ask(data, x, n_neighbors, metric)
    counts = [0] * asked.n_classes
    alpha = [0] * len(asked.codes)
    for i in _far_to_near(asked):
        alpha[i] += 1
        _add_tallies(counts, _label_supports(asked, alpha, i))
    return tuple(counts)


def ss_dc(
    data: IncompleteDataset, x: npt.ArrayLike, n_neighbors: int = 3, metric: Metric = "euclidean"
) -> tuple[int, ...]:
    """Count the worlds that predict each class, with the dynamic program in trees (Q2).

    Appendix A.2, Algorithm SS-DC. One binary tree per label: a node over rows a..b holds, for every
    c, the number of ways in which c of these rows are in the top K. From one boundary to the
    next one leaf changes, and with it O(log N) ancestors.

    Corrected: the leaf of a row with another label is T(0) = 1 and T(c) = 0 for c > 0, not 1 for
    every c (slip 2). The right child of a..b covers m+1..b, not a+1..b, and an update touches
    O(log N) ancestors, not O(N) (slip 3). T(0) = alpha is the row *outside* the top K and
    T(1) = M - alpha the row inside; the reasons printed with the leaf rules (3) and (4) are swapped
    (slip 4). The text does not say that the leaf of the old boundary must go back from (0, 1) to
    its tally when the scan moves on (slip 10).

    Parameters and result are those of `brute_force`.

    Examples
    --------
    >>> data = IncompleteDataset([[[1.0], [5.0]], [[2.0]], [[3.0], [4.0], [9.0]]], [0, 1, 1])
    >>> ss_dc(data, [0.0], n_neighbors=2)
    (4, 2)
    """
    asked = _ask(data, x, n_neighbors, metric)
    counts = [0] * asked.n_classes
    for supports in _tree_scan(asked):
        _add_tallies(counts, supports)
    return tuple(counts)


def ss_dc_mc(
    data: IncompleteDataset, x: npt.ArrayLike, n_neighbors: int = 3, metric: Metric = "euclidean"
) -> tuple[int, ...]:
    """Count the worlds that predict each class without going through all tallies (Q2).

    Appendix A.3, Algorithm SS-DC-MC. Label l wins with c votes if every other label has at most
    c of the K - c remaining places, or c - 1 if it would win the tie. D counts the ways to
    fill these places under these caps, in time polynomial in the number of classes.

    Corrected: in the recurrence the inner index is k - n (the text has k - l), K - c places remain,
    not K - c - 1, and the cap is c or c - 1 by the tie rule, while a strict ">" for all labels
    loses the worlds with tied votes (slip 5). The sum is added to r[l] (slip 12), and D(j, k)
    counts *exactly* k rows of the labels from j on (slip 13).

    Parameters and result are those of `brute_force`.

    Examples
    --------
    >>> data = IncompleteDataset([[[1.0], [5.0]], [[2.0]], [[3.0], [4.0], [9.0]]], [0, 1, 2])
    >>> ss_dc_mc(data, [0.0], n_neighbors=2)
    (4, 2, 0)
    """
    asked = _ask(data, x, n_neighbors, metric)
    counts = [0] * asked.n_classes
    for supports in _tree_scan(asked):
        for label in range(asked.n_classes):
            for votes in range(1, asked.k + 1):
                if supports[label][votes]:
                    ways = _capped_ways(supports, label, votes, asked.k - votes)
                    counts[label] += supports[label][votes] * ways
    return tuple(counts)


# -- the parts the algorithms share ------------------------------------------------------


@dataclass(frozen=True)
class _Asked:
    """A checked query: a distance for every row and candidate, labels, and K."""

    distances: list[list[float]]
    codes: list[int]
    n_classes: int
    k: int


def _prediction(asked: _Asked, world: tuple[float, ...]) -> int:
    """The label that K-NN predicts in one world, given as one distance per row."""
    nearest = sorted(range(len(world)), key=lambda n: (world[n], n))[: asked.k]
    tally = [0] * asked.n_classes
    for n in nearest:
        tally[asked.codes[n]] += 1
    return _winner(tally)


def _winner(tally: list[int]) -> int:
    return tally.index(max(tally))  # the first maximum: ties go to the smaller class


def _far_to_near(asked: _Asked) -> list[int]:
    """The rows of all candidates, in order of increasing similarity."""
    places = [(far, n) for n, row in enumerate(asked.distances) for far in row]
    return [n for _, n in sorted(places, reverse=True)]


def _label_supports(asked: _Asked, alpha: list[int], boundary: int) -> list[list[int]]:
    """C[l][c] for all labels and c = 0..K, for one boundary."""
    supports = [[1] + [0] * asked.k for _ in range(asked.n_classes)]
    for n, label in enumerate(asked.codes):
        outside, inside = alpha[n], len(asked.distances[n]) - alpha[n]
        if n == boundary:
            outside, inside = 0, 1
        before = supports[label]
        supports[label] = [outside * before[0]] + [
            outside * before[c] + inside * before[c - 1] for c in range(1, asked.k + 1)
        ]
    return supports


def _tallies(n_classes: int, total: int) -> Iterator[list[int]]:
    """All label tallies that sum to `total`."""
    if n_classes == 1:
        yield [total]
        return
    for first in range(total + 1):
        for rest in _tallies(n_classes - 1, total - first):
            yield [first, *rest]


def _add_tallies(counts: list[int], supports: list[list[int]]) -> None:
    """Add the support of every tally to the label that wins it."""
    for tally in _tallies(len(supports), len(supports[0]) - 1):
        counts[_winner(tally)] += math.prod(
            support[votes] for support, votes in zip(supports, tally, strict=True)
        )


def _capped_ways(supports: list[list[int]], winner: int, votes: int, places: int) -> int:
    """D: the ways to fill `places` places with other labels while `winner` keeps the lead."""
    ways = [1] + [0] * places
    for label in reversed(range(len(supports))):
        if label == winner:
            continue
        cap = votes - 1 if label < winner else votes
        support = supports[label]
        ways = [
            sum(support[n] * ways[k - n] for n in range(min(cap, k) + 1)) for k in range(places + 1)
        ]
    return ways[places]


def _tree_scan(asked: _Asked) -> Iterator[list[list[int]]]:
    """T[l][c] over all rows, read off the roots of the trees, for every boundary in turn."""
    trees = [_Tree(asked, label) for label in range(asked.n_classes)]
    alpha = [0] * len(asked.codes)
    for i in _far_to_near(asked):
        alpha[i] += 1
        tree = trees[asked.codes[i]]
        tree.update(i, [0, 1])
        yield [each.root() for each in trees]
        tree.update(i, [alpha[i], len(asked.distances[i]) - alpha[i]])


class _Tree:
    """T of one label: for rows a..b, the ways to have 0, 1, 2, ... of them in the top K.

    A node's list ends where all further ways are 0, and never goes beyond K.
    """

    def __init__(self, asked: _Asked, label: int) -> None:
        self.k, self.last = asked.k, len(asked.codes) - 1
        self.nodes: dict[tuple[int, int], list[int]] = {}
        for n, (row, code) in enumerate(zip(asked.distances, asked.codes, strict=True)):
            self.nodes[n, n] = [0, len(row)] if code == label else [1]
        self._join(0, self.last)

    def update(self, row: int, leaf: list[int]) -> None:
        self.nodes[row, row] = leaf
        self._join(0, self.last, row)

    def root(self) -> list[int]:
        ways = self.nodes[0, self.last]
        return ways + [0] * (self.k + 1 - len(ways))

    def _join(self, a: int, b: int, changed: int | None = None) -> None:
        """Recompute the nodes below and at a..b: all of them, or one leaf's ancestors."""
        if a == b:
            return
        m = (a + b) // 2
        if changed is None or changed <= m:
            self._join(a, m, changed)
        if changed is None or changed > m:
            self._join(m + 1, b, changed)
        left, right = self.nodes[a, m], self.nodes[m + 1, b]
        ways = [0] * min(len(left) + len(right) - 1, self.k + 1)
        for c, first in enumerate(left):
            for d, second in enumerate(right[: len(ways) - c]):
                ways[c + d] += first * second
        self.nodes[a, b] = ways


# -- checks and distances ----------------------------------------------------------------


def _ask(data: IncompleteDataset, x: npt.ArrayLike, n_neighbors: Any, metric: Metric) -> _Asked:
    k = _checked_k(n_neighbors, data.n_rows)
    distances = _distances(data, _checked_point(x, data.n_features), metric)
    undefined = [row for row, far in enumerate(distances) if any(map(math.isnan, far))]
    if undefined:
        raise QueryError(
            f"metric must give a number for every candidate; got NaN in row {offenders(undefined)}."
        )
    return _Asked(distances, data.codes.tolist(), data.n_classes, k)


def _checked_k(n_neighbors: Any, n_rows: int) -> int:
    whole = isinstance(n_neighbors, (int, np.integer)) and not isinstance(n_neighbors, bool)
    if not whole or not 1 <= n_neighbors <= n_rows:
        raise QueryError(
            f"n_neighbors must be an int in [1, {n_rows}] (the number of training rows); "
            f"got {n_neighbors!r}."
        )
    return int(n_neighbors)


def _checked_point(x: npt.ArrayLike, n_features: int) -> Floats:
    try:
        point = as_floats(x, "x")
    except DataError as problem:
        raise QueryError(str(problem)) from problem
    if point.shape != (n_features,):
        raise QueryError(
            f"x must be one query point of shape ({n_features},), a value for every feature of "
            f"the training rows; got shape {point.shape}."
        )
    if not np.isfinite(point).all():
        bad = offenders(np.flatnonzero(~np.isfinite(point)).tolist())
        raise QueryError(f"x must be finite; got NaN or infinity in feature {bad}.")
    return point


def _distances(data: IncompleteDataset, point: Floats, metric: Metric) -> list[list[float]]:
    rows = [data.candidates(row) for row in range(data.n_rows)]
    if callable(metric):
        return [[float(metric(candidate, point)) for candidate in row] for row in rows]
    if metric not in METRICS:
        names = ", ".join(f'"{name}"' for name in METRICS)
        raise QueryError(f"metric must be one of {names}, or a callable; got {metric!r}.")
    t = point.tolist()
    return [[_distance(candidate, t, metric) for candidate in row.tolist()] for row in rows]


def _distance(candidate: list[float], t: list[float], metric: str) -> float:
    """Sums in feature order, so that equal vectors tie exactly."""
    gaps = [abs(a - b) for a, b in zip(candidate, t, strict=True)]
    if metric in ("euclidean", "rbf"):  # no root and no exponential: the order is the same
        return _total(gap * gap for gap in gaps)
    if metric == "manhattan":
        return _total(gaps)
    if metric == "chebyshev":
        return max(gaps)
    if metric == "hamming":
        return float(sum(a != b for a, b in zip(candidate, t, strict=True)))
    dot = _total(a * b for a, b in zip(candidate, t, strict=True))
    if metric == "linear":
        return -dot
    # The signed square of dot / |candidate| orders as the cosine does; a zero vector is at 0.
    norm = _total(a * a for a in candidate)
    return -abs(dot) * dot / norm if norm else 0.0


def _total(terms: Iterable[float]) -> float:
    """One rounding per term, as everywhere in cpclean; `sum` rounds better since Python 3.12."""
    total = 0.0
    for term in terms:
        total += term
    return total
