"""The sentence that comes first: do the holes matter, and for how many predictions?"""

import numpy as np
import pandas as pd
import pytest

from cpclean import CertainKNeighborsClassifier, CleaningSession, IncompleteTable
from cpclean.analysis.headline import headline, open_by_own_holes
from cpclean.analysis.predictions import Predictions


def told(n_certain: int, n_sure: int, n_open: int, own: int = 0) -> str:
    parts = [n_certain * [[1.0, 0.0]], n_sure * [[0.97, 0.03]], n_open * [[0.6, 0.4]]]
    shares = np.array([row for part in parts for row in part])
    return headline(Predictions(shares, shares[:, 1] == 0, sure=shares[:, 0] > 0.95), own)


@pytest.mark.parametrize(("numbers", "said"), [
    ((69, 0, 0), "The holes do not matter for these 69 predictions: each is the same, whatever "
     "is in them."),
    ((1, 0, 0), "The holes do not matter for this prediction: it is the same, whatever is in "
     "them."),
    ((476, 8, 22), "The holes hardly matter for these predictions: about nine in ten (476 of "
     "506, 94.1%) are the same, whatever is in them; 8 more are 95% sure, 22 are open."),
    ((60, 18, 2), "The holes matter little for these predictions: nearly all (78 of 80, 97.5%) "
     "are the same, whatever is in them, or 95% sure: 60 are the same, 18 are 95% sure, 2 are "
     "open."),
    ((1, 60, 0), "The holes matter little for these predictions: all (61 of 61, 100%) are the "
     "same, whatever is in them, or 95% sure: 1 is the same, 60 are 95% sure."),
    ((289, 84, 55), "The holes matter for many of these predictions: about two in three (289 of "
     "428, 67.5%) are the same, whatever is in them; 84 more are 95% sure, 55 are open."),
    ((19, 0, 61), "The holes matter for most of these predictions: about one in four (19 of 80, "
     "23.8%) are the same, whatever is in them; 61 are open."),
    ((0, 3, 5), "The holes matter for all of these predictions: none of 8 is the same whatever "
     "is in them; 3 are 95% sure, 5 are open."),
    ((0, 1, 0), "The holes matter for this prediction: it is 95% sure."),
])  # fmt: skip
def test_the_share_comes_in_words_first(numbers, said):
    assert told(*numbers) == said


def test_what_only_a_rows_own_holes_leave_open_is_told():
    end = "33 are open, 30 of them only because of their own holes, which no answer about a "
    assert told(18, 29, 33, own=30).endswith(end + "training row fills.")
    assert "it is open, only because of its own holes, which no answer" in told(0, 0, 1, own=1)
    assert "1 is open, only because of its own holes, which no answer" in told(5, 0, 1, own=1)
    assert "2 are open, both only because of their own holes" in told(5, 0, 2, own=2)
    assert "3 are open, all of them only because of their own" in told(5, 0, 3, own=3)
    end = "2 are open, both only because of their own holes, which no answer about a training row"
    assert end in told(60, 18, 2, own=2)
    assert "3 are open, 1 of them only because of its own holes" in told(5, 0, 3, own=1)


def test_the_numbers_are_those_of_the_classifier():
    """Of points with holes, each is open by itself or by the holes of the table."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.integers(0, 9, (30, 2)).astype(float), columns=["a", "b"])
    frame["y"] = np.where(frame["a"] + frame["b"] > 8, "yes", "no")
    train, new = frame[:16].copy(), frame[16:].copy()
    train.loc[rng.random(16) < 0.3, "a"] = None
    new.loc[rng.random(14) < 0.6, "a"] = None
    table = IncompleteTable(train, label="y")
    session = CleaningSession(table, new[["a", "b"]], n_neighbors=3)
    found = Predictions.of(session.view)
    verdicts = CertainKNeighborsClassifier(n_neighbors=3).fit(table).verdicts(new[["a", "b"]])
    assert found.verdicts.tolist() == verdicts.tolist()
    own = open_by_own_holes(session.view, found)
    filled = CleaningSession(IncompleteTable(train, label="y"), new[["a", "b"]], n_neighbors=3)
    for row in table.dataset.dirty_rows.tolist():
        filled.tell(row, 0)  # now nothing but the points' own holes is left
    left = Predictions.of(filled.view)
    assert 0 < own <= found.n_open
    assert open_by_own_holes(filled.view, left) == left.n_open
