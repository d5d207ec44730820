"""Small incomplete datasets for comparing answers with the oracle: seeded, and by Hypothesis.

Everything is drawn so that the hard parts are common: coarse grids on which distances tie,
repeated candidates, sets of different sizes, priors of 0 or next to nothing, zero vectors.
The number of worlds stays below `MAX_WORLDS`, so that the oracle is quick.

    for case in sweep(2000, seed=7):            # or sweep(2000, seed=7, make=random_factored_case)
        for t in case.X:
            expected = oracle.world_counts(*case.question(t))

`cases()` and `factored_cases()` are the same generators as Hypothesis strategies: the choices are
then Hypothesis's own, so failures shrink.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from random import Random

from hypothesis import strategies as st

from cpclean.data.incomplete import Cell, FactoredRow, IncompleteDataset

MAX_WORLDS = 600
AWKWARD = (0.0, 5e-324, 1e-323, 1e-310, 2.0**-1022, 1e-300, 1e-200, 1e-30, 2.0**-60, 0.25, 0.5, 1.0)
METRICS = ("euclidean", "manhattan", "chebyshev", "cosine", "linear", "rbf", "hamming")

Vector = list[float]
Prior = list[float] | list[Fraction] | None
Metric = str | Callable[[Sequence[float], Sequence[float]], float]


def lopsided(x: Sequence[float], t: Sequence[float]) -> float:
    """A metric of one's own: neither symmetric, so that swapped arguments show, nor unweighted."""
    total = 0.0
    for weight, (a, b) in enumerate(zip(x, t, strict=True), start=1):
        total += weight * (2.0 * (a - b) if a > b else b - a)
    return total


@dataclass(frozen=True)
class Case:
    """A small incomplete dataset and what is asked of it.

    `candidates` and `priors` are always written out in full, as the oracle wants them. Where
    `factored` is given, row i of the dataset is `factored[i]` unless that is None.
    """

    candidates: list[list[Vector]]
    labels: list[int]
    priors: list[Prior] | None
    X: list[Vector]
    n_neighbors: int
    metric: Metric
    factored: list[FactoredRow | None] | None = None

    @property
    def classes(self) -> list[int]:
        return sorted(set(self.labels))

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    @property
    def codes(self) -> list[int]:
        """Labels as numbers into the sorted classes."""
        return [self.classes.index(label) for label in self.labels]

    @property
    def n_worlds(self) -> int:
        return math.prod(map(len, self.candidates))

    def dataset(self) -> IncompleteDataset:
        """The data in the form it was drawn in: with factored rows, if there are any."""
        if self.factored is None:
            return self.expanded_dataset()
        rows = [
            candidates if factored is None else factored
            for candidates, factored in zip(self.candidates, self.factored, strict=True)
        ]
        priors = [
            prior if factored is None else None
            for prior, factored in zip(self._float_priors(), self.factored, strict=True)
        ]
        return IncompleteDataset(rows, self.labels, priors)

    def expanded_dataset(self) -> IncompleteDataset:
        """The same data with every candidate written out."""
        return IncompleteDataset(
            self.candidates, self.labels, None if self.priors is None else self._float_priors()
        )

    def question(self, t: Vector) -> tuple[object, ...]:
        """The arguments that every function of the oracle takes, for one query point."""
        return (
            self.candidates,
            self.codes,
            self.n_classes,
            self.priors,
            t,
            self.n_neighbors,
            self.metric,
        )

    def _float_priors(self) -> list[list[float] | None]:
        if self.priors is None:
            return [None] * len(self.candidates)
        return [None if prior is None else [float(p) for p in prior] for prior in self.priors]


