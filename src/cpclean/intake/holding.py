"""Rows that are held out to be predicted: the same on the page and in the terminal."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.data.incomplete import Ints


def empty_columns(frame: Any) -> list[Any]:
    """The columns of a pandas frame without any value; they play no part."""
    return list(frame.columns[frame.isna().all()])


def complete_rows(frame: Any) -> Ints:
    """The rows of a pandas frame, label included, that have a value in every column that counts."""
    needed = frame.drop(columns=empty_columns(frame))
    return np.flatnonzero(needed.notna().all(axis=1).to_numpy())


def held_out(complete: Ints, labels: Any, wanted: int, seed: int) -> Ints:
    """So many complete rows at random, or fewer: one row of every label is left to learn from.

    Parameters
    ----------
    complete : ndarray of int
        As `complete_rows` gives them; if more are wanted, half of them are held out.
    labels : pandas.Series
        Of all rows; those without a label are not held out.
    """
    complete = complete[labels.notna().to_numpy()[complete]]
    if wanted > len(complete):
        wanted = max(1, len(complete) // 2)
    order = np.random.default_rng(seed).permutation(complete)
    return np.sort(order[_spare(order, labels)][:wanted])


def _spare(order: Ints, labels: Any) -> npt.NDArray[np.bool_]:
    """Which rows may be held out."""
    left = labels.value_counts().to_dict()
    free = []
    for label in labels.iloc[order].tolist():
        left[label] -= 1
        free.append(left[label] > 0)
    return np.array(free, dtype=bool)
