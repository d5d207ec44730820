"""The page says what the session says, and nothing of a table is more than text."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from analysis.samples import EVIL, evil_session, frames

from cpclean import (
    CertainKNeighborsClassifier,
    CleaningSession,
    CPCleanError,
    IncompleteDataset,
    IncompleteTable,
    simulate,
)
from cpclean.analysis.words import percent
from cpclean.data.spaces.leaf_space import LeafSpace
from cpclean.report import Report, report

VOID = {"meta", "link", "img", "br", "hr", "input"}


class Outline(HTMLParser):
    """Tags, ids and headings of a page, and whether its tags are closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        self.ids += [value for name, value in attrs if name == "id" and value]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def words(page: str) -> str:
    """What a reader sees of a page, in one line."""
    bare = re.sub(r"<(style|script)\b.*?</\1>", " ", page, flags=re.S)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", bare)).split())


@pytest.fixture
def answered(session: CleaningSession) -> CleaningSession:
    for _ in range(3):
        session.tell(session.ask().row, 0)
    session.skip(session.ask().row)
    return session


def test_the_page_says_what_the_session_says(answered: CleaningSession) -> None:
    said = words(report(answered, title="Customers", interactive=False).html)
    n, certain = len(answered.certain), int(answered.certain.sum())
    assert f"{certain} of {n} predictions ({percent(answered.certain_share)}) are certain" in said
    assert "Customers" in said
    assert "3 answers have been given, and 1 row has been skipped." in said
    assert f"is right for {percent(answered.accuracy())} of them" in said
    question = answered.ask()
    assert f"Row {question.row}: find out" in said
    assert f"nearest rows of {len(question.why.points)} open predictions" in said
    table = answered.view.table
    assert f"{len(table.dataset.dirty_rows)} of the rows had holes at the start" in said
    assert "The candidates must contain the truth." in said
    assert "nearest neighbours that vote 3" in said


def test_without_labels_there_is_no_accuracy(tables: Any) -> None:
    dirty, _, val = tables
    session = CleaningSession(IncompleteTable(dirty, label="buys"), val)
    page = report(session, interactive=False).html
    assert 'id="accuracy"' not in page
    assert "expected to be certain after" in page


def test_a_truth_adds_the_comparison(session: CleaningSession, tables: Any) -> None:
    said = words(report(session, interactive=False, truth=tables[1], n_random=2).html)
    assert "Compared with random order" in said
    assert "random order is the mean of 2 runs" in said
    done = words(report(session, interactive=False).html)
    assert "Compared with random order" not in done


def test_histories_add_curves(session: CleaningSession, tables: Any) -> None:
    dirty, truth, val = tables
    other = CleaningSession(
        IncompleteTable(dirty, label="buys"), val, strategy="random", random_state=0
    )
    history = simulate(other, truth, progress=False)
    page = report(session, interactive=False, histories={"by chance": history}).html
    assert "by chance" in words(page)


def test_a_session_that_is_done(session: CleaningSession, tables: Any) -> None:
    simulate(session, tables[1], progress=False)
    said = words(report(session, interactive=False).html)
    assert f"All {len(session.certain)} predictions are certain" in said
    assert "No row is left that could change a prediction." in said
    assert "all validation points are certain" in said


def test_a_dataset_without_a_table() -> None:
    data = IncompleteDataset([[[0.0], [5.0]], [[1.0], [7.0]], [[6.0]]], ["a", "b", "b"])
    session = CleaningSession(data, [[0.0], [4.0]], n_neighbors=1, y_val=["a", "b"])
    page = report(session, interactive=False).html
    Outline(page)
    said = words(page)
    assert "0 of 2 predictions (0%) are certain" in said
    assert "find out column 0" in said
    assert 'id="columns"' not in page


