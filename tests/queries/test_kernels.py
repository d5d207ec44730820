"""The kernels one by one: sorting, positions, extremes, and the two scans against each other."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import oracle
import pytest
from queries.parts import Parts

from cpclean import Cell, FactoredRow, IncompleteDataset
from cpclean.queries import _minmax, _near, _order, _race, reference, residues
from cpclean.queries.geometry import ask
from cpclean.queries.model import Model
from cpclean.queries.plain_query import PlainQuery
from cpclean.queries.query import Near, Neighbourhood, Query
from cpclean.queries.shares import tallied, votes_needed

pytestmark = pytest.mark.nojit

NEAR, ORDER, RACE = Parts(_near), Parts(_order), Parts(_race)


def instance(
    seed: object, n_rows: int, n_classes: int = 2, grid: int = 4, most: int = 4, n_points: int = 3
) -> tuple[IncompleteDataset, np.ndarray]:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, most + 1, size=n_rows)
    candidates = [rng.integers(0, grid + 1, size=(size, 2)).astype(float) for size in sizes]
    priors = [rng.dirichlet(np.ones(size)) for size in sizes]
    labels = rng.integers(0, n_classes, size=n_rows)
    labels[:n_classes] = np.arange(n_classes)
    X = rng.integers(0, grid + 1, size=(n_points, 2)).astype(float)
    return IncompleteDataset(candidates, labels, priors), np.unique(X, axis=0)


def near_rows(query: Query, n_neighbors: int, limit: int = 10**9) -> Near:
    assert isinstance(query, PlainQuery)
    columns = _near.by_product(query.metric, query.vectors, query.data.n_features)
    found = _near.near_rows(
        query.rows, query.kernel_metric, query.vectors, columns, None, None, n_neighbors, limit
    )
    return Near(*found)


def around(
    query: Query, slack: float = 0.0, want_rank: bool = False
) -> Iterator[tuple[Near, Neighbourhood]]:
    """The neighbourhoods of a query's points, and the near rows they come from."""

    def answer(query: Query, points: np.ndarray, near: Near) -> list[tuple[Near, Neighbourhood]]:
        return [(near, hood) for hood in query.around(points, near, slack, want_rank)]

    return (one for block in query.over_blocks(answer) for one in block)


# -- sorting ---------------------------------------------------------------------------------------


def sorted_by_kernel(values: np.ndarray) -> list[int]:
    n = len(values)
    order, spare = np.full(n, -1), np.full(n, -1)
    ORDER._sort(values, order, spare, np.full(n + 1, -1))
    return order.tolist()


RNG = np.random.default_rng(1)
TINY = 5e-324
AWKWARD = {
    "nothing": np.zeros(0),
    "one": np.array([3.0]),
    "all equal": np.full(100, 0.1),
    "few equal": np.full(5, 0.1),
    "ascending": np.arange(200.0),
    "descending": np.arange(200.0)[::-1],
    "two clusters": np.r_[RNG.random(100), 1e9 + RNG.random(100)][RNG.permutation(200)],
    "two tight clusters": np.where(RNG.random(300) < 0.5, 1.0, 1e6) + RNG.integers(0, 3, 300),
    "one far away": np.r_[RNG.random(150), 1e300],
    "many ties": RNG.integers(0, 5, size=300).astype(float),
    "few values many times": np.repeat([2.0, 1.0, 2.0], 40),
    "random": RNG.normal(size=400),
    "exponents": 10.0 ** RNG.integers(-300, 300, size=200),
    "huge range": np.r_[-1e308, 1e308, RNG.normal(size=50) * 1e307],
    "denormals": RNG.integers(0, 40, size=60) * TINY,
    "two denormals": np.array([TINY, 0.0]),
    "next to the smallest": np.r_[2.3e-308, 2.2e-308, TINY, 0.0, 2.3e-308],
    "neighbouring floats": np.nextafter(1.0, 2.0) ** RNG.integers(0, 3, size=50),
    "infinity": np.r_[RNG.normal(size=30), np.inf, 1.0, np.inf],
    "minus infinity": np.r_[-np.inf, RNG.normal(size=30), -np.inf],
    "both infinities": np.r_[np.inf, 0.0, -np.inf, 1.0, np.inf, -np.inf],
    "nothing but infinity": np.full(40, np.inf),
    "one minus infinity": np.array([-np.inf]),
    "signed zeros": np.array([0.0, -0.0, 0.0, -1.0, -0.0]),
}


