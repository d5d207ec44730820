"""A long log that is taken over at once leads to the state after its answers one by one."""

import math
import random
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from cpclean import CleaningSession, IncompleteTable
from cpclean.errors import CPCleanError


def table(space="plain"):
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({
        "size": rng.integers(0, 20, 60).astype(float),
        "town": rng.choice(["Ulm", "Bonn", "Kiel"], 60),
        "age": rng.integers(18, 90, 60),
    })  # fmt: skip
    frame["y"] = np.where(frame["size"] + rng.normal(0, 5, 60) > 10, "l", "s")
    frame.loc[::2, "size"] = np.nan
    frame.loc[::3, "town"] = None
    return IncompleteTable(frame, label="y", space=space)


def session_over(given, **options):
    rng = np.random.default_rng(6)
    points = pd.DataFrame({
        "size": rng.integers(0, 20, 14).astype(float),
        "town": rng.choice(["Ulm", "Bonn", "Kiel"], 14),
        "age": rng.integers(18, 90, 14),
    })  # fmt: skip
    return CleaningSession(given, points, 3, **options)


def log_about(given, length=70):
    """Candidates, values, ranges and skips; corrections, and the same again."""
    rng = random.Random(7)
    rows, found = given.dataset.dirty_rows.tolist(), []
    for _ in range(length):
        row = rng.choice(rows)
        holes = [name for name, value in given.row(row).items() if value is None]
        entry = {"row": row}
        kind = rng.random()
        if kind < 0.15:
            entry["skip"] = True
        elif kind < 0.5:
            entry["candidate"] = rng.randrange(2)
        elif "size" in holes and kind < 0.75:
            entry["value"] = {"size": {"between": [None, 12.0]}}
        elif "size" in holes:
            entry["value"] = {"size": float(rng.randrange(25))}
        else:
            entry["value"] = {"town": rng.choice(["Ulm", "Rom"])}
        found.append(entry)
    return found


def same(one, other):
    assert one.answers == other.answers
    assert one.known == other.known
    assert one.certain.tolist() == other.certain.tolist()
    assert one.settled_share == other.settled_share
    assert one.view.labels.tolist() == other.view.labels.tolist()
    assert list(one.view.open_rows) == list(other.view.open_rows)
    assert [a.kind for a in one.history] == [b.kind for b in other.history]
    assert [a.row for a in one.history] == [b.row for b in other.history]
    asked = [] if one.done else [question.row for question in one.ask(3)]
    assert asked == ([] if other.done else [question.row for question in other.ask(3)])


@pytest.mark.parametrize(
    ("space", "options"),
    [
        ("plain", {}),
        ("plain", {"sure": 0.9}),
        ("plain", {"strategy": "cells"}),
        ("forest", {"gains_by": "uniform"}),
    ],
)
def test_the_state_is_that_of_a_replay(space, options):
    given = table(space)
    log = log_about(given)
    slow, quick = session_over(given, **options), session_over(given, **options)
    slow.replay(log)
    places = quick.resume(log)
    assert len(places) == len(slow.answers) < len(log), "some say nothing new"
    same(slow, quick)
    assert all(math.isnan(one.certain_share) for one in quick.history)
    for one in (slow, quick):
        one.undo(len(places) // 2)
    same(slow, quick)
    for one in (slow, quick):
        one.replay(log[::-1][:10])
    same(slow, quick)
    other = session_over(given, **options)
    other.replay(log[:30])
    quick.recall(other)
    kept = [(replace(a, seconds=0), replace(b, seconds=0))
            for a, b in zip(slow.history, quick.history, strict=True)
            if not math.isnan(b.certain_share)]  # fmt: skip
    assert len(kept) > 15
    for a, b in kept:
        assert a == b


def test_what_cannot_be_resumed_says_so():
    given = table()
    session = session_over(given)
    with pytest.raises(CPCleanError, match="answer 1: "):
        session.resume([{"row": 0, "candidate": 0}, {"row": 2, "candidate": 99}])
    assert not session.answers
    session.tell(0, candidate=1)
    with pytest.raises(CPCleanError, match="Use replay"):
        session.resume([{"row": 2, "candidate": 0}])
    with pytest.raises(CPCleanError, match="Use replay"):
        session_over(given).resume([{"refit": True}])
