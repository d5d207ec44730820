"""Near rows: the same with and without shared sums or a product in single precision, and why."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest
from queries.parts import Parts
from queries.samples import NAMES

from cpclean import Cell, FactoredRow, IncompleteDataset
from cpclean.queries import _alike, _near, _squares
from cpclean.queries.geometry import ask
from cpclean.queries.kernel_arrays import BLOCK, EUCLIDEAN, MANHATTAN, Rows
from cpclean.queries.model import Model
from cpclean.queries.prepared import prepared_rows

NEAR, SQUARES = Parts(_near), Parts(_squares)
NEAR_ROWS = NEAR.plain("near_rows")


def near_rows(rows: Rows, metric: int, X: np.ndarray, k: int) -> tuple[np.ndarray, ...]:
    plan = _alike.alike(metric, X)
    columns = _near.by_product(metric, X, rows.base.shape[1]) if plan is None else None
    other = None if metric == EUCLIDEAN else metric
    found: tuple[np.ndarray, ...] = NEAR_ROWS(rows, other, X, columns, plan, None, k, 10**9)
    return found


# -- tables that are hard for floats ---------------------------------------------------------------


def grid(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.integers(-2, 3, size=shape).astype(float)


def one_apart(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Numbers that differ by one unit in the last place, or not at all."""
    return 1.0 + rng.integers(0, 2, size=shape) * 2.0**-52


