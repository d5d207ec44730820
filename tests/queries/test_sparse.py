"""Wide tables of mostly zeros, which the kernels pass over."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import oracle
import pytest
from queries.samples import NAMES, assert_equal, assert_near, everything, flat_distances
from strategies import random_case, random_factored_case, sweep

from cpclean import (
    Cell,
    FactoredRow,
    IncompleteDataset,
    conditional_shares,
    possible_labels,
    world_counts,
    world_shares,
)
from cpclean.queries import geometry
from cpclean.queries.model import Model


def widened(case: object, seed: int):
    """The case's columns spread over 40, with zeros and a few other numbers between them."""
    rng = Random(seed)
    width = len(case.X[0])
    places = sorted(rng.sample(range(40), width))

    def spread(vector: list[float], extra: list[float]) -> list[float]:
        wide = list(extra)
        for place, number in zip(places, vector, strict=True):
            wide[place] = number
        return wide

    extras = [
        [rng.choice([0.0] * 9 + [1.0]) for _ in range(40)] for _ in range(len(case.candidates))
    ]
    candidates = [
        [spread(vector, extra) for vector in row]
        for row, extra in zip(case.candidates, extras, strict=True)
    ]
    X = [spread(t, [rng.choice([0.0, 0.0, 0.0, 1.0, -1.0]) for _ in range(40)]) for t in case.X]
    return replace(case, candidates=candidates, X=X, factored=None), places, extras


def factored_again(case: object, wide: object, places: list[int], extras: list) -> list:
    """The factored rows of a case, widened: a cell of two columns covers what lies between."""
    rows = []
    for number, row in enumerate(case.factored):
        if row is None:
            rows.append(wide.candidates[number])
            continue
        base = list(extras[number])
        for place, value in zip(places, row.base, strict=True):
            base[place] = value
        cells = []
        for cell in row.cells:
            columns = [cell.column] if isinstance(cell.column, int) else list(cell.column)
            run = range(places[columns[0]], places[columns[-1]] + 1)
            values = []
            for value in cell.values:
                vector = [base[column] for column in run]
                for column, part in zip(
                    columns, value if isinstance(value, list) else [value], strict=True
                ):
                    vector[places[column] - run.start] = part
                values.append(vector)
            cells.append(Cell(list(run), values, cell.prior))
        rows.append(FactoredRow(base, cells))
    return rows


def is_sparse(data: IncompleteDataset) -> bool:
    """Whether the kernels pass over zeros in this data."""
    query = geometry.ask(data, np.zeros((1, data.n_features)), Model(1, "euclidean"))
    return len(query.rows.sparse.at) > 0


@pytest.mark.parametrize("make", [random_case, random_factored_case])
@pytest.mark.parametrize(
    ("n_cases", "seed"),
    [
        pytest.param(40, 23, marks=pytest.mark.nojit),
        pytest.param(80, 24, marks=pytest.mark.slow),
    ],
)
def test_wide_tables_of_mostly_zeros(make: object, n_cases: int, seed: int) -> None:
    n_sparse = 0
    for number, case in enumerate(sweep(n_cases, seed, make)):
        wide, places, extras = widened(case, number)
        asked = (case.n_neighbors, case.metric)
        data = wide.expanded_dataset()
        n_sparse += is_sparse(data)
        forms = [data]
        if case.factored is not None:
            priors = [
                prior if row is None else None
                for prior, row in zip(wide._float_priors(), case.factored, strict=True)
            ]
            rows = factored_again(case, wide, places, extras)
            forms.append(IncompleteDataset(rows, case.labels, priors))
            n_sparse += is_sparse(forms[1])
        for t in wide.X:
            worlds = oracle.Worlds(*wide.question(t))
            counts, shares = worlds.counts(), [float(share) for share in worlds.shares()]
            given = worlds.conditional_shares()
            for form in forms:
                assert world_counts(form, [t], *asked)[0].tolist() == counts
                assert possible_labels(form, [t], *asked)[0].tolist() == [c > 0 for c in counts]
                assert world_shares(form, [t], *asked)[0] == pytest.approx(shares, abs=1e-13)
                for row, wanted in zip(conditional_shares(form, t, *asked), given, strict=True):
                    assert row == pytest.approx(np.array(wanted, dtype=float), abs=1e-12)
    assert n_sparse >= n_cases // 3


def one_hot(rng: np.random.Generator, n_rows: int, n_values: int, width: int) -> list[np.ndarray]:
    return [np.eye(width)[rng.integers(width, size=n_values)] for _ in range(n_rows)]


@pytest.mark.parametrize("metric", NAMES)
def test_one_hot_rows_as_written_out_in_precomputed_distances(metric: str) -> None:
    rng = np.random.default_rng(24)
    data = IncompleteDataset(one_hot(rng, 60, 12, 50), rng.integers(0, 3, size=60))
    assert is_sparse(data)
    X = np.eye(50)[:3] + np.eye(50)[10:13] * 2.0
    distances = flat_distances(data, X, metric)
    assert_near(everything(data, distances, 5, "precomputed"), everything(data, X, 5, metric))


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_pinned_rows_of_wide_tables(metric: str) -> None:
    rng = np.random.default_rng(25)
    rows = one_hot(rng, 12, 3, 40)
    labels = np.arange(12) % 3
    data = IncompleteDataset(rows, labels)
    X = np.eye(40)[rng.integers(40, size=5)]
    pinned = data
    for row in (0, 5, 11, 3, 7, 1, 2, 4, 6, 8, 9, 10):
        rows[row] = rows[row][1:2]
        pinned = pinned.pin(row, 1)
        fresh = IncompleteDataset(rows, labels)
        assert_equal(everything(pinned, X, 3, metric), everything(fresh, X, 3, metric))
    for row in (3, 0):
        pinned = pinned.unpin(row)
    again = data
    for row in (1, 2, 4, 5, 6, 7, 8, 9, 10, 11):
        again = again.pin(row, 1)
    assert_equal(everything(pinned, X, 3, metric), everything(again, X, 3, metric))
