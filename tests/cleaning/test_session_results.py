"""What a session ends with: certainty, accuracy, a world, a classifier; under any metric."""

from __future__ import annotations

from random import Random

import numpy as np
import oracle
import pandas as pd
import pytest
from cleaning.samples import frame, seen, weighed
from slow_cases import rest_slow

from cpclean import (
    CleaningSession,
    IncompleteDataset,
    IncompleteTable,
    Points,
    expected_entropies,
    is_certain,
    simulate,
    world_shares,
)
from cpclean.analysis.predictions import Predictions
from cpclean.errors import AnswerError, CPCleanError, QueryError

# -- certain means certain -------------------------------------------------------------------------


def plain_prediction(vectors: list[list[float]], codes: list[int], t: list[float], k: int) -> int:
    """K nearest neighbours in plain Python: smaller row, then smaller class, at ties."""
    far = [oracle.distance(vector, t) for vector in vectors]
    votes = [0] * (max(codes) + 1)
    for row in sorted(range(len(far)), key=far.__getitem__)[:k]:
        votes[codes[row]] += 1
    return votes.index(max(votes))


def test_completions_that_weigh_nothing_are_not_waited_for() -> None:
    rows = [[[0.0], [9.0]], [[1.0]], [[8.0], [3.0]], [[6.0]]]
    data = IncompleteDataset(rows, ["a", "b", "a", "b"])
    points = Points([[[0.0], [7.6]], [[5.9], [7.6], [0.2]]], [[1.0, 0.0], [0.7, 0.0, 0.3]])
    session = CleaningSession(data, points, n_neighbors=1)
    question = session.ask()
    assert question is not None
    assert question.row == 0, "row 2 matters for completions that weigh nothing"
    session.tell(0, 0)
    assert session.stopped == "all validation points are certain"
    assert session.certain.tolist() == [True, True]
    assert session.certain_share == 1.0
    assert not is_certain(session.data, points, 1).any(), "over all completions, they are not"
    assert summary_of(session) == (0, 2)


def summary_of(session: CleaningSession) -> tuple[int, int]:
    found = Predictions.of(session.view)
    return found.n_certain, found.n_split


@pytest.mark.parametrize("strategy", ["cpclean", "random", "cells"])
@pytest.mark.parametrize("seed", rest_slow([1, 4, 9]))
def test_every_world_that_remains_predicts_the_same(seed: int, strategy: str) -> None:
    rng, noise = Random(seed), np.random.default_rng(seed)
    rows = [noise.normal(size=(rng.choice([1, 1, 3, 4]), 2)).round(1) for _ in range(60)]
    data = IncompleteDataset(rows, [rng.randrange(3) for _ in rows])
    X = noise.normal(size=(12, 2)).round(1).tolist()
    session = CleaningSession(data, X, 3, strategy, random_state=seed)
    truth = [rng.randrange(len(row)) for row in rows]
    simulate(session, truth)
    assert session.certain.all()
    left = session.data
    assert len(left.dirty_rows) > 0 or strategy == "random"
    codes = left.codes.tolist()
    candidates = [left.candidates(row).tolist() for row in range(left.n_rows)]
    said = set()
    for _ in range(200):
        world = [rng.choice(row) for row in candidates]
        said.add(tuple(plain_prediction(world, codes, t, 3) for t in X))
    assert len(said) == 1
    expected = world_shares(left, X, 3).argmax(axis=1).tolist()
    assert said == {tuple(expected)}


# -- results ---------------------------------------------------------------------------------------


def test_accuracy(session: CleaningSession, data: IncompleteDataset) -> None:
    expected = world_shares(data, [[0.0], [4.0], [9.0]], 1).argmax(axis=1)
    assert session.accuracy() == np.mean(data.classes[expected] == np.array(["a", "a", "b"]))
    with pytest.raises(CPCleanError, match=r"accuracy needs the labels.*y_val"):
        CleaningSession(data, [[0.0]], 1).accuracy()


