"""Kernels that bring the candidates of the near rows into THE total order around a point.

Nearer comes first; at equal distance the smaller row comes first; candidates of one row at
equal distance are one position. Every distance is a sum over features in feature order, so
equal vectors tie exactly whichever way they were built.

1. *Open* rows from the nearest bounding box outwards: the distances of all their candidates, cell
   by cell, and their prior weights.
2. *Stop* where what lies farther cannot matter: all but `slack` of the mass has K rows within.
3. *Collect* the candidates within that radius; a row's share beyond it is only summed.
4. *Sort*, and merge the candidates of one row at one distance into one position.
5. *Sum* each row's prior mass up to every position, and beyond it.

Cost: O(P d) per point for P candidates of the opened rows; sorting is linear as a rule. Room: as
many numbers as the near rows of one point have candidates, and no more for a larger table.

Kernels that call each other share this file: the compilation cache does not see edits to a
callee in another file.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cpclean.queries._terms import cosine_order, join, term_of
from cpclean.queries.kernel_arrays import (
    COSINE,
    FIRST_CANDIDATE,
    FIRST_CELL,
    LINEAR,
    N_CELLS,
    N_VALUES,
    NORM,
    PRECOMPUTED,
    SIZE,
    START,
    STOP,
    VALUES_AT,
    WEIGHTS_AT,
)
from cpclean.queries.kernel_kinds import kernel, part

_MERGE_FROM = 16  # rows with more candidates look for equal distances before sorting
_MERGE_WITH = 4  # how many of the row's latest distances are compared
_TINY, _HUGE = 1e-290, 1e300  # widths that can be divided by without over- or underflow
_INSERTION = 24  # buckets up to this size are sorted by insertion
_LONG = 1000  # candidates of a row beyond which plain sums lose too much
_OPEN_FIRST = 48  # rows opened before the first look at how much is still undecided

# Columns of `Work.pool`: where an opened row's candidates begin and end (-1: not opened).
_BEGIN, _END = range(2)

# Unsigned numbers: an index that cannot be negative needs no check for counting from the end.
_0, _1, _2, _3, _4 = (np.uint64(number) for number in range(5))


# -- distances ---------------------------------------------------------------------------


@part
def _sums(base, first_cell, n_cells, cells, values, metric, t, terms, total):
    """One sum per candidate of a row, always in feature order.

    Cell by cell, every partial sum branches into one for each of the cell's values, four at a
    time so that the processor adds them in parallel.
    """
    n_features = t.shape[0]
    for f in range(n_features):
        terms[f] = term_of(metric, base[f], t[f])
    count = 1
    total[0] = 0.0
    column = 0
    for cell in range(first_cell, first_cell + n_cells):
        start, stop = cells[cell, START], cells[cell, STOP]
        size, at = np.uint64(cells[cell, N_VALUES]), np.uint64(cells[cell, VALUES_AT])
        end = n_features if cell == first_cell + n_cells - 1 else stop
        for e in range(count - 1, -1, -1):  # from the end: partial sums are branched in place
            before = total[e]
            for f in range(column, start):
                before = join(metric, before, terms[f])
            out = np.uint64(e) * size
            j = size
            while j >= _4:
                j -= _4
                a = b = c = d = before
                k = at + j
                for f in range(start, stop):
                    x = t[f]
                    a = join(metric, a, term_of(metric, values[k], x))
                    b = join(metric, b, term_of(metric, values[k + _1], x))
                    c = join(metric, c, term_of(metric, values[k + _2], x))
                    d = join(metric, d, term_of(metric, values[k + _3], x))
                    k += size
                for f in range(stop, end):
                    a = join(metric, a, terms[f])
                    b = join(metric, b, terms[f])
                    c = join(metric, c, terms[f])
                    d = join(metric, d, terms[f])
                total[out + j] = a
                total[out + j + _1] = b
                total[out + j + _2] = c
                total[out + j + _3] = d
            while j > _0:
                j -= _1
                a = before
                k = at + j
                for f in range(start, stop):
                    a = join(metric, a, term_of(metric, values[k], t[f]))
                    k += size
                for f in range(stop, end):
                    a = join(metric, a, terms[f])
                total[out + j] = a
        column = end
        count *= cells[cell, N_VALUES]
    if n_cells == 0:
        for f in range(n_features):
            total[0] = join(metric, total[0], terms[f])


@part
def _sums_wide(base, first_cell, n_cells, cells, sparse, metric, t, nonzero, terms, live, total):
    """The same sums in a wide table of mostly zeros: what adds nothing is passed over.

    nonzero lists the columns in which t is not zero; live is scratch for column numbers.
    """
    n_live = 0
    for f in range(t.shape[0]):
        term = term_of(metric, base[f], t[f])
        if term != 0.0:
            terms[n_live] = term
            live[n_live] = f
            n_live += 1
    count = 1
    total[0] = 0.0
    q = 0
    for cell in range(first_cell, first_cell + n_cells):
        start, stop, size = cells[cell, START], cells[cell, STOP], cells[cell, N_VALUES]
        first = q
        while q < n_live and live[q] < start:
            q += 1
        t_first = 0
        while t_first < nonzero.shape[0] and nonzero[t_first] < start:
            t_first += 1
        for e in range(count - 1, -1, -1):
            before = total[e]
            for g in range(first, q):
                before = join(metric, before, terms[g])
            for j in range(size - 1, -1, -1):
                here = before
                k = t_first
                number = cells[cell, WEIGHTS_AT] + j
                for v in range(sparse.at[number], sparse.at[number + 1]):
                    column = sparse.column[v]
                    while k < nonzero.shape[0] and nonzero[k] < column:
                        here = join(metric, here, term_of(metric, 0.0, t[nonzero[k]]))
                        k += 1
                    if k < nonzero.shape[0] and nonzero[k] == column:
                        k += 1
                    here = join(metric, here, term_of(metric, sparse.value[v], t[column]))
                while k < nonzero.shape[0] and nonzero[k] < stop:
                    here = join(metric, here, term_of(metric, 0.0, t[nonzero[k]]))
                    k += 1
                total[e * size + j] = here
        while q < n_live and live[q] < stop:
            q += 1
        count *= size
    for e in range(count):
        for g in range(q, n_live):
            total[e] = join(metric, total[e], terms[g])


@part
def _distances(base, span, cells, values, sparse, metric, t, nonzero, terms, live, total, norm):
    """Distances of all candidates of a row, in the order of their numbers.

    norm is room for squares under the cosine; sparse is None unless that or the width needs it.
    """
    kind = metric
    if metric is not None and metric == COSINE:
        kind = np.int64(LINEAR)  # not as a literal, for which the sums would be compiled once more
    first, n_cells = span[FIRST_CELL], span[N_CELLS]
    if metric is not None and metric == PRECOMPUTED:
        for j in range(span[SIZE]):
            total[j] = t[span[FIRST_CANDIDATE] + j]
    elif sparse is not None and sparse.at.shape[0] > 0:
        _sums_wide(base, first, n_cells, cells, sparse, kind, t, nonzero, terms, live, total)
    else:
        _sums(base, first, n_cells, cells, values, kind, t, terms, total)
    if sparse is not None and metric is not None and metric == COSINE:
        square = np.int64(NORM)
        if sparse.at.shape[0] > 0:
            _sums_wide(base, first, n_cells, cells, sparse, square, t, nonzero, terms, live, norm)
        else:
            _sums(base, first, n_cells, cells, values, square, t, terms, norm)
        for j in range(span[SIZE]):
            total[j] = cosine_order(-total[j], norm[j])


@part
def _prior_weights(span, cells, weights, out):
    """Prior weights of all candidates of a row: the product over its cells."""
    count = 1
    out[0] = 1.0
    for cell in range(span[FIRST_CELL], span[FIRST_CELL] + span[N_CELLS]):
        size = cells[cell, N_VALUES]
        at = cells[cell, WEIGHTS_AT]
        for e in range(count - 1, -1, -1):
            whole = out[e]
            for j in range(size):
                out[e * size + j] = whole * weights[at + j]
        count *= size


@part
def _merge(distance, order, spare, begin, middle, end):
    """Merge two sorted runs, order[begin:middle] and order[middle:end]; spare is scratch."""
    for i in range(begin, middle):
        spare[i] = order[i]
    left = begin
    right = middle
    at = begin
    while left < middle:  # what is left of the other run is in its place already
        if right < end and distance[order[right]] < distance[spare[left]]:
            order[at] = order[right]
            right += 1
        else:
            order[at] = spare[left]
            left += 1
        at += 1


@part
def _sort_long(distance, order, spare, start, stop):
    """Sort order[start:stop]: runs by insertion, then merged, twice as long each time."""
    for begin in range(start, stop, _INSERTION):
        for i in range(begin + 1, min(begin + _INSERTION, stop)):
            moved = order[i]
            value = distance[moved]
            at = i
            while at > begin and distance[order[at - 1]] > value:
                order[at] = order[at - 1]
                at -= 1
            order[at] = moved
    length = _INSERTION
    while length < stop - start:
        for begin in range(start, stop - length, 2 * length):
            _merge(distance, order, spare, begin, begin + length, min(begin + 2 * length, stop))
        length *= 2


@part
def _sort(distance, order, spare, counts):
    """Stable sort: fills order with the positions of `distance` from near to far.

    Distances fall into as many equal buckets as there are of them, in time linear in their
    number; what shares a bucket is sorted by insertion, or by merging where many do.
    """
    n = distance.shape[0]
    if n == 0:
        return
    low = distance[0]
    high = distance[0]
    for i in range(n):
        low = min(low, distance[i])
        high = max(high, distance[i])
    # One bucket where buckets cannot be told apart: all equal, or bounds without end.
    scattered = low > -_HUGE and high < _HUGE and high - low > _TINY
    scale = (n - 1) / (high - low) if scattered else 0.0
    for b in range(n + 1):
        counts[b] = 0
    for i in range(n):
        bucket = int((distance[i] - low) * scale) if scattered else 0
        spare[i] = bucket
        counts[bucket + 1] += 1
    for b in range(1, n + 1):
        counts[b] += counts[b - 1]
    for i in range(n):
        bucket = spare[i]
        order[counts[bucket]] = i
        counts[bucket] += 1
    start = np.int64(0)  # not a literal, for which sorting would be compiled once more
    for b in range(n):  # counts[b] is now where bucket b ends
        stop = counts[b]
        if stop - start > _INSERTION:
            _sort_long(distance, order, spare, start, stop)
        else:
            for i in range(start + 1, stop):
                moved = order[i]
                value = distance[moved]
                at = i
                while at > start and distance[order[at - 1]] > value:
                    order[at] = order[at - 1]
                    at -= 1
                order[at] = moved
        start = stop


# -- positions ---------------------------------------------------------------------------


@part
def _grown(array, used, size):
    larger = np.empty(size, array.dtype)
    for i in range(used):
        larger[i] = array[i]
    return larger


@part
def _settled(opened, pool, distance, weight, radius, slack, nearer):
    """Step 2: whether all but `slack` of the mass is in worlds with K opened rows within radius."""
    for k in range(nearer.shape[0]):
        nearer[k] = 0.0
    nearer[0] = 1.0
    n_whole = 0
    for q in range(opened.shape[0]):
        local = opened[q]
        start, stop = pool[local, _BEGIN], pool[local, _END]
        outside = 0.0
        inside = 0.0
        n_outside = 0
        for e in range(start, stop):  # no branches: they could not be predicted
            out = distance[e] > radius
            outside += weight[e] if out else 0.0
            inside += 0.0 if out else weight[e]
            n_outside += out
        n_whole += n_outside == 0
        if slack > 0.0:
            for k in range(nearer.shape[0] - 1, 0, -1):
                nearer[k] = outside * nearer[k] + inside * nearer[k - 1]
            nearer[0] *= outside
    # Zero is believed only when it is a fact, not an underflow: K rows lie wholly within.
    undecided = 0.0
    for k in range(nearer.shape[0]):
        undecided += nearer[k]
    return n_whole >= nearer.shape[0] or (slack > 0.0 and undecided <= slack)


class Work(NamedTuple):
    """Room for the candidates of one point's near rows; allocated once per block."""

    opened: np.ndarray  # (rows,) near rows from the nearest box outwards
    pool: np.ndarray  # (rows, 2) _BEGIN, _END of a near row
    pool_distance: np.ndarray  # distances of the opened rows' candidates
    pool_weight: np.ndarray  # and their prior weights
    distance: np.ndarray  # positions not yet sorted, row by row
    weight: np.ndarray
    owner: np.ndarray
    mass: np.ndarray  # (rows,) mass of a kept row so far
    lost: np.ndarray  # (rows,) what that sum has lost to rounding
    order: np.ndarray
    spare: np.ndarray
    counts: np.ndarray
    terms: np.ndarray
    live: np.ndarray
    nonzero: np.ndarray  # the columns in which a point is not zero, in a wide table
    nearer: np.ndarray  # (K,)
    careful: bool  # rows so long that their sums must keep account of rounding


