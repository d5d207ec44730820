"""What is prepared of data that differs in one row: which points are touched, found by a kernel."""

from __future__ import annotations

import numpy as np
import pytest

from cpclean import IncompleteDataset
from cpclean.queries.geometry import ask
from cpclean.queries.model import Model
from cpclean.queries.plain_query import PlainQuery
from cpclean.queries.query import Query


@pytest.mark.nojit
@pytest.mark.parametrize("seed", range(10))
def test_points_that_a_row_touches_are_those_of_the_bounds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = [rng.integers(-3, 4, (rng.integers(1, 4), 3)).astype(float) for _ in range(20)]
    data = IncompleteDataset(rows, rng.integers(0, 2, 20))
    query = ask(data, rng.integers(-3, 4, (30, 3)).astype(float), Model(3))
    assert isinstance(query, PlainQuery)
    reach, passed_over = rng.integers(0, 9, len(query.vectors)) * 1.0, rng.random(30) < 0.3
    passed_over = passed_over[: len(reach)]
    for row in range(20):
        value = rng.integers(-3, 4, 3).astype(float)
        after = query.changed(data.pin(row, value=value), row)
        found = query.touched(row, after, passed_over, reach)
        assert found.tolist() == Query.touched(query, row, after, passed_over, reach).tolist()
        for both in (query, after):
            near = both.nearest(row) <= reach
            assert set(np.flatnonzero(near & ~passed_over)) <= set(found.tolist())