@pytest.mark.parametrize("name", AWKWARD)
def test_sorting_is_stable(name: str) -> None:
    values = AWKWARD[name].astype(np.float64)
    before = values.copy()
    expected = np.argsort(values, kind="stable").tolist()
    assert sorted_by_kernel(values) == expected
    assert np.array_equal(values, before)


@pytest.mark.parametrize("size", [2, 3, 23, 24, 25, 26, 100])
def test_sorting_of_any_size(size: int) -> None:
    rng = np.random.default_rng(size)
    for _ in range(20):
        kind = rng.integers(4)
        values = rng.normal(size=size) ** 3 if kind else rng.integers(0, 4, size).astype(float)
        if kind == 1:  # all but one in one bucket
            values[rng.integers(size)] = 1e12
        assert sorted_by_kernel(values) == np.argsort(values, kind="stable").tolist()


# -- near rows -------------------------------------------------------------------------------------


def test_a_heap_keeps_the_smallest_ends_of_the_smallest_rows() -> None:
    rng = np.random.default_rng(2)
    for k in (1, 2, 3, 7, 16):
        for most in (3, 30):  # with many ties and with few
            values, rows = rng.integers(0, most, 60).astype(float), rng.permutation(60)
            heap, who = np.full((2, k), np.inf), np.full((2, k), 60)
            found = np.zeros((60, 3))
            for at in range(0, 60, 20):
                own = slice(at, at + 20)
                NEAR._keep(1, values[own], values[own], rows[own], 20, heap, who, found, 0)
            expected = sorted(zip(values.tolist(), rows.tolist(), strict=True))[:k]
            assert (heap[1, 0], who[1, 0]) == expected[-1]
            assert sorted(zip(heap[1].tolist(), who[1].tolist(), strict=True)) == expected
            assert (heap[0] == np.inf).all()


@pytest.mark.parametrize(
    "metric", ["euclidean", "manhattan", "chebyshev", "hamming", "linear", "cosine"]
)
def test_boxes_bound_the_distances_of_their_rows(metric: str) -> None:
    rng = np.random.default_rng(3)
    rows = [rng.normal(size=(rng.integers(1, 5), 3)) + rng.normal() for _ in range(40)]
    rows[0] = np.zeros((1, 3))
    rows[1] = np.array([[0.0, 0.0, 0.0], [1.0, 2.0, -1.0]])
    data = IncompleteDataset(rows, [0] * 40)
    for t in rng.normal(size=(6, 3)):
        query = ask(data, [t], Model(40, metric))  # with K = N no row is left out
        near = near_rows(query, 40)
        assert near.rows.tolist() == list(range(40))
        expected = [[oracle.distance(x, t.tolist(), metric) for x in row.tolist()] for row in rows]
        assert (near.bound <= [min(row) for row in expected]).all()
        assert near.reach[0] >= max(map(max, expected))
        clean = [row for row in range(2, 40) if len(rows[row]) == 1]
        assert near.bound[clean].tolist() == [expected[row][0] for row in clean]