@part
def _make_work(rows, near_ptr, near, n_neighbors):
    size = 1
    largest = 1
    n_rows = 1
    for p in range(near_ptr.shape[0] - 1):
        own = 0
        for i in range(near_ptr[p], near_ptr[p + 1]):
            own += rows.spans[near[i], SIZE]
            largest = max(largest, rows.spans[near[i], SIZE])
        size = max(size, own)
        n_rows = max(n_rows, near_ptr[p + 1] - near_ptr[p])
    n_features = rows.base.shape[1]
    return Work(
        np.empty(n_rows, np.int64), np.empty((n_rows, 2), np.int64), np.empty(size),
        np.empty(size), np.empty(size), np.empty(size), np.empty(size, np.int64),
        np.empty(n_rows), np.empty(n_rows),
        np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size + 1, np.int64),
        np.empty(n_features), np.empty(n_features, np.int64), np.empty(n_features, np.int64),
        np.empty(n_neighbors), largest > _LONG,
    )  # fmt: skip


@part
def _open(rows, sparse, metric, t, near, bound, reach, slack, norm, work):
    """Steps 1 and 2: open rows until what lies farther cannot matter; returns that radius."""
    base, spans, cells, values = rows.base, rows.spans, rows.cells, rows.values
    opened, pool, distance, weight = work.opened, work.pool, work.pool_distance, work.pool_weight
    n_near = near.shape[0]
    n_nonzero = 0
    if sparse is not None and sparse.at.shape[0] > 0:
        for f in range(t.shape[0]):
            work.nonzero[n_nonzero] = f
            n_nonzero += t[f] != 0.0
    nonzero = work.nonzero[:n_nonzero]
    _sort(bound, opened, work.spare, work.counts)
    for local in range(n_near):
        pool[local, _END] = -1
    n_opened = 0
    used = 0
    target = min(_OPEN_FIRST, n_near)
    while True:
        # Step 1: distances of the next rows' candidates.
        for q in range(n_opened, target):
            local = opened[q]
            row = near[local]
            span = spans[row]
            _distances(base[row], span, cells, values, sparse, metric, t, nonzero, work.terms,
                       work.live, distance[used:], norm)  # fmt: skip
            pool[local, _BEGIN] = used
            if span[N_CELLS] == 0:
                weight[used] = 1.0
            elif span[N_CELLS] == 1:
                at = cells[span[FIRST_CELL], WEIGHTS_AT]
                for j in range(span[SIZE]):
                    weight[used + j] = rows.weights[at + j]
            else:
                _prior_weights(span, cells, rows.weights, weight[used:])
            used += span[SIZE]
            pool[local, _END] = used
        n_opened = target
        if n_opened == n_near:
            return reach
        # Step 2. Rows not opened begin here or farther: only what is strictly nearer is complete.
        radius = np.nextafter(bound[opened[n_opened]], -np.inf)
        if _settled(opened[:n_opened], pool, distance, weight, radius, slack, work.nearer):
            return radius
        target = min(target + target // 4, n_near)


@part
def _collect(n_near, radius, work, rank, rank_from, kept, beyond):
    """Step 3: positions within radius, row by row; returns how many, and how many rows are kept.

    A kept row's number goes to kept, its mass beyond radius to beyond. If rank has room, every
    candidate notes its place there from rank_from on, -1 beyond.
    """
    pool_distance, pool_weight = work.pool_distance, work.pool_weight
    distance, weight, owner = work.distance, work.weight, work.owner
    n = 0
    n_kept = 0
    for local in range(n_near):
        entry = work.pool[local]
        start, stop = entry[_BEGIN], entry[_END]
        if stop < 0:
            continue
        mine = n
        outside = 0.0
        lost = 0.0
        many = stop - start > _MERGE_FROM
        for e in range(start, stop):
            mass = pool_weight[e]
            into = n
            if many:
                for other in range(n - 1, max(mine, n - _MERGE_WITH) - 1, -1):
                    if distance[other] == pool_distance[e]:
                        into = other
                        break
                mass += weight[into] if into < n else 0.0
            # Written in any case, kept if within: a branch here could not be predicted.
            out = pool_distance[e] > radius
            distance[into] = pool_distance[e]
            weight[into] = mass
            owner[into] = n_kept
            if work.careful:
                term = (mass if out else 0.0) - lost
                before = outside
                outside += term
                lost = (outside - before) - term
            else:
                outside += mass if out else 0.0
            n += into == n and not out
            if rank.shape[0] > 0:
                rank[rank_from] = -1 if out else into
                rank_from += 1
        kept[n_kept] = local
        beyond[n_kept] = outside
        n_kept += 1
    return n, n_kept


@part
def _add_up(mass, lost, row, term, careful):
    """Add to a row's sum; if careful, keep account of what rounding takes from it."""
    if careful:
        term -= lost[row]
        before = mass[row]
        mass[row] += term
        lost[row] = (mass[row] - before) - term
    else:
        mass[row] += term


@part
def _emit(n, beyond, work, out_owner, out_weight, out_nearer, out_far):
    """Steps 4 and 5: sort n collected positions, merge those of one row; returns how many.

    Leaves in work.spare where each collected position went.
    """
    distance, order, mass, lost = work.distance, work.order, work.mass, work.lost
    # Step 4: sort and merge.
    _sort(distance[:n], order, work.spare, work.counts)
    at = -1
    for i in range(n):
        one = order[i]
        owner = work.owner[one]
        if i == 0 or owner != out_owner[at] or distance[one] != distance[order[i - 1]]:
            at += 1
            out_owner[at] = owner
            out_weight[at] = work.weight[one]
        else:
            out_weight[at] += work.weight[one]
        work.spare[one] = at
    # Step 5: each row's mass so far, from near to far; then what lies farther, from far to near.
    n_rows = beyond.shape[0]
    for row in range(n_rows):
        mass[row] = 0.0
        lost[row] = 0.0
    for i in range(at + 1):
        _add_up(mass, lost, out_owner[i], out_weight[i], work.careful)
        out_nearer[i] = mass[out_owner[i]]
    for row in range(n_rows):
        mass[row] = beyond[row]
        lost[row] = 0.0
    for i in range(at, -1, -1):
        out_far[i] = mass[out_owner[i]]
        _add_up(mass, lost, out_owner[i], out_weight[i], work.careful)
    return at + 1


@kernel
def positions(rows, sparse, metric, X, near_ptr, near, bound, reach, n_neighbors, norm, slack,
              want_rank):  # fmt: skip
    """Positions from near to far, for every point of a block: the fields of `Positions`.

    Rows are opened (their distances computed) from the nearest bounding box outwards. Where the
    next box begins, the mass of worlds still undecided is bounded; once it is at most `slack`,
    all that lies farther is left out. With slack 0 nothing that matters in any world is left out.

    metric is None for the Euclidean, and sparse is None unless the table is wide or the metric is
    cosine: what only others need is not compiled. Under the cosine, norm has room for the
    candidates of any near row.
    """
    n_points = X.shape[0]
    work = _make_work(rows, near_ptr, near, n_neighbors)
    row_ptr = np.empty(n_points + 1, np.int64)
    ptr = np.empty(n_points + 1, np.int64)
    row_ptr[0] = ptr[0] = 0
    kept = np.empty(near.shape[0], np.int64)
    beyond = np.empty(near.shape[0])
    owner = np.empty(4096, np.int64)
    weight = np.empty(4096)
    nearer = np.empty(4096)
    far = np.empty(4096)
    rank = np.empty(4096 if want_rank else 0, np.int64)
    n_ranked = np.int64(0)  # not a literal, for which what it is handed to is compiled once more
    for p in range(n_points):
        # Steps 1 and 2: open rows as far as they can matter.
        own = near[near_ptr[p] : near_ptr[p + 1]]
        radius = _open(rows, sparse, metric, X[p], own, bound[near_ptr[p] : near_ptr[p + 1]],
                       reach[p], slack, norm, work)  # fmt: skip
        used = 0
        for local in range(own.shape[0]):
            used = max(used, work.pool[local, _END])
        if want_rank and n_ranked + used > rank.shape[0]:
            rank = _grown(rank, n_ranked, 2 * (n_ranked + used))
        # Step 3: collect what lies within.
        begin = row_ptr[p]
        n, n_kept = _collect(own.shape[0], radius, work, rank, n_ranked, kept[begin:],
                             beyond[begin:])  # fmt: skip
        end = begin + n_kept
        at = ptr[p]
        if at + n > owner.shape[0]:
            owner = _grown(owner, at, 2 * (at + n))
            weight = _grown(weight, at, 2 * (at + n))
            nearer = _grown(nearer, at, 2 * (at + n))
            far = _grown(far, at, 2 * (at + n))
        # Steps 4 and 5: sort, merge, sum.
        n = _emit(n, beyond[begin:end], work, owner[at:], weight[at:], nearer[at:], far[at:])
        if want_rank:
            for i in range(n_ranked, n_ranked + used):
                rank[i] = work.spare[rank[i]] if rank[i] >= 0 else -1
            n_ranked += used
        for i in range(begin, end):
            kept[i] = own[kept[i]]
        row_ptr[p + 1] = end
        ptr[p + 1] = at + n
    n_rows = row_ptr[n_points]
    n = ptr[n_points]
    return (row_ptr, kept[:n_rows], beyond[:n_rows], ptr, owner[:n], weight[:n], nearer[:n],
            far[:n], rank[:n_ranked])  # fmt: skip
