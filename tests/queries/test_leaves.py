"""Questions about leaves of trees: against the oracle, and against codes as plain features."""

from __future__ import annotations

import pickle
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from data.spaces.tree_samples import random_trees_of
from queries.samples import everything
from queries.test_agreement import check
from slow_cases import parts, rest_slow
from strategies import Case, random_case, random_factored_case, sweep

from cpclean import (
    Cell,
    CleaningSession,
    FactoredRow,
    IncompleteDataset,
    Points,
    entropies,
    expected_entropies,
    is_certain,
    possible_labels,
    share_errors,
    world_counts,
    world_shares,
)
from cpclean.data.spaces.trees import Trees
from cpclean.errors import DataError, QueryError
from cpclean.queries.geometry import LEAF_METRICS, ask
from cpclean.queries.leaf_rows import prepared_leaves
from cpclean.queries.look import look
from cpclean.queries.model import Model


def trees_for(case: Case, seed: int) -> Trees:
    rng = np.random.default_rng(seed)
    return random_trees_of(rng, len(case.X[0]), int(rng.integers(1, 7)))


def check_leaves(case: Case, seed: int) -> None:
    """The oracle takes distances of the leaves, one pair of vectors at a time."""
    trees = trees_for(case, seed)

    def tellings_apart(x: list[float], t: list[float]) -> float:
        one, two = trees.apply([x, t])
        return float((one != two).sum())

    metric = LEAF_METRICS[seed % len(LEAF_METRICS)]
    check(replace(case, metric=tellings_apart), case.dataset().in_space(trees), metric)


@pytest.mark.nojit
@pytest.mark.parametrize("make", [random_case, random_factored_case])
def test_agreement_with_the_oracle(make: object) -> None:
    for seed, case in enumerate(sweep(25, 31, make)):
        check_leaves(case, seed)


@pytest.mark.slow
@pytest.mark.parametrize("make", [random_case, random_factored_case])
@pytest.mark.parametrize("first", parts(range(100, 104), 2))
def test_agreement_with_the_oracle_in_many_cases(make: object, first: int) -> None:
    for seed, case in enumerate(sweep(250, first, make)):
        check_leaves(case, seed)


# -- larger tables: the codes as features of their own, under Hamming distance -------------------


def grid_rows(rng: np.random.Generator, n_rows: int, holes: float, n_features: int = 5) -> list:
    rows = []
    for _ in range(n_rows):
        dirty = np.flatnonzero(rng.random(n_features) < holes)
        cells = [Cell(int(c), np.unique(rng.integers(0, 4, 3)).astype(float)) for c in dirty]
        rows.append(FactoredRow(rng.integers(0, 4, n_features).astype(float), cells))
    return rows


def larger(
    seed: int, n_classes: int, n_rows: int = 120, holes: float = 0.15, n_trees: int = 12
) -> tuple[IncompleteDataset, np.ndarray]:
    rng = np.random.default_rng(seed)
    trees = random_trees_of(rng, 5, n_trees)
    labels = rng.integers(0, n_classes, n_rows)
    labels[:n_classes] = np.arange(n_classes)
    data = IncompleteDataset(grid_rows(rng, n_rows, holes), labels).in_space(trees)
    return data, rng.integers(0, 4, size=(20, 5)).astype(float)


def coded(data: IncompleteDataset, X: np.ndarray) -> tuple[IncompleteDataset, np.ndarray]:
    """The same in vectors of leaf numbers."""
    rows = range(data.n_rows)
    codes = [data.space.apply(data.candidates(row)).astype(float) for row in rows]
    priors = [data.prior(row) for row in rows]
    return IncompleteDataset(codes, data.labels, priors), data.space.apply(X).astype(float)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("k", [pytest.param(1, marks=pytest.mark.nojit), 4, 15, 120])
def test_leaves_are_codes_under_hamming_distance(n_classes: int, k: int) -> None:
    data, X = larger(k + n_classes, n_classes, holes=0.05 if k % 2 else 0.15)
    codes, Z = coded(data, X)
    X, Z = (X, Z) if k < 100 else (X[:3], Z[:3])
    for query in (possible_labels, world_counts):
        assert query(data, X, k).tolist() == query(codes, Z, k, "hamming").tolist()
    for query in (world_shares, entropies, expected_entropies):
        assert np.abs(query(data, X, k) - query(codes, Z, k, "hamming")).max() < 1e-12