def test_more_rows_than_a_block_and_more_near_rows_than_room() -> None:
    rng = np.random.default_rng(4)
    data = IncompleteDataset(rng.normal(size=(600, 2, 1)), np.arange(600) % 2)
    X = rng.normal(size=(12, 1))
    query = ask(data, X, Model(500, "manhattan"))
    near = near_rows(query, 500)
    assert len(near.rows) > 4096
    for point, t in enumerate(X):
        far = np.abs(np.array([data.candidates(row)[:, 0] for row in range(600)]) - t)
        reach = np.sort(far.max(axis=1))[499]
        assert near.reach[point] == reach
        boxes = np.array([[c.min(), c.max()] for c in map(data.candidates, range(600))])
        bound = np.maximum(np.maximum(boxes[:, 0] - t, t - boxes[:, 1]), 0.0)
        expected = np.flatnonzero(bound <= reach)
        assert near.rows[near.ptr[point] : near.ptr[point + 1]].tolist() == expected.tolist()


def _box_distances(low: np.ndarray, high: np.ndarray, t: np.ndarray, metric: str) -> np.ndarray:
    """Smallest and largest distance of every box, shape (2, n), exact on small whole numbers."""
    if metric == "linear":
        ends = np.stack([-low * t, -high * t])
        return np.stack([ends.min(axis=0).sum(axis=1), ends.max(axis=0).sum(axis=1)])
    if metric == "hamming":
        outside, fixed = (t < low) | (t > high), (t == low) & (t == high)
        return np.stack([outside.sum(axis=1), (~fixed).sum(axis=1)]).astype(float)
    gap = np.maximum(np.maximum(low - t, t - high), 0.0)
    reach = np.maximum(t - low, high - t)
    if metric == "chebyshev":
        return np.stack([gap.max(axis=1), reach.max(axis=1)])
    power = 2 if metric == "euclidean" else 1
    return np.stack([(gap**power).sum(axis=1), (reach**power).sum(axis=1)])


def _near_by_pairs(least: np.ndarray, most: np.ndarray, k: int) -> tuple[float, np.ndarray]:
    """The reach, and the rows that do not begin beyond it: pairs of a distance and a row."""
    reach = sorted((distance, row) for row, distance in enumerate(most.tolist()))[k - 1]
    begins = enumerate(least.tolist())
    return reach[0], np.array([row for row, distance in begins if (distance, row) <= reach])


@pytest.mark.parametrize("n_neighbors", [1, 3, 300])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "hamming", "linear"])
def test_near_rows_of_many_blocks(metric: str, n_neighbors: int) -> None:
    rng = np.random.default_rng(6)
    table = np.repeat(rng.integers(-9, 10, size=(900, 1, 3)).astype(float), 4, axis=1)
    holes = rng.permutation(900)[:200]
    table[holes, :, rng.integers(3, size=200)] = rng.integers(-9, 10, size=(200, 4))
    data = IncompleteDataset(list(table), np.arange(900) % 2)
    X = rng.integers(-12, 13, size=(30, 3)).astype(float)
    query = ask(data, X, Model(n_neighbors, metric))
    assert len(query.rows.block_at) > 5
    near = near_rows(query, n_neighbors)
    for point, t in enumerate(query.vectors):
        bounds = _box_distances(table.min(axis=1), table.max(axis=1), t, metric)
        reach, expected = _near_by_pairs(*bounds, n_neighbors)
        own = slice(near.ptr[point], near.ptr[point + 1])
        assert near.reach[point] == reach
        assert near.rows[own].tolist() == expected.tolist()
        assert near.bound[own].tolist() == bounds[0][expected].tolist()


def test_near_rows_of_many_blocks_with_given_distances() -> None:
    rng = np.random.default_rng(7)
    data = IncompleteDataset(list(rng.normal(size=(700, 2, 1))), np.arange(700) % 2)
    distances = rng.integers(0, 50, size=(5, 1400)).astype(float)
    query = ask(data, distances, Model(3, "precomputed"))
    near = near_rows(query, 3)
    for point, own in enumerate(distances.reshape(5, 700, 2)):
        reach, expected = _near_by_pairs(own.min(axis=1), own.max(axis=1), 3)
        assert near.reach[point] == reach
        assert near.rows[near.ptr[point] : near.ptr[point + 1]].tolist() == expected.tolist()


