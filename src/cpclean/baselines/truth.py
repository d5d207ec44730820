"""What a person who knows the truth would answer, for every row at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from cpclean.baselines.base import Source
from cpclean.data.columns import OTHER
from cpclean.data.frames import is_frame
from cpclean.data.incomplete import Ints
from cpclean.data.rows import Floats
from cpclean.data.table import IncompleteTable
from cpclean.errors import DataError


def true_rows(source: Source, truth: Any) -> Floats:
    """The true rows as vectors: as given, or as the space knows them."""
    known = source.of_space("clean") if truth is None else truth
    if known is None:
        raise DataError(_needed("a frame or array with the true rows"))
    if not is_frame(known) and np.ndim(known) == 1:
        raise DataError(
            "truth must be the true rows here; got candidate numbers, which say no more than "
            "which candidate is nearest. Use ClosestWorld for them."
        )
    return source.rows(known, "truth")


def true_candidates(source: Source, truth: Any) -> Ints:
    """The number of every row's candidate that is nearest to the truth."""
    known = truth
    if truth is None:
        known = source.of_space("truth")
        known = source.of_space("clean") if known is None else known
    if known is None:
        raise DataError(_needed("the number of every row's true candidate, or the true rows"))
    if not is_frame(known) and np.ndim(known) == 1:
        return _checked_numbers(source, np.asarray(known))
    return closest_candidates(source, source.rows(known, "truth"))


def answered_rows(source: Source, truth: Any, exact: bool) -> Floats:
    """Every row as a person would answer: its nearest candidate, or if `exact` the truth itself."""
    return true_rows(source, truth) if exact else candidate_rows(source, truth)


def candidate_rows(source: Source, truth: Any) -> Floats:
    """The closest-candidate world, shape (n_rows, n_features)."""
    numbers = true_candidates(source, truth).tolist()
    return np.stack([source.dataset.candidate(row, number) for row, number in enumerate(numbers)])


def closest_candidates(source: Source, rows: Floats) -> Ints:
    """The number of each row's candidate that is nearest to a vector; the first of equals.

    A true category that is no candidate is "other", where that is a candidate.
    """
    data = source.dataset
    numbers = np.zeros(data.n_rows, dtype=np.int64)
    for row in data.dirty_rows.tolist():
        others = {} if source.table is None else _others(source.table, row)
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
    """Which value of a cell is "other", by the first column of the cell in the space."""
    options, found = table.options[row], {}
    for cell, values in zip(options.cells, options.values, strict=True):
        feature = table.encoding.features[cell]
        if feature is not None and not options.joint and OTHER in values:
            found[feature.start] = values.index(OTHER)
    return found


def _checked_numbers(source: Source, numbers: Any) -> Ints:
    counts = source.dataset.candidate_counts
    if numbers.shape != counts.shape or numbers.dtype.kind not in "iu":
        raise DataError(
            f"truth must give the number of a candidate for each of {len(counts)} rows, or the "
            f"true rows; got {len(numbers)} of {numbers.dtype}."
        )
    bad = np.flatnonzero((numbers < 0) | (numbers >= counts))
    if len(bad):
        row = int(bad[0])
        raise DataError(
            f"truth names candidate {numbers[row]} of row {row}, which has candidates 0 to "
            f"{counts[row] - 1}."
        )
    return np.asarray(numbers, dtype=np.int64)


def _needed(what: str) -> str:
    return f"the truth is not known: pass truth={what}, or fit a space that has it."
