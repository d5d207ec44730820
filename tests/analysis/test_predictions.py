"""How certain, how open and how right predictions are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cpclean import CleaningSession, IncompleteTable, simulate
from cpclean.analysis.predictions import Predictions, accuracy, by_winner


def test_accuracy_bounds_hold_in_every_simulated_world(tables: Any) -> None:
    dirty, truth, val = tables
    session = CleaningSession(IncompleteTable(dirty, label="buys"), val, y_val=val["buys"])
    bounds = accuracy(session, Predictions.of(session.view))
    assert bounds is not None
    assert bounds.all == session.accuracy()
    assert bounds.least <= session.accuracy() <= bounds.most
    simulate(session, truth, progress=False)
    assert bounds.least <= session.accuracy() <= bounds.most


def test_without_labels_nothing_is_right_or_wrong(tables: Any) -> None:
    dirty, _, val = tables
    session = CleaningSession(IncompleteTable(dirty, label="buys"), val)
    assert accuracy(session, Predictions.of(session.view)) is None


@pytest.mark.parametrize("n_classes", [2, 3, 7, 40])
def test_open_predictions_are_counted_once_and_the_clearest_come_first(n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    shares, certain = rng.dirichlet(np.ones(n_classes), size=200), rng.random(200) < 0.3
    found = Predictions(shares, certain)
    groups = by_winner(found)
    assert sum(one.number for one in groups) + found.n_certain == 200
    assert [one.high for one in groups] == sorted((one.high for one in groups), reverse=True)
    for one in groups[1:]:
        winners = found.winners[~certain]
        assert one.number == ((winners >= one.low) & (winners < one.high)).sum()


@pytest.mark.parametrize(
    ("winners", "told"),
    [
        ([1.0, 1.0], "2 of 2 predictions are certain."),
        ([1.0, 0.75], "1 of 2 predictions is certain. The open one has 75.0% of the prior"),
        ([0.75, 0.95], "0 of 2 predictions are certain. Of the 2 open ones, 1 has 90% of the"),
        ([0.91, 0.95], "0 of 2 predictions are certain. Of the 2 open ones, 2 have 90% of the"),
    ],
)
def test_openness_in_words(winners: list[float], told: str) -> None:
    first = np.array(winners)
    found = Predictions(np.stack([first, 1 - first], axis=1), first == 1.0)
    assert found.words.startswith(told)
