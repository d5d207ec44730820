"""The answers of a person who knows the truth: the candidate of every row nearest to it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cpclean.data.columns import OTHER
from cpclean.data.incomplete import IncompleteDataset, Ints
from cpclean.data.rows import Floats
from cpclean.data.table import IncompleteTable
from cpclean.errors import DataError


def closest_candidates(
    data: IncompleteDataset, rows: Floats, table: IncompleteTable | None = None
) -> Ints:
    """The number of each row's candidate that is nearest to its true vector; the first of equals.

    A true category that is not a candidate is equally far from all candidates. Then the answer is
    "other", if the table has that candidate.
    """
    numbers = np.zeros(data.n_rows, dtype=np.int64)
    for row in data.dirty_rows.tolist():
        others = {} if table is None else _others(table, row)
        places, sizes = [], []
        for cell in data.cells(row):  # a product is nearest where each of its cells is
            columns, values = np.atleast_1d(np.asarray(cell.column)), np.asarray(cell.values)
            gaps = ((values - rows[row, columns]) ** 2).sum(axis=1)
            unlisted = columns[0] in others and gaps.min() > 0
            places.append(others[columns[0]] if unlisted else int(gaps.argmin()))
            sizes.append(len(values))
        numbers[row] = np.ravel_multi_index(places, sizes)
    return numbers


def _others(table: IncompleteTable, row: int) -> dict[int, int]:
    """The number of the value "other" of each cell, by the cell's first column in the space."""
    options, found = table.options_of(row), {}
    for cell, values in zip(options.cells, options.values, strict=True):
        feature = table.space.features[cell]
        if feature is not None and not options.joint and OTHER in values:
            found[feature.start] = values.index(OTHER)
    return found


def checked_numbers(numbers: npt.NDArray[np.generic], counts: Ints) -> Ints:
    """The number of a candidate for every row, or an error."""
    if numbers.shape != counts.shape or numbers.dtype.kind not in "iu":
        raise DataError(
            f"truth must be the number of a candidate for each of {len(counts)} rows, or the true "
            f"rows; got an array of {len(numbers)} {numbers.dtype} values."
        )
    found = np.asarray(numbers, dtype=np.int64)
    bad = np.flatnonzero((found < 0) | (found >= counts))
    if len(bad):
        row = int(bad[0])
        raise DataError(
            f"truth names candidate {found[row]} of row {row}, which has candidates 0 to "
            f"{counts[row] - 1}."
        )
    return found
