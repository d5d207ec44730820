"""What a kept question remembers among leaves: nothing that it finds depends on it."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest
from queries.test_leaves import larger
from slow_cases import rest_slow

from cpclean import CleaningSession, IncompleteDataset
from cpclean.queries import _leaf_order, leaf_memory
from cpclean.queries.geometry import ask
from cpclean.queries.leaf_memory import CloseBy, LeafMemory, close_by
from cpclean.queries.leaf_query import LeafQuery
from cpclean.queries.model import Model


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many points were not known, call by call."""
    real, sizes = _leaf_order.close_positions, []

    def counting(*given: Any) -> Any:
        sizes.append(int((given[-1] < 0).sum()))
        return real(*given)

    monkeypatch.setattr(leaf_memory._leaf_order, "close_positions", counting)
    return sizes


def same(one: CloseBy, two: CloseBy) -> bool:
    return all(a.tolist() == b.tolist() for a, b in zip(one, two, strict=True))


def some_change(data: IncompleteDataset, rng: Random) -> tuple[IncompleteDataset, int]:
    row = rng.randrange(data.n_rows)
    what = rng.random()
    if what < 0.5:
        return data.pin(row, rng.randrange(int(data.candidate_counts[row]))), row
    if what < 0.65:
        return data.pin(row, value=[float(rng.randint(-1, 5)) for _ in range(5)]), row
    if what < 0.8:
        return data.given(row, {rng.randrange(5): float(rng.randint(0, 4))}), row
    return data.unpin(row), row


def check(seed: int, n_steps: int, k: int, slack: float, looked_at: list[int]) -> tuple[int, int]:
    """How many points were looked at, and how many of them from the beginning."""
    data, X = larger(seed, 2, n_rows=80, holes=0.4, n_trees=20)
    rng = Random(seed)
    query, now = ask(data, X, Model(k)).remembering(), data
    branches: list[tuple[LeafQuery, IncompleteDataset]] = []
    asked = 0
    looked_at.clear()
    for step in range(n_steps):
        now, row = some_change(now, rng)
        query = query.changed(now, row)
        if step % 7 == 3:
            branches.append((query, now))
        if step % 7 == 6:  # go back, and on from there
            query, now = branches.pop(rng.randrange(len(branches)))
        points = query.vectors[sorted(rng.sample(range(len(query.vectors)), 8))]
        found = query.memory.positions(query.prepared.rows, points, k, slack)
        asked += len(points)
        rows = ask(now.take(range(80)), X, Model(k)).prepared.rows  # prepared anew
        n_before = len(looked_at)
        assert same(found, close_by(rows, points, k, slack))
        del looked_at[n_before:]
    return asked, sum(looked_at)


@pytest.mark.parametrize(
    ("seed", "k", "slack"),
    [
        pytest.param(0, 5, 1e-9, marks=pytest.mark.nojit),
        (1, 3, 1e-17),
        (2, 15, 1e-6),
        *rest_slow([(seed, 1 + seed % 9, 10.0 ** -(seed % 20)) for seed in range(3, 43)], 0),
    ],
)
def test_what_is_found_is_what_was_found_without_memory(
    seed: int, k: int, slack: float, looked_at: list[int]
) -> None:
    asked, anew = check(seed, 40 if seed else 10, k, slack, looked_at)
    assert anew < asked  # some points were remembered
    if seed == 1:
        assert anew < 0.7 * asked


def test_other_numbers_of_neighbours_and_slacks_are_not_mixed_up() -> None:
    data, X = larger(5, 2, n_rows=80, holes=0.4, n_trees=20)
    query = ask(data, X, Model(3)).remembering()
    for k, slack in ((3, 1e-9), (5, 1e-9), (3, 1e-3), (3, 1e-9)):
        found = query.memory.positions(query.prepared.rows, query.vectors, k, slack)
        rows = query.prepared.rows
        assert same(found, close_by(rows, query.vectors, k, slack))


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch, looked_at: list[int]) -> None:
    data, X = larger(6, 2, n_rows=80, holes=0.4, n_trees=20)
    found = {}
    for most in (0, 20_000, leaf_memory.MOST_BYTES):
        monkeypatch.setattr(leaf_memory, "MOST_BYTES", most)
        looked_at.clear()
        session = CleaningSession(data, X, 5)
        for _ in range(8):
            question = session.ask()
            session.tell(question.row, candidate=0)
        found[most] = [one.row for one in session.history], session.gains().tolist()
        found[most] += (sum(looked_at),)
    (none, few, usual) = found.values()
    assert none[:2] == few[:2] == usual[:2]
    assert none[2] > few[2] > usual[2]


def test_copies_and_pickles_remember_nothing(looked_at: list[int]) -> None:
    data, X = larger(7, 2, n_rows=80, holes=0.4, n_trees=20)
    query = ask(data, X, Model(3)).remembering()
    for one in (query, query, replace(query, memory=LeafMemory())):
        one.positions(one.vectors, None, 1e-9, False)
    size = len(query.vectors)
    assert looked_at == [size, 0, size]  # the second time it was remembered
    for make in (copy.deepcopy, lambda memory: pickle.loads(pickle.dumps(memory))):
        looked_at.clear()
        other = replace(query, memory=make(query.memory))
        other.positions(query.vectors, None, 1e-9, False)
        assert looked_at == [size]


def test_what_is_asked_once_is_not_remembered() -> None:
    data, X = larger(8, 2, n_rows=80, holes=0.4, n_trees=20)
    query = ask(data, X, Model(3))
    assert query.memory is None
    assert query.remembering().counting().memory is None
    assert np.isfinite(query.remembering().about(query.vectors[:2]).nearest(0)).all()
