"""How long measuring takes, roughly: what each table and figure cost when it was measured.

"cleaning" and "validation" are older, coarser measurements: 40 minutes with 20 random orders, of
which the split between sessions and orders is a guess, and a third of an hour.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Cost:
    """Seconds of processor time on one core, with the data of the data folder.

    Attributes
    ----------
    once : float
        For what is measured once.
    seed, run : float
        For each seed of splits and holes, and for each random order of cleaning.
    """

    once: float
    seed: float = 0.0
    run: float = 0.0

    def seconds(self, seeds: int, runs: int) -> float:
        """For so many seeds and random orders."""
        return self.once + seeds * self.seed + runs * self.run


COSTS = {
    "paper": Cost(170, seed=100),
    "priors": Cost(60, seed=45),
    "models": Cost(130, seed=100),
    "sure": Cost(1050),
    "spaces": Cost(190),
    "cleaning": Cost(600, run=90),
    "validation": Cost(1300),
}
# The same with a few rows of every table, one seed and two random orders.
QUICK_COSTS = {
    "paper": 25.0,
    "priors": 45.0,
    "models": 30.0,
    "sure": 130.0,
    "spaces": 80.0,
    "cleaning": 8.0,
    "validation": 2.0,
}


def expected_seconds(names: Iterable[str], seeds: int, runs: int, n_jobs: int) -> float:
    """By the clock, with so many processes that each have a core for themselves."""
    return sum(COSTS[name].seconds(seeds, runs) for name in names) / n_jobs


def expected_quickly(names: Iterable[str], n_jobs: int) -> float:
    """The same of a few rows."""
    return sum(QUICK_COSTS[name] for name in names) / n_jobs


def in_time(seconds: float) -> str:
    """Roughly, as people say it.

    >>> in_time(40), in_time(400), in_time(9000)
    ('less than a minute', '7 minutes', '2.5 hours')
    """
    if seconds < 60:
        return "less than a minute"
    if seconds < 5400:
        minutes = round(seconds / 60)
        return f"{minutes} minute{'s' * (minutes != 1)}"
    return f"{seconds / 3600:.1f} hours"
