"""The oracle: every world written out, in plain Python and exact numbers.

It is slow and short on purpose, and imports nothing from cpclean: whatever the package answers
is compared with what stands here. One meaning throughout:

- a world picks one candidate a row, rows independently;
- nearer means a smaller distance; at equal distances the smaller row index is nearer;
- the label with most votes among the k nearest rows wins; at equal votes the smaller class wins.

Every question takes the same arguments: `candidates` (a list of vectors for every row), `codes`
(a class number for every row), `n_classes`, `priors` (a list of weights for every row; None, for
all rows or for one, is uniform), the query point `t`, `k` and `metric`. Several questions about
one point share the enumeration through `Worlds`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache, cached_property
from itertools import accumulate, product
from operator import mul

Vector = Sequence[float]
Weights = Sequence[float | Fraction] | None
Metric = str | Callable[[Vector, Vector], float]


def distance(x: Vector, t: Vector, metric: Metric = "euclidean") -> float:
    """How far candidate `x` is from query point `t`; only the order of distances matters.

    Sums run in feature order, so that coordinates on a coarse grid give exact ties. No root is
    taken: it keeps the order of exact numbers, but may merge two neighbouring floats.
    """
    if callable(metric):
        return float(metric(x, t))
    total = norm = 0.0
    for a, b in zip(x, t, strict=True):
        if metric in ("euclidean", "rbf"):
            total += (a - b) * (a - b)
        elif metric == "manhattan":
            total += abs(a - b)
        elif metric == "chebyshev":
            total = max(total, abs(a - b))
        elif metric == "hamming":
            total += a != b
        elif metric in ("linear", "cosine"):
            total += a * b
            norm += a * a
        else:
            raise ValueError(f"the oracle knows no metric {metric!r}")
    if metric == "linear":
        return -total
    if metric == "cosine":
        # The signed square of x.t / |x| has the order of the cosine, without a root.
        # A zero vector has no direction: its similarity to anything is 0.
        return -(math.copysign(1.0, total) * total * total / norm) if norm else 0.0
    return total


class Worlds:
    """All worlds of one incomplete dataset, each with its prediction at one query point."""

    def __init__(
        self,
        candidates: Sequence[Sequence[Vector]],
        codes: Sequence[int],
        n_classes: int,
        priors: Sequence[Weights] | None,
        t: Vector,
        k: int,
        metric: Metric = "euclidean",
    ) -> None:
        assert len(candidates) == len(codes)
        assert 1 <= k <= len(codes)
        assert all(candidates)
        self.sizes = [len(row) for row in candidates]
        self.n_classes = n_classes
        self.weights = [
            _whole_weights(prior if prior is None else tuple(prior), size)
            for prior, size in zip(priors or [None] * len(codes), self.sizes, strict=True)
        ]
        distances = [[distance(x, t, metric) for x in row] for row in candidates]
        self.predictions = []
        for world in product(*map(range, self.sizes)):
            far = [row[j] for row, j in zip(distances, world, strict=True)]
            # sorted() keeps equal items in place: of equally distant rows the first stays first.
            nearest = sorted(range(len(far)), key=far.__getitem__)[:k]
            votes = [0] * n_classes
            for i in nearest:
                votes[codes[i]] += 1
            # index() finds the first maximum: of labels with equal votes the first wins.
            self.predictions.append((world, votes.index(max(votes))))

    def counts(self) -> list[int]:
        """For every class, how many worlds predict it."""
        counts = [0] * self.n_classes
        for _, label in self.predictions:
            counts[label] += 1
        return counts

    def possible(self) -> list[bool]:
        """For every class, whether any world predicts it, however unlikely that world is."""
        return [count > 0 for count in self.counts()]

    def shares(self) -> list[Fraction]:
        """For every class, the prior mass of the worlds that predict it."""
        mass = [0] * self.n_classes
        for world, label in self.predictions:
            mass[label] += math.prod(self.weights[i][j] for i, j in enumerate(world))
        total = math.prod(map(sum, self.weights))
        return [Fraction(m, total) for m in mass]

    def conditional_shares(self) -> list[list[list[Fraction]]]:
        """For every row and each of its candidates: the shares, given that choice.

        The chosen row's own weight is left out, not divided away, so a choice of prior 0 has an
        answer too.
        """
        return self._conditional

    @cached_property
    def _conditional(self) -> list[list[list[Fraction]]]:
        mass = [[[0] * self.n_classes for _ in range(size)] for size in self.sizes]
        for world, label in self.predictions:
            chosen = [self.weights[i][j] for i, j in enumerate(world)]
            before = list(accumulate(chosen, mul, initial=1))
            after = list(accumulate(reversed(chosen), mul, initial=1))
            for i, j in enumerate(world):
                mass[i][j][label] += before[i] * after[-i - 2]
        totals = [sum(weights) for weights in self.weights]
        others = [math.prod(totals[:i]) * math.prod(totals[i + 1 :]) for i in range(len(totals))]
        return [
            [[Fraction(m, others[i]) for m in by_label] for by_label in row]
            for i, row in enumerate(mass)
        ]

    def expected_entropy(self) -> list[float]:
        """For every row, the entropy to expect once that row is known."""
        return [
            math.fsum(
                float(Fraction(weight, sum(weights))) * entropy(shares)
                for weight, shares in zip(weights, conditional, strict=True)
            )
            for weights, conditional in zip(self.weights, self._conditional, strict=True)
        ]


@cache
def _whole_weights(prior: Weights, size: int) -> list[int]:
    """Whole numbers proportional to a row's prior: exact, whatever floats were given.

    Dividing by their sum puts right, exactly, a prior whose floats sum to 1 only nearly.
    """
    if prior is None:
        return [1] * size
    exact = [Fraction(weight) for weight in prior]
    assert len(exact) == size
    assert all(weight >= 0 for weight in exact)
    assert abs(sum(exact) - 1) < 1e-9
    denominator = math.lcm(*(weight.denominator for weight in exact))
    return [int(weight * denominator) for weight in exact]


def entropy(shares: Sequence[float | Fraction]) -> float:
    """Entropy of label shares, in nats; exact shares near 1 keep their tiny entropy."""
    terms = []
    for given in shares:
        share = Fraction(given)
        if share > Fraction(1, 2):
            terms.append(-float(share) * math.log1p(-float(1 - share)))
        elif share > 0 and float(share) > 0.0:
            terms.append(-float(share) * math.log(float(share)))
    return math.fsum(terms) + 0.0  # -0.0 would look odd for a certain point


def world_counts(
    candidates: Sequence[Sequence[Vector]],
    codes: Sequence[int],
    n_classes: int,
    priors: Sequence[Weights] | None,
    t: Vector,
    k: int,
    metric: Metric = "euclidean",
) -> list[int]:
    """Q2 as a number of worlds, for every class. The priors play no part."""
    return Worlds(candidates, codes, n_classes, priors, t, k, metric).counts()


def world_shares(
    candidates: Sequence[Sequence[Vector]],
    codes: Sequence[int],
    n_classes: int,
    priors: Sequence[Weights] | None,
    t: Vector,
    k: int,
    metric: Metric = "euclidean",
) -> list[Fraction]:
    """Q2 as a share of prior mass, for every class; the shares sum to exactly 1."""
    return Worlds(candidates, codes, n_classes, priors, t, k, metric).shares()


def possible_labels(
    candidates: Sequence[Sequence[Vector]],
    codes: Sequence[int],
    n_classes: int,
    priors: Sequence[Weights] | None,
    t: Vector,
    k: int,
    metric: Metric = "euclidean",
) -> list[bool]:
    """For every class, whether some world predicts it; Q1 holds when exactly one is possible."""
    return Worlds(candidates, codes, n_classes, priors, t, k, metric).possible()


def verdict(shares: Sequence[Fraction], counts: Sequence[int], level: float) -> str:
    """The verdict on a point of which all worlds are counted: certain, sure or open."""
    if sum(count > 0 for count in counts) == 1:
        return "certain"
    return "sure" if max(shares) >= Fraction(level) else "open"


def conditional_shares(
    candidates: Sequence[Sequence[Vector]],
    codes: Sequence[int],
    n_classes: int,
    priors: Sequence[Weights] | None,
    t: Vector,
    k: int,
    metric: Metric = "euclidean",
) -> list[list[list[Fraction]]]:
    """`[row][candidate][class]`: the shares once that row is known to be that candidate."""
    return Worlds(candidates, codes, n_classes, priors, t, k, metric).conditional_shares()


def expected_entropy(
    candidates: Sequence[Sequence[Vector]],
    codes: Sequence[int],
    n_classes: int,
    priors: Sequence[Weights] | None,
    t: Vector,
    k: int,
    metric: Metric = "euclidean",
) -> list[float]:
    """For every row, the entropy at this one point expected after cleaning the row."""
    return Worlds(candidates, codes, n_classes, priors, t, k, metric).expected_entropy()
