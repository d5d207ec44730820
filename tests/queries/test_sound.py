"""Points with too many completions: what is called certain about them is proved."""

import numpy as np
import pytest

from cpclean import (
    Cell,
    CleaningSession,
    FactoredRow,
    IncompleteDataset,
    Points,
    is_certain,
    possible_labels,
    share_errors,
)

METRICS = ("euclidean", "manhattan", "chebyshev", "linear", "hamming", "cosine")


def case(seed: int) -> tuple[IncompleteDataset, FactoredRow, int]:
    """A few rows and a point, all with holes, on a coarse grid."""
    rng = np.random.default_rng(seed)
    spread = float(rng.choice([0.2, 1.0, 2.0]))
    n_rows = int(rng.integers(4, 8))

    def row(holes: float) -> FactoredRow:
        cells = [Cell(c, rng.integers(0, 3, 3) * 0.5) for c in range(4) if rng.random() < holes]
        return FactoredRow(rng.integers(0, 6, 4) * spread, cells)

    joint = rng.integers(0, 4, size=(2, 4)).astype(float)  # cuts across the cells of the point
    rows = [row(0.3) for _ in range(n_rows - 1)]
    data = IncompleteDataset([*rows, joint], rng.permutation(np.arange(n_rows) % 3))
    return data, row(0.8), int(rng.integers(1, 4))


def check(seed: int) -> tuple[int, int]:
    """How many of the certain predictions are proved, and how many there are."""
    data, point, k = case(seed)
    found = all_ = 0
    for metric in METRICS:
        drawn, whole = Points([point], max_exact=1), Points([point], max_exact=10**6)
        assert (
            possible_labels(data, drawn, k, metric) >= possible_labels(data, whole, k, metric)
        ).all()
        proved, true = (bool(is_certain(data, one, k, metric)[0]) for one in (drawn, whole))
        assert proved <= true
        found, all_ = found + proved, all_ + true
    return found, all_


@pytest.mark.nojit
def test_nothing_possible_is_excluded() -> None:
    counts = np.array([check(seed) for seed in range(12)]).sum(axis=0)
    assert 0 < counts[0] <= counts[1]


@pytest.mark.nojit
def test_a_session_with_drawn_rows_and_points() -> None:
    cells = [Cell(column, [0.0, 1.0]) for column in range(3)]
    row, other = FactoredRow([0.0] * 3, cells), FactoredRow([1.0] * 3, cells[:2])
    data = IncompleteDataset([row, other, [[0.4] * 3], [[3.0] * 3]], [0, 1, 0, 1], max_exact=3)
    points = Points([FactoredRow([0.5] * 3, cells), [[2.0] * 3]], max_exact=3, n_draws=4)
    assert share_errors(data, points, 1).shape == (2, 2)
    session = CleaningSession(data, points, n_neighbors=1)
    assert not session.is_exact
    while (question := session.ask()) is not None:
        session.tell(question.row, 0)
    assert session.certain_share == 1.0
