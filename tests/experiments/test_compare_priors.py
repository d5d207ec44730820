"""What priors are worth: the measurement, its store, and the table it prints."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from cpclean.data.priors import LabelPrior
from cpclean.errors import DataError
from cpclean.experiments import all_spaces
from cpclean.experiments import compare_priors as priors
from cpclean.experiments.compare_priors import (
    VOTES,
    WORLDS,
    best_smoothing,
    compare_priors,
    jobs_for,
    markdown,
    smoothing_scores,
)
from cpclean.experiments.fresh import Sizes, fresh_space, generated_table
from cpclean.experiments.measures import closed, vote_accuracy, world_accuracy
from cpclean.experiments.spaces import PUBLISHED, Space, load_space
from cpclean.experiments.store import Store
from cpclean.queries.shares import world_shares

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
TINY = Sizes(train=40, val=20, test=30)


def quiet() -> Console:
    return Console(file=io.StringIO(), force_terminal=False)


def read(file: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(file.read_text())))


@pytest.fixture(scope="module")
def space() -> Space:
    return fresh_space(generated_table("mixed"), "important", 0, TINY)


# -- one space ------------------------------------------------------------------------------------


def test_accuracies_are_those_of_the_vote(space: Space) -> None:
    found = compare_priors(space)
    for name in ("uniform", "observed", "label"):
        data = space.build(name).dataset
        winners = data.classes[world_shares(data, space.X_test, 3).argmax(axis=1)]
        assert found[name] == np.mean(winners == space.y_test)
    assert found["clean"] == world_accuracy(space.clean, space)
    assert found["default"] == world_accuracy(space.default, space)
    tuned = space.build(LabelPrior(found["smoothing"])).dataset
    assert found["tuned"] == vote_accuracy(tuned, space.X_test, space.y_test)
    assert found["rows"] == 40
    assert 0 < found["dirty_rows"] <= 40


def test_smoothings_are_scored_on_validation_points(space: Space) -> None:
    expected = {}
    for smoothing in (50.0, 0.0, 2.0):
        data = space.build(LabelPrior(smoothing)).dataset
        shares = world_shares(data, space.X_val, 3)
        at = np.searchsorted(data.classes, space.y_val)
        expected[smoothing] = np.mean(((shares - np.eye(3)[at]) ** 2).sum(axis=1))
    actual = smoothing_scores(space.build, space.X_val, space.y_val, (50.0, 0.0, 2.0))
    assert actual == pytest.approx(expected)
    assert len(set(actual.values())) == 3


def test_the_best_smoothing_has_the_lowest_score() -> None:
    assert best_smoothing({0.0: 0.2, 1.0: 0.1, 3.0: 0.3}) == 1.0
    assert best_smoothing({3.0: 0.1, 1.0: 0.1 + 1e-15, 0.0: 0.2}) == 1.0  # the smallest of equals


def test_nothing_about_test_points_enters_the_choice(space: Space) -> None:
    strange = replace(space, X_test=space.X_test[::-1] + 9.0, y_test=space.y_test[::-1])
    assert compare_priors(strange)["smoothing"] == compare_priors(space)["smoothing"]


@pytest.mark.slow
@pytest.mark.skipif(
    not (DATA / "spaces").is_dir(), reason="the authors' spaces are looked for in ../shared/data"
)
@pytest.mark.parametrize(
    ("name", "label", "tuned"),
    [("Supreme", 1.09, 1.14), ("Bank", 1.47, 1.47), ("Puma", 1.25, 1.26)],
)
def test_gap_closed_on_the_published_spaces(name: str, label: float, tuned: float) -> None:
    found = compare_priors(load_space(DATA / "spaces" / name / PUBLISHED[name]))
    gap = found["closest"] - found["default"]
    assert (found["label"] - found["default"]) / gap >= label
    assert (found["tuned"] - found["default"]) / gap >= tuned


def test_label_does_harm_where_its_assumption_fails() -> None:
    """The example of docs/how/priors.md: what is typical of a class is hidden."""
    text = (Path(__file__).resolve().parents[2] / "docs/how/priors.md").read_text("utf-8")
    code = text.split("```python")[-1].split("```")[0]
    written = [float(figure) for figure in re.findall(r"0\.\d{3}", code)]
    seen = io.StringIO()
    with contextlib.redirect_stdout(seen):
        exec(code, {})
    assert [float(figure) for figure in re.findall(r"0\.\d+", seen.getvalue())] == written
    default, *votes = written
    assert max(votes) < default


# -- the whole run --------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_run_is_saved_and_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(priors, "QUICK", TINY)
    out = tmp_path / "out"
    text, finished = priors.reproduce(None, out, 1, True, quiet())
    assert finished
    assert (out / "priors.md").read_text() == text
    assert len(read(out / "priors.csv")) == 6
    settings = json.loads((out / "priors.json").read_text())
    assert settings["train"] == 40
    assert settings["versions"].keys() == {"cpclean", "numpy", "scipy", "scikit-learn"}

    calls = []
    measured = priors.compare_priors
    monkeypatch.setattr(priors, "compare_priors", lambda one: calls.append(1) or measured(one))
    more, finished = priors.reproduce(None, out, 2, True, quiet())
    assert finished
    assert len(calls) == 6  # of the second seed only
    assert "| mixed | high | 2 |" in more


def test_an_interrupted_run_returns_what_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(priors, "QUICK", TINY)
    measured, calls = priors.compare_priors, []

    def impatient(space: Space) -> Any:
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return measured(space)

    monkeypatch.setattr(priors, "compare_priors", impatient)
    text, finished = priors.reproduce(None, tmp_path / "out", 1, True, quiet())
    assert not finished
    assert [line.split(" | ")[:2] for line in text.splitlines()[2:4]] == [
        ["| numbers", "random"],
        ["| numbers", "important"],
    ]


def test_results_of_a_quick_run_do_not_mix_with_others(tmp_path: Path) -> None:
    Store(tmp_path, "priors", all_spaces.SPACE_KEYS, priors._settings(None, TINY))
    with pytest.raises(DataError, match=r"other settings: .*train was 40, now 100"):
        priors.reproduce(None, tmp_path, 1, True, quiet())


def test_jobs_of_a_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match=r"spaces/Supreme/systematic is missing, and 8 more. Name"):
        jobs_for(tmp_path, 1, TINY)
    monkeypatch.setattr(all_spaces, "check_folder", lambda folder: None)
    keys = [job.key for job in jobs_for(tmp_path, 2, TINY)]
    assert len(set(keys)) == len(keys) == 4 + 2 * 5 * 3
    assert keys[:2] == [("Supreme", "published", ""), ("Bank", "published", "")]
    assert ("Chile", "high", "1") in keys


# -- the table ------------------------------------------------------------------------------------


def line(table: str, holes: str, seed: str, **values: float) -> dict[str, str]:
    usual = dict.fromkeys((*WORLDS, *VOTES), 0.5) | {"smoothing": 1.0} | values
    return {"table": table, "holes": holes, "seed": seed} | {k: str(v) for k, v in usual.items()}


def test_means_spread_and_share_of_the_gap() -> None:
    lines = [
        line("Bank", "random", "0", closest=0.8, default=0.6, label=0.8, smoothing=3.0),
        line("Bank", "random", "1", closest=0.8, default=0.6, label=0.9),
        line("Supreme", "published", "", closest=0.9, default=0.8, label=0.95),
    ]
    first, second = markdown(lines).splitlines()[2:4]
    assert first.startswith("| Supreme | published | 1 | 0.500 | 0.900 | 0.800 |")
    assert "| 0.950 (150 %) |" in first
    assert second.startswith("| Bank | random | 2 | 0.500 ± 0.000 | 0.800 ± 0.000 |")
    assert "| 0.850 ± 0.071 (125 %) |" in second
    assert second.endswith("| 1, 3 |")


@pytest.mark.parametrize(
    ("gains", "gaps", "text"),
    [
        ([0.05], [0.1], "50 %"),
        ([-0.05], [0.1], "-50 %"),
        ([0.05], [0.009], "+5.0 points"),  # hardly a gap
        ([-0.01], [-0.2], "-1.0 points"),  # closest is worse than default
        ([0.05, 0.05], [0.2, -0.1], "+5.0 points"),  # a gap that comes and goes with the seed
        ([0.05, 0.05], [0.1, 0.1], "50 %"),
    ],
)
def test_a_share_only_of_a_gap_that_is_there(
    gains: list[float], gaps: list[float], text: str
) -> None:
    assert closed(np.array(gains), np.array(gaps)) == text


def test_nothing_done_is_an_empty_table() -> None:
    assert len(markdown([]).splitlines()) == 4