@pytest.mark.parametrize("metric", ["precomputed", "manhattan", "function"])
def test_other_metrics(metric: str) -> None:
    data = IncompleteDataset([[[0.0], [5.0]], [[1.0], [7.0]], [[6.0]]], ["a", "b", "b"])
    points: Any = [[0.0], [4.0]]
    named: Any = metric
    if metric == "precomputed":
        candidates = np.concatenate([data.candidates(row) for row in range(3)])[:, 0]
        points = np.abs(candidates - np.array([[0.0], [4.0]]))
    if metric == "function":
        named = lambda x, t: float(abs(x - t).sum())  # noqa: E731
    session = CleaningSession(data, points, n_neighbors=1, metric=named)
    session.tell(0, 0)
    assert "predictions" in words(report(session, interactive=False).html)


def test_a_table_without_holes() -> None:
    _, truth, val = frames()
    session = CleaningSession(IncompleteTable(truth, label="buys"), val)
    page = report(session, interactive=False).html
    Outline(page)
    assert 'id="holes"' not in page
    assert "All 40 predictions are certain" in words(page)


def test_cells_are_asked_for_by_their_name(tables: Any) -> None:
    dirty, _, val = tables
    session = CleaningSession(IncompleteTable(dirty, label="buys"), val, strategy="cells")
    question = session.ask()
    said = words(report(session, interactive=False).html)
    assert f"Row {question.row}: find out {question.column}" in said


def test_doubted_cells_keep_their_value(tables: Any) -> None:
    _, truth, val = tables
    table = IncompleteTable(truth, label="buys", suspects=[(row, "age") for row in range(40)])
    session = CleaningSession(table, val)
    assert "(doubted)" in report(session, interactive=False).html


def test_rows_are_called_as_the_reader_calls_them(session: CleaningSession) -> None:
    names = [f"customer-{row}" for row in range(session.data.n_rows)]
    said = words(report(session, interactive=False, row_names=names).html)
    assert f"Row customer-{session.ask().row}: find out" in said


def test_everything_of_the_table_is_escaped() -> None:
    made = report(evil_session(), title=EVIL, settings={EVIL: EVIL})
    page = made.html
    outline = Outline(page)
    assert outline.open == []
    assert "img" not in outline.tags
    assert outline.tags.count("script") == 3
    assert not [name for name, _ in outline.attributes if name.startswith("on")]
    assert EVIL not in page
    assert "&lt;img src=x" in page
    still = report(evil_session(), title=EVIL, interactive=False).html
    assert "<script" not in still


def test_the_page_is_well_formed_and_ids_are_its_own(session: CleaningSession) -> None:
    page = report(session, interactive=False).html
    outline = Outline(page)
    assert outline.open == []
    assert len(set(outline.ids)) == len(outline.ids)
    places = re.findall(r'href="#([^"]+)"', page)
    assert set(places) <= set(outline.ids)
    assert len(places) > 5
    assert outline.tags.count("h1") == outline.tags.count("main") == 1
    assert not re.search(r"(?:src|href)=[\"']?https?:", page)


def test_a_small_file_and_a_large_one(session: CleaningSession, tmp_path: Path) -> None:
    made = report(session, tmp_path / "still.html", interactive=False)
    assert made.path == tmp_path / "still.html"
    assert made.path.read_text("utf-8") == made.html
    assert made.path.stat().st_size < 200_000
    live = report(session, str(tmp_path / "live.html"))
    assert 2_000_000 < live.path.stat().st_size < 8_000_000
    assert sorted(one.name for one in tmp_path.iterdir()) == ["live.html", "still.html"]


def test_in_a_notebook_the_page_is_in_a_frame_of_its_own(session: CleaningSession) -> None:
    made = report(session, title="T")
    shown = made._repr_html_()
    assert shown.startswith("<iframe srcdoc=")
    assert "<script" not in unescape(shown)
    assert len(shown) < 400_000
    assert repr(made).startswith("Report('T', ")
    assert isinstance(made, Report)


def test_a_report_changes_nothing(answered: CleaningSession, tables: Any) -> None:
    before = answered.answers, answered.mean_entropy, answered.ask().row
    report(answered, interactive=False, truth=tables[1], n_random=1)
    assert (answered.answers, answered.mean_entropy, answered.ask().row) == before


