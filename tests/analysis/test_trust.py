"""Trust: holes copied onto complete rows, planted tables where the answer is known, and words."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import oracle
import pandas as pd
import pytest

import cpclean.analysis.trust as trusting
from cpclean import CPCleanError, trust
from cpclean.analysis import trial_run
from cpclean.analysis.hole_pattern import LEAST_COMPLETE, HolePattern
from cpclean.analysis.trial_rows import TrialRows
from cpclean.analysis.trial_run import RIVALS, TrialSettings, measured
from cpclean.analysis.trust_words import Figure, TrustFindings
from cpclean.data.domains import DomainTable

MEANS = {("predictions", "sure"): 0.94, ("predictions", "sure", "kept"): 0.99}


def numbers(n_rows: int = 120, seed: int = 0) -> pd.DataFrame:
    """One column decides, another does not; both are whole numbers."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"key": rng.integers(0, 2, n_rows), "noise": rng.integers(0, 5, n_rows)})
    frame["y"] = np.where(frame["key"] == 1, "yes", "no")
    return frame.astype({"key": float, "noise": float})


def plain(frame: pd.DataFrame, **more: Any) -> TrustFindings:
    given = {"space": "plain", "n_trials": 1, "strategies": ["cpclean"], "progress": False}
    return trust(frame, "y", **{**given, **more})


def mean(found: TrustFindings, *name: str) -> float:
    value = found.figure(*name).mean
    assert value is not None, name
    return value


# -- the pattern ----------------------------------------------------------------------------------