def test_threads_and_blocks_change_nothing() -> None:
    data, X = larger(5, 2)
    X = np.tile(X, (40, 1)) + np.repeat(np.arange(40) / 7, 20)[:, None]
    expected = everything(data, X[:30], 3, "hamming")
    assert everything(data.take(range(120)), X[:30], 3, "hamming")[:3] == expected[:3]
    one, two = (world_shares(data, X, 5, n_jobs=jobs) for jobs in (1, 3))
    assert one.tolist() == two.tolist()
    parts = [world_shares(data, X[at : at + 7], 5) for at in range(0, len(X), 7)]
    assert np.concatenate(parts).tolist() == one.tolist()


@pytest.mark.nojit
def test_rows_that_share_no_leaf_cost_nothing_and_tie_by_number() -> None:
    # One tree, a leaf per unit; the point is alone in its leaf, all rows are one tree away.
    trees = Trees([0, 5], [0, 0, -1, -1, -1], [0.5, 1.5, 0, 0, 0], [2, 3, -1, -1, -1],
                  [1, 4, -1, -1, -1], n_features=1)  # fmt: skip
    data = IncompleteDataset([[[2.0]], [[2.0], [3.0]], [[5.0]], [[1.0]]], [1, 0, 0, 1])
    query = ask(data.in_space(trees), [[0.0]], Model(2))
    (near,) = query.over_blocks(lambda query, points, near: near)
    assert near.rows.tolist() == [0, 1]
    assert world_counts(data.in_space(trees), [[0.0], [1.0]], 1).tolist() == [[0, 2], [0, 2]]


# -- what becomes known ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seed", "holes"),
    [
        pytest.param(0, 0.05, marks=pytest.mark.nojit),
        (0, 0.2),
        *rest_slow([(1, 0.05), (2, 0.15), (3, 0.2)], 0),
    ],
)
def test_changed_rows_as_if_prepared_anew(seed: int, holes: float) -> None:
    data, X = larger(seed, 2, n_rows=40, holes=holes)
    assert bool(len(prepared_leaves(data).rows.row_lists)) == (holes < 0.1)
    rng = Random(seed)
    query = ask(data, X, Model(3))
    now = data
    for _ in range(150):
        row = rng.randrange(40)
        what = rng.random()
        if what < 0.4:
            after = now.pin(row, rng.randrange(int(now.candidate_counts[row])))
        elif what < 0.6:
            after = now.pin(row, value=[float(rng.randint(-1, 5)) for _ in range(5)])
        elif what < 0.8:
            after = now.given(row, {rng.randrange(5): float(rng.randint(0, 4))})
        else:
            after = now.unpin(row)
        query, now = query.changed(after, row), after
        fresh = ask(now.take(range(40)), X, Model(3))
        assert query.nearest(row).tolist() == fresh.nearest(row).tolist()
        asked = query.over_blocks(lambda query, points, near: near)
        again = fresh.over_blocks(lambda query, points, near: near)
        for one, two in zip(asked, again, strict=True):
            assert one.rows.tolist() == two.rows.tolist()
            assert one.bound.tolist() == two.bound.tolist()
            assert one.far.tolist() == two.far.tolist()
    for ask_for in (world_shares, expected_entropies):
        assert ask_for(now, X).tolist() == ask_for(now.take(range(40)), X).tolist()
    assert len(prepared_leaves(now).rows.extra) < 100  # new lists were made in between


def test_pickles_and_equality() -> None:
    data, X = larger(3, 2)
    again = pickle.loads(pickle.dumps(data))
    assert again == data
    assert data != data.in_space(None)
    assert world_shares(again, X).tolist() == world_shares(data, X).tolist()


