"""Combinations of the values of several cells, as many as are wanted and never all of them.

A combination takes one value of every cell. Combinations are numbered as `itertools.product` goes
through them: the last cell changes fastest. Numbers are Python ints, exact for any number of cells.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from cpclean.data.row_arrays import runs
from cpclean.data.rows import Floats, Ints, StoredCell

# Masses below this are scaled up, by a power of two: a product of many small numbers is not 0.
_SMALL = 2.0**-500


def places_of(number: int, sizes: Sequence[int]) -> list[int]:
    """Which value of each cell a combination has.

    >>> places_of(7, [2, 5])
    [1, 2]
    """
    places = []
    for size in reversed(sizes):
        number, place = divmod(number, size)
        places.append(place)
    return places[::-1]


def number_of(places: Sequence[int], sizes: Sequence[int]) -> int:
    """The number of the combination that has these values.

    >>> number_of([1, 2], [2, 5])
    7
    """
    number = 0
    for place, size in zip(places, sizes, strict=True):
        number = number * size + int(place)
    return number


def likeliest_number(cells: Iterable[StoredCell]) -> int:
    """The number of the combination of the likeliest value of every cell; the first of equals."""
    number = 0
    for cell in cells:
        number = number * len(cell.values) + int(np.argmax(cell.weights))
    return number


def likeliest(weights: Sequence[Floats], most: int) -> tuple[Ints, Floats]:
    """The combinations with the largest product of weights, the largest first.

    Cells are added one by one. Of the beginnings so far and of the values of the next cell, both
    from the largest down, a pair can only be among the first `most` if no more than that many pairs
    are as good in both: about ``most * log(most)`` products per cell.

    Parameters
    ----------
    weights : sequence of ndarray
        Of the values of each cell.
    most : int

    Returns
    -------
    places : ndarray of int, shape (n, n_cells)
        Which value of each cell each combination has; n is `most`, or all there are.
    masses : ndarray of float, shape (n,)
        The products. Of equal ones, the one with the smaller number comes first, unless they are
        0 or equal only by rounding.

    Examples
    --------
    >>> places, masses = likeliest([np.array([0.25, 0.75]), np.array([0.5, 0.5])], 3)
    >>> places.tolist(), masses.tolist()
    ([[1, 0], [1, 1], [0, 0]], [0.375, 0.375, 0.125])
    """
    places, masses = np.zeros((1, 0), dtype=np.int64), np.ones(1)
    rank = np.zeros(1, dtype=np.int64)  # the order of the beginnings by number
    scaled = 0
    for own in weights:
        order = np.argsort(-own, kind="stable")[:most]
        times = np.minimum(most // np.arange(1, len(masses) + 1), len(order))
        before = np.repeat(np.arange(len(masses)), times)
        value = order[runs(np.zeros_like(times), times)]
        found = masses[before] * own[value]
        best = np.lexsort((value, rank[before], -found))[:most]
        before, value, masses = before[best], value[best], found[best]
        rank = np.argsort(np.lexsort((value, rank[before])))
        places = np.column_stack([places[before], value])
        if 0.0 < masses[0] < _SMALL:
            masses, scaled = masses / _SMALL, scaled - 500
    return places, np.ldexp(masses, scaled)
