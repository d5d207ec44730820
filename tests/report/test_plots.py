"""Figures for notebooks show the session's own figures."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ET
from typing import Any

import numpy as np
import pytest
from analysis.samples import EVIL, evil_session

import cpclean.report
from cpclean import CertainKNeighborsClassifier, CleaningSession, CPCleanError, IncompleteDataset
from cpclean.analysis.column_effects import ColumnEffect
from cpclean.analysis.forecast import expected
from cpclean.analysis.missing import MOST_PATTERNS, missing
from cpclean.analysis.predictions import Predictions
from cpclean.analysis.ranking import row_gains
from cpclean.report import (
    compose,
    plot_certainty,
    plot_columns,
    plot_gains,
    plot_holes,
    plot_shares,
)
from cpclean.report.drawn import NARROW, WIDE, drawn
from cpclean.report.pictures import Picture


def named(figure: Any) -> dict[str, Any]:
    return {trace.name: trace for trace in figure.data if trace.name}


def test_the_package_loads_nothing_heavy() -> None:
    code = "import cpclean.report, sys; print({'plotly', 'pandas', 'jinja2'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_names_are_found_and_misspelt_ones_are_not() -> None:
    assert {*cpclean.report.__all__} <= {*dir(cpclean.report)}
    for name in cpclean.report.__all__:
        assert getattr(cpclean.report, name).__doc__
    with pytest.raises(AttributeError, match=r"No cpclean\.report attribute plot_certainly"):
        _ = cpclean.report.plot_certainly


def test_certainty_so_far_and_expected(session: CleaningSession) -> None:
    first = session.certain_share
    for _ in range(4):
        session.tell(session.ask().row, 0)
    lines = named(plot_certainty(session))
    assert list(lines["so far: certain"].x) == [0, 1, 2, 3, 4]
    certain = [first, *(one.certain_share for one in session.history)]
    assert list(lines["so far: certain"].y) == certain
    sure = lines["so far: 95% sure, or certain"]
    assert (sure.x[0], sure.x[-1], sure.y[-1]) == (0, 4, session.sure_share)
    assert all(one >= other for one, other in zip(sure.y, certain, strict=True))
    ahead = lines["expected from here (mean of 3 runs)"]
    assert ahead.x[0] == 4
    assert ahead.y[0] == session.certain_share
    assert ahead.line.dash != lines["so far: certain"].line.dash  # not by colour alone
    assert list(named(plot_certainty(session, ahead=False))) == [
        "so far: certain", "so far: 95% sure, or certain", "open: the rest",
    ]  # fmt: skip


def test_certainty_of_a_history_alone(session: CleaningSession) -> None:
    for _ in range(3):
        session.tell(session.ask().row, 0)
    lines = named(plot_certainty(session.history))
    assert list(lines["so far"].x) == [1, 2, 3]
    with pytest.raises(CPCleanError, match="takes a CleaningSession or its history"):
        plot_certainty([1, 2])


def test_certainty_with_a_truth(session: CleaningSession, tables: Any) -> None:
    figure = plot_certainty(session, truth=tables[1], n_random=2)
    lines = named(figure)
    assert lines["this order, true answers"].y[-1] == 1.0
    assert lines["random order, true answers (2 runs)"].y[-1] == 1.0


def test_start_is_the_share_before_any_answer(session: CleaningSession) -> None:
    first = session.certain_share
    session.tell(session.ask().row, 0)
    assert session.view.share_at_start == first


def test_holes_are_those_of_the_table(session: CleaningSession) -> None:
    table = session.view.table
    assert table is not None
    figure = plot_holes(table)
    shares = sorted(table.holes.mean(axis=0).tolist(), reverse=True)
    assert list(figure.data[0].x) == shares
    full, empty = figure.data[1], figure.data[2]
    patterns = {tuple(row) for row in table.holes.tolist() if any(row)}
    assert len(full.x) + len(empty.x) == 3 * len(patterns)
    assert full.marker.symbol != empty.marker.symbol
    assert plot_holes(session).to_dict() == figure.to_dict()
    data = IncompleteDataset([[[0.0], [5.0]], [[6.0]]], ["a", "b"])
    with pytest.raises(CPCleanError, match="over a dataset, which has no columns of a table"):
        plot_holes(CleaningSession(data, [[0.0]], n_neighbors=1))
    with pytest.raises(CPCleanError, match="needs an IncompleteTable; got str"):
        plot_holes("table")


def test_a_map_of_many_columns_shows_the_frequent_combinations() -> None:
    import pandas as pd

    from cpclean import IncompleteTable

    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 30)), columns=[f"c{at}" for at in range(30)])
    for row in range(50):
        frame.iloc[row, [row % 25, (row + 3) % 25]] = None
    frame["y"] = rng.integers(2, size=60)
    picture = compose.patterns(missing(IncompleteTable(frame, label="y")))
    assert len(picture.drawing.columns) == compose.MOST_ACROSS
    assert len(picture.rows) == len(picture.drawing.full) == MOST_PATTERNS
    for full, text, row in zip(
        picture.drawing.full, picture.drawing.texts, picture.rows, strict=True
    ):
        hidden = int(text.partition("+")[2] or 0)
        assert sum(full) + hidden == len(row[0].split(", ")) == 2
    assert "A plus sign counts columns" in picture.says


def test_gains_are_the_largest_ones(session: CleaningSession) -> None:
    figure = plot_gains(session, n=5)
    gains = np.sort(session.gains())[::-1][:5]
    np.testing.assert_allclose(figure.data[0].x, gains / session.mean_entropy)
    assert figure.layout.yaxis.ticktext[0] == f"row {session.ask().row}"


def test_gains_of_a_session_that_is_done() -> None:
    data = IncompleteDataset([[[0.0]], [[6.0]]], ["a", "b"])
    figure = plot_gains(CleaningSession(data, [[0.0]], n_neighbors=1))
    assert len(figure.data[0].x) == 0


def test_shares_count_every_point_once(session: CleaningSession, tables: Any) -> None:
    dirty, _, val = tables
    figure = plot_shares(session)
    assert figure.data[0].x[0] == session.certain.sum()
    assert sum(figure.data[0].x) == len(session.certain)
    model = CertainKNeighborsClassifier().fit(dirty.drop(columns="buys"), dirty["buys"])
    assert plot_shares(model, val.drop(columns="buys")).to_dict() == figure.to_dict()
    with pytest.raises(CPCleanError, match="needs points to predict"):
        plot_shares(model)
    with pytest.raises(CPCleanError, match="has its own validation points"):
        plot_shares(session, val)


@pytest.mark.parametrize("n_classes", [2, 3, 7, 40])
def test_shares_of_many_classes_count_every_point_once(n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    shares = rng.dirichlet(np.ones(n_classes), size=200)
    picture = compose.shares(Predictions(shares, np.zeros(200, dtype=bool)))
    assert sum(picture.drawing.values) == 200


def test_columns() -> None:
    effects = [
        ColumnEffect("age", "numeric", 5, 0.7, 0.6, 0.9),
        ColumnEffect("city", "categorical", 2, 0.8, 0.8, 0.8),
        ColumnEffect("whole", "numeric", 0, 0.5, 0.5, 0.5),
    ]
    figure = plot_columns(effects, now=0.5)
    assert list(figure.layout.yaxis.ticktext) == ["city", "age"]
    assert list(figure.data[0].x) == [0.8, 0.7]
    np.testing.assert_allclose(figure.data[0].error_x.array, [0.0, 0.2])
    assert figure.layout.shapes[0].x0 == 0.5


def test_a_dark_figure_differs_in_colours_only(session: CleaningSession) -> None:
    light, dark = plot_shares(session), plot_shares(session, dark=True)
    assert light.layout.paper_bgcolor != dark.layout.paper_bgcolor
    assert light.data[0].x == dark.data[0].x


def test_names_of_a_table_stay_text_in_a_figure() -> None:
    table = evil_session().view.table
    assert table is not None
    text = str(plot_holes(table).to_dict())
    assert "<img" not in text
    assert "<script" not in text
    assert "&lt;img" in text


def pictures(session: CleaningSession) -> list[Picture]:
    table = session.view.table
    assert table is not None
    return [
        compose.certainty(session.history, session.certain_share, expected(session)),
        compose.holes(missing(table)),
        compose.patterns(missing(table)),
        compose.gains(row_gains(session, 8)),
        compose.shares(Predictions.of(session.view)),
        compose.columns([ColumnEffect(EVIL, "numeric", 5, 0.7, 0.6, 0.9)], 0.5),
    ]


@pytest.mark.parametrize("width", [NARROW, WIDE])
def test_drawings_are_valid_and_say_the_same(width: int) -> None:
    for picture in pictures(evil_session()):
        root = ET.fromstring(drawn(picture, width))
        assert root.get("role") == "img"
        assert picture.says in str(root.get("aria-label"))
        tags = {one.tag for one in root.iter()}
        assert tags <= {"svg", "text", "line", "rect", "polygon", "polyline", "circle", "defs",
                        "pattern"}  # fmt: skip
        for one in root.iter("text"):  # within the picture, as far as one can tell
            assert -1 <= float(one.get("x", "0")) <= width


def test_a_picture_and_its_table_have_the_same_numbers(session: CleaningSession) -> None:
    picture = compose.gains(row_gains(session, 6))
    assert [row[1] for row in picture.rows] == list(picture.drawing.texts)
    assert session.view.table is not None
    picture = compose.holes(missing(session.view.table))
    assert [row[2] for row in picture.rows] == list(picture.drawing.texts)