@pytest.mark.nojit
@pytest.mark.parametrize("k", [1, 3, 15])
def test_positions_by_lists_are_those_of_near_rows(k: int) -> None:
    data, X = larger(k, 2)
    query = ask(data, X, Model(k))
    slow = query.positions(query.vectors, query.all_near(query.vectors), 0.0, True)[0]
    quick, radius = query.positions(query.vectors, None, 0.0, True)
    near = query.all_near(query.vectors)
    assert radius.tolist() == near.reach.tolist()
    for p in range(len(query.vectors)):
        near_by = slow.rows[slow.row_ptr[p] : slow.row_ptr[p + 1]]
        listed = []
        for one in (slow, quick):
            own = slice(one.ptr[p], one.ptr[p + 1])
            rows = one.rows[one.row_ptr[p] : one.row_ptr[p + 1]][one.owner[own]]
            kept = np.isin(rows, near_by)  # others begin at the reach, but behind its row
            parts = (rows, one.weight[own], one.nearer[own], one.far[own])
            listed.append([part[kept].tolist() for part in parts])
        assert listed[0] == listed[1]


def test_what_happens_beyond_the_radius_changes_nothing() -> None:
    data, X = larger(8, 2, n_rows=300, holes=0.6, n_trees=30)
    query = ask(data, X, Model(5))
    looks = look(query)
    for row in data.dirty_rows.tolist()[:8]:
        session = CleaningSession(data, X, 5)
        session.tell(row, candidate=0)
        anew = CleaningSession(session.data, X, 5)
        assert session.gains().tolist() == anew.gains().tolist()
        assert session.certain.tolist() == anew.certain.tolist()
    reach = np.concatenate([one.reach for one in looks])
    assert (reach <= query.all_near(query.vectors).reach).all()
    assert (reach < query.all_near(query.vectors).reach).any()


@pytest.mark.parametrize("k", [1, 5, 15])
def test_slack_leaves_out_no_more_mass_than_it_says(k: int) -> None:
    data, X = larger(9 + k, 2, n_rows=400, holes=0.6, n_trees=30)
    query = ask(data, X, Model(k))
    lengths = []
    for slack in (0.0, 1e-100, 1e-24, 1e-17, 1e-3, 0.3):
        places, radius = query.positions(query.vectors, None, slack, False)
        lengths.append(len(places.owner))
        for p in range(len(radius)):
            fewer = np.zeros(k)  # mass of worlds in which fewer than K rows lie within
            fewer[0] = 1.0
            for outside in places.beyond[places.row_ptr[p] : places.row_ptr[p + 1]]:
                fewer = outside * fewer + (1.0 - outside) * np.r_[0.0, fewer[:-1]]
            assert fewer.sum() <= slack
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[0] > lengths[-1] > 0


def test_the_radius_does_not_depend_on_how_lists_came_about() -> None:
    data, X = larger(21, 2, n_rows=300, holes=0.6, n_trees=30)
    query = ask(data, X, Model(5))
    now = data
    for row in data.dirty_rows.tolist()[:40]:
        now = now.pin(row, value=[float(row % 4)] * 5)
        query = query.changed(now, row)
    assert len(query.prepared.rows.extra)
    fresh = ask(now.take(range(300)), X, Model(5))
    for slack in (1e-17, 1e-6, 1e-2):
        one, two = (asked.positions(asked.vectors, None, slack, False) for asked in (query, fresh))
        assert one[1].tolist() == two[1].tolist()
        assert all(a.tolist() == b.tolist() for a, b in zip(one[0], two[0], strict=True))


# -- lists of rows beside lists of candidates ----------------------------------------------------


@pytest.mark.nojit
@pytest.mark.parametrize("seed", range(6))
def test_lists_of_rows_change_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = grid_rows(rng, 60, 0.04 + 0.02 * (seed % 3))
    trees = random_trees_of(rng, 5, 12)
    most = (10**6, 2)[seed % 2]  # with 2, some rows are bounded
    data = IncompleteDataset(rows, np.arange(60) % 2, max_exact=most).in_space(trees)
    X = rng.integers(0, 4, size=(12, 5)).astype(float)
    for k in (1, 4, 40):
        query, now = ask(data, X, Model(k)), data
        for row in data.dirty_rows.tolist()[:5]:
            now = now.pin(row, value=rng.integers(-1, 5, 5).astype(float))
            query = query.changed(now, row)
            prepared = query.prepared
            assert len(prepared.rows.row_lists)
            assert prepared.rows.bounded.any() == (most == 2) or row != data.dirty_rows[0]
            without = prepared.rows._replace(row_lists=prepared.rows.row_lists[:0])
            plain = replace(query, prepared=replace(prepared, rows=without))
            one, two = (asked.all_near(asked.vectors) for asked in (query, plain))
            for name in ("ptr", "rows", "bound", "reach", "far"):
                assert getattr(one, name).tolist() == getattr(two, name).tolist(), name


