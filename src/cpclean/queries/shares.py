"""Q2: how much of the prior mass predicts each label, and exactly how many worlds."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.cluster.hands import Hands
from cpclean.data.incomplete import IncompleteDataset, Ints
from cpclean.data.large_counts import count_text
from cpclean.data.points import Points
from cpclean.data.row_arrays import MOST_COUNTED
from cpclean.data.rows import Floats
from cpclean.errors import QueryError, offenders
from cpclean.queries import _race, _tally, residues
from cpclean.queries.asked_tables import of_tables
from cpclean.queries.certain import possible_in_block
from cpclean.queries.geometry import ask, ask_shares
from cpclean.queries.kernel_arrays import SIZE
from cpclean.queries.model import Metric, Model, hands_for
from cpclean.queries.query import BLOCK_BYTES, Near, Neighbourhood, Query
from cpclean.queries.row_shards import among_near

# Mass that may be left out of a first scan: of two classes, and of more, where small shares are
# common. It changes a share that is _SURE times as large by less than 1e-12 of it; where a possible
# label's share is smaller, the point is scanned again, and _PART of the smallest may be left out.
_SLACK, _SLACK_OF_MANY = 1e-17, 1e-30
_SURE, _PART = 1e12, 1e-13
_TINY = 1e-290  # below, a slack would lose digits, or be 0


@of_tables
def world_shares(
    data: IncompleteDataset,
    X: Points | npt.ArrayLike,
    n_neighbors: int = 3,
    metric: Metric = "euclidean",
    *,
    n_jobs: int | None = None,
    cluster: Any = None,
) -> Floats:
    """The share of prior mass whose worlds predict each label (Q2, weighted).

    With uniform priors a share is a number of worlds divided by the number of all worlds. Rows that
    are represented by draws (see `IncompleteDataset`) make it an unbiased estimate, whose error
    `share_errors` estimates. Without them it has a relative error below 1e-10 wherever it is above
    1e-12, and in practice near 1e-14. A label that no world predicts has share 0, and a certain
    label has share 1, exactly. Ask `is_certain` whether a prediction is certain: a share may round
    to 1. For a point of several completions, shares are the mean over them, by weight. The paper's
    section 3.1 (algorithm SS) has this for uniform priors and complete points.

    Parameters
    ----------
    data : IncompleteDataset, IncompleteTable or StreamedTable
        Of a StreamedTable, the rows near the points are gathered first, which reads the files once.
    X : array-like of shape (n_points, n_features), or Points
        Complete query points; for a table, a frame with its columns, which may have holes. With
        metric "precomputed", distances of shape (n_points, data.n_candidates), row after row,
        candidate after candidate.
    n_neighbors : int
        K, from 1 to the number of rows.
    metric : str or callable
        "euclidean", "manhattan", "chebyshev", "cosine", "linear" (the larger dot product is
        nearer), "rbf" (the same order as euclidean), "hamming" (the number of features that
        differ), "precomputed", or a function (x, t) -> distance. At equal distance the smaller row
        is nearer, at equal votes the smaller class wins. Numbers whose distances would overflow or
        underflow are refused (euclidean: beyond 1e150, or below 1e-130 and not 0).
    n_jobs : int, optional
        Number of threads; -1 for all processors. The result does not depend on it.
    cluster : str or dask.distributed.Client, optional
        Who answers, if there are many points: the workers behind a Dask scheduler, given by its
        address; "local" starts some on this machine. The result does not depend on it, bit for bit.

    Returns
    -------
    ndarray of float64, shape (n_points, n_classes)
        Rows sum to 1; columns in the order of `data.classes`.

    Examples
    --------
    >>> from cpclean import IncompleteDataset, world_shares
    >>> data = IncompleteDataset(
    ...     [[[0.0], [5.0]], [[1.0]], [[6.0]]], ["a", "b", "b"], [[0.25, 0.75], None, None])
    >>> world_shares(data, [[0.0], [9.0]], n_neighbors=1).tolist()
    [[0.25, 0.75], [0.0, 1.0]]
    """
    model = Model(n_neighbors, metric)
    hands, query = hands_for(model, n_jobs, cluster), ask_shares(data, X, model)
    parts = among_near(query, hands).over_blocks(shares_in_block, hands)
    return query.points.mixed(np.concatenate([np.zeros((0, data.n_classes)), *parts]))


@of_tables
def entropies(
    data: IncompleteDataset,
    X: Points | npt.ArrayLike,
    n_neighbors: int = 3,
    metric: Metric = "euclidean",
    *,
    n_jobs: int | None = None,
    cluster: Any = None,
) -> Floats:
    """The entropy of each query point's `world_shares`, in nats; 0 where certain.

    Parameters
    ----------
    data, X, n_neighbors, metric, n_jobs, cluster
        As in `world_shares`.

    Returns
    -------
    ndarray of float64, shape (n_points,)

    Examples
    --------
    >>> from cpclean import IncompleteDataset, entropies
    >>> data = IncompleteDataset([[[0.0], [5.0]], [[1.0]], [[6.0]]], ["a", "b", "b"])
    >>> entropies(data, [[0.0], [9.0]], n_neighbors=1).round(6).tolist()
    [0.693147, 0.0]
    """
    return entropy(world_shares(data, X, n_neighbors, metric, n_jobs=n_jobs, cluster=cluster))


@of_tables
def share_errors(
    data: IncompleteDataset,
    X: Points | npt.ArrayLike,
    n_neighbors: int = 3,
    metric: Metric = "euclidean",
    *,
    n_jobs: int | None = None,
    cluster: Any = None,
) -> Floats:
    """How far `world_shares` may be off because rows or points are represented by draws.

    Half the difference between the shares from the first and from the second half of all draws,
    which are independent of each other: an estimate of the standard error, itself uncertain. 0
    where nothing is drawn.

    Parameters
    ----------
    data, X, n_neighbors, metric, n_jobs, cluster
        As in `world_shares`.

    Returns
    -------
    ndarray of float64, shape (n_points, n_classes)

    Examples
    --------
    >>> from cpclean import Cell, FactoredRow, IncompleteDataset, share_errors
    >>> row = FactoredRow([0.0] * 9, [Cell(column, [0.0, 1.0]) for column in range(9)])
    >>> data = IncompleteDataset([row, [[0.5] * 9]], ["a", "b"], max_exact=100)
    >>> data.is_exact, share_errors(data, [[0.4] * 9], n_neighbors=1).shape
    (False, (1, 2))
    """
    model = Model(n_neighbors, metric)
    hands, points = hands_for(model, n_jobs, cluster), ask_shares(data, X, model).points
    if data.is_exact and points.is_exact:
        return np.zeros((points.n_points, data.n_classes))
    one, two = (
        _half_shares(ask_shares(rows, own, model), hands)
        for rows, own in zip(data.halves(), points.halves(), strict=True)
    )
    return np.abs(one - two) / 2


def _half_shares(query: Query, hands: Hands) -> Floats:
    """Shares of points, only as exact as differences need them; no work for weights of 0."""
    (used,) = np.nonzero(query.points.vector_weights)
    parts = query.about(query.vectors[used]).over_blocks(rough_shares_in_block, hands)
    found = np.zeros((len(query.vectors), query.data.n_classes))
    found[used] = np.concatenate([np.zeros((0, query.data.n_classes)), *parts])
    return query.points.mixed(found)


@of_tables
def world_counts(
    data: IncompleteDataset,
    X: Points | npt.ArrayLike,
    n_neighbors: int = 3,
    metric: Metric = "euclidean",
    *,
    n_jobs: int | None = None,
    cluster: Any = None,
) -> npt.NDArray[Any]:
    """The exact number of worlds that predict each label (Q2), as Python ints.

    Every world counts 1, whatever the priors. Counted in prime fields, then put together by the
    Chinese remainder theorem: no rounding anywhere. By default Python refuses to print ints of
    more than 4,300 digits (see `sys.set_int_max_str_digits`). The paper's section 3.1 and appendix
    (algorithms SS, SS-DC, SS-DC-MC) count the same.

    Parameters
    ----------
    data, X, n_neighbors, metric, n_jobs, cluster
        As in `world_shares`.

    Returns
    -------
    ndarray of object (int), shape (n_points, n_classes)
        Rows sum to `data.n_worlds`.

    Examples
    --------
    >>> from cpclean import IncompleteDataset, world_counts
    >>> data = IncompleteDataset([[[0.0], [5.0]], [[1.0]], [[6.0]]], ["a", "b", "b"])
    >>> world_counts(data, [[0.0], [9.0]], n_neighbors=1).tolist()
    [[1, 1], [0, 2]]
    """
    if not getattr(data, "is_exact", True):
        raise _too_many_to_count(data)
    model = Model(n_neighbors, metric)
    hands, query = hands_for(model, n_jobs, cluster), ask(data, X, model).counting()
    if not query.points.is_exact:
        raise QueryError(
            "worlds are counted for every completion of a point; point "
            f"{offenders(query.points.drawn.tolist())} has too many and is represented by draws. "
            "world_shares estimates the shares of the labels; Points with a higher max_exact has "
            "all completions.",
            field="max_exact",
        )
    parts = query.over_blocks(_counts_in_block, hands)
    none = np.zeros((0, data.n_classes), dtype=object)
    return query.points.mixed(np.concatenate([none, *parts]))


def _too_many_to_count(data: IncompleteDataset) -> QueryError:
    rows = data.drawn_rows
    counts = [data.arrays.count(row) for row in rows.tolist()]
    told = offenders(
        f"row {row} with {count_text(count)} candidates"
        for row, count in zip(rows.tolist(), counts, strict=True)
    )
    return QueryError(
        f"worlds are counted by going through all candidates: {count_text(sum(counts))} of them "
        f"for every point, in {told}. world_shares estimates the shares of the labels from draws "
        f"instead; {_way_to_count(max(counts))}",
        field="max_exact",
    )


def _way_to_count(most: int) -> str:
    if most >= MOST_COUNTED:
        return "no computer goes through so many candidates of a row."
    return (
        f"with max_exact={most} these rows would be counted, in time and memory that grow with the "
        "number of their candidates."
    )


def entropy(shares: Floats) -> Floats:
    """Entropy along the last axis, in nats; 0 log 0 is 0."""
    positive = np.where(shares > 0, shares, 1.0)
    return np.asarray(-(positive * np.log(positive)).sum(axis=-1) + 0.0)


def votes_needed(n_neighbors: int) -> Ints:
    """Votes with which the smaller and the larger of two labels win; see `_race`."""
    smaller = (n_neighbors + 1) // 2
    return np.array([smaller, n_neighbors + 1 - smaller])


# -- shares ------------------------------------------------------------------------------


def shares_in_block(query: Query, points: Floats, near: Near) -> Floats:
    """Shares of a block of points, shape (points, classes)."""
    many = query.data.n_classes > 2
    slack = _SLACK_OF_MANY if many else _SLACK
    possible = possible_in_block(query, points, near) if many else None
    shares = _scanned(query, points, near, slack, possible)
    again = np.flatnonzero((shares < slack * _SURE).any(axis=1))
    if len(again):
        if possible is None:
            found = possible_in_block(query, points[again], near.only(again))
        else:
            found = possible[again]
        shares[again] = np.where(found, shares[again], 0.0)
        small = ((shares[again] < slack * _SURE) & found).any(axis=1)
        again, found = again[small], found[small]
        # What was left out can only have made shares smaller.
        less = _PART * shares[again][found].min(initial=1.0)
        less = less if less > _TINY else 0.0
        shares[again] = _scanned(query, points[again], near.only(again), less, found)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def rough_shares_in_block(query: Query, points: Floats, near: Near) -> Floats:
    """The same with an absolute error near 1e-16, whatever the share: one scan per point."""
    shares = _scanned(query, points, near, _SLACK, None)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _scanned(
    query: Query, points: Floats, near: Near, slack: float, possible: npt.NDArray[np.bool_] | None
) -> Floats:
    """Shares from one scan per point that leaves out at most `slack` of the mass."""
    shares = np.zeros((len(points), query.data.n_classes))
    for hood in query.around(points, near, slack):
        rows, places = hood.positions, np.arange(hood.points.start, hood.points.stop)
        one = np.flatnonzero(hood.n_labels == 1)
        shares[places[one], hood.present[hood.label_ptr[one]]] = 1.0
        two = np.flatnonzero(hood.n_labels == 2)
        pair = np.zeros((len(two), 2))
        _race.race_shares(rows, hood.side, two, votes_needed(query.n_neighbors), None, pair)
        for label in range(2):
            shares[places[two], hood.present[hood.label_ptr[two] + label]] = pair[:, label]
        many = np.flatnonzero(hood.n_labels > 2)
        if len(many) and possible is None:
            possible = possible_in_block(query, points, near)
        for point in many.tolist():
            assert possible is not None
            winners = winners_of(hood, point, possible[places[point]])
            if len(winners) > 1:
                found, _, _ = tallied(query, hood, point, winners, np.arange(len(winners)), slack)
            else:  # certain
                found = np.ones(1)
            shares[places[point], hood.labels(point)[winners]] = found
    return shares


def winners_of(hood: Neighbourhood, point: int, possible: npt.NDArray[np.bool_]) -> Ints:
    """The possible labels of a point, as numbers among the labels around it."""
    return np.flatnonzero(possible[hood.labels(point)])


def tallied(
    query: Query,
    hood: Neighbourhood,
    point: int,
    winners: Ints,
    wanted: Ints,
    slack: float = 0.0,
    want_sums: bool = False,
    modulus: np.uint64 | None = None,
) -> tuple[Floats, Floats, Floats]:
    """The tally scan of one point: shares of some of the winners, and given each position.

    winners are all labels that some world predicts, as numbers among the labels around the point;
    wanted says which of them are asked for. At most `slack` of the mass is left out.
    """
    rows, span, own = hood.positions, hood.span(point), hood.rows(point)
    label = np.full(len(hood.labels(point)), len(winners))
    label[winners] = np.arange(len(winners))
    clean = query.spans[rows.rows[own], SIZE] == 1
    # Each of so many polynomials, of nodes and labels, may be trimmed for every row.
    trifle = (
        None
        if modulus
        else slack / (4.0 * len(clean) * (len(clean) + len(winners) * query.n_neighbors + 10))
    )
    # What is wanted of a winner is independent of what else is: as much at a time as has room.
    size = 8 * (len(winners) + 1) * (query.n_neighbors + 2) + 128 * len(clean)
    at_once = max(1, BLOCK_BYTES // size) if want_sums else len(wanted)
    parts = [
        _tally.tally(
            label[hood.side[own]],
            clean,
            rows.owner[span],
            rows.weight[span],
            rows.nearer[span],
            rows.far[span],
            len(winners),
            wanted[at : at + at_once],
            query.n_neighbors,
            trifle,
            want_sums,
            modulus,
        )
        for at in range(0, len(wanted), at_once)
    ]
    shares, given, beyond = (np.concatenate(part) for part in zip(*parts, strict=True))
    return shares, given.reshape(len(wanted), -1), beyond.reshape(len(wanted), -1)


# -- counts ------------------------------------------------------------------------------


def _counts_in_block(query: Query, points: Floats, near: Near) -> npt.NDArray[Any]:
    counts = np.zeros((len(points), query.data.n_classes), dtype=object)
    possible = possible_in_block(query, points, near)
    for hood in query.around(points, near, 0.0):
        places = range(hood.points.start, hood.points.stop)
        sizes = [
            query.spans[hood.positions.rows[hood.rows(point)], SIZE].tolist()
            for point in range(len(places))
        ]
        worlds = [residues.product(one) for one in sizes]
        primes = residues.primes_beyond(max(worlds))
        winners = [winners_of(hood, point, possible[place]) for point, place in enumerate(places)]
        found = [_counts_modulo(query, hood, winners, prime) for prime in primes]
        for point, place in enumerate(places):
            labels = hood.labels(point)[winners[point]]
            others = query.data.n_worlds // worlds[point]
            for number, label in enumerate(labels):
                shares = [int(one[point][number]) for one in found]
                counts[place, label] = others * residues.combined(shares, primes, worlds[point])
    return counts


def _counts_modulo(
    query: Query, hood: Neighbourhood, winners: list[Ints], prime: int
) -> list[npt.NDArray[Any]]:
    """For each point, the winners' shares of the worlds as elements of a prime field."""
    rows = hood.positions
    inverse = residues.inverses(query.spans[rows.rows, SIZE], prime)
    at_position = inverse[rows.owner + np.repeat(rows.row_ptr[:-1], np.diff(rows.ptr))]
    modulus = np.uint64(prime)
    rows = rows._replace(
        weight=rows.weight.astype(np.uint64) * at_position % modulus,
        nearer=rows.nearer.astype(np.uint64) * at_position % modulus,
        far=rows.far.astype(np.uint64) * at_position % modulus,
    )
    found: list[npt.NDArray[Any]] = [np.ones(len(one), np.uint64) for one in winners]
    several = np.array([len(one) > 1 for one in winners])
    two = np.flatnonzero((hood.n_labels == 2) & several)
    pair = np.zeros((len(two), 2), np.uint64)
    _race.race_shares(rows, hood.side, two, votes_needed(query.n_neighbors), modulus, pair)
    for number, point in enumerate(two.tolist()):
        found[point] = pair[number]
    for point in np.flatnonzero((hood.n_labels > 2) & several).tolist():
        counted = hood._replace(positions=rows)
        wanted = np.arange(len(winners[point]))
        found[point], _, _ = tallied(query, counted, point, winners[point], wanted, modulus=modulus)
    return found
