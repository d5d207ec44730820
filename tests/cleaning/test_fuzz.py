"""Random sessions against a model that works everything out anew after every step."""

from __future__ import annotations

import json
import pickle
from random import Random
from typing import Any

import numpy as np
import pytest
from cleaning.small import random_data
from data.spaces.tree_samples import random_trees_of
from slow_cases import parts, rest_slow
from strategies import awkward_prior, lopsided

from cpclean import (
    Between,
    CleaningSession,
    IncompleteDataset,
    entropies,
    expected_entropies,
    is_certain,
    is_sure,
)
from cpclean.errors import AnswerError

METRICS = ("euclidean", "manhattan", "chebyshev", "linear", "hamming", "cosine", lopsided)
TOLERANCE = 1e-12


class Model:
    """What a session should know, by the plainest means: lists of candidates and a log."""

    def __init__(self, data: IncompleteDataset) -> None:
        self.given = [
            [(tuple(vector), weight) for vector, weight in zip(
                data.candidates(row).tolist(), data.prior(row).tolist(), strict=True)]
            for row in range(data.n_rows)
        ]  # fmt: skip
        self.blocks = [
            [tuple(range(cell.start, cell.stop)) for cell in data.stored_row(row).cells]
            for row in range(data.n_rows)
        ]
        self.labels, self.space = data.labels, data.space
        self.log: list[tuple[int, dict[int, float] | None, bool]] = []  # row, said, whole row

    def known(self) -> dict[int, dict[int, float]]:
        known: dict[int, dict[int, float]] = {}
        for row, said, whole in self.log:
            if said is not None:
                known[row] = dict(said) if whole else {**known.get(row, {}), **said}
        return known

    def skipped(self) -> set[int]:
        skipped: set[int] = set()
        for row, said, _ in self.log:
            (skipped.add if said is None else skipped.discard)(row)
        return skipped

    def roughly(self) -> set[int]:
        """The rows of which something is known in every uncertain column, not always exactly."""
        return {
            row
            for row, said in self.known().items()
            if any(isinstance(one, Between) for one in said.values())
            and all(set(block) & said.keys() for block in self.uncertain(row))
        }

    def uncertain(self, row: int) -> list[tuple[int, ...]]:
        blocks = self.blocks[row]
        if len(blocks) != 1:
            return blocks
        vectors = [vector for vector, _ in self.given[row]]
        return [(at,) for at in blocks[0] if len({one[at] for one in vectors}) > 1]

    def possible(self, row: int, said: dict[int, Any]) -> bool:
        """Whether ranges leave each block a candidate, and every other column its value."""
        known = {**self.known().get(row, {}), **said}
        inner = self.blocks[row]
        outer = [(at,) for at in known if not any(at in block for block in inner)]
        return all(
            any(
                all(inside(vector[at], known[at]) for at in block if at in known)
                for vector, _ in self.given[row]
            )
            for block in [*inner, *outer]
        )

    def data(self) -> IncompleteDataset:
        rows, priors = [], []
        known = self.known()
        for row, given in enumerate(self.given):
            if row in known:
                given = list(self.narrowed(given, self.blocks[row], known[row]).items())
            rows.append([list(vector) for vector, _ in given])
            total = sum(weight for _, weight in given)
            priors.append([weight / total for _, weight in given] if total > 0 else None)
        return IncompleteDataset(rows, self.labels, priors).in_space(self.space)

    @staticmethod
    def narrowed(
        given: list[tuple[tuple[float, ...], float]],
        blocks: list[tuple[int, ...]],
        known: dict[int, float],
    ) -> dict[tuple[float, ...], float]:
        """Block by block: keep what agrees; if nothing does, what is known takes its place."""
        left = given
        for block in blocks:
            own = {column: known[column] for column in block if column in known}
            said = {column: one for column, one in own.items() if not isinstance(one, Between)}
            left = [one for one in left if all(inside(one[0][c], v) for c, v in own.items())]
            agree = [one for one in left if all(one[0][c] == v for c, v in said.items())]
            left = agree or left
        merged: dict[tuple[float, ...], float] = {}
        for vector, weight in left:
            exact = {at: one for at, one in known.items() if not isinstance(one, Between)}
            told = tuple(exact.get(column, value) for column, value in enumerate(vector))
            merged[told] = merged.get(told, 0.0) + weight
        return merged