def pattern(seed: int = 0) -> HolePattern:
    """Columns 1 and 2 are missing together, 3 alone; the second class alone has holes in 0."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 2, 200)
    holes = np.zeros((200, 5), dtype=bool)
    holes[rng.random(200) < 0.2, 1:3] = True
    holes[rng.random(200) < 0.1, 3] = True
    holes[(rng.random(200) < 0.5) & (codes == 1), 0] = True
    return HolePattern(holes, codes)


@pytest.mark.parametrize("seed", range(10))
def test_holes_are_copied_whole_from_rows_of_the_same_label(seed: int) -> None:
    own, codes = pattern(seed), np.repeat([0, 1], [60, 90])
    made = own.punched(codes, np.random.default_rng(seed))
    assert (made[:, 1] == made[:, 2]).all()
    assert made[:, 1].any()
    assert not made[codes == 0, 0].any()
    assert made[codes == 1, 0].any()
    assert not made[:, 4].any()
    for code in (0, 1):
        shown = {tuple(one) for one in own.holes[own.codes == code].tolist()}
        assert {tuple(one) for one in made[codes == code].tolist()} <= shown
        share = own.holes[own.codes == code].any(axis=1).mean()
        n_made, n_rows = made[codes == code].any(axis=1).sum(), (codes == code).sum()
        assert abs(n_made - share * n_rows) < 1  # as many rows as in the table, whole rows


def test_every_row_is_copied_before_one_is_copied_again() -> None:
    holes = np.zeros((24, 4), dtype=bool)
    holes[[0, 1, 2], [0, 1, 2]] = True
    made = HolePattern(holes, np.zeros(24, dtype=int)).punched(
        np.zeros(48, dtype=int), np.random.default_rng(0)
    )
    assert made.sum(axis=0).tolist() == [2, 2, 2, 0]


def test_rows_that_are_all_holes_are_not_copied() -> None:
    holes = np.zeros((30, 2), dtype=bool)
    holes[0] = True
    holes[1, 0] = True
    own = HolePattern(holes, np.zeros(30, dtype=int))
    assert own.copied.tolist() == [1]
    assert own.share == 1 / 29


def test_a_sample_has_the_labels_of_the_table() -> None:
    codes = np.repeat([0, 1, 2], [500, 480, 20])
    holes = np.zeros((1000, 2), dtype=bool)
    holes[500:860, 0] = True  # of the second label, 120 rows are complete
    own = HolePattern(holes, codes)
    rows = own.sample(200, np.random.default_rng(0))
    assert np.bincount(codes[rows]).tolist() == [100, 96, 4]
    assert not holes[rows].any()
    assert len(set(rows.tolist())) == 200
    everything = own.sample(10_000, np.random.default_rng(0))
    assert np.bincount(codes[everything]).tolist() == [320, 120, 13]


# -- planted tables -------------------------------------------------------------------------------


def test_a_column_that_does_not_matter() -> None:
    frame = numbers()
    for copy in ("key2", "key3"):  # so that what is near has the same label, whatever the noise
        frame[copy] = frame["key"]
    frame.loc[::4, "noise"] = None
    found = plain(frame, strategies=["cpclean", "relative", "random"])
    assert mean(found, "predictions", "certain") == 1.0
    assert mean(found, "predictions", "certain", "kept") == 1.0
    assert found.figure("predictions", "open", "kept").mean is None
    for strategy in ("cpclean", "relative", "random"):
        for name in ("sure", "certain"):
            assert mean(found, "cleaning", strategy, name, "all") == 0
    assert "100% of predictions are sure" in found.sentence
    assert "nothing has to be cleaned to settle 95% of predictions" in found.sentence


def test_a_column_that_decides() -> None:
    frame = numbers(200)
    frame.loc[np.random.default_rng(1).random(200) < 0.3, "key"] = None
    complete = frame.drop(columns="y").dropna()
    found = plain(frame, points=complete, prior="uniform", strategies=["cpclean", "random"])
    assert found.points_with_holes == 0
    assert mean(found, "predictions", "listed") == 1.0
    # 0 and 1 are candidates of every hole, so that nothing certain can turn out otherwise.
    assert mean(found, "predictions", "certain", "kept") == 1.0
    assert mean(found, "accuracy", "cpclean, nothing missing") == 1.0
    assert 0 < mean(found, "predictions", "certain") < 1
    needed = mean(found, "cleaning", "cpclean", "certain", "all")
    assert 0 < needed < mean(found, "cleaning", "random", "certain", "all")
    assert mean(found, "cleaning", "cpclean", "sure", "all") <= needed
    assert needed <= found.train_with_holes
    with_holes = plain(frame, prior="uniform")  # its points lack the column that decides, too
    assert with_holes.points_with_holes > 0
    assert mean(with_holes, "accuracy", "cpclean") < 1.0


def test_holes_that_depend_on_the_label() -> None:
    frame = numbers(200)
    yes = np.flatnonzero(frame["y"] == "yes")
    frame.loc[yes[::2], "noise"] = None
    made: list[Any] = []
    measure = trusting.measured

    def watch(trial: Any, *more: Any) -> None:
        made.append(trial)
        measure(trial, *more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trusting, "measured", watch)
        found = plain(frame)
    for rows in (made[0].train, made[0].points):
        assert set(rows.labels[rows.holes.any(axis=1)]) == {"yes"}
        own = rows.holes.any(axis=1)[rows.labels == "yes"]
        assert own.mean() == pytest.approx(0.5, abs=1 / len(own))
    # The missing value gives the label away, and boosting is welcome to it.
    assert mean(found, "accuracy", RIVALS[0]) >= mean(found, "accuracy", RIVALS[2])


def one_trial(seed: int = 0) -> Any:
    frame = numbers(60, seed)
    frame.loc[::6, "key"] = None
    table = trusting.IncompleteTable(frame, "y")
    return trusting._trials(table, None, ()).trial(40, 0.2, np.random.default_rng(seed))


def settings(**more: Any) -> TrialSettings:
    table = {"repairs": "default", "prior": "label"}
    given = {"space": "plain", "n_neighbors": 3, "metric": None, "table": table, "sure": 0.95}
    return TrialSettings(**{**given, "strategies": (), **more})


def test_labels_in_truth_are_those_of_the_oracle() -> None:
    trial = one_trial()
    table, _ = settings().opened(trial, 0)
    rows, points = table.encode(trial.train.true), table.encode(trial.points.true)
    data = table.dataset
    expected = [
        np.argmax(oracle.world_counts(rows[:, None].tolist(), data.codes.tolist(), 2, None, t, 3))
        for t in points.tolist()
    ]
    found: dict[tuple[str, ...], float] = {}
    measured(trial, trial, settings(), 0, found, lambda words: None)
    right = np.mean(data.classes[expected] == trial.points.labels)
    assert found["accuracy", "cpclean, nothing missing"] == right


def test_labels_of_points_enter_nothing_but_accuracy() -> None:
    trial, found = one_trial(), []
    assert list(trial.train.dirty) == list(trial.points.for_rivals) == ["key", "noise"]
    other = replace(trial, points=replace(trial.points, codes=1 - trial.points.codes))
    for one in (trial, other):
        found.append({})
        measured(one, one, settings(strategies=("cpclean",)), 0, found[-1], lambda words: None)
    for name, value in found[0].items():
        if name[0] == "accuracy" or name[-1] == "right":
            assert found[1][name] == pytest.approx(1 - value, nan_ok=True)
        else:
            assert found[1][name] == pytest.approx(value, nan_ok=True)


def test_labels_without_a_reason_are_not_predicted() -> None:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(400, 3)), columns=list("abc"))
    frame.loc[::3, "a"] = None
    frame["y"] = rng.integers(0, 2, 400)
    found = plain(frame, strategies=[], n_trials=3)
    for name in ("cpclean", *RIVALS):
        assert 0.35 < mean(found, "accuracy", name) < 0.65


def test_a_seed_decides_everything() -> None:
    frame = numbers()
    frame.loc[::5, "key"] = None
    first, again, other = (
        plain(frame, space="forest", strategies=["random"], random_state=seed) for seed in (4, 4, 5)
    )
    assert first == again
    assert first.figures != other.figures


def test_columns_of_every_kind() -> None:
    rng = np.random.default_rng(0)
    size = 80
    frame = pd.DataFrame(
        {
            "number": rng.integers(0, 9, size),
            "code": rng.integers(100, 104, size),
            "town": rng.choice(["Ulm", "?", "Kiel"], size),
            "member": rng.random(size) < 0.5,
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(99, size=size), "D"),
            "same": "x",
            "never": None,
        }
    )
    labels = [(one > 4, "label") for one in frame["number"]]  # any label that can be sorted
    with pytest.warns(UserWarning, match="'never'"):
        found = trust(
            frame, labels, kinds={"code": "categorical"}, null_tokens=["?"], n_trials=1,
            strategies=["cpclean"], progress=False,
        )  # fmt: skip
    assert found.n_complete == (frame["town"] != "?").sum()
    assert mean(found, "accuracy", "cpclean") > 0.5


def test_trials_are_smaller_where_rows_have_many_candidates(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    frame = numbers(400)
    frame.loc[::4, "noise"] = None
    assert plain(frame, strategies=[]).n_train == pytest.approx(240, abs=2)
    monkeypatch.setattr(trial_run, "MOST_CANDIDATES", 200)  # of 60 rows with 5 each
    assert plain(frame, strategies=[]).n_train == pytest.approx(160, abs=3)
    monkeypatch.setattr(trial_run, "MOST_CANDIDATES", 2)
    assert plain(frame, strategies=[]).n_train == pytest.approx(80, abs=2)


def test_cleaning_is_tried_on_fewer_rows_where_they_have_many_candidates(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    frame = numbers(400)
    frame.loc[::4, "noise"] = None
    whole = plain(frame, strategies=["cpclean"])
    assert mean(whole, "cleaning", "rows") == whole.n_train
    assert "was tried on" not in str(whole)
    monkeypatch.setattr(trial_run, "MOST_CLEANED", 150)  # of 60 rows with 5 each
    found = plain(frame, strategies=["cpclean"])
    rows, holes = mean(found, "cleaning", "rows"), mean(found, "cleaning", "rows with holes")
    assert rows == pytest.approx(120, abs=3)
    assert holes < found.train_with_holes
    assert found.n_train == whole.n_train
    assert found.figure("predictions", "sure") == whole.figure("predictions", "sure")
    assert found.figure("accuracy", "cpclean") == whole.figure("accuracy", "cpclean")
    assert f"was tried on {rows:.0f} rows of each trial, {round(holes)} of them" in str(found)
    assert f"Rows to clean, of {round(holes)} with holes" in str(found)


def test_a_part_of_a_trial_has_every_label() -> None:
    rows = TrialRows((), np.repeat([0, 1, 2], [80, 18, 2]), np.array(list("abc")),
                     np.zeros((100, 0), dtype=bool))  # fmt: skip
    assert np.bincount(rows.part(0.1).codes).tolist() == [8, 2, 2]


def test_few_rows_are_in_the_plain_space() -> None:
    frame = numbers(30)
    frame.loc[::5, "noise"] = None
    assert plain(frame, space="forest").figures == plain(frame).figures


# -- bad input ------------------------------------------------------------------------------------


def with_holes(share: dict[str, int]) -> pd.DataFrame:
    frame = numbers(100)
    frame["third"] = frame["noise"]
    for name, rows in share.items():
        frame.loc[: rows - 1, name] = None
    return frame


@pytest.mark.parametrize(
    ("holes", "words"),
    [
        ({}, "the table has no holes to copy: every prediction is certain"),
        (
            {"key": 95, "noise": 30},
            r"20 rows are needed, with two labels at least; 5 of 100 rows are complete\. Without "
            r"column 'key', it would be 70: leave it out",
        ),
        (
            {"key": 95, "noise": 90},
            r"5 of 100 rows are complete\. Without columns 'key', 'noise', it would be 100: leave",
        ),
    ],
)
def test_too_few_complete_rows(holes: dict[str, int], words: str) -> None:
    with pytest.raises(CPCleanError, match=words):
        plain(with_holes(holes))


def test_no_column_helps() -> None:
    with pytest.raises(CPCleanError, match=r"5 of 19 rows are complete\. Simulate with a table"):
        plain(with_holes({"key": 95}).iloc[81:])


def test_complete_rows_of_one_label() -> None:
    frame = numbers(100)
    frame.loc[frame["y"] == "yes", "noise"] = None
    with pytest.raises(CPCleanError, match=r"two labels at least; .* Without column 'noise'"):
        plain(frame)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"n_trials": 0}, "n_trials must be an int of at least 1; got 0"),
        ({"most_rows": 5}, f"most_rows must be an int of at least {LEAST_COMPLETE}; got 5"),
        ({"random_state": -1}, "random_state must be an int of at least 0; got -1"),
        ({"val_share": 1.0}, "val_share must be a number between 0 and 1"),
        ({"sure": 1}, "sure must be a number between 0.5 and 1"),
        ({"strategies": ["cells"]}, "strategies must be some of roots, cpclean, relative, random;"),
        ({"points": pd.DataFrame({"key": [1.0]})}, "missing columns: 'noise'"),
    ],
)
def test_bad_settings(given: dict[str, Any], words: str) -> None:
    frame = numbers()
    frame.loc[::5, "key"] = None
    with pytest.raises(CPCleanError, match=words):
        plain(frame, **given)


def test_values_listed_for_cells() -> None:
    with pytest.raises(CPCleanError, match="values that are listed for single cells cannot be"):
        plain(DomainTable(numbers(), {}))


# -- Ctrl-C ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("fitted", [0, 1, 4])
def test_interrupted(monkeypatch: pytest.MonkeyPatch, fitted: int) -> None:
    frame = numbers()
    frame.loc[::5, "key"] = None
    calls, accuracy = [], trial_run._rival_accuracy

    def impatient(name: str, trial: Any, n_points: int) -> float:
        calls.append(name)
        if len(calls) > fitted:
            raise KeyboardInterrupt
        return accuracy(name, trial, n_points)

    monkeypatch.setattr(trial_run, "_rival_accuracy", impatient)
    found = plain(frame, n_trials=3)
    assert found.interrupted
    assert found.n_trials == fitted // len(RIVALS) + 1
    for number, name in enumerate(RIVALS):
        assert len(found.figure("accuracy", name).values) == (fitted + 2 - number) // 3
    assert "of predictions are sure" in found.sentence
    assert ("gradient boosting" in found.sentence) == (fitted > 0)


def test_interrupted_before_anything_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    def at_once(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(trusting, "measured", at_once)
    frame = numbers()
    frame.loc[::5, "key"] = None
    with pytest.raises(KeyboardInterrupt):
        plain(frame)


# -- words ----------------------------------------------------------------------------------------


def findings(figures: dict[tuple[str, ...], Any], **more: Any) -> TrustFindings:
    found = tuple(
        Figure(name, values if isinstance(values, tuple) else (values,))
        for name, values in figures.items()
    )
    given = {
        "level": 0.95, "strategies": ("cpclean",), "figures": found, "n_rows": 900,
        "n_complete": 600, "share_with_holes": 1 / 3, "n_trials": 2, "n_train": 480.0,
        "n_points": 120.0, "train_with_holes": 160.0, "points_with_holes": 40.0,
    }  # fmt: skip
    return TrustFindings(**{**given, **more})


def test_the_sentence() -> None:
    aim = ("cleaning", "cpclean", "sure", "most")
    ours, boosting = ("accuracy", "cpclean"), ("accuracy", RIVALS[0])
    found = findings({**MEANS, aim: (11, 13), ours: (0.8, 0.8), boosting: (0.804, 0.804)})
    assert found.sentence == (
        "On your table, 94.0% of predictions are sure without cleaning anything, and 99.0% of "
        "those keep their label when the truth is known; cleaning about 12 of 160 rows with holes "
        "settles 95% of predictions, apart from their own holes; gradient boosting is 0.4 points "
        "more accurate."
    )
    chance = findings({ours: (0.8, 0.8), boosting: (0.78, 0.80)})
    assert chance.sentence == (
        "On your table, no prediction is sure without cleaning; gradient boosting is 1.0 point "
        "less accurate, which may be chance."
    )
    assert "gradient boosting is as accurate" in findings({ours: 0.8, boosting: 0.8}).sentence
    rare = findings({**MEANS, aim: (0, 0.5)}, points_with_holes=0.0)
    assert rare.sentence.endswith("cleaning about 1 of 160 rows with holes settles 95% of "
                                  "predictions.")  # fmt: skip


def test_spreads_are_those_of_numpy() -> None:
    values = (0.3, 0.5, None, 0.9)
    figure = Figure(("a",), values)
    assert figure.mean == pytest.approx(np.mean([0.3, 0.5, 0.9]))
    assert figure.spread == pytest.approx(np.std([0.3, 0.5, 0.9], ddof=1))
    assert Figure(("a",), (0.5,)).spread is None
    assert Figure(("a",), (None,)).mean is None


def test_the_tables_and_the_notes() -> None:
    kept = ("predictions", "certain", "kept")
    found = findings({
        **MEANS, ("predictions", "certain"): (0.5, 0.7), kept: (0.98, 1.0),
        ("predictions", "listed"): 0.25, ("accuracy", "cpclean"): (0.8, 0.9),
        ("accuracy", RIVALS[0]): (0.81, 0.89), ("cleaning", "cpclean", "certain", "all"): (7, 9),
        ("cleaning", "cpclean", "sure", "all"): (None,),
    }, left_out=("maybe",))  # fmt: skip
    predictions, accuracy, cleaning = found.tables
    assert predictions.rows[0] == ("certain", "60.0% ± 14.1", "99.0% ± 1.4", "")
    assert predictions.rows[1] == ("95% sure, or certain", "94.0%", "99.0%", "")
    assert accuracy.rows[1] == (RIVALS[0], "85.0% ± 5.7", "+0.0 ± 1.4")
    assert cleaning.head == ("order", "95%, sure", "all, sure", "95%, certain", "all, certain")
    assert cleaning.rows == (("cpclean", "", "not reached", "", "8.0 ± 1.4"),)
    assert found.notes[0].startswith("2 trials, each with 480 rows to learn from and 120 rows")
    assert "candidate of 25.0% of the holes. What is certain is so for all" in found.notes[2]
    assert found.notes[3] == "No complete row has the label 'maybe': no trial has it, either."
    assert str(found).startswith(found.sentence)
    assert all(words in str(found) for words in (*found.notes, "99.0% ± 1.4"))
    told = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert told["figures"][3] == {
        "name": "predictions / certain / kept", "mean": 0.99,
        "spread": pytest.approx(0.01414, abs=1e-5), "values": [0.98, 1.0],
    }  # fmt: skip