def test_rows_are_sorted_point_by_point() -> None:
    rng = np.random.default_rng(8)
    for n_rows in (1, 63, 64, 65, 1000):
        lists = [rng.permutation(n_rows)[: rng.integers(n_rows + 1)] for _ in range(4)]
        ptr = np.concatenate([[0], np.cumsum([len(one) for one in lists])])
        rows = np.concatenate(lists)
        bound = rows * 0.5
        NEAR._ascending(n_rows, ptr, rows, bound)
        assert rows.tolist() == [row for one in lists for row in sorted(one.tolist())]
        assert bound.tolist() == (rows * 0.5).tolist()


def test_too_many_near_rows_for_several_points() -> None:
    data, X = instance(5, 40, n_points=4)
    query = ask(data, X, Model(3, "euclidean"))
    given_up = near_rows(query, 3, 5)
    assert len(given_up.ptr) == len(given_up.rows) == 0
    single = near_rows(ask(data, X[:1], Model(3, "euclidean")), 3, 5)
    assert len(single.rows) > 0


def test_labels_around_a_point() -> None:
    row_ptr, codes = np.array([0, 4, 5, 8]), np.array([7, 2, 7, 5, 3, 9, 0, 9])
    side, ptr, present = _near.local_labels(row_ptr, codes, 10)
    assert side.tolist() == [2, 0, 2, 1, 0, 1, 0, 1]
    assert ptr.tolist() == [0, 3, 4, 6]
    assert present.tolist() == [2, 5, 7, 3, 0, 9]


# -- positions -------------------------------------------------------------------------------------


def expected_positions(data: IncompleteDataset, t: np.ndarray, rows: list[int], metric: str):
    """Every position of the rows, in THE order: (distance, row) -> [prior mass, candidates]."""
    found: dict[tuple[float, int], list] = {}
    for row in rows:
        weights = data.prior(row)
        for number, x in enumerate(data.candidates(row).tolist()):
            key = (oracle.distance(x, t.tolist(), metric), row)
            place = found.setdefault(key, [0.0, []])
            place[0] += weights[number]
            place[1].append(number)
    return dict(sorted(found.items()))


@pytest.mark.parametrize("most", [3, 30])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("slack", [0.0, 1e-3, 0.3])
def test_positions_are_in_order(slack: float, metric: str, most: int) -> None:
    data, X = instance([6, most], 150 if most == 3 else 20, most=most, grid=3, n_points=4)
    query = ask(data, X, Model(4, metric))
    n_points = 0
    for _, hood in around(query, slack, want_rank=True):
        places, start = hood.positions, 0
        for number, t in enumerate(query.vectors[hood.points]):
            n_points += 1
            span, rows = hood.span(number), places.rows[hood.rows(number)].tolist()
            assert rows == sorted(rows)
            expected = expected_positions(data, t, rows, metric)
            keys = list(expected)[: len(places.owner[span])]
            # A prefix of the order, never parting what is equally far.
            if len(keys) < len(expected):
                assert list(expected)[len(keys)][0] > keys[-1][0]
            assert [rows[own] for own in places.owner[span]] == [row for _, row in keys]
            masses = [expected[key][0] for key in keys]
            assert places.weight[span] == pytest.approx(masses, rel=1e-13)
            for row, beyond in zip(rows, places.beyond[hood.rows(number)], strict=True):
                mine = [i for i, key in enumerate(keys) if key[1] == row]
                total = sum(masses[i] for i in mine)
                assert beyond == pytest.approx(1.0 - total, abs=1e-13)
                for i in mine:
                    nearer = sum(masses[j] for j in mine if j <= i)
                    assert places.nearer[span][i] == pytest.approx(nearer, rel=1e-13)
                    assert places.far[span][i] == pytest.approx(1.0 - nearer, abs=1e-13)
                if len(mine) == sum(key[1] == row for key in expected):
                    assert places.far[span][mine[-1]] == beyond == 0.0
                count = int(data.candidate_counts[row])
                ranks = places.rank[start : start + count].tolist()
                start += count
                for place, key in enumerate(expected):
                    if key[1] == row:
                        at = place if place < len(keys) else -1
                        assert {ranks[candidate] for candidate in expected[key][1]} == {at}
        assert start == len(places.rank)
    assert n_points == len(query.vectors)


