"""The answers of a person who knows the truth: the candidate of every row nearest to it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.data.columns import OTHER
from cpclean.data.combinations import number_of
from cpclean.data.incomplete import IncompleteDataset
from cpclean.data.rows import Floats, is_whole
from cpclean.data.table import IncompleteTable
from cpclean.errors import DataError

Numbers = npt.NDArray[Any]  # of ints, or of Python ints where these are too large


def closest_candidates(
    data: IncompleteDataset, rows: Floats, table: IncompleteTable | None = None
) -> Numbers:
    """The number of each row's candidate that is nearest to its true vector; the first of equals.

    A true category that is not a candidate is equally far from all candidates. Then the answer is
    "other", if the table has that candidate. The array holds Python ints if a number is too large
    for any other kind.
    """
    numbers = [0] * data.n_rows
    for row in data.dirty_rows.tolist():
        others = {} if table is None else _others(table, row)
        places, sizes = [], []
        for cell in data.cells(row):  # a product is nearest where each of its cells is
            columns, values = np.atleast_1d(np.asarray(cell.column)), np.asarray(cell.values)
            gaps = ((values - rows[row, columns]) ** 2).sum(axis=1)
            unlisted = columns[0] in others and gaps.min() > 0
            places.append(others[columns[0]] if unlisted else int(gaps.argmin()))
            sizes.append(len(values))
        numbers[row] = number_of(places, sizes)
    return _as_array(numbers)


def _others(table: IncompleteTable, row: int) -> dict[int, int]:
    """The number of the value "other" of each cell, by the cell's first column in the space."""
    options, found = table.options_of(row), {}
    for cell, values in zip(options.cells, options.values, strict=True):
        feature = table.space.features[cell]
        if feature is not None and not options.joint and OTHER in values:
            found[feature.start] = values.index(OTHER)
    return found


def checked_numbers(numbers: npt.NDArray[Any], data: IncompleteDataset) -> Numbers:
    """The number of a candidate for every row, or an error."""
    whole = numbers.dtype.kind in "iu" or (
        numbers.dtype == object and all(map(is_whole, numbers.ravel()))
    )
    if numbers.shape != (data.n_rows,) or not whole:
        raise DataError(
            f"truth must be the number of a candidate for each of {data.n_rows} rows, or the true "
            f"rows; got an array of {len(numbers)} {numbers.dtype} values."
        )
    found = [int(one) for one in numbers.tolist()]
    for row, number in enumerate(found):
        if number and not 0 <= number < data.arrays.count(row):
            raise DataError(
                f"truth names candidate {number} of row {row}, which has candidates 0 to "
                f"{data.arrays.count(row) - 1}."
            )
    return _as_array(found)


def _as_array(numbers: list[int]) -> Numbers:
    largest = max(numbers, default=0)
    return np.array(numbers, dtype=np.int64 if largest < 2**63 else object)