def test_a_classifier_reports_on_points(tables: Any, session: CleaningSession) -> None:
    dirty, _, val = tables
    model = CertainKNeighborsClassifier().fit(dirty.drop(columns="buys"), dirty["buys"])
    X, y = val.drop(columns="buys"), val["buys"]
    said = words(report(model, X=X, y=y, interactive=False).html)
    certain = int(model.is_certain(X).sum())
    assert f"{certain} of {len(X)} predictions" in said
    assert f"is right for {percent(model.score(X, y))} of them" in said
    bare = words(report(model, X=X, interactive=False).html)
    assert "are right" not in bare
    with pytest.raises(CPCleanError, match="has its own validation points"):
        report(session, X=X)
    with pytest.raises(CPCleanError, match="needs points to predict: X="):
        report(model)
    with pytest.raises(CPCleanError, match="is about a CleaningSession or a Certain"):
        report(dirty)


def test_a_classifier_of_arrays_and_of_datasets() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), rng.integers(2, size=40)
    X[rng.random((40, 3)) < 0.1] = np.nan
    points = rng.normal(size=(10, 3))
    model = CertainKNeighborsClassifier().fit(X, y)
    certain = f"{int(model.is_certain(points).sum())} of 10 predictions"
    assert certain in words(report(model, X=points, interactive=False).html)
    framed = pd.DataFrame(points, columns=["a", "b", "c"])
    with pytest.warns(UserWarning, match="fitted without feature names"):
        made = report(model, X=framed, interactive=False)
    assert certain in words(made.html)
    data = IncompleteDataset([[[0.0], [5.0]], [[1.0], [7.0]], [[6.0]]], ["a", "b", "b"])
    taken = CertainKNeighborsClassifier(1).fit(data)
    assert "0 of 2 predictions" in words(report(taken, X=[[0.0], [4.0]], interactive=False).html)


def test_a_page_that_cannot_be_written_leaves_nothing(
    session: CleaningSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = report(session, interactive=False)

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match="No space left"):
        made.save(tmp_path / "page.html")
    assert list(tmp_path.iterdir()) == []


