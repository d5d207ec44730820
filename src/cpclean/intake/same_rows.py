"""Rows that are in two files."""

from __future__ import annotations

from typing import Any

import numpy as np

from cpclean.data.incomplete import Ints


def rows_in_both(mine: Any, theirs: Any) -> Ints:
    """For each row of the second pandas frame, the first equal row of the first one, or -1.

    Rows are equal if they are in every column of the first frame. Nulls equal nulls, numbers are
    compared as numbers, and all else as text.

    Examples
    --------
    >>> import pandas as pd
    >>> mine = pd.DataFrame({"age": [40, None, 30], "city": ["A", None, "B"]})
    >>> theirs = pd.DataFrame({"city": [None, "B", "A"], "age": [None, 31, 40]})
    >>> rows_in_both(mine, theirs).tolist()
    [1, -1, 0]
    """
    n_mine = len(mine)
    keys = np.zeros(n_mine + len(theirs), dtype=np.int64)
    for name in mine.columns:
        codes = _codes(mine[name], theirs[name])
        _, keys = np.unique(keys * (int(codes.max(initial=0)) + 1) + codes, return_inverse=True)
    first = np.full(int(keys.max(initial=-1)) + 1, -1)
    first[keys[:n_mine][::-1]] = np.arange(n_mine)[::-1]  # the first of equals is written last
    return first[keys[n_mine:]]


def _codes(one: Any, other: Any) -> Ints:
    """A number for every distinct value of two columns together; nulls have one, too."""
    import pandas as pd

    if pd.api.types.is_numeric_dtype(one) and pd.api.types.is_numeric_dtype(other):
        values = [column.to_numpy(dtype=np.float64, na_value=np.nan) for column in (one, other)]
        together = pd.Series(np.concatenate(values))
    else:
        together = pd.concat([column.astype(object) for column in (one, other)])
        together = together.where(together.isna(), together.astype(str))
    codes, _ = together.factorize()
    return np.asarray(codes, dtype=np.int64) + 1
