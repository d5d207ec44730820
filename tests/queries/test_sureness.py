"""What is sure: shares with their error taken off, levels, verdicts of the estimators."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from cpclean import (
    Cell,
    CertainForestClassifier,
    CertainKNeighborsClassifier,
    FactoredRow,
    IncompleteDataset,
    Points,
    is_certain,
    is_sure,
    share_errors,
    verdicts,
    world_shares,
)
from cpclean.errors import QueryError


def worlds_of_twenty(n_agree: int) -> IncompleteDataset:
    """A row that is nearest in some of 20 worlds, and one of another label."""
    candidates = [[0.0]] * (20 - n_agree) + [[5.0]] * n_agree
    return IncompleteDataset([candidates, [[1.0]]], ["a", "b"])


@pytest.mark.parametrize(("n_agree", "word"), [(18, "open"), (19, "sure"), (20, "certain")])
def test_nineteen_of_twenty_worlds_are_enough(n_agree: int, word: str) -> None:
    assert verdicts(worlds_of_twenty(n_agree), [[0.0]], 1).tolist() == [word]
    assert is_sure(worlds_of_twenty(n_agree), [[0.0]], 1).tolist() == [word != "open"]


def drawn_case(n_draws: int = 40) -> tuple[IncompleteDataset, np.ndarray]:
    """Rows of eight holes each, represented by draws, and points between them."""
    rng = np.random.default_rng(3)
    cells = [Cell(column, [0.0, 1.0, 2.0]) for column in range(8)]
    rows = [FactoredRow(np.zeros(8), cells) for _ in range(3)]
    rows += [[one] for one in rng.uniform(0, 2, (12, 8))]
    data = IncompleteDataset(rows, ["a", "b", "a"] + ["a", "b"] * 6, n_draws=n_draws, max_exact=9)
    return data, rng.uniform(0, 2, (60, 8))


def test_the_error_of_draws_is_taken_off() -> None:
    data, X = drawn_case()
    shares, errors = world_shares(data, X), share_errors(data, X)
    best = shares.argmax(axis=1)
    top, error = (one[np.arange(len(X)), best] for one in (shares, errors))
    level = float(np.quantile(top[error > 0.01], 0.3))
    found = is_sure(data, X, level=level)
    assert found.tolist() == (top - error >= level - 1e-12).tolist()
    assert (found != (top >= level)).any()
    assert (is_sure(data, X)[is_certain(data, X)]).all()


def test_points_with_holes_are_mixed_first() -> None:
    data = IncompleteDataset([[[0.0]], [[10.0]]], ["a", "b"])
    points = Points([[[1.0], [9.0]], [[1.0], [9.0]]], [[0.96, 0.04], [0.94, 0.06]])
    assert verdicts(data, points, 1).tolist() == ["sure", "open"]


@pytest.mark.parametrize("model", [CertainKNeighborsClassifier(), CertainForestClassifier(5)])
def test_estimators(model: CertainKNeighborsClassifier) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(120, 4)), columns=list("abcd"))
    y = np.where(X["a"] + X["b"] > 0, "yes", "no")
    X = X.mask(rng.random(X.shape) < 0.15)
    model.fit(X[:80], y[:80])
    words = model.verdicts(X[80:], level=0.9)
    assert (words == "certain").tolist() == model.is_certain(X[80:]).tolist()
    assert (words != "open").tolist() == model.is_sure(X[80:], 0.9).tolist()
    assert {"certain", "open"} <= set(words.tolist())
    assert model.verdicts(X[80:]).tolist() == model.verdicts(X[80:], 0.95).tolist()
    assert model.verdicts(X[:0]).tolist() == []


@pytest.mark.parametrize("level", [0.5, 1.0, 0, 95, -1.0, float("nan"), True, "0.95", None])
def test_levels(level: object) -> None:
    data = worlds_of_twenty(19)
    for ask in (is_sure, verdicts):
        with pytest.raises(QueryError, match=r"level must be a number between 0\.5 and 1.*got "):
            ask(data, [[0.0]], 1, level=level)