def inside(value: float, known: Any) -> bool:
    if not isinstance(known, Between):
        return True
    low = -np.inf if known.low is None else known.low
    return bool(low <= value <= (np.inf if known.high is None else known.high))


def checked(session: CleaningSession, model: Model, X: Any, k: int, metric: Any) -> None:
    data = model.data()
    assert session.data.n_worlds == data.n_worlds
    expected = is_certain(data, X, k, metric)
    assert session.certain.tolist() == expected.tolist()
    assert session.certain_share == pytest.approx(expected.mean(), abs=1e-15)
    assert session.mean_entropy == pytest.approx(
        entropies(data, X, k, metric).mean(), abs=TOLERANCE
    )
    if session.sure is not None:
        expected |= is_sure(data, X, k, metric, level=session.sure)
    assert session.settled.tolist() == expected.tolist()
    open_ = np.array(X)[~expected]
    before, after = 0.0, np.zeros(data.n_rows)
    if len(open_):
        before = entropies(data, open_, k, metric).sum() / len(X)
        after = expected_entropies(data, open_, k, metric) * len(open_) / len(X)
    if session.strategy != "cells":
        assert np.abs(session.gains() - (before - after)).max() < TOLERANCE
    question = session.ask()
    unasked = model.skipped() | model.roughly()
    askable = [row for row in data.dirty_rows.tolist() if row not in unasked]
    if expected.all() or not askable:
        assert question is None
        assert session.done
        return
    if question is None:  # nothing is near to an open point but what is not asked about again
        assert unasked
        return
    assert question.row in askable
    if session.strategy == "cpclean":
        best = min(after[row] for row in askable)
        assert after[question.row] == pytest.approx(best, abs=TOLERANCE)
        tied = [row for row in askable if before - after[row] > before - best - 1e-15]
        if before - best > 1e-9:
            assert question.row <= min(tied)


def step(session: CleaningSession, model: Model, rng: Random) -> None:
    n_rows, n_features = session.data.n_rows, session.data.n_features
    row = rng.randrange(n_rows)
    what = rng.random()
    if what < 0.4:
        question = session.ask()
        if question is None:
            return
        row, number = question.row, rng.randrange(len(question.candidates))
        if question.column is None and question.numbers[number] is not None:
            tell_candidate(session, model, row, question.numbers[number])
        else:
            tell_value(session, model, row, question.candidates[number])
    elif what < 0.6:
        tell_candidate(session, model, row, rng.randrange(len(model.given[row])))
    elif what < 0.7:
        tell_roughly(session, model, rng, row)
    elif what < 0.8:
        columns = rng.sample(range(n_features), rng.randint(1, n_features))
        tell_value(session, model, row, {c: float(rng.randint(-4, 4)) for c in columns})
    elif what < 0.88:
        if row not in model.skipped():
            model.log.append((row, None, False))
        session.skip(row)
    elif model.log:
        depth = rng.randint(1, min(3, len(model.log)))
        session.undo(depth)
        del model.log[-depth:]


def tell_candidate(session: CleaningSession, model: Model, row: int, number: Any) -> None:
    said = dict(enumerate(model.given[row][number][0]))
    changes = model.known().get(row) != said
    note(model, session.tell(row, candidate=number), row, said, whole=True, changes=changes)


def tell_value(session: CleaningSession, model: Model, row: int, value: Any) -> None:
    said = dict(value) if isinstance(value, dict) else dict(enumerate(value))
    before = model.known().get(row)
    changes = before is None or {**before, **said} != before
    note(model, session.tell(row, value=value), row, said, whole=False, changes=changes)