def test_slack_leaves_out_no_more_mass_than_it_says() -> None:
    # Rows that nearly all may be far away, so that no K of them are wholly within for long.
    rng = np.random.default_rng(7)
    near = np.linspace(0.0, 50.0, 500)
    rows = np.stack([near, near + 0.1, 100.0 + rng.random(500)], axis=1)[:, :, None]
    priors = [[0.5, 0.499, 0.001]] * 500
    data = IncompleteDataset(rows, np.arange(500) % 2, priors)
    query = ask(data, [[0.0]], Model(5, "euclidean"))
    lengths = []
    for slack in (0.0, 1e-200, 1e-24, 1e-3):
        ((_, hood),) = around(query, slack)
        places = hood.positions
        lengths.append(len(places.owner))
        # Mass of worlds in which fewer than K rows lie within the positions.
        fewer = np.zeros(5)
        fewer[0] = 1.0
        for outside in places.beyond:
            fewer = outside * fewer + (1.0 - outside) * np.r_[0.0, fewer[:-1]]
        assert fewer.sum() <= slack
    assert lengths[0] > lengths[1] > lengths[2] >= lengths[3] > 10


def test_long_rows_lose_nothing_to_rounding() -> None:
    rng = np.random.default_rng(8)
    rows = [rng.permutation(1500)[:, None] + number / 4.0 for number in range(3)]
    priors = [rng.dirichlet(np.full(1500, 0.3)) for _ in range(3)]
    data = IncompleteDataset(rows, [0, 1, 0], priors)
    X = [[0.0], [2000.0]]
    for _, hood in around(ask(data, X, Model(3, "manhattan")), want_rank=True):
        places = hood.positions
        assert len(places.owner) == len(places.rank) == 2 * 4500
        for point in range(2):
            span = hood.span(point)
            owner, rank = places.owner[span], places.rank[span]
            for row in range(3):
                mine = np.flatnonzero(owner == row)
                order = np.argsort(np.abs(rows[row][:, 0] - X[point]), kind="stable")
                assert rank[1500 * row : 1500 * (row + 1)][order].tolist() == mine.tolist()
                weights = data.prior(row)[order].tolist()
                assert places.weight[span][mine].tolist() == weights
                for i in (0, 10, 700, 1400, 1499):
                    nearer, far = math.fsum(weights[: i + 1]), math.fsum(weights[i + 1 :])
                    assert places.nearer[span][mine[i]] == pytest.approx(nearer, rel=5e-16)
                    assert places.far[span][mine[i]] == pytest.approx(far, rel=5e-16)


# -- extremes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "metric", ["euclidean", "manhattan", "chebyshev", "hamming", "linear", "cosine"]
)
@pytest.mark.parametrize("k", [1, 2, 5, 40])
def test_extremes(metric: str, k: int) -> None:
    """Rows are opened in several steps; events, and what is possible, are as if all were."""
    rng = np.random.default_rng(9)
    rows = []
    for number in range(40):
        kind = number % 3
        if kind == 0:
            rows.append(rng.integers(-2, 3, size=4).astype(float))
        elif kind == 1:
            rows.append(rng.integers(-2, 3, size=(2, 4)).astype(float))
        else:
            values = rng.integers(-2, 3, size=(3, 2)).astype(float)
            cells = [Cell([0, 1], values), Cell(3, [1.0, -1.0, 0.0, 2.0])]
            rows.append(FactoredRow(rng.integers(-2, 3, size=4).astype(float), cells))
    data = IncompleteDataset(rows, rng.integers(0, 3, 40))
    for t in rng.integers(-2, 3, size=(5, 4)).astype(float):
        query = ask(data, [t], Model(k, metric))
        near = query.all_near(query.vectors)
        ptr, event = query.extremes(query.vectors, near)
        far = [
            [oracle.distance(x, t.tolist(), metric) for x in data.candidates(row).tolist()]
            for row in near.rows
        ]
        last = sorted(max(one) for one in far)[k - 1]
        expected = sorted(
            (end, local, which)
            for local, one in enumerate(far)
            for which, end in enumerate((min(one), max(one)))
            if end <= min(last, near.reach[0])
        )
        actual = [(code if code >= 0 else -1 - code) for code in event]
        assert actual == [2 * local + end for _, local, end in expected]
        assert ptr.tolist() == [0, len(actual)]
        # A row that begins and ends at once is one step, and only such a row.
        for i, code in enumerate(event):
            at_once = (
                actual[i] % 2 == 0
                and i + 1 < len(actual)
                and actual[i + 1] == actual[i] + 1
                and expected[i][0] == expected[i + 1][0]
            )
            assert (code < 0) == at_once
        found = np.zeros((1, 3), dtype=bool)
        _minmax.possible(near.ptr, *query.labels_near(near), ptr, event, k, found)
        assert query.possible(query.vectors, near).tolist() == found.tolist()


