"""A table with columns of every kind, cells of it to doubt, and the way back from raw values."""

from __future__ import annotations

from datetime import datetime

import numpy as np
import pandas as pd

from cpclean import IncompleteTable

FRAME = pd.DataFrame(
    {
        "age": pd.array([18, None, 30, 65, 40, None], dtype="Int64"),
        "city": ["A", "B", None, "A", "C", None],
        "member": pd.array([True, False, True, None, True, True], dtype="boolean"),
        "since": [datetime(2020, 1, 1), datetime(2021, 6, 1), None] + [datetime(2019, 3, 5)] * 3,
        "y": ["no", "yes", "no", "yes", "no", "yes"],
    }
)
FEATURES = list(FRAME.columns[:-1])
SUSPECTS = [(0, "age"), (1, "age"), (3, "city"), (5, "since")]


def encoded_back(table: IncompleteTable, row: int) -> np.ndarray:
    """A row's candidates, from the raw values that a person sees."""
    full = [{**table.row(row), **candidate} for candidate in table.candidates(row)]
    # Cells of columns outside the space may be empty; encode does not look at them.
    return table.encode(pd.DataFrame(full, columns=list(table.names), dtype=object))
