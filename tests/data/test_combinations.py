"""The likeliest combinations, against all of them written out."""

from __future__ import annotations

import itertools
import math
from random import Random

import numpy as np
import pytest

from cpclean.data.combinations import likeliest, likeliest_number, number_of, places_of
from cpclean.data.rows import StoredCell


def random_weights(rng: Random, n_cells: int) -> list[np.ndarray]:
    """Weights of a coarse grid, whose products are exact: many of them are equal."""
    return [
        np.array([rng.choice([0.0, 0.125, 0.25, 0.5, 1.0]) for _ in range(rng.randint(1, 5))])
        for _ in range(n_cells)
    ]


@pytest.mark.parametrize("seed", range(60))
def test_the_likeliest_come_first_and_equal_ones_by_number(seed: int) -> None:
    rng = Random(seed)
    weights = random_weights(rng, rng.randint(0, 5))
    every = list(itertools.product(*(range(len(own)) for own in weights)))
    masses = [math.prod(own[at] for own, at in zip(weights, one, strict=True)) for one in every]
    order = sorted(range(len(every)), key=lambda number: (-masses[number], number))
    for most in (1, 2, 7, 40, 5000):
        places, found = likeliest(weights, most)
        assert found.tolist() == [masses[n] for n in order[:most]]
        positive = int((found > 0).sum())
        first = [every[n] for n in order[:positive]]
        assert [tuple(one) for one in places[:positive].tolist()] == first
        rest = [every.index(tuple(one)) for one in places[positive:].tolist()]
        assert len(set(rest)) == len(rest)
        assert all(masses[n] == 0.0 for n in rest)


@pytest.mark.parametrize("seed", range(20))
def test_masses_are_those_of_the_whole_product(seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights = [rng.dirichlet(np.ones(4)) for _ in range(5)]
    product = np.ones(1)
    for own in weights:
        product = np.multiply.outer(product, own).ravel()
    places, masses = likeliest(weights, 125)
    numbers = [number_of(one, [4] * 5) for one in places.tolist()]
    assert masses.tolist() == product[numbers].tolist()  # bit for bit
    assert numbers == np.argsort(-product, kind="stable")[:125].tolist()


def test_thousands_of_cells_are_no_more_than_a_moment() -> None:
    rng = np.random.default_rng(0)
    weights = [rng.dirichlet(np.ones(5)) for _ in range(1000)]
    places, masses = likeliest(weights, 125)
    assert places.shape == (125, 1000)
    assert places[0].tolist() == [int(np.argmax(own)) for own in weights]
    assert len(np.unique(places, axis=0)) == 125
    logs = np.log(np.stack(weights))[np.arange(1000), places].sum(axis=1)
    assert (np.diff(logs) < 1e-9).all()  # though all masses are too small for a double
    assert masses.max() == 0.0


def test_numbers_count_as_products_do() -> None:
    sizes = [3, 1, 4, 2]
    for number, places in enumerate(itertools.product(*map(range, sizes))):
        assert number_of(places, sizes) == number
        assert places_of(number, sizes) == list(places)
    large = [5] * 200
    assert number_of(places_of(5**200 - 7, large), large) == 5**200 - 7


def test_the_likeliest_number_is_the_first_of_equals() -> None:
    cells = [
        StoredCell(0, np.zeros((3, 1)), np.array([0.2, 0.4, 0.4])),
        StoredCell(1, np.zeros((2, 1)), np.array([0.5, 0.5])),
    ]
    assert likeliest_number(cells) == 2
    assert likeliest_number([]) == 0
