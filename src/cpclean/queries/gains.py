"""What every possible answer about a row would change: all conditionals from one scan per point."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cpclean.data.incomplete import IncompleteDataset, Ints
from cpclean.data.points import Points
from cpclean.data.rows import Floats
from cpclean.errors import QueryError
from cpclean.queries import _looking, _race
from cpclean.queries.asked_tables import of_tables_by_row
from cpclean.queries.certain import possible_in_block
from cpclean.queries.geometry import ask_shares
from cpclean.queries.kernel_arrays import SIZE
from cpclean.queries.model import Metric, Model, hands_for
from cpclean.queries.query import Near, Neighbourhood, Query
from cpclean.queries.shares import entropy, tallied, votes_needed, winners_of

# Mass that a scan may leave undecided *given* any one candidate; and where only the mean over a
# row's candidates is asked for, in which rare ones count little: gains change by less than 1e-15.
_SLACK, _SLACK_OF_GAINS = 1e-15, 1e-17
_TALLY_SLACK = 1e-16
_TINY = 1e-290


@of_tables_by_row
def conditional_shares(
    data: IncompleteDataset,
    x: Points | npt.ArrayLike,
    n_neighbors: int = 3,
    metric: Metric = "euclidean",
) -> list[Floats]:
    """The label shares of one query point given each candidate of each row.

    Entry [i][j] is what `world_shares` would return after `data.pin(i, j)`; all of them come from
    a single scan. Absolute error below 1e-12, in practice near 1e-15. The average of a row's
    entries, weighted by its prior, is the unconditional share.

    Parameters
    ----------
    data : IncompleteDataset or IncompleteTable
    x : array-like of shape (n_features,), or Points; for a table, a frame of one row
        One query point, or its distances with metric "precomputed". The shares of a point of
        several completions are the mean over them, by weight.
    n_neighbors, metric
        As in `world_shares`, with the same tie rules.

    Returns
    -------
    list of n_rows ndarrays of shape (m_i, n_classes)
        A row that is represented by draws has one line per draw, as in ``data.sampled``.

    Examples
    --------
    >>> from cpclean import IncompleteDataset, conditional_shares
    >>> data = IncompleteDataset([[[0.0], [5.0]], [[1.0]], [[6.0]]], ["a", "b", "b"])
    >>> [shares.tolist() for shares in conditional_shares(data, [0.0], n_neighbors=1)]
    [[[1.0, 0.0], [0.0, 1.0]], [[0.5, 0.5]], [[0.5, 0.5]]]
    """
    points: Any
    try:
        points = [x] if not isinstance(x, Points) and np.ndim(x) == 1 else x
    except ValueError:  # rows of unequal length: left to the check
        points = x
    query = ask_shares(data, points, Model(n_neighbors, metric))
    if query.points.n_points != 1:
        raise QueryError(
            f"conditional_shares answers for one query point; got {query.points.n_points}. "
            "Call it point by point."
        )
    weights = query.points.vector_weights.tolist()
    parts = [one for part in query.over_blocks(_by_candidate) for one in part]
    if len(parts) == 1:
        return parts[0]
    return [
        np.asarray(sum(weight * one for weight, one in zip(weights, row, strict=True)))
        for row in zip(*parts, strict=True)
    ]


@of_tables_by_row
def expected_entropies(
    data: IncompleteDataset,
    X: Points | npt.ArrayLike,
    n_neighbors: int = 3,
    metric: Metric = "euclidean",
    *,
    n_jobs: int | None = None,
    cluster: Any = None,
) -> Floats:
    """The mean entropy over X to be expected after cleaning each row.

    For every row: the average over its candidates, weighted by their prior, of the mean over X of
    the entropy of the label shares given that candidate, in nats. The row that minimises it is the
    one that CPClean asks for (the paper's section 4). A clean row leaves the present mean entropy.

    Parameters
    ----------
    data, X, n_neighbors, metric, n_jobs, cluster
        As in `world_shares`.

    Returns
    -------
    ndarray of float64, shape (n_rows,)

    Examples
    --------
    >>> from cpclean import IncompleteDataset, expected_entropies
    >>> data = IncompleteDataset([[[0.0], [5.0]], [[1.0], [7.0]], [[6.0]]], ["a", "b", "b"])
    >>> expected_entropies(data, [[0.0]], n_neighbors=1).round(6).tolist()
    [0.346574, 0.346574, 0.562335]
    """
    model = Model(n_neighbors, metric)
    hands, query = hands_for(model, n_jobs, cluster), ask_shares(data, X, model)
    if not query.points.n_points:
        raise QueryError("expected_entropies needs at least one query point; got none.")
    total, gain = _mixed_gains(query)
    times = query.points.complete_weights
    (used,) = np.nonzero(times)
    times = times[used]
    alone = query if len(used) == len(query.vectors) else query.about(query.vectors[used])
    parts = alone.over_blocks(gains_in_block, hands)
    start, own = 0, np.zeros(data.n_rows)  # own: of one block, so that work is not O(N) per block
    for part in parts:
        repeats = times[start : start + len(part.entropy)]
        start += len(part.entropy)
        total += float(repeats @ part.entropy)
        each = part.gain * np.repeat(repeats, part.n_rows)
        np.add.at(own, part.rows, each)
        gain[part.rows] += own[part.rows]  # a row that is there twice is written twice
        own[part.rows] = 0.0
    left = np.maximum(np.subtract(total, gain, out=gain), 0.0, out=gain)
    left /= query.points.n_points
    return left


def _mixed_gains(query: Query) -> tuple[float, Floats]:
    """Entropies of all points of several entries, and what knowing each row would take from them.

    Entropy is that of the mixture, before and given each candidate.
    """
    total, gain = 0.0, np.zeros(query.data.n_rows)
    counts, points = query.data.candidate_counts, query.points
    for owner in points.mixtures.tolist():
        entries = points.entries(owner)
        parts = query.about(query.vectors[points.vector[entries]]).over_blocks(_all_conditionals)
        given = [one for part in parts for one in part]
        weights = points.weight[entries].tolist()
        whole = np.zeros((len(given), query.data.n_classes))
        for number, one in enumerate(given):
            whole[number, one.labels] = one.shares
        shares = np.asarray(weights) @ whole
        before = float(entropy(shares))
        total += before
        rows = np.unique(np.concatenate([one.rows for one in given]))
        rows = rows[counts[rows] > 1]
        first = np.concatenate([[0], np.cumsum(counts[rows])])
        mixed = np.tile(shares, (int(first[-1]), 1))  # given each candidate of these rows
        for number, one in enumerate(given):
            _add_difference(mixed, one, whole[number], weights[number], rows, first, counts)
        after = entropy(np.clip(mixed, 0.0, 1.0))
        prior = np.concatenate([np.zeros(0), *(query.data.prior(row) for row in rows.tolist())])
        gain += np.bincount(np.repeat(rows, counts[rows]), prior * (before - after), len(gain))
    return total, gain


def _add_difference(
    mixed: Floats,
    given: Conditionals,
    whole: Floats,
    weight: float,
    rows: Ints,
    first: Ints,
    counts: Ints,
) -> None:
    """What one entry of a point says given each candidate, rather than without."""
    start = 0
    for place, row in enumerate(given.rows.tolist()):
        rank = given.rank[start : start + counts[row]]
        start += counts[row]
        if counts[row] == 1:
            continue
        at = int(first[np.searchsorted(rows, row)])
        own = np.where(rank[:, None] >= 0, given.at[rank], given.beyond[place])
        mixed[at : at + len(own)] -= weight * whole
        mixed[at : at + len(own), given.labels] += weight * own


def _all_conditionals(query: Query, points: Floats, near: Near) -> list[Conditionals]:
    return list(conditionals(query, points, near))


class BlockGains(NamedTuple):
    """Of a block of points: their entropy, and what cleaning a row is expected to take away.

    rows and gain hold n_rows[p] entries for point p, one after the other; cleaning any other
    row changes nothing for the point.
    """

    entropy: Floats
    label: Ints  # the class with the largest share; of equal ones the smallest
    top: Floats  # its share
    n_rows: Ints
    rows: Ints
    gain: Floats
    radius: Floats | None = None  # where known: what rows do farther away changes nothing of this


def gains_in_block(query: Query, points: Floats, near: Near | None) -> BlockGains:
    """What each row's cleaning is expected to change for a block of points."""
    slack = max(_scan_slack(query), _SLACK_OF_GAINS)
    hoods = query.around(points, near, slack)
    return joined_gains([_hood_gains(query, points, near, hood, slack) for hood in hoods])


def joined_gains(found: Sequence[BlockGains]) -> BlockGains:
    """Those of several blocks of points as one."""
    if len(found) == 1:
        return found[0]
    return BlockGains(
        entropy=np.concatenate([one.entropy for one in found]),
        label=np.concatenate([one.label for one in found]),
        top=np.concatenate([one.top for one in found]),
        n_rows=np.concatenate([one.n_rows for one in found]),
        rows=np.concatenate([one.rows for one in found]),
        gain=np.concatenate([one.gain for one in found]),
        radius=joined_radii([one.radius for one in found]),
    )


def joined_radii(found: Sequence[Floats | None]) -> Floats | None:
    """Those of several blocks as one, if all are known."""
    known = [one for one in found if one is not None]
    return np.concatenate(known) if known and len(known) == len(found) else None


def _hood_gains(
    query: Query, points: Floats, near: Near | None, hood: Neighbourhood, slack: float
) -> BlockGains:
    rows, n_points = hood.positions, len(hood.label_ptr) - 1
    dirty, order = np.empty(len(rows.rows), np.bool_), np.empty(n_points + 1, np.int64)
    n_two = _looking.sort_out(rows.row_ptr, rows.rows, query.spans, hood.label_ptr, dirty, order)
    two, many = order[:n_two], order[order[-1] : n_points]
    race = _raced(query, hood, two, slack)
    gain, found = np.zeros(len(rows.rows)), np.empty(n_two)
    _race.race_gains(
        rows, dirty, two, race.used, race.shares, race.own, race.own_beyond, found, gain
    )
    point_entropy, top = np.empty(n_points), np.empty(n_points)
    label = np.empty(n_points, np.int64)
    _looking.put_together(
        hood.label_ptr, hood.present, two, race.shares, found, point_entropy, label, top
    )
    if len(many):
        possible = _possible(query, points, near, hood)
        for point in many.tolist():
            winners = winners_of(hood, point, possible[point])
            label[point] = hood.labels(point)[winners[0]]
            if len(winners) == 1:  # certain: nothing to gain
                continue
            shares = _tallied(query, hood, point, winners)
            left = entropy(shares)
            point_entropy[point] = left[0]
            top[point] = shares[0].max()
            label[point] = hood.labels(point)[winners[shares[0].argmax()]]
            span, own = hood.span(point), hood.rows(point)
            at, beyond = np.split(left[0] - left[1:], [span.stop - span.start])
            found = rows.beyond[own] * beyond
            found += np.bincount(rows.owner[span], rows.weight[span] * at, len(found))
            gain[own] = np.where(dirty[own], found, 0.0)
    sizes = rows.row_ptr[1:] - rows.row_ptr[:-1]
    return BlockGains(point_entropy, label, top, sizes, rows.rows, gain, hood.radius)


def _possible(
    query: Query, points: Floats, near: Near | None, hood: Neighbourhood
) -> npt.NDArray[np.bool_]:
    own = points[hood.points]
    return possible_in_block(
        query, own, query.all_near(own) if near is None else near.part(hood.points)
    )


class _Raced(NamedTuple):
    shares: Floats  # (points, 2)
    own: Floats  # one per position of the neighbourhood
    own_beyond: Floats  # one per row of the neighbourhood
    used: Ints  # (points,) positions that were enough


def _raced(query: Query, hood: Neighbourhood, two: Ints, slack: float) -> _Raced:
    rows = hood.positions
    shares, own = np.zeros((len(two), 2)), np.zeros(len(rows.owner))
    own_beyond = np.zeros(len(rows.rows))
    votes = votes_needed(query.n_neighbors)
    used = _race.race_conditionals(rows, hood.side, two, votes, slack, shares, own, own_beyond)
    return _Raced(shares, own, own_beyond, used)


def _scan_slack(query: Query) -> float:
    """The undecided mass at which a scan may stop: it is small even given the rarest candidate.

    Given a candidate of prior 0, worlds without any mass matter: then a scan never stops early. Nor
    does it where the slack would be 0, or so small that the masses it is compared with are rounded.
    """
    slack = _SLACK * query.rarest
    return slack if slack > _TINY else -1.0


@dataclass(frozen=True)
class _Given:
    """Shares of the labels around one point; `labels` are their classes."""

    labels: Ints
    shares: Floats  # (labels,)
    at: Floats  # (positions, labels), given that the position's row sits there
    beyond: Floats  # (rows, labels), given that the row lies beyond the last position


def _tallied(query: Query, hood: Neighbourhood, point: int, winners: Ints) -> Floats:
    """Any number of labels: shares of the winners, given nothing; given each position; given
    that each row lies beyond the last. One after the other, (1 + positions + rows, winners).

    The winner with the most rows takes what the others leave: most often it has the largest share.
    """
    rows = np.bincount(hood.side[hood.rows(point)], minlength=len(hood.labels(point)))
    largest = int(rows[winners].argmax())
    (others,) = (np.arange(len(winners)) != largest).nonzero()
    shares, at, beyond = tallied(query, hood, point, winners, others, _TALLY_SLACK, True)
    table = np.empty((1 + at.shape[1] + beyond.shape[1], len(winners)))
    table[0, others] = shares
    table[1 : 1 + at.shape[1], others] = at.T
    table[1 + at.shape[1] :, others] = beyond.T
    table[:, largest] = 1.0 - table[:, others].sum(axis=1)
    np.clip(table, 0.0, 1.0, out=table)
    table /= table.sum(axis=1, keepdims=True)
    return table


@dataclass(frozen=True)
class Conditionals:
    """What one point of a block is predicted to be, given each candidate of each row around it."""

    rows: Ints  # those that matter, ascending
    labels: Ints  # the classes that are possible
    shares: Floats  # (labels,)
    at: Floats  # (positions, labels), given that the position's row sits there
    beyond: Floats  # (rows, labels), given that the row lies beyond the last position
    rank: Ints  # for every candidate of the rows: its position, or -1 beyond the last
    radius: float | None  # where known: what rows do farther away changes nothing of this


def conditionals(query: Query, points: Floats, near: Near | None) -> Iterator[Conditionals]:
    """The conditionals of every point of a block, point by point."""
    slack = _scan_slack(query)
    for hood in query.around(points, near, max(slack, 0.0), want_rank=True):
        possible = _possible(query, points, near, hood)
        two = np.flatnonzero(hood.n_labels == 2)
        race = _raced(query, hood, two, slack)
        pairs = np.zeros((len(possible), 2))
        pairs[two] = race.shares
        sizes = query.spans[hood.positions.rows, SIZE]
        ranked = np.concatenate([[0], np.cumsum(sizes)])[hood.positions.row_ptr]
        for point in range(len(possible)):
            winners = winners_of(hood, point, possible[point])
            if len(winners) == 1:  # certain, given anything
                given = _certainly(hood, point, winners)
            elif hood.n_labels[point] == 2:
                given = _of_two(hood, point, race, pairs[point])
            else:
                table = _tallied(query, hood, point, winners)
                ends = [1, 1 + hood.span(point).stop - hood.span(point).start]
                (shares,), at, beyond = np.split(table, ends)
                given = _Given(hood.labels(point)[winners], shares, at, beyond)
            rank = hood.positions.rank[ranked[point] : ranked[point + 1]]
            rows = hood.positions.rows[hood.rows(point)]
            radius = None if hood.radius is None else float(hood.radius[point])
            yield Conditionals(
                rows, given.labels, given.shares, given.at, given.beyond, rank, radius
            )


def _certainly(hood: Neighbourhood, point: int, winners: Ints) -> _Given:
    span, rows = hood.span(point), hood.rows(point)
    return _Given(
        hood.labels(point)[winners],
        np.ones(1),
        np.ones((span.stop - span.start, 1)),
        np.ones((rows.stop - rows.start, 1)),
    )


def _of_two(hood: Neighbourhood, point: int, race: _Raced, shares: Floats) -> _Given:
    first = hood.side[hood.rows(point)] == 0
    own, own_beyond = race.own[hood.span(point)], race.own_beyond[hood.rows(point)]
    at = np.where(first[hood.positions.owner[hood.span(point)]], own, 1.0 - own)
    beyond = np.where(first, own_beyond, 1.0 - own_beyond)
    return _Given(
        hood.labels(point),
        shares,
        np.stack([at, 1.0 - at], axis=1),
        np.stack([beyond, 1.0 - beyond], axis=1),
    )


def _by_candidate(query: Query, points: Floats, near: Near) -> list[list[Floats]]:
    """Conditionals of every point of a block, spread over all rows, candidates and classes."""
    return [_spread(query, given) for given in conditionals(query, points, near)]


def _spread(query: Query, given: Conditionals) -> list[Floats]:
    n_classes = query.data.n_classes
    whole = np.zeros(n_classes)
    whole[given.labels] = given.shares
    counts = query.data.candidate_counts
    result = [np.tile(whole, (count, 1)) for count in counts.tolist()]
    start = 0
    for place, row in enumerate(given.rows.tolist()):
        rank = given.rank[start : start + counts[row]]
        start += counts[row]
        shares = np.where(rank[:, None] >= 0, given.at[rank], given.beyond[place])
        result[row][:] = 0.0
        result[row][:, given.labels] = shares
    return result