def test_world_of_a_dataset(session: CleaningSession, data: IncompleteDataset) -> None:
    session.tell(0, value=[4.5])
    assert session.world().tolist() == [[4.5], [1.0], [6.0], [2.0]]  # the first of the likeliest
    assert session.world("likely").tolist() == session.world().tolist()
    filled = session.world(np.full((4, 1), -1.0))
    assert filled.tolist() == [[4.5], [-1.0], [6.0], [-1.0]]
    with pytest.raises(CPCleanError, match="fill must be vectors of equal length"):
        session.world([[1.0], [1.0, 2.0]])
    for fill in ("mean", None, np.zeros((2, 2)), [1.0]):
        with pytest.raises(CPCleanError, match=r'fill must be "default", "likely" or an array of'):
            session.world(fill)


def test_classifier(session: CleaningSession, table_session: CleaningSession) -> None:
    session.tell(0, 1)
    made = session.classifier()
    shares = world_shares(session.data, [[0.0], [4.0]], 1)
    assert made.predict_proba([[0.0], [4.0]]).tolist() == shares.tolist()
    table_session.tell(1, value={"age": 20.0})
    points = pd.DataFrame({"age": [20.0, 60.0], "city": ["B", "B"]})
    made = table_session.classifier()
    assert made.n_neighbors == 1
    assert made.predict(points).tolist()[0] == "yes"
    assert made.is_certain(points).tolist()[0]


def test_known_is_what_was_told() -> None:
    frame = pd.DataFrame({"age": [18, None, 30], "pets": [None, 1, 2], "y": ["a", "b", "a"]})
    session = CleaningSession(IncompleteTable(frame, label="y"), frame[["age", "pets"]][2:], 1)
    assert session.known == {}
    session.tell(1, value={"age": 41})
    session.tell(0, candidate=1)
    session.skip(1)
    assert session.known == {1: {"age": 41.0}, 0: {"pets": 1.25}}


# -- metrics ---------------------------------------------------------------------------------------


def test_precomputed_distances(data: IncompleteDataset) -> None:
    X = np.array([[0.0], [4.0], [9.0]])
    every = np.concatenate([data.candidates(row) for row in range(4)])
    far = np.abs(X - every.T)
    given = CleaningSession(data, far, 1, metric="precomputed")
    named = CleaningSession(data, X, 1, metric="manhattan")
    assert given.gains().tolist() == named.gains().tolist()
    for row, answer in ((3, {"candidate": 1}), (0, {"value": [5.0]}), (3, {"value": {0: 8.0}})):
        given.tell(row, **answer)
        named.tell(row, **answer)
        assert given.gains().tolist() == named.gains().tolist()
        assert given.certain.tolist() == named.certain.tolist()
    given.undo(3)
    assert given.gains().tolist() == CleaningSession(data, X, 1).gains().tolist()
    before = seen(given)
    with pytest.raises(AnswerError, match="distances are known only for the candidates of row 0"):
        given.tell(0, value=[4.5])
    assert seen(given) == before


def test_precomputed_distances_of_a_table(table_session: CleaningSession) -> None:
    table = IncompleteTable(frame(), label="buys")
    far = np.random.default_rng(0).random((4, table.dataset.n_candidates))
    session = CleaningSession(table, far, 2, metric="precomputed")
    expected = expected_entropies(table.dataset, far, 2, "precomputed")
    dirty = table.dataset.dirty_rows
    assert session.ask().row == dirty[np.argmin(expected[dirty])]
    cells = CleaningSession(table, far, 2, "cells", metric="precomputed")
    while (question := cells.ask()) is not None:
        cells.tell(**question.answer(0))
    assert cells.certain.all()


def test_a_metric_that_is_a_function(data: IncompleteDataset) -> None:
    X = [[0.0], [4.0], [9.0]]
    own = CleaningSession(data, X, 1, metric=weighed)
    named = CleaningSession(data, X, 1)
    for row, answer in ((3, {"candidate": 1}), (0, {"value": [4.5]}), (0, {"value": [3.5]})):
        own.tell(row, **answer)
        named.tell(row, **answer)
        assert own.gains().tolist() == named.gains().tolist()
        assert own.ask().row == named.ask().row
    own.undo(2)
    named.undo(2)
    assert own.gains().tolist() == named.gains().tolist()


def test_too_many_distances_for_a_function(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cpclean.cleaning.kept_query.MEASURED_BYTES", 100)
    data = IncompleteDataset([[[0.0], [5.0]], [[1.0]]], [0, 1])
    with pytest.raises(QueryError, match=r"would take 0\.0 GB here; the limit is.*named metric"):
        CleaningSession(data, np.arange(9.0)[:, None], 1, metric=weighed)
