"""Small sessions over a dataset and over a table."""

from __future__ import annotations

import pandas as pd
import pytest
from cleaning.samples import frame

from cpclean import CleaningSession, IncompleteDataset, IncompleteTable


@pytest.fixture
def data() -> IncompleteDataset:
    rows = [[[0.0], [5.0]], [[1.0], [7.0]], [[6.0]], [[2.0], [3.0], [8.0]]]
    return IncompleteDataset(rows, ["a", "b", "b", "a"])


@pytest.fixture
def session(data: IncompleteDataset) -> CleaningSession:
    return CleaningSession(data, [[0.0], [4.0], [9.0]], n_neighbors=1, y_val=["a", "a", "b"])


@pytest.fixture
def table_session() -> CleaningSession:
    points = pd.DataFrame({"age": [20.0, 60.0, 41.0], "city": ["A", "B", "B"]})
    return CleaningSession(IncompleteTable(frame(), label="buys"), points, n_neighbors=1)