# -- too many candidates: sound bounds -----------------------------------------------------------


def long_case(seed: int) -> tuple[IncompleteDataset, IncompleteDataset, FactoredRow, int]:
    """Rows with several holes, gone through and bounded, and a point with holes."""
    rng = np.random.default_rng(seed)
    trees = random_trees_of(rng, 5, int(rng.integers(1, 8)))
    rows = grid_rows(rng, int(rng.integers(4, 8)), 0.35 if seed % 2 else 0.15)
    labels = np.arange(len(rows)) % int(rng.integers(2, 4))
    all_, few = (IncompleteDataset(rows, labels, max_exact=most) for most in (10**6, 3))
    point = grid_rows(rng, 1, float(rng.choice([0.1, 0.5])))[0]
    return all_.in_space(trees), few.in_space(trees), point, int(rng.integers(1, 4))


def check_bounds(seed: int) -> tuple[int, int]:
    """How many certain predictions are proved, and how many there are."""
    exact, bounded, point, k = long_case(seed)
    whole, few = (Points([point, [[1.0] * 5]], max_exact=most, n_draws=2) for most in (10**6, 1))
    true = possible_labels(exact, whole, k)
    certain = true.sum(axis=1) == 1
    assert (possible_labels(exact, few, k) >= true).all(), seed
    found = 0
    for points in (whole, few):
        assert (possible_labels(bounded, points, k) >= true).all(), seed
        proved = is_certain(bounded, points, k)
        assert (proved <= certain).all(), seed
        found += proved.sum()
    return found, 2 * certain.sum()


@pytest.mark.nojit
def test_nothing_is_called_certain_that_is_not() -> None:
    counts = np.array([check_bounds(seed) for seed in range(40)]).sum(axis=0)
    assert 0.3 * counts[1] < counts[0] < counts[1]


@pytest.mark.slow
def test_nothing_is_called_certain_that_is_not_in_many_cases() -> None:
    seeds = parts(range(100, 4_100), 500)
    counts = np.array([check_bounds(seed) for seed in seeds]).sum(axis=0)
    assert 0.3 * counts[1] < counts[0] < counts[1]


def test_shares_of_draws_are_right_on_average() -> None:
    exact, _, _, k = long_case(7)
    X = np.array([[0.0] * 5, [1.0, 2.0, 3.0, 0.0, 1.0], [3.0] * 5])
    found = []
    for seed in range(200):
        drawn = IncompleteDataset.from_arrays(
            exact.arrays,
            exact.codes,
            exact.classes,
            replace(exact.drawing, max_exact=3, n_draws=8, seed=seed),
            exact.row_names,
            exact.space,
        )
        assert not drawn.is_exact
        found.append(world_shares(drawn, X, k))
    error = np.std(found, axis=0, ddof=1) / np.sqrt(len(found))
    true = world_shares(exact, X, k)
    assert (np.abs(np.mean(found, axis=0) - true) <= 4 * error + 1e-12).all()
    assert (share_errors(drawn, X, k) > 0).any()


# -- bad input ---------------------------------------------------------------------------------


@pytest.mark.nojit
@pytest.mark.parametrize("metric", ["chebyshev", "precomputed", lambda x, t: 0.0])
def test_a_metric_that_does_not_fit(metric: object) -> None:
    data, X = larger(1, 2)
    with pytest.raises(QueryError, match=r"among the leaves of trees.*metric may be 'hamming'"):
        world_shares(data, X, 3, metric)


@pytest.mark.nojit
def test_trees_of_other_vectors() -> None:
    data, _ = larger(1, 2)
    with pytest.raises(DataError, match=r"vectors of 1 numbers.*got one for 5"):
        IncompleteDataset([[[0.0]], [[1.0]]], [0, 1]).in_space(data.space)