def test_columns_that_take_too_long_are_left_out(
    session: CleaningSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "are drawn from the prior 10 times;" in words(report(session, interactive=False).html)
    monkeypatch.setattr("cpclean.analysis.column_effects.MOST_DRAWS", 3)
    assert "are drawn from the prior once." in words(report(session, interactive=False).html)
    monkeypatch.setattr("cpclean.analysis.column_effects.MOST_SECONDS", -1.0)
    page = report(session, interactive=False).html
    assert 'id="columns"' not in page
    assert 'href="#columns"' not in page


def test_one_point() -> None:
    data = IncompleteDataset([[[0.0], [5.0]], [[1.0]], [[6.0]]], ["a", "b", "b"])
    for x, told in (
        (0.5, "The only prediction is open"),
        (9.0, "The only prediction is certain"),
    ):
        session = CleaningSession(data, [[x]], n_neighbors=1)
        assert told in words(report(session, interactive=False).html)


def test_without_rows_to_explain_the_gains_are_still_there(session: CleaningSession) -> None:
    page = report(session, interactive=False, n_rows=0).html
    assert "No row is left" not in words(page)
    assert 'id="picture-gains"' in page
    assert "<article" not in page


def test_templates_are_part_of_the_package() -> None:
    from importlib.resources import files

    found = {one.name for one in (files("cpclean.report") / "templates").iterdir()}
    assert {"report.html", "style.css", "page.js"} <= found


@pytest.mark.parametrize("space", ["plain", LeafSpace(n_trees=20, n_worlds=2)])
def test_the_page_says_which_space_it_is(space: Any, tables: Any) -> None:
    dirty, _, val = tables
    table = IncompleteTable(dirty, label="buys", space=space)
    said = words(report(CleaningSession(table, val, n_neighbors=5), interactive=False).html)
    among_leaves = space != "plain"
    assert ("space leaves of a forest of 20 trees" in said) == among_leaves
    assert ("space scaled columns metric euclidean" in said) != among_leaves
    assert ("distance number of trees that tell two rows apart" in said) == among_leaves
    assert said.count("certain given the space") == among_leaves


@pytest.mark.parametrize("sure", [None, 0.8])
def test_verdicts_bands_and_the_list_of_predictions(sure: float | None) -> None:
    dirty, _, val = frames()
    session = CleaningSession(IncompleteTable(dirty, label="buys"), val, sure=sure)
    question = session.ask()
    session.tell(**question.answer(0))
    names = [f"P{point}" for point in range(len(val))]
    page = report(session, interactive=False, point_names=names).html
    verdicts = session.verdicts.tolist()
    shares = session.view.shares.max(axis=1)
    for name, one, share in zip(names, verdicts, shares, strict=True):
        line = rf'<th scope="row">{name}</th><td>\w+</td><td>{re.escape(percent(share))}</td>'
        assert re.search(rf"{line}<td>{one}</td>", unescape(page))
    text = words(page)
    level = "80%" if sure else "95%"
    assert f"{level} sure {verdicts.count('sure')} " in text
    certain = page.split('id="picture-certainty"')[1].split("</svg>")[0]
    assert "open: the rest" in certain
    assert (f"so far settled: certain or {level} sure" in certain) == (sure is not None)
    assert (f"so far: {level} sure, or certain" in certain) == (sure is None)
    assert certain.count('class="band') >= 3
    if sure:
        assert "Settled predictions, answer by answer" in text
        history = session.history[-1]
        at = f"so far settled: certain or 80% sure 1 {percent(history.settled_share)}"
        assert f"{at} {percent(history.certain_share)} to {percent(history.settled_share)}" in text


def test_a_session_that_has_stopped_is_looked_back_at() -> None:
    dirty, truth, val = frames()
    session = CleaningSession(IncompleteTable(dirty, label="buys"), val, sure=0.8)
    assert "rows like these" not in report(session, interactive=False).html
    simulate(session, truth, progress=False)
    text = words(report(session, interactive=False).html)
    assert "avoidable in hindsight" in text
    assert "of rows like these would be certain or 80% sure, too." in text
    assert f"All {len(val)} predictions are certain or 80% sure: " in text


def test_rows_of_a_classifier_have_their_numbers_in_x() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3)).round(1)
    y = np.where(X[:, 0] > 0, "yes", "no")
    truth, points = X[:90].copy(), X[90:]
    X[60:90, 0] = np.nan
    space = LeafSpace("forest", n_trees=10, n_worlds=2)
    model = CertainKNeighborsClassifier(5, space=space).fit(X[:90], y[:90])
    options = {"interactive": False, "n_rows": 5, "seconds": 0.1}
    page = words(report(model, X=points, **options).html)
    named = {int(number) for number in re.findall(r"\b[Rr]ow (\d+)", page)}
    assert named
    assert named <= set(range(60, 90))
    # Names and the truth are given for the rows of X, too.
    page = words(
        report(
            model, X=points, row_names=[f"<{n}>" for n in range(90)], truth=truth, **options
        ).html
    )
    named = {int(number) for number in re.findall(r"\b[Rr]ow <(\d+)>", page)}
    assert named
    assert named <= set(range(60, 90))
    assert "Compared with random order" in page


@pytest.mark.parametrize(
    ("command", "text"),
    [
        (None, "report(session, path, trust=cpclean.trust(frame, label))"),
        ("cpclean report 'a&b.csv' --trust", "cpclean report 'a&b.csv' --trust"),
        ("", None),
    ],
)
def test_a_button_shows_how_to_try_it_on_ones_own_rows(
    session: CleaningSession, command: str | None, text: str | None
) -> None:
    seen = words(report(session, interactive=False, command=command).html)
    assert ("Try it on my rows" in seen) == ("Trials on your rows" in seen) == (text is not None)
    assert text is None or text in seen


def test_values_without_a_table_cannot_be_tried() -> None:
    data = IncompleteDataset([[[0.0], [5.0]], [[1.0], [7.0]], [[6.0]]], ["a", "b", "b"])
    made = report(CleaningSession(data, [[0.0], [4.0]], n_neighbors=1), interactive=False)
    assert "Try it on my rows" not in made.html
