"""A session that learns its forest anew: what changes, and that replays agree."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cleaning.samples import seen

from cpclean import CleaningSession, IncompleteTable, entropies, expected_entropies, is_certain
from cpclean.data.spaces.leaf_space import LeafSpace
from cpclean.data.spaces.learning import learn_forest
from cpclean.errors import AnswerError
from cpclean.storage.following import Follower
from cpclean.storage.journal import Journal, JournalError
from cpclean.storage.saved_session import SavedSession

SMALL = LeafSpace(n_trees=10, n_worlds=5)


def table(space: object = SMALL, random_state: int = 0) -> IncompleteTable:
    rng = np.random.default_rng(2)
    size, hue = rng.normal(size=40).round(1), rng.choice(["red", "green", "blue"], 40)
    frame = pd.DataFrame({"size": size, "hue": hue})
    frame["y"] = np.where((size > 0) ^ (hue == "red") ^ (rng.random(40) < 0.2), "yes", "no")
    frame.loc[rng.random(40) < 0.25, "size"] = None
    frame.loc[rng.random(40) < 0.25, "hue"] = None
    frame = frame[frame[["size", "hue"]].notna().any(axis=1)].reset_index(drop=True)
    return IncompleteTable(frame, label="y", space=space, random_state=random_state)


POINTS = pd.DataFrame(
    {
        "size": [0.1, -0.4, 1.2, 0.0, -0.1, 0.3, 0.5, -1.0],
        "hue": ["red", "green", None, "blue", "red", "blue", "green", None],
    }
)


def new(strategy: str = "cpclean", space: object = SMALL) -> CleaningSession:
    return CleaningSession(table(space), POINTS, 5, strategy, random_state=0)


def answered(session: CleaningSession, n: int, number: int = 0) -> None:
    for _ in range(n):
        question = session.ask()
        assert question is not None
        session.tell(**question.answer(number))


@pytest.fixture
def session() -> CleaningSession:
    """Answers, a value that is no candidate, a skip, and two refits in between."""
    made = new()
    answered(made, 2, number=1)
    made.refit()
    answered(made, 1)
    row = made.ask().row
    holes = made.view.cells(row)
    made.tell(row, value={name: {"size": 0.123, "hue": "violet"}[name] for name in holes})
    made.skip(made.ask().row)
    made.refit()
    answered(made, 1)
    return made


def test_the_trees_are_those_of_what_is_known(session: CleaningSession) -> None:
    answered(session, 1)
    data, before = session.data, session.data.space
    session.refit()
    expected = learn_forest(data, n_trees=10, n_worlds=5, views=table().space.views)
    assert session.data.space.digest == expected.digest != before.digest
    points = session.view.points.vectors
    then, k = data.in_space(expected), 5
    assert session.data == then
    assert (
        session.view.version.board._facts.certain.tolist() == is_certain(then, points, k).tolist()
    )
    weights = session.view.points.vector_weights
    assert session.mean_entropy == pytest.approx(
        np.average(entropies(then, points, k), weights=weights), abs=1e-12
    )
    gains = [expected_entropies(then, points[[n]], k) for n in range(len(points))]
    after = np.average(gains, axis=0, weights=weights)
    assert np.abs(session.gains() - (session.mean_entropy - after)).max() < 1e-12


def test_the_log_says_so_and_replays_agree(session: CleaningSession) -> None:
    log = session.answers
    assert [place for place, entry in enumerate(log) if entry == {"refit": True}] == [2, 6]
    assert len(session.history) == 5  # of answers only
    again = new()
    again.replay(json.loads(json.dumps(log)))
    assert seen(again)[2:] == seen(session)[2:]
    assert again.answers == log
    assert again.data.space.digest == session.data.space.digest
    other = pickle.loads(pickle.dumps(session))
    assert seen(other) == seen(session)
    other.undo(5)
    assert other.answers == log[:3]


@pytest.mark.parametrize("strategy", ["cpclean", "cells"])
def test_undo_takes_back_as_many_refits_as_it_reaches(strategy: str) -> None:
    session = new(strategy)
    answered(session, 1)
    session.refit()
    answered(session, 2)
    session.refit()
    log = session.answers
    for n in range(1, len(log) + 1):
        one, other = pickle.loads(pickle.dumps(session)), new(strategy)
        one.undo(n)
        other.replay(log[:-n])
        assert one.answers == other.answers == log[:-n]
        assert seen(one)[2:] == seen(other)[2:]
        one.replay(log[-n:])
        assert seen(one)[2:] == seen(session)[2:]


def test_a_correction_after_a_refit_is_one_of_the_row_at_the_start(
    session: CleaningSession,
) -> None:
    row, known = next(iter(session.known.items()))
    name = next(iter(known))
    session.tell(row, value={name: {"size": 7.5, "hue": "green"}[name]})
    again = new()
    again.replay(session.answers)
    assert seen(again)[2:] == seen(session)[2:]
    session.tell(row, candidate=0)
    assert session.data.candidates(row).tolist() == table().dataset.candidates(row)[:1].tolist()
    assert session.data.unpinned.space.digest == session.data.space.digest


def test_without_an_answer_nothing_is_learnt(session: CleaningSession) -> None:
    first = new()
    first.refit()
    assert first.answers == []
    session.refit()
    before = seen(session)
    session.refit()
    session.skip(session.ask().row)
    n = len(session.answers)
    session.refit()
    assert len(session.answers) == n
    session.undo()
    assert seen(session) == before


def test_random_trees_see_what_became_known() -> None:
    session = new(space=LeafSpace("random", 10))
    before = session.data.space.digest
    answered(session, 1)
    session.refit()
    assert session.data.space.digest != before
    assert session.classifier().dataset_.space.digest == session.data.space.digest


def test_others_do_not_decide_about_the_trees(session: CleaningSession) -> None:
    mine = new()
    mine.merge(session.answers)
    assert {"refit": True} not in mine.answers
    assert mine.data.space.digest == new().data.space.digest
    assert mine.known == session.known


def test_a_project_and_whoever_follows_it_agree(session: CleaningSession) -> None:
    log = session.answers
    follower = Follower(new())
    for length in (7, 2, 4, len(log)):
        follower.follow(log[:length])
        again = new()
        again.replay(log[:length])
        assert seen(follower.session)[2:] == seen(again)[2:]


def test_a_journal_has_it_before_it_counts(tmp_path: Path, session: CleaningSession) -> None:
    path = tmp_path / "answers.jsonl"
    with Journal(path, {"table": "5f0c"}) as journal:
        kept = SavedSession(new(), journal)
        kept.refit()  # nothing to learn, nothing to save
        for entry in session.answers[:2]:
            kept.tell(**entry)
        kept.refit(seconds=1.5)
        kept.undo()
        kept.refit()
        expected = seen(kept.session)
    with Journal(path, {"table": "5f0c"}) as journal:
        again = SavedSession(new(), journal).session
        assert seen(again)[2:] == expected[2:]
        assert again.answers == session.answers[:3]
    path.write_text(path.read_text() + '{"refit": true}\n')
    with (
        Journal(path, {"table": "5f0c"}) as journal,
        pytest.raises(JournalError, match="the same answer twice"),
    ):
        SavedSession(new(), journal)
    path.write_text(path.read_text() + '{"refit": false}\n')
    with pytest.raises(JournalError, match=r'must have "row" and one of .*or "refit"; got'):
        Journal(path, {"table": "5f0c"})


# -- bad input -------------------------------------------------------------------------------------


def test_only_learnt_trees_are_learnt_anew() -> None:
    from sklearn.decomposition import PCA
    from sklearn.tree import DecisionTreeClassifier

    X = np.random.default_rng(0).normal(size=(30, 2))
    y = (X[:, 0] > 0).astype(int)
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(y=y)
    frame.loc[3, "a"] = None
    plain = IncompleteTable(frame, label="y")
    tree = DecisionTreeClassifier(min_samples_leaf=5).fit(frame[["a", "b"]].fillna(0), y)
    pca = PCA(2).fit(frame[["a", "b"]].fillna(0))
    for data, told in [
        (plain, "a table in the plain space"),
        (IncompleteTable(frame, label="y", space=tree), "a table in the space of a fitted object"),
        (IncompleteTable(frame, label="y", space=pca), "a table in the space of a fitted object"),
        (plain.dataset, "a dataset, whose space was given with it"),
    ]:
        session = CleaningSession(
            data, frame[["a", "b"]][5:9] if data is not plain.dataset else X[5:9], 3
        )
        session.tell(3, candidate=0)
        for call in (session.refit, lambda one=session: one.replay([{"refit": True}])):
            with pytest.raises(AnswerError, match=f"refit learns the trees .* over {told}.*space="):
                call()
        assert len(session.answers) == 1


@pytest.mark.parametrize(
    "entry", [{"refit": False}, {"refit": 1}, {"refit": True, "row": 0}, {"row": 0, "refit": True}]
)
def test_entries_that_are_no_refits(session: CleaningSession, entry: object) -> None:
    before = seen(session)
    with pytest.raises(AnswerError, match=r'answer 0 must be .*or \{"refit": True\}; got'):
        session.replay([entry])
    assert seen(session) == before


def test_effort_is_about_the_space_as_it_is_now(session: CleaningSession) -> None:
    session.tell(1, candidate=0)
    session.refit()
    effort, settled = session.effort(), session.settled
    assert settled.any()
    assert sorted(effort.answered) == sorted(session.known)
    again = session.from_start()
    assert again.data.space is not None
    assert again.data.space.digest == session.data.space.digest
    for row in effort.kept:
        again.tell(row, value=session.known[row])
    assert (again.settled >= settled).all()
    for row in effort.avoidable:
        again.tell(row, value=session.known[row])
    assert again.settled.tolist() == settled.tolist()