def random_case(rng: Random) -> Case:
    """A case with plain candidate sets."""
    drawn = _Draw(rng)
    weigh = drawn.weigher()
    candidates: list[list[Vector]] = []
    priors: list[Prior] = []
    worlds = 1
    for _ in range(rng.choice([1, 2, 3, 4, 4, 5, 5, 6, 6, 7])):
        size = drawn.size(MAX_WORLDS // worlds)
        worlds *= size
        candidates.append(drawn.candidate_set(size))
        priors.append(weigh(size))
    return drawn.case(candidates, priors)


def random_factored_case(rng: Random) -> Case:
    """A case in which most rows are given by their uncertain cells."""
    drawn = _Draw(rng, width=rng.randint(1, 4))
    weigh = drawn.weigher()
    candidates: list[list[Vector]] = []
    priors: list[Prior] = []
    factored: list[FactoredRow | None] = []
    worlds = 1
    for _ in range(rng.choice([1, 2, 3, 4, 4, 5, 5, 6])):
        if rng.randint(0, 4) == 4:
            size = drawn.size(MAX_WORLDS // worlds)
            candidates.append(drawn.candidate_set(size))
            priors.append(weigh(size))
            factored.append(None)
        else:
            row = drawn.factored_row(weigh, MAX_WORLDS // worlds)
            vectors, weights = expand(row)
            candidates.append(vectors)
            priors.append(weights)
            factored.append(row)
        worlds *= len(candidates[-1])
    return drawn.case(candidates, priors, factored)


def expand(row: FactoredRow) -> tuple[list[Vector], list[Fraction]]:
    """The candidates of a factored row and their exact priors: last cell by column fastest."""
    cells = sorted(row.cells, key=lambda cell: _columns(cell)[0])
    vectors, weights = [], []
    for choice in product(*(range(len(cell.values)) for cell in cells)):
        vector, weight = list(row.base), Fraction(1)
        for cell, j in zip(cells, choice, strict=True):
            columns = _columns(cell)
            value = cell.values[j] if isinstance(cell.values[j], list) else [cell.values[j]]
            for column, number in zip(columns, value, strict=True):
                vector[column] = number
            weight *= _exact_prior(cell)[j]
        vectors.append(vector)
        weights.append(weight)
    return vectors, weights


def sweep(n_cases: int, seed: int, make: Callable[[Random], Case] = random_case) -> Iterator[Case]:
    """A reproducible stream of cases. Each has a seed of its own, so any one can be had alone."""
    for number in range(n_cases):
        yield make(Random(f"{seed}/{number}"))


def awkward_prior(rng: Random, size: int) -> list[float]:
    """A prior of floats that add up exactly: ordinary and dyadic numbers, zeros, and some that are
    so small that products of them, or with anything, are rounded to 0."""
    weights = [rng.choice(AWKWARD) if rng.random() < 0.6 else rng.random() for _ in range(size)]
    largest = rng.randrange(size)
    weights[largest] = 0.0
    weights = [weight / 2 ** math.ceil(math.log2(size)) for weight in weights]
    weights[largest] = 1.0 - math.fsum(weights)
    return weights


def cases() -> st.SearchStrategy[Case]:
    """`random_case` for Hypothesis."""
    return st.randoms(use_true_random=False).map(random_case)


def factored_cases() -> st.SearchStrategy[Case]:
    """`random_factored_case` for Hypothesis."""
    return st.randoms(use_true_random=False).map(random_factored_case)


class _Draw:
    """The choices that hold for a whole case: its grid, its metric and the kind of its priors.

    The first option is the plainest throughout, since Hypothesis shrinks towards it.
    """

    def __init__(self, rng: Random, width: int | None = None) -> None:
        self.rng = rng
        self.width = rng.randint(1, 3) if width is None else width
        # All but the last are exact in binary: sums, products and ties come out exactly.
        self.grid = rng.choice(
            [
                [0.0, 1.0],
                [0.0, 1.0, 2.0],
                [0.0, 1.0, 2.0],
                [0.0, -1.0, 1.0],
                [0.0, -2.0, -1.0, 1.0, 2.0],
                [0.0, 0.5, -0.75, 3.0],
                None,
            ]
        )
        self.met: list[Vector] = []

    def number(self) -> float:
        if self.grid is None:
            return self.rng.random() * 4.0 - 2.0
        return self.rng.choice(self.grid)

    def vector(self) -> Vector:
        """A vector of the grid; now and then zero, or one that was drawn before."""
        kind = self.rng.randint(0, 9)
        if kind == 8:
            vector = [0.0] * self.width
        elif kind == 9 and self.met:
            vector = list(self.rng.choice(self.met))
        else:
            vector = [self.number() for _ in range(self.width)]
        self.met.append(vector)
        return vector

    def size(self, at_most: int) -> int:
        """How many candidates a row has: one to four, most often two or three."""
        return min(self.rng.choice([1, 2, 2, 3, 3, 4]), at_most)

    def candidate_set(self, size: int) -> list[Vector]:
        vectors = [self.vector() for _ in range(size)]
        if size > 1 and self.rng.randint(0, 3) == 3:
            vectors[-1] = list(vectors[0])
        return vectors

    def weigher(self) -> Callable[[int], Prior]:
        """A function from a number of candidates to a prior of this case's kind."""
        kind = self.rng.choice(["none", "none", "random", "zeros", "skewed", "mixed"])

        def weigh(size: int) -> Prior:
            now = self.rng.choice(["none", "zeros", "skewed"]) if kind == "mixed" else kind
            if now == "none":
                return None
            weights = [self.rng.randint(1, 1000) / 7.0 for _ in range(size)]
            if now == "zeros":
                weights = [self.rng.choice([weight, 0.0]) for weight in weights]
                weights[self.rng.randint(0, size - 1)] = 1.0
            elif now == "skewed":
                weights = [weight * self.rng.choice([1.0, 1e-9]) for weight in weights]
            return [weight / math.fsum(weights) for weight in weights]

        return weigh

    def factored_row(self, weigh: Callable[[int], Prior], limit: int) -> FactoredRow:
        base = list(self.vector())
        cells = []
        column = self.rng.randint(0, 1)
        while column < self.width and len(cells) < 3:
            columns = min(self.rng.randint(1, 2), self.width - column)
            size = self.rng.randint(1, min(3, limit))
            limit //= size
            for gone in range(column, column + columns):
                # What stands in a cell's columns is not used, and may be a hole.
                base[gone] = self.rng.choice([0.0, 9.0, math.nan])
            if columns == 1 and self.rng.randint(0, 1) == 0:
                values = [self.number() for _ in range(size)]
                cells.append(Cell(column, values, weigh(size)))
            else:
                rows = [[self.number() for _ in range(columns)] for _ in range(size)]
                cells.append(Cell(list(range(column, column + columns)), rows, weigh(size)))
            column += columns + self.rng.randint(0, 1)
        if self.rng.randint(0, 1):
            cells.reverse()  # the order in which cells are given must not matter
        return FactoredRow(base, cells)

    def case(
        self,
        candidates: list[list[Vector]],
        priors: list[Prior],
        factored: list[FactoredRow | None] | None = None,
    ) -> Case:
        """The case around these rows: labels, query points, K and metric."""
        rng = self.rng
        highest = rng.choice([1, 1, 2, 3, 4])
        labels = [rng.randint(0, highest) for _ in candidates]
        if rng.randint(0, 2) == 2:  # as many classes as the rows allow
            labels = [(labels[0] + i) % (highest + 1) for i in range(len(labels))]
        points = [self.vector() for _ in range(rng.randint(1, 3))]
        return Case(
            candidates,
            labels,
            None if all(prior is None for prior in priors) else priors,
            points,
            rng.randint(1, len(candidates)),
            rng.choice([*METRICS, *METRICS, lopsided]),
            factored,
        )


def _columns(cell: Cell) -> list[int]:
    return [cell.column] if isinstance(cell.column, int) else list(cell.column)


def _exact_prior(cell: Cell) -> list[Fraction]:
    if cell.prior is None:
        return [Fraction(1, len(cell.values))] * len(cell.values)
    exact = [Fraction(weight) for weight in cell.prior]
    return [weight / sum(exact) for weight in exact]
