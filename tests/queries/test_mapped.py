"""Questions about rows that a fitted object maps: against the oracle, and never certain wrongly."""

from __future__ import annotations

import pickle
from dataclasses import replace
from random import Random

import numpy as np
import oracle
import pytest
from data.spaces.fitted_samples import Stairs, Sums, mapped
from queries.samples import everything
from queries.test_agreement import check
from strategies import METRICS, Case, random_case, random_factored_case, sweep

from cpclean import (
    Cell,
    FactoredRow,
    IncompleteDataset,
    Points,
    is_certain,
    possible_labels,
    world_counts,
    world_shares,
)
from cpclean.errors import QueryError
from cpclean.queries.geometry import LEAF_METRICS


def check_mapped(case: Case, kind: type[Sums], seed: int) -> None:
    """The oracle takes distances of what the object makes of one pair of vectors at a time."""
    metric = LEAF_METRICS[seed % len(LEAF_METRICS)] if kind is Stairs else METRICS[seed % 7]
    data = mapped(case.dataset(), kind, seed)
    fitted, space = data.space.fitted, data.space

    def distance(x: list[float], t: list[float]) -> float:
        pair = np.array([x, t])
        if kind is Stairs:
            one, two = fitted.apply(pair)
            return float((one != two).sum())
        one, two = space.mapped(pair)  # rounded, and else as the object makes them
        assert np.abs([one, two] - fitted.transform(pair)).max() < 1e-8
        return oracle.distance(one.tolist(), two.tolist(), metric)

    check(replace(case, metric=distance), data, metric)


@pytest.mark.nojit
@pytest.mark.parametrize("kind", [Sums, Stairs])
@pytest.mark.parametrize("make", [random_case, random_factored_case])
def test_agreement_with_the_oracle(kind: type[Sums], make: object) -> None:
    for seed, case in enumerate(sweep(20, 41, make)):
        check_mapped(case, kind, seed)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [Sums, Stairs])
@pytest.mark.parametrize("make", [random_case, random_factored_case])
def test_agreement_with_the_oracle_in_many_cases(kind: type[Sums], make: object) -> None:
    for seed, case in enumerate(sweep(300, 42, make)):
        check_mapped(case, kind, seed)


# -- rows with more candidates than are gone through -------------------------------------------


@pytest.mark.nojit
def test_open_rows_are_never_the_reason_for_certainty() -> None:
    """Every label of every world is among the possible ones, and often no other."""
    alike = n_certain = 0
    for seed, case in enumerate(sweep(150, 43, random_factored_case)):
        kind = (Sums, Stairs)[seed % 2]
        exact = mapped(case.dataset(), kind, seed)
        few = replace(exact.drawing, max_exact=1 + seed % 3)
        some = IncompleteDataset.from_arrays(
            exact.arrays, exact.codes, exact.classes, few, space=exact.space
        )
        found = possible_labels(some, case.X, case.n_neighbors, "hamming")
        true = possible_labels(exact, case.X, case.n_neighbors, "hamming")
        assert not (true & ~found).any(), case
        certain = is_certain(some, case.X, case.n_neighbors, "hamming")
        assert certain.tolist() == (found.sum(axis=1) == 1).tolist()
        if not some.is_exact:
            alike += (found == true).all()
            n_certain += certain.sum()
    assert alike > 10
    assert n_certain > 10


@pytest.mark.nojit
def test_an_open_row_may_be_anywhere() -> None:
    """By hand: two rows of one label outvote an open one, two rows of different labels do not."""
    open_row = FactoredRow([0.0, 0.0], [Cell(0, [0.0, 1.0, 2.0]), Cell(1, [0.0, 1.0, 2.0])])
    rows = [open_row, [[50.0, 50.0]], [[51.0, 50.0]], [[52.0, 50.0]]]
    for labels, certain in ((list("abbb"), True), (list("abcb"), False)):
        data = mapped(IncompleteDataset(rows, labels, max_exact=4), Sums, 3)
        assert not data.is_exact
        assert is_certain(data, [[50.0, 50.0]], 3).tolist() == [certain]
    everywhere = mapped(IncompleteDataset([open_row] * 3, list("aab"), max_exact=4), Sums, 3)
    assert possible_labels(everywhere, [[0.0, 0.0]], 1).tolist() == [[True, True]]
    assert is_certain(everywhere, [[0.0, 0.0]], 3).tolist() == [True]


@pytest.mark.nojit
def test_shares_with_open_rows_are_those_of_draws() -> None:
    rng = Random(5)
    rows = []
    for _ in range(8):
        values = [[float(rng.randint(-3, 3)) for _ in range(3)] for _ in range(2)]
        rows.append(FactoredRow([0.0, 0.0], [Cell(c, values[c]) for c in (0, 1)]))
    given = IncompleteDataset(rows, [0, 1] * 4, max_exact=8, n_draws=40)
    data = mapped(given, Sums, 1)
    written = mapped(given.sampled, Sums, 1)
    X = [[0.0, 1.0], [2.0, -1.0]]
    assert world_shares(data, X, 3).tolist() == world_shares(written, X, 3).tolist()
    drawn = Points([rows[0]], max_exact=4, n_draws=6)
    assert possible_labels(data, drawn, 3).tolist() == [[True, True]]


# -- the same whatever the way ---------------------------------------------------------------------


def larger(seed: int, kind: type[Sums]) -> tuple[IncompleteDataset, np.ndarray]:
    rng = np.random.default_rng(seed)
    rows = [
        FactoredRow(rng.integers(0, 9, 4).astype(float), [Cell(c, rng.integers(0, 9, 3) + 0.0)])
        for c in rng.integers(0, 4, 90)
    ]
    data = IncompleteDataset(rows, rng.integers(0, 3, 90))
    return mapped(data, kind, seed), rng.integers(0, 9, (150, 4)).astype(float)


@pytest.mark.parametrize("kind", [Sums, Stairs])
def test_threads_blocks_and_pickles_change_nothing(kind: type[Sums]) -> None:
    data, X = larger(2, kind)
    expected = everything(data, X[:20], 3, "hamming")
    assert everything(pickle.loads(pickle.dumps(data)), X[:20], 3, "hamming") == expected
    assert everything(data.expanded(), X[:20], 3, "hamming")[:3] == expected[:3]
    one, two = (world_shares(data, X, 5, "hamming", n_jobs=jobs) for jobs in (1, 3))
    assert one.tolist() == two.tolist()


def test_the_map_is_part_of_the_data() -> None:
    data, _ = larger(2, Sums)
    plain = data.in_space(None)
    assert data == data.take(range(90)) != plain
    assert data != mapped(plain, Sums, 3)
    assert data != mapped(plain, Stairs, 2)
    assert repr(data.space) == "FittedMap(Sums, vectors of 3 numbers)"


@pytest.mark.nojit
@pytest.mark.parametrize("metric", ["precomputed", lambda x, t: 0.0])
def test_a_metric_that_does_not_fit(metric: object) -> None:
    data, X = larger(1, Sums)
    with pytest.raises(QueryError, match=r"space of a fitted object.*metric must have a name"):
        world_shares(data, X, 3, metric)
    data, X = larger(1, Stairs)
    with pytest.raises(QueryError, match=r"among the leaves of trees.*metric may be 'hamming'"):
        world_counts(data, X, 3, metric)