def offset(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return 1e9 + rng.normal(size=shape)


def small(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.normal(size=shape) * 1e-150


def large(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.uniform(-1, 1, size=shape) * 1e150


def all_magnitudes(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.normal(size=shape) * 10.0 ** rng.integers(-150, 150, size=shape)


def column_magnitudes(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.normal(size=shape) * 10.0 ** np.linspace(-150, 149, shape[-1])


def clusters(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Tight groups far apart: what tells rows apart is tiny beside where they are."""
    return 1e6 * rng.integers(0, 2, size=(shape[0], 1)) + 1e-6 * rng.normal(size=shape)


def mostly_zero(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return np.where(rng.random(shape) < 0.1, rng.normal(size=shape), 0.0)


def vanishing(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Numbers whose squares underflow: all distances are 0."""
    return rng.normal(size=shape) * 1e-163


def subnormal(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.integers(0, 4, size=shape) * 5e-324


KINDS = (
    grid, one_apart, offset, small, large, all_magnitudes, column_magnitudes, clusters, mostly_zero,
    vanishing, subnormal,
)  # fmt: skip


def table(draw, seed: int, n_rows: int, width: int, holes: float) -> IncompleteDataset:
    rng = np.random.default_rng(seed)
    values = draw(rng, n_rows, width)
    values[-1], values[n_rows // 2] = values[0], 0.0  # a duplicate, and a row of zeros
    rows: list[object] = []
    for row, lost in zip(values, rng.random(n_rows) < holes, strict=True):
        columns = np.sort(rng.choice(width, size=min(width, 2), replace=False)).tolist()
        cells = [Cell(column, draw(rng, 3, width)[:, column]) for column in columns]
        rows.append(FactoredRow(row, cells) if lost else row[None, :])
    return IncompleteDataset(rows, np.arange(n_rows) % 2)


def points_around(draw, data: IncompleteDataset, seed: int, n_points: int) -> np.ndarray:
    """Points of the same kind; a few are rows of the table, or one unit away from one."""
    X = draw(np.random.default_rng(seed + 1), n_points, data.n_features)
    X[0] = data.candidate(0, 0)
    X[1] = np.nextafter(data.candidate(data.n_rows - 1, 0), np.inf)
    X[2] = 0.0
    return X


# -- the margin of a product -----------------------------------------------------------------------


class Product(NamedTuple):
    """What a block's product finds for some points, and the sums that decide."""

    sums: np.ndarray  # (points, rows)
    near: np.ndarray  # (points, rows)
    scale: float
    plain: np.ndarray
    whole: np.ndarray

    def may_be_near(self, point: int, reach: float, width: int) -> np.ndarray:
        most = NEAR._most_within(reach, width, self.scale, self.plain[point], self.whole[point])
        return ~(self.sums[point] > most)


def products(rows: Rows, X: np.ndarray) -> Iterator[Product]:
    """Of every block and groups of four points."""
    width = X.shape[1]
    centre, place = np.empty(width), np.empty(width, np.int64)
    low, high, Y = (np.zeros((width + 3, size), np.float32) for size in (BLOCK, BLOCK, len(X)))
    norms, sizes = np.zeros((2, BLOCK), np.float32)
    sums = np.empty((4, BLOCK), np.float32)
    plain, whole, near, far = (np.empty(size) for size in (len(X), len(X), BLOCK, BLOCK))
    for block, (start, stop) in enumerate(zip(rows.block_at, rows.block_at[1:], strict=False)):
        count = stop - start
        scale, n_plain = NEAR._round_block(rows, block, centre, place, low, high, norms, sizes)
        NEAR._round_points(
            np.ascontiguousarray(X.T), np.arange(len(X)), centre, scale, place, n_plain, Y, plain,
            whole,
        )  # fmt: skip
        found, exact = [], []
        for q in range(len(X)):
            if q % 4 == 0:
                NEAR._multiply(low, high, norms, Y, q, n_plain, width, count, sums)
            found.append(sums[q % 4, :count].copy())
            NEAR._bound(rows, rows.boxes, EUCLIDEAN, X[q], start, stop, near, far)
            exact.append(near[:count].copy())
        yield Product(np.array(found), np.array(exact), scale, plain.copy(), whole.copy())


def assert_sound(data: IncompleteDataset, X: np.ndarray) -> None:
    """Whatever the reach: a row at it, or nearer, is never passed over."""
    rows, width = prepared_rows(data).rows, X.shape[1]
    for product in products(rows, X):
        for point, bounds in enumerate(product.near):
            for reach in np.unique(bounds):
                may_be = product.may_be_near(point, reach, width)
                assert may_be[bounds <= reach].all()


@pytest.mark.nojit
@pytest.mark.parametrize("draw", KINDS)
def test_a_product_passes_over_no_row_within_reach(draw) -> None:
    for seed, (width, holes) in enumerate([(1, 0.0), (9, 0.2), (22, 1.0)]):
        data = table(draw, seed, 10, width, holes)
        assert_sound(data, points_around(draw, data, seed, 4))


@pytest.mark.slow
@pytest.mark.parametrize("draw", KINDS)
def test_a_product_passes_over_no_row_within_reach_of_many(draw) -> None:
    for seed, (width, holes) in enumerate([(4, 0.3), (8, 0.0), (31, 0.3), (130, 0.1), (700, 0.5)]):
        data = table(draw, seed, 400, width, holes)
        assert_sound(data, points_around(draw, data, seed, 12))
        other = KINDS[(KINDS.index(draw) + 1 + seed) % len(KINDS)]  # points unlike the rows
        assert_sound(data, points_around(other, data, seed, 8))


@pytest.mark.parametrize("draw", [offset, large, small, mostly_zero])
def test_a_product_passes_over_most_rows_beyond_reach(draw) -> None:
    """Neither an offset nor the magnitude takes its use away, as it would without centre and scale.

    Where squares underflow in double precision, nothing is there to be told apart.
    """
    data = table(draw, 3, 300, 40, 0.3)
    X = draw(np.random.default_rng(4), 4, 40)
    passed, beyond = 0, 0
    for product in products(prepared_rows(data).rows, X):
        for point, bounds in enumerate(product.near):
            reach = np.sort(bounds)[len(bounds) // 2]
            may_be = product.may_be_near(point, reach, 40)
            beyond += int((bounds > reach).sum())
            passed += int((~may_be).sum())
    assert draw is small or beyond > 500
    assert passed >= 0.9 * beyond


def test_the_margin_is_larger_than_the_error_against_exact_arithmetic() -> None:
    """In Fractions: what a product finds is below the truth, and not far below."""
    for seed in range(2 * len(KINDS)):
        rng = np.random.default_rng(seed)
        width = [1, 7, 30][seed % 3]
        draw = KINDS[seed % len(KINDS)]
        data = table(draw, seed, 6, width, 0.0)
        X = draw(rng, 4, width)
        rows = prepared_rows(data).rows
        (product,) = products(rows, X)
        scale = Fraction(product.scale)
        middle = data.candidate(int(rows.order[3]), 0).tolist()
        for point, x in enumerate(X.tolist()):
            for place, row in enumerate(rows.order.tolist()):
                found = product.sums[point, place]
                if not np.isfinite(found):
                    continue  # nothing is passed over
                candidate = data.candidate(row, 0).tolist()
                size = scaled_square(candidate, middle, scale)
                whole = scaled_square(x, middle, scale)
                margin = (width + 8) * (Fraction(2) ** -21 * size + Fraction(2) ** -120)
                found = Fraction(float(found)) + whole
                true = scaled_square(candidate, x, scale)
                allowed = (width + 8) * (Fraction(2) ** -21 * whole + Fraction(2) ** -120)
                assert true - 2 * (margin + allowed) <= found <= true + allowed / 2


def scaled_square(one: list[float], other: list[float], scale: Fraction) -> Fraction:
    pairs = zip(one, other, strict=True)
    return sum(((Fraction(a) - Fraction(b)) * scale) ** 2 for a, b in pairs)


# -- near rows -------------------------------------------------------------------------------------


def expected_near(data: IncompleteDataset, x: np.ndarray, k: int) -> tuple[list[int], float]:
    """Rows that begin within the K-th smallest end, by (distance, row), and that end."""
    ends, begins = [], []
    for row in range(data.n_rows):
        candidates = data.candidates(row)
        near = far = 0.0
        for low, high, t in zip(candidates.min(axis=0), candidates.max(axis=0), x, strict=True):
            gap = max(low - t, t - high, 0.0)
            reach = max(t - low, high - t)
            near += gap * gap
            far += reach * reach
        begins.append((near, row))
        ends.append((far, row))
    last = sorted(ends)[k - 1]
    return [row for near, row in begins if (near, row) <= last], last[0]


@pytest.mark.nojit
@pytest.mark.parametrize("draw", [grid, one_apart, offset, clusters])
def test_near_rows_are_those_that_begin_within_the_reach(draw) -> None:
    for seed, (n_rows, width, holes) in enumerate([(40, 9, 0.3), (30, 17, 1.0), (60, 8, 0.0)]):
        data = table(draw, seed, n_rows, width, holes)
        X = points_around(draw, data, seed, 9)
        # Not asked as a question, which may not be about numbers such as 5e-324.
        ptr, near, _, reached = near_rows(prepared_rows(data).rows, EUCLIDEAN, X, 3)
        for point, x in enumerate(X):
            rows, reach = expected_near(data, x, 3)
            assert near[ptr[point] : ptr[point + 1]].tolist() == rows
            assert reached[point] == reach


def answers(rows: Rows, metric: int, X: np.ndarray, k: int) -> list[list[float]]:
    return [array.tolist() for array in near_rows(rows, metric, X, k)]


@pytest.mark.parametrize("draw", KINDS)
def test_a_product_changes_no_near_row(draw, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_near, "_LEAST_HOLED", 1)
    for seed, (n_rows, width, holes) in enumerate([(90, 8, 0.2), (280, 18, 1.0), (60, 5, 0.1)]):
        data = table(draw, seed, n_rows, width, holes)
        rows = prepared_rows(data).rows
        for other in (draw, large, vanishing):  # points like the rows, or beyond their range
            X = points_around(other, data, seed, 8)
            monkeypatch.setattr(_near, "_LEAST_PLAIN", 10**6)
            without = answers(rows, EUCLIDEAN, X, 3)
            monkeypatch.setattr(_near, "_LEAST_PLAIN", 1)
            assert answers(rows, EUCLIDEAN, X, 3) == without


# -- points that are alike -------------------------------------------------------------------------


def completions(draw, seed: int, width: int, sizes: tuple[int, ...]) -> np.ndarray:
    """Points with a hole in one to three columns, each with two or three values in each of them."""
    rng = np.random.default_rng(seed)
    found = []
    for size in sizes:
        point = draw(rng, 1, width)[0]
        lost = rng.choice(width, size=size, replace=False)
        values = [draw(rng, int(rng.integers(2, 4)), width)[:, column] for column in lost]
        for filled in itertools.product(*values):
            found.append(point.copy())
            found[-1][lost] = filled
    return np.array(found)


@pytest.mark.nojit
@pytest.mark.parametrize("draw", KINDS)
def test_points_that_are_alike_have_the_rows_of_any_others(
    draw, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed, (n_rows, width, holes) in enumerate([(60, 5, 0.3), (40, 12, 1.0), (50, 9, 0.0)]):
        rows = prepared_rows(table(draw, seed, n_rows, width, holes)).rows
        for other in (draw, large):
            X = completions(other, seed, width, (2, 1, 3))
            found = []
            for share in (0, 10**6):  # always, and never
                monkeypatch.setattr(_alike, "_RUN", share)
                monkeypatch.setattr(_alike, "_SHARED", share)
                assert (_alike.alike(EUCLIDEAN, X) is None) == (share > 0)
                found.append(answers(rows, EUCLIDEAN, X, 3))
            assert found[0] == found[1]


def test_points_are_planned_by_how_often_their_columns_change() -> None:
    X = np.zeros((14, 12))
    X[:9, [4, 2]] = list(itertools.product([1.0, 2.0, 3.0], repeat=2))
    X[9:] = 7.0  # another run
    X[9:, 11] = np.arange(5)
    plan = np.zeros((14, 13), dtype=np.int64)
    assert _alike._plan(X, plan) == 2 * 12 + 6 * 1 + 2 * 2 + 4 * 1
    assert plan[:, 0].tolist() == [0, 11, 11, 10, 11, 11, 10, 11, 11, 0, 11, 11, 11, 11]
    assert (plan[:9, 1:] == [0, 1, 3, 5, 6, 7, 8, 9, 10, 11, 4, 2]).all()
    assert (plan[9:, 1:] == np.arange(12)).all()


def test_sums_are_shared_only_where_points_are_alike() -> None:
    rng = np.random.default_rng(9)
    assert _alike.alike(EUCLIDEAN, rng.random((64, 10))) is None
    assert _alike.alike(EUCLIDEAN, completions(grid, 0, 10, (3,))[:7]) is None  # too few
    alike = np.repeat(rng.random((9, 8)), 5, axis=0)
    assert _alike.alike(EUCLIDEAN, alike) is not None
    assert _alike.alike(MANHATTAN, alike) is None
    one_hot = np.repeat(np.eye(40), 2, axis=0)  # alike, but each unlike the others elsewhere
    assert _alike.alike(EUCLIDEAN, one_hot) is None


@pytest.mark.parametrize("metric", NAMES)
def test_bounds_of_blocks_are_kept_for_some_at_a_time(
    metric: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = table(grid, 5, 900, 3, 0.3)
    X = grid(np.random.default_rng(6), 5, 3)
    query = ask(data, X, Model(4, metric))
    whole = answers(query.rows, query.metric, X, 4)
    assert len(query.rows.block_at) > 4
    for begins in (1, 11, 15):  # one block at a time, two, three
        monkeypatch.setattr(_near, "_BEGINS", begins)
        assert answers(query.rows, query.metric, X, 4) == whole


@pytest.mark.nojit
@pytest.mark.parametrize("draw", KINDS)
def test_bounds_of_squares_are_those_of_any_metric(draw) -> None:
    for seed, holes in enumerate([0.0, 0.5, 1.0]):
        data = table(draw, seed, 40, 5, holes)
        X = points_around(draw, data, seed, 6)
        rows = prepared_rows(data).rows
        low, high = rows.boxes.low, rows.boxes.high
        for block, (start, stop) in enumerate(itertools.pairwise(rows.block_at.tolist())):
            expected, whole, some = np.zeros((3, 2, stop - start))
            for point, x in enumerate(X):
                NEAR._bound(rows, rows.boxes, EUCLIDEAN, x, start, stop, *expected)
                SQUARES.bound_squares(
                    low, high, rows.holed, block, X, point, start, stop - start, *whole
                )
                assert whole.tolist() == expected.tolist()
                numbers = np.arange(start, stop)[::2]
                SQUARES.bound_few(
                    rows.base, low, high, rows.order, rows.holed, block, X, point, numbers,
                    len(numbers), *some,
                )  # fmt: skip
                assert numbers.tolist() == rows.order[start:stop:2].tolist()
                assert some[:, : len(numbers)].tolist() == expected[:, ::2].tolist()


@pytest.mark.nojit
@pytest.mark.parametrize("draw", [grid, one_apart, all_magnitudes])
def test_bounds_of_one_row_are_those_of_its_block(draw) -> None:
    data = table(draw, 8, 30, 4, 0.5)
    X = points_around(draw, data, 8, 6)
    rows = prepared_rows(data).rows
    near, far = np.empty(1), np.empty(1)
    for place in range(0, 30, 3):
        found = _near.bounds_of_row(rows, None, X, place)
        for point, x in enumerate(X):
            NEAR._bound(rows, rows.boxes, EUCLIDEAN, x, place, place + 1, near, far)
            assert found[point] == near[0]


def test_rows_are_brought_into_order_however_many_there_are() -> None:
    rng = np.random.default_rng(7)
    for n_rows in (1, 30, 511, 512, 70_000, 2**18, 10**8):
        sizes = [0, 1, 24, 25, 400]
        own = [
            np.unique(rng.integers(0, n_rows, size))[: min(size, n_rows)]
            for size in sizes
        ]  # fmt: skip
        shuffled = [rng.permutation(rows) for rows in own]
        row = np.concatenate(shuffled)
        ptr = np.concatenate([[0], np.cumsum([len(rows) for rows in own])])
        bound = row / 2
        NEAR._ascending(n_rows, ptr, row, bound)
        assert row.tolist() == np.concatenate(own).tolist()
        assert bound.tolist() == (row / 2).tolist()
