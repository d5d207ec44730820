"""Boards on the rows near their points, against boards on all rows: the same, bit for bit."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest
from data.spaces.fitted_samples import Stairs, Sums, mapped
from slow_cases import parts

from cpclean import Between, Cell, FactoredRow, IncompleteDataset, Points
from cpclean.cleaning.board import Board
from cpclean.data.spaces.trees import Trees
from cpclean.queries.model import Model

METRICS = ("euclidean", "manhattan", "chebyshev", "linear", "hamming", "cosine")
N_FEATURES = 3
FAR = 40.0
Place = Callable[[IncompleteDataset, int], IncompleteDataset]


def centre(rng: Random) -> list[float]:
    return [float(rng.choice([-12, -6, 0, 6, 12])) for _ in range(N_FEATURES)]


def beside(rng: Random, place: list[float], width: int = 1) -> list[float]:
    return [one + rng.randint(-width, width) for one in place]


def clustered(rng: Random, centres: list[list[float]], *, drawn: bool) -> IncompleteDataset:
    """Many rows in clusters, full of ties; the holes of most rows stay within theirs."""
    rows: list[Any] = []
    for _ in range(rng.randint(30, 60)):
        own, kind = rng.choice(centres), rng.random()
        if kind < 0.55:
            rows.append([beside(rng, own)])
        elif kind < 0.7:
            rows.append([beside(rng, own) for _ in range(rng.randint(2, 4))])
        else:
            cells = []
            for column in rng.sample(range(N_FEATURES), rng.randint(1, 2)):
                spread = rng.choice([1, 1, 1, 15])
                values = {own[column] + rng.randint(-spread, spread) for _ in range(3)}
                cells.append(Cell(column, sorted(values)))
            rows.append(FactoredRow(beside(rng, own), cells))
    labels = [rng.randrange(3) for _ in rows]
    most, draws = rng.choice([(3, 4), (4, 5)]) if drawn else (1000, 8)
    return IncompleteDataset(rows, labels, max_exact=most, n_draws=draws)


def told(rng: Random, data: IncompleteDataset, points: Points, row: int) -> dict[int, Any] | None:
    """What someone says about a row: often a value that it could not have, far away or near."""
    kind = rng.random()
    if kind < 0.15:
        return None
    if kind < 0.3:  # roughly: at least one candidate lies there
        value = data.candidate(row, rng.randrange(data.arrays.count(row))).tolist()
        column = rng.randrange(N_FEATURES)
        low, high = value[column] - rng.randint(0, 2), value[column] + rng.randint(0, 2)
        return {column: Between(*rng.choice([(low, high), (None, high), (low, None)]))}
    if kind < 0.55:
        chosen = data.candidate(row, rng.randrange(data.arrays.count(row))).tolist()
        return dict(enumerate(chosen))
    if kind < 0.65:
        return {rng.randrange(N_FEATURES): float(rng.randint(-13, 13))}
    if kind < 0.85:
        return dict.fromkeys(range(N_FEATURES), rng.choice([-FAR, FAR]))
    point = points.vectors[rng.randrange(len(points.vectors))].tolist()
    return dict(enumerate(beside(rng, point, rng.choice([1, 3, 6]))))


def compared(one: Board, two: Board, row: int) -> None:
    """Everything that a board says, bit for bit."""
    assert one.certain.tolist() == two.certain.tolist()
    assert one.settled.tolist() == two.settled.tolist()
    assert one.sure.tolist() == two.sure.tolist()
    assert one.entropies.tolist() == two.entropies.tolist()
    assert one.mean_entropy == two.mean_entropy
    assert one.labels.tolist() == two.labels.tolist()
    assert one.ground.is_exact == two.data.is_exact
    n_points = np.arange(one.points.n_points)
    assert one.shares(n_points).tolist() == two.shares(n_points).tolist()
    assert one.touched(row).tolist() == two.touched(row).tolist()
    assert one.nearest(row).tolist() == two.nearest(row).tolist()
    mine, theirs = one.open_rows(), two.open_rows()
    assert [rows.tolist() for rows in mine] == [rows.tolist() for rows in theirs]


def gains(board: Board, cells: dict[int, list[tuple[int, int]]] | None) -> list[Any]:
    """The gains, also point by point, of rows or of cells."""
    n_cells = 0 if cells is None else sum(map(len, cells.values()))
    asked = board.ground.start.dirty_rows if cells is None else np.arange(n_cells)
    each = board.point_gains(asked)
    return [one.tolist() for one in (board.gains(asked), each.gain, each.point, each.question)]


def play(seed: int, n_steps: int, place: Place, metrics: tuple[str, ...]) -> Counter[str]:
    """Two boards under the same changes; counts what became of the gathered rows."""
    rng = Random(seed)
    centres = [centre(rng) for _ in range(8)]
    drawn, leaving = rng.random() < 0.3, rng.random() < 0.5
    data = place(clustered(rng, centres, drawn=drawn), seed)
    given = [beside(rng, rng.choice(centres[:2])) for _ in range(4)]
    points = Points([given[0], given[1:3], given[3]])
    model = Model(rng.randint(1, 4), rng.choice(metrics))
    how: dict[str, Any] = rng.choice([{}, {"sure": 0.7}, {"uniform": True}])
    cells = None
    if rng.random() < 0.3:
        cells = {
            row: [(cell.start, cell.stop) for cell in data.stored_row(row).cells]
            for row in data.dirty_rows.tolist()
        }
    whole = Board(data, points, model, cells, gather=False, **how)
    board = Board(data, points, model, cells, gather=True, **how)
    assert whole.gathered is None
    seen = Counter[str](sessions=1)
    if board.gathered is None:  # draws that a fitted object maps are not gathered
        assert drawn
        return seen
    seen["small"] += len(board.gathered.rows) < 0.6 * data.n_rows
    for number in range(n_steps):
        before = board.gathered
        assert before is not None
        if leaving and rng.random() < 0.5:  # rows leave a point until it has too few
            own = before.around.rows[rng.randrange(len(points.vectors))]
            row, features = rng.choice(own.tolist()), dict.fromkeys(range(N_FEATURES), FAR)
        else:
            row = rng.randrange(data.n_rows)
            features = told(rng, data, points, row)
        settles = [one.would_settle(row, features, None).tolist() for one in (board, whole)]
        assert settles[0] == settles[1]
        changes = [one.change(row, features) for one in (board, whole)]
        for name in ("settled", "unsettled"):
            mine, theirs = (getattr(change, name).tolist() for change in changes)
            assert mine == theirs
        after = board.gathered
        assert after is not None
        seen["outside"] += after.place(row) is None
        seen["again"] += after.around.spare.sum() > before.around.spare.sum()
        seen["added"] += before.place(row) is None and after.place(row) is not None
        if number == n_steps // 2:
            board = pickle.loads(pickle.dumps(board))
        compared(board, whole, rng.randrange(data.n_rows))
        assert gains(board, cells) == gains(whole, cells)
    assert board.data == whole.data
    one, two = (
        Board(board.data, points, model, cells, gather=gather, **how) for gather in (True, False)
    )
    compared(one, two, row)
    assert gains(one, cells) == gains(two, cells)
    return seen


def in_plain_space(data: IncompleteDataset, seed: int) -> IncompleteDataset:
    return data


def among_leaves(data: IncompleteDataset, seed: int) -> IncompleteDataset:
    """Trees of three levels that cut between the clusters and through them."""
    rng, n_trees, inner = np.random.default_rng(seed), 12, 7
    child = 2 * np.arange(inner) + 1
    below, none = np.full(inner + 1, -1), np.zeros(inner + 1)
    feature = [np.append(rng.integers(N_FEATURES, size=inner), below) for _ in range(n_trees)]
    cut = [np.append(rng.integers(-13, 13, size=inner) + 0.5, none) for _ in range(n_trees)]
    left, right = np.append(child, below), np.append(child + 1, below)
    trees = Trees(
        (2 * inner + 1) * np.arange(n_trees + 1),
        np.concatenate(feature),
        np.concatenate(cut),
        np.tile(left, n_trees),
        np.tile(right, n_trees),
        n_features=N_FEATURES,
    )
    return data.in_space(trees)


def in_sums(data: IncompleteDataset, seed: int) -> IncompleteDataset:
    return mapped(data, Sums, seed)


def in_stairs(data: IncompleteDataset, seed: int) -> IncompleteDataset:
    return mapped(data, Stairs, seed)


SPACES = [
    pytest.param(in_plain_space, METRICS, 6, id="plain"),
    pytest.param(among_leaves, ("hamming",), 5, id="leaves"),
    pytest.param(in_sums, METRICS, 4, id="sums"),
    pytest.param(in_stairs, ("hamming",), 3, id="stairs"),
]


@pytest.mark.parametrize(("place", "metrics", "n_sessions"), SPACES)
def test_gathered_rows_stand_for_all(
    place: Place, metrics: tuple[str, ...], n_sessions: int
) -> None:
    seen = Counter[str]()
    for seed in range(n_sessions):
        seen += play(seed, 10, place, metrics)
    assert seen["outside"]


@pytest.mark.slow
@pytest.mark.parametrize("first", parts(range(0, 40, 10), 1))
@pytest.mark.parametrize(("place", "metrics", "n_sessions"), SPACES)
def test_gathered_rows_stand_for_all_whatever_is_told(
    place: Place, metrics: tuple[str, ...], n_sessions: int, first: int
) -> None:
    seen = Counter[str]()
    for seed in range(100 + first, 110 + first):
        seen += play(seed, 30, place, metrics)
    assert all(seen[name] for name in ("outside", "added", "again")), seen
    assert seen["small"] or place is not in_plain_space
