"""Columns of two values each, compared bit by bit: the near rows are those of any other way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cpclean import Cell, FactoredRow, IncompleteDataset
from cpclean.queries import _bits, _near
from cpclean.queries.geometry import ask
from cpclean.queries.model import Model
from cpclean.queries.plain_query import PlainQuery
from cpclean.queries.prepared import prepared_rows

KINDS = ("equal", "two sizes", "awkward", "offset", "a constant column")


def two_values(kind: str, rng: np.random.Generator, width: int) -> tuple[np.ndarray, np.ndarray]:
    """The smaller and the larger value of each column."""
    low, high = np.zeros(width), np.full(width, 2**-0.5)
    if kind == "two sizes":
        high[::3] = 1e-3
    if kind == "awkward":
        high = 0.1 * rng.integers(1, 4, size=width)
    if kind == "offset":
        low = rng.normal(size=width) * 1e3
        high = low + 0.1 * rng.integers(1, 3, size=width)
    if kind == "a constant column":
        high[2] = low[2]
    return low, high


def instance(kind: str, seed: int, n_rows: int = 300, width: int = 9) -> PlainQuery:
    rng = np.random.default_rng([seed, width])
    low, high = two_values(kind, rng, width)
    usual = rng.random((6, width)) < 0.5

    def drawn(size: int) -> np.ndarray:
        flipped = rng.random((size, width)) < 0.2
        return np.where(usual[rng.integers(6, size=size)] ^ flipped, high, low)

    rows: list[object] = []
    for row in drawn(n_rows):
        lost = np.flatnonzero(rng.random(width) < 0.15)[: rng.integers(4)]
        cells = [Cell(int(at), [low[at], high[at]]) for at in lost if low[at] < high[at]]
        rows.append(FactoredRow(row, cells) if cells else row)
    data = IncompleteDataset(rows, rng.integers(0, 3, size=n_rows))
    query = ask(data, drawn(40), Model(int(rng.integers(1, 6)), "euclidean"))
    assert isinstance(query, PlainQuery)
    return query


def near(query: PlainQuery, bits: _bits.Bits | None) -> list[list[float]]:
    compared = _bits.compared(bits, query.vectors)
    assert (compared is None) == (bits is None)
    found = _near.near_rows(
        query.rows.scanned, None, query.vectors, None, None, compared, query.n_neighbors, 10**9
    )
    return [array.tolist() for array in found]


@pytest.mark.nojit
@pytest.mark.parametrize("kind", KINDS)
def test_bits_change_no_near_row(kind: str) -> None:
    for seed, width in enumerate((9, 33, 64)):
        query = instance(kind, seed, 300 if width == 9 else 120, width)
        bits = query.prepared.bits
        assert bits is not None
        assert near(query, bits) == near(query, None)


def test_after_a_row_has_changed() -> None:
    query = instance("equal", 7)
    dirty = np.flatnonzero(query.data.candidate_counts > 1)[:5]
    for row in dirty.tolist():
        assert query.prepared.bits is not None
        changed = query.changed(query.data.pin(row, 1), row)
        assert isinstance(changed, PlainQuery)
        query = changed
        assert near(query, query.prepared.bits) == near(query, None)
    assert query.prepared.bits is not instance("equal", 7).prepared.bits


def test_bits_are_prepared_for_several_points_only() -> None:
    query = instance("equal", 2)
    assert query.near(query.vectors[:7], 10**6) is not None
    assert "bits" not in vars(query.prepared)
    assert query.near(query.vectors[:8], 10**6) is not None
    assert "bits" in vars(query.prepared)


def test_columns_with_other_values_have_no_bits() -> None:
    query = instance("equal", 1)
    assert query.prepared.bits is not None
    other = query.vectors.copy()
    other[3, 4] += 0.25
    assert _bits.compared(query.prepared.bits, other) is None
    for width in (7, 65):
        assert instance("equal", 1, 20, width).prepared.bits is None
    rows = [row[0] for row in map(query.data.candidates, range(query.data.n_rows))]
    rows[217] = rows[217] + 1.0  # a single row
    data = IncompleteDataset(rows, query.data.labels)
    assert prepared_rows(data).bits is None
    constant = IncompleteDataset(np.ones((20, 1, 9)), [0, 1] * 10)
    assert prepared_rows(constant).bits is None


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_are_sound(kind: str) -> None:
    """No row begins before its bound by bits, and none ends behind its own."""
    query = instance(kind, 5, 60, 12)
    bits = query.prepared.bits
    assert bits is not None
    asked = _bits.compared(bits, query.vectors)
    assert asked is not None
    for point, t in zip(asked.points.tolist(), query.vectors, strict=True):
        for place, row in enumerate(query.rows.order.tolist()):
            squares = [((one - t) ** 2).cumsum()[-1] for one in query.data.candidates(row)]
            must, can = int(asked.must[place]), int(asked.can[place])
            begins = ((point & ~can) | (must & ~point)).bit_count()
            ends = ((point & ~must) | (can & ~point)).bit_count()
            assert begins * asked.least * (1 - 2**-40) <= min(squares)
            assert max(squares) <= ends * asked.most * (1 + 2**-40)


def test_bits_are_not_sent_with_what_is_prepared() -> None:
    prepared = instance("equal", 1, 30).prepared
    assert prepared.bits is not None
    assert "bits" not in prepared.__getstate__()
    assert "bits" not in vars(replace(prepared))
