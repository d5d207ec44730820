"""The paper's tables and the figure about validation points, on small generated tables."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from cpclean import CleaningSession, simulate
from cpclean.experiments import paper, validation
from cpclean.experiments.fresh import Sizes, fresh_space, generated_table
from cpclean.experiments.measures import vote_accuracy, world_accuracy
from cpclean.experiments.spaces import Space

SMALL = Sizes(train=60, val=40, test=80)
QUIET = Console(stderr=True, quiet=True)


@pytest.fixture(scope="module")
def space() -> Space:
    return fresh_space(generated_table("mixed"), "important", 0, SMALL)


@pytest.fixture(scope="module")
def result(space: Space) -> dict[str, object]:
    return dict(paper.measured(space))


@pytest.mark.slow
def test_ways_are_measured_as_they_are_named(space: Space, result: dict[str, object]) -> None:
    assert result["default"] == round(world_accuracy(space.default, space), 6)
    assert result["closest"] == round(world_accuracy(space.closest_world(), space), 6)
    data = space.build("label").dataset
    assert result["label_0"] == round(vote_accuracy(data, space.X_test, space.y_test), 6)
    assert {*paper.COLUMNS} <= {*result}
    assert all(0.0 <= float(result[name]) <= 1.0 for name in paper.COLUMNS)  # type: ignore[arg-type]


@pytest.mark.slow
def test_at_a_fifth_the_vote_knows_the_answers(space: Space, result: dict[str, object]) -> None:
    session = CleaningSession(space.table.dataset, space.X_val, 3)
    early = round(0.2 * len(space.table.dataset.dirty_rows))
    simulate(session, space.truth, early, progress=False)
    assert len(session.history) == early
    expected = vote_accuracy(session.data, space.X_test, space.y_test)
    assert result["uniform_early"] == round(expected, 6)


def test_validation_points_choose(space: Space, result: dict[str, object]) -> None:
    session = CleaningSession(space.table.dataset, space.X_val, 3)
    simulate(session, space.truth, round(0.2 * len(session.data.dirty_rows)), progress=False)
    rows = [record.row for record in session.history]
    chosen = str(result["chosen"])
    voters = {prior: space.build(prior).dataset for prior in paper.PRIORS}
    ways = paper._early(space, session.data, rows, voters)
    assert ways["chosen"] == chosen
    assert ways["chosen_early"] == ways[f"{chosen}_early"]
    other = Space(**{**space.__dict__, "y_test": np.roll(space.y_test, 1)})
    blind = paper._early(other, session.data, rows, voters)
    assert blind["chosen"] == chosen  # test labels play no part


@pytest.mark.slow
def test_tables_of_a_quick_run(tmp_path: Path) -> None:
    text, finished = paper.reproduce(None, tmp_path, 1, True, QUIET)
    assert finished
    first, second = text.split("\n\n")[:2]
    assert first.count("\n") == 5
    assert "| numbers | important | synthetic | 100 | 5 |" in first
    assert second.count("| numbers |") == 2
    assert paper.reproduce(None, tmp_path, 1, True, QUIET) == (text, True)


@pytest.mark.slow
def test_more_points_are_measured_one_number_after_the_other(tmp_path: Path) -> None:
    text, finished = validation.reproduce(None, tmp_path, True, QUIET)
    assert finished
    assert "| 25 points | 50 points | 100 points |" in text
    ET.fromstring((tmp_path / "validation.svg").read_text(encoding="utf-8"))


def test_numbers_of_points_that_a_space_does_not_have_stay_empty() -> None:
    lines = [
        {"table": "T", "points": "100", "rows": "40", "answers": "10", "world": "0.5"},
        {"table": "T", "points": "200", "rows": "40", "answers": "", "world": ""},
        {"table": "U", "points": "200", "rows": "40", "answers": "30", "world": "nan"},
    ]
    text = validation.markdown(lines)
    assert "| T | 40 | 25%; 50% |  |" in text
    assert "| U | 40 |  | 75%; no gap |" in text
    assert "gap closed on test points" in validation.picture(lines)
