"""What is said about draws."""

import numpy as np

from cpclean import Cell, FactoredRow, IncompleteDataset, Points, share_errors
from cpclean.analysis.draw_errors import draws_note
from cpclean.queries.model import Model


def test_the_error_of_many_points_is_that_of_a_sample():
    rng = np.random.default_rng(0)
    row = FactoredRow([0.0] * 9, [Cell(column, [0.0, 1.0]) for column in range(9)])
    data = IncompleteDataset([row, row, [[9.0] * 9]], ["a", "b", "a"], max_exact=100, n_draws=8)
    # Those that are far from all that is drawn are exact.
    among = Points.of(np.concatenate([rng.random((100, 9)), 9 + rng.random((300, 9))]))
    for some in (among.take(np.arange(100)), among):
        error = share_errors(data, some, 1).max(axis=1).mean()
        told = draws_note(data, some, Model(1)).values["error"]
        if len(some) == 100:
            assert told == f"about {error:.1g}"
        assert error > 0.005
        assert 0.6 * error < float(told.removeprefix("about ")) < 1.6 * error