@pytest.mark.nojit
def test_rows_are_opened_until_all_labels_are_found_or_no_more_can_matter() -> None:
    """Rows of many sizes around points of their own kind, against the order of all their ends."""
    rng = np.random.default_rng(12)
    n_certain = 0
    for _ in range(30):
        n_rows, k, spread = 60, int(rng.choice([1, 3, 9])), float(rng.choice([0.2, 2.0, 20.0]))
        starts = rng.integers(0, 40, n_rows).astype(float)
        ends = starts + np.round(rng.exponential(spread, n_rows))
        codes = np.where(starts < 20, 0, rng.integers(0, 3, n_rows))
        candidates = [[[one], [other]] for one, other in zip(starts, ends, strict=True)]
        data = IncompleteDataset(candidates, codes)
        X = rng.integers(0, 45, (8, 1)).astype(float)
        query = ask(data, X, Model(k))
        near = query.all_near(query.vectors)
        found = query.possible(query.vectors, near)
        for t, labels in zip(query.vectors[:, 0], found, strict=True):
            away = np.sort(np.abs(np.stack([starts, ends], axis=1) - t), axis=1)
            steps = sorted((away[row, end], row, end) for row in range(n_rows) for end in range(2))
            event = [
                -1 - 2 * row if end == 0 and away[row, 0] == away[row, 1] else 2 * row + end
                for _, row, end in steps
            ]
            every = np.array([0, n_rows])
            expected = np.zeros((1, data.n_classes), dtype=bool)
            _minmax.possible(
                every, *_near.local_labels(every, data.codes, data.n_classes),
                np.array([0, len(event)]), np.array(event), k, expected,
            )  # fmt: skip
            assert labels.tolist() == expected[0].tolist()
            n_certain += labels.sum() == 1
    assert 50 < n_certain < 190


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_possible_labels_from_extremes(n_classes: int) -> None:
    rng = np.random.default_rng([10, n_classes])
    for _ in range(25):
        n_rows = int(rng.integers(n_classes, 8))
        ends = np.sort(rng.integers(0, 6, size=(n_rows, 2)), axis=1).astype(float)
        codes = np.r_[np.arange(n_classes), rng.integers(0, n_classes, n_rows - n_classes)]
        k = int(rng.integers(1, n_rows + 1))
        candidates = [[[low], [high]] for low, high in ends.tolist()]
        expected = oracle.possible_labels(candidates, codes.tolist(), n_classes, None, [0.0], k)
        steps = sorted(
            (far, row, end) for row in range(n_rows) for end, far in enumerate(ends[row])
        )
        event = [
            -1 - 2 * row if end == 0 and ends[row, 0] == ends[row, 1] else 2 * row + end
            for _, row, end in steps
        ]
        found = np.zeros((1, n_classes), dtype=bool)
        ptr = np.array([0, n_rows])
        labels = _near.local_labels(ptr, codes, n_classes)
        _minmax.possible(ptr, *labels, np.array([0, len(event)]), np.array(event), k, found)
        assert found[0].tolist() == expected


