"""How little cleaning is enough: objectives against brute force, sessions, calibration, tables."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from slow_cases import rest_slow

from cpclean import CleaningSession, IncompleteDataset, entropies, expected_entropies, world_shares
from cpclean.cli import main
from cpclean.experiments import calibration, enough, objectives, sure_tables, until_settled
from cpclean.experiments.fresh import Sizes, generated_table
from cpclean.experiments.inject import inject, inject_by_class
from cpclean.experiments.told_tables import Told, told_table


def small(seed: int, n_classes: int) -> tuple[IncompleteDataset, np.ndarray]:
    rng = np.random.default_rng(seed)
    rows = [rng.integers(0, 6, (rng.integers(1, 4), 2)).astype(float) for _ in range(12)]
    priors = [rng.dirichlet(np.ones(len(row))) for row in rows]
    return IncompleteDataset(rows, rng.integers(0, n_classes, 12), priors), rng.uniform(
        0, 6, (9, 2)
    )


# -- objectives ------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_newly_settled_points_against_every_answer(seed: int, n_classes: int) -> None:
    data, X = small(seed, n_classes)
    level = 0.8
    start = CleaningSession(data, X, 3, sure=level)
    strategy = objectives.NewlySettled(start.view.points, 3, level)
    session = CleaningSession(data, X, 3, strategy, sure=level)
    for _ in range(3):
        known, scores = session.data, session.view.scores
        open_ = X[~session.settled]
        if not len(open_) or session.done:
            break
        for place, row in enumerate(session.view.questions.row.tolist()):
            expected = sum(
                float(prior) * (world_shares(known.pin(row, number), open_, 3).max(axis=1) >= level)
                for number, prior in enumerate(known.prior(row))
            )
            if len(known.candidates(row)) > 1:  # relative gains only break ties
                assert 0 <= scores[place] - expected.sum() / len(X) <= 1.01e-3 * len(open_) / len(X)
        question = session.ask()
        session.tell(question.row, candidate=0)


@pytest.mark.parametrize(
    ("objective", "term"),
    [
        (objectives.every_point, lambda gain, before: gain),
        (objectives.by_squares, lambda gain, before: gain / before**2),
        (objectives.squeeze, lambda gain, before: np.sqrt(gain) / before),
        (objectives.root_of_gain, lambda gain, before: np.sqrt(gain)),
        (objectives.roots_first, lambda gain, before: np.sqrt(gain / before)),  # few are settled
    ],
)
def test_objectives_against_expected_entropies(objective: Any, term: Any) -> None:
    data, X = small(7, 2)
    session = CleaningSession(data, X, 3, objective, sure=0.8)
    counted = X[~session.certain] if objective is objectives.every_point else X[~session.settled]
    before = entropies(data, counted, 3)[:, None]
    after = np.array([expected_entropies(data, x[None], 3) for x in counted])
    gain = np.where(before - after > 1e-12, before - after, 0.0)
    scores = term(gain, before).sum(axis=0)[session.view.questions.row] / len(X)
    assert session.view.scores == pytest.approx(scores, abs=1e-7)
    assert 0 < (~session.settled).sum() < (~session.certain).sum()


# -- sessions --------------------------------------------------------------------------------------


def test_answers_until_a_share_is_reached_first() -> None:
    shares = [0.5, 0.8, 0.7, 0.96, 1.0]
    assert [until_settled.answers_until(shares, aim) for aim in (0.5, 0.8, 0.95, 1.0)] == [
        0,
        1,
        3,
        4,
    ]
    assert until_settled.answers_until(shares[:3], 0.95) == ""
    curve = until_settled.every_hundredth(shares, 50)
    assert (len(curve), curve[0], curve[2], curve[3], curve[-1]) == (101, 0.5, 0.8, 0.7, 1.0)


@pytest.mark.parametrize("strategy", rest_slow([*until_settled.STRATEGIES][::-1], 5))
def test_a_session_until_all_is_sure(strategy: str) -> None:
    found = until_settled.until_sure(None, "numbers", "random", "plain", strategy, 0.95)
    assert 0 < found["until_0.8"] < found["until_0.95"] <= found["until_1"] == found["answers"]
    assert found["answers"] < found["rows"]
    assert json.loads(found["curve"])[-1] == 1.0


def test_roots_first_turns_to_the_hardest_points(monkeypatch: pytest.MonkeyPatch) -> None:
    data, X = small(7, 2)
    last, first = (
        CleaningSession(data, X, 3, one, sure=0.8).view.scores
        for one in (objectives.root_of_gain, "roots")
    )
    for nearly_all, expected in ((0.01, last), (0.99, first)):
        monkeypatch.setattr(objectives, "NEARLY_ALL", nearly_all)
        found = CleaningSession(data, X, 3, objectives.roots_first, sure=0.8).view.scores
        assert found.tolist() == expected.tolist()
    assert last.tolist() != first.tolist()


def test_other_draws_are_other_rows_and_holes() -> None:
    one, two, again = (
        told_table(None, "numbers", holes) for holes in ("random", "random, draw 1", "random")
    )
    assert one.dirty.equals(again.dirty)
    assert not one.true.equals(two.true)
    assert not one.dirty.isna().equals(two.dirty.isna())
    assert abs(one.dirty.isna().mean().mean() - two.dirty.isna().mean().mean()) < 0.05


def test_certain_takes_more_rows_than_sure() -> None:
    asked = (None, "numbers", "random", "plain", "roots")
    certain, sure = until_settled.until_sure(*asked, None), until_settled.until_sure(*asked, 0.95)
    assert certain["rows"] == sure["rows"]
    assert certain["until_0.95"] > sure["until_0.95"]
    assert certain["until_1"] > sure["until_1"]


def test_answers_are_the_true_values(monkeypatch: pytest.MonkeyPatch) -> None:
    told, sessions = told_table(None, "numbers", "random"), []

    def kept(*args: Any, **options: Any) -> CleaningSession:
        sessions.append(CleaningSession(*args, **options))
        return sessions[0]

    monkeypatch.setattr(until_settled, "CleaningSession", kept)
    until_settled.until_sure(None, "numbers", "random", "plain", "roots", 0.95)
    known = sessions[0].known
    assert known
    for row, values in known.items():
        assert values == {name: told.true[name].iloc[row] for name in values}
        assert told.dirty.iloc[row][list(values)].isna().all()


# -- calibration -----------------------------------------------------------------------------------


def test_labels_that_the_truth_keeps() -> None:
    """The last row, hidden, is in truth next to the points on the right, unlike its own class."""
    x = [*np.linspace(0.0, 0.2, 10), *np.linspace(0.8, 1.0, 10), 0.905]
    true = pd.DataFrame({"x": x, "same": 1.0})
    labels = np.array([*"a" * 10, *"b" * 10, "a"])
    hidden = np.zeros(true.shape, dtype=bool)
    hidden[-1, 0] = True
    points = pd.DataFrame({"x": [0.05, 0.9052, 0.7], "same": 1.0})
    told = Told(true.mask(hidden), true, labels, points)
    with_one = dict(until_settled.NEIGHBORS, plain=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(calibration, "NEIGHBORS", with_one)
        found = calibration.kept_labels(told, "plain", "label")
    assert found["points"] == 3
    assert (found["sure_0.95"], found["sure_0.95_kept"]) == (3, 2)  # the one at .9052 is not b
    assert (found["open"], found["open_kept"]) == (0, 0)
    assert found["certain"] - found["certain_kept"] == (found["certain"] == 3)


def test_sure_labels_fail_where_holes_depend_on_value_and_class() -> None:
    whole = generated_table("numbers", 180)
    true, labels, points = whole.frame[:80], whole.labels[:80], whole.frame[80:]
    kept = []
    for injected in (inject(true, "random", 0.4), inject_by_class(true, labels, 0.4)):
        told = Told(injected.frame, true, labels, points)
        found = calibration.kept_labels(told, "plain", "label")
        kept.append(found["sure_0.95_kept"] / found["sure_0.95"])
    assert kept[0] >= 0.95 > 0.9 > kept[1]


def test_high_values_of_one_class_and_low_ones_of_the_other_are_hidden() -> None:
    frame = pd.DataFrame(np.random.default_rng(0).uniform(size=(400, 3)), columns=list("abc"))
    labels = np.repeat(["n", "p"], 200)
    injected = inject_by_class(frame, labels, 0.2, 1)
    hidden, values = injected.mask, frame.to_numpy()
    assert hidden.sum() == round(0.2 * frame.size) == int(injected.frame.isna().sum().sum())
    first, second = values[:200][hidden[:200]], values[200:][hidden[200:]]
    assert first.mean() > 0.65
    assert second.mean() < 0.35


# -- the tables and the command --------------------------------------------------------------------


def line(strategy: str, until: tuple[str, str, str], **others: str) -> dict[str, str]:
    names = ("until_0.8", "until_0.95", "until_1")
    return {
        "table": "Bank", "holes": "random", "space": "plain", "level": "0.95", "rows": "200",
        "strategy": strategy, "curve": json.dumps([0.5] + [1.0] * 100), "seconds": "1.25",
        **dict(zip(names, until, strict=True)), **others,
    }  # fmt: skip


def test_rows_are_compared_with_those_for_all_points() -> None:
    lines = [line("all points", ("0", "40", "100")), line("roots", ("0", "30", ""))]
    text = sure_tables.rows_table(lines)
    assert (
        "| Bank | random | plain | 0.95 | all points | 200 | 50% | 0.0% | 20.0% | 50.0% |" in text
    )
    assert "| roots | 200 | 50% | 0.0% | 15.0% |  | 25%;  | 1.2 s |" in text


def test_curves_of_one_table_are_panels_of_one_picture() -> None:
    until = ("0", "1", "2")
    lines = [line("roots", until), line("relative", until)]
    lines += [line("roots", until, space="forest"), line("roots", until, level="0.99")]
    lines += [line("roots", until, level="certain")]
    ((name, text),) = sure_tables.pictures(lines, 0.95)
    assert name == "Bank_random"
    words = [node.text or "" for node in ET.fromstring(text).iter() if node.text]
    assert sum(word.startswith("plain space") for word in words) >= 1
    assert sum(word.startswith("forest space") for word in words) >= 1
    assert [words.count(f"{word}, by roots") for word in ("0.95 sure", "certain")] == [2, 1]
    assert "0.95 sure, by relative" not in words


@pytest.mark.slow
def test_reproduce_how_little_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(enough, "NEIGHBORS", {"plain": 3})
    monkeypatch.setattr(until_settled, "STRATEGIES", ("all points", "roots"))
    monkeypatch.setattr(enough, "QUICK", Sizes(train=30, val=15, test=20))
    monkeypatch.setattr("shutil.which", lambda name: None)  # draws no PNG, which takes seconds
    monkeypatch.setattr(enough, "PRIORS", ("label",))
    monkeypatch.setattr(enough, "ORDERS", (("uniform", "relative", "prior"),))
    monkeypatch.setattr(enough, "LEVELS", (0.95,))
    args = ["reproduce", "--figure", "sure", "--quick", "--jobs", "1", "--out", str(tmp_path)]
    result = CliRunner().invoke(main, args)
    assert result.exit_code == 0, result.output
    assert "| numbers | random | plain | 0.95 | roots |" in result.stdout
    assert "| numbers | random | plain | certain | roots |" in result.stdout
    assert "| numbers | by class | plain | label |" in result.stdout
    assert "| mixed | uniform | relative | prior |" in result.stdout
    assert "| numbers, forest | label | roots | uniform |" in result.stdout
    assert (tmp_path / "sure_numbers_random.svg").exists()
    again = CliRunner().invoke(main, args)
    assert again.stdout == result.stdout
    assert again.stderr.count("\n") == 1
    assert "less what is saved already" in again.stderr
