"""Batches drawn with unequal chances, and what each draw counts in the estimate of a sum.

Rows are drawn one after the other, without replacement, with probabilities p: a person cleans a row
only once. With P the sum of p over the rows drawn before, every draw estimates the sum over all
rows by what was drawn before plus (1 - P) / p times its own; the mean of these estimates is taken
(Des Raj's estimator). It is unbiased, whatever p, as long as no p is 0.
"""

from __future__ import annotations

import numpy as np

from cpclean.data.incomplete import Ints
from cpclean.data.rows import Floats

# A share of the draws is uniform: else a row whose guess is 0 could never be drawn, which would
# bias the estimate, and importance weights would have no bound.
UNIFORM_SHARE = 0.05


def draw_probabilities(sizes: Floats) -> Floats:
    """Probabilities proportional to the sizes, but for a small uniform share."""
    uniform = np.full(len(sizes), 1.0 / len(sizes))
    total = sizes.sum()
    if not total > 0:
        return uniform
    return np.asarray((1.0 - UNIFORM_SHARE) * sizes / total + UNIFORM_SHARE * uniform)


def draw_batch(chances: Floats, size: int, rng: np.random.Generator) -> Ints:
    """Places drawn one after the other, without replacement, in the order of drawing."""
    # The first arrivals of independent processes with these rates come in just such an order.
    arrivals = rng.exponential(size=len(chances)) / chances
    return np.argsort(arrivals, kind="stable")[:size]


def importance_weights(chances: Floats, drawn: Ints) -> Floats:
    """What each drawn row's gradient counts in the estimated sum over all rows."""
    size = len(drawn)
    if size == len(chances):
        return np.ones(size)
    own = chances[drawn]
    before = np.cumsum(own) - own
    later = np.arange(size)[::-1]
    return np.asarray(((1.0 - before) / own + later) / size)
