"""What a person who knows the truth would answer, for every row at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from cpclean.baselines.source import Source
from cpclean.cleaning.truth import Numbers, checked_numbers, closest_candidates
from cpclean.data.frames import is_frame
from cpclean.data.rows import Floats
from cpclean.errors import DataError


def true_rows(source: Source, truth: Any) -> Floats:
    """The true rows as vectors: those passed, or those of the space."""
    known = source.of_space("clean") if truth is None else truth
    if known is None:
        raise DataError(_needed("a frame or array with the true rows"))
    if not is_frame(known) and np.ndim(known) == 1:
        raise DataError(
            "truth must be the true rows here; got candidate numbers, which only name "
            "the nearest candidate. Use ClosestWorld for them."
        )
    return source.rows(known, "truth")


def true_candidates(source: Source, truth: Any) -> Numbers:
    """The number of every row's candidate that is nearest to the truth."""
    known = truth
    if truth is None:
        known = source.of_space("truth")
        known = source.of_space("clean") if known is None else known
    if known is None:
        raise DataError(_needed("the number of every row's true candidate, or the true rows"))
    if not is_frame(known) and np.ndim(known) == 1:
        return checked_numbers(np.asarray(known), source.dataset)
    return closest_candidates(source.dataset, source.rows(known, "truth"), source.table)


def answered_rows(source: Source, truth: Any, exact: bool) -> Floats:
    """Every row as a person would answer: its nearest candidate, or if `exact` the truth itself."""
    return true_rows(source, truth) if exact else candidate_rows(source, truth)


def candidate_rows(source: Source, truth: Any) -> Floats:
    """The closest-candidate world, shape (n_rows, n_features)."""
    numbers = true_candidates(source, truth).tolist()
    return np.stack([source.dataset.candidate(row, number) for row, number in enumerate(numbers)])


def _needed(what: str) -> str:
    return f"the truth is not known: pass truth={what}, or fit a space that has it."