# -- the two scans against each other --------------------------------------------------------------


@pytest.mark.parametrize("k", range(1, 13))
def test_race_and_tally_agree_on_two_labels(k: int) -> None:
    for seed in range(3):
        data, X = instance([11, k, seed], 18)
        query = ask(data, X, Model(k, "euclidean"))
        for _, hood in around(query):
            two = np.flatnonzero(hood.n_labels == 2)
            assert len(two)
            shares = np.zeros((len(two), 2))
            _race.race_shares(hood.positions, hood.side, two, votes_needed(k), None, shares)
            given = np.zeros((len(two), 2))
            own = np.full(len(hood.positions.owner), np.nan)
            own_beyond = np.full(len(hood.positions.rows), np.nan)
            _race.race_conditionals(
                hood.positions, hood.side, two, votes_needed(k), -1.0, given, own, own_beyond
            )
            for number, point in enumerate(two.tolist()):
                both = np.arange(2)
                expected, at, beyond = tallied(query, hood, point, both, both, want_sums=True)
                assert expected.sum() == pytest.approx(1.0, abs=1e-13)
                assert shares[number] == pytest.approx(expected, rel=1e-12, abs=1e-15)
                assert given[number] == pytest.approx(expected, rel=1e-12, abs=1e-15)
                rows, span = hood.rows(point), hood.span(point)
                side = hood.side[rows]
                owner = side[hood.positions.owner[span]]
                wanted = at[owner, np.arange(len(owner))]
                assert own[span] == pytest.approx(wanted, abs=1e-12)
                beyond = beyond[side, np.arange(len(side))]
                # Only where something lies beyond is there something to be given.
                some = hood.positions.beyond[rows] > 0
                assert own_beyond[rows][some] == pytest.approx(beyond[some], abs=1e-12)


@pytest.mark.parametrize("k", [1, 2, 3, 5, 8, 12])
def test_race_and_tally_agree_in_prime_fields(k: int) -> None:
    prime = residues.primes_beyond(1)[0]
    modulus = np.uint64(prime)
    data, X = instance([12, k], 15)
    query = ask(data, X, Model(k, "euclidean")).counting()
    for _, hood in around(query):
        places = hood.positions
        sizes = data.candidate_counts[places.rows]
        inverse = residues.inverses(sizes, prime)
        inverse = inverse[places.owner + np.repeat(places.row_ptr[:-1], np.diff(places.ptr))]
        masses = {
            name: getattr(places, name).astype(np.uint64) * inverse % modulus
            for name in ("weight", "nearer", "far")
        }
        places = places._replace(**masses)
        two = np.flatnonzero(hood.n_labels == 2)
        assert len(two)
        pair = np.zeros((len(two), 2), np.uint64)
        _race.race_shares(places, hood.side, two, votes_needed(k), modulus, pair)
        field = Neighbourhood(hood.points, places, hood.side, hood.label_ptr, hood.present)
        for number, point in enumerate(two.tolist()):
            t = query.vectors[hood.points][point]
            counts = reference.ss_dc(data, t, k)
            share = pow(data.n_worlds, -1, prime)
            expected = [count * share % prime for count in counts]
            assert pair[number].tolist() == expected
            both = np.arange(2)
            actual, _, _ = tallied(query, field, point, both, both, modulus=modulus)
            assert actual.tolist() == expected


