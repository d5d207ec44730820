"""Curves of cleaning, on small generated tables."""

from __future__ import annotations

import csv
import json
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from cpclean import is_certain
from cpclean.experiments import orders as curves
from cpclean.experiments.fresh import Sizes, fresh_space, generated_table
from cpclean.experiments.spaces import Space

SVG = "{http://www.w3.org/2000/svg}"
SMALL = Sizes(train=60, val=40, test=80)


@pytest.fixture(scope="module")
def space() -> Space:
    return fresh_space(generated_table("numbers"), "important", 0, SMALL)


@pytest.mark.parametrize("strategy", ["cpclean", "cpclean, 10 at once", "random"])
def test_a_curve_begins_with_nothing_known_and_ends_with_all_certain(
    space: Space, strategy: str
) -> None:
    result = curves.measured(space, strategy, 0)
    certain = json.loads(result["certain"])
    assert len(certain) == len(curves.GRID)
    data = space.table.dataset
    assert certain[0] == round(float(is_certain(data, space.X_val, 3).mean()), 6)
    assert certain[-1] == 1.0
    assert (np.diff(certain) >= 0).all()  # candidates of the row: no point becomes uncertain
    assert result["rows"] == len(data.dirty_rows)
    assert 0 < result["answers"] <= result["rows"]


def test_at_the_end_of_a_random_order_the_world_is_the_closest(space: Space) -> None:
    for name in ("world", "vote"):
        gap = json.loads(curves.measured(space, "random", 1)[name])
        assert gap[-1] == 1.0 or np.isnan(gap[-1])


def test_without_a_gap_none_is_closed(space: Space) -> None:
    from dataclasses import replace

    same = replace(space, default=space.closest_world())
    assert np.isnan(json.loads(curves.measured(same, "random", 0)["world"])).all()


def test_every_order_has_to_clean_the_rows_that_matter(space: Space) -> None:
    needed = curves.measured(space, curves.BOUND, 0)["answers"]
    assert 0 < needed <= curves.measured(space, "cpclean", 0)["answers"]
    data, counted = space.table.dataset, 0
    for left in data.dirty_rows.tolist():
        clean = data
        for row in data.dirty_rows.tolist():
            clean = clean if row == left else clean.pin(row, int(space.truth[row]))
        counted += not is_certain(clean, space.X_val, 3).all()
    assert needed == counted


def line(strategy: str, certain: list[float], seed: int = 0) -> dict[str, str]:
    text = json.dumps(certain)
    return {"table": "T", "strategy": strategy, "seed": str(seed), "certain": text, "world": text,
            "vote": text, "rows": "40", "answers": "12", "seconds": "0.5"}  # fmt: skip


def test_rows_needed_are_interpolated_and_averaged() -> None:
    slow = [0.0, *[0.25] * 39, 1.0]
    fast = [0.5, *[1.0] * 40]
    lines = [line("random", slow), line("random", fast, 1), line("cpclean", fast)]
    assert curves.rows_needed(lines, "cpclean", 0.5) == 0.0
    assert curves.rows_needed(lines, "cpclean", 0.75) == pytest.approx(0.0125)
    expected = ((39 + 0.75 / 0.75 * (0.8125 - 0.25) / 0.75) / 40 + 0.025 * 0.625) / 2
    assert curves.rows_needed(lines, "random", 0.8125) == pytest.approx(expected)
    assert np.isnan(curves.rows_needed([line("random", [0.5] * 41)], "random", 0.9))


@pytest.mark.slow
def test_quick_run_writes_everything_and_goes_on(tmp_path: Path) -> None:
    console = Console(stderr=True, quiet=True)
    text, finished = curves.reproduce(None, tmp_path, 1, True, console)
    assert finished
    assert "| numbers |" in text
    assert "| mixed |" in text
    with (tmp_path / "cleaning_curves.csv").open(encoding="utf-8") as stream:
        lines = list(csv.DictReader(stream))
    assert len(lines) == 2 * 3 * len(curves.GRID)
    assert {one["strategy"] for one in lines} == {*curves.AT_ONCE, "random"}
    assert text.count("|") == 4 * 14
    ET.fromstring((tmp_path / "cleaning_mixed.svg").read_text(encoding="utf-8"))
    kept = (tmp_path / "cleaning.csv").read_text(encoding="utf-8")
    again, _ = curves.reproduce(None, tmp_path, 1, True, console)  # nothing is measured anew
    assert again == text
    assert (tmp_path / "cleaning.csv").read_text(encoding="utf-8") == kept


def test_a_picture_has_a_curve_for_all_that_is_measured() -> None:
    steps = np.linspace(0.2, 1.0, 41).tolist()
    lines = [line(strategy, steps) for strategy in (*curves.AT_ONCE, "random")]
    lines.append(line("random", np.linspace(0.0, 1.0, 41).tolist(), 1))
    root = ET.fromstring(curves.picture("T", lines))
    texts = {one.text for one in root.iter(f"{SVG}text")}
    assert {"T: cleaning row by row", "CPClean", "CPClean, 10 at once", "random, mean of 2",
            "CPClean, vote", "random, mean of 2, default-filled world"} <= texts  # fmt: skip
    assert len(list(root.iter(f"{SVG}polyline"))) == 3 + 4
    assert len(list(root.iter(f"{SVG}polygon"))) == 1 + 2  # bands of what is random
    strokes = [one.get("class") for one in root.iter(f"{SVG}polyline")]
    assert len(set(strokes[:3])) == 3
    assert len({one.split()[1] for one in strokes[3:]}) == 4  # not told by colour alone
