"""Two labels that need many votes: each is walked through by itself.

See `_race` for what is computed. A row is a factor F + G z, the mass of it that is farther / nearer
than the position at hand; one not met yet is the factor 1. A position (row i, prior mass w)
*decides* for its label with mass w E[votes - 1], where E is the product of the label's other rows.
From near to far:

1. *Cut* the label's positions into runs in which no row comes twice.
2. *Divide.* Runs are the leaves of a binary tree over time. A node has the product of the rows that
   have no position in it: that of its parent, times those that only its sibling has. So each
   position costs at most one factor on every level, and factors have two coefficients.
3. *Decide.* Within a run, E is what the node of the run has, times the rows that were there before
   the position (as they are after it), times those that are yet to come (as they were before).
   Prefixes and suffixes of such products cost two factors per position.
4. *Merge* with the other label: a decision counts with the mass in which the other label is still
   *behind* its votes. Stop when the undecided mass cannot change the answer, or is zero.
5. *Pull.* Steps 3 and 2 backwards yield the sums C_i: what the other label decides between two
   positions is pulled through the products that it met, to the rows that are their factors.

The label with fewer positions goes first, to say what it decides; then the other, with steps 4 and
5; then, for its own conditionals, the first one again.

Cost: O(votes log positions) per position, for the answer and all sums together. Sums and products
of non-negative numbers only. With a modulus, the same walk counts worlds in a prime field.

Kernels that call each other share this file: the compilation cache does not see edits to a
callee in another file.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cpclean.queries.kernel_kinds import kernel, part

_NEGLIGIBLE = 2.0**-60  # an undecided mass this much smaller than the answer cannot change it
_LIKELY = 1e-24  # undecided masses are negligible as a rule, unless a label is next to impossible
_Z = 1.0 / 16.0  # where polynomials are evaluated for a first bound on the undecided mass
_LONGEST = 64  # positions in a run
_NEVER = np.iinfo(np.int64).max

# Rows of `WalkRoom.links`: where a position stands among those of both labels, its row, and the
# positions of this row before and after it, among those of its label (-1 and _NEVER if none).
PLACE, ROW, BEFORE, AFTER = range(4)
# Rows of `WalkRoom.masses`: prior mass at a position, of its row up to there and farther away; the
# mass that is decided there, and what then is still behind (only before the other's turn).
WEIGHT, NEARER, FAR, DECIDED, BEHIND = range(5)


class WalkRoom(NamedTuple):
    """Scratch for the walks of one point; allocated once per block of points.

    Polynomials lie side by side in flat arrays, `size` coefficients each.
    """

    links: np.ndarray  # (2, 4, positions) see PLACE
    masses: np.ndarray  # (2, 5, positions) see WEIGHT
    seeds: np.ndarray  # (2, positions) what the other label decides before the next position
    first_seed: np.ndarray  # (2,) and before the first
    at_z: np.ndarray  # (rows,) a row's factor, evaluated
    latest: np.ndarray  # (rows,) the latest position of a row, -1 if none
    starts: np.ndarray  # (positions + 1,) where runs begin
    poly: np.ndarray  # of the present node of each level: the product of rows that are not in it
    pull: np.ndarray  # the same: what is pulled through this product
    live: np.ndarray  # (levels,) whether that is anything at all
    chain_at: np.ndarray  # (levels,) where the factors of each level's node begin
    chain_end: np.ndarray  # (levels,) and where they end
    factors: np.ndarray  # the position whose row's present masses are the factor
    chain: np.ndarray  # the product before each factor, and behind the last
    prefix: np.ndarray  # within a run: the product before each position, and behind the last
    suffix: np.ndarray  # the product of the rows that come later
    pulled: np.ndarray  # one polynomial


@part
def _times(a, b, modulus):
    if modulus is None:
        return a * b
    return a * b % modulus


@part
def _plus(a, b, modulus):
    if modulus is None:
        return a + b
    return (a + b) % modulus


@part
def _aligned(n, like):
    """Uninitialised numbers of eight bytes from the beginning of a cache line on.

    A polynomial of eight coefficients is one line then, which is read back as it was written.
    """
    room = np.empty(n + 7, like.dtype)
    at = (-room.ctypes.data // 8) % 8
    return room[at : at + n]


@part
def _make_room(row_ptr, ptr, points, size, like, pulling):
    """Room for every point of the block; masses are of the kind of `like`."""
    n_rows = 1
    n_positions = 1
    for p in points:
        n_rows = max(n_rows, row_ptr[p + 1] - row_ptr[p])
        n_positions = max(n_positions, ptr[p + 1] - ptr[p])
    levels = 1
    while (1 << (levels - 1)) < n_positions:
        levels += 1
    chain_at = np.zeros(levels, np.int64)
    n_factors = 0
    for h in range(levels):
        chain_at[h] = n_factors
        n_factors += min(_LONGEST << h, n_rows) + 1
    kind = like.dtype
    floats = np.empty(0)
    return WalkRoom(
        np.empty((2, 4, n_positions), np.int64), np.empty((2, 5, n_positions), kind),
        np.empty((2, n_positions if pulling else 0)), np.empty(2),
        np.empty(n_rows), np.empty(n_rows, np.int64), np.empty(n_positions + 1, np.int64),
        _aligned(levels * size, like), _aligned(levels * size, floats), np.empty(levels, np.bool_),
        chain_at, np.empty(levels, np.int64), np.empty(n_factors, np.int64),
        _aligned(n_factors * size if pulling else 0, like),
        _aligned((_LONGEST + 1) * size, like), _aligned(_LONGEST * size, like),
        _aligned(size, floats),
    )  # fmt: skip


@part
def _by_label(room, sides, owner, weight, nearer, far, votes, enough, bounding, counts):
    """Give each label its positions, and count them; returns how many there are of both.

    If bounding, as far as the undecided mass is shown to be at most `enough`. For any z up to 1,
    a product of rows has less than `votes` rows nearer with at most the mass that it comes to
    at z, divided by z^(votes - 1).
    """
    links, masses, latest, at_z = room.links, room.masses, room.latest, room.at_z
    for row in range(sides.shape[0]):
        latest[row] = -1
        at_z[row] = 1.0
    counts[0] = 0
    counts[1] = 0
    bound = np.empty(2)
    bound[0] = _Z ** (1 - votes[0])
    bound[1] = _Z ** (1 - votes[1])
    for at in range(owner.shape[0]):
        row = owner[at]
        label = sides[row]
        q = counts[label]
        counts[label] += 1
        links[label, PLACE, q] = at
        links[label, ROW, q] = row
        links[label, BEFORE, q] = latest[row]
        links[label, AFTER, q] = _NEVER
        if latest[row] >= 0:
            links[label, AFTER, latest[row]] = q
        latest[row] = q
        masses[label, WEIGHT, q] = weight[at]
        masses[label, NEARER, q] = nearer[at]
        masses[label, FAR, q] = far[at]
        if bounding:
            present = far[at] + _Z * nearer[at]
            bound[label] *= present / at_z[row]
            at_z[row] = present
            if min(bound[0], 1.0) * min(bound[1], 1.0) <= enough:
                return at + 1
    return owner.shape[0]


@part
def _cut(before, n, starts):
    """Step 1: where runs begin, and the end of the last; returns how many runs there are."""
    if n == 0:
        return 0
    n_runs = 0
    start = 0
    starts[0] = 0
    for q in range(n):
        if (before[q] >= start and q > start) or q == start + _LONGEST:
            n_runs += 1
            starts[n_runs] = q
            start = q
    starts[n_runs + 1] = n
    return n_runs + 1


@part
def _multiply(width, source, at, target, to, far, nearer, modulus):
    """Multiply a polynomial by a row."""
    size = len(width)
    target[to] = _times(far, source[at], modulus)
    for k in range(1, size):
        target[to + k] = _plus(
            _times(far, source[at + k], modulus), _times(nearer, source[at + k - 1], modulus),
            modulus,
        )  # fmt: skip


@part
def _multiply_in_place(width, poly, at, far, nearer, modulus):
    size = len(width)
    for k in range(size - 1, 0, -1):
        poly[at + k] = _plus(
            _times(far, poly[at + k], modulus), _times(nearer, poly[at + k - 1], modulus), modulus
        )
    poly[at] = _times(far, poly[at], modulus)


@part
def _pull_through(width, pull, at, far, nearer):
    """The transpose of multiplying by a row, in place."""
    size = len(width)
    for k in range(size - 1):
        pull[at + k] = far * pull[at + k] + nearer * pull[at + k + 1]
    pull[at + size - 1] *= far


@part
def _dot(width, one, at, two, start):
    size = len(width)
    total = 0.0
    for k in range(size):
        total += one[at + k] * two[start + k]
    return total


@part
def _crossed(width, one, at, two, start, modulus):
    """The last coefficient of the product of two polynomials."""
    size = len(width)
    total = _times(one[at], two[start + size - 1], modulus)
    for k in range(1, size):
        total = _plus(total, _times(one[at + k], two[start + size - 1 - k], modulus), modulus)
    return total


@part
def _crossed_before(width, one, at, two, start, modulus):
    """The sum of all coefficients of the product but the last."""
    size = len(width)
    running = two[start]
    total = _times(one[at + size - 2], running, modulus)
    for k in range(1, size - 1):
        running = _plus(running, two[start + k], modulus)
        total = _plus(total, _times(one[at + size - 2 - k], running, modulus), modulus)
    return total


@part
def _undecided(behind, shares, slack, pulling):
    """Step 4: whether the rest can change the answer."""
    enough = slack if pulling else _NEGLIGIBLE * min(shares[0], shares[1])
    return behind[0] * behind[1] > enough


@part
def _count(shares, lost, label, mass, modulus):
    """Add to a share; keep track of what rounding takes away, for walks may be very long."""
    if modulus is None:
        mass -= lost[label]
        before = shares[label]
        shares[label] += mass
        lost[label] = (shares[label] - before) - mass
    else:
        shares[label] = _plus(shares[label], mass, modulus)


@part
def _walk(width, room, mine, votes, counts, slack, modulus, merging, pulling, shares, sums,
          row_sum):  # fmt: skip
    """Walk through the positions of one label.

    width has as many entries as polynomials have coefficients; with a tuple, the compiler unrolls
    all loops over coefficients. Without merging, this only says what the label decides, or pulls
    what the other has decided. With merging, counts becomes the number of positions that were used,
    and this returns whether more would change nothing.
    """
    size = len(width)
    other = 1 - mine
    links, masses, seeds = room.links[mine], room.masses[mine], room.seeds[mine]
    place, row, before, after = links[PLACE], links[ROW], links[BEFORE], links[AFTER]
    weight, nearer, far = masses[WEIGHT], masses[NEARER], masses[FAR]
    decided, left = masses[DECIDED], masses[BEHIND]
    starts, first_seed = room.starts, room.first_seed
    poly, pull, live, pulled = room.poly, room.pull, room.live, room.pulled
    chain_at, chain_end, factors, chain = room.chain_at, room.chain_end, room.factors, room.chain
    prefix, suffix = room.prefix, room.suffix
    other_place, other_seeds = room.links[other, PLACE], room.seeds[other]
    other_decided, other_left = room.masses[other, DECIDED], room.masses[other, BEHIND]
    n, n_other = counts[mine], counts[other]
    behind = np.ones(2, masses.dtype)
    lost = np.zeros(2)
    met = 0  # positions of the other label that lie before
    going = True
    if merging:
        shares[0] = 0
        shares[1] = 0
        first_seed[0] = 0.0
        first_seed[1] = 0.0
        while met < n_other and (n == 0 or other_place[met] < place[0]):
            _count(shares, lost, other, other_decided[met], modulus)
            if pulling:
                first_seed[mine] += other_decided[met]
                other_seeds[met] = 0.0
            behind[other] = other_left[met]
            met += 1
    # Step 1: runs, and a tree over them, at whose root only the votes that are not needed stand.
    n_runs = _cut(before, n, starts)
    top = 0
    while (1 << top) < n_runs:
        top += 1
    for k in range(size):
        poly[top * size + k] = 0
        pull[top * size + k] = 0.0
    poly[top * size + size - votes[mine]] = 1
    live[top] = False
    waiting = 0.0  # C of a row that is not met yet
    if pulling and votes[mine] == 1:
        waiting = first_seed[mine]
    for run in range(n_runs):
        begin, end = starts[run], starts[run + 1]
        # Step 2: go down to the run, from the first node that begins with it.
        h = 0
        while h < top and (run >> h) & 1 == 0:
            h += 1
        for level in range(min(h, top - 1), -1, -1):
            node = run >> level
            start = starts[node << level]
            stop = starts[min((node + 1) << level, n_runs)]
            first = chain_at[level]
            last = first
            # Rows of the sibling that are not in the node, as they are during the node's time.
            if node & 1:
                for q in range(starts[(node - 1) << level], start):
                    factors[last] = q
                    last += after[q] >= stop
            else:
                for q in range(stop, starts[min((node + 2) << level, n_runs)]):
                    factors[last] = before[q]
                    last += 0 <= before[q] < start
            chain_end[level] = last
            here, above = level * size, (level + 1) * size
            if pulling:
                for k in range(size):
                    chain[first * size + k] = poly[above + k]
                    pull[here + k] = 0.0
                for i in range(first, last):
                    past = factors[i]
                    _multiply(width, chain, i * size, chain, (i + 1) * size, far[past],
                              nearer[past], modulus)  # fmt: skip
                for k in range(size):
                    poly[here + k] = chain[last * size + k]
                live[level] = False
            else:
                for k in range(size):
                    poly[here + k] = poly[above + k]
                for i in range(first, last):
                    past = factors[i]
                    _multiply_in_place(width, poly, here, far[past], nearer[past], modulus)
        # Step 3: prefixes and suffixes within the run, and what each position decides.
        for k in range(size):
            prefix[k] = poly[k]
        for q in range(begin, end):
            at = (q - begin) * size
            _multiply(width, prefix, at, prefix, at + size, far[q], nearer[q], modulus)
        at = (end - 1 - begin) * size
        for k in range(size):
            suffix[at + k] = 0
        suffix[at] = 1
        for q in range(end - 1, begin, -1):
            past = before[q]
            if past >= 0:
                _multiply(width, suffix, at, suffix, at - size, far[past], nearer[past], modulus)
            else:
                for k in range(size):
                    suffix[at - size + k] = suffix[at + k]
            at -= size
        for q in range(begin, end if merging or not pulling else begin):
            at = (q - begin) * size
            exactly = _crossed(width, prefix, at, suffix, at, modulus)
            decided[q] = _times(weight[q], exactly, modulus)
            turn = q + 1 == n or place[q + 1] != place[q] + 1  # of the other label
            if turn or q + 1 == end:
                fewer = _crossed_before(width, prefix, at, suffix, at, modulus)
                left[q] = _plus(
                    _times(far[q], _plus(fewer, exactly, modulus), modulus),
                    _times(nearer[q], fewer, modulus),
                    modulus,
                )
            if not merging:
                continue
            # Step 4: merge.
            _count(shares, lost, mine, _times(decided[q], behind[other], modulus), modulus)
            if pulling:
                seeds[q] = 0.0
                if met > 0:
                    other_seeds[met - 1] += decided[q]
                else:
                    first_seed[other] += decided[q]
            if turn or q + 1 == end:
                behind[mine] = left[q]
                going = modulus is not None or _undecided(behind, shares, slack, pulling)
            if turn and going:
                until = place[q + 1] if q + 1 < n else _NEVER
                while met < n_other and other_place[met] < until:
                    mass = _times(other_decided[met], behind[mine], modulus)
                    _count(shares, lost, other, mass, modulus)
                    if pulling:
                        seeds[q] += other_decided[met]
                        other_seeds[met] = 0.0
                    met += 1
                if met > 0:
                    behind[other] = other_left[met - 1]
                going = modulus is not None or _undecided(behind, shares, slack, pulling)
            if not going:
                counts[mine] = q + 1
                break
        is_last = run + 1 == n_runs or not going
        if pulling:
            # Step 5: pull what is decided between positions of the run. First, to later positions,
            # through the suffixes.
            n_used = counts[mine]
            first, last = end, begin - 1  # positions behind which something is decided
            for q in range(begin, min(end, n_used)):
                if seeds[q] > 0.0:
                    first = min(first, q)
                    last = q
            for k in range(size):
                pulled[k] = 0.0
            for q in range(begin, end):
                at = (q - begin) * size
                past = before[q]
                if past < 0:
                    if q < n_used:
                        row_sum[row[q]] = waiting
                elif q > first:
                    row_sum[row[q]] += _dot(width, pulled, 0, suffix, at)
                    _pull_through(width, pulled, 0, far[past], nearer[past])
                sums[place[q]] = row_sum[row[q]]
                if first <= q <= last:
                    for k in range(size):
                        pulled[k] += seeds[q] * prefix[at + 2 * size - 1 - k]
                    waiting += seeds[q] * _crossed(width, prefix, at + size, suffix, at, None)
            # Then, to earlier positions and to the node, through the prefixes.
            for k in range(size):
                pulled[k] = 0.0
            for q in range(last, begin - 1, -1):
                at = (q - begin) * size
                for k in range(size):
                    pulled[k] += seeds[q] * suffix[at + size - 1 - k]
                row_sum[row[q]] += _dot(width, pulled, 0, prefix, at)
                _pull_through(width, pulled, 0, far[q], nearer[q])
            for k in range(size):
                pull[k] += pulled[k]
            live[0] |= last >= begin
            # Then through the factors of all nodes that end with the run, to the node above.
            h = 0
            while h < top and (is_last or (run + 1) >> h & 1 == 0):
                h += 1
            for level in range(min(h + 1, top)):
                if not live[level]:
                    continue
                here, above = level * size, (level + 1) * size
                for i in range(chain_end[level] - 1, chain_at[level] - 1, -1):
                    past = factors[i]
                    row_sum[row[past]] += _dot(width, pull, here, chain, i * size)
                    _pull_through(width, pull, here, far[past], nearer[past])
                for k in range(size):
                    pull[above + k] += pull[here + k]
                live[level + 1] = True
        if is_last:
            break
    if merging:
        counts[other] = met
    return not going


@part
def _race(width, room, places, side, p, votes, slack, modulus, pulling, counts, shares, sums,
          row_sum):  # fmt: skip
    """One point: shares of both labels, how many positions of each were used and, pulled, sums."""
    begin, end = places.ptr[p], places.ptr[p + 1]
    sides = side[places.row_ptr[p] : places.row_ptr[p + 1]]
    owner, weight = places.owner[begin:end], places.weight[begin:end]
    nearer, far = places.nearer[begin:end], places.far[begin:end]
    for row in range(row_sum.shape[0]):
        row_sum[row] = 0.0
    enough = slack if pulling else _LIKELY
    bounding = modulus is None
    while True:
        n = _by_label(room, sides, owner, weight, nearer, far, votes, enough, bounding, counts)
        fewer = 0 if counts[0] < counts[1] else 1
        decided = False
        for turn in range(3 if pulling else 2):  # one call in a loop: it is compiled in once
            merging = turn == 1
            done = _walk(width, room, 1 - fewer if merging else fewer, votes, counts, slack,
                         modulus, merging, pulling and turn > 0, shares, sums, row_sum)  # fmt: skip
            if merging:
                decided = done
        if pulling or decided or n == owner.shape[0]:
            break
        enough = _NEGLIGIBLE * min(shares[0], shares[1])  # a label is next to impossible
        bounding = enough > 0.0


@kernel
def shares(width, places, side, points, votes, modulus, out):
    """Shares of both labels for the given points of a block; out has shape (points, 2).

    With a modulus, masses are elements of the prime field, and so are the shares.
    """
    room = _make_room(places.row_ptr, places.ptr, points, len(width), places.weight, False)
    counts = np.zeros(2, np.int64)
    nothing = np.empty(0)
    for i in range(points.shape[0]):
        _race(width, room, places, side, points[i], votes, 0.0, modulus, False, counts, out[i],
              nothing, nothing)  # fmt: skip


@kernel
def sums(width, places, side, points, votes, slack, out, sums, row_sums, used):
    """Shares of both labels, C_i at all positions that are used, and beyond them."""
    room = _make_room(places.row_ptr, places.ptr, points, len(width), places.weight, True)
    counts = np.zeros(2, np.int64)
    for i in range(points.shape[0]):
        p = points[i]
        _race(width, room, places, side, p, votes, slack, None, True, counts, out[i],
              sums[places.ptr[p] : places.ptr[p + 1]],
              row_sums[places.row_ptr[p] : places.row_ptr[p + 1]])  # fmt: skip
        used[i] = counts[0] + counts[1]