@pytest.mark.parametrize(("n_classes", "k"), [(3, 1), (3, 4), (5, 3), (6, 6)])
def test_tallies_of_many_labels(n_classes: int, k: int) -> None:
    data, X = instance([13, n_classes, k], 14, n_classes, n_points=2)
    uniform = IncompleteDataset([data.candidates(row) for row in range(14)], data.labels)
    query = ask(uniform, X, Model(k, "manhattan"))
    for _, hood in around(query):
        for point in range(len(hood.n_labels)):
            t = query.vectors[hood.points][point]
            counts = reference.ss_dc_mc(uniform, t, k, "manhattan")
            winners = np.arange(hood.n_labels[point])
            expected = [counts[label] / uniform.n_worlds for label in hood.labels(point)]
            actual, at, beyond = tallied(query, hood, point, winners, winners, want_sums=True)
            assert actual == pytest.approx(expected, rel=1e-12, abs=1e-15)
            # Row by row, what is given averages to what is.
            rows, span = hood.rows(point), hood.span(point)
            owner, weight = hood.positions.owner[span], hood.positions.weight[span]
            for row, outside in enumerate(hood.positions.beyond[rows]):
                mine = owner == row
                mean = at[:, mine] @ weight[mine] + outside * beyond[:, row]
                assert mean == pytest.approx(actual, abs=1e-12)
            # Some labels alone have the shares they have among all.
            alone, _, _ = tallied(query, hood, point, winners, winners[1:2])
            assert alone == pytest.approx(actual[1:2], rel=1e-14)


@pytest.mark.parametrize("k", [2, 6])
def test_tallies_leave_out_no_more_than_the_slack(k: int) -> None:
    # Most rows may be far away, so that the numbers of nearer rows have long tails.
    rng = np.random.default_rng([15, k])
    rows = [[[x], [x + 1.5], [90.0 + x]] if x % 2 else [[x]] for x in np.arange(0.25, 31.0, 0.25)]
    priors = [rng.dirichlet([5.0, 5.0, 1.0]) if len(row) > 1 else None for row in rows]
    data = IncompleteDataset(rows, rng.integers(0, 5, len(rows)), priors)
    query = ask(data, [[0.0]], Model(k, "manhattan"))
    ((_, hood),) = around(query)
    winners = np.arange(hood.n_labels[0])  # all that may win, and perhaps more
    exact, at, beyond = tallied(query, hood, 0, winners, winners, 0.0, want_sums=True)
    some = hood.positions.beyond > 0
    lost = []
    for slack in (1e-12, 1e-6, 1e-3, 0.1):
        shares, _, _ = tallied(query, hood, 0, winners, winners, slack)
        assert (shares <= exact * (1 + 1e-13)).all()
        lost.append(exact.sum() - shares.sum())
        assert lost[-1] <= slack
        given = tallied(query, hood, 0, winners, winners, slack, want_sums=True)
        assert np.abs(given[0] - exact).max() <= slack
        assert np.abs(given[1] - at).max() <= 4 * slack
        assert np.abs(given[2] - beyond)[:, some].max() <= 4 * slack
    assert lost[-1] > 1e-9  # there was something to leave out


def test_a_long_race() -> None:
    # Enough rows of each label for trees of several levels, and K beyond what is unrolled.
    rng = np.random.default_rng(14)
    data = IncompleteDataset(rng.integers(0, 30, size=(70, 2, 1)).astype(float), np.arange(70) % 2)
    for k in (1, 4, 9):
        query = ask(data, [[0.0]], Model(k, "manhattan"))
        for _, hood in around(query):
            shares = np.zeros((1, 2))
            points = np.array([0])
            _race.race_shares(hood.positions, hood.side, points, votes_needed(k), None, shares)
            counts = reference.ss_dc(data, [0.0], k, "manhattan")
            expected = [count / data.n_worlds for count in counts]
            assert shares[0] == pytest.approx(expected, rel=1e-12, abs=0.0)


def test_entropy_of_two_shares() -> None:
    for share in (0.0, 1.0, -1e-18, 1.0 + 1e-16):
        assert RACE._entropy(share) == 0.0
    for share in (0.5, 0.25, 1e-9, 1e-300, 1.0 - 1e-12):
        expected = -share * math.log(share) - (1 - share) * math.log1p(-share)
        assert RACE._entropy(share) == pytest.approx(expected, rel=1e-14)
