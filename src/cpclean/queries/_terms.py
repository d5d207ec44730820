"""What distances are sums of: three formulas that are compiled into the kernels of other files.

The compilation cache does not see edits here: after changing a formula, delete the `__pycache__`
folder of this package, as after an edit of `kernel_arrays`. (The tests do so by themselves.)
"""

from __future__ import annotations

from cpclean.queries.kernel_arrays import CHEBYSHEV, EUCLIDEAN, HAMMING, LINEAR, NORM
from cpclean.queries.kernel_kinds import part


@part
def cosine_order(dot, norm):
    """Minus the signed square of dot / |x|: the order of cosine distance, exact on grids."""
    if norm == 0.0:
        return 0.0
    square = dot * dot / norm
    return -square if dot > 0.0 else square


@part
def term_of(metric, value, x):
    """What one feature adds to a distance; metric is None for the Euclidean."""
    if metric is None or metric == EUCLIDEAN:
        gap = value - x
        return gap * gap
    if metric == LINEAR:
        return -(value * x)
    if metric == NORM:
        return value * value
    if metric == HAMMING:
        return 0.0 if value == x else 1.0
    return abs(value - x)


@part
def join(metric, total, term):
    """A distance so far, and what one more feature adds to it."""
    if metric is not None and metric == CHEBYSHEV:
        return term if term > total else total
    return total + term
