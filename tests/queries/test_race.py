"""Two labels: trees and walks against each other, and against all worlds."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

from cpclean.queries import _race_tree, _race_walk
from cpclean.queries._race import race_conditionals, race_gains, race_shares
from cpclean.queries.kernel_arrays import Positions
from cpclean.queries.shares import votes_needed

Found = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64], int]

SHORT, ANY = (0,) * 8, np.zeros(8, np.int8)


def drawn(rng: np.random.Generator, sizes: list[int]) -> tuple[list[list[Fraction]], list[int]]:
    """Rows of some candidates each, with priors that may be 0, and the order of all candidates."""
    priors = []
    for size in sizes:
        parts = rng.integers(0, 4, size) + np.eye(size, dtype=int)[rng.integers(size)]
        priors.append([Fraction(int(part), int(parts.sum())) for part in parts])
    return priors, rng.permutation(np.repeat(np.arange(len(sizes)), sizes)).tolist()


def placed(priors: list[list[Fraction]], order: list[int]) -> Positions:
    """All candidates as positions; those of a row come in the order of its priors."""
    met = [0] * len(priors)
    weight, nearer, far = [], [], []
    for row in order:
        weight.append(float(priors[row][met[row]]))
        met[row] += 1
        nearer.append(float(sum(priors[row][: met[row]])))
        far.append(float(sum(priors[row][met[row] :])))
    ends = np.array([0, len(priors)]), np.array([0, len(order)])
    return Positions(
        ends[0],
        np.arange(len(priors)),
        np.zeros(len(priors)),
        ends[1],
        np.array(order, dtype=np.int64),
        np.array(weight),
        np.array(nearer),
        np.array(far),
        np.zeros(0, np.int64),
    )


def walked(places: Positions, side: npt.NDArray[np.int64], k: int, width: object) -> Found:
    votes = votes_needed(k)
    shares, used = np.zeros((1, 2)), np.zeros(1, np.int64)
    sums, row_sums = np.full(len(places.owner), np.nan), np.full(len(side), np.nan)
    kernel = _race_tree.sums if width is None else _race_walk.sums
    width = (0,) * max(2, int(votes.max())) if width is None else width
    point = np.array([0])
    kernel(width, places, side, point, votes, -1.0, shares, sums, row_sums, used)
    return shares[0], sums, row_sums, int(used[0])


@pytest.mark.nojit
@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_walks_are_what_trees_are(k: int) -> None:
    rng = np.random.default_rng([1, k])
    for n_rows, most in [(k, 1), (8, 4), (9, 2), (150, 3), (40, 9)]:
        sizes = rng.integers(1, most + 1, n_rows).tolist()
        places = placed(*drawn(rng, sizes))
        side = rng.integers(0, 2, n_rows)
        trees = walked(places, side, k, None)
        for width in (SHORT, ANY, np.zeros(max(2, k // 2 + 1), np.int8)):
            walks = walked(places, side, k, width)
            assert walks[3] == trees[3] == len(places.owner)
            for one, two in zip(walks[:3], trees[:3], strict=True):
                touched = np.isin(np.arange(n_rows), places.owner)
                if len(one) == n_rows:
                    one, two = one[touched], two[touched]
                assert one == pytest.approx(two, rel=1e-12, abs=1e-300)


@pytest.mark.nojit
@pytest.mark.parametrize("k", [3, 7, 9])
def test_conditionals_against_all_worlds(k: int) -> None:
    rng = np.random.default_rng([2, k])
    for _ in range(6):
        sizes = [1] * (k - 1) + rng.integers(1, 5, 6).tolist()
        priors, order = drawn(rng, sizes)
        side = np.arange(len(sizes)) % 2
        places = placed(priors, order)
        shares, own = np.zeros((1, 2)), np.zeros(len(order))
        own_beyond = np.zeros(len(sizes))
        point, votes = np.array([0]), votes_needed(k)
        used = race_conditionals(places, side, point, votes, -1.0, shares, own, own_beyond)
        alone = np.zeros((1, 2))
        race_shares(places, side, point, votes, None, alone)
        expected, given = of_all_worlds(priors, order, side.tolist(), k)
        assert shares[0] == pytest.approx([float(one) for one in expected], abs=1e-14)
        assert alone[0] == pytest.approx([float(one) for one in expected], abs=1e-14)
        for at, row in enumerate(order):
            if places.weight[at] > 0:
                assert own[at] == pytest.approx(float(given[at][side[row]]), abs=1e-13)
        gains, entropies = np.full(len(sizes), np.nan), np.zeros(1)
        dirty = np.array(sizes) > 1
        race_gains(places, dirty, point, used, shares, own, own_beyond, entropies, gains)
        before = of_two(float(expected[0]))
        assert entropies[0] == pytest.approx(before, abs=1e-13)
        for row, size in enumerate(sizes):
            after = sum(
                places.weight[at] * of_two(float(given[at][0]))
                for at, owner in enumerate(order)
                if owner == row and places.weight[at] > 0
            )
            assert gains[row] == pytest.approx(before - after if size > 1 else 0.0, abs=1e-13)


def of_two(share: float) -> float:
    parts = [one for one in (share, 1.0 - share) if 0.0 < one < 1.0]
    return float(-sum(one * np.log(one) for one in parts))


def of_all_worlds(
    priors: list[list[Fraction]], order: list[int], side: list[int], k: int
) -> tuple[list[Fraction], list[list[Fraction]]]:
    """Shares of both labels, and given each candidate in the order of their distances."""
    place: list[list[int]] = [[] for _ in priors]
    for at, row in enumerate(order):
        place[row].append(at)
    shares = [Fraction(0)] * 2
    given = [[Fraction(0)] * 2 for _ in order]
    for world in itertools.product(*(range(len(prior)) for prior in priors)):
        mass = Fraction(1)
        for row, choice in enumerate(world):
            mass *= priors[row][choice]
        if not mass:
            continue
        at = sorted((place[row][choice], side[row]) for row, choice in enumerate(world))
        votes = [sum(label == one for _, label in at[:k]) for one in range(2)]
        label = 0 if votes[0] >= votes[1] else 1
        shares[label] += mass
        for row, choice in enumerate(world):
            given[place[row][choice]][label] += mass / priors[row][choice]
    return shares, given


def test_a_walk_stops_where_the_rest_is_negligible() -> None:
    rng = np.random.default_rng(3)
    sizes = [3] * 400
    priors, order = drawn(rng, sizes)
    places, side = placed(priors, order), rng.integers(0, 2, 400)
    point, votes = np.array([0]), votes_needed(9)
    whole = walked(places, side, 9, SHORT)
    shares, used = np.zeros((1, 2)), np.zeros(1, np.int64)
    sums, row_sums = np.zeros(len(order)), np.zeros(400)
    _race_walk.sums(SHORT, places, side, point, votes, 1e-20, shares, sums, row_sums, used)
    assert 0 < used[0] < len(order) / 4
    assert shares[0] == pytest.approx(whole[0], rel=1e-14)
    assert sums[: used[0]] == pytest.approx(whole[1][: used[0]], rel=1e-14)
    touched = np.isin(np.arange(400), order[: used[0]])
    assert row_sums[touched] == pytest.approx(whole[2][touched], rel=1e-14)


def test_a_label_that_is_next_to_impossible_has_its_share() -> None:
    # Nine rows of label 1 are near for sure but for 1e-9 each; label 0 needs five of its own.
    n = 30
    priors = [[1 - Fraction(1, 10**9), Fraction(1, 10**9)] if row < 9 else [Fraction(1)]
              for row in range(n)]  # fmt: skip
    order = [*range(9), *range(9, n), *range(9)]
    side = (np.arange(n) < 9).astype(np.int64)
    places, out = placed(priors, order), np.zeros((1, 2))
    race_shares(places, side, np.array([0]), votes_needed(9), None, out)
    q = Fraction(1, 10**9)
    expected = sum(
        Fraction(int(np.prod([9 - i for i in range(m)]) // np.prod(range(1, m + 1))))
        * q**m
        * (1 - q) ** (9 - m)
        for m in range(5, 10)
    )
    assert out[0, 0] == pytest.approx(float(expected), rel=1e-12)
