"""Random sessions with rows that are drawn and points with holes, against work from scratch."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import numpy as np
import pytest
from data.spaces.fitted_samples import Stairs, Sums, mapped
from slow_cases import parts, rest_slow

from cpclean import (
    Cell,
    CleaningSession,
    FactoredRow,
    IncompleteDataset,
    Points,
    entropies,
    expected_entropies,
    is_certain,
    is_sure,
    world_shares,
)
from cpclean.cleaning.board import Board
from cpclean.queries.model import Model

METRICS = ("euclidean", "manhattan", "chebyshev", "linear", "hamming", "cosine")
TOLERANCE = 1e-12


def number(rng: Random) -> float:
    return float(rng.randint(-3, 3))


def vector(rng: Random, n_features: int) -> list[float]:
    return [number(rng) for _ in range(n_features)]


def weights(rng: Random, size: int) -> list[float]:
    chosen = [rng.choice([0.0, 1.0, 2.0, 5.0]) for _ in range(size)]
    chosen[rng.randrange(size)] += 1.0
    return [one / sum(chosen) for one in chosen]


def factored(rng: Random, n_features: int) -> FactoredRow:
    columns = rng.sample(range(n_features), rng.randint(1, n_features))
    cells = []
    for column in columns:
        values = sorted({number(rng) for _ in range(rng.randint(2, 4))})
        cells.append(Cell(column, values, weights(rng, len(values))))
    return FactoredRow(vector(rng, n_features), cells)


def random_data(rng: Random) -> IncompleteDataset:
    n_rows, n_features = rng.randint(4, 16), rng.randint(2, 6)
    rows: list[Any] = []
    for _ in range(n_rows):
        kind = rng.random()
        if kind < 0.3:
            rows.append([vector(rng, n_features)])
        elif kind < 0.5:
            rows.append([vector(rng, n_features) for _ in range(rng.randint(2, 5))])
        else:
            rows.append(factored(rng, n_features))
    labels = [rng.randrange(rng.randint(1, 4)) for _ in range(n_rows)]
    return IncompleteDataset(
        rows, labels, max_exact=rng.choice([1, 3, 8, 30]), n_draws=rng.choice([2, 5, 8]),
        random_state=rng.randrange(100),
    )  # fmt: skip


def random_points(rng: Random, n_features: int) -> Points:
    given: list[Any] = []
    priors: list[Any] = []
    for _ in range(rng.randint(1, 5)):
        kind, prior = rng.random(), None
        if kind < 0.4:
            given.append([vector(rng, n_features)])
        elif kind < 0.75:
            size = rng.randint(2, 4)
            given.append([vector(rng, n_features) for _ in range(size)])
            prior = weights(rng, size)
        else:
            given.append(factored(rng, n_features))
        priors.append(prior)
    return Points(given, priors, max_exact=4, n_draws=4)


def known_from(log: list[dict[str, Any]], data: IncompleteDataset) -> dict[int, dict[int, float]]:
    known: dict[int, dict[int, float]] = {}
    for entry in log:
        row = entry["row"]
        if "candidate" in entry:
            known[row] = dict(enumerate(data.candidate(row, entry["candidate"]).tolist()))
        elif "value" in entry:
            said = entry["value"]
            said = dict(enumerate(said)) if isinstance(said, list) else said
            known[row] = {**known.get(row, {}), **{int(c): v for c, v in said.items()}}
    return known


def checked(session: CleaningSession, start: IncompleteDataset, points: Points) -> None:
    k, metric = session.n_neighbors, session.metric
    data = pickle.loads(pickle.dumps(start))
    alike = data.uniform()
    for row, known in sorted(known_from(session.answers, start).items()):
        data, alike = data.given(row, known), alike.given(row, known)
    assert session.data == data
    assert session.is_exact == (data.is_exact and points.is_exact)
    vectors, times = points.vectors, points.vector_weights
    certain = is_certain(data, vectors, k, metric)
    assert session.certain_share == pytest.approx(times @ certain / times.sum(), abs=1e-14)
    counts = certain[points.vector] | (points.weight == 0)  # what weighs nothing is not waited for
    of_points = [bool(counts[points.entries(point)].all()) for point in range(len(points))]
    assert session.certain.tolist() == of_points
    assert session.certain_points == np.mean(of_points)
    settled = checked_settled(session, data, points, certain)
    # First equally likely, then known: a value that was no candidate can make two of them equal.
    asked = alike if session.view.setup.gains_by == "uniform" else data
    now = entropies(asked, vectors, k, metric)
    assert session.mean_entropy == pytest.approx(times @ now / times.sum(), abs=TOLERANCE)
    shares = world_shares(data, points, k, metric)
    assert np.abs(session.view.shares - shares).max() < TOLERANCE
    assert session.view.labels.tolist() == session.view.shares.argmax(axis=1).tolist()
    if session.strategy != "cells":
        after = [expected_entropies(asked, one[None], k, metric) for one in vectors]
        gains = times * ~settled @ (now[:, None] - np.array(after)) / times.sum()
        assert np.abs(session.gains() - gains).max() < TOLERANCE
        fresh = Board(asked, points, Model(k, metric), sure=session.sure)
        assert session.gains().tolist() == np.maximum(fresh.gains(), 0.0).tolist()  # bit for bit
        assert session.mean_entropy == fresh.mean_entropy
        assert session.view.entropies.tolist() == fresh.entropies.tolist()
    question = session.ask()
    if question is not None:
        assert data.candidate_counts[question.row] > 1
        if question.column is None:
            assert question.n_candidates == data.arrays.count(question.row)


def checked_settled(
    session: CleaningSession, data: IncompleteDataset, points: Points, certain: np.ndarray
) -> np.ndarray:
    """Whether each vector is settled, which the session must have found."""
    level, times = session.sure or 0.95, points.vector_weights
    sure = is_sure(data, points.vectors, session.n_neighbors, session.metric, level=level) | certain
    assert session.sure_share == pytest.approx(times @ sure / times.sum(), abs=1e-14)
    settled = certain if session.sure is None else sure
    assert session.settled_share == pytest.approx(times @ settled / times.sum(), abs=1e-14)
    for vectors, found in ((settled, session.settled), (sure, session.verdicts != "open")):
        counts = vectors[points.vector] | (points.weight == 0)
        of_points = [bool(counts[points.entries(point)].all()) for point in range(len(points))]
        assert found.tolist() == of_points
    assert ((session.verdicts == "certain") == session.certain).all()
    return settled


def step(session: CleaningSession, start: IncompleteDataset, rng: Random) -> None:
    row, what = rng.randrange(start.n_rows), rng.random()
    was = session.settled
    record = None
    if what < 0.35:
        question = session.ask()
        if question is not None:
            place = rng.randrange(len(question.candidates))
            settles = question.settles(place)
            record = session.tell(**question.answer(place))
            assert settles.tolist() == np.flatnonzero(~was & session.settled).tolist()
    elif what < 0.45:
        record = session.tell(
            **session.question(row).drawn(np.random.default_rng(rng.randrange(9)))
        )
    elif what < 0.6:
        record = session.tell(row, candidate=rng.randrange(start.arrays.count(row)))
    elif what < 0.85:
        columns = rng.sample(range(start.n_features), rng.randint(1, min(2, start.n_features)))
        record = session.tell(row, value={column: number(rng) for column in columns})
    elif what < 0.9:
        session.skip(row)
    elif session.answers:
        session.undo(rng.randint(1, min(3, len(session.answers))))
    if record is not None and record.kind != "same":
        assert record.settled == (~was & session.settled).sum()
        assert list(record.unsettled) == np.flatnonzero(was & ~session.settled).tolist()
        assert record.settled_share == session.settled_share


def play(
    seed: int,
    n_steps: int,
    metrics: Sequence[str] = METRICS,
    placed: Callable[[IncompleteDataset], IncompleteDataset] = lambda data: data,
    every: int = 1,
) -> None:
    """A session, checked after so many steps each and at its end."""
    rng = Random(seed)
    start = placed(random_data(rng))
    points = random_points(rng, start.n_features)
    k, metric = rng.randint(1, min(4, start.n_rows)), rng.choice(metrics)
    strategy = rng.choice(["cpclean", "relative", "roots", "random", "cells"])
    how: dict[str, Any] = {"random_state": seed, "metric": metric}
    how |= rng.choice([{}, {"sure": 0.6}, {"sure": 0.9}, {"gains_by": "uniform"}])
    session = CleaningSession(start, points, k, strategy, **how)
    at_start = session.certain_share
    checked(session, start, points)
    for place in range(n_steps):
        step(session, start, rng)
        if place == n_steps // 2:
            session = pickle.loads(pickle.dumps(session))
        if (n_steps - 1 - place) % every == 0:
            checked(session, start, points)
        assert session.view.share_at_start == at_start
    log = json.loads(json.dumps(session.answers))
    for answers in (log, in_another_order(log, start, rng)):
        again = CleaningSession(pickle.loads(pickle.dumps(start)), points, k, strategy, **how)
        again.replay(answers)
        assert again.gains().tolist() == session.gains().tolist()  # bit for bit
        assert again.view.entropies.tolist() == session.view.entropies.tolist()
        assert again.certain.tolist() == session.certain.tolist()
        assert again.settled.tolist() == session.settled.tolist()
    one, other = session.ask(), again.ask()
    if set(session.view.skipped) == set(again.view.skipped):
        assert (one and (one.row, one.column, one.gain)) == (
            other and (other.row, other.column, other.gain)
        )


def in_another_order(
    log: list[dict[str, Any]], data: IncompleteDataset, rng: Random
) -> list[dict[str, Any]]:
    """The same knowledge in one answer per row, in random order."""
    known = list(known_from(log, data).items())
    rng.shuffle(known)
    return [
        {"row": row, "value": {str(column): value for column, value in one.items()}}
        for row, one in known
    ]


@pytest.mark.parametrize("first", rest_slow(range(0, 40, 4)))
def test_random_sessions(first: int) -> None:
    for seed in range(first, first + 4):
        play(seed, 12)


@pytest.mark.parametrize("kind", [Sums, Stairs])
@pytest.mark.parametrize(("first", "last"), rest_slow([(50, 51), (51, 53), (60, 72)]))
def test_random_sessions_in_the_space_of_a_fitted_object(
    kind: type[Sums], first: int, last: int
) -> None:
    metrics = ("hamming",) if kind is Stairs else METRICS
    for seed in range(first, last):
        play(seed, 12, metrics, lambda data, seed=seed: mapped(data, kind, seed))


@pytest.mark.slow
@pytest.mark.parametrize("first", parts(range(1000, 1400, 25), 2))
def test_many_random_sessions(first: int) -> None:
    for seed in range(first, first + 25):
        play(seed, 25, every=3)