def tell_roughly(session: CleaningSession, model: Model, rng: Random, row: int) -> None:
    n_features = session.data.n_features
    said: dict[int, Any] = {}
    for column in rng.sample(range(n_features), rng.randint(1, min(2, n_features))):
        low, high = sorted(rng.randint(-3, 3) for _ in range(2))
        said[column] = Between(*rng.choice([(low, high), (None, high), (low, None)]))
    before = session.answers
    if model.possible(row, said):
        tell_value(session, model, row, said)
        return
    with pytest.raises(AnswerError, match="no candidate of row"):
        session.tell(row, value=said)
    assert session.answers == before


def note(model: Model, record: Any, row: int, said: Any, whole: bool, changes: bool) -> None:
    assert (record.kind == "same") == (not changes)
    if changes or row in model.skipped():
        model.log.append((row, said, whole))


def with_awkward_priors(data: IncompleteDataset, rng: Random) -> IncompleteDataset:
    rows = [data.candidates(row) for row in range(data.n_rows)]
    return IncompleteDataset(rows, data.labels, [awkward_prior(rng, len(row)) for row in rows])


def play(
    seed: int, n_steps: int, leaves: bool = False, every: int = 1, awkward: bool = False
) -> int:
    """A session, checked after so many steps each and at its end."""
    rng = Random(seed)
    data = random_data(rng)
    if awkward:
        data = with_awkward_priors(data, rng)
    points = [[float(rng.randint(-3, 3)) for _ in range(data.n_features)] for _ in range(6)]
    X = points + points[:2]  # some of them twice
    k, metric = rng.randint(1, min(5, data.n_rows)), rng.choice(METRICS)
    if leaves:
        trees = random_trees_of(np.random.default_rng(seed), data.n_features, rng.randint(1, 8))
        data, metric = data.in_space(trees), "hamming"
    strategy = rng.choice(["cpclean", "relative", "roots", "random", "cells"])
    how: dict[str, Any] = {"random_state": seed, "metric": metric}
    how["sure"] = rng.choice([None, None, 0.6, 0.75, 0.95])
    session = CleaningSession(data, X, k, strategy, **how)
    model = Model(data)
    checked(session, model, X, k, metric)
    for number in range(n_steps):
        step(session, model, rng)
        if number == n_steps // 2:
            session = pickle.loads(pickle.dumps(session))
        if (n_steps - 1 - number) % every == 0:
            checked(session, model, X, k, metric)
        assert len(session.answers) == len(model.log)
    again = CleaningSession(data, X, k, strategy, **how)
    again.replay(json.loads(json.dumps(session.answers)))
    assert again.answers == session.answers
    assert again.gains().tolist() == session.gains().tolist()  # bit for bit
    assert again.certain.tolist() == session.certain.tolist()
    one, other = session.ask(), again.ask()
    assert (one and (one.row, one.column, one.gain)) == (
        other and (other.row, other.column, other.gain)
    )
    return n_steps


@pytest.mark.parametrize("first", rest_slow(range(0, 40, 5)))
def test_random_sessions(first: int) -> None:
    assert sum(play(seed, 25) for seed in range(first, first + 5)) == 125


@pytest.mark.parametrize("first", rest_slow(range(0, 32, 4)))
def test_random_sessions_among_leaves(first: int) -> None:
    assert sum(play(seed, 20, leaves=True) for seed in range(first, first + 4)) == 80


@pytest.mark.parametrize("first", rest_slow(parts(range(0, 80, 4), 2)))
def test_random_sessions_with_awkward_priors(first: int) -> None:
    for seed in range(first, first + 4):
        play(seed, 12, awkward=True)


@pytest.mark.slow
@pytest.mark.parametrize("first", parts(range(1000, 1400, 50), 1))
def test_many_random_sessions(first: int) -> None:
    for seed in range(first, first + 50):
        play(seed, 30, every=3)
