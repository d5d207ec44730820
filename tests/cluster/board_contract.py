"""What every board has to do, whoever looks at its points."""

from __future__ import annotations

from random import Random

import numpy as np
import oracle
import pytest
from cleaning.small import random_data

from cpclean.cleaning.board import Board
from cpclean.cluster.hands import Hands
from cpclean.queries.model import Model

METRICS = ("euclidean", "manhattan", "chebyshev", "linear", "hamming")
SEEDS = range(6)


def small_problem(seed: int):
    """Data that the oracle goes through, points with ties, and a model."""
    rng = Random(seed)
    while True:
        data = random_data(rng)
        if data.n_rows <= 8 and data.n_worlds <= 3000:
            break
    points = [[float(rng.randint(-3, 3)) for _ in range(data.n_features)] for _ in range(5)]
    return data, points, Model(rng.randint(1, min(4, data.n_rows)), rng.choice(METRICS)), rng


class BoardContract:
    """Inherit, and say who works by a fixture `hands`."""

    @pytest.fixture
    def hands(self) -> Hands:
        raise NotImplementedError

    @pytest.mark.parametrize("seed", SEEDS)
    def test_what_it_holds_is_what_all_worlds_say(self, hands, seed):
        data, points, model, rng = small_problem(seed)
        board = Board(data, points, model, hands=hands)
        check_against_oracle(board, points, model)
        for _ in range(3):
            open_rows = [row for row in data.dirty_rows.tolist() if board.ground.count(row) > 1]
            if not open_rows:
                break
            row = rng.choice(open_rows)
            vector = rng.choice(data.candidates(row).tolist())
            board.change(row, dict(enumerate(vector)))
            check_against_oracle(board, points, model)

    @pytest.mark.parametrize("seed", SEEDS)
    def test_a_surprise_and_its_correction_leave_no_trace(self, hands, seed):
        data, points, model, rng = small_problem(seed + 50)
        board = Board(data, points, model, hands=hands)
        before = held(board)
        for row in data.dirty_rows.tolist()[:2]:
            surprise = {column: float(rng.randint(-9, 9)) for column in range(data.n_features)}
            board.change(row, surprise)
            check_against_oracle(board, points, model)
            board.change(row, None)
        assert held(board) == before

    def test_a_copy_changes_by_itself(self, hands):
        data, points, model, _ = small_problem(3)
        board = Board(data, points, model, hands=hands)
        before, row = held(board), int(data.dirty_rows[0])
        board.copy().change(row, dict(enumerate(data.candidates(row)[0].tolist())))
        assert held(board) == before

    def test_what_would_be_settled_is(self, hands):
        for seed in SEEDS:
            data, points, model, _ = small_problem(seed + 80)
            board = Board(data, points, model, hands=hands, sure=0.8)
            before = held(board)
            for row in data.dirty_rows.tolist()[:2]:
                known = dict(enumerate(data.candidates(row)[-1].tolist()))
                foreseen = board.would_settle(row, known, None).tolist()
                assert held(board) == before
                assert board.copy().change(row, known).settled.tolist() == foreseen


def held(board: Board) -> tuple[object, ...]:
    """Everything that a board holds, to the last bit."""
    return (
        board.certain.tolist(),
        board.settled.tolist(),
        board.sure.tolist(),
        board.entropies.tolist(),
        board.gains().tolist(),
        board.labels.tolist(),
        board.shares(np.arange(board.points.n_points)).tolist(),
        [rows.tolist() for rows in board.open_rows()],
    )


def check_against_oracle(board: Board, points, model: Model) -> None:
    data = board.data
    asked = (
        [data.candidates(row).tolist() for row in range(data.n_rows)],
        data.codes.tolist(),
        data.n_classes,
        [data.prior(row).tolist() for row in range(data.n_rows)],
    )
    shares, expected = [], np.zeros(data.n_rows)
    for point, certain in zip(points, board.certain, strict=True):
        own = (*asked, point, model.n_neighbors, model.metric)
        assert certain == (sum(oracle.possible_labels(*own)) == 1)
        shares.append([float(one) for one in oracle.world_shares(*own)])
        expected += oracle.expected_entropy(*own)
    found = board.shares(np.arange(len(points)))
    assert np.allclose(found, shares, rtol=0, atol=1e-12)
    assert np.allclose(board.entropies, [oracle.entropy(one) for one in shares], atol=1e-12)
    # A row's gain is the fall of the mean entropy, over the points that are open.
    left = board.mean_entropy - expected / len(points)
    assert np.allclose(board.gains(), left, rtol=0, atol=1e-12)
