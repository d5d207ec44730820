"""Rows that are held out to be predicted: the same on the page and in the terminal.

They are drawn from all rows that have a label and something besides it, with or without holes, so
that they look like the table. Every label has its share of them, as far as whole rows allow:

1. All together, the share of the rows is wanted, rounded.
2. Each label gives its own share, rounded down. What is still lacking comes from the labels that
   lost most by that, one row each; of equals, those that come first in the file.
3. A label keeps at least one training row, so that a label with a single row gives none. If too
   few rows are found because of that, fewer are held out.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cpclean.data.incomplete import Ints
from cpclean.data.rows import Bools

# Rows held out differ from the others if their shares of rows with holes are further apart than
# this, and than so many standard errors: neither chance nor a trifle. Of fewer rows than the last
# number, nothing is said.
LARGE_DIFFERENCE = 0.1
LARGE_Z = 3.0
FEWEST = 10


def columns_that_count(frame: Any) -> list[Any]:
    """The columns of a pandas frame with at least two different values; others play no part."""
    return [name for name in frame.columns if frame[name].nunique() > 1]


def rows_with_holes(frame: Any, columns: list[Any]) -> Bools:
    """Whether each row of a pandas frame has a hole in one of these columns."""
    found: Bools = frame[columns].isna().any(axis=1).to_numpy(dtype=bool)
    return found


def held_out(labels: Any, share: float, seed: int) -> Ints:
    """The rows to hold out, ascending: a share of the rows of every label, at random.

    Parameters
    ----------
    labels : pandas.Series
        Of all rows; null where a row is not to be held out.
    share : float
        Between 0 and 1.
    seed : int
        The same seed holds out the same rows.

    Examples
    --------
    >>> import pandas as pd
    >>> labels = pd.Series(["u"] * 10 + ["v"] * 5 + ["w"])
    >>> rows = held_out(labels, 0.4, seed=0)
    >>> labels[rows].value_counts().to_dict()
    {'u': 4, 'v': 2}
    """
    codes, distinct = labels.factorize()
    wanted = quotas(np.bincount(codes[codes >= 0], minlength=len(distinct)), share)
    order = np.random.default_rng(seed).permutation(len(codes))
    by_label = order[np.argsort(codes[order], kind="stable")]
    by_label = by_label[codes[by_label] >= 0]
    sizes = np.bincount(codes[by_label], minlength=len(distinct))
    place = np.arange(len(by_label)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.sort(by_label[place < np.repeat(wanted, sizes)])


def quotas(sizes: Ints, share: float) -> Ints:
    """How many rows of each label are held out, by the rules above.

    >>> quotas(np.array([10, 5, 1, 3]), 0.3).tolist()
    [3, 2, 0, 1]
    """
    several = np.where(sizes > 1, sizes, 0)
    exact = share * several
    most: Ints = np.minimum(np.ceil(exact), np.maximum(several - 1, 0)).astype(np.int64)
    found: Ints = np.minimum(np.floor(exact).astype(np.int64), most)
    lacking = round(share * int(sizes.sum())) - int(found.sum())
    (free,) = np.nonzero(found < most)
    found[free[np.argsort(found[free] - exact[free], kind="stable")][: max(0, lacking)]] += 1
    return found


def differ_in_holes(held: Bools, others: Bools) -> bool:
    """Whether the rows held out have holes much more, or less, often than the others.

    A test of two proportions: see LARGE_DIFFERENCE, LARGE_Z and FEWEST.

    >>> differ_in_holes(np.arange(50) < 40, np.arange(200) < 100)
    True
    """
    if min(len(held), len(others)) < FEWEST:
        return False
    apart = abs(float(held.mean()) - float(others.mean()))
    pooled = (int(held.sum()) + int(others.sum())) / (len(held) + len(others))
    error = math.sqrt(pooled * (1 - pooled) * (1 / len(held) + 1 / len(others)))
    return apart > LARGE_DIFFERENCE and apart > LARGE_Z * error
