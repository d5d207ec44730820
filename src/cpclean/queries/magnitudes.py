"""Numbers whose distances overflow or underflow are refused: what is told apart stays apart.

In every metric the rule is the same: no step of a distance may leave the range in which a double
keeps all of its digits, 2^-1022 to 2^1024. Then computed distances are off by rounding alone, and
vectors do not tie because a difference between them is too small to be squared. A difference or sum
of doubles never underflows; squares and products may. So, for numbers that are not 0:

- *Manhattan, Chebyshev, Hamming*: nothing is multiplied, and nothing is too small.
- *Euclidean*: numbers of at least 1e-130 are equal or at least 1e-130 x 2^-53 apart, and the square
  of that is above 2^-1022.
- *Linear*: the smallest of the candidates times the smallest of the points is at least 2^-1022.
- *Cosine*: the same product is a sum's smallest term. Terms cancel to no less than 2^-53 of it; its
  square, and this divided by the largest |x|^2, are at least 2^-1022, as are squares of candidates.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from cpclean.data.rows import Floats
from cpclean.errors import QueryError
from cpclean.queries.kernel_arrays import (
    COSINE,
    EUCLIDEAN,
    LINEAR,
    N_VALUES,
    START,
    VALUES_AT,
    Rows,
)

# Larger numbers overflow when they are squared (for cosine: twice) and summed.
_LARGEST = {EUCLIDEAN: 1e150, LINEAR: 1e150, COSINE: 1e70}
_LARGEST_SUM = 1e300
_LEAST_SQUARED = 1e-130
_LEAST_NORMAL = 2.0**-1022
_WAY_OUT = "Scale the features, and write 0 for numbers that mean 0."
_AT_ONCE = 1 << 16  # numbers looked at while they are in the cache


def smallest_size(*arrays: Floats) -> float:
    """The smallest number that is not 0, without its sign; infinity if there is none."""
    found = math.inf
    for array in arrays:
        numbers = array.reshape(-1)
        for at in range(0, len(numbers), _AT_ONCE):
            sizes = np.abs(numbers[at : at + _AT_ONCE])
            least = float(sizes.min())
            if least == 0.0:
                least = float(sizes.min(where=sizes > 0, initial=math.inf))
            found = min(found, least)
    return found


def check_magnitude(
    rows: Rows, largest: float, smallest: float, points: Floats, metric: int
) -> None:
    """Refuse numbers whose distances overflow, or underflow, in this metric.

    largest and smallest are those of the candidates, without sign and 0.
    """
    high = float(max(points.max(initial=0.0), -points.min(initial=0.0)))
    limit = _LARGEST.get(metric, _LARGEST_SUM)
    if max(largest, high) > limit:
        got = _among_points(points, high) if high > limit else _among_candidates(rows, largest)
        raise QueryError(
            f"values must not exceed {limit:.0e}, or distances overflow; got {got}. "
            "Scale the features."
        )
    if metric in _LARGEST:
        _check_small(rows, largest, smallest, points, metric)


def _check_small(rows: Rows, largest: float, smallest: float, points: Floats, metric: int) -> None:
    least = smallest_size(points)
    if metric == EUCLIDEAN:
        if min(smallest, least) >= _LEAST_SQUARED:
            return
        in_points = least < _LEAST_SQUARED
        got = _among_points(points, least) if in_points else _among_candidates(rows, smallest)
        raise QueryError(
            f"values must be 0 or at least {_LEAST_SQUARED:.0e} in size, or squares underflow and "
            f"distances tie that are not equal; got {got}. {_WAY_OUT}"
        )
    if largest == 0.0 or math.inf in (smallest, least):  # all products are 0
        return
    product = smallest * least
    if metric == LINEAR and product >= _LEAST_NORMAL:
        return
    # In logarithms, for these steps must not underflow themselves; one is left for rounding.
    exponent = math.log2(smallest) + math.log2(least) - 53
    norm = 2 * math.log2(largest) + math.log2(points.shape[1])
    if metric == COSINE and min(2 * exponent - max(norm, 0.0), 2 * math.log2(smallest)) >= -1021:
        return
    beside = "" if metric == LINEAR else f" beside {_among_candidates(rows, largest)}"
    raise QueryError(
        f"values are so small that {'dot products' if metric == LINEAR else 'cosines'} underflow, "
        f"and distances tie that are not equal; got {_among_candidates(rows, smallest)}{beside}, "
        f"and {_among_points(points, least)}. {_WAY_OUT}"
    )


def _among_points(points: Floats, size: float) -> str:
    return f"{size:.3g} in feature {_first_column(points, size)} of the points"


def _among_candidates(rows: Rows, size: float) -> str:
    column = _first_column(rows.base, size)
    if column is None:  # it is no row's first candidate
        (found,) = np.nonzero(np.abs(rows.values) == size)
        for place in found[:1].tolist():
            begins = rows.cells[:, VALUES_AT]
            cell = rows.cells[np.argmax(np.where(begins <= place, begins, -1))]
            column = int(cell[START] + (place - cell[VALUES_AT]) // cell[N_VALUES])
    where = "" if column is None else f" in feature {column}"
    return f"{size:.3g}{where} of the candidates"


def _first_column(vectors: npt.NDArray[np.float64], size: float) -> int | None:
    found = np.nonzero(np.abs(vectors) == size)[1]
    return int(found.min()) if len(found) else None
