"""Every answer once more, some other way: exact counts, pinned data, the paper's SS-DC."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from benchmarks.generated import Floats
from benchmarks.report import Report
from benchmarks.spaces import Space
from cpclean import (
    IncompleteDataset,
    conditional_shares,
    entropies,
    expected_entropies,
    is_certain,
    possible_labels,
    world_counts,
    world_shares,
)
from cpclean.queries import reference
from cpclean.queries.shares import entropy

RELATIVE = 1e-10  # of shares above SMALLEST
SMALLEST = 1e-12
ENTROPY = 1e-9  # absolute, in nats: a conditional share is good to 1e-12


def sample(space: Space, n_neighbors: int, size: int) -> Floats:
    """Points to check: uncertain ones first, but certain ones too where there are any."""
    certain = is_certain(space.data, space.points, n_neighbors)
    rng = np.random.default_rng(0)
    open_, closed = (rng.permutation(np.flatnonzero(certain == which)) for which in (False, True))
    n_closed = min(len(closed), size // 3)
    chosen = np.concatenate([open_[: size - n_closed], closed[:n_closed]])
    picked: Floats = space.points[chosen]
    return picked


def check_counts(
    report: Report, name: str, data: IncompleteDataset, points: Floats, n_neighbors: int
) -> None:
    """Shares and certainty against exact counts."""
    counts = world_counts(data, points, n_neighbors)
    worlds = data.n_worlds
    on = f"{len(points)} points"
    report.check(f"{name}: counts sum to n_worlds", (counts.sum(axis=1) == worlds).all(), on)
    shares = world_shares(data, points, n_neighbors)
    worst = max(
        map(_share_error, shares.ravel().tolist(), counts.ravel().tolist(), [worlds] * counts.size)
    )
    report.check(
        f"{name}: world_shares = world_counts / n_worlds",
        worst <= RELATIVE,
        f"{on}, relative error {worst:.1e}",
    )
    certain = is_certain(data, points, n_neighbors)
    one_label = (counts > 0).sum(axis=1) == 1
    report.check(f"{name}: is_certain = one label has all counts", (certain == one_label).all(), on)


def _share_error(share: float, count: int, worlds: int) -> float:
    """Relative error of a share; below SMALLEST it need only be small too, and 0 only for 0."""
    exact = Fraction(count, worlds)
    if exact > SMALLEST:
        return float(abs(Fraction(share) - exact) / exact)
    fine = 0.0 <= share <= 2 * SMALLEST and (count > 0 or share == 0.0)
    return 0.0 if fine else float("inf")


def check_gains(
    report: Report,
    name: str,
    data: IncompleteDataset,
    points: Floats,
    n_neighbors: int,
    n_pinned: int,
) -> None:
    """Expected entropies of all rows from conditional shares, of some from pinned data."""
    ours = expected_entropies(data, points, n_neighbors)
    direct = np.zeros(data.n_rows)
    for point in points:
        given = conditional_shares(data, point, n_neighbors)
        direct += [data.prior(row) @ entropy(shares) for row, shares in enumerate(given)]
    off = float(np.abs(ours - direct / len(points)).max())
    report.check(
        f"{name}: expected_entropies from conditional_shares",
        off <= ENTROPY,
        f"{data.n_rows} rows x {len(points)} points, off by {off:.1e}",
    )
    rows = _telling_rows(data, ours, n_pinned)
    off = max(abs(ours[row] - _after_pinning(data, row, points, n_neighbors)) for row in rows)
    report.check(
        f"{name}: expected_entropies from pinned data",
        off <= ENTROPY,
        f"{len(rows)} rows x {len(points)} points, off by {off:.1e}",
    )


def _telling_rows(data: IncompleteDataset, expected: Floats, size: int) -> list[int]:
    """The first dirty row, and those whose cleaning tells most."""
    dirty = data.dirty_rows
    best = dirty[np.argsort(expected[dirty], kind="stable")]
    return list(dict.fromkeys([int(dirty[0]), *best[: size - 1].tolist()]))


def _after_pinning(data: IncompleteDataset, row: int, points: Floats, n_neighbors: int) -> float:
    means = [
        float(entropies(data.pin(row, candidate), points, n_neighbors).mean())
        for candidate in range(int(data.candidate_counts[row]))
    ]
    return float(data.prior(row) @ means)


def check_reference(
    report: Report, name: str, data: IncompleteDataset, point: Floats, n_neighbors: int
) -> None:
    """Exact counts of one point against the paper's algorithm."""
    ours = tuple(world_counts(data, point[None, :], n_neighbors)[0].tolist())
    report.check(
        f"{name}: world_counts = ss_dc",
        ours == reference.ss_dc(data, point, n_neighbors),
        "1 point",
    )


def check_neighbours(
    report: Report,
    name: str,
    space: Space,
    points: Floats,
    found: tuple[Floats, npt.NDArray[np.int64]],
) -> None:
    """The yardstick's nearest candidate is ours: at that distance, and its label is possible."""
    far, nearest = found[0][:, 0], found[1][:, 0]
    direct = np.array([np.linalg.norm(space.candidates - point, axis=1).min() for point in points])
    # The yardstick squares before it subtracts: near 0 it is good to the root of the precision.
    report.check(
        f"{name}: nearest candidate of kneighbors",
        np.allclose(far, direct, 1e-6, 1e-6),
        f"{len(points)} points",
    )
    possible = possible_labels(space.data, points, 1)
    labels = space.data.codes[space.owners[nearest]]
    clear = np.array(
        [_alone(space, point, label) for point, label in zip(points, labels, strict=True)]
    )
    agrees = possible[np.arange(len(points)), labels] | ~clear
    report.check(
        f"{name}: its label is possible for K = 1",
        agrees.all(),
        f"{int(clear.sum())} points without near ties",
    )


def _alone(space: Space, point: Floats, label: int) -> bool:
    """Whether no candidate of another label is as near as the nearest of this one."""
    far = np.linalg.norm(space.candidates - point, axis=1)
    own = space.data.codes[space.owners] == label
    return bool(own.all() or far[own].min() + 1e-6 < far[~own].min())
